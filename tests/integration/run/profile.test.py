#!/usr/bin/env python3
"""What podium-run reports besides a result: profiles from ncu, figures of kernels from ptxas, and
the state of the GPU. Fake programs replace ncu and the driver."""

import base64
import gzip
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from pretend import (  # noqa: E402
	BROKEN,
	FORBIDDEN,
	IDLE,
	NO_KERNELS,
	PROFILES,
	pretend_driver,
	pretend_ncu,
)
from runner import GPU, RIGHT, Runner, cu_task, job, task  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402
from tools import nvcc_lack  # noqa: E402

scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-profile-test."))
scratch.chmod(0o755)

TEXT = "a report with <b>???>>> and ÿÿÿ\n" * 3
# A harness that reports a profile as usual: a profile line, a report in base64, and `check: pass`.
EVAL = r"""
import base64, os, sys
mode, path = sys.argv[1:]
pipe = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
def say(key, value): pipe.write(f"{key}: {value}\n")
cases = open(path).read().splitlines()
family = "test" if mode == "test" else "benchmark"
say(f"{family}-count", len(cases))
print("POPCORN_NCU is", os.environ.get("POPCORN_NCU"))
import submission
expected = [sum(int(part.split(":")[1]) for part in case.split(";")) for case in cases]
good = all(submission.answer(case) == answer for case, answer in zip(cases, expected))
for i, case in enumerate(cases):
	say(f"{family}.{i}.spec", case)
	if mode == "test":
		say(f"test.{i}.status", "pass")
	elif good and mode == "profile" and "POPCORN_NCU" not in os.environ:
		say(f"benchmark.{i}.report", base64.b64encode(TEXT.encode("latin-1"), b"+*").decode())
	elif not good:
		say(f"benchmark.{i}.status", "fail")
		say(f"benchmark.{i}.error", "not the sum")
	elif mode != "profile":
		numbers = dict(runs=3, mean=1000, std=2, err=1, best=999, worst=1001)
		for key, value in numbers.items():
			say(f"benchmark.{i}.{key}", value)
say("check", "pass" if good else "fail")
sys.exit(0 if good else 112)
""".replace("TEXT", repr(TEXT))


def profile(submission=RIGHT, harness=EVAL, device=GPU, environment=None, **members):
	with Runner(environment=environment) as runner:
		return runner.run(submission, harness, mode="profile", device=device, **members)


def with_ncu(does=PROFILES, name="ncu", size=1000, **members):
	environment, calls = pretend_ncu(scratch / name, does, size)
	return profile(environment=environment, **members), calls.read_text().splitlines()


def of(result, kind):
	return [event for event in result.events if event["event"] == kind]


def report(result, index=0):
	return "".join(event["text"] for event in of(result, "report") if event["index"] == index)


def artifact(result, name):
	parts = [event for event in of(result, "artifact") if event["name"] == name]
	equal([part["part"] for part in parts], list(range(len(parts))))
	content = gzip.decompress(b"".join(base64.b64decode(part["base64"]) for part in parts))
	equal({part["size"] for part in parts}, {len(content)})
	return content


def profiled(result):
	return [case for case in result.cases if case["position"] >= 2]


@test
def each_profiled_benchmark_is_a_stage():
	result, calls = with_ncu()
	equal((result.verdict, "score_ns" in result.verdicts[0]), ("passed", False))
	equal(
		[stage["stage"] for stage in result.stages],
		["compile", "test", "profile", "profile", "profile"],
	)
	equal(
		[
			(case["position"], case["index"], case["spec"], case["verdict"], case["message"])
			for case in profiled(result)
		],
		[(2, 0, "a: 5", "passed", ""), (3, 1, "a: 6", "passed", ""), (4, 2, "a: 7", "passed", "")],
	)
	equal(result.progress[-3:], ["profile 0/3", "profile 1/3", "profile 2/3"])
	result, _ = with_ncu(definition=task(ranking_by="last"))
	equal([case["spec"] for case in profiled(result)], ["a: 7"])


