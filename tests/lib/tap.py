"""Runs the functions marked with @test in order and prints TAP. Words on the command line or in the
variable TEST_WORDS choose the tests whose names contain one of them. With STOP_AT_FAILURE the first
failure is the last test."""

import os
import sys
import time
import traceback

os.environ.setdefault("PODIUM_CONFIG", "")  # ignore the settings of an installed Podium

TESTS = []


def test(function):
	TESTS.append(function)
	return function


class Skip(Exception):
	"""Raised with the reason why a test cannot run here."""


def run(before=lambda: None):
	"""Runs the tests. Calls `before` before each of them."""
	failed, words = 0, sys.argv[1:] or os.environ.get("TEST_WORDS", "").split()
	chosen = [
		function
		for function in TESTS
		if not words or any(word in function.__name__ for word in words)
	]
	for number, function in enumerate(chosen, 1):
		name = function.__name__.replace("_", " ")
		try:
			before()
			function()
			print(f"ok {number} - {name}", flush=True)
		except Skip as reason:
			print(f"ok {number} - {name} # SKIP {reason}", flush=True)
		except Exception:
			failed += 1
			print(f"not ok {number} - {name}", flush=True)
			for line in traceback.format_exc().splitlines():
				print("# " + line, flush=True)
			if os.environ.get("STOP_AT_FAILURE"):
				break
	print(f"1..{len(chosen)}", flush=True)
	return 1 if failed else 0


def until(condition, limit_s=120, explain=lambda: ""):
	"""Waits until condition() returns a true value, and returns that value. Calls it at growing
	intervals of up to 0.1 s."""
	end, pause_s = time.monotonic() + limit_s, 0.01
	while not (value := condition()):
		if time.monotonic() > end:
			raise AssertionError(f"the condition did not hold within {limit_s} s: {explain()}")
		time.sleep(pause_s)
		pause_s = min(1.3 * pause_s, 0.1)
	return value


def differing(got, expected):
	"""Returns both values for a message. Of a list it keeps only the elements that the other list
	lacks: among all rows of a database, nobody would find them."""
	if isinstance(got, list) and isinstance(expected, list):
		return [one for one in got if one not in expected], [
			one for one in expected if one not in got
		]
	if isinstance(got, tuple) and isinstance(expected, tuple) and len(got) == len(expected):
		return tuple(zip(*map(differing, got, expected), strict=True))
	return got, expected


def equal(got, expected):
	if got != expected:
		said = got, expected
		if len(repr(said)) > 2000:
			said = differing(got, expected)
		raise AssertionError(f"got {said[0]!r}, expected {said[1]!r}")


def contains(text, part):
	if part not in text:
		raise AssertionError(f"{part!r} is not in {text[:3000]!r}")


def lacks(text, part):
	if part in text:
		raise AssertionError(f"{part!r} is in {text[:3000]!r}")
