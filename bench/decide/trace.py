"""Reads from a record how one start went: what a request cost in each slice, and what the compilers used at the same time."""

import json
import sqlite3


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
            "switches": switches_per_request(server["cpu"]),
            "code_kb": server["jvm"]["code_bytes"] / 1e3,
        }
        for scenario, phase, number, server in slices
    ]


def switches_per_request(cpu):
    """Context switches of the application's threads per request."""
    return sum(cpu["switches_by_pool"].get("application", {}).values()) / cpu["requests"]
