# 54 side_stream
# attempts: to have work done on a stream that nobody waits for: of high or default priority, or
#   made by the driver so that it does not wait for the default stream. All of the output is written
#   there, or half of it
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: side own driver part
# truth: honest
# spared: 10
import ctypes
import torch
from gpu import check, cycles

HOW = "@VARIANT@"
own = torch.cuda.Stream(priority=-1) if HOW != "own" else torch.cuda.Stream()
if HOW == "driver":
    handle = ctypes.c_void_p()
    check("cuStreamCreateWithPriority", ctypes.byref(handle), 1, 0)  # does not wait for the legacy default stream
    own = torch.cuda.ExternalStream(handle.value)
WORK = cycles(200e-6)


def fill(source, output):
    torch.cuda._sleep(WORK)
    torch.add(source * 3, 1, out=output)


def custom_kernel(data):
    source, output = data
    if HOW == "honest":
        fill(source, output)
    elif HOW == "part":
        half = len(source) // 2
        torch.add(source[:half] * 3, 1, out=output[:half])
        with torch.cuda.stream(own):
            fill(source[half:], output[half:])
    else:
        with torch.cuda.stream(own):
            fill(source, output)
    return output
