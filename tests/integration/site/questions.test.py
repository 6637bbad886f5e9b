#!/usr/bin/env python3
"""The database queries of every page, on a site with 100,000 submissions, 2,000 users and 50
leaderboards: how many queries a page makes, how many rows each one reads, and what a first visit
transfers."""

import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from crowd import IN_A_LOGIN, Crowd, routes  # noqa: E402
from instance import DUMMY_MAIL, Instance  # noqa: E402
import mariadb  # noqa: E402
from tap import equal, run, test  # noqa: E402

# With one thread, each request uses the data that earlier requests cached. These tests count, and
# on a busy machine a program with sanitizers may need longer than a request usually may take.
mariadb.use_own_server()
site = Instance(PODIUM_WEB_THREADS="1", PODIUM_REQUEST_TIMEOUT_S="300", **DUMMY_MAIL)
sql = site.sql
# Start the log before any page is requested, because MariaDB logs no values for statements that
# were prepared before.
log = pathlib.Path(*sql("SET GLOBAL general_log = ON; SELECT @@datadir, @@general_log_file")[0])
# Let the optimizer keep the statistics of the empty tables. On a site that grows quickly they are
# out of date for a while, and the optimizer must choose good plans all the same.
sql("SET GLOBAL innodb_stats_auto_recalc = OFF")
crowd = Crowd(site)
# Each mode gets a quota, so that the form must count submissions.
sql(
	"INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) SELECT l.id, m.mode, 50, "
	"8784 FROM leaderboards l JOIN "
	"(SELECT 'test' AS mode UNION SELECT 'benchmark' UNION SELECT 'ranked' UNION SELECT "
	"'profile') m WHERE l.name = 'bench'"
)
ENTRY = re.compile(r"^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *(\d+) (\w[\w ]*)\t", re.M)

# Attempts to see a page without the queries that are not its own. More attempts hide nothing,
# because a page makes its own queries every time.
TRIES = 10
# Queries that an answer may make, besides the one for the session.
MOST_QUESTIONS = 2
# This page reads everything in one query, and in another one the queue while a job waits.
ONE_QUESTION = ("/submission/*",)
QUEUE = " AS running_ms "
# The same for visitors who are not signed in: a contest, its problems and its standings.
MORE_FOR_ANYONE = {"/contest/*": 3}
# A member of a team: the teams, and on a leaderboard whether one of them submits to it.
MORE_FOR_MEMBERS = 2
# Pages for signed-in users that may make more queries.
MORE_QUESTIONS = {
	"/submission/*/artifact/*": 3,
	"/submission/*/plan/*": 4,
	"/admin/sets/*": 4,
	"/admin/leaderboard/*/edit": 3,
	"/admin/leaderboard/*/task": 4,
	"/admin/rejudgings/*/*": 4,
	"/account/security": 3,
	"/admin/contest/*": 7,
	"/admin/leaderboard/*/exceptions": 3,
	"/admin/leaderboard/*/roles": 3,
	"/contest/*/certificate/*": 3,
	"/admin/audit": 3,
	"/leaderboard/*/questions": 3,
}
# The export reads AT_ONCE submissions at a time, with PER_PIECE queries for each such piece and
# BESIDE_PIECES queries for everything else.
AT_ONCE, PER_PIECE, BESIDE_PIECES = 50, 7, 40
# These pages apply what they show and roll it back, so they rebuild and read whole rankings.
REHEARSALS = {
	"/admin/leaderboard/*/unfrozen": 60,
	"/admin/rejudgings/*": 60,
	"/contest/*/reveal": 60,
	"/contest/*/unfrozen": 60,
}

