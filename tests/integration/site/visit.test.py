#!/usr/bin/env python3
"""What visitors read: the front page, users' pages, the queue with its expected starts, and "not
found" pages."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import send_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance()
sql = site.sql
anyone, ada, bob = Client(site.url), Client(site.url), Client(site.url)
SOURCE = b"def custom_kernel(data):\n    return data\n"


def look(client, path):
	"""Gets the page past nginx's cache, and checks that its elements nest."""
	Client(site.url).post("/none", [])  # no answer from before this request is used any more
	answer = client.fresh(path)
	equal((path, answer.status), (path, 200))
	reader = Page()
	reader.feed(answer.text)
	equal(reader.faults, [])
	return answer


def section(client, path, heading):
	"""The text of one section of a page."""
	parts = re.split(r"<h2[^>]*>", look(client, path).text)
	found = [part for part in parts[1:] if part.startswith(heading + "</h2>")]
	equal((heading, len(found)), (heading, 1))
	reader = Page()
	reader.feed(found[0])
	return " ".join(" ".join(reader.texts).split())


def board(name, gpus=("H200",), deadline="NULL"):
	"""Creates a leaderboard for devices that no worker has, so that its submissions stay queued."""
	devices = "".join(
		f"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, '{gpu}', "
		f"{position} FROM leaderboards WHERE name = '{name}';"
		for position, gpu in enumerate(gpus)
	)
	sql(f"""
		INSERT INTO leaderboards (name, secret_seed, deadline) VALUES ('{name}', 1, {deadline});
		INSERT INTO task_versions (leaderboard_id, number, language, description, definition)
			SELECT (SELECT id FROM leaderboards WHERE name = '{name}'), 1, 'py', '', definition
				FROM task_versions ORDER BY id LIMIT 1;
		UPDATE leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id
			SET l.task_version_id = v.id WHERE l.name = '{name}';
		{devices}""")


def submit(client, name, gpus=("H200",)):
	return send_source(client, SOURCE.decode(), name, "test", "kernel.py", gpus)


def offer(model, count=1):
	sql(
		"INSERT IGNORE INTO workers (id, name, version, host, started_at, seen_at) VALUES (77, "
		"'elsewhere', '0', '{}', UTC_TIMESTAMP(3), '2099-01-01');"
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at) "
		f"SELECT 77, CONCAT('GPU-{model}-', seq), '{model}', 'A device', 1, '', '', '2099-01-01' "
		f"FROM seq_1_to_{count}"
	)


for client, name in ((ada, "ada"), (bob, "bob")):
	client.register(name)
board("first")
board("second", ("H200", "A100"))

# ---- the front page ----


def card(client, name, path="/"):
	"""The text of a leaderboard's card."""
	found = [
		part
		for part in re.findall(
			r'<article class="card">.*?</article>', look(client, path).text, re.S
		)
		if f">{name}</a></h3>" in part
	]
	equal((name, len(found)), (name, 1))
	reader = Page()
	reader.feed(found[0])
	return " ".join(" ".join(reader.texts).split())


@test
def a_card_counts_users_and_submissions():
	contains(card(anyone, "first"), "Be the first to submit.")
	submit(ada, "first")
	submit(ada, "first")
	contains(card(anyone, "first"), "1 participant 2 submissions")
	submit(bob, "first")
	submit(ada, "second", gpus=("H200", "A100"))
	contains(card(anyone, "first"), "2 participants 3 submissions")
	contains(card(anyone, "second"), "1 participant 1 submission")
	equal(
		ada.post(
			"/leaderboard/first/submit",
			[("mode", "none such"), ("gpu", "H200")],
			[("file", "kernel.py", SOURCE)],
		).status,
		422,
	)
	contains(card(anyone, "first"), "2 participants 3 submissions")


@test
def leaderboards_are_grouped_by_their_state():
	board("over", deadline="'2020-01-01'")
	board("trained", deadline="'2020-02-01'")
	sql("UPDATE leaderboards SET practice = TRUE WHERE name = 'trained'")
	for heading, name, state in (
		("Active", "first", "waiting for a GPU"),
		("Practice", "trained", "waiting for a GPU"),
		("Ended", "over", "ended"),
	):
		contains(section(anyone, "/", heading), f"{name} {state}")
	contains(card(anyone, "over"), "Python ended")
	for id in ("active", "practice", "ended"):
		contains(look(anyone, "/").text, f'href="#{id}"')
	sql("UPDATE leaderboards SET accepting = FALSE WHERE name = 'trained'")
	contains(section(anyone, "/", "Ended"), "trained ended")
	lacks(look(anyone, "/").text, "Practice")


