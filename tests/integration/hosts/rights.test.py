#!/usr/bin/env python3
"""The rights of a worker host's database user: they suffice for the host's work and allow nothing
else. podium-web runs too, because it finishes the host's jobs."""

import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import mariadb  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402
from hosts import database, make_host, settings_of, start_host  # noqa: E402
from plans import blob_events, event_file, kernel, plan_events, plan_text  # noqa: E402
from pretend import pretend_runner  # noqa: E402
from workers import (
	BUILD,
	SLOW,
	Worker,
	admin,
	close,
	job,
	load_task,
	running,
	scratch,
	sql,
	submit,
	until,
	wait_for,
)  # noqa: E402

hosts = {}
web = host = None


def start_web():
	global web
	web = subprocess.Popen(
		[BUILD / "podium-web"],
		env={**database.environment, "PODIUM_FASTCGI_SOCKET": str(scratch / "web.sock")},
		stdin=subprocess.DEVNULL,
		stderr=open(scratch / "web.log", "ab"),
		start_new_session=True,
	)
	until(lambda: (scratch / "web.sock").exists())


def stop_web():
	web.terminate()
	equal(web.wait(30), 0)


def host_worker(name="host", **settings):
	"""Starts a podium-worker with only the settings of its registration."""
	return start_host(name, hosts.get(name) or hosts.setdefault(name, make_host(name)), **settings)


def tries(statements, name="host"):
	"""Runs the statements as the host's user. Returns the rows and the errors."""
	return database.client_as(settings_of(hosts[name]), statements, force=True)


def refuses(statements, name="host"):
	out, errors = tries(statements, name)
	equal(out, "")
	count = len([one for one in statements.split(";\n") if one.strip()])
	equal(len(re.findall(r"^ERROR ", errors, re.MULTILINE)), count)
	return errors


# ---- what a host's work needs ----


@test
def a_host_with_these_rights_alone_runs_jobs_and_they_are_ranked():
	global host
	start_web()
	host = host_worker()
	host.says("is ready")
	first, second = (
		submit(user=1),
		submit("def custom_kernel(data):\n    return data + 0\n", user=2),
	)
	for number in (first, second):
		wait_for(number)
		equal(job(number, "verdict, attempt, lease_owner"), ["passed", "1", "host"])
	equal(
		sql("SELECT job_id, position FROM ranking ORDER BY position"),
		[[str(first), "1"], [str(second), "2"]],
	)
	assert sql(
		"SELECT COUNT(*) FROM measurements m JOIN stages t ON t.id = m.stage_id WHERE t.job_id = "
		f"{first}"
	) != [["0"]]
	equal(job(first, "environment IS NULL, score_ns"), ["0", "2000000"])
	equal(sql("SELECT COUNT(*) FROM endings"), [["0"]])
	lacks(host.log.read_text(), "denied")


@test
def a_host_stores_plans_and_sees_no_content_of_a_blob():
	admin("worker", "pause", "host")
	figures = {"runs": 1, "mean_ns": 1.0, "std_ns": 1.0, "err_ns": 1.0, "best_ns": 1.0}
	told = {
		"cases": [{**figures, "worst_ns": 1.0}],
		"events": event_file(
			scratch,
			*plan_events(plan_text([kernel("k")], [b"from a host"])),
			*blob_events(b"from a host"),
		),
	}
	with host_worker("planner", **pretend_runner(scratch / "runner", BUILD / "podium-run")):
		for _ in range(2):  # the second time, the database has the blobs
			number = submit("# " + json.dumps(told), user=3)
			wait_for(number)
			sql("UPDATE plan_blobs SET seen_at = '2020-01-01'")
	equal(sql("SELECT COUNT(*) FROM plans"), [["2"]])
	equal(
		sql(
			"SELECT b.size FROM plan_blobs b JOIN plan_blob_parts p ON p.sha256 = b.sha256 "
			"WHERE b.sha256 = UNHEX(SHA2('from a host', 256))"
		),
		[["11"]],
	)
	refuses(
		"SELECT content FROM plan_blob_parts;\n"
		"UPDATE plan_blob_parts SET content = 'x';\n"
		"REPLACE INTO plan_blob_parts SELECT sha256, 0, 'x' FROM plan_blobs;\n"
		"INSERT INTO plan_blob_parts SELECT sha256, 0, 'x' FROM plan_blobs;\n"
		"DELETE FROM plan_blobs;\n"
		"UPDATE plan_blobs SET size = 1;\n"
		"UPDATE plans SET nodes = '[]';\n"
		"INSERT INTO plan_uses VALUES (1, REPEAT('x', 32)), (2, REPEAT('x', 32));\n",
		"planner",
	)
	# the plans of jobs that have ended
	equal(tries("SELECT COUNT(*) FROM plans", "planner")[0].split(), ["0"])
	sql("DELETE FROM submissions WHERE user_id = 3")
	admin("worker", "resume", "host")


