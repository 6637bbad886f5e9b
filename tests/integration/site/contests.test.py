#!/usr/bin/env python3
"""A contest from its creation to its certificates, through nginx: problems that nobody finds before
the start, registration, the scoreboard, its freeze, the reveal, exports and certificates."""

import csv
import datetime
import io
import json
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
import contract  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
import mariadb  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import TEMPLATE_TASK, done, make_board, register, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_WEBHOOK_SENDERS="0")
sql, value = site.sql, site.value
anyone, admin, carl, dora, ada, bob, eve = (Client(site.url) for _ in range(7))
HOSTILE = "<script>alert(1)</script>"
CODE = "the-code-of-the-cup"


def after(seconds):
	"""A time as podium-admin and forms take it."""
	moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
	return moment.strftime("%Y-%m-%dT%H:%M:%S")


def fields(**changed):
	return list(
		{
			"name": "cup",
			"title": f"The cup {HOSTILE}",
			"starts": after(3600),
			"ends": after(7200),
			"problems": "alpha beta",
			"rules": f"# Rules\n\nBe *fast*. {HOSTILE}",
			"registration": "code",
			"code": CODE,
			"scoring": "ranks",
			"points": "10 6 3",
			"freeze_minutes": "0",
			**changed,
		}.items()
	)


def board_rows(client=anyone):
	data = client.fresh("/contest/cup.json").json
	return [(row["place"], row["user"], row["points"]) for row in data["rows"]]


def wait_for(statement, expected):
	until(lambda: value(statement) == expected, explain=lambda: (statement, sql(statement)))


def seen(client, address):
	return (client.get if address.startswith("/api/") else client.fresh)(address)


def state_of(page):
	"""What the badge beside the title says."""
	return re.search(r'<h1>.*?<span class="chip"[^>]*>([^<]*)', page.text, re.S)[1]


VISIBILITY = "SELECT visibility FROM leaderboards WHERE name = 'alpha'"
# Whatever could tell a visitor of a leaderboard.
ADDRESSES = [
	"/leaderboard/alpha",
	"/leaderboard/alpha?view=live",
	"/leaderboard/alpha?view=shapes",
	"/leaderboard/alpha?version=1",
	"/leaderboard/alpha.json",
	"/leaderboard/alpha.csv",
	"/leaderboard/alpha.atom",
	"/leaderboard/alpha/badge.svg",
	"/leaderboard/alpha/share.png",
	"/leaderboard/alpha/live",
	"/leaderboard/alpha/submit",
	"/leaderboard/alpha/task",
	"/leaderboard/alpha/task/file/eval.py",
	"/leaderboard/alpha/raw/file/eval.py",
	"/leaderboard/alpha/template/Python",
	"/api/v1/leaderboards/alpha",
	"/api/v1/leaderboards/alpha/rankings?gpu=H200",
	"/api/v1/leaderboards/alpha/task",
	"/api/v1/leaderboards/alpha/files/eval.py",
	"/api/v1/leaderboards/alpha/templates/Python",
	"/contest/cup.json",
	"/contest/cup.csv",
]
# These exist, and must not name it.
LISTS = [
	"/",
	"/?q=alph",
	"/submit",
	"/archive",
	"/queue",
	"/queue/status",
	"/contests",
	"/contest/cup",
	"/user/carl",
	"/api/v1/leaderboards",
	"/api/v1/leaderboards?state=active",
	"/api/v1/queue",
	"/api/v1/users/carl",
	"/popcorn/leaderboards",
]


@test
def a_contest_needs_valid_settings():
	register(
		site, {"root-of-all": admin, "carl": carl, "dora": dora, "ada": ada, "bob": bob, "eve": eve}
	)
	sql("UPDATE users SET role = 'creator' WHERE name = 'dora'")
	for board in ("alpha", "beta"):
		make_board(carl, board, TEMPLATE_TASK)
	sql(
		"INSERT INTO webhooks (name, address, form, events, secret) VALUES ('all', "
		"'https://chat.invalid/', 'json', 'contest_started,contest_ended,standings_final', 'x')"
	)
	for changed, sentence in (
		({"name": "a/b"}, "A name has 1 to 64"),
		({"title": " "}, "Type a title"),
		({"starts": "soon"}, "Type the start"),
		({"ends": after(60)}, "The end must be after the start."),
		({"registration": "maybe"}, "The registration is open, code or closed."),
		({"code": "abc"}, "Type a code of 6 to 64 characters."),
		({"scoring": "luck"}, "The scoring is ranks, ratios or mean."),
		({"points": "1 2"}, "A rank cannot have more points"),
		({"freeze_minutes": "-1"}, "Type the minutes"),
		*(({"team_members": most}, "Type how many members") for most in ("1", "51", "-1", "x", "")),
		({"problems": "nothing"}, "There is no leaderboard named &quot;nothing&quot;"),
	):
		answer = carl.post("/admin/contests/new", fields(**changed))
		equal((changed, answer.status), (changed, 422))
		contains(answer.text.replace('"nothing"', "&quot;nothing&quot;"), sentence)
	equal(dora.post("/admin/contests/new", fields()).status, 422)  # not her leaderboards
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) "
		"SELECT l.id, CONCAT('D', seq), seq FROM leaderboards l, seq_1_to_199 "
		"WHERE l.name = 'alpha'"
	)
	answer = carl.post("/admin/contests/new", fields())
	equal(answer.status, 422)
	contains(answer.words(), "The scoreboard would have 201 columns, one for each problem on each")
	sql("DELETE FROM leaderboard_gpus WHERE gpu <> 'H200'")
	equal(sql("SELECT * FROM contests"), [])
	equal(value(VISIBILITY), "public")


@test
def a_problem_that_gets_devices_keeps_the_scoreboard_in_its_limit():
	few = [f"D{number}" for number in range(1, 9)]
	columns = (
		"SELECT COUNT(*) FROM leaderboard_gpus g JOIN contest_problems p "
		"ON p.leaderboard_id = g.leaderboard_id"
	)
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) "
		"SELECT l.id, CONCAT('D', seq), seq FROM leaderboards l, seq_1_to_190 "
		"WHERE l.name = 'beta'"
	)
	done(carl.post("/admin/contests/new", fields(name="wide")))  # 192 columns

	def edit(*devices):
		form = [("gpu", device) for device in ("H200", *devices)]
		return carl.post("/admin/leaderboard/alpha/edit", [*form, ("accepting", "1")])

	answer = edit(*few, "D9")
	equal(answer.status, 422)
	contains(answer.words(), "The scoreboard of the contest wide would have 201 columns, one for")
	equal(value(columns), "192")
	done(edit(*few))
	equal(value(columns), "200")
	sql("UPDATE contests SET final_at = UTC_TIMESTAMP(3)")
	done(edit(*few, "D9"))  # stored standings do not grow
	sql(
		"DELETE FROM contests; DELETE FROM leaderboard_gpus WHERE gpu <> 'H200'; "
		"UPDATE leaderboards SET visibility = 'public', deadline = NULL; DELETE FROM publications; "
		"DELETE FROM audit_log WHERE action LIKE 'contest.%'"
	)


@test
def the_front_page_and_the_navigation_name_contests():
	def front():
		text = anyone.fresh("/").text
		navigation = text.split('<nav aria-label="Site">')[1].split("</nav>")[0]
		named = re.findall(r'contest <a href="/contest/(\w+)">\w+</a> (starts|is running)', text)
		return 'href="/contests"' in navigation, named

	def expect(*expected):
		until(lambda: front() == expected, explain=front)

	expect(False, [])
	for name, starts, ends, expected in (
		("over", -7200, -3600, []),
		("later", 7200, 10800, [("later", "starts")]),
		("next", 3600, 7200, [("next", "starts")]),
		("current", -3600, 3600, [("current", "is running")]),
	):
		sql(
			"INSERT INTO contests (name, title, rules, starts_at, ends_at) "
			f"VALUES ('{name}', '{name}', '', '{after(starts)}', '{after(ends)}')"
		)
		expect(True, expected)
	sql("DELETE FROM contests; DELETE FROM webhook_events")


