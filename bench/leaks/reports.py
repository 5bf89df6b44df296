"""Reads what Netty's leak detector says in the log of a server."""

import re

START = re.compile(r"LEAK: (\S+?)\.release\(\)")
# A line of the log that begins a new message.
MESSAGE = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} ", re.MULTILINE)
HINT = re.compile(r"Hint: '([^']+)' will handle the message")
FRAME = re.compile(r"^\t([\w.$]+)\.([\w$<>]+)\(([^)]*)\)$", re.MULTILINE)
# Netty counts references in these packages; their frames say nothing about the leak.
BOOKKEEPING_PACKAGES = ("io.netty.buffer.", "io.netty.util.")
FRAMES = 8


def parse_log(text):
    """One entry for each report in a log: the type that leaked, the handlers that had it, and the frames of its last access."""
    found = []
    for message in MESSAGE.split(text):
        leak = START.search(message)
        if leak:
            found.append({"type": leak[1], "handlers": list(dict.fromkeys(HINT.findall(message))), "last_access": last_access(message)})
    return found


def last_access(message):
    """The frames of the newest access record that has frames outside Netty's reference counting."""
    newest = re.split(r"^(?:#\d+:|Created at:)$", message, flags=re.MULTILINE)
    for record in newest[1:]:
        known = [(owner, method, place) for owner, method, place in FRAME.findall(record) if not owner.startswith(BOOKKEEPING_PACKAGES) and method != "touch"]
        frames = [f"{owner}.{method}({place})" for owner, method, place in known]
        if frames:
            return frames[:FRAMES]
    return []
