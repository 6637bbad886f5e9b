#!/usr/bin/env python3
"""The versions of a task: author, differences, drafts and switching, editing a task in the browser,
and cloning a leaderboard. A stand-in for podium-run reports what each submission tells it to."""

import concurrent.futures
import functools
import html
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, fresh, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import TASK, TEMPLATE_TASK, done as ok, sealed, submit_time, zip_of  # noqa: E402
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


# ---- editing in the browser ----

# No worker offers this model, so the check of a version waits.
WAITS = ("gpu", "B200")
EDITED = "/admin/leaderboard/words/task"
SHAPES = ("1024", "2048")


def make_words(board="words", task=TEMPLATE_TASK):
	"""Creates a hidden leaderboard whose task has a template."""
	pack = {
		"task.yml": task.replace("A small task.", "Old <b>words</b>."),
		"eval.py": "# generate_input, check_implementation\n",
		"submission.py": "a = 1\n",
	}
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", board), WAITS, ("accepting", "1"), ("visibility", "hidden")],
			[("task", "task.zip", zip_of(pack))],
		)
	)


def fields_of(answer):
	"""The fields of the form as a browser would send them again."""
	fields = [
		*re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', answer.text),
		*re.findall(
			r'<input type="checkbox" [^>]*name="(\w+)" value="(\w+)" checked>', answer.text
		),
	]
	texts = re.findall(r'<textarea id="(\w+)"[^>]*>\n(.*?)</textarea>', answer.text, re.S)
	fields += [(name, text.replace("\n", "\r\n")) for name, text in texts]
	return {name: html.unescape(value) for name, value in fields if name != "csrf"}


def open_editor(client=None, address=EDITED):
	return fields_of(whole((client or carl).get(address)))


def send_editor(fields, action, client=None, address=EDITED):
	return (client or carl).post(address, [*fields.items(), ("action", action)])


def preview(fields, status=200, **at):
	answer = whole(send_editor(fields, "preview", **at))
	equal((answer.status, answer.words() if answer.status != status else ""), (status, ""))
	return answer


def save(fields, **at):
	"""Previews the fields and saves what the preview shows."""
	return ok(send_editor(fields_of(preview(fields, **at)), "save", **at))


def stored(board="words"):
	return sql(
		"SELECT v.number, v.revision, v.draft, v.id = l.task_version_id, v.description FROM "
		"task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id "
		f"WHERE l.name = '{board}' ORDER BY v.number"
	)


def wanted(board="words"):
	return sql(
		"SELECT v.number FROM publications p JOIN task_versions v ON v.id = p.task_version_id "
		f"JOIN leaderboards l ON l.id = p.leaderboard_id WHERE l.name = '{board}'"
	)


def last_note(board="words"):
	return sql(
		"SELECT actor, detail FROM audit_log WHERE action = 'leaderboard.update' AND subject = "
		f"'{board}' ORDER BY id DESC LIMIT 1"
	)[0]


@test
def the_editor_shows_the_texts_of_the_task():
	make_words()
	site.publish("words")
	fields = open_editor()
	equal(fields["description"], "Old <b>words</b>.")
	equal(fields["template_Python"], "a = 1\r\n")
	contains(fields["definition"], 'lang: py\r\ndescription: ""\r\nfiles:')
	contains(fields["definition"], "benchmarks: [{size: 1024}]")
	contains(whole(carl.get("/admin/leaderboard/words/edit")).text, f'href="{EDITED}"')


@test
def a_preview_shows_the_page_the_differences_and_the_effect_and_stores_nothing():
	before, fields = stored(), open_editor()
	fields["description"] = "# New *title*\r\n\r\n<script>x</script> & more\r\n"
	shown = preview(fields)
	words = shown.words()
	contains(words, "The task stays version 1, with its ranking.")
	contains(words, "Other texts for readers: description.")
	contains(shown.text, "<em>title</em>")
	contains(shown.text, "<del>description: Old &lt;b&gt;words&lt;/b&gt;.</del>")
	contains(shown.text, "<ins>  # New *title*</ins>")
	lacks(shown.text, "<script>x")
	equal(fields_of(shown)["description"], fields["description"])
	equal(stored(), before)
	ok(send_editor(fields_of(shown), "save"))
	equal(stored(), [["1", "1", "0", "1", "# New *title*\\n\\n<script>x</script> & more\\n"]])
	equal(last_note(), ["carl", "task: still version 1, with another description"])
	contains(carl.get("/leaderboard/words/task").text, "<em>title</em>")


