#!/usr/bin/env python3
"""Programs that podium-run forks from its zygotes see what a program in a new interpreter sees, and
cannot reach the zygotes."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from processes import command_of, descendants, is_gone  # noqa: E402
from quick import quick_python  # noqa: E402
from runner import PYTHON, ROOT, Runner, task  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test, until  # noqa: E402

# The head of a harness. It notes whether the harness was forked from the zygote, which has imported
# numpy.
HEAD = """
import sys
forked = "numpy" in sys.modules
import json, os
fd = int(os.environ["POPCORN_FD"])
def say(key, value): os.write(fd, f"{key}: {value}\\n".encode())
"""
PASS = """
say("test-count", 2)
for i, case in enumerate(open(sys.argv[2]).read().splitlines()):
    say(f"test.{i}.spec", case)
    say(f"test.{i}.status", "pass")
    say(f"test.{i}.message", json.dumps(seen) if i == 0 else ("forked" if forked else "alone"))
say("check", "pass")
"""
SUBMISSION = "def answer(case): return 1\n"


class Warm(Runner):
	"""A podium-run whose zygote for submissions has finished its imports."""

	def __init__(self, **members):
		super().__init__("--python", PYTHON, **members)
		until(lambda: self.look("seen = 0")[1] == "forked")

	def look(self, body, **members):
		"""What a harness sees: (the value of `seen`, "forked" or "alone")."""
		result = self.run(SUBMISSION, HEAD + body + PASS, **members)
		if result.verdict != "passed":
			raise AssertionError(f"{result.verdict}: {result.reason}\n{result.log('stderr')}")
		return json.loads(result.cases[0]["message"]), result.cases[1]["message"]


warm = Warm()
cold = Runner()


def same(body, **members):
	"""Checks that a forked harness and one in a new interpreter see the same. Returns what they
	see."""
	seen, how = warm.look(body, **members)
	equal(how, "forked")
	alone = Warm.look(cold, body, **members)
	equal(alone[1], "alone")
	equal(seen, alone[0])
	return seen


def processes(parent):
	found = []
	for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
		try:
			behind = stat.read_text().rsplit(")", 1)[1].split()
		except OSError:
			continue
		if int(behind[1]) == parent and behind[0] != "Z":
			found.append(int(stat.parent.name))
	return found


@test
def nothing_is_imported_from_the_folder_that_podium_run_starts_in():
	with tempfile.TemporaryDirectory(prefix="podium-planted.") as folder:
		for name in ("numpy", "torch", "ast", "base64"):
			pathlib.Path(folder, f"{name}.py").write_text(
				f"open({folder + '/seen'!r}, 'a').write('{name}')\n"
			)
		with Warm(prefix=("env", "-C", folder)):
			equal(os.path.exists(folder + "/seen"), False)


@test
def torch_is_already_imported():
	equal(warm.look("seen = 'torch' in sys.modules")[0], True)


@test
def arguments_folder_and_main_module_are_those_of_a_new_interpreter():
	seen = same(
		"import __main__\nseen = [sys.argv[0], sys.argv[1], len(sys.argv), "
		"os.path.basename(os.getcwd()), os.path.basename(sys.path[0]), "
		"os.path.basename(__file__), __name__, __main__.__file__ == __file__, __spec__ is None, "
		"__package__, sorted(k for k in globals() if k.startswith('__'))]"
	)
	equal(seen[:7], ["eval.py", "test", 3, "run", "run", "eval.py", "__main__"])


@test
def a_main_program_runs_bytecode_beside_it_but_none_from_its_own_folder():
	"""The engines' programs lie in another folder. A program could write to its own."""
	seen, how = warm.look(
		"import importlib.util, marshal\n"
		"code_of, seen = sys.excepthook.__globals__['code_of'], []\n"
		"for folder in (os.getcwd(), os.environ['HOME']):\n"
		"    path = folder + '/main.py'\n"
		"    with open(path, 'w') as file: file.write('word = \"source\"')\n"
		"    bytecode = importlib.util.cache_from_source(path)\n"
		"    os.makedirs(os.path.dirname(bytecode))\n"
		"    with open(bytecode, 'wb') as file:\n"
		"        file.write(importlib.util.MAGIC_NUMBER + b'\\1\\0\\0\\0' + bytes(8))\n"
		"        file.write(marshal.dumps(compile('word = \"bytecode\"', 'x', 'exec')))\n"
		"    names = {}\n"
		"    exec(code_of(path), names)\n"
		"    seen.append([names['word'], code_of(path).co_filename == path])\n"
	)
	equal((seen, how), ([["source", True], ["bytecode", True]], "forked"))


