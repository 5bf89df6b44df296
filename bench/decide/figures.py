"""What the rows come to: medians, coverage, and the time that a precision takes."""

import math
import statistics

# A/A runs and planted slowdowns are asked to be decided within these times, in seconds.
WITHIN_S = 300
# The 97.5 % quantile of Student's t, by degrees of freedom; beyond the last it is nearly that of the normal distribution.
T975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086]
DECIDED = ("worse", "better", "no_material_difference")


def half_width(row):
    """Half the length of the interval on the scale of logarithms; None without an interval."""
    if row["lo"] is None or row["hi"] is None or row["lo"] <= 0:
        return None
    return math.log(row["hi"] / row["lo"]) / 2


def median(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def planted_ratio(row):
    """The true ratio of CPU per request: what was planted is a share of what the baseline used in this run. The loop of a JVM
    server timed itself meanwhile. That of the reference server is a share of another loop, and both have the speed of the core."""
    case = row["case"]
    planted_ns = row["planted_ns"] if "ns" in case else case["percent"] / 100 * case["base_ns"]
    return 1 + planted_ns / row["baseline_value"]


def covers(row):
    return row["lo"] is not None and row["lo"] <= planted_ratio(row) <= row["hi"]


def time_to_verdict(row):
    """Seconds to the first verdict; of older rows, to the end of the run."""
    return row.get("verdict_s") or row["run"]["duration_s"]


def is_found(row):
    """Whether the run ends with a verdict of the right sign."""
    return row["verdict"] == "worse"


def sequential_half_width(sd, pairs):
    """Student's 95 % half-width of so many pairs of starts."""
    return t975(pairs - 1) * sd / math.sqrt(pairs)


def pairs_needed(sd, wanted):
    """How many pairs of starts, one after the other, are as precise as `wanted`."""
    return next((pairs for pairs in range(2, 10_000) if sequential_half_width(sd, pairs) <= wanted), None)


def share_that_overlaps(rows):
    """The largest share of the intervals that have a value in common."""
    intervals = [(row["lo"], row["hi"]) for row in rows if half_width(row)]
    if not intervals:
        return 0
    return max(sum(lo <= at <= hi for lo, hi in intervals) for at, _ in intervals) / len(intervals)


def t975(df):
    return T975[df - 1] if df <= len(T975) else 1.96 + 2.4 / df


def log_ratios(rows):
    return [math.log(row["ratio"]) for row in rows]


def by_throughput(rows):
    """The same rows with the figures of throughput; those that have none are left out."""
    known = [row for row in rows if row.get("throughput", {}).get("ratio")]
    return [{**row, **row["throughput"]} for row in known]
