#!/usr/bin/env python3
"""Attacks on the real podium-run. Each file in cases/ is one attack; case.py explains the files.

	tests/redteam/attacks.test.py [--on cpu|gpu] [--engine isolated|custom] [--repeats N] [WORD...]
		runs the attacks whose number is a WORD or whose name contains one (default: all)
		--repeats N: runs honest cases, which must never fail, N times
	tests/redteam/attacks.test.py --write-jobs DIR
		writes the tasks' jobs to DIR for a GPU host, where PODIUM_REDTEAM_JOBS=DIR reads them

On a GPU host, PODIUM_REDTEAM_GPU=N chooses the GPU.

Each attack runs on both engines if its task can run on the isolated engine. The required outcome
may differ between engines. On a CPU, an attack that does nothing beside the judge runs on one
processor, where nothing waits by spinning. After each attack the host must be unchanged: no new
process, no new or changed file, no connection to a socket of the host. An honest job must still
pass.

A case with a line `cannot-stop` is an attack that Podium cannot stop today. The attack runs, too,
and is listed as skipped with the reason. If Podium does stop it, the test fails until the line is
removed.
tests/gpu/check runs the attacks that need a GPU, on a GPU host. tests/gpu/sealed_attacks runs those
on the engine sealed.
"""

import argparse
import base64
import contextlib
import functools
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import attack as made  # noqa: E402
import case as cases  # noqa: E402
from host import GPU, GPU_INDEX, IS_SANITIZED, PYTHON, ROOT, Host, write_jobs  # noqa: E402
import tap  # noqa: E402
from processes import as_only_bomb  # noqa: E402
from tap import Skip, test  # noqa: E402
from tools import nvcc_lack  # noqa: E402

FASTEST_NS = 1000  # no task here can take less time
MOST_LOG_BYTES = 70 * 1024
# The numbers of the attacks that must have a case for a CPU. GPU_CATALOGUE has those that must have
# a case for a GPU, because they need a GPU or do more on one.
CATALOGUE = [*range(1, 35), *range(36, 51), 52, 53, 55, 56, 57, 58, 59, 62, 63, 70]
# The attacks that run with sanitizers. Each reaches C code of podium-run that no other attack
# reaches: result lines, logs and artifacts, ends of programs, limits, messages, compilers, removal
# of folders, and submissions that pass, timed and not. Most other attacks aim at Python, the kernel
# or code that is loaded into an interpreter. These have no sanitizers.
IN_C = {
	"6",
	"8b",
	"9",
	"9c",
	"9d",
	"12",
	"14",
	"16",
	"25",
	"28",
	"33",
	"37",
	*map(str, range(101, 108)),
}
BOMBS = {"14"}
GPU_CATALOGUE = [
	29,
	35,
	38,
	*range(41, 45),
	47,
	48,
	51,
	52,
	*range(54, 71),
	*range(113, 123),
	*range(130, 140),
]


def read_arguments(words):
	parser = argparse.ArgumentParser()
	parser.add_argument("--on", choices=("cpu", "gpu"), default="cpu")
	parser.add_argument("--engine", choices=cases.ENGINES)
	parser.add_argument("--repeats", type=int, default=1)
	parser.add_argument("--write-jobs", type=pathlib.Path)
	parser.add_argument("words", nargs="*")
	return parser.parse_args(words)


OPTIONS = read_arguments(sys.argv[1:])
if OPTIONS.write_jobs:
	sys.exit(write_jobs(OPTIONS.write_jobs))
ON, WORDS = OPTIONS.on, OPTIONS.words
IN_BOTH_BUILDS = "IN_BOTH_BUILDS" in os.environ  # tests/run runs this suite with both builds


@functools.lru_cache(None)
def gpu():
	"""The GPU, in the form that podium-run expects."""
	if not shutil.which("nvidia-smi"):
		raise Skip("there is no GPU here")
	answer = subprocess.run(
		["nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader"],
		capture_output=True,
		text=True,
	)
	uuid, capability = answer.stdout.splitlines()[GPU_INDEX].split(", ")
	return {**GPU, "index": GPU_INDEX, "uuid": uuid, "compute_capability": capability}


