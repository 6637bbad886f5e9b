#!/usr/bin/env python3
"""Which job a worker claims next, tested with the worker's own statements against a real MariaDB.
Claims are fair between users. Each job is claimed once, and none by paused workers or devices. A
claim does not read the whole queue."""

import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import mariadb  # noqa: E402

mariadb.use_own_server()
from tap import contains, equal, run, test  # noqa: E402
from workers import BUILD, admin, close, database, load_task, sql, submit  # noqa: E402

PROGRAM = BUILD / "tests" / "integration" / "worker" / "test_claims"


def call(*arguments):
	answer = subprocess.run(
		[PROGRAM, *map(str, arguments)], env=database.environment, capture_output=True, text=True
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	return [int(line) if line.isdigit() else line for line in answer.stdout.splitlines()]


def claim(count=1, worker="one", model="CPU", device="GPU-0"):
	return call("claim", count, worker, model, device)


def users_of(jobs):
	"""The users of the jobs, in the jobs' order."""
	users = dict(sql("SELECT id, user_id FROM jobs"))
	return [int(users[str(number)]) for number in jobs]


def fresh():
	"""Empties the queue. Sets up two workers with two devices each, and pauses none of them."""
	sql("DELETE FROM jobs; DELETE FROM submissions; DELETE FROM pauses; DELETE FROM workers")
	for name in ("one", "two"):
		sql(
			f"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('{name}', "
			f"'0', '{{}}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3));"
			"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
			"compute_capability, seen_at) SELECT id, uuid, 'CPU', 'A device', 1, '', '', "
			"UTC_TIMESTAMP(3) FROM workers, "
			f"(SELECT 'GPU-0' AS uuid UNION SELECT 'GPU-1') two WHERE name = '{name}'"
		)


def flood(user, count, gpu="CPU"):
	"""Queues many jobs of one user."""
	first = submit(user=user, gpu=gpu)
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT leaderboard_id, task_version_id, "
		f"user_id, file_name, sha256, mode FROM submissions, seq_2_to_{count} WHERE id = (SELECT "
		f"submission_id FROM jobs WHERE id = {first});"
		f"INSERT INTO jobs (submission_id, user_id, gpu) SELECT s.id, s.user_id, '{gpu}' FROM "
		"submissions s LEFT JOIN jobs j ON j.submission_id = s.id "
		f"WHERE j.id IS NULL ORDER BY s.id"
		if count > 1
		else "SELECT 1"
	)


# ---- the order of claims ----


@test
def users_get_their_turns_one_after_the_other():
	load_task()
	fresh()
	numbers = (
		[submit(user=1) for _ in range(4)] + [submit(user=2) for _ in range(2)] + [submit(user=3)]
	)
	equal(users_of(claim(7)), [1, 2, 3, 1, 2, 1, 1])
	equal(
		sql(
			"SELECT COUNT(*) FROM jobs WHERE state = 'running' AND attempt = 1 AND fence = 1 AND "
			"lease_device = 'GPU-0'"
		),
		[[str(len(numbers))]],
	)


@test
def jobs_running_on_another_device_count():
	fresh()
	submit(user=1, gpu="H200")
	equal(len(claim(model="H200")), 1)
	first, second = submit(user=1), submit(user=2)
	equal(claim(2), [second, first])


@test
def finished_jobs_do_not_count():
	fresh()
	submit(user=1)
	claim()
	sql("UPDATE jobs SET state = 'done'")
	first, second = submit(user=1), submit(user=2)
	equal(claim(2), [first, second])


@test
def among_equals_the_oldest_runs_first():
	fresh()
	numbers = [submit(user=user) for user in (5, 3, 4, 1, 2)]
	equal(claim(6), numbers + ["none"])


@test
def submissions_run_before_rejudged_jobs():
	fresh()
	again, other = submit(user=1), submit(user=2)
	sql(f"UPDATE jobs SET priority = 1 WHERE id IN ({again}, {other})")
	numbers = [submit(user=3), submit(user=3)]
	equal(claim(4), numbers + [again, other])


def compare(first, second):
	"""Queues a job that compares the entries of two jobs, as the ranking does."""
	return int(
		sql(
			"INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, challenger_id, "
			"challenger_job_id, incumbent_id, incumbent_job_id) "
			"SELECT s.leaderboard_id, s.task_version_id, 'CPU', a.submission_id, a.id, "
			f"b.submission_id, b.id FROM jobs a JOIN jobs b ON b.id = {first} "
			f"JOIN submissions s ON s.id = a.submission_id WHERE a.id = {second}; "
			"INSERT INTO jobs (comparison_id, user_id, gpu, priority) VALUES (LAST_INSERT_ID(), 0, "
			"'CPU', 1); SELECT LAST_INSERT_ID()"
		)[0][0]
	)


