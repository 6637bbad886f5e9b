#!/usr/bin/env python3
"""/api/v1 as programs see it: who asks, what a call takes, how errors and lists are written, what may be kept; then each call. The
worker's podium-run is a pretended one that says what a submission tells it to."""
import hashlib
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import make_board  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="100000")
sql = site.sql
PASSWORD = "a long password"
ada, bob, admin = (Client(site.url) for _ in range(3))
nobody = Program(site.url)
tokens = {}


def problem(answer, status, code, *words):
	"""Problem details of this status and code, with these words in its sentence."""
	equal((answer.status, answer.headers["Content-Type"]), (status, "application/problem+json"))
	body = answer.json
	equal((body["status"], body["code"], body["type"], bool(body["title"]), bool(body["instance"])), (status, code, "about:blank", True, True))
	for word in words:
		contains(body["detail"], word)
	return body


def fresh(path):
	"""Past nginx's cache of a second."""
	return f"{path}{'&' if '?' in path else '?'}{time.time()}"


def program(name):
	return Program(site.url, tokens[name])


@test
def a_site_with_users_and_tokens():
	for client, name in ((ada, "ada"), (bob, "bob")):
		equal(client.post("/register", [("name", name), ("password", PASSWORD)]).status, 303)
	one_time = (site.var / "admin-password").read_text().split()[-1]
	equal(admin.post("/login", [("name", "admin"), ("password", one_time)]).status, 303)
	equal(admin.post("/account/password", [("current", one_time), ("password", PASSWORD), ("again", PASSWORD)], form="/account").status, 303)
	make_board(admin, "small")
	tokens.update(ada=make_token(ada, "all", "read", "submit"), reads=make_token(ada, "reads", "read"), bob=make_token(bob, "all", "read", "submit"),
		sends=make_token(ada, "sends", "submit"), admin=make_token(admin, "all", "read", "submit", "admin"))


# ---- who asks ----

@test
def a_token_is_recognised_in_one_question_and_says_whose_it_is():
	me = program("ada").read("/api/v1/me")
	equal((me["user"], me["role"], me["scopes"], me["token"], me["expires_at"]), ("ada", "participant", ["read", "submit"], "all", None))
	equal(program("admin").read("/api/v1/me")["scopes"], ["read", "submit", "admin"])
	equal(program("sends").read("/api/v1/me")["scopes"], ["submit"])
	site.sql("SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = 1")
	program("ada").read("/api/v1/me")
	site.sql("SET GLOBAL general_log = 0")
	asked = [row[0] for row in sql("SELECT argument FROM mysql.general_log WHERE command_type = 'Execute' AND argument LIKE '%api_tokens%'")]
	equal([text.split()[0] for text in asked], ["SELECT"])


@test
def a_token_that_is_not_there_is_told_so_and_one_of_another_kind_too():
	for secret in ("podium_" + "x" * 43, "x", ""):
		answer = nobody.ask("GET", "/api/v1", headers={"Authorization": f"Bearer {secret}"})
		if secret:
			problem(answer, 401, "invalid_token", "not valid")
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
	sql("UPDATE api_tokens SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name = 'late'")
	problem(Program(site.url, late).ask("GET", "/api/v1/me"), 401, "invalid_token")
	revoked = make_token(ada, "revoked", "read")
	sql("DELETE FROM api_tokens WHERE name IN ('late', 'revoked')")
	problem(Program(site.url, revoked).ask("GET", "/api/v1/me"), 401, "invalid_token")
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'bob'")
	problem(program("bob").ask("GET", "/api/v1"), 401, "invalid_token")
	sql("UPDATE users SET banned_at = NULL WHERE name = 'bob'")


@test
def a_session_is_nobody_here():
	problem(ada.request("GET", "/api/v1/me"), 401, "token_missing")


# ---- addresses, queries and bodies ----

