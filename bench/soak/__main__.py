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
from .process import Watched

RESULTS = pathlib.Path("bench/soak/results.json")
# Samples of a soak, however long it is.
SAMPLES = 240
# A load that has not ended so long after its time has hung.
PATIENCE_S = 60

FIRST = """\
Loads tare's built-in server at full rate for hours, with a record, and samples memory, open files and threads of both. Writes
bench/soak/results.json and docs/SOAK.md. Fails if one of them has grown, a request failed, or the load did not end by itself.
Nothing is measured, so the machine may do other work."""


def arguments():
    parser = argparse.ArgumentParser(prog="bench/soak/run", description=FIRST)
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
    options = arguments()
    if not options.document:
        print(f"about {options.minutes:g} min", file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(soak(options), indent=1) + "\n", encoding="utf-8")
    return document.write(json.loads(RESULTS.read_text(encoding="utf-8")))


def soak(options):
    """Loads the server, and returns the samples of both programs and what the load says at its end."""
    program, seconds = str(options.program.resolve()), options.minutes * 60
    # That of the program: there may be commits before the load ends.
    revision = subprocess.run(["git", "describe", "--always"], capture_output=True, text=True, check=False).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="tare-soak-") as folder, contextlib.ExitStack() as ended:
        server = start(ended, folder, program, "reference", "--port", "0")
        address = server.stdout.readline().removeprefix("tare: ready on ").strip()
        flags = ["-c", str(options.users), "-d", f"{seconds:.0f}s", "--db", "soak.sqlite", "--json", "soak.json", "--quiet"]
        load = start(ended, folder, program, "load", f"http://{address}/path0/4", *flags)
        watched = {"tare load": Watched(load.pid), "server": Watched(server.pid)}
        rows = sampled(watched, load, seconds)
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


def start(ended, folder, *command):
    """Starts a program that is killed whatever happens here."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ended.callback(process.wait)
    ended.callback(process.kill)
    return process


def sampled(watched, load, seconds):
    """Samples of all programs until the load ends."""
    began = time.monotonic()
    rows = []
    while load.poll() is None:
        at = time.monotonic() - began
        if at > seconds + PATIENCE_S:
            sys.exit("error: the load did not end by itself")
        taken = {name: program.sample() for name, program in watched.items()}
        # A program that has ended has no files in /proc any more.
        if all(taken.values()):
            rows.append({"s": round(at, 1), **taken})
        with contextlib.suppress(subprocess.TimeoutExpired):
            load.wait(seconds / SAMPLES)
    return rows


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit("interrupted; nothing was written")
