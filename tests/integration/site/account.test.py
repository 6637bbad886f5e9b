#!/usr/bin/env python3
"""What belongs to an account: sessions, API tokens, an export of its data, notices of being
overtaken, and its deletion. A stand-in for podium-run reports what each submission tells it to."""

import base64
import gzip
import hashlib
import http.client
import json
import pathlib
import re
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from held import Held, beside  # noqa: E402
from instance import Instance  # noqa: E402
import mariadb  # noqa: E402
from plans import kernel, plan_sql, plan_text  # noqa: E402
from programs import Program  # noqa: E402
from small_task import case, make_board, source_of, submit_source  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

mariadb.use_own_server()
site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, carol, admin = (Client(site.url) for _ in range(5))
PASSWORD = "a long password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
secrets = {}


def prepare():
	for client, name in ((ada, "ada"), (bob, "bob"), (carol, "carol"), (admin, "root-of-all")):
		client.register(name)
	sql(
		"UPDATE users SET role = 'participant' WHERE role = 'admin'; UPDATE users SET role = "
		"'admin' WHERE name = 'root-of-all'"
	)
	for name in ("small", "other"):
		make_board(admin, name)


def submit(client, mean_ns, mode="ranked", board="small", note=""):
	source = source_of(case(mean_ns, err_ns=2.0, spread_ns=20)) + f"# {note}\n"
	return submit_source(client, source, board=board, mode=mode, file_name=f"secret plan {note}.py")


def number_of(statement):
	return int(site.value(statement))


def user_id(name):
	return number_of(f"SELECT id FROM users WHERE name = '{name}'")


def log_in(name="ada", agent="curl/8.0"):
	client = Client(site.url)
	equal(
		client.post(
			"/login", [("name", name), ("password", PASSWORD)], headers={"User-Agent": agent}
		).status,
		303,
	)
	return client


def handles(client):
	return re.findall(r'name="session" value="(\w{16})"', client.get("/account/sessions").text)


# ---- pages ----


@test
def every_tab_of_the_account_is_a_page_for_its_owner_alone():
	prepare()
	for path in (
		"/account",
		"/account/sessions",
		"/account/tokens",
		"/account/data",
		"/account/delete",
	):
		shown = whole(ada.get(path))
		equal(shown.status, 200)
		equal(shown.headers["Cache-Control"], "private, no-store")
		asked = anyone.get(path)
		equal((asked.status, asked.location), (303, f"/login?next={path}"))
	for path in (
		"/account/sessions",
		"/account/tokens",
		"/account/tokens/revoke",
		"/account/delete",
	):
		refused = ada.post(path, [("session", "others")], csrf="wrong")
		equal(refused.status, 403)
	equal(anyone.get("/account/export").location, "/login?next=/account/export")


# ---- registering and logging in ----


@test
def a_password_equal_to_the_name_is_refused():
	answer = whole(
		Client(site.url).post("/register", [("name", "mallory-m"), ("password", "Mallory-M")])
	)
	equal(answer.status, 422)
	contains(answer.words(), "The password equals the name, which everybody can see")
	equal(faults(answer), ["password"])
	equal(number_of("SELECT COUNT(*) FROM users WHERE name = 'mallory-m'"), 0)
	long_name = Client(site.url)
	long_name.register("mallory-m")
	answer = long_name.post(
		"/account/password",
		[("current", PASSWORD), ("password", "mallory-m"), ("again", "mallory-m")],
		form="/account",
	)
	equal(answer.status, 422)
	contains(whole(answer).words(), "The password equals the name")


def faults(page):
	"""The fields that the page's error summary links to. It alone has the focus, and the page's
	title begins with "Error: "."""
	contains(page.text, "<title>Error: ")
	equal(re.findall(r"<(\w+)[^>]* autofocus", page.text), ["section"])
	summary = re.search(r'<section class="[^"]*error-summary".*?</section>', page.text, re.S)[0]
	fields = re.findall(r'<li>(?:<a href="#(\w+)">)?', summary)
	for field in filter(None, fields):
		contains(page.text, f' id="{field}"')
		contains(page.text, f'<p class="field-error" id="{field}-error">')
	return fields


@test
def a_refused_form_shows_all_its_errors():
	answer = whole(Client(site.url).post("/register", [("name", "ADA"), ("password", "short")]))
	equal((answer.status, faults(answer)), (409, ["name", "password"]))
	contains(answer.words(), "The name ADA is taken; choose another.")
	contains(answer.text, 'name="name" value="ADA"')
	answer = whole(Client(site.url).post("/register", [("name", "?"), ("password", "short")]))
	equal((answer.status, faults(answer)), (422, ["name", "password"]))
	fields = [("name", "twice"), ("password", PASSWORD), ("again", PASSWORD + "!")]
	answer = whole(Client(site.url).post("/register", fields))
	equal((answer.status, faults(answer)), (422, ["again"]))
	user = Client(site.url)
	user.register("faulty")
	answer = user.post(
		"/account/password",
		[("current", "wrong one"), ("password", "short"), ("again", "other")],
		form="/account",
	)
	equal((answer.status, faults(answer)), (422, ["current", "password", "again"]))
	answer = user.post(
		"/account/delete", [("name", "?"), ("password", "wrong one")], form="/account/delete"
	)
	equal((answer.status, faults(answer)), (422, ["name", "password"]))
	answer = Client(site.url).post("/login", [("name", "faulty"), ("password", "wrong one")])
	equal((answer.status, faults(answer)), (422, [""]))
	for page in ("/register", "/login"):
		lacks(anyone.get(page).text, "Error: ")
	sql("DELETE FROM rate_limits")


