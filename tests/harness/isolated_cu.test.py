#!/usr/bin/env python3
"""The judge and the contestants of CUDA C++ tasks (harness/isolated/*.cu), built with nvcc and run
without a GPU. Also compares the statistics of this judge with those of the judge in Python."""

import base64
import concurrent.futures
import contextlib
import ctypes
import functools
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
ISOLATED = ROOT / "harness" / "isolated"
BUILD = ROOT / os.environ.get("B", "build/release")
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import plans  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402
from tools import nvcc_lack, system_nvcc  # noqa: E402

FLAGS = [
	"--std=c++20",
	"-DNDEBUG",
	"--expt-extended-lambda",
	"--expt-relaxed-constexpr",
	"-forward-unknown-to-host-compiler",
	"-O0",
	"-gencode=arch=compute_90a,code=sm_90a",
	"-I.",
]
CASES = "size: 3; seed: 5\nsize: 700; seed: 6\n"
ONE_CASE = "size: 3; seed: 5\n"

# ---- the tasks ----

TASK = """#pragma once
#include "utils.h"
#include <array>
#include <string>
#include <tuple>
#include <vector>
enum class Kind : short { even, odd };
struct Piece { std::vector<double> weights; float table[3]; bool flag; };
using input_t = std::tuple<std::vector<float>, int, std::array<Piece, 2>, Kind, std::string>;
struct output_t {
	std::vector<float> values;
	std::vector<std::vector<int>> counts;
	std::pair<double, bool> rest;
};
constexpr std::array<const char *, 2> ArgumentNames = {"size", "seed"};
"""
REFERENCE = """#pragma once
#include "task.h"
inline input_t generate_input(int size, unsigned seed)
{
	std::vector<float> values(static_cast<std::size_t>(size));
	for (std::size_t i = 0; i < values.size(); i++)
		values[i] = static_cast<float>(random_bits(seed, i) >> 40);
	Piece piece{{1.5, static_cast<double>(seed)}, {1, 2, 3}, seed % 2 == 1};
	Kind kind = seed % 2 ? Kind::odd : Kind::even;
	return {values, size, {piece, piece}, kind, "seed " + std::to_string(seed)};
}
inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	const auto &[values, size, pieces, kind, text] = data;
	reporter.check_equal("the number of values", output.values.size(), values.size());
	std::size_t count = std::min(values.size(), output.values.size());
	for (std::size_t i = 0; i < count && reporter.has_passed(); i++) {
		std::string what = "value " + std::to_string(i);
		reporter.check_equal(what.c_str(), output.values[i], values[i] * 2);
	}
	reporter.check_equal("the number of counts", output.counts.size(), std::size_t(2));
	for (const auto &count : output.counts)
		reporter.check_equal("a count", count.size(), static_cast<std::size_t>(size % 5));
	reporter.check_equal("the seed", output.rest.first, pieces[1].weights[1]);
	auto seed = static_cast<unsigned>(pieces[0].weights[1]);
	reporter.check_equal("the flag", output.rest.second, pieces[0].flag && kind == Kind::odd
		&& pieces[0].table[2] == 3 && text == "seed " + std::to_string(seed));
}
"""
# An environment variable chooses what the submission does, so that one compilation is enough.
SUBMISSION = """#include "task.h"
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <unistd.h>
static const char *mode = getenv("MODE") ? getenv("MODE") : "";
static bool is(const char *name) { return std::strcmp(mode, name) == 0; }
struct Early { Early() { if (is("ends while it is loaded")) _exit(0); } } early;
static void note(const char *what)
{
	timespec now;
	std::FILE *file = std::fopen(mode + std::strlen("notes in "), "a");
	clock_gettime(CLOCK_MONOTONIC, &now);
	std::fprintf(file, "%s %.9f\\n", what, double(now.tv_sec) + 1e-9 * double(now.tv_nsec));
	std::fclose(file);
}
static bool does_note = std::strncmp(mode, "notes in ", 9) == 0;
struct Loaded { Loaded() { if (does_note) note("loaded"); } } loaded;
output_t custom_kernel(input_t data)
{
	static int calls;
	calls++;
	if (does_note)
		note("called");
	auto &[values, size, pieces, kind, text] = data;
	output_t made;
	bool is_wrong = is("is wrong") || (is("is wrong when timed") && calls > 6);
	for (float &value : values)
		made.values.push_back(value * (is_wrong ? 3 : 2));
	made.counts.assign(2, std::vector<int>(static_cast<std::size_t>(size % 5)));
	made.rest = {pieces[1].weights[1], kind == Kind::odd};
	if (is("returns 400 KB"))
		made.counts[0].resize(100000);
	if (is("changes its input"))
		values.assign(values.size(), 0), pieces[1].weights = {};
	if (is("takes 0.3 s"))
		usleep(300000);
	if (is("raises"))
		throw std::runtime_error("no such luck");
	if (is("ends"))
		_exit(0);
	if (is("hangs"))
		for (;;)
			sleep(1);
	if (is("returns more and more"))
		made.values.resize(std::size_t(64) << calls);
	if (is("reads the environment"))
		throw std::runtime_error(getenv("POPCORN_SEED") ? "seed there" : "seed not there");
	return made;
}
"""
# A task and a submission for the GPU of pretended_gpu.h.
PRETENDED_TASK = """#pragma once
#include "pretended_gpu.h"
#include "utils.h"
#include <array>
#include <tuple>
#include <vector>
using input_t = std::tuple<pretended::Buffer<float>, std::vector<unsigned>>;
struct output_t {
	pretended::Buffer<float> values;
	std::vector<unsigned> codes;
};
constexpr std::array<const char *, 2> ArgumentNames = {"size", "seed"};
"""
PRETENDED_REFERENCE = """#pragma once
#include "task.h"
#include <stdexcept>
#include <unistd.h>
inline bool is(const char *name, const char *value)
{
	const char *given = std::getenv(name);
	return given && std::strcmp(given, value) == 0;
}
inline void fail(const char *name)
{
	if (is(name, "throws"))
		throw std::runtime_error("no such luck");
	if (is(name, "memory"))
		throw std::runtime_error("cudaErrorMemoryAllocation: out of memory");
	if (is(name, "CUDA_CHECK"))
		CUDA_CHECK(cudaErrorMemoryAllocation);
	if (is(name, "exit"))
		std::exit(1);
	if (is(name, "slow"))
		sleep(4);
}
inline input_t generate_input(int size, unsigned seed)
{
	static unsigned calls;
	pretended::Buffer<float> values(static_cast<std::size_t>(size));
	for (std::size_t i = 0; i < values.size(); i++)
		values.data()[i] = static_cast<float>(random_bits(seed, i) >> 40);
	if (pretended::is_loaded(pretended::entry))
		fail("INPUT");
	pretended::note("SEEDS", seed);
	bool is_other = ++calls > pretended::number("VARIES_FROM");
	return {values, {is_other ? seed : 1, static_cast<unsigned>(size)}};
}
inline output_t ref_kernel(input_t data)
{
	auto &[values, codes] = data;
	pretended::Buffer<float> doubled(values.size());
	for (std::size_t i = 0; i < values.size(); i++)
		doubled.data()[i] = 2 * values.data()[i];
	return {doubled, codes};
}
inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	const auto &[values, codes] = data;
	fail("CHECK");
	reporter.check_equal("code 0", output.codes.at(0), codes[0]);
	reporter.check_equal("code 1", output.codes.at(1), codes[1]);
	reporter.check_equal("the number of values", output.values.size(), values.size());
	for (std::size_t i = 0; i < values.size() && reporter.has_passed(); i++)
		reporter.check_equal("a value", output.values.data()[i], 2 * values.data()[i]);
}
"""
PRETENDED_SUBMISSION = """#include "task.h"
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
static const char *mode = getenv("MODE") ? getenv("MODE") : "";
static bool is(const char *name) { return std::strcmp(mode, name) == 0; }
static const char *behind(const char *name)
{
	return std::strncmp(mode, name, std::strlen(name)) ? nullptr : mode + std::strlen(name);
}
struct Early {
	Early()
	{
		if (is("ends while it is loaded"))
			_exit(0);
		if (is("loads long"))
			sleep(100);
		if (behind("says in "))
			std::fclose(std::fopen(behind("says in "), "w"));
	}
} early;
output_t custom_kernel(input_t data)
{
	static int calls;
	calls++;
	auto &[values, codes] = data;
	pretended::Buffer<float> doubled(values.size());
	if (is("returns its input") || (is("returns its input when timed") && calls > 6))
		doubled = values;
	for (std::size_t i = 0; i < values.size(); i++)
		doubled.data()[i] = 2 * values.data()[i];
	if ((is("is slow at first") && calls <= 5) || is("is slow"))
		usleep(400000);
	if (is("raises") || (behind("raises after ") && access(behind("raises after "), F_OK) == 0))
		throw std::runtime_error("no such luck");
	if (is("ends"))
		_exit(0);
	if (is("is slow"))
		sleep(2);
	if (is("returns too little"))
		codes.resize(1);
	if (is("returns more when timed") && calls > 6)
		codes.resize(100000);
	if (is("returns much"))
		codes.resize(1000000);
	return {doubled, codes};
}
"""
# A submission to the sealed engine. Its plan multiplies the input by the factor that it keeps in
# the arena (tests/lib/pretended_sealed/cu_launcher.py). Of each four calls for a case, the last two
# are captured.
SEALED_SUBMISSION = """#include "task.h"
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
static const char *mode = getenv("MODE") ? getenv("MODE") : "";
static bool is(const char *name) { return std::strcmp(mode, name) == 0; }
static void write_plan(const float *from, const float *to, const float *factor, std::size_t count,
	int call)
{
	std::FILE *file = std::fopen("plan", "w");
	bool is_refused = is("is refused by the launcher");
	std::fprintf(file,
		"{\\"input\\":%zu,\\"output\\":%zu,\\"factor\\":%zu,\\"count\\":%zu,\\"call\\":%d%s,"
		"\\"nodes\\":[{\\"kind\\":\\"empty\\"}]}",
		std::size_t(from), std::size_t(to), std::size_t(factor), count,
		is("varies from call to call") ? call : 0,
		is_refused ? ",\\"refuse\\":\\"Blob 0 of the plan has another hash.\\""
		: is("fails on the GPU") ? ",\\"run\\":\\"raise RuntimeError('illegal address')\\""
		: is("has no CUPTI") ? ",\\"trace\\":\\"has no CUPTI\\""
		: is("leaves in a trace") ? ",\\"trace\\":\\"leaves\\""
		: is("is silent in a trace") ? ",\\"trace\\":\\"is silent\\"" : "");
	std::fclose(file);
}
static bool copies() { return std::strncmp(mode, "copies", 6) == 0; }
/* Copies 2.0f, or the call's number, from the host to the arena, or to a variable. Returns the
 * place from which a plan copies it. There is no GPU, so CUDA refuses the copy in the graph. */
static float variable;
extern "C" bool podium_copied(std::size_t, void **, const void **, std::size_t *, bool *);
extern "C" cudaError_t __wrap_cudaGetSymbolAddress(void **at, const void *)
{
	*at = &variable;
	return cudaSuccess;
}
static const float *copy(float *to, int call)
{
	float from = is("copies its number") || is("copies its number to a variable") ? call : 2;
	void *place = to;
	const void *bytes;
	std::size_t count;
	bool is_variable;
	if (is("copies to a variable") || is("copies its number to a variable")) {
		variable = call < 3 ? from : variable;
		(cudaMemcpyToSymbol_ptds)(&variable, &from, 4, 0, cudaMemcpyHostToDevice);
	} else
		(cudaMemcpyAsync_ptsz)(to, &from, 4, cudaMemcpyHostToDevice, nullptr);
	return podium_copied(0, &place, &bytes, &count, &is_variable) && !is_variable
		? static_cast<float *>(place) : to;
}
output_t custom_kernel(input_t data)
{
	static int calls;
	static std::size_t size;
	static pretended::Buffer<float> factor(256);
	auto &[values, codes] = data;
	if (std::exchange(size, values.size()) != values.size())
		calls = 0;
	bool is_captured = calls++ % 4 >= 2, is_slow = is("is slow and recorded if small");
	bool is_for_small = is_slow || is("is recorded if small");
	usleep(is_slow ? 1600000 : 0);
	if (is("needs much"))
		pretended::Buffer<char> much(8 << 20);
	const float *freed = pretended::Buffer<float>(values.size()).data();
	pretended::Buffer<float> made(values.size());
	if (!made.data())
		return {made, codes};
	if (is_captured && made.data() == freed)
		throw std::runtime_error("wrong memory");
	if (is_captured && (cudaDeviceSynchronize)() != cudaSuccess)
		throw std::runtime_error("a wait");
	*factor.data() = is("is wrong") ? 3 : 2;
	factor.data()[255] = 1;
	const float *by = factor.data();
	if (copies())
		by = copy(factor.data(), calls);
	if (is("raises"))
		throw std::runtime_error("no such luck");
	if (is_captured && is("raises when captured"))
		throw std::runtime_error("no such luck");
	if (is_captured && is("exits when captured"))
		std::_Exit(110);
	if (is_captured && is("calls exit when captured"))
		std::exit(1);
	if (is("ends"))
		_exit(0);
	if (is("does not leave"))
		if (fork() == 0)
			sleep(100), _exit(0);
	if (is("changes the number of codes"))
		codes.resize(static_cast<std::size_t>(calls));
	float *to = is("returns its input") ? values.data() : made.data();
	if (is_captured && !is("is not recorded") && !(is_for_small && values.size() > 9))
		write_plan(values.data(), to, by, values.size(), calls);
	if (is_captured && is_for_small && values.size() > 9)
		std::remove("plan"); /* of the case before */
	if (is("returns the middle"))
		return {pretended::Buffer<float>::view(made.data() + 1, values.size() - 1), codes};
	if (is("returns the host's memory")) {
		static float there[1000];
		return {pretended::Buffer<float>::view(there, values.size()), codes};
	}
	if (is("returns too much on the host"))
		codes.resize(100000);
	return {is("returns its input") ? values : made, codes};
}
"""
# Calls what wraps.cu exports. Pretended functions replace those of CUDA. Each line of the output
# names a step and its result.
WRAPS_TEST = """#include "sealed/range.h"
#include <cstdio>
#include <set>
#include <string>
#include <cuda_runtime.h>
#include <sys/types.h>
static std::string calls;
static std::set<cudaStream_t> captured;
static char *const base = reinterpret_cast<char *>(SEALED_RANGE_ADDRESS);
static bool is_full = false;
/* Handles are numbers. The copy of a graph or of a node has a number that is larger by 100. */
static std::size_t number_of(const void *handle)
{
	return reinterpret_cast<std::size_t>(handle);
}
template <class Handle> static Handle handle(std::size_t number)
{
	return reinterpret_cast<Handle>(number);
}
extern "C" {
__attribute__((visibility("default"))) void *sealed_arena_malloc(ssize_t bytes, int, void *)
{
	calls += "take " + std::to_string(bytes) + " ";
	return is_full ? nullptr : base + 512;
}
__attribute__((visibility("default"))) void sealed_arena_free(void *, ssize_t, int, void *)
{
	calls += "give ";
}
#define REAL(name, ...) \\
	cudaError_t __real_##name(__VA_ARGS__) { calls += #name " "; return cudaSuccess; } \\
	cudaError_t __wrap_##name(__VA_ARGS__);
REAL(cudaMalloc, void **, std::size_t)
REAL(cudaMallocPitch, void **, std::size_t *, std::size_t, std::size_t)
REAL(cudaMallocAsync, void **, std::size_t, cudaStream_t)
REAL(cudaMallocAsync_ptsz, void **, std::size_t, cudaStream_t)
REAL(cudaMallocFromPoolAsync, void **, std::size_t, cudaMemPool_t, cudaStream_t)
REAL(cudaMallocFromPoolAsync_ptsz, void **, std::size_t, cudaMemPool_t, cudaStream_t)
REAL(cudaFree, void *)
REAL(cudaFreeAsync, void *, cudaStream_t)
REAL(cudaFreeAsync_ptsz, void *, cudaStream_t)
REAL(cudaDeviceSynchronize, void)
REAL(cudaStreamSynchronize, cudaStream_t)
REAL(cudaStreamSynchronize_ptsz, cudaStream_t)
REAL(cudaEventSynchronize, cudaEvent_t)
REAL(cudaMemset_ptds, void *, int, std::size_t)
REAL(cudaMemsetAsync_ptsz, void *, int, std::size_t, cudaStream_t)
REAL(cudaMemcpy_ptds, void *, const void *, std::size_t, cudaMemcpyKind)
REAL(cudaMemcpyAsync_ptsz, void *, const void *from, std::size_t, cudaMemcpyKind, cudaStream_t)
REAL(cudaMemcpyToSymbol_ptds, const void *, const void *, std::size_t, std::size_t,
	cudaMemcpyKind)
REAL(cudaMemcpyToSymbolAsync_ptsz, const void *, const void *, std::size_t, std::size_t,
	cudaMemcpyKind, cudaStream_t)
REAL(cudaLaunchKernel_ptsz, const void *, dim3, dim3, void **, std::size_t, cudaStream_t)
REAL(cudaLaunchCooperativeKernel_ptsz, const void *, dim3, dim3, void **, std::size_t,
	cudaStream_t)
REAL(cudaLaunchKernelExC_ptsz, const cudaLaunchConfig_t *, const void *, void **)
REAL(__cudaLaunchKernel_ptsz, cudaKernel_t, dim3, dim3, void **, std::size_t, cudaStream_t)
REAL(cudaGraphInstantiate, cudaGraphExec_t *, cudaGraph_t, unsigned long long)
REAL(cudaGraphInstantiateWithFlags, cudaGraphExec_t *, cudaGraph_t, unsigned long long)
REAL(cudaGraphInstantiateWithParams_ptsz, cudaGraphExec_t *, cudaGraph_t,
	cudaGraphInstantiateParams *)
REAL(cudaGraphExecUpdate, cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *)
REAL(cudaGraphExecDestroy, cudaGraphExec_t)
REAL(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t, cudaGraphNode_t,
	const cudaKernelNodeParams *)
REAL(cudaGraphExecMemsetNodeSetParams, cudaGraphExec_t, cudaGraphNode_t, const cudaMemsetParams *)
REAL(cudaGraphExecMemcpyNodeSetParams, cudaGraphExec_t, cudaGraphNode_t,
	const cudaMemcpy3DParms *)
REAL(cudaGraphExecMemcpyNodeSetParams1D, cudaGraphExec_t, cudaGraphNode_t, void *, const void *,
	std::size_t, cudaMemcpyKind)
REAL(cudaGraphExecNodeSetParams, cudaGraphExec_t, cudaGraphNode_t, cudaGraphNodeParams *)
REAL(cudaGraphExecChildGraphNodeSetParams, cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t)
REAL(cudaGraphNodeSetEnabled, cudaGraphExec_t, cudaGraphNode_t, unsigned int)
REAL(cudaGraphLaunch_ptsz, cudaGraphExec_t, cudaStream_t)
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
REAL(cudaGraphUpload_ptsz, cudaGraphExec_t, cudaStream_t)
#define STEP(name, parameters, text, ...) \
	cudaError_t name parameters { calls += text; __VA_ARGS__; return cudaSuccess; }
STEP(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode *mode), "",
	calls += *mode == cudaStreamCaptureModeRelaxed ? "( " : ") ";
	*mode = *mode == cudaStreamCaptureModeRelaxed ? cudaStreamCaptureModeGlobal
		: cudaStreamCaptureModeRelaxed)
STEP(cudaGraphClone, (cudaGraph_t *copy, cudaGraph_t graph),
	"clone " + std::to_string(number_of(graph)) + " ",
	*copy = handle<cudaGraph_t>(number_of(graph) + 100))
STEP(cudaGraphDestroy, (cudaGraph_t graph), "destroy " + std::to_string(number_of(graph)) + " ", )
STEP(cudaGraphNodeFindInClone, (cudaGraphNode_t *copy, cudaGraphNode_t node, cudaGraph_t graph),
	"find in " + std::to_string(number_of(graph)) + " ",
	*copy = handle<cudaGraphNode_t>(number_of(node) + 100))
#define SET(name, ...) \
	STEP(name, (cudaGraphNode_t node, __VA_ARGS__), \\
		"set " + std::to_string(number_of(node)) + " ", )
SET(cudaGraphKernelNodeSetParams, const cudaKernelNodeParams *)
SET(cudaGraphMemsetNodeSetParams, const cudaMemsetParams *)
SET(cudaGraphMemcpyNodeSetParams, const cudaMemcpy3DParms *)
SET(cudaGraphMemcpyNodeSetParams1D, void *, const void *, std::size_t, cudaMemcpyKind)
static const cudaGraphNode_t latest[] = { handle<cudaGraphNode_t>(7), handle<cudaGraphNode_t>(8) };
#if CUDART_VERSION >= 13000
STEP(cudaStreamGetCaptureInfo_ptsz, (cudaStream_t, cudaStreamCaptureStatus *, unsigned long long *,
	cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **,
	std::size_t *count), "", *graph = handle<cudaGraph_t>(9); *nodes = latest; *count = 2)
STEP(cudaStreamUpdateCaptureDependencies_ptsz, (cudaStream_t, cudaGraphNode_t *node,
	const cudaGraphEdgeData *, std::size_t count, unsigned int flags),
	"behind " + std::to_string(number_of(*node) + count + flags) + " ", )
#else
STEP(cudaStreamGetCaptureInfo_v2_ptsz, (cudaStream_t, cudaStreamCaptureStatus *,
	unsigned long long *, cudaGraph_t *graph, const cudaGraphNode_t **nodes, std::size_t *count),
	"", *graph = handle<cudaGraph_t>(9); *nodes = latest; *count = 2)
STEP(cudaStreamUpdateCaptureDependencies_ptsz, (cudaStream_t, cudaGraphNode_t *node,
	std::size_t count, unsigned int flags),
	"behind " + std::to_string(number_of(*node) + count + flags) + " ", )
#endif
STEP(cudaGraphAddChildGraphNode, (cudaGraphNode_t *node, cudaGraph_t graph,
	const cudaGraphNode_t *before, std::size_t count, cudaGraph_t inner),
	"add " + std::to_string(number_of(inner)) + " to " + std::to_string(number_of(graph))
		+ " behind " + std::to_string(number_of(before[count - 1])) + " ",
	*node = handle<cudaGraphNode_t>(20))
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *known, const void *at)
{
	known->type = at == base - 8 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
	return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **at, const void *variable)
{
	*at = const_cast<void *>(variable);
	return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
	*status = captured.count(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
	return cudaSuccess;
}
const char *podium_capture(bool is_begin);
bool podium_copied(std::size_t, void **, const void **, std::size_t *, bool *);
}
static void tell_copies(const char *step)
{
	void *place;
	const void *bytes;
	std::size_t count;
	bool is_variable;
	for (std::size_t i = 0; podium_copied(i, &place, &bytes, &count, &is_variable); i++)
		calls += std::string(static_cast<const char *>(bytes), count) + " for "
			+ (is_variable ? "variable " : "arena ")
			+ std::to_string(static_cast<char *>(place) - base) + " ";
	std::printf("%s: 0 %s\\n", step, calls.c_str());
	calls.clear();
}
static void say(const char *step, int result)
{
	std::printf("%s: %d %s\\n", step, result, calls.c_str());
	calls.clear();
}
static void launch(const char *step, cudaGraphExec_t instance)
{
	say(step, __wrap_cudaGraphLaunch_ptsz(instance, nullptr));
}
static void all_graphs()
{
	auto one = handle<cudaGraphExec_t>(1), other = handle<cudaGraphExec_t>(2), given = one;
	auto node = handle<cudaGraphNode_t>(5);
	say("make", __wrap_cudaGraphInstantiate(&given, handle<cudaGraph_t>(11), 0));
	launch("graph", one);
	say("graph by nvcc", __wrap_cudaGraphLaunch(one, nullptr));
	say("upload", __wrap_cudaGraphUpload_ptsz(one, nullptr));
	given = other;
	say("make with flags", __wrap_cudaGraphInstantiateWithFlags(
		&given, handle<cudaGraph_t>(12), 0));
	launch("graph with flags", other);
	say("update", __wrap_cudaGraphExecUpdate(one, handle<cudaGraph_t>(13), nullptr));
	launch("updated graph", one);
	say("change", __wrap_cudaGraphExecKernelNodeSetParams(one, node, nullptr));
	say("change a set", __wrap_cudaGraphExecMemsetNodeSetParams(one, node, nullptr));
	say("change a copy", __wrap_cudaGraphExecMemcpyNodeSetParams(one, node, nullptr));
	say("change a row", __wrap_cudaGraphExecMemcpyNodeSetParams1D(one, node, nullptr, nullptr, 1,
		cudaMemcpyDefault));
	launch("changed graph", one);
	say("end of a graph", __wrap_cudaGraphExecDestroy(one));
	say("change in general", __wrap_cudaGraphExecNodeSetParams(other, node, nullptr));
	say("make with parameters", __wrap_cudaGraphInstantiateWithParams_ptsz(
		&given, handle<cudaGraph_t>(14), nullptr));
	say("switch off", __wrap_cudaGraphNodeSetEnabled(other, node, 0));
	say("change a graph", __wrap_cudaGraphExecChildGraphNodeSetParams(other, node, nullptr));
}
static void all(const char *when)
{
	void *memory = nullptr;
	std::size_t pitch = 0;
	char here = 'h';
	cudaLaunchConfig_t launch = {};
	std::printf("%s\\n", when);
	say("malloc", __wrap_cudaMalloc(&memory, 100));
	say("free", __wrap_cudaFree(memory));
	say("malloc 0", __wrap_cudaMalloc(&memory, 0) + (memory != nullptr));
	say("malloc too much", __wrap_cudaMalloc(&memory, SIZE_MAX));
	say("free NULL", __wrap_cudaFree(nullptr));
	say("free another's", __wrap_cudaFree(&here));
	say("async", __wrap_cudaMallocAsync_ptsz(&memory, 7, nullptr));
	say("async free", __wrap_cudaFreeAsync_ptsz(memory, nullptr));
	say("pool", __wrap_cudaMallocFromPoolAsync_ptsz(&memory, 7, nullptr, nullptr));
	say("pitch", __wrap_cudaMallocPitch(&memory, &pitch, 513, 3) + int(pitch));
	say("pitch too much", __wrap_cudaMallocPitch(&memory, &pitch, 1 << 30, SIZE_MAX / 4));
	say("wait", __wrap_cudaDeviceSynchronize());
	say("wait for a stream", __wrap_cudaStreamSynchronize_ptsz(nullptr));
	say("wait for an event", __wrap_cudaEventSynchronize(nullptr));
	say("set", __wrap_cudaMemset_ptds(base, 0, 1));
	say("copy", __wrap_cudaMemcpy_ptds(base, &here, 1, cudaMemcpyDefault));
	say("copy on the GPU", __wrap_cudaMemcpyAsync_ptsz(base, base - 8, 1, cudaMemcpyDefault,
		nullptr));
	say("copy within", __wrap_cudaMemcpyAsync_ptsz(base, base + 8, 1, cudaMemcpyDefault, nullptr));
	say("copy nothing", __wrap_cudaMemcpyAsync_ptsz(base, &here, 0, cudaMemcpyHostToDevice,
		nullptr));
	char text[] = "abc";
	say("async copy", __wrap_cudaMemcpyAsync_ptsz(base, text, 3, cudaMemcpyHostToDevice, nullptr));
	say("variable", __wrap_cudaMemcpyToSymbol_ptds(base + 64, text, 2, 1, cudaMemcpyHostToDevice));
	say("async variable", __wrap_cudaMemcpyToSymbolAsync_ptsz(
		base + 32, text, 1, 0, cudaMemcpyDefault, nullptr));
	say("variable on the GPU", __wrap_cudaMemcpyToSymbol_ptds(
		base + 64, base, 2, 1, cudaMemcpyDeviceToDevice));
	text[0] = 'z'; /* the bytes are those of the copy's time */
	tell_copies("copies");
	all_graphs();
	say("copy to the host", __wrap_cudaMemcpy_ptds(&here, base, 1, cudaMemcpyDefault));
	say("launch", __wrap___cudaLaunchKernel_ptsz(nullptr, 1, 1, nullptr, 0, nullptr));
	say("launch as a group", __wrap_cudaLaunchCooperativeKernel_ptsz(
		nullptr, 1, 1, nullptr, 0, nullptr));
	say("launch ex", __wrap_cudaLaunchKernelExC_ptsz(&launch, nullptr, nullptr));
}
int main()
{
	auto other = reinterpret_cast<cudaStream_t>(64);
	captured = { nullptr, cudaStreamPerThread };
	all("before");
	say("begin", podium_capture(true) != nullptr);
	all("captured");
	say("end of all", podium_capture(false) != nullptr);
	say("begin again", podium_capture(true) != nullptr);
	__wrap_cudaLaunchKernel_ptsz(nullptr, 1, 1, nullptr, 0, other);
	say("end after another stream", podium_capture(false) != nullptr);
	say("begin", podium_capture(true) != nullptr);
	__wrap_cudaMemcpyAsync_ptsz(base, base, 1, cudaMemcpyDeviceToDevice, other);
	say("end after a copy on another stream", podium_capture(false) != nullptr);
	say("begin", podium_capture(true) != nullptr);
	__wrap_cudaMemsetAsync_ptsz(base, 0, 1, other);
	say("end after a set on another stream", podium_capture(false) != nullptr);
	__wrap_cudaLaunchKernel_ptsz(nullptr, 1, 1, nullptr, 0, other);
	say("begin", podium_capture(true) != nullptr);
	say("end", podium_capture(false) != nullptr);
	tell_copies("copies of the last");
	say("begin", podium_capture(true) != nullptr);
	launch("unknown graph", handle<cudaGraphExec_t>(2));
	const char *obstacle = podium_capture(false);
	std::printf("end with an unknown graph: %s\\n", obstacle ? obstacle : "");
	void *memory;
	is_full = true;
	say("full", __wrap_cudaMalloc(&memory, 100));
}
#include "sealed/wraps.cu"
"""
UNCARRIED = {
	"task.h": TASK.replace(
		"using input_t = std::tuple<std::vector<float>,",
		"using input_t = std::tuple<std::vector<const float *>,",
	),
	"reference.cuh": """#pragma once
#include "task.h"
inline input_t generate_input(int, unsigned) { return input_t(); }
inline void check_implementation(TestReporter &reporter, const input_t &, const output_t &)
{
	reporter.pass();
}
""",
}
PRETENDED_GPU = (ROOT / "tests" / "harness" / "pretended_gpu.h").read_text()
GPU_TASK = ROOT / "tasks" / "vectoradd_cu"