@test
def a_host_stops_a_job_that_was_paused_or_cancelled():
	number = submit(SLOW)
	running(number)
	admin("worker", "pause", "host")
	until(lambda: job(number) == "queued")
	admin("worker", "resume", "host")
	running(number)
	sql(f"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE id = {number}")
	until(lambda: job(number, "lease_expires IS NULL") == "1")


@test
def a_result_waits_for_podium_web_and_no_one_takes_the_job_meanwhile():
	stop_web()
	with Worker("bystander", PODIUM_LEASE_MS="1000", PODIUM_WORKER_RUNNER="/bin/true") as bystander:
		admin("worker", "drain", "bystander")
		number = submit()
		until(lambda: sql("SELECT COUNT(*) FROM endings") == [["1"]])
		sql(
			"UPDATE jobs SET lease_expires = UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE WHERE id = "
			f"{number}"
		)
		((moment,),) = sql("SELECT UTC_TIMESTAMP(3)")
		# After 2 s the bystander has looked for expired leases several times.
		until(
			lambda: sql(
				f"SELECT seen_at > '{moment}' + INTERVAL 2 SECOND FROM workers "
				"WHERE name = 'bystander'"
			)
			== [["1"]]
		)
		equal(job(number, "state, attempt"), ["running", "1"])
		start_web()
		wait_for(number)
		equal(job(number, "verdict, attempt, lease_owner"), ["passed", "1", "host"])
		lacks(bystander.log.read_text(), "stopped answering")


@test
def a_job_that_the_host_cannot_run_is_retried_and_finally_fails():
	definition = sql("SELECT HEX(definition) FROM task_versions")[0][0]
	sql("UPDATE task_versions SET definition = '{}'")
	number = submit()
	wait_for(number, "failed", limit_s=60)
	contains(job(number, "reason"), "All 3 attempts failed.")
	sql(f"UPDATE task_versions SET definition = UNHEX('{definition}')")


@test
def a_stopping_host_gives_its_job_back():
	number = submit(SLOW)
	running(number)
	equal(host.end(), 0)
	until(lambda: job(number) == "queued")
	equal(job(number, "attempt"), "0")
	equal(sql(f"SELECT COUNT(*) FROM stages WHERE job_id = {number}"), [["0"]])
	sql(f"DELETE FROM submissions WHERE id = (SELECT submission_id FROM jobs WHERE id = {number})")


@test
def a_job_that_loses_gpus_moves_to_others_and_fails_at_the_third():
	number = submit()
	for lost in (1, 2, 3):
		sql(
			"UPDATE jobs SET state = 'running', fence = fence + 1, attempt = 1, lease_owner = "
			f"'host' WHERE id = {number};"
			"INSERT INTO endings (job_id, fence, kind, reason) SELECT id, fence, 'loss', 'the "
			f"GPU has fallen off the bus.' FROM jobs WHERE id = {number}"
		)
		until(lambda: job(number) != "running")
		equal(
			job(number, "state, lost_gpus, attempt"),
			["queued" if lost < 3 else "failed", str(lost), "0" if lost < 3 else "1"],
		)
	contains(job(number, "reason"), "GPUs stopped working 3 times")


