#!/usr/bin/env python3
"""What pages show of the isolated engine's results, and how admins review held results. A stand-in
for podium-run reports what each submission tells it to."""

import base64
import csv
import io
import math
import pathlib
import re
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import (  # noqa: E402
	TASK,
	isolated,
	make_board,
	register,
	source_of,
	status_of,
	submit_source,
)
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, admin, creator = (Client(site.url) for _ in range(5))
PASSWORD = "a long password"
TWO_SIZES = (
	TASK.replace("{size: 1024}", "{size: 1024}, {size: 4096}")
	+ "podium: {bytes: 6 * size * size}\n"
)
SAMPLES = [31900 + 10 * math.sin(i) for i in range(100)] + [90000]
HONEST = {
	"runs": 101,
	"mean_ns": 31900.0,
	"std_ns": 5.0,
	"err_ns": 20.0,
	"best_ns": 31880.0,
	"worst_ns": 31920.0,
}
JUDGED = {
	**HONEST,
	"median_ns": 31901.0,
	"low_ns": 31820.0,
	"high_ns": 32010.0,
	"constant_ns": 12480.0,
	"own_ns": 37660.0,
	"gap_ns": 130.0,
	"blocks": 4,
	"repeated": 1,
	"samples": base64.b64encode(struct.pack("<101f", *SAMPLES)).decode(),
	"device": {
		"sm_clock_mhz": [1755, 1980],
		"temperature_c": [31, 34],
		"power_w": [120, 410],
		"slowed_by": ["power cap"],
	},
}
FAST = {**JUDGED, "mean_ns": 4100.0, "err_ns": 50 / 1.96, "low_ns": 4050.0, "high_ns": 4150.0}


def prepare():
	register(site, {"ada": ada, "bob": bob, "root-of-all": admin, "carl": creator})
	make_board(admin, "small", isolated(TWO_SIZES))


def submit(client, *cases, **verdict):
	return submit_source(client, source_of(*cases, verdict=verdict))


def page(client, number):
	return client.get(f"/submission/{number}?{time.time()}")


def decide(client, number, action, reason="", gpu="H200", **how):
	return client.post(
		"/admin/review",
		[
			("action", action),
			("submission", number),
			("gpu", gpu),
			("reason", reason),
			("confirm", number),
		],
		form="/account",
		**how,
	)


def ranking():
	return [
		(row["user"], row["rank"], row["engine"])
		for row in anyone.get(f"/leaderboard/small.json?gpu=H200&x={time.time()}").json["rows"]
	]


# ---- results of the isolated engine ----


@test
def a_judged_result_shows_how_it_was_measured():
	prepare()
	number = submit(
		ada,
		{**JUDGED, "message": "In 2 of 4 blocks the <constant> moved."},
		{**JUDGED, "own_ns": None, "gap_ns": None},
	)
	shown = page(anyone, number)
	words = shown.words()
	for part in (
		"95 % interval",
		"Best block",
		"31.900 ± 0.039 µs",
		"31.861 to 31.939 µs",
		"Shape 1: In 2 of 4 blocks the <constant> moved.",
		"How it was measured",
		"12.48 µs",
		"Own clock, never ranked",
		"37.66 µs",
		"130.0 ns",
		"none",
		"1755–1980 MHz",
		"31–34 °C",
		"120–410 W",
		"power cap",
		"Each dot is a call",
		"1 call above, up to 90.00 µs",
	):
		contains(words, part)
	equal(
		shown.text.count('<svg class="samples" role="img" aria-label="101 calls: median 31.90 µs,'),
		2,
	)
	contains(shown.text, '<a class="chip engine" data-engine="isolated" href="/judge#isolated"')
	whole(shown)
	lacks(shown.text, "style=")


@test
def engines_ties_and_held_results_link_to_their_explanation():
	explained = whole(anyone.get("/judge")).text
	for fragment in ("sealed", "isolated", "custom", "ties", "held"):
		contains(explained, f'id="{fragment}"')


