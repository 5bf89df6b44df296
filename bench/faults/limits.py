"""Breaks by limits: of open files, processes, ports and memory."""

import contextlib
import os
import pathlib
import signal
import subprocess

from ..problem import Problem
from .outcome import end_of_text, right_outcome, wait_for_run, wrong_outcome
from .tare import SHORT_RUN_FLAGS

# Each break has its own user, so that a limit of processes counts only its processes.
FIRST_USER_ID = 61_000
CGROUP_ROOT = pathlib.Path("/sys/fs/cgroup")


def limit_open_files(tare, rng):
    """A load may open fewer files than it needs."""
    with tare.temporary_folder() as folder, tare.running_server(folder) as url:
        limit = rng.randint(4, 120)
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", "-c", "50", "-n", "500", "--quiet", wrapper=("prlimit", f"--nofile={limit}"))
        return outcome_of_load(code, out, err, f"limit {limit}")


def limit_processes(tare, rng):
    """A run may start fewer processes and threads than it needs."""
    with tare.temporary_folder() as folder:
        limit, user = rng.randint(1, 25), FIRST_USER_ID + rng.randrange(1000)
        suite = tare.write_suite(folder)
        os.chown(folder, user, user)
        wrapper = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "prlimit", f"--nproc={limit}")
        run = tare.start(folder, "run", suite, *SHORT_RUN_FLAGS, "--forks", "1", wrapper=wrapper, extra_environment={"HOME": str(folder)})
        code, err, problem = wait_for_run(tare, folder, run, (0, 1, 3))
        if problem is not None:
            return problem._replace(text=f"limit {limit}: {problem.text}")
        if code == 1 and not err.strip().splitlines()[-1].startswith("error: "):
            return wrong_outcome(f"limit {limit}: exit code 1 without a reason: {end_of_text(err)}")
        return right_outcome({0: "the run is done", 1: "exit code 1 with the reason, no server left", 3: "a server is void, no server left"}[code])


def limit_ports(tare, rng):
    """A load runs in its own network namespace, with fewer local ports than connections."""
    with tare.temporary_folder() as folder:
        ports = rng.randint(10, 150)
        script = f"""
            ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range='40000 {40000 + ports - 1}' || exit 9
            "$0" reference --port 8080 > server.out & server=$!
            until grep -q ready server.out; do sleep 0.05; done
            "$0" load http://127.0.0.1:8080/path0/4 -c 100 -n 3000 --no-keepalive --quiet; code=$?
            kill $server; exit $code
        """
        try:
            done = subprocess.run(["unshare", "--net", "sh", "-c", script, tare.program], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return wrong_outcome(f"{ports} ports: tare hangs")
        if done.returncode == 9:
            raise Problem("the part few-ports makes a network namespace, which needs root")
        # glibc says "Cannot assign requested address", musl (a static program) "Address not available".
        if done.returncode == 3 and "connect" in done.stdout and "address" in done.stdout.lower():
            return right_outcome("exit code 3; the summary counts the failed connects and says why")
        return outcome_of_load(done.returncode, done.stdout, done.stderr, f"{ports} ports")


def outcome_of_load(code, out, err, what):
    """A load must succeed, or fail with exit code 1 or 2 and one line of error."""
    if code == 0 and "answered as expected" in out:
        return right_outcome("the load is done")
    if code in (1, 2) and len(err.strip().splitlines()) == 1 and err.startswith("error: "):
        return right_outcome(f"exit code {code} with one line")
    return wrong_outcome(f"{what}, exit code {code}: {end_of_text(out)} {end_of_text(err)}")


def limit_address_space(tare, rng):
    """A load may allocate little address space."""
    with tare.temporary_folder() as folder, tare.running_server(folder) as url:
        limit_mib = rng.randint(20, 400)
        wrapper = ("prlimit", f"--as={limit_mib << 20}")
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", "-c", "2000", "-n", "4000", "--quiet", wrapper=wrapper)
        if code == -signal.SIGABRT and "memory allocation of" in err:
            return right_outcome("tare is aborted, and says that memory is used up")
        if code == 127 and "error while loading shared libraries" in err:
            return right_outcome("the system cannot start tare")
        return outcome_of_load(code, out, err, f"{limit_mib} MiB")


def limit_memory(tare, rng):
    """tare and its servers share a small limit of memory. The kernel kills the largest process."""
    with tare.temporary_folder() as folder, memory_cgroup(folder.name, rng.randint(6, 60) << 20) as group:
        wrapper = ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"')
        run = tare.start(folder, "run", tare.write_suite(folder), *SHORT_RUN_FLAGS, "--forks", "1", wrapper=wrapper)
        code, err, problem = wait_for_run(tare, folder, run, (0, 1, 3, -signal.SIGKILL))
        if problem is not None:
            return problem
        what = {0: "the run is done", 1: "exit code 1 with the reason", 3: "a server is void", -signal.SIGKILL: "the kernel killed tare"}[code]
        if code == 1 and not err.strip().splitlines()[-1].startswith("error: "):
            return wrong_outcome(f"exit code 1 without a reason: {end_of_text(err)}")
        if code == -signal.SIGKILL:
            done = tare.run(folder, "report", "latest", "--json")
            if done[0] not in (0, 1) or "panicked" in done[2]:
                return wrong_outcome(f"the record is not read: {end_of_text(done[2])}")
        return right_outcome(f"{what}, no server left")


@contextlib.contextmanager
def memory_cgroup(name, limit_bytes):
    """Creates a cgroup (version 1 or 2) with a limit of memory for the duration of a `with` block."""
    is_version_1 = (CGROUP_ROOT / "memory").is_dir()
    group = CGROUP_ROOT / "memory" / name if is_version_1 else CGROUP_ROOT / name
    limits = {"memory.limit_in_bytes": limit_bytes} if is_version_1 else {"memory.max": limit_bytes, "memory.swap.max": 0}
    try:
        group.mkdir()
        for file, value in limits.items():
            (group / file).write_text(str(value), encoding="utf-8")
    except OSError as error:
        raise Problem(f"the part memory makes a control group, which fails here: {error}") from error
    try:
        yield group
    finally:
        group.rmdir()
