"""Submissions for tests/gpu/sealed: what a plan can hold, and what the build must refuse."""

from dataclasses import dataclass


@dataclass
class Sample:
	"""`inputs`: (shape, dtype) of each tensor of the data. `is_refused`: whether no plan can hold
	the call. `refusal`: words of the sentence with which the build must refuse it, "" for any.
	`is_close`: why the outputs of two runs differ by rounding, "" if they do not."""

	text: str
	inputs: tuple
	is_refused: bool = False
	refusal: str = ""
	is_close: str = ""


VECTOR = (((1 << 20,), "float32"),)
MATRICES = (((1024, 1024), "float16"), ((1024, 1024), "float16"))
TRITON = "import torch, triton, triton.language as tl\n"

# Compiles CUDA C++ once and calls go(x, out, count, stream) in it.
CUDA = """
import ctypes, hashlib, os, subprocess, torch

def compile_cuda(source, *flags):
	name = hashlib.sha256(repr((source, flags)).encode()).hexdigest()[:16]
	path = os.path.join(os.environ["SEALED_CACHE"], name)
	if not os.path.exists(path + ".so"):
		made = f"{path}.{os.getpid()}"
		with open(made + ".cu", "w") as file:
			file.write(source)
		subprocess.run(["nvcc", "-arch=native", "-shared", "-Xcompiler", "-fPIC", *flags,
			"-o", made + ".so", made + ".cu"], check=True)
		os.rename(made + ".so", path + ".so")
	return ctypes.CDLL(path + ".so")

def custom_kernel(data):
	x = data[0]
	out = torch.empty_like(x)
	stream = torch.cuda.current_stream().cuda_stream
	LIBRARY.go(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()),
		ctypes.c_long(x.numel()), ctypes.c_void_p(stream))
	return out
"""
HEAD = """
#include <cooperative_groups.h>
#include <cstdio>
namespace groups = cooperative_groups;
__device__ long index() { return blockIdx.x * (long)blockDim.x + threadIdx.x; }
__global__ void scale(const float *x, float *out, float by) { out[index()] = x[index()] * by; }
"""
GO = 'extern "C" void go(const float *x, float *out, long count, cudaStream_t stream)\n'


def cuda(kernels, body, *flags, inputs=VECTOR, **more):
	source = f"{HEAD}{kernels}\n{GO}{{\n{body}\n}}\n"
	return Sample(f"{CUDA}\nLIBRARY = compile_cuda({source!r}, *{flags!r})\n", inputs, **more)


def refuse(refusal, kernels, body, *flags):
	return cuda(kernels, body, *flags, is_refused=True, refusal=refusal)


def plain(body, inputs=VECTOR, before="", **more):
	"""A submission with torch alone."""
	return Sample(f"import torch\n{before}\ndef custom_kernel(data):\n{body}\n", inputs, **more)


