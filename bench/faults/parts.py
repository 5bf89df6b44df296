"""The parts of the campaign: each breaks one run of tare at a random point and says what was left."""

import os
import signal
import time
from typing import Callable, NamedTuple

from .tare import are_gone, end, processes, read_json, small_disk

# Flags of a short run of the two built-in servers.
QUICK = ("--warmup", "200ms", "--slice", "100ms", "--discard", "20ms", "--saturating", "3", "--poisson", "1", "-u", "8")


class Outcome(NamedTuple):
    """What was left of one break."""

    text: str
    is_right: bool


class Part(NamedTuple):
    title: str
    meaning: str
    carry_out: Callable


def right(text):
    return Outcome(text, True)


def wrong(text):
    return Outcome(text, False)


def kill_load(tare, chance, _number):
    """kill -9 of a load that writes a record."""
    with tare.folder() as folder, tare.server(folder) as url:
        load = tare.start(folder, "load", f"{url}/path0/4", "-c", "2", "-d", "60s", "--interval", "20ms", "--db", "a.sqlite", "--quiet")
        time.sleep(chance.uniform(0.0, 2.0))
        load.kill()
        load.communicate()
        return left_of_load(tare, folder)


def left_of_load(tare, folder):
    """What `tare report` says of the record of a load that has no end."""
    record = next((path for path in (folder / "a.sqlite", folder / "disk/a.sqlite") if path.exists()), None)
    if record is None:
        return right("no record yet")
    code, out, err = tare.run(folder, "report", record, "--json")
    summary = read_json(out)
    if code == 1 and "was never written" in err:
        return right("a record without a header, which the error says")
    if code != 0 or summary is None:
        return wrong(f"the record is not read: {err.strip()[-120:]}")
    reasons = [reason["text"] for reason in summary["verdict"]["reasons"]]
    held = [text for text in reasons if "was cut short: it holds" in text]
    if summary["status"] != "partial" or summary["verdict"]["state"] == "valid" or not held:
        return wrong(f"the record reads as if it were whole: {summary['status']}, {reasons}")
    return right("the record reads, is not VALID, and says from when to when it holds")


def kill_run(tare, chance, _number):
    """kill -9 of a comparison of two servers."""
    with tare.folder() as folder:
        run = tare.start(folder, "run", tare.suite(folder), *QUICK, "--forks", "40")
        time.sleep(chance.uniform(0.2, 10.0))
        run.kill()
        run.communicate()
        if not are_gone(folder):
            return wrong(f"servers are left running: {processes(folder)}")
        return left_of_run(tare, folder)


def left_of_run(tare, folder, *flags):
    """What `tare report` says of a run that has no end."""
    code, out, err = tare.run(folder, "report", "latest", "--json", *flags)
    if code == 1 and ("there is no run" in err or "was never written" in err):
        return right("no server left; no record yet, which the error says")
    summary = read_json(out)
    if code != 0 or summary is None:
        return wrong(f"the record is not read: {err.strip()[-120:]}")
    unfinished = [finding["text"] for finding in summary["findings"] if finding["kind"] == "record_unfinished"]
    if summary["run"]["status"] != "partial" or summary["trust"]["state"] == "valid" or not any("holds" in text for text in unfinished):
        return wrong(f"the record reads as if it were whole: {summary['run']['status']}, {summary['trust']}")
    return right("no server left; the record reads, is not VALID, and says from when to when it holds")


def full_disk_load(tare, chance, _number):
    """A disk that is full from the start, or fills while the record of a load is written."""
    with tare.folder() as folder, tare.server(folder) as url, small_disk(folder, chance.randint(16, 1500)):
        flags = ("-c", "2", "-n", "20000", "--interval", "10ms", "--quiet", "--json", "a.json", "--db", "disk/a.sqlite")
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", *flags)
        if code == 0:
            return right("the record fits on the disk")
        if code != 1 or "is full" not in err:
            return wrong(f"exit code {code}: {err.strip()[-120:]}")
        if not out:
            is_clean = not (folder / "a.json").exists() and not (folder / "disk/a.sqlite").exists()
            return right("no load, because no record fits; the error says so") if is_clean else wrong("a file of no load is left")
        if "answered as expected" not in out or not (folder / "a.json").exists():
            return wrong("the summary or another output is lost")
        left = left_of_load(tare, folder)
        return left if not left.is_right else right("summary and other outputs are there, and the record says how far it goes")


