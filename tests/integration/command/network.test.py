#!/usr/bin/env python3
"""The command podium with a failing network and a server that hangs, lies or is hostile.
command.test.py covers a healthy server."""

import hashlib
import pathlib
import shutil
import signal
import subprocess
import sys

from terminal import HANG_S, SETTINGS, TOKEN, begin, close, file, in_terminal, podium, scratch
from faulty import (
	Faulty,
	answers,
	cuts,
	hangs,
	never_ends,
	objects,
	redirects,
	routes,
	says_nothing,
)
from tap import Skip, contains, equal, lacks, run, test, until

EMPTY = answers({"items": [], "next": None})
EVIL = "a\x1b[2Jb\x9bc\u202ed\x07e"
RIGHT = (
	"#!POPCORN leaderboard small\n"
	"#!POPCORN gpus H200\n"
	"\n"
	"def custom_kernel(data):\n"
	"    return data\n"
)
DONE = {
	"id": 7,
	"leaderboard": "small",
	"user": "ada",
	"mode": "ranked",
	"state": "done",
	"verdict": "passed",
	"file_name": "mine.py",
	"jobs": [
		{"gpu": "H200", "state": "done", "verdict": "passed", "score_ns": 31900.0, "stages": []}
	],
}
JOB = {
	"gpu": "H200",
	"state": "queued",
	"verdict": None,
	"reason": None,
	"stage": None,
	"progress": None,
	"position": 2,
	"expected_start": None,
	"score_ns": None,
}


def status(state="queued", **job):
	jobs = [{**JOB, "state": state, **job}]
	return answers(
		{"id": 7, "state": state, "verdict": job.get("verdict"), "jobs": jobs, "poll_s": 0.05},
		ETag=f'"{hash(str(job))}"',
	)


def ask(server, *words, **more):
	"""Runs podium with a token for this server."""
	return podium(*words, **{"PODIUM_SERVER": server.url, "PODIUM_TOKEN": TOKEN, **more})


def ends(answer, code, *parts):
	equal((answer.code, answer.out), (code, ""))
	for part in parts:
		contains(answer.err, part)
	lacks(answer.err, TOKEN)
	return answer


# ---- retries ----


@test
def temporary_failures_are_retried_and_reported():
	for fault, words in (
		(objects(503, "Busy."), "answered 503; trying again in"),
		(objects(502, ""), "answered 502"),
		(objects(504, ""), "answered 504"),
		(cuts, "the connection was cut in the middle of the answer; trying again"),
		(says_nothing, "closed the connection without an answer"),
	):
		with Faulty(fault, fault, EMPTY) as server:
			answer = ask(server, "list")
			equal((answer.code, answer.out, len(server.requests)), (0, "No leaderboards.\n", 3))
			contains(answer.err, words)


@test
def a_request_to_a_hanging_server_is_retried():
	with Faulty(hangs, EMPTY) as server:
		answer = ask(server, "list", PODIUM_TIMEOUT_S=1)
		equal((answer.code, len(server.requests)), (0, 2))
		contains(answer.err, "did not answer in time")


@test
def the_pause_is_as_long_as_the_server_asks_for():
	with Faulty(objects(429, "Slower.", headers={"Retry-After": "1"}), EMPTY) as server:
		answer = ask(server, "list")
		equal(answer.code, 0)
		contains(answer.err, "answered 429; trying again in 1.0 s")
	with Faulty(objects(429, "Your quota is used up.", headers={"Retry-After": "3600"})) as server:
		ends(ask(server, "list"), 5, "podium: Your quota is used up. Try again in 3600 s.")
		equal(len(server.requests), 1)


@test
def retries_end_after_a_limit():
	with Faulty(objects(503, "The database is away.")) as server:
		ends(
			ask(server, "list"),
			5,
			"podium: The database is away.",
			"to the site's administrator: r-17",
		)
		equal(len(server.requests), 5)
	with Faulty(cuts) as server:
		ends(ask(server, "list"), 5, f"podium: Cannot reach {server.url}: the connection was cut")
	ends(ask(server, "list"), 5, "nothing answers there")


