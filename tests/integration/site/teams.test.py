#!/usr/bin/env python3
"""Teams of a contest: making, joining and leaving them, the rights of their members, and that
nobody logs into the account of a team. A stand-in for podium-run reports what each submission
tells it to."""

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from held import Held, beside  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import (  # noqa: E402
	case,
	done as ok,
	make_board,
	send_source,
	source_of,
	submit_time,
)
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True, PODIUM_WORKER_NAME="here", PODIUM_QUOTA_PROFILE="2")
sql, value = site.sql, site.value
PASSWORD = "a long password"
PEOPLE = ("ada", "bob", "eve", "dan", "fay", "root-of-all")
clients = {name: Client(site.url) for name in PEOPLE}
ada, bob, eve, dan, fay, admin = clients.values()
anyone = Client(site.url)


def form(client, action, contest="cup", **fields):
	return client.post(
		f"/contest/{contest}/teams", [("action", action), *fields.items()], csrf=client.token
	)


def code_of(team):
	return value(
		f"SELECT t.code FROM teams t JOIN users u ON u.id = t.user_id WHERE u.name = '{team}'"
	)


def members(team):
	return value(
		"SELECT COALESCE(GROUP_CONCAT(p.name ORDER BY p.name), '') FROM team_members m "
		"JOIN users u "
		f"ON u.id = m.team_id JOIN users p ON p.id = m.user_id WHERE u.name = '{team}'"
	)


def holds_account(name):
	return Held(site, f"SELECT id FROM users WHERE name = '{name}' FOR UPDATE")


def make_contest(name, board, most=3, ends="NOW() + INTERVAL 1 DAY"):
	sql(
		"INSERT INTO contests (name, title, starts_at, ends_at, rules, team_members) VALUES "
		f"('{name}', 'The {name}', NOW() - INTERVAL 1 DAY, {ends}, '', {most}); "
		"INSERT INTO contest_problems (leaderboard_id, contest_id, position) SELECT l.id, c.id, 1 "
		f"FROM leaderboards l, contests c WHERE l.name = '{board}' AND c.name = '{name}'; "
		"INSERT INTO contest_entrants (contest_id, user_id) SELECT c.id, u.id FROM contests c, "
		f"users u WHERE c.name = '{name}'"
	)


def make_team(client, name, contest="cup"):
	ok(form(client, "create", contest, name=name))
	return code_of(name)


@test
def a_participant_makes_a_team_and_another_joins_it_by_its_code():
	for name, client in clients.items():
		client.register(name)
		client.token = client.csrf("/account")
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	for board in ("small", "tiny", "other"):
		make_board(admin, board)
	make_contest("cup", "small")
	make_contest("race", "tiny", most=2)
	code = make_team(ada, "Quick")
	equal(members("Quick"), "ada")
	ok(form(bob, "join", code=f" {code}\n"))
	equal(members("Quick"), "ada,bob")
	page = whole(anyone.fresh("/contest/cup/teams")).words()
	contains(page, "Quick ada, bob 2 of 3 open")
	contains(whole(anyone.fresh("/user/Quick")).words(), "Members ada")
	equal(  # the registrations of both passed to the team
		value(
			"SELECT GROUP_CONCAT(u.name ORDER BY u.name) FROM contest_entrants e JOIN "
			"users u ON u.id "
			"= e.user_id JOIN contests c ON c.id = e.contest_id WHERE c.name = 'cup' AND u.name IN "
			"('Quick', 'ada', 'bob')"
		),
		"Quick",
	)
	contains(bob.fresh("/contest/cup").words(), "Your team Quick is registered")


@test
def a_member_registers_the_team():
	registration = "/contest/cup/registration"
	sql("UPDATE contests SET starts_at = NOW() + INTERVAL 1 HOUR WHERE name = 'cup'")
	ok(bob.post(registration, [("action", "leave")], csrf=bob.token))
	equal(
		sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'contest.leave'"),
		[["bob", "Quick", "contest: cup"]],
	)
	lacks(ada.fresh("/contest/cup").words(), "is registered")
	ok(ada.post(registration, [("action", "register")], csrf=ada.token))
	contains(bob.fresh("/contest/cup").words(), "Your team Quick is registered")
	sql("UPDATE contests SET starts_at = NOW() - INTERVAL 1 DAY WHERE name = 'cup'")
	answer = site.admin("contest", "register", "cup", "ada")
	equal(answer.returncode == 0, False)
	contains(answer.stderr, "ada is in the team Quick. Register the team instead.")