@test
def a_result_of_the_custom_engine_shows_none_of_it():
	number = submit(
		bob,
		HONEST,
		{**HONEST, "message": "The runs <differ>."},
		engine="custom",
		engine_reason="Its <input> is a class of its own.",
	)
	words = page(anyone, number).words()
	for part in ("Best block", "Constant, subtracted", "Each dot is a call", "held for review"):
		lacks(words, part)
	contains(words, "Shape 2: The runs <differ>.")
	contains(
		words,
		"With the engine “custom”, the task’s own harness runs beside the submission and takes the "
		"time. Its <input> is a class of its own.",
	)
	contains(
		words,
		"This result is not ranked: the engine custom measured it, and version 1 of the "
		"task is ranked with the engine isolated on H200.",
	)
	contains(page(anyone, number).text, 'data-engine="custom"')
	sql(f"UPDATE jobs SET engine = NULL, engine_reason = NULL WHERE submission_id = {number}")
	lacks(page(anyone, number).words(), "not ranked")
	lacks(page(anyone, number).text, "data-engine")
	shown = anyone.get("/leaderboard/small?columns=all").text
	equal(shown.count("data-engine"), 1)  # the row's
	sql(f"UPDATE jobs SET engine = 'custom' WHERE submission_id = {number}")


@test
def the_ranking_names_the_engine_of_each_row():
	equal(ranking(), [("ada", 1, "isolated")])
	text = anyone.get(f"/leaderboard/small?columns=all&x={time.time()}").text
	equal(re.findall(r'data-engine="(\w+)"', text), ["isolated"])
	rows = list(csv.DictReader(io.StringIO(anyone.get("/leaderboard/small.csv").text)))
	equal([row["engine"] for row in rows], ["isolated"])
	equal(list(rows[0])[:6], ["rank", "user", "score_ns", "submission", "submitted_at", "engine"])


# ---- held results ----


@test
def only_the_author_and_admins_see_a_held_result():
	global held
	before = ranking()
	held = submit(bob, JUDGED, FAST)
	sentence = (
		"Shape (size: 4096): 4.100 µs for 101 MB would be 24.6 TB/s; the memory of H200 moves "
		"4.8 TB/s"
	)
	for client in (bob, admin):
		words = page(client, held).words()
		contains(
			words,
			"Passed on H200. The result is held for review: an admin checks it before it is "
			"ranked.",
		)
		contains(words, sentence)
		contains(words, "4.100 ± 0.020 µs")
		job = status_of(client, held)["jobs"][0]
		equal((job["held"], job["score_ns"]), (True, 4100.0))
	contains(page(admin, held).text, 'href="/admin/review"')
	lacks(page(bob, held).text, 'href="/admin/review"')
	for client in (anyone, ada, creator):
		shown = page(client, held)
		contains(shown.words(), "Passed on H200; it is not ranked yet.")
		for part in ("held for review", "4.1", "TB/s", "4.05"):
			lacks(shown.words(), part)
		lacks(shown.text, "<svg")
		job = status_of(client, held)["jobs"][0]
		equal((job["verdict"], job["held"], job["score_ns"]), ("passed", False, None))
	contains(bob.get("/leaderboard/small/mine").words(), "4.100 ± 0.020 µs passed held for review")
	equal(ranking(), before)


