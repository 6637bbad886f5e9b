#!/usr/bin/env python3
"""/api/v1: authentication, parameters, errors, lists and caching, then each call. A stand-in for
podium-run reports what each submission tells it to."""

import gzip
import hashlib
import http.client
import io
import json
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
import contract  # noqa: E402
from client import Answer, Client  # noqa: E402
from held import Held, beside  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
import mariadb  # noqa: E402
from plans import COPY, MEMSET, figure, kernel, plan_sql, plan_text  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import make_board  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

mariadb.use_own_server()
site = Instance(pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="100000")
sql = site.sql
PASSWORD = "a long password"
ada, bob, admin = (Client(site.url) for _ in range(3))
nobody = Program(site.url)
tokens = {}


def problem(answer, status, code, *words):
	"""Checks that the answer is an error document (RFC 9457) with this status, this code and these
	words. Returns the document."""
	equal((answer.status, answer.headers["Content-Type"]), (status, "application/problem+json"))
	body = answer.json
	equal(
		(body["status"], body["code"], body["type"], bool(body["title"]), bool(body["instance"])),
		(status, code, "about:blank", True, True),
	)
	for word in words:
		contains(body["detail"], word)
	return body


def program(name):
	return Program(site.url, tokens[name])


@test
def a_site_with_users_and_tokens():
	for client, name in ((ada, "ada"), (bob, "bob")):
		client.register(name)
	one_time = (site.var / "admin-password").read_text().split()[-1]
	equal(admin.post("/login", [("name", "admin"), ("password", one_time)]).status, 303)
	equal(
		admin.post(
			"/account/password",
			[("current", one_time), ("password", PASSWORD), ("again", PASSWORD)],
			form="/account",
		).status,
		303,
	)
	make_board(admin, "small")
	make_board(admin, "other")
	tokens.update(
		ada=make_token(ada, "all", "read", "submit"),
		reads=make_token(ada, "reads", "read"),
		bob=make_token(bob, "all", "read", "submit"),
		sends=make_token(ada, "sends", "submit"),
		admin=make_token(admin, "all", "read", "submit", "admin"),
	)


# ---- authentication ----


@test
def a_token_takes_one_query_and_identifies_its_user():
	me = program("ada").read("/api/v1/me")
	equal(
		(me["user"], me["role"], me["scopes"], me["token"], me["expires_at"]),
		("ada", "participant", ["read", "submit"], "all", None),
	)
	equal(program("admin").read("/api/v1/me")["scopes"], ["read", "submit", "admin"])
	equal(program("sends").read("/api/v1/me")["scopes"], ["submit"])
	site.sql("SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = 1")
	program("ada").read("/api/v1/me")
	site.sql("SET GLOBAL general_log = 0")
	asked = [
		row[0]
		for row in sql(
			"SELECT LEFT(argument, 6) FROM mysql.general_log WHERE command_type = 'Execute' AND "
			"argument LIKE '%api_tokens%'"
		)
	]
	equal(asked, ["SELECT"])


@test
def a_site_without_providers_and_mail_says_so():
	# tests/integration/site/sign_in.test.py and mail.test.py have both.
	equal(program("ada").read("/api/v1/me/identities"), {"identities": []})
	address = "/api/v1/me/notifications"
	for answer in (program("ada").ask("GET", address), program("ada").ask("PUT", address, {})):
		equal((answer.status, answer.json["detail"]), (404, "This site sends no e-mail."))


@test
def missing_and_invalid_tokens_get_different_errors():
	for secret in ("podium_" + "x" * 43, "x", ""):
		answer = nobody.ask("GET", "/api/v1", headers={"Authorization": f"Bearer {secret}"})
		if secret:
			problem(answer, 401, "invalid_token", "unknown, expired or revoked")
			equal(answer.headers["WWW-Authenticate"], 'Bearer error="invalid_token"')
	answer = nobody.ask("GET", "/api/v1", headers={"Authorization": "Basic YTpi"})
	problem(answer, 401, "invalid_request", "the word Bearer")
	answer = nobody.ask("GET", "/api/v1/me")
	problem(answer, 401, "token_missing", "needs a token")
	equal(answer.headers["WWW-Authenticate"], "Bearer")


@test
def a_revoked_an_expired_and_a_banned_users_token_are_refused():
	late = make_token(ada, "late", "read", days="1")
	equal(Program(site.url, late).read("/api/v1/me")["token"], "late")
	sql(
		"UPDATE api_tokens SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name = "
		"'late'"
	)
	problem(Program(site.url, late).ask("GET", "/api/v1/me"), 401, "invalid_token")
	revoked = make_token(ada, "revoked", "read")
	sql("DELETE FROM api_tokens WHERE name IN ('late', 'revoked')")
	problem(Program(site.url, revoked).ask("GET", "/api/v1/me"), 401, "invalid_token")
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'bob'")
	problem(program("bob").ask("GET", "/api/v1"), 401, "invalid_token")
	sql("UPDATE users SET banned_at = NULL WHERE name = 'bob'")


@test
def a_session_cookie_does_not_authenticate():
	problem(ada.request("GET", "/api/v1/me"), 401, "token_missing")


# ---- addresses, queries and bodies ----


@test
def an_unknown_address_is_a_problem_document_and_no_page():
	for path in ("/api/v1/nothing", "/api/v1/", "/api/v1/me/"):
		problem(program("ada").ask("GET", path), 404, "not_found")
	answer = program("ada").ask("DELETE", "/api/v1/me")
	problem(answer, 405, "method")
	equal(answer.headers["Allow"], "GET, HEAD")
	contains(nobody.get("/api/v10").text, "<!doctype html>")
	equal(nobody.ask("HEAD", "/api/v1").status, 200)


@test
def an_unknown_parameter_is_refused_by_name():
	body = problem(
		nobody.ask("GET", "/api/v1?color=red"), 400, "unknown_name", "no parameter named color"
	)
	equal(body["errors"][0]["field"], "color")
	body = problem(
		nobody.ask("GET", "/api/v1?x" + 60 * "%C3%A9"), 400, "unknown_name", "named x" + 49 * "é"
	)
	equal(body["errors"][0]["field"], "x" + 19 * "é")


@test
def an_empty_value_is_not_a_missing_one():
	ask = program("admin").ask
	for path, name in (
		("leaderboards/small?version=", "version"),
		("submissions?mode=", "mode"),
		("admin/audit?to=", "to"),
		("leaderboards?cursor=", "cursor"),
	):
		body = problem(ask("GET", f"/api/v1/{path}"), 400, "invalid", f"parameter {name} is empty")
		equal(body["errors"][0]["field"], name)
	path = "/api/v1/admin/announcements"
	for member, words in (
		({"until": ""}, "member until is empty"),
		({"leaderboard": ""}, "member leaderboard is empty"),
		({"text": None}, "member text is null"),
	):
		body = problem(ask("POST", path, {"text": "Hello", **member}), 400, "invalid", words)
		equal(body["errors"][0]["field"], list(member)[0])
	equal(ask("GET", path).json["items"], [])
	problem(
		ask("PATCH", "/api/v1/admin/leaderboards/small", {"visibility": None}),
		400,
		"invalid",
		"member visibility is null",
	)
	problem(program("ada").hand_in("small", fields=[("mode", "")]), 400, "invalid", "mode is empty")
	for value in None, "":
		answer = ask("PATCH", "/api/v1/admin/leaderboards/small", {"license": value})
		equal((answer.status, answer.json["license"]), (200, None))


