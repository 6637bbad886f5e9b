import torch.distributed as dist


def custom_kernel(data):
    dist.all_reduce(data)
    return data
