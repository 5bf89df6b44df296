"""docs/FINDINGS.md: how to read it, an overview, a section for each claim, and the runs that the figures come from."""

import textwrap

from . import judgement, prose, runs, setting, tables

HEAD = """# Findings

Made by `bench/findings/make`; do not edit. What others have published about these servers, claim by claim in our words, and what tare
measured. Every figure comes from a run of tare that stands [at the end](#runs), with the command that makes it again and the versions. Nothing was
tuned to agree.

How to read it:

- A share is the variant's figure as a percentage of its baseline's, measured beside it. A high share of *throughput* is good, of everything else bad.
- Brackets hold intervals over starts, at the level that stands above the table, each for itself: at 95 % five in a hundred miss the truth. A share is
  **bold** where its interval excludes 100 %. "Too wide" is an interval whose ends are more than ninefold apart.
- One start has no interval. How far two starts may lie apart is told by the [claim on noise](#{noise}).
- Percentiles are those of all starts together, stated only with ten samples or more above them.
- Throughput depends on what was saturated; CPU per request is a little steadier, and what a JVM allocates for a request hardly depends on the
  machine at all. Absolute figures do not carry over from machine to machine; directions and ratios may.
- CPU at half load includes what threads take that go to sleep and wake. Where that fills the core, 31 µs at 32,000 requests/s, it cannot grow any
  further, and a share of it says less than it seems to.
"""

THEIRS = """The claims were measured on 16 cores (32 threads) and on cloud machines with 2 and 16 virtual CPUs, with client and server on the same cores or on two \
machines, for one start each."""

# What follows from one core, and what a reader could not guess.
SINCE = [
    """With one core the server is the bottleneck where theirs often was the client, so that costs show more than they did there; and what a server does \
with many cores does not show at all.""",
    """Tapir's interpreters for Play and for Helidon Níma are not published everywhere; where a table has them, they were built from Tapir's public source at \
the version named, over the same Play and the same Helidon as the vanilla server's.""",
]

NOISE = "Noise"
WIDTH = 150


def of(claims, shelf):
    for claim in claims:
        judgement.hold(claim, shelf)
    sections = [section(claim, shelf) for claim in claims]
    used = runs.used(claims, shelf)
    noise = next((anchor(claim) for claim in claims if claim["title"] == NOISE), "overview")
    parts = [HEAD.format(noise=noise), where(used), overview(claims), *sections, runs.of(used)]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def where(used):
    told = [THEIRS, *setting.of([run.evidence for run in used]), *SINCE]
    return "Where it was measured:\n\n" + "\n".join(textwrap.fill(one, WIDTH, initial_indent="- ", subsequent_indent="  ") for one in told)


def overview(claims):
    lines = [["", "claim", "tare"]]
    lines += [[str(claim["number"]), f"[{claim['title']}](#{anchor(claim)})", claim["judgement"]] for claim in claims]
    return "## Overview\n\n" + tables.markdown(lines)


def heading(claim):
    return f"{claim['number']}. {claim['title']}"


def anchor(claim):
    """As the usual renderers make it of a heading."""
    kept = "".join(c for c in heading(claim).lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def section(claim, shelf):
    parts = [
        f"## {heading(claim)}",
        f"*{claim['source']}:* {claim['claim'].strip()}",
        f"**tare: {claim['judgement']}.** {prose.of(claim, shelf).strip()}",
        *tables.of(claim, shelf),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