@test
def too_many_wrong_passwords_get_an_error_that_says_what_to_do():
	stranger = Client(site.url)
	for _ in range(10):
		equal(stranger.post("/login", [("name", "carol"), ("password", "wrong one")]).status, 422)
	answer = whole(stranger.post("/login", [("name", "carol"), ("password", PASSWORD)]))
	equal(answer.status, 429)
	contains(
		answer.words(),
		"There were too many wrong passwords for this name. Wait 5 minutes and try again.",
	)
	contains(answer.words(), "Ask an admin for a link with which you choose a new one.")
	equal(int(answer.headers["Retry-After"]) > 200, True)
	equal(faults(answer), [""])
	sql("DELETE FROM rate_limits")


# ---- sessions ----


@test
def sessions_are_listed_with_their_device_and_end_one_by_one():
	second, third = log_in(agent=FIREFOX), log_in(agent="<script>alert(1)</script>")
	shown = whole(ada.get("/account/sessions"))
	for part in ("Firefox on Linux", "an unknown program", "127.0.0.1", "this one"):
		contains(shown.words(), part)
	lacks(shown.text, "<script>alert")
	equal(len(handles(ada)), 2)
	row = re.search(r"Firefox on Linux.*?value=\"(\w{16})\"", shown.text, re.S)[1]
	equal(ada.post("/account/sessions", [("session", row)]).location, "/account/sessions?ended=1")
	equal(second.get("/account").status, 303)
	equal((ada.get("/account").status, third.get("/account").status), (200, 200))
	contains(ada.get("/account/sessions?ended=1").words(), "Whoever used it has to log in again")


@test
def an_expired_session_is_nobodys():
	late = log_in("bob")
	token = late.csrf("/account")
	sql(
		"UPDATE sessions SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND "
		"ORDER BY created_at DESC LIMIT 1"
	)
	equal(late.get("/account").location, "/login?next=/account")
	contains(late.get("/").words(), "Log in")
	answer = late.post("/account/sessions", [("session", "others")], csrf=token)
	assert answer.status == 403 or answer.location.startswith("/login"), answer.status
	equal(bob.get("/account").status, 200)


@test
def a_user_cannot_end_another_users_session():
	handle = handles(ada)[0]
	equal(bob.post("/account/sessions", [("session", handle)]).status, 303)
	equal(handles(ada), [handle])
	equal(ada.post("/account/sessions", [("session", "' OR 1=1")]).status, 400)


@test
def all_other_sessions_end_together_and_this_one_stays():
	others = [log_in() for _ in range(3)]
	equal(ada.post("/account/sessions", [("session", "others"), ("confirm", "yes")]).status, 303)
	equal([client.get("/account").status for client in others], [303, 303, 303])
	equal((ada.get("/account").status, handles(ada)), (200, []))
	equal(bob.get("/account").status, 200)
	contains(ada.get("/account/sessions").words(), "There are no other sessions.")


@test
def a_session_shows_its_first_and_its_last_address():
	moved = log_in(agent=FIREFOX)
	sql(
		"UPDATE sessions SET seen_at = seen_at - INTERVAL 1 HOUR, address = '192.0.2.7' WHERE "
		"user_agent LIKE 'Mozilla%'"
	)
	equal(moved.get("/queue", **{"User-Agent": "curl/8.0"}).status, 200)
	words = whole(ada.get("/account/sessions")).words()
	contains(words, "curl logged in as Firefox on Linux")
	contains(words, "127.0.0.1 logged in from 192.0.2.7")
	equal(ada.post("/account/sessions", [("session", "others"), ("confirm", "yes")]).status, 303)


@test
def the_session_of_a_deleted_account_is_invalid():
	token_hash = sql(
		"SELECT HEX(token_hash) FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.name = "
		"'ada'"
	)[0][0]
	for column in ("banned_at", "deleted_at"):
		sql(f"UPDATE users SET {column} = UTC_TIMESTAMP(3) WHERE name = 'ada'")
		equal((column, ada.get("/account").status), (column, 303))
		sql(f"UPDATE users SET {column} = NULL WHERE name = 'ada'")
	equal((token_hash != "", ada.get("/account").status), (True, 200))


@test
def a_login_fails_if_the_password_changes_meanwhile():
	client = Client(site.url)
	token = client.csrf("/login")
	for change, undo in (
		(
			"password_hash = CONCAT(password_hash, 'x')",
			"password_hash = LEFT(password_hash, LENGTH(password_hash) - 1)",
		),
		("banned_at = UTC_TIMESTAMP(3)", "banned_at = NULL"),
		("deleted_at = UTC_TIMESTAMP(3)", "deleted_at = NULL"),
	):
		before = number_of("SELECT COUNT(*) FROM sessions")
		held = Held(site, f"UPDATE users SET {change} WHERE name = 'carol'")
		join = beside(
			lambda: client.post("/login", [("name", "carol"), ("password", PASSWORD)], csrf=token)
		)
		held.wait_for_others()
		held.commit()
		answer = join()[0]
		equal(
			(change, answer.status, number_of("SELECT COUNT(*) FROM sessions")),
			(change, 409, before),
		)
		contains(answer.words(), "while you logged in")
		sql(f"UPDATE users SET {undo} WHERE name = 'carol'")
	equal(client.post("/login", [("name", "carol"), ("password", PASSWORD)]).status, 303)