@test
def a_card_names_the_record_of_each_device_and_the_visitors_rank():
	for place, name in enumerate(("cyd", "dora", "eve", "fay"), 1):
		sql(f"""
			INSERT INTO users (name, password_hash) VALUES ('{name}', '!');
			INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256,
				mode)
				SELECT l.id, l.task_version_id, u.id, 'kernel.py', (SELECT sha256 FROM blobs
					LIMIT 1), 'ranked' FROM leaderboards l, users u
				WHERE l.name = 'over' AND u.name = '{name}';
			INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, finished_at)
				SELECT id, user_id, 'H200', 'done', 'passed', {place} * 1000, submitted_at
					FROM submissions WHERE id = LAST_INSERT_ID();
			INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id,
				job_id, score_ns, submitted_at, position, place)
				SELECT s.leaderboard_id, s.task_version_id, 'H200', s.user_id, s.id, j.id,
					j.score_ns, s.submitted_at, {place}, {place}
				FROM jobs j JOIN submissions s ON s.id = j.submission_id
					WHERE j.id = LAST_INSERT_ID();
			INSERT INTO records (leaderboard_id, task_version_id, gpu, line, submission_id, job_id,
				user_id, score_ns, submitted_at, ranked_at)
				SELECT leaderboard_id, task_version_id, gpu, 0, submission_id, job_id, user_id,
					score_ns, submitted_at, submitted_at
				FROM ranking WHERE job_id = LAST_INSERT_ID();""")
	record = "H200 1.000 µs record by cyd · 4 ranked"
	contains(card(anyone, "over"), f"{record} Python")
	cyd = Client(site.url)
	cyd.register("late")
	contains(card(cyd, "over"), f"{record} Python")
	sql("UPDATE ranking r JOIN users u ON u.name = 'late' SET r.user_id = u.id WHERE r.place = 4")
	contains(card(cyd, "over"), f"{record} you: rank 4 4.000 µs Python")
	contains(look(anyone, "/").words(), "Latest record 1.000 µs by cyd on over, H200")


def soon(client, name, words):
	"""Waits until a card has these words: podium-web keeps the site's figures for a second."""
	until(lambda: words in card(client, name))


@test
def a_board_waits_for_a_gpu_until_a_worker_offers_one():
	contains(card(anyone, "second"), "second waiting for a GPU")
	offer("A100")
	soon(anyone, "second", "second H200")
	contains(card(anyone, "first"), "first waiting for a GPU")
	sql("UPDATE gpus SET quarantined_at = UTC_TIMESTAMP() WHERE model = 'A100'")
	soon(anyone, "second", "second waiting for a GPU")
	sql("DELETE FROM gpus WHERE worker_id = 77")
	board("no-device", gpus=())
	soon(anyone, "no-device", "no-device no device")
	contains(card(anyone, "no-device"), "It has no device yet.")


@test
def the_strip_counts_jobs_and_the_activity_orders_the_boards():
	def strip():
		return re.search(
			r"Queue (\d+) running, (\d+) waiting .* Jobs today (\d+)", front()
		).groups()

	def front():
		return look(anyone, "/").words()

	finished = "SELECT COUNT(*) FROM jobs WHERE finished_at >= UTC_DATE()"
	queued = int(sql("SELECT COUNT(*) FROM jobs WHERE state = 'queued'")[0][0])
	today = int(sql(finished)[0][0])
	until(lambda: strip() == ("0", str(queued), str(today)))
	sql("UPDATE jobs SET state = 'running' WHERE state = 'queued' LIMIT 1")
	sql("UPDATE jobs SET finished_at = UTC_DATE() - INTERVAL 1 DAY WHERE state = 'done' LIMIT 2")
	until(lambda: strip() == ("1", str(queued - 1), str(today - 2)))
	sql("UPDATE jobs SET state = 'queued' WHERE state = 'running'")
	for name in ("first", "second"):
		submit(ada, name, gpus=("H200",))
		contains(section(anyone, "/", "Active"), f"Active {name} waiting for a GPU")


