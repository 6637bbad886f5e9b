# 59 superbatch
# attempts: to compute the answers to several inputs in one timed call. It reads all places of
#   inputs, and answers later calls with the results
# required: FORGE-IGNORED
# verdict: wrong answer
# engines: isolated
# on: cpu gpu
# mode: benchmark
# variants: places ahead
import torch
import channel

kept, seen, calls = {}, {}, 0


def other_places(data):
    """What lies where earlier inputs lay, and where the next ones will."""
    if data.is_cuda:
        return list(seen.values())
    size_of = data.numel() * data.element_size()
    return [torch.frombuffer((channel.ctypes.c_uint8 * size_of).from_address(address + first), dtype=data.dtype)
            for address, size in channel.shared() for first in range(0, size - size_of + 1, size_of)]


def custom_kernel(data):
    """From the fifth call on: by then the test is over, whose places are no longer there."""
    global calls
    place, calls = data.data_ptr(), calls + 1
    if calls < 5:
        return data + data
    if place in kept and len(kept[place]) == len(data):
        return kept.pop(place)
    seen[place] = data
    if "@VARIANT@" == "places":
        for other in other_places(data):
            kept[other.data_ptr()] = other + other
    else:
        kept[place] = data + data
    return data + data
