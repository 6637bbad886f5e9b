# 117 noise_for_a_tie
# attempts: to tie with faster entries: 26 slow calls widen the interval of its time as much as they
#   raise the time. Two honest jobs of one kernel differ by up to 0.6 us
# required: FORGE-IGNORED
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: noisy
# truth: honest
# charged: 1
# spared: 0.6
import torch
from gpu import cycles

WORK, calls = cycles(400e-6), 0


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    if "@VARIANT@" != "honest" and 60 <= calls < 86:
        torch.cuda._sleep(WORK)
    return torch.add(source * 3, 1, out=output)
