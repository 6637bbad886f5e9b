"""Task folders as authors write them, one for each form of eval file that is in use.

Each folder lies next to a folder `common`, whose files several tasks share. Its task.yml has none
of Podium's own keys. The evals here (evals/) are small and need no torch. Their times come from a
table, so that a test can compute the expected results by hand. The file traits.py holds what
differs between the variants."""

import json
import pathlib
import textwrap

EVALS = pathlib.Path(__file__).resolve().parent / "evals"

# The variants of evals and their defaults: how an eval reads cases, repeats calls and reports.
TRAITS = {
	"KEY": "[a-zA-Z]+",
	"VALUE": r"[a-zA-Z]+|-?\d+",  # the values that a case may have
	"WORDS": {},  # values that the eval replaces, such as words for truth values
	"LISTS": False,  # whether [1, 2] and (1, 2) become tuples
	"SKIPS_EMPTY": False,  # whether empty lines and empty parts of cases are skipped
	"POOL": 1,  # number of processes
	"REPEATS": {"benchmark": 4, "leaderboard": 4},
	"GROUP": 1,  # calls between two readings of the clock
	"REPLAYS": 0,  # replays of a recorded group between two readings; 0: records none
	"WARMS_ALL": False,  # whether a ranked run warms up with all cases
	"CATCHES": False,  # whether the eval catches exceptions of the submission
	"CLOCK": False,  # whether times come from a real clock instead of the table
	"ESCAPES": True,  # whether line breaks in errors become \n
	"RETURNS_CODE": True,
	"GREETS": False,
	"LEADERBOARD_FAILS_WITH": 112,
	"LEADERBOARD_CHECKS": False,  # whether `check: fail` follows a ranked run's wrong answer
	"SAYS": (),  # lines that the eval prints
	"DEVICE": True,
}

REFERENCE = """
import sys

def nanoseconds(size, run):
	return size * 10.0 + (1 if run % 2 else -1)

def generate_input(size, seed, quiet=False, **others):
	if not quiet:  # in one piece, as several processes may write at once
		sys.stdout.write(f"input: { {'size': size, 'seed': seed, **others} }\\n")
	return [seed % 1000 + index for index in range(size)]

def ref_kernel(data):
	return [2 * value for value in data]

def check_implementation(data, output):
	for index, (wanted, got) in enumerate(zip(ref_kernel(data), output)):
		if wanted != got:
			return WRONG
	return RIGHT
"""
MISMATCH = 'f"mismatch found! element {index}: wanted {wanted}, got {got}"'
MISMATCH_LINES = 'f"mismatch found!\\n  element {index}: wanted {wanted}, got {got}"'
ANSWERS = {  # what check_implementation returns for (a wrong answer, a right answer)
	"tuple": ("False, " + MISMATCH_LINES, 'True, ""'),
	"message": ("False, " + MISMATCH, 'True, f"the first is {data[0]}"'),
	"text": (MISMATCH_LINES, '""'),
}
UTILS = "import random\n\ndef set_seed(seed):\n\trandom.seed(seed)\n"
TYPES = (
	"from typing import TypedDict\n"
	"\n"
	"input_t = output_t = list\n"
	"\n"
	"class TestSpec(TypedDict):\n"
	"\tsize: int\n"
	"\tseed: int\n"
)

# ---- submissions ----
RIGHT = (
	"from task import input_t, output_t\n"
	"\n"
	"def custom_kernel(data: input_t) -> output_t:\n"
	"\treturn [2 * value for value in data]\n"
)
RIGHT_BARE = "def custom_kernel(data):\n\treturn [2 * value for value in data]\n"
WRONG = (
	"def custom_kernel(data):\n"
	"\treturn [2 * value if index != 2 else -1 for index, value in enumerate(data)]\n"
)
WRONG_WHEN_TIMED = (
	"def custom_kernel(data):\n\treturn [2 * value if len(data) < 100 else -1 for value in data]\n"
)
RAISING = "def custom_kernel(data):\n\treturn [1 // 0 for value in data]\n"

