#!/usr/bin/env python3
"""The Debian package as an operator uses it, from `apt-get install` to `dpkg --purge`, with a real
systemd, MariaDB and nginx: podium-admin init, a ranked submission, reload and restart under load,
watchdog, drain, upgrade, removal.

Everything happens in its own namespaces (contained.sh), so nothing is installed on this host. With
debootstrap the test uses a bare system in build/bare-system, made from this host's package sources,
which has only the libraries that the package requires. Without debootstrap it uses an overlay of
this host. It needs root.
"""

import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from bare_system import debootstrap  # noqa: E402
from client import Client  # noqa: E402
import tap  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

BUILD = os.environ.get("B", "build/release")
SYSTEMD = pathlib.Path("/lib/systemd/systemd")
VERSIONS = ("0.1.0", "0.2.0")
UNITS = pathlib.Path("/etc/systemd/podium-test")
PASSWORD = "correct horse battery"
SHARED = pathlib.Path("/shared")
SITE = "http://127.0.0.1"
MARIADB_SOCKET = "/run/mysqld/mysqld.sock"
BARE = ROOT / "build" / "bare-system"
# The packages on the machine of an operator who installs Podium, and those that the tests need.
ON_THE_MACHINE = (
	"systemd",
	"mariadb-server",
	"nginx-light",
	"python3",
	"python3-torch",
	"iproute2",
	"util-linux",
	"procps",
)

# ---- outside the namespaces ----


def lack():
	"""The reason why this test cannot run here, or None."""
	if os.geteuid():
		return "it takes root to make a system of the test's own"
	for program in (
		"unshare",
		"pivot_root",
		"dpkg",
		"dpkg-shlibdeps",
		"nginx",
		"mariadbd",
		"systemctl",
		"ip",
	):
		if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
			return f"there is no {program}"
	if not SYSTEMD.exists():
		return "there is no systemd"
	probe = subprocess.run(
		[
			"unshare",
			"--mount",
			"--pid",
			"--fork",
			"--uts",
			"--ipc",
			"--net",
			"--cgroup",
			ROOT / "tests/scale/contained.sh",
			"/tmp",
			"true",
		],
		capture_output=True,
		text=True,
	)
	if probe.returncode == 0:
		return None
	return f"no overlay in namespaces can be made: {probe.stderr.strip()[-200:]}"


