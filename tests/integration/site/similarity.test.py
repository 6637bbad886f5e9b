#!/usr/bin/env python3
"""Submissions whose sources resemble each other: what podium-hooks finds and leaves out, who reads
the list, and how much work a submission causes among 10,000 others."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import (  # noqa: E402
	EVAL,
	TEMPLATE_TASK,
	case,
	done,
	source_of,
	submit_source,
	zip_of,
)
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_POLL_MS="50")
sql, value = site.sql, site.value
ada, bob, eve, carl, dora, admin = (Client(site.url) for _ in range(6))
NAMES = {"ada": ada, "bob": bob, "eve": eve, "carl": carl, "dora": dora, "root-of-all": admin}
PAGE = "/admin/leaderboard/small/similar"
made = {}

SHAPES = (
	"{0} = {1} + 1",
	"{0}({1}, {2})",
	"if {0} < {1}: pass",
	"{0}[{1}] = -{2}",
	"for {0} in {1}: {2}()",
	"{0} = [{1} for {1} in {2}]",
	"while not {0}: {1} = {2}.{0}",
	"assert {0} and {1}({2} * 2)",
)


def program(seed, count=60, names="abc", gap="\n"):
	"""Source of `count` statements; two seeds differ in structure, `names` and `gap` do not."""
	draw = random.Random(seed)
	return gap.join(draw.choice(SHAPES).format(*names) for _ in range(count)) + "\n"


TEMPLATE = program("template", 80)
times = iter(range(1000, 9000))


def submit(client, source, board="small"):
	return int(submit_source(client, source_of(case(float(next(times)))) + source, board=board))


def settle():
	"""Lets podium-hooks compare everything that there is."""
	sql("UPDATE submissions SET submitted_at = submitted_at - INTERVAL 2 MINUTE")
	last = value("SELECT MAX(id) FROM submissions")
	until(
		lambda: value("SELECT submission_id FROM similarity_progress") == last,
		explain=lambda: sql("SELECT * FROM similarity_progress"),
	)


def pairs(board="small"):
	return [
		(int(earlier), int(later), int(percent))
		for earlier, later, percent in sql(
			"SELECT p.other_id, p.submission_id, p.percent FROM similar_sources p "
			f"JOIN leaderboards l ON l.id = p.leaderboard_id WHERE l.name = '{board}' "
			"ORDER BY p.submission_id, p.other_id"
		)
	]


@test
def the_fixtures_are_created():
	for name, client in NAMES.items():
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; "
		"UPDATE users SET role = 'creator' WHERE name IN ('carl', 'dora')"
	)
	task = zip_of({"task.yml": TEMPLATE_TASK, "eval.py": EVAL, "submission.py": TEMPLATE})
	for name in ("small", "other"):
		done(
			carl.post(
				"/admin/leaderboards/new",
				[("name", name), ("gpu", "H200"), ("accepting", "1"), ("visibility", "hidden")],
				[("task", "task.zip", task)],
			)
		)
		site.publish(name)


@test
def a_copy_with_other_names_comments_and_layout_is_found():
	made["ada"] = submit(ada, program(1))
	made["eve"] = submit(eve, program(2))
	made["bob"] = submit(bob, program(1, names=("tile", "row", "größe"), gap="  # mine\n\n"))
	settle()
	equal(pairs(), [(made["ada"], made["bob"], 100)])


@test
def a_copy_with_changes_is_found_and_half_a_copy_is_not():
	changed = submit(eve, program(1, 50) + program(3, 8) + "\n")
	half = submit(eve, program(1, 25, "xyz") + program(4, 40))
	settle()
	(first, second) = [pair for pair in pairs() if pair[1] == changed]
	equal((first[:2], second[:2]), ((made["ada"], changed), (made["bob"], changed)))
	equal(60 <= first[2] <= 95, True)
	equal([pair for pair in pairs() if pair[1] == half], [])


@test
def own_resubmissions_other_leaderboards_and_the_template_do_not_count():
	again = submit(ada, program(1, names="klm"))
	before = len(pairs())
	submit(bob, program(5), board="other")
	submit(ada, program(5), board="small")
	submit(ada, TEMPLATE + program(6, 12))
	submit(eve, program("template", 80, "qrs") + program(7, 12))
	submit(bob, "a = 1\n")  # too short to say anything
	submit(eve, "b = 1\n")
	settle()
	equal(len([pair for pair in pairs() if again not in pair]), before)
	equal([pair for pair in pairs() if pair[:2] == (made["ada"], again)], [])
	equal(pairs("other"), [])


@test
def equal_sources_of_two_users_are_a_pair_once():
	source = source_of(case(7777.0)) + program(8)
	first, second = (int(submit_source(client, source, board="other")) for client in (ada, eve))
	again = int(submit_source(eve, source, board="other"))
	settle()
	equal(pairs("other"), [(first, second, 100)])
	equal(again > second, True)


@test
def admins_and_the_creator_read_the_list():
	for client, status in ((ada, 403), (dora, 403), (carl, 200), (admin, 200)):
		equal(client.get(PAGE).status, status)
	equal(Client(site.url).get(PAGE).status, 303)
	page = whole(admin.get(PAGE))
	contains(page.words(), "100 % ada")
	equal(page.words().count("100 %"), 1)  # two users are listed once
	contains(page.text, f'href="/compare?a={made["ada"]}&amp;b={made["bob"]}"')
	contains(page.text, f'href="{PAGE}" aria-current="page"')
	reader = Program(site.url, make_token(carl, "t", "read", "admin"))
	items = reader.read("/api/v1/admin/leaderboards/small/similar")["items"]
	equal(
		(items[0]["percent"], items[0]["earlier"]["user"], items[0]["later"]["user"]),
		(100, "ada", "bob"),
	)
	stranger = Program(site.url, make_token(dora, "t", "read", "admin"))
	equal(stranger.ask("GET", "/api/v1/admin/leaderboards/small/similar").status, 403)
	listed = site.manage("similar", "small")
	contains(listed, f"100 %  {made['ada']} of ada, then {made['bob']} of bob")
	equal(site.admin("similar", "nothing").returncode, 1)


@test
def users_with_the_same_source_are_one_group_on_the_page():
	source = source_of(case(4321.0)) + program(9)
	first, second, third = (
		int(submit_source(client, source, board="other")) for client in (dora, eve, bob)
	)
	settle()
	page = whole(carl.get("/admin/leaderboard/other/similar"))
	contains(page.words(), "3 users, 100 % the same code")
	contains(page.words(), "dora first")
	lacks(page.words(), "more user")  # both are shown
	lacks(page.words(), "100 % dora")  # no pair repeats the group
	for other in (second, third):
		contains(page.text, f'href="/compare?a={first}&amp;b={other}"')


@test
def a_deleted_account_and_a_deleted_submission_leave_the_list():
	done(bob.post("/account/delete", [("name", "bob"), ("password", "a long password")]))
	lacks(whole(admin.get(PAGE)).words(), "bob")
	equal([pair for pair in pairs() if made["bob"] in pair], [])
	equal(
		value(
			"SELECT COUNT(*) FROM source_sketches WHERE user_id NOT IN "
			"(SELECT id FROM users WHERE deleted_at IS NULL)"
		),
		"0",
	)
	left = sql(
		"SELECT COUNT(*) FROM sketch_hashes WHERE submission_id NOT IN "
		"(SELECT submission_id FROM source_sketches)"
	)
	equal(left, [["0"]])


@test
def the_work_does_not_grow_with_10000_submissions_that_share_all_hashes():
	sql("SET GLOBAL userstat = 1")  # other suites may use this server too
	rows = lambda: int(
		value(
			"SELECT COALESCE(SUM(rows_read), 0) FROM information_schema.table_statistics "
			"WHERE table_schema = DATABASE()"
		)
	)
	sample = value("SELECT MIN(submission_id) FROM source_sketches")
	board = value(f"SELECT leaderboard_id FROM source_sketches WHERE submission_id = {sample}")
	sql(
		f"SET @s = {sample}, @b = {board}; "
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"  mode, submitted_at) SELECT s.leaderboard_id, s.task_version_id, s.user_id, "
		"  s.file_name, s.sha256, s.mode, s.submitted_at FROM submissions s JOIN seq_1_to_10000 "
		"  WHERE s.id = @s; "
		"SET @first = (SELECT MAX(id) - 9999 FROM submissions); "
		"INSERT INTO source_sketches SELECT id, leaderboard_id, user_id, "
		"  UNHEX(SHA2(id, 256)), 100, (SELECT hashes FROM source_sketches k "
		"  WHERE k.submission_id = @s) "
		"  FROM submissions WHERE id >= @first; "
		"INSERT INTO sketch_hashes SELECT @b, h.hash, s.id FROM submissions s JOIN sketch_hashes h "
		"  ON h.submission_id = @s WHERE s.id >= @first; "
		"UPDATE similarity_progress SET submission_id = (SELECT MAX(id) FROM submissions)"
	)
	copy = submit(eve, program(1, names="uvw"))
	before = rows()
	settle()
	read = rows() - before
	equal(len([pair for pair in pairs() if pair[1] == copy]), 20)
	print(f"# {read} rows were read")
	equal(read < 60000, True)  # settle itself reads the submissions twice


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
