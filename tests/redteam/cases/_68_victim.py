"""A process that exports memory in both ways: PID:DESCRIPTOR:HANDLE."""
import ctypes
import os
import sys
import torch

cuda = ctypes.CDLL("libcuda.so.1")
kept = torch.full((1 << 24,), 7, dtype=torch.int64, device="cuda")
handle = (ctypes.c_ubyte * 64)()
assert cuda.cuIpcGetMemHandle(handle, ctypes.c_uint64(kept.data_ptr())) == 0


class Properties(ctypes.Structure):
    """CUmemAllocationProp: pinned, shareable as a descriptor, on device 0."""
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("where", ctypes.c_int), ("device", ctypes.c_int),
                ("windows", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    """CUmemAccessDesc: device 0 may read and write."""
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


# What is exported is full of a pattern, by which who gets at it knows it.
SIZE, PATTERN = 64 << 20, 0x5eedface
properties, memory, place, number = Properties(1, 1, 1, 0), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int()
size, none = ctypes.c_size_t(SIZE), ctypes.c_uint64(0)
assert cuda.cuMemCreate(ctypes.byref(memory), size, ctypes.byref(properties), none) == 0
assert cuda.cuMemAddressReserve(ctypes.byref(place), size, ctypes.c_size_t(0), none, none) == 0
assert cuda.cuMemMap(place, size, ctypes.c_size_t(0), memory, none) == 0
assert cuda.cuMemSetAccess(place, size, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1)) == 0
assert cuda.cuMemsetD32_v2(place, ctypes.c_uint(PATTERN), ctypes.c_size_t(SIZE // 4)) == 0
assert cuda.cuMemExportToShareableHandle(ctypes.byref(number), memory, 1, ctypes.c_uint64(0)) == 0
print(f"{os.getpid()}:{number.value}:{bytes(handle).hex()}", flush=True)
sys.stdin.read()
