#!/usr/bin/env python3
"""Signing in with accounts of identity providers: the way there and back, linking, what a provider
may do wrong, allow-lists, the modes of registration, and limits on logins. The provider is the
strict one of identity_provider.py."""

import json
import pathlib
import re
import select
import socket
import struct
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
import glewlwyd  # noqa: E402
from held import beside  # noqa: E402
from identity_provider import CLIENT, SECRET, Provider, encoded  # noqa: E402
from instance import Instance  # noqa: E402
import mariadb  # noqa: E402
from programs import Program, make_token  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

mariadb.use_own_server()
PASSWORD = "a long password"
TIMEOUT_MS = 1500
provider, hub = Provider("127.0.0.3"), Provider("127.0.0.4")


def lines(name, **keys):
	return "".join(f"provider.{name}.{key} = {value}\n" for key, value in keys.items())


def settings(*providers):
	"""A file of settings with these providers."""
	path = provider.folder / f"{time.time_ns()}.conf"
	path.touch(0o600)
	path.write_text("".join(providers))
	return str(path)


UNI = lines("uni", label="Uni", issuer=provider.url, client_id=CLIENT, client_secret=SECRET)
HUB = lines(
	"hub",
	kind="github",
	label="GitHub",
	issuer=hub.url,
	api=hub.url,
	client_id=CLIENT,
	client_secret=SECRET,
)


def start(*providers, **more):
	return Instance(
		PODIUM_CONFIG=settings(*providers), PODIUM_PROVIDER_TIMEOUT_MS=str(TIMEOUT_MS), **more
	)


site = start(UNI, HUB)
sql = site.sql


def person(subject, where=provider, **claims):
	where.people[subject] = claims
	return subject


def begin(client, name="uni", next="/"):
	answer = client.get(f"/sign-in/{name}?next={urllib.parse.quote(next)}")
	equal(answer.status, 303)
	equal(answer.headers["Cache-Control"], "private, no-store")
	return answer.location


def come_back(client, address):
	url = urllib.parse.urlsplit(address)
	return client.get(f"{url.path}?{url.query}")


def sign_in(client, subject, name="uni", where=provider, next="/", **changes):
	"""Goes to the provider and back; returns Podium's last answer."""
	return come_back(client, where.authorize(begin(client, name, next), subject, **changes))


def create(client, subject, user, where=provider, name="uni", **more):
	equal(sign_in(client, subject, name, where).location, "/sign-in")
	fields = [("action", "create"), ("name", user), *more.items()]
	return client.post("/sign-in", fields)


def count(table, where="TRUE", at=site):
	return int(at.value(f"SELECT COUNT(*) FROM {table} WHERE {where}"))


def viewer_of(client):
	"""The name of the account that is logged in, or None."""
	found = re.search(r'<b class="cut">([^<]+)</b>', client.get("/account").text)
	return found and found[1]


def refused(answer, *parts, status=403):
	whole(answer)
	equal(answer.status, status)
	for part in parts:
		contains(answer.words(), part)
	lacks(answer.text, SECRET)


# ---- a first login and later ones ----


@test
def a_first_login_creates_an_account_and_later_ones_log_in():
	subject = person("s-ada", preferred_username="ada")
	client = Client(site.url)
	contains(whole(client.get("/login")).text, 'href="/sign-in/uni?next=/"')
	contains(whole(client.get("/register")).words(), "Register with GitHub")
	equal(sign_in(client, subject, next="/queue").location, "/sign-in")
	page = whole(client.get("/sign-in"))
	contains(page.words(), "At Uni you are ada . No account of this site is linked to it yet.")
	contains(page.text, 'name="name" value="ada"')
	answer = client.post("/sign-in", [("action", "create"), ("name", "ada")])
	equal((answer.status, answer.location), (303, "/queue"))
	equal(viewer_of(client), "ada")
	equal(sql("SELECT password_hash FROM users WHERE name = 'ada'"), [[""]])
	again = Client(site.url)
	equal(sign_in(again, subject, next="/archive").location, "/archive")
	equal(viewer_of(again), "ada")
	equal(count("users", "name = 'ada'"), 1)
	entry = sql("SELECT actor, detail FROM audit_log WHERE action = 'user.link_identity'")
	equal(entry, [["ada", f"subject s-ada at {provider.url}"]])


@test
def an_account_without_a_password_has_no_password_that_works():
	for password in ("", "a", PASSWORD):
		answer = Client(site.url).post("/login", [("name", "ada"), ("password", password)])
		equal(answer.status, 422)
	sql("DELETE FROM rate_limits")


@test
def es256_is_accepted_too():
	provider.algorithm = "ES256"
	client = Client(site.url)
	equal(sign_in(client, "s-ada").location, "/")
	equal(viewer_of(client), "ada")


@test
def a_taken_name_is_refused_and_another_works():
	client = Client(site.url)
	answer = create(client, person("s-bob", preferred_username="ada"), "ADA")
	refused(answer, "The name ADA is taken; choose another.", status=409)
	lacks(client.get("/sign-in").text, 'name="name" value="ada"')
	equal(client.post("/sign-in", [("action", "create"), ("name", "bob")]).status, 303)
	equal(viewer_of(client), "bob")
	equal(client.get("/sign-in").status, 404)


