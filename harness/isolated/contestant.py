"""The contestant of the isolated engine: the process with a submission in it.

    python3 contestant.py SUBMISSION    the file with custom_kernel(data), in the current folder
    python3 contestant.py --null        the null contestant: an empty kernel, to time an empty call

Descriptor 3 is the socket to the judge, which makes all decisions. The submission can reach
everything in this process, so nothing here is secret, and the judge believes nothing it says.
docs/judge.md explains the engine, native.h a call.

Between the bell and "done" this code takes the same time for a submission and for the empty kernel.
On a GPU it enqueues everything while the judge's own work keeps the GPU busy, so that time is
hidden. The only wait for the GPU comes last, directly before "done", because work after a wait
would add varying time.
"""

import gc
import importlib
import importlib.util
import os
import select
import sys
import types
from time import monotonic, perf_counter_ns, sleep

import podium_area
import podium_tensors
import podium_tree as tree
import podium_wire as wire
from podium_words import accuse

SOCKET = 3
# The time limit for the judge's next frame: long, because the judge makes inputs meanwhile. If the
# judge ends, this process ends too, without waiting for the limit.
WAIT_S = 3600.0
# The pause between looks for a call or a frame: LOOK_S until QUICK_S after a call, then
# LATER_LOOK_S.
LOOK_S, QUICK_S, LATER_LOOK_S = 0.00005, 0.05, 0.005
MOST_TEXT_BYTES = 32768
# How many of a case's first calls the contestant measures by CUDA events. Events cost time, so
# these calls must not count: a short kernel has at least as many warm-up calls.
OWN_CALLS = 8
KEPT_BY_JUDGE = ("reference", "reference_code")


class NoOutput(Exception):
	"""The kernel returned no output. The text is a sentence."""


def say(text):
	wire.send(SOCKET, wire.TEXT, text.encode("utf-8", "backslashreplace")[:MOST_TEXT_BYTES])


# ---- the submission ----


def become(arguments):
	"""Makes this process look like one that runs the submission."""
	sys.path[0] = os.getcwd()
	sys.argv = list(arguments)
	sys.modules["__main__"] = types.ModuleType("__main__")


def import_kernel(slot):
	"""Imports the file and returns its custom_kernel. Raises NoOutput with the reason."""
	name = os.path.splitext(os.path.basename(slot))[0]
	try:
		spec = importlib.util.spec_from_file_location(name, os.path.abspath(slot))
		sys.modules[name] = module = importlib.util.module_from_spec(spec)
		spec.loader.exec_module(module)
	except ModuleNotFoundError as error:
		text = accuse(slot, error)
		if error.name in KEPT_BY_JUDGE:
			text += f"\n{error.name}.py stays with the judge; a submission gets the other files."
		raise NoOutput(text) from None
	except BaseException as error:
		raise NoOutput(accuse(slot, error)) from None
	kernel = getattr(module, "custom_kernel", None)
	if not callable(kernel):
		raise NoOutput(f"{slot} defines no function custom_kernel(data).")
	return kernel


# ---- the input ----


class Input:
	"""The slots of a case's inputs, and the data in them for a kernel."""

	def __init__(self, area, root, classes):
		self.area, self._classes = area, classes
		self._roots = [root] * area.slots

	def reform(self, slot, root):
		self._roots[slot] = root

	def prepare(self, slot):
		"""Returns a function that returns the data. Prepares here, before the bell, all parts of
		the data that are no secret."""
		root, area = self._roots[slot], self.area
		leaves = root.leaves()
		made = {id(node): area.view(node, slot) for node in leaves if node.kind == tree.TENSOR}
		made.update(
			(id(node), tree.constant(node, area.tensors))
			for node in leaves
			if not node.holds_memory()
		)
		if len(made) == len(leaves):
			data = tree.build(root, lambda node: made[id(node)], self._classes)
			return lambda: data
		host, base, classes = area.host, area.host_offset(slot), self._classes

		def leaf(node):
			return (
				made[id(node)]
				if id(node) in made
				else tree.read_scalar(node.kind, host, base + node.offset)
			)

		return lambda: tree.build(root, leaf, classes)

	def bounds(self, slot):
		"""(the address of the slot, its end) on the device, and the same on the host."""
		begins = [self.area.address(slot, place) for place in (0, 1)]
		return [
			(begin, begin + self.area.strides[place] if begin else 0)
			for place, begin in enumerate(begins)
		]


def find_class(text, found):
	"""Finds the class of a named tuple by the name that the judge sent, and adds it to `found`."""
	module, _, name = text.partition(":")
	found[text] = getattr(importlib.import_module(module), name)


