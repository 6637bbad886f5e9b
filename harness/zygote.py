"""The zygote: a Python that has imported what takes seconds, and forks for each program that podium-run starts.

podium-run starts it with a socket as descriptor 3 and sends, for each program, one message:

    {"arguments": ["eval.py", "test", "../cases.txt"], "parent": 4711, "own": 4, "places": [-1, 7, 8, ...], "forks": true}

with descriptors: the program's "own" ones, which are standard input, output, error and what follows them (a result pipe,
channels to other programs), the folder to start in, a pipe that holds the environment as NAME=VALUE with a zero behind
each, a file with what is to be known about the sandbox, and the places that are joined, as "places" counts all of these.
What is done with those is sandbox_enter.c's affair, the code that podium-run uses itself, which comes as a shared object
on descriptor 4. The answers are {"pid": ...} from the process that has forked the program, {"begins": true} from the
program once everything is set up, or {"error": "..."}. The program is a grandchild whose parent ends at once, so that
podium-run, which takes orphans over, can wait for it like for one that it started itself.

A program sees what it would see in a fresh interpreter that has been told to run it, except that modules are there
already. The zygote never touches CUDA, a seed, or a byte of a submission.
"""
import array
import ctypes
import fcntl
import json
import os
import signal
import socket
import sys
import types

CONTROL, LIBRARY = 3, 4  # the socket, and sandbox_enter.c
HIGH = 512  # no descriptor that anybody counts on lies there
MOST_BYTES = 1 << 16
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36

libc = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
	if libc.prctl(option, value, 0, 0, 0):
		raise OSError(ctypes.get_errno(), "prctl")


def load_sandbox():
	library = ctypes.CDLL(f"/proc/self/fd/{LIBRARY}", use_errno=True)
	os.close(LIBRARY)
	library.sandbox_join.restype = library.sandbox_confine.restype = ctypes.c_char_p
	return library


def succeed(step):
	"""`step`: what a call of sandbox_enter.c gave."""
	if step:
		raise OSError(f"it could not {step.decode()}: {os.strerror(ctypes.get_errno())}")


def import_slow_modules():
	for name in ("numpy", "torch", "triton"):
		try:
			__import__(name)
		except Exception:
			pass  # then programs find out by themselves


# ---- messages ----


def receive(control):
	"""The next message with its descriptors; (None, []) at the end."""
	try:
		data, ancillary, _, _ = control.recvmsg(MOST_BYTES, socket.CMSG_SPACE(64 * 4))
	except ConnectionResetError:  # the other side has ended without having read everything
		return None, []
	descriptors = array.array("i")
	for level, kind, content in ancillary:
		if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
			descriptors.frombytes(content[:len(content) - len(content) % 4])
	return (json.loads(data) if data else None), list(descriptors)


def read_all(descriptor):
	with open(descriptor, "rb") as stream:
		return stream.read()


# ---- becoming a program ----


def become_orphan_of(parent):
	"""Forks twice and returns in the grandchild, once `parent` is its parent; in the zygote returns False."""
	child = os.fork()
	if child:
		os.waitpid(child, 0)
		return False
	between = os.getpid()
	if os.fork():
		os._exit(0)
	while os.getppid() == between:
		os.sched_yield()
	if os.getppid() != parent:  # it has ended meanwhile, and nobody wants the program any more
		os._exit(127)
	return True


def move_up(descriptor):
	"""The same far above the places that are about to be taken."""
	moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH)
	os.close(descriptor)
	return moved


def keep_only(kept, first):
	"""Closes every descriptor from `first` on but those that are kept."""
	for name in os.listdir("/proc/self/fd"):
		number = int(name)
		if number >= first and number not in kept:
			try:
				os.close(number)
			except OSError:
				pass  # the one that listed them


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
	"""`variables`: NAME=VALUE, bytes. The C library's environment is changed along with os.environ."""
	os.environ.clear()
	for variable in variables:
		name, _, value = variable.partition(b"=")
		os.environb[name] = value


def renew_state():
	"""What a fresh interpreter would have drawn or read anew."""
	import tempfile
	tempfile.tempdir = None
	if "numpy" in sys.modules:
		sys.modules["numpy"].random.seed()
	torch, threads = sys.modules.get("torch"), os.environ.get("OMP_NUM_THREADS", "")
	# Saying it makes a pool of threads, and torch waits for ever for those that the user may not have any more.
	if torch and threads.isdigit() and torch.get_num_threads() != int(threads):
		torch.set_num_threads(int(threads))


def make_main(path=None):
	"""A new, empty __main__."""
	main = types.ModuleType("__main__")
	main.__dict__.update(__builtins__=__builtins__, __annotations__={})
	if path:
		from importlib.machinery import SourceFileLoader
		main.__dict__.update(__file__=path, __cached__=None,
			__loader__=SourceFileLoader("__main__", path))
	sys.modules["__main__"] = main
	return main.__dict__


