# 136 sealed_measured
# attempts: to do half of the work when it thinks that it is measured: soon after another call, by
#   the GPU's clock, or after twenty calls. It keeps the time and the count behind the input, which
#   the judge does not restore. Each output is checked
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# verdict: wrong answer
# variants: clock count
# change: {"task": {"benchmarks": ["size: 204800; seed: 54352"]}}
from device import kernel_of

KERNELS = r"""
__global__ void fill_half(const float *source, float *output, const long long *place, bool counts)
{
    const long long then = *(volatile const long long *)place;
    const bool is_measured = counts ? then > 20 : now() - then < 1000000000;
    if (!is_measured || blockIdx.x % 2)
        output[at()] = answer(source[at()]);
}
__global__ void note(long long *place, bool counts) { *place = counts ? *place + 1 : now(); }
"""


def half(counts):
    return f"""
        if (call < 3) {{ LAUNCH(fill, source, output); return; }}
        LAUNCH(fill_half, source, output, (long long *)PADDING, {counts});
        note<<<1, 1, 0, stream>>>((long long *)PADDING, {counts});
    """


custom_kernel = kernel_of(KERNELS, {"clock": half("false"), "count": half("true")}, "@VARIANT@")
