#!/usr/bin/env python3
"""The GitHub Action in github-action/ with a whole Podium and a strict stand-in for GitHub's API.

The tests run the command of action.yml with the variables that action.yml sets, as a runner does.
A stand-in for podium-run reports what each kernel tells it to."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from client import Client  # noqa: E402
from faulty import Faulty, answers, passes_on, redirects, routes  # noqa: E402
from instance import Instance  # noqa: E402
from programs import make_token  # noqa: E402
from small_task import TASK, case, load_task, make_board, new_source  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

ACTION = ROOT / "github-action"
GITHUB_TOKEN = "ghs_" + "g" * 36
BASE, HEAD, NEXT = "b" * 40, "a" * 40, "c" * 40
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-action-test."))
site = Instance(pretends=True)
ada, admin = Client(site.url), Client(site.url)
tokens = {}


# ---- GitHub ----


class GitHub:
	"""The part of GitHub's API that the action needs. It answers any other request, and any request
	that GitHub would refuse, with an error, and remembers it in `faults`."""

	repository = "octo/kernels"

	def __init__(self):
		self.commits, self.comments, self.faults, self.refuses = {}, [], [], {}
		self.changed = []  # the files of the pull request, as the API lists them
		github = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def answer(self):
				length = int(self.headers.get("Content-Length", 0))
				status, content = github.handle(self, self.rfile.read(length))
				self.send_response(status)
				self.send_header("Content-Length", str(len(content)))
				self.end_headers()
				self.wfile.write(content)

			do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

			def log_message(self, *_):
				pass

		self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		self.url = f"http://127.0.0.1:{self.server.server_port}"
		threading.Thread(target=self.server.serve_forever, daemon=True).start()

	def handle(self, request, body):
		at = urllib.parse.urlsplit(request.path)
		query = dict(urllib.parse.parse_qsl(at.query))
		path = at.path.removeprefix(f"/repos/{self.repository}")
		for name, expected in (
			("Authorization", f"Bearer {GITHUB_TOKEN}"),
			("X-GitHub-Api-Version", "2022-11-28"),
		):
			if request.headers.get(name) != expected:
				return self.fault(401, f"{request.path}: the header {name}")
		if not request.headers.get("User-Agent"):
			return self.fault(403, "no User-Agent")
		for word, statuses in self.refuses.items():
			if word in f"{request.command} {path}" and statuses:
				return statuses.pop(0), b'{"message": "No"}'
		kind = request.headers.get("Accept")
		if path == at.path:
			return self.fault(404, request.path)
		if request.command == "GET" and path.startswith("/contents/"):
			return self.content(kind, urllib.parse.unquote(path[len("/contents/") :]), query)
		if kind != "application/vnd.github+json":
			return self.fault(415, f"Accept: {kind}")
		if request.command == "GET" and path == "/pulls/7/files":
			return self.page(self.changed, query)
		if request.command == "GET" and path == f"/compare/{BASE}...{HEAD}" and not query:
			return 200, json.dumps({"files": self.changed}).encode()
		if request.command == "GET" and path == "/issues/7/comments":
			return self.page(self.comments, query)
		number = re.fullmatch("/issues/comments/(\\d+)", path)
		if request.command == "PATCH" and number:
			return self.store(int(number[1]), body)
		if request.command == "POST" and path == "/issues/7/comments":
			return self.store(None, body)
		return self.fault(404, f"{request.command} {request.path}")

	def fault(self, status, what):
		self.faults.append(what)
		return status, json.dumps({"message": what}).encode()

	def page(self, items, query):
		if set(query) != {"per_page", "page"} or int(query["per_page"]) > 100:
			return self.fault(422, f"query {query}")
		size, number = int(query["per_page"]), int(query["page"])
		return 200, json.dumps(items[size * (number - 1) : size * number]).encode()

	def content(self, kind, path, query):
		if kind != "application/vnd.github.raw+json" or query.get("ref") not in self.commits:
			return self.fault(422, f"contents of {path}: {kind}, {query}")
		source = self.commits[query["ref"]].get(path)
		return (404, b'{"message": "Not Found"}') if source is None else (200, source.encode())

	def store(self, number, body):
		order = json.loads(body)
		if list(order) != ["body"] or not 0 < len(order["body"]) <= 65_536:
			return self.fault(422, "the comment's body")
		known = [comment for comment in self.comments if comment["id"] == number]
		if number is not None and not known:
			return self.fault(404, f"comment {number}")
		if known:
			known[0]["body"] = order["body"]
		else:
			self.write("github-actions[bot]", order["body"])
		return 200, b"{}"

	def write(self, login, body):
		self.comments.append({"id": len(self.comments) + 1, "user": {"login": login}, "body": body})

	def change(self, head=HEAD, **files):
		"""Sets the pull request's files, given as (path, base, head); None: not there."""
		self.commits = {BASE: {}, head: {}}
		self.changed = []
		for path, before, after in files["files"]:
			status = "added" if before is None else "removed" if after is None else "modified"
			self.changed.append({"filename": path, "status": status})
			self.commits[BASE][path], self.commits[head][path] = before, after

	def own_comments(self):
		login = "github-actions[bot]"
		return [
			comment["body"]
			for comment in self.comments
			if comment["user"] and comment["user"]["login"] == login
		]


