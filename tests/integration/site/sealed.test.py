#!/usr/bin/env python3
"""The engine `sealed` from a task's upload to its ranking: which devices get it, what a dry run
finds out about it, and what pages say. The GPUs and podium-run are pretended."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import done as ok, register, send_source, status_of, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_WORKER_CPU="1")
sql = site.sql
anyone, carl, dora, eve = (Client(site.url) for _ in range(4))
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: utils.py, source: "@STOCK@"}
  - {name: eval.py, source: "@STOCK@"}
config: {main: eval.py}
templates: {Python: start.py, Triton: triton.py}
tests: [{size: 1}]
benchmarks: [{size: 1024}]
podium:
  expected:
    - {source: samples/wrong.py, verdict: wrong answer, mode: test}
    - {source: samples/right.py, verdict: passed}
"""
SEALED = (
	"eval.py is Podium's stock harness, so the sealed engine measures on GPUs, and the isolated "
	"engine on the CPU."
)
COUNTS_DEVICE = (
	"The engine “sealed” counts the work of the device: a launcher replays what the submission "
	"launched, without the submission’s CPU code."
)
COUNTS_CALL = "The engine “isolated” counts the call with its CPU code: "
READS = "Line 3 reads a value back to the host."


def result(mean_ns=50000.0, **members):
	"""A submission with this pretended result."""
	case = {
		"runs": 9,
		"mean_ns": mean_ns,
		"std_ns": 1.0,
		"err_ns": 1.0,
		"best_ns": 1,
		"worst_ns": 1,
	}
	return "# " + json.dumps({"cases": [case], **members}) + "\n"


def case(mean_ns):
	return json.loads(result(mean_ns)[2:])["cases"]


WRONG = result(verdict={"verdict": "wrong answer", "reason": "It differs."})
REFERENCE = (
	result(engines={"isolated": {"cases": case(61000.0)}})
	+ "def generate_input(size):\n    pass\n\n\ndef ref_kernel(data):\n    pass\n\n\n"
	"def check_implementation(data, output):\n    pass\n"
)
FILES = {
	"task.yml": TASK,
	"reference.py": REFERENCE,
	"start.py": WRONG,
	"triton.py": result(),
	"samples/right.py": result(),
	"samples/wrong.py": WRONG,
}


def make_board(name, gpus=("H200", "CPU"), **files):
	"""Creates and publishes a leaderboard. Returns the words that its creator reads after the
	upload."""
	contents = {**FILES, **{key.replace("__", "/") + ".py": text for key, text in files.items()}}
	if "task.py" in contents:
		contents["task.yml"] = contents.pop("task.py")
	answer = carl.post(
		"/admin/leaderboards/new",
		[
			("name", name),
			*(("gpu", gpu) for gpu in gpus),
			("accepting", "1"),
			("visibility", "hidden"),
		],
		[("task", "task.zip", zip_of(contents))],
	)
	page = whole(carl.get(ok(answer).location)).words()
	site.publish(name)
	return page


def stored(name):
	return sql(
		"SELECT e.gpu, e.engine, e.reason FROM task_engines e JOIN leaderboards l "
		f"ON l.task_version_id = e.task_version_id WHERE l.name = '{name}' ORDER BY e.gpu"
	)


def engine_on(name, gpu="H200"):
	rows = {row[0]: row[1] for row in stored(name)}
	return rows.get(gpu, rows[""])


def dry_run(name):
	"""Runs a dry run to its end. Returns the words of its report."""
	address = f"/admin/leaderboard/{name}/dryrun"
	ok(carl.post(f"{address}?version=1", form=address))
	page = lambda: whole(carl.get(f"{address}?version=1")).words()
	until(lambda: "Run again" in page(), 60, page)
	return page()


def part_of(report, gpu):
	"""The section of a report that is about a GPU."""
	start = report.index(f" {gpu} ")
	end = report.find(" H200 ", start + 1) if gpu == "CPU" else len(report)
	return report[start:end]


