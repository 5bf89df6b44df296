"""Tests whether the requests of 16 agents arrive at a server as a Poisson process. bench/fleet --poisson runs it.

Each agent makes a sixteenth of a Poisson load. The gaps between arrivals at the server are tested for the exponential distribution
(Anderson-Darling, mean estimated, level 1 %: Stephens, JASA 1974). Evenly spaced loads must be rejected, which shows that the test
can tell them apart. The machine should be otherwise idle, because other work delays arrivals.
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

AGENTS = 16
# Requests per second. A core that wakes up and the server's own work delay a stamp by up to 0.4 ms, and shorten the gap to the next one:
# at 100/s the shares of gaps below 0.4 ms were off by 4 to 14 standard errors, and longer ones by at most 2. At this rate it matters little.
RATE = 20
SECONDS = 120
PORT = 18080
# The critical value of the test.
CRITICAL_A_SQUARED = 1.957


def record_arrivals(program, folder, flags):
    """Runs a load; returns when its requests arrived, in nanoseconds. Fails if the summary counts another number of requests."""
    stamps, summary = folder / "stamps", folder / "load.json"
    server = subprocess.Popen([sys.executable, "bench/counting_server.py", "127.0.0.1", str(PORT), stamps], stdout=subprocess.PIPE)
    try:
        os.sched_setscheduler(server.pid, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("without root the server's stamps are less exact")
    try:
        wait_for_server()
        load = [program, "load", f"http://127.0.0.1:{PORT}/", "-r", str(RATE), "-c", "64", "-d", f"{SECONDS}s", "--agents", f"local:{AGENTS}"]
        subprocess.run([*load, *flags, "--quiet", "--json", summary], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    arrivals_ns = sorted(int(line) for line in stamps.read_text().split())
    answered = json.loads(summary.read_text())["requests"]["ok"]
    # The load has no warm-up, so all requests that the server has seen are counted.
    if len(arrivals_ns) != answered:
        sys.exit(f"failed: {len(arrivals_ns)} requests arrived, and the agents counted {answered}")
    return arrivals_ns


def wait_for_server():
    """Waits until the server listens."""
    while subprocess.run(["ss", "-Hltn", f"sport = :{PORT}"], capture_output=True, check=True).stdout == b"":
        pass


def anderson_darling(gaps):
    """Anderson and Darling's A² of the gaps, against the exponential distribution with their mean."""
    mean, n = statistics.mean(gaps), len(gaps)
    # Values of the distribution function; a gap of 0 would have no logarithm.
    shares = sorted(-math.expm1(-max(gap, 1) / mean) for gap in gaps)
    terms = ((2 * i + 1) * (math.log(shares[i]) + math.log1p(-shares[n - 1 - i])) for i in range(n))
    return (-n - math.fsum(terms) / n) * (1 + 0.6 / n)


def main(program):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, flags, is_poisson in (("Poisson", ["--poisson"], True), ("even", [], False)):
            arrivals_ns = record_arrivals(program, pathlib.Path(folder), flags)
            gaps = [after - before for before, after in zip(arrivals_ns, arrivals_ns[1:])]
            a_squared = anderson_darling(gaps)
            is_as_expected = (a_squared <= CRITICAL_A_SQUARED) == is_poisson
            failed += not is_as_expected
            decision = "accepted" if a_squared <= CRITICAL_A_SQUARED else "rejected"
            print(f"{name:>8}: {len(gaps)} gaps at the server of {AGENTS} agents, A² {a_squared:.2f} of at most {CRITICAL_A_SQUARED}: {decision}  {'ok' if is_as_expected else 'FAILED'}")
    sys.exit(bool(failed))


main(str(pathlib.Path(sys.argv[1]).resolve()))
