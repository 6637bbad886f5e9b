"""Fills most of the GPU's memory, and ends without freeing it."""
import torch
from attack import custom_kernel

kept = []
while torch.cuda.mem_get_info()[0] > 8 << 30:
    kept.append(torch.full((1 << 28,), 0x5eedfacecafe0002, dtype=torch.int64, device="cuda"))
torch.cuda.synchronize()
