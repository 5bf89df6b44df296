"""The command line of `bench/faults/run`."""

import argparse
import pathlib
import random
import sys

from . import document, parts, results
from .tare import Problem, Tare

FIRST = """\
Breaks runs of tare at random points: kill -9, a full disk, a stopped server, few open files. Each part counts what was left, and
writes its counts to bench/faults/results. Nothing is measured, so that the machine may do other work."""


def arguments():
    parser = argparse.ArgumentParser(prog="bench/faults/run", description=FIRST)
    several = ", ".join([*parts.PARTS, "document"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{several}; all of them without a name")
    parser.add_argument("--times", type=int, default=20, help="random points of each part (20)")
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
        tare = Tare(options.program)
        chance = random.Random(f"{options.seed} {name}")
        outcomes = [parts.PARTS[name].carry_out(tare, chance, number) for number in range(options.times)]
        failures += results.write(name, outcomes, options.seed)
    return 1 if failures else 0


try:
    sys.exit(main())
except Problem as problem:
    sys.exit(f"error: {problem}")
