# 68 ipc_overreach
# attempts: to import memory that another process on the GPU exports by a descriptor. It takes the
#   descriptor by pidfd_getfd and through /proc, and tries to import all of its own descriptors
# required: DENIED
# on: gpu
# beside: _68_victim.py
import ctypes
import torch
from attack import attempt, custom_kernel, syscall
from gpu import check

PID, NUMBER, _ = "@BESIDE@".split(":")
torch.zeros(1, device="cuda")


def import_descriptor(descriptor):
    memory = ctypes.c_uint64()
    check("cuMemImportFromShareableHandle", ctypes.byref(memory), ctypes.c_void_p(descriptor), 1)
    return memory.value or True


def take_descriptor():
    return import_descriptor(syscall(438, syscall(434, int(PID), 0), int(NUMBER), 0))


attempt("take the descriptor", take_descriptor)
attempt("open the descriptor in /proc", lambda: import_descriptor(open(f"/proc/{PID}/fd/{NUMBER}").fileno()))
for number in range(3, 256):
    attempt(f"import descriptor {number}, which nobody exported", import_descriptor, number)
