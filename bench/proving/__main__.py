"""The command line of `bench/peers`: selects tools and rows, runs the rounds in random order, writes the document."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

from . import document, rows
from .reference import Reference
from .tools import TOOLS


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/peers",
        description="Runs tare and whichever of its peers are installed against the reference server, in alternation, "
        "and writes docs/PEERS.md. The machine should do nothing else meanwhile.",
    )
    parser.add_argument("--quick", action="store_true", help="one short round: to see that it works, not to believe it")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the cost rows (2)")
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--load-cpu", type=int, default=1)
    parser.add_argument("--tools", default="", help="only these, by name, with commas between")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the order")
    parser.add_argument("--output", help="- for the terminal, as with --quick; else docs/PEERS.md")
    options = parser.parse_args()
    options.output = options.output or ("-" if options.quick else "docs/PEERS.md")
    return options


def main():
    options = arguments()
    wanted = [name for name in options.tools.split(",") if name]
    installed = [tool for tool in TOOLS if shutil.which(tool.program)]
    tools = [tool for tool in installed if not wanted or tool.name in wanted]
    absent = sorted({tool.program for tool in TOOLS if tool not in installed})
    print(f"tools: {', '.join(tool.name for tool in tools)}; not installed: {', '.join(absent) or 'none'}", file=sys.stderr)

    plan = rows.quick() if options.quick else rows.full(options.rounds)
    tasks = [(row, tool, turn) for row in plan for tool in tools for turn in range(row.rounds) if tool.can(row)]
    # Rounds one after another, each in its own random order.
    chance = random.Random(options.seed)
    tasks.sort(key=lambda task: (task[2], chance.random()))
    total_s = sum(tool.duration_s(row) + 1.0 for row, tool, _ in tasks)
    print(f"{len(tasks)} runs, about {total_s / 60:.1f} minutes", file=sys.stderr)

    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (row, tool, _) in enumerate(tasks, 1):
            print(f"[{number}/{len(tasks)}] {row.title}: {tool.name}", file=sys.stderr)
            with Reference(row.planted, options.server_cpu, folder) as server:
                outcome = tool.run(row, server, options.load_cpu, folder)
            outcome.judge(row, server.ledger())
            if outcome.failure:
                print(f"    failed: {outcome.failure}", file=sys.stderr)
            outcomes.append(outcome)
    text = document.of(plan, tools, absent, outcomes, options)
    if options.output == "-":
        print(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written: {options.output}", file=sys.stderr)


os.environ["LC_ALL"] = "C"
main()
