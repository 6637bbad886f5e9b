#!/usr/bin/env python3
"""The isolated engine with the real podium-run, judge and contestants: which tasks it takes, what
each side sees, and the verdict for every way in which a side can end."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from processes import as_only_bomb, command_of, descendants  # noqa: E402
from runner import BUILD, EVAL, GPU, HANG_S, PYTHON, Runner, job, task  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test, until  # noqa: E402

REFERENCE = r"""
def generate_input(a, b=0):
    return [a, b]

def check_implementation(data, output):
    return output == sum(data), f"expected {sum(data)}, got {output}"
"""
KERNEL = "def custom_kernel(data):\n    return data[0] + data[1]\n"
# A submission for both engines: EVAL, the harness of the custom engine, calls answer().
BOTH = KERNEL + (
	"def answer(case): return sum(int(part.split(':')[1]) for part in case.split(';'))\n"
)
RLIMIT_NICE = 13  # which the module resource does not name
ADVICE = "An admin can start a dry run of this version"
ZYGOTE = ("--python", PYTHON)
# podium-run as this test's user, usually root, with a zygote, and as nobody without a zygote.
KINDS = {
	"root": {"options": ZYGOTE},
	**({"ordinary user": {"user": "nobody"}} if os.geteuid() == 0 else {}),
}


def split_task(**changes):
	return task(**{"engine": "", **changes})


def files(reference=REFERENCE):
	return [
		{"path": "reference.py", "text": reference},
		{"path": "task.py", "text": "WORD = 'task'\n"},
		{"path": "utils.py", "text": ""},
		{"path": "data/table.txt", "text": "7"},
	]


def split_job(
	submission=KERNEL, reference=REFERENCE, mode="test", definition=None, rival=None, **members
):
	extra = (
		{"rival": {"name": "other.py", "text": rival}, "secret_seed": 987654321}
		if mode == "compare"
		else {}
	)
	return job(
		submission,
		mode=mode,
		files=members.pop("files", files(reference)),
		definition=definition or split_task(),
		**extra,
		**members,
	)


class Isolated(Runner):
	def __init__(self, options=(), **members):
		super().__init__(*options, **members)
		if options == ZYGOTE:
			until(self.is_warm, HANG_S)

	def is_warm(self):
		warm = (
			"import sys\n"
			"def custom_kernel(data): print('torch' in sys.modules)\n"
			"raise ValueError('torch' in sys.modules)\n"
		)
		return "True" in self.judge(warm).reason

	def judge(self, *arguments, **members):
		message = split_job(*arguments, **members)
		self.send(message)
		return self.result(message["job"]["id"])


kept = {}


def one(kind="root"):
	"""A podium-run that several tests share."""
	if kind not in kept:
		kept[kind] = Isolated(**KINDS[kind])
	return kept[kind]


def each():
	return [one(kind) for kind in KINDS]


def expect(verdict, *parts, runners=None, **members):
	"""Judges with every kind of podium-run and expects the same outcome. Returns the last
	result."""
	for runner in runners or each():
		result = runner.judge(**members)
		equal(
			(result.verdict, len(result.verdicts), result.verdicts[0]["engine"]),
			(verdict, 1, "isolated"),
		)
		for part in parts:
			contains(result.reason, part)
	return result


def left(runner):
	"""The processes below podium-run except its zygotes. Waits up to 10 s for them to end."""
	end = time.monotonic() + 10
	while True:
		found = [
			pid for pid in descendants(runner.process.pid) if "podium-zygote" not in command_of(pid)
		]
		if not found or time.monotonic() > end:
			return found
		time.sleep(0.05)


# ---- which tasks ----


@test
def a_stages_memory_is_that_of_the_submission():
	large = "x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n"
	for runner in each():
		without, with_it, in_the_judge = (
			runner.judge(**members).ends[-1]["peak_host_bytes"]
			for members in ({}, {"submission": large + KERNEL}, {"reference": large + REFERENCE})
		)
		assert with_it > without + (200 << 20) and in_the_judge < without + (200 << 20), (
			without,
			with_it,
			in_the_judge,
		)


@test
def a_task_with_both_functions_gets_the_isolated_engine():
	for mode, names in (
		("test", ["compile", "test"]),
		("benchmark", ["compile", "test", "benchmark"]),
		("ranked", ["compile", "test", "ranked"]),
	):
		for runner in each():
			result = runner.judge(mode=mode)
			equal((result.verdict, result.verdicts[0]["engine"]), ("passed", "isolated"))
			lacks(result.verdicts[0], "engine_reason")
			equal([(s["position"], s["stage"]) for s in result.stages], list(enumerate(names)))
			equal(
				[(e["verdict"], e["exit_code"]) for e in result.ends], [("passed", 0)] * len(names)
			)
			equal("score_ns" in result.verdicts[0], mode == "ranked")
			last = {"ranked": "leaderboard"}.get(mode, mode)
			assert result.stages[-1]["command"].endswith(
				f"../engine/judge.py {last} ../cases.txt"
			), result.stages
			equal(left(runner), [])


@test
def on_a_gpu_the_programs_that_pass_the_tests_also_run_the_benchmarks():
	tell = "import os\nprint('loaded', flush=True)\n" + KERNEL.replace(
		"    return", "    print(os.getpid(), data[0], flush=True)\n    return"
	)
	for runner in each():
		result = runner.judge(tell, mode="ranked", device=GPU)
		equal(result.verdict, "passed")
		contains(
			result.stages[-1]["command"], "judge.py test ../cases.txt leaderboard ../timed.txt"
		)
		tested, timed = (result.log(position=position).splitlines() for position in (1, 2))
		equal((tested[0], "loaded" in timed), ("loaded", False))
		pids, values = zip(*(line.split() for line in tested[1:] + timed))
		equal(len(set(pids)), 1)
		# What a submission prints in a stage belongs to the log of that stage.
		equal(
			({line.split()[1] for line in tested[1:]}, {line.split()[1] for line in timed}),
			({"1", "3"}, {"5", "6", "7"}),
		)
		assert all(end["duration_ms"] > 0 for end in result.ends[1:]), result.ends


TELL_NICENESS = """
import os
def custom_kernel(data):
    print("pid", os.getpid(), "nice", os.nice(0), flush=True)
    return data[0] + data[1]
