#!/usr/bin/env python3
"""popcorn-cli against /popcorn: each of its calls, each error, linking an ID to an account, and
waiting for a result on an open connection.

tests/lib/popcorn.py sends the same requests as popcorn-cli, and popcorn/*.json are schemas of the
answers that popcorn-cli requires. A stand-in for podium-run reports what each submission tells it
to."""

import base64
import io
import json
import os
import pathlib
import re
import signal
import shutil
import sys
import tempfile
import threading
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
import mariadb  # noqa: E402
from popcorn import Broken, Popcorn, Refused  # noqa: E402
from processes import find  # noqa: E402
from programs import Program, make_token  # noqa: E402
from schema import fits  # noqa: E402
from small_task import TASK, make_board  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

STREAMS = 12
problems = pathlib.Path(tempfile.mkdtemp(prefix="podium-problems."))
mariadb.use_own_server()
site = Instance(pretends=True, PODIUM_STREAMS_AT_ONCE=str(STREAMS), PODIUM_PROBLEMS=str(problems))
sql = site.sql
URL = site.url + "/popcorn"
PASSWORD = "a long password"
ada, bob, carol, admin = (Client(site.url) for _ in range(4))
tokens = {}
SCHEMAS = pathlib.Path(__file__).resolve().parent / "popcorn"
CASE = {
	"runs": 101,
	"mean_ns": 2_000_000.0,
	"std_ns": 5.0,
	"err_ns": 2.0,
	"best_ns": 1_999_000.0,
	"worst_ns": 2_001_000.0,
}


def like(value, name):
	return fits(value, SCHEMAS / f"{name}.json")


def program(name):
	return Popcorn(URL, tokens[name])


def source(directives="", **told):
	"""A file whose first line tells the stand-in for podium-run how the job ends."""
	return (
		f"# {json.dumps({'cases': [CASE], **told})}\n"
		f"{directives}def custom_kernel(data):\n"
		"    return data\n"
	).encode()


def refused(status, *words):
	"""For a `with` block: the request in it must be refused with this status. The answer must be
	JSON whose `detail` is a sentence with the words."""

	class Expected:
		def __enter__(self):
			return self

		def __exit__(self, kind, value, _):
			if not isinstance(value, Refused):
				return False
			equal(value.status, status)
			for word in words:
				contains(value.detail, word)
			lacks(value.detail, "{")
			self.detail = value.detail
			return True

	return Checked(Expected())


class Checked:
	def __init__(self, expected):
		self.expected = expected

	def __enter__(self):
		return self.expected

	def __exit__(self, kind, value, trace):
		if kind is None:
			raise AssertionError("it was not refused")
		return self.expected.__exit__(kind, value, trace)


def number_of(statement):
	return int(site.value(statement))


class Gate:
	"""The source of submissions that run until open() is called."""

	def __init__(self):
		self.path = site.var / f"gate-{time.monotonic_ns()}"

	def source(self):
		return source(prints=[], until=str(self.path))

	def open(self):
		self.path.touch()


@test
def a_site_with_users_tokens_and_leaderboards():
	for client, name in ((ada, "ada"), (bob, "bob"), (carol, "carol"), (admin, "root-of-all")):
		client.register(name)
	sql(
		"UPDATE users SET role = 'participant' WHERE role = 'admin'; UPDATE users SET role = "
		"'admin' WHERE name = 'root-of-all'"
	)
	for name in ("Small", "closed-one", "other"):
		make_board(admin, name)
	sql(
		"UPDATE leaderboards SET visibility = IF(name = 'closed-one', 'closed', 'hidden') WHERE "
		"name NOT IN ('Small', 'other')"
	)
	tokens.update(
		ada=make_token(ada, "popcorn", "read", "submit"),
		bob=make_token(bob, "popcorn", "read", "submit"),
		carol=make_token(carol, "popcorn", "read", "submit"),
		reads=make_token(ada, "reads", "read"),
		admin=make_token(admin, "panel", "admin"),
	)


# ---- authentication ----


@test
def the_page_of_a_new_token_shows_the_line_for_the_settings_file():
	page = ada.post("/account/tokens", [("name", "laptop"), ("days", "7"), ("scope", "read")])
	page = ada.get(page.location)
	line = re.search(r'id="popcorn-line">(cli_id: podium_[\w-]{43})<', page.text)[1]
	contains(page.words(), f"POPCORN_API_URL={site.url}/popcorn")
	equal(Popcorn(URL, line.removeprefix("cli_id: ")).submissions("Small"), [])


@test
def a_missing_or_unknown_id_gets_an_error_that_says_what_to_do():
	calls = (
		lambda popcorn: popcorn.submissions("Small"),
		lambda popcorn: popcorn.poll(1),
		lambda popcorn: popcorn.delete(1),
		lambda popcorn: popcorn.submit("Small", "H200", "test", source()),
		lambda popcorn: popcorn.stream("Small", "H200", "profile", source()),
		lambda popcorn: popcorn.join("x"),
	)
	for call in calls:
		with refused(
			400, "Missing X-Popcorn-Cli-Id header", "popcorn register", f"{site.url}/account/tokens"
		):
			call(Popcorn(URL))
		with refused(401, "Invalid or unauthorized X-Popcorn-Cli-Id", f"{site.url}/device"):
			call(Popcorn(URL, "podium_" + "x" * 43))
		with refused(401, "Invalid or unauthorized X-Popcorn-Cli-Id"):
			call(Popcorn(URL, "temp_123"))
	with refused(403, "lacks the scope submit"):
		program("reads").submit("Small", "H200", "test", source())
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'bob'")
	with refused(401, "Invalid or unauthorized"):
		program("bob").submissions("Small")
	sql("UPDATE users SET banned_at = NULL WHERE name = 'bob'")


@test
def every_error_has_a_detail_even_at_unknown_addresses():
	popcorn = program("ada")
	for method, path, status in (
		("GET", "/nothing", 404),
		("PUT", "/leaderboards", 405),
		("GET", "/gpus/a%01b", 400),
	):
		with refused(status):
			popcorn.ask(method, path)
	connection, response = popcorn.open("GET", "/nothing")
	like(json.loads(response.read()), "error")
	connection.close()


# ---- lists ----


@test
def visible_leaderboards_and_their_devices_are_listed():
	boards = {board["name"]: board for board in like(Popcorn(URL).leaderboards(), "leaderboards")}
	equal(sorted(boards), ["Small", "other"])
	equal((boards["Small"]["gpu_types"], boards["Small"]["task"]), (["H200"], {"lang": "py"}))
	lacks(json.dumps(boards), "seed")
	equal(
		sorted(board["name"] for board in Popcorn(URL, "podium_" + "x" * 43).leaderboards()),
		["Small", "other"],
	)
	equal(like(Popcorn(URL).gpus("small"), "gpus"), ["H200"])
	with refused(404, 'Leaderboard "nothing" does not exist'):
		program("ada").gpus("nothing")
	with refused(404, "closed-one"):
		program("ada").gpus("closed-one")


@test
def the_server_and_its_queues_report_their_state():
	equal(Popcorn(URL).ask("GET", "/health"), {"status": "ok"})
	queue = Popcorn(URL).ask("GET", "/runner_queue/h200")
	Popcorn.summary_of(queue)
	equal((queue["gpu"], queue["status"], queue["available_runners"]), ("H200", "available", 2))
	with refused(404, '"T4"'):
		Popcorn(URL).ask("GET", "/runner_queue/T4")


# ---- submitting and polling ----


