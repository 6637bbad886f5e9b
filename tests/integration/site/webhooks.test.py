#!/usr/bin/env python3
"""Webhooks: their pages, which events each one gets, how Podium signs, retries and gives up a
delivery, and to which addresses Podium sends nothing.

The receiver is on a loopback address that the settings allow. The suite starts, kills and freezes
its own podium-hooks. A stand-in for podium-run reports what each submission tells it to."""

import base64
import hashlib
import hmac
import html
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from receiver import Receiver, after, answer, endless_body, endless_headers  # noqa: E402
from small_task import case, done, make_board, source_of, submit_source, submit_time  # noqa: E402
import tools  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test, until  # noqa: E402

# The podium-hooks that ./run starts notices leaderboards that open and end. It has no senders, so
# that only the suite's own podium-hooks sends.
site = Instance(
	pretends=True,
	PODIUM_WEBHOOK_SENDERS="0",
	PODIUM_WEBHOOK_ALLOWED="127.0.0.2/32 hook.invalid",
	PODIUM_WEBHOOK_RETRY_MS="20",
	PODIUM_WEBHOOK_TIMEOUT_MS="2000",
)
sql, value = site.sql, site.value
PASSWORD = "a long password"
ada, admin, carl, dora = (Client(site.url) for _ in range(4))
receiver = Receiver()
hooks, secrets, senders = {}, {}, []


def wait_for(statement, expected):
	until(lambda: sql(statement) == expected, explain=lambda: (statement, sql(statement)))


def start_sender(**settings):
	environment = {
		**site.environment,
		"PODIUM_PUBLIC_URL": site.url,
		"PODIUM_WEBHOOK_SENDERS": "3",
		"http_proxy": "http://127.0.0.1:9",
		"PODIUM_POLL_MS": "50",
		**settings,
	}
	log = open(site.var / "log" / "sender.log", "ab")
	sender = subprocess.Popen(
		[ROOT / site.environment["B"] / "podium-hooks"],
		env=environment,
		stdin=subprocess.DEVNULL,
		stderr=log,
		stdout=log,
	)
	senders.append(sender)
	return sender


def stop_senders():
	while senders:
		sender = senders.pop()
		sender.send_signal(signal.SIGTERM)
		equal(sender.wait(60), 0)


def fields(name, address, form="json", events=("record", "ranked", "job", "opened", "ended")):
	return [
		("name", name),
		("address", address),
		("form", form),
		*(("event", event) for event in events),
	]


def make_hook(client, page, name, path=None, **more):
	"""Creates a webhook. The path of its address is /NAME unless `path` is given."""
	made = done(client.post(page, fields(name, receiver.url + (path or f"/{name}"), **more)))
	hooks[name] = int(made.location.rsplit("/", 1)[1])
	page = client.get(made.location)
	secrets[name] = secret_on(page)
	return page


def secret_on(page):
	"""The secret that the page shows, or None."""
	found = re.search(r"whsec_[A-Za-z0-9+/]{43}=", html.unescape(page.text))
	return found and found[0]


def act(client, name, action, **more):
	return client.post(f"/admin/hooks/{hooks[name]}", [("action", action), *more.items()])


def state_of(name):
	return value(f"SELECT state FROM webhooks WHERE id = {hooks[name]}")


def deliveries(name, columns="e.event, d.state, d.attempts"):
	return sql(
		f"SELECT {columns} FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id "
		f"WHERE d.webhook_id = {hooks[name]} ORDER BY e.id"
	)


def wait_until_told(name):
	wait_for(
		"SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'waiting' "
		f"AND webhook_id = {hooks[name]}",
		[["0"]],
	)


def wait_until_open(board, is_open):
	"""Waits until podium-hooks has noticed that the leaderboard opened or closed."""
	wait_for(
		"SELECT t.is_open FROM webhook_told t JOIN leaderboards l ON l.id = t.leaderboard_id "
		f"WHERE l.name = '{board}'",
		[[str(is_open)]],
	)


def remove(name):
	done(act(admin, name, "delete", confirm=name))


@test
def the_fixtures_are_created():
	for client, name in ((ada, "a_d_a"), (admin, "root-of-all"), (carl, "carl"), (dora, "dora")):
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; "
		"UPDATE users SET role = 'creator' WHERE name IN ('carl', 'dora')"
	)
	make_board(carl, "small")
	wait_until_open("small", 1)
	start_sender()


# ---- making one ----

REFUSED = [
	("", "Give the receiver's address"),
	("example.org/x", "begin with https://"),
	("ftp://example.org/", "begin with https://"),
	("http://example.org/", "begin with https://"),
	("https://example.org:22/", "443 and 8443"),
	("https://ann:secret@example.org/", "Leave name and password out"),
	("https://example.org/#x", "after # is never sent"),
	("https://exämple.org/", "xn--"),
	("https://example.org/a b", "has a space"),
	("https://" + "a" * 1000 + "/", "bytes long; 1000 are allowed"),
	("https://127.0.0.1/", "this host"),
	("http://127.0.0.3/", "begin with https://"),
	("https://2130706433/", "this host"),
	("https://0x7f.1/", "this host"),
	("https://10.1.2.3/", "a private network"),
	("https://169.254.169.254/", "a link-local network"),
	("https://[::1]/", "this host"),
	("https://[::ffff:10.0.0.1]/", "a private network"),
	("https://[64:ff9b::a00:1]/", "a private network"),
	("https://[fe80::1]/", "a link-local network"),
	("https://[fd00::1]/", "a private network"),
	("https://100.64.1.1/", "a provider"),
	("https://", "not a web address"),
]


