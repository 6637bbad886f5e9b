#!/usr/bin/env python3
"""podium-worker on a host with two GPUs: one job on each, or one job on both. A stand-in for the
driver pretends the GPUs."""

import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import pretend_driver  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from workers import (
	HARNESS,
	SLOW,
	TASK,
	Worker,
	admin,
	close,
	job,
	load_task,
	running,
	scratch,
	sql,
	submit,
	until,  # noqa: E402
	wait_for,
)


def fake_driver():
	"""The environment variables with which a worker finds two H200 and offers no CPU."""
	return {**pretend_driver(scratch / "driver"), "PODIUM_WORKER_CPU": "0"}


MANY = (
	TASK.replace("gpus: [CPU]", "gpus: [H200]\nmulti_gpu: true")
	.replace("seed: 1}", "seed: 1, world_size: 2}")
	.replace("seed: 2}", "seed: 2, world_size: 2}")
	.replace("seed: 3}", "seed: 3, world_size: WIDTH}")
)
SHOWS = (
	HARNESS.replace('case.split(":")[1]', 'case.split(":")[1].split(";")[0]')
	.replace(
		'print("printed by the harness")',
		'print(os.environ["CUDA_VISIBLE_DEVICES"], os.environ.get("POPCORN_GPUS"), '
		"time.time())\ntime.sleep(0.2)",
	)
	.replace("out.close()", "out.close()\nprint(time.time())")
)


def shown(number):
	"""Returns (devices, POPCORN_GPUS, start, end), which the test stage of the job printed."""
	return sql(
		f"SELECT REPLACE(stdout, '\\n', ' ') FROM stages WHERE job_id = {number} AND name = 'test'"
	)[0][0].split()


@test
def gpus_are_offered_as_the_driver_names_them():
	with Worker("gpus", **fake_driver()):
		equal(
			sql(
				"SELECT model, uuid, product, driver, compute_capability, memory_bytes FROM gpus g "
				"JOIN workers w ON w.id = g.worker_id "
				"WHERE w.name = 'gpus' ORDER BY uuid"
			),
			[
				["H200", f"GPU-0000000{i}", "NVIDIA H200", "580.00", "9.0", str(150 << 30)]
				for i in (0, 1)
			],
		)


@test
def one_worker_serves_two_gpus_at_once():
	load_task("onegpu", TASK.replace("[CPU]", "[H200]"), SHOWS)
	slow = "import time\n\ndef custom_kernel(data):\n    time.sleep(1)\n    return data\n"
	with Worker("gpus", **fake_driver()):
		numbers = [submit(slow, "test", board="onegpu", gpu="H200") for _ in range(2)]
		for number in numbers:
			wait_for(number)
	equal(
		sql(
			f"SELECT COUNT(*) FROM jobs a JOIN jobs b ON a.id = {numbers[0]} AND b.id = "
			f"{numbers[1]} "
			"AND a.started_at < b.finished_at "
			"AND b.started_at < a.finished_at"
		),
		[["1"]],
	)
	equal(
		sorted(shown(number)[:2] for number in numbers),
		[["GPU-00000000", "None"], ["GPU-00000001", "None"]],
	)


@test
def a_job_for_two_gpus_gets_both_exclusively():
	load_task("twogpus", MANY.replace("WIDTH", "2"), SHOWS)
	with Worker("gpus", **fake_driver()):
		numbers = [
			submit(mode="test", board=board, gpu="H200")
			for board in ("onegpu", "twogpus", "twogpus", "onegpu", "twogpus", "onegpu")
		]
		for number in numbers:
			wait_for(number)
	equal([job(number, "verdict, attempt") for number in numbers], [["passed", "1"]] * 6)
	for index in (1, 2, 4):
		devices, count, began, ended = shown(numbers[index])
		equal((devices, count), ("GPU-00000000,GPU-00000001", "2"))
		for other in set(numbers) - {numbers[index]}:
			_, _, other_began, other_ended = shown(other)
			assert float(other_ended) <= float(began) or float(ended) <= float(other_began), (
				numbers[index],
				other,
			)


@test
def a_paused_gpu_takes_no_job_and_a_job_that_needs_it_waits():
	with Worker("gpus", **fake_driver()):
		admin("worker", "drain", "gpus", "GPU-00000001")
		numbers = [submit(mode="test", board="onegpu", gpu="H200") for _ in range(4)]
		for number in numbers:
			wait_for(number)
		equal({job(number, "lease_device") for number in numbers}, {"GPU-00000000"})
		both = submit(mode="test", board="twogpus", gpu="H200")
		until(lambda: job(both, "progress") == "waiting for 2 GPUs")
		time.sleep(1)
		equal(job(both, "state, progress"), ["running", "waiting for 2 GPUs"])
		admin("worker", "resume", "gpus", "GPU-00000001")
		wait_for(both)
		equal(job(both, "verdict, attempt"), ["passed", "1"])
		admin("worker", "pause", "gpus", "GPU-00000001")
		both = submit(mode="test", board="twogpus", gpu="H200")
		until(lambda: job(both, "progress") == "waiting for 2 GPUs")
	equal(job(both, "state, attempt"), ["queued", "0"])
	sql(f"DELETE FROM jobs WHERE id = {both}; DELETE FROM pauses")


@test
def pausing_one_gpu_gives_back_only_its_job():
	with Worker("gpus", **fake_driver()):
		numbers = [submit(SLOW, "test", board="onegpu", gpu="H200", user=user) for user in (1, 2)]
		for number in numbers:
			running(number)
		on = {job(number, "lease_device"): number for number in numbers}
		equal(set(on), {"GPU-00000000", "GPU-00000001"})
		admin("worker", "pause", "gpus", "GPU-00000000")
		equal(job(on["GPU-00000000"], "state, attempt"), ["queued", "0"])
		equal(job(on["GPU-00000001"]), "running")
		sql("UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE state = 'running'")
		until(lambda: job(on["GPU-00000000"], "state, lease_device") == ["running", "GPU-00000001"])
		sql(
			"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE state = 'running'; "
			"DELETE FROM pauses"
		)


@test
def a_job_for_too_many_gpus_fails_with_a_sentence():
	for name, width, sentence in (
		("threegpus", "3", "wants 3 GPUs of the model H200 in one host, and the worker gpus has 2"),
		("manygpus", "17", "wants 17 GPUs in one host; a job gets 16 at most"),
	):
		load_task(name, MANY.replace("WIDTH", width), SHOWS)
		with Worker("gpus", **fake_driver()):
			number = submit(board=name, gpu="H200")
			wait_for(number, "failed")
		contains(job(number, "reason"), sentence)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
