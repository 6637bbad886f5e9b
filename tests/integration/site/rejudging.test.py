#!/usr/bin/env python3
"""Rejudging computes new results beside the old ones. A preview shows what would change, and an
admin applies or discards it. A stand-in for podium-run reports what each submission tells it to."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import case, make_board, register, source_of, status_of, submit_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, eve, admin, creator = (Client(site.url) for _ in range(6))
PASSWORD = "a long password"
again = site.var / "again"  # once this file exists, a submission's result is its "then"


def prepare():
	register(site, {"ada": ada, "bob": bob, "eve": eve, "root-of-all": admin, "carl": creator})
	make_board(admin, "small")


def submit(client, mean_ns, then, **how):
	return submit_source(client, source_of(case(mean_ns), after=str(again), then=then), **how)


def ranking(board="small"):
	return [
		(row["user"], row["rank"], row["score_ns"])
		for row in anyone.get(f"/leaderboard/{board}.json?gpu=H200&x={time.time()}").json["rows"]
	]


def rejudge(client=admin, **fields):
	return client.post(
		"/admin/rejudgings",
		list({"leaderboard": "small", "gpu": "", **fields}.items()),
		form="/account",
	)


def rejudged(**fields):
	"""Starts a rejudging and waits until its jobs have ended. Returns its number."""
	answer = rejudge(**fields)
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	number = int(answer.location.rsplit("/", 1)[1])
	until(lambda: "waits for you" in show(number).words())
	return number


def show(number, client=admin):
	return client.get(f"/admin/rejudgings/{number}")


def end(number, action, name="small", client=admin, **how):
	return client.post(
		f"/admin/rejudgings/{number}", [("action", action), ("name", name)], form="/account", **how
	)


def publish(board, **fields):
	return admin.post(
		f"/admin/leaderboard/{board}/publishing",
		list({"visibility": "public", "confirm": "yes", **fields}.items()),
	)


def command(*arguments):
	answer = site.admin(*arguments)
	return answer.returncode, answer.stdout + answer.stderr


def rebuilt():
	before = sql("SELECT * FROM ranking ORDER BY position")
	sql("DELETE FROM ranking")
	equal(command("ranking", "rebuild")[0], 0)
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


@test
def a_rejudging_starts_from_a_form_that_says_what_is_wrong():
	global first, second, third
	prepare()
	first = submit(ada, 1000.0, {"cases": [case(3000.0)]})
	second = submit(
		bob,
		2000.0,
		{
			"verdict": {
				"verdict": "wrong answer",
				"reason": "Case 1 is <wrong> now.",
				"score_ns": None,
			}
		},
	)
	third = submit(eve, 4000.0, {"cases": [case(3900.0)]})
	equal(ranking(), [("ada", 1, 1000), ("bob", 2, 2000), ("eve", 3, 4000)])
	whole(admin.get("/admin/rejudgings"))
	contains(admin.get("/admin/rejudgings").words(), "There is no rejudging yet.")
	for fields, sentence in (
		({"scope": "top", "top": "0", "gpu": "H200"}, "The number of first entries"),
		({"scope": "top", "top": "3"}, "Choose the device"),
		({"scope": "submission", "submission": "x"}, "no submission with this number"),
		({"scope": "user", "user": "nobody"}, "no user named"),
		({"scope": "user", "user": "über"}, "no user named"),
		({"scope": "all", "leaderboard": ""}, "Choose a leaderboard"),
		({"scope": "all", "leaderboard": "größe"}, "Choose a leaderboard"),
		({"scope": "all", "gpu": "A<b>"}, "no GPU named"),
		({"scope": "all", "gpu": "A100"}, "There is nothing to rejudge"),
		({"scope": "praise"}, "Choose what is rejudged"),
	):
		answer = rejudge(**fields)
		equal((fields, answer.status), (fields, 422))
		contains(answer.words(), sentence)
		whole(answer)
	together = rejudge(scope="top", leaderboard="", gpu="", top="")
	for field, sentence in (
		("leaderboard", "Choose a leaderboard."),
		("gpu", "Choose the device whose first entries to rejudge."),
		("top", "Enter how many first entries to rejudge."),
	):
		contains(together.text, f'<a href="#{field}">')
		equal(together.text.count(sentence), 2)  # in the summary and at the field
	whole(together)
	equal(sql("SELECT COUNT(*) FROM rejudgings"), [["0"]])


@test
def only_admins_and_its_creators_rejudge():
	for client, expected in ((anyone, 303), (ada, 403), (creator, 404)):
		equal(client.get("/admin/rejudgings/1").status, expected)
	equal(ada.get("/admin/rejudgings").status, 403)
	for client, expected in ((ada, 403), (creator, 404)):
		equal(rejudge(client, scope="all").status, 403)
		equal(end(1, "apply", client=client).status, expected)
	equal(
		admin.post(
			"/admin/rejudgings", [("scope", "all"), ("leaderboard", "small")], csrf="0" * 64
		).status,
		403,
	)
	for number in ("1", "x", "9" * 30):
		equal(show(number).status, 404)
		equal(end(number, "apply").status, 404)


@test
def new_results_change_nothing_before_they_are_applied():
	global number
	before, jobs = (
		ranking(),
		sql("SELECT id, score_ns, verdict FROM jobs WHERE submission_id IS NOT NULL ORDER BY id"),
	)
	again.touch()
	number = rejudged(scope="top", top="10", gpu="H200")
	equal(
		sql(
			"SELECT DISTINCT priority, user_id, submission_id FROM jobs WHERE rejudged_id "
			"IS NOT NULL"
		),
		[["2", "0", "NULL"]],
	)
	equal(ranking(), before)
	equal(
		sql("SELECT id, score_ns, verdict FROM jobs WHERE submission_id IS NOT NULL ORDER BY id"),
		jobs,
	)
	equal(status_of(anyone, second)["verdict"], "passed")
	lacks(anyone.get(f"/submission/{second}?{time.time()}").words(), "wrong now")
	equal(
		len(
			sql(
				"SELECT id FROM stages WHERE job_id IN (SELECT new_job_id FROM rejudged_jobs WHERE "
				f"rejudging_id = {number})"
			)
		)
		> 0,
		True,
	)


@test
def the_preview_shows_verdicts_and_ranks_and_changes_nothing():
	before = sql("SELECT * FROM ranking ORDER BY position")
	page = show(number)
	whole(page)
	words = page.words()
	contains(words, "For small : the top 10 on H200.")
	contains(words, "3 ranked times would change, and 0 other users would move.")
	contains(words, "ada 1 → 1 1.000 µs → 3.000 µs")
	contains(words, "bob 2 → not ranked 2.000 µs → –")
	contains(words, "eve 3 → 2 4.000 µs → 3.900 µs")
	contains(words, "wrong answer Case 1 is <wrong> now. new verdict")
	contains(words, "replaces 3 results")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)
	equal(sql("SELECT COUNT(*) FROM comparisons"), [["0"]])
	contains(rejudge(scope="all").words(), "is unfinished or in an open rejudging")


@test
def a_new_result_can_be_inspected_before_it_is_applied():
	result = int(
		sql(
			f"SELECT id FROM rejudged_jobs WHERE rejudging_id = {number} AND submission_id "
			f"= {second}"
		)[0][0]
	)
	contains(show(number).text, f'href="/admin/rejudgings/{number}/{result}"')
	page = admin.get(f"/admin/rejudgings/{number}/{result}")
	whole(page)
	for words in (
		f"Submission {second} on H200, rejudged",
		"Old result passed 2.000 ± 0.020 µs",
		"New result wrong answer",
		"This is the new result. The submission keeps its old one",
		"Case 1 is <wrong> now.",
		"compiled",
		"1 shape timed",
	):
		contains(page.words(), words)
	for path in (
		f"/admin/rejudgings/{number}/{result + 1000}",
		f"/admin/rejudgings/{number + 1}/{result}",
		f"/admin/rejudgings/{number}/x",
		f"/admin/rejudgings/x/{result}",
	):
		equal((path, admin.get(path).status), (path, 404))
	for client, expected in ((anyone, 303), (bob, 403), (creator, 404)):
		equal(client.get(f"/admin/rejudgings/{number}/{result}").status, expected)


@test
def nothing_is_applied_while_the_ranking_is_frozen():
	before = sql("SELECT * FROM ranking ORDER BY position")
	equal(publish("small", action="freeze").status, 303)
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)
	page = show(number)
	whole(page)
	contains(
		page.words(), "The ranking of small is frozen, so you cannot apply the new results now"
	)
	contains(page.words(), "ranking frozen")
	lacks(page.words(), "Apply the new results")
	lacks(page.words(), "not ranked")  # what cannot be applied has no preview
	answer = end(number, "apply")
	equal(answer.status, 409)
	contains(answer.words(), "The ranking of small is frozen since")
	contains(answer.words(), "Lift the freeze first, or discard the rejudging.")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)
	equal(sql(f"SELECT state FROM rejudgings WHERE id = {number}"), [["open"]])
	equal(
		publish("small", frozen="2100-01-01 00:00").status, 303
	)  # only a freeze that has begun prevents applying
	contains(show(number).words(), "Apply the new results")
	equal(publish("small", action="lift").status, 303)
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


@test
def applying_needs_the_leaderboards_name():
	for typed in ("", "Small", "big"):
		answer = end(number, "apply", typed)
		equal(answer.status, 422)
		contains(answer.words(), "This is not the leaderboard’s name")
	equal(end(number, "praise").status, 422)
	equal(sql(f"SELECT state FROM rejudgings WHERE id = {number}"), [["open"]])


@test
def applying_replaces_results_and_ranks_together():
	answer = end(number, "apply")
	equal(
		(answer.status, answer.location.removeprefix(site.url)),
		(303, f"/admin/rejudgings/{number}"),
	)
	contains(admin.get(f"/admin/rejudgings/{number}").words(), "The new results were applied")
	equal(ranking(), [("ada", 1, 3000), ("eve", 2, 3900)])
	equal(
		(status_of(anyone, second)["verdict"], status_of(anyone, second)["jobs"][0]["reason"]),
		("wrong answer", "Case 1 is <wrong> now."),
	)
	contains(bob.get("/leaderboard/small/mine").words(), "wrong answer")
	result = int(
		sql(
			f"SELECT id FROM rejudged_jobs WHERE rejudging_id = {number} AND submission_id "
			f"= {second}"
		)[0][0]
	)
	contains(
		admin.get(f"/admin/rejudgings/{number}/{result}").words(),
		"This is the old result. The submission has another",
	)
	contains(show(number).words(), "passed → wrong answer Case 1 is <wrong> now.")
	equal(end(number, "apply").status, 409)
	equal(end(number, "discard").status, 409)
	rebuilt()
	equal(
		sql(
			"SELECT actor, action, subject, detail FROM audit_log WHERE action LIKE 'rejudging.%' "
			"ORDER BY id"
		),
		[
			[
				"root-of-all",
				"rejudging.start",
				"small",
				f"rejudging {number}: the top 10 on H200, 3 results",
			],
			[
				"root-of-all",
				"rejudging.apply",
				"small",
				f"rejudging {number}: the top 10 on H200, 3 results replaced",
			],
		],
	)


@test
def a_failed_submission_is_ranked_once_a_rejudging_passes_it():
	again.unlink()
	one = rejudged(scope="submission", submission=second, leaderboard="")
	contains(show(one).words(), "bob not ranked → 1 – → 2.000 µs")
	contains(show(one).words(), "1 ranked time would change, and 2 other users would move.")
	contains(show(one).words(), "2 users with a new rank and the same time")
	equal(end(one, "apply").status, 303)
	equal(ranking(), [("bob", 1, 2000), ("ada", 2, 3000), ("eve", 3, 3900)])
	rebuilt()


@test
def discarding_keeps_every_old_result():
	before = ranking()
	users = rejudged(scope="user", user="ada")
	equal(
		sql(f"SELECT submission_id FROM rejudged_jobs WHERE rejudging_id = {users}"), [[str(first)]]
	)
	equal(end(users, "discard").status, 303)
	contains(admin.get(f"/admin/rejudgings/{users}").words(), "Every result is as before.")
	equal(ranking(), before)
	equal(end(users, "apply").status, 409)


@test
def podium_admin_starts_shows_applies_and_discards():
	before = ranking()
	for words in (
		("start",),
		("start", "praise"),
		("start", "top", "3", "small"),
		("start", "all"),
		("start", "all", "small", "H200", "more"),
		("start", "everywhere"),
		("show",),
		("apply", "1"),
		("discard", "1"),
		("list", "more"),
	):
		equal((words, command("rejudge", *words)[0]), (words, 2))
	for words, sentence in (
		(("start", "submission", "x"), "no submission with this number"),
		(("start", "top", "0", "small", "H200"), "The number of first entries"),
		(("start", "user", "nobody", "small"), "no user named"),
		(("show", "999"), "no rejudging with this number"),
		(("apply", "x", "small"), "no rejudging"),
	):
		code, said = command("rejudge", *words)
		equal((words, code), (words, 1))
		contains(said, sentence)
	again.touch()
	code, said = command("rejudge", "start", "top", "1", "small", "H200")
	equal(code, 0)
	contains(said, "the top 1 on H200; 1 job runs when no submission waits.")
	one = int(said.split()[1].rstrip(":"))
	until(lambda: "waits for you" in show(one).words())
	again.unlink()
	contains(
		command("rejudge", "list")[1],
		f"{one}      small: the top 1 on H200; 1 result; finished; apply or discard it",
	)
	code, said = command("rejudge", "show", one)
	equal(code, 0)
	contains(said, f"{second}")
	contains(
		said,
		"small of bob: passed 2.000 µs -> wrong answer -; another verdict: Case 1 is <wrong> now.",
	)
	contains(said, "small H200, version 1, bob: 1 2.000 µs -> not ranked -")
	contains(said, "small H200, version 1, ada: 2 3.000 µs -> 1 3.000 µs")
	equal(ranking(), before)
	code, said = command("rejudge", "apply", one, "ada")
	equal((code, "type small" in said), (1, True))
	equal(publish("small", action="freeze").status, 303)
	contains(
		command("rejudge", "show", one)[1],
		"The ranking of small is frozen. Lift the freeze before you apply this rejudging.",
	)
	code, said = command("rejudge", "apply", one, "small")
	equal((code, "Lift the freeze first" in said), (1, True))
	equal(publish("small", action="lift").status, 303)
	equal(command("rejudge", "apply", one, "small")[0], 0)
	equal(ranking(), [("ada", 1, 3000), ("eve", 2, 3900)])
	equal(command("rejudge", "apply", one, "small")[0], 1)
	back = int(command("rejudge", "start", "submission", second)[1].split()[1].rstrip(":"))
	until(lambda: "waits for you" in show(back).words())
	equal(command("rejudge", "apply", back, "small")[0], 0)
	equal(ranking(), before)
	gone = int(command("rejudge", "start", "everywhere", "eve")[1].split()[1].rstrip(":"))
	equal(command("rejudge", "discard", gone, "eve")[0], 0)
	contains(command("rejudge", "show", gone)[1], "discarded by podium-admin")
	equal(
		sql(
			"SELECT action, subject FROM audit_log WHERE actor = 'podium-admin' AND action LIKE "
			"'rejudging.%' ORDER BY id"
		),
		[
			["rejudging.start", "small"],
			["rejudging.apply", "small"],
			["rejudging.start", "small"],
			["rejudging.apply", "small"],
			["rejudging.start", "eve"],
			["rejudging.discard", "eve"],
		],
	)


@test
def an_unfinished_rejudging_can_be_discarded_but_not_applied():
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'A100', 9 FROM "
		"leaderboards"
	)
	sql(
		"INSERT INTO jobs (submission_id, user_id, gpu, state, verdict) SELECT id, user_id, "
		f"'A100', 'done', 'passed' FROM submissions WHERE id = {first}"
	)
	answer = rejudge(scope="all", gpu="A100")
	waiting = int(answer.location.rsplit("/", 1)[1])
	page = show(waiting)
	whole(page)
	contains(page.words(), "1 job of 1 has not finished")
	lacks(page.words(), "Apply the new results")
	contains(anyone.get(f"/queue?{time.time()}").words(), "rejudging")
	equal(end(waiting, "apply").status, 409)
	equal(end(waiting, "discard").status, 303)
	equal(
		sql(
			"SELECT j.state, j.reason FROM jobs j JOIN rejudged_jobs r ON r.new_job_id = "
			"j.id WHERE "
			f"r.rejudging_id = {waiting}"
		),
		[["cancelled", "The rejudging was discarded."]],
	)


@test
def a_users_results_can_be_rejudged_on_all_leaderboards():
	make_board(admin, "large")
	elsewhere = submit(ada, 7000.0, {"cases": [case(6000.0)]}, board="large")
	submit(bob, 6500.0, {"cases": [case(6500.0)]}, board="large")
	before = ranking(), ranking("large")
	again.touch()
	equal(rejudge(scope="everywhere", user="nobody", leaderboard="").status, 422)
	many = rejudged(scope="everywhere", user="ada", leaderboard="", gpu="H200")
	equal(
		sql(
			"SELECT leaderboard_id, user_id = (SELECT id FROM users WHERE name = 'ada') FROM "
			f"rejudgings WHERE id = {many}"
		),
		[["NULL", "1"]],
	)
	equal(
		sql(
			f"SELECT submission_id FROM rejudged_jobs WHERE rejudging_id = {many} ORDER BY "
			"submission_id"
		),
		[[str(first)], [str(elsewhere)]],
	)
	contains(rejudge(scope="all", leaderboard="large", gpu="H200").location, "/admin/rejudgings/")
	equal(
		sql(
			"SELECT COUNT(*) FROM rejudged_jobs r JOIN rejudgings g ON g.id = r.rejudging_id WHERE "
			"g.state = 'open' AND r.submission_id = %d" % elsewhere
		),
		[["1"]],
	)
	page = show(many)
	whole(page)
	contains(page.words(), "For ada : every ranked result of ada on every leaderboard on H200.")
	contains(page.words(), "ada large 2 → 1 7.000 µs → 6.000 µs")
	contains(page.words(), "bob large 1 → 2 6.500 µs")
	contains(page.words(), "type the user’s name: ada")
	whole(admin.get("/admin/rejudgings"))
	equal((ranking(), ranking("large")), before)
	equal(publish("large", action="freeze").status, 303)
	contains(show(many).words(), "The ranking of large is frozen")
	equal(end(many, "apply", "ada").status, 409)
	equal((ranking(), ranking("large")), before)
	equal(publish("large", action="lift").status, 303)
	equal(end(many, "apply", "small").status, 422)
	equal(end(many, "apply", "ada").status, 303)
	equal(ranking("large"), [("ada", 1, 6000), ("bob", 2, 6500)])
	equal(
		sql(
			"SELECT actor, action, subject, detail FROM audit_log WHERE action = 'rejudging.apply' "
			"ORDER BY id DESC LIMIT 1"
		),
		[
			[
				"root-of-all",
				"rejudging.apply",
				"ada",
				f"rejudging {many}: every ranked result of ada on every leaderboard on "
				"H200, 2 results "
				"replaced",
			]
		],
	)
	rebuilt()
	again.unlink()
	equal(admin.post("/admin/leaderboard/large/delete", [("name", "large")]).status, 303)
	equal(
		sql(f"SELECT submission_id FROM rejudged_jobs WHERE rejudging_id = {many}"), [[str(first)]]
	)


@test
def long_rejudgings_are_shown_a_hundred_results_at_a_time():
	sql(f"""INSERT INTO rejudgings (leaderboard_id, scope, made_by) SELECT id, 'made by the test',
		'root-of-all' FROM leaderboards WHERE name = 'small';
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
		SELECT leaderboard_id, task_version_id, user_id, CONCAT('made-', seq), sha256, 'ranked'
			FROM submissions JOIN seq_1_to_250 WHERE id = {first};
		INSERT INTO jobs (submission_id, user_id, gpu, state, verdict) SELECT id, user_id, 'A100',
			'done', 'passed' FROM submissions WHERE file_name LIKE 'made-%';
		INSERT INTO rejudged_jobs (rejudging_id, submission_id, gpu, old_job_id)
			SELECT (SELECT MAX(id) FROM rejudgings), j.submission_id, 'A100', j.id
		FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE s.file_name LIKE 'made-%';
		INSERT INTO jobs (rejudged_id, user_id, gpu, priority, state, verdict)
			SELECT id, 0, 'A100', 2, 'done', IF(id % 50, 'passed', 'wrong answer')
			FROM rejudged_jobs WHERE new_job_id = 0;
		UPDATE rejudged_jobs r JOIN jobs j ON j.rejudged_id = r.id SET r.new_job_id = j.id
			WHERE r.new_job_id = 0""")
	long = int(sql("SELECT MAX(id) FROM rejudgings")[0][0])
	pages = [admin.get(f"/admin/rejudgings/{long}?page={page}") for page in (1, 2, 3)]
	equal([page.text.count(f'href="/admin/rejudgings/{long}/') for page in pages], [100, 100, 50])
	equal([page.words().count("new verdict") for page in pages], [5, 0, 0])
	for page in pages:
		whole(page)
	contains(pages[1].text, f'href="/admin/rejudgings/{long}?page=3"')
	equal(admin.get(f"/admin/rejudgings/{long}?page=4").status, 404)
	equal(end(long, "discard").status, 303)


@test
def deleting_a_leaderboard_deletes_its_rejudgings():
	equal(admin.post("/admin/leaderboard/small/delete", [("name", "small")]).status, 303)
	for table in (
		"rejudgings WHERE leaderboard_id IS NOT NULL",
		"rejudged_jobs",
		"jobs",
		"submissions",
	):
		equal((table, sql(f"SELECT COUNT(*) FROM {table}")), (table, [["0"]]))
	whole(admin.get("/admin/rejudgings"))  # a rejudging on all leaderboards stays, without results


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
