# 23 io_uring_bpf_perf
# attempts: the system calls with the largest attack surface and those that act on the whole
#   machine, and the entry points for 32-bit and x32 programs
# required: DENIED
import ctypes
import mmap
from attack import attempt, custom_kernel, in_child, syscall

zero = ctypes.create_string_buffer(4096)
CALLS = {
    "io_uring_setup": (425, 8, zero), "io_uring_enter": (426, 0, 1, 1, 0, None, 0), "io_uring_register": (427, 0, 0, None, 0),
    "bpf": (321, 0, zero, 120), "bpf (program)": (321, 5, zero, 120), "perf_event_open": (298, zero, 0, -1, -1, 0),
    "userfaultfd": (323, 0), "userfaultfd (user only)": (323, 1), "add_key": (248, b"user", b"@MARK@", b"x", 1, -3),
    "request_key": (249, b"user", b"@MARK@", None, -3), "keyctl": (250, 0, -3, 1), "init_module": (175, zero, 8, b""),
    "finit_module": (313, 0, b"", 0), "delete_module": (176, b"x", 0), "kexec_load": (246, 0, 0, None, 0), "reboot": (169, 1, 2, 3, None),
    "swapon": (167, b"/tmp/x", 0), "swapoff": (168, b"/tmp/x"), "acct": (163, None), "quotactl": (179, 0, None, 0, None),
    "syslog": (103, 3, zero, 4096), "vhangup": (153,), "iopl": (172, 3), "ioperm": (173, 0, 8, 1), "modify_ldt": (154, 1, zero, 16),
    "name_to_handle_at": (303, -100, b"/", zero, zero, 0), "open_by_handle_at": (304, -100, zero, 0), "personality": (135, 0x400000),
    "lookup_dcookie": (212, 1, zero, 4096), "fanotify_init": (300, 0, 0), "sethostname": (170, b"x", 1), "setdomainname": (171, b"x", 1),
    "seccomp (listener)": (317, 1, 8, zero), "memfd_secret": (447, 0),
}
for name, arguments in CALLS.items():
    attempt(name, in_child, lambda: syscall(*arguments) + 1)


def run_code(code):
    """Machine code that returns a number; negative ones are errors."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    result = function()
    if result < 0:
        raise OSError(-result, "error")
    return True


# push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
attempt("the entry for 32-bit programs", in_child, run_code, b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")
# mov eax, 0x40000027 (getpid); syscall; ret
attempt("the entry for x32 programs", in_child, run_code, b"\xb8\x27\x00\x00\x40\x0f\x05\xc3")
