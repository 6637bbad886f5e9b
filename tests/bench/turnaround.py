#!/usr/bin/env python3
"""`make bench-turnaround`: where the seconds of a ranked job go, with the zygote and with a cold
interpreter, in one run on one machine. Starts a separate Podium.

	tests/bench/turnaround.py [--task NAME] [--repeat N]
"""

import argparse
import base64
import json
import pathlib
import statistics
import sys
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "integration" / "run")]
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from runner import Runner, task  # noqa: E402

# A harness that only starts up. It reports the times until torch is imported and until the device
# has answered.
PROBE = """
import os, time
began = time.clock_gettime(time.CLOCK_BOOTTIME)
ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
import torch
imported = time.clock_gettime(time.CLOCK_BOOTTIME)
if torch.cuda.is_available():
    torch.ones(1, device="cuda").add(1).item()
started = time.clock_gettime(time.CLOCK_BOOTTIME)
fd = int(os.environ["POPCORN_FD"])
times = f"{began - ticks} {imported - began} {started - imported}"
os.write(fd, f"test-count: 1\\ntest.0.spec: a: 1\\ntest.0.status: pass\\n"
    f"test.0.message: {times}\\ncheck: pass\\n".encode())
"""


def seconds(values):
	return statistics.median(values)


class Probe(Runner):
	"""A podium-run without a worker."""

	def __init__(self, python, device, tools, *options):
		super().__init__(*options)
		self.python, self.device, self.tools = python, device, tools

	def start_up(self):
		"""Returns the seconds for (starting the interpreter, importing torch, starting CUDA)."""
		result = self.run(
			"def answer(case): pass\n",
			PROBE,
			definition=task(tests=["a: 1"]),
			device=self.device,
			python=self.python,
		)
		if result.verdict != "passed":
			raise SystemExit(
				f"turnaround: the probe got {result.verdict}: "
				f"{result.reason}\n{result.log('stderr')}"
			)
		return [max(0.0, float(text)) for text in result.cases[0]["message"].split()]

	def warm_up(self):
		"""Waits until programs are forked from the zygote."""
		end = time.monotonic() + 120
		while self.start_up()[1] > 0.2:
			if time.monotonic() > end:
				raise SystemExit("turnaround: the zygote did not become ready")
			time.sleep(0.2)

	def ranked(self, job):
		"""Returns the seconds of each stage and of the whole job, measured when events arrive."""
		began = time.monotonic()
		self.send({"job": {**job, "device": self.device, "python": self.python, **self.tools}})
		result = self.result(job["id"])
		whole = time.monotonic() - began
		if result.verdict != "passed":
			raise SystemExit(f"turnaround: {result.verdict}: {result.reason}")
		stages = {
			stage["stage"]: end["duration_ms"] / 1000
			for stage, end in zip(result.stages, result.ends)
		}
		return {**stages, "job": whole}


def job_of(site, name):
	"""Returns the job that a worker would make from the first sample of the task that passes in
	mode `ranked`."""
	version, definition = site.sql(
		"SELECT v.id, TO_BASE64(v.definition) FROM leaderboards l JOIN task_versions v ON v.id = "
		"l.task_version_id "
		f"WHERE l.name = '{name}'"
	)[0]
	read = lambda text: base64.b64decode(text.replace("\\n", "")).decode()
	files = site.sql(
		"SELECT f.path, TO_BASE64(b.content) FROM task_files f JOIN blobs b ON b.sha256 = "
		"f.sha256 "
		f"WHERE f.task_version_id = {version} AND f.role = 'file'"
	)
	definition = json.loads(read(definition))
	engine = site.sql(
		f"SELECT engine FROM task_engines WHERE task_version_id = {version} AND gpu = ''"
	)[0][0]
	sample = next(
		entry["source"]
		for entry in definition["expected"]
		if entry["verdict"] == "passed" and entry["mode"] == "ranked"
	)
	source = (ROOT / "tasks" / name / sample).read_text()
	return {
		"id": 1,
		"mode": "ranked",
		"engine": engine,
		"task": definition,
		"files": [{"path": path, "text": read(text)} for path, text in files],
		"submission": {"name": pathlib.Path(sample).name, "text": source},
		"secret_seed": 1234567,
	}


