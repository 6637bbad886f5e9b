"""What the judge does with memory around a call.

Just before a call the judge poisons the place of the outputs and puts the input into a slot. After
the call it copies the outputs.

	Image     an input as it lies in a slot, in the judge's own memory
	Device    the GPU or CPU: overwriting its cache, noise, the mark that starts the clock
	Spec      a form of outputs: its memory and its poison
	Snapshot  the outputs of one call in the judge's own memory, where nobody else can change them

The contestant can write to the slots at any time, so the judge copies each byte once and then uses
the copy.
"""

import ctypes
import math
import operator
import os
import random
import resource
import sys
from time import perf_counter_ns

import podium_statistics as statistics
import podium_tree as tree
import podium_wire as wire
from podium_area import Area

LINE_BYTES = wire.LINE_BYTES  # a cache line: the judge copies, compares and poisons whole lines
SOME_LINES = 64  # the most withheld lines of a tensor of a large input; each line costs time
MOST_SLOTS, CPU_SLOTS = 64, 4
# For the driver's contexts of the judge and of three contestants. This is more than they take, so
# an idle GPU never looks busy.
CONTEXTS_BYTES = 4 << 30
LARGE_BYTES = 64 << 20  # on the CPU device, inputs larger than this get two slots
ALIGNMENT = 256
RANDOM_PROBES = 3
BUSY_CYCLES = 500_000  # about 250 us, in which Python enqueues a dozen operations
# How long the judge leaves the GPU alone after a call: before each touch, and in all.
REST_NS, MOST_REST_NS = 120_000, 20_000_000
MOST_SWITCHES = 100  # enough calls to know what a switch costs
# For Device.copy_ns, the most that a copy takes: how many copies to measure, the factors (device,
# host) by which a copy may take longer than these, and the size of a copy on the host.
COPIES, COPY_MARGINS, HOST_COPY_BYTES = 5, (1.25, 4.0), 8 << 20
# How many times the judge may hold an output on the host: its copy, poison, noise, and what the
# task's check makes.
HOST_COPIES = 6
# The most that the launch of one more copy costs: before the gate opens, and after. The contestant
# launches copies after the gate opens if the input's part on the host comes only then.
LAUNCH_NS, LATE_LAUNCH_NS = 3000, 30_000


def available_bytes(name="MemAvailable", pages="SC_AVPHYS_PAGES"):
	"""The host memory that the judge can still have: what the machine has left, the page cache
	included, but no more than podium-run allows. `name`, `pages`: what counts as left, in
	/proc/meminfo and for sysconf()."""
	try:
		with open("/proc/meminfo") as file:
			left = next(int(line.split()[1]) << 10 for line in file if line.startswith(f"{name}:"))
	except (OSError, StopIteration):
		left = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
	limit = int(os.environ.get("PODIUM_MEMORY_MIB", "0")) << 20
	if not limit:
		return left
	with open("/proc/self/statm") as file:
		used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
	return max(0, min(left, limit - used))


def most_file_bytes():
	"""The size of the largest memory on the host that both processes can map. Such memory is a
	file, so the limit on the size of files applies."""
	limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
	return sys.maxsize if limit == resource.RLIM_INFINITY else limit


def wait_ns(duration):
	end = perf_counter_ns() + duration
	while perf_counter_ns() < end:
		pass


class TooLarge(Exception):
	"""The outputs need more memory than there is. The text is a sentence."""