@test
def only_members_see_the_code():
	code = code_of("Quick")
	contains(bob.fresh("/contest/cup/teams").text, code)
	for client in (anyone, eve, admin):
		for path in ("/contest/cup/teams", "/user/Quick"):
			lacks(client.fresh(path).text, code)
	lacks(str(sql("SELECT * FROM audit_log")), code)
	for path in [site.var / "run.log", *(site.var / "log").iterdir()]:
		lacks(path.read_text(errors="replace"), code)


@test
def bad_input_gets_a_sentence():
	for fields, status, sentence in (
		({"action": "join", "code": "nonsense"}, 422, "No team of this contest has this code"),
		({"action": "join", "code": "€" * 24}, 422, "No team of this contest has this code"),
		({"action": "create", "name": "a b"}, 422, "A name has 2 to 32"),
		({"action": "create", "name": "BOB"}, 409, "is taken"),
		({"action": "create", "name": "quick"}, 409, "is taken"),
		({"action": "create", "name": "deleted-user-7"}, 422, "reserved"),
		({"action": "create", "name": "Podium-admin"}, 422, "reserved for programs"),
		({"action": "leave"}, 409, "You are in no team"),
		({"action": "dance"}, 422, "This page has no such action"),
		({"action": "add", "team": "Quick", "user": "eve", "reason": "x"}, 403, "Only admins"),
	):
		answer = form(eve, **fields)
		equal((fields, answer.status), (fields, status))
		contains(answer.words(), sentence)
	equal(form(eve, "create", contest="nothing", name="Slow").status, 404)
	equal(anyone.get("/contest/no%20name/teams").status, 404)
	equal(form(ada, "create", name="Second").status, 409)
	equal(members("Quick"), "ada,bob")


@test
def a_person_in_a_team_of_one_contest_may_join_one_of_another():
	code = make_team(ada, "Racers", "race")
	equal(members("Racers"), "ada")
	contains(form(eve, "join", code=code).words(), "No team of this contest has this code")
	ok(form(ada, "leave", "race"))
	equal(value("SELECT COUNT(*) FROM users WHERE name = 'Racers'"), "0")  # its name is free again
	equal(  # nor is it registered any more
		value(
			"SELECT COUNT(*) FROM contest_entrants e JOIN users u ON u.id = e.user_id AND u.kind = "
			"'team' WHERE NOT EXISTS (SELECT 1 FROM team_members m WHERE m.team_id = u.id)"
		),
		"0",
	)
	equal(registered("ada", "race"), "1")


@test
def each_change_has_an_entry_in_the_audit_log():
	rows = sql(
		"SELECT action, actor, subject, detail FROM audit_log WHERE action LIKE '%team%' "
		"ORDER BY id"
	)
	for row in (
		["team.create", "ada", "Quick", "in the contest cup"],
		["team.join", "bob", "Quick", ""],
		["team.leave", "ada", "Racers", ""],
	):
		equal((row, rows.count(row)), (row, 1))


@test
def the_code_changes_when_a_member_leaves():
	old = code_of("Quick")
	ok(form(bob, "leave"))
	equal(form(bob, "join", code=old).status, 422)
	ok(form(bob, "join", code=code_of("Quick")))


def registered(name, contest="cup"):
	return value(
		"SELECT COUNT(*) FROM contest_entrants e JOIN contests c ON c.id = e.contest_id JOIN "
		f"users u ON u.id = e.user_id WHERE c.name = '{contest}' AND u.name = '{name}'"
	)


@test
def who_leaves_is_registered_only_where_the_registration_is_open():
	for registration, after in (("closed", "0"), ("code", "0"), ("open", "1")):
		sql(f"UPDATE contests SET registration = '{registration}' WHERE name = 'cup'")
		ok(form(bob, "leave"))
		equal((registration, registered("bob")), (registration, after))
		ok(form(bob, "join", code=code_of("Quick")))
		equal((registered("bob"), registered("Quick")), ("0", "1"))


