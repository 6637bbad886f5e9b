#!/usr/bin/python3
"""The judge of the sealed engine, without a GPU. The judge is the real one, but its device memory
lies on the host. The builder and the launcher of tests/lib/pretended_sealed answer its frames.
Hand-made plans go to the real launcher with a pretended driver. What torch and CUDA do,
tests/gpu/sealed shows on a GPU."""

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "redteam")]
import case as attacks  # noqa: E402
import device  # noqa: E402
import engine  # noqa: E402
import lies  # noqa: E402
from engine import ends_with  # noqa: E402

ENGINE = engine.build_sealed_engine()
sys.path.insert(1, str(ENGINE))
import podium_sealed as sealed  # noqa: E402
import podium_sealed_built as built  # noqa: E402
import podium_sealed_side as sealed_side  # noqa: E402
import podium_staging as staging  # noqa: E402
import podium_tensors  # noqa: E402
import podium_tree as tree  # noqa: E402
import podium_wire as wire  # noqa: E402
from podium_area import Area  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

try:
	import torch
except ImportError:
	torch = None

# ---- the pretended processes ----

PRETENDED = ROOT / "tests" / "lib" / "pretended_sealed"
(ENGINE / "judge.py").rename(ENGINE / "real_judge.py")
for name, file in (
	("judge", "judge"),
	("pretended", "pretended"),
	("pretended_builder", "builder"),
	("pretended_launcher", "launcher"),
):
	shutil.copy(PRETENDED / f"{file}.py", ENGINE / f"{name}.py")

DOUBLES = """
import torch

def generate_input(size, seed=0):
	return torch.arange(size) + seed + 1

def check_implementation(data, output):
	good = isinstance(output, torch.Tensor) and torch.equal(output, 2 * data)
	return good, "" if good else "not twice the input"
"""
CASES = "size: 3; seed: 5\nsize: 70; seed: 9\n"


@contextlib.contextmanager
def match(submission, mode, cases, reference, rival=None, launch=None, **environment):
	"""`launch`: the function that starts the real launcher; None: the launcher is pretended."""
	if not torch:
		raise Skip("needs torch")
	builder, launcher = (
		[engine.PYTHON, ENGINE / f"pretended_{name}.py"] for name in ("builder", "launcher")
	)
	programs = dict.fromkeys(("entry", "rival"), [*builder, "builder"])
	programs |= {name: [*launcher, name] for name in ("launcher", "rival_launcher")}
	programs["null"] = [*launcher, "--null"]
	if launch:
		programs |= {"launcher": [LAUNCH], "null": [LAUNCH, "--null"]}
		environment["REAL_LAUNCHER"] = "1"
	submissions = {"entry": submission, **({} if rival is None else {"rival": rival})}
	made = engine.SealedMatch(
		ENGINE,
		mode,
		cases,
		{"reference.py": reference},
		submissions,
		30,
		programs=programs,
		start=launch or engine.Forked,
		**{"PODIUM_SEALED": "1", **environment},
	)
	try:
		yield made
	finally:
		made.end()


def judge(submission="", mode="test", cases=CASES, reference=DOUBLES, rival=None, **more):
	with match(submission, mode, cases, reference, rival, **more) as made:
		result = made.wait(60)
		result.noted, result.places = [
			path.read_text().splitlines() if path.exists() else []
			for path in (made.folder / "noted", made.folder / "places")
		]
		return result


# ---- whole runs ----


@test
def a_plan_is_built_once_and_called_with_other_inputs():
	result = judge()
	ends_with(result, 0, "test.0.status: pass", "test.1.status: pass", "check: pass")
	inputs = [line.split()[1] for line in result.noted if line.startswith(("build", "call"))]
	equal(len(set(inputs)), len(inputs))
	equal([line.split()[0] for line in result.noted].count("build"), 2)


@test
def the_submission_s_process_ends_before_the_first_call():
	noted = [line.split()[0] for line in judge().noted]
	equal(noted[:3], ["build", "build", "builder"])
	assert "call" in noted[3:] and "builder" not in noted[3:], noted


@test
def a_builder_that_does_not_end_gets_no_call():
	result = judge("def leave(): time.sleep(20)\n")
	ends_with(result, 114, "The submission's process did not end within 5 s after its dismissal.")
	lacks([line.split()[0] for line in result.noted], "call")


