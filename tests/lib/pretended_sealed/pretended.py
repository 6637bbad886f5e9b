"""What the pretended builder and launchers share: the judge's memory, which is on the host, notes
for tests, and a launcher's answers."""

import contextlib
import ctypes
import os
import select
import sys
import time

import podium_sealed as sealed
import podium_wire as wire

SOCKET, INPUT, ARENA = 3, sealed.RANGE_ADDRESS, sealed.RANGE_ADDRESS + (64 << 30)
# How long a launcher sleeps between two looks for work: longer while there is none.
SHORTEST_S, LONGEST_S = 0.0001, 0.001
places = {}


def note(what, file="noted"):
	with contextlib.suppress(OSError), open(f"../{file}", "a") as notes:
		notes.write(what + "\n")


def place(content, descriptors):
	address, count, is_input, is_arena = sealed.PLACE.unpack(content)
	if not descriptors:
		wire.memory_release(places.pop(address))
		return
	assert address not in places
	inode = os.fstat(descriptors[0]).st_ino
	note(f"{sys.argv[-1]} {address - INPUT} {inode} {count}", "places")
	places[address] = wire.memory_import(False, count, descriptors[0])


def numbers(address, count):
	base = max(one for one in places if one <= address)
	return (ctypes.c_int64 * count).from_address(places[base].address + address - base)


def serve(take_frame, call):
	"""Takes frames and calls until the judge leaves. The first frame gives the page. `call` takes
	an order and returns the status."""
	with contextlib.suppress(wire.Gone):
		page, seen, pause_s = take_frame(), 0, SHORTEST_S
		while True:
			# The judge sends a call's frames before it arms the call, so look in the other order.
			is_armed = wire.armed(page) != seen
			is_framed = select.select([SOCKET], [], [], 0)[0]
			pause_s = SHORTEST_S if is_framed or is_armed else min(1.1 * pause_s, LONGEST_S)
			if is_framed:
				take_frame()
			elif is_armed:
				order = wire.wait_for_call(page, SOCKET)
				seen = order.number
				if order.command == wire.LEAVE:
					return
				wire.stand_by(page, SOCKET)
				wire.done(page, call(order), 0, 0.0)
			time.sleep(pause_s)