# ---- outputs ----


def is_long(kind, value):
	"""Whether a scalar is too long for its place."""
	return (
		kind is int
		and not -(1 << 63) <= value < 1 << 63
		or kind is str
		and len(value.encode("utf-8", "surrogatepass")) > tree.MOST_TEXT_BYTES
	)


class Spec:
	"""A form of outputs that the judge knows, with its memory."""

	def __init__(self, number, area, root):
		self.number, self.area = number, area
		leaves = list(enumerate(root.leaves()))
		self.tensors = [
			(index, node)
			for index, node in leaves
			if node.kind == tree.TENSOR and node.memory >= tree.OUT_DEVICE
		]
		self.scalars = [(index, node) for index, node in leaves if node.kind in tree.SCALAR_BYTES]
		self.has_host_tensors = any(node.memory == tree.OUT_HOST for _, node in self.tensors)
		self._views = {}

	def views(self, slot):
		if slot not in self._views:
			tensors = self.area.tensors
			self._views[slot] = [
				(index, tensors.bits(self.area.view(node, slot))) for index, node in self.tensors
			]
		return self._views[slot]


class Outputs:
	"""Recognizes and describes what kernels return, and puts it where the judge reads it."""

	def __init__(self, tensors):
		self.tensors = tensors
		self.specs, self.pending = {}, None

	def key(self, value, leaves, bounds, depth=0):
		"""Returns a key that is equal for values of the same form. Appends the leaves of `value` to
		`leaves`."""
		kind = type(value)
		if self.tensors and isinstance(value, self.tensors.plain):
			return self.tensor_key(value, leaves, bounds)
		if depth > tree.MOST_DEPTH or len(leaves) > tree.MOST_NODES:
			raise NoOutput(
				f"custom_kernel returned more than {tree.MOST_NODES} parts, or nested them more "
				f"than {tree.MOST_DEPTH} deep."
			)
		if kind is dict:
			return (
				kind,
				*value,
				*[self.key(item, leaves, bounds, depth + 1) for item in value.values()],
			)
		if kind is list or isinstance(value, tuple):
			return (kind, *[self.key(item, leaves, bounds, depth + 1) for item in value])
		leaves.append(value)
		return (kind, "long") if is_long(kind, value) else kind

	def tensor_key(self, value, leaves, bounds):
		if type(value) not in self.tensors.plain_types:
			raise NoOutput(
				f"custom_kernel returned a {type(value).__name__}; return a plain torch.Tensor."
			)
		fault = self.tensors.fault(value)
		if fault:
			raise NoOutput(
				f"custom_kernel returned {fault}; return tensors as they lie in memory, on the "
				"device of the input or on the CPU."
			)
		value = self.tensors.detach(value)
		if value.is_conj() or value.is_neg():
			value = value.resolve_conj().resolve_neg()
		leaves.append(value)
		return (
			value.dtype,
			value.shape,
			value.stride(),
			value.is_cuda,
			self.place_in_input(value, bounds),
		)

	def place_in_input(self, value, bounds):
		"""The offset in the slot if `value` is a view of the input, otherwise -1."""
		begin, end = bounds[0 if value.is_cuda else 1]
		address = value.data_ptr()
		return address - begin if begin <= address < end else -1

	def describe(self, value, leaves, bounds):
		"""The bytes of the spec. `leaves`: from key(). Raises NoOutput."""

		def other(value, place):
			return tree.Node(tree.OTHER, text=type(value).__name__)

		def named(value, place):
			return tree.Node(
				tree.NAMED if hasattr(value, "_fields") else tree.TUPLE, text=tree.class_name(value)
			)

		try:
			description = tree.Description(value, self.tensors, other, named)
			for (node, _), leaf in zip(description.leaves, leaves):
				if node.kind == tree.TENSOR:
					self.place(node, leaf, bounds)
			return tree.encode(description.root)
		except tree.Unsplittable as fault:
			raise NoOutput(fault.sentence("custom_kernel's output") + ".") from None

	def place(self, node, value, bounds):
		node.flags, node.strides = 0, tuple(value.stride())
		offset, (begin, end) = self.place_in_input(value, bounds), bounds[0 if value.is_cuda else 1]
		if (
			offset >= 0
			and offset + node.extent_bytes() <= end - begin
			and offset % node.item_bytes() == 0
		):
			node.offset = offset
			return
		node.memory = tree.OUT_DEVICE if value.is_cuda else tree.OUT_HOST
		node.strides = tuple(self.tensors.dense_strides(value))

	def put(self, spec, leaves, slot):
		"""Copies the output into the judge's memory."""
		for index, view in spec.views(slot):
			self.tensors.copy_bits(view, leaves[index])
		for index, node in spec.scalars:
			tree.write_scalar(
				node.kind, leaves[index], spec.area.host, spec.area.host_offset(slot) + node.offset
			)


