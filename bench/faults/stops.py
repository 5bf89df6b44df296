"""Breaks by signals: processes of a run are killed, or stopped for a while."""

import os
import pathlib
import signal
import time

from .outcome import ended, gone_on, left_of_load, left_of_run, right, wrong
from .pause import pause, pause_thread, strike_if_there
from .tare import QUICK, are_gone, processes

# So long does a machine sleep here.
SLEEP_S = 20.0
# Starts of a run that is struck.
STARTS = 3


def kill_load(tare, chance):
    """kill -9 of a load that writes a record."""
    with tare.folder() as folder, tare.server(folder) as url:
        load = tare.start(folder, "load", f"{url}/path0/4", "-c", "2", "-d", "60s", "--interval", "20ms", "--db", "a.sqlite", "--quiet")
        time.sleep(chance.uniform(0.0, 2.0))
        load.kill()
        load.communicate()
        return left_of_load(tare, folder, folder / "a.sqlite")


def kill_run(tare, chance):
    """kill -9 of a comparison of two servers."""
    with tare.folder() as folder:
        run = tare.start(folder, "run", tare.suite(folder), *QUICK, "--forks", "40")
        return killed(folder, run, chance) or left_of_run(tare, folder)


def resume_run(tare, chance):
    """kill -9 of a comparison, which then goes on."""
    with tare.folder() as folder:
        return killed(folder, begin(tare, folder), chance) or gone_on(tare, folder, STARTS)


def killed(folder, run, chance):
    """kill -9 of a run within its first 10 s: the outcome where that alone decides it, and else nothing."""
    time.sleep(chance.uniform(0.2, 10.0))
    run.kill()
    run.communicate()
    if not are_gone(folder):
        return wrong(f"processes are left running: {processes(folder)}")
    if run.returncode >= 0:
        return right(f"no server left; the run had ended before, with exit code {run.returncode}")
    return None


def kill_server(tare, chance):
    return strike(tare, chance, is_server, lambda pid: os.kill(pid, signal.SIGKILL))


def stop_server(tare, chance):
    return strike(tare, chance, is_server, lambda pid: os.kill(pid, signal.SIGSTOP))


def kill_supervisor(tare, chance):
    return strike(tare, chance, is_supervisor, lambda pid: os.kill(pid, signal.SIGKILL))


def stop_supervisor(tare, chance):
    return strike(tare, chance, is_supervisor, lambda pid: pause([pid], chance.uniform(0.5, 3.0)))


def stop_tare(tare, chance):
    return strike(tare, chance, is_tare, lambda pid: pause([pid], chance.uniform(0.5, 5.0)))


def stop_thread(tare, chance):
    """A thread of the generator stands still while the rest of tare goes on."""
    return strike(tare, chance, workers, lambda pid: pause_thread(chance.choice(workers(pid)), chance.uniform(0.5, 5.0)))


def stop_all(tare, chance):
    """Everything stops for 20 s, as on a machine that sleeps."""
    with tare.folder() as folder:
        run = begin(tare, folder)
        time.sleep(chance.uniform(3.0, 8.0))
        # The parents first: nobody must see the stop of a child.
        pause(sorted(processes(folder)), SLEEP_S)
        return told(tare, folder, run, "all stopped")


def begin(tare, folder, more_environment=None):
    """Starts a run of two built-in servers that takes about 10 s."""
    flags = (*QUICK, "--forks", str(STARTS), "--timeout", "500ms")
    return tare.start(folder, "run", tare.suite(folder), *flags, more_environment=more_environment)


def strike(tare, chance, is_wanted, blow):
    """Begins a run and strikes one of its processes; the run must end by itself, and leave nothing."""
    with tare.folder() as folder:
        run = begin(tare, folder)
        time.sleep(chance.uniform(3.0, 10.0))
        found = [pid for pid in processes(folder) if is_wanted(pid)]
        if found:
            strike_if_there(blow, chance.choice(found))
        return told(tare, folder, run, "struck" if found else None)


def told(tare, folder, run, struck):
    """What a run says that was struck. The self-test may have been hit instead: then there is no run."""
    code, err, problem = ended(tare, folder, run, (0, 1, 3))
    if problem is not None:
        return problem
    if code == 1:
        return right("tare ends, no server left; exit code 1, because the self-test failed") if "self-test" in err else wrong(err.strip()[-160:])
    what = "no such process at that moment" if struck is None else "the server is void or was started again" if code == 3 else "the run went on"
    return right(f"tare ends, no server left; {what}")


def is_server(pid):
    return arguments(pid)[1:2] == [b"reference"]


def is_supervisor(pid):
    return name(pid) == "supervisor"


def is_tare(pid):
    return arguments(pid)[1:2] == [b"run"] and not is_supervisor(pid)


def workers(pid):
    """Identifiers of the threads that make the load."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("[0-9]*")
    return [int(task.name) for task in tasks if read(pid, f"task/{task.name}/comm").startswith(b"tare-load-")]


def arguments(pid):
    return read(pid, "cmdline").split(b"\0")


def name(pid):
    return read(pid, "comm").decode().strip()


def read(pid, file):
    try:
        return pathlib.Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return b""
