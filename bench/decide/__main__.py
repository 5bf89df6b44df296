"""The command line of `bench/decide/run`."""

import argparse
import sys

from ..problem import Problem
from . import checks, document, parts

DESCRIPTION = """\
Measures how quickly and how truthfully tare decides. Each part can be interrupted (Ctrl-C); the same command continues it. Rows are
stored in bench/decide/results, records in .tare/decide. The machine should do nothing else, except for `replay` and `document`."""
EXAMPLES = """\
examples:
  bench/decide/run replay .tare/runs/*/record.sqlite       simulated runs, from recorded starts and from known distributions
  bench/decide/run aa 20                                   http4s.Tapir against itself, seeds 1 to 20
  bench/decide/run planted 5                               2, 3, 5 and 10 % more CPU in the reference server
  bench/decide/run planted 5 --burners 2                   the same with two programs that use a core each
  bench/decide/run planted-jvm 5                           2, 3 and 6 µs more CPU in a handler of http4s: about 5 to 15 %
  bench/decide/run sequential 8                            25 s of warm-up and 25 s of load, one start after the other
  bench/decide/run sequential 8 --burners 2 --burst-s 10   the same with programs that use a core each in bursts
  bench/decide/run compare 10                              the same comparison by tare
  bench/decide/run releases                                tare check of the pairs of releases in bench/decide/releases.toml
  bench/decide/run empty 20                                tare check of a commit that changes nothing
  bench/decide/run planted-check 5                         tare check of about 5 % more CPU in a handler of http4s
  bench/decide/run trace .tare/runs/1/record.sqlite http4s.Tapir 2     the CPU per request in each round of one start
  bench/decide/run document                                writes docs/DECIDE.md and its plot"""


def parse_arguments():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/decide/run", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=formatter)
    subparsers = parser.add_subparsers(dest="part", required=True, metavar="PART")
    replay = subparsers.add_parser("replay", help="simulated runs of a server against itself: how often tare calls it different")
    replay.add_argument("records", nargs="*", metavar="RECORD", help="record.sqlite of a comparison; known distributions are always included")
    replay.add_argument("--runs", type=int, default=2_000, help="simulated runs for each row (2000)")
    replay.set_defaults(run_part=parts.simulate_runs)
    aa = add_measured_part(subparsers, "aa", parts.run_aa, "5m", "real runs of a server against itself")
    aa.add_argument("--server", default="http4s.Tapir")
    planted = add_measured_part(subparsers, "planted", parts.run_planted, "60s", "slowdowns planted in the reference server: time to the verdict, coverage")
    jvm = add_measured_part(subparsers, "planted-jvm", parts.run_planted_jvm, "6m", "costs planted in a handler of http4s")
    sequential = add_measured_part(subparsers, "sequential", parts.run_sequential, None, "25 s + 25 s for each server, one start after the other")
    compare = add_measured_part(subparsers, "compare", parts.run_comparison, "5m", "the comparison of sequential, measured by tare")
    planted.add_argument("--percent", type=parse_numbers, default=parse_numbers("2,3,5,10"), help="planted slowdowns (2,3,5,10)")
    jvm.add_argument("--micros", type=parse_numbers, default=parse_numbers("2,3,6"), help="planted microseconds (2,3,6)")
    for part in (sequential, compare):
        part.add_argument("--server", default="http4s.Tapir")
        part.add_argument("--baseline", default="http4s.Vanilla")
    pairs = subparsers.add_parser("releases", help="tare check of pairs of releases that differ, and of pairs that do not")
    pairs.add_argument("--budget", default="5m", help="of each check (5m)")
    pairs.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="further flags of tare check; must come last")
    pairs.set_defaults(run_part=checks.check_releases)
    empty = add_measured_part(subparsers, "empty", checks.check_empty_commits, "5m", "tare check of a commit that changes nothing")
    empty.add_argument("--server", default="http4s.Tapir")
    small = add_measured_part(subparsers, "planted-check", checks.run_planted_checks, "6m", "tare check of a cost that was planted in a handler of http4s")
    small.add_argument("--micros", type=parse_numbers, default=parse_numbers("3"), help="planted microseconds (3)")
    trace = subparsers.add_parser("trace", help="prints the CPU per request and the compilers' CPU time in each round of one start")
    trace.add_argument("record", metavar="RECORD", help="record.sqlite of a run")
    trace.add_argument("server", metavar="SERVER", help="a variant of that run, such as http4s.TapirInterceptor")
    trace.add_argument("start", type=int, metavar="START", help="the number of the start")
    trace.set_defaults(run_part=parts.print_trace)
    judge = subparsers.add_parser("judge", help="judges the records of a part again with the current program")
    judge.add_argument("part", choices=("aa", "compare", "planted", "sequential"))
    judge.set_defaults(run_part=parts.judge_again)
    subparsers.add_parser("document", help="writes docs/DECIDE.md").set_defaults(run_part=lambda _: document.write())
    return parser.parse_args()


def add_measured_part(subparsers, name, run_part, budget, help_text):
    part = subparsers.add_parser(name, help=help_text)
    part.add_argument("runs", type=int, metavar="N", help="runs of each case, each with its own seed")
    part.add_argument("--first-seed", type=int, default=1, metavar="S", help="seeds are S, S + 1 and so on (1)")
    part.add_argument("--scenario", default="SimpleGet")
    part.add_argument("--burners", type=int, default=0, metavar="N", help="programs that use a core each during the run")
    part.add_argument("--burst-s", type=float, metavar="S", help="burners alternate between burning and resting, for random times of S seconds on average")
    part.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="further flags of tare; must come last")
    if budget:
        part.add_argument("--budget", default=budget, help=f"of each run ({budget})")
    part.set_defaults(run_part=run_part)
    return part


def parse_numbers(text):
    return [float(number) for number in text.split(",")]


try:
    chosen = parse_arguments()
    chosen.run_part(chosen)
except Problem as problem:
    sys.exit(f"error: {problem}")
except KeyboardInterrupt:
    sys.exit("interrupted: the same command continues with this run")
