#!/usr/bin/env python3
"""Every statement of a request meets a deadlock, a full disk, a broken connection and a database
that is gone. The request succeeds or answers 503. In both cases nothing is half-written. Workers,
webhooks and e-mails go on."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from site_of import Site  # noqa: E402
from breaking import FAULTS, Breaking, is_write, may_meet  # noqa: E402
import mariadb  # noqa: E402
from authenticator import app_code  # noqa: E402
from client import Client  # noqa: E402
from instance import BUSY_TABLES, DUMMY_MAIL  # noqa: E402
from tap import equal, run, test  # noqa: E402
from workers import RIGHT, admin, close, load_task, sql, until  # noqa: E402

# Requests write these beside what they are for.
BUSY = BUSY_TABLES | {"sessions", "schema_migrations"}
CUP = [
	("title", "Cup"),
	("starts", "2089-10-01 09:00"),
	("ends", "2089-10-01 14:00"),
	("freeze_minutes", "0"),
	("team_members", "3"),
	("registration", "open"),
]
YES = [("confirm", "yes")]
PEOPLE = ("root-of-all", "ada", "bob", "carl", "dora")
clients, tokens = {}, {}
site, breaking = None, None


def value(statement):
	return sql(statement)[0][0]


# ---- what is stored ----


class Store:
	"""A copy of all tables, to which they return after each fault."""

	def __init__(self):
		self.tables = [
			name
			for name, kind in sql("SHOW FULL TABLES")
			if kind == "BASE TABLE" and name not in BUSY
		]
		sql("CREATE DATABASE kept")
		self.columns, self.sums = {}, {}
		for table in [*self.tables, "sessions"]:
			names = sql(
				"SELECT column_name FROM information_schema.columns WHERE table_schema = "
				f"DATABASE() AND table_name = '{table}' AND is_generated = 'NEVER'"
			)
			self.columns[table] = ", ".join(f"`{name}`" for (name,) in names)
			sql(f"CREATE TABLE kept.{table} LIKE {table}")
		self.keep()

	def now(self):
		rows = mariadb.checksums(sql, self.tables)
		return {name.rpartition(".")[2]: rest for name, *rest in rows}

	def counts(self):
		return sql("SELECT " + ", ".join(f"(SELECT COUNT(*) FROM {one})" for one in self.tables))[0]

	def changed(self):
		now = self.now()
		return [table for table in self.tables if now[table] != self.sums.get(table)]

	def copy(self, to, source, tables):
		sql(
			"SET foreign_key_checks = 0;"
			+ "".join(
				f"DELETE FROM {to}{one}; INSERT INTO {to}{one} ({self.columns[one]}) SELECT "
				f"{self.columns[one]} FROM {source}{one};"
				for one in tables
			)
			+ "SET foreign_key_checks = 1"
		)

	def keep(self):
		self.copy("kept.", "", [*self.changed(), "sessions"])
		self.sums = self.now()

	def restore(self, tables):
		self.copy("", "kept.", [*tables, "sessions"])


# ---- the requests ----


def ask(who, path, fields):
	sql("DELETE FROM rate_limits; DELETE FROM mail_deadlines")
	client = clients[who]
	cookies = dict(client.cookies)
	answer = client.post(path, fields, csrf=tokens[who])
	client.cookies = cookies  # the session returns with the tables
	return answer


def teams(**fields):
	return "/contest/cup/teams", list(fields.items())


def security(action, *fields):
	return "/account/security", [("action", action), *fields, *YES]


def exceptions(action, user, **fields):
	path = "/admin/leaderboard/small/exceptions"
	return path, [("action", action), ("user", user), *fields.items(), *YES]


def users(**fields):
	return "/admin/users", list(fields.items())


def submission(action, *fields):
	number = value("SELECT MAX(id) FROM submissions")
	return f"/submission/{number}/{action}", [*fields, ("number", number)]


def secret():
	page = clients["ada"].get("/account/security/app").text
	return page.split('id="app-key">')[1][:32]


def reply():
	return "/leaderboard/small/questions", [
		("action", "answer"),
		("question", value("SELECT MAX(id) FROM questions")),
		("answer", "No."),
		("for", "all"),
	]


# What is stored before a request.
STORED = {
	"an identity is unlinked": "INSERT INTO identities (user_id, issuer, subject, shown_as) SELECT "
	"id, 'https://id.example', 'a', 'ada' FROM users WHERE name = 'ada'",
	"standings become final": "UPDATE contests SET starts_at = '2020-01-01', ends_at = "
	"'2020-01-02', started_at = starts_at, ended_at = ends_at",
}
# (who asks, a function that gives the path and the fields). Each request finds what those before
# have stored.
REQUESTS = {
	"a contest is created": (
		"root-of-all",
		lambda: ("/admin/contests/new", [("name", "cup"), *CUP]),
	),
	"a contest is changed": (
		"root-of-all",
		lambda: ("/admin/contest/cup", [("action", "save"), *CUP, ("title", "The cup")]),
	),
	"a participant registers": ("ada", lambda: ("/contest/cup/registration", [])),
	"a participant leaves": ("ada", lambda: ("/contest/cup/registration", [("action", "leave")])),
	"a host adds a contestant": (
		"root-of-all",
		lambda: ("/admin/contest/cup", [("action", "add"), ("user", "bob")]),
	),
	"a host removes a contestant": (
		"root-of-all",
		lambda: ("/admin/contest/cup", [("action", "remove"), ("user", "bob"), *YES]),
	),
	"a team is made": ("ada", lambda: teams(action="create", name="Quick")),
	"a member joins": ("bob", lambda: teams(action="join", code=value("SELECT code FROM teams"))),
	"a member leaves": ("bob", lambda: teams(action="leave", confirm="yes")),
	"a question is asked": (
		"ada",
		lambda: ("/leaderboard/small/questions", [("action", "ask"), ("text", "May I?")]),
	),
	"a question is answered": ("root-of-all", reply),
	"an app is begun": ("ada", lambda: ("/account/security/app", [])),
	"an app is added": (
		"ada",
		lambda: ("/account/security/app", [("code", app_code(secret(), steps=-1))]),
	),
	"recovery codes are made": ("ada", lambda: security("codes")),
	"an app is removed": ("ada", lambda: security("remove_app")),
	"an identity is unlinked": (
		"ada",
		lambda: (
			"/account/identities",
			[("identity", value("SELECT MAX(id) FROM identities")), *YES],
		),
	),
	"an address is set": (
		"ada",
		lambda: (
			"/account/mail",
			[("action", "set"), ("address", "ada@one.example"), ("current", "a long password")],
		),
	),
	"a file is submitted": (
		"bob",
		lambda: ("/leaderboard/small/submit", [("mode", "test"), ("gpu", "CPU"), ("code", RIGHT)]),
	),
	"a note is written": ("bob", lambda: submission("note", ("note", "wider"))),
	"a submission is cancelled": ("bob", lambda: submission("cancel")),
	"a submission is withdrawn": ("bob", lambda: submission("withdraw")),
	"a submission is restored": ("bob", lambda: submission("restore")),
	"a deadline is extended": (
		"root-of-all",
		lambda: exceptions("extend", "bob", deadline="2091-01-01 00:00"),
	),
	"a user is disqualified": (
		"root-of-all",
		lambda: exceptions("disqualify", "bob", reason="It is odd."),
	),
	"a role is given": (
		"root-of-all",
		lambda: (
			"/admin/leaderboard/small/roles",
			[("action", "give"), ("user", "carl"), ("role", "jury")],
		),
	),
	"a token is made": (
		"carl",
		lambda: ("/account/tokens", [("name", "laptop"), ("days", "0"), ("scope", "read")]),
	),
	"a user is banned": ("root-of-all", lambda: ("/admin/users/carl/ban", [("name", "carl")])),
	"a ban is lifted": ("root-of-all", lambda: users(action="unban", user="carl")),
	"an invite is made": (
		"root-of-all",
		lambda: ("/admin/invites", [("action", "make"), ("leaderboard", "small"), ("note", "x")]),
	),
	"standings become final": (
		"root-of-all",
		lambda: ("/admin/contest/cup", [("action", "final"), *YES]),
	),
	"an account is deleted": (
		"dora",
		lambda: ("/account/delete", [("name", "dora"), ("password", "a long password"), *YES]),
	),
}


def points(statements):
	"""Each fault at each statement, which its text and its number among equal ones name. Also
	whether everything is stored by then."""
	last = max(place for place, one in enumerate(statements) if is_write(one) or one == "COMMIT")
	for fault in FAULTS:
		for place, statement in enumerate(statements):
			if may_meet(fault, statement):
				yield fault, statement, statements[:place].count(statement), place > last


def failing(fault, statement, number):
	"""Says for breaking.watch that the statement with this text and number meets the fault."""
	left = [number]

	def choose(sql):
		if sql != statement:
			return None
		left[0] -= 1
		return fault if left[0] == -1 else None

	return choose


def meet(store, who, make, point, clean):
	"""Sends the request with a fault. `clean`: its status and the numbers of rows without one."""
	*where, is_stored = point
	path, fields = make()
	breaking.watch(failing(*where))
	answer = ask(who, path, fields)
	met = breaking.met
	breaking.watch()
	changed = store.changed()
	counts = store.counts()
	store.restore(changed)
	if not met:
		return False
	if answer.status == 503 and not is_stored:
		equal((where, changed), (where, []))
	else:
		status = 503 if answer.status == 503 else clean[0]
		equal((where, answer.status, counts), (where, status, clean[1]))
	return True


def try_all(name, who, make):
	store = stores[0]
	if name in STORED:
		sql(STORED[name])
	store.keep()
	path, fields = make()
	breaking.watch()
	answer = ask(who, path, fields)
	statements, clean = list(breaking.seen), (answer.status, store.counts())
	if answer.status not in (200, 303) or not any(map(is_write, statements)):
		raise AssertionError(f"{answer.status}: {answer.words()[:500]}")
	store.restore(store.changed())
	wrong, count = [], 0
	for point in points(statements):
		try:
			count += meet(store, who, make, point, clean)
		except AssertionError as reason:
			wrong.append(str(reason)[:700])
	equal(ask(who, *make()).status, clean[0])
	print(f"# {name}: {count} faults in {len(statements)} statements")
	equal((count > len(statements), wrong), (True, []))


stores = []


@test
def everything_works_without_a_fault():
	global site, breaking
	load_task()
	breaking = Breaking()
	site = Site(PODIUM_DATABASE_SOCKET=breaking.path, **DUMMY_MAIL)
	for name in PEOPLE:
		clients[name] = Client(site.url)
		clients[name].register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE leaderboards SET "
		"deadline = '2090-01-01'"
	)
	for name, client in clients.items():
		tokens[name] = client.csrf("/account")
	stores.append(Store())
	breaking.ignore_the_others(6)


for title, (author, fields_of) in REQUESTS.items():

	def cell(title=title, author=author, fields_of=fields_of):
		try_all(title, author, fields_of)

	cell.__name__ = title
	test(cell)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	if site:
		site.end()
	close()
sys.exit(code)
