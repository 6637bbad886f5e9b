#!/usr/bin/env python3
"""Cancelling, quotas and pauses, and what the pages say about them, through nginx and a real
worker."""

import concurrent.futures
import fcntl
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import load_task, register, send_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(
	PODIUM_QUEUED_JOBS_PER_USER="12",
	PODIUM_QUOTA_PROFILE="2",
	PODIUM_QUOTA_HOURS="5",
	PODIUM_WORKER_NAME="here",
	PODIUM_LEASE_MS="5000",
)
sql = site.sql
anyone, ada, bob, admin = (Client(site.url) for _ in range(4))
PASSWORD = "a long password"
RIGHT = "def custom_kernel(data):\n    return data\n"
SLOW = "import time\n\ndef custom_kernel(data):\n    time.sleep(60)\n    return data\n"
HARNESS = """
import os, sys
from submission import custom_kernel
kind = "test" if sys.argv[1] == "test" else "benchmark"
case = open(sys.argv[2]).read().strip()
out = os.fdopen(int(os.environ["POPCORN_FD"]), "w")
out.write(f"{kind}-count: 1\\n")
out.flush()
assert custom_kernel(1) == 1
out.write(f"{kind}.0.spec: {case}\\n")
if kind == "test":
    out.write("test.0.status: pass\\n")
else:
    for name, value in dict(runs=3, mean=2000, std=1, err=1, best=1999, worst=2001).items():
        out.write(f"benchmark.0.{name}: {value}\\n")
out.write("check: pass\\n")
"""


def prepare():
	load_task(site, more={"eval.py": HARNESS})
	register(site, {"ada": ada, "bob": bob, "root-of-all": admin})


def send(client, code=RIGHT, mode="test", gpu=("CPU",), board="small"):
	return client.post(
		f"/leaderboard/{board}/submit",
		[("mode", mode), ("code", code), *(("gpu", name) for name in gpu)],
		csrf=token(client),
	)


def token(client):
	"""A client's form token. It stays the same for a session."""
	if not hasattr(client, "token"):
		client.token = client.csrf("/account")
	return client.token


def submit(client, code=RIGHT, mode="test", gpu=("CPU",)):
	return send_source(client, code, mode=mode, gpus=gpu, csrf=token(client))


def status(submission):
	return ada.get(f"/submission/{submission}/status").json


def ended(submission):
	until(lambda: status(submission)["state"] == "done", explain=lambda: status(submission))
	return status(submission)


def cancel(client, submission):
	return client.post(
		f"/submission/{submission}/cancel", [("number", submission)], csrf=token(client)
	)


def running(submission):
	until(
		lambda: sql(
			"SELECT 1 FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = "
			f"{submission} AND t.name = 'test' AND j.state = 'running'"
		),
		explain=lambda: status(submission),
	)


