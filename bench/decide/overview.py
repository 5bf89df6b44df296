"""The first screen of docs/DECIDE.md: ten rows that say it all. Each row is left out without data."""

import statistics

from . import checks
from .figures import (
    DECIDED_VERDICTS,
    DECISION_TARGET_S,
    burners_text,
    covers_truth,
    half_width,
    is_found,
    largest_overlap,
    log_ratios,
    median,
    pairs_needed,
    time_to_verdict,
)
from .text import format_duration, format_percent, group_by_case, markdown_table

ALPHA = 0.05


def section(rows):
    """The table, as Markdown."""
    quiet = [row for row in rows["compare"] if not row["case"]["burners"]]
    busy = [row for row in rows["compare"] if row["case"]["burners"]]
    native = [row for row in rows["planted"] if "percent" in row["case"]]
    jvm = [row for row in rows["planted"] if "ns" in row["case"]]
    lines = [
        *simulated_lines(rows["replay"]),
        equal_line(rows["aa"]),
        planted_line("the reference server", native),
        planted_line("a handler of http4s", jvm),
        compared_line("on a machine with nothing else to do", quiet),
        compared_line("beside programs that use every core", busy),
        sequential_line(rows["sequential"], rows["compare"]),
        releases_line(rows["checks"]),
        planted_check_line(rows["planted_checks"]),
    ]
    table = markdown_table(["question", "answer"], [line for line in lines if line])
    return f"## The answer in ten rows\n\n{table}"


def claim(rows):
    """The sentence of the README: how long, how narrow at the end, and how often wrong. None without data."""
    quiet = [row for row in rows["compare"] if not row["case"]["burners"]]
    if not quiet or not rows["aa"]:
        return None
    first = format_duration(median(row.get("verdict_s") for row in quiet))
    end = format_duration(median(row["run"]["duration_s"] for row in quiet))
    width = format_percent(median(map(half_width, quiet)), 1)
    wrong = sum(row["verdict"] in ("worse", "better") for row in rows["aa"])
    alarms = {0: "no false alarm", 1: "one false alarm"}.get(wrong, f"{wrong} false alarms")
    return f"**First verdict after {first}, ±{width} after {end} (medians; a layer of http4s on a quiet machine); {alarms} in {len(rows['aa'])} runs of a server against itself** ([DECIDE](docs/DECIDE.md))."


def simulated_lines(rows):
    some = [row for row in rows if row["alpha"] == ALPHA]
    if not some:
        return []
    parts = [[row for row in some if row["with_prior"] == with_prior] for with_prior in (False, True)]
    spread = lambda key: [range_text([row[key] for row in part]) for part in parts]
    words = "In {} of simulated runs, by source of the forks; with a prior in {}."
    return [
        ["How often does an interval miss the truth at any look, at a nominal α of 5 %?", words.format(*spread("missed"))],
        ["How often does a run of two equal servers say *different*?", words.format(*spread("any_look"))],
    ]


def range_text(shares):
    return f"{min(shares) * 100:.1f} to {max(shares) * 100:.1f} %"


def equal_line(rows):
    if not rows:
        return None
    same = [row for row in rows if row["verdict"] == "no_material_difference"]
    different = sum(row["verdict"] in ("worse", "better") for row in rows)
    in_time = sum(row["run"]["duration_s"] <= DECISION_TARGET_S for row in same)
    time = format_duration(median(row["run"]["duration_s"] for row in rows))
    return ["And real runs of a server against itself?", f"{different} of {len(rows)} say *different*; {in_time} say *no material difference* within {DECISION_TARGET_S // 60} minutes (median {time})."]


def planted_line(where, rows):
    if not rows:
        return None
    found = [row for row in rows if is_found(row)]
    amounts = sorted({row["case"].get("percent", row["case"].get("ns", 0) / 1000) for row in rows})
    unit = "%" if "percent" in rows[0]["case"] else "µs"
    times = format_duration(median(map(time_to_verdict, found)))
    covered = sum(map(covers_truth, rows))
    return [f"Does it find {amounts[0]:g} to {amounts[-1]:g} {unit} that was planted in {where}?", f"In {len(found)} of {len(rows)} runs, after {times} (median). {covered} of {len(rows)} intervals hold the truth."]


def compared_line(where, rows):
    if not rows:
        return None
    decided = sum(row["verdict"] in DECIDED_VERDICTS for row in rows)
    first = format_duration(median(row.get("verdict_s") for row in rows))
    share = min(largest_overlap(runs) for _, runs in group_by_case(rows))
    agreement = "All intervals of a load agree." if share == 1 else f"At least {format_percent(share, 0)} of the intervals of a load agree."
    width, end = format_percent(median(map(half_width, rows)), 1), format_duration(median(row["run"]["duration_s"] for row in rows))
    return [f"Does a question about a layer of http4s get the same answer again, {where}?", f"{decided} of {len(rows)} runs decided, the first verdict after {first}, half-width {width} after {end} (medians). {agreement}"]


def sequential_line(rows, by_tare):
    """How many times longer one start after the other takes, for CPU per request."""
    times = {}
    for case, pairs in group_by_case(rows):
        ours = [row for row in by_tare if row["case"] == case and half_width(row)]
        if len(pairs) < 3 or not ours:
            continue
        needed = pairs_needed(statistics.stdev(log_ratios(pairs)), median(map(half_width, ours)))
        if needed:
            each = sum(row["run"]["duration_s"] for row in pairs) / len(pairs)
            times[burners_text(case)] = needed * each / median(row["run"]["duration_s"] for row in ours)
    if not times:
        return None
    quiet = times.pop("nothing", None)
    words = [f"{quiet:.1f} times as long beside nothing" if quiet else "", f"{min(times.values()):.1f} to {max(times.values()):.0f} times as long beside other programs" if times else ""]
    return ["How long does one start after the other take for the same interval?", f"{', '.join(word for word in words if word)} (CPU per request)."]


def releases_line(rows):
    if not rows:
        return None
    differing = [row for row in rows if row["case"]["differs"]]
    same = [row for row in rows if not row["case"]["differs"]]
    found, below = sum(map(checks.is_found, differing)), sum(map(checks.is_below_limits, differing))
    alarms = sum(map(checks.is_false_alarm, same))
    return ["Does `tare check` see what a release changed, and nothing else?", f"{found} of {len(differing)} changes found, {below} below the limits. {alarms} false alarms in {len(same)} checks without a change."]


def planted_check_line(rows):
    if not rows:
        return None
    regressed = [row for row in rows if row["outcome"] == "regressed"]
    time = format_duration(median(row["run"]["duration_s"] for row in regressed))
    amounts = sorted({row["case"]["ns"] / 1000 for row in rows})
    return [f"Does it see {' or '.join(f'{amount:g}' for amount in amounts)} µs that was planted in a handler of http4s?", f"{len(regressed)} of {len(rows)} checks say *regressed*, after {time} (median)."]
