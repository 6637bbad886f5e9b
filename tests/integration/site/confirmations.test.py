#!/usr/bin/env python3
"""Destructive actions ask first and say what will be lost. The tables below list every address that
takes a form."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import route_table  # noqa: E402
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import make_board, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql, value = site.sql, site.value
ada, bob, admin = (Client(site.url) for _ in range(3))
PASSWORD = "a long password"

# Every address with a form that may destroy something, and the suite which tests that the page asks
# first ("here": this suite). An address of the router that is in neither table fails a test.
ASKS = {
	"/account/sessions": "here",
	"/account/tokens/revoke": "here",
	"/admin/announcements": "here",
	"/admin/invites": "here",
	"/admin/intake": "here",
	"/admin/leaderboard/*/publishing": "here",
	"/admin/review": "here",
	"/admin/submission/*": "here",
	"/admin/users": "here",
	"/admin/leaderboard/*/roles": "here",
	"/admin/leaderboard/*/exceptions": "roles",
	"/admin/workers": "here",
	"/submission/*/cancel": "here",
	"/submission/*/withdraw": "participants",
	"/account/delete": "account",
	"/admin/leaderboard/*/delete": "site",
	"/admin/leaderboard/*/switch": "versions",
	"/admin/hooks/*": "webhooks",
	"/admin/rejudgings/*": "rejudging",
	"/admin/users/*/ban": "users",
	"/admin/sets/*": "sets",
	"/admin/contest/*": "contests",
	"/account/identities": "sign_in",
	"/account/security": "factors",
}
LOSES_NOTHING = {
	"/submit",
	"/leaderboard/*/questions",
	"/leaderboard/*/submit",
	"/submission/*/restore",
	"/submission/*/note",
	"/join",
	"/contest/*/registration",
	"/contest/*/news",
	"/contest/*/teams",
	"/admin/contests/new",
	"/register",
	"/login",
	"/logout",
	"/password/*",
	"/account/password",
	"/account/tokens",
	"/account/mail",
	"/mail/confirm/*",
	"/mail/unsubscribe/*",
	"/forgot",
	"/sign-in",
	"/login/passkey",
	"/login/factor",
	"/passkey/challenge",
	"/account/security/app",
	"/account/confirm",
	"/account/overtaken",
	"/device",
	"/admin/gpus/release",
	"/admin/leaderboards/new",
	"/admin/leaderboard/*/edit",
	"/admin/leaderboard/*/task",
	"/admin/leaderboard/*/hooks",
	"/admin/hooks",
	"/admin/leaderboard/*/clone",
	"/admin/leaderboard/*/dryrun",
	"/admin/sets/new",
	"/admin/rejudgings",
	"/admin/users/invite",
	"/theme",
}


@test
def the_tables_of_this_test_list_every_address():
	routes = set(route_table.pages("POST"))
	equal(routes - set(ASKS) - LOSES_NOTHING, set())
	equal((set(ASKS) | LOSES_NOTHING) - routes, set())
	for suite in set(ASKS.values()) - {"here"}:
		equal(
			(suite, (ROOT / "tests/integration/site" / f"{suite}.test.py").exists()), (suite, True)
		)


def asks(client, address, fields, state, sentences, typed=None):
	"""Checks that the form changes nothing before confirmation, that the page that asks keeps the
	input and has these sentences, and that confirming changes the result of the query `state`.
	`typed`: the word to type as confirmation; None: a button confirms."""
	before = sql(state)
	entries = value("SELECT COUNT(*) FROM audit_log")
	wrongs = (
		[[]]
		if typed is None
		else [[], [("confirm", "")], [("confirm", "yes")], [("confirm", f"{typed}x")]]
	)
	for wrong in wrongs + ([[("confirm", "no")]] if typed is None else []):
		answer = client.post(address, list(fields) + wrong, form="/account")
		equal((address, wrong, answer.status), (address, wrong, 422))
		whole(answer)
		for sentence in sentences:
			contains(answer.words(), sentence)
		if wrong and typed is not None:
			contains(answer.words(), f"so nothing was changed; type {typed}.")
		equal((address, wrong, sql(state)), (address, wrong, before))
	for name, sent in fields:
		contains(answer.text, f'<input type="hidden" name="{name}" value="')
	equal(value("SELECT COUNT(*) FROM audit_log"), entries)
	answer = client.post(
		address,
		list(fields) + [("confirm", typed if typed is not None else "yes")],
		form="/account",
	)
	equal(
		(address, answer.status, answer.words() if answer.status != 303 else ""), (address, 303, "")
	)
	equal(sql(state) == before, False)


@test
def the_fixtures_are_created():
	global first, second
	for client, name in ((ada, "ada"), (bob, "bob"), (admin, "root-of-all")):
		client.register(name)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	make_board(admin, "small")
	first, second = submit_time(ada, 1000.0), submit_time(bob, 2000.0)


@test
def hiding_and_holding_say_that_the_ranking_changes():
	state = "SELECT user_id, position FROM ranking ORDER BY position"
	asks(
		admin,
		f"/admin/submission/{first}",
		[("action", "hide"), ("reason", 'It <copies> "a" library.')],
		state,
		[
			f"Hide submission {first}?",
			"ada submitted",
			"It leaves the ranking",
			'Its author reads: “It <copies> "a" library.”',
			"It can be shown and ranked again.",
		],
	)
	equal(admin.post(f"/admin/submission/{first}", [("action", "show")]).status, 303)
	asks(
		admin,
		f"/admin/submission/{first}",
		[("action", "hold"), ("reason", "Too good.")],
		state,
		[f"Hold submission {first} for review?", "What has passed of it leaves the ranking"],
	)


@test
def stopping_the_site_says_what_continues_and_starting_it_asks_nothing():
	asks(
		admin,
		"/admin/intake",
		[("action", "stop")],
		"SELECT COUNT(*) FROM intake_stops",
		[
			"Stop submissions?",
			"Nobody can submit to any leaderboard",
			"Queued and running jobs continue",
		],
	)
	contains(
		admin.get("/admin").words(),
		"Podium accepts no submissions on any leaderboard. root-of-all stopped them just now .",
	)
	equal(admin.post("/admin/intake", [("action", "start")], form="/admin").location, "/admin")
	contains(admin.get("/admin").words(), "Podium accepts submissions again.")
	equal(sql("SELECT * FROM intake_stops"), [])


@test
def rejecting_a_result_needs_its_number():
	asks(
		admin,
		"/admin/review",
		[
			("action", "reject"),
			("submission", first),
			("gpu", "H200"),
			("reason", "It is not <true>."),
		],
		f"SELECT verdict, score_ns FROM jobs WHERE submission_id = {first}",
		[
			f"Reject submission {first} on H200?",
			"becomes a protocol violation, loses its time and is never ranked",
			"That is final",
			"Rejected by the admin root-of-all: It is not <true>.",
		],
		typed=first,
	)


@test
def pausing_lists_running_jobs_and_resuming_asks_nothing():
	worker = value("SELECT name FROM workers LIMIT 1")
	uuid = value("SELECT uuid FROM gpus ORDER BY uuid LIMIT 1")
	sql(
		"INSERT INTO jobs (submission_id, user_id, gpu, state, lease_owner, lease_device, "
		f"lease_expires, started_at) SELECT id, user_id, 'Z9000', 'running', '{worker}', '{uuid}', "
		f"UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, UTC_TIMESTAMP(3) FROM submissions WHERE id = {first}"
	)
	asks(
		admin,
		"/admin/workers",
		[("action", "drain"), ("worker", worker), ("device", uuid)],
		"SELECT worker, uuid, kind FROM pauses",
		[f"Drain {uuid} of {worker}?", "1 running job on it will finish first."],
	)
	asks(
		admin,
		"/admin/workers",
		[("action", "pause"), ("worker", worker), ("device", "")],
		"SELECT worker, uuid, kind FROM pauses",
		[
			f"Pause {worker}?",
			"It takes no jobs until an admin resumes it",
			"1 running job on it will stop and be queued again.",
		],
	)
	for device in ("", uuid):
		equal(
			admin.post(
				"/admin/workers", [("action", "resume"), ("worker", worker), ("device", device)]
			).status,
			303,
		)
	equal(
		admin.post(
			"/admin/workers", [("action", "pause"), ("worker", "nobody"), ("device", "")]
		).status,
		404,
	)


@test
def cancelling_another_users_submission_needs_its_number():
	address = f"/submission/{first}/cancel"
	state = f"SELECT state FROM jobs WHERE submission_id = {first} AND gpu = 'Z9000'"
	contains(admin.get(address).words(), f"To cancel it, type its number: {first}")
	for fields in ([], [("number", "")], [("number", f"{first}x")]):
		answer = admin.post(address, fields)
		equal((fields, answer.status), (fields, 422))
		whole(answer)
		contains(answer.words(), f"so nothing was cancelled; type {first}.")
		equal(sql(state), [["queued"]])
	equal(admin.post(address, [("number", first)]).status, 303)
	equal(sql(state), [["cancelled"]])
	sql(
		f"UPDATE jobs SET state = 'queued', verdict = NULL WHERE submission_id = {first} AND gpu "
		"= 'Z9000'"
	)
	lacks(ada.get(address).text, 'name="number"')
	equal(ada.post(address).status, 303)
	equal(sql(state), [["cancelled"]])


@test
def changing_visibility_says_who_loses_access_and_names_members():
	address = "/admin/leaderboard/small/publishing"
	state = (
		"SELECT visibility, frozen_at IS NULL, archived_at IS NULL FROM leaderboards "
		"WHERE name = 'small'"
	)
	asks(
		admin,
		address,
		[("action", "freeze")],
		state,
		["The public ranking stays as it was", "until you lift the freeze"],
	)
	asks(
		admin,
		address,
		[("action", "lift")],
		state,
		["are ranked and public immediately. You cannot undo this."],
	)
	asks(admin, address, [("visibility", "closed")], state, ["Only its members see it then"])
	asks(
		admin,
		address,
		[("action", "remove"), ("member", "bob")],
		"SELECT COUNT(*) FROM leaderboard_members",
		[
			"Remove bob from small?",
			"sees neither it nor the submissions there",
			"No invite code admits bob again",
		],
		typed="bob",
	)
	asks(
		admin,
		address,
		[("visibility", "hidden"), ("archived", "1")],
		state,
		[
			"Authors do not see their own submissions on it",
			"It takes no submissions any more and moves from the front page to the archive.",
		],
	)
	# Changes that destroy nothing need no confirmation.
	for fields in (
		[("visibility", "hidden")],
		[("visibility", "closed")],
		[("visibility", "public"), ("frozen", "2100-01-01 00:00")],
		[("visibility", "public")],
	):
		equal((fields, admin.post(address, fields).status), (fields, 303))


@test
def roles_announcements_codes_tokens_and_sessions_ask_for_a_second_press():
	asks(
		admin,
		"/admin/users",
		[("action", "role"), ("user", "bob"), ("role", "admin")],
		"SELECT role FROM users WHERE name = 'bob'",
		["Give bob the role admin?", "bob has the role participant now. Admins may do everything"],
	)
	asks(
		admin,
		"/admin/users",
		[("action", "role"), ("user", "bob"), ("role", "participant")],
		"SELECT role FROM users WHERE name = 'bob'",
		["They create no leaderboards"],
	)
	roles = "SELECT role FROM leaderboard_roles"
	equal(
		admin.post(
			"/admin/leaderboard/small/roles",
			[("action", "give"), ("user", "bob"), ("role", "jury")],
		).status,
		303,
	)
	asks(
		admin,
		"/admin/leaderboard/small/roles",
		[("action", "take"), ("user", "bob")],
		roles,
		["Take the role of bob on small away?"],
	)
	equal(
		admin.post(
			"/admin/announcements",
			[
				("action", "make"),
				("text", 'It <rests> "on" Sunday.'),
				("leaderboard", ""),
				("from", ""),
				("until", ""),
			],
		).status,
		303,
	)
	number = value("SELECT MAX(id) FROM announcements")
	asks(
		admin,
		"/admin/announcements",
		[("action", "end"), ("id", number)],
		"SELECT until_at FROM announcements",
		[
			"End this announcement?",
			'“It <rests> "on" Sunday.”',
			"you can create another announcement",
		],
	)
	equal(
		admin.post(
			"/admin/invites",
			[
				("action", "make"),
				("leaderboard", "small"),
				("note", ""),
				("uses", ""),
				("expires", ""),
			],
		).status,
		303,
	)
	asks(
		admin,
		"/admin/invites",
		[("action", "revoke"), ("invite", value("SELECT MAX(id) FROM invites"))],
		"SELECT revoked_at FROM invites",
		[
			"Nobody can join small with this code any more.",
			"It was used 0 times. Whoever used it stays a member.",
		],
	)
	equal(
		ada.post(
			"/account/tokens", [("name", "lap <top>"), ("scope", "read"), ("days", "7")]
		).status,
		303,
	)
	asks(
		ada,
		"/account/tokens/revoke",
		[("token", value("SELECT MAX(id) FROM api_tokens"))],
		"SELECT COUNT(*) FROM api_tokens",
		[
			"Revoke the token lap <top>?",
			"Podium will refuse programs that use it",
			"The token was never used.",
		],
	)
	other = Client(site.url)
	equal(other.post("/login", [("name", "ada"), ("password", PASSWORD)]).status, 303)
	asks(
		ada,
		"/account/sessions",
		[("session", "others")],
		"SELECT COUNT(*) FROM sessions",
		["End all other sessions?", "1 other session ends", "This one stays."],
	)


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
