/* For the task vectoradd_cu and tests/gpu/sealed_judge: each call captures a graph of its own on
 * another stream, updates or makes an instance, changes a node, and launches the instance. The
 * sealed engine opens the graph into its nodes. Expected: passed. */
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

output_t custom_kernel(input_t data)
{
	static cudaStream_t stream = nullptr;
	static cudaGraphExec_t instance = nullptr;
	std::size_t count = data.a.size(), nodes = 1;
	unsigned blocks = static_cast<unsigned>((count + 255) / 256);
	cudaGraph_t graph;
	cudaGraphNode_t first;
	if (!stream)
		CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	/* The first kernel copies b, until its node is changed below. */
	copy<<<blocks, 256, 0, stream>>>(data.b.data(), data.output.data(), count);
	add<<<blocks, 256, 0, stream>>>(data.b.data(), data.output.data(), count);
	CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
	cudaGraphExecUpdateResultInfo result;
	if (!instance || cudaGraphExecUpdate(instance, graph, &result) != cudaSuccess)
		CUDA_CHECK(cudaGraphInstantiate(&instance, graph, 0));
	CUDA_CHECK(cudaGraphGetRootNodes(graph, &first, &nodes));
	cudaKernelNodeParams launch = {};
	CUDA_CHECK(cudaGraphKernelNodeGetParams(first, &launch));
	const __half *a = data.a.data();
	__half *output = data.output.data();
	void *parameters[] = { &a, &output, &count };
	launch.kernelParams = parameters;
	launch.extra = nullptr;
	CUDA_CHECK(cudaGraphExecKernelNodeSetParams(instance, first, &launch));
	CUDA_CHECK(cudaGraphLaunch(instance, nullptr));
	CUDA_CHECK(cudaGraphDestroy(graph));
	return data.output;
}
