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
	make_board(admin, "other")
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
	asked = [row[0] for row in sql("SELECT LEFT(argument, 6) FROM mysql.general_log WHERE command_type = 'Execute' AND argument LIKE '%api_tokens%'")]
	equal(asked, ["SELECT"])


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


# ---- leaderboards ----

@test
def leaderboards_are_listed_page_by_page():
	names = [item["name"] for item in nobody.all_of("/api/v1/leaderboards", limit=3)]
	equal((names[:2], names), (["other", "small"], [row[0] for row in sql("SELECT name FROM leaderboards ORDER BY id DESC")]))
	page = nobody.ask("GET", "/api/v1/leaderboards?limit=1&state=active")
	equal((page.json["items"][0]["gpus"], page.json["items"][0]["state"]), (["H200"], "active"))
	equal(page.headers["Link"], f'</api/v1/leaderboards?limit=1&state=active&cursor={page.json["next"]}>; rel="next"')
	equal(nobody.read("/api/v1/leaderboards", state="ended"), {"items": [], "next": None})
	problem(nobody.ask("GET", "/api/v1/leaderboards?state=gone"), 400, "invalid", "no state")
	for query in ("limit=0", "limit=101", "limit=x", "cursor=x", "cursor=", "cursor=MSAy"):
		equal(problem(nobody.ask("GET", "/api/v1/leaderboards?" + query), 400, "invalid")["errors"][0]["field"], query.split("=")[0])


@test
def a_leaderboard_says_what_it_asks_for():
	board = nobody.read("/api/v1/leaderboards/small")
	equal((board["description"], board["engine"], board["cases"], board["quotas"]),
		("A small task.", "auto", {"tests": ["size: 1"], "benchmarks": ["size: 1024"]}, None))
	equal(program("ada").read("/api/v1/leaderboards/small")["quotas"], [])
	problem(nobody.ask("GET", "/api/v1/leaderboards/nothing"), 404, "not_found", 'no leaderboard named "nothing"')


@test
def a_task_has_its_definition_and_its_files():
	task = nobody.read("/api/v1/leaderboards/small/task")
	equal((task["version"], [file["path"] for file in task["files"]], task["definition"]["main"]), (1, ["eval.py", "task.yml"], "eval.py"))
	for file in task["files"]:
		answer = nobody.ask("GET", f"/api/v1/leaderboards/small/files/{file['path']}")
		equal((answer.status, len(answer.bytes), hashlib.sha256(answer.bytes).hexdigest()), (200, file["size_bytes"], file["sha256"]))
		equal(answer.headers["Content-Type"], "text/plain; charset=utf-8")
	problem(nobody.ask("GET", "/api/v1/leaderboards/small/files/none.py"), 404, "not_found", 'no file "none.py"')
	problem(nobody.ask("GET", "/api/v1/leaderboards/small/templates/Rust"), 404, "not_found", 'no template for "Rust"')


# ---- submissions ----

def source(mean_ns=1000.0, **more):
	"""A file of which the pretended podium-run says that it took so long."""
	case = {"runs": 101, "mean_ns": mean_ns, "std_ns": 5.0, "err_ns": 2.0, "best_ns": mean_ns - 20, "worst_ns": mean_ns + 20}
	return ("# " + json.dumps({"cases": [case], **more}) + "\n").encode()


def settled(who, number):
	end = time.time() + 60
	while who.read(f"/api/v1/submissions/{number}/status")["state"] in ("queued", "running"):
		assert time.time() < end, who.read(f"/api/v1/submissions/{number}")
		time.sleep(0.05)
	return who.read(f"/api/v1/submissions/{number}")


def ranked(who, mean_ns, **more):
	answer = who.hand_in("small", source=source(mean_ns, **more), fields=[("mode", "ranked"), ("gpu", "H200")])
	equal(answer.status, 201)
	return settled(who, answer.json["id"])


@test
def a_file_is_handed_in_as_a_form_or_as_json_and_ends_with_all_that_was_found():
	answer = program("ada").hand_in("small", "mine.py", source(), [("mode", "ranked"), ("gpu", "H200"), ("note", "first try")])
	made = answer.json
	equal((answer.status, answer.headers["Location"]), (201, f"/api/v1/submissions/{made['id']}"))
	equal((made["user"], made["file_name"], made["note"], made["mode"], [job["gpu"] for job in made["jobs"]]),
		("ada", "mine.py", "first try", "ranked", ["H200"]))
	done = settled(program("ada"), made["id"])
	job = done["jobs"][0]
	equal((done["state"], done["verdict"], job["rank"], job["personal_best"], job["score_ns"]), ("done", "passed", 1, True, 1000.0))
	equal([stage["name"] for stage in job["stages"]], ["compile", "test", "ranked"])
	case = job["stages"][2]["cases"][0]
	equal((case["spec"], case["runs"], case["mean_ns"], case["best_ns"], case["median_ns"]), ("size: 1024", 101, 1000.0, 980.0, None))
	made = program("bob").ask("POST", "/api/v1/leaderboards/small/submissions",
		{"file_name": "theirs.py", "code": source(2000.0).decode(), "mode": "ranked", "gpus": ["H200"], "note": None})
	equal((made.status, made.json["file_name"]), (201, "theirs.py"))
	equal(settled(program("bob"), made.json["id"])["jobs"][0]["rank"], 2)


@test
def what_cannot_be_taken_in_is_refused_with_the_field_that_is_to_blame():
	def refused(body, field, *words):
		equal(problem(program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", body), 400, "invalid", *words)["errors"][0]["field"], field)
	refused({"code": "x", "mode": "fast"}, "mode", "no mode")
	refused({"code": "x"}, "mode", "Choose a mode")
	refused({"code": "x", "mode": "test", "gpus": ["B200"]}, "gpu", 'has no "B200"')
	refused({"code": "x", "mode": "test", "gpus": "H200"}, "gpus", "array of strings")
	refused({"code": 5, "mode": "test"}, "code", "a string")
	refused({"mode": "test"}, "file", "either")
	refused({"code": "", "mode": "test"}, "code", "empty")
	refused({"code": "x", "mode": "test", "gpu": "H200"}, "gpu", "array gpus")
	refused({"code": "x", "mode": "test", "file_name": "x.txt"}, "file", ".py")
	problem(program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", {"code": "x", "mode": "test", "colour": 1}), 400, "unknown_name", "colour")
	for body in (b"{", b"[]", b'{"mode": "test", "mode": "test"}', b'{"code": "\\u0000"}', b"", b'{"a":' * 5000):
		problem(program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", body, {"Content-Type": "application/json"}), 400, "invalid")
	problem(program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", b"mode=test", {"Content-Type": "text/plain"}), 415, "media_type")
	problem(program("ada").ask("POST", "/api/v1/leaderboards/small/submissions", b"x" * (8 << 20), {"Content-Type": "application/json"}), 413, "too_large")
	problem(program("ada").ask("POST", "/api/v1/leaderboards/none/submissions", {"code": "x", "mode": "test"}), 404, "not_found")
	problem(nobody.ask("POST", "/api/v1/leaderboards/small/submissions", {"code": "x", "mode": "test"}), 401, "token_missing")
	refusal = program("reads").ask("POST", "/api/v1/leaderboards/small/submissions", {"code": "x", "mode": "test"})
	problem(refusal, 403, "insufficient_scope", "lacks the scope submit")
	equal(refusal.headers["WWW-Authenticate"], 'Bearer error="insufficient_scope", scope="submit"')
	problem(program("sends").ask("GET", "/api/v1/submissions"), 403, "insufficient_scope", "lacks the scope read")


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
