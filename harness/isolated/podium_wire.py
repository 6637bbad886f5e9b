"""Calls the functions of native.so by ctypes. native.h describes the functions.

native.so lies in the same folder. Each kind of error is an exception class.
"""

import ctypes
import math
import os

DEVICE, HOST = 1, 0  # is_cuda of a memory
CALL, LEAVE, NOTHING, EMPTY = 1, 2, 3, 4
RETURNED, NEW_SPEC, RAISED, NO_OUTPUT = range(4)
HELLO, INPUTS, OUTPUTS, INPUT, READY, MAPPED, SPEC, TEXT, LOAD, ROOM = range(1, 11)
PLACE, PLAN, BUILD, BUILT, TRACE = range(11, 16)
VERSION = 2
MOST_PROBES, PROBE_BYTES = 16, 4096
LINE_BYTES, MOST_LINES = 128, 256  # of withheld input
FRAME_BYTES, MOST_DESCRIPTORS = 65536, 4
CONTENT_BYTES = FRAME_BYTES - 16


class Failed(Exception):
	"""The system or the driver refused something."""


class Gone(Exception):
	"""The other process has ended."""


class TimedOut(Exception):
	"""The other process did not answer in time."""


class Violation(Exception):
	"""The contestant violated the protocol. The text is a sentence for its author."""


ERRORS = {1: Failed, 2: Gone, 3: TimedOut, 4: Violation}


class Hello(ctypes.Structure):
	_fields_ = [("version", ctypes.c_uint32), ("is_cuda", ctypes.c_uint32)]


class Frame(ctypes.Structure):
	_fields_ = [
		("kind", ctypes.c_uint32),
		("length", ctypes.c_uint32),
		("descriptor_count", ctypes.c_uint32),
		("unused", ctypes.c_uint32),
		("content", ctypes.c_uint8 * CONTENT_BYTES),
	]


class Probe(ctypes.Structure):
	_fields_ = [
		("address", ctypes.c_uint64),
		("bytes", ctypes.c_uint32),
		("is_cuda", ctypes.c_uint32),
	]


class Withheld(ctypes.Structure):
	_fields_ = [("places", ctypes.c_void_p), ("lines", ctypes.c_void_p), ("count", ctypes.c_uint64)]


class Memory(ctypes.Structure):
	_fields_ = [
		("address", ctypes.c_uint64),
		("bytes", ctypes.c_uint64),
		("handle", ctypes.c_uint64),
		("descriptor", ctypes.c_int32),
		("is_cuda", ctypes.c_uint32),
	]


class Call(ctypes.Structure):
	_fields_ = [
		("page", ctypes.c_void_p),
		("socket", ctypes.c_int32),
		("number", ctypes.c_uint32),
		("command", ctypes.c_uint32),
		("slot", ctypes.c_uint32),
		("cpu", ctypes.c_int32),
		("sleeps", ctypes.c_uint32),
		("limit_ns", ctypes.c_int64),
		("waited_ns", ctypes.c_int64),
		("head", ctypes.POINTER(ctypes.c_uint32)),
		("head_value", ctypes.c_uint32),
		("probe_count", ctypes.c_uint32),
		("probes", ctypes.POINTER(Probe)),
		("seen", ctypes.POINTER(ctypes.c_uint8)),
		("gate", ctypes.c_void_p),
		("is_announced", ctypes.c_uint32),
		("announced_ns", ctypes.c_int64),
		("open_ns", ctypes.c_int64),
		("least_ns", ctypes.c_int64),
		("withheld", Withheld),
		("handed", ctypes.POINTER(Memory)),
		("ready_ns", ctypes.c_int64),
		("head_ns", ctypes.c_int64),
		("elapsed_ns", ctypes.c_int64),
		("probed_ns", ctypes.c_int64),
		("status", ctypes.c_uint32),
		("spec", ctypes.c_uint32),
		("own_ns", ctypes.c_double),
	]


class Order(ctypes.Structure):
	_fields_ = [
		("command", ctypes.c_uint32),
		("slot", ctypes.c_uint32),
		("cpu", ctypes.c_int32),
		("number", ctypes.c_uint32),
	]


class Affinity(ctypes.Structure):
	_fields_ = [
		("cpus", ctypes.c_uint64 * 16),
		("is_pinned", ctypes.c_uint32),
		("unused", ctypes.c_uint32),
	]


