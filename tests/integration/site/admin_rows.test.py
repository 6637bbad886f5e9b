#!/usr/bin/env python3
"""The cost of the admins' searches. With 100,000 submissions, 100,000 audit entries and a rejudging
of 5,000 results, no page reads more than a bounded number of rows."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
import mariadb  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

mariadb.use_own_server()
site = Instance()
sql = site.sql
admin = Client(site.url)


def rows_read(path):
	"""Requests a page. Returns how many rows the database reads for it, and the answer."""
	count = (
		"SELECT SUM(variable_value) FROM information_schema.global_status "
		"WHERE variable_name LIKE 'Handler_read%'"
	)
	equal(admin.get(path).status, 200)  # so that the statements are prepared
	before = int(sql(count)[0][0])
	answer = admin.get(path)
	equal((path, answer.status), (path, 200))
	return int(sql(count)[0][0]) - before, answer


def reads_at_most(most, path):
	"""Checks that the database reads at most `most` rows for a page, and returns the page. Other
	programs read rows ten times a second, and their rows count too. So one good try of three
	suffices."""
	found = []
	for _ in range(3):
		read, answer = rows_read(path)
		if read <= most:
			return answer
		found.append(read)
	raise AssertionError(f"{path} read {found} rows")


@test
def the_fixtures_are_created():
	equal(
		admin.post("/register", [("name", "root-of-all"), ("password", "a long password")]).status,
		303,
	)
	# data.sql also pauses the worker, whose claims would read rows too.
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	sql((ROOT / "tests" / "bench" / "data.sql").read_text())
	sql("""
		UPDATE submissions SET hidden_at = submitted_at, hidden_reason = 'made' WHERE id % 1000 = 7;
		INSERT INTO audit_log (at, actor, address, action, subject, detail)
			SELECT '2020-01-01' + INTERVAL seq MINUTE, CONCAT('user', seq % 1000 + 1), '',
				IF(seq % 100, 'submission.hide', 'user.ban'), CONCAT('submission ', seq), 'made'
				FROM seq_1_to_100000;
		INSERT INTO rejudgings (leaderboard_id, scope, made_by, jobs)
			SELECT id, 'made', 'root-of-all', 5000 FROM leaderboards WHERE name = 'bench';
		INSERT INTO rejudged_jobs (rejudging_id, submission_id, gpu, old_job_id)
			SELECT (SELECT MAX(id) FROM rejudgings), j.submission_id, j.gpu, j.id
			FROM jobs j JOIN submissions s ON s.id = j.submission_id
				JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = 'bench' ORDER BY j.id
				LIMIT 5000;
		INSERT INTO jobs (rejudged_id, user_id, gpu, priority, state, verdict)
			SELECT id, 0, gpu, 2, IF(id % 10, 'queued', 'done'), IF(id % 10, NULL, 'wrong answer')
			FROM rejudged_jobs WHERE new_job_id = 0;
		UPDATE rejudged_jobs r JOIN jobs j ON j.rejudged_id = r.id SET r.new_job_id = j.id;
		INSERT INTO rejudgings (leaderboard_id, scope, made_by, jobs, state)
			SELECT leaderboard_id, scope, made_by, jobs, 'discarded' FROM rejudgings
			JOIN seq_1_to_49;
		ANALYZE TABLE audit_log, rejudgings, rejudged_jobs, jobs, submissions""")


@test
def searching_submissions_reads_one_page_of_them():
	for query in (
		"",
		"user=user7",
		"leaderboard=bench",
		"user=user7&leaderboard=bench",
		"hidden=1",
		"user=user8&hidden=1",
		"leaderboard=bench&before=50000",
		"user=nobody-there",
	):
		reads_at_most(3000, f"/admin/submissions?{query}")


@test
def the_audit_log_is_read_page_by_page():
	for query in (
		"",
		"who=user7",
		"what=user.ban",
		"who=user7&what=submission.hide",
		"who=user1&what=user.ban",
		"before=50000",
		"who=nobody-there",
	):
		lacks(reads_at_most(3000, f"/admin/audit?{query}").words(), "Older changes may")


@test
def a_search_by_day_skips_the_days_between():
	for query in (
		"from=2020-01-05&to=2020-01-06",
		"to=2020-01-02",
		"from=2020-01-01&to=2020-01-01",
	):
		contains(reads_at_most(8000, f"/admin/audit?{query}").words(), "Hid submission")
	contains(
		reads_at_most(8000, "/admin/audit?from=2001-01-01&to=2001-12-31").words(),
		"No change matches this search.",
	)


@test
def a_search_for_words_reads_a_bounded_part_and_can_continue():
	page = reads_at_most(40000, "/admin/audit?q=submission+88123")
	lacks(page.words(), "submission 88123")
	contains(page.words(), "Older changes may")
	for _ in range(12):
		older = next((line for line in page.text.split('"') if "before=" in line), None)
		if not older or "submission 88123 made" in page.words():
			break
		page = reads_at_most(40000, older.replace("&amp;", "&"))
	contains(page.words(), "submission 88123 made")


@test
def a_rejudging_is_read_once_however_many_others_exist():
	number = sql("SELECT MIN(id) FROM rejudgings WHERE made_by = 'root-of-all'")[0][0]
	reads_at_most(60000, f"/admin/rejudgings/{number}")
	reads_at_most(60000, f"/admin/rejudgings/{number}?page=50")
	contains(
		admin.get(f"/admin/rejudgings/{number}").words(), "4500 jobs of 5000 have not finished"
	)
	result = sql("SELECT MAX(id) FROM rejudged_jobs")[0][0]
	reads_at_most(40000, f"/admin/rejudgings/{number}/{result}")
	# The list counts only the results of rejudgings that are still open.
	reads_at_most(30000, "/admin/rejudgings")


@test
def the_page_of_workers_reads_the_queue_once():
	answer = reads_at_most(30000, "/admin/workers")
	waiting = sql("SELECT COUNT(*) FROM jobs WHERE state = 'queued' AND gpu = 'H200'")[0][0]
	equal(int(waiting) > 3000, True)
	contains(answer.words(), f"{waiting} 40 64")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