@test
def two_admins_who_demote_or_ban_each_other_leave_one():
	second = Client(site.url)
	second.register("second")
	for path, fields in (
		(
			"/admin/users",
			lambda name: [
				("action", "role"),
				("user", name),
				("role", "participant"),
				("confirm", "yes"),
			],
		),
		("/admin/users/{}/ban", lambda name: [("name", name)]),
	):
		sql(
			"UPDATE users SET role = 'admin', banned_at = NULL WHERE name IN ('second', "
			"'root-of-all')"
		)
		for client, name in ((admin, "root-of-all"), (second, "second")):
			if client.get("/account").status != 200:
				equal(client.post("/login", [("name", name), ("password", PASSWORD)]).status, 303)
		tokens = [client.csrf("/account") for client in (admin, second)]
		held = Held(
			site, "UPDATE users SET created_at = created_at WHERE name IN ('second', 'root-of-all')"
		)
		join = beside(
			lambda: admin.post(path.format("second"), fields("second"), csrf=tokens[0]),
			lambda: second.post(path.format("root-of-all"), fields("root-of-all"), csrf=tokens[1]),
		)
		held.wait_for_others(2)
		held.commit()
		answers = join()
		equal(sorted(answer.status for answer in answers), [303, 403])
		equal(
			number_of(
				"SELECT COUNT(*) FROM users WHERE role = 'admin' AND banned_at IS NULL AND name IN "
				"('second', 'root-of-all')"
			),
			1,
		)
	sql(
		"UPDATE users SET role = 'admin', banned_at = NULL WHERE name = 'root-of-all'; DELETE "
		"FROM users WHERE name = 'second'"
	)
	admin.cookies = {}
	equal(admin.post("/login", [("name", "root-of-all"), ("password", PASSWORD)]).status, 303)


# ---- tokens ----


def make_token(client, name, scopes=("read", "submit"), days=30):
	return client.post(
		"/account/tokens", [("name", name), ("days", days), *(("scope", scope) for scope in scopes)]
	)


@test
def a_token_is_shown_once_and_stored_as_a_hash():
	answer = make_token(ada, "laptop <b>")
	equal((answer.status, answer.location), (303, "/account/tokens"))
	for part in ("HttpOnly", "SameSite=Strict", "Path=/account/tokens", "Max-Age=60"):
		contains(answer.headers["Set-Cookie"], part)
	shown = whole(ada.get("/account/tokens"))
	secret = re.search(r"podium_[\w-]{43}", shown.text)[0]
	contains(shown.words(), "Podium shows it only once.")
	again = whole(ada.get("/account/tokens"))
	lacks(again.text, secret)
	contains(again.words(), f"laptop <b> {secret[:13]}… read submit")
	contains(again.words(), "Revoke laptop <b> …")
	equal(
		sql("SELECT LOWER(HEX(token_hash)), scopes FROM api_tokens"),
		[[hashlib.sha256(secret.encode()).hexdigest(), "read,submit"]],
	)
	secrets["ada"] = secret


@test
def a_cookie_does_not_show_the_token_of_another_user():
	bob.cookies["podium-new-token"] = secrets["ada"]
	lacks(bob.get("/account/tokens").text, secrets["ada"])
	bob.cookies["podium-new-token"] = "<script>"
	lacks(bob.get("/account/tokens").text, "<script>alert")
	bob.cookies.pop("podium-new-token", None)


@test
def an_invalid_token_form_is_refused_at_its_field_and_keeps_the_input():
	for fields, status, sentence in (
		(("  ", ["read"], 30), 422, "Enter a name that tells you later"),
		(("x", [], 30), 422, "Choose at least one thing"),
		(("x", ["admin"], 30), 422, "Only creators, jury members and admins"),
		(("x", ["read"], 99999), 422, "A token expires after"),
		(("x", ["read"], "soon"), 422, "A token expires after"),
		(("laptop <b>", ["read"], 30), 409, "You already have a token with this name"),
	):
		answer = whole(make_token(ada, *fields))
		equal((fields, answer.status), (fields, status))
		contains(answer.words(), sentence)
	contains(make_token(ada, 'typed "name"', []).text, 'value="typed &quot;name&quot;"')
	answer = whole(make_token(ada, "", [], "soon"))
	equal((answer.status, faults(answer)), (422, ["name", "scope", "days"]))
	# A name that is taken is found together with the other errors.
	answer = whole(make_token(ada, "Laptop <b>", ["admin"], 30))
	equal((answer.status, faults(answer)), (422, ["scope", "name"]))
	contains(answer.words(), "You already have a token with this name")
	equal(faults(make_token(ada, "laptop <b>", ["read"], 30)), ["name"])
	equal(number_of("SELECT COUNT(*) FROM api_tokens"), 1)


@test
def a_refused_form_of_a_terminal_links_to_its_fields():
	def begin(*scopes):
		asked = {"name": "a terminal", "scopes": list(scopes)}
		answer = Program(site.url).ask("POST", "/api/v1/device/code", asked)
		return answer.json["user_code"]

	answer = whole(ada.post("/device", [("code", "BCDF-BCDF")]))
	equal((answer.status, faults(answer)), (422, ["code"]))
	contains(answer.text, 'value="BCDF-BCDF"')
	read = [("code", begin("read")), ("answer", "confirm")]
	answer = whole(ada.post("/device", [*read, ("name", " "), ("days", "soon")]))
	equal((answer.status, faults(answer)), (422, ["name", "days"]))
	answer = whole(ada.post("/device", [*read, ("name", "laptop <b>"), ("days", "30")]))
	equal((answer.status, faults(answer)), (409, ["name"]))
	# Without a scope that ada may grant, the page has no button, but a program may send the form.
	grant = [("code", begin("admin")), ("answer", "confirm"), ("name", ""), ("days", "30")]
	answer = whole(ada.post("/device", grant))
	equal((answer.status, faults(answer)), (422, ["name", "scope"]))
	lacks(answer.text, 'value="confirm"')


@test
def only_admins_are_offered_admin_tokens():
	lacks(ada.get("/account/tokens").text, 'value="admin"')
	contains(admin.get("/account/tokens").text, 'value="admin"')
	for scopes in (["admin"], ["read", "admin"], ["read", "submit", "admin"]):
		refused = make_token(ada, "panel", scopes, 0)
		equal((scopes, refused.status), (scopes, 422))
		contains(refused.words(), "Only creators, jury members and admins can create a token")
	equal(make_token(admin, "panel", ["read", "admin"], 0).status, 303)
	equal(
		sql("SELECT scopes, expires_at IS NULL FROM api_tokens WHERE name = 'panel'"),
		[["read,admin", "1"]],
	)


