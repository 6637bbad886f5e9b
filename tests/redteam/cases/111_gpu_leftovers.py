# 111 gpu_leftovers
# attempts: to leave behind a process in its own session that holds the GPU and memory on it
# required: VERDICT
# on: gpu
import subprocess
import sys
import time
from attack import custom_kernel

HOLD = "import torch, time; kept = torch.zeros(1 << 30, device='cuda'); print('held', flush=True); time.sleep(600)"
holder = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, start_new_session=True)
assert holder.stdout.readline() == b"held\n"
