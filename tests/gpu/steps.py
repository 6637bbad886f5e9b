"""Helpers of the drills. tests/gpu/drill starts Podium and sets the variables."""
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from client import Client  # noqa: E402, F401

# The first GPU that a worker has reported. Without one it is the CPU, with which a drill can be
# tried out.
MODELS = [
	line.split()[0] for line in subprocess.run([os.environ["ADMIN"], "gpu", "list"],
	capture_output=True, text=True).stdout.splitlines()
]
MODEL = next((model for model in MODELS if model != "CPU"), "CPU")
wrong = []


def sql(statement):
	answer = subprocess.run([
		"mariadb", "--no-defaults", "-S", os.environ["PODIUM_DATABASE_SOCKET"], "-N", "-B", "podium"
	], input=statement, capture_output=True, text=True, check=True)
	return [line.split("\t") for line in answer.stdout.splitlines()]


def step(what, good, seen=""):
	wrong.extend([] if good else [what])
	print(f"{'ok    ' if good else 'WRONG '} {what}{': ' if seen else ''}{seen}", flush=True)


def until(condition, limit_s=120):
	end = time.monotonic() + limit_s
	while time.monotonic() < end:
		if value := condition():
			return value
		time.sleep(0.1)
	return None


def verdict_of_all():
	"""Returns the drill's exit code."""
	return 1 if wrong else 0
