"""Builds the tables of what a layer costs on each server: the first ones of docs/FINDINGS.md, with images, and those of its matrix page."""

import fnmatch
import math

from .figures import excludes_value, format_change
from .judge import lengths_of_scenarios
from .picks import SATURATING
from .problem import Problem
from .runs import rows_of

# Each currency has a table.
CURRENCIES = {"cpu_per_request": "CPU per request", "throughput": "throughput", "allocated_per_request": "allocation per request"}
# The image shows this currency, on a logarithmic axis with marks at these changes.
DRAWN_CURRENCY = "cpu_per_request"
# The evidence that the tables show, and the variants of each table.
EVIDENCE = "matrix"
TABLES = {"one-route": ["*.Tapir", "*.TapirInterceptor"], "routes-128": ["*Multi"]}
AXIS_MARKS = [-0.9, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, 4, 8, 16, 32]
# The suite requires this number of starts (`at_least`). With fewer undisturbed starts there is no figure.
MIN_STARTS = 3
# Panels in a row, and in pixels: width of a panel, least distance of two labels on its axis, width of a letter.
COLUMNS, PANEL_WIDTH, MIN_LABEL_DISTANCE, LETTER_WIDTH = 3, 296, 44, 7


def build_overview(name, run):
    """The data of the templates: tables by currency, each with its heading first, and the axis and points of the image."""
    shown = [one for one in run["comparisons"] if any(fnmatch.fnmatchcase(one["variant"], pattern) for pattern in TABLES[name])]
    scenarios = sorted({one["scenario"] for one in shown}, key=lambda scenario: (not scenario.startswith("Simple"), scenario))
    by_variant = {}
    for one in shown:
        by_variant.setdefault(one["variant"], {})[one["scenario"]] = one
    drawn = {variant: [figure_of(by_scenario.get(scenario), DRAWN_CURRENCY) for scenario in scenarios] for variant, by_scenario in by_variant.items()}
    order = sorted(by_variant, key=lambda variant: drawn[variant][0]["ratio"] if drawn[variant][0] else math.inf)
    figures = [figure for variant in order for figure in drawn[variant] if figure]
    if not figures:
        raise Problem(f"{name} has no {DRAWN_CURRENCY} with an interval")

    def row_of(variant, currency):
        comparisons = [by_variant[variant].get(scenario) for scenario in scenarios]
        starts = max(starts_of(one) for one in comparisons)
        return [variant, version_of(run, variant), *(text_of(figure_of(one, currency)) for one in comparisons), str(starts)]

    heading = ["server", "version", *scenarios, "starts"]
    return {
        "tables": {currency: [heading, *(row_of(variant, currency) for variant in order)] for currency in CURRENCIES},
        "scenarios": scenarios,
        "decided": sum(is_decided(figure) for figure in figures),
        "figures": len(figures),
        "lengths": count_by_length(scenarios, drawn),
        "missing": len(order) * len(scenarios) - len(figures),
        "drawn": [{"variant": variant, "figures": drawn[variant]} for variant in order],
        "marks": marks_for(figures),
        "columns": COLUMNS,
        "width": PANEL_WIDTH,
        "left": 30 + LETTER_WIDTH * max(map(len, order)),
        "load": load_of(run),
    }


def figure_of(comparison, currency):
    """The figure of a comparison with its interval; None if there is none, or too few starts count."""
    figures = comparison["currencies"] if comparison else []
    of_currency = (one for one in figures if one["name"] == currency and one["verdict"] != "void" and one["lo"] and one["hi"])
    return next((one for one in of_currency if one["forks"] >= MIN_STARTS), None)


def text_of(figure):
    """The change with its interval; an open one also with the starts that would decide it."""
    if figure is None:
        return "–"
    text = f"**{format_change(figure)}**" if excludes_value(figure, 1) else format_change(figure)
    if is_decided(figure) or "starts_needed" not in figure:
        return text
    return f"{text} {figure['starts_needed'] or 'over 1,000'} starts"


def is_decided(figure):
    return figure["verdict"] != "inconclusive"


def count_by_length(scenarios, drawn):
    """Of the short and of the long requests: how many costs are decided, and how many there are."""
    lengths = lengths_of_scenarios()
    counts = {"short": [0, 0], "long": [0, 0]}
    for at, scenario in enumerate(scenarios):
        for figure in (figures[at] for figures in drawn.values() if figures[at]):
            count = counts[lengths.get(scenario, "short")]
            count[0] += is_decided(figure)
            count[1] += 1
    return counts


def starts_of(comparison):
    figure = figure_of(comparison, DRAWN_CURRENCY)
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
    """The marks of an axis that covers all intervals, each with whether it has a label."""
    lo, hi = min(figure["lo"] for figure in figures), max(figure["hi"] for figure in figures)
    from_mark = max((mark for mark in AXIS_MARKS if 1 + mark <= min(lo, 1)), default=AXIS_MARKS[0])
    to_mark = min((mark for mark in AXIS_MARKS if 1 + mark >= max(hi, 1.25)), default=AXIS_MARKS[-1])
    return with_labels([mark for mark in AXIS_MARKS if from_mark <= mark <= to_mark])


def with_labels(marks):
    """Each mark, and whether it has a label: 0 has one, the others if there is room."""
    position = lambda mark: PANEL_WIDTH * math.log((1 + mark) / (1 + marks[0])) / math.log((1 + marks[-1]) / (1 + marks[0]))
    labelled = [0]
    for mark in sorted(marks, key=lambda mark: (mark != marks[-1], abs(mark))):
        if all(abs(position(mark) - position(other)) >= MIN_LABEL_DISTANCE for other in labelled):
            labelled.append(mark)
    return [(mark, mark in labelled) for mark in marks]
