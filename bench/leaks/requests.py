"""The requests of the contract that a server with one route answers: scenarios and checks, without pushes."""

import http.client
import tomllib
from typing import NamedTuple

CONTRACT = "servers/contract.toml"


class Request(NamedTuple):
    """One request. Only the length of its body matters here."""

    name: str
    method: str
    path: str
    headers: dict
    body: bytes


def read_contract(path=CONTRACT):
    """All requests of the contract, scenarios first."""
    with open(path, "rb") as file:
        contract = tomllib.load(file)
    scenarios = [{"name": name, **scenario} for name, scenario in contract["scenarios"].items() if "push" not in scenario]
    return [parse_request(one) for one in scenarios + contract["checks"] if one.get("routes", 1) == 1]


def parse_request(entry):
    table = entry["request"]
    return Request(entry["name"], table.get("method", "GET"), table["path"], table.get("headers", {}), make_body(table.get("body", "")))


def make_body(described):
    """The text of the contract, or a body of the length and kind that it describes."""
    if isinstance(described, str):
        return described.encode()
    if described["alphabet"] == "json":
        frame = b'{"items":[],"note":"%s"}'
        return frame % (b"a" * (described["bytes"] - len(frame) + 2))
    return b"a" * described["bytes"]


def fetch_status(port, request):
    """Sends a request once; returns the status of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(request.method, request.path, request.body or None, request.headers)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        # The server answers before it has read the whole body.
        return connection.getresponse().status
    finally:
        connection.close()