@test
def what_a_member_submits_belongs_to_the_team():
	number = submit_time(bob, 1000.0, mode="test")
	equal(
		sql(
			"SELECT u.name, w.name FROM submissions s JOIN users u ON u.id = s.user_id LEFT JOIN "
			f"users w ON w.id = s.submitted_by WHERE s.id = {number}"
		),
		[["Quick", "bob"]],
	)
	equal(value("SELECT COUNT(*) FROM teams WHERE locked_at IS NOT NULL"), "0")
	contains(ada.get(f"/submission/{number}").words(), "bob sent the file for Quick")
	for client in (ada, bob):  # who would get new quotas with another team
		answer = form(client, "leave")
		equal(answer.status, 409)
		contains(answer.words(), "Quick has submitted, so nobody leaves it. Ask an admin.")
	equal(members("Quick"), "ada,bob")
	other = submit_time(bob, 1000.0, board="other", mode="test")  # of no contest
	equal(
		sql(
			"SELECT u.name FROM submissions s JOIN users u ON u.id = s.user_id WHERE "
			f"s.id = {other}"
		),
		[["bob"]],
	)


@test
def members_share_the_rights_of_the_author():
	number = submit_time(ada, 900.0)
	for client, status in ((ada, 200), (bob, 200), (eve, 403), (anyone, 403), (admin, 200)):
		equal(client.get(f"/submission/{number}/source").status, status)
	for client in (ada, bob):
		contains(client.fresh("/leaderboard/small/mine").text, f"/submission/{number}")
		contains(client.fresh("/mine?team=Quick").text, f"/submission/{number}")
		contains(client.fresh("/mine").text, f'href="/submission/{number}"')
		contains(client.fresh("/mine?from=2020-01-01").text, f'href="/submission/{number}"')
		contains(client.fresh("/mine").words(), "for Quick")
	contains(bob.fresh("/mine").words(), "by ada for Quick")
	contains(bob.fresh("/leaderboard/small/mine").words(), "by ada")
	lacks(ada.fresh("/mine").words(), "by ada")
	lacks(eve.fresh("/mine").text, f'href="/submission/{number}"')
	equal(eve.get("/mine?team=Quick").status, 403)
	equal(eve.get("/mine?team=nobody").status, 404)
	equal(bob.post(f"/submission/{number}/note", [("note", "by bob")], csrf=bob.token).status, 303)
	equal(eve.post(f"/submission/{number}/note", [("note", "x")], csrf=eve.token).status, 403)

	def send(client, what):
		ok(
			client.post(
				f"/submission/{number}/{what}", [("number", str(number))], csrf=client.token
			)
		)

	for what, client in (("withdraw", bob), ("withdraw", ada), ("restore", ada), ("withdraw", bob)):
		send(client, what)
	equal(value(f"SELECT withdrawn_at IS NOT NULL FROM submissions WHERE id = {number}"), "1")
	equal(
		sql(
			"SELECT actor, action, subject FROM audit_log WHERE action IN ('submission.withdraw', "
			"'submission.restore') ORDER BY id"
		),
		[
			["bob", "submission.withdraw", f"submission {number}"],
			["ada", "submission.restore", f"submission {number}"],
			["bob", "submission.withdraw", f"submission {number}"],
		],
	)


@test
def who_withdraws_their_own_submission_has_no_entry():
	number = submit_time(bob, 1000.0, board="other")
	before = value("SELECT COUNT(*) FROM audit_log")
	ok(bob.post(f"/submission/{number}/withdraw", [("number", str(number))], csrf=bob.token))
	equal(value("SELECT COUNT(*) FROM audit_log"), before)


@test
def the_team_ranks_once():
	submit_time(ada, 800.0)
	submit_time(bob, 700.0)
	equal(
		sql("SELECT u.name, r.place FROM ranking r JOIN users u ON u.id = r.user_id"),
		[["Quick", "1"]],
	)
	contains(bob.fresh("/leaderboard/small?gpu=H200&mine=1").words(), "Quick")
	contains(bob.fresh("/").words(), "you: rank 1")
	rows = anyone.fresh("/contest/cup.json").json["rows"]
	equal([(row["place"], row["user"]) for row in rows if row["place"] == 1], [(1, "Quick")])