@test
def comparisons_run_when_nothing_else_waits():
	fresh()
	first, second = submit(user=1), submit(user=2)
	claim(2)
	sql("UPDATE jobs SET state = 'done'")
	numbers = [compare(first, second), compare(first, second)]
	later = [submit(user=1), submit(user=1)]
	equal(claim(5), later + numbers + ["none"])


@test
def a_running_comparison_costs_no_user_a_turn():
	fresh()
	first, second = submit(user=1), submit(user=2)
	claim(2)
	sql("UPDATE jobs SET state = 'done'")
	number = compare(first, second)
	equal(claim(), [number])
	numbers = [submit(user=2), submit(user=3), submit(user=1)]
	equal(claim(3), numbers)


@test
def a_flood_of_one_user_delays_nobody_else():
	fresh()
	flood(1, 1000)
	equal(users_of(claim(2)), [1, 1])
	late = submit(user=2)
	equal(claim(), [late])
	flood(3, 1000)
	numbers = [submit(user=4), submit(user=4)]
	following = users_of(claim(4))
	equal(following[:2], [3, 4])
	equal(sorted(following[2:]), [3, 4])
	equal(
		sql(
			f"SELECT COUNT(*) FROM jobs WHERE id IN ({numbers[0]}, {numbers[1]}) AND state "
			"= 'running'"
		),
		[["2"]],
	)


@test
def no_user_starves_while_others_keep_submitting():
	fresh()
	flood(1, 300)
	patient = submit(user=9)
	for round in range(3):
		submit(user=2)
		submit(user=3)
		for number in claim(2):
			sql(f"UPDATE jobs SET state = 'done' WHERE id = {number}")
		if sql(f"SELECT state FROM jobs WHERE id = {patient}")[0][0] == "done":
			return
	raise AssertionError("a user with one job waited for six jobs of others")


# ---- many at once ----


@test
def many_claimers_take_each_job_once_and_every_users_first_job_first():
	fresh()
	for user in range(1, 41):
		flood(user, 20)
	jobs = call("race", 32, 1, "one", "CPU")
	equal(len(set(jobs)), 32)
	equal(max(collections.Counter(users_of(jobs)).values()), 1)
	rest = call("race", 32, 30, "one", "CPU")
	taken = [number for number in rest if number != "none"]
	equal((len(taken), len(set(taken) | set(jobs))), (800 - 32, 800))


@test
def many_claimers_all_get_jobs_of_a_single_user():
	fresh()
	flood(1, 64)
	equal(len(set(call("race", 16, 4, "one", "CPU")) - {"none"}), 64)


# ---- paused ----


@test
def a_paused_or_draining_worker_claims_nothing_and_the_others_continue():
	fresh()
	numbers = [submit(user=1) for _ in range(4)]
	for verb in ("drain", "pause"):
		admin("worker", verb, "one")
		equal(claim(2), ["none", "none"])
		equal(claim(1, "two"), [numbers.pop(0)])
		admin("worker", "resume", "one")
		equal(claim(), [numbers.pop(0)])
		sql("UPDATE jobs SET state = 'done' WHERE state = 'running'")


@test
def a_single_device_can_be_paused():
	fresh()
	first, second = submit(user=1), submit(user=1)
	admin("worker", "drain", "one", "GPU-1")
	equal(claim(1, "one", "CPU", "GPU-1"), ["none"])
	equal(claim(1, "one", "CPU", "GPU-0"), [first])
	equal(claim(1, "two", "CPU", "GPU-1"), [second])


@test
def after_a_pause_returns_no_job_is_claimed():
	fresh()
	flood(1, 3000)
	racing = subprocess.Popen(
		[PROGRAM, "race", "8", "2000", "one", "CPU"],
		env=database.environment,
		stdout=subprocess.PIPE,
		text=True,
	)
	racing.stdout.readline()
	admin("worker", "drain", "one")
	taken = sql("SELECT COUNT(*) FROM jobs WHERE state = 'running'")
	racing.communicate()
	equal(sql("SELECT COUNT(*) FROM jobs WHERE state = 'running'"), taken)
	if taken in ([["0"]], [["3000"]]):
		raise AssertionError(f"{taken} jobs were taken, so this showed nothing")


