#!/usr/bin/env python3
"""podium check's options, what it needs, what it sends and what it prints. A stand-in for
podium-run reports what a test wants."""

import fcntl
import os
import re
import subprocess
import sys

from home import (
	HANG_S,
	LOCKS,
	PODIUM,
	PYTHON,
	RIGHT,
	ROOT,
	TASK,
	VERDICT,
	StandIn,
	arguments,
	check,
	close,
	driver,
	environment,
	file,
	podium,
	scratch,
	task,
	terminal,
)
from plans import COPY, MEMSET, figure, kernel, plan_events, plan_text
from tap import contains, equal, lacks, run, test

CODES = {
	"passed": 0,
	"wrong answer": 10,
	"compile error": 11,
	"runtime error": 12,
	"time limit": 13,
	"memory limit": 14,
	"output limit": 15,
	"protocol violation": 16,
	"internal error": 3,
	"cancelled": 3,
}


def says(answer, code, *parts):
	equal((answer.code, answer.out), (code, ""))
	for part in parts:
		contains(answer.err, part)


# ---- progress ----

STEPS = [
	{"event": "progress", "text": text} for text in ("compile", "test 0/2", "test 0/2", "test 1/2")
] + [VERDICT]


@test
def a_pipe_gets_a_line_for_each_step():
	equal(
		check(file(RIGHT), program=StandIn(*STEPS)).err.splitlines(),
		[
			"looking for the device and programs that the task needs",
			"starting podium-run",
			"compile",
			"test 0/2",
			"test 1/2",
		],
	)
	equal(check(file(RIGHT), "--json", program=StandIn(*STEPS)).err, "")


@test
def a_terminal_gets_one_line_that_is_rewritten_and_removed_at_the_end():
	code, shown = terminal(file(RIGHT), program=StandIn(*STEPS))
	equal(code, 0)
	contains(
		shown,
		"\x1b[Kcompile\r\x1b[Ktest 0/2\r\x1b[Ktest 1/2\r\x1b[K\x1b[1;32mPassed.\x1b[0m Every case "
		"was right.\r\n",
	)
	progress, result = shown.split("\x1b[1;32m")
	lacks(progress, "\n")
	lacks(result.replace("\x1b[0m", "", 1), "\x1b")


@test
def a_rewritten_line_never_wraps():
	program = StandIn({"event": "progress", "text": "ä" * 300}, VERDICT)
	_, shown = terminal(file(RIGHT), program=program)
	equal(max(len(line) for line in shown.split("Passed")[0].split("\x1b[K")), 79 + len("\r"))


@test
def NO_COLOR_and_dumb_terminals_get_no_colour():
	program = StandIn(VERDICT)
	_, shown = terminal(file(RIGHT), program=program, NO_COLOR="1")
	contains(shown, "\x1b[KPassed. Every")
	lacks(shown, "\x1b[1")
	_, shown = terminal(file(RIGHT), program=StandIn(VERDICT), NO_COLOR="")
	contains(shown, "\x1b[1;32mPassed.")
	_, shown = terminal(file(RIGHT), program=StandIn(VERDICT), TERM="dumb")
	contains(shown, "starting podium-run\r\nPassed. Every")
	lacks(shown, "\x1b")


# ---- wrong usage ----


@test
def wrong_usage_gets_a_sentence():
	right, folder = str(file(RIGHT)), str(task())
	for words, part in (
		([], "Name the file to check"),
		([right], "Name the task's folder or zip with --task."),
		([right, "--task"], "--task needs a value"),
		([right, "--task", folder, "--fast"], "There is no option --fast"),
		([right, right, "--task", folder], "podium check takes one file"),
		(
			[right, "--task", folder, "--mode", "profile"],
			'There is no mode "profile". Choose test, benchmark or ranked.',
		),
		(
			[right, "--task", folder, "--engine", "magic"],
			'There is no engine "magic". Choose sealed, isolated or custom.',
		),
		([right, "--task", folder, "--seed", "5"], "--seed needs --mode ranked"),
		(
			[right, "--task", folder, "--mode", "ranked", "--seed", "-1"],
			"The seed must be a whole number",
		),
		(
			[str(scratch / "none.py"), "--task", folder],
			f"Cannot open {scratch}/none.py: No such file or directory.",
		),
		([folder, "--task", folder], f"{folder} is not a file."),
		(
			[right, "--task", str(scratch / "none")],
			f"Cannot open {scratch}/none: No such file or directory.",
		),
		([right, "--task", right], "reference.py: it has no generate_input; the single-file form"),
		([right, "--task", str(file("x", "task.zip"))], "task.zip: The file is not a zip"),
	):
		says(podium("check", *words), 2, "podium: ", part)
	says(podium(), 2, "Usage: podium COMMAND")
	says(podium("chek"), 2, 'There is no command "chek"')


