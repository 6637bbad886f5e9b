# 4 proc_ppid_environ
# attempts: to find the seed or another variable of Podium in the environment of its parent and of
#   all other processes
# required: DENIED
# mode: ranked
import os
from attack import attempt, custom_kernel, pids


def secrets_of(pid):
    found = [word for word in open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
             if word.startswith((b"POPCORN_SEED=", b"PODIUM_"))]
    return found or None


for pid in {1, os.getppid(), *pids()}:
    attempt(f"read the environment of {pid}", secrets_of, pid)
