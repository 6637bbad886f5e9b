# 45 trivial_outputs
# attempts: to pass without computing: returns zeros, the first input, its mean everywhere, or
#   memory that nobody has written
# required: VERDICT
# verdict: wrong answer
# task: every
# variants: zeros input mean uninitialised
# custom variants: uninitialised
import torch


def trivial(like, source):
    if "@VARIANT@" == "zeros":
        return torch.zeros_like(like)
    if "@VARIANT@" == "uninitialised":
        return torch.empty_like(like)
    if "@VARIANT@" == "mean":
        return torch.full_like(like, source.float().mean().item())
    if "@TASK@" == "identity_py":
        source = source.flip(0)  # for there the input is the answer
    return source.reshape(-1).repeat(like.numel() // source.numel() + 1)[:like.numel()].reshape(like.shape).to(like.dtype)


def custom_kernel(data):
    tensors = [one for one in (data if isinstance(data, (tuple, list)) else [data]) if isinstance(one, torch.Tensor)]
    output = tensors[-1]
    made = trivial(output, tensors[0])
    if len(tensors) == 1:
        return made
    output.copy_(made)
    return output
