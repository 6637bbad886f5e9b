"""Databases for tests. tests/run starts one MariaDB for all suites, and each suite gets an empty
database on it. A suite that runs alone, or that stops or configures the server, starts its own."""

import contextlib
import ctypes
import fcntl
import functools
import getpass
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time

RETRIES = 5  # attempts to run a statement that hits a deadlock
DEADLOCK = 1213  # ER_LOCK_DEADLOCK
ESCAPES = {ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t", 0: "\\0"}


def is_single(statements):
	return ";" not in statements.strip().rstrip(";")


def ask(socket, database, statements):
	"""Runs the program mariadb and returns its answer. An empty `database` means none. Retries a
	single statement that hits a deadlock with other programs."""
	for _ in range(RETRIES):
		answer = subprocess.run(
			[
				"mariadb",
				"--no-defaults",
				"-S",
				socket,
				"-N",
				"-B",
				*([database] if database else []),
			],
			input=statements,
			capture_output=True,
			text=True,
		)
		if f"ERROR {DEADLOCK}" not in answer.stderr or not is_single(statements):
			break
	return answer


# ---- connections that stay open ----

library = ctypes.CDLL("libmariadb.so.3")  # Podium's programs need this library too
for function in (library.mysql_init, library.mysql_real_connect, library.mysql_store_result):
	function.restype = ctypes.c_void_p
for function in (library.mysql_error, library.mysql_sqlstate):
	function.restype = ctypes.c_char_p
library.mysql_fetch_row.restype = ctypes.POINTER(ctypes.c_void_p)
library.mysql_fetch_lengths.restype = ctypes.POINTER(ctypes.c_ulong)
SET_CHARSET_NAME, MULTI_STATEMENTS = 7, 1 << 16  # values from mysql.h


class Connection:
	"""A connection that stays open, because starting the program mariadb for each statement takes
	ten milliseconds. Each run() gets a fresh session."""

	def __init__(self, socket, database):
		self.handle = ctypes.c_void_p(library.mysql_init(None))
		library.mysql_options(self.handle, SET_CHARSET_NAME, b"utf8mb4")
		user, place = getpass.getuser().encode(), str(socket).encode()
		if not library.mysql_real_connect(
			self.handle,
			None,
			user,
			None,
			database.encode(),
			0,
			place,
			ctypes.c_ulong(MULTI_STATEMENTS),
		):
			raise self.error()

	def __del__(self):
		library.mysql_close(self.handle)

	def is_open(self):
		return library.mysql_ping(self.handle) == 0

	def error(self):
		number, state = library.mysql_errno(self.handle), library.mysql_sqlstate(self.handle)
		text = library.mysql_error(self.handle).decode(errors="replace")
		return AssertionError(f"ERROR {number} ({state.decode()}): {text}")

	def next_rows(self):
		"""Yields the rows of the current statement, if it returns rows."""
		result = ctypes.c_void_p(library.mysql_store_result(self.handle))
		if not result:
			return
		columns = range(library.mysql_num_fields(result))
		while row := library.mysql_fetch_row(result):
			sizes = library.mysql_fetch_lengths(result)
			values = [ctypes.string_at(row[i], sizes[i]) if row[i] else b"NULL" for i in columns]
			yield [value.decode().translate(ESCAPES) for value in values]
		library.mysql_free_result(result)

	def run(self, statements):
		text, found = statements.encode(), []
		try:
			failed = library.mysql_real_query(self.handle, text, ctypes.c_ulong(len(text)))
			while failed == 0:
				found += self.next_rows()
				failed = library.mysql_next_result(self.handle)
			if library.mysql_errno(self.handle):
				raise self.error()
			return found
		finally:
			library.mysql_reset_connection(
				self.handle
			)  # rolls back an open transaction, as the program mariadb does when it exits


connections = {}


@functools.cache
def columns_of_generating(sql):
	"""The columns of each table that has a generated column. MariaDB opens every table of the
	server for this question, which takes twenty times as long as all checksums."""
	found = {}
	for table, column in sql(
		"SELECT g.table_name, c.column_name FROM information_schema.columns g JOIN "
		"information_schema.columns c USING (table_schema, table_name) "
		"WHERE g.table_schema = DATABASE() AND g.is_generated = 'ALWAYS' ORDER BY 1, 2"
	):
		found.setdefault(table, []).append(f"QUOTE(`{column}`)")
	return found


def checksums(sql, tables):
	"""Returns a checksum of each table. `sql` runs a statement. CHECKSUM TABLE does not serve for a
	table with a generated column: its answer sometimes changes although no row does."""
	generated = columns_of_generating(sql)
	plain = [table for table in tables if table not in generated]
	return sql(f"CHECKSUM TABLE {', '.join(plain)}") + [
		[table, *sql(f"SELECT COUNT(*), SUM(CRC32(CONCAT({', '.join(columns)}))) FROM {table}")[0]]
		for table, columns in generated.items()
		if table in tables
	]


def rows(socket, database, statements):
	"""Returns the rows of all results as lists of strings, formatted as the program mariadb prints
	them. Retries as ask() does."""
	place = threading.get_ident(), str(socket), database
	for attempt in range(1, RETRIES + 1):
		if place not in connections or not connections[place].is_open():
			connections[place] = Connection(socket, database)
		try:
			return connections[place].run(statements)
		except AssertionError as error:
			is_deadlock = str(error).startswith(f"ERROR {DEADLOCK}")
			if not is_deadlock or not is_single(statements) or attempt == RETRIES:
				raise


# ---- databases ----

SHARED_SOCKET = "TEST_MARIADB"  # the variable with the socket of the shared server


def settings_of(socket, name):
	"""The variables with which Podium's programs find the database."""
	return {
		"PODIUM_DATABASE_SOCKET": str(socket),
		"PODIUM_DATABASE_USER": getpass.getuser(),
		"PODIUM_DATABASE_NAME": name,
	}


class Database:
	"""An empty database on a running server. Podium's programs find it with `environment`."""

	def __init__(self, socket, name):
		self.socket, self.name = socket, name
		self.environment = {**os.environ, **settings_of(socket, name)}
		rows(socket, "", f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")

	def client(self, database, statements):
		return ask(self.socket, database, statements)

	def sql(self, statements):
		return rows(self.socket, self.name, statements)

	def remove(self):
		rows(self.socket, "", f"DROP DATABASE {self.name}")


def place_in_memory():
	"""A folder in memory, if it has room. Each database has a hundred small files, which cost
	the server half of its time on a disk. None: the usual folder for temporary files."""
	place = pathlib.Path("/dev/shm")
	is_there = place.is_dir() and os.access(place, os.W_OK)
	if not is_there:
		return None
	remove_abandoned(place)
	return place if shutil.disk_usage(place).free > 4 << 30 else None


def remove_abandoned(place):
	"""Removes the folders of servers that were killed with their tests. As long as a server or its
	test runs, it holds a lock on the server's log."""
	for folder in place.glob("podium-db.*"):
		try:
			with open(folder / "log", "rb") as log:
				fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
				if time.time() > folder.stat().st_mtime + 60:  # a new one may have no lock yet
					shutil.rmtree(folder, ignore_errors=True)
		except OSError:
			pass


class MariaDB(Database):
	"""A server on a Unix socket in a fresh folder, with an empty database `podium`. It never syncs
	to disk, because no test cuts the power."""

	def __init__(self):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-db.", dir=place_in_memory()))
		socket, data, user = self.folder / "socket", self.folder / "data", getpass.getuser()
		self.log = open(self.folder / "log", "wb")
		fcntl.flock(self.log, fcntl.LOCK_EX)  # see remove_abandoned
		# A starting server deletes temporary tables in its temporary folder, so no two servers may
		# share one.
		self.search = {
			**os.environ,
			"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
			"TMPDIR": str(self.folder),
		}
		subprocess.run(
			[
				"mariadb-install-db",
				"--no-defaults",
				"--force",
				f"--datadir={data}",
				"--auth-root-authentication-method=socket",
				f"--auth-root-socket-user={user}",
				"--skip-test-db",
				"--skip-name-resolve",
				"--debug-no-sync",
			],
			check=True,
			stdout=self.log,
			stderr=self.log,
			env=self.search,
		)
		self.command = [
			"mariadbd",
			"--no-defaults",
			f"--datadir={data}",
			f"--socket={socket}",
			f"--user={user}",
			"--skip-networking",
			"--character-set-server=utf8mb4",
			"--max-allowed-packet=64M",
			"--max-connections=1000",
			"--innodb-buffer-pool-size=256M",
			"--innodb-flush-log-at-trx-commit=2",
			"--innodb-flush-method=nosync",
			"--debug-no-sync",
		]
		self.socket = socket
		self.start()
		super().__init__(socket, "podium")

	def start(self):
		self.process = subprocess.Popen(
			self.command, stdout=self.log, stderr=self.log, env=self.search
		)
		end = time.time() + 30
		while not self.answers():
			if time.time() > end or self.process.poll() is not None:
				raise SystemExit(
					"Bail out! MariaDB did not start: "
					+ (self.folder / "log").read_text(errors="replace")[-3000:]
				)
			time.sleep(0.02)

	def answers(self):
		try:
			return bool(rows(self.socket, "", "SELECT 1"))
		except AssertionError:
			return False

	def stop(self, number=signal.SIGTERM):
		self.process.send_signal(number)
		self.process.wait(60)

	def remove(self):
		self.stop()
		self.log.close()
		shutil.rmtree(self.folder, ignore_errors=True)


own_kind = None


def use_own_server(kind=MariaDB):
	"""Makes new_database() start a server of this kind, for tests that stop, lock or configure
	their server. The first call decides; later calls change nothing."""
	global own_kind
	own_kind = own_kind or kind


def new_database():
	if own_kind or SHARED_SOCKET not in os.environ:
		return (own_kind or MariaDB)()
	return Database(os.environ[SHARED_SOCKET], f"podium_{secrets.token_hex(6)}")


@contextlib.contextmanager
def shared_server():
	server = MariaDB()
	os.environ[SHARED_SOCKET] = str(server.socket)
	try:
		yield
	finally:
		del os.environ[SHARED_SOCKET]
		server.remove()
