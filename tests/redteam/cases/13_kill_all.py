# 13 kill_all
# attempts: to stop and kill its parent, process 1, and every process and thread with a number below
#   2000, then all at once
# required: FORGE-IGNORED
# verdict: passed or runtime error
# change: {"task": {"test_timeout_s": 10}}
# needs: processes
import os
import signal
from attack import custom_kernel, syscall

TGKILL = 234
own = {int(name) for name in os.listdir("/proc/self/task")}  # a thread's number stands for its process
for target in [os.getppid(), 1, *range(2, 2000)]:
    if target in own or not target:  # 0: its own group; nobody is above it in a namespace of processes
        continue
    for number in (signal.SIGSTOP, signal.SIGKILL):
        try:
            os.kill(target, number)
            syscall(TGKILL, target, target, number)
        except OSError:
            pass
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
