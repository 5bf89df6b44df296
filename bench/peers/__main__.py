"""The command line of `bench/peers/run`: selects tools and rows, runs the rounds in random order, writes the document."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

from . import document, rows
from .reference import ReferenceServer
from .tools import TOOLS


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench/peers/run",
        description="Runs tare and whichever of its peers are installed against the reference server, in alternation, "
        "and writes docs/PEERS.md. The machine should be otherwise idle.",
    )
    parser.add_argument("--quick", action="store_true", help="one short round, to see that everything works; its figures mean nothing")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the cost rows (2)")
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--load-cpu", type=int, default=1)
    parser.add_argument("--tools", default="", help="only these tools: names, separated by commas")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random order")
    parser.add_argument("--output", help="file to write; - is the terminal (docs/PEERS.md; with --quick: -)")
    options = parser.parse_args()
    options.output = options.output or ("-" if options.quick else "docs/PEERS.md")
    return options


def main():
    options = parse_arguments()
    requested = [name for name in options.tools.split(",") if name]
    installed = [tool for tool in TOOLS if shutil.which(tool.program)]
    tools = [tool for tool in installed if not requested or tool.name in requested]
    missing = sorted({tool.program for tool in TOOLS if tool not in installed})
    print(f"tools: {', '.join(tool.name for tool in tools)}; not installed: {', '.join(missing) or 'none'}", file=sys.stderr)

    all_rows = rows.quick_rows() if options.quick else rows.full_rows(options.rounds)
    planned_runs = [(row, tool, round_number) for row in all_rows for tool in tools for round_number in range(row.rounds) if tool.supports(row)]
    # One round after the other, each in its own random order.
    rng = random.Random(options.seed)
    planned_runs.sort(key=lambda planned_run: (planned_run[2], rng.random()))
    total_s = sum(tool.duration_s(row) + 1.0 for row, tool, _ in planned_runs)
    print(f"{len(planned_runs)} runs, about {total_s / 60:.1f} minutes", file=sys.stderr)

    outcomes = []
    for run_number, (row, tool, round_number) in enumerate(planned_runs, 1):
        print(f"[{run_number}/{len(planned_runs)}] {row.title}: {tool.name}", file=sys.stderr)
        # A folder of its own, so that a run that fails does not read the results of an earlier one.
        with tempfile.TemporaryDirectory() as folder:
            with ReferenceServer(row.planted, options.server_cpu, folder) as server:
                outcome = tool.run(row, server, options.load_cpu, folder)
            outcome.round = round_number
            outcome.compare_with_ledger(row, server.read_ledger())
        if outcome.problem:
            print(f"    failed: {outcome.problem}", file=sys.stderr)
        outcomes.append(outcome)
    text = document.render_page(all_rows, tools, missing, outcomes, options)
    if options.output == "-":
        print(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written: {options.output}", file=sys.stderr)


os.environ["LC_ALL"] = "C"
main()
