"""A Galera cluster of three MariaDB nodes with the settings of docs/cluster.md. Each node has its
own host (network.py). workers.py and hosts.py use the cluster as their database if this module is
imported before them."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import mariadb
import network
from certificates import make_certificates

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROVIDERS = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib/libgalera_smm.so")
# The nodes must not run as root. A node gets its first data through rsync, and an rsync that root
# starts drops root's rights, which it needs to write to root's folders.
USER = "mysql"
GUIDE = ROOT / "docs" / "cluster.md"


def provider():
	return next(filter(os.path.exists, PROVIDERS), None)


def lack():
	"""The reason why this machine cannot run a cluster, or None."""
	for program, package in (("wsrep_sst_rsync", "mariadb-server"), ("rsync", "rsync")):
		if not shutil.which(program):
			return f"{program} is not installed (package {package})"
	return network.lack() or (
		None if provider() else "there is no libgalera_smm.so (package galera-4)"
	)


def settings_of_guide():
	"""The settings in the section [mariadbd] of the guide, by name."""
	block = re.search(
		r"```ini\n# /etc/mysql/mariadb\.conf\.d/60-galera\.cnf\n(.*?)```",
		GUIDE.read_text(),
		re.DOTALL,
	)[1]
	return dict(re.findall(r"^(\w+)\s*=\s*(.*?)\s*$", block, re.MULTILINE))


class Node:
	def __init__(self, number, folder, certificates):
		self.host = network.Host(f"db{number}", 10 + number)
		self.folder, self.certificates = folder / self.host.name, certificates
		self.data, self.socket = self.folder / "data", self.folder / "socket"
		for place in (self.folder, self.data, self.folder / "tmp"):
			place.mkdir()
			shutil.chown(place, USER, USER)
		self.process = None

	def command(self, nodes, is_first):
		others = [node.host.name for node in nodes[::-1] if node is not self]
		own = {
			"wsrep_node_name": self.host.name,
			"wsrep_sst_donor": ",".join(others),
			"wsrep_node_address": self.host.address,
			"bind_address": self.host.address,
			"wsrep_cluster_address": "gcomm://" + ",".join(node.host.address for node in nodes),
			"wsrep_provider": provider(),
			"ssl_ca": self.certificates / "ca.pem",
			"ssl_cert": self.certificates / "server.pem",
			"ssl_key": self.certificates / "server.key",
		}
		options = {
			**settings_of_guide(),
			**own,
			"datadir": self.data,
			"socket": self.socket,
			"user": USER,
			"tmpdir": self.folder / "tmp",
		}
		return [
			"mariadbd",
			"--no-defaults",
			*(f"--{name}={value}" for name, value in options.items()),
			*(["--wsrep-new-cluster"] if is_first else []),
		]

	def start(self, nodes, is_first=False):
		search = {
			**os.environ,
			"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
			"TMPDIR": str(self.folder / "tmp"),
		}
		with open(self.folder / "log", "ab") as log:
			self.process = self.host.start(
				self.command(nodes, is_first), stdout=log, stderr=log, env=search
			)

	def client(self, database, statements):
		return mariadb.ask(self.socket, database, statements)

	def state(self):
		"""Galera's name of the node's state, which is Synced if the node takes part in the
		cluster."""
		said = dict(
			line.split("\t")
			for line in self.client("", "SHOW STATUS LIKE 'wsrep_%'").stdout.splitlines()
			if line.count("\t") == 1
		)
		return (
			said.get("wsrep_local_state_comment", "away")
			if said.get("wsrep_ready") == "ON"
			else "not ready"
		)

	def wait(self, limit_s=90):
		end = time.time() + limit_s
		while self.state() != "Synced":
			if time.time() > end or self.process.poll() is not None:
				raise SystemExit(
					f"Bail out! {self.host.name} did not join:\n"
					+ (self.folder / "log").read_text(errors="replace")[-3000:]
				)
			time.sleep(0.1)

	def kill(self):
		self.host.kill()
		self.process.wait()


class Cluster:
	"""A cluster with the interface of MariaDB in tests/lib/mariadb.py."""

	def __init__(self):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-cluster."))
		self.folder.chmod(0o755)
		addresses = [f"10.77.0.{number}" for number in (11, 12, 13)]
		self.certificates = make_certificates(
			self.folder / "certificates", "podium-database", addresses
		)
		shutil.chown(self.certificates / "server.key", USER, USER)
		self.nodes = [Node(number, self.folder, self.certificates) for number in (1, 2, 3)]
		self.port = 3306
		self.install()
		self.environment = {
			**os.environ,
			"PODIUM_DATABASE_HOST": ", ".join(addresses),
			"PODIUM_DATABASE_USER": "podium",
			"PODIUM_DATABASE_PASSWORD": "podium",
			"PODIUM_DATABASE_TLS_CA": str(self.certificates / "ca.pem"),
		}

	def install(self):
		first = self.nodes[0]
		with open(first.folder / "log", "ab") as log:
			subprocess.run(
				[
					"mariadb-install-db",
					"--no-defaults",
					"--force",
					f"--datadir={first.data}",
					f"--user={USER}",
					"--auth-root-authentication-method=socket",
					"--skip-test-db",
					"--skip-name-resolve",
				],
				check=True,
				stdout=log,
				stderr=log,
				env={**os.environ, "TMPDIR": str(first.folder / "tmp")},
			)
		for node in self.nodes:
			node.start(self.nodes, is_first=node is first)
			node.wait()
		answer = first.client(
			"",
			"CREATE DATABASE podium; CREATE USER podium@'%' IDENTIFIED BY 'podium' REQUIRE SSL; "
			"GRANT ALL ON *.* TO podium@'%' WITH GRANT OPTION",
		)
		if answer.returncode:
			raise SystemExit("Bail out! " + answer.stderr)

	def hosts_from(self, number):
		"""A value for the setting database_host that lists node `number` first. The first node is
		0."""
		addresses = [node.host.address for node in self.nodes]
		return ",".join(addresses[number % 3 :] + addresses[: number % 3])

	def sql(self, statements, node=None):
		"""Runs the statements on the first node that accepts them. Returns rows as lists of
		strings."""
		said = []
		for one in [node] if node else self.nodes:
			answer = one.client("podium", "SET wsrep_sync_wait = 7;" + statements)
			if answer.returncode == 0:
				return [line.split("\t") for line in answer.stdout.splitlines()]
			said.append(answer.stderr)
		raise AssertionError("\n".join(said))

	def remove(self):
		for node in self.nodes:
			if node.process and node.process.poll() is None:
				node.kill()
		shutil.rmtree(self.folder, ignore_errors=True)


mariadb.use_own_server(Cluster)
