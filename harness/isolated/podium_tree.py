"""Trees of tensors and scalars: the data of a task, and their form in frames.

A tree has a form and values. Frames bring the form: containers, keys, types, shapes, strides, and
where each leaf lies in a slot. The values are the bytes of tensors and scalars, which lie only in
the slot. So the contestant cannot know an input's values before the judge writes the slot.

A frame has the number of nodes (u32), the bytes of text (u32), the nodes in reading order and the
text. A node has 160 bytes:

	8 u8     kind, dtype, memory, dimensions, flags, kind of key, 2 unused
	2 u32    number of children, unused
	i64      key: a number, or the place of a text
	u64      offset in the slot
	16 i64   8 sizes, 8 strides

A node refers to a text by the text's place: its offset in the text * 65536 + its length. If a
node's kind has a text (WITH_TEXT), the first of the 8 sizes is the place.

Only decode() parses the bytes of a contestant. decode() checks everything and raises Malformed.
This module needs no torch; a `tensors` object deals with tensors (podium_tensors.py)."""

import keyword
import struct

MOST_NODES, MOST_DIMENSIONS, MOST_DEPTH = 400, 8, 16
MOST_ELEMENTS = 1 << 48
MOST_TEXT_BYTES = 248  # of a str; with a length of 8 bytes it takes 256 bytes in a slot

KINDS = (
	"tuple",
	"list",
	"dict",
	"named tuple",
	"None",
	"bool",
	"int",
	"float",
	"str",
	"dtype",
	"device",
	"other",
	"tensor",
)
TUPLE, LIST, DICT, NAMED, NONE, BOOL, INT, FLOAT, TEXT, DTYPE, DEVICE, OTHER, TENSOR = range(
	1, len(KINDS) + 1
)
CONTAINERS = {TUPLE, LIST, DICT, NAMED}
SCALAR_BYTES = {BOOL: 8, INT: 8, FLOAT: 8, TEXT: 8 + MOST_TEXT_BYTES}
WITH_TEXT = {NAMED, DTYPE, DEVICE, OTHER}

# The memory of a leaf: of the inputs or of a spec's outputs, on the device or on the host.
IN_DEVICE, IN_HOST, OUT_DEVICE, OUT_HOST = range(4)
REQUIRES_GRAD, IS_PARAMETER = 1, 2
NO_KEY, NUMBER_KEY, TEXT_KEY = range(3)

# torch's names and the bytes of an element. The order is part of the protocol.
DTYPES = {
	"bool": 1,
	"uint8": 1,
	"int8": 1,
	"int16": 2,
	"int32": 4,
	"int64": 8,
	"float16": 2,
	"bfloat16": 2,
	"float32": 4,
	"float64": 8,
	"complex64": 8,
	"complex128": 16,
	"uint16": 2,
	"uint32": 4,
	"uint64": 8,
	"complex32": 4,
	"float8_e4m3fn": 1,
	"float8_e5m2": 1,
	"float8_e4m3fnuz": 1,
	"float8_e5m2fnuz": 1,
	"float8_e8m0fnu": 1,
	"float4_e2m1fn_x2": 1,
}
DTYPE_NAMES = tuple(DTYPES)

HEAD, NODE = struct.Struct("<II"), struct.Struct(f"<8BIIqQ{MOST_DIMENSIONS}q{MOST_DIMENSIONS}q")
assert NODE.size == 160


class Malformed(Exception):
	"""The bytes do not describe a tree. The text is a clause that says why."""


class Unsplittable(Exception):
	"""Data cannot be carried to another process. `place`: the part, as "[0]['x']", or "" for the
	whole; `predicate`: what is wrong with it."""

	def __init__(self, place, predicate):
		super().__init__(place, predicate)
		self.place, self.predicate = place, predicate

	def sentence(self, noun):
		"""`noun`: the name of the whole data, as in "The input"."""
		whose = f"{noun}'s part {self.place}" if self.place else noun
		return f"{whose} {self.predicate}"


