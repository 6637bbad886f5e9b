# 65 stale_vram
# attempts: to find what an earlier job has left in the GPU's memory
# required: DENIED
# on: gpu
# before: _65_plant.py
import torch
from attack import attempt, custom_kernel

PATTERN = 0x5eedfacecafe0002


def search():
    kept, words = [], 1 << 27
    while torch.cuda.mem_get_info()[0] > 3 * words * 8:
        kept.append(torch.empty(words, dtype=torch.int64, device="cuda"))
        found = int((kept[-1] == PATTERN).sum())
        if found:
            return found
    if not kept:
        raise RuntimeError("there was no memory to look at")


attempt("find the pattern", search)
torch.cuda.empty_cache()