@functools.lru_cache(None)
def host():
	if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
		raise Skip(f"{PYTHON} cannot import torch")
	return Host(gpu() if ON == "gpu" else None)


# ---- one attack ----


def lacks_here(one):
	"""The reason why the attack cannot run here, or None."""
	if one.engine == "sealed":
		return "needs a GPU: tests/gpu/sealed_attacks runs it"
	if ON not in one.on and not ("compiler" in one.on and ON == "cpu"):
		return "needs a GPU: tests/gpu/check runs it" if ON == "cpu" else "is made on the CPU"
	if one.form == "cu" and "nvcc" not in one.programs and nvcc_lack():
		return nvcc_lack()
	host()  # raises Skip if there is no podium-run to attack
	missing = [f"{wall} ({host().walls[wall]})" for wall in one.needs if host().walls[wall]]
	return f"would harm this host, which lacks the wall {', '.join(missing)}" if missing else None


def device_of(one):
	return GPU if ON == "cpu" and "compiler" in one.on else None


def figures(result, *keys):
	return [event[key] for event in result.events for key in keys if key in event]


def is_time_defended(one):
	"""Whether Podium promises right times against this attack. The isolated engine does not on the
	CPU device, where any program can slow down the empty calls that the engine subtracts."""
	return ON == "gpu" or one.engine == "custom"


def forged(one, result):
	"""Yields figures that an attack wrote or that no call can take. A single block may be a
	microsecond too short, so the best one says nothing."""
	for figure in figures(result, "score_ns", "mean_ns", "best_ns", "worst_ns"):
		if figure in made.FORGED.values():
			yield figure
	for figure in figures(result, "score_ns", "mean_ns"):
		if figure < FASTEST_NS and is_time_defended(one):
			yield figure


def lines_of(result):
	return [
		line
		for position in range(len(result.stages))
		for line in result.log("stdout", position).splitlines()
	]


def texts_of(result):
	"""Returns the text of all events and of the artifacts in them."""
	packed = {}
	for event in result.events:
		if event["event"] == "artifact":
			packed[event["position"]] = packed.get(event["position"], b"") + base64.b64decode(
				event["base64"]
			)
	return str(result.events) + "".join(
		gzip.decompress(piece).decode(errors="replace") for piece in packed.values()
	)


def unwanted(one):
	"""Returns a list of (description, a text that must not appear in the events)."""
	never = [("what must never be there", host().fill_in(one.never))] if one.never else []
	return [
		("a secret of the host", host().nonce),
		("a file of the host", host().line_of_passwords),
	] + never


def unmet(one, variant, result):
	"""Returns messages that say how the attack succeeded; none if it failed."""
	found = []
	if result.stages and result.engine != one.engine:
		found.append(f"it ran on the engine {result.engine}: {result.engine_reason}")
	verdicts = one.verdicts + ["time limit"] * (variant in one.unanswered)
	if result.verdict not in verdicts:
		found.append(
			f"the verdict is {result.verdict}, not {' or '.join(verdicts)}: {result.reason}"
		)
	found += [
		f"{what} appears in the events" for what, word in unwanted(one) if word in texts_of(result)
	]
	if one.required == "DENIED":
		lines = lines_of(result)
		found += [line for line in lines if line.startswith("could: ")][:20]
		if not any(line.startswith("attempts: ") and line != "attempts: 0" for line in lines):
			found.append("it attempted nothing:\n" + result.log("stderr")[-2000:])
	elif one.required == "FORGE-IGNORED":
		found += [f"a figure of {figure} ns" for figure in forged(one, result)][:3]
	return found


# ---- charges ----


def times(result):
	"""Returns {case: time in ns}."""
	return {
		event["spec"]: event["mean_ns"]
		for event in result.events
		if event["event"] == "case" and "mean_ns" in event
	}


@functools.lru_cache(None)
def measure(one, task, variant):
	"""Runs an honest variant and returns the times that it is charged."""
	result = submit(one, one.text, task, variant)
	if result.verdict != "passed":
		raise AssertionError(
			f"{one.title(variant)}, an honest variant, got {result.verdict}: {result.reason}"
		)
	return times(result)


