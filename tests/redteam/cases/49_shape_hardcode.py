# 49 shape_hardcode
# attempts: to be right only for the shapes of the tests
# required: FORGE-IGNORED
# verdict: wrong answer
# on: cpu gpu
# custom on: cpu
# mode: ranked
import torch


def custom_kernel(data):
    return data + data if len(data) in (1000, 4099) else torch.full_like(data, 3.0)
