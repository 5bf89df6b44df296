"""The command line of `bench/findings/make`: keeps what a run says as evidence, or writes the page from claims and evidence."""

import argparse
import pathlib
import sys

from . import claims, document, evidence, shelf
from .problem import Problem

PAGE = pathlib.Path("docs/FINDINGS.md")


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/findings/make",
        description="Writes docs/FINDINGS.md from bench/findings/claims and bench/findings/evidence. Every number in a table comes from "
        "evidence, and evidence from a run.",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not what would be written")
    parser.add_argument(
        "--take", nargs=2, metavar=("NAME", "RUN"), help="keep what a run says as evidence/NAME.json; RUN is its folder, .tare/runs/ID"
    )
    parser.add_argument("--scenarios", nargs="+", metavar="GLOB", default=["*"], help="with --take: only what was measured under these")
    parser.add_argument(
        "--methods", nargs="+", metavar="GLOB", default=[], help="with --take: of a profile also these methods, where its tables do not list them"
    )
    return parser.parse_args()


def main():
    options = arguments()
    if options.take:
        name, run = options.take
        print(f"written: {evidence.take(name, pathlib.Path(run), options.scenarios, methods=options.methods)}", file=sys.stderr)
        return
    text = document.of(claims.all_of_them(), shelf.Shelf())
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        print(f"written: {PAGE}", file=sys.stderr)
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        raise Problem(f"{PAGE} is not what its claims and evidence say: run bench/findings/make")


try:
    main()
except Problem as problem:
    sys.exit(f"error: {problem}")
