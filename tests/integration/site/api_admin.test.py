#!/usr/bin/env python3
"""/api/v1/admin: who may make each call, what it does, its audit entry, and that its answer matches
the description. A stand-in for podium-run reports what each submission tells it to."""

import json
import pathlib
import re
import sys
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
import contract  # noqa: E402
from client import Client  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import TASK, make_board, submit_time, task_zip  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="100000", PODIUM_WEBHOOK_SENDERS="0")
sql, value = site.sql, site.value
PASSWORD = "a long password"
clients = {name: Client(site.url) for name in ("root-of-all", "carl", "dora", "ada", "eve")}
programs = {"nobody": Program(site.url)}
made = {}
A = "/api/v1/admin/"


def submit(mean_ns, board="small"):
	return submit_time(clients["ada"], mean_ns, board=board)


def multipart(fields, files):
	boundary = uuid.uuid4().hex
	body = b"".join(
		f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()
		for name, text in fields
	)
	for name, content in files:
		body += (
			(
				f"--{boundary}\r\n"
				f'Content-Disposition: form-data; name="{name}"; filename="task.zip"\r\n'
				"Content-Type: application/zip\r\n"
				"\r\n"
			).encode()
			+ content
			+ b"\r\n"
		)
	return body + f"--{boundary}--\r\n".encode(), {
		"Content-Type": f"multipart/form-data; boundary={boundary}"
	}


def ask(who, method, path, body=None, headers=None):
	"""Sends a request. programs.py checks the answer against the description."""
	return programs[who].ask(method, A + path.format(**made), body, headers)


def upload(who, method, path, fields, task=TASK):
	body, headers = multipart(fields, [("zip", task_zip(task))])
	return ask(who, method, path, body, headers)


def problem(answer, status, code, *words):
	equal((answer.status, answer.json["code"]), (status, code))
	for word in words:
		contains(answer.json["detail"], word)


def audited(action, subject, actor="root-of-all"):
	"""Checks that the last entry of the audit log has this action, subject and actor."""
	equal(
		sql("SELECT actor, action, subject FROM audit_log ORDER BY id DESC LIMIT 1"),
		[[actor, action, subject]],
	)


@test
def the_fixtures_are_created():
	for name, client in clients.items():
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name IN ('carl', 'dora')"
	)
	for name in ("root-of-all", "carl", "dora"):
		programs[name] = Program(
			site.url, make_token(clients[name], "all", "read", "submit", "admin")
		)
		programs[f"{name} without the scope"] = Program(
			site.url, make_token(clients[name], "some", "read", "submit")
		)
	sql("UPDATE users SET role = 'creator' WHERE name = 'ada'")
	programs["ada"] = Program(
		site.url, make_token(clients["ada"], "all", "read", "submit", "admin")
	)
	sql(
		"UPDATE users SET role = 'participant' WHERE name = 'ada'"
	)  # this token keeps the scope admin, but its user no longer has the role
	make_board(clients["carl"], "small")
	sql(
		"INSERT INTO contests (name, title, creator_id, starts_at, ends_at, rules) SELECT 'cup', "
		"'Cup', id, '2089-01-01', '2089-01-02', '' FROM users WHERE name = 'carl'"
	)
	make_board(clients["root-of-all"], "strange")
	made["id"] = submit(3000.0)
	made["worker"], made["uuid"] = sql(
		"SELECT w.name, g.uuid FROM workers w JOIN gpus g ON g.worker_id = w.id WHERE g.model = "
		"'H200' ORDER BY g.uuid LIMIT 1"
	)[0]
	made["hook"] = ask(
		"carl",
		"POST",
		"webhooks",
		{
			"leaderboard": "small",
			"name": "ours",
			"address": "https://chat.example.org/x",
			"form": "json",
			"events": ["job"],
		},
	).json["id"]


# ---- rights ----

# Values for the stars in patterns.
EXAMPLES = {
	"leaderboards": "small",
	"contests": "cup",
	"contestants": "eve",
	"jury": "eve",
	"teams": "quick",
	"members": "eve",
	"submissions": "{id}",
	"rejudgings": "1",
	"users": "eve",
	"invites": "none",
	"announcements": "1",
	"questions": "1",
	"workers": "{worker}",
	"gpus": "{uuid}",
	"webhooks": "{hook}",
	"versions": "1",
	"roles": "bob",
	"extensions": "bob",
	"disqualifications": "bob",
}


