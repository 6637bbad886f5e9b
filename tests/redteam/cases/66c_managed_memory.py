# 66c managed_memory
# attempts: to hold managed memory that moves between host and GPU, as much as the GPU has free, touched on both
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
