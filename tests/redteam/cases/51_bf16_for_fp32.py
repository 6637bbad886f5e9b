# 51 bf16_for_fp32
# attempts: to compute in a smaller type than the task's
# required: VERDICT
# verdict: wrong answer
# on: cpu gpu
# custom on: cpu
# variants: bfloat16 float16 input-bfloat16
import torch


def custom_kernel(data):
    if "@VARIANT@" == "input-bfloat16":
        return data.to(torch.bfloat16).float() * 2
    small = data.to(getattr(torch, "@VARIANT@"))
    return (small + small).float()
