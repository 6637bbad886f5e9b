# 70c honest_triton
# attempts: nothing bad: a Triton kernel with autotuning
# required: VERDICT
# engines: isolated
# on: gpu
# task: fill_py
# mode: ranked
# repeatable: yes
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048) for warps in (4, 8)], key=["size"])
@triton.jit
def fill(source, output, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(output + at, tl.load(source + at, mask=at < size) * 3 + 1, mask=at < size)


def custom_kernel(data):
    source, output = data
    size = source.numel()
    fill[lambda options: (triton.cdiv(size, options["BLOCK"]),)](source, output, size)
    return output
