"""docs/FINDINGS.md: an overview, a section for each claim, and the runs that the figures come from."""

from . import judgement, tables

HEAD = """# Findings

Made by `bench/findings/make`; do not edit. What others have published about these servers, claim by claim in our words, and what tare
measured. Every figure comes from a run of tare that stands at the end, with the command that makes it again.

How to read the tables: a share is the variant's figure as a percentage of what it is weighed against, with the interval over starts in
brackets; it is **bold** where the interval excludes 100 %. A high share of *throughput* is good, of everything else bad. Throughput depends on
what was saturated; CPU per request is the steadier witness, and what a JVM allocates for a request hardly depends on the machine at all. Absolute
figures do not carry over from machine to machine, directions and ratios may. Nothing was tuned to agree.
"""

WHERE = """
The claims were measured on 16 cores (32 threads) and on cloud machines with 2 and 16 virtual CPUs, with client and server on the same cores or
on two machines, for one start each. Here each server has one core of a small virtual machine and the generator the other, and everything is
started three times or more. With one core the server is the bottleneck where theirs often was the client, so that costs show more than they did
there; and what a server does with many cores does not show at all.
"""


def of(claims, shelf):
    for claim in claims:
        judgement.hold(claim, shelf)
    parts = [HEAD, WHERE, overview(claims), *(section(claim, shelf) for claim in claims), runs(claims, shelf)]
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
    shown = [tables.of(show, shelf.get(show["evidence"]), claim["file"]) for show in claim["show"]]
    parts = [
        f"## {heading(claim)}",
        f"*{claim['source']}:* {claim['claim'].strip()}",
        f"**tare: {claim['judgement']}.** {claim['because'].strip()}",
        *shown,
        measured_by(claim, shelf),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def measured_by(claim, shelf):
    """Runs and versions, the versions of what is shown only."""
    lines = []
    for name in dict.fromkeys(show["evidence"] for show in claim["show"]):
        evidence = shelf.get(name)
        seen = [cell for show in claim["show"] if show["evidence"] == name for cell in tables.picked(show, evidence.get("cells", []))]
        versions = sorted({f"{cell['family']}: {', '.join(f'{k} {v}' for k, v in cell['versions'].items())}" for cell in seen if cell["versions"]})
        lines.append(f"Run [{name}](#runs)" + (f"; {'; '.join(versions)}." if versions else "."))
    return "\n".join(lines)


def runs(claims, shelf):
    names = sorted({show["evidence"] for claim in claims for show in claim["show"]})
    return "## Runs\n\n" + "\n".join(run(name, shelf.get(name)) for name in names)


def run(name, evidence):
    about = evidence["run"]
    facts = [f"{about['started_at'][:16].replace('T', ' ')} UTC"]
    if about.get("duration_s"):
        facts.append(f"{about['duration_s'] / 60:.0f} min")
    if about.get("git_revision"):
        facts.append(f"revision {about['git_revision']}")
    machine, kernel, jvm = (evidence.get("machine", {}).get(title, {}) for title in ("Machine", "Kernel", "JVM"))
    facts += [f"{machine['CPU']}, cores {machine['cores tare may use']}, {machine['memory']}"] if machine else []
    facts += [f"Linux {kernel['release']}"] if kernel else []
    facts += [f"JDK {jvm['JDK'].split(' ')[0]} {jvm['options']}"] if jvm else []
    facts += [f"at the start: {machine[key]}" for key in machine if key.startswith("hypervisor steal")]
    return f"**{name}**: {'; '.join(facts)}.\n\n```\n{about['command']}\n```\n"
