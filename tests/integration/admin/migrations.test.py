#!/usr/bin/env python3
"""sql/NNNN_*.sql: each migration is safe while the previous version of the programs still runs, can
run again after an interruption, and keeps all data.

An upgrade migrates the database while programs of the previous version still use it. A migration
that removes, narrows or renames something could break these programs. EXCEPTIONS lists such
statements, each with the reason why it breaks no program."""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from filler import columns, contents, definitions, fill  # noqa: E402
from mariadb import MariaDB, rows  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402

PROGRAM = ROOT / os.environ.get("B", "build/release") / "podium-admin"
FILES = sorted((ROOT / "sql").glob("[0-9]*.sql"))
AT_ONCE = 3  # rows that fill() inserts into each table at a time

# Statements that do more than add something, and why programs of the previous version still work
# after them: (migration, beginning of the statement, reason).
EXCEPTIONS = [
	("0003_results", "MODIFY mode ENUM(", "adds one member at the end"),
	("0003_results", "MODIFY name ENUM(", "adds one member at the end"),
	(
		"0004_control",
		"DROP KEY IF EXISTS jobs_claim",
		"no statement names it, and jobs_age begins with the same columns",
	),
	(
		"0008_comparisons",
		"MODIFY submission_id BIGINT UNSIGNED NULL",
		"allows NULL, which only jobs of comparisons have",
	),
	(
		"0008_comparisons",
		"ADD UNIQUE KEY IF NOT EXISTS jobs_comparison",
		"the column is new, and the previous version writes NULL",
	),
	("0008_comparisons", "ADD CONSTRAINT jobs_comparison FOREIGN KEY", "the column is new"),
	(
		"0008_comparisons",
		"ADD CONSTRAINT IF NOT EXISTS jobs_owner CHECK",
		"the previous version gives each job a submission",
	),
	("0008_comparisons", "MODIFY name ENUM(", "adds one member at the end"),
	("0013_operations", "ADD CONSTRAINT jobs_rejudged FOREIGN KEY", "the column is new"),
	("0013_operations", "DROP CONSTRAINT IF EXISTS jobs_owner", "allows more than before"),
	(
		"0013_operations",
		"ADD CONSTRAINT IF NOT EXISTS jobs_one_owner CHECK",
		"the previous version gives each job one owner",
	),
	(
		"0017_administration",
		"MODIFY COLUMN leaderboard_id BIGINT UNSIGNED NULL",
		"allows NULL, which only the new kind of rejudging has",
	),
	("0017_administration", "ADD CONSTRAINT rejudgings_user FOREIGN KEY", "the column is new"),
	(
		"0017_administration",
		"ADD CONSTRAINT IF NOT EXISTS rejudgings_one_subject CHECK",
		"the previous version gives each rejudging one subject",
	),
	("0017_administration", "MODIFY COLUMN kind ENUM(", "adds one member at the end"),
	("0032_sealed", "MODIFY engine ENUM(", "adds one member at the end"),
	("0042_reason_between", "MODIFY reason ENUM(", "adds one member at the end"),
	("0047_contests", "MODIFY events SET('record'", "adds members at the end"),
	("0047_contests", "MODIFY event ENUM('record'", "adds members at the end"),
	("0048_questions", "MODIFY events SET(", "adds members at the end"),
	("0048_questions", "MODIFY event ENUM(", "adds members at the end"),
	("0048_questions", "MODIFY kinds SET(", "adds members at the end"),
	("0048_questions", "MODIFY kind ENUM(", "adds members at the end"),
	("0054_baselines", "MODIFY role ENUM(", "adds one member at the end"),
	("0056_security_mails", "MODIFY kind ENUM(", "adds one member at the end"),
	("0062_announced", "MODIFY events SET(", "adds one member at the end"),
	("0062_announced", "MODIFY event ENUM(", "adds one member at the end"),
	("0062_announced", "MODIFY kinds SET(", "adds one member at the end"),
	("0062_announced", "MODIFY kind ENUM(", "adds one member at the end"),
	(
		"0059_teams_outlive_contests",
		"MODIFY contest_id BIGINT UNSIGNED NULL",
		"allows NULL, which only teams of a deleted contest have; no page of a contest reads them",
	),
]

