#!/usr/bin/env python3
"""The charts of a leaderboard through nginx: the trend with its table, each shape, all devices side
by side and the projector view, and who appears where."""

import calendar
import hashlib
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import EVAL, isolated  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance()
sql = site.sql
anyone = Client(site.url)
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [%s]
ranking_by: geom
gpus: [A100, H200, L4]
""" % ", ".join(f"{{size: {size}}}" for size in range(100, 130))

MARKED = (
	TASK.replace("config:", "templates: {Python: template.py}\nconfig:")
	+ "podium: {bytes: 20390 * size}\n"
)
LAST = MARKED.replace("ranking_by: geom", "ranking_by: last")
TEMPLATE = "x = 'to start from'\n"


def load(name, task=TASK):
	folder = site.var / "tasks" / name
	folder.mkdir(parents=True, exist_ok=True)
	(folder / "task.yml").write_text(isolated(task))
	(folder / "template.py").write_text(TEMPLATE)
	(folder / "eval.py").write_text(EVAL)
	site.manage("task", "load", "--unchecked", str(folder))
	sql(f"""INSERT IGNORE INTO leaderboard_gpus (leaderboard_id, gpu, position)
		SELECT l.id, g.gpu, g.position FROM leaderboards l
		JOIN (SELECT 'A100' AS gpu, 0 AS position UNION SELECT 'H200', 1 UNION SELECT 'L4', 2) g
			WHERE l.name = '{name}';
		DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id
			WHERE l.name = '{name}' AND g.gpu NOT IN ('A100', 'H200', 'L4')""")


def user(name):
	sql(f"INSERT IGNORE INTO users (name, password_hash) VALUES ('{name}', '!')")


hour = 0


def ranked(board, name, gpu, score_ns, cases=(), source=None):
	"""Stores a result, one hour after the previous one. podium-admin ranks it later."""
	global hour
	hour += 1
	source = source or f"x = {hour}\n"
	user(name)
	digest = hashlib.sha256(source.encode()).hexdigest()
	sql(
		f"""INSERT IGNORE INTO blobs
		VALUES (UNHEX('{digest}'), {len(source)}, UNHEX('{source.encode().hex()}'));
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode,
			submitted_at)
		SELECT l.id, l.task_version_id, u.id, 'x.py', UNHEX('{digest}'), 'ranked',
			'2026-03-01' + INTERVAL {hour} HOUR
		FROM leaderboards l JOIN users u WHERE l.name = '{board}' AND u.name = '{name}';
		SET @submission = LAST_INSERT_ID();
		INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, score_err_ns,
			engine) SELECT s.id, s.user_id, '{gpu}', 'done', 'passed', {score_ns},
			{score_ns} * 0.0052, 'isolated'
		FROM submissions s WHERE s.id = @submission;
		SET @job = LAST_INSERT_ID();
		INSERT INTO stages (job_id, position, name, verdict, message, command, stdout, stderr)
			VALUES (@job, 1, 'ranked', 'passed', '', '', '', '');
		SET @stage = LAST_INSERT_ID();
		"""
		+ "".join(
			"INSERT INTO measurements (stage_id, case_index, spec, verdict, message, "
			"mean_ns) VALUES "
			f"(@stage, {i}, '', 'passed', '', {ns});"
			for i, ns in enumerate(cases)
		)
	)
	return int(sql("SELECT MAX(id) FROM submissions")[0][0])


def page_of(path):
	"""Gets the page from podium-web, past nginx's cache of one second."""
	answer = anyone.fresh(path)
	equal(answer.status, 200)
	page = Page()
	page.feed(answer.text)
	equal(page.faults, [])
	return answer, page


def trend_of(path, expected):
	"""Waits until the trend shows the expected text. podium-web caches the trend for a few
	seconds."""
	page = lambda: page_of(path)[0]
	until(lambda: expected in page().words(), explain=lambda: (expected, page().words()))
	return page()


