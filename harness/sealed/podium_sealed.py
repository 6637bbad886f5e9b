"""Calls the functions of sealed.so by ctypes, for the builder. The headers beside this file
describe the functions. sealed.so lies in the same folder, beside native.so (podium_wire.py)."""

import ctypes
import os
import struct

import podium_wire as wire

BUILT, RAISED, NO_OUTPUT, REFUSED = range(4)  # enum sealed_status
RANGE_ADDRESS = 0x650000000000
BLOB_ALIGNMENT = 16
PLACE = struct.Struct("<QQII")  # struct sealed_place
PLAN_FRAME = struct.Struct("<III")  # struct sealed_plan_frame
INPUTS = struct.Struct("<Q")
ANSWER = struct.Struct("<IIQ")  # struct sealed_built
PLAN_FIGURES = struct.Struct("<II")  # struct sealed_plan_figures
KERNEL_FIGURES = struct.Struct("<IIII")  # struct sealed_kernel_figures
TIMES = struct.Struct("<QQ")  # struct sealed_times
UNKNOWN_NS = 2**64 - 1
TRACED_CALLS = 6

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sealed.so")
ALLOCATE, FREE = "sealed_arena_malloc", "sealed_arena_free"


class Refused(Exception):
	"""No plan can hold the call. The text is a sentence for the participant."""


_u64, _pointer = ctypes.c_uint64, ctypes.c_void_p
_FUNCTIONS = {
	"record_new": ([], _pointer),
	"record_plan": ([_pointer, _pointer, ctypes.POINTER(_pointer)], ctypes.c_int),
	"record_blob": ([_pointer, ctypes.c_uint32, ctypes.POINTER(ctypes.c_size_t)], _pointer),
	"record_compare": (
		[ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t],
		ctypes.c_int,
	),
	"images_open": ([_pointer, ctypes.c_char_p], ctypes.c_int),
	"range_open": ([], ctypes.c_int),
	"range_map": ([_u64, _u64, ctypes.c_int], ctypes.c_int),
	"range_unmap": ([_u64, _u64], ctypes.c_int),
	"arena_open": ([_u64, _u64], None),
	"arena_used": ([], _u64),
	"arena_was_full": ([], ctypes.c_bool),
}


def _load():
	library = ctypes.CDLL(LIBRARY)
	for name, (arguments, result) in _FUNCTIONS.items():
		function = getattr(library, f"sealed_{name}")
		function.argtypes, function.restype = arguments, result
	return library


_native = _load()
_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [_pointer], None
arena_open, arena_used = _native.sealed_arena_open, _native.sealed_arena_used
arena_was_full = _native.sealed_arena_was_full


def range_open():
	wire.succeed(_native.sealed_range_open())


def range_map(address, count, descriptor):
	"""Maps the judge's memory. Closes the descriptor."""
	wire.succeed(_native.sealed_range_map(address, count, descriptor))


def range_unmap(address, count):
	wire.succeed(_native.sealed_range_unmap(address, count))


def cupti_folders(torch):
	"""The folders that may have CUPTI, as sealed_cupti_open() takes them: torch's packages and the
	toolkit."""
	packages = os.path.dirname(os.path.dirname(torch.__file__))
	toolkit = ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64")
	return os.fsencode(":".join((packages, *toolkit)))


class Record:
	"""The images of the modules that this process loads, and the plans made of them."""

	def __init__(self, folders):
		"""`folders`: from cupti_folders()."""
		self._record = _native.sealed_record_new()
		wire.succeed(_native.sealed_images_open(self._record, folders))

	def plan(self, graph):
		"""The plan of a captured graph as text, in bytes. Raises wire.Violation with a sentence for
		the participant if no plan can hold the graph."""
		text = _pointer()
		wire.succeed(_native.sealed_record_plan(self._record, graph, ctypes.byref(text)))
		made = ctypes.string_at(text)
		_free(text)
		return made

	@staticmethod
	def compare(before, after):
		"""Compares the texts of the plans of two recordings of one call. Raises wire.Violation with
		a sentence for the participant if they differ. Returns a doubt, or "" (record.h)."""
		doubt = ctypes.create_string_buffer(512)
		wire.succeed(_native.sealed_record_compare(before, after, doubt, len(doubt)))
		return doubt.value.decode()

	def blobs(self):
		"""Yields the bytes of each blob of the last plan."""
		length, number = ctypes.c_size_t(), 0
		while True:
			bytes_at = _native.sealed_record_blob(self._record, number, ctypes.byref(length))
			if not bytes_at:
				return
			yield (ctypes.c_uint8 * length.value).from_address(bytes_at)
			number += 1


def write_plan(text, blobs):
	"""Returns the descriptor of a memfd with the plan and its blobs, as in the frame PLAN."""
	descriptor = os.memfd_create("plan", os.MFD_CLOEXEC)
	with open(descriptor, "wb", closefd=False) as file:
		file.write(text)
		for blob in blobs:
			file.write(bytes(-file.tell() % BLOB_ALIGNMENT))
			file.write(blob)
	return descriptor
