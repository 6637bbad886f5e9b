#!/usr/bin/env python3
"""Submits the kernels that a pull request or a push changes to a Podium, waits for their results,
and writes the times beside those of the base branch into the job's summary and into one comment of
the pull request, which the next push updates.

Run by action.yml, which passes its inputs as PODIUM_... variables; the other variables are
GitHub's. docs/github-actions.md is for users. Needs only Python 3 and no checkout: changed files
come from GitHub's API and are never executed here. Exit codes: 0 all kernels passed, or there is
nothing to do; 1 a kernel did not pass; 2 the job could not do its work.
"""

import fnmatch
import hashlib
import http.client
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ENDINGS = (".py", ".cu", ".cuh", ".cpp")
MODES = ("test", "benchmark", "ranked")
MOST_FILES = 300  # changed files whose first lines are read: GitHub limits requests an hour
MOST_KERNELS = 20
MOST_COMMENT = 60_000  # characters; GitHub refuses comments above 65,536
MOST_ROWS = 100  # of a kernel's table
MOST_LINE = 1000  # characters of a header line
MOST_TEXT = 200  # characters of other people's text in one place
MOST_PROGRAM_BYTES = 100_000_000
MOST_ANSWER_BYTES = 50_000_000
ATTEMPTS = 3
BOT = "github-actions[bot]"  # the author of comments that a job's own token writes
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


class Trouble(Exception):
	"""The job cannot do its work; the text says why and what to do."""


class Refused(Exception):
	"""A server's answer with an error status."""

	def __init__(self, status):
		super().__init__(f"status {status}")
		self.status = status


# ---- the log ----

secrets = []


def without_secrets(text):
	for secret in secrets:
		text = text.replace(secret, "***")
	return text


def printable(text):
	return "".join(letter if letter.isprintable() else " " for letter in text)


def loggable(text):
	"""GitHub takes ##[ anywhere in a line for a command, also in other people's text."""
	return without_secrets(printable(text)).replace("##[", "## [")


def say(text):
	"""Prints a line. Its first word keeps GitHub from taking a :: after it for a command."""
	print("podium:", loggable(text), flush=True)


def annotate(kind, text):
	"""Shows a notice, a warning or an error on the job's page."""
	print(f"::{kind} title=Podium::{loggable(text).replace('%', '%25')}", flush=True)


# ---- requests ----


class NoRedirects(urllib.request.HTTPRedirectHandler):
	"""A redirect could lead a token to another host, so it is an error."""

	def redirect_request(self, *_):
		return None


OPENER = urllib.request.build_opener(NoRedirects)


def fetch(address, most_bytes, method="GET", body=None, headers=()):
	"""Returns the body of a successful answer. Repeats a GET that fails for a temporary reason."""
	request = urllib.request.Request(address, body, dict(headers), method=method)
	host = urllib.parse.urlsplit(address).netloc
	for attempt in range(1, ATTEMPTS + 1):
		try:
			with OPENER.open(request, timeout=60) as answer:
				content = answer.read(most_bytes + 1)
			if len(content) > most_bytes:
				raise Trouble(f"An answer of {host} has more than {most_bytes} bytes.")
			return content
		except urllib.error.HTTPError as error:
			problem = Refused(error.code)
			error.close()
			if error.code < 500:
				raise problem from None
		except (OSError, http.client.HTTPException) as error:
			problem = Trouble(f"{host} cannot be reached: {error}")
		if method != "GET" or attempt == ATTEMPTS:
			raise problem
		time.sleep(attempt)