@test
def the_environment_is_the_same_for_python_and_for_c():
	shape = (
		"import re, subprocess\nplain = lambda text: "
		"re.sub(r'podium-job-\\d+-\\w+|podium-run-test\\.\\w+', 'X', text)\n"
		"seen = [sorted(plain(k + '=' + v) for k, v in os.environ.items()), sorted(plain(line) "
		"for line in "
		"subprocess.run(['/usr/bin/env'], capture_output=True, text=True).stdout.splitlines() if "
		"line[0] != '_')]"
	)
	seen = same(shape)
	equal(
		[line for line in seen[1] if not line.startswith("LC_CTYPE")],
		seen[0]
		if "LC_CTYPE=C.UTF-8" not in seen[0]
		else [line for line in seen[0] if not line.startswith("LC_CTYPE")],
	)


@test
def user_session_limits_and_descriptors_are_the_same():
	same(
		"import resource\nseen = [os.getresuid(), os.getresgid(), sorted(os.getgroups()), "
		"os.getsid(0) == os.getpid(), "
		"[resource.getrlimit(getattr(resource, name)) for name in ('RLIMIT_CORE', "
		"'RLIMIT_NOFILE', 'RLIMIT_FSIZE', 'RLIMIT_NPROC')], "
		"oct(os.umask(0o77)), sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4], "
		"[line.split()[1] for line in open('/proc/self/status') if line.startswith(('NoNewPrivs', "
		"'CapEff', 'CapPrm'))]]"
	)
	equal(
		warm.look(
			"seen = sorted(int(n) for n in os.listdir('/proc/self/fd') if "
			"os.path.exists('/proc/self/fd/' + n))"
		)[0],
		[0, 1, 2, 3],
	)


@test
def signals_are_those_of_a_new_interpreter():
	same(
		"import signal\nseen = [[str(signal.getsignal(n)) if not callable(signal.getsignal(n)) "
		"else signal.getsignal(n).__name__ "
		"for n in signal.valid_signals()], [int(n) for n in "
		"signal.pthread_sigmask(signal.SIG_BLOCK, [])]]"
	)


@test
def random_numbers_differ_from_run_to_run():
	body = (
		"import random, numpy, tempfile, uuid\n"
		"seen = [random.random(), float(numpy.random.rand()), str(uuid.uuid4()), "
		"tempfile.mktemp()]"
	)
	first, second = warm.look(body)[0], warm.look(body)[0]
	for one, other in zip(first, second):
		assert one != other, (first, second)
	contains(first[3], "/tmp/")


@test
def a_program_does_not_see_changes_of_an_earlier_one():
	warm.look(
		"import torch, builtins\ntorch.secret = 5\nbuiltins.secret = 6\nos.environ['SECRET'] = "
		"'7'\nsys.path.insert(0, '/secret')\nseen = 0"
	)
	equal(
		warm.look(
			"import torch\nseen = [hasattr(torch, 'secret'), 'secret' in "
			"dir(__builtins__), 'SECRET' "
			"in os.environ, '/secret' in sys.path]"
		)[0],
		[False] * 4,
	)


@test
def exit_codes_signals_and_tracebacks_are_those_of_a_new_interpreter():
	for body, verdict, part in (
		("sys.exit(113)", "internal error", "case file"),
		("os._exit(110)", "runtime error", "CUDA"),
		("os.kill(os.getpid(), 11)", "runtime error", "SIGSEGV"),
		("raise KeyError('lost')", "runtime error", "KeyError: 'lost'"),
		(
			"import atexit\natexit.register(lambda: print('said at the end'))\nseen = 0\n" + PASS,
			"passed",
			"",
		),
	):
		result = warm.run(SUBMISSION, HEAD + body + "\n")
		equal(result.verdict, verdict)
		contains(result.reason, part)
		if "KeyError" in body:
			equal(result.log("stderr").count("File "), 1)
			lacks(result.log("stderr"), "run_file")
		if "atexit" in body:
			contains(result.log(), "said at the end")


@test
def a_program_that_does_not_end_is_killed_with_its_processes():
	body = (
		"import subprocess\nchild = subprocess.Popen(['/bin/sleep', '600'], "
		"start_new_session=True)\nsay('test-count', 2)\n"
		"import time\ntime.sleep(600)\n"
	)
	result = warm.run(SUBMISSION, HEAD + body, definition=task(test_timeout_s=2))
	equal(result.verdict, "time limit")
	equal(descendants(warm.process.pid), processes(warm.process.pid))
	equal(warm.look("seen = 0")[1], "forked")