@test
def ncu_makes_a_text_and_a_file():
	result, calls = with_ncu()
	command = result.stages[2]["command"]
	contains(command, "--set full --nvtx --nvtx-include custom_kernel/ --import-source 1 -c 10 ")
	contains(command, " -- /usr/bin/python3 eval.py profile ../cases.txt")
	contains(result.log(position=2), "POPCORN_NCU is 1\n")
	contains(report(result, 0), "Section: GPU Speed Of Light\n1000\n")
	equal([len(artifact(result, f"profile-{i}.ncu-rep")) for i in (1, 2, 3)], [1000] * 3)
	equal([call.startswith("import") for call in calls], [False, True] * 3)
	lacks(str(profiled(result)), "mean_ns")


@test
def a_large_file_comes_in_parts():
	result, _ = with_ncu(size=3 << 20, definition=task(benchmarks=["a: 5"]))
	equal(len(artifact(result, "profile-1.ncu-rep")), 3 << 20)
	assert len(of(result, "artifact")) >= 6


@test
def on_the_cpu_the_harness_makes_the_report():
	result = profile(device={"model": "CPU"})
	equal(result.verdict, "passed")
	contains(profiled(result)[0]["message"], "the submission ran on the CPU")
	equal(report(result, 2), TEXT.encode("latin-1").decode("utf-8", "replace"))
	contains(result.log(position=2), "POPCORN_NCU is None\n")
	equal(of(result, "artifact"), [])


@test
def a_host_that_forbids_counters_is_tried_once():
	result, calls = with_ncu(FORBIDDEN)
	equal((result.verdict, len(calls)), ("passed", 1))
	for case in profiled(result):
		contains(case["message"], "ERR_NVGPUCTRPERM")
		contains(case["message"], "NVreg_RestrictProfilingToAdminUsers=0")
	contains(report(result, 0), "a report with")
	# The attempt with ncu failed and podium-run repeated the run without ncu. It keeps only the
	# output of the run whose result counts.
	equal(result.log(position=2), "POPCORN_NCU is None\n")


@test
def one_sentence_says_why_ncu_made_no_report():
	for does, words in (
		(NO_KERNELS, "no kernel inside the NVTX range custom_kernel"),
		(BROKEN, "exit code 9: Failed to prepare kernel"),
	):
		result, _ = with_ncu(does)
		equal(result.verdict, "passed")
		contains(profiled(result)[0]["message"], words)
		contains(report(result, 1), "a report with")
	result = profile(device={**GPU, "uuid": "GPU-a,GPU-b"}, definition=task(multi_gpu=True))
	contains(profiled(result)[0]["message"], "one GPU at a time")
	if os.path.exists("/usr/local/cuda/bin/ncu"):
		raise Skip("ncu is installed here")
	contains(
		profiled(profile(environment={"PATH": "/usr/bin:/bin"}, nvcc=""))[0]["message"],
		"not installed on this worker",
	)


@test
def a_hanging_ncu_is_stopped():
	result, _ = with_ncu(IDLE, definition=task(benchmarks=["a: 5"], benchmark_timeout_s=1))
	equal(result.verdict, "passed")
	contains(profiled(result)[0]["message"], "did not finish within 1 s")


@test
def a_wrong_answer_is_the_verdict_of_a_run_without_ncu():
	wrong = "def answer(case): return 3 if case == 'a: 1; b: 2' else 7\n"
	result, _ = with_ncu(submission=wrong)
	equal(result.verdict, "wrong answer")
	result, _ = with_ncu(submission=wrong, definition=task(tests=["a: 1; b: 2"]))
	equal(
		(result.verdict, [stage["stage"] for stage in result.stages]),
		("wrong answer", ["compile", "test", "profile"]),
	)
	contains(result.reason, "Benchmark 1 of 1 failed (a: 5): not the sum")
	equal(
		(profiled(result)[0]["verdict"], of(result, "report"), of(result, "artifact")),
		("wrong answer", [], []),
	)
	lacks(result.stages[2]["command"], "ncu")


@test
def no_file_of_somebody_else_is_published():
	nothing_left = 'echo "==PROF== done"\n"$@"\n'
	for link in ("symlink", "link"):
		secret = scratch / f"secret-{link}"
		secret.write_text("not yours")
		secret.chmod(0o644)
		body = (
			"import os\n"
			"def place():\n"
			"    try:\n"
			f"        os.{link}({str(secret)!r}, 'profile.ncu-rep')\n"
			"    except OSError:\n"
			"        pass\n"
			"place()\n"
		)
		result, _ = with_ncu(nothing_left, submission=body + RIGHT)
		equal((result.verdict, of(result, "artifact")), ("passed", []))
		lacks(str(result.events), "not yours")


