# 55b host_function
# attempts: to finish after the return: a function that the GPU calls on the host
#   (cudaLaunchHostFunc), or a thread, launches the kernels on a stream that nobody waits for
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation or passed
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: host-function launch-later
# truth: honest
import ctypes
import threading
import time
import torch
from gpu import check, cycles

HOW, WORK = "@VARIANT@", cycles(300e-6)
side = torch.cuda.Stream()
begin, work = threading.Semaphore(0), []


def fill(source, output):
    torch.cuda._sleep(WORK)
    torch.add(source * 3, 1, out=output)


def finish():
    while begin.acquire():
        with torch.cuda.stream(side):
            fill(*work.pop())


threading.Thread(target=finish, daemon=True).start()
called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: begin.release())


def custom_kernel(data):
    source, output = data
    if HOW == "honest":
        fill(source, output)
        return output
    work.append((source, output))
    if HOW == "host-function":
        check("cuLaunchHostFunc", ctypes.c_void_p(side.cuda_stream), called, None)
    else:
        begin.release()
    return output
