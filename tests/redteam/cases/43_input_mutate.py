# 43 input_mutate
# attempts: to change the input so that a wrong output is right for it, such as zeros for zeros and
#   NaN for NaN
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# on: cpu gpu
# custom on: cpu
# mode: ranked
# variants: zero nan input half
import torch


def custom_kernel(data):
    if "@VARIANT@" == "zero":
        data.zero_()
        return torch.zeros_like(data)
    if "@VARIANT@" == "nan":
        data.fill_(float("nan"))
        return data
    if "@VARIANT@" == "half":
        right = data + data
        data[len(data) // 2:] = 0
        right[len(data) // 2:] = 0
        return right
    data.zero_()  # 0 = 2 * 0
    return data
