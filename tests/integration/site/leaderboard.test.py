#!/usr/bin/env python3
"""A leaderboard's page and its forms for other programs: filters, paging, baselines, the speed of
light, JSON, CSV, the feed of records and the badge. Through nginx and a real worker, whose
podium-run is a stand-in."""

import csv
import io
import os
import pathlib
import re
import struct
import sys
import tempfile
import time
import zlib
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from pretend import PretendedRun  # noqa: E402
from small_task import EVAL, isolated, new_source  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="podium-board.")
podium_run = PretendedRun(
	pathlib.Path(scratch.name), ROOT / os.environ.get("B", "build/release") / "podium-run"
)
os.chmod(scratch.name, 0o755)
site = Instance(**podium_run.environment)
sql = site.sql
anyone, ada, dora, cyd = (Client(site.url) for _ in range(4))
PASSWORD = "a long password"
LIGHT = "Speed of light memory, 4.8 TB/s"
KEPT_S = 1.1  # cgi/page/ranking_notes.h caches for a second
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
templates: {Python: template.py}
tests: [{size: 1}]
benchmarks: [{size: 1000000}]
podium: {bytes: 12 * size}
"""
TEMPLATE = "x = 'to start from'\n"
TRITON = "import torch\nimport triton.language as tl\n"
ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"


def ranked(client, score_ns, code=None):
	podium_run.say(ranked={"score_ns": score_ns, "score_err_ns": 1.0})
	answer = client.post(
		"/leaderboard/small/submit",
		[("mode", "ranked"), ("code", code or new_source()), ("gpu", "CPU")],
		form="/leaderboard/small/submit",
	)
	if answer.status != 303:
		raise AssertionError(f"{answer.status}: {answer.words()[:800]}")
	number = int(answer.location.rsplit("/", 1)[1])
	until(lambda: anyone.get(f"/submission/{number}/status").json["state"] == "done")
	return number


def table(client, path, columns="all"):
	"""The rows of the ranking, each as a list of the text in its cells."""
	answer = client.fresh(f"{path}{'&' if '?' in path else '?'}columns={columns}")
	equal((path, answer.status), (path, 200))
	page = Page()
	page.feed(answer.text)
	equal(page.faults, [])
	body = re.search(
		r'<table class="table ranking[^"]*">.*?<tbody>(.*?)</tbody>', answer.text, re.S
	)
	rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body[1], re.S) if body else []
	cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in rows]
	return [
		[" ".join(re.sub(r"<[^>]*>", " ", cell).replace("&lt;", "<").split()) for cell in row]
		for row in cells
	]


def names(client, path):
	return [row[1] for row in table(client, path) if len(row) > 1]


def a_large_ranking():
	"""Ranks 250 users on H200, one microsecond apart, from 11 µs on. Every tenth uses Triton. The
	slower half submitted long ago."""
	sql("""INSERT INTO users (name, password_hash) SELECT CONCAT('user', seq), '!'
		FROM seq_1_to_250;
		SET @board = (SELECT id FROM leaderboards WHERE name = 'small'),
			@version = (SELECT task_version_id FROM leaderboards WHERE name = 'small');
		INSERT INTO blobs (sha256, size, content)
		  SELECT UNHEX(SHA2(name, 256)), LENGTH(name), name FROM users WHERE name LIKE 'user%';
		INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) VALUES (@board, 'H200', 9);
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode,
			dialect, submitted_at)
		  SELECT @board, @version, id, 's.py', UNHEX(SHA2(name, 256)), 'ranked',
		    IF(SUBSTR(name, 5) % 10 = 0, 'triton', 'pytorch'),
		    UTC_TIMESTAMP() - INTERVAL IF(SUBSTR(name, 5) > 125, 100, 2) DAY FROM users
		        WHERE name LIKE 'user%';
		INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, score_err_ns,
			engine, finished_at)
		  SELECT s.id, u.id, 'H200', 'done', 'passed', (SUBSTR(u.name, 5) + 10) * 1000, 1,
		      'isolated', s.submitted_at
		  FROM submissions s JOIN users u ON u.id = s.user_id WHERE u.name LIKE 'user%';""")
	site.manage("ranking", "rebuild")


# ---- the table ----


@test
def a_row_tells_rank_time_gaps_language_and_attempts():
	folder = site.var / "tasks" / "small"
	folder.mkdir(parents=True)
	(folder / "task.yml").write_text(isolated(TASK))
	(folder / "eval.py").write_text(EVAL)
	(folder / "template.py").write_text(TEMPLATE)
	site.manage("task", "load", "--unchecked", str(folder))
	for client, name in ((ada, "ada"), (dora, "dora"), (cyd, "cyd")):
		client.register(name)
	equal(table(anyone, "/leaderboard/small"), [])
	ranked(ada, 20000.0)
	ranked(ada, 30000.0)
	ranked(dora, 10000.0, TRITON)
	ranked(ada, 15000.0)
	ranked(cyd, 30000.0)
	rows = table(anyone, "/leaderboard/small?gpu=CPU")
	equal(
		[row[:7] + row[8:] for row in rows],
		[
			["1", "dora", "10.0000 ± 0.0020 µs", "fastest", "", "Triton", "isolated", "1"],
			["2", "ada", "15.0000 ± 0.0020 µs", "+50 %", "+50 %", "Python", "isolated", "3"],
			["3", "cyd", "30.0000 ± 0.0020 µs", "+200 %", "+100 %", "Python", "isolated", "1"],
		],
	)


@test
def an_unchanged_template_appears_in_the_table_as_a_baseline():
	ranked(cyd, 25000.0, TEMPLATE)
	time.sleep(KEPT_S)
	rows = table(anyone, "/leaderboard/small?gpu=CPU")
	equal([row[1] for row in rows], ["dora", "ada", "cyd", "Python template"])
	ranked(cyd, 20000.0)
	time.sleep(KEPT_S)
	rows = table(anyone, "/leaderboard/small?gpu=CPU")
	equal(
		[row[1:4] for row in rows[2:]],
		[
			["cyd", "20.0000 ± 0.0020 µs", "+100 %"],
			["Python template", "25.0000 ± 0.0020 µs", "+150 %"],
		],
	)
	# Equal source has the mean of its times.
	ranked(dora, 23000.0, TEMPLATE)
	time.sleep(KEPT_S)
	rows = table(anyone, "/leaderboard/small?gpu=CPU")
	equal([row[1] for row in rows], ["dora", "ada", "cyd", "Python template"])
	contains(rows[3][2], "24.0")
	sql("UPDATE baselines SET score_ns = 5000")
	time.sleep(KEPT_S)
	equal(
		table(anyone, "/leaderboard/small?gpu=CPU")[0][1:4:2], ["Python template", "2.00× faster"]
	)
	site.manage("ranking", "rebuild")
	time.sleep(KEPT_S)


@test
def equal_source_has_one_time_and_its_users_tie():
	code = "x = 'the same file'\n"
	first = ranked(ada, 7000.0, code)
	ranked(ada, 7004.0, code)
	ranked(cyd, 7008.0, code)
	time.sleep(KEPT_S)
	rows = table(anyone, "/leaderboard/small?gpu=CPU")
	equal(
		[row[:3] for row in rows[:2]],
		[["=1", name, "7.0040 ± 0.0045 µs mean of 3 results"] for name in ("ada", "cyd")],
	)
	listed = anyone.fresh("/leaderboard/small.json?gpu=CPU").json["rows"]
	equal([(row["submission"] == first, row["results"]) for row in listed[:1]], [(True, 3)])
	contains(
		anyone.fresh(f"/submission/{first}").words(),
		"This file has 3 ranked results on CPU. The ranking counts their mean, 7.0040 ± 0.0045 µs.",
	)
	sql(
		"DELETE FROM submissions WHERE sha256 = (SELECT sha256 FROM (SELECT sha256 FROM "
		f"submissions WHERE id = {first}) one)"
	)
	site.manage("ranking", "rebuild")


@test
def the_speed_of_light_comes_first_and_each_row_has_its_share_of_it():
	a_large_ranking()
	rows = table(anyone, "/leaderboard/small?gpu=H200")
	equal(rows[0], ["☼", LIGHT, "2.500 µs", "", "", "100 %", ""])
	equal(rows[1][1:6], ["user1", "11.0000 ± 0.0020 µs", "fastest", "", "22.7 %"])
	lacks(" ".join(names(anyone, "/leaderboard/small?gpu=H200&page=2")), "Speed of light")
	lacks(anyone.fresh("/leaderboard/small?gpu=CPU").words(), "Speed of light")


@test
def a_page_of_100_rows_is_small_and_has_five_columns():
	page = anyone.fresh("/leaderboard/small?gpu=H200")
	equal(len(page.text.encode()) <= 45_000, True)
	rows = table(anyone, "/leaderboard/small?gpu=H200", "usual")
	equal(rows[0], ["☼", LIGHT, "2.500 µs", "", ""])
	equal(rows[2], ["2", "user2", "12.0000 ± 0.0020 µs", "+9.1 %", "2 days ago"])
	contains(page.text, 'href="/leaderboard/small?gpu=H200&amp;columns=all"')
	more = anyone.fresh("/leaderboard/small?gpu=H200&columns=all&user=ser")
	contains(more.text, '<input type="hidden" name="columns" value="all">')
	contains(more.text, "small?gpu=H200&amp;user=ser&amp;columns=all&amp;page=2")
	contains(more.text, 'small.csv?gpu=H200&amp;user=ser&amp;page=all"')
	contains(more.text, 'href="/leaderboard/small?gpu=H200&amp;user=ser">Fewer columns')


@test
def the_podium_shows_the_first_three_on_the_first_page_only():
	def podium(query):
		text = anyone.fresh(f"/leaderboard/small?gpu=H200{query}").text
		found = re.search(r'<ol class="podium".*?</ol>', text, re.S)
		return found and " ".join(re.sub("<[^>]*>", " ", found[0]).split())

	equal(podium(""), "1 user1 11.0000 µs 2 user2 12.0000 µs 3 user3 13.0000 µs")
	equal((podium("&page=2"), podium("&user=user1")), (None, None))


@test
def the_newest_submissions_are_listed_page_by_page():
	def listed(client, query=""):
		page = client.fresh(f"/leaderboard/small?view=submissions{query}")
		return re.findall(r'<th scope="row(?:group)?"[^>]*><a href="/submission/(\d+)"', page.text)

	ids = [row[0] for row in sql("SELECT id FROM submissions ORDER BY id DESC LIMIT 100")]
	equal(listed(anyone), ids[:50])
	equal(listed(anyone, f"&before={ids[49]}"), ids[50:])
	number = ids[0]
	sql(f"UPDATE submissions SET hidden_at = UTC_TIMESTAMP() WHERE id = {number}")
	equal(listed(anyone)[0], ids[1])
	sql(f"UPDATE submissions SET hidden_at = NULL, dry_run = TRUE WHERE id = {number}")
	equal(listed(anyone)[0], ids[1])
	sql(f"UPDATE submissions SET dry_run = FALSE WHERE id = {number}")
	newest = lambda client: client.fresh("/leaderboard/small?view=submissions").words()
	contains(newest(anyone), f"{number} 2 days ago user99 H200 109.0000 µs passed")
	sql(f"UPDATE jobs SET held_at = UTC_TIMESTAMP() WHERE submission_id = {number}")
	contains(newest(anyone), f"{number} 2 days ago user99 H200 passed")
	sql(f"UPDATE jobs SET held_at = NULL WHERE submission_id = {number}")


@test
def the_first_row_of_a_later_page_has_its_gap_to_the_rank_above():
	rows = table(anyone, "/leaderboard/small?gpu=H200&page=2")
	equal((len(rows), rows[0][:2], rows[0][3:5]), (100, ["101", "user101"], ["+909 %", "+0.9 %"]))
	equal(anyone.fresh("/leaderboard/small?gpu=H200&page=4").status, 404)


@test
def a_rank_that_spans_two_pages_has_the_same_gaps_on_both():
	times = "SELECT id FROM users WHERE name IN ('user101', 'user102')"
	sql(f"UPDATE jobs SET score_ns = 110000 WHERE gpu = 'H200' AND user_id IN ({times})")
	site.manage("ranking", "rebuild")
	try:
		last = table(anyone, "/leaderboard/small?gpu=H200&page=1")[-1]
		first, second, third = table(anyone, "/leaderboard/small?gpu=H200&page=2")[:3]
		(found,) = table(anyone, "/leaderboard/small?gpu=H200&user=user102")[1:]
		equal([row[0] for row in (last, first, second, found)], ["=100"] * 4)
		equal([row[3:5] for row in (last, first, second, found)], [["+900 %", "+0.9 %"]] * 4)
		# user103 takes 113 µs, and the rank above 110 µs.
		equal([third[0], *third[3:5]], ["103", "+927 %", "+2.7 %"])
		rows = anyone.fresh("/leaderboard/small.json?gpu=H200&page=all").json["rows"]
		equal([row["tie"] for row in rows[98:103]], [False, True, True, True, False])
	finally:
		for n in (101, 102):
			sql(
				f"UPDATE jobs SET score_ns = {10000 + 1000 * n} WHERE gpu = 'H200' AND user_id = "
				f"(SELECT id FROM users WHERE name = 'user{n}')"
			)
		site.manage("ranking", "rebuild")


# ---- the viewer's own row ----


@test
def other_pages_show_the_viewers_own_row_with_a_link_to_it():
	sql(
		"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id JOIN users u ON u.id = "
		"s.user_id "
		"SET s.user_id = (SELECT id FROM users WHERE name = 'ada') WHERE u.name = 'user150'"
	)
	site.manage("ranking", "rebuild")
	first, second, third = (
		table(ada, f"/leaderboard/small?gpu=H200&page={page}") for page in (1, 2, 3)
	)
	equal(
		(first[-2], first[-1][:5]),
		(["You are on page 2"], ["150", "ada (you)", "160.0000 ± 0.0020 µs", "15×", "+0.6 %"]),
	)
	equal([row[0] for row in second if "(you)" in row[1]], ["150"])
	equal((third[0][1], third[1]), ("ada (you)", ["You are on page 2"]))
	contains(
		ada.fresh("/leaderboard/small?gpu=H200").text,
		'href="/leaderboard/small?gpu=H200&amp;page=2"',
	)
	for page in (1, 2):
		contains(
			ada.fresh(f"/leaderboard/small?gpu=H200&page={page}").words(),
			"Your rank 150 of 250 Your time 160.0000 ± 0.0020 µs Gap 15×",
		)
	for words in ("(you)", "Your rank"):
		lacks(anyone.fresh("/leaderboard/small?gpu=H200").words(), words)


@test
def the_own_row_stays_even_if_a_filter_excludes_it():
	rows = table(ada, "/leaderboard/small?gpu=H200&user=user24&page=1")
	equal(
		(rows[-2], rows[-1][:2]), (["You are on page 2 of the whole ranking"], ["150", "ada (you)"])
	)
	equal(names(ada, "/leaderboard/small?gpu=H200&mine=1"), [LIGHT, "ada (you)"])


# ---- filters ----


@test
def filters_keep_the_ranks_and_gaps_of_the_whole_ranking():
	rows = table(anyone, "/leaderboard/small?gpu=H200&user=SER24")[1:]
	equal(
		[row[0] for row in rows],
		["24", "240", "241", "242", "243", "244", "245", "246", "247", "248", "249"],
	)
	equal(rows[0][1:5], ["user24", "34.0000 ± 0.0020 µs", "+209 %", "+3.0 %"])
	equal(
		[row[1] for row in table(anyone, "/leaderboard/small?gpu=H200&language=triton")[1:]],
		["ada" if n == 150 else f"user{n}" for n in range(10, 251, 10)],
	)
	equal(len(table(anyone, "/leaderboard/small?gpu=H200&period=week&page=2")), 25)
	equal(
		names(anyone, "/leaderboard/small?gpu=H200&period=week&language=triton&user=user2"),
		[LIGHT, "user20"],
	)
	words = anyone.fresh("/leaderboard/small?gpu=H200&period=week").words()
	contains(words, "Page 1 of 2: 1 to 100 of 125")


@test
def the_pages_and_exports_of_a_filter_keep_it():
	text = anyone.fresh("/leaderboard/small?gpu=H200&period=week&user=ser").text
	for path in (
		"small?gpu=H200&amp;user=ser&amp;period=week&amp;page=2",
		"small.json?gpu=H200&amp;user=ser&amp;period=week&amp;page=all",
		"small.csv?gpu=H200&amp;user=ser&amp;period=week&amp;page=all",
		"small?gpu=CPU&amp;user=ser&amp;period=week",
	):
		contains(text, f'href="/leaderboard/{path}"')


@test
def a_filter_without_matches_says_so_and_an_invalid_one_is_refused():
	words = anyone.fresh("/leaderboard/small?gpu=H200&user=%C3%BCber%25").words()
	contains(words, "None of the 250 users ranked on H200 fits this filter.")
	text = anyone.fresh(
		"/leaderboard/small?gpu=H200&user=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
	).text
	lacks(text, "<script>alert")
	for query in ("language=cobol", "language=cuda-cpp", "period=aeon", "page=2&user=user24"):
		equal(
			(query, anyone.fresh("/leaderboard/small?gpu=H200&" + query).status),
			(query, 404 if "page" in query else 400),
		)
	contains(
		anyone.fresh("/leaderboard/small?period=aeon").words(),
		'There is no period "aeon"; choose day, week or month.',
	)


# ---- for programs ----

ALWAYS = ("rank", "user", "score_ns", "engine", "score_err_ns", "language", "attempts")


@test
def json_has_the_stable_members_and_takes_the_same_filters():
	whole = anyone.fresh("/leaderboard/small.json?gpu=CPU").json
	equal(
		(whole["leaderboard"], whole["gpu"], whole["version"], len(whole["rows"])),
		("small", "CPU", 1, 3),
	)
	first = whole["rows"][0]
	equal(
		{name: first[name] for name in (*ALWAYS, "interval_95_low_ns", "interval_95_high_ns")},
		{
			"rank": 1,
			"user": "dora",
			"score_ns": 10000.0,
			"engine": "isolated",
			"score_err_ns": 1.0,
			"language": "triton",
			"attempts": 2,
			"interval_95_low_ns": 9998.04,
			"interval_95_high_ns": 10001.96,
		},
	)
	equal(
		sorted(set(first) - set(ALWAYS)),
		["floor_ns", "interval_95_high_ns", "interval_95_low_ns", "results", "speed_up"]
		+ ["submission", "submitted_at", "tie"],
	)
	equal(
		[
			row["user"]
			for row in anyone.fresh(
				"/leaderboard/small.json?gpu=H200&user=user24&language=triton"
			).json["rows"]
		],
		["user240"],
	)
	equal(
		len(anyone.fresh("/leaderboard/small.json?gpu=H200&period=week&page=all").json["rows"]), 125
	)
	equal(anyone.fresh("/leaderboard/small.json?gpu=H200&period=x").status, 400)
	equal(
		[row["user"] for row in ada.fresh("/leaderboard/small.json?gpu=H200&mine=1").json["rows"]],
		["ada"],
	)


def pages_of(address):
	"""The pages of a JSON export, found by following `next`."""
	pages = []
	while address:
		pages.append(anyone.fresh(address).json)
		address = pages[-1]["next"]
	return pages


def csv_rows(answer):
	return list(csv.DictReader(io.StringIO(answer.text)))


@test
def exports_come_in_pages_of_100_rows_and_whole_with_page_all():
	for query in ("gpu=H200", "gpu=H200&period=week", "gpu=H200&user=ser"):
		pages = pages_of(f"/leaderboard/small.json?{query}")
		whole = anyone.fresh(f"/leaderboard/small.json?{query}&page=all").json
		equal({len(page["rows"]) for page in pages[:-1]}, {100})
		equal([row for page in pages for row in page["rows"]], whole["rows"])
		equal({page["total"] for page in pages}, {len(whole["rows"])})
		count = len(pages)
		equal([page["page"] for page in pages], list(range(1, count + 1)))
		equal({page["pages"] for page in pages}, {count})
		equal([whole[key] for key in ("page", "pages", "next")], [None] * 3)
		files = [anyone.fresh(f"/leaderboard/small.csv?{query}")]
		while link := files[-1].headers["Link"]:
			files.append(anyone.fresh(re.fullmatch(r'<(.*)>; rel="next"', link)[1]))
		equal(
			[row for file in files for row in csv_rows(file)],
			csv_rows(anyone.fresh(f"/leaderboard/small.csv?{query}&page=all")),
		)
		equal(len(files), count)
		equal(anyone.fresh(f"/leaderboard/small.json?{query}&page={count + 1}").status, 404)


@test
def csv_has_the_same_data():
	for query in ("gpu=CPU", "gpu=H200&user=user24"):
		rows = list(
			csv.DictReader(io.StringIO(anyone.fresh(f"/leaderboard/small.csv?{query}").text))
		)
		wanted = anyone.fresh(f"/leaderboard/small.json?{query}").json["rows"]
		equal(
			[
				(
					int(row["rank"]),
					row["user"],
					float(row["score_ns"]),
					row["language"],
					int(row["attempts"]),
					float(row["score_err_ns"]),
					float(row["interval_95_low_ns"]),
					float(row["interval_95_high_ns"]),
				)
				for row in rows
			],
			[
				(
					row["rank"],
					row["user"],
					row["score_ns"],
					row["language"],
					row["attempts"],
					row["score_err_ns"],
					row["interval_95_low_ns"],
					row["interval_95_high_ns"],
				)
				for row in wanted
			],
		)
	contains(
		anyone.fresh("/leaderboard/small.csv?gpu=H200&user=a").headers["Content-Disposition"],
		"small-H200-filtered.csv",
	)


@test
def the_feed_lists_each_record_newest_first():
	answer = anyone.fresh("/leaderboard/small.atom?gpu=CPU")
	equal(
		(answer.status, answer.headers["Content-Type"]),
		(200, "application/atom+xml; charset=utf-8"),
	)
	feed = xml.etree.ElementTree.fromstring(answer.text)
	equal(
		[entry.find(ATOM + "title").text for entry in feed.iter(ATOM + "entry")],
		[
			"dora: 10.0000 µs on CPU, 2.00× faster than the record before",
			"ada: 20.0000 µs on CPU, the first result",
		],
	)
	equal(feed.find(ATOM + "title").text, "Records of small on CPU")
	for required in ("id", "updated"):
		equal(
			[bool(one.find(ATOM + required).text) for one in (feed, *feed.iter(ATOM + "entry"))],
			[True] * 3,
		)
	links = [
		link.get("href") for link in feed.iter(ATOM + "link") if link.get("rel") == "alternate"
	]
	equal([anyone.get(link.removeprefix(site.url)).status for link in links], [200] * 3)
	equal(anyone.fresh("/leaderboard/small.atom?gpu=none").status, 404)
	equal(anyone.fresh("/leaderboard/none.atom").status, 404)
	contains(
		anyone.fresh("/leaderboard/small").text,
		'type="application/atom+xml" title="Records of small" href="/leaderboard/small.atom"',
	)


@test
def the_badge_is_a_picture_of_the_record_or_of_a_users_place():
	def title(query):
		answer = anyone.fresh(f"/leaderboard/small/badge.svg?{query}")
		equal(
			(query, answer.status, answer.headers["Content-Type"]),
			(query, 200, "image/svg+xml; charset=utf-8"),
		)
		lacks(answer.text, "<script")
		return xml.etree.ElementTree.fromstring(answer.text).find(SVG + "title").text

	equal(title("gpu=CPU"), "small · CPU: 10.0000 µs by dora")
	equal(title("gpu=CPU&user=ADA"), "small · CPU: ada: rank 2, 15.0000 µs")
	equal(title("gpu=CPU&user=%3Cscript%3E"), 'small · CPU: "<script>" is not ranked')
	equal(title("gpu=CPU&user=%C3%BC"), 'small · CPU: "ü" is not ranked')
	equal(anyone.fresh("/leaderboard/small/badge.svg?gpu=none").status, 404)


def unfiltered(kind, row, above):
	"""Decodes a row of a PNG with 3 bytes a pixel, which was filtered with filter `kind` (W3C's
	"Portable Network Graphics", 9.2)."""
	row = bytearray(row)
	for i in range(len(row)) if kind else ():
		left, up, corner = (row[i - 3], above[i], above[i - 3]) if i > 2 else (0, above[i], 0)
		if kind == 1:
			guess = left
		elif kind == 2:
			guess = up
		elif kind == 3:
			guess = (left + up) // 2
		else:
			guess = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
		row[i] = (row[i] + guess) & 255
	return row


def pixels(png):
	"""The rows of a picture, one byte a pixel, 0 for the background. Checks the checksums."""
	equal(png[:8], b"\x89PNG\r\n\x1a\n")
	chunks, at = {}, 8
	while at < len(png):
		length, name = struct.unpack(">I4s", png[at : at + 8])
		equal(
			struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0],
			zlib.crc32(png[at + 4 : at + 8 + length]),
		)
		chunks[name] = chunks.get(name, b"") + png[at + 8 : at + 8 + length]
		at += 12 + length
	equal(
		(list(chunks)[0], list(chunks)[-1], chunks[b"IHDR"]),
		(b"IHDR", b"IEND", struct.pack(">IIBBBBB", 1200, 630, 8, 2, 0, 0, 0)),
	)
	raw = zlib.decompress(chunks[b"IDAT"])
	equal(len(raw), 630 * 3601)
	rows, above = [], bytes(3600)
	for at in range(0, len(raw), 3601):
		above = unfiltered(raw[at], raw[at + 1 : at + 3601], above)
		rows.append(bytes(above[i : i + 3] != b"\x10\x13\x16" for i in range(0, 3600, 3)))
	return rows


@test
def the_badge_and_the_picture_show_a_tie():
	def words(user=""):
		return re.search(
			r"<title>.*H200: (.*)</title>",
			anyone.fresh(f"/leaderboard/small/badge.svg?gpu=H200{user}").text,
		)[1]

	def beside_the_ranks():
		rows = pixels(anyone.fresh("/leaderboard/small/share.png?gpu=H200").bytes)
		return [
			any(any(row[116:158]) for row in rows[360 + 76 * i : 405 + 76 * i]) for i in range(3)
		]

	equal(
		[words(), words("&user=user7"), beside_the_ranks()],
		["11.0000 µs by user1", "user7: rank 7, 17.0000 µs", [False] * 3],
	)
	sql(
		"UPDATE ranking SET tied = position IN (1, 2, 3, 4, 6, 7), place = CASE position "
		"WHEN 2 THEN 1 WHEN 4 THEN 3 WHEN 7 THEN 6 ELSE position END WHERE gpu = 'H200'"
	)
	equal(
		[words(), words("&user=user6"), words("&user=user7"), words("&user=user8")],
		[
			"11.0000 µs by user1",
			"user6: rank =6, 16.0000 µs",
			"user7: rank =6, 17.0000 µs",
			"user8: rank 8, 18.0000 µs",
		],
	)
	equal(beside_the_ranks(), [True] * 3)
	sql("UPDATE ranking SET place = position, tied = FALSE WHERE gpu = 'H200'")


@test
def link_previews_show_a_picture_of_the_first_three():
	text = anyone.fresh("/leaderboard/small?gpu=CPU").text
	contains(
		text, f'<meta property="og:image" content="{site.url}/leaderboard/small/share.png?gpu=CPU">'
	)
	answer = anyone.fresh("/leaderboard/small/share.png?gpu=CPU")
	equal((answer.status, answer.headers["Content-Type"]), (200, "image/png"))
	rows = pixels(answer.bytes)
	drawn = [any(row) for row in rows]
	equal([any(drawn[begin : begin + 40]) for begin in (70, 180, 365, 441, 517)], [True] * 5)
	equal(
		(any(drawn[:60]), any(drawn[580:]), any(row[-70:] != bytes(70) for row in rows)),
		(False, False, False),
	)
	lacks([rows], pixels(anyone.fresh("/leaderboard/small/share.png?gpu=H200").bytes))
	equal(anyone.fresh("/leaderboard/none/share.png").status, 404)


# ---- data derived from the ranking ----


@test
def a_rebuild_gives_the_same_attempts_records_and_baselines():
	kept = (
		"SELECT gpu, user_id, dialect, attempts FROM ranking ORDER BY gpu, position",
		"SELECT * FROM records ORDER BY line, job_id",
		"SELECT * FROM baselines ORDER BY gpu, path",
	)
	before = [sql(query) for query in kept]
	sql(
		"UPDATE ranking SET attempts = 9; DELETE FROM records WHERE score_ns < 1600; UPDATE "
		"baselines SET score_ns = 1"
	)
	site.manage("ranking", "rebuild")
	equal([sql(query) for query in kept], before)
	equal([len(rows) > 0 for rows in before], [True] * 3)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