@test
def github_signs_in_by_its_number_and_not_by_its_login():
	person("17", hub, login="octo")
	client = Client(site.url)
	equal(create(client, "17", "octo", hub, "hub").status, 303)
	person("17", hub, login="renamed")
	person("18", hub, login="octo")
	again, other = Client(site.url), Client(site.url)
	equal(sign_in(again, "17", "hub", hub).location, "/")
	equal(viewer_of(again), "octo")
	equal(sign_in(other, "18", "hub", hub).location, "/sign-in")
	equal(viewer_of(other), None)
	equal(sql("SELECT shown_as FROM identities WHERE subject = '17'"), [["renamed"]])


# ---- takeover ----


@test
def an_email_address_opens_no_account():
	owner = person("s-eve", email="eve@example.org", email_verified=True)
	equal(create(Client(site.url), owner, "eve").status, 303)
	for verified in (True, False):
		thief = person(f"s-thief-{verified}", email="eve@example.org", email_verified=verified)
		client = Client(site.url)
		equal(sign_in(client, thief).location, "/sign-in")
		equal(viewer_of(client), None)
	person("s-eve", email="new@example.org", email_verified=False)
	client = Client(site.url)
	equal(sign_in(client, owner).location, "/")
	equal(viewer_of(client), "eve")


@test
def the_same_subject_of_another_provider_is_somebody_else():
	person("17", preferred_username="same")
	client = Client(site.url)
	equal(sign_in(client, "17").location, "/sign-in")
	equal(viewer_of(client), None)


@test
def linking_an_existing_account_needs_its_password():
	owner = Client(site.url)
	owner.register("carol", PASSWORD)
	client = Client(site.url)
	equal(sign_in(client, person("s-carol", preferred_username="carol")).location, "/sign-in")
	fields = [("action", "link"), ("name", "carol")]
	answer = client.post("/sign-in", [*fields, ("password", "wrong one")])
	refused(answer, "The name or the password is wrong.", status=422)
	equal((count("identities", "subject = 's-carol'"), viewer_of(client)), (0, None))
	equal(client.post("/sign-in", [*fields, ("password", PASSWORD)]).status, 303)
	equal(viewer_of(client), "carol")
	again = Client(site.url)
	equal(sign_in(again, "s-carol").location, "/")
	equal(viewer_of(again), "carol")


@test
def the_form_that_links_counts_wrong_passwords_as_the_login_does():
	sql("DELETE FROM rate_limits")
	client = Client(site.url)
	sign_in(client, person("s-guess"))
	fields = [("action", "link"), ("name", "carol")]
	for _ in range(10):
		equal(client.post("/sign-in", [*fields, ("password", "wrong one")]).status, 422)
	equal(client.post("/sign-in", [*fields, ("password", PASSWORD)]).status, 429)
	sql("DELETE FROM rate_limits")


@test
def the_form_works_only_after_a_sign_in_of_this_browser():
	answer = Client(site.url).post(
		"/sign-in", [("action", "link"), ("name", "carol"), ("password", PASSWORD)], form="/login"
	)
	equal(answer.status, 404)
	client, other = Client(site.url), Client(site.url)
	sign_in(client, person("s-own"))
	other.csrf("/login")
	equal(other.get("/sign-in").status, 404)
	equal(client.post("/sign-in", [("action", "create"), ("name", "x1")], csrf="0").status, 403)
	equal(count("users", "name = 'x1'"), 0)


@test
def one_sign_in_that_waits_creates_one_account():
	client = Client(site.url)
	sign_in(client, person("s-twice"))
	token = client.csrf("/sign-in")

	def post(name):
		twin = Client(site.url)
		twin.cookies = dict(client.cookies)
		return twin.post("/sign-in", [("action", "create"), ("name", name)], csrf=token)

	answers = beside(lambda: post("twin-a"), lambda: post("twin-b"))()
	equal(sorted(answer.status for answer in answers), [303, 404])
	equal(count("users", "name LIKE 'twin-%'"), 1)


# ---- linking and unlinking on the account's page ----


