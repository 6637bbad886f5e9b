#!/usr/bin/env python3
"""Programs that others generate from the description of /api/v1: the Python client of
openapi-python-client, and fetch with the types of openapi-typescript. Each one submits, waits and
reads a ranking."""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import tools  # noqa: E402
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from openapi import document  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import case, make_board, register, source_of  # noqa: E402
from tap import Skip, contains, equal, run, test  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "clients"
site = Instance(pretends=True)
folder = site.var / "clients"
users = {name: Client(site.url) for name in ("root-of-all", "ada", "bob")}
tokens = {}


def installed(install, *arguments):
	try:
		return install(*arguments)
	except tools.Missing as reason:
		raise Skip(str(reason))


def call(*words, **environment):
	answer = subprocess.run(
		words,
		cwd=folder,
		env={**os.environ, **environment},
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
	)
	if answer.returncode:
		raise AssertionError((words, answer.stdout[-2000:], answer.stderr[-4000:]))
	return answer.stdout


def read(said):
	"""What a client printed, with only the test's own leaderboard."""
	found = json.loads(said)
	return found | {"leaderboards": [name for name in found["leaderboards"] if name == "small"]}


def environment_of(name, source):
	return {"URL": site.url, "TOKEN": tokens[name], "SOURCE": source}


@test
def a_site_serves_its_description():
	register(site, users)
	make_board(users["root-of-all"], "small")
	for name in ("ada", "bob"):
		tokens[name] = make_token(users[name], "client", "read", "submit")
	folder.mkdir()
	served = Program(site.url).ask("GET", "/api/v1/openapi.json").text
	(folder / "openapi.json").write_text(served)


@test
def every_operation_has_a_tag_and_a_name_that_is_a_verb_and_a_noun():
	known = {tag["name"] for tag in document()["tags"]}
	calls = [call for methods in document()["paths"].values() for call in methods.values()]
	names = [call["operationId"] for call in calls]
	equal([name for name in names if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)+", name)], [])
	equal(len(set(names)), len(names))
	equal({tag for call in calls for tag in call["tags"]}, known)
	equal([call["operationId"] for call in calls if len(call["tags"]) != 1], [])
	equal(document()["info"]["license"], {"name": "MIT License", "identifier": "MIT"})


@test
def the_generated_python_client_submits_waits_and_reads():
	packages = installed(tools.install, "clients")
	# The packages keep their bytecode, which takes seconds to make.
	path = {"PYTHONPATH": f"{packages}:{folder}", "PYTHONDONTWRITEBYTECODE": ""}
	call(
		sys.executable,
		packages / "bin" / "openapi-python-client",
		"generate",
		"--path=openapi.json",
		"--meta=none",
		"--output-path=podium_client",
		f"--config={HERE / 'openapi-python-client.yaml'}",
		"--fail-on-warning",
		**path,
	)
	source = source_of(case(1000.0))
	said = call(sys.executable, HERE / "client.py", **path, **environment_of("ada", source))
	equal(
		read(said),
		{
			"user": "ada",
			"files": ["submission.py", "text.py"],
			"verdicts": ["passed", "passed"],
			"source": source,
			"ranking": [["ada", 1000.0]],
			"leaderboards": ["small"],
			"submissions": [True, True],
			"workers": 1,
			"queue": ["H200"],
		},
	)


@test
def fetch_with_the_generated_types_submits_waits_and_reads():
	programs = installed(tools.install_node, HERE) / ".bin"
	call(programs / "openapi-typescript", "openapi.json", "--output", "api.d.ts")
	text = (HERE / "client.mts").read_text()
	(folder / "client.mts").write_text(text)
	# The types are strict: a wrong mode does not compile. One call of tsc compiles both programs.
	(folder / "wrong.mts").write_text(text.replace('mode: "test"', 'mode: "fast"'))
	options = ["--strict", "--module", "nodenext", "--target", "es2022", "--skipDefaultLibCheck"]
	answer = subprocess.run(
		[programs / "tsc", *options, "client.mts", "wrong.mts"],
		cwd=folder,
		capture_output=True,
		text=True,
	)
	errors = re.findall(r"^(\S+)\(\d+,\d+\): error", answer.stdout, re.M)
	equal((answer.returncode != 0, set(errors), answer.stderr), (True, {"wrong.mts"}, ""))
	contains(answer.stdout, '"fast"')
	said = call("node", "client.mjs", **environment_of("bob", source_of(case(2000.0))))
	equal(
		read(said),
		{
			"user": "bob",
			"files": ["submission.py", "text.py"],
			"verdicts": ["passed", "passed"],
			"ranking": [["ada", 1000.0], ["bob", 2000.0]],
			"leaderboards": ["small"],
			"submissions": True,
			"workers": 1,
			"queue": ["H200"],
		},
	)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
