# 11 ptrace_any
# attempts: ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, kcmp and /proc/PID/mem on
#   every process that it sees, and the calls also on its own child
# required: DENIED
import ctypes
import os
import signal
from attack import attempt, custom_kernel, pids, syscall

PTRACE, KCMP, READV, WRITEV, PIDFD_OPEN, PIDFD_GETFD, MADVISE = 101, 312, 310, 311, 434, 438, 440
SEIZE, ATTACH = 0x4206, 16


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


place = ctypes.create_string_buffer(64)
here = Vector(ctypes.addressof(place), 64)


def steal(pid):
    return syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, pid, 0), 1, 0) + 1


def try_all(pid):
    attempt(f"seize {pid}", lambda: syscall(PTRACE, SEIZE, pid, None, None) + 1)
    attempt(f"attach to {pid}", lambda: syscall(PTRACE, ATTACH, pid, None, None) + 1)
    attempt(f"read {pid}", lambda: syscall(READV, pid, here, 1, here, 1, 0) + 1)
    attempt(f"write {pid}", lambda: syscall(WRITEV, pid, here, 1, here, 1, 0) + 1)
    attempt(f"take a descriptor of {pid}", steal, pid)
    attempt(f"compare with {pid}", lambda: syscall(KCMP, pid, os.getpid(), 0, 1, 1) + 1)


child = os.fork()
if child == 0:
    signal.pause()
try_all(child)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
for pid in {1, os.getppid(), *pids()} - {os.getpid()}:
    try_all(pid)
    attempt(f"open the memory of {pid}", lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR))
