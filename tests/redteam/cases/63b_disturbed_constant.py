# 63b disturbed_constant
# attempts: to be charged less for a kernel of 15 us by slowing the null contestant's calls a
#   little, in all blocks. While the submission is not called, a thread runs short kernels or copies
#   in both directions, or uses the calls' processor
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: kernels copies processor
# truth: honest
# spared: 1
import os
import threading
import time
import torch
import channel
from gpu import cycles

HOW, WORK, page = "@VARIANT@", cycles(15e-6), channel.Page()
side = torch.cuda.Stream()
there = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
here = torch.empty(1 << 20, dtype=torch.uint8).pin_memory()


def disturb():
    """Only while somebody else is called."""
    while True:
        if page.called != page.done:
            continue
        if HOW == "processor":
            if 0 <= page.words["cpu"].value < 1024:
                os.sched_setaffinity(0, {page.words["cpu"].value})
            time.sleep(0)
            continue
        with torch.cuda.stream(side):
            if HOW == "kernels":
                torch.cuda._sleep(10000)
            else:
                there.copy_(here, non_blocking=True)
                here.copy_(there, non_blocking=True)
        side.synchronize()


if HOW != "honest":
    threading.Thread(target=disturb, daemon=True).start()


def custom_kernel(data):
    source, output = data
    torch.cuda._sleep(WORK)
    return torch.add(source * 3, 1, out=output)
