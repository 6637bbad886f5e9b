#!/usr/bin/env python3
"""Who sees a leaderboard, at every address of the site; invite codes; practice, freeze and archive.
A stand-in for podium-run reports what each submission tells it to."""

import functools
import pathlib
import random
import re
import string
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
from client import Client, fresh, whole  # noqa: E402
from instance import Instance  # noqa: E402
import small_task  # noqa: E402
from small_task import (  # noqa: E402
	TEMPLATE_TASK,
	done as ok,
	store_comparison,
	store_waiting,
	submit_time,
)
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql, value = site.sql, site.value
anyone, ada, bob, eve, admin, carl, dora = (Client(site.url) for _ in range(7))
PASSWORD = "a long password"
made = {}


def make_board(client, name, **fields):
	return small_task.make_board(client, name, TEMPLATE_TASK, sources="deadline", **fields)


def publish(client, board, action="save", **fields):
	return client.post(
		f"/admin/leaderboard/{board}/publishing",
		[("action", action), ("confirm", fields.get("member", "yes")), *fields.items()],
	)


submit = functools.partial(submit_time, verdict={"engine": "custom"})


def ranking(client=anyone, board="small"):
	return [
		(row["user"], row["rank"])
		for row in client.get(fresh(f"/leaderboard/{board}.json?gpu=H200")).json["rows"]
	]


@test
def the_fixtures_are_created():
	for client, name in (
		(ada, "ada"),
		(bob, "bob"),
		(eve, "eve"),
		(admin, "root-of-all"),
		(carl, "carl"),
		(dora, "dora"),
	):
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name IN ('carl', 'dora')"
	)
	make_board(carl, "small")
	made["ada"], made["bob"] = submit(ada, 3000.0), submit(bob, 5000.0)
	made["hook"] = ok(
		carl.post(
			"/admin/leaderboard/small/hooks",
			[
				("name", "small talk"),
				("address", "https://small.example/"),
				("form", "json"),
				("event", "ended"),
			],
		)
	).location.rsplit("/", 1)[1]
	equal(ranking(), [("ada", 1), ("bob", 2)])
	equal(value("SELECT visibility FROM leaderboards WHERE name = 'small'"), "public")


# ---- who sees it ----

