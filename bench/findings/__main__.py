"""The command line of `bench/findings/make`: stores the results of a run as evidence, or writes the pages from claims and evidence.

Templates: `page.md.jinja` lists the claims, `claim.md.jinja` is the page of one claim, `runs.md.jinja` the page of the runs,
`plot.svg.jinja` an image. `overview.py` makes the first tables of the list, and `overview.svg.jinja` their images.

Modules: `claims.py` reads claims and looks up the figures in their texts. `runs.py` reads evidence, and `picks.py` selects from it.
`machines.py` combines runs of several machines. `tables.py` and `variation.py` make tables, `caption.py` the lines above them. `figures.py` formats numbers. `take.py` stores runs, and `judge.py`
judges them again when the rules change.
"""

import argparse
import pathlib
import sys

from . import judge, machines, page, take
from .problem import Problem

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/findings/make", description="Writes docs/FINDINGS.md and docs/findings/ from claims and evidence.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    parser.add_argument("--take", nargs=2, metavar=("NAME", "RUN"), help="store the run in the folder RUN, .tare/runs/ID, as evidence/NAME.json")
    parser.add_argument("--judge", nargs="+", metavar="NAME", help="judge the tables of these evidences again, by today's rules; then write the pages")
    parser.add_argument("--machines", nargs="+", metavar="NAME", help="combine these evidences of several machines; then write the pages")
    parser.add_argument("--scenarios", nargs="+", metavar="GLOB", default=["*"], help="with --take: only these scenarios")
    parser.add_argument("--methods", nargs="+", metavar="GLOB", default=[], help="with --take: also these methods of a profile")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.take:
        name, run = options.take
        print(f"written: {take.store_run(name, pathlib.Path(run), options.scenarios, options.methods)}", file=sys.stderr)
        return
    for name in options.judge or []:
        print(f"judged again: {judge.judge_again(name)}", file=sys.stderr)
    if options.machines:
        print(f"combined: {machines.combine(options.machines)}", file=sys.stderr)
    pages = {DOCS / name: text for name, text in page.render_pages().items()}
    if not options.check:
        for path, text in pages.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"written: {DOCS / 'FINDINGS.md'} and {len(pages) - 1} pages in {DOCS / 'findings'}", file=sys.stderr)
        return
    for path, text in pages.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise Problem(f"{path} does not match the claims and their evidence: run bench/findings/make")


try:
    main()
except Problem as problem:
    sys.exit(f"error: {problem}")
