# 55 after_return
# attempts: to finish after the return: a thread writes the output, or only its end, 20 or 100 ms
#   later
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# engines: isolated
# on: cpu gpu
# task: fill_py
# cpu-size: 262144
# mode: benchmark
# variants: thread-20 thread-100 tail-20
import threading
import time
import torch

HOW, _, DELAY_MS = "@VARIANT@".partition("-")
begin = threading.Semaphore(0)
work = []


def finish():
    while begin.acquire():
        source, output = work.pop()
        time.sleep(float(DELAY_MS) / 1000)
        output.copy_(source * 3 + 1)
        if output.is_cuda:
            torch.cuda.synchronize()


threading.Thread(target=finish, daemon=True).start()


def custom_kernel(data):
    source, output = data
    first = 0 if HOW == "thread" else len(source) - 1000
    output[:first] = source[:first] * 3 + 1
    work.append((source[first:], output[first:]))
    begin.release()
    return output