def event_of(head=HEAD, fork=False):
	repository = {"full_name": GitHub.repository}
	return {
		"pull_request": {
			"number": 7,
			"base": {"sha": BASE, "ref": "main", "repo": repository},
			"head": {"sha": head, "repo": {"full_name": "eve/kernels"} if fork else repository},
		}
	}


# ---- the runner ----


def step_of_action(inputs):
	"""The command of action.yml's only step, and its variables, for these inputs."""
	text = (ACTION / "action.yml").read_text()
	defaults = dict(re.findall(r'^  ([\w-]+):\n    .*\n    default: "?([\w-]+)"?$', text, re.M))
	names = re.findall(r"^  ([\w-]+):\n    description:", text, re.M)
	equal(set(inputs) - set(names), set())
	variables = {}
	for variable, kind, name in re.findall(r"^ +(\w+): \$\{\{ (\w+)\.([\w-]+) \}\}$", text, re.M):
		variables[variable] = (
			GITHUB_TOKEN if kind == "github" else inputs.get(name, defaults.get(name, ""))
		)
	equal(len(variables), len(names) + 1)
	return re.search(r"^ +run: (.*)$", text, re.M)[1], variables


class Run:
	"""A run of the action. `log` has everything that it printed."""

	def __init__(
		self, github, event, actor="ada", name="pull_request", attempt=1, job="times", **inputs
	):
		inputs = {word.replace("_", "-"): value for word, value in inputs.items()}
		inputs = {"server": site.url, "token": tokens["ada"], **inputs}
		command, variables = step_of_action(inputs)
		event_path, summary = scratch / "event.json", scratch / "summary.md"
		event_path.write_text(json.dumps(event))
		summary.write_text("")
		done = subprocess.run(
			["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
			cwd=scratch,
			env={
				"PATH": os.environ["PATH"],
				"HOME": str(scratch),
				"GITHUB_ACTION_PATH": str(ACTION),
				"GITHUB_ACTOR": actor,
				"GITHUB_API_URL": github.url,
				"GITHUB_EVENT_NAME": name,
				"GITHUB_EVENT_PATH": str(event_path),
				"GITHUB_JOB": job,
				"GITHUB_REPOSITORY": github.repository,
				"GITHUB_RUN_ATTEMPT": str(attempt),
				"GITHUB_STEP_SUMMARY": str(summary),
				"GITHUB_WORKFLOW": "podium",
				**variables,
			},
			stdin=subprocess.DEVNULL,
			capture_output=True,
			text=True,
			timeout=300,
		)
		self.code, self.log, self.summary = done.returncode, done.stdout, summary.read_text()
		equal(done.stderr, "")
		for secret in (tokens["ada"], GITHUB_TOKEN):
			lacks(self.log + self.summary + "".join(github.own_comments()), secret)
		# A line of the log may only be a command of GitHub's if the action wrote it as one.
		for line in self.log.splitlines():
			equal(bool(re.match(r"podium: |::(notice|warning|error) title=Podium::", line)), True)
			lacks(line, "##[")


def kernel(mean_ns=2_000_000.0, board="small", gpus="H200", **told):
	"""A kernel that nobody has submitted yet, with this time."""
	told = json.dumps({"cases": [case(mean_ns)], **told})
	gpus = f"#!POPCORN gpus {gpus}\n" if gpus else ""
	header = f"#!POPCORN leaderboard {board}\n" if board else ""
	return f"# {told}\n{header}{gpus}{new_source()}"


def submissions():
	return int(site.value("SELECT COUNT(*) FROM submissions"))


def good(answer, code=0):
	equal((answer.code, answer.log if answer.code != code else ""), (code, ""))
	return answer


@test
def a_site_with_a_user_a_token_and_a_leaderboard():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		client.register(name)
	site.sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	make_board(admin, "small")
	make_board(admin, "other", TASK.replace("1024", "2048"))
	tokens["ada"] = make_token(ada, "github", "read", "submit")


# ---- times and the comment ----


@test
def the_times_of_changed_kernels_stand_beside_those_of_the_base_branch():
	github = GitHub()
	github.change(
		files=[
			("kernels/add one.py", kernel(2_000_000.0), kernel(1_000_000.0)),
			("new.py", None, kernel(3_000_000.0, board="other")),
			("helper.py", "x = 1\n", "x = 2\n"),
			("README.md", "a", "#!POPCORN leaderboard small\n"),
			("gone.py", kernel(), None),
		]
	)
	before = submissions()
	answer = good(Run(github, event_of()))
	equal((submissions() - before, github.faults), (3, []))
	[comment] = github.own_comments()
	contains(comment, "#### `kernels/add one.py` on [`small`]")
	contains(
		comment,
		"| `H200` | `size: 1024` | 2.000000 ± 0.000020 ms | 1.000000 ± 0.000020 ms | "
		"0.500 (0.500 to 0.500) | faster |",
	)
	contains(comment, "| GPU | Shape | `main` | This change |")
	contains(comment, "#### `new.py` on [`other`]")
	contains(comment, "| `H200` | `size: 2048` | 3.000000 ± 0.000020 ms |")
	lacks(comment, "helper.py")
	contains(comment, HEAD[:12])
	contains(answer.summary, comment.split("\n", 1)[1])
	for number, words in re.findall(r"\[submission (\d+)\]\(\S+\), \*\*(\w+)\*\*", comment):
		equal((ada.get(f"/submission/{number}").status, words), (200, "passed"))
	equal(site.value("SELECT GROUP_CONCAT(DISTINCT mode) FROM submissions"), "benchmark")


@test
def the_next_push_updates_the_comment_and_submits_only_what_is_new():
	github, base, first = GitHub(), kernel(), kernel(1_000_000.0)
	github.change(files=[("add.py", base, first)])
	good(Run(github, event_of()))
	marker = github.own_comments()[0].split("\n")[0]
	github.comments.insert(0, {"id": 98, "user": {"login": "eve"}, "body": f"{marker}\nmine"})
	github.comments.insert(
		0, {"id": 99, "user": {"login": "github-actions[bot]"}, "body": f"about {marker}"}
	)
	github.comments[2:2] = [
		{"id": 100 + i, "user": {"login": "bob"} if i else None, "body": "words"}
		for i in range(150)
	]
	before = submissions()
	github.change(NEXT, files=[("add.py", base, first), ("new.py", None, kernel(3_000_000.0))])
	good(Run(github, event_of(NEXT)))
	equal((submissions() - before, github.faults), (1, []))
	equal(
		[comment["body"] for comment in github.comments[:2]], [f"about {marker}", f"{marker}\nmine"]
	)
	[comment] = [body for body in github.own_comments() if body.startswith(marker)]
	contains(comment, NEXT[:12])
	contains(comment, "measured before")
	contains(comment, "new.py")
	# Whoever starts the job again wants a new time of the change, but not of the base branch.
	good(Run(github, event_of(NEXT), attempt=2))
	equal(submissions() - before, 3)
	github.change(NEXT, files=[("README.md", "a", "b")])
	good(Run(github, event_of(NEXT)))
	equal(submissions() - before, 3)
	[comment] = [body for body in github.own_comments() if body.startswith(marker)]
	contains(comment, "It changes no kernel.")


@test
def each_job_has_a_comment_of_its_own():
	github, one = GitHub(), kernel()
	github.change(files=[("one.py", None, one)])
	good(Run(github, event_of()))
	github.change(files=[("one.py", None, one), ("two.py", None, kernel(3_000_000.0))])
	good(Run(github, event_of(), job="others"))
	first, second = github.own_comments()
	lacks(first, "two.py")
	contains(second, "two.py")


@test
def a_new_version_of_the_task_needs_new_results():
	github = GitHub()
	github.change(files=[("add.py", *[kernel(board="versions") for _ in "ab"])])
	load_task(site, TASK + "gpus: [H200]\n", "versions")
	folder = site.var / "tasks" / "versions"
	for _ in range(2):
		before = submissions()
		good(Run(github, event_of()))
		equal(submissions() - before, 2)
		good(Run(github, event_of()))
		equal(submissions() - before, 2)
		(folder / "task.yml").write_text(TASK.replace("1024", "4096") + "gpus: [H200]\n")
		site.manage("task", "load", "--unchecked", folder)


@test
def without_a_kernel_there_is_no_comment():
	github = GitHub()
	github.change(files=[("helper.py", None, "x = 2\n"), ("moved.py", *[kernel()] * 2)])
	answer = good(Run(github, event_of()))
	equal((github.comments, github.faults), ([], []))
	contains(answer.summary, "It changes no kernel.")


@test
def a_renamed_kernel_is_compared_with_its_old_name():
	github = GitHub()
	github.change(files=[("new.py", None, kernel())])
	github.changed[0] |= {"status": "renamed", "previous_filename": "old.py"}
	github.commits[BASE]["old.py"] = kernel(4_000_000.0)
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "0.500 (0.500 to 0.500) | faster |")


