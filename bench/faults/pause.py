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


def pause(pids, seconds):
    """Stops processes for so long."""
    for pid in pids:
        strike_if_there(lambda pid: os.kill(pid, signal.SIGSTOP), pid)
    time.sleep(seconds)
    for pid in reversed(pids):
        strike_if_there(lambda pid: os.kill(pid, signal.SIGCONT), pid)


def pause_thread(thread, seconds):
    """Stops one thread for so long. A signal would stop the whole process, so this traces the thread as a debugger does."""
    trace(PTRACE_SEIZE, thread)
    trace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WAIT_FOR_THREADS)
    time.sleep(seconds)
    trace(PTRACE_DETACH, thread)


def trace(request, thread):
    if libc.ptrace(request, thread, None, None) == -1:
        # A ProcessLookupError where the thread has ended.
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def strike_if_there(blow, pid):
    """The process may have ended since it was found."""
    try:
        blow(pid)
    except ProcessLookupError:
        pass
