#!/usr/bin/env python3
"""Who may do what: this suite requests every address of the router as every kind of user. A form
works for users who have the right and send the token of their session. For all others it changes
nothing in the database. A new address needs a row in PAGES or FORMS."""

import functools
import gzip
import hmac
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from plans import kernel, plan_sql  # noqa: E402
from small_task import (  # noqa: E402
	TEMPLATE_TASK,
	done as ok,
	store_comparison,
	store_waiting,
	submit_time,
	task_zip,
	zip_of,
)
from tap import equal, run, test, until  # noqa: E402

settings = tempfile.NamedTemporaryFile("w", suffix=".conf")
settings.write(
	"provider.hub.kind = github\nprovider.hub.client_id = x\nprovider.hub.client_secret = y\n"
)
settings.flush()
site = Instance(
	pretends=True,
	PODIUM_CONFIG=settings.name,
	PODIUM_WEBHOOK_SENDERS="0",
	PODIUM_MAIL_SERVER="smtp://localhost:9",  # the pages about e-mail exist; nothing is sent
	PODIUM_MAIL_SENDER="podium@podium.example",
)
sql, value = site.sql, site.value
PASSWORD = "a long password"
TASK = TEMPLATE_TASK.replace("A small", "A %s").replace("1024", "%d")

# Kinds of users. All have a session except "nobody". The test puts the sessions of "banned" and
# "deleted" back into the database, so that only their account is a reason to refuse them.
PEOPLE = [
	"nobody",
	"banned",
	"deleted",
	"author",
	"other",
	"creator",
	"stranger",
	"admin",
	"onetime",
	"cocreator",
	"jury",
]
clients = {who: Client(site.url) for who in PEOPLE}
NAMES = {
	"author": "ada",
	"other": "bob",
	"creator": "carl",
	"stranger": "dora",
	"admin": "root-of-all",
	"banned": "mallory",
	"deleted": "gone",
	"onetime": "tim",
	"cocreator": "coco",
	"jury": "judy",
}
tokens, kept_cookies, made = {}, {}, {}


ADDRESS_FORM = [("action", "set"), ("address", "new@one.example"), ("current", PASSWORD)]
# Mail programs send this form without a cookie; its address is signed (RFC 8058).
WITHOUT_TOKEN = ["/mail/unsubscribe/*"]


def rights(outside, author, other, creator, stranger, admin, onetime="account", **roles):
	"""Returns the expected answer for each of PEOPLE: `ok`, a status, or `login` or `account` for a
	redirect to that page. `outside` is the answer for nobody, banned and deleted. "cocreator" and
	"jury" are participants with a role on the leaderboard small; without one named here, they get
	the answer of "other", who has none. "stranger" is the creator of another leaderboard."""
	given = (outside, outside, outside, author, other, creator, stranger, admin, onetime)
	answers = dict(zip(PEOPLE, given))
	return answers | {who: roles.get(who, other) for who in ("cocreator", "jury")}


EVERYBODY = rights("ok", "ok", "ok", "ok", "ok", "ok")
EVEN_BEFORE = rights(
	"ok", "ok", "ok", "ok", "ok", "ok", onetime="ok"
)  # even a user who must first choose a password
MEMBERS = rights("login", "ok", "ok", "ok", "ok", "ok")
THE_AUTHOR = rights("login", "ok", "403", "403", "403", "403")
AUTHOR_OR_CREATOR = rights("login", "ok", "403", "ok", "403", "ok", cocreator="ok")
SOURCE = rights("403", "ok", "403", "ok", "403", "ok", cocreator="ok", jury="ok")
CREATORS = rights("login", "403", "403", "ok", "ok", "ok")
STAFF = rights("login", "403", "403", "ok", "ok", "ok", cocreator="ok", jury="ok")
ITS_CREATOR = rights("login", "403", "403", "ok", "403", "ok", cocreator="ok")
ITS_JURY = rights("login", "403", "403", "ok", "403", "ok", cocreator="ok", jury="ok")
ITS_OWNER = rights("login", "403", "403", "ok", "403", "ok")
CREATOR_OR_NONE = rights("login", "403", "403", "ok", "404", "ok", cocreator="ok", jury="404")
THE_INVITER = rights("login", "403", "403", "ok", "404", "ok", cocreator="404", jury="404")
THE_UPLOADER = rights("login", "403", "403", "ok", "404", "404")
ADMINS = rights("login", "403", "403", "403", "403", "ok")