@test
def another_template_keeps_the_version_and_unchanged_texts_keep_their_bytes():
	fields = open_editor()
	equal(preview(fields).words().count("Nothing differs from version 1."), 1)
	lacks(preview(fields).text, ">Save</button>")
	fields["template_Python"] = "a = 2\r\nb = 3"
	save(fields)
	equal([row[:4] for row in stored()], [["1", "2", "0", "1"]])
	equal(last_note(), ["carl", "task: still version 1, with another template Python"])
	equal(carl.get("/leaderboard/words/template/Python").text, "a = 2\nb = 3")


@test
def other_shapes_make_a_version_that_waits_for_its_check():
	fields = open_editor()
	fields["definition"] = fields["definition"].replace(*SHAPES)
	shown = preview(fields)
	contains(shown.words(), "because it runs differently: benchmarks.")
	contains(shown.words(), "uses the new version when its check has passed, and version 1 until")
	equal([row[:4] for row in stored()], [["1", "2", "0", "1"]])
	ok(send_editor(fields_of(shown), "save"))
	equal([row[:4] for row in stored()], [["1", "2", "0", "1"], ["2", "0", "1", "0"]])
	equal(wanted(), [["2"]])
	contains(last_note()[1], "version 2 with 3 files once its check passes, still version 1")
	versions = whole(carl.get("/admin/leaderboard/words/versions")).words()
	contains(versions, "Saved as version 2.")
	contains(versions, "Version 2 waits for its check")
	equal(anyone.get(fresh("/leaderboard/words?version=2")).status, 404)


@test
def the_editor_continues_with_the_version_that_waits():
	page = whole(carl.get(EDITED))
	contains(page.words(), "You edit version 2, which waits for its check.")
	fields = fields_of(page)
	contains(fields["definition"], "2048")
	fields["description"] = "Words of version 2."
	save(fields)
	equal([row[:2] for row in stored()], [["1", "2"], ["2", "1"]])
	equal((stored()[1][4], wanted()), ("Words of version 2.\\n", [["2"]]))
	equal(last_note(), ["carl", "task: still version 2, with another description"])
	fields = open_editor()
	fields["definition"] = fields["definition"].replace("2048", "4096")
	contains(preview(fields).words(), "Version 2 no longer waits for its check then.")
	save(fields)
	equal((wanted(), [row[3] for row in stored()]), ([["3"]], ["1", "0", "0"]))
	contains(last_note()[1], "version 3 with 3 files once its check passes, still version 1")


@test
def a_version_may_become_a_draft_and_a_hidden_leaderboard_uses_it_immediately():
	fields = open_editor()
	fields["definition"] = fields["definition"].replace("4096", "512")
	save({**fields, "keeps_version": "1"})
	equal((len(stored()), wanted()), (4, [["3"]]))
	contains(last_note()[1], "a draft of version 4")
	make_words("unseen")
	address = "/admin/leaderboard/unseen/task"
	fields = open_editor(address=address)
	fields["definition"] = fields["definition"].replace(*SHAPES)
	contains(preview(fields, address=address).words(), "so it uses the new version immediately")
	save(fields, address=address)
	equal([row[3] for row in stored("unseen")], ["0", "1"])


@test
def only_what_a_preview_has_shown_is_saved():
	address, before = "/admin/leaderboard/unseen/task", stored("unseen")
	fields = open_editor(address=address)
	equal(fields["previewed"], "")
	for seen in ("", fields_of(preview(fields, address=address))["previewed"], "0" * 64):
		typed = {**fields, "description": "Never seen.", "previewed": seen}
		answer = whole(send_editor(typed, "save", address=address))
		equal(answer.status, 200)
		contains(answer.words(), "The texts have changed since the preview, so nothing was saved.")
		equal(stored("unseen"), before)
	ok(send_editor(fields_of(answer), "save", address=address))
	equal(stored("unseen")[1][4], "Never seen.\\n")


