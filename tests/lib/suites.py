"""The suites of tests/run: each suite's name, its program, what make builds for it, and its last
duration. Also how many suites run side by side."""

import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
KINDS = ("release", "sanitize")

# Suites that run only with the release build. Sanitizers would find little in them: other suites
# run almost all of the same C code with sanitizers, integration/sandbox/ mostly tests what the
# kernel forbids, and integration/source/ reads files of the tree.
ONLY_RELEASE = (
	"browser/",
	"faults/soak",
	"integration/check/same",
	"integration/dev/",
	"integration/docs/",
	"integration/formats/",
	"integration/harness/",
	"integration/hostile/",
	"integration/install/",
	"integration/sandbox/",
	"integration/source/",
)

# Suites that run only with sanitizers, which find more errors than the release build does. Other
# suites test the release build of the same programs: the browser suites, the soak test,
# integration/sandbox/ and redteam/.
ONLY_SANITIZE = (
	"integration/site/",
	"integration/uploads/",
	"integration/worker/",
	"integration/service/",
	"integration/library/",
	"integration/templates/",
	"integration/admin/",
	"integration/command/",
	"integration/check/check",
	"integration/hosts/",
	"integration/check/words",
	"integration/run/",
	"faults/gpu",
	"faults/kill",
	"faults/outage",
	"faults/publication",
	"faults/statements",
	"faults/web",
)

# Suites that compile CUDA C++ or compare Podium's declarations with NVIDIA's headers.
NEEDS_NVCC = (
	"harness/compile_cu",
	"harness/isolated_cu",
	"harness/sealed_attacks",
	"harness/sealed_cubin",
	"integration/formats/",
	"integration/harness/",
	"integration/run/",
	"integration/sandbox/",
	"redteam/attacks",
	"unit/device",
	"unit/driver",
	"unit/graph",
	"unit/images",
)


class Suite:
	def __init__(self, kind, name, command, target="test-programs"):
		"""`target`: what make builds for the suite, or None."""
		self.kind, self.name, self.command, self.target = kind, name, command, target
		self.environment = {}  # in addition to the environment of all suites

	def title(self):
		return f"{self.kind} {self.name}"

	def file_name(self):
		return self.name.replace("/", "-")

	def needs_nvcc(self):
		return self.name.startswith(NEEDS_NVCC)


# ---- the list of suites ----


def executables(*patterns):
	found = {path for pattern in patterns for path in TESTS.glob(pattern)}
	for path in found:
		if not os.access(path, os.X_OK):
			sys.exit(
				f"{path.relative_to(ROOT)} cannot be executed, so it would never run: chmod +x"
			)
	return sorted(found)


def stem(path):
	return path.name.split(".")[0]


def suites_of(kind):
	elsewhere = ONLY_SANITIZE if kind == "release" else ONLY_RELEASE
	return [suite for suite in all_suites(kind) if not suite.name.startswith(elsewhere)]


def all_suites(kind):
	if kind == "sanitize":
		for path in sorted(TESTS.glob("unit/test_*.c")):
			program = f"build/{kind}/tests/unit/{path.stem}"
			yield Suite(kind, f"unit/{path.stem[5:]}", [program], program)
	if kind == "release":
		for path in executables("style/*.test.py"):
			yield Suite(kind, f"style/{stem(path)}", [path], None)
		for path in sorted(TESTS.glob("fuzz/*.c")):
			yield Suite(
				kind, f"fuzz/{path.stem}", [TESTS / "fuzz" / "run", "--test", path.stem], None
			)
		for path in executables("harness/*.test", "harness/*.test.py"):
			yield Suite(kind, f"harness/{stem(path)}", [path])
	for path in executables("integration/*/*.test", "integration/*/*.test.py"):
		yield Suite(kind, f"integration/{path.parent.name}/{stem(path)}", [path])
	for path in executables("redteam/*.test.py"):
		yield Suite(kind, f"redteam/{stem(path)}", [path])
	for path in executables("faults/*.test.py"):
		yield Suite(kind, f"faults/{stem(path)}", [path])
	for path in sorted(TESTS.glob("browser/*.test.mjs")):
		yield Suite(kind, f"browser/{stem(path)}", ["node", "--test-reporter=tap", path])


