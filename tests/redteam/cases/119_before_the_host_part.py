# 119 before_the_host_part
# attempts: to compute with the part of an input that is on the GPU before the clock runs. The other
#   part, a number on the host, comes later. A kernel polls the place of the next input, or a thread
#   launches the work as soon as it knows that place. The call only multiplies by the number
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation or time limit or passed
# engines: isolated
# on: gpu
# task: mixed_py
# mode: benchmark
# variants: resident thread
# truth: honest
# spared: 1
import threading
import torch
import channel
from gpu import cycles, enqueue, load

HOW, THREADS, WORK = "@VARIANT@", 1024, cycles(60e-6)
HONEST_CALLS = 150
page, side = channel.Page(), torch.cuda.Stream()
poll = load("poll") if HOW == "resident" else None
places, early, begun, calls = {}, {}, 0, 0


def begin(source, made):
    if HOW == "resident":
        enqueue(poll, source.data_ptr(), made.data_ptr(), len(source) // THREADS, THREADS, side.cuda_stream)
        return
    with torch.cuda.stream(side):
        torch.cuda._sleep(WORK)
        torch.add(source * 3, 1, out=made)


def watch():
    """The slot stands on the page before the input lies there."""
    global begun
    torch.zeros(1, device="cuda")  # the context becomes this thread's as well
    last = page.armed
    while True:
        now, slot = page.armed, page.slot
        if now != last and slot in places and calls > HONEST_CALLS:
            begin(places[slot], early[slot])
            begun = now
        last = now


if HOW != "honest":
    threading.Thread(target=watch, daemon=True).start()


def custom_kernel(data):
    """Honest: the work does not depend on the number, and takes 60 us."""
    global calls
    source, output, factor = data
    calls += 1
    slot = page.slot
    if HOW != "honest" and begun == page.called:
        torch.cuda.current_stream().wait_stream(side)
        return torch.mul(early[slot], factor, out=output)
    places[slot], early[slot] = source, early.get(slot, torch.empty_like(source))
    torch.cuda._sleep(WORK)
    torch.add(source * 3, 1, out=output)
    return output.mul_(factor)
