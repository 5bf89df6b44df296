"""docs/FINDINGS.md: an overview, a section for each claim, and the runs that the figures come from."""

from . import judgement, tables

HEAD = """# Findings

Made by `bench/findings/make`; do not edit. What others have published about these servers, claim by claim in our words, and what tare
measured. Every figure comes from a run of tare that stands at the end, with the command that makes it again and the versions.

How to read the tables: a share is the variant's figure as a percentage of what it is weighed against, with the interval over starts in
brackets (95 %, each for itself); it is **bold** where the interval excludes 100 %. A high share of *throughput* is good, of everything else bad. Throughput depends on
what was saturated; CPU per request is the steadier witness, and what a JVM allocates for a request hardly depends on the machine at all. Absolute
figures do not carry over from machine to machine, directions and ratios may. Nothing was tuned to agree.
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
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def runs(claims, shelf):
    names = sorted({show["evidence"] for claim in claims for show in claim["show"]})
    return "## Runs\n\n" + "\n".join(run(name, shelf.get(name)) for name in names)


def run(name, evidence):
    about = evidence["run"]
    lines = [f"### {name}", f"```\n{about['command']}\n```", ". ".join(facts(evidence)) + "."]
    lines += ["\n".join(f"- {one}" for one in versions(evidence))]
    return "\n\n".join(line for line in lines if line) + "\n"


def facts(evidence):
    about = evidence["run"]
    yield f"{about['started_at'][:16].replace('T', ' ')} UTC"
    if about.get("duration_s"):
        yield f"{about['duration_s'] / 60:.0f} min"
    if about.get("git_revision"):
        yield f"Revision {about['git_revision']}"
    machine, kernel, jvm = (evidence.get("machine", {}).get(title, {}) for title in ("Machine", "Kernel", "JVM"))
    if machine:
        yield f"{machine['CPU']}, cores {machine['cores tare may use']}, {machine['memory']}; Linux {kernel['release']}"
        yield from (f"At the start {value}" for key, value in machine.items() if key.startswith("hypervisor steal"))
    if jvm:
        yield f"JDK {jvm['JDK'].split(' ')[0]}, {jvm['options']}"


def versions(evidence):
    """A line for each family and version, with what it was built from."""
    built = [(cell["family"], cell["versions"]) for cell in evidence.get("cells", []) if cell["versions"]]
    return sorted({f"{family}: {', '.join(f'{name} {version}' for name, version in named.items())}" for family, named in built})
