import torch

from utils import make_match_reference


class Vector:
	"""No other process knows this class, so the judge cannot hand it over."""

	def __init__(self, values):
		self.values = values


def generate_input(size, seed):
	generator = torch.Generator().manual_seed(seed)
	return Vector(torch.rand(size, generator=generator))


def ref_kernel(data):
	return data.values + data.values


check_implementation = make_match_reference(ref_kernel)
