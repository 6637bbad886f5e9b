#!/usr/bin/env python3
"""Later deadlines for single users of a leaderboard, and disqualifications. A stand-in for
podium-run reports what each submission tells it to."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import case, make_board, new_source, source_of, submit_time  # noqa: E402
from small_task import done as ok  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

MOST_QUEUED = 4
site = Instance(
	pretends=True, PODIUM_WORKER_NAME="here", PODIUM_QUEUED_JOBS_PER_USER=str(MOST_QUEUED)
)
sql, value = site.sql, site.value
clients = {name: Client(site.url) for name in ("carl", "dora", "ada", "bob")}
programs, made = {}, {}
PAGE = "/admin/leaderboard/small/exceptions"
LATE = "2090-01-02 03:04"


def get(who, address):
	return clients[who].get(f"{address}{'&' if '?' in address else '?'}x={time.time()}")


def change(action, user, who="carl", **fields):
	return clients[who].post(
		PAGE, [("action", action), ("user", user), ("confirm", "yes"), *fields.items()]
	)


def api(method, path, body=None, who="carl"):
	return programs[who].ask(method, f"/api/v1/admin/{path}", body)


def command(*words):
	answer = site.admin("exception", *words)
	return answer.returncode, (answer.stdout + answer.stderr).strip()


def end_board(hours=1):
	sql(
		f"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) - INTERVAL {hours} HOUR "
		"WHERE name = 'small'"
	)


def ranking():
	rows = get("ada", "/leaderboard/small.json?gpu=H200").json["rows"]
	return [(row["user"], row["score_ns"]) for row in rows]


def send(who, mean_ns, mode="ranked"):
	return clients[who].post(
		"/leaderboard/small/submit",
		[("mode", mode), ("code", source_of(case(mean_ns)) + new_source()), ("gpu", "H200")],
	)


@test
def the_fixtures_are_created():
	for name, client in clients.items():
		client.register(name)
	sql("UPDATE users SET role = 'creator' WHERE name IN ('carl', 'dora')")
	make_board(clients["carl"], "small", sources_public="1")
	programs["carl"] = Program(
		site.url, make_token(clients["carl"], "all", "read", "submit", "admin")
	)
	made["ada"] = submit_time(clients["ada"], 3000.0)
	made["fast"] = submit_time(clients["ada"], 2000.0)
	made["bob"] = submit_time(clients["bob"], 5000.0)
	equal(ranking(), [("ada", 2000), ("bob", 5000)])


# ---- later deadlines ----


@test
def an_extension_needs_a_user_and_a_later_time():
	equal(change("extend", "bob", deadline=LATE).status, 422)
	contains(change("extend", "bob", deadline=LATE).words(), "small has no deadline.")
	end_board()
	for user, deadline, words in (
		("nobody-here", LATE, "There is no user named"),
		("bob", "soon", "Type a date and time"),
		("bob", "2020-01-01 00:00", "later than now"),
	):
		answer = change("extend", user, deadline=deadline)
		equal(answer.status, 422)
		contains(answer.words(), words)
	equal(value("SELECT COUNT(*) FROM leaderboard_extensions"), "0")


@test
def only_the_user_with_the_extension_submits_after_the_deadline():
	contains(
		get("bob", "/leaderboard/small/submit").words(), "The deadline of this leaderboard has"
	)
	ok(change("extend", "bob", deadline=LATE))
	contains(get("carl", PAGE).words(), "bob deadline 2090-01-02 03:04 UTC")
	lacks(get("bob", "/leaderboard/small/submit").words(), "has passed")
	contains(get("bob", "/submit").text, "small")
	lacks(get("ada", "/submit").text, '"small"')
	made["late"] = submit_time(clients["bob"], 1000.0)
	equal(sql(f"SELECT practice FROM submissions WHERE id = {made['late']}"), [["0"]])
	equal(ranking(), [("bob", 1000), ("ada", 2000)])
	refused = send("ada", 900.0)
	equal(refused.status, 422)
	contains(refused.words(), "The deadline of small has passed")
	contains(get("ada", "/leaderboard/small/submit").words(), "has passed")


@test
def sources_stay_closed_until_the_last_extension_has_passed():
	for who, number in (("bob", made["ada"]), ("ada", made["late"])):
		equal((who, get(who, f"/submission/{number}/source").status), (who, 403))
		lacks(get(who, f"/compare?a={made['ada']}&b={made['late']}").text, "custom_kernel")
	sql("UPDATE leaderboard_extensions SET deadline = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	for who, number in (("bob", made["ada"]), ("ada", made["late"])):
		equal((who, get(who, f"/submission/{number}/source").status), (who, 200))
	equal(send("bob", 800.0).status, 422)


@test
def extensions_are_changed_and_taken_by_programs():
	path = "leaderboards/small/extensions/bob"
	equal(api("PUT", path, {"deadline": "2090-01-02T03:04:00Z"}).status, 204)
	equal(
		[
			(one["kind"], one["user"], one["deadline"])
			for one in api("GET", "leaderboards/small/exceptions").json["items"]
		],
		[("extension", "bob", "2090-01-02T03:04:00.000Z")],
	)
	equal(api("PUT", path, {"deadline": None}).status, 400)
	equal(api("DELETE", path).status, 204)
	equal(api("DELETE", path).status, 404)
	equal(command("extend", "small", "bob", LATE), (0, "Done: bob on small."))
	contains(command("list", "small")[1], "deadline 2090-01-02 03:04 UTC")
	equal(command("lift", "small", "bob", "deadline")[0], 0)
	equal(change("unextend", "bob").status, 404)
	equal(
		sql(
			"SELECT actor, subject, detail FROM audit_log WHERE action = 'leaderboard.extend' "
			"ORDER BY id DESC LIMIT 2"
		),
		[
			["podium-admin", "small", "bob: no later deadline"],
			["podium-admin", "small", "bob: 2090-01-02 03:04 UTC"],
		],
	)
	sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'small'")


# ---- disqualifications ----


def moderate(action, number, who="carl", reason="It <reads> the answer."):
	return clients[who].post(
		f"/admin/submission/{number}",
		[("action", action), ("reason", reason), ("confirm", "yes")],
		form="/account",
	)


@test
def a_disqualified_submission_leaves_the_ranking_and_keeps_its_page():
	equal(moderate("disqualify", made["fast"], reason="").status, 422)
	ok(moderate("disqualify", made["fast"]))
	equal(ranking(), [("bob", 1000), ("ada", 3000)])
	page = f"/submission/{made['fast']}"
	contains(get("ada", page).words(), "The reason: It <reads> the answer.")
	contains(get("ada", page).words(), "it is disqualified, so it is not ranked")
	contains(get("bob", page).words(), "This submission is disqualified")
	lacks(get("bob", page).words(), "reads")
	contains(get("carl", PAGE).words(), f"submission {made['fast']} is disqualified")
	ok(moderate("requalify", made["fast"]))
	equal(ranking(), [("bob", 1000), ("ada", 2000)])
	equal(moderate("requalify", made["fast"]).status, 404)
	path = f"submissions/{made['fast']}"
	equal(api("POST", f"{path}/disqualify", {"reason": "odd"}).status, 204)
	equal(ranking(), [("bob", 1000), ("ada", 3000)])
	equal(api("POST", f"{path}/requalify").status, 204)


@test
def nothing_of_a_disqualified_user_is_ranked():
	asked = clients["carl"].post(
		PAGE, [("action", "disqualify"), ("user", "bob"), ("reason", "Two <accounts>.")]
	)
	contains(asked.words(), "Disqualify bob on small? Nothing of bob is ranked")
	equal(change("disqualify", "bob", reason=" ").status, 422)
	ok(change("disqualify", "bob", reason="Two <accounts>."))
	equal(ranking(), [("ada", 2000)])
	number = submit_time(clients["bob"], 700.0)
	equal(ranking(), [("ada", 2000)])
	equal(command("list", "small")[1].split("  ")[0], "bob")
	site.admin("ranking", "rebuild", "small")
	equal(ranking(), [("ada", 2000)])
	contains(get("bob", f"/submission/{number}").words(), "The reason: Two <accounts>.")
	lacks(get("ada", f"/submission/{number}").words(), "accounts")
	ok(change("requalify", "bob"))
	equal(ranking(), [("bob", 700), ("ada", 2000)])
	path = "leaderboards/small/disqualifications/bob"
	equal(api("PUT", path, {"reason": "odd"}).status, 204)
	equal(ranking(), [("ada", 2000)])
	equal(api("DELETE", path).status, 204)
	equal(command("disqualify", "small", "bob", "odd")[0], 0)
	equal(command("lift", "small", "bob", "disqualification")[0], 0)
	equal(
		sql(
			"SELECT actor, detail FROM audit_log WHERE action = 'leaderboard.disqualify' "
			"ORDER BY id LIMIT 2"
		),
		[["carl", "bob: Two <accounts>."], ["carl", "bob: it was lifted"]],
	)


# ---- submitting for a user ----


def send_for(who, author):
	return clients[who].post(
		"/leaderboard/small/submit",
		[
			("mode", "test"),
			("code", source_of(case(900.0)) + new_source()),
			("gpu", "H200"),
			("author", author),
		],
	)


@test
def a_creator_submits_for_a_user():
	contains(get("carl", "/leaderboard/small/submit").text, 'name="author"')
	lacks(get("ada", "/leaderboard/small/submit").text, 'name="author"')
	number = int(ok(send_for("carl", "bob")).location.rsplit("/", 1)[1])
	equal(
		sql(
			"SELECT u.name, w.name FROM submissions s JOIN users u ON u.id = s.user_id "
			f"JOIN users w ON w.id = s.submitted_by WHERE s.id = {number}"
		),
		[["bob", "carl"]],
	)
	contains(get("bob", f"/submission/{number}").words(), "carl sent the file for bob.")
	contains(get("bob", "/leaderboard/small/mine").text, f"/submission/{number}")
	equal(
		sql("SELECT actor, subject, detail FROM audit_log ORDER BY id DESC LIMIT 1"),
		[["carl", f"submission {number}", "for bob on small"]],
	)
	own = int(ok(send_for("carl", "carl")).location.rsplit("/", 1)[1])
	equal(sql(f"SELECT submitted_by FROM submissions WHERE id = {own}"), [["NULL"]])


@test
def nobody_else_submits_for_a_user():
	for who, author in (("ada", "bob"), ("dora", "bob"), ("bob", "carl")):
		equal((who, send_for(who, author).status), (who, 403))
	for author in ("nobody-here", "x y"):
		answer = send_for("carl", author)
		equal(answer.status, 422)
		contains(answer.words(), "There is no user named")
	sql("UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'small'")
	answer = send_for("carl", "bob")
	equal(answer.status, 422)
	contains(answer.words(), "small is hidden, so nobody can submit for others there.")
	sql("UPDATE leaderboards SET visibility = 'closed' WHERE name = 'small'")
	contains(send_for("carl", "bob").words(), "bob may not see small")
	sql("UPDATE leaderboards SET visibility = 'public' WHERE name = 'small'")
	equal(value("SELECT COUNT(*) FROM submissions WHERE submitted_by IS NOT NULL"), "1")


@test
def nobody_submits_for_a_member_of_the_jury_of_a_hidden_leaderboard():
	sql(
		"UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'small'; "
		"INSERT INTO leaderboard_roles (leaderboard_id, user_id, role, given_by) "
		"SELECT l.id, u.id, 'jury', 'carl' FROM leaderboards l, users u "
		"WHERE l.name = 'small' AND u.name = 'bob'"
	)
	equal(get("bob", "/leaderboard/small").status, 200)
	answer = send_for("carl", "bob")
	equal(answer.status, 422)
	contains(answer.words(), "small is hidden, so nobody can submit for others there.")
	sql(
		"DELETE FROM leaderboard_roles; "
		"UPDATE leaderboards SET visibility = 'public' WHERE name = 'small'"
	)


@test
def what_a_creator_sends_for_a_user_does_not_fill_the_queue_of_the_user():
	# Jobs of earlier tests count, too.
	until(lambda: value("SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')") == "0")
	site.hold_jobs()
	for _ in range(MOST_QUEUED):
		ok(send_for("carl", "bob"))
	answer = send_for("carl", "ada")
	equal(answer.status, 429)
	contains(answer.words(), f"{MOST_QUEUED} of your jobs for others are waiting")
	for _ in range(MOST_QUEUED):
		ok(send("bob", 1000.0, mode="test"))
	equal(send("bob", 1000.0, mode="test").status, 429)
	ok(send("carl", 1000.0, mode="test"))
	sql(
		"DELETE s FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE j.state = 'queued'"
	)
	site.release_jobs()


@test
def a_program_submits_for_a_user():
	body = {"file": source_of(case(950.0)), "mode": "test", "gpus": ["H200"], "author": "ada"}
	key = {"Idempotency-Key": "once-only"}
	path = "/api/v1/leaderboards/small/submissions"
	answer = programs["carl"].ask("POST", path, body, key)
	equal((answer.status, answer.json.get("user"), answer.json.get("detail")), (201, "ada", None))
	again = programs["carl"].ask("POST", path, body, key)
	equal(again.json["id"], answer.json["id"])
	equal(programs["carl"].ask("POST", path, body | {"author": "x y"}).status, 400)
	sends = Program(site.url, make_token(clients["carl"], "sends", "read", "submit"))
	refused = sends.ask("POST", path, body)
	equal((refused.status, refused.json["code"]), (403, "insufficient_scope"))
	contains(refused.json["detail"], "lacks the scope admin")
	equal(sends.ask("POST", path, body | {"author": "carl"}).json.get("user"), "carl")
	programs["dora"] = Program(
		site.url, make_token(clients["dora"], "all", "read", "submit", "admin")
	)
	refused = programs["dora"].ask("POST", path, body)
	equal((refused.status, refused.json["code"]), (403, "forbidden"))


@test
def podium_admin_submits_for_a_user():
	file = site.var / "kernel.py"
	file.write_text(source_of(case(960.0)) + new_source())
	words = ["submit", "small", "bob", "test", file]
	said = site.manage(*words, "H200")
	number = value("SELECT MAX(id) FROM submissions")
	equal(said, f"Submission {number} of bob to small is queued.\n")
	contains(get("bob", f"/submission/{number}").words(), "podium-admin sent the file for bob.")
	equal(
		sql("SELECT actor, action, subject, detail FROM audit_log ORDER BY id DESC LIMIT 1"),
		[["podium-admin", "submission.for_user", f"submission {number}", "for bob on small"]],
	)
	copy = clients["bob"].get("/account/export").json["submissions"]
	names = {one["id"]: one["submitted_by"] for one in copy}
	equal(names[int(number)], "podium-admin")
	equal((set(names.values()) - {"podium-admin"}), {None, "carl"})
	for at, wrong, reason in (
		(1, "nothing", "no leaderboard"),
		(2, "nobody-here", "There is no user named"),
		(3, "fast", "There is no mode"),
		(4, site.var / "none.py", "none.py: No such file"),
		(4, site.var, "Is a directory"),
	):
		answer = site.admin(*words[:at], wrong, *words[at + 1 :], "H200")
		equal(answer.returncode, 1)
		contains(answer.stderr, reason)
	site.manage("quota", "set", "small", "test", 1)
	contains(site.admin(*words, "H200").stderr, "is used up")
	site.manage("quota", "set", "small", "test", "site")
	equal(site.admin(*words[:4]).returncode, 2)
	equal(value("SELECT MAX(id) FROM submissions"), number)


@test
def the_creator_of_another_board_makes_no_exceptions():
	before = sql("CHECKSUM TABLE leaderboard_extensions, disqualifications, ranking, audit_log")
	equal(get("dora", PAGE).status, 403)
	equal(moderate("disqualify", made["fast"], who="dora").status, 403)
	for action in ("extend", "unextend", "disqualify", "requalify"):
		answer = clients["dora"].post(
			PAGE,
			[("action", action), ("user", "ada"), ("reason", "x"), ("deadline", LATE)],
			form="/account",
		)
		equal((action, answer.status), (action, 403))
	equal(
		sql("CHECKSUM TABLE leaderboard_extensions, disqualifications, ranking, audit_log"), before
	)


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