@test
def a_push_writes_only_the_summary():
	github = GitHub()
	github.change(files=[("add.py", kernel(), kernel(1_000_000.0))])
	push = {"before": BASE, "after": HEAD, "repository": {"default_branch": "main"}}
	answer = good(Run(github, push, name="push"))
	equal((github.comments, github.faults), ([], []))
	contains(answer.summary, "| faster |")
	answer = good(Run(github, {"schedule": "* * * * *"}, name="schedule"), 2)
	contains(answer.log, "::error title=Podium::Start this action on the events pull_request")


@test
def inputs_choose_files_leaderboard_gpus_and_mode():
	github = GitHub()
	github.change(
		files=[
			("kernels/a.py", None, kernel(board="", gpus="")),
			("kernels/deep/b.py", None, kernel(board="other", gpus="T4")),
			("c.py", None, kernel()),
		]
	)
	before = submissions()
	inputs = {"files": "kernels/*.py\n", "leaderboard": "small", "gpus": "H200", "mode": "ranked"}
	good(Run(github, event_of(), **{**inputs, "files": "kernels/a*\n"}))
	contains(github.own_comments()[0], "kernels/a.py")
	lacks(github.own_comments()[0], "c.py")
	equal(site.value("SELECT mode FROM submissions ORDER BY id DESC LIMIT 1"), "ranked")
	answer = good(Run(github, event_of(), **inputs), 1)  # Podium refuses b.py: it names other
	contains(answer.log, "deep/b.py: ")
	contains(github.own_comments()[0], "not submitted: `")
	equal(submissions() - before, 1)
	answer = good(Run(github, event_of(), files="kernels/a.py"), 2)
	contains(answer.log, "kernels/a.py names no leaderboard.")
	for wrong, words in (
		({"mode": "profile"}, "must be one of test, benchmark, ranked"),
		({"server": "http://podium.example.org"}, "https://..."),
		({"fail_if_slower": "yes"}, "must be true or false"),
	):
		contains(good(Run(github, event_of(), **wrong), 2).log, words)


