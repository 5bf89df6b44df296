"""Runs tare, and reads the first comparison of a run."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

from ..problem import Problem

TARE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/tare"
REPLAY = TARE.with_name("replay")
# Each part has its own folder, so that runs of other work neither take a prior from its runs nor give one.
RECORDS_FOLDER = pathlib.Path(".tare/decide")
# The progress line of a start that gives a comparison its verdict.
VERDICT = re.compile(r"start \d+ +(more|less|higher|lower|slower|faster|no difference)\b")


def build(*targets):
    """Builds the programs."""
    subprocess.run(["cargo", "build", "--quiet", "--release", *targets], check=True)


def run(part, flags, seed, command="run"):
    """Runs `tare run`, or another command that compares, with these flags. Returns its summary (None if it was interrupted), and the
    seconds to the first verdict (None without a verdict)."""
    folder = RECORDS_FOLDER / part
    before = newest_run(folder)
    command = [str(TARE), command, *flags, "--seed", str(seed), "--dir", str(folder)]
    print(f"\n$ {' '.join(command)}", file=sys.stderr, flush=True)
    verdict_s = seconds_to_verdict(command)
    latest = newest_run(folder)
    if latest is None or latest == before:
        raise Problem(f"this run left no record: {' '.join(command)}")
    summary = latest / "summary.json"
    if not summary.exists():
        raise Problem(f"{latest} has no summary: tare report {latest.name} --dir {folder} makes it")
    summary = json.loads(summary.read_text(encoding="utf-8"))
    return (None if summary["run"]["status"] == "interrupted" else summary), verdict_s


def seconds_to_verdict(command):
    """Runs a command to its end and prints its progress; returns the seconds to the first verdict. The run continues after the verdict
    until it knows the size of the difference too."""
    begin_s, verdict_s = time.monotonic(), None
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        for line in process.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            if verdict_s is None and VERDICT.search(line):
                verdict_s = time.monotonic() - begin_s
    return verdict_s


def remake_report(part, run):
    """Makes the report of a run again and returns its summary; None without a record."""
    folder = RECORDS_FOLDER / part
    if not (folder / "runs" / run / "record.sqlite").exists():
        return None
    subprocess.run([str(TARE), "report", run, "--dir", str(folder)], stdout=subprocess.DEVNULL, check=True)
    return json.loads((folder / "runs" / run / "summary.json").read_text(encoding="utf-8"))


def newest_run(folder):
    """The folder of the newest run; None without runs."""
    runs = [path for path in (folder / "runs").glob("*") if path.is_dir()]
    return max(runs, key=lambda path: path.stat().st_mtime, default=None)


def figures_of_comparison(summary, currency=None):
    """The figures of a run's first comparison, in `currency` if it was measured, otherwise in the currency that decides."""
    comparison = summary["comparisons"][0]
    if not comparison["currencies"]:
        raise Problem(f"nothing was compared in {summary['run']['id']}: {summary['findings'][:1]}")
    chosen = next((one for one in comparison["currencies"] if one["name"] == currency), comparison["currencies"][0])
    keys = ("name", "verdict", "material", "short", "ratio", "lo", "hi", "forks", "sd_forks", "baseline_value", "fork_ratios", "prior")
    run_keys = ("id", "started_at", "duration_s", "status", "git_revision", "alpha", "region")
    throughput = next((one for one in comparison["currencies"] if one["name"] == "throughput"), {})
    figures = {**{key: chosen.get(key) for key in keys}, "throughput": {key: throughput.get(key) for key in ("ratio", "lo", "hi")}}
    return {**figures, "run": describe_run(summary, *run_keys)}


def describe_run(summary, *keys):
    """These keys of the run, and the processor of its machine."""
    machine = next(section for section in summary["environment"] if section["title"] == "Machine")
    processor = next(row["value"] for row in machine["rows"] if row["key"] == "CPU")
    return {**{key: summary["run"][key] for key in keys}, "processor": processor}
