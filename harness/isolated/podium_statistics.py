"""The statistics of a case: blocks of calls, the constant that is subtracted, intervals, and when to stop.

The value of a block is the center of its calls, minus the center of the null contestant's calls between them. The time
of a case is the mean of its blocks, because blocks are independent of each other where calls are not. Whether that is
known well enough is asked only after certain numbers of blocks, and more strictly before the last: who asks all the time
stops at a lucky moment. docs/judge.md gives the reasons. All times are ns.
"""
import copy
import math

# For whose mean a relative half-width is too much to ask: 0.4 us are enough, since from job to job the constant is off by 0.1 to
# 0.2 us, which no number of blocks shows.
SHORT_NS, ENOUGH_NS, ENOUGH = 40_000.0, 400.0, 0.01
MOST_REPEATS = 6  # of blocks
MOST_ATTEMPTS = 3  # at a case
MOST_SAMPLES = 4000
LEAST_CALLS = 3


class Rule:
	"""How a case is measured on a kind of device."""

	def __init__(self, **rule):
		self.calls = rule["calls"]  # of a block
		self.looks = rule[
			"looks"]  # numbers of blocks after which it may end; the last one always ends it
		self.pair_looks = rule["pair_looks"]  # the same for pairs of blocks in a comparison
		self.most_s = rule["most_s"]  # for the blocks of a case
		self.warm_calls = rule["warm_calls"]  # verified, not counted: at least, and at most
		self.warm_s = rule["warm_s"]  # between the two: for so long
		self.bells = rule["bells"]  # of a block: calls that show what the bell alone costs
		self.usual = rule["usual"]  # of the null's calls: what of them is the constant
		self.center = rule["center"]  # of the calls: what of them is the value of a block
		self.empty_ns = rule[
			"empty_ns"]  # what the empty kernel of the constant takes itself: no part of it
		self.calibrations = rule[
			"calibrations"]  # blocks of empty kernels before a submission is loaded
		self.process_ns, self.process = rule[
			"process"]  # standard deviation of what a process adds to its calls: ns, a share
		self.open_before_ns = rule[
			"open_before_ns"]  # so long before a call usually ends its gate opens: when its GPU begins
		self.controls = rule["controls"]  # of a block: the null's empty kernel among the calls
		# By which that may be longer than in the beginning: in a block, and on average over the blocks of a case.
		self.disturbance_ns, self.steady_disturbance_ns = rule["disturbance_ns"]
		self.moved_ns, self.moved = rule[
			"moved"]  # by which the constant may move between the halves of a block: ns, a share
		self.wait_ns = rule[
			"wait_ns"]  # most for which the judge waits behind a null's call, which is done sooner
		self.overrun_ns, self.overrun = rule[
			"overrun"]  # noise of the judge's own work: ns, a share; None: not looked at


def least(values):
	"""Nothing makes a call shorter than it is, but on a machine whose processors others use as well much makes it longer, and
	a constant that is too large is a charge that is too small."""
	return min(values)


def median(values):
	ordered = sorted(values)
	middle = len(ordered) // 2
	return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def center(values):
	"""Hodges and Lehmann's: the median of the means of all pairs, each value with itself as well. Of normal noise it leaves two
	thirds of what the median leaves, and of even noise a third; a quarter of the values may be anything."""
	return median([(one + other) / 2 for index, one in enumerate(values)
		for other in values[index:]])


RULES = {
	"cuda": Rule(calls=13, looks=(6, 7, 8, 10, 12, 16, 20, 26, 34, 46, 60, 76),
	pair_looks=(12, 16, 20, 26, 32, 38), most_s=60.0, warm_calls=(8, 100), warm_s=0.05, bells=2,
	controls=3, disturbance_ns=(3000.0, 2000.0), moved=(500.0, 0.03), overrun=(20_000.0, 0.15),
	wait_ns=50e6, empty_ns=600.0, calibrations=40, process=(200.0, 0.0008), open_before_ns=20_000.0,
	usual=center, center=center),
	# For trying things out: a case ends within seconds. Who works on after its call does so on another core, unseen.
	"cpu": Rule(calls=5, looks=(4, ), pair_looks=(2, 4), most_s=2.0, warm_calls=(1, 1), warm_s=0.0,
	bells=0, controls=0, disturbance_ns=(0.0, 0.0), moved=(5000.0, 0.5), overrun=(None, None),
	wait_ns=0.0, empty_ns=0.0, calibrations=0, process=(0.0, 0.0), open_before_ns=0.0, usual=least,
	center=median),
}
LEAST_BLOCKS = 4  # with fewer, the page says so
LEAST_CONTROLS = 3


