"""An eval of the oldest form: it imports the submission into its own process.

Inputs have the seeds of the cases. A ranked run times only the last case and reports it as the only
benchmark. It reports a wrong answer to that case as test 0."""

import math
import os
import re
import sys
import time

import traits
from reference import check_implementation, generate_input, nanoseconds
from utils import set_seed

results = None


def tell(key, value):
	print(f"{key}: {value}", file=results, flush=True)


def parse(spec):
	arguments = {}
	for part in spec.split(";"):
		found = re.fullmatch(rf"\s*({traits.KEY}):\s*({traits.VALUE})\s*", part)
		if not found:
			print(f"invalid test case: '{spec}': '{part}'", file=sys.stderr)
			sys.exit(113)
		arguments[found[1]] = int(found[2]) if re.fullmatch(r"-?\d+", found[2]) else found[2]
	return arguments


def once(arguments):
	"""Checks one answer. Returns the error, or an empty text."""
	from submission import custom_kernel

	data = generate_input(**arguments)
	return check_implementation(data, custom_kernel(data))


def measure(arguments, recheck):
	from submission import custom_kernel

	durations = []
	text = once(arguments)
	if text:
		return text, None
	for run in range(4):
		data = generate_input(**arguments, quiet=True)
		start = time.perf_counter_ns()
		output = custom_kernel(data)
		spent = time.perf_counter_ns() - start
		text = check_implementation(data, output) if recheck else ""
		if text:
			return text, None
		durations.append(spent if traits.CLOCK else nanoseconds(arguments["size"], run))
	mean = sum(durations) / 4
	std = math.sqrt(sum((one - mean) ** 2 for one in durations) / 3)
	return "", {"runs": 4, "mean": mean, "std": std, "err": std / 2}


def run_testing(cases):
	passed = True
	tell("test-count", len(cases))
	for index, spec in enumerate(cases):
		tell(f"test.{index}.spec", spec)
		text = once(parse(spec))
		tell(f"test.{index}.status", "fail" if text else "pass")
		if text:
			tell(f"test.{index}.error", text)
			passed = False
	tell("check", "pass" if passed else "fail")
	return 0 if passed else 112


def run_benchmarking(cases):
	passed = True
	tell("benchmark-count", len(cases))
	for index, spec in enumerate(cases):
		tell(f"benchmark.{index}.spec", spec)
		text, figures = measure(parse(spec), False)
		if text:
			tell(f"benchmark.{index}.status", "fail")
			tell(f"benchmark.{index}.error", text)
			passed = False
			continue
		for key, value in {
			**figures,
			"best": figures["mean"] - 1,
			"worst": figures["mean"] + 1,
		}.items():
			tell(f"benchmark.{index}.{key}", value)
	tell("check", "pass" if passed else "fail")
	return 0 if passed else 112


def run_leaderboard(cases):
	text, figures = measure(parse(cases[-1]), True)
	if text:
		tell("test-count", 1)
		tell("test.0.status", "fail")
		tell("test.0.error", text)
		if traits.LEADERBOARD_CHECKS:
			tell("check", "fail")
		return traits.LEADERBOARD_FAILS_WITH
	tell("benchmark-count", 1)
	tell("benchmark.0.spec", cases[-1])
	for key, value in figures.items():
		tell(f"benchmark.0.{key}", value)
	tell("check", "pass")
	return 0


MODES = {"test": run_testing, "benchmark": run_benchmarking, "leaderboard": run_leaderboard}


def main():
	global results
	if "POPCORN_FD" not in os.environ:
		return 111
	results = os.fdopen(int(os.environ["POPCORN_FD"]), "w")
	set_seed(int(os.getenv("POPCORN_SEED", "42")))
	if len(sys.argv) != 3 or sys.argv[1] not in MODES:
		return 2
	for name in traits.SAYS:
		print("buffer:", name)
	return MODES[sys.argv[1]](open(sys.argv[2]).read().splitlines())


sys.exit(main())
