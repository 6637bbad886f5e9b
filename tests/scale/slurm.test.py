#!/usr/bin/env python3
"""A worker with launcher = slurm and a Slurm cluster made by the test: from the claim to the ranked
result on a node's CPU, and what happens to a job if the cluster delays it, ends it, fails, or is
missing."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import slurm  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

if slurm.lack():
	print(f"ok 1 - slurm # SKIP {slurm.lack()}\n1..1")
	sys.exit(0)
from hosts import make_host, start_host  # noqa: E402
from pretend import pretend_driver  # noqa: E402
from workers import (  # noqa: E402
	BUILD,
	HARNESS,
	RIGHT,
	TASK,
	WRONG,
	Worker,
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

cluster = slurm.Cluster()
LEASE_MS = 20000  # a Slurm client may need seconds to notice that nobody answers
WAITS = """
import pathlib, time

def custom_kernel(data):
	end = time.time() + {seconds}
	while time.time() < end:
		time.sleep(0.1)
	return data
"""


def settings(**more):
	return {
		"PODIUM_LAUNCHER": "slurm",
		"PODIUM_SLURM_OPTIONS": "--cpus-per-task=1",
		"PODIUM_SLURM_IDLE_S": "0",
		"PODIUM_SLURM_JOBS": "2",
		"SLURM_CONF": str(cluster.folder / "slurm.conf"),
		"PODIUM_LEASE_MS": str(LEASE_MS),
		"PODIUM_DATABASE_PASSWORD": "not-for-nodes",
		**more,
	}


def forget(number):
	"""Cancels the job as an admin does."""
	sql(
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', finished_at = "
		f"UTC_TIMESTAMP(3) WHERE id = {number}"
	)


def clear():
	"""Removes what a failed test may have left."""
	for left in Worker.all:
		if left.process.poll() is None:
			left.end(signal.SIGKILL)
	sql(
		"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled', finished_at = "
		"UTC_TIMESTAMP(3) WHERE state IN ('queued', 'running')"
	)
	cluster.clear()


def worker(name="clustered", **more):
	one = Worker(name, **settings(**more))
	one.says("is ready")
	return one


def config(text):
	"""A file of settings, as an admin writes it."""
	path = scratch / f"config-{os.urandom(4).hex()}"
	path.write_text(text)
	return {"PODIUM_CONFIG": str(path)}


def log_of(one):
	return one.log.read_text(errors="replace")


def runs_on(number, one, limit_s=60):
	"""Waits until the submission runs on a node. Returns the node's name."""
	until(
		lambda: job(number) == "running"
		and sql(f"SELECT 1 FROM stages WHERE job_id = {number} AND name = 'test'"),
		limit_s,
		lambda: str(job(number, "state, reason, progress")) + log_of(one),
	)
	return next(entry[3] for entry in cluster.ours())


def ends(number, one, state="done", limit_s=90):
	until(
		lambda: job(number) == state,
		limit_s,
		lambda: str(job(number, "state, verdict, reason, progress, attempt")) + log_of(one),
	)


def nothing_is_left():
	until(lambda: not cluster.ours(), 30, lambda: str(cluster.jobs()) + log_of(Worker.all[-1]))


def end(one):
	equal(one.end(), 0)
	nothing_is_left()
	lacks(log_of(one), "Sanitizer")


def places(worker_name="clustered"):
	return sql(
		"SELECT g.uuid, g.model, g.quarantined_at IS NOT NULL, COALESCE(g.quarantine_reason, '') "
		"FROM gpus g JOIN workers w ON w.id = g.worker_id "
		f"WHERE w.name = '{worker_name}' ORDER BY g.uuid"
	)


# ---- from claim to result ----


@test
def a_ranked_job_runs_on_a_node_and_is_ranked():
	one = worker()
	equal([row[:3] for row in places()], [["slurm-CPU-1", "CPU", "0"], ["slurm-CPU-2", "CPU", "0"]])
	number = submit(RIGHT)
	ends(number, one)
	equal(job(number, "verdict, attempt, lease_owner"), ["passed", "1", "clustered"])
	equal(
		sql(f"SELECT position, job_id FROM ranking WHERE job_id = {number}"), [["1", str(number)]]
	)
	equal(
		sql(f"SELECT name, verdict FROM stages WHERE job_id = {number} ORDER BY position"),
		[["compile", "passed"], ["test", "passed"], ["ranked", "passed"]],
	)
	contains(job(number, "lease_device"), "slurm-CPU-")
	nothing_is_left()
	equal(
		sql("SELECT COUNT(*) FROM gpus WHERE product <> 'CPU in the cluster' AND memory_bytes > 0"),
		[["1"]],
	)
	end(one)


