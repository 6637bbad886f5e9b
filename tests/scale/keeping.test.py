#!/usr/bin/env python3
"""A backup of a whole site, taken while people submit, is restored on an empty host and started
there. Every table and every page must be as before. MariaDB's binary log must restore what came
after the backup."""

import concurrent.futures
import getpass
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from crowd import Crowd  # noqa: E402
from filler import columns, contents, definitions  # noqa: E402
from instance import DUMMY_MAIL, Instance  # noqa: E402
from mariadb import MariaDB  # noqa: E402
from small_task import case, make_board, source_of, submit_source  # noqa: E402
from client import Client  # noqa: E402
from tap import Skip, contains, equal, run, test, until  # noqa: E402

ADMIN = ROOT / os.environ.get("B", "build/release") / "podium-admin"
SIZE = int(os.environ.get("SIZE", "2000"))
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-drill."))
FILE = scratch / "podium.sql.gz"
PASSWORD = "a long password"
TIMES = {}

# Parts of a page that depend on the time of the request, or that are new in every answer.
CLOCKS = [
	(re.compile(r"(<time[^>]*>)[^<]*"), r"\1"),
	(re.compile(r'(name="csrf"[^>]*value=")[^"]*'), r"\1"),
	(re.compile(r"fresh=\d+"), ""),
	(re.compile(r'"(generated_at|now|server_time|updated|checked_at)": ?"[^"]*"'), r""),
	(re.compile(r"<updated>[^<]*</updated>"), ""),
	(re.compile(r'"minute":\d+'), ""),
]
# Pages that show the current machines or the latest entries. The audit log records a restore, and
# the panel's first page shows the log.
NOW = (
	"/healthz",
	"/admin/audit",
	"/admin/workers",
	"/admin/host/",
	"/admin/device/",
	"/account/sessions",
	"/account/export",
	"/workers",
	"/api/v1/me",
)

# These pages show when each worker was last seen.
HEARTBEATS = ("/queue",)


class Place:
	"""The place where podium-admin finds a database."""

	def __init__(self, socket, database="podium"):
		self.environment = {
			**os.environ,
			"PODIUM_DATABASE_SOCKET": str(socket),
			"PODIUM_DATABASE_USER": getpass.getuser(),
			"PODIUM_DATABASE_NAME": database,
		}

	def admin(self, *words, code=0):
		begin = time.time()
		answer = subprocess.run(
			[ADMIN, *words], capture_output=True, text=True, env=self.environment
		)
		TIMES[words[0]] = time.time() - begin
		equal((answer.returncode, answer.stderr if code == 0 else ""), (code, ""))
		return answer.stdout + answer.stderr


def place_of(site):
	return Place(site.var / "run" / "mariadb.sock")


def pages(crowd):
	"""{(visitor, address): the page's text without times}."""
	clients = {who: crowd.client(who) for who in ("anyone", "user1", "admin")}

	def fetch(who, address):
		answer = clients[who].get(
			f"{address}{'&' if '?' in address else '?'}fresh={time.time_ns()}"
			if not address.startswith("/api")
			else address
		)
		text = answer.bytes.decode("latin-1")
		for pattern, instead in CLOCKS:
			text = pattern.sub(instead, text)
		if address in HEARTBEATS:
			text = re.sub(r"<time[^>]*>", "", text)
		return answer.status, text

	wanted = [(who, address) for who, _, address in crowd.each()]
	wanted += [("anyone", address) for who, address in crowd.calls() if who == "anyone"]
	return {
		(who, address): fetch(who, address)
		for who, address in wanted
		if address != "/admin" and not any(part in address for part in NOW)
	}


def rows(sql):
	known = columns(sql, "podium")
	return known, contents(sql, known), definitions(sql, known)


site = Instance(pretends=True, private=True, **DUMMY_MAIL)
old = place_of(site)
people = {}


def sign_up(name):
	client = people[name] = Client(site.url)
	equal(client.post("/register", [("name", name), ("password", PASSWORD)]).status, 303)
	return client