def clean():
	"""Deletes all submissions, the leaderboard's quotas and all pauses."""
	sql(
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE state IN ('queued', "
		"'running')"
	)
	sql("DELETE FROM submissions; DELETE FROM leaderboard_quotas; DELETE FROM pauses")


# ---- cancelling ----


@test
def an_author_cancels_a_queued_submission_immediately():
	prepare()
	site.hold_jobs()
	submission = submit(ada)
	contains(ada.get(f"/submission/{submission}").text, f'href="/submission/{submission}/cancel"')
	contains(
		ada.get(f"/submission/{submission}/cancel").words(),
		"The submission does not count toward your quota, because it has not started.",
	)
	answer = cancel(ada, submission)
	equal(
		(answer.status, answer.location.removeprefix(site.url)),
		(303, f"/submission/{submission}?cancelled=all"),
	)
	contains(ada.get(answer.location).words(), "The submission was cancelled.")
	state = status(submission)
	equal(
		(state["state"], state["verdict"], state["jobs"][0]["reason"]),
		("done", "cancelled", "Cancelled by its author before it started."),
	)
	contains(
		ada.get(f"/submission/{submission}").words(), "Cancelled by its author before it started."
	)
	lacks(ada.get(f"/submission/{submission}").text, '/cancel"')
	equal(sql("SELECT COUNT(*) FROM audit_log WHERE action = 'submission.cancel'"), [["0"]])
	site.release_jobs()


@test
def cancelling_stops_a_running_job_within_seconds_and_the_next_one_runs():
	submission, following = submit(ada, SLOW), submit(bob)
	running(submission)
	contains(
		ada.get(f"/submission/{submission}/cancel").words(),
		"The submission counts toward your quota, because it has started.",
	)
	equal(cancel(ada, submission).status, 303)
	state = ended(submission)
	equal(
		(state["verdict"], state["jobs"][0]["state"], state["jobs"][0]["reason"]),
		("cancelled", "cancelled", "Cancelled by its author while it ran."),
	)
	equal(ended(following)["verdict"], "passed")
	equal(
		sql(
			"SELECT COUNT(*) FROM jobs j LEFT JOIN stages t ON t.job_id = j.id AND "
			"t.verdict IS NULL "
			f"WHERE j.submission_id = {submission} "
			"AND (t.id IS NOT NULL OR j.lease_expires IS NOT NULL)"
		),
		[["0"]],
	)


@test
def the_page_says_cancelling_until_the_worker_has_stopped_the_job():
	submission = submit(ada, SLOW)
	running(submission)
	sql(
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', lease_owner = 'elsewhere', "
		"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, "
		f"fence = fence + 1 WHERE submission_id = {submission}"
	)
	state = status(submission)
	equal(
		(state["state"], state["jobs"][0]["stage"], state["jobs"][0]["message"]),
		("running", "cancelling", "Cancelling: worker elsewhere is stopping it."),
	)
	contains(
		ada.get(f"/submission/{submission}").words(), "Cancelling: worker elsewhere is stopping it."
	)
	sql(
		"UPDATE jobs SET lease_expires = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE state = "
		"'cancelled'"
	)
	equal(status(submission)["state"], "done")


@test
def an_admins_cancellation_shows_the_name_and_is_in_the_audit_log():
	submission = submit(ada, SLOW)
	running(submission)
	contains(admin.get(f"/submission/{submission}/cancel").words(), "This is a submission of ada.")
	equal(cancel(admin, submission).status, 303)
	equal(
		ended(submission)["jobs"][0]["reason"], "Cancelled by the admin root-of-all while it ran."
	)
	equal(
		sql("SELECT actor, subject, detail FROM audit_log WHERE action = 'submission.cancel'"),
		[
			[
				"root-of-all",
				f"submission {submission}",
				"0 waiting and 1 running job cancelled; 0 had finished before",
			]
		],
	)


def edit_devices(*gpus):
	return admin.post(
		"/admin/leaderboard/small/edit",
		[*(("gpu", name) for name in gpus), ("accepting", "1"), ("sources", "deadline")],
	)


@test
def removing_a_device_cancels_its_queued_jobs_and_says_so_to_all():
	clean()
	load_task(site, name="other", more={"eval.py": HARNESS})
	site.hold_jobs()
	before = [
		row[0]
		for row in sql(
			"SELECT g.gpu FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id "
			"WHERE l.name = 'small' ORDER BY g.position"
		)
	]
	sql(  # without a check of the devices, whose jobs would wait here too
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) "
		"SELECT l.id, g.gpu, g.position FROM leaderboards l JOIN "
		"(SELECT 'H200' AS gpu, 1 AS position UNION SELECT 'B200', 2) g WHERE l.name = 'small'"
	)
	mixed, alone = submit(ada, gpu=("CPU", "H200")), submit(bob, gpu=("B200",))
	elsewhere = send(bob, board="other").location
	answer = edit_devices("CPU")
	equal(answer.location, "/leaderboard/small")
	told = "Removing devices cancelled 2 queued jobs."
	contains(admin.get(answer.location).words(), told)
	lacks(ada.get(answer.location).words(), told)
	for client, submission, device in ((ada, mixed, "H200"), (bob, alone, "B200")):
		contains(
			client.get(f"/submission/{submission}").words(),
			f"Cancelled before it started: root-of-all removed {device} from the leaderboard's "
			"devices.",
		)
	equal(
		sql("SELECT gpu, state FROM jobs ORDER BY id"),
		[["CPU", "queued"], ["H200", "cancelled"], ["B200", "cancelled"], ["CPU", "queued"]],
	)
	contains(
		sql("SELECT detail FROM audit_log WHERE action = 'leaderboard.update'")[-1][0],
		"devices: CPU, was CPU, H200, B200; 2 queued jobs cancelled",
	)
	# No worker has ever offered an H200 here, so the form comes back with its warning.
	answer = edit_devices("H200")
	equal(answer.location, "/admin/leaderboard/small/edit")
	saved = admin.get(answer.location).words()
	contains(saved, "small was saved. Removing devices cancelled 1 queued job.")
	contains(saved, "Warning: No worker has ever offered H200.")
	# The check of H200 had four jobs.
	answer = edit_devices(*before)
	contains(admin.get(answer.location).words(), "Removing devices cancelled 4 queued jobs.")
	site.publish("small")
	equal(status(elsewhere.rsplit("/", 1)[1])["jobs"][0]["state"], "queued")
	site.release_jobs()
	clean()