@test
def a_worker_host_with_its_own_account_can_use_a_cluster():
	web = subprocess.Popen(
		[BUILD / "podium-web"],
		env={**database.environment, "PODIUM_FASTCGI_SOCKET": str(scratch / "web.sock")},
		stdin=subprocess.DEVNULL,
		stderr=subprocess.DEVNULL,
	)  # podium-web reclaims the expired jobs of such hosts
	try:
		one = start_host(
			"login-node",
			make_host("login-node"),
			**{
				key: value
				for key, value in settings().items()
				if not key.startswith("PODIUM_DATABASE")
			},
		)
		one.says("is ready")
		number = submit(RIGHT, user=3)
		ends(number, one)
		equal(job(number, "verdict, attempt, lease_owner"), ["passed", "1", "login-node"])
		equal(sql(f"SELECT COUNT(*) FROM ranking WHERE job_id = {number}"), [["1"]])
		end(one)
	finally:
		web.terminate()
		web.wait(30)


@test
def a_wrong_answer_is_judged_once():
	one = worker()
	number = submit(WRONG)
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["wrong answer", "1"])
	end(one)


@test
def two_jobs_on_one_host_s_cpu_are_measured_one_after_the_other():
	"""Both nodes are this machine, so the second job must wait for the lock of the device."""
	one = worker()
	numbers = [submit(WAITS.replace("{seconds}", "3"), "test", user=user) for user in (1, 2)]
	until(
		lambda: "waiting for the device on the node"
		in [job(number, "progress") for number in numbers],
		60,
		lambda: log_of(one),
	)
	equal(len({entry[1] for entry in cluster.ours()}), 2)
	for number in numbers:
		ends(number, one)
		equal(job(number, "verdict, attempt"), ["passed", "1"])
	end(one)


@test
def the_next_job_reuses_a_kept_slurm_job_which_then_ends():
	one = worker(PODIUM_SLURM_IDLE_S="6", PODIUM_SLURM_JOBS="2")
	first = submit(RIGHT, "test")
	ends(first, one)
	kept = cluster.ours()
	equal(len(kept), 1)
	second = submit(RIGHT, "test")
	ends(second, one)
	equal([entry[0] for entry in cluster.ours()], [kept[0][0]])
	nothing_is_left()
	equal(log_of(one).count("cancelled"), 0)
	end(one)


@test
def programs_on_a_node_do_not_get_the_worker_s_settings():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "5"), "test")
	runs_on(number, one)
	found = 0
	for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
		try:
			command = (environ.parent / "cmdline").read_bytes()
			text = environ.read_bytes()
		except OSError:
			continue
		if cluster.folder.name.encode() in text and (
			b"--slurm-allocation" in command or command.startswith(b"srun")
		):
			found += 1
			lacks(text.decode(errors="replace"), "not-for-nodes")
			lacks(command.decode(errors="replace"), "not-for-nodes")
	assert found >= 2, found
	ends(number, one)
	end(one)


# ---- waiting ----


@test
def a_job_in_slurm_s_queue_says_so_and_keeps_its_lease():
	one = worker(PODIUM_LEASE_MS="5000")
	free = cluster.occupy()
	until(lambda: cluster.states() == ["alloc", "alloc"])
	number = submit(RIGHT)
	until(
		lambda: job(number, "state, progress")
		== ["running", "waiting in Slurm's queue: Resources"],
		30,
		lambda: str(job(number, "state, progress")) + log_of(one),
	)
	time.sleep(8)
	equal(job(number, "state, attempt"), ["running", "1"])
	free()
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	end(one)


@test
def cancelling_a_waiting_job_removes_it_from_slurm_s_queue():
	one = worker()
	free = cluster.occupy()
	number = submit(RIGHT)
	until(
		lambda: job(number, "progress").startswith("waiting in Slurm's queue"),
		30,
		lambda: log_of(one),
	)
	forget(number)
	nothing_is_left()
	free()
	equal(job(number, "state, attempt"), ["cancelled", "1"])
	end(one)


@test
def stopping_a_worker_returns_its_waiting_job():
	one = worker()
	free = cluster.occupy()
	number = submit(RIGHT)
	until(
		lambda: job(number, "progress").startswith("waiting in Slurm's queue"),
		30,
		lambda: log_of(one),
	)
	end(one)
	equal(job(number, "state, attempt"), ["queued", "0"])
	free()
	two = worker()
	ends(number, two)
	end(two)


# ---- ends of a job ----


