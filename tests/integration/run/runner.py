"""Drives podium-run through a pipe, with small made-up tasks."""

import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from readable import readable_copy  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
# A copy that every user may run, with the libraries that a worker bundle has beside the program.
PROGRAM = (
	readable_copy(
		BUILD, "podium-run", *(path.relative_to(BUILD) for path in BUILD.glob("lib/*.so*"))
	)
	/ "podium-run"
)
PYTHON = os.environ.get("PODIUM_PYTHON", "/usr/bin/python3")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
HANG_S = 240  # only a guard: nothing takes so long unless it hangs; a compiler may take 120 s
STARTS_READY = ("--once", "--python", "--memory", "--disk", "--processes", "--show")
CPU = {"model": "CPU"}
GPU = {
	"model": "H200",
	"uuid": "GPU-00000000-0000-0000-0000-000000000000",
	"index": 0,
	"compute_capability": "9.0",
}

# A harness like that of most tasks. It imports the submission, so an exception in the submission
# ends the harness.
EVAL = r"""
import os, sys
mode, path = sys.argv[1:]
pipe = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
def say(key, value): pipe.write(f"{key}: {value}\n")
cases = open(path).read().splitlines()
import submission
family = "test" if mode == "test" else "benchmark"
say(f"{family}-count", len(cases))
good = True
for i, case in enumerate(cases):
	wanted = sum(int(part.split(":")[1]) for part in case.split(";"))
	say(f"{family}.{i}.spec", case)
	if submission.answer(case) != wanted:
		say(f"{family}.{i}.status", "fail")
		say(f"{family}.{i}.error", f"expected {wanted}\\nand got another number")
		good = False
		break
	if mode == "test":
		say(f"test.{i}.status", "pass")
	else:
		mean = 10000.5 * (i + 1)
		numbers = dict(runs=3, mean=mean, std=20.0, err=15.0, best=9999, worst="1.1e4")
		for key, value in numbers.items():
			say(f"benchmark.{i}.{key}", value)
say("check", "pass" if good else "fail")
sys.exit(0 if good else 112)
"""
RIGHT = "def answer(case): return sum(int(part.split(':')[1]) for part in case.split(';'))\n"
WRONG = "def answer(case): return 7\n"


def task(**changes):
	"""A task as task_to_json writes it."""
	files = [
		{"name": "eval.py", "source": "eval.py", "is_submission": False},
		{"name": "submission.py", "source": "@SUBMISSION@", "is_submission": True},
	]
	return {
		"language": "py",
		"description": "",
		"files": files,
		"main": "eval.py",
		"sources": [],
		"include_dirs": [],
		"defines": [],
		"compile_flags": [],
		"templates": [],
		"gpus": [],
		"tests": ["a: 1; b: 2", "a: 3; b: 4"],
		"benchmarks": ["a: 5", "a: 6", "a: 7"],
		"test_timeout_s": 60,
		"benchmark_timeout_s": 60,
		"ranked_timeout_s": 60,
		"ranking_by": "geom",
		"has_seed": False,
		"seed": 0,
		"multi_gpu": False,
		"engine": "custom",
		"flops": None,
		"bytes": None,
		"tolerance": 0.0,
		"expected": [],
		**changes,
	}


def cu_task(**changes):
	files = [
		{"name": "eval.cu", "source": "eval.cu", "is_submission": False},
		{"name": "submission.cu", "source": "@SUBMISSION@", "is_submission": True},
	]
	return task(
		language="cu", main=None, files=files, sources=["eval.cu", "submission.cu"], **changes
	)


def job(submission=RIGHT, harness=EVAL, id=17, mode="test", files=None, definition=None, **changes):
	"""Returns a job as podium-run gets it. A job in mode profile has the custom engine. Other jobs
	have the definition's engine or, if it names none, the isolated engine."""
	definition = definition or task()
	engine = "custom" if mode == "profile" else definition["engine"] or "isolated"
	main = "eval.py" if definition["language"] == "py" else "eval.cu"
	return {
		"job": {
			"id": id,
			"mode": mode,
			"device": CPU,
			"task": definition,
			"files": [{"path": main, "text": harness}] + (files or []),
			"submission": {"name": "mine.py", "text": submission},
			"python": PYTHON,
			"nvcc": NVCC,
			"engine": engine,
			**({"secret_seed": 987654321} if mode == "ranked" else {}),
			**changes,
		}
	}


