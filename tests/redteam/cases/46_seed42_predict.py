# 46 seed42_predict
# attempts: to guess the input, without computing from it: makes inputs from the case file's seeds,
#   from 42, and from seeds that grow by 13 or 42 with each call
# required: FORGE-IGNORED
# verdict: wrong answer
# mode: ranked
import os
from utils import uniform

PUBLIC = ["size: 1000; seed: 5236", "size: 4099; seed: 1001", "size: 262144; seed: 54352"]  # as the task's page shows them


def cases():
    for line in open("../cases.txt") if os.path.exists("../cases.txt") else PUBLIC:
        yield {part.split(":")[0].strip(): int(part.split(":")[1]) for part in line.split(";")}


calls = 0


def custom_kernel(data):
    global calls
    seeds = {case["size"]: case["seed"] for case in cases()}
    for step in (0, 13, 42):
        for seed in (seeds[len(data)] + step * calls, 42 + step * calls):
            guess = uniform((len(data),), seed, 1, 2)
            if guess[0] == data[0]:
                return guess + guess
    calls += 1
    return uniform((len(data),), seeds[len(data)], 1, 2) * 2