@test
def cancelling_a_running_job_leaves_no_slurm_job():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "100"))
	runs_on(number, one)
	forget(number)
	nothing_is_left()
	equal(job(number, "state, verdict, attempt"), ["cancelled", "cancelled", "1"])
	end(one)


@test
def a_job_whose_node_fails_runs_again_elsewhere_and_counts_once():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "6"), user=7)
	node = runs_on(number, one)
	cluster.fail_node(node)
	until(
		lambda: job(number, "attempt") == "2",
		60,
		lambda: str(job(number, "state, attempt, reason")) + log_of(one),
	)
	other = runs_on(number, one)
	assert other != node, (other, node)
	contains(job(number, "reason"), f"While it ran on the node {node} (Slurm job ")
	contains(job(number, "reason"), "the node failed (Slurm: NODE_FAIL)")
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "2"])
	equal(sql("SELECT job_id FROM ranking WHERE user_id = 7"), [[str(number)]])
	equal(
		sql(f"SELECT name FROM stages WHERE job_id = {number} ORDER BY position"),
		[["compile"], ["test"], ["ranked"]],
	)
	end(one)
	cluster.heal_node(node)


@test
def a_job_that_slurm_preempts_runs_again():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "8"), "test")
	runs_on(number, one)
	free = cluster.occupy("urgent")
	until(
		lambda: "(preempted)" in job(number, "reason"),
		60,
		lambda: str(job(number, "state, attempt, reason")) + log_of(one),
	)
	until(
		lambda: job(number, "progress").startswith("waiting in Slurm's queue"),
		30,
		lambda: log_of(one),
	)
	free()
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "2"])
	end(one)


@test
def a_slurm_job_that_somebody_cancels_runs_again():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "6"), "test")
	runs_on(number, one)
	cluster.ask("scancel", cluster.ours()[0][0])
	until(
		lambda: "was cancelled in the cluster" in job(number, "reason"),
		60,
		lambda: str(job(number, "state, attempt, reason")) + log_of(one),
	)
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "2"])
	end(one)


@test
def slurm_s_time_limit_is_named():
	one = worker(PODIUM_SLURM_OPTIONS="--cpus-per-task=1 --time=1")
	number = submit(WAITS.replace("{seconds}", "100"), "test")
	runs_on(number, one)
	cluster.ask("scontrol", "update", f"jobid={cluster.ours()[0][0]}", "TimeLimit=0:01")
	until(
		lambda: job(number, "attempt") == "2",
		150,
		lambda: str(job(number, "state, attempt, reason")) + log_of(one),
	)
	contains(job(number, "reason"), "Slurm's time limit was reached; the job had asked for 1 min")
	forget(number)
	end(one)


# ---- missing parts ----


def out_of_service(words):
	until(
		lambda: all(row[2] == "1" and words in row[3] for row in places()),
		60,
		lambda: str(places()),
	)


def in_service(one):
	until(lambda: all(row[2] == "0" for row in places()), 60, lambda: str(places()) + log_of(one))


@test
def without_the_controller_no_jobs_are_claimed_and_the_panel_says_why():
	one = worker()
	cluster.kill("slurmctld", signal.SIGTERM)
	out_of_service("Slurm does not answer: Unable to contact slurm controller")
	number = submit(RIGHT)
	time.sleep(2)
	equal(job(number, "state, attempt"), ["queued", "0"])
	cluster.start("slurmctld")
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	in_service(one)
	end(one)


@test
def a_running_job_survives_a_restart_of_the_controller():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "6"))
	runs_on(number, one)
	cluster.kill("slurmctld", signal.SIGTERM)  # it saves which jobs run
	ends(number, one)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	cluster.start("slurmctld")  # it assumes that the Slurm job still runs
	nothing_is_left()
	in_service(one)
	end(one)


@test
def without_munge_no_jobs_are_claimed():
	one = worker()
	cluster.kill("munged")
	out_of_service("Slurm does not answer: ")
	number = submit(RIGHT, "test")
	time.sleep(2)
	equal(job(number, "state, attempt"), ["queued", "0"])
	(cluster.folder / "munge" / "socket").unlink(missing_ok=True)
	cluster.start("munged")
	ends(number, one)
	equal(job(number, "attempt"), "1")
	end(one)


@test
def without_slurm_s_programs_a_worker_with_known_models_stays_and_says_why():
	empty = scratch / "no-slurm"
	empty.mkdir()
	one = worker(PATH=str(empty), **config("slurm.CPU = jobs=1 --cpus-per-task=1\n"))
	out_of_service("There is no sinfo on the PATH; install Slurm's programs")
	equal([row[0] for row in places()], ["slurm-CPU-1"])
	end(one)


