# 119b before_the_host_part_cpu
# attempts: as 119 on the CPU device: a thread computes with the vector as soon as it knows the
#   place of the next input
# required: FORGE-IGNORED
# verdict: wrong answer or runtime error
# engines: isolated
# task: mixed_py
# mode: benchmark
import gc
import threading
import time
import torch
import channel

HONEST_CALLS = 4
contestant = next(one for one in gc.get_objects() if type(one).__name__ == "Contestant")
page, calls, early = channel.Page(), 0, {}


def watch():
    last = page.armed
    while True:
        now = page.armed
        if now != last and calls >= HONEST_CALLS:
            source, _, _ = contestant.input.prepare(page.slot)()
            early[now] = source * 3 + 1
        last = now
        time.sleep(0)


threading.Thread(target=watch, daemon=True).start()


def custom_kernel(data):
    global calls
    source, output, factor = data
    calls += 1
    made = early.pop(page.called, None)
    return torch.mul(source * 3 + 1 if made is None else made, factor, out=output)
