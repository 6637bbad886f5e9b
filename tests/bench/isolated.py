#!/usr/bin/python3
"""Measures how well the isolated engine's clock agrees with the kernel's own clock, on the CPU
device.

The kernels are C functions that spin until a duration is over by clock_gettime, and return how long
they took. Judge, null contestant and contestant are processes as podium-run starts them, but
without sandboxes. The engine charges a little more than the kernel measures, because custom_kernel
calls the C function through ctypes.

`make bench-isolated` runs this on an idle machine, ROUNDS (3) times.
tests/harness/isolated_clock.test.py runs a short form with the tests."""

import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import engine  # noqa: E402

LENGTHS_US = tuple(map(int, os.environ.get("LENGTHS_US", "1 3 7 15 25 50 100 500 5000").split()))
ROUNDS = int(os.environ.get("ROUNDS", 3))

SPIN = """
#include <stdint.h>
#include <time.h>

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

int64_t spin(int64_t ns)
{
	const int64_t began = now();
	int64_t gone;
	while ((gone = now() - began) < ns)
		;
	return gone;
}
"""
KERNEL = """
import ctypes
spin = ctypes.CDLL({library!r}).spin
spin.argtypes, spin.restype = [ctypes.c_int64], ctypes.c_int64

def custom_kernel(data):
	return spin(data[0])
"""
REFERENCE = """
def generate_input(us, seed):
	return [us * 1000, seed]

def check_implementation(data, output):
	with open("noted", "a") as file:
		file.write(f"{data[0]} {output}\\n")
	return data[0] <= output, "too short"
"""


def build_kernel(folder):
	library = folder / "spin.so"
	subprocess.run(
		["gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
		input=SPIN,
		text=True,
		check=True,
	)
	return KERNEL.format(library=str(library))


def measure(folder, kernel, lengths_us=LENGTHS_US):
	"""For each length: (the kernel's own time, the charge, half of the interval, the constant), in
	ns."""
	cases = "".join(f"us: {us}; seed: 1\n" for us in lengths_us)
	result = engine.judge(folder, kernel, REFERENCE, "leaderboard", cases, limit_s=120)
	if result.code:
		sys.exit(f"{result.text}\n{result.complaints}")
	measured = [tuple(map(int, line.split())) for line in result.noted]
	for index, us in enumerate(lengths_us):
		figure = {
			name: float(result.lines[f"benchmark.{index}.{name}"])
			for name in ("mean", "low", "high", "constant")
		}
		own = statistics.median(output for wanted, output in measured if wanted == us * 1000)
		yield own, figure["mean"], (figure["high"] - figure["low"]) / 2, figure["constant"]


def main():
	folder = engine.build_engine()
	try:
		rounds = list(zip(*[measure(folder, build_kernel(folder)) for _ in range(ROUNDS)]))
	finally:
		engine.remove(folder)
	print_table(rounds)


def print_table(rounds):
	"""`rounds`: for each length, the results of measure() in all rounds."""
	print(f"# {len(rounds[0])} runs; us, medians of the runs\n#")
	print("#  kernel's own   charged   difference   interval +-   constant   spread of charges")
	for found in rounds:
		own, charged, half, constant = (statistics.median(column) / 1000 for column in zip(*found))
		spread = (max(one[1] for one in found) - min(one[1] for one in found)) / 1000
		print(
			f"#{own:14.2f} {charged:9.2f} {charged - own:12.2f} {half:13.2f} "
			f"{constant:10.2f} {spread:19.2f}"
		)


if __name__ == "__main__":
	main()
