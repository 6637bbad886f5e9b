#!/usr/bin/env python3
"""Schemathesis invents requests from the description of /api/v1, with a participant's and an
admin's token, and compares the answers with the description. `make test-requests` sends far more
requests, without Schemathesis."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import tools  # noqa: E402
from fuzzed_site import check_unharmed, make_site  # noqa: E402
from tap import Skip, equal, run, test  # noqa: E402

# Checks that do not fit, with the reason.
LEFT_OUT = {
	"positive_data_acceptance": "A description cannot say all rules: which users, files and times "
	"exist, or which state allows a call. So the program may refuse what the description allows.",
	"use_after_free": "Only for sequences of calls, which are not invented here.",
	"ensure_resource_availability": "Only for sequences of calls, which are not invented here.",
}

site, tokens, _ = make_site()


def invent(role, *options):
	"""Runs Schemathesis with the token of the role. Returns the number of requests. Python's
	bytecode and Hypothesis's tables stay in the folder of the tool, because making them takes ten
	seconds of a processor. Schemathesis reads the whole environment for each request, so it gets a
	small one."""
	try:
		folder = tools.install("schemathesis")
	except tools.Missing as reason:
		raise Skip(str(reason))
	answer = subprocess.run(
		[
			sys.executable,
			"-c",
			"from schemathesis.cli import schemathesis; schemathesis()",
			"run",
			f"{site.url}/api/v1/openapi.json",
			f"--header=Authorization: Bearer {tokens[role]}",
			"--checks=all",
			f"--exclude-checks={','.join(LEFT_OUT)}",
			"--generation-deterministic",
			"--continue-on-failure",
			"--no-shrink",
			"--no-color",
			"--warnings=off",
			*options,
		],
		cwd=site.var,
		env={
			"PATH": os.environ["PATH"],
			"LC_ALL": "C.UTF-8",
			"PYTHONPATH": str(folder),
			"HYPOTHESIS_STORAGE_DIRECTORY": str(folder / ".hypothesis"),
		},
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
	)
	said = answer.stdout + answer.stderr
	equal((answer.returncode, said if answer.returncode else ""), (0, ""))
	return int(re.search(r"(\d+) generated", said)[1])


@test
def an_admins_answers_match_the_description_at_the_bounds_of_each_value():
	equal(invent("root-of-all", "--phases=coverage") > 1000, True)


@test
def a_participants_answers_match_the_description_for_random_values():
	equal(invent("ada", "--phases=fuzzing", "--max-examples=3") > 250, True)


@test
def nothing_failed_and_nobody_was_told():
	check_unharmed(site)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
