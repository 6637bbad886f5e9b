# 58b gap_work_cpu
# attempts: to keep processors busy after its calls, so that the judge and the null contestant are
#   slow
# required: FORGE-IGNORED
# verdict: passed or protocol violation
# engines: isolated
# task: fill_py
# cpu-size: 262144
# mode: benchmark
import os
import threading
import time


def spin():
    while True:
        pass


threading.Thread(target=spin, daemon=True).start()
for _ in range(2):
    if os.fork() == 0:
        spin()


def custom_kernel(data):
    source, output = data
    end = time.monotonic() + 0.02
    output.copy_(source * 3 + 1)
    while time.monotonic() < end:
        time.sleep(0.001)
    return output
