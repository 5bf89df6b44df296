"""The command line of `bench/leaks/run`."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from ..problem import Problem
from . import reports, requests
from .server import read_manifest, running_server

RESULTS = pathlib.Path("bench/findings/leaks.json")
# Which family builds a server.
FAMILIES = {"netty.future.": "netty", "netty.sync.": "netty-sync", "netty.cats.": "netty-cats", "netty.": "netty"}
LARGE_BODY_BYTES = 1 << 20
# The detector reports a lost buffer only after a garbage collection, when another buffer is allocated.
COLLECTIONS_PER_REQUEST = 3

DESCRIPTION = """\
Finds requests that leak buffers. For each request of servers/contract.toml it starts a server in a JVM whose Netty tracks every buffer
(leak detection at "paranoid"), sends the request some thousands of times, and collects garbage. It stores the leaks that Netty reports
in bench/findings/leaks.json, with the frames of the last access. Nothing is timed, so the machine may do other work."""


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/leaks/run", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("servers", nargs="+", metavar="SERVER@VERSION", help="for example netty.future.Tapir@1.11.15; build it first with servers/build")
    parser.add_argument("--requests", nargs="+", metavar="NAME", help="only these requests of the contract")
    parser.add_argument("--times", type=int, default=2000, help="how often each request is sent; bodies of more than 1 MiB: a twentieth of that (2000)")
    parser.add_argument("--program", default="target/release/tare", help="the tare that sends the requests (target/release/tare)")
    return parser.parse_args()


def main(options):
    chosen = [one for one in requests.read_contract() if not options.requests or one.name in options.requests]
    if not chosen:
        raise Problem(f"no such request; {requests.CONTRACT} has: {', '.join(one.name for one in requests.read_contract())}")
    for target in options.servers:
        name, _, version = target.partition("@")
        family = next((family for prefix, family in FAMILIES.items() if name.startswith(prefix)), None)
        if family is None or not version:
            raise Problem(f'"{target}" is not a server on Netty with its version: write for example netty.future.Tapir@1.11.15')
        manifest = read_manifest(f"{family}@{version}")
        for request in chosen:
            store_row(examine_request(options, manifest, name, request))


def examine_request(options, manifest, name, request):
    """Starts the server, sends it one kind of request, and returns a row with what the leak detector reported."""
    times = options.times // 20 if len(request.body) > LARGE_BODY_BYTES else options.times
    with running_server(manifest, name) as server:
        status = requests.fetch_status(server.port, request)
        send_requests(options.program, server.port, request, times)
        for _ in range(COLLECTIONS_PER_REQUEST):
            server.collect_garbage()
            send_requests(options.program, server.port, requests.Request("", "GET", "/path0/4", {}, b""), 200)
            time.sleep(0.1)
        found = reports.parse_log(server.read_log())
    print(f"{name}@{manifest['version']}  {request.name}: {status}, {len(found) or 'no'} reports", file=sys.stderr, flush=True)
    versions = {key: manifest["resolved"][key] for key in ("netty", "tapir") if key in manifest["resolved"]}
    row = {"server": name, "version": manifest["version"], "request": request.name, "body_bytes": len(request.body)}
    return {**row, "status": status, "sent": times, "resolved": versions, "reports": len(found), "first_report": found[0] if found else None}


def send_requests(program, port, request, times):
    """Sends the request `times` times over eight connections. Any status is accepted."""
    with tempfile.NamedTemporaryFile() as body:
        body.write(request.body)
        body.flush()
        headers = [part for key, value in request.headers.items() for part in ("-H", f"{key}: {value}")]
        content = ["-D", body.name] if request.body else []
        url = f"http://127.0.0.1:{port}{request.path}"
        command = [program, "load", url, "-X", request.method, *headers, *content, "-n", str(times), "-c", "8", "--check", "status 100..599", "--quiet"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    # 3: a load that is VOID. A server that refuses bodies closes connections before they are sent.
    if done.returncode not in (0, 3):
        raise Problem(f"the load of {request.path} ended with exit code {done.returncode}: {done.stderr.strip()}")


def store_row(row):
    """Writes a row to the results. It replaces an earlier row of the same server, version and request."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    key = lambda one: (one["server"], one["version"], one["request"])
    rows = [one for one in rows if key(one) != key(row)] + [row]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


try:
    main(parse_arguments())
except Problem as problem:
    sys.exit(f"error: {problem}")
except KeyboardInterrupt:
    sys.exit("interrupted: finished rows are stored")