@test
def timed_modes_measure_the_launcher():
	result = judge(mode="leaderboard", cases="size: 70; seed: 9\n")
	ends_with(result, 0, "benchmark.0.status: pass", "check: pass")
	assert int(result.lines["benchmark.0.runs"]) >= 3


@test
def the_null_contestant_is_measured_with_an_arena_before_the_load():
	result = judge(mode="benchmark", cases="size: 70; seed: 9\n", QUIET="1")
	ends_with(result, 0, "check: pass")
	assert "restore" in result.noted[: result.noted.index("builder left")], result.noted[:9]


@test
def a_comparison_has_two_builders_and_two_launchers():
	result = judge(mode="compare", cases="size: 7; seed: 9\n", rival="")
	ends_with(result, 0, "benchmark.0.ratio: ", "check: pass")


@test
def each_case_has_new_memory_and_the_null_contestant_its_own_input():
	result = judge(mode="benchmark")
	ends_with(result, 0, "check: pass")
	places = {}
	for line in result.places:
		name, offset, memory, _ = line.split()
		places.setdefault((name, int(offset)), []).append(memory)
	arena = built.ARENA_OFFSET
	equal(
		{key: len(set(memories)) for key, memories in places.items()},
		{
			("builder", 0): 2,
			("builder", arena): 1,
			("launcher", 0): 2,
			("launcher", arena): 2,
			("--null", 0): 2,
		},
	)
	every = [memory for memories in places.values() for memory in memories]
	equal(len(set(every)), len(every))


@test
def a_launcher_gets_as_much_of_the_arena_as_the_plan_needs():
	for needs, writes, mebibytes in ((8192, 0, 2), (3 << 20, 0, 4), (9, (2 << 20) + 8, 4)):
		result = judge(
			"def answer(root):\n\tnumbers(ARENA, 1)[0] = 2\n"
			f"\tif {writes}: numbers(ARENA + {writes}, 1)[0] = 1\n"
			f"\tsend(output_of(root), *plan_of(root.elements()), None, {needs})\n"
		)
		ends_with(result, 0, "check: pass")
		sizes = {
			(line.split()[0], int(line.split()[3]) >> 20)
			for line in result.places
			if int(line.split()[1]) == built.ARENA_OFFSET
		}
		equal(sizes, {("builder", 4), ("launcher", mebibytes)})


@test
def the_plans_of_the_last_mode_are_saved():
	with tempfile.TemporaryDirectory() as folder:
		plans = pathlib.Path(folder, "plans")
		refuses = (
			"def answer(root): send(output_of(root), *plan_of(root.elements(), refuse='No.'))\n"
		)
		judge(refuses, PODIUM_PLANS=str(plans))
		equal(list(plans.iterdir()), [])
		judge(PODIUM_PLANS=str(plans))
		blob = hashlib.sha256(b"cubin").hexdigest()
		equal({path.name for path in plans.iterdir()}, {"0", "1", blob})
		equal((plans / blob).read_bytes(), b"cubin")
		saved = json.loads((plans / "1").read_text())
		equal((json.loads(saved["text"])["count"], saved["blobs"]), (70, [blob]))
		figures = {"node": 1, "registers": 32, "local_bytes": 0, "static_shared_bytes": 1024}
		equal(saved["figures"], [{**figures, "blocks_per_sm": 8, "warps_per_sm_most": 64}])


@test
def a_full_disk_costs_only_the_plan():
	result = judge(PODIUM_PLANS="/dev/null/plans")
	ends_with(result, 0, "check: pass")
	contains(result.said["judge"] + result.complaints["judge"], "could not be saved")


# ---- traces ----

FIGURES = {
	"node": 1,
	"registers": 32,
	"local_bytes": 0,
	"static_shared_bytes": 1024,
	"blocks_per_sm": 8,
	"warps_per_sm_most": 64,
}
UNTRACED = [FIGURES]
TRACED = [{"node": 0, "begin_ns": 0, "end_ns": 700}, {**FIGURES, "begin_ns": 1000, "end_ns": 3000}]