@test
def a_leaderboard_without_results_has_no_chart_and_says_why():
	load("small")
	answer, _ = page_of("/leaderboard/small?view=trend&gpu=A100")
	contains(
		answer.words(), "The trend begins with the first ranked submission that passes on A100."
	)
	lacks(answer.text, '<svg class="chart"')
	contains(
		page_of("/leaderboard/small?view=shapes&gpu=A100")[0].words(),
		"Nobody is ranked on A100 yet",
	)
	contains(
		page_of("/leaderboard/small?view=gpus")[0].words(), "Nobody is ranked on any device yet."
	)
	contains(page_of("/leaderboard/small?view=live")[0].words(), "No result yet.")


@test
def the_trend_has_a_line_for_each_user_and_the_record_and_a_table():
	first = ranked("small", "ada", "A100", 40000)
	ranked("small", "ada", "A100", 45000)
	second = ranked("small", "bob", "A100", 30000)
	ranked("small", "ada", "A100", 35000)
	last = ranked("small", "ada", "A100", 20000)
	site.manage("ranking", "rebuild", "small")
	answer = trend_of("/leaderboard/small?view=trend&gpu=A100", "Fastest of all")
	words = answer.words()
	contains(
		words,
		"Fastest of all 2026-03-01 01:00 UTC ada 40.00 µs 2026-03-01 03:00 UTC bob 30.00 µs "
		"2026-03-01 05:00 UTC ada 20.00 µs",
	)
	contains(
		words,
		"ada 2026-03-01 01:00 UTC 40.00 µs 2026-03-01 04:00 UTC 35.00 µs 2026-03-01 05:00 UTC "
		"20.00 µs",
	)
	contains(words, "bob 2026-03-01 03:00 UTC 30.00 µs")
	lacks(words, "45.00 µs")
	lacks(answer.text, "Speed of light")
	contains(
		answer.text,
		'aria-label="Best times on A100 since the first submission: the record went from 40.00 µs '
		"of ada to 20.00 µs of ada.",
	)
	equal(len(re.findall(r'<use href="#trend-1"', answer.text)), 3)
	equal(len(re.findall(r'<use href="#trend-2"', answer.text)), 1)
	equal(len(re.findall(r'<path class="record"', answer.text)), 1)
	for submission in (first, second, last):
		contains(answer.text, f'/submission/{submission}"')


@test
def the_trend_ends_now_or_at_the_deadline():
	"""The record of bob, from 03:00, is the only point of the second line."""

	def place_of_bob():
		text = page_of("/leaderboard/small?view=trend&gpu=A100")[0].text
		return float(re.search(r'<use href="#trend-2" x="([^"%]+)%"', text)[1])

	def expect(deadline, hours):
		sql(f"UPDATE leaderboards SET deadline = {deadline} WHERE name = 'small'")
		share = 100 * 2 / hours
		until(
			lambda: abs(place_of_bob() - share) < share / 500,
			explain=lambda: (share, place_of_bob()),
		)

	since = calendar.timegm((2026, 3, 1, 1, 0, 0))
	expect("'2026-03-01 11:00'", 10)
	expect("'2026-03-01 04:00'", 4)  # the last result came later, at 05:00
	expect("UTC_TIMESTAMP() + INTERVAL 900 DAY", (time.time() - since) / 3600)
	expect("NULL", (time.time() - since) / 3600)


@test
def a_device_has_a_trend_of_its_own():
	contains(
		page_of("/leaderboard/small?view=trend&gpu=H200")[0].words(),
		"The trend begins with the first ranked submission that passes on H200",
	)


@test
def only_the_first_ten_have_a_line_and_nobody_more_than_sixteen_points():
	load("crowd")
	for number in range(12):
		ranked("crowd", f"user-{number:02}", "A100", 20000 + number * 10)
	for number in range(40):
		ranked("crowd", "user-00", "A100", 19990 - 10 * number * number)
	site.manage("ranking", "rebuild", "crowd")
	answer = trend_of("/leaderboard/crowd?view=trend&gpu=A100", "Fastest of all")
	trend = answer.text[answer.text.index('id="trend">') :]
	contains(trend, "/user/user-09")
	lacks(trend, "/user/user-10")
	equal(len(re.findall(r'<use href="#trend-1"', trend)), 16)
	equal(len(re.findall(r'<use href="#trend-\d+"', trend)), 25)
	contains(trend, ">20.00 µs<")
	contains(trend, f">{(1999 - 39 * 39) / 100:.3f} µs<")