@test
def only_its_owner_revokes_a_token():
	number = sql("SELECT id FROM api_tokens WHERE name = 'laptop <b>'")[0][0]
	equal(bob.post("/account/tokens/revoke", [("token", number)], form="/account").status, 404)
	equal(number_of("SELECT COUNT(*) FROM api_tokens"), 2)
	equal(
		ada.post(
			"/account/tokens/revoke", [("token", number), ("confirm", "yes")], form="/account"
		).location,
		"/account/tokens?revoked=1",
	)
	contains(ada.get("/account/tokens?revoked=1").words(), "The token was revoked")
	equal(sql("SELECT name FROM api_tokens"), [["panel"]])


@test
def a_new_password_revokes_the_tokens_on_request():
	lacks(carol.get("/account").text, "revoke_tokens")
	for name in ("one", "two"):
		equal(make_token(carol, name).status, 303)
	shown = whole(carol.get("/account"))
	contains(shown.words(), "Also revoke all 2 API tokens Programs that use them stop working.")
	wrong = whole(
		carol.post(
			"/account/password",
			[
				("current", "wrong"),
				("password", "another one"),
				("again", "another one"),
				("revoke_tokens", "1"),
			],
			form="/account",
		)
	)
	equal((wrong.status, 'name="revoke_tokens" value="1" checked' in wrong.text), (422, True))
	change = [("current", PASSWORD), ("password", "another one"), ("again", "another one")]
	equal(carol.post("/account/password", change, form="/account").location, "/account?changed=1")
	equal(number_of(f"SELECT COUNT(*) FROM api_tokens WHERE user_id = {user_id('carol')}"), 2)
	back = [
		("current", "another one"),
		("password", PASSWORD),
		("again", PASSWORD),
		("revoke_tokens", "1"),
	]
	equal(
		carol.post("/account/password", back, form="/account").location, "/account?changed=tokens"
	)
	contains(whole(carol.get("/account?changed=tokens")).words(), "every API token was revoked")
	equal(number_of(f"SELECT COUNT(*) FROM api_tokens WHERE user_id = {user_id('carol')}"), 0)


@test
def choosing_a_password_through_a_link_can_revoke_the_tokens_too():
	equal(make_token(carol, "one").status, 303)
	link = re.search(
		r"/password/\w{64}",
		admin.post("/admin/users", [("action", "link"), ("user", "carol")]).text,
	)[0]
	chooser = Client(site.url)
	contains(whole(chooser.get(link)).words(), "Also revoke the API token")
	equal(
		chooser.post(
			link, [("password", PASSWORD), ("again", PASSWORD), ("revoke_tokens", "1")]
		).status,
		303,
	)
	equal(number_of(f"SELECT COUNT(*) FROM api_tokens WHERE user_id = {user_id('carol')}"), 0)
	equal(
		chooser.post(
			link, [("password", PASSWORD), ("again", PASSWORD)], csrf=chooser.csrf("/account")
		).status,
		404,
	)
	carol.cookies = dict(chooser.cookies)


# ---- the export ----