"""


def words_after(word, text):
	words = text.split()
	return {words[i + 1] for i, one in enumerate(words) if one == word}


@test
def on_the_cpu_a_timed_stage_has_several_new_processes():
	slow = "import time\ntime.sleep(0.2)\n" + KERNEL
	for mode in ("benchmark", "ranked"):
		result = one().judge(slow, mode=mode)
		equal(result.verdict, "passed")
		word = {"ranked": "timing"}.get(mode, mode)
		shown = [text for text in result.progress if text.startswith(f"{word} 3/3")]
		equal(shown, [f"{word} 3/3{end}" for end in ("", *(f", process {i}" for i in range(2, 6)))])
		timed = [case for case in result.cases if case["position"] == 2]
		equal([case["blocks"] for case in timed], [20, 20, 20])  # 4 a process
		for case in timed:
			middle, half = case["mean_ns"], case["high_ns"] - case["mean_ns"]
			assert abs(half / 1.96 - case["err_ns"]) <= 1e-6 * half, case
			assert abs(case["low_ns"] - max(1, middle - half)) <= 1e-6 * middle, case
		# The submission's import, five times 0.2 s, belongs to the stage.
		assert result.ends[2]["duration_ms"] >= 1000, result.ends
		assert result.ends[2]["peak_host_bytes"] > 0, result.ends


@test
def a_timed_stage_keeps_within_its_limit():
	"""Each process takes over a second, so that there is no time for all five."""
	slow = "import time\ntime.sleep(1.2)\n" + KERNEL
	result = one().judge(slow, mode="ranked", definition=split_task(ranked_timeout_s=6))
	equal(result.verdict, "passed")
	assert 0 < result.cases[-1]["blocks"] < 20, result.cases[-1]
	assert result.ends[2]["duration_ms"] < 6000, result.ends


@test
def a_submission_that_fails_in_a_later_process_has_failed():
	"""Six processes take at least 12 s: one for the tests, five for the times."""
	kernel = f"""
import time
time.sleep(2)
print("loaded", flush=True)
def custom_kernel(data):
    assert time.time() < {time.time() + 10}, "too late"
    return data[0] + data[1]
"""
	result = one().judge(kernel, mode="ranked")
	equal(
		(result.verdict, [end["verdict"] for end in result.ends]),
		("runtime error", ["passed", "passed", "runtime error"]),
	)
	lacks(result.verdicts[0], "score_ns")
	contains(result.reason, "too late")
	# The log has the output of the first process and of the one that failed.
	equal(result.log(position=2).split().count("loaded"), 2)


@test
def a_timed_stage_on_the_cpu_has_priority():
	def nicenesses(result, position):
		return words_after("nice", result.log(position=position))

	usual = str(os.nice(0))
	raised = one().judge(TELL_NICENESS, mode="ranked")
	equal((nicenesses(raised, 1), nicenesses(raised, 2)), ({usual}, {"-19"}))
	on_gpu = one().judge(TELL_NICENESS, mode="ranked", device=GPU)
	equal((nicenesses(on_gpu, 1), nicenesses(on_gpu, 2)), ({usual}, {usual}))
	if "ordinary user" in KINDS:
		without = one("ordinary user").judge(TELL_NICENESS, mode="ranked")
		equal((nicenesses(without, 1), nicenesses(without, 2)), ({usual}, {usual}))


RAISE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Param(ctypes.Structure):
    _fields_ = [("priority", ctypes.c_int)]
def attempt(act):
    try:
        return act()
    except OSError as error:
        return error.errno
def custom_kernel(data):
    print(
        "nice", os.getpriority(os.PRIO_PROCESS, 0),
        "set", attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
        "fifo", libc.sched_setscheduler(0, 1, ctypes.byref(Param(1))),
        "session", attempt(lambda: open("/proc/self/autogroup", "w", 1).write("-20\\n")),
        flush=True)
    return data[0] + data[1]
"""


@test
def a_submission_cannot_raise_its_priority_further():
	for runner in each():
		expect_no_raise(runner, "-19" if runner is one() else str(os.nice(0)))


def expect_no_raise(runner, nice):
	log = runner.judge(RAISE, mode="ranked").log(position=2)
	equal(words_after("nice", log), {nice})
	equal(words_after("set", log), {"13"})  # EACCES
	equal(words_after("fifo", log), {"-1"})
	assert words_after("session", log) <= {"1", "2", "13"}, log


@test
def an_ordinary_user_may_have_a_limit_that_allows_priority():
	before = resource.getrlimit(RLIMIT_NICE)
	try:
		resource.setrlimit(RLIMIT_NICE, (40, 40))  # LimitNICE=-20 of the worker's unit
	except ValueError:
		raise Skip("this user may not raise limits") from None
	if "ordinary user" not in KINDS:
		raise Skip("only root can become another user")
	with Isolated(user="nobody") as runner:
		resource.setrlimit(RLIMIT_NICE, before)
		expect_no_raise(runner, "-19")


@test
def a_time_without_priority_names_other_load():
	def said(runner):
		result = runner.judge(mode="ranked", definition=split_task(benchmarks=["a: 5"]))
		return result.cases[-1].get("message") or ""

	busy = [
		subprocess.Popen([PYTHON, "-c", "while True: pass"], start_new_session=True)
		for _ in range(2)
	]
	try:
		lacks(said(one()), "other load")
		if "ordinary user" in KINDS:
			contains(said(one("ordinary user")), "Measured beside other load: other programs used")
	finally:
		for process in busy:
			process.kill()
			process.wait()


@test
def a_submission_that_fails_while_timed_has_still_passed_its_tests():
	hang = "import time\n" + KERNEL.replace(
		"    return", "    if data[0] == 7: time.sleep(600)\n    return"
	)
	end = "import os\n" + KERNEL.replace(
		"    return", "    if data[0] == 7: os._exit(5)\n    return"
	)
	for submission, verdict, part in (
		(hang, "time limit", "Benchmark 3 of 3 (a: 7): The submission did not answer within"),
		(end, "runtime error", "exit code 5"),
	):
		for runner in each():
			result = runner.judge(
				submission, mode="ranked", definition=split_task(ranked_timeout_s=6)
			)
			equal(
				(result.verdict, [stage["verdict"] for stage in result.ends]),
				(verdict, ["passed", "passed", verdict]),
			)
			contains(result.reason, part)
			equal(
				{case["position"] for case in result.cases if case["verdict"] == "passed"}, {1, 2}
			)
			equal(left(runner), [])


@test
def a_submission_that_fails_its_tests_is_not_timed():
	for mode in ("benchmark", "ranked"):
		result = one().judge(KERNEL.replace("return", "return 1 +"), mode=mode)
		equal(
			(result.verdict, [stage["stage"] for stage in result.stages]),
			("wrong answer", ["compile", "test"]),
		)


