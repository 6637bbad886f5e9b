#!/usr/bin/env python3
"""Attacks the whole site. Every stored text is hostile, and every parameter gets odd values. The
test searches all pages that a visitor can reach for hidden, held, withheld and withdrawn
results."""

import csv
import io
import json
import pathlib
import re
import sys
import time
import urllib.parse
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
from client import Client, Page, links  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from programs import make_token  # noqa: E402
from small_task import (  # noqa: E402
	TEMPLATE_TASK as TASK,
	case,
	done as ok,
	source_of,
	submit_source,
	make_board,
	task_zip,
)
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql, value = site.sql, site.value
PASSWORD = "a long password"
NAMES = ["ada", "bob", "eve", "carl", "root-of-all"]
ada, bob, eve, carl, admin = (Client(site.url) for _ in NAMES)
anyone = Client(site.url)
made = {}


def log_in(client, name):
	client.cookies = {}
	sql("DELETE FROM rate_limits")
	ok(client.post("/login", [("name", name), ("password", PASSWORD)]))


def submit(client, mean_ns, word, board="small", file_name="kernel.py"):
	"""Submits a source that contains the word."""
	source = source_of(case(mean_ns, err_ns=0.5), verdict={"engine": "custom"}) + f"# {word}\n"
	return submit_source(client, source, board=board, file_name=file_name)


@test
def the_fixtures_are_created():
	for client, name in zip((ada, bob, eve, carl, admin), NAMES):
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name = 'carl'"
	)
	for board in ("small", "frozen"):
		make_board(carl, board)
	made["plain"], made["bob"] = submit(ada, 3000.0, "plain"), submit(bob, 3001.0, "second")
	made["hidden"], made["held"] = (
		submit(eve, 2934.5, "hiddencanary", file_name="hiddencanary.py"),
		submit(eve, 2834.5, "heldcanary"),
	)
	submit(bob, 4000.0, "before", "frozen")
	ok(
		carl.post(
			"/admin/leaderboard/frozen/publishing", [("action", "freeze"), ("confirm", "yes")]
		)
	)
	made["withheld"] = submit(eve, 2734.5, "withheldcanary", "frozen")
	ok(eve.post(f"/submission/{made['hidden']}/note", [("note", "notecanary")]))
	for action, fields in (
		("hide", [("reason", "reasoncanary")]),
		("note", [("note", "admincanary")]),
	):
		ok(
			admin.post(
				f"/admin/submission/{made['hidden']}",
				[("action", action), ("confirm", "yes"), *fields],
			)
		)
	ok(
		admin.post(
			f"/admin/submission/{made['held']}",
			[("action", "hold"), ("reason", "holdcanary"), ("confirm", "yes")],
		)
	)


# ---- secrets ----


def addresses_of_all():
	"""Yields the addresses where a crawl starts: all pages of every submission, and all lists of
	submissions."""
	numbers = [int(row[0]) for row in sql("SELECT id FROM submissions")]
	yield from (
		"/",
		"/queue",
		"/queue/status",
		"/archive",
		"/submit",
		"/mine",
		"/account",
		"/account/sessions",
		"/account/tokens",
		"/account/export",
		"/admin",
		"/admin/submissions",
		"/admin/users",
		"/admin/audit",
		"/admin/rejudgings",
		"/admin/announcements",
		"/admin/invites",
		"/admin/hooks",
		"/admin/workers",
		"/admin/review",
		"/judge",
	)
	for name in NAMES:
		yield f"/user/{name}"
	for board in ("small", "frozen"):
		for rest in (
			"",
			".json?gpu=H200",
			".csv?gpu=H200",
			".atom",
			"/badge.svg",
			"/badge.svg?gpu=H200&user=eve",
			"/share.png",
			"/live",
			"?view=shapes",
			"?view=gpus",
			"?view=live",
			"?user=eve",
			"?q=eve",
			"?mine=1",
			"/submit",
			"/mine",
			"/task",
			"/task/file/eval.py",
		):
			yield f"/leaderboard/{board}{rest}"
		for rest in (
			"edit",
			"task",
			"publishing",
			"versions",
			"diff",
			"clone",
			"delete",
			"dryrun",
			"hooks",
		):
			yield f"/admin/leaderboard/{board}/{rest}"
	for number in numbers:
		for rest in ("", "/status", "/source", "/cancel", "/withdraw", "/note"):
			yield f"/submission/{number}{rest}"
		yield f"/admin/submission/{number}"
		for other in numbers:
			yield f"/compare?a={number}&b={other}"


