"""Helpers of the drills. tests/gpu/drill starts Podium and sets the variables."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import tap  # noqa: E402
from client import Client  # noqa: E402, F401

# The first GPU that a worker has reported, or the CPU, on which a drill can be tried out.
MODELS = [
	line.split()[0]
	for line in subprocess.run(
		[os.environ["ADMIN"], "gpu", "list"], capture_output=True, text=True
	).stdout.splitlines()
]
MODEL = next((model for model in MODELS if model != "CPU"), "CPU")
wrong = []


def sql(statement):
	answer = subprocess.run(
		[
			"mariadb",
			"--no-defaults",
			"-S",
			os.environ["PODIUM_DATABASE_SOCKET"],
			"-N",
			"-B",
			"podium",
		],
		input=statement,
		capture_output=True,
		text=True,
		check=True,
	)
	return [line.split("\t") for line in answer.stdout.splitlines()]


def step(what, good, seen=""):
	wrong.extend([] if good else [what])
	print(f"{'ok    ' if good else 'WRONG '} {what}{': ' if seen else ''}{seen}", flush=True)


def until(condition, limit_s=120):
	"""Waits as tap.until does, but returns None if the condition does not become true in time,
	because a drill continues after a failed step."""
	try:
		return tap.until(condition, limit_s)
	except AssertionError:
		return None


def submit(client, leaderboard, source, mode="ranked"):
	answer = client.post(
		f"/leaderboard/{leaderboard}/submit", [("mode", mode), ("gpu", MODEL), ("code", source)]
	)
	return int(answer.location.rsplit("/", 1)[1])


def job(client, submission):
	return client.get(f"/submission/{submission}/status").json["jobs"][0]


def ended(client, submission):
	"""Waits until the submission's job has finished. Returns its status, or None."""

	def finished():
		status = job(client, submission)
		return status["state"] in ("done", "failed") and status

	return until(finished)


def verdict_of_all():
	"""Returns the drill's exit code."""
	return 1 if wrong else 0