@test
def a_submission_in_each_mode_is_accepted_polled_and_printed():
	popcorn = program("ada")
	for mode, scores in (("test", 0), ("BENCHMARK", 0), ("leaderboard", 1)):
		number = popcorn.submit("Small", "h200", mode, source())
		accepted = like(popcorn.accepted, "accepted")
		equal((accepted["details"]["id"], popcorn.last.status), (number, 202))
		lines, answer = popcorn.wait(number)
		like(answer, "submission")
		equal(
			(
				answer["leaderboard_name"],
				answer["file_name"],
				answer["code"].encode(),
				answer["job"]["status"],
				answer["runner_queue"],
			),
			("Small", "submission.py", source(), "succeeded", None),
		)
		equal(
			(answer["user_id"], [run["mode"] for run in answer["runs"]][0]),
			(str(number_of("SELECT id FROM users WHERE name = 'ada'")), "test"),
		)
		equal(len(Popcorn.score_lines(answer)), scores)
		equal({run["passed"] for run in answer["runs"]}, {True})
	equal(Popcorn.score_lines(answer), ["Geomean score (public) on H200: 0.002 s"])
	measured = answer["runs"][1]["result"]
	equal(
		(
			answer["runs"][1]["mode"],
			measured["benchmark-count"],
			measured["benchmark.0.mean"],
			measured["check"],
		),
		("leaderboard", 1, "2000000", "pass"),
	)


@test
def a_submission_that_fails_says_why_with_the_address_of_its_page():
	popcorn = program("ada")
	number = popcorn.submit(
		"Small",
		"H200",
		"test",
		source(
			verdict={
				"verdict": "wrong answer",
				"reason": "Case 1 is wrong: expected 1, got 2 \u2013 see.",
			}
		),
	)
	with refused(
		0,
		f"Submission {number} failed: wrong answer on H200. Case 1 is wrong: expected 1, got 2 "
		"\u2013 see.",
		f"{site.url}/submission/{number}",
	):
		popcorn.wait(number)
	number = popcorn.submit(
		"Small",
		"H200",
		"test",
		source(verdict={"verdict": "time limit", "reason": "It took too long."}),
	)
	with refused(0, f"Submission {number} timed_out: time limit"):
		popcorn.wait(number)
	number = popcorn.submit(
		"Small",
		"H200",
		"test",
		source(verdict={"verdict": "internal error", "reason": "The machine broke."}),
	)
	with refused(0, "internal error on H200. The machine broke."):
		popcorn.wait(number)


@test
def polling_reports_queued_and_running_and_finally_the_outcome():
	popcorn, gates = program("ada"), [Gate() for _ in range(3)]
	numbers = [popcorn.submit("Small", "H200", "test", gate.source()) for gate in gates]
	until(
		lambda: sum(popcorn.poll(number)["job"]["status"] == "running" for number in numbers) == 2
	)
	waiting = next(
		number for number in numbers if popcorn.poll(number)["job"]["status"] == "pending"
	)
	queue = popcorn.poll(waiting)["runner_queue"]
	equal(Popcorn.summary_of(queue), "Podium H200 queue: 0 queued job(s)")
	# Carol has no running job, so her later job is first in the line, as on the pages.
	other, gate = program("carol"), Gate()
	gates.append(gate)
	later = other.submit("Small", "H200", "test", gate.source())
	for owner, number, ahead in ((other, later, 0), (popcorn, waiting, 1)):
		queue = owner.poll(number)["runner_queue"]
		equal(Popcorn.summary_of(queue), f"Podium H200 queue: {ahead} queued job(s)")
		status = Client(site.url).get(f"/submission/{number}/status?{time.time()}").json
		equal(status["jobs"][0]["position"], ahead + 1)
	# One of two devices has finished.
	sql(
		"INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, finished_at) SELECT id, "
		f"user_id, 'T4', 'done', 'passed', UTC_TIMESTAMP(3) FROM submissions WHERE id = {waiting}"
	)
	equal(popcorn.poll(waiting)["job"]["status"], "running")
	sql(f"DELETE FROM jobs WHERE submission_id = {waiting} AND gpu = 'T4'")
	running = popcorn.poll(next(number for number in numbers if number != waiting))
	like(running, "submission")
	equal(
		(running["done"], running["runner_queue"], bool(running["job"]["last_heartbeat"])),
		(False, None, True),
	)
	for gate in gates:
		gate.open()
	seen = set()
	while len([state for state in seen if state[0]]) < 3:
		for number in numbers:
			answer = popcorn.poll(number)
			seen.add((answer["done"] and number, answer["job"]["status"]))
			equal(answer["done"], answer["job"]["status"] in ("succeeded", "failed", "timed_out"))


@test
def file_names_are_ascii_because_the_client_cuts_them_between_bytes():
	popcorn = program("carol")
	popcorn.wait(popcorn.submit("other", "H200", "test", source(), "kernel für große Zahlen.py"))
	rows = like(popcorn.submissions("OTHER"), "submissions")
	equal([row["file_name"] for row in rows], ["kernel f_r gro_e Zahlen.py"])


@test
def errors_of_a_submission_are_explained():
	popcorn = program("ada")
	before = number_of("SELECT COUNT(*) FROM submissions")
	for status, words, call in (
		(400, 'Invalid submission mode value: "fast"', ("Small", "H200", "fast", source())),
		(400, 'Invalid submission mode value: "private"', ("Small", "H200", "private", source())),
		(
			400,
			"GPU type \"T4\" is not supported for leaderboard 'Small'. Supported GPUs: H200",
			("Small", "T4", "test", source()),
		),
		(404, 'Leaderboard "nothing" does not exist', ("nothing", "H200", "test", source())),
		(404, 'Leaderboard "closed-one" does not exist', ("closed-one", "H200", "test", source())),
		(400, "Empty file submitted", ("Small", "H200", "test", b"")),
		(413, "too large (limit: 1MB)", ("Small", "H200", "test", b"#" * 1_000_001)),
		(400, "decode submission file content as UTF-8", ("Small", "H200", "test", b"# \xff\xfe")),
		(400, ".py", ("Small", "H200", "test", source(), "kernel.cu")),
		(
			400,
			'it is for the leaderboard "other"',
			("Small", "H200", "test", source("#!POPCORN leaderboard other\n")),
		),
		(
			400,
			"Line 2: !POPCORN gpus has no value",
			("Small", "H200", "test", source("#!POPCORN gpus\n")),
		),
		(
			400,
			"Line 2: !POPCORN has no directive",
			("Small", "H200", "test", source("#!POPCORN\n")),
		),
		(
			400,
			'no directive !POPCORN "deadline"',
			("Small", "H200", "test", source("#!POPCORN deadline now\n")),
		),
		(
			400,
			"named twice",
			(
				"Small",
				"H200",
				"test",
				source("#!POPCORN leaderboard Small\n#!POPCORN leaderboard Small\n"),
			),
		),
	):
		with refused(status, words):
			popcorn.submit(*call)
	with refused(400, "Missing required field: file"):
		popcorn.ask(
			"POST",
			"/submission/small/H200/test",
			b"--x--\r\n",
			{"Content-Type": "multipart/form-data; boundary=x"},
		)
	with refused(413):
		popcorn.submit("Small", "H200", "test", b"#" * 11_000_000)
	equal(number_of("SELECT COUNT(*) FROM submissions"), before)


