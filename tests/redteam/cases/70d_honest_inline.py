# 70d honest_inline
# attempts: nothing bad: a kernel compiled by load_inline while the submission is imported
# required: VERDICT
# engines: isolated
# on: gpu
# task: fill_py
# mode: test
# change: {"task": {"test_timeout_s": 180}}
import torch
from torch.utils.cpp_extension import load_inline

module = load_inline(
    name="podium_fill",
    cpp_sources="void fill(torch::Tensor source, torch::Tensor output);",
    cuda_sources="""
#include <c10/cuda/CUDAStream.h>

__global__ void fill_kernel(const float *source, float *output, long size)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < size)
        output[i] = source[i] * 3 + 1;
}

void fill(torch::Tensor source, torch::Tensor output)
{
    long size = source.numel();
    fill_kernel<<<(size + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(source.data_ptr<float>(), output.data_ptr<float>(), size);
}
""",
    functions=["fill"],
)


def custom_kernel(data):
    source, output = data
    module.fill(source, output)
    return output
