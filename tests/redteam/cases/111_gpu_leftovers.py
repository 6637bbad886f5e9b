# 111 gpu_leftovers
# attempts: to leave a process of its own session behind that holds the GPU and its memory
# required: VERDICT
# on: gpu
import subprocess
import sys
import time
from attack import custom_kernel

HOLD = "import torch, time; kept = torch.zeros(1 << 30, device='cuda'); print('held', flush=True); time.sleep(600)"
holder = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, start_new_session=True)
assert holder.stdout.readline() == b"held\n"
