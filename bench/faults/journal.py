"""Keeps the outcomes of finished breaks, so that an interrupted campaign continues with the next break."""

import hashlib
import json
import pathlib

from .outcome import Outcome

FOLDER = pathlib.Path("target/faults")


class Journal:
    """The outcomes of one part, one per line, in a file that names the part, the seed and the program."""

    def __init__(self, name, seed, program):
        """Reads the file if it exists. Ignores a line that was cut short."""
        digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:12]
        self.path = FOLDER / f"{name}-{seed}-{digest}.jsonl"
        self.outcomes = {}
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.outcomes[row["number"]] = Outcome(row["outcome"], row["is_right"])

    def missing_numbers(self, count):
        """The numbers below `count` that have no outcome yet."""
        return [number for number in range(count) if number not in self.outcomes]

    def add(self, number, outcome):
        self.outcomes[number] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = {"number": number, "outcome": outcome.text, "is_right": outcome.is_right}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")

    def first_outcomes(self, count):
        """The outcomes of the first `count` breaks, in the order of their numbers."""
        return [self.outcomes[number] for number in range(count)]

    def delete(self):
        self.path.unlink(missing_ok=True)
