"""What the matrices of several machines say together, by the rules of `tare compare`: made with `bench/findings/make --machines`, shown on
the first page."""

import json
import math
import pathlib

from .figures import format_change
from .judge import judge, lengths_of_scenarios, run_program
from .overview import CURRENCIES
from .problem import Problem
from .runs import FOLDER, facts_of, parse_file

FILE = pathlib.Path(__file__).parent / "machines.json"
# What is stored of a figure, of the currencies that the page shows.
KEPT = ("scenario", "variant", "baseline", "name", "machines", "second_to_first", "machines_differ")
# Of each currency and length, this share of the costs differ by less than the last column says.
MOST = 0.9
# The page lists as many of the costs that differ most, by the interval of the difference.
LISTED = 6


def combine(names, folder=FOLDER, path=FILE):
    """Writes what the evidences `names` say together, with the runs of each machine. Returns the path."""
    evidence = {name: parse_file(folder / f"{name}.json") for name in names}
    machines = {}
    for name, run in evidence.items():
        machines.setdefault(facts_of(run)["machine"], []).append(name)
    if len(machines) < 2:
        raise Problem(f"{', '.join(names)} are runs of one machine, {', '.join(machines)}: give runs of two or more")
    judged = lambda name: [entry_of(*one) for one in judge(evidence[name], folder / f"{name}.json")]
    facts = [run["run"] for run in evidence.values()]
    table = {"alpha": min(one["alpha"] for one in facts), "region": max(one["region"] for one in facts)}
    table["machines"] = [[entry for name in runs for entry in judged(name)] for runs in machines.values()]
    judged_together = run_program("judge_machines", table)
    figures = [{key: one[key] for key in KEPT} for one in judged_together if one["name"] in CURRENCIES]
    lines = lambda entries: "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in entries) + "\n]"
    runs = [{"name": machine, "runs": runs} for machine, runs in machines.items()]
    path.write_text(f'{{"alpha": {table["alpha"]},\n"machines": {lines(runs)},\n"figures": {lines(figures)}}}\n', encoding="utf-8")
    return path


def entry_of(comparison, figure, judged):
    return {
        **{key: comparison[key] for key in ("scenario", "variant", "baseline")},
        **{key: figure[key] for key in ("name", "label")},
        "ratio": figure["ratio"],
        "sd": figure["sd_forks"],
        "forks": figure["forks"],
        "prior": judged["prior"],
    }


def read(path=FILE):
    """The data of the template: how many costs of each kind differ between two machines, how much, and those that differ most."""
    table = parse_file(path)
    if len(table["machines"]) != 2:
        raise Problem(f"{path} has {len(table['machines'])} machines: the page shows how two differ, so extend it to show the mean of more")
    lengths, rows, differing = lengths_of_scenarios(), [], []
    for currency, label in CURRENCIES.items():
        for length, requests in (("short", "short requests"), ("long", "uploads")):
            figures = [one for one in table["figures"] if one["name"] == currency and lengths[one["scenario"]] == length]
            if figures:
                rows.append([label, requests, *summary_of(figures)])
            differing += [one for one in figures if one["machines_differ"] and currency == "cpu_per_request"]
    strength = lambda one: min(abs(math.log(one["second_to_first"][end])) for end in ("lo", "hi"))
    most = sorted(differing, key=strength, reverse=True)[:LISTED]
    heading = ["", "of", "compared", "differ", "by (median)", f"{MOST:.0%} differ by less than".replace("%", " %")]
    ratio = lambda one: format_change({"ratio": one["ratio"]["value"], "lo": one["ratio"]["lo"], "hi": one["ratio"]["hi"]})
    listed = [[one["variant"], one["scenario"], *map(ratio, one["machines"])] for one in most]
    names = [f"{one['name'].split(',')[0]}" for one in table["machines"]]
    return {**table, "rows": [heading, *rows], "listed": [["CPU per request of", "on", *names], *listed]}


def summary_of(figures):
    """How many there are, how many of them differ, and the factor by which two machines differ."""
    factors = sorted(math.exp(abs(math.log(one["second_to_first"]["value"]))) - 1 for one in figures)
    share = lambda of: f"{factors[math.floor(of * (len(factors) - 1))] * 100:.0f} %"
    return str(len(figures)), str(sum(one["machines_differ"] for one in figures)), share(0.5), share(MOST)
