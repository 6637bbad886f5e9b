#!/usr/bin/env python3
"""That the isolated engine's clock goes as the kernel's own does, on the CPU device: the table of tests/bench/isolated.py, short.
What a busy machine adds stays far below what a fault in the protocol would (a bell that nobody hears, a nap in a call)."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "tests" / "lib")]
import engine  # noqa: E402
import isolated as bench  # noqa: E402
from tap import run, test  # noqa: E402

LENGTHS_US = (25, 500, 20_000)


@test
def what_is_charged_is_what_the_kernel_took():
	folder = engine.build_engine()
	try:
		found = list(bench.measure(folder, bench.build_kernel(folder), LENGTHS_US))
	finally:
		engine.remove(folder)
	bench.print_table([[one] for one in found])
	charged = [one[1] for one in found]
	assert charged == sorted(charged), charged
	ratio = charged[-1] / found[-1][0]
	assert 0.5 < ratio < 2, f"a kernel of {LENGTHS_US[-1] / 1000} ms was charged {ratio:.2f} times what it took"


run()
