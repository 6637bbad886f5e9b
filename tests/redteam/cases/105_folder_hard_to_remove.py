# 105 folder_hard_to_remove
# attempts: to leave folders that are hard to remove: deeper than any path, closed to their owner,
#   with odd names, with thousands of entries, or with the names that podium-run uses while it
#   removes them
# required: VERDICT
# mode: ranked
import os
from attack import custom_kernel

CACHE = os.path.dirname(os.environ["TRITON_CACHE_DIR"])


def deep(place):
    start = os.getcwd()
    os.chdir(place)
    try:
        for _ in range(600):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        open("last", "w").close()
    finally:
        os.chdir(start)


def odd(place):
    for name in (b"\xff\xfe", b"a\nb", b" ", b"-rf", b"*", b"..." , b"x" * 255, b"removed-1", b"removed-2", b"\x1b[2J"):
        os.mkdir(os.fsencode(place) + b"/" + name)
        open(os.fsencode(place) + b"/" + name + b"/removed-3", "w").close()


def closed(place):
    for mode in (0o000, 0o100, 0o400, 0o500):
        os.makedirs(f"{place}/closed-{mode}/inner")
        open(f"{place}/closed-{mode}/inner/file", "w").close()
        os.chmod(f"{place}/closed-{mode}/inner", mode)
        os.chmod(f"{place}/closed-{mode}", mode)


def many(place):
    for number in range(2000):
        os.mkdir(f"{place}/many-{number}")


for place in (".", CACHE, os.environ["HOME"], os.environ["TMPDIR"]):
    for leave in (odd, closed, many, deep):
        try:
            leave(place)
        except OSError:
            pass
