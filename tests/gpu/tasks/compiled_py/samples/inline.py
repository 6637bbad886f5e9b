"""Compiled by load_inline in the stage that comes first; a stage that had to compile it again would fail."""
import os
import sys

import torch
from torch.utils.cpp_extension import load_inline

built = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "podium_copy", "podium_copy.so")
assert os.path.exists(built) == (sys.argv[1] != "test"), f"{built} in stage {sys.argv[1]}"

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
    module.copy(source, output)
    return output