def judge_traced(trace="", mode="leaderboard", **more):
	"""Judges a submission whose plan makes the launcher run this code for each frame TRACE. Returns
	the result, with the figures of the saved plans."""
	code = f"def answer(root):\n\tnumbers(ARENA, 1)[0] = 2\n\tmore = {{'trace': {trace!r}}}\n"
	with tempfile.TemporaryDirectory() as folder:
		result = judge(
			code + "\tsend(output_of(root), *plan_of(root.elements(), **more))\n",
			mode=mode,
			PODIUM_PLANS=folder,
			**more,
		)
		result.figures = [
			json.loads(pathlib.Path(folder, str(index)).read_text())["figures"]
			for index in range(2)
		]
		blob = hashlib.sha256(b"cubin").hexdigest()
		equal({path.name for path in pathlib.Path(folder).iterdir()} - {"1.new"}, {"0", "1", blob})
	return result


@test
def the_plans_of_a_ranked_run_have_times():
	result = judge_traced()
	ends_with(result, 0, "benchmark.1.status: pass", "check: pass")
	equal(result.figures, [TRACED, TRACED])
	packages = os.path.dirname(os.path.dirname(torch.__file__))
	words = [line.split() for line in result.noted]
	first = next(number for number, line in enumerate(words) if line[0] == "trace")
	assert words[first][1].startswith(packages + ":/usr/local/cuda"), words[first]
	# A trace begins, has its calls and ends, for each of the two cases.
	kinds = ["trace", *["call"] * sealed.TRACED_CALLS, "trace"]
	equal([line[0] for line in words[first:]], kinds * 2)


@test
def other_runs_are_not_traced():
	for mode in ("test", "benchmark"):
		result = judge_traced(mode=mode)
		equal(result.figures, [UNTRACED, UNTRACED])
		lacks("\n".join(result.noted), "trace")
	wrong = "def answer(root): send(output_of(root), *plan_of(root.elements()))\n"
	lacks("\n".join(judge(wrong, mode="leaderboard", PODIUM_PLANS="plans").noted), "trace")
	lacks("\n".join(judge(mode="leaderboard").noted), "trace")


@test
def a_trace_never_changes_the_result():
	cases = [
		(code, "sent times that cannot be")
		for code in (
			"answer = sealed.TIMES.pack(5, 4) + sealed.TIMES.pack(0, 1)",
			"answer = sealed.TIMES.pack(0, 4) + sealed.TIMES.pack(0, 10**12)",
			"answer = sealed.TIMES.pack(1, 4) + sealed.TIMES.pack(2, 3)",
			"answer = sealed.TIMES.pack(0, 4) + sealed.TIMES.pack(5, sealed.UNKNOWN_NS)",
			"answer = 2 * sealed.TIMES.pack(sealed.UNKNOWN_NS, sealed.UNKNOWN_NS)",
		)
	]
	cases += [
		("answer = b''", "the times of another plan"),
		("answer *= 2", "the times of another plan"),
		("answer = b'12345'", "multiple of 16"),
		("kind, answer = wire.TEXT, b'CUPTI failed'", "CUPTI failed"),
		("kind = wire.TEXT", "Some plans have no times: "),
		("kind = wire.READY", "sent an unexpected frame"),
		("if not begins: kind, answer = wire.TEXT, b'CUPTI refused'", "CUPTI refused"),
		("if not begins: kind = wire.READY", "sent an unexpected frame"),
		("sys.exit(3)", "Some plans have no times: "),
		("if not begins: os.kill(os.getpid(), 9)", "The launcher ended."),
		("plan['run'] = 'sys.exit(3)'", "Some plans have no times: The launcher ended."),
		("plan['run'] = 'os._exit(0)'", "Some plans have no times: The launcher ended."),
	]
	for code, said in cases:
		result = judge_traced(code)
		ends_with(result, 0, "benchmark.0.status: pass", "benchmark.1.status: pass", "check: pass")
		equal(result.figures, [UNTRACED, UNTRACED])
		contains(result.said["judge"] + result.complaints["judge"], said)


@test
def a_long_plan_has_times_as_far_as_a_frame_has_room():
	most = wire.CONTENT_BYTES // sealed.TIMES.size
	text = json.dumps({"nodes": [{"kind": "kernel"}] * (most + 1)})
	build = sealed_side.Build(b"", b"", text.encode(), [], None, 0)
	build.figures = [{"node": number, "registers": 9} for number in range(most + 1)]
	build.learn_times(sealed.TIMES.pack(0, 5) * most, 5)
	timed = {"node": most - 1, "registers": 9, "begin_ns": 0, "end_ns": 5}
	equal(build.figures[most - 1 :], [timed, {"node": most, "registers": 9}])


