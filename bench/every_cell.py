#!/usr/bin/env python3
"""What the comparisons of one matrix say together of how much starts differ, and what an interval gains by it: the tables of
docs/notebook/2026-11-28-every-cell.md, from bench/findings/evidence. It is written apart from crates/stats, so that each checks the
other. Usage: `bench/every_cell.py`."""

import json
import math
import pathlib
import statistics

EVIDENCE = pathlib.Path(__file__).parent / "findings" / "evidence"
MATRICES = {"matrix": "2026-11-27, EPYC", "matrix-earlier": "2026-11-25, EPYC", "matrix-xeon": "2026-11-27, Xeon"}
CURRENCY, FLOOR, ALPHA = "cpu_per_request", 0.005, 0.05


def read(name):
    """Mean, standard deviation and degrees of freedom of each comparison, by scenario and variant."""
    run = json.loads((EVIDENCE / f"{name}.json").read_text(encoding="utf-8"))
    rows = {}
    for one in run["comparisons"]:
        for figure in one["currencies"]:
            if figure["name"] == CURRENCY and figure["verdict"] != "void" and figure["sd_forks"] is not None:
                rows[one["scenario"], one["variant"]] = (math.log(figure["ratio"]), max(figure["sd_forks"], FLOOR), figure["forks"] - 1)
    return rows


def of_length(rows, is_long):
    return {key: row for key, row in rows.items() if ("Long" in key[0]) == is_long}


def digamma(x):
    total = 0.0
    while x < 8:
        total, x = total - 1 / x, x + 1
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def trigamma(x):
    total = 0.0
    while x < 8:
        total, x = total + 1 / x**2, x + 1
    return total + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def bisect(is_below, low, high):
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def fit(groups):
    """Smyth (2004), section 6.2: degrees of freedom and standard deviation of the prior; and that one standard error above it."""
    logs = [2 * math.log(sd) - digamma(df / 2) + math.log(df / 2) for _, sd, df in groups]
    between = statistics.variance(logs) - statistics.fmean(trigamma(df / 2) for _, _, df in groups)
    most = sum(df for _, _, df in groups) * (1 - 1 / len(groups))
    prior_df = min(most, 2 * bisect(lambda x: trigamma(x) > between, 1e-6, 1e6)) if between > 0 else most
    log_variance = statistics.fmean(logs) + digamma(prior_df / 2) - math.log(prior_df / 2)
    error = math.sqrt((statistics.fmean(trigamma(df / 2) for _, _, df in groups) + trigamma(prior_df / 2)) / len(groups))
    return prior_df, math.exp(log_variance / 2), math.exp((log_variance + error) / 2)


def beta_share(a, b, x):
    """The regularized incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 500):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + numerator * d), 1 + numerator / c
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * value


def p_value(t, df):
    """Two-sided, of Student's t."""
    return beta_share(df / 2, 0.5, df / (df + t * t))


def t_quantile(df):
    return bisect(lambda t: p_value(t, df) > ALPHA, 1e-3, 1e6)


def f_share_below(ratio, df, prior_df):
    return beta_share(df / 2, prior_df / 2, df * ratio / (df * ratio + prior_df))


def moderate(row, prior):
    """The spread that is used, and its degrees of freedom."""
    _, sd, df = row
    if prior is None or f_share_below((sd / prior[2]) ** 2, df, prior[0]) > 0.95:
        return sd, df
    return math.sqrt((prior[0] * prior[2] ** 2 + df * sd**2) / (prior[0] + df)), prior[0] + df


def judge(rows, prior):
    """Median half-width, intervals that exclude 0, and differences that Benjamini and Hochberg's procedure states."""
    widths, p_values = [], []
    for row in rows:
        sd, df = moderate(row, prior)
        error = sd / math.sqrt(row[2] + 1)
        widths.append(math.expm1(t_quantile(df) * error))
        p_values.append(p_value(row[0] / error, df))
    ranked = sorted(p_values)
    stated = max((rank for rank, p in enumerate(ranked, 1) if p <= ALPHA * rank / len(ranked)), default=0)
    return statistics.median(widths), sum(p < ALPHA for p in p_values), stated


def print_gain(runs):
    print("| matrix | requests | comparisons | d₀ | s₀ | one error above | half-width | exclude 0 | Benjamini–Hochberg |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, title in MATRICES.items():
        for is_long in (False, True):
            rows = list(of_length(runs[name], is_long).values())
            prior = fit(rows)
            alone, together = judge(rows, None), judge(rows, prior)
            change = [f"{100 * alone[0]:.1f} → {100 * together[0]:.1f} %", *(f"{alone[at]} → {together[at]}" for at in (1, 2))]
            facts = [title, "long" if is_long else "short", str(len(rows)), f"{prior[0]:.1f}", f"{100 * prior[1]:.1f} %", f"{100 * prior[2]:.1f} %"]
            print(f"| {' | '.join(facts + change)} |")


def print_other_machine(runs):
    """A prior that another machine left: how often it is dropped, and what the widths are."""
    print("| prior by | for | requests | dropped (5 % if it fits) | half-width: alone → prior of the other → own table |")
    print("|---|---|---|--:|--:|")
    for source, target in (("matrix", "matrix-xeon"), ("matrix-xeon", "matrix"), ("matrix-earlier", "matrix")):
        for is_long in (False, True):
            rows = list(of_length(runs[target], is_long).values())
            prior, own = fit(list(of_length(runs[source], is_long).values())), fit(rows)
            dropped = sum(moderate(row, prior)[1] == row[2] for row in rows) / len(rows)
            widths = " → ".join(f"{100 * judge(rows, one)[0]:.1f}" for one in (None, prior, own))
            print(f"| {MATRICES[source]} | {MATRICES[target]} | {'long' if is_long else 'short'} | {100 * dropped:.0f} % | {widths} % |")


def print_repeats(runs):
    """Two runs of one matrix on one processor: how often the interval of their difference excludes 0."""
    print("| requests | pairs | exclude 0: each by itself | by the spread of all | with the other run's prior |")
    print("|---|--:|--:|--:|--:|")
    first, second = runs["matrix"], runs["matrix-earlier"]
    for is_long in (False, True):
        ours, theirs = of_length(first, is_long), of_length(second, is_long)
        both = [(ours[key], theirs[key]) for key in ours if key in theirs]
        priors = fit(list(ours.values())), fit(list(theirs.values()))
        shares = [sum(differ(pair, chosen) for pair in both) / len(both) for chosen in ((None, None), priors, priors[::-1])]
        print(f"| {'long' if is_long else 'short'} | {len(both)} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")


def differ(pair, priors):
    """Whether Welch's interval of the difference of two runs excludes 0."""
    parts = [(sd**2 / (row[2] + 1), df) for row, prior in zip(pair, priors) for sd, df in [moderate(row, prior)]]
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / df for part, df in parts)
    return abs(pair[0][0] - pair[1][0]) > t_quantile(df) * math.sqrt(variance)


def main():
    runs = {name: read(name) for name in MATRICES}
    for section in (print_gain, print_other_machine, print_repeats):
        section(runs)
        print()


main()
