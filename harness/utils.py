"""Helpers for a task's reference.py: seeds, random inputs, comparisons that say what differs, and
deterministic reference results. eval.py uses set_seed and clear_l2_cache; the rest is for authors.
"""

import contextlib
import functools
import os
import random

import torch

try:
	import numpy
except ImportError:
	numpy = None


def _name(value):
	"""The name of a dtype or a device in sentences."""
	return str(value).replace("torch.", "")


def set_seed(seed=42):
	"""Seeds the generators of random, numpy and torch (on every device)."""
	random.seed(seed)
	torch.manual_seed(seed % 2**63)
	if numpy is not None:
		numpy.random.seed(seed % 2**32)


# ---- inputs ----


def _signed(number):
	"""The signed 64-bit integer with the low 64 bits of `number`, for torch's integers."""
	return (number + 2**63) % 2**64 - 2**63


def _mix(z, multiplier, shift):
	"""One step of SplitMix64's finaliser, in place."""
	z ^= (z >> shift).bitwise_and_((1 << (64 - shift)) - 1)
	return z.mul_(_signed(multiplier))


# How many numbers uniform() makes at a time: as many as fit into a cache.
_PIECE = {"cuda": 1 << 21, "cpu": 1 << 15}
_STEP = 0x9E3779B97F4A7C15


@functools.lru_cache(None)
def _usual_device():
	return "cuda" if torch.cuda.is_available() else "cpu"


@functools.lru_cache(None)
def _ramp(device):
	"""The states of SplitMix64 for the first numbers with the seed 0."""
	return torch.arange(1, _PIECE.get(device.type, 1 << 15) + 1, device=device).mul_(_signed(_STEP))


def _upper_bits(ramp, start):
	"""The upper 24 bits of the numbers, as float32."""
	z = _mix(_mix(ramp + _signed(start), 0xBF58476D1CE4E5B9, 30), 0x94D049BB133111EB, 27)
	# SplitMix64's last step, z ^= z >> 31, leaves the upper 31 bits as they are.
	return (z.view(torch.int32)[1::2] >> 8).bitwise_and_(0xFFFFFF).float()


def uniform(shape, seed, low=0.0, high=1.0, dtype=torch.float32, device=None):
	"""Reproducible random numbers, low <= number < high before they are rounded to dtype.

	The numbers depend only on seed and position, so a CPU and a GPU get the same ones; torch's own
	generators differ between the two. `device`: by default the GPU if there is one, else the CPU.

	The random bits are those of random_bits in utils.h: SplitMix64 (Steele, Lea, Flood 2014).
	"""
	made = torch.zeros(shape, dtype=dtype, device=device or _usual_device())
	flat, ramp = made.view(-1), _ramp(made.device)
	for first in range(0, len(flat), len(ramp)):
		piece = flat[first : first + len(ramp)]
		bits = _upper_bits(ramp[: len(piece)], seed * 0xD1342543DE82EF95 + first * _STEP)
		piece.copy_(bits.mul_((high - low) * 2.0**-24).add_(low))
	return made


def same_memory(output, given):
	"""Whether `output` is the tensor `given` or a view of all of it. For is_output_of, if
	custom_kernel must return the memory that it was given to fill."""
	return (
		isinstance(output, torch.Tensor)
		and output.device == given.device
		and output.dtype == given.dtype
		and output.shape == given.shape
		and output.stride() == given.stride()
		and output.data_ptr() == given.data_ptr()
	)


# ---- comparisons ----
# Each returns a list of sentences about the differences, which is empty if there are none. The
# first sentence names the first wrong element; the others name up to `max_print` more of them.


def _form_fault(received, expected):
	"""A sentence about a difference that rules out comparing elements, or None."""
	if not isinstance(received, torch.Tensor):
		got = "nothing (None)" if received is None else "a " + type(received).__name__
		return f"expected a tensor, got {got}"
	for what in ("shape", "dtype", "device"):
		got, wanted = getattr(received, what), getattr(expected, what)
		if got != wanted:
			got, wanted = (
				(list(got), list(wanted)) if what == "shape" else (_name(got), _name(wanted))
			)
			return f"the {what} is {got}, expected {wanted}"
	return None


def _show(number):
	return f"{number:.9g}" if isinstance(number, float) else repr(number)


def _difference(expected, got):
	try:
		return abs(expected - got)
	except (OverflowError, TypeError):
		return float("nan")


