"""What a builder answers, as the judge takes it: the plan's file, and where the outputs lie. Every
byte is hostile, so this module bounds, copies and checks everything. It needs no torch.

The launcher reads the plan's text with plan.c, which checks the rest of it."""

import fcntl
import hashlib
import json
import os

import podium_sealed as sealed
import podium_tree as tree

# The limits of plan.h.
MOST_TEXT_BYTES, MOST_LISTS = 16 << 20, 1 << 20
MOST_IMAGES, MOST_VARIABLES = 512, 4096
MOST_BLOB_BYTES, MOST_ALL_BLOB_BYTES = 64 << 20, 1 << 30
MOST_BLOBS = MOST_IMAGES + MOST_VARIABLES
MOST_FILE_BYTES = MOST_TEXT_BYTES + MOST_ALL_BLOB_BYTES + MOST_BLOBS * sealed.BLOB_ALIGNMENT
MOST_DIGITS = 20  # of a number: 64 bits
READ_BYTES = 16 << 20

# The offset of the arena from the input's place, which is the beginning of the range.
ARENA_OFFSET = 64 << 30


class WrongPlan(Exception):
	"""The text is a clause that says why the judge does not take a plan."""


def _need(holds, what):
	if not holds:
		raise WrongPlan(what)


# ---- the plan's file ----


def size_of(descriptor):
	"""The bytes of the builder's file. Only a memfd has seals, and reading a memfd never blocks."""
	try:
		fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
	except OSError:
		raise WrongPlan("its file is not a memfd") from None
	count = os.fstat(descriptor).st_size
	_need(count <= MOST_FILE_BYTES, f"its file has {count} bytes")
	return count


def copy_file(descriptor, count):
	"""The first `count` bytes of a file. The builder can change them at any time, so the judge
	reads each byte once."""
	copied = bytearray(count)
	view, end = memoryview(copied), 0
	while end < count:
		taken = os.preadv(descriptor, [view[end : end + READ_BYTES]], end)
		_need(taken, "its file has become shorter")
		end += taken
	return view


def read_plan(file, text_bytes):
	"""(the plan's text, its blobs as pairs of hash and bytes)"""
	_need(text_bytes <= len(file), "its text ends beyond the file")
	text, end, blobs = bytes(file[:text_bytes]), text_bytes, []
	for count, wanted in list_blobs(text):
		begin = tree.align(end, sealed.BLOB_ALIGNMENT)
		end = begin + count
		_need(end <= len(file), "a blob ends beyond the file")
		found = hashlib.sha256(file[begin:end]).hexdigest()
		_need(found == wanted, "a blob has another hash")
		blobs.append((found, file[begin:end]))
	_need(end == len(file), "its file has bytes behind the last blob")
	return text, blobs


def list_blobs(text):
	"""[(bytes, hash)] of the images and the variables that a plan names."""
	_need(len(text) <= MOST_TEXT_BYTES, "its text is too long")
	_need(text.count(b"[") + text.count(b"{") <= MOST_LISTS, "its text has too many lists")
	try:
		plan = json.loads(
			text.decode("ascii"),
			parse_int=_whole_number,
			parse_float=_refuse_number,
			parse_constant=_refuse_number,
		)
	except (ValueError, RecursionError):
		raise WrongPlan("its text is not a plan's") from None
	_need(isinstance(plan, dict), "its text is not a plan's")
	blobs = _blobs_in(plan, "images", MOST_IMAGES) + _blobs_in(plan, "variables", MOST_VARIABLES)
	_need(sum(count for count, _ in blobs) <= MOST_ALL_BLOB_BYTES, "its blobs are too large")
	return blobs


def _whole_number(digits):
	if len(digits) > MOST_DIGITS:
		raise ValueError
	return int(digits)


def _refuse_number(digits):
	raise ValueError


def _blobs_in(plan, name, most):
	found = plan.get(name)
	_need(isinstance(found, list) and len(found) <= most, f"its {name} are no list, or too many")
	return [_blob(one) for one in found]


def _blob(one):
	_need(isinstance(one, dict), "a blob is no object")
	count, wanted = one.get("bytes"), one.get("sha256")
	_need(type(count) is int and 1 <= count <= MOST_BLOB_BYTES, "a blob's size is out of bounds")
	_need(isinstance(wanted, str), "a blob has no hash")
	return count, wanted


# ---- outputs ----


def place_output(node, input_bytes, arena_bytes):
	"""Finds the memory of an output. A builder states offsets from the beginning of the range. The
	node then has an offset in the input (IN_DEVICE) or in the arena (OUT_DEVICE). Each call brings
	a whole new input, so an output in the input's place may only cover bytes of the input.
	"""
	if node.kind in tree.SCALAR_BYTES:
		raise tree.Malformed("an output is a number or a text")
	if node.kind != tree.TENSOR:
		return
	if node.memory != tree.IN_DEVICE or node.flags:
		raise tree.Malformed("an output is not on the GPU, or has flags")
	end = node.offset + node.extent_bytes()
	if not node.extent_bytes():
		node.offset = 0
	elif end > input_bytes:
		if node.offset < ARENA_OFFSET or end > ARENA_OFFSET + arena_bytes:
			raise tree.Malformed("an output lies neither in the input nor in the arena")
		node.memory, node.offset = tree.OUT_DEVICE, node.offset - ARENA_OFFSET