@test
def errors_of_popcorns_addresses_have_a_detail():
	answer = nobody.ask("GET", "/popcorn/nothing/there")
	equal((answer.status, list(answer.json)), (404, ["detail"]))
	answer = nobody.ask(
		"GET", "/popcorn/user/submissions", headers={"X-Popcorn-Cli-Id": "podium_" + "x" * 43}
	)
	equal((answer.status, list(answer.json)), (401, ["detail"]))
	equal(
		nobody.ask(
			"GET", "/popcorn/nothing/there", headers={"X-Popcorn-Cli-Id": tokens["ada"]}
		).status,
		404,
	)


@test
def errors_made_by_nginx_have_the_same_form():
	too_much = b"x" * (10 * 1024 * 1024 + 1)
	answer = nobody.ask("POST", "/api/v1/submissions", too_much)
	equal(
		(answer.status, answer.headers["Content-Type"], answer.json["code"]),
		(413, "application/problem+json", "too_large"),
	)
	answer = nobody.ask("POST", "/popcorn/submission/small/H200/test", too_much)
	equal(
		(answer.status, answer.headers["Content-Type"], list(answer.json)),
		(413, "application/json", ["detail"]),
	)


def send_line(line, *headers):
	"""Sends a first line and headers as they are. Returns the answer, whatever its form."""
	with socket.create_connection(("127.0.0.1", site.port)) as connection:
		lines = [line, b"Host: podium", b"Connection: close", *headers, b"", b""]
		connection.sendall(b"\r\n".join(lines))
		answer = http.client.HTTPResponse(connection)
		answer.begin()
		return Answer(answer)


@test
def errors_of_nginx_and_of_unreadable_addresses_have_the_form_of_the_interface():
	cases = [
		(b"GET %sx%%00 HTTP/1.1", [], 400),
		(b"GET %sx%%01 HTTP/1.1", [], 400),
		(b"GET %sx%%ff HTTP/1.1", [], 400),
		(b"GET %sx\x01y HTTP/1.1", [], 400),
		(b"GET http://podium%sx%%00 HTTP/1.1", [], 400),
		(b"GET %sx HTTP/1.1", [b"X-Long: " + 9000 * b"x"], 400),
		(b"GET %sx HTTP/1.1", [b"Content-Length: x"], 400),
		(b"GET %sx HTTP/1.1", [b"Transfer-Encoding: x"], 400),
		(b"GET %sx HTTP/9.1", [], 400),
		(b"GET %s" + 9000 * b"x" + b" HTTP/1.1", [], 414),
	]
	for prefix, content_type in (
		(b"/api/v1/", "application/problem+json"),
		(b"/popcorn/", "application/json"),
		(b"/", "text/html; charset=utf-8"),
	):
		for line, headers, status in cases:
			answer = send_line(line % prefix, *headers)
			equal(
				(line[:30], prefix, answer.status, answer.headers["Content-Type"]),
				(line[:30], prefix, status, content_type),
			)
			if content_type == "application/problem+json":
				contract.check(
					{"$ref": "#/components/schemas/Problem"}, answer.json, str(line[:30])
				)
				equal((answer.json["status"], bool(answer.json["detail"])), (status, True))


@test
def a_method_that_nginx_refuses_gets_the_methods_of_the_address():
	for path, allowed in (
		(b"/api/v1/me", "GET, HEAD"),
		(b"/api/v1/submissions/1/note", "PUT"),
		(b"/api/v1/admin/leaderboards/small", "GET, HEAD, PATCH, DELETE"),
	):
		for method in (b"TRACE", b"CONNECT", b"OPTIONS", b"PROPFIND"):
			answer = send_line(b"%s %s HTTP/1.1" % (method, path))
			problem(answer, 405, "method")
			equal((method, answer.headers["Allow"]), (method, allowed))


# ---- caching ----


@test
def an_answer_has_an_etag_and_a_client_that_knows_it_gets_304():
	for who in (nobody, program("ada")):
		first = who.ask("GET", "/api/v1")
		tag = first.headers["ETag"]
		equal((first.status, tag[0] + tag[-1]), (200, '""'))
		for known in (tag, f'"other", {tag}', f"W/{tag}"):
			again = who.ask("GET", "/api/v1", headers={"If-None-Match": known})
			equal((again.status, again.bytes, again.headers["ETag"]), (304, b"", tag))
		equal(who.ask("GET", "/api/v1", headers={"If-None-Match": '"other"'}).status, 200)
	equal(program("ada").ask("GET", "/api/v1").headers["Cache-Control"], "private, no-cache")


def caching_of(path, least):
	"""The cache states that nginx logged for an address, once there are at least `least`. nginx
	writes its log every few seconds."""

	def found():
		log = (site.var / "log" / "nginx-access.log").read_text()
		lines = [json.loads(line) for line in log.splitlines()]
		return sorted(
			line["cache"] or "-"
			for line in lines
			if (line["method"], line["path"]) == ("GET", path)
		)

	until(lambda: len(found()) >= least, explain=found)
	return found()


@test
def an_answer_to_a_token_is_never_served_to_another_client():
	path = "/api/v1/me"
	for headers in (
		{"Authorization": f"Bearer {tokens['ada']}"},
		{"Authorization": f"Bearer {tokens['admin']}"},
	):
		names = {nobody.ask("GET", path, headers=headers).json["user"] for _ in range(2)}
		equal(names, {"ada"} if tokens["ada"] in headers["Authorization"] else {"admin"})
		problem(nobody.ask("GET", path), 401, "token_missing")
	# Public answers come from nginx's cache. Answers for a user are neither stored in the cache nor
	# taken from it.
	for _ in range(20):
		nobody.ask("GET", "/api/v1/queue")
	for header in ("Authorization", "X-Popcorn-Cli-Id"):
		nobody.ask("GET", "/leaderboard/small", headers={header: "Bearer x"})
	equal(
		("HIT" in caching_of("/api/v1/queue", 20), caching_of("/leaderboard/small", 2)),
		(True, ["BYPASS", "BYPASS"]),
	)
	lacks(caching_of("/api/v1/me", 6), "HIT")


# ---- leaderboards ----


@test
def leaderboards_are_listed_page_by_page():
	names = [item["name"] for item in nobody.all_of("/api/v1/leaderboards", limit=3)]
	equal(
		(names[:2], names),
		(
			["other", "small"],
			[row[0] for row in sql("SELECT name FROM leaderboards ORDER BY id DESC")],
		),
	)
	page = nobody.ask("GET", "/api/v1/leaderboards?limit=1&state=active")
	equal((page.json["items"][0]["gpus"], page.json["items"][0]["state"]), (["H200"], "active"))
	equal(
		page.headers["Link"],
		f'</api/v1/leaderboards?limit=1&state=active&cursor={page.json["next"]}>; rel="next"',
	)
	equal(nobody.read("/api/v1/leaderboards", state="ended"), {"items": [], "next": None})
	problem(nobody.ask("GET", "/api/v1/leaderboards?state=gone"), 400, "invalid", "no state")
	for query in ("limit=0", "limit=101", "limit=x", "cursor=x", "cursor=", "cursor=MSAy"):
		equal(
			problem(nobody.ask("GET", "/api/v1/leaderboards?" + query), 400, "invalid")["errors"][
				0
			]["field"],
			query.split("=")[0],
		)


