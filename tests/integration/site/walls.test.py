#!/usr/bin/env python3
"""A worker whose sandbox lacks walls, as in a container without namespaces. It takes no job until
its settings name the missing walls. Then its jobs run, and each result says so."""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import quick_task  # noqa: E402
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from quick_task import HARNESS, RIGHT, write_task  # noqa: E402
from small_task import ended, send_source, status_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

# Takes away the right to make namespaces, as in most containers.
CONTAINER = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
WALLS = "files, processes, network"
NAMES = "PODIUM_ACCEPT_MISSING_WALLS"
if os.geteuid() != 0:
	raise SystemExit("1..0 # SKIP needs root to take rights away")

site = Instance(before=CONTAINER, PODIUM_WORKER_NAME="here", **{NAMES: ""})
task = site.var / "task"
write_task(task, quick_task.TASK + "gpus: [CPU]\n", HARNESS)
site.manage("task", "load", "--unchecked", str(task))
site.publish("task")
ada, admin, anyone = (Client(site.url) for _ in range(3))
for client, name in ((ada, "ada"), (admin, "root-of-all")):
	client.register(name)
site.sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
waiting = send_source(ada, RIGHT, "task", "ranked", "kernel.py", ("CPU",))


def log_of(name):
	return (site.var / name).read_text(errors="replace")


def words_of(path):
	return " ".join(admin.get(path).words().split())


def doctor():
	"""Returns the lines of `podium-admin doctor` about walls, and its exit code."""
	answer = subprocess.run(
		[*CONTAINER, site.admin_program, "doctor"],
		env=site.environment,
		capture_output=True,
		text=True,
	)
	lines = [line.split() for line in answer.stdout.splitlines()]
	return {line[2]: line[0] for line in lines if line[1:2] == ["wall:"]}, answer.returncode


@test
def a_worker_without_walls_takes_no_job():
	reason = f"No job runs on this host, because its sandbox lacks these walls: {WALLS}."
	until(lambda: reason in log_of("run.log"), explain=lambda: log_of("run.log"))
	equal(log_of("run.log").count("these walls"), 1)
	contains(log_of("log/worker.log"), reason)
	until(lambda: reason in words_of("/admin/workers"), explain=lambda: words_of("/admin/workers"))
	contains(words_of("/admin/workers"), f"takes no job: lacks the walls {WALLS}")
	contains(words_of("/admin/host/here"), f"lacks these walls: {WALLS}")
	time.sleep(2)  # ten times the worker's pause between two looks for a job
	equal(status_of(ada, waiting)["jobs"][0]["state"], "queued")
	equal(site.sql("SELECT SUM(attempt) FROM jobs"), [["0"]])


@test
def releasing_the_device_does_not_open_the_worker():
	device = "SELECT quarantine_reason IS NOT NULL FROM gpus"
	site.sql("UPDATE gpus SET quarantined_at = NULL, quarantine_reason = NULL")
	until(lambda: site.value(device) == "1")
	equal(status_of(ada, waiting)["jobs"][0]["state"], "queued")


@test
def doctor_calls_missing_walls_a_fault():
	states, code = doctor()
	equal(code, 1)
	equal([states[name] for name in ("files", "network", "processes")], ["fault"] * 3)
	equal([states[name] for name in ("users", "disk", "ipc")], ["good", "warning", "warning"])


def restart(accepted):
	site.stop()
	(site.var / "run.log").unlink()
	site.environment[NAMES] = accepted
	site.start()


@test
def every_missing_wall_must_be_named():
	restart("files,processes")
	until(lambda: "lacks these walls: network." in log_of("run.log"))
	contains(words_of("/admin/workers"), "takes no job: lacks the walls network")
	time.sleep(2)
	equal(status_of(ada, waiting)["jobs"][0]["state"], "queued")


@test
def with_the_setting_jobs_run_and_results_name_the_walls():
	restart(WALLS)
	equal(ended(ada, waiting)["verdict"], "passed")
	until(lambda: f"which accept_missing_walls names: {WALLS}." in log_of("run.log"))
	contains(words_of("/admin/workers"), f"runs jobs without the walls {WALLS}")
	contains(words_of("/admin/host/here"), f"accept_missing_walls names: {WALLS}")
	words = " ".join(ada.get(f"/submission/{waiting}").words().split())
	contains(words, f"lacks these walls of the sandbox, which its operator accepts: {WALLS}.")
	job = ada.get(f"/api/v1/submissions/{waiting}").json["jobs"][0]
	equal(job["environment"]["Missing walls"], WALLS)
	states, _ = doctor()
	equal([states[name] for name in ("files", "network", "processes")], ["warning"] * 3)


@test
def a_setting_with_another_name_stops_the_worker():
	for program in ("podium-worker", "podium-run"):
		answer = subprocess.run(
			[
				site.admin_program.parent / program,
				*(["--require-walls=files,disk"] if program == "podium-run" else []),
			],
			env={**site.environment, NAMES: "files, disk"},
			stdin=subprocess.DEVNULL,
			capture_output=True,
			text=True,
		)
		equal(answer.returncode, 1)
		contains(answer.stderr, "accept_missing_walls has the name")
		contains(answer.stderr, "Use files, network, processes, or several")


@test
def a_host_with_all_walls_says_nothing():
	site.before = ()
	restart("")
	again = send_source(ada, RIGHT + "# again\n", "task", "ranked", "kernel.py", ("CPU",))
	equal(ended(ada, again)["verdict"], "passed")
	lacks(log_of("run.log"), "walls")
	lacks(ada.get(f"/submission/{again}").words(), "walls of the sandbox")
	environment = ada.get(f"/api/v1/submissions/{again}").json["jobs"][0]["environment"]
	lacks(str(environment), "Missing walls")


status = run()
site.remove()
sys.exit(status)
