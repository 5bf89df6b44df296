"""Stores the results of runs: the part of a run's summary that the page can show, as one small file per run in the repository.
`shelf.py` reads it."""

import fnmatch
import json
import pathlib
import re

from . import stacks
from .problem import Problem

FOLDER = pathlib.Path(__file__).parent / "evidence"

# Stored keys of a run, a cell and a figure. Commands of servers are left out, because they contain paths of a machine.
RUN = ["id", "started_at", "duration_s", "mode", "status", "command", "git_revision", "region", "alpha"]
CELL = [
    "id", "group", "scenario", "variant", "family", "baseline", "control", "forks", "steady_forks", "validity", "bottleneck",
    "throughput_per_s", "cpu_ns_per_request", "cpu_load", "allocated_bytes_per_request", "rss_peak_bytes", "heap_used_peak_bytes",
    "generator_cpu_share", "requests_ok", "requests_failed",
]  # fmt: skip
CURRENCY = ["name", "label", "unit", "higher_is_better", "baseline_value", "variant_value", "ratio", "lo", "hi", "method", "forks", "sd_forks", "verdict"]
PROFILE = ["id", "group", "scenario", "variant", "event", "forks", "steady_forks", "samples", "coverage", "focus_share", "focus_own"]
STEP = ["variant", "cpu_ns", "cpu_ns_added", "allocated_bytes", "allocated_bytes_added"]
MACHINE = ["Machine", "Kernel", "JVM"]
# Settings of the plan that a reader needs to judge the figures. The command has the others.
PLAN = ["server_cpus", "load_cpus", "warmup", "warmup_first_cap", "warmup_cap"]
MESSAGES = ["received", "missing", "late", "out_of_order", "duplicated", "subscriptions"]
# Hiccup meters: on the server's cores, and inside the JVM.
METERS = ["machine", "jvm"]


def take(name, run, scenarios, folder=FOLDER, methods=()):
    """Stores the matching scenarios of the run in the folder `run` as `name`, and the matching methods of its profiles."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise Problem(f'"{name}" is not a valid name of evidence: use small letters, digits and hyphens, as in pekko-3-users')
    source = run / "summary.json"
    if not source.exists():
        raise Problem(f"{source} does not exist: give the folder of a run that has ended, such as .tare/runs/2026-11-21-1")
    try:
        kept = kept_of(parsed(source), scenarios)
        kept["profiles"] = [profile(view, run / "profiles", methods) for view in kept["profiles"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{source} is not a summary of this version of tare ({error!r}); tare report makes a new one") from error
    if not kept["cells"] and not kept["profiles"]:
        raise Problem(f"{source}: no figures for {' '.join(scenarios)}")
    kept["leaks"] = leaks(run / "logs")
    target = folder / f"{name}.json"
    target.write_text(written(rounded(kept)), encoding="utf-8")
    return target


def kept_of(summary, scenarios):
    wanted = lambda things: [one for one in things if any(fnmatch.fnmatchcase(one["scenario"], glob) for glob in scenarios)]
    weighed = lambda things: [{**one, "currencies": [only(currency, CURRENCY) for currency in one["currencies"]]} for one in wanted(things)]
    plan = {row["key"]: row["value"] for section in summary["plan"] for row in section["rows"]}
    return {
        "run": {**only(summary["run"], RUN), "command": plain_command(summary["run"]["command"])},
        "plan": {key: plan[key] for key in PLAN if key in plan},
        "machine": {section["title"]: rows(section) for section in summary["environment"] if section["title"] in MACHINE},
        "versions": dict(versions_of(section) for section in summary["environment"] if section["title"].startswith("Versions: ")),
        "cells": [{**only(cell, CELL), "validity": validity(cell), **beside(cell)} for cell in wanted(summary["cells"])],
        "comparisons": weighed(summary["comparisons"]),
        "steps": [step for ladder in wanted(summary.get("ladders") or []) for step in steps(ladder)],
        "profiles": wanted((summary.get("profiles") or {}).get("views", [])),
        "noise": weighed(summary["noise"]),
    }


def validity(cell):
    """Whether the cell's figures may be used, and why not; without remedies, which the page does not show."""
    state, reasons = cell["validity"]["state"], cell["validity"]["reasons"]
    return {"state": state, "reasons": [reason["text"] for reason in reasons]}


