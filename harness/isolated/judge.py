"""The judge of the isolated engine: makes inputs, keeps the time, checks outputs and decides.

The judge runs no code of a submission. Another process does, the contestant, and every byte from
the contestant is hostile. docs/judge.md explains the engine.

    POPCORN_FD=3 python3 judge.py MODE CASEFILE [MODE CASEFILE]

runs in the folder with the task's files.

MODE                   test, benchmark, leaderboard or compare; the second mode starts only when all
                       cases of the first have passed. "build" as the second mode: the judge only
                       makes the plans of these cases, and a result line "warning" reports the
                       first failure
descriptors 4, 5, ...  sockets to the other processes: the submission; for the timed modes the null
                       contestant; for compare the rival. With PODIUM_SEALED, the sockets to a
                       submission are two: the first to its builder, the second to its launcher
POPCORN_FD             an open descriptor for the results, one `key: value` a line
POPCORN_SEED           the secret behind all seeds
PODIUM_DEVICE_UUID     the GPU whose clocks and temperature the judge asks for
PODIUM_SEALED          if set, this is the judge of the sealed engine (podium_sealed_side.py). If
                       "all", no case runs when a call of one of them cannot be recorded
PODIUM_PLANS           with PODIUM_SEALED: a folder for the plans of the last mode's cases
PODIUM_HIDE            if set, other processes of the judge's user cannot read the judge's memory
PODIUM_MEMORY_MIB      the most memory that the judge may take; unset: what the machine has
PODIUM_TIME_LIMIT_S    the time limits of the modes in their order ("120 180"); 120 s by default

Exit codes of the submission:

0    every case passed
1    the submission cannot be imported or raised an error
110  a CUDA error left the GPU unusable
112  wrong answer
114  the submission did not answer in time
116  the submission violated the protocol
117  the submission's process ended
118  the rival failed, in a comparison
119  the rival's process ended, in a comparison
121  a call cannot be recorded (PODIUM_SEALED); with "all", no case was judged

Exit codes that are not the submission's fault:

2    wrong usage, or the task's files cannot be imported
111  the results cannot be written
113  a case cannot be read, or the task's generate_input or check fails or uses up the time limit
115  the task cannot be judged in two processes; no case was judged
120  the device has too little free memory now; no case was judged
"""

import base64
import contextlib
import ctypes
import fcntl
import importlib
import itertools
import json
import math
import os
import stat
import struct
import sys
import termios
import threading
import traceback
from time import monotonic, sleep

import podium_cases
import podium_staging as staging
import podium_statistics as statistics
import podium_tensors
import podium_tree as tree
import podium_wire as wire
from podium_area import strides_of
from podium_eval import (
	EXIT_CASE,
	EXIT_CUDA,
	EXIT_RAISED,
	EXIT_REPORT,
	EXIT_USAGE,
	EXIT_WRONG,
	INTEGER,
	NEEDS_CUDA,
	CaseError,
	CaseFailed,
	asking_task,
	import_failure,
	is_of_device,
	needs_cuda,
	read_answer,
	read_cases,
	say,
)
from podium_side import (
	EXIT_BUSY,
	EXIT_GONE,
	EXIT_REFUSED,
	EXIT_RIVAL,
	EXIT_RIVAL_GONE,
	EXIT_TIME,
	EXIT_UNSPLITTABLE,
	FULL_GPU,
	MOST_TEXT,
	NullFailed,
	Side,
	Stop,
	is_full,
)
from podium_words import accuse, explain

FIRST_SOCKET = 4
MODES = {
	"test": "test",
	"benchmark": "benchmark",
	"leaderboard": "benchmark",
	"compare": "benchmark",
	"build": "benchmark",
}
# In this mode the judge only makes plans. No launcher plays them.
BUILD = "build"
WITH_NONCE = ("leaderboard", "compare")
KEPT_FROM_CONTESTANTS = ("reference", "reference_code")
# Judge.charge leaves failures with these codes as they are.
NOT_CHARGED = (
	EXIT_USAGE,
	EXIT_REPORT,
	EXIT_CASE,
	EXIT_UNSPLITTABLE,
	EXIT_BUSY,
	EXIT_RIVAL,
	EXIT_RIVAL_GONE,
)
LIMIT_S = 120.0
# Limits of one call. The first call of a case compiles and tunes, so it may take half of the time
# left.
FIRST_CALL_S, CALL_S, CALL_FACTOR = 30.0, 10.0, 3.0
SHARE_FOR_CASES = 0.85  # of the time limit; the rest is for the start and for delays
NEEDED_CALLS = (
	f"{statistics.LEAST_BLOCKS * statistics.LEAST_CALLS} calls in {statistics.LEAST_BLOCKS} blocks"
)
MOST_EXTRA_S = 1.0  # for a call that starts just before the time is up
MOST_TEST_SLOTS = 2  # for inputs in a mode without timing
SETTLE_S = 2.0  # the longest wait for podium-run to read results, or for the driver to free memory
MOST_LOOKS = 40  # at the GPU's free memory
LOOK_S = 2.0  # for optional second inputs, which show whether two inputs have the same form
QUIET_WARM_CALLS = 10  # more than OWN_CALLS of contestant.py, because those calls take longer
READY_FACTOR = 20.0  # a submission may take 20 times as long as the null contestant to get ready
LEAVE_S = 10.0  # for a dismissed process to end
TRACE_S = 10.0  # for the times of the nodes of all plans
SLOWED_BY = (
	(0x4, "power cap"),
	(0x20, "temperature"),
	(0x40, "temperature (hardware)"),
	(0x80, "power brake"),
	(0x8, "hardware slowdown"),
	(0x10, "sync boost"),
)
IS_SLOW = 0x4 | 0x8 | 0x20 | 0x40 | 0x80

# ---- the results ----


class Report:
	"""Writes `key: value` lines to the descriptor that POPCORN_FD names."""

	def __init__(self):
		given = os.environ.pop("POPCORN_FD", None)
		try:
			self._fd = os.dup(int(given))
			if int(given) > 2:
				os.close(int(given))
		except (TypeError, ValueError, OSError):
			say(
				"judge.py: POPCORN_FD must be the number of an open descriptor for the results; "
				f"it is {given!r}."
			)
			os._exit(EXIT_REPORT)

	def line(self, key, value):
		value = str(value).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")
		rest = f"{key}: {value}\n".encode("utf-8", "backslashreplace")
		try:
			while rest:
				rest = rest[os.write(self._fd, rest) :]
		except OSError as error:
			say(f"judge.py: the results cannot be written: {error}")
			os._exit(EXIT_REPORT)

	def settle(self):
		"""Waits until podium-run has read the results so far. podium-run then assigns later output
		of contestants to the next part."""
		end, unread = monotonic() + SETTLE_S, struct.pack("i", 1)
		while any(unread) and monotonic() < end:
			sleep(0.0002)
			unread = fcntl.ioctl(self._fd, termios.FIONREAD, unread)


# ---- the task ----


@contextlib.contextmanager
def failing_with(code, what):
	"""Turns an exception into a CaseFailed with this code. `what`: the subject of its sentence."""
	try:
		yield
	except (CaseFailed, Stop, KeyboardInterrupt):
		raise
	except BaseException as error:
		if code != EXIT_CASE and is_of_device(error):
			raise
		if code == EXIT_CASE and needs_cuda(error):
			what = NEEDS_CUDA + what
		raise CaseFailed(code, accuse(what, error)) from None


