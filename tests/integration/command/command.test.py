#!/usr/bin/env python3
"""The command podium with a whole Podium whose worker runs jobs on the CPU: signing in, fetching a
task, submitting, waiting, resuming after being killed, and what it refuses. network.test.py covers
failing networks."""

import hashlib
import html
import os
import re
import shutil
import signal
import subprocess
import sys

from terminal import (
	HANG_S,
	PODIUM,
	ROOT,
	SETTINGS,
	begin,
	close,
	environment,
	file,
	in_terminal,
	podium,
	scratch,
)

sys.path.insert(0, str(ROOT / "tests" / "integration" / "check"))
import home  # noqa: E402
from certificates import make_certificates  # noqa: E402
from client import Client  # noqa: E402
from faulty import Faulty, passes_on  # noqa: E402
from instance import Instance  # noqa: E402
from programs import make_token  # noqa: E402
from quick import quick_python  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

scratch.chmod(0o755)
PYTHON = quick_python(scratch)
site = Instance(
	PODIUM_PYTHON=PYTHON, PODIUM_WORKER_NAME="here", PODIUM_WORKER_CPU="1", PODIUM_LEASE_MS="5000"
)
ada, bob = Client(site.url), Client(site.url)
PASSWORD = "a long password"
HEAD = "#!POPCORN leaderboard small\n#!POPCORN gpus CPU\n\n"
RIGHT = HEAD + "def custom_kernel(data):\n    return data\n"
WRONG = HEAD + "def custom_kernel(data):\n    return 7 if data == 2 else data\n"
SLOW = HEAD + "import time\n\ndef custom_kernel(data):\n    time.sleep(600)\n"
tokens = {}


def load_task(name, **folder):
	site.manage("task", "load", "--unchecked", home.task(name, **folder))


def as_ada(*words, **more):
	return podium(*words, **{"PODIUM_SERVER": site.url, "PODIUM_TOKEN": tokens["ada"], **more})


def good(answer):
	equal((answer.code, answer.err if answer.code else ""), (0, ""))
	return answer


def refused(answer, code, *parts):
	equal((answer.code, answer.out), (code, ""))
	for part in parts:
		contains(answer.err, part)
	lacks(answer.err, "podium_")


def submitted(source=RIGHT, *options):
	return int(good(as_ada("submit", file(source), *options)).out)


def reads(process, words):
	"""Reads the process's standard error up to a line that contains these words. Returns what it
	read."""
	said = ""
	while words not in said:
		line = process.stderr.readline()
		if not line:
			raise AssertionError(f"{said!r}, {process.communicate()}")
		said += line
	return said


@test
def a_site_with_users_and_a_leaderboard():
	for client, name in ((ada, "ada"), (bob, "bob")):
		client.register(name)
	load_task(
		"small",
		definition=home.TASK + "gpus: [CPU]\ntemplates: {Python: template.py}\n",
		more={"template.py": RIGHT},
	)
	tokens.update(
		ada=make_token(ada, "all", "read", "submit"),
		reads=make_token(ada, "reads", "read"),
		bob=make_token(bob, "all", "read", "submit"),
	)


# ---- signing in ----


@test
def a_token_is_pasted_once_and_kept_for_its_owner():
	answer = good(
		podium("login", site.url, "--name", "lab", "--with-token", stdin=tokens["ada"] + "\n")
	)
	contains(
		answer.out,
		f"Signed in to {site.url} as ada. The token may: read, submit. It does not expire.\n",
	)
	equal(SETTINGS.stat().st_mode & 0o777, 0o600)
	contains(good(podium("list")).out, "small")
	contains(good(podium("history", "--server", "lab")).out, "No submissions.")
	good(podium("logout", "lab"))
	lacks(SETTINGS.read_text(), tokens["ada"])
	refused(podium("history"), 2, "There is no server yet. Sign in first: podium login ADDRESS")


def confirmed(process, **answer):
	"""Confirms the sign-in as ada does in her browser, on the page whose address the terminal
	prints."""
	page = re.search(r"http\S+/device\?code=(\S+)", reads(process, "/device?code="))
	contains(ada.post("/device", [("code", page[1])]).words(), "Is this your terminal?")
	return ada.post(
		"/device",
		list(
			{
				"code": page[1],
				"name": "my terminal",
				"days": "30",
				"answer": "confirm",
				**answer,
			}.items()
		),
	)


