"""Samples the memory, open files and threads of a running program."""

import pathlib


class WatchedProcess:
    """A running program."""

    def __init__(self, pid):
        self.folder = pathlib.Path(f"/proc/{pid}")

    def sample(self):
        """Resident memory in KiB, open files and threads; None once the program has ended."""
        try:
            status = dict(line.split(":", 1) for line in (self.folder / "status").read_text().splitlines())
            files = sum(1 for _ in (self.folder / "fd").iterdir())
            return {"memory_kib": int(status["VmRSS"].split()[0]), "files": files, "threads": int(status["Threads"])}
        except (OSError, KeyError):
            return None