@test
def the_address_overrides_the_files_header_and_names_ignore_case():
	popcorn = program("ada")
	number = popcorn.submit(
		"small", "h200", "Test", source("#!POPCORN leaderboard SMALL\n#!POPCORN gpu B200\n")
	)
	popcorn.wait(number)
	equal(sql(f"SELECT gpu FROM jobs WHERE submission_id = {number}"), [["H200"]])


@test
def deadlines_quotas_and_closed_leaderboards_are_refused_with_a_sentence():
	popcorn = program("ada")
	sql("UPDATE leaderboards SET deadline = '2020-01-01' WHERE name = 'other'")
	with refused(400, "The deadline of other has passed (2020-01-01 00:00 UTC)"):
		popcorn.submit("other", "H200", "test", source())
	with refused(400, "The deadline of other has passed"):
		popcorn.stream("other", "H200", "test", source()).result()
	sql("UPDATE leaderboards SET deadline = NULL, accepting = 0 WHERE name = 'other'")
	with refused(400, "other is closed"):
		popcorn.submit("other", "H200", "test", source())
	sql(
		"UPDATE leaderboards SET accepting = 1 WHERE name = 'other'; INSERT INTO "
		"leaderboard_quotas (leaderboard_id, mode, most, hours) "
		"SELECT id, 'benchmark', 1, 24 FROM leaderboards WHERE name = 'other'"
	)
	popcorn.submit("other", "H200", "benchmark", source())
	with refused(429, "24 hours"):
		popcorn.submit("other", "H200", "benchmark", source())
	with refused(429, "24 hours"):
		popcorn.stream("other", "H200", "benchmark", source()).result()
	sql("DELETE FROM leaderboard_quotas")


# ---- own submissions ----


@test
def own_submissions_can_be_listed_shown_and_deleted_and_others_cannot():
	popcorn, stranger = program("ada"), program("bob")
	rows = like(popcorn.submissions("small"), "submissions")
	equal([row["id"] for row in rows], sorted((row["id"] for row in rows), reverse=True))
	equal(len(popcorn.submissions("small", 2)), 2)
	ranked = [row for row in rows if row["runs"][0]["score"] is not None]
	equal(ranked[0]["runs"], [{"gpu_type": "H200", "score": 0.002, "verdict": "passed"}])
	for limit in ("0", "101", "x"):
		with refused(400, "limit must be a whole number from 1 to 100"):
			popcorn.ask("GET", f"/user/submissions?leaderboard=small&limit={limit}")
	equal(
		[row["id"] for row in popcorn.ask("GET", "/user/submissions?limit=1&offset=1")],
		[popcorn.ask("GET", "/user/submissions?limit=2")[1]["id"]],
	)
	number = ranked[0]["id"]
	equal(stranger.submissions("small"), [])
	with refused(403, "Not authorized to view this submission"):
		stranger.poll(number)
	with refused(403, "Not authorized to delete this submission"):
		stranger.ask("DELETE", f"/user/submissions/{number}")
	for missing in ("99999999", "0", "x", "9" * 30):
		with refused(404):
			popcorn.poll(missing)
	equal(like(popcorn.delete(number), "deleted")["submission_id"], number)
	equal(number in [row["id"] for row in popcorn.submissions("small")], False)
	with refused(404, "Submission not found", f"{site.url}/submission/{number}"):
		popcorn.poll(number)
	equal(number_of(f"SELECT COUNT(*) FROM submissions WHERE id = {number}"), 1)
	equal(number_of(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {number}"), 0)


@test
def deleting_a_running_submission_ends_it():
	popcorn, gate = program("ada"), Gate()
	number = popcorn.submit("Small", "H200", "test", gate.source())
	until(lambda: popcorn.poll(number)["job"]["status"] == "running")
	equal(popcorn.delete(number)["status"], "ok")
	equal(sql(f"SELECT state FROM jobs WHERE submission_id = {number}"), [["cancelled"]])
	gate.open()


@test
def the_ranking_is_listed():
	popcorn = program("bob")
	popcorn.wait(popcorn.submit("Small", "H200", "leaderboard", source()))
	rows = Popcorn(URL).ask("GET", "/submissions/small/H200?limit=10&offset=0")
	equal(
		[(row["rank"], row["user_name"], row["submission_score"], row["gpu_type"]) for row in rows],
		[(1, "bob", 0.002, "H200")],
	)
	equal(Popcorn(URL).ask("GET", "/submission_count/small/H200"), {"count": 1})
	ada_id = number_of("SELECT id FROM users WHERE name = 'ada'")
	equal(Popcorn(URL).ask("GET", f"/submission_count/small/H200?user_id={ada_id}"), {"count": 0})


@test
def a_code_opens_a_closed_leaderboard_and_the_same_user_may_enter_it_again():
	equal(
		admin.post(
			"/admin/invites", [("leaderboard", "closed-one"), ("uses", "1"), ("note", "")]
		).status,
		303,
	)
	code = sql("SELECT code FROM invites")[0][0]
	popcorn = program("carol")
	with refused(400, "There is no such code"):
		popcorn.join("x" * 20)
	with refused(400, "Missing required field: code"):
		popcorn.ask("POST", "/user/join", {})
	with refused(400, "code must be a string"):
		popcorn.ask("POST", "/user/join", {"code": 7})
	for _ in range(2):
		equal(like(popcorn.join(code), "joined")["leaderboards"], ["closed-one"])
	with refused(400, "no uses left"):
		program("bob").join(code)
	equal(popcorn.gpus("closed-one"), ["H200"])
	contains([board["name"] for board in popcorn.leaderboards()], "closed-one")


# ---- waiting on an open connection ----


@test
def a_profile_arrives_with_report_and_files_on_the_open_connection():
	events = program("ada").stream(
		"Small", "H200", "profile", source(trace=3000, report="Throughput 93 % \u00b5s\n")
	)
	equal(
		(events.response.headers["Content-Type"], events.response.headers.get("Content-Length")),
		("text/event-stream", None),
	)
	result = like(events.result(), "event_result")
	for event, data in events.seen[:-1]:
		equal(event, "status")
		like(data, "event_status")
	contains(events.seen[0][1]["message"], "was created for H200")
	runs = result["results"][0]["runs"]
	equal(sorted(runs), ["profile.0", "test"])
	profile = like(runs["profile.0"], "profile_run")
	equal(profile["run"]["result"]["benchmark-count"], 1)
	contains(
		base64.b64decode(profile["run"]["result"]["benchmark.0.report"]).decode(),
		"Throughput 93 % \u00b5s",
	)
	archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(profile["profile"]["trace"])))
	equal(
		(archive.testzip(), [(info.filename, info.file_size) for info in archive.infolist()]),
		(None, [("profile-1.ncu-rep", 3000)]),
	)
	contains(result["reports"][0], "profile: passed")


@test
def profiles_are_polled_and_downloaded_as_a_zip_for_each_benchmark():
	make_board(admin, "several", TASK.replace("[{size: 1024}]", "[{size: 1024}, {size: 2048}]"))
	popcorn = program("ada")
	told = source(trace=3000, report="Throughput 93 % \u00b5s")
	zips = popcorn.profile("SEVERAL", told)
	number = number_of("SELECT MAX(id) FROM submissions")
	equal(sorted(zips), [f"profile-{number}-H200-{case}.zip" for case in (1, 2)])
	for case, name in enumerate(sorted(zips), 1):
		archive = zips[name]
		equal(
			(archive.testzip(), archive.namelist()),
			(None, [f"profile-{case}.ncu-rep", "ncu-details.txt"]),
		)
		equal(len(archive.read(f"profile-{case}.ncu-rep")), 3000)
		equal(archive.read("ncu-details.txt").decode(), "Throughput 93 % \u00b5s\n")
	zips = popcorn.profile("several", told, benchmark_index=1)
	equal([name.rsplit("-", 1)[1] for name in zips], ["2.zip"])
	equal(list(zips.values())[0].namelist()[0], "profile-2.ncu-rep")
	equal(site.value("SELECT mode FROM submissions ORDER BY id DESC LIMIT 1"), "profile")