@test
def a_user_links_and_unlinks_on_the_account_page():
	user = Client(site.url)
	user.register("dora", PASSWORD)
	contains(whole(user.get("/account/identities")).words(), "Link an account of another site.")
	person("s-dora", preferred_username="dora@uni")
	equal(sign_in(user, "s-dora").location, "/sign-in")
	page = whole(user.get("/sign-in"))
	contains(page.words(), "Link it to your account dora ?")
	equal(count("identities", "subject = 's-dora'"), 0)
	# A visitor who is logged in neither creates an account nor links that of somebody else.
	for action in ("create", "link"):
		fields = [("action", action), ("name", "carol"), ("password", PASSWORD)]
		equal(user.post("/sign-in", fields).status, 422)
	sql(
		"INSERT INTO mail_addresses (user_id, address, confirmed_at, unsubscribe_key) SELECT id, "
		"'dora@one.example', UTC_TIMESTAMP(3), REPEAT('x', 32) FROM users WHERE name = 'dora'"
	)
	equal(user.post("/sign-in", [("action", "confirm")]).location, "/account/identities")
	[[told]] = sql("SELECT what FROM mails WHERE address = 'dora@one.example'")
	contains(told, "was linked. It logs in to your account now.")
	lacks(told, "dora@uni")
	change = [("current", PASSWORD), ("password", "new long one"), ("again", "new long one")]
	lacks(user.get("/account").words(), "These accounts still log you in")
	user.post("/account/password", change, form="/account")
	after = whole(user.get("/account?changed=1")).words()
	contains(after, "These accounts still log you in Uni: dora@uni")
	change = [("current", "new long one"), ("password", PASSWORD), ("again", PASSWORD)]
	user.post("/account/password", change, form="/account")
	shown = whole(user.get("/account/identities"))
	contains(shown.words(), "dora@uni")
	listed = Program(site.url, make_token(user, "reads", "read")).read("/api/v1/me/identities")
	equal(
		[(one["provider"], one["shown_as"]) for one in listed["identities"]], [("Uni", "dora@uni")]
	)
	number = re.search(r'name="identity" value="(\d+)"', shown.text)[1]
	other = Client(site.url)
	other.register("mallory", PASSWORD)
	unlink = [("identity", number), ("confirm", "yes")]
	equal(other.post("/account/identities", unlink).status, 404)
	refused(sign_in(other, "s-dora"), "Another account of this site is linked to it.", status=403)
	asked = user.post("/account/identities", [("identity", number)])
	contains(whole(asked).words(), "Unlink this account?")
	equal(count("identities", "subject = 's-dora'"), 1)
	equal(user.post("/account/identities", unlink).location, "/account/identities")
	equal(count("identities", "subject = 's-dora'"), 0)
	equal(sign_in(Client(site.url), "s-dora").location, "/sign-in")
	equal(count("audit_log", "action = 'user.unlink_identity' AND subject = 'dora'"), 1)


@test
def the_only_way_into_an_account_stays():
	client = Client(site.url)
	equal(create(client, person("s-frank"), "frank").status, 303)
	number = site.value("SELECT id FROM identities WHERE subject = 's-frank'")
	unlink = [("identity", number), ("confirm", "yes")]
	answer = client.post("/account/identities", unlink)
	refused(answer, "This is the only way into the account", status=409)
	contains(whole(client.get("/account")).words(), "Set a password")
	password = [("password", PASSWORD), ("again", PASSWORD)]
	equal(client.post("/account/password", password, form="/account").status, 303)
	equal(client.post("/account/identities", unlink).status, 303)
	equal(Client(site.url).post("/login", [("name", "frank"), ("password", PASSWORD)]).status, 303)


@test
def a_banned_user_is_refused():
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'eve'")
	client = Client(site.url)
	refused(sign_in(client, "s-eve"), "This account was banned.")
	equal(viewer_of(client), None)
	sql("UPDATE users SET banned_at = NULL WHERE name = 'eve'")


@test
def a_user_who_is_banned_during_the_login_is_refused():
	"""The ban comes after Podium has read the account, and before it opens the session."""
	sql(
		"CREATE TRIGGER ban AFTER UPDATE ON identities FOR EACH ROW "
		"UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE id = NEW.user_id"
	)
	client = Client(site.url)
	refused(sign_in(client, "s-eve"), "the account banned or deleted, while you", status=409)
	equal(viewer_of(client), None)
	sql("DROP TRIGGER ban; UPDATE users SET banned_at = NULL WHERE name = 'eve'")


@test
def a_deleted_account_takes_its_identities_along():
	client = Client(site.url)
	equal(create(client, person("s-gone", preferred_username="gone@uni"), "gone").status, 303)
	lacks(client.get("/account/delete").text, 'type="password"')
	contains(client.get("/account/export").text, "gone@uni")
	equal(client.post("/account/delete", [("name", "gone")]).location, "/account/deleted")
	equal(count("identities", "subject = 's-gone'"), 0)
	equal(sign_in(Client(site.url), "s-gone").location, "/sign-in")


@test
def podium_admin_shows_and_unlinks_identities():
	client = Client(site.url)
	equal(create(client, person("s-admin", preferred_username="hal@uni"), "hal").status, 303)
	number = site.value("SELECT id FROM identities WHERE subject = 's-admin'")
	shown = site.manage("user", "identities", "hal")
	for part in (number, provider.url, "s-admin", "hal@uni"):
		contains(shown, part)
	contains(site.manage("user", "identities", "carol"), "s-carol")
	contains(site.admin("user", "unlink", "carol", number).stderr, "has no such identity")
	contains(site.admin("user", "unlink", "hal", "x").stderr, "has no such identity")
	contains(site.admin("user", "identities", "nobody").stderr, "There is no user named nobody.")
	contains(site.manage("user", "unlink", "hal", number), "The sessions of hal have ended.")
	equal((viewer_of(client), count("identities", "subject = 's-admin'")), (None, 0))
	contains(site.manage("user", "identities", "hal"), "hal signs in with no provider.")
	entry = "action = 'user.unlink_identity' AND subject = 'hal' AND actor = 'podium-admin'"
	equal(count("audit_log", entry), 1)