# Every GET address of the router, with examples. If the leaderboard is closed, addresses in ITS_OWN
# refuse strangers, and addresses in ELSEWHERE do not name the leaderboard. A missing address fails
# the test.
ITS_OWN = {
	"/leaderboard/*.json": ["/leaderboard/small.json"],
	"/leaderboard/*.csv": ["/leaderboard/small.csv"],
	"/leaderboard/*.atom": ["/leaderboard/small.atom"],
	"/leaderboard/*/badge.svg": ["/leaderboard/small/badge.svg"],
	"/leaderboard/*/share.png": ["/leaderboard/small/share.png"],
	"/leaderboard/*/live": ["/leaderboard/small/live"],
	"/leaderboard/*": [
		"/leaderboard/small",
		"/leaderboard/small?version=1",
		"/leaderboard/SMALL",
		"/leaderboard/small?version=99",
		"/leaderboard/small?gpu=none",
		"/leaderboard/small?view=shapes",
		"/leaderboard/small?view=gpus",
		"/leaderboard/small?view=live",
	],
	"/leaderboard/*/submit": ["/leaderboard/small/submit"],
	"/leaderboard/*/mine": ["/leaderboard/small/mine"],
	"/leaderboard/*/task": ["/leaderboard/small/task"],
	"/leaderboard/*/task/**": ["/leaderboard/small/task/file/eval.py"],
	"/leaderboard/*/raw/**": ["/leaderboard/small/raw/file/eval.py"],
	"/leaderboard/*/template/*": ["/leaderboard/small/template/Python"],
	"/submission/*": ["/submission/{ada}", "/submission/{bob}"],
	"/submission/*/status": ["/submission/{ada}/status"],
	"/submission/*/source": ["/submission/{ada}/source"],
	"/submission/*/artifact/*": ["/submission/{ada}/artifact/1"],
	"/submission/*/plan/*": ["/submission/{ada}/plan/1"],
	"/submission/*/cancel": ["/submission/{ada}/cancel"],
	"/leaderboard/*/questions": ["/leaderboard/small/questions"],
	"/submission/*/withdraw": ["/submission/{ada}/withdraw"],
	"/submission/*/note": ["/submission/{ada}/note"],
	"/compare": ["/compare?a={ada}&b={bob}"],
	"/comparison/*": ["/comparison/{comparison}"],
	"/comparison/*/status": ["/comparison/{comparison}/status"],
	"/admin/submission/*": ["/admin/submission/{ada}"],
	"/admin/leaderboard/*/edit": ["/admin/leaderboard/small/edit"],
	"/admin/leaderboard/*/task": ["/admin/leaderboard/small/task"],
	"/admin/leaderboard/*/delete": ["/admin/leaderboard/small/delete"],
	"/admin/leaderboard/*/publishing": ["/admin/leaderboard/small/publishing"],
	"/admin/leaderboard/*/versions": ["/admin/leaderboard/small/versions"],
	"/admin/leaderboard/*/diff": ["/admin/leaderboard/small/diff"],
	"/admin/leaderboard/*/switch": ["/admin/leaderboard/small/switch?version=1"],
	"/admin/leaderboard/*/dryrun": ["/admin/leaderboard/small/dryrun"],
	"/admin/leaderboard/*/dryrun/status": ["/admin/leaderboard/small/dryrun/status"],
	"/admin/leaderboard/*/clone": ["/admin/leaderboard/small/clone"],
	"/admin/leaderboard/*/hooks": ["/admin/leaderboard/small/hooks"],
	"/admin/leaderboard/*/exceptions": ["/admin/leaderboard/small/exceptions"],
	"/admin/leaderboard/*/unfrozen": ["/admin/leaderboard/small/unfrozen"],
	"/admin/leaderboard/*/roles": ["/admin/leaderboard/small/roles"],
	"/admin/submissions": ["/admin/submissions?leaderboard=small"],
	"/admin/leaderboard/*/similar": ["/admin/leaderboard/small/similar"],
	"/admin/hooks/*": ["/admin/hooks/{hook}"],
	"/admin/hooks/*/status": ["/admin/hooks/{hook}/status"],
}
ELSEWHERE = {
	"/": ["/"],
	"/submit": ["/submit"],
	"/user/*": ["/user/ada", "/user/bob"],
	"/queue": ["/queue"],
	"/mine": ["/mine"],
	"/queue/status": ["/queue/status"],
	"/account/sessions": ["/account/sessions"],
	"/account/tokens": ["/account/tokens"],
	"/device": ["/device"],
	"/account/data": ["/account/data"],
	"/account/export": [],  # contains only the user's own data
	"/account/delete": ["/account/delete"],
	"/account/deleted": ["/account/deleted"],
	"/archive": ["/archive"],
	"/contests": ["/contests"],
	"/contest/*.json": ["/contest/cup.json"],
	"/contest/*.csv": ["/contest/cup.csv"],
	"/contest/*": ["/contest/cup"],
	"/contest/*/teams": ["/contest/cup/teams"],
	"/contest/*/reveal": ["/contest/cup/reveal"],
	"/contest/*/unfrozen": ["/contest/cup/unfrozen"],
	"/contest/*/certificate/*": ["/contest/cup/certificate/ada"],
	"/admin/contests/new": ["/admin/contests/new"],
	"/admin/contest/*": ["/admin/contest/cup"],
	"/join": ["/join"],
	"/account": ["/account"],
	"/admin": ["/admin"],
	"/admin/invites": ["/admin/invites"],
	"/admin/leaderboards/new": ["/admin/leaderboards/new"],
	"/admin/sets/new": ["/admin/sets/new"],
	"/admin/sets/*": ["/admin/sets/1"],
	"/admin/host/*": ["/admin/host/none"],
	"/admin/workers": ["/admin/workers"],
	"/admin/review": ["/admin/review"],
	"/admin/announcements": ["/admin/announcements"],
	"/admin/rejudgings": ["/admin/rejudgings"],
	"/admin/rejudgings/*": ["/admin/rejudgings/1"],
	"/admin/rejudgings/*/*": ["/admin/rejudgings/1/1"],
	"/admin/device/*/*": ["/admin/device/none/H200"],
	"/password/*": ["/password/none"],
	"/forgot": ["/forgot"],
	"/mail/confirm/*": ["/mail/confirm/none"],
	"/mail/unsubscribe/*": ["/mail/unsubscribe/none"],
	"/account/mail": ["/account/mail"],
	"/account/identities": ["/account/identities"],
	"/account/security": ["/account/security"],
	"/account/security/app": ["/account/security/app"],
	"/account/confirm": ["/account/confirm"],
	"/login/factor": ["/login/factor"],
	"/sign-in": ["/sign-in"],
	"/sign-in/*": ["/sign-in/none"],
	"/sign-in/*/callback": ["/sign-in/none/callback"],
	"/admin/users/*/ban": ["/admin/users/ada/ban"],
	"/admin/hooks": ["/admin/hooks"],
	"/admin/users": ["/admin/users"],
	"/admin/audit": ["/admin/audit"],
	"/language/*": ["/language/py"],
	"/language/*/*": ["/language/py/eval.py"],
	"/judge": ["/judge"],
	"/help": ["/help"],
	"/help/*": ["/help/action.yml"],
	"/help/terminal/podium": [],
	"/help/terminal/podium.sha256": ["/help/terminal/podium.sha256"],
	"/register": ["/register"],
	"/login": ["/login"],
	"/healthz": ["/healthz"],
	# nginx.conf lets only the operator's network read the metrics. They name the GPU models of
	# queued jobs, but no leaderboard.
	"/metrics": [],
}


def addresses(table):
	return [address.format(**made) for pattern in table for address in table[pattern]]


@test
def the_tables_of_this_test_list_every_address():
	equal(set(route_table.pages("GET")) - set(ITS_OWN) - set(ELSEWHERE), set())
	equal((set(ITS_OWN) | set(ELSEWHERE)) - set(route_table.pages("GET")), set())


def prepare_rows():
	"""Stores a queued job that no worker can run, a comparison, and a contest that has ended."""
	sql(
		"INSERT INTO contests (id, name, title, starts_at, ends_at, rules, started_at, ended_at, "
		"freeze_minutes) VALUES (1, 'cup', 'Cup', '2020-01-01', '2020-01-02', '', '2020-01-01', "
		"'2020-01-02', 60); "
		"INSERT INTO contest_problems (leaderboard_id, contest_id, position) "
		"SELECT id, 1, 0 FROM leaderboards WHERE name = 'small'; "
		"INSERT INTO contest_entrants (contest_id, user_id) "
		"SELECT 1, id FROM users WHERE name IN ('ada', 'bob')"
	)
	made["waiting"] = store_waiting(site, made["ada"], "small-secret.py", "Z9000")
	made["comparison"] = store_comparison(site, made["bob"], made["ada"])