@test
def a_member_who_cancels_a_running_job_uses_the_quota_of_the_team():
	site.hold_jobs()
	number = send_source(ada, source_of(case(1.0), note="cancel"), mode="test")
	sql(f"UPDATE jobs SET started_at = NOW() WHERE submission_id = {number}")
	ok(bob.post(f"/submission/{number}/cancel", [], csrf=bob.token))
	equal(
		value(
			"SELECT j.cancelled_by = s.user_id FROM jobs j JOIN submissions s ON s.id = "
			f"j.submission_id WHERE s.id = {number}"
		),
		"1",
	)
	equal(
		sql("SELECT actor, subject FROM audit_log WHERE action = 'submission.cancel'"),
		[["bob", f"submission {number}"]],
	)
	site.release_jobs()


@test
def members_share_a_quota():
	for client in (ada, bob):
		submit_time(client, 1000.0, mode="profile")
	for client in (ada, bob):
		answer = client.post(
			"/leaderboard/small/submit",
			[("mode", "profile"), ("code", source_of(case(3.0))), ("gpu", "H200")],
			csrf=client.token,
		)
		equal(answer.status, 429)
	submit_time(eve, 1000.0, mode="profile")


@test
def the_first_ranked_submission_locks_the_team():
	for client, fields in (
		(bob, {"action": "leave"}),
		(eve, {"action": "join", "code": code_of("Quick")}),
	):
		answer = form(client, **fields)
		equal(answer.status, 409)
		contains(answer.words(), "has a ranked submission, so nobody joins or leaves it")
	equal(members("Quick"), "ada,bob")


@test
def only_an_admin_changes_a_locked_team_and_gives_a_reason():
	equal(form(admin, "add", team="Quick", user="eve", reason=" ").status, 422)
	equal(form(admin, "add", team="Quick", user="nobody", reason="x").status, 422)
	equal(form(admin, "add", team="Quick", user="Quick", reason="x").status, 422)
	equal(form(admin, "add", team="nobody", user="eve", reason="x").status, 404)
	ok(form(admin, "add", team="Quick", user="eve", reason="came late"))
	equal(members("Quick"), "ada,bob,eve")
	contains(eve.fresh("/mine?team=Quick").text, "/submission/")
	ok(form(admin, "remove", team="Quick", user="eve", reason="a mistake"))
	equal(eve.get("/mine?team=Quick").status, 403)
	equal((registered("Quick"), registered("eve")), ("1", "0"))
	equal(
		sql(
			"SELECT action, actor, subject, detail FROM audit_log WHERE action IN "
			"('team.add', 'team.remove') ORDER BY id"
		),
		[
			["team.add", "root-of-all", "Quick", "eve: came late"],
			["team.remove", "root-of-all", "Quick", "eve: a mistake"],
		],
	)


@test
def somebody_with_a_ranked_submission_of_their_own_joins_no_team():
	code = make_team(dan, "Fresh")
	submit_time(fay, 5000.0)
	for fields in ({"action": "join", "code": code}, {"action": "create", "name": "Mine"}):
		answer = form(fay, **fields)
		equal(answer.status, 409)
		contains(answer.words(), "would rank twice")
	equal(form(admin, "add", team="Fresh", user="fay", reason="x").status, 409)
	equal(members("Fresh"), "dan")


@test
def of_two_who_join_for_the_last_place_one_gets_it():
	code = make_team(dan, "Pair", "race")
	with holds_account("Pair") as held:
		join = beside(
			*(lambda c=client: form(c, "join", "race", code=code) for client in (eve, fay))
		)
		held.wait_for_others(2)
	equal(sorted(answer.status for answer in join()), [303, 409])
	equal(
		value(
			"SELECT COUNT(*) FROM team_members m JOIN users u ON u.id = m.team_id WHERE "
			"u.name = 'Pair'"
		),
		"2",
	)


def ranked(client, mean_ns, board):
	return send_source(client, source_of(case(mean_ns)), board=board, csrf=client.token)


@test
def a_join_after_the_first_submission_is_refused_and_one_before_it_counts():
	code = make_team(ada, "Twins", "race")
	with holds_account("Twins") as held:
		submitted = beside(lambda: ranked(ada, 100.0, "tiny"))
		held.wait_for_others(1)
		joined = beside(lambda: form(bob, "join", "race", code=code))
		held.wait_for_others(2)
	submitted()
	equal(joined()[0].status, 409)
	equal(members("Twins"), "ada")
	code = make_team(bob, "Later", "race")
	free = Client(site.url)
	free.register("gus")
	free.token = free.csrf("/account")
	with holds_account("Later") as held:
		joined = beside(lambda: form(free, "join", "race", code=code))
		held.wait_for_others(1)
		submitted = beside(lambda: ranked(bob, 200.0, "tiny"))
		held.wait_for_others(2)
	equal(joined()[0].status, 303)
	submitted()
	equal(members("Later"), "bob,gus")