@test
def each_shape_shows_its_fastest_users():
	load("shapes")
	ranked("shapes", "ada", "A100", 1000, [1000 + i for i in range(30)])
	ranked("shapes", "bob", "A100", 2000, [600, 2000] + [4000] * 28)
	site.manage("ranking", "rebuild", "shapes")
	answer, page = page_of("/leaderboard/shapes?view=shapes&gpu=A100")
	words = answer.words()
	contains(
		words,
		"Shape 1 size: 100 User Time 2 bob 600.0 ns 1 ada 1.000 µs Shape 2 size: 101 "
		"User "
		"Time 1 ada 1.001 µs 2 bob 2.000 µs",
	)
	contains(answer.text, '<rect width="60%" height="100%"/>')
	lacks(words, "Shape 25")
	contains(words, "Page 1 of 2")
	contains(page.links, "/leaderboard/shapes?view=shapes&gpu=A100&page=2")
	words = page_of("/leaderboard/shapes?view=shapes&gpu=A100&page=2")[0].words()
	contains(words, "Shape 25 size: 124")
	contains(words, "Shape 30 size: 129")
	lacks(words, "Shape 24 ")
	equal(anyone.get("/leaderboard/shapes?view=shapes&gpu=A100&page=3").status, 404)


@test
def devices_are_shown_side_by_side():
	load("scaling")
	ranked("scaling", "ada", "A100", 4000)
	ranked("scaling", "ada", "H200", 1000)
	ranked("scaling", "bob", "H200", 900)
	site.manage("ranking", "rebuild", "scaling")
	answer, _ = page_of("/leaderboard/scaling?view=gpus")
	words = answer.words()
	contains(
		words,
		"User A100 H200 ada 4.000 µs rank 1 1.000 µs rank 2, 4.00× faster bob 900.0 ns rank 1",
	)
	contains(answer.text, 'aria-label="Best times of 2 users on 2 devices.')
	equal(len(re.findall(r'<use href="#devices-1"', answer.text)), 2)
	equal(len(re.findall(r'<use href="#devices-2"', answer.text)), 1)


@test
def any_set_of_devices_can_be_shown_side_by_side():
	view = "/leaderboard/scaling?view=gpus"
	answer, _ = page_of(f"{view}&gpu=L4&gpu=H200&gpu=L4")
	contains(answer.words(), "User H200 L4 bob 900.0 ns rank 1 ada 1.000 µs rank 2")
	contains(answer.text, 'aria-label="Best times of 2 users on 2 devices.')
	checked = lambda text: re.findall(r'name="gpu" value="(\w+)" checked', text)
	equal(checked(answer.text), ["H200", "L4"])
	for every in (view, view + "&gpu="):
		equal(checked(page_of(every)[0].text), ["A100", "H200"])
	contains(page_of(f"{view}&gpu=L4")[0].words(), "Nobody is ranked on these devices yet.")
	answer = anyone.get(f"{view}&gpu=H200&gpu=none")
	equal(answer.status, 404)
	contains(answer.words(), "A100, H200, L4")


@test
def the_projector_shows_one_or_all_devices_and_polls_for_changes():
	answer, page = page_of("/leaderboard/scaling?view=live")
	contains(
		answer.words(),
		"A100 Rank User Time Gap To the rank above 1 ada 4.000 µs fastest H200 Rank "
		"User "
		"Time Gap To the rank above 1 bob 900.0 ns fastest 2 ada 1.000 µs +11 % "
		"+11 %",
	)
	contains(answer.text, 'data-live="/leaderboard/scaling/live"')
	contains(answer.text, '<noscript><meta http-equiv="refresh" content="10"></noscript>')
	lacks(answer.text, "<nav")
	equal(set(page.links), {"/leaderboard/scaling"})
	answer, _ = page_of("/leaderboard/scaling?view=live&gpu=H200")
	lacks(answer.words(), "A100")
	contains(answer.text, 'data-live="/leaderboard/scaling/live?gpu=H200"')
	state = anyone.get("/leaderboard/scaling/live?gpu=H200").json
	equal(
		(state["state"], state["settled"], state["rows"]),
		(
			"active",
			False,
			[
				{
					"gpu": "H200",
					"rank": 1,
					"tie": False,
					"user": "bob",
					"score_ns": 900.0,
					"floor_ns": None,
				},
				{
					"gpu": "H200",
					"rank": 2,
					"tie": False,
					"user": "ada",
					"score_ns": 1000.0,
					"floor_ns": None,
				},
			],
		),
	)
	equal(
		[row["gpu"] for row in anyone.get("/leaderboard/scaling/live").json["rows"]],
		["A100", "H200", "H200"],
	)


