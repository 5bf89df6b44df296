"""What was left of one break, and what `tare report` must say of the record."""

from typing import NamedTuple

from .tare import are_gone, end, processes, read_json


class Outcome(NamedTuple):
    """What was left of one break."""

    text: str
    is_right: bool


def right(text):
    return Outcome(text, True)


def wrong(text):
    return Outcome(text, False)


def last_line(text):
    """The end of an error, short enough for a table."""
    return text.strip()[-160:]


def left_of_load(tare, folder, record):
    """What the record of a load that has no end is read as."""
    if not record.exists():
        return right("no record yet")
    code, out, err = tare.run(folder, "report", record, "--json")
    summary = read_json(out)
    if code == 1 and "was never written" in err:
        return right("a record without a header, which the error says")
    if code != 0 or summary is None:
        return wrong(f"the record is not read: {last_line(err)}")
    reasons = [reason["text"] for reason in summary["verdict"]["reasons"]]
    held = [text for text in reasons if "was cut short: it holds" in text]
    if summary["status"] != "partial" or summary["verdict"]["state"] == "valid" or not held:
        return wrong(f"the record reads as if it were whole: {summary['status']}, {reasons}")
    return right("the record reads, is not VALID, and says from when to when it holds")


def left_of_run(tare, folder, *flags):
    """What the latest record of a run that has no end is read as."""
    code, out, err = tare.run(folder, "report", "latest", "--json", *flags)
    if code == 1 and ("there is no run" in err or "was never written" in err):
        return right("no server left; no record yet, which the error says")
    summary = read_json(out)
    if code != 0 or summary is None:
        return wrong(f"the record is not read: {last_line(err)}")
    unfinished = [finding["text"] for finding in summary["findings"] if finding["kind"] == "record_unfinished"]
    if summary["run"]["status"] != "partial" or summary["trust"]["state"] == "valid" or not any("holds" in text for text in unfinished):
        return wrong(f"the record reads as if it were whole: {summary['run']['status']}, {summary['trust']}")
    return right("no server left; the record reads, is not VALID, and says from when to when it holds")


def gone_on(tare, folder, forks):
    """What a run of so many starts, which was cut short at some point, comes to with `tare run --resume`."""
    left = left_of_run(tare, folder)
    if not left.is_right or "no record yet" in left.text:
        return left
    code, err, problem = ended(tare, folder, tare.run(folder, "run", "--resume"), (0, 1, 3))
    if problem is not None:
        return problem._replace(text=f"--resume: {problem.text}")
    if code == 1:
        has_nothing = "it stopped before its first start" in err
        return right("no server left; the record has no start, which --resume says") if has_nothing else wrong(f"--resume: {last_line(err)}")
    summary = read_json(tare.run(folder, "report", "latest", "--json")[1])
    if summary is None or summary["run"]["status"] != "complete":
        return wrong(f"the record of a resumed run is not complete: {last_line(err)}")
    # The second start of the baseline is not part of every start.
    compared = [cell for cell in summary["cells"] if not cell["control"]]
    starts = [[value["fork"] for value in cell["fork_values"]] + cell["forks_set_aside"] for cell in compared]
    if not starts or any(sorted(cell)[:forks] != list(range(1, forks + 1)) for cell in starts):
        return wrong(f"a resumed run lacks starts: {starts}, exit code {code}")
    return right("no server left; --resume goes on, and the record has each start once")


def ended(tare, folder, process, allowed, forbidden="panicked"):
    """Waits for the end of a run: its exit code and errors, or an outcome if it hangs, leaves servers or fails without a word."""
    code, _, err = process if isinstance(process, tuple) else end(process)
    if not are_gone(folder):
        return code, err, wrong(f"processes are left running: {processes(folder)}")
    if code is None:
        return code, err, wrong("tare hangs")
    if code not in allowed or forbidden in err:
        return code, err, wrong(f"exit code {code}: {last_line(err)}")
    return code, err, None
