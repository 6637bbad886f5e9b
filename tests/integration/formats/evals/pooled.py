"""An eval that measures in the processes of a `spawn` pool. Only these processes import the
submission, and only the main process reports results."""

import math
import multiprocessing
import os
import re
import sys
import tempfile
import time
from multiprocessing.connection import Client, Listener

import reference
import traits


class Results:
	def __init__(self, descriptor):
		os.set_inheritable(descriptor, False)
		self.file = os.fdopen(descriptor, "w")

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.file.close()

	def line(self, key, value):
		print(f"{key}: {value}", file=self.file, flush=True)


# ---- cases ----


class Case:
	def __init__(self, spec, arguments):
		self.spec, self.arguments = spec, arguments

	def another(self, step):
		"""Adds `step` to the case's seed, if it has one."""
		if "seed" in self.arguments:
			self.arguments = {**self.arguments, "seed": self.arguments["seed"] + step}


def value_of(text):
	if re.fullmatch(r"-?\d+", text):
		return int(text)
	if text in traits.WORDS:
		return traits.WORDS[text]
	if traits.LISTS and text[0] in "([":
		return tuple(int(number) for number in text[1:-1].split(",") if number.strip())
	return text


def parse(spec):
	arguments = {}
	for part in spec.split(";"):
		if traits.SKIPS_EMPTY and not part.strip():
			continue
		found = re.fullmatch(rf"\s*({traits.KEY})\s*:\s*({traits.VALUE})\s*", part)
		if not found:
			print(f"invalid test case: '{spec}': '{part}'", file=sys.stderr)
			sys.exit(113)
		arguments[found[1]] = value_of(found[2])
	return arguments


def combined(case_seed, seed):
	return case_seed + (case_seed + seed) * (case_seed + seed + 1) // 2


def read_cases(path, seed):
	try:
		specs = open(path).read().splitlines()
	except OSError as fault:
		print(fault, file=sys.stderr)
		sys.exit(113)
	cases = [Case(spec, parse(spec)) for spec in specs if spec or not traits.SKIPS_EMPTY]
	for case in cases:
		if seed is not None and "seed" in case.arguments:
			case.arguments["seed"] = combined(case.arguments["seed"], seed)
	return cases


# ---- in the pool's processes ----


def checked(answer):
	"""Returns (is right, text). Older references return only the text, which is empty if the answer
	is right."""
	return answer if isinstance(answer, tuple) else (not answer, answer)


def answer_to(data):
	from submission import custom_kernel

	return custom_kernel(list(data))


def meet(rank, world_size, mine):
	"""Adds up `mine` over all ranks. Returns the sum to rank 0, and 0 to the other ranks. Returns
	only once the other ranks have called meet() too."""
	place = os.path.join(tempfile.gettempdir(), "meeting")
	if rank == 0:
		with Listener(place, backlog=world_size) as listener:
			for _ in range(world_size - 1):
				with listener.accept() as other:
					mine += other.recv()
		return mine
	for _ in range(1000):
		try:
			with Client(place) as first:
				first.send(mine)
			return 0
		except (FileNotFoundError, ConnectionRefusedError):
			time.sleep(0.01)
	raise TimeoutError("the first rank does not answer")


def test_rank(case, rank):
	data = reference.generate_input(**case.arguments, rank=rank)
	output = answer_to(data)
	total = meet(rank, case.arguments["world_size"], len(output))
	if rank == 0:
		sys.stdout.write(f"elements of all ranks: {total}\n")
	return checked(reference.check_implementation(data, output))


def test_alone(case):
	data = reference.generate_input(**case.arguments)
	try:
		output = answer_to(data)
	except ArithmeticError as fault:
		if not traits.CATCHES:
			raise
		return False, f"Encountered {type(fault).__name__}: {fault}"
	return checked(reference.check_implementation(data, output))


