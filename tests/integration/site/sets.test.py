#!/usr/bin/env python3
"""Problem sets in the panel and on the command line, and the rankings of replaced task versions,
through nginx."""

import io
import os
import pathlib
import re
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from small_task import zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
anyone, admin, carl, dora, paul = (Client(site.url) for _ in range(5))
HOSTILE = "<script>alert(1)</script>"

TASK = """
lang: py
description: "%s"
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: shared.py, source: ../shared.py}
  - {name: utils.py, source: "@STOCK@"}
  - {name: eval.py, source: "@STOCK@"}
config: {main: eval.py}
templates: {Python: ../../template.py}
tests: [{seed: 1}]
benchmarks: [{seed: %d}]
"""
SET = """
name: Autumn %s
deadline: ""
description: "Two kernels %s"
problems:
  - {directory: week/sort, name: sort, deadline: "2040-01-02 03:04", gpus: [H200]}
  - {directory: week/scan, name: scan, deadline: ""}
  - {directory: week/lost, name: lost, deadline: ""}
""" % (HOSTILE, HOSTILE)


def tree(set_text=SET, description="Sorts.", seed=3, shared="shared\n", more={}):
	files = {
		"README.md": "words",
		"problems/autumn.yaml": set_text,
		"problems/template.py": "def custom_kernel(data): pass\n",
		"problems/week/shared.py": shared,
		"problems/week/sort/task.yml": TASK % (description, seed),
		"problems/week/sort/reference.py": "1\n",
		"problems/week/scan/task.yml": TASK % ("Scans.", 3),
		"problems/week/scan/reference.py": "2\n",
		**more,
	}
	return zip_of({"top/" + name: text for name, text in files.items()})


def upload(client, content):
	return client.post("/admin/sets/new", files=[("set", "tree.zip", content)])


def uploaded(client, content):
	answer = upload(client, content)
	equal((answer.status, answer.words()[:600] if answer.status != 303 else ""), (303, ""))
	return answer.location.removeprefix(site.url)


def hidden(text, name):
	found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)">', text)
	return found and found[1]


def confirm(client, path, page=None):
	page = page or client.get(path).text
	return client.post(
		path.split("?")[0],
		[("set", hidden(page, "set")), ("plan", hidden(page, "plan"))],
		form=path,
	)


def stored():
	return site.sql(
		"SELECT l.name, v.number, v.revision, IFNULL(l.deadline, 'none'), IFNULL((SELECT "
		"GROUP_CONCAT(gpu) FROM leaderboard_gpus g "
		"WHERE g.leaderboard_id = l.id), 'none') FROM leaderboards l JOIN task_versions v ON v.id "
		"= l.task_version_id "
		"WHERE l.name IN ('sort', 'scan', 'lost') ORDER BY l.name"
	)


def audited():
	return int(site.sql("SELECT COUNT(*) FROM audit_log WHERE subject IN ('sort', 'scan')")[0][0])


@test
def accounts_with_roles_exist():
	password = (site.var / "admin-password").read_text().strip()
	equal(admin.post("/login", [("name", "admin"), ("password", password)]).status, 303)
	equal(
		admin.post(
			"/account/password",
			[("current", password), ("password", "a long password"), ("again", "a long password")],
			form="/account",
		).status,
		303,
	)
	for client, name, role in (
		(carl, "carl", "creator"),
		(dora, "dora", "creator"),
		(paul, "paul", "participant"),
	):
		client.register(name)
		equal(
			admin.post(
				"/admin/users",
				[("action", "role"), ("user", name), ("role", role), ("confirm", "yes")],
			).status,
			303,
		)


@test
def only_creators_and_admins_reach_the_form_that_the_panel_links():
	equal(anyone.get("/admin/sets/new").status, 303)
	equal(paul.get("/admin/sets/new").status, 403)
	equal(
		paul.post("/admin/sets/new", files=[("set", "tree.zip", tree())], form="/account").status,
		403,
	)
	contains(carl.get("/admin").text, 'href="/admin/sets/new"')
	equal(carl.get("/admin/sets/new").status, 200)


