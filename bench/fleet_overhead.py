"""Compares the CPU cost of `tare load` without agents and with one agent on this machine, in pairs. bench/fleet --overhead runs it.

The speed of a core changes within a second. So both loads of a pair exist at the same time, and take turns of 20 ms: one runs, the other
is stopped. The CPU time is that of all processes of a generator: coordinator and agent. Each figure is the difference of a long and a
short load, so that the cost of starting and ending a load cancels. Pairs without agents on either side show what the method can see.
"""

import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SHORT, LONG = 20_000, 320_000
TURN_S = 0.02
ONE_AGENT = ["--agents", "local:1"]


class Load:
    """A load of a number of requests that runs, and can be stopped."""

    def __init__(self, program, url, flags, requests):
        self.summary = tempfile.NamedTemporaryFile(suffix=".json")
        self.command = [program, "load", url, "-n", str(requests), "-c", "32", "--quiet", "--json", self.summary.name, *flags]
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.usage = None

    def is_running(self):
        """Whether it has not ended. Notes the CPU time of its processes when it has."""
        if self.usage is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.usage = usage
        return self.usage is None

    def signal(self, number):
        """Sends a signal to its processes."""
        pids = [self.process.pid]
        for pid in pids:
            try:
                for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    pids += (task / "children").read_text().split()
                os.kill(int(pid), number)
            except (FileNotFoundError, ProcessLookupError):
                pass

    def cpu_and_requests(self):
        """Returns the CPU seconds of all its processes, and the number of successful requests."""
        if self.process.returncode != 0:
            sys.exit(f"failed: {' '.join(self.command)}")
        with self.summary:
            return self.usage.ru_utime + self.usage.ru_stime, json.load(self.summary)["requests"]["ok"]


def measure_in_turns(program, url, variants, requests):
    """CPU seconds and requests of a load for each list of flags in `variants`. The loads take turns."""
    loads = [Load(program, url, flags, requests) for flags in variants]
    while any([load.is_running() for load in loads]):
        for turn in loads:
            if not turn.is_running():
                continue
            for load in loads:
                if load.is_running() and load is not turn:
                    load.signal(signal.SIGSTOP)
            turn.signal(signal.SIGCONT)
            time.sleep(TURN_S)
    return [load.cpu_and_requests() for load in loads]


def cpu_us_per_request(short, long):
    """CPU per request in µs, from the difference of a long and a short load."""
    return (long[0] - short[0]) / (long[1] - short[1]) * 1e6


def compare(program, url, variants, names, pairs):
    """Prints the CPU per request of two lists of flags in pairs, and their ratio with its interval."""
    print(f"pair {names[0]:>11} {names[1]:>11}   ratio")
    log_ratios = []
    for pair in range(1, pairs + 1):
        order = (0, 1) if pair % 2 else (1, 0)
        short, long = (measure_in_turns(program, url, [variants[i] for i in order], requests) for requests in (SHORT, LONG))
        first, second = (cpu_us_per_request(short[order.index(i)], long[order.index(i)]) for i in (0, 1))
        log_ratios.append(math.log(second / first))
        print(f"{pair:4} {first:11.2f} {second:11.2f} {second / first:7.3f}", flush=True)
    half_width = 2.0 * statistics.stdev(log_ratios) / math.sqrt(pairs)
    mean = statistics.mean(log_ratios)
    print(f"ratio {math.exp(mean):.3f}, from {math.exp(mean - half_width):.3f} to {math.exp(mean + half_width):.3f} (two standard errors of {pairs} pairs)")


def main(program, pairs):
    server = subprocess.Popen([program, "reference", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://{server.stdout.readline().split()[-1]}/path0/4"
        print(f"CPU per request of a closed loop on 32 connections, µs (difference of {LONG:,} and {SHORT:,} requests)")
        compare(program, url, ([], ONE_AGENT), ("alone", "one agent"), pairs)
        compare(program, url, ([], []), ("alone", "alone"), pairs)
    finally:
        server.terminate()
        server.wait()


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16)
