"""Compares the CPU cost of `tare load` without agents and with one agent on this machine, in pairs. bench/fleet --overhead runs it.

Both loads of a pair run at the same time, so that a change in the speed of the machine affects both. The CPU time is that of all
processes of a generator: coordinator and agent. Each figure is the difference of a long and a short load, so that the cost of starting
and ending a load cancels.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

RATE = 10_000
SHORT_S, LONG_S = 2, 10
# The flags of both loads of a pair: without agents, and with one.
VARIANTS = ([], ["--agents", "local:1"])


class Load:
    """A load that runs. `end` waits for it."""

    def __init__(self, program, url, flags, seconds):
        self.summary = tempfile.NamedTemporaryFile(suffix=".json")
        self.command = [program, "load", url, "-r", str(RATE), "-c", "32", "-d", f"{seconds}s", "--quiet", "--json", self.summary.name, *flags]
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        """Returns the CPU seconds of all its processes, and the number of successful requests."""
        _, status, usage = os.wait4(self.process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"failed: {' '.join(self.command)}")
        with self.summary:
            return usage.ru_utime + usage.ru_stime, json.load(self.summary)["requests"]["ok"]


def measure_pair(program, url, seconds, is_reversed):
    """CPU seconds and requests of both variants, which run at the same time. The one that starts first alternates."""
    order = (1, 0) if is_reversed else (0, 1)
    loads = {variant: Load(program, url, VARIANTS[variant], seconds) for variant in order}
    return [loads[variant].end() for variant in (0, 1)]


def cpu_us_per_request(short, long):
    """CPU per request in µs, from the difference of a long and a short load."""
    return (long[0] - short[0]) / (long[1] - short[1]) * 1e6


def main(program, pairs):
    server = subprocess.Popen([program, "reference", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://{server.stdout.readline().split()[-1]}/path0/4"
        print(f"CPU per request at {RATE:,}/s each, µs (difference of {LONG_S} s and {SHORT_S} s)\npair   alone   one agent   ratio")
        log_ratios = []
        for pair in range(1, pairs + 1):
            short, long = (measure_pair(program, url, seconds, pair % 2 == 0) for seconds in (SHORT_S, LONG_S))
            alone_us, agent_us = (cpu_us_per_request(short[variant], long[variant]) for variant in (0, 1))
            log_ratios.append(math.log(agent_us / alone_us))
            print(f"{pair:4} {alone_us:7.2f} {agent_us:11.2f} {agent_us / alone_us:7.3f}", flush=True)
        half_width = 2.0 * statistics.stdev(log_ratios) / math.sqrt(pairs)
        mean = statistics.mean(log_ratios)
        print(f"ratio {math.exp(mean):.3f}, from {math.exp(mean - half_width):.3f} to {math.exp(mean + half_width):.3f} (two standard errors of {pairs} pairs)")
    finally:
        server.terminate()
        server.wait()


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16)
