#!/usr/bin/env python3
"""What pages say about comparisons, and where comparisons do not appear. The pages come through
nginx. The worker is real, and its podium-run is a stand-in."""

import json
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from pretend import PretendedRun  # noqa: E402
from small_task import ended, isolated, load_task, new_source, register, send_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="podium-compare.")
podium_run = PretendedRun(
	pathlib.Path(scratch.name), ROOT / os.environ.get("B", "build/release") / "podium-run"
)
os.chmod(scratch.name, 0o755)
site = Instance(
	PODIUM_QUEUED_JOBS_PER_USER="1", PODIUM_WORKER_NAME="here", **podium_run.environment
)
sql = site.sql
anyone, ada, dora, cyd, bob, admin = (Client(site.url) for _ in range(6))
PASSWORD = "a long password"
KEPT_S = 1.1  # cgi/page/ranking_notes.h caches for a second
TIE = {"ratio": 0.998, "ratio_low": 0.994, "ratio_high": 1.003}
FASTER = {"ratio": 0.988, "ratio_low": 0.985, "ratio_high": 0.991}


def prepare():
	load_task(site, isolated())
	register(site, {"ada": ada, "dora": dora, "cyd": cyd, "bob": bob, "root-of-all": admin})


def submit(client, mode="ranked"):
	return send_source(client, new_source(), mode=mode, gpus=("CPU",))


def ranked(client, score_ns, **compare):
	podium_run.say(ranked={"score_ns": score_ns, "score_err_ns": 0.1}, compare=compare)
	number = submit(client)
	ended(anyone, number)
	return number


def comparison(column="state"):
	rows = sql(
		f"SELECT {column} FROM jobs WHERE comparison_id IS NOT NULL ORDER BY id DESC LIMIT 1"
	)
	return rows[0][0] if rows else None


def two_that_are_close(**compare):
	"""Ranks a submission of ada, then a slightly slower one of dora, which becomes the challenger
	of a comparison. `compare`: how the comparison ends. Returns the two numbers."""
	sql(
		"UPDATE jobs SET state = 'cancelled', lease_expires = NULL WHERE comparison_id IS NOT "
		"NULL AND state <> 'done'"
	)
	sql("DELETE FROM submissions; DELETE FROM pauses")
	first = ranked(ada, 10000.0)
	return first, ranked(dora, 10010.0, **compare)


def fresh(client, path):
	"""Gets a new version of the page. nginx and, for a ranking, podium-web cache pages for a
	second."""
	if path == "/leaderboard/small":
		time.sleep(KEPT_S)
	return client.fresh(path)


def words(client, path):
	"""The words of a page, without the space between a link and the punctuation after it."""
	return re.sub(r" ([,.:])", r"\1", fresh(client, path).words())


def links(client, path):
	page = Page()
	page.feed(fresh(client, path).text)
	equal(page.faults, [])
	return page.links


def number_of_comparison():
	return int(sql("SELECT MAX(id) FROM comparisons")[0][0])


# ---- what pages say ----


@test
def both_pages_and_the_ranking_show_a_comparison_in_progress():
	prepare()
	first, second = two_that_are_close(hang=True)
	until(lambda: comparison("progress") == "timing 1/1")
	contains(
		words(anyone, f"/submission/{second}"),
		f"A comparison with #{first} of ada is under way; the ranks may still change.",
	)
	contains(
		words(anyone, f"/submission/{first}"),
		f"A comparison with #{second} of dora is under way; the ranks may still change.",
	)
	contains(words(anyone, "/leaderboard/small"), "1 head-to-head, 1 running")
	contains(
		words(anyone, "/leaderboard/small"),
		f"A comparison of submission {second} of dora with submission {first} of ada is under way; "
		"the ranks may still change.",
	)