def measure_truth(one, task, variant):
	"""Returns the times of the honest variant. The attack must be charged about as much. Empty if
	the case names no such variant, or on a CPU."""
	return measure(one, task, one.truth_of(variant)) if one.truth and ON == "gpu" else {}


def faults_of_time(one, truth, event):
	"""Yields messages that say what is wrong with a case's time."""
	charged_ns, honest_ns = event["mean_ns"], truth.get(event["spec"])
	beside = ""
	if honest_ns:
		beside = f", honest {honest_ns / 1000:.2f} us, {charged_ns / honest_ns:.3f}"
	print(
		f"#   {event['spec']}: charged {charged_ns / 1000:.2f} us{beside}, {event['runs']} calls",
		flush=True,
	)
	least_ns = one.least_charge(honest_ns)
	if charged_ns < least_ns and is_time_defended(one):
		yield f"it was charged {charged_ns / 1000:.2f} us, less than {least_ns / 1000:.2f} us"
	if event["runs"] < one.runs and ON == "gpu":
		yield f"only {event['runs']} calls count, not {one.runs}"
	if one.named and ON == "gpu" and not event.get(one.named, 0) > 0:
		yield f"there is no {one.named}"


def too_wide(result):
	"""Yields messages about cases whose error is larger than the limit for ties (docs/judge.md).
	Only for a GPU: on a CPU the error has no limit."""
	for event in result.events:
		if event["event"] == "case" and "err_ns" in event and ON == "gpu":
			most_ns = 400 + 0.01 * event["mean_ns"]
			if event["err_ns"] > most_ns:
				yield f"{event['spec']}: the error is {event['err_ns']:.0f} ns, above {most_ns:.0f}"


def undercharged(one, truth, result):
	"""Returns messages about cases with wrong times."""
	if result.verdict != "passed" or not (one.floor_ns or truth or one.named or one.runs):
		return []
	timed = [event for event in result.events if event["event"] == "case" and "mean_ns" in event]
	return [
		f"{event['spec']}: {fault}"
		for event in timed
		for fault in faults_of_time(one, truth, event)
	]


def won(one, side, result):
	"""Returns messages about a comparison that the attack, on this side, has won."""
	verdict = result.verdicts[0]
	if verdict.get("loser") not in (None, side):
		return [f"the other side lost: {result.reason}"]
	if "ratio" not in verdict or not is_time_defended(one):
		return []
	is_faster = verdict["ratio_high"] < 1 if side == "submission" else verdict["ratio_low"] > 1
	return [f"it won with a ratio of {verdict['ratio']:.3f}"] if is_faster else []


def excess(result):
	"""Returns messages about logs that are longer than their limit."""
	return [
		f"the {stream} of stage {position} has {len(result.log(stream, position).encode())} bytes"
		for stream in ("stdout", "stderr")
		for position in range(len(result.stages))
		if len(result.log(stream, position).encode()) > MOST_LOG_BYTES
	]


def submit(one, text, task, variant, beside="", side=""):
	words = (task, variant, beside, one.engine, side)
	change = json.loads(host().fill_in(one.change, *words))
	# A wrong answer fails in the first tests already. All tests would take long on a CPU.
	most_tests = 2 if one.task == "every" and ON == "cpu" else None
	return host().run(
		task,
		host().fill_in(text, *words),
		one.mode,
		device_of(one),
		change,
		one.engine,
		one.cpu_size,
		most_tests,
		side,
	)


def start_beside(one):
	"""Starts the program that the case runs on the host (`beside`). Returns the program and the
	first line that it printed."""
	if not one.beside:
		return None, ""
	program = subprocess.Popen(
		[PYTHON, cases.CASES / one.beside], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
	)
	words = program.stdout.readline().strip()
	if not words:
		raise AssertionError(f"{one.beside} on the host did not start")
	return program, words


