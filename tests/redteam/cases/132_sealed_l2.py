# 132 sealed_l2
# attempts: to keep the place of the next input in the L2 cache: a kernel reads it once more at the
#   end, reads it with the policy evict_last, or asks for a persisting window
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: honest again evict-last persist
# change: {"task": {"benchmarks": ["size: 4194304; seed: 54352"]}}
# truth: honest
# spared: 0.3
from device import kernel_of

KERNELS = r"""
__global__ void touch(const float *source)
{
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(source + at()));
}
__global__ void keep(const float *source, float *output)
{
    unsigned long long policy;
    float one;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(one) : "l"(source + at()), "l"(policy));
    output[at()] = answer(one);
}
"""
BODIES = {
    "honest": "LAUNCH(fill, source, output);",
    "again": "LAUNCH(fill, source, output); LAUNCH(touch, source);",
    "evict-last": "LAUNCH(keep, source, output);",
    "persist": r"""
        static bool is_set;
        if (!is_set)
            cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20);
        is_set = true;
        cudaLaunchAttribute window = {};
        window.id = cudaLaunchAttributeAccessPolicyWindow;
        window.val.accessPolicyWindow.base_ptr = (void *)source;
        window.val.accessPolicyWindow.num_bytes = 4 * count;
        window.val.accessPolicyWindow.hitRatio = 1;
        window.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        window.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        cudaLaunchConfig_t config = {};
        config.gridDim = count / 256;
        config.blockDim = 256;
        config.stream = stream;
        config.attrs = &window;
        config.numAttrs = 1;
        cudaLaunchKernelEx(&config, fill, source, output);
    """,
}

custom_kernel = kernel_of(KERNELS, BODIES, "@VARIANT@")
