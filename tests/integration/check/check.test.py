#!/usr/bin/env python3
"""podium check with the real podium-run: how jobs end, and that a stopped job leaves nothing
behind. words.test.py covers what podium check prints for unusual results."""

import json
import re
import signal
import subprocess
import sys

import home
from home import (
	HANG_S,
	RIGHT,
	ROOT,
	TASK,
	VERDICT,
	StandIn,
	arguments,
	close,
	environment,
	file,
	scratch,
	task,
	torch_lack,
)

sys.path.insert(0, str(ROOT / "tests" / "integration" / "run"))
from processes import descendants, wait_until_gone  # noqa: E402
from quick import quick_python  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

SLOW = "import time\nprint('began', flush=True)\n\ndef custom_kernel(data):\n    time.sleep(600)\n"


def check(*words, **more):
	"""Runs podium check with an interpreter without torch, which starts fast."""
	return home.check(*words, **{"PODIUM_PYTHON": quick_python(scratch), **more})


# ---- real jobs ----


@test
def a_right_submission_passes():
	if torch_lack():
		raise Skip(torch_lack())
	# An empty PODIUM_PYTHON selects the interpreter that podium finds on this machine.
	answer = check(file(RIGHT), PODIUM_PYTHON="")
	equal(answer.code, 0)
	contains(answer.out, "Passed. Every case was right.\n")
	contains(answer.out, "  #  Case     Result\n  1  seed: 1  passed\n  2  seed: 2  passed\n")
	contains(answer.out, "  Engine     custom. The task's own harness ran the submission. task.yml")
	contains(answer.out, "  Device     CPU, ")


@test
def a_real_job_reports_its_progress():
	contains(check(file(RIGHT)).err, "compile\ntest 0/2\n")


@test
def a_wrong_answer_shows_the_first_failing_case():
	answer = check(
		file("def custom_kernel(data):\n    return 7 if data == 2 else data\n"),
		"--mode",
		"benchmark",
	)
	equal(answer.code, 10)
	contains(
		answer.out,
		"Wrong answer. The output differs from the reference.\n"
		"Test 2 of 2 failed (seed: 2): expected 2, got 7.\n\nFirst failing case, test 2: seed: "
		"2\n  expected 2, got 7\n",
	)
	contains(answer.out, "  2  seed: 2  wrong answer\n")


@test
def a_file_that_does_not_compile_shows_the_compilers_output():
	answer = check(file("def custom_kernel(data)\n    return data\n"))
	equal(answer.code, 11)
	contains(answer.out, "Compile error. The file could not be compiled or imported")
	contains(
		answer.out, "\nStandard error of compile:\n  | submission.py, line 1: error: expected ':'\n"
	)


@test
def an_exception_shows_the_end_of_the_error_output():
	answer = check(file("def custom_kernel(data):\n    raise ValueError('not today')\n"))
	equal(answer.code, 12)
	contains(answer.out, "ValueError: not today")
	contains(answer.out, "\nStandard error of test:\n")
	contains(answer.out, "  |     raise ValueError('not today')\n")


@test
def the_time_limit_of_the_task_applies():
	answer = check(file(SLOW), folder=task("short", TASK + "test_timeout: 1\n"))
	equal(answer.code, 13)
	contains(answer.out, "The limit of 1 s was reached")
	contains(answer.out, "\nStandard output of test:\n  | printed by the harness\n  | began\n")


@test
def a_ranked_run_draws_a_seed_and_says_so():
	answer = check(file(RIGHT), "--mode", "ranked")
	equal(answer.code, 0)
	contains(answer.out, "Score: 2.0000 ± 0.0098 ms\n")
	contains(
		answer.out,
		"  #  Shape                  Time      Best     Worst  Runs\n"
		"  1  seed: 3  2.0000 ± 0.0098 ms  2.000 ms  2.000 ms     3\n",
	)
	seed = re.search(
		r"The server uses other, secret seeds\. --seed (\d+) repeats this run\.\n", answer.out
	)[1]
	again = check(file(RIGHT), "--mode", "ranked", "--seed", seed, "--json")
	equal(again.json["secret_seed"], int(seed))
	others = {
		check(file(RIGHT), "--mode", "ranked", "--json", program=StandIn(VERDICT)).json[
			"secret_seed"
		]
		for _ in range(3)
	}
	equal(len(others), 3)


