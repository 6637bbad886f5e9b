#!/usr/bin/env python3
"""A dry run of a task judges its reference, answers that skip the work, and its samples, on this
machine's CPU."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import done as ok, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(PODIUM_PYTHON="")  # an empty value selects the Python that has torch
sql = site.sql
anyone, carl, dora, admin = (Client(site.url) for _ in range(4))
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

BARE = TASK.split("podium:")[0]
FILLED = """
import torch


def generate_input(seed):
    return torch.full((4,), float(seed)), torch.full((4,), float("nan"))


def ref_kernel(data):
    return data[0] + 1


def is_output_of(data, output):
    return output.data_ptr() == data[1].data_ptr()


def check_implementation(data, output):
    return torch.equal(output, ref_kernel(data)), 'not the same'
"""
CUDA = """
lang: cu
description: A small task in CUDA.
files:
  - {name: submission.cu, source: "@SUBMISSION@"}
  - {name: reference.cuh, source: reference.cuh}
  - {name: task.h, source: task.h}
  - {name: eval.cu, source: "@STOCK@"}
  - {name: utils.h, source: "@STOCK@"}
config: {sources: [eval.cu, submission.cu]}
tests: [{seed: 1}]
benchmarks: [{seed: 3}]
podium:
  expected:
    - {source: samples/right.cu, verdict: passed}
