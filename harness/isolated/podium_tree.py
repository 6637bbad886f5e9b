"""Trees of tensors and scalars: the data of a task, and the nodes of fixed size that stand for them in a frame.

A tree has two parts. Its form (containers, keys, types, shapes, strides, where each leaf lies in a slot) is sent in
frames. Its values (the bytes of tensors, and of scalars, 8 bytes each) lie in the slot itself, so that nothing of an
input is known before it is put there.

	frame    number of nodes (u32), bytes of text (u32), the nodes in the order in which one reads them, the text
	node     kind, dtype, memory, dimensions, flags, kind of key, 2 unused (u8 each); number of children (u32), unused (u32);
	         key (i64: the number, or the place of a text); offset in the slot (u64); 8 sizes, 8 strides (i64)

A text's place is its offset * 65536 + its length. Kinds that have a text keep its place where the first size would be.

What comes from a contestant is taken apart by decode() alone, which believes nothing: it raises Malformed.
This module needs no torch; tensors are handed to it by a `tensors` object (podium_tensors.py).
"""
import keyword
import struct

MOST_NODES, MOST_DIMENSIONS, MOST_DEPTH = 400, 8, 16
MOST_ELEMENTS = 1 << 48
MOST_TEXT_BYTES = 248  # of a scalar that is a text: with its length it takes 256 bytes in a slot

KINDS = ("tuple", "list", "dict", "named tuple", "None", "bool", "int", "float", "str", "dtype",
	"device", "other", "tensor")
TUPLE, LIST, DICT, NAMED, NONE, BOOL, INT, FLOAT, TEXT, DTYPE, DEVICE, OTHER, TENSOR = range(
	1,
	len(KINDS) + 1)
CONTAINERS = {TUPLE, LIST, DICT, NAMED}
SCALAR_BYTES = {BOOL: 8, INT: 8, FLOAT: 8, TEXT: 8 + MOST_TEXT_BYTES}
WITH_TEXT = {NAMED, DTYPE, DEVICE, OTHER}

# Where a leaf lies: in the memories of the inputs or in those of a spec's outputs, on the device or on the host.
IN_DEVICE, IN_HOST, OUT_DEVICE, OUT_HOST = range(4)
REQUIRES_GRAD, IS_PARAMETER = 1, 2
NO_KEY, NUMBER_KEY, TEXT_KEY = range(3)

# torch's names and the bytes of an element; their order is the protocol's.
DTYPES = {
	"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2,
	"bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16, "uint16": 2,
	"uint32": 4, "uint64": 8, "complex32": 4, "float8_e4m3fn": 1, "float8_e5m2": 1,
	"float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1
}
DTYPE_NAMES = tuple(DTYPES)

HEAD, NODE = struct.Struct("<II"), struct.Struct(f"<8BIIqQ{MOST_DIMENSIONS}q{MOST_DIMENSIONS}q")
assert NODE.size == 160


class Malformed(Exception):
	"""Bytes that are no tree. The text is a part of a sentence."""


class Unsplittable(Exception):
	"""Data that cannot be carried to another process: which part of it, and what that is."""

	def __init__(self, place, predicate):
		super().__init__(place, predicate)
		self.place, self.predicate = place, predicate

	def sentence(self, noun):
		"""`noun`: "The input", or what else was to be carried."""
		return f"{noun}'s part {self.place} {self.predicate}" if self.place else f"{noun} {self.predicate}"


class Node:
	__slots__ = ("kind", "key", "children", "text", "dtype", "memory", "offset", "sizes", "strides",
		"flags")

	def __init__(self, kind, key=None, text="", children=()):
		self.kind, self.key, self.text, self.children = kind, key, text, list(children)
		self.dtype, self.memory, self.offset, self.flags = None, IN_DEVICE, 0, 0
		self.sizes, self.strides = (), ()

	def leaves(self):
		"""Those that are no containers, in order."""
		if self.kind not in CONTAINERS:
			return [self]
		return [leaf for child in self.children for leaf in child.leaves()]

	def item_bytes(self):
		return DTYPES[self.dtype]

	def extent_bytes(self):
		"""From the first byte to the one behind the last, where the tensor's elements lie."""
		if 0 in self.sizes:
			return 0
		return (sum((size - 1) * stride
			for size, stride in zip(self.sizes, self.strides)) + 1) * self.item_bytes()

	def elements(self):
		count = 1
		for size in self.sizes:
			count *= size
		return count

	def is_dense(self):
		"""Whether each byte of the extent belongs to exactly one element."""
		return self.extent_bytes() == self.elements() * self.item_bytes() and not self.overlaps()

	def overlaps(self):
		step = 1
		for stride, size in sorted(
			(stride, size) for size, stride in zip(self.sizes, self.strides) if size > 1):
			if stride < step:
				return self.elements() > 0
			step = stride * size
		return False

	def holds_memory(self):
		return self.kind == TENSOR or self.kind in SCALAR_BYTES


# ---- from data to a form ----


