#!/usr/bin/env python3
"""Announcements for the whole site or for a leaderboard, within a period."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import register  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
sql = site.sql
PASSWORD = "a long password"

anyone, ada, admin, creator = (Client(site.url) for _ in range(4))


def prepare():
	register(site, {"ada": ada, "root-of-all": admin, "carl": creator})
	sql(
		"INSERT INTO leaderboards (name, secret_seed) VALUES ('small', 1), ('other', 1); INSERT "
		"INTO task_versions (leaderboard_id, number, language, description, definition) "
		"SELECT l.id, 1, 'py', '', v.definition FROM leaderboards l JOIN (SELECT definition FROM "
		"task_versions ORDER BY id LIMIT 1) v WHERE l.name IN ('small', 'other'); "
		"UPDATE leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id SET "
		"l.task_version_id = v.id WHERE l.name IN ('small', 'other')"
	)


def announce(client=admin, **fields):
	return client.post(
		"/admin/announcements",
		list(
			{
				"action": "make",
				"confirm": "yes",
				"text": "",
				"leaderboard": "",
				"from": "",
				"until": "",
				**fields,
			}.items()
		),
		form="/account",
	)


def where(text):
	"""The pages that show the text. Waits first, because each thread reloads its announcements only
	once a second."""
	time.sleep(1.1)
	paths = ("/", "/leaderboard/small", "/leaderboard/other", "/queue")
	return [path for path in paths if text in whole(anyone.get(f"{path}?x={time.time()}")).words()]


@test
def only_admins_announce_on_the_whole_site():
	prepare()
	for client, expected in ((anyone, 303), (ada, 403), (creator, 200)):
		equal(client.get("/admin/announcements").status, expected)
	equal(announce(ada, text="Hello").status, 403)
	for fields in ({}, {"leaderboard": "small"}):  # nobody has created small
		equal(announce(creator, text="Hello", **fields).status, 422)
	equal(
		admin.post(
			"/admin/announcements", [("action", "make"), ("text", "Hello")], csrf="0" * 64
		).status,
		403,
	)
	equal(sql("SELECT COUNT(*) FROM announcements"), [["0"]])
	lacks(anyone.get("/").text, 'class="announcements"')


@test
def errors_appear_next_to_their_field():
	for fields, field in (
		({}, "text"),
		({"text": "  "}, "text"),
		({"text": "x" * 1001}, "text"),
		({"text": "Hello", "leaderboard": "nothing"}, "leaderboard"),
		({"text": "Hello", "leaderboard": "größe"}, "leaderboard"),
		({"text": "Hello", "from": "soon"}, "from"),
		({"text": "Hello", "until": "never"}, "until"),
		({"text": "Hello", "until": "2001-01-01T00:00"}, "until"),
		({"text": "Hello", "from": "2099-01-02T00:00", "until": "2099-01-01T00:00"}, "until"),
	):
		answer = whole(announce(**fields))
		equal((fields, answer.status), (fields, 422))
		contains(answer.text, f'id="{field}-error"')
		contains(answer.text, f">{fields.get('text', '')}</textarea>")
	answer = whole(
		announce(text="x" * 1001, leaderboard="nothing", **{"from": "soon", "until": "never"})
	)
	contains(answer.text, "<title>Error: Announcements")
	contains(answer.words(), "Correct these 4 fields first")
	for field in ("text", "leaderboard", "from", "until"):
		contains(answer.text, f'<a href="#{field}">')
	contains(answer.text, 'value="soon"')
	equal(announce(action="praise").status, 422)
	equal(sql("SELECT COUNT(*) FROM announcements"), [["0"]])


@test
def announcements_appear_in_their_place_and_period():
	for fields in (
		{"text": "The <site> moves."},
		{"text": "A prize for small.", "leaderboard": "small", "until": "2099-01-01T00:00"},
		{"text": "Much later.", "from": "2099-01-01T00:00"},
	):
		equal(announce(**fields).status, 303)
	equal(where("The <site> moves."), ["/", "/leaderboard/small", "/leaderboard/other"])
	equal(where("A prize for small."), ["/leaderboard/small"])
	equal(where("Much later."), [])
	contains(
		whole(admin.get("/admin/announcements")).words(), "Much later. the whole site scheduled"
	)
	sql("UPDATE announcements SET until_at = UTC_TIMESTAMP(3) WHERE leaderboard_id IS NOT NULL")
	equal(where("A prize for small."), [])


@test
def an_announcement_can_be_ended_once():
	number = sql("SELECT id FROM announcements WHERE text LIKE 'The <site>%'")[0][0]
	equal(announce(action="end", id=number).status, 303)
	equal(where("The <site> moves."), [])
	equal(announce(action="end", id=number).status, 409)
	for number in ("999", "x", ""):
		equal(announce(action="end", id=number).status, 404)
	equal(
		sql(
			"SELECT actor, action, subject, detail FROM audit_log WHERE action LIKE "
			"'announcement.%' "
			"ORDER BY id"
		),
		[
			["root-of-all", "announcement.make", "the whole site", "The <site> moves."],
			["root-of-all", "announcement.make", "small", "A prize for small."],
			["root-of-all", "announcement.make", "the whole site", "Much later."],
			["root-of-all", "announcement.end", "the whole site", "The <site> moves."],
		],
	)


@test
def podium_admin_lists_makes_and_ends():
	site.manage("announcement", "make", "small", "From the terminal.")
	site.manage(
		"announcement",
		"make",
		"--from",
		"2026-01-01",
		"--until",
		"2100-01-01",
		"--site",
		"For all.",
	)
	equal(where("From the terminal."), ["/leaderboard/small"])
	equal(where("For all."), ["/", "/leaderboard/small", "/leaderboard/other"])
	listed = site.manage("announcement", "list").splitlines()
	number, about = listed[-1].split(maxsplit=1)
	contains(about, "the whole site, podium-admin, from 2026-01-01")
	contains(about, "until 2100-01-01")
	site.manage("announcement", "end", number)
	equal(where("For all."), [])
	lacks(site.manage("announcement", "list"), "For all.")
	for words, sentence in (
		(("end", number), "has ended already"),
		(("end", "999"), "There is no such announcement."),
		(("make", "nothing", "x"), "There is no leaderboard named"),
		(("make", "--site", " "), "Write the announcement."),
		(("make", "--until", "2000-01-01", "--site", "x"), "would end before anybody sees it"),
		(("make", "--from", "soon", "--site", "x"), "Type a date and time"),
	):
		answer = site.admin("announcement", *words)
		equal(answer.returncode, 1)
		contains(answer.stderr, sentence)
	equal(
		sql(
			"SELECT action, subject, detail FROM audit_log WHERE actor = 'podium-admin' "
			"AND action LIKE 'announcement.%' ORDER BY id"
		),
		[
			["announcement.make", "small", "From the terminal."],
			["announcement.make", "the whole site", "For all."],
			["announcement.end", "the whole site", "For all."],
		],
	)


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