@test
def what_is_not_there_is_a_problem_and_no_page():
	for path in ("/api/v1/nothing", "/api/v1/", "/api/v1/me/"):
		problem(program("ada").ask("GET", path), 404, "not_found")
	answer = program("ada").ask("DELETE", "/api/v1/me")
	problem(answer, 405, "method")
	equal(answer.headers["Allow"], "GET, HEAD")
	contains(nobody.get("/api/v10").text, "<!doctype html>")
	equal(nobody.ask("HEAD", "/api/v1").status, 200)


@test
def a_parameter_that_the_call_does_not_take_is_refused_by_its_name():
	body = problem(nobody.ask("GET", "/api/v1?color=red"), 400, "unknown_name", "no parameter named color")
	equal(body["errors"][0]["field"], "color")


@test
def what_is_wrong_with_popcorns_addresses_is_told_as_a_detail():
	answer = nobody.ask("GET", "/popcorn/nothing/there")
	equal((answer.status, list(answer.json)), (404, ["detail"]))
	answer = nobody.ask("GET", "/popcorn/nothing/there", headers={"X-Popcorn-Cli-Id": "podium_" + "x" * 43})
	equal((answer.status, list(answer.json)), (401, ["detail"]))
	equal(nobody.ask("GET", "/popcorn/nothing/there", headers={"X-Popcorn-Cli-Id": tokens["ada"]}).status, 404)


@test
def what_nginx_refuses_by_itself_has_the_interfaces_form():
	too_much = b"x" * (10 * 1024 * 1024 + 1)
	answer = nobody.ask("POST", "/api/v1/submissions", too_much)
	equal((answer.status, answer.headers["Content-Type"], answer.json["code"]), (413, "application/problem+json", "too_large"))
	answer = nobody.ask("POST", "/popcorn/submission/small/H200/test", too_much)
	equal((answer.status, answer.headers["Content-Type"], list(answer.json)), (413, "application/json", ["detail"]))


# ---- what may be kept ----

@test
def an_answer_has_a_tag_and_whoever_knows_it_is_not_told_again():
	for who in (nobody, program("ada")):
		first = who.ask("GET", "/api/v1")
		tag = first.headers["ETag"]
		equal((first.status, tag[0] + tag[-1]), (200, '""'))
		for known in (tag, f'"other", {tag}', f"W/{tag}"):
			again = who.ask("GET", "/api/v1", headers={"If-None-Match": known})
			equal((again.status, again.bytes, again.headers["ETag"]), (304, b"", tag))
		equal(who.ask("GET", "/api/v1", headers={"If-None-Match": '"other"'}).status, 200)
	equal(program("ada").ask("GET", "/api/v1").headers["Cache-Control"], "private, no-cache")


@test
def an_answer_to_a_token_is_never_given_to_anybody_else():
	path = "/api/v1/me"
	for headers in ({"Authorization": f"Bearer {tokens['ada']}"}, {"Authorization": f"Bearer {tokens['admin']}"}):
		names = {nobody.ask("GET", path, headers=headers).json["user"] for _ in range(2)}
		equal(names, {"ada"} if tokens["ada"] in headers["Authorization"] else {"admin"})
		problem(nobody.ask("GET", path), 401, "token_missing")
	log = (site.var / "log" / "nginx-access.log")
	# What is everybody's is kept, though not asked for with a token.
	nobody.ask("GET", "/api/v1")
	nobody.ask("GET", "/api/v1")
	program("ada").ask("GET", "/api/v1")
	for header in ("Authorization", "X-Popcorn-Cli-Id"):
		nobody.ask("GET", "/leaderboard/small", headers={header: "Bearer x"})
	end = time.time() + 60
	while '"GET /leaderboard/small HTTP' not in log.read_text() and time.time() < end:
		time.sleep(0.2)  # it is written every few seconds
	lines = log.read_text().splitlines()
	root = [re.search(r"cache=(\S+)", line)[1] for line in lines if '"GET /api/v1 HTTP' in line]
	equal(("HIT" in root, root[-1]), (True, "BYPASS"))
	equal({re.search(r"cache=(\S+)", line)[1] for line in lines if '"GET /leaderboard/small HTTP' in line}, {"BYPASS"})


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
