#!/usr/bin/env python3
"""podium-admin against a real MariaDB: migrations, accounts, task folders, its messages and its
exit codes."""

import hashlib
import os
import pathlib
import pty
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from answers import refusal_of, result_of  # noqa: E402
from mariadb import MariaDB  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

PROGRAM = ROOT / os.environ.get("B", "build/release") / "podium-admin"
database = MariaDB()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-admin-test."))
sql = database.sql
FIRST = (ROOT / "sql" / "0001_initial.sql").read_bytes()
NEWEST = int(sorted((ROOT / "sql").glob("[0-9]*.sql"))[-1].name[:4])


def admin(*arguments, stdin="", **settings):
	return subprocess.run(
		[PROGRAM, *arguments],
		input=stdin,
		capture_output=True,
		text=True,
		env={**database.environment, **settings},
	)


def done(*arguments, **rest):
	return result_of(admin(*arguments, **rest))


def refused(*arguments, **rest):
	return refusal_of(admin(*arguments, **rest))


def misused(*arguments):
	answer = admin(*arguments)
	equal((answer.returncode, answer.stdout), (2, ""))
	return answer.stderr


def make_task(folder, name="small", seed=1, definition=None):
	task = folder / name
	task.mkdir(parents=True, exist_ok=True)
	(task / "reference.py").write_text(
		"def generate_input(seed):\n    return seed\n\ndef check_implementation(data, output):\n  "
		"  return True\n"
	)
	(task / "task.yml").write_text(
		definition
		or f"""
lang: py
description: A small task.
files:
  - {{name: submission.py, source: "@SUBMISSION@"}}
  - {{name: reference.py, source: reference.py}}
  - {{name: eval.py, source: "@STOCK@"}}
  - {{name: utils.py, source: "@STOCK@"}}
config: {{main: eval.py}}
tests: [{{seed: {seed}}}]
benchmarks: [{{seed: 3}}]
"""
	)
	return task


def offer(model):
	sql(
		"INSERT IGNORE INTO workers (id, name, version, host, started_at, seen_at) "
		"VALUES (1, 'here', '0', '{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)); "
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) VALUES (1, CONCAT('uuid-', '%s'), '%s', 'A device', 1, '', "
		"'', UTC_TIMESTAMP(3))" % (model, model)
	)


# ---- usage ----


@test
def help_lists_commands_and_settings():
	text = done("--help")
	for word in (
		"migrate",
		"user first-admin",
		"task load",
		"ranking rebuild",
		"PODIUM_DATABASE_SOCKET",
	):
		contains(text, word)
	contains(done("--version"), "podium-admin ")


@test
def wrong_usage_exits_with_2_and_prints_the_usage():
	contains(misused(), "Usage: podium-admin")
	contains(misused("user"), "There is no such command")
	contains(misused("user", "fly"), "There is no such command")
	contains(misused("user", "add"), "Usage: podium-admin user add NAME")
	contains(misused("user", "add", "ada", "--colour", "red"), "Usage: podium-admin user add NAME")
	contains(misused("user", "list", "x"), "Usage: podium-admin user list")
	contains(misused("task", "load"), "Usage: podium-admin task load")
	contains(misused("task", "check", "--root", "x"), "Usage: podium-admin task check")
	contains(misused("ranking", "rebuild", "a", "b"), "Usage: podium-admin ranking rebuild")


@test
def an_unreachable_database_gives_one_sentence():
	contains(
		refused("migrate", PODIUM_DATABASE_SOCKET="/nonexistent/socket"),
		"The database at /nonexistent/socket does not answer",
	)
	contains(
		refused("user", "list", PODIUM_DATABASE_PORT="many"),
		"PODIUM_DATABASE_PORT: database_port must be a whole number",
	)


# ---- migrate ----


@test
def an_empty_database_gets_every_table():
	contains(done("migrate"), f"Applied 0001_initial.\n")
	contains(sql("SHOW TABLES"), ["leaderboards"])
	equal(
		sql("SELECT version, name, LOWER(HEX(sha256)) FROM schema_migrations WHERE version = 1"),
		[["1", "0001_initial", hashlib.sha256(FIRST).hexdigest()]],
	)


@test
def a_second_migrate_changes_nothing():
	before = sql("SELECT version, HEX(sha256), applied_at FROM schema_migrations")
	equal(done("migrate"), f"The database is at version {NEWEST}.\n")
	equal(sql("SELECT version, HEX(sha256), applied_at FROM schema_migrations"), before)


