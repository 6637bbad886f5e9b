#!/usr/bin/env python3
"""E-mail: confirming an address, a forgotten password, notifications and how to switch them off,
and what happens if the mail server is down, refuses, has no TLS or the wrong certificate.

The mail server is a real exim on loopback (tests/lib/mail_server.py). The suite starts its own
podium-hooks, with short retries. A stand-in for podium-run reports what each submission tells it
to."""

import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from mail_server import EXIM, PASSWORD as MAIL_PASSWORD, MailServer  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import case, done, make_board, source_of, submit_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

if not pathlib.Path(EXIM).exists():
	print("1..0 # SKIP there is no exim4")
	sys.exit()

server = MailServer()
# The podium-hooks that ./run starts has no senders, so that only the suite's own sends.
site = Instance(pretends=True, PODIUM_WEBHOOK_SENDERS="0")
sql, value = site.sql, site.value
PASSWORD = "a long password"
anonymous, ada, bob, carl, admin = (Client(site.url) for _ in range(5))
senders = []


def start_sender(**settings):
	environment = {
		**site.environment,
		**server.settings(),
		"PODIUM_PUBLIC_URL": site.url,
		"PODIUM_WEBHOOK_SENDERS": "1",
		"PODIUM_WEBHOOK_RETRY_MS": "50",
		"PODIUM_MAIL_TIMEOUT_MS": "5000",
		"PODIUM_POLL_MS": "50",
		**settings,
	}
	log = open(site.var / "log" / "sender.log", "ab")
	program = ROOT / site.environment["B"] / "podium-hooks"
	senders.append(
		subprocess.Popen(
			[program], env=environment, stdin=subprocess.DEVNULL, stderr=log, stdout=log
		)
	)


def stop_senders():
	while senders:
		sender = senders.pop()
		sender.send_signal(signal.SIGTERM)
		equal(sender.wait(60), 0)


def sender_log():
	return (site.var / "log" / "sender.log").read_text()


def enter(client, address, current=PASSWORD, **more):
	return client.post(
		"/account/mail",
		[("action", "set"), ("address", address), ("current", current), *more.items()],
	)


def link_in(mail, folder):
	return re.search(rf"{re.escape(site.url)}(/{folder}/\S+)", mail.get_content())[1]


def confirm(client, address, count=1):
	done(enter(client, address))
	path = link_in(server.wait_for(address, count), "mail/confirm")
	page = anonymous.post(path)
	equal(page.status, 200)
	contains(page.words(), "Address confirmed")


def arrived(address, subject):
	"""Waits for the e-mail with this subject: exim files it after it has taken it."""

	def found():
		return [mail for mail in server.mails(address) if mail["Subject"] == subject]

	return until(found, 30, explain=lambda: [mail["Subject"] for mail in server.mails(address)])[-1]


def state(address, kind):
	"""The state, the attempts and the sentence of the newest e-mail of this kind."""
	rows = sql(
		"SELECT m.state, m.attempts, m.sentence FROM mails m JOIN mail_addresses a "
		f"ON a.user_id = m.user_id WHERE m.kind = '{kind}' "
		f"AND '{address}' IN (a.address, a.pending) ORDER BY m.id DESC LIMIT 1"
	)
	return rows[0] if rows else ["", "0", ""]


def wait_for_state(address, kind, expected):
	until(
		lambda: state(address, kind)[0] == expected,
		60,
		explain=lambda: (state(address, kind), sender_log()[-2000:], server.log[-2000:]),
	)
	return state(address, kind)


@test
def a_site_without_a_mail_server_has_no_such_pages():
	equal(ada.get("/account/mail").status, 404)
	equal(anonymous.get("/forgot").status, 404)
	lacks(ada.get("/account").text, "/account/mail")
	contains(anonymous.get("/login").words(), "Ask an admin for a link")
	equal(sql("SELECT * FROM mails"), [])


@test
def a_site_with_one_has():
	site.stop()
	site.environment |= server.settings()
	log = site.var / "run.log"
	log.write_text("")  # so that start() waits for the new one
	site.start()
	contains(whole(ada.get("/account/mail")).words(), "Your address")
	contains(whole(anonymous.get("/login")).text, "/forgot")
	whole(anonymous.get("/forgot"))


