# 64 gpu_va_scan
# attempts: to read the memory of another process on the same GPU: it copies from that process's
#   addresses, searches its own address range, and reads the addresses in a kernel
# required: DENIED
# on: gpu
# beside: _64_victim.py
import ctypes
import subprocess
import sys
import torch
from attack import attempt, custom_kernel
from gpu import check

PATTERN = 0x5eedfacecafe0001
ADDRESS = int("@BESIDE@", 16)
own = torch.zeros(1 << 20, dtype=torch.int64, device="cuda")


def ask(address):
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    check("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(address))
    return base.value <= address < base.value + size.value


def copied(address):
    word = ctypes.c_uint64()
    check("cuMemcpyDtoH_v2", ctypes.byref(word), ctypes.c_uint64(address), 8)
    return word.value == PATTERN


def search_own():
    """Everything that is mapped in this process, for the pattern."""
    at, last = own.data_ptr() & ~((1 << 30) - 1), own.data_ptr() + (8 << 30)
    while at < last:
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        if ctypes.CDLL("libcuda.so.1").cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(at)) == 0:
            if copied(at):
                return hex(at)
        at += 2 << 20


LOAD = f"""
import torch
from gpu import launch
place = torch.zeros(1, dtype=torch.int64, device="cuda")
launch("peek", {ADDRESS}, place.data_ptr())
raise SystemExit(42 if place.item() == {PATTERN} else 1)
"""


def loaded():
    return subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, '.')\n" + LOAD]).returncode == 42 or None


for step in (0, 4096, 1 << 20, 1 << 24):
    attempt(f"copy from {ADDRESS + step:#x}", copied, ADDRESS + step)
if ask(own.data_ptr()):  # the question itself works
    attempt("find the pattern in its own memory", search_own)
attempt("load it in a kernel", loaded)
