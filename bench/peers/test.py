"""Tests how the figures that tools print are read: `python3 -m unittest bench.peers.test`."""

import unittest

from . import document
from .go_tools import Hey
from .outcome import Outcome
from .rows import Row
from .tools import Wrk

WRK = """Running 2s test @ http://127.0.0.1:1234/connect
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  412.00us   9.00ms   91.00%
    Req/Sec     7.80k   301.00     8.40k    70.00%
  Latency Distribution
     50%    0.95ms
     99%    2.22ms
  15600 requests in 2.00s, 1.50MB read
{errors}Requests/sec:   7800.00
Transfer/sec:    768.00KB
"""


class Figures(unittest.TestCase):
    def test_a_run_of_wrk_with_any_error_is_not_usable(self):
        for printed, errors in [
            ("", 0),
            ("  Socket errors: connect 1, read 20, write 300, timeout 4000\n", 4321),
            ("  Socket errors: connect 0, read 0, write 0, timeout 5\n  Non-2xx or 3xx responses: 6\n", 11),
            ("  Non-2xx or 3xx responses: 6\n", 6),
        ]:
            outcome = Outcome("", "wrk", served=15600)
            Wrk().read(None, WRK.format(errors=printed), "", outcome)
            self.assertEqual((outcome.requests, outcome.errors, document.is_usable(outcome)), (15600, errors, errors == 0))
            self.assertEqual(outcome.percentiles_ms, {50.0: 0.95, 99.0: 2.22})

    def test_a_run_of_hey_with_any_error_is_not_usable(self):
        ok, refused, gone = "  [200]\t900 responses\n", "  [503]\t20 responses\n", "\nError distribution:\n  [3]\tGet http://x/: EOF\n"
        for printed, errors in [(ok, 0), (ok + refused, 20), (ok + gone, 3), (ok + refused + gone, 23)]:
            outcome = Outcome("", "hey", served=900)
            Hey().read(Row("cost", "", 1, 1.0), "Status code distribution:\n" + printed, "", outcome)
            self.assertEqual((outcome.requests, outcome.errors, document.is_usable(outcome)), (900, errors, errors == 0))


if __name__ == "__main__":
    unittest.main()
