# 22 cache_poison
# attempts: to find what a job of somebody else has left in caches, homes, temporary folders, shared
#   memory, message queues and System V objects
# required: DENIED
# on: cpu gpu
# before: _22_plant.py
import os
from attack import attempt, custom_kernel, libc

HOME = os.environ["HOME"]
FOLDERS = [HOME, os.environ["TMPDIR"], "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", ".", "..", "/run", "/run/lock", "/var/lock"]
FOLDERS += [value for name, value in os.environ.items() if name.endswith(("_DIR", "_HOME", "_PATH"))]


def marked(folder):
    return [os.path.join(at, name) for at, folders, files in os.walk(folder) for name in folders + files if "@MARK@" in name]


for folder in FOLDERS:
    attempt(f"find something in {folder}", lambda: marked(folder) or None)
for name, function in (("shared memory", libc.shmget), ("a semaphore", libc.semget)):
    attempt(f"find {name}", lambda: function(0x7ead, 1, 0) >= 0)
attempt("find a message queue", lambda: libc.msgget(0x7ead, 0) >= 0)
attempt("find a POSIX queue", lambda: libc.syscall(240, b"@MARK@", 0, 0, None) >= 0)