TRITON_ADD = """
@triton.jit
def add(a, b, out, count, BLOCK: tl.constexpr):
	at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
	mask = at < count
	tl.store(out + at, tl.load(a + at, mask) + tl.load(b + at, mask), mask)

def launch_add(a, b, block=1024):
	out = torch.empty_like(a)
	add[(triton.cdiv(a.numel(), block),)](a, b, out, a.numel(), BLOCK=block)
	return out
"""
TRITON_SOFTMAX = """
@triton.jit
def softmax(x, out, WIDTH: tl.constexpr):
	at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
	value = tl.load(x + at)
	value = tl.exp(value - tl.max(value, 0))
	tl.store(out + at, value / tl.sum(value, 0))

def custom_kernel(data):
	out = torch.empty_like(data[0])
	softmax[(data[0].shape[0],)](data[0], out, WIDTH=data[0].shape[1])
	return out
"""
TRITON_TUNED = """
@triton.autotune([triton.Config({"M": m, "N": 64, "K": k}) for m in (64, 128) for k in (32, 64)],
	key=["size"])
@triton.jit
def multiply(a, b, out, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
	rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
	columns = tl.program_id(1) * N + tl.arange(0, N)[None, :]
	total = tl.zeros((M, N), tl.float32)
	for first in range(0, size, K):
		inner = first + tl.arange(0, K)
		total = tl.dot(tl.load(a + rows * size + inner[None, :]),
			tl.load(b + inner[:, None] * size + columns), total)
	tl.store(out + rows * size + columns, total.to(tl.float16))

def custom_kernel(data):
	out, size = torch.empty_like(data[0]), data[0].shape[0]
	multiply[lambda meta: (size // meta["M"], size // meta["N"])](data[0], data[1], out, size)
	return out
"""
TRITON_TMA = """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def multiply(a, b, out, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
	row, column = tl.program_id(0) * M, tl.program_id(1) * N
	total = tl.zeros((M, N), tl.float32)
	for first in range(0, size, K):
		total = tl.dot(a.load([row, first]), b.load([first, column]), total)
	out.store([row, column], total.to(tl.float16))

def custom_kernel(data):
	out, size = torch.empty_like(data[0]), data[0].shape[0]
	tensors = zip((*data, out), ([128, 64], [64, 128], [128, 128]))
	multiply[(size // 128, size // 128)](
		*[TensorDescriptor.from_tensor(*one) for one in tensors], size, 128, 128, 64, num_warps=8)
	return out
"""
TWO_SPECIALIZATIONS = """
def custom_kernel(data):
	return launch_add(launch_add(data[0], data[1], 512), data[1], 2048)
"""
TWO_STREAMS = """
SIDE = torch.cuda.Stream()

def custom_kernel(data):
	begun, ended = torch.cuda.Event(), torch.cuda.Event()
	begun.record()
	SIDE.wait_event(begun)
	with torch.cuda.stream(SIDE):
		left = launch_add(data[0], data[1])
		ended.record()
	right = launch_add(data[1], data[1])
	torch.cuda.current_stream().wait_event(ended)
	return launch_add(left, right)
"""
# A torch extension, as most submissions in CUDA C++ are.
INLINE = '''
import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <ATen/cuda/CUDAContext.h>
__global__ void accumulate(const float *x, float *out)
{ out[blockIdx.x * 256 + threadIdx.x] += 2 * x[blockIdx.x * 256 + threadIdx.x]; }
__global__ void square(float *out)
{ float *one = out + blockIdx.x * 256 + threadIdx.x; *one = *one * *one; }
torch::Tensor go(torch::Tensor x)
{
	auto out = torch::empty_like(x);
	cudaStream_t stream = @STREAM@;
	cudaMemsetAsync(out.data_ptr(), 0, out.nbytes(), stream);
	accumulate<<<x.numel() / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>());
	square<<<x.numel() / 256, 256, 0, stream>>>(out.data_ptr<float>());
	return out;
}
"""
MODULE = load_inline("@NAME@", "torch::Tensor go(torch::Tensor x);", CODE, functions=["go"])

def custom_kernel(data):
	return MODULE.go(data[0])
'''


def inline(name, stream, **more):
	return Sample(INLINE.replace("@NAME@", name).replace("@STREAM@", stream), VECTOR, **more)


