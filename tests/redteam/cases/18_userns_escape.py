# 18 userns_escape
# attempts: to create namespaces with unshare, clone and clone3, to enter those of other processes,
#   to mount and unmount, and to change the root of its process
# required: DENIED
import ctypes
import os
from attack import attempt, custom_kernel, in_child, libc, pids, syscall

CLONE, CLONE3, UNSHARE, SETNS, MOUNT, UMOUNT, PIVOT, CHROOT = 56, 435, 272, 308, 165, 166, 155, 161
KINDS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "network": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000,
         "cgroup": 0x2000000, "time": 0x80}
SIGCHLD = 17


class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack",
                                                    "stack_size", "tls")]


def clone(number, *arguments):
    child = syscall(number, *arguments)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


for name, flag in KINDS.items():
    attempt(f"unshare a {name} namespace", in_child, lambda: syscall(UNSHARE, flag) + 1)
    if name != "time":  # whose flag is part of the signal there
        attempt(f"clone into a {name} namespace", clone, CLONE, flag | SIGCHLD, None, None, None, None)
    attempt(f"clone3 into a {name} namespace", clone, CLONE3, Arguments(flags=flag, exit_signal=SIGCHLD), 64)
for kind, flag in (("user", 0x10000000), ("mnt", 0x20000), ("net", 0x40000000)):
    for pid in pids()[:5]:
        def enter():
            return syscall(SETNS, os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY), flag) + 1
        attempt(f"enter the {kind} namespace of {pid}", in_child, enter)
for kind, source, place in ((b"tmpfs", b"x", b"/tmp"), (b"proc", b"x", b"/tmp"), (b"overlay", b"x", b"/tmp"), (b"mqueue", b"x", b"/tmp")):
    attempt(f"mount {kind}", lambda: syscall(MOUNT, source, place, kind, 0, None) + 1)
for flags in (4096, 4096 | 16384, 32, 32 | 4096):  # bind, recursively; remount without its walls
    attempt(f"mount with the flags {flags}", lambda: syscall(MOUNT, b"/", b"/tmp" if flags & 4096 else b"/", None, flags, None) + 1)
attempt("unmount", lambda: [syscall(UMOUNT, place, 2) for place in (b"/proc", b"/tmp", b"/dev/shm", b"/dev")])
attempt("pivot_root", lambda: syscall(PIVOT, b".", b".") + 1)
attempt("chroot", in_child, lambda: syscall(CHROOT, b".") + 1)
for number, name in ((428, "open_tree"), (429, "move_mount"), (430, "fsopen"), (431, "fsconfig"), (432, "fsmount"), (433, "fspick"),
                     (442, "mount_setattr")):
    attempt(name, lambda: syscall(number, b"tmpfs" if name == "fsopen" else -100, b"/", 0, None, 0) + 1)