class Device:
	"""`tensors`: None for a task without torch."""

	def __init__(self, tensors):
		self.tensors = tensors
		self.is_cuda = bool(tensors and tensors.is_cuda)
		self.random = random.Random(os.urandom(32))
		self._generators, self._noise, self._flush, self._is_poisoning = {}, {}, None, False
		self._copy_ns_per_byte = [0.0, 0.0]  # on the device, on the host
		self.is_disturbed = False  # whether a submission has been loaded
		# The function behind torch.cuda.synchronize.
		self._synchronize = (
			getattr(tensors.torch._C, "_cuda_synchronize", tensors.torch.cuda.synchronize)
			if self.is_cuda
			else None
		)
		self.cache_bytes = self._find_cache() if self.is_cuda else 0
		self.head, self.head_value = wire.head_make() if self.is_cuda else None, 0
		self._touched = tensors.torch.zeros(1, device=tensors.device) if self.is_cuda else None
		self._switches, self._switched_ns, self._quickest_ns = [], 0.0, math.inf

	def _find_cache(self):
		properties = self.tensors.torch.cuda.get_device_properties(0)
		return getattr(properties, "L2_cache_size", 0) or 128 << 20

	def synchronize(self):
		if self.is_cuda:
			self._synchronize()

	def free_bytes(self):
		if self.is_cuda:
			return self.tensors.torch.cuda.mem_get_info()[0]
		return available_bytes()

	def usable_bytes(self):
		"""The memory that the judge could still have if no other program used the device."""
		if self.is_cuda:
			cuda = self.tensors.torch.cuda
			return max(0, cuda.mem_get_info()[1] - CONTEXTS_BYTES - cuda.memory_reserved())
		return available_bytes("MemTotal", "SC_PHYS_PAGES")

	def slots_for(self, slot_bytes, sides):
		"""How many slots of this size a side gets: together more than four times the L2 cache, if
		there is memory for that."""
		if not self.is_cuda:
			return CPU_SLOTS if slot_bytes <= LARGE_BYTES else 2
		wanted = min(MOST_SLOTS, 4 * self.cache_bytes // max(slot_bytes, 1) + 2)
		return max(1, min(wanted, int(self.free_bytes() * 0.25) // max(slot_bytes * sides, 1)))

	def flush(self):
		"""Overwrites twice the L2 cache."""
		if not self.is_cuda:
			return
		if self._flush is None:
			self._flush = self.tensors.torch.empty(
				2 * self.cache_bytes // 8,
				dtype=self.tensors.torch.int64,
				device=self.tensors.device,
			)
		self._flush.fill_(self.random.getrandbits(62))

	def keep_busy(self):
		"""Keeps the GPU busy while the judge enqueues the staging and rings the bell. Otherwise the
		staging could end before the contestant has launched its kernels, and the call's time would
		include the launch."""
		if self.is_cuda:
			self.tensors.torch.cuda._sleep(BUSY_CYCLES)

	def mark_head(self):
		"""Enqueues the mark that starts the clock of the next call, behind all earlier work."""
		self.head_value = self.head_value % 0x7FFFFFFF + 1
		wire.head_mark(
			self.tensors.torch.cuda.current_stream().cuda_stream, self.head, self.head_value
		)

	def event(self):
		"""Records a new CUDA event and returns it."""
		made = self.tensors.torch.cuda.Event(enable_timing=True)
		made.record()
		return made

	def touch(self):
		"""Runs the smallest kernel. It takes long if another process has used the GPU, because the
		GPU then switches contexts."""
		if self.is_cuda:
			self._touched.add_(1)
			self.synchronize()

	def note_switch(self, touch_ns):
		"""Notes how long a touch took after a contestant's finished call: what a switch costs. Call
		it only before a submission is loaded. Later a submission could make a switch look
		expensive."""
		if len(self._switches) < MOST_SWITCHES:
			self._switches.append(touch_ns)
			self._switched_ns = statistics.center(self._switches) / 2

	def measure_copies(self):
		"""Measures how long copies take. Call it before a submission is loaded, which could slow
		them down."""
		half, took = self._flush.numel() // 2, ([], [])
		source = bytes(HOST_COPY_BYTES)
		for _ in range(COPIES):
			began = self.event()
			self._flush[:half].copy_(self._flush[half : 2 * half])
			ended = self.event()
			self.synchronize()
			took[0].append(began.elapsed_time(ended) * 1e6 / (8 * half))
			began_ns = perf_counter_ns()
			bytearray(source)  # into new memory, as in a contestant's first use of a slot
			took[1].append((perf_counter_ns() - began_ns) / HOST_COPY_BYTES)
		self._copy_ns_per_byte = [statistics.center(rates) for rates in took]

	def copy_ns(self, used):
		"""How many ns copying takes, at most. `used`: the bytes on the device and on the host."""
		rates = map(operator.mul, self._copy_ns_per_byte, COPY_MARGINS)
		return sum(map(operator.mul, rates, used))

	def rest(self):
		"""Leaves the GPU alone until no other process uses it, so that work which a call left
		behind can finish.

		Returns how long that took, ns; 0 while the cost of a switch is unknown.
		"""
		if not self._switched_ns:
			return 0.0
		began = perf_counter_ns()
		while True:
			wait_ns(REST_NS)
			touching = perf_counter_ns()
			self.touch()
			ended = perf_counter_ns()
			self._quickest_ns = min(self._quickest_ns, ended - touching)
			# A touch that is hardly slower than the quickest shows no switch.
			if (
				ended - touching < max(self._switched_ns, 3 * self._quickest_ns)
				or ended - began > MOST_REST_NS
			):
				return float(ended - began)

	def _generator(self, device):
		if device.type not in self._generators:
			self._generators[device.type] = self.tensors.generator(
				device, int.from_bytes(os.urandom(7), "little")
			)
		return self._generators[device.type]

	def noise(self, shape, device):
		"""New random 64-bit numbers, not from torch's own generators: those belong to the task."""
		made = self.tensors.torch.full(shape, 0, dtype=self.tensors.torch.int64, device=device)
		return made.random_(-(1 << 63), None, generator=self._generator(device))

	def old_noise(self, count, device):
		"""`count` random 64-bit numbers, made once to save time. The caller XORs them with a new
		random word each time."""
		known = self._noise.get(device.type)
		if known is None or len(known) < count:
			known = self._noise[device.type] = self.noise((count,), device)
		return known[:count]

	def word(self):
		return self.random.getrandbits(64) - (1 << 63)

	def poison(self, tensor):
		"""Fills a newly allocated tensor with poison and returns it."""
		tensors = self.tensors
		known = tensor.layout is tensors.torch.strided and tensor.dtype in tensors.names
		here = tensor.device in (tensors.device, tensors.torch.device("cpu"))
		if known and here and tensor.numel() and not self._is_poisoning:
			self._is_poisoning = True  # poisoning itself calls torch.empty
			try:
				self._poison_storage(tensors.storage_bytes(tensor)[1], tensors.names[tensor.dtype])
			finally:
				self._is_poisoning = False
		return tensor

	def _poison_storage(self, whole, dtype):
		self._scatter(whole)
		self.tensors.set_poison(
			whole[: whole.numel() // tree.DTYPES[dtype] * tree.DTYPES[dtype]], dtype
		)

	def _scatter(self, flat):
		"""Fills bytes with random bits."""
		torch = self.tensors.torch
		words = flat[: flat.numel() // 8 * 8].view(torch.int64)
		torch.bitwise_xor(self.old_noise(len(words), flat.device), self.word(), out=words)
		rest = flat[words.numel() * 8 :]
		if rest.numel():
			rest.copy_(self.noise((1,), flat.device).view(torch.uint8)[: rest.numel()])


# ---- an input ----


class Image:
	"""The bytes of an input in the layout of a slot. `description`: the input's form and values."""

	def __init__(self, description, device):
		self.device, self.root = device, description.root
		leaves = description.leaves
		scalar_bytes = tree.place_scalars([node for node, _ in leaves], tree.IN_HOST)
		self.scalars = bytearray(scalar_bytes)
		for node, value in leaves:
			if node.kind in tree.SCALAR_BYTES:
				tree.write_scalar(node.kind, value, self.scalars, node.offset)
		self.host_begins = tree.align(scalar_bytes, ALIGNMENT)
		self.used, pieces = (0, self.host_begins), []
		if device.tensors:
			*self.used, pieces = device.tensors.place_tensors(leaves, self.host_begins)
		self.form = tree.encode(self.root)
		self.flats, self._last = [self._flat(place, pieces) for place in (0, 1)], None
		self._spans = [
			(offset, piece.numel()) for memory, offset, piece in pieces if memory == tree.IN_DEVICE
		]

	def _begin(self, place):
		return self.host_begins if place else 0

	def _flat(self, place, pieces):
		"""The tensors' bytes in this place (0: device, 1: host), in whole lines; None without
		tensors."""
		begin, count = (
			self._begin(place),
			tree.align(self.used[place] - self._begin(place), LINE_BYTES),
		)
		if count <= 0:
			return None
		tensors = self.device.tensors
		where = tensors.device if place == 0 else tensors.torch.device("cpu")
		flat = tensors.torch.zeros(count, dtype=tensors.torch.uint8, device=where)
		for memory, offset, piece in pieces:
			if memory & 1 == place:
				flat[offset - begin : offset - begin + piece.numel()].copy_(piece)
		return flat

	def slot_bytes(self):
		"""How many bytes a slot needs on the device and on the host."""
		return [
			self._begin(place) + flat.numel() if flat is not None else self._begin(place)
			for place, flat in enumerate(self.flats)
		]

	def has_same_host_part(self, other):
		"""Whether the other input has the same scalars and the same tensors on the host."""
		ours, theirs = self.flats[1], other.flats[1]
		if self.scalars != other.scalars or (ours is None) != (theirs is None):
			return False
		return ours is None or self.device.tensors.torch.equal(ours, theirs)

	def prepare(self):
		"""Chooses the withheld lines. Does so once for each input, so that all contestants called
		with the input lack the same lines."""
		if not self._last and self.flats[0] is not None:
			self._last = Last(self.flats[0], self._spans, self.device)

	def withheld(self):
		"""The withheld lines on the device for the native part, valid as long as this image."""
		return self._last.native() if self._last else wire.Withheld()

	def put_on_device(self, area, slot):
		"""Enqueues the copy of the input, with decoys in place of the withheld lines."""
		if self._last:
			area.bytes_of(slot, 0, 0, self._last.flat.numel()).copy_(self._last.flat)

	def put_whole(self, area):
		"""Puts the input into the first slot, without withheld lines."""
		if self.flats[0] is not None:
			area.bytes_of(0, 0, 0, self.flats[0].numel()).copy_(self.flats[0])
		self.put_on_host(area, 0)

	def put_on_host(self, area, slot):
		if self.flats[1] is not None:
			area.bytes_of(
				slot, 1, self.host_begins, self.host_begins + self.flats[1].numel()
			).copy_(self.flats[1])
		if self.scalars:
			begin = area.host_offset(slot)
			area.host[begin : begin + len(self.scalars)] = self.scalars


def spread(count, wanted, random):
	"""Chooses `wanted` of `count` lines, evenly spaced from a random start. Returns these lines and
	as many other lines, the decoys. If the chosen lines leave no gaps, returns them twice."""
	pitch = count // wanted
	first = random.randrange(count - (wanted - 1) * pitch)
	chosen = range(first, first + wanted * pitch, pitch)
	if pitch == 1:
		return chosen, chosen
	other = (first + random.randrange(1, pitch)) % pitch
	return chosen, range(other, other + wanted * pitch, pitch)


class Last:
	"""The withheld lines of an input on the device, which come when the gate opens.

	Before the gate opens a contestant could read the slot, also by copy engines. `flat`: the input
	with decoys in place of the withheld lines. Decoys are copies of other lines of the tensor,
	which do not look wrong, or noise if over half of its lines are withheld. `spans`: (first byte,
	bytes) of each tensor. Each tensor has a share of the withheld lines, so that a large buffer for
	the output does not use up all.
	"""

	def __init__(self, flat, spans, device):
		self._device, torch = device, device.tensors.torch
		lines = self._lines(flat)
		chosen, decoys = self._choose(spans, len(lines))
		self._chosen = torch.tensor(chosen, device=flat.device)
		self._right = lines[self._chosen].cpu().contiguous()
		self.flat = flat.clone()
		decoy_lines = lines[torch.tensor(decoys, device=flat.device)]
		is_noise = torch.tensor(
			[one == other for one, other in zip(chosen, decoys)], device=flat.device
		)
		noise = device.noise(tuple(decoy_lines.shape), flat.device)
		self._lines(self.flat)[self._chosen] = torch.where(is_noise[:, None], noise, decoy_lines)

	def _choose(self, spans, count):
		"""Returns two lists of lines: those to withhold until the clock starts, and for each of
		them the line that takes its place until then. Noise takes its place if both are the
		same."""
		if count <= wire.MOST_LINES:
			return list(range(count)), list(range(count))
		random, chosen, decoys = self._device.random, [], []
		if len(spans) > wire.MOST_LINES:
			spans = random.sample(spans, wire.MOST_LINES)
		share = min(SOME_LINES, wire.MOST_LINES // len(spans))
		for offset, size in spans:
			first, end = offset // LINE_BYTES, -(-(offset + size) // LINE_BYTES)
			for found, places in zip(
				(chosen, decoys), spread(end - first, min(share, end - first), random)
			):
				found.extend(first + place for place in places)
		return chosen, decoys

	def _lines(self, flat):
		return flat.view(self._device.tensors.torch.int64).view(-1, LINE_BYTES // 8)

	def native(self):
		"""The lines for the native part, valid as long as this object."""
		count = len(self._chosen)
		self._places = (ctypes.c_uint64 * count)(*(self._chosen * LINE_BYTES).tolist())
		return wire.Withheld(ctypes.addressof(self._places), self._right.data_ptr(), count)


# ---- outputs ----


class Spec:
	"""A form of outputs that a contestant has described.

	`content`: the description, of which every byte is hostile. `inputs`: the contestant's area of
	inputs. `most_bytes`: the most memory that the outputs may take. Raises tree.Malformed and
	TooLarge.
	"""

	def __init__(self, number, content, inputs, classes, device, most_bytes):
		self.number, self.device, self.inputs = number, device, inputs
		self.root = tree.decode(content)
		if not tree.fits(self.root, classes):
			raise tree.Malformed("a named tuple has other fields")
		self.leaves = self.root.leaves()
		if not device.tensors:
			self._without_tensors()
		for node in self.leaves:
			if node.kind == tree.TENSOR:
				self._examine(node)
		self._lay_out(most_bytes)
		# What to probe and compare, for each tensor: (whether it lies in the input's memory, place,
		# first byte, end).
		self.ranges = [
			(
				node.memory < tree.OUT_DEVICE,
				node.memory & 1,
				node.offset,
				node.offset + node.extent_bytes(),
			)
			for node in self.leaves
			if node.kind == tree.TENSOR and node.extent_bytes()
		]
		self.area = self._make_area()
		self._patterns = [self._pattern(place) for place in (0, 1)]
		self._private = {}
		self.check_changes_outputs = False

	def _make_area(self):
		wanted = self.device.slots_for(sum(self.used), 2)
		slots = min(self.inputs.slots, wanted, self._most_host_slots())
		return Area.make(self.used, slots, self.device.tensors)

	def _most_host_slots(self):
		"""For how many slots the host has memory, besides HOST_COPIES copies of one slot in the
		judge."""
		size = max(1, self.used[1])
		left = available_bytes() // (4 * size) - HOST_COPIES
		return max(1, min(MOST_SLOTS, left, most_file_bytes() // size))

	def copy_ns(self):
		"""How many ns a contestant takes, at most, to copy these outputs into the shared memory."""
		copied = [
			node
			for node in self.leaves
			if node.kind == tree.TENSOR and node.memory >= tree.OUT_DEVICE
		]
		launch_ns = LATE_LAUNCH_NS if self.inputs.is_handed else LAUNCH_NS
		return self.device.copy_ns(self.used) + launch_ns * len(copied) if copied else 0.0

	def take_ns(self):
		"""How many ns the judge takes, at most, to copy these outputs, including those that lie in
		the input's memory."""
		copied = [0, 0]
		for _, place, first, end in self.ranges:
			copied[place] += (2 if self.check_changes_outputs else 1) * (end - first)
		return self.device.copy_ns(copied) + LAUNCH_NS * len(self.ranges)

	def _without_tensors(self):
		for node in self.leaves:
			if node.kind in (tree.TENSOR, tree.DTYPE, tree.DEVICE):
				node.text = "Tensor" if node.kind == tree.TENSOR else tree.KINDS[node.kind - 1]
				node.kind = tree.OTHER

	def _examine(self, node):
		if node.dtype not in self.device.tensors.dtypes or node.flags:
			raise tree.Malformed("a tensor has an unknown type")
		if node.memory & 1 == 0 and not self.device.is_cuda:
			raise tree.Malformed("a tensor lies on a missing device")
		if node.memory >= tree.OUT_DEVICE:
			if not node.is_dense():
				raise tree.Malformed("an output to copy has gaps or overlapping elements")
		elif node.offset + node.extent_bytes() > self.inputs.strides[node.memory & 1]:
			raise tree.Malformed("an output lies outside of its memory")

	def _lay_out(self, most_bytes):
		self.scalar_bytes = tree.place_scalars(self.leaves, tree.OUT_HOST)
		ends = [0, tree.align(self.scalar_bytes, ALIGNMENT)]
		self.host_begins = ends[1]
		for node in self.leaves:
			if node.kind == tree.TENSOR and node.memory >= tree.OUT_DEVICE:
				place = node.memory & 1
				node.offset = tree.align(ends[place], ALIGNMENT)
				ends[place] = node.offset + node.extent_bytes()
		self.used = [tree.align(end, LINE_BYTES) for end in ends]
		if sum(self.used) > most_bytes:
			raise TooLarge(
				f"custom_kernel returned {sum(ends) / 2**20:,.0f} MiB; there is memory for "
				f"{most_bytes / 2**20:,.0f} MiB."
			)
		most_host_bytes = min(available_bytes() // (HOST_COPIES + 1), most_file_bytes())
		if self.used[1] > most_host_bytes:
			raise TooLarge(
				f"custom_kernel returned {ends[1] / 2**20:,.0f} MiB on the host; there is memory "
				f"for {most_host_bytes / 2**20:,.0f} MiB."
			)

	def _begin(self, place):
		return self.host_begins if place else 0

	def _pattern(self, place):
		"""(the bits that poison sets, the bits that it keeps, or None for all) in this place; None
		if the outputs have no memory there."""
		count = self.used[place] - self._begin(place)
		if count <= 0:
			return None
		tensors, device = self.device.tensors, self.area.flat(place).device
		pattern = tensors.torch.zeros((2, count), dtype=tensors.torch.uint8, device=device)
		pattern[1].bitwise_not_()
		for node in self.leaves:
			if node.kind == tree.TENSOR and node.memory == tree.OUT_DEVICE + place:
				first = node.offset - self._begin(place)
				for row in pattern:
					tensors.set_poison(row[first : first + node.extent_bytes()], node.dtype)
		clears = bool((pattern[1] != 255).any())
		return pattern[0].view(tensors.torch.int64), pattern[1].view(
			tensors.torch.int64
		) if clears else None

	def poison(self, slot):
		if self.scalar_bytes:
			begin = self.area.host_offset(slot)
			self.area.host[begin : begin + self.scalar_bytes] = os.urandom(self.scalar_bytes)
		for place, pattern in enumerate(self._patterns):
			if pattern:
				torch = self.device.tensors.torch
				there = self.area.bytes_of(slot, place, self._begin(place), self.used[place]).view(
					torch.int64
				)
				torch.bitwise_xor(
					self.device.old_noise(len(there), there.device), self.device.word(), out=there
				)
				there.bitwise_or_(pattern[0])
				if pattern[1] is not None:
					there.bitwise_and_(pattern[1])

	def range_bytes(self, slot, of_input, place, first, last):
		return (self.inputs if of_input else self.area).bytes_of(slot, place, first, last)

	# Probes.

	def choose_probes(self, slot):
		"""[(of_input, place, first, last)]: the end of each output, of random outputs if there are
		too many, and random pieces."""
		chance, scalars = (
			self.device.random,
			[(False, 1, 0, self.scalar_bytes)] if self.scalar_bytes else [],
		)
		ranges = self.ranges + scalars
		if not ranges:
			return []
		last = (
			ranges
			if len(ranges) <= wire.MOST_PROBES - RANDOM_PROBES
			else chance.sample(ranges, wire.MOST_PROBES - RANDOM_PROBES)
		)
		chosen = [
			(*found[:2], max(found[2], found[3] - wire.PROBE_BYTES), found[3]) for found in last
		]
		for found in chance.choices(
			ranges, [found[3] - found[2] for found in ranges], k=RANDOM_PROBES
		):
			first = chance.randrange(found[2], max(found[2], found[3] - wire.PROBE_BYTES) + 1)
			chosen.append((*found[:2], first, min(found[3], first + wire.PROBE_BYTES)))
		return chosen

	def probe(self, slot, chosen):
		"""The chosen pieces for the native part."""
		return (wire.Probe * max(len(chosen), 1))(
			*[
				wire.Probe(
					(self.inputs if of_input else self.area).address(slot, place) + first,
					last - first,
					int(place == 0),
				)
				for of_input, place, first, last in chosen
			]
		)

	# The judge's copy.

	def private(self, of_input, place):
		"""The judge's own memory with the layout of a slot. A snapshot overwrites the previous
		snapshot of this spec."""
		if (of_input, place) not in self._private:
			area, torch = self.inputs if of_input else self.area, self.device.tensors.torch
			self._private[of_input, place] = torch.zeros(
				area.strides[place], dtype=torch.uint8, device=area.flat(place).device
			)
		return self._private[of_input, place]

	def take(self, slot):
		return Snapshot(self, slot)

	def release(self):
		self.area.release()


class Snapshot:
	"""The judge's copy of the outputs of one call."""

	def __init__(self, spec, slot):
		self.spec, self.slot = spec, slot
		begin = spec.area.host_offset(slot)
		self.scalars = (
			bytes(spec.area.host[begin : begin + spec.scalar_bytes]) if spec.scalar_bytes else b""
		)
		self._versions = []
		for of_input, place, first, last in spec.ranges:
			self._flat(of_input, place)[first:last].copy_(
				spec.range_bytes(slot, of_input, place, first, last)
			)
		self._kept = (
			[
				self._flat(of_input, place)[first:last].clone()
				for of_input, place, first, last in spec.ranges
			]
			if spec.check_changes_outputs
			else None
		)

	def _flat(self, of_input, place):
		return self.spec.private(of_input, place)

	def contradicts(self, chosen, seen):
		"""Whether a probe saw other bytes than the copy has."""
		seen, was, now = memoryview(seen).cast("B"), [], []
		for index, (of_input, place, first, last) in enumerate(chosen):
			begin = index * wire.PROBE_BYTES
			piece = seen[begin : begin + last - first]
			if not of_input and place == 1 and last <= self.spec.scalar_bytes:
				if bytes(piece) != self.scalars[first:last]:
					return True
				continue
			was.append(piece)
			now.append(self._flat(of_input, place)[first:last])
		if not now:
			return False
		torch = self.spec.device.tensors.torch
		# In one copy, because each copy from a GPU waits.
		there = torch.cat([piece.to(now[0].device) for piece in now]).cpu()
		return not torch.equal(there, torch.frombuffer(bytearray(b"".join(was)), dtype=torch.uint8))

	def changed_since(self):
		"""Whether the slot differs from the copy, which shows that the contestant was still
		writing. If the check itself has changed the copy, returns False and makes later snapshots
		keep a second copy."""
		spec = self.spec
		begin = spec.area.host_offset(self.slot)
		if (
			spec.scalar_bytes
			and bytes(spec.area.host[begin : begin + spec.scalar_bytes]) != self.scalars
		):
			return True
		if self._kept is None and any(
			tensor._version != version for tensor, version in self._versions
		):
			spec.check_changes_outputs = True
			return False
		copies = self._kept or [
			self._flat(of_input, place)[first:last] for of_input, place, first, last in spec.ranges
		]
		return not all(
			spec.device.tensors.torch.equal(spec.range_bytes(self.slot, *found), copy)
			for found, copy in zip(spec.ranges, copies)
		)

	# Trees over the copy.

	def input_tree(self, image, classes):
		"""(the input as a tree of views of the snapshot, its tensors by their place), for the
		task's is_output_of."""
		found = {}

		def leaf(node):
			if node.kind != tree.TENSOR:
				return (
					tree.read_scalar(node.kind, image.scalars, node.offset)
					if node.kind in tree.SCALAR_BYTES
					else tree.constant(node, self.spec.device.tensors)
				)
			made = self._view(node, True)
			found.setdefault((node.memory, node.offset, node.sizes, node.strides, node.dtype), made)
			return made

		return tree.build(image.root, leaf, classes), found

	def output_tree(self, classes, found=None):
		"""The output of custom_kernel as a tree of views of the snapshot. `found`: tensors of the
		input by their place; an output tensor that is one of these becomes the same object."""

		def leaf(node):
			if node.kind in tree.SCALAR_BYTES:
				return tree.read_scalar(node.kind, self.scalars, node.offset)
			if node.kind != tree.TENSOR:
				return tree.constant(node, self.spec.device.tensors)
			same = (found or {}).get(
				(node.memory, node.offset, node.sizes, node.strides, node.dtype)
			)
			made = same if same is not None else self._view(node, node.memory < tree.OUT_DEVICE)
			self._versions.append((made, made._version))
			return made

		return tree.build(self.spec.root, leaf, classes)

	def _view(self, node, of_input):
		tensors = self.spec.device.tensors
		return (
			tensors.view(node, self._flat(of_input, node.memory & 1), 0)
			if node.extent_bytes()
			else tensors.empty(node)
		)

	def bool_fault(self):
		"""A sentence if a bool tensor has bytes other than 0 and 1, which are poison or an error of
		the kernel; or None."""
		for node in self.spec.leaves:
			if (
				node.kind == tree.TENSOR
				and node.dtype == "bool"
				and node.extent_bytes()
				and node.is_dense()
			):
				raw = self._flat(node.memory < tree.OUT_DEVICE, node.memory & 1)[
					node.offset : node.offset + node.extent_bytes()
				]
				wrong = int((raw > 1).sum())
				if wrong:
					return (
						f"{wrong} of {node.elements()} elements of an output of type bool are "
						"neither True nor False; were they written?"
					)
		return None


def seen_buffer():
	return (ctypes.c_uint8 * (wire.MOST_PROBES * wire.PROBE_BYTES))()
