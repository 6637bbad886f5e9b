#!/usr/bin/env python3
"""Podium in containers, as packaging/container/compose.yaml starts it: a ranked submission, the
walls of the worker's sandbox, a backup, an upgrade that keeps the data. Then the image with
everything.

podman-compose builds and starts the images on a bare Debian that debootstrap makes from this host's
package sources. Images and volumes are in build/containers, so the host's own stay as they are. The
containers use the host's network and control group, because a machine for tests may have no bridges
and no delegated groups. It needs root.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from bare_system import debootstrap  # noqa: E402
from client import Client  # noqa: E402
from instance import free_port  # noqa: E402
import tap  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402

HOME = ROOT / "build" / "containers"
FOLDER = ROOT / "packaging" / "container"
PASSWORD = "correct horse battery"
BASE = "localhost/podium-test-base"
SERVICES = ("database", "web", "worker")
PORT = free_port()
SITE = f"http://127.0.0.1:{PORT}"
STORE = (
	f"--root={HOME}/storage",
	"--runroot=/run/podium-test-containers",
	"--cgroup-manager=cgroupfs",
)
START = (
	"--network=host",
	"--cgroups=disabled",
	"--ulimit=nofile=10000:10000",
	"--ulimit=nproc=20000:20000",
	f"--env=PODIUM_PORT={PORT}",
)
# podman-compose calls this program instead of podman. It replaces the networks of compose.yaml.
WRAPPER = f"""#!/usr/bin/env python3
import os, sys
command, *rest = sys.argv[1:]
if command == "network":
	sys.exit(0)
if command == "build":
	rest = ["--network=host", "--isolation=chroot", *rest]
if command == "run":
	for option in ("--net", "--network-alias", "-p"):
		while option in rest:
			at = rest.index(option)
			del rest[at : at + 2]
	rest = [*{START}, *rest]
os.execvp("podman", ["podman", *{STORE}, command, *rest])
"""

# ---- outside the mount namespace ----


def lack():
	"""The reason why this test cannot run here, or None."""
	if os.geteuid():
		return "it takes root to make the images' base"
	for program in ("podman", "podman-compose", "debootstrap", "unshare"):
		if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
			return f"there is no {program}"
	return None


def outside():
	"""Runs the tests in a mount namespace, whose control groups are those of version 2 alone."""
	if reason := lack():
		print(f"1..0 # SKIP {reason}")
		return 0
	script = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup 2> /dev/null; exec "$@"'
	return subprocess.run(
		["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, __file__, "inside"],
		stdin=subprocess.DEVNULL,
	).returncode


# ---- inside ----


def command(*words, status=0, **rest):
	answer = subprocess.run([str(word) for word in words], capture_output=True, text=True, **rest)
	if answer.returncode != status:
		raise AssertionError(
			f"{words}: {answer.returncode}\n{answer.stdout[-3000:]}\n{answer.stderr[-3000:]}"
		)
	return answer.stdout + answer.stderr


def podman(*words, **rest):
	return command("podman", *STORE, *words, **rest)


def compose(*words, version="0.1.0", **rest):
	return command(
		"podman-compose",
		f"--podman-path={HOME}/podman",
		*words,
		cwd=FOLDER,
		env={
			**os.environ,
			"PODIUM_BASE": BASE,
			"PODIUM_VERSION": version,
			"PODIUM_PUBLIC_URL": SITE,
		},
		**rest,
	)


def container(service):
	return f"container_{service}_1"


def log_of(name):
	return podman("logs", name)


def until(condition, limit_s=600, name=container("web")):
	return tap.until(condition, limit_s, lambda: log_of(name)[-3000:])


def is_healthy():
	try:
		return Client(SITE).get("/healthz").status == 200
	except OSError:
		return False


def prepare():
	"""Makes the base unless an earlier run has left it, and removes what that run has left."""
	HOME.mkdir(parents=True, exist_ok=True)
	(HOME / "podman").write_text(WRAPPER)
	(HOME / "podman").chmod(0o755)
	remove()
	if subprocess.run(["podman", *STORE, "image", "exists", BASE]).returncode:
		bare = HOME / "bare"
		debootstrap(bare)
		archive = HOME / "bare.tar"
		command("tar", "-C", bare, "-cf", archive, ".")
		podman("import", archive, BASE)
		archive.unlink()
		shutil.rmtree(bare)


def remove():
	podman("rm", "--all", "--force", "--time=20")
	podman("volume", "rm", "--all", "--force")


def security_options():
	"""The worker's options in compose.yaml."""
	text = (FOLDER / "compose.yaml").read_text()
	worker = text[text.index("\n  worker:") :]
	return re.findall(
		r"^      - ([a-z-]+(?:=\S+)?)$", worker[worker.index("security_opt:") :], re.M
	)