@test
def a_terminal_is_signed_in_by_the_browser():
	process = begin("login", site.url, "--name", "lab")
	equal(confirmed(process).status, 303)
	out, _ = process.communicate(timeout=HANG_S)
	equal(process.returncode, 0)
	contains(out, f"Signed in to {site.url} as ada. The token may: read, submit. It expires on 20")
	contains(good(podium("history")).out, "No submissions.")
	contains(ada.get("/account/tokens").words(), "my terminal")
	good(podium("logout", "lab"))


@test
def a_terminal_that_is_refused_is_not_signed_in():
	process = begin("login", site.url, "--name", "lab")
	confirmed(process, answer="refuse")
	out, err = process.communicate(timeout=HANG_S)
	equal((process.returncode, out), (4, ""))
	contains(err, "This terminal was refused")
	lacks(SETTINGS.read_text(), "[lab]")


@test
def a_token_that_does_not_work_is_not_kept():
	refused(
		podium("login", site.url, "--with-token", stdin="podium_" + "x" * 43),
		4,
		"unknown, expired or revoked",
		"Sign in again: podium login",
	)
	lacks(SETTINGS.read_text(), "[")


@test
def without_a_token_only_public_data_is_shown():
	contains(good(podium("list", PODIUM_SERVER=site.url)).out, "small")
	for words in (["history"], ["submit", str(file(RIGHT))], ["cancel", "1"]):
		refused(
			podium(*words, PODIUM_SERVER=site.url),
			4,
			f"You are not signed in to {site.url}. Sign in: podium login {site.url}",
		)


@test
def wrong_expired_and_weak_tokens_get_different_messages():
	refused(
		as_ada("history", PODIUM_TOKEN="podium_" + "x" * 43),
		4,
		"unknown, expired or revoked",
		f"Sign in again: podium login {site.url}",
	)
	late = make_token(ada, "late", "read", days="1")
	good(as_ada("history", PODIUM_TOKEN=late))
	site.sql(
		"UPDATE api_tokens SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name = "
		"'late'"
	)
	refused(as_ada("history", PODIUM_TOKEN=late), 4, "unknown, expired or revoked", "Sign in again")
	refused(
		as_ada("submit", file(RIGHT), PODIUM_TOKEN=tokens["reads"]),
		4,
		"lacks the scope submit.",
		f"Make a token at {site.url}/account/tokens",
	)


# ---- a task ----


@test
def fetching_a_task_keeps_changed_files():
	answer = good(as_ada("task", "small", "--to", scratch / "fetched"))
	folder = scratch / "fetched"
	for name, text in (
		("reference.py", home.REFERENCE),
		("eval.py", home.HARNESS),
		("template.py", RIGHT),
	):
		equal((folder / name).read_text(), text)
		contains(answer.out, f"{folder}/{name}: new\n")
	assert (folder / "task.yml").exists(), answer.out
	contains(answer.out, "small, version 1: ")
	(folder / "template.py").write_text("mine")
	(folder / "eval.py").unlink()
	answer = good(as_ada("task", "small", "--to", folder))
	contains(answer.out, f"{folder}/template.py: kept, because you changed it\n")
	contains(answer.out, "1 file kept with your changes")
	equal(
		((folder / "template.py").read_text(), (folder / "eval.py").read_text()),
		("mine", home.HARNESS),
	)
	checked = good(
		podium(
			"check",
			file(RIGHT),
			"--task",
			folder,
			PODIUM_PYTHON=PYTHON,
			PODIUM_DEVICE_LOCKS=scratch,
		)
	)
	contains(checked.out, "Passed.")


# ---- submitting ----


