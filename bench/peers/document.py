"""Renders docs/PEERS.md: the outcomes as tables, with explanations."""

import platform
import statistics
import subprocess
import time

from ..wrap_prose import wrap
from . import rows
from .rows import SHOWN


def render_page(all_rows, tools, missing, outcomes, options):
    parts = [head(tools, missing, options), cost_section(all_rows, tools, outcomes)]
    for row in all_rows:
        render_section = {"lateness": lateness_section, "stall": stall_section, "delays": delays_section}.get(row.kind)
        if render_section:
            parts.append(render_section(row, [one for one in outcomes if one.row == row.title]))
    parts.append(counts_section(all_rows, outcomes))
    failures = [f"- {one.tool}, {one.row}: {one.problem}" for one in outcomes if one.problem]
    if failures:
        parts.append("## What failed\n\n" + "\n".join(sorted(set(failures))) + "\n")
    return wrap("\n".join(parts))


def head(tools, missing, options):
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout
    quick = "**A quick round, to see that it works: too short to believe.**\n\n" if options.quick else ""
    versions = "\n".join(f"| {tool.name} | {tool.version()} | {tool.note} |" for tool in tools)
    missing = f"\nNot installed, and so not measured: {', '.join(missing)}.\n" if missing else ""
    return f"""# tare and its peers

`bench/peers/run` generates this page; do not edit it. All tools load the same reference server from one CPU, one after the
other in random order. The server has one thread on another CPU, responds from memory, and is restarted for each run.
The true values come from the server: from its planted delays, and from its log of when each request arrived and when
its response left. The text above each table explains how to read it.

{quick}{time.strftime("%Y-%m-%d")}, revision {revision.strip()}, {platform.system()} {platform.release()}, {count_cpus()} CPUs; seed {options.seed}.

| tool | version | |
|---|---|---|
{versions}
{missing}"""


def count_cpus():
    return subprocess.run(["nproc"], capture_output=True, text=True, check=False).stdout.strip()


