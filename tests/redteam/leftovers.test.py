#!/usr/bin/env python3
"""Starts podium-run in a folder of jobs that has the leftovers of a killed podium-run and files of
other users. podium-run must remove its own leftovers. It must follow no link, open no pipe or
device, and leave everything else alone."""

import os
import pathlib
import pwd
import select
import shutil
import signal
import stat
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from host import USER, snapshot, started_by  # noqa: E402
from runner import Runner, job, task  # noqa: E402
import tap  # noqa: E402
from tap import Skip, equal, test, until  # noqa: E402

STAYS = """
import os
victim = %r
for place in (".", "..", os.environ["HOME"], os.environ["TMPDIR"],
		os.path.dirname(os.environ["TRITON_CACHE_DIR"])):
	for name, make in (("link", lambda path: os.symlink(victim, path)),
			("file-link", lambda path: os.symlink(victim + "/keep", path)),
			("hard", lambda path: os.link(victim + "/keep", path)),
			("pipe", os.mkfifo), ("closed", lambda path: os.mkdir(path, 0)),
			("removed-1", lambda path: os.symlink("..", path))):
		try:
			make(f"{place}/{name}")
		except OSError:
			pass
open("has-left", "w").close()
import time
time.sleep(600)
"""


class Place:
	"""A folder of jobs with a victim next to it."""

	def __enter__(self):
		self.top = pathlib.Path(tempfile.mkdtemp(prefix="podium-redteam.", dir="/tmp"))
		self.top.chmod(0o711)
		self.jobs, self.victim = self.top / "jobs", self.top / "victim"
		for folder in (self.jobs, self.victim):
			folder.mkdir()
			folder.chmod(0o711)
		(self.victim / "keep").write_text("keep")
		(self.victim / "keep").chmod(0o666)
		self.before = snapshot(self.victim)
		return self

	def __exit__(self, *_):
		shutil.rmtree(self.top)

	def expect_unharmed(self, left=()):
		equal(snapshot(self.victim), self.before)
		equal(sorted(os.listdir(self.jobs)), sorted(left))


def wait_gone(processes):
	"""Waits for these processes to end: the kernel kills them when podium-run dies."""
	for pid, started in processes:
		try:
			descriptor = os.pidfd_open(pid)
		except ProcessLookupError:
			continue
		equal(bool(select.select([descriptor], [], [], 60)[0]), True)
		os.close(descriptor)


def kill_in_the_middle(place):
	"""Kills a podium-run in the middle of a job, so that the job's files stay. Returns the
	processes that ran below podium-run."""
	with Runner("--user", USER, directory=place.jobs) as runner:
		runner.ready = runner.event()
		runner.send(job(submission=STAYS % str(place.victim), definition=task(test_timeout_s=600)))
		runner.until("stage", stage="test")
		until(lambda: any(has_left(pid) for pid, _ in started_by(runner.process.pid)))
		processes = started_by(runner.process.pid)
		runner.process.send_signal(signal.SIGKILL)
		runner.process.wait()
	return processes


def has_left(pid):
	"""Whether the process is the submission and has written its files."""
	return os.path.exists(f"/proc/{pid}/cwd/has-left")


@test
def killing_podium_run_kills_its_submission_and_the_next_one_cleans_up():
	with Place() as place:
		wait_gone(kill_in_the_middle(place))
		with Runner("--user", USER, directory=place.jobs) as runner:
			runner.ready = runner.event()
			equal(runner.run().verdict, "passed")
			place.expect_unharmed()
			runner.end()
		place.expect_unharmed()


@test
def podium_run_follows_no_trap_in_its_folder_of_jobs():
	if os.geteuid():
		raise Skip("needs root, to plant things as somebody else")
	uid = pwd.getpwnam(USER).pw_uid
	with Place() as place:
		place.jobs.chmod(0o1777)
		os.symlink(place.victim, place.jobs / "podium-job-1-link")
		os.symlink(place.victim / "keep", place.jobs / "podium-job-2-link")
		os.mkfifo(place.jobs / "podium-job-3-pipe")
		os.mknod(place.jobs / "podium-job-4-device", stat.S_IFCHR | 0o666, os.makedev(1, 8))
		(place.jobs / "podium-job-5-folder").mkdir()
		os.symlink(place.victim, place.jobs / "podium-job-5-folder" / "link")
		planted = os.listdir(place.jobs)
		for name in planted:
			os.chown(place.jobs / name, uid, uid, follow_symlinks=False)
		with Runner("--user", USER, directory=place.jobs) as runner:
			runner.ready = runner.event()
			equal(runner.run().verdict, "passed")
			place.expect_unharmed(planted)


@test
def removing_a_leftover_folder_follows_no_link_in_it():
	with Place() as place:
		folder = place.jobs / "podium-job-9-00000000"
		for name in ("test/run/inner", "cache", "closed"):
			(folder / name).mkdir(parents=True)
		for name, target in (
			("test/run/link", place.victim),
			("cache/link", place.victim / "keep"),
			("removed-1", "/"),
			("link", ".."),
		):
			os.symlink(target, folder / name)
		os.link(place.victim / "keep", folder / "cache" / "hard")
		os.mkfifo(folder / "test" / "pipe")
		(folder / "closed").chmod(0)
		with Runner("--user", USER, directory=place.jobs) as runner:
			runner.ready = runner.event()
			place.expect_unharmed()


sys.exit(tap.run())
