"""podium-web and nginx as processes that a test can kill and start one by one."""

import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import mariadb  # noqa: E402

mariadb.use_own_server()
from client import Client  # noqa: E402
from instance import free_port  # noqa: E402
from workers import BUILD, database, scratch, until  # noqa: E402


class Site:
	def __init__(self, **settings):
		self.settings = settings
		self.var, self.port = scratch / "site", free_port()
		self.url = f"http://127.0.0.1:{self.port}"
		for name in ("run", "log", "tmp"):
			(self.var / name).mkdir(parents=True)
		text = (ROOT / "nginx.conf").read_text()
		for word, value in (
			("@PORT@", str(self.port)),
			("@VAR@", str(self.var)),
			("@ROOT@", str(ROOT)),
			("@STATIC@", f"{BUILD}/static/"),
			("@USER@", "user root;" if os.geteuid() == 0 else ""),
		):
			text = text.replace(word, value)
		(self.var / "nginx.conf").write_text(text)
		self.log = open(self.var / "log" / "all", "ab")
		self.web = self.nginx = None
		self.start_web()
		self.start_nginx()
		self.visitor = Client(self.url)
		until(lambda: self.answers("/healthz"))

	def start_web(self):
		self.web = subprocess.Popen(
			[BUILD / "podium-web"],
			env={
				**database.environment,
				"PODIUM_FASTCGI_SOCKET": str(self.var / "run" / "web.sock"),
				"PODIUM_PUBLIC_URL": self.url,
				**self.settings,
			},
			stdin=subprocess.DEVNULL,
			stdout=self.log,
			stderr=self.log,
			start_new_session=True,
		)

	def start_nginx(self):
		path = os.environ["PATH"] + ":/usr/sbin:/sbin"
		self.nginx = subprocess.Popen(
			[
				"nginx",
				"-p",
				self.var,
				"-c",
				self.var / "nginx.conf",
				"-e",
				self.var / "log" / "nginx.log",
				"-g",
				"daemon off;",
			],
			env={**os.environ, "PATH": path},
			stdin=subprocess.DEVNULL,
			stdout=self.log,
			stderr=self.log,
			start_new_session=True,
		)

	def answers(self, path, status=200):
		try:
			return self.visitor.get(path).status == status
		except OSError:
			return False

	def kill_web(self):
		self.web.kill()
		self.web.wait()

	def kill_nginx(self):
		"""Kills nginx and its workers, as kill -9 of the whole service does."""
		os.killpg(self.nginx.pid, signal.SIGKILL)
		self.nginx.wait()

	def end(self):
		for process in (self.nginx, self.web):
			if process.poll() is None:
				process.terminate()
				process.wait(60)
		self.log.close()