def in_the_bare_system(*words):
	"""Runs a command with the host's network. No installed service starts."""
	script = 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"'
	answer = subprocess.run(
		["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, BARE, *words],
		capture_output=True,
		text=True,
		env={
			**os.environ,
			"DEBIAN_FRONTEND": "noninteractive",
			"LC_ALL": "C.UTF-8",
			"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
		},
		stdin=subprocess.DEVNULL,
	)
	if answer.returncode:
		raise OSError(f"{' '.join(map(str, words))}: {(answer.stdout + answer.stderr)[-1500:]}")


def make_bare_system():
	debootstrap(BARE)
	in_the_bare_system("apt-get", "update")
	in_the_bare_system("apt-get", "install", "-y", "--no-install-recommends", *ON_THE_MACHINE)
	in_the_bare_system("apt-get", "clean")


def bare_system(package):
	"""Returns the folder of a bare system whose package cache has what our package requires, or
	None and the reason."""
	if not shutil.which("debootstrap", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
		return None, "there is no debootstrap"
	wanted = BARE / "etc" / "podium-test-made-of"
	made_of = " ".join(ON_THE_MACHINE)
	try:
		if not wanted.exists() or wanted.read_text() != made_of:
			make_bare_system()
			wanted.write_text(made_of)
		shutil.copy(package, BARE / "var/cache/podium.deb")
		in_the_bare_system(
			"apt-get",
			"install",
			"-y",
			"--no-install-recommends",
			"--download-only",
			"/var/cache/podium.deb",
		)
	except (OSError, ValueError) as reason:
		return None, str(reason)
	return BARE, None


def control_group():
	"""A control group of version 2 for this test, so that its systemd touches no other group, or
	None."""
	place = pathlib.Path(tempfile.mkdtemp(prefix="podium-cgroup."))
	if subprocess.run(["mount", "-t", "cgroup2", "cgroup2", place], capture_output=True).returncode:
		place.rmdir()
		return None, None
	group = place / f"podium-test-{os.getpid()}"
	group.mkdir()
	return place, group


def remove_group(place, group):
	if not place:
		return
	for _ in range(100):
		for folder, _, _ in os.walk(group, topdown=False):
			try:
				os.rmdir(folder)
			except OSError:
				pass
		if not group.exists():
			break
		time.sleep(0.1)
	subprocess.run(["umount", place], check=True)
	place.rmdir()


def outside():
	signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that finally blocks clean up
	reason = lack()
	if reason:
		print(f"1..0 # SKIP {reason}")
		return 0
	shared = pathlib.Path(tempfile.mkdtemp(prefix="podium-install."))
	place, group = control_group()
	try:
		for version in VERSIONS:
			subprocess.run(
				[ROOT / "packaging/debian/build", ROOT / BUILD, version, shared],
				check=True,
				stdout=subprocess.DEVNULL,
				env={**os.environ, "DEB_COMPRESSION": "none"},
			)
		(shared / "log").write_text("")
		system, why_not = bare_system(next(shared.glob(f"podium_{VERSIONS[0]}_*.deb")))
		print(
			f"# {'on a bare system' if system else 'on an overlay of this host: ' + why_not}",
			flush=True,
		)
		process = subprocess.Popen(
			[
				"unshare",
				"--mount",
				"--pid",
				"--fork",
				"--kill-child",
				"--uts",
				"--ipc",
				"--net",
				"--cgroup",
				ROOT / "tests/scale/contained.sh",
				shared,
				"/usr/bin/python3" if system else sys.executable,
				__file__,
				"boot",
			],
			stdin=subprocess.DEVNULL,
			env={
				**os.environ,
				**(
					{
						"SYSTEM": str(system),
						"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
						"BARE_SYSTEM": "yes",
					}
					if system
					else {}
				),
			},
			stdout=open(shared / "console", "wb"),
			stderr=subprocess.STDOUT,
			preexec_fn=lambda: group and (group / "cgroup.procs").write_text(str(os.getpid())),
		)
		return follow(process, shared)
	finally:
		remove_group(place, group)
		shutil.rmtree(shared, ignore_errors=True)


def follow(process, shared):
	"""Prints what the tests inside print, until they end."""
	end, shown = time.monotonic() + 900, 0
	while True:
		text = (shared / "log").read_text(errors="replace")
		print(text[shown:], end="", flush=True)
		shown = len(text)
		if (shared / "status").exists():
			process.kill()
			process.wait()
			return int((shared / "status").read_text())
		if process.poll() is not None or time.monotonic() > end:
			process.kill()
			print(
				"Bail out! The system ended before its tests:\n"
				+ (shared / "console").read_text(errors="replace")[-4000:]
			)
			return 1
		time.sleep(0.2)


# ---- inside the namespaces, before systemd ----


def unit(name, text):
	(UNITS / name).write_text(text)


def boot():
	"""Becomes systemd with the units of this test and of the package alone, so that no service of
	the host starts."""
	UNITS.mkdir(parents=True)
	for name in (
		"sysinit.target",
		"basic.target",
		"sockets.target",
		"multi-user.target",
		"network.target",
		"network-online.target",
		"shutdown.target",
	):
		unit(name, f"[Unit]\nDescription={name}\nDefaultDependencies=no\n")
	for name in (
		"podium-web.socket",
		"podium-web.service",
		"podium-hooks.service",
		"podium-worker.service",
	):
		(UNITS / name).symlink_to(f"/usr/lib/systemd/system/{name}")
		if name.endswith(".service"):  # there is no journal in here
			(UNITS / f"{name}.d").mkdir()
			unit(f"{name}.d/log.conf", "[Service]\nStandardError=append:/shared/console\n")
	data = "/var/lib/podium-test-mariadb"
	unit(
		"mariadb.service",
		f"[Service]\nExecStart=/usr/sbin/mariadbd --no-defaults --user=root --datadir={data} "
		f"--socket={MARIADB_SOCKET} --skip-networking\n"
		"RuntimeDirectory=mysqld\n",
	)
	unit(
		"nginx.service",
		"[Service]\nExecStart=/usr/sbin/nginx -g 'daemon off;'\nExecReload=/usr/sbin/nginx -s "
		"reload\n",
	)
	unit(
		"test.service",
		f"[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart={sys.executable} "
		f"{__file__} inside\n"
		"StandardOutput=append:/shared/log\nStandardError=append:/shared/console\n"
		f"Environment=B={BUILD} PATH={os.environ['PATH']}:/usr/sbin:/sbin\n"
		f"Environment=SYSTEMD_UNIT_PATH={UNITS} BARE_SYSTEM={os.environ.get('BARE_SYSTEM', '')}\n",
	)
	unit("test.target", "[Unit]\nDefaultDependencies=no\nWants=test.service\n")
	os.execve(
		SYSTEMD,
		[
			str(SYSTEMD),
			"--system",
			"--unit=test.target",
			"--log-target=console",
			"--show-status=no",
		],
		{
			"container": "podium-test",
			"SYSTEMD_UNIT_PATH": str(UNITS),
			"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
		},
	)


# ---- inside the namespaces ----


def command(*words, status=0, **rest):
	answer = subprocess.run([str(word) for word in words], capture_output=True, text=True, **rest)
	if answer.returncode != status:
		raise AssertionError(
			f"{words}: {answer.returncode}\n{answer.stdout[-3000:]}\n{answer.stderr[-3000:]}\n"
			+ journal()
		)
	return answer.stdout + answer.stderr


def journal():
	states = subprocess.run(
		[
			"systemctl",
			"show",
			"-p",
			"Id,ActiveState,Result,ExecMainStatus",
			"podium-web.socket",
			"podium-web",
			"podium-hooks",
			"podium-worker",
		],
		capture_output=True,
		text=True,
	).stdout
	return states + pathlib.Path("/shared/console").read_text(errors="replace")[-3000:]


def until(condition, limit_s=60, what="it"):
	return tap.until(condition, limit_s, lambda: f"{what}\n{journal()}")


def property_of(name, key):
	return command("systemctl", "show", "--value", "-p", key, name).strip()


def main_process(name="podium-web"):
	return int(property_of(name, "MainPID"))


def sql(statements):
	return [
		line.split("\t")
		for line in command(
			"mariadb",
			"--no-defaults",
			"-S",
			MARIADB_SOCKET,
			"-N",
			"-B",
			"--raw",
			"podium",
			input=statements,
		).splitlines()
	]


def package(version):
	return next(SHARED.glob(f"podium_{version}_*.deb"))


def status_of(path):
	try:
		return Client(SITE).get(path).status
	except OSError as failure:
		return str(failure)


class Load:
	"""Visitors who request one page after the other. Each has a session, so that no page comes from
	nginx's cache."""

	def __init__(self, count=4):
		self.answers, self.failures, self.stops = 0, [], False
		self.threads = [
			threading.Thread(target=self.visit, args=(number,)) for number in range(count)
		]

	def visit(self, number):
		client = Client(SITE)
		while not self.stops:
			try:
				answer = client.request(
					"GET", f"/queue?visitor={number}", None, {"Authorization": "none"}
				)
				if answer.status != 200:
					self.failures.append((answer.status, answer.words()[-200:]))
				self.answers += 1
			except Exception as failure:  # noqa: BLE001
				self.failures.append(repr(failure))

	def __enter__(self):
		for thread in self.threads:
			thread.start()
		return self

	def more(self, count=40):
		goal = self.answers + count
		until(lambda: self.answers >= goal, 30, "answers under load")

	def __exit__(self, *_):
		self.stops = True
		for thread in self.threads:
			thread.join()
		if self.failures:
			raise AssertionError(
				f"{len(self.failures)} of {self.answers} failed: {self.failures[:3]}\n"
				+ journal()
				+ pathlib.Path("/var/log/nginx/error.log").read_text()[-1500:]
			)


@test
def installing_the_package_creates_its_user_and_starts_nothing():
	if os.environ[
		# its dependencies come from the package cache, because there is no network in here
		"BARE_SYSTEM"
	]:
		said = command(
			"apt-get",
			"install",
			"-y",
			"--no-install-recommends",
			package(VERSIONS[0]),
			env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
		)
	else:
		said = command("dpkg", "--install", package(VERSIONS[0]))
	contains(said, "podium-admin init sets it up")
	equal(pwd.getpwnam("podium").pw_shell, "/usr/sbin/nologin")
	about = os.stat("/etc/podium/podium.conf")
	equal(
		(oct(about.st_mode & 0o777), about.st_uid, about.st_gid),
		("0o640", 0, pwd.getpwnam("podium").pw_gid),
	)
	set_here = [
		line
		for line in pathlib.Path("/etc/podium/podium.conf").read_text().splitlines()
		if line and not line.startswith("#")
	]
	equal(set_here, [])
	command("systemctl", "daemon-reload")
	equal(property_of("podium-web", "ActiveState"), "inactive")


@test
def init_creates_the_database_without_questions_about_given_options():
	data = pathlib.Path("/var/lib/podium-test-mariadb")
	command(
		"mariadb-install-db",
		"--no-defaults",
		"--force",
		"--user=root",
		f"--datadir={data}",
		"--auth-root-authentication-method=socket",
		"--skip-test-db",
		"--skip-name-resolve",
		env={**os.environ, "TMPDIR": "/tmp"},
	)
	command("systemctl", "start", "mariadb")
	until(lambda: pathlib.Path(MARIADB_SOCKET).exists())
	answers = pathlib.Path("/tmp/answers")
	answers.write_text(
		f"database = {MARIADB_SOCKET}\npublic_url = {SITE}/\nadmin = chief\nadmin_password = "
		f"{PASSWORD}\n"
	)
	said = command("podium-admin", "init", "--yes", "--answers-from", answers)
	for sentence in (
		"Wrote /etc/podium/podium.conf",
		"The database is at version",
		"Created the admin chief",
		"systemctl enable --now podium-web.socket",
	):
		contains(said, sentence)
	lacks(said, PASSWORD)
	text = pathlib.Path("/etc/podium/podium.conf").read_text()
	contains(text, f"\ndatabase_socket = {MARIADB_SOCKET}\n")
	contains(text, "\ndatabase_password =\n")
	contains(text, f"\npublic_url = {SITE}\n")
	lacks(text, PASSWORD)
	contains(command("podium-admin", "user", "list"), "chief")
	contains(
		command(
			"setpriv",
			"--reuid=podium",
			"--regid=podium",
			"--clear-groups",
			"podium-admin",
			"user",
			"list",
		),
		"chief",
	)


@test
def the_units_start_and_report_that_they_are_ready():
	command(
		"systemctl", "start", "podium-web.socket", "podium-web", "podium-hooks", "podium-worker"
	)
	equal(
		{
			name: property_of(name, "ActiveState")
			for name in ("podium-web.socket", "podium-web", "podium-hooks", "podium-worker")
		},
		dict.fromkeys(
			("podium-web.socket", "podium-web", "podium-hooks", "podium-worker"), "active"
		),
	)
	contains(property_of("podium-web", "StatusText"), "Serving with 8 threads")
	about = os.stat("/run/podium/web.sock")
	equal(oct(about.st_mode & 0o777), "0o660")
	for name in ("podium-web", "podium-hooks", "podium-worker"):
		equal(os.stat(f"/proc/{main_process(name)}").st_uid, pwd.getpwnam("podium").pw_uid)


@test
def the_units_hardening_leaves_every_wall_of_the_sandbox_available():
	checks = json.loads(
		until(lambda: (sql("SELECT COALESCE(checks, '') FROM workers") or [[""]])[0][0])
	)
	missing = {
		check["name"]: check["found"]
		for check in checks
		if check["name"].startswith("wall: ") and check["state"] != "good"
	}
	if "memory" not in pathlib.Path("/sys/fs/cgroup/cgroup.controllers").read_text().split():
		missing.pop("wall: control groups", None)  # this kernel has them only in version 1
	equal(missing, {})


@test
def nginx_serves_the_site():
	pathlib.Path("/etc/nginx/sites-enabled/default").unlink(missing_ok=True)
	pathlib.Path("/etc/nginx/sites-enabled/podium").symlink_to("../sites-available/podium")
	command("nginx", "-t")
	command("systemctl", "start", "nginx")
	until(lambda: status_of("/healthz") == 200, what="a healthy site")
	equal(status_of("/static/style.css"), 200)
	contains(Client(SITE).get("/").headers["Content-Security-Policy"], "default-src 'none'")


@test
def a_user_registers_and_gets_a_rank():
	if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode:
		raise Skip("no Python here imports torch")
	until(lambda: sql("SELECT 1 FROM gpus"))
	contains(
		command(
			"podium-admin", "task", "load", "--unchecked", "/usr/share/podium/tasks/vectoradd_py"
		),
		"vectoradd_py",
	)
	visitor = Client(SITE)
	equal(
		visitor.post(
			"/register", [("name", "ada"), ("password", PASSWORD), ("password2", PASSWORD)]
		).status,
		303,
	)
	code = (
		"import torch\n\ndef custom_kernel(data):\n    A, B, output = data\n"
		"    return torch.add(A, B, out=output)\n"
	)
	answer = visitor.post(
		"/leaderboard/vectoradd_py/submit", [("mode", "ranked"), ("gpu", "CPU"), ("code", code)]
	)
	equal(answer.status, 303)
	until(
		lambda: visitor.get(answer.location + "/status").json["state"] == "done",
		180,
		"the end of the submission",
	)
	equal(visitor.get(answer.location + "/status").json["verdict"], "passed")
	equal(
		[
			row["user"]
			for row in Client(SITE).get("/leaderboard/vectoradd_py.json?gpu=CPU").json["rows"]
		],
		["ada"],
	)


@test
def no_request_fails_during_reload_and_restart_under_load():
	with Load() as load:
		for action in ("reload", "restart", "reload", "restart", "reload"):
			load.more()
			before = main_process()
			command("systemctl", action, "podium-web")
			until(lambda: main_process() not in (0, before))
		load.more()
	equal(property_of("podium-web", "ActiveState"), "active")


@test
def an_error_in_the_settings_is_reported_and_the_pages_continue():
	path, before = pathlib.Path("/etc/podium/podium.conf"), main_process()
	text = path.read_text()
	path.write_text(text + "web_thread = 3\n")
	subprocess.run(["systemctl", "reload", "podium-web"], capture_output=True)
	until(
		lambda: "there is no setting named web_thread" in console(), what="the sentence in the log"
	)
	path.write_text(text)
	equal((main_process(), status_of("/healthz")), (before, 200))


def console():
	return pathlib.Path("/shared/console").read_text(errors="replace")


@test
def the_watchdog_replaces_a_frozen_podium_web():
	folder = UNITS / "podium-web.service.d"
	(folder / "quick.conf").write_text("[Service]\nWatchdogSec=2\n")
	command("systemctl", "daemon-reload")
	command("systemctl", "restart", "podium-web")
	before = main_process()
	time.sleep(5)
	equal(main_process(), before)  # the process runs and reports to systemd
	os.kill(before, signal.SIGSTOP)
	until(lambda: main_process() not in (0, before), what="a new podium-web")
	until(lambda: status_of("/healthz") == 200)
	(folder / "quick.conf").unlink()
	command("systemctl", "daemon-reload")
	command("systemctl", "restart", "podium-web")


@test
def a_stopped_worker_returns_its_job_in_time():
	visitor = Client(SITE)
	if visitor.post("/login", [("name", "ada"), ("password", PASSWORD)]).status != 303:
		raise Skip("nobody could submit here")
	answer = visitor.post(
		"/leaderboard/vectoradd_py/submit",
		[
			("mode", "test"),
			("gpu", "CPU"),
			("code", "import time\ntime.sleep(60)\ndef custom_kernel(data):\n    return data\n"),
		],
	)
	number = int(re.search(r"\d+$", answer.location)[0])
	until(lambda: sql(f"SELECT state FROM jobs WHERE submission_id = {number}") == [["running"]])
	began = time.monotonic()
	command("systemctl", "stop", "podium-worker")
	assert time.monotonic() - began < 60, "it took a minute"
	equal(sql(f"SELECT state, attempt FROM jobs WHERE submission_id = {number}"), [["queued", "0"]])
	equal(property_of("podium-worker", "Result"), "success")
	sql(f"DELETE FROM jobs WHERE submission_id = {number}")


@test
def an_upgrade_keeps_settings_and_running_processes():
	path = pathlib.Path("/etc/podium/podium.conf")
	path.write_text(path.read_text() + "web_threads = 5\n")
	settings, before = path.read_text(), main_process()
	site = pathlib.Path("/etc/nginx/sites-available/podium")
	site.write_text(site.read_text() + "# ours\n")
	with Load() as load:
		contains(
			command("dpkg", "--install", package(VERSIONS[1])),
			"podium-admin migrate && systemctl reload podium-web",
		)
		load.more()
		equal((main_process(), path.read_text()), (before, settings))
		contains(site.read_text(), "# ours")
		contains(os.readlink(f"/proc/{before}/exe"), "(deleted)")
		command("podium-admin", "migrate")
		command("systemctl", "reload", "podium-web")
		until(lambda: main_process() not in (0, before))
		load.more()
	equal(os.readlink(f"/proc/{main_process()}/exe"), "/usr/bin/podium-web")
	contains(command("dpkg-query", "-W", "podium"), VERSIONS[1])


@test
def a_second_init_keeps_settings_that_it_does_not_ask_for():
	said = command("podium-admin", "init", "--yes")
	lacks(said, "Created the admin ")
	contains(pathlib.Path("/etc/podium/podium.conf").read_text(), "\nweb_threads = 5\n")


@test
def removal_keeps_settings_and_data_and_purging_keeps_the_data():
	command("dpkg", "--remove", "podium")
	equal(property_of("podium-web.socket", "ActiveState"), "inactive")
	equal([path.name for path in pathlib.Path("/usr/bin").glob("podium*")], [])
	assert pathlib.Path("/etc/podium/podium.conf").exists()
	assert not pathlib.Path("/etc/nginx/sites-enabled/podium").is_symlink()
	command("nginx", "-t")
	command("dpkg", "--purge", "podium")
	assert not pathlib.Path("/etc/podium").exists()
	assert not pathlib.Path("/etc/nginx/sites-available/podium").exists()
	equal(sql("SELECT name FROM users WHERE role = 'admin'"), [["chief"]])


def inside():
	del os.environ["PODIUM_CONFIG"]  # here the installed Podium is tested
	sys.argv = [arguments for arguments in sys.argv if arguments != "inside"]
	code = 1
	try:
		code = run()
	finally:
		(SHARED / "status").write_text(str(code))


if __name__ == "__main__":
	what = sys.argv[1] if sys.argv[1:] else ""
	sys.exit(boot() if what == "boot" else inside() if what == "inside" else outside())
