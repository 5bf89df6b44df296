"""Writes docs/SOAK.md and its plot from the samples."""

import pathlib
import statistics
import sys

from bench.decide.plot import COLOURS, FONT, GRID, dot, line, text
from bench.wrap_prose import wrap

PAGE = pathlib.Path("docs/SOAK.md")
PICTURE = pathlib.Path("docs/images/soak.svg")
SIZE = (640, 300)
MARGIN = {"left": 62, "right": 20, "top": 56, "bottom": 44}
KINDS = {"memory_kib": "memory, KiB", "files": "open files", "threads": "threads"}
# Memory that grows by more than both of these counts as growth; less is noise of the allocator.
GROWTH_KIB = 1024
GROWTH_SHARE = 0.05
# A load keeps its intervals in memory until its end. Their number is limited, however long the load is.
KIB_PER_INTERVAL = 64

HEAD = f"""\
# Hours of load

`bench/soak/run` loads the built-in server at full rate and samples both programs. `bench/soak/run --document` writes this page from
`bench/soak/results.json`. No number is typed. *Early* is the median of the second quarter of the time, *late* that of the last. tare
keeps the intervals of a load until its end. Their number is limited, however long the load is, so up to {KIB_PER_INTERVAL} KiB for each are
no growth."""


def write(results):
    """Writes the page and the plot; returns 1 if a program has grown, a request failed, or the load failed."""
    rows = [row(results, name, kind) for name in program_names(results) for kind in KINDS]
    requests = results["requests"]
    is_right = results["exit_code"] == 0 and requests["failed"] == 0
    facts = (
        f"{results['minutes']:g} min, {results['users']} users, {results['date']}, revision {results['revision']}: {requests['ok']:,} requests "
        f"answered, {requests['failed']:,} failed, {requests['ok'] / results['minutes'] / 60:,.0f}/s; exit code {results['exit_code']}; "
        f"{results['intervals']} intervals; a record of {results['record_bytes'] / 2**20:.1f} MiB."
    )
    table = ["| program | what | early | late | largest | grown |", "|---|---|---:|---:|---:|---|", *(cells for cells, _ in rows)]
    page = "\n\n".join([HEAD, facts, "\n".join(table), f"![Memory over time](images/{PICTURE.name})"])
    PAGE.write_text(wrap(page) + "\n", encoding="utf-8")
    PICTURE.write_text(render_svg(results), encoding="utf-8")
    print(f"{facts}\nwritten: {PAGE} {PICTURE}", file=sys.stderr)
    return 0 if is_right and not any(has_grown for _, has_grown in rows) else 1


def program_names(results):
    return [name for name in results["rows"][0] if name != "s"]


def row(results, name, kind):
    """A row of the table, and whether the program has grown."""
    values = [sample[name][kind] for sample in results["rows"]]
    quarter = max(1, len(values) // 4)
    early, late = statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])
    # Half of the intervals are recorded between `early` and `late`.
    kept_kib = KIB_PER_INTERVAL * results["intervals"] / 2 if name == "tare load" else 0
    limit = early + (max(GROWTH_KIB, GROWTH_SHARE * early) + kept_kib if kind == "memory_kib" else 0)
    has_grown = late > limit
    return f"| {name} | {KINDS[kind]} | {early:,.0f} | {late:,.0f} | {max(values):,} | {'**yes**' if has_grown else 'no'} |", has_grown


def render_svg(results):
    """Memory of both programs over time, on linear axes from zero."""
    minutes = [sample["s"] / 60 for sample in results["rows"]]
    curves = {name: [sample[name]["memory_kib"] / 1024 for sample in results["rows"]] for name in program_names(results)}
    right, bottom = SIZE[0] - MARGIN["right"], SIZE[1] - MARGIN["bottom"]
    longest, most = max(minutes) or 1, 1.1 * max(max(values) for values in curves.values())
    across = lambda value: MARGIN["left"] + (right - MARGIN["left"]) * value / longest
    up = lambda value: bottom - (bottom - MARGIN["top"]) * value / most
    parts = [text(MARGIN["left"], 18, "Memory, MiB", 'font-weight="600"'), text((MARGIN["left"] + right) / 2, SIZE[1] - 8, "time, min", 'text-anchor="middle"')]
    for value in ticks(longest):
        parts += [line(across(value), MARGIN["top"], across(value), bottom, GRID), text(across(value), bottom + 17, f"{value:g}", 'text-anchor="middle"')]
    for value in ticks(most):
        parts += [line(MARGIN["left"], up(value), right, up(value), GRID), text(MARGIN["left"] - 6, up(value) + 4, f"{value:g}", 'text-anchor="end"')]
    x = MARGIN["left"]
    for colour, (name, values) in zip(COLOURS, curves.items()):
        path = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(minutes, values))
        parts += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', dot(x + 4, 35, colour, 1), text(x + 13, 39, name)]
        x += 32 + 6.2 * len(name)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE[0]}" height="{SIZE[1]}" viewBox="0 0 {SIZE[0]} {SIZE[1]}" {FONT}>'
    return "\n".join([head, f'<rect width="{SIZE[0]}" height="{SIZE[1]}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def ticks(most):
    """Four to nine round values from zero up to `most`."""
    step = next(step for power in range(-3, 7) for step in (10**power, 2 * 10**power, 5 * 10**power) if most / step <= 9)
    return [step * number for number in range(int(most / step) + 1)]
