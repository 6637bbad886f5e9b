# 120b starves_the_other
# attempts: to make the other side of a comparison fail while both take turns. It takes all memory
#   of the GPU, or starts processes that each keep the whole GPU busy, so that the other side does
#   not answer in time
# required: VERDICT
# verdict: passed or wrong answer or runtime error or time limit or internal error
# engines: isolated
# on: gpu
# mode: compare
# against: honest
# variants: fills occupies
import ctypes
import gc
import subprocess
import sys
from gpu import cuda

contestant = next(one for one in gc.get_objects() if type(one).__name__ == "Contestant")
TURNS, trials, done = {"submission": 1, "rival": 2}["@SIDE@"], [], []
OCCUPY = """
import ctypes, sys
sys.path.insert(0, ".")
import gpu
gpu.check("cuInit", 0)
context, place = ctypes.c_void_p(), ctypes.c_uint64()
gpu.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
gpu.check("cuCtxSetCurrent", context)
gpu.check("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(4096))
gpu.enqueue(gpu.load("hang"), place.value, place.value, 2048, 1024)
gpu.check("cuCtxSynchronize")
"""


def starve():
    if "@VARIANT@" == "fills":
        place = ctypes.c_uint64()
        for step in (8 << 30, 1 << 30, 64 << 20, 2 << 20):
            while cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(step)) == 0:
                pass
        return
    done.extend(subprocess.Popen([sys.executable, "-c", OCCUPY]) for _ in range(8))


def custom_kernel(data):
    if not trials or trials[-1] is not contestant.input:
        trials.append(contestant.input)
    made = data + data
    if len(trials) == TURNS and not done:
        done.append(True)
        starve()
    return made
