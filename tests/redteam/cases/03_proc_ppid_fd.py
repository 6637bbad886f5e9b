# 3 proc_ppid_fd
# attempts: to list and open the descriptors of its parent, of process 1 and of every other process
# required: DENIED
# mode: ranked
import os
from attack import attempt, custom_kernel, pids

for pid in {1, os.getppid(), *pids()} - {os.getpid()}:
    attempt(f"list the descriptors of {pid}", os.listdir, f"/proc/{pid}/fd")
    for number in range(12):
        attempt(f"open descriptor {number} of {pid}", lambda: os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY | os.O_NONBLOCK))