@test
def the_projector_shows_the_newest_record_the_time_left_and_a_freeze():
	load("contest")
	ranked("contest", "ada", "A100", 4000)
	ranked("contest", "bob", "H200", 2000)
	ranked("contest", "bob", "A100", 3000)
	site.manage("ranking", "rebuild", "contest")
	contains(
		page_of("/leaderboard/contest?view=live")[0].words(),
		"Newest record: bob , 3.000 µs on A100, 25 % faster than the one before,",
	)
	lacks(
		page_of("/leaderboard/contest?view=live&gpu=H200")[0].words(), "faster than the one before"
	)
	lacks(page_of("/leaderboard/contest?view=live")[0].words(), "frozen")
	before = anyone.get("/leaderboard/contest/live?gpu=A100").json
	sql("""UPDATE leaderboards SET deadline = UTC_TIMESTAMP() + INTERVAL 2 HOUR + INTERVAL 30
		SECOND, frozen_at = UTC_TIMESTAMP() - INTERVAL 1 HOUR
		WHERE name = 'contest'""")
	words = page_of("/leaderboard/contest?view=live")[0].words()
	contains(words, "frozen ends in 2 hours")
	contains(words, "The ranking was frozen at ")
	after = anyone.get(f"/leaderboard/contest/live?gpu=A100&fresh={time.time_ns()}").json
	equal((before["frozen"], after["frozen"]), (False, True))


@test
def an_earlier_version_has_all_views_with_its_devices():
	load("renewed")
	ranked("renewed", "ada", "H200", 4000, [1000] * 3)
	ranked("renewed", "ada", "L4", 9000, [2000] * 3)
	site.manage("ranking", "rebuild", "renewed")
	load("renewed", TASK.replace("tests: [{size: 1}]", "tests: [{size: 2}]"))
	sql(
		"DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id WHERE "
		"l.name = 'renewed' AND g.gpu <> 'A100'"
	)
	ranked("renewed", "bob", "A100", 5000, [3000] * 3)
	site.manage("ranking", "rebuild", "renewed")
	now, then = "/leaderboard/renewed?view=", "/leaderboard/renewed?version=1&view="
	contains(page_of(now + "gpus")[0].words(), "User A100 bob 5.000 µs")
	contains(
		page_of(then + "gpus")[0].words(),
		"User H200 L4 ada 4.000 µs rank 1, 2.25× faster 9.000 µs rank 1",
	)
	answer, page = page_of(then + "live")
	contains(answer.words(), "version 1 of the task, which was replaced")
	contains(
		answer.words(),
		"H200 Rank User Time Gap To the rank above 1 ada 4.000 µs fastest L4 Rank User "
		"Time Gap To the rank above 1 ada 9.000 µs",
	)
	lacks(answer.words(), "A100")
	contains(answer.text, 'data-live="/leaderboard/renewed/live?version=1"')
	equal(page.links, ["/leaderboard/renewed?version=1"])
	equal(
		[row["gpu"] for row in anyone.get("/leaderboard/renewed/live?version=1").json["rows"]],
		["H200", "L4"],
	)
	equal([row["gpu"] for row in anyone.get("/leaderboard/renewed/live").json["rows"]], ["A100"])
	contains(
		page_of(then + "live&gpu=L4")[0].text,
		'data-live="/leaderboard/renewed/live?gpu=L4&amp;version=1"',
	)
	contains(
		page_of(then + "shapes&gpu=L4")[0].words(), "Shape 1 size: 100 User Time 1 ada 2.000 µs"
	)
	equal(anyone.get(then + "shapes&gpu=A100").status, 404)
	# its trend ends at its last result, because it gets no more
	contains(
		page_of("/leaderboard/renewed?view=trend&version=1&gpu=H200")[0].text,
		'<use href="#trend-1" x="100%"',
	)
	contains(page_of(then + "shapes")[1].links, "/leaderboard/renewed?view=live&gpu=H200&version=1")