def device_failure(error):
	"""The Stop for a GPU error in the judge itself, when a submission has filled the GPU's memory
	or made the GPU unusable."""
	if is_full(error):
		return Stop(EXIT_RAISED, FULL_GPU)
	return Stop(EXIT_CUDA, f"The judge could not use the GPU: {type(error).__name__}: {error}")


class Task:
	"""The functions of reference.py."""

	def __init__(self):
		if not os.path.exists("reference.py"):
			raise Stop(EXIT_UNSPLITTABLE, "The task has no reference.py.")
		try:
			reference = importlib.import_module("reference")
		except BaseException as error:
			say(explain(error))
			raise Stop(EXIT_USAGE, import_failure(error)) from None
		for name in ("generate_input", "check_implementation"):
			if not callable(getattr(reference, name, None)):
				raise Stop(EXIT_UNSPLITTABLE, f"The task's reference.py has no function {name}.")
		self._reference = reference
		self.generate_input, self._check = reference.generate_input, reference.check_implementation
		self._is_output_of = getattr(reference, "is_output_of", None)
		self.classes = {}

	def find_classes(self, torch):
		"""Finds the named tuples in the task's own modules that judge and contestants can both
		import."""
		here = os.getcwd() + os.sep
		for name, module in list(sys.modules.items()):
			if name not in KEPT_FROM_CONTESTANTS and (
				getattr(module, "__file__", None) or ""
			).startswith(here):
				found = [
					value
					for value in vars(module).values()
					if isinstance(value, type)
					and issubclass(value, tuple)
					and hasattr(value, "_fields")
				]
				self.classes.update(
					(f"{value.__module__}:{value.__qualname__}", value)
					for value in found
					if value.__module__ == name
				)
		if torch:
			self.classes["torch:Size"] = torch.Size

	def can_import(self, value):
		return tree.class_name(value) in self.classes

	def check(self, data, image, snapshot, make_input):
		"""Returns the check's message about a right output. Raises CaseFailed for a wrong one.
		`make_input()`: makes another input, to find out whether the check fails by itself."""
		with failing_with(EXIT_WRONG, "custom_kernel's output could not be read: it"):
			fault, output = snapshot.bool_fault(), snapshot.output_tree(self.classes)
		if fault:
			raise CaseFailed(EXIT_WRONG, fault)
		if self._is_output_of:
			given, tensors = snapshot.input_tree(image, self.classes)
			with asking_task(self._is_output_of, self._reference, make_input):
				is_given = self._is_output_of(given, snapshot.output_tree(self.classes, tensors))
			if not is_given:
				raise CaseFailed(
					EXIT_WRONG, "custom_kernel did not return the output that it was given to fill."
				)
		with asking_task(self._check, self._reference, make_input):
			good, text = read_answer(self._check(data, output))
		if not good:
			raise CaseFailed(
				EXIT_WRONG, text or "the output is wrong; check_implementation does not say where."
			)
		return text


# ---- the device while a case is measured ----


class Conditions:
	"""The GPU's clocks, power and temperature, as the driver reports them between blocks."""

	def __init__(self, uuid):
		self._uuid, self._least, self._most, self._slowed_by = uuid, {}, {}, 0

	def look(self):
		"""Asks the driver. Returns the bits of what slows the GPU down now."""
		figures, slowed_by = wire.device_look(self._uuid)
		for name, figure in figures.items():
			self._least[name] = min(figure, self._least.get(name, figure))
			self._most[name] = max(figure, self._most.get(name, figure))
		self._slowed_by |= slowed_by
		return slowed_by & IS_SLOW

	def as_json(self):
		"""One line of JSON, or None if the driver reports nothing."""
		if not self._least:
			return None
		ranges = {name: [self._least[name], self._most[name]] for name in self._least}
		return json.dumps({**ranges, "slowed_by": names_of(self._slowed_by)})


def plural(count, one, many=None):
	return f"{count} {one if count == 1 else many or one + 's'}"


def names_of(bits):
	return [name for bit, name in SLOWED_BY if bits & bit]


# ---- the time ----


class Budget:
	"""The time limit, divided among the cases."""

	def __init__(self, limit_s):
		self.limit_s, self._limit_end = limit_s, monotonic() + limit_s
		self._end = monotonic() + limit_s * 0.97
		self._end_of_cases = monotonic() + limit_s * SHARE_FOR_CASES
		# Short enough that the judge ends before podium-run kills it.
		self._least_s = min(limit_s * 0.01, MOST_EXTRA_S)

	def is_over(self):
		return monotonic() >= self._limit_end

	def left_s(self):
		return max(self._least_s, self._end - monotonic())

	def has_room(self, work_s):
		"""Whether the time limit leaves `work_s` seconds."""
		return monotonic() + work_s < self._end

	def share_s(self, cases_left):
		"""Divides the time left into `cases_left` equal shares. Returns when the first one ends."""
		return monotonic() + max(0.0, self._end_of_cases - monotonic()) / cases_left


class Patience:
	"""How long one call of a side in a case may take."""

	def __init__(self, budget):
		self._budget, self._longest_s, self._is_first = budget, 0.0, True
		self.is_short = False

	def limit_s(self):
		"""The time limit of the next call. Raises Stop if no time is left."""
		left, self.is_short = self._budget.left_s(), True
		if self._budget.is_over():
			raise Stop(EXIT_TIME, "No time was left for the next call.")
		usual = (
			max(FIRST_CALL_S, left / 2)
			if self._is_first
			else max(CALL_S, CALL_FACTOR * self._longest_s)
		)
		self.is_short = left < usual  # because earlier calls used up the time
		return min(left, usual)

	def note(self, took_s):
		self._is_first, self._longest_s = False, max(self._longest_s, took_s)


# ---- one case ----


class HostPartVaries(Exception):
	"""All earlier inputs of the case had the same part on the host, and a new input has another
	one."""


class Plan:
	"""What the judge knows about a case and has reserved for it before it loads a submission.

	`image`: an input. `slots`: how many inputs fit into a contestant's memory. `is_handed`: whether
	the part on the host differs from input to input. Then the contestant must not have it before
	the clock runs. A part that never changes is no secret. `quiet`: what the null contestant's
	calls take while no submission is loaded.
	"""

	def __init__(self, image, slots):
		self.image, self.slots, self.is_handed = image, slots, False
		self.quiet = statistics.no_quiet()

	def room_bytes(self):
		return strides_of(self.image.slot_bytes())[0] * self.slots

	def forget_device(self):
		"""Frees the input's part on the device."""
		self.image.flats[0] = None


class Measurement:
	"""The counted calls of one side in a case.

	`own`: times that the submission measured. `repeated`: how many blocks were measured again.
	`late`: for how many calls the submission got ready late. `notes`: the disturbances of blocks
	that count. `rest`: the number of calls of a last block that the time limit cut short; the block
	does not count.
	"""

	def __init__(self, side, conditions):
		self.side, self.conditions = side, conditions
		self.blocks, self.own, self.repeated, self.late, self.notes = [], [], 0, 0, []
		self.rest = 0

	def values(self, rule):
		return statistics.values_of(self.blocks, rule)

	def stand_for(self, other):
		"""Takes the place of `other`, an attempt that does not count: adds its blocks to the
		repeated ones."""
		self.repeated += other.repeated + len(other.blocks)
		self.own += other.own

	def is_enough(self, rule):
		"""Whether the case may end. Computes the blocks' values only at a look, because that takes
		time."""
		return len(self.blocks) in rule.looks and statistics.is_enough(self.values(rule), rule)


