#!/usr/bin/env python3
"""What the sealed engine reads in cubins of nvcc: variables, and calls of the driver's functions.
Damaged cubins must not be read past their end."""

import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import contains, equal, lacks, run, test  # noqa: E402
from tools import nvcc_lack, system_nvcc  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(FOLDER.name)

# Prints the variables of a cubin, and for each further argument what the kernel of that name calls.
READER = r"""
#include "harness/sealed/cubin.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
	FILE *file = fopen(arguments[1], "rb");
	struct cubin cubin;
	struct cubin_variable variable;
	char *bytes = malloc(1 << 20);
	const size_t length = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	bytes = realloc(bytes, length); /* so that ASan sees a read past the end */
	const bool is_cubin = cubin_open(&cubin, bytes, length);
	if (!is_cubin)
		puts("no cubin");
	else if (!cubin_names_all_bytes(&cubin))
		puts("bytes without a name");
	for (uint64_t next = 0; is_cubin && cubin_next_variable(&cubin, &next, &variable);)
		printf("%s %llu%s\n", variable.name, (unsigned long long)variable.bytes,
			variable.is_managed ? " managed" : "");
	for (int i = 2; i < count && is_cubin; i++) {
		const char *found;
		if (!cubin_find_refused_call(&cubin, arguments[i], &found))
			found = "?";
		printf("%s: %s\n", arguments[i], found ? found : "nothing");
	}
	free(bytes);
}
"""

KERNELS = r"""
#include <cassert>
#include <cstdio>
__device__ float gain = 3;
__device__ int table[16];
__constant__ float weights[4];
__device__ __managed__ int both;
__device__ __noinline__ void tell(int i) { printf("%d\n", i); }
__device__ __noinline__ int deep(int *x) { return ++x[0]; }
extern "C" __global__ void plain(float *x)
{
	x[threadIdx.x] *= gain + weights[threadIdx.x & 3] + table[threadIdx.x] + both;
}
extern "C" __global__ void prints(int *x) { tell(deep(x)); }
extern "C" __global__ void allocates(int **x) { x[0] = (int *)malloc(4); }
extern "C" __global__ void calls(int *x) { x[2] = deep(x); }
extern "C" __global__ void asserts(int *x) { assert(x[0] != 77); }
"""
# Variables in all places where C++ allows them. A kernel can write even to a string literal.
VARIABLES = r"""
#include <cassert>
static __device__ char one = 1;
__device__ double table[3];
namespace { __device__ alignas(64) float aligned[3] = { 1, 2, 3 }; }
static __constant__ short fixed[3] = { 1 };
template <int N> __device__ int made = N;
__device__ __noinline__ int count(int i) { static int calls[3]; return calls[i]++; }
extern "C" __global__ void keep(float *x, char **text)
{
	static unsigned calls = 5;
	static const int primes[] = { 2, 3, 5, 7 };
	char *word = (char *)(x[0] > 1 ? "first" : "second one");
	*(volatile char *)word = 'x';
	text[0] = word;
	assert(x[1] != 3);
	x[threadIdx.x] += one + table[threadIdx.x] + aligned[threadIdx.x] + fixed[threadIdx.x]
		+ made<7> + count(threadIdx.x) + primes[threadIdx.x] + calls++;
}
"""
# Two files whose device code is linked, so that the compiler cannot inline the functions between a
# kernel and printf.
FAR = r"""
__device__ int outside(int);
extern "C" __global__ void far(int *x) { x[0] = outside(x[0]); }
extern "C" __global__ void near(int *x) { x[0]++; }
"""
OUTSIDE = r"""
#include <cstdio>
__device__ __noinline__ int deeper(int i) { printf("%d\n", i); return i; }
__device__ int outside(int i) { return deeper(i) + 1; }
"""


def nvcc(*words):
	subprocess.run([system_nvcc(), "-std=c++17", "-arch=sm_90", *words], cwd=WORK, check=True)


