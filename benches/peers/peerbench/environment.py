"""The isolated Python environment: one venv, every requirement installed on its own, failures kept as reasons."""
import hashlib
import json
import subprocess
import sys
import venv

SECONDS_PER_INSTALL = 600


def read_requirements(path):
    """The lines of requirements.txt by section: base, peers, unisolated, apart."""
    sections, current = {"base": [], "peers": [], "unisolated": [], "apart": []}, "base"
    for line in path.read_text().splitlines():
        words = line.lstrip("# ").strip()
        if line.startswith("#"):
            current = words if words in sections else current
        elif words:
            sections[current].append(words)
    return sections


def pip(python, *arguments):
    """Runs pip; returns None, or the last lines of what it said when it failed."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=SECONDS_PER_INSTALL)
    except subprocess.TimeoutExpired:
        return f"pip took longer than {SECONDS_PER_INSTALL} s"
    if done.returncode == 0:
        return None
    return reason((done.stdout + done.stderr).splitlines()) or f"pip ended with status {done.returncode}"


def reason(lines):
    """The line of pip's output that says most: the last that names an error of the build, else the last of all."""
    said = [line.strip() for line in lines if line.strip()]
    named = [line for line in said if "Error: " in line or line.startswith(("fatal error:", "ERROR: No matching"))]
    return (named or said or [""])[-1][:300]


def prepare(work, requirements, again):
    """Makes or reuses the venv under `work`; returns its Python. Ends the program where the base does not install."""
    python, record = work / "env" / "bin" / "python", work / "installed.json"
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if not again and record.exists() and python.exists() and json.loads(record.read_text())["wanted"] == wanted:
        return python
    work.mkdir(parents=True, exist_ok=True)
    print(f"making the environment {work / 'env'}", file=sys.stderr, flush=True)
    venv.create(work / "env", with_pip=True, clear=True)
    sections = read_requirements(requirements)
    failed = pip(python, *sections["base"])
    if failed:
        sys.exit(f"the packages that the bench itself needs do not install ({', '.join(sections['base'])}): {failed}")
    absent = install_peers(python, work, sections)
    record.write_text(json.dumps({"wanted": wanted, "absent": absent}, indent=1))
    return python


def install_peers(python, work, sections):
    """Installs each peer without letting it change the base; returns {requirement: reason} of those that failed."""
    absent = {}
    limits = work / "base.txt"
    limits.write_text("\n".join(sections["base"]) + "\n")
    for line in sections["peers"] + sections["unisolated"] + sections["apart"]:
        print(f"  {line}", file=sys.stderr, flush=True)
        if line in sections["apart"]:
            folder = work / "apart" / line.split("=")[0]
            failed = pip(python, "--no-deps", "--upgrade", "--target", str(folder), line)
        else:
            more = ["--no-build-isolation"] if line in sections["unisolated"] else []
            failed = pip(python, "--constraint", str(limits), *more, line)
        if failed:
            absent[line] = failed
            print(f"    absent: {failed}", file=sys.stderr, flush=True)
    return absent
