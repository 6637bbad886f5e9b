#!/usr/bin/env python3
"""What podium-run and podium-admin doctor report about a host, with and without GPUs. A stand-in
for NVML provides the GPUs."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import pretend_driver  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
SYSTEM = [
	"kernel",
	"memory",
	"swap",
	"disk",
	"ptrace",
	"core dumps",
	"clock source",
	"time",
	"processor clock",
]
GPUS = ["GPU driver", "GPU nodes", "GPU persistence", "GPU compute mode", "GPU load", "GPU clocks"]


def ask(*words, **environment):
	return subprocess.run(
		[BUILD / "podium-run", *words],
		capture_output=True,
		text=True,
		env={**os.environ, **environment},
		timeout=120,
	)


def checks(**environment):
	answer = ask("--check-host=json", **environment)
	equal((answer.returncode, answer.stdout.count("\n")), (0, 1))
	return {check["name"]: check for check in json.loads(answer.stdout)}


def said(found, name):
	return f"{found[name]['state']}: {found[name]['found']}"


@test
def a_host_without_a_gpu_gets_no_checks_of_gpus():
	found = checks(LD_LIBRARY_PATH="/nonexistent")
	if os.path.exists("/proc/driver/nvidia"):
		return "there is a GPU here"
	equal([name for name in found if "wall" not in name], SYSTEM + ["GPU driver"])
	equal(said(found, "GPU driver"), "good: none, so the CPU is offered")


@test
def each_failed_check_says_what_it_costs_and_how_to_fix_it():
	for check in checks().values():
		equal(
			sorted(check),
			sorted(
				["name", "state", "found"] + (["costs", "mend"] if check["state"] != "good" else [])
			),
		)


with tempfile.TemporaryDirectory() as folder:
	driver = pretend_driver(pathlib.Path(folder) / "driver")

	@test
	def healthy_gpus_pass_and_their_device_nodes_are_checked():
		found = checks(**driver)
		equal([name for name in found if name in GPUS], GPUS)
		equal(said(found, "GPU driver"), "good: NVIDIA 580.00, which has 2 GPUs")
		for name in ("GPU persistence", "GPU compute mode", "GPU load", "GPU clocks"):
			equal(found[name]["state"], "good")
		if not os.path.exists("/dev/nvidiactl"):
			equal(
				said(found, "GPU nodes"),
				"fault: /dev/nvidiactl is missing, /dev/nvidia-uvm is missing, /dev/nvidia0 is "
				"missing, /dev/nvidia1 is missing",
			)

	@test
	def a_cause_of_noisy_times_is_a_warning_that_names_the_gpu():
		for setting, value, name, words in (
			("FAKE_PERSISTENCE", "0", "GPU persistence", "warning: off (GPU 0, 1)"),
			(
				"FAKE_COMPUTE_MODE",
				"2",
				"GPU compute mode",
				"warning: exclusive or prohibited (GPU 1)",
			),
			("FAKE_PROCESSES", "3", "GPU load", "warning: another program uses one now (GPU 0, 1)"),
		):
			equal(said(checks(**driver, **{setting: value}), name), words)

	@test
	def a_driver_without_gpus_is_a_fault():
		equal(
			said(checks(**driver, FAKE_GPUS="0"), "GPU driver"),
			"fault: NVIDIA 580.00, which has 0 GPUs",
		)

	@test
	def doctor_prints_sentences_and_fails_if_there_is_a_fault():
		for environment, code in ((driver, 1), ({"LD_LIBRARY_PATH": "/nonexistent"}, 0)):
			if os.path.exists("/dev/nvidiactl"):
				return "there is a GPU here"
			answer = subprocess.run(
				[BUILD / "podium-admin", "doctor"],
				capture_output=True,
				text=True,
				env={**os.environ, **environment},
				timeout=120,
			)
			equal((answer.returncode, answer.stderr), (code, ""))
			contains(answer.stdout, "with submissions as the user")
			contains(
				answer.stdout,
				" imports torch\n"
				if code == 0 or "imports torch" in answer.stdout
				else "no python3",
			)
			(contains if code else lacks)(answer.stdout, "/dev/nvidia-uvm is missing")

	@test
	def doctor_without_the_workers_programs_says_what_to_do():
		answer = subprocess.run(
			[BUILD / "podium-admin", "doctor"],
			capture_output=True,
			text=True,
			env={**os.environ, "PODIUM_WORKER_RUNNER": "/nonexistent/podium-run"},
			timeout=60,
		)
		equal(answer.returncode, 1)
		contains(
			answer.stderr,
			"Install the worker's programs on this host, or name podium-run with "
			"PODIUM_WORKER_RUNNER.",
		)

	code = run()
sys.exit(code)
