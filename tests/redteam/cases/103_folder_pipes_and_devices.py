# 103 folder_pipes_and_devices
# attempts: to leave pipes, sockets and devices where podium-run opens, reads or removes files, so
#   that podium-run waits forever
# required: VERDICT
# mode: ranked
import os
import socket
import stat
from attack import custom_kernel

NAMES = ["eval.out", "profile.ncu-rep", "removed-1", "triton", "torch_extensions", "inductor", "cuda", "xdg", "stdin"]
CACHE = os.path.dirname(os.environ["TRITON_CACHE_DIR"])


def make(path, number):
    if number % 3 == 0:
        os.mkfifo(path, 0o666)
    elif number % 3 == 1:
        socket.socket(socket.AF_UNIX).bind(path)
    else:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 8))


number = 0
for place in (".", "..", os.environ["HOME"], os.environ["TMPDIR"], CACHE, "/tmp", "/dev/shm"):
    for name in NAMES:
        number += 1
        try:
            make(f"{place}/{name}", number)
        except OSError:
            pass
