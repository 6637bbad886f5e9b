"""Another process on the GPU that exports memory by a descriptor and by a legacy handle. Prints
PID:DESCRIPTOR:HANDLE."""
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


properties, memory, number = Properties(1, 1, 1, 0), ctypes.c_uint64(), ctypes.c_int()
assert cuda.cuMemCreate(ctypes.byref(memory), ctypes.c_size_t(64 << 20), ctypes.byref(properties), ctypes.c_uint64(0)) == 0
assert cuda.cuMemExportToShareableHandle(ctypes.byref(number), memory, 1, ctypes.c_uint64(0)) == 0
print(f"{os.getpid()}:{number.value}:{bytes(handle).hex()}", flush=True)
sys.stdin.read()
