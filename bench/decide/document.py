"""Writes docs/DECIDE.md and its plot from the rows."""

import json
import math
import pathlib
import statistics
import sys

from . import checks, plot
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
from .parts import BASE_NS, NATIVE_FLAGS
from .rows import Rows

PAGE = pathlib.Path("docs/DECIDE.md")
PICTURE = pathlib.Path("docs/images/decide.svg")

HEAD = """\
# How quickly and how truthfully tare decides

`bench/decide/run document` writes this page from `bench/decide/results`. No number is typed. Terms are defined in
[GLOSSARY.md](GLOSSARY.md), and the method in [METHOD.md](METHOD.md)."""

REPLAY = """\
## False verdicts in simulated runs of a server against itself

A simulated run looks after each fork from the third on, up to its declared forks. Where it may continue, it goes on for as
many forks again. The code that judges real runs judges it: interval, verdict and stop rule. Looks after the stop count too.
Odd forks are left out and replaced, as in a real run.
Forks come from known distributions, or from the forks and rounds of records. Two forks of one recorded comparison differ as two
starts of one server do. Their difference, divided by √2, is a fork whose true difference is 0. With a prior, every 100 runs have
one that is fitted to 20 earlier runs of the same source.

"Interval" is the share of runs in which the interval of any look misses the truth. It holds when it is at most α plus three
standard errors. "Verdict" is the share in which any look says "different": an interval that misses 0 may still lie inside
the region."""

AA = f"""\
## Real runs of a server against itself

Each run has its own seed. "In time" means within {DECISION_TARGET_S // 60} minutes."""

PLANTED = f"""\
## Planted slowdowns

"Found" means a verdict of the right sign. Its time is that of the first verdict; of runs with seeds below 101 only the
time at which they ended is known. "True" is what was planted, as a share of the baseline's CPU per request in the same
run; "covered" is the share of intervals that contain it. The reference server burns {BASE_NS / 1000:g} µs of CPU for a request, and so
many percent more. It ran with `{' '.join(NATIVE_FLAGS)}`.
In a handler of http4s, a loop of a fixed number of steps times one of its runs in sixteen. Cores are below full speed for a good
part of the time, so it costs more than on the idle machine where its steps were chosen."""

SEQUENTIAL = """\
## One start after the other

The articles' method: 25 s of warm-up and 25 s of load for each server, one start after the other, and Student's 95 %
interval over pairs of starts. The table states how long this takes for the median half-width of tare's runs, by the CPU of a
request and by throughput, which is what the articles compare. *Burners* are programs that use a core each: all the time, or in
bursts and rests of random length, as other guests of a machine do. They cost throughput, and hardly change the CPU of a request: it
needs the same CPU when it waits longer. But a warm-up of 25 s can then end before the compilers have, and they compile during the load;
so can one on a slow day of the machine. A day on which both methods were measured has rows of its own. The curves of the plot are of
all days together, so that of a load that was measured on fast days alone can lie below a quieter one.
tare's interval holds however often one looks, and looks after each start. Student's holds for a number of pairs that was fixed before.
The deviation of so few pairs is itself uncertain."""

COMPARED = f"""\
## The same question again and again

What a layer costs, each time on a seed of its own and with a budget of {DECISION_TARGET_S // 60} minutes. The last two columns state whether the
run has a verdict, and how many of its starts count. The first verdict comes before the end: a run goes on until the size is known
to ± 4 % or a quarter of it. "Baseline" is the CPU of a request to the vanilla server: machines
differ, and one machine is not equally fast on all days. A slower one has longer starts and more scatter. Rows of before
2026-11-27 do not name their processor. Seeds from 101 on ran with servers that alternate in
turns while they warm up, and with twelve rounds in a start. Builds are not in the time. `bench/decide/run judge compare` judges
older records by the program of today; they stopped by the rules of their own day."""

COMPARED_HEADINGS = ["seed", "day", "processor", "baseline", "change", "interval", "half-width", "first verdict", "time", "verdict", "starts"]

CHECKS = f"""\
## Checks of releases and of empty commits

`tare check` with the limits `{checks.LIMITS}`, each time with a budget of five minutes. Pairs of releases were chosen from what changed
in the code between them, before they were measured: `bench/decide/releases.toml` says why. An empty commit is the last commit beside
itself. A change is found where a limit says *regressed* or *improved*. It is below the limits where they all say *no material change*:
the code differs, and a request costs the same. A false alarm is *regressed* without a change. Allocation of long uploads is not
measured: G1 does not count objects of half a region or more. Since 2026-11-27 brackets are 90 % intervals, by which a limit is
judged; those of earlier days have 95 %. The last column is the time until the check ended; a check also ends when
its budget does.

Each check starts the baseline a second time (A/A control). That start and an empty commit should cost what the baseline does: the second
table has the mean of their CPU per request, with its standard error. Checks with seeds below {checks.FIRST_RANDOM_ORDER_SEED} loaded the baseline first in the rounds of a
warm-up that have no turns."""