@test
def a_leaderboard_describes_its_task_and_rules():
	board = nobody.read("/api/v1/leaderboards/small")
	contains(board["engine_reason"], "eval.py is not a harness that Podium knows")
	equal(
		(board["description"], board["engine"], board["cases"], board["quotas"]),
		("A small task.", "custom", {"tests": ["size: 1"], "benchmarks": ["size: 1024"]}, None),
	)
	equal(program("ada").read("/api/v1/leaderboards/small")["quotas"], [])
	problem(
		nobody.ask("GET", "/api/v1/leaderboards/nothing"),
		404,
		"not_found",
		'no leaderboard named "nothing"',
	)


@test
def a_task_has_its_definition_and_its_files():
	task = nobody.read("/api/v1/leaderboards/small/task")
	equal(
		(task["version"], [file["path"] for file in task["files"]], task["definition"]["main"]),
		(1, ["eval.py", "task.yml"], "eval.py"),
	)
	for file in task["files"]:
		answer = nobody.ask("GET", f"/api/v1/leaderboards/small/files/{file['path']}")
		equal(
			(answer.status, len(answer.bytes), hashlib.sha256(answer.bytes).hexdigest()),
			(200, file["size_bytes"], file["sha256"]),
		)
		equal(answer.headers["Content-Type"], "text/plain; charset=utf-8")
	template = nobody.read("/api/v1/leaderboards/vectoradd_py/task")["templates"][0]
	answer = nobody.ask(
		"GET", f"/api/v1/leaderboards/vectoradd_py/templates/{template['language'].upper()}"
	)
	contains(answer.text, "def custom_kernel")
	contains(answer.headers["Content-Disposition"], template["file_name"])
	problem(
		nobody.ask("GET", "/api/v1/leaderboards/small/files/none.py"),
		404,
		"not_found",
		'no file "none.py"',
	)
	problem(
		nobody.ask("GET", "/api/v1/leaderboards/small/templates/Rust"),
		404,
		"not_found",
		'no template for "Rust"',
	)


# ---- submissions ----


def source(mean_ns=1000.0, **more):
	"""A source for which the stand-in for podium-run reports this time."""
	case = {
		"runs": 101,
		"mean_ns": mean_ns,
		"std_ns": 5.0,
		"err_ns": 2.0,
		"best_ns": mean_ns - 20,
		"worst_ns": mean_ns + 20,
	}
	return ("# " + json.dumps({"cases": [case], **more}) + "\n").encode()


def settled(who, number):
	until(
		lambda: who.read(f"/api/v1/submissions/{number}/status")["state"]
		not in ("queued", "running")
	)
	return who.read(f"/api/v1/submissions/{number}")


def ranked(who, mean_ns, **more):
	answer = who.hand_in(
		"small", source=source(mean_ns, **more), fields=[("mode", "ranked"), ("gpu", "H200")]
	)
	equal(answer.status, 201)
	return settled(who, answer.json["id"])


@test
def a_submission_by_form_or_json_ends_with_its_results():
	answer = program("ada").hand_in(
		"small", "mine.py", source(), [("mode", "ranked"), ("gpu", "H200"), ("note", "first try")]
	)
	made = answer.json
	equal((answer.status, answer.headers["Location"]), (201, f"/api/v1/submissions/{made['id']}"))
	equal(
		(
			made["user"],
			made["file_name"],
			made["note"],
			made["mode"],
			[job["gpu"] for job in made["jobs"]],
		),
		("ada", "mine.py", "first try", "ranked", ["H200"]),
	)
	done = settled(program("ada"), made["id"])
	job = done["jobs"][0]
	equal(
		(done["state"], done["verdict"], job["rank"], job["personal_best"], job["score_ns"]),
		("done", "passed", 1, True, 1000.0),
	)
	equal([stage["name"] for stage in job["stages"]], ["compile", "test", "ranked"])
	case = job["stages"][2]["cases"][0]
	equal(
		(case["spec"], case["runs"], case["mean_ns"], case["best_ns"], case["median_ns"]),
		("size: 1024", 101, 1000.0, 980.0, None),
	)
	made = program("bob").ask(
		"POST",
		"/api/v1/leaderboards/small/submissions",
		{
			"file_name": "theirs.py",
			"code": source(2000.0).decode(),
			"mode": "ranked",
			"gpus": ["H200"],
			"note": None,
		},
	)
	equal((made.status, made.json["file_name"]), (201, "theirs.py"))
	equal(settled(program("bob"), made.json["id"])["jobs"][0]["rank"], 2)


@test
def an_invalid_submission_is_refused_with_the_field_at_fault():
	def refused(body, field, *words):
		equal(
			problem(
				program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", body),
				400,
				"invalid",
				*words,
			)["errors"][0]["field"],
			field,
		)

	refused({"code": "x", "mode": "fast"}, "mode", "no mode")
	refused({"code": "x"}, "mode", "Choose a mode")
	refused({"file": "x", "mode": "test", "gpus": ["B200"]}, "gpus", 'has no "B200"')
	refused({"code": "x", "mode": "test", "gpus": "H200"}, "gpus", "array of strings")
	refused({"code": 5, "mode": "test"}, "code", "a string")
	refused({"mode": "test"}, "file", "exactly once")
	refused({"file": "x", "code": "x", "mode": "test"}, "file", "exactly once")
	refused({"file": 5, "mode": "test"}, "file", "a string")
	refused({"file": "", "mode": "test"}, "file", "empty")
	refused({"code": "", "mode": "test"}, "code", "empty")
	refused({"code": "x", "mode": "test", "gpu": "H200"}, "gpu", "in gpus")
	refused({"code": "x", "mode": "test", "file_name": "x.txt"}, "file", ".py")
	problem(
		program("ada").ask(
			"POST",
			"/api/v1/leaderboards/small/submissions",
			{"code": "x", "mode": "test", "colour": 1},
		),
		400,
		"unknown_name",
		"colour",
	)
	for body, status, code in (
		(b"{", 400, "invalid"),
		(b"[]", 400, "invalid"),
		(b'{"mode": "test", "mode": "test"}', 400, "invalid"),
		(b'{"code": "\\u0000"}', 400, "invalid"),
		(b"", 400, "invalid"),
		(b'{"a":' * 5000, 413, "too_large"),
	):
		problem(
			program("ada").ask(
				"POST",
				"/api/v1/leaderboards/small/submissions",
				body,
				{"Content-Type": "application/json"},
			),
			status,
			code,
		)
	problem(
		program("ada").ask(
			"POST",
			"/api/v1/leaderboards/small/submissions",
			b"mode=test",
			{"Content-Type": "text/plain"},
		),
		415,
		"media_type",
	)
	problem(
		program("ada").ask(
			"POST",
			"/api/v1/leaderboards/small/submissions",
			b"x" * (8 << 20),
			{"Content-Type": "application/json"},
		),
		413,
		"too_large",
	)
	problem(
		program("ada").ask(
			"POST", "/api/v1/leaderboards/none/submissions", {"code": "x", "mode": "test"}
		),
		404,
		"not_found",
	)
	problem(
		nobody.ask("POST", "/api/v1/leaderboards/small/submissions", {"code": "x", "mode": "test"}),
		401,
		"token_missing",
	)
	refusal = program("reads").ask(
		"POST", "/api/v1/leaderboards/small/submissions", {"code": "x", "mode": "test"}
	)
	problem(refusal, 403, "insufficient_scope", "lacks the scope submit")
	equal(refusal.headers["WWW-Authenticate"], 'Bearer error="insufficient_scope", scope="submit"')
	problem(
		program("sends").ask("GET", "/api/v1/submissions"),
		403,
		"insufficient_scope",
		"lacks the scope read",
	)


