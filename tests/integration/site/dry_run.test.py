#!/usr/bin/env python3
"""A dry run of a task: its reference, answers without work, its samples, judged on this machine's processor."""
import io
import pathlib
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
sql = site.sql
anyone, carl, dora = (Client(site.url) for _ in range(3))
REFERENCE = """
def generate_input(seed):
    return seed


def ref_kernel(data):
    return data%s


def check_implementation(data, output):
    return output == ref_kernel(data), 'not the same'
"""
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: utils.py, source: "@STOCK@"}
  - {name: eval.py, source: "@STOCK@"}
config: {main: eval.py}
tests: [{seed: 1}, {seed: 2}]
benchmarks: [{seed: 3}]
podium:
  expected:
    - {source: samples/raises.py, verdict: runtime error, mode: test}
    - {source: samples/wrong.py, verdict: %s, mode: test}
"""


def whole(answer):
	"""The page, which nests well and has no name twice."""
	reader = Page()
	reader.feed(answer.text)
	equal((reader.faults, reader.stack, len(reader.ids)), ([], [], len(set(reader.ids))))
	return answer


def ok(answer):
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	return answer


def make_board(name, reference="", wrong="wrong answer"):
	archive = io.BytesIO()
	with zipfile.ZipFile(archive, "w") as pack:
		pack.writestr("task.yml", TASK % wrong)
		pack.writestr("reference.py", REFERENCE % reference)
		pack.writestr("samples/raises.py", "def custom_kernel(data):\n    raise ValueError('no')\n")
		pack.writestr("samples/wrong.py", "def custom_kernel(data):\n    return 'wrong'\n")
	ok(carl.post("/admin/leaderboards/new", [("name", name), ("gpu", "CPU"), ("accepting", "1")], [("task", "task.zip", archive.getvalue())]))


def report(name):
	"""Starts a dry run and waits for its end: what each entry must be, is, and whether it is as it must."""
	ok(carl.post(f"/admin/leaderboard/{name}/dryrun?version=1", form=f"/admin/leaderboard/{name}/dryrun"))
	end = time.time() + 300
	while "Run it again" not in (page := whole(carl.get(f"/admin/leaderboard/{name}/dryrun?version=1"))).words():
		assert time.time() < end, page.words()
		time.sleep(0.2)
	return page.words()


@test
def a_sound_task_has_all_outcomes_as_they_must_be():
	for client, who in ((carl, "carl"), (dora, "dora")):
		equal(client.post("/register", [("name", who), ("password", "a long password")]).status, 303)
	sql("UPDATE users SET role = 'creator'  WHERE name IN ('carl', 'dora')")
	make_board("sound", reference=" + 1")
	contains(whole(carl.get("/admin/leaderboard/sound/dryrun")).words(), "Start the dry run")
	words = report("sound")
	contains(words, "All 7 outcomes are as they must be.")
	for part in ("the reference passed passed as it must", "an empty file not passed", "the input, returned not passed wrong answer as it must",
			"samples/raises.py runtime error runtime error as it must", "samples/wrong.py wrong answer wrong answer as it must"):
		contains(words, part)


@test
def its_submissions_are_never_ranked():
	equal(sql("SELECT COUNT(*) FROM submissions WHERE practice"), [["7"]])
	equal(sql("SELECT COUNT(*) FROM ranking"), [["0"]])
	equal(anyone.get(f"/leaderboard/sound.json?{time.time()}").json["rows"], [])


@test
def a_check_that_is_too_weak_and_an_expectation_that_is_wrong_are_told():
	make_board("weak", wrong="passed")
	words = report("weak")
	contains(words, "2 outcomes of 7 are not as they must be.")
	contains(words, "the input, returned not passed passed not as it must")
	contains(words, "samples/wrong.py passed wrong answer not as it must")
	contains(words, "the reference passed passed as it must")


@test
def one_runs_at_a_time_and_only_its_creators_start_it():
	sql("UPDATE jobs SET state = 'queued', gpu = 'Z9000' ORDER BY id DESC LIMIT 1")
	refused = carl.post("/admin/leaderboard/weak/dryrun?version=1", csrf=carl.csrf("/account"))
	equal(refused.status, 409)
	contains(whole(refused).words(), "A dry run of this version is under way")
	equal(dora.post("/admin/leaderboard/weak/dryrun?version=1", csrf=dora.csrf("/account")).status, 403)
	equal(carl.post("/admin/leaderboard/weak/dryrun?version=9", csrf=carl.csrf("/account")).status, 404)
	equal(sql("SELECT COUNT(*) FROM dry_runs"), [["2"]])
	sql("DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id WHERE l.name = 'sound'")
	refused = carl.post("/admin/leaderboard/sound/dryrun?version=1", csrf=carl.csrf("/account"))
	equal(refused.status, 422)
	contains(whole(refused).words(), "sound has no device, so nothing can run")
	equal(sql("SELECT COUNT(*) FROM dry_runs"), [["2"]])
	lacks(refused.words(), "Something broke")


@test
def a_leaderboard_is_deleted_with_its_dry_runs():
	for board in ("sound", "weak"):
		ok(carl.post(f"/admin/leaderboard/{board}/delete", [("name", board)]))
	equal(sql("SELECT (SELECT COUNT(*) FROM dry_runs) + (SELECT COUNT(*) FROM dry_run_entries)"), [["0"]])


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
