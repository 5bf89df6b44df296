"""Formats figures: units, intervals, significant digits. A missing figure is a dash."""

STEPS = {
    "per_s": [(1e3, "k/s"), (1, "/s")],
    "ns": [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")],
    "bytes": [(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1, "B")],
}
# An interval whose bounds differ by more than this factor is too wide to be useful.
MAX_BOUND_RATIO = 9


def step_of(value, unit):
    return next((step for step in STEPS[unit] if value >= step[0]), STEPS[unit][-1])


def format_amount(value, unit):
    """`18.8 k/s`."""
    divisor, name = step_of(float(f"{value:.2e}"), unit)
    return f"{format_significant(value / divisor)} {name}"


def format_significant(value):
    """Three significant digits, and at most three decimals."""
    # That of the rounded value: 99.98 is 100.
    exponent = int(f"{value:.2e}".split("e")[1])
    return f"{value:.{min(max(2 - exponent, 0), 3)}f}"


def format_with_interval(estimate, unit):
    """`39.3 k/s [17.6 k/s, 61.0 k/s]`; without the interval for a single start."""
    lo, hi = estimate.get("lo"), estimate.get("hi")
    if lo is None or hi is None:
        return format_amount(estimate["value"], unit)
    bounds = "too wide" if lo <= 0 or hi / lo > MAX_BOUND_RATIO else f"{format_amount(lo, unit)}, {format_amount(hi, unit)}"
    return f"{format_amount(estimate['value'], unit)} [{bounds}]"


def format_added(estimate, unit):
    """`+20.6 µs [16.9, 24.2]`, with one unit for all three numbers."""
    if estimate is None:
        return "–"
    numbers = [estimate[key] for key in ("value", "lo", "hi") if estimate[key] is not None]
    divisor, name = step_of(max(map(abs, numbers)), unit)
    value, *ends = (f"{number / divisor:.2f}".replace("-", "−") for number in numbers)
    return f"{'+' if numbers[0] > 0 else ''}{value} {name}{f' [{ends[0]}, {ends[1]}]' if ends else ''}"


def format_share(figure):
    """A ratio as a percentage of the baseline, `81 % [74, 89]`."""
    percent, lo, hi = (figure[key] * 100 if figure[key] else None for key in ("ratio", "lo", "hi"))
    if not lo or not hi:
        return f"{percent:.0f} %"
    decimals = 1 if hi / lo < 1.05 else 0
    bounds = "too wide" if hi / lo > MAX_BOUND_RATIO else f"{lo:.{decimals}f}, {hi:.{decimals}f}"
    return f"{percent:.{decimals}f} % [{bounds}]"


def format_change(figure):
    """A ratio as a change from the baseline, `+11 % [5, 17]`. It has a decimal if the interval is narrow, or a bound would round to 0."""
    looks_like_zero = any(abs(figure[key] - 1) < 0.005 for key in ("lo", "hi"))
    decimals = 1 if looks_like_zero or figure["hi"] / figure["lo"] < 1.05 else 0
    percent = lambda key: f"{(figure[key] - 1) * 100:.{decimals}f}".replace("-", "−")
    return f"{'+' if figure['ratio'] >= 1 else ''}{percent('ratio')} % [{percent('lo')}, {percent('hi')}]"


def format_profile_share(estimate):
    """`7.6 % [7.1, 8.2]`; "not listed" for a method that is not in the evidence."""
    if estimate is None:
        return "not listed"
    lo, hi = estimate["lo"], estimate["hi"]
    interval = "" if lo is None or hi is None else f" [{max(lo, 0) * 100:.1f}, {min(hi, 1) * 100:.1f}]"
    return f"{estimate['value'] * 100:.1f} %{interval}"


def excludes_value(estimate, value):
    """Whether the interval excludes the value; False without an interval."""
    lo, hi = estimate["lo"], estimate["hi"]
    return lo is not None and hi is not None and not lo <= value <= hi
