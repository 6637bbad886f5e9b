# 58 gap_work
# attempts: to leave a heavy kernel on the GPU without being charged. It says "done" before it
#   enqueues the kernel, or a thread enqueues the kernel when the call has ended
# required: FORGE-IGNORED
# verdict: protocol violation or wrong answer or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: enqueued thread
# truth: charged
# charged: 0.9
# named: gap_ns
import threading
import torch
import channel
from gpu import cycles

HOW, WORK = "@VARIANT@", cycles(2e-3)
HONEST_CALLS = 40
page, calls = channel.Page(), 0
begin, side = threading.Semaphore(0), torch.cuda.Stream()


def burn():
    while begin.acquire():
        with torch.cuda.stream(side):
            torch.cuda._sleep(WORK)


threading.Thread(target=burn, daemon=True).start()


def custom_kernel(data):
    """What is left behind is of no use here; with a task that has something to prepare it would be."""
    global calls
    source, output = data
    calls += 1
    torch.add(source * 3, 1, out=output)
    if HOW == "charged":
        torch.cuda._sleep(WORK)
    elif calls > HONEST_CALLS:
        torch.cuda.synchronize()
        if HOW == "enqueued":
            page.say_done()
            torch.cuda._sleep(WORK)
        else:
            begin.release()
    return output