def build():
	for name, text in (
		("read.c", READER),
		("kernels.cu", KERNELS),
		("variables.cu", VARIABLES),
		("far.cu", FAR),
		("outside.cu", OUTSIDE),
	):
		(WORK / name).write_text(text)
	subprocess.run(
		[
			*(os.environ.get("CC", "cc"), "-std=c17", "-D_GNU_SOURCE", "-g", f"-I{ROOT}"),
			"-fsanitize=address,undefined",
			"-fno-sanitize-recover=undefined",
			*("-o", "read", "read.c", ROOT / "harness" / "sealed" / "cubin.c"),
		],
		cwd=WORK,
		check=True,
	)
	nvcc("-cubin", "-o", "kernels.cubin", "kernels.cu")
	nvcc("-cubin", "-o", "variables.cubin", "variables.cu")
	nvcc("-rdc=true", "-c", "far.cu")
	nvcc("-rdc=true", "-c", "outside.cu")
	nvcc("-dlink", "-cubin", "-o", "linked.cubin", "far.o", "outside.o")


def read(file, *kernels):
	done = subprocess.run([WORK / "read", file, *kernels], cwd=WORK, capture_output=True, text=True)
	equal((done.stderr, done.returncode), ("", 0))
	return done.stdout.splitlines()


@test
def all_variables_are_found():
	found = [line for line in read("kernels.cubin") if not line.startswith(("$str", "__unnamed"))]
	equal(sorted(found), ["both 4 managed", "gain 4", "table 64", "weights 16"])


def sections_of(image):
	"""[(name, offset, bytes)] of the sections of a cubin."""
	table, (count, names) = (
		struct.unpack_from("<Q", image, 40)[0],
		struct.unpack_from("<HH", image, 60),
	)
	heads = [struct.unpack_from("<IIQQQQ", image, table + 64 * i) for i in range(count)]
	texts = image[heads[names][4] :]
	return [(texts[head[0] :].split(b"\0")[0].decode(), head[4], head[5]) for head in heads]


def without_symbols_in(image, section):
	"""Makes the symbols of a section symbols of none."""
	sections, stripped = sections_of(image), bytearray(image)
	number = [name for name, _, _ in sections].index(section)
	offset, count = next(one[1:] for one in sections if one[0] == ".symtab")
	for at in range(offset, offset + count, 24):
		if struct.unpack_from("<H", image, at + 6)[0] == number:
			struct.pack_into("<H", stripped, at + 6, 0)
	return bytes(stripped)


@test
def nvcc_names_each_byte_of_the_variables():
	for file in ("variables.cubin", "kernels.cubin", "linked.cubin"):
		lacks("\n".join(read(file)), "bytes without a name")
	image = (WORK / "variables.cubin").read_bytes()
	sizes = {name: count for name, _, count in sections_of(image)}
	for section in (".nv.global", ".nv.global.init"):
		assert sizes[section], sizes
		(WORK / "stripped").write_bytes(without_symbols_in(image, section))
		contains("\n".join(read("stripped")), "bytes without a name")


@test
def calls_of_the_driver_s_functions_are_found_for_each_kernel():
	names = ["plain", "prints", "allocates", "calls", "asserts"]
	equal(
		read("kernels.cubin", *names)[-len(names) :],
		[
			"plain: nothing",
			"prints: vprintf",
			"allocates: malloc",
			"calls: nothing",
			"asserts: nothing",
		],
	)
	equal(read("linked.cubin", "far", "near")[-2:], ["far: vprintf", "near: nothing"])


@test
def a_damaged_cubin_is_not_read_past_its_end():
	whole = (WORK / "linked.cubin").read_bytes()
	chance = random.Random(5)
	for turn in range(300):
		damaged = bytearray(whole)
		if turn % 3 == 0:
			del damaged[chance.randrange(len(whole)) :]
		for _ in range(chance.randrange(1, 6) if turn % 3 else 0):
			# Half of the damage is in the header.
			place = chance.choice([chance.randrange(64), chance.randrange(len(whole))])
			damaged[place] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
		(WORK / "damaged").write_bytes(damaged)
		read("damaged", "far")


if nvcc_lack():
	print(f"1..0 # SKIP {nvcc_lack()}")
	sys.exit(0)
build()
sys.exit(run())
