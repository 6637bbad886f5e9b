#!/usr/bin/env python3
"""./run as people and service managers use it: starting, refusing to start, two side by side,
Ctrl-C, kill -9, and data that survives."""

import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from instance import ROOT, Instance, free_port  # noqa: E402
from processes import descendants, find, is_gone  # noqa: E402
from quick import quick_python  # noqa: E402
from quick_task import RIGHT, write_task  # noqa: E402
from readable import readable_copy  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test, until  # noqa: E402

BUILD = os.environ.get("B", "build/release")
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-run-test."))
# A process that a shell starts in the background ignores Ctrl-C, and so do its children. Undo this
# for ./run.
signal.signal(signal.SIGINT, signal.default_int_handler)
podium = Instance(private=True)
# The instances below use an interpreter without torch, because importing torch takes longer than
# everything else.
scratch.chmod(0o755)
QUICK = {"PODIUM_PYTHON": quick_python(scratch), "PODIUM_LEASE_MS": "5000"}
podium.environment |= QUICK


def health(instance):
	try:
		connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=10)
		connection.request("GET", "/healthz")
		return connection.getresponse().status
	except ConnectionError:
		return None


def output(instance):
	return (instance.var / "run.log").read_text(errors="replace")


def refused(before=(), **settings):
	"""Runs a ./run that must refuse to start and exit. Returns its message."""
	environment = {
		**os.environ,
		"B": BUILD,
		"PODIUM_VAR": str(scratch / "refused"),
		"PODIUM_PORT": str(free_port()),
		**settings,
	}
	answer = subprocess.run(
		[*before, ROOT / "run"],
		cwd=ROOT,
		env=environment,
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
		timeout=120,
	)
	equal(answer.returncode, 1)
	return answer.stderr


def admin(instance, *arguments, stdin=""):
	return subprocess.run(
		[instance.admin_program, *arguments],
		env=instance.environment,
		input=stdin,
		capture_output=True,
		text=True,
		cwd=ROOT,
	)


@test
def it_prints_its_address_and_the_file_of_the_first_password():
	equal(health(podium), 200)
	contains(output(podium), f"Podium is ready at http://127.0.0.1:{podium.port}/\n")
	password = podium.var / "admin-password"
	contains(output(podium), str(password))
	equal(stat.S_IMODE(password.stat().st_mode), 0o600)
	equal(
		podium.sql("SELECT name, role, must_change_password FROM users"), [["admin", "admin", "1"]]
	)


@test
def the_database_is_private():
	equal(podium.sql("SELECT @@skip_networking"), [["1"]])
	equal(stat.S_IMODE((podium.var / "mariadb").stat().st_mode) & 0o077, 0)
	equal(stat.S_IMODE((podium.var / "run").stat().st_mode) & 0o077, 0)
	# The account mariadb.sys has no password but is locked: it only owns the system's views.
	open_accounts = podium.sql(
		"SELECT user FROM mysql.global_priv WHERE JSON_VALUE(priv, '$.plugin') <> 'unix_socket' "
		"AND JSON_VALUE(priv, '$.authentication_string') = '' AND COALESCE(JSON_VALUE(priv, "
		"'$.account_locked'), 0) <> 1"
	)
	equal(open_accounts, [])


@test
def passwords_are_hashed_with_the_full_cost():
	hashed = podium.sql("SELECT password_hash FROM users WHERE name = 'admin'")[0][0]
	equal(hashed.split("$")[:4], ["", "argon2id", "v=19", "m=65536,t=2,p=1"])