def routes():
	below = "/api/v1/admin/"
	return [
		(method.upper(), pattern.removeprefix(below), access)
		for method, pattern, access, scope, _ in route_table.calls()
		if pattern.startswith(below) and scope == "admin"
	]


def example(pattern):
	parts = pattern.split("/")
	return "/".join(EXAMPLES[parts[i - 1]] if part == "*" else part for i, part in enumerate(parts))


# Each use of a token writes to these.
USED = {"api_requests", "api_tokens", "sessions"}


def state():
	return site.checksums(USED)


@test
def users_without_rights_are_refused_and_change_nothing():
	before = state()
	equal(len(routes()) > 40, True)
	for method, pattern, access in routes():
		path = example(pattern)
		body = None if method == "GET" else {}
		problem(ask("nobody", method, path, body), 401, "token_missing")
		problem(
			ask("root-of-all without the scope", method, path, body),
			403,
			"insufficient_scope",
			"admin",
		)
		problem(
			ask("carl without the scope", method, path, body), 403, "insufficient_scope", "admin"
		)
		problem(ask("ada", method, path, body), 403, "forbidden", "Only ")
		if access == "ADMINS":
			problem(ask("carl", method, path, body), 403, "forbidden", "Only admins may do this.")
		equal(
			(
				method,
				pattern,
				programs["nobody"]
				.request(
					method,
					A + path.format(**made),
					b"{}",
					{
						"Authorization": "Bearer podium_" + 43 * "x",
						"Content-Type": "application/json",
					},
				)
				.status,
			),
			(method, pattern, 401),
		)
	equal(state(), before)


@test
def a_creator_cannot_change_another_creators_leaderboard():
	before = state()
	for method, pattern, access in routes():
		if access not in ("CREATORS", "STAFF") or "*" not in pattern:
			continue
		answer = ask("dora", method, example(pattern), None if method == "GET" else {})
		equal(
			(method, pattern, answer.status),
			(
				method,
				pattern,
				403 if pattern.startswith(("leaderboards", "submissions", "contests")) else 404,
			),
		)
	problem(
		ask("dora", "GET", "webhooks?leaderboard=small"),
		403,
		"forbidden",
		"Only the creators of small",
	)
	problem(
		ask(
			"dora",
			"POST",
			"webhooks",
			{
				"leaderboard": "small",
				"name": "x",
				"address": "https://example.org/",
				"form": "json",
				"events": ["job"],
			},
		),
		403,
		"forbidden",
	)
	problem(ask("dora", "GET", "webhooks"), 400, "invalid", "for admins")
	equal(state(), before)


@test
def an_unknown_field_is_refused_by_name():
	problem(
		ask("carl", "PATCH", "leaderboards/small", {"colour": "red"}), 400, "unknown_name", "colour"
	)
	problem(ask("root-of-all", "GET", "audit?colour=red"), 400, "unknown_name", "colour")


# ---- leaderboards ----


@test
def exceptions_for_users_can_be_made_and_lifted():
	sql("UPDATE leaderboards SET deadline = '2089-01-01' WHERE name = 'small'")
	path = "leaderboards/small/extensions/eve"
	equal(ask("carl", "PUT", path, {"deadline": "2090-01-01T00:00:00Z"}).status, 204)
	audited("leaderboard.extend", "small", "carl")
	problem(ask("carl", "PUT", path, {"deadline": "2088-01-01T00:00:00Z"}), 400, "invalid", "later")
	equal(ask("carl", "DELETE", path).status, 204)
	problem(ask("carl", "DELETE", path), 404, "not_found")
	sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'small'")
	path = "leaderboards/small/disqualifications/eve"
	problem(ask("carl", "PUT", path, {"reason": ""}), 400, "invalid", "reason")
	equal(ask("carl", "PUT", path, {"reason": "odd"}).status, 204)
	audited("leaderboard.disqualify", "small", "carl")
	one = ask("carl", "GET", "leaderboards/small/exceptions").json["items"][0]
	equal((one["kind"], one["user"], one["reason"]), ("disqualification", "eve", "odd"))
	equal(ask("carl", "DELETE", path).status, 204)
	equal(ask("carl", "POST", "submissions/{id}/disqualify", {"reason": "odd"}).status, 204)
	audited("submission.disqualify", f"submission {made['id']}", "carl")
	equal(ask("carl", "POST", "submissions/{id}/requalify").status, 204)
	problem(ask("carl", "POST", "submissions/{id}/requalify"), 404, "not_found")


