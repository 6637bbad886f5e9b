"""The processes that a test's Podium consists of, as /proc tells."""
import contextlib
import fcntl
import os
import pathlib
import tempfile


def below(pid):
	"""All children of a process, and theirs."""
	children = [int(child) for thread in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (thread / "children").read_text().split()]
	return children + [deeper for child in children for deeper in below(child)]


def find(pid, name):
	"""The process below `pid` whose program has this name."""
	for child in below(pid):
		if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name:
			return child
	raise AssertionError(f"{name} is gone")


def most_memory_kib(pid):
	"""The most that it ever had at once."""
	lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@contextlib.contextmanager
def as_only_bomb():
	"""For a test that has as many processes as it can get: where there is no control group for them, they count together with those of
	another such test whose submissions run as the same user."""
	descriptor = os.open(pathlib.Path(tempfile.gettempdir()) / "podium-test-bomb.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
	try:
		fcntl.flock(descriptor, fcntl.LOCK_EX)
		yield
	finally:
		os.close(descriptor)
