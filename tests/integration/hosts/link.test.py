#!/usr/bin/env python3
"""The connection from a worker host to the database: TLS, files that the host fetches only once, a
host whose version is older than the database's, and a connection that breaks.

podium-web runs too, because it finishes the host's jobs and shows the host to admins."""

import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from tap import contains, equal, lacks, run, test  # noqa: E402
from hosts import FAR, Relay, database, environment, invite, register, start_host  # noqa: E402
from workers import (
	BUILD,
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

HOLDS = "import pathlib, time\n\ndef custom_kernel(data):\n    time.sleep(3)\n    return data\n"
web = host = relay = None
path, cache = scratch / "host.conf", scratch / "cache"


def asks(**settings):
	"""Runs podium-admin over TCP with these settings. Returns its exit code and error output."""
	own = dict(
		PODIUM_DATABASE_PORT=str(database.port),
		PODIUM_DATABASE_USER="probe",
		PODIUM_DATABASE_PASSWORD="probe",
		PODIUM_DATABASE_HOST=FAR,
	)
	answer = subprocess.run(
		[BUILD / "podium-admin", "user", "list"],
		capture_output=True,
		text=True,
		env=environment(**{**own, **settings}),
	)
	return answer.returncode, answer.stderr


# ---- TLS ----


@test
def a_remote_database_needs_tls_with_the_right_certificate():
	sql(
		"CREATE USER probe@'%' IDENTIFIED BY 'probe' REQUIRE SSL; GRANT SELECT ON podium.* TO "
		"probe@'%'"
	)
	ca = str(database.certificates / "ca.pem")
	equal(asks(PODIUM_DATABASE_TLS_CA=ca), (0, ""))
	code, said = asks()
	equal(code, 1)
	contains(said, "Set database_tls_ca to the file")
	code, said = asks(PODIUM_DATABASE_TLS_CA=str(database.certificates / "other.pem"))
	equal(code, 1)
	contains(said, "certificate")
	# Another spelling of the same address, for which the certificate is not valid.
	code, said = asks(PODIUM_DATABASE_TLS_CA=ca, PODIUM_DATABASE_HOST="127.0.1")
	equal(code, 1)
	contains(said, "ertificate")
	code, said = asks(PODIUM_DATABASE_TLS_CA="/nowhere/ca.pem")
	equal(code, 1)
	contains(said, "Cannot read the certificates in /nowhere/ca.pem")


@test
def weaker_checks_need_an_explicit_setting():
	equal(asks(PODIUM_DATABASE_TLS="unverified"), (0, ""))
	equal(asks(PODIUM_DATABASE_TLS="unverified", PODIUM_DATABASE_HOST="127.0.1"), (0, ""))
	code, said = asks(PODIUM_DATABASE_TLS="off")
	equal(code, 1)
	contains(said, "Access denied")  # this user may not connect without TLS
	sql("ALTER USER probe@'%' REQUIRE NONE")
	equal(asks(PODIUM_DATABASE_TLS="off"), (0, ""))
	# Podium does not ask for TLS within this host.
	equal(asks(PODIUM_DATABASE_HOST="127.0.0.1"), (0, ""))
	code, said = asks(PODIUM_DATABASE_HOST="127.0.0.1", PODIUM_DATABASE_TLS="verify")
	contains(said, "Set database_tls_ca")
	code, said = asks(PODIUM_DATABASE_TLS="yes")
	contains(said, 'database_tls is verify, unverified or off, not "yes"')


@test
def a_server_without_tls_gets_no_password():
	hears = []
	listener = socket.socket()
	listener.bind(("127.0.0.1", 0))
	listener.listen(4)
	# The greeting of a MariaDB that does not offer TLS.
	greeting = (
		b"\x0a5.5.5-10.11.0-MariaDB\0"
		+ bytes([1, 0, 0, 0])
		+ b"saltsalt\0"
		+ (0xF7FE & ~0x800).to_bytes(2, "little")
		+ b"\x2d\x02\0"
		+ (0x81BF).to_bytes(2, "little")
		+ bytes([21])
		+ bytes(10)
		+ b"saltsaltsalt\0"
		+ b"mysql_native_password\0"
	)

	def serve():
		client = listener.accept()[0]
		client.sendall(len(greeting).to_bytes(3, "little") + b"\0" + greeting)
		client.settimeout(5)
		try:
			hears.append(client.recv(4096))
		except OSError:
			hears.append(b"")
		client.close()

	thread = threading.Thread(target=serve)
	thread.start()
	code, said = asks(
		PODIUM_DATABASE_TLS_CA=str(database.certificates / "ca.pem"),
		PODIUM_DATABASE_PORT=str(listener.getsockname()[1]),
	)
	thread.join()
	equal(code, 1)
	contains(said, "SSL")
	lacks(str(hears), "probe")


@test
def a_database_user_can_present_a_client_certificate():
	folder = database.certificates
	sql("ALTER USER probe@'%' REQUIRE SUBJECT '/CN=other' ISSUER '/CN=other'")
	equal(asks(PODIUM_DATABASE_TLS_CA=str(folder / "ca.pem"))[0], 1)
	sql(f"ALTER USER probe@'%' REQUIRE SUBJECT '/CN={FAR}' ISSUER '/CN=ca'")
	equal(
		asks(
			PODIUM_DATABASE_TLS_CA=str(folder / "ca.pem"),
			PODIUM_DATABASE_TLS_CERT=str(folder / "server.pem"),
			PODIUM_DATABASE_TLS_KEY=str(folder / "server.key"),
		),
		(0, ""),
	)


# ---- a host behind a link that can be cut ----


def start_web():
	global web
	web = subprocess.Popen(
		[BUILD / "podium-web"],
		env={**database.environment, "PODIUM_FASTCGI_SOCKET": str(scratch / "web.sock")},
		stdin=subprocess.DEVNULL,
		stderr=open(scratch / "web.log", "ab"),
		start_new_session=True,
	)


def start_worker():
	global host, relay
	relay = Relay(database.port)
	answer = register(invite("host", place=f"{FAR}:{relay.port}"), path)
	equal((answer.returncode, answer.stderr), (0, ""))
	host = start_host("host", path, PODIUM_WORKER_CACHE=str(cache), PODIUM_WORKER_CACHE_MIB="1")
	host.says("is ready")


def fetched(work):
	"""Calls work(). Returns the statements that fetched contents during the call."""
	sql("TRUNCATE mysql.general_log; SET GLOBAL log_output = 'TABLE'; SET GLOBAL general_log = 1")
	work()
	sql("SET GLOBAL general_log = 0")
	return [
		row[0]
		for row in sql(
			"SELECT LEFT(argument, 30) FROM mysql.general_log WHERE command_type = 'Execute' AND "
			"argument REGEXP '(source AS|SELECT) content'"
		)
	]


def passes(source="def custom_kernel(data):\n    return data\n"):
	number = submit(source, "test")
	wait_for(number)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	return number


@test
def a_second_job_fetches_no_file_again():
	start_web()
	start_worker()
	first = fetched(passes)
	assert len(first) >= 3, first  # the submission, reference.py, eval.py
	equal(fetched(passes), [])
	equal(len(fetched(lambda: passes("def custom_kernel(data):\n    return data + 0\n"))), 1)
	equal(stat.S_IMODE(cache.stat().st_mode), 0o700)
	equal({stat.S_IMODE(one.stat().st_mode) for one in cache.iterdir()}, {0o600})


@test
def damaged_or_exchanged_files_are_fetched_again():
	for one in cache.iterdir():
		one.write_bytes(one.read_bytes() + b"# not what it was\n")
	before = {one.name for one in cache.iterdir()}
	assert len(fetched(passes)) >= 3
	host.says("is damaged; the worker fetches it again")
	one = next(cache.iterdir())
	one.unlink()
	one.symlink_to("/etc/passwd")
	passes()
	assert before >= {one.name for one in cache.iterdir()}
	lacks(host.log.read_text(), "root:")


@test
def the_file_cache_keeps_to_its_limit():
	for number in range(12):
		file = cache / f"{number:064x}"
		file.write_bytes(b"x" * 100_000)
		os.utime(file, (1000 + number, 1000 + number))
	passes("def custom_kernel(data):\n    return data\n#" + "y" * 150_000)
	until(lambda: sum(one.stat().st_size for one in cache.iterdir()) <= 1 << 20)
	assert not (cache / f"{0:064x}").exists() and (cache / f"{11:064x}").exists(), sorted(
		cache.iterdir()
	)


@test
def a_cache_folder_that_others_can_write_to_is_not_used():
	shutil.rmtree(cache)
	shared = scratch / "shared"
	shared.mkdir(mode=0o777)
	shared.chmod(0o777)
	with Worker("trusting", PODIUM_WORKER_CACHE=str(shared), PODIUM_WORKER_RUNNER="/bin/true"):
		pass
	equal(list(shared.iterdir()), [])


# ---- the link ----


@test
def a_job_continues_while_the_link_is_cut_and_its_result_arrives_later():
	number = submit(HOLDS, "test")
	running(number)
	relay.cut()
	time.sleep(4)
	equal(job(number, "state, attempt"), ["running", "1"])
	relay.heal()
	wait_for(number)
	equal(job(number, "verdict, attempt, lease_owner"), ["passed", "1", "host"])
	host.says("retries until it works")
	passes()


@test
def repeated_cuts_lose_nothing_and_count_nothing_twice():
	numbers = []
	for _ in range(4):
		numbers.append(
			submit(
				"import time\n\ndef custom_kernel(data):\n    time.sleep(0.2)\n    return data\n"
			)
		)
		until(lambda: job(numbers[-1]) == "running")
		relay.cut()
		time.sleep(0.1)
		relay.heal()
	for number in numbers:
		wait_for(number, limit_s=60)
		equal(job(number, "verdict"), "passed")
	equal(sql("SELECT COUNT(*) FROM ranking"), [["1"]])
	equal(
		sql(
			"SELECT t.job_id FROM stages t JOIN jobs j ON j.id = t.job_id GROUP BY "
			"t.job_id, t.name "
			"HAVING COUNT(*) > 1"
		),
		[],
	)


# ---- versions ----


@test
def a_newer_database_accepts_workers_of_the_previous_version():
	sql(
		"INSERT INTO schema_migrations (version, name, sha256) VALUES (9998, '9998_later', "
		"REPEAT('x', 32))"
	)
	passes()
	lacks(host.log.read_text(), "bring it up to date")


@test
def a_worker_that_is_too_old_says_so_and_takes_no_job():
	sql("UPDATE compatibility SET oldest_program = 9998")
	host.says("takes programs from version 9998 on")
	contains(host.log.read_text(), "bring it up to date. Until then the worker takes no jobs.")
	number = submit()
	time.sleep(1)
	equal(job(number, "state, attempt"), ["queued", "0"])
	contains(admin("worker", "list"), "too old")
	equal(
		sql(
			"SELECT seen_at > UTC_TIMESTAMP() - INTERVAL 5 SECOND FROM workers WHERE name = 'host'"
		),
		[["1"]],
	)
	sql("UPDATE compatibility SET oldest_program = 21")
	wait_for(number)
	equal(job(number, "attempt"), "1")
	host.says("accepts this version again")
	sql("DELETE FROM schema_migrations WHERE version = 9998")


@test
def an_account_still_works_after_a_migration_remade_its_views():
	newest = sql("SELECT version FROM schema_migrations ORDER BY version DESC LIMIT 1")[0][0]
	sql(
		"DROP VIEW podium_worker.queue_running; DELETE FROM schema_migrations WHERE version = "
		f"{newest}"
	)
	admin("migrate")
	passes()
	equal(host.end(), 0)
	relay.close()


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
