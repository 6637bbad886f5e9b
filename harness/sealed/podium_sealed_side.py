"""A contestant of the sealed engine as the judge sees it.

The submission's process is only the builder. It makes a plan for each case, and the judge dismisses
it before the first call. Then the contestant is the launcher, which has no code of the submission
(launch.h).

	Builder       the process of a submission
	SealedSide    a submission: first its builder, then its launcher
	NullLauncher  the null contestant

In each case a launcher gets new memory at the same two addresses: the input's place, and the arena
with what the submission had allocated when it was built. The arena is no larger than the plan
needs, because the judge restores all of it before each call. So a call cannot leave anything for a
later one.
"""

import contextlib
import json
import os
import socket
import sys

import podium_sealed as sealed
import podium_staging as staging
import podium_tree as tree
import podium_wire as wire
from podium_area import Area
from podium_eval import EXIT_CUDA, EXIT_RAISED, CaseFailed
from podium_sealed_built import ARENA_OFFSET, WrongPlan, copy_file, place_output, read_plan, size_of
from podium_side import (
	EXIT_GONE,
	EXIT_REFUSED,
	EXIT_UNSPLITTABLE,
	MAP_LIMIT_S,
	WIRE_ERRORS,
	NullFailed,
	Peer,
	Side,
	Stop,
	clean,
	no_output,
	raised,
)

INPUT_ADDRESS, ARENA_ADDRESS = sealed.RANGE_ADDRESS, sealed.RANGE_ADDRESS + ARENA_OFFSET
ARENA_BYTES = 1 << 30  # of the builder
PIECE_BYTES = 2 << 20  # The judge looks for the used part of the arena in such pieces.
MOST_KEPT_SHARE = 0.25  # of the free memory, for the contents of one arena
TRACE_LIMIT_S = 10.0  # for each answer in a trace
MOST_EARLY_NS = 1e6  # how long before a call's clock starts its first node may run


def refused(text):
	"""The failure of a custom_kernel that no plan can hold, for this reason."""
	return CaseFailed(
		EXIT_REFUSED, f"custom_kernel does something that the sealed engine cannot record. {text}"
	)


# ---- memory ----


def make_input(image, tensors):
	"""Memory for an input. Its part on the host is the same in all calls; only the builder gets
	it."""
	on_device, on_host = image.slot_bytes()
	return Area.make((max(on_device, 1), on_host), 1, tensors)


