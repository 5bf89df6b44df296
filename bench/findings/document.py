"""docs/FINDINGS.md: how to read it, an overview, a section per claim, and the runs behind the figures."""

import textwrap

from . import judgement, prose, runs, setting, tables

HEAD = """# Findings

Made by `bench/findings/make`; do not edit. This page lists published claims about these servers, in our words, and what tare measured for each.
Every figure comes from a run of tare. The runs are [at the end](#runs), with their commands and versions. Nothing was tuned to agree.

How to read it:

- A share is the variant's figure as a percentage of its baseline's, measured together. A high share of *throughput* is good. A high share of
  everything else is bad.
- Brackets contain intervals over starts, at the level above the table. Each holds on its own: at 95 %, five in a hundred miss the true value. A
  share is **bold** if its interval excludes 100 %. "Too wide" means that the bounds differ by more than a factor of nine.
- One start has no interval. The [claim on noise](#{noise}) shows how much two starts may differ.
- Percentiles are those of all starts together, and need at least ten samples above them.
- Throughput depends on what was saturated. CPU per request varies slightly less. A JVM's allocation per request hardly depends on the machine.
  Absolute figures do not carry over to other machines; directions and ratios may.
- CPU at half load includes the cost of threads that fall asleep and wake up. If that fills the core, 31 µs at 32,000 requests/s, it cannot grow
  further, and its share means less than it seems to.
"""

THEIRS = """The claims were measured on 16 cores (32 threads) and on cloud machines with 2 and 16 virtual CPUs, with client and server on the same cores or on two \
machines, with one start each."""

# Consequences of one core, and facts that a reader could not guess.
SINCE = [
    """With one core the server is the bottleneck. In the published measurements it was often the client. So costs are more visible here, and the effect \
of many cores is not visible at all.""",
    """Tapir's interpreters for Play and for Helidon Níma are not available in every registry. If a table has them, they were built from Tapir's public \
source at the stated version, with the same Play and Helidon as the vanilla server.""",
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
    return "The measurements:\n\n" + "\n".join(textwrap.fill(one, WIDTH, initial_indent="- ", subsequent_indent="  ") for one in told)


def overview(claims):
    lines = [["", "claim", "tare"]]
    lines += [[str(claim["number"]), f"[{claim['title']}](#{anchor(claim)})", claim["judgement"]] for claim in claims]
    return "## Overview\n\n" + tables.markdown(lines)


def heading(claim):
    return f"{claim['number']}. {claim['title']}"


def anchor(claim):
    """The anchor that usual renderers give a heading."""
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
