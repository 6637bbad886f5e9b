# 44 empty_return
# attempts: to pass without writing the output: returns it unchanged, returns fresh memory, memory
#   that held nearly the right answer before, nothing, or an output that is one element short
# required: FORGE-IGNORED
# verdict: wrong answer
# engines: isolated
# on: cpu gpu
# task: fill_py
# mode: ranked
# variants: untouched fresh reused nothing empty-tuple shorter
import torch


def reused(source):
    kept = torch.empty_like(source).copy_(source * 3 + 1)
    kept[0] = 0
    del kept
    return torch.empty_like(source)


def custom_kernel(data):
    source, output = data
    if "@VARIANT@" == "untouched":
        return output
    if "@VARIANT@" == "fresh":
        return torch.empty_like(source)
    if "@VARIANT@" == "reused":
        return reused(source)
    if "@VARIANT@" == "shorter":
        return (source * 3 + 1)[:-1]
    return None if "@VARIANT@" == "nothing" else ()
