#!/usr/bin/env python3
"""podium-admin backup and restore: what a restore brings back, what the two commands refuse, and
what remains when something fails midway."""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from answers import refusal_of, result_of  # noqa: E402
from filler import columns, contents, definitions, fill  # noqa: E402
from mariadb import MariaDB  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

PROGRAM = ROOT / os.environ.get("B", "build/release") / "podium-admin"
NEWEST = int(sorted((ROOT / "sql").glob("[0-9]*.sql"))[-1].name[:4])
server = MariaDB()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-backup-test."))
FILE = scratch / "podium.sql.gz"
# Tables whose rows differ after a restore. Its last steps end old sessions, links and leases, and
# write to the audit log.
SETTLED = {
	"sessions",
	"password_links",
	"terminals",
	"sign_ins",
	"passkey_challenges",
	"jobs",
	"webhooks",
	"audit_log",
	"audit_actions",
}


def admin(*arguments, database="podium", **settings):
	return subprocess.run(
		[PROGRAM, *arguments],
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
		env={**server.environment, "PODIUM_DATABASE_NAME": database, **settings},
	)


def done(*arguments, **rest):
	return result_of(admin(*arguments, **rest))


def refused(*arguments, **rest):
	return refusal_of(admin(*arguments, **rest))


def of(database):
	"""Returns a function that runs SQL in that database."""

	def sql(statements):
		answer = server.client(database, statements)
		if answer.returncode:
			raise AssertionError(answer.stderr)
		return [line.split("\t") for line in answer.stdout.splitlines()]

	return sql


def fresh(name="restored"):
	server.client(
		"",
		f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE "
		"utf8mb4_unicode_ci",
	)
	return name


def views_of(database):
	return of(database)(
		"SELECT table_name, security_type, REPLACE(view_definition, CONCAT('`', table_schema, "
		"'`.'), '') FROM information_schema.views "
		f"WHERE table_schema = '{database}' ORDER BY 1"
	)


def tables_of(database):
	return [row[0] for row in of(database)("SHOW TABLES")]


def leftovers():
	return [path.name for path in scratch.iterdir() if path.name.startswith("podium.sql.gz.")]


def repack(change):
	"""Changes the text of a backup and compresses it again, so that the gzip is intact."""
	path = scratch / "changed.sql.gz"
	path.write_bytes(gzip.compress(change(gzip.decompress(FILE.read_bytes()))))
	return path


# ---- a backup and its restore ----


def prepare():
	done("migrate")
	fill(of("podium"), columns(of("podium"), "podium"), 1, 12)
	of("podium")(
		# Else `migrate` would compute these rankings again.
		"UPDATE ranking SET file_id = 1 WHERE file_id IS NULL; "
		"UPDATE records SET ranked_at = submitted_at WHERE ranked_at IS NULL; "
		"CREATE SQL SECURITY INVOKER VIEW seen AS SELECT j.id, s.file_name FROM jobs j FORCE INDEX "
		"(jobs_age) JOIN submissions s ON s.id = j.submission_id; "
		"CREATE VIEW admins AS SELECT name, 'it''s `podium`' AS what FROM users WHERE role = "
		"'admin'"
	)


@test
def every_row_of_every_table_comes_back():
	told = done("backup", FILE)
	contains(told, f" at schema {NEWEST}, ")
	equal(stat.S_IMODE(FILE.stat().st_mode), 0o600)
	equal(leftovers(), [])
	told = done("restore", FILE, database=fresh())
	contains(told, "compared each row with the backup")
	known = columns(of("podium"), "podium")
	equal(columns(of("restored"), "restored"), known)
	equal(definitions(of("restored"), known), definitions(of("podium"), known))
	equal((views_of("restored"), len(views_of("restored")) >= 2), (views_of("podium"), True))
	equal(of("restored")("SELECT COUNT(*) FROM seen"), [["12"]])
	same = {table: rows for table, rows in known.items() if table not in SETTLED}
	equal(len(same) > 40, True)
	before, after = contents(of("podium"), same), contents(of("restored"), same)
	for table in same:
		equal((table, after[table]), (table, before[table]))
	history = "SELECT version, name, HEX(sha256), applied_at FROM schema_migrations"
	equal(of("restored")(history), of("podium")(history))


