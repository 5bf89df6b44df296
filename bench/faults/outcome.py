"""Judges what a break left: processes, exit codes, and what `tare report` says about the record."""

from typing import NamedTuple

from .tare import find_processes, parse_json, wait_for_end, wait_until_gone


class Outcome(NamedTuple):
    """What a break left, in words, and whether that is as promised."""

    text: str
    is_right: bool


def right_outcome(text):
    return Outcome(text, True)


def wrong_outcome(text):
    return Outcome(text, False)


def end_of_text(text):
    """The last 160 characters of an error, to fit a table."""
    return text.strip()[-160:]


def outcome_of_unfinished_load(tare, folder, record):
    """Reads the record of a load that was cut short. It must be absent, or partial and not VALID."""
    if not record.exists():
        return right_outcome("no record yet")
    code, out, err = tare.run(folder, "report", record, "--json")
    summary = parse_json(out)
    if code == 1 and "was never written" in err:
        return right_outcome("a record without a header, which the error says")
    if code != 0 or summary is None:
        return wrong_outcome(f"the record is not read: {end_of_text(err)}")
    reasons = [reason["text"] for reason in summary["verdict"]["reasons"]]
    extents = [text for text in reasons if "was cut short: it holds" in text]
    if summary["status"] != "partial" or summary["verdict"]["state"] == "valid" or not extents:
        return wrong_outcome(f"the record reads as if it were whole: {summary['status']}, {reasons}")
    return right_outcome("the record reads, is not VALID, and says from when to when it holds")


def outcome_of_unfinished_run(tare, folder, *flags):
    """Reads the latest record after a run was cut short. It must be absent, or partial and not VALID."""
    code, out, err = tare.run(folder, "report", "latest", "--json", *flags)
    if code == 1 and ("there is no run" in err or "was never written" in err):
        return right_outcome("no server left; no record yet, which the error says")
    summary = parse_json(out)
    if code != 0 or summary is None:
        return wrong_outcome(f"the record is not read: {end_of_text(err)}")
    unfinished = [finding["text"] for finding in summary["findings"] if finding["kind"] == "record_unfinished"]
    if summary["run"]["status"] != "partial" or summary["trust"]["state"] == "valid" or not any("holds" in text for text in unfinished):
        return wrong_outcome(f"the record reads as if it were whole: {summary['run']['status']}, {summary['trust']}")
    return right_outcome("no server left; the record reads, is not VALID, and says from when to when it holds")


def outcome_of_resumed_run(tare, folder, forks):
    """Resumes a run of `forks` starts that was cut short. Afterwards its record must contain each start once."""
    before_resume = outcome_of_unfinished_run(tare, folder)
    if not before_resume.is_right or "no record yet" in before_resume.text:
        return before_resume
    code, err, problem = wait_for_run(tare, folder, tare.run(folder, "run", "--resume"), (0, 1, 3))
    if problem is not None:
        return problem._replace(text=f"--resume: {problem.text}")
    if code == 1:
        has_nothing = "it stopped before its first start" in err
        return right_outcome("no server left; the record has no start, which --resume says") if has_nothing else wrong_outcome(f"--resume: {end_of_text(err)}")
    summary = parse_json(tare.run(folder, "report", "latest", "--json")[1])
    if summary is None or summary["run"]["status"] != "complete":
        return wrong_outcome(f"the record of a resumed run is not complete: {end_of_text(err)}")
    # Not every start includes the second start of the baseline.
    compared = [cell for cell in summary["cells"] if not cell["control"]]
    starts = [[value["fork"] for value in cell["fork_values"]] + cell["forks_set_aside"] for cell in compared]
    # There may be more, in the place of starts that were set aside.
    if not starts or any(sorted(cell)[:forks] != list(range(1, forks + 1)) or len(set(cell)) < len(cell) for cell in starts):
        return wrong_outcome(f"a resumed run has not each start once: {starts}, exit code {code}")
    return right_outcome("no server left; --resume goes on, and the record has each start once")


def wait_for_run(tare, folder, process, allowed, forbidden="panicked"):
    """Waits for the end of a run. Returns its exit code, its standard error, and an outcome if it hangs, leaves processes, or fails
    with another exit code than `allowed`; otherwise None. `process` is a process or what `Tare.run` returned."""
    code, _, err = process if isinstance(process, tuple) else wait_for_end(process)
    if not wait_until_gone(folder):
        return code, err, wrong_outcome(f"processes are left running: {find_processes(folder)}")
    if code is None:
        return code, err, wrong_outcome("tare hangs")
    if code not in allowed or forbidden in err:
        return code, err, wrong_outcome(f"exit code {code}: {end_of_text(err)}")
    return code, err, None
