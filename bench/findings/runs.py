"""Reads evidence: the part of the summaries of runs that the pages can show."""

import json
import pathlib

from .problem import Problem

FOLDER = pathlib.Path(__file__).parent / "evidence"


def read(folder=FOLDER):
    """All evidence by its name, each in the form of a summary.json (docs/SUMMARY.md)."""
    return {path.stem: parse_file(path) for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)}


def parse_file(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}") from error


def facts_of(run):
    """The facts about a run for the pages: machine, settings, libraries, the largest number of starts of a server, and the load average
    at its start (the number of programs that wanted a core, averaged over the minute before)."""
    sections = {section["title"]: rows_of(section["rows"]) for section in run["environment"]}
    about, kernel, jvm = sections["Machine"], sections["Kernel"]["release"], sections["JVM"]
    machine, jdk = f"{about['CPU']}, cores {about['cores tare may use']}, {about['memory']}", jvm["JDK"].split(" ")[0]
    at_start = next((value for key, value in about.items() if key.startswith("hypervisor steal")), "")
    load = next((part.removeprefix("load ") for part in at_start.split(", ") if part.startswith("load ")), "")
    written = lambda rows: ", ".join(f"{name} {version}" for name, version in rows.items())
    libraries = {(cell["family"], written(rows_of(cell["resolved"]))) for cell in run["cells"] if cell["resolved"]}
    libraries |= {(title.split(" ")[1], written(rows)) for title, rows in sections.items() if title.startswith("Versions: ")}
    return {
        "where": f"{machine}, Linux {kernel}, JDK {jdk}",
        "machine": machine,
        "kernel": kernel,
        "jdk": jdk,
        "jvm_options": jvm["options"],
        "at_start": at_start,
        "load": load,
        "libraries": sorted(libraries),
        "plan": {key: value for section in run["plan"] for key, value in rows_of(section["rows"]).items()},
        "starts": max((one["forks"] for one in run["cells"] + run["profiles"]["views"]), default=0),
        "unsteady": sum(any(reason["text"].startswith("not steady") for reason in cell["validity"]["reasons"]) for cell in run["cells"]),
    }


def rows_of(rows):
    return {row["key"]: row["value"] for row in rows}
