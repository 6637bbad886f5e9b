# 116 every_third_null
# attempts: to be charged less for a kernel of 15 us by making every third call of the null
#   contestant slow. Four such calls of a block move the constant, but not a median. A process on
#   the calls' core notices when others are called, as in 63c
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: third honest
# truth: honest
# spared: 5
import ctypes
import mmap
import os
import threading
import time
import torch
import channel
from gpu import cycles

WORK, page, HONEST_PAIRS = cycles(15e-6), channel.Page(), 10
RUN_S, APART_S = 100e-6, 100e-6
runs = ctypes.c_uint32.from_buffer(mmap.mmap(-1, 4096))  # of others on the core; the process counts them
side, due = torch.cuda.Stream(), threading.Event()
plan = {"skip": 0, "only_next": True, "ours": 0}
pairs, seen, owed = 0, 0, False


def feel():
    """Runs only when nobody else wants the core, so a gap in its time is a run of another."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while not 0 <= page.cpu < 1024:
        time.sleep(0.001)
    os.sched_setaffinity(0, {page.cpu})
    earlier, last, ended = page.called, time.perf_counter(), 0
    while True:
        called, now = page.called, time.perf_counter()
        if now - last > RUN_S:
            runs.value += page.called == earlier and last - ended > APART_S
            ended = now
        earlier, last = called, now


def disturb():
    """After so many runs of others, works until one more has been, or until our next call."""
    while True:
        due.wait()
        due.clear()
        while page.done != plan["ours"]:
            time.sleep(0)
        while page.called == plan["ours"] and runs.value - seen < plan["skip"]:
            time.sleep(0)
        while page.armed == plan["ours"] and not (plan["only_next"] and runs.value - seen > plan["skip"]):
            with torch.cuda.stream(side):
                torch.cuda._sleep(20000)
            side.synchronize()


if "@VARIANT@" != "honest":
    if os.fork() == 0:
        feel()
    threading.Thread(target=disturb, daemon=True).start()


def custom_kernel(data):
    global pairs, seen, owed
    source, output = data
    felt, seen = runs.value - seen, runs.value
    null_was_first = felt > owed
    owed, pairs = not null_was_first, pairs + 1
    if "@VARIANT@" != "honest" and pairs > HONEST_PAIRS:
        if pairs % 3 == 0 and not null_was_first:
            plan.update(skip=0, only_next=True, ours=page.called)
            due.set()
        elif pairs % 3 == 2:
            plan.update(skip=int(owed), only_next=False, ours=page.called)
            due.set()
    torch.cuda._sleep(WORK)
    return torch.add(source * 3, 1, out=output)
