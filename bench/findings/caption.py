"""Writes the line above a table: its run, its load, its number of starts, and the load average of the machine."""

from .picks import SATURATING, matching_entries, starts_of
from .runs import facts_of


def caption_of(show, run, chosen, others):
    """The caption: what a reader must know to judge the table."""
    kind, what = show.get("kind", SATURATING), show["what"]
    cells = matching_entries(show, run["cells"])
    versions = {version for cell in cells for version in tapir_versions(cell["resolved"])} if cells else environment_versions(run)
    tapir = sorted(versions, key=version_key)
    models = sorted({load["model"] for cell in cells for load in cell["latency"] if load["slice_kind"] == kind})
    several = "at a different rate for each group" if kind == "poisson" else "at several loads"
    shows_cpu = what == "comparisons" or (what == "cells" and "cpu_per_request" in show.get("columns", ["cpu_per_request"]))
    half_load = shows_cpu and kind == SATURATING and any((cell["cpu_load"] or "").startswith("Poisson") for cell in cells)
    beside = [f"compared with [{name}](runs.md#{name}): {starts_text(other)}, {state_text(other)}" for name, other in others.items()]
    parts = [
        f"[{show['evidence']}](runs.md#{show['evidence']})",
        f"Tapir {', '.join(tapir)}" if tapir else "",
        several if len(models) > 1 else "".join(models),
        "as a share of the baseline" if what == "comparisons" else "",
        "CPU at half load (Poisson arrivals)" if half_load else "",
        interval_text(what, run, chosen),
        state_text(run),
        *beside,
        show.get("note", ""),
    ]
    return " · ".join(part for part in parts if part)


def tapir_versions(rows):
    return [row["value"] for row in rows if row["key"] == "tapir"]


def environment_versions(run):
    """Tapir's versions in the whole run, for a profile, which has no cells."""
    return {version for section in run["environment"] if section["title"].startswith("Versions: ") for version in tapir_versions(section["rows"])}


def version_key(version):
    return [int(part) if part.isdecimal() else 0 for part in version.split(".")]


def interval_text(what, run, chosen):
    """The confidence level of the intervals, if there are any. Profiles always have 95 % intervals."""
    if what in ("spread", "repeats", "machines"):
        return ""
    if {starts_of(one) for one in chosen} - {0} == {1}:
        return "one start, so no interval"
    return f"{95 if what == 'methods' else (1 - run['run']['alpha']) * 100:g} % intervals"


def starts_text(run):
    starts = facts_of(run)["starts"]
    return "one start" if starts == 1 else f"{starts} starts"


def state_text(run):
    """The load average of the machine at the start of the run, and whether the run is complete."""
    load, status = facts_of(run)["load"], run["run"]["status"]
    parts = [f"load {load} at its start" if load else "", "" if status == "complete" else f"the run was {status.replace('_', ' ')}"]
    return ", ".join(part for part in parts if part)