@test
def a_case_with_times_keeps_them_if_the_next_has_none():
	result = judge_traced("if plan['count'] > 9: kind = wire.TEXT")
	ends_with(result, 0, "check: pass")
	equal(result.figures, [TRACED, UNTRACED])


@test
def a_launcher_that_is_silent_in_a_trace_costs_a_bounded_time():
	for code in ("time.sleep(60)", "plan['run'] = 'time.sleep(60)'"):
		began = time.monotonic()
		result = judge_traced(code, TRACE_S="1.5")
		ends_with(result, 0, "benchmark.1.status: pass", "check: pass")
		assert time.monotonic() - began < 20, time.monotonic() - began
		equal(result.figures, [UNTRACED, UNTRACED])
		said = result.said["judge"] + result.complaints["judge"]
		contains(said, "tracing them took too long")
		lacks(said, "Some plans have no times: ")  # the words if the limit of one answer had passed


# ---- cases without a plan ----


@test
def a_refused_case_leaves_the_others():
	result = judge(
		"good = answer\ndef answer(root):\n"
		"	good(root) if root.elements() > 3 else fail(sealed.REFUSED, b'Line 3 waits.')\n"
	)
	sentence = "custom_kernel does something that the sealed engine cannot record. Line 3 waits."
	ends_with(result, 121, f"test.0.error: {sentence}", "test.1.status: pass", "check: fail")


@test
def no_case_runs_if_all_must_have_plans_and_one_has_none():
	refuses = (
		"def answer(root): good(root) if root.elements() < 9 else fail(sealed.REFUSED, b'No.')\n"
	)
	result = judge("good = answer\n" + refuses, PODIUM_SEALED="all")
	sentence = "The case size: 70; seed: 9: custom_kernel does something that the sealed engine"
	ends_with(result, 121, f"error: {sentence} cannot record. No.")
	lacks(result.text, "test-count")
	ends_with(judge(PODIUM_SEALED="all"), 0, "test.1.status: pass", "check: pass")


@test
def each_status_has_its_verdict():
	for status, code, sentence in (
		("RAISED", 1, "test.0.error: why"),
		("NO_OUTPUT", 112, "test.0.error: why"),
	):
		result = judge(f"def answer(root): fail(sealed.{status}, b'why')\n")
		ends_with(result, code, sentence)
	result = judge("def answer(root): fail(9, b'why')\n")
	ends_with(result, 116, "answered with the unknown status 9")


@test
def a_submission_that_keeps_too_much_memory_is_told_so():
	result = judge(KEPT_SHARE="0")
	ends_with(
		result, 121, "custom_kernel keeps 2 MiB of the GPU's memory from call to call. The judge"
	)


@test
def a_lost_gpu_leaves_the_other_cases_untried():
	said = "b'broken\\nThe GPU is unusable after this error.'"
	result = judge(
		f"def answer(root): fail(sealed.RAISED, {said})\n"
		"map_place = place\ndef place(content, descriptors):\n\tmap_place(content, descriptors)\n"
		"\tif not descriptors: wire.send(SOCKET, wire.TEXT, b'cuMemUnmap failed')\n"
	)
	ends_with(result, 110, "test.0.error: broken", "test.1.error: not run, because an earlier case")


@test
def a_plan_that_the_launcher_refuses_fails_its_case():
	result = judge(
		"def answer(root):\n\tmore = {'refuse': 'A memset leaves the memory.'}\n"
		"\tnumbers(ARENA, 1)[0] = 2\n"
		"\tmore = more if root.elements() < 9 else {}\n"
		"\tsend(output_of(root), *plan_of(root.elements(), **more))\n"
	)
	ends_with(result, 121, "cannot record. A memset leaves the memory.", "test.1.status: pass")


@test
def a_builder_that_ends_or_breaks_the_protocol_ends_the_run():
	ends_with(judge("def answer(root): sys.exit(3)\n"), 117, "The submission's process ended")
	result = judge("def answer(root): wire.send(SOCKET, wire.MAPPED)\n")
	ends_with(result, 116, "The submission's process sent an unexpected frame")
	result = judge("wire.send(SOCKET, wire.TEXT, b'no custom_kernel')\n")
	ends_with(result, 1, "error: no custom_kernel")


