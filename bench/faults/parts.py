"""The parts of the campaign: each breaks one load or run at a random point and says what was left."""

from typing import Callable, NamedTuple

from . import clocks, disks, limits, stops, strange


class Part(NamedTuple):
    title: str
    meaning: str
    # How often it is carried out, and about how long each takes.
    times: int
    about_s: float
    carry_out: Callable


STRUCK_AT = "3 to 10 s after `tare run` has begun; the first 3 s are its self-test."

PARTS = {
    "kill-load": Part("kill -9 of a load", "`tare load --db` is killed within its first 2 s.", 200, 3, stops.kill_load),
    "kill-run": Part("kill -9 of a run", "`tare run` of two built-in servers is killed within its first 10 s.", 200, 8, stops.kill_run),
    "resume-run": Part("A killed run that goes on", "The same with three starts; then `tare run --resume`.", 200, 18, stops.resume_run),
    "kill-server": Part("kill -9 of a server", f"A server is killed {STRUCK_AT}", 20, 14, stops.kill_server),
    "kill-supervisor": Part("kill -9 of a supervisor", f"The process between tare and a server is killed {STRUCK_AT}", 20, 14, stops.kill_supervisor),
    "stop-server": Part("A stopped server", f"SIGSTOP hits a server {STRUCK_AT}", 20, 14, stops.stop_server),
    "stop-supervisor": Part("A stopped supervisor", f"A supervisor is stopped for 0.5 to 3 s, {STRUCK_AT}", 20, 15, stops.stop_supervisor),
    "stop-tare": Part("A stopped tare", f"tare is stopped for 0.5 to 5 s, {STRUCK_AT}", 20, 16, stops.stop_tare),
    "stop-thread": Part("A stopped thread of the generator", f"One thread that makes the load is stopped for 0.5 to 5 s, {STRUCK_AT}", 20, 16, stops.stop_thread),
    "stop-all": Part("A machine that sleeps", "tare, its servers and supervisors are all stopped for 20 s.", 10, 35, stops.stop_all),
    "clock-run": Part("A wall clock that jumps", f"The wall clock of tare and its servers jumps by an hour, either way, {STRUCK_AT}", 20, 15, clocks.clock_run),
    "clock-push": Part("A wall clock that jumps while messages are pushed", "The same, 1 to 4 s after a load of pushed messages has begun.", 20, 7, clocks.clock_push),
    "power-load": Part("Power failure under a load", "The newest writes of the record of a killed load are lost, in part or in full.", 200, 0.5, disks.power_load),
    "power-run": Part("Power failure under a run", "The same of a record of `tare run`.", 200, 0.5, disks.power_run),
    "resume-power": Part("Power failure under a run that goes on", "The same of a run of twelve starts; then `tare run --resume`.", 20, 25, disks.resume_power),
    "disk-load": Part("A full disk under a load", "The record of `tare load --db` is on a disk of 16 to 1,500 KiB.", 50, 3, disks.full_disk_load),
    "disk-run": Part("A full disk under a run", "The records of `tare run` are on a disk of 64 to 3,000 KiB.", 50, 12, disks.full_disk_run),
    "few-files": Part("Few open files", "`tare load -c 50` may open 4 to 120 files.", 20, 1, limits.few_files),
    "few-processes": Part("Few processes", "`tare run` may start 1 to 25 processes and threads, as an ordinary user.", 20, 6, limits.few_processes),
    "few-ports": Part("Few ports", "`tare load -c 100 --no-keepalive` has 10 to 150 local ports for 3,000 requests.", 20, 4, limits.few_ports),
    "address-space": Part("Little memory for tare", "`tare load -c 2000` may ask for 20 to 400 MiB.", 20, 2, limits.little_address_space),
    "memory": Part("Little memory for all", "tare and its servers have 6 to 60 MiB together; the kernel kills the largest of them.", 20, 8, limits.little_memory),
    "background": Part("A server in the background", "A server goes into the background, or a grandchild of it answers.", 10, 9, strange.background),
    "threads": Part("A server of many threads", f"A server starts {strange.THREADS:,} threads.", 5, 40, strange.many_threads),
    "slow-bytes": Part("A slow server", "50 connections get one byte of their answers per second.", 10, 6, strange.slow_bytes),
}
