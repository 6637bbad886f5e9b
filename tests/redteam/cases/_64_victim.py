"""Another process on the GPU, with a pattern in its memory. Prints the address."""
import sys
import torch

kept = torch.full((32 << 20,), 0x5eedfacecafe0001, dtype=torch.int64, device="cuda")
torch.cuda.synchronize()
print(hex(kept.data_ptr()), flush=True)
sys.stdin.read()
