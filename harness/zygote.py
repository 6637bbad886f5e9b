"""A zygote: a Python process that has imported slow modules and forks programs of podium-run.

podium-run starts two zygotes, one for judges and one for programs with a submission. All programs
of one zygote have their code at the same addresses in memory, so a submission must not learn those
of the judge. A zygote has a socket as descriptor 3. podium-run sends one message for each program:

    {"arguments": ["eval.py", "test", "../cases.txt"], "parent": 4711, "own": 4,
     "places": [-1, 7, 8, ...], "forks": true}

"parent" is podium-run's process id. "forks" says that the sandbox has its own process namespace. A
process that joins the namespace stays outside; only its children are inside. So the process that
has joined forks the program and ends.

These descriptors come with a message, in this order:

    own           "own" descriptors, which the program gets as 0, 1, 2, ...: standard input, output
                  and error, then a result pipe and channels
    folder        the folder to start in
    environment   a pipe with NAME=VALUE, each followed by a zero byte
    about         a file that describes the sandbox
    places        the namespaces to join; "places" has their indices among all descriptors, or -1

worker/run/sandbox/enter.c, which podium-run itself uses, enters the sandbox. The zygote gets it as
a shared object on descriptor 4. Descriptor 5 is this file. The answers are {"pid": ...}, then
{"begins": true} from the program when everything is set up, or {"error": "..."}.

A program is a grandchild whose parent ends immediately. podium-run adopts orphans, so it can wait
for the program as for its own child. A fork copies the page tables of torch, which takes
milliseconds, so the zygote forks no more often than it must.

A program finds the state of a fresh interpreter, except that modules are already imported. The
zygote never uses CUDA, and never has a seed or any part of a submission.
"""

import array
import ctypes
import gc
import fcntl
import json
import os
import signal
import socket
import sys
import types

CONTROL, LIBRARY, CODE = 3, 4, 5  # the socket, worker/run/sandbox/enter.c, this file
HIGH = 512  # above all descriptors that programs expect
MOST_BYTES = 1 << 16
PR_SET_DUMPABLE, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 4, 15, 36

libc = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
	if libc.prctl(option, value, 0, 0, 0):
		raise OSError(ctypes.get_errno(), "prctl")


def find_command_line():
	"""The address and length of this process's arguments, which lists of processes show."""
	with open("/proc/self/stat") as stream:
		fields = stream.read().rpartition(")")[2].split()
	begin, end = int(fields[45]), int(fields[46])  # arg_start and arg_end of proc(5)
	return begin, end - begin


def set_title(words):
	"""Makes lists of processes show these words, as far as they fit."""
	address, length = COMMAND_LINE
	text = b"\0".join(os.fsencode(word) for word in words)[: length - 1]
	ctypes.memmove(address, text.ljust(length, b"\0"), length)
	prctl(PR_SET_NAME, os.path.basename(os.fsencode(words[1])))


def load_sandbox():
	library = ctypes.CDLL(f"/proc/self/fd/{LIBRARY}", use_errno=True)
	os.close(LIBRARY)
	library.sandbox_join.restype = library.sandbox_confine.restype = ctypes.c_char_p
	return library


def succeed(step):
	"""Raises OSError if a function of worker/run/sandbox/enter.c has failed. `step`: its result,
	the name of the failed step or None."""
	if step:
		raise OSError(f"it could not {step.decode()}: {os.strerror(ctypes.get_errno())}")


def import_slow_modules():
	for name in ("numpy", "torch", "triton"):
		try:
			__import__(name)
		except Exception:
			pass  # a program that imports the module gets the error


# ---- messages ----


def receive(control):
	"""The next message with its descriptors; (None, []) at the end."""
	try:
		data, ancillary, _, _ = control.recvmsg(MOST_BYTES, socket.CMSG_SPACE(64 * 4))
	except ConnectionResetError:  # podium-run has ended without reading everything
		return None, []
	descriptors = array.array("i")
	for level, kind, content in ancillary:
		if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
			descriptors.frombytes(content[: len(content) - len(content) % 4])
	return (json.loads(data) if data else None), list(descriptors)


def read_all(descriptor):
	with open(descriptor, "rb") as stream:
		return stream.read()


# ---- becoming a program ----


def become_orphan_of(parent):
	"""Forks twice. Returns True in the grandchild when `parent` has adopted it, False in the
	zygote."""
	child = os.fork()
	if child:
		os.waitpid(child, 0)
		return False
	between = os.getpid()
	if os.fork():
		os._exit(0)
	while os.getppid() == between:
		os.sched_yield()
	if os.getppid() != parent:  # podium-run has ended: nobody waits for the program
		os._exit(127)
	return True