@test
def a_refused_form_lists_all_its_errors():
	order = [("name", " "), ("address", "ftp://example.org"), ("form", "xml")]
	refused = whole(carl.post("/admin/leaderboard/small/hooks", order))
	equal(refused.status, 422)
	contains(refused.text, "<title>Error: Webhooks of small")
	contains(refused.words(), "Correct these 4 fields first")
	for field in ("name", "address", "form", "event"):
		contains(refused.text, f'<a href="#{field}">')
		contains(refused.text, f'id="{field}-error"')
	contains(refused.text, 'value="ftp://example.org"')


@test
def a_forbidden_address_is_refused_with_a_sentence_and_the_form_keeps_its_input():
	for address, words in REFUSED:
		refused = whole(carl.post("/admin/leaderboard/small/hooks", fields("Mine <b>", address)))
		equal((address, refused.status), (address, 422))
		contains(refused.words(), words)
		contains(refused.text, 'value="Mine &lt;b&gt;"')
	for wrong, words in (
		(
			[
				("name", " "),
				("address", "https://example.org/"),
				("form", "json"),
				("event", "job"),
			],
			"Give the webhook a name",
		),
		(
			[("name", "x"), ("address", "https://example.org/"), ("form", "xml"), ("event", "job")],
			"json or discord",
		),
		(
			[("name", "x"), ("address", "https://example.org/"), ("form", "json")],
			"at least one event",
		),
		(
			[
				("name", "x"),
				("address", "https://example.org/"),
				("form", "json"),
				("event", "gossip"),
			],
			"at least one event",
		),
	):
		refused = whole(carl.post("/admin/leaderboard/small/hooks", wrong))
		equal(refused.status, 422)
		contains(refused.words(), words)
	equal(value("SELECT COUNT(*) FROM webhooks"), "0")


@test
def a_webhooks_secret_is_shown_once_and_its_address_never():
	page = whole(
		make_hook(carl, "/admin/leaderboard/small/hooks", "mine", path="/mine?key=hidden-word")
	)
	contains(page.words(), "Podium shows the secret only now.")
	again = whole(carl.get(f"/admin/hooks/{hooks['mine']}"))
	for text in (
		again.text,
		carl.get("/admin/leaderboard/small/hooks").text,
		admin.get("/admin/audit").text,
	):
		lacks(text, secrets["mine"])
		lacks(text, "hidden-word")
	contains(again.text, receiver.url + "/…")
	carl.cookies["podium-new-webhook"] = "whsec_" + "x" * 43
	lacks(carl.get(f"/admin/hooks/{hooks['mine']}").text, "whsec_")
	carl.cookies.pop("podium-new-webhook", None)
	equal(
		sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'webhook.create'"),
		[
			[
				"carl",
				"small",
				f"mine: record, ranked, job, opened, ended to {receiver.url}/…, as json",
			]
		],
	)


@test
def only_the_leaderboards_creator_and_admins_find_a_webhook():
	for client, status in ((dora, 404), (ada, 403), (Client(site.url), 303), (admin, 200)):
		equal(client.get(f"/admin/hooks/{hooks['mine']}").status, status)
	before = sql("SELECT * FROM webhooks")
	for action in ("test", "pause", "change", "rotate", "delete"):
		equal(
			dora.post(
				f"/admin/hooks/{hooks['mine']}",
				[("action", action), ("confirm", "yes"), ("name", "hers"), ("hours", "24")],
				form="/account",
			).status,
			404,
		)
	equal(carl.get("/admin/hooks").status, 403)
	equal(sql("SELECT * FROM webhooks"), before)


# ---- deliveries ----


def check_signature(name, headers, body):
	sent = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["Podium-Signature"])
	right = hmac.new(
		secrets[name].encode(), f"{sent[1]}.".encode() + body, hashlib.sha256
	).hexdigest()
	equal(sent[2], right)
	assert abs(int(sent[1]) - time.time()) < 600, sent[1]


@test
def a_test_arrives_signed_and_the_page_says_so():
	done(act(carl, "mine", "test"))
	path, headers, body = receiver.wait("/mine?key=hidden-word")[0]
	check_signature("mine", headers, body)
	told = json.loads(body)
	equal(
		(headers["Content-Type"], headers["Podium-Event"], headers["Podium-Event-Id"]),
		("application/json", "test", str(told["id"])),
	)
	equal(
		(told["version"], told["event"], told["webhook"], told["site"]),
		(1, "test", "mine", site.url),
	)
	equal(
		told["data"],
		{"leaderboard": "small", "webhook": "mine", "url": f"{site.url}/leaderboard/small"},
	)
	wait_until_told("mine")
	page = whole(carl.get(f"/admin/hooks/{hooks['mine']}"))
	contains(page.words(), "The receiver answered 204.")
	contains(page.words(), "delivered")


def standard_webhooks():
	try:
		sys.path.append(str(tools.install("clients")))
	except tools.Missing as reason:
		raise Skip(str(reason))
	from standardwebhooks import webhooks

	return webhooks


@test
def the_library_of_the_standard_webhooks_specification_accepts_a_delivery():
	library = standard_webhooks()
	_, headers, body = receiver.at("/mine?key=hidden-word")[0]
	key = library.Webhook(secrets["mine"])
	equal(key.verify(body, dict(headers))["event"], "test")
	equal(headers["webhook-id"], f"event_{headers['Podium-Event-Id']}")
	for changed in (
		(key, body + b" ", headers),
		(key, body, {**headers, "webhook-id": "event_0"}),
		(key, body, {**headers, "webhook-timestamp": str(int(time.time()) - 1)}),
		(library.Webhook("whsec_" + base64.b64encode(bytes(32)).decode()), body, headers),
	):
		equal(is_accepted(library, *changed), False)