@test
def a_refusal_by_slurm_costs_no_attempt_and_the_panel_shows_it():
	one = worker(
		**config(
			"slurm.CPU = jobs=1 --partition=main --cpus-per-task=1 --account=a,b "
			"--constraint=nowhere\n"
		),
		PODIUM_SLURM_OPTIONS="",
	)
	number = submit(RIGHT, "test")
	out_of_service(
		"Slurm gives no CPU: Unable to allocate resources: Invalid feature specification"
	)
	until(lambda: job(number, "state, attempt") == ["queued", "0"])
	equal(one.process.poll(), None)
	end(one)
	two = worker()
	ends(number, two)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	end(two)


@test
def a_missing_podium_run_on_the_node_costs_no_attempt():
	one = worker(PODIUM_WORKER_RUNNER="/nowhere/podium-run", PODIUM_PYTHON="/usr/bin/python3")
	number = submit(RIGHT, "test")
	until(
		lambda: any("/nowhere/podium-run" in row[3] for row in places()),
		60,
		lambda: str(places()) + log_of(one),
	)
	until(lambda: job(number, "state, attempt") == ["queued", "0"])
	forget(number)
	end(one)


@test
def drained_nodes_take_their_slots_out_of_service():
	one = worker()
	cluster.ask("scontrol", "update", "nodename=one,two", "state=drain", "reason=test")
	out_of_service("takes jobs: they are down or drained")
	cluster.ask("scontrol", "update", "nodename=one,two", "state=resume")
	in_service(one)
	end(one)


# ---- GPUs ----

# A submission that needs no GPU, because these tests only look at where it ran.
NAMES = """
import os, time

def custom_kernel(data):
	time.sleep({seconds})
	return data
"""

DOUBLE = re.sub(
	r"(seed: \d)",
	r"\1, world_size: 2",
	TASK.replace("[CPU]", "[H200]").replace("tests:", "multi_gpu: true\ntests:"),
)


class WithGpus:
	"""A second cluster of one node with two H200 of a pretended driver."""

	def __enter__(self):
		self.cluster = slurm.Cluster(nodes=("many",), gpus=2, cores=4)
		return self

	def worker(self, **more):
		one = Worker(
			"gpus",
			PODIUM_WORKER_CPU="0",
			**settings(
				SLURM_CONF=str(self.cluster.folder / "slurm.conf"),
				**pretend_driver(scratch / "driver"),
				**more,
			),
		)
		one.says("is ready")
		return one

	def __exit__(self, *_):
		self.cluster.remove()


def device_of(number):
	return sql(f"SELECT JSON_VALUE(environment, '$.device_uuid') FROM jobs WHERE id = {number}")[0][
		0
	]


@test
def gpus_come_from_sinfo_and_each_job_uses_those_that_slurm_assigned():
	with WithGpus() as here:
		one = here.worker(PODIUM_SLURM_IDLE_S="2")
		equal(
			[row[:2] for row in places("gpus")],
			[["slurm-H200-1", "H200"], ["slurm-H200-2", "H200"]],
		)
		numbers = [
			submit(NAMES.replace("{seconds}", "3"), "test", user=user, gpu="H200", board="gpu")
			for user in (1, 2)
		]
		until(
			lambda: len([entry for entry in here.cluster.ours() if entry[2] == "RUNNING"]) == 2,
			60,
			lambda: log_of(one),
		)
		for number in numbers:
			ends(number, one)
			equal(job(number, "verdict, attempt"), ["passed", "1"])
		equal(sorted(map(device_of, numbers)), ["GPU-00000000", "GPU-00000001"])
		equal(
			sql(
				"SELECT DISTINCT product, compute_capability FROM gpus WHERE uuid LIKE "
				"'slurm-H200-%'"
			),
			[["NVIDIA H200", "9.0"]],
		)
		until(lambda: not here.cluster.ours())
		equal(one.end(), 0)


@test
def a_job_for_two_gpus_gets_both_on_one_node():
	with WithGpus() as here:
		one = here.worker(PODIUM_SLURM_IDLE_S="5")
		single = submit(RIGHT, "test", gpu="H200", board="gpu")
		ends(single, one)
		double = submit(RIGHT, "test", gpu="H200", board="double")
		ends(double, one)
		equal(job(double, "verdict, attempt"), ["passed", "1"])
		equal(device_of(double), "GPU-00000000,GPU-00000001")
		equal(one.end(), 0)


