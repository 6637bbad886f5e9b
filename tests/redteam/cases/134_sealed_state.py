# 134 sealed_state
# attempts: to keep state between calls and to compute only in the first one. The judge restores
#   variables and the arena, so such a kernel computes in every call. The judge does not restore the
#   bytes behind the input, shared memory and strings in the code, but no input occurs twice
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: honest variable unlisted constant scratch unused unmapped memo padding shared text
# verdict constant: passed or runtime error
# verdict unmapped: runtime error
# reason unmapped: failed on the GPU
# verdict padding: wrong answer
# verdict shared: wrong answer or passed
# verdict text: wrong answer or passed
# change: {"task": {"benchmarks": ["size: 204800; seed: 54352"]}}
# truth: honest
# spared: 0.3
from device import kernel_of

KERNELS = r"""
__device__ unsigned calls;
__constant__ unsigned fixed_calls;
__global__ void fill_once(const float *source, float *output, const unsigned *place)
{
    const unsigned before = *(volatile const unsigned *)(place ? place : &calls);
    if (!before)
        output[at()] = answer(source[at()]);
}
__global__ void count_call(unsigned *place) { ++*(volatile unsigned *)(place ? place : &calls); }
// A variable without a symbol that other modules see.
__global__ void fill_once_unlisted(const float *source, float *output, bool counts)
{
    static unsigned hidden;
    if (counts)
        ++*(volatile unsigned *)&hidden;
    else if (!*(volatile unsigned *)&hidden)
        output[at()] = answer(source[at()]);
}
__global__ void fill_once_constant(const float *source, float *output, bool counts)
{
    unsigned long long place = (unsigned long long)&fixed_calls;
    asm volatile("" : "+l"(place));
    if (counts)
        ++*(volatile unsigned *)place;
    else if (!*(volatile unsigned *)place)
        output[at()] = answer(source[at()]);
}
__global__ void fill_once_text(const float *source, float *output, bool counts)
{
    volatile char *text = (volatile char *)(source ? "none" : "never");
    if (counts)
        text[0] = 's';
    else if (text[0] == 'n')
        output[at()] = answer(source[at()]);
}
__global__ void fill_once_shared(const float *source, float *output)
{
    __shared__ unsigned left[1024];
    const bool is_new = ((volatile unsigned *)left)[threadIdx.x] != 0x5ea1ed;
    __syncthreads();
    ((volatile unsigned *)left)[threadIdx.x] = 0x5ea1ed;
    if (is_new)
        output[at()] = answer(source[at()]);
}
// Keeps the checksum of the input at memo[0], and the answer behind memo[64].
__global__ void sum_up(const float *source, unsigned *memo) { atomicAdd(memo + 1, __float_as_uint(source[at()])); }
__global__ void fill_from_memo(const float *source, float *output, unsigned *memo)
{
    const bool is_known = memo[0] == memo[1];
    output[at()] = is_known ? __uint_as_float(memo[64 + at()]) : answer(source[at()]);
    memo[64 + at()] = __float_as_uint(output[at()]);
}
__global__ void note_sum(unsigned *memo) { memo[0] = memo[1], memo[1] = 0; }
"""


def once(place):
    return f"""
        if (call < 3) {{ LAUNCH(fill, source, output); return; }}
        fill_once<<<count / 256, 256, 0, stream>>>(source, output, (unsigned *)({place}));
        count_call<<<1, 1, 0, stream>>>((unsigned *)({place}));
    """


def once_by(kernel):
    return f"""
        if (call < 3) {{ LAUNCH(fill, source, output); return; }}
        LAUNCH({kernel}, source, output, false);
        {kernel}<<<1, 1, 0, stream>>>(source, output, true);
    """


BODIES = {
    "honest": "LAUNCH(fill, source, output);",
    "variable": once("0"),
    "unlisted": once_by("fill_once_unlisted"),
    "constant": once_by("fill_once_constant"),
    "text": once_by("fill_once_text"),
    "scratch": once("scratch"),
    "unused": once("ARENA_LEAST_END - 64"),
    "unmapped": once("ARENA_END - 64"),
    "padding": once("PADDING"),
    "shared": "if (call < 3) LAUNCH(fill, source, output); else LAUNCH(fill_once_shared, source, output);",
    "memo": r"""
        unsigned *memo = (unsigned *)(ARENA_LEAST_END - (1 << 20));
        if (call < 3) { LAUNCH(fill, source, output); return; }
        LAUNCH(sum_up, source, memo);
        LAUNCH(fill_from_memo, source, output, memo);
        note_sum<<<1, 1, 0, stream>>>(memo);
    """,
}

custom_kernel = kernel_of(KERNELS, BODIES, "@VARIANT@")
