"""The tables that a claim shows: comparisons (shares of a baseline), cells (what one server did), how far starts differ, or figures
made elsewhere."""

import fnmatch
import math
import statistics

from .figures import amount, decided, share
from .problem import Problem

HEADS = {
    "throughput": "throughput",
    "cpu_per_request": "CPU/request",
    "allocated_per_request": "allocated/request",
    "latency_p50": "p50",
    "latency_p99": "p99",
}
# A cell's figures: key in the evidence, unit.
CELL = {
    "throughput": ("throughput_per_s", "per_s"),
    "cpu_per_request": ("cpu_ns_per_request", "ns"),
    "allocated_per_request": ("allocated_bytes_per_request", "bytes"),
}
PICKS = ["methods", "evidence", "what", "groups", "scenarios", "variants", "columns", "kind", "note"]


def of(show, evidence, place):
    """One table as Markdown. `place` names the claim, for messages."""
    for key in show:
        if key not in PICKS:
            raise Problem(f'{place}: unknown key "{key}" in [[show]]; there are: {", ".join(PICKS)}')
    maker = MAKERS.get(show.get("what"))
    if maker is None:
        raise Problem(f"{place}: what must be one of {', '.join(MAKERS)}, in each [[show]]")
    unknown = [column for column in show.get("columns", []) if show["what"] == "comparisons" and column not in HEADS]
    if unknown:
        raise Problem(f'{place}: comparisons have no column "{unknown[0]}"; there are: {", ".join(HEADS)}')
    lines = maker(show, evidence)
    if len(lines) < 2:
        raise Problem(f'{place}: nothing in evidence "{show["evidence"]}" is what [[show]] asks for')
    return f"{caption(show, evidence)}\n\n{markdown(lines)}"


def caption(show, evidence):
    """Which run the table is of, and under which load."""
    models = {load["model"] for cell in picked(show, evidence.get("cells", [])) for load in cell["latency"] if load["kind"] == kind_of(show)}
    what = "as a share of the baseline" if show["what"] == "comparisons" else ""
    load = "".join(models) if len(models) < 2 else "at several loads"
    parts = [f"[{show['evidence']}](#{show['evidence']})", load, what, show.get("note", "")]
    return " · ".join(part for part in parts if part) + ":"


def kind_of(show):
    return show.get("kind", "saturating")


def markdown(lines):
    head, *rest = [f"| {' | '.join(line)} |" for line in lines]
    rule = "|" + "---|" * len(lines[0])
    return "\n".join([head, rule, *rest]) + "\n"


def picked(show, things):
    """Those of the comparisons or cells whose group, scenario and variant match."""

    def matches(thing, key):
        patterns = show.get(f"{key}s", ["*"])
        return any(fnmatch.fnmatchcase(thing[key], pattern) for pattern in patterns)

    return [thing for thing in things if all(matches(thing, key) for key in ("group", "scenario", "variant"))]


def comparisons(show, evidence):
    columns = show.get("columns", ["throughput", "cpu_per_request", "allocated_per_request", "latency_p99"])
    chosen = sorted(picked(show, evidence["comparisons"]), key=lambda one: one["scenario"])
    lines = [["scenario", "weighed", "against", *(HEADS[column] for column in columns), "starts"]]
    for one in chosen:
        by_name = {currency["name"]: currency for currency in one["currencies"]}
        values = [emphasised(by_name.get(column)) for column in columns]
        starts = str(one["currencies"][0]["forks"]) if one["currencies"] else "0"
        lines.append([one["scenario"], one["variant"], one["baseline"], *values, starts])
    return lines


def emphasised(figure):
    """What differs is in bold: its interval excludes 100 %."""
    if figure is None or figure["verdict"] == "void":
        return "void" if figure else "–"
    return f"**{share(figure)}**" if decided(figure) else share(figure)