PLANTED_CHECKS = f"""\
## Checks of a planted cost

`tare check` of http4s beside itself with a busy loop in its handler, with the limit `{checks.PLANTED_LIMIT}`. "True" is what the loop has cost, as a share of the
baseline's CPU per request in the same check. "In time" means *regressed* within {checks.PLANTED_TARGET_S // 60} minutes. Seeds up to 103 ran
when even a single limit needed the interval at α to be *regressed*; the brackets are those at 2 α, by which it is judged since."""

FAMILIES = """\
## Scheduling and warm-up by family

One start of both servers of a family for each seed, with all arms in turn. "batch" and "normal" are policies of the servers' threads;
"pinned" is batch with the warm-up on the server's cores alone. The ratio is that of CPU per request. "Compilers" is the time of
the compiler threads of both servers in the warm-up: on a core, and waiting for one. "Done" is when they needed less than 2 % of the
time. Figures are medians over starts, with the smallest and the largest where there are several."""


def write():
    """Writes the page, and the plot if there is data for it."""
    rows = {part: Rows(part).read_all() for part in ("aa", "planted", "sequential", "compare", "families")}
    measured = [aa_section(rows["aa"]), comparison_section(rows["compare"]), planted_section(rows["planted"]), sequential_section(rows["sequential"], rows["compare"])]
    sections = [HEAD, replay_section(), *measured, checks_section(Rows(checks.PART).read_all()), planted_checks_section(Rows(checks.PLANTED_PART).read_all()), families_section(rows["families"])]
    picture = plot.render_svg(rows)
    if picture:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(picture, encoding="utf-8")
        sections.insert(1, f"![Time to the verdict by planted slowdown, and half-width by time](images/{PICTURE.name})")
        print(f"written: {PICTURE}", file=sys.stderr)
    PAGE.write_text("\n\n".join(section for section in sections if section) + "\n", encoding="utf-8")
    print(f"written: {PAGE}", file=sys.stderr)


def replay_section():
    file = Rows("replay").file.with_suffix(".json")
    if not file.exists():
        return None
    rows = json.loads(file.read_text(encoding="utf-8"))
    headings = ["forks drawn from", "declared", "α", "interval", "with a prior", "verdict", "with a prior", "at most"]
    lines = []
    for row in rows:
        if row["with_prior"]:
            continue
        same = lambda other: all(other[key] == row[key] for key in ("source", "alpha", "max_forks"))
        other = next(other for other in rows if other["with_prior"] and same(other))
        source = f"{row['source']} ({row['forks']} forks, {row['comparisons']} comparisons)" if row["forks"] else row["source"]
        declared = f"{row['max_forks']}{', may continue' if row['may_continue'] else ''}"
        shares = [format_percent(figure, 1) for figure in (row["missed"], other["missed"], row["any_look"], other["any_look"], row["limit"])]
        lines.append([source, declared, f"{row['alpha']:g}", *shares])
    failed = [row for row in rows if not row["holds"]]
    runs = f"{rows[0]['runs']:,} runs for each figure. " if rows else ""
    words = "All rows hold." if not failed else f"{len(failed)} of {len(rows)} do not hold."
    return f"{REPLAY}\n\n{runs}{words}\n\n{markdown_table(headings, lines)}"


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


def comparison_section(rows):
    parts = []
    for case, runs in group_by_case(rows):
        decided = sum(row["verdict"] in DECIDED_VERDICTS for row in runs)
        share = largest_overlap(runs)
        what = f"{case['server']} on {case['baseline']}, {case['scenario']}" + (f", beside {burners_text(case)}" if case["burners"] else "")
        overlap = "All intervals have a value in common." if share == 1 else f"At most {format_percent(share, 0)} of the intervals have a value in common."
        words = f"**{what}:** {decided} of {len(runs)} runs decided. {overlap} Half-width, median: {format_percent(median(map(half_width, runs)), 1)}."
        parts.append(f"{words}\n\n{markdown_table(COMPARED_HEADINGS, [comparison_row(row) for row in runs])}")
    return parts and "\n\n".join([COMPARED, *parts])


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


def sequential_section(rows, by_tare):
    headings = ["comparison", "beside", "day", "figure", "pairs", "mean", "deviation", "tare: runs", "median", "half-width", "time", "sequential: pairs needed", "time", "times longer"]
    lines = []
    for case, pairs in group_by_case(rows):
        tare_rows = [row for row in by_tare if row["case"] == case]
        comparison = f"{case['server']} on {case['baseline']}, {case['scenario']}"
        for figure, select in (("CPU per request", list), ("throughput", with_throughput_figures)):
            by_day = sequential_rows_by_day(select(pairs), [row for row in select(tare_rows) if half_width(row)])
            lines.extend([comparison, burners_text(case), day, figure, *line] for day, line in by_day)
    return lines and f"{SEQUENTIAL}\n\n{markdown_table(headings, lines)}"


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