@test
def no_one_else_may_cancel():
	site.hold_jobs()
	submission = submit(ada)
	equal(cancel(bob, submission).status, 403)
	equal(bob.get(f"/submission/{submission}/cancel").status, 403)
	lacks(bob.get(f"/submission/{submission}").text, '/cancel"')
	contains(anyone.get(f"/submission/{submission}/cancel").location, "/login")
	equal(
		ada.request(
			"POST",
			f"/submission/{submission}/cancel",
			b"",
			{"Content-Type": "application/x-www-form-urlencoded"},
		).status,
		403,
	)
	equal(ada.post(f"/submission/{submission}/cancel", csrf="0" * 64).status, 403)
	equal(cancel(ada, 999999).status, 404)
	equal(status(submission)["state"], "queued")
	site.release_jobs()
	ended(submission)


@test
def a_finished_submission_cannot_be_cancelled_and_the_page_says_so():
	submission = submit(ada)
	equal(ended(submission)["verdict"], "passed")
	before = sql(f"SELECT * FROM jobs WHERE submission_id = {submission}")
	answer = cancel(ada, submission)
	equal(answer.location.removeprefix(site.url), f"/submission/{submission}?cancelled=none")
	contains(
		ada.get(answer.location).words(),
		"It had ended before it could be cancelled, so its result stands.",
	)
	equal(sql(f"SELECT * FROM jobs WHERE submission_id = {submission}"), before)
	contains(ada.get(f"/submission/{submission}/cancel").words(), "nothing to cancel")


@test
def finishing_and_cancelling_at_the_same_moment_leave_one_consistent_outcome():
	outcomes = set()
	for index in range(12):
		submission = submit(bob, mode="ranked")
		time.sleep(0.03 * index)
		said = cancel(bob, submission).location.rsplit("=", 1)[1]
		state = ended(submission)
		place = sql(f"SELECT COUNT(*) FROM ranking WHERE submission_id = {submission}")[0][0]
		outcomes.add((said, state["verdict"]))
		assert (said, state["verdict"]) in (("all", "cancelled"), ("none", "passed")), (said, state)
		assert place == "0" or state["verdict"] == "passed", state
		if state["verdict"] == "cancelled":
			equal(state["jobs"][0]["score_ns"], None)
	assert ("all", "cancelled") in outcomes, outcomes


@test
def cancelling_keeps_the_jobs_that_have_finished():
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'H200', 1 FROM "
		"leaderboards WHERE name = 'small'"
	)
	submission = submit(ada, gpu=("CPU", "H200"))
	until(lambda: [job["state"] for job in status(submission)["jobs"]] == ["done", "queued"])
	contains(
		status(submission)["jobs"][1]["message"],
		"Waiting for H200: 1st in line. No worker with this device is online, so the job waits "
		"until one is.",
	)
	answer = cancel(ada, submission)
	contains(
		ada.get(answer.location).words(),
		"What had not ended was cancelled; the jobs that had ended before keep their results.",
	)
	equal([job["verdict"] for job in status(submission)["jobs"]], ["passed", "cancelled"])


# ---- what the page says ----


@test
def times_on_the_cpu_are_for_trying_things_out():
	words = "CPU times are for trying things out"
	contains(ada.get("/leaderboard/small").words(), words)
	ranked, tested = submit(ada, mode="ranked"), submit(ada)
	equal([ended(number)["verdict"] for number in (ranked, tested)], ["passed", "passed"])
	contains(ada.get(f"/submission/{ranked}").words(), words)
	lacks(ada.get(f"/submission/{tested}").words(), words)


