# 56d resident_kernel
# attempts: to be on the GPU before the input is. As soon as a thread knows the place of the next
#   input, it starts a kernel there that polls the input and computes each element when it changes
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation or time limit or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: poll
# truth: honest
# spared: 1
import threading
import torch
import channel
from gpu import enqueue, load

HOW, THREADS = "@VARIANT@", 1024
HONEST_CALLS = 150
page, poll, side = channel.Page(), load("poll") if HOW == "poll" else None, torch.cuda.Stream()
places, begun, calls = {}, 0, 0


def watch():
    """The slot stands on the page before the input lies there."""
    global begun
    torch.zeros(1, device="cuda")  # the context becomes this thread's as well
    last = page.armed
    while True:
        now, slot = page.armed, page.slot
        if now != last and slot in places and calls > HONEST_CALLS:
            source, output = places[slot]
            enqueue(poll, source.data_ptr(), output.data_ptr(), len(source) // THREADS, THREADS, side.cuda_stream)
            begun = now
        last = now


if HOW == "poll":
    threading.Thread(target=watch, daemon=True).start()


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    if HOW == "poll" and begun == page.called:
        side.synchronize()
        return output
    places[page.slot] = (source, output)
    torch.add(source * 3, 1, out=output)
    return output
