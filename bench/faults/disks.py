"""Breaks of the disk: it is full, or loses what was written last."""

import pathlib
import shutil
import threading
import time

from .outcome import gone_on, last_line, left_of_load, left_of_run, right, wrong
from .tare import QUICK, are_gone, processes, small_disk

PAGE_BYTES = 4096
# A power failure loses writes of about the last seconds, in any order.
UNSAFE_BYTES = 1 << 18
# Of a run that loses its power in the middle, and goes on.
STARTS_TO_RESUME = 12


def full_disk_load(tare, chance):
    """A disk that is full from the start, or fills while the record of a load is written."""
    with tare.folder() as folder, tare.server(folder) as url, small_disk(folder, chance.randint(16, 1500)):
        flags = ("-c", "2", "-n", "20000", "--interval", "10ms", "--quiet", "--json", "a.json", "--db", "disk/a.sqlite")
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", *flags)
        if code == 0:
            return right("the record fits on the disk")
        if code != 1 or "is full" not in err:
            return wrong(f"exit code {code}: {last_line(err)}")
        if not out:
            is_clean = not (folder / "a.json").exists() and not (folder / "disk/a.sqlite").exists()
            return right("no load, because no record fits; the error says so") if is_clean else wrong("a file of no load is left")
        if "answered as expected" not in out or not (folder / "a.json").exists():
            return wrong("the summary or another output is lost")
        left = left_of_load(tare, folder, folder / "disk/a.sqlite")
        return left if not left.is_right else right("summary and other outputs are there, and the record says how far it goes")


def full_disk_run(tare, chance):
    """A disk that fills while a comparison is written."""
    with tare.folder() as folder, small_disk(folder, chance.randint(64, 3000)):
        code, _, err = tare.run(folder, "run", tare.suite(folder), *QUICK, "--forks", "3", "--dir", "disk/.tare")
        if not are_gone(folder):
            return wrong(f"processes are left running: {processes(folder)}")
        if code == 0:
            return right("the record fits on the disk")
        if code != 1 or not ("is full" in err or "No space left" in err):
            return wrong(f"exit code {code}: {last_line(err)}")
        code, _, err = tare.run(folder, "report", "latest", "--json", "--dir", "disk/.tare")
        if code == 0:
            return right("exit code 1 with the reason, no server left, and the record reads")
        if "there is no run" in err or "was never written" in err:
            return right("exit code 1 with the reason, no server left; the disk holds no record")
        return wrong(f"the record is not read: {last_line(err)}")


class PowerFailures:
    """Copies of one killed record, each of which loses other writes."""

    def __init__(self, make, judge):
        """`make` starts what writes a record and returns the process and the path of the record."""
        self.make = make
        self.judge = judge
        self.killed = None
        self.lock = threading.Lock()

    def __call__(self, tare, chance):
        with self.lock:
            if self.killed is None:
                self.killed = self.make(tare, tare.kept_folder())
        with tare.folder() as folder:
            record = folder / self.killed.record
            shutil.copytree(self.killed.folder, folder, dirs_exist_ok=True)
            log = record.with_name(f"{record.name}-wal")
            lost = lose_writes(chance, log)
            left = self.judge(tare, folder, record)
            return left._replace(text=f"{lost}: {left.text}")


class Killed:
    """The folder of a program that was killed, and the path of its record in it."""

    def __init__(self, folder, record):
        self.folder = folder
        self.record = record


def killed_load(tare, folder):
    with tare.server(folder) as url:
        load = tare.start(folder, "load", f"{url}/path0/4", "-c", "2", "-d", "60s", "--interval", "20ms", "--db", "a.sqlite", "--quiet")
        time.sleep(2.0)
        load.kill()
        load.communicate()
    return Killed(folder, pathlib.Path("a.sqlite"))


def killed_run(tare, folder, forks):
    run = tare.start(folder, "run", tare.suite(folder), *QUICK, "--forks", str(forks))
    time.sleep(12.0)
    run.kill()
    run.communicate()
    are_gone(folder)
    record = next(folder.glob(".tare/runs/*/record.sqlite"))
    return Killed(folder, record.relative_to(folder))


def lose_writes(chance, log):
    """Damages the log of a record as a power failure may; says how."""
    size = log.stat().st_size
    way = chance.choice(["the end", "the end", "one page", "the whole log"])
    if way == "the end":
        with log.open("r+b") as file:
            file.truncate(chance.randint(0, size))
    elif way == "one page":
        first = max(0, size - UNSAFE_BYTES)
        with log.open("r+b") as file:
            file.seek(chance.randrange(first, max(first + 1, size)) // PAGE_BYTES * PAGE_BYTES)
            file.write(bytes(PAGE_BYTES))
    else:
        log.unlink()
    return f"{way} lost"


power_load = PowerFailures(killed_load, left_of_load)
power_run = PowerFailures(
    lambda tare, folder: killed_run(tare, folder, 40),
    lambda tare, folder, _record: left_of_run(tare, folder),
)
resume_power = PowerFailures(
    lambda tare, folder: killed_run(tare, folder, STARTS_TO_RESUME),
    lambda tare, folder, _record: gone_on(tare, folder, STARTS_TO_RESUME),
)
