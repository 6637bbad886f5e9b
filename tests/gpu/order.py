# tests/gpu/accuracy appends this file to the reference of accuracy_py, which the judge imports.
# Instead of each call's time, the judge then reports one figure for each block, including repeated
# blocks: how much longer the null contestant's calls take after the submission's than before.
# 2^20 ns are added, because a time cannot be negative. Blocks in which the GPU was slowed down have
# no figure; if all were, the only figure is 0.
import podium_statistics

orders, disturbance, Summary = [], podium_statistics.Block.disturbance, podium_statistics.Summary


def tell_disturbance(block, rule):
	if not hasattr(block, "is_told"):
		block.is_told = True
		orders.append((1 << 20) + block.order_over())
	return disturbance(block, rule)


class ToldSummary(Summary):
	def __init__(self, *of_what):
		super().__init__(*of_what)
		self.samples = list(orders) or [0.0]
		orders.clear()


podium_statistics.Block.disturbance, podium_statistics.Summary = tell_disturbance, ToldSummary
