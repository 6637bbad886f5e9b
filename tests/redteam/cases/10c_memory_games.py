# 10c memory_games
# attempts: to take shared memory away from the judge: shrinks and seals it, punches holes into it,
#   maps other memory over its own end, or receives the memory in place of the contestant
# required: FORGE-IGNORED
# verdict: protocol violation or runtime error or wrong answer or passed or time limit
# engines: isolated
# change: {"task": {"test_timeout_s": 4}}
# variants: shrink seal hole unmap-page unmap-all readonly steal-frames
import ctypes
import errno
import fcntl
import mmap
import os
import socket
import threading
import channel
from attack import custom_kernel as right, libc, say

libc.mmap.restype = ctypes.c_void_p
F_ADD_SEALS, SEALS = 1033, (1, 2, 4, 8, 16)  # seal, shrink, grow, write, future write


def spoil(number):
    """What can be done to a memory by its descriptor."""
    if "@VARIANT@" == "shrink":
        os.ftruncate(number, 0)
    if "@VARIANT@" == "seal":
        for seal in SEALS:
            fcntl.fcntl(number, F_ADD_SEALS, seal)
    if "@VARIANT@" == "hole":
        libc.fallocate(number, 3, ctypes.c_long(0), ctypes.c_long(1 << 30))


def spoil_new():
    """While the contestant holds descriptors for a moment, another thread finds them."""
    while True:
        for name in os.listdir("/proc/self/fd"):
            try:
                if "memfd:" in os.readlink(f"/proc/self/fd/{name}"):
                    spoil(int(name))
            except OSError as reason:
                if reason.errno not in (errno.ENOENT, errno.EBADF):
                    say(f"denied: {reason}")


def spoil_mappings():
    for address, size in channel.shared():
        if "@VARIANT@" == "readonly":
            libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.PROT_READ)
        elif "@VARIANT@" == "unmap-all" or "@VARIANT@" == "unmap-page" and size == channel.PAGE_BYTES:
            libc.mmap(ctypes.c_void_p(address), ctypes.c_size_t(size), 3, 0x32, -1, ctypes.c_long(0))


def steal_frames():
    """Takes what is sent to the contestant, and spoils what comes with it by every means."""
    with socket.socket(fileno=os.dup(channel.SOCKET)) as one:
        while True:
            for number in socket.recv_fds(one, channel.FRAME_BYTES, 4)[1]:
                for spoiling in (lambda: os.ftruncate(number, 0), lambda: os.ftruncate(number, 1 << 40),
                                 lambda: fcntl.fcntl(number, F_ADD_SEALS, 16)):
                    try:
                        spoiling()
                        say("could: change the size or the seals of a memory")
                    except OSError:
                        pass


if "@VARIANT@" in ("shrink", "seal", "hole"):
    threading.Thread(target=spoil_new, daemon=True).start()
if "@VARIANT@" == "steal-frames":
    threading.Thread(target=steal_frames, daemon=True).start()
calls = 0


def custom_kernel(data):
    global calls
    calls += 1
    if calls == 2:
        spoil_mappings()
    return right(data)