@test
def a_backup_taken_while_people_submit_is_consistent():
	boss = sign_up("boss")
	site.sql("UPDATE users SET role = 'admin' WHERE name = 'boss'")
	make_board(boss, "small")
	clients, stop = [sign_up(f"swimmer{number}") for number in range(4)], threading.Event()

	def submit(client, number):
		sent = 0
		while not stop.is_set():
			submit_source(client, source_of(case(1000.0 + (sent * 37 + number * 11) % 500)))
			sent += 1
		return sent

	with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
		sending = [pool.submit(submit, client, number) for number, client in enumerate(clients)]
		until(
			lambda: site.sql("SELECT 1 FROM ranking LIMIT 1")
			and site.sql("SELECT 1 FROM jobs WHERE state = 'running' LIMIT 1"),
			60,
		)
		time.sleep(1)
		TIMES["submissions before"] = int(site.sql("SELECT COUNT(*) FROM submissions")[0][0])
		old.admin("backup", scratch / "busy.sql.gz")
		time.sleep(0.5)
		stop.set()
		equal(all(one.result() > 0 for one in sending), True)
	db = MariaDB()
	try:
		busy = Place(db.socket)
		busy.admin("restore", scratch / "busy.sql.gz")
		count = int(db.sql("SELECT COUNT(*) FROM submissions")[0][0])
		equal(
			TIMES["submissions before"]
			<= count
			<= int(site.sql("SELECT COUNT(*) FROM submissions")[0][0]),
			True,
		)
		equal(
			db.sql(
				"SELECT COUNT(*) FROM ranking r JOIN leaderboards l ON l.id = "
				"r.leaderboard_id WHERE "
				"l.name = 'small'"
			)[0][0]
			!= "0",
			True,
		)
		equal(
			db.sql(
				"SELECT COUNT(*) FROM submissions s LEFT JOIN jobs j ON j.submission_id = "
				"s.id WHERE "
				"j.id IS NULL AND s.leaderboard_id = (SELECT id FROM leaderboards WHERE "
				"name = 'small')"
			),
			[["0"]],
		)
		kept = (
			"SELECT * FROM ranking ORDER BY leaderboard_id, task_version_id, gpu, position; "
			"SELECT * FROM records "
			"ORDER BY leaderboard_id, task_version_id, gpu, line, submission_id"
		)
		before = db.sql(kept)
		busy.admin("ranking", "rebuild")
		equal(db.sql(kept), before)
		# When the lease of a running job expires, a worker queues the job again. This check comes
		# earlier.
		equal(db.sql("SELECT COUNT(*) FROM jobs WHERE fence < 1000000"), [["0"]])
	finally:
		db.remove()


@test
def every_table_and_every_page_is_as_before():
	global restored, crowd
	until(
		lambda: not site.sql(
			"SELECT 1 FROM jobs j JOIN submissions s ON s.id = j.submission_id JOIN leaderboards l "
			"ON l.id = s.leaderboard_id WHERE l.name = 'small' AND j.state IN ('queued', "
			"'running') "
			"LIMIT 1"
		),
		180,
	)
	site.sql("DELETE FROM comparisons")  # the crowd's data bring their own comparisons
	crowd = Crowd(site, SIZE)
	time.sleep(1.5)  # until caches of one second are stale
	before = pages(crowd)
	# Compare only pages that do not differ between two requests.
	again = pages(crowd)
	steady = {key for key in before if before[key] == again[key]}
	TIMES["pages"], TIMES["unsteady"] = len(steady), sorted(set(before) - steady)
	equal(
		(len(steady) > 100, {before[key][0] for key in steady} <= {200, 303, 304, 404, 403, 429}),
		(True, True),
	)
	old.admin("backup", FILE)
	known, kept, defined = rows(site.sql)
	site.stop()
	db = MariaDB()
	new = Place(db.socket)
	contains(new.admin("restore", "--keep-sessions", FILE), "compared each row with the backup")
	now, found, redefined = rows(db.sql)
	equal((now, redefined), (known, defined))
	changed = {table for table in known if found[table] != kept[table]}
	# Leave out what changes until the last program stops, and what a restore changes.
	equal(
		changed
		<= {
			"jobs",
			"webhooks",
			"audit_log",
			"audit_actions",
			"workers",
			"gpus",
			"api_requests",
			"device_vitals",
			"sessions",
		},
		True,
	)
	equal(changed >= {"jobs", "webhooks", "audit_log"}, True)
	# An empty host: its folder contains nothing but the database's data.
	db.stop()
	var = pathlib.Path(tempfile.mkdtemp(prefix="podium-test."))
	shutil.move(str(db.folder / "data"), var / "mariadb")
	db.log.close()
	shutil.rmtree(db.folder)
	restored = Instance(
		base=site.environment, var=var, pretends=True, private=True, PODIUM_PUBLIC_URL=site.url
	)
	crowd.site = restored
	after = pages(crowd)
	different = {
		key: [
			(a, b)
			for a, b in zip(before[key][1].splitlines(), after[key][1].splitlines())
			if a != b
		][:2]
		or (before[key][0], after[key][0])
		for key in steady
		if before[key] != after[key]
	}
	equal(different, {})