def headers(task):
	return {path.name: path.read_text() for path in task.glob("*.*h")}


ARENA_BYTES = 4 << 20
PER_THREAD = "--default-stream=per-thread"
# The tests' own submissions have no code for a GPU. So nvcc gives them to g++ alone, as wraps.cu
# in a real build, which takes a quarter of the time. They get a utils.h that g++ can read.
# integration/run/isolated_cu and integration/harness compile submissions as CUDA C++.
HOST_ONLY = ["-x", "c++"]
HOST_UTILS = (
	(ROOT / "harness" / "utils.h")
	.read_text()
	.replace("<<<1024, 256>>>", "")
	.replace(
		"#include <cuda_runtime.h>\n",
		"#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n"
		"void atomicAdd(unsigned long long *, unsigned long long);\n",
	)
)


def wrapped():
	"""The names of the functions that wraps.cu replaces."""
	text = (ROOT / "harness" / "sealed" / "wraps.cu").read_text()
	found = re.findall(
		r"__wrap_(\w+)|\n(?:ALLOCATION|RELEASE|WAIT|LAUNCH|COPY_TO_VARIABLE|INSTANTIATE|CHANGE)"
		r"\((\w+)",
		text,
	)
	return sorted({one or other for one, other in found} - {""})


# Code to append to the reference. DRIFTS=N in the environment makes the judge see drift in the
# first N attempts.
DRIFTING = """
#include "isolated/blocks.h"
#include <cstdlib>
namespace podium {
inline const char *drifts_wanted = std::getenv("DRIFTS");
struct CalmBlock : Block {
	bool constant_moved(const Rule &rule) const
	{
		return !drifts_wanted && Block::constant_moved(rule);
	}
};
inline double pretended_disturbance(const Blocks &blocks, const Rule &rule)
{
	static int drifts = drifts_wanted ? std::atoi(drifts_wanted) : 0;
	return !drifts_wanted ? steady_disturbance(blocks, rule) : drifts-- > 0 ? 1e12 : 0;
}
} // namespace podium
#define Block CalmBlock
#define steady_disturbance pretended_disturbance
"""