# ---- what goes wrong on the way ----


@test
def a_state_works_once_and_only_in_its_browser():
	client, other = Client(site.url), Client(site.url)
	back = provider.authorize(begin(client), "s-ada")
	other.csrf("/login")
	refused(come_back(other, back), "began in another browser")
	equal(viewer_of(other), None)
	cookies = dict(client.cookies)
	equal(come_back(client, back).location, "/")
	client.cookies = cookies  # a login gives the browser another cookie
	refused(come_back(client, back), "This sign-in was used")
	equal(viewer_of(client), None)
	for state in ("", "x" * 43, "' OR 1=1 --"):
		refused(sign_in(Client(site.url), "s-ada", state=state), "This sign-in was used")


@test
def a_state_expires_and_belongs_to_one_provider():
	client = Client(site.url)
	back = provider.authorize(begin(client), "s-ada")
	refused(come_back(client, back.replace("/sign-in/uni/", "/sign-in/hub/")), "was used")
	sql("UPDATE sign_ins SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	refused(come_back(client, back), "has expired")
	equal(viewer_of(client), None)


@test
def a_person_who_declines_reads_so():
	client = Client(site.url)
	answer = sign_in(client, "s-ada", code=None, error="access_denied")
	refused(answer, "You did not let Uni tell this site who you are")
	answer = sign_in(client, "s-ada", code=None, error="x", error_description="<b>Pay here</b>")
	refused(answer, "Uni did not confirm the sign-in.")
	lacks(answer.text, "Pay here")
	refused(sign_in(client, "s-ada", code=None), "Uni did not confirm the sign-in.")
	refused(sign_in(client, "s-ada", iss="https://other.example.org"), "did not confirm")


@test
def a_code_that_expired_or_was_used_opens_nothing():
	for name, where, subject in (("uni", provider, "s-ada"), ("hub", hub, "17")):
		client = Client(site.url)
		back = where.authorize(begin(client, name), subject)
		for kept in where.codes.values():
			kept["ends"] = 0
		refused(come_back(client, back), "did not confirm the sign-in")
		back = where.authorize(begin(client, name), subject)
		where.codes.clear()
		refused(come_back(client, back), "did not confirm the sign-in")
		equal(viewer_of(client), None)


def wrong_tokens():
	"""Changes to an ID token that make it wrong, and the reason that the visitor reads."""

	def claim(**values):
		return {"change_claims": lambda claims: claims.update(values)}

	def without(name):
		return {"change_claims": lambda claims: claims.pop(name)}

	def header(sign, **values):
		return {"change_header": lambda one: one.update(values), "signs_with": sign}

	def hmac(text):
		"""Signs with the public key as a shared secret, which naive verifiers accept."""
		import hashlib
		import hmac as library

		key = json.dumps(provider.keys["RS256"].public()).encode()
		return encoded(library.new(key, text, hashlib.sha256).digest())

	def stranger(text):
		return encoded(provider.stranger.sign(text))

	now = time.time()
	algorithm, key = "its algorithm is neither", "no key of the provider has signed it"
	return [
		(header(lambda _: "", alg="none"), "it does not have three parts"),
		(header(lambda _: "AAAA", alg="none"), algorithm),
		(header(lambda _: "AAAA", alg="NONE"), algorithm),
		(header(hmac, alg="HS256"), algorithm),
		(header(stranger), key),
		(header(stranger, kid="stranger"), key),
		(header(lambda _: "AAAA"), key),
		(header(lambda _: encoded(bytes(64)), alg="ES256", kid="es256"), key),
		({"change_header": lambda one: one.update(alg="ES256")}, key),
		({"change_header": lambda one: one.update(crit=["b64"])}, "it needs an unknown extension"),
		(claim(nonce="another nonce"), "it belongs to another sign-in"),
		(without("nonce"), "it belongs to another sign-in"),
		(claim(aud="another site"), "it is for another site"),
		(claim(aud=["another site"]), "it is for another site"),
		(claim(aud=[CLIENT, "another site"]), "it is for another site"),
		(claim(azp="another site"), "it is for another site"),
		(without("aud"), "it is for another site"),
		(claim(iss="https://other.example.org"), "it names another issuer"),
		(claim(exp=now - 600), "it has expired"),
		(claim(exp=str(now + 600)), "it has expired"),
		(without("exp"), "it has expired"),
		(claim(iat=now + 600), "it has expired"),
		(claim(nbf=now + 600), "it has expired"),
		(claim(sub=""), "it names no subject"),
		(claim(sub="s-ada "), "it names no subject"),
		(claim(sub=17), "it names no subject"),
		(claim(sub="x" * 256), "it names no subject"),
		(without("sub"), "it names no subject"),
	]


@test
def a_wrong_id_token_opens_nothing():
	for changes, reason in wrong_tokens():
		provider.reset()
		for name, value in changes.items():
			setattr(provider, name, value)
		client = Client(site.url)
		answer = sign_in(client, "s-ada")
		equal((reason, answer.status), (reason, 403))
		refused(answer, "Uni did not prove who you are.", reason)
		equal(viewer_of(client), None)
	provider.reset()
	provider.change_claims = lambda claims: claims.update(aud=[CLIENT, "other"], azp=CLIENT)
	equal(sign_in(Client(site.url), "s-ada").location, "/")


# ---- a provider that fails ----


@test
def a_provider_that_fails_is_named_and_nothing_hangs():
	def slow(handler):
		time.sleep(2 * TIMEOUT_MS / 1000)
		handler.send(200, {})

	def huge(handler):
		handler.send(200, b'{"x": "' + b"y" * 2_000_000 + b'"}')

	def elsewhere(handler):
		handler.send(302, b"", Location="http://169.254.169.254/")

	for act, sentence in (
		(slow, "did not answer in time"),
		(huge, "sent an answer that is too long"),
		(elsewhere, "answered with a redirect"),
		(lambda handler: handler.send(500, {}), "Try again later."),
		(lambda handler: handler.send(200, b"<html>"), ""),
		(lambda handler: handler.send(200, []), ""),
		(lambda handler: handler.send(200, b"\xff" * 1000), ""),
	):
		for path in ("/.well-known/openid-configuration", "/token", "/jwks"):
			client = Client(site.url)
			back = provider.authorize(begin(client), "s-ada")
			provider.acts[path] = act
			began = time.monotonic()
			answer = come_back(client, back)
			took_s = time.monotonic() - began
			provider.reset()
			equal((answer.status in (403, 502), took_s < TIMEOUT_MS / 1000 + 1), (True, True))
			contains(whole(answer).words(), sentence)
			equal(viewer_of(client), None)


@test
def slow_answers_share_one_limit():
	def slow(normal):
		def act(handler):
			time.sleep(0.7 * TIMEOUT_MS / 1000)
			normal(handler)

		return act

	client = Client(site.url)
	back = provider.authorize(begin(client), "s-ada")
	provider.acts["/token"] = slow(provider.token)
	provider.acts["/jwks"] = slow(provider.jwks)
	refused(come_back(client, back), "did not answer in time", status=502)


@test
def a_slow_provider_leaves_threads_for_other_pages():
	def slow(handler):
		time.sleep(TIMEOUT_MS / 1000)

	provider.acts["/.well-known/openid-configuration"] = slow
	waiting = beside(*[lambda: Client(site.url).get("/sign-in/uni")] * 16)
	time.sleep(0.3)
	began = time.monotonic()
	equal(Client(site.url).fresh("/queue").status, 200)
	equal(Client(site.url).get("/sign-in/hub").status, 303)  # each provider has its own limit
	equal(time.monotonic() - began < TIMEOUT_MS / 1000 / 2, True)
	statuses = sorted(answer.status for answer in waiting())
	equal((statuses.count(502), statuses.count(429)), (2, 14))
	provider.reset()
	sql("DELETE FROM rate_limits")


@test
def doctor_names_a_provider_that_does_not_answer():
	provider.acts["/.well-known/openid-configuration"] = lambda handler: handler.send_error(500)
	contains(
		site.admin("doctor").stdout,
		"warning   Sign-in              Uni failed to answer. Try again later.\n",
	)


@test
def a_provider_that_is_down_is_named():
	dead = Provider("127.0.0.5")
	dead.stop()
	other = start(lines("dead", label="Dead", issuer=dead.url, client_id="x"), UNI)
	try:
		refused(Client(other.url).get("/sign-in/dead"), "Dead cannot be reached", status=502)
		equal(Client(other.url).get("/sign-in/none").status, 404)
	finally:
		other.remove()


@test
def a_provider_leads_podium_to_no_other_host_of_the_network():
	inside = socket.create_server(("127.0.0.9", 0))
	for address in (
		f"https://127.0.0.9:{inside.getsockname()[1]}/token",
		"https://10.0.0.1/token",
		"http://127.0.0.9/token",
		"http://localhost:1/token",
		"file:///etc/passwd",
		"https://user@127.0.0.9/token",
		"gopher://127.0.0.9/",
		"",
		17,
	):
		for name in ("token_endpoint", "jwks_uri"):
			client = Client(site.url)
			back = provider.authorize(begin(client), "s-ada")
			provider.change_discovery = lambda one: one.update({name: address})
			answer = come_back(client, back)
			provider.reset()
			equal((address, answer.status), (address, 502))
			equal(viewer_of(client), None)
	equal(select.select([inside], [], [], 0)[0], [])  # nobody connected
	inside.close()
	provider.change_discovery = lambda one: one.update(issuer="https://other.example.org")
	refused(Client(site.url).get("/sign-in/uni"), "does not say how to sign in", status=502)
	provider.change_discovery = lambda one: one.update(authorization_endpoint="javascript:alert(1)")
	refused(Client(site.url).get("/sign-in/uni"), "does not begin with https://", status=502)
	provider.reset()


# ---- secrets ----


@test
def secrets_are_in_no_log_no_page_and_no_table():
	client = Client(site.url)
	back = provider.authorize(begin(client), "s-ada")
	code = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"][0]
	come_back(client, back)
	logs = "".join(
		path.read_text(errors="replace")
		for path in pathlib.Path(site.var).rglob("*.log")
		if path.is_file()
	)
	contains(logs, "gave no token: status 400, error invalid_grant")
	contains(logs, "/sign-in/uni/callback")
	pages = client.get("/account/identities").text + client.get("/account/export").text
	audit = str(sql("SELECT * FROM audit_log"))
	for secret in (SECRET, urllib.parse.quote(SECRET), code):
		for text in (logs, pages, audit):
			lacks(text, secret)


# ---- a real provider ----


@test
def glewlwyd_signs_people_in():
	if not glewlwyd.is_installed():
		raise Skip("there is no glewlwyd")
	real = glewlwyd.Glewlwyd()
	secret = {"client_id": glewlwyd.CLIENT, "client_secret": glewlwyd.SECRET}
	other = start(lines("real", label="Glewlwyd", issuer=real.issuer, **secret))
	try:
		real.add_client(f"{other.url}/sign-in/real/callback")
		real.add_person("grace", name="Grace Hopper", email="grace@uni.example")
		real.add_person("linus", name="Linus")
		first, again, stranger = (Client(other.url) for _ in range(3))
		equal(come_back(first, real.authorize(begin(first, "real"), "grace")).location, "/sign-in")
		contains(whole(first.get("/sign-in")).words(), "Glewlwyd")
		done = first.post("/sign-in", [("action", "create"), ("name", "grace")])
		equal((done.status, viewer_of(first)), (303, "grace"))
		equal(come_back(again, real.authorize(begin(again, "real"), "grace")).location, "/")
		equal(viewer_of(again), "grace")
		back = real.authorize(begin(stranger, "real"), "linus")
		equal(come_back(stranger, back).location, "/sign-in")
		refused(come_back(stranger, back), "was used")
		used = real.authorize(begin(stranger, "real"), "linus")
		code = urllib.parse.parse_qs(urllib.parse.urlsplit(used).query)["code"][0]
		equal(come_back(stranger, used).location, "/sign-in")
		state = urllib.parse.parse_qs(urllib.parse.urlsplit(begin(stranger, "real")).query)["state"]
		replayed = urllib.parse.urlencode({"code": code, "state": state[0]})
		refused(stranger.get(f"/sign-in/real/callback?{replayed}"), "Glewlwyd")
		contains(other.admin("doctor").stdout, "Glewlwyd answers with its endpoints")
	finally:
		other.remove()
		real.remove()


# ---- who may come in ----


def with_site(body, *providers, **more):
	other = start(*providers, **more)
	try:
		body(other)
	finally:
		other.remove()


@test
def the_domains_of_a_provider_need_a_verified_address():
	people = {
		"d1": {"email": "a@uni.example.org", "email_verified": True},
		"d2": {"email": "a@uni.example.org", "email_verified": False},
		"d3": {"email": "a@uni.example.org", "email_verified": "true"},
		"d4": {"email": "a@uni.example.org"},
		"d5": {"email": "a@evil-uni.example.org", "email_verified": True},
		"d6": {"email": "a@x.uni.example.org", "email_verified": True},
		"d7": {"email": "a@uni.example.org@evil.example.org", "email_verified": True},
		"d8": {"email": "A@UNI.EXAMPLE.ORG", "email_verified": True},
		"d9": {},
	}

	def body(other):
		for subject, claims in people.items():
			answer = sign_in(Client(other.url), person(subject, **claims))
			may = subject in ("d1", "d8")
			equal((subject, answer.location), (subject, "/sign-in" if may else None))
			if not may:
				refused(answer, "has no verified e-mail address in a domain that may sign in here")
		client = Client(other.url)
		equal(create(client, "d1", "domain-user").status, 303)
		person("d1", email="a@gone.example.org", email_verified=True)
		refused(sign_in(Client(other.url), "d1"), "has no verified e-mail address")

	with_site(body, UNI, "provider.uni.domains = other.example.org, uni.example.org\n")


@test
def the_organisations_of_github_need_an_active_membership():
	def body(other):
		for number, organisations, may in (
			("21", {"kernels": "active"}, True),
			("22", {"second": "active"}, True),
			("23", {"kernels": "pending"}, False),
			("24", {"others": "active"}, False),
			("25", {}, False),
		):
			person(number, hub, login=f"user{number}", organisations=organisations)
			answer = sign_in(Client(other.url), number, "hub", hub)
			equal((number, answer.location), (number, "/sign-in" if may else None))
			if not may:
				refused(answer, "belongs to no organisation that may sign in here")

	with_site(body, HUB, "provider.hub.organisations = kernels, second\n")


@test
def registration_by_domain_needs_a_verified_address_of_a_provider():
	def body(other):
		client = Client(other.url)
		page = whole(client.get("/register"))
		lacks(page.text, 'type="password"')
		contains(page.words(), "a verified e-mail address in one of these domains: lab.example.org")
		fields = [("name", "sneak"), ("password", PASSWORD)]
		equal(client.post("/register", fields, form="/login").status, 403)
		for number, verified in (("31", False), ("32", True)):
			emails = [
				{"email": "x@lab.example.org", "verified": verified},
				{"email": "x@example.org", "verified": True},
			]
			person(number, hub, login=f"user{number}", emails=emails)
			client = Client(other.url)
			status = create(client, number, f"user{number}", hub, "hub").status
			equal((verified, status), (verified, 303 if verified else 403))
		equal(count("users", "name IN ('sneak', 'user31')", other), 0)

	with_site(
		body, HUB, PODIUM_REGISTRATION="domain", PODIUM_REGISTRATION_DOMAINS="lab.example.org"
	)


@test
def a_closed_site_creates_no_account():
	def body(other):
		client = Client(other.url)
		contains(whole(client.get("/register")).words(), "This site takes no registrations.")
		lacks(client.get("/login").text, "Register instead")
		fields = [("name", "sneak"), ("password", PASSWORD)]
		equal(client.post("/register", fields, form="/login").status, 403)
		equal(create(client, person("s-closed"), "sneak").status, 403)
		contains(whole(client.get("/sign-in")).words(), "You cannot create an account here.")
		equal(count("users", "name = 'sneak'", other), 0)

	with_site(body, UNI, PODIUM_REGISTRATION="closed")


@test
def a_site_by_invitation_needs_a_code_that_works():
	def body(other):
		sql = other.sql
		sql(
			"INSERT INTO leaderboards (name, visibility, secret_seed) VALUES ('club', 'closed', "
			"1);"
			"INSERT INTO invites (code, note, most_uses) VALUES ('bcdfghjkmnpqrstvwxyz', '', 2);"
			"INSERT INTO invite_leaderboards (invite_id, leaderboard_id) SELECT i.id, l.id FROM "
			"invites i, leaderboards l WHERE l.name = 'club'"
		)
		client = Client(other.url)
		fields = [("name", "member"), ("password", PASSWORD)]
		refused(client.post("/register", fields), "needs an invite code", status=422)
		answer = client.post("/register", [*fields, ("code", "x" * 20)])
		equal((answer.status, count("users", "name = 'member'", other)), (422, 0))
		code = ("code", "bcdfghjkmnpqrstvwxyz")
		equal(client.post("/register", [*fields, code]).status, 303)
		equal(count("leaderboard_members", at=other), 1)
		client, subject = Client(other.url), person("s-invited")
		equal(create(client, subject, "guest").status, 422)
		equal(count("users", "name = 'guest'", other), 0)
		equal(create(client, subject, "guest", code=code[1]).status, 303)
		equal(create(Client(other.url), person("s-third"), "third", code=code[1]).status, 422)

	with_site(body, UNI, PODIUM_REGISTRATION="invitation")


@test
def a_site_without_passwords_takes_none():
	def body(other):
		client, subject = Client(other.url), person("s-nopass", preferred_username="nora")
		for page in ("/login", "/register"):
			lacks(whole(client.get(page)).text, 'type="password"')
		form = [("name", "nora"), ("password", PASSWORD)]
		equal(create(client, subject, "nora").status, 303)
		contains(whole(client.get("/account")).words(), "This site has no passwords.")
		change = [("password", PASSWORD), ("again", PASSWORD)]
		token = client.csrf("/account/identities")
		equal(client.post("/account/password", change, csrf=token).status, 403)
		sign_in(Client(other.url), person("s-other"))
		stranger = Client(other.url)
		sign_in(stranger, "s-other")
		lacks(stranger.get("/sign-in").text, 'type="password"')
		equal(stranger.post("/sign-in", [("action", "link"), *form]).status, 403)
		token = stranger.csrf("/sign-in")
		for path in ("/login", "/register"):
			equal((path, stranger.post(path, form, csrf=token).status), (path, 403))
		unlink = [("identity", other.value("SELECT id FROM identities")), ("confirm", "yes")]
		refused(client.post("/account/identities", unlink), "Link another account", status=409)

	with_site(body, UNI, PODIUM_PASSWORDS="0")


# ---- limits on logins ----


def try_password(client, name, password="wrong one"):
	return client.post("/login", [("name", name), ("password", password)]).status


@test
def strangers_do_not_lock_the_owner_out():
	owner = Client(site.url)
	equal(try_password(owner, "carol", PASSWORD), 303)
	equal(owner.post("/logout", form="/account").status, 303)
	stranger = Client(site.url)
	equal([try_password(stranger, "carol") for _ in range(11)], [422] * 10 + [429])
	equal(try_password(stranger, "carol", PASSWORD), 429)
	equal(try_password(owner, "carol", PASSWORD), 303)
	# The cookie is of this account and this site, and it does not allow more attempts than a name.
	owner.post("/logout", form="/account")
	equal([try_password(owner, "carol") for _ in range(11)], [422] * 10 + [429])
	forged, known = Client(site.url), owner.cookies["podium-known"]
	# The number of another browser, which the site has not signed.
	forged.cookies = {**owner.cookies, "podium-known": known[:12] + "AAA" + known[15:]}
	equal(try_password(forged, "carol", PASSWORD), 429)
	sql("DELETE FROM rate_limits")
	equal([try_password(stranger, "dora") for _ in range(10)], [422] * 10)
	equal(try_password(owner, "dora", PASSWORD), 429)
	sql("DELETE FROM rate_limits")


@test
def an_address_counts_names_and_not_attempts():
	names = [f"nobody-{number}" for number in range(31)]
	clients = Client(site.url)
	for name in names[:30]:
		equal([try_password(clients, name) for _ in range(2)], [422, 422])
	equal([try_password(clients, names[30]) for _ in range(3)], [429] * 3)
	equal(try_password(clients, names[0]), 422)
	sql("DELETE FROM rate_limits")


def record(kind, content=b""):
	return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content


def from_address(address, path, fields=None, cookie=""):
	"""Sends a request to podium-web itself, as nginx forwards one from this address. Returns the
	status."""
	body = urllib.parse.urlencode(fields or {}).encode()
	parameters = {
		"REQUEST_METHOD": "POST" if fields else "GET",
		"REQUEST_URI": path,
		"REMOTE_ADDR": address,
		"REQUEST_ID": "0" * 32,
		"HTTP_HOST": "localhost",
		"HTTP_COOKIE": cookie,
		"CONTENT_TYPE": "application/x-www-form-urlencoded",
		"CONTENT_LENGTH": str(len(body)),
	}
	packed = b"".join(
		struct.pack("!II", len(name) | 1 << 31, len(value) | 1 << 31) + (name + value).encode()
		for name, value in parameters.items()
	)
	records = (record(1, struct.pack("!HB5x", 1, 0)), record(4, packed), record(4))
	with socket.socket(socket.AF_UNIX) as connection:
		connection.settimeout(60)
		connection.connect(str(site.var / "run" / "web.sock"))
		connection.sendall(b"".join(records) + (record(5, body) if body else b"") + record(5))
		answer = b"".join(iter(lambda: connection.recv(65536), b""))
	return int(re.search(rb"Status: (\d+)", answer)[1])


@test
def limits_by_address_count_the_network_of_an_ipv6_client():
	for host in ("2001:db8::1", "2001:db8::2:2", "2001:db8:0:1::1"):
		equal(from_address(host, "/sign-in/uni"), 303)
	counted = "FROM rate_limits WHERE subject LIKE 'sign in from 2001:%' ORDER BY subject"
	equal(
		sql(f"SELECT subject, hits {counted}"),
		[["sign in from 2001:0db8:0000:0000::", "2"], ["sign in from 2001:0db8:0000:0001::", "1"]],
	)
	# IPv4 clients of a socket for both
	for host in ("::ffff:203.0.113.7", "::ffff:203.0.113.8"):
		equal(from_address(host, "/sign-in/uni"), 303)
	subjects = sql("SELECT subject FROM rate_limits WHERE subject LIKE '%::ffff:203%'")
	equal(len(subjects), 2)
	visitor = Client(site.url)
	token = visitor.csrf("/login")
	cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())

	def try_from(host, name):
		fields = {"name": name, "password": "wrong one", "csrf": token}
		return from_address(host, "/login", fields, cookie)

	statuses = [try_from(f"2001:db8::{number + 1:x}", f"no-{number}") for number in range(31)]
	equal(statuses, 30 * [422] + [429])
	equal(try_from("2001:db8:0:1::1", "no-30"), 422)
	# The pair of name and network counts once.
	equal(try_from("2001:db8:0:1::2", "no-30"), 422)
	equal(
		sql("SELECT hits FROM rate_limits WHERE subject = 'login from 2001:0db8:0000:0001::'"),
		[["1"]],
	)
	sql("DELETE FROM rate_limits")


@test
def changes_of_a_password_have_their_own_counter():
	owner, stranger = Client(site.url), Client(site.url)
	equal(try_password(owner, "carol", PASSWORD), 303)
	for _ in range(11):
		try_password(stranger, "carol")
	new = [("password", "another one"), ("again", "another one")]
	change = [("current", PASSWORD), *new]
	equal(owner.post("/account/password", change, form="/account").status, 303)
	wrong = [("current", "wrong one"), ("password", PASSWORD), ("again", PASSWORD)]
	statuses = [owner.post("/account/password", wrong, form="/account").status for _ in range(11)]
	equal(statuses, [422] * 10 + [429])
	sql("DELETE FROM rate_limits")


if __name__ == "__main__":
	try:
		status = run(before=lambda: (provider.reset(), hub.reset()))
	finally:
		site.remove()
	sys.exit(status)