def links_of(answer):
	if "text/html" not in answer.headers["Content-Type"]:
		return []
	return [
		link.split("#")[0]
		for link in links(answer.text)
		if link.startswith("/") and not link.startswith("/static/")
	]


def crawl(client, most=300):
	"""Yields (address, answer) for what this visitor can reach by links, up to `most` addresses."""
	waiting, seen = list(addresses_of_all()), set()
	while waiting and len(seen) < most:
		address = waiting.pop(0)
		if address in seen:
			continue
		seen.add(address)
		answer = client.get(address)
		assert answer.status < 500, (address, answer.status)
		yield address, answer
		if answer.status == 200:
			waiting += links_of(answer)


def canaries(*names):
	return re.compile("|".join(names).encode(), re.S)


# Words and numbers that only their author and admins may read.
HIDDEN = canaries(
	"hiddencanary",
	"reasoncanary",
	"holdcanary",
	"notecanary",
	"admincanary",
	"heldcanary",
	"withheldcanary",
	r"2934\.5",
	r"2834\.5",
	r"2734\.5",
	*(f"{time}.{{0,8}}µs" for time in (r"2\.93", r"2\.83", r"2\.73")),
)


@test
def strangers_find_nothing_hidden_held_or_withheld_on_any_page():
	for who, client in (("anyone", anyone), ("ada", ada), ("bob", bob)):
		for address, answer in crawl(client):
			found = HIDDEN.search(answer.bytes)
			assert not found, (who, address, found[0])


@test
def a_creator_finds_what_is_hidden_on_the_own_leaderboard():
	answers = list(crawl(carl))
	assert any(HIDDEN.search(answer.bytes) for _, answer in answers)
	assert any(address.endswith("/source") and answer.status == 200 for address, answer in answers)


@test
def an_author_finds_everything_of_the_own_submissions_but_admin_notes():
	text = b"".join(answer.bytes for _, answer in crawl(eve))
	for canary in (
		"hiddencanary",
		"reasoncanary",
		"notecanary",
		"heldcanary",
		"withheldcanary",
		"2734.5",
	):
		assert canary.encode() in text, canary
	for time_in_words in HIDDEN.pattern.split(b"|")[-3:-1]:
		assert re.search(time_in_words, text, re.S), time_in_words
	lacks(text.decode(errors="replace"), "admincanary")


@test
def only_those_who_see_a_draft_see_its_submissions():
	ok(
		carl.post(
			"/admin/leaderboard/small/edit",
			[("gpu", "H200"), ("accepting", "1"), ("keeps_version", "1")],
			[
				(
					"task",
					"task.zip",
					task_zip(TASK.replace("1024", "7777").replace("size: 1}", "size: 5}")),
				)
			],
		)
	)
	ok(
		carl.post(
			"/admin/leaderboard/small/dryrun?version=2", form="/admin/leaderboard/small/dryrun"
		)
	)
	tried = int(value("SELECT MIN(submission_id) FROM dry_run_entries"))
	for client, status in ((anyone, 404), (ada, 404), (carl, 200), (admin, 200)):
		for rest in ("", "/status"):
			equal((rest, client.get(f"/submission/{tried}{rest}").status), (rest, status))
		equal(client.get(f"/compare?a={tried}&b={made['plain']}").status, status)
	equal(ada.get(f"/submission/{tried}/source").status, 404)
	sql(
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', finished_at = "
		"UTC_TIMESTAMP(3) WHERE state = 'queued'"
	)


# ---- odd parameters ----

ODD = [
	"9223372036854775807",
	"9223372036854775808",
	"-1",
	"0",
	"999999999999999999",
	"' OR 1=1 -- ",
	"\u00fcber",
	"\U0001f600",
	"<script>alert(1)</script>",
	"0000-00-00",
	"9999-12-31",
	"10000-01-01 00:00",
	"2026-02-30",
	"../../etc/passwd",
	"\r\nX-Injected: 1",
	"x" * 3000,
]

