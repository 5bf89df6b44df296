"""The rows of the bench: a request, a load and the planted behaviour of the server. Computes the true values that follow from it."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    kind: str  # cost, lateness, stall, delays
    title: str
    connections: int
    seconds: float
    rounds: int = 1
    rate_per_s: float | None = None  # None: a closed loop
    post_bytes: int = 0
    protocol: str = "http1"  # http1, h2c (HTTP/2 by prior knowledge), grpc (unary calls)
    streams: int = 1  # requests at a time on a connection
    urls: int = 1  # different URLs, which take turns
    planted: list = field(default_factory=list)

    @property
    def path(self):
        if self.protocol == "grpc":
            return f"/{CALL}"
        return "/pathBytes0" if self.post_bytes else "/path0/1"

    @property
    def yardstick(self):
        """The tool that the costs of the others are compared with."""
        return "wrk" if self.protocol == "http1" else "h2load"

    @property
    def paths(self):
        """The paths of a list of URLs."""
        return [f"/path{number % 128}/{number}" for number in range(self.urls)]


CALL = "grpc.health.v1.Health/Check"

# The percentiles that the tables show and compare with the truth.
SHOWN = [50, 95, 99, 99.9, 99.99]

STALL_S = 1.0
STALL_EVERY_S = 10.0
# Slightly more than one in a hundred, so that p99 is clearly a slow request.
SLOW_SHARE, FAST_US, SLOW_US = 0.011, 1300, 50_000


def full_rows(rounds):
    return make_rows(cost_s=2, rounds=rounds, lateness_s=5, stall_s=20, delays_s=10)


def quick_rows():
    return make_rows(cost_s=1, rounds=1, lateness_s=2, stall_s=10, delays_s=3)


def make_rows(cost_s, rounds, lateness_s, stall_s, delays_s):
    stall_flags = ["--stall-every-s", str(STALL_EVERY_S), "--stall-ms", str(int(STALL_S * 1000))]
    delay_flags = ["--delay-us", str(FAST_US), "--slow-share", str(SLOW_SHARE), "--slow-us", str(SLOW_US)]
    return [
        Row("cost", "GET, 64 connections", 64, cost_s, rounds),
        Row("cost", "GET, 1000 connections", 1000, cost_s, rounds),
        Row("cost", "POST 256 B, 64 connections", 64, cost_s, rounds, post_bytes=256),
        Row("cost", "GET, 1000 URLs, 64 connections", 64, cost_s, rounds, urls=1000),
        Row("cost", "GET, 64 × 1", 64, cost_s, rounds, protocol="h2c"),
        Row("cost", "GET, 16 × 16", 16, cost_s, rounds, protocol="h2c", streams=16),
        Row("cost", "gRPC call, 16 × 16", 16, cost_s, rounds, protocol="grpc", streams=16),
        Row("lateness", "20,000 requests/s", 50, lateness_s, rate_per_s=20_000),
        Row("stall", "freezes", 50, stall_s, rate_per_s=1000, planted=stall_flags),
        Row("delays", "known delays", 50, delays_s, rate_per_s=1000, planted=delay_flags),
    ]


def stall_truth_ms(percentile):
    """The true percentile of the response time of evenly spaced requests, in ms. A request that is due a time t before the end of a
    stall waits for t; the server stalls for a tenth of the time. None for percentiles that the stall does not determine."""
    stalled_share = STALL_S / STALL_EVERY_S
    slower_share = 1 - percentile / 100
    return (1 - slower_share / stalled_share) * STALL_S * 1000 if slower_share < stalled_share * 0.9 else None


def delays_truth_ms(ledger, percentile):
    """The true percentile of the response time by the server's own ledger, in ms."""
    return quantile([(left_ns - arrived_ns) / 1e6 for arrived_ns, left_ns in ledger], percentile)


def lateness_us(ledger, rate_per_s):
    """How late requests reached the server, in µs: p50 and p99. The schedule is evenly spaced, and placed so that a hundredth of the
    arrivals are early."""
    delays_ns = sorted(arrived_ns - index * 1e9 / rate_per_s for index, (arrived_ns, _) in enumerate(ledger))
    least_ns = delays_ns[len(delays_ns) // 100]
    return [(delays_ns[int(len(delays_ns) * share)] - least_ns) / 1e3 for share in (0.5, 0.99)]


def quantile(values, percentile):
    """The smallest value that at least this percentage of the values does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(len(values) * percentile / 100) - 1)] if values else None
