# 122 uses_up_the_limit
# attempts: to be measured by so few calls that they cannot show a small disturbance. It sleeps in
#   its first call, which is not charged, until the case's share of the time limit is nearly over.
#   Then it slows the null contestant's calls a little
# required: FORGE-IGNORED
# verdict: passed or time limit or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# change: {"task": {"benchmark_timeout_s": 34}}
# variants: sleeps
# truth: honest
# spared: 1
import threading
import time
import torch
import channel
from gpu import cycles

SLEEP_S, WORK, page = 28, cycles(15e-6), channel.Page()
side, calls = torch.cuda.Stream(), 0


def disturb():
    """Only while somebody else is called."""
    while True:
        if page.called == page.done:
            with torch.cuda.stream(side):
                torch.cuda._sleep(5000)
            side.synchronize()


def custom_kernel(data):
    global calls
    calls += 1
    if "@VARIANT@" != "honest" and calls == 1:
        time.sleep(SLEEP_S)
        threading.Thread(target=disturb, daemon=True).start()
    source, output = data
    torch.cuda._sleep(WORK)
    return torch.add(source * 3, 1, out=output)