@test
def the_queue_names_both_users_and_neither_as_the_owner():
	first, second = (int(row[0]) for row in sql("SELECT id FROM submissions ORDER BY id"))
	page = words(dora, "/queue")
	contains(
		page, f"{second} and {first} comparison just now small by dora, compared with ada running"
	)
	lacks(page, "(you)")
	state = fresh(anyone, "/queue/status").json
	equal(
		[(job["submission"], job["compared_with"], job["state"]) for job in state["jobs"]],
		[(second, first, "running")],
	)
	for address in (
		f"/submission/{first}",
		f"/submission/{second}",
		"/user/ada",
		"/user/dora",
		f"/comparison/{number_of_comparison()}",
	):
		contains(links(anyone, "/queue"), address)


@test
def a_device_that_runs_a_comparison_says_so():
	first, second = (int(row[0]) for row in sql("SELECT id FROM submissions ORDER BY id"))
	contains(words(admin, "/admin/workers"), f"{second} against {first}, timing 1/1")
	contains(
		site.manage("worker", "list"), f"submissions {second} and {first} compared: timing 1/1"
	)


@test
def an_ordinary_job_is_shown_as_usual():
	site.hold_jobs()
	number = submit(ada, "test")
	state = fresh(anyone, "/queue/status").json
	equal(
		[
			(job["submission"], job["compared_with"])
			for job in state["jobs"]
			if job["state"] == "queued"
		],
		[(number, None)],
	)
	contains(words(ada, "/queue"), "ada (you)")
	contains(words(ada, f"/submission/{number}"), "Waiting for CPU: 1st in line")
	equal(ada.post(f"/submission/{number}/cancel", form=f"/submission/{number}/cancel").status, 303)
	sql("DELETE FROM pauses")


@test
def both_pages_and_the_ranking_show_a_tie():
	first, second = two_that_are_close(**TIE)
	until(lambda: comparison() == "done")
	contains(
		words(anyone, f"/submission/{second}"),
		f"Compared with #{first} of ada on one CPU: 0.998 (0.994 to 1.003): a tie.",
	)
	contains(
		words(anyone, f"/submission/{first}"),
		f"Compared with #{second} of dora on one CPU: 1.002 (0.997 to 1.006): a tie.",
	)
	page = words(anyone, "/leaderboard/small")
	contains(
		page,
		f"submission {second} of dora, compared with submission {first} of ada on one CPU: "
		"0.998 (0.994 to 1.003): a tie.",
	)
	# Their times alone differ by more than the noise.
	contains(page, "=1 ada 10.0000")
	contains(page, "1 head-to-head dora, rank =1: Tied with ada head to head.")
	contains(
		words(anyone, f"/submission/{second}"), "Rank =1 of 2 on CPU Tied with ada head to head."
	)
	contains(page, "share a rank, marked with =. How ranking works")
	contains(page, "Podium runs them head to head on one CPU")
	for path in (f"/submission/{first}", f"/submission/{second}", "/leaderboard/small"):
		contains(
			links(anyone, path), f"/submission/{first if path.endswith(str(second)) else second}"
		)


@test
def the_faster_entry_is_first_and_both_pages_say_by_how_much():
	first, second = two_that_are_close(**FASTER)
	until(lambda: comparison() == "done")
	contains(words(anyone, f"/submission/{second}"), "0.988 (0.985 to 0.991): 1.2 % faster.")
	contains(words(anyone, f"/submission/{first}"), "1.012 (1.009 to 1.015): 1.2 % slower.")
	rows = fresh(anyone, "/leaderboard/small.json").json["rows"]
	equal(
		[(row["rank"], row["tie"], row["user"]) for row in rows],
		[(1, False, "dora"), (2, False, "ada")],
	)
	page = words(anyone, "/leaderboard/small")
	# dora has the first rank with the slower time, and ada's gap to the rank above says so.
	contains(page, "1 dora 10.01000 ± 0.00020 µs +0.1 %")
	contains(page, "2 ada why? 10.00000 ± 0.00020 µs fastest")
	contains(page, "ada, rank 2: Behind dora: slower head to head.")
	more = words(anyone, "/leaderboard/small?columns=all")
	contains(more, "2 ada why? 10.00000 ± 0.00020 µs fastest 0.10 % faster")
	contains(
		words(anyone, f"/submission/{first}"),
		"Rank 2 of 2 on CPU Behind dora: slower head to head.",
	)
	equal({"rank", "score_ns", "submission", "submitted_at", "user"} - set(rows[0]), set())
	contains(
		fresh(anyone, "/leaderboard/small.csv").text, "rank,user,score_ns,submission,submitted_at"
	)


