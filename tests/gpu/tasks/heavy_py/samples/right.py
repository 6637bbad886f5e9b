import torch


def custom_kernel(data):
	source, output, work = data
	if work and source.is_cuda:
		torch.cuda._sleep(int(work) * 660)
	return torch.add(source, 1, out=output)
