# 19 setuid_exec
# attempts: to gain rights from setuid and setgid programs, or to find that it has capabilities
# required: DENIED
import glob
import os
import stat
import subprocess
from attack import attempt, custom_kernel, libc

status = dict(line.strip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)


def capabilities(name):
    return int(status[name], 16) or None


for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
    attempt(f"capabilities {name}", capabilities, name)
attempt("may gain rights by exec", lambda: status["NoNewPrivs"].strip() != "1")
attempt("become root", lambda: os.setresuid(0, 0, 0) or True)
attempt("set its user in the host's terms", lambda: "root" if os.geteuid() == 0 else None)
own = os.geteuid()
mine = [path for path in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*") + glob.glob("/usr/lib/*/*")
        if not os.path.islink(path) and os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID) and os.path.isfile(path)]


def effective_user(path):
    """The users that a program was seen to run as; su asks for a password, others say how to use them."""
    child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = set()
    for _ in range(50):
        try:
            line = next(line for line in open(f"/proc/{child.pid}/status") if line.startswith("Uid:"))
        except (OSError, StopIteration):
            break
        seen |= {int(word) for word in line.split()[1:]}
        if child.poll() is not None:
            break
    child.kill()
    child.wait()
    return seen - {own} or None


def says(path):
    words = subprocess.run([path], capture_output=True, text=True).stdout
    return words if "euid=" in words or "egid=" in words else None


for path in mine:
    attempt(f"run {path}", effective_user, path)
attempt("run the host's program", says, "@VICTIM@/id")
