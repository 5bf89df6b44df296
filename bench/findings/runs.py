"""The runs at the end of the page: an overview, and for each its command, circumstances and versions."""

from dataclasses import dataclass

from . import prose
from .caption import at_start, most_starts
from .tables import markdown


@dataclass
class Run:
    """Evidence by its name, and the numbers of the claims that use it."""

    name: str
    evidence: dict
    claims: list


def used(claims, shelf):
    """Every run that a claim uses in a table, in its text or for its judgement."""
    by_name = {}
    for claim in claims:
        shown = [name for show in claim["show"] for name in (show["evidence"], *show.get("beside", []))]
        for name in {*shown, *(rest["evidence"] for rest in claim["rests_on"]), *prose.named(claim)}:
            by_name.setdefault(name, []).append(claim["number"])
    return [Run(name, shelf.get(name, "runs"), by_name[name]) for name in sorted(by_name)]


def of(used):
    lines = [["run", "began (UTC)", "took", "starts", "load of the machine at its start", "claims"]]
    lines += [line(run) for run in used]
    return "## Runs\n\n" + markdown(lines) + "\n" + "\n".join(section(run) for run in used)


def line(run):
    about = run.evidence["run"]
    minutes = f"{about['duration_s'] / 60:.0f} min" if about.get("duration_s") else "–"
    starts = f"{most_starts(run.evidence)}" + ("" if about["status"] == "complete" else f", {about['status']}")
    load = at_start(run.evidence).removeprefix("load ") or "–"
    return [f"[{run.name}](#{run.name})", began(about), minutes, starts, load, ", ".join(map(str, run.claims))]


def began(about):
    return about["started_at"][:16].replace("T", " ")


def section(run):
    lines = [f"### {run.name}", f"```\n{run.evidence['run']['command']}\n```", ". ".join(facts(run.evidence)) + "."]
    lines += ["\n".join(f"- {one}" for one in versions(run.evidence))]
    return "\n\n".join(line for line in lines if line) + "\n"


def facts(evidence):
    about, plan = evidence["run"], evidence.get("plan", {})
    yield f"{began(about)} UTC"
    if about.get("git_revision"):
        yield f"Revision {about['git_revision']}"
    machine, kernel, jvm = (evidence["machine"].get(title, {}) for title in ("Machine", "Kernel", "JVM"))
    if machine:
        yield f"{machine['CPU']}, cores {machine['cores tare may use']}, {machine['memory']}; Linux {kernel['release']}"
        yield from (f"At the start {value}" for key, value in machine.items() if key.startswith("hypervisor steal"))
    if jvm:
        yield f"JDK {jvm['JDK'].split(' ')[0]}, {jvm['options']}"
    if plan.get("warmup") == "steady":
        yield f"Warm-up until steady, {plan['warmup_first_cap']} at most for the first scenario of a start and {plan['warmup_cap']} for each later one"


def versions(evidence):
    """A line for each family and version, with its libraries."""
    built = {(cell["family"], written(cell["versions"])) for cell in evidence["cells"] if cell["versions"]}
    built |= {(family.split(" ")[0], written(named)) for family, named in evidence.get("versions", {}).items()}
    return [f"{family}: {named}" for family, named in sorted(built)]


def written(named):
    return ", ".join(f"{name} {version}" for name, version in named.items())