class GitHub:
	def __init__(self, environment):
		self.api = environment.get("GITHUB_API_URL", "https://api.github.com")
		self.repository = environment["GITHUB_REPOSITORY"]
		self.token = environment["GITHUB_TOKEN"]

	def ask(self, method, path, body=None, is_raw=False):
		headers = {
			"Accept": f"application/vnd.github{'.raw' if is_raw else ''}+json",
			"Authorization": f"Bearer {self.token}",
			"User-Agent": "podium",
			"X-GitHub-Api-Version": "2022-11-28",
		}
		if body is not None:
			headers["Content-Type"] = "application/json"
			body = json.dumps(body).encode()
		address = f"{self.api}/repos/{self.repository}{path}"
		content = fetch(address, MOST_ANSWER_BYTES, method, body, headers)
		try:
			return content if is_raw else json.loads(content)
		except ValueError:
			raise Trouble("GitHub's answer is no JSON.") from None

	def pages(self, path):
		"""The items of all pages of a list."""
		items, number = [], 1
		while True:
			page = self.ask("GET", f"{path}?per_page=100&page={number}")
			items += page
			if len(page) < 100:
				return items
			number += 1

	def content(self, path, commit):
		"""The file in this commit; None if there is none."""
		try:
			reference = urllib.parse.quote(commit, "")
			place = f"/contents/{urllib.parse.quote(path)}?ref={reference}"
			return self.ask("GET", place, is_raw=True)
		except Refused as refused:
			if refused.status == 404:
				return None
			raise


# ---- the change ----


class Change:
	"""What the job's event is about: a pull request, or a push without one."""

	def __init__(self, environment):
		event = json.loads(pathlib.Path(environment["GITHUB_EVENT_PATH"]).read_text())
		self.request, self.is_foreign = None, False
		if "pull_request" in event:
			pull = event["pull_request"]
			self.request = pull["number"]
			self.base, self.head = pull["base"]["sha"], pull["head"]["sha"]
			self.base_name = pull["base"]["ref"]
			source = pull["head"]["repo"]  # None: the fork was deleted
			self.is_foreign = not source or source["full_name"] != pull["base"]["repo"]["full_name"]
		elif "before" in event and "after" in event:
			branch = event["repository"]["default_branch"]
			is_new = not event["before"].strip("0")
			self.base, self.head = branch if is_new else event["before"], event["after"]
			self.base_name = branch if is_new else "before"
		else:
			raise Trouble("Start this action on the events pull_request or push.")
		# GitHub gives secrets neither to forks nor to Dependabot.
		self.is_foreign |= environment.get("GITHUB_ACTOR") == "dependabot[bot]"

	def files(self, github):
		"""The changed files, except deleted ones."""
		if not self.head.strip("0"):
			return []
		if self.request:
			files = github.pages(f"/pulls/{self.request}/files")
		else:
			base, head = (urllib.parse.quote(name, "") for name in (self.base, self.head))
			files = github.ask("GET", f"/compare/{base}...{head}")["files"]
		return [file for file in files if file["status"] != "removed"]


def directives_of(source):
	"""The leaderboard and the GPUs that a kernel's first lines name, as Podium reads them."""
	found = {"leaderboard": [], "gpus": []}
	for line in re.split("\r\n|\r|\n", source.decode("utf-8-sig", errors="replace")):
		words = printable(line[:MOST_LINE]).split()
		if not line.startswith(("#", "//")):
			break
		if len(words) > 1 and words[0] in ("#!POPCORN", "//!POPCORN"):
			name = words[1].lower()
			found["gpus" if name == "gpu" else name] = words[2:]
	return "".join(found["leaderboard"][:1]), found["gpus"]


class Kernel:
	"""A changed file: its contents, and the two submissions made of them."""

	def __init__(self, path, head, base, leaderboard, gpus):
		self.path, self.leaderboard, self.gpus = path, leaderboard, gpus
		self.head, self.base = Side(head), Side(base) if base is not None else None
		self.comparison = None


class Side:
	def __init__(self, source):
		self.source, self.digest = source, hashlib.sha256(source).hexdigest()
		self.number, self.submission, self.refusal, self.is_stored = None, None, None, False

	@property
	def has_passed(self):
		return self.submission is not None and self.submission["verdict"] == "passed"


