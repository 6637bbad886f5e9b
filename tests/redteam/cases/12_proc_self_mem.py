# 12 proc_self_mem
# attempts: to change the C library's code through /proc/self/mem. A submission may change its own
#   process
# required: FORGE-IGNORED
# mode: ranked
import ctypes
from attack import custom_kernel, libc

# int getppid(void) { return 42; }
place = ctypes.cast(libc.getppid, ctypes.c_void_p).value
try:
    with open("/proc/self/mem", "r+b", 0) as memory:
        memory.seek(place)
        memory.write(b"\xb8\x2a\x00\x00\x00\xc3")
except OSError:
    pass