@test
def a_person_who_joins_while_submitting_ranks_once():
	hal = Client(site.url)
	hal.register("hal")
	hal.token = hal.csrf("/account")
	sql(
		"INSERT INTO contest_entrants (contest_id, user_id) SELECT c.id, u.id FROM "
		"contests c, users u WHERE u.name = 'hal'"
	)
	code = code_of("Fresh")
	with holds_account("hal") as held:
		submitted = beside(lambda: ranked(hal, 300.0, "small"))
		held.wait_for_others(1)
		joined = beside(lambda: form(hal, "join", code=code))
		held.wait_for_others(2)
	submitted()
	equal(joined()[0].status, 409)
	equal(
		sql(
			"SELECT u.name FROM submissions s JOIN users u ON u.id = s.user_id ORDER BY "
			"s.id DESC LIMIT 1"
		),
		[["hal"]],
	)


@test
def nothing_changes_after_the_end_of_the_contest():
	sql("UPDATE contests SET ends_at = NOW() - INTERVAL 1 HOUR WHERE name = 'cup'")
	for fields in (
		{"action": "join", "code": code_of("Fresh")},
		{"action": "create", "name": "Late"},
	):
		answer = form(eve, **fields)
		equal(answer.status, 409)
		contains(answer.words(), "The contest has ended")
	sql("UPDATE contests SET ends_at = NOW() + INTERVAL 1 DAY WHERE name = 'cup'")


@test
def teams_stay_when_the_standings_are_final():
	make_board(admin, "fifth")
	make_contest("done", "fifth")
	make_team(eve, "Settled", "done")
	sql("UPDATE contests SET final_at = NOW() WHERE name = 'done'")
	for answer in (
		form(eve, "leave", "done"),
		form(admin, "remove", "done", team="Settled", user="eve", reason="x"),
		form(admin, "add", "done", team="Settled", user="bob", reason="x"),
	):
		equal(answer.status, 409)
		contains(answer.words(), "The standings of done are final, so its teams stay as they are")
	equal(members("Settled"), "eve")
	sql("UPDATE contests SET final_at = NULL WHERE name = 'done'")
	ok(form(eve, "leave", "done"))


@test
def nobody_logs_into_a_team():
	team = value("SELECT id FROM users WHERE name = 'Quick'")
	stranger = Client(site.url)
	for password in ("", PASSWORD, "x"):
		answer = stranger.post("/login", [("name", "Quick"), ("password", password)])
		contains(answer.words(), "The name or the password is wrong")
	equal(stranger.post("/register", [("name", "quick"), ("password", PASSWORD)]).status, 409)
	# a password, a session, a token and a link that somebody put into the database
	sql(
		"UPDATE users t JOIN users b ON b.name = 'bob' SET t.password_hash = b.password_hash "
		f"WHERE t.id = {team}"
	)
	stranger.post("/login", [("name", "Quick"), ("password", PASSWORD)])
	equal(value(f"SELECT COUNT(*) FROM sessions WHERE user_id = {team}"), "0")
	sql(f"UPDATE users SET password_hash = '' WHERE id = {team}")
	sql(
		f"UPDATE sessions SET user_id = {team} WHERE user_id = (SELECT id FROM users "
		"WHERE name = 'bob')"
	)
	contains(bob.get("/account").location or "", "/login")
	secret = "podium_" + "a" * 43
	sql(
		"INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes) VALUES "
		f"({team}, 'x', 'podium_aaaaaa', "
		f"UNHEX('{hashlib.sha256(secret.encode()).hexdigest()}'), 'read')"
	)
	equal(anyone.get("/api/v1/submissions", Authorization=f"Bearer {secret}").status, 401)
	equal(anyone.get("/popcorn/user/submissions", **{"X-Popcorn-Cli-Id": secret}).status, 401)
	link = "11" * 32
	sql(
		"INSERT INTO password_links (token_hash, user_id, made_by, expires_at) VALUES "
		f"(UNHEX('{hashlib.sha256(bytes.fromhex(link)).hexdigest()}'), {team}, 'x', NOW() "
		"+ INTERVAL 1 DAY)"
	)
	lacks(anyone.get(f"/password/{link}").words(), "Quick")
	admin.post(
		"/admin/users",
		[("user", "Quick"), ("action", "role"), ("role", "admin"), ("confirm", "Quick")],
		csrf=admin.token,
	)
	equal(
		value("SELECT CONCAT(role, password_hash) FROM users WHERE name = 'Quick'"), "participant"
	)
	sql(
		f"DELETE FROM api_tokens WHERE user_id = {team}; DELETE FROM password_links; "
		f"DELETE FROM sessions WHERE user_id = {team}"
	)
	ok(bob.post("/login", [("name", "bob"), ("password", PASSWORD)]))
	bob.token = bob.csrf("/account")


