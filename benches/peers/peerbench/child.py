"""The parent's side of a worker: starts it, asks it, and gives up on it after a time."""
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class PeerFailed(Exception):
    """What a peer said, or how it ended."""


def environment(solver, threads, work):
    """Variables of a child: so many threads, and the folder of a package that lies apart."""
    variables = dict(os.environ, **{name: str(threads) for name in THREAD_VARIABLES})
    apart = Path(work) / "apart" / solver.package
    path = variables.get("PYTHONPATH", "")
    # Ahead of site-packages, where the package of the same name is.
    variables["PYTHONPATH"] = f"{apart}{os.pathsep}{path}" if apart.is_dir() else path
    return variables


class Child:
    """A running worker."""

    def __init__(self, solver, order, work, seconds):
        self.seconds = seconds
        self.process = subprocess.Popen([sys.executable, "-m", "peerbench.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment(solver, order["threads"], work),
                                        start_new_session=True)
        self.buffer = b""
        self.ask({**order, "solver": solver.name}, max(seconds, 300))

    def ask(self, request, seconds=None):
        """One request, one answer; PeerFailed on a failure, a crash, or no answer in time (the worker is ended then)."""
        try:
            self.process.stdin.write((json.dumps(request) + "\n").encode())
            self.process.stdin.flush()
            answer = json.loads(self.line(seconds or self.seconds))
        except (BrokenPipeError, ValueError):
            status = self.process.wait()
            raise PeerFailed(f"its process ended with {signal.Signals(-status).name if status < 0 else status}") from None
        if "failed" in answer:
            self.close()
            raise PeerFailed(answer["failed"])
        return answer

    def line(self, seconds):
        """The next line of the worker."""
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            if not ready:
                self.close()
                raise PeerFailed(f"no answer within {seconds:.0f} s")
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                break
            self.buffer += part
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def close(self):
        """Ends the worker."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