def is_accepted(library, key, body, headers):
	try:
		key.verify(body, dict(headers))
	except library.WebhookVerificationError:
		return False
	return True


def accepted_by(name, secret):
	"""Sends a test. Returns its headers, and whether a receiver with this secret accepts each
	signature: the standard one by the library, Podium's own as old receivers compute it."""
	count = len(receiver.at(f"/{name}"))
	done(act(carl, name, "test"))
	_, headers, body = receiver.wait(f"/{name}", count + 1)[-1]
	library = standard_webhooks()
	sent = dict(part.split("=", 1) for part in headers["Podium-Signature"].split(","))
	text = f"{sent['t']}.".encode() + body
	own = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
	wait_until_told(name)
	return headers, (
		is_accepted(library, library.Webhook(secret), body, headers),
		own == sent["v1"],
	)


@test
def a_replaced_secret_signs_beside_the_new_one_until_it_expires():
	make_hook(carl, "/admin/leaderboard/small/hooks", "turned")
	old = secrets["turned"]
	page = carl.get(done(act(carl, "turned", "rotate", hours="24")).location)
	new = secret_on(page)
	equal((new is not None, new != old), (True, True))
	contains(page.words(), "deliveries carry a signature by the old secret too")
	for text in (carl.get(f"/admin/hooks/{hooks['turned']}").text, admin.get("/admin/audit").text):
		for secret in (old, new):
			lacks(html.unescape(text), secret)
	headers, accepted = accepted_by("turned", old)
	equal((accepted, len(headers["webhook-signature"].split())), ((True, True), 2))
	equal(accepted_by("turned", new)[1][0], True)
	# After its time, the old secret signs nothing, and podium-hooks deletes it.
	sql(
		"UPDATE webhooks SET old_secret_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND "
		f"WHERE id = {hooks['turned']}"
	)
	headers, accepted = accepted_by("turned", old)
	equal((accepted, len(headers["webhook-signature"].split())), ((False, False), 1))
	equal(accepted_by("turned", new)[1], (True, True))
	lacks(carl.get(f"/admin/hooks/{hooks['turned']}").words(), "by the old secret too")
	stop_senders()
	start_sender()
	wait_for(f"SELECT old_secret IS NULL FROM webhooks WHERE id = {hooks['turned']}", [["1"]])
	log = (site.var / "log" / "sender.log").read_text()
	for secret in (old, new):
		lacks(log, secret)
	remove("turned")


@test
def a_secret_can_be_replaced_immediately_and_only_for_a_known_time():
	make_hook(carl, "/admin/leaderboard/small/hooks", "leaked")
	old = secrets["leaked"]
	for hours in ("", "-1", "x", "169", "99999999999999999999"):
		refused = whole(act(carl, "leaked", "rotate", hours=hours))
		equal(refused.status, 422)
		contains(refused.words(), "0 to 168 hours")
	done(act(carl, "leaked", "rotate", hours="0"))
	equal(accepted_by("leaked", old)[1], (False, False))
	# A secret from before the specification is base64url. Its bytes are the key.
	before = "whsec_" + base64.urlsafe_b64encode(b"\xfb\xff" * 16).decode().rstrip("=")
	sql(f"UPDATE webhooks SET secret = '{before}' WHERE id = {hooks['leaked']}")
	headers, _ = accepted_by("leaked", old)
	body = receiver.at("/leaked")[-1][2]
	library = standard_webhooks()
	same = library.Webhook("whsec_" + base64.b64encode(b"\xfb\xff" * 16).decode())
	equal(is_accepted(library, same, body, headers), True)
	remove("leaked")


@test
def a_ranked_result_is_sent_as_job_result_and_record():
	make_hook(carl, "/admin/leaderboard/small/hooks", "chat", form="discord")
	make_hook(admin, "/admin/hooks", "all", events=["record"])
	first = submit_time(ada, 3000.0)
	wait_until_told("mine")
	told = {one["event"]: one for one in receiver.bodies("/mine?key=hidden-word", 4)[1:]}
	url = f"{site.url}/submission/{first}"
	equal(
		told["job"]["data"],
		{
			"leaderboard": "small",
			"submission": first,
			"user": "a_d_a",
			"mode": "ranked",
			"gpu": "H200",
			"verdict": "passed",
			"practice": False,
			"url": url,
		},
	)
	equal(
		told["ranked"]["data"],
		{
			"leaderboard": "small",
			"submission": first,
			"user": "a_d_a",
			"gpu": "H200",
			"score_ns": 3000.0,
			"score_err_ns": 10.0,
			"floor_ns": None,
			"results": 1,
			"rank": 1,
			"tie": False,
			"rank_before": None,
			"best_before_ns": None,
			"is_personal_best": True,
			"url": url,
		},
	)
	equal(
		told["record"]["data"],
		{
			"leaderboard": "small",
			"submission": first,
			"user": "a_d_a",
			"gpu": "H200",
			"score_ns": 3000.0,
			"score_err_ns": 10.0,
			"floor_ns": None,
			"results": 1,
			"user_before": None,
			"score_before_ns": None,
			"score_err_before_ns": None,
			"url": url,
		},
	)
	second = submit_time(admin, 2000.0)
	slower = submit_time(ada, 3500.0)
	for name in ("mine", "all", "chat"):
		wait_until_told(name)
	records = receiver.bodies("/all", 2)
	equal(
		[
			[
				one["data"][key]
				for key in ("submission", "user_before", "score_before_ns", "score_err_before_ns")
			]
			for one in records
		],
		[[first, None, None, None], [second, "a_d_a", 3000.0, 10.0]],
	)
	last = [
		one["data"] for one in receiver.bodies("/mine?key=hidden-word") if one["event"] == "ranked"
	][-1]
	equal((last["submission"], last["is_personal_best"], last["rank"]), (slower, False, 2))
	equal(
		len({one["id"] for one in receiver.bodies("/mine?key=hidden-word")}),
		len(receiver.at("/mine?key=hidden-word")),
	)


