"""Formats figures: units, intervals, significant digits."""

import math

STEPS = {
    "per_s": [(1e3, "k/s"), (1, "/s")],
    "ns": [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")],
    "bytes": [(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1, "B")],
}
# An interval whose bounds differ by more than this factor is too wide to be useful.
TELLING = 9


def amount(value, unit):
    """`18.8 k/s`."""
    if value is None:
        return "–"
    divisor, name = next((step for step in STEPS[unit] if value >= step[0]), STEPS[unit][-1])
    return f"{significant(value / divisor)} {name}"


def added(estimate, unit):
    """`+20.6 µs [16.9, 24.2]`, all in one unit."""
    if estimate is None:
        return "–"
    told = [estimate[key] for key in ("value", "lo", "hi") if estimate[key] is not None]
    most = max(abs(value) for value in told)
    divisor, name = next((step for step in STEPS[unit] if most >= step[0]), STEPS[unit][-1])
    value, *ends = (f"{value / divisor:.2f}".replace("-", "−") for value in told)
    return f"{'+' if told[0] > 0 else ''}{value} {name}{f' [{ends[0]}, {ends[1]}]' if ends else ''}"


def significant(value):
    digits = 2 - math.floor(math.log10(abs(value))) if value else 2
    return f"{value:.{min(max(digits, 0), 3)}f}"


def share(figure):
    """A ratio as a percentage of the baseline, `81 % [74, 89]`."""
    percent = figure["ratio"] * 100
    lo, hi = figure["lo"], figure["hi"]
    decimals = 1 if lo and hi and hi / lo < 1.05 else 0
    text = f"{percent:.{decimals}f} %"
    if not lo or not hi:
        return text
    if hi / lo > TELLING:
        return f"{text} [too wide]"
    return f"{text} [{lo * 100:.{decimals}f}, {hi * 100:.{decimals}f}]"


def decided(figure):
    """Does the interval exclude "no difference"?"""
    return bool(figure["lo"] and figure["hi"]) and not figure["lo"] <= 1 <= figure["hi"]


def with_interval(estimate, unit):
    """`39.3 k/s [17.6 k/s, 61.0 k/s]`, from two starts on."""
    text = amount(estimate["value"], unit)
    lo, hi = estimate.get("lo"), estimate.get("hi")
    if lo is None or hi is None:
        return text
    if lo <= 0 or hi / lo > TELLING:
        return f"{text} [too wide]"
    return f"{text} [{amount(lo, unit)}, {amount(hi, unit)}]"


def part(estimate):
    """`7.6 % [7.1, 8.2]`; "not listed" for a method outside the run's tables that was not looked up in its stacks."""
    if estimate is None:
        return "not listed"
    lo, hi = estimate["lo"], estimate["hi"]
    interval = "" if lo is None or hi is None else f" [{max(lo, 0) * 100:.1f}, {min(hi, 1) * 100:.1f}]"
    return f"{estimate['value'] * 100:.1f} %{interval}"
