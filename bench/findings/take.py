"""Stores evidence: the part of a run's summary.json that the pages can show, in the same form."""

import fnmatch
import json
import re

from .problem import Problem
from .runs import FOLDER, parse_file


def key_set(text):
    return dict.fromkeys(text.split())


# The keys of a summary that are stored, each with the keys below it, or None for all. Commands of servers are not stored: they contain
# paths of a machine.
DISTRIBUTION = key_set("count percentiles curve")
LATENCY = key_set("model slice_kind") | dict.fromkeys(["response", "machine_hiccups", "jvm_hiccups"], DISTRIBUTION)
CELL = {
    **key_set("id group scenario variant family baseline control forks steady_forks bottleneck throughput_per_s cpu_ns_per_request cpu_load"),
    **key_set("allocated_bytes_per_request rss_peak_bytes heap_used_peak_bytes generator_cpu_share requests_ok requests_failed"),
    "validity": {"state": None, "reasons": key_set("text concerns")},
    "latency": LATENCY,
    "messages": key_set("received missing late out_of_order duplicated subscriptions"),
    "fork_values": key_set("throughput_per_s"),
    "resolved": key_set("key value"),
}
CURRENCY = key_set("name label unit higher_is_better baseline_value variant_value ratio lo hi method forks sd_forks verdict")
PROFILE = key_set("id group scenario variant event forks steady_forks samples coverage focus_share focus_own")
SECTION = {"title": None, "rows": key_set("key value")}
SHAPE = {
    "run": key_set("id started_at duration_s mode status command git_revision region alpha"),
    "plan": SECTION,
    "environment": SECTION,
    "cells": CELL,
    "comparisons": {**key_set("id group scenario variant baseline"), "currencies": CURRENCY},
    "ladders": None,
    "profiles": {"views": {**PROFILE, "hot": key_set("name total"), "moved": key_set("name share")}},
}
PLAN = ["warmup", "warmup_first_cap", "warmup_cap"]
ENVIRONMENT = re.compile("Machine|Kernel|JVM|Versions: .*")
# async-profiler's mark of a frame: inlined, compiled, interpreted, kernel. The method is the same with any mark.
MARK = re.compile(r"_\[\w\](?=;|$)")


def store_run(name, run, scenarios, methods=(), folder=FOLDER):
    """Stores the matching scenarios of the run in the folder `run` as evidence `name`, with the matching methods of its profiles.
    Returns the path of the evidence."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise Problem(f'"{name}" is not a valid name of evidence: use small letters, digits and hyphens, as in pekko-3-users')
    source = run / "summary.json"
    try:
        evidence = select_evidence(keep_keys(parse_file(source), SHAPE), run, scenarios, methods)
    except (KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{source} is not a summary of this version of tare ({error!r}); tare report makes a new one") from error
    if not evidence["cells"] and not evidence["profiles"]["views"]:
        raise Problem(f"{source} has no figures for {' '.join(scenarios)}")
    return write(evidence, folder / f"{name}.json")


def write(evidence, path):
    """Writes evidence, one line for each entry, so that a diff to a later run is readable. Returns the path."""
    plain = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = lambda value: "[\n" + ",\n".join(map(plain, value)) + "\n]" if value and isinstance(value, list) else plain(value)
    path.write_text("{\n" + ",\n".join(f"{plain(key)}:{lines(value)}" for key, value in evidence.items()) + "\n}\n", encoding="utf-8")
    return path


def keep_keys(value, shape):
    """The value without the keys that are not in the shape, at every depth."""
    if isinstance(value, list):
        return [keep_keys(one, shape) for one in value]
    return {key: keep_keys(value[key], below) for key, below in shape.items() if key in value} if value and shape else value


def select_evidence(summary, run, scenarios, methods):
    wanted = lambda entries: [one for one in entries if any(fnmatch.fnmatchcase(one["scenario"], glob) for glob in scenarios)]
    views = wanted((summary.get("profiles") or {"views": []})["views"])
    for load in (load for cell in summary["cells"] for load in cell["latency"]):
        # Plots show the curves of runs with hiccup meters.
        if not load.get("machine_hiccups") and not load.get("jvm_hiccups"):
            load["response"].pop("curve", None)
    return {
        "run": {**summary["run"], "command": re.sub(r"^\S*/", "", summary["run"]["command"])},
        "plan": [{**section, "rows": rows} for section in summary["plan"] if (rows := [row for row in section["rows"] if row["key"] in PLAN])],
        "environment": [section for section in summary["environment"] if ENVIRONMENT.fullmatch(section["title"])],
        **{key: wanted(summary.get(key, [])) for key in ("cells", "comparisons", "ladders")},
        "profiles": {"views": [add_methods(view, run / "profiles", methods) for view in views]},
        "leaks": count_leaks(run / "logs"),
    }


def add_methods(view, folder, patterns):
    """The profile with all its methods in `hot`: the hot ones, those that moved, and further ones that match the patterns."""
    totals = {one["name"]: one["total"] for one in view.pop("hot")} | {one["name"]: one["share"] for one in view.pop("moved")}
    unlisted = [pattern for pattern in patterns if not fnmatch.filter(totals, pattern)]
    if unlisted:
        # As `write_profiles` of crates/report names it.
        stem = re.sub(r"[^A-Za-z0-9._-]", "-", "-".join(view[key] for key in ("group", "scenario", "variant", "event")))
        totals |= read_method_shares(folder / f"{stem}.collapsed", unlisted)
    return {**view, "hot": [{"name": name, "total": total} for name, total in sorted(totals.items(), key=lambda one: -one[1]["value"])]}


def read_method_shares(path, patterns):
    """The share of each matching method in the collapsed stacks of all starts; 0 for a pattern that matches none."""
    if not path.exists():
        raise Problem(f"{path} does not exist, and the methods that were asked for must be looked up in it")
    whole, weights = 0, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, _, weight = line.rpartition(" ")
        whole += int(weight)
        frames = set(MARK.sub("", stack).split(";"))
        for name in {name for pattern in patterns for name in fnmatch.filter(frames, pattern)}:
            weights[name] = weights.get(name, 0) + int(weight)
    weights |= {pattern: 0 for pattern in patterns if not fnmatch.filter(weights, pattern)}
    return {name: {"value": weight / whole, "lo": None, "hi": None} for name, weight in weights.items()}


def count_leaks(logs):
    """For each variant: the number of starts with a log, and how many of these logs report a leaked buffer of Netty."""
    counts = {}
    for log in sorted(logs.glob("*+*+*.log")):
        starts = counts.setdefault(log.stem.split("+")[-2], [0, 0])
        starts[0] += 1
        starts[1] += "LEAK: " in log.read_text(encoding="utf-8", errors="replace")
    return counts
