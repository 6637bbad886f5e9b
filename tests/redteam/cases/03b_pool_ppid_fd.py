# 3b pool_ppid_fd
# attempts: to open the harness's result pipe through /proc/PPID/fd, from a process of the harness's
#   pool
# required: DENIED
# task: pool_py
# mode: ranked
# cannot-stop: the processes of a harness share a user and a sandbox in the custom engine, and /proc lets a user into its
#   own processes
import os
from attack import attempt, custom_kernel as right


def custom_kernel(data):
    for number in range(3, 64):
        path = f"/proc/{os.getppid()}/fd/{number}"
        attempt(f"open {path}", lambda: os.readlink(path).startswith("pipe:") and os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    right([])
    return [2 * value for value in data]
