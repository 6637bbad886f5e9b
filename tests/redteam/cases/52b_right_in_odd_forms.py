# 52b right_in_odd_forms
# attempts: nothing bad: right numbers in memory with an unusual layout, which the judge's copy must
#   not spoil
# required: VERDICT
# engines: isolated
# on: cpu gpu
# mode: benchmark
# variants: stride view parameter in-input offset grad
import torch


def custom_kernel(data):
    right = data + data
    if "@VARIANT@" == "stride":
        return torch.stack([right, right], -1)[:, 1]
    if "@VARIANT@" == "view":
        return right.view(1, -1)[0]
    if "@VARIANT@" == "parameter":
        return torch.nn.Parameter(right)
    if "@VARIANT@" == "in-input":
        return data.copy_(right)
    if "@VARIANT@" == "offset":
        return torch.cat([right[:3], right])[3:]
    return right.requires_grad_(True) * 1
