"""Processes of this machine, read from /proc. Most functions treat a process as missing if it ends
while they read about it."""

import contextlib
import fcntl
import os
import pathlib
import tempfile

from tap import until


def all_pids():
	return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat_of(pid):
	"""Returns (state, parent, start time in ticks), or None if there is no such process."""
	try:
		fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
	except (
		FileNotFoundError,
		ProcessLookupError,
	):  # raised if the process ends between opening and reading
		return None
	return fields[0], int(fields[1]), int(fields[19])


def parent_of(pid):
	stat = stat_of(pid)
	return stat and stat[1]


def is_gone(pid):
	"""Whether no process has this id, or only a zombie."""
	stat = stat_of(pid)
	return stat is None or stat[0] == "Z"


def wait_until_gone(pids):
	until(
		lambda: all(is_gone(pid) for pid in pids),
		explain=lambda: f"still there: {[pid for pid in pids if not is_gone(pid)]}",
	)


def command_of(pid):
	"""The command line with spaces between the words; empty if there is no such process."""
	try:
		return (
			pathlib.Path(f"/proc/{pid}/cmdline")
			.read_bytes()
			.replace(b"\0", b" ")
			.decode(errors="replace")
		)
	except (FileNotFoundError, ProcessLookupError):
		return ""


def descendants(pid):
	"""All living processes below this one."""
	children = {}
	for one in all_pids():
		if (stat := stat_of(one)) and stat[0] != "Z":
			children.setdefault(stat[1], []).append(one)
	found, waiting = [], [pid]
	while waiting:
		more = children.get(waiting.pop(), [])
		found += more
		waiting += more
	return found


def find(pid, name):
	"""The process below `pid` whose program has this name."""
	for one in descendants(pid):
		try:
			if pathlib.Path(f"/proc/{one}/comm").read_text().strip() == name:
				return one
		except (FileNotFoundError, ProcessLookupError):
			continue
	raise AssertionError(f"{name} is gone")


def most_memory_kib(pid):
	"""The peak of the process's memory."""
	lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@contextlib.contextmanager
def as_only_bomb():
	"""A lock for tests that create as many processes as they can, so that only one runs at a time.
	Without control groups, all submissions of one user share one limit on processes."""
	descriptor = os.open(
		pathlib.Path(tempfile.gettempdir()) / "podium-test-bomb.lock",
		os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
		0o666,
	)
	try:
		fcntl.flock(descriptor, fcntl.LOCK_EX)
		yield
	finally:
		os.close(descriptor)