class Trial:
	"""One case and its contestants.

	`null`: None if nothing is timed. `until`: when the case's time is up. `series`: part of the
	seeds' purpose, so that each trial of a case has its own inputs.
	"""

	least_blocks = 0  # which the case gets even after `until`, while the time limit has room
	pair_s = 0.0  # how long the last pair of calls took

	def __init__(self, judge, case, null, until, series=""):
		self.judge, self.case, self.null, self.until, self.series = judge, case, null, until, series
		self.plan = judge.plans[case]
		self.conditions = Conditions(judge.uuid)
		self.device, self.task, self.rule = judge.device, judge.task, judge.rule
		self.patience = {}
		self.begun = []
		self.numbers = itertools.count()  # of inputs; no number is used twice
		self._after = None  # where the duration of the next head goes; None: nowhere

	def fresh(self, purpose, number=None):
		return self.judge.make(
			*self.case.fresh(
				purpose + self.series, next(self.numbers) if number is None else number
			)
		)

	def need_slots(self, side, image):
		"""Gives a side its memory at its first call, because a side reads its frames only when it
		is called."""
		if side in self.begun:
			return
		slots = self.plan.slots if self.null else min(self.plan.slots, MOST_TEST_SLOTS)
		side.choose(self.case)
		side.begin(image, self.device, slots, self.plan.is_handed)
		self.begun.append(side)

	def play(self, side, data, image, pinned=True):
		"""Makes one call and checks the output. Returns (Taken, the check's message), or (None, "")
		if the output has a new form, which the judge has then learned."""
		try:
			return self._play(side, data, image, pinned)
		except (CaseFailed, Stop) as failure:
			if failure.code == EXIT_TIME and self.patience[side].is_short:
				raise self.judge.time_is_up(failure, side) from None
			raise self.judge.charge(failure, side) from None

	def _play(self, side, data, image, pinned):
		patience = self.patience[side]
		if not self.plan.is_handed and not image.has_same_host_part(self.plan.image):
			raise HostPartVaries()
		self.need_slots(side, image)
		began = monotonic()
		try:
			taken = side.play(image, patience.limit_s(), pinned)
		finally:
			side.spent_s += monotonic() - began
		patience.note(monotonic() - began)
		if taken is None:
			side.learn_spec(self.task.classes)
			return None, ""
		self._note_head(taken, None)
		message = self.judge.ask_task(
			lambda: self.task.check(
				data,
				image,
				taken.snapshot,
				lambda: self.judge.generate(*self.case.fresh("again", 0)),
			)
		)
		side.examine_late(taken)
		return taken, message

	def play_null(self, side, image, heads=None, waits=True):
		self.need_slots(self.null, image)
		self.null.follow(side, self.task.classes)
		# Wait as long as the submission's last call took, because a judge that has waited is slower
		# afterwards. With equal waits, the judge's own work differs only by what the submission has
		# left on the device.
		taken = self.null.play(
			image, FIRST_CALL_S, least_ns=min(self.rule.wait_ns, side.latest_ns()) if waits else 0.0
		)
		if taken is None:
			raise Stop(EXIT_USAGE, "The null contestant does not know what to return.")
		self._note_head(taken, heads)
		return taken

	def _note_head(self, taken, heads):
		"""Appends the duration of a call's head, the judge's work on the device before the call, to
		the list that the previous call chose. A long head shows that the previous call left work on
		the device. `heads`: the list for the next head, or None."""
		if self._after is not None:
			self._after.append(taken.head_ns)
		self._after = heads

	def prepare(self, sides):
		"""Calls each side once, without counting the call. The side compiles in this call, and the
		judge learns the form of the side's output."""
		self.patience = {side: Patience(self.judge.budget) for side in sides}
		data, image = self.fresh("prepare")
		for side in sides:
			self.play(side, data, image, pinned=False)

	def test(self, side):
		"""Judges the case with the seed in the case file. Returns the check's message."""
		data, image = self.judge.make(*self.case.as_written())
		while True:  # ends, because the judge limits how often an output may change its form
			taken, message = self.play(side, data, image, pinned=False)
			if taken:
				return message

	def warm_up(self, measurement):
		"""Makes pairs of calls that do not count. The time of the second pair chooses the rule,
		because the first includes mapping the null contestant's memory."""
		began, self.rule = monotonic(), self.judge.rule
		for number in range(self.rule.most_warm_calls):
			calling = monotonic()
			if number >= self.rule.least_warm_calls and calling >= began + self.rule.warm_s:
				break
			self.pair(measurement, None)
			if number == 1:
				self.rule = statistics.rule_for(self.judge.rule, monotonic() - calling)
		if self.rule.least_warm_calls < self.judge.rule.least_warm_calls:
			self.warm_null(measurement.side)
		return self.rule

	def warm_null(self, side):
		"""Calls the null contestant as often as the warm-up of short calls does, because its first
		calls take longer."""
		_, image = self.fresh("timed")
		for _ in range(self.judge.rule.least_warm_calls):
			self.play_null(side, image, waits=False)
		self._after = None

	def pair(self, measurement, block, number=None):
		"""Calls the contestant and the null contestant in random order with one input. `block`:
		None if the calls do not count."""
		began = monotonic()
		data, image = self.fresh("timed", number)
		entry, null = None, None
		for is_null in self.device.random.sample((False, True), 2):
			if is_null and measurement.side.spec:
				null = self.play_null(measurement.side, image, block.null_heads if block else None)
				null.is_after = entry is not None
			elif not is_null:
				entry, _ = self.play(measurement.side, data, image)
				self._after = block.heads if block else None
		if entry and entry.own_ns is not None:
			measurement.own.append(entry.own_ns)
		if (
			block
			and entry
			and null
			and entry.is_steady
			and null.is_steady
			and self.is_ready(measurement, entry, null)
		):
			block.calls.append(entry)
			block.null.append(null)
			block.pair_s.append(monotonic() - began - entry.ready_ns / 1e9)
		self.pair_s = monotonic() - began

	def is_ready(self, measurement, entry, null):
		"""Whether the submission got ready in time. If it did not, the call does not count, and too
		many such calls are a violation."""
		if entry.ready_ns <= max(self.rule.ready_ns, READY_FACTOR * null.ready_ns):
			return True
		measurement.late += 1
		if measurement.late > statistics.MOST_LATE:
			raise self.judge.charge(
				measurement.side.violation(
					f"took {entry.ready_ns / 1e6:.0f} ms to get ready for a call, several times"
				),
				measurement.side,
			)
		return False

	def needs_blocks(self, measurement):
		return len(measurement.blocks) < self.least_blocks

	def is_over(self, measurement):
		"""Whether the case's time is up. A case that needs blocks for its interval continues while
		the time limit has room for another pair of calls."""
		if self.needs_blocks(measurement):
			return not self.judge.budget.has_room(self.pair_s)
		return monotonic() >= self.until

	def is_block_over(self, measurement, calls):
		"""Whether a block ends before it has all its calls."""
		if self.needs_blocks(measurement):
			has_fewest = calls >= statistics.LEAST_CALLS
			return self.is_over(measurement) or has_fewest and monotonic() >= self.until
		before = sum(len(other.calls) for other in measurement.blocks)
		return self.is_over(measurement) and before + calls >= statistics.LEAST_CALLS

	def block(self, measurement, first=None):
		"""Measures a block. `first`: the number of the block's first input, so that blocks with the
		same `first` get the same inputs; None: new inputs."""
		block = statistics.Block(measurement.side.delta_ns)
		measurement.side.settle_form()
		numbers = itertools.count(first) if first is not None else itertools.repeat(None)
		controls = set(self.device.random.sample(range(self.rule.calls), self.rule.controls))
		for place in itertools.count():
			calls = len(block.calls)
			if calls >= self.rule.calls or self.is_block_over(measurement, calls):
				break
			self.pair(measurement, block, next(numbers))
			if place in controls:
				block.controls.append(self.null.run_empty(self.device))
				self._after = None
		for _ in range(self.rule.bells):
			block.bells.append(self.null.do_nothing())
		self._after = None
		if self.rule.most_calibrations:
			spec = self.null.spec
			block.quiet = statistics.with_copies(self.plan.quiet, spec.copy_ns(), spec.take_ns())
		block.slowed_by = self.conditions.look()
		for call in block.calls + block.null:
			call.snapshot = None
		return block

	def why_again(self, block, others):
		"""Why a block should be measured again, or None. `others`: the case's other blocks."""
		if block.slowed_by:
			return f"the GPU was slowed down ({', '.join(names_of(block.slowed_by))})"
		least = statistics.negligible([block], self.rule)
		if block.disturbance(self.rule) > least:
			return "empty kernels took longer than before"
		if block.constant_moved(self.rule):
			return "the constant changed"
		if block.overrun(others, self.rule) > least:
			return "the GPU was at work before or after the calls"
		return "some calls took another time than the rest" if block.is_uneven(self.rule) else None

	def measure(self, side):
		"""Measures a case. Measures it again if empty kernels took longer over all blocks, or if
		many blocks were disturbed and less than enough_s have passed: the machine may have drifted
		and recovered. An attempt that the time limit cut short never replaces an earlier one."""
		began = monotonic()
		kept = self.attempt(side)
		self.refuse_few_blocks(kept)
		self.least_blocks = 0
		for _ in range(1, statistics.MOST_ATTEMPTS):
			is_soon = monotonic() - began < self.rule.enough_s
			is_spoiled = statistics.are_spoiled(len(kept.notes), len(kept.blocks))
			if monotonic() >= self.until or not (self.has_drifted(kept) or is_spoiled and is_soon):
				break
			other = self.attempt(side)
			if other.is_enough(self.rule):
				kept, other = other, kept
			kept.stand_for(other)
		if statistics.delays_probes(kept.blocks, self.rule):
			raise self.judge.charge(
				side.violation(
					"said that its output was complete, and kept the GPU from showing it "
					"to the judge "
					"until it was"
				),
				side,
			)
		return kept

	def refuse_few_blocks(self, measurement):
		"""Raises Stop if the time limit had no room for the blocks that a ranked time needs. Other
		modes show a time without an interval."""
		is_ranked = self.needs_blocks(measurement) and self.judge.part.mode == "leaderboard"
		if measurement.blocks and not is_ranked:
			return
		calls = sum(len(block.calls) for block in measurement.blocks) + measurement.rest
		text = (
			f"The submission is too slow for this time limit: {plural(calls, 'call')} fitted, and "
			f"a time needs {NEEDED_CALLS}."
		)
		raise self.judge.time_is_up(Stop(EXIT_TIME, text), measurement.side)

	def has_drifted(self, measurement):
		blocks = measurement.blocks
		return statistics.steady_disturbance(blocks, self.rule) > statistics.negligible(
			blocks, self.rule
		)

	def attempt(self, side):
		measurement = Measurement(side, self.conditions)
		self.warm_up(measurement)
		self.conditions.look()
		began = monotonic()
		while not (
			measurement.is_enough(self.rule)
			or statistics.is_long_enough(len(measurement.blocks), monotonic() - began, self.rule)
		):
			block = self.block(measurement)
			has_few = len(block.calls) < statistics.LEAST_CALLS
			if has_few and (measurement.blocks or self.least_blocks):
				measurement.rest = len(block.calls)
				break
			if not measurement.blocks and self.is_faster(block):
				continue
			why = self.why_again(block, measurement.blocks)
			may_repeat = statistics.may_repeat(measurement.repeated, len(measurement.blocks))
			if why and may_repeat and monotonic() < self.until:
				measurement.repeated += 1
				continue
			measurement.blocks.append(block)
			if why:
				measurement.notes.append(why)
			if self.is_over(measurement):
				break
		return measurement

	def is_faster(self, block):
		"""Whether the first block's calls were so much faster than those of the warm-up that the
		rule for short calls applies, which this function then sets. Otherwise a submission that is
		slow in the warm-up would be called less often. Getting ready does not count as slow,
		because it is not charged."""
		usual = statistics.rule_for(
			self.judge.rule, statistics.median(block.pair_s) if block.pair_s else 0.0
		)
		if usual.calls <= self.rule.calls:
			return False
		self.rule = usual
		return True

	def compare(self, entry, rival):
		"""Measures blocks of both sides in the order ABBA, each pair with the same inputs. Returns
		both measurements."""
		both = [Measurement(side, self.conditions) for side in (entry, rival)]
		self.rule = max(
			[self.warm_up(measurement) for measurement in both], key=lambda rule: rule.calls
		)
		self.conditions.look()
		first = 1 << 20
		for pair in itertools.count():
			blocks = {}
			for measurement in both if pair % 2 == 0 else both[::-1]:
				blocks[measurement] = self.block(measurement, first)
			first += 1 << 10
			self.accept(both, blocks)
			if both[0].blocks and (monotonic() >= self.until or self.is_decided(both)):
				return both

	def is_decided(self, both):
		"""Whether the comparison may end. Computes the blocks' values only at a look, because that
		takes time."""
		return len(both[0].blocks) in self.rule.pair_looks and statistics.is_decided(
			*(one.values(self.rule) for one in both), self.rule
		)

	def accept(self, both, blocks):
		"""Keeps a pair of blocks unless one of them must be measured again or has too few calls."""
		whys = [self.why_again(block, measurement.blocks) for measurement, block in blocks.items()]
		whys = [why for why in whys if why]
		may_repeat = statistics.may_repeat(both[0].repeated, len(both[0].blocks))
		if whys and may_repeat and monotonic() < self.until:
			both[0].repeated += 1
			return
		if (
			min(len(block.calls) for block in blocks.values()) < statistics.LEAST_CALLS
			and both[0].blocks
		):
			return
		both[0].notes.extend(dict.fromkeys(whys))
		for measurement in both:
			measurement.blocks.append(blocks[measurement])

	def end(self):
		for side in self.begun:
			side.end()


