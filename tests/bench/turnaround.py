#!/usr/bin/env python3
"""`make bench-turnaround`: where the seconds of a ranked job go, from the POST to the stored
result, for the first job of each program on a new worker and for later jobs. Starts a separate
Podium.

	tests/bench/turnaround.py [--task NAME] [--mode MODE] [--repeat N]
"""

import argparse
import pathlib
import statistics
import sys
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402

PROGRAMS = (
	"vectoradd_py/samples/right.py",
	"vectoradd_py/template_triton.py",
	"matmul_py/samples/right.py",
	"vectoradd_cu/samples/right.cu",
	"vectoradd_kernel_cu/samples/right.cu",
)
STAGES = ("compile", "test", "ranked")
MOST_KITS_S = 300
COLUMNS = ("in all", "queued", *STAGES, "rest")


class Visitor:
	def __init__(self, site, model, mode):
		self.site, self.model, self.mode, self.client = site, model, mode, Client(site.url)
		self.client.post(
			"/register", [("name", "bench-" + uuid.uuid4().hex[:8]), ("password", uuid.uuid4().hex)]
		)

	def timed(self, program, number):
		"""Runs a job. Returns (its engine, its seconds for each of COLUMNS)."""
		path = ROOT / "tasks" / program
		comment = "//" if path.suffix == ".cu" else "#"
		source = f"{path.read_text()}\n{comment} {number}\n".encode()
		began = time.monotonic()
		answer = self.client.post(
			f"/leaderboard/{program.split('/')[0]}/submit",
			[("mode", self.mode), ("gpu", self.model)],
			[("file", path.name, source)],
		)
		if answer.status != 303:
			raise SystemExit(f"turnaround: {program}: {answer.status}: {answer.words()}")
		submission = answer.location.rsplit("/", 1)[1]
		state = "queued"
		while state in ("queued", "running"):
			time.sleep(0.02)
			job, state, verdict, engine, queued = self.site.sql(
				"SELECT id, state, verdict, engine, "
				"TIMESTAMPDIFF(MICROSECOND, queued_at, started_at) / 1e6 "
				f"FROM jobs WHERE submission_id = {submission}"
			)[0]
		whole = time.monotonic() - began
		if verdict != "passed":
			raise SystemExit(f"turnaround: {program}: {verdict}")
		stages = dict(
			self.site.sql(f"SELECT name, duration_ms / 1000 FROM stages WHERE job_id = {job}")
		)
		parts = [float(queued), *(float(stages.get(name, 0)) for name in STAGES)]
		return engine, [whole, *parts, whole - sum(parts)]


def await_kits(site, model):
	"""Waits until the idle worker has built what all submissions to a CUDA C++ task share
	(worker/kits.h)."""
	began, log = time.monotonic(), site.var / "log" / "worker.log"
	kits = int(site.value(f"SELECT LEAST(COUNT(*), 8) FROM kits WHERE gpu = '{model}'"))
	wanted = kits * int(site.value(f"SELECT COUNT(*) FROM gpus WHERE model = '{model}'"))
	while log.read_text(errors="replace").count("The kit of the task version") < wanted:
		if time.monotonic() > began + MOST_KITS_S:
			raise SystemExit("turnaround: the worker has not built its kits.")
		time.sleep(0.1)
	print(f"The worker has built {wanted} kits in {time.monotonic() - began:.1f} s.\n")


def row(name, times):
	return f"{name:54}" + "".join(f"{seconds:9.3f}" for seconds in times)


def measure(site, options):
	model = site.value("SELECT model FROM gpus ORDER BY model = 'CPU' LIMIT 1")
	programs = [
		program
		for program in PROGRAMS
		if options.task in program and (model != "CPU" or program.endswith("right.py"))
	]
	if not programs:
		raise SystemExit(f"turnaround: no program for {model} has {options.task!r} in its path")
	if any(program.endswith(".cu") for program in programs):
		await_kits(site, model)
	visitor = Visitor(site, model, options.mode)
	print(f"{options.mode} jobs on {model}: seconds; later jobs: medians of {options.repeat}\n")
	print(f"{'':54}" + "".join(f"{name:>9}" for name in COLUMNS))
	for program in programs:
		engine, first = visitor.timed(program, 0)
		print(row(f"{program} ({engine}), first", first), flush=True)
		later = [visitor.timed(program, 1 + number)[1] for number in range(options.repeat)]
		print(row(f"{program} ({engine}), later", map(statistics.median, zip(*later))), flush=True)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("--task", default="", help="only the programs whose path contains this")
	parser.add_argument("--mode", default="ranked", help="test or ranked")
	parser.add_argument("--repeat", type=int, default=5)
	options = parser.parse_args()
	site = Instance(private=True)
	try:
		measure(site, options)
	finally:
		site.remove()


main()
