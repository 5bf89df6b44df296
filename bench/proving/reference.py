"""The reference server, one process per run, and the list of its answers."""

import os
import subprocess


class Reference:
    """A server with planted behaviour, pinned to a CPU, for the length of a `with` block."""

    def __init__(self, planted, cpu, folder):
        target = os.environ.get("CARGO_TARGET_DIR", "target")
        self.books = os.path.join(folder, "ledger")
        self.command = ["taskset", "-c", str(cpu), f"{target}/release/serve", "0", *planted, "--ledger", self.books]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline()
        if "ready on" not in ready:
            raise RuntimeError("the reference server did not start")
        self.address = ready.split()[-1]
        return self

    def __exit__(self, *_):
        # It ends when its input ends. A server that does not end is killed.
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ledger(self):
        """When each request arrived and when its answer left, in nanoseconds, in the order of arrival."""
        with open(self.books, encoding="ascii") as file:
            return [tuple(map(int, line.split())) for line in file]
