#!/usr/bin/env python3
"""Checks the structure of the code: which folder of the C code may include which. Needs no
build."""

import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import equal, run, test  # noqa: E402

# Each folder, and the other folders whose headers its files may include. `lib/*` stands for every
# folder of lib. docs/architecture.md draws the table as arrows. A new arrow needs a reason.
HOUSE = """
lib/base
lib/files            lib/base
lib/database         lib/base
lib/result           lib/base
lib/submission       lib/base
lib/account          lib/base lib/database
lib/identity         lib/base
lib/task             lib/base lib/database lib/files lib/result
lib/gpu              lib/base lib/task
lib/leaderboard      lib/base lib/database lib/files lib/result lib/account lib/task lib/gpu
lib/job              lib/base lib/database lib/files lib/task lib/gpu lib/leaderboard
lib/news             lib/base lib/database lib/account lib/leaderboard
lib/mail             lib/base lib/database lib/account lib/leaderboard lib/news
lib/webhook          lib/base lib/database lib/account lib/leaderboard lib/job
lib/question         lib/base lib/database lib/account lib/leaderboard lib/news lib/mail
                     lib/webhook
lib/similarity       lib/base lib/database lib/submission
lib/fleet            lib/base lib/database lib/account lib/leaderboard
lib/ranking          lib/base lib/database lib/leaderboard lib/job lib/mail lib/webhook
lib/contest          lib/base lib/database lib/account lib/leaderboard lib/job lib/webhook
                     lib/ranking
lib/intake           lib/base lib/database lib/account lib/leaderboard lib/submission lib/contest
lib/judging          lib/base lib/database lib/result lib/account lib/task lib/gpu lib/leaderboard
                     lib/job lib/mail lib/webhook lib/ranking

sql                  lib/base lib/database
hooks                lib/base lib/database lib/account lib/gpu lib/leaderboard lib/news
                     lib/mail lib/webhook lib/similarity sql

cgi/render           lib/base lib/database lib/gpu
cgi/http             lib/base lib/database lib/account lib/leaderboard lib/news lib/job
                     lib/ranking cgi/render templates
cgi/action           lib/*
cgi/page             lib/* cgi/render cgi/http cgi/action templates
cgi/admin            lib/* cgi/render cgi/http cgi/action cgi/page templates
cgi/api              lib/* cgi/render cgi/http cgi/action cgi/page cgi/admin
cgi/server           lib/base lib/database lib/leaderboard lib/job lib/judging lib/ranking
                     lib/contest
cgi/popcorn          lib/* cgi/render cgi/http cgi/action cgi/api cgi/server
cgi                  lib/* cgi/render cgi/http cgi/page cgi/api cgi/popcorn cgi/server

worker               lib/base lib/database lib/task lib/gpu lib/job lib/fleet lib/judging sql
                     harness/sealed
worker/run/sandbox   lib/base
worker/run/job       lib/base lib/files lib/result lib/task worker/run/sandbox
worker/run/profile   lib/base lib/gpu worker/run/sandbox worker/run/job
worker/run/engine    lib/base lib/result lib/task lib/gpu worker/run/sandbox worker/run/job
                     worker/run/profile harness/isolated harness/sealed
worker/run           lib/base lib/task lib/gpu worker/run/sandbox worker/run/job
                     worker/run/profile worker/run/engine

cli/admin            lib/* sql
cli/podium           lib/base lib/files lib/result lib/submission lib/task lib/gpu lib/job
"""

# Folders whose headers are for other folders. A header in such a folder that no other folder
# includes must say that it is private.
SHARED = re.compile(r"(lib/\w+|cgi/(http|render|action)|worker/run/\w+)$")

# Tests that may include private headers of a folder.
MAY_LOOK_INSIDE = ("tests/unit", "tests/fuzz", "tests/integration/library")

# C files with fewer than `least_lines` lines, and why they are separate. A table needs no reason.
least_lines = 20
SHORT = {"lib/base/write.c": "one loop, which files of every program need"}

# Files that do not name includes from the tree's root: Podium compiles the judge and a task's files
# together in one folder outside the tree.
NOT_FROM_THE_ROOT = re.compile("(tests/)?harness/|(tests/.*)?tasks/")


