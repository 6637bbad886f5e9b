# 50 sparse_compute
# attempts: to compute all but the last 32 elements, all but one element, or 99.9 % of the elements
#   at random places
# required: VERDICT
# verdict: wrong answer
# task: every
# variants: tile one random
# custom variants: one
import random
import torch


def spoil(output):
    """A few elements change; of whole numbers as well as of others."""
    flat = output.view(-1)
    if "@VARIANT@" == "tile":
        places = range(max(0, flat.numel() - 32), flat.numel())
    elif "@VARIANT@" == "one":
        places = [random.randrange(flat.numel())]
    else:
        places = random.sample(range(flat.numel()), max(1, flat.numel() // 1000))
    index = torch.tensor(list(places))
    flat[index] = flat[index] * 2 + 3
    return output


@RIGHT@

right_kernel = custom_kernel


def custom_kernel(data):
    return spoil(right_kernel(data))
