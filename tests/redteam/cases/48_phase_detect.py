# 48 phase_detect
# attempts: to compute only in calls that are checked, or only in those that are timed. It guesses
#   by the number of the call, the time since the last call, or the processors that it may use
# required: FORGE-IGNORED
# verdict: wrong answer
# engines: isolated
# on: cpu gpu
# mode: ranked
# variants: first-1 first-3 later-2 every-3 pinned unpinned slow
import os
import statistics
import time
import torch

calls, ended, pauses = 0, 0.0, []


def is_right():
    global ended
    how, _, number = "@VARIANT@".partition("-")
    if how == "first":
        return calls <= int(number)
    if how == "later":
        return calls > int(number)
    if how == "every":
        return calls % int(number)
    if how in ("pinned", "unpinned"):  # where there are fewer than three processors nobody is bound to one
        return os.cpu_count() > 2 and (len(os.sched_getaffinity(0)) == 1) == (how == "pinned")
    before, ended = ended, time.monotonic()
    pauses.append(ended - before)
    return pauses[-1] <= statistics.median(pauses)  # what comes after a longer pause than usual is not timed, it hopes


def custom_kernel(data):
    global calls
    calls += 1
    return data + data if is_right() else torch.ones_like(data)
