#!/usr/bin/python3
"""The stock eval.py, utils.py and single_reference.py as a task runs them: in a folder, with a pipe
for the results."""

import base64
import contextlib
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import engine  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

try:
	import torch  # noqa: F401  # runs are forked from this process and then need not import torch
except ImportError:
	pass

PYTHON = "/usr/bin/python3"
STATISTICS = ("runs", "mean", "std", "err", "best", "worst")
# Doubles whole numbers without a GPU. Writes the arguments of each input to the file `inputs`.
REFERENCE = """
import torch

def generate_input(size, seed=0, **more):
    with open("inputs", "a") as file:
        file.write(f"{seed}\\n")
    return torch.arange(size) + seed % 1000

def check_implementation(data, output):
    good = isinstance(output, torch.Tensor) and torch.equal(output, 2 * data)
    return good, "" if good else "not twice the input\\nsee the description"
"""
RIGHT = "def custom_kernel(data): return 2 * data\n"
WRONG = "def custom_kernel(data): return 3 * data\n"
CASES = "size: 3; seed: 5\nsize: 70; seed: 9\n"
MAKES_NOTHING = "def check_implementation(data, output): return True, ''\n"


class Result:
	def __init__(self, folder, process, lines):
		self.code, self.text = process.returncode, lines
		self.stdout, self.stderr = process.stdout, process.stderr
		self.lines = dict(line.split(": ", 1) for line in lines.splitlines())
		equal(len(self.lines), len(lines.splitlines()))  # no key may come twice
		inputs = folder / "inputs"
		self.seeds = [int(line) for line in inputs.read_text().split()] if inputs.exists() else []


@contextlib.contextmanager
def folder_with(files):
	folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-eval."))
	try:
		for name in ("eval.py", "utils.py"):
			shutil.copy(ROOT / "harness" / name, folder)
		for name, text in files.items():
			(folder / name).write_text(text)
		yield folder
	finally:
		shutil.rmtree(folder)


def clean_environment():
	environment = {
		name: value for name, value in os.environ.items() if not name.startswith("POPCORN_")
	}
	return {
		**environment,
		"PYTHONDONTWRITEBYTECODE": "1",
		"OMP_NUM_THREADS": "2",
		"CUDA_VISIBLE_DEVICES": "",
	}


def start(folder, words, descriptors=(), **environment):
	return subprocess.run(
		[PYTHON, "eval.py", *words],
		cwd=folder,
		env={**clean_environment(), **environment},
		pass_fds=descriptors,
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
		timeout=120,
	)


def fork(folder, words, descriptor, **environment):
	"""Runs eval.py in a fork of this process, which has already imported torch."""
	process = engine.Forked(
		folder, ["python3", "eval.py", *words], {descriptor: descriptor}, **environment
	)
	try:
		code = process.wait(120)
	finally:
		process.kill()
	return types.SimpleNamespace(
		returncode=code,
		stdout=(folder / "stdout").read_text(),
		stderr=(folder / "stderr").read_text(),
	)


def evaluate(submission=RIGHT, mode="test", cases=CASES, secret=None, reference=REFERENCE, **files):
	"""Runs eval.py once. `files`: the texts of more files, with `_py` for `.py` in their names."""
	named = {name.replace("_py", ".py"): text for name, text in files.items()}
	with folder_with(
		{"reference.py": reference, "submission.py": submission, "cases": cases, **named}
	) as folder:
		with open(folder / "lines", "w+") as lines:  # writing to a file never blocks
			environment = {
				"POPCORN_FD": str(lines.fileno()),
				**({"POPCORN_SEED": str(secret)} if secret is not None else {}),
			}
			process = fork(folder, [mode, "cases"], lines.fileno(), **environment)
		return Result(folder, process, (folder / "lines").read_text())


def ends_with(result, code, *sentences):
	if result.code != code:
		raise AssertionError(f"exit code {result.code}, expected {code}:\n{result.stderr}")
	for sentence in sentences:
		contains(result.stderr, sentence)