@test
def who_edits_an_older_state_saves_nothing_and_keeps_the_texts():
	address = "/admin/leaderboard/unseen/task"
	mine, theirs = open_editor(address=address), open_editor(admin, address)
	seen = fields_of(preview({**mine, "description": "Mine."}, address=address))
	save({**theirs, "template_Python": "theirs = 1\n"}, client=admin, address=address)
	before = stored("unseen")
	for action in ("save", "preview"):
		answer = whole(send_editor(seen, action, address=address))
		equal(answer.status, 409)
		contains(answer.words(), "The task has changed since you opened this page")
		equal(fields_of(answer)["description"], "Mine.")
		seen = fields_of(answer)
	equal(stored("unseen"), before)


@test
def of_two_saves_at_once_only_one_is_stored():
	address, before = "/admin/leaderboard/unseen/task", stored("unseen")
	typed = {
		client: fields_of(
			preview(
				{**open_editor(client, address), "description": words},
				client=client,
				address=address,
			)
		)
		for client, words in ((carl, "By carl."), (admin, "By the admin."))
	}
	with concurrent.futures.ThreadPoolExecutor() as pool:
		pool.submit(
			sql,
			"START TRANSACTION; SELECT id FROM leaderboards WHERE name = 'unseen' FOR UPDATE; "
			"DO SLEEP(1.5); COMMIT",
		)
		time.sleep(0.5)
		saves = [
			pool.submit(send_editor, fields, "save", client, address)
			for client, fields in typed.items()
		]
		equal(sorted(save.result().status for save in saves), [303, 409])
	equal(int(stored("unseen")[1][1]), int(before[1][1]) + 1)


@test
def a_save_leaves_the_settings_and_who_sees_the_leaderboard():
	make_words("shut")
	site.publish("shut")
	sql(
		"UPDATE leaderboards SET visibility = 'closed', deadline = '2020-01-03', "
		"accepting = FALSE, frozen_at = '2020-01-02', archived_at = '2020-01-04' "
		"WHERE name = 'shut'"
	)

	def settings():
		return sql(
			"SELECT visibility, deadline, accepting, frozen_at, archived_at, sources_open, "
			"practice, source_license, secret_seed, (SELECT GROUP_CONCAT(gpu) "
			"FROM leaderboard_gpus g WHERE g.leaderboard_id = l.id) "
			"FROM leaderboards l WHERE name = 'shut'"
		)

	address, before = "/admin/leaderboard/shut/task", settings()
	save({**open_editor(address=address), "description": "New."}, address=address)
	fields = open_editor(address=address)
	fields["definition"] = fields["definition"].replace(*SHAPES)
	save(fields, address=address)
	equal(wanted("shut"), [["2"]])
	equal(
		sql(
			"SELECT p.visibility FROM publications p JOIN leaderboards l "
			"ON l.id = p.leaderboard_id WHERE l.name = 'shut'"
		),
		[["closed"]],
	)
	site.publish("shut", "2")
	equal([row[3] for row in stored("shut")], ["0", "1"])
	equal(settings(), before)
	equal(anyone.get(fresh("/leaderboard/shut")).status, 404)


@test
def texts_that_are_too_large_are_refused_together():
	before, fields, large = stored(), open_editor(), "x" * (4 << 20)
	for change, sentences in (
		(
			{"definition": f"{fields['definition']}# {large}", "template_Python": large + "x"},
			("2 fields", "the file task.yml is larger than", "the file submission.py is larger"),
		),
		({"description": large}, ("Correct this first", "the text is longer than 131072 bytes")),
		({"template_Python": large[: 1 << 20]}, ("Correct this first", "is larger than 1 MB")),
	):
		answer = send_editor({**fields, **change}, "save")
		equal(answer.status, 422)
		for sentence in sentences:
			contains(answer.words(), sentence)
		for name, text in change.items():
			equal(fields_of(answer)[name] == text, True)
	equal(send_editor({**fields, "definition": 3 * large}, "save").status, 413)
	equal(stored(), before)


