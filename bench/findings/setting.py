"""Describes the measurements from the evidence: machine, cores, starts, load average, number of valid cells."""

from collections import Counter

from .caption import at_start, most_starts

# Above this load average a run counts as disturbed at its start. Building and starting servers causes some load.
CROWDED = 5
WORDS = {1: "one start", 2: "two starts", 3: "three starts"}


def of(evidences):
    """A paragraph for each of them that the evidence has."""
    told = (part(evidences) for part in (machines, starts, busy, validity))
    return [one for one in told if one]


def machines(evidences):
    """Each machine, with its kernel, its JDK and the use of its cores."""
    seen = [machine(evidence["machine"]) for evidence in evidences if evidence["machine"].get("Machine")]
    return f"Here: {'; or '.join(dict.fromkeys(seen))}. {cores(evidences)}".strip() if seen else ""


def machine(about):
    jdk = about.get("JVM", {}).get("JDK", "").split(" ")[0]
    kernel = about.get("Kernel", {}).get("release", "")
    parts = [about["Machine"]["CPU"], f"cores {about['Machine']['cores tare may use']}", about["Machine"]["memory"]]
    return ", ".join(parts + [f"Linux {kernel}"] * bool(kernel) + [f"JDK {jdk}"] * bool(jdk))


def cores(evidences):
    """The cores of servers and generator, if they are the same in all runs."""
    plans = [evidence.get("plan", {}) for evidence in evidences]
    split = {(plan["server_cpus"], plan["load_cpus"]) for plan in plans if "server_cpus" in plan}
    if len(split) != 1:
        return ""
    (server, generator), = split
    return f"A measured server has core {server}, and the generator has core {generator}."


def starts(evidences):
    """How many starts the runs have."""
    counts = Counter(most_starts(evidence) for evidence in evidences)
    told = [f"{times} with {WORDS.get(number, f'{number} starts')}" for number, times in sorted(counts.items())]
    return f"{len(evidences)} runs: {', '.join(told)} of each server." if told else ""


def busy(evidences):
    """The load average at the start of the runs: the number of programs that wanted a core."""
    loads = sorted(float(at_start(evidence).removeprefix("load ")) for evidence in evidences if at_start(evidence))
    if not loads:
        return ""
    crowded = sum(load > CROWDED for load in loads)
    return (
        f"At the start of the runs, the machine's load average was between {loads[0]:.1f} and {loads[-1]:.1f}. For {crowded} of them it was above {CROWDED}, because of "
        "other work. Each table states its own."
    )


def validity(evidences):
    """How many cells are valid, suspect and void."""
    cells = [cell for evidence in evidences for cell in evidence["cells"]]
    if not cells:
        return ""
    states = Counter(cell["validity"]["state"] for cell in cells)
    unsteady = sum(any(reason.startswith("not steady") for reason in cell["validity"]["reasons"]) for cell in cells)
    return (
        f"{len(cells)} cells: {states['valid']} valid, {states['suspect']} suspect, {states['void']} void. {unsteady} were not steady when measuring began: JVMs that "
        "warm up together on so few cores need longer than the limit. The reasons are below each table."
    )
