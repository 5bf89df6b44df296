"""`tare check` of releases of Tapir and of commits that change nothing: is what changed found, and nothing else?"""

import pathlib
import tomllib

from . import parts, program
from .burners import burning
from .problem import Problem
from .rows import Rows

PART = "checks"
PLANTED_PART = "planted-checks"
PAIRS = pathlib.Path("bench/decide/releases.toml")
# Checks with seeds from this one on loaded the servers in random order in every round of a warm-up.
IN_RANDOM_ORDER = 101
LIMITS = "cpu > +5%,allocated > +1%"
# As in suites/quick.toml; latency is not asked for.
SETTINGS = ["--slice", "500ms", "--saturating", "12", "--fail-if", LIMITS]
# The limit for a planted cost of about 5 %. A check is asked to find it within this time, in seconds.
PLANTED_LIMIT = "cpu > +1%"
PLANTED_WITHIN_S = 360


def releases(options):
    """Each pair of releases that has no row yet."""
    program.build("-p", "tare")
    for pair in tomllib.loads(PAIRS.read_text(encoding="utf-8"))["pairs"]:
        case = {key: pair[key] for key in ("server", "scenario", "old", "new", "differs")}
        flags = ["-s", pair["server"], "-m", pair["scenario"], "--baseline", pair["old"], "--versions", pair["new"]]
        check(case, 1, [*flags, *SETTINGS, "--budget", options.budget, *options.flags])


def empty(options):
    """The servers of the last commit beside themselves, as after a commit that changes nothing."""
    program.build("-p", "tare")
    case = {"server": options.server, "scenario": options.scenario, "old": "HEAD", "new": "HEAD", "differs": False}
    case = parts.with_burners(case, options)
    flags = ["suites/quick.toml", "-s", options.server, "-m", options.scenario, "--baseline", "HEAD"]
    for seed in parts.seeds(options):
        with burning(options.burners, options.burst_s, seed):
            check(case, seed, [*flags, *SETTINGS, "--budget", options.budget, *options.flags])


def planted(options):
    """A cost that was planted in a handler of http4s, as a change of a service."""
    program.build("-p", "tare")
    for micros in options.micros:
        server = parts.planted_server(micros)
        case = parts.with_burners({"server": "http4s", "ns": round(micros * 1000)}, options)
        flags = [parts.JVM_SUITE, "-s", server, "--baseline", "./planted-http4s {port} 0", "--fail-if", PLANTED_LIMIT]
        for seed in parts.seeds(options):
            with burning(options.burners, options.burst_s, seed):
                more = lambda summary, run: {"baseline_value": baseline_value(summary), "planted_ns": parts.planted_ns(run, server)}
                check(case, seed, [*flags, "--budget", options.budget, *options.flags], PLANTED_PART, more)


def check(case, seed, flags, part=PART, more=lambda summary, run: {}):
    """One `tare check`, unless its row is there. `more` reads further figures from its summary and its folder."""
    rows = Rows(part)
    if rows.has(case, seed):
        return
    summary, _ = program.run(part, flags, seed, command="check")
    if summary is None:
        raise Problem("interrupted: the same command goes on with this check")
    keys = ("currency", "limit", "ratio", "lo", "hi", "short", "verdict")
    limits = [{key: limit.get(key) for key in keys} for limit in summary["check"]["limits"]]
    run = {key: summary["run"][key] for key in ("id", "started_at", "duration_s", "git_revision")}
    outcome = summary["check"]["outcome"]
    row = {"case": case, "seed": seed, "outcome": outcome, "limits": limits, "control": control_ratio(summary), "run": run}
    rows.append({**row, **more(summary, program.newest(program.RECORDS / part))})
    said = " · ".join(f"{limit['currency']} {limit['short']} {limit['verdict']}" for limit in limits)
    print(f"  {part} {case} seed {seed}: {outcome} · {said}", flush=True)


def baseline_value(summary):
    """CPU per request of the baseline, in nanoseconds."""
    return next(one["baseline_value"] for one in summary["comparisons"][0]["currencies"] if one["name"] == "cpu_per_request")


def control_ratio(summary):
    """CPU per request of the second start of the baseline, as a ratio to the first; None where it was not measured."""
    figures = [figure for noise in summary["noise"] for figure in noise["currencies"] if figure["name"] == "cpu_per_request"]
    return figures[0]["ratio"] if figures else None


def is_found(row):
    """Whether a limit says that the new build is worse or better, and not only that it may be."""
    return any(limit["verdict"] in ("regressed", "improved") for limit in row["limits"])


def is_below_limits(row):
    """Whether all limits say that a change, if there is one, does not reach them."""
    return all(limit["verdict"] == "no_material_change" for limit in row["limits"])


def is_false_alarm(row):
    return not row["case"]["differs"] and row["outcome"] == "regressed"