@test
def a_submission_is_sent_waited_for_and_printed():
	answer = as_ada("submit", file(RIGHT), "--mode", "ranked", "--note", "the first", "--wait")
	equal(answer.code, 0)
	number = re.search(r"^Submission (\d+) to small: ranked on CPU, ", answer.err, re.M)[1]
	contains(answer.err, f"CPU: passed, 2.0000 ms\n")
	contains(answer.out, f"Submission {number} to small: ranked, mine.py, by ada, ")
	contains(answer.out, "\nPassed. ")
	contains(answer.out, "Note: the first\n")
	contains(
		answer.out,
		"  GPU  Result               Score  Rank\n"
		"  CPU  passed  2.0000 ± 0.0098 ms     1  personal best\n",
	)
	contains(answer.out, "\nCPU, ranked: passed after ")
	contains(answer.out, "  #  Shape                  Time      Best     Worst  Runs\n")
	contains(answer.out, f"\n{site.url}/submission/{number}\n")
	tokens["first"] = number


@test
def a_verdict_is_an_exit_code():
	for source, code, words in (
		(WRONG, 10, "Wrong answer."),
		(HEAD + "def custom_kernel(data)\n", 11, "Compile error."),
		(
			HEAD + "def custom_kernel(data):\n    raise ValueError('not today')\n",
			12,
			"ValueError: not today",
		),
	):
		answer = as_ada("submit", file(source), "--wait")
		equal(answer.code, code)
		contains(answer.out, words)
	contains(
		as_ada("submit", file(WRONG), "--wait").out,
		"Test 2 of 2 failed (seed: 2): expected 2, got 7.\n",
	)


@test
def without_waiting_the_number_is_printed():
	number = submitted()
	answer = good(as_ada("status", number, "--follow"))
	contains(answer.out, f"Submission {number} to small: test")
	good(as_ada("status", f"{site.url}/submission/{number}"))


@test
def the_servers_answer_is_available_as_json():
	answer = as_ada("submit", file(RIGHT), "--mode", "ranked", "--wait", "--json")
	equal(answer.code, 0)
	result = answer.json
	equal(
		(
			result["verdict"],
			result["mode"],
			result["jobs"][0]["gpu"],
			result["jobs"][0]["stages"][-1]["name"],
		),
		("passed", "ranked", "CPU", "ranked"),
	)
	tokens["second"] = str(result["id"])
	equal(good(as_ada("show", result["id"], "--json")).json["id"], result["id"])
	equal(good(as_ada("submit", file(RIGHT), "--json")).json["mode"], "test")
	assert "small" in [item["name"] for item in good(as_ada("list", "--json")).json]


@test
def a_refused_submission_gets_the_servers_words():
	refused(
		as_ada("submit", file("def custom_kernel(data):\n    return data\n")),
		2,
		"Name the leaderboard: --leaderboard NAME, or as the first line of",
	)
	refused(as_ada("submit", file(""), "--leaderboard", "small"), 2, "The file is empty.")
	refused(as_ada("submit", file(RIGHT, "mine.txt")), 2, "must end with .py, .cu, .cuh or .cpp")
	refused(as_ada("submit", scratch / "none.py"), 2, "Cannot open", "No such file")
	refused(as_ada("submit", file("#!POPCORN leaderbord small\n" + RIGHT)), 2, "Line 1")
	refused(as_ada("submit", file(RIGHT), "--leaderboard", "nothing", "--gpu", "CPU"), 2, "nothing")
	refused(as_ada("submit", file(RIGHT), "--gpu", "H900"), 2, "H900")
	refused(as_ada("submit", file("//\n", "mine.cu"), "--leaderboard", "small"), 2, ".py")
	refused(as_ada("status", "999999"), 2, "There is no submission")


@test
def the_only_gpu_need_not_be_named():
	source = "def custom_kernel(data):\n    return data\n"
	equal(as_ada("submit", file(source), "--leaderboard", "small", "--wait").code, 0)


# ---- looking at submissions ----


@test
def a_submission_is_shown_in_full():
	first = tokens["first"]
	shown = good(as_ada("show", first)).out
	for part in (
		"CPU, compile: passed",
		"CPU, test: passed",
		"  #  Case     Result\n  1  seed: 1  passed\n",
		"  Engine        custom\n",
		"  Device        CPU\n",
		"  Finished      2",
	):
		contains(shown, part)
	equal(good(as_ada("show", first, "--source")).out, RIGHT)
	lacks(good(as_ada("status", first)).out, "compile")
	refused(as_ada("show", first, "--source", PODIUM_TOKEN=tokens["bob"]), 4, "podium:")