@test
def a_key_makes_one_submission_however_often_it_is_sent():
	who, body = program("ada"), {"code": source().decode(), "mode": "test", "note": "once"}

	def send(key, who=who, **more):
		return who.ask(
			"POST",
			"/api/v1/leaderboards/small/submissions",
			{**body, **more},
			{"Idempotency-Key": key},
		)

	first, again = send("key-of-ada"), send("key-of-ada")
	equal(
		(first.status, again.status, again.json["id"], again.headers["Location"]),
		(201, 201, first.json["id"], first.headers["Location"]),
	)
	equal(
		(first.headers["Idempotency-Replayed"], again.headers["Idempotency-Replayed"]),
		(None, "true"),
	)
	problem(send("key-of-ada", note="twice"), 409, "idempotency_key", "for another request")
	equal(send("key-of-ada", program("bob")).json["user"], "bob")
	problem(send("key-of-a-mistake", mode="fast"), 400, "invalid")
	equal(send("key-of-a-mistake").status, 201)  # a failed request does not use up its key
	for key in ("short", "with a space", "x" * 129):
		equal(problem(send(key), 400, "invalid")["errors"][0]["field"], "Idempotency-Key")
	sql(
		"UPDATE idempotency_keys SET created_at = UTC_TIMESTAMP(3) - INTERVAL 25 HOUR WHERE name "
		"= 'key-of-ada'"
	)
	assert send("key-of-ada").json["id"] != first.json["id"]


@test
def of_two_requests_with_the_same_key_at_once_one_submits_and_one_is_refused():
	who, body = program("ada"), {"code": source().decode(), "mode": "test"}
	count = "SELECT COUNT(*) FROM submissions"
	before = int(sql(count)[0][0])
	# The test locks the user's row, so both requests wait in the database before one is stored.
	with Held(site, "SELECT id FROM users WHERE name = 'ada' FOR UPDATE") as held:
		join = beside(
			*[
				lambda: who.ask(
					"POST",
					"/api/v1/leaderboards/small/submissions",
					body,
					{"Idempotency-Key": "at-the-same-moment"},
				)
			]
			* 2
		)
		held.wait_for_others(2)
		held.commit()
		answers = join()
	equal(
		([answer.status for answer in answers], len({answer.json["id"] for answer in answers})),
		([201, 201], 1),
	)
	equal(int(sql(count)[0][0]), before + 1)
	# Requests at the same time with different keys do not fail; they are stored one after the
	# other.
	send = lambda number: lambda: who.ask(
		"POST",
		"/api/v1/leaderboards/small/submissions",
		body,
		{"Idempotency-Key": f"one-of-many-{number}"},
	).status
	equal(beside(*map(send, range(12)))(), [201] * 12)
	equal(int(sql(count)[0][0]), before + 13)


@test
def a_quota_is_shown_before_and_after_it_is_used_up():
	sql(
		"INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) SELECT id, 'test', 1, "
		"2 FROM leaderboards WHERE name = 'other'"
	)
	who = program("bob")
	equal(
		who.read("/api/v1/leaderboards/other")["quotas"],
		[{"mode": "test", "limit": 1, "window_s": 7200, "used": 0, "remaining": 1, "wait_s": 0}],
	)
	equal(who.hand_in("other", source=source()).status, 201)
	refusal = who.hand_in("other", source=source())
	problem(refusal, 429, "quota", "is used up")
	(quota,) = who.read("/api/v1/leaderboards/other")["quotas"]
	equal(
		(
			quota["used"],
			quota["remaining"],
			abs(quota["wait_s"] - int(refusal.headers["Retry-After"])) < 60,
		),
		(1, 0, True),
	)
	sql("DELETE FROM leaderboard_quotas")


@test
def own_submissions_are_listed_and_filtered():
	who = program("ada")
	own = who.all_of("/api/v1/submissions", limit=2)
	equal(
		[item["id"] for item in own],
		[
			int(row[0])
			for row in sql(
				"SELECT s.id FROM submissions s JOIN users u ON u.id = s.user_id WHERE "
				"u.name = 'ada' "
				"ORDER BY s.id DESC"
			)
		],
	)
	equal({item["mode"] for item in who.all_of("/api/v1/submissions", mode="ranked")}, {"ranked"})
	settled(who, own[0]["id"])
	equal([item for item in who.all_of("/api/v1/submissions", verdict="wrong answer")], [])
	equal(
		{
			item["verdict"]
			for item in who.all_of(
				"/api/v1/submissions", state="done", leaderboard="small", gpu="H200"
			)
		},
		{"passed"},
	)
	for query, field in (
		("mode=x", "mode"),
		("verdict=x", "verdict"),
		("state=x", "state"),
		("gpu=%3C", "gpu"),
		("leaderboard=%3C", "leaderboard"),
		("state=done&verdict=passed", "state"),
	):
		equal(
			problem(who.ask("GET", "/api/v1/submissions?" + query), 400, "invalid")["errors"][0][
				"field"
			],
			field,
		)
	problem(nobody.ask("GET", "/api/v1/submissions"), 401, "token_missing")


@test
def the_status_says_how_long_to_wait_and_shows_live_output():
	who, gate = program("ada"), site.var / "until"
	prints = [
		{"stdout": "begun\n", "stderr": ""},
		{"stdout": "begun\nhalf\n", "stderr": "a warning\n"},
	]
	code = "# " + json.dumps({"cases": [], "prints": prints, "until": str(gate)}) + "\n"
	number = who.ask(
		"POST", "/api/v1/leaderboards/small/submissions", {"code": code, "mode": "test"}
	).json["id"]
	until(lambda: who.read(f"/api/v1/submissions/{number}/output")["stderr"] == "a warning\n")
	output = who.read(f"/api/v1/submissions/{number}/output", gpu="H200")
	equal((output["live"], output["stage"], output["stdout"]), (True, "test", "begun\nhalf\n"))
	status = who.ask("GET", f"/api/v1/submissions/{number}/status")
	(job,) = status.json["jobs"]
	equal(
		(status.json["state"], status.json["poll_s"], job["state"], job["stage"], job["progress"]),
		("running", 1, "running", "test 0/9", {"done": 0, "of": 9}),
	)
	equal(
		who.ask(
			"GET",
			f"/api/v1/submissions/{number}/status",
			headers={"If-None-Match": status.headers["ETag"]},
		).status,
		304,
	)
	problem(
		program("bob").ask("GET", f"/api/v1/submissions/{number}/output"),
		403,
		"forbidden",
		"author",
	)
	problem(
		who.ask("GET", f"/api/v1/submissions/{number}/output?gpu=B200"), 404, "not_found", "B200"
	)
	waiting = program("bob").hand_in("small", source=source()).json
	gate.touch()
	equal(
		(settled(who, number)["state"], settled(program("bob"), waiting["id"])["state"]),
		("done", "done"),
	)
	problem(
		who.ask("GET", "/api/v1/submissions/999999/status"),
		404,
		"not_found",
		"no submission with this number",
	)
	problem(
		who.ask("GET", "/api/v1/submissions/x"), 404, "not_found", "no submission with this number"
	)