@test
def the_result_is_available_as_json():
	answer = check(file("print('hello')\n" + RIGHT), "--json", "--mode", "benchmark")
	result = answer.json
	equal(answer.code, 0)
	equal(
		[result[key] for key in ("task", "file", "mode", "verdict", "engine", "exit_code")],
		[str(task()), "mine.py", "benchmark", "passed", "custom", 0],
	)
	equal(result["device"]["model"], "CPU")
	equal(
		[(stage["stage"], stage["verdict"], stage["exit_code"]) for stage in result["stages"]],
		[("compile", "passed", 0), ("test", "passed", 0), ("benchmark", "passed", 0)],
	)
	contains(result["stages"][1]["stdout"], "hello\n")
	equal([case["spec"] for case in result["stages"][1]["cases"]], ["seed: 1", "seed: 2"])
	case = result["stages"][2]["cases"][0]
	equal(
		{**case, "err_ns": round(case["err_ns"])},  # by Student's t of three runs
		{
			"index": 0,
			"spec": "seed: 3",
			"verdict": "passed",
			"message": "",
			"runs": 3,
			"mean_ns": 2000000.0,
			"std_ns": 10.0,
			"err_ns": 5000,
			"best_ns": 1999990.0,
			"worst_ns": 2000010.0,
		},
	)
	lacks(json.dumps(result), '"job"')


@test
def a_zip_works_like_a_folder():
	subprocess.run(
		[sys.executable, "-m", "zipfile", "-c", scratch / "small.zip", *task().iterdir()],
		check=True,
	)
	equal(check(file(RIGHT), folder=scratch / "small.zip").code, 0)


@test
def a_folder_in_a_larger_tree_gets_its_files_from_above():
	folder, above = task("leaf"), scratch / "tasks" / "shared_eval.py"
	(folder / "eval.py").rename(above)
	text = (folder / "task.yml").read_text()
	source = f"source: ../{above.name}"
	(folder / "task.yml").write_text(text.replace("source: eval.py", source))
	equal(check(file(RIGHT), folder=folder).code, 0)
	(folder / "task.yml").write_text(text.replace("source: eval.py", source.replace("..", "../..")))
	contains(check(file(RIGHT), folder=folder).err, "name a folder that contains both with --root")
	above.rename(scratch / above.name)
	equal(check(file(RIGHT), "--root", scratch, folder=folder).code, 0)
	above.symlink_to(scratch / above.name)
	(folder / "task.yml").write_text(text.replace("source: eval.py", source))
	contains(check(file(RIGHT), folder=folder).err, "is a link or is reached through one")


# ---- being stopped ----


def stopped_by(number):
	"""Runs an endless job, sends the signal once the job runs, and returns how the job ended and
	the processes that it started."""
	process = subprocess.Popen(
		arguments(file(SLOW)),
		env=environment({"PODIUM_PYTHON": quick_python(scratch)}),
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
		start_new_session=True,
	)
	lines = []
	while not lines or "test 0/2" not in lines[-1]:
		lines.append(process.stderr.readline())
		equal(lines[-1] == "", False)
	below = descendants(process.pid)
	process.send_signal(number)
	out, err = process.communicate(timeout=HANG_S)
	return process.returncode, out, err, below


@test
def a_signal_ends_the_job_and_leaves_nothing_behind():
	for number, name in (
		(signal.SIGINT, "Ctrl-C"),
		(signal.SIGTERM, "Terminated"),
		(signal.SIGHUP, "Hangup"),
	):
		code, out, err, below = stopped_by(number)
		equal((code, out), (128 + number, ""))
		contains(err, f"podium: Stopped by {name}. The job no longer runs.\n")
		assert len(below) >= 2, below
		wait_until_gone(below)


@test
def killing_podium_ends_its_job():
	code, _, _, below = stopped_by(signal.SIGKILL)
	equal(code, -signal.SIGKILL)
	wait_until_gone(below)


@test
def a_second_signal_kills_a_job_that_ignores_the_first():
	program = StandIn(
		{"event": "progress", "text": "deaf"},
		"!signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
	)
	process = subprocess.Popen(
		arguments(file(RIGHT)),
		env=environment(program.environment),
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
		start_new_session=True,
	)
	while "deaf" not in process.stderr.readline():
		pass
	below = descendants(process.pid)
	process.send_signal(signal.SIGINT)
	while "cancelling" not in process.stderr.readline():
		pass
	process.send_signal(signal.SIGINT)
	process.communicate(timeout=HANG_S)
	equal(process.returncode, 130)
	wait_until_gone(below)


@test
def ctrl_c_cancels_the_job_in_podium_run():
	program = StandIn(
		{"event": "progress", "text": "running"},
		"!(folder / 'cancel').write_text(sys.stdin.readline()); print(json.dumps({'event': "
		"'verdict', 'job': 1, 'verdict': 'cancelled', "
		"'reason': ''}), flush=True)",
	)
	process = subprocess.Popen(
		arguments(file(RIGHT)),
		env=environment(program.environment),
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
		start_new_session=True,
	)
	while "running" not in process.stderr.readline():
		pass
	process.send_signal(signal.SIGINT)
	process.communicate(timeout=HANG_S)
	equal(process.returncode, 130)
	equal(json.loads((program.folder / "cancel").read_text()), {"cancel": 1})


if __name__ == "__main__":
	try:
		code = run()
	finally:
		close()
	sys.exit(code)