# ---- all cases ----


class Part:
	"""A mode with its cases."""

	def __init__(self, mode, path, secret, limit_s):
		self.mode, self.noun, self.limit_s = mode, MODES[mode], limit_s
		self.is_timed = self.noun == "benchmark" and mode != BUILD
		self.seeds = podium_cases.Seeds(secret, mode in WITH_NONCE)
		self.cases = read_cases(path, lambda line: podium_cases.Case(line, self.seeds))


class Judge:
	sealed = ""  # PODIUM_SEALED. If set, launchers play what builders have recorded.
	plans_folder = ""  # PODIUM_PLANS

	def __init__(self, report, parts):
		self.report = report
		self.parts = [part for part in parts if part.mode != BUILD]
		self.only_built = [part for part in parts if part.mode == BUILD]
		self.code, self.last_words = 0, ""
		self.is_lost = False  # whether a CUDA error left the GPU unusable
		self.entry, self.rival, self.plans = None, None, {}
		self.begin(self.parts[0])

	def open(self, torch, is_cuda, task):
		tensors = podium_tensors.Tensors(torch, is_cuda) if torch else None
		if is_cuda:
			torch.zeros(1, device=tensors.device)
			wire.cuda_open()
		self.device, self.task = staging.Device(tensors), task
		self.rule = statistics.RULES["cuda" if is_cuda else "cpu"]
		self.inputs = podium_cases.Inputs(task.generate_input, torch, self.device.poison)
		self.uuid = os.environ.get("PODIUM_DEVICE_UUID", "") if is_cuda else ""

	def begin(self, part):
		self.part, self.budget = part, Budget(part.limit_s)
		self.task_s = 0.0  # in the task's own code
		for side in self.loaded():
			side.spent_s = 0.0

	def generate(self, arguments, generators_seed):
		with failing_with(EXIT_CASE, "generate_input"):
			return self.inputs.make(arguments, generators_seed)

	def make(self, arguments, generators_seed):
		"""(data, image): a new input and its bytes."""
		data = self.ask_task(lambda: self.generate(arguments, generators_seed))
		try:
			description = podium_cases.describe(data, self.device.tensors, self.task.can_import)
			return data, staging.Image(description, self.device)
		except tree.Unsplittable as fault:
			raise Stop(EXIT_UNSPLITTABLE, fault.sentence("The input") + ".") from None

	def look_at_inputs(self, sides):
		"""Makes the plans of all cases. Raises Stop if the task cannot be split.

		Makes one input for each case, and a second one for timed cases with a part on the host, to
		see whether that part changes. The other cases get a second input only while time permits.
		"""
		end = monotonic() + LOOK_S
		for part in self.parts:
			for case in part.cases:
				self.plans[case] = self.look_at(case, part, sides, monotonic() < end)

	def look_at(self, case, part, sides, has_time):
		mismatch = self.inputs.mismatch(case.arguments)
		if mismatch:
			raise Stop(
				EXIT_UNSPLITTABLE,
				f"generate_input does not take the arguments of the case {case.spec}: {mismatch}.",
			)
		image = self.make(*case.fresh("look", 0))[1]
		self.need_room(image)
		plan = Plan(
			image, self.device.slots_for(sum(image.slot_bytes()), sides if part.is_timed else 1)
		)
		has_host_part = image.slot_bytes()[1] > 0
		needs_same = part.is_timed or bool(self.sealed)
		plan.is_handed = has_host_part and not needs_same
		if has_time or has_host_part and needs_same:
			other = self.make(*case.fresh("look", 1))[1]
			if other.form != image.form:
				raise Stop(
					EXIT_UNSPLITTABLE,
					f"Two inputs of the case {case.spec} have different forms: shapes, types, or "
					"views of each other.",
				)
			plan.is_handed |= not image.has_same_host_part(other)
		if self.sealed and plan.is_handed:
			raise self.host_part_varies(case)
		if not part.is_timed or not self.rule.most_calibrations:
			plan.forget_device()
		return plan

	@staticmethod
	def host_part_varies(case):
		"""The Stop for a task whose inputs differ on the host. The sealed engine cannot judge it,
		because a plan has no data on the host."""
		return Stop(
			EXIT_UNSPLITTABLE,
			f"Two inputs of the case {case.spec} differ in numbers, texts, flags or tensors on the "
			"CPU. The sealed engine needs inputs that differ only in tensors on the GPU.",
		)

	def need_room(self, image):
		"""Raises Stop if there is no room for six inputs. If the device could never have enough,
		the task cannot be split. If only the free memory is too small now, the job can run
		later."""
		slot_bytes, device = sum(image.slot_bytes()), "GPU" if self.device.is_cuda else "machine"
		words = (
			f"An input takes {slot_bytes / 2**20:,.0f} MiB. The judge needs six at a time, but "
			f"the {device} "
		)
		usable, free = self.device.usable_bytes(), self.device.free_bytes()
		if 6 * slot_bytes > usable:
			raise Stop(EXIT_UNSPLITTABLE, f"{words}has only room for {usable / 2**20:,.0f} MiB.")
		if 6 * slot_bytes > free:
			raise Stop(
				EXIT_BUSY,
				f"{words}is busy: only {free / 2**20:,.0f} of {usable / 2**20:,.0f} MiB are free.",
			)

	def take_room(self, sides):
		"""Gives every side device memory for the inputs of any case."""
		for side in sides:
			side.give_room(max((plan.room_bytes() for plan in self.plans.values()), default=0))
			if not side.is_null:
				side.await_mapped()
		self.room_bytes = self.device.free_bytes()  # for the submissions

	def measure_quiet(self, null, others):
		"""Measures the null contestant's calls in each timed case while no submission is loaded.
		Takes turns with the other sides, as the later measurements do. Also runs empty kernels
		between the calls, as the later controls do."""
		if not self.rule.most_calibrations:
			return
		self.device.measure_copies()
		for case in itertools.chain.from_iterable(
			part.cases for part in self.parts if part.is_timed
		):
			plan = self.plans[case]
			null.begin(plan.image, self.device, plan.slots, plan.is_handed)
			null.return_nothing()
			calls, empty = [], []
			for _ in range(QUIET_WARM_CALLS + self.rule.calls):
				calls.append(null.play(plan.image, FIRST_CALL_S, probes_input=True))
				empty.append(null.run_empty(self.device))
				for side in others:
					side.run_empty(self.device)
			calls, empty = calls[QUIET_WARM_CALLS:], empty[QUIET_WARM_CALLS:]
			plan.quiet = statistics.quiet_of(calls)
			plan.quiet.empty_ns = max(null.quiet_ns, statistics.center(empty))
			if plan.image.slot_bytes()[0]:
				plan.quiet.probed_ns = statistics.center([call.probed_ns for call in calls])
			null.end()
			plan.forget_device()

	def calibrate(self, side, null):
		"""Measures how much longer an empty kernel takes in the side's process than in the null
		contestant's, before a submission is loaded. All memory is mapped by then, because mapping
		can make an empty kernel take longer. A first block only shows when an empty kernel ends:
		the gates open shortly before that."""
		if not self.rule.most_calibrations:
			return
		deltas, quiet = [], []
		while not statistics.is_calibrated(deltas[1:], self.rule):
			both = {side: [], null: []}
			for _ in range(self.rule.calls):
				for one in self.device.random.sample((side, null), 2):
					both[one].append(one.run_empty(self.device))
			deltas.append(statistics.center(both[side]) - statistics.center(both[null]))
			quiet.append(statistics.center(both[null]))
			for one in (side, null) if len(quiet) == 1 else ():
				one.open_at(max(0.0, quiet[0] - self.rule.open_before_ns))
		side.delta_ns, null.quiet_ns = statistics.center(deltas[1:]), statistics.center(quiet[1:])

	def run(self, entry, null):
		"""Runs the parts in order, up to the first with a failed case. Returns the exit code."""
		for part in self.parts:
			if part is not self.part:
				self.report.settle()
				self.begin(part)
			self.run_part(entry, null if part.is_timed else None)
			if self.code:
				break
		if self.last_words:
			say(self.last_words)
		if self.plans_folder and self.part.mode == "leaderboard" and not self.code:
			self.trace(entry)
		return self.code

	def run_part(self, entry, null):
		"""Runs every case, even after a failed one."""
		part = self.part
		self.report.line(f"{part.noun}-count", len(part.cases))
		if part.seeds.nonce:
			self.report.line("nonce", part.seeds.nonce.hex())
		if part.mode == "compare":
			self.compare(entry, null)
		else:
			for index, case in enumerate(part.cases):
				with self.reporting(index, case):
					made = self.try_case(
						lambda: Trial(
							self, case, null, self.budget.share_s(len(part.cases) - index)
						),
						entry,
					)
					self.tell(index, case, [*self.lines_of(made), ("status", "pass")])
				if self.plans_folder and part is self.parts[-1]:
					self.save_plan(entry, index, case)
		self.report.line("check", "fail" if self.code else "pass")

	def save_plan(self, entry, index, case):
		try:
			os.makedirs(self.plans_folder, exist_ok=True)
			entry.save_plan(case, self.plans_folder, str(index))
		except OSError as error:  # the run's result counts, whether or not its plans are shown
			say(f"The plan of the case {case.spec} could not be saved: {error}")
			self.plans_folder = ""

	def trace(self, entry):
		"""Adds to each saved plan the times at which its nodes run. All results are already written
		and count without these times, so a failure here is not an error. When the time for this is
		over, the process exits, whatever it is waiting for."""
		alarm = threading.Timer(min(TRACE_S, self.budget.left_s()), self.give_up_trace)
		alarm.daemon = True
		alarm.start()
		try:
			for index, case in enumerate(self.part.cases):
				self.trace_case(entry, index, case)
		except Exception as error:
			say(f"Some plans have no times: {error}")
		alarm.cancel()

	def trace_case(self, entry, index, case):
		trial = Trial(self, case, None, None)
		_, image = trial.fresh("trace")
		trial.need_slots(entry, image)
		entry.trace(image)
		trial.end()
		if self.plans_folder:
			self.save_plan(entry, index, case)

	@staticmethod
	def give_up_trace():
		say("Some plans have no times, because tracing them took too long.")
		os._exit(0)

	@contextlib.contextmanager
	def reporting(self, index, case):
		"""Reports a case's failure, or adds the case to the sentence of a Stop."""
		where = f"{self.part.noun} {index + 1} of {len(self.part.cases)} ({case.spec})"
		try:
			yield
		except CaseFailed as failure:
			self.fail(index, where, case, failure)
		except Stop as end:
			raise Stop(
				end.code,
				end.sentence
				if end.code == EXIT_UNSPLITTABLE
				else f"{where[0].upper()}{where[1:]}: {end.sentence}",
			) from None

	def try_case(self, make_trial, *sides):
		"""Returns the result of a case that passes: the check's message, one Measurement, or two.
		Starts again with is_handed if the inputs' part on the host varies although the first inputs
		had the same."""
		if self.is_lost:
			raise CaseFailed(EXIT_CUDA, "not run, because an earlier case left the GPU unusable.")
		trial = make_trial()
		try:
			return self.try_once(trial, *sides)
		except HostPartVaries:
			if self.sealed:
				raise self.host_part_varies(trial.case) from None
			trial.plan.is_handed = True
			again = make_trial()
			again.series += " again"
			return self.try_once(again, *sides)

	def try_once(self, trial, *sides):
		try:
			trial.prepare(sides)
			if not self.part.is_timed:
				return trial.test(sides[0])
			is_pair = len(sides) > 1
			most_s = self.rule.most_pairs_s if is_pair else self.rule.most_s
			trial.until = min(trial.until, monotonic() + most_s)
			if self.part.mode != "compare":
				trial.least_blocks = statistics.LEAST_BLOCKS
			return trial.compare(*sides) if is_pair else trial.measure(*sides)
		finally:
			trial.end()

	def lines_of(self, shown):
		if isinstance(shown, Measurement):
			return self.figures(shown)
		return [("message", shown)] if shown else []

	def compare(self, entry, null):
		"""Measures the rival alone, then both in turns, then the submission alone.

		The rival is measured before the submission is loaded, the submission after the rival has
		left. So a side can disturb the other one only in the turns. The first failure ends the
		comparison, and the side that failed loses it.
		"""
		steps = [(self.rival,), (entry, self.rival), (entry,)]
		found = {case: [] for case in self.part.cases}
		for step, sides in enumerate(steps):
			if step == 1:
				self.load(entry)
			elif step == 2:
				self.see_off_rival()
			for index, case in enumerate(self.part.cases):
				parts_left = sum(map(len, steps[step + 1 :])) * len(self.part.cases) + len(
					sides
				) * (len(self.part.cases) - index)
				with self.reporting(index, case):
					found[case].append(
						self.try_case(
							lambda: Trial(
								self,
								case,
								null,
								self.budget.share_s(parts_left / len(sides)),
								"" if len(sides) > 1 else " alone",
							),
							*sides,
						)
					)
					if step == len(steps) - 1:
						self.tell(index, case, [*self.comparison(*found[case]), ("status", "pass")])
				if self.code:
					return

	# ---- whose fault a failure is ----

	def loaded(self):
		return [side for side in (self.rival, self.entry) if side and side.is_loaded]

	def charge(self, failure, side=None):
		"""Returns the exception for a failure (a CaseFailed or Stop) that `side` caused. `side`:
		None if the judge itself failed, perhaps because a submission has taken its memory.

		The rival's failure becomes a Stop. No side is charged if no submission is loaded, nor if
		the other side holds so much memory that this one may have found no room.
		"""
		if failure.code in NOT_CHARGED:
			return failure
		loaded = self.loaded()
		if side is None and len(loaded) == 1:
			side = loaded[0]
		if len(loaded) == 2:
			hog = self.find_hog([one for one in loaded if one is not side])
			if side and hog:
				return Stop(
					EXIT_USAGE,
					f"{hog.noun} uses over half of the GPU's memory, so the failure "
					f"of the other one decides nothing. {failure}",
				)
			side = side or hog
		if side not in loaded:
			return Stop(EXIT_USAGE, str(failure))
		if side is not self.rival:
			return failure
		if failure.code == EXIT_GONE:
			return Stop(EXIT_RIVAL_GONE, str(failure))
		return Stop(
			EXIT_RIVAL,
			f"{side.noun} failed: {failure}" if isinstance(failure, CaseFailed) else str(failure),
		)

	def find_hog(self, suspects):
		"""Returns the suspect that holds over half of the memory that submissions may use, or does
		not leave; or None. Dismisses the suspects to find out, so the run must end then."""
		for side in suspects if self.device.is_cuda else ():
			before = self.settled_free_bytes()
			if not side.leave(LEAVE_S) or self.settled_free_bytes() - before > self.room_bytes / 2:
				return side
		return None

	def settled_free_bytes(self):
		"""Returns the GPU's free memory once it no longer changes, because the driver frees the
		memory of a process some time after the process's socket has closed."""
		free = self.device.free_bytes()
		for _ in range(MOST_LOOKS):
			sleep(SETTLE_S / MOST_LOOKS)
			before, free = free, self.device.free_bytes()
			if free == before:
				break
		return free

	def ask_task(self, ask):
		"""Runs the task's own code. If the code fails while a submission is loaded, runs it again
		without the submission, which may have taken the memory that the code needs."""
		began = monotonic()
		try:
			return self._ask_task(ask)
		finally:
			self.task_s += monotonic() - began

	def _ask_task(self, ask):
		try:
			return ask()
		except CaseFailed as failure:
			error, loaded = failure.__context__, self.loaded()
			if failure.code != EXIT_CASE or not self.device.is_cuda or not loaded:
				raise
			end = Stop(EXIT_CASE, failure.text)
			charged = self.charge_if_mended(end, lambda: self.succeeds(ask))
			if charged is end and error and is_of_device(error) and len(loaded) == 1:
				charged = self.charge_alone(loaded[0], device_failure(error))
			raise charged from None

	@staticmethod
	def succeeds(ask):
		"""Whether the task's code runs without an error of its own."""
		try:
			ask()
		except CaseFailed as failure:
			return failure.code != EXIT_CASE
		except Exception:
			return False
		return True

	def charge_if_mended(self, failure, works):
		"""Dismisses the loaded submissions one after the other. Returns the charge for the first
		that does not leave, or after whose end `works()` is true; otherwise `failure`. The run must
		end then."""
		for side in self.loaded():
			charged = self.charge_alone(side, failure)
			if not side.leave(LEAVE_S):
				return charged
			if self.device.is_cuda:
				self.settled_free_bytes()
			if works():
				return charged
		return failure

	def charge_alone(self, side, failure):
		return Stop(
			EXIT_RIVAL if side is self.rival else EXIT_RAISED,
			f"{side.noun} kept the judge from working; without it, the judge works. {failure}",
		)

	def blame(self, failure, null):
		"""Returns the Stop for a failed null contestant. If the null contestant works once a
		submission has left, that submission is at fault."""

		def works():
			try:
				null.resume()
				null.run_empty(self.device if self.device.is_cuda else None)
			except NullFailed:
				return False
			return True

		return self.charge_if_mended(Stop(EXIT_USAGE, str(failure)), works)

	def see_off_rival(self):
		if not self.rival.leave(LEAVE_S):
			raise Stop(
				EXIT_RIVAL,
				f"{self.rival.noun}'s process did not end within {LEAVE_S:.0f} s "
				"after its dismissal.",
			)

	def load(self, side):
		try:
			with self.spending(side):
				side.load()
				side.await_ready(self.budget.left_s())
				if self.sealed:
					self.build(side)
		except (CaseFailed, Stop) as failure:
			if failure.code == EXIT_TIME:
				raise self.time_is_up(failure, side) from None
			raise self.charge(failure, side) from None

	@contextlib.contextmanager
	def spending(self, side):
		"""Counts the judge's time in the block as the side's, except that of the task's code."""
		began, before_s = monotonic(), self.task_s
		try:
			yield
		finally:
			side.spent_s += monotonic() - began - (self.task_s - before_s)

	def build(self, side):
		"""Lets the side's builder make the plans of all cases. Then the submission's process must
		end, and its work on the GPU, so that nothing of it is left when calls begin."""
		for part in self.parts + self.only_built:
			if not self.build_part(side, part):
				break
		if not side.see_off_builder(LEAVE_S):
			raise Stop(
				EXIT_TIME,
				f"{side.noun}'s process did not end within {LEAVE_S:.0f} s after its dismissal.",
			)
		if self.device.is_cuda:
			self.settled_free_bytes()
		self.device.rest()

	def build_part(self, side, part):
		"""Returns whether the builder can make other plans."""
		has_warned = part is self.part
		for index, case in enumerate(part.cases):
			if part in self.only_built and not self.budget.has_room(self.budget.limit_s / 2):
				return False
			image = self.make(*case.fresh("build", 0))[1]
			limit_s = Patience(self.budget).limit_s()
			failure = side.build(case, image, self.task.classes, limit_s)
			if part in self.only_built:
				side.forget(case)
			if self.sealed == "all" and failure and failure.code == EXIT_REFUSED:
				raise Stop(EXIT_REFUSED, f"The case {case.spec}: {failure.text}")
			if failure and not has_warned:
				where = f"{part.noun.title()} {index + 1} of {len(part.cases)} ({case.spec})"
				self.report.line("warning", f"{where} will fail. {failure.text}"[:MOST_TEXT])
				has_warned = True
			if failure and failure.code == EXIT_CUDA:
				return False  # The run stops at this case.
		return True

	def time_is_up(self, failure, side):
		"""Returns the exception for a side that timed out because little of the time limit was
		left. If the task's own code took longer than the submissions' calls, the task is at fault.
		Otherwise the side is at fault whose calls took longer."""
		calls_s = sum(one.spent_s for one in self.loaded())
		if self.task_s > calls_s:
			return Stop(
				EXIT_CASE,
				f"The task's own code took {self.task_s:.3g} s of the limit of "
				f"{self.budget.limit_s:.3g} s, the submission's calls {calls_s:.3g} s. Make "
				"generate_input and check_implementation faster, or raise the limit.",
			)
		if not self.rival:
			return self.charge(
				Stop(
					failure.code, f"{failure} The limit of {self.budget.limit_s:.3g} s was reached."
				),
				side,
			)
		slower = max(self.entry, self.rival, key=lambda one: one.spent_s)
		return self.charge(Stop(EXIT_TIME, f"{slower.noun} used up the time limit."), slower)

	def tell(self, index, case, lines):
		for name, value in [("spec", case.spec), *lines]:
			self.report.line(f"{self.part.noun}.{index}.{name}", value)

	def fail(self, index, where, case, failure):
		self.tell(index, case, [("status", "fail"), ("error", failure.text[:MOST_TEXT])])
		say(f"{where}: {failure.text}")
		self.is_lost |= failure.code == EXIT_CUDA
		if not self.code:
			self.code = failure.code
			self.last_words = f"{where}: {failure.text.splitlines()[0]}"

	def figures(self, measurement, remark=""):
		summary = statistics.Summary(measurement.blocks, measurement.own, self.rule)
		samples = statistics.thinned(summary.samples)
		message = " ".join(filter(None, (self.message(measurement, summary), remark)))
		optional = [
			("message", message),
			("own", summary.own_ns),
			("gap", summary.overrun_ns or None),
			("device", measurement.conditions.as_json()),
		]
		interval = [("err", summary.err_ns), ("low", summary.low_ns), ("high", summary.high_ns)]
		return [
			("runs", summary.runs),
			("mean", summary.mean_ns),
			("std", summary.std_ns),
			("best", summary.best_ns),
			("worst", summary.worst_ns),
			("median", summary.median_ns),
			("constant", summary.constant_ns),
			("blocks", summary.blocks),
			("repeated", measurement.repeated),
			("samples", base64.b64encode(struct.pack(f"<{len(samples)}f", *samples)).decode()),
			*((name, value) for name, value in interval if not math.isnan(value)),
			*((name, value) for name, value in optional if value),
		]

	def message(self, measurement, summary):
		"""Remarks about the figures, as sentences for the page."""
		said = []
		if summary.blocks < statistics.LEAST_BLOCKS and self.part.mode != "compare":
			said.append(
				f"The time limit left room for {plural(summary.runs, 'call')} in "
				f"{plural(summary.blocks, 'block')}. A time with an interval needs {NEEDED_CALLS}."
			)
		for why in dict.fromkeys(measurement.notes):
			again = f"; {plural(measurement.repeated, 'more was', 'more were')} measured again"
			again = again if measurement.repeated else ""
			said.append(
				f"In {measurement.notes.count(why)} of {summary.blocks} blocks {why}{again}."
			)
		if summary.surcharge_ns:
			said.append(
				"The blocks of calls differ so much that the upper end of the interval "
				f"counts: {summary.surcharge_ns / 1000:.1f} us more than their center."
			)
		least_ns = statistics.negligible(measurement.blocks, self.rule)
		if summary.overrun_ns > least_ns:
			said.append(
				"The time includes work on the GPU before and after the calls: "
				f"{summary.overrun_ns / 1000:.1f} us a call."
			)
		if summary.disturbance_ns > least_ns:
			said.append(
				f"Empty kernels between the calls took {summary.disturbance_ns / 1000:.1f} us "
				"longer than before the submission was loaded; that is not subtracted."
			)
		return " ".join(said)

	def comparison(self, theirs_alone, both, ours_alone):
		turns, alone = (
			[measurement.values(self.rule) for measurement in pair]
			for pair in (both, (ours_alone, theirs_alone))
		)
		in_turns, apart = (
			statistics.in_turns(*turns, self.rule),
			statistics.apart(*alone, self.rule),
		)
		found = statistics.compared(in_turns, apart)
		ours, theirs = (
			statistics.center(beside) / statistics.center(by_itself)
			for beside, by_itself in zip(turns, alone)
		)
		remark = (
			f"Taking turns, the first of the two took {ours:.3f} times as long as alone, the "
			f"second {theirs:.3f} times: one slows the other down, or the machine has changed."
		)
		return [
			*self.figures(
				ours_alone if found.is_apart else both[0],
				"" if statistics.agree(in_turns, apart) else remark,
			),
			("rival", found.rival_ns),
			("ratio", found.ratio),
			("ratio_low", found.low),
			("ratio_high", found.high),
			("ratio_err", found.err),
		]