@test
def submissions_are_listed_compared_and_ranked():
	listed = good(as_ada("history", "--mode", "ranked")).out
	for number in (tokens["first"], tokens["second"]):
		contains(listed, f" {number}  small")
	contains(listed, "the first")
	contains(good(as_ada("history", "--verdict", "wrong answer")).out, "wrong answer")
	equal(good(as_ada("history", "--limit", "2", "--json")).json[0]["leaderboard"], "small")
	compared = good(as_ada("compare", tokens["first"], tokens["second"])).out
	contains(compared, "2.0000 ± 0.0098 ms  2.0000 ± 0.0098 ms  1.000 (")
	contains(compared, "tie")
	ranking = good(podium("ranking", "small", PODIUM_SERVER=site.url)).out
	contains(ranking, "  GPU        CPU\n  Rank  User")
	contains(ranking, "  To fastest  ")
	contains(ranking, " fastest  ")
	contains(ranking, "     1  ada   2.0000 ± 0.0069 ms ")  # the mean of two results of one file
	# Submission and ranking show a shared rank alike.
	((ranked,),) = site.sql("SELECT submission_id FROM ranking WHERE gpu = 'CPU'")
	for tied, rank in (("TRUE", "=1"), ("FALSE", "1")):
		site.sql(f"UPDATE ranking SET tied = {tied}")
		shown = good(as_ada("ranking", "small")).out
		equal(re.search(r"(\S+)  ada", shown)[1], rank)
		shown = good(as_ada("status", ranked)).out
		equal(re.search(r"CPU  passed  2.0000 ± 0.0098 ms +(\S+)  personal best", shown)[1], rank)


@test
def a_withdrawn_submission_can_be_restored():
	for number in (tokens["first"], tokens["second"]):
		contains(good(as_ada("withdraw", number)).out, f"Submission {number} no longer counts")
	contains(good(as_ada("ranking", "small", "--gpu", "CPU")).out, "Nobody is ranked here yet.")
	contains(good(as_ada("status", tokens["first"])).out, "It is withdrawn")
	contains(
		good(as_ada("withdraw", tokens["first"], "--undo")).out,
		f"Submission {tokens['first']} counts again.",
	)
	contains(good(as_ada("ranking", "small")).out, "ada")
	refused(as_ada("withdraw", tokens["second"], PODIUM_TOKEN=tokens["bob"]), 4, "podium:")


# ---- interrupted waiting ----


@test
def after_being_killed_waiting_resumes_by_the_number():
	blocker = submitted(SLOW)
	waiting = begin(
		"submit",
		file(RIGHT, "second.py"),
		"--wait",
		PODIUM_SERVER=site.url,
		PODIUM_TOKEN=tokens["ada"],
	)
	said = reads(waiting, "CPU: queued, ")
	number = re.search(r"Submission (\d+) to small", said)[1]
	waiting.kill()
	waiting.communicate(timeout=HANG_S)
	going_on = begin(
		"status", number, "--follow", PODIUM_SERVER=site.url, PODIUM_TOKEN=tokens["ada"]
	)
	reads(going_on, "CPU: queued, ")
	going_on.send_signal(signal.SIGINT)
	equal(going_on.wait(HANG_S), 130)
	contains(
		going_on.communicate()[1],
		f"Stopped waiting. Submission {number} continues. To wait again: podium status {number} "
		"--follow\n",
	)
	contains(good(as_ada("cancel", blocker)).out, f"Submission {blocker} is cancelled")
	again = as_ada("status", number, "--follow")
	equal((again.code, as_ada("status", blocker).code), (0, 3))
	contains(again.out, "Passed.")


@test
def a_restarting_server_is_waited_for():
	blocker = submitted(SLOW)
	waiting = begin(
		"submit",
		file(RIGHT, "second.py"),
		"--wait",
		PODIUM_SERVER=site.url,
		PODIUM_TOKEN=tokens["ada"],
	)
	reads(waiting, "CPU: queued, ")
	site.stop()
	reads(waiting, "nothing answers there; trying again in ")
	(site.var / "run.log").unlink()
	site.start()
	good(as_ada("cancel", blocker))
	out, _ = waiting.communicate(timeout=HANG_S)
	equal(waiting.returncode, 0)
	contains(out, "Passed.")