@test
def an_interrupted_migration_is_finished():
	sql("DELETE FROM schema_migrations; DROP TABLE audit_log")
	contains(done("migrate"), "Applied 0001_initial.")
	contains(sql("SHOW TABLES"), ["audit_log"])


@test
def a_newer_database_is_left_alone():
	sql(
		"INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_later', "
		"REPEAT('x', 32))"
	)
	told = refused("migrate")
	contains(told, "it has version 9999 (9999_later)")
	contains(told, "Nothing was changed")
	sql("DELETE FROM schema_migrations WHERE version = 9999")


@test
def a_database_with_another_history_is_left_alone():
	sql("UPDATE schema_migrations SET sha256 = REPEAT('x', 32) WHERE version = 1")
	contains(refused("migrate"), "made with a different 0001_initial than this program has")
	sql(
		"DELETE FROM schema_migrations; INSERT INTO schema_migrations (version, name, sha256) "
		"VALUES (9999, '9999_later', REPEAT('x', 32))"
	)
	contains(refused("migrate"), "has version 9999 (9999_later) but not the earlier 0001_initial")
	sql("DELETE FROM schema_migrations")
	done("migrate")


@test
def two_migrations_at_the_same_time_apply_each_file_once():
	sql("DELETE FROM schema_migrations")
	both = [
		subprocess.Popen(
			[PROGRAM, "migrate"], env=database.environment, stdout=subprocess.PIPE, text=True
		)
		for _ in range(2)
	]
	texts = [process.communicate()[0] for process in both]
	equal([process.returncode for process in both], [0, 0])
	equal("".join(texts).count("Applied 0001_initial."), 1)


# ---- the first admin ----


@test
def the_first_admin_gets_a_password_that_only_its_owner_may_read():
	file = scratch / "admin-password"
	contains(done("user", "first-admin", "--password-file", file), str(file))
	equal(stat.S_IMODE(file.stat().st_mode), 0o600)
	password = file.read_text()
	equal(len(password.strip()), 20)
	equal(sql("SELECT name, role, must_change_password FROM users"), [["admin", "admin", "1"]])
	lacks(str(sql("SELECT * FROM users, audit_log")), password.strip())


@test
def there_is_only_one_first_admin():
	file = scratch / "admin-password"
	password = file.read_text()
	done("user", "first-admin", "--password-file", file)
	equal(file.read_text(), password)
	equal(sql("SELECT COUNT(*) FROM users"), [["1"]])


@test
def a_password_file_that_cannot_be_written_makes_no_admin():
	sql("DELETE FROM users")
	contains(
		refused("user", "first-admin", "--password-file", scratch / "no" / "where"),
		"Cannot write the password file",
	)
	equal(sql("SELECT COUNT(*) FROM users"), [["0"]])


@test
def a_link_in_place_of_the_password_file_is_replaced_not_followed():
	victim, file = scratch / "victim", scratch / "linked"
	victim.write_text("keep me")
	file.symlink_to(victim)
	done("user", "first-admin", "--password-file", file)
	equal((victim.read_text(), file.is_symlink()), ("keep me", False))
	equal(sorted(path.name for path in scratch.glob("linked*")), ["linked"])


# ---- accounts ----


@test
def an_account_gets_its_password_from_standard_input_or_a_file():
	contains(
		done("user", "add", "ada", stdin="a long password\n"),
		"Created the account ada with the role participant.",
	)
	(scratch / "password").write_text("another password\nsecond line\n")
	done("user", "add", "bob", "--role", "creator", "--password-file", scratch / "password")
	equal(
		sql(
			"SELECT name, role, must_change_password FROM users WHERE name IN ('ada', "
			"'bob') ORDER BY "
			"name"
		),
		[["ada", "participant", "0"], ["bob", "creator", "0"]],
	)
	equal(
		sql("SELECT subject, detail FROM audit_log WHERE action = 'user.add' AND subject = 'bob'"),
		[["bob", "creator"]],
	)


@test
def the_terminal_asks_twice_and_shows_nothing():
	def at_terminal(name, first, second):
		process, terminal = pty.fork()
		if process == 0:
			os.execve(PROGRAM, [str(PROGRAM), "user", "add", name], database.environment)
		shown = b""
		for question, reply in ((b"Password: ", first), (b"Repeat the password: ", second)):
			while question not in shown:
				shown += os.read(terminal, 1000)
			time.sleep(0.05)
			os.write(terminal, reply + b"\n")
		try:
			while piece := os.read(terminal, 1000):
				shown += piece
		except OSError:  # podium-admin has exited and closed its side of the terminal
			pass
		os.close(terminal)
		return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()

	code, shown = at_terminal("terry", b"typed password", b"typed password")
	equal(code, 0)
	lacks(shown, "typed")
	code, shown = at_terminal("tessa", b"typed password", b"typed differently")
	equal(code, 1)
	contains(shown, "The two passwords differ")


