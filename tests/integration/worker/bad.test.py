#!/usr/bin/env python3
"""Bad submissions and bad tasks do not harm a worker. One podium-worker runs all of them. Each gets
its verdict, and afterwards an ordinary job passes.

If the tests run as root, the worker gets its own process and mount namespaces, a small disk for
jobs and a memory limit. A submission can then kill and fill only what belongs to the test."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402
from workers import (
	HARNESS,
	RIGHT,
	TASK,
	Worker,
	admin,
	close,
	job,
	load_task,
	sql,
	submit,
	until,
	wait_for,
)  # noqa: E402

DISK_BYTES = 48 << 20
MEMORY_BYTES = 1 << 30
SHORT_TASK = TASK.replace("gpus:", "test_timeout: 1\ngpus:")

# ---- the worker ----


def memory_group():
	"""Makes a control group of version 1 or 2 with a memory limit. Returns its folder, or None if
	this machine allows none."""
	for root, limit in (
		("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
		("/sys/fs/cgroup", "memory.max"),
	):
		group = pathlib.Path(root, f"podium-worker-test-{os.getpid()}")
		try:
			group.mkdir()
		except OSError:
			continue
		try:
			(group / limit).write_text(str(MEMORY_BYTES))
			return group
		except OSError:
			group.rmdir()
	return None


def can_unshare():
	return (
		os.geteuid() == 0
		and subprocess.run(
			["unshare", "--pid", "--mount", "--fork", "--mount-proc", "true"], capture_output=True
		).returncode
		== 0
	)


# A shell script that joins the control group, mounts the disk for jobs, and becomes the worker.
ENTER = f"""
[ -z "$GROUP" ] || echo $$ > "$GROUP/cgroup.procs"
mount -t tmpfs -o size={DISK_BYTES},mode=755 jobs "$PODIUM_WORKER_DIRECTORY" || exit 1
exec unshare --pid --mount --fork --mount-proc --kill-child "$@"
"""
group = memory_group() if can_unshare() else None
before = ["unshare", "--mount", "sh", "-c", ENTER, "sh"] if can_unshare() else []
worker = None


def children(pid):
	found = []
	for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
		try:
			behind = stat.read_text().rsplit(")", 1)[1].split()
		except OSError:
			continue
		if int(behind[1]) == pid and behind[0] != "Z":
			found.append(int(stat.parent.name))
	return sorted(found)


def start():
	"""Starts the worker and loads two tasks."""
	global worker
	worker = Worker(
		before=before, GROUP=str(group or ""), PODIUM_SANDBOX_DISK_MIB=str(DISK_BYTES >> 20)
	)
	worker.says("is ready")
	load_task()
	load_task("short", SHORT_TASK)


def pids():
	pid = children(worker.process.pid)[0] if before else worker.process.pid
	return pid, children(pid)


def jobs_folder():
	"""A path to the folder of jobs in the worker's mount namespace."""
	return pathlib.Path(f"/proc/{pids()[0]}/root{worker.jobs}") if before else worker.jobs


# ---- the tests ----


def judged(source, verdict, *parts, mode="test", board=None):
	"""Submits and checks the verdict. Then checks that an ordinary job passes and that the worker
	and its podium-run are still the same processes."""
	until(lambda: pids()[1])
	same = pids()
	number = submit(source, mode, board=board or ("short" if verdict == "time limit" else "small"))
	wait_for(number, "failed" if verdict == "internal error" else "done", 60)
	got, reason = job(number, "verdict, reason")
	if got != verdict:
		raise AssertionError(
			f"expected {verdict}, got {got}: "
			f"{reason}\n{worker.log.read_text(errors='replace')[-2000:]}"
		)
	for part in parts:
		contains(reason, part)
	ordinary()
	equal(pids(), same)
	return number


def ordinary():
	number = submit(RIGHT, "test", user=2)
	wait_for(number)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	equal(
		[path.name for path in jobs_folder().iterdir() if path.name.startswith("podium-job-")], []
	)


