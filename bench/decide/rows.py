"""Stores results: a JSON Lines file for each part, with a line for each run. An interrupted part continues after its last line."""

import json
import pathlib

FOLDER = pathlib.Path("bench/decide/results")


class Rows:
    """The rows of one part."""

    def __init__(self, part, folder=FOLDER):
        self.file = folder / f"{part}.jsonl"

    def read_all(self):
        """Every row, in the order in which the runs ended."""
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines() if line]

    def has(self, case, seed):
        """Whether there is a row for this case and seed."""
        return any(row["case"] == case and row["seed"] == seed for row in self.read_all())

    def replace(self, rows):
        """Replaces all rows by these."""
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        self.file.write_text("".join(lines), encoding="utf-8")

    def append(self, row):
        """Adds a row. It is on disk when this returns."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
