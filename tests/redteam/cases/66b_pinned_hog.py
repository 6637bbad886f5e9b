# 66b pinned_hog
# attempts: to use up the host's memory by pinning it for the GPU. Control groups may not count
#   pinned memory
# required: DENIED
# verdict: runtime error or memory limit
# on: gpu
# needs: limits
import torch
from attack import could, say

say("attempts: 1")
kept = []
while len(kept) < 64:
    kept.append(torch.zeros(1 << 30, dtype=torch.uint8).pin_memory())
could("pin 64 GiB")
