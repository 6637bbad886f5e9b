# 9c ends
# attempts: to end in the middle of a call, so that the judge waits forever, fails, or takes
#   unfinished memory for an output
# required: FORGE-IGNORED
# needs: processes
# verdict: runtime error or protocol violation
# engines: isolated
# change: {"task": {"test_timeout_s": 15}}
# variants: kill segfault abort exit-done exit-group orphan done-and-die
import ctypes
import os
import signal
import time
import channel


def orphan():
    """Somebody else keeps the channel open."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    os._exit(0)


def done_and_die():
    channel.Page().say_done()
    os.kill(os.getpid(), signal.SIGKILL)


def exit_done():
    channel.Page().say_done(channel.RAISED)
    os._exit(0)


ENDS = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda: ctypes.string_at(8),
    "abort": os.abort,
    "exit-done": exit_done,
    "exit-group": lambda: ctypes.CDLL(None).syscall(231, 0),
    "orphan": orphan,
    "done-and-die": done_and_die,
}


def custom_kernel(data):
    ENDS["@VARIANT@"]()
    return data + data