@test
def only_admins_see_the_number_of_held_results_and_decide():
	contains(admin.get("/").words(), "Held 1 result")
	contains(admin.get("/admin").words(), "held 1 held result")
	whole(admin.get("/admin/review"))
	contains(admin.get("/admin/review").text, f'href="/submission/{held}/source"')
	listed = admin.get("/admin/review").words()
	for part in (f"Submission {held} on H200", "bob", "24.6 TB/s"):
		contains(listed, part)
	for client in (anyone, bob, creator):
		lacks(client.get(f"/?x={time.time()}").text, "/admin/review")
	contains(anyone.get("/admin/review").location, "/login")
	for client in (bob, creator):
		equal(client.get("/admin/review").status, 403)
		for action in ("release", "reject"):
			equal(decide(client, held, action, "because").status, 403)
	equal(decide(admin, held, "release", csrf="0" * 64).status, 403)
	equal(
		decide(admin, held, "release", headers={"Origin": "http://elsewhere.example"}).status, 403
	)
	equal(decide(admin, held, "praise").status, 400)
	equal(sql("SELECT COUNT(*) FROM audit_log WHERE action LIKE 'review.%'"), [["0"]])


@test
def a_rejection_needs_a_reason_and_the_form_keeps_its_input():
	for reason in ("", "   ", "x" * 501, "two\nlines"):
		answer = decide(admin, held, "reject", reason)
		equal(answer.status, 422)
		contains(answer.text, 'aria-invalid="true"')
	contains(answer.text, 'value="two\nlines"')
	equal(status_of(admin, held)["jobs"][0]["held"], True)


@test
def a_result_that_is_not_held_cannot_be_released_or_rejected():
	other = int(sql("SELECT MIN(id) FROM submissions")[0][0])
	for number, gpu, expected in (
		(other, "H200", 409),
		(held, "A100", 404),
		(999999, "H200", 404),
		(held, "über", 404),
		("x", "H200", 404),
		("9" * 40, "H200", 404),
		(held, "", 404),
	):
		for action in ("release", "reject"):
			equal(
				(number, gpu, decide(admin, number, action, "because", gpu).status),
				(number, gpu, expected),
			)


@test
def a_released_result_is_ranked_immediately():
	answer = decide(admin, held, "release")
	equal((answer.status, answer.location.removeprefix(site.url)), (303, "/admin/review"))
	contains(
		admin.get("/admin/review").words(), f"Submission {held} was released on H200 and is ranked."
	)
	contains(admin.get("/admin/review").words(), "No result is held.")
	lacks(admin.get("/").words(), "held result")
	equal(ranking(), [("bob", 1, "isolated"), ("ada", 2, "isolated")])
	contains(page(anyone, held).words(), "Rank 1 of 2 on H200")
	contains(page(anyone, held).words(), "4.100 ± 0.020 µs")
	equal(decide(admin, held, "release").status, 409)
	equal(
		sql("SELECT actor, action, subject FROM audit_log WHERE action LIKE 'review.%'"),
		[["root-of-all", "review.release", f"submission {held} on H200"]],
	)


@test
def a_rejected_result_has_the_admins_reason_and_its_times_stay_hidden():
	number = submit(ada, JUDGED, {**FAST, "mean_ns": 3000.0})
	equal(decide(admin, number, "reject", "It reads the <answer> of the call before.").status, 303)
	words = page(ada, number).words()
	contains(words, "Rejected by the admin root-of-all: It reads the <answer> of the call before.")
	contains(words, "An admin reviewed the result and rejected it, so it is not ranked.")
	lacks(words, "that an honest run never sends")
	contains(words, "protocol violation")
	contains(words, "3.000 ± 0.050 µs")
	shown = page(anyone, number).words()
	contains(shown, "Rejected by the admin root-of-all: It reads the <answer> of the call before.")
	lacks(shown, "3.000")
	job = status_of(anyone, number)["jobs"][0]
	equal((job["verdict"], job["score_ns"], job["held"]), ("protocol violation", None, False))
	equal(ranking(), [("bob", 1, "isolated"), ("ada", 2, "isolated")])
	lacks(ada.get("/leaderboard/small/mine").words(), "held for review")
	equal(decide(admin, number, "release").status, 409)
	before = sql("SELECT * FROM ranking")
	sql("DELETE FROM ranking")
	site.manage("ranking", "rebuild")
	equal(sql("SELECT * FROM ranking"), before)


