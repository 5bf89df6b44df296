"""Programs that use a core each during a run: all the time, or in bursts as other guests of a machine do."""

import contextlib
import subprocess
import sys

ALWAYS = "while True: pass"
# The second argument is the mean length of a burst, and of a rest, in seconds; both are exponentially distributed.
IN_BURSTS = """
import random, sys, time
chance, mean_s = random.Random(int(sys.argv[1])), float(sys.argv[2])
while True:
    until = time.monotonic() + chance.expovariate(1 / mean_s)
    while time.monotonic() < until: pass
    time.sleep(chance.expovariate(1 / mean_s))
"""


@contextlib.contextmanager
def running_burners(count, burst_s=None, seed=0):
    """Runs `count` burners during a `with` block."""
    program = lambda number: [ALWAYS] if burst_s is None else [IN_BURSTS, str(seed * 1000 + number), str(burst_s)]
    burners = [subprocess.Popen([sys.executable, "-c", *program(number)]) for number in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