@test
def bad_accounts_are_refused():
	contains(refused("user", "add", "ada", stdin="a long password\n"), "The name ada is taken")
	contains(
		refused("user", "add", "x\x1b[2J", stdin="a long password\n"), "A name has 2 to 32 letters"
	)
	contains(
		refused("user", "add", "carl", stdin="short\n"), "A password needs at least 8 characters."
	)
	contains(refused("user", "add", "carl", stdin=""), "There is no password in standard input")
	contains(refused("user", "add", "carl", stdin="x" * 600 + "\n"), "is too long for a password")
	contains(
		refused("user", "add", "carl", "--role", "boss", stdin="a long password\n"),
		"There is no role boss",
	)
	contains(
		refused("user", "add", "carl", "--password-file", "/nonexistent"),
		"Cannot read the password file /nonexistent",
	)
	equal(sql("SELECT COUNT(*) FROM users WHERE name = 'carl'"), [["0"]])


@test
def roles_and_passwords_change():
	done("user", "role", "ada", "creator")
	equal(sql("SELECT role FROM users WHERE name = 'ada'"), [["creator"]])
	sql(
		"INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at) "
		"SELECT REPEAT('t', 32), id, '', '', UTC_TIMESTAMP(3) + INTERVAL 1 DAY FROM users WHERE "
		"name = 'ada'"
	)
	before = sql("SELECT password_hash FROM users WHERE name = 'ada'")
	done("user", "password", "ada", stdin="a new password\n")
	equal(sql("SELECT COUNT(*) FROM sessions"), [["0"]])
	equal(sql("SELECT password_hash FROM users WHERE name = 'ada'") == before, False)
	contains(refused("user", "role", "zoe", "admin"), "There is no user named zoe")
	contains(
		refused("user", "password", "zoe", stdin="a new password\n"), "There is no user named zoe"
	)


@test
def the_list_shows_role_and_state():
	sql("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE name = 'bob'")
	lines = {line.split()[0]: line for line in done("user", "list").splitlines()}
	contains(lines["ada"], "creator")
	contains(lines["bob"], "banned")
	contains(lines["admin"], "must change the password")


# ---- devices ----


@test
def listing_devices_fails_while_there_are_none():
	equal(admin("gpu", "list").returncode, 1)


# ---- tasks ----


@test
def a_folder_of_tasks_becomes_leaderboards_even_before_there_is_a_device():
	make_task(scratch / "tasks")
	contains(
		done("task", "load", scratch / "tasks"),
		"small: created; no worker offers a device that can run it yet.",
	)
	equal(
		sql("SELECT name, creator_id, deadline, accepting FROM leaderboards"),
		[["small", "NULL", "NULL", "1"]],
	)


@test
def a_leaderboard_without_devices_gets_the_offered_ones():
	offer("CPU")
	equal(done("task", "load", scratch / "tasks"), "small: unchanged. It now has devices.\n")
	equal(sql("SELECT gpu FROM leaderboard_gpus"), [["CPU"]])
	equal(done("gpu", "list"), "CPU              A device\n")


@test
def chosen_devices_stay_when_others_are_offered():
	offer("H200")
	equal(done("task", "load", scratch / "tasks"), "small: unchanged.\n")
	equal(sql("SELECT gpu FROM leaderboard_gpus"), [["CPU"]])


@test
def a_changed_folder_is_a_new_version():
	make_task(scratch / "tasks", seed=2)
	equal(
		done("task", "load", scratch / "tasks"),
		"small: the folder changed (tests); now version 2.\n",
	)
	equal(done("task", "load", scratch / "tasks"), "small: unchanged.\n")
	equal(sql("SELECT COUNT(*) FROM task_versions"), [["2"]])


@test
def loading_a_task_again_keeps_the_settings_of_an_admin():
	sql(
		"UPDATE leaderboards SET deadline = '2030-01-01', accepting = 0, "
		"sources_open = 'closing', source_license = 'MIT'"
	)
	make_task(scratch / "tasks", seed=3)
	done("task", "load", scratch / "tasks")
	equal(
		sql("SELECT deadline, accepting, sources_open, source_license FROM leaderboards"),
		[["2030-01-01 00:00:00.000", "0", "closing", "MIT"]],
	)


