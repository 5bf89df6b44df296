"""Breaks by limits: of open files, processes, ports and memory."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

from .outcome import ended, last_line, right, wrong
from .tare import QUICK, Problem, are_gone, processes

# Users of their own, so that a limit of processes counts those of one break only.
FIRST_USER = 61_000
MEMORY_GROUPS = pathlib.Path("/sys/fs/cgroup")


def few_files(tare, chance):
    """A limit of open files below what a load needs."""
    with tare.folder() as folder, tare.server(folder) as url:
        limit = chance.randint(4, 120)
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", "-c", "50", "-n", "500", "--quiet", before=("prlimit", f"--nofile={limit}"))
        return done_or_refused(code, out, err, f"limit {limit}")


def few_processes(tare, chance):
    """A limit of processes and threads below what a run needs."""
    with tare.folder() as folder:
        limit, user = chance.randint(1, 25), FIRST_USER + chance.randrange(1000)
        suite = tare.suite(folder)
        os.chown(folder, user, user)
        before = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "prlimit", f"--nproc={limit}")
        run = tare.start(folder, "run", suite, *QUICK, "--forks", "1", before=before, more_environment={"HOME": str(folder)})
        code, err, problem = ended(tare, folder, run, (0, 1, 3))
        if problem is not None:
            return problem._replace(text=f"limit {limit}: {problem.text}")
        if code == 1 and not err.strip().splitlines()[-1].startswith("error: "):
            return wrong(f"limit {limit}: exit code 1 without a reason: {last_line(err)}")
        return right({0: "the run is done", 1: "exit code 1 with the reason, no server left", 3: "a server is void, no server left"}[code])


def few_ports(tare, chance):
    """A network of its own with fewer local ports than connections."""
    with tare.folder() as folder:
        ports = chance.randint(10, 150)
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
            return wrong(f"{ports} ports: tare hangs")
        if done.returncode == 9:
            raise Problem("the part with few ports makes a network of its own, which needs root")
        # "Cannot assign requested address", or of a static program "Address not available".
        if done.returncode == 3 and "connect" in done.stdout and "address" in done.stdout.lower():
            return right("exit code 3; the summary counts the failed connects and says why")
        return done_or_refused(done.returncode, done.stdout, done.stderr, f"{ports} ports")


def done_or_refused(code, out, err, what):
    """A load is done, or refused in one line."""
    if code == 0 and "answered as expected" in out:
        return right("the load is done")
    if code in (1, 2) and len(err.strip().splitlines()) == 1 and err.startswith("error: "):
        return right(f"exit code {code} with one line")
    return wrong(f"{what}, exit code {code}: {last_line(out)} {last_line(err)}")


def little_address_space(tare, chance):
    """A limit of the memory that tare may ask for."""
    with tare.folder() as folder, tare.server(folder) as url:
        limit_mib = chance.randint(20, 400)
        before = ("prlimit", f"--as={limit_mib << 20}")
        code, out, err = tare.run(folder, "load", f"{url}/path0/4", "-c", "2000", "-n", "4000", "--quiet", before=before)
        if code == -signal.SIGABRT and "memory allocation of" in err:
            return right("tare is aborted, and says that memory is used up")
        if code == 127 and "error while loading shared libraries" in err:
            return right("the system cannot start tare")
        return done_or_refused(code, out, err, f"{limit_mib} MiB")


def little_memory(tare, chance):
    """A limit of the memory of tare and its servers together. The kernel kills the largest of them."""
    with tare.folder() as folder, memory_group(folder.name, chance.randint(6, 60) << 20) as group:
        before = ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"')
        run = tare.start(folder, "run", tare.suite(folder), *QUICK, "--forks", "1", before=before)
        code, err, problem = ended(tare, folder, run, (0, 1, 3, -signal.SIGKILL))
        if problem is not None:
            return problem
        what = {0: "the run is done", 1: "exit code 1 with the reason", 3: "a server is void", -signal.SIGKILL: "the kernel killed tare"}[code]
        if code == 1 and not err.strip().splitlines()[-1].startswith("error: "):
            return wrong(f"exit code 1 without a reason: {last_line(err)}")
        if code == -signal.SIGKILL:
            done = tare.run(folder, "report", "latest", "--json")
            if done[0] not in (0, 1) or "panicked" in done[2]:
                return wrong(f"the record is not read: {last_line(done[2])}")
        return right(f"{what}, no server left")


@contextlib.contextmanager
def memory_group(name, limit_bytes):
    """A control group with this limit, below version 1 or 2 of the hierarchy."""
    is_version_1 = (MEMORY_GROUPS / "memory").is_dir()
    group = MEMORY_GROUPS / "memory" / name if is_version_1 else MEMORY_GROUPS / name
    limits = {"memory.limit_in_bytes": limit_bytes} if is_version_1 else {"memory.max": limit_bytes, "memory.swap.max": 0}
    try:
        group.mkdir()
        for file, value in limits.items():
            (group / file).write_text(str(value), encoding="utf-8")
    except OSError as error:
        raise Problem(f"the part with little memory makes a control group, which fails here: {error}") from error
    try:
        yield group
    finally:
        group.rmdir()