@test
def a_queued_submission_can_be_cancelled_by_its_author_and_admins():
	who, gate = program("ada"), site.var / "until-2"
	busy = [
		who.hand_in(
			"small",
			source=("# " + json.dumps({"cases": [], "prints": [], "until": str(gate)})).encode(),
		).json["id"]
		for _ in range(2)
	]
	number = who.hand_in("small", source=source()).json["id"]
	(job,) = who.read(f"/api/v1/submissions/{number}/status")["jobs"]
	equal((job["state"], job["position"] >= 1, bool(job["message"])), ("queued", True, True))
	(line,) = [line for line in nobody.read("/api/v1/queue")["items"] if line["gpu"] == "H200"]
	equal(line["devices"], 2)
	problem(
		program("bob").ask("POST", f"/api/v1/submissions/{number}/cancel"),
		403,
		"forbidden",
		"Only its author",
	)
	problem(
		program("reads").ask("POST", f"/api/v1/submissions/{number}/cancel"),
		403,
		"insufficient_scope",
		"submit",
	)
	problem(who.ask("POST", f"/api/v1/submissions/{number}/withdraw"), 409, "conflict")
	problem(
		Program(site.url, make_token(admin, "no admin", "read", "submit")).ask(
			"POST", f"/api/v1/submissions/{number}/cancel"
		),
		403,
		"insufficient_scope",
		"admin",
	)
	problem(
		who.ask("POST", f"/api/v1/submissions/{number}/cancel", {"number": 1}), 400, "unknown_name"
	)
	equal(
		(
			who.ask("POST", f"/api/v1/submissions/{number}/cancel").json["state"],
			sql("SELECT COUNT(*) FROM audit_log WHERE action = 'submission.cancel'")[0][0],
		),
		("cancelled", "0"),
	)
	equal(program("admin").ask("POST", f"/api/v1/submissions/{busy[0]}/cancel").status, 200)
	equal(sql("SELECT COUNT(*) FROM audit_log WHERE action = 'submission.cancel'")[0][0], "1")
	gate.touch()
	equal([settled(who, one)["state"] for one in busy], ["cancelled", "done"])


@test
def own_submissions_can_be_withdrawn_restored_and_annotated():
	number = ranked(program("ada"), 900.0)["id"]
	equal(nobody.read("/api/v1/leaderboards/small/rankings")["items"][0]["submission"], number)
	for _ in range(2):
		equal(
			program("ada").ask("POST", f"/api/v1/submissions/{number}/withdraw").json["withdrawn"],
			True,
		)
	assert nobody.read(fresh_rankings())["items"][0]["submission"] != number
	equal(
		program("ada").ask("POST", f"/api/v1/submissions/{number}/restore").json["withdrawn"], False
	)
	equal(
		program("ada").read("/api/v1/leaderboards/small/rankings")["items"][0]["submission"], number
	)
	for deed in ("withdraw", "restore"):
		problem(
			program("admin").ask("POST", f"/api/v1/submissions/{number}/{deed}"),
			403,
			"forbidden",
			"Only its author",
		)
	path = f"/api/v1/submissions/{number}/note"
	equal(
		program("ada").ask("PUT", path, {"note": "tiles of 64 · unrolled"}).json["note"],
		"tiles of 64 · unrolled",
	)
	equal(program("ada").ask("PUT", path, {"note": ""}).json["note"], "")
	for body in ({}, {"note": None}, {"note": 1}, {"note": "x" * 501}, {"note": "two\nlines"}):
		equal(
			problem(program("ada").ask("PUT", path, body), 400, "invalid")["errors"][0]["field"],
			"note",
		)
	problem(program("bob").ask("PUT", path, {"note": "mine"}), 403, "forbidden")


def fresh_rankings():
	"""An address that bypasses nginx's cache of one second, because each call has another
	`limit`."""
	fresh_rankings.limit = getattr(fresh_rankings, "limit", 51) + 1
	return f"/api/v1/leaderboards/small/rankings?gpu=H200&limit={fresh_rankings.limit}"


# ---- rankings and comparisons ----


@test
def a_ranking_is_read_page_by_page_with_ties_and_intervals():
	rows = nobody.all_of("/api/v1/leaderboards/small/rankings", limit=1, gpu="H200")
	equal(
		[(row["rank"], row["user"], row["score_ns"], row["tie"]) for row in rows],
		[(1, "ada", 900.0, False), (2, "bob", 2000.0, False)],
	)
	boards = nobody.read("/api/v1/leaderboards", limit=98)["items"]
	devices = {board["name"]: board["devices"] for board in boards}
	best = {
		"gpu": "H200",
		"accepting": True,
		"participants": 2,
		"score_ns": 900.0,
		"floor_ns": None,
		"user": "ada",
	}
	equal([one for one in devices["small"] if one["gpu"] == "H200"], [best])
	nothing = {
		"accepting": True,
		"participants": 0,
		"score_ns": None,
		"floor_ns": None,
		"user": None,
	}
	equal(devices["other"], [{"gpu": "H200", **nothing}])
	for board in boards:
		equal([one["gpu"] for one in board["devices"]], board["gpus"])
	equal(
		(
			round(rows[0]["lower_ns"], 1),
			round(rows[0]["upper_ns"], 1),
			rows[0]["language"],
			rows[0]["attempts"],
		),
		(880.4, 919.6, "python", 2),
	)
	problem(
		nobody.ask("GET", "/api/v1/leaderboards/small/rankings?gpu=B200"), 404, "not_found", "B200"
	)


@test
def two_submissions_are_compared_by_device_and_by_source_if_it_is_visible():
	((a,),), ((b,),) = (
		sql(
			"SELECT MIN(s.id) FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
			"j.score_ns = 1000"
		),
		sql(
			"SELECT MAX(s.id) FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
			"j.score_ns = 900"
		),
	)
	answer = program("ada").read("/api/v1/compare", a=a, b=b)
	(gpu,) = answer["gpus"]
	score, case = gpu["score"], gpu["cases"][0]
	equal(
		(score["verdict"], score["ratio"], case["spec"], case["verdict"], case["a_ns"]),
		("faster", 0.9, "size: 1024", "faster", 1000.0),
	)
	assert score["lower"] < 0.9 < score["upper"] < 1, score
	contains(answer["diff"], f"--- {a}/mine.py\n+++ {b}/answer.py\n@@ -1,1 +1,1 @@\n-# ")
	equal(
		(
			program("ada").read("/api/v1/compare", a=a, b=a)["diff"],
			program("bob").read("/api/v1/compare", a=a, b=b)["diff"],
		),
		("", None),
	)
	for query, status in ((f"a={a}", 400), ("a=1&b=x", 400), (f"a={a}&b=99999", 404)):
		equal(nobody.ask("GET", "/api/v1/compare?" + query).status, status)


