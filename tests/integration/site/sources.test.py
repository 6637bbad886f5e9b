#!/usr/bin/env python3
"""Whose source opens when, and under which license: each policy in each state of a leaderboard, for
each kind of viewer, through each way to a source."""

import gzip
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from plans import kernel, plan_sql  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import case, done, make_board, source_of, submit_source  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql, value = site.sql, site.value
ada, bob, eve, carl, admin = (Client(site.url) for _ in range(5))
VIEWERS = {"nobody": Client(site.url), "eve": eve, "bob": bob, "ada": ada, "admin": admin}
programs, made = {}, {}
WORD = "a_word_of_the_source"
OWNERS = ["ada", "admin"]  # of ada's submission
RANKED = ["bob", *OWNERS]
ALL = list(VIEWERS)
PAST_THE_CACHE = {"Cookie": "of=nobody"}

# The state of a leaderboard, as an assignment.
OPEN = "deadline = NULL, accepting = 1, practice = 0, archived_at = NULL, frozen_at = NULL"
FROZEN = ", frozen_at = UTC_TIMESTAMP(3) - INTERVAL 2 HOUR"
STATES = {
	"open without a deadline": OPEN,
	"before the deadline": OPEN + ", deadline = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR",
	"after the deadline": OPEN + ", deadline = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR",
	"in practice": OPEN + ", deadline = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, practice = 1",
	"closed without a deadline": OPEN + ", accepting = 0",
	"archived without a deadline": OPEN + ", archived_at = UTC_TIMESTAMP(3)",
	"frozen after the deadline": OPEN + ", deadline = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR" + FROZEN,
	"frozen and closed": OPEN + ", accepting = 0" + FROZEN,
	"frozen and archived": OPEN + ", archived_at = UTC_TIMESTAMP(3)" + FROZEN,
	"closed before a freeze": OPEN
	+ ", accepting = 0, frozen_at = UTC_TIMESTAMP(3) + INTERVAL 1 DAY",
}
AFTER = ["after the deadline", "in practice"]
CLOSED = [
	"after the deadline",
	"closed without a deadline",
	"archived without a deadline",
	"closed before a freeze",
]


def expected(policy, state):
	if policy == "always" or (policy == "deadline" and state in AFTER):
		return ALL
	if policy == "closing" and state in CLOSED:
		return ALL
	return RANKED if policy == "ranked" else OWNERS


def readers(number):
	"""The viewers who get the source, if all ways to it agree."""
	ways = {
		"page": lambda who, client: client.fresh(f"/submission/{number}").text,
		"source": lambda who, client: client.fresh(f"/submission/{number}/source").text,
		"JSON": lambda who, client: programs[who]
		.ask("GET", f"/api/v1/submissions/{number}/source", headers=PAST_THE_CACHE)
		.text,
		"comparison": lambda who, client: client.fresh(f"/compare?a={number}&b={number}").text,
	}
	found = {}
	for way, read in ways.items():
		word = "byte for byte" if way == "comparison" else WORD
		found[way] = [who for who, client in VIEWERS.items() if word in read(who, client)]
	equal({way: who for way, who in found.items() if who != found["page"]}, {})
	return found["page"]


@test
def the_fixtures_are_created():
	for name, client in (("ada", ada), ("bob", bob), ("eve", eve), ("carl", carl)):
		client.register(name)
	admin.register("root-of-all")
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; "
		"UPDATE users SET role = 'creator' WHERE name = 'carl'"
	)
	make_board(carl, "small")
	make_board(carl, "other")
	made["ada"] = submit_source(ada, source_of(case(3000.0)) + f"{WORD} = 1\n")
	made["bob"] = submit_source(bob, source_of(case(4000.0)))
	made["eve"] = submit_source(eve, source_of(case(5000.0)), board="other")
	for who, client in VIEWERS.items():
		programs[who] = Program(
			site.url, make_token(client, "t", "read", "submit") if who != "nobody" else None
		)