def sees(client, table):
	"""Returns the client's answer for each address of the table."""
	return {address: client.get(fresh(address)) for address in addresses(table)}


@test
def everybody_sees_a_public_leaderboard():
	prepare_rows()
	for address in (
		"/leaderboard/small",
		"/leaderboard/small.json",
		"/leaderboard/small.csv",
		f"/submission/{made['ada']}",
		f"/comparison/{made['comparison']}",
	):
		equal((address, anyone.get(fresh(address)).status), (address, 200))
	for address in ("/", "/queue", "/user/ada"):
		contains(anyone.get(fresh(address)).text, "/leaderboard/small")
	contains(anyone.get(fresh("/queue/status")).text, "Z9000")


def is_invisible_to(client, who):
	for address, answer in sees(client, ITS_OWN).items():
		asks_to_log_in = client is anyone and answer.status == 303 and "/login" in answer.location
		refused = (
			answer.status == 404
			or asks_to_log_in
			or (address.startswith("/admin") and answer.status in (303, 403))
		)
		assert refused, (who, address, answer.status)
		if answer.status == 404:
			# Except for the address, the error must be the same as for a leaderboard that does not
			# exist.
			missing = client.get(
				re.sub(r"\d+", "987654321", address)
				if address.startswith("/compare")
				else address.replace("small", "nowhere")
				.replace("SMALL", "nowhere")
				.replace(str(made["ada"]), "987654321")
				.replace(str(made["bob"]), "987654321")
				.replace(f"comparison/{made['comparison']}", "comparison/987654321")
			)
			equal((who, address, missing.status), (who, address, 404))
			told, told_of_missing = (
				re.sub(r"the number \d+", "the number N", page.words().split("is no", 1)[-1])
				for page in (answer, missing)
			)
			equal(
				(who, address, told.replace("SMALL", "nowhere").replace("small", "nowhere")),
				(who, address, told_of_missing),
			)
	for address, answer in sees(client, ELSEWHERE).items():
		if "/language/" not in address:
			for trace in ("small", "Z9000"):
				assert trace not in re.sub(r'class="[^"]*"', "", answer.text), (
					who,
					address,
					answer.text,
				)


def is_visible_to(client, who):
	for address in (
		"/leaderboard/small",
		"/leaderboard/small.json",
		"/leaderboard/small.csv",
		"/leaderboard/small/task",
		"/leaderboard/small/submit",
		"/leaderboard/small/mine",
		"/leaderboard/small/template/Python",
		f"/submission/{made['bob']}",
		f"/submission/{made['ada']}/status",
		f"/comparison/{made['comparison']}",
	):
		equal((who, address, client.get(address).status), (who, address, 200))
	for address in ("/", "/queue", "/submit", "/user/ada"):
		text = client.get(address).text
		assert "/leaderboard/small" in text or 'value="small"' in text, (who, address)
	contains(client.get("/queue/status").text, "Z9000")


@test
def a_closed_leaderboard_does_not_exist_for_others():
	ok(publish(carl, "small", visibility="closed"))
	for client, who in ((anyone, "anyone"), (eve, "a stranger"), (dora, "another creator")):
		is_invisible_to(client, who)
	for client, who in (
		(ada, "an author"),
		(bob, "another author"),
		(carl, "its creator"),
		(admin, "an admin"),
	):
		is_visible_to(client, who)
	contains(whole(ada.get("/leaderboard/small")).words(), "members only")


@test
def an_invisible_leaderboard_takes_no_submissions():
	token = eve.csrf("/account")
	for address, fields in (
		("/leaderboard/small/submit", [("mode", "test"), ("code", "a = 1"), ("gpu", "H200")]),
		(f"/submission/{made['waiting']}/cancel", []),
	):
		equal((address, eve.post(address, fields, csrf=token).status), (address, 404))
	answer = eve.post(
		"/submit", [("mode", "test"), ("code", "#!POPCORN leaderboard small\na = 1")], csrf=token
	)
	equal(answer.status, 422)
	contains(answer.words(), 'There is no leaderboard named "small".')
	for action in ("edit", "delete", "publishing", "switch?version=1", "clone", "dryrun"):
		address = f"/admin/leaderboard/small/{action}"
		equal(
			(
				address,
				dora.post(
					address,
					[("name", "small"), ("visibility", "public")],
					csrf=dora.csrf("/account"),
				).status,
			),
			(address, 404),
		)
	equal(value("SELECT visibility FROM leaderboards WHERE name = 'small'"), "closed")
	equal(value(f"SELECT state FROM jobs WHERE submission_id = {made['waiting']}"), "queued")


@test
def only_its_creator_and_admins_see_a_hidden_leaderboard():
	ok(publish(carl, "small", visibility="hidden"))
	for client, who in (
		(anyone, "anyone"),
		(eve, "a stranger"),
		(dora, "another creator"),
		(ada, "an author"),
	):
		is_invisible_to(client, who)
	for client, who in ((carl, "its creator"), (admin, "an admin")):
		is_visible_to(client, who)
	shown = whole(carl.get("/leaderboard/small"))
	contains(shown.words(), "This is a preview")
	ok(publish(carl, "small", action="publish"))
	equal(anyone.get(fresh("/leaderboard/small")).status, 200)
	answer = publish(carl, "small", visibility="<secret>")
	equal(answer.status, 422)
	contains(whole(answer).words(), "Choose public, closed or hidden.")