@test
def roles_on_a_leaderboard_can_be_given_and_taken():
	equal(ask("carl", "PUT", "leaderboards/small/roles/eve", {"role": "jury"}).status, 204)
	audited("leaderboard.role", "small", "carl")
	problem(
		ask("carl", "PUT", "leaderboards/small/roles/eve", {"role": "king"}),
		400,
		"invalid",
		"co-creator and jury",
	)
	problem(ask("carl", "PUT", "leaderboards/small/roles/x%20y", {"role": "jury"}), 400, "invalid")
	roles = ask("carl", "GET", "leaderboards/small/roles").json["items"]
	equal([(one["user"], one["role"]) for one in roles], [("eve", "jury")])
	equal(ask("carl", "DELETE", "leaderboards/small/roles/eve").status, 204)
	problem(ask("carl", "DELETE", "leaderboards/small/roles/eve"), 404, "not_found", "no role")
	ranks = ask("carl", "GET", "leaderboards/small/unfrozen").json["items"]
	equal([(one["user"], one["rank"], one["public_rank"]) for one in ranks], [("ada", 1, 1)])


@test
def a_leaderboard_can_be_created_changed_archived_and_deleted():
	answer = upload(
		"carl",
		"POST",
		"leaderboards",
		[
			("name", "fresh"),
			("gpu", "H200"),
			("deadline", "2090-01-02T03:04:05.678Z"),
			("visibility", "hidden"),
		],
	)
	equal((answer.status, answer.headers["Location"]), (201, "/api/v1/leaderboards/fresh"))
	made_one = answer.json
	equal(
		(
			made_one["visibility"],
			made_one["deadline"],
			made_one["gpus"],
			made_one["accepting"],
			made_one["task_version"],
		),
		("hidden", "2090-01-02T03:04:05.678Z", ["H200"], True, 1),
	)
	audited("leaderboard.create", "fresh", "carl")
	site.publish("fresh")
	ask("carl", "PATCH", "leaderboards/fresh", {"visibility": "hidden"})
	problem(
		upload("carl", "POST", "leaderboards", [("name", "fresh"), ("gpu", "H200")]),
		409,
		"conflict",
		"fresh already",
	)
	problem(
		upload("carl", "POST", "leaderboards", [("name", "x y"), ("gpu", "H200")]),
		400,
		"invalid",
		"A leaderboard's name has",
	)
	problem(
		upload("carl", "POST", "leaderboards", [("name", "fine"), ("visibility", "secret")]),
		400,
		"invalid",
		"public or hidden",
	)
	refused = upload(
		"carl", "POST", "leaderboards", [("name", "fine"), ("gpu", "H200")], task="lang: rust\n"
	)
	problem(refused, 400, "invalid", "The task in this file has errors.", "rust")
	equal(refused.json["errors"][0]["field"], "zip")
	changed = ask(
		"carl",
		"PATCH",
		"leaderboards/fresh",
		{
			"visibility": "public",
			"deadline": None,
			"practice": True,
			"gpus": ["H200", "B200"],
			"quotas": [{"mode": "ranked", "limit": 5, "hours": 12}],
			"accepting": False,
			"frozen_at": "2089-01-01T00:00:00Z",
		},
	).json
	equal(
		(
			changed["visibility"],
			changed["deadline"],
			changed["practice"],
			changed["gpus"],
			changed["quotas"],
			changed["accepting"],
			changed["frozen_at"],
			changed["sources_public"],
		),
		(
			"public",
			None,
			True,
			["H200", "B200"],
			[{"mode": "ranked", "limit": 5, "hours": 12}],
			False,
			"2089-01-01T00:00:00.000Z",
			True,
		),
	)
	equal(
		sql("SELECT action FROM audit_log ORDER BY id DESC LIMIT 3"),
		[["leaderboard.publish"], ["leaderboard.publish"], ["leaderboard.update"]],
	)
	equal(changed["cancelled_jobs"], 0)
	(closed,) = changed["closed_gpus"]
	equal((closed["gpu"], closed["check"], closed["errors"]), ("B200", "waiting", []))
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT l.id, l.task_version_id, s.user_id, 'x.py', s.sha256, 'test' "
		"FROM leaderboards l JOIN submissions s WHERE l.name = 'fresh' LIMIT 1; "
		"INSERT INTO jobs (submission_id, user_id, gpu) "
		"SELECT id, user_id, 'B200' FROM submissions WHERE id = LAST_INSERT_ID()"
	)
	only = ask("carl", "PATCH", "leaderboards/fresh", {"gpus": ["H200"]}).json
	# The cancelled jobs are that one and the four of the check of B200, which has no worker.
	equal((only["gpus"], only["cancelled_jobs"]), (["H200"], 5))
	equal(ask("carl", "PATCH", "leaderboards/fresh", {"gpus": changed["gpus"]}).json, changed)
	# A change with one invalid field changes nothing.
	problem(
		ask("carl", "PATCH", "leaderboards/fresh", {"accepting": True, "visibility": "secret"}),
		400,
		"invalid",
		"public, closed or hidden",
	)
	problem(
		ask("carl", "PATCH", "leaderboards/fresh", {"deadline": "tomorrow"}),
		400,
		"invalid",
		"2026-11-22T03:17:26Z",
	)
	for wrong in (
		[{"mode": "ranked"}],
		[{"mode": "none", "limit": 1}],
		[{"mode": "test", "limit": 0}],
		"many",
		[{"mode": "test", "limit": 1, "colour": 1}],
	):
		equal(
			(wrong, ask("carl", "PATCH", "leaderboards/fresh", {"quotas": wrong}).status),
			(wrong, 400),
		)
	equal(ask("carl", "GET", "leaderboards/fresh").json, changed)
	equal(bool(ask("carl", "POST", "leaderboards/fresh/archive").json["archived_at"]), True)
	equal(ask("carl", "PATCH", "leaderboards/fresh", {"archived": False}).json["archived_at"], None)
	equal(ask("carl", "DELETE", "leaderboards/fresh", {"confirm": None}).status, 400)
	for wrong in ({}, {"confirm": "small"}):
		problem(
			ask("carl", "DELETE", "leaderboards/fresh", wrong),
			400,
			"confirmation",
			"the leaderboard's name: fresh",
		)
	equal(ask("carl", "DELETE", "leaderboards/fresh", {"confirm": "fresh"}).status, 204)
	audited("leaderboard.delete", "fresh", "carl")
	problem(ask("carl", "GET", "leaderboards/fresh"), 404, "not_found")


