"""Uses what the isolated engine shares with a submission (the page, the memories and the socket)
directly, without the engine's code. A copy of this file is next to each submission. native.h
describes the parts; nothing in them is secret."""

import ctypes
import os
import re
import socket
import struct
import time

SOCKET = 3
FRAME_BYTES, HEAD_BYTES = 65536, 16
HELLO, INPUTS, OUTPUTS, INPUT, READY, MAPPED, SPEC, TEXT = range(1, 9)
RETURNED, NEW_SPEC, RAISED, NO_OUTPUT = range(4)
# Offsets in the page.
PLACES = {
	"armed": 0,
	"command": 4,
	"slot": 8,
	"cpu": 12,
	"called": 64,
	"ready": 128,
	"done": 192,
	"status": 196,
	"spec": 200,
}
OWN_NS = 208
PAGE_BYTES = 4096


def shared():
	"""Returns [(address, bytes)] of all mappings that this process shares with another one. The
	page comes first."""
	found = []
	for line in open("/proc/self/maps"):
		words = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-s .*/memfd:", line)
		if words:
			first, last = int(words[1], 16), int(words[2], 16)
			found.append((first, last - first))
	return sorted(found, key=lambda one: one[1] != PAGE_BYTES)


class Page:
	def __init__(self):
		self.address = next(address for address, size in shared() if size == PAGE_BYTES)
		self.words = {
			name: ctypes.c_uint32.from_address(self.address + place)
			for name, place in PLACES.items()
		}

	def __getattr__(self, name):
		return self.words[name].value

	def put(self, name, value):
		self.words[name].value = value

	def say_done(self, status=RETURNED, spec=0, own_ns=1.0):
		"""Reports "done" as the contestant does, but possibly with false values."""
		self.put("status", status)
		self.put("spec", spec)
		ctypes.c_double.from_address(self.address + OWN_NS).value = own_ns
		self.put("done", self.called)


def frame(kind, content=b"", length=None, descriptors=0, unused=0):
	head = struct.pack(
		"<IIII", kind, len(content) if length is None else length, descriptors, unused
	)
	return (head + content).ljust(FRAME_BYTES, b"\0")


def send(raw, descriptors=()):
	"""Sends one message of any content."""
	with socket.socket(fileno=os.dup(SOCKET)) as channel:
		ancillary = (
			[
				(
					socket.SOL_SOCKET,
					socket.SCM_RIGHTS,
					struct.pack(f"{len(descriptors)}i", *descriptors),
				)
			]
			if descriptors
			else []
		)
		return channel.sendmsg([raw], ancillary)


def receive():
	"""Returns the content of the next frame and closes the descriptors that come with it."""
	with socket.socket(fileno=os.dup(SOCKET)) as channel:
		raw, descriptors, _, _ = socket.recv_fds(channel, FRAME_BYTES, 4)
	for descriptor in descriptors:
		os.close(descriptor)
	return struct.unpack_from("<I", raw)[0] if raw else 0, raw[HEAD_BYTES:]


def bytes_of(tensor):
	"""Returns the tensor's memory as an array of bytes, which can be written without torch."""
	return (ctypes.c_uint8 * (tensor.numel() * tensor.element_size())).from_address(
		tensor.data_ptr()
	)


def spin(seconds):
	"""Waits in a loop, because a sleep would take longer than asked for."""
	end = time.perf_counter() + seconds
	while time.perf_counter() < end:
		pass