@test
def a_discord_channel_gets_an_embed_that_mentions_nobody_and_formats_nothing():
	for path, headers, body in receiver.wait("/chat", 8):
		check_signature("chat", headers, body)
		told = json.loads(body)
		equal(set(told), {"content", "allowed_mentions", "embeds"})
		equal(told["allowed_mentions"], {"parse": []})
		embed = told["embeds"][0]
		equal(set(embed), {"title", "description", "url", "color", "timestamp"})
		lacks(embed["description"], "a_d_a")  # unescaped underscores would be italics
		assert len(embed["title"]) <= 256 and len(embed["description"]) <= 4096
	titles = {
		one["embeds"][0]["title"]: one["embeds"][0]["description"]
		for one in receiver.bodies("/chat")
	}
	contains(
		titles["New record on small, H200"],
		"**root\\-of\\-all**: 2.000 µs, before it 3.000 µs by a\\_d\\_a",
	)


@test
def a_resubmission_that_makes_its_files_mean_the_fastest_is_sent_like_a_first_result():
	source = source_of(case(1800.0))
	earlier = submit_source(ada, source)
	sql(f"UPDATE jobs SET score_ns = 2100 WHERE submission_id = {earlier}")
	site.manage("ranking", "rebuild", "small")
	number = submit_source(ada, source)  # root-of-all has 2 µs
	wait_until_told("mine")
	told = {
		one["event"]: one["data"]
		for one in receiver.bodies("/mine?key=hidden-word")
		if one["data"].get("submission") == number
	}
	for event in ("ranked", "record"):
		equal([told[event][key] for key in ("score_ns", "results")], [1950.0, 2])
	equal([told["ranked"][key] for key in ("rank", "is_personal_best")], [1, True])
	equal(
		[told["record"][key] for key in ("user_before", "score_before_ns")], ["root-of-all", 2000.0]
	)
	feed = ada.fresh("/leaderboard/small.atom").text
	newest = re.search(r"<entry>.*?</entry>", feed, re.S)[0]
	contains(newest, "<title>a_d_a: 1.95 µs on H200, 2.5 % faster than the record before</title>")
	contains(newest, f"/submission/{number}#H200")
	# Another user's result of the file makes a record of the first who sent it.
	other = submit_source(admin, source)
	job = sql(f"SELECT id FROM jobs WHERE submission_id = {other}")[0][0]
	wait_until_told("mine")
	(record,) = [
		one["data"]
		for one in receiver.bodies("/mine?key=hidden-word")
		if one["event"] == "record" and one["data"]["score_ns"] == 1900
	]
	equal([record[key] for key in ("user", "submission", "results")], ["a_d_a", earlier, 3])
	newest = re.search(r"<entry>.*?</entry>", ada.fresh("/leaderboard/small.atom").text, re.S)[0]
	contains(newest, "<title>a_d_a: 1.9")
	contains(newest, f"/submission/{earlier}#H200-{job}</id>")
	sql(f"DELETE FROM submissions WHERE id IN ({earlier}, {number}, {other})")
	site.manage("ranking", "rebuild", "small")


@test
def other_modes_are_sent_only_as_jobs():
	count = len(receiver.at("/mine?key=hidden-word"))
	number = submit_time(ada, 100.0, mode="test")
	wait_until_told("mine")
	told = receiver.bodies("/mine?key=hidden-word", count + 1)[count:]
	equal(
		[(one["event"], one["data"]["mode"], one["data"]["submission"]) for one in told],
		[("job", "test", number)],
	)


@test
def an_event_without_a_listener_is_not_stored():
	make_board(dora, "quiet")
	done(act(admin, "all", "pause", confirm="yes"))
	before = value("SELECT COUNT(*) FROM webhook_events")
	submit_time(ada, 1000.0, board="quiet")
	equal(value("SELECT COUNT(*) FROM webhook_events"), before)
	done(act(admin, "all", "resume"))


# ---- bad receivers ----


@test
def a_failed_delivery_is_retried_under_the_same_id():
	receiver.acts["/shaky"] = [answer(500), answer(503), answer(200)]
	make_hook(carl, "/admin/leaderboard/small/hooks", "shaky")
	done(act(carl, "shaky", "test"))
	wait_until_told("shaky")
	equal(len({one["id"] for one in receiver.bodies("/shaky", 3)}), 1)
	equal(
		(deliveries("shaky"), value(f"SELECT failures FROM webhooks WHERE id = {hooks['shaky']}")),
		([["test", "delivered", "3"]], "0"),
	)
	remove("shaky")


@test
def no_redirect_is_followed():
	receiver.acts["/moved"] = answer(302, Location=f"{receiver.url}/inside")
	make_hook(carl, "/admin/leaderboard/small/hooks", "moved")
	done(act(carl, "moved", "test"))
	receiver.wait("/moved", 2)
	wait_for(
		"SELECT status, sentence LIKE '%a redirect, and Podium follows none%' "
		f"FROM webhook_deliveries WHERE webhook_id = {hooks['moved']}",
		[["302", "1"]],
	)
	equal(receiver.at("/inside"), [])
	page = whole(carl.get(f"/admin/hooks/{hooks['moved']}")).words()
	contains(page, "in a row failed. After 30, Podium switches the webhook off.")
	remove("moved")


