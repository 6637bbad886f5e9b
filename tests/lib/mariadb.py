"""A MariaDB of a test's own: on a Unix socket in a fresh folder, with an empty database `podium`."""
import getpass
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

DEADLOCKS = 5  # in a row, which are none any more


def ask(socket, database, statements):
	"""What the program mariadb answers; without a database where its name is empty. A single statement may meet a deadlock with the
	programs that run, and is asked again."""
	for _ in range(DEADLOCKS):
		answer = subprocess.run([
			"mariadb", "--no-defaults", "-S", socket, "-N", "-B", *([database] if database else [])
		], input=statements, capture_output=True, text=True)
		if "ERROR 1213" not in answer.stderr or ";" in statements.strip().rstrip(";"):
			break
	return answer


class MariaDB:

	def __init__(self):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-db."))
		self.socket, data, user = self.folder / "socket", self.folder / "data", getpass.getuser()
		self.log = open(self.folder / "log", "wb")
		# Each server that starts clears its folder for temporary tables, so that is nobody else's.
		search = {
			**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
			"TMPDIR": str(self.folder)
		}
		subprocess.run([
			"mariadb-install-db", "--no-defaults", "--force", f"--datadir={data}",
			"--auth-root-authentication-method=socket", f"--auth-root-socket-user={user}",
			"--skip-test-db", "--skip-name-resolve"
		], check=True, stdout=self.log, stderr=self.log, env=search)
		self.command = [
			"mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
			f"--user={user}", "--skip-networking", "--innodb-flush-log-at-trx-commit=2"
		]
		self.search = search
		self.environment = {
			**os.environ, "PODIUM_DATABASE_SOCKET": str(self.socket), "PODIUM_DATABASE_USER": user
		}
		self.start()
		self.client("", "CREATE DATABASE podium")

	def start(self):
		self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log,
			env=self.search)
		for _ in range(300):
			if self.client("", "SELECT 1").returncode == 0:
				return
			time.sleep(0.1)
		raise SystemExit("Bail out! MariaDB did not start: " +
			(self.folder / "log").read_text(errors="replace")[-3000:])

	def stop(self, number=signal.SIGTERM):
		self.process.send_signal(number)
		self.process.wait(60)

	def client(self, database, statements):
		return ask(self.socket, database, statements)

	def sql(self, statements):
		"""Rows of the statements, as lists of strings."""
		answer = self.client("podium", statements)
		if answer.returncode:
			raise AssertionError(answer.stderr)
		return [line.split("\t") for line in answer.stdout.splitlines()]

	def remove(self):
		self.stop()
		self.log.close()
		shutil.rmtree(self.folder, ignore_errors=True)
