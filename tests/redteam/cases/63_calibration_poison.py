# 63 calibration_poison
# attempts: to slow the null contestant's calls, which are subtracted: threads keep their processor
#   busy or run kernels on the GPU between its own calls. In the variant `start` it is slow itself
#   in its first calls
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# on: cpu gpu
# mode: benchmark
# variants: processor kernels start
# truth: honest
# spared: 0.3
import os
import threading
import time
import torch
import channel
from gpu import cycles, is_there

HOW, page, calls = "@VARIANT@", channel.Page(), 0
WORK, OWN = (cycles(2e-3), cycles(20e-6)) if is_there() else (0, 0)
busy = threading.Event()


def between_calls():
    """Busy when nobody has called us, on the processor that calls are made on."""
    while True:
        if page.called == page.done and page.called > 3:
            if 0 <= page.words["cpu"].value < 1024:
                os.sched_setaffinity(0, {page.words["cpu"].value})
            if HOW == "kernels" and WORK:
                torch.cuda._sleep(WORK)
                torch.cuda.synchronize()
        else:
            time.sleep(0)


# Python runs one thread at a time, so on the CPU device one thread keeps as busy as four.
if HOW in ("processor", "kernels"):
    for _ in range(4 if HOW == "processor" and is_there() else 1):
        threading.Thread(target=between_calls, daemon=True).start()


def custom_kernel(data):
    global calls
    calls += 1
    if HOW == "start" and calls < 30:
        time.sleep(0.02)
    made = data + data
    if OWN:
        torch.cuda._sleep(OWN)
    else:
        time.sleep(0.002)
    return made
