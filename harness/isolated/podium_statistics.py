"""The statistics of a case for Python: statistics.h by ctypes. statistics.h describes the
functions; lists take the place of arrays. All times are ns."""

import ctypes
import math
import operator

import podium_wire as wire

MOST_REPEATS, MOST_ATTEMPTS, MOST_LATE, MOST_SAMPLES, MOST_LOOKS = 6, 3, 20, 4000, 12
LEAST_CALLS, LEAST_BLOCKS = 3, 4

_bool, _double, _size, _pointer = ctypes.c_bool, ctypes.c_double, ctypes.c_size_t, ctypes.POINTER


def _fields(kind, names):
	return [(name, kind) for name in names.split()]


def _array_of(kind, items):
	"""An array of C and its length."""
	return (kind * len(items))(*items), len(items)


# ---- the structures ----


class Values(ctypes.Structure):
	_fields_ = [("at", _pointer(_double)), ("count", _size)]

	@classmethod
	def from_param(cls, values):
		return cls(*_array_of(_double, values))


class Looks(ctypes.Structure):
	_fields_ = [("count", _size), ("blocks", _size * MOST_LOOKS)]

	def __contains__(self, count):
		return _is_look(self, count)


class Rule(ctypes.Structure):
	_fields_ = [
		*_fields(_size, "calls bells controls"),
		*_fields(Looks, "looks pair_looks"),
		*_fields(_double, "enough_s most_s most_pairs_s"),
		*_fields(_size, "least_warm_calls most_warm_calls"),
		*_fields(_double, "warm_s"),
		*_fields(_size, "least_calibrations most_calibrations"),
		*_fields(
			_double,
			"calibration_ns"
			" open_before_ns wait_ns empty_ns process_ns process_share overrun_ns overrun_share"
			" probe_ns ready_ns disturbance_ns steady_disturbance_ns moved_ns moved_share half_ns"
			" half_share",
		),
		*_fields(ctypes.c_void_p, "null_estimate block_estimate"),
	]


class Timing(ctypes.Structure):
	_fields_ = [
		*_fields(_double, "elapsed_ns touch_ns take_ns head_ns rest_ns probed_ns"),
		("is_after", _bool),
	]


_times_of = operator.attrgetter(*(name for name, _ in Timing._fields_))


class Timings(ctypes.Structure):
	_fields_ = [("at", _pointer(Timing)), ("count", _size)]

	@classmethod
	def of(cls, calls):
		return cls(*_array_of(Timing, list(map(_times_of, calls))))


class Usual(ctypes.Structure):
	_fields_ = _fields(_double, "center_ns spread_ns")


class Quiet(ctypes.Structure):
	_fields_ = [
		*_fields(_double, "empty_ns call_ns copy_ns take_ns probed_ns"),
		*_fields(Usual, "head touch rest"),
	]


class BlockStructure(ctypes.Structure):
	_fields_ = [
		*_fields(Timings, "calls null"),
		*_fields(Values, "heads null_heads bells controls"),
		("quiet", Quiet),
		("delta_ns", _double),
	]

	@classmethod
	def from_param(cls, block):
		return ctypes.byref(cls.of(block))

	@classmethod
	def of(cls, block):
		return cls(
			*map(Timings.of, (block.calls, block.null)),
			*map(Values.from_param, (block.heads, block.null_heads, block.bells, block.controls)),
			block.quiet,
			block.delta_ns,
		)


class Blocks(ctypes.Structure):
	_fields_ = [("at", _pointer(BlockStructure)), ("count", _size)]

	@classmethod
	def from_param(cls, blocks):
		return cls(*_array_of(BlockStructure, list(map(BlockStructure.of, blocks))))


class Limits(ctypes.Structure):
	_fields_ = _fields(_double, "constant_ns head_ns take_ns probed_ns")


class SummaryStructure(ctypes.Structure):
	_fields_ = [
		*_fields(
			_double,
			"mean_ns err_ns low_ns high_ns best_ns worst_ns median_ns std_ns constant_ns"
			" overrun_ns disturbance_ns surcharge_ns own_ns",
		),
		*_fields(_size, "runs blocks"),
	]


class Comparison(ctypes.Structure):
	_fields_ = [*_fields(_double, "ratio low high err rival_ns"), ("is_apart", _bool)]


# ---- the functions ----

_native = ctypes.CDLL(wire.LIBRARY)


def _bind(result, name, *arguments):
	function = getattr(_native, f"isolated_{name}")
	function.restype, function.argtypes = result, arguments
	return function