@test
def each_policy_opens_sources_when_it_says():
	for policy in ("never", "deadline", "closing", "ranked", "always"):
		for state, assignment in STATES.items():
			sql(
				f"UPDATE leaderboards SET {assignment}, sources_open = '{policy}' "
				"WHERE name = 'small'"
			)
			equal((policy, state, readers(made["ada"])), (policy, state, expected(policy, state)))
	sql(f"UPDATE leaderboards SET {OPEN}, sources_open = 'deadline'")


@test
def a_withdrawn_result_opens_nothing_and_a_hidden_submission_is_not_opened():
	sql("UPDATE leaderboards SET sources_open = 'ranked'")
	done(bob.post(f"/submission/{made['bob']}/withdraw", [("number", made["bob"])]))
	equal(readers(made["ada"]), OWNERS)
	done(bob.post(f"/submission/{made['bob']}/restore"))
	equal(readers(made["ada"]), RANKED)
	sql("UPDATE leaderboards SET sources_open = 'always'")
	sql(f"UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3) WHERE id = {made['ada']}")
	equal(readers(made["ada"]), OWNERS)
	sql(f"UPDATE submissions SET hidden_at = NULL, dry_run = 1 WHERE id = {made['ada']}")
	equal(bob.fresh(f"/submission/{made['ada']}/source").status, 404)
	equal(carl.fresh(f"/submission/{made['ada']}/source").status, 200)
	sql("UPDATE submissions SET dry_run = 0; UPDATE leaderboards SET sources_open = 'deadline'")


@test
def a_profile_and_a_plan_of_a_withheld_time_are_not_for_strangers():
	content = gzip.compress(b"all the times").hex()
	number = made["ada"]
	sql(
		"INSERT INTO artifacts (stage_id, name, size) SELECT MIN(t.id), 'profile-1.ncu-rep', 13 "
		f"FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = {number}; "
		"INSERT INTO artifact_parts (artifact_id, part, content) SELECT MAX(id), 0, "
		f"X'{content}' FROM artifacts"
	)
	artifact = value("SELECT MAX(id) FROM artifacts")
	sql(
		"SET @stage = (SELECT MIN(t.id) FROM stages t JOIN jobs j ON j.id = t.job_id WHERE "
		f"j.submission_id = {number}); {plan_sql('@stage', [kernel('planned')])}"
	)
	plan = value("SELECT MAX(id) FROM plans")
	for state, strangers in ((OPEN, True), (OPEN + FROZEN, False)):
		sql(f"UPDATE leaderboards SET {state}, sources_open = 'always' WHERE name = 'small'")
		for who, client in VIEWERS.items():
			may = strangers or who in OWNERS
			for file in (f"artifact/{artifact}", f"plan/{plan}"):
				answer = client.fresh(f"/submission/{number}/{file}")
				equal((who, state, file, answer.status), (who, state, file, 200 if may else 404))
			shown = programs[who].ask(
				"GET", f"/api/v1/submissions/{number}", headers=PAST_THE_CACHE
			)
			equal((who, state, "profile-1.ncu-rep" in shown.text), (who, state, may))
	sql(f"UPDATE leaderboards SET {OPEN}, sources_open = 'deadline'")
	sql(f"DELETE FROM artifacts WHERE id = {artifact}; DELETE FROM plans WHERE id = {plan}")


@test
def rows_of_the_previous_version_keep_their_meaning():
	for flag, who in ((1, ALL), (0, OWNERS)):
		sql(
			"UPDATE leaderboards SET sources_open = NULL, deadline = '2020-01-01', "
			f"sources_public_after_deadline = {flag}"
		)
		equal(readers(made["ada"]), who)
	sql(f"UPDATE leaderboards SET {OPEN}, sources_open = 'deadline'")


@test
def pages_and_errors_say_when_a_source_opens():
	no_more = "until the leaderboard takes no more submissions"
	lifted = " and the freeze of the ranking is lifted."
	for policy, frozen, words in (
		("never", "NULL", "Only the author sees the source."),
		("deadline", "NULL", "until the deadline has passed."),
		("closing", "NULL", no_more + "."),
		("ranked", "NULL", "and users who have a ranked result on the leaderboard."),
		("ranked", "'2020-01-01'", "and users who have a ranked result on the leaderboard."),
		("deadline", "'2020-01-01'", "until the deadline has passed" + lifted),
		("closing", "'2099-01-01'", no_more + lifted),
	):
		sql(f"UPDATE leaderboards SET sources_open = '{policy}', frozen_at = {frozen}")
		contains(whole(eve.fresh(f"/submission/{made['ada']}")).words(), words)
		contains(eve.fresh(f"/submission/{made['ada']}/source").words(), words.split("source")[-1])
	sql("UPDATE leaderboards SET sources_open = 'ranked', frozen_at = NULL")


