#!/usr/bin/env python3
"""Comparisons of entries that are too close to rank: what podium-run gets, what the worker stores
of podium-run's answer, and what happens when a comparison fails, is cancelled or is interrupted.

podium-worker and MariaDB are real. podium-run is a stand-in that gives the answers that the test
sets."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import PretendedRun  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402
from workers import (
	BUILD,
	RIGHT,
	TASK,
	Worker,
	admin,
	close,
	job,
	load_task,
	scratch,
	sql,
	submit,
	until,
	wait_for,
)  # noqa: E402

podium_run = PretendedRun(scratch / "pretended", BUILD / "podium-run")
RATIO = {"ratio": 0.99, "ratio_low": 0.985, "ratio_high": 0.995}


def worker(**settings):
	return Worker("compare", **podium_run.environment, **settings)


def fresh():
	sql("DELETE FROM jobs; DELETE FROM submissions; DELETE FROM users")
	(podium_run.folder / "jobs").unlink(missing_ok=True)


def ranked(user, score_ns):
	"""Ranks a submission of the user with this score. Returns its number."""
	podium_run.say(ranked={"score_ns": score_ns, "score_err_ns": 1.0}, compare={"hang": True})
	number = submit(f"# of {user}\n", user=user)
	wait_for(number)
	return int(sql(f"SELECT submission_id FROM jobs WHERE id = {number}")[0][0])


def comparisons(columns="j.id"):
	rows = sql(
		f"SELECT {columns} FROM comparisons c JOIN jobs j ON j.comparison_id = c.id ORDER BY c.id"
	)
	return rows if "," in columns else [row[0] for row in rows]


def page():
	return " ".join(
		f"{user}:{place}"
		for user, place in sql("SELECT user_id, place FROM ranking ORDER BY position")
	)


def two_that_are_close():
	"""Makes two entries with close scores. Returns their numbers, and the number of the queued job
	that compares them."""
	fresh()
	with worker():
		first, second = ranked(1, 1000.0), ranked(2, 1001.0)
		# The comparison hangs. When the worker stops, the job is queued again.
		until(lambda: comparisons("j.state") == ["running"])
	return first, second, int(comparisons()[0])


# ---- what runs ----


@test
def a_close_entry_is_compared_with_its_neighbour_by_a_job_without_a_user():
	load_task(definition=TASK.replace("engine: custom", "engine: isolated"))
	first, second, number = two_that_are_close()
	equal(
		job(number, "state, user_id, submission_id, priority, gpu, attempt"),
		["queued", "0", "NULL", "1", "CPU", "0"],
	)
	equal(
		sql("SELECT challenger_id, incumbent_id, gpu, ratio FROM comparisons"),
		[[str(second), str(first), "CPU", "NULL"]],
	)


@test
def podium_run_gets_both_sources_and_the_secret_seed():
	first, second, number = two_that_are_close()
	given = podium_run.jobs()[-1]
	equal((given["id"], given["mode"]), (number, "compare"))
	equal(given["submission"], {"name": "kernel.py", "text": "# of 2\n"})
	equal(given["rival"], {"name": "kernel.py", "text": "# of 1\n"})
	equal(
		given["secret_seed"],
		int(sql("SELECT secret_seed FROM leaderboards WHERE name = 'small'")[0][0]),
	)
	equal([file["path"] for file in given["files"]], ["eval.py", "reference.py"])
	equal(next(iter(given)), "id")
	for other in podium_run.jobs()[:-1]:
		lacks(list(other), "rival")


@test
def the_ratio_is_stored_and_decides_the_places():
	first, second, number = two_that_are_close()
	equal(page(), "1:1 2:1")
	podium_run.say(compare={**RATIO, "score_ns": 5.0})
	with worker():
		wait_for(number)
	equal(sql("SELECT ratio, ratio_low, ratio_high FROM comparisons"), [["0.99", "0.985", "0.995"]])
	equal(page(), "2:1 1:2")
	equal(job(number, "verdict, engine, score_ns, attempt"), ["passed", "isolated", "NULL", "1"])
	equal(sql(f"SELECT name, verdict FROM stages WHERE job_id = {number}"), [["compare", "passed"]])
	before = sql("SELECT * FROM ranking ORDER BY position")
	admin("ranking", "rebuild")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


@test
def each_case_is_stored_with_both_times_and_its_ratio():
	_, _, number = two_that_are_close()
	cases = [
		{"spec": f"seed: {seed}", "mean_ns": 100.0, "rival_ns": 101.0, **RATIO} for seed in (1, 2)
	]
	podium_run.say(compare={**RATIO, "cases": cases})
	with worker():
		wait_for(number)
	equal(
		sql(
			"SELECT m.case_index, m.spec, m.mean_ns, m.rival_ns, m.ratio, m.ratio_low, "
			"m.ratio_high FROM measurements m JOIN stages t ON t.id = m.stage_id "
			f"WHERE t.job_id = {number} ORDER BY m.case_index"
		),
		[[str(i), f"seed: {i + 1}", "100", "101", "0.99", "0.985", "0.995"] for i in (0, 1)],
	)


@test
def an_interval_that_contains_1_is_a_tie():
	_, _, number = two_that_are_close()
	podium_run.say(compare={"ratio": 1.001, "ratio_low": 0.998, "ratio_high": 1.004})
	with worker():
		wait_for(number)
	equal(page(), "1:1 2:1")


@test
def submissions_run_before_comparisons():
	_, _, number = two_that_are_close()
	podium_run.say(test={}, compare=RATIO)
	sent = [submit(mode="test", user=user) for user in (1, 1, 2, 3)]
	with worker():
		wait_for(number)
	equal([given["id"] for given in podium_run.jobs()[-5:]], sent + [number])


# ---- what goes wrong ----


@test
def one_of_the_two_that_fails_loses():
	for verdict, loser, places in (
		("wrong answer", "submission", "1:1 2:2"),
		("time limit", "rival", "2:1 1:2"),
	):
		_, _, number = two_that_are_close()
		podium_run.say(compare={"verdict": verdict, "reason": "Something.", "loser": loser})
		with worker():
			wait_for(number)
		equal(job(number, "verdict, reason"), [verdict, "Something."])
		equal(
			sql("SELECT ratio, loser + 0 FROM comparisons"),
			[["NULL", str(("submission", "rival").index(loser) + 1)]],
		)
		equal(page(), places)
		admin("ranking", "rebuild")
		equal(page(), places)


@test
def without_a_loser_or_with_an_internal_error_the_scores_decide():
	for says in (
		{"verdict": "time limit", **RATIO},
		{"verdict": "internal error", "loser": "rival"},
		{"verdict": "cancelled", "loser": "rival"},
	):
		_, _, number = two_that_are_close()
		podium_run.say(compare={"reason": "Something.", **says})
		with worker():
			wait_for(number, "failed" if says["verdict"] == "internal error" else "done")
		equal(sql("SELECT ratio, loser FROM comparisons"), [["NULL", "NULL"]])
		equal(page(), "1:1 2:1")


@test
def an_impossible_result_does_not_count():
	for says in (
		{},
		{"ratio": 0.99},
		{**RATIO, "ratio_low": 0.992},
		{**RATIO, "ratio_high": 0.98},
		{**RATIO, "ratio_low": -1},
	):
		_, _, number = two_that_are_close()
		podium_run.say(compare=says)
		with worker():
			wait_for(number)
		equal(sql("SELECT ratio FROM comparisons"), [["NULL"]])
		equal(page(), "1:1 2:1")


@test
def an_internal_error_keeps_the_tie_and_a_machine_fault_is_retried():
	_, _, number = two_that_are_close()
	podium_run.say(compare={"verdict": "internal error", "reason": "The engine broke."})
	with worker():
		wait_for(number, "failed")
	equal(page(), "1:1 2:1")
	_, _, number = two_that_are_close()
	podium_run.say(compare={"die once": True, **RATIO})
	with worker():
		wait_for(number)
	equal(job(number, "attempt"), "2")
	equal(page(), "2:1 1:2")


@test
def after_three_attempts_a_comparison_fails_and_the_scores_decide():
	_, _, number = two_that_are_close()
	podium_run.say(compare={"die": True})
	with worker():
		wait_for(number, "failed", 60)
	equal(job(number, "verdict, attempt"), ["internal error", "3"])
	contains(job(number, "reason"), "All 3 attempts failed.")
	equal(page(), "1:1 2:1")


@test
def a_comparison_whose_entry_is_replaced_is_cancelled():
	_, _, number = two_that_are_close()
	podium_run.say(ranked={"score_ns": 900.0, "score_err_ns": 1.0}, compare=RATIO)
	better = submit("# better\n", user=1)
	with worker():
		wait_for(better)
	equal(job(number), "cancelled")
	equal(page(), "1:1 2:2")
	contains(job(number, "reason"), "A better entry replaced")


@test
def deleting_the_leaderboard_ends_a_running_comparison():
	load_task("doomed", TASK.replace("engine: custom", "engine: isolated"))
	sql("DELETE FROM jobs; DELETE FROM submissions")
	with worker() as here:
		for user in (1, 2):
			said = {"score_ns": 1000.0 + user, "score_err_ns": 1.0}
			podium_run.say(ranked=said, compare={"hang": True})
			wait_for(submit(f"# of {user}\n", user=user, board="doomed"))
		until(lambda: comparisons("j.state") == ["running"])
		sql(
			"DELETE FROM ranking; DELETE FROM submissions; DELETE FROM leaderboards "
			"WHERE name = 'doomed'"
		)
		equal(
			sql("SELECT (SELECT COUNT(*) FROM comparisons) + (SELECT COUNT(*) FROM jobs)"), [["0"]]
		)
		here.says("no longer belongs to this worker")


# ---- with the real podium-run ----


@test
def the_isolated_engine_compares_two_submissions_that_it_ranked():
	load_task("real", TASK.replace("engine: custom", "engine: isolated"))
	sql("DELETE FROM jobs; DELETE FROM submissions")
	with Worker("real", PODIUM_PYTHON=""):
		numbers = [submit(f"# {user}\n{RIGHT}", user=user, board="real") for user in (1, 2)]
		for number in numbers:
			wait_for(number, limit_s=120)
			equal(job(number, "verdict, engine"), ["passed", "isolated"])
		# The times are real, so they may not be close enough for a comparison. If so, queue one.
		if not comparisons():
			sql(
				"INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, "
				"challenger_id, challenger_job_id, incumbent_id, incumbent_job_id) "
				"SELECT b.leaderboard_id, b.task_version_id, b.gpu, b.submission_id, b.job_id, "
				"a.submission_id, a.job_id FROM ranking a JOIN ranking b "
				"WHERE a.user_id = 1 AND b.user_id = 2; "
				"INSERT INTO jobs (comparison_id, gpu, priority) SELECT id, gpu, 1 "
				"FROM comparisons"
			)
		number = int(comparisons()[0])
		until(lambda: job(number) in ("done", "failed"), 120)
	equal(job(number, "state, verdict, engine"), ["done", "passed", "isolated"])
	equal(
		sql(f"SELECT name, verdict FROM stages WHERE job_id = {number} ORDER BY position"),
		[["compile", "passed"], ["compare", "passed"]],
	)
	low, ratio, high = map(float, sql("SELECT ratio_low, ratio, ratio_high FROM comparisons")[0])
	assert 0 < low <= ratio <= high, (low, ratio, high)
	cases = sql(
		"SELECT m.mean_ns / m.rival_ns, m.ratio FROM measurements m "
		f"JOIN stages t ON t.id = m.stage_id WHERE t.job_id = {number}"
	)
	equal(len(cases), 1)
	assert abs(float(cases[0][1]) - ratio) < 1e-9 * ratio, cases
	equal(sql("SELECT COUNT(*) FROM ranking"), [["2"]])
	before = sql("SELECT * FROM ranking ORDER BY position")
	admin("ranking", "rebuild")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
