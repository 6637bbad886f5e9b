"""What is not there: NVIDIA's driver library with two H200, ncu, and a podium-run whose results are
chosen."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def pretend_driver(folder):
	"""Makes the library in `folder` and returns the environment in which programs find it."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	library = folder / "libnvidia-ml.so.1"
	if not library.exists():
		subprocess.run([
			os.environ.get("CC", "cc"), "-shared", "-fPIC", "-I", ROOT, "-o", library,
			ROOT / "tests" / "integration" / "worker" / "fake_nvml.c"
		], check=True)
	return {"LD_LIBRARY_PATH": str(folder)}


NCU = """#!/bin/sh
# Understands what podium-run asks of ncu. It writes a line for each program into `calls`.
calls={calls}
if [ "$1" = --import ]; then
	echo "import $*" >> $calls
	echo "Section: GPU Speed Of Light"; wc -c < "$2"
	exit 0
fi
echo "$*" >> $calls
while [ "$1" != -- ]; do shift; done
shift
"""
# What ncu does with a program, at its best: it writes profile.ncu-rep and ends as the program does.
PROFILES = """
echo "==PROF== Connected to process 1"
"$@"; code=$?
[ $code = 0 ] || echo "==ERROR== The application returned an error code ($code)."
head -c {size} /dev/urandom > profile.ncu-rep
echo "==PROF== Report: profile.ncu-rep"
exit $code
"""
FORBIDDEN = """
"$@"; code=$?
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0."
exit $code
"""
NO_KERNELS = """
"$@"; code=$?
echo "==WARNING== No kernels were profiled."
exit $code
"""
BROKEN = """
echo "==ERROR== Failed to prepare kernel for profiling"
exit 9
"""
IDLE = """
sleep 600
"""


class Calls:
	"""What the pretended ncu was called with. A pipe, because programs in the sandbox cannot write
	to files out here."""

	def __init__(self, path):
		path.unlink(missing_ok=True)
		os.mkfifo(path)
		path.chmod(0o666)
		self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK
			| os.O_CLOEXEC)  # so that nobody who writes waits for a reader

	def read_text(self):
		text = b""
		try:
			while True:
				text += os.read(self.pipe, 1 << 16)
		except BlockingIOError:
			return text.decode()

	def __del__(self):
		os.close(self.pipe)


kept = []


def pretend_ncu(folder, does=PROFILES, size=1000):
	"""Makes an ncu in `folder`; returns the environment in which it is found, and what it is called
	with."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	calls = Calls(folder / "calls")
	kept.append(calls)
	program = folder / "ncu"
	program.write_text(
		NCU.replace("{calls}", str(folder / "calls")) + does.replace("{size}", str(size)))
	program.chmod(0o755)
	return {"PATH": f"{folder}:{os.environ['PATH']}"}, calls


RUNNER = '''#!/usr/bin/python3
"""Stands in for podium-run: a ranked job gets the result that the submission's first line says, as JSON behind "# ": members of
the timed cases in "cases", members of the verdict in "verdict", the spec of each case from the task. What comes of a comparison is
the challenger's "compare", which has the same two, and "until": a file that is waited for. Without it nothing comes of it.
A profile leaves "report" and a file of "trace" random bytes. Once the file "after" is there, the members of "then" hold. With "prints" it runs until the file "until" is there, and these are
told, one a second, as what it has printed last."""
import base64, gzip, json, os, pathlib, sys, time

if not any(word.startswith("--directory") for word in sys.argv[1:]) or any(word.startswith("--check-host") for word in sys.argv[1:]):
	os.execv("{program}", ["{program}", *sys.argv[1:]])


def say(**event):
	print(json.dumps(event), flush=True)


def stage(job, position, name, cases):
	say(event="stage", job=job["id"], position=position, stage=name, command="")
	for index, (spec, members) in enumerate(cases):
		say(**{{"event": "case", "job": job["id"], "position": position, "index": index, "spec": spec, "verdict": "passed", "message": "", **members}})
	say(event="stage_end", job=job["id"], position=position, verdict="passed", message="", exit_code=0, duration_ms=1)


def profile(job, told):
	packed = base64.b64encode(gzip.compress(os.urandom(told["trace"]), 1, mtime=0)).decode()
	say(event="stage", job=job["id"], position=2, stage="profile", command="ncu")
	say(event="case", job=job["id"], position=2, index=0, spec=job["task"]["benchmarks"][0], verdict="passed", message="")
	say(event="report", job=job["id"], position=2, index=0, text=told["report"])
	for part in range(0, len(packed), 1 << 19):
		say(event="artifact", job=job["id"], position=2, name="profile-1.ncu-rep", size=told["trace"], part=part >> 19, base64=packed[part:part + (1 << 19)])
	say(event="stage_end", job=job["id"], position=2, verdict="passed", message="", exit_code=0, duration_ms=1)


def show(job, told):
	say(event="stage", job=job["id"], position=1, stage="test", command="")
	for number, tail in enumerate(told["prints"]):
		say(event="progress", job=job["id"], text="test %d/9" % (number // 2))
		say(event="tail", job=job["id"], position=1, tail=tail)
		time.sleep(1)
	while not pathlib.Path(told["until"]).exists():
		time.sleep(0.05)
	say(event="stage_end", job=job["id"], position=1, verdict="passed", message="", exit_code=0, duration_ms=1)
	say(event="verdict", job=job["id"], verdict="passed", reason="", engine=job["engine"])


def compare(job, told):
	say(event="progress", job=job["id"], text="comparing 1/1")
	while "until" in told and not pathlib.Path(told["until"]).exists():
		time.sleep(0.05)
	stage(job, 1, "compare", list(zip(job["task"]["benchmarks"], told.get("cases", []))))
	say(event="verdict", job=job["id"], **{{"verdict": "passed", "reason": "", "engine": job["engine"], **told.get("verdict", {{}})}})


say(event="ready", version="0")
for line in sys.stdin:
	job = json.loads(line).get("job")
	if not job:
		continue
	told = json.loads(job["submission"]["text"].splitlines()[0][2:])
	if pathlib.Path(told.get("after", "/nowhere")).exists():
		told |= told["then"]
	task = job["task"]
	stage(job, 0, "compile", [])
	if "prints" in told:
		show(job, told)
		continue
	if job["mode"] == "compare":
		compare(job, told.get("compare", {{}}))
		continue
	stage(job, 1, "test", [(spec, {{}}) for spec in task["tests"]])
	if job["mode"] in ("benchmark", "ranked"):
		stage(job, 2, job["mode"], list(zip(task["benchmarks"], told["cases"])))
	if job["mode"] == "profile" and "trace" in told:
		profile(job, told)
	score = {{"score_ns": told["cases"][-1]["mean_ns"], "score_err_ns": 10.0}} if job["mode"] == "ranked" else {{}}
	say(event="verdict", job=job["id"], **{{"verdict": "passed", "reason": "", "engine": job["engine"], **score, **told.get("verdict", {{}})}})
'''


def pretend_runner(folder, program):
	"""Makes a podium-run in `folder` that says what submissions tell it to; `program` is the real
	one. Returns the environment in which a worker starts it."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	runner = folder / "podium-run"
	runner.write_text(RUNNER.format(program=program))
	runner.chmod(0o755)
	return {"PODIUM_WORKER_RUNNER": str(runner)}


