"""Starts tare and its built-in server in a folder of its own, and finds what is left of them."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

MARK = "TARE_FAULTS_MARK"
# Longer than any break takes; a program that is still there has hung.
PATIENCE_S = 120.0
# Flags of a short run of the built-in servers.
QUICK = ("--warmup", "200ms", "--slice", "100ms", "--discard", "20ms", "--saturating", "3", "--poisson", "1", "-u", "8")


class Problem(Exception):
    """Ends the program with its text."""


class Tare:
    """The program under test."""

    def __init__(self, program):
        if not program.exists():
            raise Problem(f"{program} is not there: build it with ./tare build, or name one with --program")
        self.program = str(program.resolve())
        self.kept = contextlib.ExitStack()

    @contextlib.contextmanager
    def folder(self):
        """A folder for one break. Its name marks every process that is started in it."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="tare-faults-"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def kept_folder(self):
        """A folder for all breaks of a part; it goes with the program."""
        return pathlib.Path(self.kept.enter_context(tempfile.TemporaryDirectory(prefix="tare-faults-")))

    def start(self, folder, *args, before=(), more_environment=None):
        """Starts `tare ARGS` in a folder; `before` is a command that runs it, such as prlimit."""
        return self.start_program(folder, *before, self.program, *map(str, args), more_environment=more_environment)

    def start_program(self, folder, *command, more_environment=None):
        """Starts another program in a folder, with the mark of the folder."""
        environment = {**os.environ, MARK: folder.name, "NO_COLOR": "1", **(more_environment or {})}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=folder, env=environment, **pipes)

    def run(self, folder, *args, before=()):
        """Runs `tare ARGS` to its end: exit code, standard output and standard error. A code of None: it hung."""
        return end(self.start(folder, *args, before=before))

    @contextlib.contextmanager
    def server(self, folder, more_environment=None):
        """The built-in server, and its URL."""
        process = self.start(folder, "reference", "--port", "0", more_environment=more_environment)
        try:
            address = process.stdout.readline().removeprefix("tare: ready on ").strip()
            yield f"http://{address}"
        finally:
            process.kill()
            process.communicate()

    def suite(self, folder, more=""):
        """A suite of two servers that are part of tare, and of what `more` adds; its path."""
        text = subprocess.run([self.program, "example"], capture_output=True, text=True, check=True).stdout + more
        path = folder / "suite.toml"
        path.write_text(text, encoding="utf-8")
        return path


def end(process):
    """Waits for the end of a program, and kills one that hangs."""
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return None, out, err


def processes(folder):
    """Identifiers of the processes that were started in a folder and still run."""
    mark = f"{MARK}={folder.name}".encode()
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            marked = mark in (entry / "environ").read_bytes().split(b"\0")
            if marked and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def are_gone(folder):
    """Whether all processes of a folder end within ten seconds."""
    until = time.monotonic() + 10.0
    while processes(folder):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def read_json(text):
    """The JSON in a text; None if it holds none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


@contextlib.contextmanager
def small_disk(folder, kib):
    """A disk of this size below a folder. Only root may mount one."""
    path = folder / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", path], capture_output=True, check=False)
    if mounted.returncode != 0:
        raise Problem("the part with a full disk mounts a small one, which needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=False)