@test
def a_retried_submission_keeps_its_key():
	sent = answers({**DONE, "state": "queued", "verdict": None}, 201)
	for fault in (cuts, says_nothing, objects(502, "Away.")):
		with Faulty(fault, sent) as server:
			answer = ask(server, "submit", file(RIGHT))
			equal((answer.code, answer.out), (0, "7\n"))
			first, second = server.requests
			equal(first.headers["idempotency-key"], second.headers["idempotency-key"])
			equal((first.path, first.body), ("/api/v1/leaderboards/small/submissions", second.body))
			equal(
				first.json,
				{"file_name": "mine.py", "code": RIGHT, "mode": "test", "gpus": ["H200"]},
			)
	with Faulty(sent) as server:
		ask(server, "submit", file(RIGHT))
		assert server.requests[0].headers["idempotency-key"] != first.headers["idempotency-key"]
	with Faulty(cuts) as server:
		ends(
			ask(server, "submit", file(RIGHT)),
			5,
			"the connection was cut",
			"podium history shows whether the submission arrived.",
		)


@test
def a_refused_request_is_not_retried():
	for code, exit_code in (
		(400, 2),
		(401, 4),
		(403, 4),
		(404, 2),
		(409, 2),
		(413, 2),
		(422, 2),
		(500, 5),
	):
		with Faulty(objects(code, "Not like this.")) as server:
			ends(ask(server, "submit", file(RIGHT)), exit_code, "podium: Not like this.")
			equal(len(server.requests), 1)


# ---- invalid answers ----


@test
def an_answer_that_is_not_from_a_podium_is_reported():
	for fault in (
		answers(b"<h1>Welcome</h1>", content_type="text/html"),
		answers(b'{"items": [', content_type="application/json"),
		answers(b"[]"),
		answers(b""),
		answers(b'{"a": 1, "a": 2}'),
	):
		with Faulty(fault) as server:
			ends(
				ask(server, "list"),
				5,
				"something other than the JSON of a Podium site. Check the address.",
			)
	with Faulty(answers(b"<h1>nginx</h1>", 404, "text/html")) as server:
		ends(ask(server, "list"), 2, "answered 404 without a reason that podium understands")
	with Faulty(
		lambda connection, request: connection.sendall(b"220 mail.example.org ESMTP\r\n")
	) as server:
		ends(ask(server, "list"), 5, "the server there does not speak HTTP")


@test
def an_endless_answer_is_not_read():
	with Faulty(never_ends) as server:
		ends(ask(server, "list"), 5, "more than 16 MiB")
		equal(len(server.requests), 1)


@test
def a_redirect_is_not_followed():
	with Faulty(EMPTY) as other:
		for code in (301, 302, 307, 308):
			with Faulty(redirects(f"{other.url}/api/v1/leaderboards", code)) as server:
				ends(ask(server, "list"), 4, f"redirects to {other.url}/api/v1/leaderboards")
				ends(ask(server, "submit", file(RIGHT)), 4, "podium follows no redirects")
		equal(other.requests, [])


# ---- the token ----


@test
def a_token_is_never_sent_unencrypted():
	with Faulty(EMPTY) as proxy:
		for words in (["list"], ["submit", str(file(RIGHT))], ["status", "7", "--follow"]):
			answer = podium(
				*words,
				PODIUM_SERVER="http://podium.example.org",
				PODIUM_TOKEN=TOKEN,
				http_proxy=proxy.url,
			)
			ends(answer, 2, "podium.example.org uses plain http", "--insecure-http")
		ends(
			podium(
				"login",
				"http://podium.example.org",
				"--with-token",
				stdin=TOKEN,
				http_proxy=proxy.url,
			),
			2,
			"uses plain http",
		)
		ends(
			podium("login", "http://podium.example.org", http_proxy=proxy.url), 2, "uses plain http"
		)
		equal(proxy.requests, [])
		answer = podium(
			"list",
			"--insecure-http",
			PODIUM_SERVER="http://podium.example.org",
			PODIUM_TOKEN=TOKEN,
			http_proxy=proxy.url,
		)
		equal((answer.code, proxy.requests[0].headers["authorization"]), (0, f"Bearer {TOKEN}"))


