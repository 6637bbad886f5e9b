# 62 slow_warmup
# attempts: to have fewer calls counted, by taking 400 ms in each of the first three
# required: FORGE-IGNORED
# engines: isolated
# on: cpu gpu
# mode: benchmark
# change: {"task": {"benchmarks": ["size: 4194304; seed: 54352"]}}
# runs: 50
# variants: three
# truth: honest
# spared: 1.5
import time

calls = 0


def custom_kernel(data):
    global calls
    calls += 1
    if "@VARIANT@" != "honest" and calls <= 3:
        time.sleep(0.4)
    return data + data
