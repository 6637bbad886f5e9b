#!/usr/bin/env python3
"""What admins do with single submissions: find, hide, hold and annotate them. A stand-in for
podium-run reports what each submission tells it to."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import make_board, register, status_of, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, eve, admin, creator = (Client(site.url) for _ in range(6))
PASSWORD = "a long password"


def prepare():
	register(site, {"ada": ada, "bob": bob, "eve": eve, "root-of-all": admin, "carl": creator})
	make_board(admin, "small")


def ranking():
	return [
		(row["user"], row["rank"], row["score_ns"])
		for row in anyone.get(f"/leaderboard/small.json?gpu=H200&x={time.time()}").json["rows"]
	]


def act(number, action, client=admin, **fields):
	return client.post(
		f"/admin/submission/{number}",
		list({"action": action, "confirm": "yes", **fields}.items()),
		form="/account",
	)


def listed(query=""):
	return whole(admin.get(f"/admin/submissions?{query}")).text.count('href="/admin/submission/')


@test
def submissions_are_found_by_number_user_and_leaderboard():
	global fast, slow, other
	prepare()
	fast, slow, other = submit_time(ada, 1000.0), submit_time(ada, 2000.0), submit_time(bob, 3000.0)
	for query, count in (
		("", 3),
		("user=ada", 2),
		("user=eve", 0),
		("user=%C3%BC", 0),
		("leaderboard=small", 3),
		("leaderboard=big", 0),
		("leaderboard=a%3Cb", 0),
		("user=bob&leaderboard=small", 1),
		("hidden=1", 0),
		("user=ada&hidden=1", 0),
		(f"before={other}", 2),
		("number=x", 3),
	):
		equal((query, listed(query)), (query, count))
	equal(
		admin.get(f"/admin/submissions?number={fast}").location.removeprefix(site.url),
		f"/admin/submission/{fast}",
	)
	contains(whole(admin.get(f"/admin/submission/{fast}")).words(), "Results H200 passed")
	contains(admin.get(f"/submission/{fast}").text, f'href="/admin/submission/{fast}"')
	lacks(ada.get(f"/submission/{fast}").text, "/admin/")
	for number in ("999999", "x", "9" * 30):
		equal(admin.get(f"/admin/submission/{number}").status, 404)
		equal(act(number, "hide", reason="because").status, 404)


@test
def only_admins_and_its_creators_reach_these_pages():
	for client, expected in ((anyone, 303), (ada, 403), (creator, 403)):
		for path in ("/admin/submissions?leaderboard=small", f"/admin/submission/{fast}"):
			equal((path, client.get(path).status), (path, expected))
	contains(creator.get("/admin/submissions").words(), "You run no leaderboard yet.")
	for client in (ada, creator):
		for action in ("hide", "show", "hold", "note"):
			equal(act(fast, action, client, reason="because", note="x").status, 403)
	equal(
		admin.post(
			f"/admin/submission/{fast}", [("action", "hide"), ("reason", "because")], csrf="0" * 64
		).status,
		403,
	)
	equal(act(fast, "praise").status, 422)


@test
def only_the_author_sees_a_hidden_submission_and_the_next_best_is_ranked():
	for reason in ("", "  ", "x" * 501, "two\nlines"):
		answer = act(fast, "hide", reason=reason)
		equal(answer.status, 422)
		contains(whole(answer).text, 'id="reason-error"')
	equal(ranking(), [("ada", 1, 1000), ("bob", 2, 3000)])
	equal(act(fast, "hide", reason="It <copies> a library.").status, 303)
	contains(
		admin.get(f"/admin/submission/{fast}").words(), "The submission is hidden and not ranked"
	)
	equal(ranking(), [("ada", 1, 2000), ("bob", 2, 3000)])
	for path in (
		f"/submission/{fast}",
		f"/submission/{fast}/status",
		f"/submission/{fast}/source",
		f"/submission/{fast}/cancel",
	):
		for client in (anyone, bob, creator):
			answer = client.get(f"{path}?{time.time()}")
			equal(
				(path, answer.status in (303, 404), "This submission is hidden" in answer.text),
				(path, True, answer.status == 404),
			)
			lacks(answer.text, "copies")
	for client in (ada, admin):
		contains(
			whole(client.get(f"/submission/{fast}")).words(), "The reason: It <copies> a library."
		)
	equal((listed("hidden=1"), listed("user=ada&hidden=1"), listed("user=bob&hidden=1")), (1, 1, 0))
	equal(act(fast, "hide", reason="again").status, 409)


@test
def a_running_job_of_a_hidden_submission_ends_unranked():
	sql(f"UPDATE jobs SET state = 'queued', attempt = 0 WHERE submission_id = {fast}")
	until(lambda: sql(f"SELECT state FROM jobs WHERE submission_id = {fast}") == [["done"]])
	equal(
		sql(f"SELECT verdict, score_ns FROM jobs WHERE submission_id = {fast}"),
		[["passed", "1000"]],
	)
	equal(ranking(), [("ada", 1, 2000), ("bob", 2, 3000)])


@test
def a_submission_that_is_shown_again_is_ranked_again():
	equal(act(fast, "show").status, 303)
	equal(ranking(), [("ada", 1, 1000), ("bob", 2, 3000)])
	equal(anyone.get(f"/submission/{fast}?{time.time()}").status, 200)
	equal(act(fast, "show").status, 409)


@test
def a_passed_submission_can_be_held_and_released():
	equal(act(other, "hold", reason="").status, 422)
	equal(act(other, "hold", reason="Too good to be <true>.").status, 303)
	equal(ranking(), [("ada", 1, 1000)])
	contains(whole(admin.get("/admin/review")).words(), "Too good to be <true>.")
	equal(act(other, "hold", reason="again").status, 409)
	contains(admin.get("/admin/submissions?user=bob").words(), "H200 passed 3.0")
	contains(admin.get("/admin/submissions?user=bob").words(), " held ranked")
	equal(
		admin.post(
			"/admin/review", [("action", "release"), ("submission", other), ("gpu", "H200")]
		).status,
		303,
	)
	lacks(admin.get("/admin/submissions?user=bob").words(), " held ranked")
	equal(ranking(), [("ada", 1, 1000), ("bob", 2, 3000)])


@test
def only_admins_see_an_admin_note():
	equal(act(other, "note", note="x" * 2001).status, 422)
	equal(act(other, "note", note="Watch </textarea>him.").status, 303)
	contains(whole(admin.get(f"/admin/submission/{other}")).text, "Watch &lt;/textarea&gt;him.")
	contains(admin.get("/admin/submissions").words(), "Watch </textarea>him.")
	for client in (anyone, bob, ada):
		lacks(client.get(f"/submission/{other}?{time.time()}").text, "Watch")
	equal(act(other, "note", note="").status, 303)
	equal(sql(f"SELECT admin_note FROM submissions WHERE id = {other}"), [["NULL"]])


@test
def a_page_says_what_was_pruned():
	number = submit_time(ada, 1500.0)
	until(lambda: status_of(anyone, number)["state"] == "done")
	of = f"stages t JOIN jobs j ON j.id = t.job_id"
	sql(f"""UPDATE {of} SET t.stdout = 'It printed this.', j.finished_at = j.finished_at - INTERVAL
		400 DAY WHERE j.submission_id = {number};
		UPDATE {of} JOIN measurements m ON m.stage_id = t.id
			SET m.samples = UNHEX(REPEAT('0000803f', 50)), m.blocks = 2
			WHERE j.submission_id = {number} AND t.name = 'ranked'""")
	page = whole(ada.get(f"/submission/{number}")).words()
	contains(page, "It printed this.")
	lacks(page, "removed after")
	site.manage("prune")
	page = whole(ada.get(f"/submission/{number}?{time.time()}")).words()
	contains(page, "Podium removed the output of this stage after 365 days.")
	contains(
		page,
		"Podium removed the times of single calls after 365 days. What was computed from them "
		"stays.",
	)
	lacks(page, "It printed this.")
	others = whole(anyone.get(f"/submission/{number}?{time.time()}")).words()
	lacks(others, "printed was removed")
	contains(others, "Podium removed the times of single calls after 365 days.")
	equal(
		sql(
			f"SELECT COUNT(*) FROM {of} JOIN measurements m ON m.stage_id = t.id WHERE "
			f"j.submission_id = {number} AND m.mean_ns IS NOT NULL"
		)[0][0]
		!= "0",
		True,
	)


@test
def the_audit_log_has_every_action():
	equal(
		sql(
			"SELECT actor, action, subject, detail FROM audit_log WHERE action LIKE 'submission.%' "
			"ORDER BY id"
		),
		[
			["root-of-all", "submission.hide", f"submission {fast}", "It <copies> a library."],
			[
				"root-of-all",
				"submission.show",
				f"submission {fast}",
				"it is shown and ranked again",
			],
			["root-of-all", "submission.hold", f"submission {other}", "Too good to be <true>."],
			["root-of-all", "submission.note", f"submission {other}", "Watch </textarea>him."],
			["root-of-all", "submission.note", f"submission {other}", "the note was deleted"],
		],
	)


@test
def a_creator_searches_a_user_on_all_own_leaderboards():
	make_board(creator, "carls")
	own = submit_time(ada, 1000.0, board="carls")
	page = whole(creator.get("/admin/submissions?user=ada"))
	contains(page.text, f'href="/submission/{own}"')
	lacks(page.text, f'href="/submission/{fast}"')
	contains(creator.get("/admin/submissions?user=bob").words(), "No submission matches")
	contains(creator.get("/admin/submissions?user=ada&hidden=1").words(), "No submission matches")
	contains(creator.get("/admin/submissions?hidden=1").words(), "No submission matches")


@test
def a_creator_sees_the_newest_submissions_to_all_own_leaderboards():
	make_board(creator, "carls_second")
	older = [
		submit_time(ada, 1000.0 + i, board=("carls", "carls_second")[i % 2]) for i in range(27)
	]
	numbers = lambda page: [
		int(one) for one in re.findall(r'<th [^>]*><a href="/submission/(\d+)"', page.text)
	]
	page = whole(creator.get("/admin/submissions"))
	equal(numbers(page), older[:1:-1])
	last = whole(creator.get(f"/admin/submissions?before={older[2]}"))
	equal(numbers(last)[:2], [older[1], older[0]])
	lacks(page.text + last.text, f'href="/submission/{fast}"')
	sql(
		"UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3), hidden_reason = 'x' WHERE id = "
		f"{older[4]}"
	)
	equal(numbers(creator.get("/admin/submissions?hidden=1")), [older[4]])


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