NVRTC = '''
import torch

CODE = """extern "C" __global__ void triple(const float *x, float *out, int count)
{ int i = blockIdx.x * 256 + threadIdx.x; if (i < count) out[i] = 3 * x[i]; }"""
KERNEL = torch.cuda._compile_kernel(CODE, "triple")

def custom_kernel(data):
	out, count = torch.empty_like(data[0]), data[0].numel()
	KERNEL(grid=(count // 256, 1, 1), block=(256, 1, 1), args=[data[0], out, count])
	return out
'''
CACHED = """
TABLE = {}
"""
CACHED_BODY = """
	count = data[0].numel()
	if count not in TABLE:
		TABLE[count] = torch.linspace(0, 1, count, device="cuda")
	return data[0] * TABLE[count]
"""
CLUSTER = """
__global__ void __cluster_dims__(2, 1, 1) swap(const float *x, float *out)
{
	__shared__ float mine[256];
	groups::cluster_group cluster = groups::this_cluster();
	mine[threadIdx.x] = x[index()];
	cluster.sync();
	out[index()] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
	cluster.sync();
	cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void increment(float *out) { cudaGridDependencySynchronize(); out[index()] += 1; }
"""
CLUSTER_BODY = """
	swap<<<count / 256, 256, 0, stream>>>(x, out);
	cudaLaunchAttribute early = {};
	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t config = {};
	config.gridDim = count / 256;
	config.blockDim = 256;
	config.stream = stream;
	config.attrs = &early;
	config.numAttrs = 1;
	cudaLaunchKernelEx(&config, increment, out);
"""
COOPERATIVE = """
__global__ void reverse(const float *x, float *out, long count)
{
	for (long i = index(); i < count; i += 128 * 256)
		out[i] = x[i] * 2;
	groups::this_grid().sync();
	for (long i = index(); i < count / 2; i += 128 * 256) {
		float other = out[count - 1 - i];
		out[count - 1 - i] = out[i];
		out[i] = other;
	}
}
"""
COOPERATIVE_BODY = """
	void *parameters[] = { &x, &out, &count };
	cudaLaunchCooperativeKernel((void *)reverse, dim3(128), dim3(256), parameters, 0, stream);
"""
CONSTANT = """
__constant__ float weights[2];
__global__ void weigh(const float *x, float *out)
{ out[index()] = x[index()] * weights[index() & 1]; }
"""
CONSTANT_BODY = """
	static bool is_set;
	const float values[2] = { 3, 5 };
	if (!is_set)
		cudaMemcpyToSymbol(weights, values, sizeof values);
	is_set = true;
	weigh<<<count / 256, 256, 0, stream>>>(x, out);
"""
STATE = """
__device__ float gain;
__global__ void set() { gain = 7; }
__global__ void apply(const float *x, float *out) { out[index()] = x[index()] * gain; }
"""
STATE_BODY = """
	static bool is_set;
	if (!is_set)
		set<<<1, 1, 0, stream>>>();
	is_set = true;
	apply<<<count / 256, 256, 0, stream>>>(x, out);
"""
PERSISTENT = """
__device__ unsigned next_tile;
__global__ void work(const float *x, float *out, unsigned tiles)
{
	__shared__ unsigned tile;
	for (;;) {
		if (threadIdx.x == 0)
			tile = atomicAdd(&next_tile, 1);
		__syncthreads();
		unsigned mine = tile;
		__syncthreads();
		if (mine >= tiles)
			break;
		out[mine * 256 + threadIdx.x] = x[mine * 256 + threadIdx.x] * 4;
	}
	if (threadIdx.x == 0 && atomicAdd(&next_tile, 1) == tiles + 2 * gridDim.x - 1)
		next_tile = 0;
}
"""
SHARED = """
__global__ void stage(const float *x, float *out)
{
	extern __shared__ float tile[];
	for (int i = threadIdx.x; i < 50 * 1024; i += 1024)
		tile[i] = x[(blockIdx.x * 1024 + i) % (1 << 20)];
	__syncthreads();
	out[blockIdx.x * 1024 + threadIdx.x] = tile[threadIdx.x] + tile[50 * 1024 - 1 - threadIdx.x];
}
"""
SHARED_BODY = """
	cudaFuncSetAttribute(stage, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
	stage<<<count / 1024, 1024, 200 << 10, stream>>>(x, out);
"""
# As CUTLASS multiplies on Ampere: four stages of tiles, which cp.async fills ahead of their use.
PIPELINE = """
#include <cuda_pipeline.h>
constexpr int SIZE = 1024, TILE = 64, DEPTH = 32, STAGES = 4, STEPS = SIZE / DEPTH;
struct Stage { float a[TILE][DEPTH], b[DEPTH][TILE]; };
__device__ void fetch(Stage &stage, const float *x, int row, int column, int k)
{
	for (int i = threadIdx.x * 4; i < TILE * DEPTH; i += 1024) {
		const float *a = x + (row + i / DEPTH) * SIZE + k + i % DEPTH;
		const float *b = x + (k + i / TILE) * SIZE + column + i % TILE;
		__pipeline_memcpy_async(&stage.a[i / DEPTH][i % DEPTH], a, 16);
		__pipeline_memcpy_async(&stage.b[i / TILE][i % TILE], b, 16);
	}
}
__global__ void multiply(const float *x, float *out)
{
	extern __shared__ __align__(16) Stage stages[];
	const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
	const int r = threadIdx.x / 16 * 4, c = threadIdx.x % 16 * 4;
	float sums[4][4] = {};
	for (int step = 0; step < STAGES - 1; step++) {
		fetch(stages[step], x, row, column, step * DEPTH);
		__pipeline_commit();
	}
	for (int step = 0; step < STEPS; step++) {
		__pipeline_wait_prior(STAGES - 2);
		__syncthreads();
		const int next = step + STAGES - 1;
		if (next < STEPS)
			fetch(stages[next % STAGES], x, row, column, next * DEPTH);
		__pipeline_commit();
		const Stage &now = stages[step % STAGES];
		for (int k = 0; k < DEPTH; k++)
			for (int i = 0; i < 16; i++)
				sums[i / 4][i % 4] += now.a[r + i / 4][k] * now.b[k][c + i % 4];
	}
	for (int i = 0; i < 16; i++)
		out[(row + r + i / 4) * SIZE + column + c + i % 4] = sums[i / 4][i % 4];
}
"""
PIPELINE_BODY = """
	const int bytes = STAGES * sizeof(Stage);
	cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	multiply<<<dim3(SIZE / TILE, SIZE / TILE), 256, bytes, stream>>>(x, out);
"""
# As CUTLASS loads on Hopper: TMA fills four stages, and each has a barrier that counts its bytes.
TMA = """
#include <cuda.h>
#include <dlfcn.h>
constexpr int SIZE = 1024, TILE = 64, STAGES = 4, STEPS = SIZE / TILE;
struct Room { float tiles[STAGES][TILE][TILE]; unsigned long long full[STAGES]; };
__device__ unsigned shared(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
__device__ void fetch(Room &room, const CUtensorMap &map, int row, int step)
{
	const unsigned full = shared(&room.full[step % STAGES]);
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		:: "r"(full), "r"((unsigned)sizeof room.tiles[0]) : "memory");
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
		" [%0], [%1, {%2, %3}], [%4];" :: "r"(shared(room.tiles[step % STAGES])),
		"l"(&map), "r"(step * TILE), "r"(row), "r"(full) : "memory");
}
__device__ void wait(const unsigned long long &full, unsigned parity)
{
	for (unsigned is_full = 0; !is_full;)
		asm volatile("{ .reg .pred full; mbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;"
			" selp.u32 %0, 1, 0, full; }" : "=r"(is_full) : "r"(shared(&full)), "r"(parity)
			: "memory");
}
__global__ void double_tiles(const __grid_constant__ CUtensorMap map, float *out)
{
	extern __shared__ __align__(128) char memory[];
	Room &room = *(Room *)memory;
	const int row = blockIdx.x * TILE;
	if (threadIdx.x == 0) {
		for (int stage = 0; stage < STAGES; stage++)
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&room.full[stage]))
				: "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		for (int step = 0; step < STAGES; step++)
			fetch(room, map, row, step);
	}
	__syncthreads();
	for (int step = 0; step < STEPS; step++) {
		wait(room.full[step % STAGES], step / STAGES % 2);
		for (int i = threadIdx.x; i < TILE * TILE; i += 256)
			out[(row + i / TILE) * SIZE + step * TILE + i % TILE] =
				2 * room.tiles[step % STAGES][i / TILE][i % TILE];
		__syncthreads();
		if (threadIdx.x == 0 && step + STAGES < STEPS)
			fetch(room, map, row, step + STAGES);
	}
}
"""
TMA_BODY = """
	static auto encode = (decltype(&cuTensorMapEncodeTiled))dlsym(
		dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled");
	CUtensorMap map;
	const cuuint64_t sizes[] = { SIZE, SIZE }, pitch[] = { SIZE * sizeof(float) };
	const cuuint32_t box[] = { TILE, TILE }, step[] = { 1, 1 };
	encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)x, sizes, pitch, box, step,
		CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	const int bytes = sizeof(Room);
	cudaFuncSetAttribute(double_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	double_tiles<<<SIZE / TILE, 256, bytes, stream>>>(map, out);
"""
COUNTED = """
__global__ void scale_by(const float *x, float *out, int call)
{ out[index()] = x[index()] * (call ? 2 : 3); }
"""
# Padding that differs from call to call, as that of structures on the stack may.
PADDED = """
struct Padded { char by; long count; };
__global__ void scale_by(const float *x, float *out, Padded padded)
{ if (index() < padded.count) out[index()] = x[index()] * padded.by; }
"""
PADDED_BODY = """
	static char call;
	Padded padded;
	memset(&padded, ++call, sizeof padded);
	padded.by = 5;
	padded.count = count;
	scale_by<<<count / 256, 256, 0, stream>>>(x, out, padded);
"""
PRINTING = """
__global__ void tell(const float *x, float *out)
{ out[index()] = x[index()]; if (x[index()] > 2) printf("%f\\n", x[index()]); }
"""
ALLOCATING = """
__global__ void copy(const float *x, float *out)
{
	float *mine = (float *)malloc(16);
	if (mine)
		mine[0] = x[index()];
	out[index()] = mine ? mine[0] : 0;
	free(mine);
}
"""
PARENT = """
__global__ void child(const float *x, float *out) { out[index()] = x[index()] + 4; }
__global__ void parent(const float *x, float *out, long count)
{ child<<<count / 256, 256>>>(x, out); }
"""
TEXTURE = """
__global__ void fetch(cudaTextureObject_t texture, float *out)
{ out[index()] = tex1Dfetch<float>(texture, (int)index()); }
"""
TEXTURE_BODY = """
	static cudaTextureObject_t texture;
	if (!texture) {
		cudaResourceDesc resource = {};
		resource.resType = cudaResourceTypeLinear;
		resource.res.linear.devPtr = (void *)x;
		resource.res.linear.desc = cudaCreateChannelDesc<float>();
		resource.res.linear.sizeInBytes = 4 * count;
		cudaTextureDesc description = {};
		cudaCreateTextureObject(&texture, &resource, &description, 0);
	}
	fetch<<<count / 256, 256, 0, stream>>>(texture, out);
"""
SURFACE = """
__global__ void write(const float *x, float *out, cudaSurfaceObject_t surface)
{ surf1Dwrite(x[index()], surface, threadIdx.x * 4); out[index()] = x[index()]; }
"""
SURFACE_BODY = """
	static cudaSurfaceObject_t surface;
	if (!surface) {
		cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
		cudaResourceDesc resource = {};
		resource.resType = cudaResourceTypeArray;
		cudaMallocArray(&resource.res.array.array, &channel, 256, 0, cudaArraySurfaceLoadStore);
		cudaCreateSurfaceObject(&surface, &resource);
	}
	write<<<count / 256, 256, 0, stream>>>(x, out, surface);
"""
SCALE = "scale<<<count / 256, 256, 0, stream>>>(x, out, 2);"