@test
def the_samples_of_each_case_are_given_unchanged():
	((number,),) = sql(
		"SELECT MAX(s.id) FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
		"j.score_ns = 900"
	)
	equal(nobody.read(f"/api/v1/submissions/{number}/samples", gpu="H200")["cases"], [])
	sql(f"""UPDATE measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id
		SET m.samples = UNHEX('{struct.pack("<3f", 899.5, float("nan"), 901.0).hex()}'),
			m.blocks = 3 WHERE j.submission_id = {number} AND t.name = 'ranked'""")
	equal(
		program("bob").read(f"/api/v1/submissions/{number}/samples")["cases"],
		[
			{
				"stage": "ranked",
				"index": 0,
				"spec": "size: 1024",
				"blocks": 3,
				"samples_ns": [899.5, None, 901.0],
			}
		],
	)


@test
def profiles_are_for_those_who_may_see_the_source():
	number = ranked(program("ada"), 960.0)["id"]
	path, packed = f"/api/v1/submissions/{number}", gzip.compress(b"a profile " * 100)
	sql(f"""SET @stage = (SELECT MAX(t.id) FROM stages t JOIN jobs j ON j.id = t.job_id
		WHERE j.submission_id = {number});
		UPDATE measurements SET report = 'Speed of light: 71 %' WHERE stage_id = @stage;
		INSERT INTO artifacts (stage_id, name, size) VALUES (@stage, 'profile.ncu-rep', 1000);
		INSERT INTO artifact_parts (artifact_id, part, content)
			VALUES (LAST_INSERT_ID(), 0, UNHEX('{packed.hex()}'))""")
	stage = program("ada").read(path)["jobs"][0]["stages"][-1]
	(artifact,) = stage["artifacts"]
	equal(
		(stage["cases"][0]["report"], artifact["name"], artifact["size_bytes"]),
		("Speed of light: 71 %", "profile.ncu-rep", 1000),
	)
	file = program("ada").ask("GET", f"{path}/artifacts/{artifact['id']}")
	equal(
		(file.bytes, file.headers["Content-Type"]),
		(b"a profile " * 100, "application/octet-stream"),
	)
	for who in (program("bob"), nobody):
		stage = who.read(path)["jobs"][0]["stages"][-1]
		equal((stage["cases"][0]["report"], stage["artifacts"]), (None, []))
		problem(who.ask("GET", f"{path}/artifacts/{artifact['id']}"), 403, "forbidden", "author's")
	problem(program("ada").ask("GET", f"{path}/artifacts/999"), 404, "not_found", "no such file")


@test
def plans_are_for_those_who_may_see_the_source():
	number = ranked(program("ada"), 970.0)["id"]
	path = f"/api/v1/submissions/{number}"
	stage = sql(
		"SELECT MAX(t.id) FROM stages t JOIN jobs j ON j.id = t.job_id "
		f"WHERE j.submission_id = {number}"
	)[0][0]
	equal(program("ada").read(path)["jobs"][0]["stages"][-1]["cases"][0]["plan"], None)
	nodes = [MEMSET, kernel("_Z3addPf", shared=4096), COPY]
	times = [{"node": 0, "begin_ns": 0, "end_ns": 5}, figure(1, 5.5, 2500)]
	sql(plan_sql(stage, nodes, times))
	plan = program("ada").read(path)["jobs"][0]["stages"][-1]["cases"][0]["plan"]
	text = plan_text(nodes).encode()
	equal((plan["sha256"], plan["size_bytes"]), (hashlib.sha256(text).hexdigest(), len(text)))
	equal(
		plan["kernels"],
		[
			{
				"node": 1,
				"name": "_Z3addPf",
				"grid": [8, 1, 1],
				"block": [256, 1, 1],
				"cluster": None,
				"registers": 32,
				"local_bytes": 0,
				"static_shared_bytes": 1024,
				"dynamic_shared_bytes": 4096,
				"blocks_per_sm": 4,
				"occupancy": 0.5,
				"begin_ns": 5.5,
				"end_ns": 2500,
				"gap_ns": 0.5,
			}
		],
	)
	memset = {"node": 0, "bytes": 4096, "begin_ns": 0, "end_ns": 5, "gap_ns": 0}
	equal(plan["memsets"], [memset])
	untimed = dict.fromkeys(("begin_ns", "end_ns", "gap_ns"))
	equal(plan["copies"], [{"node": 2, "bytes": 4096, **untimed}])
	file = program("ada").ask("GET", f"{path}/plans/{plan['id']}")
	equal(file.headers["Content-Type"], "application/zip")
	with zipfile.ZipFile(io.BytesIO(file.bytes)) as archive:
		equal(archive.read("plan.json"), text)
	for who in (program("bob"), nobody):
		equal(who.read(path)["jobs"][0]["stages"][-1]["cases"][0]["plan"], None)
		problem(who.ask("GET", f"{path}/plans/{plan['id']}"), 403, "forbidden", "author's")
	problem(program("ada").ask("GET", f"{path}/plans/999"), 404, "not_found", "no such plan")


# ---- the site ----


@test
def a_user_has_ranks_and_only_admins_see_single_devices():
	user = nobody.read("/api/v1/users/bob")
	equal(
		[
			(place["leaderboard"], place["gpu"], place["rank"], place["entries"])
			for place in user["places"]
		],
		[("small", "H200", 2, 2)],
	)
	problem(nobody.ask("GET", "/api/v1/users/nobody-at-all"), 404, "not_found", "no user named")
	for who in (nobody, program("ada"), Program(site.url, make_token(admin, "reads only", "read"))):
		workers = who.read("/api/v1/workers")
		equal(
			(
				workers["devices"],
				[
					(item["gpu"], item["online"])
					for item in workers["items"]
					if item["gpu"] == "H200"
				],
			),
			(None, [("H200", 2)]),
		)
	devices = program("admin").read("/api/v1/workers")["devices"]
	equal(
		{(device["gpu"], device["state"]) for device in devices if device["gpu"] == "H200"},
		{("H200", "online")},
	)


# ---- visibility ----


def addresses(board, number):
	"""Every GET address under a leaderboard, and of a submission to that leaderboard."""
	values = {
		"name": board,
		"id": str(number),
		"path": "eval.py",
		"language": "Python",
		"artifact": "1",
		"plan": "1",
	}
	for path in contract.document()["paths"]:
		if (
			re.match(r"/api/v1/(leaderboards/\{|submissions/\{)", path)
			and "get" in contract.document()["paths"][path]
		):
			yield re.sub(r"\{(\w+)\}", lambda part: values[part[1]], path)


