"""Starts the reference server, one process per run, and reads its ledger of answers."""

import os
import subprocess


class ReferenceServer:
    """A server with planted behaviour, pinned to a CPU. It runs during a `with` block."""

    def __init__(self, planted, cpu, folder):
        target = os.environ.get("CARGO_TARGET_DIR", "target")
        self.ledger_path = os.path.join(folder, "ledger")
        self.command = ["taskset", "-c", str(cpu), f"{target}/release/serve", "0", *planted, "--ledger", self.ledger_path]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline()
        if "ready on" not in ready:
            raise RuntimeError("the reference server did not start")
        self.address = ready.split()[-1]
        return self

    def __exit__(self, *_):
        # The server ends when its standard input is closed; otherwise it is killed.
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def read_ledger(self):
        """Pairs of the time at which a request arrived and the time at which its answer left, in ns, in the order of arrival. None of a
        server that had to be killed."""
        if not os.path.exists(self.ledger_path):
            return []
        with open(self.ledger_path, encoding="ascii") as file:
            return [tuple(map(int, line.split())) for line in file]