@test
def a_problem_is_hidden_until_the_start():
	done(carl.post("/admin/contests/new", fields()))
	equal(carl.post("/admin/contests/new", fields()).status, 422)  # the name is taken
	equal(value(VISIBILITY), "hidden")
	for client in (anyone, ada, dora):
		for address in ADDRESSES:
			equal((address, seen(client, address).status), (address, 404))
		for address in LISTS:
			answer = seen(client, address)
			if answer.status != 303:  # the form of submissions asks visitors to log in
				equal((address, answer.status), (address, 200))
			lacks(answer.text, "alpha")
	for client in (carl, admin):
		equal(client.fresh("/leaderboard/alpha").status, 200)
	page = anyone.fresh("/contest/cup")
	contains(page.words(), "2 problems, hidden until the start.")
	lacks(page.text, HOSTILE)
	contains(page.text, "<em>fast</em>")
	lacks(page.text, CODE)
	equal(state_of(page), "not started")
	equal(bool(re.search(r"Starts in (1 hour|\d+ minutes) \.", page.words())), True)
	contains(page.text, '<noscript><meta http-equiv="refresh" content="60"></noscript>')


@test
def the_form_offers_the_leaderboards_that_the_host_may_use():
	def offers(client, address):
		text = client.fresh(address).text
		chosen = re.findall(r'name="problems" list="offers" value="([^"]*)"', text)
		return [name for name in chosen if name], re.findall(r'<option value="([^"]+)">', text)

	make_board(carl, "spare")
	sql("UPDATE leaderboards SET archived_at = UTC_TIMESTAMP(3) WHERE name = 'vectoradd_cu'")
	equal(offers(dora, "/admin/contests/new"), ([], []))
	equal(offers(carl, "/admin/contests/new"), ([], ["spare"]))  # the others are taken
	equal(offers(carl, "/admin/contest/cup"), (["alpha", "beta"], ["alpha", "beta", "spare"]))
	chosen, everything = offers(admin, "/admin/contest/cup")
	equal(("spare" in everything, "vectoradd_cu" in everything), (True, False))
	problems = [("problems", name) for name in ("spare", "", "beta", "alpha", "")]
	done(carl.post("/admin/contest/cup", [("action", "save"), *problems]))
	equal(offers(carl, "/admin/contest/cup")[0], ["spare", "beta", "alpha"])
	answer = carl.post("/admin/contest/cup", [("action", "save"), *problems, ("problems", "none")])
	equal(answer.status, 422)  # and keeps what was typed
	for name in ("spare", "beta", "alpha", "none"):
		contains(answer.text, f'list="offers" value="{name}"')
	problems = [("problems", name) for name in ("alpha", "beta")]
	done(carl.post("/admin/contest/cup", [("action", "save"), *problems]))
	sql("DELETE FROM leaderboards WHERE name = 'spare'")


@test
def the_host_sees_the_check_of_each_problem():
	def checks():
		text = carl.fresh("/admin/contest/cup").text
		table = text.split('id="checks"')[1].split("</table>")[0]
		return re.findall(
			r'href="/admin/leaderboard/(\w+)/dryrun"><span class="chip" data-state="\w+">(\w+)<'
			r'.*?data-label="Next">([^<]*)',
			table,
			re.S,
		)

	def jobs(change):
		sql(
			"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id JOIN leaderboards l "
			f"ON l.id = s.leaderboard_id SET {change} WHERE l.name = 'alpha' AND s.dry_run"
		)

	start, failed = "It becomes visible at the start.", "It stays hidden until its check passes."
	warned = "It stays hidden until somebody accepts the warnings."
	equal(checks(), [("alpha", "passed", start), ("beta", "passed", start)])
	done(carl.post("/admin/leaderboard/alpha/dryrun"))
	for change, state, note in (
		("j.state = 'running'", "running", "The check is running."),
		("j.state = 'done', j.verdict = 'internal error'", "failed", failed),
		("j.verdict = 'wrong answer'", "warned", warned),
	):
		jobs(change)
		equal(checks()[0], ("alpha", state, note))
	sql("DELETE FROM dry_runs; DELETE FROM submissions WHERE dry_run")
	equal(checks()[0], ("alpha", "passed", start))  # published without the check
	sql("DELETE FROM publications")
	note = "It stays hidden until somebody publishes it."
	equal(checks()[1], ("beta", "passed", note))


@test
def publishing_a_problem_waits_for_the_start():
	site.admin("task", "publish", "--unchecked", "alpha")
	done(carl.post("/admin/leaderboard/beta/publishing", [("action", "publish")]))
	time.sleep(2.5)  # podium-web looks each second
	equal(
		sql("SELECT name, visibility FROM leaderboards WHERE name IN ('alpha', 'beta') ORDER BY 1"),
		[["alpha", "hidden"], ["beta", "hidden"]],
	)
	equal(anyone.fresh("/leaderboard/alpha").status, 404)


@test
def a_contestant_registers_with_the_code():
	def send(client, code, action="register"):
		return client.post(
			"/contest/cup/registration", [("action", action), ("code", code)], form="/contest/cup"
		)

	for wrong in ("", "wrong", CODE + "x", CODE[:-1], CODE.upper()):
		answer = send(ada, wrong)
		equal((wrong, answer.status), (wrong, 422))
		lacks(answer.text, CODE + '"') if wrong != CODE + "x" else None
	equal(sql("SELECT * FROM contest_entrants"), [])
	for client in (ada, bob):
		done(send(client, CODE))
	done(send(ada, CODE))  # once more
	contains(ada.fresh("/contest/cup").words(), "You are registered.")
	equal(value("SELECT COUNT(*) FROM contest_entrants"), "2")
	done(send(bob, "", "leave"))
	equal(value("SELECT COUNT(*) FROM contest_entrants"), "1")
	done(send(bob, CODE))


@test
def who_hosts_a_contest_manages_it():
	for client in (ada, dora):
		for address in ("/admin/contest/cup", "/contest/cup/reveal"):
			equal(client.fresh(address).status, 403)
		equal(client.post("/admin/contest/cup", fields(), form="/account").status, 403)
	contains(carl.get("/admin/contest/cup").text, CODE)
	done(carl.post("/admin/contest/cup", [("action", "add"), ("user", "eve")]))
	answer = carl.post("/admin/contest/cup", [("action", "add"), ("user", "nobody-of-this-name")])
	equal(answer.status, 422)
	contains(answer.words(), "There is no user named")
	done(carl.post("/admin/contest/cup", [("action", "remove"), ("user", "eve")]))
	lacks(str(sql("SELECT detail FROM audit_log")), CODE)


@test
def the_problems_become_visible_at_the_start():
	site.manage("contest", "set", "cup", f"starts={after(4)}")
	equal(value(VISIBILITY), "hidden")
	wait_for(VISIBILITY, "public")
	equal(value("SELECT starts_at <= UTC_TIMESTAMP(3) FROM contests"), "1")
	equal(
		value("SELECT starts_at > UTC_TIMESTAMP(3) - INTERVAL 10 SECOND FROM contests"), "1"
	)  # soon after, not when podium-web looks next in a minute
	equal(anyone.fresh("/leaderboard/alpha").status, 200)
	page = anyone.fresh("/contest/cup")
	contains(page.text, 'href="/leaderboard/alpha"')
	equal(state_of(page), "running")
	equal(bool(re.search(r"Ends in [12] hours?( \d+ minutes?)? \.", page.words())), True)
	board = anyone.fresh("/leaderboard/alpha")
	contains(
		board.text, '<p>A problem of the contest <a href="/contest/cup">The cup &lt;script&gt;'
	)
	equal(Program(site.url).read("/api/v1/leaderboards/alpha")["contest"], "cup")
	wait_for("SELECT started_at IS NOT NULL FROM contests", "1")
	equal(
		value(
			"SELECT l.deadline = c.ends_at FROM leaderboards l, contests c WHERE l.name = 'alpha'"
		),
		"1",
	)
	refused = site.admin("contest", "set", "cup", f"starts={after(600)}")
	equal((refused.returncode, "has started" in refused.stderr), (1, True))
	refused = site.admin("contest", "set", "cup", "problems=alpha")
	equal((refused.returncode, "beta must stay" in refused.stderr), (1, True))


@test
def only_contestants_submit_while_the_contest_runs():
	answer = eve.post(
		"/leaderboard/alpha/submit", [("mode", "ranked"), ("code", "x = 0\n"), ("gpu", "H200")]
	)
	equal(answer.status, 422)
	contains(answer.words(), "alpha is a problem of a contest. Register for the contest")
	equal(value("SELECT COUNT(*) FROM submissions WHERE NOT dry_run"), "0")
	submit_time(ada, 1000.0, "alpha")
	submit_time(ada, 4000.0, "beta")
	submit_time(bob, 2000.0, "alpha")
	submit_time(carl, 500.0, "alpha")  # its creator tries it out, and has no row
	equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])


