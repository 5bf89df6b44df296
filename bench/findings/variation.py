"""Differences between figures of one program: between the starts of a run, and between two runs of one command."""

import math
import statistics

from . import picks
from .problem import Problem

HEAD = ["", "cells", "median", "90th percentile", "largest"]


def spread(place, show, chosen, shelf):
    """Differences between the starts of one program: standard deviations of logarithms, in percent."""
    logs = [[math.log(one) for one in cell["throughputs_per_s"] if one] for cell in chosen]
    of_throughput = [statistics.stdev(one) for one in logs if len(one) > 1]
    comparisons = picks.picked(show, shelf.get(show["evidence"], place)["comparisons"])
    first = [comparison["currencies"][0] for comparison in comparisons if comparison["currencies"]]
    of_ratio = [currency["sd_forks"] for currency in first if currency["sd_forks"] is not None]
    return table([("throughput of one server", of_throughput), ("its share of the baseline's, measured together", of_ratio)])


def repeats(place, show, chosen, shelf):
    """Differences between two runs of one command, per cell and per share: the larger figure divided by the smaller, minus one."""
    if len(show["beside"]) != 1:
        raise Problem(f"{place}: beside must be one other run of the same command")
    again = shelf.get(show["beside"][0], place)
    comparisons = picks.picked(show, shelf.get(show["evidence"], place)["comparisons"])
    kinds = [
        ("throughput of one server", apart(chosen, again["cells"], lambda cell: value(cell["throughput_per_s"]))),
        ("its CPU per request", apart(chosen, again["cells"], lambda cell: value(cell["cpu_ns_per_request"]))),
        ("its allocation per request", apart(chosen, again["cells"], lambda cell: value(cell["allocated_bytes_per_request"]))),
        ("its share of the baseline's throughput", apart(comparisons, again["comparisons"], ratio("throughput"))),
        ("its share of the baseline's CPU per request", apart(comparisons, again["comparisons"], ratio("cpu_per_request"))),
    ]
    if not any(differences for _, differences in kinds):
        raise Problem(f'{place}: evidence "{show["evidence"]}" and "{show["beside"][0]}" have no figure in common')
    return table(kinds)


def value(estimate):
    return estimate and estimate["value"]


def ratio(name):
    return lambda one: next((currency["ratio"] for currency in one["currencies"] if currency["name"] == name and currency["verdict"] != "void"), None)


def apart(these, those, figure):
    """The differences of all that both runs have, and that is not void in either."""
    other = {one["id"]: figure(one) for one in those if sound(one)}
    pairs = [(figure(one), other.get(one["id"])) for one in these if sound(one)]
    return [max(a, b) / min(a, b) - 1 for a, b in pairs if a and b]


def sound(one):
    return one.get("validity", {}).get("state") != "void"


def table(kinds):
    return [HEAD] + [line(*kind) for kind in kinds if kind[1]]


def line(what, deviations):
    ordered = sorted(deviations)
    marks = (ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10], ordered[-1])
    return [what, str(len(ordered)), *(f"{mark * 100:.1f} %" for mark in marks)]
