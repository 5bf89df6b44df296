"""Carries out the breaks of some parts, several at a time, and continues where an earlier campaign was interrupted."""

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

    def announce(self):
        """Says how many breaks are left, and about how long they take."""
        minutes = [self.announce_part(name) for name in self.journals]
        print(f"in all about {sum(minutes):.0f} min, {self.options.jobs} at a time", file=sys.stderr)
        print("An interrupted campaign continues with the same command.", file=sys.stderr, flush=True)

    def announce_part(self, name):
        left, times = len(self.journals[name].missing(self.times(name))), self.times(name)
        minutes = left * PARTS[name].about_s / self.options.jobs / 60
        print(f"{name}: {left} of {times} breaks are left, about {minutes:.1f} min", file=sys.stderr)
        return minutes

    def carry_out(self):
        """Carries out what is left and writes the counts of each part; returns the number of outcomes that are not right."""
        wrong = 0
        with self.tare.kept:
            for name, journal in self.journals.items():
                self.carry_out_part(name)
                wrong += results.write(name, journal.first(self.times(name)), self.options.seed)
        # The same command breaks everything anew from now on.
        for journal in self.journals.values():
            journal.forget()
        return wrong

    def carry_out_part(self, name):
        journal = self.journals[name]
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        breaks = {pool.submit(self.carry_out_break, name, number): number for number in journal.missing(self.times(name))}
        try:
            for done in concurrent.futures.as_completed(breaks):
                journal.add(breaks[done], done.result())
        finally:
            pool.shutdown(cancel_futures=True)

    def carry_out_break(self, name, number):
        """Carries out one break. Each has its own random numbers, in whatever order they end."""
        while self.options.while_absent is not None and self.options.while_absent.exists():
            time.sleep(1.0)
        return PARTS[name].carry_out(self.tare, random.Random(f"{self.options.seed} {name} {number}"))

    def times(self, name):
        return self.options.times or PARTS[name].times
