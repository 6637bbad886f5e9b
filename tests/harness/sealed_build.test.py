#!/usr/bin/python3
"""The builder of the sealed engine, without a GPU: its sentences, its outputs and its file of a
plan. tests/gpu/sealed runs it on a GPU."""

import contextlib
import io
import os
import pathlib
import socket
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import engine  # noqa: E402

ENGINE = engine.build_sealed_engine()
sys.path.insert(1, str(ENGINE))
import builder  # noqa: E402
import contestant  # noqa: E402
import podium_sealed as sealed  # noqa: E402
import podium_tensors  # noqa: E402
import podium_tree as tree  # noqa: E402
import podium_wire as wire  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

try:
	import torch
except ImportError:
	torch = None

BEGIN = sealed.RANGE_ADDRESS + (1 << 30)


def call(text, *arguments):
	"""Calls custom_kernel of a submission with this text. Returns the error that it raises."""
	path = ENGINE / "submission.py"
	path.write_text(text)
	os.chdir(ENGINE)
	kernel = contestant.import_kernel("submission.py")
	try:
		kernel(*arguments)
	except Exception as error:
		return error
	raise AssertionError("custom_kernel raised nothing")


def refusal_of(message):
	text = f"def helper(data):\n\traise RuntimeError({message!r})\ndef custom_kernel(data):\n"
	return str(builder.refusal(call(f"{text}\thelper(data)\n", None), "submission.py"))


def refuses(function, *words):
	try:
		function()
	except builder.Refused as fault:
		for word in words:
			contains(str(fault), word)
		return
	raise AssertionError("nothing was refused")


@test
def a_refusal_names_the_line_and_what_to_do():
	said = refusal_of("CUDA error: operation not permitted when stream is capturing\nCompile with")
	contains(said, "submission.py, line 2: The call waits for the GPU")
	contains(said, ".item()")
	lacks(said, "Compile with")


@test
def copies_between_host_and_gpu_are_explained():
	said = refusal_of(
		"Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor "
		"is pinned. Please use tensor.pin_memory()"
	)
	contains(said, "line 2: The call copies between the CPU and the GPU")
	contains(said, "make constants with torch.tensor()")


@test
def only_copies_are_tried_again_with_constants():
	copies = RuntimeError(
		"Cannot copy between CPU and CUDA tensors during CUDA graph capture unless"
	)
	equal(type(builder.refusal(copies, "submission.py")), builder.Copies)
	equal(type(builder.refusal(RuntimeError("unjoined work"), "submission.py")), builder.Refused)


@test
def work_on_the_default_stream_is_explained():
	said = refusal_of(
		"operation would make the legacy stream depend on a capturing blocking stream"
	)
	contains(said, "at::cuda::getCurrentCUDAStream()")


@test
def an_error_behind_another_is_explained():
	error = call(
		"def custom_kernel(data):\n\ttry:\n\t\traise RuntimeError('unjoined work')\n"
		"\texcept RuntimeError as error:\n\t\traise ValueError('wrapped') from error\n",
		None,
	)
	contains(
		str(builder.refusal(error, "submission.py")), "line 5: The call leaves work on another"
	)


@test
def an_unknown_error_is_quoted_by_its_first_line():
	said = refusal_of("the solver failed\nmore lines")
	contains(said, "submission.py, line 2: ")
	contains(said, "RuntimeError: the solver failed. ")
	lacks(said, "more lines")


@test
def an_error_after_the_call_has_no_line():
	said = str(builder.refusal(RuntimeError("previous error during capture"), "submission.py"))
	equal(said.startswith("CUDA refused a step"), True)


@test
def a_refusal_names_the_line_of_the_kernel():
	text = (
		'SOURCE = """\nnamespace my {\n__global__ void __launch_bounds__(256)\nadd(float *to)'
		' {}\n}\n__global__ void scale_2(int n) {}\n"""\n'
		"@triton.jit\ndef softmax(x):\n\tpass\n@triton.jit\n@other\ndef sort(x):\n\tpass\n"
	)
	(ENGINE / "submission.py").write_text(text)
	os.chdir(ENGINE)
	for kernel, line in (
		("_ZN2my3addEPf", 4),
		("_ZN12_GLOBAL__N_13addEPf", 4),
		("_Z7scale_2i", 6),
		("_ZL7scale_2i", 6),
		("scale_2", 6),
		("softmax", 9),
		("sort", 13),
	):
		said = builder.kernel_line(f"The kernel {kernel} calls vprintf.", "submission.py")
		equal((kernel, said), (kernel, f"submission.py, line {line}: "))
	for kernel in ("_Z5scalei", "_ZN3", "_Z999999a", "my", "x" * 100000, "_Z1" * 30000, "(", ""):
		equal(builder.kernel_line(f"Kernel {kernel} is", "submission.py"), "")
	equal(builder.kernel_line("It waits.", "submission.py"), "")