@test
def requests_to_this_machine_use_no_proxy():
	with Faulty(EMPTY) as server, Faulty(EMPTY) as proxy:
		equal(ask(server, "list", http_proxy=proxy.url, all_proxy=proxy.url).code, 0)
		equal((len(server.requests), len(proxy.requests)), (1, 0))


@test
def a_token_from_the_environment_is_sent_to_its_server_only():
	with Faulty(EMPTY) as server, Faulty(EMPTY) as other:
		equal(ask(server, "list", "--server", other.url).code, 0)
		lacks(other.requests[0].headers, "authorization")
		ends(
			podium("list", "--server", other.url, PODIUM_TOKEN=TOKEN),
			2,
			"PODIUM_TOKEN is set without PODIUM_SERVER",
		)


@test
def no_process_shows_the_token():
	with Faulty(
		answers(
			{"user": "ada", "role": "user", "scopes": ["read"], "token": "x", "expires_at": None}
		),
		hangs,
	) as server:
		answer = podium("login", server.url, "--name", "shown", "--with-token", stdin=TOKEN + "\n")
		equal((answer.code, answer.err), (0, ""))
		contains(
			answer.out,
			f"Signed in to {server.url} as ada. The token may: read. It does not expire.",
		)
		lacks(answer.out, TOKEN)
		equal(SETTINGS.stat().st_mode & 0o777, 0o600)
		contains(SETTINGS.read_text(), TOKEN)
		process = begin("list", "--server", "shown")
		until(lambda: len(server.requests) >= 2)
		lacks(pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes().decode(), TOKEN)
		equal(server.requests[1].headers["authorization"], f"Bearer {TOKEN}")
		process.send_signal(signal.SIGTERM)
		out, err = process.communicate(timeout=HANG_S)
		equal((process.returncode, out), (143, ""))
	podium("logout", "shown")
	lacks(SETTINGS.read_text(), TOKEN)


@test
def the_prompt_does_not_show_what_is_typed():
	with Faulty(
		answers(
			{"user": "ada", "role": "user", "scopes": ["read"], "token": "x", "expires_at": None}
		)
	) as server:
		code, shown = in_terminal(
			"login", server.url, "--name", "typed", "--with-token", typed=f" {TOKEN} \n"
		)
		equal(code, 0)
		contains(
			shown,
			f"Token for {server.url} (input is hidden; {server.url}/account/tokens makes "
			"one): \r\n",
		)
		lacks(shown, TOKEN)
		equal(server.requests[0].headers["authorization"], f"Bearer {TOKEN}")
	podium("logout", "typed")


@test
def settings_that_others_can_read_are_refused():
	SETTINGS.parent.mkdir(exist_ok=True)
	before = SETTINGS.read_text() if SETTINGS.exists() else ""
	SETTINGS.write_text(f"[lab]\nurl = http://localhost:1\ntoken = {TOKEN}\n")
	SETTINGS.chmod(0o644)
	ends(podium("list"), 4, f"Others can read {SETTINGS} and its tokens.", f"chmod 600 {SETTINGS}")
	SETTINGS.write_text(before)
	SETTINGS.chmod(0o600)


@test
def text_that_is_no_token_is_not_sent():
	with Faulty(EMPTY) as server:
		ends(
			podium("login", server.url, "--with-token", stdin="hunter2\n"),
			2,
			"The text is not a Podium token",
		)
		ends(
			podium("login", server.url, "--with-token", stdin=""),
			2,
			"The text is not a Podium token",
		)
		equal(server.requests, [])


