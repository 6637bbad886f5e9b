#!/usr/bin/python3
"""The isolated engine on the CPU device: judge and contestants as processes, and parts of the
judge."""

import base64
import contextlib
import ctypes
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import engine  # noqa: E402
from engine import ends_with  # noqa: E402

ENGINE = engine.build_engine()
sys.path.insert(1, str(ENGINE))
import judge as judge_module  # noqa: E402
import podium_area  # noqa: E402
import podium_side  # noqa: E402
import podium_staging as staging  # noqa: E402
import podium_statistics as statistics  # noqa: E402
import podium_tensors  # noqa: E402
import podium_tree as tree  # noqa: E402
import podium_wire as wire  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

try:
	import torch  # noqa: F401  # programs forked from this process then need not import torch
except ImportError:
	torch = None

# A reference that doubles whole numbers and notes the seed of each input.
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
# A reference without torch, which adds numbers.
ADDS = """
import random

def generate_input(count, seed=None):
	if seed is not None:
		random.seed(seed)
	return [random.randrange(1000) for _ in range(count)]

def check_implementation(data, output):
	return (True, "") if output == sum(data) else (False, f"expected {sum(data)}, got {output!r}")
"""
RIGHT = "def custom_kernel(data): return 2 * data\n"
SUM = "def custom_kernel(data): return sum(data)\n"
ONE, COUNTS = "size: 70; seed: 9\n", "count: 5; seed: 1\n"
TWO = "size: 3; seed: 5\n" + ONE


def judge(submission=RIGHT, reference=DOUBLES, mode="test", cases=ONE, **more):
	return engine.judge(ENGINE, submission, reference, mode, cases, **more)


def adds(submission=SUM, mode="test", cases=COUNTS, **more):
	"""Judges a submission to ADDS, which needs no torch and so runs faster."""
	return engine.judge(ENGINE, submission, ADDS, mode, cases, **more)


# ---- modes ----


@test
def test_mode_reports_each_case_with_its_line():
	result = judge(cases=TWO)
	ends_with(result, 0)
	equal(
		result.text.splitlines(),
		[
			"test-count: 2",
			"test.0.spec: size: 3; seed: 5",
			"test.0.status: pass",
			"test.1.spec: size: 70; seed: 9",
			"test.1.status: pass",
			"check: pass",
		],
	)


@test
def separate_interpreters_do_the_same_as_forked_ones():
	ends_with(judge(start=engine.start), 0, "check: pass")
	ends_with(adds(start=engine.start), 0, "check: pass")


@test
def a_message_of_the_check_is_reported():
	ends_with(
		judge(reference=DOUBLES.replace('"" if good', '"close\\nenough" if good')),
		0,
		"test.0.message: close\\nenough",
	)