PAGES = {
	"/": ("/", EVERYBODY),
	"/leaderboard/*.json": ("/leaderboard/small.json", EVERYBODY),
	"/leaderboard/*.csv": ("/leaderboard/small.csv", EVERYBODY),
	"/leaderboard/*.atom": ("/leaderboard/small.atom", EVERYBODY),
	"/leaderboard/*/badge.svg": ("/leaderboard/small/badge.svg", EVERYBODY),
	"/leaderboard/*/share.png": ("/leaderboard/small/share.png", EVERYBODY),
	"/leaderboard/*": ("/leaderboard/small?gpu=H200", EVERYBODY),
	"/leaderboard/*/live": ("/leaderboard/small/live", EVERYBODY),
	"/submit": ("/submit", EVERYBODY),
	"/leaderboard/*/submit": ("/leaderboard/small/submit", EVERYBODY),
	"/leaderboard/*/mine": ("/leaderboard/small/mine", MEMBERS),
	"/mine": ("/mine", MEMBERS),
	"/leaderboard/*/task": ("/leaderboard/small/task", EVERYBODY),
	"/leaderboard/*/task/**": ("/leaderboard/small/task/file/eval.py", EVERYBODY),
	"/leaderboard/*/raw/**": ("/leaderboard/small/raw/file/eval.py", EVERYBODY),
	"/leaderboard/*/template/*": ("/leaderboard/small/template/Python", EVERYBODY),
	"/leaderboard/*/questions": ("/leaderboard/small/questions", EVERYBODY),
	"/submission/*": ("/submission/{ada}", EVERYBODY),
	"/submission/*/status": ("/submission/{ada}/status", EVERYBODY),
	"/submission/*/source": ("/submission/{ada}/source", SOURCE),
	"/submission/*/artifact/*": ("/submission/{ada}/artifact/{artifact}", SOURCE),
	"/submission/*/plan/*": ("/submission/{ada}/plan/{recorded}", SOURCE),
	"/submission/*/cancel": ("/submission/{waiting}/cancel", AUTHOR_OR_CREATOR),
	"/submission/*/withdraw": ("/submission/{ada}/withdraw", THE_AUTHOR),
	"/submission/*/note": ("/submission/{ada}/note", THE_AUTHOR),
	"/compare": ("/compare?a={ada}&b={bob}", EVERYBODY),
	"/comparison/*": ("/comparison/{comparison}", EVERYBODY),
	"/comparison/*/status": ("/comparison/{comparison}/status", EVERYBODY),
	"/user/*": ("/user/ada", EVERYBODY),
	"/queue": ("/queue", EVERYBODY),
	"/queue/status": ("/queue/status", EVERYBODY),
	"/archive": ("/archive", EVERYBODY),
	"/contests": ("/contests", EVERYBODY),
	"/contest/*.json": ("/contest/over.json", EVERYBODY),
	"/contest/*.csv": ("/contest/over.csv", EVERYBODY),
	"/contest/*": ("/contest/over", EVERYBODY),
	"/contest/*/teams": ("/contest/over/teams", EVERYBODY),
	"/contest/*/reveal": ("/contest/over/reveal", ITS_OWNER),
	"/contest/*/unfrozen": ("/contest/judged/unfrozen", ITS_JURY),
	"/contest/*/certificate/*": (
		"/contest/over/certificate/ada",
		rights("login", "ok", "403", "ok", "403", "ok"),
	),
	"/join": ("/join?code={code}", EVERYBODY),
	"/language/*": ("/language/py", EVERYBODY),
	"/language/*/*": ("/language/py/eval.py", EVERYBODY),
	"/judge": ("/judge", EVERYBODY),
	"/help": ("/help", EVERYBODY),
	"/help/*": ("/help/ranking", EVERYBODY),
	"/help/terminal/podium": ("/help/terminal/podium", EVERYBODY),
	"/help/terminal/podium.sha256": ("/help/terminal/podium.sha256", EVERYBODY),
	"/register": ("/register", rights("ok", *5 * ["account"])),
	"/login": ("/login?next=/queue", EVERYBODY),
	"/password/*": ("/password/{link}", EVEN_BEFORE),
	"/forgot": ("/forgot", EVERYBODY),
	"/mail/confirm/*": ("/mail/confirm/" + 64 * "1", EVERYBODY),
	"/mail/unsubscribe/*": ("/mail/unsubscribe/{unsubscribe}", EVEN_BEFORE),
	"/account": ("/account", rights("login", *6 * ["ok"])),
	"/account/sessions": ("/account/sessions", MEMBERS),
	"/sign-in": ("/sign-in", EVERYBODY),
	"/sign-in/*": ("/sign-in/hub", EVERYBODY),
	"/sign-in/*/callback": ("/sign-in/hub/callback", rights(*6 * ["403"])),
	"/account/identities": ("/account/identities", MEMBERS),
	"/login/factor": ("/login/factor", EVERYBODY),
	"/account/security": ("/account/security", MEMBERS),
	"/account/security/app": ("/account/security/app", MEMBERS),
	"/account/confirm": ("/account/confirm", rights("login", *6 * ["ok"])),
	"/account/tokens": ("/account/tokens", MEMBERS),
	"/account/mail": ("/account/mail", MEMBERS),
	"/device": ("/device?code=BCDF-GHJK", MEMBERS),
	"/account/data": ("/account/data", MEMBERS),
	"/account/export": ("/account/export", MEMBERS),
	"/account/delete": ("/account/delete", MEMBERS),
	"/account/deleted": ("/account/deleted", EVERYBODY),
	"/admin": ("/admin", STAFF),
	"/admin/leaderboards/new": ("/admin/leaderboards/new", CREATORS),
	"/admin/leaderboard/*/edit": ("/admin/leaderboard/small/edit", ITS_CREATOR),
	"/admin/leaderboard/*/task": ("/admin/leaderboard/small/task", ITS_CREATOR),
	"/admin/leaderboard/*/delete": ("/admin/leaderboard/small/delete", ITS_OWNER),
	"/admin/leaderboard/*/publishing": ("/admin/leaderboard/small/publishing", ITS_CREATOR),
	"/admin/leaderboard/*/versions": ("/admin/leaderboard/small/versions", ITS_CREATOR),
	"/admin/leaderboard/*/diff": ("/admin/leaderboard/small/diff", ITS_CREATOR),
	"/admin/leaderboard/*/switch": ("/admin/leaderboard/small/switch?version=1", ITS_CREATOR),
	"/admin/leaderboard/*/clone": ("/admin/leaderboard/small/clone", ITS_OWNER),
	"/admin/leaderboard/*/exceptions": ("/admin/leaderboard/small/exceptions", ITS_CREATOR),
	"/admin/leaderboard/*/unfrozen": ("/admin/leaderboard/small/unfrozen", ITS_JURY),
	"/admin/leaderboard/*/roles": ("/admin/leaderboard/small/roles", ITS_CREATOR),
	"/admin/leaderboard/*/dryrun": ("/admin/leaderboard/small/dryrun", ITS_CREATOR),
	"/admin/leaderboard/*/dryrun/status": ("/admin/leaderboard/small/dryrun/status", ITS_CREATOR),
	"/admin/leaderboard/*/similar": ("/admin/leaderboard/small/similar", ITS_JURY),
	"/admin/leaderboard/*/hooks": ("/admin/leaderboard/small/hooks", ITS_CREATOR),
	"/admin/hooks": ("/admin/hooks", ADMINS),
	"/admin/hooks/*": ("/admin/hooks/{hook}", CREATOR_OR_NONE),
	"/admin/hooks/*/status": ("/admin/hooks/{hook}/status", CREATOR_OR_NONE),
	"/admin/contests/new": ("/admin/contests/new", CREATORS),
	"/admin/contest/*": ("/admin/contest/cup", ITS_OWNER),
	"/admin/invites": ("/admin/invites", STAFF),
	"/admin/sets/new": ("/admin/sets/new", CREATORS),
	"/admin/sets/*": ("/admin/sets/{set}", THE_UPLOADER),
	"/admin/host/*": ("/admin/host/{worker}", ADMINS),
	"/admin/workers": ("/admin/workers", ADMINS),
	"/admin/review": ("/admin/review", ADMINS),
	"/admin/submissions": ("/admin/submissions?leaderboard=small", ITS_JURY),
	"/admin/submission/*": ("/admin/submission/{ada}", ITS_CREATOR),
	"/admin/announcements": ("/admin/announcements", STAFF),
	"/admin/device/*/*": ("/admin/device/{worker}/{device}", ADMINS),
	"/admin/rejudgings": ("/admin/rejudgings", STAFF),
	"/admin/rejudgings/*": ("/admin/rejudgings/{rejudging}", CREATOR_OR_NONE),
	"/admin/rejudgings/*/*": ("/admin/rejudgings/{rejudging}/{result}", CREATOR_OR_NONE),
	"/admin/users": ("/admin/users", ADMINS),
	"/admin/users/*/ban": ("/admin/users/eve/ban", ADMINS),
	"/admin/audit": ("/admin/audit", ADMINS),
	"/healthz": ("/healthz", EVEN_BEFORE),
	"/metrics": ("/metrics", EVERYBODY),
}


