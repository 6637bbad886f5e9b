#!/usr/bin/env python3
"""A host becomes a worker with an invitation code that an admin copies to it, and stops being a
worker when an admin revokes its account."""

import pathlib
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from tap import contains, equal, lacks, run, test  # noqa: E402
from hosts import FAR, database, invite, make_host, register, settings_of  # noqa: E402
from workers import BUILD, admin, close, job, load_task, scratch, sql, submit  # noqa: E402


def refused(*words):
	answer = subprocess.run(
		[BUILD / "podium-admin", *words], capture_output=True, text=True, env=database.environment
	)
	equal(answer.returncode, 1)
	return answer.stderr


@test
def one_word_makes_a_host_a_worker_with_its_own_settings_file():
	path = scratch / "etc" / "worker.conf"
	word = invite("gpu-1")
	answer = register(word, path)
	equal((answer.returncode, answer.stderr), (0, ""))
	contains(
		answer.stdout,
		f"registered as the worker gpu-1. It starts with: PODIUM_CONFIG={path} podium-worker",
	)
	equal(stat.S_IMODE(path.stat().st_mode), 0o600)
	settings = settings_of(path)
	equal(
		(
			settings["worker_name"],
			settings["database_host"],
			settings["database_port"],
			settings["database_name"],
		),
		("gpu-1", FAR, str(database.port), "podium_worker"),
	)
	equal(
		pathlib.Path(settings["database_tls_ca"]).read_text(),
		(database.certificates / "ca.pem").read_text(),
	)
	out, _ = database.client_as(settings, "SELECT USER(), CURRENT_ROLE()")
	contains(out, "podium_worker")
	contains(admin("worker", "accounts"), "gpu-1")
	contains(admin("worker", "accounts"), "registered ")


@test
def neither_the_word_nor_what_the_database_stores_opens_the_database_later():
	word = invite("gpu-2")
	path = scratch / "gpu-2.conf"
	equal(register(word, path).returncode, 0)
	again = register(word, scratch / "again.conf")
	equal(again.returncode, 1)
	contains(again.stderr, "used up, expired or revoked")
	assert not (scratch / "again.conf").exists() and not (scratch / "again.conf.ca.pem").exists()
	password = settings_of(path)["database_password"]
	for table in ("worker_accounts", "audit_log", "workers"):
		lacks(str(sql(f"SELECT * FROM {table}")), password)
		lacks(str(sql(f"SELECT * FROM {table}")), word)
	assert password != settings_of(make_host("gpu-3"))["database_password"]


@test
def a_word_expires():
	word = invite("late")
	sql(
		"UPDATE worker_accounts SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name "
		"= 'late'"
	)
	answer = register(word, scratch / "late.conf")
	equal(answer.returncode, 1)
	contains(answer.stderr, "has expired")
	assert not (scratch / "late.conf").exists()
	contains(admin("worker", "accounts"), "invitation expired")
	invite("late")  # replaces the expired invitation
	equal(
		sql(
			"SELECT COUNT(*) FROM mysql.global_priv WHERE User IN (SELECT CONCAT('podium_worker_', "
			"id) FROM podium.worker_accounts WHERE name = 'late')"
		),
		[["1"]],
	)