@test
def a_new_task_version_can_be_uploaded_and_switched_to():
	task = TASK.replace("size: 1024", "size: 2048")
	kept = upload("carl", "PUT", "leaderboards/small/task", [("draft", "true")], task)
	equal((kept.status, kept.json["task_version"]), (200, 1))
	equal(
		[
			(one["version"], one["state"])
			for one in ask("carl", "GET", "leaderboards/small/versions").json["items"]
		],
		[(2, "draft"), (1, "current")],
	)
	site.publish("small", 2)
	site.publish("small", 1)
	equal(ask("carl", "POST", "leaderboards/small/versions/2/switch").json["task_version"], 2)
	audited("leaderboard.switch", "small", "carl")
	problem(ask("carl", "POST", "leaderboards/small/versions/9/switch"), 404, "not_found")
	problem(ask("carl", "POST", "leaderboards/small/versions/none/switch"), 404, "not_found")
	equal(ask("carl", "POST", "leaderboards/small/versions/1/switch").json["task_version"], 1)
	problem(
		ask("carl", "PUT", "leaderboards/small/task", *multipart([], [])),
		400,
		"invalid",
		"Choose the zip",
	)


# ---- submissions ----


@test
def a_submission_can_be_hidden_shown_held_released_and_rejected():
	path, subject = "submissions/{id}", f"submission {made['id']}"
	ranked = f"SELECT COUNT(*) FROM ranking WHERE submission_id = {made['id']}"
	problem(ask("root-of-all", "POST", path + "/hide", {}), 400, "invalid", "Give a reason")
	equal(ask("root-of-all", "POST", path + "/hide", {"reason": "A copy."}).status, 204)
	audited("submission.hide", subject)
	equal(value(ranked), "0")
	problem(ask("root-of-all", "POST", path + "/hide", {"reason": "A copy."}), 409, "conflict")
	equal(ask("root-of-all", "POST", path + "/show").status, 204)
	audited("submission.show", subject)
	equal(ask("root-of-all", "POST", path + "/hold", {"reason": "Too good."}).status, 204)
	audited("submission.hold", subject)
	equal(
		[
			(one["submission"], one["reason"], one["score_ns"])
			for one in ask("root-of-all", "GET", "held").json["items"]
		],
		[(made["id"], "Too good.", 3000.0)],
	)
	equal(ask("root-of-all", "POST", path + "/release", {"gpu": "H200"}).status, 204)
	audited("review.release", f"{subject} on H200")
	equal(value(ranked), "1")
	problem(ask("root-of-all", "POST", path + "/release", {"gpu": "H200"}), 409, "conflict")
	made["second"] = submit(2000.0)
	equal(
		ask("root-of-all", "POST", "submissions/{second}/hold", {"reason": "Too good."}).status, 204
	)
	problem(
		ask(
			"root-of-all",
			"POST",
			"submissions/{second}/reject",
			{"gpu": "H200", "reason": "No.", "confirm": "yes"},
		),
		400,
		"confirmation",
		str(made["second"]),
	)
	equal(
		ask(
			"root-of-all",
			"POST",
			"submissions/{second}/reject",
			{"gpu": "H200", "reason": "No.", "confirm": str(made["second"])},
		).status,
		204,
	)
	audited("review.reject", f"submission {made['second']} on H200")
	problem(ask("root-of-all", "POST", "submissions/987654321/show"), 404, "not_found")


