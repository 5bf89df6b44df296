"""Runs and measures a tool. The module `tools` has what differs between tools."""

import os
import subprocess
import threading
import time

from .outcome import Outcome
from .rows import quantile

PERCENTILES = [50, 90, 95, 99, 99.9, 99.99]


def connections_of(row):
    """The connections of a tool that has no rate. For a row with a rate they are few, so that the server is not the bottleneck."""
    return 8 if row.rate_per_s else row.connections


def read_lines(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return file.read().splitlines()


def set_percentiles(samples_ms, outcome):
    outcome.percentiles_ms = {percentile: quantile(samples_ms, percentile) for percentile in PERCENTILES}


def set_counts(answers, failed, outcome):
    """Counts requests and errors: `answers` has how many had which status, and `failed` is how many had none. Only 2xx is a success."""
    outcome.requests = sum(count for status, count in answers.items() if status.startswith("2"))
    outcome.errors = failed + sum(answers.values()) - outcome.requests


def write_inputs(row, server, folder):
    """Writes what tools read from files: the body, and the URLs."""
    with open(os.path.join(folder, "body"), "w", encoding="ascii") as file:
        # An empty message of gRPC is five bytes of zero.
        file.write("\0" * 5 if row.protocol == "grpc" else "a" * row.post_bytes)
    with open(os.path.join(folder, "urls"), "w", encoding="ascii") as file:
        file.writelines(f"http://{server.address}{path}\n" for path in row.paths)


class Tool:
    """One tool, or one way to use it. `note` is for readers of the document."""

    name = program = note = ""
    version_flag = "--version"
    # Whether its request rate can be set.
    has_rate = True
    # Whether it takes a list of URLs.
    has_urls = False
    protocols = ("http1",)
    # Seconds of warm-up that the tool leaves out of its figures.
    calibration_s = 0

    def supports(self, row):
        """Whether the tool can run the row. Rows with a rate need a tool with a rate, except those of known delays."""
        has_rate = row.rate_per_s is None or self.has_rate or row.kind == "delays"
        return has_rate and row.protocol in self.protocols and (self.has_urls or row.urls == 1)

    def duration_s(self, row):
        return row.seconds + (self.calibration_s if row.rate_per_s else 0)

    def version(self):
        result = subprocess.run([self.program, self.version_flag], capture_output=True, text=True, check=False)
        return " ".join((result.stdout + result.stderr).splitlines()[:1])

    def command(self, row, url, folder):
        raise NotImplementedError

    def read(self, row, printed, folder, outcome):
        """Reads the tool's own figures into `outcome`: requests, errors, percentiles in milliseconds."""
        raise NotImplementedError

    def run(self, row, server, cpu, folder):
        outcome = Outcome(row.title, self.name, seconds=self.duration_s(row))
        write_inputs(row, server, folder)
        command = self.command(row, f"http://{server.address}{row.path}", folder)
        printed_path = os.path.join(folder, "printed")
        begin_s = time.monotonic()
        with open(printed_path, "wb") as printed:
            process = subprocess.Popen(
                ["taskset", "-c", str(cpu), *map(str, command)], stdout=printed, stderr=subprocess.STDOUT, cwd=folder,
                # gcannon keeps a history in the home folder.
                env={**os.environ, "HOME": folder},
            )
            # Kills a tool that does not end by itself.
            kill_timer = threading.Timer(self.duration_s(row) + 30, process.kill)
            kill_timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            kill_timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        outcome.wall_s = time.monotonic() - begin_s
        outcome.cpu_s = usage.ru_utime + usage.ru_stime
        with open(printed_path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        try:
            self.read(row, text, folder, outcome)
        except (KeyError, ValueError, IndexError, TypeError, AttributeError, OSError) as error:
            last_line = text.strip().splitlines()[-1:] or ["nothing printed"]
            outcome.failure = f"exit {process.returncode}, {type(error).__name__} {error}: {last_line[0][:120]}"
        return outcome
