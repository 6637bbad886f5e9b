#!/usr/bin/env python3
"""Checks the format of the files that git tracks: C and CUDA C++ by clang-format 14, Python by
ruff, and no line wider than 100 columns.

	tests/style/format.test.py             lists the files that differ
	tests/style/format.test.py --write     formats them (`make format`)
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import tools  # noqa: E402
from tap import Skip, equal, run, test  # noqa: E402

SUFFIXES = {
	".c": "C",
	".h": "C",
	".cu": "C",
	".cuh": "C",
	".py": "Python",
	".sql": "SQL",
	".md": "Markdown",
}
# Files that must not be formatted: what contestants and fuzzers wrote, migrations that
# installations have already run, and docs/api.md, which a program generates.
AS_THEY_ARE = re.compile(r"tests/(redteam/cases|fuzz/corpus)/|.*/samples/|sql/\d|docs/api.md")
MOST_COLUMNS = 100  # a tab counts 4
CLANG_FORMAT = "clang-format-14"
DIFFERING = "These files are not formatted. Run `make format`."


@functools.cache
def files(language):
	answer = subprocess.run(
		["git", "-c", "safe.directory=*", "ls-files", "-z"],
		cwd=ROOT,
		capture_output=True,
		text=True,
	)
	if answer.returncode:
		raise Skip("this is no git clone: " + answer.stderr.strip())
	return [
		name
		for name in answer.stdout.split("\0")
		if name
		and not AS_THEY_ARE.match(name)
		and (ROOT / name).is_file()
		and language_of(name) == language
	]


def language_of(name):
	suffix = pathlib.Path(name).suffix
	if suffix or not os.access(ROOT / name, os.X_OK):
		return SUFFIXES.get(suffix)
	with open(ROOT / name, "rb") as file:
		return "Python" if re.match(rb"#!.*\bpython3?\b", file.readline()) else None


def expect_none(found, what):
	if found:
		raise AssertionError("\n".join([what, *found]))


# ---- C and CUDA C++ ----


def clang_format(*options):
	if not shutil.which(CLANG_FORMAT):
		raise Skip(f"{CLANG_FORMAT} is not installed")
	return subprocess.run(
		[CLANG_FORMAT, *options, *files("C")], cwd=ROOT, capture_output=True, text=True
	)


@test
def c_is_formatted_by_clang_format():
	answer = clang_format("--dry-run", "-Werror")
	expect_none(
		sorted(set(re.findall(r"^(\S+?):\d+:\d+: error: ", answer.stderr, re.M))), DIFFERING
	)
	equal((answer.returncode, answer.stderr), (0, ""))


# ---- Python ----


def ruff(*options):
	try:
		program = tools.install("python") / "bin" / "ruff"
	except tools.Missing as reason:
		raise Skip(str(reason))
	return subprocess.run(
		[program, "format", *options, *files("Python")], cwd=ROOT, capture_output=True, text=True
	)


@test
def python_is_formatted_by_ruff():
	answer = ruff("--check")
	expect_none(re.findall(r"^Would reformat: (.+)$", answer.stdout, re.M), DIFFERING)
	equal((answer.returncode, answer.stderr), (0, ""))


# ---- all ----


def lines_of(name, language):
	"""Yields (number, line). Leaves out the code blocks of Markdown, because a command cannot be
	wrapped."""
	is_code = False
	for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
		is_code ^= language == "Markdown" and line.startswith("```")
		if not is_code and not (language == "Markdown" and line.startswith("    ")):
			yield number, line


@test
def no_line_is_wider_than_100_columns():
	expect_none(
		[
			f"{name}:{number}"
			for language in ("C", "Python", "SQL", "Markdown")
			for name in files(language)
			for number, line in lines_of(name, language)
			if len(line.expandtabs(4)) > MOST_COLUMNS
		],
		f"These lines are wider than {MOST_COLUMNS} columns:",
	)


def write():
	"""Formats the files of both languages."""
	try:
		clang_format("-i").check_returncode()
		ruff().check_returncode()
	except Skip as reason:
		sys.exit(f"make format: {reason}")
	return 0


sys.exit(write() if sys.argv[1:] == ["--write"] else run())