def small_zip(word="small", size=1024):
	return task_zip(TASK % (word, size))


def set_zip():
	return zip_of(
		{
			"set.yaml": "name: A set\nproblems:\n  - {directory: one, name: of-set, gpus: "
			"[H200]}\n",
			"one/task.yml": TASK % ("set", 64),
			"one/eval.py": "",
			"one/submission.py": "a = 1\n",
		}
	)


def own(statement):
	"""A function that reads a value from the sender's own rows, or returns "0" if the sender has
	none."""

	def read(who):
		rows = sql(statement.format(name=NAMES.get(who, "nobody")))
		return rows[0][0] if rows else "0"

	return read


OWN_SESSION = own(
	"SELECT LOWER(HEX(LEFT(s.token_hash, 8))) FROM sessions s JOIN users u ON u.id = s.user_id "
	"WHERE u.name = '{name}' AND s.user_agent = 'second'"
)
OWN_IDENTITY = own(
	"SELECT i.id FROM identities i JOIN users u ON u.id = i.user_id WHERE u.name = '{name}'"
)
OWN_PASSKEY = own(
	"SELECT p.id FROM passkeys p JOIN users u ON u.id = p.user_id WHERE u.name = '{name}'"
)
OWN_TOKEN = own(
	"SELECT t.id FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE u.name = '{name}'"
)
FILE = [("task", "task.zip", small_zip("changed"))]
HOOK = [
	("name", "ours"),
	("address", "https://chat.example.org/"),
	("form", "json"),
	("event", "ended"),
]
SOURCE_SENT = [("mode", "test"), ("code", "#!POPCORN leaderboard small\na = 1\n"), ("gpu", "H200")]

