#!/usr/bin/env python3
"""Which engine a task gets, from its upload to its ranking. Each version of a task has an engine. A
dry run may change the engine, but no submission can. Jobs run on this machine's CPU."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from small_task import done as ok, send_source, status_of, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(PODIUM_PYTHON="")  # an empty value selects the Python that has torch
sql = site.sql
carl, dora = Client(site.url), Client(site.url)
REFERENCE = """
def generate_input(seed):
    return seed


def ref_kernel(data):
    return data + 1


def check_implementation(data, output):
    return output == ref_kernel(data), 'not the same'
"""
BOX = """
class Box:
    def __init__(self, value):
        self.value = value


def generate_input(seed):
    return Box(seed)


def ref_kernel(data):
    return data.value + 1


def check_implementation(data, output):
    return output == ref_kernel(data), 'not the same'
"""
RIGHT = "def custom_kernel(data):\n    return data + 1\n"
OPENS = "def custom_kernel(data):\n    return data.value + 1\n"
STOCK = (ROOT / "harness" / "eval.py").read_text()
# The start of a harness that reports a failure whatever the submission does.
FAILS = """import os
os.write(int(os.environ["POPCORN_FD"]), b"test-count: 1\\ntest.0.status: fail\\ncheck: fail\\n")
"""
OWN = """import os, sys
import submission
family = "test" if sys.argv[1] == "test" else "benchmark"
figures = "" if family == "test" else "".join(f"benchmark.0.{key}: {value}\\n" for key, value in
    dict(runs=3, mean=5000.0, std=2.0, err=1.0, best=4990, worst=5010).items())
status = "test.0.status: pass\\n" if family == "test" else ""
os.write(int(os.environ["POPCORN_FD"]),
	f"{family}-count: 1\\n{status}{figures}check: pass\\n".encode())
"""


def task_of(harness="@STOCK@", main="eval.py", podium=""):
	return f"""
lang: py
description: A small task.
files:
  - {{name: submission.py, source: "@SUBMISSION@"}}
  - {{name: reference.py, source: reference.py}}
  - {{name: utils.py, source: "@STOCK@"}}
  - {{name: {main}, source: "{harness}"}}