@test
def questions_are_asked_listed_and_marked_as_read():
	path = "/api/v1/leaderboards/small/questions"
	asked = program("ada").ask("POST", path, {"text": "May I?"})
	equal((asked.status, asked.json["own"]), (201, True))
	problem(program("ada").ask("POST", path, {"text": ""}), 400, "invalid", "Write")
	problem(program("reads").ask("POST", path, {"text": "x"}), 403, "insufficient_scope")
	equal([one["id"] for one in program("ada").read(path)["items"]], [asked.json["id"]])
	equal(program("bob").read(path)["items"], [])
	equal(program("ada").ask("POST", f"{path}/read").status, 204)


@test
def closed_and_hidden_leaderboards_exist_only_for_those_who_may_see_them():
	number = (
		program("bob").hand_in("other", source=source(), fields=[("mode", "ranked")]).json["id"]
	)
	settled(program("bob"), number)
	((other,),) = sql(
		"SELECT MAX(id) FROM submissions WHERE leaderboard_id = (SELECT id FROM leaderboards "
		"WHERE name = 'small')"
	)
	paths = list(addresses("other", number))
	equal(len(paths), 13)

	def seen(who):
		listed = "other" in [item["name"] for item in who.all_of("/api/v1/leaderboards", limit=100)]
		compared = who.ask("GET", f"/api/v1/compare?a={number}&b={other}").status == 200
		answers = {path: who.ask("GET", path) for path in paths}
		# Two answers are 404 even for users who may see the leaderboard: the task has no template,
		# and the submission has no such file.
		found = {
			path
			for path, answer in answers.items()
			if answer.status not in (404, 401)
			or any(words in answer.text for words in ("no template", "no such file"))
		}
		equal((listed, compared, len(found) > 0), (listed,) * 3)
		return len(found)

	sql("UPDATE leaderboards SET visibility = 'closed' WHERE name = 'other'")
	sql(
		"INSERT INTO leaderboard_members (leaderboard_id, user_id) SELECT l.id, u.id FROM "
		"leaderboards l JOIN users u ON u.name = 'bob' WHERE l.name = 'other'"
	)
	equal((seen(program("bob")), seen(program("ada")), seen(program("admin"))), (12, 0, 12))
	problem(
		program("ada").hand_in("other", source=source()), 404, "not_found", "no leaderboard named"
	)
	sql("UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'other'")
	equal((seen(program("bob")), seen(program("ada")), seen(program("admin"))), (0, 0, 12))
	equal(program("bob").all_of("/api/v1/submissions", leaderboard="other"), [])
	equal(
		[place["leaderboard"] for place in program("ada").read("/api/v1/users/bob")["places"]],
		["small"],
	)
	problem(program("bob").ask("POST", f"/api/v1/submissions/{number}/withdraw"), 404, "not_found")
	for path in paths + ["/api/v1/leaderboards?limit=99"]:  # as through nginx
		lacks(nobody.ask("GET", path).text, '"other"' if "?" in path else '"id"')
	sql("UPDATE leaderboards SET visibility = 'public' WHERE name = 'other'")


@test
def sources_notes_and_output_are_private_until_the_deadline():
	number = ranked(program("ada"), 950.0)["id"]
	program("ada").ask("PUT", f"/api/v1/submissions/{number}/note", {"note": "a secret"})
	sql(
		"UPDATE stages t JOIN jobs j ON j.id = t.job_id SET t.stdout = 'printed', t.stderr = "
		f"'[... 12 bytes left out ...]' WHERE j.submission_id = {number}"
	)
	own, theirs = (
		program("ada").read(f"/api/v1/submissions/{number}"),
		program("bob").read(f"/api/v1/submissions/{number}"),
	)
	equal(
		(
			own["note"],
			own["jobs"][0]["stages"][0]["output"],
			own["jobs"][0]["stages"][0]["output_cut"],
		),
		("a secret", "printed\n[... 12 bytes left out ...]", True),
	)
	equal(
		(
			theirs["note"],
			theirs["jobs"][0]["stages"][0]["output"],
			theirs["jobs"][0]["stages"][0]["output_cut"],
		),
		(None, None, False),
	)
	path = f"/api/v1/submissions/{number}/source"
	equal(program("ada").ask("GET", path).bytes, source(950.0))
	for who in (program("bob"), nobody):
		problem(who.ask("GET", path), 403, "forbidden", "source is its author's")
	equal(program("admin").ask("GET", path).status, 200)
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, "
		"sources_open = 'deadline' WHERE name = 'small'"
	)
	equal(program("bob").ask("GET", path).bytes, source(950.0))
	equal(nobody.read("/api/v1/leaderboards", state="ended")["items"][0]["name"], "small")
	problem(
		program("ada").hand_in("small", source=source()),
		400,
		"invalid",
		"deadline of small has passed",
	)
	sql("UPDATE leaderboards SET deadline = NULL, sources_open = 'never' WHERE name = 'small'")


@test
def held_times_and_hidden_submissions_are_visible_to_their_author_only():
	number = ranked(program("ada"), 940.0)["id"]
	path = f"/api/v1/submissions/{number}"
	sql(
		"UPDATE jobs SET held_at = UTC_TIMESTAMP(3), held_reason = 'Faster than the memory.' "
		f"WHERE submission_id = {number}"
	)
	sql(
		"UPDATE measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id "
		f"SET m.samples = UNHEX('0000803f') WHERE j.submission_id = {number}"
	)
	equal(
		(program("ada").read(path)["held"], program("ada").read(path)["jobs"][0]["score_ns"]),
		({"reason": "Faster than the memory."}, 940.0),
	)
	for who in (program("bob"), nobody):
		seen = who.read(path)
		equal(
			(
				seen["held"],
				seen["jobs"][0]["score_ns"],
				seen["jobs"][0]["held"],
				seen["jobs"][0]["stages"][2]["cases"],
			),
			(None, None, False, []),
		)
		lacks(json.dumps(seen), "940")
		equal([case["stage"] for case in who.read(path + "/samples")["cases"]], ["test"])
		equal(who.read(path + "/status")["jobs"][0]["score_ns"], None)
	sql(
		"UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3), hidden_reason = 'Not yours.' WHERE "
		f"id = {number}"
	)
	for end in ("", "/status", "/samples", "/source"):
		problem(program("bob").ask("GET", path + end), 404, "not_found", "is hidden")
		equal(program("ada").ask("GET", path + end).status, 200)
	equal(program("ada").read(path)["hidden"], True)
	problem(program("bob").ask("GET", f"/api/v1/compare?a={number}&b=1"), 404, "not_found")


@test
def a_result_of_a_freeze_is_visible_to_its_author_only():
	sql("UPDATE leaderboards SET frozen_at = UTC_TIMESTAMP(3) WHERE name = 'small'")
	number = ranked(program("ada"), 930.0)["id"]
	equal(program("ada").read(f"/api/v1/submissions/{number}")["jobs"][0]["score_ns"], 930.0)
	seen = program("bob").read(f"/api/v1/submissions/{number}")
	job = seen["jobs"][0]
	equal(
		(job["state"], job["verdict"], job["score_ns"], job["stages"]), ("pending", None, None, [])
	)
	sql("UPDATE leaderboards SET frozen_at = NULL WHERE name = 'small'")