@test
def times_too_short_to_measure_are_held_and_then_tie_at_the_floor():
	make_board(admin, "short", isolated(TWO_SIZES))
	short = {**JUDGED, "err_ns": 30.0, "best_ns": 1.0, "worst_ns": 9.0, "floor_ns": 500.0}
	floored = {"score_ns": 500.0, "score_err_ns": 25.0}
	for client, mean_ns in ((ada, 3.0), (bob, 7.0)):
		case = {**short, "mean_ns": mean_ns}
		number = submit_source(client, source_of(case, case, verdict=floored), board="short")
		words = page(client, number).words()
		contains(words, "held for review: an admin checks it")
		contains(words, f"{mean_ns:.3f} ns for 6.3 MB would be")
		equal(words.count("< 0.5 µs"), 3)  # the score and two shapes
		equal(words.count("too short to measure"), 2)  # instead of an interval
		lacks(page(client, number).text, 'class="interval"')
		lacks(page(anyone, number).words(), "< 0.5 µs")
		if client is ada:  # nginx keeps the answer about bob's for a second
			held = anyone.get(f"/api/v1/submissions/{number}").json["jobs"][0]
			equal((held["score_ns"], held["floor_ns"]), (None, None))
		equal(decide(admin, number, "release").status, 303)
	slow = submit_source(creator, source_of(HONEST, HONEST), board="short")
	address = "/leaderboard/short{}gpu=H200"
	ranking = anyone.get(address.format("?")).text
	equal(ranking.count("&lt; 0.5 µs"), 4)  # the podium and the table
	trend = anyone.get(address.format("?view=trend&")).text
	contains(trend, ">&lt; 0.5 µs<")
	lacks(trend, "500.0 ns")
	api = anyone.get(address.format("/rankings?").replace("/leaderboard/", "/api/v1/leaderboards/"))
	for rows in (anyone.get(address.format(".json?")).json["rows"], api.json["items"]):
		equal(
			[(row["user"], row["rank"], row["score_ns"], row["floor_ns"]) for row in rows],
			[("ada", 1, 500, 500), ("bob", 1, 500, 500), ("carl", 3, 31900, None)],
		)
	shapes = anyone.get(address.format("?view=shapes&")).words()
	contains(shapes, "=1 ada < 0.5 µs =1 bob < 0.5 µs 3 carl 31.900 µs")
	rows = csv.DictReader(io.StringIO(anyone.get(address.format(".csv?")).text))
	equal([row["floor_ns"] for row in rows], ["500", "500", ""])
	for shown, floor_ns, mean_ns in ((number, 500, 7), (slow, None, 31900)):
		job = anyone.get(f"/api/v1/submissions/{shown}").json["jobs"][0]
		cases = [stage for stage in job["stages"] if stage["name"] == "ranked"][0]["cases"]
		equal(job["floor_ns"], floor_ns)
		equal([(one["mean_ns"], one["floor_ns"]) for one in cases], [(mean_ns, floor_ns)] * 2)
		intervals = {one[key] is None for one in cases for key in ("lower_ns", "upper_ns")}
		equal(intervals, {floor_ns is not None})


@test
def at_most_a_bounded_number_of_cases_gets_a_picture():
	number = submit(ada, JUDGED, JUDGED)
	sql(
		"INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, "
		"blocks, samples) SELECT m.stage_id, seq, 'size: 1', 'passed', "
		"'', 1, 1000, 1, m.samples FROM measurements m JOIN stages t ON t.id = m.stage_id JOIN "
		"jobs j ON j.id = t.job_id JOIN seq_2_to_40 "
		f"WHERE j.submission_id = {number} AND t.name = 'ranked' AND m.case_index = 0"
	)
	shown = page(anyone, number)
	equal(shown.text.count("<svg"), 24)
	contains(shown.words(), "Only the first cases have a picture.")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