@test
def cases_say_how_they_were_measured():
	result = one().judge(mode="ranked")
	cases = [case for case in result.cases if case["position"] == 2]
	equal(
		[(case["index"], case["spec"], case["verdict"]) for case in cases],
		[(0, "a: 5", "passed"), (1, "a: 6", "passed"), (2, "a: 7", "passed")],
	)
	for case in cases:
		for key in (
			"runs",
			"mean_ns",
			"std_ns",
			"err_ns",
			"best_ns",
			"worst_ns",
			"median_ns",
			"low_ns",
			"high_ns",
			"constant_ns",
			"blocks",
			"repeated",
			"samples",
		):
			assert key in case, (key, case)
		assert (
			case["low_ns"] <= case["mean_ns"] <= case["high_ns"]
			and case["best_ns"] <= case["worst_ns"]
		), case
		for key in ("ratio", "rival_ns", "device"):
			lacks(case, key)
	means = [max(case["mean_ns"], case.get("floor_ns", 0)) for case in cases]
	geom = (means[0] * means[1] * means[2]) ** (1 / 3)
	assert abs(result.verdicts[0]["score_ns"] - geom) < 1e-6 * geom
	assert result.ends[2]["nonce"] and set(result.ends[2]["nonce"]) <= set("0123456789abcdef")


@test
def a_job_of_the_custom_engine_runs_the_tasks_own_harness():
	result = one().judge(
		BOTH, definition=split_task(engine="custom"), mode="ranked", engine_reason="It says so."
	)
	equal(
		(result.verdict, result.engine, result.engine_reason), ("passed", "custom", "It says so.")
	)


@test
def the_custom_engine_makes_profiles():
	result = one().judge(BOTH, mode="profile")
	equal((result.verdict, result.verdicts[0]["engine"]), ("passed", "custom"))
	lacks(result.verdicts[0], "engine_reason")


@test
def a_job_must_name_an_engine_that_has_its_mode():
	for engine, mode, part in (
		("", "test", "must be sealed, isolated or custom"),
		(None, "test", "must be sealed, isolated or custom"),
		("isolated", "profile", "profiles"),
		("custom", "compare", "compares"),
	):
		result = one().judge(
			BOTH, mode=mode, engine=engine, **({"rival": KERNEL} if mode == "compare" else {})
		)
		equal((result.verdict, result.stages), ("internal error", []))
		contains(result.reason, part)


@test
def the_isolated_engine_refuses_tasks_that_cannot_be_split():
	half = "def generate_input(a, b=0): return [a, b]\n"
	named = [
		{"name": "score_eval.py", "source": "@STOCK@", "is_submission": False},
		{"name": "submission.py", "source": "@SUBMISSION@", "is_submission": True},
	]
	for members, part in (
		({"files": []}, "no reference.py"),
		({"reference": half}, "does not offer"),
		({"definition": split_task(multi_gpu=True)}, "several GPUs"),
		(
			{
				"definition": split_task(main="score_eval.py", files=named),
				"files": files() + [{"path": "score_eval.py", "text": EVAL}],
			},
			"oldest form",
		),
	):
		result = one().judge(BOTH, **members)
		equal((result.verdict, result.engine, result.stages), ("internal error", "isolated", []))
		contains(result.reason, part)
		contains(result.reason, ADVICE)


# ---- what the judge finds ----

UNSPLITTABLE = "import threading\n" + REFERENCE.replace(
	"return [a, b]", "return [a, threading.Lock()]"
)


@test
def a_judge_that_cannot_split_the_task_starts_no_other_engine():
	for runner in each():
		for mode in ("test", "ranked"):
			result = runner.judge(BOTH, UNSPLITTABLE, mode=mode)
			equal((result.verdict, result.engine), ("internal error", "isolated"))
			contains(result.reason, "The isolated engine cannot run this task: ")
			contains(result.reason, ADVICE)
			lacks(" ".join(stage["command"] for stage in result.stages), "eval.py")


@test
def what_a_submission_does_never_makes_its_job_fall_back():
	"""The submission exits with the codes by which a judge says that it cannot run the task. The
	custom engine would pass this submission."""
	for code in (2, 111, 113, 115, 117):
		result = one().judge(f"import os\nos._exit({code})\n" + BOTH, mode="ranked")
		equal((result.verdict, result.engine), ("runtime error", "isolated"))


@test
def a_dry_run_finds_out_that_the_custom_engine_is_needed():
	for runner in each():
		for mode, stages in (("test", 2), ("ranked", 3)):
			result = runner.judge(BOTH, UNSPLITTABLE, mode=mode, may_fall_back=True)
			verdict = result.verdicts[0]
			equal((result.verdict, verdict["engine"]), ("passed", "custom"))
			assert verdict["engine_reason"].endswith("."), verdict
			equal(
				[(s["position"], s["stage"]) for s in result.stages],
				list(enumerate(["compile", "test", "ranked"][:stages])),
			)
			for stage in result.stages[1:]:
				contains(stage["command"], "eval.py")
			equal((len(result.ends), "score_ns" in verdict), (stages, mode == "ranked"))
			# The failed attempt with the isolated engine leaves no event.
			equal((result.progress.count("test 0/2"), result.progress.count("test 2/2")), (1, 1))


@test
def a_dry_run_on_a_busy_device_chooses_no_engine():
	busy = REFERENCE.replace("    return [a, b]", "    import os; os._exit(120)\n    return [a, b]")
	result = one().judge(BOTH, busy, may_fall_back=True)
	verdict = result.verdicts[0]
	equal(
		(result.verdict, verdict["engine"], verdict["machine_failed"]),
		("internal error", "isolated", True),
	)
	contains(result.reason, "This machine cannot judge the task now")


@test
def on_a_gpu_the_judge_checks_the_inputs_of_all_stages_first():
	late = REFERENCE.replace(
		"return [a, b]", "return [a, b if b else print]"
	)  # the tests have a b, the benchmarks have none
	late = late.replace("sum(data)", "(data[0] + (0 if callable(data[1]) else data[1]))")
	result = one().judge(BOTH, late, mode="ranked", may_fall_back=True, device=GPU)
	equal((result.verdict, result.verdicts[0]["engine"]), ("passed", "custom"))
	equal(
		[(s["position"], s["stage"]) for s in result.stages],
		list(enumerate(["compile", "test", "ranked"])),
	)
	for stage in result.stages[1:]:
		contains(stage["command"], "eval.py")


# ---- what each side sees ----