@test
def a_result_for_an_expired_claim_is_ignored():
	number = submit()
	sql(
		"UPDATE jobs SET state = 'running', fence = 7, lease_owner = 'host', attempt = 1, "
		f"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE id = {number};"
		"INSERT INTO endings (job_id, fence, kind, reason, verdict, score_ns, engine) VALUES "
		f"({number}, 6, 'verdict', '', 'passed', 1, 'custom')"
	)
	until(lambda: sql("SELECT COUNT(*) FROM endings") == [["0"]])
	equal(job(number, "state, fence"), ["running", "7"])


@test
def an_impossible_verdict_is_an_internal_error():
	number = int(sql("SELECT id FROM jobs WHERE state = 'running'")[0][0])
	for score in ("-5", "0", "NULL"):
		verdict = "NULL" if score == "NULL" else "'passed'"
		sql(
			f"UPDATE jobs SET state = 'running', fence = 7, attempt = 1 WHERE id = {number};"
			"INSERT INTO endings (job_id, fence, kind, reason, verdict, score_ns, engine, "
			f"handed_in_at) VALUES ({number}, 7, 'verdict', '', {verdict}, {score}, 'custom', "
			"UTC_TIMESTAMP(3) - INTERVAL 31 SECOND)"
		)
		until(lambda: job(number) == "queued")
		contains(job(number, "reason"), "could not be stored")
	sql(f"DELETE FROM submissions WHERE id = (SELECT submission_id FROM jobs WHERE id = {number})")


# ---- what a host may not do ----


def world():
	"""Makes two running jobs, of which one is the host's, a queued job and a ranked one, with
	everything that the host must not see. Returns the jobs' numbers."""
	sql(
		"DELETE FROM submissions; DELETE FROM ranking; INSERT IGNORE INTO users (id, name, "
		"password_hash) VALUES (50, 'victim', 'the-hash'), (51, 'rival', 'x')"
	)
	mine, other, waiting = (
		submit("mine = 1\n", user=51),
		submit("secret_source = 42\n", user=50),
		submit("waiting_source = 43\n", user=50),
	)
	for number, owner in ((mine, "host"), (other, "elsewhere")):
		sql(
			f"UPDATE jobs SET state = 'running', fence = 3, attempt = 1, lease_owner = '{owner}', "
			"lease_device = 'GPU-9', "
			f"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE id = {number};"
			"INSERT INTO stages (job_id, position, name, command, message, stdout, stderr) "
			f"VALUES ({number}, 0, 'test', '', '', 'said', '');"
			"INSERT INTO measurements (stage_id, case_index, spec, verdict, message) VALUES "
			"(LAST_INSERT_ID(), 0, 'seed: 1', 'passed', '');"
		)
	ranked = submit("ranked_source = 44\n", user=50)
	sql(
		"UPDATE jobs SET state = 'done', verdict = 'passed', score_ns = 100, lease_owner = "
		f"'host', finished_at = UTC_TIMESTAMP(3) WHERE id = {ranked}"
	)
	admin("ranking", "rebuild")
	equal(sql("SELECT user_id, score_ns, position FROM ranking"), [["50", "100", "1"]])
	return mine, other, waiting, ranked


def everything():
	"""Checksums of the tables that the host's attempts must not change."""
	return mariadb.checksums(
		sql,
		"ranking records users jobs stages measurements submissions workers gpus worker_accounts "
		"compatibility pauses endings audit_log schema_migrations".split(),
	)