# Each form: the address, fields with which it changes something unless it is refused, the expected
# answers, and files.
FORMS = {
	"/submit": ("/submit", SOURCE_SENT, MEMBERS),
	"/leaderboard/*/submit": ("/leaderboard/small/submit", SOURCE_SENT, MEMBERS),
	"/leaderboard/*/questions": (
		"/leaderboard/small/questions",
		[("action", "answer"), ("question", "{question}"), ("answer", "No."), ("for", "all")],
		rights("login", "403", "404", "ok", "404", "ok", cocreator="ok", jury="ok"),
	),
	"/submission/*/cancel": (
		"/submission/{waiting}/cancel",
		[("number", "{waiting}")],
		AUTHOR_OR_CREATOR,
	),
	"/submission/*/withdraw": ("/submission/{ada}/withdraw", [("number", "{ada}")], THE_AUTHOR),
	"/submission/*/restore": ("/submission/{withdrawn}/restore", [], THE_AUTHOR),
	"/submission/*/note": ("/submission/{ada}/note", [("note", "mine")], THE_AUTHOR),
	"/contest/*/teams": ("/contest/cup/teams", [("action", "create"), ("name", "Newest")], MEMBERS),
	"/contest/*/news": ("/contest/cup/news", [("until", "1")], MEMBERS),
	"/contest/*/registration": ("/contest/cup/registration", [("action", "register")], MEMBERS),
	"/join": ("/join", [("code", "{code}")], MEMBERS),
	"/register": ("/register", [("name", "newcomer"), ("password", PASSWORD)], EVERYBODY),
	"/login": ("/login", [("name", "eve"), ("password", PASSWORD)], EVERYBODY),
	"/logout": ("/logout", [], EVEN_BEFORE),
	"/theme": ("/theme", [("theme", "dark")], EVERYBODY),
	"/password/*": (
		"/password/{link}",
		[("password", "another password"), ("again", "another password")],
		EVEN_BEFORE,
	),
	"/forgot": ("/forgot", [("name", "ada")], EVERYBODY),
	"/mail/confirm/*": ("/mail/confirm/" + 64 * "1", [], EVERYBODY),
	"/mail/unsubscribe/*": ("/mail/unsubscribe/{unsubscribe}", [], EVEN_BEFORE),
	"/account/mail": ("/account/mail", ADDRESS_FORM, MEMBERS),
	"/sign-in": (
		"/sign-in",
		[
			(
				"action",
				lambda who: "create" if who in ("nobody", "banned", "deleted") else "confirm",
			),
			("name", "newcomer"),
		],
		EVERYBODY,
	),
	"/account/identities": (
		"/account/identities",
		[("identity", OWN_IDENTITY), ("confirm", "yes")],
		MEMBERS,
	),
	# Nobody waits for a factor here, and browsers offer no passkeys at this site's address.
	"/login/factor": ("/login/factor", [("code", "123456")], EVERYBODY),
	"/login/passkey": ("/login/passkey", [("credential", "AA")], rights(*6 * ["422"])),
	"/passkey/challenge": ("/passkey/challenge", [("purpose", "login")], rights(*7 * ["403"])),
	"/account/security": (
		"/account/security",
		[("action", "remove_passkey"), ("passkey", OWN_PASSKEY), ("confirm", "yes")],
		MEMBERS,
	),
	"/account/security/app": ("/account/security/app", [], MEMBERS),
	# Only one of them has no factor and confirms with the password.
	"/account/confirm": (
		"/account/confirm",
		[("password", PASSWORD)],
		rights("login", *5 * ["422"], onetime="ok"),
	),
	"/account/password": (
		"/account/password",
		[("current", PASSWORD), ("password", "another password"), ("again", "another password")],
		rights("login", *6 * ["ok"]),
	),
	"/account/sessions": ("/account/sessions", [("session", OWN_SESSION)], MEMBERS),
	"/account/tokens": (
		"/account/tokens",
		[("name", "new"), ("days", "30"), ("scope", "read")],
		MEMBERS,
	),
	"/account/tokens/revoke": (
		"/account/tokens/revoke",
		[("token", OWN_TOKEN), ("confirm", "yes")],
		MEMBERS,
	),
	"/device": (
		"/device",
		[("code", "BCDF-GHJK"), ("name", "terminal"), ("days", "30"), ("answer", "confirm")],
		MEMBERS,
	),
	"/account/overtaken": (
		"/account/overtaken",
		[("leaderboard", "{small}"), ("gpu", "H200")],
		MEMBERS,
	),
	"/account/delete": (
		"/account/delete",
		[("name", lambda who: NAMES.get(who, "eve")), ("password", PASSWORD)],
		MEMBERS,
	),
	"/admin/intake": ("/admin/intake", [("action", "stop"), ("confirm", "yes")], ADMINS),
	"/admin/gpus/release": ("/admin/gpus/release", [("uuid", "GPU-broken")], ADMINS),
	"/admin/leaderboards/new": (
		"/admin/leaderboards/new",
		[("name", "fresh"), ("gpu", "H200"), ("accepting", "1")],
		CREATORS,
		FILE,
	),
	"/admin/leaderboard/*/edit": (
		"/admin/leaderboard/small/edit",
		[("gpu", "H200"), ("deadline", "2040-01-01 00:00")],
		ITS_CREATOR,
		FILE,
	),
	"/admin/leaderboard/*/task": (
		"/admin/leaderboard/small/task",
		[("action", "save"), ("description", "Another text.")],
		ITS_CREATOR,
	),
	"/admin/leaderboard/*/delete": (
		"/admin/leaderboard/small/delete",
		[("name", "small")],
		ITS_OWNER,
	),
	"/admin/leaderboard/*/publishing": (
		"/admin/leaderboard/small/publishing",
		[("action", "save"), ("visibility", "hidden"), ("confirm", "yes")],
		ITS_CREATOR,
	),
	"/admin/leaderboard/*/switch": ("/admin/leaderboard/small/switch?version=1", [], ITS_CREATOR),
	"/admin/leaderboard/*/clone": ("/admin/leaderboard/small/clone", [("name", "twin")], ITS_OWNER),
	"/admin/leaderboard/*/exceptions": (
		"/admin/leaderboard/small/exceptions",
		[("action", "disqualify"), ("user", "ada"), ("reason", "It is odd."), ("confirm", "yes")],
		ITS_CREATOR,
	),
	"/admin/leaderboard/*/roles": (
		"/admin/leaderboard/small/roles",
		[("action", "give"), ("user", "eve"), ("role", "jury")],
		ITS_OWNER,
	),
	"/admin/leaderboard/*/dryrun": ("/admin/leaderboard/small/dryrun", [], ITS_CREATOR),
	"/admin/leaderboard/*/hooks": ("/admin/leaderboard/small/hooks", HOOK, ITS_CREATOR),
	"/admin/hooks": ("/admin/hooks", HOOK, ADMINS),
	"/admin/hooks/*": (
		"/admin/hooks/{hook}",
		[("action", "delete"), ("confirm", "ours")],
		CREATOR_OR_NONE,
	),
	"/admin/contests/new": (
		"/admin/contests/new",
		[
			("name", "new"),
			("title", "New"),
			("starts", "2089-01-01 00:00"),
			("ends", "2089-01-02 00:00"),
			("freeze_minutes", "0"),
		],
		CREATORS,
	),
	"/admin/contest/*": ("/admin/contest/cup", [("action", "add"), ("user", "eve")], ITS_OWNER),
	"/admin/invites": (
		"/admin/invites",
		[("action", "revoke"), ("invite", "{invite}"), ("confirm", "yes")],
		THE_INVITER,
	),
	"/admin/sets/new": ("/admin/sets/new", [], CREATORS, [("set", "set.zip", set_zip())]),
	"/admin/sets/*": ("/admin/sets/{set}", [("set", "{path}"), ("plan", "{plan}")], THE_UPLOADER),
	"/admin/workers": (
		"/admin/workers",
		[("action", "resume"), ("worker", "{worker}"), ("device", "")],
		ADMINS,
	),
	"/admin/review": (
		"/admin/review",
		[("action", "release"), ("submission", "{held}"), ("gpu", "H200")],
		ADMINS,
	),
	"/admin/submission/*": (
		"/admin/submission/{ada}",
		[("action", "hide"), ("reason", "It is odd."), ("confirm", "yes")],
		ITS_CREATOR,
	),
	"/admin/announcements": (
		"/admin/announcements",
		[("action", "make"), ("text", "Hello."), ("leaderboard", "small")],
		rights("login", "403", "403", "ok", "422", "ok", cocreator="ok", jury="422"),
	),
	"/admin/rejudgings": (
		"/admin/rejudgings",
		[("scope", "top"), ("leaderboard", "small"), ("top", "1"), ("gpu", "H200")],
		ITS_CREATOR,
	),
	"/admin/rejudgings/*": (
		"/admin/rejudgings/{rejudging}",
		[("action", "apply"), ("name", "small")],
		CREATOR_OR_NONE,
	),
	"/admin/users": (
		"/admin/users",
		[("action", "role"), ("user", "eve"), ("role", "creator"), ("confirm", "yes")],
		ADMINS,
	),
	"/admin/users/invite": (
		"/admin/users/invite",
		[("name", "guest"), ("role", "participant")],
		ADMINS,
	),
	"/admin/users/*/ban": ("/admin/users/eve/ban", [("name", "eve")], ADMINS),
}
# Users for whom a form works but changes nothing. Only `other` has notices of being overtaken.
NOTHING_TO_DO = {
	"/logout": ["nobody"],
	"/theme": PEOPLE,
	"/login/factor": PEOPLE,
	"/contest/*/news": PEOPLE,  # nobody is registered; board_questions.test.py marks as read
	"/account/confirm": PEOPLE,
	"/account/overtaken": ["author", "creator", "stranger", "admin", "cocreator", "jury"],
}

