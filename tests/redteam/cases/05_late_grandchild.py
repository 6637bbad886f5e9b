# 5 late_grandchild
# attempts: to leave behind a grandchild in its own session. The grandchild waits until the
#   submission's process has ended, then writes forged results
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
