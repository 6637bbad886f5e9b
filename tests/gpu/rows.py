"""The rows of tests/gpu/accuracy: kernels of known durations, as cases of the tasks accuracy_py and
accuracy_cu."""

import collections

Row = collections.namedtuple("Row", "group name work size amount")

MIB = 1 << 20
CYCLES_PER_US = 1980  # of an H200; an estimate is enough, because the durations are measured


def memory(name, size, passes=1):
	return Row("memory", f"memory, {name}", 1, size, passes)


def spin(us):
	return Row("spin", f"spin, {us:g} us", 2, 1024, int(us * CYCLES_PER_US))


ROWS = [
	memory("1 us", 1024),
	memory("3 us", 3 * MIB // 4),
	memory("7 us", 3 * MIB),
	memory("15 us", 8 * MIB),
	memory("25 us", 13 * MIB),
	memory("50 us", 26 * MIB),
	memory("100 us", 52 * MIB),
	memory("500 us", 52 * MIB, 5),
	memory("5 ms", 52 * MIB, 50),
	*map(spin, (1, 3, 7, 15, 25, 50, 100, 500, 5000)),
	Row("special", "20 kernels in one call", 3, 20 * 200 * 1024, 20),
	Row("special", "50 us on the host between 2 kernels", 4, 4 * MIB, 50),
	Row("special", "300 us on the host between 2 kernels", 4, 4 * MIB, 300),
	Row("special", "4 kernels, each waited for", 5, 4 * MIB, 4),
]


def bytes_moved(row):
	"""Returns the bytes that the kernel reads and writes: each pass does so once with each byte.
	None if memory does not limit the kernel."""
	return 8 * row.size * row.amount if row.group == "memory" else None


def case(row):
	return f"work: {row.work}; size: {row.size}; amount: {row.amount}; seed: 5236"


def chosen(words):
	"""Returns the rows whose group is one of the words or whose name contains one. Without words,
	returns all rows."""
	return [
		row
		for row in ROWS
		if not words or any(word == row.group or word in row.name for word in words)
	]