# ---- the start ----


def read_secret():
	secret = os.environ.pop("POPCORN_SEED", "")
	if secret and not INTEGER.fullmatch(secret):
		raise Stop(EXIT_CASE, "POPCORN_SEED is not a whole number.")
	return int(secret) if secret else None


def find_torch():
	"""(torch or None, whether there is a GPU). Without a GPU the judge needs no torch."""
	if not os.environ.get("CUDA_VISIBLE_DEVICES"):
		return None, False
	try:
		import torch

		return torch, torch.cuda.is_available()
	except ImportError:
		return None, False


def is_socket(descriptor):
	try:
		return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
	except OSError:
		return False


class Sockets:
	"""The sockets of this process, in their order."""

	def __init__(self):
		self._next = FIRST_SOCKET

	def take(self, noun):
		if not is_socket(self._next):
			raise Stop(EXIT_USAGE, f"{noun} has no socket.")
		self._next += 1
		return self._next - 1


def make_side(sockets, noun, is_null, cpus):
	return Side(sockets.take(noun), noun, is_null, cpus)


def make_sealed_side(sockets, noun, is_null, cpus):
	import podium_sealed_side as sealed_side

	if is_null:
		return sealed_side.NullLauncher(sockets.take(noun), noun, cpus)
	builder = sockets.take(noun)
	return sealed_side.SealedSide(sockets.take(f"{noun}'s launcher"), builder, noun, cpus)