@test
def a_request_that_arrives_twice_makes_one_submission():
	before = int(site.sql("SELECT COUNT(*) FROM submissions")[0][0])
	for share in (0, 0.5):
		with Faulty(passes_on(site.url, share), passes_on(site.url)) as network:
			answer = good(as_ada("submit", file(RIGHT), PODIUM_SERVER=network.url))
			contains(answer.err, "trying again in")
			equal([request.method for request in network.requests], ["POST", "POST"])
			equal(good(as_ada("status", answer.out.strip())).err, "")
	equal(int(site.sql("SELECT COUNT(*) FROM submissions")[0][0]), before + 2)


@test
def a_network_that_cuts_every_second_answer_is_good_enough():
	faults = [passes_on(site.url, 0 if number % 2 else 1) for number in range(200)]
	with Faulty(*faults) as network:
		answer = as_ada("submit", file(RIGHT), "--wait", PODIUM_SERVER=network.url)
		equal(answer.code, 0)
		contains(answer.out, "Passed.")
		contains(answer.err, "trying again in")


@test
def a_terminal_gets_a_bar_and_the_result():
	code, shown = in_terminal(
		"submit", file(RIGHT), "--wait", PODIUM_SERVER=site.url, PODIUM_TOKEN=tokens["ada"]
	)
	equal(code, 0)
	contains(shown, "\x1b[JCPU  [")
	contains(shown, "\x1b[1;32mPassed.\x1b[0m")
	_, shown = in_terminal(
		"submit",
		file(RIGHT),
		"--wait",
		PODIUM_SERVER=site.url,
		PODIUM_TOKEN=tokens["ada"],
		NO_COLOR="1",
	)
	contains(shown, "\nPassed. ")


@test
def the_program_links_no_database_library():
	libraries = subprocess.run(["ldd", PODIUM], capture_output=True, text=True, check=True).stdout
	contains(libraries, "libcurl")
	for word in ("maria", "mysql", "fcgi", "seccomp", "cmark", "freetype"):
		lacks(libraries, word)


# ---- the documents ----


def commands_of(document):
	"""The commands in the document's console blocks, each with the lines that it prints."""
	found = []
	for block in re.findall(
		r"^```console\n(.*?)^```", (ROOT / "docs" / document).read_text(), re.M | re.S
	):
		for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
			command, *lines = piece.splitlines()
			found.append((command, [line for line in lines if line.strip()]))
	return found


def masked(line):
	"""The line without the parts that differ from run to run: numbers, units, times, codes and
	column positions."""
	line = re.sub(r"\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b", "CODE", line)
	line = re.sub(r"\d[\d.,:]*( (ns|µs|ms|s)\b)?", "0", line)
	return " ".join(re.sub(r"0( ± 0)?", "0", line).split())


def run_as_documented(command, numbers):
	"""Runs a documented command and returns its output. `numbers` maps the documented submission
	numbers to those of this test. Confirms a sign-in as ada."""
	for documented, real in numbers.items():
		command = re.sub(rf"(?<=[ #]){documented}(?= |$)", real, command)
	command = command.replace("https://podium.example.org", site.url).replace("H200", "CPU")
	process = subprocess.Popen(
		["bash", "-c", command],
		cwd=scratch / "documented",
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
		env=environment(
			{
				"PODIUM_PYTHON": PYTHON,
				"PODIUM_DEVICE_LOCKS": scratch,
				"PATH": f"{PODIUM.parent}:{os.environ['PATH']}",
			}
		),
	)
	begun = ""
	if command.startswith("podium login"):
		begun = reads(process, "/device?code=")
		code = re.search(r"code=(\S+)", begun)[1]
		ada.post(
			"/device",
			[("code", code), ("name", "documented"), ("days", "90"), ("answer", "confirm")],
		)
	out, err = process.communicate(timeout=HANG_S)
	equal((command, process.returncode, err if process.returncode else ""), (command, 0, ""))
	return begun + err + out


