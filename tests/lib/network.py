"""Several hosts on one machine, for tests. Each host is a network namespace with a cable to one
switch, and a test can pull the cable. The switch has no connection to the outside.

enter() restarts the calling program in new namespaces for processes, mounts and the network. When
the program ends, all processes in the namespaces end too.
"""

import os
import pathlib
import signal
import subprocess
import sys

SWITCH = "10.77.0.1"
BELIEVED = "PODIUM_TEST_NETWORK"


def lack():
	"""The reason why this machine cannot make network namespaces, or None."""
	if os.geteuid() != 0:
		return "network namespaces need root"
	trial = "ip link add one type bridge && ip link add two type veth peer name three"
	answer = subprocess.run(["unshare", "--net", "sh", "-c", trial], capture_output=True, text=True)
	if answer.returncode == 0:
		return None
	return f"there are no bridges between network namespaces: {answer.stderr.strip()}"


def enter():
	if os.environ.get(BELIEVED) != "inside":
		os.environ[BELIEVED] = "inside"
		os.execvp(
			"unshare",
			[
				"unshare",
				"--mount",
				"--net",
				"--pid",
				"--fork",
				"--kill-child",
				"--mount-proc",
				"--",
				sys.executable,
				*sys.argv,
			],
		)
	ip("link", "set", "lo", "up")
	subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
	pathlib.Path("/run/netns").mkdir()
	ip("link", "add", "switch", "type", "bridge")
	ip("address", "add", f"{SWITCH}/24", "dev", "switch")
	ip("link", "set", "switch", "up")


def ip(*words):
	subprocess.run(
		["ip", *words],
		check=True,
		capture_output=True,
		env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"},
	)


class Host:
	"""A host with an address on the switch."""

	def __init__(self, name, number):
		self.name, self.address, self.cable = name, f"10.77.0.{number}", f"to-{name}"
		ip("netns", "add", name)
		ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", name)
		ip("link", "set", self.cable, "master", "switch", "up")
		ip("-n", name, "address", "add", f"{self.address}/24", "dev", "eth0")
		for device in ("lo", "eth0"):
			ip("-n", name, "link", "set", device, "up")

	def before(self):
		"""Words to put before a command so that it runs on the host. nsenter execs the command,
		which therefore has the process id of the call."""
		return ["nsenter", f"--net=/run/netns/{self.name}"]

	def start(self, command, **options):
		return subprocess.Popen([*self.before(), *command], stdin=subprocess.DEVNULL, **options)

	def kill(self):
		"""Kills everything that runs on the host, as a power failure does."""
		for pid in subprocess.run(
			["ip", "netns", "pids", self.name], capture_output=True, text=True, check=True
		).stdout.split():
			try:
				os.kill(int(pid), signal.SIGKILL)
			except ProcessLookupError:
				pass

	def cut(self):
		"""Pulls the host's cable: packets vanish, and a client gets neither answer nor error."""
		ip("link", "set", self.cable, "down")

	def heal(self):
		ip("link", "set", self.cable, "up")