def open_sides(parts, is_sealed, is_cuda):
	"""Returns (the submission's side, the null contestant, the rival). A side that no mode needs is
	None."""
	sockets, cpus = Sockets(), wire.choose_cpus(is_cuda)
	make = make_sealed_side if is_sealed else make_side
	entry, null, rival = make(sockets, "The submission", False, cpus), None, None
	if any(part.is_timed for part in parts):
		null = make(sockets, "The null contestant", True, cpus)
	if any(part.mode == "compare" for part in parts):
		rival = make(sockets, "The other submission", False, cpus)
	return entry, null, rival


def need_one_gpu():
	if os.environ.get("POPCORN_GPUS", "1") not in ("", "1"):
		raise Stop(EXIT_UNSPLITTABLE, "The task uses several GPUs.")


def need_gpu(is_cuda):
	if not is_cuda:
		raise Stop(EXIT_USAGE, "The sealed engine needs a GPU, and torch.")


def hide():
	"""Makes this process unreadable for other processes of its user, before a submission is loaded.
	PODIUM_HIDE is set on hosts whose sandbox does not ensure this."""
	if os.environ.pop("PODIUM_HIDE", ""):
		pr_set_dumpable = 4
		ctypes.CDLL(None).prctl(pr_set_dumpable, 0, 0, 0, 0)