def find_kernels(github, change, inputs):
	patterns = inputs["files"].split("\n")
	patterns = [pattern.strip() for pattern in patterns if pattern.strip()]
	files = [
		file
		for file in change.files(github)
		if file["filename"].endswith(ENDINGS)
		and (not patterns or any(fnmatch.fnmatchcase(file["filename"], one) for one in patterns))
	]
	if len(files) > MOST_FILES:
		raise Trouble(f"{len(files)} changed files could be kernels. Name yours in `files`.")
	kernels = []
	for file in files:
		path = file["filename"]
		head = github.content(path, change.head)
		base = github.content(file.get("previous_filename", path), change.base)
		if head is None or head == base:
			continue
		named, gpus = directives_of(head)
		if not named and not patterns:
			continue
		leaderboard = inputs["leaderboard"] or named
		if not leaderboard:
			raise Trouble(
				f"{path} names no leaderboard. Begin it with the line #!POPCORN leaderboard NAME, "
				"in C++ //!POPCORN leaderboard NAME, or set the input `leaderboard`."
			)
		if base is not None and not inputs["leaderboard"]:
			base = base if directives_of(base)[0] in ("", leaderboard) else None
		kernels.append(Kernel(path, head, base, leaderboard, inputs["gpus"].split() or gpus))
	if len(kernels) > MOST_KERNELS:
		raise Trouble(f"{len(kernels)} kernels changed. Name at most {MOST_KERNELS} in `files`.")
	return kernels


# ---- podium ----


class Podium:
	"""The site's command `podium`, which this class downloads."""

	def __init__(self, server, token, folder):
		self.server, self.folder, self.histories = server, folder, {}
		self.program = folder / "podium"
		self.environment = {
			**{
				name: value
				for name, value in os.environ.items()
				if name.lower() in ("path", "https_proxy", "http_proxy", "no_proxy")
			},
			"HOME": str(folder),
			"PODIUM_SERVER": server,
			"PODIUM_SERVERS": str(folder / "no-settings"),
			"PODIUM_TOKEN": token,
		}
		self.download()

	def download(self):
		try:
			program = fetch(f"{self.server}/help/terminal/podium", MOST_PROGRAM_BYTES)
			sums = fetch(f"{self.server}/help/terminal/podium.sha256", 1000).split()
		except Refused as refused:
			raise Trouble(
				f"{self.server} answers with the {refused} and not with `podium`. Is it the exact "
				"address of your Podium?"
			) from None
		if sums[:1] != [hashlib.sha256(program).hexdigest().encode()]:
			raise Trouble("The downloaded `podium` does not have the SHA-256 that the site names.")
		self.program.write_bytes(program)
		self.program.chmod(0o700)

	def run(self, *words):
		"""Runs a command. Returns the JSON that it printed, or None, and its last message."""
		last = ""
		with tempfile.TemporaryFile() as out:
			process = subprocess.Popen(
				[self.program, *words, "--json"],
				stdin=subprocess.DEVNULL,
				stdout=out,
				stderr=subprocess.PIPE,
				env=self.environment,
				cwd=self.folder,
			)
			for line in process.stderr:
				last = line.decode(errors="replace").strip()
				say(last)
			process.wait()
			out.seek(0)
			text = out.read()
		return json.loads(text) if text else None, without_secrets(last)

	def list_of(self, *words):
		items, problem = self.run(*words)
		if items is None:
			raise Trouble(problem)
		return items

	def versions(self):
		"""The current version of each leaderboard's task."""
		return {board["name"].lower(): board["task_version"] for board in self.list_of("list")}

	def find_stored(self, kernel, side, mode, version):
		"""The number of an own submission of this source to this version of the task, if it has
		passed on these GPUs; its note has the source's SHA-256."""
		if version is None:  # an unknown leaderboard, which the submission's error explains
			return None
		history = (
			"history",
			f"--leaderboard={kernel.leaderboard}",
			f"--mode={mode}",
			"--limit=100",
		)
		if history not in self.histories:
			self.histories[history] = self.list_of(*history)
		for old in self.histories[history]:
			gpus = {job["gpu"].lower() for job in old["jobs"]}
			if (
				old["note"].startswith(f"sha256 {side.digest} ")
				and old["verdict"] == "passed"
				and not old["withdrawn"]
				and old["task_version"] == version
				and (not kernel.gpus or gpus == {gpu.lower() for gpu in kernel.gpus})
			):
				return old["id"]
		return None

	def submit(self, kernel, side, mode, repository):
		"""Submits the source and returns without waiting."""
		place = self.folder / side.digest
		place.mkdir(exist_ok=True)
		file = place / printable(kernel.path.rsplit("/", 1)[-1][-60:])  # no file system refuses it
		file.write_bytes(side.source)
		note = f"sha256 {side.digest} of {printable(kernel.path)} in {repository}"
		# In one word, so that a name like --help is no option.
		words = ["submit", str(file), f"--mode={mode}", f"--leaderboard={kernel.leaderboard}"]
		words += [f"--gpu={gpu}" for gpu in kernel.gpus]
		note = note.encode()[:500].decode(errors="ignore").strip()
		sent, problem = self.run(*words, "--note", note)
		side.number, side.refusal = (sent["id"], None) if sent else (None, problem)

	def wait(self, side):
		side.submission, problem = self.run("status", str(side.number), "--follow")
		side.refusal = None if side.submission else problem

	def compare(self, kernel):
		numbers = (str(kernel.base.number), str(kernel.head.number))
		kernel.comparison, _ = self.run("compare", *numbers)


