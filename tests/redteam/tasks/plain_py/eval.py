import os
import sys
import time

mode, path = sys.argv[1:]
results = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
secret = int(os.environ.pop("POPCORN_SEED", "0"))
from submission import custom_kernel  # noqa: E402

family, code = "test" if mode == "test" else "benchmark", 0
lines = open(path).read().splitlines()
print(f"{family}-count: {len(lines)}", file=results)
for index, line in enumerate(lines):
	case = {key.strip(): int(value) for key, value in (part.split(":") for part in line.split(";"))}
	data = tuple((secret + case["seed"] * 31 + place) % 1009 for place in range(case["size"]))
	began = time.perf_counter_ns()
	output = custom_kernel(data)
	taken_ns = time.perf_counter_ns() - began
	print(f"{family}.{index}.spec: {line}", file=results)
	if output != data + data:
		print(
			f"{family}.{index}.status: fail\n{family}.{index}.error: not the tuple twice",
			file=results,
		)
		code = 112
		break
	if mode in ("benchmark", "leaderboard"):
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
sys.exit(code)