def mean(values):
	return math.fsum(values) / len(values)


def deviation(values):
	"""The standard deviation of the sample."""
	middle = mean(values)
	return math.sqrt(math.fsum(
		(value - middle)**2 for value in values) / (len(values) - 1)) if len(values) > 1 else 0.0


# ---- Student's t ----


def _within(t, freedom):
	"""The probability that |T| <= t: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
	angle = math.atan(t / math.sqrt(freedom))
	cosine, sine = math.cos(angle), math.sin(angle)
	term, total = (cosine, cosine) if freedom % 2 else (1.0, 1.0)
	for k in range(3 if freedom % 2 else 2, freedom - 1, 2):
		term *= cosine * cosine * (k - 1) / k
		total += term
	if freedom % 2 == 0:
		return sine * total
	return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))


def t_quantile(level, freedom):
	"""The t that |T| stays below with this probability."""
	low, high = 0.0, 1.0
	while _within(high, freedom) < level:
		high *= 2
	for _ in range(80):
		middle = (low + high) / 2
		low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
	return high


def standard_error(values):
	"""Of their mean."""
	return deviation(values) / math.sqrt(len(values))


def half_width(values, level=0.95):
	"""Of the interval for their mean; infinite for a single one."""
	if len(values) < 2:
		return math.inf
	return t_quantile(level, len(values) - 1) * standard_error(values)


# ---- blocks ----


class Block:
	"""Calls of one case in a row, the null contestant's between them. Calls have elapsed_ns, head_ns, touch_ns, take_ns and rest_ns; the
	null's have is_after: whether they came right behind the submission's with the same input, or before."""

	def __init__(self, delta_ns=0.0, quiet_ns=0.0):
		self.delta_ns = delta_ns  # what a call of this contestant costs more than one of the null
		self.quiet_ns = quiet_ns  # what the null's empty kernel cost before any submission was loaded
		self.calls, self.null = [], []  # those that count, and the null's
		self.heads, self.null_heads = [], [
		]  # how long the judge's own work before the next call took, after each
		self.bells = []  # what the bell alone costs
		self.controls = []  # what the null's empty kernel costs now
		self.slowed_by = 0  # NVML's bits at its end

	def constant(self, rule, most=math.inf):
		"""What is subtracted from a call. `most`: by most_constant()."""
		return min(most, self.plain_constant(rule) - self._beyond(self.control_over(), rule))

	def plain_constant(self, rule):
		"""The same where nobody disturbs."""
		return self._null(rule) + self.delta_ns - rule.empty_ns

	def _null(self, rule):
		"""Somebody who makes the null's calls longer knows that one follows when he was called first, and not when none does."""
		after, before = self._null_by_order()
		is_worse_after = self._beyond(self.order_over(), rule) > 0
		return rule.usual(before if is_worse_after else after + before)

	def _null_by_order(self):
		return [[call.elapsed_ns for call in self.null if call.is_after is is_after]
			for is_after in (True, False)]

	def _beyond(self, over, rule):
		return over if over > self.noise(rule) else 0.0

	def noise(self, rule):
		"""By how much what the null takes may differ where nobody disturbs."""
		return max(rule.disturbance_ns, rule.moved * self.quiet_ns)

	def disturbance(self, rule):
		"""By how much the null's calls are longer because somebody keeps the device busy meanwhile, who would like them to be;
		0 within noise."""
		return max(self._beyond(self.control_over(), rule), self._beyond(self.order_over(), rule))

	def control_over(self):
		"""By how much the empty kernels took longer than in the beginning; 0 where there are too few to say."""
		return median(self.controls) - self.quiet_ns if len(
			self.controls) >= LEAST_CONTROLS else 0.0

	def order_over(self):
		"""By how much the null's calls are longer behind one of the submission's than before one; 0 where there are too few
		to say, or where empty kernels are not looked at either."""
		after, before = self._null_by_order()
		can_say = len(self.controls) >= LEAST_CONTROLS and min(len(after),
			len(before)) >= LEAST_CONTROLS
		return median(after) - median(before) if can_say else 0.0

	def constant_moved(self, rule):
		"""Whether it is another in the second half of the block."""
		half = len(self.null) // 2
		if half < 2:
			return False
		before, after = (median([call.elapsed_ns for call in part])
			for part in (self.null[:half], self.null[-half:]))
		return abs(before - after) > max(rule.moved_ns, rule.moved * self._null(rule))

	def overrun(self, rule):
		"""What the contestant kept the device busy with before and after its calls, per call; 0 within noise."""
		if rule.overrun_ns is None:
			return 0.0
		takes = [call.touch_ns + call.take_ns
			for call in self.calls], [call.touch_ns + call.take_ns for call in self.null]
		rests, before = ([[getattr(call, name) for call in calls]
			for calls in (self.calls, self.null)] for name in ("rest_ns", "head_ns"))
		return _excess(*takes, rule) + _excess(*rests, rule) + max(
			_excess(*before, rule), _excess(self.heads, self.null_heads, rule))

	def is_idle(self, call):
		"""Whether the device was still the judge's when this call had ended: the contestant has not computed on it, and
		what its call cost is not what a call costs that does."""
		return bool(self.bells) and call.touch_ns < median([null.touch_ns
			for null in self.null]) / 2

	def samples(self, rule, most=math.inf):
		"""What each call is charged."""
		constant, overrun = self.constant(rule, most), self.overrun(rule)
		bell = median(self.bells) if self.bells else 0.0
		return [
			max(1.0, call.elapsed_ns - (bell if self.is_idle(call) else constant) + overrun)
			for call in self.calls
		]

	def value(self, rule, most=math.inf):
		return rule.center(self.samples(rule, most))


