"""The line above a table: which run it is of, under which load, how many starts it has, and how busy the machine was."""

from .picks import picked


def of(show, evidence, chosen, others):
    """All that a reader needs in order to weigh the table, from the evidence itself; `others` are the runs that stand beside it."""
    cells = picked(show, evidence["cells"])
    parts = [
        f"[{show['evidence']}](#{show['evidence']})",
        tapir(evidence, cells),
        load(show, cells),
        "as a share of the baseline" if show["what"] == "comparisons" else "",
        cpu(show, cells),
        starts(show, evidence, chosen),
        standing(evidence),
        *(f"beside it [{name}](#{name}): {counted(other)}, {standing(other)}" for name, other in others.items()),
        show.get("note", ""),
    ]
    return " · ".join(part for part in parts if part) + ":"


def tapir(evidence, cells):
    """The versions of Tapir in the table; a profile has no cells, and is of all that its run built."""
    built = [cell["versions"] for cell in cells] or evidence.get("versions", {}).values()
    versions = sorted({named["tapir"] for named in built if "tapir" in named}, key=numbers)
    return f"Tapir {', '.join(versions)}" if versions else ""


def numbers(version):
    return [int(part) if part.isdecimal() else 0 for part in version.split(".")]


def load(show, cells):
    kind = show.get("kind", "saturating")
    models = sorted({one["model"] for cell in cells for one in cell["latency"] if one["kind"] == kind})
    if len(models) < 2:
        return "".join(models)
    return "at a rate of its own for each group" if kind == "poisson" else "at several loads"


def cpu(show, cells):
    """Where CPU was counted under another load than the rest of the table."""
    shown = show["what"] == "comparisons" or "cpu_per_request" in show.get("columns", ["cpu_per_request"])
    elsewhere = show.get("kind", "saturating") == "saturating" and any((cell["cpu_load"] or "").startswith("Poisson") for cell in cells)
    return "CPU at half load (Poisson arrivals)" if shown and elsewhere and show["what"] in ("comparisons", "cells") else ""


def starts(show, evidence, chosen):
    """How sure the intervals are, where there are any; those of profiles are at 95 % whatever the run's other ones are at."""
    if show["what"] in ("spread", "repeats"):
        return ""
    if show["what"] == "methods":
        return "95 % intervals"
    counts = {forks(one) for one in chosen} - {0}
    return "one start, which has no interval" if counts == {1} else f"{(1 - evidence['run']['alpha']) * 100:g} % intervals"


def forks(one):
    if "forks" in one:
        return one["forks"]
    return one["currencies"][0]["forks"] if one["currencies"] else 0


def most_starts(evidence):
    """How many starts there are of what the run started most often."""
    return max((one["forks"] for one in evidence["cells"] + evidence["profiles"]), default=0)


def counted(evidence):
    number = most_starts(evidence)
    return "one start" if number == 1 else f"{number} starts"


def standing(evidence):
    """How busy the machine was when the run began, and whether it came to its end."""
    began = at_start(evidence)
    status = evidence["run"]["status"]
    parts = [f"{began} when it began" if began else "", "" if status == "complete" else f"the run was {status.replace('_', ' ')}"]
    return ", ".join(part for part in parts if part)


def at_start(evidence):
    """`load 33.87`: how many programs wanted a core, averaged over the minute before."""
    machine = evidence["machine"].get("Machine", {})
    told = next((value for key, value in machine.items() if key.startswith("hypervisor steal")), "")
    return next((part for part in told.split(", ") if part.startswith("load ")), "")