def judged(name, source, gpu="H200", client=dora):
	number = send_source(client, source, board=name, mode="ranked", gpus=(gpu,))
	until(lambda: status_of(client, number)["state"] in ("done", "failed"), 60)
	return status_of(client, number)


def outcome(job):
	return job["verdict"], job["jobs"][0]["engine"]


def ranked(name, gpu="H200"):
	rows = anyone.get(f"/leaderboard/{name}.json?gpu={gpu}&x={time.time()}").json["rows"]
	return [(row["user"], row["engine"]) for row in rows]


@test
def a_stock_python_task_is_sealed_on_gpus_and_isolated_on_the_cpu():
	register(site, {"carl": carl, "dora": dora, "eve": eve})
	sql("UPDATE users SET role = 'creator' WHERE name = 'carl'")
	contains(make_board("stock"), f"The engine is sealed. {SEALED}")
	equal(stored("stock"), [["", "sealed", SEALED], ["CPU", "isolated", SEALED]])
	equal(outcome(judged("stock", result())), ("passed", "sealed"))
	equal(outcome(judged("stock", result(), gpu="CPU")), ("passed", "isolated"))
	equal((ranked("stock"), ranked("stock", "CPU")), ([("dora", "sealed")], [("dora", "isolated")]))


@test
def the_pages_of_a_board_say_what_its_engine_counts():
	contains(whole(anyone.get("/leaderboard/stock?gpu=H200")).words(), COUNTS_DEVICE)
	on_cpu = whole(anyone.get("/leaderboard/stock?gpu=CPU")).words()
	contains(on_cpu, COUNTS_CALL)
	lacks(on_cpu, COUNTS_DEVICE)
	task = whole(anyone.get("/leaderboard/stock/task")).words()
	contains(task, f"Engine sealed. {SEALED} {COUNTS_DEVICE}")
	contains(task, f"Engine on CPU isolated. {SEALED} {COUNTS_CALL}")
	equal(anyone.get("/api/v1/leaderboards/stock").json["engine"], "sealed")
	for gpu, engine in (("H200", "sealed"), ("CPU", "isolated")):
		ranking = anyone.get(f"/api/v1/leaderboards/stock/rankings?gpu={gpu}").json
		equal((ranking["engine"], ranking["items"][0]["engine"]), (engine, engine))


@test
def a_submission_that_cannot_be_recorded_fails_with_the_sentence():
	job = judged("stock", result(needs=["isolated", READS]), client=eve)
	equal((outcome(job), job["jobs"][0]["reason"]), (("runtime error", "sealed"), READS))
	equal(engine_on("stock"), "sealed")


@test
def a_result_of_the_isolated_engine_is_not_ranked_on_a_sealed_board():
	job = judged("stock", result(verdict={"engine": "isolated"}), client=eve)
	equal(ranked("stock"), [("dora", "sealed")])
	contains(
		whole(eve.get(f"/submission/{job['id']}")).words(),
		"This result is not ranked: the engine isolated measured it, and version 1 of the task is "
		"ranked with the engine sealed on H200.",
	)


@test
def the_task_may_choose_the_isolated_engine():
	chosen = TASK.replace("podium:\n", "podium:\n  engine: isolated\n")
	make_board("chosen", task=chosen)
	equal([row[:2] for row in stored("chosen")], [["", "isolated"]])
	equal(outcome(judged("chosen", result())), ("passed", "isolated"))
	contains(whole(anyone.get("/leaderboard/chosen?gpu=H200")).words(), COUNTS_CALL)
	lacks(dry_run("chosen"), "reference, isolated")