@test
def results_can_be_rejudged():
	problem(ask("root-of-all", "POST", "rejudgings", {"scope": "some"}), 400, "invalid", "scope")
	problem(
		ask(
			"root-of-all",
			"POST",
			"rejudgings",
			{"scope": "top", "leaderboard": "none", "top": 1, "gpu": "H200"},
		),
		400,
		"invalid",
	)
	for start in (
		lambda: ask(
			"root-of-all",
			"POST",
			"rejudgings",
			{"scope": "top", "leaderboard": "small", "top": 1, "gpu": "H200"},
		),
		lambda: ask("root-of-all", "POST", "submissions/{id}/rejudge"),
	):
		answer = start()
		equal(
			(answer.status, answer.headers["Location"]), (201, f"{A}rejudgings/{answer.json['id']}")
		)
		audited("rejudging.start", "small")
		number = answer.json["id"]
		until(lambda: not ask("root-of-all", "GET", f"rejudgings/{number}").json["waiting"])
		ending = "apply" if start is not None and number == 1 else "discard"
		problem(
			ask("root-of-all", "POST", f"rejudgings/{number}/{ending}", {"confirm": "yes"}),
			400,
			"confirmation",
			"small",
		)
		ended = ask("root-of-all", "POST", f"rejudgings/{number}/{ending}", {"confirm": "small"})
		equal(
			(ended.status, ended.json["state"], len(ended.json["first_results"])),
			(200, {"apply": "applied", "discard": "discarded"}[ending], 1),
		)
		audited(f"rejudging.{ending}", "small")
		problem(
			ask("root-of-all", "POST", f"rejudgings/{number}/apply", {"confirm": "small"}),
			409,
			"conflict",
		)
	equal(
		[one["state"] for one in ask("root-of-all", "GET", "rejudgings").json["items"]],
		["discarded", "applied"],
	)


# ---- people ----


@test
def users_can_be_listed_given_roles_and_banned():
	names = [one["name"] for one in programs["root-of-all"].all_of(A + "users", limit=2)]
	equal(sorted(names), sorted(["admin", *clients]))
	equal(
		[one["name"] for one in programs["root-of-all"].read(A + "users", q="ev")["items"]], ["eve"]
	)
	equal(ask("root-of-all", "PATCH", "users/eve", {"role": "creator"}).json["role"], "creator")
	audited("user.role", "eve")
	problem(
		ask("root-of-all", "PATCH", "users/eve", {"role": "king"}),
		400,
		"invalid",
		"participant, creator or admin",
	)
	problem(
		ask("root-of-all", "PATCH", "users/root-of-all", {"role": "participant"}),
		400,
		"invalid",
		"your own account",
	)
	problem(
		ask("root-of-all", "PATCH", "users/nobody-is-called-this", {"role": "creator"}),
		404,
		"not_found",
	)
	problem(
		ask("root-of-all", "POST", "users/eve/ban", {"confirm": "eva"}),
		400,
		"confirmation",
		"the user's name: eve",
	)
	equal(
		bool(ask("root-of-all", "POST", "users/eve/ban", {"confirm": "eve"}).json["banned_at"]),
		True,
	)
	audited("user.ban", "eve")
	equal(clients["eve"].get("/account").status, 303)
	equal(ask("root-of-all", "POST", "users/eve/unban").json["banned_at"], None)
	audited("user.unban", "eve")


