"""Breaks by servers that behave unusually: in the background, with many threads, or very slow."""

import pathlib
import sys

from .outcome import end_of_text, right_outcome, wait_for_run, wrong_outcome
from .tare import SHORT_RUN_FLAGS, find_processes, parse_json

SERVER_PROGRAM = str(pathlib.Path(__file__).with_name("server.py"))
THREADS = 10_000


def run_server_in_background(tare, rng):
    """The server goes into the background, or answers from a grandchild in another session."""
    flag = rng.choice(["--daemon", "--grandchild"])
    outcome = run_beside_normal_servers(tare, [flag])
    return outcome._replace(text=f"{'it goes into the background' if flag == '--daemon' else 'a grandchild in another session answers'}: {outcome.text}")


def run_server_with_many_threads(tare, _rng):
    return run_beside_normal_servers(tare, ["--threads", str(THREADS)])


def run_beside_normal_servers(tare, flags):
    """Runs a server with these flags beside two normal ones. The normal ones must be measured."""
    command = [sys.executable, SERVER_PROGRAM, "{port}", *flags]
    table = f"\n[servers.strange]\ncommand = {command}\nready = '^ready$'\nbaseline = \"bare\"\n"
    with tare.temporary_folder() as folder:
        run = tare.start(folder, "run", tare.write_suite(folder, table), *SHORT_RUN_FLAGS, "--forks", "1", "--startup-timeout", "20s")
        code, _, problem = wait_for_run(tare, folder, run, (0, 3))
        if problem is not None:
            return problem
        summary = parse_json(tare.run(folder, "report", "latest", "--json")[1])
        states = {cell["variant"]: cell["validity"]["state"] for cell in summary["cells"]}
        others = [name for name, state in states.items() if name != "strange" and state == "void"]
        if others:
            return wrong_outcome(f"others are void too: {others}")
        return right_outcome(f"no server left; it is {'void' if states['strange'] == 'void' else 'measured'}, and the others are measured")


def load_slow_server(tare, rng):
    """Loads a server that sends one byte per second. Every request must be a timeout."""
    with tare.temporary_folder() as folder:
        server = tare.start_program(folder, sys.executable, SERVER_PROGRAM, "0", "--slow")
        port = server.stdout.readline().split()[-1]
        timeout_s = rng.choice([1, 2, 3])
        flags = ("-c", "50", "-d", "2s", "--timeout", f"{timeout_s}s", "--quiet", "--json", "a.json")
        code, out, err = tare.run(folder, "load", f"http://127.0.0.1:{port}/", *flags)
        server.kill()
        server.communicate()
        summary = parse_json((folder / "a.json").read_text(encoding="utf-8"))
        classes = {error["class"]: error["count"] for error in summary["errors"]}
        failed = summary["requests"]["failed"]
        if code == 3 and classes == {"timeout": failed} and failed > 0 and "VOID" in out and not find_processes(folder):
            return right_outcome("every request is a timeout, the load is VOID, exit code 3")
        return wrong_outcome(f"exit code {code}, {classes}: {end_of_text(err)}")
