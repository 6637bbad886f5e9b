# 67 infinite_kernel
# attempts: to hang the GPU with a kernel that never ends
# required: VERDICT
# verdict: time limit
# on: gpu
# change: {"task": {"test_timeout_s": 15}}
import torch
from gpu import launch

place = torch.zeros(1, dtype=torch.int64, device="cuda")
launch("hang", 0, place.data_ptr())
