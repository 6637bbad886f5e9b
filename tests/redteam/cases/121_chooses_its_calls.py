# 121 chooses_its_calls
# attempts: to leave out slow calls: after a slow call it returns its output in a new form, because
#   a call with a new form does not count
# required: VERDICT
# verdict: wrong answer
# engines: isolated
# on: cpu gpu
# mode: ranked
MOST_WARM_CALLS, VOIDED = 110, 7
calls, voided = 0, 0


def custom_kernel(data):
    """As if every third call were slow."""
    global calls, voided
    calls += 1
    made = data + data
    if calls % 3 == 0 and voided < VOIDED and calls > (MOST_WARM_CALLS if data.is_cuda else 5):
        voided += 1
        return made.repeat_interleave(2)[::2]
    return made