LOOK = r"""
import json, os, stat, sys
def kind(number):
    mode = os.fstat(number).st_mode
    kinds = {stat.S_IFSOCK: "socket", stat.S_IFIFO: "pipe", stat.S_IFREG: "file"}
    return kinds.get(stat.S_IFMT(mode), "other")
def descriptors():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = kind(int(name))
        except OSError:
            pass # the one that listed them
    return found
def attempt(act):
    try:
        act()
        return "done"
    except OSError as error:
        return type(error).__name__
def tree(top):
    return sorted(os.path.join(folder, name)
        for folder, folders, names in os.walk(top) for name in names)
"""


@test
def a_contestant_has_its_files_and_one_channel_and_nothing_else():
	look = (
		LOOK
		+ r"""
at_import = descriptors()
seen = {"descriptors": at_import, "run": tree("."), "job": tree("/job"),
    "environment": sorted(os.environ), "arguments": sys.argv,
    "cases": attempt(lambda: open("../cases.txt")),
    "processes": len([n for n in os.listdir("/proc") if n.isdigit()]),
    "engine": [attempt(lambda: open("../engine/contestant.py", "r+")),
        attempt(lambda: open("../engine/new", "w")),
        attempt(lambda: os.remove("../engine/native.so"))],
    "own": [attempt(lambda: open("submission.py", "r+")), attempt(lambda: open("new.txt", "w")),
        attempt(lambda: os.remove("task.py"))],
    "seed": "987654321" in open("/proc/self/environ").read(), "task": __import__("task").WORD}
try:
    import reference
    seen["reference"] = "there"
except ImportError:
    seen["reference"] = "missing"
print("SEEN" + json.dumps(seen), flush=True)
"""
	)
	for kind, runner in zip(KINDS, each()):
		result = runner.judge(look + KERNEL, mode="ranked")
		equal(result.verdict, "passed")
		seen = json.loads(result.log(position=1).split("SEEN")[1].splitlines()[0])
		equal(
			seen["descriptors"],
			{"0": "other", "1": "pipe", "2": "pipe", "3": "socket", "4": "file"},
		)  # 4 is the page with the doorbell
		equal(seen["run"], ["./data/table.txt", "./submission.py", "./task.py", "./utils.py"])
		for path in seen["job"]:
			assert not any(
				word in path for word in ("reference", "cases", "timed", "eval.py", "judge")
			), seen["job"]
		for name in ("POPCORN_SEED", "POPCORN_FD", "PODIUM_TIME_LIMIT_S", "PODIUM_DEVICE_UUID"):
			lacks(seen["environment"], name)
		equal((seen["seed"], seen["reference"], seen["task"]), (False, "missing", "task"))
		assert seen["cases"] != "done" and "done" not in seen["engine"], seen
		equal([outcome == "done" for outcome in seen["own"]], [False, True, False])
		assert seen["processes"] <= 3, (kind, seen["processes"])


@test
def judge_and_contestant_load_bytecode_of_their_own_files():
	"""Otherwise each of them would compile its files at its start."""
	python_tag = subprocess.check_output(
		[PYTHON, "-c", "import sys; print(sys.implementation.cache_tag, end='')"], text=True
	)
	if (BUILD / "harness" / "bytecode.tag").read_text() not in (python_tag, ""):
		raise Skip(f"the bytecode is not for {PYTHON}")
	look = (
		LOOK
		+ r"""
import importlib.util
from importlib.machinery import SourceFileLoader
class Loader(SourceFileLoader):
    def source_to_code(self, *arguments, **options):
        raise ImportError("it was compiled")
def look_at(path):
    bytecode = importlib.util.cache_from_source(path)
    with open(bytecode, "rb") as file:
        assert file.read()[8:16] == importlib.util.source_hash(open(path, "rb").read()), path
    assert Loader("name", path).get_code("name").co_filename == path
    assert attempt(lambda: open(bytecode, "r+")) != "done", path
    assert attempt(lambda: open(bytecode + ".new", "w")) != "done", path
    return os.path.basename(path)
def look():
    return "SEEN" + json.dumps([look_at(os.path.abspath(path)) for path in tree("../engine")
        if path.endswith(".py")]) + "SEEN"
"""
	)
	says = REFERENCE.replace("output == sum(data), f", "False, look() + f")
	for runner in each():
		result = runner.judge(look + "print(look(), flush=True)\n" + KERNEL, look + says)
		equal(result.verdict, "wrong answer")
		for text, main in ((result.reason, "judge.py"), (result.log(), "contestant.py")):
			names = json.loads(text.split("SEEN")[1])
			contains(names, main)
			contains(names, "podium_wire.py")


@test
def a_judge_has_the_seed_the_cases_and_every_channel():
	look = (
		LOOK
		+ "raise RuntimeError('SEEN' + json.dumps([descriptors(), tree('.'), {n: os.environ.get(n) "
		"for n in "
		"('POPCORN_SEED', 'POPCORN_FD', 'PODIUM_TIME_LIMIT_S', 'PODIUM_DEVICE_UUID')}, "
		"os.path.exists('../cases.txt')]) + 'SEEN')\n"
	)
	# The reference looks while the judge imports it, and raises what it sees. The judge must still
	# have its sockets then. No event may contain the seed.
	for runner in each():
		result = runner.judge(reference=REFERENCE + look, mode="compare", rival=KERNEL)
		equal(result.verdict, "internal error")
		seen = json.loads(result.reason.split("SEEN")[1])
		equal([seen[0][str(number)] for number in (4, 5, 6)], ["socket"] * 3)
		equal(
			seen[1], ["./data/table.txt", "./eval.py", "./reference.py", "./task.py", "./utils.py"]
		)
		equal(
			(seen[2]["PODIUM_TIME_LIMIT_S"], seen[2]["PODIUM_DEVICE_UUID"], seen[3]),
			("60", None, True),
		)
		lacks(json.dumps(result.events), "987654321")


@test
def the_log_of_a_stage_is_the_submissions():
	quiet = (
		"import sys\nprint('a secret of the reference')\nprint('another', file=sys.stderr)\n"
	) + REFERENCE
	for runner in each():
		result = runner.judge(
			"import sys\nprint('hello')\nprint('mistake', file=sys.stderr)\n" + KERNEL, quiet
		)
		equal(
			(result.verdict, result.log("stdout"), result.log("stderr")),
			("passed", "hello\n", "mistake\n"),
		)
		lacks(json.dumps(result.events), "a secret of the reference")


