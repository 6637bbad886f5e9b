#!/usr/bin/env python3
"""podium-run runs the shipped tasks, and the tasks in folders/ for forms that no shipped task has.
Each sample must get the verdict that its task states, and each template must pass.

Python runs on the CPU. CUDA C++ needs a GPU. Without a GPU the test only compiles CUDA C++, and
only if nvcc is installed."""

import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "integration" / "run")]
import tap  # noqa: E402
from runner import CPU, GPU, NVCC, PYTHON, Runner  # noqa: E402
from tap import Skip, contains, equal, test  # noqa: E402
from tools import nvcc_lack  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
TASKS = sorted(path for path in (ROOT / "tasks").iterdir() if path.is_dir())
FOLDERS = sorted(path for path in (pathlib.Path(__file__).parent / "folders").iterdir())
SECRET = 271828182
# What the output of the compilers must name for a sample.
NAMED_BY_COMPILERS = {"samples/other_parameters.cu": "vector_add"}


@functools.lru_cache(None)
def jobs_of(folder):
	program = BUILD / "tests" / "integration" / "harness" / "test_jobs"
	answer = subprocess.run([program, folder], capture_output=True, text=True)
	if answer.returncode:
		raise AssertionError(answer.stderr)
	return [json.loads(line) for line in answer.stdout.splitlines()]


@functools.lru_cache(None)
def python_lack():
	"""The reason why Python tasks cannot run here, or None."""
	if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
		return f"{PYTHON} cannot import torch"
	return None


@functools.lru_cache(None)
def gpu():
	"""The first GPU in the form that podium-run expects, or None."""
	if not shutil.which("nvidia-smi"):
		return None
	answer = subprocess.run(
		["nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader"],
		capture_output=True,
		text=True,
	)
	if answer.returncode or not answer.stdout.strip():
		return None
	uuid, capability = answer.stdout.splitlines()[0].split(", ")
	return {**GPU, "uuid": uuid, "compute_capability": capability}


@functools.lru_cache(None)
def runner():
	"""One podium-run for all tests, with a zygote as in a worker, because a job of the isolated
	engine starts several interpreters."""
	return Runner("--python", PYTHON, "--kits", str(folder_of_kits()))


@functools.lru_cache(None)
def folder_of_kits():
	"""Where this podium-run and the next runs of the test keep the programs of CUDA C++ tasks.
	Another podium-run builds its own."""
	folders = ROOT / "build" / "kits"
	folder = folders / hashlib.sha256((BUILD / "podium-run").read_bytes()).hexdigest()[:16]
	folder.parent.mkdir(parents=True, exist_ok=True)
	for path in folders.iterdir():
		if path != folder:
			shutil.rmtree(path, ignore_errors=True)
	return folder


def run(job, device):
	task = job["task"]
	if device is CPU:  # on a CPU the shapes of benchmarks take minutes and test nothing more
		task = {**task, "benchmarks": task["tests"][1:2] or task["benchmarks"][:1]}
	message = {
		"id": 17,
		"mode": job["mode"],
		"engine": job["engine"],
		"device": device,
		"task": task,
		"files": job["files"],
		"submission": job["submission"],
		"python": PYTHON,
		"nvcc": NVCC,
	}
	if job["mode"] == "ranked":
		message["secret_seed"] = SECRET
	try:
		runner().send({"job": message})
		return runner().result()
	except AssertionError:  # the job may still run, and the next job would get its output
		runner().__exit__()
		runner.cache_clear()
		raise


def expect(job, device, verdict):
	result = run(job, device)
	if result.verdict != verdict:
		logs = "".join(event["text"] for event in result.events if event["event"] == "log")
		raise AssertionError(
			f"{job['source']} got {result.verdict!r}, expected {verdict!r}: "
			f"{result.reason}\n{logs[-3000:]}"
		)
	ranked = job["mode"] == "ranked" and verdict == "passed"
	equal("score_ns" in result.verdicts[0], ranked)
	if ranked:
		assert result.verdicts[0]["score_ns"] > 0
	return result


def compile_only(job):
	"""Runs a job for a GPU on this machine, where only its compile stage can succeed. Compiling
	without optimization takes half the time and finds the same errors. All samples of a task have
	the same flags, so podium-run builds the engine's programs once for each task."""
	if nvcc_lack():
		raise Skip(nvcc_lack())
	task = job["task"]
	task = {**task, "compile_flags": [*task["compile_flags"], "-O0"]}
	return run({**job, "task": task}, GPU)


def check_compiles(job):
	result = compile_only(job)
	verdict = result.ends[0]["verdict"]
	equal(
		(result.stages[0]["stage"], verdict, result.verdict == "compile error"),
		("compile", "passed", False),
	)
	if job["engine"] == "isolated":
		equal((result.engine, result.engine_reason), ("isolated", ""))


def check_does_not_compile(job):
	result = compile_only(job)
	equal(result.verdict, "compile error")
	contains(result.log("stderr", 0), NAMED_BY_COMPILERS.get(job["source"], "error"))


def check_sample(job):
	if job["task"]["language"] == "py":
		if python_lack():
			raise Skip(python_lack())
		expect(job, CPU, job["verdict"])
		return
	if nvcc_lack():
		raise Skip(nvcc_lack())
	if gpu():
		expect(job, gpu(), job["verdict"])
	elif job["verdict"] == "compile error":
		check_does_not_compile(job)
	else:
		raise Skip("there is no GPU")


def check_template(job):
	if job["task"]["language"] == "py" and job["language"] == "Python":
		check_sample({**job, "verdict": "passed"})
	elif not gpu():
		raise Skip("there is no GPU")
	else:
		expect(job, gpu(), "passed")


def add_tests_of(folder):
	"""Adds a test for each sample and each template. If the task cannot be read, adds a test that
	fails."""
	try:
		jobs = jobs_of(folder)
	except (AssertionError, OSError) as fault:

		def can_be_read(fault=fault):
			raise fault

		add(f"{folder.name} can be read", can_be_read)
		return
	for job in jobs:
		if job["task"]["language"] == "cu" and job["verdict"] == "passed" and not gpu():
			add(f"{folder.name}: {job['source']} compiles", functools.partial(check_compiles, job))
		if job["verdict"]:
			add(
				f"{folder.name}: {job['source']} gets {job['verdict']}",
				functools.partial(check_sample, job),
			)
		else:
			add(
				f"{folder.name}: the template for {job['language']} passes",
				functools.partial(check_template, job),
			)


def add(name, function):
	def named():
		function()

	named.__name__ = name
	test(named)


@test
def every_task_has_a_template_a_right_sample_a_wrong_sample_and_a_description():
	for folder in TASKS:
		jobs = jobs_of(folder)
		verdicts = [job["verdict"] for job in jobs]
		assert None in verdicts and "passed" in verdicts and "wrong answer" in verdicts, (
			folder.name,
			verdicts,
		)
		assert len(jobs[0]["task"]["description"]) > 100, folder.name
		contains(jobs[0]["task"]["description"], "custom_kernel")


@test
def the_tasks_that_every_podium_shows_exist():
	names = {folder.name for folder in TASKS}
	equal(
		{
			"identity_py",
			"vectoradd_py",
			"matmul_py",
			"softmax_py",
			"identity_cu",
			"vectoradd_cu",
			"vectoradd_kernel_cu",
		}
		- names,
		set(),
	)
	assert any(not (folder / "task.yml").exists() for folder in TASKS), (
		"one in the form with a single file"
	)


for each in TASKS + FOLDERS:
	add_tests_of(each)
code = tap.run()
runner().__exit__()
sys.exit(code)