def in_utils(code):
	"""Runs the code after an import of utils.py. Raises if the code fails."""
	with folder_with({"code.py": "import torch\nfrom utils import *\n" + code}) as folder:
		process = subprocess.run(
			[PYTHON, "code.py"],
			cwd=folder,
			env=clean_environment(),
			capture_output=True,
			text=True,
			timeout=120,
		)
	if process.returncode:
		raise AssertionError(process.stderr)
	return process.stdout


# ---- modes ----


@test
def test_mode_reports_each_case_with_its_line():
	result = evaluate()
	ends_with(result, 0)
	equal(
		result.lines,
		{
			"test-count": "2",
			"test.0.spec": "size: 3; seed: 5",
			"test.0.status": "pass",
			"test.1.spec": "size: 70; seed: 9",
			"test.1.status": "pass",
			"check": "pass",
		},
	)
	equal(result.seeds, [5, 9])


@test
def the_check_s_words_on_a_right_answer_are_a_message():
	result = evaluate(reference=REFERENCE.replace('"" if good', '"close\\nenough" if good'))
	equal((result.code, result.lines["test.0.message"]), (0, "close\\nenough"))


def check_statistics(lines, index):
	runs, mean, std, err, best, worst = (
		float(lines[f"benchmark.{index}.{name}"]) for name in STATISTICS
	)
	assert runs == int(runs) and 3 <= runs <= 100, runs
	assert 0 < best <= mean <= worst, (best, mean, worst)
	assert math.isclose(err, std / math.sqrt(runs)), (err, std, runs)
	assert 0 <= std <= worst - best, (std, best, worst)


@test
def benchmark_and_leaderboard_mode_report_statistics_of_each_case():
	for mode in ("benchmark", "leaderboard"):
		result = evaluate(mode=mode)
		ends_with(result, 0)
		equal((result.lines["benchmark-count"], result.lines["check"]), ("2", "pass"))
		wanted = {"benchmark-count", "check"} | {
			f"benchmark.{i}.{name}" for i in (0, 1) for name in ("spec", "status", *STATISTICS)
		}
		equal(set(result.lines), wanted)
		for index in (0, 1):
			check_statistics(result.lines, index)


@test
def times_are_in_nanoseconds():
	slow = "import time\ndef custom_kernel(data):\n\ttime.sleep(0.02)\n\treturn 2 * data\n"
	mean = float(evaluate(slow, "benchmark", "size: 3; seed: 5\n").lines["benchmark.0.mean"])
	assert 20e6 <= mean < 40e6, mean


@test
def benchmark_mode_times_one_input_and_leaderboard_mode_a_new_one_each_time():
	cases = "size: 3; seed: 5\n"
	result = evaluate(mode="benchmark", cases=cases)
	equal(result.seeds[-1], 5)
	for mode in ("benchmark", "leaderboard"):
		result = evaluate(mode=mode, cases=cases)
		runs = int(result.lines["benchmark.0.runs"])
		timed = [5] if mode == "benchmark" else [5 + 13 * (i + 1) for i in range(runs)]
		equal(result.seeds[-len(timed) :], timed)


@test
def profile_mode_reports_a_table_in_base64():
	result = evaluate(mode="profile", cases="size: 3; seed: 5\n")
	ends_with(result, 0)
	table = base64.b64decode(result.lines["benchmark.0.report"], b"+*", validate=True).decode()
	contains(table, "custom_kernel")
	contains(table, "5 calls")


# ---- seeds ----