# ---- the database before and after ----

# Starting a sign-in adds a row here.
BEGUN = {"sign_ins"}


def state():
	"""Returns checksums and rows that differ if a request has changed something. They leave out
	busy tables, the time of each session's last use, and blobs without a reference, which
	podium-hooks deletes at any time."""
	return site.checksums(BEGUN | {"sessions", "blobs"}) + sql(
		"SELECT HEX(sha256), size, MD5(content) FROM blobs WHERE sha256 IN "
		"(SELECT sha256 FROM submissions UNION SELECT sha256 FROM task_files) ORDER BY sha256; "
		"SELECT HEX(token_hash), user_id, expires_at FROM sessions ORDER BY token_hash; "
		"SELECT uuid, quarantined_at FROM gpus ORDER BY uuid"
	)


def keep():
	own, kept = site.database.name, f"{site.database.name}_kept"
	copies = "".join(
		f"CREATE TABLE {kept}.`{name}` AS SELECT * FROM {own}.`{name}`;"
		for name in site.quiet_tables(BEGUN)
	)
	sql(f"CREATE DATABASE {kept}; {copies}")
	back = "".join(
		f"DELETE FROM {own}.`{name}`; INSERT INTO {own}.`{name}` SELECT * FROM {kept}.`{name}`;"
		for name in site.quiet_tables(BEGUN)
	)
	# A strict session refuses values for generated columns.
	made["back"] = (
		"SET FOREIGN_KEY_CHECKS = 0, sql_mode = ''; START TRANSACTION; "
		f"{back} COMMIT; SET sql_mode = DEFAULT;"
	)


