"""Stops processes, or one thread of a process, for a while."""

import ctypes
import os
import signal
import time

# The requests of ptrace(2).
PTRACE_DETACH = 17
PTRACE_SEIZE = 0x4206
PTRACE_INTERRUPT = 0x4207
# waitpid(2) waits for threads too (__WALL).
WAIT_FOR_THREADS = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def pause_processes(pids, seconds):
    """Stops processes in this order, and continues them in reverse order after `seconds`."""
    for pid in pids:
        apply_if_running(lambda pid: os.kill(pid, signal.SIGSTOP), pid)
    time.sleep(seconds)
    for pid in reversed(pids):
        apply_if_running(lambda pid: os.kill(pid, signal.SIGCONT), pid)


def pause_thread(thread, seconds):
    """Stops one thread for `seconds`. It traces the thread as a debugger does: a signal would stop the whole process."""
    call_ptrace(PTRACE_SEIZE, thread)
    call_ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WAIT_FOR_THREADS)
    time.sleep(seconds)
    call_ptrace(PTRACE_DETACH, thread)


def call_ptrace(request, thread):
    """Raises ProcessLookupError if the thread has ended."""
    if libc.ptrace(request, thread, None, None) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def apply_if_running(action, pid):
    """Calls `action(pid)`; does nothing if the process has ended since it was found."""
    try:
        action(pid)
    except ProcessLookupError:
        pass
