"""The stock harness for Python tasks: checks a submission and measures how long it takes.

    POPCORN_FD=N python3 eval.py MODE CASEFILE

MODE         test         check every case
             benchmark    check and time every case
             leaderboard  the same, with fresh inputs and a check for each timed run
             profile      run torch's profiler over every case; if POPCORN_NCU is 1, call each case
                          once in an NVTX range named custom_kernel, for an outside profiler
CASEFILE     one case a line: size: 128; seed: 5
POPCORN_FD   an open descriptor for the results, one `key: value` a line
POPCORN_SEED changes the seed of every case, so that the case file does not reveal it
PODIUM_WITHOUT_SUBMISSION
             if 1, no submission is loaded: the run shows whether the task fails by itself

The same folder has reference.py with generate_input(**case) and check_implementation(data, output),
utils.py, and submission.py with custom_kernel(data). Without submission.py the submission is
train.py.

Exit codes of the submission:

0    every case passed
1    the submission cannot be imported or raised an error
110  a CUDA error left the GPU unusable
112  wrong answer

Exit codes that are not the submission's fault:

2    wrong usage, or the task's files cannot be imported
111  the results cannot be written
113  a case cannot be read, or generate_input or the check fails by itself
"""

import ast
import base64
import contextlib
import copy
import dis
import gc
import importlib
import math
import os
import re
import sys
import traceback
import types
from time import perf_counter_ns

EXIT_RAISED, EXIT_USAGE, EXIT_CUDA, EXIT_REPORT, EXIT_WRONG, EXIT_CASE = 1, 2, 110, 111, 112, 113
NEEDS_CUDA = (
	"The task's reference needs CUDA, and this is the CPU device. Choose a GPU, or ask the "
	"leaderboard's creator to remove the CPU from its devices. "
)


def say(text):
	"""Writes to descriptor 2, because a submission may replace sys.stderr."""
	with contextlib.suppress(OSError):
		os.write(2, f"{text}\n".encode("utf-8", "backslashreplace"))


def stop(code, sentence):
	say(f"eval.py: {sentence}")
	sys.exit(code)


# ---- the results ----


class Report:
	"""Writes `key: value` lines to the descriptor that POPCORN_FD names."""

	def __init__(self):
		given = os.environ.pop("POPCORN_FD", None)
		if given is None:
			stop(
				EXIT_REPORT,
				"POPCORN_FD is not set. It must be the number of an open descriptor for results.",
			)
		try:
			self._fd = os.dup(int(given))
			if int(given) > 2:
				os.close(int(given))
			elif int(given) == 1:
				os.dup2(2, 1)  # the submission's output must not get into the results
		except (ValueError, OSError) as error:
			stop(
				EXIT_REPORT,
				f"POPCORN_FD is {given!r}, not the number of an open descriptor: {error}",
			)

	def line(self, key, value):
		value = str(value).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")
		rest = f"{key}: {value}\n".encode("utf-8", "backslashreplace")
		try:
			while rest:
				rest = rest[os.write(self._fd, rest) :]
		except OSError as error:
			stop(EXIT_REPORT, f"The results cannot be written: {error}")


# ---- the cases (the judge of the isolated engine uses this code, too) ----

NAME = re.compile(r"[A-Za-z_]\w*")
WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None}
INTEGER = re.compile(r"[+-]?\d+")
REAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|nan)")


class CaseError(Exception):
	"""A case file that cannot be read. The text is a sentence."""


def parse_value(text):
	if text in WORDS:
		return WORDS[text]
	if INTEGER.fullmatch(text):
		return int(text)
	if REAL.fullmatch(text):
		return float(text)
	if text.startswith(("[", "(", "{")):
		return ast.literal_eval(text)  # numbers, strings and containers of them; runs no code
	return text


def parse_case(line):
	arguments = {}
	for part in line.split(";"):
		name, colon, value = (piece.strip() for piece in part.partition(":"))
		if not colon or not NAME.fullmatch(name):
			raise ValueError(f'{part.strip()!r} is not of the form "name: value"')
		if name in arguments:
			raise ValueError(f"{name} is given twice")
		try:
			arguments[name] = parse_value(value)
		except (ValueError, SyntaxError, RecursionError, MemoryError):
			raise ValueError(
				f"the value of {name} is not a list or tuple of plain values: {value}"
			) from None
	return arguments


