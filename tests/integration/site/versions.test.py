#!/usr/bin/env python3
"""The versions of a task: author, differences, drafts and switching, and cloning a leaderboard. A
stand-in for podium-run reports what each submission tells it to."""

import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, fresh, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import TASK, done as ok, submit_time, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, admin, carl, dora = (Client(site.url) for _ in range(5))


def files_of(**files):
	"""The upload of a task with these Python files."""
	task = TASK.replace(
		"config:",
		"".join(f"  - {{name: {name}.py, source: {name}.py}}\n" for name in files if name != "eval")
		+ "config:",
	)
	return [
		(
			"task",
			"task.zip",
			zip_of({"task.yml": task, **{f"{name}.py": text for name, text in files.items()}}),
		)
	]


def upload(client, pack, **fields):
	return client.post(
		"/admin/leaderboard/small/edit",
		[("gpu", "H200"), ("accepting", "1"), *fields.items()],
		pack,
	)


submit = functools.partial(submit_time, verdict={"engine": "custom"})


def ranking(board="small", version=""):
	return [
		row["user"]
		for row in anyone.get(fresh(f"/leaderboard/{board}.json?version={version}")).json["rows"]
	]


def current():
	return sql(
		"SELECT v.number FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
		"WHERE l.name = 'small'"
	)[0][0]


@test
def each_version_is_listed_with_its_author():
	for client, name in ((ada, "ada"), (admin, "root-of-all"), (carl, "carl"), (dora, "dora")):
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name IN ('carl', 'dora')"
	)
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[
				("name", "small"),
				("gpu", "H200"),
				("accepting", "1"),
				("quota_ranked", "7"),
				("visibility", "hidden"),
			],
			files_of(eval="one\ntwo\nthree\n", old="gone <b>soon</b>\n"),
		)
	)
	site.publish("small")
	submit(ada, 3000.0)
	new = files_of(eval="one\nTWO & <i>2</i>\nthree\n", new="fresh\n")
	ok(upload(admin, new, keeps_version="1"))
	site.publish("small", 2)
	equal(current(), "2")
	page = whole(carl.get("/admin/leaderboard/small/versions")).words()
	for part in (r"2 in use [-0-9: ]* UTC by root-of-all", r"1 replaced [-0-9: ]* UTC by carl"):
		equal((part, bool(re.search(part, page))), (part, True))
	equal(dora.get("/admin/leaderboard/small/versions").status, 403)
	equal(ada.get("/admin/leaderboard/small/versions").status, 403)


@test
def two_versions_are_compared_file_by_file_and_line_by_line():
	page = whole(carl.get("/admin/leaderboard/small/diff?from=1&to=2"))
	words = page.words()
	for part in (
		"eval.py changed",
		"new.py added",
		"old.py removed",
		"1 line removed, 1 line added",
	):
		contains(words, part)
	for part in (
		"<del>two</del>",
		"<ins>TWO &amp; &lt;i&gt;2&lt;/i&gt;</ins>",
		"<del>gone &lt;b&gt;soon&lt;/b&gt;</del>",
		"<ins>fresh</ins>",
		"<span>three</span>",
	):
		contains(page.text, part)
	contains(whole(carl.get("/admin/leaderboard/small/diff?from=2&to=1")).text, "<ins>two</ins>")
	contains(
		whole(carl.get("/admin/leaderboard/small/diff?from=2&to=2")).words(),
		"Both versions have the same files.",
	)
	equal(carl.get("/admin/leaderboard/small/diff?from=1&to=9").status, 404)


@test
def only_its_creator_sees_a_draft_until_the_leaderboard_switches_to_it():
	saved = ok(upload(carl, files_of(eval="draft\n"), keeps_version="1"))
	equal(saved.location, "/admin/leaderboard/small/versions")
	contains(whole(carl.get(saved.location)).words(), "Version 3 was saved as a draft.")
	equal(current(), "2")
	equal(anyone.get(fresh("/leaderboard/small?version=3")).status, 404)
	equal(anyone.get(fresh("/leaderboard/small/task/file/eval.py?version=3")).status, 404)
	lacks(anyone.get(fresh("/leaderboard/small")).text, "version=3")
	contains(
		whole(carl.get("/leaderboard/small?version=3")).words(),
		"This version of the task is a draft",
	)
	contains(carl.get("/leaderboard/small/raw/file/eval.py?version=3").text, "draft")
	contains(
		sql(
			"SELECT detail FROM audit_log WHERE action = 'leaderboard.update' ORDER BY id "
			"DESC LIMIT 1"
		)[0][0],
		"a draft of version 3",
	)


