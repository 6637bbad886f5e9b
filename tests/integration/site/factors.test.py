#!/usr/bin/env python3
"""Second factors: the authenticator app, passkeys and what hostile ones send, recovery codes, the
login that waits for a factor, what asks for one, and admins who must have one."""

import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from authenticator import KEY, UP, UV, Passkey, app_code, cbor, decoded  # noqa: E402
from client import Client, whole  # noqa: E402
from held import Held, beside  # noqa: E402
from identity_provider import CLIENT, SECRET, Provider, encoded  # noqa: E402
from instance import Instance  # noqa: E402
import mariadb  # noqa: E402
from programs import Program  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

mariadb.use_own_server()
PASSWORD = "a long password"
HOST = "podium.example.org"
ORIGIN = f"https://{HOST}"
provider = Provider("127.0.0.5")


def settings(name, **keys):
	"""A file of settings with one provider."""
	path = provider.folder / f"{name}.conf"
	path.touch(0o600)
	keys = {"issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET, **keys}
	path.write_text("".join(f"provider.uni.{key} = {value}\n" for key, value in keys.items()))
	return str(path)


site = Instance(PODIUM_PUBLIC_URL=ORIGIN, PODIUM_CONFIG=settings("asked"))
sql = site.sql


def member(name):
	client = Client(site.url)
	client.register(name)
	return client


def log_in(name, client=None, password=PASSWORD, next="/queue", at=site):
	"""Sends the name and the password; returns the browser and the answer."""
	client = client or Client(at.url)
	fields = [("name", name), ("password", password), ("next", next)]
	return client, client.post("/login", fields)


def is_logged_in(client):
	return client.get("/account").status == 200


def challenge(client, purpose, page="/account/security"):
	answer = client.post("/passkey/challenge", [("purpose", purpose)], form=page)
	equal(answer.status, 200)
	return answer.json


def codes_on(answer):
	return re.findall(r"\b(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\b", answer.text)


def key_on(client):
	return re.search(r'id="app-key">([A-Z2-7]{32})<', client.get("/account/security/app").text)[1]


def set_up_app(client):
	"""Returns the secret and the answer to the first code."""
	equal(
		client.post("/account/security/app", form="/account/security").location,
		"/account/security/app",
	)
	secret = key_on(client)
	return secret, client.post("/account/security/app", [("code", app_code(secret, steps=-1))])


def add_passkey(client, name="key", passkey=None, **options):
	passkey = passkey or Passkey(ORIGIN, HOST, **options)
	fields = [("action", "add_passkey"), ("name", name)]
	fields += passkey.register(challenge(client, "register"))
	return passkey, client.post("/account/security", fields)


def use(client, fields, path="/login/factor"):
	return client.post(path, [("next", "/queue"), *fields])


def age(name, minutes=11):
	"""Lets the sessions of the user be confirmed so long ago."""
	sql(
		f"UPDATE sessions s JOIN users u ON u.id = s.user_id SET s.confirmed_at = "
		f"s.confirmed_at - INTERVAL {minutes} MINUTE WHERE u.name = '{name}'"
	)


def rows_of(name, table):
	"""How many rows of the table belong to the user."""
	return int(
		site.value(
			f"SELECT COUNT(*) FROM {table} t JOIN users u ON u.id = t.user_id "
			f"WHERE u.name = '{name}'"
		)
	)


def forget_limits(at=site):
	at.sql("DELETE FROM rate_limits")


def next_step(secret, user):
	"""Makes the app's codes of now work again, without waiting 30 s."""
	sql(
		"UPDATE authenticator_apps a JOIN users u ON u.id = a.user_id SET a.last_step = 0 "
		f"WHERE u.name = '{user}'"
	)
	return app_code(secret)


def audit(user):
	return sql(f"SELECT action, detail FROM audit_log WHERE subject = '{user}' ORDER BY id")


# ---- the authenticator app ----


@test
def an_app_is_set_up_with_its_first_code_and_its_key_is_never_shown_again():
	ada = member("ada")
	contains(whole(ada.get("/account/security")).words(), "Passkeys off")
	ada.post("/account/security/app", form="/account/security")
	page = whole(ada.get("/account/security/app"))
	contains(page.text, '<svg viewBox="0 0')
	secret = key_on(ada)
	equal(key_on(ada), secret)
	wrong = ada.post(
		"/account/security/app", [("code", "000000" if app_code(secret) != "000000" else "1")]
	)
	equal(wrong.status, 422)
	contains(whole(wrong).words(), "This is not the code that the app shows now.")
	equal(sql("SELECT confirmed_at FROM authenticator_apps"), [["NULL"]])
	answer = ada.post("/account/security/app", [("code", app_code(secret, steps=-1))])
	equal((answer.status, len(set(codes_on(whole(answer))))), (200, 10))
	lacks(ada.get("/account/security").text, secret)
	equal(ada.get("/account/security/app").location, "/account/security")
	lacks(ada.get("/account/export").text, secret)
	equal(audit("ada"), [["user.add_factor", "authenticator app"]])
	site.ada = ada, secret, codes_on(answer)


@test
def the_password_alone_logs_nobody_in():
	_, secret, _ = site.ada
	client, answer = log_in("ada", next="/queue")
	equal((answer.status, answer.location), (303, "/login/factor?next=/queue"))
	contains(client.get("/account").location, "/login")
	contains(client.get("/").text, 'href="/login')
	page = whole(client.get("/login/factor?next=/queue"))
	contains(page.words(), "Your account asks for one more thing")
	before = dict(client.cookies)
	done = use(client, [("code", app_code(secret))])
	equal((done.status, done.location), (303, "/queue"))
	equal(is_logged_in(client), True)
	equal(client.cookies["__Host-podium"] != before["__Host-podium"], True)
	old = Client(site.url)
	old.cookies = before
	equal(is_logged_in(old), False)
	row = sql("SELECT opened_with, factor FROM sessions ORDER BY created_at DESC LIMIT 1")
	equal(row, [["password", "app"]])
	contains(
		client.get("/account/sessions").words(), "with a password, confirmed by a code of the app"
	)


@test
def a_code_works_once():
	_, secret, _ = site.ada
	used = next_step(secret, "ada")
	equal(use(log_in("ada")[0], [("code", used)]).status, 303)
	client, _ = log_in("ada")
	refused = use(client, [("code", used)])
	equal(refused.status, 422)
	contains(whole(refused).words(), "This code was used before.")
	# Or the used one, if the clock has gone on to the next step.
	equal(use(client, [("code", app_code(secret, steps=-1))]).status, 422)
	equal(is_logged_in(client), False)
	equal(use(client, [("code", next_step(secret, "ada"))]).status, 303)
	forget_limits()


@test
def wrong_codes_are_limited_and_a_known_browser_has_its_own_count():
	_, secret, _ = site.ada
	known, _ = log_in("ada")
	use(known, [("code", next_step(secret, "ada"))])
	stranger, _ = log_in("ada")
	wrong = f"{(int(app_code(secret)) + 500_000) % 1_000_000:06}"
	statuses = [use(stranger, [("code", wrong)]).status for _ in range(12)]
	equal(statuses, 10 * [422] + 2 * [429])
	refused = use(stranger, [("code", next_step(secret, "ada"))])
	equal((refused.status, "Retry-After" in refused.headers), (429, True))
	known.post("/logout", form="/account")
	log_in("ada", known)
	equal(use(known, [("code", next_step(secret, "ada"))]).status, 303)
	# A day has its own limit.
	forget_limits()
	for _ in range(50):
		use(stranger, [("code", wrong)])
		sql("DELETE FROM rate_limits WHERE subject NOT LIKE '%in a day%'")
	equal(use(stranger, [("code", wrong)]).status, 429)
	forget_limits()


@test
def a_login_that_waits_for_a_factor_ends_with_the_password_and_after_ten_minutes():
	_, secret, _ = site.ada
	client, _ = log_in("ada")
	sql("UPDATE sessions SET expires_at = UTC_TIMESTAMP(3) WHERE awaits_factor")
	late = client.post("/login/factor", [("code", next_step(secret, "ada"))], form="/login")
	equal(late.location, "/login")
	client, _ = log_in("ada")
	left = int(
		site.value(
			"SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), expires_at) FROM sessions "
			"WHERE awaits_factor ORDER BY created_at DESC LIMIT 1"
		)
	)
	equal(0 < left <= 600, True)
	path = provider.folder / "password"
	path.touch(0o600)
	path.write_text("another long one\n")
	site.manage("user", "password", "ada", "--password-file", path)
	equal(
		client.post("/login/factor", [("code", next_step(secret, "ada"))], form="/login").location,
		"/login",
	)
	path.write_text(PASSWORD + "\n")
	site.manage("user", "password", "ada", "--password-file", path)


@test
def a_recovery_code_works_once_and_is_stored_hashed():
	_, secret, codes = site.ada
	stored = sql("SELECT HEX(code_hash) FROM recovery_codes")
	equal(len(stored), 10)
	for form in (codes[0], codes[1].lower().replace("-", " ")):
		client, _ = log_in("ada")
		equal(use(client, [("code", form)]).status, 303)
		equal(is_logged_in(client), True)
		again, _ = log_in("ada")
		refused = use(again, [("code", form)])
		equal(refused.status, 422)
		contains(whole(refused).words(), "wrong, or was used before")
		equal(is_logged_in(again), False)
	contains(client.get("/account/security").words(), "You have 8 of 10 left.")
	contains(client.get("/account/sessions").words(), "a recovery code")
	equal(["user.recovery_code", "a recovery code was used"] in audit("ada"), True)
	question = client.post("/account/security", [("action", "codes")])
	contains(whole(question).words(), "The codes that you have stop working.")
	fresh = client.post("/account/security", [("action", "codes"), ("confirm", "yes")])
	equal(len(codes_on(whole(fresh))), 10)
	equal(codes_on(client.get("/account/security")), [])
	equal(["user.recovery_codes", "new codes in place of all others"] in audit("ada"), True)
	again, _ = log_in("ada")
	equal(use(again, [("code", codes[2])]).status, 422)
	forget_limits()


# ---- what asks for a factor ----


@test
def changes_ask_for_a_factor_after_ten_minutes():
	_, secret, _ = site.ada
	client, _ = log_in("ada")
	use(client, [("code", next_step(secret, "ada"))])
	age("ada")
	contains(whole(client.get("/account")).words(), "before you change the password")
	lacks(client.get("/account").text, 'action="/account/password"')
	change = [("current", PASSWORD), ("password", "new long one"), ("again", "new long one")]
	token = client.csrf("/account/security")
	equal(
		client.post("/account/password", change, csrf=token).location,
		"/account/confirm?next=/account",
	)
	for action in ("remove_app", "codes", "add_passkey"):
		fields = [("action", action), ("confirm", "yes"), ("name", "a")]
		asked = client.post("/account/security", fields, csrf=token)
		equal(asked.location, "/account/confirm?next=/account/security")
	equal(client.get("/account/security/app").location, "/account/confirm?next=/account/security")
	equal(site.value("SELECT COUNT(*) FROM authenticator_apps WHERE confirmed_at IS NOT NULL"), "1")
	page = whole(client.get("/account/confirm?next=/account"))
	contains(page.words(), "Confirm that it is you")
	lacks(page.text, "Your password")
	wrong = client.post("/account/confirm", [("code", "12345"), ("next", "/account")])
	equal(wrong.status, 422)
	fields = [("code", next_step(secret, "ada")), ("next", "/account")]
	equal(client.post("/account/confirm", fields).location, "/account")
	equal(client.post("/account/password", change, csrf=token).location, "/account?changed=1")
	equal(is_logged_in(client), True)
	row = sql("SELECT opened_with, factor, awaits_factor FROM sessions")
	equal(row, [["password", "app", "0"]])
	again, answer = log_in("ada", password="new long one")
	contains(answer.location, "/login/factor")


@test
def the_first_factor_asks_for_the_password_and_ends_other_sessions():
	bob, other = member("bob"), Client(site.url)
	log_in("bob", other)
	equal(is_logged_in(other), True)
	age("bob")
	equal(
		bob.post("/account/security/app", form="/account/security").location,
		"/account/confirm?next=/account/security",
	)
	page = whole(bob.get("/account/confirm?next=/account/security"))
	contains(page.words(), "Your password")
	next_page = ("next", "/account/security")
	refused = bob.post("/account/confirm", [("password", "wrong one"), next_page])
	equal(refused.status, 422)
	done = bob.post("/account/confirm", [("password", PASSWORD), next_page])
	equal(done.location, "/account/security")
	_, answer = set_up_app(bob)
	equal(len(codes_on(answer)), 10)
	equal((is_logged_in(bob), is_logged_in(other)), (True, False))
	bob.post("/account/security", [("action", "remove_app"), ("confirm", "yes")])
	equal(rows_of("bob", "recovery_codes"), 0)
	equal(log_in("bob")[1].location, "/queue")
	equal([action for action, _ in audit("bob")], ["user.add_factor", "user.remove_factor"])


def counters():
	return [row[0] for row in sql("SELECT subject FROM rate_limits ORDER BY subject")]


@test
def a_cookie_from_before_the_first_factor_knows_no_browser():
	kim = member("kim")
	thief, _ = log_in("kim")
	equal("__Host-podium-known" in thief.cookies, True)
	secret, _ = set_up_app(kim)
	log_in("kim", thief)
	forget_limits()
	equal(use(thief, [("code", "12345")]).status, 422)
	equal(counters(), ["second factor in a day kim", "second factor kim"])
	# The browser that added the factor is known.
	kim.post("/logout", form="/account")
	forget_limits()
	log_in("kim", kim)
	equal(use(kim, [("code", "12345")]).status, 422)
	equal([one for one in counters() if one.endswith(" kim")], [])
	equal(use(kim, [("code", next_step(secret, "kim"))]).status, 303)
	# A second factor changes nothing about it.
	add_passkey(kim)
	kim.post("/logout", form="/account")
	forget_limits()
	log_in("kim", kim, "wrong one")
	equal([one.rsplit(" ", 1)[0] for one in counters()], ["login by browser"])
	forget_limits()


@test
def a_cookie_from_before_a_change_of_password_knows_no_browser():
	lee = member("lee")
	thief, _ = log_in("lee")
	new = [("current", PASSWORD), ("password", "another one"), ("again", "another one")]
	equal(lee.post("/account/password", new, form="/account").status, 303)
	lee.post("/logout", form="/account")
	for client, expected in ((lee, False), (thief, True)):
		forget_limits()
		equal(log_in("lee", client)[1].status, 422)
		equal("login as lee" in counters(), expected)
	forget_limits()


@test
def a_login_that_races_the_first_factor_is_asked_for_it():
	member("ron")
	client = Client(site.url)
	token = client.csrf("/login")
	adds = (
		"SELECT id FROM users WHERE name = 'ron' FOR UPDATE; INSERT INTO authenticator_apps "
		"(user_id, secret, confirmed_at) SELECT id, REPEAT('x', 20), UTC_TIMESTAMP(3) "
		"FROM users WHERE name = 'ron'"
	)
	fields = [("name", "ron"), ("password", PASSWORD)]
	with Held(site, adds) as held:
		join = beside(lambda: client.post("/login", fields, csrf=token))
		held.wait_for_others()
	answer = join()[0]
	equal((answer.status, answer.location), (303, "/login/factor?next=/"))
	equal(is_logged_in(client), False)


def asked_for_terminal(client, code, **more):
	fields = [("code", code), ("answer", "confirm"), ("name", "a terminal"), ("days", "7")]
	return client.post("/device", fields, **more)


@test
def an_old_session_gives_no_access_away():
	uma = member("uma")
	secret, _ = set_up_app(uma)
	sql(
		"INSERT INTO identities (user_id, issuer, subject, shown_as) SELECT id, 'x', 's-uma', "
		"'uma' FROM users WHERE name = 'uma'"
	)
	number = site.value("SELECT id FROM identities WHERE subject = 's-uma'")
	program = Program(site.url)
	code = program.ask("POST", "/api/v1/device/code", {}).json["user_code"]
	popcorn = program.ask("GET", "/popcorn/auth/init?provider=github").json["state"]
	age("uma")
	unlink = [("identity", number), ("confirm", "yes")]
	token = [("name", "cli"), ("scope", "read"), ("days", "7")]
	delete = [("name", "uma"), ("password", PASSWORD)]
	for path, fields in (
		("/account/identities", unlink),
		("/account/tokens", token),
		("/account/delete", delete),
	):
		equal(uma.post(path, fields).location, f"/account/confirm?next={path}")
	next_page = f"/account/confirm?next=/device%3Fcode%3D{code}"
	equal(asked_for_terminal(uma, code).location, next_page)
	equal(asked_for_terminal(uma, popcorn).location, "/account/confirm?next=/device")
	equal([rows_of("uma", table) for table in ("identities", "api_tokens")], [1, 0])
	equal(is_logged_in(uma), True)
	fields = [("code", next_step(secret, "uma")), ("next", f"/device?code={code}")]
	equal(uma.post("/account/confirm", fields, form=next_page).location, f"/device?code={code}")
	equal(asked_for_terminal(uma, code).location, "/account/tokens?signed_in=1")
	equal(uma.post("/account/tokens", token).location, "/account/tokens")
	equal(uma.post("/account/identities", unlink).location, "/account/identities")
	equal(uma.post("/account/delete", delete).location, "/account/deleted")


@test
def an_old_session_of_an_admin_gives_no_rights_away():
	vic = member("vic")
	member("wes")
	sql("UPDATE users SET role = 'admin' WHERE name = 'vic'")
	secret, _ = set_up_app(vic)
	age("vic")
	acts = (
		[("action", "role"), ("role", "creator"), ("confirm", "yes")],
		[("action", "factors"), ("confirm", "wes")],
		[("action", "link")],
	)
	for fields in acts:
		answer = vic.post("/admin/users", [("user", "wes"), *fields])
		equal((fields, answer.location), (fields, "/account/confirm?next=/admin/users"))
	equal(site.value("SELECT role FROM users WHERE name = 'wes'"), "participant")
	equal(audit("wes"), [])
	made = "SELECT COUNT(*) FROM users WHERE name LIKE 'new-%'"
	for role in ("creator", "admin"):
		invite = [("name", f"new-{role}"), ("role", role)]
		answer = vic.post("/admin/users/invite", invite, form="/account")
		equal((role, answer.location), (role, "/account/confirm?next=/admin/users"))
	equal(site.value(made), "0")
	invite = [("name", "new-participant"), ("role", "participant")]
	equal(vic.post("/admin/users/invite", invite, form="/account").status, 200)
	fields = [("code", next_step(secret, "vic")), ("next", "/admin/users")]
	equal(vic.post("/account/confirm", fields).location, "/admin/users")
	equal(vic.post("/admin/users", [("user", "wes"), *acts[0]]).location, "/admin/users")
	equal(vic.post("/admin/users", [("user", "wes"), *acts[2]]).status, 200)
	equal([action for action, _ in audit("wes")], ["user.role", "user.link"])
	invite = [("name", "new-admin"), ("role", "admin")]
	equal(vic.post("/admin/users/invite", invite, form="/account").status, 200)
	equal(site.value(made), "2")
	sql("UPDATE users SET role = 'participant' WHERE name = 'new-admin'")
	sql("UPDATE users SET role = 'participant' WHERE name = 'vic'")


@test
def a_link_for_the_password_still_asks_for_the_factor():
	admin = site_admin()
	link = re.search(
		r'id="password-link">\S+(/password/\w+)<',
		admin.post("/admin/users", [("user", "ada"), ("action", "link")]).text,
	)[1]
	client = Client(site.url)
	answer = client.post(link, [("password", PASSWORD), ("again", PASSWORD)])
	equal(answer.location, "/login/factor?next=/")
	equal(is_logged_in(client), False)


def site_admin(at=site):
	"""The first admin, with a password of their own."""
	client = Client(at.url)
	if not hasattr(at, "has_admin"):
		once = (at.var / "admin-password").read_text().strip()
		log_in("admin", client, once, at=at)
		fields = [("current", once), ("password", PASSWORD), ("again", PASSWORD)]
		equal(client.post("/account/password", fields, form="/account").status, 303)
		at.has_admin = True
	else:
		log_in("admin", client, at=at)
	return client


# ---- passkeys ----


@test
def a_passkey_of_each_algorithm_replaces_the_code_and_the_password():
	for algorithm in ("ES256", "RS256", "EdDSA"):
		name = f"key-{algorithm.lower()}"
		client = member(name)
		passkey, answer = add_passkey(client, "my <b>key", algorithm=algorithm)
		equal((answer.status, len(codes_on(whole(answer)))), (200, 10))
		contains(client.get("/account/security").words(), "my <b>key")
		other, answer = log_in(name)
		contains(answer.location, "/login/factor")
		ask = challenge(other, "factor", "/login/factor")
		equal([decoded(one) for one in ask["credentials"]], [passkey.id])
		equal((ask["host"], ask["verification"]), (HOST, "preferred"))
		equal(use(other, passkey.answer(ask)).location, "/queue")
		equal(is_logged_in(other), True)
		alone = Client(site.url)
		ask = challenge(alone, "login", "/login")
		equal(("credentials" in ask, ask["verification"]), (False, "required"))
		done = alone.post(
			"/login/passkey", [("next", "/queue"), *passkey.answer(ask)], form="/login"
		)
		equal((done.status, done.location), (303, "/queue"))
		row = sql("SELECT opened_with, factor FROM sessions ORDER BY created_at DESC LIMIT 1")
		equal(row, [["passkey", "passkey"]])
		contains(alone.get("/account/sessions").words(), "with a passkey")


@test
def an_account_has_several_passkeys_with_names():
	eve = member("eve")
	keys = [add_passkey(eve, name)[0] for name in ("laptop", "phone")]
	page = whole(eve.get("/account/security")).words()
	contains(page, "laptop")
	contains(page, "phone")
	for name in ("", " ", "x" * 65, "two\nlines"):
		equal(add_passkey(eve, name)[1].status, 422)
	equal(add_passkey(eve, "again", keys[0])[1].status, 409)
	equal(add_passkey(member("thief"), "stolen", keys[0])[1].status, 409)
	number = site.value("SELECT id FROM passkeys WHERE name = 'laptop'")
	stranger = member("stranger")
	remove = [("action", "remove_passkey"), ("passkey", number), ("confirm", "yes")]
	equal(stranger.post("/account/security", remove).status, 404)
	asks = eve.post("/account/security", remove[:2])
	contains(whole(asks).words(), "Remove this passkey?")
	equal(eve.post("/account/security", remove).location, "/account/security")
	client, _ = log_in("eve")
	ask = challenge(client, "factor", "/login/factor")
	equal([decoded(one) for one in ask["credentials"]], [keys[1].id])
	refused = use(client, keys[0].answer(ask))
	contains(refused.words(), "This site does not know this passkey.")
	equal(len([row for row in audit("eve") if row[0] == "user.add_factor"]), 2)
	lacks(str(audit("eve")), "laptop")
	site.eve = eve, keys[1]


@test
def a_passkey_without_verification_is_only_a_second_factor():
	mia = member("mia")
	passkey, _ = add_passkey(mia, verifies=False)
	client, _ = log_in("mia")
	equal(use(client, passkey.answer(challenge(client, "factor", "/login/factor"))).status, 303)
	alone = Client(site.url)
	refused = alone.post(
		"/login/passkey", passkey.answer(challenge(alone, "login", "/login")), form="/login"
	)
	equal(refused.status, 422)
	contains(whole(refused).words(), "it did not ask for a PIN")
	equal(is_logged_in(alone), False)


def hostile_logins(passkey, other, stranger):
	"""What a hostile browser or site sends: (what it is, the fields, the reason)."""

	def changed(fields, name, value):
		return [(key, value if key == name else one) for key, one in fields]

	def broken(fields, name, place=-1):
		data = bytearray(decoded(dict(fields)[name]))
		data[place] ^= 1
		return changed(fields, name, encoded(bytes(data)))

	elsewhere = Passkey(ORIGIN, "evil.example.org")
	elsewhere.id, elsewhere.file, elsewhere.count = passkey.id, passkey.file, passkey.count
	return {
		"another origin": (
			lambda ask: passkey.answer(ask, origin="https://evil.example.org"),
			"at another address",
		),
		"a subdomain": (
			lambda ask: passkey.answer(ask, origin=f"https://a.{HOST}"),
			"at another address",
		),
		"plain http": (
			lambda ask: passkey.answer(ask, origin=f"http://{HOST}"),
			"at another address",
		),
		"a frame of another site": (
			lambda ask: passkey.answer(ask, crossOrigin=True),
			"at another address",
		),
		"another site's data": (
			lambda ask: elsewhere.answer(ask, counts=50),
			"belongs to another site",
		),
		"another purpose": (
			lambda ask: passkey.answer(ask, type="webauthn.create"),
			"for another purpose",
		),
		"a challenge of its own": (
			lambda ask: passkey.answer(ask, challenge=encoded(bytes(32))),
			"took too long, was sent before",
		),
		"a short challenge": (lambda ask: passkey.answer(ask, challenge="AAAA"), "not readable"),
		"a challenge that is no text": (
			lambda ask: passkey.answer(ask, challenge=[1]),
			"not readable",
		),
		"no touch": (lambda ask: passkey.answer(ask, flags=0), "nobody touched it"),
		"a wrong signature": (
			lambda ask: broken(passkey.answer(ask), "signature"),
			"signature is wrong",
		),
		"no signature": (
			lambda ask: changed(passkey.answer(ask), "signature", ""),
			"sent no passkey",
		),
		"another key": (
			lambda ask: changed(other.answer(ask), "credential", encoded(passkey.id)),
			"signature is wrong",
		),
		"changed data": (
			lambda ask: broken(passkey.answer(ask), "authenticator_data"),
			"signature is wrong",
		),
		"short data": (
			lambda ask: changed(passkey.answer(ask), "authenticator_data", encoded(b"x" * 36)),
			"not readable",
		),
		"data that are no JSON": (
			lambda ask: changed(passkey.answer(ask), "client_data", encoded(b"[")),
			"not readable",
		),
		"a list": (
			lambda ask: changed(passkey.answer(ask), "client_data", encoded(b"[1]")),
			"not readable",
		),
		"no Base64": (
			lambda ask: changed(passkey.answer(ask), "client_data", "!"),
			"sent no passkey",
		),
		"much": (
			lambda ask: changed(passkey.answer(ask), "client_data", "A" * 30000),
			"sent no passkey",
		),
		"the passkey of another account": (
			lambda ask: stranger.answer(ask),
			"belongs to another account",
		),
		"an unknown passkey": (
			lambda ask: changed(passkey.answer(ask), "credential", encoded(b"unknown")),
			"does not know",
		),
	}


@test
def hostile_answers_are_refused_with_a_reason():
	_, passkey = site.eve
	other, (stranger, _) = Passkey(ORIGIN, HOST), add_passkey(member("another"))
	for what, (make, reason) in hostile_logins(passkey, other, stranger).items():
		client, _ = log_in("eve")
		answer = use(client, make(challenge(client, "factor", "/login/factor")))
		equal((what, answer.status), (what, 422))
		contains(whole(answer).words(), reason)
		equal((what, is_logged_in(client)), (what, False))
		forget_limits()
	client, _ = log_in("eve")
	equal(
		use(client, passkey.answer(challenge(client, "factor", "/login/factor"), counts=60)).status,
		303,
	)


@test
def an_answer_works_once_in_its_own_browser_and_for_its_purpose():
	_, passkey = site.eve
	client, _ = log_in("eve")
	fields = passkey.answer(challenge(client, "factor", "/login/factor"))
	thief, _ = log_in("eve")
	contains(use(thief, fields).words(), "began in another browser")
	equal(use(client, fields).status, 303)
	client.post("/logout", form="/account")
	again, _ = log_in("eve")
	contains(use(again, fields).words(), "was sent before")
	alone = Client(site.url)
	ask = challenge(alone, "login", "/login")
	fields = passkey.answer(ask)
	equal(alone.post("/login/passkey", fields, form="/login").status, 303)
	replay = Client(site.url)
	replay.get("/login")
	contains(replay.post("/login/passkey", fields, form="/login").words(), "was sent before")
	# A key that does not count has only the challenge against replays.
	amy = member("amy")
	still, _ = add_passkey(amy)
	fields = still.answer(challenge(amy, "factor"), counts=0)
	answers = [amy.post("/account/confirm", [("next", "/queue"), *fields]) for _ in range(2)]
	equal([one.status for one in answers], [303, 422])
	contains(answers[1].words(), "was sent before")
	# A challenge of a login is none of a registration.
	eve = site.eve[0]
	ask = challenge(eve, "login")
	answer = eve.post(
		"/account/security",
		[("action", "add_passkey"), ("name", "x"), *Passkey(ORIGIN, HOST).register(ask)],
	)
	contains(answer.words(), "was sent before")
	# And it expires.
	client, _ = log_in("eve")
	ask = challenge(client, "factor", "/login/factor")
	sql("UPDATE passkey_challenges SET expires_at = UTC_TIMESTAMP(3)")
	contains(use(client, passkey.answer(ask)).words(), "took too long")


@test
def a_counter_that_does_not_grow_is_refused_and_logged():
	_, passkey = site.eve
	passkey.count = int(site.value("SELECT sign_count FROM passkeys WHERE name = 'phone'"))
	for step in (0, -1):
		client, _ = log_in("eve")
		refused = use(
			client, passkey.answer(challenge(client, "factor", "/login/factor"), counts=step)
		)
		equal(refused.status, 422)
		contains(whole(refused).words(), "its counter did not grow")
		equal(is_logged_in(client), False)
	passkey.count += 1
	entries = [detail for action, detail in audit("eve") if action == "user.refuse_passkey"]
	equal(len(entries), 2)
	contains(entries[0], "it may have been copied")
	# A key that never counts stays at 0.
	zoe = member("zoe")
	still, _ = add_passkey(zoe)
	for _ in range(2):
		client, _ = log_in("zoe")
		equal(
			use(
				client, still.answer(challenge(client, "factor", "/login/factor"), counts=0)
			).status,
			303,
		)


@test
def hostile_registrations_are_refused():
	mallory = member("mallory")
	passkey = Passkey(ORIGIN, HOST)
	off_curve = cbor({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes([1] * 32)})
	tries = {
		"no key": {"flags": UP | UV},
		"no touch": {"flags": UV | KEY},
		"no CBOR": {"public": b"\xff"},
		"nothing": {"public": b""},
		"a huge map": {"public": b"\xbb" + b"\xff" * 8},
		"a huge array": {"public": b"\x9a\x60\x00\x00\x00"},
		"something behind the key": {"public": passkey.public() + b"\x00"},
		"deep CBOR": {"public": b"\x81" * 5000},
		"a long string": {"public": cbor({1: 2, 3: -7, -1: 1, -2: bytes(4000), -3: bytes(32)})},
		"an unknown algorithm": {
			"public": cbor({1: 2, 3: -47, -1: 8, -2: bytes(32), -3: bytes(32)})
		},
		"a point off the curve": {"public": off_curve},
		"another origin": {"origin": "https://evil.example.org"},
		"another purpose": {"type": "webauthn.get"},
		"another challenge": {"challenge": encoded(bytes(32))},
	}
	for what, changes in tries.items():
		fields = [("action", "add_passkey"), ("name", what)]
		answer = mallory.post(
			"/account/security",
			fields + passkey.register(challenge(mallory, "register"), **changes),
		)
		equal((what, answer.status), (what, 422))
		whole(answer)
	passkey.host = "evil.example.org"
	equal(add_passkey(mallory, "other host", passkey)[1].status, 422)
	equal(rows_of("mallory", "passkeys"), 0)


@test
def challenges_are_for_those_who_may_ask_and_limited():
	client = Client(site.url)
	for purpose, status in (("register", 403), ("factor", 403), ("other", 403), ("login", 200)):
		answer = client.post("/passkey/challenge", [("purpose", purpose)], form="/login")
		equal((purpose, answer.status), (purpose, status))
	equal(client.post("/passkey/challenge", [("purpose", "login")], csrf="no").status, 403)
	sql("UPDATE rate_limits SET hits = 300 WHERE subject LIKE 'passkey challenge from%'")
	equal(client.post("/passkey/challenge", [("purpose", "login")], form="/login").status, 429)
	forget_limits()


@test
def a_banned_user_and_one_whose_passkey_is_removed_do_not_log_in():
	ivy = member("ivy")
	passkey, _ = add_passkey(ivy)
	alone = Client(site.url)
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'ivy'")
	answer = alone.post(
		"/login/passkey", passkey.answer(challenge(alone, "login", "/login")), form="/login"
	)
	contains(answer.words(), "This account was banned.")
	equal(is_logged_in(alone), False)


# ---- providers ----


def sign_in(subject, at=site, client=None):
	client = client or Client(at.url)
	address = client.get("/sign-in/uni?next=/queue").location
	back = provider.authorize(address, subject)
	return client, client.get(back[back.index("/sign-in/") :])


def link(name, subject, at=site):
	provider.people[subject] = {}
	client, answer = sign_in(subject, at)
	equal(answer.location, "/sign-in")
	return client, client.post(
		"/sign-in", [("action", "link"), ("name", name), ("password", PASSWORD)]
	)


@test
def a_login_by_a_provider_asks_for_the_factor_unless_the_provider_is_trusted():
	client = member("pia")
	equal(link("pia", "s-pia")[1].location, "/queue")
	secret, _ = set_up_app(client)
	client, answer = sign_in("s-pia")
	equal(answer.location, "/login/factor?next=/queue")
	equal(is_logged_in(client), False)
	equal(use(client, [("code", app_code(secret))]).location, "/queue")
	row = sql("SELECT opened_with, factor FROM sessions ORDER BY created_at DESC LIMIT 1")
	equal(row, [["provider", "app"]])
	site.stop()
	site.environment["PODIUM_CONFIG"] = settings("trusted", second_factor="trusted")
	(site.var / "run.log").unlink()
	site.start()
	client, answer = sign_in("s-pia")
	equal(answer.location, "/queue")
	equal(is_logged_in(client), True)
	row = sql("SELECT opened_with, factor FROM sessions ORDER BY created_at DESC LIMIT 1")
	equal(row, [["provider", "provider"]])


@test
def a_password_alone_links_no_provider_to_an_account_with_a_factor():
	client, refused = link("ada", "s-evil")
	equal(refused.status, 422)
	contains(whole(refused).words(), "This account has a second factor. Log in to it first")
	equal(site.value("SELECT COUNT(*) FROM identities WHERE subject = 's-evil'"), "0")
	# Nor does an old session.
	eve, _ = site.eve
	age("eve")
	provider.people["s-eve"] = {}
	_, answer = sign_in("s-eve", client=eve)
	equal(answer.location, "/sign-in")
	equal(eve.post("/sign-in", [("action", "confirm")]).location, "/account/confirm?next=/sign-in")
	equal(site.value("SELECT COUNT(*) FROM identities WHERE subject = 's-eve'"), "0")
	forget_limits()


@test
def an_old_session_without_a_factor_links_no_provider_without_the_password():
	kai = member("kai")
	age("kai")
	provider.people["s-kai"] = {}
	sign_in("s-kai", client=kai)
	confirm = [("action", "confirm")]
	equal(kai.post("/sign-in", confirm).location, "/account/confirm?next=/sign-in")
	equal(rows_of("kai", "identities"), 0)
	fields = [("password", PASSWORD), ("next", "/sign-in")]
	equal(kai.post("/account/confirm", fields).location, "/sign-in")
	equal(kai.post("/sign-in", confirm).location, "/account/identities")
	equal(rows_of("kai", "identities"), 1)


# ---- operators and admins ----


@test
def an_operator_lists_and_removes_lost_factors():
	shown = site.manage("user", "factors", "eve")
	contains(shown, "passkey")
	contains(shown, "phone")
	contains(site.manage("user", "factors", "ada"), "authenticator app")
	contains(site.manage("user", "factors", "ada"), "10 recovery codes")
	equal(site.admin("user", "factors", "nobody").returncode != 0, True)
	number = site.value("SELECT id FROM passkeys WHERE name = 'phone'")
	other = member("other")
	add_passkey(other)
	equal(site.admin("user", "remove-factor", "other", number).returncode != 0, True)
	eve, _ = log_in("eve")
	contains(site.manage("user", "remove-factor", "eve", number), "Removed.")
	equal(log_in("eve")[1].location, "/queue")
	contains(site.manage("user", "remove-factor", "ada", "app"), "Removed.")
	equal(log_in("ada")[1].location, "/queue")
	equal(rows_of("ada", "recovery_codes"), 0)
	equal(site.admin("user", "remove-factor", "ada", "all").returncode != 0, True)
	contains(site.manage("user", "remove-factor", "other", "all"), "Removed.")
	equal(audit("other")[-1], ["user.remove_factor", "every factor"])


@test
def an_admin_removes_a_lost_factor_in_the_panel():
	admin = site_admin()
	tom = member("tom")
	add_passkey(tom)
	fields = [("user", "tom"), ("action", "factors")]
	asks = admin.post("/admin/users", fields)
	contains(whole(asks).words(), "Remove the second factors of tom?")
	equal(admin.post("/admin/users", [*fields, ("confirm", "tom")]).location, "/admin/users")
	equal(log_in("tom")[1].location, "/queue")
	equal(is_logged_in(tom), False)
	equal(audit("tom")[-1], ["user.remove_factor", "every factor"])
	equal(admin.post("/admin/users", [*fields, ("confirm", "tom")]).status, 404)


@test
def admins_must_have_a_factor_where_the_setting_says_so():
	strict = Instance(PODIUM_PUBLIC_URL=ORIGIN, PODIUM_SECOND_FACTOR="admins")
	try:
		admin = site_admin(strict)
		page = whole(admin.get("/account/security"))
		contains(page.words(), "Admins of this site need a second factor.")
		for path in (
			"/",
			"/admin",
			"/account",
			"/account/tokens",
			"/device",
			"/admin/users",
			"/queue",
		):
			equal((path, admin.get(path).location), (path, "/account/security"))
		csrf = admin.csrf("/account/security")
		users = strict.value("SELECT COUNT(*) FROM users")
		answer = admin.post("/admin/users/invite", [("name", "x"), ("role", "admin")], csrf=csrf)
		equal(
			(answer.location, strict.value("SELECT COUNT(*) FROM users")),
			("/account/security", users),
		)
		# Others may do without, and an admin's token goes on working.
		user = Client(strict.url)
		user.register("ann")
		equal(user.get("/account/tokens").status, 200)
		user.post("/account/tokens", [("name", "cli"), ("scope", "read"), ("days", "7")])
		token = re.search(r'id="new-token">(\S+)<', user.get("/account/tokens").text)[1]
		strict.manage("user", "role", "ann", "admin")
		equal(user.get("/").location, "/account/security")
		me = user.get("/api/v1/me", Authorization=f"Bearer {token}")
		equal(me.status, 200)
		_, done = set_up_app(admin)
		equal(len(codes_on(done)), 10)
		equal(admin.get("/admin").status, 200)
		rows = strict.manage("user", "list").splitlines()
		equal([row.split()[0] for row in rows if "second factor" in row], ["admin"])
		contains(strict.admin("doctor").stdout, f"they belong to {HOST}")
	finally:
		strict.remove()


@test
def the_owner_is_told_of_every_change_of_the_factors():
	gus = member("gus")
	number = site.value("SELECT id FROM users WHERE name = 'gus'")
	told = f"SELECT what, address FROM mails WHERE user_id = {number} ORDER BY id"
	sql(
		"INSERT INTO mail_addresses (user_id, address, confirmed_at, unsubscribe_key) "
		f"VALUES ({number}, 'gus@one.example', UTC_TIMESTAMP(3), REPEAT('x', 32))"
	)

	def tells(sentence):
		equal(sql(told), [[sentence, "gus@one.example"]])
		sql("DELETE FROM mails")

	set_up_app(gus)
	tells("An authenticator app was added as a second factor, and recovery codes were made.")
	add_passkey(gus)
	tells("A passkey was added as a second factor.")
	gus.post("/account/security", [("action", "codes"), ("confirm", "yes")])
	tells("New recovery codes were made. The earlier codes no longer work.")
	key = site.value(f"SELECT id FROM passkeys WHERE user_id = {number}")
	remove = [("action", "remove_passkey"), ("passkey", key), ("confirm", "yes")]
	gus.post("/account/security", remove)
	tells("A passkey was removed.")
	gus.post("/account/security", [("action", "remove_app"), ("confirm", "yes")])
	tells("The authenticator app was removed. The account has no second factor now.")
	set_up_app(gus)
	sql("DELETE FROM mails")
	site.manage("user", "remove-factor", "gus", "all")
	tells("Every second factor was removed by an admin. The account has no second factor now.")


@test
def the_account_takes_its_factors_with_it():
	dan = member("dan")
	add_passkey(dan, "dan's key")
	set_up_app(dan)
	exported = dan.get("/account/export").json
	equal([one["name"] for one in exported["passkeys"]], ["dan's key"])
	equal((len(exported["authenticator_apps"]), len(exported["recovery_codes"])), (1, 10))
	equal(exported["sessions"][0]["opened_with"], "registration")
	number = site.value("SELECT id FROM users WHERE name = 'dan'")
	fields = [("name", "dan"), ("password", PASSWORD)]
	equal(dan.post("/account/delete", fields).location, "/account/deleted")
	for table in ("passkeys", "authenticator_apps", "recovery_codes"):
		equal(
			(table, site.value(f"SELECT COUNT(*) FROM {table} WHERE user_id = {number}")),
			(table, "0"),
		)


@test
def secrets_are_in_no_log():
	_, secret, codes = site.ada
	log = "".join(path.read_text(errors="replace") for path in site.var.rglob("*.log"))
	audits = str(sql("SELECT detail FROM audit_log"))
	for text in (log, audits):
		lacks(text, secret)
		for code in codes:
			lacks(text, code)


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
