"""An eval that measures groups of calls on the same inputs, and checks every output again, even in
benchmarks. With the trait REPLAYS, it records a group once and measures replays of the record. It
runs in a pool of one process, or in this process if the trait POOL is 0."""

import contextlib
import math
import multiprocessing
import os
import re
import sys

import traits
from reference import check_implementation, generate_input, nanoseconds

GROUP_BYTES = 64 * 1024


def tell(results, key, value):
	os.write(results, f"{key}: {value}\n".encode())


def parse(spec, seed):
	arguments = {}
	for part in spec.split(";"):
		found = re.fullmatch(rf"\s*({traits.KEY}):\s*({traits.VALUE})\s*", part)
		if not found:
			print(f"invalid test case: '{spec}': '{part}'", file=sys.stderr)
			sys.exit(113)
		arguments[found[1]] = int(found[2]) if found[2].lstrip("-").isdigit() else found[2]
	if seed is not None and "seed" in arguments:
		total = arguments["seed"] + seed
		arguments["seed"] += total * (total + 1) // 2
	return arguments


def test(arguments):
	from submission import custom_kernel

	data = generate_input(**arguments)
	return check_implementation(data, custom_kernel(list(data)))


class Graph:
	"""A group of calls that acts like a CUDA graph: a replay reads and writes the memory of the
	recorded calls, and the outputs are checked only after the last replay."""

	def __init__(self, function, inputs):
		self.function, self.inputs = function, [list(data) for data in inputs]
		self.outputs = [function(data) for data in self.inputs]
		self.replays = 0

	def replay(self, inputs):
		for memory, data, output in zip(self.inputs, inputs, self.outputs):
			memory[:] = data
			output[:] = self.function(memory)
		self.replays += 1


def measure(arguments, repeats):
	from submission import custom_kernel

	calls = max(1, min(5, GROUP_BYTES // (arguments["size"] * 64)))
	inputs = []
	for _ in range(calls):
		inputs.append(generate_input(**arguments, quiet=bool(inputs)))
		arguments = {**arguments, "seed": arguments["seed"] + 42}
	durations = []
	graph = Graph(custom_kernel, inputs) if traits.REPLAYS else None
	for run in range(repeats):
		for _ in range(traits.REPLAYS):
			graph.replay(inputs)
		outputs = graph.outputs if graph else [custom_kernel(list(data)) for data in inputs]
		durations.append(sum(nanoseconds(arguments["size"], run) for _ in inputs) / calls)
		for data, output in zip(inputs, outputs):
			good, text = check_implementation(data, output)
			if not good:
				return text, None
	if graph and repeats > 1:
		print(f"replays: {graph.replays}")
	mean = sum(durations) / repeats
	std = (
		math.sqrt(sum((one - mean) ** 2 for one in durations) / (repeats - 1))
		if repeats > 1
		else 0.0
	)
	return "", {
		"runs": repeats,
		"mean": mean,
		"std": std,
		"err": std / math.sqrt(repeats),
		"best": min(durations),
		"worst": max(durations),
	}


class Here:
	"""Has the interface of a pool, but calls the function in this process."""

	def apply(self, function, arguments):
		return function(*arguments)


def pool():
	return (
		multiprocessing.get_context("spawn").Pool(1)
		if traits.POOL
		else contextlib.nullcontext(Here())
	)


def run_testing(results, workers, cases):
	tell(results, "test-count", len(cases))
	passed = True
	for index, (spec, arguments) in enumerate(cases):
		tell(results, f"test.{index}.spec", spec)
		good, text = workers.apply(test, (arguments,))
		tell(results, f"test.{index}.status", "pass" if good else "fail")
		if text:
			tell(
				results, f"test.{index}.{'message' if good else 'error'}", text.replace("\n", "\\n")
			)
		passed = passed and good
	return passed


def run_benchmarking(results, workers, cases, repeats):
	for _, arguments in cases:
		text, _ = workers.apply(measure, (arguments, 1))
		if text:
			break
	tell(results, "benchmark-count", len(cases))
	for index, (spec, arguments) in enumerate(cases):
		text, figures = workers.apply(measure, (arguments, repeats))
		tell(results, f"benchmark.{index}.spec", spec)
		if text:
			tell(results, f"benchmark.{index}.status", "fail")
			tell(results, f"benchmark.{index}.error", text.replace("\n", "\\n"))
			return False
		for key, value in figures.items():
			tell(results, f"benchmark.{index}.{key}", value)
	return True


def main():
	mode, path = sys.argv[1:]
	results = int(os.environ["POPCORN_FD"])
	seed = os.environ.pop("POPCORN_SEED", None)
	cases = [
		(spec, parse(spec, int(seed) if seed else None)) for spec in open(path).read().splitlines()
	]
	with pool() as workers:
		if mode == "test":
			passed = run_testing(results, workers, cases)
		else:
			passed = run_benchmarking(results, workers, cases, traits.REPEATS[mode])
	tell(results, "check", "pass" if passed else "fail")
	return 0 if passed else 112


if __name__ == "__main__":
	sys.exit(main())
