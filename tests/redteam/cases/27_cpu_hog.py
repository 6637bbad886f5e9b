# 27 cpu_hog
# attempts: to take the processors from the judge by priorities, real-time scheduling and busy
#   processes. podium-run must still be able to end these processes at the time limit
# required: DENIED
# verdict: time limit
# change: {"task": {"test_timeout_s": 2}}
import os
from attack import attempt, custom_kernel, say

attempt("be nice to itself", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10) or True)
for name, policy, priority in (("FIFO", os.SCHED_FIFO, 1), ("round-robin", os.SCHED_RR, 1), ("deadline", 6, 0)):
    attempt(f"be scheduled {name}", lambda: os.sched_setscheduler(0, policy, os.sched_param(priority)) or True)
say("attempts: 4")
for _ in range(2 * os.cpu_count()):
    if os.fork() == 0:
        break
while True:
    pass
