"""Measures the rows of tests/gpu/accuracy with other methods, in an ordinary process.
tests/gpu/accuracy starts it with the GPU's Python.

	beside.py LANGUAGE ROW...        ROW: its number in rows.py; prints one line of JSON for each

	own      the sum of the durations of a call's kernels, by CUPTI
	span     from the start of the first kernel to the end of the last, by CUPTI
	events   CUDA events around each call
	pair     CUDA events around nothing
	window   calls back to back with one wait at the end, divided by their number

As in the engine, the L2 cache is overwritten before each call, except in `window`.
"""

import ctypes
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from rows import ROWS  # noqa: E402

FLUSH_BYTES, ROTATED_BYTES = 128 << 20, 256 << 20
CALLS, BACK_TO_BACK, WINDOWS = 60, 200, 5
LONG_S = 0.3  # a window with longer calls has fewer of them
WRAPPER = (
	'#include "kernels.cuh"\n__global__ void nothing() {}\n'
	'extern "C" void run_nothing() { nothing<<<1, 1>>>(); }\n'
	'extern "C" void work(int w, const float *s, float *o, size_t c, long a) '
	"{ do_work(w, s, o, c, a); }\n"
)


def python_call():
	spec = importlib.util.spec_from_file_location(
		"right", HERE / "tasks" / "accuracy_py" / "samples" / "right.py"
	)
	module = importlib.util.module_from_spec(spec)
	spec.loader.exec_module(module)
	return lambda row, source, output: module.WORKS[row.work](
		source, output, row.amount
	), lambda: torch.cuda._sleep(1)


def cuda_call():
	"""Compiles the sample's kernels as a library. Returns functions that run a row and an empty
	kernel."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-beside."))
	(folder / "wrapper.cu").write_text(WRAPPER)
	subprocess.run(
		[
			"nvcc",
			"-O3",
			"-std=c++20",
			"-arch=native",
			"-shared",
			"-Xcompiler",
			"-fPIC",
			"-I",
			HERE / "tasks" / "accuracy_cu",
			"-o",
			folder / "wrapper.so",
			folder / "wrapper.cu",
		],
		check=True,
	)
	library = ctypes.CDLL(folder / "wrapper.so")
	work = library.work
	work.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
	return lambda row, source, output: work(
		row.work, source.data_ptr(), output.data_ptr(), row.size, row.amount
	), library.run_nothing


def kernels_of(recorded):
	"""All kernels except those that flush the cache."""
	return [
		event
		for event in recorded.events()
		if event.device_type.name == "CUDA" and "Fill" not in event.name and event.device_time > 0
	]


def print_empty(language, run_empty):
	"""Prints the durations of the null contestant's empty kernel: when it runs again immediately,
	and after a flush of the L2 cache. After a flush the GPU must first fetch the kernel's
	instructions, as when the judge measures."""
	flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
	for is_cold in (False, True):
		with profile(activities=[ProfilerActivity.CUDA]) as recorded:
			for index in range(2 * CALLS):
				if is_cold:
					flush.fill_(index)
				run_empty()
				torch.cuda.synchronize()
		times = [event.device_time for event in kernels_of(recorded)][CALLS:]
		print(
			f"# {language}: the empty kernel takes {statistics.median(times):.3f} "
			f"us{' behind a flush' if is_cold else ''}",
			file=sys.stderr,
		)


class Bench:
	def __init__(self, row, call):
		count = max(2, min(64, ROTATED_BYTES // (8 * row.size)))
		self.row, self.call = row, call
		self.sets = [
			(torch.rand(row.size, device="cuda"), torch.empty(row.size, device="cuda"))
			for _ in range(count)
		]
		self.flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
		for index in range(len(self.sets)):
			self.once(index)
		torch.cuda.synchronize()

	def once(self, index):
		self.call(self.row, *self.sets[index % len(self.sets)])

	def cold(self, index):
		self.flush.fill_(index)
		self.once(index)

	def events(self, function):
		times = []
		for index in range(CALLS):
			start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
			self.flush.fill_(index)
			start.record()
			function(index)
			end.record()
			torch.cuda.synchronize()
			times.append(start.elapsed_time(end) * 1000)
		return statistics.median(times)

	def window(self):
		began = time.perf_counter()
		self.once(0)
		torch.cuda.synchronize()
		calls = max(5, min(BACK_TO_BACK, int(LONG_S / (time.perf_counter() - began))))
		times = []
		for _ in range(WINDOWS):
			began = time.perf_counter()
			for index in range(calls):
				self.once(index)
			torch.cuda.synchronize()
			times.append((time.perf_counter() - began) / calls * 1e6)
		return statistics.median(times)

	def profiled(self):
		"""Returns (own, span)."""
		with profile(activities=[ProfilerActivity.CUDA]) as recorded:
			for index in range(CALLS):
				self.cold(index)
				torch.cuda.synchronize()
		kernels = sorted(
			(event.time_range.start, event.time_range.end, event.device_time)
			for event in kernels_of(recorded)
		)
		each = len(kernels) // CALLS
		calls = (
			[kernels[first : first + each] for first in range(0, each * CALLS, each)]
			if each
			else []
		)
		if not calls:
			return float("nan"), float("nan")
		return (
			statistics.median(sum(kernel[2] for kernel in one) for one in calls),
			statistics.median(max(kernel[1] for kernel in one) - one[0][0] for one in calls),
		)


def main(language, *numbers):
	call, run_empty = {"py": python_call, "cu": cuda_call}[language]()
	print_empty(language, run_empty)
	for row in [ROWS[int(number)] for number in numbers]:
		bench = Bench(row, call)
		own, span = bench.profiled()
		figures = {
			"own": own,
			"span": span,
			"events": bench.events(bench.once),
			"pair": bench.events(lambda index: None),
			"window": bench.window(),
		}
		print(json.dumps({"row": ROWS.index(row), **figures}), flush=True)
		del bench
		torch.cuda.empty_cache()


main(*sys.argv[1:])
