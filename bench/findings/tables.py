"""Builds the tables of a claim. A [[show]] names the evidence, the kind of table, and the entries that it shows."""

import fnmatch
import math
import re

from . import variation
from .caption import caption_of
from .figures import excludes_value, format_added, format_amount, format_profile_share, format_share, format_with_interval
from .picks import NAMES, SATURATING, find_same, select_entries, starts_of
from .problem import Problem, pick

# The optional keys of a [[show]]; `evidence` and `what` are required.
KEYS = [*NAMES, "columns", "kind", "methods", "beside", "note", "image"]
# Columns: heading; for cells also the key in the evidence, and the unit.
HEADINGS = {"throughput": "throughput", "cpu_per_request": "CPU/request", "allocated_per_request": "allocated/request", "latency_p99": "p99"}
FIGURES = {
    "throughput": ("throughput_per_s", "per_s"),
    "cpu_per_request": ("cpu_ns_per_request", "ns"),
    "allocated_per_request": ("allocated_bytes_per_request", "bytes"),
    "memory": ("rss_peak_bytes", "bytes"),
}


def build_table(show, evidence):
    """The table or image: caption, rows with the heading first, and why cells are not valid."""
    run = pick("evidence", show["evidence"], evidence)
    others = {name: pick("evidence", name, evidence) for name in show.get("beside", [])}
    entries, rows_of = pick("kind of table", show["what"], KINDS)
    chosen = select_entries(show, run["profiles"]["views"] if entries == "profiles" else run[entries])
    table = {**show, "caption": caption_of(show, run, chosen, others), "chosen": chosen, "doubts": doubts_of(chosen) if show["what"] == "cells" else ""}
    return {**table, "rows": rows_of(show, chosen, others, run)}


def comparison_rows(show, chosen, others, _run):
    """Shares of the baseline, with a row per comparison. Shares whose interval excludes 100 % are bold."""
    columns = show.get("columns", list(HEADINGS))

    def text(comparison, column):
        figure = next((one for one in comparison["currencies"] if one["name"] == column), None) if comparison else None
        if figure is None or figure["verdict"] == "void":
            return "void" if figure else "–"
        return f"**{format_share(figure)}**" if excludes_value(figure, 1) else format_share(figure)

    def heading(column):
        """The run's name of the currency if all comparisons use the same one, otherwise ours."""
        labels = {figure["label"] for one in chosen for figure in one["currencies"] if figure["name"] == column}
        return labels.pop() if len(labels) == 1 else pick("column", column, HEADINGS)

    first, *rest = map(heading, columns)
    rows = [["scenario", "variant", "baseline", first, *(f"{first}, {name}" for name in others), *rest, "starts"]]
    for one in sorted(chosen, key=lambda one: one["scenario"]):
        beside = [text(find_same(one, other["comparisons"]), columns[0]) for other in others.values()]
        here, *further = (text(one, column) for column in columns)
        rows.append([one["scenario"], one["variant"], one["baseline"], here, *beside, *further, str(starts_of(one))])
    return rows


def cell_rows(show, chosen, others, _run):
    """The figures of each server, with a row per cell. Within a scenario, the best server by the first column comes first."""
    columns, kind = show.get("columns", ["throughput", "cpu_per_request", "p50", "p99"]), show.get("kind", SATURATING)
    check_columns(chosen, kind, columns)

    def rank(cell):
        number = cell_value(cell, kind, columns[0])
        return cell["scenario"], math.inf if number is None else -number if columns[0] == "throughput" else number

    first, *rest = (HEADINGS.get(column, column) for column in columns)
    rows = [["scenario", "server", first, *(f"{first}, {name}" for name in others), *rest, "starts", "valid"]]
    for cell in sorted(chosen, key=rank):
        beside = [cell_text(find_same(cell, other["cells"]), kind, columns[0]) for other in others.values()]
        here, *further = (cell_text(cell, kind, column) for column in columns)
        rows.append([cell["scenario"], cell["variant"], here, *beside, *further, str(cell["forks"]), validity_text(cell)])
    return rows


def validity_text(cell):
    """`valid`, `suspect`, or `valid, latency suspect` if the reasons concern only some measures."""
    state, reasons = cell["validity"]["state"], cell["validity"]["reasons"]
    measures = sorted({reason["concerns"].replace("cpu_per_request", "CPU per request") for reason in reasons if "concerns" in reason})
    return f"valid, {' and '.join(measures)} suspect" if state == "valid" and measures else state


