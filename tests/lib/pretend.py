"""Replacements for what a test machine lacks: NVIDIA's library NVML with two H200, ncu, and a
podium-run whose results the test chooses."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def pretend_driver(folder):
	"""Builds NVML in `folder`. Returns the environment variables with which programs find it."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	library = folder / "libnvidia-ml.so.1"
	if not library.exists():
		subprocess.run(
			[
				os.environ.get("CC", "cc"),
				"-shared",
				"-fPIC",
				"-I",
				ROOT,
				"-o",
				library,
				ROOT / "tests" / "integration" / "worker" / "fake_nvml.c",
			],
			check=True,
		)
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
# What a successful ncu does: it writes profile.ncu-rep and exits with the profiled program's exit
# code.
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
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access" \\
	"NVIDIA GPU Performance Counters on the target device 0."
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
	"""The calls of the pretended ncu. The script writes them to a named pipe, because a sandboxed
	program cannot write to files outside its sandbox."""

	def __init__(self, path):
		path.unlink(missing_ok=True)
		os.mkfifo(path)
		path.chmod(0o666)
		self.pipe = os.open(
			path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
		)  # opened for writing too, because a pipe without a reader would block its writers

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
	"""Makes an ncu in `folder`. Returns the environment variables with which podium-run finds it,
	and its Calls."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	calls = Calls(folder / "calls")
	kept.append(calls)
	program = folder / "ncu"
	program.write_text(
		NCU.replace("{calls}", str(folder / "calls")) + does.replace("{size}", str(size))
	)
	program.chmod(0o755)
	return {"PATH": f"{folder}:{os.environ['PATH']}"}, calls


RUNNER = '''#!/usr/bin/python3
"""Replaces podium-run. The submission's first line is "# " and a JSON object with the result:

	cases    members of each timed case; the case's spec comes from the task
	events   a JSON file with other events of the timed stage, without job and position
	verdict  members of the verdict
	compare  the result if the job is a comparison and this submission is the challenger: an
	         object with "cases", "verdict" and "until", a file to wait for before the end.
	         Without "compare" the comparison has no cases.
	report   a profile's text
	trace    the number of random bytes in a profile's file
	prints   outputs to report, one a second; then the job waits for the file "until"
	after    a file; once it exists, the members of "then" replace those of the object
	engines  objects by engine: the members for jobs in this engine
	writes   a file, to which the job's message goes
	needs    [engine, reason]: a sealed job falls back to this engine if it may, else it fails