@functools.cache
def compilers():
	"""Says which compilers build the programs."""
	versions = [
		subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
		for name in (system_nvcc(), "g++", "ld")
	]
	return [*versions, system_nvcc(), os.stat(system_nvcc()).st_mtime_ns]


class Kept:
	"""Programs that earlier runs have compiled, in build/cu-programs. A program's folder there is
	named after a hash of everything that the program is built from and with."""

	FOLDER = ROOT / "build" / "cu-programs"

	def __init__(self):
		self.used = set()

	def place(self, folder, command):
		"""Where the program is kept that `command` makes from the files in `folder`."""
		made = hashlib.sha256(json.dumps([command, compilers()]).encode())
		for path in sorted(path for path in folder.rglob("*") if path.is_file()):
			content = hashlib.sha256(path.read_bytes()).hexdigest()
			made.update(f"{path.relative_to(folder)} {content}\n".encode())
		self.used.add(made.hexdigest())
		return self.FOLDER / made.hexdigest()

	def take(self, place, folder):
		"""Copies a kept program to `folder`. Returns whether there is one."""
		if place.exists():
			shutil.copytree(place, folder, dirs_exist_ok=True)
		return place.exists()

	def keep(self, place, folder, names):
		self.FOLDER.mkdir(parents=True, exist_ok=True)
		fresh = pathlib.Path(tempfile.mkdtemp(dir=self.FOLDER))
		for name in names:
			shutil.copy(folder / name, fresh)
		fresh.rename(place)

	def remove_others(self):
		"""Removes programs that this run did not use."""
		for path in self.FOLDER.glob("*"):
			if path.name not in self.used:
				shutil.rmtree(path, ignore_errors=True)