def leaks(logs):
    """For each variant: the number of starts with a log, and the number in which Netty reported a leaked buffer."""
    counts = {}
    for log in sorted(logs.glob("*-*-*.log")):
        starts = counts.setdefault(log.stem.split("-")[-2], [0, 0])
        starts[0] += 1
        starts[1] += "LEAK: " in log.read_text(encoding="utf-8", errors="replace")
    return counts


def versions_of(section):
    return section["title"].removeprefix("Versions: "), rows(section)


def parsed(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path}: {error}") from error


def written(kept):
    """JSON with a line per cell and comparison, so that the diff of a renewed run is readable."""
    plain = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = lambda many: "[\n" + ",\n".join(plain(one) for one in many) + "\n]"
    parts = [f"{plain(key)}:{lines(value) if isinstance(value, list) else plain(value)}" for key, value in kept.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def steps(ladder):
    """The steps of a ladder, from the bare server up, each with its added cost."""
    return [{**only(ladder, ["group", "scenario", "forks"]), **only(step, STEP)} for step in ladder["steps"]]


def profile(view, folder, asked):
    """The methods of a profile, and the requested ones outside its tables. The flame graph stays in the run's folder."""
    share = lambda frame, key: {"name": frame["name"], "share": frame[key]}
    methods = {frame["name"]: share(frame, "total") for frame in view["hot"]}
    methods |= {frame["name"]: share(frame, "share") for frame in view["moved"]}
    unlisted = [pattern for pattern in asked if not fnmatch.filter(methods, pattern)]
    if unlisted:
        methods |= {name: {"name": name, "share": part} for name, part in stacks.shares(folder, view, unlisted).items()}
    return {**only(view, PROFILE), "methods": sorted(methods.values(), key=lambda method: -method["share"]["value"])}


def only(thing, keys):
    return {key: thing.get(key) for key in keys}


def rows(section):
    return {row["key"]: row["value"] for row in section["rows"]}


def beside(cell):
    return {
        "versions": {row["key"]: row["value"] for row in cell["resolved"]},
        "throughputs_per_s": [one["throughput_per_s"] for one in cell["fork_values"]],
        "latency": [latency(one) for one in cell["latency"]],
        "messages": only(cell["messages"], MESSAGES) if cell.get("messages") else None,
    }


def latency(load):
    """The percentiles for one load, with those of the hiccup meters, if they ran."""
    meters = {meter: load.get(f"{meter}_hiccups") for meter in METERS}
    return {
        "model": load["model"],
        "kind": load["slice_kind"],
        "samples": load["response"]["count"],
        "percentiles": percentiles(load["response"]),
        **{meter: percentiles(seen) for meter, seen in meters.items() if seen},
        **(curves(load, meters) if any(meters.values()) else {}),
    }


def curves(load, meters):
    """The curves of a report's plots, of the answers and of the meters: pairs of a percentage and nanoseconds."""
    plotted = lambda distribution: [[point["percentile"], point["value_ns"]] for point in distribution["curve"]]
    return {"curve": plotted(load["response"]), **{f"{meter}_curve": plotted(seen) for meter, seen in meters.items() if seen}}


def percentiles(distribution):
    known = lambda one: {key: one[key] for key in ("value_ns", "lo_ns", "hi_ns") if one.get(key) is not None}
    return {str(one["percentile"]): known(one) for one in distribution["percentiles"]}


def plain_command(command):
    """The command as typed, without the program's folder."""
    program, _, rest = command.partition(" ")
    return f"{pathlib.PurePath(program).name} {rest}".strip()


def rounded(value):
    """Rounds to five significant digits. More would be noise, in the figures and in the history of the file."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value