@test
def lost_factors_are_removed():
	sql(
		"INSERT INTO passkeys (user_id, name, credential_id, credential_hash, algorithm, "
		"public_key, sign_count) SELECT id, 'key', 'x', UNHEX(SHA2('x', 256)), -7, 'k', 0 "
		"FROM users WHERE name = 'eve'"
	)
	rows = {
		one["name"]: one["second_factor"]
		for one in ask("root-of-all", "GET", "users").json["items"]
	}
	equal((rows["eve"], rows["root-of-all"]), (True, False))
	problem(
		ask("root-of-all", "POST", "users/eve/remove-factors", {"confirm": "eva"}),
		400,
		"confirmation",
		"the user's name: eve",
	)
	problem(
		ask("root-of-all", "POST", "users/root-of-all/remove-factors", {"confirm": "root-of-all"}),
		400,
		"invalid",
		"your own account",
	)
	equal(ask("root-of-all", "GET", "users?q=eve").json["items"][0]["second_factor"], True)
	done = ask("root-of-all", "POST", "users/eve/remove-factors", {"confirm": "eve"})
	equal(done.json["second_factor"], False)
	audited("user.remove_factor", "eve")
	problem(
		ask("root-of-all", "POST", "users/eve/remove-factors", {"confirm": "eve"}), 404, "not_found"
	)


@test
def invite_codes_can_be_created_and_revoked():
	answer = ask(
		"carl",
		"POST",
		"invites",
		{
			"leaderboards": ["small"],
			"note": "class",
			"most_uses": 3,
			"expires_at": "2090-01-01T00:00:00Z",
		},
	)
	equal(
		(answer.status, answer.json["state"], answer.json["most_uses"], answer.json["expires_at"]),
		(201, "open", 3, "2090-01-01T00:00:00.000Z"),
	)
	code = answer.json["code"]
	equal([one["code"] for one in ask("carl", "GET", "invites").json["items"]], [code])
	equal(ask("dora", "GET", "invites").json["items"], [])
	problem(ask("dora", "POST", "invites", {"leaderboards": ["small"]}), 400, "invalid")
	problem(
		ask("carl", "POST", "invites", {"leaderboards": ["small"], "most_uses": -1}),
		400,
		"invalid",
		"most_uses",
	)
	problem(
		ask("carl", "POST", "invites", {"leaderboards": "small"}),
		400,
		"invalid",
		"an array of strings",
	)
	problem(ask("dora", "DELETE", f"invites/{code}"), 404, "not_found")
	before = value("SELECT COUNT(*) FROM audit_log")
	equal(ask("carl", "DELETE", f"invites/{code}").status, 204)
	equal(
		(
			ask("carl", "GET", "invites").json["items"][0]["state"],
			int(value("SELECT COUNT(*) FROM audit_log")),
		),
		("revoked", int(before) + 1),
	)


@test
def similar_submissions_are_listed():
	equal(ask("carl", "GET", "leaderboards/small/similar").json, {"items": [], "next": None})
	problem(ask("dora", "GET", "leaderboards/small/similar"), 403, "forbidden")


@test
def questions_can_be_answered():
	page = "/leaderboard/small/questions"
	clients["ada"].post(page, [("action", "ask"), ("text", "May I?")])
	number = value("SELECT MAX(id) FROM questions")
	problem(ask("dora", "PUT", f"questions/{number}", {"answer": "x"}), 404, "not_found")
	problem(ask("carl", "PUT", f"questions/{number}", {"answer": " "}), 400, "invalid", "Write")
	answer = ask("carl", "PUT", f"questions/{number}", {"answer": "No.", "for_all": True})
	equal((answer.status, answer.json["answer"], answer.json["asked_by"]), (200, "No.", "ada"))
	audited("question.answer", "small", "carl")
	problem(ask("carl", "POST", "announcements", {"text": "x"}), 400, "invalid", "Choose one")
	problem(ask("carl", "DELETE", "announcements/1"), 404, "not_found")