@test
def a_file_that_the_server_would_refuse_gets_the_servers_words():
	for name, text, part in (
		(
			"mine.cu",
			RIGHT,
			'"mine.cu" is the wrong type of file: the task is in Python, so the name must '
			"end with .py.",
		),
		("empty.py", " \n", "The file is empty."),
		(
			"latin.py",
			b"x = '\xe9'\n",
			"The file is not UTF-8 text: line 1 has the invalid byte 0xe9",
		),
		("nul.py", b"x = 1\n\0\n", "The file has a NUL byte in line 2; remove it."),
		(
			"large.py",
			"#" * 1000001,
			"The file has 1000001 bytes; at most 1 MB (1000000 bytes) is allowed.",
		),
		("header.py", "#!POPCORN leaderbord x\n" + RIGHT, "leaderbord"),
	):
		says(check(file(text, name)), 2, f"podium: {scratch}/{name}: ", part)


@test
def every_fault_of_a_task_is_listed():
	folder = scratch / "faulty"
	folder.mkdir()
	says(check(file(RIGHT), folder=folder), 2, f'The folder "{folder}" contains no files.')
	(folder / "notes.txt").write_text("x")
	says(
		check(file(RIGHT), folder=folder),
		2,
		f"{folder} is not a valid task:\n  task.yml: there is none",
	)
	(folder / "task.yml").write_text("lang: rust\ntests: 5\nbogus: 1\n")
	answer = check(file(RIGHT), folder=folder)
	says(answer, 2, "is not a valid task:\n")
	listed = subprocess.run(
		[PODIUM.parent / "podium-admin", "task", "check", folder], capture_output=True, text=True
	).stdout
	equal(
		[line.strip() for line in answer.err.splitlines()[1:]],
		[line.strip() for line in listed.splitlines()[1:]],
	)
	assert len(answer.err.splitlines()) > 3, answer.err


@test
def help_and_version_are_there():
	for words in (("--help",), ("check", "--help"), ("--version",)):
		answer = podium(*words)
		equal((answer.code, answer.err), (0, ""))
		contains(answer.out, "podium")
	contains(podium("check", "--help").out, "--engine ENGINE")


# ---- what this machine does not have ----


@test
def a_missing_program_is_named():
	cu = ROOT / "tasks" / "vectoradd_cu"
	kernel = cu / "samples" / "right.cu"
	nowhere = str(scratch / "nowhere")
	for answer, part in (
		(
			check(file(RIGHT), PODIUM_WORKER_RUNNER=nowhere),
			f"There is no podium-run at {nowhere} (the setting worker_runner)",
		),
		(
			check(file(RIGHT), PODIUM_PYTHON=nowhere),
			f"{nowhere} is not a Python that can import torch",
		),
		(
			check(file(RIGHT), "--python", "/bin/false"),
			"/bin/false is not a Python that can import torch",
		),
		(
			check(file(RIGHT), "--gpu", "GPU-1", **driver()),
			"This machine has no device GPU-1. It has GPU-00000000 (NVIDIA H200), GPU-00000001",
		),
		(
			check(kernel, "--gpu", "cpu", folder=cu),
			"The task is in CUDA C++, which needs an NVIDIA GPU. Name one with --gpu",
		),
		(
			check(kernel, folder=cu, **driver(), PODIUM_NVCC=nowhere),
			f"The task is in CUDA C++, and there is no nvcc at {nowhere}.",
		),
		(
			check(file(RIGHT), PODIUM_DEVICE_LOCKS=nowhere, program=StandIn(VERDICT)),
			"Cannot open the device's lock file",
		),
		(check(file(RIGHT), PODIUM_BOGUS="x", PODIUM_CONFIG=nowhere), nowhere),
	):
		says(answer, 3, "podium: ", part)


@test
def a_machine_without_torch_is_told_how_to_get_it():
	program = StandIn(VERDICT)
	script = program.folder / "podium-run"
	script.write_text(
		script.read_text().replace("    print((sys.argv", "    sys.exit(1); print((sys.argv")
	)
	says(
		check(file(RIGHT), program=program),
		3,
		"no python3 on the PATH or in /usr/bin can import torch. Install it (Debian: "
		"python3-torch)",
	)