def leave(message):
	"""Forks the process that enters the sandbox. Returns True in that process, False in the zygote.

	Without "forks", the process becomes the program, so podium-run must adopt it first. With
	"forks", the process only forks the program and ends, so the zygote waits for it."""
	if not message["forks"]:
		return become_orphan_of(message["parent"])
	child = os.fork()
	if child:
		os.waitpid(child, 0)
	return child == 0


def move_up(descriptor):
	"""Moves a descriptor above the numbers that the program will use."""
	moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH)
	os.close(descriptor)
	return moved


def keep_only(kept, first):
	"""Closes every descriptor from `first` on except the kept ones."""
	for name in os.listdir("/proc/self/fd"):
		number = int(name)
		if number >= first and number not in kept:
			try:
				os.close(number)
			except OSError:
				pass  # the descriptor of the list itself


def reset_signals():
	for number in range(1, signal.NSIG):
		try:
			signal.signal(number, signal.SIG_DFL)
		except (OSError, ValueError):
			pass
	signal.signal(signal.SIGINT, signal.default_int_handler)  # as at the start of an interpreter
	for number in (signal.SIGPIPE, signal.SIGXFSZ):
		signal.signal(number, signal.SIG_IGN)
	signal.pthread_sigmask(signal.SIG_SETMASK, [])


def set_environment(variables):
	"""`variables`: NAME=VALUE as bytes. os.environ also changes the C library's environment."""
	os.environ.clear()
	for variable in variables:
		name, _, value = variable.partition(b"=")
		os.environb[name] = value


def renew_state():
	"""Renews the state that a fresh interpreter takes from the system at its start, such as random
	seeds and the environment."""
	import tempfile

	tempfile.tempdir = None
	if "numpy" in sys.modules:
		sys.modules["numpy"].random.seed()
	torch, threads = sys.modules.get("torch"), os.environ.get("OMP_NUM_THREADS", "")
	# Set the number only if it differs. Setting it makes a pool of threads, and torch hangs if a
	# limit forbids these threads.
	if torch and threads.isdigit() and torch.get_num_threads() != int(threads):
		torch.set_num_threads(int(threads))


def make_main(path=None):
	"""A new and empty __main__."""
	main = types.ModuleType("__main__")
	main.__dict__.update(__builtins__=__builtins__, __annotations__={})
	if path:
		from importlib.machinery import SourceFileLoader

		main.__dict__.update(
			__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path)
		)
	sys.modules["__main__"] = main
	return main.__dict__


def show_exception(kind, error, trace):
	"""Shows an exception without the zygote's own frames."""
	while trace and trace.tb_frame.f_globals is globals():
		trace = trace.tb_next
	sys.__excepthook__(kind, error.with_traceback(trace), trace)


def code_of(path):
	"""The code of a file. Files of the engines have bytecode beside them, which saves compiling. In
	the current folder the program may have written the bytecode itself, so this compiles the file,
	as python3 does."""
	if os.path.dirname(path) != os.getcwd():
		from importlib.machinery import SourceFileLoader

		return SourceFileLoader("__main__", path).get_code("__main__")
	with open(path, "rb") as stream:
		return compile(stream.read(), path, "exec")


def run_file(arguments):
	"""Runs a file as `python3 ARGUMENTS` does. Returns when it has ended."""
	path = os.path.abspath(arguments[0])
	sys.argv = list(arguments)
	sys.path[0] = os.path.dirname(path)
	sys.excepthook = show_exception
	exec(code_of(path), make_main(path))


def run_command(code, arguments):
	"""Runs code as `python3 -c CODE ARGUMENTS` does."""
	sys.argv = ["-c", *arguments]
	sys.path[0] = ""
	sys.excepthook = show_exception
	exec(compile(code, "<string>", "exec"), make_main())


# ---- programs that spawn interpreters themselves ----


def serve_spawns(control, program):
	"""Replaces the interpreters that multiprocessing would start by forks, which need not import
	torch again. Runs in a process that is forked before the program's first line. Returns (code,
	arguments) in each fork.
	"""
	number = move_up(control.detach())
	keep_only([number], 3)
	control = socket.socket(fileno=number)
	while True:
		message, descriptors = receive(control)
		if message is None:
			os._exit(0)
		if become_orphan_of(program):
			return start_spawned(
				control, message, [move_up(descriptor) for descriptor in descriptors]
			)
		for descriptor in descriptors:
			os.close(descriptor)


def start_spawned(control, message, descriptors):
	control.send(json.dumps({"pid": os.getpid()}).encode())
	control.close()
	for descriptor, number in zip(descriptors, message["numbers"]):
		os.dup2(descriptor, number)
		os.close(descriptor)
	set_environment([os.fsencode(variable) for variable in message["environment"]])
	os.chdir(message["folder"])
	renew_state()
	return message["code"], message["arguments"]