@test
def switching_first_says_what_happens_to_the_rankings():
	equal(ranking(), [])
	asked = whole(carl.get("/admin/leaderboard/small/switch?version=1")).words()
	for part in (
		"New submissions run against version 1.",
		"The leaderboard shows the ranking of version 1: 1 user.",
		"The ranking of version 2 with 0 users stays as it is",
	):
		contains(asked, part)
	equal(current(), "2")
	site.publish("small", 3)
	site.publish("small", 2)
	ok(carl.post("/admin/leaderboard/small/switch?version=1"))
	equal((current(), ranking()), ("1", ["ada"]))
	contains(anyone.get(fresh("/leaderboard/small")).text, "version=2")
	submit(admin, 2000.0)
	equal((ranking(), ranking(version=2)), (["root-of-all", "ada"], []))
	ok(carl.post("/admin/leaderboard/small/switch?version=3"))
	equal((current(), ranking(), ranking(version=1)), ("3", [], ["root-of-all", "ada"]))
	equal(anyone.get(fresh("/leaderboard/small/task?version=3")).status, 200)
	contains(
		sql(
			"SELECT detail FROM audit_log WHERE action = 'leaderboard.switch' ORDER BY id "
			"DESC LIMIT 1"
		)[0][0],
		"task: version 3, was version 1",
	)
	equal(
		carl.post("/admin/leaderboard/small/switch?version=9", csrf=carl.csrf("/account")).status,
		404,
	)
	equal(
		dora.post("/admin/leaderboard/small/switch?version=1", csrf=dora.csrf("/account")).status,
		403,
	)
	equal(current(), "3")


@test
def a_clone_has_the_task_and_settings_and_no_submissions():
	whole(carl.get("/admin/leaderboard/small/clone"))
	for name, status in (("small", 409), ("no name", 422), ("", 422), ("x.json", 422)):
		answer = carl.post("/admin/leaderboard/small/clone", [("name", name)])
		equal((name, answer.status), (name, status))
		whole(answer)
	equal(
		dora.post(
			"/admin/leaderboard/small/clone", [("name", "stolen")], csrf=dora.csrf("/account")
		).status,
		403,
	)
	equal(
		ok(carl.post("/admin/leaderboard/small/clone", [("name", "copy")])).location.removeprefix(
			site.url
		),
		"/leaderboard/copy",
	)
	equal(anyone.get(fresh("/leaderboard/copy")).status, 404)
	contains(whole(carl.get("/leaderboard/copy")).words(), "This is a preview")
	equal(
		carl.get("/leaderboard/copy/raw/file/eval.py").text,
		carl.get("/leaderboard/small/raw/file/eval.py").text,
	)
	equal(
		sql(
			"SELECT q.most FROM leaderboard_quotas q JOIN leaderboards l ON l.id = "
			"q.leaderboard_id "
			"WHERE l.name = 'copy' AND q.mode = 'ranked'"
		),
		[["7"]],
	)
	equal(
		sql("SELECT COUNT(DISTINCT secret_seed) FROM leaderboards WHERE name IN ('small', 'copy')"),
		[["2"]],
	)
	submit(carl, 1000.0, board="copy")
	site.publish("copy")
	equal(ranking("copy"), ["carl"])
	contains(
		sql("SELECT detail FROM audit_log WHERE action = 'leaderboard.clone'")[0][0],
		"Cloned from small",
	)
	equal(carl.post("/admin/leaderboard/small/delete", [("name", "small")]).status, 303)
	equal(carl.get("/leaderboard/copy/raw/file/eval.py").text, "draft\n")


@test
def a_reference_alone_can_be_uploaded():
	text = (
		'"""Copy it."""\ndef generate_input(): return 1\ndef ref_kernel(data): return data\n'
		"def check_implementation(output, expected): return output == expected\n"
	)
	form = [("name", "alone"), ("gpu", "H200"), ("accepting", "1")]
	refused = carl.post(
		"/admin/leaderboards/new", form, [("task", "mine.py", b"def generate_input(): return 1\n")]
	)
	equal(refused.status, 422)
	contains(whole(refused).words(), "The task in this file has errors.")
	contains(refused.words(), "reference.py: it has no ref_kernel")
	ok(carl.post("/admin/leaderboards/new", form, [("task", "mine.py", text.encode())]))
	equal(carl.get("/leaderboard/alone/raw/file/reference_code.py").text, text)
	contains(carl.get("/leaderboard/alone").words(), "Copy it.")


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