@test
def a_dry_run_shows_that_all_files_qualify_and_the_references_two_times():
	make_board("good")
	report = dry_run("good")
	equal(
		[row[:2] for row in stored("good")],
		[["", "sealed"], ["CPU", "isolated"], ["H200", "sealed"]],
	)
	on_gpu, on_cpu = part_of(report, "H200"), part_of(report, "CPU")
	contains(on_gpu, "Every right file can run in the sealed engine on H200: 3 files.")
	contains(on_gpu, f"The engine there is sealed. {COUNTS_DEVICE}")
	contains(
		on_gpu,
		"The reference takes 50.000 ± 0.020 µs in the sealed engine and 61.000 ± 0.020 µs in the "
		"isolated engine.",
	)
	contains(on_gpu, "the reference, isolated passed passed ✓ as expected isolated")
	contains(on_gpu, "start.py any wrong answer ✓ as expected sealed")
	contains(on_gpu, "triton.py any passed ✓ as expected sealed")
	contains(on_gpu, "triton.py, isolated any passed ✓ as expected isolated")
	contains(on_gpu, "samples/right.py passed passed ✓ as expected sealed")
	contains(on_gpu, "samples/right.py, isolated passed passed ✓ as expected isolated")
	lacks(on_gpu, "samples/wrong.py, isolated")
	lacks(on_cpu, ", isolated")
	contains(on_cpu, "the reference passed passed ✓ as expected isolated")
	lacks(on_cpu, "reference, isolated")
	lacks(on_cpu, "sealed")


@test
def a_right_file_that_cannot_be_recorded_lowers_the_engine_of_its_gpu():
	needs = result(needs=["isolated", READS])
	# The reference is the first job, and the sample is a later one that passes in mode ranked.
	for number, path in enumerate(("samples__right", "triton", "reference")):
		name = f"lowered-{number}"
		text = needs + REFERENCE.partition("\n")[2] if path == "reference" else needs
		make_board(name, **{path: text})
		report = dry_run(name)
		purpose = "the reference" if path == "reference" else path.replace("__", "/") + ".py"
		equal(
			stored(name)[2],
			["H200", "isolated", f"A dry run of {purpose} needed this engine: {READS}"],
		)
		contains(
			report,
			"1 file cannot run in the sealed engine on H200. The engine there is isolated. "
			+ COUNTS_CALL,
		)
		contains(report, f"{purpose} needed the engine isolated: {READS}")
		equal(outcome(judged(name, result())), ("passed", "isolated"))
		equal(ranked(name), [("dora", "isolated")])


@test
def baselines_of_another_engine_are_not_shown():
	late = "    - {source: samples/late.py, verdict: passed}\n"
	first = TASK.replace("  expected:\n", f"  expected:\n{late}")
	for name, task in (("late", TASK + late), ("early", first)):
		make_board(
			name,
			task=task,
			samples__late=result(needs=["isolated", READS]),
			samples__right=result(engines={"isolated": {"cases": case(61000.0)}}),
		)
		dry_run(name)
		equal(engine_on(name), "isolated")
		page = anyone.get(f"/leaderboard/{name}?gpu=H200").words()
		contains(page, "samples/late.py sample 50.000 ± 0.020 µs")
		lacks(page, "samples/right.py sample 50.000")
		# The isolated run is a baseline if it came after the engine was lowered. For "late" it may
		# come before or after.
		if name == "early":
			contains(page, "samples/right.py sample 61.000")


@test
def a_file_that_is_no_right_answer_does_not_lower_the_engine():
	make_board(
		"wrong",
		samples__wrong=result(
			needs=["isolated", READS], verdict={"verdict": "wrong answer", "reason": "It differs."}
		),
		start=result(
			needs=["isolated", READS], verdict={"verdict": "runtime error", "reason": "Not done."}
		),
	)
	report = dry_run("wrong")
	equal(engine_on("wrong"), "sealed")
	for path in ("samples/wrong.py", "start.py"):
		contains(
			report,
			f"{path} needed the engine isolated: {READS} This is no right answer, so it does not "
			"change the engine.",
		)


@test
def the_isolated_run_of_the_reference_does_not_count():
	fails = {"verdict": {"verdict": "runtime error", "reason": "No."}}
	make_board("twice", reference=result(engines={"sealed": fails}) + REFERENCE.partition("\n")[2])
	contains(dry_run("twice"), "the reference, isolated passed passed ✓ as expected isolated")
	equal([row[:2] for row in stored("twice")][2:], [["H200", "sealed"]])


