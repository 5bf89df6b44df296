"""docs/FINDINGS.md: how to read it, an overview, a section for each claim, and the runs that the figures come from."""

from . import judgement, prose, runs, tables

HEAD = """# Findings

Made by `bench/findings/make`; do not edit. What others have published about these servers, claim by claim in our words, and what tare
measured. Every figure comes from a run of tare that stands [at the end](#runs), with the command that makes it again and the versions. Nothing was
tuned to agree.

How to read it:

- A share is the variant's figure as a percentage of its baseline's, measured beside it. A high share of *throughput* is good, of everything else bad.
- Brackets hold the 95 % interval over starts, each for itself: of a hundred such intervals some five miss the truth. A share is **bold** where its
  interval excludes 100 %. "Too wide" is an interval whose ends are more than ninefold apart.
- One start has no interval. How far two starts may lie apart is told by the [claim on noise](#{noise}).
- Percentiles are those of all starts together, stated only with ten samples or more above them.
- Throughput depends on what was saturated; CPU per request is the steadier witness, and what a JVM allocates for a request hardly depends on the
  machine at all. Absolute figures do not carry over from machine to machine; directions and ratios may.
"""

WHERE = """
The claims were measured on 16 cores (32 threads) and on cloud machines with 2 and 16 virtual CPUs, with client and server on the same cores or
on two machines, for one start each. Here each server has one core of a small virtual machine and the generator the other, and everything is
started three times where the table does not say otherwise; at which load of the machine a run began is told with it, and some began beside other work. With one core the server is the bottleneck where theirs often was the client, so that costs show more than they did
there; and what a server does with many cores does not show at all. Each JVM warmed up for half a minute or less, beside the others of its group on two
cores, so that the report calls most cells suspect, "not steady": the intervals are as wide as the starts are different. Tapir's interpreters for
Play and for Helidon Níma are not published everywhere; those weighed here were built from Tapir's public source at the version named, over the same
Play and the same Helidon as the vanilla server's; a revision that says "dirty" is one before these two were in the catalog so.
"""

NOISE = "Noise"


def of(claims, shelf):
    for claim in claims:
        judgement.hold(claim, shelf)
    sections = [section(claim, shelf) for claim in claims]
    used = runs.used(claims, shelf)
    noise = next((anchor(claim) for claim in claims if claim["title"] == NOISE), "overview")
    parts = [HEAD.format(noise=noise), WHERE, overview(claims), *sections, runs.of(used)]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


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
