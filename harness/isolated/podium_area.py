"""The memory that judge and contestant both map, as slots that hold one input each, or one call's outputs.

An area has up to two memories, one on the device and one on the host, each of them slots at a stride. Frames that bring
an area (INPUTS, OUTPUTS) begin with a head; so does INPUT, which brings none:

	number (u32): INPUTS the slots, OUTPUTS the spec, INPUT the slot; slots (u32); stride on the device, on the host; bytes of the
	memory on the device, on the host (u64). Behind it lies a tree (podium_tree.py).
"""
import struct

import podium_wire as wire

HEAD = struct.Struct("<IIQQQQ")
PAGE_BYTES = 4096


class Area:
	"""`memories`: device and host; None where there is none. A slot's number counts modulo the slots that there are, so
	that large outputs can do with fewer than inputs have."""

	def __init__(self, memories, strides, slots, tensors):
		self.memories, self.strides, self.slots = memories, strides, slots
		self.tensors = tensors
		device, host = memories
		self._host_array = wire.host_bytes(host) if host else None
		self.host = memoryview(self._host_array).cast("B") if host else None
		self._flats = [None, None]

	@classmethod
	def make(cls, used, slots, tensors):
		"""The judge's. `used`: bytes of a slot on the device and on the host."""
		strides = [(count + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES for count in used]
		return cls([
			wire.memory_make(is_cuda, stride * slots) if stride else None
			for is_cuda, stride in zip((True, False), strides)
		], strides, slots, tensors)

	def offer(self, number):
		"""(the head of the frame that brings this area, the descriptors)"""
		sizes = [memory.bytes if memory else 0 for memory in self.memories]
		return HEAD.pack(number, self.slots, *self.strides,
			*sizes), [memory.descriptor for memory in self.memories if memory]

	@classmethod
	def take(cls, content, descriptors, tensors):
		"""The contestant's. Closes the descriptors. Returns (number, area, the rest of the content)."""
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