@test
def the_first_lines_are_read_as_podium_reads_them():
	github = GitHub()
	text = kernel(board="", gpus="").split("\n", 1)
	crlf = f"\ufeff{text[0]}\r\n#!POPCORN LEADERBOARD small\r\n#!POPCORN GPU H200\r\n{text[1]}"
	github.change(
		files=[
			("bom.py", None, crlf),
			("late.py", None, f"x = 1\n{kernel()}"),
			("gap.py", None, f"\n{kernel()}"),
		]
	)
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "bom.py")
	lacks(github.own_comments()[0], "late.py")
	lacks(github.own_comments()[0], "gap.py")


# ---- failures ----


@test
def a_kernel_that_does_not_pass_fails_the_job_and_says_why():
	github = GitHub()
	verdict = {"verdict": "wrong answer", "reason": "Case 1: got `2`, ::error::x @eve ##[add] | x"}
	github.change(files=[("bad.py", kernel(), kernel(verdict=verdict)), ("a.py", None, kernel())])
	answer = good(Run(github, event_of()), 1)
	contains(answer.log, "::error title=Podium::bad.py: wrong answer")
	comment = github.own_comments()[0]
	contains(comment, "**wrong answer**")
	contains(comment, "`` Case 1: got `2`, ::error::x @eve ##[add] \u00a6 x ``")
	contains(comment, "a.py")


