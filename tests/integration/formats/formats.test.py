#!/usr/bin/env python3
"""Task folders of every form in use. The code that reads uploads reads them, and podium-run runs
them on the CPU."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "lib"), str(HERE.parent / "run")]
import folders  # noqa: E402
import tap  # noqa: E402
from folders import RAISING, RIGHT, RIGHT_BARE, WRONG, WRONG_WHEN_TIMED  # noqa: E402
from runner import CPU, GPU, NVCC, PYTHON, Runner  # noqa: E402
from tap import Skip, contains, equal, lacks, test, until  # noqa: E402
from tools import nvcc_lack  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
SECRET = 271828
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-formats-test."))
TWO_GPUS = {**GPU, "uuid": GPU["uuid"] + "," + GPU["uuid"].replace("0", "1")}

# ---- reading and running ----


def check(folder):
	"""The output of `podium-admin task check` for a folder or a zip."""
	return subprocess.run(
		[BUILD / "podium-admin", "task", "check", folder], capture_output=True, text=True
	)


def read(folder):
	"""The jobs for the templates of a folder, as podium-run gets them."""
	answer = check(folder)
	equal((answer.returncode, answer.stderr), (0, ""))
	answer = subprocess.run(
		[BUILD / "tests" / "integration" / "harness" / "test_jobs", folder],
		capture_output=True,
		text=True,
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	return [json.loads(line) for line in answer.stdout.splitlines()]


# All tasks share two runners: one starts a new interpreter for each program, the other forks
# programs from its zygote.
cold, warm = Runner(), Runner("--python", PYTHON)


class Task:
	"""A task folder that was read. These tests are about the evals, so its jobs use the custom
	engine unless a test asks for another engine."""

	def __init__(self, folder, engine="custom"):
		self.jobs = read(folder)
		self.engine, self.definition = engine or self.jobs[0]["engine"], self.jobs[0]["task"]
		self.files = self.jobs[0]["files"]

	def run(self, submission, mode="ranked", device=CPU, on=cold):
		message = {
			"id": 17,
			"mode": mode,
			"device": device,
			"task": self.definition,
			"files": self.files,
			"submission": {"name": "mine.py", "text": submission},
			"python": PYTHON,
			"nvcc": NVCC,
			"engine": self.engine,
		}
		if mode == "ranked":
			message["secret_seed"] = SECRET
		on.send({"job": message})
		return on.result()


@functools.lru_cache(None)
def folder_of(name):
	"""Writes the folder of a variant."""
	return folders.make(
		scratch / name,
		**{key: value for key, value in VARIANTS[name].items() if not key.startswith("_")},
	)


@functools.lru_cache(None)
def task_of(name):
	return Task(folder_of(name))


def fresh(**rest):
	return Task(folders.make(pathlib.Path(tempfile.mkdtemp(dir=scratch)), **rest))


def explain(result):
	logs = result.log("stdout")[-500:] + result.log("stderr")[-1500:]
	return f"{result.verdict}: {result.reason}\n{logs}{result.log('stderr', 2)[-1500:]}"


def expect(result, verdict, *parts):
	if result.verdict != verdict:
		raise AssertionError(f"expected {verdict}, got {explain(result)}")
	for part in parts:
		contains(result.reason, part)
	return result


def inputs(result, position=1):
	"""The arguments of each call of generate_input, in order."""
	return [
		line[7:].strip()
		for line in result.log("stdout", position).splitlines()
		if line.startswith("input: ")
	]


def cases(result, position):
	return [case for case in result.cases if case["position"] == position]


def near(got, wanted):
	"""Checks that the numbers are equal except for the rounding of sums."""
	if abs(got - wanted) > 1e-9 * abs(wanted):
		raise AssertionError(f"got {got!r}, expected {wanted!r}")


# ---- the variants ----

# The times of four runs alternate between 1 ns below and 1 ns above the mean. All deviations are
# 1 ns, so std = sqrt(4 / 3), and the harness reports std / sqrt(4) as the error. Podium makes 1.96
# errors half of the 95 % interval by Student's t.
STD, ERR = 1.1547005383792515, 0.5773502691896258
T_OF_FOUR, T_OF_FIVE = 3.182446305284263 / 1.96, 2.7764451051977987 / 1.96
FOUR = {"runs": 4, "std_ns": STD, "err_ns": ERR * T_OF_FOUR}
ONE = {"runs": 1, "std_ns": 0.0}
LEAST_NS = 5000.0  # counts in a score on the CPU device instead of a shorter time
WORDS, ANY_WORDS = r"[a-zA-Z]+|-?\d+", r"[a-zA-Z_]\w*|-?\d+"
IDENTIFIER = r"[a-zA-Z_]\w*"
LOWERCASE, CAPITALS = {"true": True, "false": False}, {"True": True, "False": False}
LISTS = r"\[[^\]]*\]|\([^)]*\)|[a-zA-Z]+|-?\d+"


def with_all(cases, **arguments):
	return [{**case, **arguments} for case in cases]


# {name: an eval, its traits, and keys of task.yml}. Keys that begin with an underscore give the
# expected outcome where it is unusual.
VARIANTS = {
	"a pool with a process for each GPU": dict(
		eval="pooled.py", KEY="[a-zA-Z_]+", POOL="POPCORN_GPUS", ranking_by="geom"
	),
	"a pool of one": dict(eval="pooled.py", LEADERBOARD_FAILS_WITH=0, ranking_by="geom"),
	"a pool of one and words in cases": dict(
		eval="pooled.py",
		ranking_by="mean",
		tests=with_all(folders.TESTS, distribution="normal"),
		benchmarks=with_all(folders.BENCHMARKS, distribution="cauchy"),
	),
	"a pool of one and a check that must return two": dict(
		eval="pooled.py", answers="message", _shows="the first is "
	),
	"no pool": dict(
		eval="alone.py", answers="text", _keeps_seeds=True, _extremes=False, _last_only=True
	),
	"no pool and much said": dict(
		eval="alone.py",
		answers="text",
		SAYS=("keys", "values"),
		LEADERBOARD_CHECKS=True,
		LEADERBOARD_FAILS_WITH=0,
		ranking_by="last",
		_keeps_seeds=True,
		_extremes=False,
		_last_only=True,
	),
	"identifiers and words of truth": dict(
		eval="pooled.py",
		KEY=IDENTIFIER,
		VALUE=ANY_WORDS,
		WORDS=LOWERCASE,
		ranking_by="geom",
		tests=with_all(folders.TESTS, top_k2="fp8_e4m3", offset=-3),
		benchmarks=with_all(folders.BENCHMARKS, top_k2="mxfp4", offset=0),
	),
	"an eval that reports what it catches": dict(
		eval="pooled.py", CATCHES=True, ranking_by="geom", _catches=True
	),
	"groups of fifty calls": dict(
		eval="pooled.py", GROUP=50, WARMS_ALL=True, CATCHES=True, ranking_by="geom", _catches=True
	),
	"lists in cases": dict(
		eval="pooled.py",
		KEY="[a-zA-Z_]+",
		VALUE=LISTS,
		LISTS=True,
		GROUP=15,
		WARMS_ALL=True,
		ranking_by="geom",
		tests=with_all(folders.TESTS, m=[1, 2, 3], g=[7]),
		benchmarks=with_all(folders.BENCHMARKS, m=[64, 128], g=[2]),
	),
	"an exit code that is always 0": dict(
		eval="pooled.py",
		KEY="[a-zA-Z_]+",
		VALUE=LISTS,
		LISTS=True,
		SKIPS_EMPTY=True,
		GREETS=True,
		RETURNS_CODE=False,
		ESCAPES=False,
		ranking_by="geom",
	),
	"groups in a pool, every output checked again": dict(eval="grouped.py", ranking_by="geom"),
	"groups in a pool with identifiers": dict(
		eval="grouped.py",
		KEY=IDENTIFIER,
		VALUE=ANY_WORDS,
		ranking_by="mean",
		tests=with_all(folders.TESTS, cond2="dense_2"),
		benchmarks=with_all(folders.BENCHMARKS, cond2="rank_1"),
	),
	"groups without a pool, one run each": dict(
		eval="grouped.py",
		KEY=IDENTIFIER,
		VALUE=ANY_WORDS,
		POOL=0,
		REPEATS={"benchmark": 1, "leaderboard": 1},
		ranking_by="geom",
		_figures=ONE,
		_means={100: 999.0, 400: 3999.0, 1600: 15999.0},
	),
	"replays of a recorded group": dict(eval="grouped.py", REPLAYS=3, ranking_by="geom"),
	"medians and figures of its own": dict(
		eval="bandwidth.py",
		KEY="[a-zA-Z_]+",
		VALUE="[a-zA-Z_]+|[0-9]+",
		helpers=False,
		answers="message",
		ranking_by="geom",
		_checks_timed=False,
		_any_seeds=True,
		_shows="the first is ",
		_figures={"runs": 5, "err_ns": 0.25 * T_OF_FIVE},
		_means={100: 1001.0, 400: 4001.0, 1600: 16001.0},
	),
}


def figures_of(name, size):
	"""The expected figures of a benchmark."""
	variant = VARIANTS[name]
	mean = variant.get("_means", {}).get(size, size * 10.0)
	return {**variant.get("_figures", FOUR), "mean_ns": mean}


def score_of(ranking_by, means):
	"""Computes the expected score: the last time, the arithmetic mean or the geometric mean."""
	if ranking_by == "mean":
		return (means[0] + means[1] + means[2]) / 3
	if ranking_by == "geom":
		return (means[0] * means[1] * means[2]) ** (1 / 3)
	return means[-1]


def combined(case_seed, seed):
	return case_seed + (case_seed + seed) * (case_seed + seed + 1) // 2


def as_python(name, case, seed):
	"""The arguments of generate_input that the eval must make from a case."""
	variant, arguments = VARIANTS[name], dict(case)
	if seed is not None and not variant.get("_keeps_seeds"):
		arguments["seed"] = combined(case["seed"], seed)
	return str(
		{
			key: tuple(value) if isinstance(value, list) else value
			for key, value in arguments.items()
		}
	)


def has_first_inputs(name, result, tests, seed):
	if not VARIANTS[name].get("_any_seeds"):
		equal(inputs(result)[: len(tests)], [as_python(name, case, seed) for case in tests])


def spec(case):
	return "; ".join(f"{key}: {value}" for key, value in case.items())


def passes_a_right_answer(name, on):
	variant = VARIANTS[name]
	ranking_by, tests = variant.get("ranking_by", "last"), variant.get("tests", folders.TESTS)
	timed = variant.get("benchmarks", folders.BENCHMARKS)[-1 if ranking_by == "last" else 0 :]
	result = expect(
		task_of(name).run(RIGHT if variant.get("helpers", True) else RIGHT_BARE, on=on), "passed"
	)
	has_first_inputs(name, result, tests, SECRET)
	equal(
		[(case["spec"], case["verdict"]) for case in cases(result, 1)],
		[(spec(case), "passed") for case in tests],
	)
	for case in cases(result, 1):
		contains(case["message"] + "|", variant.get("_shows", "|"))
	equal(
		[(case["index"], case["spec"], case["verdict"]) for case in cases(result, 2)],
		[(index, spec(case), "passed") for index, case in enumerate(timed)],
	)
	means = []
	for got, case in zip(cases(result, 2), timed):
		wanted = figures_of(name, case["size"])
		equal(
			{key: got[key] for key in wanted if key == "runs"},
			{key: wanted[key] for key in wanted if key == "runs"},
		)
		for key in wanted:
			near(got[key], wanted[key])
		equal(("best_ns" in got, "worst_ns" in got), (variant.get("_extremes", True),) * 2)
		means.append(max(wanted["mean_ns"], LEAST_NS))
	near(result.verdicts[0]["score_ns"], score_of(ranking_by, means))


def benchmarks_without_a_score(name, on):
	variant = VARIANTS[name]
	timed = variant.get("benchmarks", folders.BENCHMARKS)
	result = expect(
		task_of(name).run(
			RIGHT if variant.get("helpers", True) else RIGHT_BARE, "benchmark", on=on
		),
		"passed",
	)
	equal([case["spec"] for case in cases(result, 2)], [spec(case) for case in timed])
	lacks(result.verdicts[0], "score_ns")
	has_first_inputs(name, result, variant.get("tests", folders.TESTS), None)


def finds_a_wrong_answer(name, on):
	first = spec(VARIANTS[name].get("tests", folders.TESTS)[0])
	result = expect(
		task_of(name).run(WRONG, on=on),
		"wrong answer",
		f"Test 1 of 2 failed ({first}): mismatch found!",
	)
	equal([stage["stage"] for stage in result.stages], ["compile", "test"])
	equal(
		[(case["index"], case["verdict"]) for case in cases(result, 1)],
		[(0, "wrong answer"), (1, "wrong answer")],
	)
	contains(cases(result, 1)[0]["message"], "mismatch found!")
	contains(cases(result, 1)[0]["message"], " element 2: wanted ")


def finds_an_answer_that_is_wrong_when_timed(name, on):
	variant = VARIANTS[name]
	result = task_of(name).run(WRONG_WHEN_TIMED, on=on)
	if not variant.get("_checks_timed", True):
		return expect(result, "passed")  # the author's eval does not check timed answers
	expect(result, "wrong answer", "mismatch found!")
	equal([end["verdict"] for end in result.ends], ["passed", "passed", "wrong answer"])
	timed = variant.get("benchmarks", folders.BENCHMARKS)[
		-1 if variant.get("ranking_by", "last") == "last" else 0
	]
	if not variant.get("_last_only"):
		contains(result.reason, f"({spec(timed)})")
		equal(
			[(case["index"], case["verdict"]) for case in cases(result, 2)], [(0, "wrong answer")]
		)
	lacks(result.verdicts[0], "score_ns")


def tells_what_a_submission_raised(name, on):
	result = task_of(name).run(RAISING, "test", on=on)
	if VARIANTS[name].get("_catches"):
		expect(
			result,
			"wrong answer",
			"Encountered ZeroDivisionError: integer division or modulo by zero",
		)
		return
	expect(
		result,
		"runtime error",
		"ZeroDivisionError: integer division or modulo by zero",
		"in test 1 of 2",
	)
	equal([case["verdict"] for case in cases(result, 1)], ["runtime error"])


# Variants whose raising submission also runs through the zygote. More variants would only take
# time.
RAISE_ON_BOTH = ("a pool of one", "no pool", "groups without a pool, one run each")
for each in VARIANTS:
	for act in (
		passes_a_right_answer,
		benchmarks_without_a_score,
		finds_a_wrong_answer,
		finds_an_answer_that_is_wrong_when_timed,
		tells_what_a_submission_raised,
	):

		def variant_test(act=act, name=each):
			act(name, cold)
			if act is passes_a_right_answer or (
				act is tells_what_a_submission_raised and name in RAISE_ON_BOTH
			):
				act(name, warm)

		variant_test.__name__ = f"{each}: {act.__name__}"
		test(variant_test)


@test
def the_warm_runner_forks_from_its_zygote():
	telling = RIGHT + "import sys\nprint('preloaded' if 'numpy' in sys.modules else 'alone')\n"
	task = fresh(eval="alone.py", answers="text")
	# The zygote may still be importing.
	until(lambda: "preloaded\n" in expect(task.run(telling, "test", on=warm), "passed").log())


# ---- seeds ----


@test
def a_task_s_own_seed_is_used_in_public_runs_and_the_secret_one_in_ranked_runs():
	task = fresh(eval="pooled.py", seed=7, ranking_by="geom")
	sizes = [case["size"] for case in folders.TESTS]
	for mode, seed in (("test", 7), ("benchmark", 7), ("ranked", SECRET)):
		result = expect(task.run(RIGHT, mode), "passed")
		equal(
			inputs(result),
			[
				str({"size": size, "seed": combined(case["seed"], seed)})
				for size, case in zip(sizes, folders.TESTS)
			],
		)
		equal(
			[case["spec"] for case in cases(result, 1)], ["size: 3; seed: 5", "size: 8; seed: 6635"]
		)


@test
def combined_seeds_follow_the_formula():
	equal(
		(combined(5, 7), combined(6635, 7)), (83, 22068038)
	)  # 5 + 12 * 13 / 2; 6635 + 6642 * 6643 / 2
	result = expect(fresh(eval="grouped.py", seed=7).run(RIGHT, "test"), "passed")
	equal(inputs(result), ["{'size': 3, 'seed': 83}", "{'size': 8, 'seed': 22068038}"])


@test
def without_a_seed_the_eval_gets_none():
	result = expect(fresh(eval="pooled.py", seed="null").run(RIGHT, "test"), "passed")
	equal(inputs(result), ["{'size': 3, 'seed': 5}", "{'size': 8, 'seed': 6635}"])


# ---- cases ----


def lines_of(*tests):
	return fresh(eval="alone.py", tests=tests).definition["tests"]


@test
def case_values_are_written_as_python_writes_them():
	equal(
		lines_of(
			{"size": 128, "seed": 5},
			{
				"a": -3,
				"b": 1.5,
				"c": 1e-05,
				"d": "word",
				"e": [1, 2],
				"f": [],
				"g": None,
				"h": ["x", 1],
			},
		),
		[
			"size: 128; seed: 5",
			"a: -3; b: 1.5; c: 1e-05; d: word; e: [1, 2]; f: []; g: None; h: ['x', 1]",
		],
	)


@test
def false_is_false_for_every_reader():
	tests = with_all(folders.TESTS, masked=False, biased=True)
	reading = dict(KEY="[a-zA-Z_]+", VALUE=WORDS, tests=tests)
	for changes, written, read in (
		({"eval": "pooled.py"}, "masked: 0; biased: 1", "'masked': 0, 'biased': 1"),
		(
			{"eval": "alone.py", "answers": "text"},
			"masked: 0; biased: 1",
			"'masked': 0, 'biased': 1",
		),
		(
			{"eval": "pooled.py", "WORDS": LOWERCASE},
			"masked: false; biased: true",
			"'masked': False, 'biased': True",
		),
		(
			{"eval": "pooled.py", "WORDS": CAPITALS},
			"masked: False; biased: True",
			"'masked': False, 'biased': True",
		),
	):
		task = fresh(**reading, **changes)
		equal(task.definition["tests"][0], "size: 3; seed: 5; " + written)
		equal(
			inputs(expect(task.run(RIGHT, "test"), "passed"))[0],
			"{'size': 3, 'seed': 5, " + read + "}",
		)


@test
def text_that_looks_like_a_tuple_becomes_a_tuple():
	tests = with_all(folders.TESTS, shape="(16, 32)")
	result = expect(
		fresh(eval="pooled.py", KEY="[a-zA-Z_]+", VALUE=LISTS, LISTS=True, tests=tests).run(
			RIGHT, "test"
		),
		"passed",
	)
	equal(inputs(result)[0], "{'size': 3, 'seed': 5, 'shape': (16, 32)}")


@test
def a_case_that_the_eval_cannot_read_is_the_tasks_fault():
	for values in ({"k2": 1}, {"scale": 0.5}, {"m": [1, 2]}):
		task = fresh(eval="pooled.py", tests=with_all(folders.TESTS, **values))
		result = expect(
			task.run(RIGHT, "test"), "internal error", "exit code 113", "invalid test case"
		)
		contains(result.reason, spec(values))


# ---- which cases are timed ----


@test
def with_ranking_by_last_a_ranked_run_times_one_case_and_a_benchmark_all():
	task = fresh(eval="pooled.py", ranking_by="last")
	for mode, timed in (("benchmark", folders.BENCHMARKS), ("ranked", folders.BENCHMARKS[-1:])):
		result = expect(task.run(RIGHT, mode), "passed")
		equal(
			[(case["index"], case["spec"]) for case in cases(result, 2)],
			[(index, spec(case)) for index, case in enumerate(timed)],
		)
		equal(len(inputs(result, 2)), 1 + len(timed))  # once to warm up


@test
def an_eval_may_time_only_the_last_of_several_cases():
	for ranking_by in ("geom", "mean"):
		task = fresh(eval="alone.py", answers="text", ranking_by=ranking_by)
		result = expect(task.run(RIGHT), "passed")
		equal(
			[(case["spec"], case["mean_ns"]) for case in cases(result, 2)],
			[("size: 1600; seed: 3", 16000.0)],
		)
		near(result.verdicts[0]["score_ns"], 16000.0)
		equal(
			[case["spec"] for case in cases(expect(task.run(RIGHT, "benchmark"), "passed"), 2)],
			[spec(case) for case in folders.BENCHMARKS],
		)
		expect(task.run(WRONG_WHEN_TIMED), "wrong answer", "mismatch found!")


@test
def a_geometric_mean_of_many_short_times_does_not_vanish():
	many = [{"size": 1600, "seed": seed} for seed in range(120)]
	result = expect(
		fresh(eval="bandwidth.py", helpers=False, ranking_by="geom", benchmarks=many).run(
			RIGHT_BARE
		),
		"passed",
	)
	near(result.verdicts[0]["score_ns"], 16001.0)  # no double holds (1.6e-5 s) ** 120


@test
def a_real_clock_shows_at_least_the_time_spent():
	slow = (
		"import time\n"
		"def custom_kernel(data):\n"
		"\ttime.sleep(0.005)\n"
		"\treturn [2 * value for value in data]\n"
	)
	for eval, answers in (("pooled.py", "tuple"), ("alone.py", "text")):
		result = expect(fresh(eval=eval, answers=answers, CLOCK=True).run(slow), "passed")
		assert 5e6 <= result.verdicts[0]["score_ns"] < 100e6, result.verdicts


# ---- kinds of known harnesses ----


@test
def each_kind_of_known_harness_has_a_task_here():
	"""Each task's eval measures what the public harnesses of its kind measure. Podium knows
	harnesses by their text. These evals have another text, so Podium runs them as written."""
	tasks = {
		"CALL": "a pool of one",
		"BATCH": "groups in a pool, every output checked again",
		"GRAPH": "replays of a recorded group",
		"RANKS": "a pool with a process for each GPU",
	}
	header = (ROOT / "lib" / "task" / "public_harness.h").read_text()
	equal(set(re.findall(r"\tHARNESS_([A-Z]+)", header)), {"UNKNOWN", "STOCK", *tasks})
	for name in tasks.values():
		contains(
			check(folder_of(name) / "numbers").stdout,
			"eval.py is not a harness that Podium knows, so the custom engine runs it as written",
		)


@test
def replays_of_a_recorded_group_are_timed_and_checked():
	task = task_of("replays of a recorded group")
	result = expect(task.run(RIGHT), "passed")
	equal(result.log("stdout", 2).count("replays: 12\n"), 3)
	# A submission that is wrong from its 41st call on. The warm-up makes 32 calls, and the first
	# case records 5, so only a replay is wrong.
	late = RIGHT.replace("\treturn [2 *", "\tcalls.append(0)\n\treturn [(2 + (len(calls) > 40)) *")
	expect(task.run(late + "calls = []\n"), "wrong answer", "Benchmark 1 of 3 failed")


# ---- several devices ----


@test
def each_rank_of_a_case_has_a_process_and_all_run_together():
	tests, benchmarks = (
		with_all(folders.TESTS, world_size=2),
		with_all(folders.BENCHMARKS[:1], world_size=2),
	)
	task = fresh(
		eval="pooled.py",
		KEY="[a-zA-Z_]+",
		POOL="POPCORN_GPUS",
		multi_gpu="true",
		tests=tests,
		benchmarks=benchmarks,
		test_timeout=30,
	)
	for device in (TWO_GPUS, CPU):
		for on in (cold, warm):
			result = expect(task.run(RIGHT, "test", device, on=on), "passed")
			equal(
				[
					line
					for line in result.log().splitlines()
					if line.split(":")[0] in ("workers", "elements of all ranks")
				],
				["workers: 2", "elements of all ranks: 6", "elements of all ranks: 16"],
			)
			equal(
				sorted(inputs(result)[:2]),
				[f"{{'size': 3, 'seed': 5, 'world_size': 2, 'rank': {rank}}}" for rank in (0, 1)],
			)
	expect(task.run(WRONG, "test"), "wrong answer", "mismatch found!")


@test
def on_the_cpu_the_largest_case_sets_the_number_of_processes():
	benchmarks = [{**folders.BENCHMARKS[0], "world_size": 4}]
	task = fresh(
		eval="pooled.py",
		KEY="[a-zA-Z_]+",
		POOL="POPCORN_GPUS",
		multi_gpu="true",
		benchmarks=benchmarks,
		tests=with_all(folders.TESTS, world_size=2),
	)
	contains(expect(task.run(RIGHT, "test"), "passed").log(), "workers: 4\n")


@test
def tasks_for_one_device_get_no_number_of_gpus():
	task = fresh(eval="pooled.py", POOL="POPCORN_GPUS")
	contains(
		expect(
			task.run(
				"import os\nassert 'POPCORN_GPUS' not in os.environ\n" + RIGHT, "test", TWO_GPUS
			),
			"passed",
		).log(),
		"workers: 1\n",
	)


@test
def every_case_of_a_task_for_several_devices_needs_its_world_size():
	folder = folders.make(
		pathlib.Path(tempfile.mkdtemp(dir=scratch)),
		eval="pooled.py",
		multi_gpu="true",
		tests=[{**folders.TESTS[0], "world_size": 2}, folders.TESTS[1]],
		benchmarks=with_all(folders.BENCHMARKS, world_size=2),
	)
	answer = check(folder)
	equal(answer.returncode, 1)
	contains(answer.stdout + answer.stderr, "case 2 has no world_size")


# ---- the result pipe ----


def harness(body, **rest):
	"""Makes a task whose eval runs `body`."""
	head = (
		"import os, sys, time\nmode, path = sys.argv[1:]\ncases = open(path).read().splitlines()\n"
		"out = os.fdopen(int(os.environ['POPCORN_FD']), 'w')\nfamily = 'test' if mode == 'test' "
		"else 'benchmark'\n"
	)
	top = pathlib.Path(tempfile.mkdtemp(dir=scratch))
	files = [("submission.py", "@SUBMISSION@"), ("eval.py", "eval.py")]
	folders.write(
		top,
		{
			"task.yml": folders.definition(files, **rest),
			"eval.py": head + body,
			"submission.py": RIGHT_BARE,
		},
	)
	return Task(top)


@test
def more_result_lines_than_a_pipe_holds_are_read_while_they_are_written():
	task = harness(
		"print(f'test-count: {len(cases)}', file=out)\nfor index, case in enumerate(cases):\n"
		"\tprint(f'test.{index}.spec: {case}\\ntest.{index}.status: pass\\ntest.{index}.message: "
		"' + f'{index} ' * 3000, file=out)\n"
		"print('check: pass', file=out)\n",
		tests=[{"seed": seed} for seed in range(100)],
		test_timeout=20,
	)
	result = expect(task.run(RIGHT_BARE, "test"), "passed")
	equal(
		[case["message"][:6] for case in result.cases],
		[f"{index} {index} {index} "[:6] for index in range(100)],
	)


@test
def line_breaks_in_errors_may_be_escaped():
	for end in ("\\n", "\\\\n"):
		task = harness(
			f"print('test-count: 2\\ntest.0.status: fail\\ntest.0.error: differs{end}  at [0]: 1 "
			f"and 2{end}  at [1]\\n"
			"test.1.status: fail\\ntest.1.error: \\ncheck: fail', "
			"file=out)\nout.close()\nsys.exit(112)\n"
		)
		result = expect(
			task.run(RIGHT_BARE, "test"),
			"wrong answer",
			"Test 1 of 2 failed (size: 3; seed: 5): differs.",
		)
		equal(
			[case["message"] for case in result.cases], ["differs\n  at [0]: 1 and 2\n  at [1]", ""]
		)


@test
def printed_text_is_no_result():
	shouting = "print('check: pass')\nprint('test.0.status: pass')\n" + WRONG
	result = expect(task_of("no pool and much said").run(shouting, "test"), "wrong answer")
	contains(result.log(), "buffer: keys\n")
	contains(result.log(), "check: pass\n")


@test
def a_check_that_fails_may_end_with_0():
	for name, end in (
		("no pool and much said", 0),
		("an exit code that is always 0", 0),
		("a pool of one", 0),
		("no pool", 112),
	):
		result = expect(task_of(name).run(WRONG_WHEN_TIMED), "wrong answer")
		equal((name, result.ends[-1]["exit_code"]), (name, end))


@test
def a_wrong_ranked_answer_may_be_reported_as_test_0_without_a_check():
	for name in ("no pool", "no pool and much said"):
		result = expect(task_of(name).run(WRONG_WHEN_TIMED), "wrong answer", "mismatch found!")
		equal([case["index"] for case in cases(result, 2)], [])


@test
def exit_codes_have_their_usual_meaning():
	for code, verdict, part in (
		(2, "internal error", "mode"),
		(110, "runtime error", "CUDA"),
		(111, "internal error", "results"),
		(112, "wrong answer", "check failed"),
		(113, "internal error", "case file"),
		(114, "time limit", "its own time limit"),
	):
		expect(harness(f"sys.exit({code})\n").run(RIGHT_BARE, "test"), verdict, part)


@test
def an_eval_without_its_device_says_why():
	result = fresh(eval="bandwidth.py", helpers=False, DEVICE=False).run(RIGHT_BARE, "test")
	expect(result, "wrong answer", "The check failed: this task needs a device:")


@test
def one_run_has_no_spread():
	result = expect(task_of("groups without a pool, one run each").run(RIGHT), "passed")
	equal([(case["std_ns"], "err_ns" in case) for case in cases(result, 2)], [(0.0, False)] * 3)


# ---- CUDA C++ ----


def fresh_cu(**rest):
	if nvcc_lack():
		raise Skip(nvcc_lack())
	return Task(folders.make_cu(pathlib.Path(tempfile.mkdtemp(dir=scratch)), **rest))


@test
def an_eval_in_cuda_passes_a_right_answer_to_cases_with_three_arguments():
	task = fresh_cu(ranking_by="mean", seed=7)
	result = expect(task.run(folders.CU_RIGHT, device=GPU), "passed")
	equal(
		[(case["spec"], case["verdict"]) for case in cases(result, 1)],
		[("size: 3; seed: 5; offset: 7", "passed"), ("size: 8; seed: 6635; offset: 7", "passed")],
	)
	(timed,) = cases(result, 2)  # the eval times only the last case
	equal(
		(timed["spec"], timed["runs"], timed["mean_ns"], timed["best_ns"]),
		("size: 1600; seed: 3; offset: 7", 4, 16000, 15999),
	)
	near(timed["err_ns"], T_OF_FOUR)
	near(result.verdicts[0]["score_ns"], 16000.0)


@test
def an_eval_in_cuda_reports_wrong_answers_in_either_form():
	task = fresh_cu()
	result = expect(
		task.run(folders.CU_RIGHT.replace("*= 2", "*= data.size() < 8 ? 2 : 3"), "test", GPU),
		"wrong answer",
		"Test 2 of 2 failed (size: 8; seed: 6635; offset: 7): mismatch found! element 0: wanted "
		"1270",
	)
	equal([case["verdict"] for case in cases(result, 1)], ["passed", "wrong answer"])
	result = expect(
		task.run(folders.CU_RIGHT.replace("*= 2", "*= data.size() < 100 ? 2 : 3"), device=GPU),
		"wrong answer",
		"mismatch found! element 0",
	)
	equal(cases(result, 2), [])


@test
def compiler_flags_and_defines_apply_to_their_task_only():
	needing = (
		'#if WIDTH != 64 || FAST != 1\n#error "the task defines them"\n#endif\n#include '
		"<stdexcept>\n"
		+ folders.CU_RIGHT.replace(
			"value *= 2", 'throw std::runtime_error("no such thing " + std::to_string(value))'
		)
	)
	task = fresh_cu(
		config="\n  sources: [eval.cu, submission.cu]\n  defines: {WIDTH: 64}\n"
		"  compile_flags: [-DFAST=1, -O0]"
	)
	expect(
		task.run(needing, "test", GPU), "runtime error", "SIGABRT", "no such thing 5"
	)  # the submission was compiled, and its exception ends the program
	expect(fresh_cu().run(needing, "test", GPU), "compile error", "the task defines them")


# ---- limits ----


@test
def each_stage_has_its_own_limit():
	body = (
		"time.sleep(0 if mode == 'test' else 60)\nprint(f'test-count: "
		"{len(cases)}\\ntest.0.status: pass\\ntest.1.status: pass\\n"
		"check: pass', file=out)\n"
	)
	task = harness(body, test_timeout=60, benchmark_timeout=1, ranked_timeout=2)
	for mode, limit in (("benchmark", "1 s"), ("ranked", "2 s")):
		result = expect(
			task.run(RIGHT_BARE, mode), "time limit", f"The limit of {limit} was reached"
		)
		equal([end["verdict"] for end in result.ends], ["passed", "passed", "time limit"])
	expect(
		harness("time.sleep(60)\n", test_timeout=1).run(RIGHT_BARE, "test"),
		"time limit",
		"The limit of 1 s was reached",
	)


@test
def when_a_pool_process_dies_the_eval_waits_until_its_time_limit():
	task, patient = fresh(eval="pooled.py", test_timeout=2), fresh(eval="pooled.py")
	for on in (cold, warm):
		expect(
			task.run("import os\ndef custom_kernel(data):\n\tos._exit(0)\n", "test", on=on),
			"time limit",
			"2 s",
			"in test 1 of 2",
		)
		expect(patient.run(RIGHT, "test", on=on), "passed")


# ---- folders ----


@test
def a_zip_of_the_parent_folder_works_too():
	folder = folder_of("lists in cases")
	archive = scratch / "task.zip"
	with zipfile.ZipFile(archive, "w") as out:
		for path in sorted(folder.rglob("*")):
			out.write(path, path.relative_to(folder))
	answers = [check(folder), check(archive)]
	equal([answer.returncode for answer in answers], [0, 0])
	equal(
		answers[0].stdout.replace(str(folder), "it"), answers[1].stdout.replace(str(archive), "it")
	)


@test
def the_submission_may_have_any_name():
	top = pathlib.Path(tempfile.mkdtemp(dir=scratch))
	body = (
		"import os, sys\nfrom train import custom_kernel\nassert custom_kernel([4]) == [8]\n"
		"os.write(int(os.environ['POPCORN_FD']), b'test-count: 2\\ntest.0.status: "
		"pass\\ntest.1.status: pass\\ncheck: pass\\n')\n"
	)
	folders.write(
		top,
		{
			"task.yml": folders.definition(
				[("train.py", "@SUBMISSION@"), ("run_it.py", "run_it.py")], main="run_it.py"
			),
			"run_it.py": body,
			"submission.py": RIGHT_BARE,
		},
	)
	expect(Task(top).run(RIGHT_BARE, "test"), "passed")


@test
def keys_that_only_old_runners_need_change_nothing():
	task = fresh(
		eval="alone.py",
		answers="text",
		libraries="[einops]",
		gpus="[H100, MI300x8]",
		ranked_timeout=1200,
	)
	equal(
		(
			task.definition["gpus"],
			task.definition["ranked_timeout_s"],
			task.definition["ranking_by"],
		),
		(["H100", "MI300x8"], 1200, "last"),
	)
	expect(task.run(RIGHT, "test"), "passed")


@test
def templates_come_with_their_languages_and_run():
	task = fresh(
		eval="pooled.py",
		templates="{Python: submission.py, HIP: submission.py, CuteDSL: submission.py}",
	)
	equal(sorted(job["language"] for job in task.jobs), ["CuteDSL", "HIP", "Python"])
	for job in task.jobs:
		expect(task.run(job["submission"]["text"], "test"), "passed")


@test
def empty_and_missing_templates_are_skipped():
	for templates in ("{}",):
		folder = folders.make(
			pathlib.Path(tempfile.mkdtemp(dir=scratch)), eval="alone.py", templates=templates
		)
		equal((check(folder).returncode, read(folder)), (0, []))


@test
def a_file_that_the_eval_lacks_is_named():
	task = fresh(eval="alone.py", answers="text", helpers=False)
	expect(
		task.run(RIGHT_BARE, "test"),
		"runtime error",
		"ModuleNotFoundError: No module named 'utils'",
	)


# ---- errors of the task's own code ----

STOCK_REFERENCE = """
import torch

