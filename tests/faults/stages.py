"""Helpers for the fault tests. They hold a job in a chosen stage on machines of any speed, find
processes, and check everything that the database stores."""

import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import mariadb  # noqa: E402

mariadb.use_own_server()
from processes import all_pids, command_of, descendants, is_gone, parent_of  # noqa: E402
from tap import equal  # noqa: E402
from workers import (  # noqa: E402
	RIGHT,
	Worker,
	admin,
	database,
	job,
	quoted,
	scratch,
	sql,
	submit,
	until,
)

LEASE_MS = 1500


def worker(name="first", lease_ms=LEASE_MS, **settings):
	"""Starts a worker without a file cache, so that it reads the source that Stage.heal stores."""
	one = Worker(
		name, **{"PODIUM_LEASE_MS": str(lease_ms), "PODIUM_WORKER_CACHE_MIB": "0", **settings}
	)
	one.says("is ready")
	return one


# ---- processes ----


def is_held(pid):
	"""Whether the process waits in HOLD. HOLD blocks SIGUSR2, and /proc shows blocked signals."""
	try:
		status = pathlib.Path(f"/proc/{pid}/status").read_text()
	except OSError:
		return False
	mask = int(
		next(line for line in status.splitlines() if line.startswith("SigBlk:")).split()[1], 16
	)
	return bool(mask >> (signal.SIGUSR2 - 1) & 1)


def runner_of(one):
	return next(
		(
			pid
			for pid in descendants(one.process.pid)
			if command_of(pid).split(" ")[0].endswith("podium-run")
		),
		None,
	)


def contestant_of(one):
	return next((pid for pid in descendants(one.process.pid) if is_held(pid)), None)


def zygote_of(one):
	"""The zygote of programs with a submission."""
	return next(
		(
			pid
			for pid in descendants(runner_of(one) or 0)
			if "podium-zygote: forks programs" in command_of(pid)
		),
		None,
	)


def leftovers():
	"""Processes that still run in the test's folder."""
	found = []
	for pid in all_pids():
		try:
			where = os.readlink(f"/proc/{pid}/cwd")
		except OSError:
			continue
		if str(scratch) in where + command_of(pid) and pid != os.getpid() and not is_gone(pid):
			found.append(f"{pid} {command_of(pid)[:100]}")
	return found


# ---- holding ----

HOLD = """
import signal, sys
if len(sys.argv) > 1 and sys.argv[1] == "{mode}":
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
	signal.sigwait([signal.SIGUSR1])

def custom_kernel(data):
	return data
"""


class Locker:
	"""A connection that holds a lock until release(), the end of its `with` block, or the
	database's death. A failed test must release the lock, or it would block the next test."""

	def __init__(self, statement):
		self.client = subprocess.Popen(
			["mariadb", "--no-defaults", "-S", database.socket, "-N", "-B", "-n", "podium"],
			stdin=subprocess.PIPE,
			stdout=subprocess.PIPE,
			stderr=subprocess.DEVNULL,
			text=True,
		)
		self.client.stdin.write("SET lock_wait_timeout = 60; " + statement + "; SELECT 'held';\n")
		self.client.stdin.flush()
		while self.client.stdout.readline().strip() != "held":
			if self.client.poll() is not None:
				raise AssertionError(f"the lock was not granted: {statement}")

	def release(self):
		self.client.kill()
		self.client.wait()
		self.client.stdin.close()
		self.client.stdout.close()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.release()


def somebody_waits():
	"""Whether a connection waits for the lock of a table or of a row."""
	return sql(
		"SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' UNION "
		"ALL "
		"SELECT 1 FROM information_schema.global_status WHERE variable_name = "
		"'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0"
	)


class Stage:
	"""One job that is held in a stage. let_go() lets the job continue; later attempts are not held.
	Use a stage in a `with` block: if the test fails there, the block releases the lock and the
	contestant."""

	name = None

	def __init__(self, one):
		self.worker, self.locker = one, None
		self.source = f"# {self.name} {os.urandom(8).hex()}\n" + self.program()
		try:
			self.number = self.enter()
		except BaseException:
			self.release()
			raise

	def __enter__(self):
		return self

	def __exit__(self, failure, *_):
		if failure:
			self.release()

	def program(self):
		return RIGHT

	def enter(self):
		raise NotImplementedError

	def heal(self):
		"""Replaces the source, so that nothing holds later attempts. Needs the database."""
		if self.program() != RIGHT:
			sql(
				f"UPDATE blobs SET content = {quoted(RIGHT)} WHERE sha256 = "
				f"UNHEX(SHA2({quoted(self.source)}, 256))"
			)

	def let_go(self):
		self.heal()
		self.release()

	def release(self):
		"""Releases the lock and the waiting contestant. Does not need the database."""
		if self.locker:
			self.locker.release()
		if held := contestant_of(self.worker):
			with contextlib.suppress(ProcessLookupError):
				os.kill(held, signal.SIGUSR1)