def put_back():
	sql(
		made["back"]
		+ "UPDATE gpus SET quarantined_at = '2026-01-01', quarantine_reason = 'It fell off the "
		"bus.' WHERE uuid = 'GPU-broken'; "
		"DELETE FROM rate_limits"
	)


# ---- the fixtures ----

submit = functools.partial(submit_time, verdict={"engine": "custom"})


def make_people():
	for who, name in NAMES.items():
		clients[who].register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name IN ('carl', 'dora')"
	)
	spare = Client(site.url)
	for name in ("eve", "lost", "second-admin"):
		spare.register(name)
		ok(spare.post("/logout", form="/account"))
	sql("UPDATE users SET role = 'admin' WHERE name = 'second-admin'")


def make_leaderboards():
	author, other, creator, stranger, admin = (
		clients[who] for who in ("author", "other", "creator", "stranger", "admin")
	)
	for client, name in ((creator, "small"), (creator, "club"), (stranger, "strange")):
		ok(
			client.post(
				"/admin/leaderboards/new",
				[
					("name", name),
					("gpu", "H200"),
					("accepting", "1"),
					("sources", "deadline"),
					("visibility", "hidden"),
				],
				[("task", "task.zip", small_zip())],
			)
		)
	ok(
		creator.post(
			"/admin/leaderboard/small/edit",
			[("gpu", "H200"), ("accepting", "1"), ("sources", "deadline")],
			[("task", "task.zip", small_zip(size=2048))],
		)
	)
	for name, version in (("small", 1), ("small", 2), ("club", 1), ("strange", 1)):
		site.publish(name, version)
	ok(
		creator.post(
			"/admin/leaderboard/club/publishing",
			[("action", "save"), ("visibility", "closed"), ("confirm", "yes")],
		)
	)
	made["withdrawn"] = submit(author, 2900.0)
	ok(author.post(f"/submission/{made['withdrawn']}/withdraw", [("number", made["withdrawn"])]))
	made["ada"], made["bob"], made["held"] = (
		submit(author, 3000.0),
		submit(other, 5000.0),
		submit(other, 4900.0),
	)
	ok(
		admin.post(
			f"/admin/submission/{made['held']}",
			[("action", "hold"), ("reason", "It is quick."), ("confirm", "yes")],
		)
	)
	made["small"] = value("SELECT id FROM leaderboards WHERE name = 'small'")
	for who, role in (("cocreator", "co-creator"), ("jury", "jury")):
		ok(
			creator.post(
				"/admin/leaderboard/small/roles",
				[("action", "give"), ("user", NAMES[who]), ("role", role)],
			)
		)


