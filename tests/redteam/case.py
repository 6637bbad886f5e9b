"""Reads the attacks. One attack is one file in cases/: a submission whose head says what it
attempts and which outcome the test requires.

	# 3 proc_ppid_fd
	# attempts: to open the descriptors of its parent and of process 1
	# required: DENIED

The head is the comment lines at the top of the file. A line that continues the one before is
indented further. The first line has the attack's number in the catalogue and its name. The keys:

	attempts     what the attack does
	required     the required outcome (see below)
	verdict      the job's verdict, or several with `or` between them; default: passed
	reason       words that the verdict's reason must contain
	unanswered   variants for which the verdict `time limit` is accepted too, because they may keep
	             the judge waiting for an answer; then a comma and an explanation
	engines      engines to run on: isolated, custom, or both; or sealed, whose attacks
	             tests/gpu/sealed_attacks runs. Default: isolated and custom for Python tasks with a
	             reference.py, in modes that both know; otherwise custom
	form         py or cu; default: by the file's ending
	task         a folder in tasks/ next to the cases, or in the project's tasks/; `every`: each
	             shipped Python task; default: probe_py, and for cu plain_cu
	mode         test (default), benchmark, ranked, profile, compare
	against      honest: in mode compare the attack is compared with the task's template, first as
	             the submission, then as the rival; @SIDE@ says which. The attack must not win, and
	             the template must not lose
	on           cpu (default), gpu, or both; `compiler`: compile as for a GPU, but run without one
	             (default for cu)
	variants     words; the attack runs once with each, which replaces @VARIANT@ in the file
	change       JSON that is merged into the job's message; a list `name+` is appended to the list
	             `name`
	before       a file in cases/ that is submitted in a job before this one
	programs     files in cases/, stored there with a leading underscore, that are installed as
	             programs in the folder @PROGRAMS@ during the attack
	cpu-size     the size of benchmarks on the CPU device, default 8192. With larger sizes torch
	             uses several threads, which slow down the threads that wait for the bell on a
	             machine with two processors
	never        a text that must not appear in any event or artifact
	beside       a program in cases/ that runs on the host during the attack; the first line it
	             prints replaces @BESIDE@
	needs        walls, as `podium-run --walls` names them, without which the attack would harm the
	             host; the attack does not run if one is missing
	cannot-stop  why Podium cannot stop the attack today; the attack runs nevertheless and is
	             listed. Remove the line when Podium stops the attack
	floor        microseconds: the least that each passed case must be charged, since the attack
	             cannot take less; only on a GPU, because times on the CPU device are not defended
	             (docs/judge.md)
	truth        the variant that does the same work honestly; `*` in it is the attacking variant's
	             name up to its last hyphen. On a GPU, where times are steady, the honest variant
	             runs first and must pass. If an attacking variant passes, each case must be charged
	             at least:
	charged      this share of the honest time (default 0.97), or
	spared       the honest time less this many microseconds, which docs/judge.md admits as a gain;
	             default 0. The smaller of the two counts
	named        a figure of a case that must exist and be above 0 on a GPU, such as gap_ns
	runs         the least number of calls that must count in each case on a GPU; on a CPU, a time
	             limit ends a case sooner
	repeatable   yes: --repeats N runs each variant N times

A key after an engine's name, such as `custom cannot-stop: ...` or `isolated verdict: ...`, applies
to that engine alone. In attacks on the engine sealed, `verdict VARIANT: ...` and `reason VARIANT:
...` apply to that variant alone.

The required outcomes:

	VERDICT        the verdict, and an unchanged host
	DENIED         as VERDICT, and the attempt itself fails: the standard output has no line
	               `could: ...`, and a line `attempts: N` shows that something was tried
	FORGE-IGNORED  as VERDICT, and no figure is one that attack.py forges. No figure is less than
	               the task can take, except for the isolated engine on the CPU device

In the file, @MARK@ is a word that marks everything this run leaves behind, @VICTIM@ a folder on
the host that the attack aims at, @SECRET@ a file there with a secret, @PORT@ a port on the host's
loopback, @TASK@ the task, @RIGHT@ a right submission to it, @PROGRAMS@ a folder, @ENGINE@ the
engine; @VARIANT@, @SIDE@ and @BESIDE@ are as above.
"""

import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
TASKS = (HERE / "tasks", HERE.parents[1] / "tasks")
ENGINES = ("isolated", "custom", "sealed")
USUAL_ENGINES = "isolated custom"
KEYS = {
	"attempts",
	"required",
	"verdict",
	"reason",
	"form",
	"task",
	"mode",
	"on",
	"variants",
	"change",
	"before",
	"beside",
	"programs",
	"never",
	"needs",
	"cannot-stop",
	"cpu-size",
	"floor",
	"truth",
	"charged",
	"spared",
	"named",
	"runs",
	"repeatable",
	"unanswered",
	"against",
}
REQUIREMENTS = {"VERDICT", "DENIED", "FORGE-IGNORED"}
HELPERS = ("attack.py", "gpu.py", "channel.py", "device.py", "lies.py")
COMMENT = {".py": "# ", ".cu": "// "}
# Words in cases that act beside the judge: they start threads or processes, or speak its protocol.
BESIDE_THE_JUDGE = re.compile(
	r"thread|fork|popen|spawn|pool|process\(|signal|itimer|async|clone|bell|channel|lies", re.I
)