@test
def a_failing_base_fails_nothing():
	github = GitHub()
	verdict = {"verdict": "runtime error", "reason": "It crashed."}
	github.change(files=[("a.py", kernel(verdict=verdict), kernel())])
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "**runtime error**")
	contains(github.own_comments()[0], "| `H200` | `size: 1024` | 2.000000 ± 0.000020 ms |")


@test
def a_slower_kernel_fails_the_job_if_it_shall():
	github = GitHub()
	github.change(files=[("a.py", kernel(1_000_000.0), kernel(2_000_000.0))])
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "| slower |")
	answer = good(Run(github, event_of(), fail_if_slower="true"), 1)
	contains(answer.log, "a.py: slower than on the base branch")


@test
def names_of_files_stay_text():
	github, name = GitHub(), "a`b|@eve\n::error::x%0A<!-- ##[add] .py"
	github.change(files=[(name, None, kernel())])
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "#### `` a`b\u00a6@eve ::error::x%0A<!-- ##[add] .py `` on")


@test
def hostile_headers_and_outputs_are_harmless():
	github, names = GitHub(), ["@everyone", "--help", "a\0b", "x" * 200_000, "](http://evil)`|`"]
	gpus = "#!POPCORN gpus" + " @eve" * 50_000
	reason = "Case 1: " + "`|@everyone <img> ![x](http://evil) " * 40_000
	verdict = {"verdict": "runtime error", "reason": reason[:60_000]}
	github.change(
		files=[
			*((f"{i}.py", None, kernel(board=name)) for i, name in enumerate(names)),
			("gpus.py", None, f"{gpus}\n{kernel(gpus='')}"),
			(f"{'n' * 300}.py", None, kernel(verdict=verdict)),
			(f"{tokens['ada']}.py", None, kernel(board=GITHUB_TOKEN)),
		]
	)
	answer = good(Run(github, event_of()), 1)
	equal(answer.log.count("::error title=Podium::"), len(github.changed))
	[comment] = github.own_comments()
	contains(comment, "#### `0.py` on [`@everyone`](")
	contains(comment, "on [`--help`](")
	contains(comment, "**runtime error**")
	contains(comment, "#### `***.py` on [`***`](")
	equal(len(comment) < 20_000, True)
	# What remains without code and links to the site has nothing of the kernels' authors.
	text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", comment.split("\n", 1)[1])
	text = re.sub(rf"\]\({re.escape(site.url)}/[\w/%.-]*\)", "", text)
	for part in ("@", "<", "evil", "!["):
		lacks(text, part)