def kernel(body, head=""):
	"""Returns a submission whose kernel runs `body` and then answers correctly."""
	return (
		"import os, sys, time\n"
		+ head
		+ "\ndef custom_kernel(data):\n"
		+ "".join(f"\t{line}\n" for line in body.splitlines())
		+ "\treturn data\n"
	)


@test
def an_ordinary_job_passes():
	start()
	ordinary()


def add(name, source, verdict, *parts):
	"""Adds a test: this submission gets the verdict, and the reason contains the parts."""

	def one():
		judged(source, verdict, *parts)

	one.__name__ = f"{name}: {verdict}"
	test(one)


add("a syntax error", "def custom_kernel(data:\n", "compile error", "submission.py, line 1")
add("no text at all", "\1\2\3" * 100, "compile error", "could not be compiled")
add(
	"an import of what is not there",
	"import a_module_that_nobody_has\n" + RIGHT,
	"runtime error",
	"ModuleNotFoundError",
)
add(
	"a file that is missing",
	"table = open('weights.bin')\n" + RIGHT,
	"runtime error",
	"FileNotFoundError",
	"weights.bin",
)
add(
	"an exception at import",
	"raise ValueError('not today')\n",
	"runtime error",
	"ValueError: not today",
)
add("a function of another name", "def kernel(data): return data\n", "runtime error", "ImportError")
add(
	"an end in the middle",
	kernel("os._exit(0)"),
	"runtime error",
	"before its harness had checked everything",
	"in test 1 of 2",
)
add(
	"an end at import",
	"import sys\nsys.exit(0)\n",
	"runtime error",
	"before its harness had checked everything",
)
add("an exit code of its own", kernel("os._exit(77)"), "runtime error", "exit code 77")
add(
	"the exit code of a bad case file",
	kernel("os._exit(113)"),
	"runtime error",
	"The submission ended the program with exit code 113",
	"in test 1 of 2",
)
add(
	"the exit code of a bad case file at import",
	"import os\nos._exit(113)\n",
	"runtime error",
	"exit code 113",
)
add("the exit code of wrong usage", kernel("os._exit(2)"), "runtime error", "exit code 2")
add("the exit code of a lost pipe", kernel("os._exit(111)"), "runtime error", "exit code 111")
add(
	"a segmentation fault",
	kernel("ctypes.string_at(8)", "import ctypes"),
	"runtime error",
	"SIGSEGV",
	"in test 1 of 2",
)
add(
	"a segmentation fault at import",
	"import ctypes\nctypes.string_at(8)\n",
	"runtime error",
	"SIGSEGV",
)
add("an abort", kernel("os.abort()"), "runtime error", "SIGABRT")
add(
	"a stack that overflows",
	kernel(
		"sys.setrecursionlimit(1 << 30)\nDeep().deeper",
		"class Deep:\n\tdef __getattr__(self, name): return getattr(self, name)\n",
	),
	"runtime error",
	"SIGSEGV",
)
add(
	"a recursion without end",
	kernel("f()", "def f(): return f()"),
	"runtime error",
	"RecursionError",
)
add("a loop without end", kernel("while True: pass"), "time limit", "The limit of 1 s was reached")
add(
	"a sleep without end that ignores signals",
	kernel(
		"import signal\nfor n in range(1, 32):\n\tif n not in (9, 19): signal.signal(n, "
		"signal.SIG_IGN)\n"
		"time.sleep(600)"
	),
	"time limit",
	"The limit of 1 s was reached",
)
add(
	"a process that stops itself",
	kernel("os.kill(os.getpid(), 19)"),
	"time limit",
	"The limit of 1 s was reached",
)
add(
	"output without end",
	kernel("block = b'x' * 65536\nwhile True: os.write(1, block)"),
	"output limit",
	"64 MiB",
)
add(
	"errors without end",
	kernel("block = b'\\xff\\0' * 32768\nwhile True: os.write(2, block)"),
	"output limit",
	"64 MiB",
)
add("much output", kernel("os.write(1, b'line\\n' * 2000000)"), "passed")
add(
	"an exception of many megabytes",
	kernel("raise ValueError('x' * (20 << 20))"),
	"runtime error",
	"exit code 1 in test 1 of 2",
	"xxx",
)
add("closing all descriptors", kernel("os.closerange(0, 4096)"), "runtime error", "exit code")
add(
	"opening all descriptors",
	kernel("while True: kept.append(open('/dev/null'))", "kept = []"),
	"runtime error",
	"Too many open files",
)
add("garbage in the result pipe", kernel("os.write(3, os.urandom(1 << 16))"), "protocol violation")
add(
	"a result of its own",
	kernel("os.write(3, b'check: pass\\n')\nos._exit(0)"),
	"protocol violation",
	"check: pass",
)
add(
	"a line without end in the result pipe",
	kernel("while True: os.write(3, b'x' * 65536)"),
	"output limit",
	"result pipe",
)
add(
	"messages without end in the result pipe",
	kernel("os.write(3, b'test.0.message: x\\n')\nwhile True: os.write(3, b'y' * 1000 + b'\\n')"),
	"output limit",
	"16 MiB",
)
add(
	"a number that is none",
	kernel("os.write(3, b'benchmark.0.mean: nan\\n')"),
	"protocol violation",
)
add("memory that nobody has", kernel("x = bytearray(1 << 60)"), "runtime error", "MemoryError")
add(
	"a file larger than files may be",
	kernel("os.truncate(os.open('big', os.O_CREAT | os.O_RDWR), (1 << 30) + 1)"),
	"runtime error",
	"File too large",
)
add(
	"thousands of files and folders",
	kernel(
		"for i in range(2000): open(f'f{i}', 'w')\nfor i in range(500):\n"
		"\tos.mkdir('d'); os.chdir('d')"
	),
	"passed",
)
add(
	"folders that nobody may enter",
	kernel("os.makedirs(f'{data}/a/b'); os.chmod(f'{data}/a', 0)\nos.symlink('/', f'{data}/root')"),
	"passed",
)
add(
	"a daemon",
	kernel("if not os.fork():\n\tos.setsid()\n\tif os.fork(): os._exit(0)\n\ttime.sleep(600)"),
	"passed",
)
add(
	"forks for as long as it may",
	kernel("for _ in range(8): os.fork()\ntime.sleep(600)"),
	"time limit",
)
add(
	"forks that outrun who ends them",
	kernel(
		"if not os.fork():\n\twhile True:\n\t\ttime.sleep(0.002)\n\t\tif os.fork(): os._exit(0)"
	),
	"passed",
)
add(
	"threads without end",
	kernel(
		"for _ in range(300): threading.Thread(target=time.sleep, args=(600,)).start()\nraise "
		"KeyError(1)",
		"import threading",
	),
	"time limit",
)
add(
	"an own interpreter that hangs",
	kernel(
		"import subprocess\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
	),
	"time limit",
)