def read_parts(arguments):
	"""`arguments`: the mode and the case file of each part."""
	secret, limits = read_secret(), os.environ.get("PODIUM_TIME_LIMIT_S", "").split()
	limits_s = itertools.chain(map(float, limits), itertools.repeat(LIMIT_S))
	return [
		Part(mode, path, secret, limit_s)
		for mode, path, limit_s in zip(arguments[::2], arguments[1::2], limits_s)
	]


def judge(arguments, report, sides):
	parts = read_parts(arguments)
	run = Judge(report, parts)
	need_one_gpu()
	run.sealed = os.environ.pop("PODIUM_SEALED", "")
	run.plans_folder = os.environ.pop("PODIUM_PLANS", "")
	torch, is_cuda = find_torch()
	entry, null, rival = open_sides(run.parts, bool(run.sealed), is_cuda)
	run.entry, run.rival = entry, rival
	sides.extend(side for side in (entry, null, rival) if side)
	if run.sealed:
		need_gpu(is_cuda)
	for side in sides:
		side.greet(is_cuda)
	sys.path[0] = os.getcwd()
	task = Task()
	torch = sys.modules.get("torch")
	task.find_classes(torch)
	run.open(torch, is_cuda, task)
	for side in sides:
		side.device = run.device
	try:
		prepare(run, sides, null, entry)
		run.device.is_disturbed = True
		run.load(rival or entry)
		return run.run(entry, null)
	except CaseFailed as failure:
		report.line("error", failure.text[:MOST_TEXT])
		report.line("check", "fail")
		say(failure.text)
		return failure.code
	except NullFailed as failure:
		raise run.blame(failure, null) from None
	except (CaseError, Stop):
		raise
	except Exception as error:
		say(traceback.format_exc())
		if is_of_device(error):
			raise run.charge(device_failure(error)) from None
		raise