class Captured(builder.Builder):
	"""A builder whose graph is empty, and which has no GPU."""

	def __init__(self, kernel, record=None):
		self.kernel, self.record, self.slot, self.stream = kernel, record, "submission.py", None
		waits, graph = types.SimpleNamespace(synchronize=None), lambda keep_graph: None
		graph.replay = None
		within = {"graph": lambda graph, stream: contextlib.nullcontext(), "CUDAGraph": graph}
		cuda = types.SimpleNamespace(synchronize=None, Stream=waits, Event=waits, **within)
		self.torch = types.SimpleNamespace(cuda=cuda)

	def data(self):
		return None

	def check_arena(self):
		pass


@test
def each_refusal_of_a_call_has_its_line():
	module = types.ModuleType("submission")
	text = "def custom_kernel(data):\n\tdata = data\n\trefuse()\n__global__ void add(\n"
	(ENGINE / "submission.py").write_text(text)
	os.chdir(ENGINE)

	def refuse():
		raise builder.Refused("It varies.")

	module.refuse = refuse
	exec(compile(text.split("__global__")[0], "submission.py", "exec"), module.__dict__)
	made = Captured(module.custom_kernel)
	within = contextlib.nullcontext()
	refuses(lambda: made.capture(within), "submission.py, line 3: It varies.")

	def plan(graph):
		raise wire.Violation("The kernel _Z3addPf calls malloc.")

	made.record = types.SimpleNamespace(plan=plan)
	graph = types.SimpleNamespace(raw_cuda_graph=lambda: None)
	refuses(lambda: made.make_plan(graph), "submission.py, line 4: The kernel _Z3addPf calls")


# A launch of the kernel add with the number @ and the structure #, both of 4 bytes.
LAUNCH = (
	'{"edges":[],"format":"podium plan 1","images":[{"bytes":1,"sha256":"' + 64 * "0" + '"}],'
	'"nodes":[{"block":[1,1,1],"grid":[1,1,1],"image":0,"kind":"kernel","name":"_Z3addi1S",'
	'"parameters":[[0,"0@000000"],[4,"0#000000"]],"shared_bytes":0}],"variables":[]}'
)


def record_twice(calls, constants=None):
	"""Records calls whose plans are these. Returns what record_call returns, and how many calls
	were captured with nothing kept of the call before."""
	text, alone = "__global__ void add(int n, S s) {}\n", []
	(ENGINE / "submission.py").write_text(text)
	os.chdir(ENGINE)
	made, calls = Captured(lambda data: alone.append(made.kept is None)), iter(calls)
	made.kept = None
	plan = lambda graph: next(calls).encode()  # noqa: E731
	made.record = types.SimpleNamespace(plan=plan, compare=sealed.Record.compare)
	made.describe = lambda output: b"form"
	made.capture = lambda context: (made.kernel(None), types.SimpleNamespace(raw_cuda_graph=int))
	return made.record_call(), alone


def launch(number, structure):
	return LAUNCH.replace("@", str(number)).replace("#", str(structure))


@test
def a_call_is_recorded_twice_and_the_second_recording_counts():
	equal(
		record_twice([launch(1, 1), launch(1, 2)]), ((b"form", launch(1, 2).encode()), [True, True])
	)


@test
def a_call_that_differs_from_call_to_call_is_refused_with_the_kernel_and_its_line():
	refuses(
		lambda: record_twice([launch(1, 1), launch(2, 1)]),
		"submission.py, line 1: The kernel _Z3addi1S gets 0x2 as parameter 0, and got 0x1 in the",
	)


@test
def bytes_of_structures_that_differ_are_told_and_not_refused():
	said = io.StringIO()
	with contextlib.redirect_stdout(said):
		record_twice([launch(1, 1), launch(1, 2)])
		contains(said.getvalue(), "Note: submission.py, line 1: The kernel _Z3addi1S gets a struct")
		said.truncate(0)
		record_twice([launch(1, 1), launch(1, 1)])
	equal(said.getvalue(), "")


@test
def the_sentence_about_random_numbers_is_the_one_for_generators():
	contains(builder.RANDOM, "random numbers on the GPU")


