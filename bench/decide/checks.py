"""Runs `tare check` on releases of Tapir and on commits that change nothing: does it find changes, and only changes?"""

import pathlib
import tomllib

from ..problem import Problem
from . import parts, program
from .burners import running_burners
from .rows import Rows

PART = "checks"
PLANTED_PART = "planted-checks"
PAIRS_FILE = pathlib.Path("bench/decide/releases.toml")
# From this seed on, checks load the servers in random order in every round of a warm-up.
FIRST_RANDOM_ORDER_SEED = 101
PAIRS_SEED = 101
LIMITS = "cpu > +5%,allocated > +1%"
# As in suites/quick.toml, without latency.
SETTINGS = ["--slice", "500ms", "--saturating", "12", "--fail-if", LIMITS]
# The limit for a planted cost of about 5 %. A check should find it within PLANTED_TARGET_S seconds.
PLANTED_LIMIT = "cpu > +1%"
PLANTED_TARGET_S = 360


def check_releases(options):
    """Checks each pair of releases that has no row on the present seed. Its row replaces an older one."""
    program.build("-p", "tare")
    for pair in tomllib.loads(PAIRS_FILE.read_text(encoding="utf-8"))["pairs"]:
        case = {key: pair[key] for key in ("server", "scenario", "old", "new", "differs")}
        flags = ["-s", pair["server"], "-m", pair["scenario"], "--baseline", pair["old"], "--versions", pair["new"]]
        run_check(case, PAIRS_SEED, [*flags, *SETTINGS, "--budget", options.budget, *options.flags])
        # Rows of earlier rules.
        rows = Rows(PART)
        rows.replace([row for row in rows.read_all() if row["case"] != case or row["seed"] == PAIRS_SEED])


def check_empty_commits(options):
    """Checks the last commit against itself, as after a commit that changes nothing."""
    program.build("-p", "tare")
    case = {"server": options.server, "scenario": options.scenario, "old": "HEAD", "new": "HEAD", "differs": False}
    case = parts.with_burners(case, options)
    flags = ["suites/quick.toml", "-s", options.server, "-m", options.scenario, "--baseline", "HEAD"]
    for seed in parts.seeds_of(options):
        with running_burners(options.burners, options.burst_s, seed):
            run_check(case, seed, [*flags, *SETTINGS, "--budget", options.budget, *options.flags])


def run_planted_checks(options):
    """Checks http4s against itself with a cost planted in its handler."""
    program.build("-p", "tare")
    for micros in options.micros:
        server = parts.server_with_planted_cost(micros)
        case = parts.with_burners({"server": "http4s", "ns": round(micros * 1000)}, options)
        flags = [parts.JVM_SUITE, "-s", server, "--baseline", "./planted-http4s {port} 0", "--fail-if", PLANTED_LIMIT]
        for seed in parts.seeds_of(options):
            with running_burners(options.burners, options.burst_s, seed):
                read_extra = lambda summary, run: {"baseline_value": baseline_value(summary), "planted_ns": parts.read_planted_ns(run, server)}
                run_check(case, seed, [*flags, "--budget", options.budget, *options.flags], PLANTED_PART, read_extra)


def run_check(case, seed, flags, part=PART, read_extra=lambda summary, run: {}):
    """Runs one `tare check` and stores its row, unless the row exists. `read_extra(summary, folder)` returns further keys of the row."""
    rows = Rows(part)
    if rows.has(case, seed):
        return
    summary, _ = program.run(part, flags, seed, command="check")
    if summary is None:
        raise Problem("interrupted: the same command continues with this check")
    keys = ("currency", "limit", "ratio", "lo", "hi", "short", "verdict")
    limits = [{key: limit.get(key) for key in keys} for limit in summary["check"]["limits"]]
    run = program.describe_run(summary, "id", "started_at", "duration_s", "git_revision")
    outcome = summary["check"]["outcome"]
    row = {"case": case, "seed": seed, "outcome": outcome, "limits": limits, "control": control_ratio(summary), "run": run}
    rows.append({**row, **read_extra(summary, program.newest_run(program.RECORDS_FOLDER / part))})
    verdicts = " · ".join(f"{limit['currency']} {limit['short']} {limit['verdict']}" for limit in limits)
    print(f"  {part} {case} seed {seed}: {outcome} · {verdicts}", flush=True)


def baseline_value(summary):
    """CPU per request of the baseline, in nanoseconds."""
    return next(one["baseline_value"] for one in summary["comparisons"][0]["currencies"] if one["name"] == "cpu_per_request")


def control_ratio(summary):
    """CPU per request of the second start of the baseline, as a ratio to the first; None if it was not measured."""
    figures = [figure for noise in summary["noise"] for figure in noise["currencies"] if figure["name"] == "cpu_per_request"]
    return figures[0]["ratio"] if figures else None


def is_found(row):
    """Whether a limit is decided as regressed or improved."""
    return any(limit["verdict"] in ("regressed", "improved") for limit in row["limits"])


def is_below_limits(row):
    """Whether all limits are decided as no material change."""
    return all(limit["verdict"] == "no_material_change" for limit in row["limits"])


def is_false_alarm(row):
    return not row["case"]["differs"] and row["outcome"] == "regressed"
