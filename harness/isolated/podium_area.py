"""The memory that judge and contestant both map, divided into slots.

A slot holds one input, or the outputs of one call. An area has up to two memories, one on the
device and one on the host. The frames INPUTS and OUTPUTS bring an area; INPUT brings a new form for
one slot. Each of these frames consists of the head below and a tree (podium_tree.py). An OUTPUTS
that reuses a known spec has no tree, and all fields of its head but `number` are 0.

The device memory of INPUTS is the room: memory for the inputs of all cases, which a frame ROOM has
brought before. If the host memory of INPUTS has a stride but the size 0, each call brings new host
memory (`handed` in native.h).

	number    u32     OUTPUTS: the spec's number; INPUT: the slot's number; INPUTS: as `slots`
	slots     u32     the number of slots in the area
	strides   2 u64   bytes from slot to slot, on the device and on the host
	sizes     2 u64   bytes of the memories, on the device and on the host
"""

import struct

import podium_wire as wire

HEAD = struct.Struct("<IIQQQQ")
ROOM = struct.Struct("<Q")  # the content of ROOM: the bytes of its memory
PAGE_BYTES = 4096


def strides_of(used):
	return [(count + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES for count in used]


class Area:
	"""The slots of inputs or of outputs. `memories`: [on the device, on the host]; None: there is
	none. Slot numbers wrap around, because an area for large outputs may have fewer slots than the
	area of the inputs. `has_room`: the device memory is the room, so this area must not release
	it."""

	def __init__(self, memories, strides, slots, tensors, has_room=False):
		self.memories, self.strides, self.slots = list(memories), strides, slots
		self.tensors, self._has_room, self.is_handed = tensors, has_room, False
		self._flats = [None, None]
		self._take_host()

	def _take_host(self):
		host = self.memories[1]
		self._host_array = wire.host_bytes(host) if host else None
		self.host = memoryview(self._host_array).cast("B") if host else None
		self._flats[1] = None

	@classmethod
	def make(cls, used, slots, tensors):
		"""Makes the judge's area. `used`: bytes of a slot on the device and on the host."""
		strides = strides_of(used)
		return cls(
			[
				wire.memory_make(is_cuda, stride * slots) if stride else None
				for is_cuda, stride in zip((True, False), strides)
			],
			strides,
			slots,
			tensors,
		)

	@classmethod
	def make_inputs(cls, used, slots, tensors, room, is_handed):
		"""Makes the judge's area for inputs in this room. `is_handed`: renew_host() makes new host
		memory for each call."""
		strides = strides_of(used)
		host = wire.memory_make(False, strides[1] * slots) if strides[1] and not is_handed else None
		made = cls([room if strides[0] else None, host], strides, slots, tensors, True)
		made.is_handed = is_handed and strides[1] > 0
		return made

	def renew_host(self):
		"""Makes new host memory for one call, which no contestant has yet, and returns it."""
		self._release_host()
		self.memories[1] = wire.memory_make(False, self.strides[1])
		self._take_host()
		return self.memories[1]

	def offer(self, number):
		"""(the head of the frame that brings this area, its descriptors)"""
		sizes = [memory.bytes if memory else 0 for memory in self.memories]
		brought = [None if self._has_room else self.memories[0], self.memories[1]]
		return HEAD.pack(number, self.slots, *self.strides, *sizes), [
			memory.descriptor for memory in brought if memory
		]

	@classmethod
	def take(cls, content, descriptors, tensors, room=None):
		"""Makes the contestant's area. Closes the descriptors. `room`: the device memory if the
		frame brings none. Returns (number, area, rest of the content)."""
		number, slots, *numbers = HEAD.unpack_from(content)
		strides, sizes, left = numbers[:2], numbers[2:], list(descriptors)
		device = room if sizes[0] else None
		if sizes[0] and not room:
			device = wire.memory_import(True, sizes[0], left.pop(0))
		is_handed = strides[1] > 0 and not sizes[1]
		host = wire.memory_import(False, sizes[1], left.pop(0)) if sizes[1] else None
		if is_handed:
			host = wire.memory_reserve(strides[1])
		made = cls([device, host], strides, slots, tensors, bool(room))
		made.is_handed = is_handed
		return number, made, content[HEAD.size :]

	def _release_host(self):
		self._flats[1], self.host, self._host_array = None, None, None
		if self.memories[1]:
			wire.memory_release(self.memories[1])
		self.memories[1] = None

	def release(self):
		self._release_host()
		self._flats[0] = None
		if self.memories[0] and not self._has_room:
			wire.memory_release(self.memories[0])
		self.memories[0] = None

	def _offset(self, slot, place):
		return 0 if place and self.is_handed else slot % self.slots * self.strides[place]

	def flat(self, place):
		"""All bytes of a memory as a tensor of uint8. `place`: 0 on the device, 1 on the host."""
		if self._flats[place] is None:
			memory = self.memories[place]
			self._flats[place] = self.tensors.bytes_at(
				memory.address, memory.bytes, place == 0, self._host_array
			)
		return self._flats[place]

	def bytes_of(self, slot, place, first, last):
		begin = self._offset(slot, place)
		return self.flat(place)[begin + first : begin + last]

	def view(self, node, slot):
		"""The tensor of a node in a slot."""
		place = node.memory & 1
		if not node.extent_bytes():
			return self.tensors.empty(node)
		return self.tensors.view(node, self.flat(place), self._offset(slot, place))

	def address(self, slot, place):
		memory = self.memories[place]
		return memory.address + self._offset(slot, place) if memory else 0

	def probe_all(self, slot):
		"""As many probes of the device's part as a call may have, evenly spread."""
		size = min(wire.PROBE_BYTES, self.strides[0])
		begin, last = self.address(slot, 0), self.strides[0] - size
		return (wire.Probe * wire.MOST_PROBES)(
			*[
				wire.Probe(begin + last * place // (wire.MOST_PROBES - 1), size, 1)
				for place in range(wire.MOST_PROBES)
			]
		)

	def host_offset(self, slot):
		return self._offset(slot, 1)