@test
def only_this_machine_reaches_it():
	port, listens = f":{podium.port:04X}", "0A"
	addresses = {
		line.split()[1].removesuffix(port)
		for table in ("tcp", "tcp6")
		for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]
		if line.split()[1].endswith(port) and line.split()[3] == listens
	}
	equal(addresses, {f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}"})


@test
def the_shipped_tasks_are_loaded():
	shipped = sorted(
		folder.name
		for folder in (ROOT / "tasks").iterdir()
		if (folder / "task.yml").exists() or (folder / "reference_code.py").exists()
	)
	equal([row[0] for row in podium.sql("SELECT name FROM leaderboards ORDER BY name")], shipped)


@test
def a_second_start_on_the_same_data_is_refused_without_harm():
	told = refused(PODIUM_VAR=str(podium.var))
	contains(
		told,
		f"Podium runs on {podium.var} already (process {podium.process.pid}, port {podium.port})",
	)
	equal(health(podium), 200)


@test
def a_port_in_use_is_reported_before_anything_is_written():
	with socket.socket() as other:
		other.bind(("127.0.0.1", 0))
		other.listen()
		port = other.getsockname()[1]
		contains(
			refused(PODIUM_PORT=str(port), PODIUM_VAR=str(scratch / "port")),
			f"Another program uses port {port} on 127.0.0.1",
		)
	equal((scratch / "port").exists(), False)


@test
def an_invalid_port_is_refused():
	contains(
		refused(PODIUM_PORT="80a"), 'The port must be a whole number from 1 to 65535, not "80a".'
	)
	contains(refused(PODIUM_PORT="70000"), "The port must be a whole number from 1 to 65535")


@test
def a_path_that_cannot_work_is_refused():
	contains(
		refused(PODIUM_VAR=str(scratch / ("long" * 25))),
		"a socket's path may have at most 107; choose a shorter one",
	)
	contains(
		refused(PODIUM_VAR=str(scratch / "with space")), "has a space, a quote or another character"
	)
	(scratch / "file").write_text("")
	contains(refused(PODIUM_VAR=str(scratch / "file" / "var")), "Cannot create the folder")


@test
def a_folder_of_another_user_is_refused():
	if os.geteuid() != 0:
		raise Skip("only root can make a folder of somebody else")
	folder = scratch / "theirs"
	folder.mkdir()
	shutil.chown(folder, "nobody")
	contains(refused(PODIUM_VAR=str(folder)), f"{folder} belongs to nobody, and you are root")
	equal(list(folder.iterdir()), [])


@test
def a_missing_tool_is_named():
	tools = scratch / "tools"
	tools.mkdir()
	for folder in ("/bin", "/usr/bin"):
		for name in os.listdir(folder):
			if name != "mariadb-install-db" and not (tools / name).is_symlink():
				(tools / name).symlink_to(f"{folder}/{name}")
	contains(
		refused(PATH=str(tools)),
		"These programs are missing: mariadb-install-db. ./dev run installs what is needed.",
	)


@test
def missing_podium_programs_are_named():
	contains(refused(B=str(scratch)), "podium-web is not built yet: run make first")


@test
def two_instances_run_side_by_side_and_ctrl_c_stops_one():
	other = Instance(private=True, **QUICK)
	try:
		equal((health(podium), health(other)), (200, 200))
		children = descendants(other.process.pid)
		equal(len(children) >= 5, True)
		os.killpg(other.process.pid, signal.SIGINT)  # as a terminal does on Ctrl-C
		equal(other.process.wait(60), 0)
		equal([child for child in children if not is_gone(child)], [])
		contains(output(other), f"Podium has stopped; its data stay in {other.var}.")
		contains((other.var / "log" / "mariadb.log").read_text(), "Shutdown complete")
		equal((health(podium), health(other)), (200, None))
	finally:
		other.remove()


@test
def a_second_start_keeps_the_data_and_the_password():
	password = (podium.var / "admin-password").read_text()
	equal(admin(podium, "user", "add", "ada", stdin="a long password\n").returncode, 0)
	versions = podium.sql("SELECT id, leaderboard_id, number FROM task_versions ORDER BY id")
	podium.stop()
	(podium.var / "run.log").unlink()
	podium.start()
	equal(podium.sql("SELECT name FROM users ORDER BY name"), [["ada"], ["admin"]])
	equal((podium.var / "admin-password").read_text(), password)
	equal(podium.sql("SELECT id, leaderboard_id, number FROM task_versions ORDER BY id"), versions)
	until(lambda: str(podium.var / "admin-password") in output(podium))


@test
def the_file_of_the_one_time_password_goes_once_the_password_changed():
	equal(admin(podium, "user", "password", "admin", stdin="another password\n").returncode, 0)
	podium.stop()
	(podium.var / "run.log").unlink()
	podium.start()
	equal((podium.var / "admin-password").exists(), False)
	lacks(output(podium), "password")


def runs_again(name, before):
	with contextlib.suppress(AssertionError):  # there is none yet, or no database
		return find(podium.process.pid, name) != before and podium.sql("SELECT 1")


def submit_slow():
	"""Queues a job of three seconds and returns its submission. Needs the user ada."""
	folder = scratch / "slow"
	write_task(folder)
	equal(admin(podium, "task", "load", "--unchecked", folder).returncode, 0)
	source = f"import time\ntime.sleep(3)\n{RIGHT}".encode().hex()
	return podium.value(
		f"INSERT INTO blobs VALUES (UNHEX(SHA2(UNHEX('{source}'), 256)), {len(source) // 2}, "
		f"UNHEX('{source}')); INSERT INTO submissions (leaderboard_id, task_version_id, user_id, "
		"file_name, sha256, mode) SELECT l.id, l.task_version_id, u.id, 'a.py', "
		f"UNHEX(SHA2(UNHEX('{source}'), 256)), 'test' FROM leaderboards l JOIN users u ON "
		"u.name = 'ada' WHERE l.name = 'slow'; SET @submission = LAST_INSERT_ID(); INSERT INTO "
		"jobs (submission_id, user_id, gpu) SELECT id, user_id, 'CPU' FROM submissions WHERE "
		"id = @submission; SELECT @submission"
	)


@test
def a_program_that_dies_starts_again():
	names = "podium-web", "podium-hooks", "podium-worker", "nginx", "mariadbd"
	for name in names:
		before = find(podium.process.pid, name)
		os.kill(before, signal.SIGKILL)
		short = {"mariadbd": "mariadb"}.get(name, name.removeprefix("podium-"))
		until(lambda: runs_again(name, before) and health(podium) == 200)
		contains(
			output(podium),
			f"podium: {short} stopped unexpectedly (exit status 137) and starts again in 1 s.",
		)
	equal(podium.process.poll(), None)


@test
def a_worker_killed_in_the_middle_of_a_job_runs_it_again():
	number = submit_slow()
	until(
		lambda: podium.sql(
			"SELECT s.name FROM stages s JOIN jobs j ON j.id = s.job_id WHERE s.verdict IS NULL "
			f"AND j.state = 'running' AND j.submission_id = {number}"
		)
		== [["test"]]
	)
	os.kill(find(podium.process.pid, "podium-worker"), signal.SIGKILL)
	until(
		lambda: podium.sql(f"SELECT state FROM jobs WHERE submission_id = {number}") == [["done"]]
	)
	equal(
		podium.sql(f"SELECT verdict, attempt FROM jobs WHERE submission_id = {number}"),
		[["passed", "2"]],
	)


@test
def after_five_deaths_in_a_minute_everything_stops():
	children = descendants(podium.process.pid)

	def kill_web():
		with contextlib.suppress(AssertionError):  # it has not started again yet
			os.kill(find(podium.process.pid, "podium-web"), signal.SIGKILL)
		return podium.process.poll() is not None

	until(kill_web)
	equal(podium.process.wait(60), 1)
	told = output(podium)
	for seconds in (1, 2, 4, 8):
		contains(
			told,
			"podium: web stopped unexpectedly (exit status 137) and starts again in "
			f"{seconds} s. Its log is {podium.var / 'log' / 'web.log'}.",
		)
	contains(
		told,
		"podium: web stopped 5 times in a minute, the last time with exit status 137, so Podium "
		"stops. Mend the cause, then start Podium again.",
	)
	contains(told, f"The end of {podium.var / 'log' / 'web.log'}:")
	until(lambda: all(is_gone(child) for child in children))


@test
def a_program_that_cannot_start_is_named():
	programs = scratch / "programs"
	programs.mkdir()
	for path in (ROOT / BUILD).iterdir():
		(programs / path.name).symlink_to(path)
	(programs / "podium-hooks").unlink()
	(programs / "podium-hooks").write_text("#!/bin/sh\necho 'It is broken.'\nexit 3\n")
	(programs / "podium-hooks").chmod(0o755)
	told = refused(PODIUM_VAR=str(podium.var), B=str(programs))
	contains(told, "podium: hooks stopped unexpectedly (exit status 3).")
	contains(told, "It is broken.")


@test
def a_killed_run_leaves_no_process_and_starts_again():
	(podium.var / "run.log").unlink()
	podium.start()
	children = descendants(podium.process.pid)
	podium.process.kill()
	podium.process.wait()
	until(lambda: all(is_gone(child) for child in children))
	(podium.var / "run.log").unlink()
	podium.start()
	equal(health(podium), 200)
	contains(podium.sql("SELECT name FROM users"), ["ada"])


@test
def a_database_that_lacks_a_migration_is_migrated():
	podium.sql("DELETE FROM schema_migrations")
	podium.stop()
	(podium.var / "run.log").unlink()
	podium.start()
	contains(output(podium), "Applied 0001_initial.")
	contains(podium.sql("SELECT name FROM users"), ["ada"])


@test
def a_newer_database_is_refused_and_left_unchanged():
	podium.sql(
		"INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_later', "
		"REPEAT('x', 32))"
	)
	podium.stop()
	told = refused(PODIUM_VAR=str(podium.var), PODIUM_PORT=str(podium.port))
	contains(told, "The database is newer than this program: it has version 9999 (9999_later)")
	told = refused(PODIUM_VAR=str(podium.var), PODIUM_PORT=str(podium.port))
	contains(told, "Nothing was changed")


@test
def a_half_made_database_is_made_again():
	var = scratch / "half"
	process = subprocess.Popen(
		[ROOT / "run"],
		cwd=ROOT,
		stdin=subprocess.DEVNULL,
		stdout=subprocess.DEVNULL,
		stderr=subprocess.DEVNULL,
		env={**os.environ, "B": BUILD, "PODIUM_VAR": str(var), "PODIUM_PORT": str(free_port())},
		start_new_session=True,
	)
	until(lambda: (var / "mariadb.new").exists())
	os.killpg(process.pid, signal.SIGKILL)
	process.wait()
	equal(((var / "mariadb.new").exists(), (var / "mariadb").exists()), (True, False))
	half = Instance(var=var, private=True, **QUICK)
	try:
		equal(health(half), 200)
		equal((var / "mariadb.new").exists(), False)
	finally:
		half.remove()


@test
def a_folder_that_is_no_data_folder_is_not_touched():
	folder = scratch / "odd" / "mariadb"
	folder.mkdir(parents=True)
	(folder / "precious").write_text("keep me")
	contains(refused(PODIUM_VAR=str(scratch / "odd")), "is not a MariaDB data folder. Move it away")
	equal((folder / "precious").read_text(), "keep me")


@test
def an_ordinary_user_can_run_it():
	if os.geteuid() != 0:
		raise Skip("this test runs as an ordinary user already")
	become = [
		"setpriv",
		"--reuid=nobody",
		"--regid=nogroup",
		"--clear-groups",
		"--no-new-privs",
		"--",
	]
	tree = readable_copy(
		ROOT,
		"run",
		"nginx.conf",
		"packaging/nginx",
		"static",
		"tasks",
		*(path.relative_to(ROOT) for path in (ROOT / BUILD).glob("podium-*")),
	)
	var = scratch / "nobody"
	scratch.chmod(0o711)
	var.mkdir()
	shutil.chown(var, "nobody", "nogroup")
	ordinary = Instance(var=var, before=become, private=True, tree=tree, **QUICK)
	try:
		equal(health(ordinary), 200)
		equal((var / "admin-password").stat().st_uid, var.stat().st_uid)
	finally:
		ordinary.remove()


try:
	status = run()
finally:
	podium.remove()
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
