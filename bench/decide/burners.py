"""Programs that use a core each, beside a run."""

import contextlib
import subprocess
import sys

BURN = "while True: pass"


@contextlib.contextmanager
def burning(count):
    """So many burners for as long as the block lasts. They end with it, whatever happens."""
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
