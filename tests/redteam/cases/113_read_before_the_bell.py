# 113 read_before_the_bell
# attempts: to read an input on the host before the clock runs: the submission delays "ready" and
#   meanwhile looks at the input's place
# required: FORGE-IGNORED
# verdict: wrong answer or runtime error
# engines: isolated
# on: cpu gpu
# task: rows_host_py
# mode: benchmark
import gc
import podium_wire as wire

HONEST_CALLS = 4
contestant = next(one for one in gc.get_objects() if type(one).__name__ == "Contestant")
real, calls, early = wire.stand_by, 0, []


def stand_by(page, socket):
    """The judge rings only when the contestant is ready, so there is time for the whole work."""
    if calls >= HONEST_CALLS:
        matrix, _ = contestant.input.prepare(contestant.input.area.slots - 1)()
        early.append(matrix.sum(1))
    real(page, socket)


wire.stand_by = stand_by


def custom_kernel(data):
    global calls
    calls += 1
    matrix, sums = data
    sums.copy_(early.pop() if early else matrix.sum(1))
    return sums