@test
def a_task_from_the_web_panel_is_not_replaced():
	sql("UPDATE task_versions SET created_by = (SELECT id FROM users WHERE name = 'admin')")
	make_task(scratch / "tasks", seed=4)
	equal(
		done("task", "load", scratch / "tasks"),
		"small: keeps the task that was uploaded in the browser.\n",
	)
	equal(sql("SELECT MAX(number) FROM task_versions"), [["3"]])


@test
def a_leaderboard_that_an_admin_deleted_comes_back_only_when_it_is_named():
	sql("UPDATE leaderboards SET task_version_id = NULL; DELETE FROM leaderboards")
	sql(
		"INSERT INTO audit_log (actor_id, actor, address, action, subject, detail) SELECT id, "
		"name, '', 'leaderboard.delete', 'small', '' "
		"FROM users WHERE name = 'admin'"
	)
	contains(done("task", "load", scratch / "tasks"), "small: stays deleted")
	equal(sql("SELECT COUNT(*) FROM leaderboards"), [["0"]])
	equal(
		done("task", "load", scratch / "tasks" / "small"),
		"small: created. It stays hidden until its check passes.\n",
	)


@test
def a_bad_task_is_refused_and_the_others_are_loaded():
	make_task(scratch / "tasks", "wrong", definition="lang: rust\n")
	make_task(scratch / "tasks", "zebra")
	answer = admin("task", "load", scratch / "tasks")
	equal(answer.returncode, 1)
	contains(
		answer.stderr, f"podium-admin: {(scratch / 'tasks' / 'wrong').resolve()}: task.yml line 1"
	)
	equal(answer.stderr.count("\n"), 1)
	contains(answer.stdout, "zebra: created.")
	shutil.rmtree(scratch / "tasks" / "wrong")


SINGLE = (
	"def generate_input(): return 1\ndef ref_kernel(data): return data\n"
	"def check_implementation(output, expected): return output == expected\n"
)


def zip_of(path, **files):
	with zipfile.ZipFile(path, "w") as pack:
		for name, text in files.items():
			pack.writestr(name, text)
	return path


@test
def what_task_check_calls_good_task_load_takes():
	"""The forms of a task that both commands take: a zip of the task's files, a zip with the task
	in a folder, a reference without other files, and a folder that uses files of the folder
	above."""
	folder = make_task(scratch / "in-tree", "leaf")
	text = (folder / "task.yml").read_text()
	above = text.replace('utils.py, source: "@STOCK@"', "utils.py, source: ../utils.py")
	(scratch / "in-tree" / "utils.py").write_text("def set_seed(seed): pass\n")
	(folder / "task.yml").write_text(above)
	reference = (folder / "reference.py").read_text()
	(scratch / "alone").mkdir()
	(scratch / "alone" / "reference.py").write_text(SINGLE)
	(scratch / "copied.py").write_text(SINGLE)
	paths = {
		"leaf": folder,
		"zipped": zip_of(scratch / "zipped.zip", **{"task.yml": text, "reference.py": reference}),
		"packed": zip_of(
			scratch / "packed.zip",
			**{"leaf/task.yml": above, "leaf/reference.py": reference, "utils.py": "pass\n"},
		),
		"alone": scratch / "alone" / "reference.py",
		"copied": scratch / "copied.py",
	}
	for name, path in paths.items():
		contains(done("task", "check", path), f"{path}: good\n")
		equal(done("task", "load", "--dry-run", path), f"{name}: would be created.\n")
		equal(done("task", "load", "--unchecked", path), f"{name}: created.\n")
		equal(done("task", "load", path), f"{name}: unchanged.\n")
	(folder / "task.yml").write_text(above.replace("../utils.py", "../../utils.py"))
	for command in ("check", "load"):
		answer = admin("task", command, folder)
		equal(answer.returncode, 1)
		contains(answer.stdout + answer.stderr, 'source "../../utils.py" of task.yml leads out of')
	(scratch / "in-tree" / "utils.py").rename(scratch / "utils.py")
	contains(done("task", "load", "--root", scratch, folder), "leaf: ")
	broken = zip_of(scratch / "broken.zip", **{"task.yml": "lang: rust\n"})
	contains(refused("task", "load", broken), "task.yml line 1")


