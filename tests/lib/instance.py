"""A complete Podium for one test. ./run starts it in a fresh folder on a free port, with its own
database. It stops when the test ends.

	python3 tests/lib/instance.py [--pretend] [--localhost] COMMAND...

starts a Podium, then runs COMMAND with the Podium's address in PODIUM_URL. With --pretend the
Podium uses the pretended GPUs and podium-run of pretend.py. With --localhost its address is a name,
as browsers want it for passkeys.
"""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mariadb  # noqa: E402
from answers import result_of  # noqa: E402
from pretend import pretend_driver, pretend_runner  # noqa: E402
from quick import quick_python  # noqa: E402


# Tables that may change at any time: the worker and podium-hooks write to them, or requests are
# counted there.
BUSY_TABLES = set(
	"announcements_told device_vitals gpus rate_limits similar_sources similarity_progress "
	"sketch_hashes source_sketches webhook_deliveries webhook_events webhook_told workers".split()
)


def free_port():
	"""A free port below the range of outgoing connections, so that no connection takes the port
	before Podium does."""
	while True:
		with socket.socket() as probe:
			try:
				port = random.randrange(20000, 32000)
				probe.bind(("127.0.0.1", port))
				return port
			except OSError:
				continue


class Instance:
	running = {}  # by address

	def __init__(
		self,
		base=None,
		var=None,
		before=(),
		pretends=False,
		private=False,
		tree=ROOT,
		host="127.0.0.1",
		**settings,
	):
		"""`base`: the environment to start from (default: os.environ). `settings`: additional
		variables. `var`: an existing folder. `before`: words to put before the command ./run.
		`pretends`: the worker has two pretended H200 and a podium-run whose results the submissions
		choose. `private`: ./run starts MariaDB and finds Python, as for a user; otherwise the test
		provides a database (mariadb.py) and an interpreter without torch (quick.py). `tree`: the
		folder with ./run. `host`: browsers offer passkeys at "localhost", but not at an address."""
		base = os.environ if base is None else base
		self.var = pathlib.Path(var or tempfile.mkdtemp(prefix="podium-test."))
		self.before, self.tree = before, tree
		self.port = free_port()
		self.url = f"http://{host}:{self.port}"
		build = base.get("B", "build/release")
		self.database = None if private else mariadb.new_database()
		self.settings_of_database = mariadb.settings_of(
			*(self.var / "run" / "mariadb.sock", "podium")
			if private
			else (self.database.socket, self.database.name)
		)
		self.environment = {
			**base,
			"B": build,
			"PODIUM_VAR": str(self.var),
			"PODIUM_PORT": str(self.port),
			"PODIUM_PUBLIC_URL": self.url,
			"PODIUM_DEVICE_LOCKS": str(self.var),
			**self.settings_of_database,
			**({} if private else self.replacements()),
			**settings,
		}
		self.admin_program = tree / build / "podium-admin"
		Instance.running[self.url] = self
		if pretends:
			self.environment |= {
				**pretend_driver(self.var / "driver"),
				**pretend_runner(self.var / "runner", tree / build / "podium-run"),
			}
		self.start()

	def replacements(self):
		"""Settings that let ./run start faster: it need not start MariaDB or import torch."""
		self.var.chmod(0o711)  # the submissions' user must reach the interpreter
		return {
			"PODIUM_MARIADB": str(self.database.socket),
			"PODIUM_PYTHON": quick_python(self.var),
		}

	def start(self):
		self.log = open(self.var / "run.log", "ab")
		self.process = subprocess.Popen(
			[*self.before, self.tree / "run"],
			cwd=self.tree,
			env=self.environment,
			stdin=subprocess.DEVNULL,
			stdout=self.log,
			stderr=self.log,
			start_new_session=True,
		)
		end = time.time() + 120
		while "Podium is ready" not in (self.var / "run.log").read_text(errors="replace"):
			if self.process.poll() is not None or time.time() > end:
				raise SystemExit(
					"Bail out! Podium did not start:\n"
					+ (self.var / "run.log").read_text(errors="replace")
				)
			time.sleep(0.05)

	def addresses(self):
		"""Variables that tell another program the addresses of Podium and its database."""
		return {
			"PODIUM_URL": self.url,
			"PODIUM_ADMIN_PASSWORD_FILE": str(self.var / "admin-password"),
			**self.settings_of_database,
		}

	def sql(self, statements):
		return mariadb.rows(
			self.environment["PODIUM_DATABASE_SOCKET"],
			self.environment["PODIUM_DATABASE_NAME"],
			statements,
		)

	def value(self, statement):
		"""Runs the statement and returns the first column of its first row."""
		return self.sql(statement)[0][0]

	def quiet_tables(self, busy=()):
		"""The tables that only requests change. `busy`: further tables to leave out."""
		tables = self.sql("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
		return [name for name, _ in tables if name not in BUSY_TABLES.union(busy)]

	def checksums(self, busy=()):
		"""Returns the checksums of the quiet tables. They differ from earlier ones if a request has
		changed a table."""
		return mariadb.checksums(self.sql, self.quiet_tables(busy))

	def hold_jobs(self):
		"""Pauses the worker, so that no job starts before release_jobs()."""
		self.sql("REPLACE INTO pauses (worker, kind, paused_by) VALUES ('here', 'drain', 'a test')")

	def release_jobs(self):
		self.sql("DELETE FROM pauses")

	def admin(self, *words):
		"""Runs podium-admin and returns its result (answers.py)."""
		return subprocess.run(
			[self.admin_program, *map(str, words)],
			env=self.environment,
			stdin=subprocess.DEVNULL,
			capture_output=True,
			text=True,
		)

	def publish(self, board, version=""):
		"""Publishes a leaderboard, or a version of its task, without the check, as an operator."""
		self.manage("task", "publish", "--unchecked", board, *([version] if version else []))

	def manage(self, *words):
		"""Runs podium-admin, which must succeed, and returns its output."""
		return result_of(self.admin(*words))

	def stop(self):
		if self.process.poll() is None:
			self.process.send_signal(signal.SIGTERM)
			self.process.wait(60)
		self.log.close()

	def remove(self):
		self.stop()
		if self.database:
			self.database.remove()
		shutil.rmtree(self.var, ignore_errors=True)


# With these settings the pages about e-mail exist, but nothing takes what the site would send.
DUMMY_MAIL = {
	"PODIUM_MAIL_SERVER": "smtp://localhost:9",
	"PODIUM_MAIL_SENDER": "podium@podium.example",
}


def main(command):
	if not command:
		sys.exit(__doc__)
	pretends = command[0] == "--pretend"
	command = command[pretends:]
	is_named = command[0] == "--localhost"
	command = command[is_named:]
	# An empty PODIUM_PYTHON selects the machine's Python, which can import torch.
	host = "localhost" if is_named else "127.0.0.1"
	instance = Instance(pretends=pretends, host=host, PODIUM_PYTHON="", **DUMMY_MAIL)
	try:
		return subprocess.run(command, env={**os.environ, **instance.addresses()}).returncode
	finally:
		instance.remove()


if __name__ == "__main__":
	sys.exit(main(sys.argv[1:]))
