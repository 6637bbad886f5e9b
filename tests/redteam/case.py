"""One attack, a file in cases/: a submission whose head says what it attempts and what must become of it.

	# 3 proc_ppid_fd
	# attempts: to open the descriptors of its parent and of process 1
	# required: DENIED

The lines of the head are comments and end with the first other line; a line that goes on is indented further.
The first has the number in the catalogue and the name. Then:

	attempts     what the attack does
	required     what must become of it (below)
	verdict      the job's verdict, several with `or` between them; default: passed
	form         py or cu, by the file's ending
	task         a folder in tasks/ beside the cases, or in the project's tasks/; `every`: each Python task that ships;
	             default: probe_py, and for cu plain_cu
	mode         test (default), benchmark, ranked, profile
	on           cpu (default), gpu, or both; `compiler`: as if for a GPU, but without one; default for cu
	variants     words; the attack is run once with each, which stands for @VARIANT@ in the file
	change       JSON that is merged into the job's message; what is in a list `name+` is added to the list `name`
	before       a file in cases/ that a job before this one submits
	programs     files in cases/, there with an underscore in front, that are programs in the folder @PROGRAMS@ meanwhile
	never        a text that no event may hold, what is packed in artifacts included
	beside       a program in cases/ that runs on the host meanwhile; what it prints first stands for @BESIDE@
	needs        walls, as `podium-run --walls` names them, without which the attack would harm the host: it is not run then
	cannot-stop  why it is not stopped today; the attack is run nevertheless, and listed; should it be stopped, the line must go

What is required:

	VERDICT        the verdict, and a host that is as it was
	DENIED         also, that the attempt itself fails: there is no line `could: ...` on the standard output, and one
	               `attempts: N` says that something was tried
	FORGE-IGNORED  also, that no figure is below what the task can take, that nothing passes but by its own merit

In the file, @MARK@ is a word that names what this run leaves anywhere, @VICTIM@ a folder on the host that the attack
aims at, @SECRET@ a file there with a secret, @PORT@ a port on the host's loopback, @TASK@ the task, @RIGHT@ a right
submission to it, @PROGRAMS@ a folder; @VARIANT@ and @BESIDE@ are as above.
"""
import pathlib
import re

CASES = pathlib.Path(__file__).resolve().parent / "cases"
KEYS = {"attempts", "required", "verdict", "form", "task", "mode", "on", "variants", "change", "before", "beside", "programs", "never", "needs",
	"cannot-stop"}
REQUIREMENTS = {"VERDICT", "DENIED", "FORGE-IGNORED"}
COMMENT = {".py": "# ", ".cu": "// "}


class Case:
	def __init__(self, path):
		self.path, self.text = path, path.read_text()
		self.number, self.name, head = read_head(path, self.text)
		for key in ("attempts", "required"):
			if key not in head:
				raise ValueError(f"{path.name} has no line \"{key}\"")
		self.attempts, self.required = head["attempts"], head["required"]
		if self.required not in REQUIREMENTS:
			raise ValueError(f"{path.name} requires {self.required!r}, not one of {', '.join(sorted(REQUIREMENTS))}")
		self.verdicts = head.get("verdict", "passed").split(" or ")
		self.form = head.get("form", path.suffix[1:])
		self.task = head.get("task", "probe_py" if self.form == "py" else "plain_cu")
		self.mode = head.get("mode", "test")
		self.on = head.get("on", "compiler" if self.form == "cu" else "cpu").split()
		self.variants = head.get("variants", "").split() or [""]
		self.change = head.get("change", "{}")
		self.before = head.get("before")
		self.programs = head.get("programs", "").split()
		self.never = head.get("never")
		self.beside = head.get("beside")
		self.needs = head.get("needs", "").split()
		self.cannot_stop = head.get("cannot-stop")

	def title(self, variant):
		return f"{self.number} {self.name}{' ' + variant if variant else ''}"


def read_head(path, text):
	"""(number, name, {key: value})"""
	lines = []
	for line in text.splitlines():
		if not line.startswith(COMMENT[path.suffix]):
			break
		words = line[len(COMMENT[path.suffix]):]
		if words.startswith(" "):
			lines[-1] += " " + words.strip()
		else:
			lines.append(words)
	number, name = lines[0].split()
	head = {}
	for line in lines[1:]:
		key, colon, value = line.partition(":")
		if not colon or key not in KEYS or key in head:
			raise ValueError(f"{path.name}: the line {line!r} of the head has no key, a wrong one, or one that was there before")
		head[key] = value.strip()
	return number, name, head


def every():
	"""All cases, by number. Files whose name begins with an underscore are companions."""
	cases = [Case(path) for path in CASES.iterdir() if path.suffix in (".py", ".cu") and not path.name.startswith("_")]
	names = [case.name for case in cases]
	if len(set(names)) != len(names):
		raise ValueError("two cases have one name")
	return sorted(cases, key=lambda case: (int(re.match(r"\d+", case.number)[0]), case.number))