@test
def a_leaderboard_can_be_created_hidden_and_published_later():
	make_board(carl, "later", hidden=True)
	equal(
		[client.get("/leaderboard/later").status for client in (anyone, ada, dora, carl, admin)],
		[404, 404, 404, 200, 200],
	)
	for words in ("This is a preview", "A small task."):
		contains(whole(carl.get("/leaderboard/later")).words(), words)
	shown = whole(carl.get("/leaderboard/later/task"))
	for words in ("This is a preview", "A small task.", "What a submission can start from", "1024"):
		contains(shown.words(), words)
	contains(
		value(
			"SELECT detail FROM audit_log WHERE action = 'leaderboard.create' AND subject = 'later'"
		),
		"hidden; devices: H200",
	)
	content = lambda answer: answer.text.split('<h2 id="description">')[1].split("</main>")[0]
	site.publish("later")
	equal(content(whole(anyone.get(fresh("/leaderboard/later/task")))), content(shown))
	ok(carl.post("/admin/leaderboard/later/delete", [("name", "later")]))


@test
def each_change_is_in_the_audit_log():
	rows = sql(
		"SELECT actor, subject, detail FROM audit_log WHERE action = 'leaderboard.publish' ORDER "
		"BY id"
	)
	for detail in (
		"visibility: closed, was public",
		"visibility: hidden, was closed",
		"visibility: public, was hidden",
	):
		contains(rows, ["carl", "small", detail])
	before = int(value("SELECT COUNT(*) FROM audit_log"))
	ok(publish(carl, "small", visibility="public"))
	equal(int(value("SELECT COUNT(*) FROM audit_log")), before)


# ---- invites ----


def newest_code():
	return value("SELECT code FROM invites ORDER BY id DESC LIMIT 1")


def invite(client, *boards, **fields):
	return client.post(
		"/admin/invites",
		[("action", "make"), *(("leaderboard", board) for board in boards), *fields.items()],
	)


def join(client, code):
	return client.post("/join", [("code", code)])


@test
def a_code_can_open_several_leaderboards():
	for board in ("first", "second"):
		make_board(carl, board)
		ok(publish(carl, board, visibility="closed"))
	ok(invite(carl, "first", "second", note="class <of> 2026", uses="1"))
	code = newest_code()
	shown = whole(carl.get("/admin/invites"))
	contains(shown.words(), "class <of> 2026")
	contains(shown.words(), code)
	equal(eve.get("/leaderboard/first").status, 404)
	whole(eve.get(f"/join?code={code}"))
	contains(anyone.get(f"/join?code={code}").text, f'href="/login?next=/join%3Fcode%3D{code}"')
	joined = ok(join(eve, f"  {code}\n"))
	equal(joined.location, "/join")
	contains(whole(eve.get(joined.location)).words(), "Your members-only leaderboards first second")
	contains(carl.get("/admin").words(), "second by carl active members only")
	equal([eve.get(f"/leaderboard/{board}").status for board in ("first", "second")], [200, 200])
	ok(join(eve, code))  # entering the code again uses up no seat
	refused = join(ada, code)
	equal(refused.status, 422)
	contains(refused.words(), "has no uses left")
	equal(ada.get("/leaderboard/first").status, 404)
	contains(carl.get("/admin/invites").words(), "1 of 1")


@test
def a_wrong_revoked_or_expired_code_opens_nothing():
	for code in ("", "x" * 20, "' OR 1 = 1 --", "é" * 10):
		refused = join(bob, code)
		equal(refused.status, 422)
		contains(whole(refused).words(), "There is no such code")
	ok(invite(carl, "first"))
	code, number = newest_code(), value("SELECT MAX(id) FROM invites")
	equal(dora.post("/admin/invites", [("action", "revoke"), ("invite", number)]).status, 404)
	ok(carl.post("/admin/invites", [("action", "revoke"), ("invite", number), ("confirm", "yes")]))
	contains(join(bob, code).words(), "This code was revoked")
	ok(invite(carl, "first", expires="2099-01-01T00:00"))
	code = newest_code()
	sql(
		"UPDATE invites SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND ORDER BY id DESC "
		"LIMIT 1"
	)
	contains(join(bob, code).words(), "This code has expired")
	equal(bob.get("/leaderboard/first").status, 404)
	contains(carl.get("/admin/invites").words(), "revoked")
	contains(carl.get("/admin/invites").words(), "expired")