@test
def announcements_can_be_created_and_ended():
	answer = ask(
		"root-of-all",
		"POST",
		"announcements",
		{"text": "We rest on Sunday.", "until": "2090-01-01T00:00:00Z"},
	)
	equal(
		(answer.status, answer.json["leaderboard"], answer.json["until"]),
		(201, None, "2090-01-01T00:00:00.000Z"),
	)
	audited("announcement.make", "the whole site")
	problem(
		ask("root-of-all", "POST", "announcements", {"text": " "}),
		400,
		"invalid",
		"Write the announcement",
	)
	problem(
		ask("root-of-all", "POST", "announcements", {"text": "x", "leaderboard": "none"}),
		400,
		"invalid",
		"no such leaderboard",
	)
	equal(
		[one["text"] for one in ask("root-of-all", "GET", "announcements").json["items"]],
		["We rest on Sunday."],
	)
	equal(ask("root-of-all", "DELETE", f"announcements/{answer.json['id']}").status, 204)
	audited("announcement.end", "the whole site")
	problem(ask("root-of-all", "DELETE", f"announcements/{answer.json['id']}"), 409, "conflict")


@test
def the_audit_log_can_be_read_and_searched():
	entries = programs["root-of-all"].all_of(A + "audit", limit=7)
	equal(len(entries), int(value("SELECT COUNT(*) FROM audit_log")))
	equal([one["id"] for one in entries], sorted((one["id"] for one in entries), reverse=True))
	equal(
		{
			one["action"]
			for one in programs["root-of-all"].all_of(
				A + "audit", actor="root-of-all", action="user.ban"
			)
		},
		{"user.ban"},
	)
	equal(
		[
			one["subject"]
			for one in programs["root-of-all"].all_of(A + "audit", q="may log in and submit again")
		],
		["eve"],
	)
	problem(ask("root-of-all", "GET", "audit?from=never"), 400, "invalid", "Type a day")


# ---- machines ----


@test
def workers_and_devices_can_be_paused_drained_quarantined_and_resumed():
	worker, gpu = "workers/{worker}", "workers/{worker}/gpus/{uuid}"

	def pauses():
		one = ask("root-of-all", "GET", "workers").json["items"][0]
		return one["pause"], [
			device["pause"] for device in one["gpus"] if device["uuid"] == made["uuid"]
		][0]

	for path, action, expected in (
		(worker, "pause", ("pause", None)),
		(worker, "drain", ("drain", None)),
		(gpu, "pause", (None, "pause")),
		(gpu, "drain", (None, "drain")),
	):
		equal(ask("root-of-all", "POST", f"{path}/{action}").json, {"queued_again": 0})
		equal((path, action, pauses()), (path, action, expected))
		equal(ask("root-of-all", "POST", f"{path}/resume").status, 204)
		equal(pauses(), (None, None))
	problem(ask("root-of-all", "POST", f"{gpu}/quarantine", {}), 400, "invalid")
	equal(
		ask("root-of-all", "POST", f"{gpu}/quarantine", {"reason": "It fell."}).json,
		{"queued_again": 0},
	)
	equal(pauses(), (None, "quarantine"))
	equal(ask("root-of-all", "POST", f"{gpu}/resume").status, 204)
	problem(ask("root-of-all", "POST", f"{gpu}/resume"), 409, "conflict")
	problem(ask("root-of-all", "POST", "workers/nobody/pause"), 404, "not_found")
	problem(ask("root-of-all", "POST", f"{gpu}/release"), 404, "not_found")
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('elsewhere', '1', "
		"'{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)); "
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at, quarantined_at, quarantine_reason) "
		"SELECT id, 'GPU-broken', 'H200', 'NVIDIA H200', 1, '1', '9.0', UTC_TIMESTAMP(3), "
		"UTC_TIMESTAMP(3), 'It fell off the bus.' FROM workers WHERE name = 'elsewhere'"
	)
	equal(ask("root-of-all", "POST", "workers/elsewhere/gpus/GPU-broken/release").status, 204)
	actions = [row[0] for row in sql("SELECT action FROM audit_log ORDER BY id DESC LIMIT 11")]
	equal(
		len([action for action in actions if action.startswith(("worker.", "gpu.", "device."))]), 11
	)


