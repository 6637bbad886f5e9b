import torch


def custom_kernel(data):
    x, output = data
    return output.copy_(torch.softmax(x, dim=0))
