# 16 disk_fill
# attempts: to fill every file system that it can write to (/tmp, /var/tmp, /dev/shm, HOME, caches,
#   its folder) with large files, with empty files and with a sparse file
# required: DENIED
# needs: disk
import os
from attack import attempt, custom_kernel

MOST_BYTES, MOST_FILES = 8 << 30, 300000
PIECE = b"x" * (8 << 20)
PLACES = ["/tmp", "/dev/shm", "/var/tmp", os.environ["HOME"], os.environ["TMPDIR"], os.environ["TRITON_CACHE_DIR"], "."]


def fill(place):
    """True if there was no end to it."""
    done, names = 0, []
    try:
        os.makedirs(place, exist_ok=True)
        while done < MOST_BYTES:
            names.append(f"{place}/@MARK@{len(names)}")
            with open(names[-1], "wb", 0) as file:
                for _ in range(64):
                    done += file.write(PIECE)
    finally:
        for name in names:
            if os.path.exists(name):
                os.unlink(name)
    return True


def count(place):
    """True if there was no end to them. They stay: whoever removes the job must cope."""
    for number in range(MOST_FILES):
        os.mknod(f"{place}/@MARK@{number}")
    return True


def stretch(place):
    name = f"{place}/@MARK@sparse"
    os.makedirs(place, exist_ok=True)
    with open(name, "wb") as file:
        try:
            os.truncate(file.fileno(), 1 << 44)
        finally:
            os.unlink(name)
    return True


systems = {}
for place in PLACES:
    os.makedirs(place, exist_ok=True)
    systems.setdefault(os.stat(place).st_dev, place)
for place in systems.values():  # one folder of each file system will do
    attempt(f"fill {place}", fill, place)
    attempt(f"make a file of 16 TiB in {place}", stretch, place)
    attempt(f"make {MOST_FILES} files in {place}", count, place)