@test
def certificates_are_verified():
	if not shutil.which("openssl"):
		raise Skip("openssl is not installed")
	key, certificate = scratch / "key.pem", scratch / "certificate.pem"
	subprocess.run(
		[
			"openssl",
			"req",
			"-x509",
			"-newkey",
			"ec",
			"-pkeyopt",
			"ec_paramgen_curve:prime256v1",
			"-nodes",
			"-days",
			"2",
			"-keyout",
			key,
			"-out",
			certificate,
			"-subj",
			"/CN=localhost",
			"-addext",
			"subjectAltName=DNS:localhost",
		],
		check=True,
		capture_output=True,
	)
	me = answers(
		{"user": "ada", "role": "user", "scopes": ["read"], "token": "x", "expires_at": None}
	)
	with Faulty(me, certificate=(certificate, key)) as server:
		ends(ask(server, "list"), 5, "its certificate is not trusted")
		ends(
			podium("login", server.url, "--with-token", stdin=TOKEN),
			5,
			"its certificate is not trusted",
		)
		equal(server.requests, [])
		equal(
			podium(
				"login",
				server.url,
				"--name",
				"own",
				"--with-token",
				"--ca-file",
				certificate,
				stdin=TOKEN,
			).code,
			0,
		)
		server.does = [EMPTY]
		equal(podium("list", "--server", "own").code, 0)
		ends(
			podium("list", "--server", f"https://127.0.0.1:{server.port}"),
			5,
			"its certificate is not trusted",
		)
	podium("logout", "own")


# ---- hostile text ----


@test
def text_from_a_server_cannot_control_the_terminal():
	everything = {
		key: EVIL
		for key in (
			"name",
			"title",
			"state",
			"language",
			"deadline",
			"user",
			"mode",
			"file_name",
			"submitted_at",
			"verdict",
			"note",
		)
	}
	case = {"index": 0, "spec": EVIL, "verdict": EVIL, "message": EVIL, "mean_ns": 5.0}
	job = {
		"gpu": EVIL,
		"state": EVIL,
		"reason": EVIL,
		"message": EVIL,
		"progress": EVIL,
		"engine": EVIL,
		"device": EVIL,
		"environment": {EVIL: EVIL},
		"started_at": EVIL,
		"stages": [{"name": EVIL, "verdict": EVIL, "output": EVIL, "cases": [case]}],
	}
	submission = {
		**everything,
		"id": 7,
		"leaderboard": EVIL,
		"jobs": [job],
		"held": {"reason": EVIL},
	}
	page = {
		"items": [
			{**everything, "id": 7, "gpus": [EVIL], "leaderboard": EVIL, "jobs": [job], "rank": 1}
		],
		"next": None,
	}
	comparison = {
		"gpus": [
			{
				"gpu": EVIL,
				"cases": [{"index": 0, "spec": EVIL, "verdict": EVIL, "a_ns": 1, "b_ns": 2}],
			}
		],
		"diff": EVIL,
	}
	for words, document in (
		(["list"], page),
		(["history"], page),
		(["ranking", "small", "--gpu", "H200"], page),
		(["show", "7"], submission),
		(["status", "7"], submission),
		(["compare", "7", "8", "--diff"], comparison),
	):
		with Faulty(answers(document)) as server:
			answer = ask(server, *words)
			for text in (answer.out, answer.err):
				for bad in ("\x1b", "\x9b", "\u202e", "\x07"):
					lacks(text, bad)
			contains(answer.out, "a\\x1b[2Jb")
			_, shown = in_terminal(
				*words, PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN, NO_COLOR="1"
			)
			for bad in ("\x1b[2J", "\x9b", "\u202e", "\x07"):
				lacks(shown, bad)
			_, shown = in_terminal(*words, "--json", PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN)
			lacks(shown, "\x9b")
			lacks(shown, "\u202e")
	with Faulty(objects(400, EVIL, errors=[{"field": EVIL, "detail": EVIL + "!"}])) as server:
		answer = ask(server, "list")
		lacks(answer.err, "\x1b")
		contains(answer.err, "a\\x1b[2Jb")