def keep(allocate):
	"""Copies the input through memory that the first call allocates with this code."""
	return f"""
	static float *kept;
	if (!kept)
		{allocate}
	scale<<<count / 256, 256, 0, stream>>>(x, kept, 3);
	scale<<<count / 256, 256, 0, stream>>>(kept, out, 2);
"""


SAMPLES = {
	"triton add": Sample(
		TRITON + TRITON_ADD + "\ndef custom_kernel(data): return launch_add(*data)\n", VECTOR * 2
	),
	"triton softmax": Sample(TRITON + TRITON_SOFTMAX, (((4096, 1024), "float32"),)),
	"triton autotuned": Sample(
		TRITON + TRITON_TUNED, MATRICES, is_close="each process tunes by itself"
	),
	"triton TMA": Sample(TRITON + TRITON_TMA, MATRICES),
	"two specializations": Sample(TRITON + TRITON_ADD + TWO_SPECIALIZATIONS, VECTOR * 2),
	"two streams": Sample(TRITON + TRITON_ADD + TWO_STREAMS, VECTOR * 2),
	"load_inline": inline("sealed_inline", "at::cuda::getCurrentCUDAStream()"),
	"cluster, early launch": cuda(CLUSTER, CLUSTER_BODY),
	"cooperative": cuda(COOPERATIVE, COOPERATIVE_BODY),
	"NVRTC": Sample(NVRTC, VECTOR),
	"mm fp16": plain("\treturn torch.mm(data[0], data[1])", MATRICES),
	"mm fp32": plain("\treturn torch.mm(*data)", (((512, 512), "float32"),) * 2),
	"conv2d": plain(
		"\treturn torch.nn.functional.conv2d(data[0], data[1], padding=1)",
		(((16, 64, 56, 56), "float16"), ((64, 64, 3, 3), "float16")),
	),
	"attention": plain(
		"\treturn torch.nn.functional.scaled_dot_product_attention(data[0], data[0], data[0])",
		(((4, 8, 1024, 64), "float16"),),
	),
	"softmax and sort": plain(
		"\treturn torch.softmax(data[0], -1) + data[0].sort(-1)[0]", (((256, 4096), "float32"),)
	),
	"torch.compile": plain(
		"\treturn FUSED(data[0])",
		before="FUSED = torch.compile(lambda x: torch.nn.functional.gelu(x) * torch.sigmoid(x))\n",
		is_close="the compiled kernel may be another",
	),
	"cached table": plain(CACHED_BODY, before=CACHED),
	"output in the input": plain(
		"\ttorch.mul(data[0], 2, out=data[1])\n\treturn data[1], data[1][::2]", VECTOR * 2
	),
	"__constant__": cuda(CONSTANT, CONSTANT_BODY),
	"__device__ state": cuda(STATE, STATE_BODY),
	"persistent": cuda(PERSISTENT, "work<<<132, 256, 0, stream>>>(x, out, count / 256);"),
	"200 nodes": plain(
		"\tout = data[0]\n\tfor _ in range(200):\n\t\tout = out * 1.001\n\treturn out",
		(((1 << 14,), "float32"),),
	),
	"200 KB shared": cuda(SHARED, SHARED_BODY),
	"pipeline of cp.async": cuda(PIPELINE, PIPELINE_BODY),
	"pipeline of TMA": cuda(TMA, TMA_BODY),
	"padding that differs": cuda("#include <cstring>\n" + PADDED, PADDED_BODY),
	"outputs in turns": plain(
		"\tBUFFERS.reverse()\n\treturn torch.mul(data[0], 2, out=BUFFERS[0])",
		before="BUFFERS = [torch.empty(1 << 20, device='cuda') for _ in range(2)]\n",
	),
	"counter as a parameter": refuse(
		"gets 0x4 as parameter 2, and got 0x3 in the call before",
		COUNTED,
		"static int call; scale_by<<<count / 256, 256, 0, stream>>>(x, out, ++call);",
	),
	"grid that differs": refuse(
		"has a grid of 4 x 1 x 1, and had one of 3 x 1 x 1 in the call before",
		COUNTED,
		"static int call; scale_by<<<++call, 256, 0, stream>>>(x, out, 1);",
	),
	"waits": plain(
		"\tout = data[0] * 2\n\ttorch.cuda.synchronize()\n"
		"\ttorch.cuda.current_stream().synchronize()\n\treturn out"
	),
	".item()": plain("\treturn data[0] * data[0].sum().item()", is_refused=True),
	".cpu()": plain("\treturn data[0] * data[0].cpu().sum()", is_refused=True),
	"constant": plain(
		'\treturn data[0] * torch.tensor([2.0, 3.0], device="cuda").repeat(len(data[0]) // 2)'
	),
	"constants": plain(
		"\tones = torch.ones(2, 2).cuda()\n\tones.copy_(torch.tensor([5.0, 7.0]))"
		"\n\tones[torch.tensor([1])] = 2.0\n\treturn data[0] * ones.sum()"
	),
	"varying constant": plain(
		'\tCALLS.append(1)\n\treturn data[0] * torch.tensor([len(CALLS)], device="cuda")',
		before="CALLS = []\n",
		is_refused=True,
		refusal="other data",
	),
	"graph of its own": plain(
		"""	if not KEPT:
		out, graph = torch.empty_like(data[0]), torch.cuda.CUDAGraph()
		with torch.cuda.graph(graph):
			torch.mul(data[0], 3, out=out)
			out.add_(1)
		KEPT.extend((graph, out))
	KEPT[0].replay()
	return KEPT[1] * 2""",
		before="KEPT = []\n",
	),
	"bincount": plain("\treturn torch.bincount((data[0] * 10 + 20).int())", is_refused=True),
	"eigh": plain(
		"\treturn torch.linalg.eigh(data[0] + data[0].T)[0]",
		(((64, 64), "float32"),),
		is_refused=True,
	),
	"default stream": inline("sealed_default", "0", is_refused=True),
	"printf": refuse("calls vprintf", PRINTING, "tell<<<count / 256, 256, 0, stream>>>(x, out);"),
	"device malloc": refuse(
		"may not print, allocate memory",
		ALLOCATING,
		"copy<<<count / 256, 256, 0, stream>>>(x, out);",
	),
	"host function": cuda(
		"", SCALE + "cudaLaunchHostFunc(stream, [](void *) {}, 0);", is_refused=True
	),
	"cudaMallocAsync": cuda(
		"",
		"float *more; cudaMallocAsync(&more, 4 * count, stream);"
		"scale<<<count / 256, 256, 0, stream>>>(x, more, 2);"
		"scale<<<count / 256, 256, 0, stream>>>(more, out, 2); cudaFreeAsync(more, stream);",
		is_refused=True,
	),
	"pinned copy": plain(
		"\tout = data[0] * 2\n\tout[:8].copy_(PINNED, non_blocking=True)\n\treturn out",
		before="PINNED = torch.ones(8).pin_memory()\n",
	),
	"random": plain("\treturn data[0] + torch.rand_like(data[0])", is_refused=True),
	"managed memory": refuse(
		"gets a pointer to managed memory", "", keep("cudaMallocManaged(&kept, 4 * count);")
	),
	"pinned memory": refuse(
		"gets a pointer to memory on the host", "", keep("cudaMallocHost(&kept, 4 * count);")
	),
	"own cudaMalloc": refuse(
		"gets a pointer to memory on the GPU that torch did not allocate",
		"",
		keep("cudaMalloc(&kept, 4 * count);"),
	),
	"memset of own cudaMalloc": refuse(
		"sets memory on the GPU that torch did not allocate",
		"",
		"static float *kept; if (!kept) cudaMalloc(&kept, 4 * count);"
		"cudaMemsetAsync(kept, 0, 4 * count, stream);" + SCALE,
	),
	"address of a variable": refuse(
		"gets a pointer to the variable kept_all",
		"__device__ float kept_all[1 << 20];",
		keep("cudaGetSymbolAddress((void **)&kept, kept_all);"),
	),
	"texture": refuse("made a texture", TEXTURE, TEXTURE_BODY),
	"surface": refuse("made a surface", SURFACE, SURFACE_BODY),
	"kernels that launch": refuse(
		"or launch kernels on the GPU",
		PARENT,
		"parent<<<1, 1, 0, stream>>>(x, out, count);",
		"-rdc=true",
		"-lcudadevrt",
	),
	"output on the CPU": plain("\treturn torch.zeros(3)", is_refused=True),
}
