"""Kills the processes named on the command line with kill -9 in every stage of a job. No result may
be lost or stored twice, and no job may wait longer than a lease. FAULT_ROUNDS is the number of
times that each kill is tried."""

import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from stages import (
	STAGES,
	check_database,
	check_job,
	check_nothing_is_left,
	contestant_of,
	is_over,
	leftovers,
	runner_of,
	worker,  # noqa: E402
	zygote_of,
)
from tap import equal, run, test  # noqa: E402
from workers import admin, close, database, load_task, submit, until  # noqa: E402

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "2"))
now = None  # the current worker

# ---- kills ----


def kill_worker():
	now.end(signal.SIGKILL)


def kill_database():
	database.stop(signal.SIGKILL)
	database.start()


def kill(find):
	def kill_it():
		until(lambda: find(now))
		os.kill(find(now), signal.SIGKILL)

	return kill_it


# {process: (function that kills it, {stage: the job's verdict, if that is not `passed`})}
PROCESSES = {
	"the worker": (kill_worker, {}),
	"podium-run": (kill(runner_of), {}),
	"the zygote": (kill(zygote_of), {}),
	"the contestant": (kill(contestant_of), {"test": "runtime error", "ranked": "runtime error"}),
	"the database": (kill_database, {}),
}
CONTESTANT_RUNS = ("test", "ranked")


def run_one():
	number = submit()
	until(lambda: is_over(number))
	check_job(number)


def go_on():
	"""Makes sure that a worker and its zygote run. A new worker gets the same name, as if an
	operator had restarted it."""
	global now
	if not now or now.process.poll() is not None:
		now = worker()
	while not zygote_of(now):  # podium-run starts a new zygote with the next job
		run_one()


def one_round(stage, kill_it, verdict):
	go_on()
	with stage(now) as held:
		held.heal()  # before the kill, because another attempt may start right after it
		kill_it()
		held.let_go()
	before = now
	go_on()
	until(lambda: is_over(held.number), 60, lambda: now.log.read_text(errors="replace"))
	check_job(held.number, verdict)
	check_nothing_is_left(now)
	if before is not now:
		until(
			lambda: not [line for line in leftovers() if str(before.jobs) in line],
			15,
			lambda: str(leftovers()),
		)


def add(stage, process, kill_it, verdict):
	def cell():
		for _ in range(ROUNDS):
			one_round(stage, kill_it, verdict)

	cell.__name__ = f"{process} is killed in the stage {stage.name}: {verdict}"
	test(cell)


@test
def an_undisturbed_job_is_ranked():
	go_on()
	run_one()


for title in sys.argv[1:]:
	how, verdicts = PROCESSES[title]
	for each in STAGES:
		if title != "the contestant" or each.name in CONTESTANT_RUNS:
			add(each, title, how, verdicts.get(each.name, "passed"))


@test
def the_stored_data_is_consistent():
	check_database()


@test
def no_process_is_left():
	equal(now.end(), 0)
	until(lambda: not leftovers(), 15, lambda: str(leftovers()))


code = 1
try:
	admin("migrate")
	load_task()
	sys.argv[1:] = []  # run() would take the words for names of tests
	code = run()
finally:
	close()
sys.exit(code)
