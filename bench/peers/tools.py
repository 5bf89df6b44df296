"""The tools: how to start each one, and how to read its figures. Each runs with the options that give its most accurate figures."""

import csv
import json
import os
import re

from .go_tools import Bombardier, Fortio, Ghz, Hey, K6, Vegeta
from .tool import PERCENTILES, Tool, connections_of, read_lines, set_counts, set_percentiles

NAMED_PERCENTILES = [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9"), (99.99, "p99_99")]
UNITS_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


class Tare(Tool):
    name = "tare"
    note = "response time, from the intended start; stays awake at a rate; URLs from a HAR recording"
    has_urls = True
    protocols = ("http1", "h2c", "grpc")
    extra_flags: list = []

    def __init__(self):
        self.program = os.path.abspath(os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release/tare"))

    def command(self, row, url, folder):
        rate = ["-r", row.rate_per_s] if row.rate_per_s else []
        body = ["-X", "POST", "-D", "body"] if row.post_bytes else []
        streams = [] if row.protocol == "http1" else ["--http2", "--streams", row.streams]
        target = [url.replace("http", "grpc", 1) if row.protocol == "grpc" else url]
        if row.urls > 1:
            target = ["--har", "urls.har"]
            requests = [{"method": "GET", "url": url, "headers": []} for url in read_lines(folder, "urls")]
            with open(os.path.join(folder, "urls.har"), "w", encoding="ascii") as file:
                json.dump({"log": {"entries": [{"request": request} for request in requests]}}, file)
        return [self.program, "load", *target, *streams, "-c", row.connections, "-d", f"{row.seconds}s", "-t", 1, "--quiet",
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
    note = "`--tick 750us`: sends what is due in bursts, 0.75 ms apart"
    extra_flags = ["--tick", "750us"]

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
        refused = re.findall(r"Non-2xx or 3xx responses: (\d+)", printed)
        failed = re.findall(r"\d+", " ".join(re.findall(r"Socket errors: (.+)", printed)))
        outcome.requests = int(re.search(r"(\d+) requests in", printed)[1]) - sum(map(int, refused))
        outcome.errors = sum(map(int, refused + failed))
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
    note = "percentiles from its log, where one is kept (at a rate); a gRPC call is a POST whose trailers it does not read"
    has_urls = True
    protocols = ("http1", "h2c", "grpc")

    def command(self, row, url, folder):
        rate = ["--rps", row.rate_per_s / row.connections, "--log-file", "h2load.log"] if row.rate_per_s else []
        body = ["-d", "body"] if row.post_bytes or row.protocol == "grpc" else []
        call = ["-H", "content-type: application/grpc", "-H", "te: trailers"] if row.protocol == "grpc" else []
        version = ["--h1"] if row.protocol == "http1" else ["-m", row.streams]
        target = ["-i", "urls"] if row.urls > 1 else [url]
        return [self.program, *version, "-t1", "-c", row.connections, "-D", int(row.seconds), *rate, *body, *call, *target]

    def read(self, row, printed, folder, outcome):
        total = re.search(r"requests: .* (\d+) succeeded, (\d+) failed", printed)
        outcome.requests, outcome.errors = int(total[1]), int(total[2])
        if row.rate_per_s:
            with open(os.path.join(folder, "h2load.log"), encoding="ascii") as file:
                set_percentiles([int(line.split()[2]) / 1e3 for line in file], outcome)


class Ab(Tool):
    name = program = "ab"
    note = "closed loop; HTTP/1.0"
    version_flag = "-V"
    has_rate = False

    def command(self, row, url, folder):
        body = ["-p", "body", "-T", "text/plain"] if row.post_bytes else []
        return [self.program, "-q", "-k", "-c", connections_of(row), "-t", int(row.seconds), "-n", 10_000_000, "-e", "ab.csv", *body, url]

    def read(self, row, printed, folder, outcome):
        # Its failed requests are those without an answer, or with one of another length.
        refused = sum(map(int, re.findall(r"Non-2xx responses: +(\d+)", printed)))
        outcome.requests = int(re.search(r"Complete requests: +(\d+)", printed)[1]) - refused
        outcome.errors = int(re.search(r"Failed requests: +(\d+)", printed)[1]) + refused
        with open(os.path.join(folder, "ab.csv"), encoding="ascii") as file:
            stated = {line[0]: float(line[1]) for line in list(csv.reader(file))[1:]}
        outcome.percentiles_ms = {percentile: stated[str(percentile)] for percentile in PERCENTILES if str(percentile) in stated}


class Oha(Tool):
    name = program = "oha"
    note = "as it comes; URLs of a list in random order"
    has_urls = True
    protocols = ("http1", "h2c")
    extra_flags: list = []

    def command(self, row, url, folder):
        rate = ["-q", int(row.rate_per_s), *self.extra_flags] if row.rate_per_s else []
        body = ["-m", "POST", "-D", "body"] if row.post_bytes else []
        streams = ["--http2", "-p", row.streams] if row.protocol == "h2c" else []
        target = ["--urls-from-file", "urls"] if row.urls > 1 else [url]
        return [self.program, "-z", f"{row.seconds}s", "-w", "-c", row.connections, "--no-tui", "--output-format", "json",
                *rate, *body, *streams, *target]

    def read(self, row, printed, folder, outcome):
        stated = json.loads(printed[printed.index("{"):])
        set_counts(stated["statusCodeDistribution"], sum(stated["errorDistribution"].values()), outcome)
        outcome.percentiles_ms = {percentile: stated["latencyPercentiles"][f"p{percentile}"] * 1e3 for percentile in PERCENTILES}


class OhaCorrected(Oha):
    name = "oha --latency-correction"
    note = "counts from when requests should have left"
    extra_flags = ["--latency-correction"]

    def supports(self, row):
        return row.rate_per_s is not None


class Gcannon(Tool):
    name = program = "gcannon"
    note = "closed loop; io_uring; does not count its first 0.1 s"
    has_rate = False
    stated_version = ""

    def version(self):
        # It has no flag for it.
        return f"gcannon {self.stated_version}"

    def command(self, row, url, folder):
        target = [url]
        if row.post_bytes:
            target = [url, "--raw", "request"]
            head = f"POST {row.path} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\nContent-Length: {row.post_bytes}\r\n\r\n"
            with open(os.path.join(folder, "request"), "w", encoding="ascii", newline="") as file:
                file.write(head + "a" * row.post_bytes)
        return [self.program, *target, "-c", connections_of(row), "-t", 1, "-d", f"{int(row.seconds)}s", "--json"]

    def read(self, row, printed, folder, outcome):
        stated = json.loads(printed[printed.index("{"):])
        self.stated_version = stated["version"]
        outcome.requests = stated["status"]["2xx"]
        outcome.errors = stated["responses"] - outcome.requests + sum(stated["errors"].values())
        outcome.percentiles_ms = {
            percentile: stated["latency_us"][name] / 1e3 for percentile, name in [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p999")]
        }


class Zrk(Tool):
    name = program = "zrk"
    note = "has no closed loop; a schedule for each connection"

    def supports(self, row):
        return row.rate_per_s is not None

    def command(self, row, url, folder):
        return [self.program, "-t", 1, "-c", row.connections, "-d", f"{int(row.seconds)}s", "-R", int(row.rate_per_s),
                "--timeout", "10s", "--format", "json", "-o", "zrk.json", url]

    def read(self, row, printed, folder, outcome):
        with open(os.path.join(folder, "zrk.json"), encoding="utf-8") as file:
            stated = json.load(file)
        # Among its errors are those of 4xx and 5xx, which are statuses too.
        unanswered = sum(count for kind, count in stated["errors"].items() if kind != "non_2xx_3xx")
        set_counts(stated["status_codes"], unanswered, outcome)
        outcome.percentiles_ms = {
            percentile: stated["latency_us"][name] / 1e3
            for percentile, name in NAMED_PERCENTILES
        }


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
            for percentile, name in NAMED_PERCENTILES
        }


TOOLS = [tool() for tool in (
    Tare, TareAsleep, TareInTicks, Wrk, Wrk2, H2load, Ab, Oha, OhaCorrected, Hey, Bombardier, Vegeta, Fortio, K6, Gcannon, Zrk, Ghz,
    Autocannon,
)]
