# 68 ipc_overreach
# attempts: to open memory that another process on the GPU exports, by its legacy handle and by taking its descriptor; what
#   the isolated engine shares with a submission comes with that engine
# required: DENIED
# on: gpu
# beside: _68_victim.py
import ctypes
import torch
from attack import attempt, custom_kernel, syscall
from gpu import check, cuda

PID, NUMBER, HANDLE = "@BESIDE@".split(":")
torch.zeros(1, device="cuda")


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def open_legacy():
    handle, place = Handle.from_buffer_copy(bytes.fromhex(HANDLE)), ctypes.c_uint64()
    cuda.cuIpcOpenMemHandle_v2.argtypes = [ctypes.c_void_p, Handle, ctypes.c_uint]
    check("cuIpcOpenMemHandle_v2", ctypes.byref(place), handle, 1)
    return hex(place.value)


def import_descriptor(descriptor):
    memory = ctypes.c_uint64()
    check("cuMemImportFromShareableHandle", ctypes.byref(memory), ctypes.c_void_p(descriptor), 1)
    return memory.value or True


def take_descriptor():
    return import_descriptor(syscall(438, syscall(434, int(PID), 0), int(NUMBER), 0))


attempt("open the legacy handle", open_legacy)
attempt("take the descriptor", take_descriptor)
attempt("open the descriptor in /proc", lambda: import_descriptor(open(f"/proc/{PID}/fd/{NUMBER}").fileno()))
for number in range(3, 40):
    attempt(f"import descriptor {number}, which nobody exported", import_descriptor, number)