def cells(show, evidence):
    columns = show.get("columns", ["throughput", "cpu_per_request", "p50", "p99"])
    lines = [["scenario", "server", *(HEADS.get(column, column) for column in columns), "valid"]]
    for cell in sorted(picked(show, evidence["cells"]), key=lambda one: (one["scenario"], -pace(one))):
        load = next((one for one in cell["latency"] if one["kind"] == kind_of(show)), None)
        valid = cell["validity"]["state"]
        lines.append([cell["scenario"], cell["variant"], *(column_of(cell, load, column) for column in columns), valid])
    return lines


def pace(cell):
    return (cell["throughput_per_s"] or {"value": 0})["value"]


def column_of(cell, load, column):
    if column in CELL:
        key, unit = CELL[column]
        return with_interval(cell[key], unit)
    if column == "memory":
        return amount(cell["rss_peak_bytes"], "bytes")
    if column == "samples":
        return f"{load['samples']:,}" if load else "–"
    if column in (cell.get("messages") or {}):
        return f"{cell['messages'][column]:,}"
    # `p99.9` is the application's, `jvm p99.9` and `machine p99.9` what the meters saw beside it.
    *meter, name = column.split()
    told = load.get(meter[0] if meter else "percentiles") if load else None
    if told and name.startswith("p"):
        percentile = told.get(f"{float(name[1:]):g}" if "." in name else f"{float(name[1:]):.1f}")
        return amount(percentile["value_ns"], "ns") if percentile else "–"
    return "–"


def with_interval(estimate, unit):
    if estimate is None:
        return "–"
    text = amount(estimate["value"], unit)
    if not estimate.get("lo") or estimate["lo"] <= 0:
        return text
    return f"{text} [{amount(estimate['lo'], unit)}, {amount(estimate['hi'], unit)}]"


def figures(show, evidence):
    """Evidence of another shape: its own columns and rows, as the command that made it wrote them."""
    return [evidence["columns"], *evidence["rows"]]


def spread(show, evidence):
    """How far the starts of one program differ: standard deviations of logarithms, in percent."""
    logs = [[math.log(one) for one in cell["throughputs_per_s"] if one] for cell in picked(show, evidence["cells"])]
    of_throughput = [statistics.stdev(one) for one in logs if len(one) > 1]
    first = [comparison["currencies"][0] for comparison in picked(show, evidence["comparisons"]) if comparison["currencies"]]
    of_ratio = [currency["sd_forks"] for currency in first if currency["sd_forks"] is not None]
    kinds = [("throughput of one server", of_throughput), ("its share of the baseline's, measured beside it", of_ratio)]
    return [["", "cells", "half are below", "nine in ten are below", "greatest"]] + [spread_of(*kind) for kind in kinds if kind[1]]


def spread_of(what, deviations):
    ordered = sorted(deviations)
    marks = (ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10], ordered[-1])
    return [what, str(len(ordered)), *(f"{mark * 100:.1f} %" for mark in marks)]


def methods(show, evidence):
    """Which share of a profile is under each of the methods asked for: of all that match a pattern, that which holds most."""
    patterns = show.get("methods", [])
    head = ["profile", "samples", "starts (steady)", "of the focus", *(pattern.strip("*") for pattern in patterns)]
    return [head] + [profile_of(view, patterns) for view in picked(show, evidence["profiles"])]


def profile_of(view, patterns):
    most = lambda pattern: next((one["share"] for one in view["methods"] if fnmatch.fnmatchcase(one["name"], pattern)), None)
    starts = f"{view['forks']} ({view['steady_forks']})"
    samples = f"{view['samples']:,}" if view["samples"] else "–"
    named = [part(most(pattern)) for pattern in patterns]
    return [f"{view['variant']}, {view['scenario']}, {view['event']}", samples, starts, part(view["focus_share"]), *named]


def part(estimate):
    """`7.6 % [7.1, 8.2]`; a method that the tables of the run do not list has no figure."""
    if estimate is None:
        return "not listed"
    lo, hi = estimate["lo"], estimate["hi"]
    interval = "" if lo is None or hi is None else f" [{max(lo, 0) * 100:.1f}, {min(hi, 1) * 100:.1f}]"
    return f"{estimate['value'] * 100:.1f} %{interval}"


MAKERS = {"comparisons": comparisons, "cells": cells, "spread": spread, "figures": figures, "methods": methods}