def leave_traces():
	"""Stores more rows about ada directly in the database, so that each part of the export has
	some."""
	number = user_id("ada")
	first = number_of(f"SELECT MIN(s.id) FROM submissions s WHERE s.user_id = {number}")
	content = gzip.compress(b"a profile").hex()
	samples = struct.pack("<3f", 1.5, 2.5, 3.5).hex()
	sql(f"""UPDATE submissions SET note = 'my <note>', admin_note = 'a secret of admins'
		WHERE id = {first};
		UPDATE measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id
			SET m.samples = X'{samples}', m.report = 'the report of a profiler'
			WHERE j.submission_id = {first} AND t.name = 'ranked';
		INSERT INTO artifacts (stage_id, name, size) SELECT MIN(t.id), 'profile-1.ncu-rep', 9
			FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = {first};
		INSERT INTO artifact_parts (artifact_id, part, content) SELECT MAX(id), 0, X'{content[:20]}'
			FROM artifacts;
		INSERT INTO artifact_parts (artifact_id, part, content) SELECT MAX(id), 1, X'{content[20:]}'
			FROM artifacts;
		SET @stage = (SELECT MIN(t.id) FROM stages t JOIN jobs j ON j.id = t.job_id
			WHERE j.submission_id = {first});
		{plan_sql("@stage", [kernel("planned")])}
		{plan_sql("@stage", [kernel("n" * 4000) for _ in range(1100)], index=1)}
		INSERT INTO leaderboard_members (leaderboard_id, user_id) SELECT id, {number}
			FROM leaderboards WHERE name = 'other';
		INSERT INTO leaderboard_removals (leaderboard_id, user_id) SELECT id, {number}
			FROM leaderboards WHERE name = 'small';
		INSERT INTO leaderboard_extensions (leaderboard_id, user_id, deadline, given_by)
			SELECT id, {number}, '2090-01-02', 'ada' FROM leaderboards WHERE name = 'other';
		INSERT INTO disqualifications (leaderboard_id, user_id, submission_id, reason, given_by)
			SELECT id, {number}, 999999, 'Two accounts.', 'ada' FROM leaderboards
				WHERE name = 'other';
		INSERT INTO leaderboard_roles (leaderboard_id, user_id, role, given_by)
			SELECT id, {number}, 'jury', 'ada' FROM leaderboards WHERE name = 'other';
		INSERT INTO leaderboard_roles (leaderboard_id, user_id, role, given_by)
			SELECT l.id, u.id, 'jury', 'ada' FROM leaderboards l JOIN users u ON u.name = 'bob'
				WHERE l.name = 'other';
		INSERT INTO contests (name, title, starts_at, ends_at, rules)
			VALUES ('cup', 'Cup', '2089-01-01', '2089-01-02', '');
		INSERT INTO contest_entrants (contest_id, user_id) SELECT id, {number} FROM contests;
		INSERT INTO invites (code, note, created_by)
			VALUES ('code-of-ada', 'for my class', {number});
		INSERT INTO webhooks (name, address, form, events, secret, state, created_by)
			VALUES ('our chat', 'https://chat.example.org/x', 'json', 'job', 'whsec', 'paused',
			{number});
		INSERT INTO webhook_events (event, data) VALUES ('job', '{{"user": "ada"}}'),
			('record', '{{"user": "bob", "user_before": "ada"}}'), ('job', '{{"user": "bob"}}');
		INSERT INTO webhook_deliveries (webhook_id, event_id, state) SELECT 987654, id, 'waiting'
			FROM webhook_events;
		INSERT INTO announcements (text, from_at, until_at, made_by)
			VALUES ('ada announces', UTC_TIMESTAMP(3) - INTERVAL 2 DAY,
			UTC_TIMESTAMP(3) - INTERVAL 1 DAY, 'ada');
		INSERT INTO terminals (kind, secret_hash, prefix, user_code, name, address, user_agent,
			scopes, interval_s, expires_at, user_id)
			VALUES ('podium', UNHEX(SHA2('x', 256)), 'podium_x', 'BCDFGHJK', 'my box', '192.0.2.7',
				'podium/1', 'read', 5, UTC_TIMESTAMP(3), {number});
		INSERT INTO invite_uses (invite_id, user_id) SELECT id, {number} FROM invites
			WHERE code = 'code-of-ada';
		INSERT INTO password_links (token_hash, user_id, made_by, expires_at)
			VALUES (UNHEX(SHA2('link', 256)), {number}, 'ada', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR);
		INSERT INTO audit_log (actor_id, actor, address, action, subject, detail)
			VALUES ({number}, 'ada', '192.0.2.1', 'invite.create', 'invite 1', 'for my class'),
			(1, 'root-of-all', '192.0.2.2', 'user.role', 'ada', 'role: creator, was participant'),
				(1, 'root-of-all', '192.0.2.3', 'user.role', 'bob', 'role: creator'),
			(999999, 'ada', '192.0.2.4', 'invite.create', 'invite 2',
				'of one who had the name before');
		INSERT INTO audit_log (at, actor_id, actor, address, action, subject, detail)
			VALUES ('2020-01-01', 1, 'root-of-all', '192.0.2.5', 'user.ban', 'ada',
			'of one who had the name before')""")