# Tables that podium-admin migrate computes again from jobs.
RECOMPUTED = {"ranking", "records", "baselines", "file_times"}

# Columns that a migration rewrites on purpose: (table, column).
REWRITTEN = {
	("jobs", "user_id"),
	("submissions", "dry_run"),
	("leaderboard_gpus", "turn"),
	("rejudgings", "jobs"),
	("mail_addresses", "kinds"),
}

TAKES_AWAY = re.compile(
	r"\b(?:DROP\s+(?:TABLE|COLUMN|KEY|INDEX|CONSTRAINT|FOREIGN|PRIMARY|VIEW)|RENAME|CHANGE"
	r"|MODIFY|TRUNCATE|DELETE\s+FROM"
	r"|ADD\s+(?:CONSTRAINT|UNIQUE|PRIMARY|FOREIGN|CHECK)|ALTER\s+COLUMN|CONVERT\s+TO"
	r"|LOCK\s+TABLES)\b[^,;]*",
	re.I,
)
ADDS_COLUMN = re.compile(r"ADD\s+COLUMN\b(?:[^,;'(]|'(?:[^']|'')*'|\([^)]*\))*", re.I)
CREATES = re.compile(r"CREATE\s+TABLE\s+IF\s+NOT\s+EXISTS\s.*?(?=;)", re.I | re.S)


def plain(file):
	"""The file's statements without comments of either kind (-- and COMMENT '...')."""
	text = re.sub(r"^\s*--.*$", "", file.read_text(), flags=re.M)
	return re.sub(r"\bCOMMENT\s+'(?:[^']|'')*'", "", text)


def breaking(file):
	"""The statements of a migration that could break programs of the previous version."""
	text = plain(file)
	changes = re.sub(CREATES, "", text)
	found = [" ".join(match[0].split()) for match in TAKES_AWAY.finditer(changes)]
	for match in ADDS_COLUMN.finditer(changes):
		words = " ".join(match[0].split())
		if "NOT NULL" in words.upper() and "DEFAULT" not in words.upper():
			found.append(words)
	return found


def unbearable(file):
	return [
		part
		for part in breaking(file)
		if not any(
			name == file.stem and part.startswith(allowed) for name, allowed, _ in EXCEPTIONS
		)
	]


# ---- the files ----


@test
def the_checker_finds_what_breaks_the_previous_version():
	folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-migrations."))
	try:
		for statement, finds in (
			("ALTER TABLE jobs DROP COLUMN IF EXISTS reason;", 1),
			("DROP TABLE IF EXISTS jobs;", 1),
			("ALTER TABLE jobs\n  MODIFY\n gpu INT;", 1),
			("ALTER TABLE jobs CHANGE a b INT;", 1),
			("RENAME TABLE jobs TO work;", 1),
			("DELETE FROM jobs;", 1),
			("TRUNCATE jobs;", 1),
			("ALTER TABLE jobs ADD COLUMN IF NOT EXISTS a INT NOT NULL;", 1),
			(
				"ALTER TABLE jobs ADD COLUMN IF NOT EXISTS a INT NOT NULL COMMENT 'no "
				"DEFAULT', ADD "
				"COLUMN IF NOT EXISTS b INT NOT NULL;",
				2,
			),
			(
				"ALTER TABLE jobs ADD COLUMN IF NOT EXISTS a INT NOT NULL DEFAULT 0, ADD COLUMN IF "
				"NOT EXISTS b DECIMAL(3, 1) NULL;",
				0,
			),
			(
				"-- DROP TABLE jobs\nCREATE TABLE IF NOT EXISTS a (id INT, UNIQUE KEY a (id), "
				"CONSTRAINT b CHECK (id > 1));",
				0,
			),
			("ALTER TABLE jobs ADD UNIQUE KEY IF NOT EXISTS a (id);", 1),
			("ALTER TABLE jobs ADD KEY IF NOT EXISTS a (id);", 0),
		):
			file = folder / "0001_tried.sql"
			file.write_text(statement)
			equal((statement, len(unbearable(file))), (statement, finds))
	finally:
		shutil.rmtree(folder)