@test
def an_unused_invitation_gives_no_access_to_the_database():
	import base64
	import json

	word = invite("curious")
	coded = word.removeprefix("podium-worker-")
	parts = json.loads(base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))[8:])
	settings = {
		"database_host": parts["host"],
		"database_port": str(parts["port"]),
		"database_user": parts["user"],
		"database_password": parts["secret"],
		"database_name": parts["database"],
	}
	submit()
	out, _ = database.client_as(
		settings,
		"SELECT COUNT(*) FROM workers; SELECT COUNT(*) FROM jobs; CALL take_job('GPU-0', 30000, "
		"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)",
	)
	equal(out.split(), ["0", "0"])
	_, error = database.client_as(
		settings,
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('curious', '1', "
		"'{}', NOW(), NOW())",
	)
	contains(error, "CHECK OPTION failed")
	sql("DELETE FROM submissions")


@test
def an_incomplete_or_invalid_word_is_reported():
	word = invite("whole")
	for broken in (
		word[:-3],
		word[:40],
		"hello",
		"",
		word.replace("podium-worker-", "podium-worker-A", 1),
	):
		answer = register(broken, scratch / "broken.conf")
		equal(answer.returncode, 1)
		contains(answer.stderr, "copy the whole line")
	equal(subprocess.run([BUILD / "podium-worker", "register"], capture_output=True).returncode, 2)
	contains(
		subprocess.run(
			[BUILD / "podium-worker", "register", "--help"], capture_output=True, text=True
		).stdout,
		"/etc/podium/worker.conf",
	)
	equal(register(word, scratch / "whole.conf").returncode, 0)


@test
def an_existing_settings_file_is_kept_and_the_word_stays_valid():
	path = scratch / "mine.conf"
	path.write_text("worker_cpu = 1\n")
	word = invite("careful")
	answer = register(word, path)
	equal(answer.returncode, 1)
	contains(answer.stderr, "already exists")
	equal(path.read_text(), "worker_cpu = 1\n")
	equal(register(word, scratch / "other.conf").returncode, 0)


@test
def an_invitation_needs_a_free_name_of_plain_letters():
	contains(
		refused("worker", "invite", "gpu-1", "--at", "127.0.0.1"),
		"`podium-admin worker revoke gpu-1`",
	)
	contains(refused("worker", "invite", "a'b", "--at", "127.0.0.1"), "letters, digits, dots")
	contains(refused("worker", "invite", "x" * 64, "--at", "127.0.0.1"), "letters, digits, dots")
	contains(refused("worker", "invite", "somewhere"), "--at HOST:PORT")
	contains(
		refused("worker", "invite", "somewhere", "--at", "db.example:99999"),
		"is not of the form HOST or HOST:PORT",
	)
	contains(refused("worker", "invite", "somewhere", "--at", "db.example"), "Set database_tls_ca")
	contains(refused("worker", "revoke", "nobody"), "No host is registered")


@test
def a_revoked_host_loses_its_rights_immediately_and_its_job_runs_elsewhere():
	path = make_host("leaver")
	settings = settings_of(path)
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('leaver', '1', "
		"'{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))"
	)
	number = submit()
	sql(
		"UPDATE jobs SET state = 'running', lease_owner = 'leaver', fence = 1, attempt = 1, "
		f"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE id = {number}"
	)
	session = subprocess.Popen(
		[
			"mariadb",
			"--no-defaults",
			"-N",
			"-B",
			"-n",
			"--skip-reconnect",
			"--force",
			"-h",
			FAR,
			"-P",
			str(database.port),
			"-u",
			settings["database_user"],
			f"-p{settings['database_password']}",
			f"--ssl-ca={database.certificates}/ca.pem",
			"podium_worker",
		],
		stdin=subprocess.PIPE,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
	)
	session.stdin.write("SELECT COUNT(*) FROM jobs;\n")
	session.stdin.flush()
	equal(session.stdout.readline(), "1\n")
	contains(admin("worker", "revoke", "leaver"), "1 running job is queued again")
	out, error = session.communicate(
		"SELECT COUNT(*) FROM jobs;\nINSERT INTO endings (job_id, fence, kind) VALUES (1, 1, "
		"'release');\n",
		30,
	)
	equal(out.replace("0\n", ""), "")
	assert error, "its open session can still write"
	contains(database.client_as(settings, "SELECT 1")[1], "Access denied")
	equal(job(number, "state, attempt, fence"), ["queued", "0", "2"])
	sql("DELETE FROM submissions")


@test
def the_log_says_who_invited_registered_and_revoked():
	actions = sql(
		"SELECT action, actor, subject FROM audit_log WHERE subject = 'leaver' ORDER BY id"
	)
	equal(
		actions,
		[
			["worker.invite", "podium-admin", "leaver"],
			["worker.register", "podium-worker", "leaver"],
			["worker.revoke", "podium-admin", "leaver"],
		],
	)
	equal(
		sql(
			"SELECT COUNT(*) FROM audit_actions WHERE name IN ('worker.invite', 'worker.register', "
			"'worker.revoke')"
		),
		[["3"]],
	)


code = 1
try:
	admin("migrate")
	load_task()
	code = run()
finally:
	close()
sys.exit(code)
