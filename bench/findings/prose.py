"""Fills in the figures of a claim's text from the evidence, so that none is typed: `{share RUN SCENARIO VARIANT CURRENCY}`,
`{cell RUN SCENARIO VARIANT COLUMN}`, `{method RUN VARIANT EVENT PATTERN}`, `{step RUN VARIANT CURRENCY}` and `{leaks RUN PATTERN}`."""

import fnmatch
import re
import textwrap

from . import cells, picks, schema
from .figures import added, part, share
from .problem import Problem
from .tables import most

FIGURE = re.compile(r"\{([^{}]*)\}")
# The baseline of a step's cost: currency, and its key in the evidence.
STEP = {"cpu_per_request": "cpu_ns", "allocated_per_request": "allocated_bytes"}
WIDTH = 150
HELD = "\u00a0"


def of(claim, shelf):
    """The reason of the claim, with its figures. A blank line separates paragraphs."""
    place = f"{claim['file']}, because"
    # The parts of a figure stay on one line.
    words = FIGURE.sub(lambda found: figure(place, found.group(1).split(), shelf).replace(" ", HELD), claim["because"])
    paragraphs = (textwrap.fill(one.strip(), WIDTH, break_long_words=False, break_on_hyphens=False) for one in re.split(r"\n\s*\n", words))
    return "\n\n".join(paragraphs).replace(HELD, " ")


def named(claim):
    """The evidence that the text uses."""
    return [words[1] for words in (found.split() for found in FIGURE.findall(claim["because"])) if len(words) > 1]


def figure(place, words, shelf):
    kind, *rest = words or [""]
    schema.one_of(place, "kind of figure", kind, KINDS)
    wanted = len(KINDS[kind][1].split())
    # A column may have two words: `jvm p99`.
    rest = [*rest[: wanted - 1], " ".join(rest[wanted - 1 :])] if len(rest) > wanted else rest
    if len(rest) != wanted:
        raise Problem(f"{place}: {{{' '.join(words)}}} must be {{{kind} {KINDS[kind][1]}}}")
    return KINDS[kind][0](place, shelf.get(rest[0], place), *rest)


def share_of(place, evidence, run, scenario, variant, currency):
    one = the_one(place, evidence["comparisons"], run, {"scenario": scenario, "variant": variant})
    by_name = {figure["name"]: figure for figure in one["currencies"]}
    schema.one_of(place, "currency", currency, by_name)
    if by_name[currency]["verdict"] == "void":
        raise Problem(f'{place}: {one["id"]} is void in evidence "{run}", and cannot be used in a text')
    return share(by_name[currency])


def cell_of(place, evidence, run, scenario, variant, column):
    if not picks.known("cells", column):
        schema.one_of(place, "column", column, picks.names("cells"))
    one = the_one(place, evidence["cells"], run, {"scenario": scenario, "variant": variant})
    kinds = [load["kind"] for load in one["latency"]]
    return cells.text(one, kinds[0] if len(kinds) == 1 else "saturating", column)


def method_of(place, evidence, run, variant, event, pattern):
    one = the_one(place, evidence["profiles"], run, {"variant": variant, "event": event})
    return part(one["focus_share"] if pattern == "focus" else most(one, pattern))


def step_of(place, evidence, run, variant, currency):
    one = the_one(place, evidence["steps"], run, {"variant": variant})
    schema.one_of(place, "currency of a step", currency, STEP)
    return added(one[f"{STEP[currency]}_added"], "ns" if currency == "cpu_per_request" else "bytes")


def leaks_of(place, evidence, run, pattern):
    """`6 of 8`: the number of starts of matching variants in which Netty reported a leak."""
    starts = [counts for variant, counts in evidence.get("leaks", {}).items() if fnmatch.fnmatchcase(variant, pattern)]
    if not starts:
        raise Problem(f'{place}: evidence "{run}" has no logs of "{pattern}"')
    return f"{sum(leaking for _, leaking in starts)} of {sum(number for number, _ in starts)}"


def the_one(place, things, run, wanted):
    """The one that has all of these names; fails if there are none or several."""
    for key, name in wanted.items():
        schema.one_of(f'{place}, evidence "{run}"', key, name, sorted({thing[key] for thing in things}))
    found = [thing for thing in things if all(thing[key] == name for key, name in wanted.items())]
    if len(found) != 1:
        raise Problem(f'{place}: evidence "{run}" has {len(found)} of {" ".join(wanted.values())}, and the text needs one')
    return found[0]


KINDS = {
    "share": (share_of, "RUN SCENARIO VARIANT CURRENCY"),
    "cell": (cell_of, "RUN SCENARIO VARIANT COLUMN"),
    "method": (method_of, "RUN VARIANT EVENT PATTERN"),
    "step": (step_of, "RUN VARIANT CURRENCY"),
    "leaks": (leaks_of, "RUN PATTERN"),
}
