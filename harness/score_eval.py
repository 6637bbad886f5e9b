"""Runs an evaluation of the oldest form, which has one score and no modes or cases, and reports its
results like the stock eval.py.

    POPCORN_FD=N python3 score_eval.py test|benchmark|leaderboard|profile CASEFILE

The evaluation is the file eval.py in the same folder. It runs once for each case of CASEFILE and
prints

    score: 0.00123              seconds for one call, on standard output or on POPCORN_FD
    duration.mean: 1230000      ns, on POPCORN_FD, with or without a score; also std, err, best,
                                worst
    check: fail                 on POPCORN_FD: the answer is wrong

The answer is also wrong if the exit code is 112, if eval.py itself fails an assert, or if a line of
output contains "check_implementation failed" or "mismatch found". Two different scores contradict
each other; both are reported. POPCORN_SEED seeds the generators of random, numpy and torch.
"""

import os
import re
import runpy
import selectors
import signal
import sys
import traceback

EXIT_RAISED, EXIT_USAGE, EXIT_REPORT, EXIT_WRONG, EXIT_CASE = 1, 2, 111, 112, 113
NOUNS = {
	"test": "test",
	"benchmark": "benchmark",
	"leaderboard": "benchmark",
	"profile": "benchmark",
}
EVALUATION = "eval.py"
SCORE = re.compile(r"score\s*:\s*(\S+)")
SAYS_WRONG = re.compile(r"check_implementation failed|mismatch found")
FIGURES = ("mean", "std", "err", "best", "worst")


def stop(code, sentence):
	print(f"score_eval.py: {sentence}", file=sys.stderr, flush=True)
	sys.exit(code)


# ---- the evaluation, in its own process ----


def seed_generators(seed):
	import random

	random.seed(seed)
	for name, seed_one in (
		("numpy", lambda numpy: numpy.random.seed(seed % 2**32)),
		("torch", lambda torch: torch.manual_seed(seed % 2**63)),
	):
		try:
			seed_one(__import__(name))
		except ImportError:
			pass


def is_failed_assert(error):
	"""Whether an assert of eval.py itself failed, not one in code that it calls."""
	trace = error.__traceback__
	while trace.tb_next:
		trace = trace.tb_next
	return (
		isinstance(error, AssertionError)
		and os.path.basename(trace.tb_frame.f_code.co_filename) == EVALUATION
	)


def exit_code_of(end):
	"""The exit code that Python gives a SystemExit."""
	if end.code is None or isinstance(end.code, int):
		return (end.code or 0) & 0xFF
	print(end.code, file=sys.stderr)
	return EXIT_RAISED


def evaluate(seed):
	"""Runs eval.py as the program. Returns its exit code."""
	try:
		if seed is not None:
			seed_generators(seed)
		runpy.run_path(EVALUATION, run_name="__main__")
		return 0
	except SystemExit as end:
		return exit_code_of(end)
	except BaseException as error:
		traceback.print_exception(type(error), error, error.__traceback__.tb_next)
		return EXIT_WRONG if is_failed_assert(error) else EXIT_RAISED


def become_evaluation(output, results, seed):
	"""Runs the evaluation in the child. Never returns."""
	code = EXIT_RAISED
	try:
		os.dup2(output, 1)
		os.set_inheritable(results, True)
		os.environ["POPCORN_FD"] = str(results)
		sys.argv = [EVALUATION]
		sys.stdout = open(1, "w", buffering=1, closefd=False, errors="backslashreplace")
		code = evaluate(seed)
	finally:
		sys.stdout.flush()
		sys.stderr.flush()
		os._exit(code)


def read_both(output, results):
	"""Returns the lines of both pipes. Also writes the output to this program's own, as it
	arrives."""
	texts = {output: b"", results: b""}
	with selectors.DefaultSelector() as selector:
		for descriptor in texts:
			selector.register(descriptor, selectors.EVENT_READ)
		while selector.get_map():
			for key, _ in selector.select():
				piece = os.read(key.fd, 65536)
				texts[key.fd] += piece
				if key.fd == output:
					os.write(1, piece)
				if not piece:
					selector.unregister(key.fd)
	return [text.decode("utf-8", "replace").splitlines() for text in texts.values()]


