"""The rows: a request, a load and the planted behaviour of the server, with the truth that follows from it."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    kind: str  # cost, lateness, stall, delays
    title: str
    connections: int
    seconds: float
    rounds: int = 1
    rate_per_s: float | None = None  # None: as fast as answers come
    post_bytes: int = 0
    planted: list = field(default_factory=list)

    @property
    def path(self):
        return "/pathBytes0" if self.post_bytes else "/path0/1"


# The percentiles in the tables and in the judgement.
SHOWN = [50, 95, 99, 99.9, 99.99]

STALL_S = 1.0
STALL_EVERY_S = 10.0
# Slightly more than one in a hundred, so that p99 is clearly a slow request.
SLOW_SHARE, FAST_US, SLOW_US = 0.011, 1300, 50_000


def full(rounds):
    return build(cost_s=2, rounds=rounds, lateness_s=5, stall_s=20, delays_s=10)


def quick():
    return build(cost_s=1, rounds=1, lateness_s=2, stall_s=10, delays_s=3)


def build(cost_s, rounds, lateness_s, stall_s, delays_s):
    stalling = ["--stall-every-s", str(STALL_EVERY_S), "--stall-ms", str(int(STALL_S * 1000))]
    delaying = ["--delay-us", str(FAST_US), "--slow-share", str(SLOW_SHARE), "--slow-us", str(SLOW_US)]
    return [
        Row("cost", "GET, 64 connections", 64, cost_s, rounds),
        Row("cost", "GET, 1000 connections", 1000, cost_s, rounds),
        Row("cost", "POST 256 B, 64 connections", 64, cost_s, rounds, post_bytes=256),
        Row("lateness", "20,000 requests/s", 50, lateness_s, rate_per_s=20_000),
        Row("stall", "freezes", 50, stall_s, rate_per_s=1000, planted=stalling),
        Row("delays", "known delays", 50, delays_s, rate_per_s=1000, planted=delaying),
    ]


def stall_truth_ms(percentile):
    """The true percentile of the response time of evenly spaced requests. A request that is due r before the end of a stall
    waits for r, and the server stalls for a tenth of the time. None for percentiles that the stall does not determine."""
    frozen = STALL_S / STALL_EVERY_S
    above = 1 - percentile / 100
    return (1 - above / frozen) * STALL_S * 1000 if above < frozen * 0.9 else None


def delays_truth_ms(ledger, percentile):
    """The durations of the answers, by the server's own list."""
    return quantile([(left - came) / 1e6 for came, left in ledger], percentile)


def lateness_us(ledger, rate_per_s):
    """How late requests reached the server, compared with the evenly spaced schedule that fits best: p50 and p99. The schedule
    goes through the earliest hundredth of the arrivals, so that few are early."""
    behind = sorted(came - nth * 1e9 / rate_per_s for nth, (came, _) in enumerate(ledger))
    on_time = behind[len(behind) // 100]
    return [(behind[int(len(behind) * share)] - on_time) / 1e3 for share in (0.5, 0.99)]


def quantile(values, percentile):
    """The smallest value that at least this percentage of the values does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(len(values) * percentile / 100) - 1)] if values else None