def task_answers(paths, content=b"text", templates=(), digest=None):
	files = [
		{
			"path": path,
			"size_bytes": len(content),
			"sha256": digest or hashlib.sha256(content).hexdigest(),
			"role": "file",
		}
		for path in paths
	]
	return routes(
		**{
			"/task": answers(
				{"version": 3, "definition": {}, "files": files, "templates": list(templates)}
			),
			"other": answers(content, content_type="text/plain"),
		}
	)


@test
def a_server_cannot_write_outside_of_the_folder():
	for path in (
		"../outside.py",
		"/tmp/outside.py",
		"a/../../outside.py",
		".git/hooks/post-checkout",
		".GIT/config",
		"a\\b",
		"a\nb",
		"",
		".envrc",
		".podium-task.json",
	):
		folder = scratch / "hostile"
		with Faulty(task_answers(["fine.py", path])) as server:
			ends(
				ask(server, "task", "small", "--to", folder),
				2,
				"The server names a file",
				"Nothing was written",
			)
			equal(len(server.requests), 1)
		equal((folder.exists(), (scratch / "outside.py").exists()), (False, False))
	with Faulty(task_answers(["A.py", "a.py"])) as server:
		equal(ask(server, "task", "small", "--to", scratch / "hostile").code, 2)
	with Faulty(
		task_answers(["a.py"], templates=[{"language": "Python", "file_name": "../outside.py"}])
	) as server:
		ends(ask(server, "task", "small", "--to", scratch / "hostile"), 2, "Nothing was written")
	ends(
		podium("task", "../x", PODIUM_SERVER="http://localhost:1"),
		2,
		"is not the name of a leaderboard",
	)


@test
def a_template_that_is_a_file_of_the_task_is_fetched_once():
	both = [{"language": language, "file_name": "a.py"} for language in ("Python", "Triton")]
	with Faulty(task_answers(["a.py"], templates=both)) as server:
		answer = ask(server, "task", "small", "--to", scratch / "once", "--language", "Triton")
		equal((answer.code, len(server.requests)), (0, 2))
		ends(
			ask(server, "task", "small", "--to", scratch / "once", "--language", "CUDA"),
			2,
			'small has no template for "CUDA".',
		)


@test
def a_file_that_differs_from_its_announced_hash_is_not_written():
	with Faulty(task_answers(["a.py"], digest="0" * 64)) as server:
		ends(
			ask(server, "task", "small", "--to", scratch / "announced"),
			5,
			"a.py differs from the server's description",
		)
	equal((scratch / "announced" / "a.py").exists(), False)


# ---- waiting ----


@test
def losing_the_network_while_waiting_does_not_lose_the_submission():
	over = status("done", verdict="passed", score_ns=31900.0)
	polls = [
		status(),
		cuts,
		objects(503, "Busy."),
		says_nothing,
		objects(502, ""),
		status("running", position=None, stage="test 3/12", progress={"done": 3, "of": 12}),
		over,
	]
	with Faulty(routes(status=polls, other=answers(DONE))) as server:
		answer = ask(server, "status", "7", "--follow")
		equal(answer.code, 0)
		contains(answer.out, "Passed.")
		lines = [line for line in answer.err.splitlines() if line.startswith("H200")]
		equal(lines, ["H200: queued, 2nd in line", "H200: test 3/12", "H200: passed, 31.90 µs"])


@test
def a_missing_server_is_waited_for_a_while():
	with Faulty(routes(status=[status()], other=answers(DONE))) as server:
		process = begin("status", "7", "--follow", PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN)
		line = process.stderr.readline()
		contains(line, "H200: queued, 2nd in line")
		server.close()
		while "nothing answers there; trying again" not in (line := process.stderr.readline()):
			assert line, process.communicate()
		server.does = [
			routes(
				status=status("done", verdict="wrong answer"),
				other=answers({**DONE, "verdict": "wrong answer"}),
			)
		]
		server.listen(server.port)
		out, err = process.communicate(timeout=HANG_S)
		equal(process.returncode, 10)
		contains(out, "Wrong answer.")