@test
def a_folder_without_tasks_is_refused():
	(scratch / "empty").mkdir()
	contains(refused("task", "load", scratch / "empty"), "there is no task here")
	contains(refused("task", "load", scratch / "nowhere"), "No such file or directory")


@test
def the_shipped_tasks_load():
	answer = admin("task", "load", ROOT / "tasks")
	equal((answer.returncode, answer.stderr), (0, ""))
	contains(answer.stdout, "vectoradd_py: created.")


# ---- ranking ----


@test
def the_ranking_is_rebuilt_for_one_or_all():
	contains(done("ranking", "rebuild"), "every leaderboard")
	contains(done("ranking", "rebuild", "zebra"), "The ranking of zebra is recomputed.")
	contains(refused("ranking", "rebuild", "nope"), "There is no leaderboard named")


# ---- init ----

SETTINGS = scratch / "etc" / "podium.conf"


def set_up(*arguments, stdin="", **settings):
	"""Runs podium-admin init for a new database, without the settings that the other tests use."""
	environment = {
		name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")
	}
	return subprocess.run(
		[PROGRAM, "init", *arguments],
		input=stdin,
		capture_output=True,
		text=True,
		env={
			**environment,
			"PODIUM_CONFIG": str(SETTINGS),
			"PODIUM_WORKER_RUNNER": "/bin/true",
			**settings,
		},
	)


@test
def init_asks_again_after_each_bad_answer_and_says_why():
	database.client("", "CREATE DATABASE podium_init")
	user = database.environment["PODIUM_DATABASE_USER"]
	answer = set_up(
		stdin=f"/nowhere\n{database.socket}\npodium "
		f"init\npodium_init\n{user}\n\nftp://x\nhttps://gpu.example/\nboss\nshort\nboss\na good "
		"password\n"
	)
	equal(answer.returncode, 0)
	for sentence in (
		"There is no socket /nowhere",
		'"podium init" is not allowed here',
		'"ftp://x" is not a web address',
		"at least 8 characters",
	):
		contains(answer.stderr, sentence)
	for sentence in (
		"Wrote ",
		"Applied 0001",
		"Created the admin boss",
		"https://gpu.example and sign in",
	):
		contains(answer.stdout, sentence)
	lacks(answer.stdout + answer.stderr, "a good password")
	equal(stat.S_IMODE(SETTINGS.stat().st_mode), 0o640)
	contains(SETTINGS.read_text(), "\npublic_url = https://gpu.example\n")
	equal(database.sql("SELECT name, role FROM podium_init.users"), [["boss", "admin"]])
	equal([path.name for path in SETTINGS.parent.iterdir()], ["podium.conf"])


@test
def running_init_again_changes_only_the_new_answers():
	SETTINGS.write_text("# mine\n" + SETTINGS.read_text() + "web_threads = 3\n")
	answers = scratch / "answers"
	answers.write_text("# for a test\npublic_url = http://other.example:8080\n")
	before = SETTINGS.read_text()
	answer = set_up("--yes", "--answers-from", answers)
	equal((answer.returncode, answer.stderr), (0, ""))
	equal(SETTINGS.read_text(), before.replace("https://gpu.example", "http://other.example:8080"))
	lacks(answer.stdout, "Created the admin ")
	equal(set_up("--yes").returncode, 0)


@test
def init_without_a_terminal_refuses_missing_answers_and_writes_nothing():
	before = SETTINGS.read_text()
	answers = scratch / "answers"
	for text, arguments, sentence in (
		("database = /nowhere\n", ["--yes"], "There is no socket /nowhere"),
		("public_url = x\n", ["--yes"], "is not a web address"),
		("database_nome = x\n", ["--yes"], "line 1: there is no question database_nome"),
		("database_name\n", [], "line 1: expected"),
		("", [], "The question for database has no answer"),
		("database_user = nobody_has_it\nmake_database = no\n", ["--yes"], "Access denied"),
	):
		answers.write_text(text)
		answer = set_up("--answers-from", answers, *arguments)
		equal(answer.returncode, 1)
		contains(answer.stderr, sentence)
		equal(SETTINGS.read_text(), before)
	answer = set_up("--nonsense")
	equal(answer.returncode, 2)
	SETTINGS.write_text(before + "web_thread = 3\n")
	contains(
		set_up("--yes").stderr,
		f"line {before.count(chr(10)) + 1}: there is no setting named web_thread",
	)
	SETTINGS.write_text(before)


try:
	status = run()
finally:
	database.remove()
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
