#!/usr/bin/env python3
"""Compares the isolated engine's clock with the kernel's own on the CPU device: a short form of
tests/bench/isolated.py. Makes several attempts, because a fault of the protocol (a missed bell, a
sleep in a call) shows in every attempt, but the machine's load does not."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "tests" / "lib")]
import engine  # noqa: E402
import isolated as bench  # noqa: E402
from tap import run, test  # noqa: E402

LENGTHS_US, TRIES = (25, 500, 20_000), 5


def fault(found):
	"""Returns a message if the judge's time is wrong, or None."""
	charged = [one[1] for one in found]
	ratio = charged[-1] / found[-1][0]
	if charged != sorted(charged):
		return f"longer kernels were not charged more: {charged}"
	length_ms = LENGTHS_US[-1] / 1000
	return (
		None
		if 0.5 < ratio < 2
		else (f"a kernel of {length_ms} ms was charged {ratio:.2f} times what it took")
	)


@test
def the_charge_equals_the_kernel_s_time():
	folder, faults = engine.build_engine(), []
	try:
		kernel = bench.build_kernel(folder)
		while len(faults) < TRIES and None not in faults:
			found = list(bench.measure(folder, kernel, LENGTHS_US))
			bench.print_table([[one] for one in found])
			faults.append(fault(found))
	finally:
		engine.remove(folder)
	assert None in faults, faults


run()