# ---- limits ----


@test
def requests_are_counted_per_token_across_all_hosts():
	who = Program(site.url, make_token(ada, "counted", "read"))
	first, second = who.ask("GET", "/api/v1"), who.ask("GET", "/api/v1")
	equal(
		(first.headers["RateLimit-Limit"], 1 <= int(first.headers["RateLimit-Reset"]) <= 60),
		("100000", True),
	)
	left = [int(answer.headers["RateLimit-Remaining"]) for answer in (first, second)]
	# a new minute may have started in between
	equal(left[0] - left[1] in (1, left[0] - 99999), True)
	((number,),) = sql("SELECT id FROM api_tokens WHERE name = 'counted'")
	end = time.time() + 60
	while (answer := who.ask("GET", "/api/v1")).status == 200:
		assert time.time() < end
		# As if another host stored its count. A new minute resets the count, so repeat this.
		sql(
			f"INSERT INTO api_requests VALUES (FLOOR(UNIX_TIMESTAMP() / 60), 'token {number}', "
			"200000) ON DUPLICATE KEY UPDATE hits = 200000"
		)
		time.sleep(0.3)
	problem(answer, 429, "rate_limit", "may send 100000 requests a minute")
	equal(
		(answer.headers["RateLimit-Remaining"], answer.headers["Retry-After"]),
		("0", answer.headers["RateLimit-Reset"]),
	)
	equal(program("ada").ask("GET", "/api/v1").status, 200)
	# A cached answer must not contain the limits of the client for which it was made.
	equal(
		(
			nobody.ask("GET", "/api/v1").headers["RateLimit-Remaining"],
			"RateLimit-Remaining" in nobody.ask("GET", "/api/v1/me").headers,
		),
		(None, True),
	)


# ---- forms of other programs ----


def parts(*named):
	"""Makes a form of (headers after the name, value)."""
	body = b"".join(
		f"--edge\r\nContent-Disposition: form-data; name={name}\r\n\r\n".encode() + value + b"\r\n"
		for name, value in named
	)
	return body + b"--edge--\r\n", {"Content-Type": "multipart/form-data; boundary=edge"}


@test
def a_part_needs_no_file_name_and_old_names_of_fields_still_work():
	def sent(*named):
		path = "/api/v1/leaderboards/small/submissions"
		return program("ada").ask("POST", path, *parts(("mode", b"test"), *named))

	for name in ("file", 'file; filename=""', "code"):
		made = sent((name, b"x = 1\n"), ("gpus", b"H200"))
		equal((made.status, made.json["file_name"]), (201, "submission.py"))
		read = program("ada").ask("GET", f"/api/v1/submissions/{made.json['id']}/source")
		equal(read.text, "x = 1\n")
	made = sent(("file", b"x = 1\n"), ("file_name", b"named.py"), ("gpu", b"H200"))
	equal((made.status, made.json["file_name"]), (201, "named.py"))
	made = sent(('file; filename="a.py"', b"x = 1\n"), ("file_name", b"b.py"))
	equal((made.status, made.json["file_name"]), (201, "b.py"))
	for field, *named in (
		("file", ("file", b"x\n"), ('file; filename="a.py"', b"x\n")),
		("file", ("file", b" \n")),
		("file", ("file", b"\xff\n")),
		("code", ("code", b" \n")),
		("gpu", ("file", b"x\n"), ("gpu", b"H200"), ("gpus", b"H200")),
		("gpu", ("file", b"x\n"), ("gpu", b"B200")),
		("gpus", ("file", b"x\n"), ("gpus", b"B200")),
	):
		equal(problem(sent(*named), 400, "invalid")["errors"][0]["field"], field)


# ---- the description ----

# Calls still accept these names, but the description has only the new ones.
OLD_NAMES = {
	("post", "/api/v1/leaderboards/*/submissions"): {"code", "gpu"},
	("post", "/api/v1/admin/leaderboards"): {"gpu"},
}


def calls():
	"""Returns every row of the route tables as {(method, pattern): (access, scope, names)}."""
	return {
		(method, pattern): (
			access,
			scope,
			None if names is None else {name.rstrip("?*") for name in names},
		)
		for method, pattern, access, scope, names in route_table.calls()
	}


def described():
	"""Returns the same as calls(), but from the description of the API."""
	found = {}
	for path, methods in contract.document()["paths"].items():
		for method, call in methods.items():
			scopes = {scope for one in call["security"] for scope in one.get("token", [])}
			names = {
				name
				for node in call.get("parameters", [])
				for name in [contract.resolved(node)["name"]]
				if contract.resolved(node)["in"] == "query"
			}
			for content in call.get("requestBody", {}).get("content", {}).values():
				names |= set(contract.resolved(content["schema"]).get("properties", {}))
			found[method, contract.pattern_of(path)] = (
				{} in call["security"],
				scopes or {"0"},
				names,
			)
	return found


@test
def the_description_has_exactly_the_routes_with_their_parameters_and_access():
	routes, told = calls(), described()
	for key, names in OLD_NAMES.items():
		routes[key][2].difference_update(names)
	equal(sorted(routes), sorted(told))
	for key, (access, scope, names) in routes.items():
		anybody, scopes, described_names = told[key]
		equal(
			(key, anybody, scopes, described_names if names is not None else None),
			(key, access == "ANYONE", {scope}, names),
		)


@test
def the_description_says_which_members_may_be_null():
	for method, pattern, _, _, names in route_table.calls():
		nullable = {name.rstrip("?*") for name in names if "?" in name}
		path, call = next(
			(path, methods[method])
			for path, methods in contract.document()["paths"].items()
			if method in methods and contract.pattern_of(path) == pattern
		)
		told = {
			name
			for content in call.get("requestBody", {}).get("content", {}).values()
			for name, member in contract.resolved(content["schema"])["properties"].items()
			if "null" in member.get("type", ())
		}
		equal((method, path, nullable), (method, path, told))


@test
def the_description_is_served_and_every_call_was_tested_against_it():
	served = nobody.ask("GET", "/api/v1/openapi.json").json
	equal(served, contract.document())
	contract.jsonschema.Draft202012Validator.check_schema(
		{"$defs": served["components"]["schemas"]}
	)
	contains(
		nobody.ask("GET", "/api/v1/reference.md").text,
		"### GET /api/v1/leaderboards/{name}/rankings",
	)
	good = {(method, path) for method, path, status in contract.used if status < 300}
	own = {path.name for path in (ROOT / "docs" / "openapi").glob("*.json")} & {
		"base.json",
		"leaderboards.json",
		"site.json",
		"submissions.json",
	}
	missing = [
		(method, path)
		for name in own
		for path, methods in json.loads((ROOT / "docs" / "openapi" / name).read_text())[
			"paths"
		].items()
		for method in methods
		if (method.upper(), path) not in good
	]
	equal(missing, [])


@test
def the_reference_matches_the_description():
	reference = subprocess.run(
		[sys.executable, ROOT / "docs" / "openapi" / "reference"],
		capture_output=True,
		text=True,
		check=True,
	).stdout
	equal((ROOT / "docs" / "api.md").read_text() == reference, True)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