class NullKernel:
	"""The empty kernel. Like the submission, it returns views of the input or memory that put()
	copies."""

	def __init__(self):
		self._known, self._output = {}, None
		self.fault = ""  # why it cannot answer calls; its answer reports this to the judge
		self.forget()

	def forget(self):
		self._known, self._root, self._made = {}, None, {}

	def follow(self, number, root, tensors):
		made = {id(node): self._invent(node, tensors) for node in root.leaves()}
		self._known[number] = root, made
		self.return_to(number)

	def return_to(self, number):
		"""Chooses an earlier form by its number. Returns False if there is no such form."""
		if number in self._known:
			self._root, self._made = self._known[number]
		return number in self._known

	def _invent(self, node, tensors):
		if node.kind == tree.TENSOR:
			return tensors.scratch(node) if node.memory >= tree.OUT_DEVICE else None
		if node.kind in tree.SCALAR_BYTES:
			return {tree.BOOL: False, tree.INT: 0, tree.FLOAT: 0.0, tree.TEXT: ""}[node.kind]
		return tree.constant(node, tensors)

	def prepare(self, slot, area, classes):
		def leaf(node):
			return (
				area.view(node, slot)
				if node.kind == tree.TENSOR and node.memory < tree.OUT_DEVICE
				else self._made[id(node)]
			)

		self._output = tree.build(self._root, leaf, classes) if self._root else None
		return self._output

	def on_cuda(self, data):
		wire.empty_launch()
		return self._output

	def on_cpu(self, data):
		return self._output

	def bind(self, is_cuda):
		return self.on_cuda if is_cuda else self.on_cpu


# ---- the process ----


