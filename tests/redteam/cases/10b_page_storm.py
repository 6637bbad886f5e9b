# 10b page_storm
# attempts: to upset the judge through the shared page: a thread writes every word without pause,
#   reports calls, states, forms and times that do not exist, or wakes all waiters without end
# required: FORGE-IGNORED
# verdict: protocol violation or passed or runtime error
# unanswered: all judges done ready status, which write over the call, or over the answer before it is read
# engines: isolated
# on: cpu gpu
# mode: benchmark
# variants: all judges done ready status spec own futex
import ctypes
import os
import random
import threading
import channel
from attack import custom_kernel as right, libc

VARIANT, FUTEX, WAKE = "@VARIANT@", 202, 1
page = channel.Page()
WORDS = {"all": [*channel.PLACES], "judges": ["armed", "command", "slot", "cpu", "called"], "done": ["done"],
         "ready": ["ready"], "status": ["status"], "spec": ["spec"]}


def storm():
    noise = random.Random(9)
    while True:
        for name in WORDS.get(VARIANT, ()):
            page.put(name, noise.choice((0, 1, 77, 0x7fffffff, 0xffffffff, page.called + 1)))
        if VARIANT == "own":
            own = ctypes.c_double.from_address(page.address + channel.OWN_NS)
            own.value = noise.choice((float("nan"), float("inf"), -1.0, 1e-300, 1e300))
        if VARIANT == "futex":
            for word in page.words.values():
                libc.syscall(FUTEX, ctypes.byref(word), WAKE, 0x7fffffff, None, None, 0)


calls = 0


def custom_kernel(data):
    global calls
    if calls == 2:
        threading.Thread(target=storm, daemon=True).start()
    calls += 1
    return right(data)
