"""The processes that a test's Podium consists of, as /proc tells."""
import pathlib


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