def generate_input(size, seed):
	return torch.arange(size) + seed

def ref_kernel(data):
	return 2 * data

def check_implementation(data, output):
	return "" if torch.equal(output, 2 * data) else "not twice the input"
"""
STOCK_RIGHT = "def custom_kernel(data):\n\treturn 2 * data\n"


def with_stock_files(engine, reference):
	top = pathlib.Path(tempfile.mkdtemp(dir=scratch))
	files = [
		("submission.py", "@SUBMISSION@"),
		("reference.py", "reference.py"),
		("eval.py", "@STOCK@"),
		("utils.py", "@STOCK@"),
	]
	folders.write(
		top,
		{
			"task.yml": folders.definition(files),
			"reference.py": reference,
			"submission.py": STOCK_RIGHT,
		},
	)
	return Task(top, engine=engine)


@test
def an_error_of_the_task_s_own_files_is_never_the_submission_s():
	on = Runner("--python", PYTHON)  # not a shared runner: podium-run prints warnings here
	try:
		for engine in ("custom", ""):
			right = with_stock_files(engine, STOCK_REFERENCE)
			expect(right.run(STOCK_RIGHT, "test", on=on), "passed")
			for old, new, part in (
				(
					"return torch.arange(size)",
					"return torch.arrange(size)",
					"generate_input raised AttributeError",
				),
				(
					"import torch",
					"import torch, missing",
					"The task's own files cannot be imported: ModuleNotFoundError",
				),
			):
				task = with_stock_files(engine, STOCK_REFERENCE.replace(old, new))
				expect(task.run(STOCK_RIGHT, "test", on=on), "internal error", part)
	finally:
		on.__exit__()


@test
def an_error_of_the_check_itself_is_the_task_s_and_one_over_an_odd_output_is_not():
	slip = with_stock_files(
		"custom", STOCK_REFERENCE.replace('"not twice', "reasons + '").replace('input"', "input'")
	)
	expect(slip.run(STOCK_RIGHT, "test", on=warm), "passed")
	expect(
		slip.run("def custom_kernel(data):\n\treturn data\n", "test", on=warm),
		"internal error",
		"The task failed, not the submission",
		"The submission is not at fault: the task's check_implementation raised NameError",
	)
	expect(
		with_stock_files("custom", STOCK_REFERENCE).run(
			"def custom_kernel(data):\n\tpass\n", "test", on=warm
		),
		"runtime error",
		"check_implementation could not work with what custom_kernel",
	)


# ---- the engine of a folder that says nothing of engines ----


@test
def an_eval_that_podium_does_not_know_is_run_as_written():
	task = Task(folder_of("a pool of one"), engine="")
	equal((task.engine, task.definition["engine"]), ("custom", ""))
	contains(
		check(folder_of("a pool of one")).stdout, "  engine     custom: eval.py is not a harness"
	)
	contains(
		task.jobs[0]["engine_reason"],
		"eval.py is not a harness that Podium knows, so the custom "
		"engine runs it as written; choose `podium: {engine: isolated}`",
	)


@test
def a_folder_that_asks_for_the_isolated_engine_is_judged_alike():
	for name in ("a pool of one", "a pool of one and a check that must return two", "no pool"):
		task = Task(folder_of(name), engine="isolated")
		for submission, verdict, part in (
			(RIGHT, "passed", ""),
			(WRONG, "wrong answer", "mismatch found!"),
			(RAISING, "runtime error", "ZeroDivisionError"),
		):
			result = expect(task.run(submission, "test", on=warm), verdict, part)
			equal(result.verdicts[0]["engine"], "isolated")


@test
def inputs_that_only_the_evals_can_carry_need_the_custom_engine():
	"""An input is a list of numbers: a few in the tests, but 1600 in a benchmark, which the
	isolated engine cannot carry."""
	result = Task(folder_of("a pool of one"), engine="isolated").run(RIGHT, on=warm)
	expect(result, "internal error", "parts", "`podium: {engine: custom}`")
	equal(result.verdicts[0]["engine"], "isolated")


@test
def podium_run_printed_no_errors():
	for runner in (cold, warm):
		equal(runner.end(), (0, [], ""))


try:
	code = tap.run()
finally:
	for each in (cold, warm):
		each.__exit__()
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(code)
