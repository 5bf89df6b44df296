"""Runs tare, and reads what a run says of its first comparison."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

from .problem import Problem

TARE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/tare"
REPLAY = TARE.with_name("replay")
# Each part has a folder of its own: its runs take no prior from other work, and give none.
RECORDS = pathlib.Path(".tare/decide")
# The line after a start with which a comparison has a verdict.
VERDICT = re.compile(r"start \d+ +(more|less|higher|lower|slower|faster|no difference)\b")


def build(*targets):
    """Builds the programs; quick where nothing has changed."""
    subprocess.run(["cargo", "build", "--quiet", "--release", *targets], check=True)


def run(part, flags, seed, command="run"):
    """Runs `tare run`, or another command that compares, with these flags. Returns its summary, or None where it was interrupted, and
    the seconds to the first verdict, or None where there was none."""
    folder = RECORDS / part
    before = newest(folder)
    command = [str(TARE), command, *flags, "--seed", str(seed), "--dir", str(folder)]
    print(f"\n$ {' '.join(command)}", file=sys.stderr, flush=True)
    verdict_s = seconds_to_verdict(command)
    latest = newest(folder)
    if latest is None or latest == before:
        raise Problem(f"this run left no record: {' '.join(command)}")
    summary = latest / "summary.json"
    if not summary.exists():
        raise Problem(f"{latest} has no summary: tare report {latest.name} --dir {folder} makes it")
    summary = json.loads(summary.read_text(encoding="utf-8"))
    return (None if summary["run"]["status"] == "interrupted" else summary), verdict_s


def seconds_to_verdict(command):
    """Runs a command to its end, and shows what it says. A run goes on after its first verdict, until the size is known, too."""
    begin, verdict_s = time.monotonic(), None
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8") as running:
        for line in running.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            if verdict_s is None and VERDICT.search(line):
                verdict_s = time.monotonic() - begin
    return verdict_s


def report(part, run):
    """Makes the report of a run again, and returns its summary; None where there is no record."""
    folder = RECORDS / part
    if not (folder / "runs" / run / "record.sqlite").exists():
        return None
    subprocess.run([str(TARE), "report", run, "--dir", str(folder)], stdout=subprocess.DEVNULL, check=True)
    return json.loads((folder / "runs" / run / "summary.json").read_text(encoding="utf-8"))


def newest(folder):
    """The folder of the newest run."""
    runs = [path for path in (folder / "runs").glob("*") if path.is_dir()]
    return max(runs, key=lambda path: path.stat().st_mtime, default=None)


def outcome(summary, currency=None):
    """What a run says of its first comparison, by this currency where it has it, and else by the one that decides."""
    comparison = summary["comparisons"][0]
    if not comparison["currencies"]:
        raise Problem(f"nothing was compared in {summary['run']['id']}: {summary['findings'][:1]}")
    first = next((some for some in comparison["currencies"] if some["name"] == currency), comparison["currencies"][0])
    keys = ("name", "verdict", "material", "short", "ratio", "lo", "hi", "forks", "sd_forks", "baseline_value", "fork_ratios", "prior")
    run_keys = ("id", "started_at", "duration_s", "status", "git_revision", "alpha", "region")
    throughput = next((some for some in comparison["currencies"] if some["name"] == "throughput"), {})
    figures = {**{key: first.get(key) for key in keys}, "throughput": {key: throughput.get(key) for key in ("ratio", "lo", "hi")}}
    return {**figures, "run": {key: summary["run"][key] for key in run_keys}}