@test
def no_command_lets_anybody_into_a_team():
	password = site.var / "password"
	password.write_text(PASSWORD)
	for words in (("role", "Quick", "admin"), ("password", "Quick", "--password-file", password)):
		answer = site.admin("user", *words)
		equal((words, answer.returncode == 0), (words, False))
		contains(answer.stderr, "it is a team")
	equal(
		value("SELECT CONCAT(role, password_hash) FROM users WHERE name = 'Quick'"), "participant"
	)
	equal(value("SELECT COUNT(*) FROM password_links"), "0")


@test
def a_team_has_no_role():
	for name, status in (("Quick", 422), ("bob", 303)):
		answer = admin.post(
			"/admin/leaderboard/other/roles",
			[("action", "give"), ("user", name), ("role", "jury")],
			csrf=admin.token,
		)
		equal((name, answer.status), (name, status))
		contains(answer.words(), "Quick is a team") if status == 422 else None
	sql("DELETE FROM leaderboard_roles")


@test
def members_get_the_emails_of_their_team():
	sql(
		"INSERT INTO mail_addresses (user_id, address, kinds, unsubscribe_key) SELECT id, "
		"CONCAT(name, '@podium.example'), 'overtaken,finished', REPEAT('x', 32) FROM users "
		"WHERE name IN ('ada', 'bob', 'eve')"
	)
	number = submit_time(bob, 690.0)
	finished = "SELECT GROUP_CONCAT(u.name ORDER BY u.name) FROM mails m JOIN users u ON u.id = "
	equal(
		value(f"{finished} m.user_id WHERE m.kind = 'finished' AND m.other_id = {number}"),
		"ada,bob",
	)
	submit_time(fay, 500.0)
	equal(value(f"{finished} m.user_id WHERE m.kind = 'overtaken'"), "ada,bob")
	for client in (ada, bob):
		contains(client.fresh("/").words(), "fay is now ahead of you on small")
	sql("DELETE FROM mails; DELETE FROM mail_addresses")


@test
def the_export_of_a_member_names_the_team():
	data = bob.get("/account/export").json
	equal(
		[(row["team"], row["contest"]) for row in data["teams"]],
		[("Quick", "cup"), ("Later", "race")],
	)
	sent = sql(
		"SELECT s.id FROM submissions s JOIN users u ON u.id = s.submitted_by WHERE "
		"u.name = 'bob' ORDER BY s.id"
	)
	equal([[str(row["id"])] for row in data["submissions_for_teams"]], sent)
	equal(len(sent) > 3, True)
	lacks(str(data), code_of("Quick"))


@test
def nobody_who_was_removed_from_a_closed_leaderboard_gets_in_by_a_team():
	def seats():
		return value(
			"SELECT COALESCE(GROUP_CONCAT(u.name ORDER BY u.id), '') FROM leaderboard_members m "
			"JOIN users u ON u.id = m.user_id JOIN leaderboards l ON l.id = m.leaderboard_id "
			"WHERE l.name = 'shut'"
		)

	make_board(admin, "shut")
	make_contest("private", "shut")
	sql("UPDATE leaderboards SET visibility = 'closed' WHERE name = 'shut'")
	code = make_team(ada, "Seated", "private")
	for client in (bob, eve):
		ok(form(client, "join", "private", code=code))
	sql(
		"INSERT INTO leaderboard_members (leaderboard_id, user_id) SELECT l.id, u.id FROM "
		"leaderboards l, users u WHERE l.name = 'shut' AND u.name = 'Seated'; "
		"INSERT INTO leaderboard_removals (leaderboard_id, user_id) SELECT l.id, u.id FROM "
		"leaderboards l, users u WHERE l.name = 'shut' AND u.name = 'bob'"
	)
	for client, status in ((ada, 200), (eve, 200), (bob, 404), (dan, 404)):
		equal(client.fresh("/leaderboard/shut").status, status)
	ok(form(bob, "leave", "private"))
	equal((registered("bob", "private"), seats()), ("1", "Seated"))
	ok(form(eve, "leave", "private"))
	equal(seats(), "eve,Seated")
	sql("DELETE FROM leaderboard_removals")