def doctor(options, *more):
	"""The lines of `podium-admin doctor` about walls that are missing in a container of the worker:
	{NAME: what it says}."""
	answer = subprocess.run(
		[
			"podman",
			*STORE,
			"run",
			"--rm",
			*START,
			"--cap-drop=ALL",
			*(f"--security-opt={option}" for option in options),
			*more,
			"localhost/podium-worker",
			"podium-admin",
			"doctor",
		],
		capture_output=True,
		text=True,
		cwd=FOLDER,
	)
	contains(answer.stdout, "wall: ")
	missing = r"^(?:warning|fault) +wall: (.{14}) .*\n((?: {30}.*\n)*)"
	return {name.strip(): words for name, words in re.findall(missing, answer.stdout, re.M)}


def submit(visitor, code, mode="ranked"):
	answer = visitor.post(
		"/leaderboard/vectoradd_py/submit", [("mode", mode), ("gpu", "CPU"), ("code", code)]
	)
	equal(answer.status, 303)
	status = answer.location + "/status"
	until(lambda: visitor.get(status).json["state"] == "done", name=container("worker"))
	equal(visitor.get(status).json["verdict"], "passed")


def ranked():
	rows = Client(SITE).get("/leaderboard/vectoradd_py.json?gpu=CPU").json["rows"]
	return [row["user"] for row in rows]


CODE = (
	"import torch\n\ndef custom_kernel(data):\n    A, B, output = data\n"
	"    return torch.add(A, B, out=output)\n"
)


@test
def one_command_builds_and_starts_everything():
	compose("up", "-d", "--build")
	until(is_healthy)
	until(lambda: "Podium is ready at " + SITE in log_of(container("web")))
	password = compose("exec", "-T", "web", "cat", "/var/lib/podium/admin-password")
	contains(password, "\n")


@test
def the_health_checks_pass():
	for service in SERVICES:
		until(
			lambda: not subprocess.run(
				["podman", *STORE, "healthcheck", "run", container(service)], capture_output=True
			).returncode,
			name=container(service),
		)


@test
def the_containers_run_as_an_ordinary_user_without_rights():
	for service in SERVICES:
		process = podman("inspect", "--format={{.State.Pid}}", container(service)).strip()
		status = pathlib.Path(f"/proc/{process}/status").read_text()
		contains(status, "\nUid:\t900\t900\t900\t900\n")
		for name in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
			contains(status, f"\nCap{name}:\t0000000000000000\n")
		contains(status, "\nNoNewPrivs:\t1\n")
		contains(status, "\nSeccomp:\t2\n")


@test
def the_worker_has_every_wall_but_control_groups():
	found = doctor(security_options())
	equal(list(found), ["control groups"])
	contains(found["control groups"], "No option of a container brings this wall.")


