# 67b illegal_address
# attempts: to upset the GPU with a kernel that reads an address without memory (Xid 31)
# required: VERDICT
# verdict: runtime error
# on: gpu
import torch
from gpu import launch

place = torch.zeros(1, dtype=torch.int64, device="cuda")


def custom_kernel(data):
    launch("peek", 0x10, place.data_ptr())
    return data + data