@test
def a_name_that_resolves_to_an_internal_address_is_refused_on_connecting():
	# The settings allow the receiver's address, but localhost resolves to another one.
	made = done(carl.post("/admin/leaderboard/small/hooks", fields("inside", "https://localhost/")))
	hooks["inside"] = int(made.location.rsplit("/", 1)[1])
	done(act(carl, "inside", "test"))
	wait_for(
		"SELECT attempts > 0 AND sentence = 'localhost leads to this host, "
		"which webhooks may not reach.' FROM webhook_deliveries "
		f"WHERE webhook_id = {hooks['inside']}",
		[["1"]],
	)
	remove("inside")


@test
def an_address_that_the_settings_no_longer_allow_is_not_reached():
	stop_senders()
	make_hook(carl, "/admin/leaderboard/small/hooks", "former")
	done(act(carl, "former", "test"))
	start_sender(PODIUM_WEBHOOK_ALLOWED="")
	wait_for(
		"SELECT attempts > 0 AND sentence LIKE 'The address must begin with https%' "
		f"FROM webhook_deliveries WHERE webhook_id = {hooks['former']}",
		[["1"]],
	)
	equal(receiver.at("/former"), [])
	stop_senders()
	remove("former")
	start_sender()


@test
def endless_answers_are_cut_and_shown_nowhere():
	receiver.acts["/endless"], receiver.acts["/headers"] = endless_body, endless_headers
	for name, ending in (("endless", "delivered"), ("headers", "waiting")):
		make_hook(carl, "/admin/leaderboard/small/hooks", name)
		done(act(carl, name, "test"))
		wait_for(
			"SELECT state, attempts > 0 AND sentence <> '' FROM webhook_deliveries "
			f"WHERE webhook_id = {hooks[name]}",
			[[ending, "1"]],
		)
		lacks(carl.get(f"/admin/hooks/{hooks[name]}").text, "alert(1)")
	remove("endless")
	remove("headers")


@test
def a_hanging_receiver_delays_no_other():
	released = threading.Event()
	receiver.acts["/hangs"] = after(released)
	stop_senders()
	start_sender(PODIUM_WEBHOOK_TIMEOUT_MS="60000")
	make_hook(carl, "/admin/leaderboard/small/hooks", "hangs")
	done(act(carl, "hangs", "test"))
	receiver.wait("/hangs")
	words = whole(carl.get(f"/admin/hooks/{hooks['hangs']}")).words()
	contains(words, "Sending now.")
	lacks(words, "Tried again")
	equal(json.loads(carl.get(f"/admin/hooks/{hooks['hangs']}/status").text)["state"], "running")
	for _ in range(4):
		done(act(carl, "hangs", "test"))
	done(act(carl, "mine", "test"))
	wait_until_told("mine")
	equal(
		(len(receiver.at("/hangs")), deliveries("hangs", "d.state")), (1, 5 * [["waiting"]])
	)  # Podium sends a webhook's deliveries one at a time
	released.set()
	wait_until_told("hangs")
	remove("hangs")
	stop_senders()
	start_sender()
	receiver.acts["/slow"] = [after(threading.Event()), answer(204)]
	make_hook(carl, "/admin/leaderboard/small/hooks", "slow")
	done(act(carl, "slow", "test"))
	receiver.wait("/slow", 2)
	wait_until_told("slow")
	contains(
		(site.var / "log" / "sender.log").read_text(), "The receiver did not answer within 2.0 s."
	)
	remove("slow")


@test
def the_delivery_of_a_killed_sender_is_repeated_by_the_next():
	heard = threading.Event()
	receiver.acts["/killer"] = [after(heard), answer(200)]
	make_hook(carl, "/admin/leaderboard/small/hooks", "killer")
	done(act(carl, "killer", "test"))
	receiver.wait("/killer")
	sender = senders.pop()
	sender.kill()
	sender.wait()
	heard.set()
	equal(deliveries("killer"), [["test", "waiting", "1"]])
	start_sender()
	# End the lease of the killed sender now, so that the test need not wait.
	sql(f"UPDATE webhooks SET lease_expires = UTC_TIMESTAMP(3) WHERE id = {hooks['killer']}")
	wait_until_told("killer")
	equal(
		(len({one["id"] for one in receiver.bodies("/killer", 2)}), deliveries("killer")),
		(1, [["test", "delivered", "2"]]),
	)
	remove("killer")


@test
def an_outcome_that_comes_after_its_lease_changes_nothing():
	heard, first = threading.Event(), threading.Event()
	receiver.acts["/late"] = [after(heard), answer(200)]
	stop_senders()
	slow = start_sender(PODIUM_WEBHOOK_TIMEOUT_MS="60000")
	make_hook(carl, "/admin/leaderboard/small/hooks", "late")
	done(act(carl, "late", "test"))
	receiver.wait("/late")
	sql(f"UPDATE webhooks SET lease_expires = UTC_TIMESTAMP(3) WHERE id = {hooks['late']}")
	wait_until_told("late")  # another sender of the same program delivers it
	fence = value(f"SELECT fence FROM webhooks WHERE id = {hooks['late']}")
	heard.set()
	until(lambda: "The claim on webhook" in (site.var / "log" / "sender.log").read_text())
	equal(
		(deliveries("late"), value(f"SELECT fence FROM webhooks WHERE id = {hooks['late']}")),
		([["test", "delivered", "2"]], fence),
	)
	remove("late")


@test
def several_senders_send_each_delivery_once():
	for _ in range(2):
		start_sender()
	make_hook(carl, "/admin/leaderboard/small/hooks", "many")
	board = value("SELECT id FROM leaderboards WHERE name = 'small'")
	sql(
		"INSERT INTO webhook_events (event, leaderboard_id, data) "
		f"SELECT 'test', {board}, '{{}}' FROM seq_1_to_40; "
		f"INSERT INTO webhook_deliveries (webhook_id, event_id) SELECT {hooks['many']}, id "
		f"FROM webhook_events WHERE data = '{{}}'"
	)
	wait_until_told("many")
	equal(
		(len(receiver.at("/many")), len({one["id"] for one in receiver.bodies("/many")})), (40, 40)
	)
	remove("many")
	equal(value(f"SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = {hooks['many']}"), "0")
	stop_senders()
	start_sender()