# The same task in CUDA C++. The code runs on the host, so that a test needs nvcc but no GPU.
CU_TYPES = """#pragma once
#include <array>
#include <string>
#include <vector>
using input_t = std::vector<int>;
using output_t = std::vector<int>;
constexpr std::array<const char *, 3> ArgumentNames = {"size", "seed", "offset"};
struct TestReporter { std::string message; };
"""
CU_REFERENCE = """
static input_t generate_input(int size, int seed, int offset)
{
	input_t data;
	for (int i = 0; i < size; i++)
		data.push_back(seed % 1000 + offset * i);
	return data;
}

static void check_implementation(TestReporter &reporter, const input_t &data,
	const output_t &output)
{
	for (std::size_t i = 0; i < data.size() && reporter.message.empty(); i++)
		if (output.size() != data.size() || output[i] != 2 * data[i])
			reporter.message = "mismatch found! element " + std::to_string(i) + ": wanted "
				+ std::to_string(2 * data[i]);
}
"""
CU_RIGHT = """#include "task.h"

output_t custom_kernel(input_t data)
{
	for (int &value : data)
		value *= 2;
	return data;
}
"""

TESTS = [{"size": 3, "seed": 5}, {"size": 8, "seed": 6635}]
BENCHMARKS = [{"size": 100, "seed": 1}, {"size": 400, "seed": 2}, {"size": 1600, "seed": 3}]


def reference(answers="tuple"):
	wrong, right = ANSWERS[answers]
	return REFERENCE.replace("WRONG", wrong).replace("RIGHT", right)


def traits(**changes):
	return "".join(f"{name} = {value!r}\n" for name, value in {**TRAITS, **changes}.items())


def definition(
	files,
	main="eval.py",
	tests=TESTS,
	benchmarks=BENCHMARKS,
	templates="{Python: submission.py}",
	**keys,
):
	"""Returns a task.yml. Its cases are in JSON, which is valid YAML and which most authors
	write."""
	config = keys.pop("config", f"\n  main: {main}")
	text = textwrap.dedent("""\
		# name: numbers

		files:
		{files}
		lang: {lang}
		description: |
		  Return twice each of the numbers.
		config:{config}
		templates: {templates}
		tests:
		{tests}
		benchmarks:
		{benchmarks}
		""").format(
		files="".join(
			f'  - {{"name": "{name}", "source": "{source}"}}\n' for name, source in files
		),
		lang=keys.pop("lang", "py"),
		config=config,
		templates=templates,
		tests="".join(f"  - {json.dumps(case)}\n" for case in tests),
		benchmarks="".join(f"  - {json.dumps(case)}\n" for case in benchmarks),
	)
	return text + "".join(f"{key}: {value}\n" for key, value in keys.items())


def write(top, files):
	for name, text in files.items():
		(top / name).parent.mkdir(parents=True, exist_ok=True)
		(top / name).write_text(text)


def make(top, eval, answers="tuple", helpers=True, **rest):
	"""Writes a task below `top`. The eval comes from the folder `common`. With `helpers`, utils.py
	and task.py come from there too. Arguments that name a trait set it; all others are keys of
	task.yml."""
	changes = {name: rest.pop(name) for name in list(rest) if name in TRAITS}
	files = [
		("submission.py", "@SUBMISSION@"),
		("reference.py", "reference.py"),
		("traits.py", "traits.py"),
		("eval.py", f"../common/{eval}"),
	]
	# The value of WORDS replaces the word in the eval's source, so traits.py does not have it.
	common = {
		f"common/{eval}": (EVALS / eval)
		.read_text()
		.replace("traits.WORDS", repr(changes.pop("WORDS", {})))
	}
	if helpers:
		files += [("task.py", "../common/task.py"), ("utils.py", "../common/utils.py")]
		common.update({"common/task.py": TYPES, "common/utils.py": UTILS})
	write(
		top,
		{
			**common,
			"numbers/task.yml": definition(files, **rest),
			"numbers/reference.py": reference(answers),
			"numbers/traits.py": traits(**changes),
			"numbers/submission.py": RIGHT if helpers else RIGHT_BARE,
		},
	)
	return top


def make_cu(top, submission=CU_RIGHT, config=None, **rest):
	"""Writes a task in CUDA C++, whose cases have three arguments."""
	cases = {
		key: [{**case, "offset": 7} for case in cases]
		for key, cases in (("tests", TESTS), ("benchmarks", BENCHMARKS))
	}
	files = [(name, name) for name in ("eval.cu", "task.h", "reference.cuh")] + [
		("submission.cu", "@SUBMISSION@")
	]
	config = config or "\n  sources: [eval.cu, submission.cu]\n  compile_flags: [-O0]"
	write(
		top,
		{
			"task.yml": definition(
				files, lang="cu", config=config, templates="{CUDA: template.cu}", **cases, **rest
			),
			"task.h": CU_TYPES,
			"eval.cu": (EVALS / "eval.cu").read_text(),
			"reference.cuh": CU_REFERENCE,
			"template.cu": submission,
		},
	)
	return top
