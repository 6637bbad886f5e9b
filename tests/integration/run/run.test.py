#!/usr/bin/env python3
"""The real podium-run, driven through its pipe with small made-up tasks."""

import base64
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from processes import descendants, is_gone, stat_of  # noqa: E402
from runner import (
	CPU,
	EVAL,
	GPU,
	PROGRAM,
	PYTHON,
	RIGHT,
	WRONG,
	Runner,
	cu_task,
	job,
	run as run_job,
	running,
	task,
)  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402
from tools import nvcc_lack  # noqa: E402

SECRET = 987654321


def harness(body):
	"""A harness that runs `body`. In `body`, say(key, value) writes a line to the result pipe, and
	raw(text) writes the text unchanged."""
	return (
		"import os, sys, time\nmode = sys.argv[1]\ncases = open(sys.argv[2]).read().splitlines()\n"
		"fd = int(os.environ['POPCORN_FD'])\n"
		"def raw(text): os.write(fd, text if isinstance(text, bytes) else text.encode())\n"
		"def say(key, value): raw(f'{key}: {value}\\n')\n"
		"def passing():\n"
		"\tsay('test-count', len(cases))\n"
		"\tfor i, case in enumerate(cases):\n"
		"\t\tsay(f'test.{i}.spec', case)\n"
		"\t\tsay(f'test.{i}.status', 'pass')\n" + body
	)


def benches(*changes, body=""):
	"""A harness that passes its tests. Then it reports one benchmark with valid figures, except for
	these changes, and `check: pass`."""
	values = {
		"benchmark-count": "1",
		"benchmark.0.runs": "10",
		"benchmark.0.mean": "100",
		"benchmark.0.std": "1",
		"benchmark.0.err": "0.5",
		"benchmark.0.best": "90",
		"benchmark.0.worst": "110",
		**dict(changes),
	}
	lines = "".join(f"{key}: {value}\n" for key, value in values.items() if value is not None)
	return harness(
		f"if mode == 'test': passing()\nelse: raw({lines!r})\n{body}\nsay('check', 'pass')\n"
	)


def one_benchmark(**changes):
	return task(benchmarks=["a: 5"], **changes)


def verdict_of(body, definition=None, **members):
	result = run_job(harness=harness(body), definition=definition, **members)
	return result.verdict, result.reason


def expect(body, verdict, *parts, definition=None, **members):
	result = run_job(harness=harness(body), definition=definition, **members)
	equal((result.verdict, len(result.verdicts)), (verdict, 1))
	for part in parts:
		contains(result.reason, part)
	return result


def violates(source, *parts, mode="benchmark"):
	result = run_job(harness=source, mode=mode, definition=one_benchmark())
	equal(result.verdict, "protocol violation")
	for part in parts:
		contains(result.reason, part)


# ---- modes and stages ----


@test
def each_mode_runs_its_stages_in_order():
	with Runner() as runner:
		for mode, names in (
			("test", ["compile", "test"]),
			("benchmark", ["compile", "test", "benchmark"]),
			("ranked", ["compile", "test", "ranked"]),
		):
			result = runner.run(mode=mode)
			equal(result.verdict, "passed")
			equal([(s["position"], s["stage"]) for s in result.stages], list(enumerate(names)))
			equal(
				[(e["position"], e["verdict"], e["exit_code"]) for e in result.ends],
				[(i, "passed", 0) for i in range(len(names))],
			)
			equal("score_ns" in result.verdicts[0], mode == "ranked")


@test
def the_score_follows_ranking_by():
	for ranking_by, score in (
		("geom", (10000.5 * 20001 * 30001.5) ** (1 / 3)),
		("mean", 20001.0),
		("last", 10000.5),
	):
		result = run_job(mode="ranked", definition=task(ranking_by=ranking_by))
		assert abs(result.verdicts[0]["score_ns"] - score) < 1e-6 * score, (
			ranking_by,
			result.verdicts,
		)


@test
def a_noisy_time_counts_with_the_upper_end_of_its_interval():
	student = 2.26216  # for ten runs, instead of 1.96
	for err_ns, score_ns, score_err_ns, part in (
		(610, 100e3, 610 * student / 1.96, None),
		(630, 100e3 + 630 * student, 1400 / 1.96, "1.4 us more than their mean"),
		(10e3, 100e3 + 10e3 * student, 1400 / 1.96, "22.6 us more than their mean"),
	):
		figures = [
			("benchmark.0.mean", "100000"),
			("benchmark.0.err", str(err_ns)),
			("benchmark.0.message", "fine"),
		]
		result = run_job(
			harness=benches(*figures, body="time.sleep(0.02)"),
			mode="ranked",
			definition=one_benchmark(),
		)
		verdict, case = result.verdicts[0], result.cases[-1]
		assert abs(verdict["score_ns"] - score_ns) < 0.1, result.verdicts
		assert abs(verdict["score_err_ns"] - score_err_ns) < 0.1, result.verdicts
		equal((case["mean_ns"], case["std_ns"]), (100e3, 1))
		assert abs(1.96 * case["err_ns"] - student * err_ns) < 0.1, case
		equal(case["message"].split("\n")[0], "fine")
		(contains if part else equal)(case["message"], part or "fine")


def errors_of(runs, err_ns):
	figures = [("benchmark.0.runs", str(runs)), ("benchmark.0.mean", "100000")]
	figures += [("benchmark.0.err", err_ns)]
	source = benches(*figures, body="time.sleep(0.05)")
	result = run_job(harness=source, mode="ranked", definition=one_benchmark())
	equal(result.verdict, "passed")
	return result.cases[-1].get("err_ns"), result.verdicts[0].get("score_err_ns")


@test
def one_run_shows_no_error_and_many_runs_a_normal_one():
	equal(errors_of(1, "0"), (None, None))
	equal(errors_of(1, None), (None, None))
	equal(tuple(map(round, errors_of(1, "30"))), (30, 30))  # the harness knows it in another way
	for runs, student in ((2, 12.7062), (3, 4.30265), (100, 1.98422)):
		case_err_ns, score_err_ns = errors_of(runs, "20")
		assert abs(case_err_ns * 1.96 - 20 * student) < 0.01, (runs, case_err_ns)
		equal(round(score_err_ns, 6), round(case_err_ns, 6))


@test
def a_time_too_short_to_measure_counts_as_the_least_that_is():
	for device, mean_ns, score_ns in (
		(None, 4999, 5000),
		(None, 5001, 5001),
		(GPU, 1, 500),
		(GPU, 501, 501),
	):
		more = {"device": device} if device else {}
		source = benches(
			("benchmark.0.mean", str(mean_ns)), ("benchmark.0.best", "1"), body="time.sleep(0.02)"
		)
		result = run_job(harness=source, mode="ranked", definition=one_benchmark(), **more)
		case = result.cases[-1]
		equal((case["mean_ns"], result.verdicts[0]["score_ns"]), (mean_ns, score_ns))
		words = f"too short to measure on this device, so {score_ns / 1000:g} us count"
		(contains if mean_ns < score_ns else lacks)(case["message"], words)


