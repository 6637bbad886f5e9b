# 9d hangs
# attempts: to make the judge wait: the submission never becomes ready, never finishes, stops
#   itself, or closes its end of the channel
# required: VERDICT
# verdict: time limit or protocol violation or runtime error
# engines: isolated
# change: {"task": {"test_timeout_s": 3}}
# variants: import call stop close shutdown sleep-in-exit
import atexit
import os
import signal
import socket
import time
import channel
from attack import custom_kernel as right

if "@VARIANT@" == "import":
    time.sleep(600)
if "@VARIANT@" == "sleep-in-exit":
    atexit.register(time.sleep, 600)


def custom_kernel(data):
    if "@VARIANT@" == "call":
        time.sleep(600)
    if "@VARIANT@" == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if "@VARIANT@" == "close":
        os.close(channel.SOCKET)
        time.sleep(600)
    if "@VARIANT@" == "shutdown":
        socket.socket(fileno=os.dup(channel.SOCKET)).shutdown(socket.SHUT_RDWR)
        time.sleep(600)
    if "@VARIANT@" == "sleep-in-exit":
        raise SystemExit(0)
    return right(data)
