/* For the task vectoradd_cu and tests/gpu/sealed_judge: the call launches two CUDA graphs. The
 * first call makes the instance of one, whose node each call changes. Each call captures the other
 * and updates its instance. The sealed engine opens both into their nodes. Expected: passed. */
#include "task.h"

__global__ void copy(const __half *a, __half *output, std::size_t count)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count)
		output[i] = a[i];
}

__global__ void add(const __half *b, __half *output, std::size_t count)
{
	std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < count)
		output[i] = __hadd(output[i], b[i]);
}

static cudaStream_t stream = nullptr;

template <class Launch> static cudaGraph_t capture(Launch &&launch)
{
	cudaGraph_t graph;
	if (!stream)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch();
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

output_t custom_kernel(input_t data)
{
	static cudaGraph_t graph = nullptr;
	static cudaGraphExec_t copies = nullptr, adds = nullptr;
	std::size_t count = data.a.size(), nodes = 1;
	unsigned blocks = static_cast<unsigned>((count + 255) / 256);
	const __half *a = data.a.data(), *b = data.b.data();
	__half *output = data.output.data();
	if (!copies) {
		/* It copies b until its node is changed below. */
		graph = capture([&] { copy<<<blocks, 256, 0, stream>>>(b, output, count); });
		CUDA_CHECK(cudaGraphInstantiate(&copies, graph, 0));
	}
	cudaGraphNode_t node;
	cudaKernelNodeParams launch = {};
	void *parameters[] = { &a, &output, &count };
	CUDA_CHECK(cudaGraphGetNodes(graph, &node, &nodes));
	CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &launch));
	launch.gridDim = blocks;
	launch.kernelParams = parameters;
	launch.extra = nullptr;
	CUDA_CHECK(cudaGraphExecKernelNodeSetParams(copies, node, &launch));

	cudaGraph_t other = capture([&] { add<<<blocks, 256, 0, stream>>>(b, output, count); });
	cudaGraphExecUpdateResultInfo result;
	if (!adds)
		CUDA_CHECK(cudaGraphInstantiate(&adds, other, 0));
	else
		CUDA_CHECK(cudaGraphExecUpdate(adds, other, &result));
	CUDA_CHECK(cudaGraphDestroy(other));
	CUDA_CHECK(cudaGraphLaunch(copies, nullptr));
	CUDA_CHECK(cudaGraphLaunch(adds, nullptr));
	return data.output;
}
