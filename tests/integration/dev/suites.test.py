#!/usr/bin/env python3
"""tests/run in a made-up tree: which suites it chooses, what it builds for them, and what it prints
at the end."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from mariadb import remove_abandoned  # noqa: E402
from suites import Places  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-suites-test."))
MAKEFILE = """
made = @echo $@ >> made; [ ! -e broken ]
test-programs:
	$(made)
build/sanitize/tests/unit/test_one: tests/unit/test_one.c
	$(made)
	@mkdir -p $(@D) && cp $< $@ && chmod +x $@
"""
LEAKS = """
report=${ASAN_OPTIONS#log_path=}
echo leak > "${report%%:*}.1"
echo ok 1 - leaks; echo 1..1
"""
SUITES = {
	"unit/test_one.c": 'echo nvml.h is not here; echo "not ok 1 # SKIP headers"; echo 1..1',
	"harness/good.test": 'echo "ok 1 - adds # SKIP there is no GPU"; echo ok 2 - works; echo 1..2',
	"harness/bad.test": '[ -e mended ] || printf "not "; echo ok 1 - works; echo 1..1',
	"integration/here/leaks.test": LEAKS,
}


def tree():
	"""Makes a folder that looks like this repository to tests/run."""
	folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
	(folder / "Makefile").write_text(MAKEFILE)
	shutil.copytree(ROOT / "tests" / "lib", folder / "tests" / "lib")
	shutil.copy(ROOT / "tests" / "run", folder / "tests")
	for name, body in SUITES.items():
		path = folder / "tests" / name
		path.parent.mkdir(parents=True, exist_ok=True)
		path.write_text(f"#!/bin/sh\n{body}\n")
		path.chmod(0o755)
	return folder


def ask(folder, *words, **environment):
	"""The output of tests/run, and its exit code."""
	answer = subprocess.run(
		[folder / "tests" / "run", *words],
		capture_output=True,
		text=True,
		stdin=subprocess.DEVNULL,
		env={**os.environ, "CI": "", **environment},
	)
	return answer.stdout + answer.stderr, answer.returncode


def made(folder):
	"""The targets that make has built since the last call."""
	path = folder / "made"
	lines = path.read_text().splitlines() if path.exists() else []
	path.unlink(missing_ok=True)
	return lines


@test
def suites_are_listed_and_nothing_is_built():
	folder = tree()
	equal(
		ask(folder, "--list"),
		(
			"release harness/bad\nrelease harness/good\nrelease integration/here/leaks\n"
			"sanitize unit/one\nsanitize integration/here/leaks\n",
			0,
		),
	)
	equal(ask(folder, "--list", "unit"), ("sanitize unit/one\n", 0))
	shutil.copy(folder / "tests/harness/good.test", folder / "tests/harness/good_too.test")
	both = "release harness/good\nrelease harness/good_too\n"
	equal(ask(folder, "--list", "harness/good"), (both, 0))
	equal(ask(folder, "--list", "release harness/good"), ("release harness/good\n", 0))
	equal((made(folder), (folder / "build").exists()), ([], False))


@test
def only_what_the_chosen_suites_need_is_built():
	folder = tree()
	contains(ask(folder, "harness/good")[0], "1 passed, 0 failed, 1 skipped\n")
	equal(made(folder), ["test-programs"])
	contains(ask(folder, "unit/one")[0], "0 passed, 0 failed, 1 skipped\n")
	equal(made(folder), ["build/sanitize/tests/unit/test_one"])


@test
def a_word_that_no_suite_has_is_named():
	text, code = ask(tree(), "harness/good", "nonsense")
	equal(code, 1)
	contains(text, 'No suite has "nonsense" in its name. ./dev test --list names them all.')


@test
def a_failing_run_says_how_to_repeat_only_the_failed_suites():
	folder = tree()
	text, code = ask(folder, "harness/")
	equal(code, 1)
	contains(
		text,
		"Failed: release harness/bad.\nRepeat only these with: ./dev test --failed\n"
		"1 passed, 1 failed, 1 skipped\n",
	)
	equal(ask(folder, "--failed", "--list"), ("release harness/bad\n", 0))
	ask(folder, "harness/good")  # running another suite that passes changes nothing
	(folder / "mended").touch()
	text, code = ask(folder, "--failed")
	equal(code, 0)
	contains(text, "1 passed, 0 failed\n")
	lacks(text, "Repeat")
	equal(ask(folder, "--failed"), ("No suite failed when it last ran.\n", 0))


@test
def folders_of_killed_database_servers_are_removed():
	folders = [scratch / f"podium-db.{name}" for name in ("running", "killed", "fresh")]
	for folder in folders:
		folder.mkdir()
		(folder / "log").touch()
	for folder in folders[:2]:
		os.utime(folder, (1, 1))
	with open(folders[0] / "log") as log:
		fcntl.flock(log, fcntl.LOCK_EX)
		remove_abandoned(scratch)
	equal([folder.exists() for folder in folders], [True, False, True])


class Machine:
	"""Two processors of which `idle` are idle, and their clock."""

	def __init__(self, idle):
		self.idle, self.now, self.ticks = idle, 0, (0, 0)

	def times(self):
		return self.ticks

	def clock(self):
		return self.now

	def passes(self, seconds):
		self.now += seconds
		self.ticks = (self.ticks[0] + self.idle * seconds, self.ticks[1] + 2 * seconds)


def started(machine, running, seconds):
	"""How many suites start within this time, beside those that run."""
	places, first = Places(2, machine.times, machine.clock), running
	for _ in range(seconds):
		while places.may_start(running):
			running += 1
		machine.passes(1)
	return running - first


@test
def more_suites_start_one_by_one_while_the_processors_are_idle():
	equal(started(Machine(0), 0, 60), 4)
	equal(started(Machine(0.2), 4, 60), 0)  # ten percent of two processors
	equal(started(Machine(1), 4, 3), 0)
	equal(started(Machine(1), 4, 5), 1)
	equal(started(Machine(1), 0, 60), 10)
	machine = Machine(1)
	places = Places(2, machine.times, machine.clock)
	machine.passes(8)
	machine.idle = 0
	machine.passes(8)
	equal(places.idle_share(), 0.25)


@test
def a_sanitizers_report_fails_its_suite():
	folder = tree()
	text, code = ask(folder, "sanitize integration/here")
	equal(code, 1)
	contains(
		text, "a sanitizer reported in build/test-logs/sanitize/integration-here-leaks.sanitizer"
	)
	contains(text, "Failed: sanitize integration/here/leaks.\n")
	equal(ask(folder, "--failed", "--list")[0], "sanitize integration/here/leaks\n")


@test
def suites_that_cannot_be_built_fail():
	folder = tree()
	(folder / "broken").touch()
	text, code = ask(folder, "unit/one")
	equal(code, 1)
	contains(text, "FAILED building the sanitize programs failed")
	equal(ask(folder, "--failed", "--list")[0], "sanitize unit/one\n")


@test
def skipped_tests_are_listed_by_reason():
	text, _ = ask(tree(), "harness/good", "unit/one")
	contains(
		text,
		"SKIPPED 1: nvml.h is not here\n    sanitize unit/one: headers\n"
		"SKIPPED 1: there is no GPU\n    release harness/good: adds\n",
	)


@test
def in_ci_only_a_gpu_may_be_missing():
	folder = tree()
	equal(ask(folder, "harness/good", CI="true")[1], 0)
	text, code = ask(folder, "harness/good", "unit/one", CI="true")
	equal(code, 1)
	contains(text, "FAILED with CI=true nothing may be skipped because nvml.h is not here\n")
	contains(text, "Failed: sanitize unit/one.\n")


try:
	status = run()
finally:
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