# Forms that do different things depending on the field `action`, and the values of that field.
ACTIONS = {
	"/admin/invites": ["make", "revoke"],
	"/admin/contest/*": ["save", "add", "remove", "judge", "dismiss", "final", "delete"],
	"/contest/*/registration": ["register", "leave"],
	"/contest/*/teams": ["create", "join", "leave", "add", "remove"],
	"/account/security": ["add_passkey", "remove_passkey", "remove_app", "codes"],
	"/admin/users": ["role", "link", "unban", "factors"],
	"/leaderboard/*/questions": ["ask", "answer", "read"],
	"/admin/workers": ["pause", "resume"],
	"/admin/announcements": ["make", "end"],
	"/admin/submission/*": ["hold", "note"],
	"/admin/review": ["release", "reject"],
	"/admin/leaderboard/*/publishing": ["save", "remove", "readmit"],
	"/admin/leaderboard/*/task": ["preview", "save"],
	"/admin/hooks/*": ["test", "pause", "resume", "change"],
}


def parameter_names():
	"""Every name that a page reads from an address or a form."""
	sources = "".join(path.read_text() for path in sorted((ROOT / "cgi").rglob("*.c")))
	query = set(
		re.findall(r'(?:request_query|query_number|query_or\w*)\((?:request|\w+), "(\w+)"', sources)
	)
	form = set(re.findall(r'request_form(?:_or|_flag|_values)?\(request, "(\w+)"', sources))
	return sorted(query), sorted(form - {"csrf"})


def patterns(method):
	return route_table.pages(method)


def filled(pattern, part):
	"""The pattern as an address, with existing or odd values for the stars."""
	real = {
		"leaderboard": "small",
		"submission": str(made["plain"]),
		"user": "ada",
		"users": "ada",
		"language": "py",
		"host": value("SELECT name FROM workers LIMIT 1"),
	}
	words, result = pattern.split("/"), []
	for index, word in enumerate(words):
		replacement = urllib.parse.quote(part, safe="") if part else real.get(words[index - 1], "1")
		result.append(word.replace("**", replacement).replace("*", replacement))
	return "/".join(result)


def check_answer(what, answer):
	assert answer.status < 500, (*what, answer.status, answer.words()[:300])
	assert answer.headers["X-Injected"] is None, what
	if answer.location:
		assert re.match(r"/(?!/)", answer.location), (*what, answer.location)


@test
def odd_query_parameters_cause_no_server_error():
	names, _ = parameter_names()
	equal({"page", "gpu", "version", "before", "next", "view"} - set(names), set())
	for pattern in patterns("GET"):
		for odd in ODD:
			query = urllib.parse.urlencode({name: odd for name in names})
			check_answer((pattern, odd), admin.get(f"{filled(pattern, None)}?{query}"))
			if "*" in pattern:
				check_answer((pattern, "in the path", odd), admin.get(filled(pattern, odd)))
		sql("DELETE FROM rate_limits")


@test
def odd_form_fields_cause_no_server_error_and_change_no_account():
	_, names = parameter_names()
	made["token"] = admin.csrf("/account")
	equal({"name", "password", "reason", "note", "code", "visibility", "days"} - set(names), set())
	for pattern in patterns("POST"):
		if pattern == "/logout":
			continue
		for odd in ODD:
			for action in (odd, *ACTIONS.get(pattern, ())):
				fields = [(name, action if name == "action" else odd) for name in names]
				answer = admin.post(
					filled(pattern, None),
					fields,
					[("task", odd, b"x"), ("set", odd, b"x"), ("file", odd, b"x")],
					csrf=made["token"],
				)
				check_answer((pattern, odd), answer)
				if answer.location and answer.location.startswith("/login"):
					log_in(admin, "root-of-all")
					made["token"] = admin.csrf("/account")
		sql("DELETE FROM rate_limits")
	equal(
		sql(
			"SELECT name FROM users WHERE role = 'admin' AND banned_at IS NULL AND name = "
			"'root-of-all'"
		),
		[["root-of-all"]],
	)


# ---- redirects ----


@test
def no_redirect_leads_to_another_site():
	for evil in (
		"//elsewhere.example",
		"/\\elsewhere.example",
		"https://elsewhere.example",
		"/%2f/elsewhere.example",
		"\t//elsewhere.example",
		"/\t/elsewhere.example",
		"javascript:alert(1)",
		"/x\r\nSet-Cookie: a=b",
		"////elsewhere.example/",
	):
		fresh = Client(site.url)
		answer = fresh.post("/login", [("name", "ada"), ("password", PASSWORD), ("next", evil)])
		target = urllib.parse.urljoin(site.url + "/login", answer.location)
		equal(
			(evil, answer.status, urllib.parse.urlsplit(target).netloc),
			(evil, 303, urllib.parse.urlsplit(site.url).netloc),
		)
		equal((evil, answer.headers["X-Injected"]), (evil, None))
		assert "\\" not in answer.location and not answer.location.startswith("//"), answer.location
		answer = ada.get("/login?" + urllib.parse.urlencode({"next": evil}))
		assert answer.status == 303 and re.match(r"/(?![/\\])", answer.location), (
			evil,
			answer.location,
		)
	for path in (
		"//elsewhere.example/",
		"//elsewhere.example//",
		"/%2felsewhere.example/",
		"/%5celsewhere.example/",
		"/\\elsewhere.example/",
	):
		answer = anyone.get(path)
		assert answer.status in (301, 400, 404) and (
			not answer.location or re.match(r"/(?![/\\])", answer.location)
		), (path, answer.status, answer.location)