@test
def live_output_shows_no_more_than_the_log_will():
	quiet = "import sys\nprint('a secret of the reference', flush=True)\n" + REFERENCE
	stuck = "import time\nprint('loaded', flush=True)\n" + KERNEL.replace(
		"    return",
		"    print(data, flush=True)\n    time.sleep(600 * (data[0] == 3))\n    return",
	)
	flood = "for i in range(20000): print('%06d' % i)\n" + stuck
	runner = one()
	for source, last in ((stuck, "[3, 4]\n"), (flood, "004680\n")):
		runner.send(split_job(source, quiet, follow=True))
		tails = []
		while not tails or last not in tails[-1]["tail"]["stdout"]:
			tails.append(runner.until("tail")[-1])
		runner.send({"cancel": 17})
		result = runner.result()
		equal((result.verdict, {tail["position"] for tail in tails}), ("cancelled", {1}))
		for tail in tails:
			contains(result.log(), tail["tail"]["stdout"])
			lacks(json.dumps(tail), "secret of the reference")


@test
def no_output_is_sent_while_cases_are_timed():
	chatty = "import time\n" + KERNEL.replace(
		"    return", "    print(data, flush=True)\n    time.sleep(0.2)\n    return"
	)
	runner = one()
	runner.send(
		split_job(
			chatty,
			mode="benchmark",
			definition=split_task(benchmarks=["a: 5"], benchmark_timeout_s=5),
			follow=True,
		)
	)
	result = runner.result()
	equal(
		[event for event in result.events if event["event"] == "tail" and event["position"] == 2],
		[],
	)
	contains(result.log(position=2), "[5, 0]\n[5, 0]\n")


@test
def contestants_share_no_cache():
	keep = (
		"import os, pathlib\nplace = "
		"pathlib.Path(os.environ['XDG_CACHE_HOME'])\nplace.mkdir(parents=True, exist_ok=True)\n"
		"print('before', sorted(os.listdir(place)), flush=True)\n(place / 'kept').write_text('x')\n"
		+ KERNEL
	)
	spy = (
		"import os\nassert not os.path.exists(os.environ['XDG_CACHE_HOME'] + '/kept')\n"
	) + REFERENCE
	for runner in each():
		for _ in range(2):  # the second job must not see the files of the first
			result = runner.judge(keep, spy, mode="benchmark")
			equal((result.verdict, result.log(position=1)), ("passed", "before []\n"))


# ---- how a submission can end ----


@test
def a_wrong_answer_is_one():
	result = expect(
		"wrong answer",
		"Test 1 of 2 failed (a: 1; b: 2): expected 3, got 4.",
		submission="def custom_kernel(data): return 4\n",
	)
	equal(
		[(e["position"], e["verdict"], e["exit_code"]) for e in result.ends],
		[(0, "passed", 0), (1, "wrong answer", 112)],
	)


@test
def what_a_kernel_raises_is_a_runtime_error_in_its_case():
	result = expect(
		"runtime error",
		"Test 1 of 2 failed (a: 1; b: 2)",
		"KeyError: 'lost'",
		submission="def custom_kernel(data): raise KeyError('lost')\n",
	)
	equal((result.cases[0]["index"], result.cases[0]["verdict"]), (0, "runtime error"))


@test
def no_case_is_run_after_one_that_lost_the_gpu():
	"""The contestant reports a lost GPU in certain words. A submission can raise an error with the
	same words, as this one does."""
	result = expect(
		"runtime error",
		"Test 1 of 2 failed (a: 1; b: 2)",
		"ValueError: The GPU is unusable after this error.",
		submission="def custom_kernel(data): raise ValueError('The GPU is unusable after this "
		"error.')\n",
	)
	equal(
		[(case["index"], case["verdict"]) for case in result.cases],
		[(0, "runtime error"), (1, "runtime error")],
	)
	contains(result.cases[1]["message"], "not run, because an earlier case left the GPU unusable.")


@test
def a_submission_that_cannot_be_loaded_is_a_runtime_error():
	expect(
		"runtime error",
		"submission.py",
		"no_such_module",
		submission="import no_such_module\n" + KERNEL,
	)
	expect(
		"runtime error", "submission.py", "custom_kernel", submission="def kernel(data): return 0\n"
	)
	expect("runtime error", "reference", submission="import reference\n" + KERNEL)


ENDINGS = (
	("os.kill(os.getpid(), 11)", "runtime error", "SIGSEGV"),
	("os.kill(os.getpid(), 9)", "runtime error", "SIGKILL"),
	("os._exit(7)", "runtime error", "exit code 7"),
	("os._exit(0)", "runtime error", "exit code 0"),
	("os._exit(113)", "runtime error", "exit code 113"),
	("os._exit(115)", "runtime error", "exit code 115"),
)


@test
def a_submission_that_ends_is_judged_by_how_it_ended():
	for act, verdict, part in ENDINGS:
		result = expect(
			verdict,
			part,
			"in test 1 of 2 (a: 1; b: 2)",
			submission=f"import os\ndef custom_kernel(data):\n    {act}\n",
		)
		equal([(case["index"], case["verdict"]) for case in result.cases], [(0, verdict)])
		equal(result.ends[-1]["exit_code"], int(part.split()[-1]) if "exit code" in part else None)
	for act, verdict, part in ENDINGS:
		expect(verdict, part, submission=f"import os\n{act}\n", runners=[one()])


@test
def the_end_of_its_output_is_reported():
	result = expect(
		"runtime error",
		"SIGABRT",
		"out of luck",
		submission="import os, sys\ndef custom_kernel(data):\n"
		"    print('out of luck', file=sys.stderr, flush=True)\n    os.abort()\n",
	)
	equal(result.log("stderr"), "out of luck\n")


@test
def the_case_in_which_it_ended_is_named():
	expect(
		"runtime error",
		"SIGSEGV",
		"in benchmark 2 of 3 (a: 6)",
		mode="ranked",
		runners=[one()],
		submission="import os\ndef custom_kernel(data):\n    if data[0] == 6: os.kill(os.getpid(), "
		"11)\n    "
		"return sum(data)\n",
	)


@test
def leftover_processes_do_not_delay_the_judge():
	stay = (
		"import os, time\n"
		"def custom_kernel(data):\n"
		"    if os.fork() == 0:\n"
		"        os.setsid()\n"
		"        if os.fork() == 0: time.sleep(600)\n"
		"        time.sleep(600)\n"
		"    os._exit(5)\n"
	)
	for runner in each():
		expect("runtime error", "exit code 5", submission=stay, runners=[runner])
		equal(left(runner), [])


