# 17 net_out
# attempts: to reach the host's loopback, a cloud's metadata service, a name on the network, and
#   Unix sockets of the host; and to open raw, packet, netlink, vsock and Bluetooth sockets
# required: DENIED
# needs: network
import os
import socket
from attack import attempt, custom_kernel


def connect(family, kind, address, protocol=0):
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(1)
        one.connect(address)
        one.send(b"@MARK@")
    return True


def make(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return True


for address in ("127.0.0.1", "0.0.0.0"):
    attempt(f"TCP to {address}", connect, socket.AF_INET, socket.SOCK_STREAM, (address, @PORT@))
    attempt(f"UDP to {address}", connect, socket.AF_INET, socket.SOCK_DGRAM, (address, @PORT@))
attempt("TCP to ::1", connect, socket.AF_INET6, socket.SOCK_STREAM, ("::1", @PORT@))
attempt("the metadata service", connect, socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))
attempt("UDP to the metadata service", connect, socket.AF_INET, socket.SOCK_DGRAM, ("169.254.169.254", 53))
attempt("a name", socket.getaddrinfo, "example.org", 80)
attempt("the host's abstract socket", connect, socket.AF_UNIX, socket.SOCK_STREAM, "\0@MARK@")
attempt("netlink", make, socket.AF_NETLINK, socket.SOCK_RAW)
attempt("vsock", make, 40, socket.SOCK_STREAM)
attempt("packet", make, socket.AF_PACKET, socket.SOCK_RAW)
attempt("raw", make, socket.AF_INET, socket.SOCK_RAW, 1)
attempt("ping", make, socket.AF_INET, socket.SOCK_DGRAM, 1)
attempt("Bluetooth", make, 31, socket.SOCK_RAW, 1)
attempt("the kernel's ciphers", make, 38, socket.SOCK_SEQPACKET)
for path in ("/run/docker.sock", "/run/systemd/private", "/run/dbus/system_bus_socket", "/run/mysqld/mysqld.sock",
             "/run/nvidia-persistenced/socket"):
    attempt(path, connect, socket.AF_UNIX, socket.SOCK_STREAM, path)
