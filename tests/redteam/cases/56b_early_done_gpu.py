# 56b early_done_gpu
# attempts: to say "done" after a tenth, half or nine tenths of a kernel of 20 us to 5 ms. A word
#   that the GPU writes to the host's memory tells when
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: 20-10 20-50 20-90 100-10 100-50 100-90 1000-10 1000-50 1000-90 5000-10 5000-90
# spared: 8
# truth: *-honest
import torch
import channel
from gpu import Flag, cycles

LENGTH_US, _, SHARE = "@VARIANT@".partition("-")
WHOLE = cycles(float(LENGTH_US) * 1e-6)
HONEST_CALLS = 40
page, flag, calls = channel.Page(), Flag(), 0


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    first = WHOLE if SHARE == "honest" else int(WHOLE * float(SHARE) / 100)
    torch.cuda._sleep(first)
    ticket = flag.write()
    if first < WHOLE:
        torch.cuda._sleep(WHOLE - first)
    torch.add(source * 3, 1, out=output)
    if SHARE != "honest" and calls > HONEST_CALLS:
        flag.wait(ticket)
        page.say_done()
    return output