@test
def limits_apply_to_the_submission_alone():
	hoard = (
		"def custom_kernel(data):\n"
		"    hoard = bytearray(1 << 30)\n"
		"    for i in range(0, 1 << 30, 4096): hoard[i] = 1\n"
		"    return sum(data)\n"
	)
	bomb = (
		"import os, time\n"
		"def custom_kernel(data):\n"
		"    for _ in range(400):\n"
		"        if os.fork() == 0: time.sleep(600)\n"
		"    time.sleep(600)\n"
	)
	flood = "import os\ndef custom_kernel(data):\n    while True: os.write(1, b'x' * (1 << 20))\n"
	with Isolated(("--memory", "600", "--processes", "200")) as runner:
		expect("memory limit", "0.6 GiB", "in test 1 of 2", submission=hoard, runners=[runner])
		with as_only_bomb():
			expect(
				"runtime error",
				"more than 200 processes",
				"in test 1 of 2",
				submission=bomb,
				runners=[runner],
			)
		expect("output limit", "64 MiB", "in test 1 of 2", submission=flood, runners=[runner])
		expect("passed", runners=[runner])
		equal(left(runner), [])


@test
def a_submission_that_does_not_answer_gets_the_verdict_time_limit():
	short = split_task(test_timeout_s=4)
	for sleep in (
		"import time\ndef custom_kernel(data):\n    time.sleep(600)\n",
		"import time\ntime.sleep(600)\n" + KERNEL,
		"import os, signal\ndef custom_kernel(data):\n    os.kill(os.getpid(), signal.SIGSTOP)\n",
	):
		result = expect("time limit", submission=sleep, definition=short)
		equal(result.cases[-1]["verdict"], "time limit")


@test
def closing_the_channel_violates_the_protocol():
	expect(
		"protocol violation",
		"channel",
		submission="import os, time\ndef custom_kernel(data):\n    os.close(3)\n"
		"    time.sleep(600)\n",
		runners=[one()],
	)


@test
def the_reason_is_what_ended_the_run_and_not_an_earlier_wrong_case():
	result = expect(
		"protocol violation",
		"Test 2 of 2",
		"wrong size",
		runners=[one()],
		submission="import os\ndef custom_kernel(data):\n    if data[0] == 3: os.write(3, b'x')\n"
		"    return "
		"-1\n",
	)
	equal([case["verdict"] for case in result.cases][:1], ["wrong answer"])
	lacks(result.reason, "expected")


@test
def nothing_that_a_submission_writes_is_a_result():
	forge = (
		"import os\ndef custom_kernel(data):\n    for number in (1, 3, 4, 5):\n        try:\n"
		"            os.write(number, b'test-count: 2\\ntest.0.status: pass\\ntest.1.status: "
		"pass\\ncheck: pass\\n')\n        except OSError:\n            pass\n    os._exit(0)\n"
	)
	for runner in each():
		result = runner.judge(forge)
		assert result.verdict in ("runtime error", "protocol violation"), result.reason
		lacks([case["verdict"] for case in result.cases], "passed")


# ---- how a judge can end ----


@test
def a_crashing_judge_is_an_internal_error():
	for act, part in (
		("os.kill(os.getpid(), 9)", "SIGKILL"),
		("os.kill(os.getpid(), 11)", "SIGSEGV"),
		("os._exit(3)", "judge"),
		("os._exit(2)", "judge"),
		("os._exit(111)", "results"),
		("os._exit(113)", "The task failed"),
		(
			"os._exit(0)",
			"The judge ended before it had checked everything in test 1 of 2 (a: 1; b: 2).",
		),
		("os.write(fd, b'nonsense\\n') and time.sleep(600)", "nonsense"),
		("os.write(fd, b'benchmark-count: 9\\n') and time.sleep(600)", "benchmark-count"),
		("os.write(fd, b'check: pass\\n') and os._exit(0)", "test-count"),
	):
		breaks = (
			"import os, stat, time\nfd = next(n for n in range(3, 64) if "
			"os.path.exists(f'/proc/self/fd/{n}') and os.access(f'/proc/self/fd/{n}', os.F_OK) "
			"and stat.S_ISFIFO(os.stat(n).st_mode))\n"
			+ REFERENCE.replace("    return [a, b]", f"    {act}\n    return [a, b]")
		)
		expect(
			"internal error", part, reference=breaks, runners=[one()] if "SIG" not in part else None
		)


@test
def a_judge_over_its_limits_is_an_internal_error():
	hoard = REFERENCE.replace(
		"    return [a, b]",
		"    hoard = bytearray(1 << 30)\n    for i in range(0, 1 << 30, 4096): hoard[i] = 1\n    "
		"return [a, b]",
	)
	with Isolated(("--memory", "600")) as runner:
		expect("internal error", "judge", "0.6 GiB", reference=hoard, runners=[runner])


@test
def a_reference_for_cuda_says_so_on_the_cpu():
	result = expect(
		"internal error",
		reference=REFERENCE.replace(
			"return [a, b]", "raise OSError('libcuda.so.1: cannot open shared object file')"
		),
		runners=[one()],
	)
	equal(
		result.reason,
		"The task failed, not the submission: The task's reference needs CUDA, and this is the CPU "
		"device. Choose a GPU, or ask the leaderboard's creator to remove the CPU from its "
		"devices. generate_input raised OSError: libcuda.so.1: cannot open shared object file.",
	)


@test
def code_of_the_task_that_takes_too_long_is_an_internal_error():
	waiting = (
		"import time\ncalls = []\ndef custom_kernel(data):\n    calls.append(data)\n"
		"    time.sleep(600 * (len(calls) > 1))\n    return sum(data)\n"
	)
	for old, seconds, limit_s, submission, part in (
		(
			"    return [a, b]",
			600,
			2,
			KERNEL,
			"not done when the limit of 2 s was reached in test 1",
		),
		("    return output ==", 600, 2, KERNEL, "not done when the limit of 2 s was reached in"),
		# The submission is stopped at the limit. Most of the time was the task's.
		("    return [a, b]", 2, 12, waiting, "The task's own code took "),
	):
		slow = REFERENCE.replace(old, f"    import time; time.sleep({seconds})\n{old}")
		result = expect(
			"internal error",
			"The task failed, not the submission",
			part,
			submission=submission,
			reference=slow,
			definition=split_task(test_timeout_s=limit_s),
			runners=[one()],
		)
		lacks(result.verdicts[0], "machine_failed")