@test
def each_scoring_has_its_places():
	for scoring, expected in (
		("ratios", [(1, "ada", 200), (2, "bob", 50)]),
		("mean", [(1, "ada", 100), (2, "bob", 7.07)]),
		("ranks", [(1, "ada", 20), (2, "bob", 6)]),
	):
		sql(f"UPDATE contests SET scoring = '{scoring}' WHERE name = 'cup'")
		equal(board_rows(), expected)
	words = anyone.fresh("/contest/cup").words()
	contains(words, "ada 20 10 rank 1")
	contains(words, "–")


@test
def a_long_scoreboard_has_pages():
	sql("""
		INSERT INTO users (name, password_hash) SELECT CONCAT('late', seq), '!' FROM seq_1_to_150;
		INSERT INTO contest_entrants (contest_id, user_id)
			SELECT c.id, u.id FROM contests c JOIN users u ON u.name LIKE 'late%' AND c.name = 'cup'
	""")
	first, second = (anyone.fresh(f"/contest/cup?page={page}") for page in (1, 2))
	contains(first.words(), "Page 1 of 2: 1 to 100 of 152 Next")
	contains(second.words(), "Previous Page 2 of 2: 101 to 152 of 152")
	rows = [page.text.count('<th scope="row" class="name beside">') for page in (first, second)]
	equal(rows, [100, 52])
	equal(anyone.fresh("/contest/cup?page=3").status, 404)
	sql("DELETE FROM users WHERE name LIKE 'late%'")
	equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])


@test
def results_after_the_freeze_are_not_on_the_scoreboard():
	site.manage("contest", "set", "cup", f"ends={after(30 * 60 + 2)}", "freeze_minutes=30")
	contains(anyone.fresh("/contest/cup").words(), ". The scoreboard freezes in ")
	time.sleep(2.1)
	page = anyone.fresh("/contest/cup")
	equal((state_of(page), " freezes in " in page.words()), ("frozen", False))
	equal(bool(re.search(r"Ends in \d+ minutes \.", page.words())), True)
	submit_time(bob, 3000.0, "beta")
	submit_time(bob, 900.0, "alpha")
	equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])
	equal(anyone.fresh("/contest/cup.json").json["frozen"], True)
	contains(anyone.fresh("/contest/cup").words(), "The scoreboard has been frozen since")
	before = sql("SELECT user_id, leaderboard_id, score_ns FROM ranking ORDER BY 1, 2")
	equal(
		[
			line.split()
			for line in site.manage("contest", "standings", "--unfrozen", "cup").splitlines()
		],
		[["1", "bob", "20.00"], ["2", "ada", "12.00"]],
	)
	equal(sql("SELECT user_id, leaderboard_id, score_ns FROM ranking ORDER BY 1, 2"), before)
	equal(value("SELECT COUNT(*) FROM leaderboards WHERE frozen_at IS NOT NULL"), "2")


@test
def a_freeze_that_has_begun_stays_where_it_began():
	frozen = "SELECT DISTINCT frozen_at FROM leaderboards WHERE frozen_at IS NOT NULL"
	times = "SELECT ends_at, ends_at - INTERVAL 10 MINUTE, ends_at + INTERVAL 25 MINUTE"
	ends, *others = sql(f"{times} FROM contests WHERE name = 'cup'")[0]
	began = sql(frozen)
	for moved in (*others, ends):
		site.manage("contest", "set", "cup", f"ends={moved[:19]}")
		equal(sql(frozen), began)
		equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])
	answer = carl.post("/admin/contest/cup", [("action", "save"), ("freeze_minutes", "5")])
	equal(answer.status, 422)
	contains(answer.words(), "The scoreboard is frozen, so this does not change any more.")


@test
def the_scoring_stays_once_the_contest_has_started():
	for key, other in (("scoring", "mean"), ("points", "9 1"), ("team_members", "9")):
		answer = carl.post("/admin/contest/cup", [("action", "save"), (key, other)])
		equal((key, answer.status), (key, 422))
		contains(answer.words(), "The contest has started, so this does not change any more.")


def unfrozen_rows(client):
	page = client.fresh("/contest/cup/unfrozen")
	equal(page.status, 200)
	equal(page.headers["Cache-Control"], "private, no-store")
	contains(page.words(), "This scoreboard is not public.")
	return re.findall(r'<a class="cut" href="/user/(\w+)">', page.text)


def jury_form(client, action, user, *more):
	return client.post("/admin/contest/cup", [("action", action), ("juror", user), *more])


@test
def the_jury_of_all_problems_sees_the_scoreboard_without_the_freeze():
	site.manage("role", "give", "alpha", "eve", "jury")
	outsiders = [(anyone, 303), (ada, 403), (bob, 403), (dora, 403), (eve, 403)]
	for client, status in outsiders:
		equal(client.fresh("/contest/cup/unfrozen").status, status)
		lacks(client.fresh("/contest/cup").text, "/contest/cup/unfrozen")
	equal([unfrozen_rows(client) for client in (carl, admin)], 2 * [["bob", "ada"]])
	done(jury_form(carl, "judge", "eve"))
	contains(carl.fresh("/admin/contest/cup").words(), "eve 2 of 2 problems Remove")
	contains(eve.fresh("/contest/cup").text, 'href="/contest/cup/unfrozen"')
	for _ in range(2):
		equal(unfrozen_rows(eve), ["bob", "ada"])
		for client, status in outsiders[:-1]:
			equal(client.get("/contest/cup/unfrozen").status, status)
			equal(board_rows(client), [(1, "ada", 20), (2, "bob", 6)])
			lacks(client.get("/contest/cup").text, "/contest/cup/unfrozen")
	roles = "SELECT COUNT(*) FROM leaderboard_roles"
	contains(jury_form(carl, "dismiss", "eve").words(), 'Remove "eve" from the jury of')
	equal(value(roles), "2")
	done(jury_form(carl, "dismiss", "eve", ("confirm", "yes")))
	equal(value(roles), "0")
	equal(eve.fresh("/contest/cup/unfrozen").status, 403)
	given = sql(
		"SELECT subject, detail FROM audit_log WHERE action = 'leaderboard.role' ORDER BY id"
	)
	equal(given[1], ["beta", "eve: jury, was none"])  # alpha had it
	equal(sorted(given[2:]), [[one, "eve: none, was jury"] for one in ("alpha", "beta")])


@test
def a_juror_is_not_asked_to_register_or_to_submit():
	site.manage("role", "give", "alpha", "eve", "jury")
	page = eve.fresh("/contest/cup")
	contains(page.words(), "You are in the jury, so you do not take part.")
	lacks(page.text, 'value="register"')
	board = eve.fresh("/leaderboard/alpha")
	contains(board.words(), "You are in the jury.")
	for client, submits in ((eve, False), (ada, True), (anyone, True)):
		text = client.fresh("/leaderboard/alpha").text
		equal("/leaderboard/alpha/submit" in text, submits)
	page = eve.fresh("/leaderboard/alpha/submit")
	contains(page.words(), "is a problem of a contest, and you are in the jury.")
	lacks(page.words(), "Register for")
	site.manage("role", "take", "alpha", "eve")
	contains(eve.fresh("/contest/cup").text, 'value="register"')


@test
def a_jury_is_changed_only_by_who_owns_all_problems():
	sql(
		"UPDATE leaderboards SET creator_id = (SELECT id FROM users WHERE name = 'dora') "
		"WHERE name = 'beta'"
	)
	answer = jury_form(carl, "judge", "eve")
	equal(answer.status, 403)
	contains(answer.words(), "Only the creator of beta and admins may change its jury.")
	equal(carl.fresh("/contest/cup/unfrozen").status, 403)  # beta is not his
	sql(
		"UPDATE leaderboards SET creator_id = (SELECT id FROM users WHERE name = 'carl') "
		"WHERE name = 'beta'"
	)
	for user, sentence in (
		("nobody-at-all", "There is no user named"),
		("größe", "There is no user named"),
		("ada", "ada takes part in the contest The cup"),
	):
		answer = jury_form(carl, "judge", user)
		equal((user, answer.status), (user, 422))
		contains(answer.words(), sentence)
	answer = jury_form(carl, "dismiss", "eve", ("confirm", "yes"))
	equal(answer.status, 422)
	contains(answer.words(), "This user is not in the jury of the contest.")
	equal(sql("SELECT * FROM leaderboard_roles"), [])