class Visitor:
	def __init__(self, site):
		self.site, self.client = site, Client(site.url)
		self.client.post(
			"/register", [("name", "bench-" + uuid.uuid4().hex[:8]), ("password", uuid.uuid4().hex)]
		)

	def ranked(self, name, model, job):
		"""Returns (seconds in the queue, seconds from claim to stored result)."""
		answer = self.client.post(
			f"/leaderboard/{name}/submit",
			[("mode", "ranked"), ("gpu", model)],
			[("file", job["submission"]["name"], job["submission"]["text"].encode())],
		)
		number = answer.location.rsplit("/", 1)[1]
		while True:
			state, verdict, waited, ran = self.site.sql(
				"SELECT state, verdict, TIMESTAMPDIFF(MICROSECOND, queued_at, started_at) / 1e6, "
				"TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1e6 FROM jobs WHERE "
				f"submission_id = {number}"
			)[0]
			if state == "done" and verdict == "passed":
				return float(waited), float(ran)
			if state in ("done", "failed"):
				raise SystemExit(f"turnaround: {verdict}")
			time.sleep(0.05)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("--task", default="vectoradd_py")
	parser.add_argument("--repeat", type=int, default=5)
	options = parser.parse_args()
	site = Instance(private=True)
	try:
		measure(site, options)
	finally:
		site.remove()


def measure(site, options):
	model, uuid_, capability = site.sql(
		"SELECT model, uuid, compute_capability FROM gpus ORDER BY model = 'CPU' LIMIT 1"
	)[0]
	host = json.loads(site.sql("SELECT host FROM workers LIMIT 1")[0][0])
	device = (
		{"model": "CPU"}
		if model == "CPU"
		else {"model": model, "uuid": uuid_, "compute_capability": capability}
	)
	job, visitor = job_of(site, options.task), Visitor(site)
	visitor.ranked(
		options.task, model, job
	)  # fills the caches of the file system and starts the worker's zygote
	kinds = {
		"zygote": Probe(host["python"], device, {"nvcc": host["nvcc"]}, "--python", host["python"]),
		"cold": Probe(host["python"], device, {"nvcc": host["nvcc"]}),
	}
	kinds["zygote"].warm_up()
	starts, stages = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
	site_times = []
	for _ in range(options.repeat):  # alternately, so that a slow moment affects all
		for kind, probe in kinds.items():
			starts[kind].append(probe.start_up())
			stages[kind].append(probe.ranked(job))
		site_times.append(visitor.ranked(options.task, model, job))
	for probe in kinds.values():
		probe.end()
	print_table(options, model, starts, stages, site_times)


def print_table(options, model, starts, stages, site_times):
	median = {kind: [seconds(part) for part in zip(*runs)] for kind, runs in starts.items()}
	stage = {
		kind: {
			name: seconds([run[name] for run in stages[kind]])
			for name in ("compile", "test", "ranked", "job")
		}
		for kind in stages
	}
	rest = {
		kind: stage[kind]["job"] - sum(stage[kind][name] for name in ("compile", "test", "ranked"))
		for kind in stage
	}
	print(f"{options.task}, ranked, on {model}; seconds, median of {options.repeat}\n")
	print(f"{'':44}{'zygote':>9}{'cold':>9}")
	row = lambda name, values: print(
		f"{name:44}" + "".join(f"{values[kind]:9.3f}" for kind in ("zygote", "cold"))
	)
	row("compile", {kind: stage[kind]["compile"] for kind in stage})
	for name in ("test", "ranked"):
		row(name, {kind: stage[kind][name] for kind in stage})
		for index, part in enumerate(
			("starting the interpreter", "importing torch", "starting CUDA")
		):
			row(f"    {part}", {kind: median[kind][index] for kind in median})
		row("    cases", {kind: stage[kind][name] - sum(median[kind]) for kind in stage})
	row("folders, files, events", rest)
	row("podium-run in all", {kind: stage[kind]["job"] for kind in stage})
	claimed, ran = (
		seconds([waited for waited, _ in site_times]),
		seconds([ran for _, ran in site_times]),
	)
	print(f"\n{'waiting for the claim':44}{claimed:9.3f}")
	print(f"{'claim to stored result':44}{ran:9.3f}")
	print(
		f"{'    of it reading the job and storing':44}{max(0.0, ran - stage['zygote']['job']):9.3f}"
	)


main()
