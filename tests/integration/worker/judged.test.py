#!/usr/bin/env python3
"""What the worker stores of the isolated engine's results, and which results it holds instead of
ranking them."""

import base64
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import pretend_driver, pretend_runner  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from workers import (
	BUILD,
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

DEVICE = {"sm_clock_mhz": [1965, 1980], "temperature_c": [31, 33], "slowed_by": []}
SAMPLES = [31900.0, 31950.5, float("nan"), 1e30]


def packed(numbers):
	return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def figures(mean_ns=50000.0, **more):
	return {
		"runs": 100,
		"mean_ns": mean_ns,
		"std_ns": 1.0,
		"err_ns": 1.0,
		"best_ns": mean_ns,
		"worst_ns": mean_ns,
		**more,
	}


JUDGED = figures(
	median_ns=49999.5,
	low_ns=49900.0,
	high_ns=50100.0,
	constant_ns=12500.25,
	own_ns=56000.0,
	gap_ns=12.5,
	blocks=4,
	repeated=1,
	samples=packed(SAMPLES),
	device=DEVICE,
)


def on_gpus():
	return Worker(
		"gpus",
		**pretend_driver(scratch / "driver"),
		**pretend_runner(scratch / "runner", BUILD / "podium-run"),
		PODIUM_WORKER_CPU="0",
	)


def judge(*cases, board="judged", user=1, **verdict):
	number = submit(
		"# " + json.dumps({"cases": cases, "verdict": verdict}), board=board, gpu="H200", user=user
	)
	wait_for(number)
	return number


def stored(number, columns):
	return sql(
		f"SELECT {columns} FROM measurements m JOIN stages t ON t.id = m.stage_id WHERE t.job_id "
		f"= {number} AND t.name = 'ranked' ORDER BY case_index"
	)


def is_held(number):
	ranked = sql(f"SELECT COUNT(*) FROM ranking WHERE job_id = {number}")[0][0]
	held, reason = sql(
		f"SELECT held_at IS NOT NULL, COALESCE(held_reason, '') FROM jobs WHERE id = {number}"
	)[0]
	equal(ranked == "0", held == "1")
	return reason


def load(name, benchmarks="[{size: 4096}]", **formulas):
	podium = ", ".join(
		f"{key}: {value}" for key, value in {"engine": "isolated", **formulas}.items()
	)
	changes = {
		"[CPU]": "[H200]",
		"benchmarks: [{seed: 3}]": f"benchmarks: {benchmarks}",
		"{engine: custom}": f"{{{podium}}}",
	}
	definition = TASK
	for before, after in changes.items():
		assert before in definition, before
		definition = definition.replace(before, after)
	load_task(name, definition, HARNESS)


@test
def the_judges_figures_of_a_case_are_stored():
	load("judged")
	number = judge(JUDGED)
	equal(
		job(number, "verdict, engine, engine_reason, score_ns"),
		["passed", "isolated", "NULL", "50000"],
	)
	equal(
		stored(number, "median_ns, low_ns, high_ns, constant_ns, own_ns, gap_ns, blocks, repeated"),
		[["49999.5", "49900", "50100", "12500.25", "56000", "12.5", "4", "1"]],
	)
	equal(json.loads(stored(number, "device")[0][0]), DEVICE)
	equal(bytes.fromhex(stored(number, "HEX(samples)")[0][0]), struct.pack("<4f", *SAMPLES))
	equal(is_held(number), "")


@test
def a_result_of_the_custom_engine_is_stored_with_the_reason_for_the_engine():
	number = judge(
		figures(), engine="custom", engine_reason="The input has a class of the task's own."
	)
	equal(
		job(number, "engine, engine_reason"), ["custom", "The input has a class of the task's own."]
	)
	equal(
		stored(number, "mean_ns, median_ns, low_ns, constant_ns, blocks, samples, device"),
		[["50000", *["NULL"] * 6]],
	)


@test
def samples_and_counts_that_do_not_fit_are_dropped_and_the_result_is_kept():
	for samples in (
		packed([1.0] * 4001),
		"%%%",
		packed([1.0])[:-3],
		"x" * 500000,
		17,
		base64.b64encode(b"12345").decode(),
	):
		number = judge(
			{
				**JUDGED,
				"samples": samples,
				"blocks": 70000,
				"repeated": -1,
				"own_ns": "many",
				"device": {"x": "y" * 5000},
			}
		)
		equal(
			stored(number, "mean_ns, constant_ns, samples, blocks, repeated, own_ns, device"),
			[["50000", "12500.25", *["NULL"] * 5]],
		)
	most = judge({**JUDGED, "samples": packed([1.0] * 4000)})
	equal(stored(most, "LENGTH(samples)"), [["16000"]])


@test
def a_time_faster_than_the_gpus_memory_is_held():
	load("copies", bytes="6 * size * size")
	reason = is_held(judge(figures(4100.0), board="copies"))
	contains(
		reason,
		"Shape (size: 4096): 4.100 µs for 101 MB would be 24.6 TB/s; the memory of H200 moves "
		"4.8 TB/s",
	)
	equal(is_held(judge(figures(8000.0), board="copies")), "")
	load("harnessed", bytes="6 * size * size", engine="custom")
	equal(
		is_held(judge(figures(7000.0), board="harnessed")), ""
	)  # in the custom engine, inputs may be in the cache


@test
def a_time_faster_than_any_compute_unit_is_held():
	load("products", "[{size: 512}, {size: 8192}]", flops="2 * size ** 3")
	contains(
		is_held(judge(figures(50000.0), figures(400000.0), board="products")),
		"Shape (size: 8192): 400.0 µs for 1.1 TFLOP would be 2.75 PFLOP/s; the fastest units of "
		"H200 reach 1.98 PFLOP/s.",
	)
	equal(is_held(judge(figures(50000.0), figures(600000.0), board="products")), "")


@test
def without_formulas_a_time_shorter_than_a_launch_is_held():
	contains(
		is_held(judge(figures(400.0))), "Shape (size: 4096): 400.0 ns is less than any kernel takes"
	)
	equal(is_held(judge(figures(500.0), user=2)), "")


@test
def only_ranked_results_are_held():
	number = submit(
		"# " + json.dumps({"cases": [figures(1.0)]}), mode="benchmark", board="judged", gpu="H200"
	)
	wait_for(number)
	equal(job(number, "verdict, score_ns, held_at"), ["passed", "NULL", "NULL"])


@test
def an_admin_lists_releases_and_rejects_on_the_command_line():
	sql("DELETE FROM submissions")
	fast, wrong, honest = (
		judge(figures(100.0), user=3),
		judge(figures(200.0), user=4),
		judge(figures(50000.0), user=5),
	)
	submissions = {number: job(number, "submission_id") for number in (fast, wrong, honest)}
	listed = admin("review", "list")
	equal(
		[line.split()[0] for line in listed.splitlines()], [submissions[fast], submissions[wrong]]
	)
	contains(
		listed,
		"judged of user-3, < 0.5 µs, engine isolated: Shape (size: 4096): 100.0 ns is less "
		"than any kernel takes",
	)
	contains(admin("review", "release", submissions[fast], "H200"), "is released and ranked")
	contains(
		admin("review", "reject", submissions[wrong], "H200", "It skips the work."), "is rejected"
	)
	equal(admin("review", "list"), "")
	equal(
		sql("SELECT submission_id, position FROM ranking ORDER BY position"),
		[[submissions[fast], "1"], [submissions[honest], "2"]],
	)
	equal(
		job(wrong, "verdict, reason, score_ns, state"),
		["protocol violation", "Rejected by an admin: It skips the work.", "NULL", "done"],
	)
	equal(job(fast, "verdict, released_by"), ["passed", "0"])
	equal(
		sql(
			"SELECT actor, action, subject, detail FROM audit_log WHERE action LIKE "
			"'review.%' ORDER "
			"BY id"
		),
		[
			[
				"podium-admin",
				"review.release",
				f"submission {submissions[fast]} on H200",
				"it was ranked",
			],
			[
				"podium-admin",
				"review.reject",
				f"submission {submissions[wrong]} on H200",
				"It skips the work.",
			],
		],
	)
	before = sql("SELECT * FROM ranking ORDER BY position")
	admin("ranking", "rebuild")
	equal(sql("SELECT * FROM ranking ORDER BY position"), before)


code = 1
try:
	admin("migrate")
	with on_gpus():
		code = run()
finally:
	close()
sys.exit(code)
