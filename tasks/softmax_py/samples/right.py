import torch

from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, output = data
    output.copy_(torch.softmax(x, dim=1))
    return output
