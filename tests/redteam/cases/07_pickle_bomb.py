# 7 pickle_bomb
# attempts: to send a pickle to every pipe and channel. Whoever unpickles it runs a program
# required: FORGE-IGNORED
# verdict: protocol violation
import os
import pickle
from attack import custom_kernel, result_pipes


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/@MARK@ @VICTIM@/open/@MARK@",)


for number in [1, 2, *result_pipes()]:
    os.write(number, pickle.dumps(Bomb()) + b"\n")
