#!/usr/bin/env python3
"""The isolated engine: judge and contestants as processes, on the CPU device, and the parts of the judge by themselves."""
import base64
import pathlib
import random
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
sys.path.insert(1, str(ROOT / "harness" / "isolated"))
import engine  # noqa: E402
import podium_statistics as statistics  # noqa: E402
import podium_tree as tree  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

try:
	import torch  # noqa: F401  # so that the programs that are forked from here have it
except ImportError:
	torch = None

ENGINE = engine.build_engine()
# Doubles whole numbers, and notes the seed of each input.
DOUBLES = """
import torch

def generate_input(size, seed=0):
	with open("noted", "a") as file:
		file.write(f"{seed}\\n")
	return torch.arange(size) + seed % 1000

def check_implementation(data, output):
	good = isinstance(output, torch.Tensor) and torch.equal(output, 2 * data)
	return good, "" if good else "not twice the input\\nsee the description"
"""
# The same without torch.
ADDS = """
import random

def generate_input(count, seed=None):
	if seed is not None:
		random.seed(seed)
	return [random.randrange(1000) for _ in range(count)]

def check_implementation(data, output):
	return (True, "") if output == sum(data) else (False, f"expected {sum(data)}, got {output!r}")
"""
RIGHT, SUM = "def custom_kernel(data): return 2 * data\n", "def custom_kernel(data): return sum(data)\n"
ONE, TWO, COUNTS = "size: 70; seed: 9\n", "size: 3; seed: 5\nsize: 70; seed: 9\n", "count: 5; seed: 1\n"


def judge(submission=RIGHT, reference=DOUBLES, mode="test", cases=ONE, **more):
	return engine.judge(ENGINE, submission, reference, mode, cases, **more)


def adds(submission=SUM, mode="test", cases=COUNTS, **more):
	"""Without torch, which is quicker."""
	return engine.judge(ENGINE, submission, ADDS, mode, cases, **more)


def ends_with(result, code, *sentences):
	if result.code != code:
		raise AssertionError(f"exit code {result.code}, expected {code}:\n{result.text}\n{result.complaints}")
	for sentence in sentences:
		contains(result.text, sentence)


# ---- what each mode reports ----

@test
def a_test_run_reports_each_case_by_its_line():
	result = judge(cases=TWO)
	ends_with(result, 0)
	equal(result.text.splitlines(), ["test-count: 2", "test.0.spec: size: 3; seed: 5", "test.0.status: pass",
		"test.1.spec: size: 70; seed: 9", "test.1.status: pass", "check: pass"])


@test
def interpreters_of_their_own_do_the_same_as_forked_ones():
	ends_with(judge(start=engine.start), 0, "check: pass")
	ends_with(adds(start=engine.start), 0, "check: pass")


@test
def a_message_of_the_check_is_reported():
	ends_with(judge(reference=DOUBLES.replace('"" if good', '"close\\nenough" if good')), 0, "test.0.message: close\\nenough")


def check_figures(lines, key):
	figure = {name: float(lines[f"{key}.{name}"]) for name in ("mean", "std", "err", "best", "worst", "median", "low", "high", "constant")}
	runs, blocks = int(lines[f"{key}.runs"]), int(lines[f"{key}.blocks"])
	assert runs >= statistics.LEAST_CALLS and 1 <= blocks <= 4 and runs <= 5 * blocks, (runs, blocks)
	assert 1 <= figure["best"] <= figure["mean"] <= figure["worst"] and figure["low"] <= figure["mean"] <= figure["high"], figure
	samples = struct.unpack(f"<{runs}f", base64.b64decode(lines[f"{key}.samples"], validate=True))
	assert all(sample >= 1 for sample in samples), samples
	assert abs(statistics.median(samples) - figure["median"]) <= 1e-6 * figure["median"]
	assert 0 <= int(lines[f"{key}.repeated"]) <= statistics.MOST_REPEATS


@test
def timed_runs_report_figures_samples_and_the_constant():
	for mode in ("benchmark", "leaderboard"):
		result = judge(mode=mode)
		ends_with(result, 0, "benchmark-count: 1", "benchmark.0.status: pass", "check: pass")
		check_figures(result.lines, "benchmark.0")
		lacks(result.lines, "benchmark.0.device")
		equal("nonce" in result.lines, mode == "leaderboard")


