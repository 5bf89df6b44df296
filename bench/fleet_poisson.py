"""Whether the requests of 16 agents reach a server at random: bench/fleet --poisson runs it.

Each agent makes a sixteenth of a Poisson load. The server's gaps between arrivals are held against the exponential distribution
(Anderson and Darling, mean estimated, level 1 %: Stephens, JASA 1974). Even loads of the agents must be rejected, or the test
would tell nothing. The machine should do nothing else meanwhile: it would move the arrivals.
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
# So low that the tens of microseconds in which the server stamps a request do not show.
RATE = 100
SECONDS = 25
PORT = 18080
LARGEST = 1.957


def arrivals(program, folder, flags):
    """When the requests of a load arrived, in nanoseconds. Their number must be that of the summary."""
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
    found = sorted(int(line) for line in stamps.read_text().split())
    counted = json.loads(summary.read_text())["requests"]["ok"]
    # The agents' warm-up makes no requests, so the server has seen those of the load alone.
    if len(found) != counted:
        sys.exit(f"failed: {len(found)} requests arrived, and the agents counted {counted}")
    return found


def wait_for_server():
    """Until it listens."""
    while subprocess.run(["ss", "-Hltn", f"sport = :{PORT}"], capture_output=True, check=True).stdout == b"":
        pass


def distance(gaps):
    """Anderson and Darling's A² of the exponential distribution with the mean of the gaps."""
    mean, n = statistics.mean(gaps), len(gaps)
    # The distribution function; a gap of 0 would have none.
    shares = sorted(-math.expm1(-max(gap, 1) / mean) for gap in gaps)
    terms = ((2 * i + 1) * (math.log(shares[i]) + math.log1p(-shares[n - 1 - i])) for i in range(n))
    return (-n - math.fsum(terms) / n) * (1 + 0.6 / n)


def main(program):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, flags, is_poisson in (("Poisson", ["--poisson"], True), ("even", [], False)):
            found = arrivals(program, pathlib.Path(folder), flags)
            gaps = [after - before for before, after in zip(found, found[1:])]
            a_squared = distance(gaps)
            holds = (a_squared <= LARGEST) == is_poisson
            failed += not holds
            word = "accepted" if a_squared <= LARGEST else "rejected"
            print(f"{what:>8}: {len(gaps)} gaps at the server of {AGENTS} agents, A² {a_squared:.2f} of at most {LARGEST}: {word}  {'ok' if holds else 'FAILED'}")
    sys.exit(bool(failed))


main(str(pathlib.Path(sys.argv[1]).resolve()))