@test
def a_small_difference_gets_more_than_three_decimals():
	first, second = two_that_are_close(ratio=0.9995, ratio_low=0.9993, ratio_high=0.99975)
	until(lambda: comparison() == "done")
	contains(words(anyone, f"/submission/{second}"), "0.9995 (0.9993 to 0.9998): 0.050 % faster.")


@test
def a_tie_with_two_ranks_says_why_wherever_it_is_called_a_tie():
	first, second = two_that_are_close(**TIE)
	until(lambda: comparison() == "done")
	podium_run.say(ranked={"score_ns": 10020.0, "score_err_ns": 0.1}, compare=TIE)
	third = submit(cyd)
	ended(anyone, third)
	until(lambda: sql("SELECT COUNT(*) FROM comparisons WHERE ratio IS NOT NULL") == [["2"]])
	reason = "Ties with dora, but not with the fastest of that rank."
	page = words(anyone, "/leaderboard/small")
	contains(page, "dora, rank =1: Tied with ada head to head.")
	contains(page, f"cyd, rank 3: {reason}")
	sentence = f"a tie. Yet cyd has the lower rank. {reason}"
	contains(page, sentence)
	for path in (
		f"/submission/{second}",
		f"/submission/{third}",
		f"/comparison/{number_of_comparison()}",
	):
		contains(words(anyone, path), sentence)
	contains(words(anyone, f"/submission/{third}"), f"Rank 3 of 3 on CPU {reason}")
	lacks(words(anyone, f"/compare?a={second}&b={third}"), "Yet cyd")
	# /compare calls two a tie whose times differ by less than the noise.
	sql(
		"DELETE FROM comparisons; UPDATE jobs SET score_err_ns = 10 WHERE submission_id IS NOT "
		"NULL; "
		f"UPDATE jobs SET score_ns = 10020 WHERE submission_id = {second}; "
		f"UPDATE jobs SET score_ns = 10040 WHERE submission_id = {third}"
	)
	site.manage("ranking", "rebuild", "small")
	contains(words(anyone, "/leaderboard/small"), f"cyd, rank 3: {reason}")
	for pair in (f"a={second}&b={third}", f"a={third}&b={second}"):
		contains(
			words(anyone, f"/compare?{pair}"),
			f"has rank =1. Yet cyd has the lower rank. {reason}"
			if pair.startswith(f"a={second}")
			else f"has rank 3. Yet cyd has the lower rank. {reason}",
		)
	lacks(words(anyone, f"/compare?a={first}&b={second}"), "Yet")


@test
def a_comparison_no_longer_counts_once_the_times_are_not_close():
	first, second = two_that_are_close(**FASTER)
	until(lambda: comparison() == "done")
	sql(f"UPDATE jobs SET score_ns = 11000 WHERE submission_id = {second}")
	site.manage("ranking", "rebuild", "small")
	said = "This comparison no longer counts, because their times are no longer close."
	page = words(anyone, "/leaderboard/small")
	contains(page, "1 ada 10.0000")
	lacks(page, "Behind")
	contains(page, said)
	for path in (
		f"/submission/{first}",
		f"/submission/{second}",
		f"/comparison/{number_of_comparison()}",
	):
		contains(words(anyone, path), said)


def decide(number, action, page="/admin/submission/%d", **more):
	answer = admin.post(
		page % number if "%d" in page else page,
		[("action", action), ("reason", "Too good."), ("confirm", "yes"), *more.items()],
	)
	equal(answer.status, 303)


