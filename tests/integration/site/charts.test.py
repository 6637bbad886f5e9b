#!/usr/bin/env python3
"""The charts of a leaderboard through nginx: the trend with its table, each shape by itself, all devices side by side, the view
for a projector; and who is shown where."""
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

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
gpus: [A100, H200, L4]
""" % ", ".join(f"{{size: {size}}}" for size in range(100, 130))


def command(*arguments):
	user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
	environment = {**site.environment, "PODIUM_DATABASE_SOCKET": str(site.var / "run" / "mariadb.sock"), "PODIUM_DATABASE_USER": user}
	answer = subprocess.run([site.admin_program, *arguments], capture_output=True, text=True, env=environment)
	equal((answer.returncode, answer.stderr), (0, ""))


def load(name):
	folder = site.var / "tasks" / name
	folder.mkdir(parents=True)
	(folder / "task.yml").write_text(TASK)
	(folder / "eval.py").write_text("print()\n")
	command("task", "load", str(folder))
	sql(f"""INSERT IGNORE INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT l.id, g.gpu, g.position FROM leaderboards l
		JOIN (SELECT 'A100' AS gpu, 0 AS position UNION SELECT 'H200', 1 UNION SELECT 'L4', 2) g WHERE l.name = '{name}';
		DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id WHERE l.name = '{name}' AND g.gpu NOT IN ('A100', 'H200', 'L4')""")


def user(name):
	sql(f"INSERT IGNORE INTO users (name, password_hash) VALUES ('{name}', '!')")


hour = 0


def ranked(board, name, gpu, score_ns, cases=()):
	"""A result that is there, an hour after the one before it; podium-admin ranks it later."""
	global hour
	hour += 1
	user(name)
	sql(f"""INSERT IGNORE INTO blobs VALUES (UNHEX(SHA2('x', 256)), 1, 'x');
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, submitted_at)
		SELECT l.id, l.task_version_id, u.id, 'x.py', UNHEX(SHA2('x', 256)), 'ranked', '2026-03-01' + INTERVAL {hour} HOUR
		FROM leaderboards l JOIN users u WHERE l.name = '{board}' AND u.name = '{name}';
		SET @submission = LAST_INSERT_ID();
		INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, score_err_ns, engine) SELECT s.id, s.user_id, '{gpu}', 'done', 'passed', {score_ns}, 0.001, 'isolated'
		FROM submissions s WHERE s.id = @submission;
		SET @job = LAST_INSERT_ID();
		INSERT INTO stages (job_id, position, name, verdict, message, command, stdout, stderr) VALUES (@job, 1, 'ranked', 'passed', '', '', '', '');
		SET @stage = LAST_INSERT_ID();
		""" + "".join(f"INSERT INTO measurements (stage_id, case_index, spec, verdict, message, mean_ns) VALUES (@stage, {i}, '', 'passed', '', {ns});"
		for i, ns in enumerate(cases)))
	return int(sql("SELECT MAX(id) FROM submissions")[0][0])


def page_of(path):
	"""Not what nginx keeps for a second."""
	answer = anyone.get(f"{path}{'&' if '?' in path else '?'}fresh={time.time_ns()}")
	equal(answer.status, 200)
	page = Page()
	page.feed(answer.text)
	equal(page.faults, [])
	return answer, page


def trend_of(path, expected):
	"""The trend is a few seconds old at most."""
	end = time.time() + 60
	while True:
		answer, _ = page_of(path)
		if expected in answer.words():
			return answer
		if time.time() > end:
			raise AssertionError(f"{expected!r} did not appear in {answer.words()}")
		time.sleep(0.2)


@test
def a_leaderboard_without_results_has_no_chart_and_says_why():
	load("small")
	answer, _ = page_of("/leaderboard/small?gpu=A100")
	contains(answer.words(), "There is no trend before the first submission in mode ranked has passed on A100.")
	lacks(answer.text, "<svg class=\"chart\"")
	contains(page_of("/leaderboard/small?view=shapes&gpu=A100")[0].words(), "Nobody is ranked on A100 yet")
	contains(page_of("/leaderboard/small?view=gpus")[0].words(), "Nobody is ranked on any device yet.")
	contains(page_of("/leaderboard/small?view=live")[0].words(), "Nobody is ranked yet.")


@test
def the_trend_has_a_line_for_each_user_and_the_record_and_a_table():
	first = ranked("small", "ada", "A100", 40000)
	ranked("small", "ada", "A100", 45000)
	second = ranked("small", "bob", "A100", 30000)
	ranked("small", "ada", "A100", 35000)
	last = ranked("small", "ada", "A100", 20000)
	command("ranking", "rebuild", "small")
	answer = trend_of("/leaderboard/small?gpu=A100", "Fastest of all")
	words = answer.words()
	contains(words, "Fastest of all 2026-03-01 01:00 UTC ada 40.00 µs 2026-03-01 03:00 UTC bob 30.00 µs 2026-03-01 05:00 UTC ada 20.00 µs")
	contains(words, "ada 2026-03-01 01:00 UTC 40.00 µs 2026-03-01 04:00 UTC 35.00 µs 2026-03-01 05:00 UTC 20.00 µs")
	contains(words, "bob 2026-03-01 03:00 UTC 30.00 µs")
	lacks(words, "45.00 µs")
	contains(answer.text, 'aria-label="Best times on A100 since the first submission: the record went from 40.00 µs of ada to 20.00 µs of ada.')
	equal(len(re.findall(r'<use href="#trend-1"', answer.text)), 3)
	equal(len(re.findall(r'<use href="#trend-2"', answer.text)), 1)
	equal(len(re.findall(r'<path class="record"', answer.text)), 1)
	for submission in (first, second, last):
		contains(answer.text, f'/submission/{submission}"')


@test
def a_device_has_a_trend_of_its_own():
	contains(page_of("/leaderboard/small?gpu=H200")[0].words(), "no trend before the first submission in mode ranked has passed on H200")


@test
def only_the_first_ten_have_a_line_and_nobody_more_than_sixteen_points():
	load("crowd")
	for number in range(12):
		ranked("crowd", f"user-{number:02}", "A100", 2000 + number * 10)
	for number in range(40):
		ranked("crowd", "user-00", "A100", 1999 - number * number)
	command("ranking", "rebuild", "crowd")
	answer = trend_of("/leaderboard/crowd?gpu=A100", "Fastest of all")
	trend = answer.text[answer.text.index('<h2 id="trend">'):]
	contains(trend, "/user/user-09")
	lacks(trend, "/user/user-10")
	equal(len(re.findall(r'<use href="#trend-1"', trend)), 16)
	equal(len(re.findall(r'<use href="#trend-\d+"', trend)), 25)
	contains(trend, ">2.000 µs<")
	contains(trend, f">{1999 - 39 * 39}.0 ns<")


@test
def each_shape_shows_who_is_fastest_there():
	load("shapes")
	ranked("shapes", "ada", "A100", 1000, [1000 + i for i in range(30)])
	ranked("shapes", "bob", "A100", 2000, [500, 2000] + [4000] * 28)
	command("ranking", "rebuild", "shapes")
	answer, page = page_of("/leaderboard/shapes?view=shapes&gpu=A100")
	words = answer.words()
	contains(words, "Shape 1 size: 100 User Time bob 2nd 500.0 ns ada 1st 1.000 µs Shape 2 size: 101 User Time ada 1st 1.001 µs bob 2nd 2.000 µs")
	contains(answer.text, '<rect width="50%" height="100%"/>')
	lacks(words, "Shape 25")
	contains(words, "Page 1 of 2")
	contains(page.links, "/leaderboard/shapes?view=shapes&gpu=A100&page=2")
	words = page_of("/leaderboard/shapes?view=shapes&gpu=A100&page=2")[0].words()
	contains(words, "Shape 25 size: 124")
	contains(words, "Shape 30 size: 129")
	lacks(words, "Shape 24 ")
	equal(anyone.get("/leaderboard/shapes?view=shapes&gpu=A100&page=3").status, 404)


@test
def devices_stand_side_by_side():
	load("scaling")
	ranked("scaling", "ada", "A100", 4000)
	ranked("scaling", "ada", "H200", 1000)
	ranked("scaling", "bob", "H200", 900)
	command("ranking", "rebuild", "scaling")
	answer, _ = page_of("/leaderboard/scaling?view=gpus")
	words = answer.words()
	contains(words, "User A100 H200 L4 ada 4.000 µs 1st 1.000 µs 2nd, 4.00× faster none bob none 900.0 ns 1st none")
	contains(answer.text, 'aria-label="Best times of 2 users on each of 3 devices.')
	equal(len(re.findall(r'<use href="#devices-1"', answer.text)), 2)
	equal(len(re.findall(r'<use href="#devices-2"', answer.text)), 1)


@test
def the_projector_shows_all_devices_or_one_and_asks_for_changes():
	answer, page = page_of("/leaderboard/scaling?view=live")
	contains(answer.words(), "A100 Rank User Time Gap 1 ada 4.000 µs H200 Rank User Time Gap 1 bob 900.0 ns 2 ada 1.000 µs +11.1 %")
	contains(answer.text, 'data-live="/leaderboard/scaling/live"')
	contains(answer.text, '<noscript><meta http-equiv="refresh" content="10"></noscript>')
	lacks(answer.text, "<nav")
	equal(set(page.links), {"/leaderboard/scaling"})
	answer, _ = page_of("/leaderboard/scaling?view=live&gpu=H200")
	lacks(answer.words(), "A100")
	contains(answer.text, 'data-live="/leaderboard/scaling/live?gpu=H200"')
	state = anyone.get("/leaderboard/scaling/live?gpu=H200").json
	equal((state["state"], state["settled"], state["rows"]), ("active", False,
		[{"gpu": "H200", "rank": 1, "user": "bob", "score_ns": 900.0}, {"gpu": "H200", "rank": 2, "user": "ada", "score_ns": 1000.0}]))
	equal([row["gpu"] for row in anyone.get("/leaderboard/scaling/live").json["rows"]], ["A100", "H200", "H200"])


@test
def what_there_is_not_is_not_found():
	for path in ("/leaderboard/none?view=live", "/leaderboard/none/live", "/leaderboard/small?view=nothing", "/leaderboard/small?view=%3Cscript%3E",
		"/leaderboard/small?view=shapes&gpu=none", "/leaderboard/small?view=live&gpu=%27", "/leaderboard/small/live?gpu=none", "/leaderboard/small?view=gpus&version=7"):
		answer = anyone.get(path)
		equal((path, answer.status), (path, 404))
		lacks(answer.text, "<script>")
	contains(anyone.get("/leaderboard/small?view=nothing").words(), "It has: shapes, gpus, live.")


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