@test
def a_host_cannot_read_passwords_sessions_tokens_or_other_data_of_the_site():
	tables = [row[0] for row in sql("SHOW FULL TABLES")]
	assert len(tables) > 40, tables
	errors = refuses("".join(f"SELECT * FROM podium.{table} LIMIT 1;\n" for table in tables))
	equal(errors.count("denied"), len(tables))
	refuses(
		"SELECT password_hash FROM podium.users;\nSELECT token_hash FROM podium.sessions;\nSELECT "
		"token_hash FROM podium.api_tokens;\n"
		"SELECT * FROM users;\nSELECT * FROM worker_self;\nSELECT * FROM "
		"mysql.global_priv;\nSELECT * FROM mysql.user;\nSHOW GRANTS FOR root@localhost;\n"
		"SHOW CREATE VIEW jobs;\nSHOW CREATE VIEW worker_self;\nSELECT LOAD_FILE('/etc/passwd') "
		"FROM jobs INTO OUTFILE '/tmp/podium-rights';\n"
	)
	out, _ = tries(
		"SHOW DATABASES; SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "
		"'podium'; SELECT COUNT(*) FROM information_schema.processlist "
		"WHERE user <> SUBSTRING_INDEX(USER(), '@', 1)"
	)
	equal(out.split(), ["information_schema", "podium_worker", "0", "0"])


@test
def a_host_cannot_change_rankings_or_other_tables():
	world()
	before = everything()
	errors = refuses(
		"UPDATE podium.ranking SET score_ns = 1;\nDELETE FROM podium.ranking;\nINSERT INTO "
		"podium.ranking SELECT * FROM podium.ranking;\n"
		"UPDATE ranking SET score_ns = 1;\nUPDATE podium.records SET score_ns = 1;\nUPDATE "
		"podium.users SET role = 'admin';\n"
		"INSERT INTO podium.sessions (token_hash, user_id, address, user_agent, expires_at) "
		"VALUES (REPEAT('x', 32), 1, '', '', NOW());\n"
		"DELETE FROM podium.jobs;\nUPDATE podium.jobs SET score_ns = 1;\nDROP VIEW jobs;\nCREATE "
		"TABLE mine (a INT);\nALTER TABLE podium.jobs ADD x INT;\n"
		"DROP DATABASE podium;\nCREATE USER mallory;\nGRANT ALL ON podium.* TO "
		"podium_worker;\nSET GLOBAL general_log = 1;\nCREATE OR REPLACE VIEW jobs AS SELECT 1;\n"
		"DELETE FROM pauses;\nUPDATE compatibility SET oldest_program = 0;\nUPDATE "
		"schema_migrations SET version = 1;\nUPDATE worker_accounts SET name = 'x';\n"
		"SET ROLE NONE; SELECT * FROM jobs;\n"
	)
	assert errors.count("denied") >= 18, errors
	equal(everything(), before)


@test
def a_host_reads_and_writes_only_its_own_running_jobs():
	mine, other, waiting, ranked = world()
	out, _ = tries(
		"SELECT id FROM jobs; SELECT job_id FROM assignments; SELECT job_id FROM stages; SELECT "
		"COUNT(*) FROM measurements; SELECT DISTINCT job_id FROM assignment_files"
	)
	equal(out.split(), [str(mine), str(mine), str(mine), "1", str(mine)])
	equal(
		tries(
			f"SELECT source FROM assignments WHERE job_id IN ({mine}, {other}, {waiting}, {ranked})"
		)[0],
		"mine = 1\\n\n",
	)
	equal(
		tries(
			"SELECT COUNT(*) FROM assignments WHERE sha256 = UNHEX(SHA2('secret_source = "
			"42\\n', 256))"
		)[0],
		"0\n",
	)
	before = everything()
	for number in (other, waiting, ranked):
		equal(
			tries(
				f"UPDATE jobs SET progress = 'mine' WHERE id = {number}; DELETE FROM stages WHERE "
				f"job_id = {number}; UPDATE stages SET stdout = 'x' WHERE job_id = {number};"
				"UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.ratio = 2 WHERE "
				f"t.job_id = {number}"
			)[0],
			"",
		)
		refuses(
			"INSERT INTO stages (job_id, position, name, command, message, stdout, stderr) "
			f"VALUES ({number}, 9, 'test', '', '', '', '');\n"
			f"INSERT INTO endings (job_id, fence, kind, verdict, score_ns) VALUES ({number}, 3, "
			"'verdict', 'passed', 1);\n"
			f"INSERT INTO endings (job_id, fence, kind) VALUES ({number}, 4, 'release');\n"
		)
	equal(everything(), before)
	tries(f"UPDATE jobs SET progress = 'test 1/2' WHERE id = {mine}")
	equal(job(mine, "progress"), "test 1/2")


