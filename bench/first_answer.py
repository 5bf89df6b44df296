#!/usr/bin/env python3
"""How much the share of a layer's frames differs between starts: bench/first_answer.csv, to which a test in crates/analysis fits the
spread behind a first answer. It has a line for each CPU profile of two starts or more that has frames of the focus, from the summaries
that are given, and from bench/findings/evidence. Usage: `bench/first_answer.py .tare/runs/*/summary.json`."""

import csv
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def rows(file):
    summary = json.loads(file.read_text(encoding="utf-8"))
    for view in (summary.get("profiles") or {"views": []})["views"]:
        share, starts = view["focus_share"], view["forks"]
        if view["event"] == "cpu" and share and share["value"] > 0 and starts > 1:
            figures = [f"{share[key]:.6f}" for key in ("value", "lo", "hi")]
            yield summary["run"]["id"][:10], view["variant"], view["scenario"], starts, view["samples"], *figures


def main():
    files = [*sorted((HERE / "findings/evidence").glob("profile-*.json")), *map(pathlib.Path, sys.argv[1:])]
    with open(HERE / "first_answer.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["day", "server", "scenario", "starts", "samples", "share", "lo", "hi"])
        table.writerows(row for one in files for row in rows(one))


main()
