"""The tools: how to start each one, and how to read its figures. Each runs with the options that give its most accurate figures."""

import csv
import json
import os
import re
import subprocess

from .rows import quantile
from .tool import PERCENTILES, Tool

UNITS_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def connections_of(row):
    """The connections of a tool that has no rate. For a row with a rate they are few, so that the server is not the bottleneck."""
    return 8 if row.rate_per_s else row.connections


def set_percentiles(samples_ms, outcome):
    outcome.percentiles_ms = {percentile: quantile(samples_ms, percentile) for percentile in PERCENTILES}


class Tare(Tool):
    name = "tare"
    note = "response time, from the intended start; stays awake at a rate"
    extra_flags: list = []

    def __init__(self):
        self.program = os.path.abspath(os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release/tare"))

    def command(self, row, url, folder):
        rate = ["-r", row.rate_per_s] if row.rate_per_s else []
        body = ["-X", "POST", "-D", "body"] if row.post_bytes else []
        return [self.program, "load", url, "-c", row.connections, "-d", f"{row.seconds}s", "-t", 1, "--quiet",
                "--json", "tare.json", *rate, *body, *self.extra_flags]

    def read(self, row, printed, folder, outcome):
        with open(os.path.join(folder, "tare.json"), encoding="utf-8") as file:
            stated = json.load(file)
        outcome.requests, outcome.errors = stated["requests"]["ok"], stated["requests"]["failed"]
        outcome.percentiles_ms = {
            entry["percentile"]: entry["value_ns"] / 1e6
            for entry in stated["response"]["percentiles"]
            if entry["percentile"] in PERCENTILES
        }


class TareAsleep(Tare):
    name = "tare --spin never"
    note = "sleeps between sends"
    extra_flags = ["--spin", "never"]

    def supports(self, row):
        return row.kind == "lateness"


class TareInTicks(Tare):
    name = "tare --tick"
    note = "`--tick 1ms`: sends what is due once in a millisecond"
    extra_flags = ["--tick", "1ms"]

    def supports(self, row):
        return row.kind == "lateness"


class Wrk(Tool):
    name = program = "wrk"
    note = "closed loop; adds samples of its own after a stall"
    version_flag = "-v"
    has_rate = False

    def command(self, row, url, folder):
        script = []
        if row.post_bytes:
            with open(os.path.join(folder, "post.lua"), "w", encoding="ascii") as file:
                file.write(f"wrk.method = 'POST'; wrk.body = string.rep('a', {row.post_bytes})")
            script = ["-s", "post.lua"]
        seconds = int(self.duration_s(row))
        return [self.program, "-t1", "-c", connections_of(row), "-d", f"{seconds}s", "--timeout", "10s", "--latency", *script, url]

    def read(self, row, printed, folder, outcome):
        outcome.requests = int(re.search(r"(\d+) requests in", printed)[1])
        failed = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
        outcome.errors = int(failed[1]) if failed else 0
        for percentile, value, unit in re.findall(r"^ +([\d.]+)% +([\d.]+)([mun]?s|m)$", printed, re.M):
            if float(percentile) in PERCENTILES:
                outcome.percentiles_ms[float(percentile)] = float(value) * UNITS_MS[unit]


class Wrk2(Wrk):
    name = program = "wrk2"
    note = "counts from the tenth second on"
    has_rate = True
    calibration_s = 10

    def supports(self, row):
        return row.rate_per_s is not None

    def command(self, row, url, folder):
        command = super().command(row, url, folder)
        command[command.index("-c") + 1] = row.connections
        return [*command[:-1], "-R", int(row.rate_per_s), url]

    def read(self, row, printed, folder, outcome):
        super().read(row, printed, folder, outcome)
        spectrum = re.findall(r"^ +([\d.]+) +([01]\.\d+) +\d+ +[\d.inf]+$", printed, re.M)
        for percentile in PERCENTILES:
            for value, share in spectrum:
                if float(share) * 100 >= percentile - 1e-9:
                    outcome.percentiles_ms[percentile] = float(value)
                    break


class H2load(Tool):
    name = program = "h2load"
    note = "HTTP/1.1; percentiles from its log, where one is kept (at a rate)"

    def command(self, row, url, folder):
        rate = ["--rps", row.rate_per_s / row.connections, "--log-file", "h2load.log"] if row.rate_per_s else []
        body = ["-d", "body"] if row.post_bytes else []
        return [self.program, "--h1", "-t1", "-c", row.connections, "-D", int(row.seconds), *rate, *body, url]

    def read(self, row, printed, folder, outcome):
        total = re.search(r"requests: .* (\d+) succeeded, (\d+) failed", printed)
        outcome.requests, outcome.errors = int(total[1]), int(total[2])
        log = os.path.join(folder, "h2load.log")
        if row.rate_per_s:
            with open(log, encoding="ascii") as file:
                set_percentiles([int(line.split()[2]) / 1e3 for line in file], outcome)
            os.remove(log)


class Ab(Tool):
    name = program = "ab"
    note = "closed loop; HTTP/1.0"
    version_flag = "-V"
    has_rate = False

    def command(self, row, url, folder):
        body = ["-p", "body", "-T", "text/plain"] if row.post_bytes else []
        return [self.program, "-q", "-k", "-c", connections_of(row), "-t", int(row.seconds), "-n", 10_000_000, "-e", "ab.csv", *body, url]

    def read(self, row, printed, folder, outcome):
        outcome.requests = int(re.search(r"Complete requests: +(\d+)", printed)[1])
        outcome.errors = int(re.search(r"Failed requests: +(\d+)", printed)[1])
        with open(os.path.join(folder, "ab.csv"), encoding="ascii") as file:
            stated = {line[0]: float(line[1]) for line in list(csv.reader(file))[1:]}
        outcome.percentiles_ms = {percentile: stated[str(percentile)] for percentile in PERCENTILES if str(percentile) in stated}


class Oha(Tool):
    name = program = "oha"
    note = "as it comes"
    extra_flags: list = []

    def command(self, row, url, folder):
        rate = ["-q", int(row.rate_per_s), *self.extra_flags] if row.rate_per_s else []
        body = ["-m", "POST", "-D", "body"] if row.post_bytes else []
        return [self.program, "-z", f"{row.seconds}s", "-w", "-c", row.connections, "--no-tui", "--output-format", "json",
                *rate, *body, url]

    def read(self, row, printed, folder, outcome):
        stated = json.loads(printed[printed.index("{"):])
        outcome.requests = sum(stated["statusCodeDistribution"].values())
        outcome.errors = sum(stated["errorDistribution"].values())
        outcome.percentiles_ms = {percentile: stated["latencyPercentiles"][f"p{percentile}"] * 1e3 for percentile in PERCENTILES}


class OhaCorrected(Oha):
    name = "oha --latency-correction"
    note = "counts from when requests should have left"
    extra_flags = ["--latency-correction"]

    def supports(self, row):
        return row.rate_per_s is not None


class Hey(Tool):
    name = program = "hey"
    note = "a rate for each connection"

    def version(self):
        package = subprocess.run(["dpkg-query", "-W", "hey"], capture_output=True, text=True, check=False).stdout.split()
        return " ".join(package) or "hey, which does not report its version"

    def command(self, row, url, folder):
        rate = ["-q", int(row.rate_per_s / row.connections), "-o", "csv"] if row.rate_per_s else []
        body = ["-m", "POST", "-D", "body"] if row.post_bytes else []
        return [self.program, "-z", f"{row.seconds}s", "-c", row.connections, *rate, *body, url]

    def read(self, row, printed, folder, outcome):
        if row.rate_per_s is None:
            outcome.requests = sum(map(int, re.findall(r"\[\d+\]\t(\d+) responses", printed)))
            return
        lines = list(csv.DictReader(printed[printed.index("response-time"):].splitlines()))
        outcome.requests = len(lines)
        set_percentiles([float(line["response-time"]) * 1e3 for line in lines], outcome)


class Bombardier(Tool):
    name = program = "bombardier"
    note = "no percentile above p99"

    def command(self, row, url, folder):
        rate = ["-r", int(row.rate_per_s)] if row.rate_per_s else []
        body = ["-m", "POST", "-f", "body"] if row.post_bytes else []
        return [self.program, "-c", row.connections, "-d", f"{row.seconds}s", "-t", "10s", "-l", "-o", "json", "-p", "r",
                *rate, *body, url]

    def read(self, row, printed, folder, outcome):
        stated = json.loads(printed[printed.index("{"):])["result"]
        outcome.requests, outcome.errors = stated["req2xx"], stated["others"] + stated["req4xx"] + stated["req5xx"]
        latencies_us = stated["latency"]["percentiles"]
        outcome.percentiles_ms = {percentile: latencies_us[str(percentile)] / 1e3 for percentile in PERCENTILES if str(percentile) in latencies_us}


class Vegeta(Tool):
    name = program = "vegeta"
    note = "CPU without its report"
    version_flag = "-version"

    def version(self):
        version = super().version()
        return "vegeta, built without a version" if version == "Version: " or not version.strip("Version: ") else version

    def command(self, row, url, folder):
        with open(os.path.join(folder, "targets"), "w", encoding="ascii") as file:
            file.write(f"POST {url}\n@body\n" if row.post_bytes else f"GET {url}\n")
        load = ["-rate", f"{int(row.rate_per_s)}/s"] if row.rate_per_s else ["-rate", 0, "-max-workers", row.connections]
        return [self.program, "attack", "-targets", "targets", "-duration", f"{row.seconds}s", "-timeout", "10s",
                "-connections", row.connections, "-workers", row.connections, "-output", "vegeta.bin", *load]

    def read(self, row, printed, folder, outcome):
        recording = os.path.join(folder, "vegeta.bin")
        as_csv = subprocess.run([self.program, "encode", "-to", "csv", recording], capture_output=True, text=True, check=True)
        lines = [line.split(",") for line in as_csv.stdout.splitlines()]
        outcome.requests = sum(line[1] == "200" for line in lines)
        outcome.errors = len(lines) - outcome.requests
        set_percentiles([int(line[2]) / 1e6 for line in lines], outcome)
        os.remove(recording)


class Fortio(Tool):
    name = program = "fortio"
    note = "percentiles between buckets of 0.1 ms and up"
    version_flag = "version"

    def command(self, row, url, folder):
        rate = int(row.rate_per_s) if row.rate_per_s else 0
        body = ["-payload-file", "body"] if row.post_bytes else []
        return [self.program, "load", "-quiet", "-c", row.connections, "-qps", rate, "-t", f"{row.seconds}s", "-r", "0.0001",
                "-p", ",".join(map(str, PERCENTILES)), "-json", "fortio.json", "-timeout", "10s", *body, url]

    def read(self, row, printed, folder, outcome):
        with open(os.path.join(folder, "fortio.json"), encoding="utf-8") as file:
            stated = json.load(file)
        outcome.requests = stated["RetCodes"].get("200", 0)
        outcome.errors = sum(stated["RetCodes"].values()) - outcome.requests
        outcome.percentiles_ms = {one["Percentile"]: one["Value"] * 1e3 for one in stated["DurationHistogram"]["Percentiles"]}


class K6(Tool):
    name = program = "k6"
    note = "as many virtual users as connections"
    version_flag = "version"
    SCRIPT = """import http from 'k6/http';
const body = __ENV.BODY, url = __ENV.URL;
export const options = Object.assign(
  {{ discardResponseBodies: true, summaryTrendStats: {stats} }}, {scenario});
export default function () {{ {call}; }}
"""

    def command(self, row, url, folder):
        scenario = {"vus": row.connections, "duration": f"{row.seconds}s"}
        if row.rate_per_s:
            arrivals = {"executor": "constant-arrival-rate", "rate": int(row.rate_per_s), "timeUnit": "1s",
                        "duration": f"{row.seconds}s", "preAllocatedVUs": row.connections, "maxVUs": row.connections}
            scenario = {"scenarios": {"arrivals": arrivals}}
        call = f"http.post(url, 'a'.repeat({row.post_bytes}))" if row.post_bytes else "http.get(url)"
        stats = json.dumps([f"p({percentile})" for percentile in PERCENTILES] + ["count"])
        with open(os.path.join(folder, "k6.js"), "w", encoding="ascii") as file:
            file.write(self.SCRIPT.format(stats=stats, scenario=json.dumps(scenario), call=call))
        return [self.program, "run", "--quiet", "--no-usage-report", "--summary-export", "k6.json", "-e", f"URL={url}", "k6.js"]

    def read(self, row, printed, folder, outcome):
        with open(os.path.join(folder, "k6.json"), encoding="utf-8") as file:
            stated = json.load(file)["metrics"]
        outcome.requests = stated["http_reqs"]["count"]
        # A "pass" of this rate counts requests that failed.
        outcome.errors = stated.get("http_req_failed", {}).get("passes", 0)
        outcome.percentiles_ms = {percentile: stated["http_req_duration"][f"p({percentile})"] for percentile in PERCENTILES}


class Autocannon(Tool):
    name = program = "autocannon"
    note = "whole milliseconds"

    def command(self, row, url, folder):
        rate = ["-R", int(row.rate_per_s)] if row.rate_per_s else []
        body = ["-m", "POST", "-i", "body"] if row.post_bytes else []
        return [self.program, "-c", row.connections, "-d", int(row.seconds), "-j", "-n", *rate, *body, url]

    def read(self, row, printed, folder, outcome):
        stated = json.loads(printed[printed.index("{"):])
        outcome.requests, outcome.errors = stated["2xx"], stated["errors"] + stated["non2xx"]
        outcome.percentiles_ms = {
            percentile: stated["latency"][name]
            for percentile, name in [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9"), (99.99, "p99_99")]
        }


TOOLS = [tool() for tool in (
    Tare, TareAsleep, TareInTicks, Wrk, Wrk2, H2load, Ab, Oha, OhaCorrected, Hey, Bombardier, Vegeta, Fortio, K6, Autocannon,
)]
