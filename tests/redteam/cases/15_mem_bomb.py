# 15 mem_bomb
# attempts: to use up the host's memory with the heap or with files: anonymous ones, or in /tmp or
#   /dev/shm. When a kind of file is full, the heap takes the rest
# required: VERDICT
# verdict: memory limit
# variants: heap memfd tmp shm
# needs: limits
import os
import tempfile

MOST = 64 << 30
PIECE = b"x" * (16 << 20)
kept, done = [], 0


def open_file():
    if "@VARIANT@" == "memfd":
        return os.memfd_create("bomb")
    return tempfile.TemporaryFile(dir="/dev/shm" if "@VARIANT@" == "shm" else "/tmp", buffering=0).detach().fileno()


def fill_file():
    """Until it is full; 0 when not even one byte went in."""
    file, went = os.memfd_create("bomb") if "@VARIANT@" == "memfd" else tempfile.mkstemp(
        dir="/dev/shm" if "@VARIANT@" == "shm" else "/tmp")[0], 0
    try:
        while went < 900 << 20:
            went += os.write(file, PIECE)
    except OSError:
        pass
    return went


while done < MOST:
    went = fill_file() if "@VARIANT@" != "heap" else 0
    if not went:
        kept.append(bytearray(PIECE))
        went = len(PIECE)
    done += went