@test
def an_invalid_set_is_refused_at_its_field_and_not_kept():
	for content, sentence in (
		(b"no zip", "is not a zip"),
		(zip_of({"task.yml": TASK}), "holds no problem set"),
		(b"", "is empty"),
	):
		answer = upload(carl, content)
		equal(answer.status, 422)
		contains(answer.words(), sentence)
	contains(carl.post("/admin/sets/new").words(), "Choose the zip")
	equal(site.sql("SELECT COUNT(*) FROM uploads"), [["0"]])


@test
def a_form_without_its_token_keeps_nothing():
	equal(
		carl.post("/admin/sets/new", files=[("set", "tree.zip", tree())], csrf="0" * 64).status, 403
	)
	equal(site.sql("SELECT COUNT(*) FROM uploads"), [["0"]])


@test
def faults_of_a_set_have_file_and_line_and_prevent_confirmation():
	broken = (
		SET.replace("name: sort,", 'name: "a b",')
		.replace("directory: week/scan", "directry: week/scan")
		.replace('"2040-01-02 03:04"', "soon")
	)
	answer = carl.get(uploaded(carl, tree(broken)))
	for sentence in (
		'problems/autumn.yaml line 6, problems.name: "a b" is not a valid leaderboard name',
		'problems/autumn.yaml line 7: entry 2 of problems has no key "directry"; did you mean '
		"directory?",
		'problems/autumn.yaml line 6, problems.deadline: "soon" is not a date and time',
	):
		contains(answer.words(), sentence)
	equal(hidden(answer.text, "plan"), None)


@test
def the_preview_lists_what_would_be_done_and_does_nothing():
	path = uploaded(carl, tree())
	answer = carl.get(path)
	words = answer.words()
	for part in (
		"To be created: 2",
		"Refused: 1",
		"version 1, Python, 6 files",
		"2040-01-02 03:04 UTC",
		'problems/autumn.yaml line 8, problems.directory: there is no folder "problems/week/lost" '
		"in the upload.",
		"Create 2 leaderboards",
	):
		contains(words, part)
	contains(words, HOSTILE)
	lacks(answer.text, HOSTILE)
	page = Page()
	page.feed(answer.text)
	equal(page.faults, [])
	equal((stored(), audited()), ([], 0))