# ---- what podium-run gets ----


@test
def the_first_gpu_is_used_unless_one_is_named():
	for options, device in (
		((), {"model": "H200", "uuid": "GPU-00000000", "compute_capability": "9.0"}),
		(
			("--gpu", "gpu-00000001"),
			{"model": "H200", "uuid": "GPU-00000001", "compute_capability": "9.0"},
		),
		(("--gpu", "cpu"), {"model": "CPU"}),
	):
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
	says(
		check(file(RIGHT), folder=several, program=StandIn(VERDICT), **driver(1)),
		3,
		"The task needs 2 GPUs of one model, but this machine has 1 of the model H200.",
	)


@test
def the_job_is_what_a_worker_would_send():
	program = StandIn(VERDICT)
	check(
		file(RIGHT, "kernel.py"),
		"--mode",
		"ranked",
		"--engine",
		"isolated",
		"--seed",
		"7",
		program=program,
	)
	job = program.job
	equal(
		sorted(job),
		[
			"device",
			"engine",
			"files",
			"id",
			"mode",
			"nvcc",
			"python",
			"secret_seed",
			"submission",
			"task",
		],
	)
	equal(
		(job["mode"], job["secret_seed"], job["submission"], job["python"]),
		("ranked", 7, {"name": "kernel.py", "text": RIGHT}, PYTHON),
	)
	equal(sorted(one["path"] for one in job["files"]), ["eval.py", "reference.py"])
	equal((job["engine"], job["task"]["engine"]), ("isolated", "custom"))
	program = StandIn(VERDICT)
	check(file(RIGHT), program=program)
	lacks(program.job, "secret_seed")
	equal(
		(program.job["engine"], program.job["engine_reason"]),
		("custom", "task.yml chooses the custom engine, so eval.py runs as written."),
	)


@test
def an_interpreter_is_found_as_a_shell_finds_it():
	link = scratch / "its-python"
	link.symlink_to(PYTHON)
	for name, path in (
		("./its-python", link),
		("../" + scratch.name + "/its-python", scratch / ".." / scratch.name / "its-python"),
		("its-python", link),
		(str(link), link),
	):
		program = StandIn(VERDICT)
		subprocess.run(
			arguments(file(RIGHT), "--python", name),
			cwd=scratch,
			capture_output=True,
			check=True,
			stdin=subprocess.DEVNULL,
			env=environment({**program.environment, "PATH": f"{scratch}:{os.environ['PATH']}"}),
		)
		equal(os.path.normpath(program.job["python"]), os.path.normpath(path))


@test
def a_busy_device_is_waited_for():
	lock = open(LOCKS / "podium-CPU.lock", "w")
	fcntl.flock(lock, fcntl.LOCK_EX)
	process = subprocess.Popen(
		arguments(file(RIGHT)),
		env=environment(StandIn(VERDICT).environment),
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
	)
	lines = [process.stderr.readline(), process.stderr.readline()]
	contains(lines[1], "waiting until a worker has finished with ")
	fcntl.flock(lock, fcntl.LOCK_UN)
	out, err = process.communicate(timeout=HANG_S)
	equal((process.returncode, err), (0, "starting podium-run\n"))


# ---- what podium-run says ----

STAGE = {"event": "stage", "position": 0, "stage": "ranked", "command": "python3 judge.py"}
CASE = {
	"event": "case",
	"position": 0,
	"index": 0,
	"spec": "size: 8",
	"verdict": "passed",
	"message": "",
	"runs": 200,
	"mean_ns": 31900.0,
	"std_ns": 90.0,
	"err_ns": 100 / 1.96,
	"best_ns": 31500.0,
	"worst_ns": 33000.0,
}