def most_constant(blocks, rule):
	"""What may be subtracted in any block of a case. Somebody who keeps the null's calls from the GPU in some blocks, and empty
	kernels by chance in others, would have blocks in which he takes no time."""
	return min((block.plain_constant(rule) + block.noise(rule)
		for block in blocks if rule.controls), default=math.inf)


def values_of(blocks, rule):
	most = most_constant(blocks, rule)
	return [block.value(rule, most) for block in blocks]


def _excess(ours, usual, rule):
	"""By how much the one is longer than the other; 0 within noise."""
	if not ours or not usual:
		return 0.0
	expected = median(usual)
	spread = median([abs(one - expected) for one in usual])
	over = median(ours) - expected
	return over if over > max(rule.overrun_ns, rule.overrun * expected, 5 * spread) else 0.0


def is_known(values, level):
	"""Whether the mean of these blocks is known well enough."""
	middle = mean(values)
	allowed = ENOUGH_NS if middle < SHORT_NS else ENOUGH * middle
	return half_width(values, level) <= allowed


def level_at(looks, count):
	"""How sure one must be to end at this look; None where it is none."""
	return None if count not in looks else 0.95 if count == looks[-1] else 0.99


def is_enough(values, rule):
	"""Whether a case may end after these blocks."""
	if len(values) >= rule.looks[-1]:
		return True
	level = level_at(rule.looks, len(values))
	return level is not None and is_known(values, level)


def steady_disturbance(blocks, rule):
	"""What is too little to show in one block, and shows in all of them together; 0 within noise."""
	calm = [
		block for block in blocks
		if not block.disturbance(rule) and len(block.controls) >= LEAST_CONTROLS
	]
	if len(calm) < LEAST_BLOCKS:
		return 0.0
	over = max(mean([block.control_over() for block in calm]),
		mean([block.order_over() for block in calm]))
	return over if over > rule.steady_disturbance_ns else 0.0


def process_error(time_ns, rule):
	"""The standard deviation of what the process adds to a time, from job to job: no number of blocks shows it."""
	return math.hypot(rule.process_ns, rule.process * time_ns)