@test
def creators_invite_only_to_their_own_leaderboards():
	make_board(dora, "doras")
	before = sql("SELECT COUNT(*) FROM invites")
	refused = invite(dora, "first")
	equal(refused.status, 422)
	contains(refused.words(), "that you may invite to")
	for fields, sentence in (
		({}, "Choose at least one leaderboard"),
		({"leaderboard": "first", "uses": "0"}, "a whole number from 1"),
		({"leaderboard": "first", "expires": "soon"}, "Type a date and time as"),
		({"leaderboard": "first", "expires": "2001-01-01"}, "This time is in the past."),
		({"leaderboard": "first", "note": "n" * 81}, "too long"),
	):
		answer = carl.post("/admin/invites", [("action", "make"), *fields.items()])
		equal(answer.status, 422)
		contains(whole(answer).words(), sentence)
	every = whole(
		carl.post(
			"/admin/invites",
			[("action", "make"), ("uses", "0"), ("expires", "soon"), ("note", "n" * 81)],
		)
	)
	contains(every.text, "<title>Error: Invites")
	contains(every.words(), "Correct these 4 fields first")
	for field in ("leaderboard", "uses", "expires", "note"):
		contains(every.text, f'<a href="#{field}">')
		contains(every.text, f'id="{field}-error"')
	contains(every.text, 'value="soon"')
	equal(sql("SELECT COUNT(*) FROM invites"), before)
	lacks(dora.get("/admin/invites").words(), "class <of> 2026")
	contains(admin.get("/admin/invites").words(), "class <of> 2026")
	ok(invite(admin, "first"))


@test
def a_removed_member_no_longer_sees_the_leaderboard():
	contains(whole(carl.get("/admin/leaderboard/first/publishing")).words(), "eve")
	ok(publish(carl, "first", action="remove", member="eve"))
	equal([eve.get(f"/leaderboard/{board}").status for board in ("first", "second")], [404, 200])
	equal(publish(carl, "first", action="remove", member="eve").status, 404)
	contains(
		value("SELECT detail FROM audit_log WHERE action = 'leaderboard.remove'"),
		"eve is no longer a member",
	)


@test
def only_the_creator_and_no_code_can_bring_back_a_removed_member():
	ok(invite(carl, "first"))
	refused = join(eve, newest_code())
	equal(refused.status, 422)
	contains(whole(refused).words(), "You were removed from the leaderboard that this code is for")
	equal(value("SELECT uses FROM invites ORDER BY id DESC LIMIT 1"), "0")
	make_board(carl, "third")
	ok(publish(carl, "third", visibility="closed"))
	ok(invite(carl, "first", "third"))
	equal(ok(join(eve, newest_code())).location, "/leaderboard/third")
	equal([eve.get(f"/leaderboard/{board}").status for board in ("first", "third")], [404, 200])
	# Closing a leaderboard makes the authors of its submissions members, except removed members.
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT l.id, l.task_version_id, u.id, 'a.py', s.sha256, 'test' "
		"FROM leaderboards l JOIN users u ON u.name IN ('eve', 'ada') JOIN (SELECT sha256 FROM "
		"submissions LIMIT 1) s WHERE l.name = 'first'"
	)
	ok(publish(carl, "first", visibility="public"))
	equal(eve.get("/leaderboard/first").status, 200)
	ok(publish(carl, "first", visibility="closed"))
	equal([client.get("/leaderboard/first").status for client in (eve, ada)], [404, 200])
	equal(
		publish(dora, "first", action="readmit", member="eve").status, 404
	)  # dora may not see the leaderboard
	for nobody in ("bob", "é", ""):
		equal(
			(nobody, publish(carl, "first", action="readmit", member=nobody).status), (nobody, 404)
		)
	contains(
		whole(carl.get("/admin/leaderboard/first/publishing")).words(),
		"No invite code admits these users again. User Removed Actions eve",
	)
	ok(publish(carl, "first", action="readmit", member="eve"))
	equal(eve.get("/leaderboard/first").status, 200)
	equal(sql("SELECT * FROM leaderboard_removals"), [])
	equal(
		sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'leaderboard.readmit'"),
		[["carl", "first", "eve is a member again"]],
	)
	sql(
		"DELETE s FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id AND l.name = "
		"'first'"
	)


@test
def a_code_does_not_work_while_its_maker_may_not_invite():
	ok(invite(carl, "second"))
	code = newest_code()
	for change, back in (
		("banned_at = UTC_TIMESTAMP(3)", "banned_at = NULL"),
		("role = 'participant'", "role = 'creator'"),
	):
		sql(f"UPDATE users SET {change} WHERE name = 'carl'")
		refused = join(bob, code)
		equal((change, refused.status), (change, 422))
		contains(whole(refused).words(), "The person who created this code may no longer invite")
		equal(ok(join(eve, code)).location, "/leaderboard/second")  # eve is a member already
		contains(whole(admin.get("/admin/invites")).words(), "suspended second")
		sql(f"UPDATE users SET {back} WHERE name = 'carl'")
	equal(bob.get("/leaderboard/second").status, 404)
	# An admin's code works for any leaderboard. If the admin becomes a creator, the code works only
	# for the leaderboards that they created.
	ok(invite(admin, "second", "third"))
	wide = newest_code()
	sql(
		"UPDATE users SET role = 'creator' WHERE name = 'root-of-all'; UPDATE leaderboards l JOIN "
		"users u ON u.name = 'root-of-all' SET l.creator_id = u.id WHERE l.name = 'third'"
	)
	equal(ok(join(bob, wide)).location, "/leaderboard/third")
	refused = join(bob, wide)
	equal(refused.status, 422)
	contains(whole(refused).words(), "may no longer invite to its remaining leaderboards")
	equal(value("SELECT uses FROM invites ORDER BY id DESC LIMIT 1"), "1")
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE leaderboards l JOIN "
		"users u ON u.name = 'carl' SET l.creator_id = u.id WHERE l.name = 'third'"
	)
	ok(join(bob, code))
	equal(bob.get("/leaderboard/second").status, 200)


