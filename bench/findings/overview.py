"""What a layer costs on each server: the first tables of docs/FINDINGS.md, each with an image."""

import math

from .figures import change, excludes
from .picks import SATURATING
from .problem import Problem
from .runs import rows_of

# Columns for each scenario: currency and heading.
CURRENCIES = {"cpu_per_request": "CPU/request", "throughput": "throughput", "allocated_per_request": "allocated/request"}
# The image shows this currency, on a logarithmic axis with marks at these changes.
DRAWN = "cpu_per_request"
# The tables by the evidence that they show: scenarios in their order, or all, and the currencies of each.
TABLES = {
    "servers": {"scenarios": None, "currencies": list(CURRENCIES)},
    "routes-128": {"scenarios": ["SimpleGet", "SimpleGetMultiRoute", "PostBytes"], "currencies": [DRAWN, "throughput"]},
}
MARKS = [-0.9, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, 4, 8, 16, 32]
# Width of a panel of the image, the least distance of two labels on its axis, and the width of a letter.
WIDTH, LABEL, LETTER = 296, 44, 7


def of(name, run):
    """The rows of the table with its heading first, and what the image draws: its axis, and for each variant a point for each scenario."""
    scenarios = TABLES[name]["scenarios"] or list(dict.fromkeys(one["scenario"] for one in run["comparisons"]))
    currencies = TABLES[name]["currencies"]
    by_variant = {}
    for one in run["comparisons"]:
        by_variant.setdefault(one["variant"], {})[one["scenario"]] = one
    drawn = {variant: [figure_of(by_scenario.get(scenario), DRAWN) for scenario in scenarios] for variant, by_scenario in by_variant.items()}
    order = sorted(by_variant, key=lambda variant: drawn[variant][0]["ratio"] if drawn[variant][0] else math.inf)
    rows = [["server", "version", *(f"{scenario}: {CURRENCIES[currency]}" for scenario in scenarios for currency in currencies), "starts"]]
    for variant in order:
        comparisons = [by_variant[variant].get(scenario) for scenario in scenarios]
        texts = [text_of(figure_of(one, currency)) for one in comparisons for currency in currencies]
        rows.append([variant, version_of(run, variant), *texts, str(max(starts_of(one) for one in comparisons))])
    figures = [figure for variant in order for figure in drawn[variant] if figure]
    if not figures:
        raise Problem(f"{name} has no {DRAWN} with an interval")
    decided = sum(figure["verdict"] != "inconclusive" for figure in figures)
    return {
        "rows": rows,
        "scenarios": scenarios,
        "decided": decided,
        "figures": len(figures),
        "drawn": [{"variant": variant, "figures": drawn[variant]} for variant in order],
        "marks": marks_for(figures),
        "width": WIDTH,
        "left": 30 + LETTER * max(map(len, order)),
        "load": load_of(run),
    }


def figure_of(comparison, currency):
    """The figure of a comparison with its interval; None where there is none."""
    figures = comparison["currencies"] if comparison else []
    return next((one for one in figures if one["name"] == currency and one["verdict"] != "void" and one["lo"] and one["hi"]), None)


def text_of(figure):
    if figure is None:
        return "–"
    return f"**{change(figure)}**" if excludes(figure, 1) else change(figure)


def starts_of(comparison):
    figure = figure_of(comparison, DRAWN)
    return figure["forks"] if figure else 0


def version_of(run, variant):
    """Tapir's version, as the servers of this variant resolved it."""
    resolved = next(cell["resolved"] for cell in run["cells"] if cell["variant"] == variant)
    return rows_of(resolved).get("tapir", "–")


def load_of(run):
    """The load of the figures: `closed, 128 users`."""
    models = {load["model"] for cell in run["cells"] for load in cell.get("latency", []) if load["slice_kind"] == SATURATING}
    return ", ".join(sorted(models))


def marks_for(figures):
    """The marks of the axis, from the last one at or below all intervals to the first one at or above them, each with whether it has a label."""
    lo, hi = min(figure["lo"] for figure in figures), max(figure["hi"] for figure in figures)
    from_mark = max((mark for mark in MARKS if 1 + mark <= min(lo, 1)), default=MARKS[0])
    to_mark = min((mark for mark in MARKS if 1 + mark >= max(hi, 1.25)), default=MARKS[-1])
    return with_labels([mark for mark in MARKS if from_mark <= mark <= to_mark])


def with_labels(marks):
    """Each mark, and whether it has a label: 0 has one, and the others where there is room."""
    place = lambda mark: WIDTH * math.log((1 + mark) / (1 + marks[0])) / math.log((1 + marks[-1]) / (1 + marks[0]))
    labelled = [0]
    for mark in sorted(marks, key=lambda mark: (mark != marks[-1], abs(mark))):
        if all(abs(place(mark) - place(other)) >= LABEL for other in labelled):
            labelled.append(mark)
    return [(mark, mark in labelled) for mark in marks]