@test
def an_address_counts_after_its_link_was_opened_once():
	start_sender()
	done(enter(ada, "ada@one.example"))
	mail = server.wait_for("ada@one.example")
	equal(mail["From"], "Podium <podium@podium.example>")
	equal(mail["Auto-Submitted"], "auto-generated")
	equal(mail["List-Unsubscribe"], None)
	path = link_in(mail, "mail/confirm")
	contains(whole(ada.get("/account/mail")).words(), "is not confirmed yet")
	equal(value("SELECT COUNT(*) FROM mail_addresses WHERE address IS NOT NULL"), "0")
	contains(whole(anonymous.get(path)).words(), "Podium will write to ada@one.example")
	token = anonymous.csrf(path)
	for shift, status in (("- INTERVAL 1 SECOND", 404), ("+ INTERVAL 1 DAY", 200)):
		sql(f"UPDATE mail_addresses SET pending_until = UTC_TIMESTAMP(3) {shift}")
		equal((shift, anonymous.get(path).status), (shift, status))
		answer = anonymous.post(path, csrf=token)
		equal((shift, answer.status), (shift, status))
	contains(whole(answer).words(), "Address confirmed")
	equal(anonymous.get(path).status, 404)
	contains(whole(ada.get("/account/mail")).words(), "Your address: ada@one.example")
	logged = sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'user.mail'")
	equal([entry[:2] for entry in logged], [["ada", "ada"], ["ada", "ada"]])
	lacks(str(logged), "@")


@test
def only_the_owner_with_the_password_changes_an_address():
	refused = enter(ada, "eve@one.example", current="wrong")
	equal(refused.status, 422)
	contains(refused.words(), "not your current password")
	equal(sql("SELECT pending FROM mail_addresses WHERE pending IS NOT NULL"), [])


@test
def hostile_addresses_are_refused():
	sql("DELETE FROM rate_limits")
	for address in (
		"",
		"ada",
		"@one.example",
		"ada@",
		"a b@one.example",
		"ada@one..example",
		"ada@-one.example",
		"ada@one.example\r\nBcc: eve@one.example",
		"ada@one.example,eve@one.example",
		"<ada@one.example>",
		'"ada"@one.example',
		"äda@one.example",
		"ada@one.example>\r\nRCPT TO:<eve@one.example",
		"a" * 65 + "@one.example",
		"a@" + ".".join(["b" * 60] * 5),
	):
		sql("DELETE FROM rate_limits")
		equal((address, enter(ada, address).status), (address, 422))
	equal(sql("SELECT pending FROM mail_addresses WHERE pending IS NOT NULL"), [])


@test
def a_new_address_is_told_to_the_old_one():
	sql("DELETE FROM rate_limits")
	confirm(ada, "ada@two.example")
	mail = server.wait_for("ada@one.example", 2)
	contains(mail["Subject"], "was changed")
	equal(value("SELECT address FROM mail_addresses"), "ada@two.example")


@test
def addresses_are_limited():
	sql("DELETE FROM rate_limits")
	equal([enter(bob, f"bob@{i}.example").status for i in range(6)], [303] * 5 + [429])
	sql("DELETE FROM rate_limits; DELETE FROM mails")
	sql("DELETE FROM mail_addresses WHERE address IS NULL")


@test
def a_forgotten_password_is_replaced_by_a_link():
	ada.get("/account/mail")
	asked = anonymous.post("/forgot", [("name", "ada")])
	path = link_in(server.wait_for("ada@two.example", 2), "password")
	again = Client(site.url)
	done(again.post(path, [("password", "a new password"), ("again", "a new password")]))
	equal(ada.get("/account").status, 303)  # her sessions have ended
	equal(anonymous.get(path).status, 404)
	done(ada.post("/login", [("name", "ada"), ("password", "a new password")]))
	done(
		ada.post(
			"/account/password",
			[("current", "a new password"), ("password", PASSWORD), ("again", PASSWORD)],
			form="/account",
		)
	)
	contains(asked.words(), "If there is such an account")


@test
def the_answer_does_not_tell_who_has_an_account():
	sql("DELETE FROM rate_limits; DELETE FROM mails")

	def asked(name):
		page = Client(site.url).post("/forgot", [("name", name)])
		return page.status, page.words()

	answers = {
		asked(name) for name in ("ada", "bob", "nobody", "ada@two.example", "x@y.example", "ä")
	}
	equal((len(answers), answers.pop()[0]), (1, 200))

	def answered():
		until(lambda: sql("SELECT * FROM password_requests") == [])

	answered()
	equal(sql("SELECT kind, COUNT(*) FROM mails GROUP BY kind"), [["password", "2"]])
	for _ in range(3):
		asked("ada")
	answered()
	equal(value("SELECT COUNT(*) FROM mails"), "3")  # three in an hour
	sql("UPDATE rate_limits SET hits = 20 WHERE subject LIKE 'ask for password from%'")
	equal(asked("ada")[0], 429)
	sql("DELETE FROM rate_limits; DELETE FROM mails")