@test
def a_host_reads_the_files_of_open_cuda_tasks_for_its_devices_alone():
	seen = "SELECT COUNT(*) FROM kits; SELECT COUNT(*) FROM kit_files"
	equal(tries(seen)[0].split(), ["0", "0"])  # the task is in Python
	sql("UPDATE task_versions SET language = 'cu'; UPDATE task_engines SET engine = 'isolated'")
	equal(tries(seen)[0].split(), ["1", "2"])
	equal(tries(seen, "planner")[0].split(), ["1", "2"])
	for hides, shows in (
		("leaderboards SET visibility = 'hidden'", "leaderboards SET visibility = 'public'"),
		("leaderboards SET accepting = FALSE", "leaderboards SET accepting = TRUE"),
		("leaderboard_gpus SET gpu = 'H100'", "leaderboard_gpus SET gpu = 'CPU'"),
		("task_engines SET engine = 'custom'", "task_engines SET engine = 'isolated'"),
	):
		sql(f"UPDATE {hides}")
		equal((hides, tries(seen)[0].split()), (hides, ["0", "0"]))
		sql(f"UPDATE {shows}")
	equal(tries(seen)[0].split(), ["1", "2"])
	refuses(
		"SELECT secret_seed FROM kits;\nUPDATE kits SET engine = 'custom';\n"
		"DELETE FROM kit_files;\nUPDATE kit_files SET content = '';\n"
	)
	sql("UPDATE task_versions SET language = 'py'; UPDATE task_engines SET engine = 'custom'")


@test
def a_host_can_neither_finish_nor_reassign_its_jobs_itself():
	mine, other, _, _ = world()
	before = everything()
	refuses(
		"".join(
			f"UPDATE jobs SET {column} = {value} WHERE id = {mine};\n"
			for column, value in (
				("state", "'done'"),
				("score_ns", "1"),
				("lease_owner", "'elsewhere'"),
				("fence", "99"),
				("verdict", "'passed'"),
				("attempt", "0"),
				("submission_id", "1"),
				("id", "99"),
			)
		)
	)
	refuses(
		f"INSERT INTO endings (job_id, fence, kind, verdict, score_ns) VALUES ({mine}, 4, "
		f"'verdict', 'passed', 1);\nDELETE FROM jobs WHERE id = {mine};\n"
		f"UPDATE endings SET fence = 4;\nDELETE FROM endings;\nSELECT * FROM endings;\n"
	)
	equal(everything(), before)


@test
def a_shared_key_moves_no_row_of_another_host():
	mine, other, _, _ = world()
	stage_of = lambda number: sql(f"SELECT id FROM stages WHERE job_id = {number}")[0][0]
	before = everything()
	columns = "(job_id, position, name, command, message, stdout, stderr)"
	refuses(
		f"INSERT INTO stages {columns} VALUES ({other}, 0, 'test', '', '', '', '') ON DUPLICATE "
		"KEY UPDATE stdout = 'moved';\n"
		"INSERT INTO stages (id, job_id, position, name, command, message, stdout, stderr) "
		f"VALUES ({stage_of(other)}, {mine}, 5, 'test', '', '', '', '') ON DUPLICATE KEY UPDATE "
		"stdout = 'x';\n"
		"REPLACE INTO stages (id, job_id, position, name, command, message, stdout, stderr) "
		f"VALUES ({stage_of(other)}, {mine}, 5, 'test', '', '', '', '');\n"
		f"REPLACE INTO stages {columns} VALUES ({other}, 0, 'test', '', '', '', '');\n"
		f"UPDATE stages SET job_id = {other} WHERE job_id = {mine};\nUPDATE stages SET id = 1 "
		f"WHERE job_id = {mine};\n"
		"INSERT INTO measurements (stage_id, case_index, spec, verdict, message) VALUES "
		f"({stage_of(other)}, 0, '', 'passed', '') ON DUPLICATE KEY UPDATE ratio = 2;\n"
		f"UPDATE measurements SET stage_id = {stage_of(other)};\n"
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('elsewhere', 'x', "
		"'{}', NOW(), NOW()) ON DUPLICATE KEY UPDATE version = 'x';\n"
		"UPDATE workers SET name = 'elsewhere';\nINSERT INTO workers (id, name, version, host, "
		"started_at, seen_at) VALUES (1, 'host', 'x', '{}', NOW(), NOW());\n"
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) VALUES (99999, 'GPU-0', 'H200', '', 1, '', '', NOW());\n"
		"INSERT INTO device_vitals (worker, uuid, minute, at, errors) VALUES ('elsewhere', "
		"'GPU-0', 0, NOW(), 9);\n"
	)
	equal(everything(), before)


