"""The judge of the sealed engine with device memory on the host. The real one is beside it as
real_judge.py."""

import ctypes
import os
import sys

import podium_side
import podium_staging
import podium_tensors
import podium_tree
import podium_wire as wire
import real_judge
import torch

ON_HOST, PIECE = wire.memory_make, 2 << 20


def memory_make(is_cuda, count):
	return ON_HOST(False, podium_tree.align(count, PIECE) if is_cuda else count)


class Tensors(podium_tensors.Tensors):
	def describe(self, value, place):
		node = super().describe(value, place)
		if node and node.kind == podium_tree.TENSOR:
			node.memory = podium_tree.IN_DEVICE
		return node

	def bytes_at(self, address, count, is_cuda, array):
		array = (ctypes.c_uint8 * count).from_address(address) if is_cuda else array
		return torch.frombuffer(array, dtype=torch.uint8)


def probe(self, address, count, is_cuda):
	self.address, self.bytes, self.is_cuda = address, count, 0


class Whole:
	def __init__(self, flat, spans, device):
		self.flat = flat

	def native(self):
		return wire.Withheld()


def restore(self):
	with open("../noted", "a") as file:
		file.write("restore\n")
	RESTORE(self)


# The same file is the judge of the isolated engine, to which a dry run may fall back.
if "PODIUM_SEALED" in os.environ:
	import podium_sealed_side

	wire.memory_make, podium_tensors.Tensors, podium_staging.Last = memory_make, Tensors, Whole
	wire.Probe.__init__ = probe
	podium_sealed_side.ARENA_BYTES = 4 << 20
	podium_sealed_side.MOST_KEPT_SHARE = float(os.environ.get("KEPT_SHARE", "0.25"))
	real_judge.find_torch, real_judge.need_gpu = lambda: (torch, False), lambda is_cuda: None
	real_judge.LEAVE_S = 5.0
	real_judge.TRACE_S = float(os.environ.get("TRACE_S", "5"))
# Only this folder has CUPTI.
if "CUPTI" in os.environ:
	podium_sealed_side.sealed.cupti_folders = lambda torch: os.environb[b"CUPTI"]
# Measures the null contestant before the load, as on a GPU.
if "QUIET" in os.environ:
	RESTORE, podium_sealed_side.Arena.restore = podium_sealed_side.Arena.restore, restore
	real_judge.statistics.RULES["cpu"].most_calibrations = 1
	for name in ("mark_head", "measure_copies"):
		setattr(podium_staging.Device, name, lambda self: None)
# The real launcher takes only a judge with a gate.
if "REAL_LAUNCHER" in os.environ:
	GREET = podium_side.Side.greet
	podium_side.Side.greet = lambda self, is_cuda: GREET(self, True)
sys.exit(real_judge.main(sys.argv[1:]))
