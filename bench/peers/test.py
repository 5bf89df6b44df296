"""Tests how the figures that tools print are read: `python3 -m unittest bench.peers.test`."""

import json
import pathlib
import re
import tempfile
import unittest

from . import document
from .go_tools import Hey, K6
from .outcome import Outcome
from .reference import ReferenceServer
from .rows import Row
from .tool import PERCENTILES
from .tools import NAMED_PERCENTILES, TOOLS, Ab, Oha, Wrk, Zrk

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


def zrk(status, count, timeout=0):
    """What zrk writes of three right answers and `count` of another status: 4xx and 5xx are among its errors, 3xx are not."""
    statuses = {"1xx": 0, "2xx": 3, "3xx": 0, "4xx": 0, "5xx": 0, status: count}
    errors = {"connect": 0, "read": 0, "write": 0, "timeout": timeout, "deadline": 0, "non_2xx_3xx": statuses["4xx"] + statuses["5xx"]}
    return {"status_codes": statuses, "errors": errors, "latency_us": {name: 1000 for _, name in NAMED_PERCENTILES}}


class Figures(unittest.TestCase):
    def test_a_run_of_wrk_with_any_error_is_not_usable(self):
        for printed, requests, errors in [
            ("", 15600, 0),
            ("  Socket errors: connect 1, read 20, write 300, timeout 4000\n", 15600, 4321),
            ("  Socket errors: connect 0, read 0, write 0, timeout 5\n  Non-2xx or 3xx responses: 6\n", 15594, 11),
            ("  Non-2xx or 3xx responses: 6\n", 15594, 6),
        ]:
            outcome = Outcome("", "wrk", served=15600)
            Wrk().read(None, WRK.format(errors=printed), "", outcome)
            self.assertEqual((outcome.requests, outcome.errors, document.is_usable(outcome)), (requests, errors, errors == 0))
            self.assertEqual(outcome.percentiles_ms, {50.0: 0.95, 99.0: 2.22})

    def test_a_run_of_hey_with_any_error_is_not_usable(self):
        ok, refused, gone = "  [200]\t900 responses\n", "  [503]\t20 responses\n", "\nError distribution:\n  [3]\tGet http://x/: EOF\n"
        for printed, errors in [(ok, 0), (ok + refused, 20), (ok + gone, 3), (ok + refused + gone, 23)]:
            outcome = Outcome("", "hey", served=900)
            Hey().read(Row("cost", "", 1, 1.0), "Status code distribution:\n" + printed, "", outcome)
            self.assertEqual((outcome.requests, outcome.errors, document.is_usable(outcome)), (900, errors, errors == 0))

    def test_an_answer_that_is_not_2xx_is_an_error_of_every_tool(self):
        """Each tool had 5 answers, 2 of them with status 503."""
        percentiles = {form.format(percentile): 1.0 for percentile in PERCENTILES for form in ("p{}", "p({})")}
        k6 = {"metrics": {"http_reqs": {"count": 5}, "http_req_failed": {"passes": 2}, "http_req_duration": percentiles}}
        oha = {"statusCodeDistribution": {"200": 3, "503": 2}, "errorDistribution": {}, "latencyPercentiles": percentiles}
        hey = "response-time,status-code\n" + "0.1,200\n" * 3 + "0.2,503\n" * 2
        ab = "Complete requests:      5\nFailed requests:        0\nNon-2xx responses:      2\n"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ab.csv").write_text("Percentage served,Time in ms\n50,1.5\n", encoding="ascii")
            pathlib.Path(folder, "k6.json").write_text(json.dumps(k6), encoding="ascii")
            pathlib.Path(folder, "zrk.json").write_text(json.dumps(zrk("5xx", 2)), encoding="ascii")
            for tool, printed in [(Hey(), hey), (Ab(), ab), (Oha(), json.dumps(oha)), (K6(), ""), (Zrk(), "")]:
                outcome = Outcome("", tool.name, served=5)
                tool.read(Row("stall", "", 1, 1.0, rate_per_s=1.0), printed, folder, outcome)
                self.assertEqual((tool.name, outcome.requests, outcome.errors), (tool.name, 3, 2))
                self.assertEqual(outcome.problem, "2 errors")

    def test_a_redirect_and_a_timeout_are_errors_of_zrk(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "zrk.json").write_text(json.dumps(zrk("3xx", 2, timeout=1)), encoding="ascii")
            outcome = Outcome("", "zrk", served=5)
            Zrk().read(None, "", folder, outcome)
            self.assertEqual((outcome.requests, outcome.errors), (3, 3))

    def test_the_flags_of_every_tool_that_is_measured_are_mapped(self):
        flags = pathlib.Path("docs/FLAGS.md").read_text(encoding="utf-8")
        names = {tool.name.split()[0] for tool in TOOLS}
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", flags)], [])

    def test_a_server_that_had_to_be_killed_has_no_ledger(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(ReferenceServer([], 0, folder).read_ledger(), [])


if __name__ == "__main__":
    unittest.main()
