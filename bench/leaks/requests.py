"""The requests of the contract that a server with one route answers: scenarios and checks, without pushes."""

import http.client
import tomllib
from typing import NamedTuple

CONTRACT = "servers/contract.toml"


class Request(NamedTuple):
    """One request. The content of its body does not matter here, its length does."""

    name: str
    method: str
    path: str
    headers: dict
    body: bytes


def of_contract(path=CONTRACT):
    """All requests, the scenarios first."""
    with open(path, "rb") as file:
        contract = tomllib.load(file)
    scenarios = [{"name": name, **scenario} for name, scenario in contract["scenarios"].items() if "push" not in scenario]
    return [request_of(one) for one in scenarios + contract["checks"] if one.get("routes", 1) == 1]


def request_of(entry):
    asked = entry["request"]
    return Request(entry["name"], asked.get("method", "GET"), asked["path"], asked.get("headers", {}), body_of(asked.get("body", "")))


def body_of(described):
    """The text that the contract gives, or a body of the length and kind that it describes."""
    if isinstance(described, str):
        return described.encode()
    if described["alphabet"] == "json":
        frame = b'{"items":[],"note":"%s"}'
        return frame % (b"a" * (described["bytes"] - len(frame) + 2))
    return b"a" * described["bytes"]


def status_of(port, request):
    """The status that a server answers, asked once."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(request.method, request.path, request.body or None, request.headers)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        # It refuses the body before it has read all of it.
        return connection.getresponse().status
    finally:
        connection.close()
