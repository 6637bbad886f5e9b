#!/usr/bin/env python3
"""The check before a leaderboard becomes public, when something fails: there is no admin yet, a
worker dies, statements of the database fail, or the leaderboard is deleted. Nothing may hang, and
nothing may become public by mistake."""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from site_of import Site  # noqa: E402
from stages import worker  # noqa: E402
from client import Client  # noqa: E402
from quick_task import ADD_ONE, add_one  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402
from workers import admin, close, scratch, sql, until  # noqa: E402

# The check takes long enough to be interrupted.
WRONG = "import time\n\ndef custom_kernel(data):\n    time.sleep(1)\n    return 7\n"
admin("migrate")
site = Site()
author = Client(site.url)


def load(name, *flags, gpu="CPU"):
	folder = scratch / "tasks" / name
	folder.mkdir(parents=True)
	task = ADD_ONE.replace("[CPU]", f"[{gpu}]")
	for path, text in add_one(task=task, wrong=WRONG).items():
		(folder / path).write_text(text)
	return admin("task", "load", *flags, str(folder))


def visibility(name):
	return sql(f"SELECT visibility FROM leaderboards WHERE name = '{name}'")[0][0]


def jobs(name):
	"""The number and the state of each job of the check."""
	return sql(
		"SELECT j.id, j.state FROM jobs j JOIN submissions s ON s.id = j.submission_id "
		f"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = '{name}' AND s.dry_run"
	)


def reasons(name):
	return sql(
		"SELECT j.id, j.state, j.verdict, j.reason FROM jobs j JOIN submissions s "
		"ON s.id = j.submission_id JOIN leaderboards l ON l.id = s.leaderboard_id "
		f"WHERE l.name = '{name}'"
	)


def stays_hidden(name):
	"""podium-web looks at the publications each second."""
	time.sleep(2.5)
	equal(visibility(name), "hidden")
	equal(Client(site.url).get(f"/leaderboard/{name}").status, 404)


def becomes_public(name):
	until(lambda: visibility(name) == "public", 60, lambda: f"{reasons(name)}")
	equal(
		sql(
			"SELECT COUNT(*) FROM publications p JOIN leaderboards l ON l.id = p.leaderboard_id "
			f"WHERE l.name = '{name}'"
		),
		[["0"]],
	)


def failing(event, condition="TRUE"):
	"""Makes statements of the database fail until mend()."""
	sql(
		f"CREATE TRIGGER broken BEFORE {event} FOR EACH ROW BEGIN IF {condition} THEN "
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken by the test'; END IF; END"
	)


def mend():
	sql("DROP TRIGGER broken")


@test
def a_check_waits_for_the_first_admin_and_podium_admin_says_so():
	contains(
		load("early"),
		"early: created. It stays hidden until its check passes.\n"
		"Checks wait for the first admin account; create one with: "
		"podium-admin user add NAME --role admin\n",
	)
	contains(admin("task", "publish", "early"), "Checks wait for the first admin account")
	stays_hidden("early")
	equal(jobs("early"), [])
	author.register("author")
	sql("UPDATE users SET role = 'admin' WHERE name = 'author'")
	with worker():
		becomes_public("early")
	lacks(load("later"), "Checks wait")


@test
def a_worker_that_dies_during_the_check_only_delays_it():
	one = worker()
	until(lambda: any(state == "running" for _, state in jobs("later")))
	one.end(signal.SIGKILL)
	stays_hidden("later")
	with worker("second"):
		becomes_public("later")
	equal({state for _, state in jobs("later")}, {"done"})


@test
def a_job_that_no_worker_survives_fails_the_check():
	load("deadly")
	until(lambda: jobs("deadly"))
	sql(
		"UPDATE jobs SET attempt = 2 WHERE id IN (SELECT j.id FROM (SELECT MIN(id) AS id FROM jobs "
		"WHERE state = 'queued') j)"
	)
	one = worker()
	until(lambda: any(state == "running" for _, state in jobs("deadly")))
	one.end(signal.SIGKILL)
	with worker("second"):
		until(
			lambda: not {state for _, state in jobs("deadly")} & {"queued", "running"},
			60,
			lambda: f"{jobs('deadly')}",
		)
	contains([state for _, state in jobs("deadly")], "failed")
	stays_hidden("deadly")


@test
def an_error_while_publishing_publishes_nothing_and_delays_no_other_leaderboard():
	load("torn")
	number = sql("SELECT id FROM leaderboards WHERE name = 'torn'")[0][0]
	failing("DELETE ON publications", f"OLD.leaderboard_id = {number}")
	with worker():
		until(lambda: jobs("torn") and {state for _, state in jobs("torn")} == {"done"}, 60)
		load("whole")
		becomes_public("whole")
	stays_hidden("torn")
	equal(sql(f"SELECT COUNT(*) FROM publications WHERE leaderboard_id = {number}"), [["1"]])
	mend()
	becomes_public("torn")


@test
def an_error_while_the_check_starts_leaves_no_part_of_it():
	sql("UPDATE users SET role = 'participant' WHERE name = 'author'")
	load("halting")  # waits for an admin, so podium-web starts the check
	failing("INSERT ON dry_run_entries")
	sql("UPDATE users SET role = 'admin' WHERE name = 'author'")
	stays_hidden("halting")
	equal(
		sql(
			"SELECT COUNT(*) FROM dry_runs d JOIN task_versions v ON v.id = d.task_version_id "
			"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE l.name = 'halting'"
		),
		[["0"]],
	)
	equal(jobs("halting"), [])
	mend()
	with worker():
		becomes_public("halting")


@test
def an_error_while_a_device_opens_leaves_it_closed():
	load("opening", "--unchecked", gpu="B300")
	failing("INSERT ON dry_run_entries")
	form = [("gpu", "B300"), ("gpu", "CPU"), ("accepting", "1")]
	equal(author.post("/admin/leaderboard/opening/edit", form).status, 503)
	equal(jobs("opening"), [])
	mend()
	equal(author.post("/admin/leaderboard/opening/edit", form).status, 303)
	failing("UPDATE ON leaderboard_gpus", "OLD.closed_at IS NOT NULL AND NEW.closed_at IS NULL")
	closed = "SELECT gpu FROM leaderboard_gpus WHERE closed_at IS NOT NULL"
	with worker():
		until(lambda: jobs("opening") and {state for _, state in jobs("opening")} == {"done"}, 60)
	time.sleep(2.5)
	equal(sql(closed), [["CPU"]])
	mend()
	until(lambda: sql(closed) == [], 20)


@test
def a_leaderboard_that_is_deleted_during_its_check_leaves_nothing():
	load("short-lived")
	number = sql("SELECT id FROM leaderboards WHERE name = 'short-lived'")[0][0]
	with worker() as one:
		until(lambda: any(state == "running" for _, state in jobs("short-lived")))
		equal(
			author.post("/admin/leaderboard/short-lived/delete", [("name", "short-lived")]).status,
			303,
		)
		load("next")
		becomes_public("next")
		equal(one.process.poll(), None)
	for table in ("publications", "leaderboard_gpus", "submissions", "task_versions"):
		equal(sql(f"SELECT COUNT(*) FROM {table} WHERE leaderboard_id = {number}"), [["0"]])


try:
	code = run()
finally:
	site.end()
	close()
sys.exit(code)
