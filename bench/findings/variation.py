"""Tables of how figures of one program vary: between the starts of a run, between two runs of one command, and between two machines."""

import math
import statistics

from .picks import find_same, matching_entries

# Classes of servers by what they allocate for a request, each with its upper bound in bytes.
ALLOCATION_CLASSES = {"less than 4 KB": 4e3, "4 to 16 KB": 16e3, "16 to 40 KB": 40e3, "40 KB and more": math.inf}


def spread_rows(show, chosen, _others, run):
    """Differences between the starts of one program: standard deviations of logarithms."""
    logs = [[math.log(fork["throughput_per_s"]) for fork in cell["fork_values"] if fork["throughput_per_s"]] for cell in chosen]
    first = [one["currencies"][0] for one in matching_entries(show, run["comparisons"]) if one["currencies"]]
    return quantile_rows({
        "throughput of one server": [statistics.stdev(one) for one in logs if len(one) > 1],
        "its share of the baseline's, measured together": [one["sd_forks"] for one in first if one["sd_forks"] is not None],
    })  # fmt: skip


def repeat_rows(show, chosen, others, run):
    """Differences between two runs of one command: the larger figure divided by the smaller, minus one."""
    (other_run,) = others.values()
    of_cell = lambda key: lambda cell: value_of(cell, key)
    of_share = lambda name: lambda one: next((each["ratio"] for each in one["currencies"] if each["name"] == name and each["verdict"] != "void"), None)

    def differences(cells, other_cells, figure):
        pairs = [(figure(one), figure(same)) for one in cells if (same := find_same(one, other_cells))]
        return [max(pair) / min(pair) - 1 for pair in pairs if all(pair)]

    both, pairs = (chosen, other_run["cells"]), (matching_entries(show, run["comparisons"]), other_run["comparisons"])
    return quantile_rows({
        "throughput of one server": differences(*both, of_cell("throughput_per_s")),
        "its CPU per request": differences(*both, of_cell("cpu_ns_per_request")),
        "its allocation per request": differences(*both, of_cell("allocated_bytes_per_request")),
        "its share of the baseline's throughput": differences(*pairs, of_share("throughput")),
        "its share of the baseline's CPU per request": differences(*pairs, of_share("cpu_per_request")),
    })  # fmt: skip


def machine_rows(_show, chosen, others, _run):
    """CPU per request of one program on two machines, that of this run divided by the other, by what the program allocates for a request."""
    (other_run,) = others.values()
    quotients = {name: [] for name in ALLOCATION_CLASSES}
    for cell in chosen:
        here, there = (value_of(one, "cpu_ns_per_request") if one else None for one in (cell, find_same(cell, other_run["cells"])))
        allocated = value_of(cell, "allocated_bytes_per_request")
        if here and there and allocated:
            quotients[next(name for name, bound in ALLOCATION_CLASSES.items() if allocated < bound)].append(here / there)
    rows = [["allocated for a request", "cells", "10th percentile", "median", "90th percentile"]]
    for name, ordered in ((name, sorted(values)) for name, values in quotients.items() if values):
        rows.append([name, str(len(ordered)), *(f"{ordered[len(ordered) * tenths // 10]:.2f}" for tenths in (1, 5, 9))])
    return rows


def value_of(cell, key):
    """The figure of a cell; None if it is void or has none."""
    return cell[key]["value"] if cell["validity"]["state"] != "void" and cell[key] else None


def quantile_rows(kinds):
    rows = [["", "cells", "median", "90th percentile", "largest"]]
    for what, ordered in ((what, sorted(values)) for what, values in kinds.items() if values):
        marks = (ordered[len(ordered) // 2], ordered[len(ordered) * 9 // 10], ordered[-1])
        rows.append([what, str(len(ordered)), *(f"{mark * 100:.1f} %" for mark in marks)])
    return rows
