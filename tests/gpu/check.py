"""Submits the samples of the shipped tasks to a running Podium, as a browser would, and compares
each verdict with the one that the task expects. Prints one row per submission and exits 1 if a
verdict differs.

	check.py URL [--device MODEL] [--tasks DIR] [--repeat N] [--only TASK ...]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
import uuid

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from client import Client  # noqa: E402


class Participant(Client):
	def send(self, path, fields, files=()):
		"""Posts a form and returns where it redirects to."""
		answer = self.post(path, fields, files)
		if answer.status != 303:
			sys.exit(f"{path} answered {answer.status}:\n{answer.words()[:2000]}")
		return answer.location

	def submit(self, task, sample, mode, device):
		where = self.send(
			f"/leaderboard/{task}/submit",
			[("mode", mode), ("gpu", device)],
			[("file", sample.name, sample.read_bytes())],
		)
		return int(where.rsplit("/", 1)[1])

	def wait(self, submission, limit_s=600):
		end = time.time() + limit_s
		while time.time() < end:
			status = self.get(f"/submission/{submission}/status").json
			if status["state"] not in ("queued", "running"):
				return status
			time.sleep(0.1)
		sys.exit(f"submission {submission} did not end within {limit_s} s: {status}")


def expected_samples(folder):
	"""Yields (sample, mode, verdict) of a task folder. They come from its task.yml, or else from
	the samples' names."""
	definition = folder / "task.yml"
	if definition.exists():
		for entry in (yaml.safe_load(definition.read_text()).get("podium") or {}).get(
			"expected", []
		):
			yield folder / entry["source"], entry.get("mode", "ranked"), entry["verdict"]
	else:
		for sample in sorted((folder / "samples").iterdir()):
			yield sample, "ranked", sample.stem.replace("-", " ")


def is_offered(client, task, device):
	return client.get(f"/leaderboard/{task}.json?gpu={device}").status == 200


def job_seconds(submission):
	"""Seconds from claim to result, from the database; None if there is no access to the
	database."""
	socket = os.path.join(os.environ.get("PODIUM_VAR", ""), "run", "mariadb.sock")
	query = (
		"SELECT TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1e6 FROM podium.jobs "
		f"WHERE submission_id = {submission}"
	)
	answer = subprocess.run(
		["mariadb", "--no-defaults", "-S", socket, "-N", "-e", query],
		capture_output=True,
		text=True,
	)
	return (
		float(answer.stdout.split()[0])
		if answer.returncode == 0 and answer.stdout.split()
		else None
	)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("url")
	parser.add_argument("--device", default="H200")
	parser.add_argument("--tasks", default="tasks")
	parser.add_argument("--only", nargs="*")
	parser.add_argument(
		"--every-mode",
		action="store_true",
		help="also submit passing samples in modes test, benchmark and profile",
	)
	parser.add_argument(
		"--repeat", type=int, default=0, help="repeat vectoradd_py's right sample this often"
	)
	options = parser.parse_args()
	client = Participant(options.url)
	name = "check-" + uuid.uuid4().hex[:8]
	client.send("/register", [("name", name), ("password", uuid.uuid4().hex)])
	wrong = 0
	print(f"{'task':18} {'sample':22} {'mode':9} {'verdict':16} {'score':>14} {'job':>8}")
	for folder in sorted(pathlib.Path(options.tasks).iterdir()):
		if not folder.is_dir() or (options.only and folder.name not in options.only):
			continue
		if options.device == "CPU" and not is_offered(client, folder.name, "CPU"):
			print(f"{folder.name:18} needs a GPU")
			continue
		samples = list(expected_samples(folder))
		if options.every_mode:
			samples += [
				(sample, other, verdict)
				for sample, mode, verdict in samples
				if (mode, verdict) == ("ranked", "passed")
				for other in ("test", "benchmark", "profile")
			]
		for sample, mode, verdict in samples:
			submission = client.submit(folder.name, sample, mode, options.device)
			job = client.wait(submission)["jobs"][0]
			right = job["verdict"] == verdict and (job["score_ns"] is not None) == (
				verdict == "passed" and mode == "ranked"
			)
			wrong += not right
			seconds = job_seconds(submission)
			score = f"{job['score_ns'] / 1000:.3f} us" if job["score_ns"] else ""
			print(
				f"{folder.name:18} {sample.name:22} {mode:9} {job['verdict'] or '':16} {score:>14} "
				f"{f'{seconds:.2f} s' if seconds is not None else '':>8}"
				+ ("" if right else f"   EXPECTED {verdict}: {job['reason']}"),
				flush=True,
			)
	for task in ("vectoradd_py", "vectoradd_cu", "ring_py"):
		if (
			not (pathlib.Path(options.tasks) / task).is_dir()
			or (options.only and task not in options.only)
			or (options.device == "CPU" and not is_offered(client, task, "CPU"))
		):
			continue
		board = client.get(f"/leaderboard/{task}.json?gpu={options.device}").json
		ranked = [row for row in board["rows"] if row["user"] == name]
		print(
			f"{task}: "
			+ (
				f"ranked {ranked[0]['rank']} with {ranked[0]['score_ns'] / 1000:.3f} us"
				if ranked
				else "NOT RANKED"
			)
		)
		wrong += not ranked
	if options.repeat:
		sample = next(
			s
			for s, m, v in expected_samples(pathlib.Path(options.tasks) / "vectoradd_py")
			if v == "passed" and m == "ranked"
		)
		runs = [
			client.submit("vectoradd_py", sample, "ranked", options.device)
			for _ in range(options.repeat)
		]
		scores = [client.wait(run)["jobs"][0]["score_ns"] for run in runs]
		seconds = [job_seconds(run) for run in runs]
		print(
			f"vectoradd_py x {options.repeat}: median {statistics.median(scores) / 1000:.3f} us, "
			"spread (max - min) / median "
			f"{(max(scores) - min(scores)) / statistics.median(scores) * 100:.2f} %; claim to "
			f"result median {statistics.median(seconds):.2f} s"
		)
	sys.exit(1 if wrong else 0)


main()