@test
def the_export_has_every_own_submission_with_its_source_and_nothing_of_others():
	numbers = [
		submit(ada, 5000.0 - step, "test" if step % 2 else "ranked", note=f"step {step} <ü>")
		for step in range(23)
	]
	submit(bob, 9000.0, note="of bob")
	leave_traces()
	make_token(ada, "nightly")
	answer = ada.get("/account/export")
	equal((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
	contains(answer.headers["Content-Disposition"], 'attachment; filename="podium-ada.json"')
	equal(answer.headers["X-Content-Type-Options"], "nosniff")
	data = answer.json
	equal((data["account"][0]["name"], data["account"][0]["role"]), ("ada", "participant"))
	equal([token["name"] for token in data["api_tokens"]], ["nightly"])
	equal([place["place"] for place in data["places"]], [1])
	equal([one["id"] for one in data["submissions"]], numbers)
	first = data["submissions"][0]
	contains(first["source"], "step 0 <ü>")
	equal(
		(first["leaderboard"], first["mode"], first["file_name"]),
		("small", "ranked", "secret plan step 0 <ü>.py"),
	)
	equal([(job["verdict"], job["score_ns"]) for job in first["jobs"]], [("passed", 5000.0)])
	equal(
		[(one["stage"], one["mean_ns"]) for one in first["cases"]],
		[("test", None), ("ranked", 5000.0)],
	)
	equal(
		(first["note"], base64.b64decode(first["cases"][1]["samples_base64"])),
		("my <note>", struct.pack("<3f", 1.5, 2.5, 3.5)),
	)
	equal(
		[
			(one["submission"], one["name"], base64.b64decode(one["content_base64"] or b""))
			for one in data["files"]
		],
		[
			(numbers[0], "profile-1.ncu-rep", b"a profile"),
			(numbers[0], "compile-1-plan.json", plan_text([kernel("planned")]).encode()),
			(numbers[0], "compile-2-plan.json", b""),  # too long
		],
	)
	equal([one["leaderboard"] for one in data["seats"]], ["other"])
	equal([one["contest"] for one in data["contests"]], ["cup"])
	equal([(one["name"], one["address"]) for one in data["terminals"]], [("my box", "192.0.2.7")])
	equal([one["code"] for one in data["invite_codes_used"]], ["code-of-ada"])
	equal([one["leaderboard"] for one in data["removals"]], ["small"])
	equal([(one["leaderboard"], one["role"]) for one in data["roles"]], [("other", "jury")])
	equal([one["deadline"] for one in data["extensions"]], ["2090-01-02T00:00:00.000Z"])
	equal([one["reason"] for one in data["disqualifications"]], ["Two accounts."])
	equal(
		[(one["code"], one["note"]) for one in data["invites_made"]],
		[("code-of-ada", "for my class")],
	)
	equal(
		[(one["name"], one["address"], one["leaderboard"]) for one in data["webhooks_made"]],
		[("our chat", "https://chat.example.org/x", None)],
	)
	lacks(json.dumps(data), "whsec")
	equal([one["text"] for one in data["announcements_made"]], ["ada announces"])
	equal(
		[(one["action"], one["address"]) for one in data["audit_log_by_you"]],
		[("invite.create", "192.0.2.1")],
	)
	equal(
		[(one["detail"], one["address"]) for one in data["audit_log_about_you"]],
		[("role: creator, was participant", None)],
	)
	equal((len(data["password_links"]), sum(one["submissions"] for one in data["days"])), (1, 23))
	for other in ("of bob", "192.0.2.2", "a secret of admins", "had the name before"):
		lacks(answer.text, other)
	for secret in (
		"password_hash",
		"argon2",
		"token_hash",
		sql("SELECT LOWER(HEX(token_hash)) FROM sessions")[0][0],
	):
		lacks(answer.text.lower(), secret)


@test
def an_empty_export_is_valid_json_and_too_many_exports_are_refused():
	data = carol.get("/account/export").json
	equal((data["submissions"], data["places"], data["account"][0]["name"]), ([], [], "carol"))
	answers = [carol.get("/account/export") for _ in range(10)]
	equal([answer.status for answer in answers], [200] * 9 + [429])
	contains(whole(answers[-1]).words(), "Wait 60 minutes and try again")


@test
def an_export_that_breaks_off_is_not_a_complete_answer():
	sql("RENAME TABLE artifact_parts TO elsewhere")
	try:
		ada.get("/account/export")
		raise AssertionError("the cut answer was taken for a whole one")
	except http.client.HTTPException:
		pass
	finally:
		sql("RENAME TABLE elsewhere TO artifact_parts")
	equal(len(ada.get("/account/export").json["files"]), 3)


# ---- being overtaken ----


def told(client, path="/queue"):
	found = re.search(r'<form class="notice news".*?</form>', client.get(path).text, re.S)
	return re.sub(r"<[^>]*>", "", found[0]).strip() if found else None


def dismiss(client, gpu="H200", board="small", **fields):
	number = sql(f"SELECT id FROM leaderboards WHERE name = '{board}'")[0][0]
	return client.post(
		"/account/overtaken",
		[("leaderboard", number), ("gpu", gpu), *fields.items()],
		form="/account",
	)


@test
def every_page_tells_an_overtaken_user_until_the_notice_is_dismissed():
	equal((told(ada), told(bob)), (None, None))
	submit(bob, 4000.0)
	said = "bob is now ahead of you on small, H200, where your rank is 2."
	for path in ("/", "/queue", "/leaderboard/small?gpu=H200", "/account/tokens", "/nothing-here"):
		whole(ada.get(path))
		contains(told(ada, path) or "", said)
	equal((told(bob), told(carol), told(anyone)), (None, None, None))
	contains(
		ada.get("/leaderboard/small?gpu=H200").text,
		'name="next" value="/leaderboard/small?gpu=H200"',
	)
	equal(dismiss(bob).status, 303)
	contains(told(ada), said)
	equal(ada.post("/account/overtaken", [("gpu", "H200")], csrf="wrong").status, 403)
	equal(dismiss(ada, next="/leaderboard/small?gpu=H200").location, "/leaderboard/small?gpu=H200")
	equal(told(ada), None)
	for evil in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", ""):
		equal(dismiss(ada, next=evil).location, "/")
	equal(dismiss(ada, gpu="H200\u00e9").status, 303)


@test
def the_notice_names_the_last_user_to_overtake_and_only_the_overtaken_see_it():
	submit(carol, 3900.0)
	contains(told(bob), "carol is now ahead of you")
	contains(told(ada), "carol is now ahead of you on small, H200, where your rank is 3.")
	submit(bob, 3800.0)
	contains(told(ada), "carol is now ahead of you")
	equal(told(bob), None)
	contains(told(carol), "bob is now ahead of you on small, H200, where your rank is 2.")


@test
def an_outdated_notice_disappears():
	submit(ada, 3000.0)
	equal(told(ada), None)
	equal(number_of(f"SELECT COUNT(*) FROM overtakings WHERE user_id = {user_id('ada')}"), 0)
	contains(told(bob), "ada is now ahead of you")
	equal(dismiss(bob).status, 303)
	submit(ada, 3100.0)
	equal(told(bob), None)


@test
def a_tie_or_another_leaderboard_gives_no_notice():
	submit(ada, 3000.0, board="other")
	submit(bob, 3000.0, board="other")
	submit(carol, 2999.9, board="other")
	equal((told(ada), told(bob)), (None, None))


@test
def one_change_notifies_at_most_the_nearest_hundred():
	sql(
		"INSERT INTO users (name, password_hash) SELECT CONCAT('many', seq), 'none' FROM "
		"seq_1_to_150"
	)
	sql(
		"INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, "
		"job_id, score_ns, score_err_ns, submitted_at, position, place, engine) "
		"SELECT r.leaderboard_id, r.task_version_id, r.gpu, u.id, r.submission_id, r.job_id, "
		"100000.0 + 5000 * CAST(SUBSTR(u.name, 5) AS UNSIGNED), 1.0, r.submitted_at, "
		"3 + CAST(SUBSTR(u.name, 5) AS UNSIGNED), 3 + CAST(SUBSTR(u.name, 5) AS UNSIGNED), "
		"'custom' FROM ranking r JOIN leaderboards l ON l.id = r.leaderboard_id, users u "
		"WHERE l.name = 'small' AND r.position = 3 AND u.name LIKE 'many%'"
	)
	dora = Client(site.url)
	dora.register("dora")
	submit(dora, 50000.0)
	equal(
		sql(
			"SELECT COUNT(*), MIN(CAST(SUBSTR(u.name, 5) AS UNSIGNED)), "
			"MAX(CAST(SUBSTR(u.name, 5) AS "
			"UNSIGNED)) FROM overtakings o "
			f"JOIN users u ON u.id = o.user_id WHERE o.by_user_id = {user_id('dora')}"
		),
		[["100", "1", "100"]],
	)
	sql("DELETE FROM users WHERE name LIKE 'many%' OR name = 'dora'")
	sql("DELETE FROM ranking WHERE position > 3")


# ---- deleting the account ----


@test
def the_page_says_what_deletion_removes_and_what_stays():
	words = whole(ada.get("/account/delete")).words()
	for part in (
		"1 API token",
		"11 submissions without a ranked result",
		"2 places in rankings, under the name",
		"the times of 15 submissions with a ranked result",
		f"deleted-user-{user_id('ada')}",
	):
		contains(words, part)


@test
def without_the_name_and_the_password_nothing_is_deleted():
	for fields, sentence in (
		([("name", "bob"), ("password", PASSWORD)], "This is not your name"),
		([("name", "ada")], "This is not your password"),
		([("name", "ada"), ("password", "wrong")], "This is not your password"),
		([], "This is not your name"),
	):
		answer = whole(ada.post("/account/delete", fields))
		equal(answer.status, 422)
		contains(answer.words(), sentence)
	equal(number_of("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL"), 0)


@test
def the_only_admin_cannot_delete_the_account():
	answer = whole(admin.post("/account/delete", [("name", "root-of-all"), ("password", PASSWORD)]))
	equal(answer.status, 409)
	contains(answer.words(), "You are the only admin")
	equal(admin.get("/admin").status, 200)


@test
def a_deleted_account_keeps_only_its_ranked_results():
	number, second = user_id("ada"), log_in()
	place = ada.get("/leaderboard/small.json?gpu=H200").json["rows"][0]
	shared = submit(carol, 7000.0, "test", note="shared")
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) "
		f"SELECT leaderboard_id, task_version_id, {number}, file_name, sha256, mode FROM "
		f"submissions WHERE id = {shared}"
	)
	waiting = number_of(f"SELECT MAX(id) FROM submissions WHERE user_id = {number}")
	for submission in (waiting, place["submission"]):
		sql(
			f"INSERT INTO jobs (submission_id, user_id, gpu) VALUES ({submission}, {number}, "
			"'none-such')"
		)
	contains(ada.get("/account/delete").words(), "2 jobs that wait or run, and are cancelled")
	sources = number_of("SELECT COUNT(*) FROM blobs")
	answer = ada.post("/account/delete", [("name", "ada"), ("password", PASSWORD)])
	equal((answer.status, answer.location), (303, "/account/deleted"))
	contains(whole(ada.get("/account/deleted")).words(), "Your account is deleted")
	equal((ada.cookies.get("podium"), second.get("/account").status), (None, 303))
	for table, column in (
		("sessions", "user_id"),
		("api_tokens", "user_id"),
		("overtakings", "user_id"),
	):
		equal(
			(table, number_of(f"SELECT COUNT(*) FROM {table} WHERE {column} = {number}")),
			(table, 0),
		)
	equal(
		sql(f"SELECT name, password_hash, role FROM users WHERE id = {number}"),
		[[f"deleted-user-{number}", "", "participant"]],
	)
	equal(number_of(f"SELECT COUNT(*) FROM ranking WHERE user_id = {number}"), 2)
	equal(
		sql(
			"SELECT DISTINCT file_name, mode, note, sha256 = deleted_sha256 FROM submissions "
			f"WHERE user_id = {number}"
		),
		[["deleted.txt", "ranked", "", "0"]],
	)
	equal(
		sql(f"SELECT gpu, state, COUNT(*) FROM jobs WHERE user_id = {number} GROUP BY gpu, state"),
		[["H200", "done", "15"], ["none-such", "cancelled", "1"]],
	)
	rows = anyone.get(f"/leaderboard/small.json?gpu=H200&x={time.time()}").json["rows"]
	equal(
		[(row["user"], row["rank"]) for row in rows],
		[(f"deleted-user-{number}", 1), ("bob", 2), ("carol", 3)],
	)
	equal(rows[0]["submission"], place["submission"])
	# One of ada's sources stays, because bob has submitted it too.
	equal(number_of("SELECT COUNT(*) FROM blobs"), sources - 24 + 1)
	contains(carol.get(f"/submission/{shared}/source").text, "shared")
	equal(
		sql("SELECT actor, subject FROM audit_log WHERE action = 'account.delete'"),
		[[f"deleted-user-{number}"] * 2],
	)
	equal(number_of("SELECT COUNT(*) FROM audit_log WHERE detail LIKE '%ada%'"), 0)