@test
def the_isolated_engines_findings_are_shown():
	program = StandIn(
		STAGE,
		{
			**CASE,
			"median_ns": 31850.0,
			"low_ns": 31800.0,
			"high_ns": 32000.0,
			"constant_ns": 6200.0,
			"own_ns": 38000.0,
			"gap_ns": 500.0,
			"blocks": 8,
			"repeated": 2,
			"message": "In 2 of 8 blocks the constant changed.",
			"device": {"sm_clock_mhz": [1755, 1980], "slowed_by": ["power cap"]},
		},
		{
			"event": "stage_end",
			"position": 0,
			"verdict": "passed",
			"message": "",
			"exit_code": 0,
			"duration_ms": 1500,
		},
		{
			**VERDICT,
			"engine": "custom",
			"engine_reason": "The data hold a function.",
			"score_ns": 31900.0,
			"score_err_ns": 30.0,
		},
	)
	answer = check(file(RIGHT), "--mode", "ranked", program=program)
	equal(answer.code, 0)
	contains(
		answer.out,
		"\nranked: passed, 1.50 s\n"
		"  #  Shape               Time      95 % interval  Best block  Worst block  Runs\n"
		"  1  size: 8  31.90 ± 0.10 µs  31.80 to 32.00 µs    31.50 µs     33.00 µs   200\n"
		"  How it was measured:\n"
		"  #  Constant, subtracted  Overrun, added  Blocks  Repeated  Own clock, never ranked     "
		"  SM clock  Slowed down by\n"
		"  1              6.200 µs        500.0 ns       8         2                 38.00 µs  "
		"1755–1980 MHz  power cap\n"
		"  Benchmark 1: In 2 of 8 blocks the constant changed.\n"
		"  The constant is the time of the same call with an empty kernel, ",
	)
	contains(answer.out, "Score: 31.900 ± 0.059 µs\n")
	contains(
		answer.out,
		"  Engine     custom. The task's own harness ran the submission. The data hold a "
		"function.\n",
	)


@test
def a_sealed_task_is_sealed_on_a_gpu_and_isolated_on_the_cpu():
	stock = '  - {name: utils.py, source: "@STOCK@"}\n  - {name: eval.py, source: "@STOCK@"}\n'
	definition = TASK.replace("  - {name: eval.py, source: eval.py}\n", stock)
	folder = task("stock", definition.replace("podium: {engine: custom}\n", ""))
	for options, engine in (
		((), "sealed"),
		(("--gpu", "cpu"), "isolated"),
		(("--engine", "isolated"), "isolated"),
		(("--engine", "custom"), "custom"),
	):
		program = StandIn({**VERDICT, "engine": engine})
		answer = check(file(RIGHT), *options, folder=folder, program=program, **driver())
		equal((options, answer.code, program.job["engine"]), (options, 0, engine))
		lacks(program.job, "may_fall_back")
		if engine != "custom" and "--engine" not in options:
			contains(
				" ".join(answer.out.split()),
				f"Engine {engine}. eval.py is Podium's stock harness, so the sealed engine "
				"measures on GPUs, and the isolated engine on the CPU.",
			)
	says(
		check(
			file(RIGHT),
			"--engine",
			"sealed",
			"--gpu",
			"cpu",
			folder=folder,
			program=StandIn(VERDICT),
		),
		3,
		"The sealed engine measures on a GPU, and this run has the CPU. Choose a GPU with --gpu, "
		"or --engine isolated.",
	)


@test
def a_seed_repeats_a_run_as_far_as_the_engine_allows():
	for engine, words in (
		("custom", "this run"),
		("isolated", "the tests of this run, but each timed call has a new input"),
		("sealed", "the tests of this run, but each timed call has a new input"),
	):
		answer = check(
			file(RIGHT),
			"--mode",
			"ranked",
			"--seed",
			"5",
			program=StandIn({**VERDICT, "engine": engine}),
		)
		contains(answer.out, f"The server uses other, secret seeds. --seed 5 repeats {words}.\n")


@test
def a_time_faster_than_the_gpu_allows_is_reported_as_held():
	program = StandIn(
		STAGE, {**CASE, "mean_ns": 90.0, "err_ns": 1.0}, {**VERDICT, "score_ns": 90.0}
	)
	contains(
		check(file(RIGHT), "--mode", "ranked", program=program, **driver()).out,
		"The server would hold this result for review. Shape (size: 8): 90.00 ns is less than ",
	)
	program = StandIn(STAGE, CASE, {**VERDICT, "score_ns": 31900.0})
	lacks(check(file(RIGHT), "--mode", "ranked", program=program, **driver()).out, "hold this")


@test
def each_verdict_has_its_exit_code_and_its_advice():
	for verdict, code in {**CODES, "something new": 1}.items():
		answer = check(
			file(RIGHT),
			program=StandIn({**VERDICT, "verdict": verdict, "reason": f"Because of {verdict}."}),
		)
		equal((verdict, answer.code), (verdict, code))
		contains(answer.out, f"{verdict.capitalize()}. ")
		contains(answer.out, f"\nBecause of {verdict}.\n")
	manual, usage = (ROOT / "docs" / "podium.md").read_text(), podium("check", "--help").out
	for verdict, code in CODES.items():
		if verdict not in ("internal error", "cancelled"):
			contains(manual, f"| {code} | {verdict} |")
			assert re.search(rf"\b{code} +{verdict}\b", usage), usage


