#!/usr/bin/env python3
"""What admins do with users: bans, links to choose a password, and invitations."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from programs import make_token  # noqa: E402
from small_task import register  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
sql = site.sql
anyone, ada, bob, admin, creator = (Client(site.url) for _ in range(5))
PASSWORD = "a long password"


def prepare():
	register(site, {"ada": ada, "bob": bob, "root-of-all": admin, "carl": creator})


def act(client=admin, **fields):
	return client.post("/admin/users", list(fields.items()), form="/account")


def link_in(answer):
	equal(answer.status, 200)
	return re.search(r'id="password-link">[^<]*(/password/[0-9a-f]{64})<', whole(answer).text)[1]


def choose(client, link, password, again=None):
	token = client.csrf(link) or client.csrf("/login")
	return client.post(
		link, [("password", password), ("again", password if again is None else again)], csrf=token
	)


def log_in(name, password):
	client = Client(site.url)
	return client.post("/login", [("name", name), ("password", password)]).status, client


def reads(token):
	"""The status that /api/v1/me answers to the token."""
	return Client(site.url).get("/api/v1/me", Authorization=f"Bearer {token}").status


def audit(action):
	return sql(
		f"SELECT actor, subject, detail FROM audit_log WHERE action = '{action}' ORDER BY id"
	)


@test
def a_ban_says_what_it_removes_and_needs_the_name():
	prepare()
	sql(
		"INSERT INTO leaderboards (name, secret_seed) VALUES ('small', 1); INSERT INTO "
		"task_versions (leaderboard_id, number, language, description, definition) "
		"SELECT id, 1, 'py', '', '{}' FROM leaderboards WHERE name = 'small'; INSERT INTO blobs "
		"VALUES (REPEAT('x', 32), 1, 'x'); "
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT v.leaderboard_id, v.id, u.id, 'a.py', REPEAT('x', 32), 'test' "
		"FROM task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id AND l.name = 'small' "
		"JOIN users u ON u.name = 'ada'; "
		"INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, 'Nothing' FROM "
		"submissions"
	)
	token = make_token(ada, "laptop", "read")
	contains(whole(admin.get("/admin/users")).text, 'href="/admin/users/ada/ban"')
	words = whole(admin.get("/admin/users/ada/ban")).words()
	contains(
		words,
		"Ends: 1 session, 1 queued job (for good), 1 API token (for good), links to choose a "
		"password.",
	)
	equal(reads(token), 200)
	lacks(words, "Rests during the ban")
	sql(
		"INSERT INTO invites (code, created_by) SELECT 'one', id FROM users WHERE name = 'ada'; "
		"INSERT INTO invites (code, revoked_at, created_by) SELECT 'gone', UTC_TIMESTAMP(3), id "
		"FROM users WHERE name = 'ada'; INSERT INTO invites (code, uses, most_uses, created_by) "
		"SELECT 'used', 3, 3, id FROM users WHERE name = 'ada'"
	)
	contains(
		whole(admin.get("/admin/users/ada/ban")).words(),
		"Rests during the ban: 1 invite code of this user.",
	)
	for typed in ("", "Ada", "bob"):
		answer = admin.post("/admin/users/ada/ban", [("name", typed)])
		equal(answer.status, 422)
		contains(whole(answer).words(), "so nobody was banned. Type ada")
	equal(act(user="ada", action="ban").status, 422)
	equal(sql("SELECT banned_at FROM users WHERE name = 'ada'"), [["NULL"]])
	equal(ada.get("/account").status, 200)
	equal(admin.post("/admin/users/ada/ban", [("name", "ada")]).status, 303)
	equal(sql("SELECT state, verdict FROM jobs"), [["cancelled", "cancelled"]])
	equal(ada.get("/account").status, 303)
	equal(log_in("ada", PASSWORD)[0], 422)
	equal(reads(token), 401)
	equal(
		audit("user.ban"),
		[["root-of-all", "ada", "banned; 1 queued job cancelled, every session ended"]],
	)
	equal(act(user="ada", action="unban").status, 303)
	equal(log_in("ada", PASSWORD)[0], 303)
	equal(reads(token), 401)  # only a new token can replace it
	equal(sql("SELECT * FROM api_tokens"), [])


@test
def only_the_action_itself_can_make_a_page_report_it():
	equal(act(user="bob", action="role", role="creator", confirm="yes").location, "/admin/users")
	own = admin.cookies["podium-notice"]
	contains(whole(admin.get("/admin/users")).words(), "bob has the role creator now.")
	equal("podium-notice" in admin.cookies, False)
	lacks(admin.get("/admin/users").words(), "bob has the role creator now.")
	lacks(admin.get("/admin/users?done=1&deleted=1&saved=1").text, "toast")
	# A sentence of another session, another sentence, and no sentence.
	for client, cookie in (
		(creator, own),
		(admin, own[:32] + "Qm9i"),
		(admin, "0" * 32 + own[32:]),
		(admin, own[:31]),
		(admin, ""),
	):
		client.cookies["podium-notice"] = cookie
		answer = client.get("/account")
		equal((answer.status, "toast" in answer.text), (200, False))
	admin.cookies["podium-notice"] = own
	contains(whole(admin.get("/account")).words(), "bob has the role creator now.")
	equal(act(user="bob", action="role", role="participant", confirm="yes").status, 303)


@test
def only_admins_ban_invite_and_make_links_and_only_for_others():
	for client, expected in ((anyone, 303), (bob, 403), (creator, 403)):
		equal(client.get("/admin/users/ada/ban").status, expected)
	for client in (bob, creator):
		equal(client.post("/admin/users/ada/ban", [("name", "ada")], form="/account").status, 403)
		equal(
			client.post(
				"/admin/users/invite", [("name", "eve"), ("role", "admin")], form="/account"
			).status,
			403,
		)
		equal(act(client, user="ada", action="link").status, 403)
	equal(admin.post("/admin/users/ada/ban", [("name", "ada")], csrf="0" * 64).status, 403)
	equal(
		admin.post(
			"/admin/users/invite", [("name", "eve"), ("role", "admin")], csrf="0" * 64
		).status,
		403,
	)
	equal(admin.get("/admin/users/root-of-all/ban").status, 400)
	equal(act(user="root-of-all", action="link").status, 422)
	equal(admin.get("/admin/users/nobody/ban").status, 404)
	equal(sql("SELECT COUNT(*) FROM password_links"), [["0"]])


@test
def a_link_works_once_to_choose_a_password():
	link = link_in(act(user="bob", action="link"))
	secret = link.rsplit("/", 1)[1]
	equal(
		sql(
			f"SELECT COUNT(*) FROM password_links WHERE token_hash = UNHEX(SHA2(UNHEX('{secret}'), "
			"256))"
		),
		[["1"]],
	)
	lacks(admin.get("/admin/users").text, secret)
	lacks(str(sql("SELECT * FROM audit_log")), secret)
	shown = whole(anyone.get(link))
	contains(shown.words(), "For the account bob .")
	contains(shown.headers["Cache-Control"], "no-store")
	for password, again, sentence in (
		("short", "short", "at least 8"),
		("another password", "an other password", "differ"),
	):
		answer = choose(anyone, link, password, again)
		equal(answer.status, 422)
		contains(whole(answer).words(), sentence)
	equal(bob.get("/account").status, 200)
	visitor = Client(site.url)
	equal(
		visitor.post(
			link, [("password", "another password"), ("again", "another password")], csrf="0" * 64
		).status,
		403,
	)
	equal(choose(visitor, link, "another password").status, 303)
	contains(visitor.get("/account").words(), "bob")
	equal(bob.get("/account").status, 303)
	equal((log_in("bob", PASSWORD)[0], log_in("bob", "another password")[0]), (422, 303))
	contains(visitor.get(link).words(), "This link is no longer valid")
	equal(visitor.get(link).status, 404)
	equal(choose(visitor, link, "a third password").status, 404)
	equal(audit("user.password"), [["bob", "bob", "chosen with a link; every session was ended"]])


@test
def links_end_when_they_expire_are_replaced_or_the_user_is_banned():
	first, second = (link_in(act(user="bob", action="link")) for _ in range(2))
	equal((anyone.get(first).status, anyone.get(second).status), (404, 200))
	sql("UPDATE password_links SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	equal(
		(anyone.get(second).status, choose(anyone, second, "a third password").status), (404, 404)
	)
	third = link_in(act(user="bob", action="link"))
	equal(admin.post("/admin/users/bob/ban", [("name", "bob")]).status, 303)
	equal(anyone.get(third).status, 404)
	equal(act(user="bob", action="link").status, 422)
	for link in (
		"/password/x",
		"/password/" + "g" * 64,
		"/password/" + "0" * 64,
		"/password/" + "0" * 66,
		"/password/%C3%BC",
	):
		equal((link, anyone.get(link).status), (link, 404))


@test
def an_invited_user_chooses_the_password_of_an_account_with_a_role():
	for name, role, status in (
		("x", "participant", 422),
		("eve", "king", 422),
		("ADA", "participant", 409),
	):
		answer = admin.post(
			"/admin/users/invite", [("name", name), ("role", role)], form="/admin/users"
		)
		equal((name, answer.status), (name, status))
		contains(whole(answer).text, f'value="{name}"')
	both = whole(
		admin.post("/admin/users/invite", [("name", "x"), ("role", "king")], form="/admin/users")
	)
	contains(both.text, "<title>Error: Users")
	contains(both.words(), "Correct these 2 fields first")
	for field in ("name", "role"):
		contains(both.text, f'<a href="#{field}">')
		contains(both.text, f'id="{field}-error"')
	link = link_in(
		admin.post(
			"/admin/users/invite", [("name", "eve"), ("role", "creator")], form="/admin/users"
		)
	)
	eve = Client(site.url)
	equal(choose(eve, link, "the password of eve").status, 303)
	equal(eve.get("/admin").status, 200)
	equal(
		audit("user.invite"),
		[["root-of-all", "eve", "role: creator; its link works once, for 72 hours"]],
	)


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