@test
def every_migration_only_adds():
	equal({file.stem: found for file in FILES if (found := unbearable(file))}, {})


@test
def every_exception_is_still_needed():
	unused = [
		(name, part)
		for name, part, _ in EXCEPTIONS
		if not any(
			file.stem == name and any(found.startswith(part) for found in breaking(file))
			for file in FILES
		)
	]
	equal(unused, [])


@test
def every_migration_can_run_again_after_an_interruption():
	for file in FILES:
		text = plain(file)
		for match in re.finditer(
			r"CREATE\s+TABLE\s+(?!IF\s+NOT\s+EXISTS)|ADD\s+(?:COLUMN|KEY|UNIQUE\s+KEY"
			r"|INDEX)\s+(?!IF\s+NOT\s+EXISTS)|INSERT\s+INTO\s+(?!.*?ON\s+DUPLICATE\s+KEY)",
			text,
			re.I | re.S,
		):
			raise AssertionError(
				f"{file.stem}: {text[match.start() : match.start() + 80]!r} fails when the "
				"migration runs again"
			)
		equal(
			[number for number in re.findall(r"\bENGINE\s*=\s*(\w+)", text) if number != "InnoDB"],
			[],
		)


# ---- on data ----

server = MariaDB()


def of(database):
	return functools.partial(rows, server.socket, database)


def admin(*words, database):
	return subprocess.run(
		[PROGRAM, *words],
		capture_output=True,
		text=True,
		env={**server.environment, "PODIUM_DATABASE_NAME": database},
	)


def make(database):
	server.client(
		"", f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
	)
	of(database)(
		"CREATE TABLE schema_migrations (version INT UNSIGNED NOT NULL PRIMARY KEY, name "
		"VARCHAR(64) CHARACTER SET ascii NOT NULL, "
		"sha256 BINARY(32) NOT NULL, applied_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3)) "
		"ENGINE = InnoDB"
	)
	return of(database)


def apply(sql, file):
	sql("SET sql_mode = 'TRADITIONAL', time_zone = '+00:00';" + file.read_text())


def note(sql, file):
	sql(
		f"INSERT INTO schema_migrations (version, name, sha256) VALUES ({int(file.name[:4])}, "
		f"'{file.stem}', X'{hashlib.sha256(file.read_bytes()).hexdigest()}')"
	)


def kept(sql, before, rows):
	"""Checks that every old row still has the same values, except in tables and columns that
	migrations rewrite on purpose."""
	same = {
		table: [column for column in known if (table, column[0]) not in REWRITTEN]
		for table, known in before.items()
		if table not in RECOMPUTED
	}
	found = contents(sql, same)
	for table, lines in rows.items():
		lost = set(lines) - set(found[table])
		equal((table, sorted(lost)[:2]), (table, []))


def rows_of(sql, before):
	return contents(
		sql,
		{
			table: [column for column in known if (table, column[0]) not in REWRITTEN]
			for table, known in before.items()
			if table not in RECOMPUTED
		},
	)