class Work:
	"""Compiles the programs, each in a folder that is made as podium-run makes it."""

	def __init__(self):
		self.path = pathlib.Path(tempfile.mkdtemp(prefix="podium-isolated-cu."))
		self.results, self.kept = {}, Kept()

	def folder(self, name, files):
		folder = self.path / name
		(folder / "isolated").mkdir(parents=True)
		(folder / "sealed").mkdir()
		for source in [ROOT / "harness" / "eval.cu", BUILD / "harness" / "isolated" / "native.o"]:
			shutil.copy(source, folder / "isolated")
		for kind in ("isolated", "sealed"):
			for suffix in ("cu", "h"):
				for source in (ROOT / "harness" / kind).glob(f"*.{suffix}"):
					shutil.copy(source, folder / kind)
		for file, text in {"utils.h": (ROOT / "harness" / "utils.h").read_text(), **files}.items():
			(folder / file).write_text(text)
		return folder

	def compile(self, name, files, *words):
		folder = self.folder(name, files)
		command = ["nice", system_nvcc(), *FLAGS, *words]
		place = self.kept.place(folder, command)
		if self.kept.take(place, folder):
			result = subprocess.CompletedProcess(command, 0, "", "")
		else:
			there = set(os.listdir(folder))
			result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
			if result.returncode == 0:  # a failure may be temporary
				self.kept.keep(place, folder, set(os.listdir(folder)) - there)
		self.results[name] = result

	def built(self, name, program):
		result = self.results[name]
		if result.returncode:
			raise AssertionError(f"{name} could not be compiled:\n{result.stdout}{result.stderr}")
		return self.path / name / program

	def build(self):
		"""Compiles all programs, two at a time."""
		task = {"task.h": TASK, "reference.cuh": REFERENCE + DRIFTING}
		shared = ["-Xcompiler=-fPIC", "-shared", "-Xlinker=-z,defs", "-o", "submission.so"]
		shared += HOST_ONLY
		jobs = [
			("judge", task, "isolated/judge.cu", "isolated/native.o", "-o", "judge.out"),
			(
				"contestant",
				{"task.h": TASK},
				"isolated/contestant.cu",
				"isolated/native.o",
				"-o",
				"contestant.out",
			),
			(
				"submission",
				{"task.h": TASK, "utils.h": HOST_UTILS, "submission.cu": SUBMISSION},
				*shared,
				"isolated/entry.cu",
				"submission.cu",
			),
			(
				"misnamed",
				{
					"task.h": TASK,
					"utils.h": HOST_UTILS,
					"submission.cu": "void custom_kernel() {}\n",
				},
				*shared,
				"isolated/entry.cu",
				"submission.cu",
			),
			("uncarried", UNCARRIED, "isolated/judge.cu", "isolated/native.o", "-o", "judge.out"),
		]
		pretended = {"task.h": PRETENDED_TASK, "pretended_gpu.h": PRETENDED_GPU}
		jobs += [
			(
				"pretended judge",
				{**pretended, "reference.cuh": PRETENDED_REFERENCE},
				"isolated/judge.cu",
				"isolated/native.o",
				f"-DPODIUM_ARENA_BYTES={ARENA_BYTES}",
				"-o",
				"judge.out",
			),
			(
				"pretended contestant",
				pretended,
				"isolated/contestant.cu",
				"isolated/native.o",
				"-o",
				"contestant.out",
			),
			(
				"pretended submission",
				{**pretended, "utils.h": HOST_UTILS, "submission.cu": PRETENDED_SUBMISSION},
				*shared,
				"isolated/entry.cu",
				"submission.cu",
				"-Xlinker=isolated/native.o",
			),
		]
		jobs += [
			(
				"sealed builder",
				pretended,
				PER_THREAD,
				"sealed/builder.cu",
				"isolated/native.o",
				"-o",
				"builder.out",
			),
			(
				"sealed submission",
				{**pretended, "utils.h": HOST_UTILS, "submission.cu": SEALED_SUBMISSION},
				*shared,
				PER_THREAD,
				"-DPRETENDED_ARENA",
				"-Xlinker="
				+ ",".join(f"--wrap={name}" for name in [*wrapped(), "cudaGetSymbolAddress"]),
				"isolated/entry.cu",
				"submission.cu",
				"-Xlinker=isolated/native.o",
				"sealed/wraps.cu",
			),
			(
				"builder on a GPU",
				headers(GPU_TASK),
				PER_THREAD,
				"sealed/builder.cu",
				"isolated/native.o",
				"-o",
				"builder.out",
			),
		]
		jobs.append(
			(
				"wraps",
				{"main.cpp": WRAPS_TEST},
				PER_THREAD,
				"-cudart=none",
				"-Xlinker=-export-dynamic",
				"main.cpp",
				"-o",
				"wraps",
			)
		)
		jobs.append(
			(
				"judge on a GPU",
				headers(GPU_TASK),
				"isolated/judge.cu",
				"isolated/native.o",
				"-o",
				"judge.out",
			)
		)
		with concurrent.futures.ThreadPoolExecutor(2) as pool:
			for done in [pool.submit(self.compile, *job) for job in jobs]:
				done.result()
		self.kept.remove_others()


WORK = Work()
# As in podium-run, the modules and the native part are in one folder.
for module in (
	ISOLATED / "podium_statistics.py",
	ISOLATED / "podium_wire.py",
	ROOT / "harness" / "sealed" / "podium_sealed.py",
	*(
		ROOT / "tests" / "lib" / "pretended_sealed" / name
		for name in ("cu_launcher.py", "pretended.py")
	),
	BUILD / "harness" / "isolated" / "native.so",
	BUILD / "harness" / "sealed" / "sealed.so",
):
	shutil.copy(module, WORK.path)
sys.path.insert(0, str(WORK.path))
import podium_sealed as sealed  # noqa: E402
import podium_statistics as statistics  # noqa: E402
import podium_wire as wire  # noqa: E402


@contextlib.contextmanager
def contestant(command, folder, end, **environment):
	"""Starts a process that has this end of a channel as descriptor 3."""
	process = subprocess.Popen(
		become([end.fileno()], command),
		cwd=folder,
		pass_fds=[end.fileno()],
		env={"PATH": os.environ["PATH"], **environment},
		stdin=subprocess.DEVNULL,
	)
	try:
		yield process
	finally:
		process.kill()
		process.wait()


class Judged:
	def __init__(self, code, text):
		self.code, self.text = code, text
		pairs = [line.split(": ", 1) for line in text.splitlines()]
		self.lines = dict(pairs)
		equal(len(self.lines), len(pairs))  # no key may come twice


def run_folder(mode, kind):
	"""A contestant's folder and environment."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="contestant.", dir=WORK.path))
	shutil.copy(WORK.built(f"{kind}contestant", "contestant.out"), folder)
	shutil.copy(WORK.built(f"{kind}submission", "submission.so"), folder)
	return folder, {"MODE": mode}


def judge(
	mode="test",
	submission="",
	cases=CASES,
	rival=None,
	liar=None,
	program="judge",
	most_file_bytes=None,
	null_environment=None,
	**environment,
):
	"""One run of a judge. `submission`: the mode of the compiled submission. `liar`: a function
	that gets a Liar and replaces the submission."""
	kind = "pretended " if program.startswith("pretended ") else ""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="judge.", dir=WORK.path))
	(folder / "cases.txt").write_text(cases)
	reading, writing = os.pipe()
	pairs = [
		socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		for _ in range(3 if rival is not None else 1 if mode == "test" else 2)
	]
	with contextlib.ExitStack() as stack:
		over = threading.Event()
		stack.callback(over.set)
		for index, (_, end) in enumerate(pairs):
			if index == 0 and liar:
				threading.Thread(target=tell_lies, args=[liar, end, over], daemon=True).start()
				continue
			where, variables = run_folder([submission, "", rival][index], kind)
			variables.update((null_environment or {}) if index == 1 else {})
			stack.enter_context(
				contestant(
					["./contestant.out", *(["--null"] if index == 1 else [])],
					where,
					end,
					**variables,
				)
			)
			end.close()
		descriptors = [writing] + [ours.fileno() for ours, _ in pairs]
		process = stack.enter_context(
			subprocess.Popen(
				become(descriptors, [WORK.built(program, "judge.out"), mode, "cases.txt"]),
				cwd=folder,
				pass_fds=descriptors,
				stdin=subprocess.DEVNULL,
				preexec_fn=(
					lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_file_bytes,) * 2)
				)
				if most_file_bytes
				else None,
				stderr=subprocess.DEVNULL,
				env={
					"PATH": os.environ["PATH"],
					"POPCORN_FD": "3",
					"POPCORN_SEED": "77",
					"CUDA_VISIBLE_DEVICES": "",
					**environment,
				},
			)
		)
		os.close(writing)
		for ours, _ in pairs:
			ours.close()
		with open(reading) as lines:
			text = lines.read()
		return Judged(process.wait(), text)


# Moves the descriptors that the first argument lists to 3, 4, ... and executes the other arguments.
BECOME = """
import fcntl, os, sys
given = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 100) for one in sys.argv[1].split()]
for index, descriptor in enumerate(given):
    os.dup2(descriptor, 3 + index)