@test
def programs_and_operators_change_the_jury():
	host, stranger, participant = (
		Program(site.url, make_token(client, "jury", *scopes))
		for client, scopes in (
			(carl, ["read", "admin"]),
			(dora, ["read", "admin"]),
			(ada, ["read", "submit"]),
		)
	)
	jury = "/api/v1/admin/contests/cup/jury"
	site.manage("role", "give", "alpha", "eve", "jury")
	equal(host.read(jury)["items"], [{"user": "eve", "problem_count": 1}])
	for program in (stranger, participant):
		equal(program.ask("GET", jury).status, 403)
		for method in ("PUT", "DELETE"):
			equal(program.ask(method, f"{jury}/eve").status, 403)
	equal(host.ask("PUT", f"{jury}/eve").status, 204)
	equal(host.read(jury)["items"], [{"user": "eve", "problem_count": 2}])
	equal(host.ask("PUT", f"{jury}/ada").status, 400)  # a contestant
	equal(host.ask("PUT", f"{jury}/eve").status, 400)  # in it already
	equal(host.ask("DELETE", f"{jury}/eve").status, 204)
	equal(host.ask("DELETE", f"{jury}/eve").status, 400)
	equal(host.read(jury)["items"], [])

	contains(site.manage("contest", "judge", "cup", "eve"), "eve is in the jury of cup.")
	equal(site.manage("contest", "jury", "cup").split(), ["eve", "2", "of", "2", "problems"])
	refused = site.admin("contest", "judge", "cup", "bob")
	equal((refused.returncode, "bob takes part" in refused.stderr), (1, True))
	contains(site.manage("contest", "dismiss", "cup", "eve"), "eve is no longer in the jury of cup")
	equal(sql("SELECT * FROM leaderboard_roles"), [])


@test
def nobody_is_in_the_jury_and_a_contestant():
	site.manage("role", "give", "alpha", "eve", "jury")
	register = [("action", "register"), ("code", CODE)]
	answer = eve.post("/contest/cup/registration", register, form="/contest/cup")
	equal(answer.status, 409)
	contains(answer.words(), "eve is in the jury of alpha and reads all sources")
	answer = carl.post("/admin/contest/cup", [("action", "add"), ("user", "eve")])
	equal(answer.status, 409)
	site.manage("role", "take", "alpha", "eve")
	answer = carl.post(
		"/admin/leaderboard/alpha/roles", [("action", "give"), ("user", "ada"), ("role", "jury")]
	)
	equal(answer.status, 422)
	contains(answer.words(), "ada takes part in the contest The cup")
	equal(sql("SELECT * FROM leaderboard_roles"), [])


@test
def a_contestant_is_removed_from_a_running_contest_only_after_a_question():
	remove = [("action", "remove"), ("user", "bob")]
	contains(carl.post("/admin/contest/cup", remove).words(), 'Remove "bob" from')
	equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])


@test
def the_reveal_places_one_contestant_a_step():
	equal(carl.fresh("/contest/cup/reveal").status, 409)  # not before the end
	equal(site.admin("contest", "final", "cup").returncode, 1)
	sql(
		"UPDATE contests SET ends_at = UTC_TIMESTAMP(3); "
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3)"
	)
	wait_for("SELECT ended_at IS NOT NULL FROM contests", "1")
	page = anyone.fresh("/contest/cup")
	equal(
		(state_of(page), "data-left" in page.text, "refresh" in page.text), ("ended", False, False)
	)
	contains(page.words(), "The contest has ended, and its standings are not final yet.")

	def rows(step):
		page = carl.fresh(f"/contest/cup/reveal?step={step}").text
		body = page.split("<tbody>")[1].split("</tbody>")[0]
		return [
			("place" if f'<td class="rank">{place}</td>' in row else "waits", name)
			for row in body.split("<tr")[1:]
			for name in ("ada", "bob")
			if f">{name}<" in row
			for place in [row.split('class="rank">')[1].split("<")[0] or "none"]
		]

	equal(rows(0), [("waits", "ada"), ("waits", "bob")])
	equal(rows(1), [("waits", "bob"), ("place", "ada")])
	equal(rows(2), [("place", "bob"), ("place", "ada")])
	equal(rows(99), rows(2))

	def podium(step):
		page = carl.fresh(f"/contest/cup/reveal?step={step}").text
		return re.findall(
			r'<li data-place="(\d)"><span class="medal" data-place="\1">\1</span>\s*'
			r'<b class="cut">(\w+)</b>',
			page,
		)

	equal([podium(step) for step in (0, 1, 2)], [[], [], [("1", "bob"), ("2", "ada")]])
	contains(carl.fresh("/contest/cup/reveal").text, 'rel="next" href="/contest/cup/reveal?step=1"')
	contains(
		carl.fresh("/contest/cup/reveal?step=1").text,
		'rel="prev" href="/contest/cup/reveal?step=0"',
	)
	equal(board_rows(), [(1, "ada", 20), (2, "bob", 6)])  # still frozen for everybody


@test
def there_are_no_certificates_before_the_standings_are_final():
	equal(ada.fresh("/contest/cup/certificate/ada").status, 404)


@test
def the_host_declares_the_standings_final():
	answer = carl.post("/admin/contest/cup", [("action", "final")])
	contains(answer.words(), "The freeze is lifted for everybody")
	equal(value("SELECT final_at IS NULL FROM contests"), "1")
	for user in ("eve", "ada"):  # eve is no contestant
		sql(
			"INSERT INTO leaderboard_extensions (leaderboard_id, user_id, deadline, given_by) "
			"SELECT l.id, u.id, '2090-01-02 03:04', 'carl' FROM leaderboards l, users u WHERE "
			f"l.name = 'beta' AND u.name = '{user}'"
		)
	answer = carl.post("/admin/contest/cup", [("action", "final"), ("confirm", "yes")])
	equal(answer.status, 409)
	contains(answer.words(), "ada may submit until 2090-01-02 03:04 UTC. Try again then")
	sql("DELETE e FROM leaderboard_extensions e JOIN users u ON u.id = e.user_id AND name = 'ada'")
	job = (
		"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id JOIN leaderboards l ON l.id = "
		"s.leaderboard_id SET {} WHERE l.name = 'beta' AND s.mode = 'ranked' AND j.state = 'done'"
	)
	sql(job.format("j.held_at = UTC_TIMESTAMP(3)"))
	answer = carl.post("/admin/contest/cup", [("action", "final"), ("confirm", "yes")])
	contains(answer.words(), "of the contest may change the standings. Release or reject first.")
	sql(job.format("j.held_at = NULL"))
	done(carl.post("/admin/contest/cup", [("action", "final"), ("confirm", "yes")]))
	equal(board_rows(), [(1, "bob", 20), (2, "ada", 12)])
	data = anyone.fresh("/contest/cup.json").json
	equal((data["final"], data["frozen"], data["state"]), (True, False, "final"))
	page = anyone.fresh("/contest/cup")
	equal((state_of(page), " frozen " in page.words()), ("final", False))
	equal(carl.post("/admin/contest/cup", [("action", "save"), ("scoring", "mean")]).status, 409)
	equal(
		sql("SELECT action, actor FROM audit_log WHERE action LIKE 'contest.%' ORDER BY id")[-1],
		["contest.final", "carl"],
	)


@test
def the_final_standings_are_exported():
	answer = anyone.fresh("/contest/cup.csv")
	equal(
		list(csv.reader(io.StringIO(answer.text))),
		[
			["place", "tie", "user", "points"]
			+ [
				f"{problem} H200 {part}"
				for problem in ("alpha", "beta")
				for part in ("rank", "points", "score_ns")
			],
			["1", "false", "bob", "20", "1", "10", "900", "1", "10", "3000"],
			["2", "false", "ada", "12", "2", "6", "1000", "2", "6", "4000"],
		],
	)
	first = anyone.fresh("/contest/cup.json").json["rows"][0]["results"][0]
	equal((first["rank"], first["tie"], first["points"], first["score_ns"]), (1, False, 10, 900))


def text_of(pdf):
	return subprocess.run(
		["pdftotext", "-layout", "-", "-"], input=pdf, capture_output=True, check=True
	).stdout.decode()