@test
def a_waiting_profile_says_its_place_and_a_failed_one_says_why():
	popcorn = program("ada")
	site.hold_jobs()
	try:
		job = popcorn.start_profile("Small", source(trace=1, report="x"))
		equal(
			{key: popcorn.profile_state(job)[key] for key in ("status", "queue_position", "error")},
			{"status": "pending", "queue_position": 1, "error": None},
		)
		equal(popcorn.profile_state(job)["artifacts"], [])
	finally:
		site.release_jobs()
	verdict = {"verdict": "runtime error", "reason": "The kernel crashed."}
	with refused(0, "failed: runtime error on H200. The kernel crashed."):
		popcorn.profile("Small", source(verdict=verdict))


@test
def profiles_belong_to_their_author_and_wrong_requests_are_refused():
	popcorn, before = program("ada"), number_of("SELECT COUNT(*) FROM submissions")
	for status, words, board, fields in (
		(404, 'Leaderboard "nothing" does not exist', "nothing", {}),
		(404, "closed-one", "closed-one", {}),
		(400, "There is no benchmark 1: Small has 1", "Small", {"benchmark_index": 1}),
		(400, "benchmark_index", "Small", {"benchmark_index": "-1"}),
	):
		with refused(status, words):
			popcorn.start_profile(board, source(), **fields)
	with refused(400, "Missing required field: file"):
		popcorn.ask(
			"POST",
			"/profile",
			b'--x\r\nContent-Disposition: form-data; name="leaderboard"\r\n\r\nSmall\r\n--x--\r\n',
			{"Content-Type": "multipart/form-data; boundary=x"},
		)
	with refused(403, "lacks the scope submit"):
		program("reads").start_profile("Small", source())
	equal(number_of("SELECT COUNT(*) FROM submissions"), before)
	job = popcorn.start_profile("Small", source(trace=10, report="secret"))
	url = until(lambda: popcorn.profile_state(job)["artifacts"])[0]["url"]
	for path in (f"/jobs/{job}", url):
		with refused(403, "Not authorized"):
			program("bob").ask("GET", path)
		with refused(400, "Missing X-Popcorn-Cli-Id"):
			Popcorn(URL).ask("GET", path)
	other = popcorn.start_profile("Small", source(trace=11, report="other"))
	until(lambda: popcorn.profile_state(other)["artifacts"])
	stage = url.rsplit("/", 1)[1]
	for path in (f"{other}/{stage}", f"{job}-1/{stage}", "x", "1-", f"{job}/{stage}0"):
		with refused(404):
			popcorn.ask("GET", f"/jobs/{path}")


@test
def old_clients_wait_on_an_open_connection_in_every_mode():
	for mode, key in (("test", "test"), ("benchmark", "benchmark"), ("leaderboard", "leaderboard")):
		result = like(
			program("ada").stream("Small", "H200", mode, source()).result(), "event_result"
		)
		equal(result["results"][0]["runs"][key]["run"]["passed"], True)
	contains(result["reports"][0], "Score: 2.000000 ± 0.000020 ms\nRank: =1\n")
	unknown = source(cases=[{**CASE, "err_ns": None, "blocks": 3}], verdict={"score_err_ns": None})
	short = source(cases=[{**CASE, "mean_ns": 500.0}], verdict={"score_ns": 500.0})
	for sent, score, case in (
		(unknown, "2.000 ms ± unknown", "2.000 ms ± unknown (at least 4 blocks needed; best "),
		(short, "< 0.5 µs", "< 0.5 µs (best "),
	):
		result = program("ada").stream("Small", "H200", "leaderboard", sent).result()
		contains(result["reports"][0], f"Score: {score}\n")
		contains(result["reports"][0], f"size: 1024: {case}")
	result = (
		program("ada")
		.stream(
			"Small",
			"H200",
			"test",
			source(verdict={"verdict": "wrong answer", "reason": "Case 1 is wrong."}),
		)
		.result()
	)
	contains(result["reports"][0], "Case 1 is wrong.")


@test
def errors_before_the_stream_are_json_and_later_ones_are_events():
	popcorn = program("ada")
	for status, call in (
		(400, ("Small", "H200", "fast", source())),
		(404, ("nothing", "H200", "profile", source())),
		(400, ("Small", "T4", "profile", source())),
		(400, ("Small", "H200", "profile", b"")),
	):
		with refused(status):
			popcorn.stream(*call)
	events = popcorn.stream("Small", "H200", "profile", source("#!POPCORN leaderboard other\n"))
	equal(
		(events.response.status, events.response.headers["Content-Type"]),
		(200, "text/event-stream"),
	)
	with refused(400, 'it is for the leaderboard "other"'):
		events.result()
	like(events.seen[-1][1], "event_error")
	gate = Gate()
	events = popcorn.stream("Small", "H200", "test", gate.source())
	number = int(re.search(r"submission (\d+)", events.next()[1]["message"])[1])
	until(lambda: "runs on H200" in events.next()[1]["message"])
	popcorn.delete(number)
	gate.open()  # lets the worker finish the job
	with refused(500, "cancelled on H200"):
		events.result()


def open_streams():
	"""The number of sockets that podium-web has open. Each waiting terminal has one."""
	connections = pathlib.Path(f"/proc/{find(site.process.pid, 'podium-web')}/fd")
	return sum(is_socket(path) for path in connections.iterdir())


def is_socket(path):
	try:
		return os.readlink(path).startswith("socket:")
	except FileNotFoundError:  # podium-web has closed the descriptor meanwhile
		return False


@test
def a_closed_connection_makes_room_and_connections_are_limited_per_user_and_in_total():
	gate, streams, before = Gate(), [], open_streams()
	for name, count in (("ada", 8), ("bob", 4)):
		streams += [
			program(name).stream("Small", "H200", "test", gate.source()) for _ in range(count)
		]
	submissions = number_of("SELECT COUNT(*) FROM submissions")
	with refused(503, "8 of your terminals already wait", "Nothing was submitted"):
		program("ada").stream("Small", "H200", "test", gate.source())
	with refused(503, f"{STREAMS} terminals already wait", "Nothing was submitted"):
		program("bob").stream("Small", "H200", "test", gate.source())
	equal(number_of("SELECT COUNT(*) FROM submissions"), submissions)
	# Pages still answer, because waiting terminals occupy no thread.
	for _ in range(20):
		equal(ada.get("/").status, 200)
	for events in streams[:6]:
		events.close()
	until(lambda: open_streams() <= before + STREAMS - 6)
	more = program("ada").stream("Small", "H200", "test", gate.source())
	gate.open()
	for events in (*streams[6:], more):
		like(events.result(), "event_result")
	until(lambda: open_streams() <= before)


