#!/usr/bin/env python3
"""What podium check says of a sample at home is what a worker stores for the same file and task: verdict, reason and cases. So
for every sample of the Python tasks that ship, on the CPU."""
import sys

from home import ROOT, check, close as close_home, torch_lack
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, equal, run, test  # noqa: E402
import workers  # noqa: E402

TASKS = sorted(path for path in (ROOT / "tasks").iterdir() if path.name.endswith("_py"))
loaded = set()
worker = None


def samples_of(folder):
	import yaml
	for entry in yaml.safe_load((folder / "task.yml").read_text())["podium"]["expected"]:
		yield folder / entry["source"], entry.get("mode", "ranked")


def start(folder):
	"""The leaderboard of the task, and a worker with the CPU."""
	global worker
	if not worker:
		workers.admin("migrate")
		worker = workers.Worker()
		worker.says("is ready")
	if folder.name not in loaded:
		workers.admin("task", "load", str(folder))
		loaded.add(folder.name)


def hex_of(text):
	"""As the database writes it, which else would escape line ends."""
	return text.encode().hex().upper()


def by_worker(folder, sample, mode):
	number = workers.submit(sample.read_text(), mode, board=folder.name)
	workers.until(lambda: workers.job(number) in ("done", "failed"), 300)
	columns = "verdict, HEX(reason), engine"
	cases = workers.sql(f"SELECT t.name, m.case_index, m.spec, m.verdict, HEX(m.message) FROM measurements m JOIN stages t ON t.id = m.stage_id "
		f"WHERE t.job_id = {number} ORDER BY t.position, m.case_index")
	stages = workers.sql(f"SELECT name, verdict FROM stages WHERE job_id = {number} ORDER BY position")
	return workers.job(number, columns), [list(row) for row in stages], [list(row) for row in cases]


def by_check(folder, sample, mode):
	seed = workers.sql(f"SELECT secret_seed FROM leaderboards WHERE name = '{folder.name}'")[0][0]
	result = check(sample, "--mode", mode, "--json", "--gpu", "cpu", *(("--seed", seed) if mode == "ranked" else ()), folder=folder).json
	cases = [[stage["stage"], str(case["index"]), case["spec"], case["verdict"], hex_of(case["message"])]
		for stage in result["stages"] for case in stage["cases"]]
	return [result["verdict"], hex_of(result["reason"]), result["engine"]], [[stage["stage"], stage["verdict"]] for stage in result["stages"]], cases


def make_test(folder, sample, mode):
	def compare():
		if torch_lack():
			raise Skip(torch_lack())
		start(folder)
		equal(by_check(folder, sample, mode), by_worker(folder, sample, mode))
	compare.__name__ = f"{folder.name} {sample.name} in mode {mode} is judged as by a worker".replace(" ", "_")
	test(compare)


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