class DeviceState(ctypes.Structure):
	_fields_ = [
		("sm_mhz", ctypes.c_double),
		("memory_mhz", ctypes.c_double),
		("temperature_c", ctypes.c_double),
		("power_w", ctypes.c_double),
		("slowed_by", ctypes.c_uint64),
	]


_int, _u32, _i64, _u64 = ctypes.c_int, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64
_pointer, _page = ctypes.POINTER, ctypes.c_void_p
_FUNCTIONS = {
	"page_make": [_pointer(_page), _pointer(_int)],
	"page_map": [_int, _pointer(_page)],
	"announce": [_pointer(Call)],
	"arm": [_pointer(Call)],
	"ring": [_pointer(Call)],
	"resume": [_pointer(Call)],
	"head_make": [_pointer(_pointer(_u32))],
	"head_mark": [_u64, _pointer(_u32), _u32],
	"choose_cpus": [_pointer(ctypes.c_int32), _pointer(ctypes.c_int32)],
	"choose_cpu": [_pointer(ctypes.c_int32)],
	"pin": [ctypes.c_int32, _pointer(Affinity)],
	"await": [_page, _int, _pointer(Order)],
	"stand_by": [_page, _int],
	"finish": [_page, _u32, _u32, ctypes.c_double],
	"send": [_int, _pointer(Frame), _pointer(_int)],
	"receive": [_int, _pointer(Frame), _pointer(_int), _i64],
	"memory_make": [_pointer(Memory), _u32, _u64],
	"memory_import": [_pointer(Memory), _u32, _u64, _int],
	"memory_reserve": [_pointer(Memory), _u64],
	"take_over": [_int, _pointer(Memory)],
	"gate_make": [_pointer(ctypes.c_void_p), _pointer(_int)],
	"gate_map": [_int, _pointer(ctypes.c_void_p)],
	"gate_wait": [ctypes.c_void_p, _u32, _u64],
	"empty_launch": [],
	"cuda_open": [],
	"device_look": [ctypes.c_char_p, _pointer(DeviceState)],
}
_SILENT = {
	"page_unmap": [_page],
	"dismiss": [_page],
	"done": [_page, _u32, _u32, ctypes.c_double],
	"memory_release": [_pointer(Memory)],
	"unpin": [_pointer(Affinity)],
}

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native.so")


def _load():
	library = ctypes.CDLL(LIBRARY)
	for name, arguments in {**_FUNCTIONS, **_SILENT}.items():
		function = getattr(library, f"isolated_{name}")
		function.argtypes, function.restype = arguments, (None if name in _SILENT else _int)
	library.isolated_why.restype = ctypes.c_char_p
	return library


_native = _load()
# These functions run during calls, so they are looked up once.
done, finish_code = _native.isolated_done, _native.isolated_finish
stand_by_code = _native.isolated_stand_by
gate_wait_code = _native.isolated_gate_wait
page_unmap, dismiss = _native.isolated_page_unmap, _native.isolated_dismiss


def last_failure():
	"""The last failure of the native part, as an exception."""
	return Failed(_native.isolated_why().decode("utf-8", "replace"))


def succeed(code):
	"""Raises the failure of a native function that returned this code, if it is not 0."""
	if code:
		raise ERRORS.get(code, Failed)(_native.isolated_why().decode("utf-8", "replace"))


# ---- the page ----


def _make(function):
	made, descriptor = ctypes.c_void_p(), ctypes.c_int(-1)
	succeed(function(ctypes.byref(made), ctypes.byref(descriptor)))
	return made, descriptor.value


def _map(function, descriptor):
	mapped = ctypes.c_void_p()
	succeed(function(descriptor, ctypes.byref(mapped)))
	return mapped


def page_make():
	return _make(_native.isolated_page_make)


def page_map(descriptor):
	return _map(_native.isolated_page_map, descriptor)


def gate_make():
	return _make(_native.isolated_gate_make)


def gate_map(descriptor):
	return _map(_native.isolated_gate_map, descriptor)


def empty_launch():
	"""Enqueues a kernel that does nothing."""
	succeed(_native.isolated_empty_launch())


def armed(page):
	"""The number of the last announced call. Does not wait, unlike wait_for_call()."""
	return ctypes.c_uint32.from_address(page.value).value


def announce(call):
	succeed(_native.isolated_announce(ctypes.byref(call)))


def arm(call):
	succeed(_native.isolated_arm(ctypes.byref(call)))