@test
def a_banned_member_leaves_the_others_alone():
	sql("UPDATE users SET banned_at = NOW() WHERE name = 'ada'")
	submit_time(bob, 1000.0, mode="test")
	equal(form(admin, "add", team="Fresh", user="ada", reason="x").status, 409)
	sql("UPDATE users SET banned_at = NULL WHERE name = 'ada'")


@test
def a_deleted_account_leaves_its_teams():
	ida, joe = Client(site.url), Client(site.url)
	for name, client in (("ida", ida), ("joe", joe)):
		client.register(name)
		client.token = client.csrf("/account")
	code = make_team(ida, "Short")
	delete = [("name", "ida"), ("password", PASSWORD)]
	with holds_account("Short") as held:
		# The deletion waits for the team, and the join for the deletion.
		deleted = beside(lambda: ida.post("/account/delete", delete, csrf=ida.token))
		held.wait_for_others(1)
		joined = beside(lambda: form(joe, "join", code=code))
		held.wait_for_others(2)
	deleted()
	contains((409, 422), joined()[0].status)
	equal(value("SELECT COUNT(*) FROM users WHERE name = 'Short'"), "0")
	equal(
		value(
			"SELECT COUNT(*) FROM team_members m JOIN users u ON u.id = m.user_id WHERE "
			"u.deleted_at IS NOT NULL"
		),
		"0",
	)
	# A team with submissions stays.
	kim = Client(site.url)
	kim.register("kim")
	kim.token = kim.csrf("/account")
	make_team(kim, "Lasting")
	ok(kim.post("/contest/cup/registration", [("action", "register")], csrf=kim.token))
	number = submit_time(kim, 4000.0)
	ok(kim.post("/account/delete", [("name", "kim"), ("password", PASSWORD)], csrf=kim.token))
	equal(members("Lasting"), "")
	page = anyone.fresh(f"/submission/{number}").words()
	contains(page, "Lasting submitted")
	lacks(page, "kim")
	contains(whole(anyone.fresh("/user/Lasting")).words(), "The team has no members")


@test
def podium_admin_lists_and_changes_teams():
	listed = site.manage("team", "list", "cup")
	contains(listed, "Quick")
	contains(listed, "ada, bob")
	lacks(listed, code_of("Quick"))
	site.manage("team", "add", "Fresh", "eve", "by an operator")
	equal(members("Fresh"), "dan,eve")
	for words in (
		("add", "Fresh", "eve", ""),
		("add", "Fresh", "nobody", "x"),
		("remove", "nothing", "eve", "x"),
		("list", "nothing"),
	):
		answer = site.admin("team", *words)
		equal((words, answer.returncode == 0), (words, False))
	site.manage("team", "remove", "Fresh", "eve", "it was a test")
	equal(members("Fresh"), "dan")
	equal(
		sql(
			"SELECT action, detail FROM audit_log WHERE actor = 'podium-admin' AND action LIKE "
			"'%team%' ORDER BY id"
		),
		[["team.add", "eve: by an operator"], ["team.remove", "eve: it was a test"]],
	)


@test
def a_banned_team_submits_nothing():
	sql("UPDATE users SET banned_at = NOW() WHERE name = 'Quick'")
	answer = ada.post(
		"/leaderboard/small/submit",
		[("mode", "test"), ("code", source_of(case(2.0))), ("gpu", "H200")],
		csrf=ada.token,
	)
	equal(answer.status, 403)
	contains(answer.words(), "banned from submitting")
	sql("UPDATE users SET banned_at = NULL WHERE name = 'Quick'")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
