#!/usr/bin/env python3
"""podium check on a sample gives what a worker stores for the same file and task: the same verdict,
reason and cases.

The test takes the samples of one shipped Python task, on the CPU. With PODIUM_EVERY_SAMPLE=1 it
takes the samples of all shipped Python tasks, which needs minutes."""

import json
import os
import subprocess
import sys

from home import BUILD, ROOT, check, close as close_home, torch_lack

sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, equal, run, test  # noqa: E402
import workers  # noqa: E402

TASKS = sorted(
	path
	for path in (ROOT / "tasks").iterdir()
	if path.name.endswith("_py")
	and (path.name == "identity_py" or os.environ.get("PODIUM_EVERY_SAMPLE"))
)
chosen = []  # folder, sample and mode of each test that runs
numbers = {}  # job number by sample


def samples_of(folder):
	"""The samples, each with its mode, as the code that reads tasks lists them."""
	program = BUILD / "tests" / "integration" / "harness" / "test_jobs"
	answer = subprocess.run([program, folder], capture_output=True, text=True, check=True)
	jobs = [json.loads(line) for line in answer.stdout.splitlines()]
	return [(folder / job["source"], job["mode"]) for job in jobs if job["verdict"]]


def start():
	"""Submits all samples and starts a worker on the CPU. The worker judges them while podium check
	runs."""
	workers.admin("migrate")
	for folder in TASKS:
		workers.admin("task", "load", "--unchecked", str(folder))
	for folder, sample, mode in chosen:
		numbers[sample] = workers.submit(sample.read_text(), mode, board=folder.name)
	workers.Worker(PODIUM_PYTHON="").says("is ready")


def hex_of(text):
	"""The text in hexadecimal, as the database's HEX() returns it. Texts are compared in this form
	because the database's client escapes line ends."""
	return text.encode().hex().upper()


def by_worker(sample):
	number = numbers[sample]
	workers.until(lambda: workers.job(number) in ("done", "failed"), 300)
	columns = "verdict, HEX(reason), engine"
	# Messages of timed cases differ between runs, so only those of tests are compared.
	cases = workers.sql(
		"SELECT t.name, m.case_index, m.spec, m.verdict, IF(t.name = 'test', HEX(m.message), '') "
		"FROM measurements m "
		f"JOIN stages t ON t.id = m.stage_id WHERE t.job_id = {number} ORDER BY t.position, "
		"m.case_index"
	)
	stages = workers.sql(
		f"SELECT name, verdict FROM stages WHERE job_id = {number} ORDER BY position"
	)
	return workers.job(number, columns), [list(row) for row in stages], [list(row) for row in cases]


def by_check(folder, sample, mode):
	seed = workers.sql(f"SELECT secret_seed FROM leaderboards WHERE name = '{folder.name}'")[0][0]
	result = check(
		sample,
		"--mode",
		mode,
		"--json",
		"--gpu",
		"cpu",
		*(("--seed", seed) if mode == "ranked" else ()),
		folder=folder,
	).json
	cases = [
		[
			stage["stage"],
			str(case["index"]),
			case["spec"],
			case["verdict"],
			hex_of(case["message"]) if stage["stage"] == "test" else "",
		]
		for stage in result["stages"]
		for case in stage["cases"]
	]
	stages = [[stage["stage"], stage["verdict"]] for stage in result["stages"]]
	return [result["verdict"], hex_of(result["reason"]), result["engine"]], stages, cases


def make_test(folder, sample, mode):
	def compare():
		if torch_lack():
			raise Skip(torch_lack())
		if not numbers:
			start()
		equal(by_check(folder, sample, mode), by_worker(sample))

	name = f"{folder.name} {sample.name} in mode {mode} is judged as by a worker"
	compare.__name__ = name.replace(" ", "_")
	test(compare)
	if not sys.argv[1:] or any(word in compare.__name__ for word in sys.argv[1:]):
		chosen.append((folder, sample, mode))


for folder in TASKS:
	for sample, mode in samples_of(folder):
		make_test(folder, sample, mode)

if __name__ == "__main__":
	try:
		code = run()
	finally:
		workers.close()
		close_home()
	sys.exit(code)