@test
def ranking_by_last_ranks_the_last_case_and_a_benchmark_times_all():
	for mode, specs in (("ranked", ["a: 7"]), ("benchmark", ["a: 5", "a: 6", "a: 7"])):
		result = run_job(mode=mode, definition=task(ranking_by="last"))
		equal([c["spec"] for c in result.cases if c["position"] == 2], specs)


@test
def cases_have_the_measured_figures():
	result = run_job(mode="benchmark")
	case = [c for c in result.cases if c["position"] == 2][1]
	del case["event"], case["job"]
	assert abs(case["err_ns"] - 15 * 4.30265 / 1.96) < 1e-3, case
	equal(
		case,
		{
			"position": 2,
			"index": 1,
			"spec": "a: 6",
			"verdict": "passed",
			"message": "",
			"runs": 3,
			"mean_ns": 20001.0,
			"std_ns": 20.0,
			"err_ns": case["err_ns"],
			"best_ns": 9999.0,
			"worst_ns": 11000.0,
		},
	)


@test
def progress_arrives_while_the_harness_runs():
	with Runner() as runner:
		runner.send(
			job(
				harness=harness(
					"say('test-count', len(cases))\nsay('test.0.status', 'pass')\ntime.sleep(600)\n"
				)
			)
		)
		runner.until("progress", text="test 1/2")
		runner.send({"cancel": 17})
		equal(runner.result().verdict, "cancelled")


@test
def progress_is_named_after_the_stage():
	result = run_job(mode="ranked")
	equal(
		[result.progress[0], result.progress[1], result.progress[-1]],
		["compile", "test 0/2", "timing 3/3"],
	)


@test
def a_stage_that_does_not_pass_ends_the_job():
	result = run_job(WRONG, mode="ranked")
	equal(
		([s["stage"] for s in result.stages], result.verdict), (["compile", "test"], "wrong answer")
	)
	lacks(result.verdicts[0], "score_ns")


@test
def a_job_reports_its_environment():
	event = run_job().events[0]
	equal(event["event"], "environment")
	facts = event["environment"]
	wanted = subprocess.run(
		[PYTHON, "-c", "import platform; print(platform.python_version())"],
		capture_output=True,
		text=True,
	)
	equal((facts["python"], facts["device"]), (wanted.stdout.strip(), "CPU"))
	assert facts["sandbox"] == "every wall" or facts["sandbox"].startswith("without "), facts


# ---- verdicts ----


@test
def the_first_failing_case_is_named_with_the_first_line_of_its_error():
	result = expect(
		"say('test-count', 2)\nsay('test.0.status', 'pass')\nsay('test.1.status', 'fail')\n"
		"say('test.1.error', 'off by one\\\\nat [0]')\nsay('check', 'fail')\nsys.exit(112)\n",
		"wrong answer",
	)
	equal(result.reason, "Test 2 of 2 failed (a: 3; b: 4): off by one.")
	equal(
		[(c["index"], c["verdict"], c["message"]) for c in result.cases],
		[(0, "passed", ""), (1, "wrong answer", "off by one\nat [0]")],
	)


@test
def the_last_line_of_a_traceback_is_the_reason():
	result = expect(
		"say('test-count', 2)\nsay('test.0.status', 'fail')\nsay('test.0.error', 'Traceback (most "
		"recent call last):\\n  File\\nKeyError: 5\\n')\n"
		"say('check', 'fail')\nsys.exit(112)\n",
		"wrong answer",
	)
	equal(result.reason, "Test 1 of 2 failed (a: 1; b: 2): KeyError: 5.")


@test
def exit_codes_have_their_verdicts():
	for code, verdict, part in (
		(1, "runtime error", "exit code 1"),
		(110, "runtime error", "CUDA"),
		(111, "internal error", "111"),
		(112, "wrong answer", "check failed"),
		(113, "internal error", "case file"),
		(114, "time limit", "114"),
		(2, "internal error", "2"),
	):
		expect(f"os._exit({code})\n", verdict, part)


@test
def a_harness_fault_counts_only_if_the_harness_also_fails_without_the_submission():
	for code in (2, 111, 113):
		for source, where in (
			(f"import os\ndef answer(case): os._exit({code})\n", " in test 1 of 2 (a: 1; b: 2)."),
			(f"import os\nos._exit({code})\n", ""),
		):
			result = run_job(source)
			equal((result.verdict, len(result.verdicts)), ("runtime error", 1))
			contains(
				result.reason, f"The submission ended the program with exit code {code}{where}"
			)
			equal(
				[(end["verdict"], end["exit_code"]) for end in result.ends],
				[("passed", 0), ("runtime error", code)],
			)
	# The harness reports two failing cases. It cannot make the input of the first.
	for error, verdict in (
		("'cannot be made'", "internal error"),
		("repr(submission.answer)", "runtime error"),
	):
		expect(
			"import submission\nbad = 'found' if hasattr(submission, '__file__') and 'def answer' "
			"in open('submission.py').read() else ''\n"
			"say('test-count', 2)\nsay('test.0.status', 'fail')\nsay('test.0.error', "
			f"{error})\nsay('test.1.status', 'fail')\n"
			"say('test.1.error', bad)\nsay('check', 'fail')\nsys.exit(113 if bad else 112)\n",
			verdict,
		)


@test
def cases_of_a_submission_that_raised_are_runtime_errors():
	result = expect(
		"say('test-count', 2)\nfor i in (0, 1):\n\tsay(f'test.{i}.status', "
		"'fail')\n\tsay(f'test.{i}.error', 'KeyError: 5')\n"
		"say('check', 'fail')\nsys.exit(1)\n",
		"runtime error",
	)
	equal([c["verdict"] for c in result.cases], ["runtime error"] * 2)


@test
def check_fail_is_a_wrong_answer_even_with_exit_code_0():
	expect("say('check', 'fail')\n", "wrong answer")


@test
def a_failed_ranked_run_may_be_reported_as_test_0():
	result = run_job(
		harness=harness(
			"if mode == 'test':\n\tpassing()\n\tsay('check', 'pass')\nelse:\n"
			"\tsay('test-count', 1)\n"
			"\tsay('test.0.status', 'fail')\n\tsay('test.0.error', 'differs at 3')\n"
			"\tsys.exit(112)\n"
		),
		mode="ranked",
		definition=one_benchmark(),
	)
	equal(result.verdict, "wrong answer")
	contains(result.reason, "differs at 3")


@test
def an_exception_ends_with_its_last_line_and_the_case_that_ran():
	result = run_job("def answer(case): raise TypeError('no such thing')\n")
	equal(result.verdict, "runtime error")
	equal(
		result.reason,
		"The program ended with exit code 1 in test 1 of 2 (a: 1; b: 2): TypeError: no such thing.",
	)
	contains(result.log("stderr"), "Traceback")
	equal(
		[(c["index"], c["verdict"], c["message"]) for c in result.cases],
		[(0, "runtime error", result.reason)],
	)


@test
def signals_are_named():
	expect("os.kill(os.getpid(), 11)\n", "runtime error", "SIGSEGV", "test 1 of 2")
	expect("os.abort()\n", "runtime error", "SIGABRT")
	result = expect("os.kill(os.getpid(), 9)\n", "runtime error", "SIGKILL")
	equal(result.ends[-1]["exit_code"], None)


