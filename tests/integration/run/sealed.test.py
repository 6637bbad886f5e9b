#!/usr/bin/python3
"""The sealed engine in podium-run: which programs it starts, what each sees, and the verdict for
every way in which one can end. There is no GPU: the podium-run of these tests has the builder and
the launcher of tests/lib/pretended_sealed, whose judge keeps device memory on the host."""

import base64
import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from processes import command_of, descendants  # noqa: E402
from readable import readable_copy  # noqa: E402
from runner import BUILD, GPU, HANG_S, PYTHON, Runner, cu_task, job, task  # noqa: E402
from tap import Skip, contains, equal, run, test, until  # noqa: E402

PROGRAM = readable_copy(BUILD, "tests/podium-run") / "tests" / "podium-run"
REFERENCE = """
import torch

def generate_input(a, b=0, seed=0):
	return torch.arange(1, 9) * (a + 1) + seed

def check_implementation(data, output):
	return torch.equal(output, 2 * data), "not twice the input"
"""
# The pretended builder takes a submission without code. The isolated engine calls custom_kernel.
KERNEL = "def custom_kernel(data): return 2 * data\n"
REFUSES = KERNEL + "def answer(root): fail(sealed.REFUSED, b'It waits.')\n"
REFUSAL = "custom_kernel does something that the sealed engine cannot record. It waits."
HARNESS = "raise SystemExit('the custom engine runs')\n"


def run_in_launcher(code, when="run"):
	"""A submission whose plan makes the pretended launcher run this code in a call. `when`: "trace"
	for each frame TRACE instead."""
	return (
		"def answer(root):\n\tnumbers(ARENA, 1)[0] = 2\n"
		f"\tsend(output_of(root), *plan_of(root.elements(), {when}={code!r}))\n"
	)


def sealed_job(submission="", mode="test", reference=REFERENCE, rival=None, **members):
	compare = {"rival": {"name": "other.py", "text": rival}} if mode == "compare" else {}
	return job(
		submission,
		HARNESS,
		mode=mode,
		files=[{"path": "reference.py", "text": reference}],
		definition=members.pop("definition", task(engine="")),
		**{"engine": "sealed", "device": GPU, **members},
		**(compare | {"secret_seed": 987654321} if mode == "compare" else {}),
	)


kept = []
# A folder of programs for podium-run, which every user may enter. It is empty for most tests.
tools = pathlib.Path(tempfile.mkdtemp(prefix="podium-tools."))
tools.chmod(0o755)


def judge(*arguments, **members):
	"""Judges with a podium-run that the tests share, because the zygotes of each podium-run
	import torch, which takes seconds."""
	if not importlib.util.find_spec("torch"):
		raise Skip("needs torch")
	if not kept:
		environment = {"PATH": f"{tools}:{os.environ['PATH']}"}
		kept.append(Runner("--python", PYTHON, program=PROGRAM, environment=environment))
	kept[0].send(sealed_job(*arguments, **members))
	return kept[0].result()


def expect(verdict, *parts, engine_used="sealed", **members):
	result = judge(**members)
	if (result.verdict, result.engine) != (verdict, engine_used):
		raise AssertionError(f"{result.verdict} by the engine {result.engine}: {result.reason}")
	for part in parts:
		contains(result.reason, part)
	return result


# ---- runs to their ends ----


@test
def a_job_passes_its_stages_in_each_mode():
	for mode, stages in (("test", 1), ("benchmark", 2), ("ranked", 2)):
		result = expect("passed", mode=mode)
		equal([end["verdict"] for end in result.ends], ["passed"] * (stages + 1))
		equal("score_ns" in result.verdicts[0], mode == "ranked")
		contains(result.stages[1]["command"], "judge.py")


@test
def a_comparison_starts_six_programs():
	result = expect("passed", mode="compare", rival="")
	low, ratio, high = (result.verdicts[0][key] for key in ("ratio_low", "ratio", "ratio_high"))
	assert 0 < low <= ratio <= high, result.verdicts


@test
def no_process_is_left():
	expect("passed", submission="if os.fork() == 0: time.sleep(600)\n")
	until(
		lambda: all("podium-zygote" in command_of(pid) for pid in descendants(kept[0].process.pid)),
		HANG_S,
		explain=lambda: [command_of(pid) for pid in descendants(kept[0].process.pid)],
	)


