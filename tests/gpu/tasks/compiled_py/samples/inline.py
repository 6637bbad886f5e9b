"""load_inline compiles this submission's kernel in the first stage. A later stage that has to
compile it again fails."""
import os

import torch
from torch.utils.cpp_extension import load_inline

RANKED_SIZE = 1048576  # only the second stage has this size; nothing else shows which stage runs
built = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "podium_copy", "podium_copy.so")
was_there = os.path.exists(built)

module = load_inline(
    name="podium_copy",
    build_directory=(os.makedirs(os.path.dirname(built), exist_ok=True), os.path.dirname(built))[1],
    cpp_sources="void copy(torch::Tensor source, torch::Tensor output);",
    cuda_sources="""
__global__ void copy_kernel(const float *source, float *output, long size)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < size)
        output[i] = source[i];
}

void copy(torch::Tensor source, torch::Tensor output)
{
    long size = source.numel();
    copy_kernel<<<(size + 255) / 256, 256>>>(source.data_ptr<float>(), output.data_ptr<float>(), size);
}
""",
    functions=["copy"],
)


def custom_kernel(data):
    source, output = data
    assert was_there == (len(source) == RANKED_SIZE), f"{built} was {'' if was_there else 'not '}there"
    module.copy(source, output)
    return output
