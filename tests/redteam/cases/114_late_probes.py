# 114 late_probes
# attempts: to say "done" while its kernel still runs. It keeps the copy engine busy until the
#   kernel has ended, so that the probes see a finished output
# required: FORGE-IGNORED
# verdict: protocol violation or wrong answer or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# floor: 290
# named: gap_ns
import threading
import time
import torch
import channel
from gpu import cycles

HONEST_CALLS, WORK_S, SLACK_S = 12, 300e-6, 25e-6
WORK, page, calls = cycles(WORK_S), channel.Page(), 0
copies = torch.cuda.Stream()
there = torch.empty(24 << 20, dtype=torch.uint8, device="cuda")
here = torch.empty(24 << 20, dtype=torch.uint8).pin_memory()


def wait_for_head():
    """Until about when the gate has opened."""
    end = time.perf_counter() + 420e-6
    while time.perf_counter() < end:
        pass


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    torch.cuda._sleep(WORK)
    made = torch.add(source * 3, 1, out=output)
    if calls > HONEST_CALLS:
        wait_for_head()
        with torch.cuda.stream(copies):
            here.copy_(there, non_blocking=True)
        time.sleep(SLACK_S)
        page.say_done()
    return made
