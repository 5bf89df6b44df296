"""Selects the cells, comparisons or profiles of a [[show]] from its evidence, and their columns."""

import fnmatch
import re

from . import schema
from .evidence import MESSAGES, METERS
from .problem import Problem

# Columns of a comparison: currency, and heading.
SHARES = {
    "throughput": "throughput",
    "cpu_per_request": "CPU/request",
    "allocated_per_request": "allocated/request",
    "latency_p50": "p50",
    "latency_p99": "p99",
}
# Columns of a cell: key in the evidence, and unit.
FIGURES = {
    "throughput": ("throughput_per_s", "per_s"),
    "cpu_per_request": ("cpu_ns_per_request", "ns"),
    "allocated_per_request": ("allocated_bytes_per_request", "bytes"),
    "memory": ("rss_peak_bytes", "bytes"),
}
PERCENTILE = re.compile(rf"(({'|'.join(METERS)}) )?p\d\d?(\.\d+)?")
# Each kind of table: its list in the evidence, and the keys that its [[show]] may have in addition to the common ones.
KINDS = {
    "comparisons": ("comparisons", {"columns": schema.TEXTS, "beside": schema.TEXTS}),
    "cells": ("cells", {"columns": schema.TEXTS, "kind": schema.TEXT, "beside": schema.TEXTS}),
    "spread": ("cells", {}),
    "repeats": ("cells", {"beside": schema.TEXTS}),
    "steps": ("steps", {"kind": schema.TEXT}),
    "methods": ("profiles", {"methods": schema.TEXTS}),
    "plot": ("cells", {"kind": schema.TEXT, "limit_ms": schema.NUMBER, "limit": schema.TEXT}),
}
# Required keys.
NEEDED = {"repeats": ["beside"], "methods": ["methods"]}
GLOBS = {"groups": "group", "scenarios": "scenario", "variants": "variant"}
ALL = {"evidence": schema.TEXT, "what": schema.TEXT, "note": schema.TEXT, **{key: schema.TEXTS for key in GLOBS}}


def hold(place, show):
    """Fails unless the keys of the [[show]] are valid, for any evidence."""
    if "what" in show:
        schema.one_of(place, "table for what =", show["what"], KINDS)
    _, own = KINDS[show["what"]] if "what" in show else ("", {})
    schema.hold(place, show, ALL | own, ("evidence", "what", *NEEDED.get(show.get("what"), ())))
    for column in show.get("columns", []):
        if not known(show["what"], column):
            raise Problem(f'{place}: columns: {show["what"]} have no "{column}"; there are: {", ".join(names(show["what"]))}')


def known(what, column):
    return column in names(what) or (what == "cells" and bool(PERCENTILE.fullmatch(column)))


def names(what):
    if what == "comparisons":
        return list(SHARES)
    return [*FIGURES, "samples", *MESSAGES, "p50 and other percentiles", *(f"{meter} p50 and others" for meter in METERS)]


def picked(show, things):
    """The comparisons, cells or profiles whose group, scenario and variant match."""
    matches = lambda thing: all(any(fnmatch.fnmatchcase(thing[key], glob) for glob in show.get(globs, ["*"])) for globs, key in GLOBS.items())
    return [thing for thing in things if matches(thing)]


def of(place, show, evidence):
    """The selection of the [[show]]; fails if it is empty, or if one of its patterns matches nothing."""
    part, _ = KINDS[show["what"]]
    things = evidence[part]
    for globs, key in GLOBS.items():
        there = sorted({thing[key] for thing in things})
        for glob in show.get(globs, []):
            if not fnmatch.filter(there, glob):
                raise Problem(f'{place}: {globs}: "{glob}" matches no {key} in evidence "{show["evidence"]}"; there are: {", ".join(there) or "none"}')
    chosen = picked(show, things)
    if not chosen:
        raise Problem(f'{place}: no {part} of evidence "{show["evidence"]}" match {", ".join(key for key in GLOBS if key in show) or "anything"} together')
    return chosen


def also(head, others):
    """The headings of the columns for other runs."""
    return [f"{head}, {name}" for name in others]


def same(one, things):
    """The same scenario and variant in another run: of the same group, or the only one if the groups have other names."""
    alike = [thing for thing in things if (thing["scenario"], thing["variant"]) == (one["scenario"], one["variant"])]
    return next((thing for thing in alike if thing["id"] == one["id"]), alike[0] if len(alike) == 1 else None)
