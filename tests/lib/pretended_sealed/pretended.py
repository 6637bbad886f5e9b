"""What the pretended builder and the pretended launcher share: memory of the judge, which lies on
the host, and notes for tests."""

import contextlib
import ctypes
import os
import sys

import podium_sealed as sealed
import podium_wire as wire

SOCKET, INPUT, ARENA = 3, sealed.RANGE_ADDRESS, sealed.RANGE_ADDRESS + (64 << 30)
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
	note(f"{sys.argv[-1]} {address - INPUT} {os.fstat(descriptors[0]).st_ino}", "places")
	places[address] = wire.memory_import(False, count, descriptors[0])


def numbers(address, count):
	base = max(one for one in places if one <= address)
	return (ctypes.c_int64 * count).from_address(places[base].address + address - base)
