"""The builder of the sealed engine: the process of a submission that makes a plan of its call.

    python3 builder.py SUBMISSION    the file with custom_kernel(data), in the current folder

Descriptor 3 is the socket to the judge. launch.h describes the frames. Nothing is timed here. The
judge believes nothing that this process says: it plays the plan elsewhere and checks the outputs.
"""

import contextlib
import ctypes
import os
import re
import sys
import traceback

import contestant
import podium_area
import podium_sealed as sealed
import podium_wire as wire
from contestant import MOST_TEXT_BYTES, SOCKET, WAIT_S, NoOutput, say
from podium_sealed import Refused
from podium_words import accuse

# (words in the error with which torch or CUDA refuses to capture a call, the sentence for the
# participant)
CAUSES = (
	(
		"Cannot copy between CPU and CUDA tensors during CUDA graph capture",
		"The call copies between the CPU and the GPU, as .cpu() or a list as an index does. Keep "
		"results on the GPU, and make constants with torch.tensor().",
	),
	(
		"would make the legacy stream depend",
		"The call launches work on CUDA's default stream. Launch it on torch's current stream: "
		"at::cuda::getCurrentCUDAStream(), or torch.cuda.current_stream().cuda_stream.",
	),
	(
		"not permitted when stream is capturing",
		"The call waits for the GPU with cudaDeviceSynchronize() or the like, or allocates memory "
		"with cudaMalloc. .item(), .tolist() and functions whose result's shape depends on data "
		"wait, too. Keep such values on the GPU, and keep buffers from the first call.",
	),
	(
		"uncaptured work in another stream",
		"The call waits for an event that was recorded before it. Record the event in the call.",
	),
	(
		"unjoined work",
		"The call leaves work on another stream. Let the current stream wait for it: "
		"torch.cuda.current_stream().wait_stream(other).",
	),
	(
		"CUDA generator",
		"The call draws random numbers on the GPU. Draw them in the first call and keep them, or "
		"compute them in a kernel from the input.",
	),
	(
		"Offset increment outside graph capture",
		"The call draws random numbers from a generator of its own. Draw them in the first call "
		"and keep them, or compute them in a kernel from the input.",
	),
	(
		"previous error during capture",
		"CUDA refused a step of the call, and the call ignored that. A sealed call may not wait "
		"for the GPU, use CUDA's default stream, or allocate memory with cudaMalloc.",
	),
)
RANDOM = CAUSES[5][1]


class Copies(Refused):
	"""The call copies between the host and the GPU."""


class Raised(Exception):
	"""custom_kernel raised an error. The text is for the participant."""


STATUS = {
	Refused: sealed.REFUSED,
	Copies: sealed.REFUSED,
	Raised: sealed.RAISED,
	NoOutput: sealed.NO_OUTPUT,
}
MOST_SOURCE_BYTES = 1 << 20
FROM_HOST = "The call copies from the host"  # begins sealed_record_plan's sentence


# ---- sentences ----


def line_of(error, slot):
	"""Names the submission's line that raised an error, as "submission.py, line 3: "; "" if it is
	not known."""
	path = os.path.abspath(slot)
	lines = [
		frame.lineno
		for frame in traceback.extract_tb(error.__traceback__)
		if os.path.abspath(frame.filename) == path
	]
	return f"{slot}, line {lines[-1]}: " if lines else ""


def kernel_line(sentence, slot):
	"""Names the submission's line that defines the kernel of a sentence, as line_of does: a CUDA
	C++ kernel in a text of the submission, or a function with the decorator jit."""
	named = re.search(r"[Kk]ernel ([A-Za-z_]\w{0,200})", sentence)
	if not named:
		return ""
	with open(slot, errors="replace") as file:
		text = file.read(MOST_SOURCE_BYTES)
	name = re.escape(plain_name(named[1]))
	found = re.search(rf"__global__[^;{{}}]{{0,300}}?\b({name})\s*\(", text) or re.search(
		rf"jit\b[^\n]{{0,300}}\n(?:@[^\n]{{0,300}}\n)?\s*def ({name})\(", text
	)
	return f"{slot}, line {text[: found.start(1)].count(chr(10)) + 1}: " if found else ""