def read_cases(path, make_case):
	"""make_case(line) for each line of the case file. Raises CaseError."""
	try:
		with open(path, encoding="utf-8") as file:
			lines = [line.strip() for line in file]
	except (OSError, UnicodeDecodeError) as error:
		raise CaseError(f"The case file {path} cannot be read: {error}") from None
	cases = []
	for number, line in enumerate(lines, 1):
		try:
			if line:
				cases.append(make_case(line))
		except ValueError as error:
			raise CaseError(f"{path}, line {number}: {error}.") from None
	if not cases:
		raise CaseError(f"There are no cases in {path}.")
	return cases


def combine(a, b):
	"""Makes one seed of two by Cantor's pairing function: no two pairs give the same seed."""
	return a + (a + b) * (a + b + 1) // 2


class Case:
	def __init__(self, line, secret):
		self.spec = line
		self.arguments = parse_case(line)
		if secret is not None and isinstance(self.arguments.get("seed"), int):
			self.arguments["seed"] = combine(self.arguments["seed"], secret)

	def another(self, number):
		"""The arguments for the number-th input of this case."""
		if isinstance(self.arguments.get("seed"), int):
			return {**self.arguments, "seed": self.arguments["seed"] + 13 * number}
		return dict(self.arguments)


# ---- what went wrong in a case ----


class CaseFailed(Exception):
	"""A case has failed. `code`: the exit code; `text`: the reason, for people."""

	def __init__(self, code, text):
		super().__init__(text)
		self.code = code
		self.text = text


def explain(error, most_lines=12):
	"""The end of a traceback without the frames of this file."""
	frame = error.__traceback__
	while frame is not None and frame.tb_frame.f_code.co_filename == __file__:
		frame = frame.tb_next
	lines = "".join(traceback.format_exception(type(error), error, frame)).rstrip().split("\n")
	return "\n".join((["..."] if len(lines) > most_lines else []) + lines[-most_lines:])


@contextlib.contextmanager
def failing_with(code, what):
	"""Turns every exception into a CaseFailed, even SystemExit, because a submission must not end
	the harness. `what`: the subject of the sentence."""
	try:
		yield
	except (CaseFailed, KeyboardInterrupt):
		raise
	except BaseException as error:
		last = traceback.format_exception_only(type(error), error)[-1].strip()
		if code == EXIT_CASE and needs_cuda(error):
			what = NEEDS_CUDA + what
		raise CaseFailed(code, f"{what} raised {last}\n{explain(error)}") from None


# ---- whose fault an error of the check is (the judge uses this code, too) ----


def altered(value):
	"""A copy of the same form with other numbers: an output that is wrong but well-formed."""
	torch = sys.modules.get("torch")
	if torch and isinstance(value, torch.Tensor):
		return ~value if value.dtype == torch.bool else value + 1
	if isinstance(value, bool):
		return not value
	if isinstance(value, (int, float)):
		return value + 1
	if isinstance(value, (list, tuple)):
		items = [altered(item) for item in value]
		return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
	if isinstance(value, dict):
		return {key: altered(item) for key, item in value.items()}
	return value


def raised_by(function, *arguments):
	"""(what the call returned, what it raised)"""
	try:
		return function(*arguments), None
	except Exception as error:
		return None, error


def is_of_device(error):
	"""Whether the error says that the GPU is full or has failed. "Torch not compiled with CUDA
	enabled" is not such an error."""
	return type(error).__name__ == "OutOfMemoryError" or any(
		words in str(error)
		for words in ("CUDA error", "CUDA out of memory", "CUDA_ERROR", "[CUDA]", "_STATUS_")
	)


def needs_cuda(error):
	"""Whether the device is the CPU and an error of the task's own code says that CUDA is missing.
	torch, Triton and CUDA have no type for such errors, so this searches the error's text. The text
	may quote a submission's output, so the result must not decide who is at fault."""
	return os.environ.get("CUDA_VISIBLE_DEVICES") == "" and any(
		words in str(error) for words in ("CUDA", "cuda", "NVIDIA", "0 active drivers")
	)


def blames_submission(error):
	"""Whether a submission can cause the error without returning a bad output."""
	return not isinstance(error, Exception) or isinstance(error, MemoryError) or is_of_device(error)


