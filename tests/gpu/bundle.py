"""Runs podium-run from the folder that tests/gpu/collect made, for scripts with their own jobs.
Import this module before other tests' modules and call open_bundle(), which tells them where
programs and jobs are."""

import base64
import os
import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST = ("--memory", "32768", "--disk", "4096", "--processes", "1024")


def open_bundle(folder):
	"""Opens a bundle, or a build folder of this tree."""
	folder = pathlib.Path(folder).resolve()
	os.environ["B"] = str(folder if (folder / "podium-run").exists() else folder / "build")
	os.environ["PATH"] += ":/usr/local/cuda/bin"
	if (folder / "redteam").is_dir():
		os.environ.setdefault("PODIUM_REDTEAM_JOBS", str(folder / "redteam"))
	sys.path[:0] = [str(ROOT / "tests" / "redteam"), str(ROOT / "tests" / "integration" / "run")]


def make_sealed_engine(bundle, folder):
	"""Puts the files of the sealed engine into a folder, as podium-run does. `bundle`: a bundle, or
	a build folder of this tree."""
	bundle = pathlib.Path(bundle).resolve()
	built = (bundle if (bundle / "harness").is_dir() else bundle / "build") / "harness"
	for kind in ("isolated", "sealed"):
		for source in (ROOT / "harness" / kind).glob("*.py"):
			shutil.copy(source, folder)
	shutil.copy(ROOT / "harness" / "eval.py", folder / "podium_eval.py")
	for name in ("isolated/native.so", "sealed/sealed.so", "sealed/launch"):
		shutil.copy(built / name, folder)
	if (built / "sealed" / "lib").is_dir():
		shutil.copytree(built / "sealed" / "lib", folder / "lib")


def find_python():
	return subprocess.run(
		[pathlib.Path(os.environ["B"]) / "podium-run", "--find-python"],
		capture_output=True,
		text=True,
		check=True,
	).stdout.strip()


def find_device(index=0):
	"""Returns the GPU with this index, in the form that podium-run expects."""
	query = ["nvidia-smi", "--query-gpu=name,uuid,compute_cap", "--format=csv,noheader"]
	answer = subprocess.run(query, capture_output=True, text=True, check=True)
	name, uuid, capability = answer.stdout.splitlines()[index].split(", ")
	return {
		"model": name.removeprefix("NVIDIA "),
		"uuid": uuid,
		"index": index,
		"compute_capability": capability,
	}


def behind_reference(job, addition):
	"""Returns the job with this code appended to its reference, which the judge imports."""
	return {
		**job,
		"files": [
			{**file, "text": file["text"] + addition} if file["path"] == "reference.py" else file
			for file in job["files"]
		],
	}


def groups_of(event, count):
	"""Returns the numbers that the judge reported in place of the calls' times, in groups of
	`count`."""
	raw = base64.b64decode(event["samples"])
	values = struct.unpack(f"<{len(raw) // 4}f", raw)
	return [values[first : first + count] for first in range(0, len(values), count)]


class Engine:
	"""A podium-run with its zygote, which runs jobs one after the other. `watch`: is called with
	each event as it comes."""

	def __init__(self, device, watch=lambda event: None):
		from runner import NVCC, Result, Runner

		self.watch, self.result_of = watch, Result
		self.python, self.device, self.count = find_python(), device, 0
		self.tools = {"device": device, "python": self.python, "nvcc": NVCC}
		self.runner = Runner("--python", self.python, *MOST)

	def try_run(self, job, mode, task, **members):
		"""Returns the result, whatever the verdict. `task`: changes of the job's task; its engine
		also becomes the job's."""
		self.count += 1
		self.runner.send(
			{
				"job": {
					**job,
					**self.tools,
					"engine": task.get("engine", job["engine"]),
					"id": self.count,
					"mode": mode,
					"task": {**job["task"], **task},
					**members,
				}
			}
		)
		events = []
		while not events or events[-1]["event"] != "verdict":
			events.append(self.runner.event())
			self.watch(events[-1])
		return self.result_of(events)

	def run(self, job, mode, task, **members):
		"""Returns the result. Exits if the job does not pass."""
		result = self.try_run(job, mode, task, **members)
		if result.verdict != "passed":
			raise SystemExit(
				f"a job got {result.verdict} on the engine {result.engine}: "
				f"{result.reason}\n{result.log('stderr')}"
			)
		return result

	def close(self):
		self.runner.__exit__()