class Contestant:
	def __init__(self, page, gate, null):
		"""`gate`: None without a GPU."""
		self.page, self.gate, self.is_cuda, self.null = page, gate, gate is not None, null
		# Of the current call: its number, the address of its slot on the device, and whether the
		# GPU waits at the gate before the input's part on the host comes.
		self.number, self.slot, self.is_ahead = 0, 0, False
		self.tensors, self.synchronize, self.event = None, None, None
		self.kernel, self.input, self.outputs, self.room = None, None, None, None
		self.classes, self.calls = {}, 0
		if self.is_cuda:
			self.take_torch()

	def take_torch(self):
		"""Binds what is needed from torch before a submission can change it."""
		import torch

		self.tensors = podium_tensors.Tensors(torch, self.is_cuda, resolves=True)
		if self.is_cuda:
			torch.cuda.init()
			torch.zeros(1, device=self.tensors.device)
			wire.cuda_open()
			# The function behind torch.cuda.synchronize.
			self.synchronize, self.event = (
				getattr(torch._C, "_cuda_synchronize", torch.cuda.synchronize),
				torch.cuda.Event,
			)
		return torch

	# Frames.

	def read_frames(self):
		"""Reads all frames that have arrived."""
		while select.select([SOCKET], [], [], 0)[0]:
			kind, content, descriptors = wire.receive(SOCKET, WAIT_S, True)
			{
				wire.INPUTS: self.take_inputs,
				wire.OUTPUTS: self.take_outputs,
				wire.INPUT: self.take_input,
				wire.ROOM: self.take_room,
			}[kind](content, descriptors)
			wire.send(SOCKET, wire.MAPPED)

	def understand(self, content):
		"""The tree of a frame. Imports the classes that it names."""
		root = tree.decode(content)
		self.find_classes(root)
		return root

	def find_classes(self, node):
		is_new = node.kind == tree.NAMED and node.text not in self.classes
		if is_new and not self.null and not node.text.startswith("submission:"):
			find_class(node.text, self.classes)
		for child in node.children:
			self.find_classes(child)

	def take_room(self, content, descriptors):
		if self.input:
			self.forget_case()
		if self.room:
			wire.memory_release(self.room)
		self.room = wire.memory_import(True, podium_area.ROOM.unpack(content)[0], descriptors[0])

	def take_inputs(self, content, descriptors):
		root = self.understand(content[podium_area.HEAD.size :])
		if not self.tensors and (
			"torch" in sys.modules
			or any(leaf.kind in (tree.TENSOR, tree.DTYPE, tree.DEVICE) for leaf in root.leaves())
		):
			self.take_torch()
		if self.input:
			self.forget_case()
		_, area, _ = podium_area.Area.take(content, descriptors, self.tensors, self.room)
		self.input, self.outputs, self.calls = (
			Input(area, root, self.classes),
			Outputs(self.tensors),
			0,
		)

	def forget_case(self):
		areas = [self.input.area] + [spec.area for spec in self.outputs.specs.values()]
		self.input = self.outputs = None
		if self.null:
			self.null.forget()
		for area in areas:
			area.release()

	def take_input(self, content, descriptors):
		self.input.reform(
			podium_area.HEAD.unpack_from(content)[0],
			self.understand(content[podium_area.HEAD.size :]),
		)

	def take_outputs(self, content, descriptors):
		if (
			self.null
			and not descriptors
			and self.null.return_to(podium_area.HEAD.unpack_from(content)[0])
		):
			return
		try:
			number, area, rest = podium_area.Area.take(content, descriptors, self.tensors)
			root = tree.decode(rest)
			if self.null:
				self.null.follow(number, root, self.tensors)
				output = self.null.prepare(0, self.input.area, {})
				self.outputs.pending = self.outputs.key(output, [], self.input.bounds(0))
			self.outputs.specs[self.outputs.pending] = Spec(number, area, root)
		except Exception as error:  # for example, because a submission has filled the GPU's memory
			if not self.null:
				raise
			self.null.fault = accuse("The empty kernel", error)

	# Calls.

	def serve(self):
		while True:
			order = wire.wait_for_call(self.page, SOCKET)
			self.read_frames()
			if order.command == wire.LEAVE:
				return
			if order.command == wire.CALL:
				self.call(order)
			elif self.null:
				self.calibrate(order)

	def await_load(self):
		"""Serves calls without data until the judge sends LOAD. The judge measures this process by
		such calls, and gives it memory meanwhile."""
		seen, latest = wire.armed(self.page), 0.0
		while not self.may_load():
			if wire.armed(self.page) != seen:
				seen, latest = wire.armed(self.page), monotonic()
				self.calibrate(wire.wait_for_call(self.page, SOCKET))
			sleep(LOOK_S if monotonic() < latest + QUICK_S else LATER_LOOK_S)

	def may_load(self):
		"""Reads all frames that have arrived, up to LOAD. Returns whether LOAD has arrived."""
		while select.select([SOCKET], [], [], 0)[0]:
			kind, content, descriptors = wire.receive(SOCKET, WAIT_S, True)
			if kind == wire.LOAD:
				return True
			self.take_room(content, descriptors)
			wire.send(SOCKET, wire.MAPPED)
		return False

	def calibrate(self, order):
		"""Answers a call without data, after an empty kernel if the order is EMPTY."""
		if order.command == wire.LEAVE:
			raise wire.Gone("")
		self.number, self.slot, self.is_ahead = order.number, 0, False
		with wire.Pinned(order.cpu):
			wire.stand_by(self.page, SOCKET)
			if order.command == wire.EMPTY and self.is_cuda:
				self.begin()
				wire.empty_launch()
				self.finish(wire.RETURNED, 0, 0.0)
			else:
				wire.done(self.page, wire.RETURNED, 0, 0.0)

	def call(self, order):
		slot = order.slot
		if self.null:
			self.null.prepare(slot, self.input.area, {})
		data, bounds = self.input.prepare(slot), self.input.bounds(slot)
		is_handed = self.input.area.is_handed
		self.number, self.slot = order.number, bounds[0][0]
		self.is_ahead = self.is_cuda and is_handed
		with_events = self.is_cuda and self.calls < OWN_CALLS
		self.calls += 1
		on_device = self.run_on_cuda if self.is_cuda else self.run_on_cpu
		run = self.run_with_events if with_events else on_device
		gc.disable()  # the garbage collector would interrupt the call and count as its time
		try:
			with wire.Pinned(order.cpu) as pinned:
				wire.stand_by(self.page, SOCKET)
				if not self.is_cuda:  # the kernel's threads may use all CPUs
					pinned.end()
				if self.is_ahead:  # before the gate opens, which is when the part on the host comes
					self.wait_at_gate()
				if is_handed:
					wire.take_over(SOCKET, self.input.area.memories[1])
				self.finish(*self.answer(run, data, bounds, slot))
		finally:
			gc.enable()

	def answer(self, run, data, bounds, slot):
		"""Calls the kernel and puts its output. Returns (status, spec, own_ns). Sends the frame
		that the status announces."""
		if self.null and self.null.fault:
			say(self.null.fault)
			return wire.RAISED, 0, 0.0
		try:
			output, own_ns = run(data())
		except wire.Gone:
			raise
		except BaseException as error:
			say(accuse("custom_kernel", error) + self.loss())
			return wire.RAISED, 0, 0.0
		try:
			leaves = []
			key = self.outputs.key(output, leaves, bounds)
			spec = self.outputs.specs.get(key)
			if spec is None:
				if self.is_cuda:
					self.synchronize()
				wire.send(SOCKET, wire.SPEC, self.outputs.describe(output, leaves, bounds))
				self.outputs.pending = key
				return wire.NEW_SPEC, 0, own_ns
			if self.is_cuda and spec.has_host_tensors:
				self.synchronize()  # copies to the host may still be running
			if spec.tensors or spec.scalars:
				self.outputs.put(spec, leaves, slot)
			return wire.RETURNED, spec.number, own_ns
		except wire.Gone:
			raise
		except NoOutput as fault:
			say(str(fault))
		except Exception as error:  # a submission may have changed everything used here
			say(accuse("custom_kernel's output could not be read: it", error))
		return wire.NO_OUTPUT, 0, 0.0

	def finish(self, status, spec, own_ns):
		"""Waits for the GPU and says "done"."""
		if not self.is_cuda or status in (wire.RAISED, wire.NO_OUTPUT):
			wire.done(self.page, status, spec, own_ns)
		elif wire.finish_code(self.page, status, spec, own_ns):
			try:
				self.synchronize()  # torch describes the error better
				error = wire.last_failure()
			except Exception as said:
				error = said
			say(accuse("custom_kernel", error) + self.loss())
			wire.done(self.page, wire.RAISED, 0, 0.0)

	def run_on_cpu(self, data):
		kernel = self.kernel
		began = perf_counter_ns()
		output = kernel(data)
		return output, float(perf_counter_ns() - began)

	def run_on_cuda(self, data):
		self.begin()
		return self.kernel(data), 0.0

	def run_with_events(self, data):
		start, end = self.event(enable_timing=True), self.event(enable_timing=True)
		self.begin()
		start.record()
		output = self.kernel(data)
		end.record()
		self.synchronize()
		return output, start.elapsed_time(end) * 1e6

	def begin(self):
		if not self.is_ahead:
			self.wait_at_gate()

	def wait_at_gate(self):
		"""Enqueues the gate, which completes the input, before the work of the kernel."""
		if wire.gate_wait_code(self.gate, self.number, self.slot):
			raise wire.last_failure()

	def loss(self):
		"""Returns a line for the message if an error left the GPU unusable. The line also tells the
		judge so."""
		if not self.is_cuda:
			return ""
		try:
			self.synchronize()
			return ""
		except Exception:
			return "\nThe GPU is unusable after this error."