def refuses(trace):
	"""Whether a raise or an assert statement raised the error. Then the code rejected something on
	purpose."""
	return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def is_task_fault(error, function, reference, make_input):
	"""Whether `function` of the task, check_implementation or is_output_of, raised the error by
	itself, and not because of custom_kernel's output. make_input() makes the input again.

	Calls `function` again with outputs of the right form: ref_kernel's output, and the same with
	wrong numbers. If it raises again, the task is at fault. A task without ref_kernel is at fault
	if the error is the same for every output."""
	if blames_submission(error):
		return False
	trace = error.__traceback__
	while trace.tb_next:
		trace = trace.tb_next
	if (
		isinstance(error, (NameError, ImportError))
		and not isinstance(error, UnboundLocalError)
		and trace.tb_frame.f_globals is vars(reference)
	):
		return True  # a misspelt name or a missing module: no output can cause that

	def raises_again(output, same_text=False):
		again = raised_by(lambda: function(make_input(), output))[1]
		return type(again) is type(error) and (str(again) == str(error) or not same_text)

	if callable(getattr(reference, "ref_kernel", None)):
		made, fault = raised_by(lambda: reference.ref_kernel(make_input()))
		if type(fault) is type(error):
			return True
		if fault is None and made is not None:
			wrong = None if refuses(trace) else raised_by(altered, made)[0]
			return raises_again(made) or wrong is not None and raises_again(wrong)
	data, fault = raised_by(make_input)
	parts = data if isinstance(data, (list, tuple)) else [data]
	return (
		fault is None
		and not refuses(trace)
		and all(raises_again(output, same_text=True) for output in (None, 0, (data,), *parts[:8]))
	)


@contextlib.contextmanager
def asking_task(function, reference, make_input):
	"""Turns an exception of the task's `function` into a CaseFailed that blames the task or the
	submission."""
	name = getattr(function, "__name__", "check_implementation")
	try:
		yield
	except (CaseFailed, KeyboardInterrupt):
		raise
	except BaseException as error:
		fault = is_task_fault(error, function, reference, make_input)
		what = (
			f"The submission is not at fault: the task's {name}"
			if fault
			else f"{name} could not work with what custom_kernel returned; it"
		)
		with failing_with(EXIT_CASE if fault else EXIT_RAISED, what):
			raise


# ---- tools that use torch ----


class Tools:
	"""Copies data and keeps the time. Binds torch's functions before a submission can replace
	them."""

	def __init__(self, torch, utils):
		self.tensor_types = (torch.Tensor, torch.nn.Parameter)
		self.any_tensor = torch.Tensor
		self.clone_tensor = torch.Tensor.clone
		self.detach = torch.Tensor.detach
		self.on_cuda = torch.cuda.is_available()
		self.synchronize = torch.cuda.synchronize if self.on_cuda else lambda: None
		self.flush = utils.clear_l2_cache
		self.event = torch.cuda.Event
		self.record = torch.cuda.Event.record
		self.elapsed = torch.cuda.Event.elapsed_time

	def copy(self, data, tensor, memo=None):
		"""A copy of `data`. `tensor(value)`: copies one tensor."""
		memo = {} if memo is None else memo
		if id(data) in memo:
			return memo[id(data)]
		if isinstance(data, self.any_tensor):
			made = tensor(data)
		elif type(data) in (list, set, frozenset):
			made = type(data)([self.copy(item, tensor, memo) for item in data])
		elif isinstance(data, tuple):
			items = [self.copy(item, tensor, memo) for item in data]
			made = type(data)(*items) if hasattr(data, "_fields") else tuple(items)
		elif type(data) is dict:
			made = {key: self.copy(value, tensor, memo) for key, value in data.items()}
		else:
			made = self.copy_object(data, memo)
		memo[id(data)] = made
		return made

	def copy_object(self, data, memo):
		if isinstance(data, (int, float, complex, str, bytes, type(None), types.FunctionType)):
			return data
		try:
			return copy.deepcopy(data)
		except Exception:  # a library's handle that cannot be copied
			return data

	def clone_input(self, tensor):
		return self.clone_tensor(self.detach(tensor)).requires_grad_(tensor.requires_grad)

	def clone_output(self, tensor):
		if type(tensor) not in self.tensor_types:
			raise CaseFailed(
				EXIT_WRONG,
				f"custom_kernel returned a {type(tensor).__name__}; return a plain torch.Tensor.",
			)
		return self.clone_tensor(self.detach(tensor))

	def clone(self, data):
		return self.copy(data, self.clone_input)

	def take_output(self, output):
		"""A copy of the output for the check.

		Call it as soon as the clock stops. The copy then lacks what the submission computes later,
		on another stream, in another thread or in a lazy tensor.
		"""
		if not isinstance(output, (self.any_tensor, list, tuple, dict)):
			return output
		return self.copy(output, self.clone_output)

	def time(self, kernel, data):
		"""Calls kernel(data). Returns (the output, the copy for the check, ns)."""
		gc.disable()  # the garbage collector would interrupt the call and count as its time
		try:
			return (
				self.time_on_cuda(kernel, data) if self.on_cuda else self.time_on_cpu(kernel, data)
			)
		finally:
			gc.enable()

	def time_on_cuda(self, kernel, data):
		start, end = self.event(enable_timing=True), self.event(enable_timing=True)
		self.synchronize()
		self.flush()  # also keeps the GPU busy for about 60 us while Python launches the kernel
		self.record(start)
		output = kernel(data)
		self.record(end)
		taken = self.take_output(output)
		self.synchronize()
		return output, taken, max(self.elapsed(start, end) * 1e6, 1.0)

	def time_on_cpu(self, kernel, data):
		start_ns = perf_counter_ns()
		output = kernel(data)
		end_ns = perf_counter_ns()
		return output, self.take_output(output), max(float(end_ns - start_ns), 1.0)