def table(columns, lines):
    rule = "|" + "---|" * len(columns)
    return "\n".join(["| " + " | ".join(columns) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def cost_section(all_rows, tools, outcomes):
    cost_rows = [row for row in all_rows if row.kind == "cost"]
    over_http1 = [row for row in cost_rows if row.yardstick == "wrk"]
    over_http2 = [row for row in cost_rows if row.yardstick != "wrk"]
    return f"""## Cost

CPU time (user and system) of the whole process in µs per request that the server answered, at the highest rate that the
tool reaches. In brackets: relative to wrk in the same round. Median of the rounds ({cost_rows[0].rounds} of {cost_rows[0].seconds:g} s). Rates differ at
saturation, and the rate changes how much is batched.

{cost_table(over_http1, tools, outcomes)}{list_of_urls(over_http1, tools, outcomes)}
### Over HTTP/2

The same without TLS, in brackets relative to h2load. 16 × 16 is 16 connections with 16 requests (streams) at a time on
each. A gRPC call has an empty message in both directions.

{cost_table(over_http2, tools, outcomes)}"""


def cost_table(cost_rows, tools, outcomes):
    lines = []
    for tool in tools:
        line = [tool.name]
        for row in cost_rows:
            line.append(format_with_ratio(cpu_of_tool(outcomes, row, tool.name), cpu_of_tool(outcomes, row, row.yardstick)))
        lines.append((line, statistics.median(cpu_of_tool(outcomes, cost_rows[0], tool.name).values() or [float("inf")])))
    lines = [line for line, _ in sorted(lines, key=lambda pair: pair[1]) if any(cell != "–" for cell in line[1:])]
    return table(["µs/request", *(row.title for row in cost_rows)], lines)


def list_of_urls(cost_rows, tools, outcomes):
    """What a request of a list costs, compared with the same request of one URL: a sentence."""
    lists = next(row for row in cost_rows if row.urls > 1)
    one_url = next(row for row in cost_rows if (row.connections, row.post_bytes, row.urls) == (lists.connections, 0, 1))
    ratios = []
    for tool in tools:
        of_list, of_one = cpu_of_tool(outcomes, lists, tool.name), cpu_of_tool(outcomes, one_url, tool.name)
        if both := [of_list[number] / of_one[number] for number in of_list if number in of_one]:
            ratios.append(f"{tool.name} ×{statistics.median(both):.2f}")
    return f"\nA request to one of {lists.urls:,} URLs, compared with one to a single URL in the same round: {', '.join(ratios)}.\n" if ratios else ""


def is_usable(one):
    return not one.problem and one.served > 0


def cpu_of_tool(outcomes, row, tool):
    """The CPU time in µs per request of the tool of this name, by round. A round without a usable run is missing."""
    return {one.round: one.cpu_us for one in outcomes if (one.row, one.tool) == (row.title, tool) and is_usable(one)}


def format_with_ratio(tool_us, yardstick_us):
    if not tool_us:
        return "–"
    both = [tool_us[number] / yardstick_us[number] for number in tool_us if number in yardstick_us]
    return f"{statistics.median(tool_us.values()):.2f}" + (f" (×{statistics.median(both):.2f})" if both else "")


def lateness_section(row, outcomes):
    lines = []
    for one in outcomes:
        share = one.served / (row.rate_per_s * one.seconds)
        lates = [f"{late:,.0f}" for late in one.lateness_us] if share > 0.98 else ["–", "–"]
        lines.append(([one.tool, *lates, format_number(one.cpu_us), f"{share * 100:.1f} %"], one.lateness_us[1] if share > 0.98 else 1e12))
    lines = [line for line, _ in sorted(lines, key=lambda pair: pair[1])]
    return f"""## Sending at {row.title}, evenly spaced, over {row.connections} connections

How late requests reached the server, compared with the even schedule that best fits the tool's own arrivals. The
server takes the time, so its wake-up delay is included. The other columns are the tool's CPU time per request, and the
share of the offered requests that arrived. Below 98 %, lateness has no meaning and is left out. Some tools give each
connection its own schedule, all in step. Their lateness is up to the gap between two bursts.

{table(["", "late, p50 µs", "late, p99 µs", "CPU µs/request", "came"], lines)}"""


def stall_section(row, outcomes):
    truth = {percentile: rows.stall_truth_ms(percentile) for percentile in SHOWN}
    count = row.rate_per_s * row.seconds
    lines = [["*truth*", "*below 1*", *(f"*{truth[p]:.1f}*" for p in SHOWN[1:]), f"*{count:,.0f}*", ""]]
    tool_lines = []
    for one in outcomes:
        offered = row.rate_per_s * one.seconds
        lost = f"{one.served:,} ({(one.served / offered - 1) * 100:+.1f} %)"
        tool_lines.append(([one.tool, *percentile_cells(one), lost, error_cell(one)], worst_deviation(one)))
    lines += [line for line, _ in sorted(tool_lines, key=lambda pair: pair[1])]
    return f"""## A server that freezes for 1 s in every 10 s, at {row.rate_per_s:,.0f} requests/s over {row.seconds:g} s

Latency in ms, as stated by the tool. A request that should leave during a freeze waits until its end: a tenth of all
requests, for up to 1 s. *Error* is the largest deviation from the true value at p95, p99, p99.9 and p99.99, where
stated. *Served* is the number of requests that reached the server. Requests that a tool omits during a freeze are
missing from its percentiles too. (wrk2 counts from the tenth second on; {row.rate_per_s * 10:,.0f} of its requests came before that.)

{table(["", *(f"p{p:g}" for p in SHOWN), "served", "error"], lines)}"""


def delays_section(row, outcomes):
    tool_lines = [([one.tool, *percentile_cells(one), error_cell(one)], worst_deviation(one)) for one in outcomes]
    truths = [one.truth_ms for one in outcomes if one.truth_ms]
    line = [f"*{statistics.median(truth[p] for truth in truths):.2f}*" if truths else "" for p in SHOWN]
    lines = [["*truth, median of all*", *line, ""], *(line for line, _ in sorted(tool_lines, key=lambda pair: pair[1]))]
    return f"""## A server of known delays: {rows.FAST_US / 1000:g} ms, and {rows.SLOW_US / 1000:g} ms for {rows.SLOW_SHARE * 100:g} % of the requests

At {row.rate_per_s:,.0f} requests/s; wrk, ab and gcannon have no rate and use 8 connections. *Error* is the largest deviation at p50 to p99.9,
where stated, from the server's own log of the same run.

{table(["", *(f"p{p:g}" for p in SHOWN), "error"], lines)}"""


def counts_section(all_rows, outcomes):
    in_flight = {row.title: row.connections * row.streams for row in all_rows}
    counted = [one for one in outcomes if one.requests is not None and not one.failure]
    differ = sorted((one.tool, one.row, one.requests, one.served) for one in counted
                    if abs(one.requests + one.errors - one.served) > in_flight[one.row])
    lines = [[tool, title, f"{requests:,}", f"{served:,}"] for tool, title, requests, served in differ]
    head = f"""## Requests, as the tool and as the server count them

In {len(counted) - len(differ):,} of {len(counted):,} runs both count the same, except those requests that were in flight at the end (one for each
connection or stream at most)."""
    return f"{head} The others:\n\n{table(['', 'run', 'the tool', 'the server'], lines)}" if lines else head + "\n"


def percentile_cells(one):
    return [format_number(one.percentiles_ms.get(percentile)) for percentile in SHOWN]


def worst_deviation(one):
    """The largest deviation of a percentile from the truth, as a factor minus one, in either direction; infinity without percentiles."""
    stated = {p: value for p, value in one.percentiles_ms.items() if p in one.truth_ms and p in SHOWN and value is not None}
    if not stated:
        return float("inf")
    return max(max(value, one.truth_ms[p]) / max(min(value, one.truth_ms[p]), 1e-3) - 1 for p, value in stated.items())


def error_cell(one):
    share = worst_deviation(one)
    if one.failure or share == float("inf"):
        return "–"
    return f"{share * 100:.1f} %" if share < 1 else f"**wrong by ×{share + 1:,.0f}**"


def format_number(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
