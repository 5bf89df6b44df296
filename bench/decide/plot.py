"""The plot of docs/DECIDE.md: time to the verdict by planted slowdown, and half-width by time, on logarithmic axes."""

import math
import statistics
from xml.sax.saxutils import escape

from .figures import half_width, is_found, log_ratios, planted_ratio, sequential_half_width, time_to_verdict

PANEL = (440, 316)
MARGIN = {"left": 62, "right": 20, "top": 92, "bottom": 44}
FONT = 'font-family="system-ui, sans-serif" font-size="12"'
INK, GRID = "#111827", "#e5e7eb"
# Told apart by the colour-blind too.
COLOURS = ["#0b62c4", "#d1660a", "#0f766e", "#a21caf", "#6b7280", "#111827"]
# Pairs of starts that the curve of the sequential method is drawn for.
PAIRS = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]


def svg(rows):
    """Both panels; None without rows."""
    drawn = [part for part in (verdicts(rows["planted"]), widths(rows)) if part]
    if not drawn:
        return None
    width, height = PANEL[0] * len(drawn), PANEL[1]
    parts = [f'<g transform="translate({PANEL[0] * at} 0)">{part}</g>' for at, part in enumerate(drawn)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {FONT}>'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def verdicts(rows):
    """A point for each run that found what was planted."""
    series = {}
    for row in filter(is_found, rows):
        series.setdefault(beside(row["case"]["server"], row), []).append((100 * (planted_ratio(row) - 1), time_to_verdict(row)))
    return panel("Time to the verdict, s", "planted slowdown, %", series, {})


def widths(rows):
    """A point for each run, and the sequential method's half-width as a curve; None without that method."""
    series, pairs = {}, {}
    for part, name in (("aa", "tare, A/A"), ("compare", "tare")):
        for row in filter(half_width, rows[part]):
            series.setdefault(beside(name, row), []).append((row["run"]["duration_s"], 100 * half_width(row)))
    for row in rows["sequential"]:
        pairs.setdefault(beside("25 s + 25 s, in sequence", row), []).append(row)
    curves = {name: sequential_curve(some) for name, some in pairs.items() if len(some) >= 3}
    return panel("Half-width of the interval, %", "time, s", series, curves) if curves else None


def beside(name, row):
    """The name of a series, with the programs that ran beside it."""
    burners, is_in_bursts = row["case"]["burners"], "burst_s" in row["case"]
    return name + (f", {burners} burners{' in bursts' if is_in_bursts else ''}" if burners else "")


def sequential_curve(pairs):
    """Time and half-width, in percent, of more and more pairs of starts."""
    sd = statistics.stdev(log_ratios(pairs))
    each = statistics.mean(row["run"]["duration_s"] for row in pairs)
    return [(each * count, 100 * sequential_half_width(sd, count)) for count in PAIRS]


def panel(title, axis, points, curves):
    """Points and curves with their legend, or None where there are none."""
    every = [point for some in (*points.values(), *curves.values()) for point in some]
    if not every:
        return None
    across = scale([x for x, _ in every], MARGIN["left"], PANEL[0] - MARGIN["right"])
    up = scale([y for _, y in every], PANEL[1] - MARGIN["bottom"], MARGIN["top"])
    bottom, right = PANEL[1] - MARGIN["bottom"], PANEL[0] - MARGIN["right"]
    parts = [text(MARGIN["left"], 18, title, 'font-weight="600"'), text((MARGIN["left"] + right) / 2, PANEL[1] - 8, axis, 'text-anchor="middle"')]
    for value in ticks(x for x, _ in every):
        parts.append(line(across(value), MARGIN["top"], across(value), bottom, GRID) + text(across(value), bottom + 17, f"{value:g}", 'text-anchor="middle"'))
    for value in ticks(y for _, y in every):
        parts.append(line(MARGIN["left"], up(value), right, up(value), GRID) + text(MARGIN["left"] - 6, up(value) + 4, f"{value:g}", 'text-anchor="end"'))
    x, y = MARGIN["left"], 38
    for at, (name, some) in enumerate([*points.items(), *curves.items()]):
        colour = COLOURS[at % len(COLOURS)]
        if name in curves:
            way = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in some)
            parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        else:
            parts.extend(dot(across(a), up(b), colour, 0.6) for a, b in some)
        width = 32 + 6.2 * len(name)
        if x + width > PANEL[0]:
            x, y = MARGIN["left"], y + 17
        parts.append(dot(x + 4, y - 4, colour, 1) + text(x + 13, y, name))
        x += width
    return "".join(parts)


def scale(values, start, end):
    """From a value to its place on a logarithmic axis, with room at both ends."""
    low, high = math.log(min(values) / 1.2), math.log(max(values) * 1.2)
    return lambda value: start + (end - start) * (math.log(value) - low) / (high - low)


def ticks(values):
    """1, 2, 5, 10, 20, 50 … within the range of the values; finer ones where fewer than two of these are."""
    values = list(values)
    low, high = min(values) / 1.2, max(values) * 1.2
    steps = lambda factors: [factor * 10**power for power in range(-3, 7) for factor in factors if low <= factor * 10**power <= high]
    coarse = steps((1, 2, 5))
    return coarse if len(coarse) > 1 else steps((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))


def dot(x, y, colour, opacity):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="{opacity}"/>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}" {more}>{escape(words)}</text>'
