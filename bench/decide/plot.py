"""Draws the plot of docs/DECIDE.md: time to the verdict by planted slowdown, and half-width by time, on logarithmic axes."""

import math
import statistics
from xml.sax.saxutils import escape

from .figures import burners_text, half_width, is_found, log_ratios, planted_ratio, sequential_half_width, time_to_verdict

PANEL = (440, 316)
MARGIN = {"left": 62, "right": 20, "top": 92, "bottom": 44}
FONT = 'font-family="system-ui, sans-serif" font-size="12"'
INK, GRID = "#111827", "#e5e7eb"
# Colour-blind readers can tell these colours apart.
COLOURS = ["#0b62c4", "#d1660a", "#0f766e", "#a21caf", "#6b7280", "#111827"]
# Numbers of pairs at which the curve of the sequential method is drawn.
PAIRS = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]


def render_svg(rows):
    """The SVG with the panels that have data; None without any."""
    panels = [part for part in (verdict_panel(rows["planted"]), half_width_panel(rows)) if part]
    if not panels:
        return None
    width, height = PANEL[0] * len(panels), PANEL[1]
    parts = [f'<g transform="translate({PANEL[0] * index} 0)">{part}</g>' for index, part in enumerate(panels)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {FONT}>'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def verdict_panel(rows):
    """A point for each run that found what was planted."""
    series = {}
    for row in filter(is_found, rows):
        series.setdefault(f"{row['case']['server']} beside {burners_text(row['case'])}", []).append((100 * (planted_ratio(row) - 1), time_to_verdict(row)))
    return panel("Time to the verdict, s", "planted slowdown, %", series, {})


def half_width_panel(rows):
    """A point for each run, and the half-width of the sequential method as a curve; one colour for each load beside them. None without
    such a curve."""
    series, pairs = {}, {}
    for part, more in (("aa", ", A/A"), ("compare", "")):
        for row in filter(half_width, rows[part]):
            series.setdefault(burners_text(row["case"]) + more, []).append((row["run"]["duration_s"], 100 * half_width(row)))
    for row in rows["sequential"]:
        pairs.setdefault(burners_text(row["case"]), []).append(row)
    curves = {name: sequential_curve(some) for name, some in pairs.items() if len(some) >= 3}
    return panel("Half-width, % (points: tare, curves: in sequence)", "time, s", series, curves) if curves else None


def sequential_curve(pairs):
    """Points (seconds, half-width in percent) for increasing numbers of pairs."""
    sd = statistics.stdev(log_ratios(pairs))
    each = statistics.mean(row["run"]["duration_s"] for row in pairs)
    return [(each * count, 100 * sequential_half_width(sd, count)) for count in PAIRS]


def panel(title, axis, points, curves):
    """Points and curves with a legend; those of the same name share a colour. None without any."""
    all_points = [point for some in (*points.values(), *curves.values()) for point in some]
    if not all_points:
        return None
    x_of = scale([x for x, _ in all_points], MARGIN["left"], PANEL[0] - MARGIN["right"])
    y_of = scale([y for _, y in all_points], PANEL[1] - MARGIN["bottom"], MARGIN["top"])
    bottom, right = PANEL[1] - MARGIN["bottom"], PANEL[0] - MARGIN["right"]
    parts = [text(MARGIN["left"], 18, title, 'font-weight="600"'), text((MARGIN["left"] + right) / 2, PANEL[1] - 8, axis, 'text-anchor="middle"')]
    for value in ticks(x for x, _ in all_points):
        parts.append(line(x_of(value), MARGIN["top"], x_of(value), bottom, GRID) + text(x_of(value), bottom + 17, f"{value:g}", 'text-anchor="middle"'))
    for value in ticks(y for _, y in all_points):
        parts.append(line(MARGIN["left"], y_of(value), right, y_of(value), GRID) + text(MARGIN["left"] - 6, y_of(value) + 4, f"{value:g}", 'text-anchor="end"'))
    x, y = MARGIN["left"], 38
    for index, name in enumerate(dict.fromkeys([*points, *curves])):
        colour = COLOURS[index % len(COLOURS)]
        if name in curves:
            path = " ".join(f"{x_of(a):.1f},{y_of(b):.1f}" for a, b in curves[name])
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(dot(x_of(a), y_of(b), colour, 0.6) for a, b in points.get(name, []))
        width = 32 + 6.2 * len(name)
        if x + width > PANEL[0]:
            x, y = MARGIN["left"], y + 17
        parts.append(dot(x + 4, y - 4, colour, 1) + text(x + 13, y, name))
        x += width
    return "".join(parts)


def scale(values, start, end):
    """A function from a value to its position on a logarithmic axis, with a margin at both ends."""
    low, high = math.log(min(values) / 1.2), math.log(max(values) * 1.2)
    return lambda value: start + (end - start) * (math.log(value) - low) / (high - low)


def ticks(values):
    """1, 2, 5, 10, 20, 50 … within the range of the values; finer steps if fewer than two of these are in the range."""
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