def make_papers():
	"""Makes the links, codes, uploads and tokens that the forms refer to."""
	creator, admin = clients["creator"], clients["admin"]
	sql(
		"INSERT INTO contests (name, title, creator_id, starts_at, ends_at, rules, started_at, "
		"ended_at, final_at, team_members) "
		"SELECT 'over', 'Over', id, '2020-01-01', '2020-01-02', '', "
		"'2020-01-01', '2020-01-02', '2020-01-03', 3 FROM users WHERE name = 'carl' UNION ALL "
		"SELECT 'cup', 'Cup', id, '2020-01-01', '2089-01-01', '', '2020-01-01', NULL, NULL, 3 "
		"FROM users WHERE name = 'carl'; INSERT INTO contest_entrants (contest_id, user_id) "
		"SELECT c.id, u.id FROM contests c, users u WHERE c.name = 'over' AND u.name = 'ada'; "
		"INSERT INTO contests (name, title, starts_at, ends_at, rules, started_at, ended_at, "
		"freeze_minutes) VALUES ('judged', 'Judged', '2020-01-01', '2020-01-02', '', '2020-01-01', "
		"'2020-01-02', 60); INSERT INTO contest_problems (leaderboard_id, contest_id, position) "
		"SELECT l.id, c.id, 0 FROM leaderboards l, contests c WHERE l.name = 'small' "
		"AND c.name = 'judged'"
	)
	# The site stores final standings that are missing, within a few seconds.
	until(lambda: value("SELECT standings_stored FROM contests WHERE name = 'over'") == "1")
	ok(creator.post("/admin/invites", [("action", "make"), ("leaderboard", "club")]))
	made["invite"], made["code"] = sql("SELECT id, code FROM invites")[0]
	made["hook"] = ok(creator.post("/admin/leaderboard/small/hooks", HOOK)).location.rsplit("/", 1)[
		1
	]
	made["link"] = re.search(
		r"/password/(\w{64})",
		admin.post("/admin/users", [("action", "link"), ("user", "lost")]).text,
	)[1]
	sql(
		"INSERT INTO mail_addresses (user_id, address, pending, pending_hash, pending_until, "
		"unsubscribe_key) SELECT id, 'ada@one.example', 'ada@two.example', "
		f"UNHEX(SHA2(UNHEX('{64 * '1'}'), 256)), '2099-01-01', REPEAT('k', 32) "
		"FROM users WHERE name = 'ada'"
	)
	ok(
		clients["author"].post(
			"/leaderboard/small/questions", [("action", "ask"), ("text", "May I?")]
		)
	)
	made["question"] = value("SELECT MAX(id) FROM questions")
	ada = value("SELECT id FROM users WHERE name = 'ada'")
	signed = hmac.digest(32 * b"k", f"unsubscribe {ada} overtaken".encode(), "sha256").hex()
	made["unsubscribe"] = f"{ada}-overtaken-{signed}"
	made["set"] = ok(
		creator.post("/admin/sets/new", [], [("set", "set.zip", set_zip())])
	).location.rsplit("/", 1)[1]
	page = creator.get(f"/admin/sets/{made['set']}").text
	made["path"], made["plan"] = (
		re.search(f'name="{name}" value="([^"]*)"', page)[1] for name in ("set", "plan")
	)
	for who in ("author", "other", "creator", "stranger", "admin", "cocreator", "jury"):
		name, second = NAMES[who], Client(site.url)
		ok(
			second.post(
				"/login", [("name", name), ("password", PASSWORD)], headers={"User-Agent": "second"}
			)
		)
		sql(
			"INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes) SELECT id, "
			f"'old', 'podium_x', UNHEX(SHA2(name, 256)), 'read' FROM users WHERE name = '{name}'; "
			"INSERT INTO identities (user_id, issuer, subject, shown_as) SELECT id, "
			f"'https://id.example.org', name, name FROM users WHERE name = '{name}'; "
			"INSERT INTO passkeys (user_id, name, credential_id, credential_hash, algorithm, "
			"public_key, sign_count) SELECT id, 'key', name, UNHEX(SHA2(name, 256)), -7, 'k', 0 "
			f"FROM users WHERE name = '{name}'; UPDATE sessions SET confirmed_at = '2099-01-01', "
			f"factor = 'passkey' WHERE user_id = (SELECT id FROM users WHERE name = '{name}')"
		)
	sql(
		"INSERT INTO terminals (kind, secret_hash, prefix, user_code, name, address, user_agent, "
		"scopes, interval_s, expires_at) "
		"VALUES ('podium', UNHEX(SHA2('x', 256)), 'podium_x', 'BCDFGHJK', 'terminal', "
		"'127.0.0.1', '', 'read', 5, '2099-01-01')"
	)
	sql(
		"INSERT INTO overtakings (user_id, leaderboard_id, task_version_id, gpu, by_user_id) "
		"SELECT b.user_id, b.leaderboard_id, b.task_version_id, b.gpu, a.user_id "
		"FROM ranking a JOIN ranking b ON b.leaderboard_id = a.leaderboard_id AND b.place > a.place"
	)


def make_jobs():
	"""Makes jobs, a rejudging, a comparison and an artifact. Pauses the worker, so that the queued
	jobs stay queued."""
	made["worker"] = value("SELECT name FROM workers LIMIT 1")
	made["device"] = value("SELECT uuid FROM gpus WHERE model = 'H200' LIMIT 1")
	sql(
		f"INSERT INTO pauses (worker, uuid, kind, paused_by) VALUES ('{made['worker']}', '', "
		"'pause', 'root-of-all')"
	)
	made["rejudging"] = ok(
		clients["admin"].post(
			"/admin/rejudgings", [("scope", "submission"), ("submission", made["bob"])]
		)
	).location.rsplit("/", 1)[1]
	made["result"] = value("SELECT MAX(id) FROM rejudged_jobs")
	sql(f"""UPDATE jobs SET state = 'done', verdict = 'passed', score_ns = 2000, score_err_ns = 20,
		engine = 'custom', finished_at = UTC_TIMESTAMP(3) WHERE rejudged_id IS NOT NULL;
		INSERT INTO artifacts (stage_id, name, size) SELECT MIN(t.id), 'profile-1.ncu-rep', 5
			FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = {made["ada"]};
		INSERT INTO workers (name, version, host, started_at, seen_at)
			VALUES ('elsewhere', '1', '{{}}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3));
		INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability,
			seen_at)
			SELECT id, 'GPU-broken', 'H200', 'NVIDIA H200', 1, '1', '9.0', UTC_TIMESTAMP(3)
				FROM workers WHERE name = 'elsewhere'""")
	made["waiting"] = store_waiting(site, made["ada"], "waits.py", "H200")
	made["comparison"] = store_comparison(site, made["bob"], made["ada"])
	stage = value(
		"SELECT MIN(t.id) FROM stages t JOIN jobs j ON j.id = t.job_id "
		f"WHERE j.submission_id = {made['ada']}"
	)
	sql(plan_sql(stage, [kernel("k")]))
	made["recorded"] = int(value("SELECT MAX(id) FROM plans"))
	made["artifact"] = int(value("SELECT MAX(id) FROM artifacts"))
	content = gzip.compress(b"hello").hex()
	sql(
		f"INSERT INTO artifact_parts (artifact_id, part, content) VALUES ({made['artifact']}, 0, "
		f"X'{content}')"
	)