def plain_name(name):
	"""The last name in a mangled one: "_ZN2my3addEPf" has "add". Source: Itanium C++ ABI, 5.1."""
	at, last = re.match(r"_Z(?:N[KVrRO]*)?L?", name), name
	rest = name[at.end() :] if at else ""
	while digits := re.match(r"L?(\d{1,3})", rest):
		end = digits.end() + int(digits[1])
		last, rest = rest[digits.end() : end], rest[end:]
		if not name.startswith("_ZN"):
			break
	return last or name


def refusal(error, slot):
	"""Returns the Refused for a call that raised this error while it was captured."""
	said = f"{error}\n{error.__cause__ or ''}"
	for words, sentence in CAUSES:
		if words in said:
			return (Copies if words == CAUSES[0][0] else Refused)(line_of(error, slot) + sentence)
	last = traceback.format_exception_only(type(error), error)[-1].strip()
	return Refused(
		f"{line_of(error, slot)}The call raised an error only while CUDA captured it: "
		f"{last.splitlines()[0]}. Call no function that waits for the GPU."
	)


# ---- waits ----


@contextlib.contextmanager
def without_waits(torch):
	"""Lets a captured call's waits for the GPU return at once. Its work has not begun, so there is
	nothing to wait for, and the call cannot read results: copies to the host are refused. Many
	submissions wait at their end."""
	places = (torch.cuda, torch.cuda.Stream, torch.cuda.Event)
	kept = [place.synchronize for place in places]
	try:
		for place in places:
			place.synchronize = lambda *arguments, **named: None
		yield
	finally:
		for place, wait in zip(places, kept):
			place.synchronize = wait


# ---- graphs ----


def keep_graphs(torch):
	"""Lets torch keep the graphs that the submission captures, which launch_within needs."""
	original = torch.cuda.CUDAGraph.__init__
	torch.cuda.CUDAGraph.__init__ = lambda graph, keep_graph=True: original(graph, True)


def launch_within(torch, graph):
	"""Adds a graph of the submission to the graph that is being captured. CUDA refuses to launch
	one into a stream that captures."""
	driver, stream = ctypes.CDLL("libcuda.so.1"), torch.cuda.current_stream().cuda_stream
	whole, behind, node = (ctypes.c_void_p() for _ in range(3))
	state, count = ctypes.c_int(), ctypes.c_size_t()
	stream, inner = ctypes.c_void_p(stream), ctypes.c_void_p(graph.raw_cuda_graph())
	into = map(ctypes.byref, (whole, behind, count))

	def do(name, *arguments):
		status = getattr(driver, name)(*arguments)
		if status:
			raise RuntimeError(f"{name} failed with status {status}")

	do("cuStreamGetCaptureInfo_v2", stream, ctypes.byref(state), None, *into)
	do("cuGraphAddChildGraphNode", ctypes.byref(node), whole, behind, count, inner)
	one, replaces = ctypes.c_size_t(1), 1
	do("cuStreamUpdateCaptureDependencies", stream, ctypes.byref(node), one, replaces)


@contextlib.contextmanager
def with_own_graphs(torch):
	"""Lets a captured call replay graphs that the submission captured before. torch's own replay()
	refuses, because it sets the state of the random generators. launch_within() need not set it:
	settle() has refused calls that draw random numbers."""
	original = torch.cuda.CUDAGraph.replay
	try:
		torch.cuda.CUDAGraph.replay = lambda graph: launch_within(torch, graph)
		yield
	finally:
		torch.cuda.CUDAGraph.replay = original


# ---- outputs ----


class Outputs(contestant.Outputs):
	"""Describes outputs where they lie. `places`: (address, bytes) of memory that they may use."""

	def __init__(self, tensors, places):
		super().__init__(tensors)
		self.places = places

	def describe(self, value, leaves, bounds):
		for leaf in leaves:
			if type(leaf) in (bool, int, float, str):
				raise Refused(
					f"custom_kernel returned a value of type {type(leaf).__name__}. A sealed call "
					"returns only tensors on the GPU."
				)
		return super().describe(value, leaves, bounds)

	def place(self, node, value, bounds):
		if not value.is_cuda:
			raise Refused("custom_kernel returned a tensor on the CPU. Return tensors on the GPU.")
		node.flags, node.strides = 0, tuple(value.stride())
		if node.extent_bytes():
			node.offset = self.offset_of(value.data_ptr(), node.extent_bytes())

	def offset_of(self, address, count):
		for begin, size in self.places:
			if begin <= address and address + count <= begin + size:
				return address - sealed.RANGE_ADDRESS
		raise Refused(
			"custom_kernel returned memory that is neither the input's nor allocated with torch. "
			"Allocate outputs with torch.empty."
		)


