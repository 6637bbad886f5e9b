#!/usr/bin/env python3
"""The panel: its sidebar, and what needs attention."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import TASK, make_board, register, submit_time, task_zip  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
admin, carl, ada = (Client(site.url) for _ in range(3))
WORKER = site.value("SELECT name FROM workers")

# Pages of the panel, and the link of the sidebar that is the current one there.
CURRENT = {
	"/admin": "Overview",
	"/admin/leaderboards/new": "Leaderboards",
	"/admin/sets/new": "Leaderboards",
	"/admin/leaderboard/small/edit": "Leaderboards",
	"/admin/leaderboard/small/dryrun": "Leaderboards",
	"/admin/invites": "Invites",
	"/admin/announcements": "Announcements",
	"/admin/submissions": "Submissions",
	"/admin/submission/1": "Submissions",
	"/admin/review": "Held results",
	"/admin/rejudgings": "Rejudging",
	"/admin/workers": "Workers",
	f"/admin/host/{WORKER}": "Workers",
	"/admin/users": "Users",
	"/admin/users/carl/ban": "Users",
	"/admin/hooks": "Webhooks",
	"/admin/audit": "Audit log",
}


def sidebar(page):
	return re.search(r'<nav id="panel-menu".*?</nav>', page.text, re.S)[0]


def attention(client):
	"""Returns the items as (badge, subject, address of the link, action)."""
	page = whole(client.get("/admin"))
	items = re.findall(r"<li><span class=\"chip\".*?</li>", page.text, re.S)
	return [
		(
			re.search(r'data-state="[^"]*">([^<]*)<', item)[1],
			*re.search(r'<a class="cut" title="[^"]*" href="([^"]*)">([^<]*)</a>', item).group(
				2, 1
			),
			re.search(r'class="button small"[^>]*>([^<]*)<', item)[1],
		)
		for item in items
	]


@test
def every_page_has_the_sidebar_with_the_current_link():
	register(site, {"root-of-all": admin, "carl": carl, "ada": ada})
	sql("UPDATE workers SET checks = '[]'; DELETE FROM leaderboards")
	make_board(carl, "small")
	submit_time(ada, 1000.0)
	for address, label in CURRENT.items():
		page = whole(admin.get(address))
		equal((address, page.status), (address, 200))
		current = re.findall(r'aria-current="(?:page|true)">([^<]*)', sidebar(page))
		equal((address, [word.strip() for word in current]), (address, [label]))
	lacks(ada.get("/").text, "panel-menu")


@test
def creators_see_only_their_links():
	links = re.findall(r'href="([^"]*)"', sidebar(carl.get("/admin")))
	equal(
		links,
		[
			"/admin",
			"/admin#leaderboards",
			"/contests",
			"/admin/invites",
			"/admin/announcements",
			"/admin/submissions",
			"/admin/rejudgings",
		],
	)
	equal(len(re.findall(r"href=", sidebar(admin.get("/admin")))), 12)


@test
def a_site_without_trouble_says_so():
	for client in (admin, carl):
		equal(attention(client), [])
		contains(client.get("/admin").words(), "Nothing needs your attention.")


def appears(change, item, back, seen_by=(admin, carl)):
	"""Checks that the item is there after the change, for these users, and gone after `back`."""
	sql(change)
	for client in (admin, carl):
		equal((item[0], attention(client)), (item[0], [item] if client in seen_by else []))
	if callable(back):
		back()
	else:
		sql(back)
	for client in (admin, carl):
		equal((item[0], attention(client)), (item[0], []))


@test
def held_results_wait_for_an_admin():
	appears(
		"UPDATE jobs SET held_at = UTC_TIMESTAMP(3), held_reason = 'Too fast.'",
		("held", "1 held result", "/admin/review", "Review"),
		"UPDATE jobs SET held_at = NULL, held_reason = NULL",
		[admin],
	)


@test
def workers_in_trouble_are_listed_for_admins():
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at, checks, protocol) SELECT "
		"'there', version, host, started_at, UTC_TIMESTAMP(3) + INTERVAL 1 DAY, '[]', protocol "
		f"FROM workers WHERE name = '{WORKER}'"
	)
	appears(
		"UPDATE workers SET seen_at = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR WHERE name = 'there'",
		("offline", "there", "/admin/workers", "See details"),
		# Nobody expects a worker that is gone for weeks.
		"UPDATE workers SET seen_at = UTC_TIMESTAMP(3) - INTERVAL 9 DAY WHERE name = 'there'",
		[admin],
	)
	sql("UPDATE workers SET seen_at = UTC_TIMESTAMP(3) + INTERVAL 1 DAY WHERE name = 'there'")
	appears(
		"UPDATE workers SET figures = '{\"full_disks\": 1}' WHERE name = 'there'",
		("disk full", "there", "/admin/workers", "See details"),
		"UPDATE workers SET figures = '{\"full_disks\": 0}' WHERE name = 'there'",
		[admin],
	)
	appears(
		"UPDATE workers SET checks = JSON_ARRAY(JSON_OBJECT('state', 'fault', 'name', 'seccomp')) "
		"WHERE name = 'there'",
		("fault", "there", "/admin/host/there", "See details"),
		"DELETE FROM workers WHERE name = 'there'",
		[admin],
	)


@test
def a_device_in_quarantine_is_released_from_the_list():
	uuid = site.value("SELECT uuid FROM gpus LIMIT 1")

	def release():
		answer = admin.post("/admin/gpus/release", [("uuid", uuid)], form="/admin")
		equal((answer.status, answer.location), (303, "/admin/workers"))

	appears(
		"UPDATE gpus SET quarantined_at = UTC_TIMESTAMP(3), quarantine_reason = 'Xid 79' "
		f"WHERE uuid = '{uuid}'",
		("quarantined", f"H200 of {WORKER}", "/admin/workers", "Release"),
		release,
		[admin],
	)


@test
def internal_errors_are_marked_as_seen_from_the_list():
	def mark():
		answer = carl.post(
			"/admin/leaderboard/small/publishing",
			[("action", "seen"), ("next", "/admin")],
			form="/admin",
		)
		equal((answer.status, answer.location), (303, "/admin"))

	appears(
		"INSERT INTO internal_errors (leaderboard_id, newest_job_id) SELECT l.id, MAX(j.id) "
		"FROM leaderboards l JOIN jobs j GROUP BY l.id",
		("internal error", "small", "/submission/1", "Mark as seen"),
		mark,
	)
	answer = carl.post(
		"/admin/leaderboard/small/publishing",
		[("action", "seen"), ("next", "//evil.example")],
		form="/admin",
	)
	equal(answer.location, "/")


@test
def a_leaderboard_without_a_device_is_listed_for_its_creator():
	item = ("no device", "small", "/admin/leaderboard/small/edit#gpu", "Choose devices")
	appears(
		"UPDATE leaderboard_gpus SET gpu = 'B300'", item, "UPDATE leaderboard_gpus SET gpu = 'H200'"
	)
	sql("UPDATE leaderboard_gpus SET gpu = 'B300'")
	appears("DELETE FROM leaderboard_gpus", item, "UPDATE leaderboards SET deadline = '2020-01-01'")
	sql(
		"UPDATE leaderboards SET deadline = NULL; INSERT INTO leaderboard_gpus "
		"(leaderboard_id, gpu, position) SELECT id, 'H200', 0 FROM leaderboards"
	)


@test
def a_model_that_no_worker_offers_is_listed_once_for_all_leaderboards():
	appears(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'B300', 1 "
		"FROM leaderboards",
		("no device", "B300", "/admin#leaderboards", "See leaderboards"),
		"DELETE FROM leaderboard_gpus WHERE gpu = 'B300'",
	)


@test
def failing_webhooks_are_resumed_from_the_list():
	sql(
		"INSERT INTO webhooks (leaderboard_id, name, address, form, events, secret) SELECT id, "
		"'chat', 'https://chat.invalid/', 'json', 'record', '' FROM leaderboards"
	)
	hook = site.value("SELECT id FROM webhooks")
	appears(
		"UPDATE webhooks SET failures = 3",
		("webhook", "chat", f"/admin/hooks/{hook}", "See deliveries"),
		"UPDATE webhooks SET failures = 2",
	)

	def resume():
		answer = carl.post(f"/admin/hooks/{hook}", [("action", "resume")], form="/admin")
		equal((answer.status, answer.location), (303, f"/admin/hooks/{hook}"))

	appears(
		"UPDATE webhooks SET state = 'off', reason = 'The last 30 attempts failed.'",
		("webhook", "chat", f"/admin/hooks/{hook}", "Resume"),
		resume,
	)


def board_form(**more):
	return [("name", "previewed"), ("gpu", "H200"), ("accepting", "1"), *more.items()]


def create(client, fields, content=None):
	files = [("task", "task.zip", content)] if content else []
	return client.post("/admin/leaderboards/new", fields, files)


def what_exists():
	return sql("SELECT name FROM leaderboards"), sql("SELECT COUNT(*) FROM audit_log")


@test
def a_single_task_is_previewed_before_anything_is_created():
	task = re.sub("(?m)^description: .*$", "description: A <b>bold</b> task.", TASK)
	before = what_exists()
	page = whole(create(carl, board_form(confirm=""), task_zip(task)))
	equal(page.status, 200)
	for words in ("Preview of previewed", "Podium has created nothing yet", "H200", "Benchmarks:"):
		contains(page.words(), words)
	contains(page.words(), "1 warning: The task has no template in Python")
	lacks(page.text, "<b>bold</b>")
	equal(what_exists(), before)
	fields = [
		(name, value)
		for name, value in re.findall(
			r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text
		)
		if name != "csrf"
	]
	equal(("name", "previewed") in fields, True)
	# An upload is its creator's own.
	refused = whole(create(admin, fields))
	equal((refused.status, what_exists()), (422, before))
	contains(refused.words(), "This upload is gone. Podium keeps an upload for an hour")
	changed = whole(create(carl, [*fields, ("change", "1")]))
	equal((changed.status, what_exists()), (200, before))
	contains(changed.words(), "Podium keeps task.zip until")
	contains(changed.text, 'value="previewed"')
	equal(create(carl, fields).status, 303)
	equal(sql("SELECT COUNT(*) FROM leaderboards WHERE name = 'previewed'"), [["1"]])
	sql("UPDATE uploads SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	later = [(name, "later" if name == "name" else value) for name, value in fields]
	expired = whole(create(carl, later))
	equal((expired.status, 'value="later"' in expired.text), (422, True))
	sql("DELETE FROM leaderboards WHERE name = 'previewed'")


@test
def a_zip_that_is_too_large_or_broken_keeps_what_was_typed():
	for content in (b"PK" + bytes(8 * 1024 * 1024), b"PK broken"):
		page = whole(create(carl, board_form(deadline="2099-01-01T00:00"), content))
		equal(page.status, 422)
		contains(page.text, "<title>Error: New leaderboard")
		contains(page.text, 'id="task-error"')
		contains(page.text, 'value="previewed"')
		contains(page.text, 'value="2099-01-01T00:00')
		contains(page.words(), "Browsers forget a chosen file")


@test
def a_long_list_is_cut():
	for number in range(7):
		make_board(carl, f"board{number}")
	sql("UPDATE leaderboard_gpus SET gpu = 'B300'")
	items = attention(carl)
	equal(len(items), 6)
	equal(items[5], ("no device", "3 more", "/admin#leaderboards", "Show all"))


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
