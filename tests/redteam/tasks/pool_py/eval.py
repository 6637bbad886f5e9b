import multiprocessing
import os
import sys
import time


def call(data):
	sys.argv = ["eval.py", sys.argv[1] if len(sys.argv) > 1 else ""]
	from submission import custom_kernel

	began = time.perf_counter_ns()
	output = custom_kernel(list(data))
	return output, time.perf_counter_ns() - began


def main():
	mode, path = sys.argv[1:]
	results = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
	secret = int(os.environ.get("POPCORN_SEED", "0"))
	os.unsetenv("POPCORN_SEED")
	family, code = "test" if mode == "test" else "benchmark", 0
	lines = open(path).read().splitlines()
	print(f"{family}-count: {len(lines)}", file=results)
	with multiprocessing.get_context("spawn").Pool(1) as pool:
		for index, line in enumerate(lines):
			case = {
				key.strip(): int(value)
				for key, value in (part.split(":") for part in line.split(";"))
			}
			data = [(secret + case["seed"] * 31 + place) % 1009 for place in range(case["size"])]
			output, taken_ns = pool.apply(call, (data,))
			print(f"{family}.{index}.spec: {line}", file=results)
			if output != [2 * value for value in data]:
				print(
					f"{family}.{index}.status: fail\n{family}.{index}.error: not twice the numbers",
					file=results,
				)
				code = 112
				break
			if family == "benchmark":
				for key, value in (
					("runs", 3),
					("mean", taken_ns),
					("std", 0),
					("err", 0),
					("best", taken_ns),
					("worst", taken_ns),
				):
					print(f"{family}.{index}.{key}: {value}", file=results)
			print(f"{family}.{index}.status: pass", file=results)
	print("check: " + ("fail" if code else "pass"), file=results)
	return code


if __name__ == "__main__":
	sys.exit(main())