@test
def doctor_names_the_option_that_brings_a_missing_wall():
	options = security_options()
	for missing, walls in (
		("seccomp=seccomp.json", {"files", "proc", "disk", "devices"}),
		("systempaths=unconfined", {"proc"}),
	):
		found = doctor([option for option in options if option != missing])
		del found["control groups"]
		assert walls <= set(found), (missing, found)
		option = "--security-opt " + missing.replace("=seccomp.json", "=FILE")
		for wall, words in found.items():
			assert f"Mend:  Start this container with {option}" in words, (missing, wall, words)
	found = doctor(options, "--user=root")
	del found["control groups"]
	assert {"files", "network", "processes"} <= set(found), found
	for words in found.values():
		contains(words, "(--user podium; ")


@test
def a_user_registers_and_gets_a_rank():
	visitor = Client(SITE)
	visitor.register("ada", PASSWORD)
	submit(visitor, CODE)
	equal(ranked(), ["ada"])


@test
def a_backup_is_complete_and_restores():
	backup = HOME / "podium.sql.gz"
	with open(backup, "wb") as file:
		subprocess.run(
			["podman", *STORE, "exec", container("web"), "podium-admin", "backup", "-"],
			stdout=file,
			check=True,
		)
	compose("stop", "worker", "web")
	for words in (("backup", "check"), ("restore", "--replace", "podium")):
		podman(
			"run",
			"--rm",
			*START,
			"--volume=podium-socket:/run/podium",
			f"--volume={HOME}:/backup:ro",
			"--env=PODIUM_DATABASE_SOCKET=/run/podium/mariadb.sock",
			"podium-web",
			"podium-admin",
			*words,
			"/backup/podium.sql.gz",
		)
	compose("start", "web", "worker")
	until(is_healthy)
	equal(ranked(), ["ada"])


@test
def an_upgrade_keeps_the_data():
	sql = ("mariadb", "--no-defaults", "--socket=/var/lib/podium/run/mariadb.sock", "-NBe")
	last = podman(
		"exec", container("database"), *sql, "SELECT MAX(version) FROM podium.schema_migrations"
	).strip()
	podman(
		"exec",
		container("database"),
		*sql,
		f"DELETE FROM podium.schema_migrations WHERE version = {last}",
	)
	compose("build", version="0.2.0")
	compose("down")
	compose("up", "-d", version="0.2.0")
	until(is_healthy)
	for service in SERVICES:
		version = ("dpkg-query", "--show", "--showformat=${Version}", "podium")
		equal(podman("exec", container(service), *version), "0.2.0")
	contains(log_of(container("web")), f"Applied {int(last):04}_")
	equal(ranked(), ["ada"])
	visitor = Client(SITE)
	equal(visitor.post("/login", [("name", "ada"), ("password", PASSWORD)]).status, 303)
	submit(visitor, CODE + "# again\n", "test")
	count = ("SELECT COUNT(*) FROM podium.workers",)
	equal(podman("exec", container("database"), *sql, *count).strip(), "1")


@test
def one_image_has_everything():
	remove()
	podman(
		"build",
		"--network=host",
		"--isolation=chroot",
		f"--build-arg=PODIUM_BASE={BASE}",
		"--build-arg=PODIUM_VERSION=0.2.0",
		"--file=Containerfile",
		"--target=all",
		"--tag=podium",
		ROOT,
		cwd=FOLDER,
	)
	podman(
		"run",
		"--detach",
		"--name=podium",
		*START,
		"--volume=podium:/var/lib/podium",
		"--cap-drop=ALL",
		*(f"--security-opt={option}" for option in security_options()),
		"podium",
		cwd=FOLDER,
	)
	until(lambda: f"Podium is ready at {SITE}/" in log_of("podium"), name="podium")
	visitor = Client(SITE)
	visitor.register("eve", PASSWORD)
	submit(visitor, CODE)
	equal(ranked(), ["eve"])


def inside():
	sys.argv = [word for word in sys.argv if word != "inside"]
	signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the containers end
	prepare()
	try:
		return run()
	finally:
		remove()


if __name__ == "__main__":
	sys.exit(inside() if sys.argv[1:2] == ["inside"] else outside())
