#!/usr/bin/env python3
"""`make bench-claims`: the cost of a claim with 100,000 queued jobs. The result is a ratio to a
plain claim, which takes the oldest job without asking whose turn it is. The two kinds of claims
alternate in rounds.

	tests/bench/claims.py [THREADS [CLAIMS]]      default: 64 claimers with 4 claims each
	JOBS (100000), ROUNDS (3), JOB_S (6)

The queue has 100 jobs of each of 1,000 users. The program measures one claimer, many claimers that
claim again immediately, and many whose jobs take JOB_S (6) seconds. Finally it puts a flood at the
head of the queue: 6,400 jobs of 64 users who already have a running job.
"""

import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from workers import BUILD, admin, close, database, load_task, sql, submit  # noqa: E402

PROGRAM = BUILD / "tests" / "integration" / "worker" / "test_claims"

JOBS, ROUNDS, JOB_S = (
	int(os.environ.get(name, usual))
	for name, usual in (("JOBS", 100000), ("ROUNDS", 3), ("JOB_S", 6))
)


def fill(flooded):
	"""Queues the jobs of 1,000 users in turn. With `flooded`, the first 6,400 belong to 64
	users who have a running job."""
	sql(
		"DELETE FROM jobs; DELETE FROM submissions; INSERT IGNORE INTO users (id, name, "
		"password_hash) SELECT 1000 + seq, CONCAT('many-', seq), '' FROM seq_1_to_1000;"
		"SET @l = (SELECT id FROM leaderboards LIMIT 1), @v = (SELECT task_version_id FROM "
		"leaderboards LIMIT 1), @b = (SELECT sha256 FROM blobs LIMIT 1);"
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) "
		f"SELECT @l, @v, IF({int(flooded)} AND seq <= 6464, 1001 + seq % 64, 1001 + seq % 1000), "
		f"'a.py', @b, 'ranked' FROM seq_1_to_{JOBS};"
		"INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, 'CPU' FROM "
		"submissions ORDER BY id; ANALYZE TABLE jobs"
	)
	if flooded:
		claims("fair", 1, 64)


def claims(how, threads, count, pause_ms=0):
	"""Returns the milliseconds that each claim took."""
	answer = subprocess.run(
		[PROGRAM, "time", str(threads), str(count), "one", "CPU", how, str(pause_ms)],
		env=database.environment,
		capture_output=True,
		text=True,
		check=True,
	)
	return sorted(
		int(line.split()[1]) / 1000 for line in answer.stdout.splitlines() if line != "none"
	)


def end_all():
	"""Ends all jobs except those of the flood's users."""
	sql("UPDATE jobs SET state = 'done' WHERE state = 'running' AND user_id > 1064")


def compare(title, threads, count, pause_ms=0):
	for _ in range(ROUNDS):
		fair = claims("fair", threads, count, pause_ms)
		end_all()
		plain = claims("plain", threads, count, pause_ms)
		end_all()
		middle = [statistics.median(times) for times in (fair, plain)]
		late = [times[int(len(times) * 0.99)] for times in (fair, plain)]
		print(
			f"{title}: in turn {middle[0]:.2f} ms (p99 {late[0]:.2f}), oldest first "
			f"{middle[1]:.2f} ms (p99 {late[1]:.2f}): "
			f"{middle[0] / middle[1]:.2f}",
			flush=True,
		)


def main(threads=64, count=4):
	admin("migrate")
	load_task()
	submit()
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('one', '0', '{}', "
		"UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))"
	)
	fill(False)
	compare("one claimer", 1, 25 * count)
	fill(False)
	compare(f"{threads} claimers", threads, count)
	fill(False)
	compare(f"{threads} claimers with jobs of {JOB_S} s", threads, count, 1000 * JOB_S)
	fill(True)
	compare("one claimer behind a flood", 1, 12 * count)


try:
	main(*map(int, sys.argv[1:]))
finally:
	close()
