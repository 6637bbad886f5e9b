#!/usr/bin/env python3
"""Checks the docs: runs the commands in docs/*.md and README.md or compares them with the program's
help, and checks settings, links and file names."""

import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import equal, run, test  # noqa: E402
from workers import BUILD, admin, close, database, load_task, sql, submit  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md")) + [ROOT / "README.md"]
PROGRAMS = ("podium", "podium-admin", "podium-run", "podium-web", "podium-worker", "podium-hooks")

# Words of documented commands and what this test replaces them with. Other words stay as they are.
WORDS = {
	"WORKER": "first",
	"[DEVICE]": "",
	"DEVICE": "GPU-1",
	"REASON": "It is hot.",
	"LEADERBOARD": "small",
	"MODE": "test",
	"MOST": "5",
	"[HOURS]": "24",
	"UUID": "GPU-1",
	"FOLDER": "tasks/vectoradd_py",
	"[GPU]": "",
	"GPU": "CPU",
	"NUMBER": "1",
	"NAME": "small",
	"COUNT": "3",
	"ROLE": "co-creator",
	"SUBMISSION": "1",
	"USER": "judy",
	"JUROR": "jill",
}

# podium-admin commands that this test does not run, and why. It only compares them with the help.
NOT_RUN = {
	"podium-admin exception extend": "needs a deadline; tests/integration/site/exceptions",
	"podium-admin exception lift": "needs an exception; likewise",
	"podium-admin submit": "needs a visible leaderboard; likewise",
	"podium-admin review release SUBMISSION GPU": "needs a result that is held; "
	"tests/integration/admin",
	"podium-admin review reject SUBMISSION GPU REASON": "likewise",
	"podium-admin contest final": "needs a contest that has ended; tests/integration/site/contests",
	"podium-admin contest reopen": "needs final standings; likewise",
	"podium-admin rejudge start": "needs results to compute anew; tests/integration/site/rejudging",
	"podium-admin rejudge show": "likewise",
	"podium-admin rejudge apply": "likewise",
	"podium-admin rejudge discard": "likewise",
	"podium-admin gpu release": "needs a device that has stopped working; tests/faults/gpu",
	"podium-admin task load": "needs a problem set; tests/integration/site/sets and "
	"tests/integration/admin",
	"podium-admin mail test": "needs a mail server; tests/integration/site/mail",
	"podium-admin migrate": "is run before all of this",
	"podium-admin ranking": "is run at the end of this",
	"podium-admin init": "asks about a whole host; tests/integration/admin and tests/scale/install",
	"podium-admin worker invite": "needs certificates; tests/integration/hosts/registration",
	"podium-admin worker revoke": "likewise",
	"podium-admin backup": "writes where only an operator may; tests/integration/admin/backup",
	"podium-admin restore": "likewise",
	"podium-admin restored": "likewise",
	"podium-admin doctor": "takes as long as starting torch; tests/integration/run/host",
}
# Programs that are not Podium's. The test checks only the addresses of curl and the SQL of mariadb.
OTHERS = {"curl", "mariadb", "grep", "promtool", "export", "sed", "ncu", "git"}


class Command:
	def __init__(self, page, line, text, in_sentence=False):
		self.where = f"{page.relative_to(ROOT)}:{line}"
		self.text, self.in_sentence = text, in_sentence
		text = re.sub(r"(?<!\S)#(?!!).*", "", text)
		try:
			words = shlex.split(text)
		except ValueError:
			words = text.split()
		self.settings = []
		while words and re.fullmatch(r"[A-Z_]+=.*", words[0], re.S):
			self.settings.append(words.pop(0).partition("=")[0])
		self.words = words
		self.program = re.sub(r"^(build/release|worker-bundle)/", "", words[0]) if words else ""

	def is_one(self):
		return bool(
			self.program in PROGRAMS
			or self.program in OTHERS
			or self.program in ("make", "./dev", "./run")
			or self.program.startswith("tests/")
		)


def blocks(page):
	"""Yields (line, text) of each command: an indented or fenced line, joined with the lines that a
	backslash continues."""
	lines, fence, before = page.read_text().splitlines(), None, ""
	for number, line in enumerate(lines, 1):
		if line.lstrip().startswith("```"):
			fence = None if fence is not None else line.lstrip()[3:].strip()
			continue
		if fence is not None and fence not in ("", "sh", "console"):
			continue
		text = (
			line[2:]
			if fence == "console" and line.startswith("$ ")
			else line.strip()
			if fence in ("", "sh") or (fence is None and line.startswith("    "))
			else None
		)
		if text is None:
			continue
		before += text
		if before.endswith("\\"):
			before = before[:-1]
			continue
		yield number, re.sub(r" {2,}(says|tries|how) .*", "", before)
		before = ""


