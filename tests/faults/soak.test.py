#!/usr/bin/env python3
"""Runs many small jobs through one worker while faults strike at random. At the end each job must
have one result, and the programs must not have grown. SOAK_JOBS sets the number of jobs, SOAK_SEED
the faults."""

import os
import pathlib
import random
import signal
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from stages import (  # noqa: E402
	check_database,
	check_nothing_is_left,
	leftovers,
	runner_of,
	worker,
	zygote_of,
)
from processes import descendants  # noqa: E402
from site_of import Site  # noqa: E402
from tap import equal, run, test  # noqa: E402
from workers import (  # noqa: E402
	BUILD,
	RIGHT,
	WRONG,
	admin,
	close,
	database,
	load_task,
	sql,
	submit,
	until,
)

JOBS = int(os.environ.get("SOAK_JOBS", "100"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or random.randrange(1, 1 << 31)
IS_SANITIZED = b"__asan_init" in (BUILD / "podium-worker").read_bytes()
WAITING = 8  # jobs in the queue at any time
dice = random.Random(SEED)
now, site = None, None
samples = {}  # (program, pid): [(finished jobs, KiB, descriptors)]
done = {}  # fault: number of times

CRASHES = "import os\n\ndef custom_kernel(data):\n\tos.abort()\n"
SLEEPS = "import time\n\ndef custom_kernel(data):\n\ttime.sleep(0.2)\n\treturn data\n"
SOURCES = ((RIGHT, 10), (SLEEPS, 3), (WRONG, 2), (CRASHES, 1))

# ---- faults ----


def kill(pid, number=signal.SIGKILL):
	try:
		os.kill(pid, number)
	except (ProcessLookupError, TypeError):
		return False  # the process had just ended
	return True


def contestant():
	"""Any program of a job: a child of podium-run that is not the zygote."""
	runner = runner_of(now)
	return next((pid for pid in descendants(runner or 0) if pid != zygote_of(now)), None)


def kill_worker():
	global now
	now.end(signal.SIGKILL)
	now = worker()
	return True


def restart_worker():
	global now
	equal(now.end(), 0)
	now = worker()
	return True


def restart_database():
	database.stop(dice.choice((signal.SIGKILL, signal.SIGTERM)))
	database.start()
	return True


def cancel():
	"""Cancels a job with podium-web's statement, which may deadlock with the worker (1213)."""
	statement = (
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', reason = 'It was "
		"cancelled.', finished_at = UTC_TIMESTAMP(3), "
		"lease_expires = NULL, progress = '' WHERE state IN ('queued', 'running') ORDER BY state "
		"= 'queued', id LIMIT 1"
	)
	answer = database.client("podium", statement)
	if answer.returncode and "ERROR 1213" not in answer.stderr:
		raise AssertionError(answer.stderr)
	return not answer.returncode


# (name, function, relative frequency, whether the measured programs survive the fault). The later
# part of the run measures the programs, so only faults that they survive strike in that part.
FAULTS = (
	("the contestant is killed", lambda: kill(contestant()), 6, True),
	("the zygote is killed", lambda: kill(zygote_of(now)), 4, True),
	("a job is cancelled", cancel, 6, True),
	("the database is killed or stopped, and started", restart_database, 1, True),
	("podium-run is killed", lambda: kill(runner_of(now)), 4, False),
	("the worker is killed", kill_worker, 1, False),
	("the worker is stopped and started", restart_worker, 1, False),
)
CALM_FROM = 0.3  # share of the jobs after which the measured programs run undisturbed
EVERY, SOON = 5, 3  # jobs between two faults; SOON until each fault has struck once


def choose(over):
	"""Chooses the next fault. Each fault strikes once before any strikes again; those that the
	measured programs do not survive come first."""
	missing = [fault for fault in FAULTS if fault[0] not in done]
	if missing:
		return dice.choice([fault for fault in missing if not fault[3]] or missing)
	choice = [fault for fault in FAULTS if fault[3] or over < CALM_FROM * JOBS]
	return dice.choices(choice, [fault[2] for fault in choice])[0]


def strike(over):
	name, act, _, _ = choose(over)
	if act():
		done[name] = done.get(name, 0) + 1


# ---- measuring ----


def size_of(pid):
	status = pathlib.Path(f"/proc/{pid}/status").read_text()
	rss = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
	return int(rss.split()[1]), len(os.listdir(f"/proc/{pid}/fd"))


def measure(over):
	for program, pid in (
		("podium-worker", now.process.pid),
		("podium-run", runner_of(now)),
		("podium-web", site.web.pid),
	):
		try:
			samples.setdefault((program, pid), []).append((over, *size_of(pid)))
		except (OSError, StopIteration):
			pass  # the program was just killed


def halves(program):
	"""Returns the median memory in KiB in the first and in the second half of the samples, and the
	number of samples, for the process of this program that lived longest. The first fifth of the
	samples is left out of the medians."""
	series = max((rows for (name, _), rows in samples.items() if name == program), key=len)
	rows = series[len(series) // 5 :]
	middle = len(rows) // 2
	return [
		statistics.median(row[1] for row in part) for part in (rows[:middle], rows[middle:])
	], len(series)


def descriptors_at_rest():
	"""Returns {program: open descriptors} once there are no jobs and the numbers have not changed
	for a second. A running job has about ten descriptors open, which would hide a leak."""
	until(lambda: sql("SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')") == [["0"]])
	counts, since = None, time.monotonic()
	while time.monotonic() - since < 1:
		found = {
			"podium-worker": size_of(now.process.pid)[1],
			"podium-run": size_of(runner_of(now))[1],
		}
		if found != counts:
			counts, since = found, time.monotonic()
		time.sleep(0.05)
	return counts


# ---- the tests ----


def count_over():
	return int(sql("SELECT COUNT(*) FROM jobs WHERE state NOT IN ('queued', 'running')")[0][0])


def look_at_pages():
	"""Requests pages as visitors do. A page may answer 503 while the database is down, but never
	500."""
	for path in (
		"/queue",
		"/leaderboard/small",
		"/submission/1/status",
		f"/submission/{dice.randrange(1, JOBS + 1)}",
	):
		status = site.visitor.get(path).status
		assert status in (200, 404, 503), (path, status)


@test
def all_jobs_end_despite_the_faults():
	global now, site
	print(f"# {JOBS} jobs, SOAK_SEED={SEED}", flush=True)
	site, now = Site(), worker()
	submitted, over, struck, began = 0, 0, 0, time.monotonic()
	while over < JOBS:
		while submitted < JOBS and submitted - over < WAITING:
			source = dice.choices([one for one, _ in SOURCES], [weight for _, weight in SOURCES])[0]
			submit(source, dice.choice(("test", "benchmark", "ranked")), user=dice.randrange(1, 9))
			submitted += 1
		if over - struck >= (EVERY if len(done) == len(FAULTS) else SOON):
			struck = over
			time.sleep(dice.random() * 0.2)  # so that the fault strikes at any moment of a job
			strike(over)
		look_at_pages()
		measure(over)
		time.sleep(0.05)
		over = count_over()
	took = time.monotonic() - began
	print(
		f"# {took:.0f} s, {JOBS / took:.1f} jobs a second; "
		+ "; ".join(f"{name}: {count}" for name, count in sorted(done.items())),
		flush=True,
	)
	equal(len(done), len(FAULTS))


@test
def each_job_has_one_result_and_the_ranking_matches():
	check_database()
	equal(sql("SELECT COUNT(*) FROM jobs"), [[str(JOBS)]])
	equal(
		sql(
			"SELECT j.id FROM jobs j JOIN stages t ON t.job_id = j.id GROUP BY j.id, t.name HAVING "
			"COUNT(*) > 1"
		),
		[],
	)
	equal(
		sql(
			"SELECT j.id, t.name FROM jobs j JOIN stages t ON t.job_id = j.id WHERE "
			"j.state = 'done' "
			"AND t.name <> 'compile' "
			"AND t.stdout <> 'printed by the harness\\n' AND t.verdict = 'passed'"
		),
		[],
	)
	equal(
		sql(
			"SELECT j.id FROM jobs j WHERE j.verdict = 'passed' AND (SELECT COUNT(*) FROM stages t "
			"WHERE t.job_id = j.id) <> "
			"(SELECT IF(s.mode = 'test', 2, 3) FROM submissions s WHERE s.id = j.submission_id)"
		),
		[],
	)
	# `compile error` is among the verdicts because a fault may kill the compiler.
	equal(
		sql(
			"SELECT verdict FROM jobs WHERE verdict NOT IN ('passed', 'wrong answer', 'compile "
			"error', 'runtime error', 'cancelled', 'internal error')"
		),
		[],
	)
	# A job may fail with an internal error only after three attempts.
	equal(
		sql(
			"SELECT id, attempt, reason FROM jobs WHERE verdict = 'internal error' AND attempt < 3"
		),
		[],
	)


@test
def memory_does_not_grow():
	print("# program          samples   KiB before  KiB after", flush=True)
	for program in ("podium-worker", "podium-run", "podium-web"):
		(kib, kib_after), count = halves(program)
		print(f"# {program:15} {count:8} {kib:12.0f} {kib_after:10.0f}", flush=True)
		# Allocators settle within a few hundred jobs. Then a long run shows a leak of a kilobyte a
		# job. AddressSanitizer keeps freed memory for a while, so the memory grows at first. It
		# reports leaks itself when a program ends, so the limit does not apply with it.
		assert IS_SANITIZED or kib_after <= kib * 1.10 + max(512, 0.25 * JOBS), (
			program,
			kib,
			kib_after,
		)


@test
def no_descriptor_is_left_open():
	global now
	files = descriptors_at_rest()
	equal(now.end(), 0)
	now = worker()
	submit(RIGHT, "ranked", user=1)
	fresh = descriptors_at_rest()
	print(f"# after {JOBS} jobs {files}, after one {fresh}", flush=True)
	for program in files:
		assert files[program] <= fresh[program] + 1, (program, files, fresh)
	web = max((rows for (name, _), rows in samples.items() if name == "podium-web"), key=len)
	# Requests must not leave descriptors open. One may be open because a request is in progress.
	assert min(row[2] for row in web[-10:]) <= web[len(web) // 5][2] + 1, web


@test
def nothing_is_left():
	until(lambda: sql("SELECT COUNT(*) FROM jobs WHERE state = 'running'") == [["0"]])
	check_nothing_is_left(now)
	equal(now.end(), 0)
	site.end()
	until(lambda: not leftovers(), 15, lambda: str(leftovers()))


code = 1
try:
	admin("migrate")
	load_task()
	code = run()
finally:
	if site:
		site.end()
	close()
sys.exit(code)