# The rows that a query of a page may read. The site has 50 leaderboards with two devices each, 200
# queued jobs and 2,000 entries in a ranking.
MOST_ROWS = 4500
# Pages that may read more rows. They count exactly before a large change, list users or jobs,
# search 10,000 entries for words, export a whole ranking, or make a block of queries, which counts
# as one query.
MORE_ROWS = {
	"/account/delete": 6000,
	"/admin/leaderboard/*/delete": 70000,
	"/admin/leaderboard/*/versions": 70000,
	"/admin/leaderboard/*/diff": 70000,
	"/admin/leaderboard/*/switch": 70000,
	"/admin/contest/*": 12000,
	"/contest/*": 12000,
	"/contest/*.json": 12000,
	"/contest/*.csv": 12000,
	"/contest/*/certificate/*": 12000,
	"/admin/users": 10000,
	"/admin/rejudgings": 16000,
	"/admin/audit": 10200,
	"/leaderboard/*.csv": 10000,
	"/admin/workers": 7500,
	"/metrics": 8000,
}
MOST_KB = 100  # for a page and these files together, compressed
BESIDE = ("/static/style.css", "/static/podium.js", "/static/live.js", "/static/favicon.svg")


def asked_since(begin):
	"""Returns (connection, query) of each query since this position in the log."""
	with open(log, "rb") as file:
		file.seek(begin)
		text = file.read().decode(errors="replace")
	entries = list(ENTRY.finditer(text)) + [None]
	for entry, after in zip(entries, entries[1:]):
		if entry[2] == "Execute":
			yield entry[1], text[entry.end() : after.start() if after else len(text)].rstrip("\n")


def connection_of_the_pages():
	"""The number of podium-web's connection in the log, which also has the worker's queries."""
	begin = log.stat().st_size
	crowd.client("anyone").get("/leaderboard/bench")
	return next(
		connection for connection, question in asked_since(begin) if "wanted_visibility" in question
	)


connection = connection_of_the_pages()
bearers = {}


def fetch(who, address, **headers):
	"""Gets an address past nginx's cache. A page gets a new parameter. /api/v1 refuses unknown
	parameters, so its calls get a cookie or a token, with which nginx does not use the cache."""
	if address.startswith("/api/v1"):
		own = (
			{"Cookie": "of=nobody"}
			if who == "anyone"
			else {"Authorization": f"Bearer {bearers.setdefault(who, crowd.bearer(who))}"}
		)
		return crowd.client("anyone").get(address, **own, **headers)
	return crowd.client(who).get(
		f"{address}{'&' if '?' in address else '?'}fresh={time.time_ns()}", **headers
	)


def questions_of(who, address, fits=lambda questions: len(questions) <= MOST_QUESTIONS):
	"""Returns the queries of a page; a block of queries counts as one. The thread also refreshes
	cached data every second or two, so the function tries up to TRIES times until the queries fit,
	and returns the shortest list. A quick page before each try leaves fresh data, so that a slow
	machine needs few tries."""
	fetch(who, address)
	tries = []
	for _ in range(TRIES):
		fetch("anyone", "/login")
		begin = log.stat().st_size
		equal((who, address, fetch(who, address).status), (who, address, 200))
		tries.append(
			[
				question
				for asking, question in asked_since(begin)
				if asking == connection and "token_hash = " not in question
			]
		)
		if fits(tries[-1]):
			break
	return min(tries, key=len)


asked = {}  # {(who, route, address): queries}


def rows_read_by(questions):
	"""Returns for each query how many rows of tables and indexes the database reads."""
	script = "".join(
		f"FLUSH STATUS; {question}; SHOW SESSION STATUS LIKE 'Handler_read%';"
		for question in questions
	)
	answer = subprocess.run(
		["mariadb", "--no-defaults", "-S", site.database.socket, "-N", "-B", "podium"],
		input=script.encode(),
		capture_output=True,
		check=True,
	).stdout
	read = [int(number) for number in re.findall(rb"^Handler_read_\w+\t(\d+)$", answer, re.M)]
	each = len(read) // len(questions)
	return [sum(read[i : i + each]) for i in range(0, len(read), each)]


