"""The command line of `bench/soak/run`."""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from . import document
from .process import WatchedProcess

RESULTS = pathlib.Path("bench/soak/results.json")
# The number of samples, however long the load is.
SAMPLES = 240
# A load that runs this much longer than planned hangs.
HANG_TIMEOUT_S = 60

DESCRIPTION = """\
Loads tare's built-in server at full rate for hours, with a record. Samples memory, open files and threads of both programs, and writes
bench/soak/results.json and docs/SOAK.md. Fails if a program has grown, a request failed, or the load did not end by itself.
Nothing is measured, so the machine may do other work."""


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/soak/run", description=DESCRIPTION)
    parser.add_argument("--minutes", type=float, default=120.0, help="length of the load (120)")
    parser.add_argument("--users", type=int, default=64, help="connections of the load (64)")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/tare"), help="the tare to load with")
    parser.add_argument("--document", action="store_true", help="only write the page again")
    options = parser.parse_args()
    if options.minutes <= 0 or options.users < 1:
        parser.error("write more than 0 for --minutes and --users")
    if not options.document and not options.program.exists():
        parser.error(f"{options.program} is not there: build it with ./tare build, or name one with --program")
    return options


def main():
    options = parse_arguments()
    if not options.document:
        print(f"about {options.minutes:g} min", file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(run_soak(options), indent=1) + "\n", encoding="utf-8")
    return document.write(json.loads(RESULTS.read_text(encoding="utf-8")))


def run_soak(options):
    """Loads the server; returns the samples of both programs and the results of the load."""
    program, seconds = str(options.program.resolve()), options.minutes * 60
    # Read before the load starts: it must be the revision of the program, and commits may follow.
    revision = subprocess.run(["git", "describe", "--always"], capture_output=True, text=True, check=False).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="tare-soak-") as folder, contextlib.ExitStack() as exit_stack:
        server = start_process(exit_stack, folder, program, "reference", "--port", "0")
        address = server.stdout.readline().removeprefix("tare: ready on ").strip()
        flags = ["-c", str(options.users), "-d", f"{seconds:.0f}s", "--db", "soak.sqlite", "--json", "soak.json", "--quiet"]
        load = start_process(exit_stack, folder, program, "load", f"http://{address}/path0/4", *flags)
        processes = {"tare load": WatchedProcess(load.pid), "server": WatchedProcess(server.pid)}
        rows = sample_until_end(processes, load, seconds)
        summary = json.loads(pathlib.Path(folder, "soak.json").read_text(encoding="utf-8"))
        return {
            "date": time.strftime("%Y-%m-%d"),
            "revision": revision,
            "minutes": options.minutes,
            "users": options.users,
            "exit_code": load.returncode,
            "intervals": len(summary["intervals"]),
            "requests": {key: summary["requests"][key] for key in ("ok", "failed")},
            "record_bytes": pathlib.Path(folder, "soak.sqlite").stat().st_size,
            "rows": rows,
        }


def start_process(exit_stack, folder, *command):
    """Starts a program that is killed when `exit_stack` closes."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    exit_stack.callback(process.wait)
    exit_stack.callback(process.kill)
    return process


def sample_until_end(processes, load, seconds):
    """Samples all programs until the load ends; returns a row for each time."""
    begin_s = time.monotonic()
    rows = []
    while load.poll() is None:
        elapsed_s = time.monotonic() - begin_s
        if elapsed_s > seconds + HANG_TIMEOUT_S:
            sys.exit("error: the load did not end by itself")
        samples = {name: program.sample() for name, program in processes.items()}
        # A program that has ended has no sample.
        if all(samples.values()):
            rows.append({"s": round(elapsed_s, 1), **samples})
        with contextlib.suppress(subprocess.TimeoutExpired):
            load.wait(seconds / SAMPLES)
    return rows


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit("interrupted; nothing was written")
