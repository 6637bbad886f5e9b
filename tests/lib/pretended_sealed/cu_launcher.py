"""A pretended launcher for the plans of pretended C++ submissions (harness/isolated_cu.test.py).
With --null it plays nothing. Its plan means "multiply the floats at `input` by the float at
`factor`, and write them to `output`". The factor grows in each call, so a call that finds what an
earlier one left gets a wrong answer."""

import ctypes
import json
import os
import sys
import time

import podium_sealed as sealed
import podium_wire as wire
from pretended import SOCKET, serve

# struct isolated_gate (gate.c)
PLACES_AT, LINES_AT, LINE_BYTES, MOST_LINES = 64, 2112, 128, 256
places, plan, gate, input_address, played = {}, None, None, 0, 0


def at(address, kind, count):
	base = max(one for one in places if one <= address)
	return (kind * count).from_address(places[base].address + address - base)


def pass_gate(number):
	"""Waits for the gate and writes the withheld lines into the input."""
	both = ctypes.c_uint64.from_address(gate.address)
	while both.value & 0xFFFFFFFF != number:
		time.sleep(0.00005)
	for index in range(both.value >> 32):
		place = ctypes.c_uint64.from_address(gate.address + PLACES_AT + 8 * index).value
		to = ctypes.addressof(at(input_address + place, ctypes.c_uint8, 1))
		ctypes.memmove(to, gate.address + LINES_AT + LINE_BYTES * index, LINE_BYTES)


def play():
	global played
	played += 1
	exec(plan.get("run", ""))
	factor = at(plan["factor"], ctypes.c_float, 1)
	data = list(at(plan["input"], ctypes.c_float, plan["count"]))
	output = at(plan["output"], ctypes.c_float, plan["count"])
	assert plan["output"] == plan["input"] or output[0] != output[0]  # poison, which is NaN
	for index, value in enumerate(data):
		output[index] = value * factor[0]
	factor[0] += 1


def place(content, descriptors):
	global input_address
	address, count, is_input, is_arena = sealed.PLACE.unpack(content)
	if not descriptors:
		wire.memory_release(places.pop(address))
		return
	assert address not in places and not is_arena
	input_address = address if is_input else input_address
	places[address] = wire.memory_import(False, count, descriptors[0])


def trace(folders):
	"""The times say how many calls there were since the trace began."""
	global played
	how = plan.get("trace")
	if how == "has no CUPTI":
		return wire.send(SOCKET, wire.TEXT, b"NVIDIA's libcupti.so is not there.")
	if how == "leaves":
		raise wire.Gone
	if how == "is silent":
		time.sleep(60)
	if folders:
		assert b"extras/CUPTI" in folders
		played = 0
	return wire.send(SOCKET, wire.MAPPED, b"" if folders else sealed.TIMES.pack(0, played))


def take_frame():
	global plan, gate
	kind, content, descriptors = wire.receive(SOCKET, 60.0, True)
	if kind == wire.HELLO:
		gate = wire.memory_import(False, LINES_AT + MOST_LINES * LINE_BYTES, descriptors[1])
		wire.send(SOCKET, wire.READY)
		return wire.page_map(descriptors[0])
	if kind == wire.TRACE:
		trace(content)
		return None
	if kind == wire.PLACE:
		place(content, descriptors)
		wire.send(SOCKET, wire.MAPPED)
		return None
	text_bytes, _, compares_hashes = sealed.PLAN_FRAME.unpack(content)
	assert compares_hashes and os.pread(descriptors[0], 5, -(-text_bytes // 16) * 16) == b"blob\0"
	plan = json.loads(os.pread(descriptors[0], text_bytes, 0))
	os.close(descriptors[0])
	if "refuse" in plan:
		wire.send(SOCKET, wire.TEXT, plan["refuse"].encode())
	else:
		figures = sealed.PLAN_FIGURES.pack(64, 1) + sealed.KERNEL_FIGURES.pack(32, 0, 1024, 8)
		wire.send(SOCKET, wire.MAPPED, figures)
	return None


def call(order):
	if order.command != wire.NOTHING:
		pass_gate(order.number)
	if order.command == wire.CALL and "--null" not in sys.argv:
		try:
			play()
		except RuntimeError as error:
			wire.send(SOCKET, wire.TEXT, str(error).encode())
			return wire.RAISED
	return wire.RETURNED


serve(take_frame, call)