class Limits:
	"""When a series of timed runs ends.

	A series ends after `most_runs`, after `most_s` of measured time, or after `wall_s` in all. It
	ends earlier if the standard error after at least ten runs is below 0.1 %."""

	least_runs = 3
	least_runs_for_precision = 10
	precision = 0.001

	def __init__(self, most_runs, most_s, wall_s):
		self.most_runs, self.most_s, self.wall_s = most_runs, most_s, wall_s

	def reached(self, durations, began_ns):
		runs = len(durations)
		if runs < self.least_runs:
			return False
		mean, _, err = statistics(durations)
		return (
			runs >= self.most_runs
			or mean * runs > self.most_s * 1e9
			or perf_counter_ns() - began_ns > self.wall_s * 1e9
			or (runs >= self.least_runs_for_precision and err / mean < self.precision)
		)


# The CPU is for trying things out, so a case ends there within seconds.
LIMITS = {
	"cuda": {
		"warm-up": Limits(50, 0.3, 1),
		"benchmark": Limits(100, 10, 120),
		"leaderboard": Limits(100, 30, 120),
	},
	"cpu": {
		"warm-up": Limits(3, 0.1, 0.5),
		"benchmark": Limits(20, 1, 3),
		"leaderboard": Limits(50, 1, 3),
	},
}


def statistics(durations):
	"""(mean, standard deviation of the sample, standard error of the mean)"""
	runs = len(durations)
	mean = sum(durations) / runs
	std = (
		math.sqrt(sum((duration - mean) ** 2 for duration in durations) / (runs - 1))
		if runs > 1
		else 0.0
	)
	return mean, std, std / math.sqrt(runs)


# ---- the runs of a submission ----


def read_answer(answer):
	"""Returns (good, text) for a result of check_implementation. The result may be True or False, a
	pair of such a value and a text, or a text about what is wrong, which is empty for a right
	answer."""
	if answer is None:
		raise CaseFailed(
			EXIT_CASE, "check_implementation returned None. Return whether the output is right."
		)
	if isinstance(answer, (str, list)):
		answer = (not answer, answer)
	good, text = answer if isinstance(answer, tuple) else (answer, "")
	if isinstance(good, (str, list)):
		raise CaseFailed(
			EXIT_CASE,
			"check_implementation returned a pair that begins with a text. Return the "
			"text alone, or a pair of True or False and a text.",
		)
	return bool(good), text if isinstance(text, str) else "\n".join(map(str, text))