@test
def the_zygote_cannot_be_reached():
	body = (
		"seen = []\nfor pid in [os.getppid(), *(int(n) for n in os.listdir('/proc') if "
		"n.isdigit())]:\n"
		"    try:\n        command = open(f'/proc/{pid}/cmdline').read()\n    except OSError:\n   "
		"     continue\n"
		"    if 'podium-zygote' not in command or pid == os.getpid(): continue\n"
		"    for path in ('mem', 'environ', 'fd', 'maps'):\n        try:\n"
		"            os.listdir(f'/proc/{pid}/fd') if path == 'fd' else "
		"open(f'/proc/{pid}/{path}', 'rb').read(1)\n"
		"            seen.append(path)\n        except OSError:\n            pass\n"
		"    if os.getuid() != os.stat(f'/proc/{pid}').st_uid:\n        try:\n            "
		"os.kill(pid, 0)\n            seen.append('kill')\n        except OSError:\n            "
		"pass\n"
	)
	equal(warm.look(body)[0], [])


@test
def a_forked_program_starts_without_extra_threads():
	"""torch starts threads if a setting asks for several. If the limit on the user's processes does
	not allow them, torch never stops waiting for them."""
	if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
		raise Skip(f"{PYTHON} cannot import torch")
	equal(
		same(
			"import torch\nseen = len(os.listdir('/proc/self/task')), torch.get_num_threads() == "
			"int(os.environ['OMP_NUM_THREADS'])"
		),
		[1, True],
	)


def zygotes_of(runner):
	"""{the zygote's title: its process}"""
	pids = processes(runner.process.pid)
	return {command_of(pid).split(": ")[1].strip(): pid for pid in pids}


FOR_JUDGES, FOR_SUBMISSIONS = (
	"forks judges and null contestants",
	"forks programs with a submission",
)


@test
def lists_of_processes_show_what_each_process_does():
	def name_of(pid):
		return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()

	zygotes = zygotes_of(warm)
	equal(set(zygotes), {FOR_JUDGES, FOR_SUBMISSIONS})
	for title, pid in zygotes.items():
		equal(command_of(pid).rstrip(), f"{PYTHON} podium-zygote: {title}")
		equal(name_of(pid), "podium-zygote")
	# A forked program has the command line of a new interpreter.
	words = same(
		"seen = open('/proc/self/cmdline').read().rstrip(chr(0)).split(chr(0))\n", python=PYTHON
	)
	equal(words[:3], [PYTHON, "eval.py", "test"])


@test
def a_traceback_reads_no_file_of_the_zygote():
	# A path below /proc/self would be a file of the program.
	equal(
		warm.look(
			"import inspect\n"
			"names = [one.filename for one in inspect.stack(0)]\n"
			"seen = [name for name in names if name.startswith('/proc')]\n"
		),
		([], "forked"),
	)
	equal(warm.look("seen = open('/proc/self/comm').read().strip()")[0], "eval.py")


def is_replaced_after(signal_number):
	"""Sends the zygote this signal. Checks that the next program runs, and that later programs run
	with a new zygote. Returns podium-run's error output."""
	with Warm() as harmed:
		zygotes = zygotes_of(harmed)
		os.kill(zygotes[FOR_SUBMISSIONS], signal_number)
		equal(harmed.look("seen = 0"), (0, "alone"))
		until(lambda: harmed.look("seen = 0")[1] == "forked")
		assert is_gone(zygotes[FOR_SUBMISSIONS])
		equal(zygotes_of(harmed)[FOR_JUDGES], zygotes[FOR_JUDGES])
		return harmed.end()[2]


@test
def a_killed_zygote_is_replaced():
	contains(is_replaced_after(signal.SIGKILL), "podium-run starts the program without it.")


@test
def a_zygote_that_does_not_answer_is_killed_and_replaced():
	contains(
		is_replaced_after(signal.SIGSTOP),
		"The zygote could not start a program: there is no answer. podium-run starts the "
		"program without it.",
	)


