#!/usr/bin/env python3
"""Each `make bench...` ends and prints its figures, with the smallest sizes that show this. The
figures mean nothing here. tests/browser/figures.test.mjs does the same for bench-browser."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from instance import ROOT  # noqa: E402
from quick import quick_python  # noqa: E402
from tap import contains, run, test  # noqa: E402

scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-bench-test."))
scratch.chmod(0o755)
SIZE = "1000"
# All benches with data share them. bench-growth has a folder for each size.
SMALL = {
	"BENCH_FOLDER": str(scratch / SIZE),
	"SIZE": SIZE,
	"CONNECTIONS": "2",
	"SECONDS_PER_TURN": "0.4",
}


BUILD = os.environ.get("B", "build/release")
YARDSTICKS = [f"{BUILD}/tests/bench/{name}" for name in ("bare", "open")]
TARGETS = (
	"bench bench-data bench-terminal bench-claims bench-scale bench-growth bench-turnaround "
	"bench-cpu bench-isolated"
)
# Settings that the Makefile hands on.
MADE = {
	"SIZE": SIZE,
	"SIZES": SIZE,
	"PAGES": "/artifact/",
	"THREADS": "4",
	"CLAIMS": "2",
	"TASK": "vectoradd_py",
	"MODE": "test",
	"REPEAT": "1",
	"JOBS": "1",
	"ROWS": "raised sine    0       1",
}


def make(*words):
	return subprocess.run(
		["make", "--no-print-directory", f"B={BUILD}", *words],
		cwd=ROOT,
		check=True,
		stdout=subprocess.PIPE,
		text=True,
	).stdout


def environment(settings):
	# Most benches need no torch, whose import would take most of their time.
	given = {**os.environ, "PODIUM_PYTHON": quick_python(scratch), **settings}
	return {name: value for name, value in given.items() if value}


def bench(program, **settings):
	"""Runs the command of the Makefile that calls the program. Returns what it prints."""
	(command,) = [line for line in commands if program in line]
	answer = subprocess.run(
		["sh", "-c", command],
		cwd=ROOT,
		env=environment(settings),
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
	)
	if answer.returncode:
		raise AssertionError(f"exit {answer.returncode}: {answer.stdout}\n{answer.stderr}")
	return answer.stdout


def matches(text, pattern):
	if not re.search(pattern, text):
		raise AssertionError(f"{pattern!r} is not in {text!r}")


@test
def bench_data():
	(command,) = [line for line in commands if "tests/bench/data.py" in line]
	process = subprocess.Popen(
		# A test in the background ignores this signal, and its children would too.
		["env", "--default-signal=INT", "sh", "-c", command],
		cwd=ROOT,
		env=environment(SMALL),
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.STDOUT,
		text=True,
		start_new_session=True,
	)
	told = ""
	while "Ctrl-C stops it" not in told:
		line = process.stdout.readline()
		if not line:
			raise AssertionError(told)
		told += line
	contains(told, "Podium with 1000 submissions is at http://127.0.0.1:")
	os.killpg(process.pid, signal.SIGINT)
	process.stdout.close()
	process.wait()


@test
def bench_pages():
	told = bench("tests/bench/run", **SMALL, SECONDS_PER_PAGE="0.2", SECONDS_OPEN="0.1")
	matches(told, r"user1   /submission/\d+/artifact/\d+ +\d+ ")
	matches(told, r"board, cache off +\d+ pages/s")
	matches(told, r"bare program, 80% of \d+ +\d+ ")


@test
def bench_terminal():
	told = bench(
		"tests/bench/terminal.py", **SMALL, POLLS="4", STREAMS="1", POLL_S="0.1", TURNS="1"
	)
	matches(told, r"[1-9]\d* questions of terminals: .* 0 went wrong")


@test
def bench_scale():
	told = bench("tests/bench/scale.py", **SMALL, WORKERS="1", DEVICES="1")
	matches(told, r"claims of 1 devices at once, 1,000 waiting: \d+/s")
	matches(told, r"whole jobs, 2 devices that take no time, beside 2 viewers: \d+/s")


@test
def bench_growth():
	told = bench(
		"tests/bench/growth.py", TURNS="1", SECONDS_PER_PAGE="0.2", BENCH_FOLDER=str(scratch)
	)
	matches(told, r"\| a claim \| [\d.]+ \([\d.]+\) \|")


@test
def bench_claims():
	told = bench("tests/bench/claims.py", JOBS="6500", ROUNDS="1", JOB_S="0")
	matches(told, r"one claimer behind a flood: in turn [\d.]+ ms")


@test
def bench_turnaround():
	told = bench("tests/bench/turnaround.py", PODIUM_PYTHON="")
	matches(told, r"vectoradd_py/samples/right.py \([a-z]+\), later +[\d.]+ ")


@test
def bench_cpu():
	told = bench("tests/bench/cpu.py", PODIUM_PYTHON="")
	matches(told, r"raised sine    0 +1 +\d+ ")


@test
def bench_isolated():
	matches(bench("tests/bench/isolated.py", ROUNDS="1", LENGTHS_US="1"), r"# +[\d.]+ +[\d.]+ ")


make(*YARDSTICKS)
commands = make("-n", *TARGETS.split(), *(f"{name}={value}" for name, value in MADE.items()))
commands = commands.splitlines()
try:
	status = run()
finally:
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