def record_of_the_picture(user):
	"""Whether the share picture names this user as the holder of the record: it does if it does not
	change when the newest record gets this user."""
	picture = "/leaderboard/small/share.png"
	before = fresh(anyone, picture).bytes
	newest = sql("SELECT job_id, user_id FROM records WHERE line = 0 ORDER BY score_ns LIMIT 1")[0]
	set_user = "UPDATE records SET user_id = {} WHERE line = 0 AND job_id = " + newest[0]
	sql(set_user.format(f"(SELECT id FROM users WHERE name = '{user}')"))
	after = fresh(anyone, picture).bytes
	sql(set_user.format(newest[1]))
	return before == after


def record_of_the_interface():
	boards = anyone.get("/api/v1/leaderboards").json["items"]
	(device,) = (one for board in boards if board["name"] == "small" for one in board["devices"])
	return device["user"], device["score_ns"]


def expect_records(*records):
	"""Checks the records, newest first, as (user, time in ns), on every page and in every format
	that has them."""
	user, score_ns = records[0]
	shown = [(name, f"{ns / 1000:.5f} µs") for name, ns in records]
	feed = fresh(anyone, "/leaderboard/small.atom").text
	equal(re.findall(r"<title>(\w+): (.*?) on CPU,", feed), shown)
	live = words(anyone, "/leaderboard/small?view=live")
	equal(re.search(r"Newest record: (\w+), (.*?) on CPU", live).groups(), shown[0])
	badge = fresh(anyone, "/leaderboard/small/badge.svg").text
	contains(badge, f"{shown[0][1]} by {user}<")
	# nginx caches the answer for up to two seconds: it counts whole ones.
	until(lambda: record_of_the_interface() == (user, score_ns))
	equal([name for name in ("ada", "bob", "cyd", "dora") if record_of_the_picture(name)], [user])
	told = json.loads(
		sql("SELECT data FROM webhook_events WHERE event = 'record' ORDER BY id DESC LIMIT 1")[0][0]
	)
	equal((told["user"], told["score_ns"]), (user, score_ns))
	# podium-web caches the chart for two seconds.
	chart = [rf"UTC {name} {re.escape(time)}" for name, time in reversed(shown)]
	line = re.compile(r"Fastest of all \S+ \S+ " + r" \S+ \S+ ".join(chart) + " (?!\\d)")
	until(lambda: line.search(words(anyone, "/leaderboard/small?view=trend")))


@test
def every_page_and_format_names_the_same_record():
	"""A result is a record if it was faster than all results ranked before it, whenever it was
	submitted and whatever its rank."""
	sql(
		"DELETE FROM submissions; DELETE FROM webhook_events; INSERT INTO webhooks (name, address, "
		"form, events, secret) VALUES ('records', 'http://hook.invalid/', 'json', 'record', 'x'); "
		"INSERT INTO pauses (worker, kind, paused_by) VALUES ('here', 'pause', 'root-of-all')"
	)
	# ada submits first and finishes second: meanwhile no worker has her job's device.
	early = submit(ada)
	sql(f"UPDATE jobs SET gpu = 'H200' WHERE submission_id = {early}; DELETE FROM pauses")
	ranked(dora, 10000.0)
	expect_records(("dora", 10000.0))
	podium_run.say(ranked={"score_ns": 10050.0, "score_err_ns": 0.1}, compare=FASTER)
	sql(f"UPDATE jobs SET gpu = 'CPU' WHERE submission_id = {early}")
	ended(anyone, early)
	# A comparison ranks ada's slower time before dora's record.
	until(lambda: comparison() == "done")
	rows = fresh(anyone, "/leaderboard/small.json").json["rows"]
	equal([(row["rank"], row["user"]) for row in rows], [(1, "ada"), (2, "dora")])
	expect_records(("dora", 10000.0))
	# A hidden result is no record any more.
	hidden = ranked(cyd, 9000.0)
	expect_records(("cyd", 9000.0), ("dora", 10000.0))
	decide(hidden, "hide")
	# A result that is held is ranked, and a record, when an admin releases it.
	held = ranked(bob, 8000.0)
	decide(held, "hold")
	ranked(cyd, 8500.0)
	expect_records(("cyd", 8500.0), ("dora", 10000.0))
	decide(held, "release", "/admin/review", submission=held, gpu="CPU")
	expect_records(("bob", 8000.0), ("cyd", 8500.0), ("dora", 10000.0))
	site.manage("ranking", "rebuild", "small")
	expect_records(("bob", 8000.0), ("cyd", 8500.0), ("dora", 10000.0))