def check_columns(chosen, kind, columns):
    """Fails if no cell has one of the columns."""
    for column in columns:
        if all(cell_value(cell, kind, column) is None for cell in chosen):
            percentiles = sorted({one["percentile"] for cell in chosen for one in (latency_of(cell, kind) or {"response": {"percentiles": []}})["response"]["percentiles"]})
            known = ", ".join([*FIGURES, "samples", *(f"p{one:g}" for one in percentiles), *(chosen[0]["messages"] or [])])
            raise Problem(f'columns: no cell has "{column}" under {kind} load; there may be: {known}')


def latency_of(cell, kind):
    return next((load for load in cell["latency"] if load["slice_kind"] == kind), None)


def cell_value(cell, kind, column):
    """The number in a column, or None. A void cell has only its counts of messages."""
    if column in (cell["messages"] or {}):
        return cell["messages"][column]
    if cell["validity"]["state"] == "void":
        return None
    if column in FIGURES:
        figure = cell[FIGURES[column][0]]
        return figure["value"] if isinstance(figure, dict) else figure
    load, percentile = latency_of(cell, kind), re.fullmatch(r"(?:(jvm|machine) )?p(\d+(?:\.\d+)?)", column)
    if load is None or not percentile:
        return load["response"]["count"] if load and column == "samples" else None
    # `p99.9` is that of responses; `jvm p99.9` and `machine p99.9` are those of the hiccup meters.
    seen = load.get(f"{percentile[1]}_hiccups" if percentile[1] else "response") or {"percentiles": []}
    return next((one["value_ns"] for one in seen["percentiles"] if one["percentile"] == float(percentile[2])), None)


def cell_text(cell, kind, column):
    number = cell_value(cell, kind, column) if cell else None
    if number is None:
        return "–"
    if column in FIGURES:
        key, unit = FIGURES[column]
        return format_with_interval(cell[key] if isinstance(cell[key], dict) else {"value": number}, unit)
    return f"{number:,}" if column == "samples" or column in (cell["messages"] or {}) else format_amount(number, "ns")


def doubts_of(chosen):
    """Why cells are not valid: each reason with its number of cells. Reasons that differ only in numbers are counted together."""
    counts = {}
    for reason in (reason["text"] for cell in chosen for reason in cell["validity"]["reasons"]):
        plain = re.sub(r" in \d+ of \d+ forks?$| \(.*", "", reason.removeprefix("failed: ").split(": ")[0])
        plain = re.sub(r"\d[\d,]* of \d[\d,]* messages", "messages", plain)
        plain = re.sub(r"(up to )?\d[\d.]* % of", "part of", plain)
        counts[plain] = counts.get(plain, 0) + 1
    return "; ".join(f"{reason} ({count})" for reason, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def ladder_rows(_show, chosen, _others, _run):
    """The cost of each step of a ladder, and what it adds to the step before. Additions whose interval excludes 0 are bold."""

    def cost(step, key, unit):
        more, text = step[f"{key}_added"], format_added(step[f"{key}_added"], unit)
        return format_with_interval(step[key], unit), f"**{text}**" if more and excludes_value(more, 0) else text

    steps = [
        [step["variant"], *cost(step, "cpu_ns", "ns"), *cost(step, "allocated_bytes", "bytes"), str(one["forks"])] for one in chosen for step in one["steps"]
    ]
    return [["step", "CPU/request", "added", "allocated/request", "added", "starts"], *steps]


def method_rows(show, chosen, _others, _run):
    """The share of a profile under each of the methods."""
    rows = [["profile", "samples", "starts (steady)", "of the focus", *(pattern.strip("*.") for pattern in show["methods"])]]
    for view in chosen:
        name, samples = f"{view['variant']}, {view['scenario']}, {view['event']}", f"{view['samples']:,}" if view["samples"] else "–"
        shares = [format_profile_share(view["focus_share"]), *(format_profile_share(largest_share(view, pattern)) for pattern in show["methods"])]
        rows.append([name, samples, f"{view['forks']} ({view['steady_forks']})", *shares])
    return rows


def largest_share(view, pattern):
    """The largest share of the methods that match the pattern; None if none matches."""
    return next((one["total"] for one in view["hot"] if fnmatch.fnmatchcase(one["name"], pattern)), None)


# Each kind of table: the key of its entries in the evidence, and the function that makes its rows.
KINDS = {
    "comparisons": ("comparisons", comparison_rows),
    "cells": ("cells", cell_rows),
    "steps": ("ladders", ladder_rows),
    "methods": ("profiles", method_rows),
    "spread": ("cells", variation.spread_rows),
    "repeats": ("cells", variation.repeat_rows),
    "machines": ("cells", variation.machine_rows),
    "image": ("cells", lambda *_: []),
}