@test
def only_its_creator_can_use_an_upload_for_an_hour():
	path = uploaded(carl, tree())
	for client in (dora, admin):
		equal(client.get(path).status, 404)
	equal(carl.get("/admin/sets/x").status, 404)
	equal(carl.get("/admin/sets/99999999999999999999").status, 404)
	site.sql("UPDATE uploads SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	answer = carl.get(path)
	equal(answer.status, 404)
	contains(answer.words(), "Upload the file again")
	contains(answer.text, 'action="/admin/sets/new"')
	uploaded(dora, tree())
	equal(site.sql("SELECT COUNT(*) FROM uploads"), [["1"]])


@test
def confirming_needs_the_token_and_applies_exactly_the_plan():
	path = uploaded(carl, tree())
	page = carl.get(path).text
	equal(
		carl.post(
			path, [("set", hidden(page, "set")), ("plan", hidden(page, "plan"))], csrf="0" * 64
		).status,
		403,
	)
	equal(stored(), [])
	answer = confirm(carl, path)
	equal(answer.status, 303)
	equal(
		site.sql("SELECT DISTINCT visibility FROM leaderboards WHERE name IN ('sort', 'scan')"),
		[["hidden"]],
	)
	words = carl.get(answer.location.removeprefix(site.url)).words()
	for part in ("The problem set was applied.", "Created: 2", "Refused: 1", "Autumn"):
		contains(words, part)
	rows = stored()
	equal(
		[row[:4] for row in rows],
		[["scan", "1", "0", "none"], ["sort", "1", "0", "2040-01-02 03:04:00.000"]],
	)
	equal(rows[1][4], "H200")
	equal(audited(), 2)
	site.publish("sort")
	site.publish("scan")
	contains(anyone.get("/leaderboard/sort").words(), "Sorts.")
	equal(anyone.get("/leaderboard/sort/raw/file/shared.py").text, "shared\n")


@test
def sending_the_confirmation_twice_does_nothing_the_second_time():
	path = uploaded(carl, tree(SET.replace("03:04", "05:06")))
	page = carl.get(path).text
	equal(confirm(carl, path, page).status, 303)
	before = audited()
	answer = confirm(carl, path, page)
	equal((answer.status, audited()), (303, before))
	page = carl.get(answer.location.removeprefix(site.url))
	contains(page.words(), "had been applied already, so nothing was done now.")
	contains(page.words(), "Changed: 1")
	contains(page.text, '<a href="/leaderboard/sort">sort</a>')
	# A change that comes later does not bring the button back, also after a reload.
	site.sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'sort'")
	page = carl.get(path)
	contains(page.words(), "Changed: 1")
	equal(hidden(page.text, "plan"), None)
	site.sql("UPDATE leaderboards SET deadline = '2040-01-02 05:06' WHERE name = 'sort'")


@test
def changed_metadata_makes_no_version_and_appears_immediately():
	contains(carl.get("/leaderboard/sort").words(), "Sorts.")
	path = uploaded(carl, tree(description="Sorts fast."))
	words = carl.get(path).words()
	contains(words, "task: still version 1; changed: description was version 1")
	contains(words, "deadline: 2040-01-02 03:04 UTC was 2040-01-02 05:06 UTC")
	equal(confirm(carl, path).status, 303)
	equal(stored()[1][:4], ["sort", "1", "1", "2040-01-02 03:04:00.000"])
	for _ in range(20):  # each thread of podium-web has its own cache
		contains(carl.get("/leaderboard/sort").words(), "Sorts fast.")


@test
def a_creator_cannot_change_another_creators_leaderboard():
	path = uploaded(dora, tree(seed=4))
	words = dora.get(path).words()
	contains(
		words,
		"The leaderboard sort belongs to another user. Only its creators and admins may change it.",
	)
	contains(words, "Refused: 3")
	page = carl.get(uploaded(carl, tree(seed=4))).text
	answer = dora.post(path, [("set", hidden(page, "set")), ("plan", hidden(page, "plan"))])
	equal(answer.status, 409)
	equal(stored()[1][1], "1")


@test
def a_change_between_preview_and_confirmation_shows_the_new_plan_instead():
	path = uploaded(carl, tree(seed=4))
	page = carl.get(path).text
	fields = [
		("deadline", "2039-05-06T07:08"),
		("gpu", "H200"),
		("accepting", "1"),
		("sources", "deadline"),
	]
	equal(admin.post("/admin/leaderboard/sort/edit", fields).status, 303)
	answer = confirm(carl, path, page)
	equal(answer.status, 409)
	contains(answer.words(), "nothing was done")
	contains(answer.words(), "was 2039-05-06 07:08 UTC")
	equal(stored()[1][1], "1")
	equal(confirm(carl, path, answer.text).status, 303)
	equal(stored()[1][1], "1")
	site.publish("sort", 2)
	equal(stored()[1][1], "2")


@test
def a_zip_with_several_sets_asks_which_one():
	other = 'problems:\n- {directory: week/sort, name: "sort-again"}\n'
	path = uploaded(carl, tree(seed=4, more={"problems/b & c.yaml": other}))
	page = Page()
	page.feed(carl.get(path).text)
	chosen = [link for link in page.links if link.startswith(path + "?set=")]
	equal(len(chosen), 2)
	text = carl.get(chosen[1]).text
	equal(hidden(text, "set"), "problems/b &amp; c.yaml")
	answer = carl.post(
		path, [("set", "problems/b & c.yaml"), ("plan", hidden(text, "plan"))], form=chosen[1]
	)
	equal(answer.status, 303)
	contains(carl.get(answer.location.removeprefix(site.url)).words(), "Created: 1")
	equal(carl.get("/leaderboard/sort-again").status, 200)
	site.publish("sort-again")


@test
def a_zip_near_the_size_limit_can_be_confirmed():
	noise = {f"noise/{i}": os.urandom(3_500_000) for i in range(2)}
	contains(carl.get(uploaded(carl, tree(seed=4, more=noise))).words(), "Unchanged: 2")


# ---- the command line ----


@test
def the_command_prints_the_plan_and_only_then_applies_it():
	with tempfile.TemporaryDirectory() as folder:
		zipfile.ZipFile(
			io.BytesIO(
				tree(
					SET.replace("name: sort", "name: sort-cli").replace(
						"name: scan", "name: scan-cli"
					),
					seed=4,
				)
			)
		).extractall(folder)
		yaml, packed = f"{folder}/top/problems/autumn.yaml", f"{folder}/tree.zip"
		dry = site.admin("task", "load", "--dry-run", yaml)
		equal(dry.returncode, 1)  # one of the problems is refused
		contains(
			dry.stdout,
			"autumn.yaml: 2 created, 0 changed, 0 unchanged, 1 refused (dry run: nothing was "
			"changed)",
		)
		contains(dry.stdout, 'there is no folder "week/lost"')
		equal(site.sql("SELECT COUNT(*) FROM leaderboards WHERE name LIKE '%-cli'"), [["0"]])
		done = site.admin("task", "load", yaml)
		equal(done.returncode, 1)
		equal(site.sql("SELECT COUNT(*) FROM leaderboards WHERE name LIKE '%-cli'"), [["2"]])
		pathlib.Path(packed).write_bytes(
			tree(
				SET.replace("name: sort", "name: sort-cli").replace("name: scan", "name: scan-cli"),
				seed=5,
			)
		)
		again = site.admin("task", "load", "--dry-run", packed)
		contains(again.stdout, "version 2, with a new ranking; changed: benchmarks, was version 1")
		contains(again.stdout, "0 created, 1 changed, 1 unchanged, 1 refused")
		whole = site.admin(
			"task", "load", "--set", "problems/autumn.yaml", "--dry-run", f"{folder}/top"
		)
		contains(whole.stdout, "0 created, 0 changed, 2 unchanged, 1 refused")
		contains(site.admin("task", "load", "--set", "x", yaml).stderr, "is a YAML file already")
		contains(
			site.admin("task", "load", "--set", "x.yaml", packed).stderr,
			'there is no file "x.yaml" in it',
		)
		contains(
			site.admin("task", "load", f"{folder}/top/problems/week/sort/task.yml").stderr,
			"Name its folder",
		)
		pathlib.Path(yaml).write_text("problems: []\n")
		bad = site.admin("task", "load", yaml)
		equal((bad.returncode, bad.stdout), (1, ""))
		contains(bad.stderr, "autumn.yaml line 1, problems: the list is empty")
		equal(site.admin("task", "load", "--dry").returncode, 2)


@test
def a_dry_run_of_task_folders_prints_what_would_change():
	equal(
		site.admin("task", "load", "--dry-run", ROOT / "tasks" / "vectoradd_py").stdout,
		"vectoradd_py: unchanged.\n",
	)
	with tempfile.TemporaryDirectory() as folder:
		zipfile.ZipFile(io.BytesIO(tree(seed=4))).extractall(folder)
		task = pathlib.Path(folder) / "folder-cli"
		(pathlib.Path(folder) / "top/problems/week/scan").rename(task)
		(task / "shared.py").write_text("shared\n")
		(task / "template.py").write_text("def custom_kernel(data): pass\n")
		text = (
			(task / "task.yml")
			.read_text()
			.replace("../../template.py", "template.py")
			.replace("../shared.py", "shared.py")
		)
		for change, dry, done in (
			(text, "would be created.", "created."),
			(text, "unchanged.", "unchanged."),
			(
				text.replace("Scans.", "Scans well."),
				"the folder changed (description); would stay version 1.",
				"the folder changed (description); still version 1.",
			),
			(
				text.replace("seed: 3", "seed: 8"),
				"the folder changed (benchmarks, description); would become version 2.",
				"the folder changed (benchmarks, description); now version 2.",
			),
		):
			(task / "task.yml").write_text(change)
			equal(
				site.admin("task", "load", "--dry-run", "--unchecked", task).stdout,
				f"folder-cli: {dry}\n",
			)
			equal(site.admin("task", "load", "--unchecked", task).stdout, f"folder-cli: {done}\n")


# ---- rankings of replaced versions ----


def rank(version, user, score_ns):
	"""Stores a ranked result of that task version, without a worker."""
	site.sql(f"""
		SET @v = (SELECT v.id FROM task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id
			WHERE l.name = 'sort' AND v.number = {version});
		SET @l = (SELECT id FROM leaderboards WHERE name = 'sort');
		SET @u = (SELECT id FROM users WHERE name = '{user}');
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			VALUES (@l, @v, @u, 'a.py', (SELECT MIN(sha256) FROM blobs), 'ranked');
			SET @s = LAST_INSERT_ID();
		INSERT INTO jobs (submission_id, gpu, state, verdict, score_ns)
			VALUES (@s, 'CPU', 'done', 'passed', {score_ns}); SET @j = LAST_INSERT_ID();
		INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id,
			score_ns, submitted_at, position, place)
			SELECT @l, @v, 'CPU', @u, @s, @j, {score_ns}, UTC_TIMESTAMP(3), COUNT(*) + 1,
				COUNT(*) + 1 FROM ranking WHERE task_version_id = @v;
	""")


@test
def the_ranking_of_a_replaced_version_stays_readable():
	rank(1, "carl", 10000)
	rank(1, "dora", 2000)
	# The leaderboard no longer has the device of these results.
	equal(
		site.sql(
			"SELECT gpu FROM leaderboard_gpus g JOIN leaderboards l ON l.id = "
			"g.leaderboard_id WHERE "
			"l.name = 'sort'"
		),
		[["H200"]],
	)
	answer = anyone.get("/leaderboard/sort?version=1")
	equal(answer.status, 200)
	for part in ("carl", "dora", "10.00 µs", "This version of the task was replaced"):
		contains(answer.words(), part)
	lacks(
		paul.get("/leaderboard/sort").words(), "dora"
	)  # signed in, because nginx caches anonymous answers for a second
	found = anyone.get("/leaderboard/sort.json?version=1").json
	equal(
		(found["version"], found["gpu"], [(row["rank"], row["user"]) for row in found["rows"]]),
		(1, "CPU", [(1, "carl"), (2, "dora")]),
	)
	equal(len(anyone.get("/leaderboard/sort.csv?version=1&gpu=CPU").text.splitlines()), 3)
	now = anyone.get("/leaderboard/sort.json").json
	equal((now["version"], now["rows"]), (2, []))
	equal(anyone.get("/leaderboard/sort.json?version=2").json, now)


@test
def pages_of_versions_link_each_other_and_keep_to_their_own():
	page = Page()
	page.feed(paul.get("/leaderboard/sort").text)
	contains(page.links, "/leaderboard/sort?version=1")
	page = Page()
	page.feed(anyone.get("/leaderboard/sort?version=1").text)
	equal(page.faults, [])
	for link in (
		"/leaderboard/sort",
		"/leaderboard/sort?gpu=CPU&version=1",
		"/leaderboard/sort.json?gpu=CPU&version=1&page=all",
		"/leaderboard/sort.csv?gpu=CPU&version=1&page=all",
		"/leaderboard/sort/task?version=1",
		"/leaderboard/sort/template/Python?version=1",
	):
		contains(page.links, link)
		equal((link, anyone.get(link).status), (link, 200))
	page = Page()
	page.feed(anyone.get("/leaderboard/sort-again").text)
	equal([link for link in page.links if "version=" in link], [])


@test
def the_task_of_a_replaced_version_stays_readable():
	old, new = (paul.get("/leaderboard/sort/task" + query) for query in ("?version=1", ""))
	contains(old.words(), "version 1 of the task,")
	contains(old.words(), "This version of the task was replaced")
	contains(new.words(), "version 2 of the task,")
	page = Page()
	page.feed(old.text)
	files = [link for link in page.links if "/sort/task/" in link or "/sort/raw/" in link]
	equal(len(files) > 6 and all("version=1" in link for link in files), True)
	for link in files:
		equal((link, anyone.get(link).status), (link, 200))
	contains(anyone.get("/leaderboard/sort/raw/definition/task.yml?version=1").text, "seed: 3}")
	contains(anyone.get("/leaderboard/sort/raw/definition/task.yml").text, "seed: 4}")


@test
def an_unknown_version_is_not_found():
	for version in ("3", "0", "-1", "x", "99999999999", "999999999999999999999", "1%27"):
		for path in (
			"/leaderboard/sort",
			"/leaderboard/sort.json",
			"/leaderboard/sort.csv",
			"/leaderboard/sort/task",
		):
			equal(
				(path, version, anyone.get(f"{path}?version={version}").status),
				(path, version, 404),
			)
	contains(
		anyone.get("/leaderboard/sort?version=7").words(),
		'The task of sort has no version "7"; the newest is 2.',
	)
	contains(
		anyone.get("/leaderboard/sort?version=1&gpu=H200").words(),
		"Version 1 of sort has no ranking on",
	)
	equal(anyone.get("/leaderboard/none?version=1").status, 404)
	equal(anyone.get("/leaderboard/sort?version=").status, 200)


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
