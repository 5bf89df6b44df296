"""Compares the CPU cost of `tare load` without agents and with one agent on this machine, in pairs. bench/fleet --overhead runs it.

The CPU time is that of all processes of the generator: coordinator and agent. Each figure is the difference of a long and a short
load, so that the cost of starting and ending a load cancels.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

RATE = 20_000
SHORT_S, LONG_S = 2, 12


def measure_load(program, url, flags, seconds):
    """Runs a load; returns the CPU seconds of all its processes, and the number of successful requests."""
    with tempfile.NamedTemporaryFile(suffix=".json") as summary:
        command = [program, "load", url, "-r", str(RATE), "-c", "32", "-d", f"{seconds}s", "--quiet", "--json", summary.name, *flags]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"failed: {' '.join(command)}")
        return usage.ru_utime + usage.ru_stime, json.load(summary)["requests"]["ok"]


def cpu_us_per_request(program, url, flags):
    """CPU per request in µs, from the difference of a long and a short load."""
    (short_s, short_requests), (long_s, long_requests) = (measure_load(program, url, flags, seconds) for seconds in (SHORT_S, LONG_S))
    return (long_s - short_s) / (long_requests - short_requests) * 1e6


def main(program, pairs):
    server = subprocess.Popen([program, "reference", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://{server.stdout.readline().split()[-1]}/path0/4"
        print(f"CPU per request at {RATE:,}/s, µs (difference of {LONG_S} s and {SHORT_S} s)\npair   alone   one agent   ratio")
        log_ratios = []
        for pair in range(1, pairs + 1):
            variants = [[], ["--agents", "local:1"]]
            # The order alternates, so that a change in the speed of the machine favours neither.
            cost_us = {len(flags): cpu_us_per_request(program, url, flags) for flags in (variants if pair % 2 else variants[::-1])}
            log_ratios.append(math.log(cost_us[2] / cost_us[0]))
            print(f"{pair:4} {cost_us[0]:7.2f} {cost_us[2]:11.2f} {cost_us[2] / cost_us[0]:7.3f}", flush=True)
        half_width = 2.0 * statistics.stdev(log_ratios) / math.sqrt(pairs)
        mean = statistics.mean(log_ratios)
        print(f"ratio {math.exp(mean):.3f}, from {math.exp(mean - half_width):.3f} to {math.exp(mean + half_width):.3f} (two standard errors of {pairs} pairs)")
    finally:
        server.terminate()
        server.wait()


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8)