# ---- lying answers ----


def lie(code):
	return judge("def answer(root):\n\ttext, blobs = plan_of(root.elements())\n\t" + code)


@test
def lying_plans_are_violations():
	for code, words in (
		("send(output_of(root), text, blobs, 1 << 30)", "its text ends beyond the file"),
		("send(output_of(root), text, [b'other'])", "a blob has another hash"),
		("send(output_of(root), text, [])", "a blob ends beyond the file"),
		("send(output_of(root), text, blobs * 2)", "bytes behind the last blob"),
		("send(output_of(root), b'[' * 100000, [])", "its text is not a plan's"),
		(
			"wire.send(SOCKET, wire.BUILT, sealed.ANSWER.pack(0, 9, 0) + output_of(root))",
			"its file is missing",
		),
		(
			"wire.send(SOCKET, wire.BUILT, sealed.ANSWER.pack(0, 9, 0), [os.open('/dev/zero', 0)])",
			"its file is not a memfd",
		),
		("send(output_of(root), text, blobs, None, 2**64 - 1)", "more memory than there was"),
	):
		ends_with(lie(code + "\n"), 116, "The submission's process sent a wrong plan: ", words)


@test
def outputs_outside_of_the_call_s_memory_are_violations():
	for code, words in (
		("send(output_of(root, (4 << 20) - 8), text, blobs)", "neither in the input nor"),
		("send(output_of(root, 2 << 20), text, blobs, None, 9)", "neither in the input nor"),
		("send(output_of(root, -8), text, blobs)", "neither in the input nor in the arena"),
		("send(tree.encode(tree.Node(tree.INT)), text, blobs)", "a number or a text"),
		("send(b'', text, blobs)", "a tree is cut off"),
	):
		result = lie(code + "\n")
		ends_with(result, 116, "The submission's process described its output wrongly: ", words)


# ---- hand-made plans ----

CUPTI = ENGINE / "cupti"
LAUNCH = ROOT / os.environ.get("B", "build/release") / "harness" / "sealed" / "launch"
# The pretended driver knows no GPU's limits, and has room for few nodes.
NEED_A_GPU = ("many-nodes", "pointer-outside", "endless-grid")
ADDS_THREE = """
import torch

def generate_input(size, seed=0):
	return (torch.arange(size) + seed % 100).to(torch.uint8)

def check_implementation(data, output):
	good = isinstance(output, torch.Tensor) and torch.equal(output, data + 3)
	return good, "" if good else "not three more than the input"
"""
# Copies the input, and adds a variable to the copy with the pretended driver's kernel add_gain.
BUILDS_A_PLAN = """
import struct
sys.path.insert(0, @REDTEAM@)
import lies

def plan_of(output, count):
	image, gain = open(@CUBIN@, "rb").read(), bytes([3, 0, 0, 0])
	copy = {
		"depth": 1,
		"from": [INPUT, 0, 0],
		"height": 1,
		"kind": "copy",
		"to": [output, 0, 0],
		"width": count,
	}
	kernel = {
		"block": [1, 1, 1],
		"grid": [1, 1, 1],
		"image": 0,
		"kind": "kernel",
		"name": "add_gain",
		"parameters": [[0, struct.pack("<Q", output).hex()], [8, struct.pack("<I", count).hex()]],
		"shared_bytes": 0,
	}
	plan = {
		"edges": [[0, 1]],
		"format": "podium plan 1",
		"images": [{"bytes": len(image), "sha256": lies.sha256(image)}],
		"nodes": [copy, kernel],
		"variables": [{"bytes": 4, "image": 0, "name": "gain", "sha256": lies.sha256(gain)}],
	}
	return lies.tell(@LIE@, plan, [image, gain])

def answer(root):
	send(output_of(root), *plan_of(ARENA + 4096, root.elements()))
"""
MAKE_CUBIN = """
#include "tests/lib/make_cubin.h"
#include <stdio.h>
int main(void)
{
	static uint8_t cubin[cubin_bytes];
	make_cubin(cubin, "kernel add_gain 8 4\\nvariable gain 4\\n", "__assertfail", 0);
	fwrite(cubin, 1, sizeof cubin, stdout);
}
"""


