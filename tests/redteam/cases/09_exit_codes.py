# 9 exit_codes
# attempts: to end at every stage with the exit code of success, of a wrong answer or of a killed
#   process. In the isolated engine also with the exit codes of the judge
# required: FORGE-IGNORED
# verdict: runtime error or wrong answer
# mode: ranked
# isolated verdict: runtime error
# isolated variants: import-0 import-112 import-115 import-117 call-0 call-112 call-115 call-116 call-117
# variants: import-0 import-112 import-137 test-0 test-112 leaderboard-0 leaderboard-112 leaderboard-137
import os
import sys
from attack import custom_kernel as right

WHEN, CODE = "@VARIANT@".split("-")
if WHEN == "import":
    os._exit(int(CODE))


def custom_kernel(data):
    if WHEN == "call":
        os._exit(int(CODE))
    import inspect
    frame = inspect.currentframe()
    while frame.f_back and "mode" not in frame.f_locals:
        frame = frame.f_back
    if frame.f_locals.get("mode") == WHEN:
        os._exit(int(CODE))
    return right(data)