@test
def ending_early_with_exit_code_0_does_not_pass():
	for body in ("os._exit(0)\n", "passing()\nos._exit(0)\n"):
		expect(body, "runtime error", "before its harness had checked everything")


@contextlib.contextmanager
def memory_group(most_bytes):
	"""Makes a control group of version 1 or 2 with a memory limit, and yields its folder."""
	for root, limit in (
		("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
		("/sys/fs/cgroup", "memory.max"),
	):
		group = pathlib.Path(root, f"podium-run-test-{os.getpid()}")
		try:
			group.mkdir()
		except OSError:
			continue
		try:
			(group / limit).write_text(str(most_bytes))
		except OSError:
			group.rmdir()
			continue
		try:
			yield group
		finally:
			group.rmdir()
		return
	raise Skip("needs a control group of its own")


TOO_LARGE = "x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = 1\n"


@test
def a_program_that_the_kernel_kills_for_memory_gets_memory_limit():
	with memory_group(200 << 20) as group, Runner() as runner:
		(group / "cgroup.procs").write_text(str(runner.process.pid))
		result = runner.run(TOO_LARGE + RIGHT)
		equal((result.verdict, result.cases[-1]["verdict"]), ("memory limit", "memory limit"))
		equal(runner.run().verdict, "passed")


@test
def a_program_is_not_blamed_for_the_memory_of_programs_beside_podium_run():
	with memory_group(200 << 20) as group, Runner() as runner:
		runner.send(job("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n" + RIGHT))
		while not (
			stopped := [p for p in descendants(runner.process.pid) if (stat_of(p) or " ")[0] == "T"]
		):
			time.sleep(0.01)
		join = f"open('{group}/cgroup.procs', 'w').write('0')\n"
		equal(subprocess.run([sys.executable, "-c", join + TOO_LARGE]).returncode, -signal.SIGKILL)
		os.kill(stopped[0], signal.SIGKILL)
		result = runner.result()
		equal(result.verdict, "runtime error")
		contains(result.reason, "SIGKILL")


@test
def a_stage_over_its_limit_is_stopped():
	result = expect(
		"say('test.0.status', 'pass')\ntime.sleep(600)\n",
		"time limit",
		"1 s",
		"test 2 of 2 (a: 3; b: 4)",
		definition=task(test_timeout_s=1),
	)
	equal(result.ends[-1]["exit_code"], None)
	assert result.ends[-1]["duration_ms"] >= 1000


LARGE = "x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n"


@test
def a_stage_reports_the_peak_resident_memory_of_its_program():
	small, large = (
		run_job(submission=submission).ends[-1]["peak_host_bytes"]
		for submission in (RIGHT, LARGE + RIGHT)
	)
	assert 1 << 20 < small < 300 << 20 < large, (small, large)
	stopped = run_job(
		submission=LARGE + "import time\ntime.sleep(600)\n", definition=task(test_timeout_s=3)
	)
	equal(stopped.verdict, "time limit")
	assert stopped.ends[-1]["peak_host_bytes"] > 300 << 20, stopped.ends
	equal(["peak_device_bytes" in end for end in stopped.ends], [False, False])


@test
def stages_have_limits_of_their_own():
	definition = task(test_timeout_s=60, benchmark_timeout_s=1, ranked_timeout_s=1)
	slow = EVAL.replace(
		"family =", "import time; time.sleep(0 if mode == 'test' else 600)\nfamily ="
	)
	for mode in ("benchmark", "ranked"):
		result = run_job(harness=slow, mode=mode, definition=definition)
		equal(([e["verdict"] for e in result.ends]), ["passed", "passed", "time limit"])


# ---- the result pipe ----


@test
def odd_but_honest_results_pass():
	for change in (
		("benchmark.0.speedup", "1.4"),
		("benchmark.0.best", None),
		("benchmark.0.std", "0.0"),
		("benchmark.0.mean", "1.005e2"),
		("benchmark.0.report", "aGFsbG8="),
		("benchmark.0.status", "pass"),
		("benchmark.0.message", "over\nlines: two"),
	):
		result = run_job(harness=benches(change), mode="benchmark", definition=one_benchmark())
		equal((change, result.verdict, result.reason), (change, "passed", "Every case was right."))


@test
def blank_lines_and_spaces_do_not_matter():
	expect(
		"raw('\\n\\n  test-count :  2  \\n\\ntest.0.status:pass\\r\\ntest.1.status: pass\\n\\n "
		"check : pass')\n",
		"passed",
	)


@test
def the_same_line_twice_is_harmless():
	expect("passing()\npassing()\nsay('check', 'pass')\n", "passed")


@test
def times_must_be_finite_and_positive():
	for value in ("nan", "inf", "-1", "0", "1e999", "0x10", "", "12 ns", "1,5"):
		violates(benches(("benchmark.0.mean", value)), "benchmark.0.mean", "finite number above 0")
	for value in ("0", "1.5", "-3", "99999999999"):
		violates(benches(("benchmark.0.runs", value)), "benchmark.0.runs", "whole number above 0")


@test
def unknown_keys_are_refused():
	violates(benches(("score", "1")), "score")
	violates(benches(("benchmark.x.mean", "1")), "benchmark.x.mean")
	violates(harness("raw('hello\\n')\n"), "hello", mode="test")


@test
def indices_and_counts_must_match_the_job():
	violates(benches(("benchmark.1.mean", "1")), "benchmark.1.mean", "not given")
	violates(benches(("benchmark.99999999999999999999.mean", "1")), "not a line")
	violates(benches(("benchmark-count", "2")), "benchmark-count")
	violates(benches(("benchmark-count", None)), "benchmark-count")
	violates(harness("say('test-count', 1)\n"), "test-count", mode="test")


@test
def the_specs_must_match_the_job():
	violates(benches(("benchmark.0.spec", "a: 6")), "benchmark.0.spec")


@test
def contradictory_results_are_refused():
	twice = benches(body="raw('benchmark.0.mean: 5\\n') if mode != 'test' else None")
	violates(twice, "benchmark.0.mean", "twice")
	violates(harness("say('check', 'fail')\nsay('check', 'pass')\n"), "check", "twice", mode="test")
	violates(harness("passing()\nsay('check', 'pass')\nsys.exit(112)\n"), "112", mode="test")
	violates(
		harness("passing()\nsay('test.0.status', 'fail')\nsay('check', 'pass')\n"),
		"twice",
		mode="test",
	)


@test
def check_pass_without_every_case_is_refused():
	violates(harness("say('check', 'pass')\n"), "test-count", mode="test")
	violates(
		harness("say('test-count', 2)\nsay('test.0.status', 'pass')\nsay('check', 'pass')\n"),
		"test 2 of 2 is missing",
		mode="test",
	)
	violates(
		harness(
			"say('test-count', 2)\nsay('test.0.status', 'pass')\nsay('test.1.status', "
			"'fail')\nsay('check', 'pass')\n"
		),
		"test 2 of 2 failed",
		mode="test",
	)
	violates(benches(("benchmark.0.mean", None)), "benchmark 1 of 1 is missing")
	violates(benches(("benchmark.0.status", "fail")), "benchmark 1 of 1 failed")


@test
def an_error_text_cannot_smuggle_in_a_result():
	violates(
		harness(
			"say('test-count', 2)\nsay('test.0.status', 'fail')\nsay('test.0.error', "
			"'x\\ntest.0.status: pass\\ncheck: pass')\n"
			"say('check', 'fail')\nsys.exit(112)\n"
		),
		"twice",
		mode="test",
	)


@test
def an_error_text_may_have_several_lines():
	result = expect(
		"say('test-count', 2)\nsay('test.0.status', 'fail')\nsay('test.0.error', 'differs:\\nat "
		"[0]: 1 != 2\\nat [1]')\n"
		"say('check', 'fail')\nsys.exit(112)\n",
		"wrong answer",
		"differs:",
	)
	equal(result.cases[0]["message"], "differs:\nat [0]: 1 != 2\nat [1]")


@test
def times_longer_than_the_stage_are_refused():
	violates(benches(("benchmark.0.mean", "1e9"), ("benchmark.0.runs", "1000")), "1e+03 s")


@test
def the_result_pipe_is_read_while_the_harness_runs():
	result = expect(
		"passing()\nsay('test.0.message', 'm' * 300000)\nsay('check', 'pass')\n", "passed"
	)
	assert 1000 < len(result.cases[0]["message"]) <= 16384


@test
def the_result_pipe_has_limits():
	expect(
		"raw(b'test.0.message: ' + b'x' * (1 << 20) + b'\\n')\ntime.sleep(600)\n",
		"output limit",
		"1 MiB",
	)
	expect("while True: say('test.0.message', 'x' * 1000)\n", "output limit", "16 MiB")


@test
def results_are_shown_as_valid_utf8():
	result = expect(
		"say('test-count', 2)\nraw(b'test.0.status: fail\\ntest.0.error: "
		"a\\xff\\x00b\\n')\nsay('check', 'fail')\n",
		"wrong answer",
	)
	equal(result.cases[0]["message"], "a\ufffd\ufffdb")


# ---- the process tree ----

LEFT_BEHIND = r'''
def leave_behind(code):
	"""Starts `code` in a new session and lets its parent die. Returns a mark that is in the
	arguments of the process."""
	import subprocess
	starter = ("import os, subprocess, sys\n"
		"os.setsid()\n"
		"p = subprocess.Popen([sys.executable, '-c', sys.argv[1]], close_fds=False, "
		"start_new_session=True)\n"
		"open(sys.argv[2], 'w').write(str(p.pid))\n"
		"os._exit(0)\n")
	place, mark = os.environ["TMPDIR"] + "/pid", f"left-behind-{os.urandom(8).hex()}"
	subprocess.run([sys.executable, "-c", starter, f"{code} # {mark}", place], close_fds=False)
	while not open(place).read():
		pass
	return mark
'''


def left_behind(body, verdict="passed", **members):
	"""Runs a harness that leaves processes behind and prints their marks. Checks that these
	processes are gone."""
	with Runner() as runner:
		result = runner.run(harness=harness(LEFT_BEHIND + body), **members)
		equal((result.verdict, result.reason if result.verdict != verdict else ""), (verdict, ""))
		marks = result.log().split()
		assert marks, result.events
		equal(
			([running(mark) for mark in marks], descendants(runner.process.pid)),
			([[]] * len(marks), []),
		)
	return result


@test
def what_a_stage_leaves_behind_is_killed():
	left_behind(
		"print(leave_behind('import time; time.sleep(600)'))\npassing()\nsay('check', 'pass')\n"
	)


@test
def a_process_that_keeps_the_result_pipe_open_is_not_waited_for():
	left_behind(
		"os.set_inheritable(fd, True)\nprint(leave_behind('import time; "
		"time.sleep(600)'))\npassing()\nsay('check', 'pass')\n"
	)


@test
def a_timeout_ends_the_whole_tree():
	left_behind(
		"print(leave_behind('import time; time.sleep(600)'), flush=True)\ntime.sleep(600)\n",
		"time limit",
		definition=task(test_timeout_s=1),
	)


@test
def ignoring_signals_does_not_help():
	ignore = (
		"import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; "
		"time.sleep(600)"
	)
	left_behind(
		"import signal\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, "
		f"15)]\nprint(leave_behind({ignore!r}), flush=True)\n"
		"time.sleep(600)\n",
		"time limit",
		definition=task(test_timeout_s=1),
	)


@test
def a_process_that_keeps_forking_is_caught():
	forking = "import os, time\nwhile True:\n\ttime.sleep(0.002)\n\tif os.fork(): os._exit(0)\n"
	with Runner() as runner:
		result = runner.run(
			harness=harness(
				LEFT_BEHIND + f"leave_behind({forking!r})\npassing()\nsay('check', 'pass')\n"
			)
		)
		equal(result.verdict, "passed")
		children = pathlib.Path(f"/proc/{runner.process.pid}/task/{runner.process.pid}/children")
		if children.exists():
			equal(children.read_text(), "")
		equal(runner.run().verdict, "passed")


@test
def a_result_written_by_a_leftover_process_does_not_count():
	late = "import os, time; time.sleep(1); os.write(3, b'check: pass\\n')"
	expect(
		LEFT_BEHIND + f"os.set_inheritable(fd, True)\nleave_behind({late!r})\npassing()\n",
		"runtime error",
	)


@test
def endless_printing_is_stopped():
	result = expect(
		"block = b'x' * 65536\nwhile True: os.write(1, block)\n", "output limit", "64 MiB"
	)
	assert len(result.log()) < 70000


@test
def a_program_starts_with_four_descriptors_and_no_more():
	result = expect(
		"print(sorted(int(n) for n in "
		"os.listdir('/proc/self/fd')))\nprint(os.readlink('/proc/self/fd/0'), fd)\n"
		"passing()\nsay('check', 'pass')\n",
		"passed",
	)
	equal(result.log(), "[0, 1, 2, 3, 4]\n/dev/null 3\n")  # 4 belongs to os.listdir()


@test
def a_program_has_resource_limits():
	result = expect(
		"import resource as r\nprint(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_FSIZE)[0], "
		"r.getrlimit(r.RLIMIT_NOFILE)[0])\n"
		"print(os.getsid(0) == os.getpid(), "
		"open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0])\n"
		"passing()\nsay('check', 'pass')\n",
		"passed",
	)
	equal(result.log(), f"(0, 0) {1 << 30} 4096\nTrue 1\n")


@test
def submissions_do_not_run_as_root():
	if os.geteuid() != 0:
		raise Skip("needs root")
	result = expect(
		"print(os.getresuid(), os.getresgid(), 0 in os.getgroups())\npassing()\nsay('check', "
		"'pass')\n",
		"passed",
	)
	import pwd

	nobody = pwd.getpwnam("nobody")
	equal(result.log(), f"{(nobody.pw_uid,) * 3} {(nobody.pw_gid,) * 3} False\n")


@test
def an_ordinary_user_can_run_jobs_too():
	if os.geteuid() != 0:
		raise Skip("is one already")
	with tempfile.TemporaryDirectory(prefix="podium-run-test.") as folder:
		os.chmod(folder, 0o777)
		done = subprocess.run(
			[PROGRAM, "--directory", folder + "/jobs", "--once"],
			user="nobody",
			group="nogroup",
			extra_groups=[],
			input=json.dumps(
				job(
					harness=harness(
						"os.makedirs('a/b/c', mode=0o500)\n"
						"for pid in (os.getppid(), 1):\n\tfor name in ('fd', 'mem', 'environ'):\n"
						"\t\ttry: os.listdir(f'/proc/{pid}/fd') if name == 'fd' else "
						"open(f'/proc/{pid}/{name}')\n"
						"\t\texcept (PermissionError, FileNotFoundError): continue\n"
						"\t\tsys.exit(name)\n"
						"passing()\nsay('check', 'pass')\n"
					)
				)
			).encode(),
			capture_output=True,
			timeout=120,
		)
		equal(
			(json.loads(done.stdout.splitlines()[-1])["verdict"], done.returncode, done.stderr),
			("passed", 0, b""),
		)
		equal(os.listdir(folder + "/jobs"), [])


# ---- files and folders ----


@test
def the_task_is_read_only_for_the_submission():
	result = expect(
		"""
for act in (lambda: open('eval.py', 'w'), lambda: os.remove('eval.py'),
		lambda: os.rename('submission.py', 'x'), lambda: os.rename('../run', '../walk'),
		lambda: open('../cases.txt', 'a'), lambda: os.chmod('eval.py', 0o777)):
	try:
		act()
		print('done')
	except OSError:
		print('refused')
open('new', 'w').write('x')
passing()
say('check', 'pass')
""",
		"passed",
	)
	equal(result.log().split(), ["refused"] * 6)


@test
def stages_start_in_fresh_folders():
	result = run_job(
		mode="benchmark",
		submission="""import os
for name in ('torch.py', os.environ['HOME'] + '/left', os.environ['TMPDIR'] + '/left'):
	print(os.path.exists(name))
	open(name, 'w').write('left')
"""
		+ RIGHT,
	)
	equal(
		(result.verdict, result.log(position=1), result.log(position=2)),
		("passed", "False\n" * 3, "False\n" * 3),
	)


@test
def compiled_kernels_are_kept_for_all_stages_of_a_job_and_then_removed():
	source = (
		"import os\nplace = os.environ['TRITON_CACHE_DIR'] + "
		"'/kernel'\nprint(os.path.exists(place))\n"
		"os.makedirs(os.path.dirname(place), exist_ok=True)\nopen(place, 'w').write('x')\n" + RIGHT
	)
	with Runner() as runner:
		for _ in range(2):
			result = runner.run(source, mode="benchmark")
			equal((result.log(position=1), result.log(position=2)), ("False\n", "True\n"))


@test
def nothing_of_a_job_stays_on_disk():
	hostile = """
os.makedirs('locked/inner')
open('locked/inner/file', 'w')
os.chmod('locked/inner', 0)
os.chmod('locked', 0)
os.symlink('/', 'root'); os.symlink('.', 'loop'); os.symlink(%r, 'precious'); os.mkfifo('pipe')
os.mkdir('removed-1'); os.mkdir('removed-1/removed-2'); open('removed-1/removed-2/x', 'w')
passing()
say('check', 'pass')
"""
	with tempfile.TemporaryDirectory() as precious:
		os.chmod(precious, 0o777)
		open(precious + "/file", "w")
		with Runner() as runner:
			equal(runner.run(harness=harness(hostile % precious)).verdict, "passed")
			equal(os.listdir(runner.directory), [])
		equal(os.listdir(precious), ["file"])


@test
def a_very_deep_folder_is_removed():
	deep = (
		"for i in range(3000):\n\tos.mkdir('d')\n\tos.chdir('d')\npassing()\nsay('check', 'pass')\n"
	)
	with Runner() as runner:
		equal(runner.run(harness=harness(deep)).verdict, "passed")
		equal(os.listdir(runner.directory), [])


@test
def the_next_podium_run_removes_the_folders_of_a_killed_one():
	with tempfile.TemporaryDirectory() as folder:
		os.chmod(folder, 0o711)
		with Runner(directory=folder) as runner, Runner(directory=folder) as other:
			for one in (runner, other):
				one.send(
					job(
						harness=harness(
							"say('test-count', 2)\nsay('test.0.status', 'pass')\ntime.sleep(600)\n"
						)
					)
				)
				one.until("progress", text="test 1/2")
			runner.process.kill()
			runner.process.wait()
			os.mkdir(folder + "/mine")
			with Runner(directory=folder):
				left = os.listdir(folder)
				equal((len(left), "mine" in left), (2, True))
			other.send({"cancel": 17})
			equal(other.result().verdict, "cancelled")
		equal(os.listdir(folder), ["mine"])


@test
def a_directory_that_the_user_cannot_enter_is_refused():
	if os.geteuid() != 0:
		raise Skip("needs root")
	with tempfile.TemporaryDirectory() as folder:
		done = subprocess.run(
			[PROGRAM, "--directory", folder],
			stdin=subprocess.DEVNULL,
			capture_output=True,
			text=True,
		)
		equal(done.returncode, 1)
		contains(done.stderr, "cannot enter")


@test
def files_may_lie_in_folders_and_be_binary():
	blob = bytes(range(256))
	result = run_job(
		files=[
			{"path": "data/deep/table.bin", "base64": base64.b64encode(blob).decode()},
			{"path": "empty", "text": ""},
		],
		harness=harness(
			"print(open('data/deep/table.bin', 'rb').read() == bytes(range(256)), "
			"os.stat('empty').st_size)\npassing()\nsay('check', 'pass')\n"
		),
	)
	equal((result.verdict, result.log()), ("passed", "True 0\n"))


@test
def paths_that_leave_the_folder_are_refused():
	for path in (
		"../x",
		"/etc/x",
		"a//b",
		"a/./b",
		"",
		"a/../b",
		"x\ny",
		"submission.py",
		"eval.py",
		"a/" * 200,
	):
		result = run_job(files=[{"path": path, "text": ""}])
		equal((path, result.verdict, result.stages), (path, "internal error", []))


# ---- the environment ----


def variables(**members):
	source = "import json, os\nprint(json.dumps(dict(os.environ)))\n" + RIGHT
	with Runner(
		environment={
			"LD_LIBRARY_PATH": "/opt/lib",
			"CUDA_HOME": "/opt/cuda",
			"DATABASE_PASSWORD": "x",
			"PYTHONPATH": "/x",
		}
	) as runner:
		return json.loads(runner.run(source, **members).log())


@test
def a_program_inherits_no_environment():
	seen = variables()
	equal(
		sorted(seen),
		sorted(
			(
				"PATH LANG HOME USER TMPDIR LD_LIBRARY_PATH CUDA_HOME PYTHONDONTWRITEBYTECODE "
				"PYTHONUNBUFFERED PYTHONNOUSERSITE "
				"TRITON_CACHE_DIR TORCH_EXTENSIONS_DIR TORCHINDUCTOR_CACHE_DIR CUDA_CACHE_PATH "
				"XDG_CACHE_HOME CUDA_DEVICE_ORDER "
				"CUDA_VISIBLE_DEVICES OMP_NUM_THREADS POPCORN_FD"
			).split()
		),
	)
	equal(
		(seen["LANG"], seen["LD_LIBRARY_PATH"], seen["CUDA_VISIBLE_DEVICES"]),
		("C.UTF-8", "/opt/lib", ""),
	)
	job_folder = seen["HOME"].rsplit("/", 2)[0]
	for name in ("TMPDIR", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH"):
		contains(seen[name], job_folder)


@test
def programs_get_seeds_and_devices():
	lacks(variables(), "POPCORN_SEED")
	equal(variables(definition=task(has_seed=True, seed=-5))["POPCORN_SEED"], "-5")
	two = {**GPU, "uuid": GPU["uuid"] + "," + GPU["uuid"].replace("0", "1")}
	seen = variables(definition=task(multi_gpu=True), device=two)
	equal((seen["CUDA_VISIBLE_DEVICES"], seen["POPCORN_GPUS"]), (two["uuid"], "2"))


@test
def ranked_stages_get_the_secret_seed_and_no_event_contains_it():
	source = (
		"import os\nfrom sys import stderr\nseed = os.environ['POPCORN_SEED']\nprint(len(seed), "
		"seed)\nprint('x' * 40000 + seed, file=stderr)\n"
		"def answer(case):\n\tassert seed != '%d', seed\n" % SECRET
	)
	with Runner() as runner:
		result = runner.run(source, mode="ranked", definition=task(has_seed=True, seed=1))
		equal(
			(result.verdict, [s["stage"] for s in result.stages]),
			("runtime error", ["compile", "test"]),
		)
		contains(result.log(), "9 [secret seed]")
		lacks(json.dumps(result.events), str(SECRET))
		contains(result.reason, "[secret seed]")


# ---- output ----


@test
def long_output_keeps_its_beginning_and_its_end():
	result = run_job("import os\nfor i in range(100000): os.write(1, b'%d\\n' % i)\n" + RIGHT)
	text = result.log()
	equal((result.verdict, text[:6], text[-12:]), ("passed", "0\n1\n2\n", "99998\n99999\n"))
	gap = [line for line in text.splitlines() if not line.isdigit()]
	equal(len(gap), 1)
	left_out = int(gap[0].split()[1])
	equal(len(text) - len(gap[0]) - 1 + left_out, sum(len(str(i)) + 1 for i in range(100000)))
	assert 60000 < len(text) < 66000


@test
def output_up_to_the_cap_is_kept_whole():
	text = "µ" * 30000 + "\n" + "x" * 5000
	equal(
		run_job(
			"import os\nos.write(1, ('µ' * 30000 + '\\n' + 'x' * 5000).encode())\n" + RIGHT
		).log(),
		text,
	)


@test
def invalid_utf8_in_output_is_replaced():
	result = run_job(
		"import os\nos.write(2, b'a\\x00\\xff\\xed\\xa0\\x80' + b'\\xff' * 200000)\n" + RIGHT
	)
	equal(result.verdict, "passed")
	equal(result.log("stderr")[:5], "a\ufffd\ufffd\ufffd\ufffd")


# ---- output while it runs ----


def look_on(runner, shows, **members):
	"""Follows a job until a tail of its output contains the text, then cancels the job. Returns the
	first such tail and the events before it."""
	runner.send(job(follow=True, **members))
	events = []
	while (
		not events
		or events[-1]["event"] != "tail"
		or shows not in "".join(events[-1]["tail"].values())
	):
		events.append(runner.event())
		assert events[-1]["event"] != "verdict", events
	runner.send({"cancel": 17})
	rest = runner.result()
	equal(rest.verdict, "cancelled")
	return events[-1], events, rest


PRINTS = (
	"import os, time\n"
	"def say(text): os.write(1, text if isinstance(text, bytes) else text.encode())\n"
)
WAIT = "time.sleep(600)\n"


@test
def live_output_shows_the_last_lines_while_the_program_runs():
	with Runner() as runner:
		tail, _, rest = look_on(
			runner,
			"second",
			submission=PRINTS
			+ "say('first\\n')\nos.write(2, b'oh\\n')\ntime.sleep(1.2)\nsay('second\\n')\n"
			+ WAIT,
		)
		equal(
			(tail["position"], tail["tail"]), (1, {"stdout": "first\nsecond\n", "stderr": "oh\n"})
		)
		equal((rest.log(), rest.log("stderr")), ("first\nsecond\n", "oh\n"))


@test
def without_a_viewer_no_output_is_sent_before_the_end():
	result = run_job(PRINTS + "say('first\\n')\ntime.sleep(1.5)\nsay('second\\n')\n" + RIGHT)
	equal(
		(result.log(), [e for e in result.events if e["event"] == "tail"]), ("first\nsecond\n", [])
	)


@test
def hostile_output_becomes_short_plain_text():
	noise = (
		"for i in range(3000): say(b'\\x1b[31m\\xff\\x00\\x07' + b'x' * 3000)\n"
		"say('\\n\\x1b]0;title\\x07end of noise')\n"
	)
	with Runner() as runner:
		tail, _, _ = look_on(runner, "end of noise", submission=PRINTS + noise + WAIT)
		text = tail["tail"]["stdout"]
		assert len(text.encode()) <= 2048 and text.endswith("end of noise"), text
		assert text.isprintable() or set(text) <= set("x\ufffd\n endofis"), text


@test
def the_secret_seed_is_in_no_tail():
	source = (
		PRINTS
		+ (
			"seed = os.environ['POPCORN_SEED']\n"
			"say('seed ' + seed[:4])\n"
			"time.sleep(1.2)\n"
			"say(seed[4:] + '\\nthere it was\\n')\n"
		)
		+ WAIT
	)
	with Runner() as runner:
		tail, events, _ = look_on(runner, "there it was", submission=source, mode="ranked")
		equal(tail["tail"]["stdout"], "seed [secret seed]\nthere it was\n")
		for event in events:
			lacks(json.dumps(event), str(SECRET)[:4])


@test
def no_output_is_sent_while_cases_are_timed():
	body = (
		"if mode == 'test': passing(), say('check', 'pass'), sys.exit()\nprint('begins', "
		"flush=True)\ntime.sleep(1.5)\nsay('benchmark-count', 2)\n"
		"for key, value in (('runs', 3), ('mean', 100), ('std', 1), ('err', 0.5), ('best', 90), "
		"('worst', 110)): say(f'benchmark.0.{key}', value)\n"
		"say('benchmark.1.spec', cases[1])\ntime.sleep(600)\n"
	)
	with Runner() as runner:
		tail, events, rest = look_on(
			runner,
			"begins",
			harness=harness(body),
			mode="benchmark",
			definition=task(benchmarks=["a: 5", "a: 6"]),
		)
		equal(
			(tail["position"], events[-2]["event"], rest.progress[0]), (2, "stage", "benchmark 1/2")
		)


@test
def a_slow_reader_is_not_waited_for():
	with Runner() as runner:
		runner.send(
			job(PRINTS + "while True: say('x' * 2000 + '\\n'), time.sleep(0.1)\n", follow=True)
		)
		time.sleep(5)
		unread = os.read(runner.process.stdout.fileno(), 1 << 20)
		assert unread.count(b'"event":"tail"') <= 1, unread
		runner.rest += unread
		runner.send({"cancel": 17})
		equal(runner.result().verdict, "cancelled")


# ---- compiling ----


@test
def a_syntax_error_is_a_compile_error_with_its_line():
	result = run_job("x = 1\ndef f(:\n")
	equal((result.verdict, [s["stage"] for s in result.stages]), ("compile error", ["compile"]))
	contains(result.reason, "submission.py, line 2")
	contains(result.log("stderr", 0), "def f(:")


@test
def compiling_runs_nothing_of_the_file():
	result = run_job("import os\nos._exit(3)\n")
	equal(
		[(e["position"], e["verdict"]) for e in result.ends], [(0, "passed"), (1, "runtime error")]
	)


@test
def files_that_crash_the_compiler_are_compile_errors():
	for source in (
		"x = " + "(" * 5000,
		"x = " + "-" * 200000 + "1",
		"\u0000",
		"# coding: nonsense\n",
		"x = '\ufeff",
	):
		equal((source[:20], run_job(source).verdict), (source[:20], "compile error"))


@test
def without_an_interpreter_the_reason_says_how_to_get_one():
	result = run_job(python="")
	equal((result.verdict, result.stages), ("internal error", []))
	contains(result.reason, "python3-torch")
	result = run_job(python="/nonexistent/python3")
	equal(result.verdict, "internal error")
	contains(result.reason, "/nonexistent/python3")


CU_EVAL = r"""
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include "limits.cuh"
int answer(int value);
int main(int count, char **words)
{
	FILE *pipe = fdopen(atoi(getenv("POPCORN_FD")), "w");
	fprintf(pipe, "test-count: 2\ntest.0.status: pass\ntest.1.status: pass\ncheck: %s\n",
		answer(LIMIT) == 42 ? "pass" : "fail");
	fclose(pipe);
	printf("%s %d %d %s %s\n", words[0], count, FACTOR, access("eval.cu", F_OK) ? "gone" : "there",
		access("table.txt", F_OK) ? "gone" : "there");
	return 0;
}
"""
CU_FILES = [
	{"path": "inc/limits.cuh", "text": "#define LIMIT 6\n"},
	{"path": "table.txt", "text": "1"},
]
CU_RIGHT = "__global__ void kernel() {}\nint answer(int value) { return value * FACTOR; }\n"

# The host's compiler stands in for nvcc, because it takes a tenth of the time.
HOST_COMPILER = (
	"#!/bin/sh\nexec c++ -x c++ -D__global__= -Iinc -DFACTOR=7 -o eval.out eval.cu submission.cu\n"
)


@contextlib.contextmanager
def quick_nvcc():
	with tempfile.TemporaryDirectory(prefix="podium-nvcc.") as folder:
		os.chmod(folder, 0o755)
		nvcc = pathlib.Path(folder, "nvcc")
		nvcc.write_text(HOST_COMPILER)
		nvcc.chmod(0o755)
		yield str(nvcc)


def run_cu(submission, **members):
	if nvcc_lack():
		raise Skip(nvcc_lack())
	definition = cu_task(
		include_dirs=["inc"],
		defines=[{"name": "FACTOR", "value": "7"}],
		compile_flags=["-lineinfo"],
	)
	return run_job(
		submission, harness=CU_EVAL, definition=definition, device=GPU, files=CU_FILES, **members
	)


@test
def cuda_sources_are_compiled_and_are_gone_when_the_program_runs():
	result = run_cu(CU_RIGHT)
	equal((result.verdict, result.log()), ("passed", "./eval.out 3 7 gone there\n"))
	command = result.stages[0]["command"]
	for part in (
		"--std=c++20",
		"-lineinfo",
		"-Iinc",
		"-DFACTOR=7",
		"eval.cu submission.cu",
		"-gencode=arch=compute_90a,code=sm_90a",
		"-o eval.out",
	):
		contains(command, part)
	equal(result.stages[1]["command"], "./eval.out test ../cases.txt")


@test
def a_cuda_program_blames_its_harness_only_if_the_harness_says_why():
	leaves = (
		("#include <cstdio>\n#include <unistd.h>\n")
		+ CU_RIGHT
		+ ("static const int before_main = ({says}, _exit(113), 0);\n")
	)
	with quick_nvcc() as nvcc:
		result = run_cu(leaves.replace("{says}", "0"), nvcc=nvcc)
		equal(result.verdict, "runtime error")
		contains(result.reason, "The submission ended the program with exit code 113")
		# This harness reports an error of the task, so the verdict blames the task. A submission
		# could write the same line, because harness and submission are one program.
		result = run_cu(leaves.replace("{says}", 'dprintf(3, "error: no cases\\n")'), nvcc=nvcc)
		equal(result.verdict, "internal error")


@test
def an_error_of_nvcc_is_a_compile_error():
	result = run_cu("int answer(int value) { return nothing; }\n")
	equal((result.verdict, [s["stage"] for s in result.stages]), ("compile error", ["compile"]))
	contains(result.reason, 'submission.cu(1): error: identifier "nothing" is undefined')
	contains(result.log("stderr", 0), "1 error detected")


@test
def cuda_tasks_are_refused_without_nvcc_or_a_gpu():
	for members, part in (
		({"device": CPU}, "need a GPU"),
		({"device": GPU, "nvcc": ""}, "no nvcc"),
		({"device": {**GPU, "compute_capability": "ninety"}}, "compute capability"),
	):
		result = run_job(CU_RIGHT, harness=CU_EVAL, definition=cu_task(), **members)
		equal((result.verdict, result.stages), ("internal error", []))
		contains(result.reason, part)
	result = run_job(
		CU_RIGHT, harness=CU_EVAL, definition=cu_task(compile_flags=["x.cu"]), device=GPU
	)
	equal(result.verdict, "internal error")


# ---- messages ----


@test
def cancelling_a_job_ends_all_its_processes():
	with Runner() as runner:
		runner.send(
			job(
				harness=harness(
					LEFT_BEHIND
					+ "print(leave_behind('import time; time.sleep(600)'), flush=True)\n"
					"say('test.0.status', 'pass')\ntime.sleep(600)\n"
				)
			)
		)
		runner.until("progress", text="test 1/2")
		runner.send({"cancel": 99})
		runner.send({"cancel": 17})
		result = runner.result()
		equal(
			(result.verdict, result.ends[-1]["verdict"], result.ends[-1]["exit_code"]),
			("cancelled", "cancelled", None),
		)
		equal((running(result.log().strip()), descendants(runner.process.pid)), ([], []))
		equal(runner.run(id=18).verdict, "passed")
		equal(runner.end(), (0, [], ""))


@test
def end_of_input_ends_a_running_job():
	with Runner() as runner:
		runner.send(job(harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n")))
		runner.until("progress", text="test 1/2")
		programs = descendants(runner.process.pid)
		code, more, errors = runner.end()
		equal(
			(code, more[-1]["verdict"], errors, len(programs)), (0, "cancelled", "", 2)
		)  # the first process in the sandbox, and the harness
		equal([pid for pid in programs if not is_gone(pid)], [])


@test
def a_signal_ends_it_as_well():
	for number in (signal.SIGTERM, signal.SIGINT):
		with Runner() as runner:
			runner.send(job(harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n")))
			runner.until("progress", text="test 1/2")
			runner.process.send_signal(number)
			code, more, errors = runner.finish()
			equal((code, more[-1]["verdict"], errors), (0, "cancelled", ""))


@test
def a_signal_to_the_whole_group_is_not_the_submissions_fault():
	for is_for_all, verdict in ((True, "cancelled"), (False, "runtime error")):
		with Runner() as runner:
			runner.send(job(harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n")))
			runner.until("progress", text="test 1/2")
			for pid in descendants(runner.process.pid):
				os.kill(pid, signal.SIGTERM)
			if is_for_all:
				time.sleep(0.05)
				runner.process.send_signal(signal.SIGTERM)
				equal(runner.finish()[1][-1]["verdict"], verdict)
			else:
				event = runner.until("verdict")[-1]
				equal(event["verdict"], verdict)
				contains(event["reason"], "SIGTERM")


@test
def podium_run_ends_when_nobody_reads_its_output():
	with Runner() as runner:
		runner.send(
			job(
				harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n"),
				definition=task(test_timeout_s=3000),
			)
		)
		runner.until("progress", text="test 1/2")
		runner.process.stdout.close()
		equal(runner.process.wait(120), 1)


@test
def waiting_jobs_run_in_order_or_are_cancelled_before_they_run():
	with Runner() as runner:
		runner.send(job(id=1, harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n")))
		runner.until("progress", text="test 1/2")
		runner.send(job(id=2))
		runner.send(job(WRONG, id=3))
		runner.send({"cancel": 2})
		unrun = runner.until("verdict")
		equal(
			[(e["event"], e["job"], e.get("verdict")) for e in unrun], [("verdict", 2, "cancelled")]
		)
		runner.send({"cancel": 1})
		equal((runner.result(1).verdict, runner.result(3).verdict), ("cancelled", "wrong answer"))


@test
def too_many_waiting_jobs_are_refused():
	with Runner() as runner:
		runner.send(job(id=1, harness=harness("say('test.0.status', 'pass')\ntime.sleep(600)\n")))
		runner.until("progress", text="test 1/2")
		for number in range(2, 11):
			runner.send(job(id=number))
		refused = runner.until("verdict")[-1]
		equal((refused["job"], refused["verdict"]), (10, "internal error"))
		runner.send({"cancel": 1})
		equal(
			[runner.result(number).verdict for number in range(1, 10)],
			["cancelled"] + ["passed"] * 8,
		)


@test
def malformed_messages_are_harmless():
	with Runner() as runner:
		for line in (
			b"",
			b"nonsense",
			b"[]",
			b"null",
			b"{}",
			b'{"cancel": "x"}',
			b'{"job": 5}',
			b'{"job": {"id": -1}}',
			b"\xff\xfe",
			b'{"job": {"id": "x"}}',
		):
			runner.write(line + b"\n")
		equal(runner.run().verdict, "passed")
		code, events, errors = runner.end()
		equal((code, events), (0, []))
		equal(len(errors.splitlines()), 9)


@test
def malformed_jobs_with_an_id_get_a_verdict():
	changes = [
		("mode", "fast"),
		("device", None),
		("device", {"model": "H200"}),
		("task", {}),
		("task", None),
		("files", {}),
		("files", [5]),
		("files", [{"path": "x"}]),
		("files", [{"path": "x", "base64": "!"}]),
		("submission", None),
		("submission", {"name": "x"}),
		("python", 5),
		("device", {"model": "H200", "uuid": "GPU-1\nLD_PRELOAD=x"}),
	]
	with Runner() as runner:
		for key, value in changes:
			message = job()
			message["job"][key] = value
			runner.send(message)
			result = runner.result()
			equal(
				(key, value, result.verdict, len(result.events)), (key, value, "internal error", 1)
			)
			assert result.reason
		message = job(mode="ranked")
		del message["job"]["secret_seed"]
		runner.send(message)
		contains(runner.result().reason, "secret_seed")
		runner.write(b'{"job": {"id": 4, "mode": }\n')
		equal(runner.result(4).verdict, "internal error")
		equal(runner.run().verdict, "passed")


@test
def messages_over_their_limit_are_skipped():
	with Runner() as runner:
		runner.write(b'{"job": {"id": 5, "x": "')
		for _ in range(65):
			runner.write(b"y" * (1 << 20))
		runner.write(b'"}}\n')
		contains(runner.result(5).reason, "64 MiB")
		equal(runner.run().verdict, "passed")


@test
def large_jobs_are_accepted():
	result = run_job(
		files=[{"path": "large.txt", "text": "z" * (40 << 20)}],
		harness=harness("print(os.stat('large.txt').st_size)\npassing()\nsay('check', 'pass')\n"),
	)
	equal((result.verdict, result.log()), ("passed", f"{40 << 20}\n"))


@test
def once_runs_one_job_from_a_file():
	with tempfile.TemporaryFile() as source, tempfile.TemporaryDirectory() as folder:
		os.chmod(folder, 0o711)
		source.write(json.dumps(job()).encode())
		source.seek(0)
		done = subprocess.run(
			[PROGRAM, "--once", "--directory", folder],
			stdin=source,
			capture_output=True,
			timeout=120,
		)
		events = [json.loads(line) for line in done.stdout.splitlines()]
		equal(
			(events[0]["event"], events[-1]["verdict"], done.returncode, done.stderr),
			("ready", "passed", 0, b""),
		)


# ---- the command line ----


def call(*words, **members):
	return subprocess.run(
		[PROGRAM, *words],
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
		timeout=120,
		**members,
	)


@test
def the_command_line_explains_itself():
	done = call("--help")
	equal((done.returncode, done.stderr), (0, ""))
	for word in ("--directory", "--user", "--once", "--find-python", "--version"):
		contains(done.stdout, word)
	equal(call("--version").stdout.split()[0], "podium-run")
	for words in (["--nonsense"], ["job.json"], ["--user"]):
		equal((words, call(*words).returncode), (words, 2))


@test
def users_that_cannot_be_used_are_refused():
	if os.geteuid() != 0:
		raise Skip("needs root")
	done = call("--user", "no-such-user")
	equal(done.returncode, 1)
	contains(done.stderr, "no-such-user")
	contains(call("--user", "root").stderr, "must not run as root")


@test
def an_interpreter_without_torch_is_not_found():
	with tempfile.TemporaryDirectory() as folder:
		os.chmod(folder, 0o755)
		for name, script in (("python3", "exit 1"), ("torch", "exit 0")):
			path = pathlib.Path(folder, name)
			path.write_text(f"#!/bin/sh\n{script}\n")
			path.chmod(0o755)
		done = call(f"--find-python={folder}/python3")
		equal((done.returncode, done.stdout, done.stderr), (1, "", ""))
		equal(call(f"--find-python={folder}/torch").stdout, f"{folder}/torch\n")
		has_torch = (
			subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
		)
		equal(
			call("--find-python", env={"PATH": folder}).stdout, f"{PYTHON}\n" if has_torch else ""
		)


sys.exit(run())