def _describe(received, expected, wrong, rtol, atol, max_print):
	"""Sentences about the elements where the mask `wrong` is set."""
	places = torch.nonzero(wrong)
	lines = []
	for place in places[:max_print].tolist():
		got, wanted = received[tuple(place)].item(), expected[tuple(place)].item()
		line = f"{place}: expected {_show(wanted)}, got {_show(got)}"
		if rtol or atol:
			allowed = atol + rtol * abs(wanted)
			line += f" (off by {_difference(wanted, got):.3g}, tolerance {allowed:.3g})"
		lines.append(line)
	lines[0] = f"{len(places)} of {wrong.numel()} elements are wrong, the first at {lines[0]}"
	return lines


@torch.no_grad()
def verbose_allclose(received, expected, rtol=1e-5, atol=1e-8, max_print=5):
	"""Where |received - expected| <= atol + rtol * |expected| does not hold. NaN is never close."""
	fault = _form_fault(received, expected)
	if fault:
		return [fault]
	wrong = ~torch.isclose(received, expected, rtol=rtol, atol=atol)
	if not bool(wrong.any()):
		return []
	return _describe(received, expected, wrong, rtol, atol, max_print)


@torch.no_grad()
def verbose_allequal(received, expected, max_print=5):
	"""Where elements are not equal. NaN differs from everything, even from NaN."""
	fault = _form_fault(received, expected)
	if fault:
		return [fault]
	wrong = received != expected
	if not bool(wrong.any()):
		return []
	return _describe(received, expected, wrong, 0, 0, max_print)


def match_reference(data, output, reference, rtol=1e-5, atol=1e-8):
	"""A check_implementation for an output of one tensor: compares it with reference(data). Returns
	the differences as a text, which is empty for a right output."""
	return "\n".join(verbose_allclose(output, reference(data), rtol=rtol, atol=atol))


def make_match_reference(reference, **tolerances):
	"""check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)"""

	@functools.wraps(match_reference)
	def check_implementation(data, output):
		return match_reference(data, output, reference, **tolerances)

	return check_implementation


# ---- caches ----

_flush_buffers = {}


def _overwrite(size_bytes):
	"""Writes `size_bytes` bytes on the GPU, always the same ones, to clear its caches."""
	if not torch.cuda.is_available():
		return
	key = (torch.cuda.current_device(), size_bytes)
	if key not in _flush_buffers:
		_flush_buffers[key] = torch.empty(size_bytes // 8, dtype=torch.int64, device="cuda")
	_flush_buffers[key].fill_(42)


def clear_l2_cache():
	"""Queues a write of 256 MiB, enough for an L2 cache of up to 64 MiB."""
	_overwrite(256 * 1024 * 1024)


def clear_l2_cache_large():
	"""Queues a write of 1 GiB, enough for an L2 cache of up to 256 MiB."""
	_overwrite(1024 * 1024 * 1024)


# ---- reference results that are the same in every run ----


def _allows_tf32(backend):
	try:
		return backend.allow_tf32
	except RuntimeError:  # torch 2.9 and later, if fp32_precision, its successor, has been set
		return (
			backend.conv if backend is torch.backends.cudnn else backend
		).fp32_precision == "tf32"


class DisableCuDNNTF32(contextlib.ContextDecorator):
	"""Inside the block cuDNN and cuBLAS compute float32 products in float32, not in TF32."""

	def __enter__(self):
		backends = (torch.backends.cudnn, torch.backends.cuda.matmul)
		self._allowed = [(backend, _allows_tf32(backend)) for backend in backends]
		for backend in backends:
			backend.allow_tf32 = False
		return self

	def __exit__(self, *exception):
		for backend, allowed in self._allowed:
			backend.allow_tf32 = allowed


class DeterministicContext(DisableCuDNNTF32):
	"""Like DisableCuDNNTF32. In addition, torch raises an error for an algorithm whose result can
	differ from run to run."""

	def __enter__(self):
		super().__enter__()
		self._deterministic = torch.are_deterministic_algorithms_enabled()
		self._benchmark = torch.backends.cudnn.benchmark
		self._workspace = os.environ.get("CUBLAS_WORKSPACE_CONFIG")
		os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
		torch.backends.cudnn.benchmark = False
		torch.use_deterministic_algorithms(True)
		return self

	def __exit__(self, *exception):
		torch.use_deterministic_algorithms(self._deterministic)
		torch.backends.cudnn.benchmark = self._benchmark
		if self._workspace is None:
			os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
		super().__exit__(*exception)