"""


def make_board(
	name,
	reference=" + 1",
	wrong="wrong answer",
	right=False,
	task=TASK,
	device="CPU",
	samples=True,
	whole_reference=None,
):
	files = {
		"task.yml": (task % wrong if "%s" in task else task)
		+ ("    - {source: samples/right.py, verdict: passed}\n" if right else ""),
		"reference.py": whole_reference or REFERENCE % reference
		if samples
		else "def generate_input(seed): return seed\n\n\ndef check_implementation(data, output): "
		"return True, ''\n",
		"reference.cuh": "__global__ void f(float *a);\n",
		"task.h": "",
		**{
			path: "def custom_kernel(data):\n    return data + 1\n"
			for path in (["samples/right.py", "samples/right.cu"] if samples else [])
		},
		"samples/raises.py": "def custom_kernel(data):\n    raise ValueError('no')\n",
		"samples/wrong.py": "def custom_kernel(data):\n    return 'wrong'\n",
	}
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", name), ("gpu", device), ("accepting", "1"), ("visibility", "hidden")],
			[("task", "task.zip", zip_of(files))],
		)
	)
	site.publish(name)


def report(name):
	"""Runs a dry run to its end. Returns for each entry the expected outcome, the actual one, and
	whether they agree."""
	ok(
		carl.post(
			f"/admin/leaderboard/{name}/dryrun?version=1", form=f"/admin/leaderboard/{name}/dryrun"
		)
	)
	page = lambda: whole(carl.get(f"/admin/leaderboard/{name}/dryrun?version=1")).words()
	until(lambda: "Run again" in page(), 300, page)
	return page()


@test
def all_outcomes_of_a_sound_task_are_as_expected():
	for client, who in ((carl, "carl"), (dora, "dora")):
		client.register(who)
	sql("UPDATE users SET role = 'creator'  WHERE name IN ('carl', 'dora')")
	make_board("sound")
	contains(whole(carl.get("/admin/leaderboard/sound/dryrun")).words(), "Start the dry run")
	words = report("sound")
	contains(words, "All 7 outcomes are as expected. 2 of them are no evidence about the check.")
	for part in (
		"the reference passed passed ✓ as expected",
		"zeros not passed runtime error no evidence",
		"an empty file not passed",
		"the input, returned not passed wrong answer ✓ as expected",
		"samples/raises.py runtime error runtime error ✓ as expected",
		"samples/wrong.py wrong answer wrong answer ✓ as expected",
	):
		contains(words, part)


@test
def the_report_has_time_and_memory_of_each_entry_and_says_what_was_not_tried():
	page = carl.get("/admin/leaderboard/sound/dryrun?version=1").words()
	contains(page, "Duration Memory")
	lacks(page, "GPU’s memory")
	rows = re.findall(r"([\d.]+) (ms|s) ([\d.]+) (kB|MB|GB)\b", page)
	equal(len(rows), 7)
	assert all(unit == "MB" for _, _, _, unit in rows), rows
	lacks(page, "Not tested")
	status = carl.get("/admin/leaderboard/sound/dryrun/status?version=1").json
	equal(
		(status["state"], [job["verdict"] for job in status["jobs"]].count("passed")), ("done", 1)
	)
	lacks(page, "takes jobs just now")
	equal(
		sql(
			"SELECT COUNT(*) FROM stages WHERE name <> 'compile' AND peak_host_bytes > 1000000 AND "
			"peak_device_bytes IS NULL"
		),
		sql("SELECT COUNT(*) FROM stages WHERE name <> 'compile'"),
	)


def entries():
	return [int(row[0]) for row in sql("SELECT id FROM submissions WHERE dry_run ORDER BY id")]


@test
def dry_run_submissions_are_never_ranked():
	equal(sql("SELECT COUNT(*) FROM submissions WHERE practice AND dry_run"), [["7"]])
	equal(
		sql(
			"SELECT (SELECT COUNT(*) FROM ranking) + (SELECT COUNT(*) FROM records) + (SELECT "
			"COUNT(*) FROM user_days) "
			"+ (SELECT COUNT(*) FROM job_times) + (SELECT COUNT(*) FROM leaderboard_counts)"
		),
		[["0"]],
	)
	equal(anyone.get(f"/leaderboard/sound.json?{time.time()}").json["rows"], [])
	equal(len(anyone.get(f"/leaderboard/sound.csv?{time.time()}").text.strip().splitlines()), 1)
	lacks(anyone.get(f"/leaderboard/sound.atom?{time.time()}").text, "<entry>")


@test
def they_appear_in_no_history_quota_activity_or_list():
	number = entries()[0]
	for address in (
		"/mine",
		"/leaderboard/sound/mine",
		"/user/carl",
		"/queue",
		"/leaderboard/sound",
		"/",
		"/leaderboard/sound/submit",
	):
		page = whole(carl.get(f"{address}?{time.time()}"))
		for one in entries():
			lacks(page.text, f"/submission/{one}")
	contains(carl.get("/mine").words(), "Your submissions will appear here")
	lacks(carl.get("/account/export").text, "reference_as_submission.py")
	sql(
		"INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) SELECT id, 'test', 1, "
		"24 FROM leaderboards WHERE name = 'sound'"
	)
	answer = ok(
		carl.post(
			"/leaderboard/sound/submit",
			[
				("mode", "test"),
				("gpu", "CPU"),
				("code", "def custom_kernel(data):\n    return data + 1\n"),
			],
		)
	)
	own = int(answer.location.rsplit("/", 1)[1])
	equal(sql("SELECT submissions, participants FROM leaderboard_counts"), [["1", "1"]])
	compare = whole(carl.get(f"/compare?b={own}")).text
	for one in entries():
		lacks(compare, f"a={one}&")
	contains(
		whole(carl.get(f"/submission/{number}")).words(),
		"This submission belongs to the dry run of version 1",
	)
	lacks(carl.get(f"/submission/{number}").words(), "Submit again…")
	equal(
		carl.post(
			"/leaderboard/sound/submit",
			[
				("mode", "test"),
				("gpu", "CPU"),
				("code", "def custom_kernel(data):\n    return 1\n"),
			],
		).status,
		429,
	)
	sql("DELETE FROM leaderboard_quotas")


@test
def strangers_find_none_of_them_before_or_after_the_deadline():
	sql("UPDATE leaderboards SET sources_open = 'deadline' WHERE name = 'sound'")
	for deadline in ("NULL", "UTC_TIMESTAMP(3) - INTERVAL 1 DAY"):
		sql(f"UPDATE leaderboards SET deadline = {deadline} WHERE name = 'sound'")
		for one in entries():
			for client in (anyone, dora):
				for path in (
					f"/submission/{one}",
					f"/submission/{one}/status",
					f"/submission/{one}/source",
					f"/compare?a={one}&b={one}",
				):
					equal(
						(
							path,
							client.get(f"{path}{'&' if '?' in path else '?'}{time.time()}").status,
						),
						(path, 404),
					)
			equal(carl.get(f"/submission/{one}/source").status, 200)
	sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'sound'")


@test
def the_queue_shows_them_only_to_their_starter():
	job = sql(f"SELECT id FROM jobs WHERE submission_id = {entries()[0]}")[0][0]
	sql(f"UPDATE jobs SET state = 'queued', verdict = NULL, gpu = 'Z9000' WHERE id = {job}")
	page = whole(carl.get("/queue")).words()
	contains(page, f" {entries()[0]} dry run ")
	contains(page, "sound by carl queued 1st in line")
	for client in (anyone, dora):
		lacks(client.get(f"/queue?{time.time()}").text, f"/submission/{entries()[0]}")
		lacks(
			[one["submission"] for one in client.get(f"/queue/status?{time.time()}").json["jobs"]],
			entries()[0],
		)
	equal(sql(f"SELECT user_id FROM jobs WHERE id = {job}"), [["0"]])
	# A model without devices has no line, so the job runs on the model of the worker.
	sql(
		"UPDATE jobs SET state = 'running', gpu = 'CPU', lease_owner = 'far', lease_expires = "
		f"UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE id = {job}"
	)
	queue = lambda: anyone.get(f"/queue?{time.time()}").words()
	hidden = "The jobs in the queue are dry runs, or their leaderboards are hidden."
	until(lambda: hidden in queue(), 10, queue)
	sql(
		"UPDATE jobs SET state = 'done', verdict = 'passed', lease_owner = NULL, "
		f"lease_expires = NULL WHERE id = {job}"
	)
	until(lambda: "Nothing is waiting." in queue(), 10, queue)


@test
def they_make_no_members_of_a_closed_leaderboard_and_are_not_rejudged():
	sql("DELETE FROM leaderboard_members; UPDATE submissions SET mode = 'ranked' WHERE dry_run")
	own = sql("SELECT id FROM submissions WHERE NOT dry_run")[0][0]
	sql(
		"UPDATE submissions SET user_id = (SELECT id FROM users WHERE name = 'dora') WHERE id = "
		f"{own}"
	)
	ok(
		carl.post(
			"/admin/leaderboard/sound/publishing",
			[("action", "save"), ("visibility", "closed"), ("confirm", "yes")],
		)
	)
	equal(
		sql("SELECT u.name FROM leaderboard_members m JOIN users u ON u.id = m.user_id"), [["dora"]]
	)
	ok(
		carl.post(
			"/admin/leaderboard/sound/publishing",
			[("action", "save"), ("visibility", "public"), ("confirm", "yes")],
		)
	)
	equal(
		admin.post("/register", [("name", "root-of-all"), ("password", "a long password")]).status,
		303,
	)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	admin.post(
		"/admin/rejudgings",
		[("scope", "all"), ("leaderboard", "sound"), ("gpu", "")],
		form="/account",
	)
	equal(sql("SELECT COUNT(*) FROM rejudged_jobs"), [["0"]])


@test
def a_timed_sample_becomes_a_baseline_without_a_link_to_its_submission():
	make_board("timed", right=True)
	contains(report("timed"), "samples/right.py passed passed ✓ as expected")
	equal(sql("SELECT path, submission_id FROM baselines"), [["samples/right.py", "NULL"]])
	page = whole(anyone.get(f"/leaderboard/timed?{time.time()}"))
	contains(page.words(), "right.py sample")
	for one in entries():
		lacks(page.text, f"/submission/{one}")
	equal(sql("SELECT COUNT(*) FROM ranking"), [["0"]])


@test
def the_page_says_what_cannot_be_tried():
	make_board("bare", task=BARE, device="Z9000", samples=False)
	ok(carl.post("/admin/leaderboard/bare/dryrun?version=1", form="/admin/leaderboard/bare/dryrun"))
	words = whole(carl.get("/admin/leaderboard/bare/dryrun?version=1")).words()
	contains(words, "No device of this model takes jobs now")
	contains(words, "Not tested The reference: reference.py has no function ref_kernel")
	contains(words, "No sample must pass either")
	contains(words, "Samples: task.yml names none under podium: expected: .")
	lacks(words, "the reference passed")
	equal(carl.get("/admin/leaderboard/bare/dryrun/status?version=1").json["state"], "running")
	equal(dora.get("/admin/leaderboard/bare/dryrun/status?version=1").status, 403)


@test
def a_task_in_cuda_is_tried_as_far_as_its_form_allows():
	for name, changes, purposes, untried in (
		(
			"whole",
			"",
			["an empty file", "an output without content", "samples/right.cu"],
			"The samples that must pass replace it.",
		),
		(
			"kernel",
			"  kernel_signature: __global__ void f(float *a)\n",
			["an empty file", "a kernel that does nothing", "samples/right.cu"],
			"in CUDA C++ their form depends on the task's types",
		),
	):
		make_board(name, task=CUDA + changes, device="Z9000")
		ok(
			carl.post(
				f"/admin/leaderboard/{name}/dryrun?version=1",
				form=f"/admin/leaderboard/{name}/dryrun",
			)
		)
		words = whole(carl.get(f"/admin/leaderboard/{name}/dryrun?version=1")).words()
		equal(
			[
				row[0]
				for row in sql(
					"SELECT e.purpose FROM dry_run_entries e JOIN submissions s ON s.id = "
					"e.submission_id "
					"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = "
					f"'{name}' ORDER BY s.id"
				)
			],
			purposes,
		)
		contains(words, "The reference: in CUDA C++ it shares a file with the check")
		contains(words, untried)
	contains(
		sql(
			"SELECT b.content FROM blobs b JOIN submissions s ON s.sha256 = b.sha256 WHERE "
			"s.file_name = 'does_nothing.cu'"
		)[0][0],
		"__global__ void f(float *a)",
	)
	sql(
		"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id SET j.state = 'done', "
		"j.verdict = 'compile error' "
		"WHERE s.file_name IN ('no_content.cu', 'empty.cu')"
	)
	words = whole(carl.get("/admin/leaderboard/whole/dryrun?version=1")).words()
	contains(words, "an output without content not passed compile error no evidence")
	contains(words, "an empty file not passed compile error ✓ as expected")


@test
def a_cuda_reference_compiled_with_the_answer_is_tried_too():
	single = zip_of(
		{
			"reference_code.cuh": "#include <vector>\nusing input_t = std::vector<float>;\n"
			"using output_t = input_t;\n"
			"input_t generate_input() { return {}; }\noutput_t ref_kernel(input_t data) { return "
			"data; }\n"
			"bool check_implementation(output_t a, output_t b) { return a == b; }\n"
		}
	)
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", "single"), ("gpu", "Z9000"), ("visibility", "hidden")],
			[("task", "single.zip", single)],
		)
	)
	ok(
		carl.post(
			"/admin/leaderboard/single/dryrun?version=1", form="/admin/leaderboard/single/dryrun"
		)
	)
	words = whole(carl.get("/admin/leaderboard/single/dryrun?version=1")).words()
	contains(words, "the reference passed queued")
	lacks(words, "The reference:")


@test
def the_reference_of_a_task_that_is_a_single_file_is_in_reference_code():
	folder = pathlib.Path(__file__).resolve().parents[3] / "tasks" / "prefixsum_single"
	files = {
		str(path.relative_to(folder)): path.read_text()
		for path in folder.rglob("*")
		if path.is_file()
	}
	ok(
		carl.post(
			"/admin/leaderboards/new",
			[("name", "sums"), ("gpu", "CPU"), ("accepting", "1"), ("visibility", "hidden")],
			[("task", "task.zip", zip_of(files))],
		)
	)
	words = report("sums")
	contains(words, "the reference passed passed ✓ as expected")
	contains(words, "outcomes are as expected.")
	lacks(words, "The reference:")


@test
def a_weak_check_and_a_wrong_expectation_are_reported():
	make_board("weak", reference="", wrong="passed")
	words = report("weak")
	contains(words, "2 outcomes of 7 are not as expected.")
	contains(words, "the input, returned not passed passed not as expected")
	contains(words, "samples/wrong.py passed wrong answer not as expected")
	contains(words, "the reference passed passed ✓ as expected")


@test
def one_dry_run_runs_at_a_time_and_only_creators_start_it():
	before = sql("SELECT COUNT(*) FROM dry_runs")
	sql("UPDATE jobs SET state = 'queued', gpu = 'Z9000' ORDER BY id DESC LIMIT 1")
	refused = carl.post("/admin/leaderboard/weak/dryrun?version=1", csrf=carl.csrf("/account"))
	equal(refused.status, 409)
	contains(whole(refused).words(), "A dry run of this version is running")
	equal(
		dora.post("/admin/leaderboard/weak/dryrun?version=1", csrf=dora.csrf("/account")).status,
		403,
	)
	equal(
		carl.post("/admin/leaderboard/weak/dryrun?version=9", csrf=carl.csrf("/account")).status,
		404,
	)
	equal(sql("SELECT COUNT(*) FROM dry_runs"), before)
	sql(
		"DELETE g FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id WHERE "
		"l.name = 'sound'"
	)
	refused = carl.post("/admin/leaderboard/sound/dryrun?version=1", csrf=carl.csrf("/account"))
	equal(refused.status, 422)
	contains(whole(refused).words(), "sound has no device, so nothing can run")
	equal(sql("SELECT COUNT(*) FROM dry_runs"), before)
	lacks(refused.words(), "Internal error")


@test
def deleting_a_leaderboard_deletes_its_dry_runs():
	for board in ("sound", "weak", "timed", "bare", "whole", "kernel", "single", "sums"):
		ok(carl.post(f"/admin/leaderboard/{board}/delete", [("name", board)]))
	equal(
		sql("SELECT (SELECT COUNT(*) FROM dry_runs) + (SELECT COUNT(*) FROM dry_run_entries)"),
		[["0"]],
	)


@test
def the_reference_also_works_as_an_answer_that_fills_given_memory():
	make_board("filled", task=BARE, whole_reference=FILLED)
	words = report("filled")
	contains(words, "the reference passed passed ✓ as expected")
	contains(words, "the input, returned not passed")


@test
def a_reference_that_is_too_slow_for_its_limit_is_reported():
	slow = (REFERENCE % " + 1").replace(
		"    return data +", "    time.sleep(0.5)\n    return data +"
	)
	slow = "import time\n" + slow.replace("== ref_kernel(data)", "== data + 1")
	make_board("slow", task=BARE + "ranked_timeout: 5\n", whole_reference=slow)
	words = report("slow")
	contains(
		words, "the reference passed time limit not as expected Benchmark 1 of 1 (seed: 3): The "
	)
	contains(words, " fitted, and a time needs 12 calls in 4 blocks. The limit of 5 s was reached.")
	contains(words, " Raise the task’s time limit or make its shapes smaller.")


@test
def a_baseline_outlives_the_account_that_started_its_dry_run():
	make_board("kept", right=True)
	report("kept")
	of_kept = (
		"FROM baselines b JOIN task_versions v ON v.id = b.task_version_id JOIN "
		"leaderboards l ON l.id = v.leaderboard_id WHERE l.name = 'kept'"
	)
	equal(sql(f"SELECT b.path, b.job_id IS NULL {of_kept}"), [["samples/right.py", "0"]])
	ok(carl.post("/account/delete", [("name", "carl"), ("password", "a long password")]))
	equal(sql(f"SELECT b.path, b.job_id IS NULL {of_kept}"), [["samples/right.py", "1"]])
	contains(whole(anyone.get(f"/leaderboard/kept?{time.time()}")).words(), "right.py sample")


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
