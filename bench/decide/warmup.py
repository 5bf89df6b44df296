"""Reads from a record what the compilers did in the warm-up, and how the servers' threads were scheduled in the measured slices."""

import json
import sqlite3

# Compilers count as done when they use less than this share of the time in so many rounds in a row. tare's warm-up had this rule until
# 2026-11-24 (docs/METHOD.md, "When a server is warm"); the rows of `families` keep it.
DONE_SHARE = 0.02
DONE_ROUNDS = 2


def read_warmup(path):
    """How long the warm-up took and what the compilers used, over all servers of a run with one start and one scenario."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as record:
        warmup_spans = [json.loads(text) for (text,) in record.execute("SELECT json FROM warmup ORDER BY seq")]
        rows = [(variant, number, json.loads(text)) for variant, number, text in record.execute("SELECT variant, round, json FROM slice WHERE phase = 'warmup' ORDER BY seq")]
        scored = [(variant, json.loads(text)["server"]["cpu"]) for variant, text in record.execute("SELECT variant, json FROM slice WHERE phase = 'measure' AND kind = 'saturating'")]
    # The last slices of the warm-up settle the load. They belong to no round, and have a number of 2^31 or more.
    rounds = [[entry for variant, at, entry in rows if at == number] for number in sorted({at for _, at, _ in rows if at < 2**31})]
    return {
        "warmup_s": max(one["span_ns"] for one in warmup_spans) / 1e9,
        "steady": all(one["steady"] for one in warmup_spans),
        "compilers_done_s": compilers_done_s(rounds),
        "compiler_cpu_s": total_s(rounds, "by_kind"),
        "compiler_waiting_s": total_s(rounds, "waiting_by_kind"),
        "switches_per_request": {name: switches_per_request([cpu for variant, cpu in scored if variant == name]) for name in sorted({name for name, _ in scored})},
    }


def compilers_done_s(rounds):
    """Seconds until the compilers of all servers were idle for DONE_ROUNDS rounds in a row; None if they never were."""
    begin_ns = min(entry["load"]["start_ns"] for entry in rounds[0])
    quiet = 0
    for entries in rounds:
        quiet = quiet + 1 if all(compiler_share(entry["server"]["cpu"]) < DONE_SHARE for entry in entries) else 0
        if quiet == DONE_ROUNDS:
            return (max(entry["load"]["start_ns"] + entry["load"]["window_ns"] for entry in entries) - begin_ns) / 1e9
    return None


def compiler_share(cpu):
    return (cpu["by_kind"].get("jit", 0) + cpu["waiting_by_kind"].get("jit", 0)) / cpu["wall_ns"]


def total_s(rounds, key):
    """Seconds of the compiler threads of all servers, in all rounds."""
    return sum(entry["server"]["cpu"][key].get("jit", 0) for entries in rounds for entry in entries) / 1e9


def switches_per_request(cpu_readings):
    """Context switches of the application's threads per request."""
    switches = sum(sum(cpu["switches_by_pool"].get("application", {}).values()) for cpu in cpu_readings)
    return switches / sum(cpu["requests"] for cpu in cpu_readings)


def trace_of_start(path, variant, fork):
    """The saturating slices of one start in order: CPU per request, and what the compilers used at the same time."""
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
            "switches": switches_per_request([server["cpu"]]),
            "code_kb": server["jvm"]["code_bytes"] / 1e3,
        }
        for scenario, phase, number, server in slices
    ]