def edit(**fields):
	return carl.post(
		"/admin/leaderboard/small/edit", [("gpu", "H200"), ("accepting", "1"), *fields.items()]
	)


@test
def the_creator_chooses_policy_and_license():
	for fields, field in (
		({"sources": "sometimes"}, "sources"),
		({"sources": "always", "license": "x" * 201}, "license"),
		({"sources": "always", "license": "MIT\nor not"}, "license"),
	):
		page = whole(edit(**fields))
		equal((fields, page.status), (fields, 422))
		contains(page.text, f'id="{field}-error"')
	done(edit(sources="always", license="<MIT>"))
	detail = value("SELECT detail FROM audit_log ORDER BY id DESC LIMIT 1")
	contains(detail, "sources open: always, was ranked")
	contains(detail, "license: <MIT>")
	contains(whole(carl.fresh("/admin/leaderboard/small/edit")).text, 'value="&lt;MIT&gt;"')
	done(edit())  # a form without these fields changes neither
	equal(
		sql("SELECT sources_open, source_license FROM leaderboards WHERE name = 'small'"),
		[["always", "<MIT>"]],
	)
	shown = programs["eve"].read("/api/v1/leaderboards/small")
	equal((shown["sources"], shown["license"], shown["sources_public"]), ("always", "<MIT>", True))


@test
def submitting_asks_for_the_license_and_keeps_it():
	form = [("mode", "test"), ("gpu", "H200"), ("code", "a = 1\n")]
	page = whole(ada.fresh("/leaderboard/small/submit"))
	contains(page.words(), "I license my source under <MIT>")
	for path, more in (
		("/leaderboard/small/submit", []),
		("/leaderboard/small/submit", [("license", "GPL")]),
		("/submit", [("leaderboard", "small")]),
	):
		page = whole(ada.post(path, [*form, *more]))
		equal((path, page.status), (path, 422))
		contains(page.words(), "Accept it to submit")
		contains(page.text, 'id="license-error"')
	done(ada.post("/leaderboard/small/submit", [*form, ("license", "<MIT>")]))
	done(ada.post("/submit", [*form, ("leaderboard", "small"), ("license", "any of them")]))
	asked = programs["ada"].hand_in("small")  # a program accepts by submitting
	equal((asked.status, asked.json["license"]), (201, "<MIT>"))
	number = asked.json["id"]
	sql("UPDATE leaderboards SET source_license = 'Apache-2.0'")
	contains(whole(eve.fresh(f"/submission/{number}")).words(), "License: <MIT>")
	lacks(whole(eve.fresh(f"/submission/{made['ada']}")).words(), "License:")
	sql("UPDATE leaderboards SET sources_open = 'never'")
	lacks(whole(ada.fresh("/leaderboard/small/submit")).words(), "I license")
	done(ada.post("/leaderboard/small/submit", [*form[:-1], ("code", "a = 2\n")]))


@test
def programs_choose_policy_and_license():
	creator = Program(site.url, make_token(carl, "admin", "read", "admin"))
	path = "/api/v1/admin/leaderboards/small"
	changed = creator.ask("PATCH", path, {"sources": "closing", "license": "MIT"})
	equal(
		(changed.status, changed.json["sources"], changed.json["license"]), (200, "closing", "MIT")
	)
	equal(creator.ask("PATCH", path, {"sources_public": False}).json["sources"], "never")
	equal(creator.ask("PATCH", path, {"license": None}).json["license"], None)
	equal(creator.ask("PATCH", path, {"sources": "soon"}).status, 400)
	both = creator.ask("PATCH", path, {"sources": "never", "sources_public": True})
	equal(both.status, 400)
	contains(both.text, "Send only sources")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
