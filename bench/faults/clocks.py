"""Breaks by a wall clock that jumps. Only tare and its servers see the jump: the library of faketime(1) changes what they read."""

import pathlib
import subprocess
import time

from ..problem import Problem
from .outcome import end_of_text, right_outcome, wait_for_run, wrong_outcome
from .signals import start_short_run
from .tare import parse_json, wait_for_end

HOUR_S = 3600
# Longer than any run here, and shorter than a jump.
PLAUSIBLE_S = 600.0


def jump_clock_during_run(tare, rng):
    """A run must not be affected: it measures with the monotonic clock."""
    with tare.temporary_folder() as folder:
        clock = FakeClock(tare, folder)
        run = start_short_run(tare, folder, clock.environment)
        time.sleep(rng.uniform(3.0, 10.0))
        clock.jump(rng.choice([-HOUR_S, HOUR_S]))
        code, err, problem = wait_for_run(tare, folder, run, (0,))
        if problem is not None:
            return problem
        summary = parse_json(tare.run(folder, "report", "latest", "--json")[1])
        if summary["run"]["status"] != "complete" or not 0 < summary["run"]["duration_s"] < PLAUSIBLE_S:
            return wrong_outcome(f"the record says {summary['run']['status']} after {summary['run']['duration_s']} s: {end_of_text(err)}")
        slowest = max(response_times_s(summary), default=0.0)
        if slowest > PLAUSIBLE_S:
            return wrong_outcome(f"a response took {slowest:.0f} s")
        return right_outcome("the run is complete, no server left; its duration and its response times are right")


def jump_clock_during_push(tare, rng):
    """The latency of a pushed message is a difference of wall clocks. If a clock jumped, the load must not be VALID."""
    with tare.temporary_folder() as folder:
        clock = FakeClock(tare, folder)
        with tare.running_server(folder, clock.environment) as url:
            return load_pushes_and_jump(tare, rng, folder, clock, url)


def load_pushes_and_jump(tare, rng, folder, clock, url):
    flags = ("-c", "5", "-d", "5s", "--quiet", "--json", "a.json")
    load = tare.start(folder, "load", url.replace("http:", "ws:") + "/ws/ts", *flags, extra_environment=clock.environment)
    time.sleep(rng.uniform(1.0, 4.0))
    clock.jump(rng.choice([-HOUR_S, HOUR_S]))
    code, _, err = wait_for_end(load)
    if code is None or not (folder / "a.json").exists():
        return wrong_outcome(f"exit code {code} without a summary: {end_of_text(err)}")
    summary = parse_json((folder / "a.json").read_text(encoding="utf-8"))
    received, state = summary["messages"]["received"], summary["verdict"]["state"]
    if received == 0 or state == "valid":
        return wrong_outcome(f"{received} messages, and the load is {state}: {summary['verdict']['reasons']}")
    return right_outcome(f"the load is {state.upper()}: the error of the clock is larger than what was measured")


def response_times_s(summary):
    """All percentiles of the response times of all cells."""
    latencies = [latency["response"] for cell in summary["cells"] for latency in cell["latency"]]
    return [one["value_ns"] / 1e9 for response in latencies for one in response["percentiles"]]


class FakeClock:
    """The wall clock of the programs that are started with `environment`."""

    def __init__(self, tare, folder):
        if is_static(tare.program):
            raise Problem(f"{tare.program} is static, so faketime cannot change its clock; name another program with --program")
        self.file = folder / "clock"
        self.jump(0)
        self.environment = {
            "LD_PRELOAD": str(find_faketime_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def jump(self, seconds):
        """Sets the clock `seconds` ahead of the machine's clock; negative: behind it."""
        # By a rename, so that no program reads an empty file.
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n", encoding="utf-8")
        new.rename(self.file)


def is_static(program):
    """Whether a program is linked statically."""
    ldd = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return "statically linked" in ldd.stdout or "not a dynamic executable" in ldd.stderr


def find_faketime_library():
    """The path of faketime's library."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise Problem("the parts clock-run and clock-push need the library of faketime(1): apt-get install faketime")
    return found[0]