def class_name(value):
	"""A class as both sides can find it: MODULE:NAME."""
	return f"{type(value).__module__}:{type(value).__qualname__}"


class Description:
	"""The form of `data`, and its leaves as pairs of node and value, in order.

	`tensors`: knows torch, or None where nobody has imported it. `other(value, place)`: gives the node for a value that
	is of none of the kinds, or raises. `named(value, place)`: the same for a tuple of a class of its own."""

	def __init__(self, data, tensors, other, named):
		self._tensors, self._other, self._named = tensors, other, named
		self.leaves, self._count = [], 0
		self.root = self._describe(data, (), "")

	def _describe(self, value, above, place):
		self._count += 1
		if self._count > MOST_NODES or len(above) > MOST_DEPTH or id(value) in above:
			raise Unsplittable(
				"", f"has more than {MOST_NODES} parts, or is nested more than {MOST_DEPTH} deep")
		kind = self._kinds.get(type(value))
		if kind:
			return self._container(Node(kind), value, above, place)
		if isinstance(value, tuple):
			return self._container(self._named(value, place), value, above, place)
		node = self._leaf(value, place)
		self.leaves.append((node, value))
		return node

	_kinds = {tuple: TUPLE, list: LIST, dict: DICT}

	def _container(self, node, value, above, place):
		keys = list(value) if node.kind == DICT else range(len(value))
		for key in keys:
			if node.kind == DICT and type(key) not in (int, str):
				raise Unsplittable(
					place, f"has a key of type {type(key).__name__}, which is neither str nor int")
			child = self._describe(value[key], (*above, id(value)), f"{place}[{key!r}]")
			child.key = key if node.kind == DICT else None
			node.children.append(child)
		return node

	def _leaf(self, value, place):
		if value is None:
			return Node(NONE)
		if type(value) is bool:
			return Node(BOOL)
		if type(value) is int and -(1 << 63) <= value < 1 << 63:
			return Node(INT)
		if type(value) is float:
			return Node(FLOAT)
		if type(value) is str and len(value.encode("utf-8", "surrogatepass")) <= MOST_TEXT_BYTES:
			return Node(TEXT)
		node = self._tensors.describe(value, place) if self._tensors else None
		return node or self._other(value, place)


# ---- the bytes of a form ----


class _Texts:

	def __init__(self):
		self.bytes = b""

	def place(self, text):
		raw = text.encode("utf-8", "replace")
		offset, self.bytes = len(self.bytes), self.bytes + raw
		return offset << 16 | len(raw)


def _pack(node, texts, packed):
	key_kind = NO_KEY if node.key is None else TEXT_KEY if isinstance(node.key, str) else NUMBER_KEY
	key = texts.place(node.key) if key_kind == TEXT_KEY else node.key or 0
	sizes = (texts.place(node.text), ) if node.kind in WITH_TEXT else node.sizes
	spare = (0, ) * MOST_DIMENSIONS
	packed.append(
		NODE.pack(node.kind,
		DTYPE_NAMES.index(node.dtype) if node.dtype else 0, node.memory, len(node.sizes),
		node.flags, key_kind, 0, 0, len(node.children), 0, key, node.offset,
		*(*sizes, *spare)[:MOST_DIMENSIONS],
		*(*node.strides, *spare)[:MOST_DIMENSIONS]))
	for child in node.children:
		_pack(child, texts, packed)


def encode(root, most_bytes=65480):
	"""The bytes of a form. Raises Unsplittable where names are too long."""
	texts, packed = _Texts(), []
	try:
		_pack(root, texts, packed)
	except struct.error:
		raise Unsplittable("", "has a key that does not fit in 64 bits") from None
	content = HEAD.pack(len(packed), len(texts.bytes)) + b"".join(packed) + texts.bytes
	if len(content) > most_bytes:
		raise Unsplittable("", "has keys that are too long together")
	return content


def _need(holds, what):
	if not holds:
		raise Malformed(what)


