#!/usr/bin/env python3
"""podium check: what it takes, what it prints, and how it ends. The real podium-run does the work where a real job is
meant; a stand-in says what no real one would."""
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time

from home import HANG_S, LOCKS, PYTHON, RIGHT, TASK, PODIUM, ROOT, StandIn, arguments, check, close, driver, environment, file, podium, scratch, \
	task, terminal, torch_lack
sys.path.insert(0, str(ROOT / "tests" / "integration" / "run"))
from runner import descendants, is_gone  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

VERDICT = {"event": "verdict", "verdict": "passed", "reason": "Every case was right.", "engine": "custom"}
CODES = {"passed": 0, "wrong answer": 10, "compile error": 11, "runtime error": 12, "time limit": 13, "memory limit": 14,
	"output limit": 15, "protocol violation": 16, "internal error": 3, "cancelled": 3}
SLOW = "import time\nprint('began', flush=True)\n\ndef custom_kernel(data):\n    time.sleep(600)\n"


def real():
	"""For tests in which Python tasks are run."""
	if torch_lack():
		raise Skip(torch_lack())


def says(answer, code, *parts):
	equal((answer.code, answer.out), (code, ""))
	for part in parts:
		contains(answer.err, part)


# ---- real jobs ----

@test
def a_right_submission_passes():
	real()
	answer = check(file(RIGHT))
	equal(answer.code, 0)
	contains(answer.out, "Passed. Every case was right.\n")
	contains(answer.out, "  #  Case     Result\n  1  seed: 1  passed\n  2  seed: 2  passed\n")
	contains(answer.out, "  Engine     custom")
	contains(answer.out, "  Device     CPU, ")


STEPS = [{"event": "progress", "text": text} for text in ("compile", "test 0/2", "test 0/2", "test 1/2")] + [VERDICT]


@test
def a_pipe_gets_a_line_for_each_step():
	equal(check(file(RIGHT), program=StandIn(*STEPS)).err.splitlines(),
		["looking for what the task needs", "starting podium-run", "compile", "test 0/2", "test 1/2"])
	equal(check(file(RIGHT), "--json", program=StandIn(*STEPS)).err, "")


@test
def a_terminal_gets_one_line_that_is_rewritten_and_goes():
	code, shown = terminal(file(RIGHT), program=StandIn(*STEPS))
	equal(code, 0)
	contains(shown, "\x1b[Kcompile\r\x1b[Ktest 0/2\r\x1b[Ktest 1/2\r\x1b[K\x1b[1;32mPassed.\x1b[0m Every case was right.\r\n")
	progress, result = shown.split("\x1b[1;32m")
	lacks(progress, "\n")
	lacks(result.replace("\x1b[0m", "", 1), "\x1b")


@test
def a_real_job_tells_how_far_it_is():
	real()
	contains(check(file(RIGHT)).err, "compile\ntest 0/2\n")


@test
def a_line_that_is_rewritten_never_wraps():
	program = StandIn({"event": "progress", "text": "ä" * 300}, VERDICT)
	_, shown = terminal(file(RIGHT), program=program)
	equal(max(len(line) for line in shown.split("Passed")[0].split("\x1b[K")), 79 + len("\r"))


@test
def no_color_and_dumb_terminals_get_none():
	program = StandIn(VERDICT)
	_, shown = terminal(file(RIGHT), program=program, NO_COLOR="1")
	contains(shown, "\x1b[KPassed. Every")
	lacks(shown, "\x1b[1")
	_, shown = terminal(file(RIGHT), program=StandIn(VERDICT), NO_COLOR="")
	contains(shown, "\x1b[1;32mPassed.")
	_, shown = terminal(file(RIGHT), program=StandIn(VERDICT), TERM="dumb")
	contains(shown, "starting podium-run\r\nPassed. Every")
	lacks(shown, "\x1b")