@test
def the_restored_site_judges_new_submissions():
	restored.sql("DELETE FROM pauses")
	client = Client(restored.url)
	equal(client.post("/login", [("name", "swimmer1"), ("password", PASSWORD)]).status, 303)
	number = submit_source(client, source_of(case(900.0)))
	equal(int(number) > 1000000, True)
	until(
		lambda: client.get(f"/submission/{number}/status?{time.time()}").json["state"] == "done", 60
	)
	rows = client.get(f"/leaderboard/small.json?gpu=H200&fresh={time.time_ns()}").json["rows"]
	equal(
		[
			(row["user"], row["submission"], row["score_ns"])
			for row in rows
			if row["user"] == "swimmer1"
		],
		[("swimmer1", int(number), 900)],
	)


@test
def the_binary_log_restores_what_came_after_the_backup():
	"""Follows docs/backup.md, "Restore to a point in time", word for word except for the paths."""
	if not shutil.which("mariadb-binlog"):
		raise Skip("mariadb-binlog is not installed")
	source, target = MariaDB(), MariaDB()
	try:
		source.stop()
		source.command += [
			"--log-bin=binlog",
			"--server-id=1",
			"--binlog-format=ROW",
			"--sync-binlog=1",
			"--expire-logs-days=10",
		]
		source.start()
		keeper, new = Place(source.socket), Place(target.socket)
		keeper.admin("migrate")
		sql = source.sql
		add = lambda name: sql(f"INSERT INTO users (name, password_hash) VALUES ('{name}', '!')")
		add("before")
		contains(keeper.admin("backup", FILE), "the server's binary log was at binlog.")
		add("after")
		sql(
			"INSERT INTO blobs (sha256, size, content) VALUES (REPEAT('x', 32), 3, X'00FF27'); "
			"FLUSH BINARY LOGS"
		)
		add("later")
		time.sleep(1.1)
		stopped = sql("SELECT NOW()")[0][0]
		time.sleep(1.1)
		sql("DELETE FROM users")  # the accident
		log, position = re.search(
			r"binary log was at (\S+), position (\d+)", keeper.admin("backup", "check", FILE)
		).groups()
		logs = sorted(
			path for path in (source.folder / "data").glob("binlog.0*") if path.name >= log
		)
		equal(len(logs), 2)
		script = f"""set -e -o pipefail
			zcat {FILE} | mariadb --no-defaults -S {target.socket} podium
			mariadb-binlog --no-defaults --start-position={position} \
				--stop-datetime='{stopped}' {" ".join(map(str, logs))} \
				| mariadb --no-defaults -S {target.socket} podium"""
		done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
		equal((done.returncode, done.stderr), (0, ""))
		contains(new.admin("restored"), "Podium now rejects late results of earlier workers")
		equal(target.sql("SELECT name FROM users ORDER BY id"), [["before"], ["after"], ["later"]])
		equal(target.sql("SELECT HEX(content) FROM blobs"), [["00FF27"]])
	finally:
		source.remove()
		target.remove()


@test
def every_earlier_schema_with_data_can_be_migrated():
	suite = ROOT / "tests" / "integration" / "admin" / "migrations.test.py"
	done = subprocess.run(
		[suite, "fresh", "same_moment", "every_earlier_schema"],
		capture_output=True,
		text=True,
		env={**os.environ, "EVERY_SCHEMA": "1"},
	)
	equal((done.returncode, "not ok" in done.stdout), (0, False))


code = 1
restored = None
try:
	code = run()
	for what, found in TIMES.items():
		print(f"# {what}: {found if not isinstance(found, float) else f'{found:.1f} s'}")
finally:
	site.remove()
	if restored:
		restored.remove()
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(code)
