"""Writes docs/DECIDE.md, its plot, and the tables in full as CSV files beside the rows."""

import csv
import json
import math
import pathlib
import statistics
import sys

from ..wrap_prose import wrap
from . import checks, overview, plot
from .explanations import AA, CHECKS, COMPARED, DATA, EQUALITY, HEAD, PLANTED, PLANTED_CHECKS, REPLAY, SEQUENTIAL
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
    planted_ratio,
    time_to_verdict,
    with_throughput_figures,
)
from .rows import FOLDER, Rows
from .text import day_and_processor, day_of, format_duration, format_percent, group_by_case, markdown_table

PAGE = pathlib.Path("docs/DECIDE.md")
PICTURE = pathlib.Path("docs/images/decide.svg")
README = pathlib.Path("README.md")
# Between these lines stands the claim of the first screen.
MARKS = ("<!-- bench/decide writes this line -->\n", "\n<!-- /bench/decide -->")

COMPARED_HEADINGS = ["seed", "day", "processor", "baseline", "change", "interval", "half-width", "first verdict", "time", "verdict", "starts"]


def write():
    """Writes the page, the claim of the README, the plot if there is data for it, and the CSV files."""
    rows = read_rows()
    README.write_text(with_claim(README.read_text(encoding="utf-8"), rows), encoding="utf-8")
    picture = plot.render_svg(rows)
    image = f"![Time to the verdict by planted slowdown, and half-width by time](images/{PICTURE.name})" if picture else None
    if picture:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(picture, encoding="utf-8")
        print(f"written: {PICTURE}", file=sys.stderr)
    sections = [
        HEAD,
        overview.section(rows),
        image,
        DATA,
        replay_section(rows["replay"]),
        aa_section(rows["aa"]),
        comparison_section(rows["compare"]),
        planted_section(rows["planted"]),
        sequential_section(rows["sequential"], rows["compare"]),
        checks_section(rows["checks"]),
        planted_checks_section(rows["planted_checks"]),
    ]
    text = "\n\n".join(section for section in sections if section)
    PAGE.write_text(wrap(text) + "\n", encoding="utf-8")
    print(f"written: {PAGE}", file=sys.stderr)
    write_data_files(rows)


def read_rows():
    """The rows of every part."""
    rows = {part: Rows(part).read_all() for part in ("aa", "planted", "sequential", "compare")}
    rows["checks"], rows["planted_checks"] = Rows(checks.PART).read_all(), Rows(checks.PLANTED_PART).read_all()
    replay_file = Rows("replay").file.with_suffix(".json")
    rows["replay"] = json.loads(replay_file.read_text(encoding="utf-8")) if replay_file.exists() else []
    return rows


def with_claim(readme, rows):
    """The README with the claim of these rows."""
    before, rest = readme.split(MARKS[0], 1)
    after = rest.split(MARKS[1], 1)[1]
    return before + MARKS[0] + wrap(overview.claim(rows) or "") + MARKS[1] + after


def write_data_files(rows):
    """Writes the tables in full."""
    tables = {
        "replay": replay_table(rows["replay"]),
        "compare": (["comparison", "beside", *COMPARED_HEADINGS], comparison_lines(rows["compare"])),
        "sequential": (SEQUENTIAL_HEADINGS, sequential_lines(rows["sequential"], rows["compare"])),
        "checks": checks_table(rows["checks"]),
        "planted-checks": planted_checks_table(rows["planted_checks"]),
    }
    for name, (headings, lines) in tables.items():
        file = FOLDER / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([headings, *lines])
        print(f"written: {file}", file=sys.stderr)


def replay_pairs(rows):
    """Each simulated case without a prior, with the same case with one."""
    for row in rows:
        if not row["with_prior"]:
            same = lambda other: all(other[key] == row[key] for key in ("source", "alpha", "max_forks"))
            yield row, next(other for other in rows if other["with_prior"] and same(other))


def source_text(row):
    return f"{row['source']} ({row['forks']} forks, {row['comparisons']} comparisons)" if row["forks"] else row["source"]