@test
def a_slow_reader_delays_no_one():
	"""One client does not read its answer, which is larger than the buffers of nginx and the
	sockets."""
	slow = program("ada").stream(
		"Small", "H200", "profile", source(trace=6_000_000, report="x"), timeout=120
	)
	number = int(re.search(r"submission (\d+)", slow.next()[1]["message"])[1])
	until(
		lambda: number_of(
			f"SELECT COUNT(*) FROM jobs WHERE submission_id = {number} AND state = 'done'"
		)
		== 1
	)
	for _ in range(3):
		like(program("bob").stream("Small", "H200", "test", source()).result(), "event_result")
	result = slow.result()
	equal(
		len(
			zipfile.ZipFile(
				io.BytesIO(
					base64.b64decode(result["results"][0]["runs"]["profile.0"]["profile"]["trace"])
				)
			).read("profile-1.ncu-rep")
		),
		6_000_000,
	)


@test
def files_that_are_too_large_are_replaced_by_the_submissions_address():
	result = (
		program("ada")
		.stream("Small", "H200", "profile", source(trace=9_000_000, report="x"), timeout=120)
		.result()
	)
	profile = result["results"][0]["runs"]["profile.0"]["profile"]
	equal(
		(profile["trace"], profile["download_url"]),
		("", f"{site.url}/submission/{result['submission_id']}"),
	)


# ---- linking an id that the client made ----


@test
def an_id_made_by_the_client_gives_no_access_before_its_owner_links_it():
	popcorn = Popcorn(URL)
	line = popcorn.register("github")
	like({"state": popcorn.cli_id}, "auth_init")
	equal(line, f"cli_id: {popcorn.cli_id}\n")
	equal(
		number_of(
			"SELECT COUNT(*) FROM terminals WHERE secret_hash = "
			f"UNHEX(SHA2('{popcorn.cli_id}', 256))"
		),
		1,
	)
	equal(
		number_of(
			f"SELECT COUNT(*) FROM terminals WHERE LOCATE('{popcorn.cli_id}', CONCAT_WS(' "
			"', prefix, "
			"name, user_agent, user_code)) > 0"
		),
		0,
	)
	with refused(401, f"{site.url}/device"):
		popcorn.submissions("small")
	equal(len({Popcorn(URL).register() for _ in range(3)}), 3)
	for provider in ("google", ""):
		with refused(400, "Invalid provider"):
			popcorn.ask("GET", f"/auth/init?provider={provider}")


@test
def the_owner_sees_who_asks_and_confirming_makes_an_ordinary_token():
	popcorn = Popcorn(URL)
	line = popcorn.register()
	asked = carol.post("/device", [("code", line.strip())])
	equal(asked.status, 200)
	for words in (
		"Is this your terminal?",
		popcorn.cli_id[:13] + "…",
		"popcorn-cli",
		"127.0.0.1 , the same as this browser’s",
		"see what you see, with your own sources",
		"submit, cancel, ask, register, and change notifications and teams",
		"Confirm only an id from your own file.",
	):
		contains(asked.words(), words)
	with refused(401):
		popcorn.submissions("small")  # opening the page does not confirm
	done = carol.post(
		"/device",
		[("code", line.strip()), ("name", "popcorn-cli"), ("days", "90"), ("answer", "confirm")],
	)
	equal((done.status, done.location), (303, "/account/tokens?signed_in=1"))
	contains(carol.get(done.location).words(), "The terminal is signed in.")
	number = popcorn.submit("Small", "H200", "test", source())
	equal(
		sql(
			f"SELECT name FROM users u JOIN submissions s ON s.user_id = u.id WHERE s.id = {number}"
		),
		[["carol"]],
	)
	with refused(401, "Invalid admin token"):
		Popcorn(URL, admin_token="podium_x").ask("POST", "/admin/stop", admin=True)
	again = ada.post("/device", [("code", line.strip())])
	equal(again.status, 422)
	contains(again.words(), "No terminal waits with this code")
	token = number_of("SELECT id FROM api_tokens WHERE name = 'popcorn-cli'")
	equal(
		carol.post(
			"/account/tokens/revoke", [("token", token), ("confirm", "yes")], form="/account/tokens"
		).status,
		303,
	)
	with refused(401):
		popcorn.submissions("small")


@test
def an_id_must_be_linked_within_an_hour():
	popcorn = Popcorn(URL)
	line = popcorn.register()
	sql(
		"UPDATE terminals SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE "
		f"secret_hash = UNHEX(SHA2('{popcorn.cli_id}', 256))"
	)
	contains(carol.post("/device", [("code", line)]).words(), "No terminal waits with this code")
	equal(
		carol.post(
			"/device", [("code", line), ("name", "late"), ("days", "90"), ("answer", "confirm")]
		).status,
		422,
	)
	with refused(401):
		popcorn.submissions("small")
	equal(number_of("SELECT COUNT(*) FROM api_tokens WHERE name = 'late'"), 0)


# ---- signing in with a code ----


def begin(name="my laptop", **more):
	answer = Program(site.url).ask(
		"POST", "/api/v1/device/code", {"name": name, **more}, {"User-Agent": "podium/0.1"}
	)
	equal(answer.status, 200)
	return answer.json


def ask_again(offer):
	answer = Program(site.url).ask(
		"POST", "/api/v1/device/token", {"device_code": offer["device_code"]}
	)
	if answer.status == 200:
		return answer.json
	equal(
		(answer.status, answer.headers["Content-Type"], answer.json["status"]),
		(400, "application/problem+json", 400),
	)
	return answer.json["error"]


def age(offer, seconds):
	"""Moves the last poll of the sign-in this many seconds into the past."""
	sql(
		f"UPDATE terminals SET polled_at = polled_at - INTERVAL {seconds} SECOND WHERE "
		f"secret_hash = UNHEX(SHA2('{offer['device_code']}', 256))"
	)


@test
def a_terminal_shows_a_code_and_is_signed_in_after_confirmation():
	offer = begin()
	equal(
		(offer["verification_uri"], offer["interval"], offer["expires_in"]),
		(f"{site.url}/device", 5, 600),
	)
	assert re.fullmatch(r"[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}", offer["user_code"]), offer
	equal(ask_again(offer), "authorization_pending")
	equal(ask_again(offer), "slow_down")
	equal(number_of(f"SELECT interval_s FROM terminals WHERE name = 'my laptop'"), 10)
	age(offer, 10)
	equal(ask_again(offer), "authorization_pending")
	login = Client(site.url).get(f"/device?code={offer['user_code']}")
	equal(
		(login.status, login.location), (303, f"/login?next=/device%3Fcode%3D{offer['user_code']}")
	)
	contains(ada.get(f"/device?code={offer['user_code']}").text, f'value="{offer["user_code"]}"')
	asked = ada.post("/device", [("code", offer["user_code"].lower().replace("-", " "))])
	for words in (
		offer["user_code"],
		"my laptop",
		"podium/0.1",
		"127.0.0.1 , the same as this browser’s",
		"see what you see",
		"if your own terminal shows exactly this code",
	):
		contains(asked.words(), words)
	lacks(asked.words(), "use the panel")
	age(offer, 10)
	equal(ask_again(offer), "authorization_pending")
	answered = ada.post(
		"/device",
		[
			("code", offer["user_code"]),
			("name", "my laptop"),
			("days", "30"),
			("answer", "confirm"),
		],
	)
	equal((answered.status, answered.location), (303, "/account/tokens?signed_in=1"))
	signed = ask_again(offer)
	equal((signed["user"], signed["scopes"]), ("ada", ["read", "submit"]))
	equal(ask_again(offer), signed)  # again, in case the answer got lost
	equal(Program(site.url, signed["token"]).read("/api/v1/me")["token"], "my laptop")
	ada.post(
		"/account/tokens/revoke",
		[
			("token", number_of("SELECT id FROM api_tokens WHERE name = 'my laptop'")),
			("confirm", "yes"),
		],
		form="/account/tokens",
	)
	equal(ask_again(offer), "access_denied")