@test
def a_contestant_gets_a_certificate():
	answer = bob.fresh("/contest/cup/certificate/bob")
	equal((answer.status, answer.headers["Content-Type"]), (200, "application/pdf"))
	words = text_of(answer.bytes).split()
	contains(" ".join(words), "took 1st place with 20 points, of 2 contestants")
	contains(" ".join(words), "bob")
	contains(" ".join(words), f"The cup {HOSTILE}")
	contains(
		" ".join(text_of(carl.fresh("/contest/cup/certificate/ada").bytes).split()),
		"took 2nd place",
	)
	for client, user, status in (
		(bob, "ada", 403),
		(eve, "eve", 404),
		(carl, "eve", 404),
		(anyone, "bob", 303),
	):
		equal((user, client.fresh(f"/contest/cup/certificate/{user}").status), (user, status))


@test
def a_certificate_names_the_members_of_a_team_and_no_place_without_points():
	names = [f"member-{i:02}-{'x' * 22}" for i in range(50)]
	sql(
		"INSERT INTO users (name, password_hash, kind) VALUES ('Crowd', '', 'team'), "
		+ ", ".join(f"('{name}', '', 'person')" for name in names)
		+ "; INSERT INTO teams (user_id, contest_id, code) SELECT u.id, c.id, 'crowd' FROM users "
		"u JOIN contests c ON c.name = 'cup' WHERE u.name = 'Crowd'; INSERT INTO team_members "
		"(team_id, user_id, contest_id) SELECT t.user_id, u.id, t.contest_id FROM teams t JOIN "
		"users u ON u.name LIKE 'member-%' WHERE t.code = 'crowd'; INSERT INTO contest_final_rows "
		"(contest_id, position, user_id, place, is_tied, points) SELECT contest_id, 9, user_id, "
		"3, FALSE, 0 FROM teams WHERE code = 'crowd'; "
		"UPDATE contests SET team_members = 50 WHERE name = 'cup'"
	)
	text = text_of(carl.fresh("/contest/cup/certificate/Crowd").bytes)
	for name in names:
		contains(text, name)
	contains(text, "took part")
	lacks(text, "place")
	lacks(text, "points")
	for client, is_told in ((carl, True), (admin, True), (bob, False), (anyone, False)):
		page = client.fresh("/contest/cup").text
		for name in ("Crowd", "bob"):
			link = f'<li><a href="/contest/cup/certificate/{name}">'
			(contains if is_told else lacks)(page, link)
	sql(
		"UPDATE contests SET team_members = 0 WHERE name = 'cup'; DELETE FROM users WHERE name = "
		"'Crowd' OR name LIKE 'member-%'"
	)


@test
def nobody_withdraws_or_restores_a_submission_when_the_standings_are_final():
	sql("DELETE FROM leaderboard_extensions")
	best = value(
		"SELECT r.submission_id FROM ranking r JOIN users u ON u.id = r.user_id JOIN leaderboards "
		"l ON l.id = r.leaderboard_id WHERE u.name = 'bob' AND l.name = 'alpha'"
	)
	page = bob.fresh(f"/submission/{best}").text
	contains(page, "Compare…")
	lacks(page, "Withdraw…")
	refused = bob.fresh(f"/submission/{best}/withdraw")
	lacks(refused.text, 'name="number"')
	contains(refused.words(), "its submissions are neither withdrawn nor restored")
	sql(f"UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = {best}")
	lacks(bob.fresh(f"/submission/{best}").text, "Let it count again")
	sql(f"UPDATE submissions SET withdrawn_at = NULL WHERE id = {best}")
	sql("UPDATE contests SET final_at = NULL WHERE name = 'cup'")
	contains(bob.fresh(f"/submission/{best}").text, "Withdraw…")
	sql("UPDATE contests SET final_at = UTC_TIMESTAMP(3) WHERE name = 'cup'")
	for action, fields in (("withdraw", [("number", best)]), ("restore", [])):
		answer = bob.post(f"/submission/{best}/{action}", fields, form="/account")
		equal((action, answer.status), (action, 409))
		contains(answer.words(), "The standings of the contest cup are final")
	equal(value(f"SELECT withdrawn_at IS NULL FROM submissions WHERE id = {best}"), "1")
	equal(board_rows(), [(1, "bob", 20), (2, "ada", 12)])


@test
def nobody_gets_a_later_deadline_when_the_standings_are_final():
	form = [("action", "extend"), ("user", "ada"), ("deadline", "2090-01-02 03:04")]
	answer = carl.post("/admin/leaderboard/alpha/exceptions", [*form, ("confirm", "yes")])
	equal(answer.status, 409)
	contains(answer.words(), "The standings of the contest cup are final, so nobody submits later")
	equal(sql("SELECT * FROM leaderboard_extensions"), [])


@test
def the_contestants_stay_when_the_standings_are_final():
	for action, user in (("add", "eve"), ("remove", "ada")):
		form = [("action", action), ("user", user), ("confirm", "yes")]
		answer = carl.post("/admin/contest/cup", form)
		equal(answer.status, 409)
		contains(answer.words(), "The standings of cup are final")
	equal(board_rows(), [(1, "bob", 20), (2, "ada", 12)])


@test
def webhooks_learn_of_the_start_the_end_and_the_final_standings():
	equal(
		sql(
			"SELECT e.event, JSON_VALUE(e.data, '$.contest'), d.state FROM webhook_events e "
			"JOIN webhook_deliveries d ON d.event_id = e.id ORDER BY e.id"
		),
		[
			[event, "cup", "waiting"]
			for event in ("contest_started", "contest_ended", "standings_final")
		],
	)


@test
def no_later_change_changes_final_standings():
	addresses = ("/contest/cup.json", "/contest/cup.csv")

	def standings():
		return [anyone.fresh(address).text for address in addresses]

	before = standings()
	contains(before[1], "900")
	board = "/admin/leaderboard/alpha"
	reason = [("user", "bob"), ("reason", "a test"), ("confirm", "yes")]
	done(carl.post(f"{board}/exceptions", [("action", "disqualify"), *reason]))
	equal(value("SELECT COUNT(*) FROM disqualifications"), "1")
	done(admin.post("/admin/users/bob/ban", [("name", "bob")]))
	equal(standings(), before)
	sql("DELETE FROM disqualifications; UPDATE users SET banned_at = NULL")
	site.manage("ranking", "rebuild")
	done(bob.post("/login", [("name", "bob"), ("password", "a long password")]))
	sql("UPDATE leaderboards SET deadline = '2090-01-01', archived_at = UTC_TIMESTAMP(3)")
	sql("UPDATE ranking SET place = 3 - place, score_ns = 1")
	equal(standings(), before)
	sql("UPDATE leaderboards SET archived_at = NULL")
	site.manage("ranking", "rebuild")
	contains(
		" ".join(text_of(bob.fresh("/contest/cup/certificate/bob").bytes).split()), "1st place"
	)


@test
def final_standings_outlive_a_deleted_leaderboard():
	csv_before = anyone.fresh("/contest/cup.csv").text
	certificate = text_of(bob.fresh("/contest/cup/certificate/bob").bytes)
	done(carl.post("/admin/leaderboard/alpha/delete", [("name", "alpha")]))
	equal(value("SELECT COUNT(*) FROM leaderboards WHERE name = 'alpha'"), "0")
	equal(anyone.fresh("/contest/cup.csv").text, csv_before)
	equal(text_of(bob.fresh("/contest/cup/certificate/bob").bytes), certificate)
	first = anyone.fresh("/contest/cup.json").json
	equal(first["columns"][0], {"problem": "alpha", "gpu": "H200"})
	equal(
		(first["rows"][0]["results"][0]["score_ns"], first["rows"][0]["results"][0]["submission"]),
		(900, None),
	)
	page = anyone.fresh("/contest/cup").text
	contains(page, 'title="alpha, deleted"')
	lacks(page, 'href="/leaderboard/alpha')
	lacks(page, 'href="/submission/0"')
	sql("UPDATE contest_final_columns SET is_public = FALSE WHERE problem = 'alpha'")
	for address in ("/contest/cup", "/contest/cup.csv", "/contest/cup.json"):
		lacks(anyone.fresh(address).text, "alpha")
	sql("UPDATE contest_final_columns SET is_public = TRUE")


@test
def final_standings_of_an_earlier_version_are_stored():
	sql("DELETE FROM contest_final_columns; UPDATE contests SET standings_stored = FALSE")
	wait_for("SELECT COUNT(*) FROM contest_final_columns", "1")  # beta is left
	equal(value("SELECT standings_stored FROM contests WHERE name = 'cup'"), "1")