@test
def data_left_by_others_is_deleted_too():
	number = number_of("SELECT id FROM users WHERE deleted_at IS NOT NULL")
	for table, column in (
		("terminals", "user_id"),
		("invite_uses", "user_id"),
		("password_links", "user_id"),
		("leaderboard_members", "user_id"),
		("leaderboard_removals", "user_id"),
		("leaderboard_roles", "user_id"),
		("leaderboard_extensions", "user_id"),
		("user_days", "user_id"),
		("uploads", "creator_id"),
	):
		equal(
			(table, number_of(f"SELECT COUNT(*) FROM {table} WHERE {column} = {number}")),
			(table, 0),
		)
	equal(number_of("SELECT COUNT(*) FROM artifacts"), 0)
	equal(number_of("SELECT COUNT(*) FROM plans"), 0)
	equal(number_of("SELECT COUNT(*) FROM plan_uses"), 0)
	equal(number_of("SELECT COUNT(*) FROM measurements WHERE report IS NOT NULL"), 0)
	equal(
		sql("SELECT made_by, text FROM announcements"),
		[[f"deleted-user-{number}", "ada announces"]],
	)
	equal(sql("SELECT code, note FROM invites"), [["code-of-ada", ""]])
	equal(
		(number_of("SELECT COUNT(*) FROM webhooks"), sql("SELECT data FROM webhook_events")),
		(0, [['{"user": "bob"}']]),
	)
	equal(
		[
			subject
			for (subject,) in sql("SELECT subject FROM rate_limits")
			if subject.endswith(" ada")
		],
		[],
	)
	for table in (
		"announcements",
		"rejudgings",
		"dry_runs",
		"pauses",
		"invites",
		"users",
		"leaderboard_roles",
		"disqualifications",
	):
		lacks(str(sql(f"SELECT * FROM {table}")), "'ada'")
	lines = (
		"SELECT leaderboard_id, gpu, line, submission_id, score_ns FROM records ORDER BY 1, 2, 3, 4"
	)
	kept = sql(lines)
	site.manage("ranking", "rebuild")
	equal(sql(lines), kept)


