#!/usr/bin/env python3
"""Rejudging: results are computed beside the old ones, a preview shows what would change, and an admin applies or discards it.
The worker's podium-run is a pretended one that says what a submission tells it to."""
import io
import json
import pathlib
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, eve, admin, creator = (Client(site.url) for _ in range(6))
PASSWORD = "a long password"
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 1024}]
ranking_by: geom
"""
again = site.var / "again"  # once it is there, submissions behave as their "then" says


def case(mean_ns):
	return {"runs": 101, "mean_ns": mean_ns, "std_ns": 5.0, "err_ns": 10.0, "best_ns": mean_ns - 10, "worst_ns": mean_ns + 10}


def prepare():
	for client, name in ((ada, "ada"), (bob, "bob"), (eve, "eve"), (admin, "root-of-all"), (creator, "carl")):
		equal(client.post("/register", [("name", name), ("password", PASSWORD)]).status, 303)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = 'creator' WHERE name = 'carl'")
	archive = io.BytesIO()
	with zipfile.ZipFile(archive, "w") as pack:
		pack.writestr("task.yml", TASK)
		pack.writestr("eval.py", "")
	answer = admin.post("/admin/leaderboards/new", [("name", "small"), ("gpu", "H200"), ("accepting", "1")], [("task", "task.zip", archive.getvalue())])
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))


def submit(client, mean_ns, then):
	source = "# " + json.dumps({"cases": [case(mean_ns)], "after": str(again), "then": then})
	answer = client.post("/leaderboard/small/submit", [("mode", "ranked"), ("code", source), ("gpu", "H200")])
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	number = int(answer.location.rsplit("/", 1)[1])
	wait(lambda: status(number)["state"] == "done")
	return number


def wait(done):
	end = time.time() + 120
	while not done():
		assert time.time() < end, sql("SELECT id, state, verdict, reason FROM jobs")
		time.sleep(0.1)


def status(number):
	return anyone.get(f"/submission/{number}/status?{time.time()}").json


def ranking():
	return [(row["user"], row["rank"], row["score_ns"]) for row in anyone.get(f"/leaderboard/small.json?gpu=H200&x={time.time()}").json["rows"]]


def rejudge(client=admin, **fields):
	return client.post("/admin/rejudgings", list({"leaderboard": "small", "gpu": "", **fields}.items()), form="/account")


def rejudged(**fields):
	"""The number of a rejudging whose jobs have all ended."""
	answer = rejudge(**fields)
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	number = int(answer.location.rsplit("/", 1)[1])
	wait(lambda: "waits for you" in show(number).words())
	return number


def show(number, client=admin):
	return client.get(f"/admin/rejudgings/{number}")


def end(number, action, name="small", client=admin, **how):
	return client.post(f"/admin/rejudgings/{number}", [("action", action), ("name", name)], form="/account", **how)


def whole(answer):
	reader = Page()
	reader.feed(answer.text)
	equal((reader.faults, reader.stack, len(reader.ids)), ([], [], len(set(reader.ids))))


def rebuilt():
	environment = {**site.environment, "PODIUM_DATABASE_SOCKET": str(site.var / "run" / "mariadb.sock"),
		"PODIUM_DATABASE_USER": subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()}
	before = sql("SELECT * FROM ranking ORDER BY position")
	sql("DELETE FROM ranking")
	equal(subprocess.run([site.admin_program, "ranking", "rebuild"], env=environment, capture_output=True).returncode, 0)
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


@test
def a_rejudging_starts_from_a_form_that_says_what_is_wrong():
	global first, second, third
	prepare()
	first = submit(ada, 1000.0, {"cases": [case(3000.0)]})
	second = submit(bob, 2000.0, {"verdict": {"verdict": "wrong answer", "reason": "Case 1 is <wrong> now.", "score_ns": None}})
	third = submit(eve, 4000.0, {"cases": [case(3900.0)]})
	equal(ranking(), [("ada", 1, 1000), ("bob", 2, 2000), ("eve", 3, 4000)])
	whole(admin.get("/admin/rejudgings"))
	contains(admin.get("/admin/rejudgings").words(), "Nothing was rejudged yet.")
	for fields, sentence in (({"scope": "top", "top": "0", "gpu": "H200"}, "Say how many"), ({"scope": "top", "top": "3"}, "Choose the GPU"),
			({"scope": "submission", "submission": "x"}, "no submission with this number"), ({"scope": "user", "user": "nobody"}, "no user named"),
			({"scope": "user", "user": "über"}, "no user named"), ({"scope": "all", "leaderboard": ""}, "Choose a leaderboard"),
			({"scope": "all", "leaderboard": "größe"}, "Choose a leaderboard"), ({"scope": "all", "gpu": "A<b>"}, "no GPU named"),
			({"scope": "all", "gpu": "A100"}, "There is no result"), ({"scope": "praise"}, "Choose what is rejudged")):
		answer = rejudge(**fields)
		equal((fields, answer.status), (fields, 422))
		contains(answer.words(), sentence)
		whole(answer)
	equal(sql("SELECT COUNT(*) FROM rejudgings"), [["0"]])


@test
def nobody_but_admins_rejudges():
	for client, expected in ((anyone, 303), (ada, 403), (creator, 403)):
		equal(client.get("/admin/rejudgings").status, expected)
		equal(client.get("/admin/rejudgings/1").status, expected)
	for client in (ada, creator):
		equal(rejudge(client, scope="all").status, 403)
		equal(end(1, "apply", client=client).status, 403)
	equal(admin.post("/admin/rejudgings", [("scope", "all"), ("leaderboard", "small")], csrf="0" * 64).status, 403)
	for number in ("1", "x", "9" * 30):
		equal(show(number).status, 404)
		equal(end(number, "apply").status, 404)


@test
def new_results_change_nothing_before_they_are_applied():
	global number
	before, jobs = ranking(), sql("SELECT id, score_ns, verdict FROM jobs WHERE submission_id IS NOT NULL ORDER BY id")
	again.touch()
	number = rejudged(scope="top", top="10", gpu="H200")
	equal(sql("SELECT DISTINCT priority, user_id, submission_id FROM jobs WHERE rejudged_id IS NOT NULL"), [["2", "0", "NULL"]])
	equal(ranking(), before)
	equal(sql("SELECT id, score_ns, verdict FROM jobs WHERE submission_id IS NOT NULL ORDER BY id"), jobs)
	equal(status(second)["verdict"], "passed")
	lacks(anyone.get(f"/submission/{second}?{time.time()}").words(), "wrong now")
	equal(len(sql(f"SELECT id FROM stages WHERE job_id IN (SELECT new_job_id FROM rejudged_jobs WHERE rejudging_id = {number})")) > 0, True)


@test
def the_preview_shows_verdicts_and_ranks_and_takes_itself_back():
	before = sql("SELECT * FROM ranking ORDER BY position")
	page = show(number)
	whole(page)
	words = page.words()
	contains(words, "Of small : the top 10 on H200.")
	contains(words, "ada H200 1 1 1.000 µs 1 3.000 µs")
	contains(words, "bob H200 1 2 2.000 µs not ranked –")
	contains(words, "eve H200 1 3 4.000 µs 2 3.900 µs")
	contains(words, "wrong answer Case 1 is <wrong> now. another verdict")
	contains(words, "replaces 3 results")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)
	equal(sql("SELECT COUNT(*) FROM comparisons"), [["0"]])
	contains(rejudge(scope="all").words(), "not being rejudged already")


@test
def applying_needs_the_leaderboards_name():
	for typed in ("", "Small", "big"):
		answer = end(number, "apply", typed)
		equal(answer.status, 422)
		contains(answer.words(), "This is not the leaderboard’s name")
	equal(end(number, "praise").status, 422)
	equal(sql(f"SELECT state FROM rejudgings WHERE id = {number}"), [["open"]])


@test
def applying_replaces_results_and_ranks_at_once():
	answer = end(number, "apply")
	equal((answer.status, answer.location.removeprefix(site.url)), (303, f"/admin/rejudgings/{number}?done=1"))
	contains(admin.get(f"/admin/rejudgings/{number}?done=1").words(), "The new results are in their places")
	equal(ranking(), [("ada", 1, 3000), ("eve", 2, 3900)])
	equal((status(second)["verdict"], status(second)["jobs"][0]["reason"]), ("wrong answer", "Case 1 is <wrong> now."))
	contains(bob.get("/leaderboard/small/mine").words(), "wrong answer")
	contains(show(number).words(), "passed wrong answer Case 1 is <wrong> now.")
	equal(end(number, "apply").status, 409)
	equal(end(number, "discard").status, 409)
	rebuilt()
	equal(sql("SELECT actor, action, subject, detail FROM audit_log WHERE action LIKE 'rejudging.%' ORDER BY id"), [
		["root-of-all", "rejudging.start", "small", f"rejudging {number}: the top 10 on H200, 3 results"],
		["root-of-all", "rejudging.apply", "small", f"rejudging {number}: the top 10 on H200, 3 results replaced"]])


@test
def one_submission_that_failed_comes_back_when_it_passes_again():
	again.unlink()
	one = rejudged(scope="submission", submission=second, leaderboard="")
	contains(show(one).words(), "bob H200 1 not ranked – 1 2.000 µs")
	equal(end(one, "apply").status, 303)
	equal(ranking(), [("bob", 1, 2000), ("ada", 2, 3000), ("eve", 3, 3900)])
	rebuilt()


@test
def discarding_keeps_every_old_result():
	before = ranking()
	users = rejudged(scope="user", user="ada")
	equal(sql(f"SELECT submission_id FROM rejudged_jobs WHERE rejudging_id = {users}"), [[str(first)]])
	equal(end(users, "discard").status, 303)
	contains(admin.get(f"/admin/rejudgings/{users}?done=1").words(), "every result is what it was")
	equal(ranking(), before)
	equal(end(users, "apply").status, 409)


@test
def what_still_waits_can_be_discarded_but_not_applied():
	sql("INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'A100', 9 FROM leaderboards")
	sql(f"INSERT INTO jobs (submission_id, user_id, gpu, state, verdict) SELECT id, user_id, 'A100', 'done', 'passed' FROM submissions WHERE id = {first}")
	answer = rejudge(scope="all", gpu="A100")
	waiting = int(answer.location.rsplit("/", 1)[1])
	page = show(waiting)
	whole(page)
	contains(page.words(), "1 job of 1 has not ended")
	lacks(page.words(), "Apply the new results")
	contains(anyone.get(f"/queue?{time.time()}").words(), "rejudging")
	equal(end(waiting, "apply").status, 409)
	equal(end(waiting, "discard").status, 303)
	equal(sql(f"SELECT j.state, j.reason FROM jobs j JOIN rejudged_jobs r ON r.new_job_id = j.id WHERE r.rejudging_id = {waiting}"),
		[["cancelled", "The rejudging was discarded."]])


@test
def rejudgings_go_with_their_leaderboard():
	equal(admin.post("/admin/leaderboard/small/delete", [("name", "small")]).status, 303)
	for table in ("rejudgings", "rejudged_jobs", "jobs", "submissions"):
		equal((table, sql(f"SELECT COUNT(*) FROM {table}")), (table, [["0"]]))


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
