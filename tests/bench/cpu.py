#!/usr/bin/env python3
"""`make bench-cpu`: how much the times of one file spread on the CPU device, from ranked job to
ranked job, beside no other load and beside as many busy processes as it has CPUs.

	tests/bench/cpu.py [JOBS [WORD]]     20 by default; only rows whose text contains the word

"sine" computes on 1 MiB, in one thread and in two. "add" reads and writes 24 MiB, and mapping them
takes much longer than adding. A spread is the slowest time over the fastest, minus 1. "Ordinary" is
a podium-run of the user nobody, who may not raise a priority. With one job a row, the job also
starts the interpreter, so its seconds mean little."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "integration" / "run")]
from runner import PYTHON, Runner, job, task  # noqa: E402

KERNEL = """
import torch
torch.set_num_threads({threads})
def custom_kernel(data):
	return {call}
"""
REFERENCE = """
import torch
def generate_input(size, seed):
	torch.manual_seed(seed)
	return [*torch.randn(2, size), torch.empty(size)]
def check_implementation(data, output):
	return torch.allclose(output, {expected}), "wrong"
"""
# name: (what the kernel computes, what is expected, the number of values)
FILES = {
	"sine": ("[torch.sin(data[0], out=data[2]) for _ in range(12)][0]", "data[0].sin()", 131072),
	"add": ("torch.add(data[0], data[1], out=data[2])", "data[0] + data[1]", 2097152),
}
BUSY = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"


class Load:
	"""So many busy processes."""

	def __init__(self, count):
		# Each has its own session, as programs in other terminals do.
		self.processes = [
			subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
			for _ in range(count)
		]

	def __enter__(self):
		time.sleep(0.5 * bool(self.processes))
		return self

	def __exit__(self, *_):
		for process in self.processes:
			process.kill()
			process.wait()


def measure(runner, name, threads, jobs):
	"""The (score, its error, the job's seconds, whether it names other load) of each job."""
	call, expected, size = FILES[name]
	message = job(
		KERNEL.format(threads=threads, call=call),
		mode="ranked",
		files=[{"path": "reference.py", "text": REFERENCE.replace("{expected}", expected)}],
		definition=task(
			engine="",
			tests=["size: 1000; seed: 1"],
			benchmarks=[f"size: {size}; seed: 1"],
			ranking_by="last",
		),
	)
	for _ in range(jobs):
		began = time.monotonic()
		runner.send(message)
		result = runner.result()
		if result.verdict != "passed":
			sys.exit(f"{result.verdict}: {result.reason}\n{result.log('stderr', 2)}")
		verdict, message_ = result.verdicts[0], result.cases[-1].get("message") or ""
		yield (
			verdict["score_ns"] / 1e3,
			verdict["score_err_ns"] / 1e3,
			time.monotonic() - began,
			"other load" in message_,
		)


def rows(cpus):
	"""The (priority, user, file, busy processes, threads) of each row."""
	for priority, user in (("raised", None), ("ordinary", "nobody")):
		for name, threads in (("sine", 1), ("sine", 2), ("add", 1)):
			for busy in (0, cpus):
				yield priority, user, name, busy, threads


def main():
	jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
	print(f"# {jobs} jobs a row; times in us; load before the start: {os.getloadavg()[0]:.1f}")
	print(
		"#  priority file busy threads   median   spread   +- (median)  seconds   says other load"
	)
	for priority, user, name, busy, threads in rows(len(os.sched_getaffinity(0))):
		words = f"{priority:>11} {name} {busy:4} {threads:7}"
		if sys.argv[2:] and sys.argv[2] not in words:
			continue
		with Runner("--python", PYTHON, user=user) as runner, Load(busy):
			if jobs > 1:
				list(measure(runner, name, 1, 1))
				time.sleep(5)  # until the zygote has imported torch
			times, errors, seconds, said = zip(*measure(runner, name, threads, jobs))
			middle = statistics.median(times)
			print(
				f"{words} {middle:8.0f} {100 * (max(times) / min(times) - 1):6.1f} % "
				f"{196 * statistics.median(errors) / middle:11.1f} % "
				f"{statistics.median(seconds):8.1f} {sum(said):9} of {jobs}",
				flush=True,
			)


if __name__ == "__main__":
	main()