# ---- caching ----


@test
def personal_pages_are_never_cached_for_others():
	for address in (
		"/",
		"/queue",
		"/leaderboard/small",
		"/leaderboard/small.json?gpu=H200",
		f"/submission/{made['plain']}",
		"/user/ada",
		"/archive",
	):
		once = f"{address}{'&' if '?' in address else '?'}x={time.time()}"
		own, public = ada.get(once), anyone.get(once)
		equal((address, own.headers["Cache-Control"]), (address, "private, no-store"))
		lacks(public.text, "Log out")
		again = anyone.get(once)
		equal((address, again.headers["Set-Cookie"]), (address, None))
	for address in ("/login", "/register", "/submit"):
		first, second = Client(site.url).get(address), Client(site.url).get(address)
		cookies = [answer.headers["Set-Cookie"] for answer in (first, second)]
		assert cookies[0] is None or cookies[0] != cookies[1], address


@test
def who_sends_a_session_or_a_token_gets_nothing_from_the_cache_of_strangers():
	bearer = {"Authorization": f"Bearer {make_token(ada, 'cache', 'read')}"}
	for client, address, headers in (
		(ada, "/queue", {}),
		(Client(site.url), "/api/v1/leaderboards", bearer),
	):
		for _ in range(5):  # nginx keeps an answer for a second
			equal(anyone.get(address).status, 200)
			own = client.get(address, **headers)
			equal((own.status, own.headers["Cache-Control"].split(",")[0]), (200, "private"))
	sql("DELETE FROM api_tokens WHERE name = 'cache'")


# ---- hostile text ----