class Evaluation:
	def __init__(self, report, tools, reference, kernel):
		self.report, self.tools = report, tools
		self.alone = kernel is None  # no submission: wrong outputs do not count as failures
		self.kernel = kernel or self.stand_in
		self.reference = reference
		self.generate_input = reference.generate_input
		self.check_implementation = reference.check_implementation
		self.is_output_of = getattr(reference, "is_output_of", lambda data, output: True)
		self.limits = LIMITS["cuda" if tools.on_cuda else "cpu"]
		self.code = 0  # of the first case that failed
		self.lost = False  # whether a CUDA error left the GPU unusable
		self.warm = False
		self.last_words = ""

	def make_input(self, case, number=0):
		with failing_with(EXIT_CASE, "generate_input"):
			return self.generate_input(**case.another(number))

	def stand_in(self, data):
		"""For a run without a submission: an output with wrong numbers. Made from ref_kernel's
		output or, without a ref_kernel, from the last part of the input."""
		ref_kernel = getattr(self.reference, "ref_kernel", None)
		if callable(ref_kernel):
			with failing_with(EXIT_CASE, "ref_kernel"):
				return altered(ref_kernel(self.tools.clone(data)))
		return altered(data[-1] if isinstance(data, (list, tuple)) and data else data)

	def refuse(self, text):
		if not self.alone:
			raise CaseFailed(EXIT_WRONG, text)

	def run(self, data, case, number=0):
		"""Runs the kernel once on the case's input. Returns (the copy for the check, ns)."""
		with failing_with(EXIT_RAISED, "custom_kernel"):
			output, taken, duration_ns = self.tools.time(self.kernel, data)
		with self.asking(self.is_output_of, case, number):
			is_given = self.is_output_of(data, output)
		if not is_given:
			self.refuse("custom_kernel did not return the output that it was given to fill.")
		return taken, duration_ns

	def asking(self, function, case, number):
		return asking_task(function, self.reference, lambda: self.make_input(case, number))

	def check(self, data, output, case, number):
		"""Returns the check's message about a right output. Raises CaseFailed for a wrong one."""
		with self.asking(self.check_implementation, case, number):
			good, text = read_answer(self.check_implementation(data, output))
		if not good:
			self.refuse(text or "The output is wrong; check_implementation does not say where.")
		return text

	def run_checked(self, case, number=0):
		"""Runs the kernel once on a new input. The check gets a copy of the input that the kernel
		has not been given."""
		data = self.make_input(case, number)
		untouched = self.tools.clone(data)
		taken, duration_ns = self.run(data, case, number)
		return self.check(untouched, taken, case, number), duration_ns

	def time_fresh(self, case, limits):
		"""Times runs with a new input and a check each."""
		durations, began_ns = [], perf_counter_ns()
		while not limits.reached(durations, began_ns):
			durations.append(self.run_checked(case, len(durations) + 1)[1])
		return durations

	def time_same(self, case, limits):
		"""Times runs with the same input and without a check."""
		data = self.make_input(case)
		durations, began_ns = [], perf_counter_ns()
		while not limits.reached(durations, began_ns):
			durations.append(self.run(data, case)[1])
		return durations

	# The modes. Each writes the results of a case that passes, or raises CaseFailed.

	def test(self, case, key):
		message = self.run_checked(case)[0]
		if message:
			self.report.line(f"{key}.message", message)

	def benchmark(self, case, key):
		self.measure(case, key, self.time_same, self.limits["benchmark"])

	def leaderboard(self, case, key):
		self.measure(case, key, self.time_fresh, self.limits["leaderboard"])

	def measure(self, case, key, series, limits):
		self.run_checked(case)  # compiles and tunes for this shape
		if not self.warm:
			self.time_fresh(case, self.limits["warm-up"])  # raises the clocks of the GPU
			self.warm = True
		durations = series(case, limits)
		mean, std, err = statistics(durations)
		figures = {
			"runs": len(durations),
			"mean": mean,
			"std": std,
			"err": err,
			"best": min(durations),
			"worst": max(durations),
		}
		for name, figure in figures.items():
			self.report.line(f"{key}.{name}", figure)

	def profile(self, case, key):
		self.run_checked(case)
		data = self.make_input(case)
		with failing_with(EXIT_RAISED, "custom_kernel"):
			if self.tools.on_cuda and os.environ.get("POPCORN_NCU") == "1":
				return mark_call(self.kernel, data, self.tools)
			table = profile_table(self.kernel, data, self.tools)
		# Programs that read this key expect + and * in base64.
		self.report.line(f"{key}.report", base64.b64encode(table.encode(), b"+*").decode())

	# All cases.

	def fail(self, key, where, failure):
		self.report.line(f"{key}.status", "fail")
		self.report.line(f"{key}.error", failure.text[:6000])
		say(f"{where}: {failure.text}")
		if failure.code == EXIT_RAISED and self.context_is_lost():
			failure.code, self.lost = EXIT_CUDA, True
		if not self.code:
			self.code = failure.code
			self.last_words = f"{where}: {failure.text.splitlines()[0]}"

	def context_is_lost(self):
		try:
			self.tools.synchronize()
			return False
		except Exception:
			return True

	def all_cases(self, mode, cases):
		"""Runs every case, even after a failed one. Returns the exit code."""
		noun = "test" if mode == "test" else "benchmark"
		self.report.line(f"{noun}-count", len(cases))
		for index, case in enumerate(cases):
			key = f"{noun}.{index}"
			self.report.line(f"{key}.spec", case.spec)
			try:
				if self.lost:
					raise CaseFailed(
						EXIT_CUDA, "not run, because an earlier case left the GPU unusable."
					)
				getattr(self, mode)(case, key)
				self.report.line(f"{key}.status", "pass")
			except CaseFailed as failure:
				self.fail(key, f"{noun} {index + 1} of {len(cases)} ({case.spec})", failure)
		self.report.line("check", "fail" if self.code else "pass")
		if self.last_words:
			say(self.last_words)
		return self.code