@test
def a_wrong_answer_shows_the_first_failing_case():
	real()
	answer = check(file("def custom_kernel(data):\n    return 7 if data == 2 else data\n"), "--mode", "benchmark")
	equal(answer.code, 10)
	contains(answer.out, "Wrong answer. The output differs from the reference; look at the first failing case below.\n"
		"Test 2 of 2 failed (seed: 2): expected 2, got 7.\n\nFirst failing case, test 2: seed: 2\n  expected 2, got 7\n")
	contains(answer.out, "  2  seed: 2  wrong answer\n")


@test
def a_file_that_does_not_compile_shows_the_compilers_output():
	real()
	answer = check(file("def custom_kernel(data)\n    return data\n"))
	equal(answer.code, 11)
	contains(answer.out, "Compile error. The file could not be compiled or imported")
	contains(answer.out, "\nStandard error of compile:\n  | submission.py, line 1: error: expected ':'\n")


@test
def an_exception_shows_the_end_of_the_error_output():
	real()
	answer = check(file("def custom_kernel(data):\n    raise ValueError('not today')\n"))
	equal(answer.code, 12)
	contains(answer.out, "ValueError: not today")
	contains(answer.out, "\nStandard error of test:\n")
	contains(answer.out, "  |     raise ValueError('not today')\n")


@test
def the_limit_of_the_task_holds_here_too():
	real()
	answer = check(file(SLOW), folder=task("short", TASK + "test_timeout: 1\n"))
	equal(answer.code, 13)
	contains(answer.out, "The limit of 1 s was reached")
	contains(answer.out, "\nStandard output of test:\n  | began\n")


@test
def a_ranked_run_has_a_seed_of_its_own_and_says_so():
	real()
	answer = check(file(RIGHT), "--mode", "ranked")
	equal(answer.code, 0)
	contains(answer.out, "Score: 2.000 ± 0.005 ms\n")
	contains(answer.out, "  #  Shape                Time      Best     Worst  Runs\n"
		"  1  seed: 3  2.000 ± 0.005 ms  2.000 ms  2.000 ms     3\n")
	seed = re.search(r"The seeds differ from the server's, whose are secret; --seed (\d+) repeats this run\.\n", answer.out)[1]
	again = check(file(RIGHT), "--mode", "ranked", "--seed", seed, "--json")
	equal(again.json["secret_seed"], int(seed))
	others = {check(file(RIGHT), "--mode", "ranked", "--json", program=StandIn(VERDICT)).json["secret_seed"] for _ in range(3)}
	equal(len(others), 3)


@test
def the_result_is_there_as_json():
	real()
	answer = check(file("print('hello')\n" + RIGHT), "--json", "--mode", "benchmark")
	result = answer.json
	equal(answer.code, 0)
	equal([result[key] for key in ("task", "file", "mode", "verdict", "engine", "exit_code")],
		[str(task()), "mine.py", "benchmark", "passed", "custom", 0])
	equal(result["device"]["model"], "CPU")
	equal([(stage["stage"], stage["verdict"], stage["exit_code"]) for stage in result["stages"]],
		[("compile", "passed", 0), ("test", "passed", 0), ("benchmark", "passed", 0)])
	contains(result["stages"][1]["stdout"], "hello\n")
	equal([case["spec"] for case in result["stages"][1]["cases"]], ["seed: 1", "seed: 2"])
	equal(result["stages"][2]["cases"][0], {"index": 0, "spec": "seed: 3", "verdict": "passed", "message": "", "runs": 3,
		"mean_ns": 2000000.0, "std_ns": 10.0, "err_ns": 5000.0, "best_ns": 1999990.0, "worst_ns": 2000010.0})
	lacks(json.dumps(result), '"job"')


@test
def a_zip_will_do_as_well():
	real()
	subprocess.run([sys.executable, "-m", "zipfile", "-c", scratch / "small.zip", *task().iterdir()], check=True)
	equal(check(file(RIGHT), folder=scratch / "small.zip").code, 0)


# ---- being stopped ----