@test
def pausing_requeues_running_jobs_without_counting_the_attempt():
	fresh()
	numbers = [submit(user=1), submit(user=2)]
	claim(1, "one", "CPU", "GPU-0")
	claim(1, "one", "CPU", "GPU-1")
	sql(
		"INSERT INTO stages (job_id, position, name, message, command, stdout, stderr) VALUES "
		f"({numbers[0]}, 0, 'test', '', '', '', '')"
	)
	contains(admin("worker", "pause", "one", "GPU-0"), "1 running one is queued again")
	equal(
		sql(
			"SELECT state, attempt, fence, lease_owner, lease_device FROM jobs WHERE id = "
			f"{numbers[0]}"
		),
		[["queued", "0", "2", "NULL", "NULL"]],
	)
	equal(sql("SELECT COUNT(*) FROM stages"), [["0"]])
	equal(sql(f"SELECT state FROM jobs WHERE id = {numbers[1]}"), [["running"]])
	contains(admin("worker", "pause", "one"), "1 running one is queued again")
	equal(sorted(claim(2, "two")), sorted(numbers))


@test
def a_worker_that_lost_its_job_changes_nothing_of_its_successors_lease():
	fresh()
	number = submit(user=1)

	def row():
		return sql(f"SELECT fence, progress, lease_expires FROM jobs WHERE id = {number}")[0]

	claim(1, "one")
	admin("worker", "pause", "one")
	equal(claim(1, "two"), [number])
	before = row()
	stale, current = int(before[0]) - 2, int(before[0])
	equal(call("renew", number, stale), ["lost"])
	equal(row(), before)
	equal(call("renew", number, current), ["kept"])
	equal((row()[1], row()[2] > before[2]), ("renewed", True))
	sql(f"UPDATE jobs SET state = 'cancelled' WHERE id = {number}")
	leased = row()
	call("let_go", number, stale)
	equal(row(), leased)
	call("let_go", number, current)
	equal(row(), [*leased[:2], "NULL"])


# ---- the cost of a claim ----


def examined(model, device="GPU-0"):
	"""Makes one claim. Returns the claimed jobs, and the number of rows that each statement
	read."""
	sql(
		"TRUNCATE mysql.slow_log; SET GLOBAL slow_query_log = 1; SET GLOBAL log_output = 'TABLE'; "
		"SET GLOBAL long_query_time = 0"
	)
	claimed = claim(1, "one", model, device)
	sql("SET GLOBAL slow_query_log = 0; SET GLOBAL long_query_time = 10")
	rows = sql(
		"SELECT rows_examined, REPLACE(LEFT(sql_text, 60), '\\n', ' ') FROM mysql.slow_log WHERE "
		"sql_text REGEXP 'jobs|queue_' AND sql_text NOT LIKE '%slow_log%'"
	)
	if len(rows) < 3:
		raise AssertionError(f"only {rows} was logged")
	return claimed, sorted(((int(row[0]), row[1]) for row in rows), reverse=True)


@test
def a_claim_reads_little_of_a_hundred_thousand_queued_jobs():
	fresh()
	sql(
		"INSERT IGNORE INTO users (id, name, password_hash) SELECT 1000 + seq, CONCAT('many-', "
		"seq), '' FROM seq_1_to_500;"
		"SET @l = (SELECT id FROM leaderboards LIMIT 1), @v = (SELECT task_version_id FROM "
		"leaderboards LIMIT 1), @b = (SELECT sha256 FROM blobs LIMIT 1);"
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT @l, @v, 1001 + seq % 500, 'a.py', @b, 'ranked' FROM seq_1_to_100000;"
		"INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, 'CPU' FROM "
		"submissions ORDER BY id; ANALYZE TABLE jobs"
	)
	_, statements = examined("CPU")
	if statements[0][0] > 500:
		raise AssertionError(f"a claim among many users read {statements[:3]}")
	# Each of sixty users gets a running job and, ahead of all other jobs, as many queued jobs as
	# one user may have.
	sql(
		"SET @first = (SELECT MIN(id) FROM jobs WHERE state = 'queued'); UPDATE jobs SET user_id "
		"= 1001 + id % 60 WHERE id BETWEEN @first AND @first + 6059;"
		"UPDATE jobs SET state = 'running', lease_expires = UTC_TIMESTAMP(3) + INTERVAL 1 DAY "
		"WHERE id BETWEEN @first AND @first + 59; ANALYZE TABLE jobs"
	)
	claimed, statements = examined("CPU")
	assert users_of(claimed)[0] > 1060, claimed
	if statements[0][0] > 7000:
		raise AssertionError(f"a claim behind what busy users have waiting read {statements[:3]}")


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