# ---- giving up ----


@test
def a_receiver_that_answers_410_is_switched_off_and_its_page_says_so():
	receiver.acts["/gone"] = [answer(410), answer(204)]
	make_hook(carl, "/admin/leaderboard/small/hooks", "gone")
	done(act(carl, "gone", "test"))
	wait_for(f"SELECT state FROM webhooks WHERE id = {hooks['gone']}", [["off"]])
	page = whole(carl.get(f"/admin/hooks/{hooks['gone']}")).words()
	contains(
		page,
		"Podium switched this webhook off. It receives no events until you resume it. "
		"The receiver answered 410: the address no longer exists.",
	)
	contains(carl.get("/admin/leaderboard/small/hooks").words(), "switched off")
	equal(act(carl, "gone", "test").status, 409)
	done(act(carl, "gone", "resume"))
	done(act(carl, "gone", "test"))
	wait_until_told("gone")
	equal(deliveries("gone"), [["test", "failed", "1"], ["test", "delivered", "1"]])
	remove("gone")


@test
def a_webhook_is_switched_off_after_many_failures():
	receiver.acts["/broken"] = answer(404)
	make_hook(carl, "/admin/leaderboard/small/hooks", "broken")
	sql(f"UPDATE webhooks SET failures = 28 WHERE id = {hooks['broken']}")
	done(act(carl, "broken", "test"))
	wait_for(
		f"SELECT attempts > 0 FROM webhook_deliveries WHERE webhook_id = {hooks['broken']}", [["1"]]
	)
	wait_for(f"SELECT failures FROM webhooks WHERE id = {hooks['broken']}", [["29"]])
	sql(
		f"UPDATE webhooks SET retry_at = NULL WHERE id = {hooks['broken']}; "
		"UPDATE webhook_deliveries SET next_at = UTC_TIMESTAMP(3) "
		f"WHERE webhook_id = {hooks['broken']}"
	)
	wait_for(
		f"SELECT state, reason FROM webhooks WHERE id = {hooks['broken']}",
		[
			[
				"off",
				"The last 30 attempts failed. The latest error: The receiver answered 404: "
				"there is nothing at this address. Check whether the webhook was deleted there.",
			]
		],
	)
	remove("broken")


@test
def a_delivery_is_given_up_after_a_day():
	receiver.acts["/old"] = answer(500)
	stop_senders()
	make_hook(carl, "/admin/leaderboard/small/hooks", "old")
	done(act(carl, "old", "test"))
	sql(
		"UPDATE webhook_events e JOIN webhook_deliveries d ON d.event_id = e.id "
		"SET e.at = UTC_TIMESTAMP(3) - INTERVAL 86399 SECOND, d.attempts = 12 "
		f"WHERE d.webhook_id = {hooks['old']}"
	)
	start_sender(PODIUM_WEBHOOK_RETRY_MS="3600000")
	wait_for(
		f"SELECT state, sentence FROM webhook_deliveries WHERE webhook_id = {hooks['old']}",
		[
			[
				"failed",
				"Podium gave up after 13 attempts. The latest error: The receiver answered 500: "
				"the receiver itself failed.",
			]
		],
	)
	stop_senders()
	# Podium also gives up an old delivery whose webhook is paused, although no sender may send it.
	done(act(carl, "old", "test"))
	done(act(carl, "old", "pause", confirm="yes"))
	sql(
		"UPDATE webhook_events e JOIN webhook_deliveries d ON d.event_id = e.id "
		"SET e.at = UTC_TIMESTAMP(3) - INTERVAL 2 DAY "
		f"WHERE d.webhook_id = {hooks['old']} AND d.state = 'waiting'"
	)
	start_sender()
	wait_until_told("old")
	equal(deliveries("old", "d.state"), [["failed"], ["failed"]])
	remove("old")


@test
def events_are_deleted_after_a_month():
	stop_senders()
	make_hook(carl, "/admin/leaderboard/small/hooks", "month")
	done(act(carl, "month", "test"))
	sql(
		"UPDATE webhook_events e JOIN webhook_deliveries d ON d.event_id = e.id "
		"SET e.at = UTC_TIMESTAMP(3) - INTERVAL 31 DAY, d.state = 'delivered' "
		f"WHERE d.webhook_id = {hooks['month']}"
	)
	start_sender()
	wait_for(
		f"SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = {hooks['month']}", [["0"]]
	)
	remove("month")


# ---- what may not be sent ----


def told_since(count, path):
	return (
		[(one["event"], one["data"]["leaderboard"]) for one in receiver.bodies(path)[count:]]
		if len(receiver.at(path)) > count
		else []
	)