def tracked(*patterns):
	"""The files of the working tree, including new ones that are not committed."""
	names = subprocess.run(
		["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
		cwd=ROOT,
		check=True,
		capture_output=True,
		text=True,
	).stdout.splitlines()
	return sorted(name for name in set(names) if (ROOT / name).is_file())


SOURCES = tracked("*.c", "*.h")
HEADERS = [name for name in SOURCES if name.endswith(".h")]
FOLDERS = {
	folder: allowed for folder, *allowed in map(str.split, re.split(r"\n+(?=\S)", HOUSE.strip()))
}


def folder_of(name):
	return os.path.dirname(name)


def in_the_house(name):
	return name.split("/")[0] in ("lib", "cgi", "worker", "cli", "hooks", "sql")


@functools.cache
def text_of(name):
	return (ROOT / name).read_text()


@functools.cache
def included_by(name):
	"""The tree's own files that a C file or template includes."""
	return re.findall(r'^(?:#|\{\{)include "([^/"][^"]*)"', text_of(name), re.M)


def inclusions(names):
	return [(name, included) for name in names for included in included_by(name)]


def may_include(folder, other):
	allowed = FOLDERS.get(folder, [])
	return other == folder or other in allowed or (other.startswith("lib/") and "lib/*" in allowed)


def cycles(arrows):
	"""Returns cycles of a graph, at least one for each strongly connected part. `arrows` maps each
	name to the names to which its arrows point."""
	done, found = set(), []

	def walk(name, path):
		if name in path:
			found.append(" -> ".join(path[path.index(name) :] + [name]))
		elif name not in done:
			for other in sorted(arrows.get(name, ())):
				walk(other, path + [name])
			done.add(name)

	for name in sorted(arrows):
		walk(name, [])
	return found


@test
def every_folder_with_c_code_has_a_row_in_the_table():
	equal(sorted({folder_of(name) for name in SOURCES if in_the_house(name)} - set(FOLDERS)), [])
	equal([folder for folder in FOLDERS if not (ROOT / folder).is_dir()], [])


@test
def a_file_includes_only_folders_that_the_table_allows():
	equal(
		[
			f"{name} includes {included}"
			for name, included in inclusions(filter(in_the_house, SOURCES))
			if not may_include(folder_of(name), folder_of(included))
		],
		[],
	)


@test
def the_tables_arrows_form_no_circle():
	arrows = {
		folder: [other for other in FOLDERS if other != folder and may_include(folder, other)]
		for folder in FOLDERS
	}
	equal(cycles(arrows), [])


@test
def no_modules_include_each_other():
	arrows = {}
	for name, included in inclusions(SOURCES):
		beside = f"{folder_of(name)}/{included}"
		module = next((path[:-2] for path in (included, beside) if path in HEADERS), None)
		if module and module != name[:-2]:
			arrows.setdefault(name[:-2], set()).add(module)
	equal(cycles(arrows), [])


@test
def a_private_header_is_included_only_in_its_folder():
	private = {
		name: told[1]
		for name in HEADERS
		if (told := re.match(r"/\* Private to ([\w/]+)[:.]", text_of(name)))
	}
	equal([name for name, folder in private.items() if folder != folder_of(name)], [])
	equal(
		[
			f"{name} includes {included}"
			for name, included in inclusions(SOURCES + tracked("templates/*.html"))
			if included in private and folder_of(name) not in (private[included], *MAY_LOOK_INSIDE)
		],
		[],
	)


@test
def a_header_that_no_other_folder_includes_is_marked_private():
	public = {
		included
		for name, included in inclusions(SOURCES + tracked("templates/*.html"))
		if folder_of(name) not in (folder_of(included), *MAY_LOOK_INSIDE)
	}
	equal(
		[
			name
			for name in HEADERS
			if SHARED.match(folder_of(name))
			and name not in public
			and not text_of(name).startswith(f"/* Private to {folder_of(name)}:")
		],
		[],
	)


@test
def headers_are_included_by_their_path_from_the_root():
	made = {name.replace(".html", ".h") for name in tracked("templates/*.html")}
	equal(
		[
			f"{name} includes {included}"
			for name, included in inclusions(SOURCES)
			if ".." in included.split("/")
			or not (
				NOT_FROM_THE_ROOT.match(name)
				or (ROOT / included).is_file()
				or included in made
				or included.endswith(".list")
			)
		],
		[],
	)


@test
def a_short_c_file_is_a_table_or_has_a_reason():
	short = {
		name
		for name in SOURCES
		if in_the_house(name)
		and name.endswith(".c")
		and len(text_of(name).splitlines()) < least_lines
	}
	tables = {
		name for name in short if re.search(r"^(static )?const .*\[\] = \{", text_of(name), re.M)
	}
	equal(sorted(short - tables - set(SHORT)), [])
	equal(sorted(set(SHORT) - short), [])


@test
def the_architecture_page_names_every_folder():
	page = text_of("docs/architecture.md")
	equal([folder for folder in FOLDERS if f"`{folder}/`" not in page], [])


sys.exit(run())
