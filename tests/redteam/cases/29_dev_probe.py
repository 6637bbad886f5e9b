# 29 dev_probe
# attempts: to open the machine's devices, to create nodes of them, and to find more in /dev than a
#   submission may have
# required: DENIED
# on: cpu gpu
# needs: files
import os
import stat
from attack import attempt, custom_kernel

ALLOWED = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue", "fd", "stdin", "stdout", "stderr",
           "nvidiactl", "nvidia-uvm", "nvidia-caps"}
NODES = {"mem": (1, 1), "kmem": (1, 2), "port": (1, 4), "kmsg": (1, 11), "vda": (254, 0), "sda": (8, 0), "loop0": (7, 0), "fuse": (10, 229),
         "kvm": (10, 232), "tun": (10, 200), "nvidia0": (195, 0), "nvidia1": (195, 1), "nvidiactl": (195, 255), "nvidia-modeset": (195, 254)}
NAMES = ["mem", "kmem", "port", "kmsg", "vda", "vda1", "sda", "nvme0n1", "loop0", "loop-control", "fuse", "kvm", "net/tun", "hwrng", "rtc0",
         "cpu_dma_latency", "btrfs-control", "autofs", "console", "tty0", "vcs", "vhost-net", "vhost-vsock", "vsock", "snapshot", "uinput",
         "nvidia-modeset", "nvidia-uvm-tools", "dri/card0", "dri/renderD128", "infiniband/uverbs0", "infiniband/rdma_cm",
         "nvidia-caps/nvidia-cap1", "nvidia-caps-imex-channels/channel0", "nvidia-nvlink", "nvidia-nvswitchctl"]


def open_any(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return True


def make(name, kind, node):
    os.mknod(f"/tmp/@MARK@-{name}", kind | 0o666, node)
    return True


for name in NAMES:
    attempt(f"open /dev/{name}", open_any, f"/dev/{name}")
for name, node in NODES.items():
    for kind in (stat.S_IFCHR, stat.S_IFBLK):
        attempt(f"make {name}", make, name, kind, os.makedev(*node))


def others():
    """What else stands in /dev. One GPU's node is its own."""
    found = [name for name in os.listdir("/dev") if name not in ALLOWED]
    gpus = [name for name in found if name.startswith("nvidia") and name[6:].isdigit()]
    found = [name for name in found if name not in gpus] + gpus[int(bool(os.environ.get("CUDA_VISIBLE_DEVICES"))):]
    return found or None


attempt("find more in /dev", others)
attempt("open every block device of /sys", lambda: [name for name in os.listdir("/sys/block") if open_any(f"/dev/{name}")] or None)
