"""Runs programs that try to break out of the sandbox."""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "run"), str(HERE.parents[1] / "lib")]
from runner import Runner  # noqa: E402

# The head of each program in the sandbox. attempt() calls a function and returns "done" or the name
# of the error. call() makes a system call by its number and returns "done" or the name of the error
# too.
HEAD = r"""
import ctypes, errno, json, os, socket, subprocess, sys, time
fd = int(os.environ["POPCORN_FD"])
cases = open(sys.argv[2]).read().splitlines()
def say(key, value): os.write(fd, f"{key}: {value}\n".encode())
def name(number): return errno.errorcode.get(number, str(number))
def attempt(act):
    try:
        act()
        return "done"
    except OSError as error:
        return name(error.errno)
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    return "done" if result >= 0 else name(ctypes.get_errno())
seen = None
"""
TAIL = r"""
say("test-count", len(cases))
for i, case in enumerate(cases):
    say(f"test.{i}.spec", case)
    say(f"test.{i}.status", "pass")
    if i == 0: say("test.0.message", json.dumps(seen))
say("check", "pass")
"""
RIGHT = "def answer(case): return 0\n"
# The users that run podium-run. None is the user of this test. As root, podium-run runs submissions
# as nobody; as an ordinary user, it runs them as that user.
USERS = (None, "nobody") if os.geteuid() == 0 else (None,)


class Inside:
	"""A podium-run whose harnesses run programs in the sandbox."""

	def __init__(self, *options, **members):
		self.runner = Runner(*options, **members)

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.runner.__exit__()

	def run(self, body, **members):
		return self.runner.run(RIGHT, HEAD + body + TAIL, **members)

	def see(self, body, **members):
		"""The value of `seen` after `body` has run in the sandbox."""
		result = self.run(body, **members)
		if result.verdict != "passed":
			raise AssertionError(
				f"{result.verdict}: {result.reason}\n{result.log()}\n{result.log('stderr')}"
			)
		return json.loads(result.cases[0]["message"])


def as_each_user(*options, **members):
	"""Yields (user, a podium-run) for each of USERS."""
	for user in USERS:
		with Inside(*options, user=user, **members) as inside:
			yield user, inside
