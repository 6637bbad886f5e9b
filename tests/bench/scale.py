#!/usr/bin/env python3
"""`make bench-scale`: which part reaches its limit first on the way to a hundred workers and a
million submissions. Uses the data of `make bench-data` (build/bench). Measures claims, whole jobs
by workers with a pretended podium-run, and viewers, separately and together. docs/scale.md has the
results. Needs wrk. Removes its own data at the end.

	SIZE (1000000): number of submissions; with less than 30000, as few jobs wait
	SECONDS_PER_TURN (10): seconds per measurement
	CONNECTIONS (64): connections of the viewers
	WORKERS (4): podium-worker processes, each with two devices
	DEVICES (128): most devices that claim at once
"""

import hashlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("SIZE", "1000000")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "bench")]
from data import FOLDER, SIZE, open_site  # noqa: E402
from exposition import Exposition  # noqa: E402
from pretend import pretend_driver, pretend_runner  # noqa: E402
from small_task import case, source_of  # noqa: E402
from wrk import need_wrk, wrk  # noqa: E402

SECONDS = float(os.environ.get("SECONDS_PER_TURN", 10))
CONNECTIONS, WORKERS, DEVICES = (
	int(os.environ.get(name, usual))
	for name, usual in (("CONNECTIONS", 64), ("WORKERS", 4), ("DEVICES", 128))
)
BUILD = ROOT / os.environ.get("B", "build/release")
CLAIMS = BUILD / "tests" / "integration" / "worker" / "test_claims"
BOARD = "/leaderboard/bench?gpu=H200"
# Removes this program's data. If it is interrupted, it can run again, because the statement that
# removes the leaderboard comes last.
CLEAR = (
	"DELETE c FROM comparisons c JOIN leaderboards l ON l.id = c.leaderboard_id WHERE l.name = "
	"'scale'; "
	"DELETE s FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = "
	"'scale'; UPDATE leaderboards SET task_version_id = NULL WHERE name = 'scale'; "
	"DELETE FROM leaderboards WHERE name = 'scale'; DELETE FROM workers WHERE name LIKE 'scale%'; "
	"DELETE FROM job_counts WHERE worker LIKE 'scale%'; "
	"DELETE FROM device_vitals WHERE worker LIKE 'scale%'; UPDATE jobs SET priority = priority - "
	"100 WHERE priority >= 100"
)
TICK = os.sysconf("SC_CLK_TCK")


def processor_s(name):
	"""Processor seconds of all of this user's processes with this name."""
	total = 0
	for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
		try:
			words = status.read_text().rsplit(")", 1)
			environment = (status.parent / "environ").read_bytes()
		except OSError:
			continue
		if words[0].split("(", 1)[1] == name and str(FOLDER).encode() in environment:
			total += (int(words[1].split()[11]) + int(words[1].split()[12])) / TICK
	return total


class Load:
	"""Measures the processor time that a `with` block takes. On a busy machine this time says more
	than the rate."""

	NAMES = ("mariadbd", "podium-web", "podium-worker")

	def __enter__(self):
		self.began, self.before = time.time(), {name: processor_s(name) for name in self.NAMES}
		return self

	def __exit__(self, *_):
		self.took = time.time() - self.began
		self.used = {name: processor_s(name) - self.before[name] for name in self.NAMES}

	def each(self, count):
		"""The processor time per item, in ms."""
		return "processor, ms each: " + ", ".join(
			f"{name} {1000 * used / max(1, count):.2f}"
			for name, used in self.used.items()
			if used > 0.05
		)