@test
def giving_up_waiting_says_how_to_continue():
	with Faulty(routes(status=[status(), objects(503, "Busy.")], other=answers(DONE))) as server:
		answer = ask(server, "status", "7", "--follow", PODIUM_PATIENCE_S=1)
		ends(answer, 5, "Busy.", "Submission 7 continues. To wait again: podium status 7 --follow")
	with Faulty(
		routes(status=[status(), objects(401, "The token has expired.")], other=answers(DONE))
	) as server:
		ends(
			ask(server, "status", "7", "--follow"),
			4,
			"The token has expired.",
			"Sign in again: podium login",
			"Submission 7 continues",
		)
	with Faulty(objects(404, "There is no submission 7.")) as server:
		lacks(
			ends(ask(server, "status", "7", "--follow"), 2, "There is no submission 7.").err,
			"continues",
		)


@test
def an_interrupt_keeps_the_submission_and_says_how_to_continue():
	for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
		for polls in ([status()], [status(), hangs]):
			with Faulty(
				routes(
					status=list(polls),
					other=answers({**DONE, "state": "queued", "verdict": None}, 201),
				)
			) as server:
				process = begin(
					"submit",
					file(RIGHT),
					"--wait",
					"--server",
					server.url,
					PODIUM_SERVER=server.url,
					PODIUM_TOKEN=TOKEN,
				)
				while "2nd in line" not in (line := process.stderr.readline()):
					assert line, process.communicate()
				process.send_signal(number)
				out, err = process.communicate(timeout=HANG_S)
				equal((process.returncode, out), (code, ""))
				contains(
					err,
					"podium: Stopped waiting. Submission 7 continues. To wait again: podium "
					f"status 7 --follow --server {server.url}\n",
				)
				equal([request.method for request in server.requests].count("POST"), 1)


@test
def a_terminal_gets_a_bar_and_the_place_in_line():
	polls = [
		status(),
		status("running", position=None, stage="test 3/12", progress={"done": 3, "of": 12}),
		status("done", verdict="passed", position=None),
	]
	with Faulty(routes(status=polls, other=answers(DONE))) as server:
		code, shown = in_terminal(
			"status", "7", "--follow", PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN
		)
		equal(code, 0)
		contains(shown, "\x1b[JH200  [--------------------]  queued, 2nd in line\r")
		contains(shown, "\x1b[JH200  [#####---------------]  test 3/12\r")
		contains(shown, "\x1b[1;32mPassed.\x1b[0m")
		progress, result = shown.split("Submission 7 to small")
		lacks(result.replace("\x1b[1;32mPassed.\x1b[0m", ""), "\x1b")


