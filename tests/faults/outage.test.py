#!/usr/bin/env python3
"""What a worker does when something around it fails: the database, the disk, a clock, a second
worker of the same name, or an interpreter that hangs."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from stages import (
	LEASE_MS,
	ROOT,
	Starting,
	Testing,
	Timing,
	check_database,
	check_job,
	check_nothing_is_left,
	contestant_of,  # noqa: E402
	is_over,
	leftovers,
	worker,
)
from pretend import pretend_driver  # noqa: E402
from processes import descendants  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402
from workers import (  # noqa: E402
	RIGHT,
	Worker,
	admin,
	close,
	database,
	job,
	load_task,
	scratch,
	sql,
	submit,
	until,
)


def log_of(one):
	return one.log.read_text(errors="replace")


def ends(number, *workers):
	until(lambda: is_over(number), 60, lambda: "".join(map(log_of, workers)))


def end(*workers):
	for one in workers:
		equal(one.end(), 0)
		lacks(log_of(one), "Sanitizer")


def let_contestant_go(one):
	os.kill(contestant_of(one), signal.SIGUSR1)


def bystander():
	"""A worker with other devices, which reclaims expired leases as every worker does."""
	return worker("bystander", **pretend_driver(scratch / "driver"), PODIUM_WORKER_CPU="0")


# ---- the database does not answer ----


@test
def a_result_survives_a_database_outage_longer_than_the_lease():
	one, other = worker("first"), bystander()
	with Timing(one) as held:
		database.stop(signal.SIGKILL)
		let_contestant_go(one)
	one.says("is kept until it can be stored")
	time.sleep(2 * LEASE_MS / 1000)
	database.start()
	ends(held.number, one, other)
	check_job(held.number)
	equal(job(held.number, "attempt, fence, lease_owner"), ["1", "1", "first"])
	one.says(f"of job {held.number} is stored")
	end(one, other)


@test
def killing_a_worker_that_keeps_a_result_costs_one_attempt():
	one = worker()
	with Timing(one) as held:
		database.stop(signal.SIGKILL)
		let_contestant_go(one)
	one.says("is kept until it can be stored")
	one.end(signal.SIGKILL)
	database.start()
	held.heal()
	two = worker("second")
	ends(held.number, two)
	check_job(held.number)
	equal(job(held.number, "attempt, lease_owner"), ["2", "second"])
	end(two)


class Lossy:
	"""A proxy between a worker and the database. It forwards everything, except the answer to a
	COMMIT whose number `lose` accepts: it breaks the worker's connection instead."""

	def __init__(self, lose):
		self.lose, self.commits, self.lost = lose, 0, 0
		self.path = str(scratch / f"lossy-{os.urandom(4).hex()}")
		self.listener = socket.socket(socket.AF_UNIX)
		self.listener.bind(self.path)
		self.listener.listen(16)
		threading.Thread(target=self.accept, daemon=True).start()

	def accept(self):
		while True:
			try:
				client = self.listener.accept()[0]
			except OSError:
				return
			threading.Thread(target=self.relay, args=(client,), daemon=True).start()

	def relay(self, client):
		server = socket.socket(socket.AF_UNIX)
		server.connect(str(database.socket))
		doomed = threading.Event()
		threading.Thread(target=self.answer, args=(server, client, doomed), daemon=True).start()
		while data := self.read(client):
			if data[4:] == b"\3COMMIT":
				self.commits += 1
				if self.lose(self.commits):
					doomed.set()
			server.sendall(data)
		server.close()

	def answer(self, server, client, doomed):
		while data := self.read(server):
			if doomed.is_set():
				self.lost += 1
				break
			client.sendall(data)
		client.close() if not doomed.is_set() else client.shutdown(socket.SHUT_RDWR)

	@staticmethod
	def read(stream):
		try:
			return stream.recv(1 << 20)
		except OSError:
			return b""

	def close(self):
		self.listener.close()


SLOW = """
import time

def custom_kernel(data):
	time.sleep(0.3)
	return data
"""


@test
def each_commit_whose_answer_is_lost_still_counts_once():
	lost = []
	for number in range(2, 7):
		begun = []
		line = Lossy(lambda count: len(begun) and count - begun[0] == number)
		one = worker(PODIUM_DATABASE_SOCKET=line.path)
		begun.append(line.commits)
		submitted = submit(SLOW)
		ends(submitted, one)
		check_job(submitted)
		equal(job(submitted, "attempt"), "1")
		end(one)
		lost.append(line.lost)
		line.close()
	assert sum(lost) >= 3, lost


