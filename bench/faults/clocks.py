"""Breaks by a wall clock that jumps, for tare and its servers only: the library of faketime(1) stands between them and the clock."""

import pathlib
import subprocess
import time

from .outcome import ended, last_line, right, wrong
from .stops import begin
from .tare import Problem, end, read_json

HOUR_S = 3600
# Longer than all that is done here, and shorter than a jump.
PLAUSIBLE_S = 600.0


def clock_run(tare, chance):
    """A run does not see that the wall clock jumped: it measures by the other one."""
    with tare.folder() as folder:
        clock = Clock(tare, folder)
        run = begin(tare, folder, clock.environment)
        time.sleep(chance.uniform(3.0, 10.0))
        clock.jump(chance.choice([-HOUR_S, HOUR_S]))
        code, err, problem = ended(tare, folder, run, (0,))
        if problem is not None:
            return problem
        summary = read_json(tare.run(folder, "report", "latest", "--json")[1])
        if summary["run"]["status"] != "complete" or not 0 < summary["run"]["duration_s"] < PLAUSIBLE_S:
            return wrong(f"the record says {summary['run']['status']} after {summary['run']['duration_s']} s: {last_line(err)}")
        slowest = max(response_times_s(summary), default=0.0)
        if slowest > PLAUSIBLE_S:
            return wrong(f"a response took {slowest:.0f} s")
        return right("the run is complete, no server left; its duration and its response times are right")


def clock_push(tare, chance):
    """The time of a message is a difference of wall clocks. If one jumped, the load says that it cannot tell it."""
    with tare.folder() as folder:
        clock = Clock(tare, folder)
        with tare.server(folder, clock.environment) as url:
            return push(tare, chance, folder, clock, url)


def push(tare, chance, folder, clock, url):
    flags = ("-c", "5", "-d", "5s", "--quiet", "--json", "a.json")
    load = tare.start(folder, "load", url.replace("http:", "ws:") + "/ws/ts", *flags, more_environment=clock.environment)
    time.sleep(chance.uniform(1.0, 4.0))
    clock.jump(chance.choice([-HOUR_S, HOUR_S]))
    code, _, err = end(load)
    if code is None or not (folder / "a.json").exists():
        return wrong(f"exit code {code} without a summary: {last_line(err)}")
    summary = read_json((folder / "a.json").read_text(encoding="utf-8"))
    received, state = summary["messages"]["received"], summary["verdict"]["state"]
    if received == 0 or state == "valid":
        return wrong(f"{received} messages, and the load is {state}: {summary['verdict']['reasons']}")
    return right(f"the load is {state.upper()}: the error of the clock is larger than what was measured")


def response_times_s(summary):
    """All percentiles of all cells."""
    latencies = [latency["response"] for cell in summary["cells"] for latency in cell["latency"]]
    return [one["value_ns"] / 1e9 for response in latencies for one in response["percentiles"]]


class Clock:
    """The wall clock of the programs that are started with its environment."""

    def __init__(self, tare, folder):
        if is_static(tare.program):
            raise Problem(f"{tare.program} is static: nothing can stand between it and the clock; name another with --program")
        self.file = folder / "clock"
        self.jump(0)
        self.environment = {
            "LD_PRELOAD": str(faketime()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def jump(self, seconds):
        """Sets the clock so far ahead of the machine's, or behind it."""
        # In one step, so that nobody reads an empty file.
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n", encoding="utf-8")
        new.rename(self.file)


def is_static(program):
    """Whether a program loads no libraries."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return "statically linked" in said.stdout or "not a dynamic executable" in said.stderr


def faketime():
    """The library that moves a program's clock."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise Problem("a part with a clock that jumps needs the library of faketime(1): apt-get install faketime")
    return found[0]