def checks_section(rows):
    headings = ["day", "processor", "server", "scenario", "from", "to", "differs", "CPU per request", "allocated per request", "outcome", "time"]
    lines = []
    for row in rows:
        case, limits = row["case"], {limit["currency"]: limit for limit in row["limits"]}
        limit_texts = [limit_text(limits.get(currency)) for currency in ("cpu_per_request", "allocated_per_request")]
        differs = "yes" if case["differs"] else "no"
        where = [*day_and_processor(row), case["server"], case["scenario"], case["old"], case["new"], differs]
        lines.append([*where, *limit_texts, row["outcome"], format_duration(row["run"]["duration_s"])])
    differing = [row for row in rows if row["case"]["differs"]]
    same = [row for row in rows if not row["case"]["differs"]]
    found, alarms = sum(map(checks.is_found, differing)), sum(map(checks.is_false_alarm, same))
    small = sum(map(checks.is_below_limits, differing))
    words = f"{found} of {len(differing)} changes found, {small} below the limits. {alarms} false alarms in {len(same)} checks without a change."
    return rows and f"{CHECKS}\n\n**{words}**\n\n{markdown_table(headings, lines)}\n\n{equality_table(rows)}"


def planted_checks_section(rows):
    headings = ["planted", "beside", "seed", "day", "processor", "true", "CPU per request", "outcome", "time"]
    parts = []
    for case, runs in group_by_case(rows):
        regressed = [row for row in runs if row["outcome"] == "regressed"]
        in_time = sum(row["run"]["duration_s"] <= checks.PLANTED_TARGET_S for row in regressed)
        covered = sum(covers_truth({**row["limits"][0], **row}) for row in runs)
        times = format_duration(median(row["run"]["duration_s"] for row in regressed))
        words = f"**{planted_amount(case)}:** {len(regressed)} of {len(runs)} regressed, {in_time} in time (median {times}); {covered} intervals hold the truth."
        lines = []
        for row in runs:
            figures = [format_percent(planted_ratio(row) - 1, 1), limit_text(row["limits"][0]), row["outcome"], format_duration(row["run"]["duration_s"])]
            lines.append([planted_amount(case), burners_text(case), str(row["seed"]), *day_and_processor(row), *figures])
        parts.append(f"{words}\n\n{markdown_table(headings, lines)}")
    return parts and "\n\n".join([PLANTED_CHECKS, *parts])


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


def families_section(rows):
    headings = ["family", "arm", "starts", "ratio", "switches/request, baseline", "compilers: on a core", "waiting", "done after", "steady after"]
    lines = []
    for case, starts in sorted(group_by_case(rows), key=lambda one: one[0]["family"]):
        figures = [
            median_and_range([row["ratio"] for row in starts], "{:.3f}"),
            median_and_range([next(iter(row["warm"]["switches_per_request"].values())) for row in starts], "{:.2f}"),
            *(median_and_range([row["warm"][key] for row in starts], "{:.0f} s") for key in ("compiler_cpu_s", "compiler_waiting_s", "compilers_done_s", "warmup_s")),
        ]
        lines.append([case["family"], case["arm"], str(len(starts)), *figures])
    return lines and f"{FAMILIES}\n\n{markdown_table(headings, lines)}"


def median_and_range(values, form):
    """The median, and the range if its ends differ after formatting."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    middle, lowest, highest = (form.format(value) for value in (statistics.median(known), min(known), max(known)))
    return middle if lowest == highest else f"{middle} ({lowest} to {highest})"


def group_by_case(rows):
    """The rows of each case, in the order in which the cases were first measured."""
    groups = {}
    for row in rows:
        groups.setdefault(json.dumps(row["case"], sort_keys=True), []).append(row)
    return [(some[0]["case"], some) for some in groups.values()]


def day_and_processor(row):
    """Cells for when and where a row was measured. Older rows do not name the processor."""
    processor = row["run"].get("processor", "–").replace("(R)", "").removesuffix(" Processor")
    return [day_of(row), processor]


def day_of(row):
    return row["run"]["started_at"][:10]


def markdown_table(headings, lines):
    line = lambda cells: f"| {' | '.join(cells)} |"
    return "\n".join([line(headings), line(["---"] * len(headings)), *map(line, lines)])


def format_percent(share, digits):
    return "–" if share is None else f"{share * 100:.{digits}f} %".replace("-", "−")


def format_duration(time):
    if time is None:
        return "–"
    return f"{time:.0f} s" if time < 90 else f"{time / 60:.1f} min" if time < 5_400 else f"{time / 3_600:.1f} h"
