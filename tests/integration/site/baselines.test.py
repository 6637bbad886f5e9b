#!/usr/bin/env python3
"""The baselines that a task names: when Podium times them, what pages and programs get, and what
they must not change. The GPUs and podium-run are pretended."""

import csv
import io
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from small_task import EVAL, TASK, case, isolated, register, sealed  # noqa: E402
from small_task import done as ok, send_source, source_of, status_of, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_WORKER_CPU="1")
sql = site.sql
anyone, carl, dora, eve = (Client(site.url) for _ in range(4))
KEPT_S = 1.1  # cgi/page/ranking_notes.h caches for a second
NAMED = """podium:
  baselines:
    - {name: torch, file: torch.py}
    - {name: torch.compile, file: compile.py}
"""
TORCH, COMPILED = source_of(case(20000.0)), source_of(case(10000.0))
READS = "Line 3 reads a value back to the host."


def load(name, task=None, **files):
	"""Creates or changes the leaderboard `name` with podium-admin, without its check."""
	folder = site.var / "tasks" / name
	folder.mkdir(parents=True, exist_ok=True)
	contents = {
		"task.yml": task or isolated(TASK + NAMED),
		"eval.py": EVAL,
		"torch.py": TORCH,
		"compile.py": COMPILED,
		**{f"{key}.py": text for key, text in files.items()},
	}
	for path, text in contents.items():
		(folder / path).write_text(text)
	site.manage("task", "load", "--unchecked", folder)


def times(name, gpu="H200"):
	"""The baselines of the version in use, as [role, path, time]."""
	return sql(
		"SELECT b.role, b.path, ROUND(b.score_ns) FROM baselines b JOIN leaderboards l "
		f"ON l.task_version_id = b.task_version_id WHERE l.name = '{name}' AND b.gpu = '{gpu}' "
		"ORDER BY b.path"
	)


def runs(name, condition="TRUE"):
	"""How many runs of baselines the leaderboard has had."""
	return int(
		sql(
			"SELECT COUNT(*) FROM submissions s JOIN jobs j ON j.submission_id = s.id "
			"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE s.dry_run AND NOT EXISTS "
			"(SELECT 1 FROM dry_run_entries e WHERE e.submission_id = s.id) "
			f"AND l.name = '{name}' AND {condition}"
		)[0][0]
	)


def rankings(name, more=""):
	return anyone.get(f"/api/v1/leaderboards/{name}/rankings?gpu=H200{more}")


BOTH = [["baseline", "torch", "20000"], ["baseline", "torch.compile", "10000"]]


@test
def each_baseline_is_timed_on_each_device_after_everything_else():
	register(site, {"carl": carl, "dora": dora, "eve": eve, "root-of-all": Client(site.url)})
	load("small")
	for gpu in ("H200", "CPU"):
		until(lambda: times("small", gpu) == BOTH, 60, lambda: sql("SELECT * FROM jobs"))
	ours = "j.priority = 2 AND j.user_id = 0 AND s.mode = 'ranked' AND s.practice"
	equal((runs("small"), runs("small", ours)), (4, 4))
	time.sleep(2.5)  # podium-web looks each second
	equal(runs("small"), 4)
	equal(
		sql("SELECT (SELECT COUNT(*) FROM ranking), (SELECT COUNT(*) FROM records)"), [["0", "0"]]
	)
	equal(sql("SELECT DISTINCT submission_id FROM baselines"), [["NULL"]])


@test
def the_page_marks_them_and_shows_the_speed_up_against_one():
	number = send_source(dora, source_of(case(5000.0)))
	until(lambda: status_of(dora, number)["state"] == "done", 60)
	time.sleep(KEPT_S)
	usual = anyone.fresh("/leaderboard/small?gpu=H200")
	contains(usual.words(), "torch baseline 20.000 ± 0.020 µs")
	contains(usual.words(), "torch.compile baseline 10.000 ± 0.020 µs")
	lacks(usual.words(), "×")
	more = anyone.fresh("/leaderboard/small?gpu=H200&columns=all").words()
	for words in ("Speed-up", "4.00×", "2.00×", "1.00×", "the time of the baseline torch, divided"):
		contains(more, words)
	other = anyone.fresh("/leaderboard/small?gpu=H200&columns=all&baseline=torch.compile").words()
	for words in ("2.00×", "1.00×", "0.50×", "the time of the baseline torch.compile, divided"):
		contains(other, words)
	lacks(other, "4.00×")
	equal(anyone.fresh("/leaderboard/small?gpu=H200&baseline=jax").status, 400)
	contains(anyone.fresh("/leaderboard/small?gpu=H200&view=shapes").words(), "torch baseline")
	contains(anyone.fresh("/leaderboard/small?gpu=H200&view=trend").words(), "torch")


