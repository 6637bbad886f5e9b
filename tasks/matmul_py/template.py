import torch

from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
	a, b, output = data
	# Fill `output` with a @ b, and return it.
	if a.is_cuda:
		torch.matmul(a, b, out=output)
	else:
		output.copy_(a.float() @ b.float())
	return output