@test
def charts_show_the_speed_of_light_and_baselines():
	load("marked", MARKED)
	template = ranked("marked", "ada", "A100", 4000, [4000] * 30, source=TEMPLATE)
	ranked("marked", "ada", "A100", 2500, [2500, 900] + [2500] * 28)
	ranked("marked", "bob", "A100", 3000, [3000, 50000] + [3000] * 28)
	site.manage("ranking", "rebuild", "marked")
	answer = trend_of("/leaderboard/marked?view=trend&gpu=A100", "Fastest of all")
	words = answer.words()
	# the geometric mean of 100 to 129, times 20390 bytes at 2039 GB/s
	contains(words, "↓ Speed of light 1.142 µs Python template 4.000 µs The trend as a table")
	contains(words, "Speed of light memory, 2.04 TB/s at any time 1.142 µs Python template 2026-")
	equal(
		(
			answer.text.count('<line class="mark-bound"'),
			answer.text.count('<line class="mark-time"'),
		),
		(0, 1),  # the speed of light is too far below
	)
	contains(answer.text, ">↓ Speed of light, 1.142 µs</text>")
	contains(answer.text, ">template</text>")
	contains(answer.text, f'<a href="/submission/{template}">2026-')
	answer, _ = page_of("/leaderboard/marked?view=shapes&gpu=A100")
	words = answer.words()
	contains(
		words,
		"Shape 1 size: 100 User Time Speed of light 1.000 µs 1 ada 2.500 µs 2 bob 3.000 "
		"µs "
		"Python template 4.000 µs",
	)
	contains(
		words,
		"Shape 2 size: 101 User Time Speed of light 1.010 µs 1 ada 900.0 ns Python template "
		"4.000 µs 2 bob 50.00 µs",
	)


@test
def where_only_the_last_shape_ranks_the_pages_name_that_shape_and_call_no_other_timed():
	load("last", LAST)
	number = ranked("last", "ada", "A100", 2500, [2500])
	sql(
		"UPDATE measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id "
		f"SET m.runs = 9, m.message = 'It moved.' WHERE j.submission_id = {number}"
	)
	site.manage("ranking", "rebuild", "last")
	words = page_of("/leaderboard/last?view=shapes&gpu=A100")[0].words()
	contains(words, "Shape 30 size: 129 User Time Speed of light 1.290 µs 1 ada 2.500 µs")
	lacks(words, "Shape 1 ")
	lacks(words, "Page 1 of")
	contains(page_of("/leaderboard/last/task")[0].words(), "a ranked run the last one only.")
	contains(page_of("/leaderboard/shapes/task")[0].words(), "# size 1 100 2 101")
	words = page_of(f"/submission/{number}")[0].words()
	contains(words, "Bandwidth 30 2.500 µs ± unknown")
	contains(words, "Shape 30: It moved.")
	(stage,) = anyone.get(f"/api/v1/submissions/{number}").json["jobs"][0]["stages"]
	equal([one["index"] for one in stage["cases"]], [29])
	contains(page_of("/leaderboard/shapes/task")[0].words(), "These shapes are timed.")


