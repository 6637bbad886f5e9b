# 7b pickle_pool
# attempts: to return an object whose unpickling runs code. The pool would unpickle it in the
#   harness's process
# required: DENIED
# task: pool_py
# cannot-stop: a harness that unpickles what a submission returns runs it; the custom engine runs such harnesses unchanged.
#   The code stays inside the sandbox
from attack import attempt, custom_kernel as right, say


def run_in_parent(child, values):
    import os
    if os.getpid() != child:
        say("could: run code in the process of the harness")
    return values


class Bomb:
    def __init__(self, values):
        self.values = values

    def __reduce__(self):
        import os
        return run_in_parent, (os.getpid(), self.values)


def custom_kernel(data):
    say("attempts: 1")
    return Bomb([2 * value for value in data])