@test
def calls_begin_only_when_no_process_of_the_builder_is_left():
	# The child would keep the builder's socket open.
	expect("passed", submission="def leave():\n\tif os.fork() == 0: time.sleep(600)\n")


@test
def a_builder_that_only_closes_its_socket_has_not_left():
	closes = "def leave():\n\tos.close(3)\n\ttime.sleep(600)\n"
	expect("time limit", "did not end within 5 s after its dismissal", submission=closes)


@test
def a_wrong_answer_is_one():
	wrong = "def answer(root): send(output_of(root), *plan_of(root.elements()))\n"
	result = expect("wrong answer", "not twice the input", submission=wrong)
	equal(result.cases[0]["verdict"], "wrong answer")


# ---- a call that cannot be recorded ----


@test
def a_call_that_cannot_be_recorded_fails_the_job_with_the_sentence():
	for mode in ("test", "ranked"):
		result = expect("runtime error", REFUSAL, submission=REFUSES, mode=mode)
		contains(result.cases[0]["message"], REFUSAL)


@test
def a_dry_run_falls_back_to_the_isolated_engine():
	for mode, stages in (("test", 2), ("ranked", 3)):
		result = expect(
			"passed", submission=REFUSES, mode=mode, may_fall_back=True, engine_used="isolated"
		)
		contains(result.engine_reason, REFUSAL)
		equal([stage["position"] for stage in result.stages], list(range(stages)))
		# The try with the sealed engine leaves no event.
		equal((result.progress.count("test 0/2"), result.progress.count("test 2/2")), (1, 1))
	equal(expect("passed", may_fall_back=True).engine_reason, "")


@test
def a_benchmark_that_cannot_be_recorded_makes_a_dry_run_fall_back_before_the_tests():
	refuses = (
		KERNEL + "built, good = 0, globals().get('answer')\ndef answer(root):\n\tglobal built\n"
		"\tbuilt += 1\n\tgood(root) if built < 3 else fail(sealed.REFUSED, b'It waits.')\n"
	)
	result = expect(
		"passed", submission=refuses, mode="ranked", may_fall_back=True, engine_used="isolated"
	)
	equal([stage["position"] for stage in result.stages], [0, 1, 2])


REFUSES_BENCHMARKS = (
	"built, good = 0, answer\ndef answer(root):\n\tglobal built\n\tbuilt += 1\n"
	"\tgood(root) if built < 3 else fail(sealed.REFUSED, b'It waits.')\n"
)


@test
def the_test_stage_says_which_benchmark_will_fail():
	for mode, verdict in (("test", "passed"), ("benchmark", "runtime error")):
		result = expect(verdict, submission=REFUSES_BENCHMARKS, mode=mode)
		equal(result.ends[1]["verdict"], "passed")
		equal(result.ends[1]["message"], f"Benchmark 1 of 3 (a: 5) will fail. {REFUSAL}")
		equal([case["verdict"] for case in result.cases[:2]], ["passed", "passed"])
	for definition, benchmark in (
		(task(engine="", ranking_by="last"), "1 of 1 (a: 7)"),
		(task(engine="", benchmarks=[]), None),
	):
		result = expect("passed", submission=REFUSES_BENCHMARKS, definition=definition)
		message = f"Benchmark {benchmark} will fail. {REFUSAL}" if benchmark else ""
		equal(result.ends[1]["message"], message)
	equal(expect("passed").ends[1]["message"], "")


@test
def plans_of_a_ranked_run_take_at_most_half_of_the_tests_time_limit():
	slow = "good = answer\ndef answer(root): time.sleep(2.5); good(root)\n"
	expect("passed", submission=slow, definition=task(engine="", test_timeout_s=8))


@test
def a_task_that_the_sealed_engine_cannot_run_needs_another_one():
	varies = REFERENCE.replace("+ seed", "+ seed, seed").replace("2 * data)", "2 * data[0])")
	said = "The sealed engine cannot run this task: Two inputs of the case"
	definition = task(engine="", tests=["a: 1; b: 2; seed: 3", "a: 3; b: 4; seed: 5"])
	expect(
		"internal error",
		said,
		"An admin can start a dry run",
		reference=varies,
		definition=definition,
	)
	result = expect(
		"passed",
		reference=varies,
		submission="def custom_kernel(data): return 2 * data[0]\n",
		definition=definition,
		may_fall_back=True,
		engine_used="isolated",
	)
	contains(result.engine_reason, "differ in numbers, texts, flags or tensors on the CPU")


