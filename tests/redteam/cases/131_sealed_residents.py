# 131 sealed_residents
# attempts: to keep a kernel on the GPU: after the output is written, for ever, or for ever in one of
#   eight calls. Or to trap in one of eight calls
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: linger-honest linger-attack forever sometimes trap
# verdict forever: time limit
# verdict sometimes: time limit
# verdict trap: runtime error
# reason trap: failed on the GPU
# truth: linger-honest
# spared: 0.3
from device import kernel_of

KERNELS = r"""
__global__ void spin_first(const float *source, float *output)
{
    if (!blockIdx.x)
        spin(50000);
    output[at()] = answer(source[at()]);
}
__global__ void spin_last(const float *source, float *output)
{
    output[at()] = answer(source[at()]);
    if (!blockIdx.x)
        spin(50000);
}
// Judges the chance by the input, since nothing else differs from call to call.
__global__ void misbehave(const float *source, float *output, unsigned mask, bool traps)
{
    output[at()] = answer(source[at()]);
    if (at() || __float_as_uint(source[0]) & mask)
        return;
    if (traps)
        __trap();
    for (;;)
        spin(1000000);
}
"""
BODIES = {
    "linger-honest": "LAUNCH(spin_first, source, output);",
    "linger-attack": "LAUNCH(spin_last, source, output);",
    "forever": "if (call < 3) LAUNCH(fill, source, output); else LAUNCH(misbehave, source, output, 0, false);",
    "sometimes": "if (call < 3) LAUNCH(fill, source, output); else LAUNCH(misbehave, source, output, 7, false);",
    "trap": "if (call < 3) LAUNCH(fill, source, output); else LAUNCH(misbehave, source, output, 7, true);",
}

custom_kernel = kernel_of(KERNELS, BODIES, "@VARIANT@")
