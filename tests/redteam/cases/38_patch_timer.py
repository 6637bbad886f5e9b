# 38 patch_timer
# attempts: to be charged less by changing its own process: it replaces Python's clocks, torch's
#   events and waits, the garbage collector, ctypes or the engine's functions, or reports a false
#   time
# required: FORGE-IGNORED
# verdict: passed or protocol violation or wrong answer
# engines: isolated
# on: cpu gpu
# mode: benchmark
# truth: honest
# floor: 2500
# variants: clocks torch collector engine own
import ctypes
import gc
import sys
import time
import torch
import channel

VARIANT, real_sleep = "@VARIANT@", time.sleep


def nothing(*arguments, **options):
    return 0


def patch_clocks():
    for name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "sleep"):
        setattr(time, name, nothing)


class Event:
    def __init__(self, *arguments, **options):
        pass

    record = synchronize = query = wait = nothing

    def elapsed_time(self, other):
        return 1e-6


def patch_torch():
    torch.cuda.Event, torch.cuda.synchronize, torch.cuda._sleep = Event, nothing, nothing
    if hasattr(torch._C, "_cuda_synchronize"):
        torch._C._cuda_synchronize = nothing


def patch_collector():
    gc.disable = gc.enable = gc.collect = nothing
    ctypes.memmove = ctypes.memset = nothing


def patch_engine():
    """Everything of the engine's that looks like a clock, a wait or a state."""
    for one in gc.get_objects():
        if type(one).__name__ == "Contestant":
            one.synchronize = nothing
            for module in [module for name, module in sys.modules.items() if name.startswith("podium_")]:
                for name in ("perf_counter_ns", "monotonic", "Pinned"):
                    if hasattr(module, name) and name != "Pinned":
                        setattr(module, name, nothing)


def patch_own():
    """A time of its own that is a lie."""
    ctypes.c_double.from_address(channel.Page().address + channel.OWN_NS).value = 1.0


{"clocks": patch_clocks, "torch": patch_torch, "collector": patch_collector, "engine": patch_engine}.get(VARIANT, nothing)()


def custom_kernel(data):
    if data.is_cuda:
        for _ in range(4):
            made = data + data
    else:
        made = data + data
    real_sleep(0.005)
    if VARIANT == "own":
        patch_own()
    return made
