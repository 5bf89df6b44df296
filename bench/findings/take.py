"""Stores evidence: the part of a run's summary.json that the page can show, in the same form."""

import fnmatch
import json
import re

from .problem import Problem
from .runs import FOLDER, parsed


def keys(text):
    return dict.fromkeys(text.split())


# What is stored of a summary: each key with the keys below it, or with None for all. Commands of servers contain paths of a machine.
DISTRIBUTION = keys("count percentiles curve")
LATENCY = keys("model slice_kind") | dict.fromkeys(["response", "machine_hiccups", "jvm_hiccups"], DISTRIBUTION)
CELL = {
    **keys("id group scenario variant family baseline control forks steady_forks bottleneck throughput_per_s cpu_ns_per_request cpu_load"),
    **keys("allocated_bytes_per_request rss_peak_bytes heap_used_peak_bytes generator_cpu_share requests_ok requests_failed"),
    "validity": {"state": None, "reasons": keys("text concerns")},
    "latency": LATENCY,
    "messages": keys("received missing late out_of_order duplicated subscriptions"),
    "fork_values": keys("throughput_per_s"),
    "resolved": keys("key value"),
}
CURRENCY = keys("name label unit higher_is_better baseline_value variant_value ratio lo hi method forks sd_forks verdict")
PROFILE = keys("id group scenario variant event forks steady_forks samples coverage focus_share focus_own")
SECTION = {"title": None, "rows": keys("key value")}
SHAPE = {
    "run": keys("id started_at duration_s mode status command git_revision region alpha"),
    "plan": SECTION,
    "environment": SECTION,
    "cells": CELL,
    "comparisons": {**keys("id group scenario variant baseline"), "currencies": CURRENCY},
    "ladders": None,
    "profiles": {"views": {**PROFILE, "hot": keys("name total"), "moved": keys("name share"), "files": None}},
}
PLAN = ["warmup", "warmup_first_cap", "warmup_cap"]
ENVIRONMENT = re.compile("Machine|Kernel|JVM|Versions: .*")
# async-profiler's mark of a frame: inlined, compiled, interpreted, kernel. The method is the same with any mark.
MARK = re.compile(r"_\[\w\](?=;|$)")


def take(name, run, scenarios, methods=(), folder=FOLDER):
    """Stores the matching scenarios of the run in the folder `run` as `name`, with the matching methods of its profiles."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise Problem(f'"{name}" is not a valid name of evidence: use small letters, digits and hyphens, as in pekko-3-users')
    source = run / "summary.json"
    try:
        kept = kept_of(only(parsed(source), SHAPE), run, scenarios, methods)
    except (KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{source} is not a summary of this version of tare ({error!r}); tare report makes a new one") from error
    if not kept["cells"] and not kept["profiles"]["views"]:
        raise Problem(f"{source} has no figures for {' '.join(scenarios)}")
    # A line for each entry, so that the difference to a renewed run can be read.
    plain = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = lambda value: "[\n" + ",\n".join(map(plain, value)) + "\n]" if value and isinstance(value, list) else plain(value)
    target = folder / f"{name}.json"
    target.write_text("{\n" + ",\n".join(f"{plain(key)}:{lines(value)}" for key, value in kept.items()) + "\n}\n", encoding="utf-8")
    return target


def only(value, shape):
    """The value with the keys of the shape alone, at every depth."""
    if isinstance(value, list):
        return [only(one, shape) for one in value]
    return {key: only(value[key], below) for key, below in shape.items() if key in value} if value and shape else value


def kept_of(summary, run, scenarios, methods):
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
        "profiles": {"views": [with_methods(view, run / "profiles", methods) for view in views]},
        "leaks": leaks(run / "logs"),
    }


def with_methods(view, folder, patterns):
    """The profile with all its methods in `hot`: those that hold much, those that moved, and those of the patterns that are neither."""
    totals = {one["name"]: one["total"] for one in view.pop("hot")} | {one["name"]: one["share"] for one in view.pop("moved")}
    files, unlisted = view.pop("files"), [pattern for pattern in patterns if not fnmatch.filter(totals, pattern)]
    if unlisted:
        totals |= shares(folder / re.sub(r"-\d+\.\w+$", ".collapsed", files[0]).replace("@", "-"), unlisted)
    return {**view, "hot": [{"name": name, "total": total} for name, total in sorted(totals.items(), key=lambda one: -one[1]["value"])]}


def shares(path, patterns):
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


def leaks(logs):
    """For each variant: the number of starts with a log, and of those whose log reports a leaked buffer of Netty."""
    counts = {}
    for log in sorted(logs.glob("*-*-*.log")):
        starts = counts.setdefault(log.stem.split("-")[-2], [0, 0])
        starts[0] += 1
        starts[1] += "LEAK: " in log.read_text(encoding="utf-8", errors="replace")
    return counts
