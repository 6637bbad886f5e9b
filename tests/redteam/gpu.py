"""The CUDA driver through ctypes, for attacks on a GPU. A copy of this file is next to each
submission."""

import ctypes

try:
	cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
	cuda = None  # there is no GPU; some cases also run on a CPU

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry peek(.param .u64 source, .param .u64 place)
{
	.reg .u64 %a, %b, %value;
	ld.param.u64 %a, [source];
	ld.param.u64 %b, [place];
	ld.global.u64 %value, [%a];
	st.global.u64 [%b], %value;
	ret;
}
.visible .entry hang(.param .u64 source, .param .u64 place)
{
	.reg .u64 %b, %value;
	ld.param.u64 %b, [place];
again:
	ld.volatile.global.u64 %value, [%b];
	st.volatile.global.u64 [%b], %value;
	bra again;
}
.visible .entry poll(.param .u64 source, .param .u64 output)
{
	.reg .u64 %a, %b, %at;
	.reg .u32 %i, %x, %y, %old, %now, %left;
	.reg .f32 %f;
	.reg .pred %same, %more;
	ld.param.u64 %a, [source];
	ld.param.u64 %b, [output];
	mov.u32 %x, %ctaid.x;
	mov.u32 %y, %ntid.x;
	mov.u32 %i, %tid.x;
	mad.lo.u32 %i, %x, %y, %i;
	mul.wide.u32 %at, %i, 4;
	add.u64 %a, %a, %at;
	add.u64 %b, %b, %at;
	ld.volatile.global.u32 %old, [%a];
	mov.u32 %left, 20000;
again:
	ld.volatile.global.u32 %now, [%a];
	sub.u32 %left, %left, 1;
	setp.eq.u32 %same, %now, %old;
	setp.ne.and.u32 %more, %left, 0, %same;
	@%more bra again;
	mov.b32 %f, %now;
	fma.rn.f32 %f, %f, 0f40400000, 0f3F800000;
	st.global.f32 [%b], %f;
	ret;
}
\0"""


def check(name, *arguments):
	"""Calls a function of the driver. Raises OSError with the driver's number if it fails."""
	result = getattr(cuda, name)(*arguments)
	if result:
		raise OSError(result, f"{name} answers {result}")


def cycles(seconds):
	"""The cycles that torch.cuda._sleep needs for this duration at the GPU's highest clock."""
	import torch

	return (
		int(seconds * torch.cuda.get_device_properties(0).clock_rate * 1000)
		if hasattr(torch.cuda.get_device_properties(0), "clock_rate")
		else int(seconds * 1.98e9)
	)


class Flag:
	"""A word in host memory that the GPU writes when a stream reaches the command of write()."""

	def __init__(self):
		place = ctypes.c_void_p()
		check("cuMemHostAlloc", ctypes.byref(place), ctypes.c_size_t(4096), 2)
		self.word, self.count = ctypes.c_uint32.from_address(place.value), 0
		self.address = place.value

	def write(self, stream=0):
		"""Enqueues the write. Returns the value that wait() waits for."""
		self.count += 1
		check(
			"cuStreamWriteValue32_v2",
			ctypes.c_void_p(stream),
			ctypes.c_uint64(self.address),
			ctypes.c_uint32(self.count),
			0,
		)
		return self.count

	def wait(self, ticket):
		while self.word.value != ticket:
			pass


def load(kernel):
	"""Loads one of the kernels above in the current context."""
	module, function = ctypes.c_void_p(), ctypes.c_void_p()
	check("cuModuleLoadData", ctypes.byref(module), PTX)
	check("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
	return function


def enqueue(function, source, place, blocks=1, threads=1, stream=0):
	words = [ctypes.c_uint64(source), ctypes.c_uint64(place)]
	pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(word) for word in words))
	check(
		"cuLaunchKernel",
		function,
		blocks,
		1,
		1,
		threads,
		1,
		1,
		0,
		ctypes.c_void_p(stream),
		pointers,
		None,
	)


def launch(kernel, source, place):
	"""Runs one thread of `peek` or `hang`."""
	enqueue(load(kernel), source, place)
	check("cuCtxSynchronize")


def is_there():
	return cuda is not None and cuda.cuInit(0) == 0


class Window(ctypes.Structure):
	"""A launch attribute: the addresses that stay in the L2 cache."""

	_fields_ = [
		("base", ctypes.c_void_p),
		("bytes", ctypes.c_size_t),
		("share", ctypes.c_float),
		("hit", ctypes.c_int),
		("miss", ctypes.c_int),
		("rest", ctypes.c_char * 64),
	]


def persist(bytes_at_most=1 << 30):
	"""Reserves as much of the L2 cache as possible for persisting data."""
	most = ctypes.c_int()
	check("cuDeviceGetAttribute", ctypes.byref(most), 108, 0)
	check("cuCtxSetLimit", 6, ctypes.c_size_t(min(most.value, bytes_at_most)))


def window(stream, address, count):
	value = Window(address, min(count, 64 << 20), 1.0, 2, 1)
	check("cuStreamSetAttribute", ctypes.c_void_p(stream), 1, ctypes.byref(value))