@test
def every_command_of_the_first_steps_prints_what_the_page_shows():
	load_task(
		"vectoradd_py",
		definition=home.TASK + "gpus: [CPU]\ntemplates: {Python: template.py}\n",
		more={"template.py": "def custom_kernel(data):\n    return data\n"},
	)
	(scratch / "documented").mkdir()
	numbers = {}
	for command, lines in commands_of("terminal.md"):
		said = run_as_documented(command, numbers)
		if command.startswith("podium submit"):
			documented = re.search(r"^(?:Submission )?(\d+)", "\n".join(lines), re.M)[1]
			numbers[documented] = (
				re.search(r"^Submission (\d+) to", said, re.M) or re.search(r"^(\d+)$", said, re.M)
			)[1]
		shown = [
			masked(line)
			for line in said.replace(site.url, "https://podium.example.org")
			.replace("CPU", "H200")
			.splitlines()
		]
		for line in lines:
			if masked(line) not in shown:
				raise AssertionError(f"{command}: {masked(line)!r} is not in {shown}")
	equal(sorted(numbers), ["12", "13", "14", "15"])


@test
def the_page_of_tokens_shows_a_command_that_signs_in():
	fields = [("name", "pasted"), ("scope", "read"), ("scope", "submit"), ("days", "30")]
	equal(ada.post("/account/tokens", fields).status, 303)

	def shown():
		page = ada.get("/account/tokens").text
		return html.unescape(re.search(r'<code id="login-line">(.*?)</code>', page)[1])

	line, later = shown(), shown()
	equal(later, f"podium login {site.url}")
	contains(line, f" | {later} --with-token")
	settings = scratch / "pasted" / "config"
	path = f"{PODIUM.parent}:{os.environ['PATH']}"
	done = subprocess.run(
		["bash", "-c", line],
		env=environment({"PATH": path, "PODIUM_SERVERS": settings}),
		capture_output=True,
		text=True,
	)
	equal((done.returncode, done.stderr if done.returncode else ""), (0, ""))
	contains(settings.read_text(), line.split()[1])


def download_line():
	"""The line on /help/terminal that installs podium."""
	page = ada.get("/help/terminal").text
	return html.unescape(re.search(r"<code[^>]*>(curl -fsSO '.*?)</code>", page, re.S)[1])


def install_download(name, line):
	"""Runs the line with a home of its own. Returns the exit code and the path of the program."""
	home_folder = scratch / name
	home_folder.mkdir()
	done = subprocess.run(
		["bash", "-c", line],
		cwd=home_folder,
		env=environment({"HOME": home_folder}),
		capture_output=True,
		text=True,
	)
	return done.returncode, home_folder / ".local" / "bin" / "podium"


@test
def a_changed_download_is_not_installed():
	changed = download_line().replace("&& sha256sum", "&& echo >> podium && sha256sum")
	code, program = install_download("changed", changed)
	equal((code != 0, program.exists()), (True, False))


@test
def the_downloaded_podium_submits_from_an_empty_folder_with_and_without_tls():
	code, program = install_download("downloaded", download_line())
	equal(code, 0)
	sums = ada.get("/help/terminal/podium.sha256").text.split()
	equal(sums, [hashlib.sha256(program.read_bytes()).hexdigest(), "podium"])
	contains(
		subprocess.run(["ldd", program], capture_output=True, text=True).stdout, "statically linked"
	)
	root = scratch / "empty"
	root.mkdir()
	shutil.copy(program, root / "podium")
	certificates = make_certificates(scratch / "certificates", "localhost")
	for name in ("ca.pem", "other.pem"):
		shutil.copy(certificates / name, root / name)
	(root / "mine.py").write_text(RIGHT)
	changes_root = ["chroot"] if os.getuid() == 0 else ["unshare", "--map-root-user", "chroot"]

	def alone(*words, **variables):
		return subprocess.run(
			[*changes_root, root, "/podium", *words],
			env={"HOME": "/", "PATH": os.environ["PATH"], "PODIUM_RETRY_MS": "5", **variables},
			input=tokens["ada"],
			capture_output=True,
			text=True,
			timeout=HANG_S,
		)

	answer = alone(
		"submit", "/mine.py", "--wait", PODIUM_SERVER=site.url, PODIUM_TOKEN=tokens["ada"]
	)
	equal((answer.returncode, answer.stderr if answer.returncode else ""), (0, ""))
	contains(answer.stdout, "Passed.")
	pair = (certificates / "server.pem", certificates / "server.key")
	with Faulty(passes_on(site.url), certificate=pair) as network:
		login = ("login", network.url, "--with-token", "--name")
		answer = alone(*login, "lab", "--ca-file", "/ca.pem")
		equal((answer.returncode, answer.stderr if answer.returncode else ""), (0, ""))
		answer = alone("submit", "/mine.py", "--wait", "--server", "lab")
		equal((answer.returncode, answer.stderr if answer.returncode else ""), (0, ""))
		contains(answer.stdout, "Passed.")
		for name, options, words in (
			("none", (), "the file with trusted certificates cannot be read"),
			("other", ("--ca-file", "/other.pem"), "its certificate is not trusted"),
		):
			answer = alone(*login, name, *options, PODIUM_SERVERS=f"/{name}")
			contains(answer.stderr, words)
		for trusted in (
			"etc/ssl/certs/ca-certificates.crt",
			"etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
			"etc/pki/tls/certs/ca-bundle.crt",
			"etc/ssl/ca-bundle.pem",
		):
			(root / trusted).parent.mkdir(parents=True, exist_ok=True)
			shutil.copy(certificates / "ca.pem", root / trusted)
			answer = alone(*login, "system", PODIUM_SERVERS="/system")
			equal((trusted, answer.returncode), (trusted, 0))
			(root / trusted).unlink()
	answer = alone("check", "/mine.py")
	equal(answer.returncode, 3)
	contains(answer.stderr, "no podium check")