Another first line gets the verdict "wrong answer".
"""
import base64, gzip, json, os, pathlib, sys, time


def has(option):
	return any(word.startswith(option) for word in sys.argv[1:])


if not has("--directory") or has("--check-host"):
	os.execv("{program}", ["{program}", *sys.argv[1:]])


def say(**event):
	print(json.dumps(event), flush=True)


def say_case(job, position, index, spec, **members):
	say(**{{"event": "case", "job": job["id"], "position": position, "index": index, "spec": spec,
		"verdict": "passed", "message": "", **members}})


def say_stage_end(job, position):
	say(event="stage_end", job=job["id"], position=position, verdict="passed", message="",
		exit_code=0, duration_ms=1)


def say_verdict(job, **members):
	say(**{{"event": "verdict", "job": job["id"], "verdict": "passed", "reason": "",
		"engine": job["engine"], **members}})


def stage(job, position, name, cases, events=()):
	say(event="stage", job=job["id"], position=position, stage=name, command="")
	for index, (spec, members) in enumerate(cases):
		say_case(job, position, index, spec, **members)
	for event in events:
		say(**{{"job": job["id"], "position": position, **event}})
	say_stage_end(job, position)


def profile(job, told):
	for index, spec in enumerate(job["task"]["benchmarks"]):
		packed = base64.b64encode(gzip.compress(os.urandom(told["trace"]), 1, mtime=0)).decode()
		at = dict(job=job["id"], position=2 + index)
		say(event="stage", **at, stage="profile", command="ncu")
		say_case(job, 2 + index, index, spec)
		say(event="report", **at, index=index, text=told["report"])
		for part in range(0, len(packed), 1 << 19):
			say(event="artifact", **at, name=f"profile-{{index + 1}}.ncu-rep",
				size=told["trace"], part=part >> 19, base64=packed[part:part + (1 << 19)])
		say_stage_end(job, 2 + index)


def show(job, told):
	say(event="stage", job=job["id"], position=1, stage="test", command="")
	for number, tail in enumerate(told["prints"]):
		say(event="progress", job=job["id"], text="test %d/9" % (number // 2))
		say(event="tail", job=job["id"], position=1, tail=tail)
		time.sleep(1)
	while not pathlib.Path(told["until"]).exists():
		time.sleep(0.05)
	say_stage_end(job, 1)
	say_verdict(job)


def compare(job, told):
	say(event="progress", job=job["id"], text="comparing 1/1")
	while "until" in told and not pathlib.Path(told["until"]).exists():
		time.sleep(0.05)
	stage(job, 1, "compare", list(zip(job["task"]["benchmarks"], told.get("cases", []))))
	say_verdict(job, **told.get("verdict", {{}}))


say(event="ready", version="0")
for line in sys.stdin:
	job = json.loads(line).get("job")
	if not job:
		continue
	if job["mode"] == "kit":
		say_verdict(job)
		continue
	try:
		told = json.loads(job["submission"]["text"].splitlines()[0][2:])
	except (ValueError, IndexError):
		say_verdict(job, verdict="wrong answer", reason="It is no pretended result.")
		continue
	told |= told.get("engines", {{}}).get(job["engine"], {{}})
	if "writes" in told:
		pathlib.Path(told["writes"]).write_text(json.dumps(job))
	if "needs" in told and job["engine"] == "sealed":
		engine, reason = told["needs"]
		fallen = {{"engine": engine, "engine_reason": reason}}
		told = {{**told, "verdict": {{**fallen, **told.get("verdict", {{}})}}}}
		if not job.get("may_fall_back"):
			say_verdict(job, verdict="runtime error", reason=reason)
			continue
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
		stage(job, 2, job["mode"], list(zip(task["benchmarks"], told["cases"])),
			json.loads(pathlib.Path(told["events"]).read_text()) if "events" in told else [])
	if job["mode"] == "profile" and "trace" in told:
		profile(job, told)
	score = {{}}
	if job["mode"] == "ranked":
		score = {{"score_ns": told["cases"][-1]["mean_ns"], "score_err_ns": 10.0}}
	say_verdict(job, **{{**score, **told.get("verdict", {{}})}})
'''


def pretend_runner(folder, program):
	"""Makes a podium-run in `folder` whose results the submissions choose. `program` is the real
	podium-run. Returns the environment variables with which a worker starts the pretended
	podium-run."""
	folder.mkdir(exist_ok=True)
	folder.chmod(0o755)
	runner = folder / "podium-run"
	runner.write_text(RUNNER.format(program=program))
	runner.chmod(0o755)
	return {"PODIUM_WORKER_RUNNER": str(runner)}


# Replaces podium-run. The file `says` has an object for each mode. Its members become the members
# of the verdict that a job of this mode gets. Some members have another meaning: "stage" (the
# stage's name), "cases" and "environment" (events before the verdict), "tail" (the output so far),
# "hang" (waits until the job is cancelled), "die" (exits without a verdict), "die once" (the same,
# but only for the first job). The program claims to find no Python, because a search takes seconds.
# It passes all other calls on to the real podium-run.
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
        emit("case", **{{"job": job["id"], "position": 0, "index": index, "verdict": "passed",
            "message": "", **case}})
    emit("stage_end", job=job["id"], position=0, verdict="passed", message="", exit_code=0,
        duration_ms=1)
    emit("verdict", **{{"job": job["id"], "verdict": "passed", "reason": "",
        "engine": job["engine"], **says}})
"""


class PretendedRun:
	"""A podium-run whose results the test sets with say(). A worker started with `environment` uses
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
		"""The jobs that the pretended podium-run got, in order."""
		path = self.folder / "jobs"
		return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
