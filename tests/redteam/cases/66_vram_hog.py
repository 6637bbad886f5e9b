# 66 vram_hog
# attempts: to use up the GPU's memory and keep it
# required: VERDICT
# verdict: runtime error or memory limit
# on: gpu
import torch

kept = []
while True:
    kept.append(torch.zeros(1 << 28, dtype=torch.int32, device="cuda"))
