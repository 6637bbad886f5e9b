# 5 late_grandchild
# attempts: leaves a grandchild with a session of its own that waits for the harness to end, then writes good results
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# mode: ranked
import os
import select
from attack import forgery, result_pipes

text, harness = forgery(), os.pidfd_open(os.getpid())
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        select.select([harness], [], [])
        for number in result_pipes():
            os.write(number, text)
        open("/tmp/@MARK@", "w")
        while True:
            select.select([], [], [])
    os._exit(0)


def custom_kernel(data):
    return data
