"""Judges stored evidence again by today's rules: from the mean and the spread of the starts, which the evidence has."""

import json
import pathlib
import subprocess
import tomllib

from .problem import Problem
from .runs import FOLDER, parse_file
from .take import write

CONTRACT = pathlib.Path(__file__).parents[2] / "servers" / "contract.toml"
PROGRAM = ["cargo", "run", "--quiet", "--locked", "-p", "bench-programs", "--bin"]
# As `Scenario::is_long` of crates/plan.
LONG_BODY = 64 * 1024


def judge_again(name, folder=FOLDER):
    """Writes intervals and verdicts of the evidence `name` again. Returns its path."""
    path = folder / f"{name}.json"
    run = parse_file(path)
    for _, figure, judged in judge(run, path):
        # The prior is part of the interval, and the evidence has no place for it.
        figure.update({key: value for key, value in judged.items() if key != "prior"})
    return write(run, path)


def judge(run, path):
    """What today's rules say of each figure that counts: the comparison, its figure, and the judgement with the prior of its starts."""
    figures = [(one, figure) for one in run["comparisons"] for figure in one["currencies"] if figure["verdict"] != "void" and figure["sd_forks"] is not None]
    if any(not figure["method"].startswith("Student t") for _, figure in figures):
        raise Problem(f"{path} is no table with a fixed number of starts: only such a table can be judged from mean and spread")
    lengths = lengths_of_scenarios()
    entry = lambda one, figure: {
        # A percentile is compared under one load, which its label names.
        "currency": figure["name"],
        "kind": f"{figure['label']}, {lengths[one['scenario']]}",
        "higher_is_better": figure["higher_is_better"],
        "ratio": figure["ratio"],
        "sd": figure["sd_forks"],
        "forks": figure["forks"],
    }
    table = {
        "alpha": run["run"]["alpha"],
        "region": run["run"]["region"],
        "comparisons": len(run["comparisons"]),
        "measured": [entry(one, figure) for one, figure in figures],
    }
    return [(*both, judged) for both, judged in zip(figures, run_program("judge_table", table), strict=True)]


def run_program(name, given):
    """What a program of bench-programs answers in JSON."""
    command = [*PROGRAM, name]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"{' '.join(command)} failed: {done.stderr}")
    return json.loads(done.stdout)


def lengths_of_scenarios():
    """`short` or `long`, by scenario."""
    scenarios = tomllib.loads(CONTRACT.read_text(encoding="utf-8"))["scenarios"]
    return {name: "long" if is_long(scenario["request"].get("body")) else "short" for name, scenario in scenarios.items()}


def is_long(body):
    return (body["bytes"] if isinstance(body, dict) else len(body or "")) >= LONG_BODY
