"""The parts of podium_tree that need torch: forms of tensors, tensors over memory, and poison.

`import podium_tensors` imports no torch. Tensors(torch) binds the functions that it needs, so that
later changes of torch by a submission hardly affect it.
"""

import podium_tree as tree

SLOT_ALIGNMENT = 256  # bytes; a tensor's offset in its storage is kept modulo this

# (the integer type to work with, the bits that poison sets in random bytes, and for some types the
# bits that it clears first). Floats become NaN, if the type allows with a random payload; bools
# become neither True nor False.
POISON = {
	"bool": ("uint8", 0x02),
	"float16": ("int16", 0x7E00),
	"bfloat16": ("int16", 0x7FC0),
	"float32": ("int32", 0x7FC00000),
	"float64": ("int64", 0x7FF8 << 48),
	"complex32": ("int16", 0x7E00),
	"complex64": ("int32", 0x7FC00000),
	"complex128": ("int64", 0x7FF8 << 48),
	"float8_e4m3fn": ("uint8", 0x7F),
	"float8_e5m2": ("uint8", 0x7E),
	"float8_e8m0fnu": ("uint8", 0xFF),
	"float8_e4m3fnuz": ("uint8", 0x80, 0x7F),
	"float8_e5m2fnuz": ("uint8", 0x80, 0x7F),
}


class _DeviceBytes:
	def __init__(self, address, count):
		self.__cuda_array_interface__ = {
			"shape": (count,),
			"typestr": "|u1",
			"data": (address, False),
			"version": 3,
		}


