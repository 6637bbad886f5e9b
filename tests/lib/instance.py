"""A whole Podium of its own for a test: started by ./run in a fresh folder on a free port, stopped at the end.

	python3 tests/lib/instance.py [--pretend] COMMAND...     runs a command beside one, which finds it in PODIUM_URL;
	                                                         with --pretend its GPUs and podium-run are those of pretend.py
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
from pretend import pretend_driver, pretend_runner  # noqa: E402


def free_port():
	"""Below those that the system gives to connections, so that nobody takes it before it is used."""
	while True:
		with socket.socket() as probe:
			try:
				port = random.randrange(20000, 32000)
				probe.bind(("127.0.0.1", port))
				return port
			except OSError:
				continue


class Instance:

	def __init__(self, base=None, var=None, before=(), pretends=False, **settings):
		"""`base`: the environment to start from, os.environ if None; `settings`: variables beside it; `var`: a
		folder that is there already; `before`: a command that starts ./run; `pretends`: its worker has two H200 and a
		podium-run that says what submissions tell it to."""
		base = os.environ if base is None else base
		self.var = pathlib.Path(var or tempfile.mkdtemp(prefix="podium-test."))
		self.before = before
		self.port = free_port()
		self.url = f"http://127.0.0.1:{self.port}"
		build = base.get("B", "build/release")
		self.environment = {
			**base, "B": build, "PODIUM_VAR": str(self.var), "PODIUM_PORT": str(self.port),
			"PODIUM_DEVICE_LOCKS": str(self.var), **settings
		}
		self.admin_program = ROOT / build / "podium-admin"
		if pretends:
			self.environment |= {
				**pretend_driver(self.var / "driver"),
				**pretend_runner(self.var / "runner", ROOT / build / "podium-run")
			}
		self.start()

	def start(self):
		self.log = open(self.var / "run.log", "ab")
		self.process = subprocess.Popen([*self.before, ROOT / "run"], cwd=ROOT,
			env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
			start_new_session=True)
		end = time.time() + 120
		while "Podium is ready" not in (self.var / "run.log").read_text(errors="replace"):
			if self.process.poll() is not None or time.time() > end:
				raise SystemExit("Bail out! Podium did not start:\n" +
					(self.var / "run.log").read_text(errors="replace"))
			time.sleep(0.1)

	def addresses(self):
		"""The variables that tell another program where it is."""
		return {
			"PODIUM_URL": self.url, "PODIUM_ADMIN_PASSWORD_FILE": str(self.var / "admin-password")
		}

	def sql(self, statements):
		"""Rows of the last statement, as lists of strings."""
		answer = mariadb.ask(self.var / "run" / "mariadb.sock", "podium", statements)
		if answer.returncode:
			raise AssertionError(answer.stderr)
		return [line.split("\t") for line in answer.stdout.splitlines()]

	def stop(self):
		if self.process.poll() is None:
			self.process.send_signal(signal.SIGTERM)
			self.process.wait(60)
		self.log.close()

	def remove(self):
		self.stop()
		shutil.rmtree(self.var, ignore_errors=True)


def main(command):
	if not command:
		sys.exit(__doc__)
	pretends = command[0] == "--pretend"
	instance = Instance(pretends=pretends)
	command = command[pretends:]
	try:
		return subprocess.run(command, env={**os.environ, **instance.addresses()}).returncode
	finally:
		instance.remove()


if __name__ == "__main__":
	sys.exit(main(sys.argv[1:]))
