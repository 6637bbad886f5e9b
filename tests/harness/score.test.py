#!/usr/bin/env python3
"""score_eval.py and score_eval.cu, which run evaluations of the oldest form. Both must give the
same results. The C++ evaluations of this test need no GPU, so any C++20 compiler works."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, run, test  # noqa: E402

PYTHON, COMPILER = "/usr/bin/python3", shutil.which("g++") or shutil.which("c++")

# The evaluations in Python and in C++ print given lines to the output (o) or to the result pipe
# (r), then exit.
PY_EVALUATION = """
import os, signal, sys
results = open(int(os.environ["POPCORN_FD"]), "w")
for word in open("says").read().splitlines():
    print(word[2:], file=results if word[0] == "r" else sys.stdout)
results.close()
end = open("ends").read()
assert end != "assert"
if end.startswith("signal"):
    os.kill(os.getpid(), int(end[6:]))
sys.exit(int(end))
"""
CU_EVALUATION = """
#include <csignal>
#include <fstream>
#include <iostream>
#include <string>
#include <cstdlib>
#include <unistd.h>
int main()
{
	std::ifstream says("says"), ends("ends");
	std::FILE *results = fdopen(std::atoi(std::getenv("POPCORN_FD")), "w");
	for (std::string word; std::getline(says, word);) {
		if (word[0] == 'r')
			std::fprintf(results, "%s\\n", word.c_str() + 2);
		else
			std::cout << word.substr(2) << std::endl;
	}
	std::fclose(results);
	std::string end;
	ends >> end;
	if (end.rfind("signal", 0) == 0)
		kill(getpid(), std::stoi(end.substr(6)));
	std::exit(end == "assert" ? 112 : std::stoi(end));
}
"""


class Folder:
	def __init__(self, path, command):
		self.path, self.command = path, command

	def run(self, mode, says, ends="0", cases="evaluation: it\n", **environment):
		for name, text in {
			"says": "".join(line + "\n" for line in says),
			"ends": ends,
			"cases": cases,
		}.items():
			(self.path / name).write_text(text)
		clean = {
			name: value for name, value in os.environ.items() if not name.startswith("POPCORN_")
		}
		with open(self.path / "lines", "w+") as lines:
			self.result = subprocess.run(
				[*self.command, mode, "cases"],
				cwd=self.path,
				pass_fds=[lines.fileno()],
				capture_output=True,
				text=True,
				timeout=60,
				stdin=subprocess.DEVNULL,
				env={
					**clean,
					"POPCORN_FD": str(lines.fileno()),
					"PYTHONDONTWRITEBYTECODE": "1",
					**environment,
				},
			)
		self.lines = (self.path / "lines").read_text().splitlines()
		return self.result.returncode, self.lines


FOLDERS = contextlib.ExitStack()


@functools.lru_cache(None)
def folder(language):
	path = pathlib.Path(FOLDERS.enter_context(tempfile.TemporaryDirectory(prefix="podium-score.")))
	if language == "py":
		shutil.copy(ROOT / "harness" / "score_eval.py", path)
		(path / "eval.py").write_text(PY_EVALUATION)
		return Folder(path, [PYTHON, "score_eval.py"])
	if not COMPILER:
		raise Skip("there is no compiler for C++")
	(path / "eval.cpp").write_text(CU_EVALUATION)
	subprocess.run(
		[
			COMPILER,
			"-std=c++20",
			"-Wall",
			"-Wextra",
			"-Werror",
			"eval.cpp",
			"-x",
			"c++",
			ROOT / "harness" / "score_eval.cu",
			"-o",
			"eval.out",
		],
		cwd=path,
		check=True,
	)
	return Folder(path, ["./eval.out"])


def for_each_language(function):
	for language in ("py", "cu"):

		def one(language=language):
			function(folder(language))

		one.__name__ = f"{language}: {function.__name__}"
		test(one)
	return function


def passed(noun, *figures):
	return (
		0,
		[
			f"{noun}-count: 1",
			f"{noun}.0.spec: evaluation: it",
			*(f"benchmark.0.{figure}" for figure in figures),
			f"{noun}.0.status: pass",
			"check: pass",
		],
	)


def failed(noun, code, error):
	return (
		code,
		[
			f"{noun}-count: 1",
			f"{noun}.0.spec: evaluation: it",
			f"{noun}.0.status: fail",
			f"{noun}.0.error: {error}",
			"check: fail",
		],
	)


def check_mean(outcome, wanted_ns):
	code, lines = outcome
	means = [float(line.split(": ")[1]) for line in lines if line.startswith("benchmark.0.mean")]
	equal((code, lines[-1], len(means)), (0, "check: pass", 1))
	assert abs(means[0] - wanted_ns) < 1e-6 * wanted_ns, means


@for_each_language
def a_score_is_read_from_the_output_or_the_pipe(folder):
	for mode in ("benchmark", "leaderboard"):
		check_mean(folder.run(mode, ["o warming up...", "o score: 0.0025"]), 2.5e6)
		check_mean(folder.run(mode, ["o score:1.5e-05"]), 15e3)
		check_mean(folder.run(mode, ["r check: pass", "r ", "r score: 0.000012"]), 12e3)
	contains(folder.lines, "benchmark.0.runs: 1")


@for_each_language
def what_the_evaluation_prints_is_passed_on(folder):
	folder.run("benchmark", ["o hello", "o score: 1"])
	equal(folder.result.stdout, "hello\nscore: 1\n")


@for_each_language
def the_pipe_goes_before_the_output(folder):
	check_mean(folder.run("leaderboard", ["o score: 0.1", "r score: 0.2"]), 2e8)


@for_each_language
def durations_in_ns_are_handed_on(folder):
	says = [
		"r check: pass",
		"r duration.mean: 1000",
		"r duration.std: 50",
		"r duration.err: 5",
		"r duration.best: 900",
		"r duration.worst: 1200",
		"r score: 7",
	]
	equal(
		folder.run("leaderboard", says),
		passed(
			"benchmark", "runs: 100", "mean: 1000", "std: 50", "err: 5", "best: 900", "worst: 1200"
		),
	)


@for_each_language
def a_test_says_only_whether_the_answer_is_right(folder):
	equal(folder.run("test", ["o score: 0.1"]), passed("test"))


@for_each_language
def two_different_scores_are_both_handed_on(folder):
	code, lines = folder.run("leaderboard", ["o score: 1", "o score: 2", "o score: 1"])
	equal((code, sum(line.startswith("benchmark.0.mean") for line in lines)), (0, 2))


@for_each_language
def what_is_no_number_is_handed_on_as_it_is(folder):
	contains(folder.run("leaderboard", ["o score: fast"])[1], "benchmark.0.mean: fast")


@for_each_language
def a_wrong_answer_is_recognised_however_it_is_said(folder):
	wrong = failed("test", 112, "The evaluation says that the output is wrong.")
	equal(folder.run("test", ["r check: fail"], "1"), wrong)
	equal(folder.run("test", ["r check: fail", "r score: 1"]), wrong)
	equal(folder.run("test", ["o check_implementation failed", "o score: 1"]), wrong)
	equal(folder.run("test", ["o mismatch found! see the reference"], "1"), wrong)
	equal(folder.run("test", ["o score: 1"], "112"), wrong)
	equal(folder.run("test", ["o score: 1"], "assert"), wrong)


@for_each_language
def other_ends_are_no_answer(folder):
	equal(folder.run("test", []), failed("test", 1, "The evaluation ended without a score."))
	equal(
		folder.run("benchmark", ["o score: 1"], "3"),
		failed("benchmark", 3, "The evaluation ended with exit code 3."),
	)
	equal(folder.run("test", ["o score: 1"], "signal11")[0], -11)
	equal(folder.run("test", ["o score: 1"], "signal9")[0], -9)


@for_each_language
def it_runs_once_for_each_case(folder):
	code, lines = folder.run("leaderboard", ["o score: 1"], cases="a: 1\n\nb: 2\n")
	equal(
		(code, lines[0], lines[1], lines[5], lines[-1]),
		(
			0,
			"benchmark-count: 2",
			"benchmark.0.spec: a: 1",
			"benchmark.1.spec: b: 2",
			"check: pass",
		),
	)
	equal(folder.result.stdout, "score: 1\n" * 2)


@for_each_language
def much_output_does_not_block_it(folder):
	check_mean(
		folder.run(
			"leaderboard", ["o " + "x" * 1000] * 300 + ["r " + "y" * 1000] * 300 + ["r score: 1"]
		),
		1e9,
	)


@for_each_language
def wrong_usage_has_its_exit_codes(folder):
	equal(folder.run("fast", [])[0], 2)
	equal(folder.run("test", [], POPCORN_FD="")[0], 111)


@test
def the_seed_reaches_the_generators_but_not_the_environment():
	path = folder("py").path
	(path / "eval.py").write_text(
		"import os, random\nassert 'POPCORN_SEED' not in os.environ\n"
		"print('score:', random.random())\n"
	)
	try:
		first, again, other = (
			folder("py").run("leaderboard", [], POPCORN_SEED=seed)[1] for seed in ("5", "5", "6")
		)
		assert first == again != other, (first, again, other)
	finally:
		(path / "eval.py").write_text(PY_EVALUATION)


with FOLDERS:
	status = run()
sys.exit(status)
