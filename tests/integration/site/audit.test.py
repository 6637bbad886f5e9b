#!/usr/bin/env python3
"""The audit log: every form of the panel writes an entry with the actor, the action and the
subject. The log can be searched by actor, action, subject and date. A stand-in plays podium-run."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import mariadb  # noqa: E402
import route_table  # noqa: E402
from client import Client, whole  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from small_task import (  # noqa: E402
	TASK,
	case,
	done,
	make_board,
	source_of,
	submit_source,
	task_zip,
	zip_of,
)
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_WEBHOOK_SENDERS="0")
sql, value = site.sql, site.value
PASSWORD = "a long password"

admin, ada = (Client(site.url) for _ in range(2))


def words(query=""):
	answer = admin.get(f"/admin/audit?{query}")
	equal(answer.status, 200)
	return whole(answer).words()


def details(query):
	shown = words(query)
	return [name for name in ("first", "second", "third", "fourth") if f"{name} detail" in shown]


# ---- the forms ----


def set_zip():
	return zip_of(
		{
			"set.yaml": "name: A set\nproblems:\n  - {directory: one, name: of-set, gpus: "
			"[H200]}\n",
			"one/task.yml": TASK,
			"one/eval.py": "",
		}
	)


def hidden(name):
	"""A function that reads a hidden field of the page that asks to confirm the problem set."""
	return lambda: re.search(
		f'name="{name}" value="([^"]*)"', admin.get(f"/admin/sets/{value(NAMED['set'])}").text
	)[1]


# The words in braces below, and the queries or functions that give their values when a form is
# sent.
NAMED = {
	"submission": "SELECT MIN(id) FROM submissions",
	"worker": "SELECT name FROM workers LIMIT 1",
	"device": "SELECT uuid FROM gpus ORDER BY uuid LIMIT 1",
	"invite": "SELECT MAX(id) FROM invites",
	"announcement": "SELECT MAX(id) FROM announcements",
	"rejudging": "SELECT MAX(id) FROM rejudgings",
	"hook": "SELECT MAX(id) FROM webhooks",
	"set": "SELECT MAX(id) FROM uploads",
	"path": hidden("set"),
	"plan": hidden("plan"),
}


def filled(text):
	def one(match):
		source = NAMED[match[1]]
		return source() if callable(source) else value(source)

	return re.sub(r"\{(\w+)\}", one, str(text))


def rejudged():
	"""Waits until no job of the rejudging is queued or running."""
	until(
		lambda: "waits for you" in admin.get(filled("/admin/rejudgings/{rejudging}")).words(),
		explain=lambda: sql("SELECT * FROM jobs"),
	)


# Each action of each form: the route, the address and the fields to send, then the expected entry
# (action, subject, part of the details).
PUBLISHING = "/admin/leaderboard/*/publishing", "/admin/leaderboard/club/publishing"
WORKERS = "/admin/workers", "/admin/workers"
REVIEW = "/admin/review", "/admin/review"
ONE = "/admin/submission/*", "/admin/submission/{submission}"
START = "/admin/rejudgings", "/admin/rejudgings"
END = "/admin/rejudgings/*", "/admin/rejudgings/{rejudging}"
USERS = "/admin/users", "/admin/users"
WHOLE, ITS_DEVICE = (
	[("worker", "{worker}"), ("device", "")],
	[("worker", "{worker}"), ("device", "{device}")],
)
RESULT = [("submission", "{submission}"), ("gpu", "H200")]
YES = [("confirm", "yes")]
HOOK = "/admin/hooks/*", "/admin/hooks/{hook}"
A_HOOK = [("address", "https://chat.example.org/room"), ("form", "json"), ("event", "ended")]
B200 = [
	("gpu", "B200"),
	("accepting", "1"),
]  # no worker has a B200, so submissions for it stay queued
CUP = [
	("title", "Cup"),
	("starts", "2089-10-01 09:00"),
	("ends", "2089-10-01 14:00"),
	("freeze_minutes", "0"),
]
DEEDS = [
	(
		"/admin/leaderboards/new",
		"/admin/leaderboards/new",
		[("name", "club"), *B200],
		"leaderboard.create",
		"club",
		"public once its check passes; devices: B200; 2 files",
		[("task", "task.zip", task_zip())],
	),
	(
		"/admin/leaderboard/*/roles",
		"/admin/leaderboard/club/roles",
		[("action", "give"), ("user", "ada"), ("role", "jury")],
		"leaderboard.role",
		"club",
		"ada: jury, was none",
	),
	(
		"/admin/leaderboard/*/exceptions",
		"/admin/leaderboard/club/exceptions",
		[("action", "disqualify"), ("user", "ada"), ("reason", "It is odd."), ("confirm", "yes")],
		"leaderboard.disqualify",
		"club",
		"ada: It is odd.",
	),
	(
		"/admin/contests/new",
		"/admin/contests/new",
		[("name", "cup"), *CUP],
		"contest.create",
		"cup",
		"",
	),
	(
		"/admin/contest/*",
		"/admin/contest/cup",
		[("action", "save"), *CUP, ("title", "The cup")],
		"contest.change",
		"cup",
		"",
	),
	(
		"/admin/contest/*",
		"/admin/contest/cup",
		[("action", "add"), ("user", "ada")],
		"contest.register",
		"ada",
		"cup",
	),
	(
		"/admin/contest/*",
		"/admin/contest/cup",
		[("action", "remove"), ("user", "ada"), ("confirm", "yes")],
		"contest.unregister",
		"ada",
		"cup",
	),
	(
		"/admin/leaderboard/*/edit",
		"/admin/leaderboard/club/edit",
		[*B200, ("deadline", "2040-01-01 00:00"), ("quota_test", "9")],
		"leaderboard.update",
		"club",
		"deadline: 2040-01-01 00:00 UTC, was none; test quota: 9",
		lambda: site.publish("club"),
	),
	(
		"/admin/leaderboard/*/edit",
		"/admin/leaderboard/club/edit",
		[*B200, ("deadline", "2040-01-01 00:00"), ("quota_test", "9"), ("keeps_version", "1")],
		"leaderboard.update",
		"club",
		"a draft of version 2",
		[("task", "task.zip", task_zip(TASK.replace("1024", "2048")))],
	),
	(
		"/admin/leaderboard/*/task",
		"/admin/leaderboard/club/task",
		[("action", "save"), ("description", "Another text.")],
		"leaderboard.update",
		"club",
		"task: still version 1, with another description",
	),
	(
		"/admin/leaderboard/*/switch",
		"/admin/leaderboard/club/switch?version=2",
		[],
		"leaderboard.switch",
		"club",
		"task: version 2, was version 1",
		lambda: (site.publish("club", 2), site.publish("club", 1)),
	),
	(
		"/admin/leaderboard/*/clone",
		"/admin/leaderboard/club/clone",
		[("name", "twin")],
		"leaderboard.clone",
		"twin",
		"Cloned from club",
	),
	(
		"/admin/leaderboard/*/dryrun",
		"/admin/leaderboard/club/dryrun",
		[],
		"leaderboard.dryrun",
		"club",
		"version 2: ",
	),
	(
		*PUBLISHING,
		[("action", "save"), ("visibility", "closed"), ("practice", "1"), *YES],
		"leaderboard.publish",
		"club",
		"visibility: closed, was public; practice after the deadline: yes, was no",
	),
	(
		*PUBLISHING,
		[("action", "freeze"), *YES],
		"leaderboard.publish",
		"club",
		"ranking frozen from: ",
	),
	(
		*PUBLISHING,
		[("action", "lift"), *YES],
		"leaderboard.publish",
		"club",
		"ranking frozen from: never, was ",
	),
	(
		*PUBLISHING,
		[("action", "remove"), ("member", "ada"), ("confirm", "ada")],
		"leaderboard.remove",
		"club",
		"ada ",
	),
	(
		*PUBLISHING,
		[("action", "readmit"), ("member", "ada")],
		"leaderboard.readmit",
		"club",
		"ada ",
	),
	(
		"/admin/invites",
		"/admin/invites",
		[
			("action", "make"),
			("leaderboard", "club"),
			("leaderboard", "twin"),
			("note", "for my class"),
		],
		"invite.create",
		"invite {invite}",
		"for club, twin: for my class",
	),
	(
		"/admin/invites",
		"/admin/invites",
		[("action", "revoke"), ("invite", "{invite}"), *YES],
		"invite.revoke",
		"invite {invite}",
		"for club, twin: for my class",
	),
	(
		*PUBLISHING,
		[("action", "publish")],
		"leaderboard.publish",
		"club",
		"visibility: public, was closed",
	),
	(
		"/admin/sets/*",
		"/admin/sets/{set}",
		[("set", "{path}"), ("plan", "{plan}")],
		"leaderboard.create",
		"of-set",
		"public once its check passes; devices: H200",
	),
	(
		"/admin/leaderboard/*/hooks",
		"/admin/leaderboard/club/hooks",
		[("name", "room"), *A_HOOK],
		"webhook.create",
		"club",
		"room: ",
	),
	(
		"/admin/hooks",
		"/admin/hooks",
		[("name", "hall"), *A_HOOK],
		"webhook.create",
		"the whole site",
		"hall: ",
	),
	(
		*HOOK,
		[("action", "test")],
		"webhook.test",
		"the whole site",
		"hall (https://chat.example.org/",
	),
	(
		*HOOK,
		[("action", "pause"), *YES],
		"webhook.pause",
		"the whole site",
		"receives no events until it is resumed",
	),
	(*HOOK, [("action", "resume")], "webhook.resume", "the whole site", "hears again"),
	(
		*HOOK,
		[("action", "change"), ("name", "lobby"), ("event", "record")],
		"webhook.change",
		"the whole site",
		"is named lobby and receives ",
	),
	(
		*HOOK,
		[("action", "rotate"), ("hours", "24")],
		"webhook.rotate",
		"the whole site",
		"has a new secret; the old one stays in use for 24 hours",
	),
	(
		*HOOK,
		[("action", "delete"), ("name", "lobby"), ("confirm", "lobby")],
		"webhook.delete",
		"the whole site",
		"is gone",
	),
	(
		"/admin/intake",
		"/admin/intake",
		[("action", "stop"), *YES],
		"intake.stop",
		"the whole site",
		"takes no submissions",
	),
	(
		"/admin/intake",
		"/admin/intake",
		[("action", "start")],
		"intake.start",
		"the whole site",
		"takes submissions again",
	),
	(
		*WORKERS,
		[("action", "drain"), *WHOLE, *YES],
		"worker.drain",
		"{worker}",
		"takes no new jobs; the current job finishes",
	),
	(*WORKERS, [("action", "resume"), *WHOLE], "worker.resume", "{worker}", "takes jobs again"),
	(
		*WORKERS,
		[("action", "pause"), *ITS_DEVICE, *YES],
		"worker.pause",
		"{worker} {device}",
		"takes no jobs; ",  # the check of a new leaderboard may be running
	),
	(
		*WORKERS,
		[("action", "resume"), *ITS_DEVICE],
		"worker.resume",
		"{worker} {device}",
		"takes jobs again",
	),
	(
		*WORKERS,
		[("action", "quarantine"), *ITS_DEVICE, ("reason", "It is hot."), *YES],
		"worker.quarantine",
		"{worker} {device}",
		"It is hot.",
	),
	(
		*WORKERS,
		[("action", "resume"), *ITS_DEVICE],
		"worker.resume",
		"{worker} {device}",
		"takes jobs again",
	),
	(
		"/admin/gpus/release",
		"/admin/gpus/release",
		[("uuid", "GPU-broken")],
		"gpu.release",
		"GPU-broken",
		"it may take jobs again",
	),
	(
		*ONE,
		[("action", "hide"), ("reason", "It copies."), *YES],
		"submission.hide",
		"submission {submission}",
		"It copies.",
	),
	(
		*ONE,
		[("action", "show")],
		"submission.show",
		"submission {submission}",
		"it is shown and ranked again",
	),
	(
		*ONE,
		[("action", "note"), ("note", "Ask ada.")],
		"submission.note",
		"submission {submission}",
		"Ask ada.",
	),
	(
		*ONE,
		[("action", "note"), ("note", "")],
		"submission.note",
		"submission {submission}",
		"the note was deleted",
	),
	(
		*ONE,
		[("action", "hold"), ("reason", "Too quick."), *YES],
		"submission.hold",
		"submission {submission}",
		"Too quick.",
	),
	(
		*REVIEW,
		[("action", "release"), *RESULT],
		"review.release",
		"submission {submission} on H200",
		"it was ranked",
	),
	(
		*START,
		[("scope", "submission"), ("submission", "{submission}")],
		"rejudging.start",
		"small",
		"submission {submission}",
	),
	(
		*END,
		[("action", "discard"), ("name", "small")],
		"rejudging.discard",
		"small",
		"rejudging {rejudging}",
		rejudged,
	),
	(
		*START,
		[("scope", "top"), ("leaderboard", "small"), ("top", "1"), ("gpu", "H200")],
		"rejudging.start",
		"small",
		"1 result",
	),
	(
		*END,
		[("action", "apply"), ("name", "small")],
		"rejudging.apply",
		"small",
		"rejudging {rejudging}",
		rejudged,
	),
	(
		*START,
		[("scope", "everywhere"), ("user", "ada")],
		"rejudging.start",
		"ada",
		"every ranked result of ada on every leaderboard, 1 result",
	),
	(
		*ONE,
		[("action", "hold"), ("reason", "Far too quick."), *YES],
		"submission.hold",
		"submission {submission}",
		"Far too quick.",
	),
	(
		*REVIEW,
		[("action", "reject"), *RESULT, ("reason", "No sort."), ("confirm", "{submission}")],
		"review.reject",
		"submission {submission} on H200",
		"No sort.",
	),
	# Actions that owners may take too. They are logged if an admin acts on what belongs to somebody
	# else.
	(
		"/submission/*/cancel",
		"/submission/{submission}/cancel",
		[("number", "{submission}")],
		"submission.cancel",
		"submission {submission}",
		"1 waiting",
	),
	(
		"/admin/announcements",
		"/admin/announcements",
		[("action", "make"), ("text", "It rests on Sunday."), ("leaderboard", "club")],
		"announcement.make",
		"club",
		"It rests on Sunday.",
	),
	(
		"/admin/announcements",
		"/admin/announcements",
		[("action", "end"), ("id", "{announcement}"), *YES],
		"announcement.end",
		"club",
		"It rests on Sunday.",
	),
	(
		*USERS,
		[("action", "role"), ("user", "ada"), ("role", "creator"), *YES],
		"user.role",
		"ada",
		"role: creator, was participant",
	),
	(
		*USERS,
		[("action", "link"), ("user", "ada")],
		"user.link",
		"ada",
		"a link to choose a password",
	),
	(
		"/admin/users/invite",
		"/admin/users/invite",
		[("name", "guest"), ("role", "creator")],
		"user.invite",
		"guest",
		"role: creator; its link works once",
	),
	(
		"/admin/users/*/ban",
		"/admin/users/ada/ban",
		[("name", "ada")],
		"user.ban",
		"ada",
		"banned; ",
	),
	(
		*USERS,
		[("action", "unban"), ("user", "ada")],
		"user.unban",
		"ada",
		"may log in and submit again",
	),
	(
		"/admin/leaderboard/*/delete",
		"/admin/leaderboard/twin/delete",
		[("name", "twin")],
		"leaderboard.delete",
		"twin",
		"Deleted with ",
	),
]
# Forms that write no entry: the reason, and the tables that may differ afterwards.
WITHOUT_ENTRY = {
	"/admin/sets/new": (
		"the zip is kept for an hour, for the page that says what it would do; what it does has "
		"entries",
		{"uploads", "blobs"},
	)
}
# Actions outside the panel, and the suite that tests each.
ELSEWHERE = {
	"account.delete": "account",
	"team.add": "teams",
	"team.create": "teams",
	"team.join": "teams",
	"team.leave": "teams",
	"team.remove": "teams",
	"contest.final": "contests",
	"contest.reopen": "contests",
	"contest.leave": "contests",
	"leaderboard.extend": "exceptions",
	"question.answer": "board_questions",
	"submission.disqualify": "api_admin",
	"submission.for_user": "exceptions",
	"submission.restore": "teams",
	"submission.withdraw": "teams",
	"user.add_factor": "factors",
	"user.link_identity": "sign_in",
	"user.recovery_code": "factors",
	"user.recovery_codes": "factors",
	"user.refuse_passkey": "factors",
	"user.remove_factor": "factors",
	"user.mail": "mail",
	"user.password": "users",
	"user.unlink_identity": "sign_in",
}


@test
def the_fixtures_are_created():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		client.register(name)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	make_board(admin, "small")
	submit_source(ada, source_of(case(2000.0)))


# ---- searching ----


@test
def entries_are_found_by_actor_action_subject_and_date():
	sql(
		"INSERT INTO audit_log (at, actor, address, action, subject, detail) VALUES "
		"('2025-01-01 23:59:59.999', 'eve', '', 'user.ban', 'ada', 'first detail'), ('2025-01-02 "
		"00:00:00', 'bob', '', 'user.ban', 'carl', 'second detail <b>'), "
		"('2025-01-02 23:59:59.999', 'eve', '', 'worker.pause', 'here', 'third detail'), "
		"('2025-01-03 00:00:00', 'eve', '', 'user.ban', 'größe', 'fourth detail 100%')"
	)
	for query, found in (
		("", ["first", "second", "third", "fourth"]),
		("who=eve", ["first", "third", "fourth"]),
		("who=ev", []),
		("what=user.ban", ["first", "second", "fourth"]),
		("who=eve&what=user.ban", ["first", "fourth"]),
		("q=here", ["third"]),
		("q=gr%C3%B6%C3%9Fe", ["fourth"]),
		("q=100%25", ["fourth"]),
		("q=%25", ["fourth"]),
		("from=2025-01-02", ["second", "third", "fourth"]),
		("from=2025-01-02&to=2025-01-02", ["second", "third"]),
		("to=2025-01-01", ["first"]),
		(
			"who=eve&what=user.ban&q=größe&from=2025-01-03&to=2025-01-03".replace(
				"ö", "%C3%B6"
			).replace("ß", "%C3%9F"),
			["fourth"],
		),
		("who=%C3%BC", []),
		("what=%C3%BC", []),
	):
		equal((query, details(query)), (query, found))
	contains(words("who=nobody"), "No change matches this search.")
	contains(words("from=yesterday"), "Type a day as")


@test
def the_next_page_of_results_keeps_the_search():
	sql(
		"INSERT INTO audit_log (at, actor, address, action, subject, detail) SELECT '2025-02-01', "
		"'eve', '', 'user.ban', 'x', CONCAT('number ', seq, '.') FROM seq_1_to_150"
	)
	first = admin.get("/admin/audit?who=eve&what=user.ban&q=number")
	contains(first.words(), "number 150.")
	lacks(first.words(), "number 50.")
	older = next(line for line in first.text.split('"') if "before=" in line).replace("&amp;", "&")
	contains(older, "who=eve&what=user.ban&q=number")
	second = admin.get(older).words()
	contains(second, "number 50.")
	lacks(second, "number 150.")
	lacks(second, "first detail")


@test
def subjects_link_to_what_they_name():
	board, hook = "/leaderboard/small", "/admin/leaderboard/small/hooks"
	number = sql("SELECT MAX(id) FROM submissions")[0][0]
	sql(
		"INSERT INTO contests (name, title, starts_at, ends_at, rules) VALUES ('linked-cup', "
		"'Cup', '2025-03-01', '2025-04-01', '')"
	)
	links = (
		("leaderboard.update", "small", board),
		("leaderboard.delete", "gone", None),
		("question.answer", "small", board + "/questions"),
		("user.ban", "ada", "/user/ada"),
		("user.ban", "größe", None),
		("contest.register", "ada", "/user/ada"),
		("contest.change", "linked-cup", "/contest/linked-cup"),
		("submission.hide", f"submission {number}", f"/submission/{number}"),
		("review.reject", f"submission {number} on H200", f"/submission/{number}"),
		("submission.hide", "submission 99999999", None),
		("webhook.test", "small", hook),
		("webhook.test", "the whole site", "/admin/hooks"),
		("invite.revoke", "invite 3", "/admin/invites"),
		("announcement.end", "small", "/admin/announcements"),
		("rejudging.start", "small", "/admin/rejudgings"),
		("worker.pause", "here GPU-1", "/admin/workers"),
		("intake.stop", "the whole site", None),
	)
	for action, subject, link in links:
		sql(
			"INSERT INTO audit_log (at, actor, address, action, subject, detail) VALUES "
			f"('2025-03-01', 'linker', '', '{action}', '{subject}', '')"
		)
		row = admin.get("/admin/audit?who=linker").text.split("<tbody>")[1].split("</tr>")[0]
		found = re.search(r'<td class="name">(?:<a href="([^"]*)">)?([^<]*)', row)
		equal((action, found[2], found[1]), (action, subject, link))
	sql("DELETE FROM contests WHERE name = 'linked-cup'")


@test
def only_admins_see_the_audit_log():
	equal(ada.get("/admin/audit?who=eve").status, 403)


# ---- every form ----

# Rows that some actions need: a member, a device in quarantine, a queued job.
PREPARATIONS = {
	"leaderboard.remove": (
		"INSERT IGNORE INTO leaderboard_members (leaderboard_id, user_id) "
		"SELECT l.id, u.id FROM leaderboards l JOIN users u "
		"WHERE l.name = 'club' AND u.name = 'ada'"
	),
	"gpu.release": "INSERT INTO workers (name, version, host, started_at, seen_at) VALUES "
	"('zz-away', "
	"'1', '{}', "
	"UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)); "
	"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability, "
	"seen_at, quarantined_at, quarantine_reason) "
	"SELECT id, 'GPU-broken', 'H200', 'NVIDIA H200', 1, '1', '9.0', seen_at, seen_at, 'It fell "
	"off the bus.' FROM workers WHERE name = 'zz-away'",
	"submission.cancel": "INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, "
	"'B200' FROM submissions ORDER BY id LIMIT 1",
}


def last_entry():
	return int(value("SELECT COALESCE(MAX(id), 0) FROM audit_log"))


def forms():
	return {
		p
		for p in route_table.pages("POST|PUT|PATCH|DELETE")
		if p == "/admin" or p.startswith("/admin/")
	}


@test
def this_suite_covers_every_form_of_the_panel():
	equal(forms() - {deed[0] for deed in DEEDS} - set(WITHOUT_ENTRY), set())
	equal(({deed[0] for deed in DEEDS} | set(WITHOUT_ENTRY)) - forms(), {"/submission/*/cancel"})


@test
def this_suite_covers_every_action_that_the_programs_log():
	written = set()
	for path in [*(ROOT / "cgi").rglob("*.c"), *(ROOT / "lib").rglob("*.c")]:
		text = path.read_text()
		if "audit(" in text:
			written |= {
				name
				for name in re.findall(r'"([a-z]{2,}\.[a-z_]+)"', text)
				if not name.endswith((".py", ".cu", ".cuh"))
			}
	equal(written - {deed[3] for deed in DEEDS} - set(ELSEWHERE), set())
	words = (ROOT / "cgi" / "admin" / "audit_words.c").read_text()
	for name in written:
		contains(words, f'"{name}"')
	for action, suite in ELSEWHERE.items():
		contains((ROOT / "tests" / "integration" / "site" / f"{suite}.test.py").read_text(), action)


@test
def a_form_listed_as_harmless_changes_nothing():
	equal(set(WITHOUT_ENTRY), {"/admin/sets/new"})
	busy = {
		"workers",
		"gpus",
		"device_vitals",
		"rate_limits",
		"sessions",
		"webhook_told",
		*WITHOUT_ENTRY["/admin/sets/new"][1],
	}
	tables = [
		row[0]
		for row in sql("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
		if row[0] not in busy
	]
	before = mariadb.checksums(sql, tables)
	done(admin.post("/admin/sets/new", [], [("set", "set.zip", set_zip())]))
	equal(mariadb.checksums(sql, tables), before)


@test
def every_form_of_the_panel_writes_one_entry_with_actor_action_and_subject():
	number = value("SELECT id FROM users WHERE name = 'root-of-all'")
	for route, address, fields, action, subject, detail, *more in DEEDS:
		if action in PREPARATIONS:
			sql(PREPARATIONS[action])
		if more and callable(more[0]):
			more.pop(0)()
		before = last_entry()
		answer = admin.post(
			filled(address),
			[(name, filled(sent)) for name, sent in fields],
			more[0] if more else (),
			form="/account",
		)
		equal(
			(
				route,
				action,
				answer.status in (200, 303),
				answer.words() if answer.status not in (200, 303) else "",
			),
			(route, action, True, ""),
		)
		entries = sql(
			"SELECT actor_id, actor, address, action, subject, detail FROM audit_log WHERE id > "
			f"{before}"
		)
		equal(
			(route, [entry[:5] for entry in entries]),
			(route, [[number, "root-of-all", "127.0.0.1", action, filled(subject)]]),
		)
		contains(entries[0][5], filled(detail))


@test
def every_entry_is_found_by_actor_and_action():
	for action in sorted({deed[3] for deed in DEEDS}):
		answer = words(f"who=root-of-all&what={action}")
		for deed in DEEDS:
			if deed[3] == action and "{" not in deed[4]:
				contains(answer, deed[4])


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
