"""The command line of `bench/decide/run`."""

import argparse
import sys

from . import checks, document, parts
from .problem import Problem

FIRST = """\
How quickly and how truthfully does tare decide? Each part can be interrupted (Ctrl-C) and goes on where it stopped. Rows are kept in
bench/decide/results, records in .tare/decide. The machine should do nothing else, except for `replay` and `document`."""
LAST = """\
examples:
  bench/decide/run replay .tare/runs/*/record.sqlite       simulated runs, from recorded forks and from known distributions
  bench/decide/run aa 20                                   http4s.Tapir against itself, seeds 1 to 20
  bench/decide/run planted 5                               2, 3, 5 and 10 % more CPU in the reference server
  bench/decide/run planted 5 --burners 2                   the same beside two programs that use a core each
  bench/decide/run planted-jvm 5                           2, 3 and 6 µs more CPU in a handler of http4s: about 5 to 15 %
  bench/decide/run sequential 8                            25 s of warm-up and 25 s of load, one start after the other
  bench/decide/run sequential 8 --burners 2 --burst-s 10   the same beside programs that come and go
  bench/decide/run compare 10                              the same question by tare
  bench/decide/run releases                                tare check of the pairs of releases in bench/decide/releases.toml
  bench/decide/run empty 20                                tare check of a commit that changes nothing
  bench/decide/run planted-check 5                         tare check of about 5 % more CPU in a handler of http4s
  bench/decide/run families 2 --arms batch,normal          two starts of each family under each policy; about 25 minutes
  bench/decide/run trace .tare/runs/1/record.sqlite http4s.Tapir 2     the cost of a request, round by round, in one start
  bench/decide/run document                                writes docs/DECIDE.md and its plot"""


def arguments():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/decide/run", description=FIRST, epilog=LAST, formatter_class=form)
    several = parser.add_subparsers(dest="part", required=True, metavar="PART")
    replay = several.add_parser("replay", help="simulated runs of a server against itself: how often is it called different?")
    replay.add_argument("records", nargs="*", metavar="RECORD", help="record.sqlite of a comparison; known distributions come along")
    replay.add_argument("--runs", type=int, default=2_000, help="simulated runs of each row (2000)")
    replay.set_defaults(carry_out=parts.replay)
    aa = measured(several, "aa", parts.aa, "5m", "real runs of a server against itself")
    aa.add_argument("--server", default="http4s.Tapir")
    planted = measured(several, "planted", parts.planted, "60s", "slowdowns planted in the reference server: time to the verdict, coverage")
    jvm = measured(several, "planted-jvm", parts.planted_jvm, "6m", "costs planted in a handler of http4s")
    sequential = measured(several, "sequential", parts.sequential, None, "25 s + 25 s for each server, one start after the other")
    compare = measured(several, "compare", parts.compare, "5m", "the same question by tare, to compare with sequential")
    planted.add_argument("--percent", type=number_list, default=number_list("2,3,5,10"), help="planted slowdowns (2,3,5,10)")
    jvm.add_argument("--micros", type=number_list, default=number_list("2,3,6"), help="planted microseconds (2,3,6)")
    for part in (sequential, compare):
        part.add_argument("--server", default="http4s.Tapir")
        part.add_argument("--baseline", default="http4s.Vanilla")
    pairs = several.add_parser("releases", help="tare check of pairs of releases that differ, and of pairs that do not")
    pairs.add_argument("--budget", default="5m", help="of each check (5m)")
    pairs.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="further flags of tare check; must come last")
    pairs.set_defaults(carry_out=checks.releases)
    empty = measured(several, "empty", checks.empty, "5m", "tare check of a commit that changes nothing")
    empty.add_argument("--server", default="http4s.Tapir")
    small = measured(several, "planted-check", checks.planted, "6m", "tare check of a cost that was planted in a handler of http4s")
    small.add_argument("--micros", type=number_list, default=number_list("3"), help="planted microseconds (3)")
    families = measured(several, "families", parts.families, None, "scheduling and warm-up by family: one start for each seed")
    families.add_argument("--families", type=names_of(parts.FAMILIES), default=list(parts.FAMILIES), help=f"some of {','.join(parts.FAMILIES)}")
    families.add_argument("--arms", type=names_of(parts.ARMS), default=list(parts.ARMS), help=f"some of {','.join(parts.ARMS)}")
    trace = several.add_parser("trace", help="prints how the cost of a request went in one start of a record, and what the compilers did")
    trace.add_argument("record", metavar="RECORD", help="record.sqlite of a run")
    trace.add_argument("server", metavar="SERVER", help="a variant of that run, such as http4s.TapirInterceptor")
    trace.add_argument("start", type=int, metavar="START", help="the number of the start")
    trace.set_defaults(carry_out=parts.trace)
    judge = several.add_parser("judge", help="judges the records of a part again, by the program of today")
    judge.add_argument("part", choices=("aa", "compare", "planted", "sequential"))
    judge.set_defaults(carry_out=parts.judge)
    several.add_parser("document", help="writes docs/DECIDE.md").set_defaults(carry_out=lambda _: document.write())
    return parser.parse_args()


def measured(several, name, carry_out, budget, words):
    part = several.add_parser(name, help=words)
    part.add_argument("runs", type=int, metavar="N", help="runs of each case, each with a seed of its own")
    part.add_argument("--first-seed", type=int, default=1, metavar="S", help="seeds are S, S + 1 and so on (1)")
    part.add_argument("--scenario", default="SimpleGet")
    part.add_argument("--burners", type=int, default=0, metavar="N", help="programs that use a core each, beside the run")
    part.add_argument("--burst-s", type=float, metavar="S", help="they burn and rest in turns of random length, S seconds on average")
    part.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="further flags of tare; must come last")
    if budget:
        part.add_argument("--budget", default=budget, help=f"of each run ({budget})")
    part.set_defaults(carry_out=carry_out)
    return part


def names_of(known):
    """A reader of comma separated names, of which each must be known."""

    def names(text):
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(known)}")
        return chosen

    return names


def number_list(text):
    return [float(number) for number in text.split(",")]


try:
    chosen = arguments()
    chosen.carry_out(chosen)
except Problem as problem:
    sys.exit(f"error: {problem}")
except KeyboardInterrupt:
    sys.exit("interrupted: the same command goes on with this run")