def not_modified(connection, request):
	connection.sendall(b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")


@test
def the_bar_comes_back_when_the_network_does():
	polls = [status(), cuts, not_modified, status("done", verdict="passed", position=None)]
	with Faulty(routes(status=polls, other=answers(DONE))) as server:
		_, shown = in_terminal(
			"status", "7", "--follow", columns=160, PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN
		)
		bar = "\x1b[JH200  [--------------------]  queued, 2nd in line\r"
		before, after = shown.split("trying again")
		equal((before.count(bar), after.count(bar)), (1, 1))
		assert all("if-none-match" in request.headers for request in server.requests[1:-1]), (
			server.requests
		)


@test
def several_devices_have_a_line_each():
	jobs = [{**JOB, "gpu": gpu} for gpu in ("H200", "日本" * 40)]
	both = answers({"id": 7, "state": "queued", "verdict": None, "jobs": jobs, "poll_s": 0.05})
	over = status("done", verdict="passed", position=None)
	with Faulty(routes(status=[both, over], other=answers(DONE))) as server:
		_, shown = in_terminal(
			"status", "7", "--follow", columns=40, PODIUM_SERVER=server.url, PODIUM_TOKEN=TOKEN
		)
		contains(shown, "\x1b[J" + "H200" + " " * 35)
		contains(shown, "\r\n" + "日本" * 9 + "日\r\x1b[1A")
		contains(shown, "\r\x1b[1A\x1b[J")


@test
def tables_fit_the_terminal():
	item = {
		"name": "n" * 60,
		"title": "日本語" * 20,
		"state": "active",
		"language": "py",
		"gpus": ["H200", "B200"],
		"deadline": None,
	}
	with Faulty(answers({"items": [item], "next": None})) as server:
		for columns in (60, 80, 100):
			_, shown = in_terminal("list", columns=columns, PODIUM_SERVER=server.url)
			widths = [
				sum(2 if ord(letter) > 0x2FFF else 1 for letter in line)
				for line in shown.splitlines()
			]
			equal(max(widths), columns)
			contains(shown, "…")
		contains(podium("list", PODIUM_SERVER=server.url).out, "日本語" * 20)


@test
def every_page_of_a_list_is_read():
	pages = [answers({"items": [{"id": number}], "next": f"c&{number}"}) for number in (3, 2)] + [
		answers({"items": [{"id": 1}], "next": None})
	]
	with Faulty(*pages) as server:
		equal(
			[
				item["id"]
				for item in ask(server, "history", "--json", "--verdict", "wrong answer").json
			],
			[3, 2, 1],
		)
		equal(
			[request.path for request in server.requests],
			[
				"/api/v1/submissions?verdict=wrong%20answer&limit=20",
				"/api/v1/submissions?verdict=wrong%20answer&limit=19&cursor=c%263",
				"/api/v1/submissions?verdict=wrong%20answer&limit=18&cursor=c%262",
			],
		)


# ---- signing in ----

CODE = {
	"device_code": "d-1",
	"user_code": "ABCD-EFGH",
	"verification_uri": "https://x/device",
	"verification_uri_complete": "https://x/device?code=ABCD-EFGH",
	"expires_in": 600,
	"interval": 1,
}
ME = answers(
	{
		"user": "ada",
		"role": "user",
		"scopes": ["read", "submit"],
		"token": "x",
		"expires_at": "2036-11-22T03:17:26.123Z",
	}
)


@test
def signing_in_with_a_code_survives_a_bad_network():
	pending = objects(400, "Nobody has confirmed it yet.", error="authorization_pending")
	granted = answers(
		{"token": TOKEN, "user": "ada", "scopes": ["read", "submit"], "expires_at": None}
	)
	with Faulty(
		routes(**{"device/code": answers(CODE), "device/token": [pending, cuts, granted], "me": ME})
	) as server:
		answer = podium("login", server.url, "--name", "code")
		equal(answer.code, 0)
		contains(
			answer.err,
			"Open this page in a browser and confirm the code ABCD-EFGH:\n\n  "
			"https://x/device?code=ABCD-EFGH\n",
		)
		contains(
			answer.out, "as ada. The token may: read, submit. It expires on 2036-11-22 03:17 UTC."
		)
		lacks(answer.out + answer.err, TOKEN)
		equal(server.requests[0].json["scopes"], ["read", "submit"])
		assert all("authorization" not in request.headers for request in server.requests[:-1])
	podium("logout", "code")


@test
def a_refused_or_expired_code_ends_signing_in():
	for word, sentence in (
		("access_denied", "The request was refused in the browser."),
		("expired_token", "The code has expired."),
	):
		with Faulty(
			routes(
				**{"device/code": answers(CODE), "device/token": objects(400, sentence, error=word)}
			)
		) as server:
			answer = podium("login", server.url)
			equal((answer.code, answer.out), (4, ""))
			contains(answer.err, f"podium: {sentence}")
	with Faulty(objects(404, "There is no such address.")) as server:
		ends(
			podium("login", server.url),
			2,
			f"Make a token at {server.url}/account/tokens and pass it to: podium login "
			"--with-token",
		)


if __name__ == "__main__":
	try:
		code = run()
	finally:
		close()
	sys.exit(code)