# Takes jobs and says of each what the file `says` holds for its mode, as members of its verdict;
# "cases" are what it says of those before, "environment" of where it ran, "tail" what is printed so
# far, "hang" waits for the cancellation, "die" ends without a word, and "die once" the first time
# only. It finds no Python, which would take seconds, and else is podium-run itself.
RUN = """#!/usr/bin/python3
import json, os, pathlib, sys
folder = pathlib.Path({folder!r})
if sys.argv[1].startswith("--find-python"):
    sys.exit(1)
if "--directory" not in sys.argv or "--walls" in sys.argv:
    os.execv({program!r}, [{program!r}, *sys.argv[1:]])

def emit(name, **members):
    print(json.dumps(dict(event=name, **members)), flush=True)

emit("ready", version="0")
for line in sys.stdin:
    message = json.loads(line)
    if "job" not in message:
        continue
    job = message["job"]
    with open(folder / "jobs", "a") as jobs:
        jobs.write(json.dumps(job) + "\\n")
    says = dict(json.loads((folder / "says").read_text()).get(job["mode"], {{}}))
    stage = says.pop("stage", job["mode"])
    emit("stage", job=job["id"], position=0, stage=stage, command="pretended")
    if "environment" in says:
        emit("environment", job=job["id"], environment=says.pop("environment"))
    emit("progress", job=job["id"], text="timing 1/1")
    if "tail" in says:
        emit("tail", job=job["id"], position=0, tail=says.pop("tail"))
    if says.pop("hang", False):
        for line in sys.stdin:
            if "cancel" in json.loads(line):
                break
        says = dict(verdict="cancelled")
    if says.pop("die", False):
        sys.exit(1)
    if says.pop("die once", False) and not (folder / "died").exists():
        (folder / "died").touch()
        sys.exit(1)
    for index, case in enumerate(says.pop("cases", ())):
        emit("case", **{{"job": job["id"], "position": 0, "index": index, "verdict": "passed", "message": "", **case}})
    emit("stage_end", job=job["id"], position=0, verdict="passed", message="", exit_code=0, duration_ms=1)
    emit("verdict", **{{"job": job["id"], "verdict": "passed", "reason": "", "engine": job["engine"], **says}})
"""


class PretendedRun:
	"""A podium-run that says what it is told to; `environment` is what a worker needs to start
	it."""

	def __init__(self, folder, program):
		self.folder = folder
		folder.mkdir(exist_ok=True)
		folder.chmod(0o755)
		path = folder / "podium-run"
		path.write_text(RUN.format(folder=str(folder), program=str(program)))
		path.chmod(0o755)
		self.environment = {"PODIUM_WORKER_RUNNER": str(path)}
		self.say()

	def say(self, **modes):
		fresh = self.folder / "says.new"
		fresh.write_text(json.dumps(modes))
		fresh.rename(self.folder / "says")

	def jobs(self):
		"""What it was given, in order."""
		path = self.folder / "jobs"
		return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