_rule, _out = _pointer(Rule), _pointer(_double)
median, center = (_bind(_double, name, Values) for name in ("median", "center"))
_disturbance = _bind(_double, "disturbance", BlockStructure, _rule)
_order_over = _bind(_double, "order_over", BlockStructure)
_constant_moved = _bind(_bool, "constant_moved", BlockStructure, _rule)
_is_uneven = _bind(_bool, "is_uneven", BlockStructure, _rule)
rule_for = _bind(Rule, "rule_for", _rule, _double)
_limits_of = _bind(Limits, "limits_of", Blocks, _rule)
_overrun = _bind(_double, "overrun", BlockStructure, _rule, _pointer(Limits))
_quiet_of = _bind(Quiet, "quiet_of", Timings)
_is_look = _bind(_bool, "is_look", _pointer(Looks), _size)
_values_of = _bind(None, "values_of", Blocks, _rule, _out)
is_calibrated = _bind(_bool, "is_calibrated", Values, _rule)
is_enough = _bind(_bool, "is_enough", Values, _rule)
may_repeat = _bind(_bool, "may_repeat", _size, _size)
are_spoiled = _bind(_bool, "are_spoiled", _size, _size)
is_long_enough = _bind(_bool, "is_long_enough", _size, _double, _rule)
negligible = _bind(_double, "negligible", Blocks, _rule)
steady_disturbance = _bind(_double, "steady_disturbance", Blocks, _rule)
delays_probes = _bind(_bool, "delays_probes", Blocks, _rule)
_summarize = _bind(SummaryStructure, "summarize", Blocks, Values, _rule, _out)
_thin = _bind(_size, "thin", _out, _size, _size)
in_turns = _bind(Comparison, "in_turns", Values, Values, _rule)
apart = _bind(Comparison, "apart", Values, Values, _rule)
compared = _bind(Comparison, "compared", Comparison, Comparison)
agree = _bind(_bool, "agree", Comparison, Comparison)
is_decided = _bind(_bool, "is_decided", Values, Values, _rule)
# Copies, because the originals are read-only.
RULES = {
	kind: Rule.from_buffer_copy(Rule.in_dll(_native, f"isolated_{kind}_rule"))
	for kind in ("cuda", "cpu")
}


def quiet_of(calls):
	return _quiet_of(Timings.of(calls))


def no_quiet():
	"""The figures if the null contestant's calls were not measured before the load."""
	return Quiet(0.0, math.nan, 0.0, 0.0, 0.0, *[Usual(math.nan, math.nan)] * 3)


def with_copies(quiet, copy_ns, take_ns):
	made = Quiet.from_buffer_copy(quiet)
	made.copy_ns, made.take_ns = copy_ns, take_ns
	return made


class Block:
	"""struct isolated_block with lists. A call has the fields of struct isolated_timing."""

	def __init__(self, delta_ns=0.0, quiet=None):
		self.delta_ns, self.quiet = delta_ns, quiet or no_quiet()
		self.calls, self.null, self.heads, self.null_heads = [], [], [], []
		self.bells, self.controls = [], []
		self.slowed_by = 0  # NVML's bits at the end of the block
		self.pair_s = []  # how long each pair of calls took, with making the input and checking

	def disturbance(self, rule):
		return _disturbance(self, rule)

	def order_over(self):
		return _order_over(self)

	def constant_moved(self, rule):
		return _constant_moved(self, rule)

	def is_uneven(self, rule):
		return _is_uneven(self, rule)

	def overrun(self, others, rule):
		"""`others`: the case's other blocks."""
		return _overrun(self, rule, _limits_of([*others, self], rule))


def values_of(blocks, rule):
	values = (_double * len(blocks))()
	_values_of(blocks, rule, values)
	return list(values)


class Summary:
	"""struct isolated_summary, and `samples`: the charge of each call. `own_ns` is None if the
	submission measured nothing itself."""

	def __init__(self, blocks, own, rule):
		samples = (_double * sum(len(block.calls) for block in blocks))()
		figures = _summarize(blocks, own, rule, samples)
		for name, _ in figures._fields_:
			setattr(self, name, getattr(figures, name))
		self.own_ns = None if math.isnan(self.own_ns) else self.own_ns
		self.samples = list(samples)


def thinned(samples):
	"""At most MOST_SAMPLES of the samples, evenly spread."""
	made, count = _array_of(_double, samples)
	return made[: _thin(made, count, MOST_SAMPLES)]
