"""Runs the breaks of some parts, several at a time, and continues where an earlier campaign was interrupted."""

import concurrent.futures
import random
import sys
import time

from . import results
from .journal import Journal
from .parts import PARTS
from .tare import Tare


class Campaign:
    """The breaks of some parts on one program."""

    def __init__(self, names, options):
        self.tare = Tare(options.program)
        self.options = options
        self.journals = {name: Journal(name, options.seed, self.tare.program) for name in names}

    def print_plan(self):
        """Prints how many breaks are left, and about how long they take."""
        minutes = [self.print_part_plan(name) for name in self.journals]
        print(f"in all about {sum(minutes):.0f} min, {self.options.jobs} at a time", file=sys.stderr)
        print("An interrupted campaign continues with the same command.", file=sys.stderr, flush=True)

    def print_part_plan(self, name):
        missing, break_count = len(self.journals[name].missing_numbers(self.break_count(name))), self.break_count(name)
        minutes = missing * PARTS[name].estimated_s / self.options.jobs / 60
        print(f"{name}: {missing} of {break_count} breaks are left, about {minutes:.1f} min", file=sys.stderr)
        return minutes

    def run_breaks(self):
        """Runs the breaks that are left and writes the counts of each part; returns the number of wrong outcomes."""
        wrong_count = 0
        with self.tare.exit_stack:
            for name, journal in self.journals.items():
                self.run_part(name)
                wrong_count += results.write(name, journal.first_outcomes(self.break_count(name)), self.options.seed)
        # The campaign is complete: the same command starts a new one.
        for journal in self.journals.values():
            journal.delete()
        return wrong_count

    def run_part(self, name):
        journal = self.journals[name]
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        breaks = {pool.submit(self.run_break, name, number): number for number in journal.missing_numbers(self.break_count(name))}
        try:
            for finished in concurrent.futures.as_completed(breaks):
                journal.add(breaks[finished], finished.result())
        finally:
            pool.shutdown(cancel_futures=True)

    def run_break(self, name, number):
        """Runs one break. Its random numbers depend on its number only, not on the order of breaks."""
        while self.options.while_absent is not None and self.options.while_absent.exists():
            time.sleep(1.0)
        return PARTS[name].run_break(self.tare, random.Random(f"{self.options.seed} {name} {number}"))

    def break_count(self, name):
        return self.options.times or PARTS[name].break_count
