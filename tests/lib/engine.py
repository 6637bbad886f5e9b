"""Runs the isolated engine as podium-run does, but without sandboxes and on the CPU: a judge and
its contestants, each in its own folder, connected by sockets. For tests and benchmarks of
harness/isolated."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import types

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("PODIUM_TEST_PYTHON", "/usr/bin/python3")
FIRST_SOCKET = 4  # of the judge
HIGH = 40  # this process uses descriptors from here on, so that those the engine expects stay free


def copy_scripts(*kinds):
	"""Makes a folder with the scripts of these folders of harness/."""
	folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-engine."))
	for kind in kinds:
		for source in (ROOT / "harness" / kind).glob("*.py"):
			shutil.copy(source, folder)
	shutil.copy(ROOT / "harness" / "eval.py", folder / "podium_eval.py")
	return folder


def build_engine():
	"""Makes a folder with the engine's files and its native part. The native part is built without
	sanitizers, because it is loaded into an interpreter that has none."""
	folder = copy_scripts("isolated")
	sources = sorted(str(path) for path in (ROOT / "harness" / "isolated").glob("*.c"))
	command = [
		"gcc",
		"-O2",
		"-std=c17",
		"-D_GNU_SOURCE",
		f"-I{ROOT}",
		"-fPIC",
		"-shared",
		"-o",
		str(folder / "native.so"),
		*sources,
		"-ldl",
		"-lm",
	]
	subprocess.run(command, check=True)
	return folder


def build_sealed_engine():
	"""Makes a folder with the files of the sealed engine. Its libraries come from the build."""
	folder = copy_scripts("isolated", "sealed")
	for library in ("isolated/native.so", "sealed/sealed.so"):
		shutil.copy(ROOT / os.environ.get("B", "build/release") / "harness" / library, folder)
	return folder


def high(descriptor):
	moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH)
	os.close(descriptor)
	return moved


def environment_of(**more):
	environment = {
		name: value
		for name, value in os.environ.items()
		if not name.startswith(("POPCORN_", "PODIUM_"))
	}
	return {
		**environment,
		"PYTHONDONTWRITEBYTECODE": "1",
		"OMP_NUM_THREADS": "2",
		"CUDA_VISIBLE_DEVICES": "",
		**more,
	}


def start(folder, words, descriptors, **environment):
	"""Starts a program in a folder. `descriptors` maps each descriptor's number in the program to
	its number in this process."""
	moves = " ".join(f"{there}<&{here} {here}<&-" for there, here in descriptors.items())
	with open(folder / "stdout", "w") as output, open(folder / "stderr", "w") as errors:
		return subprocess.Popen(
			["bash", "-c", f'exec "$0" "$@" {moves}', *map(str, words)],
			cwd=folder,
			env=environment_of(**environment),
			pass_fds=tuple(descriptors.values()),
			stdin=subprocess.DEVNULL,
			stdout=output,
			stderr=errors,
		)


def become(folder, words, descriptors, environment):
	"""Runs the program in a forked child, which need not import the modules again. Never
	returns."""
	code = 127
	try:
		for name in [name for name in sys.modules if name.startswith("podium_")]:
			del sys.modules[name]
		for number, path in ((0, os.devnull), (1, folder / "stdout"), (2, folder / "stderr")):
			opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
			os.dup2(opened, number)
			os.close(opened)
		for there, here in descriptors.items():
			os.dup2(here, there)
		os.closerange(max(descriptors) + 1, 4096)
		os.environ.clear()
		os.environ.update(environment)
		os.chdir(folder)
		sys.argv = [str(word) for word in words[1:]]
		sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
		main = sys.modules["__main__"] = types.ModuleType("__main__")
		main.__dict__.update(__builtins__=__builtins__, __file__=os.path.abspath(sys.argv[0]))
		with open(sys.argv[0], "rb") as stream:
			exec(compile(stream.read(), main.__file__, "exec"), main.__dict__)
		code = 0
	except SystemExit as end:
		code = end.code if isinstance(end.code, int) else 1 if end.code else 0
	except BaseException:
		traceback.print_exc()
		code = 1
	finally:
		sys.stdout.flush()
		sys.stderr.flush()
		os._exit(code)


class Forked:
	"""A Python program that runs in a fork of this process, as the zygote of podium-run forks
	programs. It has the methods of subprocess.Popen that Match needs."""

	def __init__(self, folder, words, descriptors, **environment):
		self.code = None
		sys.stdout.flush()
		self.pid = os.fork()
		if self.pid == 0:
			become(folder, words, descriptors, environment_of(**environment))

	def wait(self, limit_s=None):
		end = time.monotonic() + limit_s if limit_s else None
		while self.code is None:
			pid, status = os.waitpid(self.pid, os.WNOHANG)
			if pid:
				self.code = os.waitstatus_to_exitcode(status)
			elif end and time.monotonic() > end:
				raise TimeoutError(f"process {self.pid} has not ended within {limit_s} s")
			else:
				time.sleep(0.005)
		return self.code

	def kill(self):
		if self.code is None:
			os.kill(self.pid, signal.SIGKILL)


def write_files(folder, files):
	folder.mkdir()
	for name, text in files.items():
		(folder / name).parent.mkdir(parents=True, exist_ok=True)
		(folder / name).write_text(text)


class Result:
	def __init__(self, code, folder):
		self.code = code
		self.text = (folder / "lines").read_text()
		self.lines = dict(line.split(": ", 1) for line in self.text.splitlines())
		if len(self.lines) != len(self.text.splitlines()):
			raise AssertionError(f"a key occurs twice:\n{self.text}")
		self.stderr = (folder / "judge" / "stderr").read_text()
		self.said = {path.parent.name: path.read_text() for path in folder.glob("*/stdout")}
		self.complaints = {path.parent.name: path.read_text() for path in folder.glob("*/stderr")}
		noted = folder / "judge" / "noted"  # some tests' references write their arguments there
		self.noted = noted.read_text().splitlines() if noted.exists() else []


class Match:
	"""One run of a judge with its contestants."""

	NAMES = ("entry", "null", "rival")  # in the order of the judge's sockets

	@staticmethod
	def is_wanted(name, mode, submissions):
		return mode != "test" if name == "null" else name in submissions

	def __init__(
		self,
		engine,
		mode,
		cases,
		task,
		submissions,
		limit_s,
		secret=None,
		programs=None,
		start=Forked,
		slot="submission.py",
		**environment,
	):
		"""`task`: the text of each of the task's files. `submissions`: the source of each
		contestant. `programs`: for some contestants, a command that replaces contestant.py; for
		"judge", one that replaces judge.py.
		`start`: Forked, or the function start() for separate interpreters. `slot`: the name of the
		submission's file."""
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-match."))
		self.processes, self.start, self.slot = {}, start, slot
		given = {
			name: text
			for name, text in task.items()
			if name not in ("reference.py", "reference_code.py", "eval.py")
		}
		write_files(self.folder / "judge", task)
		(self.folder / "cases.txt").write_text(cases)
		ends = {}
		for name in self.NAMES:
			if self.is_wanted(name, mode, submissions):
				ends[FIRST_SOCKET + len(ends)] = self.start_contestant(
					engine, name, given, submissions.get(name), (programs or {}).get(name)
				)
		with open(self.folder / "lines", "w") as lines:
			results = high(os.dup(lines.fileno()))
		seed = {} if secret is None else {"POPCORN_SEED": str(secret)}
		judge = (programs or {}).get("judge", [PYTHON, engine / "judge.py"])
		self.processes["judge"] = start(
			self.folder / "judge",
			[*judge, mode, "../cases.txt"],
			{3: results, **ends},
			POPCORN_FD="3",
			PODIUM_TIME_LIMIT_S=str(limit_s),
			**seed,
			**environment,
		)
		for descriptor in (results, *ends.values()):
			os.close(descriptor)

	def start_contestant(self, engine, name, given, submission, program):
		ours, theirs = (
			high(end.detach()) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		)
		write_files(
			self.folder / name,
			{**given, **({self.slot: submission} if submission is not None else {})},
		)
		words = program or [
			PYTHON,
			engine / "contestant.py",
			"--null" if name == "null" else self.slot,
		]
		self.processes[name] = self.start(self.folder / name, words, {3: theirs})
		os.close(theirs)
		return ours

	def wait(self, limit_s):
		code = self.processes["judge"].wait(limit_s)
		return Result(code, self.folder)

	def end(self):
		for process in self.processes.values():
			process.kill()
			process.wait()
		shutil.rmtree(self.folder, ignore_errors=True)


