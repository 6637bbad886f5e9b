# 120 fails_beside_the_other
# attempts: to spoil a head-to-head comparison: the submission works when it is measured alone, and
#   exits or hangs when both sides take turns
# required: VERDICT
# verdict: runtime error or time limit
# engines: isolated
# on: cpu gpu
# mode: compare
# against: honest
# variants: exits hangs
import gc
import os
import time

contestant = next(one for one in gc.get_objects() if type(one).__name__ == "Contestant")
# The submission is measured in turns first, the rival alone first.
TURNS, trials = {"submission": 1, "rival": 2}["@SIDE@"], []


def custom_kernel(data):
    if not trials or trials[-1] is not contestant.input:
        trials.append(contestant.input)
    if len(trials) == TURNS:
        if "@VARIANT@" == "exits":
            os._exit(0)
        time.sleep(600)
    return data + data
