"""What an agent costs: `tare load` by itself and by one agent on this machine, in pairs. bench/fleet --overhead runs it.

The CPU time is that of all processes of the generator: coordinator, agent, and all their threads. What a load costs before and
after its requests cancels: each figure is the difference of a long and a short load.
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


def cost(program, url, flags, seconds):
    """CPU seconds of a load and all its processes, and the requests that it answered."""
    with tempfile.NamedTemporaryFile(suffix=".json") as summary:
        command = [program, "load", url, "-r", str(RATE), "-c", "32", "-d", f"{seconds}s", "--quiet", "--json", summary.name, *flags]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"failed: {' '.join(command)}")
        return used.ru_utime + used.ru_stime, json.load(summary)["requests"]["ok"]


def per_request_us(program, url, flags):
    """CPU of a request in microseconds."""
    (short_s, fewer), (long_s, more) = (cost(program, url, flags, seconds) for seconds in (SHORT_S, LONG_S))
    return (long_s - short_s) / (more - fewer) * 1e6


def main(program, pairs):
    server = subprocess.Popen([program, "reference", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://{server.stdout.readline().split()[-1]}/path0/4"
        print(f"CPU per request at {RATE:,}/s, µs (difference of {LONG_S} s and {SHORT_S} s)\npair   alone   one agent   ratio")
        logs = []
        for pair in range(1, pairs + 1):
            ways = [[], ["--agents", "local:1"]]
            # The order alternates: a machine that gets faster favours nobody.
            found = {len(flags): per_request_us(program, url, flags) for flags in (ways if pair % 2 else ways[::-1])}
            logs.append(math.log(found[2] / found[0]))
            print(f"{pair:4} {found[0]:7.2f} {found[2]:11.2f} {found[2] / found[0]:7.3f}", flush=True)
        half = 2.0 * statistics.stdev(logs) / math.sqrt(pairs)
        mean = statistics.mean(logs)
        print(f"ratio {math.exp(mean):.3f}, from {math.exp(mean - half):.3f} to {math.exp(mean + half):.3f} (two standard errors of {pairs} pairs)")
    finally:
        server.terminate()
        server.wait()


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8)