@test
def a_comparison_reports_the_ratio_with_its_interval():
	slow = "import time\ndef custom_kernel(data):\n\ttime.sleep(0.03)\n\treturn sum(data)\n"
	fast = "import time\ndef custom_kernel(data):\n\ttime.sleep(0.003)\n\treturn sum(data)\n"
	result = adds(slow, "compare", rival=fast)
	ends_with(result, 0, "check: pass")
	check_figures(result.lines, "benchmark.0")
	ratio, low, high = (float(result.lines[f"benchmark.0.{name}"]) for name in ("ratio", "ratio_low", "ratio_high"))
	assert 1 < ratio < 40 and low <= ratio <= high, (low, ratio, high)
	assert float(result.lines["benchmark.0.rival"]) < float(result.lines["benchmark.0.mean"])
	assert float(result.lines["benchmark.0.ratio_err"]) >= 0


@test
def both_sides_of_a_comparison_get_the_same_inputs():
	noting = ADDS.replace("\tif seed is not None:", "\twith open('noted', 'a') as file:\n\t\tfile.write(f'{seed}\\n')\n\tif seed is not None:")
	result = engine.judge(ENGINE, SUM, noting, "compare", COUNTS, rival=SUM)
	ends_with(result, 0)
	pairs = statistics.RULES["cpu"].calls * 2
	blocks = result.noted[-pairs:]
	equal(blocks[:pairs // 2], blocks[pairs // 2:])


# ---- seeds ----

@test
def a_test_has_the_seeds_that_eval_py_gives_it():
	secret = 2147483000
	result = judge(cases=TWO, secret=secret)
	ends_with(result, 0)
	for seed in (5, 9):
		equal(str(seed + (seed + secret) * (seed + secret + 1) // 2) in result.noted, True)
	equal({"5", "9"} <= set(judge(cases=TWO).noted), True)


@test
def timed_inputs_never_come_twice_and_follow_from_secret_and_nonce():
	runs = [judge(mode=mode, secret=7).noted for mode in ("benchmark", "benchmark", "leaderboard")]
	for noted in runs:
		equal(len(set(noted)), len(noted))
		equal(all(0 <= int(seed) < 2**31 for seed in noted), True)
	equal(set(runs[0][:6]), set(runs[1][:6]))
	equal(set(runs[0]) & set(runs[2]), set())


@test
def generators_are_seeded_where_a_case_has_no_seed():
	adding = adds(mode="leaderboard", cases="count: 5\n")
	ends_with(adding, 0)
	equal(adds(cases="count: 5\n").code, 0)


@test
def a_contestant_knows_neither_seed_nor_pipe_nor_reference():
	nosy = ("import glob, os\nassert not [name for name in os.environ if 'SEED' in name or 'POPCORN' in name or name == 'PODIUM_TIME_LIMIT_S']\n"
		"assert glob.glob('*.py') == ['submission.py'], glob.glob('*')\n"
		"assert sorted(os.listdir('/proc/self/fd'))[:4] == ['0', '1', '2', '3'], os.listdir('/proc/self/fd')\n") + SUM
	ends_with(adds(nosy, secret=99), 0)


# ---- the forms of data ----

# Each entry: the input, what is right for it, what a kernel does.
FORMS = {
	"in place": ("torch.randn(33), torch.empty(33)", "2 * data[0]", "data[1].copy_(2 * data[0])"),
	"view of all": ("torch.randn(33), torch.empty(33)", "2 * data[0]", "data[1].copy_(2 * data[0])[:]"),
	"several": ("torch.randn(7, 5)", "(data.sum(), data.t(), [data + 1, {'a': data.double(), 3: data.half()}])",
		"(data.sum(), data.t(), [data + 1, {'a': data.double(), 3: data.half()}])"),
	"some in place": ("{'x': torch.randn(9), 'out': torch.empty(9)}", "(data['x'] + 1, data['x'] * 3)",
		"(data['out'].copy_(data['x'] + 1), data['x'] * 3)"),
	"not contiguous": ("torch.randn(12, 10)[::2, 1::3]", "data * 2", "data * 2"),
	"transposed": ("torch.randn(6, 4).t()", "data * 2", "(data * 2) if data.stride() == (1, 4) else None"),
	"expanded": ("torch.randn(5).expand(4, 5)", "data + 1", "(data + 1) if data.stride() == (0, 1) else None"),
	"shares storage": ("(lambda whole: (whole[:4], whole[2:], torch.randn(3)))(torch.randn(10))", "(data[0] * 2, data[1].clone())",
		"(data[0] * 2, data[1].clone()) if data[0].data_ptr() + 8 == data[1].data_ptr() else None"),
	"gaps in the output": ("torch.randn(8, 8)", "data[:, ::2] + 0", "(data + 0)[:, ::2]"),
	"expanded output": ("torch.randn(6)", "data.sum().expand(3, 4).contiguous()", "data.sum().expand(3, 4)"),
	"integers": ("torch.arange(9, dtype=torch.int32), torch.arange(9).to(torch.uint8), torch.arange(5).to(torch.int8)",
		"(data[0] * 2, data[1] * 2, data[2].to(torch.int16))", "(data[0] * 2, data[1] * 2, data[2].to(torch.int16))"),
	"half": ("torch.randn(64).half(), torch.randn(64).bfloat16()", "(data[0].float().mul(2).half(), data[1].float().mul(2).bfloat16())",
		"(data[0].float().mul(2).half(), data[1].float().mul(2).bfloat16())"),
	"bool": ("torch.randn(50) > 0", "~data", "~data"),
	"complex": ("torch.randn(5, dtype=torch.complex64)", "data.conj().resolve_conj()", "data.conj()"),
	"empty and single": ("torch.zeros(0, 3), torch.tensor(2.5)", "(data[0], data[1] * 2)", "(data[0], data[1] * 2)"),
	"scalars": ("torch.randn(4), 3, 0.5, True, 'sum', None, torch.float64, torch.device('cpu'), torch.Size([2, 2])",
		"(data[0] * data[1] + data[2]).to(data[6]) if data[3] and data[4] == 'sum' and data[8].numel() == 4 else None",
		"(data[0] * data[1] + data[2]).to(data[6]) if data[3] and data[4] == 'sum' and data[8].numel() == 4 and data[7].type == 'cpu' else None"),
	"scalars back": ("torch.randn(4), 7", "(7, 7.5, False, 'yes', None)", "(data[1], data[1] + 0.5, False, 'yes', None)"),
	"parameter": ("torch.nn.Parameter(torch.ones(3)), torch.ones(2, requires_grad=True)", "data[0].detach() * 2",
		"(data[0] * 2) if type(data[0]) is torch.nn.Parameter and data[1].requires_grad and data[0].requires_grad else None"),
	"named": ("Pair(torch.randn(3), {'b': 2})", "Pair(data.left * 2, 1)", "Pair(data.left * data.right['b'], 1)"),
	"input comes back": ("torch.randn(11)", "data.clone()", "data"),
	"part comes back": ("torch.randn(11)", "data[3:8:2].clone()", "data[3:8:2]"),
	"changed input": ("torch.randn(11)", "data * 2", "data.mul_(2)"),
	"one form twice": ("torch.randn(3)", "(data, data)", "(lambda made: (made, made))(data + 0)"),
}
FORM_TASK = "import collections\nimport torch\nPair = collections.namedtuple('Pair', 'left right')\n"
FORM_REFERENCE = """
import torch
from task import Pair

INPUTS, RIGHT = INPUTS_HERE, RIGHT_HERE

def generate_input(form, seed):
	torch.manual_seed(seed)
	return eval(INPUTS[form])

def same(output, expected):
	if isinstance(expected, torch.Tensor):
		return (type(output) is torch.Tensor and output.dtype == expected.dtype and output.shape == expected.shape
			and not output.requires_grad and torch.equal(output, expected.detach()))
	if isinstance(expected, dict):
		return type(output) is dict and list(output) == list(expected) and all(same(output[key], expected[key]) for key in expected)
	if isinstance(expected, (list, tuple)):
		return type(output) is type(expected) and len(output) == len(expected) and all(map(same, output, expected))
	return type(output) is type(expected) and output == expected

def check_implementation(data, output):
	expected = eval(RIGHT[DATA_FORM], {"torch": torch, "Pair": Pair, "data": data})
	return same(output, expected), f"expected {expected!r}, got {output!r}"
"""


def form_task(name):
	reference = FORM_REFERENCE.replace("INPUTS_HERE", repr({name: FORMS[name][0]})).replace("RIGHT_HERE", repr({name: FORMS[name][1]}))
	return reference.replace("DATA_FORM", repr(name))


def in_form(name, does=None, mode="test"):
	submission = f"import torch\nfrom task import Pair\ndef custom_kernel(data): return {does or FORMS[name][2]}\n"
	return judge(submission, form_task(name), mode, f"form: {name}; seed: 3\n", task={"task.py": FORM_TASK})


@test
def every_form_of_data_gets_there_and_back():
	for name in FORMS:
		result = in_form(name)
		if result.code:
			raise AssertionError(f"{name}: {result.text}\n{result.complaints}")


@test
def forms_are_timed_as_well():
	for name in ("some in place", "scalars"):
		ends_with(in_form(name, mode="leaderboard"), 0, "check: pass")


@test
def in_every_form_nothing_and_the_input_are_wrong_answers():
	for name in ("in place", "several", "bool", "scalars", "half"):
		ends_with(in_form(name, "None"), 112)
		ends_with(in_form(name, "data"), 112)
	ends_with(in_form("in place", "data[1]"), 112)
	ends_with(in_form("in place", "torch.empty_like(data[1])"), 112)
	ends_with(in_form("named", "(data.left * 2, 1)"), 112)


# ---- the tasks that come with Podium ----

TASKS = {"identity_py": "size: 127; seed: 1001\nsize: 100003; seed: 9173\n", "vectoradd_py": "size: 129; seed: 3721\n",
	"matmul_py": "m: 64; n: 128; k: 96; seed: 3321\n", "softmax_py": "rows: 4; columns: 33; seed: 4411\n"}
VERDICTS = {"passed": 0, "wrong answer": 112, "runtime error": 1}


def samples(name):
	"""(submission, exit code) of each sample that runs."""
	folder = ROOT / "tasks" / name
	for line in (folder / "task.yml").read_text().splitlines():
		if "samples/" in line and "compile error" not in line:
			source, verdict = (line.split(f"{key}: ")[1].split(",")[0].rstrip("}") for key in ("source", "verdict"))
			yield source, (folder / source).read_text(), VERDICTS[verdict]


@test
def samples_of_the_shipped_tasks_get_their_verdicts():
	utils = (ROOT / "harness" / "utils.py").read_text()
	for name, cases in TASKS.items():
		folder = ROOT / "tasks" / name
		files = {"utils.py": utils, "task.py": (folder / "task.py").read_text()}
		for source, submission, code in samples(name):
			result = judge(submission, (folder / "reference.py").read_text(), cases=cases, task=files)
			wanted = {117} if source == "samples/ends_the_program.py" else {code}
			if result.code not in wanted:
				raise AssertionError(f"{name}, {source}: {result.code}\n{result.text}\n{result.complaints}")


@test
def a_task_that_is_a_single_file_is_judged():
	folder = ROOT / "tasks" / "prefixsum_single"
	files = {"utils.py": (ROOT / "harness" / "utils.py").read_text(), "reference_code.py": (folder / "reference_code.py").read_text()}
	reference = (ROOT / "harness" / "single_reference.py").read_text()
	for sample, code in (("passed", 0), ("wrong-answer", 112)):
		ends_with(judge((folder / "samples" / f"{sample}.py").read_text(), reference, cases="seed: 4\n", task=files), code)


# ---- wrong answers ----

GIVEN = ("import torch\ndef generate_input(size, seed):\n\ttorch.manual_seed(seed)\n\treturn torch.randn(size), torch.zeros(size)\n"
	"def is_output_of(data, output): return output is data[1] or output.data_ptr() == data[1].data_ptr()\n"
	"def check_implementation(data, output): return torch.equal(output, 2 * data[0]), 'no'\n")


@test
def where_the_task_gives_the_output_it_must_come_back():
	for wrong in ("2 * data[0]", "data[1].copy_(2 * data[0]).clone()"):
		ends_with(judge(f"def custom_kernel(data): return {wrong}\n", GIVEN), 112, "did not return the output that it was given")
	for right in ("data[1].copy_(2 * data[0])", "data[1].copy_(2 * data[0])[:]"):
		ends_with(judge(f"def custom_kernel(data): return {right}\n", GIVEN), 0)


@test
def memory_that_nobody_wrote_is_never_right():
	constant = ("import torch\ndef generate_input(size, seed): return torch.ones(size), torch.empty(size)\n"
		"def check_implementation(data, output): return torch.equal(output, torch.zeros(len(output))), 'not zero'\n")
	ends_with(judge("def custom_kernel(data): return data[1]\n", constant, cases=ONE * 1), 112, "not zero")
	filled = constant.replace("torch.empty(size)", "torch.empty(size).new_empty(size)")
	ends_with(judge("def custom_kernel(data): return data[1]\n", filled), 112)
	ends_with(judge("def custom_kernel(data): return data[1].zero_()\n", filled), 0)


@test
def the_check_has_an_input_that_no_submission_has_touched():
	ends_with(judge("def custom_kernel(data): return data.zero_()\n"), 112, "not twice the input")


@test
def what_is_no_tensor_is_called_by_its_name():
	says = DOUBLES.replace('"not twice the input\\nsee the description"', 'f"expected a tensor, got a {type(output).__name__}"')
	for returned, name in (("__import__('numpy').zeros(3)", "ndarray"), ("'x' * 900", "str"), ("1 << 70", "int"), ("{1, 2}", "set"), ("b'x'", "bytes")):
		ends_with(judge(f"def custom_kernel(data): return {returned}\n", says), 112, f"expected a tensor, got a {name}")


@test
def a_tensor_with_code_of_its_own_is_no_answer():
	lazy = "import torch\nclass Lazy(torch.Tensor): pass\ndef custom_kernel(data): return (2 * data).as_subclass(Lazy)\n"
	ends_with(judge(lazy), 112, "custom_kernel returned a Lazy; return a plain torch.Tensor.")
	ends_with(judge("import torch\ndef custom_kernel(data): return (2 * data).to_sparse()\n"), 112, "not strided")
	ends_with(judge("def custom_kernel(data):\n\tmade = []\n\tmade.append(made)\n\treturn made\n"), 112, "nested")


@test
def outputs_of_changing_form_are_followed_for_a_while():
	changing = "calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n\treturn [sum(data)] * calls\n"
	ends_with(adds(changing), 112, "another form")
	twice = "calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n\treturn sum(data) + (0.0 if calls % 2 else 0)\n"
	ends_with(adds(twice, "leaderboard"), 112, "another form")


@test
def caching_and_phases_do_not_pay():
	cached = "known = {}\ndef custom_kernel(data):\n\treturn known.setdefault(data.data_ptr(), 2 * data)\n"
	ends_with(judge(cached, mode="leaderboard"), 112, "not twice the input")
	later = "calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n\treturn sum(data) if calls < 9 else 0\n"
	ends_with(adds(later, "leaderboard"), 112, "expected")
	ends_with(adds("answer = []\ndef custom_kernel(data):\n\tanswer.append(sum(data))\n\treturn answer[0]\n", "leaderboard"), 112, "expected")


@test
def a_wrong_answer_does_not_keep_other_cases_from_being_run():
	result = judge("def custom_kernel(data): return (3 if len(data) == 3 else 2) * data\n", mode="leaderboard", cases=TWO)
	ends_with(result, 112, "benchmark.0.error: not twice the input\\nsee the description", "benchmark.1.status: pass", "check: fail")
	lacks(result.lines, "benchmark.0.mean")


@test
def checks_that_change_what_they_get_do_not_make_a_late_write():
	changing = DOUBLES.replace("good = ", "output.div_(2, rounding_mode='floor').mul_(2)\n\tgood = ")
	ends_with(judge(reference=changing, mode="leaderboard"), 0)


# ---- submissions that break down ----

@test
def a_submission_that_raises_ends_with_1_and_its_own_lines():
	result = adds("def custom_kernel(data):\n\traise NotImplementedError('not yet')\n")
	ends_with(result, 1, "test.0.error: custom_kernel raised NotImplementedError: not yet", "submission.py")
	lacks(result.text, "contestant.py")
	ends_with(adds("def custom_kernel(data):\n\traise SystemExit(0)\n"), 1, "SystemExit")


@test
def a_submission_that_cannot_be_imported_ends_with_1():
	for submission, sentence in (("def custom_kernel(data)\n", "SyntaxError"), ("import no_such_module\n", "No module named 'no_such_module'"),
			("custom_kernel = 5\n", "defines no function custom_kernel"), ("raise SystemExit(0)\n", "SystemExit"),
			("import reference\n", "reference.py stays with the judge")):
		result = adds(submission)
		ends_with(result, 1, sentence)
		equal(result.lines["check"], "fail")


@test
def a_submission_that_ends_or_hangs_is_named():
	for when, where in (("def custom_kernel(data):\n\timport os\n\tos._exit(0)\n", "Test 1 of 1 (count: 5; seed: 1): The submission's process ended"),
			("import os\nos._exit(0)\n", "The submission's process ended")):
		result = adds(when)
		ends_with(result, 117, where)
		lacks(result.lines, "check")
	hangs = "import time\ndef custom_kernel(data):\n\ttime.sleep(600)\n"
	ends_with(adds(hangs, limit_s=3), 114, "The submission did not answer within")


@test
def what_a_submission_prints_is_its_own_output():
	result = adds("print('check: pass')\n" + SUM)
	equal((result.code, result.said["entry"].strip(), result.said["judge"]), (0, "check: pass", ""))


@test
def threads_and_exit_handlers_do_not_hold_up_the_end():
	left = "import atexit, threading, time\natexit.register(lambda: time.sleep(600))\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
	with engine.match(ENGINE, "test", COUNTS, {"reference.py": ADDS}, {"entry": left + SUM}, 60) as made:
		ends_with(made.wait(60), 0)
		equal(made.processes["entry"].wait(20), 0)


# ---- tasks that cannot be split ----

@test
def a_task_that_cannot_be_split_says_why():
	for given, sentence in (("torch.Generator()", "The input is a Generator, which"), ("[torch.zeros(2), {'w': torch.nn.Linear(1, 1)}]", "The input's part [1]['w'] is a Linear"),
			("[torch.zeros(3).to_sparse()]", "part [0] is a tensor that is not strided"), ("{1.5: 2}", "has a key of type float"),
			("{'a': __import__('numpy').zeros(2)}", "part ['a'] is a ndarray"), ("[1] * 500", "more than 400 parts"), ("1 << 64", "is an int"),
			("torch.zeros(3).max(0)", "class max"), ("[torch.zeros([1] * 9)]", "more than 8 dimensions"), ("Mine(3)", "class Mine"),
			("[lambda: 3]", "is a function")):
		reference = f"import collections\nimport torch\nMine = collections.namedtuple('Mine', 'a')\ndef generate_input(): return {given}\ndef check_implementation(data, output): return True\n"
		result = judge(reference=reference, cases="\n ".join([" "]) + "a: 1\n") if False else engine.judge(ENGINE, RIGHT, reference.replace("generate_input()", "generate_input(seed)"), "test", "seed: 1\n")
		ends_with(result, 115, sentence)
		equal(list(result.lines), ["error"])


@test
def nor_can_one_of_changing_form_or_with_another_interface():
	changing = "import torch\ndef generate_input(seed): return torch.zeros(seed % 1000 + 1)\ndef check_implementation(data, output): return True\n"
	for reference, sentence in ((changing, "different forms"), ("def generate_input(length): return 1\ndef check_implementation(a, b): return True\n", "does not take the arguments"),
			("def generate_input(seed): return 1\n", "has no function check_implementation")):
		ends_with(engine.judge(ENGINE, RIGHT, reference, "test", "seed: 5\n"), 115, sentence)
	with_gpus = adds(POPCORN_GPUS="2")
	ends_with(with_gpus, 115, "several GPUs")


@test
def faults_of_the_task_are_not_the_submissions():
	ends_with(judge(reference="import no_such_module\n"), 2, "own files")
	ends_with(adds(cases="count 3\n"), 113, "line 1")
	ends_with(adds(cases="\n"), 113, "no cases")
	ends_with(adds(secret="0x12"), 113, "POPCORN_SEED")
	ends_with(engine.judge(ENGINE, SUM, ADDS.replace("return [random", "raise ValueError('odd')\n\treturn [random"), "test", COUNTS), 113, "generate_input raised ValueError: odd")
	ends_with(engine.judge(ENGINE, SUM, ADDS.replace("return (True", "return None\n\treturn (True"), "test", COUNTS), 113, "returned None")


if __name__ == "__main__":
	try:
		sys.exit(run())
	finally:
		engine.remove(ENGINE)