def prepare(run, sides, null, entry):
	"""Reserves memory for the inputs and measures the null contestant alone, before a submission is
	loaded that could disturb these steps."""
	run.look_at_inputs(len(sides))  # meanwhile the contestants start
	for side in sides:
		side.await_ready(run.budget.left_s())
	if null:
		null.load()
		null.await_ready(run.budget.left_s())
	run.take_room(sides)
	if null:
		others = [side for side in sides if not side.is_null]
		for side in others:
			run.calibrate(side, null)
		run.measure_quiet(null, others)


def main(arguments):
	if len(arguments) not in (2, 4) or not set(arguments[::2]) <= set(MODES):
		modes = "|".join(MODES)
		say(f"usage: python3 judge.py {{{modes}}} CASEFILE [{{{modes}}} CASEFILE]")
		return EXIT_USAGE
	hide()
	report, sides = Report(), []
	try:
		return judge(arguments, report, sides)
	except CaseError as error:
		code, sentence = EXIT_CASE, str(error)
	except Stop as end:
		code, sentence = end.code, end.sentence
	except Exception as error:
		say(traceback.format_exc())
		code, sentence = EXIT_USAGE, f"The judge failed: {type(error).__name__}: {error}"
	finally:
		for side in sides:
			side.dismiss()
	report.line("error", sentence[:MOST_TEXT])
	say(sentence)
	return code


if __name__ == "__main__":
	status = main(sys.argv[1:])
	with contextlib.suppress(Exception):
		sys.stdout.flush()
		sys.stderr.flush()
	# The results are written. Threads and exit handlers of the task must not delay the end.
	os._exit(status)
