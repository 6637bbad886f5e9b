# 118 full_for_the_null
# attempts: to end with an internal error, which does not count as an attempt. It takes the GPU's
#   memory after its first call, when the null contestant still needs some
# required: VERDICT
# verdict: runtime error or passed
# engines: isolated
# on: gpu
# mode: benchmark
import ctypes
import torch
from gpu import cuda

taken = False


def custom_kernel(data):
    global taken
    made = data + data
    if not taken:
        taken = True
        place = ctypes.c_uint64()
        for step in (8 << 30, 1 << 30, 64 << 20, 2 << 20):
            while cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(step)) == 0:
                pass
    return made
