import torch


def custom_kernel(data):
	# Return the running sums of `data`.
	return torch.cumsum(data, dim=0)
