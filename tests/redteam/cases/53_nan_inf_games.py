# 53 nan_inf_games
# attempts: to pass with values that compare oddly: NaN everywhere or once, infinity, or the largest
#   number
# required: VERDICT
# verdict: wrong answer
# task: every
# variants: nan inf max one-nan
# custom variants: one-nan
import torch


@RIGHT@

right_kernel = custom_kernel


def custom_kernel(data):
    output = right_kernel(data)
    if "@VARIANT@" == "one-nan":
        output.view(-1)[-1] = float("nan") if output.is_floating_point() else 77
    elif not output.is_floating_point():
        output.fill_(torch.iinfo(output.dtype).max)
    else:
        output.fill_(torch.finfo(output.dtype).max if "@VARIANT@" == "max" else float("@VARIANT@"))
    return output
