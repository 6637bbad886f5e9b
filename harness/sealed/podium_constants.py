"""Keeps the constants that a call copies from the host to the GPU, so that it can be captured.

A plan has no data on the host. But a call often makes a small table, as torch.tensor([0.3, 0.6],
device="cuda") does, and its bytes are the same in each call. One call notes these copies in their
order and keeps their data on the GPU. In the captured call, each copy from the host becomes a copy
on the GPU.

A dispatch mode of torch shows these copies, except those within torch.tensor() and
torch.as_tensor(). So this module replaces the two functions during a call: they make the tensor on
the host, and a second step, which the mode sees, copies it. The mode does not see the copy of a
list that is used as an index, as in x[[0, 2]].
"""

import contextlib

import torch
from podium_sealed import Refused
from torch.utils._python_dispatch import TorchDispatchMode

ATEN = torch.ops.aten
INDEXING = (ATEN.index.Tensor, ATEN.index_put.default, ATEN.index_put_.default)
VARIES = (
	"The call copies other data from the host to the GPU than the call before it. Keep such data "
	"on the GPU, or compute it in a kernel from the input."
)


class Constants(TorchDispatchMode):
	"""`kind`: the type of device that counts as the GPU."""

	def __init__(self, kind="cuda"):
		super().__init__()
		self.kind, self.is_noting = kind, True
		self.kept, self.used = [], 0  # (data on the host, the same on the GPU)

	@contextlib.contextmanager
	def noting(self):
		"""Notes the copies of a call."""
		with self, self._making_on_host():
			yield

	@contextlib.contextmanager
	def replacing(self):
		"""Replaces the copies of a call by those that were noted. Raises Refused if they differ."""
		self.is_noting, self.used = False, 0
		with self, self._making_on_host():
			yield
		if self.used < len(self.kept):
			raise Refused(VARIES)

	@contextlib.contextmanager
	def _making_on_host(self):
		names = ("tensor", "as_tensor")
		originals = {name: getattr(torch, name) for name in names}
		try:
			for name, original in originals.items():
				setattr(torch, name, self._on_host(original))
			yield
		finally:
			for name, original in originals.items():
				setattr(torch, name, original)

	def _on_host(self, original):
		def make(data, *arguments, device=None, **options):
			if device is None or torch.device(device).type != self.kind or self._is_there(data):
				return original(data, *arguments, device=device, **options)
			return original(data, *arguments, **options).to(device)

		return make

	def _is_there(self, value):
		return isinstance(value, torch.Tensor) and value.device.type == self.kind

	def _is_on_host(self, value):
		return isinstance(value, torch.Tensor) and value.device.type == "cpu"

	def _take(self, source, device):
		"""The data of the next copy from the host, on the GPU."""
		if self.is_noting:
			self.kept.append((source.detach().clone(), source.detach().to(device)))
			return self.kept[-1][1]
		if self.used == len(self.kept) or not same(self.kept[self.used][0], source):
			raise Refused(VARIES)
		self.used += 1
		return self.kept[self.used - 1][1]

	def _take_indexes(self, indexes, device):
		return [
			self._take(index, device) if self._is_on_host(index) else index for index in indexes
		]

	def __torch_dispatch__(self, function, types, arguments=(), options=None):
		options, arguments = options or {}, list(arguments)
		first = arguments[0] if arguments else None
		device = options.get("device")
		if function is ATEN._to_copy.default and device is not None:
			if self._is_on_host(first) and torch.device(device).type == self.kind:
				arguments[0] = self._take(first, device)
		elif function is ATEN.copy_.default:
			if self._is_there(first) and self._is_on_host(arguments[1]):
				arguments[1] = self._take(arguments[1], first.device)
		elif function in INDEXING and self._is_there(first):
			arguments[1] = self._take_indexes(arguments[1], first.device)
			# In x[indexes] = 2.0, torch makes a tensor of the value on the host.
			arguments[2:3] = self._take_indexes(arguments[2:3], first.device)
		return function(*arguments, **options)


def same(one, other):
	"""Whether two tensors have the same form and the same bytes."""
	return (
		one.dtype == other.dtype
		and one.shape == other.shape
		and one.stride() == other.stride()
		and bytes_of(one) == bytes_of(other)
	)


def bytes_of(tensor):
	return tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