def stopped_by(number):
	"""Runs an endless job, sends the signal once it runs, and returns how it ended and what it had started."""
	process = subprocess.Popen(arguments(file(SLOW)), env=environment({}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
		stderr=subprocess.PIPE, text=True, start_new_session=True)
	lines = []
	while not lines or "test 0/2" not in lines[-1]:
		lines.append(process.stderr.readline())
		equal(lines[-1] == "", False)
	below = descendants(process.pid)
	process.send_signal(number)
	out, err = process.communicate(timeout=HANG_S)
	return process.returncode, out, err, below


def all_are_gone(pids):
	end = time.monotonic() + HANG_S
	while not all(is_gone(pid) for pid in pids):
		if time.monotonic() > end:
			raise AssertionError(f"still there: {[pid for pid in pids if not is_gone(pid)]}")
		time.sleep(0.02)


@test
def a_signal_ends_the_job_and_leaves_nothing_behind():
	real()
	for number, name in ((signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "Terminated"), (signal.SIGHUP, "Hangup")):
		code, out, err, below = stopped_by(number)
		equal((code, out), (128 + number, ""))
		contains(err, f"podium: Stopped by {name}; nothing of the job is left running.\n")
		assert len(below) >= 2, below
		all_are_gone(below)


@test
def a_killed_podium_takes_its_job_along():
	real()
	code, _, _, below = stopped_by(signal.SIGKILL)
	equal(code, -signal.SIGKILL)
	all_are_gone(below)


@test
def a_second_signal_ends_what_does_not_listen():
	program = StandIn({"event": "progress", "text": "deaf"}, "!signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)")
	process = subprocess.Popen(arguments(file(RIGHT)), env=environment(program.environment), stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
	while "deaf" not in process.stderr.readline():
		pass
	below = descendants(process.pid)
	process.send_signal(signal.SIGINT)
	while "cancelling" not in process.stderr.readline():
		pass
	process.send_signal(signal.SIGINT)
	process.communicate(timeout=HANG_S)
	equal(process.returncode, 130)
	all_are_gone(below)


@test
def ctrl_c_is_told_to_podium_run_with_the_jobs_number():
	program = StandIn({"event": "progress", "text": "running"},
		"!(folder / 'cancel').write_text(sys.stdin.readline()); print(json.dumps({'event': 'verdict', 'job': 1, 'verdict': 'cancelled', "
		"'reason': ''}), flush=True)")
	process = subprocess.Popen(arguments(file(RIGHT)), env=environment(program.environment), stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
	while "running" not in process.stderr.readline():
		pass
	process.send_signal(signal.SIGINT)
	process.communicate(timeout=HANG_S)
	equal(process.returncode, 130)
	equal(json.loads((program.folder / "cancel").read_text()), {"cancel": 1})


# ---- wrong usage ----

@test
def wrong_usage_is_said_in_a_sentence():
	right, folder = str(file(RIGHT)), str(task())
	for words, part in (
			([], "Name the file to check"),
			([right], "Name the task's folder or zip with --task."),
			([right, "--task"], "--task wants a value"),
			([right, "--task", folder, "--fast"], "There is no option --fast"),
			([right, right, "--task", folder], "One file is checked at a time"),
			([right, "--task", folder, "--mode", "profile"], 'There is no mode "profile" here; choose test, benchmark or ranked.'),
			([right, "--task", folder, "--engine", "magic"], 'There is no engine "magic" here; choose isolated or custom.'),
			([right, "--task", folder, "--seed", "5"], "--seed belongs to --mode ranked"),
			([right, "--task", folder, "--mode", "ranked", "--seed", "-1"], "The seed must be a whole number"),
			([str(scratch / "none.py"), "--task", folder], f"Cannot open {scratch}/none.py: No such file or directory."),
			([folder, "--task", folder], f"{folder} is not a file."),
			([right, "--task", str(scratch / "none")], f"Cannot open {scratch}/none: No such file or directory."),
			([right, "--task", right], "is not a zip")):
		says(podium("check", *words), 2, "podium: ", part)
	says(podium(), 2, "Usage: podium COMMAND")
	says(podium("chek"), 2, 'There is no command "chek"')


@test
def what_the_server_would_not_take_is_refused_in_its_words():
	for name, text, part in (
			("mine.cu", RIGHT, '"mine.cu" is the wrong type of file: the task is in Python, so the name must end with .py.'),
			("empty.py", " \n", "The file is empty."),
			("latin.py", b"x = '\xe9'\n", "The file is not UTF-8 text: line 1 has a byte that is none (0xe9)"),
			("nul.py", b"x = 1\n\0\n", "The file has a NUL byte in line 2; remove it."),
			("large.py", "#" * 1000001, "The file has 1000001 bytes; at most 1 MB (1000000 bytes) is taken."),
			("header.py", "#!POPCORN leaderbord x\n" + RIGHT, "leaderbord")):
		says(check(file(text, name)), 2, f"podium: {scratch}/{name}: ", part)


@test
def every_fault_of_a_task_is_listed():
	folder = scratch / "faulty"
	folder.mkdir()
	says(check(file(RIGHT), folder=folder), 2, f'The folder "{folder}" holds no files.')
	(folder / "notes.txt").write_text("x")
	says(check(file(RIGHT), folder=folder), 2, f"{folder} is no task that could be run:\n  task.yml: there is none")
	(folder / "task.yml").write_text("lang: rust\ntests: 5\nbogus: 1\n")
	answer = check(file(RIGHT), folder=folder)
	says(answer, 2, "is no task that could be run:\n")
	listed = subprocess.run([PODIUM.parent / "podium-admin", "task", "check", folder], capture_output=True, text=True).stdout
	equal([line.strip() for line in answer.err.splitlines()[1:]], [line.strip() for line in listed.splitlines()[1:]])
	assert len(answer.err.splitlines()) > 3, answer.err


@test
def help_and_version_are_there():
	for words in (("--help",), ("check", "--help"), ("--version",)):
		answer = podium(*words)
		equal((answer.code, answer.err), (0, ""))
		contains(answer.out, "podium")
	contains(podium("check", "--help").out, "--engine ENGINE")


# ---- what this machine lacks ----

@test
def what_is_missing_here_is_named():
	cu = ROOT / "tasks" / "vectoradd_cu"
	kernel = cu / "samples" / "right.cu"
	nowhere = str(scratch / "nowhere")
	for answer, part in (
			(check(file(RIGHT), PODIUM_WORKER_RUNNER=nowhere), f"There is no podium-run at {nowhere} (the setting worker_runner)"),
			(check(file(RIGHT), PODIUM_PYTHON=nowhere), f"{nowhere} is no Python that can import torch"),
			(check(file(RIGHT), "--python", "/bin/false"), "/bin/false is no Python that can import torch"),
			(check(file(RIGHT), "--gpu", "GPU-1", **driver()), "This machine has no device GPU-1; it has GPU-00000000 (NVIDIA H200), GPU-00000001"),
			(check(kernel, "--gpu", "cpu", folder=cu), "The task is in CUDA C++, which needs an NVIDIA GPU; name one with --gpu"),
			(check(kernel, folder=cu, **driver(), PODIUM_NVCC=nowhere), f"The task is in CUDA C++, and there is no nvcc at {nowhere}."),
			(check(file(RIGHT), PODIUM_DEVICE_LOCKS=nowhere, program=StandIn(VERDICT)), "Cannot open the device's lock file"),
			(check(file(RIGHT), PODIUM_BOGUS="x", PODIUM_CONFIG=nowhere), nowhere)):
		says(answer, 3, "podium: ", part)


@test
def a_machine_without_torch_is_told_how_to_get_it():
	program = StandIn(VERDICT)
	script = program.folder / "podium-run"
	script.write_text(script.read_text().replace(f'print("{PYTHON}")', "sys.exit(1)"))
	says(check(file(RIGHT), program=program), 3, "no python3 on the PATH or in /usr/bin can import torch. Install it (Debian: python3-torch)")


# ---- what podium-run gets ----

@test
def the_first_gpu_is_taken_or_the_one_that_is_named():
	for options, device in (
			((), {"model": "H200", "uuid": "GPU-00000000", "compute_capability": "9.0"}),
			(("--gpu", "gpu-00000001"), {"model": "H200", "uuid": "GPU-00000001", "compute_capability": "9.0"}),
			(("--gpu", "cpu"), {"model": "CPU"})):
		program = StandIn(VERDICT)
		equal(check(file(RIGHT), *options, program=program, **driver()).code, 0)
		equal(program.job["device"], device)
	program = StandIn(VERDICT)
	check(file(RIGHT), program=program)
	if not os.path.exists("/dev/nvidiactl"):
		equal(program.job["device"], {"model": "CPU"})


@test
def a_task_for_several_gpus_gets_them():
	several = task("several", TASK.replace("seed: ", "world_size: 2, seed: ") + "multi_gpu: true\n")
	program = StandIn(VERDICT)
	answer = check(file(RIGHT), "--json", folder=several, program=program, **driver())
	equal(answer.code, 0)
	equal(program.job["device"]["uuid"], "GPU-00000000,GPU-00000001")
	equal(answer.json["device"]["uuid"], "GPU-00000000,GPU-00000001")
	says(check(file(RIGHT), folder=several, program=StandIn(VERDICT), **driver(1)), 3,
		"The task wants 2 GPUs of one model, and this machine has 1 of the model H200.")


@test
def the_job_is_what_a_worker_would_send():
	program = StandIn(VERDICT)
	check(file(RIGHT, "kernel.py"), "--mode", "ranked", "--engine", "isolated", "--seed", "7", program=program)
	job = program.job
	equal(sorted(job), ["device", "files", "id", "mode", "nvcc", "python", "secret_seed", "submission", "task"])
	equal((job["mode"], job["secret_seed"], job["submission"], job["python"]), ("ranked", 7, {"name": "kernel.py", "text": RIGHT}, PYTHON))
	equal(sorted(one["path"] for one in job["files"]), ["eval.py", "reference.py"])
	equal(job["task"]["engine"], "isolated")
	program = StandIn(VERDICT)
	check(file(RIGHT), program=program)
	lacks(program.job, "secret_seed")
	equal(program.job["task"]["engine"], "custom")


@test
def a_device_on_which_somebody_measures_is_waited_for():
	lock = open(LOCKS / "podium-CPU.lock", "w")
	fcntl.flock(lock, fcntl.LOCK_EX)
	process = subprocess.Popen(arguments(file(RIGHT)), env=environment(StandIn(VERDICT).environment), stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	lines = [process.stderr.readline(), process.stderr.readline()]
	contains(lines[1], "waiting until a worker has done with ")
	fcntl.flock(lock, fcntl.LOCK_UN)
	out, err = process.communicate(timeout=HANG_S)
	equal((process.returncode, err), (0, "starting podium-run\n"))


# ---- what podium-run says ----

STAGE = {"event": "stage", "position": 0, "stage": "ranked", "command": "python3 judge.py"}
CASE = {"event": "case", "position": 0, "index": 0, "spec": "size: 8", "verdict": "passed", "message": "", "runs": 200, "mean_ns": 31900.0,
	"std_ns": 90.0, "err_ns": 30.0, "best_ns": 31500.0, "worst_ns": 33000.0}


@test
def what_the_isolated_engine_found_out_is_shown():
	program = StandIn(STAGE, {**CASE, "median_ns": 31850.0, "low_ns": 31800.0, "high_ns": 32000.0, "constant_ns": 6200.0, "own_ns": 38000.0,
		"gap_ns": 500.0, "blocks": 8, "repeated": 2,
		"device": {"sm_clock_mhz": [1755, 1980], "slowed_by": ["power cap"]}}, {"event": "stage_end", "position": 0, "verdict": "passed", "message": "", "exit_code": 0,
		"duration_ms": 1500}, {**VERDICT, "engine": "custom", "engine_reason": "The data hold a function.", "score_ns": 31900.0,
		"score_err_ns": 30.0})
	answer = check(file(RIGHT), "--mode", "ranked", program=program)
	equal(answer.code, 0)
	contains(answer.out, "\nranked: passed, 1.50 s\n"
		"  #  Shape               Time      95 % interval      Best     Worst  Runs\n"
		"  1  size: 8  31.90 ± 0.03 µs  31.80 to 32.00 µs  31.50 µs  33.00 µs   200\n"
		"  How it was measured:\n"
		"  #  Constant, subtracted  Overrun, added  Blocks  Repeated  Own clock, never ranked          SM clock  Slowed down by\n"
		"  1              6.200 µs        500.0 ns       8         2                 38.00 µs  1755 to 1980 MHz  power cap\n"
		"  The constant is what the same call took with an empty kernel, ")
	contains(answer.out, "Score: 31.90 ± 0.03 µs\n")
	contains(answer.out, "  Engine     custom. The task's own harness took the times. The data hold a function.\n")


@test
def a_time_that_the_gpu_cannot_reach_is_told_to_be_held():
	program = StandIn(STAGE, {**CASE, "mean_ns": 90.0, "err_ns": 1.0}, {**VERDICT, "score_ns": 90.0})
	contains(check(file(RIGHT), "--mode", "ranked", program=program, **driver()).out,
		"The server would hold this for review. Benchmark 1: ")
	program = StandIn(STAGE, CASE, {**VERDICT, "score_ns": 31900.0})
	lacks(check(file(RIGHT), "--mode", "ranked", program=program, **driver()).out, "hold this")


@test
def each_verdict_has_its_exit_code_and_its_advice():
	for verdict, code in {**CODES, "something new": 1}.items():
		answer = check(file(RIGHT), program=StandIn({**VERDICT, "verdict": verdict, "reason": f"Because of {verdict}."}))
		equal((verdict, answer.code), (verdict, code))
		contains(answer.out, f"{verdict.capitalize()}. ")
		contains(answer.out, f"\nBecause of {verdict}.\n")
	manual, usage = (ROOT / "docs" / "podium.md").read_text(), podium("check", "--help").out
	for verdict, code in CODES.items():
		if verdict not in ("internal error", "cancelled"):
			contains(manual, f"| {code} | {verdict} |")
			assert re.search(rf"\b{code} +{verdict}\b", usage), usage


@test
def nothing_that_is_printed_steers_the_terminal():
	evil = "a\x1b[2Jb\x9bc\u202ed\u2066e\x07f\x7fg\x08h\ri"
	places = {"message": evil, "spec": f"seed: {evil}", "verdict": f"new {evil}"}
	program = StandIn({"event": "environment", "environment": {"python": evil, "torch": evil}},
		{**STAGE, "stage": f"ranked {evil}", "command": evil}, {**CASE, **places, "blocks": 3, "device": {"slowed_by": [evil]}},
		{"event": "kernels", "position": 0, "kernels": [{"name": evil, "registers": 3}]},
		{"event": "conditions", "position": 0, "conditions": {"busy": {"slowed_by": [evil]}}},
		{"event": "log", "position": 0, "stream": "stdout", "text": f"{evil}\n\tafter a tab\r\n"},
		{"event": "log", "position": 0, "stream": "stderr", "text": evil * 30}, {"event": "progress", "text": evil},
		{"event": "stage_end", "position": 0, "message": evil, "exit_code": 1, "duration_ms": 5, "verdict": evil},
		{"event": "verdict", "verdict": evil, "reason": f"{evil}\n{evil}", "engine": evil, "engine_reason": evil})
	answer = check(file(RIGHT), program=program)
	equal(answer.code, 1)
	for text in (answer.out, answer.err):
		bad = [hex(ord(c)) for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066")]
		equal(bad, [])
	contains(answer.out, r"a\x1b[2Jb\xc2\x9bc\xe2\x80\xaed\xe2\x81\xa6e\x07f\x7fg\x08h\x0di")
	contains(answer.out, "  |     after a tab\n")


@test
def only_the_last_lines_of_an_output_are_shown():
	text = "".join(f"line {i}\n" for i in range(1, 51))
	program = StandIn(STAGE, *({"event": "log", "position": 0, "stream": "stdout", "text": text[i:i + 100]} for i in range(0, len(text), 100)),
		VERDICT)
	answer = check(file(RIGHT), program=program)
	contains(answer.out, "\nStandard output of ranked:\n  | (30 lines before these are left out; --json has them)\n  | line 31\n  | line 32\n")
	contains(answer.out, "  | line 50\n")
	again = check(file(RIGHT), "--json", program=StandIn(*[STAGE, {"event": "log", "position": 0, "stream": "stdout", "text": text}, VERDICT]))
	equal(again.json["stages"][0]["stdout"], text)


@test
def a_first_mismatch_is_taken_apart():
	message = "5 of 1024 elements are wrong, the first at [3, 0]: expected 1, got 2 (off by 1, tolerance 0.001)\nand more"
	program = StandIn({**STAGE, "stage": "test"}, {**CASE, "verdict": "wrong answer", "message": message}, {**VERDICT, "verdict": "wrong answer"})
	contains(check(file(RIGHT), program=program).out, "\nFirst failing case, test 1: size: 8\n  5 of 1024 elements are wrong\n"
		"  first at   [3, 0]\n  expected   1\n  got        2\n  off by     1\n  tolerance  0.001\n")


@test
def another_device_than_the_tasks_is_mentioned():
	folder = task("for-gpus", TASK + "gpus: [A100, H200]\n")
	contains(check(file(RIGHT), "--gpu", "cpu", folder=folder, program=StandIn(VERDICT)).out,
		"The task is for A100 and H200, so times will be others there than on CPU.\n")
	lacks(check(file(RIGHT), folder=folder, program=StandIn(VERDICT), **driver()).out, "The task is for")


@test
def odd_events_do_no_harm():
	program = StandIn(
		'{"event": "news", "job": 1}', '{"event": "case", "job": 1, "position": 7}', '{"event": "case", "job": 1, "position": -1}',
		'{"event": "case", "job": 1}', '{"event": "log", "job": 1, "position": "0", "text": 5}', '{"event": 5, "job": 1}', "[]",
		'{"event": "stage", "job": 1}', '{"event": "case", "job": 1, "position": 0, "index": "x", "mean_ns": "long"}',
		'{"event": "stage_end", "job": 1, "position": 0, "duration_ms": "long"}', '{"event": "environment", "job": 1, "environment": []}',
		'{"event": "verdict", "job": 2, "verdict": "passed"}', '{"event": "verdict", "job": 1, "verdict": ["passed"]}')
	answer = check(file(RIGHT), program=program)
	equal(answer.code, 1)
	contains(answer.out, "podium-run says no verdict that this program knows.")


@test
def a_podium_run_that_fails_is_named():
	says(check(file(RIGHT), program=StandIn("!sys.exit(9)")), 3, "podium: podium-run has ended with exit code 9")
	says(check(file(RIGHT), program=StandIn("!import os; os.kill(os.getpid(), 9)")), 3, "podium-run was ended by signal 9 (Killed).")
	says(check(file(RIGHT), program=StandIn("this is not JSON")), 3, "podium-run sent a line that is not JSON.")


@test
def a_closed_output_is_an_error():
	process = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *arguments(file(RIGHT))], env=environment(StandIn(VERDICT).environment),
		capture_output=True, text=True, stdin=subprocess.DEVNULL)
	equal(process.returncode, 3)
	contains(process.stderr, "podium: standard output: ")


if __name__ == "__main__":
	try:
		code = run()
	finally:
		close()
	sys.exit(code)
