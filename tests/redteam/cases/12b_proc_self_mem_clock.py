# 12b proc_self_mem_clock
# attempts: as 12, with the clock: it replaces clock_gettime of the C library by code that advances
#   one nanosecond at each call
# required: FORGE-IGNORED
# mode: ranked
# custom cannot-stop: the custom engine reads the clock in the submission's own process
import ctypes
import mmap
import struct
from attack import custom_kernel, libc

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
base = ctypes.addressof(ctypes.c_char.from_buffer(page))
# mov rax, counter; lock xadd [rax], rcx with rcx = 1; mov [rsi], 1000; mov [rsi + 8], rcx; xor eax, eax; ret
page.write(b"\x48\xb8" + struct.pack("<Q", base + 2048) + b"\xb9\x01\x00\x00\x00" + b"\xf0\x48\x0f\xc1\x08"
           + b"\x48\xc7\x06\xe8\x03\x00\x00" + b"\x48\x89\x4e\x08" + b"\x31\xc0\xc3")
with open("/proc/self/mem", "r+b", 0) as memory:
    memory.seek(ctypes.cast(libc.clock_gettime, ctypes.c_void_p).value)
    memory.write(b"\x48\xb8" + struct.pack("<Q", base) + b"\xff\xe0")
