"""The attacked host: a podium-run, surrounded by things that an attack could aim at and that must
stay unchanged."""

import contextlib
import json
import os
import pathlib
import pwd
import random
import re
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "integration" / "run")]
import runner  # noqa: E402
from case import own_folder  # noqa: E402
from processes import command_of, descendants, stat_of  # noqa: E402
from runner import CPU, GPU, NVCC, Runner  # noqa: E402
from tap import until  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
PYTHON = os.environ.get("PODIUM_PYTHON", runner.PYTHON)
# The GPU of this run. Several runs may use one host, each with another GPU.
GPU_INDEX = int(os.environ.get("PODIUM_REDTEAM_GPU", 0))
SEED = 271828182845
IS_SANITIZED = os.environ.get("B", "").endswith("sanitize")
# Submissions run as a user whom nothing else on this host uses, so that everything of that user
# comes from an attack. Each build has its own user, because a user's processes share one limit.
USER = (
	("news" if IS_SANITIZED else "games")
	if os.geteuid() == 0
	else pwd.getpwuid(os.geteuid()).pw_name
)
OPEN_FOLDERS = (
	"/tmp",
	"/var/tmp",
	"/dev/shm",
	"/dev/mqueue",
	"/run",
	"/run/lock",
	"/var/lock",
	"/run/user",
)
SETTLE_S = 10
# The limits are small, so that attacks that exhaust a resource end soon. A compiler and torch stay
# below them. On a GPU the driver needs more.
LIMITS = {"CPU": ("--memory", "1024", "--disk", "512", "--processes", "256")}
LIMITS_ON_GPU = ("--memory", "16384", "--disk", "2048", "--processes", "1024")
# Prints whether the program was forked from the zygote.
LOOK = (
	"from attack import custom_kernel, say\n"
	"import sys\n"
	"say(f\"warm: {any('zygote' in word for word in sys.orig_argv)}\")\n"
)


def jobs_of(folder):
	"""Returns the jobs of a task folder. They come from the code that reads uploads, or from the
	file that write_jobs() wrote on another host."""
	kept = os.environ.get("PODIUM_REDTEAM_JOBS")
	if kept:
		return [
			json.loads(line)
			for line in pathlib.Path(kept, folder.name + ".jsonl").read_text().splitlines()
		]
	program = BUILD / "tests" / "integration" / "harness" / "test_jobs"
	answer = subprocess.run([program, folder], capture_output=True, text=True)
	if answer.returncode:
		raise AssertionError(answer.stderr)
	return [json.loads(line) for line in answer.stdout.splitlines()]


def write_jobs(out):
	"""Writes the jobs of all task folders for a host without the program that reads task folders.
	These include the folders of the attacks and of the scripts of tests/gpu."""
	out.mkdir(parents=True, exist_ok=True)
	with tempfile.TemporaryDirectory() as top:
		folders = [
			own_folder(folder.name, pathlib.Path(top)) for folder in (HERE / "tasks").iterdir()
		]
		for folder in [
			*folders,
			*(ROOT / "tests" / "gpu" / "tasks").iterdir(),
			*(ROOT / "tasks").iterdir(),
		]:
			(out / f"{folder.name}.jsonl").write_text(
				"".join(json.dumps(job) + "\n" for job in jobs_of(folder))
			)


def merge(base, change):
	"""Merges `change` into `base`. The list `name+` is appended to the list `name`."""
	for key, value in change.items():
		if key.endswith("+"):
			base[key[:-1]] = base[key[:-1]] + value
		else:
			base[key] = (
				merge(dict(base.get(key) or {}), value) if isinstance(value, dict) else value
			)
	return base


def started_by(pid):
	"""Returns (pid, start time) of all processes below this one. They include all processes of a
	job, because podium-run adopts orphans of its children. The process IDs that a job itself prints
	are valid only inside its sandbox."""
	return {(one, stat[2]) for one in descendants(pid) if (stat := stat_of(one))}


def commands(processes):
	return ", ".join(f"{pid} {command_of(pid)[:100]}" for pid, _ in processes)