@test
def only_tasks_on_a_gpu_can_be_sealed():
	for said, members in (
		("replays the work of a GPU", {"device": {"model": "CPU"}}),
		("The task has no task.h", {"definition": cu_task(engine="")}),
	):
		expect("internal error", "The sealed engine cannot run this task: ", said, **members)


# ---- plans ----


def plans_of(result):
	"""{case: (the plan, the figures)}, and {hash: bytes} of the blobs."""
	plans, blobs = {}, {}
	for event in result.events:
		if event["event"] in ("plan", "blob"):
			equal((event["part"], event["parts"]), (0, 1))
			content = gzip.decompress(base64.b64decode(event["base64"]))
			equal(len(content), event["size"])
		if event["event"] == "plan":
			equal(event["position"], result.stages[-1]["position"])
			text, figures = content[: event["text_bytes"]], content[event["text_bytes"] :]
			plans[event["index"]] = json.loads(text), json.loads(figures)
		elif event["event"] == "blob":
			assert event["sha256"] not in blobs
			blobs[event["sha256"]] = content
	return plans, blobs


@test
def the_plans_of_the_last_stage_are_sent():
	for mode, cases in (("test", 2), ("benchmark", 3)):
		plans, blobs = plans_of(expect("passed", mode=mode))
		equal((list(plans), list(blobs.values())), (list(range(cases)), [b"cubin"]))
		plan, figures = plans[0]
		equal((plan["count"], plan["images"][0]["sha256"]), (8, list(blobs)[0]))
		equal((figures[0]["node"], figures[0]["registers"]), (1, 32))


def times_of(result):
	"""For each plan, the times of its nodes."""
	return [
		{one["node"]: (one["begin_ns"], one["end_ns"]) for one in figures if "end_ns" in one}
		for _, figures in plans_of(result)[0].values()
	]


@test
def only_the_plans_of_a_ranked_run_have_times():
	times = {0: (0, 700), 1: (1000, 3000)}
	equal(times_of(expect("passed", mode="ranked")), [times] * 3)
	equal(times_of(expect("passed", mode="benchmark")), [{}] * 3)


@test
def a_launcher_that_fails_or_lies_in_a_trace_costs_only_the_times():
	for code in (
		"sys.exit(3)",
		"os.kill(os.getpid(), 11)",
		"answer = b'nonsense'",
		"plan['run'] = 'os.kill(os.getpid(), 9)'",
		"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
	):
		result = expect("passed", mode="ranked", submission=run_in_launcher(code, "trace"))
		equal(times_of(result), [{}] * 3)
		assert "score_ns" in result.verdicts[0], result.verdicts
		equal(result.verdicts[0].get("machine_failed", False), False)


@test
def a_reference_that_crashes_in_a_trace_costs_only_the_times():
	dies = "\timport os\n\tif called_by({!r}): {}\n\treturn torch.arange"
	called_by = (
		"def called_by(name):\n"
		"	import traceback\n"
		"	return any(frame.f_code.co_name == name for frame, _ in traceback.walk_stack(None))\n"
	)
	for who, verdict in (("trace", "passed"), ("run_part", "internal error")):
		for how in ("os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 11)", "os._exit(3)"):
			died = REFERENCE.replace("\treturn torch.arange", dies.format(who, how))
			result = expect(verdict, mode="ranked", reference=called_by + died)
			equal(times_of(result), [{}] * (3 if verdict == "passed" else 0))
			equal("score_ns" in result.verdicts[0], verdict == "passed")


@test
def a_wrong_answer_has_a_plan_and_a_refused_call_has_none():
	wrong = "def answer(root): send(output_of(root), *plan_of(root.elements()))\n"
	equal(list(plans_of(expect("wrong answer", submission=wrong))[0]), [0, 1])
	equal(plans_of(expect("runtime error", submission=REFUSES)), ({}, {}))
	equal(plans_of(expect("passed", mode="compare", rival="")), ({}, {}))


