"""A proxy in front of MariaDB that lets a chosen statement fail: by a deadlock, a full disk, a
broken connection, or a database that is gone."""

import os
import socket
import threading

from workers import database, scratch

QUERY, PREPARE, EXECUTE = 3, 0x16, 0x17  # of the protocol's commands
ERRORS = {
	"deadlock": (1213, "40001", "Deadlock found when trying to get lock"),
	"full": (1114, "HY000", "The table is full"),
}
FAULTS = (*ERRORS, "blink", "gone")


def frame(payload, sequence):
	return len(payload).to_bytes(3, "little") + bytes([sequence]) + payload


def error(fault):
	number, state, text = ERRORS[fault]
	return frame(b"\xff" + number.to_bytes(2, "little") + f"#{state}{text}".encode(), 1)


def is_write(sql):
	return sql.startswith(("INSERT", "UPDATE", "DELETE", "REPLACE"))


def may_meet(fault, sql):
	"""Whether a statement can meet the fault."""
	if fault == "full":
		return is_write(sql) or sql == "COMMIT"
	if fault == "deadlock":
		return is_write(sql) or sql == "COMMIT" or "FOR UPDATE" in sql or "SHARE MODE" in sql
	return fault == "gone" or is_write(sql) or sql in ("COMMIT", "START TRANSACTION")


class Line:
	"""A connection of a program."""

	def __init__(self, breaking, client):
		self.breaking, self.client = breaking, client
		self.server = socket.socket(socket.AF_UNIX)
		self.server.connect(str(database.socket))
		self.statements, self.prepared, self.number = {}, None, None
		self.swallows = threading.Event()  # the next answer is not for the client
		self.swallowed = threading.Event()
		threading.Thread(target=self.answer, daemon=True).start()

	def answer(self):
		"""Passes on what the server sends. Each answer begins a chunk, because the client waits for
		it before it sends more."""
		while data := read(self.server):
			if self.swallows.is_set():
				self.swallows.clear()
				self.swallowed.set()
				continue
			if self.prepared is not None and data[4] == 0:
				self.number = int.from_bytes(data[5:9], "little")
				self.statements[self.number] = self.prepared
			self.prepared = None
			try:
				self.client.sendall(data)
			except OSError:
				break
		self.close()

	def pass_on(self):
		"""Passes on what the client sends, command by command."""
		waiting = b""
		while data := read(self.client):
			waiting += data
			while len(waiting) >= 4 and len(waiting) >= 4 + int.from_bytes(waiting[:3], "little"):
				end = 4 + int.from_bytes(waiting[:3], "little")
				packet, waiting = waiting[:end], waiting[end:]
				if not self.take(packet):
					return self.close()
		self.close()

	def take(self, packet):
		"""Returns False if the connection breaks."""
		sql = self.statement(packet) if packet[3] == 0 and len(packet) > 4 else None
		fault = self.breaking.meets(self, sql) if sql else None
		if fault in ("blink", "gone"):
			return False
		try:
			if not fault:
				self.server.sendall(packet)
				return True
			if fault == "deadlock" or sql == "COMMIT":
				# As the server does by itself when it meets one.
				self.swallowed.clear()
				self.swallows.set()
				self.server.sendall(frame(bytes([QUERY]) + b"ROLLBACK", 0))
				self.swallowed.wait()
			self.client.sendall(error(fault))
		except OSError:
			return False
		return True

	def statement(self, packet):
		"""The statement that the packet asks to run, or None."""
		if packet[4] == PREPARE:
			self.prepared = packet[5:].decode(errors="replace")
		if packet[4] == QUERY:
			return packet[5:].decode(errors="replace")
		if packet[4] == EXECUTE:
			number = int.from_bytes(packet[5:9], "little")
			return self.statements.get(self.number if number == 0xFFFFFFFF else number)
		return None

	def close(self):
		for end in (self.client, self.server):
			try:
				end.shutdown(socket.SHUT_RDWR)
			except OSError:
				pass


def read(stream):
	try:
		return stream.recv(1 << 20)
	except OSError:
		return b""


class Breaking:
	def __init__(self):
		self.path = str(scratch / f"breaking-{os.urandom(4).hex()}")
		self.lock = threading.Lock()
		self.ignored, self.learns = set(), False
		self.seen, self.choose, self.met, self.is_gone = [], None, 0, False
		self.listener = socket.socket(socket.AF_UNIX)
		self.listener.bind(self.path)
		self.listener.listen(64)
		threading.Thread(target=self.accept, daemon=True).start()

	def accept(self):
		while True:
			try:
				client = self.listener.accept()[0]
				if self.is_gone:
					client.close()
				else:
					threading.Thread(target=Line(self, client).pass_on, daemon=True).start()
			except OSError:
				return

	def meets(self, line, sql):
		"""The fault that the statement meets, or None."""
		with self.lock:
			if self.learns:
				self.ignored.add(line)
			if line in self.ignored or sql.startswith("SET "):
				return None
			self.seen.append(sql)
			fault = self.choose and self.choose(sql)
			self.met += bool(fault)
			self.is_gone |= fault == "gone"
			return fault

	def watch(self, choose=None):
		"""From now on, `choose` says which fault a statement meets. It gets the statement."""
		with self.lock:
			self.seen, self.choose, self.met, self.is_gone = [], choose, 0, False

	def ignore_the_others(self, seconds):
		"""Ignores the connections on which something happens while no request runs."""
		self.learns = True
		threading.Event().wait(seconds)
		self.learns = False
