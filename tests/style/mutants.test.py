#!/usr/bin/env python3
"""Checks that the patches of tests/mutants still fit the code, without running them: `make mutants`
does that."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from mutants import all_mutants, suites_by_name  # noqa: E402
from tap import run, test  # noqa: E402

MUTANTS = all_mutants()


def expect_none(found, what):
	if found:
		raise AssertionError("\n".join([what, *found]))


@test
def there_are_bugs_in_every_part_of_the_code():
	changed = {name.split("/")[0] for mutant in MUTANTS for name in mutant.files}
	parts = "cgi cli dev github-action harness hooks lib nginx.conf packaging run sql static worker"
	expect_none(sorted(set(parts.split()) - changed), "No patch changes a file of these:")
	assert len(MUTANTS) >= 60, len(MUTANTS)


@test
def each_patch_applies():
	complaints = {mutant.name: mutant.apply(ROOT, "--check") for mutant in MUTANTS}
	expect_none(
		[f"{name}: {complaint}" for name, complaint in complaints.items() if complaint],
		"The code has changed. Make these patches anew, so that they put the same bug into it:",
	)


@test
def each_patch_changes_the_code_and_says_what_the_bug_is():
	expect_none(
		[
			mutant.name
			for mutant in MUTANTS
			if not mutant.bug or not mutant.files or any("tests/" in name for name in mutant.files)
		],
		"These patches have no line `Bug:`, or change no file, or change a test:",
	)


@test
def each_patch_names_a_suite_and_tests_that_exist():
	suites = suites_by_name()
	expect_none(
		[mutant.name for mutant in MUTANTS if mutant.suite not in suites],
		"./dev test --list has no such suite as these name:",
	)
	expect_none(
		[
			f"{mutant.name}: {word}"
			for mutant in MUTANTS
			for word in mutant.tests
			if word not in pathlib.Path(suites[mutant.suite].command[0]).read_text()
		],
		"The suite has no test with this word in its name:",
	)


sys.exit(run())