class Node:
	__slots__ = (
		"kind",
		"key",
		"children",
		"text",
		"dtype",
		"memory",
		"offset",
		"sizes",
		"strides",
		"flags",
	)

	def __init__(self, kind, key=None, text="", children=()):
		self.kind, self.key, self.text, self.children = kind, key, text, list(children)
		self.dtype, self.memory, self.offset, self.flags = None, IN_DEVICE, 0, 0
		self.sizes, self.strides = (), ()

	def leaves(self):
		"""All nodes other than containers, in order."""
		if self.kind not in CONTAINERS:
			return [self]
		return [leaf for child in self.children for leaf in child.leaves()]

	def item_bytes(self):
		return DTYPES[self.dtype]

	def extent_bytes(self):
		"""The bytes from the first element of the tensor to the end of the last."""
		if 0 in self.sizes:
			return 0
		return (
			sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides)) + 1
		) * self.item_bytes()

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
			(stride, size) for size, stride in zip(self.sizes, self.strides) if size > 1
		):
			if stride < step:
				return self.elements() > 0
			step = stride * size
		return False

	def holds_memory(self):
		return self.kind == TENSOR or self.kind in SCALAR_BYTES


# ---- from data to a form ----


def class_name(value):
	"""The name by which both sides find a class: MODULE:NAME."""
	return f"{type(value).__module__}:{type(value).__qualname__}"


class Description:
	"""The form of `data`, and its leaves as pairs of node and value, in order.

	`tensors`: None if torch is not imported. `other(value, place)`: returns a node for a value of
	no known kind, or raises Unsplittable. `named(value, place)`: the same for a tuple of a
	subclass."""

	def __init__(self, data, tensors, other, named):
		self._tensors, self._other, self._named = tensors, other, named
		self.leaves, self._count = [], 0
		self.root = self._describe(data, (), "")

	def _describe(self, value, above, place):
		self._count += 1
		if self._count > MOST_NODES or len(above) > MOST_DEPTH or id(value) in above:
			raise Unsplittable(
				"", f"has more than {MOST_NODES} parts, or is nested more than {MOST_DEPTH} deep"
			)
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
					place, f"has a key of type {type(key).__name__}, which is neither str nor int"
				)
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
	sizes = (texts.place(node.text),) if node.kind in WITH_TEXT else node.sizes
	spare = (0,) * MOST_DIMENSIONS
	packed.append(
		NODE.pack(
			node.kind,
			DTYPE_NAMES.index(node.dtype) if node.dtype else 0,
			node.memory,
			len(node.sizes),
			node.flags,
			key_kind,
			0,
			0,
			len(node.children),
			0,
			key,
			node.offset,
			*(*sizes, *spare)[:MOST_DIMENSIONS],
			*(*node.strides, *spare)[:MOST_DIMENSIONS],
		)
	)
	for child in node.children:
		_pack(child, texts, packed)