def rows_read_beside(who, address, known, most):
	"""Returns how many rows the blocks of a page read. The log has no values for queries in a
	block, so they cannot be repeated. The function counts all rows read during the request and
	subtracts `known`, the rows of the page's other queries. Other programs read too meanwhile, so
	it tries up to TRIES times until the rows are at most `most`, and returns the least."""
	read = lambda: sum(int(number) for _, number in sql("SHOW GLOBAL STATUS LIKE 'Handler_read%'"))
	least = None
	for _ in range(TRIES):
		before = read()
		fetch(who, address)
		rows = read() - before - known
		least = rows if least is None else min(least, rows)
		if least <= most:
			break
	return least


def check_rows(who, address, questions, most):
	"""Checks that each query reads at most `most` rows. Queries in a block count together. Returns
	whether the page has a block."""
	selects = [question for question in questions if question.lstrip("( ").startswith("SELECT")][
		:50
	]
	has_block = any(question.startswith("BEGIN NOT ATOMIC") for question in questions)
	counts = rows_read_by(selects) if selects else []
	pairs = list(zip(selects, counts, strict=True))
	if has_block:
		pairs.append(("its block", rows_read_beside(who, address, sum(counts), most)))
	for question, rows in pairs:
		if rows > most:
			raise AssertionError(
				f"{address} for {who} looks at {rows} rows, not {most}:\n{question}"
			)
	return has_block


@test
def this_suite_reads_every_readable_address():
	read = {route for _, route, _ in crowd.each()}
	equal(sorted(set(routes()) - read - IN_A_LOGIN), [])