def mark_call(kernel, data, tools):
	"""Makes one call in an NVTX range for ncu. Does not use torch's profiler, because two profilers
	disturb each other."""
	import torch

	tools.synchronize()
	torch.cuda.nvtx.range_push("custom_kernel")
	kernel(data)
	tools.synchronize()
	torch.cuda.nvtx.range_pop()


def profile_table(kernel, data, tools, calls=5):
	import torch
	from torch.profiler import ProfilerActivity, profile, record_function

	activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if tools.on_cuda else [])
	with profile(activities=activities) as profiler:
		for _ in range(calls):
			with record_function("custom_kernel"):
				kernel(data)
		tools.synchronize()
	averages = profiler.key_averages()
	order = "cpu_time_total"
	if tools.on_cuda:  # newer versions of torch renamed the column
		order = (
			"device_time_total"
			if averages and hasattr(averages[0], "device_time_total")
			else "cuda_time_total"
		)
	return f"{calls} calls, torch {torch.__version__}\n" + averages.table(
		sort_by=order, row_limit=30
	)


# ---- the start ----


def import_failure(error):
	advice = NEEDS_CUDA if needs_cuda(error) else ""
	return f"{advice}The task's own files cannot be imported: {type(error).__name__}: {error}"


def import_task():
	"""Imports (torch, reference, utils). Removes the task's modules from sys.modules, so that a
	submission imports its own copies and cannot change these."""
	try:
		import torch
		import utils
		import reference

		reference.generate_input, reference.check_implementation
		utils.set_seed, utils.clear_l2_cache
	except BaseException as error:
		say(explain(error))
		stop(EXIT_USAGE, import_failure(error))
	for name in ("reference", "reference_code", "utils", "task"):
		sys.modules.pop(name, None)
	return torch, reference, utils


def import_kernel():
	name = (
		"submission"
		if os.path.exists("submission.py") or not os.path.exists("train.py")
		else "train"
	)
	with failing_with(EXIT_RAISED, f"{name}.py"):
		submission = importlib.import_module(name)
	kernel = getattr(submission, "custom_kernel", None)
	if not callable(kernel):
		raise CaseFailed(EXIT_RAISED, f"{name}.py defines no function custom_kernel(data).")
	return kernel


MODES = ("test", "benchmark", "leaderboard", "profile")


def main(arguments):
	if len(arguments) != 2 or arguments[0] not in MODES:
		stop(EXIT_USAGE, f"usage: python3 eval.py {{{'|'.join(MODES)}}} CASEFILE")
	mode, path = arguments
	report = Report()
	secret = os.environ.pop("POPCORN_SEED", "") or None
	alone = os.environ.pop("PODIUM_WITHOUT_SUBMISSION", "") == "1"
	if secret is not None and not INTEGER.fullmatch(secret):
		stop(EXIT_CASE, "POPCORN_SEED is not a whole number.")
	secret = int(secret) if secret else None
	try:
		cases = read_cases(path, lambda line: Case(line, secret))
	except CaseError as error:
		stop(EXIT_CASE, error)
	torch, reference, utils = import_task()
	utils.set_seed(42 if secret is None else secret)
	tools = Tools(torch, utils)
	# A submission's `import __main__` must not find this file.
	sys.modules["__main__"] = types.ModuleType("__main__")
	try:
		kernel = None if alone else import_kernel()
	except CaseFailed as failure:
		report.line("check", "fail")
		say(failure.text)
		return failure.code
	return Evaluation(report, tools, reference, kernel).all_cases(mode, cases)


if __name__ == "__main__":
	status = main(sys.argv[1:])
	with contextlib.suppress(Exception):
		sys.stdout.flush()
		sys.stderr.flush()
	# The results are written. Threads and exit handlers of the submission must not delay the end.
	os._exit(status)