@test
def an_operator_reopens_final_standings():
	site.manage("contest", "reopen", "cup")
	equal(value("SELECT COUNT(*) FROM contest_final_rows"), "0")
	data = anyone.fresh("/contest/cup.json").json
	equal((data["final"], data["frozen"], data["state"]), (False, False, "ended"))
	equal(state_of(anyone.fresh("/contest/cup")), "ended")
	equal(
		sql("SELECT action, subject FROM audit_log WHERE action LIKE 'contest.%' ORDER BY id")[-1],
		["contest.reopen", "cup"],
	)
	refused = site.admin("contest", "reopen", "cup")
	equal((refused.returncode, "are not final" in refused.stderr), (1, True))
	equal(bob.fresh("/contest/cup/certificate/bob").status, 404)
	site.manage("contest", "final", "cup")
	equal(anyone.fresh("/contest/cup.json").json["final"], True)


@test
def a_late_user_cannot_register():
	answer = eve.post("/contest/cup/registration", [("code", CODE)], form="/account")
	equal(answer.status, 409)
	contains(answer.words(), "The contest has ended")


@test
def a_closed_leaderboard_opens_for_the_contestants():
	make_board(carl, "gamma")
	done(
		carl.post(
			"/admin/leaderboard/gamma/publishing",
			[("action", "save"), ("visibility", "closed"), ("confirm", "yes")],
		)
	)
	equal(value("SELECT visibility FROM leaderboards WHERE name = 'gamma'"), "closed")
	done(
		carl.post(
			"/admin/contests/new",
			fields(name="closed-cup", problems="gamma", registration="open", code=""),
		)
	)
	done(ada.post("/contest/closed-cup/registration", [], form="/contest/closed-cup"))
	site.manage("contest", "register", "closed-cup", "bob")
	equal(ada.fresh("/leaderboard/gamma").status, 404)
	own = "SELECT l.id, u.id, {} FROM leaderboards l, users u WHERE l.name = 'gamma' AND "
	sql(
		"INSERT INTO leaderboard_extensions (leaderboard_id, user_id, deadline, given_by) "
		+ own.format("'2090-01-01', 'carl'")
		+ "u.name = 'ada'; INSERT INTO disqualifications (leaderboard_id, user_id, submission_id, "
		"reason, given_by) "
		+ own.format("999999, 'x', 'carl'")
		+ "u.name = 'ada'; INSERT INTO leaderboard_removals (leaderboard_id, user_id, removed_at) "
		+ own.format("UTC_TIMESTAMP(3)")
		+ "u.name = 'dora'"
	)
	lacks(ada.fresh("/account/export").text, "gamma")
	lacks(dora.fresh("/account/export").text, "gamma")
	site.manage("contest", "set", "closed-cup", f"starts={after(1)}")
	wait_for("SELECT visibility FROM leaderboards WHERE name = 'gamma'", "closed")
	copy = {**ada.fresh("/account/export").json}
	copy["removals"] = dora.fresh("/account/export").json["removals"]
	for key in ("seats", "extensions", "disqualifications", "removals"):
		equal((key, [one["leaderboard"] for one in copy[key]].count("gamma")), (key, 1))
	sql("DELETE FROM leaderboard_extensions; DELETE FROM disqualifications")
	for client, status in ((ada, 200), (bob, 200), (eve, 404), (anyone, 404)):
		equal(client.fresh("/leaderboard/gamma").status, status)
	submit_time(ada, 1000.0, "gamma")
	for client, name in ((eve, None), (anyone, None), (bob, "gamma")):
		data = client.fresh("/contest/closed-cup.json").json
		equal(data["columns"][0]["problem"], name)
		equal(data["rows"][0]["results"][0]["score_ns"] is None, name is None)
	for address in ("/contest/closed-cup", "/contest/closed-cup.csv"):
		lacks(eve.fresh(address).text, "gamma")


@test
def who_leaves_a_contest_leaves_its_closed_leaderboards():
	make_board(carl, "zeta", TEMPLATE_TASK)
	hide = [("action", "save"), ("visibility", "closed"), ("confirm", "yes")]
	done(carl.post("/admin/leaderboard/zeta/publishing", hide))
	done(carl.post("/admin/contests/new", fields(name="left", problems="zeta")))
	seats = (
		"SELECT COUNT(*) FROM leaderboard_members m JOIN leaderboards l ON l.id = m.leaderboard_id "
		"WHERE l.name = 'zeta'"
	)
	for client in (ada, bob):
		done(client.post("/contest/left/registration", [("code", CODE)], form="/contest/left"))
	equal(value(seats), "2")
	for _ in range(2):  # who has left already leaves no second entry
		done(ada.post("/contest/left/registration", [("action", "leave")], form="/contest/left"))
	equal(value(seats), "1")
	equal(
		sql(
			"SELECT actor, subject FROM audit_log WHERE action = 'contest.leave' AND "
			"detail = 'contest: left'"
		),
		[["ada", "ada"]],
	)
	done(carl.post("/admin/contest/left", [("action", "remove"), ("user", "bob")]))
	equal(value(seats), "0")


@test
def codes_cannot_be_guessed():
	def send(code):
		return eve.post("/contest/left/registration", [("code", code)], form="/contest/left")

	equal([send(f"guess-{number}").status for number in range(11)], 10 * [422] + [429])
	equal(send(CODE).status, 429)
	equal(
		value(
			"SELECT COUNT(*) FROM contest_entrants e JOIN users u ON u.id = e.user_id "
			"WHERE u.name = 'eve'"
		),
		"0",
	)


@test
def a_leaderboard_belongs_to_one_contest_and_may_leave_before_the_start():
	make_board(carl, "delta")
	done(carl.post("/admin/contests/new", fields(name="first", problems="delta")))
	answer = carl.post("/admin/contests/new", fields(name="second", problems="delta"))
	equal(answer.status, 422)
	contains(answer.words(), "delta belongs to another contest.")
	done(carl.post("/admin/contest/first", [("action", "save"), ("problems", "")]))
	time.sleep(2)
	left = sql("SELECT visibility, deadline, frozen_at FROM leaderboards WHERE name = 'delta'")
	equal(left, [["hidden", "NULL", "NULL"]])
	done(carl.post("/admin/contests/new", fields(name="second", problems="delta")))


def delete(client, contest, *fields):
	return client.post(f"/admin/contest/{contest}", [("action", "delete"), *fields])


@test
def a_contest_is_deleted_before_its_start_and_its_problems_stay_hidden():
	site.admin("task", "publish", "delta")  # would show it at the start
	equal(delete(dora, "second").status, 403)
	contests = sql("SELECT name FROM contests")
	for fields in ([], [("confirm", "yes")], [("confirm", "first")]):
		page = delete(carl, "second", *fields)
		for sentence in (
			"This deletes the contest’s page, 0 registrations and the scoreboard.",
			"Hidden problems stay hidden until somebody publishes them",
			"type the contest’s name: second",
		):
			contains(page.words(), sentence)
		equal(sql("SELECT name FROM contests"), contests)
	done(delete(carl, "second", ("confirm", "second")))
	contains(carl.fresh("/contests").words(), "The contest was deleted.")
	equal(anyone.fresh("/contest/second").status, 404)
	time.sleep(2)  # podium-web publishes each second
	board = "SELECT visibility, deadline, frozen_at FROM leaderboards WHERE name = 'delta'"
	equal(sql(board), [["hidden", "NULL", "NULL"]])
	equal(anyone.fresh("/leaderboard/delta").status, 404)
	equal(
		sql("SELECT actor, subject FROM audit_log WHERE action = 'contest.delete'"),
		[["carl", "second"]],
	)


@test
def a_running_contest_is_deleted_with_its_freeze_and_its_deadline():
	make_board(carl, "iota", TEMPLATE_TASK)
	times = (f"starts={after(-60)}", f"ends={after(600)}", "freeze_minutes=10")
	site.manage("contest", "create", "stopped", "problems=iota", *times)
	site.manage("contest", "register", "stopped", "ada")
	submit_time(ada, 1000.0, "iota")
	ranks = (
		"SELECT COUNT(*) FROM ranking r JOIN leaderboards l ON l.id = r.leaderboard_id "
		"WHERE l.name = 'iota'"
	)
	equal(value(ranks), "0")  # frozen
	equal(site.admin("contest", "delete", "nothing").returncode, 1)
	site.manage("contest", "delete", "stopped")
	board = "SELECT visibility, deadline, frozen_at FROM leaderboards WHERE name = 'iota'"
	equal(sql(board), [["public", "NULL", "NULL"]])
	equal(value(ranks), "1")
	submit_time(eve, 2000.0, "iota")  # who was not registered
	equal(value(ranks), "2")


