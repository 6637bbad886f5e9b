# 47 cache
# attempts: to answer with the result for an earlier input that looks the same: same address, shape,
#   strides, version, mean or slot
# required: FORGE-IGNORED
# verdict: wrong answer
# on: cpu gpu
# custom on: cpu
# mode: ranked
# variants: pointer shape object version sample slot
import torch

kept = {}
KEYS = {
    "pointer": lambda data: data.data_ptr(),
    "shape": lambda data: data.shape,
    "object": lambda data: (type(data), data.shape, data.stride()),
    "version": lambda data: (data._version, data.shape),
    "sample": lambda data: (data.shape, round(float(data.mean()), 1)),
    "slot": lambda data: (data.data_ptr() >> 12) % 64,
}


def custom_kernel(data):
    key = KEYS["@VARIANT@"](data)
    if key not in kept or kept[key].shape != data.shape:
        kept[key] = data + data
    return kept[key]