@test
def a_claim_whose_answer_is_lost_is_repeated_after_its_lease():
	begun = []
	line = Lossy(lambda count: len(begun) and count == begun[0] + 1)
	one = worker(PODIUM_DATABASE_SOCKET=line.path)
	begun.append(line.commits)
	number = submit(RIGHT)
	ends(number, one)
	check_job(number)
	equal((job(number, "attempt"), line.lost), ("2", 1))
	end(one)
	line.close()


# ---- clocks ----


def jumping(name):
	"""The environment that shifts a program's wall clock, and the file with the shift in
	seconds."""
	library = scratch / "jump.so"
	if not library.exists():
		subprocess.run(
			[
				os.environ.get("CC", "cc"),
				"-shared",
				"-fPIC",
				"-O1",
				"-o",
				library,
				ROOT / "tests" / "faults" / "jump.c",
				"-ldl",
			],
			check=True,
		)
	file = scratch / f"jump-{name}"
	file.write_text("0")
	asan = os.environ.get("ASAN_OPTIONS", "")
	return {
		"LD_PRELOAD": str(library),
		"JUMP_FILE": str(file),
		"ASAN_OPTIONS": f"{asan}:verify_asan_link_order=0".lstrip(":"),
	}, file


@test
def a_worker_s_wall_clock_may_jump_while_a_job_runs():
	settings, file = jumping("worker")
	one = worker(**settings)
	for seconds in (3600 * 24, -3600 * 24, 0):
		with Testing(one) as held:
			file.write_text(str(seconds))
			before = job(held.number, "lease_expires")
			until(lambda: job(held.number, "lease_expires") > before)
			held.let_go()
		ends(held.number, one)
		check_job(held.number)
		equal(job(held.number, "attempt"), "1")
	end(one)


@test
def the_database_s_clock_may_jump_forward_without_expiring_a_lease():
	settings, file = jumping("database")
	database.stop()
	database.search = {**database.search, **settings}
	database.start()
	one, other = worker("first"), bystander()
	time.sleep(1.5 * LEASE_MS / 1000)
	with Testing(one) as held:
		before = sql("SELECT UTC_TIMESTAMP()")
		file.write_text("3600")
		assert sql("SELECT UTC_TIMESTAMP()")[0][0] > before[0][0]
		until(lambda: job(held.number, "lease_expires > UTC_TIMESTAMP()") == "1")
		time.sleep(2 * LEASE_MS / 1000)
		held.let_go()
	ends(held.number, one, other)
	check_job(held.number)
	equal(job(held.number, "attempt, fence"), ["1", "1"])
	end(one, other)


@test
def the_database_s_clock_may_jump_back_without_delaying_a_dead_worker_s_job():
	file = scratch / "jump-database"
	one = worker()
	with Testing(one) as held:
		one.end(signal.SIGKILL)
		file.write_text("0")
		held.heal()
	two = worker()
	ends(held.number, two)
	check_job(held.number)
	end(two)


# ---- the schema ----


@test
def a_worker_waits_for_the_migration_of_an_older_database():
	newest = sql(
		"SELECT version, name, HEX(sha256) FROM schema_migrations ORDER BY version DESC LIMIT 1"
	)[0]
	sql(f"DELETE FROM schema_migrations WHERE version = {newest[0]}")
	one = Worker()
	one.says("run `podium-admin migrate`")
	lacks(log_of(one), "is ready")
	admin("migrate")
	one.says("is ready")
	end(one)


@test
def a_worker_that_is_too_old_finishes_its_job_and_claims_no_other():
	one = worker()
	with Testing(one) as held:
		sql(
			"INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_later', "
			"REPEAT('x', 32)); UPDATE compatibility SET oldest_program = 9999"
		)
		one.says("The database is at version 9999 and takes programs from version 9999 on")
		held.let_go()
	ends(held.number, one)
	check_job(held.number)
	left = submit(RIGHT)
	late = Worker("late")
	late.says("Until then the worker takes no jobs")
	late.says("is ready")
	time.sleep(1)
	equal(job(left, "state, attempt"), ["queued", "0"])
	sql(
		"DELETE FROM schema_migrations WHERE version = 9999; UPDATE compatibility SET "
		"oldest_program = 21"
	)
	ends(left, one, late)
	check_job(left)
	end(one, late)


# ---- two workers of one name ----


@test
def a_job_runs_again_and_counts_once_when_a_new_worker_takes_over_the_name():
	older = worker("twin")
	with Testing(older) as held:
		newer = worker("twin")
		equal(older.process.wait(60), 1)
		contains(log_of(older), "PODIUM_WORKER_NAME")
		held.heal()
		until(lambda: contestant_of(newer) or is_over(held.number))
		held.worker = newer
		held.let_go()
	ends(held.number, newer)
	check_job(held.number)
	equal(job(held.number, "attempt"), "1")
	end(newer)