def commands():
	for page in PAGES:
		for number, text in blocks(page):
			command = Command(page, number, text)
			if command.is_one():
				yield command
		# Commands in a sentence, such as `podium-admin gpu release UUID`.
		for number, line in enumerate(page.read_text().splitlines(), 1):
			for text in re.findall(r"`((?:podium(?:-[a-z]+)?|make|\./dev) [^`]+)`", line):
				command = Command(page, number, text, in_sentence=True)
				if command.is_one():
					yield command


ALL = list(commands())


def help_of(*words):
	answer = subprocess.run(
		[BUILD / words[0], *words[1:], "--help"],
		capture_output=True,
		text=True,
		env=database.environment,
	)
	equal((words, answer.returncode), (words, 0))
	return answer.stdout


HELP = {program: help_of(program) for program in PROGRAMS}
COMMANDS = re.findall(r"^  ([a-z]+) +[a-z]", HELP["podium"], re.M)
HELP |= {f"podium {name}": help_of("podium", name) for name in COMMANDS}
# The usage lines of podium-admin, each with its continuation lines.
SIGNATURES = [
	" ".join(line.split())
	for line in re.sub(r"\|\n +", "| ", HELP["podium-admin"]).splitlines()
	if re.match(r"  [a-z]", line)
]


def check_options(command, known):
	options = set(re.findall(r"--?[a-zA-Z][a-z-]*", known)) | {"--help", "--version"}
	for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(command.words[1:])):
		equal((command.where, command.text, option in options), (command.where, command.text, True))


def check_podium(command):
	if (
		len(command.words) > 1
		and not command.words[1].startswith("-")
		and command.words[1] != "COMMAND"
	):
		equal((command.where, command.words[1] in COMMANDS), (command.where, True))
		check_options(command, HELP[f"podium {command.words[1]}"])
	else:
		check_options(command, HELP["podium"])


def check_admin(command):
	words = command.words[1:]
	fitting = [
		line
		for line in SIGNATURES
		if line.split()[0] == words[0]
		and (
			len(words) == 1
			or not re.match(r"[a-z]+( |$)", " ".join(line.split()[1:]))
			or words[1] in line.split()[1:]
		)
	]
	equal((command.where, command.text, bool(fitting)), (command.where, command.text, True))
	check_options(command, "\n".join(fitting))


def check_make(command):
	words = (
		command.words[1 : command.words.index("&&")] if "&&" in command.words else command.words[1:]
	)
	targets = [word for word in words if "=" not in word and not word.startswith("-")]
	makefile = (ROOT / "Makefile").read_text()
	for target in targets:
		equal(
			(command.where, target, bool(re.search(rf"^{re.escape(target)}:", makefile, re.M))),
			(command.where, target, True),
		)


def check_file(command):
	path = ROOT / command.program
	equal(
		(command.where, command.program, any(path.parent.glob(path.name + "*"))),
		(command.where, command.program, True),
	)


def check_dev(command):
	words = re.findall(r"^#\s+\./dev ([\w-]+)", (ROOT / "dev").read_text(), re.M)
	equal((command.where, command.words[1] in words), (command.where, True))


def check_curl(command):
	router = "".join(path.read_text() for path in (ROOT / "cgi").rglob("*.c"))
	patterns = [
		re.escape(found).replace(r"\*\*", ".+").replace(r"\*", "[^/]+")
		for found in re.findall(r'"(/[^"\s]*)", \w+, [A-Z_]+, ', router)
	]
	for word in command.words[1:]:
		if re.match(r"https?://", word):
			path = re.sub(r"https?://[^/]+|\?.*", "", word) or "/"
			equal(
				(command.where, path, any(re.fullmatch(pattern, path) for pattern in patterns)),
				(command.where, path, True),
			)


def check_sql(command):
	"""Runs the command's SQL in a transaction and rolls back. A statement that creates the database
	`podium` creates a database of another name instead."""
	statement = command.words[command.words.index("-e") + 1].replace(
		"CREATE DATABASE podium ", "CREATE OR REPLACE DATABASE of_the_book "
	)
	sql(f"START TRANSACTION; {statement}; ROLLBACK")


CHECKS = {
	"podium": check_podium,
	"podium-admin": check_admin,
	"make": check_make,
	"./dev": check_dev,
	"curl": check_curl,
	"mariadb": check_sql,
	"podium-run": lambda command: check_options(command, HELP["podium-run"]),
	**{
		name: lambda command: check_options(command, "")
		for name in ("podium-web", "podium-worker", "podium-hooks")
	},
}


@test
def each_command_is_known_to_its_program():
	equal(len(ALL) > 60, True)
	for command in ALL:
		if command.program.startswith("tests/"):
			check_file(command)
		elif command.program in CHECKS:
			check = CHECKS[command.program]
			check(command)
		for word in command.words[1:]:
			if re.match(r"(tests|tasks|packaging|docs)/", word) and "NAME" not in word:
				equal((command.where, word, (ROOT / word).exists()), (command.where, word, True))


