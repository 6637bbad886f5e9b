#!/usr/bin/env python3
"""Measures the cost of a sandbox: the same small job runs alternately with all walls, and without
those walls that need the right to create namespaces. Needs root.

	B=build/release tests/bench/sandbox.py [JOBS]
"""

import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "integration" / "run"), str(HERE.parent / "lib")]
from runner import PYTHON, Runner  # noqa: E402

NO_NAMESPACES = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
HARNESS = (
	"import os\nos.write(3, b'test-count: 2\\ntest.0.status: pass\\n"
	"test.1.status: pass\\ncheck: pass\\n')\n"
)
PROGRAMS = 2  # programs per job: the check of the file, and the harness


def timed(runner):
	began = time.monotonic()
	result = runner.run(harness=HARNESS)
	if result.verdict != "passed":
		sys.exit(f"{result.verdict}: {result.reason}")
	return (time.monotonic() - began) * 1000


def forks(runner):
	"""Whether the harness is forked from the zygote."""
	return (
		runner.run(
			harness="import os, sys\nos.write(3, b'test.0.message: %d\\n' % ('numpy' in "
			"sys.modules))\n" + HARNESS
		).cases[0]["message"]
		== "1"
	)


def compare(what, *options):
	jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
	with Runner(*options) as walled, Runner(*options, prefix=NO_NAMESPACES) as bare:
		for runner in (walled, bare):
			while options and not forks(runner):
				time.sleep(0.1)
			timed(runner)
		times = [(timed(walled), timed(bare)) for _ in range(jobs)]
	with_walls, without = (
		statistics.quantiles(column, n=10)[0]
		# The time that the fastest tenth stays below, because other load only adds time.
		for column in zip(*times)
	)
	print(
		f"{what}: {with_walls:.2f} ms with walls, {without:.2f} ms without, "
		f"{with_walls / without:.2f} times; "
		f"{(with_walls - without) / PROGRAMS:.2f} ms for each program"
	)


if os.geteuid() != 0:
	sys.exit("sandbox.py needs root to drop rights for one of the runs.")
compare("a job of two small programs")
compare("the same with a zygote", "--python", PYTHON)