def compile_c(name, *words, text=None):
	made = ENGINE / name
	command = ["gcc", "-O1", "-std=c17", "-D_GNU_SOURCE", f"-I{ROOT}", "-o", made, *words]
	subprocess.run(command, input=text, text=True, cwd=ROOT, check=True)
	return made


def prepare_launcher():
	"""Makes the pretended driver, a cubin for it, and the pretended CUPTI."""
	if (ENGINE / "cubin").exists():
		return
	sources = ["tests/lib/pretend_cuda.c", "tests/lib/pretend_graph.c"]
	compile_c("libcuda.so.1", "-fPIC", "-shared", *sources, "-lpthread")
	CUPTI.mkdir()
	compile_c("cupti/libcupti.so.13", "-fPIC", "-shared", "tests/lib/pretend_cupti.c", "-lpthread")
	program = compile_c("make_cubin", "-x", "c", "-", text=MAKE_CUBIN)
	(ENGINE / "cubin").write_bytes(subprocess.run(program, capture_output=True, check=True).stdout)


def start_launcher(folder, words, descriptors, **environment):
	"""Starts a program of a match. All but the launcher are scripts."""
	if words[0] != LAUNCH:
		return engine.Forked(folder, words, descriptors, **environment)
	environment["LD_LIBRARY_PATH"] = str(ENGINE)
	return engine.start(folder, words, descriptors, **environment)


def judge_lie(name, **more):
	prepare_launcher()
	text = BUILDS_A_PLAN.replace("@LIE@", repr(name))
	text = text.replace("@REDTEAM@", repr(str(ROOT / "tests/redteam")))
	text = text.replace("@CUBIN@", repr(str(ENGINE / "cubin")))
	return judge(text, reference=ADDS_THREE, **{"launch": start_launcher, **more})


@test
def the_real_launcher_plays_a_right_plan():
	ends_with(judge_lie("honest"), 0, "test.0.status: pass", "test.1.status: pass", "check: pass")


# poll() that finds nothing, and returns only when frames have had time to arrive.
SLOW_POLL = """
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int poll(struct pollfd *polled, nfds_t count, int limit_ms)
{
	int found = (int)syscall(SYS_poll, polled, count, limit_ms);
	if (!found)
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	return found;
}
"""


@test
def the_real_launcher_takes_frames_that_arrive_after_its_last_look_for_frames():
	slow = compile_c("slow_poll.so", "-fPIC", "-shared", "-x", "c", "-", text=SLOW_POLL)
	launch = functools.partial(start_launcher, LD_PRELOAD=str(slow))
	ends_with(judge_lie("honest", mode="leaderboard", launch=launch, QUIET="1"), 0, "check: pass")


@test
def the_real_launcher_traces_the_plans_of_a_ranked_run():
	for cupti, times in ((CUPTI, [(0, 700), (770, 1470)]), ("/nowhere", [])):
		with tempfile.TemporaryDirectory() as folder:
			more = {"PODIUM_PLANS": folder, "CUPTI": str(cupti)}
			ends_with(judge_lie("honest", mode="leaderboard", **more), 0, "check: pass")
			for index in range(2):
				figures = json.loads(pathlib.Path(folder, str(index)).read_text())["figures"]
				found = [(one["begin_ns"], one["end_ns"]) for one in figures if "end_ns" in one]
				equal(found, times)


CODES = {"runtime error": 121, "protocol violation": 116}


@test
def each_lie_ends_as_its_attack_says():
	(plans,) = [one for one in attacks.every() if one.name == "sealed_plans"]
	for name in lies.LIES:
		if name not in ("honest", *NEED_A_GPU):
			(verdict,), reason = plans.expected(name)
			try:
				ends_with(judge_lie(name), CODES[verdict], reason)
			except AssertionError as fault:
				raise AssertionError(f"{name}: {fault}") from None


@test
def attacks_know_where_memory_lies():
	equal(lies.INPUT, sealed.RANGE_ADDRESS)
	contains(device.HEAD, f"INPUT = {sealed.RANGE_ADDRESS:#x},")
	contains(device.HEAD, f"ARENA = INPUT + ({built.ARENA_OFFSET >> 30}ull << 30),")
	contains(device.HEAD, f"ARENA_END = ARENA + ({sealed_side.ARENA_BYTES >> 30}ull << 30),")
	least = sealed_side.PIECE_BYTES >> 20
	contains(device.HEAD, f"ARENA_LEAST_END = ARENA + ({least}ull << 20),")