def run_once(seed):
	"""Returns (exit code, lines of the output, lines of the results); a negative code is a
	signal."""
	(output, output_end), (results, results_end) = os.pipe(), os.pipe()
	child = os.fork()
	if child == 0:
		os.close(output)
		os.close(results)
		become_evaluation(output_end, results_end, seed)
	os.close(output_end)
	os.close(results_end)
	lines = read_both(output, results)
	os.close(output)
	os.close(results)
	return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *lines


# ---- the results of the evaluation ----


def to_ns(seconds):
	try:
		return repr(float(seconds) * 1e9)
	except ValueError:
		return seconds  # podium-run reports the wrong value


def runs_of(figures):
	"""Computes the number of runs from err = std / sqrt(runs), because evaluations of this form do
	not report it."""
	try:
		return max(1, round((float(figures["std"]) / float(figures["err"])) ** 2))
	except (KeyError, ValueError, ZeroDivisionError, OverflowError):
		return 1


def collect(output, results):
	"""(scores in seconds, figures in ns, whether the answer is wrong)"""
	pairs = [tuple(part.strip() for part in line.partition(":")[::2]) for line in results]
	figures = {
		key[len("duration.") :]: value for key, value in pairs if key.startswith("duration.")
	}
	scores = [value for key, value in pairs if key == "score"]
	if not scores and "mean" not in figures:
		scores = [match[1] for match in map(SCORE.fullmatch, map(str.strip, output)) if match]
	wrong = ("check", "fail") in pairs or any(map(SAYS_WRONG.search, output))
	return (
		list(dict.fromkeys(scores)),
		{name: figures[name] for name in FIGURES if name in figures},
		wrong,
	)


class Report:
	def __init__(self):
		try:
			self.file = open(
				int(os.environ.pop("POPCORN_FD", "")), "w", buffering=1, errors="backslashreplace"
			)
			os.set_inheritable(self.file.fileno(), False)
		except (ValueError, OSError):
			stop(
				EXIT_REPORT, "POPCORN_FD must be the number of an open descriptor for the results."
			)

	def line(self, key, value):
		print(f"{key}: {value}", file=self.file)


def report_figures(report, key, scores, figures):
	figures = figures if "mean" in figures else {}
	report.line(f"{key}.runs", runs_of(figures))
	for name, value in figures.items():
		report.line(f"{key}.{name}", value)
	if not figures:
		for score in scores:
			report.line(f"{key}.mean", to_ns(score))


def report_case(report, mode, key, outcome):
	"""Reports a case. Returns its exit code."""
	code, output, results = outcome
	scores, figures, wrong = collect(output, results)
	if wrong or code == EXIT_WRONG:
		fault, code = "The evaluation says that the output is wrong.", EXIT_WRONG
	elif code:
		fault = f"The evaluation ended with exit code {code}."
	elif not scores and "mean" not in figures:
		fault, code = "The evaluation ended without a score.", EXIT_RAISED
	else:
		if mode != "test":
			report_figures(report, key, scores, figures)
		report.line(f"{key}.status", "pass")
		return 0
	report.line(f"{key}.status", "fail")
	report.line(f"{key}.error", fault)
	return code


def take_seed():
	given = os.environ.pop("POPCORN_SEED", "")
	return int(given) if re.fullmatch(r"[+-]?\d+", given) else None


def main(arguments):
	if len(arguments) != 2 or arguments[0] not in NOUNS:
		stop(EXIT_USAGE, f"usage: python3 score_eval.py {'|'.join(NOUNS)} CASEFILE")
	mode, noun = arguments[0], NOUNS[arguments[0]]
	report, seed = Report(), take_seed()
	try:
		with open(arguments[1], encoding="utf-8") as file:
			cases = [line.strip() for line in file if line.strip()]
	except (OSError, UnicodeDecodeError) as error:
		stop(EXIT_CASE, f"The case file {arguments[1]} cannot be read: {error}")
	report.line(f"{noun}-count", len(cases))
	worst = 0
	for index, spec in enumerate(cases):
		report.line(f"{noun}.{index}.spec", spec)
		outcome = run_once(seed)
		if outcome[0] < 0:  # a signal ended the evaluation: end by the same one
			signal.signal(-outcome[0], signal.SIG_DFL) if -outcome[0] not in (
				signal.SIGKILL,
				signal.SIGSTOP,
			) else None
			os.kill(os.getpid(), -outcome[0])
		worst = worst or report_case(report, mode, f"{noun}.{index}", outcome)
	report.line("check", "fail" if worst else "pass")
	return worst


if __name__ == "__main__":
	sys.exit(main(sys.argv[1:]))
