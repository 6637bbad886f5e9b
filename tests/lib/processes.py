"""Processes of this machine, as /proc tells. Any of them may end while one looks."""
import contextlib
import fcntl
import os
import pathlib
import tempfile

from tap import until


def all_pids():
	return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def stat_of(pid):
	"""(state, parent, when it started in ticks), or None where there is no such process."""
	try:
		fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
	except (FileNotFoundError,
		ProcessLookupError):  # the second where it went between opening and reading
		return None
	return fields[0], int(fields[1]), int(fields[19])


def parent_of(pid):
	stat = stat_of(pid)
	return stat and stat[1]


def is_gone(pid):
	"""Whether no process has this id, or only a dead one that nobody has asked about."""
	stat = stat_of(pid)
	return stat is None or stat[0] == "Z"


def wait_until_gone(pids):
	until(lambda: all(is_gone(pid) for pid in pids),
		explain=lambda: f"still there: {[pid for pid in pids if not is_gone(pid)]}")


def command_of(pid):
	"""Its words with spaces between, or nothing."""
	try:
		return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0",
			b" ").decode(errors="replace")
	except (FileNotFoundError, ProcessLookupError):
		return ""


def descendants(pid):
	"""Every process below this one, but the dead."""
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
	"""The most that it ever had at once."""
	lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@contextlib.contextmanager
def as_only_bomb():
	"""For a test that has as many processes as it can get: where there is no control group for
	them, they count together with those of another such test whose submissions run as the same
	user."""
	descriptor = os.open(
		pathlib.Path(tempfile.gettempdir()) / "podium-test-bomb.lock",
		os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
	try:
		fcntl.flock(descriptor, fcntl.LOCK_EX)
		yield
	finally:
		os.close(descriptor)
