"""Reads what Netty's leak detector says in the log of a server."""

import re

START = re.compile(r"LEAK: (\S+?)\.release\(\)")
# A line of the log that begins a new message.
MESSAGE = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} ", re.MULTILINE)
HINT = re.compile(r"Hint: '([^']+)' will handle the message")
FRAME = re.compile(r"^\t([\w.$]+)\.([\w$<>]+)\(([^)]*)\)$", re.MULTILINE)
# Netty's own bookkeeping of references.
UNTELLING = ("io.netty.buffer.", "io.netty.util.")
FRAMES = 8


def of_log(text):
    """One entry for each distinct report: what leaked, the last handler that had it, and the frames of its last access."""
    found = []
    for message in MESSAGE.split(text):
        leak = START.search(message)
        if leak:
            found.append({"type": leak[1], "handlers": list(dict.fromkeys(HINT.findall(message))), "last_access": last_access(message)})
    return found


def last_access(message):
    """The frames of the newest access record, those that name only Netty's own bookkeeping left out."""
    newest = re.split(r"^(?:#\d+:|Created at:)$", message, flags=re.MULTILINE)
    for record in newest[1:]:
        known = [(owner, method, place) for owner, method, place in FRAME.findall(record) if not owner.startswith(UNTELLING) and method != "touch"]
        frames = [f"{owner}.{method}({place})" for owner, method, place in known]
        if frames:
            return frames[:FRAMES]
    return []
