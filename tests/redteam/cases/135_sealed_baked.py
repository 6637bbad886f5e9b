# 135 sealed_baked
# attempts: to put the answer for the build's input into the plan: as memory that the call copies, as
#   a variable, as a kept input, as the returned tensor itself. Or to launch nothing, or only a part
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# verdict: wrong answer
# variants: answer variable stale kept part nothing
# verdict nothing: runtime error
# reason nothing: It launches nothing on the GPU
import torch
from device import compile_cuda

HOW, made, calls = "@VARIANT@", {}, 0
KERNELS = r"""
__device__ float table[262144];
__global__ void store(const float *source) { table[at()] = answer(source[at()]); }
__global__ void load(float *output) { output[at()] = table[at()]; }
"""
BODY = """
    if (call < 3)
        LAUNCH(store, source);
    LAUNCH(load, output);
"""
go = compile_cuda(KERNELS, BODY) if HOW == "variable" else None


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    if HOW == "variable":
        go(source, output, None, calls)
        return output
    if calls < 3:
        made.update(source=source.clone(), answer=source * 3 + 1, scratch=torch.empty_like(source))
        return torch.add(source * 3, 1, out=output)
    if HOW == "answer":
        output.copy_(made["answer"])
    elif HOW == "stale":
        torch.add(made["source"] * 3, 1, out=output)
    elif HOW == "part":
        torch.add(source[:-4096] * 3, 1, out=output[:-4096])
    elif HOW == "kept":
        made["scratch"].zero_()
        return made["answer"]
    return output
