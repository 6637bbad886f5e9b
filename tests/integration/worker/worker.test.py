#!/usr/bin/env python3
"""podium-worker with a real MariaDB and the real podium-run: registration, claims, leases, fences,
results, and what happens when a worker, its podium-run or the database dies during a job."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import mariadb  # noqa: E402

mariadb.use_own_server()
from tap import contains, equal, run, test  # noqa: E402
from workers import (
	BUILD,
	RIGHT,
	SLOW,
	WRONG,
	Worker,
	admin,
	close,
	database,
	job,
	load_task,
	processes_of,
	quoted,
	running,  # noqa: E402
	scratch,
	sql,
	submit,
	until,
	wait_for,
)

# ---- what a worker offers ----


@test
def a_worker_registers_itself_and_its_devices():
	with Worker("alpha"):
		row = sql(
			"SELECT w.name, w.version, g.model, g.uuid, g.memory_bytes > 1e8, "
			"TIMESTAMPDIFF(SECOND, w.seen_at, UTC_TIMESTAMP(3)) < 5 "
			"FROM workers w JOIN gpus g ON g.worker_id = w.id WHERE g.model = 'CPU'"
		)
		equal(len(row), 1)
		equal(
			(row[0][0], row[0][2], row[0][3], row[0][4], row[0][5]),
			("alpha", "CPU", "CPU", "1", "1"),
		)
		facts = json.loads(sql("SELECT host FROM workers")[0][0])
		equal(facts["cores"], os.cpu_count())
		before = sql("SELECT seen_at FROM gpus")
		until(lambda: sql("SELECT seen_at FROM gpus") != before)


@test
def a_missing_device_is_no_longer_offered():
	sql(
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) SELECT id, 'GPU-gone', 'H200', 'NVIDIA H200', 1, '580', "
		"'9.0', UTC_TIMESTAMP(3) FROM workers WHERE name = 'alpha'"
	)
	with Worker("alpha"):
		equal(sql("SELECT COUNT(*) FROM gpus WHERE uuid = 'GPU-gone'"), [["0"]])


@test
def of_two_workers_with_one_name_the_older_one_stops_and_says_why():
	older = Worker("twin")
	older.says("is ready")
	with Worker("twin"):
		equal(older.process.wait(30), 1)
		contains(older.log.read_text(), "PODIUM_WORKER_NAME")


@test
def options_and_settings_are_explained():
	answer = subprocess.run([BUILD / "podium-worker", "--help"], capture_output=True, text=True)
	equal(answer.returncode, 0)
	contains(answer.stdout, "PODIUM_WORKER_NAME")
	answer = subprocess.run([BUILD / "podium-worker", "--nonsense"], capture_output=True, text=True)
	equal((answer.returncode, answer.stdout), (2, ""))
	answer = subprocess.run(
		[BUILD / "podium-worker"],
		capture_output=True,
		text=True,
		env={**database.environment, "PODIUM_LEASE_MS": "soon"},
	)
	equal(answer.returncode, 1)
	contains(answer.stderr, "PODIUM_LEASE_MS")


@test
def a_worker_waits_for_a_database_that_starts_later():
	late = Worker("late", PODIUM_DATABASE_SOCKET=str(scratch / "none"))
	late.says("retries until it works")
	equal(late.end(), 1)


# ---- results ----


@test
def a_ranked_job_gets_stages_cases_a_score_and_its_place():
	load_task()
	with Worker():
		number = submit()
		wait_for(number)
	verdict, score, engine, attempt, progress, owner = job(
		number, "verdict, score_ns, engine, attempt, progress, lease_owner"
	)
	equal(
		(verdict, float(score), engine, attempt, progress, owner),
		("passed", 2e6, "custom", "1", "", "first"),
	)
	stages = sql(
		f"SELECT position, name, verdict, exit_code FROM stages WHERE job_id = {number} ORDER BY "
		"position"
	)
	equal(
		[stage[1:3] for stage in stages],
		[["compile", "passed"], ["test", "passed"], ["ranked", "passed"]],
	)
	cases = sql(
		"SELECT m.case_index, m.verdict, m.mean_ns, m.runs FROM measurements m JOIN stages t ON "
		"t.id = m.stage_id "
		f"WHERE t.job_id = {number} ORDER BY t.position, m.case_index"
	)
	equal(
		cases,
		[
			["0", "passed", "NULL", "NULL"],
			["1", "passed", "NULL", "NULL"],
			["0", "passed", "2000000", "3"],
		],
	)
	contains(
		sql(f"SELECT stdout FROM stages WHERE job_id = {number} AND name = 'test'")[0][0],
		"printed by the harness",
	)
	equal(sql(f"SELECT place, position FROM ranking WHERE job_id = {number}"), [["1", "1"]])
	contains(job(number, "environment"), "python")


@test
def a_wrong_answer_finishes_the_job_and_is_not_ranked():
	with Worker():
		number = submit(WRONG, user=2)
		wait_for(number)
	verdict, score, reason = job(number, "verdict, score_ns, reason")
	equal((verdict, score), ("wrong answer", "NULL"))
	equal(sql("SELECT COUNT(*) FROM ranking WHERE user_id = 2"), [["0"]])
	contains(
		sql(
			"SELECT m.message FROM measurements m JOIN stages t ON t.id = m.stage_id WHERE "
			"t.job_id "
			f"= {number}"
		)[0][0],
		"got wrong",
	)


@test
def modes_other_than_ranked_have_no_score():
	with Worker():
		numbers = [submit(mode="test", user=2), submit(mode="benchmark", user=2)]
		for number in numbers:
			wait_for(number)
	equal([job(number, "verdict, score_ns") for number in numbers], [["passed", "NULL"]] * 2)
	equal(sql("SELECT COUNT(*) FROM ranking WHERE user_id = 2"), [["0"]])


@test
def the_secret_seed_is_not_stored():
	leaks = sql(
		"SELECT COUNT(*) FROM leaderboards l JOIN stages t JOIN measurements m ON m.stage_id = "
		"t.id "
		"WHERE LOCATE(l.secret_seed, CONCAT(t.stdout, t.stderr, t.command, m.spec, m.message))"
	)
	equal(leaks, [["0"]])


@test
def progress_is_visible_while_a_job_runs():
	with Worker():
		number = submit(SLOW, "test")
		running(number)
		until(lambda: "test" in job(number, "progress"))
		until(lambda: job(number, "environment") != "NULL")
		sql(f"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE id = {number}")


# ---- several workers ----


@test
def two_workers_take_each_job_once():
	with Worker("first"), Worker("second"):
		numbers = [submit(user=1 + index % 5) for index in range(16)]
		for number in numbers:
			wait_for(number, limit_s=120)
	owners = [job(number, "lease_owner") for number in numbers]
	equal(
		[job(number, "state, verdict, attempt, fence") for number in numbers],
		[["done", "passed", "1", "1"]] * 16,
	)
	equal(set(owners), {"first", "second"})
	for number in numbers:
		equal(sql(f"SELECT COUNT(*) FROM stages WHERE job_id = {number}"), [["3"]])


@test
def two_workers_never_measure_on_one_device_at_the_same_time():
	locks = scratch / "locks"
	locks.mkdir()
	with (
		Worker("first", PODIUM_DEVICE_LOCKS=str(locks)),
		Worker("second", PODIUM_DEVICE_LOCKS=str(locks)),
	):
		numbers = [submit(user=1 + index % 5) for index in range(6)]
		for number in numbers:
			wait_for(number, limit_s=60)
	overlaps = sql(
		"SELECT COUNT(*) FROM jobs a JOIN jobs b ON a.id < b.id AND a.started_at < b.finished_at "
		"AND b.started_at < a.finished_at "
		f"WHERE a.id IN ({','.join(map(str, numbers))}) AND b.id IN ({','.join(map(str, numbers))})"
	)
	equal(overlaps, [["0"]])


# ---- what goes wrong ----


@test
def another_worker_runs_the_job_of_a_killed_one_and_no_process_survives():
	first = Worker("first")
	first.says("is ready")
	number = submit(SLOW, "test")
	running(number)
	first.end(signal.SIGKILL)
	until(lambda: not processes_of(first))
	sql(
		f"UPDATE blobs SET content = {quoted(RIGHT)} WHERE sha256 = UNHEX(SHA2({quoted(SLOW)}, "
		"256))"
	)
	with Worker("second"):
		wait_for(number)
	sql(
		"DELETE FROM jobs WHERE submission_id IN (SELECT id FROM submissions WHERE sha256 = "
		f"UNHEX(SHA2({quoted(SLOW)}, 256)))"
	)
	sql(
		f"UPDATE blobs SET content = {quoted(SLOW)} WHERE sha256 = UNHEX(SHA2({quoted(SLOW)}, 256))"
	)


@test
def a_worker_that_wakes_up_after_its_lease_does_not_overwrite_its_successor():
	first = Worker("first")
	first.says("is ready")
	number = submit(
		"import time\n\ndef custom_kernel(data):\n    time.sleep(1)\n    return data\n", "test"
	)
	running(number)
	first.send(signal.SIGSTOP)
	with Worker("second"):
		wait_for(number)
		result = job(number, "verdict, attempt, fence, lease_owner, finished_at")
		equal(result[:2] + result[3:4], ["passed", "2", "second"])
		first.send(signal.SIGCONT)
		first.says("no longer belongs to this worker")
		time.sleep(2)
	equal(job(number, "verdict, attempt, fence, lease_owner, finished_at"), result)
	equal(sql(f"SELECT COUNT(*) FROM stages WHERE job_id = {number}"), [["2"]])
	equal(first.end(), 0)


@test
def a_job_whose_podium_run_dies_each_time_fails_after_three_attempts():
	runner = scratch / "runner"
	runner.write_text('#!/bin/sh\necho \'{"event": "ready"}\'\nread -r job\nexit 7\n')
	runner.chmod(0o755)
	number = submit(mode="test")
	with Worker(PODIUM_WORKER_RUNNER=str(runner)):
		wait_for(number, "failed", 60)
	verdict, attempt, reason, finished = job(
		number, "verdict, attempt, reason, finished_at IS NOT NULL"
	)
	equal((verdict, attempt, finished), ("internal error", "3", "1"))
	contains(reason, "3 attempts failed")
	contains(reason, "exited with code 7")


@test
def a_missing_podium_run_keeps_jobs_waiting_and_is_reported_once():
	number = submit(mode="test")
	worker = Worker(PODIUM_WORKER_RUNNER=str(scratch / "none"))
	worker.says("Cannot start")
	time.sleep(1.5)
	equal(worker.log.read_text().count("Cannot start"), 1)
	equal(job(number, "state, attempt"), ["queued", "0"])
	equal(worker.end(), 0)
	with Worker():
		wait_for(number)


@test
def a_stopping_worker_gives_its_job_back_without_counting_the_attempt():
	with Worker() as worker:
		number = submit(SLOW, "test")
		running(number)
		begin = time.time()
		equal(worker.end(), 0)
		if time.time() - begin > 10:
			raise AssertionError("it took more than ten seconds to stop")
	equal(job(number, "state, attempt, lease_owner, progress"), ["queued", "0", "NULL", ""])
	equal(sql(f"SELECT COUNT(*) FROM stages WHERE job_id = {number}"), [["0"]])
	equal(processes_of(worker), [])
	sql(f"DELETE FROM jobs WHERE id = {number}")


@test
def a_draining_worker_finishes_its_job_and_takes_no_other():
	ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	ear.bind(str(scratch / "notify"))
	ear.settimeout(30)
	with Worker(
		"patient",
		PODIUM_WORKER_DRAIN_S="60",
		NOTIFY_SOCKET=str(scratch / "notify"),
		WATCHDOG_USEC="3000000",
	) as worker:
		first = submit(SLOW.replace("30", "1"))
		running(first)
		second = submit(SLOW.replace("30", "0.1"))
		equal(worker.end(), 0)
		equal(job(first, "state, verdict, attempt"), ["done", "passed", "1"])
		equal(job(second, "state, attempt"), ["queued", "0"])
	sql(f"DELETE FROM jobs WHERE id = {second}")
	ear.setblocking(False)
	heard = ""
	with contextlib.suppress(BlockingIOError):
		while message := ear.recv(4096).decode():
			heard += message + "\n"
	for word in ("READY=1", "WATCHDOG=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=90000000"):
		contains(heard, word)


@test
def after_the_time_to_drain_or_a_second_signal_the_job_is_queued_again():
	for seconds, signals in (("1", 1), ("60", 2)):
		with Worker(f"hasty-{seconds}", PODIUM_WORKER_DRAIN_S=seconds) as worker:
			number = submit(SLOW)
			running(number)
			for _ in range(signals):
				worker.send(signal.SIGTERM)
				worker.says("takes no new job")
			equal(worker.process.wait(20), 0)
			equal(job(number, "state, attempt"), ["queued", "0"])
		sql(f"DELETE FROM jobs WHERE id = {number}")


@test
def a_cancelled_job_stops_within_seconds_and_the_next_one_runs():
	with Worker() as worker:
		number, following = submit(SLOW, "test"), submit(mode="test")
		running(number)
		sql(f"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE id = {number}")
		wait_for(following, limit_s=10)
		equal(processes_of(worker), [])
	equal(job(number, "state, verdict"), ["cancelled", "cancelled"])


@test
def deleting_a_leaderboard_ends_its_jobs():
	with Worker() as worker:
		number = submit(SLOW, "test")
		running(number)
		sql(
			"DELETE FROM submissions WHERE id = (SELECT submission_id FROM jobs WHERE id = %d)"
			% number
		)
		worker.says("no longer belongs to this worker")
		until(lambda: not processes_of(worker))


@test
def a_database_restart_during_a_job_loses_nothing():
	with Worker(PODIUM_LEASE_MS="60000") as worker:
		number = submit(
			"import time\n\ndef custom_kernel(data):\n    time.sleep(2)\n    return data\n", "test"
		)
		running(number)
		database.stop()
		worker.says("continues meanwhile")
		database.start()
		wait_for(number)
		equal(job(number, "verdict, attempt"), ["passed", "1"])
		contains(worker.log.read_text(), "works again")
		equal(sql(f"SELECT COUNT(*) FROM stages WHERE job_id = {number}"), [["2"]])


@test
def the_worker_bundle_runs_with_its_own_libraries():
	bundle = scratch / "bundle"
	subprocess.run(
		[ROOT / "worker" / "bundle", BUILD, bundle], check=True, stdout=subprocess.DEVNULL
	)
	used = subprocess.run(
		["ldd", bundle / "podium-worker"], capture_output=True, text=True, check=True
	).stdout
	contains(used, f"{bundle}/lib/libmariadb.so")
	with Worker(program=bundle / "podium-worker", PODIUM_PYTHON=""):
		number = submit()
		wait_for(number)
	equal(job(number, "verdict"), "passed")


@test
def no_job_folder_is_left_behind():
	equal(
		[
			str(path)
			for path in scratch.glob("jobs-*/*")
			if path.suffix != ".lock" and "podium" not in path.name
		],
		[],
	)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