@test
def the_front_page_is_searched_by_name_summary_and_device():
	def found(query):
		return re.findall(r'<h3><a href="/leaderboard/(\w+)"', look(anyone, f"/?{query}").text)

	equal(found("q=SECON"), ["second"])
	equal(found("q=rows+of+a+MATRIX"), ["softmax_py"])
	equal(found("gpu=A100"), ["second"])
	equal(found("q=first&gpu=A100"), [])
	contains(look(anyone, "/?q=nothing-like-it").words(), "No leaderboard fits this filter.")
	text = look(anyone, "/?q=%22%3E%3Cb%3E").text
	contains(text, 'value="&quot;&gt;&lt;b&gt;"')


# ---- a user ----


@test
def a_user_without_anything_has_a_page_that_says_so():
	page = look(anyone, "/user/fay").words()
	lacks(page, "Medals")
	lacks(page, "Activity")
	lacks(page, "The weeks as a table")
	sql("INSERT INTO users (name, password_hash) VALUES ('gus', '!')")
	contains(look(anyone, "/user/gus").words(), "gus is not ranked yet.")


@test
def a_users_results_match_the_rankings():
	contains(
		section(anyone, "/user/cyd", "Best results"), "over ended H200 1.000 µs ± unknown 1 of 4"
	)
	page = look(anyone, "/user/dora").words()
	contains(page, "Ranked on 1 leaderboard Medals 1 silver Last 12 months")
	contains(
		section(anyone, "/user/dora", "Best results"), "over ended H200 2.000 µs ± unknown 2 of 4"
	)


@test
def a_user_holds_a_record_whatever_the_rank():
	contains(section(anyone, "/user/cyd", "Records held"), "1.000 µs over on H200")
	lacks(look(anyone, "/user/dora").words(), "Records held")
	faster = (
		"UPDATE records SET score_ns = {} "
		"WHERE user_id = (SELECT id FROM users WHERE name = 'dora')"
	)
	sql(faster.format(900))
	contains(section(anyone, "/user/dora", "Records held"), "2.000 µs over on H200")
	lacks(look(anyone, "/user/cyd").words(), "Records held")
	sql(faster.format(2000))


@test
def the_devices_of_a_leaderboard_stand_together():
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'A100', 1 FROM "
		"leaderboards WHERE name = 'over'; INSERT INTO ranking (leaderboard_id, task_version_id, "
		"gpu, user_id, submission_id, job_id, score_ns, submitted_at, position, place) SELECT "
		"r.leaderboard_id, r.task_version_id, 'A100', r.user_id, r.submission_id, r.job_id, "
		"3000, r.submitted_at - INTERVAL 1 DAY, 1, 1 FROM ranking r "
		"JOIN users u ON u.id = r.user_id WHERE u.name = 'dora' AND r.gpu = 'H200'; "
		# a result on another leaderboard between the two
		"INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, "
		"job_id, score_ns, submitted_at, position, place) "
		"SELECT l.id, l.task_version_id, 'H200', r.user_id, r.submission_id, r.job_id, 3000, "
		"r.submitted_at - INTERVAL 1 HOUR, 99, 99 FROM ranking r "
		"JOIN users u ON u.id = r.user_id JOIN leaderboards l ON l.name = 'first' "
		"WHERE u.name = 'dora' AND r.gpu = 'H200'"
	)
	said = "over ended H200 2.000 µs ± unknown 2 of 4 just now A100 3.000 µs ± unknown 1 of 1"
	contains(section(anyone, "/user/dora", "Best results"), said)
	contains(look(anyone, "/user/dora").words(), "Ranked on 2 leaderboards Medals 1 gold, 1 silver")
	sql(
		"DELETE FROM ranking WHERE gpu = 'A100'; DELETE g FROM leaderboard_gpus g JOIN "
		"leaderboards l ON l.id = g.leaderboard_id WHERE l.name = 'over' AND g.gpu = 'A100'; "
		"DELETE FROM ranking WHERE place = 99"
	)


@test
def a_result_has_the_state_of_its_leaderboard():
	before = sql(
		"SELECT COALESCE(deadline, ''), practice, accepting, COALESCE(archived_at, '') FROM "
		"leaderboards WHERE name = 'over'"
	)[0]
	for change, state in (
		("practice = 1, accepting = 1", "practice"),
		("practice = 0", "ended"),
		("archived_at = UTC_TIMESTAMP()", "archived"),
	):
		sql(
			f"UPDATE leaderboards SET deadline = UTC_TIMESTAMP() - INTERVAL 1 DAY, {change} WHERE "
			"name = 'over'"
		)
		equal(re.findall(r'data-state="([^"]*)"', look(anyone, "/user/cyd").text), [state])
	deadline, practice, accepting, archived = (value or None for value in before)
	sql(
		"UPDATE leaderboards SET deadline = {}, practice = {}, accepting = {}, archived_at = {} "
		"WHERE name = 'over'".format(
			*(
				"NULL" if value is None else f"'{value}'"
				for value in (deadline, practice, accepting, archived)
			)
		)
	)