def measure(case, repeats, recheck):
	"""Returns (figures, "") or (None, error)."""
	good, text = test_alone(case)
	if not good:
		return None, text
	durations = []
	for run in range(repeats):
		if recheck:
			case.another(13)
		inputs = [
			reference.generate_input(**case.arguments, quiet=True) for _ in range(traits.GROUP)
		]
		start = time.perf_counter_ns()
		outputs = [answer_to(data) for data in inputs]
		spent = (time.perf_counter_ns() - start) / traits.GROUP
		durations.append(
			spent if traits.CLOCK else reference.nanoseconds(case.arguments["size"], run)
		)
		if recheck:
			good, text = checked(reference.check_implementation(inputs[-1], outputs[-1]))
			if not good:
				return None, text
	return statistics(durations), ""


def statistics(durations):
	runs = len(durations)
	mean = sum(durations) / runs
	std = math.sqrt(sum((duration - mean) ** 2 for duration in durations) / (runs - 1))
	return {
		"runs": runs,
		"mean": mean,
		"std": std,
		"err": std / math.sqrt(runs),
		"best": float(min(durations)),
		"worst": float(max(durations)),
	}


# ---- here ----


def run_test(pool, case):
	ranks = case.arguments.get("world_size")
	if ranks is None:
		return pool.apply(test_alone, (case,))
	waiting = [pool.apply_async(test_rank, (case, rank)) for rank in range(ranks)]
	answers = [one.get(60) for one in waiting]
	return all(good for good, _ in answers), "\n".join(text for _, text in answers if text)


def tell_error(results, name, text):
	results.line(f"{name}.status", "fail")
	results.line(f"{name}.error", text.replace("\n", "\\n") if traits.ESCAPES else text)


def run_testing(results, pool, cases):
	passed = True
	results.line("test-count", len(cases))
	for index, case in enumerate(cases):
		results.line(f"test.{index}.spec", case.spec)
		good, text = run_test(pool, case)
		if good:
			results.line(f"test.{index}.status", "pass")
			if text:
				results.line(f"test.{index}.message", text)
		else:
			tell_error(results, f"test.{index}", text)
			passed = False
	results.line("check", "pass" if passed else "fail")
	return 0 if passed else 112


def run_benchmarking(results, pool, cases):
	pool.apply(measure, (cases[0], 2, False))
	passed = True
	results.line("benchmark-count", len(cases))
	for index, case in enumerate(cases):
		results.line(f"benchmark.{index}.spec", case.spec)
		figures, text = pool.apply(measure, (case, traits.REPEATS["benchmark"], False))
		if figures is None:
			tell_error(results, f"benchmark.{index}", text)
			passed = False
			continue
		for key, value in figures.items():
			results.line(f"benchmark.{index}.{key}", value)
	results.line("check", "pass" if passed else "fail")
	return 0 if passed else 112


def run_leaderboard(results, pool, cases):
	for case in cases if traits.WARMS_ALL else cases[:1]:
		pool.apply(measure, (case, 2, False))
	results.line("benchmark-count", len(cases))
	passed = True
	for index, case in enumerate(cases):
		figures, text = pool.apply(measure, (case, traits.REPEATS["leaderboard"], True))
		results.line(f"benchmark.{index}.spec", case.spec)
		if figures is None:
			tell_error(results, f"benchmark.{index}", text)
			passed = False
			break
		for key, value in figures.items():
			results.line(f"benchmark.{index}.{key}", value)
	results.line("check", "pass" if passed else "fail")
	return 0 if passed else traits.LEADERBOARD_FAILS_WITH


MODES = {"test": run_testing, "benchmark": run_benchmarking, "leaderboard": run_leaderboard}


def main():
	descriptor = os.getenv("POPCORN_FD")
	if not descriptor:
		return 111
	if len(sys.argv) != 3 or sys.argv[1] not in MODES:
		return 2
	seed = os.getenv("POPCORN_SEED")
	os.unsetenv("POPCORN_SEED")
	if traits.GREETS:
		print("main")
	cases = read_cases(sys.argv[2], int(seed) if seed else None)
	workers = int(os.getenv("POPCORN_GPUS", "1")) if traits.POOL == "POPCORN_GPUS" else traits.POOL
	print("workers:", workers)
	with Results(int(descriptor)) as results:
		with multiprocessing.get_context("spawn").Pool(workers) as pool:
			return MODES[sys.argv[1]](results, pool, cases)


if __name__ == "__main__":
	code = main()
	if traits.RETURNS_CODE:
		sys.exit(code)