@test
def requests_are_answered_one_after_the_other():
	# Two programs that answer two requests for one account at the same moment would both count the
	# e-mails before either is stored. So while a request is locked, nobody answers the next one.
	sql("DELETE FROM rate_limits; DELETE FROM mails")
	place = site.environment["PODIUM_DATABASE_SOCKET"], site.environment["PODIUM_DATABASE_NAME"]
	with subprocess.Popen(
		["mariadb", "--no-defaults", "-n", "-N", "-B", "-S", *place],
		stdin=subprocess.PIPE,
		stdout=subprocess.PIPE,
		text=True,
	) as other:
		other.stdin.write(
			"BEGIN; INSERT INTO password_requests (asked) VALUES ('nobody'); SELECT 'locked';\n"
		)
		other.stdin.flush()
		contains(other.stdout.readline(), "locked")
		equal(Client(site.url).post("/forgot", [("name", "ada")]).status, 200)
		time.sleep(2)
		equal(sql("SELECT kind FROM mails"), [])
		other.communicate("COMMIT;\n")
	until(lambda: sql("SELECT kind FROM mails") == [["password"]])
	sql("DELETE FROM rate_limits; DELETE FROM mails")


@test
def the_site_does_the_same_work_whether_or_not_there_is_an_account():
	sql("CREATE TABLE asked (text TEXT)")
	sql(
		"CREATE TRIGGER note_asked AFTER INSERT ON password_requests FOR EACH ROW "
		"INSERT INTO asked VALUES (NEW.asked)"
	)
	for name in ("ada", "ada@two.example", "nobody", "x@y.example", "ä", "x" * 300):
		equal(anonymous.post("/forgot", [("name", name)]).status, 200)
	asked = ["ada", "ada@two.example", "nobody", "x@y.example", "?", "?"]
	equal([row[0] for row in sql("SELECT text FROM asked")], asked)
	sql("DROP TRIGGER note_asked; DROP TABLE asked")
	until(lambda: sql("SELECT * FROM password_requests") == [])
	sql("DELETE FROM rate_limits; DELETE FROM mails")


@test
def a_link_by_mail_does_not_void_that_of_an_admin():
	sql(
		"INSERT INTO password_links (token_hash, user_id, made_by, expires_at) "
		"SELECT REPEAT('x', 32), id, 'root-of-all', UTC_TIMESTAMP(3) + INTERVAL 1 DAY "
		"FROM users WHERE name = 'ada'"
	)
	anonymous.post("/forgot", [("name", "ada")])
	wait_for_state("ada@two.example", "password", "sent")
	anonymous.post("/forgot", [("name", "ada")])
	until(lambda: value("SELECT COUNT(*) FROM mails WHERE state = 'sent'") == "2")
	equal(
		sql("SELECT made_by, COUNT(*) FROM password_links GROUP BY made_by ORDER BY made_by"),
		[["an e-mail", "1"], ["root-of-all", "1"]],
	)
	sql("DELETE FROM rate_limits; DELETE FROM mails; DELETE FROM password_links")


