#!/bin/sh
# Runs a command in a separate system: an overlay in memory over this host, or over the system in
# the folder SYSTEM. All changes are forgotten. The command has its own processes, mounts, network
# and /tmp, and can write nothing of the host except the shared folder.
#
#	[SYSTEM=FOLDER] unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup \
#		tests/scale/contained.sh SHARED COMMAND...
#
# The folder SHARED appears as /shared. In another system, Podium's tree is readable at its usual
# path. The caller may put this script into a control group of version 2.
set -eu
shared=$1
shift
tree=$(cd "$(dirname "$0")/../.." && pwd)
mount --make-rprivate /
place=$(mktemp -d)
mount -t tmpfs tmpfs "$place"
mkdir "$place/changes" "$place/work" "$place/root"
mount -t overlay overlay -o "lowerdir=${SYSTEM:-/},upperdir=$place/changes,workdir=$place/work" "$place/root"
cd "$place/root"
mkdir -p shared old
mount --bind "$shared" shared
if [ -n "${SYSTEM:-}" ]; then
	mkdir -p ".$tree"
	mount --bind "$tree" ".$tree"
	mount -o remount,bind,ro ".$tree"
fi
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mkdir -m 1777 run/lock
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup 2> /dev/null || true
mount -t tmpfs -o mode=755 tmpfs dev
mkdir -m 1777 dev/shm
mkdir dev/pts
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for node in null zero full random urandom tty; do
	: > "dev/$node"
	mount --bind "/dev/$node" "dev/$node"
done
ln -s /proc/self/fd dev/fd
ip link set lo up
pivot_root . old
umount -l /old
rmdir "/old" 2> /dev/null || true
cd /
exec "$@"
