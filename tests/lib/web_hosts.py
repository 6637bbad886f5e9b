"""Several web hosts of one site, and the front, which is the nginx that distributes requests to the
hosts. Their configurations are those in docs/web-hosts.md."""

import os
import re
import subprocess
import urllib.parse

from client import Client
from instance import ROOT, free_port
from workers import BUILD, database, scratch, until

GUIDE = (ROOT / "docs" / "web-hosts.md").read_text()
BELIEVES = re.search(r"set_real_ip_from 10\.0\.0\.1;\n\s*real_ip_header [^;]*;", GUIDE)[0]
SEARCH = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
AS_ROOT = "user root;" if os.geteuid() == 0 else ""
processes = []


def answers(url):
	try:
		return Client(url).get("/healthz").status == 200
	except OSError:
		return False


def start_nginx(folder, text, before=()):
	for name in ("run", "log", "tmp"):
		(folder / name).mkdir(parents=True, exist_ok=True)
	(folder / "nginx.conf").write_text(text)
	processes.append(
		subprocess.Popen(
			[
				*before,
				"nginx",
				"-p",
				folder,
				"-c",
				folder / "nginx.conf",
				"-e",
				folder / "log" / "nginx.log",
				"-g",
				"daemon off;",
			],
			env=SEARCH,
			stdin=subprocess.DEVNULL,
			stderr=subprocess.DEVNULL,
			start_new_session=True,
		)
	)
	return processes[-1]


class WebHost:
	"""A podium-web and its nginx, with nginx.conf filled in as docs/web-hosts.md says. `before`:
	words to put before the commands of both programs; `address`: the host's address;
	`front_address`: the front's address; `settings`: podium-web's settings."""

	def __init__(
		self, name, front, address="127.0.0.1", front_address="127.0.0.1", before=(), **settings
	):
		self.folder, self.address, self.port, self.before = (
			scratch / name,
			address,
			free_port(),
			list(before),
		)
		self.front_address, self.url = front_address, f"http://{address}:{self.port}"
		self.settings = {
			**database.environment,
			"PODIUM_FASTCGI_SOCKET": str(self.folder / "run" / "web.sock"),
			"PODIUM_PUBLIC_URL": front,
			"PODIUM_WEB_THREADS": "4",
			**settings,
		}
		self.start_nginx()
		self.start_web()

	def start_nginx(self):
		own = "" if self.address == "127.0.0.1" else f"listen {self.address}:{self.port}; "
		text = (
			(ROOT / "nginx.conf")
			.read_text()
			.replace("listen 127.0.0.1:@PORT@", f"{own}listen 127.0.0.1:{self.port}")
		)
		for word, value in (
			("@VAR@", str(self.folder)),
			("@ROOT@", str(ROOT)),
			("@STATIC@", f"{BUILD}/static/"),
			("@USER@", AS_ROOT),
		):
			text = text.replace(word, value)
		believes = BELIEVES.replace("10.0.0.1", self.front_address)
		self.nginx = start_nginx(
			self.folder, text.replace("http {", "http {\n" + believes, 1), self.before
		)

	def start_web(self):
		self.web = subprocess.Popen(
			[*self.before, BUILD / "podium-web"],
			env=self.settings,
			stdin=subprocess.DEVNULL,
			stderr=open(self.folder / "web.log", "ab"),
			start_new_session=True,
		)
		processes.append(self.web)
		until(
			lambda: answers(self.url),
			60,
			lambda: (self.folder / "web.log").read_text(errors="replace")[-3000:],
		)


def start_front(front, hosts, before=()):
	"""Starts the front at the address `front` with the configuration of docs/web-hosts.md, but
	without TLS."""
	place = urllib.parse.urlsplit(front).netloc
	block = re.search(r"```nginx\n(upstream podium_hosts.*?)```", GUIDE, re.DOTALL)[1]
	for number, host in enumerate(hosts, 1):
		block = block.replace(f"web{number}.internal:8080", f"{host.address}:{host.port}")
	block = block.replace("listen 443 ssl", f"listen {place}").replace(
		"server_name podium.example", "server_name _"
	)
	block = re.sub(r"\tssl_[^\n]*\n", "", block)
	folder = scratch / "front"
	temporary = "".join(
		f"{kind}_temp_path {folder}/tmp/{kind};\n"
		for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
	)
	start_nginx(
		folder,
		f"{AS_ROOT}\npid {folder}/run/nginx.pid;\nevents {{}}\nhttp {{\naccess_log "
		f"off;\n{temporary}{block}}}\n",
		before,
	)
	until(lambda: answers(front))


def end_web_hosts():
	for process in processes:
		if process.poll() is None:
			process.terminate()
			process.wait(30)
