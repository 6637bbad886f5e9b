#!/usr/bin/env python3
"""What the worker stores of a result in addition to its cases: profiles, their files, and the state
of the GPU."""

import json
import gzip
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import pretend_driver, pretend_ncu  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from workers import (
	HARNESS,
	TASK,
	Worker,
	admin,
	close,
	job,
	load_task,
	scratch,
	sql,
	submit,
	wait_for,
)  # noqa: E402

SIZE = 1500000


def on_gpus():
	environment, _ = pretend_ncu(scratch / "ncu", size=SIZE)
	return Worker(
		"gpus", **pretend_driver(scratch / "driver"), **environment, PODIUM_WORKER_CPU="0"
	)


@test
def a_profile_is_stored_with_text_and_file_and_never_ranked():
	load_task(
		"profiled",
		TASK.replace("[CPU]", "[H200]").replace("{seed: 3}", "{seed: 3}, {seed: 4}")
		+ "ranking_by: geom\n",
		HARNESS,
	)
	with on_gpus():
		number = submit(mode="profile", board="profiled", gpu="H200")
		wait_for(number)
	equal(job(number, "verdict, score_ns, progress"), ["passed", "NULL", ""])
	equal(
		sql(
			f"SELECT position, name, verdict FROM stages WHERE job_id = {number} ORDER BY position"
		),
		[
			["0", "compile", "passed"],
			["1", "test", "passed"],
			["2", "profile", "passed"],
			["3", "profile", "passed"],
		],
	)
	equal(
		sql(
			"SELECT m.case_index, m.spec, m.message, m.mean_ns, SUBSTRING_INDEX(m.report, "
			"'\\n', 1) "
			"FROM measurements m "
			f"JOIN stages t ON t.id = m.stage_id WHERE t.job_id = {number} AND t.name = 'profile' "
			"ORDER BY m.case_index"
		),
		[
			["0", "seed: 3", "", "NULL", "Section: GPU Speed Of Light"],
			["1", "seed: 4", "", "NULL", "Section: GPU Speed Of Light"],
		],
	)
	equal(
		sql(
			"SELECT a.name, a.size, COUNT(*) FROM artifacts a JOIN artifact_parts p ON "
			"p.artifact_id "
			"= a.id JOIN stages t ON t.id = a.stage_id "
			f"WHERE t.job_id = {number} GROUP BY a.id ORDER BY a.name"
		),
		[[f"profile-{i}.ncu-rep", str(SIZE), "3"] for i in (1, 2)],
	)
	parts = sql(
		"SELECT HEX(p.content) FROM artifacts a JOIN artifact_parts p ON p.artifact_id = a.id "
		"JOIN stages t ON t.id = a.stage_id "
		f"WHERE t.job_id = {number} AND a.name = 'profile-2.ncu-rep' ORDER BY p.part"
	)
	equal(len(gzip.decompress(b"".join(bytes.fromhex(part[0]) for part in parts))), SIZE)
	equal(sql("SELECT COUNT(*) FROM ranking"), [["0"]])


@test
def a_timed_stage_is_stored_with_the_state_of_its_gpu():
	with on_gpus():
		number = submit(board="profiled", gpu="H200")
		wait_for(number)
	equal(job(number, "verdict"), "passed")
	rows = sql(
		"SELECT name, COALESCE(conditions, ''), COALESCE(kernels, '') FROM stages WHERE job_id = "
		f"{number} ORDER BY position"
	)
	equal(
		[(name, bool(conditions), kernels) for name, conditions, kernels in rows],
		[("compile", False, ""), ("test", False, ""), ("ranked", True, "")],
	)
	equal(json.loads(rows[2][1])["before"]["slowed_by"], ["power cap"])
	environment = json.loads(job(number, "environment"))
	equal(
		[environment[key] for key in ("device", "product", "cuda")], ["H200", "NVIDIA H200", "13.1"]
	)
	contains(environment, "host")


@test
def a_job_that_runs_twice_has_one_profile():
	with on_gpus():
		number = submit(mode="profile", board="profiled", gpu="H200")
		wait_for(number)
		sql(
			"UPDATE jobs SET state = 'queued', verdict = NULL, lease_owner = NULL WHERE id = "
			f"{number}"
		)
		wait_for(number)
	equal(
		sql(
			"SELECT COUNT(*), MAX(LENGTH(report)) FROM measurements m JOIN stages t ON t.id = "
			f"m.stage_id WHERE t.job_id = {number} AND report IS NOT NULL"
		),
		[["2", str(len(f"Section: GPU Speed Of Light\n{SIZE}\n"))]],
	)
	equal(
		sql(
			"SELECT COUNT(*) FROM artifacts a JOIN stages t ON t.id = a.stage_id WHERE t.job_id = "
			f"{number}"
		),
		[["2"]],
	)


@test
def deleting_a_leaderboard_deletes_its_files():
	sql("DELETE FROM leaderboards WHERE name = 'profiled'")
	equal(
		sql("SELECT COUNT(*) FROM artifacts UNION ALL SELECT COUNT(*) FROM artifact_parts"),
		[["0"], ["0"]],
	)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