@test
def a_device_must_be_able_to_run_the_language():
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", "slow"), ("gpu", "CPU"), ("visibility", "hidden")],
			[("task", "task.zip", zip_of({"task.yml": TASK, "eval.py": "# checks\n"}))],
		)
	)
	address = "/admin/leaderboard/slow/task"
	fields, before = open_editor(address=address), stored("slow")
	for old, new in (
		("lang: py", "lang: cu"),
		("submission.py", "submission.cu"),
		("name: eval.py", "name: eval.cu"),
		("{main: eval.py}", "{sources: [eval.cu]}"),
	):
		fields["definition"] = fields["definition"].replace(old, new)
	contains(preview(fields, 422, address=address).words(), "which CPU cannot run; remove CPU.")
	equal(stored("slow"), before)


@test
def faults_are_listed_and_the_texts_stay_as_typed():
	before, fields = stored(), open_editor()
	for change, sentence in (
		({"definition": "lang: py\r\ntests: <i>\r\n"}, "lacks the key"),
		({"definition": ""}, "The task has errors."),
		({"definition": fields["definition"].replace("eval.py}", "no.py}")}, "no.py"),
		({"template_Python": ""}, "is empty"),
		({"description": "\x01"}, "Podium cannot write this description into task.yml."),
		(
			{"definition": fields["definition"].replace('""', "Twice.")},
			"leave the key description in task.yml empty",
		),
	):
		for action in ("preview", "save"):
			answer = whole(send_editor({**fields, **change}, action))
			equal((change, answer.status), (change, 422))
			contains(answer.words(), sentence)
			for name, text in change.items():
				equal(fields_of(answer)[name], text)
	wrong = {"template_Python": "", "definition": f"{fields['definition']}more: 1\n"}
	answer = whole(send_editor({**fields, **wrong, "description": "x" * (4 << 20)}, "save"))
	for sentence in ("2 fields", "is empty", 'no key "more"', "is longer than 131072 bytes"):
		contains(answer.words(), sentence)
	equal(stored(), before)
	equal(dora.post(EDITED, [("action", "save")], csrf=dora.csrf("/account")).status, 403)


@test
def a_task_keeps_the_harness_of_its_version_until_it_runs_differently():
	make_words("older", sealed(TEMPLATE_TASK))
	sql(
		"INSERT INTO blobs (sha256, content, size) VALUES (UNHEX(SHA2('old', 256)), 'old', 3); "
		"UPDATE task_files f JOIN task_versions v ON v.id = f.task_version_id JOIN leaderboards l "
		"ON l.id = v.leaderboard_id SET f.sha256 = UNHEX(SHA2('old', 256)) WHERE l.name = 'older' "
		"AND f.role = 'file' AND f.path = 'utils.py'"
	)
	address = "/admin/leaderboard/older/task"
	fields = open_editor(address=address)
	save({**fields, "description": "New."}, address=address)
	equal([row[:2] for row in stored("older")], [["1", "1"]])
	equal(carl.get("/leaderboard/older/raw/file/utils.py").text, "old")
	fields = open_editor(address=address)
	fields["definition"] = fields["definition"].replace(*SHAPES)
	contains(preview(fields, address=address).words(), "runs differently: benchmarks, utils.py.")
	save(fields, address=address)
	equal([row[:2] for row in stored("older")], [["1", "1"], ["2", "0"]])
	lacks(carl.get("/leaderboard/older/raw/file/utils.py").text[:3], "old")


@test
def a_task_of_a_single_reference_is_edited_as_its_reference():
	code = '"""Old words."""\ndef generate_input(): ...\nref_kernel = abs\n'
	code += "def check_implementation(a, b): ...\n"
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", "single"), WAITS, ("visibility", "hidden")],
			[("task", "reference.py", code.encode())],
		)
	)
	address = "/admin/leaderboard/single/task"
	fields = open_editor(address=address)
	equal("description" in fields, False)
	equal(fields["definition"], code.replace("\n", "\r\n"))
	fields["definition"] = fields["definition"].replace("Old", "New *and*")
	shown = preview(fields, address=address)
	contains(shown.words(), "because it runs differently: description, reference_code.py.")
	contains(shown.text, "<em>and</em>")
	ok(send_editor(fields_of(shown), "save", address=address))
	equal([row[3:] for row in stored("single")], [["0", "Old words."], ["1", "New *and* words."]])
	typed = {**open_editor(address=address), "definition": "ref_kernel = abs\r\n"}
	contains(preview(typed, 422, address=address).words(), "it has no generate_input")


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