@test
def once_an_entry_is_replaced_its_comparisons_decide_nothing():
	first, second = two_that_are_close(**FASTER)
	until(lambda: comparison() == "done")
	ranked(ada, 5000.0)
	contains(
		words(anyone, f"/submission/{second}"),
		"This comparison no longer counts, because one of the two is not its user’s best.",
	)
	lacks(words(anyone, "/leaderboard/small"), "compared with")


@test
def a_failed_comparison_is_shown_and_its_reason_only_to_admins():
	first, second = two_that_are_close(
		verdict="runtime error", reason="Line 3 of the other one's source is <b>wrong</b>."
	)
	until(lambda: comparison() == "done")
	for client in (anyone, ada, dora):
		page = words(client, f"/submission/{second}")
		contains(page, f"A comparison with #{first} of ada has no result, so their times decide.")
		lacks(page, "Line 3")
	contains(
		words(admin, f"/submission/{second}"),
		"so their times decide. Line 3 of the other one's source is <b>wrong</b>.",
	)
	lacks(words(anyone, "/leaderboard/small"), "omparison")


# ---- the comparison's page ----


@test
def its_page_shows_both_entries_and_the_progress():
	first, second = two_that_are_close(hang=True)
	until(lambda: comparison("progress") == "timing 1/1")
	path = f"/comparison/{number_of_comparison()}"
	page = words(anyone, path)
	contains(
		page, "dora against ada Compare sources CPU Running on here: timing 1/1. dora has rank 2,"
	)
	contains(page, "The ranks may still change.")
	contains(page, f"submission {second} of dora with submission {first} of ada, created just now.")
	for source in (f"/submission/{first}", f"/submission/{second}", "/leaderboard/small"):
		contains(links(anyone, source), path)
	for target in (
		f"/submission/{first}",
		f"/submission/{second}",
		"/user/ada",
		"/user/dora",
		"/leaderboard/small",
	):
		contains(links(anyone, path), target)


@test
def its_page_has_the_times_and_the_ratio_of_each_case():
	cases = [
		{
			"spec": f"size: {size}; seed: 1",
			"mean_ns": 1000.0 * size,
			"rival_ns": 1010.0 * size,
			**FASTER,
		}
		for size in (1, 20)
	]
	cases[1]["message"] = "In 1 of 4 blocks the <constant> moved."
	two_that_are_close(**FASTER, cases=cases)
	until(lambda: comparison() == "done")
	page = words(anyone, f"/comparison/{number_of_comparison()}")
	contains(
		page,
		"Ratio of their times (first to second), with its 95 % interval: 0.988 (0.985 to 0.991): "
		"1.2 % faster",
	)
	contains(page, "CPU dora is 1.2 % faster than ada. dora has rank 1, ada has rank 2.")
	contains(
		page,
		"1 size: 1 seed: 1 1.000 µs 1.010 µs 0.9880 0.9850 to 0.9910 2 size: 20 seed: 1 20.00 µs "
		"20.20 µs 0.9880",
	)
	contains(page, "finished just now on here.")
	contains(page, "Benchmark 2: In 1 of 4 blocks the <constant> moved.")
	lacks(page, "Benchmark 1")
	# Where the last benchmark ranks, the stage has only that one, the third here.
	sql(
		"CREATE TABLE kept AS SELECT id, definition FROM task_versions; UPDATE task_versions "
		"SET definition = JSON_SET(definition, '$.ranking_by', 'last', "
		"'$.benchmarks', JSON_ARRAY('a: 1', 'a: 2', 'a: 3'))"
	)
	page = words(anyone, f"/comparison/{number_of_comparison()}")
	contains(page, "3 size: 1 seed: 1 1.000 µs")
	contains(page, "Benchmark 4: In 1 of 4 blocks")
	sql(
		"UPDATE task_versions v JOIN kept k ON k.id = v.id SET v.definition = k.definition; "
		"DROP TABLE kept"
	)