@test
def a_device_that_another_podium_uses_says_so():
	elsewhere = "another Podium on this machine uses it"
	clean()
	lacks(ada.get("/queue").words(), elsewhere)
	with open(site.var / "podium-CPU.lock") as lock, open(site.var / "podium-CPU.turn") as turn:
		fcntl.flock(turn, fcntl.LOCK_EX)
		fcntl.flock(lock, fcntl.LOCK_EX)
		fcntl.flock(turn, fcntl.LOCK_UN)
		submission = submit(ada)
		until(lambda: elsewhere in ada.get("/queue").words())
		contains(
			status(submission)["jobs"][0]["message"],
			"Waiting for CPU: 1st in line. Another Podium on this machine uses this device, so the "
			"job waits until that one’s job is done.",
		)
		equal(status(submission)["jobs"][0]["state"], "queued")
	equal(ended(submission)["verdict"], "passed")
	until(lambda: elsewhere not in ada.get("/queue").words())


@test
def a_job_says_how_many_are_ahead_of_it():
	clean()
	site.hold_jobs()
	first, second = submit(ada), submit(ada)
	third = submit(bob)
	equal(status(first)["jobs"][0]["position"], 1)
	message = status(third)["jobs"][0]["message"]
	equal(
		message,
		"Waiting for CPU: 2nd in line, 1 job ahead. An admin paused the device, so the job "
		"waits until it is resumed.",
	)
	equal([status(number)["jobs"][0]["position"] for number in (first, third, second)], [1, 2, 3])
	contains(
		ada.get(f"/submission/{second}").words(), "Waiting for CPU: 3rd in line, 2 jobs ahead."
	)
	queue = ada.get("/queue")
	contains(queue.words(), "drained")
	equal(
		re.findall(r'<th scope="row(?:group)?"[^>]*><a href="/submission/(\d+)"', queue.text),
		[str(number) for number in (first, third, second)],
	)
	jobs = ada.get(f"/queue/status?{time.time()}").json["jobs"]
	equal([job["submission"] for job in jobs], [first, third, second])
	site.release_jobs()
	for number in (first, second, third):
		ended(number)


@test
def a_silent_worker_is_named_with_the_attempt():
	site.hold_jobs()
	submission = submit(ada, SLOW)
	sql(
		"UPDATE jobs SET state = 'running', attempt = 1, fence = fence + 1, lease_owner = "
		"'h200-a', lease_expires = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND, "
		f"started_at = UTC_TIMESTAMP(3) WHERE submission_id = {submission}"
	)
	until(lambda: status(submission)["jobs"][0]["state"] == "queued")
	contains(
		status(submission)["jobs"][0]["message"],
		"Worker h200-a stopped answering, trying again, attempt 2 of 3. Waiting for CPU: 1st in "
		"line.",
	)
	contains(
		anyone.get(f"/submission/{submission}?x").words(),
		"Worker h200-a stopped answering, trying again, attempt 2 of 3.",
	)
	site.release_jobs()
	running(submission)
	message = status(submission)["jobs"][0]["message"]
	contains(message, "Running on CPU (worker here, attempt 2 of 3): ")
	contains(message, "An earlier attempt failed: worker h200-a stopped answering.")
	cancel(ada, submission)
	ended(submission)


@test
def a_silent_worker_is_reported_before_its_lease_expires():
	submission = submit(ada, SLOW)
	running(submission)
	sql(
		f"UPDATE workers SET name = 'elsewhere', seen_at = UTC_TIMESTAMP(3) - INTERVAL 12 SECOND; "
		"UPDATE jobs SET lease_owner = 'elsewhere', fence = fence + 1, lease_expires = "
		f"UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE submission_id = {submission}"
	)
	message = status(submission)["jobs"][0]["message"]
	assert re.search(
		r"The worker has not answered for 1\d s\. In another 3[56]\d\d s the next worker takes the "
		r"job\.",
		message,
	), message
	sql("DELETE FROM workers WHERE name = 'elsewhere'")
	cancel(ada, submission)
	sql("UPDATE jobs SET lease_expires = NULL")


# ---- pausing ----