@test
def a_problem_set_fills_the_form():
	page = carl.get(f"/admin/contests/new?title=Autumn&problems=x+y&rules={HOSTILE}").text
	contains(page, 'name="title" value="Autumn"')
	fields_of_problems = re.findall(r'name="problems" list="offers" value="([^"]*)"', page)
	equal(fields_of_problems, ["x", "y", "", "", ""])
	lacks(page, HOSTILE)


@test
def programs_create_and_run_a_contest():
	make_board(carl, "epsilon", TEMPLATE_TASK)
	host, guest, nobody = (
		Program(site.url, make_token(carl, "all", "read", "submit", "admin")),
		Program(site.url, make_token(ada, "all", "read", "submit")),
		Program(site.url),
	)
	wanted = {
		"name": "api-cup",
		"title": "By a program",
		"starts_at": after(3600) + "Z",
		"ends_at": after(7200) + "Z",
		"registration": "code",
		"code": CODE,
		"problems": ["epsilon"],
	}
	refused = host.ask("POST", "/api/v1/admin/contests", {**wanted, "ends_at": wanted["starts_at"]})
	equal((refused.status, refused.json["errors"][0]["field"]), (400, "ends_at"))
	answer = host.ask("POST", "/api/v1/admin/contests", wanted)
	equal((answer.status, answer.json["code"], answer.json["problems"]), (201, CODE, ["epsilon"]))
	contest = nobody.read("/api/v1/contests/api-cup")
	equal(("code" in contest, contest["problems"], contest["problem_count"]), (False, [], 1))
	equal(nobody.ask("GET", "/api/v1/contests/api-cup/standings").status, 404)
	equal([one["name"] for one in nobody.read("/api/v1/contests")["items"]].count("api-cup"), 1)

	place = "/api/v1/contests/api-cup/registration"
	equal(guest.ask("POST", place, {"code": "wrong-code"}).json["errors"][0]["field"], "code")
	equal(guest.ask("POST", place, {"code": CODE}).json["registered"], True)
	equal(guest.ask("DELETE", place).status, 204)
	equal(guest.ask("POST", place, {"code": CODE}).json["contestants"], 1)

	base = "/api/v1/admin/contests/api-cup"
	equal(host.ask("PUT", f"{base}/contestants/bob").status, 204)
	equal(host.ask("DELETE", f"{base}/contestants/bob").status, 204)
	changed = host.ask("PATCH", base, {"scoring": "ratios", "starts_at": after(-1) + "Z"})
	equal(
		(changed.status, changed.json["scoring"], changed.json["state"]), (200, "ratios", "running")
	)
	equal(host.read(base)["code"], CODE)
	wait_for("SELECT visibility FROM leaderboards WHERE name = 'epsilon'", "public")
	# Answers without a token come from a cache for a second.
	equal(guest.read("/api/v1/contests/api-cup")["problems"], ["epsilon"])
	submit_time(ada, 1000.0, "epsilon")
	standings = guest.read("/api/v1/contests/api-cup/standings")
	equal([(row["user"], row["points"]) for row in standings["rows"]], [("ada", 100)])
	sql("UPDATE contests SET ends_at = UTC_TIMESTAMP(3) WHERE name = 'api-cup'")
	equal(host.ask("POST", f"{base}/final", {"confirm": "cup"}).status, 400)
	equal(host.ask("POST", f"{base}/final", {"confirm": "api-cup"}).json["state"], "final")
	equal(host.ask("PATCH", base, {"title": "Other"}).status, 409)


SLOW = [f"slow{number}" for number in range(1, 8)]


@test
def standings_come_in_pages_and_the_file_is_whole():
	site.manage("contest", "reopen", "api-cup")
	sql(
		"INSERT INTO users (name, password_hash) SELECT CONCAT('pager', seq), '!' FROM "
		"seq_1000_to_2500; INSERT INTO contest_entrants (contest_id, user_id) SELECT c.id, u.id "
		"FROM contests c, users u WHERE c.name = 'api-cup' AND u.name LIKE 'pager%'"
	)
	program = Program(site.url, make_token(ada, "pages", "read"))
	path = "/api/v1/contests/api-cup/standings"
	first = program.ask("GET", path)
	equal((len(first.json["rows"]), first.json["rows"][0]["user"]), (50, "ada"))
	contains(first.headers["Link"], f'<{path}?cursor={first.json["next"]}>; rel="next"')
	names, page = [], {"next": None}
	while True:
		page = program.read(path, limit=100, **({"cursor": page["next"]} if names else {}))
		names += [row["user"] for row in page["rows"]]
		if page["next"] is None:
			break
		equal(len(page["rows"]), 100)
	expected = ["ada"] + [f"pager{number}" for number in range(1000, 2501)]
	equal(sorted(names), sorted(expected))
	equal(len(anyone.fresh("/contest/api-cup.json").json["rows"]), 50)
	equal(program.ask("GET", f"{path}?limit=101").status, 400)
	table = list(csv.reader(io.StringIO(anyone.fresh("/contest/api-cup.csv").text)))
	equal([row[2] for row in table], ["user", *names])
	sql("DELETE FROM users WHERE name LIKE 'pager%'")


@test
def the_newest_row_of_a_reveal_is_in_sight():
	sql("INSERT INTO users (name, password_hash) SELECT CONCAT('slow', seq), '!' FROM seq_1_to_7")
	site.manage("contest", "create", "many", "title=Many", "starts=2020-01-01", "ends=2020-01-02")
	site.manage("contest", "register", "many", *SLOW)
	for step, left_out, waiting in ((0, 0, 7), (1, 2, 4), (2, 1, 4), (3, 0, 4), (6, 0, 1)):
		page = admin.fresh(f"/contest/many/reveal?step={step}")
		equal((step, page.text.count('<td class="rank"></td>')), (step, waiting))
		said = re.findall(r"(\d+) more contestants? without a place", page.words())
		equal((step, said), (step, [str(left_out)] if left_out else []))
		equal((step, page.text.count('aria-current="true"')), (step, int(step > 0)))


@test
def contestants_without_points_are_folded_and_the_viewer_s_place_comes_first():
	sql(
		"INSERT INTO contest_entrants (contest_id, user_id) SELECT c.id, u.id FROM contests c "
		"JOIN users u WHERE c.name = 'api-cup' AND u.name LIKE 'slow%'"
	)
	page = anyone.fresh("/contest/api-cup")
	contains(page.words(), "7 contestants without points")
	shown, folded = page.text.split("without points</summary>")
	contains(shown, '<a class="cut" href="/user/ada">')
	lacks(shown, "slow1")
	contains(folded, "slow1")
	contains(ada.fresh("/contest/api-cup").words(), "You are in place 1 with 100 points.")
	lacks(anyone.fresh("/contest/many").words(), "without points")  # all have none