# ---- the last run ----

# Durations of the slowest suites in seconds, used until a run on this machine has timed them. Slow
# suites start first, so that none runs alone at the end. For this only the order matters.
USUAL_S = {
	"integration/run/isolated": 405,
	"redteam/attacks": 400,
	"browser/flows": 340,
	"harness/isolated_cu": 330,
	"integration/harness/harness": 330,
	"integration/formats/formats": 290,
	"browser/pages": 265,
	"integration/dev/bench": 95,
	"integration/formats/extensions": 90,
	"integration/run/sealed": 85,
	"integration/site/api_fuzz": 80,
	"harness/isolated": 85,
	"integration/run/run": 80,
	"integration/sandbox/sandbox": 65,
	"faults/statements": 60,
	"integration/command/command": 65,
	"integration/worker/bad": 65,
	"browser/plain": 65,
	"browser/participants": 60,
	"browser/judge": 55,
	"browser/operate": 55,
	"browser/publishing": 50,
	"integration/site/publication": 50,
	"browser/keyboard": 50,
	"harness/sealed_judge": 45,
	"integration/worker/worker": 45,
	"faults/outage": 45,
	"integration/site/api": 45,
	"faults/kill": 45,
	"integration/site/questions": 45,
	"integration/hosts/web": 45,
	"integration/check/same": 40,
	"integration/site/control": 40,
	"integration/site/comparisons": 40,
	"faults/publication": 35,
	"browser/account": 35,
	"integration/site/dry_run": 35,
}


class Record:
	"""The duration of each suite's last run, and whether it failed."""

	def __init__(self, path=ROOT / "build" / "test-record.json"):
		self.path = path
		self.suites = json.loads(path.read_text()) if path.exists() else {}

	def note(self, suite, has_failed, seconds=None):
		"""Notes how a suite ended. A failed suite may have ended early, so its time does not
		count."""
		entry = self.suites.setdefault(suite.title(), {})
		entry["failed"] = has_failed
		if seconds is not None and not has_failed:
			entry["seconds"] = round(seconds, 1)
		fresh = self.path.with_suffix(".new")
		fresh.write_text(json.dumps(self.suites, indent=1, sort_keys=True) + "\n")
		fresh.replace(self.path)

	def has_failed(self, suite):
		return self.suites.get(suite.title(), {}).get("failed", False)

	def seconds(self, suite):
		return self.suites.get(suite.title(), {}).get("seconds", USUAL_S.get(suite.name, 10))


# ---- side by side ----


def processor_times():
	"""(idle, all) of this process's processors since the machine started, in clock ticks."""
	wanted = {f"cpu{number}" for number in os.sched_getaffinity(0)}
	idle = total = 0
	for line in pathlib.Path("/proc/stat").read_text().splitlines():
		name, *ticks = line.split()
		if name in wanted:
			idle += int(ticks[3]) + int(ticks[4])  # idle and waiting for a disk
			total += sum(map(int, ticks[:8]))
	return idle, total


class Places:
	"""Says how many suites may run now. Suites wait for much of their time, for limits to pass and
	for pages to load. Two suites more than there are processors always run. As long as the
	processors are idle, one more suite starts at a time, and then has some seconds to show what it
	needs."""

	LOOK_S = 3
	IDLE_SHARE = 0.15

	def __init__(self, processors=None, times=processor_times, clock=time.monotonic):
		count = processors or len(os.sched_getaffinity(0))
		self.usual, self.most = count + 2, 2 * count + 6
		self.times, self.clock = times, clock
		self.began = times()
		self.look()

	def look(self):
		self.looked, self.seen = self.clock(), self.times()

	@staticmethod
	def share(before, now):
		idle, total = (b - a for a, b in zip(before, now))
		return idle / total if total > 0 else 0

	def idle_share(self):
		"""How idle the processors have been since the start."""
		return self.share(self.began, self.times())

	def may_start(self, running):
		"""Whether another suite may start beside those that run."""
		if running < self.usual:
			self.look()
			return True
		if self.clock() < self.looked + self.LOOK_S:
			return False
		is_idle = self.share(self.seen, self.times()) > self.IDLE_SHARE
		self.look()
		return is_idle and running < self.most