config: {{main: {main}}}
tests: [{{seed: 1}}]
benchmarks: [{{seed: 3}}]
{podium}"""


def upload(name, task, reference=REFERENCE, **files):
	contents = {"task.yml": task, "reference.py": reference, **files}
	return carl.post(
		"/admin/leaderboards/new",
		[("name", name), ("gpu", "CPU"), ("accepting", "1"), ("visibility", "hidden")],
		[("task", "task.zip", zip_of(contents))],
	)


def make_board(name, *arguments, **files):
	"""Creates and publishes a leaderboard. Returns the words that its creator reads after the
	upload."""
	page = whole(carl.get(ok(upload(name, *arguments, **files)).location)).words()
	site.publish(name)
	return page


def judged(name, source=RIGHT, mode="ranked"):
	"""Submits, waits for the end and returns the job."""
	number = send_source(dora, source, board=name, mode=mode, gpus=("CPU",))
	until(
		lambda: status_of(dora, number)["state"] in ("done", "failed"),
		120,
		lambda: status_of(dora, number),
	)
	return status_of(dora, number)


def outcome(job):
	return job["verdict"], job["jobs"][0]["engine"]


def ranked(name):
	Client(site.url).post("/none", [])  # no answer from before this request is used any more
	rows = dora.get(f"/leaderboard/{name}.json?{time.time()}").json["rows"]
	return [(row["user"], row["engine"]) for row in rows]


def stored(name):
	return sql(
		"SELECT e.gpu, e.engine, e.reason FROM task_engines e JOIN leaderboards l "
		f"ON l.task_version_id = e.task_version_id WHERE l.name = '{name}' ORDER BY e.gpu"
	)


def dry_run(name):
	ok(
		carl.post(
			f"/admin/leaderboard/{name}/dryrun?version=1", form=f"/admin/leaderboard/{name}/dryrun"
		)
	)
	page = lambda: whole(carl.get(f"/admin/leaderboard/{name}/dryrun?version=1")).words()
	until(lambda: "Run again" in page(), 300, page)


@test
def the_stock_harness_gets_the_sealed_engine_and_on_the_cpu_the_isolated_one():
	for client, who in ((carl, "carl"), (dora, "dora")):
		equal(
			client.post("/register", [("name", who), ("password", "a long password")]).status, 303
		)
	sql("UPDATE users SET role = 'creator' WHERE name = 'carl'")
	sentence = (
		"eval.py is Podium's stock harness, so the sealed engine measures on GPUs, and the "
		"isolated engine on the CPU."
	)
	contains(make_board("stock", task_of()), f"The engine is sealed. {sentence}")
	equal(stored("stock"), [["", "sealed", sentence], ["CPU", "isolated", sentence]])
	contains(dora.get("/leaderboard/stock/task").words(), f"Engine sealed. {sentence}")
	contains(
		whole(carl.get("/admin/leaderboard/stock/versions")).words(),
		f"the sealed engine {sentence}",
	)
	equal(outcome(judged("stock")), ("passed", "isolated"))
	equal(ranked("stock"), [("dora", "isolated")])


@test
def a_harness_that_podium_does_not_know_runs_as_written():
	"""The edited eval.py always reports `check: fail`. The isolated engine would pass the
	submission."""
	words = make_board(
		"edited", task_of("mine.py"), **{"mine.py": FAILS + "raise SystemExit(112)\n" + STOCK}
	)
	contains(
		words,
		"The engine is custom. eval.py is not a harness that Podium knows, so the custom "
		"engine runs it as written; choose `podium: {engine: isolated}` in task.yml",
	)
	words = dora.get("/leaderboard/edited/task").words()
	for part in ("Run as python3 eval.py MODE CASEFILE", "Engine custom. eval.py is not a harness"):
		contains(words, part)
	for part in ("judge.py", "Files that do not run"):
		lacks(words, part)
	job = judged("edited", mode="test")
	equal(outcome(job), ("wrong answer", "custom"))


@test
def a_main_file_of_the_tasks_own_runs_as_written():
	contains(
		make_board("own", task_of("run.py", main="run_it.py"), **{"run.py": OWN}),
		"The engine is custom. run_it.py is not a harness that Podium knows",
	)
	equal(outcome(judged("own", "custom_kernel = None\n")), ("passed", "custom"))
	equal(ranked("own"), [("dora", "custom")])
	page = dora.get("/leaderboard/own").text
	contains(page, 'Measured by the engine <a href="/judge#custom">custom</a>')


@test
def its_author_may_say_that_the_reference_says_all_that_matters():
	contains(
		make_board(
			"chosen", task_of("mine.py", podium="podium: {engine: isolated}"), **{"mine.py": FAILS}
		),
		"The engine is isolated. task.yml chooses the isolated engine, so eval.py does not run.",
	)
	equal(outcome(judged("chosen")), ("passed", "isolated"))
	make_board("refused", task_of(podium="podium: {engine: custom}"))
	equal(outcome(judged("refused")), ("passed", "custom"))


@test
def an_upload_that_asks_for_the_impossible_is_refused():
	answer = upload(
		"impossible",
		task_of(podium="podium: {engine: isolated}"),
		"def generate_input(seed): return seed\n",
	)
	equal(answer.status, 422)
	contains(
		answer.words(),
		"podium.engine: the isolated engine cannot run the task. The task's "
		"reference.py does not offer generate_input and check_implementation.",
	)


@test
def a_job_whose_engine_cannot_run_the_task_fails_and_starts_no_other():
	contains(make_board("box", task_of(), BOX), "The engine is sealed.")
	for source in (OPENS, RIGHT):
		job = judged("box", source)
		equal(outcome(job), ("internal error", "isolated"))
		contains(job["jobs"][0]["reason"], "The isolated engine cannot run this task: ")
		contains(job["jobs"][0]["reason"], "An admin can start a dry run of this version")
	equal(ranked("box"), [])


@test
def a_dry_run_stores_for_its_device_that_the_task_needs_the_custom_engine():
	dry_run("box")
	(every, engine, _), (gpu, found, reason) = stored("box")
	equal((every, engine, gpu, found), ("", "sealed", "CPU", "custom"))
	contains(reason, "Box")
	contains(whole(dora.get("/leaderboard/box/task")).words(), f"Engine on CPU custom. {reason}")
	equal(outcome(judged("box", OPENS)), ("passed", "custom"))
	equal(ranked("box"), [("dora", "custom")])


@test
def a_dry_run_of_another_task_leaves_the_isolated_engine():
	dry_run("stock")
	equal([row[:2] for row in stored("stock")], [["", "sealed"], ["CPU", "isolated"]])


@test
def a_copy_of_a_leaderboard_has_the_same_engines():
	ok(carl.post("/admin/leaderboard/box/clone", [("name", "copy")]))
	equal(stored("copy"), stored("box"))


@test
def a_result_of_another_engine_is_not_ranked_and_its_page_says_why():
	number = judged("own", "custom_kernel = None\n")["id"]
	equal(ranked("own"), [("dora", "custom")])
	sql(
		"UPDATE task_engines e JOIN leaderboards l ON l.task_version_id = e.task_version_id "
		"SET e.engine = 'isolated' WHERE l.name = 'own'"
	)
	site.manage("ranking", "rebuild", "own")
	equal(ranked("own"), [])
	contains(
		whole(dora.get(f"/submission/{number}")).words(),
		"This result is not ranked: the engine custom measured it, and version 1 of the task is "
		"ranked with the engine isolated on CPU.",
	)


@test
def a_dry_run_changes_no_engine_that_has_ranked():
	sql(
		"UPDATE task_engines e JOIN leaderboards l ON l.task_version_id = e.task_version_id "
		"SET e.engine = IF(e.gpu = '', 'isolated', 'custom') WHERE l.name = 'stock'"
	)
	dry_run("stock")  # the dry run finds the engine of the ranked results, so it may store it
	equal([row[:2] for row in stored("stock")], [["", "isolated"], ["CPU", "isolated"]])
	sql(
		"UPDATE ranking r JOIN leaderboards l ON l.id = r.leaderboard_id SET r.engine = 'custom' "
		"WHERE l.name = 'stock'; "
		"UPDATE task_engines e JOIN leaderboards l ON l.task_version_id = e.task_version_id "
		"SET e.engine = 'custom' WHERE l.name = 'stock' AND e.gpu = 'CPU'"
	)
	dry_run("stock")
	equal([row[:2] for row in stored("stock")], [["", "isolated"], ["CPU", "custom"]])


@test
def a_version_without_a_stored_engine_gets_what_its_files_decide():
	make_board("older", task_of())
	sql("DELETE FROM task_engines")
	equal(outcome(judged("older")), ("passed", "isolated"))
	equal(ranked("older"), [("dora", "isolated")])


@test
def a_migration_gives_older_versions_the_engine_of_their_ranking():
	sql("""
		SET @l = (SELECT id FROM leaderboards WHERE name = 'older'),
			@u = (SELECT id FROM users WHERE name = 'carl');
		SET @v = (SELECT task_version_id FROM leaderboards WHERE id = @l);
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			VALUES (@l, @v, @u, 'a.py', (SELECT MIN(sha256) FROM blobs), 'ranked');
		SET @s = LAST_INSERT_ID();
		INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, engine,
				finished_at)
			VALUES (@s, @u, 'CPU', 'done', 'passed', 7, 'custom', UTC_TIMESTAMP(3));
		SET @j = LAST_INSERT_ID();
		INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id,
				score_ns, submitted_at, engine, position, place)
			VALUES (@l, @v, 'CPU', @u, @s, @j, 7, UTC_TIMESTAMP(3), 'custom', 2, 2);
		DELETE FROM schema_migrations WHERE version >= 30
	""")
	equal(len(ranked("older")), 2)
	site.manage("migrate")
	equal([row[:2] for row in stored("older")], [["", "isolated"], ["CPU", "isolated"]])
	equal(stored("edited")[0][1], "custom")
	equal(ranked("older"), [("dora", "isolated")])


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
