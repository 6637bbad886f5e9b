# 130 sealed_unfinished
# attempts: to end before the whole output is written, or to write it when the call has ended: later
#   kernels start early, or a stream is not joined
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: benchmark
# variants: late-honest early late-trigger late-start stream
# verdict early: wrong answer
# verdict stream: runtime error
# reason stream: leaves work on another stream
# truth: late-honest
# spared: 0.3
from device import kernel_of

KERNELS = r"""
__global__ void slow(const float *source, float *output)
{
    cudaTriggerProgrammaticLaunchCompletion();
    spin(20000);
    output[at()] = answer(source[at()]);
}
static void launch(void *kernel, dim3 grid, void **arguments, cudaStream_t stream, cudaLaunchAttribute attribute)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = 256;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelExC(&config, kernel, arguments);
}
static cudaStream_t other()
{
    static cudaStream_t side;
    if (!side)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    return side;
}
static cudaEvent_t event(int number)
{
    static cudaEvent_t events[3];
    if (!events[number])
        cudaEventCreateWithFlags(&events[number], cudaEventDisableTiming);
    return events[number];
}
static void fork_to(cudaStream_t side, cudaStream_t stream)
{
    cudaEventRecord(event(0), stream);
    cudaStreamWaitEvent(side, event(0), 0);
}
"""
BODIES = {
    "late-honest": "LAUNCH(slow, source, output);",
    "early": "fill<<<count / 256 - 1, 256, 0, stream>>>(source, output);",
    # The second kernel ends long before the first.
    "late-trigger": r"""
        cudaLaunchAttribute early = {};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        LAUNCH(slow, source, output);
        launch((void *)nothing, dim3(1), NULL, stream, early);
    """,
    "late-start": r"""
        void *arguments[] = { &source, &output };
        cudaLaunchAttribute early = {};
        early.id = cudaLaunchAttributeProgrammaticEvent;
        early.val.programmaticEvent.event = event(1);
        early.val.programmaticEvent.triggerAtBlockStart = 1;
        launch((void *)slow, dim3(count / 256), arguments, stream, early);
        cudaStreamWaitEvent(other(), event(1), 0);
        nothing<<<1, 256, 0, other()>>>();
        cudaEventRecord(event(2), other());
        cudaStreamWaitEvent(stream, event(2), 0);
    """,
    "stream": r"""
        fork_to(other(), stream);
        slow<<<count / 256, 256, 0, other()>>>(source, output);
    """,
}

custom_kernel = kernel_of(KERNELS, BODIES, "@VARIANT@")