# ---- outputs ----


class Lying:
	"""A tensor of the CPU that claims to lie at an address of the GPU."""

	is_cuda = True

	def __init__(self, tensor, address):
		self.tensor, self.address = tensor, address

	def data_ptr(self):
		return self.address

	def stride(self):
		return self.tensor.stride()


def outputs():
	if not torch:
		raise Skip("needs torch")
	tensors = podium_tensors.Tensors(torch, False)
	return builder.Outputs(tensors, [(BEGIN, 4096), (BEGIN + (1 << 30), 1 << 20)])


def node_of(tensor):
	node = tree.Node(tree.TENSOR)
	node.dtype, node.sizes, node.strides = "float32", tuple(tensor.shape), tuple(tensor.stride())
	return node


def place(tensor, address):
	node = node_of(tensor)
	outputs().place(node, Lying(tensor, address), None)
	return node


@test
def an_output_stays_where_it_lies():
	whole = torch.zeros(8, 8) if torch else None
	outputs()
	node = place(whole.t()[::2], BEGIN + 64)
	equal(node.offset, (1 << 30) + 64)
	equal(node.memory, tree.IN_DEVICE)
	equal(node.strides, (2, 8))
	equal(place(torch.zeros(1024), BEGIN).offset, 1 << 30)
	equal(place(torch.zeros(3), BEGIN + (1 << 30)).offset, 2 << 30)


@test
def an_output_outside_of_the_judges_memory_is_refused():
	outputs()
	refuses(lambda: place(torch.zeros(1024), BEGIN + 4), "neither the input's nor", "torch.empty")
	refuses(lambda: place(torch.zeros(1), BEGIN - 4), "neither the input's nor")


@test
def an_output_on_the_cpu_is_refused():
	found, leaves = outputs(), []
	value = (torch.zeros(3),)
	found.key(value, leaves, [(0, 0), (0, 0)])
	refuses(lambda: found.describe(value, leaves, [(0, 0), (0, 0)]), "on the CPU")


@test
def a_number_in_the_output_is_refused():
	found, leaves = outputs(), []
	value = [None, 2.5]
	found.key(value, leaves, [(0, 0), (0, 0)])
	refuses(lambda: found.describe(value, leaves, [(0, 0), (0, 0)]), "type float", "only tensors")


# ---- constants ----
#
# The meta device stands for the GPU: it has no data, so a copy from the host that is not replaced
# would fail the counts below.


def constants():
	if not torch:
		raise Skip("needs torch")
	import podium_constants

	return podium_constants.Constants("meta")


def copy_a_few(last=3.0):
	"""Copies from the host in each way that is replaced."""
	there = torch.empty(4, device="meta")
	torch.tensor([1.0, 2.0], device="meta")
	torch.as_tensor([True], device="meta")
	torch.tensor([5, 6]).to("meta", torch.float64)
	there.copy_(torch.full((4,), last))
	there[torch.tensor([0, 2])]
	there[torch.tensor([1])] = 0.0
	torch.tensor([1.0, 2.0])
	torch.empty(2, device="meta").to("meta", torch.float64)
	return there.add(torch.tensor(2.0))


@test
def copies_from_the_host_become_copies_of_constants():
	made = constants()
	with made.noting():
		copy_a_few()
	equal([host.tolist() for host, _ in made.kept][:5], [[1, 2], [True], [5, 6], [3] * 4, [0, 2]])
	equal(len(made.kept), 6)
	equal({there.device.type for _, there in made.kept}, {"meta"})
	before = torch.tensor
	with made.replacing():
		copy_a_few()
		equal(made.used, 6)
		equal(torch.tensor is before, False)
	equal(torch.tensor is before, True)


def spy():
	"""A mode that notes the tensors which operations get behind the constants."""
	from torch.utils._python_dispatch import TorchDispatchMode

	class Spy(TorchDispatchMode):
		seen = ()

		def __torch_dispatch__(self, function, types, arguments=(), options=None):
			for one in arguments:
				self.seen += tuple(one) if isinstance(one, (list, tuple)) else (one,)
			return function(*arguments, **(options or {}))

	return Spy()


@test
def a_replaced_copy_reads_the_constant():
	for read in (
		lambda: torch.tensor([0]).to("meta", non_blocking=True),
		lambda: torch.empty(4, device="meta")[torch.tensor([0])],
		lambda: torch.empty(4, device="meta").copy_(torch.tensor([0])),
	):
		made, behind = constants(), spy()
		with made.noting():
			read()
		with behind:
			replay(made, read)
		equal([one for one in behind.seen if one is made.kept[0][1]], [made.kept[0][1]])


