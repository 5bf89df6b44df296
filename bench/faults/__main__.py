"""The command line of `bench/faults/run`."""

import argparse
import concurrent.futures
import pathlib
import random
import sys
import time

from . import document, parts, results
from .tare import Problem, Tare

FIRST = """\
Breaks loads and runs of tare at random points: killed and stopped processes, full disks, lost writes, limits, strange servers.
Each part counts what was left, and writes its counts to bench/faults/results. Nothing is measured, so the machine may do other
work. Some parts need root."""


def arguments():
    parser = argparse.ArgumentParser(prog="bench/faults/run", description=FIRST)
    several = ", ".join([*parts.PARTS, "document"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{several}; all of them without a name")
    parser.add_argument("--times", type=int, help="random points of each part (each has its own number)")
    parser.add_argument("--jobs", type=int, default=1, help="breaks at a time (1)")
    parser.add_argument("--while-absent", type=pathlib.Path, metavar="FILE", help="begin no break while this file is there")
    parser.add_argument("--seed", type=int, default=1, help="of the random points (1)")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/tare"), help="the tare to break")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in parts.PARTS and name != "document"]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {several}")
    return options


def main():
    options = arguments()
    wanted = options.parts or [*parts.PARTS, "document"]
    failures = 0
    for name in wanted:
        if name == "document":
            document.write()
            continue
        failures += results.write(name, outcomes(parts.PARTS[name], name, options), options.seed)
    return 1 if failures else 0


def outcomes(part, name, options):
    """Carries out all breaks of a part. Each has its own random numbers, in whatever order they end."""
    tare = Tare(options.program)

    def carry_out(number):
        while options.while_absent is not None and options.while_absent.exists():
            time.sleep(1.0)
        return part.carry_out(tare, random.Random(f"{options.seed} {name} {number}"))

    with tare.kept, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(carry_out, range(options.times or part.times)))


try:
    sys.exit(main())
except Problem as problem:
    sys.exit(f"error: {problem}")
