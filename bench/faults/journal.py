"""The breaks of a part that are done, so that an interrupted campaign continues with the next one."""

import hashlib
import json
import pathlib

from .outcome import Outcome

FOLDER = pathlib.Path("target/faults")


class Journal:
    """The outcomes of one part, one per line, in a file that names the part, the seed and the program."""

    def __init__(self, name, seed, program):
        """Reads what is there. A line that was cut short counts as not written."""
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

    def missing(self, times):
        """Numbers of the breaks that are still to be carried out, of so many."""
        return [number for number in range(times) if number not in self.outcomes]

    def add(self, number, outcome):
        self.outcomes[number] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = {"number": number, "outcome": outcome.text, "is_right": outcome.is_right}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")

    def first(self, times):
        """The outcomes of the first breaks, in the order of their numbers."""
        return [self.outcomes[number] for number in range(times)]

    def forget(self):
        self.path.unlink(missing_ok=True)