@test
def programs_get_them_apart_from_the_ranked_users():
	data = anyone.fresh("/leaderboard/small.json?gpu=H200").json
	equal([(row["user"], row["speed_up"]) for row in data["rows"]], [("dora", 4.0)])
	equal(data["baseline"], "torch")
	equal(
		[(one["name"], one["score_ns"], one["speed_up"]) for one in data["baselines"]],
		[("torch", 20000.0, 1.0), ("torch.compile", 10000.0, 2.0)],
	)
	lines = csv.DictReader(io.StringIO(anyone.fresh("/leaderboard/small.csv?gpu=H200").text))
	equal(
		[(row["rank"], row["user"], float(row["speed_up"]), row["baseline"]) for row in lines],
		[("1", "dora", 4.0, ""), ("", "", 1.0, "torch"), ("", "", 2.0, "torch.compile")],
	)
	answer = rankings("small").json
	equal(
		(answer["entries"], answer["baseline"], [row["speed_up"] for row in answer["items"]]),
		(1, "torch", [4.0]),
	)
	equal([one["name"] for one in answer["baselines"]], ["torch", "torch.compile"])
	equal(rankings("small", "&baseline=torch.compile").json["items"][0]["speed_up"], 2.0)
	equal(rankings("small", "&baseline=jax").status, 400)


@test
def a_changed_file_is_timed_again_and_another_name_is_not():
	renamed = isolated(TASK + NAMED.replace("name: torch,", "name: PyTorch-2,"))
	load("small", renamed, compile=source_of(case(12000.0)))
	changed = [["baseline", "PyTorch-2", "20000"], ["baseline", "torch.compile", "12000"]]
	until(lambda: times("small") == changed, 60, lambda: times("small"))
	until(lambda: runs("small", "j.state = 'done'") == 6, 60)
	equal(
		sql(
			"SELECT COUNT(*) FROM task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id "
			"WHERE l.name = 'small'"
		),
		[["1"]],
	)
	time.sleep(KEPT_S)
	contains(anyone.fresh("/leaderboard/small?gpu=H200").words(), "PyTorch-2 baseline 20.000")


@test
def another_version_has_its_own_times():
	load("small", isolated(TASK + NAMED).replace("1024", "2048"), torch=source_of(case(30000.0)))
	wanted = [["baseline", "torch", "30000"], ["baseline", "torch.compile", "10000"]]
	until(lambda: times("small") == wanted, 60, lambda: times("small"))
	old = anyone.fresh("/leaderboard/small?gpu=H200&version=1").words()
	contains(old, "PyTorch-2 baseline 20.000")


@test
def a_sample_that_is_a_baseline_has_one_row():
	task = TASK + NAMED + "  expected: [{source: torch.py, verdict: passed}]\n"
	load("sample", isolated(task))
	until(lambda: times("sample") == BOTH, 60, lambda: times("sample"))
	load("sample", isolated(task.replace(NAMED, "podium:\n")))
	sample = [["sample", "torch.py", "20000"]]
	until(lambda: times("sample") == sample, 60, lambda: times("sample"))
	load("sample", isolated(task))
	until(lambda: times("sample") == BOTH, 60, lambda: times("sample"))


def upload(name, task, **files):
	"""Creates a hidden leaderboard for H200."""
	contents = {"task.yml": task, "eval.py": EVAL, "torch.py": TORCH, "compile.py": COMPILED}
	contents |= {f"{key}.py": text for key, text in files.items()}
	fields = [("name", name), ("gpu", "H200"), ("accepting", "1"), ("visibility", "hidden")]
	ok(carl.post("/admin/leaderboards/new", fields, [("task", "task.zip", zip_of(contents))]))


