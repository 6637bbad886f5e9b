"""A MariaDB that accepts TLS connections with certificates of the test, and worker hosts that use
this MariaDB."""

import os
import pathlib
import re
import socket
import subprocess
import threading

import mariadb
from certificates import make_certificates
from instance import free_port

# Another spelling of 127.0.0.1. Podium compares host names as strings, so this looks like another
# host.
FAR = "127.1"


class NetworkedMariaDB(mariadb.MariaDB):
	"""A MariaDB that also listens on 127.0.0.1:`port` with TLS. As on most sites, the server does
	not look up the names of its clients."""

	def start(self):
		if not hasattr(self, "port"):
			self.port, self.certificates = (
				free_port(),
				make_certificates(self.folder / "certificates", FAR),
			)
			self.command = [word for word in self.command if word != "--skip-networking"]
			self.command += [
				f"--port={self.port}",
				"--bind-address=127.0.0.1",
				"--skip-name-resolve",
				*self.tls_options(),
			]
		super().start()

	def tls_options(self):
		return [
			f"--ssl-ca={self.certificates}/ca.pem",
			f"--ssl-cert={self.certificates}/server.pem",
			f"--ssl-key={self.certificates}/server.key",
		]

	def client_as(self, settings, statements, force=False):
		"""Runs statements over TLS as a worker host's own account. Returns stdout and stderr."""
		answer = subprocess.run(
			[
				"mariadb",
				"--no-defaults",
				"-N",
				"-B",
				*(["--force"] if force else []),
				"-h",
				settings["database_host"],
				"-P",
				settings["database_port"],
				"-u",
				settings["database_user"],
				f"-p{settings['database_password']}",
				f"--ssl-ca={self.certificates}/ca.pem",
				settings["database_name"],
			],
			input=statements,
			capture_output=True,
			text=True,
		)
		return answer.stdout, answer.stderr


# workers.py makes its database when it is imported, so choose the server first. If cluster.py was
# imported earlier, its server stays chosen.
mariadb.use_own_server(NetworkedMariaDB)
from workers import BUILD, Worker, admin, database, scratch  # noqa: E402


def environment(**settings):
	"""The environment of a host whose only settings are `settings`."""
	return {
		**{name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")},
		**settings,
	}


def at(host=FAR):
	return f"{host}:{database.port}"


def invite(name, place=None, ca=True):
	"""Creates an invitation for the host and returns the invitation's code."""
	said = admin(
		"worker",
		"invite",
		name,
		"--at",
		place or at(),
		*(["--ca", str(database.certificates / "ca.pem")] if ca else []),
	)
	return re.search(
		r"^podium-worker register (podium-worker-[A-Za-z0-9_-]+)$", said, re.MULTILINE
	)[1]


def register(word, path):
	return subprocess.run(
		[BUILD / "podium-worker", "register", "--config", path, "-"],
		input=word,
		capture_output=True,
		text=True,
		env=environment(),
	)


def settings_of(path):
	lines = (
		line.split(" = ", 1)
		for line in pathlib.Path(path).read_text().splitlines()
		if not line.startswith("#")
	)
	return {key: value for key, value in lines}


def make_host(name, **options):
	"""Registers a host and returns the path of its settings."""
	path = scratch / f"{name}.conf"
	answer = register(invite(name, **options), path)
	if answer.returncode:
		raise AssertionError(answer.stderr)
	return path


def start_host(name, path, **options):
	"""Starts a worker with the settings from its registration; `options` are those of
	workers.Worker."""
	whole = database.environment
	database.environment = {
		key: value for key, value in whole.items() if not key.startswith("PODIUM_DATABASE")
	}
	try:
		return Worker(name, PODIUM_CONFIG=str(path), **options)
	finally:
		database.environment = whole


class Relay:
	"""A proxy between a host and the database that can cut all connections."""

	def __init__(self, port):
		self.target, self.open, self.connections, self.lock = port, True, set(), threading.Lock()
		self.listener = socket.socket()
		self.listener.bind(("127.0.0.1", 0))
		self.listener.listen(64)
		self.port = self.listener.getsockname()[1]
		threading.Thread(target=self.accept, daemon=True).start()

	def accept(self):
		while True:
			try:
				client = self.listener.accept()[0]
			except OSError:
				return
			if not self.open:
				client.close()
				continue
			try:
				server = socket.create_connection(("127.0.0.1", self.target))
			except OSError:
				client.close()
				continue
			with self.lock:
				self.connections |= {client, server}
			for one, other in ((client, server), (server, client)):
				threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

	def carry(self, one, other):
		try:
			while data := one.recv(1 << 16):
				other.sendall(data)
		except OSError:
			pass
		for end in (one, other):
			try:
				end.shutdown(socket.SHUT_RDWR)
			except OSError:
				pass

	def cut(self):
		self.open = False
		with self.lock:
			for connection in self.connections:
				try:
					connection.shutdown(socket.SHUT_RDWR)
				except OSError:
					pass
			self.connections.clear()

	def heal(self):
		self.open = True

	def close(self):
		self.cut()
		self.listener.close()