@test
def an_admin_drains_pauses_and_resumes_in_the_panel():
	clean()
	until(
		lambda: sql(
			"SELECT 1 FROM workers WHERE name = 'here' AND seen_at > UTC_TIMESTAMP(3) - INTERVAL 3 "
			"SECOND"
		)
	)
	act = lambda action, device="", client=admin: client.post(
		"/admin/workers",
		[("worker", "here"), ("device", device), ("action", action), ("confirm", "yes")],
		csrf=token(client),
	)
	running_one = submit(ada, SLOW)
	running(running_one)
	equal(act("drain").status, 303)
	contains(admin.get("/admin/workers").words(), "draining by root-of-all, with the whole worker")
	waiting = submit(bob)
	contains(
		status(waiting)["jobs"][0]["message"],
		"An admin paused the device, so the job waits until it is resumed.",
	)
	equal(status(running_one)["jobs"][0]["state"], "running")
	equal(act("pause").status, 303)
	until(lambda: status(running_one)["jobs"][0]["state"] == "queued")
	contains(
		status(running_one)["jobs"][0]["message"],
		"An admin paused worker here. Waiting for CPU: 1st in line.",
	)
	contains(anyone.get("/queue?paused").words(), "paused")
	equal({row["state"] for row in anyone.get("/queue/status?paused").json["devices"]}, {"paused"})
	equal(sql(f"SELECT attempt FROM jobs WHERE submission_id = {running_one}"), [["0"]])
	cancel(ada, running_one)
	equal(act("resume").status, 303)
	equal(ended(waiting)["verdict"], "passed")
	equal(act("drain", "CPU").status, 303)
	contains(admin.get("/admin/workers").words(), "drained by root-of-all")
	equal(act("resume").status, 409)
	equal(act("resume", "CPU").status, 303)
	equal(act("drain", "GPU-none").status, 404)
	equal(act("explode").status, 422)
	equal(act("drain", client=ada).status, 403)
	equal(ada.get("/admin/workers").status, 403)
	equal(
		[
			row[0]
			for row in sql("SELECT action FROM audit_log WHERE subject LIKE 'here%' ORDER BY id")
		],
		["worker.drain", "worker.pause", "worker.resume", "worker.drain", "worker.resume"],
	)


@test
def the_command_does_the_same_and_a_pause_outlives_the_worker():
	contains(
		site.admin("worker", "list").stdout, "here                     online    CPU          CPU"
	)
	contains(
		site.admin("worker", "drain", "here", "CPU").stdout,
		"CPU of here finishes its jobs and takes no new ones.",
	)
	site.stop()
	(site.var / "run.log").write_text("")
	site.start()
	submission = submit(ada)
	time.sleep(1)
	equal(status(submission)["jobs"][0]["state"], "queued")
	contains(site.admin("worker", "list").stdout, "drained")
	contains(site.admin("worker", "resume", "here", "CPU").stdout, "takes jobs again")
	ended(submission)
	contains(site.admin("worker", "resume", "here").stderr, "The worker here is not paused")
	contains(site.admin("worker", "pause", "nowhere").stderr, 'There is no worker named "nowhere".')
	equal(site.admin("worker", "pause").returncode, 2)


# ---- quotas ----


def quota(mode, most, hours=24):
	sql(
		f"REPLACE INTO leaderboard_quotas SELECT id, '{mode}', {most}, {hours} FROM leaderboards "
		"WHERE name = 'small'"
	)


@test
def a_used_up_quota_answers_429_with_the_time_when_the_next_is_possible():
	clean()
	quota("test", 2)
	first = submit(ada)
	ended(first)
	sql(
		"UPDATE submissions SET submitted_at = UTC_TIMESTAMP(3) - INTERVAL 23 HOUR WHERE id = "
		f"{first}"
	)
	contains(ada.get("/leaderboard/small/submit").words(), "1 of 2 left in any 24 hours")
	ended(submit(ada))
	answer = send(ada, "# kept\n" + RIGHT)
	equal(answer.status, 429)
	wait = int(answer.headers["Retry-After"])
	assert 3500 < wait <= 3600, wait
	contains(
		answer.words(),
		"Your quota of test submissions to small is used up: this leaderboard allows 2 in 24 "
		"hours, and 2 of yours count. The next is possible in",
	)
	contains(answer.text, "# kept")
	contains(answer.words(), "0 of 2 left in any 24 hours")
	answer = ada.post(
		"/submit",
		[("mode", "test"), ("code", "#!POPCORN leaderboard small\n#!POPCORN gpus CPU\n" + RIGHT)],
		csrf=token(ada),
	)
	equal((answer.status, abs(int(answer.headers["Retry-After"]) - wait) < 300), (429, True))
	sql(
		"UPDATE submissions SET submitted_at = UTC_TIMESTAMP(3) - INTERVAL 25 HOUR WHERE id = "
		f"{first}"
	)
	ended(submit(ada))
	equal(send(ada).status, 429)