@test
def an_interval_without_bounds_is_not_printed():
	first, second = two_that_are_close(**FASTER)
	until(lambda: comparison() == "done")
	number = number_of_comparison()
	sql(f"UPDATE comparisons SET ratio_low = 0, ratio_high = 895627 WHERE id = {number}")
	contains(words(anyone, f"/comparison/{number}"), "0.988 (at least 4 blocks needed): a tie")
	for submission in (first, second):
		shown = words(anyone, f"/submission/{submission}")
		contains(shown, "(at least 4 blocks needed): a tie")
		lacks(shown, "895627")
		(one,) = fresh(anyone, f"/submission/{submission}/status").json["jobs"][0]["comparisons"]
		equal((one["ratio_low"], one["ratio_high"]), (None, None))


@test
def a_failed_comparisons_page_says_so_and_an_unknown_one_is_not_found():
	two_that_are_close(verdict="runtime error", reason="Line 3 is <b>wrong</b>.")
	until(lambda: comparison() == "done")
	path = f"/comparison/{number_of_comparison()}"
	contains(words(anyone, path), "The comparison has no result.")
	lacks(words(dora, path), "Line 3")
	contains(words(admin, path), "Line 3 is <b>wrong</b>.")
	equal(links(anyone, path).count("/user/dora"), 1)
	for path in (
		"/comparison/999999",
		"/comparison/0",
		"/comparison/x",
		"/comparison/1x",
		"/comparison/99999999999999999999",
	):
		answer = anyone.get(path)
		equal(answer.status, 404)
		contains(answer.words(), "There is no comparison with this number.")


@test
def the_side_that_fails_loses_and_pages_say_so():
	for loser, winner, places in (("submission", "ada", "ada dora"), ("rival", "dora", "dora ada")):
		first, second = two_that_are_close(
			verdict="runtime error", reason="Line 3 is <b>wrong</b>.", loser=loser
		)
		until(lambda: comparison() == "done")
		lost, won = (second, first) if winner == "ada" else (first, second)
		contains(words(anyone, f"/submission/{lost}"), "CPU: lost, because it failed in this run.")
		contains(
			words(anyone, f"/submission/{won}"),
			"CPU: won, because the other one failed in this run.",
		)
		equal(
			[
				fresh(anyone, f"/submission/{number}/status").json["jobs"][0]["comparisons"][0][
					"loser"
				]
				for number in (lost, won)
			],
			["this", "other"],
		)
		path = f"/comparison/{number_of_comparison()}"
		contains(words(anyone, path), f"{places.split()[1]} failed in this run and lost.")
		for client in (anyone, ada, dora):
			for source in (f"/submission/{lost}", f"/submission/{won}", path):
				lacks(words(client, source), "Line 3")
		contains(words(admin, path), "Line 3 is <b>wrong</b>.")
		contains(
			words(anyone, "/leaderboard/small"),
			f"submission {second} of dora, compared with submission {first} "
			f"of ada on one CPU: {'lost' if loser == 'submission' else 'won'}, "
			"because",
		)
		rows = fresh(anyone, "/leaderboard/small.json").json["rows"]
		equal([(row["rank"], row["user"]) for row in rows], list(enumerate(places.split(), 1)))


