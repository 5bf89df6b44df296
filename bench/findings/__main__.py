"""The command line of `bench/findings/make`: stores the results of a run as evidence, or writes the page from claims and evidence.

Where to read on:
- storing: `evidence.py` copies a part of a run's summary.json to `evidence/`; `stacks.py` looks methods up in its profiles;
- reading: `claims.py` and `shelf.py` read both folders, and `schema.py` checks their keys;
- writing: `document.py` has the page's order. For each claim, `prose.py` fills in the figures of its text, `picks.py` selects the
  rows of its tables, `tables.py`, `cells.py` and `variation.py` make them, `plot.py` draws, `caption.py` has the line above a table;
- `judgement.py` checks that the evidence still supports a judgement, `figures.py` formats numbers, and `setting.py` and `runs.py`
  describe machine and runs.
"""

import argparse
import pathlib
import sys

from . import claims, document, evidence, shelf, tables
from .problem import Problem

PAGE = pathlib.Path("docs/FINDINGS.md")


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/findings/make",
        description="Writes docs/FINDINGS.md from bench/findings/claims and bench/findings/evidence. Every number in a table comes from "
        "evidence, and evidence from a run.",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    parser.add_argument(
        "--take", nargs=2, metavar=("NAME", "RUN"), help="store the results of a run as evidence/NAME.json; RUN is its folder, .tare/runs/ID"
    )
    parser.add_argument("--scenarios", nargs="+", metavar="GLOB", default=["*"], help="with --take: only these scenarios")
    parser.add_argument(
        "--methods", nargs="+", metavar="GLOB", default=[], help="with --take: for a profile, also these methods, if its tables do not list them"
    )
    return parser.parse_args()


def main():
    options = arguments()
    if options.take:
        name, run = options.take
        print(f"written: {evidence.take(name, pathlib.Path(run), options.scenarios, methods=options.methods)}", file=sys.stderr)
        return
    known, evidences = claims.all_of_them(), shelf.Shelf()
    files = {PAGE: document.of(known, evidences)}
    files |= {PAGE.parent / name: svg for claim in known for name, svg in tables.pictures(claim, evidences).items()}
    for path, text in files.items():
        if not options.check:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path}", file=sys.stderr)
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            raise Problem(f"{path} does not match the claims and their evidence: run bench/findings/make")


try:
    main()
except Problem as problem:
    sys.exit(f"error: {problem}")
