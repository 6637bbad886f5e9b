#!/usr/bin/env python3
"""Two web hosts behind the load balancer of docs/web-hosts.md. A visitor may reach either host with
each request, and each host knows what the other knows about the visitor."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import free_port  # noqa: E402
from programs import Program, make_token  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402
from web_hosts import WebHost, end_web_hosts, start_front  # noqa: E402
from workers import admin, close, load_task, sql, until  # noqa: E402

PASSWORD = "a long password"


def visitor(url, like=None):
	"""A client with the current cookies of another one."""
	made = Client(url)
	if like:
		made.cookies = like.cookies
	return made


def member(name):
	"""A client that is signed in at the first host, and one with the same cookies at the second."""
	here = Client(one.url)
	here.register(name)
	return here, visitor(two.url, here)


front = f"http://127.0.0.1:{free_port()}"
one = two = None


@test
def a_login_at_one_host_works_at_the_other():
	here, there = member("ada")
	contains(there.get("/account").words(), "ada")
	page = Page()
	page.feed(here.get("/leaderboard/small/submit").text)
	answer = there.post(
		"/leaderboard/small/submit",
		[("code", "def custom_kernel(data):\n    return data\n"), ("mode", "test"), ("gpu", "CPU")],
		csrf=page.csrf,
	)
	equal(answer.status, 303)
	equal((here.get(answer.location).status, there.get(answer.location).status), (200, 200))
	# A host accepts the form token of a page from the other host even if the visitor has no
	# session.
	stranger = Client(one.url)
	page = Page()
	page.feed(stranger.get("/login").text)
	equal(
		visitor(two.url, stranger)
		.post("/login", [("name", "ada"), ("password", PASSWORD)], csrf=page.csrf)
		.status,
		303,
	)
	contains(stranger.get("/account").words(), "ada")


@test
def both_hosts_refuse_a_form_with_another_sessions_token():
	here, there = member("bob")
	other = Client(one.url)
	for browser in (here, there):
		equal(browser.post("/logout", csrf=other.csrf("/login")).status, 403)


@test
def a_logout_at_one_host_ends_the_session_at_the_other():
	here, there = member("carol")
	kept = Client(two.url)
	kept.cookies = dict(here.cookies)
	equal(kept.get("/account").status, 200)
	equal(here.post("/logout", form="/account").status, 303)
	equal(kept.get("/account").status, 303)


@test
def a_ban_at_one_host_immediately_ends_session_and_tokens_at_the_other():
	here, there = member("mallory")
	token = make_token(here, "mine", "read")
	equal(Program(two.url, token).ask("GET", "/api/v1/me").status, 200)
	boss = Client(one.url)
	equal(boss.post("/login", [("name", "boss"), ("password", PASSWORD)]).status, 303)
	equal(there.get("/account").status, 200)
	equal(boss.post("/admin/users/mallory/ban", [("name", "mallory")]).status, 303)
	equal(there.get("/account").status, 303)
	equal(Program(two.url, token).ask("GET", "/api/v1/me").status, 401)


@test
def wrong_passwords_at_both_hosts_count_together():
	member("dave")
	statuses = [
		Client((one, two)[number % 2].url)
		.post("/login", [("name", "dave"), ("password", "wrong one")])
		.status
		for number in range(11)
	]
	equal(statuses, [422] * 10 + [429])
	equal(Client(one.url).post("/login", [("name", "dave"), ("password", PASSWORD)]).status, 429)


@test
def requests_of_a_token_at_both_hosts_count_together_within_a_second():
	here, _ = member("eve")
	token = make_token(here, "mine", "read")
	if time.time() % 60 > 30:
		time.sleep(60 - time.time() % 60)  # stay within a minute: the next one resets the counts
	equal(
		[
			Program(host.url, token).ask("GET", "/api/v1/me").status
			for host in [one] * 25 + [two] * 2
		],
		[200] * 27,
	)
	time.sleep(2)
	Program(two.url, token).ask(
		"GET", "/api/v1/me"
	)  # a host learns the other's count when it stores its own
	time.sleep(2)
	statuses = [Program(two.url, token).ask("GET", "/api/v1/me").status for _ in range(25)]
	assert statuses.count(200) == 12 and statuses[-1] == 429, statuses
	time.sleep(2)
	Program(one.url, token).ask("GET", "/api/v1/me")
	time.sleep(2)
	equal(Program(one.url, token).ask("GET", "/api/v1/me").status, 429)


@test
def an_idempotency_key_makes_one_submission_across_both_hosts():
	here, _ = member("frank")
	token = make_token(here, "mine", "read", "submit")
	send = lambda host: Program(host.url, token).ask(
		"POST",
		"/api/v1/leaderboards/small/submissions",
		{"code": "pass\n", "mode": "test"},
		{"Idempotency-Key": "sent-twice"},
	)
	first, again = send(one), send(two)
	equal(
		(first.status, again.status, again.json.get("id")),
		(201, 201, first.json.get("id", first.text)),
	)
	equal(again.headers["Idempotency-Replayed"], "true")


@test
def a_terminal_can_sign_in_through_either_host():
	here, there = member("grace")
	asked = (
		Program(one.url)
		.ask("POST", "/api/v1/device/code", {"name": "my box", "scopes": ["read"]})
		.json
	)
	page = there.get("/device?code=" + asked["user_code"])
	equal(page.status, 200)
	until(lambda: sql("SELECT COUNT(*) FROM terminals") == [["1"]])
	waits = Program(two.url).ask(
		"POST", "/api/v1/device/token", {"device_code": asked["device_code"]}
	)
	contains(waits.text, "authorization_pending")


@test
def an_announcement_at_one_host_appears_at_the_other_within_two_seconds():
	boss = Client(one.url)
	boss.post("/login", [("name", "boss"), ("password", PASSWORD)])
	lacks(Client(two.url).get("/").text, "The hall closes at six.")
	equal(
		boss.post(
			"/admin/announcements",
			[
				("action", "make"),
				("confirm", "yes"),
				("text", "The hall closes at six."),
				("leaderboard", ""),
				("from", ""),
				("until", ""),
			],
			form="/account",
		).status,
		303,
	)
	time.sleep(2.1)
	contains(Client(two.url).get("/").text, "The hall closes at six.")


@test
def visitors_of_the_front_reach_both_under_their_own_address():
	browser = Client(front)
	equal(browser.post("/login", [("name", "ada"), ("password", PASSWORD)]).status, 303)
	for _ in range(6):
		equal(browser.get("/account").status, 200)
	for host in (one, two):
		until(lambda: '"path":"/account"' in (host.folder / "log" / "nginx-access.log").read_text())
	equal(browser.request("GET", "/account", headers={"X-Forwarded-For": "192.0.2.9"}).status, 200)
	browser.post(
		"/login",
		[("name", "nobody"), ("password", "wrong")],
		headers={"X-Forwarded-For": "192.0.2.9"},
	)
	equal(sql("SELECT COUNT(*) FROM rate_limits WHERE subject LIKE '%192.0.2.9%'"), [["0"]])


@test
def the_site_stays_up_while_one_host_is_stopped_and_brought_back():
	browser = Client(front)
	equal(browser.post("/login", [("name", "ada"), ("password", PASSWORD)]).status, 303)
	one.web.terminate()
	statuses = []
	end = time.time() + 1.5
	while time.time() < end:
		statuses.append(browser.get("/account").status)
		time.sleep(0.02)
	equal(one.web.wait(30), 0)
	one.start_web()
	statuses += [browser.get("/account").status for _ in range(10)]
	equal(set(statuses), {200})


code = 1
try:
	admin("migrate")
	load_task()
	one, two = (
		WebHost("one", front, PODIUM_API_REQUESTS_PER_MINUTE="40"),
		WebHost("two", front, PODIUM_API_REQUESTS_PER_MINUTE="40"),
	)
	start_front(front, (one, two))
	Client(one.url).post("/register", [("name", "boss"), ("password", PASSWORD)])
	sql("UPDATE users SET role = 'admin' WHERE name = 'boss'")
	code = run()
finally:
	end_web_hosts()
	close()
sys.exit(code)
