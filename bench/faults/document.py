"""docs/FAULTS.md, from the counts."""

import pathlib
import sys

from ..wrap_prose import wrap
from . import results
from .parts import PARTS

PAGE = pathlib.Path("docs/FAULTS.md")

HEAD = """\
# What is left when something breaks

`bench/faults/run` breaks loads and runs of tare at random points and counts what was left. `bench/faults/run document` writes this
page from `bench/faults/results`. No number is typed. Terms are defined in [GLOSSARY.md](GLOSSARY.md)."""


def write():
    """Writes the page."""
    sections = [HEAD, *(section(name, part) for name, part in PARTS.items() if results.read(name))]
    PAGE.write_text(wrap("\n\n".join(sections)) + "\n", encoding="utf-8")
    print(f"written: {PAGE}", file=sys.stderr)


def section(name, part):
    counts = results.read(name)
    lines = [f"| {row['outcome']} | {row['count']} | {'yes' if row['is_right'] else '**no**'} |" for row in counts["outcomes"]]
    facts = f"{counts['times']} times, seed {counts['seed']}, {counts['date']}, revision {counts['revision']}."
    table = "\n".join(["| what was left | times | as promised |", "|---|---|---|", *lines])
    return f"## {part.title}\n\n{part.meaning} {facts}\n\n{table}"
