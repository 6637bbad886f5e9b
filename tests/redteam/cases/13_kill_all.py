# 13 kill_all
# attempts: to stop its parent and to kill every process and thread that it can name, then all at once
# required: FORGE-IGNORED
# verdict: passed or runtime error
# needs: pid
import os
import signal
from attack import attempt, custom_kernel, syscall

TGKILL = 234
own = os.getpid()
for target in [os.getppid(), 1, *range(2, 2000)]:
    if target == own:
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