# ---- freeze ----


@test
def a_frozen_ranking_does_not_change_until_the_freeze_is_lifted():
	ok(publish(carl, "small", action="freeze"))
	before = ranking()
	page = whole(anyone.get(fresh("/leaderboard/small"))).words()
	contains(page, "The ranking was frozen")
	made["later"] = submit(bob, 1000.0)
	equal(ranking(), before)
	equal(value("SELECT COUNT(*) FROM ranking WHERE score_ns = 1000"), "0")
	own = whole(bob.get(f"/submission/{made['later']}")).words()
	contains(own, "1.000 µs")
	contains(own, "this counts when the freeze is lifted")
	for client in (anyone, eve, ada):
		shown = whole(client.get(fresh(f"/submission/{made['later']}"))).words()
		lacks(shown, "1.000 µs")
		contains(shown, "pending The ranking is frozen. Others see the result when")
		lacks(shown, "Passed on")
		state = client.get(fresh(f"/submission/{made['later']}/status")).json
		equal((state["state"], state["settled"], state["verdict"]), ("pending", True, None))
		equal([one["score_ns"] for one in state["jobs"]], [None])
	equal(carl.get(f"/submission/{made['later']}/status").json["jobs"][0]["score_ns"], 1000.0)
	ok(publish(carl, "small", action="lift"))
	equal(ranking(), [("bob", 1), ("ada", 2)])
	contains(anyone.get(fresh(f"/submission/{made['later']}")).words(), "1.000 µs")


@test
def a_rebuild_keeps_the_freeze_and_a_freeze_in_the_past_removes_results():
	at = value(
		"SELECT DATE_FORMAT(finished_at - INTERVAL 1 SECOND, '%Y-%m-%dT%H:%i:%s') FROM jobs "
		f"WHERE submission_id = {made['later']}"
	)
	sql(
		"UPDATE jobs SET finished_at = finished_at - INTERVAL 1 HOUR WHERE submission_id IN "
		f"({made['ada']}, {made['bob']})"
	)
	ok(publish(carl, "small", visibility="public", frozen=at))
	equal(ranking(), [("ada", 1), ("bob", 2)])
	kept = sql(
		"SELECT leaderboard_id, user_id, submission_id, position, place FROM ranking ORDER BY 1, 2"
	)
	site.manage("ranking", "rebuild")
	equal(
		sql(
			"SELECT leaderboard_id, user_id, submission_id, position, place FROM ranking "
			"ORDER BY 1, 2"
		),
		kept,
	)
	refused = publish(carl, "small", visibility="public", frozen="whenever")
	equal(refused.status, 422)
	contains(whole(refused).words(), "Type a date and time as")
	both = whole(publish(carl, "small", visibility="open", frozen="whenever"))
	equal((both.status, 'value="whenever"' in both.text), (422, True))
	contains(
		both.words(), "Correct these 2 fields first Choose public, closed or hidden. Type a date"
	)
	ok(publish(carl, "small", visibility="public"))
	equal(ranking(), [("bob", 1), ("ada", 2)])


WITHHELD_NS = 1357.0
# More addresses that may show results of the leaderboard, most of them with parameters.
FURTHER = [
	"/leaderboard/small?gpu=H200&user=bob",
	"/leaderboard/small?period=month",
	"/leaderboard/small?language=python",
	"/leaderboard/small.json?gpu=H200",
	"/leaderboard/small.csv?gpu=H200",
	"/leaderboard/small.atom?gpu=H200",
	"/leaderboard/small/badge.svg?user=bob",
	"/leaderboard/small/badge.svg?gpu=H200&user=bob",
	"/leaderboard/small/live?gpu=H200",
	"/leaderboard/small?version=1",
	"/leaderboard/small/share.png?gpu=H200",
	"/submission/{later}",
	"/submission/{later}/status",
	"/submission/{later}/source",
	"/api/v1/submissions/{later}",
	"/api/v1/submissions/{later}/status",
	"/api/v1/submissions/{later}/samples?gpu=H200",
	"/leaderboard/small?view=submissions",
	"/queue",
	"/queue/status",
	"/user/bob",
	"/comparison/{comparison}",
	"/compare?a={ada}&b={later}",
	"/compare?a={later}&b={bob}",
	"/mine?leaderboard=small",
	"/queue?gpu=H200",
]

# Matches every way to write what a freeze must withhold: the time (1357.0, 1.357 µs), the
# comparison's result, and bob's first place.
WITHHELD = re.compile(
	r"(?<![\d.])1[.,]?357(?!\d)|0[.]452|0[.]450 to 0[.]460|bob (\S+ µs )?rank 1|1[.] bob"
	r"|bob is now ahead|2 → 1"
	r'|"rank": ?1, ?"tie": ?false, ?"user": ?"bob"|^1,bob,',
	re.MULTILINE,
)


def unseen(address):
	"""The address with a new parameter, which bypasses nginx's cache. The parameter contains only
	letters, because digits could look like the withheld time."""
	query = "".join(random.choices(string.ascii_letters, k=20))
	return f"{address}{'&' if '?' in address else '?'}{query}"


