"""The outcome of one run of one tool: the tool's own figures, its CPU time, and the figures from the server's ledger."""

from dataclasses import dataclass, field

from . import rows


@dataclass
class Outcome:
    row: str
    tool: str
    seconds: float = 0.0
    round: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    failure: str = ""
    # As the tool reports it.
    requests: int | None = None
    errors: int = 0
    percentiles_ms: dict = field(default_factory=dict)
    # As the server recorded it.
    served: int = 0
    lateness_us: list = field(default_factory=list)
    truth_ms: dict = field(default_factory=dict)

    def compare_with_ledger(self, row, ledger):
        self.served = len(ledger)
        if row.kind == "lateness" and ledger:
            self.lateness_us = rows.lateness_us(ledger, row.rate_per_s)
        for percentile in rows.SHOWN:
            truth = None
            if row.kind == "stall":
                truth = rows.stall_truth_ms(percentile)
            elif row.kind == "delays":
                truth = rows.delays_truth_ms(ledger, percentile)
            if truth:
                self.truth_ms[percentile] = truth

    @property
    def problem(self):
        """What went wrong in the run, as text; empty if nothing did."""
        return self.failure or (f"{self.errors:,} errors" if self.errors else "")

    @property
    def cpu_us(self):
        """CPU of the whole process, per request that the server answered."""
        return self.cpu_s * 1e6 / self.served if self.served else None
