"""Helpers of the attacks. A line `could: ...` on the standard output reports what an attack was
able to do. A line `attempts: N` proves that the attack ran. attacks.test.py reads these lines."""

import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
# A forged benchmark result, and the case that it names. A contestant does not know the cases, so
# CASE is written here: the benchmark of most tasks, with the sizes for a GPU and for a CPU.
FORGED = {"runs": 30, "mean": 7.25, "std": 0.25, "err": 0.05, "best": 7, "worst": 7.5}
CASE = f"size: {262144 if os.environ.get('CUDA_VISIBLE_DEVICES') else 8192}; seed: 54352"
attempts = 0
shown = 0
MOST_SHOWN = 60  # denials to print; more would push successes out of the log


def say(line):
	os.write(1, (line.replace("\n", " ")[:300] + "\n").encode("utf-8", "backslashreplace"))


def could(what, result=""):
	global attempts
	attempts += 1
	say(f"could: {what} {result}")


def denied(what, reason=""):
	global attempts, shown
	attempts += 1
	shown += 1
	if shown <= MOST_SHOWN:
		say(f"denied: {what}: {reason}")


def attempt(what, function, *arguments):
	"""Calls the function and reports the outcome. The attempt succeeded if the function returned
	something other than None or False."""
	try:
		result = function(*arguments)
	except Exception as reason:
		return denied(what, f"{type(reason).__name__}: {reason}")
	if result is None or result is False:
		return denied(what, "nothing there")
	return could(what, repr(result)[:120])


def syscall(number, *arguments):
	"""Returns the kernel's result, or raises OSError."""
	words = [
		argument
		if isinstance(argument, (bytes, ctypes.Array, ctypes._Pointer, ctypes.Structure))
		or argument is None
		else ctypes.c_long(argument)
		for argument in arguments
	]
	words = [ctypes.byref(word) if isinstance(word, ctypes.Structure) else word for word in words]
	result = libc.syscall(ctypes.c_long(number), *words)
	if result < 0:
		raise OSError(ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno(), "?"))
	return result


def in_child(function, *arguments):
	"""Calls a function that would change this process in a child process. Returns True if the
	attempt succeeded, and raises an error if it failed."""
	child = os.fork()
	if child == 0:
		try:
			result = function(*arguments)
			os._exit(0 if result is None or result is False else 42)
		except OSError as reason:
			os._exit(min(reason.errno or 1, 41))
		except BaseException:
			os._exit(1)
	status = os.waitpid(child, 0)[1]
	if os.WIFSIGNALED(status):
		raise PermissionError(f"ended by signal {os.WTERMSIG(status)}")
	if os.WEXITSTATUS(status) == 42:
		return True
	raise OSError(os.WEXITSTATUS(status), os.strerror(os.WEXITSTATUS(status)))


def pids():
	return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def forgery(mode=None, path="../cases.txt"):
	"""Returns forged result lines without contradictions: each case passed, in 7.25 ns."""
	mode = mode or (sys.argv[1:] or ["leaderboard"])[0]  # a contestant is not told the mode
	cases = [CASE]
	if os.path.exists(path):
		cases = [line for line in open(path).read().splitlines() if line.strip()]
	family = "test" if mode == "test" else "benchmark"
	lines = [f"{family}-count: {len(cases)}"]
	for index, case in enumerate(cases):
		lines.append(f"{family}.{index}.spec: {case}")
		if family == "benchmark":
			lines += [f"{family}.{index}.{key}: {value}" for key, value in FORGED.items()]
		lines.append(f"{family}.{index}.status: pass")
	return "\n".join(lines + ["check: pass", ""]).encode()


def result_pipes():
	"""Returns every descriptor above 2 that is a pipe or the isolated engine's channel."""
	import stat

	found = []
	for number in range(3, 256):
		try:
			mode = os.fstat(number).st_mode
			if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
				found.append(number)
		except OSError:
			pass
	return found


def custom_kernel(data):
	"""Returns the right answer, for attacks that do not need a wrong one."""
	global told
	if not told:
		told = True
		say(f"attempts: {attempts}")
	return data + data


told = False