class Locked(Stage):
	"""A stage in which a lock in the database holds the worker."""

	def lock(self, number):
		raise NotImplementedError

	def enter(self):
		number = submit(self.source, gpu="later")
		self.locker = Locker(self.lock(number))
		sql(f"UPDATE jobs SET gpu = 'CPU' WHERE id = {number}")
		until(somebody_waits)
		return number


class Claiming(Locked):
	"""The worker is in the transaction that claims the job and deletes an earlier attempt's
	stages."""

	name = "claiming"

	def lock(self, number):
		sql(
			"INSERT INTO stages (job_id, position, name, message, command, stdout, stderr) "
			f"VALUES ({number}, 0, 'compile', '', '', 'old', '')"
		)
		return f"BEGIN; SELECT id FROM stages WHERE job_id = {number} FOR UPDATE"


class Starting(Locked):
	"""The worker has claimed the job and reads the task's files."""

	name = "starting"

	def lock(self, number):
		return "LOCK TABLES task_files WRITE"


class Compiling(Stage):
	"""Python checks the source, which has so many lines that the check takes a while."""

	name = "compile"

	def enter(self):
		number = submit(self.source)
		until(lambda: sql(f"SELECT 1 FROM stages WHERE job_id = {number}"))
		return number

	def program(self):
		return RIGHT + "a = [1, 2, 3]\n" * 60000


class InProgram(Stage):
	mode, users = None, itertools.repeat(1)

	def program(self):
		return HOLD.replace("{mode}", self.mode)

	def enter(self):
		number = submit(self.source, user=next(self.users))
		until(lambda: contestant_of(self.worker))
		return number


class Testing(InProgram):
	name, mode = "test", "test"


class Timing(InProgram):
	name, mode = "ranked", "leaderboard"


class Storing(Timing):
	"""The worker is in the transaction that ends the job, and waits to insert a new user into the
	ranking."""

	name, users = "storing", iter(range(100, 100000))

	def enter(self):
		number = super().enter()
		self.locker = Locker("BEGIN; SELECT job_id FROM ranking FOR UPDATE")
		os.kill(contestant_of(self.worker), signal.SIGUSR1)
		until(somebody_waits)
		return number


STAGES = (Claiming, Starting, Compiling, Testing, Timing, Storing)

# ---- what must hold ----


def is_over(number):
	return job(number) in ("done", "failed", "cancelled")


def check_job(number, verdict="passed"):
	got, attempt, reason = job(number, "verdict, attempt, COALESCE(reason, '')")
	if got != verdict:
		raise AssertionError(f"job {number} got {got} in attempt {attempt}: {reason}")
	assert 1 <= int(attempt) <= 3, attempt
	if verdict != "passed":
		return
	equal(
		sql(
			f"SELECT position, name, verdict, stdout FROM stages WHERE job_id = {number} ORDER BY "
			"position"
		),
		[
			["0", "compile", "passed", ""],
			["1", "test", "passed", "printed by the harness\\n"],
			["2", "ranked", "passed", "printed by the harness\\n"],
		],
	)
	equal(
		sql(
			"SELECT t.position, m.case_index, m.verdict FROM measurements m JOIN stages t "
			"ON t.id = "
			f"m.stage_id WHERE t.job_id = {number} "
			"ORDER BY t.position, m.case_index"
		),
		[["1", "0", "passed"], ["1", "1", "passed"], ["2", "0", "passed"]],
	)


def check_database():
	"""Checks everything that is stored once all jobs have ended."""
	equal(sql("SELECT id, state FROM jobs WHERE state IN ('queued', 'running')"), [])
	equal(
		sql("SELECT id FROM jobs WHERE verdict IS NULL OR attempt > 3 OR finished_at IS NULL"), []
	)
	equal(sql("SELECT id FROM jobs WHERE (state = 'failed') <> (verdict = 'internal error')"), [])
	equal(
		sql(
			"SELECT j.id FROM jobs j JOIN stages t ON t.job_id = j.id WHERE j.verdict <> "
			"'cancelled' "
			"AND t.verdict IS NULL"
		),
		[],
	)
	equal(
		sql(
			"SELECT id FROM submissions WHERE id NOT IN (SELECT submission_id FROM jobs WHERE "
			"submission_id IS NOT NULL)"
		),
		[],
	)
	rows = (
		"SELECT leaderboard_id, gpu, user_id, job_id, score_ns, position, place FROM ranking "
		"ORDER BY 1, 2, 6"
	)
	before = sql(rows)
	admin("ranking", "rebuild")
	equal(sql(rows), before)


def check_nothing_is_left(*workers):
	"""Waits until the workers have removed the folders of finished jobs."""
	for one in workers:
		until(
			lambda: not list(one.jobs.glob("podium-job-*")),
			15,
			lambda: str(list(one.jobs.iterdir())),
		)