@test
def the_viewers_line_and_rows_are_marked_even_below_the_first_ten():
	me = Client(site.url)
	equal(
		me.post(
			"/register", [("name", "me"), ("password", "a long password")], form="/register"
		).status,
		303,
	)
	load("own")
	for number in range(11):
		ranked("own", f"user-{number:02}", "A100", 1000 + number * 100, [1000 + number * 100])
	ranked("own", "me", "A100", 3000, [3000])
	ranked("own", "me", "H200", 1500, [1500])
	site.manage("ranking", "rebuild", "own")
	trend_of("/leaderboard/own?view=trend&gpu=A100", "Fastest of all")

	def shown(client, path):
		return client.get(f"{path}&fresh={time.time_ns()}")

	mine, others = (
		shown(me, "/leaderboard/own?view=trend&gpu=A100"),
		shown(anyone, "/leaderboard/own?view=trend&gpu=A100"),
	)
	contains(mine.words(), "me (you) 3.000 µs Fastest of all")
	contains(mine.text, ">you</text>")
	contains(mine.text, '<tbody class="own">')
	for part in (">you</text>", "(you)"):
		lacks(others.text, part)
	contains(
		shown(me, "/leaderboard/own?view=shapes&gpu=A100").words(),
		"10 user-09 1.900 µs 12 me (you) 3.000 µs",
	)
	lacks(shown(anyone, "/leaderboard/own?view=shapes&gpu=A100").words(), "(you)")
	contains(
		shown(me, "/leaderboard/own?view=gpus").words(),
		"me (you) 3.000 µs rank 12 1.500 µs rank 1, 2.00× faster",
	)
	# A viewer who is in no device's first ten sees their own row below the others. Nobody else sees
	# this row.
	late = Client(site.url)
	equal(
		late.post(
			"/register", [("name", "late"), ("password", "a long password")], form="/register"
		).status,
		303,
	)
	lacks(shown(late, "/leaderboard/own?view=gpus").words(), "late (you)")
	ranked("own", "late", "A100", 5000, [5000])
	site.manage("ranking", "rebuild", "own")
	mine = shown(late, "/leaderboard/own?view=gpus")
	contains(mine.words(), "late (you) 5.000 µs rank 13")
	contains(mine.words(), "Best times of the top users and you")
	equal(len(re.findall(r"<tr[ >]", mine.text)), 12)
	for client in (anyone, me):
		lacks(shown(client, "/leaderboard/own?view=gpus").words(), "late")


@test
def ties_are_ties_in_every_view():
	load("level")
	for name, score in (("ada", 1000), ("bob", 1000), ("cyd", 2000), ("dora", 2000)):
		ranked("level", name, "H200", score, [score])
	site.manage("ranking", "rebuild", "level")
	contains(
		page_of("/leaderboard/level?view=live")[0].words(),
		"=1 ada 1.000 µs fastest =1 bob 1.000 µs fastest =3 cyd 2.000 µs +100 % +100 % =3 dora",
	)
	contains(page_of("/leaderboard/level?view=gpus")[0].words(), "1.000 µs rank =1")
	contains(
		page_of("/leaderboard/level?view=shapes&gpu=H200")[0].words(),
		"=1 ada 1.000 µs =1 bob 1.000 µs =3 cyd 2.000 µs",
	)
	contains(
		page_of("/leaderboard/level?gpu=H200")[0].words(), "=1 ada 1.000 µs =1 bob 1.000 µs =3 cyd"
	)
	contains(page_of("/user/dora")[0].words(), "H200 2.000 ± 0.020 µs =3 of 4")
	contains(page_of("/user/bob")[0].words(), "level H200 1.000 ± 0.010 µs =1 of 4")
	ranked("level", "dora", "H200", 1900, [1900])
	site.manage("ranking", "rebuild", "level")
	for path, words in (
		("/user/cyd", "level H200 2.000 ± 0.020 µs 4 of 4"),
		("/leaderboard/level?view=live", "3 dora 1.900 µs +90 % +90 % 4 cyd"),
	):
		contains(page_of(path)[0].words(), words)


@test
def an_unknown_view_is_not_found():
	for path in (
		"/leaderboard/none?view=live",
		"/leaderboard/none/live",
		"/leaderboard/small?view=nothing",
		"/leaderboard/small?view=%3Cscript%3E",
		"/leaderboard/small?view=shapes&gpu=none",
		"/leaderboard/small?view=live&gpu=%27",
		"/leaderboard/small/live?gpu=none",
		"/leaderboard/small?view=gpus&version=7",
	):
		answer = anyone.get(path)
		equal((path, answer.status), (path, 404))
		lacks(answer.text, "<script>")
	contains(
		anyone.get("/leaderboard/small?view=nothing").words(), "It has: trend, submissions, shapes"
	)


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
