"""Breaks by signals: kills processes of a run, or stops them for a while."""

import os
import pathlib
import signal
import time

from .outcome import outcome_of_resumed_run, outcome_of_unfinished_load, outcome_of_unfinished_run, right_outcome, wait_for_run, wrong_outcome
from .pause import apply_if_running, pause_processes, pause_thread
from .tare import SHORT_RUN_FLAGS, find_processes, wait_until_gone

# How long everything is stopped, as on a machine that sleeps.
STOP_ALL_S = 20.0
# Starts of a run whose processes are signalled.
STARTS = 3


def kill_load(tare, rng):
    """Kills a load that writes a record, with kill -9."""
    with tare.temporary_folder() as folder, tare.running_server(folder) as url:
        load = tare.start(folder, "load", f"{url}/path0/4", "-c", "2", "-d", "60s", "--interval", "20ms", "--db", "a.sqlite", "--quiet")
        time.sleep(rng.uniform(0.0, 2.0))
        load.kill()
        load.communicate()
        return outcome_of_unfinished_load(tare, folder, folder / "a.sqlite")


def kill_run(tare, rng):
    """Kills a comparison of two servers, with kill -9."""
    with tare.temporary_folder() as folder:
        run = tare.start(folder, "run", tare.write_suite(folder), *SHORT_RUN_FLAGS, "--forks", "40")
        return kill_at_random_time(folder, run, rng) or outcome_of_unfinished_run(tare, folder)


def resume_killed_run(tare, rng):
    """Kills a comparison with kill -9, and resumes it."""
    with tare.temporary_folder() as folder:
        return kill_at_random_time(folder, start_short_run(tare, folder), rng) or outcome_of_resumed_run(tare, folder, STARTS)


def kill_at_random_time(folder, run, rng):
    """Kills a run within its first 10 s. Returns an outcome if processes are left or the run ended earlier, otherwise None."""
    time.sleep(rng.uniform(0.2, 10.0))
    run.kill()
    run.communicate()
    if not wait_until_gone(folder):
        return wrong_outcome(f"processes are left running: {find_processes(folder)}")
    if run.returncode >= 0:
        return right_outcome(f"no server left; the run had ended before, with exit code {run.returncode}")
    return None


def kill_server(tare, rng):
    return signal_one_process(tare, rng, is_server, lambda pid: os.kill(pid, signal.SIGKILL))


def stop_server(tare, rng):
    return signal_one_process(tare, rng, is_server, lambda pid: os.kill(pid, signal.SIGSTOP))


def kill_supervisor(tare, rng):
    return signal_one_process(tare, rng, is_supervisor, lambda pid: os.kill(pid, signal.SIGKILL))


def stop_supervisor(tare, rng):
    return signal_one_process(tare, rng, is_supervisor, lambda pid: pause_processes([pid], rng.uniform(0.5, 3.0)))


def stop_tare(tare, rng):
    return signal_one_process(tare, rng, is_tare, lambda pid: pause_processes([pid], rng.uniform(0.5, 5.0)))


def stop_thread(tare, rng):
    """Stops one thread of the load generator. The other threads of tare continue."""
    return signal_one_process(tare, rng, load_threads_of, lambda pid: pause_thread(rng.choice(load_threads_of(pid)), rng.uniform(0.5, 5.0)))


def stop_all_processes(tare, rng):
    """Stops tare, its servers and supervisors for 20 s, as on a machine that sleeps."""
    with tare.temporary_folder() as folder:
        run = start_short_run(tare, folder)
        time.sleep(rng.uniform(3.0, 8.0))
        # Parents first, so that no parent sees its child stop.
        pause_processes(sorted(find_processes(folder)), STOP_ALL_S)
        return outcome_of_run(tare, folder, run, was_signalled=True)


def start_short_run(tare, folder, extra_environment=None):
    """Starts a run of two built-in servers that takes about 10 s."""
    flags = (*SHORT_RUN_FLAGS, "--forks", str(STARTS), "--timeout", "500ms")
    return tare.start(folder, "run", tare.write_suite(folder), *flags, extra_environment=extra_environment)


def signal_one_process(tare, rng, is_wanted, send_signal):
    """Starts a run and signals one of its processes. The run must end by itself, and no process may be left."""
    with tare.temporary_folder() as folder:
        run = start_short_run(tare, folder)
        time.sleep(rng.uniform(3.0, 10.0))
        candidates = [pid for pid in find_processes(folder) if is_wanted(pid)]
        if candidates:
            apply_if_running(send_signal, rng.choice(candidates))
        return outcome_of_run(tare, folder, run, was_signalled=bool(candidates))


def outcome_of_run(tare, folder, run, was_signalled):
    """Waits for the run and returns its outcome. If the signal hit the self-test, there is no run."""
    code, err, problem = wait_for_run(tare, folder, run, (0, 1, 3))
    if problem is not None:
        return problem
    if code == 1:
        return right_outcome("tare ends, no server left; exit code 1, because the self-test failed") if "self-test" in err else wrong_outcome(err.strip()[-160:])
    what = "no such process at that moment" if not was_signalled else "the server is void or was started again" if code == 3 else "the run went on"
    return right_outcome(f"tare ends, no server left; {what}")


def is_server(pid):
    return command_line_of(pid)[1:2] == [b"reference"]


def is_supervisor(pid):
    return process_name_of(pid) == "supervisor"


def is_tare(pid):
    return command_line_of(pid)[1:2] == [b"run"] and not is_supervisor(pid)


def load_threads_of(pid):
    """Identifiers of the threads that make the load."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("[0-9]*")
    return [int(task.name) for task in tasks if read_proc_file(pid, f"task/{task.name}/comm").startswith(b"tare-load-")]


def command_line_of(pid):
    return read_proc_file(pid, "cmdline").split(b"\0")


def process_name_of(pid):
    return read_proc_file(pid, "comm").decode().strip()


def read_proc_file(pid, file):
    """The content of /proc/PID/FILE; empty if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return b""
