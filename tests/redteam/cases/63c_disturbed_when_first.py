# 63c disturbed_when_first
# attempts: to be charged less for a kernel of 15 us by slowing only some calls of the null
#   contestant: those that follow the submission's call with the same input, and never the controls.
#   A process on the calls' core notices when somebody else runs there, and so learns whether the
#   null contestant's call came first
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# truth: honest
# spared: 1
import ctypes
import mmap
import os
import threading
import time
import torch
import channel
from gpu import cycles

WORK, page = cycles(15e-6), channel.Page()
RUN_S, APART_S = 100e-6, 100e-6
runs = ctypes.c_uint32.from_buffer(mmap.mmap(-1, 4096))  # of others on the core; the process counts them
side = torch.cuda.Stream()
follows = threading.Event()
was_first, seen = False, 0


def feel():
    """Runs only when nobody else wants the core, so it takes nothing from anybody, and a gap in its time is a run of another."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while not 0 <= page.cpu < 1024:
        time.sleep(0.001)
    os.sched_setaffinity(0, {page.cpu})
    earlier, last, ended = page.called, time.perf_counter(), 0
    while True:
        called, now = page.called, time.perf_counter()
        if now - last > RUN_S:
            runs.value += page.called == earlier and last - ended > APART_S  # else it was a call of ours
            ended = now
        earlier, last = called, now


def disturb():
    """From the end of a call of ours until another has run."""
    while True:
        follows.wait()
        follows.clear()
        ours = page.called
        while page.done != ours:
            time.sleep(0)
        while runs.value == seen and page.called == ours:
            with torch.cuda.stream(side):
                torch.cuda._sleep(10000)
            side.synchronize()


if "@VARIANT@" != "honest":
    if os.fork() == 0:
        feel()
    threading.Thread(target=disturb, daemon=True).start()


def custom_kernel(data):
    """Nobody between two of our calls: the null came before the last one, and comes behind this one. One: the order is as it was.
    With more, one of them may have been a control, which only costs us this call."""
    global was_first, seen
    felt, seen = runs.value - seen, runs.value
    was_first = felt == 0 or felt == 1 and was_first
    source, output = data
    torch.cuda._sleep(WORK)
    made = torch.add(source * 3, 1, out=output)
    if was_first:
        follows.set()
    return made