@test
def a_restore_ends_old_sessions_and_leases():
	before, after = of("podium"), of("restored")
	equal(
		after("SELECT id, fence - 1000000 FROM jobs ORDER BY id"),
		before("SELECT id, fence FROM jobs ORDER BY id"),
	)
	equal(
		after("SELECT id, fence - 1000000, lease_expires IS NULL FROM webhooks ORDER BY id")[0],
		before("SELECT id, fence, 1 FROM webhooks ORDER BY id")[0],
	)
	kept = [column[0] for column in columns(before, "podium")["jobs"] if column[0] != "fence"]
	names = ", ".join(f"HEX(`{name}`)" for name in kept)
	equal(
		after(f"SELECT {names} FROM jobs ORDER BY id"),
		before(f"SELECT {names} FROM jobs ORDER BY id"),
	)
	for table in ("sessions", "password_links", "terminals", "sign_ins", "passkey_challenges"):
		equal((table, after(f"SELECT COUNT(*) FROM {table}")), (table, [["0"]]))
	equal(after("SELECT COUNT(*) FROM api_tokens"), [["12"]])
	equal(
		after("SELECT actor, action FROM audit_log ORDER BY id DESC LIMIT 1"),
		[["podium-admin", "database.restore"]],
	)
	equal(
		int(
			after(
				"INSERT INTO users (name, password_hash) VALUES ('later', '!'); SELECT "
				"MAX(id) FROM users"
			)[0][0]
		)
		> 1000000,
		True,
	)


@test
def sessions_are_kept_on_request():
	done("restore", "--keep-sessions", "--replace", "restored", FILE, database="restored")
	equal(
		of("restored")("SELECT HEX(token_hash) FROM sessions ORDER BY 1"),
		of("podium")("SELECT HEX(token_hash) FROM sessions ORDER BY 1"),
	)