def snapshot(folder):
	"""Returns a folder's contents and the files' properties, so that a comparison shows any
	change."""
	seen = {}
	for path in [folder, *sorted(folder.rglob("*"))]:
		status = path.lstat()
		content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
		links = 1 if path.is_dir() else status.st_nlink
		seen[str(path)] = (
			status.st_mode,
			status.st_uid,
			status.st_gid,
			links,
			status.st_mtime_ns,
			content,
		)
	return seen


def marked(mark):
	"""Searches the folders where every user can write. Returns the files whose names contain the
	mark."""
	found = []
	for top in OPEN_FOLDERS:
		for folder, folders, files in os.walk(top):
			if folder[len(top) :].count("/") >= 2:
				folders.clear()
			found += [os.path.join(folder, name) for name in folders + files if mark in name]
	return found


def ipc_objects():
	"""System V objects of the submission's user."""
	uid = str(pwd.getpwnam(USER).pw_uid)
	found = []
	for kind, column in (("shm", 7), ("sem", 4), ("msg", 7)):
		for line in open(f"/proc/sysvipc/{kind}").read().splitlines()[1:]:
			fields = line.split()
			if fields[column] == uid:
				found.append((kind, fields[1]))
	return found


def on_gpu():
	"""Returns (processes on the GPU, MiB of its memory in use), or empty values without a GPU."""
	if not shutil.which("nvidia-smi"):
		return set(), []

	def ask(what):
		answer = subprocess.run(
			[
				"nvidia-smi",
				"-i",
				str(GPU_INDEX),
				f"--query-{what}",
				"--format=csv,noheader,nounits",
			],
			capture_output=True,
			text=True,
		)
		return answer.stdout.split("\n")[:-1] if answer.returncode == 0 else []

	return set(ask("compute-apps=pid")), [int(line) for line in ask("gpu=memory.used")]


def walls_of(directory):
	"""Returns {wall: None, or the reason why the wall is missing}, as podium-run reports it."""
	answer = subprocess.run(
		[runner.PROGRAM, "--walls", "--user", USER, "--directory", directory],
		capture_output=True,
		text=True,
	)
	if answer.returncode:
		raise AssertionError(answer.stderr)
	return {
		wall["name"]: None if wall["stands"] else wall["why"] for wall in json.loads(answer.stdout)
	}


class Attacked(Runner):
	"""A podium-run with its zygote. said() returns its new error output without waiting."""

	def __init__(self, directory, kits, environment, limits):
		super().__init__(
			"--python",
			PYTHON,
			"--user",
			USER,
			"--kits",
			str(kits),
			*limits,
			directory=directory,
			environment=environment,
		)
		os.set_blocking(self.process.stderr.fileno(), False)

	def said(self):
		piece = self.process.stderr.read()
		return piece.decode() if piece else ""


