# 52 wrong_dtype_stride
# attempts: to return right numbers, or a part of them, in another form: of another type, shape or
#   number of dimensions, expanded, overlapping, twice, or as text
# required: FORGE-IGNORED
# verdict: wrong answer
# on: cpu gpu
# custom on: cpu
# variants: double half integer complex scalar row column longer mean-expanded overlapping pair text
import torch


def overlapping(right):
    return torch.as_strided(right, (len(right),), (0,))


MAKERS = {
    "double": lambda right: right.double(),
    "half": lambda right: right.half(),
    "integer": lambda right: right.to(torch.int64),
    "complex": lambda right: right.to(torch.complex64),
    "scalar": lambda right: right[0].clone(),
    "row": lambda right: right[None],
    "column": lambda right: right[:, None],
    "longer": lambda right: torch.cat([right, right]),
    "mean-expanded": lambda right: right.mean().expand(len(right)),
    "overlapping": overlapping,
    "pair": lambda right: (right, right),
    "text": str,
}


def custom_kernel(data):
    return MAKERS["@VARIANT@"](data + data)