def end_some():
	"""Bans "banned", deletes "deleted" and gives "onetime" a one-time password. Puts the sessions
	of "banned" and "deleted" back."""
	sessions = {
		who: sql(
			"SELECT HEX(s.token_hash), u.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE "
			f"u.name = '{NAMES[who]}'"
		)[0]
		for who in ("banned", "deleted")
	}
	for who, client in clients.items():
		tokens[who] = client.csrf("/account" if who != "nobody" else "/login")
		kept_cookies[who] = dict(client.cookies)
	ok(clients["admin"].post("/admin/users/mallory/ban", [("name", "mallory")]))
	ok(clients["deleted"].post("/account/delete", [("name", "gone"), ("password", PASSWORD)]))
	clients["deleted"].cookies = dict(kept_cookies["deleted"])
	for token_hash, user in sessions.values():
		sql(
			"INSERT IGNORE INTO sessions (token_hash, user_id, address, user_agent, expires_at) "
			f"VALUES (X'{token_hash}', {user}, '', '', UTC_TIMESTAMP(3) + INTERVAL 9 DAY)"
		)
	sql("UPDATE users SET must_change_password = TRUE WHERE name = 'tim'")
	for who, token in tokens.items():
		sql(
			"INSERT INTO sign_ins (state_hash, browser_hash, provider, nonce, verifier, next, "
			"expires_at, used_at, issuer, subject, shown_as, may_register) VALUES "
			f"(UNHEX(SHA2('{who}', 256)), UNHEX(SHA2('{token}', 256)), 'hub', '', '', '/', "
			f"'2099-01-01', UTC_TIMESTAMP(3), 'https://github.com', '{who}', '{who}', TRUE)"
		)


@test
def the_fixtures_are_created():
	make_people()
	make_leaderboards()
	make_papers()
	make_jobs()
	end_some()
	keep()
	put_back()
	equal(len(set(tokens.values())), len(PEOPLE))
	equal(int(value("SELECT COUNT(*) FROM overtakings")), 1)


# ---- every address ----


@test
def the_tables_of_this_test_list_every_address():
	equal(set(route_table.pages("GET")) ^ set(PAGES), set())
	equal(set(route_table.pages("POST")) ^ set(FORMS), set())


def said(answer):
	if answer.status == 303:
		return (
			"login"
			if answer.location.startswith("/login?next=")
			else "account"
			if answer.location == "/account"
			else "ok"
		)
	return "ok" if answer.status == 200 else str(answer.status)


@test
def every_page_answers_exactly_its_users_and_reading_changes_nothing():
	before = state()
	for pattern, (address, expected) in PAGES.items():
		for who, client in clients.items():
			answer = client.get(address.format(**made))
			equal((pattern, who, said(answer)), (pattern, who, expected[who]))
			client.cookies = dict(kept_cookies[who])
		equal((pattern, state()), (pattern, before))


def fields_of(form, who):
	return [(name, what(who) if callable(what) else what.format(**made)) for name, what in form[1]]


def send(form, who, csrf, **headers):
	answer = clients[who].post(
		form[0].format(**made),
		fields_of(form, who),
		form[3] if len(form) > 3 else (),
		csrf=csrf,
		headers=headers,
	)
	clients[who].cookies = dict(kept_cookies[who])
	return answer


def sends_without_right(pattern, form, who):
	"""Sends the form without a token, with the token of another session, and from another site."""
	if pattern in WITHOUT_TOKEN:
		return
	another = tokens["other" if who != "other" else "author"]
	expected = form[2][who] if form[2][who] in ("login", "account") else "403"
	for what, csrf, headers in (
		("without a token", "", {}),
		("with another's token", another, {}),
		("from another site", tokens[who], {"Origin": "https://elsewhere.example"}),
	):
		equal(
			(pattern, who, what, said(send(form, who, csrf, **headers))),
			(pattern, who, what, expected),
		)


@test
def every_form_is_refused_without_the_right_or_the_sessions_token():
	before = state()
	for pattern, form in FORMS.items():
		for who in PEOPLE:
			sends_without_right(pattern, form, who)
			if form[2][who] != "ok":
				equal(
					(pattern, who, said(send(form, who, tokens[who]))), (pattern, who, form[2][who])
				)
		equal((pattern, state()), (pattern, before))


@test
def the_same_form_works_for_users_with_the_right():
	before = state()
	for pattern, form in FORMS.items():
		for who in PEOPLE:
			if form[2][who] != "ok":
				continue
			answer = send(form, who, tokens[who])
			equal(
				(
					pattern,
					who,
					answer.status in (200, 303),
					answer.words()[:600] if answer.status not in (200, 303) else "",
				),
				(pattern, who, True, ""),
			)
			equal(
				(pattern, who, state() != before),
				(pattern, who, who not in NOTHING_TO_DO.get(pattern, ())),
			)
			put_back()
			equal((pattern, who, state()), (pattern, who, before))


try:
	code = run()
finally:
	sql(f"DROP DATABASE IF EXISTS {site.database.name}_kept")
	site.remove()
sys.exit(code)
