"""The memory that judge and contestant both map, divided into slots.

A slot holds one input, or the outputs of one call. An area has up to two memories, one on the
device and one on the host. The frames INPUTS and OUTPUTS hand over an area. These frames and INPUT
begin with the head below. A tree follows (podium_tree.py). An OUTPUTS that reuses a known spec is
only the head, and all its fields but `number` are 0.

	number    u32     OUTPUTS: the spec's number; INPUT: the slot's number; INPUTS: as `slots`
	slots     u32     the number of slots in the area
	strides   2 u64   bytes from slot to slot, on the device and on the host
	sizes     2 u64   bytes of the memories, on the device and on the host
"""
import struct

import podium_wire as wire

HEAD = struct.Struct("<IIQQQQ")
PAGE_BYTES = 4096


class Area:
	"""`memories`: of the device and of the host, None for none. Slot numbers wrap around, so an
	area for large outputs may have fewer slots than that of the inputs."""

	def __init__(self, memories, strides, slots, tensors):
		self.memories, self.strides, self.slots = memories, strides, slots
		self.tensors = tensors
		device, host = memories
		self._host_array = wire.host_bytes(host) if host else None
		self.host = memoryview(self._host_array).cast("B") if host else None
		self._flats = [None, None]

	@classmethod
	def make(cls, used, slots, tensors):
		"""Makes the judge's area. `used`: bytes of a slot on the device and on the host."""
		strides = [(count + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES for count in used]
		return cls([
			wire.memory_make(is_cuda, stride * slots) if stride else None
			for is_cuda, stride in zip((True, False), strides)
		], strides, slots, tensors)

	def offer(self, number):
		"""(the head of the frame that brings this area, its descriptors)"""
		sizes = [memory.bytes if memory else 0 for memory in self.memories]
		return HEAD.pack(number, self.slots, *self.strides,
			*sizes), [memory.descriptor for memory in self.memories if memory]

	@classmethod
	def take(cls, content, descriptors, tensors):
		"""Makes the contestant's area. Closes the descriptors. Returns (number, area, rest of the
		content)."""
		number, slots, *numbers = HEAD.unpack_from(content)
		strides, sizes, left = numbers[:2], numbers[2:], list(descriptors)
		memories = [
			wire.memory_import(is_cuda, size, left.pop(0)) if size else None
			for is_cuda, size in zip((True, False), sizes)
		]
		return number, cls(memories, strides, slots, tensors), content[HEAD.size:]

	def release(self):
		self._flats, self.host, self._host_array = [None, None], None, None
		for memory in self.memories:
			if memory:
				wire.memory_release(memory)
		self.memories = [None, None]

	def flat(self, place):
		"""All bytes of a memory as a tensor of uint8. `place`: 0 on the device, 1 on the host."""
		if self._flats[place] is None:
			memory = self.memories[place]
			self._flats[place] = self.tensors.bytes_at(memory.address, memory.bytes, place == 0,
				self._host_array)
		return self._flats[place]

	def bytes_of(self, slot, place, first, last):
		begin = slot % self.slots * self.strides[place]
		return self.flat(place)[begin + first:begin + last]

	def view(self, node, slot):
		"""The tensor of a node in a slot."""
		place = node.memory & 1
		if not node.extent_bytes():
			return self.tensors.empty(node)
		return self.tensors.view(node, self.flat(place), slot % self.slots * self.strides[place])

	def address(self, slot, place):
		memory = self.memories[place]
		return memory.address + slot % self.slots * self.strides[place] if memory else 0

	def host_offset(self, slot):
		return slot % self.slots * self.strides[1]
