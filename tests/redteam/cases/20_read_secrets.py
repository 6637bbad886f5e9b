# 20 read_secrets
# attempts: to read other submissions, the host's passwords and keys, the database, folders of
#   sockets, control groups and homes, and to find the host's file with a secret
# required: DENIED
# needs: files
import os
from attack import attempt, custom_kernel

FILES = ["@SECRET@", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key", "/root/.bashrc", "/root/.profile",
         "/etc/podium.conf", "/etc/podium/podium.conf", "/var/lib/mysql/ibdata1", "/etc/mysql/my.cnf", "/etc/mysql/mariadb.cnf",
         "/proc/kcore", "/proc/kmsg", "/proc/1/environ", "/proc/1/maps", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmsg", "/dev/vda",
         "/dev/sda", "/dev/nvme0n1"]
FOLDERS = ["@VICTIM@", os.path.dirname("@VICTIM@") + "/jobs", "/root", "/home", "/var/lib/mysql", "/run/mysqld", "/run/systemd", "/srv",
           "/mnt", "/media", "/boot", "/opt/podium", "/sys/fs/cgroup/memory", "/sys/kernel/debug", "/sys/kernel/tracing", "/var/log",
           "/var/spool", "/var/mail", "/lost+found"]
SYSTEM = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix"}


def read(path):
    with open(path, "rb") as file:
        return file.read(200)


def search(top="/"):
    """A file with the secret, wherever the system's own folders are not."""
    for folder, folders, files in os.walk(top):
        if folder == "/":
            folders[:] = [name for name in folders if name not in SYSTEM | {"proc", "sys"}]
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or os.path.getsize(path) > 1000:
                continue
            try:
                text = open(path, "rb").read()
            except OSError:
                continue
            if text.startswith(b"secret-"):
                return path


def other_jobs():
    """Folders of jobs beside its own."""
    found = []
    for folder in ("/tmp", "/var/tmp", "..", "../..", "../../.."):
        try:
            found += [name for name in os.listdir(folder) if name.startswith(("podium-", "mysql", "ssh-", "systemd-private"))]
        except OSError:
            pass
    return found or None


for path in FILES:
    attempt(f"read {path}", read, path)
for path in FOLDERS:
    attempt(f"list {path}", os.listdir, path)
attempt("find the secret", search)
attempt("find other jobs", other_jobs)