# ---- inputs ----


@test
def an_input_whose_part_on_the_host_varies_cannot_be_sealed():
	numbered = DOUBLES.replace("+ seed + 1", "+ seed + 1, seed").replace("2 * data", "2 * data[0]")
	ends_with(judge(reference=numbered), 115, "differ in numbers, texts, flags or tensors")
	# A flag that is the same in all inputs is part of the plan.
	fixed = numbered.replace("+ 1, seed", "+ 1, True")
	first = "good = answer\ndef answer(root): good(root.children[0])\n"
	ends_with(judge(first, reference=fixed), 0, "check: pass")


# ---- parts ----


def node_at(offset, sizes=(4,), strides=(1,), **more):
	node = tree.Node(tree.TENSOR)
	node.dtype, node.sizes, node.strides, node.offset = "float32", sizes, strides, offset
	for name, value in more.items():
		setattr(node, name, value)
	return node


def place_of(*arguments, **named):
	"""(memory, offset) of an output beside an input of 256 and an arena of 4096 bytes."""
	node = node_at(*arguments, **named)
	try:
		built.place_output(node, 256, 4096)
	except tree.Malformed:
		return None
	return node.memory, node.offset


@test
def an_output_lies_wholly_in_the_input_or_in_the_arena():
	arena, whole = built.ARENA_OFFSET, 256 - 16
	equal(place_of(0), (tree.IN_DEVICE, 0))
	equal(place_of(whole), (tree.IN_DEVICE, whole))
	equal(place_of(whole + 4), None)
	equal(place_of(arena - 4), None)
	equal(place_of(arena), (tree.OUT_DEVICE, 0))
	equal(place_of(arena + 4080), (tree.OUT_DEVICE, 4080))
	equal(place_of(arena + 4084), None)
	equal(place_of((1 << 62) - 4), None)
	equal(place_of(arena, (1 << 20,), (1 << 40,)), None)
	equal(place_of(arena, (1 << 40,), (0,)), (tree.OUT_DEVICE, 0))  # one element, repeated
	equal(place_of((1 << 62) - 4, (0,)), (tree.IN_DEVICE, 0))  # no element
	for more in ({"memory": tree.IN_HOST}, {"memory": tree.OUT_DEVICE}, {"flags": 1}):
		equal(place_of(0, **more), None)


def poisoned(dtype, sizes, strides):
	"""(the arena's bytes after the poison of an output at 64, its elements). They were zero."""
	if not torch:
		raise Skip("needs torch")
	count, memories = 4096, [wire.memory_make(False, 4096) for _ in range(2)]

	class Tensors(podium_tensors.Tensors):
		def bytes_at(self, address, count, is_cuda, array):
			array = (ctypes.c_uint8 * count).from_address(address)
			return torch.frombuffer(array, dtype=torch.uint8)

	tensors = Tensors(torch, False)
	inputs, whole = (Area([memory, None], [count, 0], 1, tensors) for memory in memories)
	arena = types.SimpleNamespace(area=whole, restore=whole.flat(0).zero_)
	form = tree.encode(node_at(built.ARENA_OFFSET + 64, sizes, strides, dtype=dtype))
	device = staging.Device(tensors)
	spec = sealed_side.SealedSpec(form, inputs, 256, arena, {}, device, count)
	spec.poison(0)
	node = spec.leaves[0]
	made = bytes(whole.flat(0).tolist()), tensors.view(node, spec.area.flat(0), 0).clone()
	equal(spec.take(0).changed_since(), False)
	return made


@test
def poison_covers_the_elements_of_an_output_and_nothing_else():
	for dtype, size in tree.DTYPES.items():
		if not torch or hasattr(torch, dtype):
			# The elements 0, 2, 7, 9, 14 and 16, each twice.
			inside = {64 + size * at + i for at in (0, 2, 7, 9, 14, 16) for i in range(size)}
			found = set()
			for _ in range(3):  # a byte of poison may be 0
				written, elements = poisoned(dtype, (3, 2, 2), (7, 2, 0))
				found |= {at for at, byte in enumerate(written) if byte}
			assert found <= inside and len(found) > len(inside) // 4, (dtype, found)
			if elements.dtype.is_floating_point:
				assert bool(torch.isnan(elements.float()).all()), dtype
			if elements.dtype.is_complex and dtype != "complex32":
				assert bool(torch.isnan(elements.real).all()), dtype
			if dtype == "bool":
				assert all(written[at] > 1 for at in inside)