def plan_of(nodes, figures=(), part_bytes=50):
	"""The events of the plan of the first case."""
	events = plan_events(plan_text(nodes), figures, part_bytes=part_bytes)
	return [{**event, "position": 0} for event in events]


@test
def a_plan_is_shown_and_the_engine_explained():
	nodes = [MEMSET, kernel("add", shared=4096, grid=(8, 2, 1)), COPY, kernel("scale")]
	figures = [{"node": 0, "begin_ns": 0, "end_ns": 800}, figure(1, 1000, 3000)]
	verdict = {**VERDICT, "engine": "sealed"}
	program = StandIn(STAGE, CASE, *plan_of(nodes, figures), verdict)
	out = check(file(RIGHT), program=program).out
	contains(out, "\nPlan of benchmark 1, 4 nodes:\n")
	lines = [line.split() for line in out.partition("4 nodes:\n")[2].splitlines()[1:5]]
	equal(lines[0], ["1", "memset", "800.0", "ns"])
	equal(lines[1], ["2", "add", "2.000", "µs", "32", "5.1", "kB", "8×2×1", "256×1×1"])
	equal(lines[2:], [["3", "copy"], ["4", "scale", "0", "bytes", "8×1×1", "256×1×1"]])
	contains(out, "The engine “sealed” counts the work of the device: ")
	answer = check(file(RIGHT), "--json", program=program).json["stages"][0]
	equal((answer["plans"][0]["index"], len(answer["plans"][0]["nodes"])), (0, 4))
	equal(answer["plans"][0]["nodes"][1]["registers"], 32)
	lacks(answer, "plan_parts")
	many = StandIn(STAGE, CASE, *plan_of([kernel(f"k{i}") for i in range(23)]), verdict)
	out = check(file(RIGHT), program=many).out
	contains(out, "Plan of benchmark 1, 23 nodes:")
	contains(out, "\nAnd 3 other nodes.\n")
	lacks(out, "k20")


@test
def printed_text_cannot_control_the_terminal():
	evil = "a\x1b[2Jb\x9bc\u202ed\u2066e\x07f\x7fg\x08h\ri"
	places = {"message": evil, "spec": f"seed: {evil}", "verdict": f"new {evil}"}
	program = StandIn(
		{"event": "environment", "environment": {"python": evil, "torch": evil}},
		{**STAGE, "stage": f"ranked {evil}", "command": evil},
		{**CASE, **places, "blocks": 3, "device": {"slowed_by": [evil]}},
		{"event": "kernels", "position": 0, "kernels": [{"name": evil, "registers": 3}]},
		*plan_of([kernel(evil), {"kind": evil, "grid": evil}]),
		{"event": "conditions", "position": 0, "conditions": {"busy": {"slowed_by": [evil]}}},
		{"event": "log", "position": 0, "stream": "stdout", "text": f"{evil}\n\tafter a tab\r\n"},
		{"event": "log", "position": 0, "stream": "stderr", "text": evil * 30},
		{"event": "progress", "text": evil},
		{
			"event": "stage_end",
			"position": 0,
			"message": evil,
			"exit_code": 1,
			"duration_ms": 5,
			"verdict": evil,
		},
		{
			"event": "verdict",
			"verdict": evil,
			"reason": f"{evil}\n{evil}",
			"engine": evil,
			"engine_reason": evil,
		},
	)
	answer = check(file(RIGHT), program=program)
	equal(answer.code, 1)
	for text in (answer.out, answer.err):
		bad = [
			hex(ord(c))
			for c in text
			if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066")
		]
		equal(bad, [])
	contains(answer.out, r"a\x1b[2Jb\xc2\x9bc\xe2\x80\xaed\xe2\x81\xa6e\x07f\x7fg\x08h\x0di")
	contains(answer.out, "  |     after a tab\n")


