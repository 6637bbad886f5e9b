# 56e host_shortcut
# attempts: to compute on the host while the GPU switches to the submission. The copy engine fetches
#   the input on a stream that waits for nothing and takes the output back; an empty kernel makes
#   this look like work of the GPU
# required: FORGE-IGNORED
# verdict: passed or wrong answer or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# change: {"task": {"benchmarks": ["size: 4096; seed: 54352"]}}
# truth: honest
# variants: host
import ctypes
import torch
from gpu import check, cycles

HOW, WORK = "@VARIANT@", cycles(60e-6)
handle = ctypes.c_void_p()
check("cuStreamCreateWithPriority", ctypes.byref(handle), 1, 0)
free = torch.cuda.ExternalStream(handle.value)
kept = {}


def on_host(source, output):
    size = len(source)
    if size not in kept:
        kept[size] = tuple(torch.empty(size).pin_memory() for _ in range(2))
    given, made = kept[size]
    with torch.cuda.stream(free):
        given.copy_(source, non_blocking=True)
        free.synchronize()
        torch.add(given * 3, 1, out=made)
        output.copy_(made, non_blocking=True)
        free.synchronize()
    torch.cuda._sleep(1)
    return output


def custom_kernel(data):
    """Honest: a kernel of which a GPU makes little, such as one that goes through its input step by step."""
    source, output = data
    if HOW == "host":
        return on_host(source, output)
    torch.cuda._sleep(WORK)
    return torch.add(source * 3, 1, out=output)
