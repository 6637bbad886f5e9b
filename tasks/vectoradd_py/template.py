import torch

from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
	A, B, output = data
	# Fill `output` with A + B, and return it.
	torch.add(A, B, out=output)
	return output
