"""A pretended builder. Its plan means "multiply the input by the number at the beginning of the
arena". A submission may replace its functions."""

import hashlib
import json
import os  # noqa: F401  (for submissions)
import sys  # noqa: F401
import time  # noqa: F401

import podium_sealed as sealed
import podium_tree as tree
import podium_wire as wire
from pretended import ARENA, INPUT, SOCKET, note, numbers, place


def plan_of(count, **more):
	blob = b"cubin"
	images = [{"bytes": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}]
	nodes = [{"kind": "memset"}, {"kind": "kernel", "image": 0, "name": "double_it"}]
	plan = {"images": images, "variables": [], "nodes": nodes, "count": count, **more}
	return json.dumps(plan).encode(), [blob]


def output_of(root, offset=4096):
	root.offset = ARENA - INPUT + offset
	return tree.encode(root)


def send(form, text, blobs, text_bytes=None, arena_bytes=8192):
	file = sealed.write_plan(text, blobs)
	text_bytes = len(text) if text_bytes is None else text_bytes
	head = sealed.ANSWER.pack(sealed.BUILT, text_bytes, arena_bytes)
	wire.send(SOCKET, wire.BUILT, head + form, [file])


def fail(status, sentence):
	wire.send(SOCKET, wire.BUILT, sealed.ANSWER.pack(status, 0, 0) + sentence)


def answer(root):
	numbers(ARENA, 1)[0] = 2
	send(output_of(root), *plan_of(root.elements()))


def leave():
	note("builder left")


def serve():
	root = None
	while True:
		kind, content, descriptors = wire.receive(SOCKET, 60.0, True)
		if kind == wire.PLACE:
			place(content, descriptors)
			wire.send(SOCKET, wire.MAPPED)
		elif kind == wire.INPUTS:
			root = tree.decode(content[sealed.INPUTS.size :])
			wire.send(SOCKET, wire.MAPPED)
		elif kind == wire.BUILD:
			note(f"build {numbers(INPUT, 1)[0]}")
			answer(root)
		else:
			if kind == wire.LOAD:
				exec(open("submission.py").read(), globals())
			wire.send(SOCKET, wire.READY)


try:
	serve()
except wire.Gone:
	leave()
