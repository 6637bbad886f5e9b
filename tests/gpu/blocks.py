# tests/gpu/steadiness appends this file to the reference of accuracy_py, which the judge imports.
# Instead of each call's time, the judge then reports the FIGURES of tests/gpu/steadiness, in their
# order, for each block that counts. 2^20 ns are added to each figure, because a time cannot be
# negative.
import podium_statistics

Summary, RULE = podium_statistics.Summary, podium_statistics.RULES["cuda"]
center = podium_statistics.center


def figures_of(block):
	calls, null = block.calls, block.null
	yield center([call.elapsed_ns for call in calls])
	yield center([call.elapsed_ns for call in null])
	yield block.delta_ns
	yield center([call.elapsed_ns for call in null]) - block.quiet.call_ns
	yield center(block.controls) - block.quiet.empty_ns if block.controls else 0.0
	yield center(block.bells) if block.bells else 0.0
	yield block.disturbance(RULE)
	for side, heads in ((calls, block.heads), (null, block.null_heads)):
		yield center([call.head_ns for call in side])
		yield center([call.touch_ns for call in side])
		yield center([call.take_ns for call in side])
		yield center([call.rest_ns for call in side])
		yield center([call.probed_ns for call in side])
		yield center(heads) if heads else 0.0
	for usual in (block.quiet.head, block.quiet.touch, block.quiet.rest):
		yield from (usual.center_ns, usual.spread_ns)


class ToldSummary(Summary):
	def __init__(self, blocks, *of_what):
		super().__init__(blocks, *of_what)
		self.samples = [(1 << 20) + figure for block in blocks for figure in figures_of(block)]


podium_statistics.Summary = ToldSummary