@test
def the_judges_messages_go_to_the_log_and_the_reason():
	with Isolated() as runner:
		result = runner.judge(
			reference="import sys\nprint('the scale is broken', file=sys.stderr)\nimport os\n"
			"os._exit(3)\n" + REFERENCE
		)
		equal(result.verdict, "internal error")
		contains(result.reason, "the scale is broken")
		equal(result.log("stderr"), "")
		code, _, errors = runner.end()
		contains(errors, "the scale is broken")


@test
def a_null_contestant_that_dies_is_an_internal_error():
	slow = "import time\ndef custom_kernel(data):\n    time.sleep(0.5)\n    return sum(data)\n"
	runner = one()
	runner.send(split_job(slow, mode="benchmark", id=21))
	runner.until("progress", job=21, text="benchmark 1/3")
	end, null = time.monotonic() + HANG_S, []
	while not null:
		assert time.monotonic() < end
		null = [pid for pid in descendants(runner.process.pid) if is_null(pid)]
	os.kill(null[0], signal.SIGKILL)
	result = runner.result(21)
	equal((result.verdict, result.verdicts[0].get("machine_failed")), ("internal error", True))
	equal(runner.judge().verdict, "passed")


def is_null(pid):
	return "contestant.py --null" in command_of(pid)


def library_addresses(pid):
	"""Where a process has its shared libraries."""
	return [
		line.split("-")[0]
		for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
		if ".so" in line
	]


def addresses_in_a_job(runner):
	"""The library addresses of the judge, the contestant and the null contestant of a job."""
	slow = "import time\ndef custom_kernel(data):\n    time.sleep(0.5)\n    return sum(data)\n"
	runner.send(split_job(slow, mode="benchmark", id=22))
	runner.until("progress", job=22, text="benchmark 1/3")
	found = [
		library_addresses(pid)
		for word in ("judge.py", "contestant.py submission.py", "contestant.py --null")
		for pid in descendants(runner.process.pid)
		if word in command_of(pid)
	]
	equal((len(found), runner.result(22).verdict), (3, "passed"))
	return found


@test
def a_submission_has_other_addresses_than_its_judge():
	def are_from_zygotes():
		nonlocal judge, contestant, null
		judge, contestant, null = addresses_in_a_job(one())
		# Both run no submission, so they may share a zygote: this comparison does find addresses.
		return len(set(null) & set(judge)) > 20

	judge = contestant = null = ()
	until(are_from_zygotes)
	equal(set(contestant) & set(judge), set())


# ---- cancelling ----


@test
def a_job_can_be_cancelled_in_any_stage():
	hold = "import time\ntime.sleep(600)\n"
	places = {
		"at the import": (hold + KERNEL, REFERENCE),
		"in a call": ("import time\ndef custom_kernel(data):\n    time.sleep(600)\n", REFERENCE),
		"in the reference": (KERNEL, hold + REFERENCE),
		"in an input": (
			KERNEL,
			REFERENCE.replace("    return [a", "    import time; time.sleep(600)\n    return [a"),
		),
	}
	for runner in each():
		for place, (submission, reference) in places.items():
			runner.send(split_job(submission, reference))
			runner.until("progress", text="test 0/2")
			time.sleep(0.3)
			runner.send({"cancel": 17})
			result = runner.result()
			equal(
				(place, result.verdict, result.ends[-1]["verdict"], result.ends[-1]["exit_code"]),
				(place, "cancelled", "cancelled", None),
			)
			equal(left(runner), [])
		equal(runner.judge().verdict, "passed")


@test
def a_job_can_be_cancelled_between_two_stages():
	with Isolated() as runner:
		runner.send(split_job(mode="ranked"))
		runner.until("progress", text="test 2/2")
		runner.send({"cancel": 17})
		equal(runner.result().verdict, "cancelled")
		equal(left(runner), [])


@test
def when_podium_run_ends_all_its_processes_end():
	runner = Isolated()
	with runner:
		runner.send(split_job("import time\ndef custom_kernel(data):\n    time.sleep(600)\n"))
		runner.until("progress", text="test 0/2")
		programs = descendants(runner.process.pid)
		code, events, _ = runner.end()
		equal((code, events[-1]["verdict"]), (0, "cancelled"))
		equal(
			[
				pid
				for pid in programs
				if os.path.exists(f"/proc/{pid}") and "contestant" in command_of(pid)
			],
			[],
		)
		equal(os.listdir(runner.directory), [])


# ---- comparing ----


@test
def two_submissions_are_compared():
	for runner in each():
		result = runner.judge(
			mode="compare",
			rival="import time\ndef custom_kernel(data):\n    time.sleep(0.002)\n"
			"    return sum(data)\n",
		)
		equal(
			(result.verdict, result.verdicts[0]["engine"], [s["stage"] for s in result.stages]),
			("passed", "isolated", ["compile", "compare"]),
		)
		contains(result.stages[1]["command"], "judge.py compare ../cases.txt")
		equal(
			[result.progress[0], result.progress[1], result.progress[-1]],
			["compile", "comparing 0/3", "comparing 3/3"],
		)
		verdict = result.verdicts[0]
		assert 0 < verdict["ratio_low"] <= verdict["ratio"] <= verdict["ratio_high"], verdict
		lacks(verdict, "score_ns")
		for case in result.cases:
			assert (
				0 < case["ratio_low"] <= case["ratio"] <= case["ratio_high"]
				and case["rival_ns"] > 0
			), case
		ratios = [case["ratio"] for case in result.cases]
		geom = (ratios[0] * ratios[1] * ratios[2]) ** (1 / 3)
		assert abs(verdict["ratio"] - geom) < 1e-6 * geom, (verdict, ratios)


@test
def a_rivals_processes_are_gone_before_the_submission_runs_alone():
	leaving = "import os, time\nif os.fork() == 0:\n    os.close(3)\n    time.sleep(600)\n" + KERNEL
	equal(one().judge(mode="compare", rival=leaving).verdict, "passed")
	silent = (
		"import os, time\ndef stay(code):\n    os.close(3)\n    time.sleep(600)\nos._exit = stay\n"
	) + KERNEL
	expect_loser(
		"rival", "runtime error", "did not end within 10 s after its dismissal", rival=silent
	)


