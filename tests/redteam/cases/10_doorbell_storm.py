# 10 doorbell_storm
# attempts: to upset the other end of the channel: makes the result pipe as small as it gets, a packet pipe, not blocking,
#   sends it in single bytes, pulls back what was sent, and wakes its reader a hundred thousand times
# engines: custom
# required: VERDICT
# verdict: passed or protocol violation
import fcntl
import os
from attack import attempt, custom_kernel, forgery, result_pipes

for number in result_pipes():
    attempt("shrink", fcntl.fcntl, number, fcntl.F_SETPIPE_SZ, 4096)
    attempt("packets", fcntl.fcntl, number, fcntl.F_SETFL, os.O_DIRECT | os.O_NONBLOCK | os.O_APPEND)
    attempt("read back", os.read, number, 10)
    for byte in forgery() * 20:
        try:
            os.write(number, bytes([byte]))
        except BlockingIOError:
            pass
    for _ in range(100000):
        try:
            os.write(number, b"")
        except BlockingIOError:
            pass
    fcntl.fcntl(number, fcntl.F_SETFL, 0)