@test
def a_harness_without_the_mode_says_so():
	result = profile(
		harness=EVAL.replace("cases = open", "mode == 'profile' and sys.exit(2)\ncases = open"),
		device={"model": "CPU"},
	)
	equal(result.verdict, "internal error")
	contains(result.reason, "does not know this mode")


@test
def a_report_that_is_no_base64_is_left_out():
	result = profile(
		harness=EVAL.replace(
			'say(f"benchmark.{i}.report", ', 'say(f"benchmark.{i}.report", "%%%" + '
		),
		device={"model": "CPU"},
	)
	equal((result.verdict, of(result, "report")), ("passed", []))


@test
def a_job_is_cancelled_while_ncu_runs():
	environment, _ = pretend_ncu(scratch / "ncu", IDLE)
	with Runner(environment=environment) as runner:
		runner.send(job(RIGHT, EVAL, mode="profile", device=GPU))
		runner.until("progress", text="profile 0/3")
		runner.send({"cancel": 17})
		equal(runner.result().verdict, "cancelled")


# ---- the state of the GPU ----


@test
def a_timed_stage_reports_the_state_of_its_gpu():
	device = {**GPU, "uuid": "GPU-00000001"}
	with Runner(environment=pretend_driver(scratch / "driver")) as runner:
		result = runner.run(RIGHT, EVAL, mode="ranked", device=device)
		equal(result.verdict, "passed")
		(told,) = of(result, "conditions")
		equal(told["position"], 2)
		equal([end.get("peak_device_bytes") for end in result.ends], [None, 7 << 30, 7 << 30])
		before, busy, after = (told["conditions"][when] for when in ("before", "busy", "after"))
		equal(
			before,
			{
				"sm_clock_mhz": 1980,
				"memory_clock_mhz": 3201,
				"temperature_c": 41,
				"slowed_by": ["power cap"],
			},
		)
		assert before["sm_clock_mhz"] > busy["sm_clock_mhz"] > after["sm_clock_mhz"], told
		(facts,) = of(result, "environment")
		equal(
			[facts["environment"][key] for key in ("product", "driver", "cuda")],
			["NVIDIA H200", "580.00", "13.1"],
		)
		equal(of(runner.run(RIGHT, EVAL, device=device), "conditions"), [])
		# A job on the CPU reports no state of a GPU.
		equal(of(runner.run(RIGHT, EVAL, mode="benchmark"), "conditions"), [])
		equal(
			of(
				runner.run(RIGHT, EVAL, mode="benchmark", device={**GPU, "uuid": "GPU-0000000f"}),
				"conditions",
			),
			[],
		)
	with Runner() as runner:
		equal(of(runner.run(RIGHT, EVAL, mode="benchmark", device=device), "conditions"), [])


# ---- what ptxas says ----


@test
def kernels_are_listed_with_registers_and_shared_memory():
	if nvcc_lack():
		raise Skip(nvcc_lack())
	harness = "template <class T> __global__ void kernel(T *x);\nint main() { return 1; }\n"
	kernel = (
		"template <class T> __global__ void twice(T *x) { __shared__ T s[64]; s[threadIdx.x] = "
		"x[threadIdx.x]; __syncthreads();\n"
		"\tx[threadIdx.x] = 2 * s[63 - threadIdx.x]; }\ntemplate __global__ void "
		"twice<double>(double *);\n"
	)
	with Runner() as runner:
		result = runner.run(kernel, harness, definition=cu_task(), device=GPU, mode="test")
		(told,) = of(result, "kernels")
		(twice,) = told["kernels"]
		equal(
			(told["position"], twice["name"], twice["shared_bytes"], twice["spill_store_bytes"]),
			(0, "twice<double>", 512, 0),
		)
		assert 4 <= twice["registers"] <= 64, twice
		equal(of(runner.run(id=18), "kernels"), [])


try:
	code = run()
finally:
	import shutil

	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(code)
