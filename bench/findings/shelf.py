"""Reads evidence by name, and rejects incomplete evidence."""

from .evidence import CELL, FOLDER, PROFILE, STEP, parsed
from .problem import Problem

# The keys that the page needs in every file of evidence, and in each of its cells, comparisons, steps and profiles.
SHAPE = {
    "cells": [*CELL, "versions", "throughputs_per_s", "latency"],
    "comparisons": ["id", "group", "scenario", "variant", "baseline", "currencies"],
    "steps": ["group", "scenario", "forks", *STEP],
    "profiles": [*PROFILE, "methods"],
}


class Shelf:
    """The evidence by name, read on first use."""

    def __init__(self, folder=FOLDER):
        self.folder = folder
        self.read = {}

    def get(self, name, place):
        """The evidence `name`; `place` names the caller in errors."""
        if name not in self.read:
            path = self.folder / f"{name}.json"
            if not path.exists():
                there = ", ".join(self.names())
                raise Problem(f'{place}: there is no evidence "{name}"; there are: {there or "none"}')
            self.read[name] = whole(path)
        return self.read[name]

    def names(self):
        return sorted(path.stem for path in self.folder.glob("*.json"))


def whole(path):
    """The evidence in a file, if it has everything that the page needs."""
    evidence = parsed(path)
    for key in ("run", "machine", "cells", "comparisons"):
        if not isinstance(evidence, dict) or key not in evidence:
            raise Problem(f"{path.name}: {key} is missing: take the run again (--take {path.stem} RUN)")
    for kind, keys in SHAPE.items():
        for number, one in enumerate(evidence.setdefault(kind, []), 1):
            missing = [key for key in keys if key not in one]
            if missing:
                raise Problem(f"{path.name}: number {number} of its {kind} has no {missing[0]}: take the run again (--take {path.stem} RUN)")
    return evidence