@test
def programs_make_and_change_teams():
	make_board(carl, "eta", TEMPLATE_TASK)
	host, first, second, boss, nobody = (
		Program(site.url, make_token(carl, "teams", "read", "submit", "admin")),
		Program(site.url, make_token(ada, "teams", "read", "submit")),
		Program(site.url, make_token(bob, "teams", "read", "submit")),
		Program(site.url, make_token(admin, "teams", "read", "submit", "admin")),
		Program(site.url),
	)
	wanted = {
		"name": "team-cup",
		"title": "With teams",
		"starts_at": after(3600) + "Z",
		"ends_at": after(7200) + "Z",
		"problems": ["eta"],
	}
	equal(host.ask("POST", "/api/v1/admin/contests", wanted).status, 201)
	teams, cup = "/api/v1/contests/team-cup/teams", "/api/v1/admin/contests/team-cup"
	equal(first.ask("POST", teams, {"name": "Fast"}).status, 409)  # there are no teams yet
	refused = host.ask("PATCH", cup, {"team_members": 1})
	equal(refused.json["errors"][0]["field"], "team_members")
	equal(host.ask("PATCH", cup, {"team_members": 2}).json["team_members"], 2)
	equal(host.read("/api/v1/contests/team-cup")["team_members"], 2)
	equal(first.ask("POST", teams, {"name": "no name"}).json["errors"][0]["field"], "name")
	equal(nobody.ask("POST", teams, {"name": "Fast"}).status, 401)
	made = first.ask("POST", teams, {"name": "Fast"})
	equal((made.status, made.json["members"], made.json["locked_at"]), (201, ["ada"], None))
	join = "/api/v1/contests/team-cup/team"
	equal(second.ask("POST", join, {"code": "wrong"}).json["errors"][0]["field"], "code")
	joined = second.ask("POST", join, {"code": made.json["code"]})
	equal((joined.status, joined.json["members"]), (200, ["ada", "bob"]))
	for program, code in ((second, made.json["code"]), (nobody, None), (boss, None)):
		team = program.read(teams)["items"][0]
		equal((team["name"], team["members"], team["code"]), ("Fast", ["ada", "bob"], code))
	equal(second.ask("DELETE", "/api/v1/contests/team-cup/team").status, 204)
	equal(second.ask("DELETE", "/api/v1/contests/team-cup/team").status, 409)
	member = "/api/v1/admin/teams/Fast/members/bob"
	reason = {"reason": "forgot the code"}
	equal(host.ask("PUT", member, reason).status, 403)  # only admins
	equal(boss.ask("PUT", member, {}).json["errors"][0]["field"], "reason")
	equal(boss.ask("PUT", member, reason).status, 204)
	equal(first.read(teams)["items"][0]["members"], ["ada", "bob"])
	equal(boss.ask("DELETE", member, {"reason": "a test"}).status, 204)
	equal(boss.ask("DELETE", member, {"reason": "a test"}).json["errors"][0]["field"], "user")
	equal(first.read(teams)["items"][0]["members"], ["ada"])
	equal(host.ask("DELETE", cup, {}).status, 400)
	equal(host.ask("DELETE", cup, {"confirm": "cup"}).status, 400)
	equal(value("SELECT COUNT(*) FROM users WHERE name = 'Fast'"), "1")
	equal(host.ask("DELETE", cup, {"confirm": "team-cup"}).status, 204)
	equal(host.ask("GET", cup).status, 404)
	equal(value("SELECT COUNT(*) FROM users WHERE name = 'Fast'"), "0")  # it had not submitted


@test
def a_restored_contest_is_the_same():
	make_board(carl, "theta", TEMPLATE_TASK)
	times = (f"starts={after(-60)}", f"ends={after(3600)}")
	settings = ("title=Kept", "problems=theta", "team_members=2", *times)
	site.manage("contest", "create", "kept", *settings)
	site.manage("contest", "register", "kept", "eve")
	done(ada.post("/contest/kept/teams", [("action", "create"), ("name", "Keepers")]))
	code = value("SELECT code FROM teams t JOIN users u ON u.id = user_id WHERE name = 'Keepers'")
	done(bob.post("/contest/kept/teams", [("action", "join"), ("code", code)]))
	done(bob.post("/contest/kept/registration", form="/contest/kept"))
	wait_for("SELECT visibility FROM leaderboards WHERE name = 'theta'", "public")
	submit_time(ada, 1000.0, "theta")
	submit_time(eve, 2000.0, "theta")
	ask = [("action", "ask"), ("text", "May I?")]
	done(bob.post("/leaderboard/theta/questions", ask))
	number = value("SELECT MAX(id) FROM questions")
	reply = [("action", "answer"), ("question", number), ("answer", "No."), ("for", "all")]
	done(carl.post("/leaderboard/theta/questions", reply))
	sql("UPDATE contests SET ends_at = UTC_TIMESTAMP(3) WHERE name = 'kept'")
	site.manage("contest", "final", "kept")
	member = Program(site.url, make_token(bob, "kept", "read", "submit"))

	def contest():
		return [
			member.read("/api/v1/contests/kept"),
			member.read("/api/v1/contests/kept/standings"),
			member.read("/api/v1/contests/kept/teams"),
			member.read("/api/v1/leaderboards/theta/questions"),
			anyone.fresh("/contest/kept.csv").text,
			text_of(bob.fresh("/contest/kept/certificate/Keepers").bytes),
			text_of(eve.fresh("/contest/kept/certificate/eve").bytes),
		]

	# Only the stored standings have eve's result now.
	reason = [("user", "eve"), ("reason", "a test"), ("confirm", "yes")]
	done(carl.post("/admin/leaderboard/theta/exceptions", [("action", "disqualify"), *reason]))
	before, backup = contest(), site.var / "podium.sql.gz"
	equal([row["user"] for row in before[1]["rows"]], ["Keepers", "eve"])
	contains(before[5], "took 1st place")
	site.manage("backup", backup)
	sql(
		"UPDATE contests SET final_at = NULL; DELETE FROM team_members; DELETE FROM questions; "
		"DELETE FROM contest_entrants; DELETE FROM ranking; DELETE FROM contest_final_columns; "
		"DELETE FROM contest_final_rows"
	)
	site.stop()
	mariadb.connections.clear()  # a restore wants the database for itself
	restore = ("restore", "--replace", site.environment["PODIUM_DATABASE_NAME"], backup)
	until(lambda: site.admin(*restore).returncode == 0)
	(site.var / "run.log").write_text("")  # so that start() waits for the new one
	site.start()
	for client, name in ((bob, "bob"), (eve, "eve")):
		done(client.post("/login", [("name", name), ("password", "a long password")]))
	equal(contest(), before)


@test
def a_deleted_account_has_no_name_in_final_standings():
	done(eve.post("/account/delete", [("name", "eve"), ("password", "a long password")]))
	data = Client(site.url).get("/contest/kept.json").json
	names = [row["user"] for row in data["rows"]]
	equal((names[0], names[1].startswith("deleted-"), data["final"]), ("Keepers", True, True))
	done(admin.post("/login", [("name", "root-of-all"), ("password", "a long password")]))
	contains(
		" ".join(text_of(admin.fresh(f"/contest/kept/certificate/{names[1]}").bytes).split()),
		"took 2nd place",
	)


@test
def results_questions_and_teams_outlive_a_deleted_contest():
	sql("UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) WHERE name = 'theta'")
	kept = [
		"SELECT id, user_id, submitted_by, leaderboard_id FROM submissions ORDER BY id",
		"SELECT leaderboard_id, user_id, place, score_ns FROM ranking ORDER BY 1, 2",
		"SELECT id, leaderboard_id, user_id FROM questions",
		"SELECT team_id, user_id FROM team_members ORDER BY 1, 2",
		"SELECT name, visibility, deadline, frozen_at FROM leaderboards ORDER BY name",
	]
	before = [sql(statement) for statement in kept]
	contains(delete(admin, "kept").words(), "Its final standings are lost")
	contains(delete(admin, "kept", ("confirm", "yes")).words(), "type the contest’s name: kept")
	equal(value("SELECT COUNT(*) FROM contests WHERE name = 'kept'"), "1")
	done(delete(admin, "kept", ("confirm", "kept")))
	equal([sql(statement) for statement in kept], before)
	for address in ("/contest/kept", "/contest/kept.csv", "/contest/kept/certificate/Keepers"):
		equal((address, bob.fresh(address).status), (address, 404))
	for client in (anyone, bob):
		page = client.fresh("/user/Keepers")
		contains(page.words(), "Contest deleted")
		lacks(page.text, 'href="/contest/')
		equal(client.fresh("/leaderboard/theta").status, 200)
	teams = bob.fresh("/account/export").json["teams"]
	equal([(one["team"], one["contest"]) for one in teams], [("Keepers", None)])
	number = value(
		"SELECT s.id FROM submissions s JOIN users u ON u.id = user_id WHERE name = 'Keepers'"
	)
	for client, status in ((bob, 200), (admin, 403)):  # bob is still one of its authors
		equal(client.fresh(f"/submission/{number}/note").status, status)
	refused = site.admin("team", "add", "Keepers", "dora", "a test")
	equal((refused.returncode, "The contest of Keepers was deleted" in refused.stderr), (1, True))


@test
def every_call_of_contests_was_tested_against_its_description():
	good = {(method, path) for method, path, status in contract.used if status < 300}
	described = json.loads((ROOT / "docs" / "openapi" / "contests.json").read_text())["paths"]
	equal(
		[
			(method, path)
			for path, methods in described.items()
			for method in methods
			if (method.upper(), path) not in good
		],
		[],
	)


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