def attack(one, variant, task, side):
	"""Returns (the job's result, what the attack did to the host)."""
	if one.before:
		first = submit(one, (cases.CASES / one.before).read_text(), task, variant)
		if first.verdict != "passed":
			raise AssertionError(f"{one.before} got {first.verdict}: {first.reason}")
	for name in one.programs:
		host().install(name, host().fill_in((cases.CASES / f"_{name}").read_text(), task, variant))
	program, words = start_beside(one)
	try:
		with as_only_bomb() if one.number in BOMBS else contextlib.nullcontext():
			result = submit(one, one.text, task, variant, words, side)
	finally:
		if program:
			program.communicate()
		for name in one.programs:
			host().install(name, None)
	return result, host().harm() + excess(result)


def python_tasks(engine):
	return [
		folder.name
		for folder in sorted((ROOT / "tasks").iterdir())
		if not folder.name.endswith("_cu")
		and folder.is_dir()
		and (engine == "custom" or (folder / "reference.py").exists())
	]


def stage(one):
	"""Runs the attack with all its variants against all its tasks. Raises if it succeeded."""
	lack = lacks_here(one)
	if lack:
		raise Skip(lack)
	needs_all = ON == "gpu" or one.acts_beside_the_judge()
	with contextlib.nullcontext() if needs_all else host().on_one_processor():
		open_ways, stopped = run_variants(one)
		host().expect_honest(one.engine)
	report(one, open_ways, stopped)


def run_variants(one):
	"""Returns two lists of (what, messages): the attacks that succeeded, and those that did not."""
	open_ways, stopped = [], []
	for task in python_tasks(one.engine) if one.task == "every" else [one.task]:
		for variant in one.variants * (OPTIONS.repeats if one.is_repeatable else 1):
			for side in one.sides:
				what = (
					f"{one.title(variant)}{' as the ' + side if side else ''}"
					f"{' against ' + task if one.task == 'every' else ''}"
				)
				missed = run_variant(one, variant, task, what, side)
				(open_ways if missed else stopped).append((what, missed))
	return open_ways, stopped


def run_variant(one, variant, task, what, side):
	"""Returns messages that say how the variant succeeded. Raises if it harmed the host."""
	truth, began = measure_truth(one, task, variant), time.monotonic()
	result, harm = attack(one, variant, task, side)
	print(
		f"# {what}: {result.verdict}: {result.reason[:150]!r}, {time.monotonic() - began:.1f} s",
		flush=True,
	)
	missed = [*unmet(one, variant, result), *undercharged(one, truth, result), *too_wide(result)]
	missed += won(one, side, result) if side else []
	if harm:
		raise AssertionError("\n".join([f"{what}: the host was harmed:", *harm]))
	return missed


def report(one, open_ways, stopped):
	if one.cannot_stop and stopped:
		raise AssertionError(
			f"{', '.join(what for what, _ in stopped)}: is stopped now; take the line "
			f"`cannot-stop` out of {one.path.name}"
		)
	if one.cannot_stop:
		raise Skip(f"was run and is not stopped: {one.cannot_stop}")
	if open_ways:
		raise AssertionError(
			"\n".join(
				line for what, missed in open_ways for line in [f"{what} was not stopped:", *missed]
			)
		)


# ---- the list ----


def wanted(one):
	if IS_SANITIZED and not WORDS and one.number not in IN_C:
		return False
	if IN_BOTH_BUILDS and not IS_SANITIZED and one.number in IN_C:
		return False  # the other build runs it
	return OPTIONS.engine in (None, one.engine) and (
		not WORDS or any(word == one.number or word in one.name for word in WORDS)
	)


def register(one):
	def run_case():
		stage(one)

	run_case.__name__ = one.title("")
	test(run_case)


def register_all():
	every = cases.every()
	for one in every:
		if wanted(one):
			register(one)
	return every


EVERY = register_all()


@test
def every_attack_of_the_catalogue_has_a_case():
	def missing(numbers, places):
		there = {one.number.rstrip("abcdefg") for one in EVERY if set(one.on) & places}
		return [number for number in numbers if str(number) not in there]

	tap.equal(missing(CATALOGUE, {"cpu", "compiler"}) + missing(GPU_CATALOGUE, {"gpu"}), [])


sys.argv[1:] = []  # run() would take the words for names of tests
status = tap.run()
if host.cache_info().currsize:
	host().close()
sys.exit(status)
