"""CUDA C++ for attacks on the engine sealed. A copy of this file is next to each submission.

tests/harness/sealed_attacks.test.py replaces build(), so that it can compile all attacks without a
GPU. So a submission may not use the GPU while it is imported."""

import ctypes
import os
import subprocess
import tempfile

HEAD = r"""
#include <cooperative_groups.h>
#include <cstdio>
#define LAUNCH(kernel, ...) kernel<<<count / 256, 256, 0, stream>>>(__VA_ARGS__)

// The input's place and the arena, as harness/sealed/range.h and podium_sealed_built.py have them.
// The input's place has 2 MiB. The judge does not write behind the input in it.
enum : unsigned long long {
	INPUT = 0x650000000000,
	PADDING = INPUT + (2 << 20) - 64,
	ARENA = INPUT + (64ull << 30),
	ARENA_END = ARENA + (1ull << 30),  // of the builder
	ARENA_LEAST_END = ARENA + (2ull << 20),  // of a launcher whose plan needs little
};

__device__ long at() { return blockIdx.x * (long)blockDim.x + threadIdx.x; }
__device__ float answer(float one) { return one * 3 + 1; }
__device__ long long now()
{
	long long time;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
	return time;
}
__device__ void spin(long long ns)
{
	for (long long end = now() + ns; now() < end;)
		;
}
__global__ void fill(const float *source, float *output) { output[at()] = answer(source[at()]); }
__global__ void nothing() {}
"""
GO = """
extern "C" void go(const float *source, float *output, unsigned *scratch, long count, int call,
	cudaStream_t stream)
"""


def build(text, flags):
	"""Returns the library that nvcc makes."""
	folder = tempfile.mkdtemp()
	code, made = os.path.join(folder, "made.cu"), os.path.join(folder, "made.so")
	with open(code, "w") as file:
		file.write(text)
	subprocess.run(
		["nvcc", "-arch=native", "-shared", "-Xcompiler", "-fPIC", *flags, "-o", made, code],
		check=True,
	)
	return ctypes.CDLL(made)


def compile_cuda(kernels, body, *flags):
	"""Returns a function go(source, output, scratch, call), which runs `body` on the current
	stream. `scratch`: a tensor or None. `call`: its number; the third call is captured."""
	library = build(f"{HEAD}{kernels}{GO}{{\n{body}\n}}\n", flags)

	def go(source, output, scratch, call):
		import torch

		library.go(
			ctypes.c_void_p(source.data_ptr()),
			ctypes.c_void_p(output.data_ptr()),
			ctypes.c_void_p(scratch.data_ptr() if scratch is not None else None),
			ctypes.c_long(source.numel()),
			ctypes.c_int(call),
			ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
		)

	return go


def kernel_of(kernels, bodies, variant, *flags):
	"""Returns a custom_kernel(data) for the task fill_py, which runs the body of the variant."""
	go, calls, scratch = compile_cuda(kernels, bodies[variant], *flags), [], []

	def custom_kernel(data):
		source, output = data
		if not scratch:
			scratch.append(source.new_zeros(1 << 20))
		calls.append(None)
		go(source, output, scratch[0], len(calls))
		return output

	return custom_kernel
