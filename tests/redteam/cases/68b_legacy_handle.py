# 68b legacy_handle
# attempts: to open memory that another process on the GPU exports by a legacy handle, when it knows
#   the handle's bytes
# required: DENIED
# on: gpu
# beside: _68_victim.py
# cannot-stop: the driver opens such a handle for whoever knows its 64 bytes, in whatever namespace; nothing of Podium exports
#   memory that way
import ctypes
import torch
from attack import attempt, custom_kernel
from gpu import check, cuda

_, _, HANDLE = "@BESIDE@".split(":")
torch.zeros(1, device="cuda")


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def open_legacy():
    handle, place = Handle.from_buffer_copy(bytes.fromhex(HANDLE)), ctypes.c_uint64()
    cuda.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]
    check("cuIpcOpenMemHandle_v2", ctypes.byref(place), handle, 1)
    return hex(place.value)


attempt("open the legacy handle", open_legacy)