def tells_nothing_withheld(client, who):
	"""Checks that the text of no address matches WITHHELD."""
	for address in (
		addresses(ITS_OWN) + addresses(ELSEWHERE) + [address.format(**made) for address in FURTHER]
	):
		answer = client.get(unseen(address))
		if b"PNG" in answer.bytes[:8]:
			continue  # pictures have no text; public_exports() compares them
		text = re.sub(r"[0-9a-f]{32,}", "", answer.text)  # tokens and hashes
		for part in (text, answer.words() if "<html" in text else ""):
			found = WITHHELD.search(part)
			assert not found, (who, address, found.group(0), part)


def strangers_read_nothing_withheld():
	for client, who in (
		(anyone, "anyone"),
		(eve, "a stranger"),
		(ada, "another participant"),
		(dora, "another creator"),
	):
		tells_nothing_withheld(client, who)


def public_exports():
	"""The exports and pictures that anyone gets, without the date. They must not change during a
	freeze."""
	return {
		address: re.sub(rb"<updated>[^<]*</updated>", b"", anyone.get(unseen(address)).bytes)
		for address in FURTHER
		if re.search(r"[.](json|csv|atom|svg|png)", address)
	}


@test
def no_address_shows_strangers_a_withheld_result():
	sql("DELETE FROM overtakings")
	sql(f"UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = {made['later']}")
	site.manage("ranking", "rebuild")
	ok(publish(carl, "small", action="freeze"))
	equal(ranking(), [("ada", 1), ("bob", 2)])
	before = public_exports()
	made["later"] = submit(bob, WITHHELD_NS)
	sql(f"""UPDATE jobs SET finished_at = UTC_TIMESTAMP(3) WHERE comparison_id IS NOT NULL;
		UPDATE comparisons SET challenger_id = {made["later"]}, challenger_job_id = (SELECT id
			FROM jobs WHERE submission_id = {made["later"]}),
		ratio = 0.4523, ratio_low = 0.45, ratio_high = 0.46""")
	equal(public_exports(), before)
	strangers_read_nothing_withheld()
	for address in ("/comparison/{comparison}", "/comparison/{comparison}/status"):
		equal((address, eve.get(address.format(**made)).status), (address, 403))
	# The pattern finds what those who may read it get.
	for client, address in (
		(bob, "/submission/{later}"),
		(bob, "/submission/{later}/status"),
		(carl, "/submission/{later}"),
		(carl, "/compare?a={ada}&b={later}"),
		(carl, "/comparison/{comparison}"),
	):
		found = WITHHELD.search(client.get(address.format(**made)).words())
		assert found, address
	assert WITHHELD.search("1,bob,1357.0")


# The rows of a job as different results leave them. The canaries are in no other text.
RESULTS = {
	"passed": "j.verdict = 'passed', j.reason = '', t.verdict = 'passed', t.message = '', "
	"t.duration_ms = 1111, t.peak_host_bytes = 77700000",
	"wrong answer": "j.verdict = 'wrong answer', j.reason = 'reason-canary', t.verdict = 'wrong "
	"answer', t.message = 'message-canary', t.duration_ms = 9999999, t.peak_host_bytes = 1",
	"cancelled": "j.state = 'cancelled', j.verdict = 'cancelled', j.reason = 'reason-canary', "
	"j.finished_at = UTC_TIMESTAMP(3) + INTERVAL 9 HOUR, j.environment = '{}'",
}


def what_is_told(client):
	"""The text of each address, without what changes by itself: random texts and the time."""
	told = {}
	for address in addresses(ITS_OWN) + [address.format(**made) for address in FURTHER]:
		answer = client.get(unseen(address))
		if b"PNG" in answer.bytes[:8]:
			continue
		text = re.sub(r"[0-9a-f]{32,}|[A-Za-z]{20,}", "", answer.text)
		text = re.sub(r"\d\d:\d\d|\d+ (second|minute)s? ago|just now", "", text)
		told[address] = re.sub(r"[\d.:+]+(Z| ms| s)?", "#", text)
	return told


@test
def no_address_tells_strangers_the_verdict_of_a_withheld_result():
	tables = "jobs j JOIN stages t ON t.job_id = j.id"
	where = f"j.submission_id = {made['later']}"
	columns = "j.state, j.verdict, j.reason, j.finished_at, j.environment"
	kept = "t.verdict, t.message, t.duration_ms, t.peak_host_bytes"
	sql(
		f"CREATE TABLE kept_job AS SELECT j.id, {columns} FROM jobs j WHERE {where}; CREATE TABLE "
		f"kept_stages AS SELECT t.id, {kept} FROM {tables} WHERE {where}"
	)
	told = {}
	for name, values in RESULTS.items():
		sql(f"UPDATE {tables} SET {values} WHERE {where}")
		time.sleep(1.1)  # pages are kept for a second
		told[name] = [what_is_told(client) for client in (anyone, eve, ada, dora)]
		contains(bob.get(f"/submission/{made['later']}").text, f"{name}<")
		contains(carl.get(f"/submission/{made['later']}/status").text, f'"{name}"')
	for name, texts in told.items():
		for ours, first in zip(texts, told["passed"], strict=True):
			for address, text in ours.items():
				lines = set(text.splitlines()) ^ set(first[address].splitlines())
				equal((name, address, lines), (name, address, set()))
	sql(
		"UPDATE jobs j JOIN kept_job k USING (id) SET "
		+ ", ".join(f"{one} = {one.replace('j.', 'k.')}" for one in columns.split(", "))
		+ "; UPDATE stages t JOIN kept_stages k USING (id) SET "
		+ ", ".join(f"{one} = {one.replace('t.', 'k.')}" for one in kept.split(", "))
		+ "; DROP TABLE kept_job, kept_stages"
	)