def replay_table(rows):
    headings = ["forks drawn from", "declared", "α", "interval", "with a prior", "verdict", "with a prior", "at most"]
    lines = []
    for row, other in replay_pairs(rows):
        declared = f"{row['max_forks']}{', may continue' if row['may_continue'] else ''}"
        shares = [format_percent(figure, 1) for figure in (row["missed"], other["missed"], row["any_look"], other["any_look"], row["limit"])]
        lines.append([source_text(row), declared, f"{row['alpha']:g}", *shares])
    return headings, lines


def replay_section(rows):
    if not rows:
        return None
    sources = {}
    for row, other in replay_pairs(rows):
        if row["alpha"] == 0.05:
            sources.setdefault(source_text(row), []).append((row["missed"], other["missed"], row["any_look"], other["any_look"], row["limit"]))
    lines = [[source, *(format_percent(max(shares), 1) for shares in zip(*some))] for source, some in sources.items()]
    failed = [row for row in rows if not row["holds"]]
    words = "All rows hold, also those of α = 0.01." if not failed else f"{len(failed)} of {len(rows)} rows do not hold."
    headings = ["forks drawn from", "interval", "with a prior", "verdict", "with a prior", "at most"]
    return f"{REPLAY}\n\n{rows[0]['runs']:,} runs for each figure. {words}\n\n{markdown_table(headings, lines)}"


def aa_section(rows):
    headings = ["server", "beside", "runs", "different", "no material difference", "of these in time", "half-width, median", "time, median"]
    lines = []
    for case, runs in group_by_case(rows):
        same = [row for row in runs if row["verdict"] == "no_material_difference"]
        different = [row for row in runs if row["verdict"] in ("worse", "better")]
        in_time = [row for row in same if row["run"]["duration_s"] <= DECISION_TARGET_S]
        figures = [format_percent(median(map(half_width, runs)), 1), format_duration(median(row["run"]["duration_s"] for row in runs))]
        lines.append([case["server"], burners_text(case), *(str(len(some)) for some in (runs, different, same, in_time)), *figures])
    return lines and f"{AA}\n\n{markdown_table(headings, lines)}"


def comparison_text(case):
    return f"{case['server']} on {case['baseline']}, {case['scenario']}"


def comparison_section(rows):
    headings = ["comparison", "beside", "runs", "decided", "change, median", "half-width, median", "first verdict, median", "time, median", "intervals with a value in common"]
    lines = []
    for case, runs in group_by_case(rows):
        decided = sum(row["verdict"] in DECIDED_VERDICTS for row in runs)
        figures = [format_percent(median(row["ratio"] - 1 for row in runs), 1), format_percent(median(map(half_width, runs)), 1)]
        times = [format_duration(median(times)) for times in ((row.get("verdict_s") for row in runs), (row["run"]["duration_s"] for row in runs))]
        share = format_percent(largest_overlap(runs), 0)
        lines.append([comparison_text(case), burners_text(case), str(len(runs)), str(decided), *figures, *times, share])
    return lines and f"{COMPARED}\n\n{markdown_table(headings, lines)}"


def comparison_lines(rows):
    return [[comparison_text(row["case"]), burners_text(row["case"]), *comparison_row(row)] for row in rows]


def comparison_row(row):
    interval = f"{format_percent(row['lo'] - 1, 1)} to {format_percent(row['hi'] - 1, 1)}" if half_width(row) else "–"
    figures_of_run = [format_percent(row["ratio"] - 1, 1), interval, format_percent(half_width(row), 1), format_duration(row.get("verdict_s")), format_duration(row["run"]["duration_s"])]
    machine = [*day_and_processor(row), f"{row['baseline_value'] / 1000:.0f} µs"]
    return [str(row["seed"]), *machine, *figures_of_run, row["verdict"].replace("_", " "), str(row["forks"])]


