#!/usr/bin/env python3
"""Questions about a leaderboard: who reads, answers and announces, through the pages, /api/v1 and
podium-admin, and which e-mails and webhook events they cause."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import done, make_board, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(
	pretends=True,
	PODIUM_WEBHOOK_SENDERS="0",  # nothing is sent, so that the queues stay as they are
	PODIUM_MAIL_SERVER="smtp://localhost:9",
	PODIUM_MAIL_SENDER="podium@podium.example",
)
sql, value = site.sql, site.value
anyone, ada, bob, carl, dora, admin = (Client(site.url) for _ in range(6))
NAMES = {"ada": ada, "bob": bob, "carl": carl, "dora": dora, "root-of-all": admin}
PAGE = "/leaderboard/small/questions"
ASKED = "May the kernel keep <state> between calls?"
ANSWER = "No. Each call\nstands alone."


def ask(client, text=ASKED, board="small"):
	return client.post(f"/leaderboard/{board}/questions", [("action", "ask"), ("text", text)])


def answer(client, number, text=ANSWER, readers="asker", board="small", **more):
	return client.post(
		f"/leaderboard/{board}/questions",
		[
			("action", "answer"),
			("question", str(number)),
			("answer", text),
			("for", readers),
			*more.items(),
		],
	)


def announce(client, board, text, **times):
	return client.post(
		"/admin/announcements",
		[("action", "make"), ("text", text), ("leaderboard", board), *times.items()],
	)


def newest():
	return value("SELECT MAX(id) FROM questions")


def readers(text, path=PAGE):
	"""Those of all users on whose page the text is."""
	who = {"anyone": anyone, **NAMES}
	return [name for name, client in who.items() if text in whole(client.get(path)).words()]


def mails():
	return sql(
		"SELECT u.name, m.kind, m.other_id FROM mails m JOIN users u ON u.id = m.user_id "
		"ORDER BY m.id"
	)


def events():
	rows = sql("SELECT e.event, e.data FROM webhook_events e ORDER BY e.id")
	return [(event, json.loads(data.replace("\\\\", "\\"))) for event, data in rows]


@test
def the_fixtures_are_created():
	for name, client in NAMES.items():
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; "
		"UPDATE users SET role = 'creator' WHERE name IN ('carl', 'dora'); "
		"INSERT INTO mail_addresses (user_id, address, unsubscribe_key) "
		"SELECT id, CONCAT(name, '@one.example'), REPEAT('k', 32) FROM users"
	)
	make_board(carl, "small")
	make_board(dora, "other")
	done(
		carl.post(
			"/admin/leaderboard/small/hooks",
			[
				("name", "ours"),
				("address", "https://chat.example.org/"),
				("form", "json"),
				("event", "asked"),
				("event", "answered"),
				("event", "announced"),
			],
		)
	)


@test
def only_who_asked_and_who_answers_read_a_question():
	contains(whole(anyone.get(PAGE)).words(), "Log in to ask")
	equal(anyone.post(PAGE, [("action", "ask"), ("text", "x")], form="/login").status, 303)
	equal(sql("SELECT id FROM questions"), [])
	contains(done(ask(ada)).location, PAGE)
	equal(readers(ASKED), ["ada", "carl", "root-of-all"])
	for client in (carl, admin):
		contains(whole(client.get(PAGE)).words(), "ada asked")
	equal(mails(), [["carl", "asked", newest()]])
	equal(events(), [("asked", {"leaderboard": "small", "question": int(newest())})])


@test
def the_panel_and_the_tab_of_who_answers_count_what_waits():
	for client in (carl, admin):
		contains(whole(client.get("/admin")).words(), "1 question without an answer")
		contains(whole(client.get("/leaderboard/small")).words(), "Q&A 1 to read or to answer")
	for client, path in ((dora, "/admin"), (dora, PAGE), (ada, PAGE), (anyone, PAGE)):
		lacks(whole(client.get(path)).words(), "1 question without an answer")
		lacks(whole(client.get(path)).words(), "to read or to answer")


@test
def a_private_answer_is_for_who_asked():
	number = newest()
	for client, status in ((ada, 403), (bob, 404), (dora, 404)):
		equal(answer(client, number).status, status)
	equal(answer(dora, number, board="other").status, 404)
	equal(answer(admin, number, board="other").status, 404)
	equal(answer(carl, "9999").status, 404)
	equal(value("SELECT answer FROM questions"), "NULL")
	done(answer(carl, number))
	equal(readers("Each call stands alone."), ["ada", "carl", "root-of-all"])
	equal(mails()[1:], [["ada", "answered", number]])
	equal(len(events()), 1)
	lacks(whole(carl.get("/admin")).words(), "without an answer")
	equal(
		sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'question.answer'"),
		[["carl", "small", f"Question {number}, for who asked: No. Each call\\nstands alone."]],
	)


@test
def a_new_answer_is_marked_until_who_asked_has_read_it():
	contains(whole(ada.get("/leaderboard/small")).words(), "Q&A 1 to read or to answer")
	contains(whole(ada.get(PAGE)).words(), "1 new answer Mark as read")
	for client in (bob, carl):
		lacks(whole(client.get(PAGE)).words(), "new answer")
	done(bob.post(PAGE, [("action", "read")]))
	contains(whole(ada.get(PAGE)).words(), "new answer")
	done(ada.post(PAGE, [("action", "read")]))
	lacks(whole(ada.get(PAGE)).words(), "new answer")
	lacks(whole(ada.get("/leaderboard/small")).words(), "to read or to answer")


@test
def an_answer_for_all_does_not_tell_who_asked():
	number = newest()
	was = value("SELECT ROUND(UNIX_TIMESTAMP(answered_at) * 1000) FROM questions")
	equal(answer(carl, number, readers="all").status, 409)  # it would replace one not seen
	done(answer(carl, number, readers="all", replaces=was))
	equal(readers("Each call stands alone."), ["anyone", *NAMES])
	lacks(whole(bob.get(PAGE)).words(), "ada")
	lacks(whole(anyone.get(PAGE)).words(), "ada")
	equal(
		events()[1:],
		[
			(
				"answered",
				{"leaderboard": "small", "question": int(number), "text": ASKED, "answer": ANSWER},
			)
		],
	)
	contains(whole(ada.get(PAGE)).words(), "new answer")


@test
def errors_appear_next_to_their_field():
	for text, sentence in (
		("", "Write the question"),
		(" \n", "Write"),
		("x" * 2001, "2001 bytes"),
	):
		page = ask(bob, text)
		equal(page.status, 422)
		contains(page.words(), sentence)
		contains(page.text, 'id="text-error"')
	number = newest()
	page = answer(admin, number, " ")
	equal(page.status, 422)
	contains(page.words(), "Write the answer")
	contains(page.text, f'id="answer-{number}-error"')
	equal(bob.post(PAGE, [("action", "praise")]).status, 422)
	equal(sql("SELECT COUNT(*) FROM questions"), [["1"]])


@test
def questions_are_limited():
	sql("DELETE FROM rate_limits")
	equal([ask(bob, f"Question {i}?").status for i in range(6)], [303] * 5 + [429])
	equal([ask(bob, "Elsewhere?", "other").status for _ in range(5)], [303] * 5)
	sql("UPDATE questions SET answered_at = UTC_TIMESTAMP(3), answer = 'No.'")
	equal([ask(bob, f"Again {i}?").status for i in range(5)], [303] * 5)
	equal(ask(bob, "One more?").status, 429)
	sql("UPDATE questions SET answered_at = UTC_TIMESTAMP(3), answer = 'No.'")
	equal([ask(bob, "Too often?").status for _ in range(4)][-1], 429)
	contains(ask(bob, "Too often?").words(), "You asked too many questions")
	sql("DELETE FROM rate_limits")


@test
def a_hidden_or_closed_leaderboard_hides_its_questions():
	for visibility in ("hidden", "closed"):
		sql(f"UPDATE leaderboards SET visibility = '{visibility}' WHERE name = 'small'")
		for client in (anyone, ada, bob, dora):
			equal(client.get(PAGE).status, 404)
			equal(client.get("/api/v1/leaderboards/small/questions").status, 404)
		equal(ask(ada).status, 404)
		equal(whole(carl.get(PAGE)).status, 200)
	sql(
		"UPDATE leaderboards SET visibility = 'public', archived_at = UTC_TIMESTAMP(3) "
		"WHERE name = 'small'"
	)
	equal(ask(ada).status, 409)
	sql("UPDATE leaderboards SET archived_at = NULL")


@test
def programs_ask_answer_and_read():
	sql("DELETE FROM questions; DELETE FROM rate_limits")
	asker, other, creator, stranger = (
		Program(site.url, make_token(client, "t", *scopes))
		for client, scopes in (
			(ada, ["read", "submit"]),
			(bob, ["read"]),
			(carl, ["read", "admin"]),
			(dora, ["read", "admin"]),
		)
	)
	path = "/api/v1/leaderboards/small/questions"
	equal(other.ask("POST", path, {"text": ASKED}).status, 403)
	equal(asker.ask("POST", path, {"text": " "}).status, 400)
	asked = asker.ask("POST", path, {"text": ASKED})
	equal((asked.status, asked.json["asked_by"], asked.json["answer"]), (201, "ada", None))
	reply = f"/api/v1/admin/questions/{asked.json['id']}"
	equal(other.read(path)["items"], [])
	equal(stranger.ask("PUT", reply, {"answer": "x"}).status, 404)
	equal(creator.ask("PUT", reply, {"answer": ""}).status, 400)
	answered = creator.ask("PUT", reply, {"answer": "No.", "for_all": True})
	equal((answered.status, answered.json["for_all"], answered.json["unread"]), (200, True, False))
	equal([one["asked_by"] for one in other.read(path)["items"]], [None])
	equal(asker.read(path)["items"][0]["unread"], True)
	equal(asker.ask("POST", f"{path}/read").status, 204)
	equal(asker.read(path)["items"][0]["unread"], False)
	first = asker.read(path, limit=1)
	equal((len(first["items"]), first["next"]), (1, None))


@test
def podium_admin_lists_and_answers():
	sql("DELETE FROM questions; DELETE FROM rate_limits")
	done(ask(ada))
	contains(site.manage("question", "list"), "small, ada")
	contains(site.manage("question", "list", "small"), ASKED)
	equal(site.manage("question", "list", "other"), "")
	site.manage("question", "answer", newest(), "all", "Never.")
	contains(whole(anyone.get(PAGE)).words(), "Never. Answered")
	equal(site.manage("question", "list"), "")


@test
def creators_announce_on_their_own_leaderboards():
	equal(announce(ada, "small", "Hello").status, 403)
	for board in ("", "other", "nothing"):
		equal(announce(carl, board, "Hello").status, 422)
	done(announce(carl, "small", "Shape 3 was wrong."))
	done(announce(admin, "", "For all."))
	done(announce(dora, "other", "Not for carl."))
	page = whole(carl.get("/admin/announcements")).words()
	contains(page, "Shape 3 was wrong.")
	for text in ("For all.", "Not for carl.", "The whole site"):
		lacks(page, text)
	foreign = value("SELECT MAX(id) FROM announcements")
	equal(
		carl.post(
			"/admin/announcements", [("action", "end"), ("id", foreign), ("confirm", "yes")]
		).status,
		404,
	)
	own = value("SELECT MIN(id) FROM announcements")
	time.sleep(1.1)
	contains(whole(anyone.get("/leaderboard/small")).words(), "Shape 3 was wrong.")
	done(carl.post("/admin/announcements", [("action", "end"), ("id", own), ("confirm", "yes")]))


def make_cup():
	"""A contest with the problem "small": ada, and the team of bob, are its contestants."""
	sql(
		"DELETE FROM questions; DELETE FROM announcements; DELETE FROM rate_limits; DELETE FROM "
		"mails; INSERT INTO contests (name, title, rules, starts_at, ends_at, team_members) VALUES "
		"('cup', 'The cup', '', UTC_TIMESTAMP(3) - INTERVAL 1 DAY, UTC_TIMESTAMP(3) + INTERVAL 1 "
		"DAY, 3); INSERT INTO contest_problems (leaderboard_id, contest_id, position) SELECT l.id, "
		"c.id, 1 FROM leaderboards l JOIN contests c WHERE l.name = 'small'; INSERT INTO users "
		"(name, password_hash, kind) VALUES ('Quick', '', 'team'); INSERT INTO teams (user_id, "
		"contest_id, code) SELECT u.id, c.id, 'code' FROM users u JOIN contests c WHERE u.name = "
		"'Quick'; INSERT INTO team_members (team_id, user_id, contest_id) SELECT t.user_id, u.id, "
		"t.contest_id FROM teams t JOIN users u WHERE u.name = 'bob'; INSERT INTO contest_entrants "
		"(contest_id, user_id) SELECT c.id, u.id FROM contests c JOIN users u WHERE u.name IN "
		"('ada', 'Quick')"
	)


def remove_cup():
	sql(
		"UPDATE leaderboards SET visibility = 'public'; DELETE FROM contest_entrants; DELETE FROM "
		"team_members; DELETE FROM teams; DELETE FROM contest_problems; DELETE FROM contests; "
		"DELETE FROM users WHERE name = 'Quick'; DELETE FROM announcements"
	)


@test
def contestants_see_what_is_new_until_they_have_read_it():
	make_cup()
	tab, news = "Q&A 1 to read or to answer", "1 new since you last looked"
	done(ask(ada, "*Which* <b>clock</b>?"))
	done(answer(carl, newest(), "The **device** <img src=x>.", "all"))
	# ada asked; bob is a member of a registered team; dora takes no part.
	for client, is_told in ((ada, True), (bob, True), (dora, False)):
		page = whole(client.get("/contest/cup"))
		contains(page.text, "<p>The <strong>device</strong> &lt;img src=x&gt;.</p>")
		contains(page.text, "<em>Which</em> &lt;b&gt;clock")
		questions = whole(client.get(PAGE))
		contains(questions.text, "<strong>device")
		contains(questions.text, "&lt;img src=x&gt;")
		for text in (whole(client.get("/leaderboard/small")).words(), questions.words()):
			(contains if is_told else lacks)(text, tab)
		(contains if client is bob else lacks)(page.words(), news)
		(contains if client is bob else lacks)(whole(client.get("/")).text, '/contest/cup#news">')
	lacks(anyone.get("/contest/cup").words(), "since you last looked")
	equal(
		sorted(mails()),
		[["ada", "answered", newest()], ["bob", "answered", newest()]] + mails()[:1],
	)
	# A page from before the answer does not mark it as read.
	before = value("SELECT ROUND(UNIX_TIMESTAMP(answered_at) * 1000) - 1 FROM questions")
	done(bob.post("/contest/cup/news", [("until", before)], form="/contest/cup"))
	contains(whole(bob.get("/contest/cup")).words(), news)
	done(bob.post("/contest/cup/news", [], form="/contest/cup"))
	done(dora.post("/contest/cup/news", [], form="/contest/cup"))
	equal(sql("SELECT u.name FROM news_seen JOIN users u ON u.id = user_id"), [["bob"]])
	for address in ("/contest/cup", "/leaderboard/small", PAGE, "/"):
		text = whole(bob.get(address)).text
		lacks(text, "since you last looked")
		lacks(text, "#news")
		lacks(text, "to read or to answer")
	done(announce(carl, "small", "Shape <2> is new."))
	for client in (ada, bob):
		contains(whole(client.get("/contest/cup")).words(), "Shape <2> is new.")
		contains(whole(client.get("/contest/cup")).words(), news)
		contains(whole(client.get("/")).text, '/contest/cup#news">')
	done(bob.post(PAGE, [("action", "read")]))
	lacks(whole(bob.get("/contest/cup")).words(), news)
	contains(whole(ada.get("/contest/cup")).words(), news)
	# Nobody reads here what the problem's page would not show.
	sql("UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'small'")
	for client in (ada, anyone):
		lacks(client.fresh("/contest/cup").words(), "Shape <2>")
		lacks(client.fresh("/contest/cup").words(), "clock")
	lacks(ada.fresh("/").text, "#news")
	remove_cup()


def announced():
	"""Who gets e-mails, and which texts webhooks get."""
	rows = sql(
		"SELECT u.name, n.text FROM mails m JOIN users u ON u.id = m.user_id JOIN announcements n "
		"ON n.id = m.other_id WHERE m.kind = 'announced' ORDER BY m.id"
	)
	return [tuple(row) for row in rows], [
		data["text"] for event, data in events() if event == "announced"
	]


def wait_until_announced(mails, webhooks):
	until(lambda: announced() == (mails, webhooks), explain=announced)


@test
def an_announcement_is_told_once_it_begins_and_not_to_its_author():
	make_cup()
	sql(
		"DELETE FROM webhook_events; INSERT INTO contest_entrants (contest_id, user_id) SELECT "
		"c.id, u.id FROM contests c JOIN users u WHERE u.name = 'carl'"
	)
	# podium-hooks tells what is due in the order of the numbers: "Now." last.
	done(announce(carl, "small", "Later.", **{"from": "2089-01-01 00:00"}))
	done(announce(carl, "small", "Ended.", **{"from": "2089-01-01 00:00"}))
	ended = value("SELECT MAX(id) FROM announcements")
	done(carl.post("/admin/announcements", [("action", "end"), ("id", ended), ("confirm", "yes")]))
	sql(f"UPDATE announcements SET from_at = until_at - INTERVAL 1 SECOND WHERE id = {ended}")
	done(announce(admin, "", "For all."))
	done(announce(carl, "small", "Now."))
	now = [("ada", "Now."), ("bob", "Now.")]
	wait_until_announced(now, ["Now."])
	number = int(value("SELECT MAX(id) FROM announcements"))
	equal(
		events(), [("announced", {"leaderboard": "small", "announcement": number, "text": "Now."})]
	)
	sql("UPDATE announcements SET from_at = UTC_TIMESTAMP(3) WHERE text = 'Later.'")
	wait_until_announced([*now, ("ada", "Later."), ("bob", "Later.")], ["Now.", "Later."])
	remove_cup()


@test
def without_a_contest_who_has_submitted_is_told_once_the_leaderboard_is_shown():
	sql("DELETE FROM webhook_events; DELETE FROM mails")
	for client in (bob, carl):
		submit_time(client, 1000.0, "small")
	sql("UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'small'")
	done(announce(carl, "small", "On a hidden one."))
	done(announce(dora, "other", "Elsewhere."))
	number = value("SELECT MAX(id) FROM announcements")
	until(lambda: sql("SELECT announcement_id FROM announcements_told") == [[number]])
	equal(announced(), ([], []))
	sql("UPDATE leaderboards SET visibility = 'public' WHERE name = 'small'")
	wait_until_announced([("bob", "On a hidden one.")], ["On a hidden one."])
	sql("DELETE FROM announcements")


@test
def a_long_text_is_shown_as_it_is():
	sql("DELETE FROM questions")
	table = "|a" * 10 + "|\n" + "|-" * 10 + "|" + "\n|b" * 400
	done(ask(bob, table))
	page = whole(carl.get(PAGE))
	contains(page.text, '<p class="plain">|a|a')
	lacks(page.text, "<table>")


@test
def a_deleted_account_leaves_only_answers_for_all():
	sql("DELETE FROM questions; DELETE FROM rate_limits")
	done(ask(ada, "Private?"))
	done(ask(ada, "Public?"))
	done(answer(carl, newest(), readers="all"))
	export = ada.get("/account/export")
	for text in ("Private?", "Public?"):
		contains(export.text, text)
	done(ada.post("/account/delete", [("name", "ada"), ("password", "a long password")]))
	equal(sql("SELECT text FROM questions"), [["Public?"]])
	contains(whole(carl.get(PAGE)).words(), "deleted-")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