def report(name):
	return whole(carl.get(f"/admin/leaderboard/{name}/dryrun?version=1")).words()


def dry_run(name):
	address = f"/admin/leaderboard/{name}/dryrun"
	ok(carl.post(f"{address}?version=1", form=address))
	until(lambda: "Run again" in report(name), 60, lambda: report(name))


@test
def a_hidden_board_times_them_after_each_dry_run():
	upload("hidden", isolated(TASK + NAMED))
	time.sleep(2.5)
	equal(runs("hidden"), 0)
	dry_run("hidden")
	until(lambda: times("hidden") == BOTH, 60, lambda: report("hidden"))
	contains(report("hidden"), "torch H200 passed 20.000")
	dry_run("hidden")
	until(lambda: runs("hidden", "j.state = 'done'") == 4, 60)


@test
def a_baseline_that_fails_changes_neither_the_engine_nor_the_check():
	task = sealed(TASK) + NAMED
	cannot = source_of(case(20000.0), needs=["isolated", READS])
	upload("failing", task, torch=cannot)
	dry_run("failing")
	until(lambda: runs("failing", "j.state = 'done'") == 2, 60, lambda: report("failing"))
	contains(report("failing"), f"torch H200 runtime error {READS}")
	equal(times("failing"), [["baseline", "torch.compile", "10000"]])
	equal(
		sql(
			"SELECT e.engine FROM task_engines e JOIN leaderboards l ON "
			"l.task_version_id = e.task_version_id WHERE l.name = 'failing' "
			"AND e.gpu IN ('', 'H200') ORDER BY e.gpu DESC LIMIT 1"
		),
		[["sealed"]],
	)
	site.publish("failing")
	time.sleep(KEPT_S)
	page = anyone.fresh("/leaderboard/failing?gpu=H200&columns=all").words()
	contains(page, "torch.compile baseline")
	lacks(page, "torch baseline")


@test
def they_count_toward_no_quota_of_the_creator_and_never_rank():
	"""The creator carl owns the runs of the leaderboard `failing`."""
	owned = "s.user_id = (SELECT id FROM users WHERE name = 'carl')"
	equal(runs("failing", owned), 2)
	sql(
		"INSERT INTO leaderboard_quotas SELECT id, 'ranked', 1, 24 FROM leaderboards "
		"WHERE name = 'failing'"
	)
	number = send_source(carl, source_of(case(5000.0)), "failing")
	until(lambda: status_of(carl, number)["state"] == "done", 60)
	equal(
		carl.post(
			"/leaderboard/failing/submit", [("mode", "ranked"), ("code", "x = 1"), ("gpu", "H200")]
		).status,
		429,
	)
	for table in ("ranking", "records"):
		equal(
			sql(
				f"SELECT DISTINCT r.submission_id FROM {table} r JOIN leaderboards l "
				"ON l.id = r.leaderboard_id WHERE l.name = 'failing'"
			),
			[[str(number)]],
		)
	equal(sql("SELECT COUNT(*) FROM comparisons"), [["0"]])


@test
def who_sees_the_leaderboard_reads_the_files_and_only_staff_sees_the_runs():
	for path in ("task", "task/baseline/torch", "raw/baseline/torch"):
		equal(anyone.fresh(f"/leaderboard/small/{path}").status, 200)
		equal(anyone.fresh(f"/leaderboard/hidden/{path}").status, 404)
		equal(carl.fresh(f"/leaderboard/hidden/{path}").status, 200)
	contains(anyone.fresh("/leaderboard/small/task").words(), "Baselines")
	equal(anyone.fresh("/leaderboard/small/raw/baseline/torch.compile").text, COMPILED)
	equal(anyone.get("/api/v1/leaderboards/small/files/baseline/torch.compile").text, COMPILED)
	for board in ("small", "failing"):
		number = sql(
			"SELECT MIN(s.id) FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id "
			f"WHERE s.dry_run AND l.name = '{board}'"
		)[0][0]
		for client in (anyone, eve):
			equal(client.fresh(f"/submission/{number}").status, 404)
			equal(client.fresh(f"/submission/{number}/source").status, 404)
		lacks(eve.fresh(f"/leaderboard/{board}?view=submissions").words(), "torch")
	lacks(eve.get("/user/carl").words(), "torch")


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