@test
def pages_poll_a_comparison_until_it_ends():
	first, second = two_that_are_close(hang=True)
	until(lambda: comparison("progress") == "timing 1/1")
	number = number_of_comparison()
	pages = (f"/submission/{first}", f"/submission/{second}", f"/comparison/{number}")
	for path in pages:
		contains(fresh(anyone, path).text, f'data-live="{path}/status"')
	equal(
		fresh(anyone, pages[2] + "/status").json,
		{"id": number, "state": "running", "stage": "timing 1/1"},
	)
	status = fresh(anyone, pages[1] + "/status").json
	equal((status["state"], status["settled"]), ("done", False))
	equal(
		status["jobs"][0]["comparisons"],
		[
			{
				"id": number,
				"with": first,
				"state": "running",
				"ratio": None,
				"ratio_low": None,
				"ratio_high": None,
				"loser": None,
			}
		],
	)
	first, second = two_that_are_close(**TIE)
	until(lambda: comparison() == "done")
	status = fresh(anyone, f"/submission/{second}/status").json
	equal((status["state"], status["settled"]), ("done", True))
	equal(
		status["jobs"][0]["comparisons"],
		[{"id": number_of_comparison(), "with": first, "state": "done", "loser": None, **TIE}],
	)
	for path in (
		f"/submission/{first}",
		f"/submission/{second}",
		f"/comparison/{number_of_comparison()}",
	):
		lacks(fresh(anyone, path).text, "data-live")


# ---- where comparisons do not appear ----


@test
def a_comparison_is_no_submission_and_no_job_of_the_challenger():
	first, second = two_that_are_close(hang=True)
	until(lambda: comparison() == "running")
	status = anyone.get(f"/submission/{second}/status").json
	equal((status["state"], len(status["jobs"])), ("done", 1))
	history = links(dora, "/leaderboard/small/mine")
	equal(
		sorted({link for link in history if re.fullmatch(r"/submission/\d+", link)}),
		[f"/submission/{second}"],
	)
	lacks(words(dora, "/leaderboard/small/mine"), "omparison")
	lacks(words(anyone, "/user/dora"), "omparison")
	lacks(links(dora, f"/submission/{second}"), f"/submission/{second}/cancel")
	contains(
		words(dora, f"/submission/{second}/cancel"),
		"This submission has finished already, so there is nothing to cancel.",
	)
	equal(dora.post(f"/submission/{second}/cancel", form=f"/submission/{second}").status, 303)
	equal(comparison(), "running")


@test
def a_comparison_counts_toward_no_quota():
	equal(comparison(), "running")
	site.hold_jobs()
	submit(dora, "test")  # the limit is one queued job for a user
	sql("DELETE FROM pauses")


@test
def panels_count_submissions_and_not_comparisons():
	count = sql("SELECT COUNT(*) FROM submissions")[0][0]
	contains(words(admin, "/admin/leaderboard/small/delete"), f"{count} submissions")
	equal(sql("SELECT COUNT(*) FROM comparisons"), [["1"]])


@test
def banning_one_of_the_two_cancels_a_queued_comparison():
	site.hold_jobs()
	sql(
		"UPDATE jobs SET state = 'queued', fence = fence + 1, lease_owner = NULL, lease_device = "
		"NULL WHERE comparison_id IS NOT NULL AND state = 'running'"
	)
	equal(comparison(), "queued")
	answer = admin.post("/admin/users/ada/ban", [("name", "ada")])
	equal(answer.status, 303)
	equal(
		comparison("CONCAT(state, ', ', reason)"),
		"cancelled, The account of one of the two authors was banned or deleted "
		"before the comparison.",
	)
	lacks(words(anyone, "/leaderboard/small"), "under way")
	contains(
		words(anyone, f"/comparison/{number_of_comparison()}"),
		"The account of one of the two authors was banned",
	)


@test
def deleting_the_leaderboard_deletes_its_comparisons():
	answer = admin.post(
		"/admin/leaderboard/small/delete",
		[("name", "small")],
		form="/admin/leaderboard/small/delete",
	)
	equal(answer.status, 303)
	equal(sql("SELECT (SELECT COUNT(*) FROM comparisons) + (SELECT COUNT(*) FROM jobs)"), [["0"]])


code = 1
try:
	code = run()
finally:
	site.remove()
	scratch.cleanup()
sys.exit(code)
