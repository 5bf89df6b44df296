"""Runs and measures a tool. The module `tools` has what differs between tools."""

import os
import subprocess
import threading
import time

from .outcome import Outcome

PERCENTILES = [50, 90, 95, 99, 99.9, 99.99]


class Tool:
    """One tool, or one way to use it. `note` is for readers of the document."""

    name = program = note = ""
    version_flag = "--version"
    # Whether its request rate can be set.
    has_rate = True
    # Seconds of warm-up that the tool leaves out of its figures.
    calibration_s = 0

    def supports(self, row):
        """Whether the tool can run the row. Rows with a rate need a tool with a rate, except those of known delays."""
        return row.rate_per_s is None or self.has_rate or row.kind == "delays"

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
        body = os.path.join(folder, "body")
        with open(body, "w", encoding="ascii") as file:
            file.write("a" * row.post_bytes)
        command = self.command(row, f"http://{server.address}{row.path}", folder)
        printed_path = os.path.join(folder, "printed")
        begin_s = time.monotonic()
        with open(printed_path, "wb") as printed:
            process = subprocess.Popen(
                ["taskset", "-c", str(cpu), *map(str, command)], stdout=printed, stderr=subprocess.STDOUT, cwd=folder
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
