# 26 fd_leak_probe
# attempts: to find a descriptor other than its empty input, the pipes of its output, errors and
#   results, and the isolated engine's channel and page; and to see locks and Unix sockets
# required: DENIED
# mode: ranked
import os
import stat
from attack import attempt, custom_kernel

pipes = set()


def beyond(number, target):
    """What a descriptor leads to, if it should not be there."""
    if number == 0 and target == "/dev/null":
        return None
    if "@ENGINE@" == "isolated" and (number == 3 and target.startswith("socket:") or target == "/memfd:podium (deleted)"):
        return None  # the channel to the judge, and the page that came by it
    if target.startswith("pipe:"):
        pipes.add(target)
        return None
    return target


names = os.listdir("/proc/self/fd")
for name in names:
    try:
        target = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue  # that of the folder just listed
    attempt(f"use descriptor {name}", beyond, int(name), target)
attempt("use more than three pipes", lambda: len(pipes) > 3 and pipes)
attempt("read from a pipe", lambda: [name for name in names if stat.S_ISFIFO(os.stat(f"/proc/self/fd/{name}").st_mode)
                                     and not os.get_blocking(int(name)) and os.read(int(name), 1)] or None)
attempt("see locks", lambda: open("/proc/locks").read() or None)
attempt("see sockets", lambda: [line for line in open("/proc/net/unix").read().splitlines()[1:]] or None)
attempt("leave its folder by its own descriptor", lambda: os.listdir("/proc/self/cwd/../../../../../../root"))
