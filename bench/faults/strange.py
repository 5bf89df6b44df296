"""Breaks by servers that do what servers should not."""

import sys

from .outcome import ended, last_line, right, wrong
from .tare import QUICK, processes, read_json

PROGRAM = __file__.replace("strange.py", "server.py")
THREADS = 10_000


def background(tare, chance):
    """The server goes into the background, or works through a child that has left its session."""
    way = chance.choice(["--daemon", "--grandchild"])
    left = run_beside(tare, [way])
    return left._replace(text=f"{'it goes into the background' if way == '--daemon' else 'a grandchild in another session answers'}: {left.text}")


def many_threads(tare, _chance):
    return run_beside(tare, ["--threads", str(THREADS)])


def run_beside(tare, flags):
    """A run of a server with these flags beside two that behave."""
    command = [sys.executable, PROGRAM, "{port}", *flags]
    table = f"\n[servers.strange]\ncommand = {command}\nready = '^ready$'\nbaseline = \"bare\"\n"
    with tare.folder() as folder:
        run = tare.start(folder, "run", tare.suite(folder, table), *QUICK, "--forks", "1", "--startup-timeout", "20s")
        code, _, problem = ended(tare, folder, run, (0, 3))
        if problem is not None:
            return problem
        summary = read_json(tare.run(folder, "report", "latest", "--json")[1])
        states = {cell["variant"]: cell["validity"]["state"] for cell in summary["cells"]}
        others = [name for name, state in states.items() if name != "strange" and state == "void"]
        if others:
            return wrong(f"others are void too: {others}")
        return right(f"no server left; it is {'void' if states['strange'] == 'void' else 'measured'}, and the others are measured")


def slow_bytes(tare, chance):
    """Every connection gets one byte of its answer per second."""
    with tare.folder() as folder:
        server = tare.start_program(folder, sys.executable, PROGRAM, "0", "--slow")
        port = server.stdout.readline().split()[-1]
        timeout_s = chance.choice([1, 2, 3])
        flags = ("-c", "50", "-d", "2s", "--timeout", f"{timeout_s}s", "--quiet", "--json", "a.json")
        code, out, err = tare.run(folder, "load", f"http://127.0.0.1:{port}/", *flags)
        server.kill()
        server.communicate()
        summary = read_json((folder / "a.json").read_text(encoding="utf-8"))
        classes = {error["class"]: error["count"] for error in summary["errors"]}
        failed = summary["requests"]["failed"]
        if code == 3 and classes == {"timeout": failed} and failed > 0 and "VOID" in out and not processes(folder):
            return right("every request is a timeout, the load is VOID, exit code 3")
        return wrong(f"exit code {code}, {classes}: {last_line(err)}")