@test
def the_manual_the_help_and_the_completion_name_every_command_and_option():
	manual, page = (
		"".join((ROOT / "docs" / name).read_text() for name in ("podium.md", "check.md")),
		podium("manual").out.replace("\\-", "-"),
	)
	shells = {shell: good(podium("completion", shell)).out for shell in ("bash", "zsh", "fish")}
	commands = re.findall(r"^  ([a-z]+) +\S", good(podium("--help")).out, re.M)
	assert len(commands) >= 15, commands
	for command in commands:
		options = re.findall(r"^  --([a-z-]+)", good(podium(command, "--help")).out, re.M)
		contains(page, f'.SS "podium {command}')
		contains(manual, f"`podium {command}")
		for text in shells.values():
			contains(text, command)
		for option in options:
			if option != "help":
				contains(page, f"\\fB--{option}\\fR")
				assert re.search(f"`([a-z]+ )?--{option}", manual), option
				contains(shells["bash"], f"--{option} ")
				contains(shells["zsh"], f"--{option}[")
				contains(shells["fish"], f"-l {option} ")
	for name in re.findall(r"\.TP\n\\fB(PODIUM_\w+|\d+)\\fR", page):
		contains(manual, f"`{name}`" if name.startswith("P") else f"| {name} |")
	drawn = (
		subprocess.run(
			["man", "--warnings", "-l", "-"],
			input=podium("manual").out,
			capture_output=True,
			text=True,
		)
		if shutil.which("man")
		else None
	)
	equal(drawn.stderr if drawn else "", "")


def completed(*words):
	script = (
		f"source <({PODIUM} completion bash); COMP_WORDS=(podium {' '.join(words)}); "
		f"COMP_CWORD={len(words)}; _podium 2> /dev/null; "
		'echo "${COMPREPLY[@]}"'
	)
	answer = subprocess.run(
		["bash", "-c", script], capture_output=True, text=True, cwd=scratch, env=environment()
	)
	equal(answer.stderr, "")
	return answer.stdout.split()


@test
def bash_completes_commands_options_and_values():
	equal(completed("wi"), ["withdraw"])
	equal(completed("submit", "--m"), ["--mode"])
	equal(completed("submit", "--mode", "r"), ["ranked"])
	equal(completed("completion", "f"), ["fish"])
	file("", "completed.py")
	equal(completed("submit", "compl"), ["completed.py"])
	for shell in ("zsh", "fish"):
		if shutil.which(shell):
			equal(
				subprocess.run(
					[shell, "-n"],
					input=podium("completion", shell).out,
					capture_output=True,
					text=True,
				).stderr,
				"",
			)


if __name__ == "__main__":
	try:
		code = run()
	finally:
		site.remove()
		home.close()
		close()
	sys.exit(code)
