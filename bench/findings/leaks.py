"""Reads the results of `bench/leaks`: which requests leak buffers on which servers. Provides functions for the texts of claims."""

import json
import pathlib

from .problem import Problem, pick

FILE = pathlib.Path(__file__).parent / "leaks.json"


def read(path=FILE):
    """A row for each server, version and request."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}; bench/leaks/run makes it") from error


def lookup_functions(rows):
    """The functions for the texts of claims, by name."""
    by_server = {}
    for row in rows:
        by_server.setdefault(f"{row['server']}@{row['version']}", {})[row["request"]] = row

    def leak_table(*servers):
        """A table of servers and requests with a body; others have no buffers to leak."""
        columns = [pick("server in leaks.json", server, by_server) for server in servers]
        heads = ["request", "answer", *servers]
        lines = []
        for name, row in columns[0].items():
            if not row["body_bytes"]:
                continue
            cells = ["not sent" if name not in column else "**buffers left**" if column[name]["reports"] else "none left" for column in columns]
            lines.append([name, str(row["status"]), *cells])
        return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *lines])

    def leaking(server):
        """How many of the requests with a body leak buffers: `2 of 5`."""
        sent = [row for row in pick("server in leaks.json", server, by_server).values() if row["body_bytes"]]
        return f"{sum(row['reports'] > 0 for row in sent)} of {len(sent)}"

    def leak_stack(server, request):
        row = pick("request", request, pick("server in leaks.json", server, by_server))
        if not row["first_report"]:
            raise Problem(f"{request} leaks no buffers on {server}")
        frames = [frame for frame in row["first_report"]["last_access"] if ".touch(" not in frame]
        return "\n".join(["```", *frames, "```"])

    return {"leak_table": leak_table, "leaking": leaking, "leak_stack": leak_stack}
