"""The job before attack 22 leaves entries in all folders. The test also searches the host."""
import os
from attack import custom_kernel, libc

HOME = os.environ["HOME"]
FOLDERS = [HOME, f"{HOME}/.triton/cache", f"{HOME}/.nv/ComputeCache", f"{HOME}/.cache/torch_extensions", os.environ["TMPDIR"], "/tmp",
           "/var/tmp", "/dev/shm", "/dev/mqueue", ".", "..", "/run", "/run/lock", "/var/lock"]
FOLDERS += [value for name, value in os.environ.items() if name.endswith(("_DIR", "_HOME", "_PATH"))]
for folder in FOLDERS:
    try:
        os.makedirs(folder, exist_ok=True)
        open(f"{folder}/@MARK@", "w").close()
    except OSError:
        pass
libc.shmget(0x7ead, 4096, 0o1666)
libc.semget(0x7ead, 1, 0o1666)
libc.msgget(0x7ead, 0o1666)
libc.syscall(240, b"@MARK@", 0o100 | 2, 0o666, None)