# ---- the disk, and long output ----

MOUNT = 'mount -t tmpfs -o size=48m,mode=755 jobs "$PODIUM_WORKER_DIRECTORY" && exec "$@"'


def on_small_disk():
	if (
		os.geteuid() != 0
		or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode
	):
		raise Skip("needs a mount namespace")
	one = worker(before=["unshare", "--mount", "sh", "-c", MOUNT, "sh"])
	return one, pathlib.Path(f"/proc/{one.process.pid}/root{one.jobs}") / "filler"


def fill(filler):
	with open(filler, "wb", buffering=0) as file:
		try:
			while file.write(b"x" * (1 << 16)):
				pass
		except OSError:
			pass


def full_disks(one):
	return sql(
		f"SELECT JSON_VALUE(figures, '$.full_disks') FROM workers WHERE name = '{one.name}'"
	)[0][0]


@test
def a_worker_claims_no_job_while_the_disk_is_full():
	one, filler = on_small_disk()
	fill(filler)
	one.says("where jobs are unpacked, is full")
	until(lambda: full_disks(one) == "1")  # as the panel shows
	number = submit(RIGHT)
	time.sleep(1)
	equal(job(number, "state, attempt"), ["queued", "0"])
	filler.unlink()
	ends(number, one)
	check_job(number)
	equal(job(number, "attempt"), "1")
	until(lambda: full_disks(one) == "0")
	end(one)


def jobs_live_in_memory():
	"""Whether the sandbox gives each job its own file system."""
	walls = json.loads(
		subprocess.run(
			[ROOT / os.environ.get("B", "build/release") / "podium-run", "--walls"],
			capture_output=True,
			text=True,
			check=True,
		).stdout
	)
	return next(wall["stands"] for wall in walls if wall["name"] == "disk")


@test
def a_job_that_does_not_fit_on_the_disk_runs_again_when_there_is_room():
	one, filler = on_small_disk()
	with Starting(one) as held:
		fill(filler)
		held.let_go()
	if jobs_live_in_memory():  # the job does not need the disk
		ends(held.number, one)
		check_job(held.number)
		equal(job(held.number, "attempt"), "1")
		filler.unlink()
		end(one)
		return
	until(lambda: job(held.number) == "queued", 30, lambda: log_of(one))
	contains(job(held.number, "reason"), "No space left on device")
	filler.unlink()
	ends(held.number, one)
	check_job(held.number)
	equal(job(held.number, "attempt"), "2")
	end(one)


@test
def of_long_output_the_start_and_the_end_are_stored():
	noise = (
		"import os\n\ndef custom_kernel(data):\n\tfor stream in (1, 2):\n\t\tos.write(stream, "
		"b'first line\\n')\n"
		"\t\tfor _ in range(300): os.write(stream, bytes(range(128, 256)) * 64 + "
		"b'\\0')\n\t\tos.write(stream, b'last line\\n')\n\treturn data\n"
	)
	one = worker()
	number = submit(noise, "test")
	ends(number, one)
	equal(job(number, "verdict"), "passed")
	length, out, err = sql(
		"SELECT GREATEST(LENGTH(stdout), LENGTH(stderr)), stdout, stderr FROM stages WHERE "
		f"job_id = {number} AND name = 'test'"
	)[0]
	assert int(length) < 4 * 64 * 1024, length
	for text in (out, err):
		contains(text[:100], "first line")
		contains(text[-200:], "last line")
	end(one)


# ---- stopping ----


@test
def a_worker_stops_while_it_looks_for_python():
	slow = scratch / "slow-python"
	slow.write_text("#!/bin/sh\nexec sleep 600\n")
	slow.chmod(0o755)
	one = Worker("slow", PODIUM_PYTHON=str(slow))
	until(lambda: len(descendants(one.process.pid)) >= 2)
	there = descendants(one.process.pid)
	equal(one.end(), 0)
	until(lambda: not [pid for pid in there if pathlib.Path(f"/proc/{pid}/cwd").exists()])
	contains(log_of(one), "Stopped before taking a job")


@test
def the_stored_data_is_consistent():
	check_database()
	check_nothing_is_left(*(one for one in Worker.all if one.jobs.exists() and one.name != "slow"))
	until(lambda: not leftovers(), 15, lambda: str(leftovers()))


code = 1
try:
	admin("migrate")
	load_task()
	code = run()
finally:
	close()
sys.exit(code)