class Scale:
	def __init__(self, site, crowd):
		self.site, self.crowd, self.sql = site, crowd, site.sql
		self.environment = site.environment
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-scale."))
		self.folder.chmod(0o755)
		self.workers = []

	# ---- the data ----

	def sizes(self):
		rows = self.sql(
			"SELECT table_name, table_rows, data_length + index_length FROM "
			"information_schema.tables WHERE table_schema = 'podium' "
			"ORDER BY 3 DESC LIMIT 8"
		)
		total = sum(int(size) for _, _, size in rows)
		print(
			f"{SIZE} submissions; the largest tables, GB: "
			+ ", ".join(f"{name} {int(size) / 1e9:.2f}" for name, _, size in rows)
			+ f"; {total / SIZE / 1024:.1f} KiB for a submission",
			flush=True,
		)

	def count_jobs(self):
		"""Counts jobs as migration 0027 does."""
		statement = re.search(
			r"INSERT IGNORE INTO job_counts.*?;",
			(ROOT / "sql" / "0027_figures.sql").read_text(),
			re.S,
		)[0]
		self.sql("DELETE FROM job_counts")
		began = time.time()
		self.sql(statement)
		print(f"migration 0027 counts all jobs in {time.time() - began:.1f} s")

	def scrape(self, what):
		client, times = self.crowd.client("anyone"), []
		for _ in range(21):
			began = time.time()
			answer = client.get("/metrics")
			times.append((time.time() - began) * 1000)
		Exposition(answer.text)
		print(
			f"/metrics {what}: {statistics.median(times):.1f} ms, "
			f"{len(answer.bytes) / 1024:.0f} KB",
			flush=True,
		)

	# ---- claims ----

	def make_board(self):
		"""Creates a leaderboard with all users."""
		self.sql(
			"INSERT INTO leaderboards (name, creator_id, secret_seed) SELECT 'scale', creator_id, "
			"1 FROM leaderboards WHERE name = 'bench'; SET @l = LAST_INSERT_ID(); "
			"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) VALUES (@l, 'H200', 0); "
			"INSERT INTO task_versions (leaderboard_id, number, language, description, definition) "
			"SELECT @l, 1, 'py', '', definition FROM task_versions WHERE leaderboard_id = (SELECT "
			"id FROM leaderboards WHERE name = 'bench') AND number = 1; "
			"UPDATE leaderboards SET task_version_id = LAST_INSERT_ID() WHERE id = @l; "
			# The other queued jobs must wait: the pretended podium-run cannot read their sources.
			"UPDATE jobs SET priority = priority + 100 WHERE state = 'queued'; "
			"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('scale', '0', "
			"'{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))"
		)

	def queue(self, count, model="H200"):
		sources = [source_of(*[case(1e6 + 1e4 * i, err_ns=100.0)] * 3) for i in range(64)]
		blobs = ", ".join(
			f"(UNHEX(SHA2(UNHEX('{packed}'), 256)), {len(packed) // 2}, UNHEX('{packed}'))"
			for packed in (source.encode().hex() for source in sources)
		)
		hashes = ", ".join(f"'{hashlib.sha256(source.encode()).hexdigest()}'" for source in sources)
		# One transaction, because podium-web deletes blobs that no submission has.
		self.sql(f"""BEGIN; INSERT IGNORE INTO blobs VALUES {blobs};
			SET @l = (SELECT id FROM leaderboards WHERE name = 'scale'),
				@v = (SELECT task_version_id FROM leaderboards WHERE name = 'scale'),
				@u = (SELECT id FROM users WHERE name = 'user1'),
				@first = (SELECT MAX(id) FROM submissions);
			INSERT INTO submissions
				(leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
				SELECT @l, @v, @u + seq % 1000, 'a.py', UNHEX(ELT(1 + seq % 64, {hashes})), 'ranked'
				FROM seq_1_to_{count};
			INSERT INTO jobs (submission_id, user_id, gpu)
				SELECT id, user_id, '{model}' FROM submissions WHERE id > @first ORDER BY id;
			COMMIT""")

	def claimers(self, model, threads, count):
		began = time.time()
		answer = subprocess.run(
			[CLAIMS, "time", str(threads), str(count), "scale", model, "fair"],
			env=self.environment,
			capture_output=True,
			text=True,
			check=True,
		)
		took, lines = time.time() - began, answer.stdout.splitlines()
		times = sorted(int(line.split()[1]) / 1000 for line in lines if line != "none")
		return len(lines) / took, times

	def idle(self):
		for threads in filter(DEVICES.__ge__, (1, 8, 64)):
			count = max(8, min(4000, SIZE) // threads)
			with Load() as load:
				rate, _ = self.claimers("NONE", threads, count)
			print(
				f"looks of {threads} idle devices: {rate:.0f}/s ({load.each(threads * count)})",
				flush=True,
			)

	def claims(self):
		"""Measures claims by several numbers of devices, each with a running job, and ends the
		jobs."""
		waiting = min(20000, SIZE)
		self.queue(waiting, "MANY")
		self.sql("ANALYZE TABLE jobs")
		for threads in filter(DEVICES.__ge__, (1, 8, 64, 128)):
			count = 4 if threads > 8 else 32
			with Load() as load:
				rate, times = self.claimers("MANY", threads, count)
			self.sql(
				"UPDATE jobs SET state = 'done', verdict = 'passed' WHERE state = 'running' AND "
				"gpu = 'MANY'"
			)
			print(
				f"claims of {threads} devices at once, {waiting:,} waiting: {rate:.0f}/s, median "
				f"{statistics.median(times):.1f} ms, "
				f"99 % {times[int(len(times) * 0.99)]:.1f} ms ({load.each(threads * count)})",
				flush=True,
			)
		self.scrape(f"with {waiting:,} waiting")
		self.sql(
			"DELETE s FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE j.gpu = 'MANY'"
		)

	# ---- whole jobs ----

	def start_workers(self):
		environment = {
			**self.environment,
			**pretend_driver(self.folder / "driver"),
			**pretend_runner(self.folder / "runner", BUILD / "podium-run"),
			"PODIUM_PYTHON": "/nonexistent",
		}
		for number in range(WORKERS):
			jobs = self.folder / f"jobs-{number}"
			jobs.mkdir(mode=0o755)
			self.workers.append(
				subprocess.Popen(
					[BUILD / "podium-worker"],
					stdin=subprocess.DEVNULL,
					stderr=open(self.folder / f"{number}.log", "wb"),
					env={
						**environment,
						"PODIUM_WORKER_NAME": f"scale-{number}",
						"PODIUM_WORKER_DIRECTORY": str(jobs),
						"PODIUM_DEVICE_LOCKS": str(jobs),
						"PODIUM_POLL_MS": "50",
					},
				)
			)
		end = time.time() + 60
		while self.sql(
			"SELECT COUNT(*) FROM gpus g JOIN workers w ON w.id = g.worker_id WHERE w.name LIKE "
			"'scale-%'"
		) != [[str(2 * WORKERS)]]:
			if time.time() > end:
				sys.exit("bench: the workers do not start; see " + str(self.folder))
			time.sleep(0.1)

	def ended(self):
		return int(
			self.sql("SELECT COALESCE(SUM(jobs), 0) FROM job_counts WHERE worker LIKE 'scale-%'")[
				0
			][0]
		)

	def jobs_during(self, what, then=lambda: None):
		before = self.ended()
		with Load() as load:
			began = time.time()
			said = then()
			time.sleep(max(0.0, SECONDS - (time.time() - began)))
			ended = self.ended() - before
		cost = "" if said else f" ({load.each(ended)})"
		print(
			f"whole jobs, {2 * WORKERS} devices that take no time{what}: "
			f"{ended / load.took:.0f}/s{cost}{said or ''}",
			flush=True,
		)

	# ---- viewers ----

	def view(self, title, address, cookie=""):
		answers = wrk(self.site.url + address, CONNECTIONS, SECONDS, cookie, bears_errors=True)
		self.seen = answers.count
		return f"; {title}: {answers.rate:.0f}/s, 99 % {answers.p99_ms:.1f} ms" + (
			f", {answers.wrong} ERRORS" if answers.wrong else ""
		)

	def viewers(self):
		mine = self.crowd.cookie("user7")
		for title, *asked in (
			("a leaderboard, cached", BOARD),
			("a leaderboard, each its own", BOARD, mine),
			(
				"a submission's state, each its own",
				self.crowd.filled("/submission/{submission}/status"),
				mine,
			),
		):
			with Load() as load:
				said = self.view(title, *asked)
			print(f"{CONNECTIONS} viewers{said} ({load.each(self.seen)})", flush=True)
		return mine

	def clear(self):
		"""Removes the data. Retries if podium-web, which is still running, causes a conflict."""
		for left in reversed(range(5)):
			try:
				return self.sql(CLEAR)
			except AssertionError as reason:
				if not left or "1213" not in str(reason):
					raise

	def end(self):
		for worker in self.workers:
			worker.terminate()
		for worker in self.workers:
			worker.wait(60)
		self.clear()
		shutil.rmtree(self.folder, ignore_errors=True)


def main():
	need_wrk()
	site, crowd = open_site(BUILD)
	scale = Scale(site, crowd)
	try:
		print(
			f"load of the machine when it began: {os.getloadavg()[0]:.0f}, {os.cpu_count()} "
			"processors"
		)
		scale.sizes()
		scale.count_jobs()
		scale.scrape("at rest")
		scale.make_board()
		scale.idle()
		scale.claims()
		mine = scale.viewers()
		scale.queue(min(30000, SIZE))
		scale.start_workers()
		time.sleep(2)
		scale.jobs_during("")
		scale.jobs_during(
			f", beside {CONNECTIONS} viewers",
			lambda: scale.view("a leaderboard, each its own", BOARD, mine),
		)
	finally:
		scale.end()
		site.stop()


if __name__ == "__main__":
	main()