class _Reader:

	def __init__(self, content):
		_need(len(content) >= HEAD.size, "a tree is cut off")
		self.count, text_bytes = HEAD.unpack_from(content)
		_need(1 <= self.count <= MOST_NODES, "a tree has no node or too many")
		_need(
			len(content) == HEAD.size + self.count * NODE.size + text_bytes,
			"a tree's length is not what it says")
		self.content, self.index = content, 0
		self.texts = content[HEAD.size + self.count * NODE.size:]

	def text(self, place):
		offset, length = place >> 16, place & 0xffff
		_need(0 <= offset <= len(self.texts) and length <= len(self.texts) - offset,
			"a text lies outside of its tree")
		return self.texts[offset:offset + length].decode("utf-8", "replace")

	def node(self, depth):
		_need(self.index < self.count and depth <= MOST_DEPTH,
			"a tree is nested too deep, or lacks nodes")
		(kind, dtype, memory, dimensions, flags, key_kind, _, _, children, _, key, offset,
			*numbers) = NODE.unpack_from(self.content, HEAD.size + self.index * NODE.size)
		self.index += 1
		_need(1 <= kind <= len(KINDS), "a node is of no kind")
		_need(memory <= OUT_HOST and offset < 1 << 62, "a node lies in no memory")
		_need(flags <= (REQUIRES_GRAD | IS_PARAMETER), "a node has flags that there are not")
		node = Node(kind, self.key(key_kind, key),
			self.text(numbers[0]) if kind in WITH_TEXT else "")
		node.memory, node.offset, node.flags = memory, offset, flags
		if kind == TENSOR:
			self.tensor(node, dtype, dimensions, numbers)
		_need(kind in CONTAINERS or not children, "a leaf has children")
		_need(children <= self.count - self.index,
			"a container has more children than there are nodes")
		for _ in range(children):
			node.children.append(self.node(depth + 1))
		self.keys(node)
		return node

	def key(self, kind, key):
		_need(kind <= TEXT_KEY, "a key is of no kind")
		return None if kind == NO_KEY else key if kind == NUMBER_KEY else self.text(key)

	def tensor(self, node, dtype, dimensions, numbers):
		_need(dtype < len(DTYPE_NAMES), "a tensor has a type that there is not")
		_need(dimensions <= MOST_DIMENSIONS, "a tensor has too many dimensions")
		node.dtype = DTYPE_NAMES[dtype]
		node.sizes = tuple(numbers[:dimensions])
		node.strides = tuple(numbers[MOST_DIMENSIONS:MOST_DIMENSIONS + dimensions])
		bounded = all(0 <= number <= MOST_ELEMENTS for number in (*node.sizes, *node.strides))
		_need(bounded and node.elements() <= MOST_ELEMENTS and node.extent_bytes() <= MOST_ELEMENTS,
			"a tensor's shape is out of bounds")
		_need(node.offset % node.item_bytes() == 0, "a tensor begins between two elements")

	def keys(self, node):
		keys = [child.key for child in node.children]
		if node.kind == DICT:
			_need(None not in keys and len(set(keys)) == len(keys),
				"a dict's keys are missing or there twice")
		else:
			_need(all(key is None for key in keys), "a sequence has keys")


def decode(content):
	"""The root of the form that these bytes describe. Raises Malformed."""
	reader = _Reader(bytes(content))
	root = reader.node(0)
	_need(root.key is None and reader.index == reader.count, "nodes are left over")
	return root


# ---- from a form to data ----


def build(node, leaf, classes):
	"""The data: containers as the form has them, with leaf(node) for each leaf. A named tuple is of classes[its text],
	or a plain tuple where there is no such class."""
	if node.kind not in CONTAINERS:
		return leaf(node)
	if node.kind == DICT:
		return {child.key: build(child, leaf, classes) for child in node.children}
	items = [build(child, leaf, classes) for child in node.children]
	if node.kind == LIST:
		return items
	made_of = classes.get(node.text) if node.kind == NAMED else None
	if made_of is None:
		return tuple(items)
	try:
		return made_of(*items) if hasattr(made_of, "_fields") else made_of(items)
	except Exception:  # items that the class does not take
		return tuple(items)


def fits(node, classes):
	"""Whether the named tuples of a form have as many fields as there are items."""
	known = classes.get(node.text) if node.kind == NAMED else None
	fields = getattr(known, "_fields", None)
	return (fields is None or len(fields) == len(node.children)) and all(
		fits(child, classes) for child in node.children)


def stand_in(name):
	"""An object of a class of this name, which stands for something that could not be carried."""
	name = name if name.isidentifier() and not keyword.iskeyword(name) and len(
		name) <= 100 else "object"
	return type(name, (), {})()


def constant(node, tensors):
	"""The value of a leaf that lies in no memory."""
	if node.kind == NONE:
		return None
	return tensors.constant(node) if tensors else stand_in(node.text)


# ---- scalars in a slot ----


def write_scalar(kind, value, memory, offset):
	if kind == TEXT:
		raw = value.encode("utf-8", "surrogatepass")
		struct.pack_into(f"<Q{len(raw)}s", memory, offset, len(raw), raw)
	else:
		struct.pack_into("<d" if kind == FLOAT else "<q", memory, offset, value)


def read_scalar(kind, memory, offset):
	"""Of hostile bytes too: whatever they are, they are some value of that kind."""
	if kind == FLOAT:
		return struct.unpack_from("<d", memory, offset)[0]
	if kind == TEXT:
		length = min(struct.unpack_from("<Q", memory, offset)[0], MOST_TEXT_BYTES)
		return bytes(memory[offset + 8:offset + 8 + length]).decode("utf-8", "replace")
	value = struct.unpack_from("<q", memory, offset)[0]
	return bool(value) if kind == BOOL else value


def place_scalars(leaves, memory):
	"""Gives each scalar its place, from the beginning of a slot of `memory`. Returns the bytes taken."""
	cursor = 0
	for node in leaves:
		if node.kind in SCALAR_BYTES:
			node.memory, node.offset = memory, cursor
			cursor += SCALAR_BYTES[node.kind]
	return cursor


def align(offset, to):
	return (offset + to - 1) // to * to