def measure(podium, kernels, mode, repository, is_repeated):
	"""Submits both versions of each kernel, waits, and compares them. A version that has a stored
	result is not submitted again, except if somebody starts the job again."""
	versions = podium.versions()
	sides = [(kernel, side) for kernel in kernels for side in (kernel.head, kernel.base) if side]
	for kernel, side in sides:
		is_new = is_repeated and side is kernel.head
		version = versions.get(kernel.leaderboard.lower())
		side.number = None if is_new else podium.find_stored(kernel, side, mode, version)
		side.is_stored = side.number is not None
		if not side.is_stored:
			podium.submit(kernel, side, mode, repository)
	for kernel, side in sides:
		if side.number is not None:
			podium.wait(side)
	for kernel in kernels:
		if mode != "test" and kernel.head.has_passed and kernel.base and kernel.base.has_passed:
			podium.compare(kernel)


# ---- the comment ----


def code(text):
	"""Other people's text as code, so that nothing in it is a link, a mention or a table's cell."""
	text = printable(without_secrets(text)).replace("|", "\u00a6").strip() or " "
	text = text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "\u2026"
	fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
	pad = " " if "`" in text else ""
	return fence + pad + text + pad + fence


def duration(ns, err_ns, floor_ns=None):
	"""A time as Podium's pages show it: half of the 95 % interval has two digits. A time of at most
	floor_ns cannot be told from nothing."""
	if ns is None:
		return "\u2013"
	if floor_ns and ns <= floor_ns:
		return f"< {floor_ns / 1e3:g} µs"
	unit_ns, unit = next((one for one in UNITS if ns >= one[0]), UNITS[-1])
	value, half = ns / unit_ns, 1.96 * (err_ns or 0) / unit_ns
	if half <= 0:
		text = f"{value:#.4g}".rstrip(".")
		return f"{text} {unit}" if err_ns == 0 else f"{text} {unit} ± unknown"
	digits = min(6, max(0, 1 - math.floor(math.log10(half))))
	return f"{value:.{digits}f} ± {half:.{digits}f} {unit}"


def timed_cases(submission):
	"""(GPU, case) of each case that was timed."""
	return [
		(job["gpu"], case)
		for job in submission["jobs"]
		for stage in job["stages"]
		if stage["name"] in ("benchmark", "ranked")
		for case in stage["cases"]
		if case["mean_ns"] is not None
	]


def ratio_of(times):
	if times["ratio"] is None:
		return "\u2013"
	if times["lower"] is None:
		return f"{times['ratio']:.3f}"
	return f"{times['ratio']:.3f} ({times['lower']:.3f} to {times['upper']:.3f})"


def cut(rows):
	"""A table that a comment can hold."""
	most = MOST_ROWS + 2
	more = [f"\nThe submission's page has {len(rows) - most} more rows."]
	return rows if len(rows) <= most else rows[:most] + more