@test
def a_refused_or_late_terminal_gets_an_error():
	offer = begin()
	answered = ada.post("/device", [("code", offer["user_code"]), ("answer", "refuse")])
	equal(answered.location, "/device?refused=1")
	contains(ada.get(answered.location).words(), "You refused the terminal.")
	equal(ask_again(offer), "access_denied")
	offer = begin()
	sql("UPDATE terminals SET expires_at = UTC_TIMESTAMP(3) WHERE user_id IS NULL")
	equal(ask_again(offer), "expired_token")
	equal(ask_again({"device_code": "podium_" + "x" * 43}), "expired_token")
	equal(ada.post("/device", [("code", offer["user_code"])]).status, 422)


@test
def a_terminal_gets_the_scopes_it_asked_for_that_its_owner_has():
	offer = begin("panel", scopes=["read", "admin"])
	asked = ada.post("/device", [("code", offer["user_code"])])
	lacks(asked.words(), "use the panel")
	ada.post(
		"/device",
		[("code", offer["user_code"]), ("name", "panel"), ("days", "0"), ("answer", "confirm")],
	)
	equal(ask_again(offer)["scopes"], ["read"])
	offer = begin("panel", scopes=["admin"])
	contains(
		ada.post("/device", [("code", offer["user_code"])]).words(),
		"which your account does not have",
	)
	equal(
		ada.post(
			"/device",
			[("code", offer["user_code"]), ("name", "x"), ("days", "0"), ("answer", "confirm")],
		).status,
		422,
	)
	contains(
		admin.post("/device", [("code", offer["user_code"])]).words(), "use the panel as you may"
	)
	admin.post(
		"/device",
		[
			("code", offer["user_code"]),
			("name", "panel of mine"),
			("days", "0"),
			("answer", "confirm"),
		],
	)
	equal(ask_again(offer)["scopes"], ["admin"])
	for body, words in (
		({"name": "x", "scopes": ["root"]}, "no scope of this name"),
		({"name": "a\nb"}, "one line"),
		({"name": ""}, "is empty"),
		({"name": "x" * 65}, "one line"),
		({"name": "x", "colour": "red"}, "colour"),
	):
		answer = Program(site.url).ask("POST", "/api/v1/device/code", body)
		equal(answer.status, 400)
		contains(answer.json["detail"], words)


@test
def a_taken_token_name_gets_a_number_and_the_form_keeps_its_input():
	begin_name = make_token(bob, "box", "read") and "box"
	offer = begin(begin_name)
	asked = bob.post("/device", [("code", offer["user_code"])])
	contains(asked.text, 'name="name" value="box 2"')
	again = bob.post(
		"/device",
		[("code", offer["user_code"]), ("name", "box"), ("days", "7"), ("answer", "confirm")],
	)
	equal(again.status, 409)
	contains(again.words(), "You already have a token with this name")
	contains(again.text, '<option value="7" selected>')
	hostile = begin("<b>\u00fc</b>")
	contains(bob.post("/device", [("code", hostile["user_code"])]).words(), "<b>\u00fc</b>")


@test
def guessing_codes_is_rate_limited():
	statuses = [bob.post("/device", [("code", "BCDF-BCDF")]).status for _ in range(11)]
	equal((set(statuses[:10]), statuses[10]), ({422}, 429))
	offer = begin()
	contains(
		bob.post("/device", [("code", offer["user_code"])]).words(),
		"You entered too many codes that no terminal shows",
	)
	wrong = "SELECT hits FROM rate_limits WHERE subject = 'terminal code carol'"
	equal(carol.post("/device", [("code", offer["user_code"])]).status, 200)
	before = sql(wrong)
	for _ in range(3):
		equal(carol.post("/device", [("code", offer["user_code"])]).status, 200)
	equal(sql(wrong), before)  # only wrong codes count


# ---- the admin commands ----


def panel():
	return Popcorn(URL, admin_token=tokens["admin"])


def command(method, path, body=None):
	"""Runs an admin command. Returns its answer, an object whose `status` is "ok"."""
	answer = panel().ask(method, path, body, admin=True)
	equal(answer["status"], "ok")
	return answer


ADMIN_CALLS = (
	("POST", "/admin/start"),
	("POST", "/admin/stop"),
	("GET", "/admin/stats"),
	("GET", "/admin/submissions/1"),
	("DELETE", "/admin/submissions/1"),
	("POST", "/admin/leaderboards"),
	("DELETE", "/admin/leaderboards/Small"),
	("POST", "/admin/update-problems"),
	("POST", "/admin/invites"),
	("GET", "/admin/leaderboards/Small/invites"),
	("DELETE", "/admin/invites/x"),
	("GET", "/admin/leaderboards/Small/submissions"),
	("POST", "/admin/leaderboards/Small/visibility"),
	("GET", "/admin/leaderboards/Small/rate-limits"),
	("PUT", "/admin/leaderboards/Small/rate-limits"),
	("DELETE", "/admin/leaderboards/Small/rate-limits/test"),
)


@test
def admin_commands_need_an_admin_with_an_admin_token():
	tokens["whole"] = make_token(admin, "without admin", "read", "submit")
	before = sql(
		"SELECT COUNT(*), (SELECT COUNT(*) FROM leaderboards), (SELECT COUNT(*) FROM invites) "
		"FROM audit_log"
	)
	for method, path in ADMIN_CALLS:
		with refused(401, "Missing Authorization header"):
			Popcorn(URL).ask(method, path, admin=True)
		with refused(401, "Invalid admin token"):
			Popcorn(URL, admin_token="None").ask(method, path, admin=True)
		with refused(403, "lacks the scope admin"):
			Popcorn(URL, admin_token=tokens["whole"]).ask(method, path, admin=True)
		with refused(403, "lacks the scope admin"):
			Popcorn(URL, admin_token=tokens["ada"]).ask(method, path, admin=True)
	sql(
		"UPDATE api_tokens t JOIN users u ON u.id = t.user_id SET t.scopes = 'admin' WHERE u.name "
		"= 'ada' AND t.name = 'reads'"
	)
	for method, path in ADMIN_CALLS:  # a token from before its owner lost the role
		with refused(403):
			Popcorn(URL, admin_token=tokens["reads"]).ask(method, path, admin=True)
	equal(
		sql(
			"SELECT COUNT(*), (SELECT COUNT(*) FROM leaderboards), (SELECT COUNT(*) FROM invites) "
			"FROM audit_log"
		),
		before,
	)


@test
def an_admin_stops_and_starts_taking_submissions():
	for _ in range(2):
		equal(command("POST", "/admin/stop")["accepts_jobs"], False)
	with refused(400, "Podium accepts no submissions"):
		program("ada").submit("Small", "H200", "test", source())
	contains(
		ada.post(
			"/leaderboard/Small/submit", [("mode", "test"), ("gpu", "H200"), ("code", "# {}")]
		).words(),
		"Podium accepts no submissions",
	)
	contains(ada.get("/leaderboard/Small/submit").words(), "Podium accepts no submissions")
	equal(command("POST", "/admin/start")["accepts_jobs"], True)
	program("ada").wait(program("ada").submit("Small", "H200", "test", source()))
	equal(
		sql("SELECT action, actor FROM audit_log WHERE action LIKE 'intake.%' ORDER BY id"),
		[["intake.stop", "root-of-all"], ["intake.start", "root-of-all"]],
	)


