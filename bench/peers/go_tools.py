"""The tools that are written in Go: how to start each one, and how to read its figures."""

import collections
import csv
import json
import os
import re
import subprocess

from .rows import CALL
from .tool import PERCENTILES, Tool, read_lines, set_counts, set_percentiles


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
            answers = {status: int(count) for status, count in re.findall(r"\[(\d+)\]\t(\d+) responses", printed)}
            failed = re.findall(r"^ *\[(\d+)\]\t", printed.partition("Error distribution:")[2], re.M)
            set_counts(answers, sum(map(int, failed)), outcome)
            return
        # Requests without an answer are not listed.
        lines = list(csv.DictReader(printed[printed.index("response-time"):].splitlines()))
        set_counts(collections.Counter(line["status-code"] for line in lines), 0, outcome)
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
    note = "CPU without its report; HTTP/2 on one connection only, so not here"
    has_urls = True
    version_flag = "-version"

    def version(self):
        version = super().version()
        return "vegeta, built without a version" if version == "Version: " or not version.strip("Version: ") else version

    def command(self, row, url, folder):
        with open(os.path.join(folder, "targets"), "w", encoding="ascii") as file:
            urls = read_lines(folder, "urls") if row.urls > 1 else [url]
            file.writelines(f"POST {url}\n@body\n" if row.post_bytes else f"GET {url}\n" for url in urls)
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


class Fortio(Tool):
    name = program = "fortio"
    note = "percentiles between buckets of 0.1 ms and up; over HTTP/2 one stream for each connection, but for gRPC"
    version_flag = "version"
    protocols = ("http1", "h2c", "grpc")

    def supports(self, row):
        return super().supports(row) and (row.protocol != "h2c" or row.streams == 1)

    def command(self, row, url, folder):
        rate = int(row.rate_per_s) if row.rate_per_s else 0
        body = ["-payload-file", "body"] if row.post_bytes else []
        version = {"http1": [], "h2c": ["-h2", "-stdclient"], "grpc": ["-grpc", "-health", "-s", row.streams]}[row.protocol]
        target = url.split("/")[2] if row.protocol == "grpc" else url
        return [self.program, "load", "-quiet", "-c", row.connections, "-qps", rate, "-t", f"{row.seconds}s", "-r", "0.0001",
                "-p", ",".join(map(str, PERCENTILES)), "-json", "fortio.json", "-timeout", "10s", *body, *version, target]

    def read(self, row, printed, folder, outcome):
        with open(os.path.join(folder, "fortio.json"), encoding="utf-8") as file:
            stated = json.load(file)
        # The health that the empty answer to a call states is "UNKNOWN".
        outcome.requests = stated["RetCodes"].get("UNKNOWN" if row.protocol == "grpc" else "200", 0)
        outcome.errors = sum(stated["RetCodes"].values()) - outcome.requests
        outcome.percentiles_ms = {one["Percentile"]: one["Value"] * 1e3 for one in stated["DurationHistogram"]["Percentiles"]}


class K6(Tool):
    name = program = "k6"
    note = "as many virtual users as connections; HTTP/2 with TLS only, and a gRPC connection for each user, so not here"
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
        # A "pass" of this rate counts requests that failed.
        outcome.errors = stated.get("http_req_failed", {}).get("passes", 0)
        outcome.requests = stated["http_reqs"]["count"] - outcome.errors
        outcome.percentiles_ms = {percentile: stated["http_req_duration"][f"p({percentile})"] for percentile in PERCENTILES}


class Ghz(Tool):
    name = program = "ghz"
    note = "gRPC only"
    protocols = ("grpc",)
    PROTOSET = os.path.abspath("examples/go-grpc/health.protoset")

    def version(self):
        version = super().version()
        return "ghz, built without a version" if version == "dev" else version

    def command(self, row, url, folder):
        return [self.program, "--insecure", "--protoset", self.PROTOSET, "--call", CALL, "-d", "{}", "-z", f"{row.seconds}s",
                "--duration-stop", "wait", "-c", row.connections * row.streams, "--connections", row.connections, url.split("/")[2]]

    def read(self, row, printed, folder, outcome):
        count = int(re.search(r"Count:\s+(\d+)", printed)[1])
        outcome.requests = int(re.search(r"\[OK\] +(\d+) responses", printed)[1])
        outcome.errors = count - outcome.requests
