"""Reads the claims, checks their judgements against the evidence, and looks up the figures in their texts."""

import fnmatch
import pathlib
import re
import tomllib

from . import tables
from .figures import format_added, format_profile_share, format_share
from .picks import SATURATING
from .problem import Problem, pick

FOLDER = pathlib.Path(__file__).parent / "claims"
JUDGEMENTS = ["agrees", "agrees in part", "differs", "undecided", "cannot be tested here", "not measured", "measured"]
REQUIRED_KEYS = ["title", "source", "claim", "judgement", "because"]
CONDITION_KEYS = ["evidence", "comparison", "currency", "above", "below"]
# The currencies of a ladder's step: key in the evidence, and unit.
STEP_CURRENCIES = {"cpu_per_request": ("cpu_ns_added", "ns"), "allocated_per_request": ("allocated_bytes_added", "bytes")}


def read(folder=FOLDER):
    """All claims in the order of their numbers. A file is named by its claim's number and title: 07-words.toml."""
    return [read_file(path) for path in sorted(folder.glob("[0-9][0-9]-*.toml"))]


def read_file(path):
    try:
        claim = tomllib.loads(path.read_text(encoding="utf-8"))
        check_keys(claim, REQUIRED_KEYS, ["show", "rests_on"])
        pick("judgement", claim["judgement"], dict.fromkeys(JUDGEMENTS))
        claim = {"show": [], "rests_on": [], **claim, "number": int(path.name[:2]), "file": path.name}
        for show in claim["show"]:
            check_keys(show, ["evidence", "what"], tables.KEYS)
        for condition in claim["rests_on"]:
            check_keys(condition, CONDITION_KEYS[:3], CONDITION_KEYS[3:])
        return claim
    except (Problem, ValueError) as error:
        raise Problem(f"{path.name}: {error}") from error


def check_keys(table, needed, optional):
    """Fails on a missing or unknown key."""
    for key in table:
        pick("key", key, dict.fromkeys([*needed, *optional]))
    for key in needed:
        if key not in table:
            raise Problem(f"{key} is missing")


def evidence_of(claim):
    """The names of all evidence that a claim shows, uses in its text or rests on."""
    shown = {name for show in claim["show"] for name in (show["evidence"], *show.get("beside", []))}
    named = set(re.findall(r'\{\{ *\w+\("([^"]+)"', claim["because"]))
    return shown | named | {condition["evidence"] for condition in claim["rests_on"]}


def check_conditions(claim, evidence):
    """Fails if the evidence contradicts a condition of the judgement, so that new evidence forces a new judgement."""
    for condition in claim["rests_on"]:
        comparisons = {one["id"]: one for one in pick("evidence", condition["evidence"], evidence)["comparisons"]}
        percent = ratio_of(pick("comparison", condition["comparison"], comparisons), condition["currency"])["ratio"] * 100
        above, below = condition.get("above", float("-inf")), condition.get("below", float("inf"))
        if not above < percent < below:
            basis = f'"{claim["judgement"]}" rests on {condition["comparison"]} ({condition["currency"]})'
            raise Problem(f"{basis} between {above} and {below} %, and it is {percent:.1f} %: judge it again")


def ratio_of(comparison, currency):
    found = pick("currency", currency, {one["name"]: one for one in comparison["currencies"]})
    if found["verdict"] == "void":
        raise Problem(f"{comparison['id']} is void and supports nothing")
    return found


def lookup_functions(evidence):
    """The functions for the texts of claims, by name; each returns a formatted figure with its interval."""

    def find_one(run, entries, **wanted):
        """The only entry of the evidence `run` with these names; fails if there are several."""
        run_evidence = pick("evidence", run, evidence)
        entries = run_evidence["profiles"]["views"] if entries == "profiles" else run_evidence[entries]
        for key, name in wanted.items():
            pick(f"{key} in {run}", name, dict.fromkeys(sorted({entry[key] for entry in entries})))
        found = [entry for entry in entries if all(entry[key] == name for key, name in wanted.items())]
        if len(found) != 1:
            raise Problem(f"{run} has {len(found)} of {' '.join(wanted.values())}, and the words need one")
        return found[0]

    def cell(run, scenario, variant, column):
        one = find_one(run, "cells", scenario=scenario, variant=variant)
        kinds = [load["slice_kind"] for load in one["latency"]]
        kind = kinds[0] if len(kinds) == 1 else SATURATING
        tables.check_columns([one], kind, [column])
        return tables.cell_text(one, kind, column)

    def method(run, variant, event, pattern):
        view = find_one(run, "profiles", variant=variant, event=event)
        return format_profile_share(view["focus_share"] if pattern == "focus" else tables.largest_share(view, pattern))

    def step(run, variant, currency):
        key, unit = pick("currency of a step", currency, STEP_CURRENCIES)
        steps = {step["variant"]: step for ladder in pick("evidence", run, evidence)["ladders"] for step in ladder["steps"]}
        return format_added(pick("step", variant, steps)[key], unit)

    def leaks(run, pattern):
        """The number of starts whose log reports a leak, of all starts: `2 of 5`."""
        starts = [counts for variant, counts in pick("evidence", run, evidence)["leaks"].items() if fnmatch.fnmatchcase(variant, pattern)]
        if not starts:
            raise Problem(f'{run} has no logs of "{pattern}"')
        return f"{sum(leaking for _, leaking in starts)} of {sum(number for number, _ in starts)}"

    def share_of(run, scenario, variant, currency):
        return format_share(ratio_of(find_one(run, "comparisons", scenario=scenario, variant=variant), currency))

    return {"share": share_of, "cell": cell, "method": method, "step": step, "leaks": leaks}