@test
def files_that_the_reference_puts_in_the_place_of_plans_are_not_sent():
	hostile = (
		"import atexit, json, os\n"
		"def replace():\n"
		"	os.chdir('../tmp/plans')\n"
		"	for name in os.listdir('.'): os.remove(name)\n"
		"	os.symlink('/etc/passwd', '0')\n"
		"	json.dump({'text': '{}', 'figures': [], 'blobs': ['../../x', 7]}, open('1', 'w'))\n"
		"atexit.register(replace)\n"
	)
	plans, blobs = plans_of(expect("passed", reference=hostile + REFERENCE))
	equal((plans, blobs), ({1: ({}, [])}, {}))


# ---- machine code ----

CUOBJDUMP = """#!/bin/sh
[ "$*" = "-sass -fun double_it $4" ] || exit 3
echo "code of $3 in $(cat "$4")"
"""


def code_of(tool, name="kernels.sass", **members):
	"""Judges with this program as cuobjdump. Returns the result and the machine code, or the
	artifact of this name."""
	path = tools / "cuobjdump"
	path.write_text(tool)
	path.chmod(0o755)
	try:
		result = judge(**members)
	finally:
		path.unlink()
	found = [event for event in result.events if event["event"] == "artifact"]
	found = [event for event in found if event["name"] == name]
	content = b"".join(base64.b64decode(event["base64"]) for event in found)
	return result, gzip.decompress(content).decode() if found else None


@test
def the_machine_code_of_each_kernel_is_sent_once():
	result, code = code_of(CUOBJDUMP)
	equal((result.verdict, code), ("passed", "code of double_it in cubin\n"))
	assert [event["event"] for event in result.events[-2:]] == ["stage_end", "verdict"]


@test
def the_ptx_of_a_kernel_comes_from_tritons_cache():
	fills = (
		"import os\n"
		"def fill(version, cubin, ptx, name='double_it'):\n"
		"	folder = os.environ['TRITON_CACHE_DIR'] + '/' + version\n"
		"	os.makedirs(folder)\n"
		"	open(f'{folder}/{name}.cubin', 'wb').write(cubin)\n"
		"	open(f'{folder}/{name}.ptx', 'w').write(ptx)\n"
		"fill('AB', b'cubin', '.version 9')\n"
		"fill('CD', b'other', '.version 8')\n"
		"fill('EF', b'cubin', '.version 7', 'halve_it')\n"
		"fill('GH', b'cubin', 'x' * (5 << 20))\n"
		"there = os.environ['TRITON_CACHE_DIR'] + '/IJ'\n"
		"os.makedirs(there)\n"
		"os.symlink('/etc/passwd', there + '/double_it.ptx')\n"
		"os.symlink('../AB/double_it.cubin', there + '/double_it.cubin')\n"
	)
	found = [
		event for event in expect("passed", submission=fills).events if event["event"] == "artifact"
	]
	equal([event["name"] for event in found if event["name"] != "kernels.sass"], ["kernels.ptx"])
	content = base64.b64decode(found[-1]["base64"])
	equal(gzip.decompress(content), b".version 9")


@test
def the_ptx_of_a_torch_extension_is_sent_if_it_has_a_kernel_of_a_plan():
	fills = (
		"import os\n"
		"def fill(name, content, file=None):\n"
		"	folder = os.environ['TORCH_EXTENSIONS_DIR'] + '/' + name\n"
		"	os.makedirs(folder)\n"
		"	open(f'{folder}/{file or name}.so', 'w').write(content)\n"
		"fill('one', '.visible .entry double_it(')\n"
		"fill('other', '.visible .entry double_it_all(')\n"
		"fill('.hidden', '.entry double_it( hidden')\n"
		"fill('object', '.entry double_it( object', 'object.o')\n"
		"fill('large', '.entry double_it(' + 'x' * (17 << 20))\n"
		"os.rename(os.environ['TORCH_EXTENSIONS_DIR'] + '/object/object.o.so',"
		" os.environ['TORCH_EXTENSIONS_DIR'] + '/object/object.o')\n"
		"os.makedirs(os.environ['TORCH_EXTENSIONS_DIR'] + '/link')\n"
		"os.symlink('/etc/passwd', os.environ['TORCH_EXTENSIONS_DIR'] + '/link/link.so')\n"
	)
	tool = '#!/bin/sh\n[ "$1" = -ptx ] || exit 3\ncat "$2"\n'
	result, ptx = code_of(tool, "kernels.ptx", submission=fills)
	equal((result.verdict, ptx), ("passed", ".visible .entry double_it("))
	result, ptx = code_of("#!/bin/sh\nexit 1\n", "kernels.ptx", submission=fills)
	equal((result.verdict, ptx), ("passed", None))