class Host:
	def __init__(self, device=None):
		self.device = device or CPU
		self.top = pathlib.Path(tempfile.mkdtemp(prefix="podium-redteam.", dir="/tmp"))
		self.top.chmod(0o711)
		self.mark, self.nonce = "redteam-" + secrets.token_hex(6), "secret-" + secrets.token_hex(16)
		self.line_of_passwords = next(
			line for line in open("/etc/passwd") if line.startswith("backup:")
		).strip()
		self.make_victim()
		self.jobs, self.programs = self.top / "jobs", self.top / "programs" / "bin"
		self.jobs.mkdir(mode=0o711)
		self.programs.mkdir(parents=True)
		self.listen()
		self.tasks, self.count = {}, 0
		self.walls = walls_of(self.jobs)
		limits = LIMITS.get(self.device["model"], LIMITS_ON_GPU)
		environment = {"PATH": f"{self.programs}:{os.environ['PATH']}"}
		self.runner = Attacked(self.jobs, self.top / "kits", environment, limits)
		self.settle_down()

	# ---- the surroundings ----

	def make_victim(self):
		"""Makes the folder that attacks aim at. Its modes protect nothing, so only the sandbox can
		stop an attack."""
		self.victim = self.top / "victim"
		(self.victim / "open").mkdir(parents=True)
		for name, content, mode in (
			("secret", self.nonce, 0o644),
			("open/keep", "keep", 0o666),
			("source.h", f"#error {self.nonce}\n", 0o644),
		):
			(self.victim / name).write_text(content + "\n")
			(self.victim / name).chmod(mode)
		(self.victim / "open").chmod(0o777)
		self.victim.chmod(0o755)
		shutil.copy("/usr/bin/id", self.victim / "id")  # prints the user it runs as
		(self.victim / "id").chmod(0o6755)

	def listen(self):
		"""Listens on the host with TCP and UDP sockets of one port and with an abstract Unix socket
		whose name is the mark."""
		self.sockets = [socket.create_server(("127.0.0.1", 0))]
		self.port = self.sockets[0].getsockname()[1]
		for family, kind, name in (
			(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.port)),
			(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.mark}"),
		):
			one = socket.socket(family, kind)
			one.bind(name)
			if kind == socket.SOCK_STREAM:
				one.listen()
			self.sockets.append(one)

	def heard(self):
		"""Whether anything has connected to the sockets."""
		return bool(select.select(self.sockets, [], [], 0)[0])

	def settle_down(self):
		"""Waits until programs are forked from the zygote, then notes the host's state."""
		until(self.is_warm, 300)
		self.running = started_by(self.runner.process.pid)
		self.before, self.objects, self.gpus = snapshot(self.victim), ipc_objects(), on_gpu()

	def is_warm(self):
		result = self.run("probe_py", LOOK)
		if result.verdict != "passed":
			raise AssertionError(
				f"an honest job got {result.verdict}: {result.reason}\n{result.log('stderr')}"
			)
		return "warm: True" in result.log()

	def close(self):
		for one in self.sockets:
			one.close()
		self.runner.__exit__()
		shutil.rmtree(self.top, ignore_errors=True)

	@contextlib.contextmanager
	def on_one_processor(self):
		"""Keeps podium-run and its jobs on one processor. Threads of torch and processes that wait
		for each other then spend no time on another processor."""
		processors = os.sched_getaffinity(0)
		try:
			self.move_to({random.choice(sorted(processors))})
			yield
		finally:
			self.move_to(processors)

	def move_to(self, processors):
		pid = self.runner.process.pid
		for one in (pid, *descendants(pid)):
			with contextlib.suppress(ProcessLookupError):
				os.sched_setaffinity(one, processors)

	# ---- jobs ----

	def task(self, name):
		if name not in self.tasks:
			self.tasks[name] = self.read_task(name)
		return self.tasks[name]

	def read_task(self, name):
		"""Returns a job of the task. Its key `template` has the task's first template."""
		is_own = (HERE / "tasks" / name).is_dir()
		jobs = jobs_of(own_folder(name, self.top) if is_own else ROOT / "tasks" / name)
		template = next((job["submission"] for job in jobs if job["language"]), None)
		return {**jobs[0], "template": template}

	def fill_in(self, text, task="", variant="", beside="", engine="", side=""):
		"""Replaces the @WORDS@ in the text. @VARIANT@ comes first, because a variant may contain
		other @WORDS@."""
		right = next(
			(
				path.read_text()
				for name in ("right.py", "passed.py")
				if (path := ROOT / "tasks" / task / "samples" / name).exists()
			),
			"",
		)
		for word, value in (
			("VARIANT", variant),
			("MARK", self.mark),
			("VICTIM", str(self.victim)),
			("SECRET", str(self.victim / "secret")),
			("PORT", str(self.port)),
			("PROGRAMS", str(self.programs)),
			("BESIDE", beside),
			("ENGINE", engine),
			("SIDE", side),
			("TASK", task),
			("RIGHT", right),
		):
			text = text.replace(f"@{word}@", value)
		return text

	def run(
		self,
		task,
		submission,
		mode="test",
		device=None,
		change=None,
		engine="custom",
		cpu_size=None,
		most_tests=None,
		side="",
	):
		"""`side`: the submission's side in a comparison. The task's template is the other side."""
		kind = self.task(task)
		self.count += 1
		message = {
			"id": self.count,
			"mode": mode,
			"device": device or self.device,
			"task": kind["task"],
			"engine": engine,
			"files": kind["files"],
			"submission": {"name": kind["submission"]["name"], "text": submission},
			"python": PYTHON,
			"nvcc": NVCC,
		}
		if mode in ("ranked", "compare"):
			message["secret_seed"] = SEED
		if side:
			message["rival"] = dict(
				kind["template"] if side == "submission" else message["submission"]
			)
		if side == "rival":
			message["submission"] = kind["template"]
		message = merge(json.loads(json.dumps(message)), change or {})
		if cpu_size and message["device"]["model"] == "CPU":
			message["task"]["benchmarks"] = [
				re.sub(r"size: (262144|4194304)\b", f"size: {cpu_size}", spec)
				for spec in message["task"]["benchmarks"]
			]
		message["task"]["tests"] = message["task"]["tests"][:most_tests]
		self.runner.send({"job": message})
		return self.runner.result(self.count)

	def expect_honest(self, engine):
		"""Runs an honest job, which must pass."""
		result = self.run(
			"probe_py", "def custom_kernel(data): return data + data\n", engine=engine
		)
		if result.verdict != "passed":
			raise AssertionError(f"the next honest job got {result.verdict}: {result.reason}")

	def install(self, name, text):
		"""Installs a program in the folder of programs, or removes it if there is no text."""
		path = self.programs / name
		path.unlink(missing_ok=True)
		if text is not None:
			path.write_text(text)
			path.chmod(0o755)

	# ---- after an attack ----

	def remove(self, paths):
		for path in map(pathlib.Path, paths):
			if path.is_dir() and not path.is_symlink():
				shutil.rmtree(path, ignore_errors=True)
			else:
				path.unlink(missing_ok=True)

	def harm(self):
		"""Returns messages that say what has changed on the host."""
		found = []
		if self.runner.process.poll() is not None:
			return [
				f"podium-run has ended with {self.runner.process.returncode}: {self.runner.said()}"
			]
		end = time.monotonic() + SETTLE_S
		while (
			left := started_by(self.runner.process.pid) - self.running
		) and time.monotonic() < end:
			time.sleep(0.02)
		if left:
			found.append(f"processes are left: {commands(left)}")
		if gone := self.running - started_by(self.runner.process.pid):
			found.append(f"processes of podium-run are gone: {gone}")
		if entries := os.listdir(self.jobs):
			found.append(f"the folder of jobs holds {entries}")
		after = snapshot(self.victim)
		if after != self.before:
			paths = {*after, *self.before}
			changed = [path for path in paths if after.get(path) != self.before.get(path)]
			found.append(f"changed on the host: {changed}")
			self.before = after
		if files := marked(self.mark):
			found.append(f"files are left: {files[:5]}")
			self.remove(files)
		if objects := [one for one in ipc_objects() if one not in self.objects]:
			found.append(f"System V objects are left: {objects}")
			for kind, number in objects:
				subprocess.run(["ipcrm", {"shm": "-m", "sem": "-s", "msg": "-q"}[kind], number])
		found += self.harm_to_gpus()
		if self.heard():
			found.append("somebody has reached a socket of the host")
			for one in self.sockets:
				one.close()
			self.listen()
		if words := self.runner.said():
			found.append(f"podium-run said: {words}")
		if left or gone:
			self.settle_down()  # notes the new state, so that the next attack is not blamed for it
		return found

	def harm_to_gpus(self):
		end = time.monotonic() + SETTLE_S
		while True:
			processes, used = on_gpu()
			new = processes - self.gpus[0]
			more = [
				after - before for before, after in zip(self.gpus[1], used) if after - before > 64
			]
			if not (new or more) or time.monotonic() > end:
				break
			time.sleep(0.1)
		return [f"on the GPUs are left: processes {new}, {more} MiB"] if new or more else []