@test
def an_admin_reads_the_sites_counts():
	stats = command("GET", "/admin/stats")["stats"]
	equal(
		(stats["num_submissions"], stats["num_users"]),
		(number_of("SELECT COUNT(*) FROM submissions"), 3),
	)
	equal(
		(
			stats["num_run.H200"] > 5,
			stats["runs_scored.H200"] > 1,
			stats["sub_waiting"],
			"num_unique_codes" in stats,
		),
		(True, True, 0, True),
	)
	day = command("GET", "/admin/stats?last_day_only=true")["stats"]
	equal(
		(
			day["num_submissions"],
			"num_unique_codes" in day,
			any(name.startswith("total.") for name in day),
		),
		(stats["num_submissions"], False, True),
	)
	sql("UPDATE submissions SET submitted_at = submitted_at - INTERVAL 2 DAY WHERE id = 1")
	equal(
		command("GET", "/admin/stats?last_day_only=true")["stats"]["num_submissions"],
		stats["num_submissions"] - 1,
	)
	equal(command("GET", "/admin/stats?leaderboard_name=nothing")["stats"]["num_submissions"], 0)


@test
def an_admin_sees_and_deletes_any_submission():
	popcorn = program("bob")
	number = popcorn.submit("Small", "H200", "leaderboard", source())
	popcorn.wait(number)
	shown = command("GET", f"/admin/submissions/{number}")["submission"]
	equal(
		(
			shown["submission_id"],
			shown["code"].encode(),
			shown["done"],
			shown["job_status"],
			len(shown["runs"]),
		),
		(number, source(), True, "succeeded", 2),
	)
	equal(
		command("GET", "/admin/leaderboards/small/submissions?limit=1")["submission_ids"], [number]
	)
	for _ in range(2):
		equal(command("DELETE", f"/admin/submissions/{number}")["submission_id"], number)
	equal(ada.get(f"/submission/{number}").status, 404)
	contains(bob.get(f"/submission/{number}").words(), "It was deleted with popcorn-cli.")
	with refused(404, "Submission not found"):
		panel().ask("GET", "/admin/submissions/99999999", admin=True)


@test
def an_admin_makes_lists_and_revokes_codes():
	made = command("POST", "/admin/invites", {"leaderboards": ["closed-one", "small"], "count": 3})
	equal((made["leaderboards"], len(set(made["codes"]))), (["closed-one", "small"], 3))
	equal(sorted(program("bob").join(made["codes"][0])["leaderboards"]), ["Small", "closed-one"])
	listed = {
		invite["code"]: invite
		for invite in command("GET", "/admin/leaderboards/closed-one/invites")["invites"]
	}
	used, open_one = listed[made["codes"][0]], listed[made["codes"][1]]
	equal(
		(used["user_name"], used["user_id"], bool(used["claimed_at"]), bool(used["created_at"])),
		("bob", sql("SELECT id FROM users WHERE name = 'bob'")[0][0], True, True),
	)
	equal((open_one["user_name"], open_one["user_id"], open_one["claimed_at"]), (None, None, None))
	equal(command("DELETE", f"/admin/invites/{made['codes'][0]}")["was_claimed"], True)
	equal(command("DELETE", f"/admin/invites/{made['codes'][1]}")["was_claimed"], False)
	with refused(404, "Invite code not found"):
		command("DELETE", f"/admin/invites/{made['codes'][1]}")
	with refused(400, "was revoked"):
		program("ada").join(made["codes"][1])
	for body, words in (
		({"count": 3}, "Must provide 'leaderboards' list"),
		({"leaderboards": ["Small"]}, "count must be an integer between 1 and 10000"),
		({"leaderboards": ["Small"], "count": 10001}, "count must be"),
		({"leaderboards": ["Small"], "count": "3"}, "count must be a whole number"),
		({"leaderboard": "nothing", "count": 1}, "no leaderboard named nothing"),
	):
		with refused(400, words):
			command("POST", "/admin/invites", body)


@test
def an_admin_publishes_limits_and_deletes_a_leaderboard():
	equal(
		command("POST", "/admin/leaderboards/other/visibility", {"visibility": "closed"})[
			"visibility"
		],
		"closed",
	)
	with refused(404):
		Popcorn(URL).gpus("other")
	command("POST", "/admin/leaderboards/other/visibility", {"visibility": "public"})
	with refused(400, "visibility must be"):
		command("POST", "/admin/leaderboards/other/visibility", {"visibility": "hidden"})
	command(
		"PUT",
		"/admin/leaderboards/other/rate-limits",
		{"mode_category": "test", "max_submissions_per_hour": 1},
	)
	equal(
		command("GET", "/admin/leaderboards/other/rate-limits")["rate_limits"],
		[{"mode_category": "test", "max_submissions_per_hour": 1.0}],
	)
	program("ada").submit("other", "H200", "test", source())
	with refused(429):
		program("ada").submit("other", "H200", "test", source())
	command("DELETE", "/admin/leaderboards/other/rate-limits/test")
	equal(command("GET", "/admin/leaderboards/other/rate-limits")["rate_limits"], [])
	with refused(400, "above 0"):
		command(
			"PUT",
			"/admin/leaderboards/other/rate-limits",
			{"mode_category": "test", "max_submissions_per_hour": 0},
		)
	with refused(400, "mode_category must be"):
		command(
			"PUT",
			"/admin/leaderboards/other/rate-limits",
			{"mode_category": "all", "max_submissions_per_hour": 1},
		)
	with refused(400, "Could not delete leaderboard `other`", "--force"):
		command("DELETE", "/admin/leaderboards/other")
	equal(command("DELETE", "/admin/leaderboards/other?force=true")["leaderboard"], "other")
	with refused(404):
		Popcorn(URL).gpus("other")


def write_problem(name, task):
	folder = problems / "problems" / name
	folder.mkdir(parents=True, exist_ok=True)
	(folder / "task.yml").write_text(task)
	(folder / "eval.py").write_text("")


