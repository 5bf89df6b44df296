"""The line above a table: its run, its load, its number of starts, and the load average of the machine."""

from .picks import picked


def of(show, evidence, chosen, others):
    """The facts that a reader needs to judge the table, from the evidence; `others` are further runs in the table."""
    cells = picked(show, evidence["cells"])
    parts = [
        f"[{show['evidence']}](#{show['evidence']})",
        tapir(evidence, cells),
        load(show, cells),
        "as a share of the baseline" if show["what"] == "comparisons" else "",
        cpu(show, cells),
        starts(show, evidence, chosen),
        standing(evidence),
        *(f"compared with [{name}](#{name}): {counted(other)}, {standing(other)}" for name, other in others.items()),
        show.get("note", ""),
    ]
    return " · ".join(part for part in parts if part) + ":"


def tapir(evidence, cells):
    """The versions of Tapir in the table. A profile has no cells, so it has those of its whole run."""
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
    return "at a different rate for each group" if kind == "poisson" else "at several loads"


def cpu(show, cells):
    """The load of the CPU figures, if it differs from that of the table."""
    shown = show["what"] == "comparisons" or "cpu_per_request" in show.get("columns", ["cpu_per_request"])
    elsewhere = show.get("kind", "saturating") == "saturating" and any((cell["cpu_load"] or "").startswith("Poisson") for cell in cells)
    return "CPU at half load (Poisson arrivals)" if shown and elsewhere and show["what"] in ("comparisons", "cells") else ""


def starts(show, evidence, chosen):
    """The level of the intervals, if there are any. Those of profiles are always at 95 %."""
    if show["what"] in ("spread", "repeats"):
        return ""
    if show["what"] == "methods":
        return "95 % intervals"
    counts = {forks(one) for one in chosen} - {0}
    return "one start, so no interval" if counts == {1} else f"{(1 - evidence['run']['alpha']) * 100:g} % intervals"


def forks(one):
    if "forks" in one:
        return one["forks"]
    return one["currencies"][0]["forks"] if one["currencies"] else 0


def most_starts(evidence):
    """The largest number of starts of one server in the run."""
    return max((one["forks"] for one in evidence["cells"] + evidence["profiles"]), default=0)


def counted(evidence):
    number = most_starts(evidence)
    return "one start" if number == 1 else f"{number} starts"


def standing(evidence):
    """The load average at the start of the run, and whether the run is complete."""
    began = at_start(evidence)
    status = evidence["run"]["status"]
    parts = [f"{began} at its start" if began else "", "" if status == "complete" else f"the run was {status.replace('_', ' ')}"]
    return ", ".join(part for part in parts if part)


def at_start(evidence):
    """`load 33.87`: the number of programs that wanted a core, averaged over the minute before."""
    machine = evidence["machine"].get("Machine", {})
    told = next((value for key, value in machine.items() if key.startswith("hypervisor steal")), "")
    return next((part for part in told.split(", ") if part.startswith("load ")), "")