class Result:
	"""The events of one job, sorted by kind."""

	def __init__(self, events):
		self.events = events
		self.verdicts = [e for e in events if e["event"] == "verdict"]
		self.verdict, self.reason = self.verdicts[0]["verdict"], self.verdicts[0]["reason"]
		self.engine, self.engine_reason = (
			self.verdicts[0]["engine"],
			self.verdicts[0].get("engine_reason", ""),
		)
		self.stages = [e for e in events if e["event"] == "stage"]
		self.ends = [e for e in events if e["event"] == "stage_end"]
		self.cases = [e for e in events if e["event"] == "case"]
		self.progress = [e["text"] for e in events if e["event"] == "progress"]

	def log(self, stream="stdout", position=1):
		return "".join(
			e["text"]
			for e in self.events
			if e["event"] == "log" and (e["stream"], e["position"]) == (stream, position)
		)


class Runner:
	def __init__(
		self, *options, directory=None, environment=None, user=None, prefix=(), program=PROGRAM
	):
		"""`user`: the user that runs podium-run; `prefix`: words to put before the command."""
		self.own = None if directory else tempfile.mkdtemp(prefix="podium-run-test.")
		self.directory = directory or self.own
		if self.own:
			os.chmod(self.own, 0o777 if user else 0o711)
		self.process = subprocess.Popen(
			[*prefix, program, "--directory", self.directory, *options],
			stdin=subprocess.PIPE,
			stdout=subprocess.PIPE,
			stderr=subprocess.PIPE,
			env={**os.environ, **(environment or {})},
			**({"user": user, "group": "nogroup", "extra_groups": []} if user else {}),
		)
		self.rest = b""
		self.ready = None if options and options[0] not in STARTS_READY else self.event()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		if self.process.poll() is None:
			self.process.kill()
		self.process.wait()
		for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
			try:
				pipe.close()
			except BrokenPipeError:
				pass
		if self.own:
			shutil.rmtree(self.own, ignore_errors=True)

	def write(self, data):
		self.process.stdin.write(data)
		self.process.stdin.flush()

	def send(self, message):
		self.write(json.dumps(message).encode() + b"\n")

	def line(self):
		end = time.monotonic() + HANG_S
		while b"\n" not in self.rest:
			if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
				raise AssertionError("no event came")
			piece = os.read(self.process.stdout.fileno(), 1 << 20)
			if not piece:
				return None
			self.rest += piece
		line, self.rest = self.rest.split(b"\n", 1)
		return line

	def event(self):
		line = self.line()
		if line is None:
			raise AssertionError("podium-run ended: " + self.process.stderr.read().decode())
		assert len(line) <= 1 << 20, f"an event has {len(line)} bytes"
		return json.loads(line.decode())

	def until(self, kind, **members):
		"""Returns the events up to the first one of this kind with these members."""
		events = []
		while (
			not events
			or events[-1]["event"] != kind
			or any(events[-1].get(k) != v for k, v in members.items())
		):
			events.append(self.event())
		return events

	def result(self, id=17):
		return Result(self.until("verdict", job=id))

	def run(self, *arguments, **members):
		message = job(*arguments, **members)
		self.send(message)
		return self.result(message["job"]["id"])

	def end(self):
		"""Closes the input. Returns the exit code, the remaining events and the error output."""
		self.process.stdin.close()
		return self.finish()

	def finish(self):
		events = []
		while (line := self.line()) is not None:
			events.append(json.loads(line))
		return self.process.wait(HANG_S), events, self.process.stderr.read().decode()


def run(*arguments, **members):
	with Runner() as runner:
		return runner.run(*arguments, **members)


def running(mark):
	"""The processes of this machine that have `mark` in their arguments."""
	found = []
	for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
		try:
			if mark.encode() in path.read_bytes():
				found.append(int(path.parent.name))
		except OSError:
			pass
	return found