def compared_rows(kernel, base_name):
	rows = [
		f"| GPU | Shape | {code(base_name)} | This change | Ratio (95 % interval) | |",
		"|---|---|--:|--:|--:|---|",
	]
	cases = timed_cases(kernel.head.submission)
	floors = {(gpu, case["spec"]): case["floor_ns"] for gpu, case in cases}
	for gpu in kernel.comparison["gpus"]:
		named = [("score", gpu["score"])] if gpu["score"]["ratio"] is not None else []
		for spec, times in named + [(case["spec"], case) for case in gpu["cases"]]:
			floor = floors.get((gpu["gpu"], spec))
			before, after = (
				duration(times[f"{side}_ns"], times[f"{side}_err_ns"], floor) for side in "ab"
			)
			cells = [code(gpu["gpu"]), code(spec), before, after, ratio_of(times)]
			rows.append(f"| {' | '.join(cells)} | {times['verdict'] or ''} |")
	return cut(rows)


def single_rows(kernel):
	rows = ["| GPU | Shape | Time |", "|---|---|--:|"]
	cases = timed_cases(kernel.head.submission)
	for gpu, case in cases:
		time_text = duration(case["mean_ns"], case["err_ns"], case["floor_ns"])
		rows.append(f"| {code(gpu)} | {code(case['spec'])} | {time_text} |")
	return cut(rows) if cases else []


def outcome_of(name, side, server):
	"""A line about one of the two versions."""
	if side.number is None:
		return f"{name}: not submitted: {code(side.refusal)}"
	link = f"[submission {side.number}]({server}/submission/{side.number})"
	stored = ", measured before" if side.is_stored else ""
	if side.submission is None:
		return f"{name}: {link}, no result: {code(side.refusal)}"
	verdict = side.submission["verdict"] or side.submission["state"]
	line = f"{name}: {link}, **{verdict}**{stored}"
	for job in side.submission["jobs"]:
		if job["verdict"] != "passed":
			line += f"\n  * {code(job['gpu'])}: {code(job['reason'] or job['state'])}"
	return line


def section_of(kernel, base_name, server):
	board = urllib.parse.quote(without_secrets(kernel.leaderboard), "")
	lines = [
		f"#### {code(kernel.path)} on [{code(kernel.leaderboard)}]({server}/leaderboard/{board})",
		"",
		f"* {outcome_of('This change', kernel.head, server)}",
	]
	if kernel.base:
		lines.append(f"* {outcome_of(code(base_name), kernel.base, server)}")
	if kernel.comparison:
		numbers = f"a={kernel.base.number}&b={kernel.head.number}"
		lines += ["", *compared_rows(kernel, base_name)]
		lines += ["", f"A ratio below 1 is faster. [Compare in full]({server}/compare?{numbers})"]
	elif kernel.head.has_passed and (rows := single_rows(kernel)):
		lines += ["", *rows]
	return "\n".join(lines)


def report(kernels, change, mode, server):
	text = f"### Podium\n\nMode {mode}, commit {code(change.head[:12])}."
	if not kernels:
		return f"{text} It changes no kernel."
	for number, kernel in enumerate(kernels):
		section = "\n\n" + section_of(kernel, change.base_name, server)
		if len(text) + len(section) > MOST_COMMENT:
			return f"{text}\n\nThe log has the other {len(kernels) - number} kernels."
		text += section
	return text


def write_comment(github, change, marker, text, is_needed):
	"""Updates this job's comment on the pull request. Without one, creates it if it is needed.
	Others can write the marker too, but only a job's token comments as BOT."""
	for comment in github.pages(f"/issues/{change.request}/comments"):
		author = comment["user"] or {}  # None: the account was deleted
		if author.get("login") == BOT and comment["body"].startswith(marker):
			github.ask("PATCH", f"/issues/comments/{comment['id']}", {"body": text})
			return
	if is_needed:
		github.ask("POST", f"/issues/{change.request}/comments", {"body": text})


