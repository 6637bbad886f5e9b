"""Runs the command podium with private settings, through pipes or in a terminal."""

import fcntl
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from answers import Answer  # noqa: E402

PODIUM = ROOT / os.environ.get("B", "build/release") / "podium"
HANG_S = 300  # only a guard: nothing takes so long unless it hangs
TOKEN = "podium_" + "a" * 43
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-command-test."))
SETTINGS = scratch / "settings" / "config"


def environment(changes=()):
	inherited = {
		name: value
		for name, value in os.environ.items()
		if name not in ("NO_COLOR", "TERM", "COLUMNS")
		and not name.startswith("PODIUM_")
		and not name.lower().endswith("_proxy")
	}
	return {
		**inherited,
		"HOME": str(scratch),
		"PODIUM_SERVERS": str(SETTINGS),
		"PODIUM_RETRY_MS": "5",
		**{name: str(value) for name, value in dict(changes).items()},
	}


def begin(*words, **variables):
	return subprocess.Popen(
		[PODIUM, *map(str, words)],
		stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE,
		stderr=subprocess.PIPE,
		text=True,
		cwd=scratch,
		env=environment(variables),
		start_new_session=True,
	)


def podium(*words, stdin="", **variables):
	answer = subprocess.run(
		[PODIUM, *map(str, words)],
		input=stdin,
		capture_output=True,
		text=True,
		cwd=scratch,
		env=environment(variables),
		timeout=HANG_S,
	)
	return Answer(answer.returncode, answer.stdout, answer.stderr)


def in_terminal(*words, columns=80, typed="", **variables):
	"""Runs podium in a terminal of that many columns. Returns the exit code and the terminal's
	contents. `typed`: text to type once podium has printed a colon."""
	master, slave = pty.openpty()
	fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
	process = subprocess.Popen(
		[PODIUM, *map(str, words)],
		stdin=slave,
		stdout=slave,
		stderr=slave,
		cwd=scratch,
		start_new_session=True,
		env=environment({"TERM": "xterm", **variables}),
	)
	os.close(slave)
	shown = b""
	try:
		while piece := os.read(master, 65536):
			shown += piece
			if typed and shown.endswith(b": "):
				os.write(master, typed.encode())
				typed = ""
	except OSError:  # podium has exited and closed its side of the terminal
		pass
	os.close(master)
	return process.wait(HANG_S), shown.decode()


def file(text, name="mine.py"):
	path = scratch / name
	path.parent.mkdir(parents=True, exist_ok=True)
	path.write_text(text)
	return path


def close():
	shutil.rmtree(scratch, ignore_errors=True)
