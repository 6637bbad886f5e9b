#!/usr/bin/env python3
"""podium-worker builds the kits of CUDA C++ tasks while it has no job. A stand-in for the driver
pretends the GPUs."""

import pathlib
import shutil
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from pretend import PretendedRun, pretend_driver  # noqa: E402
from tap import equal, lacks, run, test, until  # noqa: E402
from workers import (
	BUILD,
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

# Compiles to scripts. The judge passes the one test case, and its message says when it was built.
NVCC = r"""#!/bin/sh
name=$(expr "$*" : '.*-o \([^ ]*\)$')
case "$name" in
judge.out)
	cat > judge.out <<END
#!/bin/sh
[ "\$1" = --can-split ] && exit 0
{
	echo "test-count: 1"
	echo "test.0.spec: size: 1; seed: 2"
	echo "test.0.message: built $(date +%s%N)"
	echo "test.0.status: pass"
	echo "check: pass"
} >&3
END
	sleep 3.0917 ;;
contestant.out) printf '#!/bin/sh\nexec sleep 100\n' > contestant.out ;;
*) echo "macros" > "$name" ;;
esac
chmod 755 "$name"
"""


TASK_CU = """
lang: cu
description: Copies a vector.
files:
  - {name: submission.cu, source: "@SUBMISSION@"}
  - {name: task.h, source: task.h}
  - {name: reference.cuh, source: reference.cuh}
  - {name: eval.cu, source: "@STOCK@"}
  - {name: utils.h, source: "@STOCK@"}
config: {sources: [eval.cu, submission.cu]}
tests: [{size: 1, seed: 2}]
benchmarks: [{size: 1, seed: 2}]
"""


def load_cu(name, gpus="H200", more=""):
	folder = scratch / "cu" / name
	folder.mkdir(parents=True)
	for file in ("task.h", "reference.cuh"):
		shutil.copy(ROOT / "tasks" / "identity_cu" / file, folder)
	(folder / "task.yml").write_text(f"{TASK_CU}gpus: [{gpus}]\n{more}")
	admin("task", "load", "--unchecked", str(folder))
	return int(sql(f"SELECT task_version_id FROM leaderboards WHERE name = '{name}'")[0][0])


def pretended(name):
	return PretendedRun(scratch / name, BUILD / "podium-run")


def start(gpus, **settings):
	return Worker(
		"kits",
		**pretend_driver(scratch / "driver"),
		FAKE_GPUS=str(gpus),
		PODIUM_WORKER_CPU="0",
		**{"PODIUM_NVCC": "/bin/true", **settings},
	)


def modes(runner):
	return [message["mode"] for message in runner.jobs()]


@test
def an_idle_worker_builds_the_kit_of_each_task_that_takes_submissions():
	load_task("python", TASK.replace("[CPU]", "[H200]"))
	for name in ("closed", "hidden", "ended"):
		load_cu(name)
	sql(
		"UPDATE leaderboards SET accepting = FALSE WHERE name = 'closed';"
		"UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'hidden';"
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) - INTERVAL 1 DAY WHERE name = 'ended'"
	)
	load_cu("other", "H100")
	first = load_cu("first")
	runner = pretended("builds")
	ready = f"The kit of the task version {first} is ready"
	with start(2, **runner.environment) as worker:
		until(lambda: worker.log.read_text().count(ready) == 2)  # one podium-run for each device
		second = load_cu("second")
		worker.says(f"The kit of the task version {second} is ready")
	messages = runner.jobs()[:2]
	for message in runner.jobs():
		equal((message["id"] > 2**52, message["mode"], message["engine"]), (True, "kit", "sealed"))
		lacks(str(sorted(message)), "seed")
		lacks(str(sorted(message)), "submission")
		equal(
			sorted(file["path"] for file in message["files"]),
			["eval.cu", "reference.cuh", "task.h", "utils.h"],
		)
	equal({message["device"]["uuid"] for message in messages}, {"GPU-00000000", "GPU-00000001"})


@test
def a_job_ends_the_build_of_a_kit_which_is_built_later():
	runner = pretended("ends")
	runner.say(kit={"hang": True})
	with start(1, **runner.environment) as worker:
		for count in (1, 2):  # the second build shows that the first was cancelled
			until(lambda: modes(runner).count("kit") == count)
			number = submit(mode="test", board="python", gpu="H200")
			wait_for(number)
			equal(job(number, "verdict, attempt"), ["passed", "1"])
		equal(modes(runner)[:4], ["kit", "test"] * 2)
		lacks(worker.log.read_text(), "is ready after")
		runner.say()
		worker.says("is ready after")


@test
def a_job_on_another_device_of_the_worker_ends_the_build():
	runner = pretended("other")
	runner.say(kit={"hang": True}, test={"hang": True})
	with start(2, **runner.environment) as worker:
		until(lambda: modes(runner) == ["kit"])
		builds = runner.jobs()[0]["device"]["uuid"]
		admin("worker", "drain", "kits", builds)
		number = submit(mode="test", board="python", gpu="H200")
		until(lambda: modes(runner) == ["kit", "test"])
		assert runner.jobs()[1]["device"]["uuid"] != builds
		admin("worker", "resume", "kits", builds)
		sql(f"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE id = {number}")
		until(lambda: modes(runner) == ["kit", "test", "kit"])
		# The verdict of the first build is not taken for that of the second, which ends for a job.
		time.sleep(1)
		lacks(worker.log.read_text(), "was not built")
		runner.say(kit={"hang": True})
		admin("worker", "drain", "kits", runner.jobs()[1]["device"]["uuid"])
		number = submit(mode="test", board="python", gpu="H200")
		wait_for(number)
		equal(job(number, "verdict, attempt"), ["passed", "1"])
		admin("worker", "resume", "kits", runner.jobs()[1]["device"]["uuid"])


@test
def a_paused_worker_builds_no_kit():
	runner = pretended("paused")
	admin("worker", "pause", "kits")
	with start(1, **runner.environment) as worker:
		time.sleep(1)  # 50 looks for a job
		equal(modes(runner), [])
		admin("worker", "resume", "kits")
		worker.says("is ready after", limit_s=60)


@test
def a_job_waits_for_the_kit_that_it_needs():
	sql("UPDATE leaderboards SET accepting = FALSE")
	load_cu("needed", more="podium: {engine: isolated}\n")
	nvcc = scratch / "nvcc"
	nvcc.write_text(NVCC)
	nvcc.chmod(0o755)
	with start(1, PODIUM_NVCC=str(nvcc)):
		until(lambda: running_program("3.0917"))
		begun_ns = time.time_ns()
		number = submit("a kernel", mode="test", board="needed", gpu="H200")
		wait_for(number, limit_s=60)
	((message,),) = sql(
		"SELECT m.message FROM measurements m JOIN stages t ON t.id = m.stage_id "
		f"WHERE t.job_id = {number}"
	)
	assert int(message.split()[1]) < begun_ns, (message, begun_ns)


def running_program(mark):
	for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
		try:
			if mark.encode() in path.read_bytes().split(b"\0"):
				return True
		except OSError:
			pass
	return False


code = 1
try:
	admin("migrate")
	code = run()
finally:
	close()
sys.exit(code)
