# 39 patch_checker
# attempts: to make the check accept a wrong answer by replacing torch's comparisons and the task's
#   check
# required: FORGE-IGNORED
# verdict: wrong answer or runtime error
# mode: ranked
# custom cannot-stop: the check of the custom engine runs in the submission's own process, where its code can be exchanged
import sys
import torch

for name in ("allclose", "isclose", "equal", "eq", "ne"):
    setattr(torch, name, lambda *arguments, **options: True)
frame = sys._getframe()
while frame and "reference" not in frame.f_locals:
    frame = frame.f_back
for reference in [frame.f_locals["reference"]] if frame else []:
    reference.check_implementation.__code__ = (lambda *arguments: (True, "")).__code__.replace(
        co_freevars=reference.check_implementation.__code__.co_freevars)


def custom_kernel(data):
    return data