@test
def a_gpu_of_another_model_than_requested_is_not_used():
	with WithGpus() as here:
		one = here.worker(
			**config("slurm.A100 = jobs=1 gres=gpu:h200 --cpus-per-task=1\n"),
			PODIUM_SLURM_OPTIONS="",
		)
		number = submit(RIGHT, "test", gpu="A100", board="gpu")
		until(
			lambda: any(
				"Slurm gave a H200 (NVIDIA H200, node many) instead of a A100" in row[3]
				for row in places("gpus")
			),
			60,
			lambda: log_of(one),
		)
		until(lambda: job(number, "state, attempt") == ["queued", "0"])
		equal(one.end(), 0)


@test
def the_settings_in_the_handbook_are_accepted():
	text = (pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "slurm.md").read_text()
	block = "\n".join(
		line[4:] for line in text.split("## Settings\n\n")[1].split("\n\n|")[0].splitlines()
	)
	contains(block, "launcher = slurm")
	one = worker(PODIUM_SLURM_OPTIONS=re.search(r"slurm_options = (.*)", block)[1], **config(block))
	until(lambda: len(places()) == 7, 30, lambda: str(places()))
	equal(
		[row[:2] for row in places()][4:],
		[["slurm-CPU-1", "CPU"], ["slurm-H200-1", "H200"], ["slurm-H200-2", "H200"]],
	)
	out_of_service("sinfo shows no ")
	end(one)


@test
def podium_run_in_a_slurm_job_names_its_device():
	answer = cluster.ask(
		"srun", "--quiet", "--chdir=/", str(BUILD / "podium-run"), f"--slurm-allocation={scratch}"
	)
	ready = json.loads(answer.stdout)
	equal(
		(
			ready["event"],
			ready["device"]["model"],
			ready["device"]["uuid"],
			ready["device"]["host"],
		),
		("ready", "CPU", "CPU", "one"),
	)


# ---- the end of a worker ----


@test
def stopping_a_worker_returns_its_job_and_ends_its_slurm_job():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "100"), "test")
	runs_on(number, one)
	end(one)
	equal(job(number, "state, attempt"), ["queued", "0"])
	forget(number)


@test
def killing_a_worker_leaves_no_slurm_job():
	one = worker(PODIUM_LEASE_MS="4000")
	number = submit(WAITS.replace("{seconds}", "8"), "test")
	runs_on(number, one)
	equal(one.end(signal.SIGKILL), -signal.SIGKILL)
	nothing_is_left()
	two = worker("second", PODIUM_LEASE_MS="4000")
	ends(number, two)
	equal(job(number, "verdict, attempt, lease_owner"), ["passed", "2", "second"])
	end(two)


@test
def killing_a_waiting_worker_leaves_no_slurm_job():
	one = worker(PODIUM_LEASE_MS="4000")
	free = cluster.occupy()
	number = submit(RIGHT, "test")
	until(
		lambda: job(number, "progress").startswith("waiting in Slurm's queue"),
		30,
		lambda: log_of(one),
	)
	equal(one.end(signal.SIGKILL), -signal.SIGKILL)
	nothing_is_left()
	free()
	forget(number)


@test
def a_restarted_worker_cancels_only_the_slurm_jobs_that_it_left():
	one = worker()
	number = submit(WAITS.replace("{seconds}", "4"), "test")
	runs_on(number, one)
	name = cluster.ours()[0][1]
	ends(number, one)
	end(one)
	left = [
		subprocess.Popen(
			[
				"srun",
				"--quiet",
				"--cpus-per-task=1",
				f"--job-name={other}",
				"--chdir=/",
				"sleep",
				"100",
			],
			env=cluster.environment,
			stdin=subprocess.DEVNULL,
			stdout=subprocess.DEVNULL,
			stderr=subprocess.DEVNULL,
		)
		for other in (name, name[:-1] + "x", "podium-other-00000000-1")
	]
	until(lambda: len(cluster.ours()) == 3)
	two = worker()
	until(lambda: left[0].poll() is not None)
	contains(log_of(two), "Cancelled 1 Slurm jobs of this worker that it no longer needs")
	equal([process.poll() for process in left[1:]], [None, None])
	for process in left:
		process.terminate()
		process.wait()
	end(two)


if __name__ == "__main__":
	signal.signal(
		signal.SIGTERM, lambda *_: sys.exit("Bail out! told to end")
	)  # so that nothing is left running
	code = 1
	try:
		admin("migrate")
		load_task()
		load_task("gpu", TASK.replace("[CPU]", "[H200, A100]"))
		load_task(
			"double",
			DOUBLE,
			HARNESS.replace('case.split(":")[1]', 'case.split(":")[1].split(";")[0]'),
		)
		code = run(before=clear)
	finally:
		close()
		cluster.remove()
	sys.exit(code)