@test
def a_failure_of_the_zygote_to_start_a_program_is_logged():
	with tempfile.TemporaryDirectory() as folder:
		python = quick_python(
			pathlib.Path(folder), "def get_num_threads(): raise ValueError('none left')\n"
		)
		os.chmod(folder, 0o755)
		with Runner("--python", python) as one:
			os.set_blocking(one.process.stderr.fileno(), False)
			end, said = time.monotonic() + 120, ""
			expected = (
				"The zygote could not start a program: ValueError: none left. "
				"podium-run starts the program without it."
			)
			while expected not in said:
				assert time.monotonic() < end, said
				equal(
					one.run(SUBMISSION, HEAD + "seen = 0" + PASS, python=python).verdict, "passed"
				)
				said += (one.process.stderr.read() or b"").decode()


@test
def another_interpreter_is_started_without_the_zygote():
	other = pathlib.Path(warm.own) / "python"
	other.symlink_to(PYTHON)
	equal(warm.look("seen = 0", python=str(other))[1], "alone")


SPAWN = """
import multiprocessing, sys, os
preloaded = "numpy" in sys.modules

def describe(number):
    return [number, os.getpid() != os.getppid(), "numpy" in sys.modules and preloaded,
        os.environ.get("POPCORN_SEED"), os.environ.get("MARK"), __name__,
        os.path.basename(os.getcwd())]

def fail(number):
    raise ValueError(f"lost {number}")

def leave(code):
    os._exit(code)

if __name__ == "__main__":
    forked = preloaded
    import json, os
    fd = int(os.environ["POPCORN_FD"])
    def say(key, value): os.write(fd, f"{key}: {value}\\n".encode())
    os.environ["MARK"] = "set by the program"
    os.unsetenv("POPCORN_SEED")
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        answers = pool.map(describe, range(4))
        try:
            pool.apply(fail, (3,))
        except ValueError as error:
            answers.append(str(error))
    process = context.Process(target=leave, args=(9,))
    process.start()
    process.join(30)
    answers.append([process.exitcode, process.is_alive(), len(multiprocessing.active_children())])
    queue = context.Queue()
    context.Process(target=queue.put, args=("through a queue",)).start()
    answers.append(queue.get(timeout=30))
    seen = answers
"""


def spawned(runner, **members):
	source = SPAWN + "".join("    " + line + "\n" for line in PASS.strip().splitlines())
	result = runner.run(
		SUBMISSION, source, mode="ranked", definition=task(benchmarks=["a: 5"]), **members
	)
	if not result.cases:
		raise AssertionError(f"{result.verdict}: {result.reason}\n{result.log('stderr')}")
	return json.loads(result.cases[0]["message"]), result.cases[1]["message"]


@test
def interpreters_that_a_program_spawns_are_forked_too_and_behave_the_same():
	seen, how = spawned(warm)
	equal(how, "forked")
	for number, answer in enumerate(seen[:4]):
		equal(answer, [number, True, True, None, "set by the program", "__mp_main__", "run"])
	alone, how = spawned(cold)
	equal(how, "alone")
	equal(seen[4:], alone[4:])
	equal(seen[4:], ["lost 3", [9, False, 0], "through a queue"])
	equal(
		[answer[:2] + answer[3:] for answer in alone[:4]],
		[answer[:2] + answer[3:] for answer in seen[:4]],
	)


@test
def a_program_that_spawns_others_leaves_none_behind():
	equal(set(zygotes_of(warm)), {FOR_JUDGES, FOR_SUBMISSIONS})


@test
def the_zygotes_end_with_podium_run():
	zygotes = processes(warm.process.pid)
	code, _, errors = warm.end()
	equal((code, errors), (0, ""))
	assert all(map(is_gone, zygotes))
	cold.end()


@test
def the_zygote_prints_nothing_when_podium_run_ends_without_reading_its_reply():
	library = ROOT / os.environ.get("B", "build/release") / "worker/run/sandbox/enter.so"
	for waits in (True, False):
		ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		if not waits:
			ours.close()
		zygote = subprocess.Popen(
			[
				"sh",
				"-c",
				f'exec "$0" -IS "$1" podium-zygote 3<&{theirs.fileno()} 4<"$2"',
				PYTHON,
				ROOT / "harness" / "zygote.py",
				library,
			],
			pass_fds=[theirs.fileno()],
			stderr=subprocess.PIPE,
			text=True,
		)
		theirs.close()
		if waits:
			equal(ours.recv(100, socket.MSG_PEEK), b'{"ready": true}')
			ours.close()
		equal((zygote.communicate(timeout=60)[1], zygote.returncode), ("", 0))


code = run()
warm.__exit__()
cold.__exit__()
sys.exit(code)
