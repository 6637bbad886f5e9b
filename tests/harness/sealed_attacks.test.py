#!/usr/bin/env python3
"""The attacks on the sealed engine, without a GPU: whether they can be read, and whether their
kernels compile. tests/gpu/sealed_attacks runs them."""

import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "redteam")]
import case as cases  # noqa: E402
import device  # noqa: E402
import lies  # noqa: E402
from tap import Skip, equal, run, test, until  # noqa: E402
from tools import nvcc_lack, system_nvcc  # noqa: E402

ATTACKS = [one for one in cases.every() if one.engine == "sealed"]
FOLDER = tempfile.TemporaryDirectory()


def compile_for_h100(texts, flags):
	"""Compiles texts together, since nvcc takes seconds for each file. `texts`: by title."""
	code = pathlib.Path(FOLDER.name, "attacks.cu")
	parts = [
		f'namespace attack_{number} {{\n#line 1 "{title}"\n'
		+ text.removeprefix(device.HEAD).replace(" go(", f" go_{number}(")
		+ "}\n"
		for number, (title, text) in enumerate(texts.items())
	]
	code.write_text(device.HEAD + "".join(parts))
	flags = [flag for flag in flags if not flag.startswith("-l")]
	command = [system_nvcc(), "-arch=sm_90", "-c", *flags, "-o", code.with_suffix(".o"), code]
	done = subprocess.run(command, capture_output=True, text=True)
	equal((done.stderr, done.returncode), ("", 0))


def load(one, variant):
	"""Imports an attack as the builder does. Returns the CUDA C++ that it compiles, as a set of
	(text, flags), so that variants with the same text are compiled once."""
	made, submission = set(), types.ModuleType("submission")
	device.build = lambda text, flags: made.add((text, flags))
	# The attack that hides its calls compiles to a cubin with nvcc, and changes it.
	lies.install = lambda name: lies.LIES[name]  # it changes a builder
	run_program = subprocess.run
	subprocess.run = lambda command, check: pathlib.Path(command[command.index("-o") + 1]).touch()
	text = one.text.replace("@VARIANT@", variant).replace("@MARK@", "mark")
	try:
		exec(compile(text, one.path, "exec"), submission.__dict__)
	finally:
		subprocess.run = run_program
	equal(callable(submission.custom_kernel), True)
	made |= {(device.HEAD + submission.HIDDEN, ())} if hasattr(submission, "HIDDEN") else set()
	return made


@test
def every_variant_names_its_twin_and_its_verdicts():
	known = {"passed", "wrong answer", "runtime error", "time limit", "protocol violation"}
	for one in ATTACKS:
		for variant in one.variants:
			equal(set(one.expected(variant)[0]) - known, set())
			assert not one.truth or one.truth_of(variant) in one.variants, one.path
		# A variant that may pass must be compared with an honest one, if it is timed.
		may_pass = any("passed" in one.expected(variant)[0] for variant in one.variants)
		assert one.mode == "test" or bool(one.truth) == may_pass, one.path


@test
def every_lie_has_its_outcome():
	(plans,) = [one for one in ATTACKS if one.name == "sealed_plans"]
	equal(plans.variants, list(lies.LIES))
	for variant in plans.variants:
		verdicts, reason = plans.expected(variant)
		assert reason or "runtime error" != " or ".join(verdicts), variant


@test
def every_attack_can_be_imported_and_its_kernels_compile():
	if nvcc_lack():
		raise Skip(nvcc_lack())
	found = {}
	for one in ATTACKS:
		for variant in one.variants:
			try:
				for text, flags in load(one, variant):
					found.setdefault(flags, {}).setdefault(text, one.title(variant))
			except ModuleNotFoundError as error:
				if error.name != "torch" or "\nimport torch\n" not in one.text:
					raise
	assert sum(map(len, found.values())) > 30
	for flags, titles in found.items():
		compile_for_h100({title: text for text, title in titles.items()}, flags)


# ---- tests/gpu/sealed_attacks, with a judge that only looks at the submission ----

JUDGE = """
import os, sys, time
text = open(sys.argv[sys.argv.index("--submission") + 1]).read()
def end(code, *lines):
	print(*lines, f"exit code {code}", sep="\\n")
	sys.exit()
"""


def run_attacks(answers, *words, limit_s="20"):
	"""(exit code, {variant: (what it got, times)}). `answers`: Python that ends the judge."""
	path = pathlib.Path(FOLDER.name, "judge.py")
	path.write_text(JUDGE + answers)
	command = [sys.executable, ROOT / "tests/gpu/sealed_attacks", "--judge", path]
	command += ["--limit", limit_s, "--rest", "0", *words]
	done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
	equal(done.stderr, "")
	rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
	return done.returncode, {row[0].split()[-1]: row[2:] for row in rows if len(row) > 2}


PASSED = """
end(0, "benchmark.0.mean: " + ("4000.0" if '"honest")' in text else "@TIME@"), "check: pass")
"""


@test
def an_attack_that_is_charged_too_little_is_not_stopped():
	code, rows = run_attacks(PASSED.replace("@TIME@", "3900.0"), "132")
	equal(code, 0)
	equal(rows["persist"], ["passed", "3.90, 4.00"])
	code, rows = run_attacks(PASSED.replace("@TIME@", "3600.0"), "132")
	equal(code, 1)
	equal(rows["persist"], ["passed NOT STOPPED: it was charged too little", "3.60, 4.00"])
	equal(rows["honest"], ["passed", "4.00, 4.00"])


@test
def another_verdict_or_reason_is_told():
	code, rows = run_attacks('end(1, "test.0.error: another", "check: fail")', "139", "early")
	equal(code, 1)
	equal(rows["printf"], ["runtime error NOT STOPPED: the reason lacks 'may not print'"])
	equal(rows["hidden-printf"], ["runtime error"])
	equal(rows["early"], ["runtime error NOT STOPPED: the verdict"])
	equal(run_attacks('end(0, "check: fail")', "unfinished early")[1]["early"], ["wrong answer"])


@test
def a_judge_that_hangs_is_ended_with_its_processes():
	pids = pathlib.Path(FOLDER.name, "pids")
	hang = f"os.fork()\nopen({str(pids)!r}, 'a').write(f'{{os.getpid()}} ')\ntime.sleep(600)\n"
	code, rows = run_attacks(hang, "half clock", "measured clock", limit_s="1")
	equal((code, rows), (1, {"clock": ["the judge hung NOT STOPPED: the verdict"]}))
	numbers = pids.read_text().split()
	equal(len(numbers), 2)
	until(lambda: not any(is_alive(number) for number in numbers), 10)


def is_alive(pid):
	try:
		return pathlib.Path("/proc", pid, "stat").read_text().split(") ")[1][0] != "Z"
	except FileNotFoundError:
		return False


@test
def a_judge_without_an_exit_code_has_failed():
	code, rows = run_attacks("print('a traceback')", "measured clock")
	equal((code, rows["clock"]), (1, ["the judge failed NOT STOPPED: the verdict"]))
	equal(run_attacks("", "no such attack"), (1, {}))


sys.exit(run())