@test
def a_view_that_repeats_elements_is_as_large_as_all_of_them():
	try:
		poisoned("float32", (1 << 40,), (0,))
	except staging.TooLarge as fault:
		contains(str(fault), "custom_kernel's outputs take 4,194,304 MiB")
	else:
		raise AssertionError("nothing was refused")


def refuses(text, words):
	try:
		built.list_blobs(text)
	except built.WrongPlan as fault:
		contains(str(fault), words)
		return
	raise AssertionError("the plan was not refused")


def text_of(*images, variables=()):
	return json.dumps({"images": images, "variables": variables}).encode()


@test
def only_a_plan_within_its_limits_is_read():
	blob = {"bytes": 1 << 26, "sha256": "x"}
	equal(built.list_blobs(text_of(blob, variables=[blob])), [(1 << 26, "x")] * 2)
	refuses(text_of(*[blob] * 17), "its blobs are too large")
	for count in (0, -1, (1 << 26) + 1, True, "1", None, 10**19):
		refuses(text_of({"bytes": count, "sha256": "x"}), "a blob's size is out of bounds")
	refuses(text_of({"bytes": 1}), "no hash")
	refuses(text_of(3), "no object")
	refuses(text_of(*[{"bytes": 1, "sha256": "x"}] * 513), "images are no list, or too many")
	for text in (b"", b"\xff", b"[]", b'{"images":1e9}', b'{"images":NaN}', b"9" * 5000):
		refuses(text, "not a plan's")
	refuses(b'{"images":' + b"[" * 200000, "not a plan's")
	refuses(b"[" * (built.MOST_LISTS + 1), "too many lists")
	refuses(b" " * (built.MOST_TEXT_BYTES + 1), "too long")


@test
def a_file_that_shrinks_while_it_is_read_is_refused():
	descriptor = os.memfd_create("plan")
	os.ftruncate(descriptor, 100)
	equal(built.size_of(descriptor), 100)
	os.ftruncate(descriptor, 50)
	try:
		built.copy_file(descriptor, 100)
	except built.WrongPlan as fault:
		contains(str(fault), "shorter")
	else:
		raise AssertionError("nothing was refused")
	os.ftruncate(descriptor, built.MOST_FILE_BYTES + 1)
	try:
		built.size_of(descriptor)
	except built.WrongPlan as fault:
		contains(str(fault), "bytes")
	else:
		raise AssertionError("nothing was refused")
	os.close(descriptor)


@test
def a_plan_s_file_is_read_as_it_was_written():
	blobs = [b"abc", bytes(16), b"z"]
	text = text_of(
		*[{"bytes": len(one), "sha256": hashlib.sha256(one).hexdigest()} for one in blobs]
	)
	descriptor = sealed.write_plan(text, blobs)
	taken, found = built.read_plan(
		built.copy_file(descriptor, built.size_of(descriptor)), len(text)
	)
	equal((taken, [bytes(content) for _, content in found]), (text, blobs))
	os.close(descriptor)


@test
def the_limits_are_those_of_plan_h():
	header = (ROOT / "harness/sealed/plan.h").read_text()
	limits = {
		name: eval(value) for name, value in re.findall(r"(plan_most_\w+) = ([0-9 <]+),", header)
	}
	equal(
		[limits[f"plan_most_{name}"] for name in ("bytes", "lists", "images", "variables")],
		[built.MOST_TEXT_BYTES, built.MOST_LISTS, built.MOST_IMAGES, built.MOST_VARIABLES],
	)
	equal(
		[limits[f"plan_most_{name}"] for name in ("image_bytes", "variable_bytes", "blob_bytes")],
		[built.MOST_BLOB_BYTES, built.MOST_BLOB_BYTES, built.MOST_ALL_BLOB_BYTES],
	)


if __name__ == "__main__":
	try:
		sys.exit(run())
	finally:
		engine.remove(ENGINE)
