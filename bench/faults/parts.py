"""The parts of the campaign. Each breaks a load or a run at a random point, and returns what was left as an Outcome."""

from typing import Callable, NamedTuple

from . import clocks, disks, limits, odd_servers, signals


class Part(NamedTuple):
    title: str
    meaning: str
    # The default number of breaks, and about how long each takes.
    break_count: int
    estimated_s: float
    run_break: Callable


SIGNALLED_AT = "3 to 10 s after `tare run` has begun; the first 3 s are its self-test."

PARTS = {
    "kill-load": Part("kill -9 of a load", "`tare load --db` is killed within its first 2 s.", 200, 3, signals.kill_load),
    "kill-run": Part("kill -9 of a run", "`tare run` of two built-in servers is killed within its first 10 s.", 200, 8, signals.kill_run),
    "resume-run": Part("A killed run that goes on", "The same with three starts; then `tare run --resume`.", 200, 18, signals.resume_killed_run),
    "kill-server": Part("kill -9 of a server", f"A server is killed {SIGNALLED_AT}", 20, 14, signals.kill_server),
    "kill-supervisor": Part("kill -9 of a supervisor", f"The process between tare and a server is killed {SIGNALLED_AT}", 20, 14, signals.kill_supervisor),
    "stop-server": Part("A stopped server", f"SIGSTOP hits a server {SIGNALLED_AT}", 20, 14, signals.stop_server),
    "stop-supervisor": Part("A stopped supervisor", f"A supervisor is stopped for 0.5 to 3 s, {SIGNALLED_AT}", 20, 15, signals.stop_supervisor),
    "stop-tare": Part("A stopped tare", f"tare is stopped for 0.5 to 5 s, {SIGNALLED_AT}", 20, 16, signals.stop_tare),
    "stop-thread": Part("A stopped thread of the generator", f"One thread that makes the load is stopped for 0.5 to 5 s, {SIGNALLED_AT}", 20, 16, signals.stop_thread),
    "stop-all": Part("A machine that sleeps", "tare, its servers and supervisors are all stopped for 20 s.", 10, 35, signals.stop_all_processes),
    "clock-run": Part("A wall clock that jumps", f"The wall clock of tare and its servers jumps by an hour, either way, {SIGNALLED_AT}", 20, 15, clocks.jump_clock_during_run),
    "clock-push": Part("A wall clock that jumps while messages are pushed", "The same, 1 to 4 s after a load of pushed messages has begun.", 20, 7, clocks.jump_clock_during_push),
    "power-load": Part("Power failure under a load", "The newest writes of the record of a killed load are lost, in part or in full.", 200, 0.5, disks.lose_power_during_load),
    "power-run": Part("Power failure under a run", "The same of a record of `tare run`.", 200, 0.5, disks.lose_power_during_run),
    "resume-power": Part("Power failure under a run that goes on", "The same of a run of twelve starts; then `tare run --resume`.", 20, 25, disks.resume_after_power_loss),
    "disk-load": Part("A full disk under a load", "The record of `tare load --db` is on a disk of 16 to 1,500 KiB.", 50, 3, disks.fill_disk_during_load),
    "disk-run": Part("A full disk under a run", "The records of `tare run` are on a disk of 64 to 3,000 KiB.", 50, 12, disks.fill_disk_during_run),
    "few-files": Part("Few open files", "`tare load -c 50` may open 4 to 120 files.", 20, 1, limits.limit_open_files),
    "few-processes": Part("Few processes", "`tare run` may start 1 to 25 processes and threads, as an ordinary user.", 20, 6, limits.limit_processes),
    "few-ports": Part("Few ports", "`tare load -c 100 --no-keepalive` has 10 to 150 local ports for 3,000 requests.", 20, 4, limits.limit_ports),
    "address-space": Part("Little memory for tare", "`tare load -c 2000` may ask for 20 to 400 MiB.", 20, 2, limits.limit_address_space),
    "memory": Part("Little memory for all", "tare and its servers have 6 to 60 MiB together; the kernel kills the largest of them.", 20, 8, limits.limit_memory),
    "background": Part("A server in the background", "A server goes into the background, or a grandchild of it answers.", 10, 9, odd_servers.run_server_in_background),
    "threads": Part("A server of many threads", f"A server starts {odd_servers.THREADS:,} threads.", 5, 40, odd_servers.run_server_with_many_threads),
    "slow-bytes": Part("A slow server", "50 connections get one byte of their answers per second.", 10, 6, odd_servers.load_slow_server),
}