# ---- attacks that need namespaces around the test ----

KILLS = """
mine = os.getpid()
for name in sorted(os.listdir('/proc')):
	if not name.isdigit() or int(name) == mine: continue
	try:
		os.kill(int(name), 9)
		print('killed', name)
	except OSError: pass
"""


@test
def killing_every_process_it_can_reach_harms_no_one_else():
	if not before:
		raise Skip("needs a process namespace")
	number = judged(
		kernel(KILLS + "try: os.kill(-1, 9)\nexcept ProcessLookupError: pass"), "passed"
	)
	lacks(
		sql(f"SELECT stdout FROM stages WHERE job_id = {number} AND name = 'test'")[0][0], "killed"
	)
	judged(
		kernel("if os.fork(): time.sleep(600)\nos.kill(-1, 9)\ntime.sleep(600)"),
		"runtime error",
		"SIGKILL",
	)
	judged(kernel("os.kill(0, 9)"), "runtime error", "SIGKILL", "in test 1 of 2")


@test
def killing_its_parents_harms_no_one():
	if os.geteuid() != 0:
		raise Skip("submissions run as the worker's own user here")
	refused = (
		"assert os.getppid() == 0\ntry: os.kill(1, 9)\nexcept PermissionError: print('refused')\n"
	)
	number = judged(kernel(refused), "passed")
	equal(
		sql(f"SELECT stdout FROM stages WHERE job_id = {number} AND name = 'test'")[0][0].count(
			"refused"
		),
		2,
	)


