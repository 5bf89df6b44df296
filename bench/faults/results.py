"""The counts of each part, one JSON file per part."""

import collections
import json
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).parent / "results"


def write(name, outcomes, seed):
    """Writes and prints the counts of a part; returns the number of wrong outcomes."""
    counts = collections.Counter(outcomes)
    rows = [{"outcome": outcome.text, "is_right": outcome.is_right, "count": count} for outcome, count in counts.most_common()]
    revision = subprocess.run(["git", "describe", "--always"], capture_output=True, text=True, check=False).stdout.strip()
    part = {"part": name, "date": time.strftime("%Y-%m-%d"), "revision": revision, "seed": seed, "times": len(outcomes), "outcomes": rows}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(part, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for row in rows:
        print(f"{name}: {row['count']:>4}  {'' if row['is_right'] else 'WRONG: '}{row['outcome']}", file=sys.stderr)
    return sum(row["count"] for row in rows if not row["is_right"])


def read(name):
    """The counts of a part; None if there are none."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
