"""Starts tare and its built-in server in a temporary folder, and finds the processes that they leave."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from ..problem import Problem

# This environment variable of every started process contains the name of its folder.
MARK = "TARE_FAULTS_MARK"
# Longer than any break takes: a program that still runs hangs.
HANG_TIMEOUT_S = 120.0
# Flags of a short run of the built-in servers.
SHORT_RUN_FLAGS = ("--warmup", "200ms", "--slice", "100ms", "--discard", "20ms", "--saturating", "3", "--latency", "200ms", "-u", "8")


class Tare:
    """The program under test."""

    def __init__(self, program):
        if not program.exists():
            raise Problem(f"{program} is not there: build it with ./tare build, or name one with --program")
        self.program = str(program.resolve())
        self.exit_stack = contextlib.ExitStack()

    @contextlib.contextmanager
    def temporary_folder(self):
        """A folder for one break. Processes that are started in it are marked with its name."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="tare-faults-"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def create_shared_folder(self):
        """A folder for all breaks of a part. It is removed at the end of the campaign."""
        return pathlib.Path(self.exit_stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-faults-")))

    def start(self, folder, *args, wrapper=(), extra_environment=None):
        """Starts `tare ARGS` in a folder; `wrapper` is a command that starts it, such as prlimit."""
        return self.start_program(folder, *wrapper, self.program, *map(str, args), extra_environment=extra_environment)

    def start_program(self, folder, *command, extra_environment=None):
        """Starts any program in a folder, with the mark of the folder."""
        environment = {**os.environ, MARK: folder.name, "NO_COLOR": "1", **(extra_environment or {})}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=folder, env=environment, **pipes)

    def run(self, folder, *args, wrapper=()):
        """Runs `tare ARGS` to its end. Returns exit code (None if it hung), standard output and standard error."""
        return wait_for_end(self.start(folder, *args, wrapper=wrapper))

    @contextlib.contextmanager
    def running_server(self, folder, extra_environment=None):
        """Runs the built-in server during a `with` block, and provides its URL."""
        process = self.start(folder, "reference", "--port", "0", extra_environment=extra_environment)
        try:
            address = process.stdout.readline().removeprefix("tare: ready on ").strip()
            yield f"http://{address}"
        finally:
            process.kill()
            process.communicate()

    def write_suite(self, folder, more_servers=""):
        """Writes a suite of two built-in servers and `more_servers` (TOML); returns its path."""
        text = subprocess.run([self.program, "example"], capture_output=True, text=True, check=True).stdout + more_servers
        path = folder / "suite.toml"
        path.write_text(text, encoding="utf-8")
        return path


def wait_for_end(process):
    """Waits for the end of a program, and kills it if it hangs. Returns exit code (None if it hung), standard output and standard error."""
    try:
        out, err = process.communicate(timeout=HANG_TIMEOUT_S)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return None, out, err


def find_processes(folder):
    """The process IDs of all processes that were started in a folder and still run."""
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


def wait_until_gone(folder):
    """Waits up to 10 s for all processes of a folder to end; returns whether they did."""
    until = time.monotonic() + 10.0
    while find_processes(folder):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def parse_json(text):
    """Parses JSON; returns None if the text is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


@contextlib.contextmanager
def mount_small_disk(folder, kib):
    """Mounts a disk of `kib` KiB as FOLDER/disk during a `with` block. Needs root."""
    path = folder / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", path], capture_output=True, check=False)
    if mounted.returncode != 0:
        raise Problem("the parts disk-load and disk-run mount a small disk, which needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=False)
