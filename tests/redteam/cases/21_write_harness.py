# 21 write_harness
# attempts: to change, replace or remove the harness, the task's files, torch, the interpreter, and
#   files of the loader and the system, and to add files to their folders
# required: DENIED
# mode: ranked
import glob
import os
import site
import sys
import sysconfig
import torch
from attack import attempt, custom_kernel

PACKAGES = [sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"], *sys.path[1:]]
FILES = ["eval.py", "reference.py", "utils.py", "attack.py", "submission.py", "../cases.txt",
         "../engine/contestant.py", "../engine/judge.py", "../engine/native.so", torch.__file__, os.__file__, sys.executable,
         os.path.realpath(sys.executable), "/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/passwd", "/lib/x86_64-linux-gnu/libc.so.6",
         "/usr/bin/env", "/bin/sh", "/usr/local/cuda/bin/nvcc"]
FOLDERS = [*{folder for folder in PACKAGES if os.path.isdir(folder)}, "/etc", "/usr/bin", "/usr/local/bin", "/usr/lib", "/bin", "/lib", "/",
           "..", os.path.dirname(torch.__file__)]


def write(path):
    with open(path, "r+b") as file:
        return file.write(b"") == 0


def exchange(path):
    other = "./@MARK@"
    open(other, "w").close()
    try:
        os.rename(other, path)
    finally:
        if os.path.exists(other):
            os.unlink(other)
    return True


def remove(path):
    os.rename(path, path + ".old")
    return True


def add(folder):
    path = f"{folder}/@MARK@.pth"
    open(path, "w").close()
    os.unlink(path)
    return True


# A contestant of the isolated engine has no eval.py and no reference.py; what it names so is its own.
for path in filter(os.path.lexists, FILES):
    attempt(f"write to {path}", write, path)
    attempt(f"let others write to {path}", lambda: os.chmod(path, 0o777) or True)
    attempt(f"put another file in the place of {path}", exchange, path)
    attempt(f"take {path} away", remove, path)
for folder in FOLDERS:
    attempt(f"add a file to {folder}", add, folder)
