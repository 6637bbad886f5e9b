# 48 phase_detect
# attempts: to compute only while it is checked and not while it is timed, or the reverse: by the number of the call, the time
#   since the last one, the processors it may use, the arguments, the stack, and whether its own clock is started
# required: FORGE-IGNORED
# verdict: wrong answer
# engines: isolated
# on: cpu gpu
# mode: ranked
# variants: first-1 first-3 first-10 later-2 every-7 pinned unpinned slow-gap
import os
import time
import torch

calls, ended = 0, 0.0


def is_right():
    how, _, number = "@VARIANT@".partition("-")
    if how == "first":
        return calls <= int(number)
    if how == "later":
        return calls > int(number)
    if how == "every":
        return calls % int(number)
    if how in ("pinned", "unpinned"):
        return (len(os.sched_getaffinity(0)) == 1) == (how == "pinned")
    return calls == 1 or calls % 2


def custom_kernel(data):
    global calls
    calls += 1
    return data + data if is_right() else torch.ones_like(data)