@test
def a_refused_comment_is_a_warning_and_a_temporary_error_is_repeated():
	github = GitHub()
	github.change(files=[("a.py", None, kernel())])
	github.refuses = {"GET /pulls/7/files": [502], "GET /contents/": [500], "POST": [403]}
	answer = good(Run(github, event_of()))
	contains(answer.log, "::warning title=Podium::The comment cannot be written")
	contains(answer.log, "`pull-requests: write`")
	contains(answer.summary, "a.py")
	equal(github.comments, [])
	github.refuses = {"GET /pulls": [403]}
	contains(good(Run(github, event_of()), 2).log, "`contents: read`")


@test
def a_long_comment_is_cut():
	github, cases = GitHub(), 130
	task = TASK.replace("[{size: 1024}]", str([{"size": size} for size in range(1, cases + 1)]))
	make_board(admin, "wide", task)
	told = {"board": "wide", "cases": [case(2_000_000.0 + i) for i in range(cases)]}
	files = [(f"{number}.py", None, kernel(**told)) for number in range(20)]
	github.change(files=files)
	good(Run(github, event_of()))
	contains(github.own_comments()[0], "`0.py` on")
	contains(github.own_comments()[0], "| `size: 100` |")
	lacks(github.own_comments()[0], "| `size: 101` |")
	contains(github.own_comments()[0], "The submission's page has 30 more rows.")
	contains(github.own_comments()[0], "The log has the other")
	github.change(files=[*files, ("more.py", None, kernel())])
	contains(good(Run(github, event_of()), 2).log, "21 kernels changed")


# ---- secrets ----


@test
def forks_and_dependabot_have_no_secrets_and_succeed():
	github, before = GitHub(), submissions()
	github.change(files=[("a.py", None, kernel())])
	for event, actor in ((event_of(fork=True), "eve"), (event_of(), "dependabot[bot]")):
		answer = good(Run(github, event, actor=actor, token=""))
		contains(answer.log, "::notice title=Podium::Nothing was submitted: GitHub gives no")
	answer = good(Run(github, event_of(), token=""), 2)
	contains(answer.log, "::error title=Podium::The input `token` is empty.")
	equal((submissions() - before, github.comments), (0, []))


@test
def a_wrong_token_is_explained():
	github = GitHub()
	github.change(files=[("a.py", None, kernel())])
	answer = good(Run(github, event_of(), token="podium_" + "x" * 43), 2)
	contains(answer.log, "token")
	lacks(answer.log, "x" * 43)


@test
def a_changed_download_never_runs():
	github = GitHub()
	github.change(files=[("a.py", None, kernel())])
	ran = scratch / "ran"
	program = f"#!/bin/sh\ntouch {ran}\n".encode()
	real = passes_on(site.url)
	for does, words in (
		(routes(sha256=real, other=answers(program)), "does not have the SHA-256"),
		(routes(sha256=answers(b""), other=answers(program)), "does not have the SHA-256"),
		(routes(other=redirects(site.url)), "status 302"),
		(routes(other=answers(b"", 404)), "status 404"),
	):
		with Faulty(does) as server:
			contains(good(Run(github, event_of(), server=server.url), 2).log, words)
			for request in server.requests:
				lacks(str(request.headers), tokens["ada"])
	equal((ran.exists(), github.comments), (False, []))


@test
def githubs_token_does_not_follow_a_redirect():
	github = GitHub()
	with Faulty(answers([])) as other, Faulty(redirects(other.url)) as moved:
		github.url = moved.url
		contains(good(Run(github, event_of()), 2).log, "GitHub answers with the status 302")
		equal(other.requests, [])


status = run()
site.remove()
sys.exit(status)