def replaces(call):
	with call[0].noting():
		call[1]()
	refuses(
		lambda: replay(call[0], call[2]), "other data from the host", "Keep such data on the GPU"
	)


def replay(made, call):
	with made.replacing():
		call()


@test
def copies_that_differ_from_call_to_call_are_refused():
	replaces((constants(), copy_a_few, lambda: copy_a_few(4.0)))
	for other in ("[1.0, 2.0, 3.0]", "[1, 2]", "[1.0, 2.5]", "[-0.0, 2.0]"):
		replaces(
			(
				constants(),
				lambda: torch.tensor([0.0, 2.0], device="meta"),
				lambda: torch.tensor(eval(other), device="meta"),
			)
		)


@test
def fewer_or_more_copies_are_refused():
	replaces((constants(), copy_a_few, lambda: None))
	replaces((constants(), lambda: None, copy_a_few))


# ---- waits ----


@test
def a_captured_call_does_not_wait():
	if not torch:
		raise Skip("needs torch")
	waits = torch.cuda.synchronize
	try:
		with builder.without_waits(torch):
			torch.cuda.synchronize()  # would raise without a GPU
			torch.cuda.Stream.synchronize(None)
			torch.cuda.Event.synchronize(None)
			raise KeyError
	except KeyError:
		equal(torch.cuda.synchronize, waits)


# ---- the process ----


@test
def a_plans_file_has_each_blob_at_a_multiple_of_16():
	descriptor = sealed.write_plan(b"{}", [b"abc", bytearray(16), b"z"])
	equal(os.pread(descriptor, 100, 0), b"{}" + bytes(14) + b"abc" + bytes(13) + bytes(16) + b"z")
	os.close(descriptor)


@test
def the_structs_are_those_of_launch_h():
	program = ENGINE / "sizes"
	source = (
		'#include "harness/sealed/graph.h"\n#include "harness/sealed/launch.h"\n'
		'#include "harness/sealed/range.h"\n'
		'#include "harness/isolated/native.h"\n#include <stdio.h>\nint main(void)\n'
		'{ printf("%zu %zu %zu %zu %zu %zu %d %d %d %d %d %d %d %llu", '
		"sizeof(struct sealed_place), sizeof(struct sealed_plan_frame), "
		"sizeof(struct sealed_built), sizeof(struct sealed_plan_figures), "
		"sizeof(struct sealed_kernel_figures), sizeof(struct sealed_times), SEALED_REFUSED, "
		"ISOLATED_PLACE, ISOLATED_PLAN, ISOLATED_BUILT, ISOLATED_TRACE, sealed_traced_calls, "
		"plan_blob_alignment, (unsigned long long)SEALED_RANGE_ADDRESS); }"
	)
	command = ["gcc", f"-I{ROOT}", "-x", "c", "-", "-o", str(program)]
	subprocess.run(command, input=source.encode(), check=True)
	numbers = [int(word) for word in subprocess.check_output([program]).split()]
	structs = (sealed.PLACE, sealed.PLAN_FRAME, sealed.ANSWER)
	structs += (sealed.PLAN_FIGURES, sealed.KERNEL_FIGURES, sealed.TIMES)
	equal(
		numbers,
		[one.size for one in structs]
		+ [sealed.REFUSED, wire.PLACE, wire.PLAN, wire.BUILT, wire.TRACE]
		+ [sealed.TRACED_CALLS, sealed.BLOB_ALIGNMENT, sealed.RANGE_ADDRESS],
	)


@test
def a_builder_without_a_gpu_says_so():
	os.dup2(os.open("/dev/null", os.O_RDONLY), contestant.SOCKET)  # so that no socket takes it
	ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	process = subprocess.Popen(
		[sys.executable, ENGINE / "builder.py", "submission.py"],
		pass_fds=(contestant.SOCKET,),
		preexec_fn=lambda: os.dup2(theirs.fileno(), contestant.SOCKET),
		stderr=subprocess.DEVNULL,
	)
	theirs.close()
	wire.send(ours.fileno(), wire.HELLO, bytes(wire.Hello(wire.VERSION, 1)))
	kind, content, _ = wire.receive(ours.fileno(), 60.0)
	equal(kind, wire.TEXT)
	contains(content.decode(), "The engine's builder raised")
	equal(process.wait(60) != 0, True)


run()