def most_of(who, route, questions, submissions):
	"""How many queries the page may make that made these."""
	more = MORE_FOR_ANYONE if who == "anyone" else MORE_QUESTIONS
	most = more.get(route, MOST_QUESTIONS)
	if route in ONE_QUESTION:
		most = 1 + any(QUEUE in question for question in questions)
	if route == "/account/export":
		most = PER_PIECE * (submissions // AT_ONCE + 1) + BESIDE_PIECES
	return REHEARSALS.get(route, most) + MORE_FOR_MEMBERS * (who == "member1")


@test
def no_page_makes_more_queries_than_allowed():
	submissions = int(
		sql(
			"SELECT COUNT(*) FROM submissions s JOIN users u ON u.id = s.user_id WHERE "
			"u.name = 'user1'"
		)[0][0]
	)
	for who, route, address in crowd.each():
		most = lambda questions: most_of(who, route, questions, submissions)
		fits = lambda questions: len(questions) <= most(questions)
		questions = asked[who, route, address] = questions_of(who, address, fits)
		if not fits(questions):
			raise AssertionError(
				f"{address} for {who} asks {len(questions)} questions, not {most(questions)}:\n"
				+ "\n".join(questions)
			)
	equal(
		any("records" in question for questions in asked.values() for question in questions), True
	)


@test
def no_api_call_makes_more_queries_than_a_page():
	for who, address in crowd.calls():
		questions = asked[who, "/api/v1", address] = questions_of(who, address)
		if len(questions) > MOST_QUESTIONS:
			raise AssertionError(
				f"{address} for {who} asks {len(questions)} questions, not {MOST_QUESTIONS}:\n"
				+ "\n".join(questions)
			)


@test
def every_query_reads_a_bounded_number_of_rows():
	blocks = 0
	for (who, route, address), questions in asked.items():
		if route not in REHEARSALS:
			blocks += check_rows(who, address, questions, MORE_ROWS.get(route, MOST_ROWS))
	equal(blocks > 12, True)


@test
def a_poll_of_a_waiting_submission_asks_one_short_question():
	questions = asked[
		"user1", "/submission/*/status", "/submission/{waiting}/status".format(**crowd.numbers)
	]
	own = [question for question in questions if QUEUE not in question]
	equal((len(own), rows_read_by(own)[0] < 12), (1, True))


@test
def visitors_share_the_rows_of_a_ranking_until_it_changes():
	address = "/leaderboard/bench?gpu=H200"
	reads_rows = lambda questions: any("r.position BETWEEN" in one for one in questions)

	def next_visitor_reads_rows():
		begin = log.stat().st_size
		fetch("anyone", address)
		return reads_rows(question for _, question in asked_since(begin))

	fetch("anyone", address)
	# The rows are kept for a second, which may end before a visit.
	equal(all(next_visitor_reads_rows() for _ in range(TRIES)), False)
	sql("UPDATE leaderboard_gpus SET turn = turn + 1")
	equal(next_visitor_reads_rows(), True)


@test
def a_whole_ranking_is_sent_piece_by_piece():
	address = "/leaderboard/bench.json?gpu=H200"
	whole = fetch("anyone", f"{address}&page=all")
	equal(
		(whole.json["rows"][:100], "Content-Length" in whole.headers),
		(fetch("anyone", address).json["rows"], False),
	)
	equal(len(whole.json["rows"]) > 1000, True)
	equal(
		[row["user"] for row in whole.json["rows"]],
		[
			row["user"]
			for page in range(1, whole.json["total"] // 100 + 2)
			for row in fetch("anyone", f"{address}&page={page}").json["rows"]
		],
	)
	questions = questions_of("anyone", f"{address}&page=all", fits=bool)
	pieces = [question for question in questions if "BETWEEN" in question]
	equal(len(pieces), whole.json["total"] // 500 + 1)


@test
def the_trend_reads_only_the_viewers_row_of_the_ranking():
	questions = questions_of("user1", "/leaderboard/bench?view=trend")
	own = [question for question in questions if question.startswith("SELECT r.position FROM rank")]
	equal((len(own), rows_read_by(own)), (1, [1]))
	equal([question for question in questions if "r.position BETWEEN" in question], [])


@test
def no_first_visit_transfers_more_than_allowed():
	size = lambda answer: len(answer.bytes)
	zipped = {"Accept-Encoding": "gzip"}
	beside = sum(size(crowd.client("anyone").get(path, **zipped)) for path in BESIDE)
	for who, route, address in crowd.each():
		answer = fetch(who, address, **zipped)
		if (
			answer.headers["Content-Type"].startswith("text/html")
			and size(answer) + beside > MOST_KB * 1000
		):
			raise AssertionError(
				f"{address} for {who} has {size(answer)} bytes, and what belongs to it {beside}"
			)


@test
def a_user_with_20000_submissions_waits_no_longer_than_others():
	sql(
		"SET @one = (SELECT id FROM users WHERE name = 'user1'), @bench = (SELECT id FROM "
		"leaderboards WHERE name = 'bench'); "
		"UPDATE submissions SET user_id = @one WHERE leaderboard_id = @bench AND id % 5 < 2; "
		"ANALYZE TABLE submissions"
	)
	count, first, last = map(
		int,
		sql(
			"SELECT COUNT(*), MIN(s.id), MAX(s.id) FROM submissions s JOIN users u ON u.id "
			"= s.user_id "
			"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE u.name = 'user1' AND "
			"l.name = 'bench'"
		)[0],
	)
	equal(count > 20000, True)
	day = sql(f"SELECT DATE(submitted_at) FROM submissions WHERE id = {first}")[0][0]
	for address in (
		f"/mine?to={day}",
		f"/mine?from={day}",
		f"/mine?from={day}&to={day}&mode=ranked",
		f"/leaderboard/bench/mine?to={day}",
		f"/leaderboard/bench/mine?from={day}&to={day}",
		"/leaderboard/bench/mine",
		"/mine",
		f"/mine?before={last - 50000}",
		"/mine?mode=ranked",
		"/mine?gpu=H200",
		"/mine?leaderboard=bench",
		"/mine?result=passed",
		f"/compare?a={first}",
		f"/compare?b={last}",
		f"/compare?a={first}&b={last}",
		f"/submission/{last}",
		f"/submission/{last}/status",
		"/leaderboard/bench/submit",
		"/submit",
	):
		questions = questions_of("user1", address)
		equal(
			(
				address,
				any(
					question.lstrip("( ").startswith(("SELECT", "BEGIN NOT ATOMIC"))
					for question in questions
				),
			),
			(address, True),
		)
		check_rows("user1", address, questions, 4000)


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