os.closerange(3 + len(given), 200)
os.execv(sys.argv[2], sys.argv[2:])
"""


def become(descriptors, command):
	"""The arguments of an interpreter that becomes `command`. It imports no site, which would take
	most of its time."""
	given = " ".join(map(str, descriptors))
	return [sys.executable, "-ISc", BECOME, given, *map(str, command)]


def ends_with(result, code, *parts):
	if result.code != code:
		raise AssertionError(f"exit code {result.code}, expected {code}:\n{result.text}")
	for part in parts:
		contains(result.text, part)


# ---- honest submissions ----


@test
def a_right_answer_passes_with_every_supported_type():
	result = judge()
	ends_with(result, 0)
	equal(
		result.lines,
		{
			"test-count": "2",
			"test.0.spec": "size: 3; seed: 5",
			"test.0.status": "pass",
			"test.1.spec": "size: 700; seed: 6",
			"test.1.status": "pass",
			"check": "pass",
		},
	)


@test
def a_case_is_measured_again_while_the_machine_drifts():
	for drifts, repeated in ((0, 0), (1, 4), (9, 8)):
		result = judge("benchmark", cases="size: 3; seed: 5\n", DRIFTS=str(drifts))
		ends_with(result, 0)
		equal(
			(result.lines["benchmark.0.blocks"], result.lines["benchmark.0.repeated"]),
			("4", str(repeated)),
		)


@test
def a_benchmark_reports_all_figures():
	result = judge("benchmark")
	ends_with(result, 0)
	for name in (
		"runs",
		"mean",
		"std",
		"err",
		"best",
		"worst",
		"median",
		"low",
		"high",
		"constant",
		"own",
		"blocks",
		"repeated",
		"samples",
	):
		contains(result.lines, f"benchmark.1.{name}")
	equal(result.lines["check"], "pass")
	runs, blocks = int(result.lines["benchmark.1.runs"]), int(result.lines["benchmark.1.blocks"])
	assert 1 <= blocks <= 4 and 3 * blocks <= runs <= 10 * blocks, (runs, blocks)
	equal(len(base64.b64decode(result.lines["benchmark.1.samples"])), 4 * runs)
	lacks(result.text, "nonce")


@test
def a_slow_submission_gets_the_blocks_that_a_time_needs_or_no_ranked_time():
	def slow(mode, limit_s):
		return judge(
			mode,
			submission="takes 0.3 s",
			cases="size: 3; seed: 5\n",
			PODIUM_TIME_LIMIT_S=str(limit_s),
		)

	lines = slow("leaderboard", 60).lines
	equal((lines["check"], lines["benchmark.0.blocks"]), ("pass", "4"))
	assert 12 <= int(lines["benchmark.0.runs"]) < 20 and float(lines["benchmark.0.err"]) >= 0, lines
	ends_with(
		slow("leaderboard", 4),
		114,
		"The submission is too slow for this time limit: ",
		" calls fitted, and a time needs 12 calls in 4 blocks. The limit of 4 s was reached.",
	)
	result = slow("benchmark", 4)
	ends_with(result, 0, "The time limit left room for ")
	contains(result.text, ". A time with an interval needs 12 calls in 4 blocks.")
	equal([name for name in ("err", "low", "high") if f"benchmark.0.{name}" in result.lines], [])
	assert 3e8 < float(result.lines["benchmark.0.mean"]) < 6e8, result.text


@test
def ranked_runs_report_different_nonces():
	nonces = [judge("leaderboard", cases="size: 3; seed: 5\n").lines["nonce"] for _ in range(2)]
	assert nonces[0] != nonces[1] and len(nonces[0]) == 32, nonces


@test
def a_comparison_reports_its_result():
	result = judge("compare", cases="size: 3; seed: 5\n", rival="")
	ends_with(result, 0)
	low, ratio, high = (
		float(result.lines[f"benchmark.0.{name}"]) for name in ("ratio_low", "ratio", "ratio_high")
	)
	assert low <= ratio <= high and float(result.lines["benchmark.0.rival"]) > 0, result.text
	contains(result.lines, "benchmark.0.ratio_err")


@test
def a_comparison_measures_each_side_alone_and_both_in_turns():
	files = {
		name: pathlib.Path(tempfile.mkdtemp(prefix="noted.", dir=WORK.path)) / name
		for name in ("entry", "rival")
	}
	ends_with(
		judge(
			"compare", submission=f"notes in {files['entry']}", rival=f"notes in {files['rival']}"
		),
		0,
	)
	noted = {
		name: [line.split() for line in file.read_text().splitlines()]
		for name, file in files.items()
	}
	loaded, called = (
		{name: [float(at) for what, at in lines if what == kind] for name, lines in noted.items()}
		for kind in ("loaded", "called")
	)
	equal([len(times) for times in loaded.values()], [1, 1])
	before, behind = (
		[at for at in called["rival"] if at < loaded["entry"][0]],
		[at for at in called["entry"] if at > called["rival"][-1]],
	)
	together = [at for at in called["rival"] if at > called["entry"][0]]
	# Two cases of at least 4 blocks. On a slow machine a block may be a single call.
	counts = [len(calls) for calls in (before, together, behind)]
	assert min(counts) >= 2 * 4, counts


@test
def changing_the_input_has_no_effect():
	ends_with(judge(submission="changes its input"), 0)


@test
def the_submission_s_environment_has_no_secret():
	ends_with(judge(submission="reads the environment"), 1, "seed not there")


# ---- failing submissions ----


@test
def a_wrong_answer_is_reported():
	result = judge(submission="is wrong")
	ends_with(result, 112, "test.0.status: fail", "test.1.status: fail", "check: fail")
	contains(result.lines["test.0.error"], "value 0 is ")


@test
def an_answer_that_is_wrong_only_in_timed_calls_is_wrong():
	ends_with(judge("benchmark", submission="is wrong when timed"), 112, "benchmark.0.error")


@test
def an_exception_is_reported_and_other_cases_run():
	ends_with(
		judge(submission="raises"),
		1,
		"test.0.error: custom_kernel threw: no such luck",
		"test.1.error: custom_kernel threw",
	)


@test
def a_submission_that_exits_is_reported():
	ends_with(judge(submission="ends"), 117, "error: The submission's process ended.")
	ends_with(judge(submission="ends while it is loaded"), 117)


@test
def a_submission_that_hangs_runs_out_of_time():
	ends_with(
		judge(submission="hangs", PODIUM_TIME_LIMIT_S="4"),
		114,
		"error: The submission did not answer within ",
	)


@test
def outputs_may_change_their_size_a_few_times():
	ends_with(judge(submission="returns more and more"), 112, "become larger", "At most 16 times")


@test
def the_side_that_fails_in_a_comparison_is_named():
	ends_with(judge("compare", rival="is wrong"), 118, "error: The rival failed: ")
	ends_with(judge("compare", submission="is wrong", rival=""), 112, "benchmark.0.status: fail")
	ends_with(judge("compare", rival="raises"), 118, "error: The rival failed: custom_kernel threw")
	ends_with(judge("compare", rival="ends"), 119, "error: The rival failed: ")


@test
def a_kernel_with_another_signature_does_not_link():
	result = WORK.results["misnamed"]
	assert result.returncode, "it was linked"
	contains(result.stderr, "undefined reference to `custom_kernel")


@test
def an_unsupported_type_is_named():
	program = WORK.built("uncarried", "judge.out")
	said = subprocess.run([program, "--can-split"], capture_output=True, text=True)
	equal(
		(said.returncode, said.stdout),
		(115, "The type float const* in input_t cannot be carried to another process.\n"),
	)
	ends_with(judge(program="uncarried"), 115, "error: The type float const* in input_t")
	equal(
		subprocess.run(
			[WORK.built("judge", "judge.out"), "--can-split"], stdout=subprocess.DEVNULL
		).returncode,
		0,
	)


@test
def tasks_with_gpu_data_can_be_split_and_need_a_gpu():
	equal(
		subprocess.run(
			[WORK.built("judge on a GPU", "judge.out"), "--can-split"], stdout=subprocess.DEVNULL
		).returncode,
		0,
	)
	ends_with(judge(program="judge on a GPU"), 115, "there is none")


# ---- the sealed engine ----


@test
def the_linker_is_told_of_all_wraps():
	text = (ROOT / "worker" / "run" / "engine" / "isolated_cu.c").read_text()
	listed = re.search(r"WRAPPED\[\] = \{(.*?)\}", text, re.DOTALL)[1]
	equal(sorted(re.findall(r'"(\w+)"', listed)), wrapped())


def steps_of_wraps():
	"""{a part of the output: {step: its result}}"""
	program = WORK.built("wraps", "wraps")
	said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
	steps = {}
	for line in said.splitlines():
		step, _, result = line.partition(": ")
		if result:
			steps[when][step] = result.strip()
		else:
			when = step
			steps[when] = {}
	return steps


@test
def a_submission_gets_the_memory_of_the_arena():
	steps = steps_of_wraps()
	for when in steps:
		for step, result in {
			"malloc": "0 take 100",
			"malloc 0": "0",
			"malloc too much": "2",
			"free another's": "0 cudaFree",
			"async": "0 take 7",
			"pool": "0 take 7",
			"pitch": "1024 take 3072",
			"pitch too much": "1",
		}.items():
			equal((when, step, steps[when][step]), (when, step, result))
	for step in ("free", "async free"):
		equal(steps["before"][step], "0 cudaDeviceSynchronize give")
		equal(steps["captured"][step], "0")
	equal([steps[when]["free NULL"] for when in steps], ["0 cudaFree", "0"])
	equal(steps["captured"]["end of all"], "0 give give")
	equal(steps["captured"]["full"], "2 take 100")


@test
def a_captured_call_waits_for_nothing():
	steps = steps_of_wraps()
	for step, before, captured in (
		("wait", "cudaDeviceSynchronize", ""),
		("wait for a stream", "cudaStreamSynchronize_ptsz", ""),
		("wait for an event", "cudaEventSynchronize", ""),
		("set", "cudaMemset_ptds", "cudaMemsetAsync_ptsz"),
		("copy", "cudaMemcpy_ptds", "take 1 cudaMemcpyAsync_ptsz"),
		("copy to the host", "cudaMemcpy_ptds", "cudaMemcpy_ptds"),
		("launch", "__cudaLaunchKernel_ptsz", "__cudaLaunchKernel_ptsz"),
	):
		equal(steps["before"][step], f"0 {before}".strip())
		equal((step, steps["captured"][step]), (step, f"0 {captured}".strip()))


@test
def a_copy_from_the_host_becomes_one_from_the_arena():
	steps = steps_of_wraps()
	for step, before, captured in (
		("async copy", "cudaMemcpyAsync_ptsz", "take 3 cudaMemcpyAsync_ptsz"),
		("copy on the GPU", "cudaMemcpyAsync_ptsz", "cudaMemcpyAsync_ptsz"),
		("copy within", "cudaMemcpyAsync_ptsz", "cudaMemcpyAsync_ptsz"),
		("copy nothing", "cudaMemcpyAsync_ptsz", "cudaMemcpyAsync_ptsz"),
		("variable", "cudaMemcpyToSymbol_ptds", ""),
		("async variable", "cudaMemcpyToSymbolAsync_ptsz", ""),
		("variable on the GPU", "cudaMemcpyToSymbol_ptds", "cudaMemcpyToSymbol_ptds"),
	):
		equal((step, steps["before"][step]), (step, f"0 {before}"))
		equal((step, steps["captured"][step]), (step, f"0 {captured}".strip()))
	equal(steps["before"]["copies"], "0")
	copies = steps["captured"]["copies"].split(" ", 1)[1]
	equal(copies, "h for arena 512 abc for arena 512 ab for variable 65 a for variable 32")
	equal(steps["captured"]["begin again"], "0 give give")
	equal(steps["captured"]["copies of the last"], "0")


@test
def a_graph_of_the_submission_is_added_to_the_captured_one():
	steps = steps_of_wraps()
	for step, before, captured in (
		("make", "( cudaGraphInstantiate clone 11 )", None),
		("graph", "cudaGraphLaunch_ptsz", "add 111 to 9 behind 8 behind 22"),
		("graph by nvcc", "cudaGraphLaunch_ptsz", "add 111 to 9 behind 8 behind 22"),
		("upload", "cudaGraphUpload_ptsz", ""),
		("make with flags", "( cudaGraphInstantiateWithFlags clone 12 )", None),
		("graph with flags", "cudaGraphLaunch_ptsz", "add 112 to 9 behind 8 behind 22"),
		("update", "( cudaGraphExecUpdate destroy 111 clone 13 )", None),
		("updated graph", "cudaGraphLaunch_ptsz", "add 113 to 9 behind 8 behind 22"),
		("change", "( cudaGraphExecKernelNodeSetParams find in 113 set 105 )", None),
		("change a set", "( cudaGraphExecMemsetNodeSetParams find in 113 set 105 )", None),
		("change a copy", "( cudaGraphExecMemcpyNodeSetParams find in 113 set 105 )", None),
		("change a row", "( cudaGraphExecMemcpyNodeSetParams1D find in 113 set 105 )", None),
		("changed graph", "cudaGraphLaunch_ptsz", "add 113 to 9 behind 8 behind 22"),
		("end of a graph", "( destroy 113 cudaGraphExecDestroy )", None),
		("change in general", "( cudaGraphExecNodeSetParams find in 112 destroy 112 )", None),
		("make with parameters", "( cudaGraphInstantiateWithParams_ptsz clone 14 )", None),
		("switch off", "( cudaGraphNodeSetEnabled find in 114 destroy 114 )", None),
		("change a graph", "( cudaGraphExecChildGraphNodeSetParams )", None),
	):
		captured = before if captured is None else captured
		equal((step, steps["before"][step]), (step, f"0 {before}"))
		equal((step, steps["captured"][step]), (step, f"0 {captured}".strip()))
	equal(steps["captured"]["unknown graph"], "900")
	contains(steps["captured"]["end with an unknown graph"], "launches a CUDA graph that a library")


@test
def work_outside_of_a_capture_is_noticed():
	steps = steps_of_wraps()["captured"]
	for what in ("", "a copy on ", "a set on "):
		equal(steps[f"end after {what}another stream"].split()[0], "1")
	equal(steps["end"].split()[0], "0")


@test
def the_recorder_has_all_that_a_builder_calls():
	text = (ROOT / "harness" / "sealed" / "recording.h").read_text()
	library = ctypes.CDLL(BUILD / "harness" / "sealed" / "sealed.so")
	calls = set(re.findall(r"SEALED\((\w+)\)\(", text)) - {"name"}
	wraps = (ROOT / "harness" / "sealed" / "wraps.cu").read_text()
	calls |= set(re.findall(r'"(sealed_\w+)"', wraps))
	assert len(calls) > 8, calls
	for name in calls:
		getattr(library, name)


@test
def the_real_builder_says_why_it_cannot_start():
	program = WORK.built("builder on a GPU", "builder.out")
	for library, part in (
		(BUILD / "harness" / "sealed" / "sealed.so", None),
		("/nowhere/sealed.so", "/nowhere/sealed.so: cannot open shared object file"),
	):
		ours, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		with ours, contestant([program, library, "/usr/local/cuda"], WORK.path, end):
			end.close()
			wire.send(ours.fileno(), wire.HELLO, bytes(wire.Hello(wire.VERSION, 1)))
			kind, content, _ = wire.receive(ours.fileno(), 60.0)
			if part or kind != wire.READY:
				equal(kind, wire.TEXT)
				contains(content.decode(), part or ".so")


class Programs:
	"""The programs of a run of the sealed engine. A judge has their sockets in this order."""

	def __init__(self, stack, submission, rival, mode, builder):
		self.sockets, self.stack, self.folders = [], stack, []
		self.add_submission(submission, builder)
		if mode != "test":
			self.add_launcher("--null")
		if rival is not None:
			self.add_submission(rival, None)

	def add(self, start):
		ours, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		self.sockets.append(self.stack.enter_context(ours))
		start(end)

	def add_submission(self, mode, builder):
		if builder:
			self.add(lambda end: threading.Thread(target=builder, args=[end], daemon=True).start())
		else:
			self.add(lambda end: self.start_builder(end, mode))
		self.add_launcher()

	def start_builder(self, end, mode):
		folder = pathlib.Path(tempfile.mkdtemp(prefix="builder.", dir=WORK.path))
		shutil.copy(WORK.built("sealed builder", "builder.out"), folder)
		shutil.copy(WORK.built("sealed submission", "submission.so"), folder)
		command = ["./builder.out", BUILD / "harness" / "sealed" / "sealed.so", "/usr"]
		name, _, value = mode.rpartition("=")
		variables = {name: value} if name else {"MODE": mode}
		self.stack.enter_context(contestant(command, folder, end, **variables))
		self.folders.append(folder)
		end.close()

	def add_launcher(self, *words):
		def start(end):
			command = [sys.executable, "-S", WORK.path / "cu_launcher.py", *words]
			self.stack.enter_context(contestant(command, WORK.path, end))
			end.close()

		self.add(start)


def sealed_judge(
	submission="", mode="test", cases=ONE_CASE, rival=None, builder=None, builds=None, **more
):
	"""A run of the sealed engine on a pretended GPU. `submission`: the mode of the compiled
	submission, or VARIABLE=VALUE for its builder. `builder`: a function that gets the builder's end
	of a socket and replaces it. `builds`: cases of the mode "build". The result has the files of
	PODIUM_PLANS."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="judge.", dir=WORK.path))
	(folder / "cases.txt").write_text(cases)
	reading, writing = os.pipe()
	with contextlib.ExitStack() as stack:
		programs = Programs(stack, submission, rival, mode, builder)
		descriptors = [writing, *(one.fileno() for one in programs.sockets)]
		words = [WORK.built("pretended judge", "judge.out"), mode, "cases.txt"]
		if builds:
			(folder / "builds.txt").write_text(builds)
			words += ["build", "builds.txt"]
		process = stack.enter_context(
			subprocess.Popen(
				become(descriptors, words),
				cwd=folder,
				pass_fds=descriptors,
				stdin=subprocess.DEVNULL,
				stderr=subprocess.DEVNULL,
				env={
					"PATH": os.environ["PATH"],
					"POPCORN_FD": "3",
					"POPCORN_SEED": "77",
					"CUDA_VISIBLE_DEVICES": "0",
					"PODIUM_SEALED": "1",
					"PODIUM_PLANS": str(folder / "plans"),
					"VARIES_FROM": "1e9",
					**more,
				},
			)
		)
		os.close(writing)
		for one in programs.sockets:
			one.close()
		with open(reading) as lines:
			text = lines.read()
		result = Judged(process.wait(), text)
		result.folder = folder / "plans"
		result.plans = {path.name: path.read_bytes() for path in result.folder.glob("*")}
		return result


