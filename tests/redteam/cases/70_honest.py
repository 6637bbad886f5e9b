# 70 honest
# attempts: nothing bad: writes the given output at once or in parts, returns a new output or the
#   input, uses threads that it waits for, uses numpy, changes from the given output to a new one,
#   or is slow
# required: VERDICT
# engines: isolated custom
# on: cpu gpu
# custom on: cpu
# task: fill_py
# mode: ranked
# variants: given new parts threads numpy input alternating slow
# repeatable: yes
import concurrent.futures
import time
import torch

pool = concurrent.futures.ThreadPoolExecutor(4)
calls = 0


def fill(source, output, first, last):
    output[first:last] = source[first:last] * 3 + 1


def given(source, output):
    return torch.add(source * 3, 1, out=output)


def new(source, output):
    return source * 3 + 1


def parts(source, output):
    for first in range(0, len(source), 100003):
        fill(source, output, first, min(first + 100003, len(source)))
    return output


def threads(source, output):
    step = len(source) // 8
    list(pool.map(lambda first: fill(source, output, first, first + step), range(0, len(source), step)))
    return output


def numpy(source, output):
    return torch.from_numpy(source.cpu().numpy() * 3 + 1).to(source.device)


def into_input(source, output):
    return source.mul_(3).add_(1)


def alternating(source, output):
    """Not the same form each time: the output given for the first calls, then a new one."""
    global calls
    calls += 1
    return new(source, output) if calls > 3 else given(source, output)


def slow(source, output):
    time.sleep(0.01)
    return given(source, output)


WAYS = {"given": given, "new": new, "parts": parts, "threads": threads, "numpy": numpy, "input": into_input,
        "alternating": alternating, "slow": slow}


def custom_kernel(data):
    return WAYS["@VARIANT@"](*data)