@test
def a_host_claims_only_jobs_for_its_devices():
	mine, other, waiting, _ = world()
	sql(
		"INSERT IGNORE INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) "
		"SELECT id, 'GPU-7', 'H200', 'x', 1, 'd', '9.0', UTC_TIMESTAMP(3) FROM workers WHERE name "
		"= 'host'; UPDATE workers SET protocol = 9999 WHERE name = 'host'"
	)
	take = "CALL take_job('{}', {}, {});\n".format
	ids = lambda *numbers: ", ".join(map(str, [*numbers, *[numbers[0]] * 16][:16]))
	before = everything()
	equal(
		tries(
			take("GPU-7", 30000, ids(waiting))
			+ take("GPU-8", 30000, ids(waiting))
			+ take("GPU-7", 30000, ids(other, mine))
			+ take("GPU-7", 30000, ids(0))
		),
		("", ""),
	)
	equal(everything(), before)
	cpu = sql(
		"SELECT uuid FROM gpus JOIN workers ON id = worker_id WHERE name = 'host' AND model = 'CPU'"
	)[0][0]
	for hindrance, end in (
		(
			"INSERT INTO pauses (worker, uuid, kind, paused_by) VALUES ('host', '', 'drain', 'x')",
			"DELETE FROM pauses",
		),
		(
			"UPDATE compatibility SET oldest_program = 99999",
			"UPDATE compatibility SET oldest_program = 21",
		),
		(
			"UPDATE gpus SET quarantined_at = UTC_TIMESTAMP(3)",
			"UPDATE gpus SET quarantined_at = NULL",
		),
	):
		sql(hindrance)
		equal(tries(take(cpu, 30000, ids(waiting)) + take(cpu, 30000, ids(0))), ("", ""))
		sql(end)
	out, errors = tries(take(cpu, 10**12, ids(other, waiting)))
	equal((out.split("\t")[0], errors), (str(waiting), ""))
	equal(
		job(
			waiting,
			"state, lease_owner, fence, attempt, lease_expires < UTC_TIMESTAMP(3) + "
			"INTERVAL 601 SECOND",
		),
		["running", "host", "1", "1", "1"],
	)
	refuses("CALL register('" + "A" * 43 + "');\n")


@test
def one_hosts_password_does_not_work_for_another_host():
	hosts["second"] = make_host("second")
	mine, _, _, _ = world()
	equal(
		tries("SELECT * FROM jobs; SELECT name FROM workers; SELECT * FROM gpus", "second"),
		("", ""),
	)
	pretender = host_worker("second", PODIUM_WORKER_NAME="host")
	equal(pretender.process.wait(60), 1)
	contains(
		pretender.log.read_text(),
		"This host is registered as the worker second, so it cannot be host",
	)
	refuses(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('host', 'x', "
		"'{}', NOW(), NOW()) ON DUPLICATE KEY UPDATE version = 'x';\n",
		"second",
	)
	refuses(
		"INSERT INTO stages (job_id, position, name, command, message, stdout, stderr) VALUES "
		f"({mine}, 3, 'test', '', '', '', '');\n",
		"second",
	)


code = 1
try:
	admin("migrate")
	load_task()
	code = run()
finally:
	if web and web.poll() is None:
		web.kill()
	close()
sys.exit(code)