# ---- the process ----


class Builder(contestant.Contestant):
	def __init__(self, slot):
		super().__init__(None, None, None)
		self.is_cuda, self.slot, self.kept = True, slot, None
		self.places, self.arena, self.input_place = {}, None, None
		import torch
		from podium_constants import Constants  # later, the submission decides what is imported

		self.torch, self.constants = torch, Constants
		self.record = sealed.Record(sealed.cupti_folders(torch))
		sealed.range_open()

	# Frames.

	def serve(self):
		take = {
			wire.PLACE: self.take_place,
			wire.LOAD: self.load,
			wire.INPUTS: self.take_inputs,
			wire.BUILD: self.build,
		}
		while True:
			kind, content, descriptors = wire.receive(SOCKET, WAIT_S, True)
			try:
				if kind not in take:
					raise NoOutput("The judge sent a frame that no builder takes.")
				take[kind](content, descriptors)
			except wire.Gone:
				raise
			except NoOutput as fault:
				say(str(fault))
			except Exception as error:
				say(accuse("The engine's builder", error))

	def take_place(self, content, descriptors):
		address, count, is_input, is_arena = sealed.PLACE.unpack(content)
		if descriptors:
			sealed.range_map(address, count, descriptors[0])
			self.places[address] = count
			self.input_place = address if is_input else self.input_place
		else:
			sealed.range_unmap(address, self.places.pop(address))
		if is_arena:
			self.arena = address
			sealed.arena_open(address, count)
		wire.send(SOCKET, wire.MAPPED)

	def load(self, content, descriptors):
		if self.arena is None:
			raise NoOutput("The judge sent no memory for what the submission allocates.")
		memory = self.torch.cuda.memory
		memory.change_current_allocator(
			memory.CUDAPluggableAllocator(sealed.LIBRARY, sealed.ALLOCATE, sealed.FREE)
		)
		keep_graphs(self.torch)
		self.take_torch()
		self.tensors.resolves = False  # a kernel after the capture would not be in the plan
		self.stream = self.make_stream()
		contestant.become([self.slot])
		with self.torch.cuda.stream(self.stream):
			self.kernel = contestant.import_kernel(self.slot)
		wire.send(SOCKET, wire.READY)

	def make_stream(self):
		"""A stream on which the default stream waits, unlike torch's own. CUDA then refuses work on
		the default stream during a capture. On torch's streams such work would be lost."""
		stream = ctypes.c_uint64()
		cudart = self.torch.cuda.cudart()
		self.torch.cuda.check_error(cudart.cudaStreamCreate(ctypes.addressof(stream)))
		return self.torch.cuda.ExternalStream(stream.value)

	def take_inputs(self, content, descriptors):
		address = sealed.INPUTS.unpack_from(content)[0]
		root = self.understand(content[sealed.INPUTS.size :])
		host = None
		if descriptors:
			host = wire.memory_import(False, os.fstat(descriptors[0]).st_size, descriptors[0])
		count = self.places[address]
		area = podium_area.Area(
			[wire.Memory(address=address, bytes=count, is_cuda=1), host],
			[count, host.bytes if host else 0],
			1,
			self.tensors,
			True,
		)
		self.input = contestant.Input(area, root, self.classes)
		wire.send(SOCKET, wire.MAPPED)

	# The plan.

	def build(self, content, descriptors):
		try:
			self.settle()
			form, plan = self.record_call()
		except tuple(STATUS) as fault:
			answer = sealed.ANSWER.pack(STATUS[type(fault)], 0, 0)
			text = str(fault).encode("utf-8", "backslashreplace")[:MOST_TEXT_BYTES]
			wire.send(SOCKET, wire.BUILT, answer + text)
			return
		descriptor = sealed.write_plan(plan, self.record.blobs())
		answer = sealed.ANSWER.pack(sealed.BUILT, len(plan), sealed.arena_used())
		wire.send(SOCKET, wire.BUILT, answer + form, [descriptor])
		os.close(descriptor)

	def record_call(self):
		"""Returns the output's tree and the plan. If the call copies from the host, captures it
		again with constants on the GPU."""
		try:
			return self.record_twice(contextlib.nullcontext)
		except Copies:
			pass
		constants = self.constants()
		with constants.noting():
			self.call_once()
		return self.record_twice(constants.replacing, constants)

	def record_twice(self, context, constants=None):
		"""Records two calls, which must do the same. Returns what record_once returns for the
		second."""
		before = self.record_once(context(), constants)[1]
		self.kept = None
		form, plan = self.record_once(context(), constants)
		self.compare(before, plan)
		return form, plan

	def record_once(self, context, constants=None):
		output, graph = self.capture(context)
		form, plan = self.describe(output), self.make_plan(graph)
		self.kept = output, constants  # their memory stays allocated
		return form, plan

	def data(self):
		return self.input.prepare(0)()

	def settle(self):
		"""Calls the submission twice, so that the captured call repeats what later calls do: the
		first calls compile, tune and fill caches."""
		self.kept = None
		self.call_once()
		before = self.torch.cuda.get_rng_state()
		self.call_once()
		if not self.torch.equal(before, self.torch.cuda.get_rng_state()):
			raise Refused(RANDOM)

	def call_once(self):
		try:
			with self.torch.cuda.stream(self.stream):
				self.kernel(self.data())
				self.synchronize()
		except BaseException as error:
			self.check_arena()
			raise Raised(accuse("custom_kernel", error) + self.loss()) from None
		self.check_arena()

	def check_arena(self):
		if sealed.arena_was_full():
			raise Refused(
				f"custom_kernel needs more than {self.places[self.arena] >> 20} MiB of memory on "
				"the GPU. Allocate less."
			)

	def capture(self, context):
		"""Captures a call in this context. Returns its output, whose contents were not computed,
		and the graph."""
		torch = self.torch
		graph, output, failure = torch.cuda.CUDAGraph(keep_graph=True), None, None
		data = self.data()
		try:
			with torch.cuda.graph(graph, stream=self.stream):
				try:
					with context, without_waits(torch), with_own_graphs(torch):
						output = self.kernel(data)
				except BaseException as error:  # ending the capture raises a vaguer one
					failure = error
		except Exception as error:
			failure = failure or error
		self.check_arena()
		if isinstance(failure, Refused):
			raise type(failure)(line_of(failure, self.slot) + str(failure))
		if failure:
			raise refusal(failure, self.slot)
		self.synchronize()
		return output, graph

	def describe(self, output):
		"""The bytes of the output's tree."""
		places = [(one, self.places[one]) for one in (self.arena, self.input_place) if one]
		outputs, leaves, bounds = Outputs(self.tensors, places), [], self.input.bounds(0)
		try:
			outputs.key(output, leaves, bounds)
			return outputs.describe(output, leaves, bounds)
		except (NoOutput, Refused):
			raise
		except Exception as error:  # a submission may have changed everything used here
			raise NoOutput(accuse("custom_kernel's output could not be read: it", error)) from None

	def make_plan(self, graph):
		try:
			return self.record.plan(graph.raw_cuda_graph())
		except wire.Violation as fault:
			sentence = kernel_line(str(fault), self.slot) + str(fault)
			raise (Copies if FROM_HOST in sentence else Refused)(sentence) from None

	def compare(self, before, after):
		"""Refuses a call that differs from the call before it. Prints a doubt about a kernel of the
		submission's own."""
		try:
			doubt = self.record.compare(before, after)
		except wire.Violation as fault:
			raise Refused(kernel_line(str(fault), self.slot) + str(fault)) from None
		line = kernel_line(doubt, self.slot)
		if line:
			print(f"Note: {line}{doubt}", flush=True)


def main(arguments):
	if len(arguments) != 1:
		sys.exit("usage: python3 builder.py SUBMISSION")
	os.set_inheritable(SOCKET, False)
	try:
		builder = Builder(arguments[0])  # opens CUDA while the judge starts
		kind, content, _ = wire.receive(SOCKET, WAIT_S)
		if kind != wire.HELLO or wire.Hello.from_buffer_copy(content).version != wire.VERSION:
			sys.exit("builder.py: the judge uses another version of the protocol.")
		wire.send(SOCKET, wire.READY)
		builder.serve()
	except wire.Gone:
		return 0
	except Exception as error:
		say(accuse("The engine's builder", error))
		raise
	return 0


if __name__ == "__main__":
	contestant.leave(main(sys.argv[1:]))