@test
def closed_leaderboards_use_only_their_own_webhooks_and_hidden_ones_use_none():
	make_hook(admin, "/admin/hooks", "site")
	for name in ("members", "secret"):
		make_board(carl, name)
		wait_until_open(name, 1)
		make_hook(carl, f"/admin/leaderboard/{name}/hooks", name)
	wait_until_told("site")
	count = len(receiver.at("/site"))
	done(
		carl.post(
			"/admin/leaderboard/members/publishing",
			[("action", "save"), ("visibility", "closed"), ("confirm", "yes")],
		)
	)
	done(
		carl.post(
			"/admin/leaderboard/secret/publishing",
			[("action", "save"), ("visibility", "hidden"), ("confirm", "yes")],
		)
	)
	wait_until_open("secret", 0)
	submit_time(carl, 5000.0, board="members")
	submit_time(carl, 5000.0, board="secret")
	wait_until_told("members")
	equal(
		told_since(0, "/members"),
		[("job", "members"), ("ranked", "members"), ("record", "members")],
	)
	equal((told_since(0, "/secret"), told_since(count, "/site")), ([], []))
	equal(
		sql(
			"SELECT e.event FROM webhook_events e JOIN leaderboards l ON l.id = e.leaderboard_id "
			"WHERE l.name = 'secret'"
		),
		[["opened"]],
	)
	done(
		carl.post(
			"/admin/leaderboard/secret/publishing", [("action", "publish"), ("confirm", "yes")]
		)
	)
	wait_until_open("secret", 1)
	equal([one["event"] for one in receiver.bodies("/secret", 1)], ["opened"])


@test
def opening_and_ending_are_each_sent_once():
	for name in ("site", "secret"):
		wait_until_told(name)
	count = len(receiver.at("/site"))
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 500 * 1000 "
		"MICROSECOND WHERE name = 'secret'"
	)
	ended = receiver.bodies("/secret", 2)[1]
	equal(
		(
			ended["event"],
			ended["data"]["because"],
			ended["data"]["gpus"],
			bool(
				re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", ended["data"]["deadline"])
			),
		),
		("ended", "deadline", ["H200"], True),
	)
	sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'secret'")
	equal(receiver.bodies("/secret", 3)[2]["event"], "opened")
	done(
		carl.post(
			"/admin/leaderboard/secret/publishing",
			[("action", "save"), ("visibility", "public"), ("archived", "1"), ("confirm", "yes")],
		)
	)
	equal(receiver.bodies("/secret", 4)[3]["data"]["because"], "archived")
	wait_until_told("site")
	equal(
		told_since(count, "/site"), [("ended", "secret"), ("opened", "secret"), ("ended", "secret")]
	)


@test
def a_result_hidden_or_held_before_sending_is_not_sent():
	stop_senders()
	made = [submit_time(ada, 900.0 - i) for i in range(2)]
	count = len(receiver.at("/mine?key=hidden-word"))
	done(
		admin.post(
			f"/admin/submission/{made[0]}",
			[("action", "hide"), ("reason", "A copy."), ("confirm", "yes")],
		)
	)
	done(
		admin.post(
			f"/admin/submission/{made[1]}",
			[("action", "hold"), ("reason", "Too good."), ("confirm", "yes")],
		)
	)
	start_sender()
	wait_until_told("mine")
	equal(
		[
			(one["event"], one["data"]["submission"])
			for one in receiver.bodies("/mine?key=hidden-word")[count:]
		],
		[("job", made[1])],
	)
	equal(
		sorted(deliveries("mine", "e.event, d.state")[-6:]),
		sorted(
			[
				["job", "withheld"],
				["ranked", "withheld"],
				["record", "withheld"],
				["job", "delivered"],
				["ranked", "withheld"],
				["record", "withheld"],
			]
		),
	)
	contains(
		carl.get(f"/admin/hooks/{hooks['mine']}").words(),
		"Not sent: its subject was hidden, withdrawn, deleted or removed from the ranking "
		"meanwhile.",
	)


@test
def during_a_freeze_no_time_and_no_verdict_is_sent():
	done(
		carl.post("/admin/leaderboard/small/publishing", [("action", "freeze"), ("confirm", "yes")])
	)
	count = len(receiver.at("/mine?key=hidden-word"))
	submit_time(ada, 500.0)
	wait_until_told("mine")
	told = receiver.bodies("/mine?key=hidden-word")[count:]
	equal([one["event"] for one in told], ["job"])
	lacks(json.dumps(told), "score")
	equal(told[0]["data"]["verdict"], None)
	# Whoever freezes in the past withholds the verdicts that still wait.
	sql(
		"UPDATE webhook_events SET data = JSON_SET(data, '$.verdict', 'passed') "
		"ORDER BY id DESC LIMIT 1; UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, "
		f"next_at = UTC_TIMESTAMP(3) WHERE webhook_id = {hooks['mine']} ORDER BY id DESC LIMIT 1"
	)
	until(lambda: deliveries("mine", "d.state")[-1:] == [["withheld"]])
	equal(len(receiver.bodies("/mine?key=hidden-word")), count + 1)
	done(carl.post("/admin/leaderboard/small/publishing", [("action", "lift"), ("confirm", "yes")]))


@test
def an_owner_who_lost_the_right_gets_no_more_events():
	count = len(receiver.at("/mine?key=hidden-word"))
	for lost, regained in (
		("banned_at = UTC_TIMESTAMP(3)", "banned_at = NULL"),
		("role = 'participant'", "role = 'creator'"),
	):
		sql(f"UPDATE users SET {lost} WHERE name = 'carl'")
		submit_time(ada, 4000.0)
		wait_until_told("mine")
		equal(
			(lost, len(receiver.at("/mine?key=hidden-word")), deliveries("mine", "d.state")[-2:]),
			(lost, count, [["withheld"], ["withheld"]]),
		)
		sql(f"UPDATE users SET {regained} WHERE name = 'carl'")