def check_figures(lines, key):
	figure = {
		name: float(lines[f"{key}.{name}"])
		for name in ("mean", "std", "err", "best", "worst", "median", "low", "high", "constant")
	}
	runs, blocks = int(lines[f"{key}.runs"]), int(lines[f"{key}.blocks"])
	most_blocks = 4
	assert runs >= statistics.LEAST_CALLS and 1 <= blocks <= most_blocks and runs <= 10 * blocks, (
		runs,
		blocks,
	)
	assert (
		1 <= figure["best"] <= figure["mean"] <= figure["worst"]
		and figure["low"] <= figure["mean"] <= figure["high"]
	), figure
	samples = struct.unpack(f"<{runs}f", base64.b64decode(lines[f"{key}.samples"], validate=True))
	assert all(sample >= 1 for sample in samples), samples
	assert abs(statistics.median(samples) - figure["median"]) <= 1e-6 * figure["median"]
	# An attempt may repeat blocks. All blocks of an attempt that does not count are repeated, too.
	most_attempts = statistics.MOST_ATTEMPTS
	most_repeated = (
		most_attempts * (statistics.MOST_REPEATS + most_blocks // 4)
		+ (most_attempts - 1) * most_blocks
	)
	assert 0 <= int(lines[f"{key}.repeated"]) <= most_repeated


@test
def timed_runs_report_figures_samples_and_the_constant():
	for mode in ("benchmark", "leaderboard"):
		result = judge(mode=mode)
		ends_with(result, 0, "benchmark-count: 1", "benchmark.0.status: pass", "check: pass")
		check_figures(result.lines, "benchmark.0")
		lacks(result.lines, "benchmark.0.device")
		equal("nonce" in result.lines, mode == "leaderboard")


SLOW_S = 0.3
SLOW = f"import time\ndef custom_kernel(data):\n\ttime.sleep({SLOW_S})\n\treturn sum(data)\n"
INTERVAL = ("err", "low", "high")


@test
def a_slow_submission_gets_the_blocks_that_a_time_needs():
	result = adds(SLOW, mode="leaderboard")
	ends_with(result, 0, "check: pass")
	runs, blocks = (int(result.lines[f"benchmark.0.{name}"]) for name in ("runs", "blocks"))
	least_runs = statistics.LEAST_BLOCKS * statistics.LEAST_CALLS
	assert blocks == statistics.LEAST_BLOCKS and least_runs <= runs < 2 * least_runs, (runs, blocks)
	assert runs * SLOW_S > CPU.most_s
	lacks(result.lines, "benchmark.0.message")
	check_figures(result.lines, "benchmark.0")


@test
def a_submission_that_is_too_slow_for_the_limit_gets_no_ranked_time():
	result = adds(SLOW, mode="leaderboard", limit_s=4)
	ends_with(
		result,
		114,
		"Benchmark 1 of 1 (count: 5; seed: 1): The submission is too slow for this time limit: ",
		" calls fitted, and a time needs 12 calls in 4 blocks. The limit of 4 s was reached.",
	)
	equal(set(result.lines), {"benchmark-count", "nonce", "error"})
	slow_task = ADDS.replace(
		"\tif seed is not", f"\timport time; time.sleep({SLOW_S})\n\tif seed is not"
	)
	result = engine.judge(ENGINE, SUM, slow_task, "leaderboard", COUNTS, limit_s=4)
	ends_with(result, 113, "The task's own code took ", " s of the limit of 4 s")


@test
def a_benchmark_shows_a_time_of_few_calls_without_an_interval():
	result = adds(SLOW, mode="benchmark", limit_s=4)
	ends_with(result, 0, "check: pass")
	lines = result.lines
	contains(
		lines["benchmark.0.message"],
		f"The time limit left room for {lines['benchmark.0.runs']} calls in ",
	)
	equal([name for name in INTERVAL if f"benchmark.0.{name}" in lines], [])
	assert SLOW_S * 1e9 < float(lines["benchmark.0.mean"]) < 2 * SLOW_S * 1e9
	assert int(lines["benchmark.0.blocks"]) < statistics.LEAST_BLOCKS
	lacks(adds(SLOW, mode="benchmark", limit_s=1.5).text, "benchmark.0.mean")


@test
def a_comparison_reports_the_ratio_with_its_interval():
	result = adds(mode="compare", rival="def custom_kernel(data): return 0 + sum(data)\n")
	ends_with(result, 0, "check: pass")
	check_figures(result.lines, "benchmark.0")
	ratio, low, high, err, rival = (
		float(result.lines[f"benchmark.0.{name}"])
		for name in ("ratio", "ratio_low", "ratio_high", "ratio_err", "rival")
	)
	assert 0 < low <= ratio <= high and err >= 0 and rival >= 1, (low, ratio, high, err, rival)


# A submission that notes when it is loaded and called.
NOTING = """
import time
with open("noted", "a") as file:
	file.write(f"loaded {time.monotonic()}\\n")
def custom_kernel(data):
	with open("noted", "a") as file:
		file.write(f"called {time.monotonic()}\\n")
	return sum(data)
"""


@test
def a_comparison_measures_each_side_alone_and_both_in_turns():
	with engine.match(
		ENGINE, "compare", COUNTS, {"reference.py": ADDS}, {"entry": NOTING, "rival": NOTING}, 60
	) as made:
		ends_with(made.wait(60), 0)
		noted = {
			name: [line.split() for line in (made.folder / name / "noted").read_text().splitlines()]
			for name in ("entry", "rival")
		}
	loaded = {
		name: [float(at) for what, at in lines if what == "loaded"] for name, lines in noted.items()
	}
	called = {
		name: [float(at) for what, at in lines if what == "called"] for name, lines in noted.items()
	}
	equal([len(times) for times in loaded.values()], [1, 1])
	before = [at for at in called["rival"] if at < loaded["entry"][0]]
	behind = [at for at in called["entry"] if at > called["rival"][-1]]
	together = [at for at in called["rival"] if at > called["entry"][0]]
	least = CPU.looks.blocks[0] * CPU.calls
	assert (
		len(before) >= least
		and len(behind) >= least
		and len(together) >= 2 * statistics.LEAST_CALLS
	), (len(before), len(behind), len(together))


@test
def a_dismissed_rival_that_does_not_exit_is_waited_for_only_so_long():
	staying = """
import os, time
leave = os._exit
os._exit = lambda code: time.sleep(60) or leave(code)
def custom_kernel(data): return sum(data)
"""
	hurried = pathlib.Path(shutil.copytree(ENGINE, ENGINE / "hurried"))
	(hurried / "judge.py").write_text(
		(ENGINE / "judge.py").read_text().replace("LEAVE_S = 10.0", "LEAVE_S = 1.0")
	)
	result = engine.judge(hurried, SUM, ADDS, "compare", COUNTS, rival=staying)
	ends_with(
		result, 118, "The other submission's process did not end within 1 s after its dismissal."
	)


@test
def a_submission_that_filled_the_gpu_is_told_so():
	side = podium_side.Side.__new__(podium_side.Side)
	side.noun, side.is_null, side.is_loaded = "The submission", False, False
	refusal = "The CUDA driver refused cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)."
	equal(side._because(wire.Failed(refusal)).sentence, "The judge failed: " + refusal)
	side.is_loaded = True
	equal(
		side._because(wire.Failed(refusal)).sentence,
		"The GPU's memory is full: the judge found no room for inputs and outputs. A submission "
		"must leave room for them. " + refusal,
	)


@test
def all_answers_that_a_contestant_owes_share_one_limit():
	side, limits = podium_side.Side.__new__(podium_side.Side), []

	def answer_late(limit_s):
		limits.append(limit_s)
		time.sleep(0.05)
		return wire.MAPPED, b""

	side._owed, side._receive = 3, answer_late
	side.await_mapped(0.12)
	assert limits[1] <= 0.07 and limits[2] <= 0.02, limits


@test
def both_sides_of_a_comparison_get_the_same_inputs():
	noting = ADDS.replace(
		"\tif seed is not None:",
		"\twith open('noted', 'a') as file:\n\t\tfile.write(f'{seed}\\n')\n\tif seed is not None:",
	)
	result = engine.judge(ENGINE, SUM, noting, "compare", COUNTS, rival=SUM)
	ends_with(result, 0)
	times = [result.noted.count(seed) for seed in set(result.noted)]
	assert times.count(2) >= statistics.LEAST_CALLS and max(times) == 2, times


# ---- seeds ----


@test
def a_test_has_the_same_seeds_as_in_eval_py():
	secret = 2147483000
	result = judge(cases=TWO, secret=secret)
	ends_with(result, 0)
	for seed in (5, 9):
		equal(str(seed + (seed + secret) * (seed + secret + 1) // 2) in result.noted, True)
	equal({"5", "9"} <= set(judge(cases=TWO).noted), True)


@test
def timed_inputs_never_repeat_and_follow_from_secret_and_nonce():
	runs = [judge(mode=mode, secret=7).noted for mode in ("benchmark", "benchmark", "leaderboard")]
	for noted in runs:
		equal(len(set(noted)), len(noted))
		equal(all(0 <= int(seed) < 2**31 for seed in noted), True)
	equal(set(runs[0][:6]), set(runs[1][:6]))
	equal(set(runs[0]) & set(runs[2]), set())


@test
def without_a_seed_argument_the_generators_are_seeded():
	adding = adds(mode="leaderboard", cases="count: 5\n")
	ends_with(adding, 0)
	equal(adds(cases="count: 5\n").code, 0)


@test
def a_contestant_knows_no_seed_pipe_or_reference():
	nosy = (
		"import glob, os\nassert not [name for name in os.environ if 'SEED' in name or "
		"'POPCORN' in name or name == 'PODIUM_TIME_LIMIT_S']\n"
		"assert glob.glob('*.py') == ['submission.py'], glob.glob('*')\n"
		"assert sorted(os.listdir('/proc/self/fd'))[:4] == ['0', '1', '2', '3'], "
		"os.listdir('/proc/self/fd')\n"
	) + SUM
	ends_with(adds(nosy, secret=99), 0)


# ---- forms of data ----

# {name: (the input, the right output, the kernel's output)}, as Python expressions
FORMS = {
	"in place": ("torch.randn(33), torch.empty(33)", "2 * data[0]", "data[1].copy_(2 * data[0])"),
	"view of all": (
		"torch.randn(33), torch.empty(33)",
		"2 * data[0]",
		"data[1].copy_(2 * data[0])[:]",
	),
	"several": (
		"torch.randn(7, 5)",
		"(data.sum(), data.t(), [data + 1, {'a': data.double(), 3: data.half()}])",
		"(data.sum(), data.t(), [data + 1, {'a': data.double(), 3: data.half()}])",
	),
	"some in place": (
		"{'x': torch.randn(9), 'out': torch.empty(9)}",
		"(data['x'] + 1, data['x'] * 3)",
		"(data['out'].copy_(data['x'] + 1), data['x'] * 3)",
	),
	"not contiguous": ("torch.randn(12, 10)[::2, 1::3]", "data * 2", "data * 2"),
	"transposed": (
		"torch.randn(6, 4).t()",
		"data * 2",
		"(data * 2) if data.stride() == (1, 4) else None",
	),
	"expanded": (
		"torch.randn(5).expand(4, 5)",
		"data + 1",
		"(data + 1) if data.stride() == (0, 1) else None",
	),
	"shares storage": (
		"(lambda whole: (whole[:4], whole[2:], torch.randn(3)))(torch.randn(10))",
		"(data[0] * 2, data[1].clone())",
		"(data[0] * 2, data[1].clone()) if data[0].data_ptr() + 8 == data[1].data_ptr() else None",
	),
	"gaps in the output": ("torch.randn(8, 8)", "data[:, ::2] + 0", "(data + 0)[:, ::2]"),
	"expanded output": (
		"torch.randn(6)",
		"data.sum().expand(3, 4).contiguous()",
		"data.sum().expand(3, 4)",
	),
	"integers": (
		"torch.arange(9, dtype=torch.int32), torch.arange(9).to(torch.uint8), "
		"torch.arange(5).to(torch.int8)",
		"(data[0] * 2, data[1] * 2, data[2].to(torch.int16))",
		"(data[0] * 2, data[1] * 2, data[2].to(torch.int16))",
	),
	"half": (
		"torch.randn(64).half(), torch.randn(64).bfloat16()",
		"(data[0].float().mul(2).half(), data[1].float().mul(2).bfloat16())",
		"(data[0].float().mul(2).half(), data[1].float().mul(2).bfloat16())",
	),
	"bool": ("torch.randn(50) > 0", "~data", "~data"),
	"complex": (
		"torch.randn(5, dtype=torch.complex64), torch.randn(3, dtype=torch.complex128)",
		"(data[0].conj().resolve_conj(), data[1] * 2)",
		"(data[0].conj(), data[1] * 2)",
	),
	"empty and single": (
		"torch.zeros(0, 3), torch.tensor(2.5)",
		"(data[0], data[1] * 2)",
		"(data[0], data[1] * 2)",
	),
	"scalars": (
		"torch.randn(4), 3, 0.5, True, 'sum', None, torch.float64, torch.device('cpu'), "
		"torch.Size([2, 2])",
		"(data[0] * data[1] + data[2]).to(data[6]) if data[3] and data[4] == 'sum' and "
		"data[8].numel() == 4 else None",
		"(data[0] * data[1] + data[2]).to(data[6]) if data[3] and data[4] == 'sum' and "
		"data[8].numel() == 4 and data[7].type == 'cpu' else None",
	),
	"scalars back": (
		"torch.randn(4), 7",
		"(7, 7.5, False, 'yes', None)",
		"(data[1], data[1] + 0.5, False, 'yes', None)",
	),
	"parameter": (
		"torch.nn.Parameter(torch.ones(3)), torch.ones(2, requires_grad=True)",
		"data[0].detach() * 2",
		"(data[0] * 2) if type(data[0]) is torch.nn.Parameter and data[1].requires_grad and "
		"data[0].requires_grad else None",
	),
	"named": (
		"Pair(torch.randn(3), {'b': 2})",
		"Pair(data.left * 2, 1)",
		"Pair(data.left * data.right['b'], 1)",
	),
	"input comes back": ("torch.randn(11)", "data.clone()", "data"),
	"part comes back": ("torch.randn(11)", "data[3:8:2].clone()", "data[3:8:2]"),
	"changed input": ("torch.randn(11)", "data * 2", "data.mul_(2)"),
	"empty containers": (
		"[], (), {}, torch.ones(2), ''",
		"([], (), {}, data[3] + 1, '')",
		"([], (), {}, data[3] + len(data[:4]) - 3, data[4])",
	),
	"one form twice": ("torch.randn(3)", "(data, data)", "(lambda made: (made, made))(data + 0)"),
}
FORM_TASK = """import collections
import torch
Pair = collections.namedtuple('Pair', 'left right')
"""
FORM_REFERENCE = """
import torch
from task import Pair

INPUTS, RIGHT = INPUTS_HERE, RIGHT_HERE

def generate_input(form, seed):
	torch.manual_seed(seed)
	return eval(INPUTS[form])

def same(output, expected):
	if isinstance(expected, torch.Tensor):
		return (type(output) is torch.Tensor and output.dtype == expected.dtype
			and output.shape == expected.shape and not output.requires_grad
			and torch.equal(output, expected.detach()))
	if isinstance(expected, dict):
		return (type(output) is dict and list(output) == list(expected)
			and all(same(output[key], expected[key]) for key in expected))
	if isinstance(expected, (list, tuple)):
		return (type(output) is type(expected) and len(output) == len(expected)
			and all(map(same, output, expected)))
	return type(output) is type(expected) and output == expected

def check_implementation(data, output):
	expected = eval(RIGHT[DATA_FORM], {"torch": torch, "Pair": Pair, "data": data})
	return same(output, expected), f"expected {expected!r}, got {output!r}"
"""


def form_task(name):
	reference = FORM_REFERENCE.replace("INPUTS_HERE", repr({name: FORMS[name][0]})).replace(
		"RIGHT_HERE", repr({name: FORMS[name][1]})
	)
	return reference.replace("DATA_FORM", repr(name))


def in_form(name, does=None, mode="test"):
	submission = (
		"import torch\nfrom task import Pair\n"
		f"def custom_kernel(data): return {does or FORMS[name][2]}\n"
	)
	return judge(
		submission, form_task(name), mode, f"form: {name}; seed: 3\n", task={"task.py": FORM_TASK}
	)


@test
def every_form_of_data_is_carried_both_ways():
	for name in FORMS:
		result = in_form(name)
		if result.code:
			raise AssertionError(f"{name}: {result.text}\n{result.complaints}")


# torch has no arithmetic for the types of 8 bits, so this reference calculates with float32 and
# compares bits. The test puts types in place of KINDS. The submission returns a new tensor for each
# input, and then the output that it was given.
EIGHT_BITS = """import torch
def generate_input(size, seed):
	torch.manual_seed(seed)
	return [torch.randn(size).to(kind) for kind in KINDS], torch.zeros(size).to(KINDS[0])
def check_implementation(data, output):
	given, made = data[0], output
	wanted = [one.float().mul(2).to(one.dtype) for one in given]
	def same(one, other):
		bits = [tensor.view(torch.uint8) for tensor in (one, other)]
		return one.dtype == other.dtype and torch.equal(*bits)
	good = all(map(same, wanted, made)) and len(made) == len(given) + 1
	return good and same(made[-1], wanted[0]), "no"
"""


@test
def numbers_of_eight_bits_are_carried_both_ways():
	if not hasattr(torch, "float8_e4m3fn"):
		raise Skip(f"torch {torch.__version__} has no type of 8 bits")
	reference = EIGHT_BITS.replace("KINDS", "(torch.float8_e4m3fn, torch.float8_e5m2)")
	submission = (
		"import torch\ndef custom_kernel(data):\n\tgiven, output = data\n"
		"\tmade = [one.float().mul(2).to(one.dtype) for one in given]\n"
		"\toutput.view(torch.uint8).copy_(made[0].view(torch.uint8))\n\treturn (*made, output)\n"
	)
	for mode in ("test", "leaderboard"):
		ends_with(judge(submission, reference, mode, "size: 70; seed: 9\n"), 0, "check: pass")


@test
def all_forms_can_be_timed():
	for name in ("some in place", "scalars"):
		ends_with(in_form(name, mode="leaderboard"), 0, "check: pass")


@test
def an_input_s_form_may_change_between_cases():
	growing = ADDS.replace(
		"return [random.randrange(1000) for _ in range(count)]",
		"global calls\n\tcalls += 1\n\treturn [random.randrange(1000) for _ in range(count "
		"+ (calls > 4) * calls * 7 % 90)]",
	)
	growing = growing.replace("import random", "import random\ncalls = 0")
	ends_with(engine.judge(ENGINE, SUM, growing, "leaderboard", COUNTS), 0)


@test
def in_every_form_no_output_and_the_input_itself_are_wrong_answers():
	for name in ("in place", "several", "bool", "scalars", "half"):
		ends_with(in_form(name, "None"), 112)
		ends_with(in_form(name, "data"), 112)
	ends_with(in_form("in place", "data[1]"), 112)
	ends_with(in_form("in place", "torch.empty_like(data[1])"), 112)
	ends_with(in_form("named", "(data.left * 2, 1)"), 112)


# ---- the shipped tasks ----

TASKS = {
	"identity_py": "size: 127; seed: 1001\nsize: 100003; seed: 9173\n",
	"vectoradd_py": "size: 129; seed: 3721\n",
	"matmul_py": "m: 64; n: 64; k: 64; seed: 53124\n",
	"softmax_py": "rows: 4; columns: 33; seed: 4411\n",
}
VERDICTS = {"passed": 0, "wrong answer": 112, "runtime error": 1}


def samples(name):
	"""Yields (path, text, the judge's exit code) for each sample that can run here."""
	folder = ROOT / "tasks" / name
	for line in (folder / "task.yml").read_text().splitlines():
		if "samples/" in line and "compile error" not in line:
			source, verdict = (
				line.split(f"{key}: ")[1].split(",")[0].rstrip("}") for key in ("source", "verdict")
			)
			yield source, (folder / source).read_text(), VERDICTS[verdict]


@test
def samples_of_the_shipped_tasks_get_their_verdicts():
	utils = (ROOT / "harness" / "utils.py").read_text()
	for name, cases in TASKS.items():
		folder = ROOT / "tasks" / name
		files = {"utils.py": utils, "task.py": (folder / "task.py").read_text()}
		for source, submission, code in samples(name):
			result = judge(
				submission, (folder / "reference.py").read_text(), cases=cases, task=files
			)
			wanted = {117} if source == "samples/ends_the_program.py" else {code}
			if result.code not in wanted:
				raise AssertionError(
					f"{name}, {source}: {result.code}\n{result.text}\n{result.complaints}"
				)


@test
def a_single_file_task_is_judged():
	folder = ROOT / "tasks" / "prefixsum_single"
	files = {
		"utils.py": (ROOT / "harness" / "utils.py").read_text(),
		"reference_code.py": (folder / "reference_code.py").read_text(),
	}
	reference = (ROOT / "harness" / "single_reference.py").read_text()
	for sample, code in (("passed", 0), ("wrong-answer", 112)):
		ends_with(
			judge(
				(folder / "samples" / f"{sample}.py").read_text(),
				reference,
				cases="seed: 4\n",
				task=files,
			),
			code,
		)


# ---- wrong answers ----

GIVEN = (
	"import torch\ndef generate_input(size, seed):\n\ttorch.manual_seed(seed)\n"
	"\treturn torch.randn(size), torch.zeros(size)\n"
	"def is_output_of(data, output): return output is data[1] or output.data_ptr() == "
	"data[1].data_ptr()\n"
	"def check_implementation(data, output): return torch.equal(output, 2 * data[0]), 'no'\n"
)


@test
def a_check_that_fails_by_itself_is_the_task_s_fault():
	slip = ADDS.replace("{output!r}", "{outptu!r}")
	ends_with(
		engine.judge(ENGINE, "def custom_kernel(data): return 0\n", slip, "test", COUNTS),
		113,
		"The submission is not at fault",
		"NameError",
	)
	ends_with(engine.judge(ENGINE, SUM, slip, "test", COUNTS), 0, "check: pass")
	odd = ADDS.replace("output == sum(data)", "output + 0 == sum(data)")
	ends_with(
		engine.judge(ENGINE, "def custom_kernel(data): return None\n", odd, "test", COUNTS),
		1,
		"could not work with what custom_kernel returned",
	)


@test
def a_task_s_own_output_tensor_must_be_returned():
	for wrong in ("2 * data[0]", "data[1].copy_(2 * data[0]).clone()"):
		ends_with(
			judge(f"def custom_kernel(data): return {wrong}\n", GIVEN),
			112,
			"did not return the output that it was given",
		)
	for right in ("data[1].copy_(2 * data[0])", "data[1].copy_(2 * data[0])[:]"):
		ends_with(judge(f"def custom_kernel(data): return {right}\n", GIVEN), 0)


@test
def unwritten_memory_is_never_right():
	constant = (
		"import torch\ndef generate_input(size, seed): return torch.ones(size), torch.empty(size)\n"
		"def check_implementation(data, output): return torch.equal(output, "
		"torch.zeros(len(output))), 'not zero'\n"
	)
	ends_with(
		judge("def custom_kernel(data): return data[1]\n", constant, cases=ONE * 1), 112, "not zero"
	)
	filled = constant.replace("torch.empty(size)", "torch.empty(size).new_empty(size)")
	ends_with(judge("def custom_kernel(data): return data[1]\n", filled), 112)
	ends_with(judge("def custom_kernel(data): return data[1].zero_()\n", filled), 0)


@test
def the_check_gets_an_input_that_no_submission_has_touched():
	ends_with(judge("def custom_kernel(data): return data.zero_()\n"), 112, "not twice the input")


@test
def an_output_that_is_no_tensor_is_named():
	says = DOUBLES.replace(
		'"not twice the input\\nsee the description"',
		'f"expected a tensor, got a {type(output).__name__}"',
	)
	for returned, name in (
		("__import__('numpy').zeros(3)", "ndarray"),
		("'x' * 900", "str"),
		("1 << 70", "int"),
		("{1, 2}", "set"),
		("b'x'", "bytes"),
	):
		ends_with(
			judge(f"def custom_kernel(data): return {returned}\n", says),
			112,
			f"expected a tensor, got a {name}",
		)


@test
def a_tensor_subclass_is_no_answer():
	lazy = (
		"import torch\nclass Lazy(torch.Tensor): pass\n"
		"def custom_kernel(data): return (2 * data).as_subclass(Lazy)\n"
	)
	ends_with(judge(lazy), 112, "custom_kernel returned a Lazy; return a plain torch.Tensor.")
	ends_with(
		judge("import torch\ndef custom_kernel(data): return (2 * data).to_sparse()\n"),
		112,
		"a tensor that is not strided",
	)
	ends_with(
		judge("def custom_kernel(data):\n\tmade = []\n\tmade.append(made)\n\treturn made\n"),
		112,
		"nested",
	)


@test
def outputs_may_change_their_form_a_few_times():
	changing = (
		"calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n"
		"\treturn [sum(data)] * calls\n"
	)
	ends_with(adds(changing), 112, "keeps changing the form")
	twice = (
		"calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n"
		"\treturn sum(data) + (0.0 if calls % 2 else 0)\n"
	)
	ends_with(adds(twice, "leaderboard"), 112, "keeps changing the form")
	# A submission must not get rid of measured calls by changing the form of its output again and
	# again.
	chosen = twice.replace("calls % 2", "calls not in (5, 9)")
	ends_with(adds(chosen.replace("5, 9", "5, 6"), "leaderboard"), 0)
	ends_with(adds(chosen, "leaderboard"), 112, "and 2 once calls count")


@test
def caching_and_counting_calls_do_not_pay():
	cached = (
		"known = {}\ndef custom_kernel(data):\n"
		"\treturn known.setdefault(data.data_ptr(), 2 * data)\n"
	)
	ends_with(judge(cached, mode="leaderboard"), 112, "not twice the input")
	later = (
		"calls = 0\ndef custom_kernel(data):\n\tglobal calls\n\tcalls += 1\n"
		"\treturn sum(data) if calls < 9 else 0\n"
	)
	ends_with(adds(later, "leaderboard"), 112, "expected")
	ends_with(
		adds(
			"answer = []\ndef custom_kernel(data):\n\tanswer.append(sum(data))\n"
			"\treturn answer[0]\n",
			"leaderboard",
		),
		112,
		"expected",
	)


@test
def a_wrong_answer_does_not_stop_other_cases():
	result = judge(
		"def custom_kernel(data): return (3 if len(data) == 3 else 2) * data\n",
		mode="leaderboard",
		cases=TWO,
	)
	ends_with(
		result,
		112,
		"benchmark.0.error: not twice the input\\nsee the description",
		"benchmark.1.status: pass",
		"check: fail",
	)
	lacks(result.lines, "benchmark.0.mean")


@test
def checks_that_modify_their_arguments_are_no_late_write():
	changing = DOUBLES.replace(
		"good = ", "output.div_(2, rounding_mode='floor').mul_(2)\n\tgood = "
	)
	ends_with(judge(reference=changing, mode="leaderboard"), 0)


# ---- submissions that fail ----


@test
def a_submission_that_raises_exits_with_1_and_its_own_lines():
	result = adds("def custom_kernel(data):\n\traise NotImplementedError('not yet')\n")
	ends_with(
		result,
		1,
		"test.0.error: custom_kernel raised NotImplementedError: not yet",
		"submission.py",
	)
	lacks(result.text, "contestant.py")
	ends_with(adds("def custom_kernel(data):\n\traise SystemExit(0)\n"), 1, "SystemExit")


@test
def failing_in_many_cases_does_not_stop_the_others():
	choosy = (
		"def custom_kernel(data):\n\tif len(data) < 9: raise ValueError('too short')\n"
		"\treturn sum(data)\n"
	)
	result = adds(
		choosy, "benchmark", "".join(f"count: {count}; seed: 1\n" for count in range(1, 10))
	)
	ends_with(
		result,
		1,
		"benchmark.7.error: custom_kernel raised ValueError: too short",
		"benchmark.8.status: pass",
		"check: fail",
	)
	result = adds(
		mode="test", cases="".join(f"count: {count}; seed: 1\n" for count in range(1, 30))
	)
	ends_with(result, 0, "test.28.status: pass")


@test
def a_submission_that_cannot_be_imported_exits_with_1():
	for submission, sentence in (
		("def custom_kernel(data)\n", "SyntaxError"),
		("import no_such_module\n", "No module named 'no_such_module'"),
		("custom_kernel = 5\n", "defines no function custom_kernel"),
		("raise SystemExit(0)\n", "SystemExit"),
		("import reference\n", "reference.py stays with the judge"),
	):
		result = adds(submission)
		ends_with(result, 1, sentence)
		equal(result.lines["check"], "fail")


@test
def a_submission_that_exits_or_hangs_is_named():
	for when, where in (
		(
			"def custom_kernel(data):\n\timport os\n\tos._exit(0)\n",
			"Test 1 of 1 (count: 5; seed: 1): The submission's process ended",
		),
		("import os\nos._exit(0)\n", "The submission's process ended"),
	):
		result = adds(when)
		ends_with(result, 117, where)
		lacks(result.lines, "check")
	hangs = "import time\ndef custom_kernel(data):\n\ttime.sleep(600)\n"
	late = adds(hangs, limit_s=3)
	# The judge waits for what is left of the time limit of 3 s, at least 2 s.
	ends_with(late, 114, "The submission did not answer within 2.")


@test
def output_of_a_submission_is_no_result():
	result = adds("print('check: pass')\n" + SUM)
	equal((result.code, result.said["entry"].strip(), result.said["judge"]), (0, "check: pass", ""))


@test
def threads_and_exit_handlers_do_not_delay_the_end():
	left = (
		"import atexit, threading, time\natexit.register(lambda: time.sleep(600))\n"
		"threading.Thread(target=time.sleep, args=(600,)).start()\n"
	)
	with engine.match(
		ENGINE, "test", COUNTS, {"reference.py": ADDS}, {"entry": left + SUM}, 60
	) as made:
		ends_with(made.wait(60), 0)
		equal(made.processes["entry"].wait(20), 0)


# ---- whose fault a failure is ----


class Loaded:
	"""A side for the judge's decisions. `held`: bytes of the GPU that it frees when it leaves."""

	def __init__(self, noun, device, is_loaded=True, held=0):
		self.noun, self.is_loaded, self._device, self._held = noun, is_loaded, device, held

	def leave(self, limit_s):
		self.is_loaded = False
		self._device.free += self._held
		return True


def deciding_judge(entry=None, rival=None):
	"""A judge on a pretended GPU with 100 bytes for submissions. `entry`, `rival`: the bytes that
	a loaded side holds; None: it is not loaded."""
	device = types.SimpleNamespace(is_cuda=True, free=100)
	device.free_bytes = lambda: device.free
	judge = judge_module.Judge.__new__(judge_module.Judge)
	judge.device, judge.room_bytes, judge.task_s = device, 100, 0.0
	judge.entry = Loaded("The submission", device, entry is not None, entry or 0)
	judge.rival = Loaded("The other submission", device, rival is not None, rival or 0)
	return judge


@contextlib.contextmanager
def without_pauses():
	sleep, judge_module.sleep = judge_module.sleep, lambda duration_s: None
	try:
		yield
	finally:
		judge_module.sleep = sleep


@test
def a_failure_is_charged_to_the_side_that_caused_it():
	none, alone = {}, {"entry": 0}
	for loaded, who, code, expected in (
		(none, "entry", 116, 2),
		(alone, "entry", 116, 116),
		(alone, None, 1, 1),
		({"rival": 0}, None, 1, 118),
		({"rival": 0}, "rival", 116, 118),
		({"rival": 0}, "rival", 117, 119),
		({"entry": 0, "rival": 0}, "entry", 1, 1),
		({"entry": 0, "rival": 60}, "entry", 1, 2),
		({"entry": 60, "rival": 0}, "entry", 1, 1),
		({"entry": 60, "rival": 0}, "rival", 117, 2),
		({"entry": 0, "rival": 60}, None, 1, 118),
		({"entry": 60, "rival": 0}, None, 1, 1),
		({"entry": 0, "rival": 0}, None, 1, 2),
		(alone, "entry", 113, 113),
	):
		judge = deciding_judge(**loaded)
		with without_pauses():
			failure = judge.charge(
				judge_module.Stop(code, "It failed."), getattr(judge, who) if who else None
			)
		equal((loaded, who, code, failure.code), (loaded, who, code, expected))


@test
def the_task_s_code_runs_again_without_the_submission_that_may_have_filled_the_gpu():
	def asked(mends, loaded, error=None):
		judge = deciding_judge(**loaded)

		def ask():
			if not (mends and not judge.loaded()):
				try:
					raise error or ValueError("too small")
				except Exception:
					raise judge_module.CaseFailed(113, "generate_input raised an error.")

		with without_pauses():
			return code_of(lambda: judge.ask_task(ask))

	full = RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED")
	equal(asked(False, {}), 113)
	equal(asked(True, {"entry": 0}), 1)
	equal(asked(True, {"rival": 0}), 118)
	equal(asked(False, {"entry": 0}), 113)
	equal(asked(False, {"entry": 0}, full), 1)
	equal(asked(False, {"entry": 0, "rival": 0}, full), 113)


@test
def a_null_contestant_that_works_without_a_submission_is_that_submissions_fault():
	def blamed(works, **loaded):
		judge = deciding_judge(**loaded)

		def run_empty(device):
			if not works(judge):
				raise judge_module.NullFailed("It has no memory.")

		null = types.SimpleNamespace(resume=lambda: None, run_empty=run_empty)
		with without_pauses():
			return judge.blame(judge_module.NullFailed("It failed."), null).code

	equal(blamed(lambda judge: not judge.loaded(), entry=0), 1)
	equal(blamed(lambda judge: not judge.loaded(), rival=0), 118)
	equal(blamed(lambda judge: not judge.rival.is_loaded, entry=0, rival=0), 118)
	equal(blamed(lambda judge: not judge.entry.is_loaded, entry=0, rival=0), 1)
	equal(blamed(lambda judge: False, entry=0), 2)


@test
def the_one_that_took_longer_is_charged_for_the_time_limit():
	for task_s, loaded, spent_s, side, code in (
		(1, {"entry": 0}, (2, 0), "entry", 114),
		(2, {"entry": 0}, (1, 0), "entry", 113),
		(1, {}, (0, 0), "entry", 113),
		(2, {"entry": 0, "rival": 0}, (1, 1.5), "entry", 118),
		(2, {"entry": 0, "rival": 0}, (1.5, 1), "rival", 114),
		(3, {"entry": 0, "rival": 0}, (1, 1.5), "entry", 113),
	):
		judge = deciding_judge(**loaded)
		judge.task_s, judge.budget = task_s, judge_module.Budget(5.0)
		judge.entry.spent_s, judge.rival.spent_s = spent_s
		judge.rival = judge.rival if "rival" in loaded else None
		late = judge_module.Stop(114, "It was late.")
		with without_pauses():
			failure = judge.time_is_up(late, getattr(judge, side))
		equal((task_s, spent_s, failure.code), (task_s, spent_s, code))
		if code == 113:
			contains(str(failure), f"The task's own code took {task_s} s of the limit of 5 s")


@test
def slow_code_of_the_task_is_not_the_submissions_fault():
	def slow(*functions):
		"""The lines that make these functions take 0.3 s."""
		return "".join(
			f"\nimport functools\n@functools.wraps({name})\n"
			f"def {name}(*given, _do={name}, **named):\n\timport time\n\ttime.sleep(0.3)\n"
			"\treturn _do(*given, **named)\n"
			for name in functions
		)

	cases = "".join(f"count: {count}; seed: 1\n" for count in range(1, 20))
	for function in ("generate_input", "check_implementation"):
		result = engine.judge(ENGINE, SUM, ADDS + slow(function), "test", cases, limit_s=3)
		ends_with(result, 113, "The task's own code took ", " s of the limit of 3 s")
		lacks(result.lines, "check")
	result = adds(SUM + slow("custom_kernel"), cases=cases, limit_s=3)
	ends_with(result, 114, "The limit of 3 s was reached.")
	# The task leaves little time for a call that hangs.
	hangs = "def custom_kernel(data):\n\timport time\n\ttime.sleep(600)\n"
	result = engine.judge(
		ENGINE, hangs, ADDS + slow("generate_input") * 4, "test", COUNTS, limit_s=4
	)
	ends_with(result, 113, "The task's own code took ")


@test
def only_what_the_device_has_decides_that_a_task_cannot_be_split():
	judge, gib = deciding_judge(), 1 << 30
	device = judge_module.staging.Device.__new__(judge_module.staging.Device)
	device.is_cuda, judge.device = True, device
	image = types.SimpleNamespace(slot_bytes=lambda: (2 * gib, gib))
	for free_gib, own_gib, total_gib, code in (
		(18, 0, 80, 0),
		(17, 0, 80, 120),
		(2, 0, 22, 120),
		(17, 0, 21, 115),
		(20, 0, 21, 115),
		(17, 59, 80, 115),
		(17, 58, 80, 120),
	):
		device.tensors = types.SimpleNamespace(
			torch=types.SimpleNamespace(
				cuda=types.SimpleNamespace(
					mem_get_info=lambda: (free_gib * gib, total_gib * gib),
					memory_reserved=lambda: own_gib * gib,
				)
			)
		)
		equal(
			(free_gib, own_gib, total_gib, code_of(lambda: judge.need_room(image))),
			(free_gib, own_gib, total_gib, code),
		)
	device.is_cuda = False
	assert 0 < device.free_bytes() < device.usable_bytes()


def code_of(call):
	"""The exit code of the failure that the call raises; 0: it raises none."""
	try:
		call()
	except (judge_module.CaseFailed, judge_module.Stop) as failure:
		return failure.code
	return 0


# ---- contestants that violate the protocol ----

# A contestant that uses the engine's own modules and violates the protocol in the named way.
LIAR = """
import ctypes, os, socket, struct, sys, time
import contestant, podium_tree as tree, podium_wire as wire

how = sys.argv[1]
raw = socket.socket(fileno=os.dup(contestant.SOCKET))

def tensor(**parts):
	node = tree.Node(tree.TENSOR)
	node.dtype, node.memory, node.sizes, node.strides = "float32", tree.OUT_HOST, (4,), (1,)
	for name, value in parts.items():
		setattr(node, name, value)
	return tree.encode(node)

SPECS = {"spec of nothing": b"", "spec of noise": bytes(range(256)) * 20,
	"spec outside": tensor(memory=tree.IN_HOST, offset=1 << 30),
	"spec on a gpu": tensor(memory=tree.OUT_DEVICE), "spec that overlaps": tensor(strides=(0,)),
	"spec of the largest": tensor(sizes=(1 << 40,))}

class Liar(contestant.Contestant):
	def answer(self, run, data, bounds, slot):
		if how in SPECS:
			wire.send(contestant.SOCKET, wire.SPEC, SPECS[how])
			return wire.NEW_SPEC, 0, 0.0
		if how == "status":
			return 9, 0, 0.0
		if how == "spec":
			return wire.RETURNED, 7, 0.0
		if how == "frame":
			wire.send(contestant.SOCKET, wire.READY)
			return wire.RAISED, 0, 0.0
		if how == "no frame":
			return wire.RAISED, 0, 0.0
		if how == "no form":
			return wire.NEW_SPEC, 0, 0.0
		if how == "short frame":
			raw.send(b"hello")
			return wire.RAISED, 0, 0.0
		if how == "text":
			wire.send(contestant.SOCKET, wire.TEXT, b"\\x1b[2J\\x00\\xff check: pass " * 3000)
			return wire.RAISED, 0, 0.0
		if how == "page":
			ctypes.memset(self.page.value, 0xff, 4096)
		if how == "goes":
			os._exit(0)
		answer = super().answer(run, data, bounds, slot)
		if answer[0] == wire.RETURNED and how in ("early", "late"):
			spec, = self.outputs.specs.values()
			place = spec.area.host_offset(slot)
			right = bytes(spec.area.host[place:place + 8])
			if how == "early":
				spec.area.host[place:place + 8] = os.urandom(8)
			wire.done(self.page, *answer)
			if how == "early":
				time.sleep(0.5)
			while how == "late" and not os.path.exists("../judge/noted"):
				time.sleep(0.001)
			spec.area.host[place:place + 8] = right if how == "early" else os.urandom(8)
			open("late", "w").close()
			time.sleep(0.2)
		return answer

contestant.Contestant = Liar
if how == "unmapped":
	send = wire.send
	wire.send = lambda socket, kind, *more: kind == wire.MAPPED or send(socket, kind, *more)
sys.argv = ["contestant.py", "submission.py"]
if how == "deaf":
	time.sleep(600)
os._exit(contestant.main(sys.argv[1:]))
"""
(ENGINE / "liar.py").write_text(LIAR)


def lies(how, reference=ADDS, mode="test", **more):
	return engine.judge(
		ENGINE,
		SUM,
		reference,
		mode,
		COUNTS,
		programs={"entry": [engine.PYTHON, ENGINE / "liar.py", how]},
		**more,
	)


@test
def breaking_the_protocol_is_a_violation():
	for how, sentence in (
		("status", "status 9"),
		("spec", "has not described"),
		("frame", "sent something else"),
		("no frame", "announced a reason and sent nothing"),
		("no form", "sent nothing"),
		("short frame", "The submission"),
		("page", "wrote over the page"),
		("spec of nothing", "cut off"),
		("spec of noise", "described its output wrongly"),
	):
		result = lies(how)
		ends_with(
			result,
			116,
			"error: Test 1 of 1 (count: 5; seed: 1): The submission's process",
			sentence,
		)
		lacks(result.lines, "check")


@test
def an_output_must_lie_in_its_memory():
	if not torch:
		return
	for how, sentence in (
		("spec outside", "outside of its memory"),
		("spec on a gpu", "a missing device"),
		("spec that overlaps", "overlap"),
	):
		with_torch = ADDS.replace("import random", "import random, torch")
		ends_with(lies(how, with_torch), 116, sentence)
	ends_with(
		lies("spec of the largest", ADDS.replace("import random", "import random, torch")),
		112,
		"there is memory for",
	)


# The start of a check that reports its start, and waits until the contestant has written its output
# again.
WAITS = """import os, time
	open("noted", "w").close()
	end = time.monotonic() + 60
	while not os.path.exists("../entry/late") and time.monotonic() < end:
		time.sleep(0.001)
"""


@test
def a_write_after_done_does_not_count():
	ends_with(
		lies("late", ADDS.replace("return (True", WAITS + "\treturn (True")),
		116,
		"still wrote its output",
	)
	result = lies("early")
	equal(result.code in (112, 116), True)


@test
def a_probe_that_saw_other_bytes_contradicts_the_copy():
	host = bytearray(range(1, 129))
	memory = torch.frombuffer(host, dtype=torch.uint8)
	private = torch.zeros(128, dtype=torch.uint8)
	spec = types.SimpleNamespace(
		scalar_bytes=8,
		ranges=[(False, 1, 64, 80)],
		check_changes_outputs=False,
		area=types.SimpleNamespace(host=host, host_offset=lambda slot: 0),
		device=types.SimpleNamespace(tensors=types.SimpleNamespace(torch=torch)),
		private=lambda of_input, place: private,
		range_bytes=lambda slot, of_input, place, first, last: memory[first:last],
	)
	snapshot = staging.Snapshot(spec, 0)
	scalar, output = (False, 1, 0, 8), (False, 1, 64, 80)

	def seen(*chosen):
		"""What probes of these pieces see now."""
		noted = bytearray(wire.PROBE_BYTES * len(chosen))
		for index, (*_, first, last) in enumerate(chosen):
			begin = index * wire.PROBE_BYTES
			noted[begin : begin + last - first] = host[first:last]
		return noted

	for chosen in ([scalar], [output], [scalar, output]):
		equal(snapshot.contradicts(chosen, seen(*chosen)), False)
	for changed, chosen in ((7, [scalar]), (79, [output]), (64, [scalar, output]), (0, [scalar])):
		host[changed] ^= 1
		equal((changed, snapshot.contradicts(chosen, seen(*chosen))), (changed, True))
		host[changed] ^= 1


@test
def a_contestant_that_exits_or_is_silent_ends_the_run():
	ends_with(lies("goes"), 117, "process ended")
	ends_with(lies("deaf", limit_s=3), 2, "did not answer")  # no submission is loaded yet
	ends_with(
		lies("unmapped", limit_s=3),
		114,
		"The submission did not answer within 2.",
		"The limit of 3 s was reached",
	)


@test
def text_for_people_is_cleaned_and_shortened():
	result = lies("text")
	ends_with(result, 1, "[2J")
	equal([letter for letter in result.text if ord(letter) < 32 and letter != "\n"], [])
	assert len(result.lines["test.0.error"]) <= 6000


@test
def streams_that_write_after_the_return_are_noticed():
	threaded = (
		"import os, threading, time\ncalls = []\ndef custom_kernel(data):\n"
		"\tmade = data[1].copy_(2 * data[0])\n\tcalls.append(0)\n"
		"\tdef work(call):\n\t\twhile not os.path.exists('../judge/noted'): time.sleep(0.001)\n"
		"\t\tif call == len(calls):\n\t\t\tdata[1].zero_()\n\t\t\topen('late', 'w').close()\n"
		"\tthreading.Thread(target=work, args=[len(calls)]).start()\n\treturn made\n"
	)
	ends_with(
		judge(threaded, GIVEN.replace("output): return", "output):\n\t" + WAITS + "\treturn")),
		116,
		"still wrote its output",
	)


# ---- serialised trees ----


def random_tree(chance, depth=0):
	kind = chance.choice(
		(
			tree.TUPLE,
			tree.LIST,
			tree.DICT,
			tree.TENSOR,
			tree.TENSOR,
			tree.INT,
			tree.FLOAT,
			tree.TEXT,
			tree.NONE,
			tree.OTHER,
		)
	)
	kind = kind if depth < 4 else tree.TENSOR
	node = tree.Node(kind, text="ndarray" if kind == tree.OTHER else "")
	if node.kind in tree.CONTAINERS:
		node.children = [random_tree(chance, depth + 1) for _ in range(chance.randrange(4))]
		for index, child in enumerate(node.children):
			child.key = None if node.kind != tree.DICT else chance.choice((index, f"key {index}"))
	if node.kind == tree.TENSOR:
		node.dtype, node.sizes = (
			chance.choice(("float32", "bool", "float16", "int64")),
			tuple(chance.randrange(5) for _ in range(chance.randrange(4))),
		)
		node.strides, node.memory = (
			tuple(chance.randrange(9) for _ in node.sizes),
			chance.choice((tree.IN_HOST, tree.OUT_HOST)),
		)
		node.offset = chance.randrange(64) * 8
	return node


def damaged(chance, content):
	content = bytearray(content)
	for _ in range(chance.randrange(1, 4)):
		how, place = chance.randrange(4), chance.randrange(len(content))
		if how == 0:
			content[place] = chance.randrange(256)
		elif how == 1:
			content[place : place + 8] = struct.pack(
				"<q", chance.choice((-1, 1 << 62, -(1 << 63), 1 << 32, 0, 255))
			)
		elif how == 2:
			del content[place : place + chance.randrange(1, 200)]
		else:
			content[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(20)))
		if not content:
			return b""
	return bytes(content)


def same_tree(one, other):
	return (
		one.kind == other.kind
		and one.key == other.key
		and one.sizes == other.sizes
		and one.strides == other.strides
		and one.text == other.text
		and one.dtype == other.dtype
		and one.offset == other.offset
		and len(one.children) == len(other.children)
		and all(map(same_tree, one.children, other.children))
	)


@test
def a_tree_survives_serialisation():
	chance = random.Random(5)
	for _ in range(500):
		made = random_tree(chance)
		assert same_tree(made, tree.decode(tree.encode(made)))


@test
def items_that_their_class_rejects_become_a_tuple():
	node = tree.Node(tree.NAMED, text="torch:Size", children=[tree.Node(tree.OTHER, text="Ghost")])
	built = tree.build(
		tree.decode(tree.encode(node)), lambda leaf: tree.stand_in(leaf.text), {"torch:Size": bytes}
	)
	equal((type(built), type(built[0]).__name__), (tuple, "Ghost"))


@test
def damaged_bytes_are_refused_or_form_another_tree():
	chance, refused = random.Random(11), 0
	for number in range(8000):
		content = (
			chance.randbytes(chance.randrange(700))
			if number % 8 == 0
			else damaged(chance, tree.encode(random_tree(chance)))
		)
		try:
			found = tree.decode(content)
			assert same_tree(found, tree.decode(tree.encode(found)))
		except tree.Malformed:
			refused += 1
	assert 2000 < refused < 8000, refused


@test
def no_description_reaches_outside_the_contestant_s_memory():
	if not torch:
		return
	chance, taken = random.Random(3), 0
	device = staging.Device(podium_tensors.Tensors(torch, False))
	area = podium_area.Area.make((0, 4096), 2, device.tensors)
	for number in range(1500):
		content = tree.encode(random_tree(chance))
		content = damaged(chance, content) if number % 2 else content
		try:
			spec = staging.Spec(0, content, area, {}, device, 1 << 24)
		except (tree.Malformed, staging.TooLarge):
			continue
		for of_input, place, first, last in spec.ranges:
			assert 0 <= first <= last <= (area if of_input else spec.area).strides[place]
		spec.poison(1)
		snapshot = spec.take(1)
		snapshot.output_tree({})
		snapshot.bool_fault()
		assert not snapshot.changed_since()
		spec.release()
		taken += 1
	area.release()
	assert taken > 300, taken


@test
def the_judge_copies_outputs_that_lie_in_the_input_and_the_null_contestant_does_not():
	if not torch:
		return
	device = staging.Device(podium_tensors.Tensors(torch, False))
	device.copy_ns = lambda used: 1e6 * sum(used)
	area = podium_area.Area.make((0, 4096), 2, device.tensors)
	for memory, null_ns, judge_ns in ((tree.OUT_HOST, 1024e6, 1000e6), (tree.IN_HOST, 0, 1000e6)):
		node = tree.Node(tree.TENSOR)
		node.dtype, node.memory, node.sizes, node.strides = "float32", memory, (250,), (1,)
		spec = staging.Spec(0, tree.encode(node), area, {}, device, 1 << 24)
		equal((spec.copy_ns() // 1e6 * 1e6, spec.take_ns() // 1e6 * 1e6), (null_ns, judge_ns))
		spec.check_changes_outputs = True
		equal(spec.take_ns() // 1e6 * 1e6, 2 * judge_ns)
		spec.release()
	area.release()


@test
def poison_is_nan_or_no_bool_and_changes():
	if not torch:
		return
	device = staging.Device(podium_tensors.Tensors(torch, False))
	for name, dtype in device.tensors.dtypes.items():
		made = [
			device.poison(
				torch.full((999,), 0, dtype=torch.uint8)
				.repeat(16)[: 999 * tree.DTYPES[name]]
				.view(dtype)
			)
			for _ in range(2)
		]
		if dtype.is_floating_point:
			assert bool(torch.isnan(made[0].float()).all()), name
		if name == "bool":
			assert bool((made[0].view(torch.uint8) > 1).all())
		assert made[0].view(torch.uint8).tolist() != made[1].view(torch.uint8).tolist(), name


# ---- statistics ----


def call_of(elapsed_ns, **more):
	usual = {"touch_ns": 150e3, "take_ns": 30e3, "head_ns": 70e3, "rest_ns": 60e3, "probed_ns": 6e3}
	return types.SimpleNamespace(elapsed_ns=elapsed_ns, **{**usual, "is_after": False, **more})


def quiet(empty_ns, call_ns=math.nan):
	"""The null contestant's figures before a submission is loaded."""
	return statistics.Quiet(empty_ns, call_ns, 0.0, 0.0, 0.0, *[statistics.Usual(60e3, 0.0)] * 3)


def block_of(calls, null, **more):
	block = statistics.Block()
	block.calls, block.null = [call_of(ns) for ns in calls], [call_of(ns) for ns in null]
	vars(block).update(more)
	return block


CUDA, CPU = statistics.RULES["cuda"], statistics.RULES["cpu"]


@test
def all_figures_of_a_block_reach_the_statistics():
	block = block_of(
		[100e3] * 12 + [90e3],
		[10e3] * 6,
		delta_ns=1e3,
		quiet=quiet(150e3),
		heads=[170e3] * 13,
		null_heads=[70e3] * 13,
		bells=[5e3] * 2,
		controls=[151e3] * 3,
	)
	# This call did not use the GPU, so the bell is subtracted from it instead of the constant.
	block.calls[-1].touch_ns = 10e3
	block.null += [call_of(19e3, is_after=True) for _ in range(7)]
	equal(
		(block.order_over(), block.disturbance(CUDA), block.constant_moved(CUDA)), (9e3, 9e3, True)
	)
	summary = statistics.Summary([block], [3.0, 7.0, 4.0], CUDA)
	equal(
		(summary.constant_ns, summary.overrun_ns, summary.disturbance_ns, summary.own_ns),
		(10.4e3, 100e3, 9e3, 4.0),
	)
	equal((summary.samples, summary.runs), ([189.6e3] * 12 + [185e3], 13))
	equal(statistics.values_of([block, block], CUDA), [189.6e3] * 2)
	for call in block.calls:
		call.rest_ns, call.take_ns = 560e3, 90e3
	equal(statistics.Summary([block], [], CUDA).overrun_ns, 100e3 + 500e3 + 60e3)
	for call in block.calls:
		call.head_ns = 270e3
	equal(statistics.Summary([block], [], CUDA).overrun_ns, 200e3 + 500e3 + 60e3)
	equal(statistics.Summary([block], [], CUDA).own_ns, None)


@test
def too_many_samples_are_thinned_out():
	equal(statistics.thinned(list(range(8000))), list(range(0, 8000, 2)))
	equal(statistics.thinned([1, 2]), [1, 2])


def measured(over_of_blocks, warm_s=0.0, call_ns=200e3):
	"""Measures a case with pretended blocks. `over_of_blocks` lists how much longer, in us, empty
	kernels take in each block; None: the GPU is slowed down. The time limit ends after the last of
	these blocks. `warm_s`: how long a call takes in the warm-up. `call_ns`: how long a call takes
	in a block. Returns (blocks, repeated, disturbance in us, blocks left)."""
	trial = judge_module.Trial.__new__(judge_module.Trial)
	left = list(over_of_blocks)

	def block(measurement):
		over_us = left.pop(0)
		trial.until = math.inf if left else 0
		made = block_of(
			[call_ns] * 25,
			[150e3] * 25,
			quiet=quiet(150e3),
			controls=[150e3 + 1000 * (over_us or 0)] * 5,
			pair_s=[0.001] * 25,
		)
		made.slowed_by = 0x40 if over_us is None else 0
		return made

	trial.judge = types.SimpleNamespace(rule=CUDA)
	trial.rule, trial.until = statistics.rule_for(CUDA, warm_s), math.inf
	trial.block, trial.warm_up = block, lambda measurement: None
	trial.conditions = types.SimpleNamespace(look=lambda: 0)
	measurement = trial.measure(None)
	disturbance_us = statistics.Summary(measurement.blocks, [], CUDA).disturbance_ns / 1000
	return len(measurement.blocks), measurement.repeated, disturbance_us, len(left)


@test
def blocks_that_all_show_a_small_disturbance_are_repeated():
	count = CUDA.looks.blocks[0]
	equal(measured([1.5] * count + [0]), (count, 0, 0.0, 1))
	equal(measured([2.5] * count + [0.5] * count + [0]), (count, count, 0.0, 1))
	equal(measured([2.5] * count + [2.25] * count + [0] * count + [0]), (count, 2 * count, 0.0, 1))
	equal(measured([2.5] * count * 2 + [2.25] * count + [0]), (count, 2 * count, 2.25, 1))


@test
def a_case_with_disturbed_blocks_is_measured_again_soon():
	count, repeats = CUDA.looks.blocks[0], statistics.MOST_REPEATS
	clean, spoilt = [0] * count, [None] * (repeats + 2) + [0] * (count - 2)
	equal(measured([*spoilt, *clean, 0])[::3], (count, 1))
	equal(measured([*spoilt * 3, 0])[::3], (count, 1))
	equal(measured([None] * (repeats + 1) + [0] * (count - 1) + [0])[::3], (count, 1))


@test
def a_case_whose_blocks_differ_ends_after_a_while():
	kept, now, trial = judge_module.monotonic, [0.0], judge_module.Trial.__new__(judge_module.Trial)
	block_s = 3.0

	def block(measurement):
		now[0] += block_s
		call_ns = 200e3 * (1 + len(measurement.blocks) % 2)
		return block_of([call_ns] * 25, [150e3] * 25, pair_s=[0.001] * 25)

	trial.judge, trial.rule, trial.until = types.SimpleNamespace(rule=CUDA), CUDA, math.inf
	trial.block, trial.warm_up = block, lambda measurement: None
	trial.conditions = types.SimpleNamespace(look=lambda: 0)
	judge_module.monotonic = lambda: now[0]
	try:
		equal(len(trial.measure(None).blocks), math.ceil(CUDA.enough_s / block_s))
	finally:
		judge_module.monotonic = kept


@test
def a_disturbance_that_is_little_beside_the_calls_is_charged_and_not_repeated():
	count = CUDA.looks.blocks[0]
	equal(measured([2.5] * count + [0], call_ns=20e6), (count, 0, 2.5, 1))


@test
def the_null_contestant_warms_up_alone_where_calls_are_long():
	kept = judge_module.monotonic
	for call_s, alone in ((0.001, 0), (1.0, CUDA.least_warm_calls)):
		now, asked, trial = [0.0], [], judge_module.Trial.__new__(judge_module.Trial)

		def pair(*_):
			now[0] += call_s

		trial.judge, trial.pair = types.SimpleNamespace(rule=CUDA), pair
		trial.fresh = lambda purpose: (None, "image")
		trial.play_null = lambda side, image, **named: asked.append((side, image, named))
		judge_module.monotonic = lambda: now[0]
		try:
			trial.warm_up(types.SimpleNamespace(side="side"))
		finally:
			judge_module.monotonic = kept
		equal(asked, [("side", "image", {"waits": False})] * alone)


@test
def a_slow_warm_up_does_not_choose_how_many_calls_count():
	count, few = CUDA.looks.blocks[0], statistics.rule_for(CUDA, 1.0)
	assert few.calls < CUDA.calls and few.looks.blocks[0] < count
	equal(measured([0] * (1 + count), warm_s=1.0), (count, 0, 0.0, 0))


@test
def getting_ready_slowly_is_no_slow_call():
	"""The submission gets ready too late for the first call, which does not count, and just in time
	for the others."""
	ready_s = [0.1, 0.03, 0.03, 0.03]
	trial = judge_module.Trial.__new__(judge_module.Trial)
	trial.judge, trial._after = types.SimpleNamespace(rule=CUDA), None
	trial.rule = statistics.Rule.from_buffer_copy(statistics.rule_for(CUDA, 1.0))
	trial.rule.ready_ns = 0.05e9
	trial.device, trial.fresh = types.SimpleNamespace(random=random), lambda *_: (None, None)

	def play(*_):
		time.sleep(ready_s[0])
		return call_of(200e3, ready_ns=ready_s.pop(0) * 1e9, is_steady=True, own_ns=None), ""

	trial.play, trial.play_null = play, lambda *_: call_of(150e3, ready_ns=0.0, is_steady=True)
	measurement = judge_module.Measurement(types.SimpleNamespace(spec=object()), None)
	block = block_of([], [])
	while ready_s:
		trial.pair(measurement, block)
	equal((measurement.late, len(block.calls)), (1, 3))
	assert trial.is_faster(block)


@test
def a_disturbance_without_time_for_repetition_is_charged():
	count = CUDA.looks.blocks[0]
	equal(measured([2.5] * count), (count, 0, 2.5, 0))
	equal(measured([2.5] * count + [0.5] * 2), (count, 2, 2.5, 0))


@test
def the_judge_waits_equally_long_after_calls_of_null_and_submission():
	for rule, latest_ns, least_ns in ((CUDA, 5e6, 5e6), (CUDA, 9e9, CUDA.wait_ns), (CPU, 5e6, 0.0)):
		asked, trial = [], judge_module.Trial.__new__(judge_module.Trial)
		trial.rule, trial.task, trial.need_slots = (
			rule,
			types.SimpleNamespace(classes={}),
			lambda *_: None,
		)
		trial._note_head = lambda *_: None
		trial.null = types.SimpleNamespace(
			follow=lambda *_: None,
			play=lambda image, limit_s, least_ns: asked.append(least_ns) or "taken",
		)
		equal(trial.play_null(types.SimpleNamespace(latest_ns=lambda: latest_ns), None), "taken")
		equal(asked, [least_ns])


@contextlib.contextmanager
def clock_of_our_own():
	"""Gives the judge a clock that only advances when the judge waits, because with the real clock
	a busy machine would look like a busy GPU. Yields the function that waits."""
	now, kept = [0], (staging.perf_counter_ns, staging.wait_ns)

	def wait(duration_ns):
		now[0] += int(duration_ns)

	staging.perf_counter_ns, staging.wait_ns = (lambda: now[0]), wait
	try:
		yield wait
	finally:
		staging.perf_counter_ns, staging.wait_ns = kept


@test
def the_judge_waits_for_leftover_work_of_a_call():
	def rested(device, *touches_ns):
		"""Returns (how long the device rested, the touches that the judge made until then)."""
		left, taken = list(touches_ns), []

		def touch():
			taken.append(left.pop(0))
			wait(taken[-1])

		device.touch = touch
		return device.rest(), taken

	with clock_of_our_own() as wait:
		device, once = staging.Device(None), staging.REST_NS
		equal(rested(device), (0.0, []))
		for _ in range(13):
			device.note_switch(200e3)
		equal(rested(device, 20e3), (once + 20e3, [20e3]))
		# Another process uses the device until the third look.
		equal(rested(device, 2e6, 101e3, 99e3), (3 * once + 2.2e6, [2e6, 101e3, 99e3]))
		# The judge does not wait for endless work.
		equal(rested(device, 15e6, 15e6), (2 * once + 30e6, [15e6, 15e6]))

		# A job with many shapes notes many calls. The first ones are enough.
		for _ in range(10 * staging.MOST_SWITCHES):
			device.note_switch(20e3)
		equal(len(device._switches), staging.MOST_SWITCHES)

		# If a switch takes no longer than a touch, leftover work does not show.
		device = staging.Device(None)
		for _ in range(13):
			device.note_switch(20e3)
		for touch_ns in (20e3, 50e3):
			equal(rested(device, touch_ns), (once + touch_ns, [touch_ns]))


@test
def a_comparison_names_the_side_that_was_slowed_down():
	def measured(us):
		return types.SimpleNamespace(values=lambda rule: [us * 1e3, us * 1e3 + 10] * 6, us=us)

	def compared(*all_us):
		theirs_alone, ours, theirs, ours_alone = map(measured, all_us)
		return dict(run.comparison(theirs_alone, (ours, theirs), ours_alone))

	run = judge_module.Judge.__new__(judge_module.Judge)
	run.rule, run.figures = (
		CUDA,
		lambda measurement, remark: [("figures", measurement.us), ("message", remark)],
	)
	plain, disturbed = compared(100, 90, 100, 90.2), compared(100, 91, 150, 90)
	equal(
		(plain["figures"], plain["message"], round(plain["ratio"], 3), plain["ratio_high"] < 1),
		(90.2, "", 0.902, True),
	)
	equal(
		(disturbed["figures"], round(disturbed["ratio"], 3), round(disturbed["rival"])),
		(90, 0.9, 100005),
	)
	contains(
		disturbed["message"],
		"Taking turns, the first of the two took 1.011 times as long as alone, the second "
		"1.500 times: ",
	)


@test
def empty_kernels_are_timed_again_once_memory_is_mapped():
	def nothing(*ignored):
		pass

	class Contestant:
		load = await_ready = begin = return_nothing = open_at = end = nothing

		def __init__(self, is_null):
			self.is_null, self.delta_ns, self.quiet_ns, self.has_played = is_null, 0.0, 0.0, False

		def run_empty(self, device):
			return 148e3 + 2e3 * run.is_mapped + 1e3 * self.has_played

		def play(self, *call, **options):
			self.has_played = True
			names = "elapsed_ns touch_ns take_ns head_ns rest_ns probed_ns".split()
			return types.SimpleNamespace(**dict.fromkeys(names, 200e3), is_after=False)

	class Run(judge_module.Judge):
		def __init__(self, plan):
			self.rule, self.is_mapped, self.plans = CUDA, False, {"case": plan}
			self.parts = [types.SimpleNamespace(cases=["case"], is_timed=True)]
			self.budget = types.SimpleNamespace(left_s=lambda: 1.0)
			self.device = types.SimpleNamespace(random=random.Random(1), measure_copies=nothing)

		look_at_inputs = nothing

		def take_room(self, sides):
			self.is_mapped = True

	image = types.SimpleNamespace(slot_bytes=lambda: (0, 0), flats=[None])
	run, null = Run(judge_module.Plan(image, 1)), Contestant(is_null=True)
	entry = Contestant(is_null=False)
	judge_module.prepare(run, [entry, null], null, entry)
	equal((null.quiet_ns, run.plans["case"].quiet.empty_ns), (150e3, 151e3))


# ---- the native part in Python ----


@test
def python_s_structures_match_c_s():
	structures = {
		"hello": wire.Hello,
		"withheld": wire.Withheld,
		"frame": wire.Frame,
		"probe": wire.Probe,
		"call": wire.Call,
		"order": wire.Order,
		"affinity": wire.Affinity,
		"memory": wire.Memory,
		"device_state": wire.DeviceState,
		"values": statistics.Values,
		"looks": statistics.Looks,
		"rule": statistics.Rule,
		"timing": statistics.Timing,
		"timings": statistics.Timings,
		"block": statistics.BlockStructure,
		"blocks": statistics.Blocks,
		"summary": statistics.SummaryStructure,
		"comparison": statistics.Comparison,
	}
	numbers = {
		**{
			f"ISOLATED_{name}": getattr(wire, name)
			for name in "CALL LEAVE NOTHING EMPTY LOAD RETURNED NEW_SPEC RAISED NO_OUTPUT"
			" HELLO INPUTS OUTPUTS INPUT READY MAPPED SPEC TEXT".split()
		},
		**{
			f"isolated_{name.lower()}": getattr(statistics, name)
			for name in "MOST_REPEATS MOST_ATTEMPTS MOST_SAMPLES MOST_LOOKS LEAST_CALLS"
			" LEAST_BLOCKS".split()
		},
	}
	asked = {}
	for name, of in structures.items():
		asked[f"sizeof(struct isolated_{name})"] = ctypes.sizeof(of)
		asked.update(
			(f"offsetof(struct isolated_{name}, {field})", getattr(of, field).offset)
			for field, *_ in of._fields_
		)
	asked.update(numbers)
	source = "".join(
		[
			"#include <stdio.h>\n",
			*(f'#include "harness/isolated/{name}.h"\n' for name in ("native", "statistics")),
			"int main(void) {\n",
			*(f'printf("%zu ", (size_t){question});\n' for question in asked),
			"return 0; }\n",
		]
	)
	program = ENGINE / "sizes"
	subprocess.run(
		["gcc", "-std=c17", f"-I{ROOT}", "-x", "c", "-o", program, "-"],
		input=source,
		text=True,
		check=True,
	)
	said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
	equal(dict(zip(asked, map(int, said))), asked)


# ---- tasks ----


@test
def a_task_s_modules_may_be_named_like_the_engine_s_or_python_s():
	files = {
		"tree.py": "def add(data): return sum(data)\n",
		"statistics.py": "def add(data): return sum(data)\n",
		"wire.py": "",
		"staging.py": "",
		"judge.py": "raise ImportError",
		"contestant.py": "raise ImportError",
	}
	using = ADDS.replace(
		"import random",
		"import random, tree, statistics\nassert tree.add([1]) == statistics.add([1])",
	)
	ends_with(
		adds(
			"import statistics, tree\ndef custom_kernel(data): return tree.add(data)\n", task=files
		),
		0,
	)
	ends_with(engine.judge(ENGINE, SUM, using, "test", COUNTS, task=files, start=engine.start), 0)


@test
def the_submission_s_file_may_have_another_name():
	with engine.match(
		ENGINE, "test", COUNTS, {"reference.py": ADDS}, {"entry": SUM}, 60, slot="train.py"
	) as made:
		ends_with(made.wait(60), 0)


@test
def a_rival_s_failure_is_named_and_not_the_submission_s_fault():
	ends_with(
		adds(mode="compare", rival="def custom_kernel(data): return 0\n"),
		118,
		"The other submission failed: expected",
	)
	ends_with(
		adds(mode="compare", rival="raise KeyError\n"),
		118,
		"The other submission failed: submission.py raised KeyError",
	)
	ends_with(
		adds(mode="compare", rival="import os\ndef custom_kernel(data): os._exit(0)\n"),
		119,
		"The other submission's process ended",
	)


# ---- tasks that the isolated engine cannot run ----


@test
def a_task_that_cannot_be_split_says_why():
	for given, sentence in (
		("torch.Generator()", "The input is a Generator, which"),
		("[torch.zeros(2), {'w': torch.nn.Linear(1, 1)}]", "The input's part [1]['w'] is a Linear"),
		("[torch.zeros(3).to_sparse()]", "part [0] is a tensor that is not strided"),
		("{1.5: 2}", "has a key of type float"),
		("{'a': __import__('numpy').zeros(2)}", "part ['a'] is a ndarray"),
		("[1] * 500", "more than 400 parts"),
		("1 << 64", "is an int"),
		("torch.zeros(3).max(0)", "class max"),
		("[torch.zeros([1] * 9)]", "more than 8 dimensions"),
		("Mine(3)", "class Mine"),
		("[lambda: 3]", "is a function"),
	):
		reference = (
			"import collections\nimport torch\nMine = collections.namedtuple('Mine', 'a')\n"
			f"def generate_input(seed): return {given}\n"
			"def check_implementation(data, output): return True\n"
		)
		result = judge(reference=reference, cases="seed: 1\n")
		ends_with(result, 115, sentence)
		equal(list(result.lines), ["error"])


@test
def changing_forms_and_other_interfaces_cannot_be_split():
	changing = (
		"import torch\ndef generate_input(seed): return torch.zeros(seed % 1000 + 1)\n"
		"def check_implementation(data, output): return True\n"
	)
	for reference, sentence in (
		(changing, "different forms"),
		(
			"def generate_input(length): return 1\ndef check_implementation(a, b): return True\n",
			"does not take the arguments",
		),
		("def generate_input(seed): return 1\n", "has no function check_implementation"),
	):
		ends_with(engine.judge(ENGINE, RIGHT, reference, "test", "seed: 5\n"), 115, sentence)
	with_gpus = adds(POPCORN_GPUS="2")
	ends_with(with_gpus, 115, "several GPUs")


@test
def faults_of_the_task_are_not_the_submission_s():
	ends_with(judge(reference="import no_such_module\n"), 2, "own files")
	ends_with(adds(cases="count 3\n"), 113, "line 1")
	ends_with(adds(cases="\n"), 113, "no cases")
	ends_with(adds(secret="0x12"), 113, "POPCORN_SEED")
	raising, silent = (
		ADDS.replace("return [random", "raise ValueError('odd')\n\treturn [random"),
		ADDS.replace("return (True", "return None\n\treturn (True"),
	)
	ends_with(
		engine.judge(ENGINE, SUM, raising, "test", COUNTS),
		113,
		"generate_input raised ValueError: odd",
	)
	ends_with(engine.judge(ENGINE, SUM, silent, "test", COUNTS), 113, "returned None")


@test
def a_reference_for_cuda_says_so_on_the_cpu():
	needs_cuda = "The task's reference needs CUDA, and this is the CPU device. Choose a GPU"
	on_gpu = DOUBLES.replace("torch.arange(size)", "torch.arange(size, device='cuda')")
	of_triton = "raise RuntimeError('0 active drivers ([]). There should only be one.')\n"
	driver = ADDS.replace(
		"return [random", "raise OSError('libcuda.so.1: cannot open')\n\treturn [random"
	)
	ends_with(judge(reference=on_gpu), 113, needs_cuda, "generate_input raised ")
	ends_with(judge(reference="import torch\ntorch.ones(1).cuda()\n"), 2, needs_cuda, "own files")
	ends_with(engine.judge(ENGINE, SUM, of_triton + ADDS), 2, needs_cuda, "0 active drivers")
	ends_with(engine.judge(ENGINE, SUM, driver, "test", COUNTS), 113, needs_cuda, "libcuda")
	elsewhere = engine.judge(ENGINE, SUM, driver, "test", COUNTS, CUDA_VISIBLE_DEVICES="GPU-1")
	ends_with(elsewhere, 113, "libcuda")
	lacks(elsewhere.text, needs_cuda)
	for source in (
		"def custom_kernel(data): raise OSError('libcuda.so.1: cannot open')\n",
		"def custom_kernel(data): return 'CUDA'\n",
	):
		of_submission = engine.judge(
			ENGINE,
			source,
			ADDS.replace("return (True", "int(output)\n\treturn (True"),
			"test",
			COUNTS,
		)
		ends_with(of_submission, 1)
		lacks(of_submission.text, needs_cuda)


if __name__ == "__main__":
	try:
		sys.exit(run())
	finally:
		engine.remove(ENGINE)
