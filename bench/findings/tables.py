"""The tables of a claim: a [[show]] names its evidence, the kind of table, and what of the evidence it shows."""

import fnmatch
import math
import re

from . import variation
from .caption import caption_of
from .figures import added, amount, excludes, part, share, with_interval
from .picks import NAMES, SATURATING, same, selected, starts_of
from .problem import Problem, pick

# The keys of a [[show]] beside `evidence` and `what`.
KEYS = [*NAMES, "columns", "kind", "methods", "beside", "note", "image"]
# Columns: heading; for cells also the key in the evidence, and the unit.
HEADINGS = {"throughput": "throughput", "cpu_per_request": "CPU/request", "allocated_per_request": "allocated/request", "latency_p99": "p99"}
FIGURES = {
    "throughput": ("throughput_per_s", "per_s"),
    "cpu_per_request": ("cpu_ns_per_request", "ns"),
    "allocated_per_request": ("allocated_bytes_per_request", "bytes"),
    "memory": ("rss_peak_bytes", "bytes"),
}


def of(show, evidence):
    """The table, or the image: its caption, its rows with the heading first, and why cells are not valid."""
    run = pick("evidence", show["evidence"], evidence)
    others = {name: pick("evidence", name, evidence) for name in show.get("beside", [])}
    entries, rows_of = pick("kind of table", show["what"], KINDS)
    chosen = selected(show, run["profiles"]["views"] if entries == "profiles" else run[entries])
    table = {**show, "caption": caption_of(show, run, chosen, others), "chosen": chosen, "doubts": doubts_of(chosen) if show["what"] == "cells" else ""}
    return {**table, "rows": rows_of(show, chosen, others, run)}


def comparisons(show, chosen, others, _run):
    """Shares of the baseline, a row per comparison; what differs for certain is bold."""
    columns = show.get("columns", list(HEADINGS))

    def text(comparison, column):
        figure = next((one for one in comparison["currencies"] if one["name"] == column), None) if comparison else None
        if figure is None or figure["verdict"] == "void":
            return "void" if figure else "–"
        return f"**{share(figure)}**" if excludes(figure, 1) else share(figure)

    def heading(column):
        """As the run names the currency, where all comparisons name it so."""
        labels = {figure["label"] for one in chosen for figure in one["currencies"] if figure["name"] == column}
        return labels.pop() if len(labels) == 1 else pick("column", column, HEADINGS)

    first, *rest = map(heading, columns)
    rows = [["scenario", "variant", "baseline", first, *(f"{first}, {name}" for name in others), *rest, "starts"]]
    for one in sorted(chosen, key=lambda one: one["scenario"]):
        beside = [text(same(one, other["comparisons"]), columns[0]) for other in others.values()]
        here, *further = (text(one, column) for column in columns)
        rows.append([one["scenario"], one["variant"], one["baseline"], here, *beside, *further, str(starts_of(one))])
    return rows


def cells(show, chosen, others, _run):
    """What each server did, a row per cell, within a scenario the best first by the first column."""
    columns, kind = show.get("columns", ["throughput", "cpu_per_request", "p50", "p99"]), show.get("kind", SATURATING)
    check_columns(chosen, kind, columns)

    def rank(cell):
        number = cell_value(cell, kind, columns[0])
        return cell["scenario"], math.inf if number is None else -number if columns[0] == "throughput" else number

    first, *rest = (HEADINGS.get(column, column) for column in columns)
    rows = [["scenario", "server", first, *(f"{first}, {name}" for name in others), *rest, "starts", "valid"]]
    for cell in sorted(chosen, key=rank):
        beside = [cell_text(same(cell, other["cells"]), kind, columns[0]) for other in others.values()]
        here, *further = (cell_text(cell, kind, column) for column in columns)
        rows.append([cell["scenario"], cell["variant"], here, *beside, *further, str(cell["forks"]), validity(cell)])
    return rows


def validity(cell):
    """`valid`, `suspect`, or `valid, latency suspect` where what speaks against the cell concerns one measure alone."""
    state, reasons = cell["validity"]["state"], cell["validity"]["reasons"]
    measures = sorted({reason["concerns"].replace("cpu_per_request", "CPU per request") for reason in reasons if "concerns" in reason})
    return f"valid, {' and '.join(measures)} suspect" if state == "valid" and measures else state