def publish(github, change, environment, text, is_needed):
	"""Writes the report. Results count even if the comment cannot be written."""
	if summary := environment.get("GITHUB_STEP_SUMMARY"):
		with open(summary, "a", encoding="utf-8") as file:
			file.write(text + "\n")
	if not change.request:
		return
	names = ("PODIUM_SERVER", "GITHUB_WORKFLOW", "GITHUB_JOB")
	job = json.dumps([environment.get(name) for name in names])
	marker = f"<!-- podium {hashlib.sha256(job.encode()).hexdigest()[:16]} -->"
	try:
		write_comment(github, change, marker, f"{marker}\n{text}", is_needed)
	except Refused as refused:
		annotate(
			"warning",
			f"The comment cannot be written: GitHub answers with the {refused}. The job needs the "
			"permission `pull-requests: write`. The results are in the job's summary.",
		)


# ---- the job ----


def read_inputs(environment):
	names = ("server", "token", "files", "leaderboard", "gpus", "mode", "fail_if_slower")
	inputs = {name: environment.get(f"PODIUM_{name.upper()}", "").strip() for name in names}
	inputs["server"] = inputs["server"].rstrip("/")
	address = urllib.parse.urlsplit(inputs["server"])
	is_here = address.hostname in ("127.0.0.1", "localhost")
	if not address.hostname or address.scheme != "https" and not is_here:
		raise Trouble("The input `server` must be the address of a Podium: https://...")
	if inputs["mode"] not in MODES:
		raise Trouble(f"The input `mode` must be one of {', '.join(MODES)}.")
	if inputs["fail_if_slower"] not in ("true", "false"):
		raise Trouble("The input `fail-if-slower` must be true or false.")
	return inputs


def is_slower(kernel):
	return any(
		times["verdict"] == "slower"
		for gpu in (kernel.comparison or {"gpus": ()})["gpus"]
		for times in (gpu["score"], *gpu["cases"])
	)


def judge(kernels, inputs):
	"""Says on the job's page which kernels fail it. Returns the exit code."""
	exit_code = 0
	for kernel in kernels:
		problem = None
		if not kernel.head.has_passed:
			result = kernel.head.submission
			problem = result and (result["verdict"] or result["state"]) or kernel.head.refusal
		elif inputs["fail_if_slower"] == "true" and is_slower(kernel):
			problem = "slower than on the base branch"
		say(f"{kernel.path}: {problem or 'passed'}")
		if problem:
			annotate("error", f"{kernel.path}: {problem}")
			exit_code = 1
	return exit_code


def work(environment):
	change, inputs = Change(environment), read_inputs(environment)
	secrets.extend(filter(None, (inputs["token"], environment["GITHUB_TOKEN"])))
	if not inputs["token"]:
		if not change.is_foreign:
			raise Trouble("The input `token` is empty. Pass an API token from a secret.")
		annotate(
			"notice",
			"Nothing was submitted: GitHub gives no secrets to pull requests of forks and of "
			"Dependabot. To measure the change, push it to a branch of this repository.",
		)
		return 0
	github = GitHub(environment)
	kernels = find_kernels(github, change, inputs)
	say(f"{len(kernels)} changed kernels" + "".join(f", {kernel.path}" for kernel in kernels))
	if kernels:
		with tempfile.TemporaryDirectory() as folder:
			podium = Podium(inputs["server"], inputs["token"], pathlib.Path(folder))
			is_repeated = environment.get("GITHUB_RUN_ATTEMPT", "1") != "1"
			measure(podium, kernels, inputs["mode"], github.repository, is_repeated)
	text = report(kernels, change, inputs["mode"], inputs["server"])
	publish(github, change, environment, text, is_needed=bool(kernels))
	return judge(kernels, inputs)


def main():
	try:
		return work(os.environ)
	except Refused as refused:
		trouble = f"GitHub answers with the {refused}. The job needs `contents: read`."
	except Trouble as error:
		trouble = str(error)
	annotate("error", trouble)
	return 2


if __name__ == "__main__":
	sys.exit(main())