CANNOT = "custom_kernel does something that the sealed engine cannot record. "


@test
def a_recorded_call_is_played_in_every_mode():
	for mode in ("test", "benchmark", "leaderboard"):
		result = sealed_judge(mode=mode, cases=CASES)
		ends_with(result, 0, "check: pass")
		times = ["times"] if mode == "leaderboard" else []
		parts = ["figures", "plan", *times]
		equal(sorted(result.plans), [f"{number}.{part}" for number in (0, 1) for part in parts])
	contains(result.lines, "benchmark.1.mean")
	ends_with(sealed_judge(mode="compare", rival=""), 0, "benchmark.0.ratio: ")
	ends_with(sealed_judge(mode="benchmark", CALIBRATIONS="1"), 0)


@test
def a_saved_plan_is_its_file_with_the_figures_of_the_launcher():
	plans = sealed_judge().plans
	text_bytes = int.from_bytes(plans["0.figures"][:4], "little")
	equal(json.loads(plans["0.plan"][:text_bytes])["count"], 3)
	equal(plans["0.plan"][-(-text_bytes // 16) * 16 :], b"blob\0")
	equal(plans["0.figures"][4:12], sealed.PLAN_FIGURES.pack(64, 1))


@test
def a_trace_has_six_calls_after_all_that_counts():
	result = sealed_judge(mode="leaderboard")
	equal(result.plans["0.times"], sealed.TIMES.pack(0, sealed.TRACED_CALLS))
	nodes = [{"kind": "empty"}]
	equal(plans.saved_plan(result.folder, 0), (nodes, {0: (0, sealed.TRACED_CALLS)}))
	equal(plans.saved_plan(result.folder, 1), None)
	equal(plans.saved_plan(sealed_judge().folder, 0), (nodes, {}))
	contains(list(result.lines)[-1], "check")


@test
def a_result_counts_without_a_trace():
	for mode in ("has no CUPTI", "leaves in a trace", "is silent in a trace"):
		result = sealed_judge(mode, mode="leaderboard")
		ends_with(result, 0, "check: pass")
		equal(sorted(result.plans), ["0.figures", "0.plan"])


@test
def an_output_may_lie_in_the_input():
	ends_with(sealed_judge("returns its input", mode="benchmark"), 0)


@test
def a_wrong_plan_is_a_wrong_answer():
	ends_with(sealed_judge("is wrong"), 112, "test.0.error: ")
	ends_with(sealed_judge("is wrong", mode="benchmark"), 112, "benchmark.0.error: ")


@test
def a_call_that_cannot_be_recorded_is_refused_with_its_sentence():
	for mode, sentence in (
		("is not recorded", "The call runs a function on the host."),
		("varies from call to call", "The kernel varies."),
		("copies its number", "The call copies other data from the host to the GPU than the call "),
		(
			"copies its number to a variable",
			"The call copies data from the host to a variable that contains other data before",
		),
		("is refused by the launcher", "Blob 0 of the plan has another hash."),
		("needs much", "custom_kernel needs more than 4 MiB of memory on the GPU. Allocate less."),
		("returns the middle", "custom_kernel returned memory that is neither a part of the input"),
		("returns the host's memory", "custom_kernel returned memory that is neither a part of "),
		("returns too much on the host", "custom_kernel's output has more than 63 KiB on the host"),
		(
			"raises when captured",
			"The call failed only while CUDA captured it: custom_kernel threw",
		),
		(
			"exits when captured",
			"The call failed only while CUDA captured it: it ended the process",
		),
		(
			"calls exit when captured",
			"The call failed only while CUDA captured it: it ended the process",
		),
		("END_CAPTURE=904", "The call leaves work on another stream. At its end, record an event"),
		("END_CAPTURE=906", "The call launches work on CUDA's legacy default stream"),
		("END_CAPTURE=900", "The call waits for the GPU, as copies to the host do. "),
	):
		result = sealed_judge(mode, cases=CASES)
		ends_with(result, 121, "test.1.error: ", "check: fail")
		contains(result.lines["test.0.error"], CANNOT + sentence)
		equal(result.plans, {})


@test
def a_constant_that_the_call_copies_from_the_host_belongs_to_the_plan():
	for mode in ("copies a constant", "copies to a variable"):
		ends_with(sealed_judge(mode, cases=CASES), 0, "check: pass")


@test
def a_dry_run_ends_before_its_cases_if_a_call_cannot_be_recorded():
	result = sealed_judge("is not recorded", PODIUM_SEALED="all")
	ends_with(result, 121, "error: The case size: 3; seed: 5: " + CANNOT)
	lacks(result.text, "test-count")


@test
def the_tests_warn_of_a_benchmark_that_cannot_be_recorded():
	builds = "size: 4; seed: 1\nsize: 80; seed: 2\nsize: 90; seed: 3\n"
	result = sealed_judge("is recorded if small", builds=builds)
	ends_with(result, 0, "test.0.status: pass", "check: pass")
	contains(result.lines["warning"], "Benchmark 2 of 3 (size: 80; seed: 2) will fail. " + CANNOT)
	equal(sorted(result.plans), ["0.figures", "0.plan"])
	lacks(sealed_judge(builds=builds).text, "warning")
	slow = sealed_judge("is slow and recorded if small", builds=builds, PODIUM_TIME_LIMIT_S="10")
	ends_with(slow, 0, "check: pass")
	lacks(slow.text, "warning")


@test
def what_the_gpu_has_no_room_for_is_refused():
	for held, code, part in (
		("99.999881", 121, "custom_kernel keeps 0 MiB of the GPU's memory from call to call."),
		("99.99999", 112, "custom_kernel's outputs take 0 MiB, with the memory between them"),
	):
		ends_with(sealed_judge(HELD_4=held), code, "test.0.error: " + part)


@test
def an_error_in_the_build_is_the_submissions():
	ends_with(sealed_judge("raises"), 1, "test.0.error: custom_kernel threw: no such luck")
	ends_with(sealed_judge("ends"), 117, "error: The submission's process ended.")
	ends_with(
		sealed_judge("raises", mode="compare", rival=""),
		1,
		"benchmark.0.error: custom_kernel threw: no such luck",
	)
	ends_with(
		sealed_judge(mode="compare", rival="raises"),
		118,
		"error: The rival failed: custom_kernel threw: no such luck",
	)


@test
def an_error_of_a_plans_kernels_ends_the_run():
	result = sealed_judge("fails on the GPU", cases=CASES)
	ends_with(result, 110, "test.0.error: custom_kernel failed on the GPU: illegal address")
	contains(result.lines["test.1.error"], "not run, because an earlier case left the GPU")


@test
def no_call_begins_while_a_process_of_the_builder_is_left():
	ends_with(sealed_judge("does not leave"), 114, "process did not end within 10 s")


@test
def inputs_that_differ_on_the_host_cannot_be_sealed():
	result = sealed_judge(VARIES_FROM="0")
	ends_with(result, 115, "error: Two inputs of the case size: 3; seed: 5 differ in their part on")
	result = sealed_judge(VARIES_FROM="3")
	ends_with(result, 115, "error: Two inputs of the case size: 3; seed: 5 differ in their part on")


@test
def without_a_gpu_there_is_no_sealed_engine():
	ends_with(sealed_judge(CUDA_VISIBLE_DEVICES=""), 2, "error: The sealed engine needs a GPU.")


def lying_builder(answer):
	"""A builder that follows the protocol until it answers BUILD. `answer` gets its socket."""

	def serve(end):
		answers = {
			wire.HELLO: wire.READY,
			wire.PLACE: wire.MAPPED,
			wire.LOAD: wire.READY,
			wire.INPUTS: wire.MAPPED,
		}
		with end, contextlib.suppress(wire.Gone, wire.Failed, OSError):
			while True:
				kind, _, descriptors = wire.receive(end.fileno(), 60.0, True)
				for descriptor in descriptors:
					os.close(descriptor)
				if kind == wire.BUILD:
					answer(end.fileno())
				else:
					wire.send(end.fileno(), answers[kind])

	return serve


def send_built(end, status=0, text_bytes=2, begin=0, count=256, form=b"", make=None, arena_bytes=0):
	def memfd():
		descriptor = os.memfd_create("plan")
		os.write(descriptor, b"{}")
		return descriptor

	made = [(make or memfd)()] if make is not False else []
	head = sealed.ANSWER.pack(status, text_bytes, arena_bytes)
	outputs = begin.to_bytes(8, "little") + count.to_bytes(8, "little")
	wire.send(end, wire.BUILT, head + outputs + form, made)
	for descriptor in made:
		os.close(descriptor)


@test
def a_hostile_builder_violates_the_protocol():
	for why, answer in (
		("its file is no memfd", lambda end: send_built(end, make=False)),
		("its file is no memfd", lambda end: send_built(end, make=lambda: os.open("/", 0))),
		("its file is no memfd", lambda end: send_built(end, make=lambda: os.pipe()[0])),
		("its text is too long", lambda end: send_built(end, text_bytes=3)),
		("outside of the arena", lambda end: send_built(end, begin=1)),
		("outside of the arena", lambda end: send_built(end, begin=ARENA_BYTES)),
		("outside of the arena", lambda end: send_built(end, begin=2**64 - 256)),
		("outside of the arena", lambda end: send_built(end, count=ARENA_BYTES + 256)),
		("more memory than there", lambda end: send_built(end, arena_bytes=ARENA_BYTES + 1)),
		("an unknown status", lambda end: send_built(end, status=2)),
		("an unknown status", lambda end: send_built(end, status=9)),
		("an unexpected frame", lambda end: wire.send(end, wire.BUILT, b"1234567")),
		("its output is missing", lambda end: wire.send(end, wire.BUILT, bytes(16))),
		("an unexpected frame", lambda end: wire.send(end, wire.MAPPED)),
		("without a reason", lambda end: wire.send(end, wire.TEXT)),
	):
		ends_with(sealed_judge(builder=lying_builder(answer)), 116, "error: ", why)


@test
def an_output_that_cannot_be_read_violates_the_protocol():
	"""The launcher takes the plan first, so the plan is one that it can play."""
	text = b'{"factor":0,"input":0,"output":0,"count":0}'

	def memfd():
		descriptor = os.memfd_create("plan")
		os.write(descriptor, text + bytes(-len(text) % 16) + b"blob\0")
		return descriptor

	def piece(given, place, count):
		numbers = (given, 0, place, 0, count, 0)
		return b"".join(number.to_bytes(8, "little") for number in numbers)

	for form in (
		piece(0, 256, 8),
		piece(0, 0, 512),
		piece(0, 1, 8),
		piece(2, 0, 8),
		piece(1, 0, 1 << 40),
		piece(0, 0, 8) + (1 << 60).to_bytes(8, "little"),
	):
		result = sealed_judge(
			builder=lying_builder(
				lambda end: send_built(end, text_bytes=len(text), form=form, make=memfd)
			)
		)
		ends_with(result, 116, "error: The contestant left no output that can be read")


# ---- which side a failure is charged to ----


def pretended(mode="compare", **more):
	"""A run on a pretended GPU. Variables of pretended_gpu.h make it fail."""
	rival = more.pop("rival", "") if mode == "compare" else None
	return judge(
		mode,
		cases=ONE_CASE,
		rival=rival,
		program="pretended judge",
		**{"CUDA_VISIBLE_DEVICES": "0", **more},
	)


def noted(name, *arguments, **more):
	"""(the result of a run, the numbers that pretended_gpu.h noted under this name)"""
	file = pathlib.Path(tempfile.mkdtemp(prefix="noted.", dir=WORK.path)) / name
	result = pretended(*arguments, **{name: str(file), **more})
	return result, [float(line) for line in file.read_text().splitlines()]


@test
def a_pretended_gpu_runs_every_mode():
	for mode in ("test", "benchmark"):
		ends_with(pretended(mode), 0)
	result = pretended()
	ends_with(result, 0)
	contains(result.lines, "benchmark.0.ratio_err")


@test
def the_side_that_is_late_to_get_ready_loses():
	ends_with(pretended(LATE="4"), 116, "took too long to get ready")
	ends_with(pretended(LATE="6"), 118, "error: The rival failed: ", "took too long to get ready")
	ends_with(pretended(LATE_IN_TURNS="4"), 116, "took too long to get ready")
	ends_with(pretended(LATE_IN_TURNS="6"), 118, "error: The rival failed: ")


@test
def the_side_without_which_the_null_contestant_works_loses():
	for how in ("NULL_FAILS_WITH", "NULL_HANGS_WITH"):
		for mode, socket_of, code, name in (
			("benchmark", "4", 1, "submission"),
			("compare", "4", 1, "submission"),
			("compare", "6", 118, "rival"),
		):
			ends_with(
				pretended(mode, **{how: socket_of}),
				code,
				f"error: The {name} kept the judge's own process from working",
			)


@test
def a_null_contestant_without_memory_goes_on():
	full = {"MEMORY_FULL": "1"}
	ends_with(
		pretended("benchmark", null_environment=full),
		1,
		"error: The submission kept the judge's own process from working",
		"cannot be mapped",
	)


@test
def a_side_that_fails_beside_one_that_holds_most_of_the_memory_does_not_lose():
	beside = "uses over half of the GPU's memory, so the failure of the other one decides nothing"
	file = pathlib.Path(tempfile.mkdtemp(dir=WORK.path)) / "loaded"
	ends_with(
		pretended(submission=f"says in {file}", rival=f"raises after {file}", HELD_4="60"),
		2,
		f"The submission {beside}",
	)
	ends_with(pretended(submission="raises", HELD_6="60"), 2, f"The rival {beside}")
	ends_with(
		pretended(submission="ends while it is loaded", HELD_6="60"), 2, f"The rival {beside}"
	)
	ends_with(
		pretended(submission="raises", HELD_4="60"), 1, "benchmark.0.error: custom_kernel threw"
	)
	ends_with(pretended(submission="ends", HELD_4="60"), 117)


@test
def a_process_that_ends_is_told_apart_from_other_failures():
	for when in ("ends", "ends while it is loaded"):
		ends_with(pretended(rival=when), 119, "error: The rival failed: ")
		ends_with(pretended(submission=when), 117, "error: The submission's process ended.")


@test
def a_gpu_that_fails_the_judge_is_charged_to_the_loaded_side():
	for mode, socket_of, code in (
		("benchmark", "4", 110),
		("compare", "4", 110),
		("compare", "6", 118),
	):
		ends_with(pretended(mode, GPU_LOST_WITH=socket_of), code, "waiting for the GPU")


@test
def a_gpu_that_fails_before_a_submission_is_loaded_is_the_machines_fault():
	for mode in ("benchmark", "compare"):
		ends_with(pretended(mode, GPU_LOST="1"), 2, "error: The judge could not use the GPU")


@test
def a_task_that_finds_no_memory_is_charged_to_the_loaded_side():
	for how, code in (("throws", 113), ("memory", 1), ("CUDA_CHECK", 110), ("exit", 113)):
		ends_with(pretended("benchmark", INPUT=how), code)
	for held, code in (({"HELD_4": "60"}, 110), ({"HELD_6": "60"}, 118), ({}, 2)):
		ends_with(pretended("compare", INPUT="CUDA_CHECK", **held), code)


@test
def a_check_that_cannot_work_with_an_output_is_the_outputs_fault():
	for mode, more, code in (("test", {}, 1), ("compare", {"rival": ""}, 1)):
		ends_with(
			pretended(mode, submission="returns too little", **more),
			code,
			"check_implementation could not work with what custom_kernel returned: ",
		)
	ends_with(pretended(rival="returns too little"), 118, "error: The rival failed: check_impl")
	ends_with(pretended("test", CHECK="CUDA_CHECK"), 110, "could not work with what custom_kernel")


@test
def a_check_that_throws_for_the_right_output_is_the_tasks_fault():
	for mode in ("test", "compare"):
		ends_with(pretended(mode, CHECK="throws"), 113, "fails by itself")


@test
def a_submission_that_loads_too_long_runs_out_of_time():
	ends_with(
		pretended("test", submission="loads long", PODIUM_TIME_LIMIT_S="3"),
		114,
		"error: The submission did not answer within ",
	)
	ends_with(pretended(rival="loads long", PODIUM_TIME_LIMIT_S="4"), 118, "used up the time limit")
	ends_with(
		pretended(submission="loads long", PODIUM_TIME_LIMIT_S="20"),
		114,
		"error: The submission used up the time limit.",
	)


@test
def slow_code_of_the_task_is_not_the_submissions_fault():
	for mode, slow in (("test", "INPUT"), ("benchmark", "CHECK"), ("compare", "INPUT")):
		ends_with(
			pretended(mode, PODIUM_TIME_LIMIT_S="3.5", **{slow: "slow"}),
			113,
			"error: The task's own code took 4",
			" s of the limit of 3.5 s",
		)
	for limit in ("3.5", "4.05"):
		ends_with(pretended("benchmark", submission="is slow", PODIUM_TIME_LIMIT_S=limit), 114)


@test
def an_output_that_grows_while_it_is_measured_is_a_violation():
	ends_with(
		pretended("benchmark", submission="returns more when timed"),
		116,
		"become larger while it is measured",
	)
	ends_with(pretended(rival="returns more when timed"), 118, "error: The rival failed: ")


@test
def a_submission_that_is_slow_in_the_warm_up_is_called_as_often_as_others():
	for mode, submission, calls in (
		("benchmark", "is slow", {3, 4, 5}),
		("benchmark", "is slow at first", {13}),
		("compare", "is slow at first", {13}),
	):
		result, counts = noted("CALLS", mode, submission=submission, CALIBRATIONS="1", LONG_S="0.3")
		ends_with(result, 0)
		assert calls >= set(counts), (mode, submission, counts)


@test
def an_output_must_stay_in_the_same_memory_while_it_is_measured():
	ends_with(pretended("benchmark", submission="returns its input"), 0)
	moved = "returns its input when timed"
	ends_with(pretended("benchmark", submission=moved), 112, "Return the same memory in each call")
	ends_with(pretended(rival=moved), 118, "error: The rival failed: custom_kernel returned a part")


@test
def a_submission_s_own_time_is_reported_only_where_it_is_possible():
	for claimed, is_shown in (("1e12", True), ("1e13", False)):
		result = pretended("benchmark", submission=f"claims {claimed} ns")
		ends_with(result, 0)
		equal("benchmark.0.own" in result.lines, is_shown)


@test
def a_submission_that_delays_all_probes_violates_the_protocol():
	late = {"CALIBRATIONS": "1", "PROBES_LATE_NS": "1e9"}
	ends_with(pretended("benchmark", **late), 116, "kept the GPU from showing it")
	result, counts = noted("QUIET_PROBES", "benchmark", CALIBRATIONS="1")
	ends_with(result, 0)
	equal(set(counts), {16})


@test
def every_part_of_an_output_is_probed_at_its_end_and_at_random_places():
	result, counts = noted("PROBES", "benchmark")
	ends_with(result, 0)
	equal(max(counts), 2 + 3)


@test
def copying_an_output_on_the_host_is_expected_of_the_null_contestant():
	result, most_ns = noted("COPY_NS", "benchmark")
	ends_with(result, 0)
	assert min(most_ns) > 0, most_ns


@test
def no_part_of_an_input_is_there_before_the_contestant_is_ready():
	"""The GPU notes 1 when a contestant is ready, and 2 when the judge starts to lay out the
	input."""
	for more in ({}, {"VARIES_FROM": "1000"}):  # with and without a part on the host that varies
		result, order = noted("ORDER", "benchmark", **more)
		ends_with(result, 0)
		equal(order, [1, 2] * (len(order) // 2))


@test
def a_case_that_begins_again_has_other_inputs():
	result, seeds = noted("SEEDS", "benchmark", VARIES_FROM="8")
	ends_with(result, 0)
	looks = 2
	equal(len(set(seeds[looks:])), len(seeds[looks:]))


# ---- contestants that violate the protocol ----


class Liar:
	"""A contestant in this process, which follows the protocol until the test makes it lie."""

	def __init__(self, end):
		self.end, self.socket = end, end.fileno()
		_, _, descriptors = wire.receive(self.socket, 10, True)
		self.page = wire.page_map(descriptors[0])
		wire.send(self.socket, wire.READY)
		self.wait()  # LOAD
		wire.receive(self.socket, 10)
		wire.send(self.socket, wire.READY)
		wire.stand_by(self.page, self.socket)
		wire.done(self.page, wire.RETURNED, 0, 0.0)

	def wait(self):
		return wire.wait_for_call(self.page, self.socket)

	def map(self):
		"""Maps the memory of the next frame."""
		_, content, descriptors = wire.receive(self.socket, 10, True)
		memory = wire.memory_import(False, int.from_bytes(content[16:24], "little"), descriptors[0])
		wire.send(self.socket, wire.MAPPED)
		return wire.host_bytes(memory)

	def begin(self):
		"""Continues to the bell of the first call."""
		self.wait()
		wire.receive(self.socket, 10)
		wire.send(self.socket, wire.MAPPED)
		self.stand_by()

	def stand_by(self):
		"""Waits for the bell and drops the input that comes with it."""
		wire.stand_by(self.page, self.socket)
		for descriptor in socket.recv_fds(self.end, 1, 1)[1]:
			os.close(descriptor)

	def ask_for(self, host_bytes):
		"""Asks for output memory and continues to the bell of the next call."""
		wire.send(self.socket, wire.SPEC, host_bytes.to_bytes(8, "little") + bytes(8))
		wire.done(self.page, wire.NEW_SPEC, 0, 0.0)
		self.wait()
		self.outputs = self.map()
		self.stand_by()

	def done(self, status=wire.RETURNED, spec=0):
		wire.done(self.page, status, spec, 0.0)


def tell_lies(lie, end, over):
	"""Plays the liar, then keeps the socket open, so that the judge does not see the contestant
	exit."""
	with end, contextlib.suppress(wire.Gone, wire.Failed, OSError):
		lie(Liar(end))
		over.wait()


def is_violation(lie, *parts, **more):
	ends_with(judge(liar=lie, **more), 116, "error: ", *parts)


@test
def an_unwritten_output_is_a_violation():
	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 20)
		liar.done()

	is_violation(lie, "left no output that can be read")


@test
def a_write_after_done_is_a_violation():
	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 20)
		liar.done()
		time.sleep(0.02)
		liar.outputs[:4096] = bytes(4096)

	is_violation(lie)


@test
def counts_beyond_the_memory_are_a_violation():
	for count in (1 << 62, 1 << 40, (1 << 64) - 1, 1 << 20):

		def lie(liar):
			liar.begin()
			liar.ask_for(4096)
			for at in range(0, len(liar.outputs), 16):
				liar.outputs[at : at + 8] = count.to_bytes(8, "little")
			liar.done()

		is_violation(lie, "left no output that can be read")


@test
def random_bytes_are_a_violation_or_a_wrong_answer():
	for seed in range(5):

		def lie(liar):
			chance = random.Random(seed)
			liar.begin()
			liar.ask_for(4096)
			liar.outputs[:] = bytes(
				chance.choice([0, 0, 0, 1, 2, 255]) for _ in range(len(liar.outputs))
			)
			liar.done()

		code = judge(liar=lie, cases="size: 3; seed: 5\n").code
		assert code in (112, 114, 116), code


@test
def asking_for_all_the_memory_is_refused():
	def lie(liar):
		liar.begin()
		liar.ask_for(1 << 60)

	ends_with(judge(liar=lie, cases="size: 3; seed: 5\n"), 112, "for which there is no memory")


@test
def large_outputs_have_fewer_slots():
	"""Four slots of 400 KB do not fit into a file of 1 MB, so the judge uses fewer. The check
	rejects the output, which shows that the judge has received it."""
	ends_with(
		judge(
			"benchmark",
			submission="returns 400 KB",
			most_file_bytes=1 << 20,
			cases="size: 3; seed: 5\n",
		),
		112,
		"a count is 100000",
	)
	ends_with(
		judge(
			"benchmark",
			submission="returns 400 KB",
			most_file_bytes=1 << 19,
			cases="size: 3; seed: 5\n",
		),
		112,
		"for which there is no memory",
	)


@test
def misplaced_frames_and_words_are_violations():
	def wrong_frame(liar):
		liar.begin()
		wire.send(liar.socket, wire.READY)
		liar.done(wire.NEW_SPEC)

	def wrong_status(liar):
		liar.begin()
		liar.done(77)

	def wrong_length(liar):
		liar.begin()
		wire.send(liar.socket, wire.SPEC, b"x" * 5)
		liar.done(wire.NEW_SPEC)

	def device_memory(liar):
		liar.begin()
		wire.send(liar.socket, wire.SPEC, (4096).to_bytes(8, "little") * 2)
		liar.done(wire.NEW_SPEC)

	for lie in (wrong_frame, wrong_status, wrong_length, device_memory):
		is_violation(lie)


@test
def an_announced_frame_must_be_there():
	for status in (wire.NEW_SPEC, wire.RAISED):

		def lie(liar):
			liar.begin()
			liar.done(status)

		is_violation(lie, "announced a frame and did not send it")


@test
def mapping_memory_counts_towards_the_limit_of_the_call():
	def lie(liar):
		liar.wait()
		wire.receive(liar.socket, 10)
		liar.stand_by()

	ends_with(judge(liar=lie, PODIUM_TIME_LIMIT_S="3"), 114, "did not answer within 2.")


@test
def an_output_without_memory_is_a_violation():
	def lie(liar):
		liar.begin()
		liar.done()

	is_violation(lie, "no memory yet")


@test
def text_of_a_contestant_is_never_interpreted():
	def lie(liar):
		liar.begin()
		wire.send(liar.socket, wire.TEXT, b"tcheck: pass\ntest.0.status: pass\xff\n")
		liar.done(wire.RAISED)

	result = judge(liar=lie, cases="size: 3; seed: 5\n")
	ends_with(result, 1)
	equal(result.lines["check"], "fail")
	equal(result.lines["test.0.status"], "fail")


# ---- statistics ----

CALCULATE = r"""
#include "blocks.h"
#include <cstdio>
#include <iostream>
using namespace podium;
static double read() { double one; std::cin >> one; return one; }
static Values read_values()
{
	Values made(static_cast<std::size_t>(read()));
	for (double &one : made)
		one = read();
	return made;
}
static std::vector<Timing> read_calls()
{
	std::vector<Timing> made(static_cast<std::size_t>(read()));
	for (Timing &call : made) {
		call = { read(), read(), read(), read(), read(), read(), false };
		call.is_after = read() != 0;
	}
	return made;
}
int main()
{
	Block block;
	block.calls = read_calls(), block.null = read_calls();
	block.heads = read_values(), block.null_heads = read_values();
	block.bells = read_values(), block.controls = read_values();
	block.delta_ns = read();
	block.quiet = { read(), read(), read(), read(), 0, { read(), read() }, { read(), read() },
		{ read(), read() } };
	const Rule &rule = isolated_cuda_rule;
	Blocks blocks(4, block);
	Summary s(blocks, read_values(), rule);
	for (double one : { s.mean_ns, s.err_ns, s.low_ns, s.high_ns, s.std_ns, s.constant_ns,
			 s.overrun_ns, s.disturbance_ns, s.surcharge_ns, s.own_ns, double(s.runs),
			 s.samples.back(),
			 values_of(blocks, rule)[3], block.disturbance(rule), block.order_over(),
			 double(block.constant_moved(rule)), double(block.is_uneven(rule)),
			 steady_disturbance(blocks, rule), double(delays_probes(blocks, rule)) })
		std::printf("%.17g\n", one);
}
"""
FIGURES = "elapsed_ns touch_ns take_ns head_ns rest_ns probed_ns is_after".split()
LISTS = "heads null_heads bells controls".split()


def quiet_of_tests():
	usual = statistics.Usual(60e3, 300.0)
	return statistics.Quiet(19_000.0, 19_500.0, 800.0, 900.0, 0.0, usual, usual, usual)


def made_up_block():
	"""Makes a block in which every figure influences the result."""
	chance, block = random.Random(7), statistics.Block(800.0, quiet_of_tests())
	for index in range(13):
		noise = [chance.gauss(0, 300) for _ in range(6)]
		usual = dict(zip(FIGURES, map(sum, zip((20e3, 150e3, 20e3, 70e3, 60e3, 6e3), noise))))
		block.null.append(types.SimpleNamespace(**usual, is_after=index % 2 == 1))
		block.calls.append(types.SimpleNamespace(**usual, is_after=False))
		block.null[-1].elapsed_ns += 9e3 * (index % 2)
		block.calls[-1].elapsed_ns += 40e3
		block.calls[-1].rest_ns += 90e3
		block.calls[-1].probed_ns += 45e3
		block.calls[-1].touch_ns -= 140e3 * (index == 12)
		block.heads.append(170e3 + noise[0])
		block.null_heads.append(70e3 + noise[1])
	block.bells = [5e3, 5.1e3, 5.2e3]
	block.controls = [19.1e3, 19.2e3, 19.6e3]
	return block


def listed(values):
	return [len(values), *values]


def as_input(block, own):
	calls = [
		[len(calls), *(float(getattr(call, name)) for call in calls for name in FIGURES)]
		for calls in (block.calls, block.null)
	]
	numbers = [
		*calls,
		*(listed(getattr(block, name)) for name in LISTS),
		[block.delta_ns],
		[block.quiet.empty_ns, block.quiet.call_ns, block.quiet.copy_ns, block.quiet.take_ns],
		*(
			[one.center_ns, one.spread_ns]
			for one in (block.quiet.head, block.quiet.touch, block.quiet.rest)
		),
		listed(own),
	]
	return " ".join(repr(number) for part in numbers for number in part)


@test
def both_judges_compute_the_same_figures():
	program, block, rule = WORK.path / "calculate", made_up_block(), statistics.RULES["cuda"]
	(WORK.path / "calculate.cpp").write_text(CALCULATE)
	subprocess.run(
		[
			"g++",
			"-std=c++20",
			"-Wall",
			"-Wextra",
			"-Werror",
			f"-I{ISOLATED}",
			"-o",
			program,
			WORK.path / "calculate.cpp",
			BUILD / "harness" / "isolated" / "native.o",
		],
		check=True,
	)
	said = subprocess.run(
		[program],
		input=as_input(block, [3.0, 7.0, 4.0]),
		capture_output=True,
		text=True,
		check=True,
	).stdout.split()
	summary = statistics.Summary([block] * 4, [3.0, 7.0, 4.0], rule)
	equal(
		list(map(float, said)),
		[
			summary.mean_ns,
			summary.err_ns,
			summary.low_ns,
			summary.high_ns,
			summary.std_ns,
			summary.constant_ns,
			summary.overrun_ns,
			summary.disturbance_ns,
			summary.surcharge_ns,
			summary.own_ns,
			summary.runs,
			summary.samples[-1],
			statistics.values_of([block] * 4, rule)[3],
			block.disturbance(rule),
			block.order_over(),
			block.constant_moved(rule),
			block.is_uneven(rule),
			statistics.steady_disturbance([block] * 4, rule),
			statistics.delays_probes([block] * 4, rule),
		],
	)
	assert summary.overrun_ns > 150e3 and summary.disturbance_ns > 8e3, vars(summary)


def lack():
	is_built = (BUILD / "harness" / "isolated" / "native.o").exists()
	return nvcc_lack() if is_built else "the programs are not built"


def main():
	try:
		if lack():
			print(f"1..0 # SKIP {lack()}")
			return 0
		WORK.build()
		return run()
	finally:
		shutil.rmtree(WORK.path, ignore_errors=True)


sys.exit(main())
