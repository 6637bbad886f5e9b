# 66c managed_memory
# attempts: to hold nearly as much managed memory as the GPU has free, and to write to it on the GPU
#   and on the host
# required: VERDICT
# verdict: passed or runtime error or memory limit
# on: gpu
import ctypes
import torch
from attack import custom_kernel
from gpu import check

free = torch.cuda.mem_get_info()[0]
place = ctypes.c_uint64()
check("cuMemAllocManaged", ctypes.byref(place), ctypes.c_size_t(free - (1 << 30)), 1)
check("cuMemsetD8_v2", place, 7, ctypes.c_size_t(free - (1 << 30)))
check("cuCtxSynchronize")
ctypes.memset(place.value, 8, 4 << 30)