@test
def questions_and_answers_for_all_are_sent_and_private_ones_never():
	page = "/leaderboard/small/questions"
	make_hook(carl, "/admin/leaderboard/small/hooks", "jury", events=("asked", "answered"))
	done(ada.post(page, [("action", "ask"), ("text", "May *I*?")]))
	number = int(value("SELECT MAX(id) FROM questions"))
	asked = receiver.bodies("/jury", 1)[0]
	equal(
		(asked["event"], asked["data"]),
		("asked", {"leaderboard": "small", "question": number, "url": f"{site.url}{page}"}),
	)

	def answer(text, readers):
		replaces = value(
			"SELECT COALESCE(ROUND(UNIX_TIMESTAMP(answered_at) * 1000), '') FROM questions"
		)
		done(
			carl.post(
				page,
				[
					("action", "answer"),
					("question", str(number)),
					("answer", text),
					("for", readers),
					("replaces", replaces),
				],
			)
		)

	answer("Only for you.", "asker")
	answer("For all.", "all")
	told = receiver.bodies("/jury", 2)[1]
	equal(
		(told["event"], told["data"]["text"], told["data"]["answer"]),
		("answered", "May *I*?", "For all."),
	)
	wait_until_told("jury")
	stop_senders()
	answer("For all, by mistake.", "all")
	answer("Only for you.", "asker")
	start_sender()
	wait_until_told("jury")
	equal(
		deliveries("jury", "e.event, d.state"),
		[["asked", "delivered"], ["answered", "delivered"], ["answered", "withheld"]],
	)
	remove("jury")


@test
def an_announcement_is_sent_unless_it_has_ended():
	def announce(text):
		fields = [("action", "make"), ("leaderboard", "small"), ("text", text)]
		done(carl.post("/admin/announcements", fields))
		number = int(value("SELECT MAX(id) FROM announcements"))
		wait_for(
			f"SELECT COUNT(*) FROM announcements_told WHERE announcement_id = {number}", [["1"]]
		)
		return number

	make_hook(carl, "/admin/leaderboard/small/hooks", "news", events=("announced",))
	number = announce("Shape *3* is new.")
	told = receiver.bodies("/news", 1)[0]
	board = {"leaderboard": "small", "url": f"{site.url}/leaderboard/small"}
	equal(
		(told["event"], told["data"]),
		("announced", {**board, "announcement": number, "text": "Shape *3* is new."}),
	)
	wait_until_told("news")
	stop_senders()
	end = [("action", "end"), ("confirm", "yes"), ("id", str(announce("By mistake.")))]
	done(carl.post("/admin/announcements", end))
	start_sender()
	wait_until_told("news")
	equal(
		deliveries("news", "e.event, d.state"),
		[["announced", "delivered"], ["announced", "withheld"]],
	)
	remove("news")
	sql("DELETE FROM announcements")


# ---- the webhook's page ----


@test
def pausing_changing_and_deleting_ask_first_and_are_audited():
	number = hooks["mine"]
	asked = whole(act(carl, "mine", "pause"))
	equal((asked.status, state_of("mine")), (422, "active"))
	contains(asked.words(), "It never receives the events that happen until you resume it.")
	done(act(carl, "mine", "pause", confirm="yes"))
	equal(state_of("mine"), "paused")
	contains(
		whole(carl.get(f"/admin/hooks/{number}")).words(),
		"This webhook is paused. It receives no events until you resume it.",
	)
	submit_time(ada, 4100.0)
	equal(
		value(
			f"SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = {number} AND "
			"state = 'waiting'"
		),
		"0",
	)
	done(act(carl, "mine", "resume"))
	equal(act(carl, "mine", "resume").status, 409)
	done(
		carl.post(
			f"/admin/hooks/{number}", [("action", "change"), ("name", "ours"), ("event", "ended")]
		)
	)
	equal(sql(f"SELECT name, events FROM webhooks WHERE id = {number}"), [["ours", "ended"]])
	refused = whole(carl.post(f"/admin/hooks/{number}", [("action", "change"), ("name", "")]))
	equal(refused.status, 422)
	contains(refused.words(), "Give the webhook a name")
	equal(carl.post(f"/admin/hooks/{number}", [("action", "dance")]).status, 422)
	asked = whole(act(carl, "mine", "delete", confirm="mine"))
	equal(asked.status, 422)
	contains(asked.words(), "so nothing was changed; type ours.")
	done(act(carl, "mine", "delete", confirm="ours"))
	equal(carl.get(f"/admin/hooks/{number}").status, 404)
	equal(
		[
			row[0]
			for row in sql(
				"SELECT action FROM audit_log WHERE action LIKE 'webhook.%' "
				"AND detail LIKE 'ours%' OR detail LIKE 'mine%' AND action LIKE "
				"'webhook.%' ORDER BY id"
			)
		],
		[
			"webhook.create",
			"webhook.test",
			"webhook.test",
			"webhook.pause",
			"webhook.resume",
			"webhook.change",
			"webhook.delete",
		],
	)


@test
def deleting_a_leaderboard_deletes_its_webhooks():
	done(carl.post("/admin/leaderboard/members/delete", [("name", "members")]))
	equal(carl.get(f"/admin/hooks/{hooks['members']}").status, 404)


@test
def the_number_of_webhooks_is_limited():
	page = "/admin/leaderboard/small/hooks"
	board = value("SELECT id FROM leaderboards WHERE name = 'small'")
	there = int(value(f"SELECT COUNT(*) FROM webhooks WHERE leaderboard_id = {board}"))
	sql(
		"INSERT INTO webhooks (leaderboard_id, name, address, form, events, secret) "
		f"SELECT {board}, seq, 'https://example.org/', 'json', 'job', 'x' "
		f"FROM seq_1_to_{20 - there}"
	)
	refused = whole(carl.post(page, fields("one more", "https://example.org/")))
	equal(refused.status, 429)
	contains(refused.words(), "There are 20 webhooks here already")


@test
def senders_stop_on_a_signal():
	stop_senders()
	lacks((site.var / "log" / "sender.log").read_text(), "Sanitizer")


try:
	status = run()
finally:
	for sender in senders:
		sender.kill()
		sender.wait()
	receiver.stop()
	site.remove()
sys.exit(status)