def full_disk_run(tare, chance, _number):
    """A disk that fills while a comparison is written."""
    with tare.folder() as folder, small_disk(folder, chance.randint(64, 3000)):
        code, _, err = tare.run(folder, "run", tare.suite(folder), *QUICK, "--forks", "3", "--dir", "disk/.tare")
        if not are_gone(folder):
            return wrong(f"servers are left running: {processes(folder)}")
        if code == 0:
            return right("the record fits on the disk")
        if code != 1 or not ("is full" in err or "No space left" in err):
            return wrong(f"exit code {code}: {err.strip()[-120:]}")
        code, _, err = tare.run(folder, "report", "latest", "--json", "--dir", "disk/.tare")
        if code == 0:
            return right("exit code 1 with the reason, no server left, and the record reads")
        if "there is no run" in err or "was never written" in err:
            return right("exit code 1 with the reason, no server left; the disk holds no record")
        return wrong(f"the record is not read: {err.strip()[-120:]}")


def stopped_server(tare, chance, _number):
    """SIGSTOP of a server under test in the middle of a comparison."""
    with tare.folder() as folder:
        run = tare.start(folder, "run", tare.suite(folder), *QUICK, "--forks", "3", "--timeout", "500ms")
        time.sleep(chance.uniform(3.0, 10.0))
        servers = [pid for pid in processes(folder) if is_server(pid)]
        if servers:
            os.kill(chance.choice(servers), signal.SIGSTOP)
        code, _, err = end(run)
        if not are_gone(folder):
            return wrong(f"servers are left running: {processes(folder)}")
        if code is None:
            return wrong("tare hangs")
        if code not in (0, 3):
            return wrong(f"exit code {code}: {err.strip()[-120:]}")
        struck = "no server ran at that moment" if not servers else "the server is void or was started again" if code == 3 else "the run went on"
        return right(f"tare ends, no server left; {struck}")


def is_server(pid):
    """Whether a process is a server under test: the built-in one, and not its supervisor."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            arguments = file.read().split(b"\0")
    except OSError:
        return False
    return arguments[1:2] == [b"reference"]


def few_files(tare, chance, _number):
    """A limit of open files below what a load needs."""
    with tare.folder() as folder, tare.server(folder) as url:
        limit = chance.randint(4, 120)
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", "-c", "50", "-n", "500", "--quiet", before=("prlimit", f"--nofile={limit}"))
        if code == 0 and "answered as expected" in out:
            return right("the load is done")
        if code == 1 and len(err.strip().splitlines()) == 1 and err.startswith("error: "):
            return right("exit code 1 with one line")
        return wrong(f"limit {limit}, exit code {code}: {err.strip()[-120:]}")


PARTS = {
    "kill-load": Part("kill -9 of a load", "`tare load --db` is killed within its first 2 s.", kill_load),
    "kill-run": Part("kill -9 of a run", "`tare run` of two built-in servers is killed within its first 10 s.", kill_run),
    "disk-load": Part("A full disk under a load", "The record of `tare load --db` is on a disk of 16 to 1,500 KiB.", full_disk_load),
    "disk-run": Part("A full disk under a run", "The records of `tare run` are on a disk of 64 to 3,000 KiB.", full_disk_run),
    "stop-server": Part("A stopped server", "SIGSTOP hits a server 3 to 10 s after `tare run` has begun; the first 3 s are its self-test.", stopped_server),
    "few-files": Part("Few open files", "`tare load -c 50` may open 4 to 120 files.", few_files),
}