@test
def a_running_job_shows_strangers_nothing_during_a_freeze():
	where = f"WHERE submission_id = {made['later']}"
	finished_at = value(f"SELECT finished_at FROM jobs {where}")
	sql(
		"UPDATE jobs SET state = 'running', finished_at = NULL, lease_owner = 'elsewhere', "
		"started_at = UTC_TIMESTAMP(3), progress = 'test 3/7', "
		f"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 9 MINUTE {where}"
	)
	strangers_read_nothing_withheld()
	strangers_read_nothing_withheld()
	for address in ("/submission/{later}/status", "/queue", "/queue/status", "/submission/{later}"):
		address = unseen(address.format(**made))
		lacks(eve.get(address).text, "test 3/7")
		contains(bob.get(address).text, "test 3/7")
		contains(carl.get(address).text, "test 3/7")
	equal(eve.get(f"/submission/{made['later']}/status").json["state"], "pending")
	equal(anyone.get(unseen(f"/submission/{made['later']}/status")).json["state"], "pending")
	contains(bob.get(f"/submission/{made['later']}").text, "1.357")
	sql(
		f"UPDATE jobs SET state = 'done', finished_at = '{finished_at}', lease_owner = NULL, "
		f"lease_expires = NULL {where}"
	)
	ok(publish(carl, "small", action="lift"))
	contains(anyone.get(fresh(f"/submission/{made['later']}")).text, "1.357")
	equal(ranking(), [("bob", 1), ("ada", 2)])


@test
def a_freeze_in_the_past_withholds_results_that_were_public():
	sql(
		"INSERT INTO overtakings (user_id, leaderboard_id, task_version_id, gpu, by_user_id) "
		"SELECT a.user_id, a.leaderboard_id, a.task_version_id, a.gpu, b.user_id "
		"FROM ranking a JOIN ranking b USING (leaderboard_id, gpu) WHERE a.place = 2 AND b.place "
		"= 1"
	)
	contains(ada.get("/account").words(), "bob is now ahead of you")
	at = value(
		"SELECT DATE_FORMAT(finished_at - INTERVAL 1 SECOND, '%Y-%m-%dT%H:%i:%s') FROM jobs "
		f"WHERE submission_id = {made['later']}"
	)
	sql(
		"UPDATE jobs SET finished_at = finished_at - INTERVAL 1 HOUR WHERE submission_id IN "
		f"({made['ada']}, {made['bob']})"
	)
	ok(publish(carl, "small", visibility="public", frozen=at))
	equal(ranking(), [("ada", 1), ("bob", 2)])
	for client, who in (
		(anyone, "anyone"),
		(eve, "a stranger"),
		(ada, "another participant"),
		(dora, "another creator"),
	):
		tells_nothing_withheld(client, who)
	ok(publish(carl, "small", action="lift"))
	equal(ranking(), [("bob", 1), ("ada", 2)])


# ---- practice and archive ----


@test
def practice_submissions_run_after_the_deadline_without_a_rank():
	before = ranking()
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name = "
		"'small'"
	)
	contains(
		ada.get("/leaderboard/small/submit").words(), "The deadline of this leaderboard has passed"
	)
	refused = ada.post(
		"/leaderboard/small/submit",
		[("mode", "test"), ("code", "a = 1"), ("gpu", "H200")],
		csrf=ada.csrf("/account"),
	)
	equal(refused.status, 422)
	ok(publish(carl, "small", visibility="public", practice="1"))
	contains(whole(ada.get("/leaderboard/small/submit")).words(), "Submissions run for practice")
	contains(
		whole(anyone.get(fresh("/leaderboard/small"))).words(),
		"Submissions still run, for practice",
	)
	number = submit(ada, 500.0)
	equal(ranking(), before)
	contains(ada.get(f"/submission/{number}").words(), "so it is practice and not ranked")
	contains(ada.get(f"/submission/{number}").words(), "500.0 ns")
	site.manage("ranking", "rebuild")
	equal(ranking(), before)


@test
def an_archived_leaderboard_keeps_its_results_and_takes_no_submissions():
	contains(anyone.get(fresh("/")).text, "/leaderboard/small")
	ok(publish(carl, "small", visibility="public", practice="1", archived="1"))
	lacks(anyone.get(fresh("/")).text, "/leaderboard/small")
	contains(whole(anyone.get(fresh("/archive"))).text, "/leaderboard/small")
	contains(
		whole(anyone.get(fresh("/leaderboard/small"))).words(),
		"It takes no submissions; its results stay.",
	)
	contains(ada.get("/leaderboard/small/submit").words(), "is in the archive")
	refused = ada.post(
		"/leaderboard/small/submit",
		[("mode", "test"), ("code", "a = 1"), ("gpu", "H200")],
		csrf=ada.csrf("/account"),
	)
	equal(refused.status, 422)
	contains(refused.words(), "in the archive")
	lacks(ada.get("/submit").text, 'value="small"')
	ok(publish(carl, "small", visibility="hidden", archived="1"))
	lacks(anyone.get(fresh("/archive")).text, "/leaderboard/small")
	ok(publish(carl, "small", visibility="public"))
	contains(anyone.get(fresh("/")).text, "/leaderboard/small")


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