@test
def a_failing_or_endless_cuobjdump_costs_only_the_code():
	result, code = code_of("#!/bin/sh\necho half; exit 1\n")
	equal((result.verdict, code), ("passed", None))
	result, code = code_of("#!/bin/sh\nyes\n")
	equal((result.verdict, len(code)), ("passed", 4 << 20))


@test
def a_kernel_with_a_hostile_name_is_not_shown():
	hostile = (
		"def answer(root):\n\tnumbers(ARENA, 1)[0] = 2\n"
		"\tnodes = [{'kind': 'kernel', 'image': 0, 'name': '-x;$(id)'}]\n"
		"\tsend(output_of(root), *plan_of(root.elements(), nodes=nodes))\n"
	)
	result, code = code_of('#!/bin/sh\necho "$@"\n', submission=hostile)
	equal((result.verdict, code), ("passed", None))


# ---- what each program sees ----


@test
def the_builder_sees_no_reference_and_no_judge():
	look = "raise RuntimeError(' '.join(sorted(os.listdir('.') + os.listdir('../engine'))))\n"
	reason = expect("runtime error", submission=look).reason
	for name in ("builder.py", "sealed.so", "libjansson.so.4", "libsodium.so.23", "submission.py"):
		contains(reason, name)
	for name in ("reference.py", " judge.py", "podium_staging.py", "launch"):
		assert name not in reason, reason


@test
def the_launcher_sees_nothing_but_itself():
	look = "sys.exit(' '.join(sorted(os.listdir('.') + os.listdir('../engine'))))"
	reason = expect("runtime error", submission=run_in_launcher(look)).reason
	assert reason.endswith(": launch libjansson.so.4 libsodium.so.23."), reason


@test
def no_other_program_has_the_secret():
	look = "sys.exit(str([key for key in os.environ if key.startswith(('POPCORN', 'PODIUM'))]))"
	contains(expect("runtime error", mode="ranked", submission=run_in_launcher(look)).reason, "[]")


# ---- programs that end ----


@test
def a_builder_that_ends_is_the_submissions_fault():
	for body, verdict, part in (
		("os._exit(3)", "runtime error", "ended the program with exit code 3"),
		("os._exit(0)", "runtime error", "ended the program with exit code 0"),
		("os.kill(os.getpid(), 11)", "runtime error", "SIGSEGV"),
		("raise ValueError('seven')", "runtime error", "exit code 1"),
	):
		result = expect(verdict, part, submission=f"def answer(root): {body}\n")
		equal(result.verdicts[0].get("machine_failed", False), False)


@test
def a_launcher_that_ends_in_a_call_is_the_plans_fault():
	for code, part in (
		("sys.exit(3)", "The launcher of the recorded call ended with exit code 3 in test 1 of 2"),
		("os.kill(os.getpid(), 9)", "SIGKILL"),
	):
		result = expect("runtime error", part, submission=run_in_launcher(code))
		equal(result.verdicts[0].get("machine_failed", False), False)


@test
def in_a_comparison_the_side_whose_launcher_ends_loses():
	ends = run_in_launcher("sys.exit(3)")
	result = expect("runtime error", "exit code 3", submission=ends, mode="compare", rival="")
	equal(result.verdicts[0]["loser"], "submission")
	result = expect(
		"runtime error",
		"The submission that this one is compared with failed: The launcher",
		mode="compare",
		rival=ends,
	)
	equal(result.verdicts[0]["loser"], "rival")


@test
def without_a_gpu_the_machine_is_at_fault():
	with Runner() as runner:
		runner.send(sealed_job())
		result = runner.result()
		equal((result.verdict, result.engine), ("internal error", "sealed"))
		contains(result.reason, "The sealed engine needs a GPU, and torch")
		runner.send(sealed_job(KERNEL, may_fall_back=True))
		result = runner.result()
		equal((result.verdict, result.engine), ("passed", "isolated"))
		contains(result.engine_reason, "could not run: The sealed engine needs a GPU, and torch")


code = run()
for runner in kept:
	runner.__exit__()
shutil.rmtree(tools)
sys.exit(code)
