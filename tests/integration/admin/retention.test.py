#!/usr/bin/env python3
"""What podium-admin prune removes, and what it keeps at any age."""

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from mariadb import MariaDB  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402

PROGRAM = ROOT / os.environ.get("B", "build/release") / "podium-admin"
server = MariaDB()
sql = server.sql
AGES = {
	"PODIUM_RETAIN_SAMPLES_DAYS": "100",
	"PODIUM_RETAIN_LOGS_DAYS": "200",
	"PODIUM_RETAIN_ARTIFACTS_DAYS": "50",
	"PODIUM_RETAIN_AUDIT_DAYS": "300",
}
FOR_EVER = {name: "0" for name in (*AGES, "PODIUM_RETAIN_DELIVERIES_DAYS")}
JOBS = 120  # one finished every fifth day


def admin(*words, **settings):
	answer = subprocess.run(
		[PROGRAM, *words], capture_output=True, text=True, env={**server.environment, **settings}
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	return answer.stdout


def prune(*words, **settings):
	"""Runs podium-admin prune. Returns {kind: the count that it prints}."""
	return {
		kind: int(count)
		for count, kind in re.findall(
			r"^ *(\d+) (.+?)(?: deleted)?$", admin("prune", *words, **settings), re.M
		)
	}


def count(condition, column="COUNT(*)"):
	return int(sql(f"SELECT {column} FROM {condition}")[0][0])


def prepare():
	admin("migrate")
	sql(f"""
	INSERT INTO users (id, name, password_hash) VALUES (1, 'ada', '!');
	INSERT INTO blobs (sha256, size, content) SELECT UNHEX(SHA2(seq, 256)), 1, seq
		FROM seq_1_to_{JOBS + 4};
	INSERT INTO leaderboards (id, name, secret_seed) VALUES (1, 'small', 1);
	INSERT INTO task_versions (id, leaderboard_id, number, language, description, definition)
		VALUES (1, 1, 1, 'py', '', '');
	INSERT INTO task_files (task_version_id, path, role, sha256)
		VALUES (1, 'eval.py', 'file', UNHEX(SHA2({JOBS + 1}, 256)));
	INSERT INTO submissions (id, leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
	  SELECT seq, 1, 1, 1, 'a.py', UNHEX(SHA2(seq, 256)), 'ranked' FROM seq_1_to_{JOBS};
	-- Two jobs finish at each moment.
	INSERT INTO jobs (id, submission_id, user_id, gpu, state, verdict, score_ns, finished_at)
	  SELECT seq, seq, 1, 'H200', 'done', 'passed', seq, UTC_TIMESTAMP(3) - INTERVAL (seq DIV 2) *
	      10 + 1 DAY FROM seq_1_to_{JOBS};
	INSERT INTO stages (id, job_id, position, name, verdict, message, command, stdout, stderr,
		kernels)
	  SELECT seq * 2 + p.n, seq, p.n, IF(p.n, 'ranked', 'test'), 'passed', 'fine',
	      'python3 eval.py', IF(p.n, 'printed', ''), IF(seq % 2, 'warned', ''), '[]'
	  FROM seq_1_to_{JOBS} JOIN (SELECT 0 AS n UNION SELECT 1) p;
	INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, low_ns,
		high_ns, samples, report)
	  SELECT t.id, c.seq, 'size: 1', 'passed', 'a note', 100, 5.5, 5, 6,
	      IF(t.position, REPEAT('abcd', 100), NULL), IF(t.job_id % 3, NULL, 'report')
	  FROM stages t JOIN seq_0_to_2 c;
	INSERT INTO artifacts (id, stage_id, name, size) SELECT id, id, 'profile-1.ncu-rep', 3
		FROM stages WHERE position = 1 AND job_id % 3 = 0;
	INSERT INTO artifact_parts (artifact_id, part, content) SELECT id, 0, 'xyz' FROM artifacts;
	INSERT INTO plan_blobs (sha256, size, packed, checksum, seen_at)
		SELECT UNHEX(SHA2(seq, 256)), 1, 1, 1, UTC_TIMESTAMP(3) - INTERVAL 2 DAY
		FROM seq_0_to_{JOBS} WHERE seq % 2 = 0;
	INSERT INTO plan_blobs (sha256, size, packed, checksum, seen_at)
		VALUES (UNHEX(SHA2('new', 256)), 1, 1, 1, UTC_TIMESTAMP(3));
	INSERT INTO plan_blob_parts (sha256, part, content) SELECT sha256, 0, 'x' FROM plan_blobs;
	-- Every second job has a plan with a blob of its own and the shared blob 0.
	INSERT INTO plans (id, stage_id, case_index, sha256, size, nodes)
		SELECT job_id, id, 0, UNHEX(SHA2(job_id, 256)), 1, '[]' FROM stages
		WHERE position = 0 AND job_id % 2 = 0;
	INSERT INTO plan_uses (plan_id, sha256)
		SELECT id, sha256 FROM plans UNION SELECT id, UNHEX(SHA2(0, 256)) FROM plans;
	INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id,
		score_ns, submitted_at, position, place)
	  VALUES (1, 1, 'H200', 1, {JOBS}, {JOBS}, 1, UTC_TIMESTAMP(3), 1, 1);
	INSERT INTO audit_log (at, actor, address, action, subject, detail)
		SELECT UTC_TIMESTAMP(3) - INTERVAL seq DAY, 'ada', '', 'a', 'b', '' FROM seq_1_to_3300;
	INSERT INTO webhook_events (id, event, data, at) SELECT seq, 'job', '{{}}',
		UTC_TIMESTAMP(3) - INTERVAL seq HOUR FROM seq_1_to_1000;
	INSERT INTO webhook_deliveries (webhook_id, event_id) SELECT h.seq, e.id FROM webhook_events e
		JOIN seq_1_to_3 h;
	INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at)
		SELECT UNHEX(SHA2(seq, 256)), 1, '', '', UTC_TIMESTAMP(3) - INTERVAL CAST(seq AS SIGNED) - 3
		DAY FROM seq_1_to_9;
	INSERT INTO uploads (creator_id, file_name, content, expires_at)
		VALUES (1, 'a', 'b', UTC_TIMESTAMP(3) - INTERVAL 2 DAY), (1, 'a', 'b', UTC_TIMESTAMP(3));
	INSERT INTO api_requests (window_start, subject, hits)
		VALUES (1, 'x', 1), (UNIX_TIMESTAMP() DIV 60, 'x', 1);
	INSERT INTO idempotency_keys (user_id, name, request_hash, created_at)
		VALUES (1, 'old', REPEAT('x', 32), UTC_TIMESTAMP(3) - INTERVAL 2 DAY),
		(1, 'new', REPEAT('x', 32), UTC_TIMESTAMP(3));
	""")


KEPT = (
	"SELECT * FROM ranking",
	"SELECT * FROM users",
	"SELECT HEX(sha256), content FROM blobs JOIN submissions USING (sha256)",
	"SELECT stage_id, case_index, spec, verdict, message, runs, mean_ns, low_ns, high_ns FROM "
	"measurements",
	"SELECT id, job_id, name, verdict, message, command, kernels FROM stages",
	"SELECT id, state, verdict, score_ns, finished_at FROM jobs",
)


@test
def a_period_of_zero_keeps_everything():
	before = [sql(question) for question in KEPT]
	removed = prune(**FOR_EVER)
	equal(
		{
			kind
			for kind in removed
			if "samples" in kind
			or "logs" in kind
			or "artifacts" in kind
			or kind == "plans"
			or "webhooks" in kind
			or "audit" in kind
		},
		set(),
	)
	equal(
		(
			count("measurements WHERE samples IS NOT NULL"),
			count("stages WHERE stdout <> ''"),
			count("artifacts"),
			count("audit_log"),
			count("webhook_events"),
		),
		(3 * JOBS, JOBS, JOBS // 3, 3300, 1000),
	)
	equal([sql(question) for question in KEPT], before)


@test
def unreferenced_rows_were_removed_too():
	equal(
		(count("sessions"), count("uploads"), count("api_requests"), count("idempotency_keys")),
		(3, 1, 1, 1),
	)
	# Of 124 contents, 120 are sources and one is a file of the task. Nothing uses the other three.
	equal(count("blobs"), JOBS + 1)


@test
def a_dry_run_removes_nothing_and_reports_what_it_would_remove():
	global announced
	announced = prune("--dry-run", **AGES)
	equal(
		(
			announced["samples of cases"] > 0,
			announced["logs of stages"] > 0,
			announced["artifacts"] > 0,
			announced["plans"] > 0,
		),
		(True, True, True, True),
	)
	equal((count("measurements WHERE samples IS NOT NULL"), count("audit_log")), (3 * JOBS, 3300))
	contains(admin("prune", "--dry-run", **FOR_EVER), "- logs of stages: never deleted")


@test
def several_prunes_at_once_remove_what_one_would():
	before = [sql(question) for question in KEPT]
	several = [
		subprocess.Popen(
			[PROGRAM, "prune"],
			stdout=subprocess.PIPE,
			stderr=subprocess.PIPE,
			text=True,
			env={**server.environment, **AGES},
		)
		for _ in range(4)
	]
	told = [one.communicate(timeout=60) for one in several]
	equal([(one.returncode, said[1]) for one, said in zip(several, told)], [(0, "")] * 4)
	sums = {}
	for said, _ in told:
		for number, kind in re.findall(r"^ *(\d+) (.+) deleted$", said, re.M):
			sums[kind] = sums.get(kind, 0) + int(number)
	# The number of deleted rows includes deliveries, while the announced number counts only events.
	del sums["events of webhooks"]
	# No blob is without a plan before plans are deleted.
	equal((sums.pop("blobs without a plan"), announced["blobs without a plan"]), (56, 0))
	equal(
		sums,
		{
			kind: number
			for kind, number in announced.items()
			if number and kind != "events of webhooks"
		},
	)
	equal([sql(question) for question in KEPT], before)
	for what, days, column in (
		("samples IS NOT NULL", 100, "m.samples"),
		("report IS NOT NULL", 50, "m.report"),
	):
		kept = "measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id"
		equal(
			count(
				f"{kept} WHERE m.{what} AND j.finished_at < UTC_TIMESTAMP(3) - INTERVAL {days} DAY"
			),
			0,
		)
		equal(count(f"{kept} WHERE m.{what}") > 0, True)
	equal(
		count(
			"stages t JOIN jobs j ON j.id = t.job_id WHERE (t.stdout <> '' OR t.stderr <> '') AND "
			"j.finished_at < UTC_TIMESTAMP(3) - INTERVAL 200 DAY"
		),
		0,
	)
	equal(
		count(
			"stages t JOIN jobs j ON j.id = t.job_id WHERE t.stdout = '' AND t.position = 1 AND "
			"j.finished_at > UTC_TIMESTAMP(3) - INTERVAL 200 DAY"
		),
		0,
	)
	equal(
		(
			count("audit_log"),
			count("artifacts") == count("artifact_parts"),
			count("webhook_events"),
			count("webhook_deliveries"),
		),
		(299, True, 719, 3 * 719),
	)


@test
def plans_go_with_artifacts_and_blobs_with_their_last_plan():
	old = "FROM plans p JOIN stages t ON t.id = p.stage_id JOIN jobs j ON j.id = t.job_id"
	old += " WHERE j.finished_at < UTC_TIMESTAMP(3) - INTERVAL 50 DAY"
	equal(sql(f"SELECT COUNT(*) {old}"), [["0"]])
	equal(count("plan_uses"), 2 * count("plans"))
	# those of the plans that are left, the shared one, and one that came a moment ago
	blobs = "SELECT HEX(sha256) FROM plans UNION SELECT UPPER(SHA2(0, 256))"
	blobs += " UNION SELECT UPPER(SHA2('new', 256))"
	equal(sql("SELECT HEX(sha256) FROM plan_blobs ORDER BY 1"), sql(f"{blobs} ORDER BY 1"))
	equal(count("plan_blob_parts"), count("plan_blobs"))
	equal(
		sql(
			"SELECT DISTINCT t.job_id % 2, t.artifacts_days FROM stages t JOIN jobs j "
			"ON j.id = t.job_id WHERE t.position = 0 AND t.job_id % 3 "
			"AND j.finished_at < UTC_TIMESTAMP(3) - INTERVAL 50 DAY ORDER BY 1"
		),
		[["0", "50"], ["1", "NULL"]],
	)


@test
def each_stage_records_what_was_removed_from_it():
	old = (
		"stages t JOIN jobs j ON j.id = t.job_id WHERE j.finished_at < UTC_TIMESTAMP(3) "
		"- INTERVAL 200 DAY AND t.position = "
	)
	equal(sql(f"SELECT DISTINCT t.output_days, t.samples_days FROM {old} 1"), [["200", "100"]])
	# The first stage never has samples, and only every second job printed something in that stage.
	equal(
		sql(f"SELECT DISTINCT t.job_id % 2, t.output_days, t.samples_days FROM {old} 0 ORDER BY 1"),
		[["0", "NULL", "NULL"], ["1", "200", "NULL"]],
	)
	equal(
		sql(f"SELECT DISTINCT t.job_id % 3 = 0, t.artifacts_days FROM {old} 1 ORDER BY 1"),
		[["0", "NULL"], ["1", "50"]],
	)
	equal(
		count(
			"stages t JOIN jobs j ON j.id = t.job_id WHERE j.finished_at > UTC_TIMESTAMP(3) - "
			"INTERVAL 50 DAY AND COALESCE(output_days, samples_days, artifacts_days) IS NOT NULL"
		),
		0,
	)


@test
def a_second_prune_starts_where_the_first_ended():
	equal({kind: number for kind, number in prune(**AGES).items() if number}, {})
	sql("SET GLOBAL general_log = ON")
	log = pathlib.Path(*sql("SELECT CONCAT(@@datadir, @@general_log_file)")[0])
	begin = log.stat().st_size
	admin("prune", **AGES)
	sql("SET GLOBAL general_log = OFF")
	equal(
		re.findall(
			r"Execute\s+UPDATE (?:stages|measurements)[^\n]*",
			log.read_text(errors="replace")[begin:],
		),
		[],
	)
	plan = sql(
		"EXPLAIN SELECT finished_at, id FROM jobs FORCE INDEX (jobs_finished) WHERE finished_at "
		">= '2020-01-01' AND (finished_at > '2020-01-01' OR id > 5) "
		"AND finished_at < UTC_TIMESTAMP(3) - INTERVAL 5 DAY ORDER BY finished_at, id LIMIT 20"
	)[0]
	equal((plan[3], plan[5], "filesort" in plan[-1]), ("range", "jobs_finished", False))


@test
def a_killed_prune_is_resumed():
	sql(
		"UPDATE prunings SET finished_at = '1970-01-01', job_id = 0; UPDATE stages SET stdout = "
		"'again'; "
		"INSERT INTO audit_log (at, actor, address, action, subject, detail) SELECT '2001-01-01', "
		"'x', '', 'a', 'b', '' FROM seq_1_to_30000"
	)
	one = subprocess.Popen(
		[PROGRAM, "prune"], stdout=subprocess.DEVNULL, env={**server.environment, **AGES}
	)
	while count("audit_log") > 25000 and one.poll() is None:
		time.sleep(0.01)
	one.kill()
	one.wait()
	admin("prune", **AGES)
	equal(
		(
			count("audit_log"),
			count(
				"stages t JOIN jobs j ON j.id = t.job_id WHERE t.stdout <> '' AND j.finished_at < "
				"UTC_TIMESTAMP(3) - INTERVAL 200 DAY"
			),
		),
		(299, 0),
	)


@test
def a_content_that_is_being_stored_again_stays():
	sql(
		"INSERT INTO blobs (sha256, size, content) VALUES (UNHEX(SHA2('wanted', 256)), 1, 'w'), "
		"(UNHEX(SHA2('unwanted', 256)), 1, 'u')"
	)
	uploading = subprocess.Popen(
		["mariadb", "--no-defaults", "-S", server.socket, "-N", "--unbuffered", "podium"],
		stdin=subprocess.PIPE,
		stdout=subprocess.PIPE,
		text=True,
	)
	uploading.stdin.write(
		"SET tx_isolation = 'READ-COMMITTED'; BEGIN; INSERT IGNORE INTO blobs (sha256, size, "
		"content) VALUES (UNHEX(SHA2('wanted', 256)), 1, 'w'); SELECT 'stored';\n"
	)
	uploading.stdin.flush()
	equal(uploading.stdout.readline(), "stored\n")
	equal(prune(**AGES).get("contents without a reference"), 1)
	uploading.stdin.write(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) VALUES (1, 1, 1, 'a.py', UNHEX(SHA2('wanted', 256)), 'test'); COMMIT; SELECT "
		"'sent';\n"
	)
	uploading.stdin.flush()
	equal(uploading.stdout.readline(), "sent\n")
	uploading.communicate()
	equal(prune(**AGES).get("contents without a reference"), None)
	equal(
		sql(
			"SELECT content FROM blobs WHERE sha256 IN (UNHEX(SHA2('wanted', 256)), "
			"UNHEX(SHA2('unwanted', 256)))"
		),
		[["w"]],
	)


@test
def the_docs_say_for_every_table_whether_it_grows():
	named = set(
		re.findall(
			r"`(\w+)`",
			"".join(
				re.findall(
					r"^\| (.+?) \|",
					(ROOT / "docs" / "retention.md").read_text().split("## Every table")[1],
					re.M,
				)
			),
		)
	)
	equal(named, {row[0] for row in sql("SHOW FULL TABLES WHERE table_type = 'BASE TABLE'")})


try:
	prepare()
	code = run()
finally:
	server.remove()
sys.exit(code)
