"""Tables of cells: what each server did, column by column."""

import re

from .figures import amount, with_interval
from .picks import FIGURES, PERCENTILE, SHARES, also, same
from .problem import Problem

COLUMNS = ["throughput", "cpu_per_request", "p50", "p99"]


def table(place, show, chosen, shelf):
    """A line for each cell, within a scenario the best first by the first column."""
    columns = show.get("columns", COLUMNS)
    kind = show.get("kind", "saturating")
    others = {name: shelf.get(name, place)["cells"] for name in show.get("beside", [])}
    filled(place, columns, kind, chosen)
    order = lambda cell: (cell["scenario"], rank(cell, kind, columns[0]))
    heads = [SHARES.get(column, column) for column in columns]
    lines = [["scenario", "server", heads[0], *also(heads[0], others), *heads[1:], "starts", "valid"]]
    for cell in sorted(chosen, key=order):
        values = [text(cell, kind, column) for column in columns]
        there = [text(other, kind, columns[0]) if other else "–" for other in (same(cell, things) for things in others.values())]
        lines.append([cell["scenario"], cell["variant"], values[0], *there, *values[1:], str(cell["forks"]), cell["validity"]["state"]])
    return lines


def filled(place, columns, kind, chosen):
    """Fails if a column would be empty from top to bottom: it asks for what nobody measured."""
    for column in columns:
        if all(value(cell, kind, column) is None for cell in chosen):
            has = sorted({name for cell in chosen for name in (under(cell, kind) or {"percentiles": {}})["percentiles"]}, key=float)
            raise Problem(f'{place}: columns: no cell has "{column}" under {kind} load; percentiles there are: {", ".join(has) or "none"}')


def rank(cell, kind, column):
    number = value(cell, kind, column)
    if number is None:
        return float("inf")
    return -number if column == "throughput" else number


def under(cell, kind):
    """The cell's figures for one kind of load."""
    return next((load for load in cell["latency"] if load["kind"] == kind), None)


def value(cell, kind, column):
    """The number of a column, or None. A void cell has only its counts."""
    if column in (cell.get("messages") or {}):
        return cell["messages"][column]
    if cell["validity"]["state"] == "void":
        return None
    if column in FIGURES:
        figure = cell[FIGURES[column][0]]
        return figure["value"] if isinstance(figure, dict) else figure
    load = under(cell, kind)
    if load is None or column == "samples":
        return load and load["samples"]
    # `p99.9` is the application's; `jvm p99.9` and `machine p99.9` are those of the hiccup meters.
    *meter, name = column.split()
    told = load.get(meter[0] if meter else "percentiles")
    percentile = told.get(listed(name)) if told else None
    return percentile and percentile["value_ns"]


def listed(percentile):
    """The name in the evidence: `p99` is "99.0", `p99.99` is "99.99"."""
    return re.sub(r"^(\d+)$", r"\1.0", percentile.removeprefix("p"))


def text(cell, kind, column):
    number = value(cell, kind, column)
    if number is None:
        return "–"
    if column in FIGURES:
        key, unit = FIGURES[column]
        return with_interval(cell[key], unit) if isinstance(cell[key], dict) else amount(number, unit)
    return amount(number, "ns") if PERCENTILE.fullmatch(column) else f"{number:,}"


def doubts(chosen):
    """Why cells are not valid: each reason with its number of cells."""
    counts = {}
    for cell in chosen:
        for reason in cell["validity"]["reasons"]:
            counts[plain(reason)] = counts.get(plain(reason), 0) + 1
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return "; ".join(f"{reason} ({count})" for reason, count in ordered)


def plain(reason):
    """A reason without its figures, so that equal reasons are counted together."""
    kind = re.sub(r" in \d+ of \d+ forks?$", "", reason.removeprefix("failed: ").split(": ")[0])
    kind = re.sub(r" \(.*", "", kind)
    kind = re.sub(r"\d[\d,]* of \d[\d,]* messages", "messages", kind)
    return re.sub(r"(up to )?\d[\d.]* % of", "part of", kind)
