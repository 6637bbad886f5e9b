#!/usr/bin/env python3
"""Two actions at the same moment. Each test locks a row that both actions need, then releases it.
Whichever action comes first, the stored data is consistent afterwards. A stand-in for podium-run
reports what each submission tells it to."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from held import Held, beside  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import case, done as ok, make_board, send_source, source_of  # noqa: E402
from tap import contains, equal, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_WORKER_NAME="here")
sql, value = site.sql, site.value
anyone, ada, bob, eve, admin, second = (Client(site.url) for _ in range(6))
PASSWORD = "a long password"


def log_in(client, name):
	ok(client.post("/login", [("name", name), ("password", PASSWORD)]))
	client.token = client.csrf("/account")


def send(client, mean_ns, board="small"):
	return send_source(client, source_of(case(mean_ns)), board=board, csrf=client.token)


def state(number):
	return sql(f"SELECT state, verdict FROM jobs WHERE submission_id = {number}")


def submit(client, mean_ns, board="small"):
	number = send(client, mean_ns, board)
	until(lambda: state(number) == [["done", "passed"]])
	return number


def holds_ranking(board="small"):
	"""Locks the row that every change of a ranking locks first."""
	return Held(
		site,
		"UPDATE leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id AND l.name = "
		f"'{board}' SET g.position = g.position + 1",
	)


def ranking(board="small"):
	return sql(
		"SELECT u.name, r.position, r.place FROM ranking r JOIN users u ON u.id = r.user_id JOIN "
		f"leaderboards l ON l.id = r.leaderboard_id AND l.name = '{board}' "
		"ORDER BY r.position"
	)


def is_whole():
	"""Checks that rebuilding the ranking and the records changes nothing."""
	before = (
		sql("SELECT * FROM ranking ORDER BY 1, 2, 3, position"),
		sql(
			"SELECT leaderboard_id, gpu, line, submission_id, score_ns FROM records ORDER "
			"BY 1, 2, 3, 4"
		),
	)
	site.manage("ranking", "rebuild")
	equal(
		(
			sql("SELECT * FROM ranking ORDER BY 1, 2, 3, position"),
			sql(
				"SELECT leaderboard_id, gpu, line, submission_id, score_ns FROM records "
				"ORDER BY 1, 2, 3, 4"
			),
		),
		before,
	)


def post(client, path, **fields):
	return lambda: client.post(
		path, [(name.rstrip("_"), content) for name, content in fields.items()], csrf=client.token
	)


def as_it_ends(number, deed, board="small"):
	"""Submits by number() and runs deed(submission)() while the submission's job finishes. The job
	waits first for the lock, the deed second. Returns the submission and the deed's answer."""
	with holds_ranking(board) as held:
		one = number()
		held.wait_for_others(1)  # the worker wants to rank the result
		answered = []
		join = beside(lambda: answered.append(deed(one)()))
		held.wait_for_others(2, unless=lambda: answered)
	join()
	until(lambda: state(one)[0][0] in ("done", "cancelled"))
	return one, answered[0]


def before_it_ends(number, deed, board="small"):
	"""Does the same as as_it_ends(), but the deed waits first for the lock, the job second."""
	site.hold_jobs()
	one = number()
	with holds_ranking(board) as held:
		join = beside(deed(one))
		held.wait_for_others(1)
		site.release_jobs()
		held.wait_for_others(2)
	answers = join()
	until(lambda: state(one)[0][0] in ("done", "cancelled"))
	return one, answers[0]


@test
def the_fixtures_are_created():
	for client, name in (
		(ada, "ada"),
		(bob, "bob"),
		(eve, "eve"),
		(admin, "root-of-all"),
		(second, "second"),
	):
		client.register(name)
		client.token = client.csrf("/account")
	sql("UPDATE users SET role = 'admin' WHERE name IN ('root-of-all', 'second')")
	make_board(admin, "small")
	for client, mean_ns in ((ada, 1000.0), (bob, 2000.0), (eve, 4000.0)):
		submit(client, mean_ns)
	equal(ranking(), [["ada", "1", "1"], ["bob", "2", "2"], ["eve", "3", "3"]])


@test
def a_submission_hidden_while_its_job_ends_is_not_ranked():
	for at_once in (as_it_ends, before_it_ends):
		number, answer = at_once(
			lambda: send(bob, 500.0),
			lambda one: post(
				admin, f"/admin/submission/{one}", action="hide", reason="It copies.", confirm="yes"
			),
		)
		ok(answer)
		equal(state(number), [["done", "passed"]])
		equal(ranking(), [["ada", "1", "1"], ["bob", "2", "2"], ["eve", "3", "3"]])
		is_whole()