@test
def a_quota_is_per_user_mode_and_leaderboard():
	ended(submit(ada, mode="benchmark"))
	ended(submit(bob))
	equal(send(ada).status, 429)
	sql(
		"UPDATE leaderboard_quotas SET leaderboard_id = (SELECT id FROM leaderboards WHERE name "
		"<> 'small' LIMIT 1)"
	)
	ended(submit(ada))


@test
def the_sites_quota_applies_if_a_leaderboard_has_none():
	clean()
	for _ in range(2):
		ended(submit(ada, mode="profile"))
	answer = send(ada, mode="profile")
	equal(answer.status, 429)
	contains(answer.words(), "this site allows 2 in 5 hours")
	contains(answer.words(), "0 of 2 left in any 5 hours (the site’s limit)")
	lacks(answer.words(), "left in any 24 hours")
	quota("profile", 3, 1)
	ended(submit(ada, mode="profile"))
	equal(send(ada, mode="profile").status, 429)


@test
def podium_admin_shows_and_sets_quotas():
	clean()
	equal(
		site.admin("quota", "show", "small").stdout.splitlines(),
		[
			"test       no limit, the site's",
			"benchmark  no limit, the site's",
			"ranked     no limit, the site's",
			"profile    2 in 5 hours, the site's",
		],
	)
	contains(
		site.admin("quota", "set", "small", "test", "1", "1").stdout,
		"The test quota of small is now 1 in 1 hour.",
	)
	contains(
		site.admin("quota", "set", "small", "ranked", "7").stdout,
		"The ranked quota of small is now 7 in 24 hours.",
	)
	contains(site.admin("quota", "show", "small").stdout, "test       1 in 1 hour\n")
	ended(submit(ada))
	answer = send(ada)
	equal(answer.status, 429)
	contains(answer.words(), "this leaderboard allows 1 in 1 hour")
	contains(
		site.admin("quota", "set", "small", "test", "site").stdout,
		"The test quota of small is now the site's.",
	)
	equal(site.admin("quota", "set", "small", "test", "site").returncode, 0)
	ended(submit(ada))
	equal(sql("SELECT mode, most, hours FROM leaderboard_quotas"), [["ranked", "7", "24"]])
	equal(
		sql(
			"SELECT actor, subject, detail FROM audit_log WHERE detail LIKE '%quota:%' ORDER BY id"
		),
		[
			["podium-admin", "small", "test quota: 1 in 1 hour, was the site's"],
			["podium-admin", "small", "ranked quota: 7 in 24 hours, was the site's"],
			["podium-admin", "small", "test quota: the site's, was 1 in 1 hour"],
		],
	)
	for words, sentence in (
		(("set", "nowhere", "test", "1"), "no leaderboard named"),
		(("set", "small", "praise", "1"), "no mode"),
		(("set", "small", "test", "0"), "A quota of 0 is not allowed"),
		(("set", "small", "test", "x"), "A quota is a whole number"),
		(("set", "small", "test", "1", "9999"), "in 1 to 8784 hours"),
		(("show", "größe"), "no leaderboard named"),
	):
		answer = site.admin("quota", *words)
		equal((words, answer.returncode), (words, 1))
		contains(answer.stderr, sentence)
	for words in (("show",), ("set", "small", "test"), ("set", "small", "test", "1", "2", "3")):
		equal((words, site.admin("quota", *words).returncode), (words, 2))


