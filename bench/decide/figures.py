"""Computes figures from rows: medians, coverage, and the time that a precision takes."""

import math
import statistics

# Runs should be decided within this time, in seconds.
DECISION_TARGET_S = 300
# The 97.5 % quantiles of Student's t for 1, 2, 3 … degrees of freedom; `student_t975` approximates the further ones.
STUDENT_T975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086]
DECIDED_VERDICTS = ("worse", "better", "no_material_difference")


def burners_text(case):
    """The burners during a run, in words."""
    if not case["burners"]:
        return "nothing"
    bursts = f", bursts of {case['burst_s']:g} s" if "burst_s" in case else ""
    return f"{case['burners']} burners{bursts}"


def half_width(row):
    """Half the width of the interval of ln(ratio); None without an interval."""
    if row["lo"] is None or row["hi"] is None or row["lo"] <= 0:
        return None
    return math.log(row["hi"] / row["lo"]) / 2


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def planted_ratio(row):
    """The true ratio of CPU per request: the planted cost relative to what the baseline used in this run. The loop of a JVM server
    timed itself during the run. The reference server burns by the clock of its CPU time, so its cost is the nominal one."""
    case = row["case"]
    planted_ns = row["planted_ns"] if "ns" in case else case["percent"] / 100 * case["base_ns"]
    return 1 + planted_ns / row["baseline_value"]


def covers_truth(row):
    return row["lo"] is not None and row["lo"] <= planted_ratio(row) <= row["hi"]


def time_to_verdict(row):
    """Seconds to the first verdict; in older rows, to the end of the run."""
    return row.get("verdict_s") or row["run"]["duration_s"]


def is_found(row):
    """Whether the run ends with a verdict of the right sign."""
    return row["verdict"] == "worse"


def sequential_half_width(sd, pairs):
    """Student's 95 % half-width for `pairs` pairs of starts whose log ratios have the standard deviation `sd`."""
    return student_t975(pairs - 1) * sd / math.sqrt(pairs)


def pairs_needed(sd, wanted):
    """The number of pairs of starts that reach the half-width `wanted`; None if 10,000 do not."""
    return next((pairs for pairs in range(2, 10_000) if sequential_half_width(sd, pairs) <= wanted), None)


def largest_overlap(rows):
    """The largest share of the intervals that have a value in common."""
    intervals = [(row["lo"], row["hi"]) for row in rows if half_width(row)]
    if not intervals:
        return 0
    return max(sum(lo <= at <= hi for lo, hi in intervals) for at, _ in intervals) / len(intervals)


def student_t975(degrees_of_freedom):
    return STUDENT_T975[degrees_of_freedom - 1] if degrees_of_freedom <= len(STUDENT_T975) else 1.96 + 2.4 / degrees_of_freedom


def log_ratios(rows):
    return [math.log(row["ratio"]) for row in rows]


def with_throughput_figures(rows):
    """The rows with the ratio and interval of throughput in place of the CPU's; rows without throughput are left out."""
    known = [row for row in rows if row.get("throughput", {}).get("ratio")]
    return [{**row, **row["throughput"]} for row in known]
