# 28 wall_sleep
# attempts: to run forever. It ignores all signals, and its children stop themselves, change session
#   and name, or are in the middle of exec or vfork
# required: VERDICT
# verdict: time limit
# change: {"task": {"test_timeout_s": 2}}
import ctypes
import os
import signal
import time

libc = ctypes.CDLL(None)
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
if os.fork() == 0:
    os.setsid()
    libc.prctl(15, b") S 1 1 (", 0, 0, 0)
    while True:
        time.sleep(600)
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
if os.fork() == 0:
    if libc.vfork() == 0:
        while True:
            libc.sleep(600)
if os.fork() == 0:
    if os.fork():
        os._exit(0)
    while True:
        os.execv("/bin/sh", ["/bin/sh", "-c", "trap '' TERM HUP INT; sleep 0.01; exec sleep 600"])
while True:
    time.sleep(600)
