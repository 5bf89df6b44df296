"""The tables and plots of a claim, as Markdown. `picks.py` selects their content."""

import fnmatch

from . import caption, cells, picks, plot, variation
from .figures import added, decided, part, share, with_interval
from .problem import Problem


def of(claim, shelf):
    """The tables of a claim, in its order."""
    return [drawn(f"{claim['file']}, [[show]] {number}", show, shelf) for number, show in enumerate(claim["show"], 1)]


def drawn(place, show, shelf):
    picks.hold(place, show)
    evidence = shelf.get(show["evidence"], place)
    chosen = picks.of(place, show, evidence)
    if show["what"] == "plot":
        return f"{caption.of(show, evidence, chosen, {})}\n\n![{alternative(show, chosen)}]({picture(show)})\n"
    lines = MAKERS[show["what"]](place, show, chosen, shelf)
    doubts = cells.doubts(chosen) if show["what"] == "cells" else ""
    others = {name: shelf.get(name, place) for name in show.get("beside", [])}
    parts = [caption.of(show, evidence, chosen, others), markdown(lines), f"Not valid because: {doubts}." if doubts else ""]
    return "\n".join(text.strip("\n") + "\n" for text in parts if text)


def picture(show):
    """The file of a plot, as the page names it."""
    return f"images/{show['evidence']}.svg"


def alternative(show, chosen):
    return f"Latency by percentile under {show.get('kind', 'saturating')} load: {', '.join(cell['variant'] for cell in chosen)}"


def pictures(claim, shelf):
    """The plots of a claim: their files, as the page names them, and their content."""
    found = {}
    for number, show in enumerate(claim["show"], 1):
        if show.get("what") == "plot":
            place = f"{claim['file']}, [[show]] {number}"
            if picture(show) in found:
                raise Problem(f"{place}: evidence \"{show['evidence']}\" has a plot already; put all of it into one")
            found[picture(show)] = plot.svg(place, show, picks.of(place, show, shelf.get(show["evidence"], place)))
    return found


def markdown(lines):
    head, *rest = [f"| {' | '.join(line)} |" for line in lines]
    rule = "|" + "---|" * len(lines[0])
    return "\n".join([head, rule, *rest]) + "\n"


def comparisons(place, show, chosen, shelf):
    columns = show.get("columns", ["throughput", "cpu_per_request", "allocated_per_request", "latency_p99"])
    others = {name: shelf.get(name, place)["comparisons"] for name in show.get("beside", [])}
    heads = [headed(column, chosen) for column in columns]
    lines = [["scenario", "variant", "baseline", heads[0], *picks.also(heads[0], others), *heads[1:], "starts"]]
    for one in sorted(chosen, key=lambda one: one["scenario"]):
        values = [figure_of(one, column) for column in columns]
        there = [figure_of(picks.same(one, things), columns[0]) for things in others.values()]
        lines.append([one["scenario"], one["variant"], one["baseline"], values[0], *there, *values[1:], str(caption.forks(one))])
    return lines


def figure_of(comparison, column):
    by_name = {currency["name"]: currency for currency in comparison["currencies"]} if comparison else {}
    return emphasised(by_name.get(column))


def headed(column, chosen):
    """As the run names the currency, `p99 at half load`, where all of them name it so."""
    labels = {currency["label"] for one in chosen for currency in one["currencies"] if currency["name"] == column}
    return labels.pop() if len(labels) == 1 else picks.SHARES[column]


def emphasised(figure):
    """What differs is in bold: its interval excludes 100 %."""
    if figure is None or figure["verdict"] == "void":
        return "void" if figure else "–"
    return f"**{share(figure)}**" if decided(figure) else share(figure)


def steps(_place, _show, chosen, _shelf):
    """What each step of a ladder costs, and what it adds to the one before it."""
    head = ["step", "CPU/request", "added", "allocated/request", "added", "starts"]
    return [head] + [[one["variant"], *cost(one, "cpu_ns", "ns"), *cost(one, "allocated_bytes", "bytes"), str(one["forks"])] for one in chosen]


def cost(step, key, unit):
    """The cost, and what of it the step adds: in bold where its interval excludes nothing at all."""
    more = step[f"{key}_added"]
    certain = more and more["lo"] is not None and not more["lo"] <= 0 <= more["hi"]
    return with_interval(step[key], unit), f"**{added(more, unit)}**" if certain else added(more, unit)


def methods(_place, show, chosen, _shelf):
    """Which share of a profile is under each of the methods asked for."""
    head = ["profile", "samples", "starts (steady)", "of the focus", *(pattern.strip("*.") for pattern in show["methods"])]
    return [head] + [profile_of(view, show["methods"]) for view in chosen]


def profile_of(view, patterns):
    starts = f"{view['forks']} ({view['steady_forks']})"
    samples = f"{view['samples']:,}" if view["samples"] else "–"
    named = [part(most(view, pattern)) for pattern in patterns]
    return [f"{view['variant']}, {view['scenario']}, {view['event']}", samples, starts, part(view["focus_share"]), *named]


def most(view, pattern):
    """Of all methods that match a pattern, the share of that which holds most; nothing where the run's tables list none."""
    return next((one["share"] for one in view["methods"] if fnmatch.fnmatchcase(one["name"], pattern)), None)


MAKERS = {
    "comparisons": comparisons,
    "cells": cells.table,
    "spread": variation.spread,
    "repeats": variation.repeats,
    "steps": steps,
    "methods": methods,
}