def check_columns(chosen, kind, columns):
    """Fails on a column that no cell has."""
    for column in columns:
        if all(cell_value(cell, kind, column) is None for cell in chosen):
            percentiles = sorted({one["percentile"] for cell in chosen for one in (latency(cell, kind) or {"response": {"percentiles": []}})["response"]["percentiles"]})
            there = ", ".join([*FIGURES, "samples", *(f"p{one:g}" for one in percentiles), *(chosen[0]["messages"] or [])])
            raise Problem(f'columns: no cell has "{column}" under {kind} load; there may be: {there}')


def latency(cell, kind):
    return next((load for load in cell["latency"] if load["slice_kind"] == kind), None)


def cell_value(cell, kind, column):
    """The number of a column, or None. A void cell has only its counts of messages."""
    if column in (cell["messages"] or {}):
        return cell["messages"][column]
    if cell["validity"]["state"] == "void":
        return None
    if column in FIGURES:
        figure = cell[FIGURES[column][0]]
        return figure["value"] if isinstance(figure, dict) else figure
    load, percentile = latency(cell, kind), re.fullmatch(r"(?:(jvm|machine) )?p(\d+(?:\.\d+)?)", column)
    if load is None or not percentile:
        return load["response"]["count"] if load and column == "samples" else None
    # `p99.9` is of the answers; `jvm p99.9` and `machine p99.9` are of the hiccup meters.
    seen = load.get(f"{percentile[1]}_hiccups" if percentile[1] else "response") or {"percentiles": []}
    return next((one["value_ns"] for one in seen["percentiles"] if one["percentile"] == float(percentile[2])), None)


def cell_text(cell, kind, column):
    number = cell_value(cell, kind, column) if cell else None
    if number is None:
        return "–"
    if column in FIGURES:
        key, unit = FIGURES[column]
        return with_interval(cell[key] if isinstance(cell[key], dict) else {"value": number}, unit)
    return f"{number:,}" if column == "samples" or column in (cell["messages"] or {}) else amount(number, "ns")


def doubts_of(chosen):
    """What speaks against figures of cells: each reason with its number of cells. Without their figures equal reasons are counted together."""
    counts = {}
    for reason in (reason["text"] for cell in chosen for reason in cell["validity"]["reasons"]):
        plain = re.sub(r" in \d+ of \d+ forks?$| \(.*", "", reason.removeprefix("failed: ").split(": ")[0])
        plain = re.sub(r"\d[\d,]* of \d[\d,]* messages", "messages", plain)
        plain = re.sub(r"(up to )?\d[\d.]* % of", "part of", plain)
        counts[plain] = counts.get(plain, 0) + 1
    return "; ".join(f"{reason} ({count})" for reason, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def ladder(_show, chosen, _others, _run):
    """What each step of a ladder costs, and what it adds to the one before it: bold where that is certain."""

    def cost(step, key, unit):
        more, text = step[f"{key}_added"], added(step[f"{key}_added"], unit)
        return with_interval(step[key], unit), f"**{text}**" if more and excludes(more, 0) else text

    steps = [
        [step["variant"], *cost(step, "cpu_ns", "ns"), *cost(step, "allocated_bytes", "bytes"), str(one["forks"])] for one in chosen for step in one["steps"]
    ]
    return [["step", "CPU/request", "added", "allocated/request", "added", "starts"], *steps]


def methods(show, chosen, _others, _run):
    """The share of a profile under each of the methods."""
    rows = [["profile", "samples", "starts (steady)", "of the focus", *(pattern.strip("*.") for pattern in show["methods"])]]
    for view in chosen:
        name, samples = f"{view['variant']}, {view['scenario']}, {view['event']}", f"{view['samples']:,}" if view["samples"] else "–"
        shares = [part(view["focus_share"]), *(part(largest_share(view, pattern)) for pattern in show["methods"])]
        rows.append([name, samples, f"{view['forks']} ({view['steady_forks']})", *shares])
    return rows


def largest_share(view, pattern):
    """Of all methods that match the pattern the largest share; None if none is listed."""
    return next((one["total"] for one in view["hot"] if fnmatch.fnmatchcase(one["name"], pattern)), None)


# Each kind of table: its entries in the evidence, and what makes its rows.
KINDS = {
    "comparisons": ("comparisons", comparisons),
    "cells": ("cells", cells),
    "steps": ("ladders", ladder),
    "methods": ("profiles", methods),
    "spread": ("cells", variation.spread),
    "repeats": ("cells", variation.repeats),
    "image": ("cells", lambda *_: []),
}
