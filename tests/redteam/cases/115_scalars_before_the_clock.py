# 115 scalars_before_the_clock
# attempts: nothing bad: works on the host for 150 us with an input that is not on the GPU. All of
#   this time must be charged
# required: FORGE-IGNORED
# engines: isolated
# on: gpu
# task: scalars_py
# mode: benchmark
# floor: 145
import time


def custom_kernel(data):
    end = time.perf_counter() + 150e-6
    made = sum(data)
    while time.perf_counter() < end:
        pass
    return made