class Summary:
	"""The figures of a case."""

	def __init__(self, blocks, own, rule):
		"""`own`: what the contestant measured itself."""
		steady = steady_disturbance(blocks, rule)
		most = most_constant(blocks, rule)
		sampled = [block.samples(rule, most) for block in blocks]
		values = [rule.center(samples) + steady for samples in sampled]
		self.samples = [sample + steady for samples in sampled for sample in samples]
		# With one block there is nothing but its calls to say how far it may be off.
		units = values if len(values) > 1 else self.samples
		self.mean = mean(values)
		self.std = deviation(self.samples)
		self.err = math.hypot(standard_error(units), process_error(self.mean, rule))
		half = half_width(units)
		half = math.hypot(half if math.isfinite(half) else self.std,
			2 * process_error(self.mean, rule))
		self.low, self.high = max(1.0, self.mean - half), self.mean + half
		self.median = median(self.samples)
		self.best, self.worst = min(values), max(values)
		self.constant = max(1.0, median([block.constant(rule, most) for block in blocks]) - steady)
		self.overrun = mean([block.overrun(rule) for block in blocks])
		self.disturbance = mean([block.disturbance(rule) for block in blocks]) + steady
		self.own = median(own) if own else None
		self.runs, self.blocks = len(self.samples), len(blocks)


def thinned(samples, most=MOST_SAMPLES):
	"""At most so many of them, evenly."""
	if len(samples) <= most:
		return list(samples)
	return [samples[index * len(samples) // most] for index in range(most)]


# ---- comparisons ----


def unseen(rival, rule):
	"""By how much two processes with the same submission differ, as a logarithm, with 95 %: no number of blocks shows it. `rival`: what
	the other one takes."""
	return 2 * process_error(rival, rule) / rival


class Comparison:
	"""How much longer the entry takes than the rival: the logarithm of the ratio, half of its 95 % interval, its standard error."""

	def __init__(self, log, half, err, rival):
		half = half if math.isfinite(half) else math.log(2)
		self.ratio, self.low, self.high = math.exp(log), math.exp(log - half), math.exp(log + half)
		self.err, self.rival = err, rival

	def agrees_with(self, other):
		"""Whether one ratio can be meant."""
		return self.low <= other.high and other.low <= self.high


def logs_of(ours, theirs):
	return [math.log(our / their) for our, their in zip(ours, theirs, strict=True)]


def in_turns(ours, theirs, rule):
	"""The Comparison of pairs of blocks with the same inputs."""
	logs, rival = logs_of(ours, theirs), mean(theirs)
	return Comparison(mean(logs), math.hypot(half_width(logs), unseen(rival, rule)),
		standard_error(logs), rival)


def apart(ours, theirs, rule):
	"""The Comparison of blocks of each by itself, as many as it took."""
	rival = mean(theirs)
	halves, errs = ([of(values) / mean(values) for values in (ours, theirs)]
		for of in (half_width, standard_error))
	return Comparison(math.log(mean(ours) / rival), math.hypot(*halves, unseen(rival, rule)),
		math.hypot(*errs), rival)


def compared(in_turns, apart):
	"""What drifts meets both alike in turns; but then each can slow the other down, who is not called, and by itself it cannot. So the
	ratio is the one nearer to 1, and its interval holds both: neither a drift nor a trick makes one faster."""
	nearer = min((in_turns, apart), key=lambda one: abs(math.log(one.ratio)))
	found = copy.copy(nearer)
	found.low, found.high, found.is_apart = min(in_turns.low,
		apart.low), max(in_turns.high, apart.high), nearer is apart
	return found


ENOUGH_RATIO = 0.0025  # half-width of the log of the ratio


def is_decided(ours, theirs, rule):
	"""Whether a comparison may end after these pairs: one is faster for sure, or they are the same within 0.25 %."""
	if len(ours) >= rule.pair_looks[-1]:
		return True
	level = level_at(rule.pair_looks, len(ours))
	if level is None:
		return False
	logs = logs_of(ours, theirs)
	half = half_width(logs, level)
	return half <= ENOUGH_RATIO or abs(mean(logs)) > math.hypot(half, unseen(mean(theirs), rule))