def planted_section(rows):
    headings = ["server", "planted", "beside", "runs", "found", "time to the verdict, median", "slowest", "true, median", "estimate, median", "covered"]
    lines = []
    for case, runs in group_by_case(rows):
        found = [row for row in runs if is_found(row)]
        times = [time_to_verdict(row) for row in found]
        estimate = format_percent(median(row["ratio"] - 1 for row in runs), 1)
        true = format_percent(median(planted_ratio(row) - 1 for row in runs), 1)
        shares = [true, estimate, f"{sum(map(covers_truth, runs))} of {len(runs)}"]
        slowest = format_duration(max(times, default=None))
        found = f"{len(found)} of {len(runs)}"
        lines.append([case["server"], planted_amount(case), burners_text(case), str(len(runs)), found, format_duration(median(times)), slowest, *shares])
    return lines and f"{PLANTED}\n\n{markdown_table(headings, lines)}"


def planted_amount(case):
    """What was planted: a share, or the nominal CPU time of a loop of fixed length."""
    return f"{case['ns'] / 1000:g} µs" if "ns" in case else f"{case['percent']:g} %"


SEQUENTIAL_HEADINGS = ["comparison", "beside", "day", "figure", "pairs", "mean", "deviation", "tare: runs", "median", "half-width", "time", "sequential: pairs needed", "time", "times longer"]


def sequential_section(rows, by_tare):
    lines = sequential_lines(rows, by_tare)
    # A load that was measured on one day alone has no row of all days.
    days = {(line[0], line[1], line[3]): 0 for line in lines}
    for line in lines:
        days[line[0], line[1], line[3]] += 1
    shown = [line[:2] + line[3:] for line in lines if line[2] == "all" or days[line[0], line[1], line[3]] == 1]
    headings = SEQUENTIAL_HEADINGS[:2] + SEQUENTIAL_HEADINGS[3:]
    return shown and f"{SEQUENTIAL}\n\n{markdown_table(headings, shown)}"


def sequential_lines(rows, by_tare):
    """Cells for each load, day and figure."""
    lines = []
    for case, pairs in group_by_case(rows):
        tare_rows = [row for row in by_tare if row["case"] == case]
        for figure, select in (("CPU per request", list), ("throughput", with_throughput_figures)):
            by_day = sequential_rows_by_day(select(pairs), [row for row in select(tare_rows) if half_width(row)])
            lines.extend([comparison_text(case), burners_text(case), day, figure, *line] for day, line in by_day)
    return lines


def sequential_rows_by_day(pairs, tare_rows):
    """(day, cells) for each day on which both methods were measured; first over all days, if there are several."""
    days = sorted({day_of(row) for row in (*pairs, *tare_rows)})
    parts = [(day, [row for row in pairs if day_of(row) == day], [row for row in tare_rows if day_of(row) == day]) for day in days]
    if len(days) > 1:
        parts.insert(0, ("all", pairs, tare_rows))
    rows_by_day = [(day, sequential_row(pairs_of_day, tare_of_day)) for day, pairs_of_day, tare_of_day in parts]
    return [(day, cells) for day, cells in rows_by_day if cells]


def sequential_row(pairs, tare_rows):
    """Cells for how long the sequential method takes to reach the precision of tare's runs; None with too few measurements."""
    if len(pairs) < 3 or not tare_rows:
        return None
    sd, mean, tare_median = statistics.stdev(log_ratios(pairs)), statistics.mean(log_ratios(pairs)), median(log_ratios(tare_rows))
    wanted_half_width, tare_s = median(map(half_width, tare_rows)), median(row["run"]["duration_s"] for row in tare_rows)
    needed_pairs, pair_s = pairs_needed(sd, wanted_half_width), statistics.mean(row["run"]["duration_s"] for row in pairs)
    sequential_cells = [str(needed_pairs), format_duration(needed_pairs * pair_s), f"{needed_pairs * pair_s / tare_s:.1f}"] if needed_pairs else ["more than 10,000", "–", "–"]
    of_pairs = [str(len(pairs)), format_percent(math.expm1(mean), 1), format_percent(sd, 1)]
    of_tare = [str(len(tare_rows)), format_percent(math.expm1(tare_median), 1), format_percent(wanted_half_width, 1), format_duration(tare_s)]
    return [*of_pairs, *of_tare, *sequential_cells]