def greet():
	"""Receives HELLO. Returns (the page, the gate or None without a GPU)."""
	kind, content, descriptors = wire.receive(SOCKET, WAIT_S, True)
	hello = wire.Hello.from_buffer_copy(content)
	if kind != wire.HELLO or hello.version != wire.VERSION:
		sys.exit("contestant.py: the judge uses another version of the protocol.")
	return wire.page_map(descriptors[0]), wire.gate_map(descriptors[1]) if hello.is_cuda else None


def main(arguments):
	if len(arguments) != 1:
		sys.exit("usage: python3 contestant.py {SUBMISSION|--null}")
	os.set_inheritable(SOCKET, False)
	null = NullKernel() if arguments[0] == "--null" else None
	try:
		page, gate = greet()
		contestant = Contestant(page, gate, null)
		wire.send(SOCKET, wire.READY)
		contestant.await_load()
		become(arguments)
		contestant.kernel = null.bind(contestant.is_cuda) if null else import_kernel(arguments[0])
		wire.send(SOCKET, wire.READY)
		contestant.serve()
	except wire.Gone:
		return 0
	except NoOutput as fault:
		say(str(fault))
		return 1
	except Exception as error:
		say(accuse("The engine's contestant", error))
		raise
	return 0


def leave(status):
	"""Ends the process. Threads and exit handlers of the submission must not delay the end."""
	for stream in (sys.stdout, sys.stderr):
		try:
			stream.flush()
		except Exception:
			pass
	os._exit(status)


if __name__ == "__main__":
	leave(main(sys.argv[1:]))