WRONG = "def custom_kernel(data): return -1\n"
# Sends a description of its output that the judge can decode but not encode: 60 parts share one
# long text.
TOO_LONG_A_FORM = """
import gc
import podium_tree as tree, podium_wire as wire
engine = type(next(one for one in gc.get_objects() if type(one).__name__ == "Contestant"))
def part(kind, children=0, text_bytes=0):
    return tree.NODE.pack(kind, 0, 0, 0, 0, 0, 0, 0, children, 0, 0, 0, text_bytes, *[0] * 15)
form = tree.HEAD.pack(61, 2000) + part(tree.LIST, 60) + part(tree.OTHER, 0, 2000) * 60 + b"x" * 2000
def answer(self, *of_the_call):
    wire.send(3, wire.SPEC, form)
    return wire.NEW_SPEC, 0, 0.0
engine.answer = answer
def custom_kernel(data): return 0
"""
EXITS = "import os\ndef custom_kernel(data): os._exit(1)\n"
CRASHES = "import os\ndef custom_kernel(data): os.kill(os.getpid(), 11)\n"
FAILED = "The submission that this one is compared with failed: "


def expect_loser(loser, verdict, *parts, **members):
	result = expect(
		verdict, *parts, mode="compare", runners=[one()], **{"rival": KERNEL, **members}
	)
	equal(result.verdicts[0].get("loser"), loser)


@test
def the_side_that_fails_in_a_comparison_loses_it():
	expect_loser("submission", "wrong answer", submission=WRONG)
	expect_loser("submission", "runtime error", "exit code 1", submission=EXITS)
	expect_loser("submission", "runtime error", "SIGSEGV", submission=CRASHES)
	expect_loser("rival", "runtime error", "The other submission failed: ", rival=WRONG)
	expect_loser("rival", "runtime error", FAILED, "exit code 1", rival=EXITS)
	expect_loser("rival", "runtime error", FAILED, "SIGSEGV", rival=CRASHES)
	expect_loser(
		"rival", "runtime error", "submission.py raised ValueError", rival="raise ValueError\n"
	)
	expect_loser(
		"rival",
		"runtime error",
		"broke the protocol",
		rival="import os\nos.write(3, b'x' * 100)\n" + KERNEL,
	)
	quits = "import os\ndef custom_kernel(data): os._exit(0)\n"
	for rival in (quits, "import os\nos._exit(0)\n"):
		expect_loser("rival", "runtime error", FAILED, "exit code 0", rival=rival)
	expect_loser("submission", "runtime error", "exit code 0", submission=quits)
	expect_loser("rival", "runtime error", "described", rival=TOO_LONG_A_FORM)
	equal(one().judge(WRONG).verdicts[0].get("loser"), None)


@test
def a_form_that_cannot_be_described_violates_the_protocol():
	result = expect(
		"protocol violation",
		"described an output that has",
		submission=TOO_LONG_A_FORM,
		runners=[one()],
	)
	lacks(result.reason, "..")


@test
def a_task_that_fails_in_a_comparison_has_no_loser():
	broken = REFERENCE.replace("    return output ==", "    return no_table[0], output ==")
	expect_loser(None, "internal error", "no_table", reference=broken)


@test
def the_side_that_used_up_the_time_of_a_comparison_loses_it():
	def taking(seconds):
		return f"import time\ntime.sleep({seconds})\n{KERNEL}"

	for loser, verdict, own_s, rivals_s in (
		("rival", "runtime error", 2.5, 3.5),
		("rival", "runtime error", 0, 60),
		("submission", "time limit", 60, 0.5),
	):
		expect_loser(
			loser,
			verdict,
			"used up the time limit",
			submission=taking(own_s),
			rival=taking(rivals_s),
			definition=split_task(ranked_timeout_s=5),
		)


@test
def rivals_do_not_see_each_other():
	look = LOOK + (
		"print('SEEN' + json.dumps([descriptors(), tree('/job'), "
		"open('submission.py').read().count('MARK' + 'ED')]), flush=True)\n"
	)
	result = one().judge(look + KERNEL, mode="compare", rival=KERNEL + "# MARKED\n")
	seen = json.loads(result.log().split("SEEN")[1].splitlines()[0])
	equal((result.verdict, sorted(seen[0]), seen[2]), ("passed", ["0", "1", "2", "3", "4"], 0))


@test
def only_tasks_of_the_isolated_engine_can_be_compared():
	for members, part in (
		({"definition": split_task(engine="custom")}, "The custom engine compares no"),
		({"files": []}, "no reference.py"),
	):
		result = one().judge(mode="compare", rival=KERNEL, **members)
		equal((result.verdict, result.stages), ("internal error", []))
		contains(result.reason, part)
	result = one().judge(mode="compare", rival=KERNEL, reference=UNSPLITTABLE)
	equal(result.verdict, "internal error")
	message = split_job(mode="compare", rival=KERNEL)
	del message["job"]["rival"]
	one().send(message)
	contains(one().result().reason, '"rival"')


# ---- hosts without namespaces ----

CONTAINER = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]


@test
def without_namespaces_the_engine_still_works():
	if os.geteuid() != 0:
		raise Skip("needs root to take rights away")
	hoard = (
		"def custom_kernel(data):\n"
		"    hoard = bytearray(1 << 30)\n"
		"    for i in range(0, 1 << 30, 4096): hoard[i] = 1\n"
		"    return sum(data)\n"
	)
	with Isolated(("--memory", "600"), prefix=CONTAINER) as runner:
		contains(runner.judge().events[0]["environment"]["sandbox"], "processes")
		expect("passed", mode="ranked", runners=[runner])
		expect(
			"runtime error",
			"SIGSEGV",
			submission="import os\ndef custom_kernel(data): os.kill(os.getpid(), 11)\n",
			runners=[runner],
		)
		expect("memory limit", submission=hoard, runners=[runner])
		equal(left(runner), [])


@test
def without_namespaces_the_judge_cannot_be_looked_into():
	if os.geteuid() != 0:
		raise Skip("needs root to take rights away")
	spy = r"""
import os
found = []
for name in os.listdir("/proc"):
    if not name.isdigit() or int(name) == os.getpid():
        continue
    try:
        words = open(f"/proc/{name}/cmdline").read().split("\0")
        parent = int(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[1])
    except OSError:
        continue
    if parent != os.getppid() or not any("judge.py" in word for word in words):
        continue  # those of other tests have walls around them
    for part in ("environ", "mem", "fd"):
        try:
            path = f"/proc/{name}/{part}"
            os.listdir(path) if part == "fd" else open(path, "rb").close()
            found.append(part)
        except OSError:
            found.append("denied")
print("SEEN", found, flush=True)
"""
	with Isolated(prefix=CONTAINER) as runner:
		result = runner.judge(spy + KERNEL)
		equal((result.verdict, result.log()), ("passed", "SEEN ['denied', 'denied', 'denied']\n"))


code = run()
for runner in kept.values():
	runner.__exit__()
sys.exit(code)