def checks_table(rows):
    headings = ["day", "processor", "server", "scenario", "from", "to", "differs", "CPU per request", "allocated per request", "outcome", "time"]
    lines = []
    for row in rows:
        case, limits = row["case"], {limit["currency"]: limit for limit in row["limits"]}
        limit_texts = [limit_text(limits.get(currency)) for currency in ("cpu_per_request", "allocated_per_request")]
        differs = "yes" if case["differs"] else "no"
        where = [*day_and_processor(row), case["server"], case["scenario"], case["old"], case["new"], differs]
        lines.append([*where, *limit_texts, row["outcome"], format_duration(row["run"]["duration_s"])])
    return headings, lines


def checks_section(rows):
    if not rows:
        return None
    is_empty_commit = lambda row: row["case"]["old"] == row["case"]["new"]
    kinds = {
        "releases that differ": [row for row in rows if row["case"]["differs"]],
        "releases that do not differ": [row for row in rows if not row["case"]["differs"] and not is_empty_commit(row)],
        "empty commits": list(filter(is_empty_commit, rows)),
    }
    lines = []
    for kind, some in ((kind, some) for kind, some in kinds.items() if some):
        found, below = sum(map(checks.is_found, some)), sum(map(checks.is_below_limits, some))
        counts = [len(some), found, below, len(some) - found - below, sum(map(checks.is_false_alarm, some))]
        lines.append([kind, *map(str, counts), format_duration(median(row["run"]["duration_s"] for row in some))])
    headings = ["what was checked", "checks", "found", "below the limits", "undecided", "false alarms", "time, median"]
    return f"{CHECKS}\n\n{markdown_table(headings, lines)}\n\n{EQUALITY}\n\n{equality_table(rows)}"


def planted_checks_table(rows):
    headings = ["planted", "beside", "seed", "day", "processor", "true", "CPU per request", "outcome", "time"]
    lines = []
    for row in rows:
        figures = [format_percent(planted_ratio(row) - 1, 1), limit_text(row["limits"][0]), row["outcome"], format_duration(row["run"]["duration_s"])]
        lines.append([planted_amount(row["case"]), burners_text(row["case"]), str(row["seed"]), *day_and_processor(row), *figures])
    return headings, lines


def planted_checks_section(rows):
    headings = ["planted", "beside", "checks", "true, median", "regressed", "in time", "time of these, median", "intervals that hold the truth"]
    lines = []
    for case, runs in group_by_case(rows):
        regressed = [row for row in runs if row["outcome"] == "regressed"]
        in_time = sum(row["run"]["duration_s"] <= checks.PLANTED_TARGET_S for row in regressed)
        covered = sum(covers_truth({**row["limits"][0], **row}) for row in runs)
        true = format_percent(median(planted_ratio(row) - 1 for row in runs), 1)
        time = format_duration(median(row["run"]["duration_s"] for row in regressed))
        lines.append([planted_amount(case), burners_text(case), str(len(runs)), true, str(len(regressed)), str(in_time), time, str(covered)])
    return lines and f"{PLANTED_CHECKS}\n\n{markdown_table(headings, lines)}"


def equality_table(rows):
    """The mean difference in cost between equal servers, by the order in which a warm-up loaded them."""
    is_random = lambda row: row["seed"] >= checks.FIRST_RANDOM_ORDER_SEED
    lines = []
    for order, some in (("baseline first", [row for row in rows if not is_random(row)]), ("random", list(filter(is_random, rows)))):
        controls = [row["control"] for row in some]
        empty = [row["limits"][0]["ratio"] for row in some if row["case"]["old"] == row["case"]["new"]]
        for what, ratios in (("second start of the baseline", controls), ("empty commit", empty)):
            logs = [math.log(ratio) for ratio in ratios if ratio]
            if len(logs) > 1:
                error = statistics.stdev(logs) / math.sqrt(len(logs))
                lines.append([what, order, str(len(logs)), f"{format_percent(statistics.mean(logs), 2)} ± {format_percent(error, 2)}"])
    return markdown_table(["what equals the baseline", "order in a warm-up", "checks", "CPU per request, mean"], lines)


def limit_text(limit):
    return f"{limit['short']}: {limit['verdict'].replace('_', ' ')}" if limit and limit["short"] else "–"