@test
def more_memory_than_there_is():
	if not group:
		raise Skip("needs a control group of its own")
	judged(
		kernel(f"x = bytearray({2 * MEMORY_BYTES})\nfor i in range(0, len(x), 4096): x[i] = 1"),
		"memory limit",
		"ran out of memory",
	)


FILLS = """
try:
	for i in range(1000): open(os.environ[place] + f'/{i}', 'wb').write(b'x' * (1 << 20))
except OSError as fault: print(fault)
"""


@test
def filling_the_disk():
	if not before:
		raise Skip("needs a disk of its own")
	number = judged(kernel("place = 'TMPDIR'" + FILLS), "passed")
	contains(
		sql(f"SELECT stdout FROM stages WHERE job_id = {number} AND name = 'test'")[0][0],
		"No space left on device",
	)
	judged(
		kernel("open('full', 'wb').write(b'x' * (1 << 29))"),
		"runtime error",
		"No space left on device",
	)


@test
def filling_the_disk_for_the_next_stage():
	if not before:
		raise Skip("needs a disk of its own")
	judged(
		kernel("place = 'TRITON_CACHE_DIR'\nos.makedirs(os.environ[place], exist_ok=True)" + FILLS),
		"passed",
		mode="ranked",
	)


# ---- tasks ----

# Broken evals: the code, the verdict that a correct submission gets, and a part of the reason.
TASKS = {
	"syntax": ("def main(:\n", "runtime error", "SyntaxError"),
	"missing": ("import a_file_that_was_forgotten\n", "runtime error", "ModuleNotFoundError"),
	"segfault": ("import ctypes\nctypes.string_at(8)\n", "runtime error", "SIGSEGV"),
	"silent": ("", "runtime error", "before its harness had checked everything"),
	"cases": ("import sys\nsys.exit(113)\n", "internal error", "case file"),
	"usage": ("import sys\nsys.exit(2)\n", "internal error", "mode"),
	"hangs": ("import time\ntime.sleep(600)\n", "time limit", "The limit of 1 s was reached"),
	"floods": ("import os\nwhile True: os.write(1, b'x' * 65536)\n", "output limit", "64 MiB"),
	"garbage": (
		"import os\nos.write(int(os.environ['POPCORN_FD']), b'hello\\n')\n",
		"protocol violation",
		"hello",
	),
	"impossible": (HARNESS.replace("mean=2000000", "mean=2e12"), "passed"),
}


def add_task(name, harness, verdict, *parts):
	def one():
		load_task(f"bad-{name}", SHORT_TASK if verdict == "time limit" else TASK, harness=harness)
		judged(RIGHT, verdict, *parts, board=f"bad-{name}")

	one.__name__ = f"a task whose eval {name}: {verdict}"
	test(one)


for each, row in TASKS.items():
	add_task(each, *row)


@test
def impossible_times_are_a_protocol_violation():
	judged(RIGHT, "protocol violation", "the stage took", mode="ranked", board="bad-impossible")


@test
def the_worker_printed_no_errors_and_exits_cleanly():
	pid = pids()[0]
	os.kill(pid, 15)
	equal(worker.process.wait(60), 0)
	log = worker.log.read_text(errors="replace")
	for word in ("Sanitizer", "ended", "exit code", "could not be", "Cannot create", "is killed"):
		lacks(log, word)


code = 1
try:
	admin("migrate")
	code = run()
finally:
	if before and worker and worker.process.poll() is None:
		subprocess.run(
			["kill", "-KILL", *map(str, children(worker.process.pid))], stderr=subprocess.DEVNULL
		)
	close()
	if group:
		until(lambda: not (group / "cgroup.procs").read_text())
		group.rmdir()
sys.exit(code)
