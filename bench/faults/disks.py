"""Breaks of the disk: it is full, or loses what was written last."""

import pathlib
import shutil
import threading
import time

from .outcome import end_of_text, outcome_of_resumed_run, outcome_of_unfinished_load, outcome_of_unfinished_run, right_outcome, wrong_outcome
from .tare import SHORT_RUN_FLAGS, find_processes, mount_small_disk, wait_until_gone

PAGE_BYTES = 4096
# A power failure can lose any of the writes of about the last seconds.
LOSABLE_BYTES = 1 << 18
# Starts of a run that is resumed after a power failure.
STARTS_TO_RESUME = 12


def fill_disk_during_load(tare, rng):
    """The disk is full from the start, or fills while a load writes its record."""
    with tare.temporary_folder() as folder, tare.running_server(folder) as url, mount_small_disk(folder, rng.randint(16, 1500)):
        flags = ("-c", "2", "-n", "20000", "--interval", "10ms", "--quiet", "--json", "a.json", "--db", "disk/a.sqlite")
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", *flags)
        if code == 0:
            return right_outcome("the record fits on the disk")
        if code != 1 or "is full" not in err:
            return wrong_outcome(f"exit code {code}: {end_of_text(err)}")
        if not out:
            is_clean = not (folder / "a.json").exists() and not (folder / "disk/a.sqlite").exists()
            return right_outcome("no load, because no record fits; the error says so") if is_clean else wrong_outcome("a file of no load is left")
        if "answered as expected" not in out or not (folder / "a.json").exists():
            return wrong_outcome("the summary or another output is lost")
        outcome = outcome_of_unfinished_load(tare, folder, folder / "disk/a.sqlite")
        return outcome if not outcome.is_right else right_outcome("summary and other outputs are there, and the record says how far it goes")


def fill_disk_during_run(tare, rng):
    """The disk fills while a comparison writes its record."""
    with tare.temporary_folder() as folder, mount_small_disk(folder, rng.randint(64, 3000)):
        code, _, err = tare.run(folder, "run", tare.write_suite(folder), *SHORT_RUN_FLAGS, "--forks", "3", "--dir", "disk/.tare")
        if not wait_until_gone(folder):
            return wrong_outcome(f"processes are left running: {find_processes(folder)}")
        if code == 0:
            return right_outcome("the record fits on the disk")
        if code != 1 or not ("is full" in err or "No space left" in err):
            return wrong_outcome(f"exit code {code}: {end_of_text(err)}")
        code, _, err = tare.run(folder, "report", "latest", "--json", "--dir", "disk/.tare")
        if code == 0:
            return right_outcome("exit code 1 with the reason, no server left, and the record reads")
        if "there is no run" in err or "was never written" in err:
            return right_outcome("exit code 1 with the reason, no server left; the disk holds no record")
        return wrong_outcome(f"the record is not read: {end_of_text(err)}")


class PowerFailures:
    """Breaks copies of the record of one killed program; each copy loses other writes."""

    def __init__(self, start_and_kill, check_record):
        """`start_and_kill` returns a KilledProgram; `check_record` returns the outcome for one damaged copy."""
        self.start_and_kill = start_and_kill
        self.check_record = check_record
        self.killed = None
        self.lock = threading.Lock()

    def __call__(self, tare, rng):
        with self.lock:
            if self.killed is None:
                self.killed = self.start_and_kill(tare, tare.create_shared_folder())
        with tare.temporary_folder() as folder:
            record = folder / self.killed.record
            shutil.copytree(self.killed.folder, folder, dirs_exist_ok=True)
            log = record.with_name(f"{record.name}-wal")
            lost = lose_writes(rng, log)
            outcome = self.check_record(tare, folder, record)
            return outcome._replace(text=f"{lost}: {outcome.text}")


class KilledProgram:
    """The folder of a program that was killed, and the path of its record within that folder."""

    def __init__(self, folder, record):
        self.folder = folder
        self.record = record


def start_and_kill_load(tare, folder):
    with tare.running_server(folder) as url:
        load = tare.start(folder, "load", f"{url}/path0/4", "-c", "2", "-d", "60s", "--interval", "20ms", "--db", "a.sqlite", "--quiet")
        time.sleep(2.0)
        load.kill()
        load.communicate()
    return KilledProgram(folder, pathlib.Path("a.sqlite"))


def start_and_kill_run(tare, folder, forks):
    run = tare.start(folder, "run", tare.write_suite(folder), *SHORT_RUN_FLAGS, "--forks", str(forks))
    time.sleep(12.0)
    run.kill()
    run.communicate()
    wait_until_gone(folder)
    record = next(folder.glob(".tare/runs/*/record.sqlite"))
    return KilledProgram(folder, record.relative_to(folder))


def lose_writes(rng, log):
    """Damages the write-ahead log of a record as a power failure may; returns what was lost."""
    size = log.stat().st_size
    loss = rng.choice(["the end", "the end", "one page", "the whole log"])
    if loss == "the end":
        with log.open("r+b") as file:
            file.truncate(rng.randint(0, size))
    elif loss == "one page":
        first = max(0, size - LOSABLE_BYTES)
        with log.open("r+b") as file:
            file.seek(rng.randrange(first, max(first + 1, size)) // PAGE_BYTES * PAGE_BYTES)
            file.write(bytes(PAGE_BYTES))
    else:
        log.unlink()
    return f"{loss} lost"


lose_power_during_load = PowerFailures(start_and_kill_load, outcome_of_unfinished_load)
lose_power_during_run = PowerFailures(
    lambda tare, folder: start_and_kill_run(tare, folder, 40),
    lambda tare, folder, _record: outcome_of_unfinished_run(tare, folder),
)
resume_after_power_loss = PowerFailures(
    lambda tare, folder: start_and_kill_run(tare, folder, STARTS_TO_RESUME),
    lambda tare, folder, _record: outcome_of_resumed_run(tare, folder, STARTS_TO_RESUME),
)
