"""Cells and tables of the page."""

import json


def group_by_case(rows):
    """The rows of each case, in the order in which the cases were first measured."""
    groups = {}
    for row in rows:
        groups.setdefault(json.dumps(row["case"], sort_keys=True), []).append(row)
    return [(some[0]["case"], some) for some in groups.values()]


def day_and_processor(row):
    """Cells for when and where a row was measured. Older rows do not name the processor."""
    processor = row["run"].get("processor", "–").replace("(R)", "").removesuffix(" Processor")
    return [day_of(row), processor]


def day_of(row):
    return row["run"]["started_at"][:10]


def markdown_table(headings, lines):
    line = lambda cells: f"| {' | '.join(cells)} |"
    return "\n".join([line(headings), line(["---"] * len(headings)), *map(line, lines)])


def format_percent(share, digits):
    return "–" if share is None else f"{share * 100:.{digits}f} %".replace("-", "−")


def format_duration(time):
    if time is None:
        return "–"
    return f"{time:.0f} s" if time < 90 else f"{time / 60:.1f} min" if time < 5_400 else f"{time / 3_600:.1f} h"