@test
def a_right_file_that_fails_in_the_isolated_engine_is_told():
	none = {"score_ns": None, "score_err_ns": None}
	fails = {"verdict": {"verdict": "runtime error", "reason": "It needs the plan.", **none}}
	make_board("apart", samples__right=result(engines={"isolated": fails}))
	report = part_of(dry_run("apart"), "H200")
	contains(report, "samples/right.py passed passed ✓ as expected sealed")
	contains(report, "samples/right.py, isolated passed runtime error")
	equal([row[:2] for row in stored("apart")][2:], [["H200", "sealed"]])


@test
def an_older_worker_does_not_change_the_engine():
	older = result(verdict={"engine": "isolated"})
	make_board(
		"older", reference=older + REFERENCE.partition("\n")[2], samples__right=older, triton=older
	)
	contains(dry_run("older"), "No right file has passed on H200")
	equal([row[:2] for row in stored("older")], [["", "sealed"], ["CPU", "isolated"]])


@test
def the_weakest_engine_of_a_dry_run_counts():
	data = "The input has a class of the task's own."
	make_board(
		"weakest",
		samples__right=result(needs=["isolated", READS]),
		samples__wrong=result(
			needs=["custom", data], verdict={"verdict": "wrong answer", "reason": "It differs."}
		),
	)
	report = dry_run("weakest")
	equal(stored("weakest")[2], ["H200", "custom", data])
	contains(report, "2 files cannot run in the sealed engine on H200. The engine there is custom.")


@test
def a_later_dry_run_finds_the_engine_again():
	sql(
		"UPDATE task_engines e JOIN leaderboards l ON l.task_version_id = e.task_version_id "
		"SET e.engine = 'custom' WHERE l.name = 'good' AND e.gpu = 'H200'"
	)
	dry_run("good")
	equal(engine_on("good"), "sealed")


@test
def a_dry_run_changes_no_engine_that_has_ranked():
	sql(
		"UPDATE task_engines e JOIN leaderboards l ON l.task_version_id = e.task_version_id "
		"SET e.engine = 'sealed' WHERE l.name = 'lowered-0' AND e.gpu = 'H200'; "
		"UPDATE ranking r JOIN leaderboards l ON l.id = r.leaderboard_id SET r.engine = 'sealed' "
		"WHERE l.name = 'lowered-0'"
	)
	contains(dry_run("lowered-0"), "The engine there is sealed.")
	equal(engine_on("lowered-0"), "sealed")


@test
def a_board_without_a_gpu_runs_the_reference_once():
	make_board("cpu", gpus=("CPU",))
	report = dry_run("cpu")
	lacks(report, "reference, isolated")
	lacks(report, "start.py")
	equal([row[:2] for row in stored("cpu")], [["", "sealed"], ["CPU", "isolated"]])


@test
def the_front_page_filters_by_engine():
	page = anyone.get("/").text
	contains(page, "<option>sealed</option>")
	contains(page, 'data-engine="sealed"')
	shown = anyone.get("/?engine=sealed").text
	contains(shown, "/leaderboard/good?gpu=H200")
	lacks(shown, "/leaderboard/good?gpu=CPU")
	lacks(shown, "/leaderboard/chosen?")
	lacks(shown, "/leaderboard/cpu?")
	lacks(shown, 'data-engine="isolated"')
	contains(anyone.get("/?engine=sealed").words(), COUNTS_DEVICE)
	isolated = anyone.get("/?engine=isolated").text
	contains(isolated, "/leaderboard/chosen?gpu=H200")
	contains(isolated, "/leaderboard/good?gpu=CPU")
	lacks(isolated, "/leaderboard/good?gpu=H200")
	refused = anyone.get("/?engine=%3Cb%3E")
	equal(refused.status, 400)
	contains(refused.words(), 'There is no engine "<b>". Choose sealed, isolated or custom.')


@test
def the_page_about_engines_compares_the_three():
	words = anyone.get("/judge").words()
	contains(
		words, "Engine What it times Error What a cheat could gain sealed the work of the device"
	)
	contains(anyone.get("/judge").text, '<h2 id="sealed">')


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