@test
def two_hosts_migrate_at_the_same_moment():
	server.client("", "CREATE DATABASE fresh CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
	both = [
		subprocess.Popen(
			[PROGRAM, "migrate"],
			stdout=subprocess.PIPE,
			stderr=subprocess.PIPE,
			text=True,
			env={**server.environment, "PODIUM_DATABASE_NAME": "fresh"},
		)
		for _ in range(2)
	]
	told = [one.communicate(timeout=60) for one in both]
	equal([one.returncode for one in both], [0, 0])
	equal("".join(text for text, _ in told).count("Applied "), len(FILES))


@test
def rows_of_every_schema_survive_all_migrations_and_the_old_version_can_still_write():
	sql, first = make("climb"), 1
	before = {}
	for file in FILES:
		there = rows_of(sql, before)
		apply(sql, file)
		kept(sql, before, there)
		# The previous version still writes rows after the migration.
		if before:
			fill(sql, before, first, AT_ONCE)
			first += AT_ONCE
		# An interrupted migration runs again from its start, so apply the migration a second time.
		apply(sql, file)
		note(sql, file)
		kept(sql, before, there)
		before = columns(sql, "climb")
		fill(sql, before, first, AT_ONCE)
		first += AT_ONCE
	equal(first > 2 * AT_ONCE * (len(FILES) - 1), True)
	equal(
		admin("migrate", database="climb").stdout,
		f"The database is at version {int(FILES[-1].name[:4])}.\n",
	)
	equal(columns(of("fresh"), "fresh"), before)
	equal(definitions(sql, before), definitions(of("fresh"), before))


@test
def versions_from_before_the_check_need_none_if_they_were_visible():
	sql = make("visible")
	for file in FILES:
		if file.stem == "0035_publications":
			sql(
				"INSERT INTO leaderboards (id, name, secret_seed, visibility) VALUES "
				"(1, 'public', 1, 'public'), (2, 'closed', 1, 'closed'), "
				"(3, 'hidden', 1, 'hidden');"
				"INSERT INTO task_versions (leaderboard_id, number, language, description, "
				"definition, draft) VALUES (1, 1, 'py', '', '{}', 0), (1, 2, 'py', '', '{}', 1), "
				"(2, 1, 'py', '', '{}', 0), (3, 1, 'py', '', '{}', 0)"
			)
		if file.stem == "0041_numbers":
			sql(
				"INSERT INTO task_versions (leaderboard_id, number, language, description, "
				"definition, check_waived) VALUES (1, 3, 'py', '', '{}', 1); "
				"UPDATE leaderboards SET task_version_id = (SELECT MIN(id) FROM task_versions "
				"WHERE leaderboard_id = leaderboards.id); INSERT INTO leaderboard_gpus "
				"(leaderboard_id, gpu, position, closed_at) VALUES (1, 'CPU', 0, NULL), "
				"(1, 'H200', 1, NULL), (1, 'L4', 2, UTC_TIMESTAMP(3)), (3, 'CPU', 0, NULL); "
				"SET foreign_key_checks = 0; INSERT INTO submissions (id, leaderboard_id, "
				"task_version_id, user_id, file_name, sha256, mode) SELECT 1, 1, id, 1, '', '', "
				"'ranked' FROM task_versions WHERE number = 3; INSERT INTO jobs (submission_id, "
				"user_id, gpu, state) VALUES (1, 1, 'H200', 'done'), (1, 1, 'CPU', 'failed')"
			)
		apply(sql, file)
	equal(
		sql(
			"SELECT l.name, v.number, v.check_waived, l.visibility FROM task_versions v "
			"JOIN leaderboards l ON l.id = v.leaderboard_id ORDER BY l.id, v.number"
		),
		[
			["public", "1", "1", "public"],
			["public", "2", "0", "public"],
			["public", "3", "1", "public"],
			["closed", "1", "1", "closed"],
			["hidden", "1", "0", "hidden"],
		],
	)
	# Version 3, which is not in use, has results on H200 alone. L4 is closed.
	equal(
		sql(
			"SELECT l.name, v.number, w.gpu FROM check_waivers w JOIN task_versions v "
			"ON v.id = w.task_version_id JOIN leaderboards l ON l.id = v.leaderboard_id "
			"ORDER BY l.id, v.number, w.gpu"
		),
		[
			["public", "1", ""],
			["public", "1", "CPU"],
			["public", "1", "H200"],
			["public", "3", ""],
			["public", "3", "H200"],
			["closed", "1", ""],
		],
	)


@test
def a_migration_that_fails_says_what_to_do_and_is_finished_later():
	sql = make("failing")
	for file in FILES[:-1]:
		apply(sql, file)
		note(sql, file)
	# The newest migration fails if a view takes the place of its table.
	name = re.search(r"(?:CREATE TABLE IF NOT EXISTS|ALTER TABLE)\s+(\w+)", plain(FILES[-1]))[1]
	known = name in columns(sql, "failing")
	sql(
		f"RENAME TABLE {name} TO aside; CREATE VIEW {name} AS SELECT 1 AS one"
		if known
		else f"CREATE VIEW {name} AS SELECT 1 AS one"
	)
	answer = admin("migrate", database="failing")
	if answer.returncode == 0:  # it did not fail: CREATE TABLE IF NOT EXISTS accepts a view
		sql(f"DELETE FROM schema_migrations WHERE version = {int(FILES[-1].name[:4])}")
	else:
		contains(answer.stderr, f"{FILES[-1].stem} did not finish: ")
		contains(answer.stderr, "run podium-admin migrate again")
	sql(f"DROP VIEW {name};" + (f"RENAME TABLE aside TO {name}" if known else ""))
	equal(admin("migrate", database="failing").returncode, 0)
	equal(
		definitions(sql, columns(sql, "failing")),
		definitions(of("fresh"), columns(of("fresh"), "fresh")),
	)


@test
def old_rankings_are_ordered_by_the_present_rules():
	sql = make("old_order")
	for file in [file for file in FILES if file.name < "0034"]:
		apply(sql, file)
		note(sql, file)
	fill(sql, columns(sql, "old_order"), 1, 3)
	# Until 0034 the earlier submission came first in a tie: here 102 before 100. Until 0038 a line
	# of records was in order of submission, so that 102 followed nothing.
	sql(
		"SET foreign_key_checks = 0; DELETE FROM ranking; DELETE FROM records; DELETE FROM jobs; "
		"DELETE FROM submissions; DELETE FROM task_engines; "
		"UPDATE leaderboards SET task_version_id = 1, frozen_at = NULL; INSERT INTO ranking "
		"(leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, score_ns, "
		"score_err_ns, submitted_at, position, place) VALUES "
		"(1, 1, 'X', 1, 1, 1, 102, 1, '2026-01-01', 1, 1), "
		"(1, 1, 'X', 2, 2, 2, 100, 1, '2026-01-02', 2, 1), "
		"(1, 1, 'X', 3, 3, 3, 104, 1, '2026-01-03', 3, 3); "
		"INSERT INTO submissions (id, user_id, leaderboard_id, task_version_id, sha256, file_name, "
		"mode) VALUES (1, 1, 1, 1, REPEAT('a', 32), 'a.py', 'ranked'), "
		"(2, 2, 1, 1, REPEAT('b', 32), 'b.py', 'ranked'), "
		"(3, 3, 1, 1, REPEAT('c', 32), 'c.py', 'ranked'), "
		"(4, 1, 1, 1, REPEAT('d', 32), 'd.py', 'ranked'); INSERT INTO jobs (id, submission_id, "
		"user_id, gpu, state, verdict, score_ns, score_err_ns, finished_at) VALUES "
		"(1, 1, 1, 'X', 'done', 'passed', 102, 1, '2026-01-02'), "
		"(2, 2, 2, 'X', 'done', 'passed', 100, 1, '2026-01-04'), "
		"(3, 3, 3, 'X', 'done', 'passed', 104, 1, '2026-01-05'), "
		"(4, 4, 1, 'X', 'done', 'passed', 110, 1, '2026-01-01'); INSERT INTO records "
		"(leaderboard_id, task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, "
		"submitted_at) VALUES (1, 1, 'X', 1, 1, 1, 1, 102, '2026-01-01')"
	)
	answer = admin("migrate", database="old_order")
	equal((answer.returncode, answer.stderr), (0, ""))
	equal(
		sql("SELECT job_id, score_ns, ranked_at FROM records WHERE line = 0 ORDER BY ranked_at"),
		[
			["4", "110", "2026-01-01 00:00:00.000"],
			["1", "102", "2026-01-02 00:00:00.000"],
			["2", "100", "2026-01-04 00:00:00.000"],
		],
	)
	equal(
		sql(
			"SELECT user_id, place, tied, above_ns, reason, other_id FROM ranking ORDER BY position"
		),
		[
			["2", "1", "1", "NULL", "NULL", "NULL"],
			["1", "1", "1", "NULL", "NULL", "NULL"],
			["3", "3", "0", "100", "chain", "1"],
		],
	)
	server.client("", "DROP DATABASE old_order")


@test
def accounts_that_were_deleted_before_keep_their_times_apart():
	sql = make("deleted_before")
	for file in [file for file in FILES if file.name < "0039"]:
		apply(sql, file)
		note(sql, file)
	fill(sql, columns(sql, "deleted_before"), 1, 4)
	# Users 1 and 2 are deleted. User 3 has submitted the text that takes the place of a source.
	sql(
		"SET foreign_key_checks = 0; DELETE FROM ranking; DELETE FROM records; DELETE FROM jobs; "
		"DELETE FROM submissions; DELETE FROM task_engines; DELETE FROM comparisons; "
		"UPDATE leaderboards SET task_version_id = 1, frozen_at = NULL; "
		"UPDATE users SET deleted_at = IF(id < 3, '2026-01-01', NULL); "
		"INSERT INTO submissions (id, user_id, leaderboard_id, task_version_id, sha256, file_name, "
		"mode) SELECT seq, seq, 1, 1, UNHEX(SHA2('This source was deleted together with its "
		"author''s account.\\n', 256)), 'deleted.txt', 'ranked' FROM seq_1_to_3; "
		"INSERT INTO jobs (id, submission_id, user_id, gpu, state, verdict, score_ns, "
		"score_err_ns, finished_at) SELECT id, id, id, 'X', 'done', 'passed', 100e3 * id, 1, "
		"'2026-01-02' FROM submissions; INSERT INTO ranking (leaderboard_id, task_version_id, gpu, "
		"user_id, submission_id, job_id, score_ns, score_err_ns, submitted_at, position, place) "
		"SELECT 1, 1, gpu, user_id, submission_id, id, score_ns, 1, '2026-01-01', id, id FROM jobs"
	)
	answer = admin("migrate", database="deleted_before")
	equal((answer.returncode, answer.stderr), (0, ""))
	equal(
		sql("SELECT user_id, score_ns FROM ranking ORDER BY position"),
		[["1", "100000"], ["2", "200000"], ["3", "300000"]],
	)
	equal(sql("SELECT id FROM submissions WHERE deleted_sha256 IS NULL"), [["3"]])
	server.client("", "DROP DATABASE deleted_before")


@test
def every_earlier_schema_can_be_migrated():
	"""Migrates from the first schema and from the last but one. With EVERY_SCHEMA, which `make
	test-scale` sets, the test starts from each schema in turn."""
	ends = range(1, len(FILES)) if os.environ.get("EVERY_SCHEMA") else (1, len(FILES) - 1)
	for end in ends:
		sql = make(f"from_{end}")
		for file in FILES[:end]:
			apply(sql, file)
			note(sql, file)
		before = columns(sql, f"from_{end}")
		fill(sql, before, 1, AT_ONCE)
		there = rows_of(sql, before)
		answer = admin("migrate", database=f"from_{end}")
		equal((end, answer.returncode, answer.stderr), (end, 0, ""))
		equal(answer.stdout.count("Applied "), len(FILES) - end)
		kept(sql, before, there)
		equal(
			definitions(sql, columns(sql, f"from_{end}")),
			definitions(of("fresh"), columns(of("fresh"), "fresh")),
		)
		server.client("", f"DROP DATABASE from_{end}")


try:
	code = run()
finally:
	server.remove()
sys.exit(code)