class Case:
	"""One case on one engine."""

	def __init__(self, path, text, number, name, head, engine):
		self.path, self.text, self.number, self.name, self.engine = path, text, number, name, engine

		def said(key, default=None):
			return head.get(f"{engine} {key}", head.get(key, default))

		self.attempts, self.required = said("attempts"), said("required")
		if not self.attempts or self.required not in REQUIREMENTS:
			raise ValueError(
				f"{path.name} says not what it attempts, or requires {self.required!r}, "
				f"not one of {', '.join(sorted(REQUIREMENTS))}"
			)
		self.head, self.verdicts = head, said("verdict", "passed").split(" or ")
		self.unanswered = said("unanswered", "").partition(",")[0].split()
		self.form, self.task = form_of(path, head), task_of(path, head)
		self.mode, self.cpu_size = said("mode", "test"), int(said("cpu-size", "8192"))
		self.on = said("on", "compiler" if self.form == "cu" else "cpu").split()
		self.variants = said("variants", "").split() or [""]
		self.change = said("change", "{}")
		self.before, self.never, self.beside = said("before"), said("never"), said("beside")
		self.programs, self.needs = said("programs", "").split(), said("needs", "").split()
		self.cannot_stop = said("cannot-stop")
		self.truth, self.charged, self.spared_ns = (
			said("truth"),
			float(said("charged", "0.97")),
			float(said("spared", "0")) * 1000,
		)
		self.floor_ns, self.named, self.runs = (
			float(said("floor", "0")) * 1000,
			said("named"),
			int(said("runs", "0")),
		)
		self.is_repeatable = said("repeatable") == "yes"
		self.sides = ("submission", "rival") if said("against") == "honest" else ("",)

	def acts_beside_the_judge(self):
		return bool(self.beside or BESIDE_THE_JUDGE.search(self.text))

	def expected(self, variant):
		"""(the verdicts that this variant may get, words of the reason), on the engine sealed."""
		verdicts = self.head.get(f"verdict {variant}")
		reason = self.head.get(f"reason {variant}", self.head.get("reason", ""))
		return verdicts.split(" or ") if verdicts else self.verdicts, reason

	def least_charge(self, honest_ns):
		"""The least time that an attack may be charged, in ns. `honest_ns`: the time of the honest
		variant; None or 0: there is none."""
		least_ns = min(self.charged * honest_ns, honest_ns - self.spared_ns) if honest_ns else 0
		return max(self.floor_ns, least_ns)

	def truth_of(self, variant):
		return self.truth and self.truth.replace("*", variant.rpartition("-")[0])

	def title(self, variant):
		return f"{self.number} {self.name} ({self.engine}){' ' + variant if variant else ''}"


def form_of(path, head):
	return head.get("form", path.suffix[1:])


def task_of(path, head):
	return head.get("task", "probe_py" if form_of(path, head) == "py" else "plain_cu")


def can_be_split(path, head):
	"""Whether the isolated engine can run the case's task, or some of the tasks of `every`."""
	task = task_of(path, head)
	return head.get("mode") != "profile" and (
		task == "every" or any((top / task / "reference.py").exists() for top in TASKS)
	)


def engines_of(path, head):
	usual = USUAL_ENGINES if can_be_split(path, head) else "custom"
	return head.get("engines", usual).split()


def is_key(words):
	engine, _, key = words.rpartition(" ")
	if engine in ("verdict", "reason"):
		return True  # of a variant
	return words == "engines" or key in KEYS and engine in ("", *ENGINES)


def check_variants(path, head):
	"""Raises ValueError if a key is for a variant that is not there."""
	named = {key.partition(" ")[2] for key in head if key.startswith(("verdict ", "reason "))}
	unknown = named - set(head.get("variants", "").split())
	if unknown:
		raise ValueError(f"{path.name} has no variant {', '.join(sorted(unknown))}")


def read_head(path, text):
	"""Returns (number, name, {key: value})."""
	lines = []
	for line in text.splitlines():
		if not line.startswith(COMMENT[path.suffix]):
			break
		words = line[len(COMMENT[path.suffix]) :]
		if words.startswith(" "):
			lines[-1] += " " + words.strip()
		else:
			lines.append(words)
	number, name = lines[0].split()
	head = {}
	for line in lines[1:]:
		key, colon, value = line.partition(":")
		if not colon or not is_key(key) or key in head:
			raise ValueError(
				f"{path.name}: the line {line!r} of the head has no key, a wrong one, or one that "
				"was there before"
			)
		head[key] = value.strip()
	return number, name, head


def read(path):
	text = path.read_text()
	number, name, head = read_head(path, text)
	check_variants(path, head)
	return [Case(path, text, number, name, head, engine) for engine in engines_of(path, head)]


def every():
	"""Returns all cases, once for each of their engines, sorted by number. Files with a leading
	underscore are helpers of cases."""
	paths = [
		path
		for path in CASES.iterdir()
		if path.suffix in (".py", ".cu") and not path.name.startswith("_")
	]
	cases = [case for path in paths for case in read(path)]
	names = [(case.name, case.engine) for case in cases]
	if len(set(names)) != len(names):
		raise ValueError("two cases have one name")
	return sorted(
		cases, key=lambda case: (int(re.match(r"\d+", case.number)[0]), case.number, case.engine)
	)


def own_folder(name, top):
	"""Copies one of the attacks' task folders below `top` and adds the shared helpers."""
	folder = top / name
	shutil.copytree(HERE / "tasks" / name, folder)
	for helper in HELPERS:
		shutil.copy(HERE / helper, folder)
	return folder
