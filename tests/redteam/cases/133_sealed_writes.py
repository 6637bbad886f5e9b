# 133 sealed_writes
# attempts: to write around its output: over the input, over the whole arena, behind what the plan
#   needs of it, behind the arena and before the input
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: honest input arena unneeded behind before
# verdict unneeded: runtime error
# verdict behind: runtime error
# verdict before: runtime error
# reason unneeded: failed on the GPU
# reason behind: failed on the GPU
# reason before: failed on the GPU
# truth: honest
# spared: 0.3
from device import kernel_of

KERNELS = r"""
__global__ void litter(unsigned long long begin, unsigned long long words)
{
    for (unsigned long long i = at(); i < words; i += gridDim.x * 256ull)
        ((unsigned *)begin)[i] = 0x7fc00000 | (unsigned)i;
}
"""
# Only in the captured call, since the builder itself lies in the arena.
LITTER = "LAUNCH(fill, source, output); if (call == 3) litter<<<264, 256, 0, stream>>>("
BODIES = {
    "honest": "LAUNCH(fill, source, output);",
    "input": f"{LITTER}INPUT, count);",
    "arena": f"{LITTER}ARENA, (ARENA_LEAST_END - ARENA) / 4);",
    "unneeded": f"{LITTER}ARENA_END - 4, 1);",
    "behind": f"{LITTER}ARENA_END, 1);",
    "before": f"{LITTER}INPUT - 4, 1);",
}

custom_kernel = kernel_of(KERNELS, BODIES, "@VARIANT@")
