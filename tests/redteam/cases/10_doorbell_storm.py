# 10 doorbell_storm
# attempts: to upset the reader of the result pipe. It shrinks the pipe, makes it a non-blocking
#   packet pipe, sends single bytes, reads back what it sent, and writes nothing a hundred thousand
#   times
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