def resume(call):
	succeed(_native.isolated_resume(ctypes.byref(call)))


def ring(call):
	succeed(_native.isolated_ring(ctypes.byref(call)))


def head_make():
	word = ctypes.POINTER(ctypes.c_uint32)()
	succeed(_native.isolated_head_make(ctypes.byref(word)))
	return word


def head_mark(stream, word, value):
	succeed(_native.isolated_head_mark(stream, word, value))


def wait_for_call(page, socket):
	order = Order()
	succeed(getattr(_native, "isolated_await")(page, socket, ctypes.byref(order)))
	return order


def stand_by(page, socket):
	succeed(stand_by_code(page, socket))


# ---- CPU affinity ----


def choose_cpus(is_cuda):
	"""(the judge's CPU, the contestants' CPU)"""
	judge, contestants = ctypes.c_int32(-1), ctypes.c_int32(-1)
	if not is_cuda:
		succeed(_native.isolated_choose_cpu(ctypes.byref(judge)))
		return judge.value, judge.value
	succeed(_native.isolated_choose_cpus(ctypes.byref(judge), ctypes.byref(contestants)))
	return judge.value, contestants.value


class Pinned:
	"""Runs the calling thread on this CPU inside the block; -1: on any."""

	def __init__(self, cpu):
		self._cpu, self._saved = cpu, Affinity()

	def __enter__(self):
		succeed(_native.isolated_pin(self._cpu, ctypes.byref(self._saved)))
		return self

	def __exit__(self, *exception):
		self.end()

	def end(self):
		_native.isolated_unpin(ctypes.byref(self._saved))


# ---- frames ----


def send(socket, kind, content=b"", descriptors=()):
	"""Sends a frame. Descriptors stay the caller's."""
	frame = Frame(kind=kind, length=len(content), descriptor_count=len(descriptors))
	ctypes.memmove(frame.content, content, len(content))
	succeed(
		_native.isolated_send(
			socket,
			ctypes.byref(frame),
			(ctypes.c_int * MOST_DESCRIPTORS)(*descriptors) if descriptors else None,
		)
	)


def receive(socket, limit_s, with_descriptors=False):
	"""(kind, content, descriptors). The caller owns the descriptors."""
	frame, taken = Frame(), (ctypes.c_int * MOST_DESCRIPTORS)(*[-1] * MOST_DESCRIPTORS)
	succeed(
		_native.isolated_receive(
			socket, ctypes.byref(frame), taken if with_descriptors else None, int(limit_s * 1e9)
		)
	)
	if frame.length > CONTENT_BYTES:
		raise Violation("A frame states a length beyond its end.")
	return (
		frame.kind,
		bytes(memoryview(frame.content)[: frame.length]),
		list(taken[: frame.descriptor_count]) if with_descriptors else [],
	)


# ---- memory and the device ----


def memory_make(is_cuda, count):
	memory = Memory()
	succeed(_native.isolated_memory_make(ctypes.byref(memory), int(is_cuda), count))
	return memory


def memory_import(is_cuda, count, descriptor):
	memory = Memory()
	succeed(_native.isolated_memory_import(ctypes.byref(memory), int(is_cuda), count, descriptor))
	return memory


def memory_reserve(count):
	memory = Memory()
	succeed(_native.isolated_memory_reserve(ctypes.byref(memory), count))
	return memory


def take_over(socket, memory):
	succeed(_native.isolated_take_over(socket, ctypes.byref(memory)))


def memory_release(memory):
	_native.isolated_memory_release(ctypes.byref(memory))


def host_bytes(memory):
	"""Memory on the host as a ctypes array, which is invalid after memory_release()."""
	return (ctypes.c_uint8 * memory.bytes).from_address(memory.address)


def cuda_open():
	succeed(_native.isolated_cuda_open())


def device_look(uuid):
	"""(the figures that NVML reports, the bits of the reasons that slow the GPU down); ({}, 0)
	without NVML."""
	state = DeviceState()
	if not uuid or _native.isolated_device_look(uuid.encode(), ctypes.byref(state)):
		return {}, 0
	figures = {
		"sm_clock_mhz": state.sm_mhz,
		"memory_clock_mhz": state.memory_mhz,
		"temperature_c": state.temperature_c,
		"power_w": state.power_w,
	}
	return {
		name: figure for name, figure in figures.items() if not math.isnan(figure)
	}, state.slowed_by
