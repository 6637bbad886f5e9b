"""podium-worker processes with a test database, and a task without torch for them to run."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import mariadb
import quick_task
from quick import quick_python
from quick_task import HARNESS, RIGHT, write_task
from tap import equal, lacks, until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("B", "build/release")
database = mariadb.new_database()
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-worker-test."))
scratch.chmod(0o755)
sql = database.sql
LEASE_MS = 5000  # longer than a busy machine's delays
TASK = quick_task.TASK + "gpus: [CPU]\n"

WRONG = "def custom_kernel(data):\n    return 'wrong'\n"
SLOW = "import time\n\ndef custom_kernel(data):\n    time.sleep(30)\n    return data\n"


def admin(*arguments):
	answer = subprocess.run(
		[BUILD / "podium-admin", *arguments],
		capture_output=True,
		text=True,
		env=database.environment,
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	return answer.stdout


def load_task(name="small", definition=TASK, harness=HARNESS):
	task = scratch / "tasks" / name
	write_task(task, definition, harness)
	admin("task", "load", "--unchecked", str(task))


class Worker:
	"""A podium-worker process. It has its own folder for jobs and locks, so that workers do not
	wait for each other's device. Its interpreter has no torch; PODIUM_PYTHON="" selects the
	machine's interpreter. `before`: words to put before the command."""

	all = []

	def __init__(self, name="first", program=BUILD / "podium-worker", before=(), **settings):
		Worker.all.append(self)
		self.name, self.log = name, scratch / f"worker-{len(Worker.all)}.log"
		self.jobs = jobs = scratch / f"jobs-{len(Worker.all)}"
		jobs.mkdir(mode=0o755)
		environment = {
			**database.environment,
			"PODIUM_WORKER_NAME": name,
			"PODIUM_LEASE_MS": str(LEASE_MS),
			"PODIUM_POLL_MS": "20",
			"PODIUM_WORKER_DIRECTORY": str(jobs),
			"PODIUM_DEVICE_LOCKS": str(jobs),
			"PODIUM_WORKER_CPU": "1",
			"PODIUM_PYTHON": quick_python(scratch),
			**settings,
		}
		self.process = subprocess.Popen(
			[*before, program],
			env=environment,
			stdin=subprocess.DEVNULL,
			stderr=open(self.log, "wb"),
			start_new_session=True,
		)

	def send(self, number):
		os.kill(self.process.pid, number)

	def end(self, number=signal.SIGTERM):
		if self.process.poll() is None:
			self.send(number)
		return self.process.wait(60)

	def says(self, words, limit_s=30):
		until(
			lambda: words in self.log.read_text(errors="replace"),
			limit_s,
			lambda: self.log.read_text(errors="replace"),
		)

	def __enter__(self):
		self.says("is ready")
		return self

	def __exit__(self, *_):
		if self.process.poll() is None:
			equal(self.end(), 0)
		lacks(self.log.read_text(errors="replace"), "Sanitizer")


def submit(source=RIGHT, mode="ranked", user=1, board="small", gpu="CPU"):
	"""Stores a submission as podium-web does. Returns the job's number."""
	return int(
		sql(f"""
		INSERT IGNORE INTO users (id, name, password_hash) VALUES ({user}, 'user-{user}', '');
		INSERT IGNORE INTO blobs VALUES
			(UNHEX(SHA2({quoted(source)}, 256)), LENGTH({quoted(source)}), {quoted(source)});
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			SELECT id, task_version_id, {user}, 'kernel.py', UNHEX(SHA2({quoted(source)}, 256)),
				'{mode}' FROM leaderboards WHERE name = '{board}';
		INSERT INTO jobs (submission_id, user_id, gpu) VALUES (LAST_INSERT_ID(), {user}, '{gpu}');
		SELECT LAST_INSERT_ID();""")[-1][0]
	)


def quoted(text):
	return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def job(number, columns="state"):
	row = sql(f"SELECT {columns} FROM jobs WHERE id = {number}")
	return row[0] if "," in columns else row[0][0]


def wait_for(number, state="done", limit_s=30):
	until(
		lambda: job(number) == state,
		limit_s,
		lambda: job(number, "state, verdict, reason, progress, attempt"),
	)


def running(number):
	"""Waits until the job runs and its test stage, with the submission in it, has started."""
	until(
		lambda: job(number, "state, progress")[0] == "running"
		and sql(f"SELECT 1 FROM stages WHERE job_id = {number} AND name = 'test'")
	)


def processes_of(worker):
	"""The commands of harnesses that run in the folders of this module's workers."""
	found = []
	for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
		try:
			command = status.read_bytes().replace(b"\0", b" ").decode(errors="replace")
			if "eval.py" in command and str(scratch) in os.readlink(status.parent / "cwd"):
				found.append(command)
		except OSError:
			pass
	return found


def close():
	"""Kills the workers and removes the database. Call this at the end of the tests, even after a
	failure."""
	for left in Worker.all:
		left.process.kill()
	database.remove()
	shutil.rmtree(scratch, ignore_errors=True)
