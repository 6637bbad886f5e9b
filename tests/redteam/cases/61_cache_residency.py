# 61 cache_residency
# attempts: to keep inputs in the L2 cache: it reserves a part of the cache for the input by an
#   access policy window, or a thread reads the places of inputs all the time
# required: FORGE-IGNORED
# engines: isolated
# on: gpu
# task: fill_py
# mode: benchmark
# variants: persist prefetch
# change: {"task": {"benchmarks": ["size: 4194304; seed: 54352"]}}
# truth: honest
# charged: 0.97
# spared: 0.3
import threading
import torch
from gpu import persist, window

HOW, places, calls = "@VARIANT@", {}, 0
side, own = torch.cuda.Stream(), torch.cuda.Stream()


def fetch():
    """Reads where inputs lie, all the time."""
    while True:
        for place in list(places.values()):
            with torch.cuda.stream(side):
                place.sum()
        side.synchronize()


if HOW == "persist":
    persist()
if HOW == "prefetch":
    threading.Thread(target=fetch, daemon=True).start()


def custom_kernel(data):
    global calls
    source, output = data
    calls += 1
    if HOW == "persist":
        window(own.cuda_stream, source.data_ptr(), 4 * len(source))
    if HOW == "prefetch" and calls > 4 and len(places) < 8:  # by then the test is over, whose places are no longer there
        places[source.data_ptr()] = source
    own.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(own):
        torch.add(source * 3, 1, out=output)
    torch.cuda.current_stream().wait_stream(own)
    return output