@test
def each_week_of_the_last_year_has_a_row():
	before = int(
		sql(
			"SELECT SUM(submissions) FROM user_days d JOIN users u ON u.id = d.user_id "
			"WHERE u.name = "
			"'bob'"
		)[0][0]
	)
	submit(bob, "first")
	sql(
		"INSERT INTO user_days SELECT id, UTC_DATE() - INTERVAL WEEKDAY(UTC_DATE()) DAY - "
		"INTERVAL 70 DAY, 9 FROM users WHERE name = 'bob'"
	)
	sql(
		"INSERT INTO user_days SELECT id, UTC_DATE() - INTERVAL WEEKDAY(UTC_DATE()) DAY - "
		"INTERVAL 69 DAY, 3 FROM users WHERE name = 'bob'"
	)
	sql(
		"INSERT INTO user_days SELECT id, UTC_DATE() - INTERVAL 800 DAY, 5 FROM users WHERE name "
		"= 'bob'"
	)
	monday, earlier = sql(
		"SELECT UTC_DATE() - INTERVAL WEEKDAY(UTC_DATE()) DAY, UTC_DATE() - INTERVAL "
		"WEEKDAY(UTC_DATE()) DAY - INTERVAL 70 DAY"
	)[0]
	words = section(anyone, "/user/bob", "Activity")
	contains(words, f"Week of Submissions {monday} {before + 1} {earlier} 12 Weeks begin")
	contains(words, f"{before + 13} submissions on 3 days, at most 9 on one day")
	contains(look(anyone, "/user/bob").words(), f"Last 12 months {before + 13} submissions")


@test
def the_calendar_of_a_full_year_is_small():
	sql(
		"INSERT INTO user_days SELECT id, UTC_DATE() - INTERVAL seq DAY, 1000 + seq * 37 % 400 "
		"FROM users, seq_0_to_380 WHERE name = 'fay'"
	)
	text = look(anyone, "/user/fay").text
	calendar = text[text.index("<figure") : text.index("</main>")]
	equal(len(calendar.encode()) <= 10_000, True)
	days = sum(len(re.findall("h8", part)) for part in re.findall(r' d="([^"]*)"', calendar))
	weekday = int(sql("SELECT WEEKDAY(UTC_DATE())")[0][0])
	equal(days, 52 * 7 + weekday + 1)


# ---- not found and forbidden ----


def refused(client, path, status):
	answer = client.get(path)
	equal((path, answer.status), (path, status))
	reader = Page()
	reader.feed(answer.text)
	equal(reader.faults, [])
	return reader, answer.words()


@test
def a_mistyped_name_gets_similar_names():
	for path in (
		"/leaderboard/frist",
		"/leaderboard/frist/submit",
		"/leaderboard/FIRST_",
		"/frist",
	):
		page, words = refused(anyone, path, 404)
		contains(words, "Leaderboards with a similar name first")
		contains(page.links, "/leaderboard/first")
	page, words = refused(anyone, "/user/dorra", 404)
	contains(words, "Users with a similar name dora")
	contains(page.links, "/user/dora")


@test
def users_without_public_results_are_not_suggested():
	lacks(refused(anyone, "/user/guss", 404)[1], "similar")  # gus exists, and is in no ranking
	sql("UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'over'")
	lacks(refused(anyone, "/leaderboard/ovre", 404)[1], "similar")
	lacks(refused(anyone, "/user/dorra", 404)[1], "similar")
	sql("UPDATE leaderboards SET visibility = 'public' WHERE name = 'over'")
	contains(refused(anyone, "/leaderboard/ovre", 404)[1], "similar name over")


@test
def an_entirely_different_name_gets_no_suggestion():
	for path in (
		"/leaderboard/something-else-entirely",
		"/user/xy",
		"/nothing/here",
		"/user/%3Cscript%3E",
		"/leaderboard/a%25b",
		"/%5C%5Cevil.example",
	):
		page, words = refused(anyone, path, 404)
		lacks(words, "similar")
		contains(page.links, "/")


@test
def a_forbidden_page_says_who_is_signed_in():
	contains(refused(ada, "/admin", 403)[1], "You are logged in as ada .")
	equal(anyone.get("/admin").status, 303)