def show_exception(kind, error, trace):
	"""As a fresh interpreter would: without the frames of the zygote."""
	while trace and trace.tb_frame.f_globals is globals():
		trace = trace.tb_next
	sys.__excepthook__(kind, error.with_traceback(trace), trace)


def run_file(arguments):
	"""Runs as `python3 ARGUMENTS` does; does not return before it has ended."""
	path = os.path.abspath(arguments[0])
	sys.argv = list(arguments)
	sys.path[0] = os.path.dirname(path)
	sys.excepthook = show_exception
	with open(path, "rb") as stream:
		source = stream.read()
	exec(compile(source, path, "exec"), make_main(path))


def run_command(code, arguments):
	"""Runs as `python3 -c CODE ARGUMENTS` does."""
	sys.argv = ["-c", *arguments]
	sys.path[0] = ""
	sys.excepthook = show_exception
	exec(compile(code, "<string>", "exec"), make_main())


# ---- programs that spawn interpreters themselves ----


def serve_spawns(control, program):
	"""In a process beside the program, forked off before the program's first line: forks what multiprocessing
    would have started as a new interpreter. Returns (code, arguments) in each of those."""
	number = move_up(control.detach())
	keep_only([number], 3)
	control = socket.socket(fileno=number)
	while True:
		message, descriptors = receive(control)
		if message is None:
			os._exit(0)
		if become_orphan_of(program):
			return start_spawned(control, message,
				[move_up(descriptor) for descriptor in descriptors])
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
	"""What an exec would pass on: os.unsetenv and C code change it behind os.environ's back."""
	environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
	found, index = [], 0
	while environ and environ[index] is not None:
		found.append(os.fsdecode(environ[index]))
		index += 1
	return found


def offer_spawns():
	"""Starts the process above and leads multiprocessing to it. Returns (code, arguments) in the processes that it
    forks, None in the program."""
	import multiprocessing.util
	program = os.getpid()
	prctl(PR_SET_CHILD_SUBREAPER,
		1)  # what it forks becomes a child of the program, as multiprocessing expects
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
			"code": words[at + 1], "arguments": words[at + 2:], "numbers": numbers,
			"environment": environment_of_c(), "folder": os.getcwd()
		}
		ours.sendmsg([json.dumps(message).encode()],
			[(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", numbers))])
		return json.loads(ours.recv(MOST_BYTES))["pid"]

	multiprocessing.util.spawnv_passfds = spawnv_passfds
	return None


def spawns_interpreters(arguments):
	"""Whether the program may: then it is worth a process."""
	try:
		with open(arguments[0], "rb") as stream:
			return b"multiprocessing" in stream.read()
	except OSError:
		return False


# ---- the zygote ----


def say(answer, **members):
	"""Ends the process where podium-run does not listen any more: it has started the program without the zygote."""
	try:
		os.write(answer, json.dumps(members).encode())
	except OSError:
		os._exit(127)


def refuse(answer, error):
	say(answer, error=f"{type(error).__name__}: {error}")
	os._exit(127)


def enter(answer, message, entry, places):
	"""Into the sandbox; returns in the process that is in it."""
	succeed(sandbox.sandbox_join(entry, (ctypes.c_int * len(places))(*places)))
	if not message["forks"]:
		say(answer, pid=os.getpid())
		return
	pid = os.fork()
	if pid:
		say(answer, pid=pid)
		os._exit(0)


def start(control, message, descriptors):
	"""In the grandchild: becomes the program. Returns what to call."""
	moved = [move_up(descriptor) for descriptor in descriptors]
	own, (folder, environment,
		about) = moved[:message["own"]], moved[message["own"]:message["own"] + 3]
	answer = move_up(control.detach())
	try:
		with open(about, "rb") as stream:
			stream.seek(0)
			entry = stream.read()
		enter(answer, message, entry,
			[moved[place] if place >= 0 else -1 for place in message["places"]])
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
	try:  # only now, so that what is forked off for others has never seen a seed
		set_environment(read_all(environment).split(b"\0")[:-1])
		renew_state()
	except Exception as error:
		refuse(answer, error)
	say(answer, begins=True)
	os.close(answer)
	return lambda: run_file(message["arguments"])


def serve():
	"""Returns in the programs, with what to call."""
	control = socket.socket(fileno=CONTROL)
	try:
		control.send(b'{"ready": true}')
	except BrokenPipeError:  # podium-run has ended meanwhile
		os._exit(0)
	while True:
		message, descriptors = receive(control)
		if message is None:
			os._exit(0)
		if become_orphan_of(message["parent"]):
			return start(control, message, descriptors)
		for descriptor in descriptors:
			os.close(descriptor)


prctl(PR_SET_DUMPABLE, 0)  # a submission of the same user must not reach into it
sandbox = load_sandbox()
import_slow_modules()
serve()()