@test
def only_the_last_lines_of_an_output_are_shown():
	text = "".join(f"line {i}\n" for i in range(1, 51))
	program = StandIn(
		STAGE,
		*(
			{"event": "log", "position": 0, "stream": "stdout", "text": text[i : i + 100]}
			for i in range(0, len(text), 100)
		),
		VERDICT,
	)
	answer = check(file(RIGHT), program=program)
	contains(
		answer.out,
		"\nStandard output of ranked:\n  | (30 earlier lines left out; --json has them)"
		"\n  | line 31\n  | line 32\n",
	)
	contains(answer.out, "  | line 50\n")
	again = check(
		file(RIGHT),
		"--json",
		program=StandIn(
			*[STAGE, {"event": "log", "position": 0, "stream": "stdout", "text": text}, VERDICT]
		),
	)
	equal(again.json["stages"][0]["stdout"], text)


@test
def a_line_without_end_is_cut():
	program = StandIn(
		STAGE, {"event": "log", "position": 0, "stream": "stdout", "text": "é" * 2000}, VERDICT
	)
	contains(
		check(file(RIGHT), program=program).out, "\n  | " + "é" * 500 + "... (3000 bytes more)\n"
	)


@test
def the_first_mismatch_is_shown_in_parts():
	message = (
		"5 of 1024 elements are wrong, the first at [3, 0]: expected 1, got 2 (off by 1, "
		"tolerance 0.001)\nand more"
	)
	program = StandIn(
		{**STAGE, "stage": "test"},
		{**CASE, "verdict": "wrong answer", "message": message},
		{**VERDICT, "verdict": "wrong answer"},
	)
	contains(
		check(file(RIGHT), program=program).out,
		"\nFirst failing case, test 1: size: 8\n  5 of 1024 elements are wrong\n"
		"  first at   [3, 0]\n  expected   1\n  got        2\n  off by     1\n  tolerance  0.001\n",
	)


@test
def a_device_that_the_task_does_not_list_is_mentioned():
	folder = task("for-gpus", TASK + "gpus: [A100, H200]\n")
	contains(
		check(file(RIGHT), "--gpu", "cpu", folder=folder, program=StandIn(VERDICT)).out,
		"The task is for A100 and H200, so its times will differ from those on CPU.\n",
	)
	lacks(
		check(file(RIGHT), folder=folder, program=StandIn(VERDICT), **driver()).out,
		"The task is for",
	)


@test
def odd_events_are_harmless():
	program = StandIn(
		'{"event": "news", "job": 1}',
		'{"event": "case", "job": 1, "position": 7}',
		'{"event": "case", "job": 1, "position": -1}',
		'{"event": "case", "job": 1}',
		'{"event": "log", "job": 1, "position": "0", "text": 5}',
		'{"event": 5, "job": 1}',
		"[]",
		'{"event": "stage", "job": 1}',
		'{"event": "case", "job": 1, "position": 0, "index": "x", "mean_ns": "long"}',
		'{"event": "stage_end", "job": 1, "position": 0, "duration_ms": "long"}',
		'{"event": "environment", "job": 1, "environment": []}',
		'{"event": "plan", "job": 1, "position": 0}',
		'{"event": "plan", "job": 1, "position": 0, "part": 0, "parts": 9, "base64": 5}',
		'{"event": "plan", "job": 1, "position": 0, "part": 0, "text_bytes": 9, "base64": "AA="}',
		'{"event": "plan", "job": 1, "position": 0, "text_bytes": 1e30, "base64": "!"}',
		'{"event": "verdict", "job": 2, "verdict": "passed"}',
		'{"event": "verdict", "job": 1, "verdict": ["passed"]}',
	)
	answer = check(file(RIGHT), program=program)
	equal(answer.code, 1)
	contains(answer.out, "podium-run reported a verdict that this program does not know.")


@test
def a_podium_run_that_fails_is_named():
	says(
		check(file(RIGHT), program=StandIn("!sys.exit(9)")),
		3,
		"podium: podium-run exited with code 9",
	)
	says(
		check(file(RIGHT), program=StandIn("!import os; os.kill(os.getpid(), 9)")),
		3,
		"podium-run was killed by signal 9 (Killed).",
	)
	says(
		check(file(RIGHT), program=StandIn("this is not JSON")),
		3,
		"podium-run sent a line that is not JSON.",
	)


@test
def a_closed_output_is_an_error():
	process = subprocess.run(
		["sh", "-c", '"$@" >&-', "sh", *arguments(file(RIGHT))],
		env=environment(StandIn(VERDICT).environment),
		capture_output=True,
		text=True,
		stdin=subprocess.DEVNULL,
	)
	equal(process.returncode, 3)
	contains(process.stderr, "podium: standard output: ")


if __name__ == "__main__":
	try:
		code = run()
	finally:
		close()
	sys.exit(code)
