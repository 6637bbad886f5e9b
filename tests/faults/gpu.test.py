#!/usr/bin/env python3
"""GPUs that fail, as a pretended driver reports. The worker quarantines such a GPU and runs its job
on another GPU without counting an attempt. Other errors do not quarantine a GPU."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from stages import is_over, worker  # noqa: E402
from pretend import pretend_driver  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from workers import (  # noqa: E402
	BUILD,
	HARNESS,
	RIGHT,
	TASK,
	admin,
	close,
	database,
	job,
	load_task,
	scratch,
	sql,
	submit,
	until,
)

UUIDS = ["GPU-00000000", "GPU-00000001", "GPU-00000002"]
faults = scratch / "faults"


def gpus(count=2, name="gpus"):
	faults.touch()
	return worker(
		name,
		**pretend_driver(scratch / "driver"),
		PODIUM_WORKER_CPU="0",
		FAKE_GPUS=str(count),
		FAKE_FAULTS=str(faults),
	)


def happens(*lines):
	"""Makes the driver report these lines from now on."""
	with open(faults, "a") as file:
		file.write("".join(line + "\n" for line in lines))


def all_is_well():
	faults.write_text("")


def quarantined():
	return [
		row[0]
		for row in sql("SELECT uuid FROM gpus WHERE quarantined_at IS NOT NULL ORDER BY uuid")
	]


def ended(number):
	until(lambda: is_over(number), 60, lambda: str(job(number, "state, reason, lost_gpus")))


def device_of(number):
	return sql(f"SELECT JSON_VALUE(environment, '$.device_uuid') FROM jobs WHERE id = {number}")[0][
		0
	]


# A submission that fails on the devices {devices}. It waits a second before it fails, so that the
# test can make the pretended driver report a cause; a submission cannot reach that driver.
FAILS_ON = """
import os, time

def custom_kernel(data):
	if os.environ["CUDA_VISIBLE_DEVICES"] in ({devices}):
		time.sleep(1)
		raise RuntimeError("CUDA error: unspecified launch failure")
	return data
"""


def fails_on(*indexes):
	return FAILS_ON.replace("{devices}", " ".join(repr(UUIDS[index]) + "," for index in indexes))


def runs_on(number):
	return until(
		lambda: job(number) == "running"
		and sql(f"SELECT 1 FROM stages WHERE job_id = {number} AND name = 'test'")
		and device_of(number)
	)


@test
def an_idle_gpu_that_is_lost_gets_no_more_jobs():
	one = gpus()
	happens("0 lost")
	until(lambda: quarantined() == UUIDS[:1])
	contains(
		sql("SELECT quarantine_reason FROM gpus WHERE uuid = 'GPU-00000000'")[0][0],
		"status 15 (the GPU is lost)",
	)
	one.says("gets no jobs until it is released")
	numbers = [submit(RIGHT, "test", gpu="H200", board="gpu") for _ in range(4)]
	for number in numbers:
		ended(number)
	equal(
		[(job(number, "verdict"), device_of(number)) for number in numbers],
		[("passed", UUIDS[1])] * 4,
	)
	equal(one.end(), 0)


@test
def a_restarted_worker_releases_a_gpu_that_works_again():
	all_is_well()
	equal(quarantined(), UUIDS[:1])
	one = gpus()
	equal(quarantined(), [])
	equal(one.end(), 0)


@test
def a_gpu_that_is_lost_when_its_worker_starts_stays_in_quarantine():
	one = gpus()
	happens("1 lost")
	until(lambda: quarantined() == UUIDS[1:2])
	equal(one.end(), 0)
	one = gpus()
	equal(quarantined(), UUIDS[1:2])
	listed = admin("gpu", "list")
	contains(
		listed, "GPU-00000001 of gpus is in quarantine: The H200 GPU-00000001 has stopped working"
	)
	all_is_well()
	equal(one.end(), 0)
	one = gpus()
	equal(quarantined(), [])
	equal(one.end(), 0)


@test
def a_job_whose_gpu_breaks_runs_on_another_without_losing_an_attempt():
	one = gpus()
	number = submit(fails_on(0, 1), "test", gpu="H200", board="gpu")
	broken = runs_on(number)
	happens(f"{UUIDS.index(broken)} xid 79")
	until(lambda: quarantined() == [broken])
	contains(
		sql("SELECT quarantine_reason FROM gpus WHERE quarantined_at IS NOT NULL")[0][0],
		"Xid 79, the GPU has fallen off the bus",
	)
	until(lambda: is_over(number) or device_of(number) != broken)
	ended(number)
	assert device_of(number) in UUIDS and device_of(number) != broken
	equal(job(number, "verdict, attempt, lost_gpus"), ["runtime error", "1", "1"])
	one.says("gets no jobs until it is released")
	# A GPU that is released while broken is quarantined again; after the repair it stays released.
	happens(f"{UUIDS.index(broken)} lost")
	contains(admin("gpu", "release", broken), "is released")
	until(
		lambda: sql(
			"SELECT quarantine_reason FROM gpus WHERE quarantined_at IS NOT NULL AND "
			"quarantine_reason LIKE '%lost%'"
		),
		60,
	)
	all_is_well()
	admin("gpu", "release", broken)
	one.says("is released from quarantine, and works", 60)
	equal(
		sql("SELECT COUNT(*), MIN(actor) FROM audit_log WHERE action = 'gpu.release'"),
		[["2", "podium-admin"]],
	)
	equal(one.end(), 0)


@test
def an_xid_that_programs_can_cause_is_the_submission_s_fault():
	one = gpus(1)
	number = submit(fails_on(0), "test", gpu="H200", board="gpu")
	runs_on(number)
	happens("0 xid 31", "0 xid 13", "1 xid 79")
	ended(number)
	equal(job(number, "verdict, attempt, lost_gpus"), ["runtime error", "1", "0"])
	equal(quarantined(), [])
	equal(one.end(), 0)


@test
def a_job_that_breaks_three_gpus_fails_before_it_breaks_more():
	all_is_well()
	one = gpus(3)
	number = submit(fails_on(0, 1, 2), "test", gpu="H200", board="gpu")
	for count in (1, 2, 3):
		broken = until(
			lambda: job(number) == "running"
			and device_of(number) not in quarantined() + ["NULL"]
			and device_of(number)
		)
		happens(f"{UUIDS.index(broken)} xid 48")
		until(lambda: len(quarantined()) == count)
	ended(number)
	equal(job(number, "state, verdict, lost_gpus"), ["failed", "internal error", "3"])
	contains(job(number, "reason"), "GPUs stopped working 3 times while the job ran")
	equal(one.end(), 0)


@test
def a_gpu_that_is_not_in_quarantine_cannot_be_released():
	answer = subprocess.run(
		[BUILD / "podium-admin", "gpu", "release", "GPU-nobody"],
		capture_output=True,
		text=True,
		env=database.environment,
	)
	equal(answer.returncode, 1)
	contains(answer.stderr, "No GPU with this UUID is in quarantine")


code = 1
try:
	admin("migrate")
	load_task("gpu", TASK.replace("[CPU]", "[H200]"), HARNESS)
	code = run()
finally:
	close()
sys.exit(code)