@test
def the_mariadb_client_alone_can_restore_a_backup():
	fresh("bare")
	command = f"zcat {FILE} | mariadb --no-defaults -S {server.socket} bare"
	equal(
		subprocess.run(
			["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True
		).stderr,
		"",
	)
	known = columns(of("podium"), "podium")
	equal(contents(of("bare"), known), contents(of("podium"), known))
	told = done("restored", database="bare")
	contains(told, "Podium now rejects late results of earlier workers")
	equal(of("bare")("SELECT COUNT(*), MIN(fence) >= 1000000 FROM jobs"), [["12", "1"]])


@test
def a_backup_of_an_older_schema_is_migrated():
	fresh("older")
	files = sorted((ROOT / "sql").glob("[0-9]*.sql"))[:3]
	sql = of("older")
	sql(
		"CREATE TABLE schema_migrations (version INT UNSIGNED NOT NULL PRIMARY KEY, name "
		"VARCHAR(64) CHARACTER SET ascii NOT NULL, "
		"sha256 BINARY(32) NOT NULL, applied_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3)) "
		"ENGINE = InnoDB"
	)
	for file in files:
		sql(
			file.read_text() + "; INSERT INTO schema_migrations (version, name, sha256) VALUES "
			f"({int(file.name[:4])}, '{file.stem}', "
			f"X'{hashlib.sha256(file.read_bytes()).hexdigest()}')"
		)
	fill(sql, columns(sql, "older"), 1, 3)
	contains(done("backup", scratch / "older.sql.gz", database="older"), "at schema 3,")
	contains(
		done("restore", scratch / "older.sql.gz", database=fresh()),
		f"The database is at version {NEWEST}.",
	)
	equal(
		of("restored")("SELECT HEX(name) FROM users ORDER BY id"),
		sql("SELECT HEX(name) FROM users ORDER BY id"),
	)


@test
def a_backup_during_writes_is_a_consistent_snapshot():
	sql, stop = of("podium"), threading.Event()
	sql(
		"CREATE TABLE pairs_a (id INT PRIMARY KEY AUTO_INCREMENT, n INT) ENGINE = InnoDB; CREATE "
		"TABLE z_pairs (n INT PRIMARY KEY) ENGINE = InnoDB"
	)

	def write():
		n = 0
		while not stop.is_set():
			n += 20
			sql(
				"".join(
					f"BEGIN; INSERT INTO z_pairs VALUES ({i}); INSERT INTO pairs_a (n) "
					f"VALUES ({i}); "
					"COMMIT;"
					for i in range(n, n + 20)
				)
			)

	writer = threading.Thread(target=write)
	writer.start()
	try:
		last = lambda: sql("SELECT MAX(n) FROM z_pairs")
		until(lambda: last() != [["NULL"]])
		done("backup", FILE)
		in_backup = last()
		until(lambda: last() != in_backup)
	finally:
		stop.set()
		writer.join()
	done("restore", FILE, database=fresh())
	after, end = (
		of("restored")("SELECT n FROM pairs_a ORDER BY n"),
		sql("SELECT n FROM pairs_a ORDER BY n"),
	)
	equal(of("restored")("SELECT n FROM z_pairs ORDER BY n"), after)
	equal((0 < len(after) < len(end), end[: len(after)] == after), (True, True))
	sql("DROP TABLE pairs_a, z_pairs")
	done("backup", FILE)


# ---- what is refused ----


@test
def a_backup_can_be_verified_without_a_database():
	away = {"PODIUM_DATABASE_SOCKET": "/nonexistent/socket"}
	contains(done("backup", "check", FILE, **away), f"{FILE}: ")
	whole = FILE.read_bytes()
	for length in (0, 10, len(whole) // 2, len(whole) - 9, len(whole) - 1):
		(scratch / "cut.sql.gz").write_bytes(whole[:length])
		contains(refused("backup", "check", scratch / "cut.sql.gz", **away), "Nothing was changed")
	for place in (len(whole) // 3, len(whole) - 30):
		(scratch / "flipped.sql.gz").write_bytes(
			whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
		)
		contains(
			refused("backup", "check", scratch / "flipped.sql.gz", **away),
			"flipped.sql.gz is damaged",
		)
	contains(
		refused(
			"backup",
			"check",
			repack(lambda text: text.replace(b"participant", b"creator", 1)),
			**away,
		),
		"its SHA-256 is not",
	)
	contains(
		refused("backup", "check", repack(lambda text: text[: text.rindex(b"-- Podium")]), **away),
		"not a backup of Podium, or it was truncated",
	)
	contains(refused("backup", "check", scratch / "none", **away), "Cannot read the backup")


@test
def a_damaged_or_newer_backup_leaves_the_database_unchanged():
	fresh()
	contains(
		refused(
			"restore",
			repack(lambda text: text.replace(b"participant", b"creator", 1)),
			database="restored",
		),
		"damaged",
	)
	newer = repack(lambda text: re.sub(rb'"schema":\d+', b'"schema":9999', text))
	contains(refused("restore", newer, database="restored"), "has schema 9999")
	equal(tables_of("restored"), [])


@test
def replacing_a_database_that_is_not_empty_needs_its_name():
	done("restore", FILE, database=fresh())
	before = of("restored")("SELECT MAX(id) FROM audit_log")
	contains(
		refused("restore", FILE, database="restored"),
		"is not empty. To delete everything in it first, use --replace restored.",
	)
	contains(
		refused("restore", "--replace", "podium", FILE, database="restored"),
		"--replace names podium, but the settings name the database restored.",
	)
	equal(of("restored")("SELECT MAX(id) FROM audit_log"), before)
	of("restored")("CREATE TABLE `odd ``name` (id INT)")
	done("restore", "--replace", "restored", FILE, database="restored")
	lacks(tables_of("restored"), "odd `name")


@test
def a_database_in_use_is_left_alone():
	client = subprocess.Popen(
		["mariadb", "--no-defaults", "-S", server.socket, "restored", "-e", "SELECT SLEEP(30)"],
		stdout=subprocess.DEVNULL,
	)
	try:
		until(
			lambda: server.client(
				"", "SELECT 1 FROM information_schema.processlist WHERE db = 'restored'"
			).stdout
		)
		contains(
			refused("restore", "--replace", "restored", FILE, database="restored"),
			"in use by 1 other connection. Stop podium-web",
		)
		contains(refused("restored", database="restored"), "in use by 1 other connection")
	finally:
		client.kill()
		client.wait()
		server.client(
			"",
			"SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE db = 'restored'",
		)
	for row in server.client(
		"", "SELECT id FROM information_schema.processlist WHERE db = 'restored'"
	).stdout.split():
		server.client("", f"KILL {row}")


@test
def tables_without_consistent_snapshots_are_refused():
	of("podium")("CREATE TABLE notes (id INT) ENGINE = MyISAM")
	contains(refused("backup", scratch / "never.sql.gz"), "The table notes uses the engine MyISAM")
	of("podium")("DROP TABLE notes")
	contains(
		refused("backup", scratch / "never.sql.gz", database=fresh("empty")),
		"The database is empty",
	)
	equal((scratch / "never.sql.gz").exists(), False)


# ---- what breaks ----


@test
def a_full_disk_keeps_the_previous_backup():
	before = FILE.read_bytes()
	answer = subprocess.run(
		["bash", "-c", f"ulimit -f 8; trap '' XFSZ; exec {PROGRAM} backup {FILE}"],
		capture_output=True,
		text=True,
		env=server.environment,
	)
	equal(answer.returncode, 1)
	contains(answer.stderr, f"No backup was made: Cannot write the backup {FILE}: File too large.")
	equal((FILE.read_bytes() == before, leftovers()), (True, []))
	with open("/dev/full", "wb") as full:
		told = subprocess.run(
			[PROGRAM, "backup", "-"],
			stdout=full,
			stderr=subprocess.PIPE,
			text=True,
			env=server.environment,
		)
	equal((told.returncode, "No space left on device" in told.stderr), (1, True))


@test
def a_backup_can_go_to_standard_output():
	piped = subprocess.run(
		[PROGRAM, "backup", "-"], stdout=subprocess.PIPE, env=server.environment, check=True
	).stdout
	(scratch / "piped.sql.gz").write_bytes(piped)
	done("backup", "check", scratch / "piped.sql.gz")


def slow_tool(name, then):
	"""Makes a folder with a shell script `then` that has the name of a program, such as mariadb."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix=f"slow-{name}-", dir=scratch))
	(folder / name).write_text(f"#!/bin/bash\n{then}\n")
	(folder / name).chmod(0o755)
	return {"PATH": f"{folder}:{os.environ['PATH']}"}


@test
def a_dump_with_ambiguous_rows_is_no_backup():
	old = slow_tool(
		"mariadb-dump",
		"printf 'CREATE TABLE `users` (\\n);\\nINSERT INTO `users` VALUES (1),(2);\\n'",
	)
	before = FILE.read_bytes()
	contains(refused("backup", FILE, **old), "several rows on a line")
	equal((FILE.read_bytes() == before, leftovers()), (True, []))


@test
def ctrl_c_leaves_nothing_half_written():
	slow = slow_tool(
		"mariadb-dump", f"echo 'CREATE TABLE `a` ('; touch {scratch}/started; exec sleep 60"
	)
	for number in (signal.SIGINT, signal.SIGTERM):
		before = FILE.read_bytes()
		process = subprocess.Popen(
			[PROGRAM, "backup", FILE],
			stderr=subprocess.PIPE,
			text=True,
			env={**server.environment, **slow},
			start_new_session=True,
		)
		until((scratch / "started").exists)
		os.killpg(process.pid, number)
		told = process.communicate(timeout=20)[1]
		equal(process.returncode, 1)
		contains(told, "No backup was made: It was interrupted")
		equal((FILE.read_bytes() == before, leftovers()), (True, []))
		(scratch / "started").unlink()


@test
def a_tool_that_ignores_ctrl_c_is_killed():
	deaf = slow_tool(
		"mariadb-dump",
		f"trap '' INT; echo 'CREATE TABLE `a` ('; touch {scratch}/started; exec sleep 600",
	)
	process = subprocess.Popen(
		[PROGRAM, "backup", FILE],
		stderr=subprocess.PIPE,
		text=True,
		env={**server.environment, **deaf},
		start_new_session=True,
	)
	until((scratch / "started").exists)
	os.killpg(process.pid, signal.SIGINT)
	told = process.communicate(timeout=60)[1]
	equal((process.returncode, leftovers()), (1, []))
	contains(told, "No backup was made: It was interrupted")
	(scratch / "started").unlink()


@test
def an_interrupted_restore_leaves_an_empty_database():
	fresh()
	cut = slow_tool(
		"mariadb",
		f'head -c 20000 | {shutil.which("mariadb")} "$@" 2> /dev/null; echo \'ERROR 2013 '
		"(HY000): Lost connection to server during query' >&2; exit 1",
	)
	told = refused("restore", FILE, database="restored", **cut)
	contains(told, "mariadb failed: ")
	contains(told, "Lost connection to server during query. The database was emptied again.")
	equal(tables_of("restored"), [])
	stuck = slow_tool(
		"mariadb",
		f'exec {shutil.which("mariadb")} "$@" '
		f"< <(head -c 30000; touch {scratch}/started; sleep 60)",
	)
	process = subprocess.Popen(
		[PROGRAM, "restore", FILE],
		stderr=subprocess.PIPE,
		text=True,
		start_new_session=True,
		env={**server.environment, **stuck, "PODIUM_DATABASE_NAME": "restored"},
	)
	until((scratch / "started").exists)
	os.killpg(process.pid, signal.SIGINT)
	contains(process.communicate(timeout=30)[1], "interrupted")
	equal((process.returncode, tables_of("restored")), (1, []))


@test
def no_program_uses_the_remains_of_a_killed_restore():
	fresh()
	done("restore", FILE, database="restored")
	of("restored")("CREATE TABLE podium_restoring (since DATETIME)")
	for command in (["migrate"], ["backup", scratch / "never.sql.gz"], ["restored"]):
		contains(refused(*command, database="restored"), "The database is incomplete")
	contains(refused("restore", FILE, database="restored"), "a restore was interrupted")
	done("restore", "--replace", "restored", FILE, database="restored")
	lacks(tables_of("restored"), "podium_restoring")


@test
def a_missing_program_is_named():
	(scratch / "nothing").mkdir()
	told = subprocess.run(
		[PROGRAM, "backup", scratch / "never.sql.gz"],
		capture_output=True,
		text=True,
		env={**server.environment, "PATH": str(scratch / "nothing")},
	)
	contains(told.stderr, "mariadb-dump is not installed. Install the package mariadb-client.")


@test
def a_password_with_any_character_reaches_the_tools_without_showing():
	password = "p'a\"s\\s# ;n\\n=[x]"
	quoted = password.replace("\\", "\\\\").replace("'", "\\'")
	server.client(
		"",
		f"CREATE USER keeper@localhost IDENTIFIED BY '{quoted}'; GRANT ALL ON podium.* TO "
		"keeper@localhost",
	)
	words = slow_tool(
		"mariadb-dump",
		f"tr '\\0' ' ' < /proc/$$/cmdline > {scratch}/words; env > {scratch}/environment; exec "
		f'{shutil.which("mariadb-dump")} "$@"',
	)
	settings = scratch / "podium.conf"
	settings.write_text(f"database_user = keeper\ndatabase_password = {password}\n")
	environment = {
		name: value for name, value in server.environment.items() if name != "PODIUM_DATABASE_USER"
	}
	settings.chmod(0o600)
	answer = subprocess.run(
		[PROGRAM, "backup", scratch / "keeper.sql.gz"],
		capture_output=True,
		text=True,
		env={**environment, **words, "PODIUM_CONFIG": str(settings)},
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	for place in ("words", "environment"):
		lacks((scratch / place).read_text(), "p'a")


try:
	prepare()
	code = run()
finally:
	server.remove()
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(code)
