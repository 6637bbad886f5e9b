"""A task without torch, because importing torch takes seconds. The task asks for the custom engine,
which runs the task's own harness. That harness makes up its figures."""

RIGHT = "def custom_kernel(data):\n    return data\n"
REFERENCE = """
def generate_input(seed):
    return seed

def check_implementation(data, output):
    return output == data, f"expected {data}, got {output}"
"""
HARNESS = """
import os, sys, time
from reference import check_implementation, generate_input
mode, cases = sys.argv[1], open(sys.argv[2]).read().splitlines()
out = os.fdopen(int(os.environ["POPCORN_FD"]), "w")
kind = "test" if mode == "test" else "benchmark"
print("printed by the harness")
out.write(f"{kind}-count: {len(cases)}\\n")
from submission import custom_kernel
passed = True
for index, case in enumerate(cases):
    data = generate_input(int(case.split(":")[1]))
    good, message = check_implementation(data, custom_kernel(data))
    out.write(f"{kind}.{index}.spec: {case}\\n")
    passed = passed and good
    if kind == "test" or not good:
        out.write(f"{kind}.{index}.status: {'pass' if good else 'fail'}\\n")
        if not good:
            out.write(f"{kind}.{index}.error: {message}\\n")
    else:
        time.sleep(0.01)
        figures = dict(runs=3, mean=2000000, std=10, err=2277.7, best=1999990, worst=2000010)
        for name, value in figures.items():
            out.write(f"benchmark.{index}.{name}: {value}\\n")
    out.flush()
out.write(f"check: {'pass' if passed else 'fail'}\\n")
out.close()
sys.exit(0 if passed else 112)
"""
TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{seed: 1}, {seed: 2}]
benchmarks: [{seed: 3}]
podium: {engine: custom}
"""

# A task with a wrong sample, which the check before publishing needs.
ADD_ONE = """
lang: py
description: Add one.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
templates: {Python: template.py}
tests: [{seed: 1}]
benchmarks: [{seed: 3}]
gpus: [CPU]
podium:
  engine: custom
  expected:
    - {source: wrong.py, verdict: wrong answer, mode: test}
"""
ADDS_ONE = """
def generate_input(seed):
    return seed

def ref_kernel(data):
    return data + 1

def check_implementation(data, output):
    return output == ref_kernel(data), "not the same"
"""
RETURNS_SEVEN = "def custom_kernel(data):\n    return 7\n"


def add_one(reference=ADDS_ONE, task=ADD_ONE, wrong=RETURNS_SEVEN):
	"""Returns the files of the task ADD_ONE, or of a variant, as contents by name."""
	return {
		"task.yml": task,
		"reference.py": reference,
		"eval.py": HARNESS,
		"template.py": "def custom_kernel(data):\n    pass\n",
		"wrong.py": wrong,
	}


def write_task(folder, definition=TASK, harness=HARNESS, more=()):
	"""Writes the task into a new folder. `more`: the contents of further files by name."""
	folder.mkdir(parents=True)
	for name, text in {
		"task.yml": definition,
		"reference.py": REFERENCE,
		"eval.py": harness,
		**dict(more),
	}.items():
		(folder / name).write_text(text)