# ---- webhooks ----


@test
def webhooks_can_be_created_changed_tested_and_deleted():
	answer = ask(
		"root-of-all",
		"POST",
		"webhooks",
		{
			"name": "all",
			"address": "https://chat.example.org/secret-path",
			"form": "discord",
			"events": ["record", "ended"],
		},
	)
	number = answer.json["id"]
	equal(
		(
			answer.status,
			answer.headers["Location"],
			answer.json["leaderboard"],
			answer.json["events"],
		),
		(201, f"{A}webhooks/{number}", None, ["record", "ended"]),
	)
	equal(bool(re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", answer.json["secret"])), True)
	lacks(answer.text, "secret-path")
	audited("webhook.create", "the whole site")
	equal("secret" in ask("root-of-all", "GET", f"webhooks/{number}").json, False)
	problem(ask("carl", "GET", f"webhooks/{number}"), 404, "not_found")
	problem(
		ask(
			"root-of-all",
			"POST",
			"webhooks",
			{"name": "x", "address": "https://10.0.0.1/", "form": "json", "events": ["job"]},
		),
		400,
		"invalid",
		"a private network",
	)
	problem(
		ask(
			"root-of-all",
			"POST",
			"webhooks",
			{"name": "x", "address": "https://example.org/", "form": "json", "events": ["gossip"]},
		),
		400,
		"invalid",
		"An event is",
	)
	equal([one["name"] for one in ask("root-of-all", "GET", "webhooks").json["items"]], ["all"])
	equal(
		[one["name"] for one in ask("carl", "GET", "webhooks?leaderboard=small").json["items"]],
		["ours"],
	)
	changed = ask(
		"carl",
		"PATCH",
		"webhooks/{hook}",
		{"name": "channel", "events": ["opened"], "state": "paused"},
	).json
	equal((changed["name"], changed["events"], changed["state"]), ("channel", ["opened"], "paused"))
	equal(
		[row[0] for row in sql("SELECT action FROM audit_log ORDER BY id DESC LIMIT 2")],
		["webhook.pause", "webhook.change"],
	)
	problem(ask("carl", "POST", "webhooks/{hook}/test"), 409, "conflict", "resume it first")
	problem(
		ask("carl", "PATCH", "webhooks/{hook}", {"state": "off"}),
		400,
		"invalid",
		"active or paused",
	)
	equal(ask("carl", "PATCH", "webhooks/{hook}", {"state": "active"}).json["state"], "active")
	equal(ask("carl", "POST", "webhooks/{hook}/test").status, 204)
	audited("webhook.test", "small", "carl")
	first = ask("carl", "POST", "webhooks/{hook}/rotate").json
	second = ask("carl", "POST", "webhooks/{hook}/rotate", {"hours": 0}).json
	equal((bool(first["old_secret_until"]), second["old_secret_until"]), (True, None))
	equal(first["secret"] != second["secret"], True)
	audited("webhook.rotate", "small", "carl")
	problem(ask("carl", "POST", "webhooks/{hook}/rotate", {"hours": 169}), 400, "invalid", "168")
	equal(
		[
			(one["event"], one["state"], one["attempts"])
			for one in programs["carl"].all_of(A + f"webhooks/{made['hook']}/deliveries", limit=1)
		][0],
		("test", "waiting", 0),
	)
	problem(
		ask("carl", "DELETE", "webhooks/{hook}", {"confirm": "ours"}),
		400,
		"confirmation",
		"channel",
	)
	equal(ask("carl", "DELETE", "webhooks/{hook}", {"confirm": "channel"}).status, 204)
	audited("webhook.delete", "small", "carl")
	problem(ask("carl", "GET", "webhooks/{hook}"), 404, "not_found")


@test
def every_call_was_tested_against_its_description():
	good = {(method, path) for method, path, status in contract.used if status < 300}
	described = json.loads((ROOT / "docs" / "openapi" / "admin.json").read_text())["paths"]
	equal(
		sorted(
			(method, path)
			for path, methods in described.items()
			for method in methods
			if (method.upper(), path) not in good
		),
		[],
	)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