def environment_of_c():
	"""The environment that exec would pass on. It may differ from os.environ, because os.unsetenv
	and C code change only the C library's."""
	environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
	found, index = [], 0
	while environ and environ[index] is not None:
		found.append(os.fsdecode(environ[index]))
		index += 1
	return found


def offer_spawns():
	"""Starts the process of serve_spawns() and makes multiprocessing use it. Returns (code,
	arguments) in the processes that it forks, None in the program."""
	import multiprocessing.util

	program = os.getpid()
	# Processes that serve_spawns() forks become the program's children, as multiprocessing expects.
	prctl(PR_SET_CHILD_SUBREAPER, 1)
	ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	if os.fork() == 0:
		ours.close()
		return serve_spawns(theirs, program)
	theirs.close()
	start_interpreter = multiprocessing.util.spawnv_passfds

	def spawnv_passfds(path, arguments, descriptors):
		words = [os.fsdecode(argument) for argument in arguments]
		if os.fsdecode(path) != sys.executable or "-c" not in words:
			return start_interpreter(path, arguments, descriptors)
		at, numbers = words.index("-c"), sorted(map(int, descriptors))
		message = {
			"code": words[at + 1],
			"arguments": words[at + 2 :],
			"numbers": numbers,
			"environment": environment_of_c(),
			"folder": os.getcwd(),
		}
		ours.sendmsg(
			[json.dumps(message).encode()],
			[(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", numbers))],
		)
		return json.loads(ours.recv(MOST_BYTES))["pid"]

	multiprocessing.util.spawnv_passfds = spawnv_passfds
	return None


def spawns_interpreters(arguments):
	"""Whether the program may spawn interpreters and so needs the process of serve_spawns()."""
	try:
		with open(arguments[0], "rb") as stream:
			return b"multiprocessing" in stream.read()
	except OSError:
		return False


# ---- the zygote ----


def say(answer, **members):
	"""Answers podium-run. Ends the process if podium-run has stopped listening, because podium-run
	has then started the program without the zygote."""
	try:
		os.write(answer, json.dumps(members).encode())
	except OSError:
		os._exit(127)


def refuse(answer, error):
	say(answer, error=f"{type(error).__name__}: {error}")
	os._exit(127)


def enter(answer, message, entry, places):
	"""Enters the sandbox. Returns in the process inside."""
	succeed(sandbox.sandbox_join(entry, (ctypes.c_int * len(places))(*places)))
	if not message["forks"]:
		say(answer, pid=os.getpid())
		return
	pid = os.fork()
	if pid:
		say(answer, pid=pid)
		os._exit(0)


def start(control, message, descriptors):
	"""Enters the sandbox and becomes the program. Returns the function to call."""
	set_title([sys.executable, *message["arguments"]])
	moved = [move_up(descriptor) for descriptor in descriptors]
	own, (folder, environment, about) = (
		moved[: message["own"]],
		moved[message["own"] : message["own"] + 3],
	)
	answer = move_up(control.detach())
	try:
		with open(about, "rb") as stream:
			stream.seek(0)
			entry = stream.read()
		enter(
			answer,
			message,
			entry,
			[moved[place] if place >= 0 else -1 for place in message["places"]],
		)
		reset_signals()
		for number, descriptor in enumerate(own):
			os.dup2(descriptor, number)
		keep_only([answer, environment, folder], len(own))
		succeed(sandbox.sandbox_confine(entry, folder))
		os.close(folder)
	except Exception as error:
		refuse(answer, error)
	spawned = offer_spawns() if spawns_interpreters(message["arguments"]) else None
	if spawned:
		return lambda: run_command(*spawned)
	try:  # after the fork of serve_spawns(), because that process must never have a seed
		set_environment(read_all(environment).split(b"\0")[:-1])
		renew_state()
	except Exception as error:
		refuse(answer, error)
	say(answer, begins=True)
	os.close(answer)
	return lambda: run_file(message["arguments"])


def serve():
	"""Forks the programs. Returns in each of them the function to call."""
	control = socket.socket(fileno=CONTROL)
	try:
		control.send(b'{"ready": true}')
	except BrokenPipeError:  # podium-run has ended
		os._exit(0)
	while True:
		message, descriptors = receive(control)
		if message is None:
			os._exit(0)
		if leave(message):
			return start(control, message, descriptors)
		for descriptor in descriptors:
			os.close(descriptor)


prctl(PR_SET_DUMPABLE, 0)  # a submission of the same user must not read the zygote
os.closerange(CODE, CODE + 1)
COMMAND_LINE = find_command_line()
set_title([sys.executable, *sys.argv[1:]])
prctl(PR_SET_NAME, b"podium-zygote")
sandbox = load_sandbox()
import_slow_modules()
gc.collect()
gc.freeze()  # a collection in a forked program would copy all of the zygote's pages
serve()()
