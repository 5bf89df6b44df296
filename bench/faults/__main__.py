"""The command line of `bench/faults/run`."""

import argparse
import pathlib
import sys

from ..problem import Problem
from . import document, parts
from .campaign import Campaign

DESCRIPTION = """\
Breaks loads and runs of tare at random points: killed and stopped processes, full disks, lost writes, limits, unusual servers.
Each part counts what was left, and writes its counts to bench/faults/results. Nothing is measured, so the machine may do other
work. Some parts need root. The expected duration is printed first. An interrupted campaign continues with the same command."""


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/faults/run", description=DESCRIPTION)
    several = ", ".join([*parts.PARTS, "document"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{several}; all of them without a name")
    parser.add_argument("--times", type=int, help="breaks of each part (each part has its own default)")
    parser.add_argument("--jobs", type=int, default=1, help="breaks that run at the same time (1)")
    parser.add_argument("--while-absent", type=pathlib.Path, metavar="FILE", help="start no break while this file exists")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random points (1)")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/tare"), help="the tare to break")
    parser.add_argument("--dry-run", action="store_true", help="only print how many breaks are left, and how long they take")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in parts.PARTS and name != "document"]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; the parts are {several}")
    if options.times is not None and options.times < 1 or options.jobs < 1:
        parser.error("write 1 or more for --times and --jobs")
    return options


def main():
    options = parse_arguments()
    wanted = options.parts or [*parts.PARTS, "document"]
    names = [name for name in wanted if name != "document"]
    wrong_count = 0
    if names:
        campaign = Campaign(names, options)
        campaign.print_plan()
        if options.dry_run:
            return 0
        wrong_count = campaign.run_breaks()
    if "document" in wanted:
        document.write()
    return 1 if wrong_count else 0


try:
    sys.exit(main())
except Problem as problem:
    sys.exit(f"error: {problem}")
except KeyboardInterrupt:
    sys.exit("interrupted; the same command continues the campaign")