HOSTILE = (
	"\"'><script>alert(1)</script><img src=x onerror=alert(1)>]]>[a](javascript:alert(1))&{{x}}%s"
)
# Escape sequences and direction marks. Forms refuse them in names, but programs print them and
# files contain them.
CONTROLS = "\x1b[2J\x9b\x07\u202e\u2066\u200f\u061c\u2028"
MARKS = r"\x1b[2J\u009b\x07\u202e\u2066\u200f\u061c\u2028"
CONTROL = re.compile(
	"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
# Columns that keep their values because pages need them, and JSON columns, which get a hostile
# member below.
KEPT = {
	("leaderboards", "name"),
	("users", "name"),
	("task_versions", "definition"),
	("workers", "host"),
	("workers", "checks"),
	("jobs", "environment"),
	("stages", "kernels"),
	("stages", "conditions"),
	("measurements", "device"),
	("task_files", "path"),
	("baselines", "path"),
	("schema_migrations", "name"),
}


def make_everything_hostile():
	columns = sql(
		"SELECT table_name, column_name, COALESCE(character_maximum_length, 60000) FROM "
		"information_schema.columns WHERE table_schema = DATABASE() "
		"AND data_type IN ('varchar', 'text', 'mediumtext', 'longtext') AND character_set_name = "
		"'utf8mb4' "
		"AND table_name IN (SELECT table_name FROM information_schema.tables WHERE table_schema = "
		"DATABASE() AND table_type = 'BASE TABLE')"
	)
	hostile = CONTROLS + HOSTILE
	literal = hostile.replace("'", "''")
	statements = [
		f"UPDATE `{table}` SET `{column}` = LEFT('{literal}', {min(int(length), 60000)});"
		for table, column, length in columns
		if (table, column) not in KEPT and not (table, column) == ("api_tokens", "name")
	]
	assert len(statements) > 15, columns
	environment = json.dumps(
		{
			"device": hostile,
			"driver": hostile,
			"toolkit": hostile,
			"interpreter": hostile,
			"libraries": {hostile: hostile},
			"gpus": [hostile],
		}
	)
	statements.append(
		"UPDATE jobs SET environment = '%s';" % environment.replace("\\", "\\\\").replace("'", "''")
	)
	statements.append(
		"UPDATE workers SET host = '%s', checks = '%s';"
		% (
			json.dumps({"kernel": hostile, "cpu": hostile})
			.replace("\\", "\\\\")
			.replace("'", "''"),
			json.dumps(
				[
					{
						"name": hostile,
						"state": "fault",
						"found": hostile,
						"costs": hostile,
						"mend": hostile,
					}
				]
			)
			.replace("\\", "\\\\")
			.replace("'", "''"),
		)
	)
	sql("SET FOREIGN_KEY_CHECKS = 0;" + "".join(statements))


class Danger(Page):
	"""Parses a page and collects what would run as a script, lead to another site or change how
	text is shown. Only what a form sends back keeps its control characters."""

	def __init__(self):
		super().__init__()
		self.found = []

	def handle_starttag(self, tag, attrs):
		super().handle_starttag(tag, attrs)
		for name, content in attrs:
			if name != "value" and CONTROL.search(content or ""):
				self.found.append((tag, name, content))
			content = (content or "").strip().lower()
			if (
				name.startswith("on")
				or name == "style"
				and "url" in content
				or name in ("href", "src", "action", "formaction")
				and re.match(r"(javascript|data|vbscript):", content)
			):
				self.found.append((tag, name, content[:80]))
		if tag == "script" and not (dict(attrs).get("src") or "").startswith("/static/"):
			self.found.append((tag, attrs))
		if tag == "img" and not re.match(r"/(?!/)", dict(attrs).get("src") or ""):
			self.found.append((tag, attrs))

	def handle_data(self, data):
		super().handle_data(data)
		if self.stack[-1:] != ["textarea"] and CONTROL.search(data):
			self.found.append((self.stack[-1:], data))


def check_html(text):
	page = Danger()
	page.feed(text)
	equal((page.found, page.faults, page.stack), ([], [], []))


def check_csv(text):
	for row in csv.reader(io.StringIO(text)):
		for cell in row:
			assert not re.match(r"[=+@\t\r]|-(?![\d.])", cell), row


CHECKS = {
	"text/html": check_html,
	"application/json": json.loads,
	"text/csv": check_csv,
	"application/atom+xml": xml.etree.ElementTree.fromstring,
	"image/svg+xml": xml.etree.ElementTree.fromstring,
}


def check_hostile(address, answer):
	kind = answer.headers["Content-Type"].split(";")[0]
	equal((address, answer.headers["X-Content-Type-Options"]), (address, "nosniff"))
	if kind in CHECKS:
		try:
			CHECKS[kind](answer.text)
		except Exception as reason:
			raise AssertionError(f"{address}: {reason}") from reason
	if kind in ("application/atom+xml", "image/svg+xml"):
		lacks(answer.text.lower(), "<script")
	if kind in CHECKS and kind != "text/html":
		equal((address, CONTROL.findall(answer.text)), (address, []))


@test
def hostile_text_that_is_stored_anywhere_runs_nowhere():
	ok(ada.post("/account/tokens", [("name", HOSTILE[:60]), ("days", "30"), ("scope", "read")]))
	ok(
		carl.post(
			"/admin/invites", [("action", "make"), ("leaderboard", "small"), ("note", HOSTILE[:79])]
		)
	)
	ok(
		carl.post(
			"/admin/leaderboard/small/hooks",
			[
				("name", HOSTILE[:60]),
				("address", "https://chat.example.org/"),
				("form", "json"),
				("event", "ended"),
			],
		)
	)
	ok(admin.post("/admin/announcements", [("action", "make"), ("text", HOSTILE)]))
	ok(
		admin.post(
			"/admin/rejudgings",
			[("scope", "top"), ("leaderboard", "small"), ("top", "1"), ("gpu", "H200")],
		)
	)
	first, second = (submit(ada, 2000.0, f"{word} {CONTROLS}") for word in ("one", "two"))
	make_everything_hostile()
	for address in (f"/submission/{first}", f"/compare?a={first}&b={second}"):
		answer = ada.get(address)
		check_hostile(address, answer)
		contains(answer.text, MARKS)
	equal(ada.get(f"/submission/{first}/source").text.count(CONTROLS), 1)
	kinds = set()
	for client in (anyone, ada, eve, carl, admin):
		for address, answer in crawl(client, most=170):
			check_hostile(address, answer)
			kinds.add(answer.headers["Content-Type"].split(";")[0])
	equal(set(CHECKS) - kinds, set())


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