@test
def a_result_during_a_freeze_is_ranked_at_the_latest_when_the_freeze_is_lifted():
	for at_once, mean_ns in ((as_it_ends, 900.0), (before_it_ends, 800.0)):
		number, answer = at_once(
			lambda: send(bob, mean_ns),
			lambda one: post(
				admin, "/admin/leaderboard/small/publishing", action="freeze", confirm="yes"
			),
		)
		ok(answer)
		equal(state(number), [["done", "passed"]])
		in_time = value(
			"SELECT j.finished_at <= l.frozen_at FROM jobs j JOIN submissions s ON s.id = "
			"j.submission_id JOIN leaderboards l ON l.id = s.leaderboard_id "
			f"WHERE s.id = {number}"
		)
		equal(value(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {number}"), in_time)
		is_whole()
		ok(post(admin, "/admin/leaderboard/small/publishing", action="lift", confirm="yes")())
		equal(ranking()[0], ["bob", "1", "1"])
		equal(value(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {number}"), "1")
		is_whole()


@test
def holding_a_result_while_its_job_ends_holds_it_or_tells_the_admin_that_nothing_was_held():
	number, answer = as_it_ends(
		lambda: send(ada, 700.0),
		lambda one: post(
			admin, f"/admin/submission/{one}", action="hold", reason="It is quick.", confirm="yes"
		),
	)
	held = value(f"SELECT held_at IS NOT NULL FROM jobs WHERE submission_id = {number}")
	equal((answer.status, held), (303, "1") if answer.status == 303 else (409, "0"))
	equal(
		value(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {number}"),
		"0" if held == "1" else "1",
	)
	is_whole()


@test
def a_user_banned_while_a_job_ends_keeps_a_consistent_result():
	number, answer = as_it_ends(
		lambda: send(bob, 750.0), lambda one: post(admin, "/admin/users/bob/ban", name="bob")
	)
	ok(answer)
	equal(state(number), [["done", "passed"]])  # a running job finishes as usual
	equal(value(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {number}"), "1")
	is_whole()
	ok(post(admin, "/admin/users", action="unban", user="bob")())
	log_in(bob, "bob")


@test
def two_admins_who_rejudge_the_same_results_start_one_rejudging():
	for fields in (
		dict(scope="all", leaderboard="small", gpu=""),
		dict(scope="everywhere", leaderboard="", user="ada", gpu=""),
	):
		with Held(
			site,
			"UPDATE leaderboards SET updated_at = updated_at + INTERVAL 1 SECOND WHERE name = "
			"'small'",
		) as held:
			join = beside(
				post(admin, "/admin/rejudgings", **fields),
				post(second, "/admin/rejudgings", **fields),
			)
			held.wait_for_others(2)
		answers = sorted(join(), key=lambda answer: answer.status)
		equal([answer.status for answer in answers], [303, 422])
		contains(answers[1].words(), "is unfinished or in an open rejudging")
		equal(
			sql(
				"SELECT submission_id FROM rejudged_jobs r JOIN rejudgings g ON g.id = "
				"r.rejudging_id "
				"AND g.state = 'open' GROUP BY old_job_id HAVING COUNT(*) > 1"
			),
			[],
		)
		number = int(answers[0].location.rsplit("/", 1)[1])
		until(
			lambda: value(
				"SELECT COUNT(*) FROM rejudged_jobs r JOIN jobs j ON j.id = r.new_job_id WHERE "
				f"r.rejudging_id = {number} AND j.state <> 'done'"
			)
			== "0"
		)
		ok(
			post(
				admin,
				f"/admin/rejudgings/{number}",
				action="discard",
				name=value(
					"SELECT COALESCE(l.name, u.name) FROM rejudgings g LEFT JOIN "
					"leaderboards l ON l.id "
					"= g.leaderboard_id LEFT JOIN users u ON u.id = g.user_id WHERE g.id "
					f"= {number}"
				),
			)()
		)


def open_rejudging():
	number = int(
		ok(
			post(admin, "/admin/rejudgings", scope="all", leaderboard="small", gpu="")()
		).location.rsplit("/", 1)[1]
	)
	until(
		lambda: value(
			"SELECT COUNT(*) FROM rejudged_jobs r JOIN jobs j ON j.id = r.new_job_id WHERE "
			f"r.rejudging_id = {number} AND j.state <> 'done'"
		)
		== "0"
	)
	return number


@test
def only_the_first_admin_applies_or_discards_a_rejudging():
	for deeds in (("apply", "apply"), ("apply", "discard"), ("discard", "discard")):
		number = open_rejudging()
		with Held(
			site, f"UPDATE rejudgings SET scope = CONCAT(scope, ' ') WHERE id = {number}"
		) as held:
			join = beside(
				*(
					post(client, f"/admin/rejudgings/{number}", action=deed, name="small")
					for client, deed in zip((admin, second), deeds)
				)
			)
			held.wait_for_others(2)
		equal((deeds, sorted(answer.status for answer in join())), (deeds, [303, 409]))
		equal(
			value(
				"SELECT COUNT(*) FROM audit_log WHERE action LIKE 'rejudging.%' AND action <> "
				f"'rejudging.start' AND detail LIKE 'rejudging {number}%'"
			),
			"1",
		)
		equal(
			sql(
				"SELECT submission_id, gpu FROM jobs WHERE submission_id IS NOT NULL GROUP BY "
				"submission_id, gpu HAVING COUNT(*) <> 1"
			),
			[],
		)
		is_whole()


@test
def a_submission_withdrawn_while_a_rejudging_is_applied_stays_withdrawn():
	number = open_rejudging()
	best = value(
		"SELECT r.submission_id FROM ranking r JOIN users u ON u.id = r.user_id AND u.name = 'eve'"
	)
	with holds_ranking() as held:
		join = beside(
			post(admin, f"/admin/rejudgings/{number}", action="apply", name="small"),
			post(eve, f"/submission/{best}/withdraw", number=best),
		)
		held.wait_for_others(2)
	equal([answer.status for answer in join()], [303, 303])
	equal(value(f"SELECT withdrawn_at IS NOT NULL FROM submissions WHERE id = {best}"), "1")
	equal(value(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {best}"), "0")
	is_whole()


@test
def a_code_with_one_seat_admits_one_of_two():
	ok(post(admin, "/admin/leaderboard/small/publishing", visibility="closed", confirm="yes")())
	sql("DELETE FROM leaderboard_members")
	ok(
		post(
			admin,
			"/admin/invites",
			action="make",
			leaderboard="small",
			note="",
			uses="1",
			expires="",
		)()
	)
	code = value("SELECT code FROM invites")
	with Held(site, "UPDATE invites SET note = 'x'") as held:
		join = beside(post(ada, "/join", code=code), post(bob, "/join", code=code))
		held.wait_for_others(2)
	equal(sorted(answer.status for answer in join()), [303, 422])
	equal(
		(value("SELECT COUNT(*) FROM leaderboard_members"), value("SELECT uses FROM invites")),
		("1", "1"),
	)


@test
def a_member_who_enters_a_code_while_being_removed_stays_out():
	make_board(admin, "other")
	sql(
		"DELETE FROM leaderboard_members; INSERT INTO leaderboard_members (leaderboard_id, "
		"user_id) SELECT l.id, u.id FROM leaderboards l, users u WHERE l.name = 'small' AND "
		"u.name = 'ada'"
	)
	ok(
		post(
			admin,
			"/admin/invites",
			action="make",
			leaderboard="small",
			note="",
			uses="",
			expires="",
		)()
	)
	sql(
		"INSERT INTO invite_leaderboards SELECT MAX(i.id), l.id FROM invites i, leaderboards l "
		"WHERE l.name = 'other' GROUP BY l.id"
	)
	code = value("SELECT code FROM invites ORDER BY id DESC LIMIT 1")
	seat = (
		"m JOIN leaderboards l ON l.id = m.leaderboard_id JOIN users u ON u.id = "
		"m.user_id AND u.name = 'ada'"
	)
	removal = (
		"INSERT INTO leaderboard_removals (leaderboard_id, user_id) SELECT l.id, u.id FROM "
		"leaderboards l, users u WHERE l.name = 'small' AND u.name = 'ada'; "
		f"DELETE m FROM leaderboard_members {seat} WHERE l.name = 'small'; UPDATE invites SET "
		"note = 'y'"
	)
	with Held(site, removal) as held:
		join = beside(post(ada, "/join", code=code))
		held.wait_for_others(1)
	equal(join()[0].location, "/leaderboard/other")
	equal(sql(f"SELECT l.name FROM leaderboard_members {seat}"), [["other"]])
	sql("DELETE FROM leaderboard_removals")
	ok(post(admin, "/admin/leaderboard/small/publishing", visibility="public")())


@test
def deleting_a_leaderboard_while_its_jobs_end_removes_it_and_the_worker_continues():
	for board in ("gone", "gone_too"):
		make_board(admin, board)
		submit(ada, 3000.0, board)
	with holds_ranking("gone") as held:
		send(bob, 2500.0, "gone")
		held.wait_for_others(1)
		join = beside(post(admin, "/admin/leaderboard/gone/delete", name="gone"))
		held.wait_for_others(2)
	ok(join()[0])
	site.hold_jobs()
	send(bob, 2500.0, "gone_too")
	with holds_ranking("gone_too") as held:
		join = beside(post(admin, "/admin/leaderboard/gone_too/delete", name="gone_too"))
		held.wait_for_others(1)
		site.release_jobs()
	ok(join()[0])
	for board in ("gone", "gone_too"):
		equal(anyone.get(f"/leaderboard/{board}?{time.time()}").status, 404)
	for table in (
		"submissions",
		"ranking",
		"records",
		"leaderboard_gpus",
		"task_versions",
		"leaderboard_counts",
	):
		equal(
			(
				table,
				value(
					f"SELECT COUNT(*) FROM {table} WHERE leaderboard_id NOT IN (SELECT id FROM "
					"leaderboards)"
				),
			),
			(table, "0"),
		)
	equal(
		value(
			"SELECT COUNT(*) FROM jobs WHERE submission_id IS NULL AND rejudged_id IS NULL AND "
			"comparison_id IS NULL"
		),
		"0",
	)
	equal(state(submit(bob, 1400.0)), [["done", "passed"]])
	is_whole()


@test
def deleting_a_leaderboard_during_a_submission_leaves_nothing_behind():
	make_board(admin, "gone")
	with Held(
		site,
		"UPDATE leaderboards SET updated_at = updated_at + INTERVAL 1 SECOND WHERE name = 'gone'",
	) as held:
		join = beside(
			post(admin, "/admin/leaderboard/gone/delete", name="gone"),
			post(second, "/admin/leaderboard/gone/delete", name="gone"),
			post(eve, "/leaderboard/gone/submit", mode="test", code="# {}", gpu="H200"),
		)
		held.wait_for_others(3)
	deleted, again, sent = join()
	equal(sorted((deleted.status, again.status)), [303, 404])
	equal((sent.status in (303, 404, 409), sent.status), (True, sent.status))
	equal(
		value(
			"SELECT COUNT(*) FROM submissions WHERE leaderboard_id NOT IN (SELECT id FROM "
			"leaderboards)"
		),
		"0",
	)
	equal(
		value(
			"SELECT COUNT(*) FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM submissions s WHERE "
			"s.sha256 = b.sha256) AND NOT EXISTS (SELECT 1 FROM task_files f WHERE "
			"f.sha256 = b.sha256)"
		),
		"0",
	)


@test
def who_registers_while_a_team_takes_them_in_registers_the_team():
	sql(
		"INSERT INTO contests (name, title, rules, starts_at, ends_at, team_members) "
		"VALUES ('cup', 'Cup', '', '2089-01-01', '2089-01-02', 3)"
	)
	entrants = (
		"SELECT u.name FROM contest_entrants e JOIN users u ON u.id = e.user_id ORDER BY u.name"
	)

	def together(name, *deeds):
		"""Runs the deeds in this order: each waits for the person's row."""
		with Held(site, f"SELECT id FROM users WHERE name = '{name}' FOR UPDATE") as held:
			joins = []
			for waiting, deed in enumerate(deeds, 1):
				joins.append(beside(deed))
				held.wait_for_others(waiting)
		for join in joins:
			ok(join()[0])

	def register(client):
		return post(client, "/contest/cup/registration", action="register", code="")

	def teams(client, **fields):
		return post(client, "/contest/cup/teams", **fields)

	together("ada", teams(ada, action="create", name="Fast"), register(ada))
	equal(sql(entrants), [["Fast"]])
	code_of = value("SELECT code FROM teams")
	together("bob", teams(bob, action="join", code=code_of), register(bob))
	equal(sql(entrants), [["Fast"]])
	host = post(admin, "/admin/contest/cup", action="add", user="eve")
	with Held(site, "SELECT id FROM users WHERE name = 'eve' FOR UPDATE") as held:
		join = beside(teams(eve, action="join", code=value("SELECT code FROM teams")))
		held.wait_for_others(1)
		added = beside(host)
		held.wait_for_others(2)
	ok(join()[0])
	equal(added()[0].status, 422)
	contains(added()[0].words(), "eve is in the team Fast. Register the team instead.")
	equal(sql(entrants), [["Fast"]])


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