@test
def without_the_database_the_page_offers_to_try_again():
	sql("RENAME TABLE leaderboards TO elsewhere")
	try:
		page, words = refused(anyone, "/leaderboard/first?gpu=H200&x=%22", 503)
		contains(page.links, "/leaderboard/first?gpu=H200&x=%22")
		contains(words, "Nothing was lost")
		equal(anyone.get("/leaderboard/first?again").headers["Retry-After"], "5")
		reader, words = refused(anyone, "/nothere", 404)
		lacks(words, "similar")
	finally:
		sql("RENAME TABLE elsewhere TO leaderboards")
	equal(anyone.get("/leaderboard/first?now").status, 200)


# ---- the queue ----


@test
def a_job_for_a_missing_device_has_a_place_and_no_expected_start():
	sql("DELETE FROM jobs WHERE state = 'queued'")
	number = submit(ada, "first")
	page = look(anyone, "/queue").words()
	contains(page, f"{number} test just now first by ada queued 1st in line H200 not known")
	contains(section(anyone, "/queue", "Waiting by device"), "H200 when a device is online 1 0 0")


@test
def expected_starts_use_the_median_of_earlier_jobs():
	offer("H200")
	sql(
		"INSERT INTO job_times SELECT task_version_id, 'H200', 'test', '30000', 30000, "
		"UTC_TIMESTAMP(3) FROM leaderboards WHERE name = 'first'"
	)
	second, third = submit(ada, "first"), submit(bob, "first")
	page = look(anyone, "/queue").words()
	contains(page, "first by ada queued 1st in line H200 at once")
	contains(page, f"{second} test just now first by ada queued 3rd in line H200 in about 1 min")
	contains(page, f"{third} test just now first by bob queued 2nd in line H200 in about 30 s")
	contains(section(anyone, "/queue", "Waiting by device"), "H200 in about 1 min 3 0 1")
	page = look(ada, f"/submission/{second}").words()
	contains(page, "Expected start in about 1 min")
	contains(page, "Waiting for H200: 3rd in line, 2 jobs ahead. The whole queue")
	equal(ada.get(f"/submission/{second}/status").json["jobs"][0]["position"], 3)
	contains(
		look(bob, "/leaderboard/first/submit").words(),
		"A device; number 4 in the queue, starts in about 2 min",
	)


@test
def a_task_without_earlier_jobs_uses_the_devices_median():
	sql("DELETE FROM jobs")
	first, second = submit(ada, "second"), submit(bob, "second")
	said = f"{second} test just now second by bob queued 2nd in line H200 in about "
	contains(look(anyone, "/queue").words(), said + "30 s")
	sql(
		"INSERT INTO job_times SELECT task_version_id, 'H200', 'test', '600000', 600000, "
		"UTC_TIMESTAMP(3) - INTERVAL 1 DAY FROM leaderboards WHERE name = 'second'"
	)
	contains(look(anyone, "/queue").words(), said + "10 min")


@test
def expected_starts_count_all_devices_and_their_running_jobs():
	offer("A100", 2)
	sql(
		"DELETE FROM jobs; INSERT INTO job_times SELECT task_version_id, 'A100', 'test', "
		"'100000', 100000, UTC_TIMESTAMP(3) FROM leaderboards WHERE name = 'second'"
	)
	numbers = [submit(client, "second", gpus=("A100",)) for client in (ada, ada, bob)]
	sql(
		"UPDATE jobs SET state = 'running', started_at = UTC_TIMESTAMP(3) - INTERVAL 61 SECOND, "
		"lease_expires = UTC_TIMESTAMP(3) + INTERVAL 500 SECOND, "
		f"lease_owner = 'elsewhere', lease_device = 'GPU-A100-1' WHERE submission_id = {numbers[0]}"
	)
	page = look(anyone, "/queue").words()
	contains(page, f"{numbers[0]} test 1 minute ago second by ada running on elsewhere A100")
	contains(page, "second by bob queued 1st in line A100 at once")
	contains(page, "second by ada queued 2nd in line A100 in about 40 s")
	contains(section(bob, "/queue", "Waiting by device"), "A100 in about 2 min 2 1 2")
	devices = section(bob, "/queue", "Workers and devices")
	contains(devices, "A100 #1 ")
	contains(devices, "A100 #2 ")


@test
def an_empty_queue_says_so():
	sql("DELETE FROM jobs")
	contains(look(anyone, "/queue").words(), "Nothing is waiting.")
	contains(section(anyone, "/queue", "Waiting by device"), "H200 at once 0 0 1")


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