class Tensors:
	"""`resolves`: whether the caller resolves lazy conjugation and negation before a copy, as the
	contestant does for outputs. If not, fault() rejects such tensors."""

	def __init__(self, torch, is_cuda, resolves=False):
		self.torch, self.is_cuda, self.resolves = torch, is_cuda, resolves
		self.device = torch.device("cuda", 0) if is_cuda else torch.device("cpu")
		self.dtypes = {name: getattr(torch, name) for name in tree.DTYPES if hasattr(torch, name)}
		self.names = {dtype: name for name, dtype in self.dtypes.items()}
		self.plain, self.parameter = torch.Tensor, torch.nn.Parameter
		self.plain_types = (torch.Tensor, torch.nn.Parameter)
		self.detach, self.copy_ = torch.Tensor.detach, torch.Tensor.copy_
		self._storage = (
			torch.Tensor.untyped_storage
			if hasattr(torch.Tensor, "untyped_storage")
			else lambda tensor: tensor.storage().untyped()
		)
		self._as_parameter = torch.nn.Parameter
		self._integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
		self._or = torch.bitwise_or

	# ---- forms ----

	def fault(self, tensor):
		"""Why a tensor cannot be carried as bytes with strides, or None."""
		if type(tensor) not in self.plain_types:
			return f"a {type(tensor).__name__}, which is a tensor with its own code"
		if tensor.layout is not self.torch.strided:
			return "a tensor that is not strided"
		if tensor.is_quantized or tensor.dtype not in self.names:
			return f"a tensor of type {str(tensor.dtype).replace('torch.', '')}"
		if tensor.device.type != "cpu" and tensor.device != self.device:
			return f"a tensor on {tensor.device}"
		if tensor.dim() > tree.MOST_DIMENSIONS:
			return f"a tensor of more than {tree.MOST_DIMENSIONS} dimensions"
		if not self.resolves and (tensor.is_conj() or tensor.is_neg()):
			return "a conjugated or negated view"
		return None

	def describe(self, value, place):
		"""The node of a tensor, a dtype or a device; None for anything else. Raises
		Unsplittable."""
		if isinstance(value, self.torch.dtype):
			return tree.Node(tree.DTYPE, text=str(value).replace("torch.", ""))
		if isinstance(value, self.torch.device):
			return tree.Node(tree.DEVICE, text=str(value))
		if not isinstance(value, self.plain):
			return None
		fault = self.fault(value)
		if fault:
			raise tree.Unsplittable(place, f"is {fault}")
		node = tree.Node(tree.TENSOR)
		node.dtype, node.sizes, node.strides = (
			self.names[value.dtype],
			tuple(value.shape),
			tuple(value.stride()),
		)
		node.memory = tree.IN_DEVICE if value.is_cuda else tree.IN_HOST
		node.flags = (tree.REQUIRES_GRAD * value.requires_grad) | (
			tree.IS_PARAMETER * (type(value) is self.parameter)
		)
		return node

	def constant(self, node):
		"""The value of a leaf that is a dtype or a device; an object in place of anything else."""
		if node.kind == tree.DTYPE:
			return self.dtypes.get(node.text)
		if node.kind == tree.DEVICE:
			try:
				return self.torch.device(node.text)
			except RuntimeError:
				return None
		return tree.stand_in(node.text)

	# ---- memory ----

	def bytes_at(self, address, count, is_cuda, ctypes_array):
		"""A tensor of uint8 over `count` bytes at an address of the GPU, or else over the host's
		`ctypes_array`."""
		if is_cuda:
			return self.torch.as_tensor(_DeviceBytes(address, count), device=self.device)
		return self.torch.frombuffer(ctypes_array, dtype=self.torch.uint8)

	def storage_bytes(self, tensor):
		"""(address, all bytes of a tensor's storage as uint8)"""
		storage = self._storage(self.detach(tensor))
		whole = self.torch.empty(0, dtype=self.torch.uint8, device=tensor.device)
		if not storage.nbytes():
			return 0, whole
		return storage.data_ptr(), whole.set_(storage, 0, (storage.nbytes(),), (1,))

	def view(self, node, flat, base):
		"""The tensor of a node as a view of `flat`. `base`: the offset of the node's slot there."""
		begin = flat.storage_offset() + base + node.offset
		dtype = self.dtypes[node.dtype]
		made = self.torch.empty(0, dtype=dtype, device=flat.device)
		made = made.set_(self._storage(flat), begin // node.item_bytes(), node.sizes, node.strides)
		if node.flags & tree.IS_PARAMETER:
			return self._as_parameter(made, requires_grad=bool(node.flags & tree.REQUIRES_GRAD))
		return made.requires_grad_(True) if node.flags & tree.REQUIRES_GRAD else made

	def empty(self, node):
		"""The tensor of a node without elements."""
		made = self.torch.empty_strided(
			node.sizes, node.strides, dtype=self.dtypes[node.dtype], device=self.device_of(node)
		)
		return (
			self._as_parameter(made, requires_grad=bool(node.flags & tree.REQUIRES_GRAD))
			if node.flags & tree.IS_PARAMETER
			else made
		)

	def scratch(self, node):
		"""A new tensor of a node's form."""
		return self.torch.empty_strided(
			node.sizes, node.strides, dtype=self.dtypes[node.dtype], device=self.device_of(node)
		)

	def copy_bits(self, to, tensor):
		"""Copies a tensor by a kernel. torch itself would copy dense tensors by a copy engine,
		which takes longer while the engine has other work. `to`: a result of bits()."""
		if tensor.element_size() in self._integers:
			self._or(tensor.view(to.dtype), 0, out=to)
		else:
			self.copy_(to, tensor)

	def bits(self, tensor):
		"""The tensor as integers of the same size, if torch has them."""
		integers = self._integers.get(tensor.element_size())
		return tensor.view(integers) if integers else tensor

	def device_of(self, node):
		return self.device if node.memory & 1 == 0 else self.torch.device("cpu")

	def dense_strides(self, value):
		"""The strides of a copy: those of `value` if its elements are dense, otherwise those of a
		dense tensor in the same order of dimensions."""
		return self.torch.empty_like(self.detach(value), device="meta").stride()

	# ---- layouts ----

	def place_tensors(self, leaves, host_begins):
		"""Gives each tensor of an input its place in a slot; tensors of one storage stay together.

		Returns (bytes of a slot on the device, on the host, the pieces to copy as (memory, offset,
		bytes as uint8)).
		"""
		groups = {}
		for node, value in leaves:
			if node.kind == tree.TENSOR:
				address, whole = self.storage_bytes(value)
				key = (
					(node.memory, address)
					if node.extent_bytes()
					else (node.memory, "empty", len(groups))
				)
				groups.setdefault(key, (node.memory, whole, []))[2].append(
					(node, value.storage_offset() * node.item_bytes())
				)
		ends, pieces = {tree.IN_DEVICE: 0, tree.IN_HOST: host_begins}, []
		for memory, whole, members in groups.values():
			first = min(begin for _, begin in members)
			last = max(begin + node.extent_bytes() for node, begin in members)
			offset = tree.align(ends[memory], SLOT_ALIGNMENT) + first % SLOT_ALIGNMENT
			for node, begin in members:
				node.offset = offset + begin - first
			if last > first:
				pieces.append((memory, offset, whole[first:last]))
			ends[memory] = offset + last - first
		return ends[tree.IN_DEVICE], ends[tree.IN_HOST], pieces

	# ---- poison ----

	def set_poison(self, tensor_bytes, dtype_name):
		"""Turns random bytes into poison for this type (see POISON)."""
		if dtype_name not in POISON:
			return
		kind, bits, *cleared = POISON[dtype_name]
		flat = tensor_bytes.view(getattr(self.torch, kind))
		if cleared:
			flat.bitwise_and_(~cleared[0] & 0xFF)
		flat.bitwise_or_(bits)

	def generator(self, device, seed):
		made = self.torch.Generator(device=device)
		made.manual_seed(seed)
		return made
