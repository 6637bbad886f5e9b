# 139 sealed_refused
# attempts: to do in the call what no plan can hold: a function on the host, a conditional node,
#   kernels that a kernel launches, printf, malloc on the GPU, memory from a pool. One kernel hides
#   that it prints
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: test
# verdict: runtime error
# variants: host-function conditional child printf malloc pool hidden-printf
# reason host-function: runs a function on the host
# reason conditional: contains conditional nodes
# reason child: launch kernels on the GPU
# reason printf: may not print
# reason malloc: allocate memory
# reason pool: allocates memory (cudaMallocAsync)
# verdict hidden-printf: passed or runtime error
import ctypes
import os
import subprocess
import tempfile
import device
from device import kernel_of

HOW = "@VARIANT@"
KERNELS = {
    "child": r"""
        __global__ void parent(const float *source, float *output, long count)
        { fill<<<count / 256, 256>>>(source, output); }
    """,
    "printf": r"""
        __global__ void tell(const float *source, float *output)
        { output[at()] = answer(source[at()]); if (!at()) printf("seen\n"); }
    """,
    "malloc": r"""
        __global__ void allocate(const float *source, float *output)
        {
            float *mine = (float *)malloc(16);
            output[at()] = answer(mine ? mine[0] = source[at()] : source[at()]);
            free(mine);
        }
    """,
    # The calls for captured graphs have other parameters since CUDA 13.
    "conditional": r"""
        static void add_conditional(cudaStream_t stream)
        {
            cudaStreamCaptureStatus status;
            unsigned long long number;
            cudaGraph_t graph;
            const cudaGraphNode_t *before;
            size_t count;
            cudaGraphNode_t node;
            cudaGraphNodeParams parameters = {};
        #if CUDART_VERSION >= 13000
            const cudaGraphEdgeData *edges;
            cudaStreamGetCaptureInfo(stream, &status, &number, &graph, &before, &edges, &count);
        #else
            cudaStreamGetCaptureInfo_v2(stream, &status, &number, &graph, &before, &count);
        #endif
            if (status != cudaStreamCaptureStatusActive)
                return;
            parameters.type = cudaGraphNodeTypeConditional;
            cudaGraphConditionalHandleCreate(&parameters.conditional.handle, graph, 1, cudaGraphCondAssignDefault);
            parameters.conditional.type = cudaGraphCondTypeIf;
            parameters.conditional.size = 1;
        #if CUDART_VERSION >= 13000
            cudaGraphAddNode(&node, graph, before, edges, count, &parameters);
            cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1, cudaStreamSetCaptureDependencies);
        #else
            cudaGraphAddNode(&node, graph, before, count, &parameters);
            cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies);
        #endif
        }
    """,
}
BODIES = {
    "host-function": "LAUNCH(fill, source, output); cudaLaunchHostFunc(stream, [](void *) {}, NULL);",
    "conditional": "LAUNCH(fill, source, output); add_conditional(stream);",
    "child": "parent<<<1, 1, 0, stream>>>(source, output, count);",
    "printf": "LAUNCH(tell, source, output);",
    "malloc": "LAUNCH(allocate, source, output);",
    "pool": r"""
        float *more;
        cudaMallocAsync(&more, 4 * count, stream);
        LAUNCH(fill, source, more);
        cudaMemcpyAsync(output, more, 4 * count, cudaMemcpyDeviceToDevice, stream);
        cudaFreeAsync(more, stream);
    """,
}
HIDDEN = KERNELS["printf"].replace("void tell", "void hidden").replace("__global__", 'extern "C" __global__')


def hide():
    """Returns a custom_kernel whose cubin has no table of calls: its section has another name."""
    folder = tempfile.mkdtemp()
    code, made = os.path.join(folder, "made.cu"), os.path.join(folder, "made.cubin")
    with open(code, "w") as file:
        file.write(device.HEAD + HIDDEN)
    subprocess.run(["nvcc", "-arch=native", "-cubin", "-o", made, code], check=True)
    with open(made, "rb") as file:
        image = file.read().replace(b"\0.nv.callgraph\0", b"\0.nv.callgrapX\0")
    loaded = []

    def custom_kernel(data):
        import torch
        from gpu import check, enqueue

        source, output = data
        if not loaded:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            check("cuModuleLoadData", ctypes.byref(module), image)
            check("cuModuleGetFunction", ctypes.byref(function), module, b"hidden")
            loaded.append(function)
        stream = torch.cuda.current_stream().cuda_stream
        enqueue(loaded[0], source.data_ptr(), output.data_ptr(), source.numel() // 256, 256, stream)
        return output

    return custom_kernel


if HOW == "hidden-printf":
    custom_kernel = hide()
else:
    flags = ("-rdc=true", "-lcudadevrt") if HOW == "child" else ()
    custom_kernel = kernel_of(KERNELS.get(HOW, ""), BODIES, HOW, *flags)