@test
def who_is_overtaken_gets_one_mail_an_hour():
	submit_source(ada, source_of(case(1e6)))
	submit_source(bob, source_of(case(5e5)))
	wait_for_state("ada@two.example", "overtaken", "sent")
	mail = arrived("ada@two.example", "bob overtook you on small")
	contains(mail.get_content(), "bob is now ahead of you on small, H200. Your rank is 2.")
	equal(mail["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
	submit_source(ada, source_of(case(2e5)))
	submit_source(bob, source_of(case(1e5)))
	equal(value("SELECT COUNT(*) FROM mails WHERE kind = 'overtaken'"), "1")


@test
def what_does_not_hold_any_more_is_not_sent():
	stop_senders()
	sql("UPDATE mails SET at = at - INTERVAL 2 HOUR")
	submit_source(ada, source_of(case(5e4)))
	submit_source(bob, source_of(case(2.5e4)))
	submit_source(ada, source_of(case(1e4)))
	before = len(server.mails("ada@two.example"))
	start_sender()
	contains(
		wait_for_state("ada@two.example", "overtaken", "withheld")[2], "does not hold any more"
	)
	equal(len(server.mails("ada@two.example")), before)


def click(path):
	"""What a mail program does with the header List-Unsubscribe (RFC 8058)."""
	return Client(site.url).request(
		"POST",
		path,
		"List-Unsubscribe=One-Click",
		{"Content-Type": "application/x-www-form-urlencoded"},
	)


@test
def one_click_unsubscribes_without_a_session():
	mail = arrived("ada@two.example", "bob overtook you on small")
	address = mail["List-Unsubscribe"].strip("<>")
	contains(mail.get_content(), address)
	path = urllib.parse.urlsplit(address).path
	contains(whole(anonymous.get(path)).words(), "gets e-mails “You were overtaken”")
	equal(value("SELECT FIND_IN_SET('overtaken', kinds) > 0 FROM mail_addresses"), "1")
	for wrong in (
		path[:-1] + ("0" if path[-1] != "0" else "1"),
		path[:-2],
		path + "00",
		path.replace("overtaken", "deadline"),
		path.replace("unsubscribe/", "unsubscribe/9"),
	):
		equal(click(wrong).status, 404)
	equal(value("SELECT FIND_IN_SET('overtaken', kinds) > 0 FROM mail_addresses"), "1")
	equal(click(path).status, 200)
	equal(value("SELECT kinds FROM mail_addresses"), "deadline,trouble,asked,answered,announced")
	done(
		ada.post(
			"/account/mail",
			[("action", "kinds"), ("finished", "1"), ("overtaken", "1"), ("deadline", "1")],
		)
	)
	equal(value("SELECT kinds FROM mail_addresses"), "overtaken,finished,deadline")


@test
def programs_choose_notifications():
	program = Program(site.url, make_token(ada, "notifications", "read", "submit"))
	address = "/api/v1/me/notifications"
	had = program.read(address)
	equal(had["address_confirmed"], True)
	equal(had["kinds"], ["overtaken", "finished", "deadline"])
	answer = program.ask("PUT", address, {"kinds": ["trouble"]})
	equal((answer.status, answer.json["kinds"]), (200, ["trouble"]))
	equal(value("SELECT kinds FROM mail_addresses"), "trouble")
	refused = program.ask("PUT", address, {"kinds": ["finished", "spam"]})
	equal((refused.status, value("SELECT kinds FROM mail_addresses")), (400, "trouble"))
	contains(
		refused.json["detail"], '"spam" is no kind of e-mail. The kinds are overtaken, finished'
	)
	for body, reason in (({}, "missing"), ({"kinds": None}, "null")):
		refused = program.ask("PUT", address, body)
		equal((body, refused.status), (body, 400))
		contains(refused.json["detail"], f"The member kinds is {reason}.")
	equal(value("SELECT kinds FROM mail_addresses"), "trouble")
	without = Program(site.url, make_token(carl, "notifications", "read", "submit"))
	equal(without.ask("PUT", address, {"kinds": []}).status, 409)
	equal(without.read(address)["address_confirmed"], False)
	equal(program.ask("PUT", address, {"kinds": had["kinds"]}).status, 200)


@test
def a_finished_submission_is_told_once():
	number = submit_source(ada, source_of(case(9e3)))
	wait_for_state("ada@two.example", "finished", "sent")
	mail = arrived("ada@two.example", f"Your submission {number} to small finished")
	contains(mail.get_content(), "H200: passed")
	contains(mail.get_content(), f"{site.url}/submission/{number}")


@test
def a_deadline_is_told_once_a_day_before():
	sql("UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 25 HOUR")
	sql("DO SLEEP(1.5)")
	equal(value("SELECT COUNT(*) FROM mails WHERE kind = 'deadline'"), "0")
	sql("UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 23 HOUR")
	wait_for_state("ada@two.example", "deadline", "sent")
	arrived("ada@two.example", "small ends within 24 hours")
	sql("DO SLEEP(1.5)")
	equal(value("SELECT COUNT(*) FROM mails WHERE kind = 'deadline'"), "1")
	sql("UPDATE leaderboards SET deadline = NULL")


def set_deadlines(*, board, late):
	sql(
		f"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL {board} HOUR; "
		f"UPDATE leaderboard_extensions SET deadline = UTC_TIMESTAMP(3) + INTERVAL {late} HOUR"
	)


def deadlines_told(user):
	return value(
		"SELECT COUNT(*) FROM mails m JOIN users u ON u.id = m.user_id WHERE u.name = "
		f"'{user}' AND m.kind = 'deadline'"
	)


def late_deadline_in_words():
	late = value("SELECT DATE_FORMAT(deadline, '%Y-%m-%d %H:%i') FROM leaderboard_extensions")
	return f"small ends at {late} UTC. Only"


@test
def a_later_deadline_of_ones_own_is_told_instead():
	sql("DELETE FROM rate_limits; DELETE FROM mails WHERE kind = 'deadline'")
	confirm(bob, "bob@one.example")
	submit_source(bob, source_of(case(8e3)))
	sql("UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 40 HOUR")
	site.manage("exception", "extend", "small", "ada", value("SELECT UTC_DATE + INTERVAL 9 DAY"))
	set_deadlines(board=20, late=30)
	wait_for_state("bob@one.example", "deadline", "sent")
	equal(deadlines_told("ada"), "0")
	sql(  # as if it had been queued before the extension
		"INSERT INTO mails (user_id, kind, leaderboard_id) SELECT u.id, 'deadline', l.id "
		"FROM users u, leaderboards l WHERE u.name = 'ada' AND l.name = 'small'"
	)
	wait_for_state("ada@two.example", "deadline", "withheld")
	set_deadlines(board=10, late=23)
	wait_for_state("ada@two.example", "deadline", "sent")
	words = late_deadline_in_words()
	until(lambda: words in arrived("ada@two.example", "small ends within 24 hours").get_content())
	sql("DO SLEEP(1.5)")
	equal((deadlines_told("ada"), deadlines_told("bob")), ("2", "2"))


@test
def members_hear_of_the_deadline_of_their_team():
	sql("DELETE FROM mails WHERE kind = 'deadline'; DELETE FROM leaderboard_extensions")
	sql(
		"INSERT INTO users (name, password_hash, kind) VALUES ('Quick', '!', 'team'); "
		"INSERT INTO contests (name, title, starts_at, ends_at, rules, team_members) "
		"VALUES ('cup', 'Cup', NOW() - INTERVAL 1 DAY, NOW() + INTERVAL 9 DAY, '', 3); "
		"INSERT INTO contest_problems (leaderboard_id, contest_id, position) "
		"SELECT l.id, c.id, 1 FROM leaderboards l, contests c; "
		"INSERT INTO teams (user_id, contest_id, code) SELECT u.id, c.id, 'x' FROM users u, "
		"contests c WHERE u.name = 'Quick'; "
		"INSERT INTO team_members (team_id, user_id, contest_id) "
		"SELECT t.user_id, u.id, t.contest_id FROM teams t, users u WHERE u.name = 'bob'; "
		"UPDATE submissions SET user_id = (SELECT user_id FROM teams) "
		"WHERE user_id = (SELECT user_id FROM team_members)"
	)
	site.manage("exception", "extend", "small", "Quick", value("SELECT UTC_DATE + INTERVAL 9 DAY"))
	set_deadlines(board=12, late=30)
	wait_for_state("ada@two.example", "deadline", "sent")
	equal(deadlines_told("bob"), "0")
	set_deadlines(board=12, late=22)
	wait_for_state("bob@one.example", "deadline", "sent")
	words = late_deadline_in_words()
	until(lambda: words in arrived("bob@one.example", "small ends within 24 hours").get_content())
	sql("UPDATE leaderboards SET deadline = NULL; DELETE FROM contest_problems")
	sql("DELETE FROM team_members; DELETE FROM mails WHERE kind = 'deadline'")


@test
def creators_hear_of_internal_errors():
	sql("DELETE FROM rate_limits")
	confirm(carl, "carl@one.example")
	submit_source(bob, source_of(case(7e3), verdict={"verdict": "internal error"}))
	wait_for_state("carl@one.example", "trouble", "sent")
	arrived("carl@one.example", "Internal error on small")


@test
def questions_and_answers_are_told():
	page = "/leaderboard/small/questions"
	sql("UPDATE mail_addresses SET kinds = 'asked,answered'")
	ask = [("action", "ask"), ("text", "May I?\n.\nBcc: eve@one.example")]
	done(ada.post(page, ask))
	wait_for_state("carl@one.example", "asked", "sent")
	mail = arrived("carl@one.example", "A question about small")
	contains(mail.get_content(), "May I?\n.\nBcc: eve@one.example")
	contains(mail.get_content(), f"{site.url}{page}")
	reply = [("action", "answer"), ("question", value("SELECT MAX(id) FROM questions"))]
	done(carl.post(page, [*reply, ("answer", "No."), ("for", "asker")]))
	wait_for_state("ada@two.example", "answered", "sent")
	mail = arrived("ada@two.example", "Your question about small was answered")
	contains(mail.get_content(), "which only you can read:\n\nNo.")
	equal(value("SELECT COUNT(*) FROM mails WHERE kind IN ('asked', 'answered')"), "2")


@test
def a_question_answered_and_an_answer_read_before_sending_are_not_told():
	page = "/leaderboard/small/questions"
	sql("DELETE FROM mails WHERE kind IN ('asked', 'answered')")
	stop_senders()
	done(ada.post(page, [("action", "ask"), ("text", "Again?")]))
	reply = [("action", "answer"), ("question", value("SELECT MAX(id) FROM questions"))]
	done(carl.post(page, [*reply, ("answer", "No."), ("for", "all")]))
	done(ada.post(page, [("action", "read")]))
	start_sender()
	for address, kind in (("carl@one.example", "asked"), ("ada@two.example", "answered")):
		contains(wait_for_state(address, kind, "withheld")[2], "does not hold any more")


def announce(text):
	"""Announces on small, and waits until podium-hooks has queued the e-mails."""
	fields = [("action", "make"), ("leaderboard", "small"), ("text", text)]
	done(carl.post("/admin/announcements", fields))
	number = value("SELECT MAX(id) FROM announcements")
	until(lambda: sql(f"SELECT * FROM announcements_told WHERE announcement_id = {number}"))
	return number


@test
def an_announcement_is_told_to_who_has_submitted():
	sql("UPDATE mail_addresses SET kinds = 'announced'")
	announce("Shape 3 was wrong.\n.\nBcc: eve@one.example")
	wait_for_state("ada@two.example", "announced", "sent")
	mail = arrived("ada@two.example", "An announcement on small")
	contains(mail.get_content(), "Shape 3 was wrong.\n.\nBcc: eve@one.example")
	contains(mail.get_content(), f"{site.url}/leaderboard/small\n")
	equal(state("carl@one.example", "announced")[0], "")
	equal(click(urllib.parse.urlsplit(mail["List-Unsubscribe"].strip("<>")).path).status, 200)
	equal(
		sql(
			"SELECT a.address FROM mail_addresses a WHERE FIND_IN_SET('announced', a.kinds) "
			"AND a.address = 'ada@two.example'"
		),
		[],
	)


@test
def an_announcement_that_ended_was_read_or_is_out_of_sight_is_not_told():
	sql(
		"UPDATE mail_addresses SET kinds = 'announced'; INSERT INTO contests (name, title, rules, "
		"starts_at, ends_at) VALUES ('fair', 'Fair', '', UTC_TIMESTAMP(3) - INTERVAL 1 DAY, "
		"UTC_TIMESTAMP(3) + INTERVAL 1 DAY); INSERT INTO contest_problems (leaderboard_id, "
		"contest_id, position) SELECT l.id, c.id, 1 FROM leaderboards l JOIN contests c WHERE "
		"l.name = 'small' AND c.name = 'fair'; INSERT INTO contest_entrants (contest_id, user_id) "
		"SELECT c.id, u.id FROM contests c JOIN users u WHERE c.name = 'fair' AND u.name = 'ada'"
	)
	end = [("action", "end"), ("confirm", "yes")]
	for meanwhile in (
		lambda number: done(carl.post("/admin/announcements", [*end, ("id", number)])),
		lambda number: done(ada.post("/leaderboard/small/questions", [("action", "read")])),
		lambda number: sql("UPDATE leaderboards SET visibility = 'closed' WHERE name = 'small'"),
	):
		stop_senders()
		sql("DELETE FROM mails WHERE kind = 'announced'")
		number = announce("Shape 4 was wrong.")
		equal(state("ada@two.example", "announced")[0], "waiting")
		meanwhile(number)
		start_sender()
		sentence = wait_for_state("ada@two.example", "announced", "withheld")[2]
		contains(sentence, "does not hold any more")
	sql("UPDATE leaderboards SET visibility = 'public'; DELETE FROM announcements")
	sql("DELETE FROM contests WHERE name = 'fair'")


@test
def podium_admin_tries_the_settings():
	contains(site.manage("mail", "test", "you@one.example"), "The mail server took it.")
	contains(server.wait_for("you@one.example")["Subject"], "Test of Podium's e-mail")
	refused = site.admin("mail", "test", "gone@one.example")
	equal(refused.returncode, 1)
	contains(refused.stderr, "550 5.1.1 <(the address)> does not live here")
	equal(site.admin("mail", "test", "nobody").returncode, 1)
	environment = site.environment
	for setting, wrong, sentence in (
		("SERVER", "http://localhost", "mail_server must be"),
		("SENDER", "nobody", "mail_sender must be"),
		("TLS", "maybe", "mail_tls must be"),
		("TLS", "off", "mail_user needs TLS"),
		("TLS_CA", "/nowhere", "Cannot read mail_tls_ca"),
		("PASSWORD_FILE", "/nowhere", "Cannot read mail_password_file"),
		("PASSWORD_FILE", "/etc/passwd", "Everybody on this host can read"),
	):
		site.environment = {**environment, f"PODIUM_MAIL_{setting}": wrong}
		contains(site.admin("doctor").stderr, sentence)
	site.environment = environment


@test
def figures_tell_of_the_queue():
	figures = anonymous.get("/metrics").text
	contains(figures, 'podium_mails{state="sent"}')
	contains(figures, "podium_mail_delay_seconds 0")


@test
def the_server_down_delays_and_loses_nothing():
	server.stop()
	anonymous.post("/forgot", [("name", "ada")])
	until(lambda: int(state("ada@two.example", "password")[1]) >= 2)
	contains(state("ada@two.example", "password")[2], "does not answer")
	server.start()
	wait_for_state("ada@two.example", "password", "sent")


@test
def a_temporary_refusal_is_retried():
	sql("DELETE FROM rate_limits")
	done(enter(bob, "later@one.example"))
	until(lambda: int(state("later@one.example", "confirm")[1]) >= 2)
	held = state("later@one.example", "confirm")
	equal(held[0], "waiting")
	contains(held[2], "451 4.2.1 (the address) is busy")
	server.allow()
	wait_for_state("later@one.example", "confirm", "sent")


@test
def a_permanent_refusal_stops_the_address_and_says_so():
	sql("DELETE FROM rate_limits")
	done(enter(bob, "gone@one.example"))
	equal(wait_for_state("gone@one.example", "confirm", "failed")[1], "1")
	page = whole(bob.get("/account/mail")).words()
	contains(page, "Podium stopped writing to gone@one.example")
	contains(page, "550 5.1.1 <(the address)> does not live here")
	sql("UPDATE mail_addresses SET address = pending WHERE pending = 'gone@one.example'")
	anonymous.post("/forgot", [("name", "bob")])
	contains(wait_for_state("gone@one.example", "password", "withheld")[2], "refused the address")
	# Entered again, it is tried again.
	done(enter(bob, "gone@one.example"))
	equal(wait_for_state("gone@one.example", "confirm", "failed")[1], "1")


@test
def a_refusal_by_policy_does_not_stop_an_address():
	sql("DELETE FROM rate_limits")
	done(enter(bob, "policy@one.example"))
	equal(wait_for_state("policy@one.example", "confirm", "failed")[1], "1")
	equal(
		value("SELECT COUNT(*) FROM mail_addresses WHERE stopped_address = 'policy@one.example'"),
		"0",
	)


def wait_for_trouble(sentence):
	"""Asks for a password and waits until the attempt fails with this sentence."""
	sql("DELETE FROM mails; DELETE FROM rate_limits")
	anonymous.post("/forgot", [("name", "ada")])
	until(
		lambda: sentence in (state("ada@two.example", "password") or ["", "", ""])[2],
		30,
		explain=lambda: (state("ada@two.example", "password"), sender_log()[-1500:]),
	)
	equal(state("ada@two.example", "password")[0], "waiting")


@test
def a_server_without_tls_gets_nothing():
	before = len(server.raw())
	server.stop()
	server.set_plain(True)
	server.start()
	wait_for_trouble("offers no TLS")
	equal(len(server.raw()), before)
	stop_senders()
	start_sender(PODIUM_MAIL_TLS="off", PODIUM_MAIL_USER="")
	wait_for_state("ada@two.example", "password", "sent")
	server.stop()
	server.set_plain(False)
	server.start()


@test
def a_wrong_certificate_gets_nothing():
	before = len(server.raw())
	for settings in (
		{"PODIUM_MAIL_TLS_CA": str(server.folder / "certificates" / "other.pem")},
		{"PODIUM_MAIL_TLS_CA": ""},
		{"PODIUM_MAIL_SERVER": f"smtp://127.0.0.1:{server.ports[0]}"},
		{
			"PODIUM_MAIL_SERVER": f"smtps://localhost:{server.ports[1]}",
			"PODIUM_MAIL_TLS_CA": str(server.folder / "certificates" / "other.pem"),
		},
	):
		stop_senders()
		start_sender(**settings)
		wait_for_trouble("certificate is not signed for its name")
	equal(len(server.raw()), before)


@test
def a_wrong_password_is_said():
	stop_senders()
	secret = site.var / "wrong-password"
	secret.write_text("wrong\n")
	secret.chmod(0o600)
	start_sender(PODIUM_MAIL_PASSWORD_FILE=str(secret))
	wait_for_trouble("refuses mail_user or its password")


@test
def implicit_tls_works():
	stop_senders()
	start_sender(**server.settings(implicit=True))
	wait_for_state("ada@two.example", "password", "sent")


@test
def a_killed_sender_loses_nothing():
	stop_senders()
	server.stop()
	sql("DELETE FROM mails; DELETE FROM rate_limits")
	anonymous.post("/forgot", [("name", "ada")])
	start_sender()
	until(lambda: int(state("ada@two.example", "password")[1]) >= 1)
	senders[0].kill()
	senders.pop().wait()
	server.start()
	sql("UPDATE mails SET lease_expires = NULL, next_at = UTC_TIMESTAMP(3)")
	start_sender()
	wait_for_state("ada@two.example", "password", "sent")


@test
def secrets_and_addresses_stay_out_of_logs():
	link = link_in(arrived("ada@two.example", "Choose a new password"), "password")
	anonymous.get(link)
	sql("DO SLEEP(0.1)")
	logs = "".join(
		file.read_text(errors="replace")
		for file in [*(site.var / "log").glob("*"), site.var / "run.log"]
		if file.is_file()
	)
	for secret in (MAIL_PASSWORD, link.rsplit("/", 1)[1], "@two.example", "gone@one"):
		lacks(logs, secret)
	rows = str(sql("SELECT sentence FROM mails") + sql("SELECT detail FROM audit_log"))
	for secret in (MAIL_PASSWORD, link.rsplit("/", 1)[1], "@two.example"):
		lacks(rows, secret)
	secret = link.rsplit("/", 1)[1].encode()
	dump = subprocess.run(
		[site.admin_program, "backup", "-"], env=site.environment, capture_output=True, check=True
	).stdout
	lacks(dump.decode(errors="replace"), secret.decode())


@test
def removing_the_address_ends_its_links():
	sql("DELETE FROM rate_limits")
	mail = next(m for m in server.mails("ada@two.example") if m["List-Unsubscribe"])
	path = urllib.parse.urlsplit(mail["List-Unsubscribe"].strip("<>")).path
	equal(anonymous.get(path).status, 200)
	done(ada.post("/account/mail", [("action", "remove"), ("current", PASSWORD)]))
	equal(anonymous.get(path).status, 404)
	equal(sql("SELECT address FROM mail_addresses WHERE address = 'ada@two.example'"), [])
	until(lambda: "was changed" in server.mails("ada@two.example")[-1]["Subject"])


@test
def removing_the_address_stops_no_warning_to_an_earlier_one():
	sql("DELETE FROM rate_limits")
	confirm(ada, "ada@three.example")
	sql(
		"INSERT INTO mails (user_id, kind, address, next_at) SELECT u.id, k.kind, "
		"'ada@two.example', UTC_TIMESTAMP(3) + INTERVAL 1 DAY FROM users u, "
		"(SELECT 'changed' AS kind UNION SELECT 'password') k WHERE u.name = 'ada'"
	)
	before = len(server.mails("ada@two.example"))
	done(ada.post("/account/mail", [("action", "remove"), ("current", PASSWORD)]))
	waiting = "FROM mails WHERE address = 'ada@two.example' AND state = 'waiting'"
	equal(sql(f"SELECT kind {waiting}"), [["changed"]])
	sql("UPDATE mails SET next_at = UTC_TIMESTAMP(3) WHERE address = 'ada@two.example'")
	contains(server.wait_for("ada@two.example", before + 1)["Subject"], "was changed")


def change_password(client, before, after):
	fields = [("current", before), ("password", after), ("again", after)]
	done(client.post("/account/password", fields, form="/account"))


@test
def the_owner_hears_of_a_change_of_the_password():
	sql("DELETE FROM rate_limits; DELETE FROM mails")
	dora = Client(site.url)
	dora.register("dora")
	change_password(dora, PASSWORD, "another password")
	equal(sql("SELECT * FROM mails"), [])  # there is no address yet
	done(enter(dora, "dora@one.example", "another password"))
	anonymous.post(link_in(server.wait_for("dora@one.example"), "mail/confirm"))
	sql("UPDATE mail_addresses SET kinds = ''")  # it cannot be switched off
	change_password(dora, "another password", PASSWORD)
	mail = server.wait_for("dora@one.example", 2)
	equal(
		(mail["Subject"], mail["List-Unsubscribe"]), ("Your account's security was changed", None)
	)
	text = mail.get_content()
	at = value("SELECT DATE_FORMAT(at, '%Y-%m-%d %H:%i UTC') FROM mails WHERE kind = 'security'")
	for part in (
		"The password was changed, and every session was ended.",
		f"This happened at {at}, to the account dora on {site.url}.",
		"If it was not you, log in, change the password,",
		f"{site.url}/account\n",
	):
		contains(text.replace("=\n", ""), part)


@test
def neither_removing_the_address_nor_deleting_the_account_stops_a_warning():
	sql("DELETE FROM rate_limits; DELETE FROM mails")
	stop_senders()
	erin = Client(site.url)
	erin.register("erin")
	number = value("SELECT id FROM users WHERE name = 'erin'")
	sql(
		"INSERT INTO mail_addresses (user_id, address, confirmed_at, unsubscribe_key) "
		f"VALUES ({number}, 'erin@one.example', UTC_TIMESTAMP(3), REPEAT('x', 32))"
	)
	change_password(erin, PASSWORD, "another password")
	remove = [("action", "remove"), ("current", "another password")]
	done(erin.post("/account/mail", remove))
	delete = [("name", "erin"), ("password", "another password")]
	done(erin.post("/account/delete", delete, form="/account/delete"))
	rows = f"SELECT kind, address, user_name, state FROM mails WHERE user_id = {number} ORDER BY id"
	equal(
		sql(rows),
		[[kind, "erin@one.example", "erin", "waiting"] for kind in ("security", "changed")],
	)
	start_sender()
	until(
		lambda: len(server.mails("erin@one.example")) == 2,
		60,
		explain=lambda: (sql(rows), sender_log()[-2000:]),
	)
	texts = [mail.get_content() for mail in server.mails("erin@one.example")]
	contains(" ".join(texts), "The password was changed")
	contains(" ".join(texts), "no longer has this e-mail address")
	for text in texts:
		contains(text, "Hello erin,")
	until(lambda: sql(rows) == [])  # what the site still knew is gone


def prepare():
	for name, client in {"ada": ada, "bob": bob, "carl": carl, "root-of-all": admin}.items():
		client.register(name)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	sql("UPDATE users SET role = 'creator' WHERE name = 'carl'")
	make_board(carl, "small")


try:
	prepare()
	code = run()
finally:
	for sender in senders:
		sender.kill()
		sender.wait()
	site.remove()
	server.remove()
sys.exit(code)