@test
def attempts_broken_by_the_platform_or_cancelled_before_they_started_do_not_count():
	clean()
	quota("test", 1)
	broken = submit(ada)
	ended(broken)
	sql(
		"UPDATE jobs SET state = 'failed', verdict = 'internal error' WHERE submission_id = "
		f"{broken}"
	)
	site.hold_jobs()
	waiting = submit(ada)
	equal(send(ada).status, 429)  # a queued submission counts toward the quota
	cancel(ada, waiting)
	site.release_jobs()
	by_admin = submit(ada, SLOW)
	running(by_admin)
	cancel(admin, by_admin)
	ended(by_admin)
	by_author = submit(ada, SLOW)
	running(by_author)
	cancel(ada, by_author)
	ended(by_author)
	equal(send(ada).status, 429)


@test
def the_second_internal_error_of_the_same_source_counts():
	clean()
	quota("test", 1)
	for number in (1, 2):
		broken = submit(ada)
		ended(broken)
		sql(
			"UPDATE jobs SET state = 'failed', verdict = 'internal error' "
			f"WHERE submission_id = {broken}"
		)
	equal(send(ada).status, 429)
	sql(f"UPDATE submissions SET sha256 = (SELECT MAX(sha256) FROM blobs) WHERE id = {broken}")
	ended(submit(ada))


@test
def a_submission_to_several_devices_counts_once():
	clean()
	quota("test", 2)
	first = submit(ada, gpu=("CPU", "H200"))
	submit(ada, gpu=("CPU", "H200"))
	equal(send(ada).status, 429)
	cancel(ada, first)


@test
def simultaneous_posts_cannot_pass_a_quota_together():
	clean()
	quota("test", 5)
	site.hold_jobs()
	token(ada)
	with concurrent.futures.ThreadPoolExecutor(24) as pool:
		answers = list(pool.map(lambda _: send(ada).status, range(24)))
	equal(sorted(answers), [303] * 5 + [429] * 19)
	equal(sql("SELECT COUNT(*) FROM submissions"), [["5"]])


@test
def a_user_cannot_flood_the_queue():
	clean()
	site.hold_jobs()
	token(bob)
	with concurrent.futures.ThreadPoolExecutor(16) as pool:
		answers = list(pool.map(lambda _: send(bob, gpu=("CPU", "H200")).status, range(16)))
	equal(sorted(answers), [303] * 6 + [429] * 10)
	answer = send(bob)
	equal((answer.status, answer.headers["Retry-After"]), (429, "30"))
	contains(answer.words(), "12 of your jobs are waiting, and at most 12 may")
	equal(sql("SELECT COUNT(*) FROM jobs WHERE state = 'queued'"), [["12"]])
	site.release_jobs()
	clean()


@test
def quotas_are_set_in_the_form_of_a_leaderboard():
	clean()
	edit = lambda *fields: admin.post(
		"/admin/leaderboard/small/edit",
		[("gpu", "CPU"), ("gpu", "H200"), ("accepting", "1"), ("sources", "deadline"), *fields],
	)
	equal(
		edit(("quota_ranked", "7"), ("quota_ranked_hours", "48"), ("quota_test", "9")).status, 303
	)
	equal(
		sorted(sql("SELECT mode, most, hours FROM leaderboard_quotas")),
		[["ranked", "7", "48"], ["test", "9", "24"]],
	)
	page = admin.get("/admin/leaderboard/small/edit")
	contains(page.text, 'name="quota_ranked" value="7"')
	contains(page.text, 'name="quota_ranked_hours" value="48"')
	contains(page.words(), "profile 2 in 5 hours")
	equal(edit().status, 303)  # a form without these fields keeps them
	equal(len(sql("SELECT 1 FROM leaderboard_quotas")), 2)
	for wrong in ("0", "-1", "many", "1.5", "100001", "9999999999999999999999"):
		answer = edit(("quota_ranked", wrong), ("quota_test", "9"))
		equal((wrong, answer.status), (wrong, 422))
		contains(answer.words(), "Type a whole number of submissions from 1 to 100000")
		contains(answer.text, f'value="{wrong}"')
	equal(edit(("quota_ranked", ""), ("quota_test", "9")).status, 303)
	equal(sql("SELECT mode, most, hours FROM leaderboard_quotas"), [["test", "9", "24"]])
	equal(
		sql(
			"SELECT detail FROM audit_log WHERE action = 'leaderboard.update' ORDER BY id "
			"DESC LIMIT 1"
		),
		[["ranked quota: the site's, was 7 in 48 hours"]],
	)


status_code = 1
try:
	status_code = run()
finally:
	site.remove()
sys.exit(status_code)
