#!/usr/bin/env python3
"""podium-web under a service manager, which this test plays: socket activation, readiness, reload,
watchdog, and no lost request during a restart or reload.

There is no database, so podium-web answers every request with 503. The test checks that each answer
arrives complete."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from processes import descendants, parent_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-service."))
CLIENTS = 4
# Like systemd, this process adopts orphans of its children.
ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER

# ---- FastCGI, as nginx speaks it ----


def record(kind, content):
	return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def parameters(**values):
	return b"".join(
		struct.pack(">BB", len(name), len(value)) + name.encode() + value.encode()
		for name, value in values.items()
	)


def begin(path):
	return (
		record(1, struct.pack(">HB5x", 1, 0))
		+ record(
			4,
			parameters(
				REQUEST_METHOD="GET",
				REQUEST_URI=path,
				REMOTE_ADDR="127.0.0.1",
				HTTP_HOST="localhost",
				QUERY_STRING="",
				REQUEST_ID="test",
			),
		)
		+ record(4, b"")
	)


def connect(path):
	connection = socket.socket(socket.AF_UNIX)
	connection.settimeout(30)
	connection.connect(str(path))
	return connection


def finish(connection):
	"""Ends the request and returns the whole answer. Raises if the answer is cut."""
	connection.sendall(record(5, b""))
	data = b""
	while True:
		some = connection.recv(65536)
		if not some:
			break
		data += some
	answer, ended = b"", False
	while data:
		kind, length, padding = data[1], *struct.unpack(">HB", data[4:7])
		answer += data[8 : 8 + length] if kind == 6 else b""
		ended = ended or kind == 3
		data = data[8 + length + padding :]
	assert ended, f"the answer was cut: {answer!r}"
	return answer.decode()


def ask(path):
	with connect(path) as connection:
		connection.sendall(begin("/healthz"))
		return finish(connection)


# ---- a service manager ----


class Manager:
	"""Plays systemd for one podium-web: owns the socket that nginx connects to, and receives the
	notifications of podium-web."""

	def __init__(self, name, **settings):
		self.path, self.notify = scratch / f"{name}.sock", scratch / f"{name}.notify"
		self.log = scratch / f"{name}.log"
		self.listener = socket.socket(socket.AF_UNIX)
		self.listener.bind(str(self.path))
		self.listener.listen(512)
		self.ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		self.ear.bind(str(self.notify))
		self.config = scratch / f"{name}.conf"
		self.config.write_text("web_threads = 2\n")
		self.settings = {
			"PODIUM_CONFIG": str(self.config),
			"PODIUM_DATABASE_SOCKET": str(scratch / "nowhere"),
			**settings,
		}
		self.process, self.main = None, 0

	def start(self):
		# Like systemd, set descriptor 3 and these variables between fork and exec.
		hand_over = (
			"import os, sys; os.dup2(int(sys.argv[2]), 3); os.environ['LISTEN_PID'] = "
			"os.environ['WATCHDOG_PID'] = str(os.getpid()); "
			"os.execv(sys.argv[1], [sys.argv[1]])"
		)
		self.process = subprocess.Popen(
			[sys.executable, "-c", hand_over, BUILD / "podium-web", str(self.listener.fileno())],
			env={
				**os.environ,
				"LISTEN_FDS": "1",
				"NOTIFY_SOCKET": str(self.notify),
				**self.settings,
			},
			pass_fds=[self.listener.fileno()],
			stdin=subprocess.DEVNULL,
			stdout=subprocess.DEVNULL,
			stderr=open(self.log, "ab"),
		)
		self.main = self.process.pid
		return self

	def hear(self, word, limit_s=30):
		"""Waits for a notification with this word and returns it. Drops earlier notifications."""
		end = time.monotonic() + limit_s
		while True:
			self.ear.settimeout(max(0.01, end - time.monotonic()))
			try:
				message = self.ear.recv(4096).decode()
			except TimeoutError:
				raise AssertionError(
					f"{word} was not said within {limit_s} s; the log: {self.log.read_text()}"
				) from None
			if word in message:
				return message

	def is_silent(self, word, for_s):
		try:
			return bool(self.hear(word, for_s)) and False
		except AssertionError:
			return True

	def reload(self):
		os.kill(self.main, signal.SIGHUP)
		self.hear("RELOADING=1")
		message = self.hear("READY=1")
		for line in message.splitlines():
			if line.startswith("MAINPID="):
				self.main = int(line[len("MAINPID=") :])
		return message

	def stop(self):
		os.kill(self.main, signal.SIGTERM)
		self.hear("STOPPING=1")
		gone(self.main)
		self.process.wait(30)

	def restart(self):
		self.stop()
		self.start().hear("READY=1")


def gone(process):
	"""Waits for the end of a process that is, or has become, a child of this one."""
	end = time.monotonic() + 30
	while time.monotonic() < end:
		try:
			if os.waitpid(process, os.WNOHANG)[0]:
				return
		except ChildProcessError:
			return  # Popen has already waited for it
		time.sleep(0.01)
	raise AssertionError(f"process {process} does not end")


class Load:
	"""Clients that send one request after another. `with` stops them and raises their errors."""

	def __init__(self, path):
		self.path, self.answers, self.failures, self.stops = path, 0, [], False
		self.threads = [threading.Thread(target=self.ask_on) for _ in range(CLIENTS)]

	def ask_on(self):
		while not self.stops:
			try:
				contains(ask(self.path), "Status: 503")
				self.answers += 1
			except Exception as failure:  # noqa: BLE001
				self.failures.append(repr(failure))
				return

	def __enter__(self):
		for thread in self.threads:
			thread.start()
		return self

	def more(self, count=20):
		end = time.monotonic() + 30
		goal = self.answers + count
		while self.answers < goal and not self.failures and time.monotonic() < end:
			time.sleep(0.005)
		assert self.answers >= goal, self.failures or "no more answers"

	def __exit__(self, *_):
		self.stops = True
		for thread in self.threads:
			thread.join()
		equal(self.failures, [])


# ---- the socket ----


@test
def podium_web_answers_on_the_inherited_socket_and_reports_ready():
	manager = Manager("handed").start()
	contains(manager.hear("READY=1"), "STATUS=Serving with 2 threads")
	contains(ask(manager.path), "Status: 503")
	manager.stop()
	assert manager.path.exists(), "it has removed a name that is not its own"
	equal(manager.process.returncode, 0)


@test
def connections_during_a_restart_are_answered_by_the_next_process():
	manager = Manager("away")
	with connect(manager.path) as early:
		early.sendall(begin("/healthz"))
		manager.start().hear("READY=1")
		contains(finish(early), "Status: 503")
	manager.stop()


@test
def an_inherited_descriptor_that_does_not_listen_is_refused_with_a_sentence():
	manager = Manager("wrong")
	manager.listener.close()
	manager.listener = open(scratch / "a file", "w")
	manager.start()
	equal(manager.process.wait(30), 1)
	contains(manager.log.read_text(), "did not pass exactly one listening Unix socket")


@test
def no_request_is_lost_during_three_restarts():
	manager = Manager("restarted").start()
	manager.hear("READY=1")
	with Load(manager.path) as load:
		for _ in range(3):
			load.more()
			manager.restart()
		load.more()
	manager.stop()


@test
def on_its_own_socket_podium_web_answers_all_connections_before_it_ends():
	path, log = scratch / "own.sock", scratch / "own.log"
	process = subprocess.Popen(
		[BUILD / "podium-web"],
		env={
			**os.environ,
			"PODIUM_DATABASE_SOCKET": str(scratch / "nowhere"),
			"PODIUM_WEB_THREADS": "1",
			"PODIUM_FASTCGI_SOCKET": str(path),
		},
		stdin=subprocess.DEVNULL,
		stderr=open(log, "ab"),
	)
	# Wait for the log, because the socket's file exists a moment before a client can connect.
	until(lambda: "listens on" in log.read_text())
	with connect(path) as held, connect(path) as second, connect(path) as third:
		for connection in (held, second, third):
			connection.sendall(begin("/healthz"))
		process.send_signal(signal.SIGTERM)
		until(lambda: not path.exists())
		for connection in (held, second, third):
			contains(finish(connection), "Status: 503")
	equal(process.wait(30), 0)


# ---- reloading ----


@test
def a_reload_starts_a_successor_with_the_new_settings():
	manager = Manager("reloaded").start()
	manager.hear("READY=1")
	first = manager.main
	manager.config.write_text("web_threads = 3\n")
	contains(manager.reload(), "MAINPID=")
	assert manager.main != first
	equal(parent_of(manager.main), os.getpid())  # systemd can wait only for its own children
	equal(manager.process.wait(30), 0)
	contains(manager.log.read_text(), "with 3 threads")
	contains(ask(manager.path), "Status: 503")
	manager.stop()


@test
def no_request_is_lost_during_three_reloads():
	manager = Manager("often").start()
	manager.hear("READY=1")
	with Load(manager.path) as load:
		for _ in range(3):
			load.more()
			manager.reload()
		load.more()
	manager.stop()


@test
def the_old_process_answers_requests_in_flight_during_a_reload():
	manager = Manager("flight").start()
	manager.hear("READY=1")
	old = manager.main
	with connect(manager.path) as held:
		held.sendall(begin("/healthz"))
		time.sleep(0.1)  # a thread of the old process takes the request meanwhile
		manager.reload()
		contains(ask(manager.path), "Status: 503")
		equal(manager.process.poll(), None)
		contains(finish(held), "Status: 503")
	gone(old)
	manager.stop()


@test
def a_mistake_in_the_settings_makes_a_reload_fail_and_changes_nothing():
	manager = Manager("mistake").start()
	manager.hear("READY=1")
	first = manager.main
	manager.config.write_text("web_threads = 2\nweb_thread = 3\n")
	contains(manager.reload(), "a reload has failed")
	equal(manager.main, first)
	contains(manager.log.read_text(), "line 2: there is no setting named web_thread")
	contains(ask(manager.path), "Status: 503")
	manager.stop()


@test
def without_a_service_manager_a_reload_is_refused_and_podium_web_continues():
	manager = Manager("alone", NOTIFY_SOCKET="").start()
	until(lambda: "listens on" in manager.log.read_text())
	os.kill(manager.main, signal.SIGHUP)
	until(lambda: "nothing is reloaded" in manager.log.read_text())
	contains(ask(manager.path), "Status: 503")
	manager.process.terminate()
	equal(manager.process.wait(30), 0)


# ---- the watchdog ----


@test
def the_watchdog_is_fed_until_every_thread_is_stuck():
	manager = Manager("watched", WATCHDOG_USEC="300000").start()
	manager.hear("READY=1")
	manager.hear("WATCHDOG=1")
	with connect(manager.path) as one, connect(manager.path) as other:
		one.sendall(begin("/healthz")[:20])  # half of a request keeps a thread busy
		time.sleep(0.6)
		manager.hear("WATCHDOG=1")
		manager.hear("WATCHDOG=1")
		other.sendall(begin("/healthz")[:20])
		time.sleep(0.6)
		manager.ear.setblocking(False)
		try:
			while manager.ear.recv(4096):
				pass
		except BlockingIOError:
			pass
		assert manager.is_silent("WATCHDOG=1", 0.5), (
			"it says that it lives though nobody is answered"
		)
	manager.hear("WATCHDOG=1")
	manager.stop()


@test
def the_successor_feeds_the_watchdog_too():
	manager = Manager("heir", WATCHDOG_USEC="300000").start()
	manager.hear("READY=1")
	manager.reload()
	manager.process.wait(30)
	manager.hear("WATCHDOG=1")
	lacks(manager.log.read_text(), "error")
	manager.stop()


try:
	status = run()
finally:
	# Processes that a failed test has left would keep this suite's output open, so kill them.
	for process in descendants(os.getpid()):
		os.kill(process, signal.SIGKILL)
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
