"""Draws latency by percentile as an SVG, with a panel per server: the latency of its users, and the delays of the hiccup meters, one inside
the JVM and one on its cores."""

import math
from xml.sax.saxutils import escape

from .figures import amount
from .problem import Problem

# The lines: key in the evidence, label, colour (distinguishable for the colour-blind), dashes.
LINES = [
    ("curve", "messages", "#0b62c4", ""),
    ("jvm_curve", "meter in the JVM", "#d1660a", "6 3"),
    ("machine_curve", "meter on the cores", "#6b7280", "2 3"),
]
# Values below this percentile do not determine the scale.
LEAST = 10
# The last percentile for a million samples.
TICKS = [0, 90, 99, 99.9, 99.99, 99.999]
LIMIT_COLOUR = "#b91c1c"
COLUMNS = 2
PANEL = (420, 210)
MARGIN = {"left": 58, "right": 30, "top": 34, "bottom": 30}
HEAD = 34
# Approximate width of a letter.
LETTER = 6.2
FONT = 'font-family="system-ui, sans-serif" font-size="12"'


def svg(place, show, chosen):
    """The picture of the selected cells, one panel each."""
    kind = show.get("kind", "saturating")
    loads = [(cell["variant"], next((load for load in cell["latency"] if load["kind"] == kind and load.get("curve")), None)) for cell in chosen]
    without = [variant for variant, load in loads if load is None]
    if without:
        raise Problem(f"{place}: no curve of {', '.join(without)} under {kind} load: take the run again, or leave it out (variants)")
    values = [value for _, load in loads for key, *_ in LINES for percentile, value in load.get(key) or [] if LEAST <= percentile <= TICKS[-1]]
    decades = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    rows = -(-len(loads) // COLUMNS)
    width, height = (COLUMNS * PANEL[0], HEAD + rows * PANEL[1])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" {FONT}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        legend(show),
    ]
    for index, (variant, load) in enumerate(loads):
        x, y = index % COLUMNS * PANEL[0], HEAD + index // COLUMNS * PANEL[1]
        parts.append(f'<g transform="translate({x} {y})">{panel(variant, load, decades, show)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def legend(show):
    entries = [(words, colour, dashes) for _, words, colour, dashes in LINES]
    if "limit_ms" in show:
        entries.append((show.get("limit", amount(show["limit_ms"] * 1e6, "ns")), LIMIT_COLOUR, "1 3"))
    parts, x = [], MARGIN["left"]
    for words, colour, dashes in entries:
        parts.append(line(x, 17, x + 26, 17, colour, dashes, 2) + text(x + 32, 21, words))
        x += 50 + LETTER * len(words)
    return "".join(parts)


def panel(variant, load, decades, show):
    left, top = MARGIN["left"], MARGIN["top"]
    right, bottom = PANEL[0] - MARGIN["right"], PANEL[1] - MARGIN["bottom"]
    across = lambda percentile: left + (right - left) * min(nines(percentile) / nines(TICKS[-1]), 1)
    up = lambda value: bottom - (bottom - top) * (math.log10(max(value, 10 ** decades[0])) - decades[0]) / (decades[-1] - decades[0])
    parts = [text(left, top - 10, variant, 'font-weight="600"')]
    for decade in decades:
        parts.append(line(left, up(10**decade), right, up(10**decade), "#e5e7eb") + text(left - 6, up(10**decade) + 4, whole(10**decade), 'text-anchor="end"'))
    for percentile in TICKS:
        parts.append(line(across(percentile), top, across(percentile), bottom, "#e5e7eb") + text(across(percentile), bottom + 17, f"{percentile:g} %", 'text-anchor="middle"'))
    if "limit_ms" in show:
        parts.append(line(left, up(show["limit_ms"] * 1e6), right, up(show["limit_ms"] * 1e6), LIMIT_COLOUR, "1 3", 1.5))
    for key, _, colour, dashes in reversed(LINES):
        points = " ".join(f"{across(percentile):.1f},{up(value):.1f}" for percentile, value in load.get(key) or [] if percentile <= TICKS[-1])
        if points:
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed(dashes)}/>')
    return "".join(parts)


def nines(percentile):
    """0 at the smallest sample, 1 at 90 %, 2 at 99 %, and so on."""
    return -math.log10(max(1 - percentile / 100, 1e-9))


def whole(value_ns):
    """`10 ms`."""
    number, unit = amount(value_ns, "ns").split(" ")
    return f"{float(number):g} {unit}"


def line(x1, y1, x2, y2, colour, dashes="", thickness=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{thickness}"{dashed(dashes)}/>'


def dashed(dashes):
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="#111827" {more}>{escape(words)}</text>'
