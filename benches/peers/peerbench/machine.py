"""Which cpus a run may use, and how much of them something else used meanwhile."""
import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpus_for(threads):
    """The cpus of a run with so many threads: the last ones that this process may use (cpu 0 serves most interrupts)."""
    usable = sorted(os.sched_getaffinity(0))
    if threads > len(usable):
        raise SystemExit(f"--threads {threads}: this process may use {len(usable)} cpus only")
    return usable[-threads:]


def busy_seconds():
    """{cpu: seconds in which it did not idle since boot}, from /proc/stat; time that a hypervisor took away counts."""
    result = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            numbers = [int(field) for field in fields[:8]]
            result[int(name[3:])] = (sum(numbers) - numbers[3] - numbers[4]) / TICKS
    return result


class Watch:
    """Measures the foreign use of the machine between its making and `stop`."""

    def __init__(self, cpus):
        self.cpus, self.start, self.busy = set(cpus), time.perf_counter(), busy_seconds()

    def stop(self, own_seconds):
        """Cores of foreign work on the run's cpus and on the others; `own_seconds` is the cpu time of the run itself.

        A tick of the kernel's clock on each cpu is forgiven: it is the resolution of /proc/stat.
        """
        wall = max(time.perf_counter() - self.start, 1e-9)
        used = {cpu: busy - self.busy.get(cpu, busy) for cpu, busy in busy_seconds().items()}
        here = sum(seconds for cpu, seconds in used.items() if cpu in self.cpus) - own_seconds - len(self.cpus) / TICKS
        other = [seconds for cpu, seconds in used.items() if cpu not in self.cpus]
        elsewhere = sum(other) - len(other) / TICKS
        return {"foreign": max(0.0, here / wall), "elsewhere": max(0.0, elsewhere / wall), "window": wall}


def describe():
    """One line on the machine."""
    model = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    return (f"{model[0] if model else os.uname().machine}, {len(os.sched_getaffinity(0))} cpus usable, {memory / 2**20:.0f} GiB, "
            f"Linux {os.uname().release}")