@test
def an_admin_loads_leaderboards_from_the_folder_of_problems():
	write_problem("first", TASK + "gpus: [H200]\n")
	write_problem("second", TASK)
	for name in ("one", "two"):
		(problems / "problems" / f"{name}.yaml").write_text(
			f"name: {name}\ndescription: A set.\nproblems:\n"
			f"  - {{directory: first, name: {name}-first, deadline: '2099-01-01', gpus: "
			f"[H200]}}\n  - {{directory: missing, name: {name}-gone, deadline: ''}}\n"
		)
	order = {"repository": "gpu-mode/reference-kernels", "branch": "main", "force": False}
	done = command(
		"POST", "/admin/update-problems", {**order, "problem_set": "one", "visibility": "closed"}
	)
	equal(
		(
			done["created"],
			done["updated"],
			done["skipped"],
			[entry["name"] for entry in done["errors"]],
		),
		(["one-first"], [], [], ["one-gone"]),
	)
	equal(done["closed"], [])
	waiting = "SELECT l.visibility, p.visibility FROM leaderboards l JOIN publications p ON "
	waiting += "p.leaderboard_id = l.id WHERE l.name = 'one-first'"
	equal(sql(waiting), [["hidden", "closed"]])
	equal(
		command("POST", "/admin/leaderboards/one-first/visibility", {"visibility": "public"})[
			"visibility"
		],
		"hidden",
	)
	equal(sql(waiting), [["hidden", "public"]])
	done = command("POST", "/admin/update-problems", order)
	equal(
		(done["created"], done["skipped"]),
		(["two-first"], [{"name": "one-first", "reason": "no changes"}]),
	)
	write_problem("first", TASK.replace("1024", "2048") + "gpus: [H200]\n")
	done = command("POST", "/admin/update-problems", {**order, "problem_set": "one"})
	equal(
		(done["updated"], done["skipped"]),
		([], [{"name": "one-first", "reason": "significant task changes require --force"}]),
	)
	done = command("POST", "/admin/update-problems", {**order, "problem_set": "one", "force": True})
	equal((done["updated"], done["skipped"]), (["one-first"], []))
	with refused(404, 'no set named "three"'):
		command("POST", "/admin/update-problems", {**order, "problem_set": "three"})
	equal(
		command("POST", "/admin/leaderboards", {"directory": "first"})["leaderboard"], "first-dev"
	)
	site.publish("first-dev")
	equal(Popcorn(URL).gpus("first-dev"), ["H200"])
	write_problem("deep/far/lonely", TASK)
	write_problem("deep/near/twin", TASK)
	write_problem("deep/far/twin", TASK)
	made = command("POST", "/admin/leaderboards", {"directory": "lonely"})
	equal(made["leaderboard"], "lonely-dev")
	for directory in ("near/twin", "problems/deep/near/twin"):
		made = command("POST", "/admin/leaderboards", {"directory": directory})
		equal(made["leaderboard"], "twin-dev")
	for directory, words in (
		("twin", 'several tasks named "twin". Name one of: problems/deep/far/twin, problems/deep'),
		("in", 'has no task "in". Name one of: problems/deep/far/lonely, '),
		("missing", "Invalid problem directory"),
		("../../etc", "Invalid problem directory"),
		('a"b', "Invalid problem directory"),
	):
		with refused(400, words):
			command("POST", "/admin/leaderboards", {"directory": directory})
	with refused(400, "Missing required field: directory"):
		command("POST", "/admin/leaderboards", {})


@test
def problems_whose_deadline_has_passed_become_closed_boards():
	write_problem("over", TASK + "gpus: [H200]\n")
	write_problem("open", TASK + "gpus: [H200]\n")
	(problems / "problems" / "ended.yaml").write_text(
		"name: ended\nproblems:\n"
		"  - {directory: over, name: long-over, deadline: '2020-01-01'}\n"
		"  - {directory: open, name: still-open, deadline: '2099-01-01'}\n"
	)
	order = {"problem_set": "ended"}
	done = command("POST", "/admin/update-problems", order)
	equal((done["created"], done["closed"]), (["long-over", "still-open"], ["long-over"]))
	equal(
		sql("SELECT name, practice FROM leaderboards WHERE name IN ('long-over', 'still-open')"),
		[["long-over", "1"], ["still-open", "0"]],
	)
	done = command("POST", "/admin/update-problems", order)
	equal(
		([entry["reason"] for entry in done["skipped"]], done["closed"]),
		(["no changes", "no changes"], []),
	)
	# The board takes practice, and without practice nothing.
	site.publish("long-over")
	client = program("ada")
	_, answer = client.wait(client.submit("long-over", "H200", "leaderboard", source()))
	equal(answer["job"]["status"], "succeeded")
	equal(number_of(f"SELECT practice FROM submissions WHERE id = {answer['id']}"), 1)
	sql("UPDATE leaderboards SET practice = FALSE WHERE name = 'long-over'")
	with refused(400, "deadline"):
		client.submit("long-over", "H200", "test", source())


@test
def a_score_has_as_many_digits_as_its_error_deserves():
	told = {"cases": [{**CASE, "mean_ns": 31904.6}]}
	for err_ns, score in ((100.0, "0.0000319"), (1.0, "0.0000319046"), (None, "0.0000319")):
		sent = source(
			**told, verdict={"score_ns": 31904.6, "score_err_ns": err_ns}, nth=str(err_ns)
		)
		_, answer = program("ada").wait(program("ada").submit("small", "H200", "leaderboard", sent))
		(shown,) = [run["score"] for run in answer["runs"] if run["score"] is not None]
		equal(f"{shown:.10f}".rstrip("0"), score)
		listed = [row for row in program("ada").submissions("small") if row["id"] == answer["id"]]
		equal(listed[0]["runs"][0]["score"], shown)


# ---- while the database is away ----


@test
def polling_returns_the_last_state_while_the_database_is_away():
	popcorn, gate = program("ada"), Gate()
	known, unknown = (popcorn.submit("Small", "H200", "test", gate.source()) for _ in range(2))
	until(lambda: popcorn.poll(known)["job"]["status"] == "running")
	stream = program("bob").stream("Small", "H200", "test", source())
	database = site.database.process.pid
	os.kill(database, signal.SIGSTOP)
	try:
		with refused(503, "does not answer"):
			while True:
				popcorn.leaderboards()
		equal(popcorn.profile_state(known)["status"], "pending")
		for number, status in ((known, "running"), (unknown, "pending")):
			answer = like(popcorn.poll(number), "submission")
			equal(
				(answer["id"], answer["done"], answer["job"]["status"], answer["code"]),
				(number, False, status, ""),
			)
		equal(
			program("bob").poll(known)["job"]["status"], "pending"
		)  # bob does not get the state that ada polled last
		with refused(503):
			popcorn.submit("Small", "H200", "test", source())
		with refused(503):
			popcorn.ask("DELETE", f"/user/submissions/{known}")
	finally:
		os.kill(database, signal.SIGCONT)
	until(lambda: popcorn.poll(known)["code"])
	gate.open()
	popcorn.wait(known)
	like(stream.result(), "event_result")


@test
def polling_returns_pending_while_podium_web_restarts():
	popcorn, place = program("ada"), site.var / "run" / "web.sock"
	place.rename(place.with_suffix(".away"))
	try:
		answer = like(popcorn.poll(7), "submission")
		equal((answer["id"], answer["done"], answer["job"]["status"]), (7, False, "pending"))
		equal([popcorn.profile_state(job)["status"] for job in ("7", "7-1")], ["pending"] * 2)
		for call in (
			lambda: popcorn.ask("DELETE", "/user/submissions/7"),
			popcorn.leaderboards,
			lambda: popcorn.submit("Small", "H200", "test", source()),
			lambda: popcorn.stream("Small", "H200", "profile", source()),
		):
			with refused(503, "does not answer"):
				call()
	finally:
		place.with_suffix(".away").rename(place)
	equal(popcorn.poll(program("ada").submissions("small")[0]["id"])["code"] != "", True)


@test
def a_stopping_server_tells_waiting_clients_that_the_submission_continues():
	gate = Gate()
	events = program("ada").stream("Small", "H200", "test", gate.source())
	number = int(re.search(r"submission (\d+)", events.next()[1]["message"])[1])
	got = []
	reader = threading.Thread(target=lambda: got.append(outcome(events)))
	reader.start()
	os.kill(find(site.process.pid, "podium-web"), signal.SIGTERM)
	reader.join(60)
	gate.open()
	site.stop()
	equal(got[0].status, 503)
	contains(got[0].detail, f"Submission {number} continues")
	lacks((site.var / "log" / "web.log").read_text(errors="replace"), "Sanitizer")


def outcome(events):
	try:
		return events.result()
	except (Refused, Broken) as reason:
		return reason


status = run()
site.remove()
shutil.rmtree(problems)
sys.exit(status)
