"""What a record says of the compilers during the warm-up, and of the scheduler while slices are scored."""

import json
import sqlite3

# As the warm-up of tare has it: the share of the time below which the compilers are done, and the rounds in a row that show it.
DONE_SHARE = 0.02
DONE_ROUNDS = 2


def of_record(path):
    """Seconds of the warm-up, and what each server did: all variants of the first scenario of a run with one start."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as record:
        spans = [json.loads(text) for (text,) in record.execute("SELECT json FROM warmup ORDER BY seq")]
        rows = [(variant, number, json.loads(text)) for variant, number, text in record.execute("SELECT variant, round, json FROM slice WHERE phase = 'warmup' ORDER BY seq")]
        scored = [(variant, json.loads(text)["server"]["cpu"]) for variant, text in record.execute("SELECT variant, json FROM slice WHERE phase = 'measure' AND kind = 'saturating'")]
    # The last slices of the warm-up settle the load, and have a number that no round has.
    rounds = [[entry for variant, at, entry in rows if at == number] for number in sorted({at for _, at, _ in rows if at < 2**31})]
    return {
        "warmup_s": max(one["span_ns"] for one in spans) / 1e9,
        "steady": all(one["steady"] for one in spans),
        "compilers_done_s": compilers_done_s(rounds),
        "compiler_cpu_s": total_s(rounds, "by_kind"),
        "compiler_waiting_s": total_s(rounds, "waiting_by_kind"),
        "switches_per_request": {name: switches([cpu for variant, cpu in scored if variant == name]) for name in sorted({name for name, _ in scored})},
    }


def compilers_done_s(rounds):
    """When the compilers of all servers had little to do for some rounds in a row; None if they never had."""
    begin = min(entry["load"]["start_ns"] for entry in rounds[0])
    quiet = 0
    for entries in rounds:
        quiet = quiet + 1 if all(compiler_share(entry["server"]["cpu"]) < DONE_SHARE for entry in entries) else 0
        if quiet == DONE_ROUNDS:
            return (max(entry["load"]["start_ns"] + entry["load"]["window_ns"] for entry in entries) - begin) / 1e9
    return None


def compiler_share(cpu):
    return (cpu["by_kind"].get("jit", 0) + cpu["waiting_by_kind"].get("jit", 0)) / cpu["wall_ns"]


def total_s(rounds, key):
    """Seconds of the compiler threads of all servers, in all rounds."""
    return sum(entry["server"]["cpu"][key].get("jit", 0) for entries in rounds for entry in entries) / 1e9


def switches(readings):
    """Context switches of the application's threads per request."""
    counted = sum(sum(cpu["switches_by_pool"].get("application", {}).values()) for cpu in readings)
    return counted / sum(cpu["requests"] for cpu in readings)


def trace(path, variant, fork):
    """The saturating slices of one start in their order: what a request costs, and what the compilers do meanwhile."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as record:
        rows = record.execute("SELECT scenario, phase, round, json FROM slice WHERE variant = ? AND fork = ? AND kind = 'saturating' ORDER BY seq", (variant, fork))
        slices = [(scenario, phase, number, json.loads(text)["server"]) for scenario, phase, number, text in rows]
    return [
        {
            "scenario": scenario,
            "phase": phase,
            "round": number,
            "application_us": server["cpu"]["by_kind"]["application"] / server["cpu"]["requests"] / 1e3,
            "compilers_ms": server["cpu"]["by_kind"].get("jit", 0) / 1e6,
            "switches": switches([server["cpu"]]),
            "code_kb": server["jvm"]["code_bytes"] / 1e3,
        }
        for scenario, phase, number, server in slices
    ]