class SealedMatch(Match):
	"""A run of the sealed engine. `programs` has builders, launchers and the null launcher."""

	NAMES = ("entry", "launcher", "null", "rival", "rival_launcher")

	@staticmethod
	def is_wanted(name, mode, submissions):
		if name in ("launcher", "rival_launcher"):
			return name == "launcher" or "rival" in submissions
		return Match.is_wanted(name, mode, submissions)


def ends_with(result, code, *sentences):
	if result.code != code:
		raise AssertionError(
			f"exit code {result.code}, expected {code}:\n{result.text}\n{result.complaints}"
		)
	for sentence in sentences:
		tap.contains(result.text, sentence)


@contextlib.contextmanager
def match(engine, *arguments, **named):
	made = Match(engine, *arguments, **named)
	try:
		yield made
	finally:
		made.end()


def judge(
	engine,
	submission,
	reference,
	mode="test",
	cases="size: 3; seed: 5\nsize: 70; seed: 9\n",
	limit_s=60,
	rival=None,
	task=None,
	**more,
):
	"""Runs a match of one or two submissions to its end and returns its result."""
	submissions = {"entry": submission, **({"rival": rival} if rival is not None else {})}
	with match(
		engine,
		mode,
		cases,
		{"reference.py": reference, **(task or {})},
		submissions,
		limit_s,
		**more,
	) as made:
		return made.wait(limit_s + 60)


def remove(folder):
	shutil.rmtree(folder, ignore_errors=True)