@test
def pages_of_its_submissions_still_work_and_do_not_mention_the_source():
	number = number_of("SELECT id FROM users WHERE deleted_at IS NOT NULL")
	submission = number_of(f"SELECT MIN(id) FROM submissions WHERE user_id = {number}")
	for path in (
		f"/user/deleted-user-{number}",
		f"/submission/{submission}",
		"/leaderboard/small",
		"/queue",
	):
		shown = whole(bob.get(path))
		equal((path, shown.status), (path, 200))
		lacks(shown.text, "secret plan step")
	contains(bob.get(f"/user/deleted-user-{number}").words(), "This account was deleted just now .")
	lacks(bob.get("/user/bob").words(), "account was deleted")
	equal(admin.get("/admin/users").status, 200)
	equal(
		admin.get(f"/submission/{submission}/source").text,
		"This source was deleted together with its author's account.\n",
	)


@test
def no_login_token_or_registration_revives_a_deleted_account():
	name = sql("SELECT name FROM users WHERE deleted_at IS NOT NULL")[0][0]
	for password in ("", PASSWORD):
		equal(Client(site.url).post("/login", [("name", name), ("password", password)]).status, 422)
	for action in ("link", "role", "unban", "factors"):
		equal(
			admin.post(
				"/admin/users",
				[("user", name), ("action", action), ("role", "admin")],
				form="/account",
			).status,
			409,
		)
	equal(admin.get(f"/admin/users/{name}/ban").status, 409)
	equal(sql(f"SELECT password_hash FROM users WHERE name = '{name}'"), [[""]])
	for taken, words in (
		("Deleted-User-77", "are reserved for deleted accounts"),
		("Podium-hooks", "Names that begin with podium- are reserved for programs of Podium"),
	):
		answer = whole(
			Client(site.url).post("/register", [("name", taken), ("password", PASSWORD)])
		)
		equal((taken, answer.status), (taken, 422))
		contains(answer.words(), words)
	fresh = Client(site.url)
	fresh.register("ada")
	data = fresh.get("/account/export").json
	equal(
		(
			data["submissions"],
			data["announcements_made"],
			data["audit_log_by_you"],
			data["audit_log_about_you"],
		),
		([], [], [], []),
	)


# ---- cost ----


def rows_read(client, path):
	"""Returns how many rows the database reads for a page. The worker reads rows too, so the
	function tries several times and returns the smallest number."""
	count, reads = (
		(
			"SELECT SUM(variable_value) FROM information_schema.global_status "
			"WHERE variable_name LIKE 'Handler_read%'"
		),
		[],
	)
	for _ in range(5):
		before = number_of(count)
		answer = client.get(path)
		reads.append(number_of(count) - before)
		equal((path, answer.status), (path, 200))
	return min(reads)


@test
def among_many_users_data_the_pages_read_only_their_own():
	sql("""INSERT INTO users (name, password_hash) SELECT CONCAT('many', seq), 'none'
		FROM seq_1_to_3000;
		INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at)
			SELECT UNHEX(SHA2(CONCAT(u.id, '-', seq), 256)), u.id, '', '',
			UTC_TIMESTAMP(3) + INTERVAL 9 DAY
			FROM users u, seq_1_to_3 WHERE u.name LIKE 'many%';
		INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes)
			SELECT u.id, seq, 'podium_', UNHEX(SHA2(CONCAT(u.id, '-', seq), 256)), 'read'
			FROM users u, seq_1_to_3 WHERE u.name LIKE 'many%';
		INSERT INTO user_days (user_id, day, submissions) SELECT id, '2026-01-01', 1 FROM users
			WHERE name LIKE 'many%';
		INSERT INTO audit_log (actor_id, actor, address, action, subject, detail)
			SELECT id, name, '', 'user.role', name, '' FROM users WHERE name LIKE 'many%';
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			SELECT s.leaderboard_id, s.task_version_id, u.id, 'x.py', s.sha256, 'test'
			FROM users u, submissions s WHERE u.name LIKE 'many%' AND s.id = (SELECT MIN(id)
				FROM submissions);
		INSERT INTO jobs (submission_id, user_id, gpu, state) SELECT id, user_id, 'H200', 'done'
			FROM submissions WHERE file_name = 'x.py';
		INSERT INTO leaderboard_members (leaderboard_id, user_id) SELECT l.id, u.id
			FROM users u, leaderboards l WHERE u.name LIKE 'many%' AND l.name = 'other';
		ANALYZE TABLE users, sessions, api_tokens, audit_log, submissions, jobs,
			leaderboard_members""")
	for path, most in (
		("/account", 100),
		("/account/sessions", 100),
		("/account/tokens", 100),
		("/account/data", 100),
		("/account/delete", 200),
		("/account/export", 700),
	):
		read = rows_read(bob, path)
		assert read <= most, f"{path} read {read} rows"


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
