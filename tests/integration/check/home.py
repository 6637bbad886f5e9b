"""Calls `podium check` as a participant does, with small tasks and with a stand-in for podium-run
that reports what a test wants."""

import functools
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from answers import Answer  # noqa: E402
from pretend import pretend_driver  # noqa: E402
from quick_task import HARNESS, REFERENCE, RIGHT, TASK, write_task  # noqa: E402, F401

BUILD = ROOT / os.environ.get("B", "build/release")
PODIUM = BUILD / "podium"
PYTHON = "/usr/bin/python3"
HANG_S = 400  # only a guard: nothing takes so long unless it hangs
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-check-test."))
scratch.chmod(0o755)
LOCKS = scratch / "locks"
LOCKS.mkdir()

VERDICT = {
	"event": "verdict",
	"verdict": "passed",
	"reason": "Every case was right.",
	"engine": "custom",
}
# A podium-run that stores the messages that it gets, and prints the lines of the file `says` in its
# folder. It executes a line that begins with "!" instead of printing it.
STAND_IN = f"""#!{PYTHON}
import json, pathlib, signal, sys, time
folder = pathlib.Path(__file__).parent
if sys.argv[1].startswith("--find-python"):
    print((sys.argv[1].split("=") + ["{PYTHON}"])[1])
    sys.exit()
print(json.dumps({{"event": "ready", "version": "0"}}), flush=True)
(folder / "message").write_text(sys.stdin.readline())
for line in (folder / "says").read_text().splitlines():
    if line.startswith("!"):
        exec(line[1:])
    else:
        print(line, flush=True)
(folder / "rest").write_text(sys.stdin.read())
"""


def task(name="small", definition=TASK, harness=HARNESS, more=()):
	"""Writes a task folder. `more`: the contents of further files by name."""
	folder = scratch / "tasks" / name
	if not folder.exists():
		write_task(folder, definition, harness, more)
	return folder


def file(text, name="mine.py"):
	path = scratch / name
	path.write_bytes(text if isinstance(text, bytes) else text.encode())
	return path


class StandIn:
	"""A podium-run that prints `lines` (events of job 1, or raw text) once it has a job."""

	count = 0

	def __init__(self, *lines):
		StandIn.count += 1
		self.folder = scratch / f"stand-in-{StandIn.count}"
		self.folder.mkdir()
		program = self.folder / "podium-run"
		program.write_text(STAND_IN)
		program.chmod(0o755)
		(self.folder / "says").write_text(
			"\n".join(
				line if isinstance(line, str) else json.dumps({"job": 1, **line}) for line in lines
			)
		)
		self.environment = {"PODIUM_WORKER_RUNNER": str(program)}

	@property
	def job(self):
		return json.loads((self.folder / "message").read_text())["job"]

	@property
	def rest(self):
		return (self.folder / "rest").read_text()


def environment(changes):
	inherited = {
		name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")
	}
	return {
		**inherited,
		"PODIUM_DEVICE_LOCKS": str(LOCKS),
		**{name: str(value) for name, value in changes.items()},
	}


def arguments(source, *options, folder=None):
	return [str(PODIUM), "check", str(source), "--task", str(folder or task()), *map(str, options)]


def check(source, *options, folder=None, program=None, **variables):
	"""Runs podium check with pipes for all three streams."""
	answer = subprocess.run(
		arguments(source, *options, folder=folder),
		capture_output=True,
		env=environment({**(program.environment if program else {}), **variables}),
		stdin=subprocess.DEVNULL,
		timeout=HANG_S,
	)
	return Answer(answer.returncode, answer.stdout.decode(), answer.stderr.decode())


def podium(*words, **variables):
	answer = subprocess.run(
		[PODIUM, *words],
		capture_output=True,
		env=environment(variables),
		stdin=subprocess.DEVNULL,
		timeout=HANG_S,
	)
	return Answer(answer.returncode, answer.stdout.decode(), answer.stderr.decode())


def terminal(source, *options, folder=None, program=None, **variables):
	"""Runs podium check in a terminal of 80 columns. Returns the exit code and the terminal's
	contents."""
	master, slave = pty.openpty()
	process = subprocess.Popen(
		arguments(source, *options, folder=folder),
		stdin=slave,
		stdout=slave,
		stderr=slave,
		start_new_session=True,
		env=environment({"TERM": "xterm", **(program.environment if program else {}), **variables}),
	)
	os.close(slave)
	shown = b""
	try:
		while piece := os.read(master, 65536):
			shown += piece
	except OSError:  # podium has exited and closed its side of the terminal
		pass
	os.close(master)
	return process.wait(HANG_S), shown.decode()


def driver(gpus=2):
	return {**pretend_driver(scratch / "driver"), "FAKE_GPUS": str(gpus)}


@functools.cache
def torch_lack():
	"""Why no Python task can run here, or None."""
	if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
		return f"{PYTHON} cannot import torch"
	return None


def close():
	shutil.rmtree(scratch, ignore_errors=True)
