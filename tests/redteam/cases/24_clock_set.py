# 24 clock_set
# attempts: to set or adjust the machine's clock, and to open the clock devices and the files that
#   would show later processes another time
# required: DENIED
import ctypes
import time
from attack import attempt, custom_kernel, syscall


class Pair(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


ADJTIMEX, SETTIMEOFDAY, CLOCK_SETTIME, CLOCK_ADJTIME = 159, 164, 227, 305
now = Pair(int(time.time()), 0)
tick = (ctypes.c_long * 26)(0x4000)  # ADJ_TICK, to what it is
tick[11] = 10000
attempt("clock_settime", lambda: syscall(CLOCK_SETTIME, 0, now) + 1)
attempt("settimeofday", lambda: syscall(SETTIMEOFDAY, now, None) + 1)
attempt("adjtimex", lambda: syscall(ADJTIMEX, tick) + 1)
attempt("clock_adjtime", lambda: syscall(CLOCK_ADJTIME, 0, tick) + 1)
attempt("time", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()) or True)
for path in ("/etc/ld.so.preload", "/etc/localtime", "/etc/adjtime", "/dev/rtc0", "/dev/rtc", "/dev/ptp0"):
    attempt(f"open {path}", lambda: open(path, "r+b") and True)