@test
def the_secret_changes_every_seed_but_no_line():
	secret = 2147483000
	result = evaluate(cases=CASES + "size: 4\n", secret=secret)
	ends_with(result, 0)
	equal(result.seeds, [a + (a + secret) * (a + secret + 1) // 2 for a in (5, 9)] + [0])
	equal(
		[result.lines[f"test.{i}.spec"] for i in range(3)],
		["size: 3; seed: 5", "size: 70; seed: 9", "size: 4"],
	)


@test
def the_submission_s_environment_has_neither_secret_nor_pipe():
	nosy = (
		"import os\nfound = [name for name in os.environ if name.startswith('POPCORN')]\n"
		"assert not found, found\n"
	) + RIGHT
	ends_with(evaluate(nosy, secret=77), 0)


@test
def the_secret_must_be_a_whole_number():
	ends_with(evaluate(secret="0x12"), 113, "POPCORN_SEED")


# ---- wrong answers ----


@test
def a_wrong_answer_exits_with_112_after_all_cases():
	for mode, noun in (("test", "test"), ("benchmark", "benchmark"), ("leaderboard", "benchmark")):
		result = evaluate(
			"def custom_kernel(data): return (3 if len(data) == 3 else 2) * data\n", mode
		)
		ends_with(result, 112, f"{noun} 1 of 2 (size: 3; seed: 5): not twice the input")
		equal(
			(
				result.lines[f"{noun}.0.status"],
				result.lines[f"{noun}.1.status"],
				result.lines["check"],
			),
			("fail", "pass", "fail"),
		)
		lacks(result.lines, f"{noun}.0.mean")


@test
def an_error_of_several_lines_becomes_one_result_line():
	result = evaluate(WRONG)
	equal(result.lines["test.0.error"], "not twice the input\\nsee the description")


@test
def a_ranked_run_finds_an_answer_that_becomes_wrong_later():
	later = (
		"calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n"
		"\treturn (2 if calls < 9 else 3) * data\n"
	)
	ends_with(evaluate(later, "leaderboard", "size: 3; seed: 5\n"), 112)


@test
def the_check_gets_the_unchanged_input():
	ends_with(evaluate("def custom_kernel(data): return data.zero_()\n"), 112)


@test
def changing_an_answer_after_the_clock_stopped_has_no_effect():
	late = (
		"import threading, time\ndef custom_kernel(data):\n\toutput = 0 * data\n"
		"\tdef work():\n\t\ttime.sleep(0.2)\n\t\toutput.copy_(2 * data)\n"
		"\tthreading.Thread(target=work).start()\n\treturn output\n"
	)
	ends_with(evaluate(late), 112)


@test
def a_tensor_subclass_is_no_answer():
	lazy = (
		"import torch\nclass Lazy(torch.Tensor): pass\n"
		"def custom_kernel(data): return (2 * data).as_subclass(Lazy)\n"
	)
	ends_with(evaluate(lazy), 112, "return a plain torch.Tensor")


@test
def a_task_s_own_output_tensor_must_be_returned():
	given = (
		"import torch\nfrom utils import same_memory\n"
		"def generate_input(size, seed): return torch.ones(size), torch.zeros(size)\n"
		"def is_output_of(data, output): return same_memory(output, data[1])\n"
		"def check_implementation(data, output): return torch.equal(output, 2 * data[0]), 'no'\n"
	)
	ends_with(
		evaluate("def custom_kernel(data): return 2 * data[0]\n", reference=given),
		112,
		"did not return the output that it was given",
	)
	for right in ("data[1].copy_(2 * data[0])", "data[1].copy_(2 * data[0])[:]"):
		ends_with(evaluate(f"def custom_kernel(data): return {right}\n", reference=given), 0)


@test
def checks_may_answer_in_all_forms_that_tasks_use():
	for answer, code in (
		("True", 0),
		("''", 0),
		("'differs'", 112),
		("(True, '')", 0),
		("(False, 'differs')", 112),
		("(False, ['a', 'b'])", 112),
		("[]", 0),
		("['a', 'b']", 112),
		("('a', 'b')", 113),
		("None", 113),
	):
		reference = (
			REFERENCE.split("def check")[0]
			+ f"def check_implementation(data, output): return {answer}\n"
		)
		equal((answer, evaluate(reference=reference, cases="size: 3\n").code), (answer, code))


# A check as in the examples of the format, which uses the list that verbose_allclose returns.
ASKS_FOR_REASONS = """
from utils import verbose_allclose

def ref_kernel(data):
    return 2.0 * data

def check_implementation(data, output):
    reasons = verbose_allclose(output, ref_kernel(data))
    if len(reasons) > 0:
        return "mismatch found! " + reasons[0]
    return ""
"""


@test
def a_check_asks_verbose_allclose_for_reasons():
	reference = REFERENCE.split("def check")[0] + ASKS_FOR_REASONS
	ends_with(evaluate("def custom_kernel(data): return 2.0 * data\n", reference=reference), 0)
	ends_with(
		evaluate("def custom_kernel(data): return 3.0 * data\n", reference=reference),
		112,
		"mismatch found! 3 of 3 elements are wrong, the first at [0]: expected 10, got 15",
	)


# ---- errors of the task's own code ----

BY_ITSELF = "The submission is not at fault: the task's check_implementation raised"
KERNEL = "def ref_kernel(data): return 2 * data\n"
MISSPELT = "\tif not torch.equal(output, 2 * data): return False, mesage\n\treturn True, ''\n"
OUT_OF_RANGE = "\treturn True, [][3]\n"
WRONG_PATH = "\treturn (True, '') if torch.equal(output, 2 * data) else (False, [][3])\n"


@test
def an_error_of_the_check_itself_is_the_task_s():
	for body, submission in (
		(OUT_OF_RANGE, RIGHT),
		(KERNEL + OUT_OF_RANGE, RIGHT),
		(KERNEL + OUT_OF_RANGE, "def custom_kernel(data): return None\n"),
		(MISSPELT, WRONG),
		(KERNEL + WRONG_PATH, WRONG),
		("\timport no_such_module\n", RIGHT),
	):
		kernel = KERNEL if body.startswith(KERNEL) else ""
		reference = (
			REFERENCE.split("def check")[0].replace(
				"torch.arange(size) + seed % 1000", "(torch.arange(size) + seed % 1000)"
			)
			+ kernel
			+ "def check_implementation(data, output):\n"
			+ body.removeprefix(KERNEL)
		)
		result = evaluate(submission, reference=reference)
		ends_with(result, 113, BY_ITSELF)
		contains(result.lines["test.0.error"], BY_ITSELF)


@test
def an_error_over_an_output_of_a_wrong_form_is_the_submission_s():
	for body in (
		"return output.shape == data.shape",
		"return bool((output == 2 * data).all())",
		"assert output.shape == (7, 7), 'wrong shape'\n\treturn True",
		"torch.testing.assert_close(output, 2 * data)\n\treturn True",
	):
		check = f"def check_implementation(data, output):\n\t{body}\n"
		for kernel in ("", KERNEL) if "(7, 7)" not in body else ("",):
			for returned in ("None", "[data]", "data[1:]"):
				result = evaluate(
					f"def custom_kernel(data): return {returned}\n",
					reference=REFERENCE.split("def check")[0] + kernel + check,
					cases="size: 3\n",
				)
				if result.code != 112:
					ends_with(result, 1, "check_implementation could not work with what custom_")


@test
def an_error_of_the_task_s_ref_kernel_is_the_task_s():
	reference = (
		REFERENCE.split("def check")[0] + "from utils import make_match_reference\n"
		"def ref_kernel(data): return data @ torch.ones(1, 2)\n"
		"check_implementation = make_match_reference(ref_kernel)\n"
	)
	ends_with(evaluate(reference=reference), 113, "The submission is not at fault")


@test
def a_full_memory_is_never_the_task_s():
	"""A submission could fill the memory, so a MemoryError does not show a fault of the task."""
	reference = (
		REFERENCE.split("def check")[0]
		+ KERNEL
		+ "def check_implementation(data, output): raise MemoryError()\n"
	)
	ends_with(evaluate(reference=reference), 1, "could not work with")


@test
def is_output_of_may_fail_by_itself_too():
	reference = REFERENCE + KERNEL + "def is_output_of(data, output): return missing\n"
	ends_with(evaluate(reference=reference), 113, "the task's is_output_of raised")


@test
def files_of_the_task_that_end_python_are_the_task_s_fault():
	for line in ("import sys; sys.exit(1)\n", "raise KeyError('no')\n", "import missing\n"):
		ends_with(evaluate(reference=line + REFERENCE), 2, "The task's own files cannot be")
		ends_with(evaluate(utils_py=line), 2, "The task's own files cannot be imported")


# ---- submissions that fail ----


@test
def a_submission_that_raises_exits_with_1_and_the_reason():
	result = evaluate("def custom_kernel(data):\n\traise NotImplementedError('not yet')\n")
	ends_with(result, 1, "custom_kernel raised NotImplementedError: not yet")
	contains(result.lines["test.1.error"], "NotImplementedError: not yet\\n")
	lacks(result.lines["test.0.error"], "eval.py")
	equal(result.lines["check"], "fail")


@test
def a_submission_that_cannot_be_imported_exits_with_1():
	for submission, sentence in (
		("def custom_kernel(data)\n", "SyntaxError"),
		("import no_such_module\n", "No module named 'no_such_module'"),
		("custom_kernel = 5\n", "defines no function custom_kernel"),
		("raise SystemExit(0)\n", "SystemExit"),
	):
		result = evaluate(submission)
		ends_with(result, 1, sentence)
		equal(result.lines, {"check": "fail"})


@test
def a_submission_cannot_make_the_harness_exit_with_0():
	ends_with(evaluate("import sys\ndef custom_kernel(data): sys.exit(0)\n"), 1, "SystemExit")
	result = evaluate("import os\ndef custom_kernel(data): os._exit(0)\n")
	equal((result.code, "check" in result.lines), (0, False))


@test
def output_of_a_submission_is_no_result():
	with folder_with(
		{
			"reference.py": REFERENCE,
			"submission.py": "print('check: pass')\n" + WRONG,
			"cases": CASES,
		}
	) as folder:
		process = start(folder, ["test", "cases"], POPCORN_FD="1")
	equal(
		(
			process.returncode,
			process.stdout.count("check: pass"),
			process.stdout.count("check: fail"),
		),
		(112, 0, 1),
	)
	contains(process.stderr, "check: pass")


@test
def threads_and_exit_handlers_do_not_delay_the_end():
	left = (
		"import atexit, threading, time\natexit.register(lambda: time.sleep(600))\n"
		"threading.Thread(target=time.sleep, args=(600,)).start()\n"
	)
	ends_with(evaluate(left + RIGHT), 0)


# ---- faults of the task or the system ----


@test
def an_unreadable_case_exits_with_113_and_its_line():
	for line, sentence in (
		("size 3", '"name: value"'),
		("size: 3;", '"name: value"'),
		("1size: 3", '"name: value"'),
		("size: 3; size: 4", "twice"),
		("size: [1, 2", "plain values"),
		("size: [len(x)]", "plain values"),
	):
		ends_with(evaluate(cases=f"size: 3\n{line}\n"), 113, "line 2", sentence)
	ends_with(evaluate(cases="\n"), 113, "no cases")
	ends_with(evaluate(cases="length: 3\n"), 113, "generate_input raised TypeError")


@test
def a_reference_for_cuda_says_so_on_the_cpu():
	needs_cuda = "The task's reference needs CUDA, and this is the CPU device. Choose a GPU"
	on_gpu = REFERENCE.replace("torch.arange(size)", "torch.arange(size, device='cuda')")
	result = evaluate(reference=on_gpu)
	ends_with(result, 113)
	contains(result.stderr.rstrip().rsplit("\n", 1)[-1], needs_cuda)
	ends_with(evaluate(reference="import torch\ntorch.ones(1).cuda()\n"), 2, needs_cuda)
	wrong = evaluate("def custom_kernel(data): raise RuntimeError('No CUDA GPUs are available')\n")
	ends_with(wrong, 1)
	lacks(wrong.stderr, needs_cuda)


@test
def a_missing_case_file_exits_with_113():
	with folder_with({"reference.py": REFERENCE, "submission.py": RIGHT}) as folder:
		ends_with_code = start(folder, ["test", "nowhere"], POPCORN_FD="1")
	equal(ends_with_code.returncode, 113)
	contains(ends_with_code.stderr, "nowhere")


@test
def a_missing_pipe_exits_with_111():
	with folder_with({"reference.py": REFERENCE, "submission.py": RIGHT, "cases": CASES}) as folder:
		for environment in ({}, {"POPCORN_FD": "77"}, {"POPCORN_FD": "three"}, {"POPCORN_FD": ""}):
			process = start(folder, ["test", "cases"], **environment)
			equal((environment, process.returncode, process.stdout), (environment, 111, ""))
			contains(process.stderr, "POPCORN_FD")
		with open("/dev/full", "w") as full:
			equal(
				start(
					folder, ["test", "cases"], [full.fileno()], POPCORN_FD=str(full.fileno())
				).returncode,
				111,
			)


@test
def wrong_usage_and_broken_tasks_exit_with_2():
	ends_with(evaluate(mode="race"), 2, "usage")
	ends_with(evaluate(reference="import no_such_module\n"), 2, "task's own files")
	ends_with(evaluate(reference="def generate_input(): pass\n"), 2, "check_implementation")


# ---- cases ----


@test
def values_of_cases_have_python_s_types():
	wanted = {
		"whole": -3,
		"real": 1e-05,
		"yes": True,
		"no": False,
		"nothing": None,
		"word": "bf16",
		"names": [1, "a"],
		"pair": (2, 3.5),
	}
	reference = (
		f"def generate_input(**given):\n\tassert repr(given) == {repr(repr(wanted))}, given\n"
		"\treturn 1\n"
	) + MAKES_NOTHING
	line = "; ".join(f"{name}: {value}" for name, value in wanted.items())
	ends_with(evaluate(cases=line + "\n", reference=reference), 0)
	ends_with(
		evaluate(
			cases="  a_1 :  7 ;b2:x \n",
			reference="def generate_input(a_1, b2): return {(7, 'x'): 1}[a_1, b2]\n"
			+ MAKES_NOTHING,
		),
		0,
	)


# ---- files in the common form ----


@test
def common_submissions_and_references_work_unchanged():
	task = (
		"from typing import TypedDict\nimport torch\n"
		"input_t = tuple[torch.Tensor, torch.Tensor]\noutput_t = torch.Tensor\n"
		"class TestSpec(TypedDict):\n\tsize: int\n"
	)
	reference = (
		"import torch\nfrom task import input_t, output_t, TestSpec\n"
		"from utils import make_match_reference, verbose_allclose, verbose_allequal, "
		"match_reference, set_seed, DeterministicContext\n"
		"def ref_kernel(data: input_t) -> output_t:\n\twith DeterministicContext():\n"
		"\t\tdata, output = data\n\t\toutput[...] = data\n\t\treturn output\n"
		"def generate_input(size: int, seed: int) -> input_t:\n"
		"\tgen = torch.Generator(device='cpu')\n\tgen.manual_seed(seed)\n"
		"\tdata = torch.empty(size, dtype=torch.float16)\n"
		"\tdata.uniform_(0, 1, generator=gen)\n\treturn data, torch.empty_like(data)\n"
		"check_implementation = make_match_reference(ref_kernel)\n"
	)
	header = (
		"#!POPCORN leaderboard identity_py\n#!POPCORN gpus CPU\n\nimport torch\n"
		"from task import input_t, output_t\n"
		"from utils import DeterministicContext, verbose_allclose, set_seed, clear_l2_cache\n\n"
		"def custom_kernel(data: input_t) -> output_t:\n\tdata, output = data\n"
	)
	files = {"reference": reference, "task_py": task}
	ends_with(
		evaluate(header + "\toutput[...] = data\n\treturn output\n", "leaderboard", **files), 0
	)
	ends_with(
		evaluate(header + "\treturn output.zero_()\n", **files),
		112,
		"elements are wrong, the first at [0]",
	)


@test
def changing_utils_or_reference_has_no_effect():
	cheats = (
		"import sys, utils, reference\nreference.check_implementation = lambda *_: (True, '')\n"
		"utils.verbose_allclose = lambda *_, **__: (True, [])\n"
		"sys.modules['__main__'].Evaluation = None\n" + WRONG
	)
	ends_with(evaluate(cheats), 112)


@test
def a_single_file_reference_draws_its_input_from_the_seed():
	code = (
		"import torch, numpy, random\nnumbers = []\n"
		"def generate_input():\n\tdrawn = torch.tensor([torch.rand(()).item(), "
		"numpy.random.rand(), random.random()])\n"
		"\topen('drawn', 'a').write(f'{drawn.tolist()}\\n')\n\treturn drawn\n"
		"def ref_kernel(data): return 2 * data\n"
		"def check_implementation(custom_output, ref_output): return "
		"torch.equal(custom_output, ref_output)\n"
	)
	show = (
		"import atexit\ndef custom_kernel(data):\n\tprint(data.tolist(), flush=True)\n"
		"\treturn 2 * data\n"
	)
	files = {
		"reference": (ROOT / "harness" / "single_reference.py").read_text(),
		"reference_code_py": code,
		"cases": "seed: 1\nseed: 2\nseed: 1\n",
	}
	result = evaluate(show, **files)
	ends_with(result, 0)
	first, second, third = result.stdout.splitlines()
	assert first == third != second, result.stdout
	assert evaluate(show, secret=4, **files).stdout.splitlines()[0] not in (first, second)
	ends_with(evaluate(WRONG, **files), 112, "the largest difference is at flat index")
	ends_with(evaluate("def custom_kernel(data): return 2\n", **files), 1)


# ---- helpers ----


@test
def uniform_gives_the_same_numbers_on_every_device():
	in_utils("""
def bits(seed, i):
    z = (seed * 0xd1342543de82ef95 + (i + 1) * 0x9e3779b97f4a7c15) % 2**64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
    return z ^ z >> 31
for seed in (0, 1, 987654321, 2**62 + 12345, 2**63 + 5):
    drawn = uniform((2, 40000), seed).flatten()
    for i in (0, 1, 2, 32767, 32768, 79999):
        assert drawn[i].item() == (bits(seed, i) >> 40) / 2**24, (seed, i)
drawn = uniform((1000, 1000), 7, -3, 5)
assert -3 <= drawn.min() < -2.99 and 4.99 < drawn.max() < 5 and abs(drawn.mean() - 1) < 0.01
assert not torch.equal(drawn, uniform((1000, 1000), 8, -3, 5))
assert uniform((0, 3), 1).shape == (0, 3)
assert uniform((4,), 1, dtype=torch.float16).dtype == torch.float16
""")


@test
def comparisons_name_the_first_difference():
	in_utils("""
def said(reasons): return reasons[0]
nan, inf = float("nan"), float("inf")
a = torch.tensor([[1.0, 2.0], [3.0, inf]])
assert verbose_allclose(a, a.clone()) == [] and verbose_allequal(a, a.clone()) == []
b = a.clone(); b[1, 0] = 3.5
assert verbose_allclose(b, a) == ["1 of 4 elements are wrong, the first at [1, 0]: "
    "expected 3, got 3.5 (off by 0.5, tolerance 3e-05)"]
assert not verbose_allclose(b, a, atol=0.5) and not verbose_allclose(b, a, rtol=0.2)
assert said(verbose_allequal(b, a)).endswith("expected 3, got 3.5")
b[0] = nan
reasons = verbose_allclose(b, a, atol=10, max_print=1)
assert len(reasons) == 1 and reasons[0].startswith("2 of 4"), reasons
assert verbose_allclose(a[0], a) == ["the shape is [2], expected [2, 2]"]
assert verbose_allclose(a.double(), a) == ["the dtype is float64, expected float32"]
assert verbose_allclose(None, a) == ["expected a tensor, got nothing (None)"]
assert verbose_allequal(3, a) == ["expected a tensor, got a int"]
assert said(match_reference(a, b, lambda data: data).splitlines()).startswith("3 of 4")
assert make_match_reference(lambda data: 2 * data, rtol=1e-3)(a, 2.001 * a) == ""
""")


@test
def contexts_restore_the_settings():
	in_utils("""
def state():
    return (torch.are_deterministic_algorithms_enabled(),
        torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32,
        torch.backends.cudnn.benchmark, os.environ.get("CUBLAS_WORKSPACE_CONFIG"))
for allowed in (True, False):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    before = state()
    with DeterministicContext():
        assert state() == (True, False, False, False, ":4096:8")
    assert state() == before
    with DisableCuDNNTF32():
        assert state()[1:3] == (False, False)
    assert state() == before
""")


@test
def the_same_seed_gives_the_same_numbers():
	in_utils("""
import random
def draw():
    return torch.rand(2).tolist(), random.random(), None if numpy is None else numpy.random.rand()
for seed in (0, 42, 2**62 + 3, 2**70):
    set_seed(seed); first = draw()
    set_seed(seed); assert draw() == first
clear_l2_cache(); clear_l2_cache_large()
""")


sys.exit(run())