class Arena:
	"""Memory for what a submission allocates: `count` bytes, or as many as a builder gets. `kept`:
	its first bytes before each call; all bytes behind them are 0."""

	def __init__(self, tensors, count=None, kept=None):
		self.area, self.kept = Area.make((count or ARENA_BYTES, 0), 1, tensors), kept
		if kept is None:
			self.area.flat(0).zero_()

	def keep(self, most_bytes):
		"""A copy of the contents up to the last piece that is not 0. Raises CaseFailed if the copy
		would have over `most_bytes`."""
		flat = self.area.flat(0)
		pieces = flat.view(self.area.tensors.torch.int64).view(-1, PIECE_BYTES // 8)
		used = pieces.any(dim=1).nonzero()
		count = (int(used[-1]) + 1) * PIECE_BYTES if len(used) else 0
		if count > most_bytes:
			raise CaseFailed(
				EXIT_REFUSED,
				f"custom_kernel keeps {count >> 20} MiB of the GPU's memory from call to call. The "
				f"judge has room for {most_bytes >> 20} MiB. Keep less.",
			)
		return flat[:count].clone()

	def restore(self):
		flat, count = self.area.flat(0), len(self.kept)
		flat[:count].copy_(self.kept)
		flat[count:].zero_()

	def release(self):
		self.area.release()


class Nothing(staging.Spec):
	"""The output None, for calls before there is a plan. Its arena has the largest size, so
	restoring it takes as long as restoring any submission's arena."""

	def __init__(self, inputs, device):
		super().__init__(0, tree.encode(tree.Node(tree.NONE)), inputs, {}, device, 0)
		torch = device.tensors.torch
		kept = torch.zeros(ARENA_BYTES, dtype=torch.uint8, device=device.tensors.device)
		self._arena = Arena(device.tensors, kept=kept)

	def poison(self, slot):
		self._arena.restore()

	def release(self):
		super().release()
		self._arena.release()


class SealedSpec(staging.Spec):
	"""The outputs of a plan, which the judge reads where the plan's kernels write them. Outputs may
	overlap each other. `area` is the part of the arena that has outputs in it."""

	def __init__(self, form, inputs, input_bytes, arena, classes, device, most_bytes):
		self._form, self._input_bytes, self._arena = form, input_bytes, arena
		self._classes = classes
		super().__init__(0, form, inputs, classes, device, most_bytes)
		self._poisoned = [self._elements(node) for node in self._outputs_in_arena()]

	def like(self, inputs):
		"""The same outputs for the null contestant, which has its own input."""
		arena, classes, device = self._arena, self._classes, self.device
		return SealedSpec(
			self._form, inputs, self._input_bytes, arena, classes, device, sys.maxsize
		)

	def copy_ns(self):
		return 0.0  # no contestant copies outputs

	def _outputs_in_arena(self):
		return [
			node
			for node in self.leaves
			if node.kind == tree.TENSOR and node.memory == tree.OUT_DEVICE
		]

	def _lay_out(self, most_bytes):
		arena_bytes = self._arena.area.memories[0].bytes
		for node in self.leaves:
			place_output(node, self._input_bytes, arena_bytes)
		placed = self._outputs_in_arena()
		first = min((node.offset for node in placed), default=0)
		self._begin_of_area = first // staging.ALIGNMENT * staging.ALIGNMENT
		end = 0
		for node in placed:
			node.offset -= self._begin_of_area
			end = max(end, node.offset + node.extent_bytes())
		self.scalar_bytes, self.host_begins = 0, 0
		self.used = [tree.align(end, staging.LINE_BYTES), 0]
		# A view that repeats elements can be far larger than its memory, and the check reads all.
		read = sum(
			node.elements() * node.item_bytes() for node in self.leaves if node.kind == tree.TENSOR
		)
		if max(end, read) > most_bytes:
			raise staging.TooLarge(
				f"custom_kernel's outputs take {max(end, read) / 2**20:,.0f} MiB, with the memory "
				f"between them; there is memory for {most_bytes / 2**20:,.0f} MiB."
			)

	def _examine(self, node):
		if node.dtype not in self.device.tensors.dtypes:
			raise tree.Malformed("a tensor has an unknown type")

	def _make_area(self):
		address = self._arena.area.memories[0].address + self._begin_of_area
		part = wire.Memory(address=address, bytes=self.used[0], is_cuda=1)
		tensors = self.device.tensors
		return Area([part if self.used[0] else None, None], self.used, 1, tensors, has_room=True)

	def _pattern(self, place):
		return None  # this class has its own poison(), which needs no pattern

	def _elements(self, node):
		"""The elements of an output as integers, for poison."""
		tensors = self.device.tensors
		view = tensors.view(node, self.area.flat(0), 0)
		if node.dtype == "complex128":
			view = tensors.torch.view_as_real(view)
		return node.dtype, tensors.bits(view)

	def poison(self, slot):
		"""Restores the arena and poisons the outputs there. An output in the input's place needs no
		poison, because the new input overwrites it."""
		self._arena.restore()
		tensors = self.device.tensors
		for dtype, elements in self._poisoned:
			word = tensors.torch.frombuffer(bytearray(os.urandom(8)), dtype=tensors.torch.uint8)
			tensors.set_poison(word, dtype)
			elements.fill_(word.view(elements.dtype)[0].item())


# ---- the builder ----


class Placing:
	"""A peer that maps the judge's memory at fixed addresses."""

	def give(self, address, area, is_input=0, is_arena=0):
		memory = area.memories[0]
		content = sealed.PLACE.pack(address, memory.bytes, is_input, is_arena)
		self._send(wire.PLACE, content, [memory.descriptor])

	def take_back(self, address):
		with contextlib.suppress(Stop, NullFailed):  # a later frame will fail, too
			self._send(wire.PLACE, sealed.PLACE.pack(address, 0, 0, 0))


class Builder(Placing, Peer):
	"""The process of a submission."""

	def greet(self):
		hello = bytes(wire.Hello(wire.VERSION, 1))
		self._try(wire.send, self._socket, wire.HELLO, hello)

	def dismiss(self):
		"""Ends the frames to the builder, which then leaves."""
		with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._socket)) as there:
			there.shutdown(socket.SHUT_WR)

	def build(self, inputs, form, limit_s):
		"""Makes the plan for the input in this memory. Returns (how much of the arena it needs, the
		output's tree, the plan's text, its blobs). Raises CaseFailed if there is no plan."""
		self.give(INPUT_ADDRESS, inputs, is_input=1)
		host = [memory.descriptor for memory in inputs.memories[1:] if memory]
		self._send(wire.INPUTS, sealed.INPUTS.pack(INPUT_ADDRESS) + form, host)
		self.await_mapped()
		try:
			self._try(wire.send, self._socket, wire.BUILD)
			return self._receive_plan(limit_s)
		finally:
			self.take_back(INPUT_ADDRESS)

	def _receive_plan(self, limit_s):
		try:
			kind, content, descriptors = wire.receive(self._socket, limit_s, True)
		except WIRE_ERRORS as error:
			raise self._because(error, limit_s) from None
		try:
			return self._read_answer(kind, content, descriptors)
		except WrongPlan as fault:
			raise self.violation(f"sent a wrong plan: {fault}") from None
		finally:
			for descriptor in descriptors:
				os.close(descriptor)

	def _read_answer(self, kind, content, descriptors):
		if kind == wire.TEXT:
			raise CaseFailed(EXIT_RAISED, clean(content))
		if kind != wire.BUILT or len(content) < sealed.ANSWER.size:
			raise self.violation("sent an unexpected frame")
		status, text_bytes, arena_bytes = sealed.ANSWER.unpack_from(content)
		rest = content[sealed.ANSWER.size :]
		if status != sealed.BUILT:
			raise self._failure(status, clean(rest))
		if len(descriptors) != 1:
			raise WrongPlan("its file is missing")
		if arena_bytes > ARENA_BYTES:
			raise WrongPlan("it needs more memory than there was")
		return (arena_bytes, rest, *self._read_file(descriptors[0], text_bytes))

	def _failure(self, status, text):
		make = {sealed.RAISED: raised, sealed.NO_OUTPUT: no_output, sealed.REFUSED: refused}
		if status not in make:
			return self.violation(f"answered with the unknown status {status}")
		return make[status](text)

	def _read_file(self, descriptor, text_bytes):
		count = size_of(descriptor)
		most = min(staging.available_bytes() // 2, staging.most_file_bytes())
		if count > most:
			raise CaseFailed(
				EXIT_RAISED,
				f"The compiled kernels of custom_kernel take {count >> 20} MiB. The judge has "
				f"memory for {most >> 20} MiB. Use fewer libraries.",
			)
		return read_plan(copy_file(descriptor, count), text_bytes)


# ---- the launchers ----


class Launched(Placing, Side):
	"""A side with a launcher. All calls use one slot: the input's place."""

	def __init__(self, descriptor, noun, is_null, cpus):
		super().__init__(descriptor, noun, is_null, cpus)
		self._is_ready, self._given, self._form = False, [], None

	def await_ready(self, limit_s):
		if not self._is_ready:
			super().await_ready(limit_s)
		self._is_ready = True

	def _describe(self, error, limit_s):
		if isinstance(error, wire.Gone):
			return EXIT_GONE, "The launcher ended."
		return super()._describe(error, limit_s)

	def load(self):
		"""Does nothing: a launcher takes no LOAD."""

	def give_room(self, count):
		"""Does nothing: each case brings its own memory."""

	def give(self, address, area, is_input=0, is_arena=0):
		super().give(address, area, is_input, is_arena)
		self._given.append(address)

	def begin(self, image, device, slots, is_handed):
		self.end()
		self.await_mapped()
		self.device, self._form = device, image.form
		self.area = self._try(make_input, image, device.tensors)
		self.give(INPUT_ADDRESS, self.area, is_input=1)

	def end(self):
		while self._given:
			self.take_back(self._given.pop())
		super().end()

	def _room_for(self, image):
		if image.form != self._form:
			raise Stop(
				EXIT_UNSPLITTABLE,
				"Two inputs of the case have different forms: shapes, types, or views of each "
				"other.",
			)
		return True

	def _choose_slot(self, image):
		return 0


class Build:
	"""The plan of a case, and all that its calls need."""

	def __init__(self, input_form, form, text, hashes, kept, arena_bytes):
		self.input_form, self.form, self.text = input_form, form, text
		self.hashes, self.kept, self.arena_bytes = hashes, kept, arena_bytes
		self.figures = None  # of the kernels, once the launcher has taken the plan

	def learn_figures(self, content):
		"""Reads the launcher's answer to the plan. Raises struct.error if it is too short."""
		warps_per_sm, count = sealed.PLAN_FIGURES.unpack_from(content)
		nodes = json.loads(self.text)["nodes"]
		kernels = [number for number, node in enumerate(nodes) if node["kind"] == "kernel"]
		content = content[sealed.PLAN_FIGURES.size :][: count * sealed.KERNEL_FIGURES.size]
		self.figures = [
			{
				"node": number,
				"registers": registers,
				"local_bytes": local_bytes,
				"static_shared_bytes": shared_bytes,
				"blocks_per_sm": blocks_per_sm,
				"warps_per_sm_most": warps_per_sm,
			}
			for number, (registers, local_bytes, shared_bytes, blocks_per_sm) in zip(
				kernels, sealed.KERNEL_FIGURES.iter_unpack(content)
			)
		]

	def learn_times(self, content, most_ns):
		"""Reads the launcher's answer to a trace, and adds the nodes' times to the figures. Raises
		ValueError or struct.error if the answer is wrong. `most_ns`: no call took longer."""
		nodes = json.loads(self.text)["nodes"][: wire.CONTENT_BYTES // sealed.TIMES.size]
		times = list(sealed.TIMES.iter_unpack(content))
		known = {
			number: (begin_ns, end_ns)
			for number, (begin_ns, end_ns) in enumerate(times)
			if (begin_ns, end_ns) != (sealed.UNKNOWN_NS, sealed.UNKNOWN_NS)
		}
		if len(times) != len(nodes):
			raise ValueError("the launcher sent the times of another plan")
		if min((begin_ns for begin_ns, _ in known.values()), default=-1) != 0 or any(
			not begin_ns <= end_ns <= most_ns for begin_ns, end_ns in known.values()
		):
			raise ValueError("the launcher sent times that cannot be")
		figures = {figure["node"]: figure for figure in self.figures}
		for number, (begin_ns, end_ns) in known.items():
			figure = figures.setdefault(number, {"node": number})
			figure.update(begin_ns=begin_ns, end_ns=end_ns)
		self.figures = [figures[number] for number in sorted(figures)]


class SealedSide(Launched):
	"""A submission. `builder`: the descriptor of its builder's socket."""

	def __init__(self, descriptor, builder, noun, cpus):
		super().__init__(descriptor, noun, False, cpus)
		self._builder = Builder(builder, noun)
		# By case: a Build, or the CaseFailed that is its result. The judge raises a failure when it
		# tries the case.
		self._builds = {}
		self._blobs = {}  # by hash; cases share most of them
		self._case, self._classes, self._arena = None, {}, None

	def greet(self, is_cuda):
		super().greet(is_cuda)
		self._builder.greet()

	def await_ready(self, limit_s):
		super().await_ready(limit_s)
		self._builder.await_ready(limit_s)

	def load(self):
		self._arena = self._try(Arena, self.device.tensors)
		self.device.synchronize()
		self._builder.give(ARENA_ADDRESS, self._arena.area, is_arena=1)
		self._builder.await_mapped()
		self._builder.load()
		self.is_loaded = True

	def dismiss(self):
		self._builder.dismiss()
		super().dismiss()

	def leave(self, limit_s):
		return self._builder.leave(limit_s) and super().leave(limit_s)

	# ---- before the calls ----

	def build(self, case, image, classes, limit_s):
		"""Makes the plan of a case with this input, which no call may use. Returns the CaseFailed
		of a case without a plan, else None."""
		self._classes = classes
		try:
			self._builds[case] = self._build(image, limit_s)
		except CaseFailed as failure:
			self._builds[case] = failure
			return failure
		return None

	def forget(self, case):
		"""Frees the plan of a case that will not be called."""
		del self._builds[case]

	def _build(self, image, limit_s):
		inputs = self._try(make_input, image, self.device.tensors)
		try:
			image.put_whole(inputs)
			self.device.synchronize()
			needed, form, text, blobs = self._builder.build(inputs, image.form, limit_s)
			self._describe_outputs(form, image, inputs, self._arena).release()
			kept = self._arena.keep(int(self.device.free_bytes() * MOST_KEPT_SHARE))
			self.device.synchronize()
		finally:
			inputs.release()
		for found, content in blobs:
			if found not in self._blobs:
				self._blobs[found] = bytes(content)
		hashes, arena_bytes = [found for found, _ in blobs], max(needed, len(kept), PIECE_BYTES)
		return Build(image.form, form, text, hashes, kept, arena_bytes)

	def _describe_outputs(self, form, image, inputs, arena):
		input_bytes = image.slot_bytes()[0]
		return self._described(
			lambda most: SealedSpec(
				form, inputs, input_bytes, arena, self._classes, self.device, most
			)
		)

	def see_off_builder(self, limit_s):
		"""Dismisses the builder. Returns whether it ended in time."""
		has_left = self._builder.leave(limit_s)
		self._arena.release()
		self._arena = None
		return has_left

	# ---- calls ----

	def choose(self, case):
		self._case = case

	def begin(self, image, device, slots, is_handed):
		build = self._builds[self._case]
		if isinstance(build, CaseFailed):
			raise CaseFailed(build.code, build.text)
		super().begin(image, device, slots, is_handed)
		self._form = build.input_form
		self._arena = self._try(Arena, device.tensors, build.arena_bytes, build.kept)
		self.give(ARENA_ADDRESS, self._arena.area)
		self.await_mapped()
		self._send_plan(build)
		self.spec = self._describe_outputs(build.form, image, self.area, self._arena)
		self.specs.append(self.spec)

	def end(self):
		super().end()
		if self._arena:
			self._arena.release()
		self._arena = None

	def _send_plan(self, build):
		descriptor = sealed.write_plan(build.text, [self._blobs[found] for found in build.hashes])
		content = sealed.PLAN_FRAME.pack(len(build.text), 0, 0)
		try:
			self._try(wire.send, self._socket, wire.PLAN, content, [descriptor])
		finally:
			os.close(descriptor)
		kind, content = self._receive(MAP_LIMIT_S)
		if kind == wire.TEXT:
			raise refused(clean(content))
		if kind != wire.MAPPED:
			raise self.violation("sent an unexpected frame")
		build.learn_figures(content)

	def trace(self, image):
		"""Calls the plan of the case that has begun, while CUPTI records when its nodes run, and
		adds their times to the plan's figures. Later calls of this side take longer."""
		self._send(wire.TRACE, sealed.cupti_folders(self.device.tensors.torch))
		self.await_mapped(TRACE_LIMIT_S)
		longest_ns = 0.0
		for _ in range(sealed.TRACED_CALLS):
			self.play(image, TRACE_LIMIT_S, pinned=False)
			longest_ns = max(longest_ns, self.latest_ns())
		self._try(wire.send, self._socket, wire.TRACE)
		kind, content = self._receive(TRACE_LIMIT_S)
		if kind == wire.TEXT:
			raise wire.Failed(clean(content))
		if kind != wire.MAPPED:
			raise self.violation("sent an unexpected frame")
		self._builds[self._case].learn_times(content, longest_ns + MOST_EARLY_NS)

	def save_plan(self, case, folder, name):
		"""Writes the plan of a case and its blobs into a folder, for podium-run. Replaces what an
		earlier call wrote. Writes nothing if the launcher has not taken the plan, because then
		nobody has checked it."""
		build = self._builds.get(case)
		if not isinstance(build, Build) or build.figures is None:
			return
		for found in dict.fromkeys(build.hashes):
			with contextlib.suppress(FileExistsError), open(f"{folder}/{found}", "xb") as file:
				file.write(self._blobs[found])
		with open(f"{folder}/{name}.new", "w") as file:
			blobs = list(dict.fromkeys(build.hashes))
			text = build.text.decode("ascii")
			json.dump({"text": text, "blobs": blobs, "figures": build.figures}, file)
		os.replace(f"{folder}/{name}.new", f"{folder}/{name}")

	def learn_spec(self, classes):
		raise self.violation("described a new output, which no plan has")

	def _hear(self, status):
		"""A plan fails only by an error of its kernels, after which the launcher's GPU context is
		unusable."""
		text = clean(self._announced(wire.TEXT, "a reason"))
		raise CaseFailed(EXIT_CUDA, f"custom_kernel failed on the GPU: {text}")


class NullLauncher(Launched):
	"""The null contestant. It has an input place of its own, so that no process with kernels of a
	submission can read an input before its own call. The judge restores the submission's arena for
	the null contestant's calls too, which costs equal time."""

	def __init__(self, descriptor, noun, cpus):
		super().__init__(descriptor, noun, True, cpus)
		self._likes = {}  # by the submission's spec

	def return_nothing(self):
		self._use(self._try(Nothing, self.area, self.device))

	def follow(self, side, classes):
		if side.spec not in self._likes:
			self._likes[side.spec] = side.spec.like(self.area)
		self._use(self._likes[side.spec])
		self.spec.check_changes_outputs = side.spec.check_changes_outputs

	def _use(self, spec):
		self.spec, self.specs = spec, [spec]

	def end(self):
		for spec in self._likes.values():
			spec.release()
		self._likes.clear()
		super().end()