def encode(root, most_bytes=65480):
	"""The bytes of a form. Raises Unsplittable if names are too long."""
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
			"a tree states a wrong length",
		)
		self.content, self.index = content, 0
		self.texts = content[HEAD.size + self.count * NODE.size :]

	def text(self, place):
		offset, length = place >> 16, place & 0xFFFF
		_need(
			0 <= offset <= len(self.texts) and length <= len(self.texts) - offset,
			"a text lies outside of its tree",
		)
		return self.texts[offset : offset + length].decode("utf-8", "replace")

	def node(self, depth):
		_need(
			self.index < self.count and depth <= MOST_DEPTH,
			"a tree is nested too deep, or lacks nodes",
		)
		(
			kind,
			dtype,
			memory,
			dimensions,
			flags,
			key_kind,
			_,
			_,
			children,
			_,
			key,
			offset,
			*numbers,
		) = NODE.unpack_from(self.content, HEAD.size + self.index * NODE.size)
		self.index += 1
		_need(1 <= kind <= len(KINDS), "a node is of no kind")
		_need(memory <= OUT_HOST and offset < 1 << 62, "a node lies in no memory")
		_need(flags <= (REQUIRES_GRAD | IS_PARAMETER), "a node has unknown flags")
		node = Node(
			kind, self.key(key_kind, key), self.text(numbers[0]) if kind in WITH_TEXT else ""
		)
		node.memory, node.offset, node.flags = memory, offset, flags
		if kind == TENSOR:
			self.tensor(node, dtype, dimensions, numbers)
		_need(kind in CONTAINERS or not children, "a leaf has children")
		_need(
			children <= self.count - self.index,
			"a container has more children than there are nodes",
		)
		for _ in range(children):
			node.children.append(self.node(depth + 1))
		self.keys(node)
		return node

	def key(self, kind, key):
		_need(kind <= TEXT_KEY, "a key is of no kind")
		return None if kind == NO_KEY else key if kind == NUMBER_KEY else self.text(key)

	def tensor(self, node, dtype, dimensions, numbers):
		_need(dtype < len(DTYPE_NAMES), "a tensor has an unknown type")
		_need(dimensions <= MOST_DIMENSIONS, "a tensor has too many dimensions")
		node.dtype = DTYPE_NAMES[dtype]
		node.sizes = tuple(numbers[:dimensions])
		node.strides = tuple(numbers[MOST_DIMENSIONS : MOST_DIMENSIONS + dimensions])
		bounded = all(0 <= number <= MOST_ELEMENTS for number in (*node.sizes, *node.strides))
		_need(
			bounded and node.elements() <= MOST_ELEMENTS and node.extent_bytes() <= MOST_ELEMENTS,
			"a tensor's shape is out of bounds",
		)
		_need(node.offset % node.item_bytes() == 0, "a tensor begins between two elements")

	def keys(self, node):
		keys = [child.key for child in node.children]
		if node.kind == DICT:
			_need(
				None not in keys and len(set(keys)) == len(keys),
				"a dict's keys are missing or repeated",
			)
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
	"""The data of a form, with leaf(node) for each leaf. A named tuple becomes an object of
	classes[node.text], or a plain tuple if `classes` has no such class."""
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
	except Exception:  # the class rejects the items
		return tuple(items)


def fits(node, classes):
	"""Whether each named tuple of a form has as many items as its class has fields."""
	known = classes.get(node.text) if node.kind == NAMED else None
	fields = getattr(known, "_fields", None)
	return (fields is None or len(fields) == len(node.children)) and all(
		fits(child, classes) for child in node.children
	)


def stand_in(name):
	"""An object of an empty class of this name, in place of a value that cannot be carried."""
	name = (
		name
		if name.isidentifier() and not keyword.iskeyword(name) and len(name) <= 100
		else "object"
	)
	return type(name, (), {})()


def constant(node, tensors):
	"""The value of a leaf that has no memory."""
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
	"""The value of a scalar. Hostile bytes give some value of that kind, too."""
	if kind == FLOAT:
		return struct.unpack_from("<d", memory, offset)[0]
	if kind == TEXT:
		length = min(struct.unpack_from("<Q", memory, offset)[0], MOST_TEXT_BYTES)
		return bytes(memory[offset + 8 : offset + 8 + length]).decode("utf-8", "replace")
	value = struct.unpack_from("<q", memory, offset)[0]
	return bool(value) if kind == BOOL else value


def place_scalars(leaves, memory):
	"""Gives each scalar its place, from the start of a slot of `memory`. Returns the bytes used."""
	cursor = 0
	for node in leaves:
		if node.kind in SCALAR_BYTES:
			node.memory, node.offset = memory, cursor
			cursor += SCALAR_BYTES[node.kind]
	return cursor


def align(offset, to):
	return (offset + to - 1) // to * to