@test
def a_wrong_command_is_found():
	page = ROOT / "README.md"
	for text in (
		"podium-admin worker drian WORKER",
		"podium-admin task load --dry",
		"podium submit x.py --wiat",
		"podium sumbit x.py",
		"make tset",
		"./dev tset",
		"podium-run --wals",
		"curl http://127.0.0.1:8080/metrix",
		"mariadb podium -e 'DELETE FROM audit_logs'",
	):
		command = Command(page, 1, text)
		try:
			CHECKS[command.program](command)
		except AssertionError:
			continue
		raise AssertionError(f"nothing is found wrong with: {text}")


@test
def admin_commands_do_what_the_docs_say():
	load_task()
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('first', '0', "
		"'{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)); "
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) "
		"SELECT id, 'GPU-1', 'CPU', 'x', 1, '1', '', UTC_TIMESTAMP(3) FROM workers; "
		"INSERT INTO users (name, password_hash) VALUES ('ada', ''); "
		"INSERT INTO authenticator_apps (user_id, secret, confirmed_at) "
		"SELECT id, REPEAT('x', 20), UTC_TIMESTAMP(3) FROM users WHERE name = 'ada'"
	)
	submit()
	sql("INSERT IGNORE INTO users (name, password_hash) VALUES ('judy', ''), ('jill', '')")
	ran = 0
	for command in ALL:
		plain = " ".join(command.words).replace("build/release/", "")
		if (
			command.program != "podium-admin"
			or any(plain.startswith(name) for name in NOT_RUN)
			or command.in_sentence
		):
			continue
		words = [word for word in (WORDS.get(word, word) for word in command.words[1:]) if word]
		if words[:2] == ["worker", "resume"]:
			words = (
				["worker", "resume", "first"]
				if sql("SELECT 1 FROM pauses WHERE uuid = ''")
				else ["worker", "resume", "first", "GPU-1"]
			)
		answer = subprocess.run(
			[BUILD / "podium-admin", *words],
			cwd=ROOT,
			capture_output=True,
			text=True,
			env=database.environment,
		)
		equal(
			(command.where, words, answer.returncode, answer.stderr), (command.where, words, 0, "")
		)
		ran += 1
	equal(ran >= 8, True)
	admin("ranking", "rebuild")
	for name in NOT_RUN:
		equal(
			(
				name,
				any(
					" ".join(command.words).replace("build/release/", "").startswith(name)
					for command in ALL
				)
				or name.split()[1] in ("migrate", "ranking"),
			),
			(name, True),
		)


@test
def each_setting_in_the_docs_exists():
	known = set(re.findall(r"PODIUM_[A-Z_]+", HELP["podium-admin"] + HELP["podium-run"]))
	for path in ("run", "packaging/container/Containerfile", "packaging/container/compose.yaml"):
		known |= set(re.findall(r"\$\{?(PODIUM_[A-Z_]+)", (ROOT / path).read_text()))
	others = "".join(
		path.read_text(errors="replace")
		for folder in ("cli", "harness", "tests", "worker", "lib")
		for path in (ROOT / folder).rglob("*")
		if path.suffix in (".c", ".h", ".py", ".mjs", "")
		and path.is_file()
		and "node_modules" not in path.parts
	)
	for page in PAGES:
		for name in set(re.findall(r"\bPODIUM_[A-Z_]*[A-Z]\b", page.read_text())) - known:
			equal(
				(page.name, name, f'"{name}"' in others or f"{name}=" in others),
				(page.name, name, True),
			)


def slug(heading):
	"""The anchor of a heading, as code hosts make it."""
	return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")


def anchors(page):
	return {slug(heading) for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.M)}


@test
def every_link_has_a_target():
	for page in PAGES:
		for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
			if re.match(r"[a-z]+:", target):
				continue
			path, _, anchor = target.partition("#")
			there = (page.parent / path).resolve() if path else page
			equal((page.name, target, there.exists()), (page.name, target, True))
			if anchor:
				equal((page.name, target, anchor in anchors(there)), (page.name, target, True))


@test
def every_named_file_exists():
	for page in PAGES:
		for name in re.findall(
			r"`((?:lib|cgi|worker|hooks|cli|sql|tests|packaging|templates|static)/[\w./-]*\w)`",
			page.read_text(),
		):
			there = any((ROOT / name).parent.glob((ROOT / name).name + "*"))
			equal((page.name, name, there), (page.name, name, True))


@test
def the_table_of_contents_lists_every_page():
	contents = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text()))
	equal(contents, {page.name for page in PAGES[:-1]} - {"README.md"})


admin("migrate")
try:
	status = run()
finally:
	close()
sys.exit(status)
