"""Where and how all of it was measured, in the words of the evidence: machine, cores, starts, how busy, how many cells are valid."""

from collections import Counter

from .caption import at_start, most_starts

# Above this load average a run counts as disturbed at its start. Building and starting servers causes some load.
CROWDED = 5
WORDS = {1: "one start", 2: "two starts", 3: "three starts"}


def of(evidences):
    """A paragraph for each thing that the evidence can tell."""
    told = (part(evidences) for part in (machines, starts, busy, validity))
    return [one for one in told if one]


def machines(evidences):
    """Each machine, with its kernel and JDK, and which cores were whose."""
    seen = [machine(evidence["machine"]) for evidence in evidences if evidence["machine"].get("Machine")]
    return f"Here: {'; or '.join(dict.fromkeys(seen))}. {cores(evidences)}".strip() if seen else ""


def machine(about):
    jdk = about.get("JVM", {}).get("JDK", "").split(" ")[0]
    kernel = about.get("Kernel", {}).get("release", "")
    parts = [about["Machine"]["CPU"], f"cores {about['Machine']['cores tare may use']}", about["Machine"]["memory"]]
    return ", ".join(parts + [f"Linux {kernel}"] * bool(kernel) + [f"JDK {jdk}"] * bool(jdk))


def cores(evidences):
    """Which cores a server had, and which the generator, where all runs that say it say the same."""
    plans = [evidence.get("plan", {}) for evidence in evidences]
    split = {(plan["server_cpus"], plan["load_cpus"]) for plan in plans if "server_cpus" in plan}
    if len(split) != 1:
        return ""
    (server, generator), = split
    return f"A server that is measured has core {server}, and the generator core {generator}."


def starts(evidences):
    """How many starts the runs have."""
    counts = Counter(most_starts(evidence) for evidence in evidences)
    told = [f"{times} with {WORDS.get(number, f'{number} starts')}" for number, times in sorted(counts.items())]
    return f"{len(evidences)} runs: {', '.join(told)} of each server." if told else ""


def busy(evidences):
    """The load average at the start of the runs: what more programs than cores wanted."""
    loads = sorted(float(at_start(evidence).removeprefix("load ")) for evidence in evidences if at_start(evidence))
    if not loads:
        return ""
    crowded = sum(load > CROWDED for load in loads)
    return (
        f"When a run began, the machine's load average lay between {loads[0]:.1f} and {loads[-1]:.1f}. For {crowded} of the runs it was above {CROWDED}: other work "
        "was beside them. Each table says its own."
    )


def validity(evidences):
    """How many cells have figures that tare itself doubts."""
    cells = [cell for evidence in evidences for cell in evidence["cells"]]
    if not cells:
        return ""
    states = Counter(cell["validity"]["state"] for cell in cells)
    unsteady = sum(any(reason.startswith("not steady") for reason in cell["validity"]["reasons"]) for cell in cells)
    return (
        f"{len(cells)} cells: {states['valid']} valid, {states['suspect']} suspect, {states['void']} void. {unsteady} were not steady when measuring began: JVMs that "
        "warm up beside the others of their group on so few cores take longer than they were given. The reasons stand below each table."
    )
