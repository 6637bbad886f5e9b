"""A real mail server (exim) for one test, which needs no root: it takes e-mails on loopback and
stores each as a file. Its answers to a recipient depend on the local part of the address:

	gone      550                 policy          550 with 5.7.1: refuses the sender
	later     451 until allow()   any other name  accepts the e-mail

Without `plain`, it accepts e-mails only after STARTTLS and a login as USER with PASSWORD."""

import email
import email.policy
import os
import pathlib
import shutil
import subprocess
import tempfile

from certificates import make_certificates
from instance import free_port
from tap import until

EXIM = "/usr/sbin/exim4"
USER, PASSWORD = "podium", "the mail server's pässword"

CONFIGURATION = """
primary_hostname = mail.example
spool_directory = FOLDER/spool
log_file_path = FOLDER/log/%slog
pid_file_path = FOLDER/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = PLAIN_PORT : TLS_PORT
tls_on_connect_ports = TLS_PORT
tls_advertise_hosts = ADVERTISED
tls_certificate = FOLDER/certificates/server.pem
tls_privatekey = FOLDER/certificates/server.key
keep_environment =
host_lookup =
rfc1413_query_timeout = 0s
exim_user = OWNER
exim_group = GROUP
admin_groups = GROUP
never_users =
deliver_drop_privilege
smtp_accept_max = 20
acl_smtp_mail = sender
acl_smtp_rcpt = recipient
acl_smtp_data = content

begin acl
sender:
  LOGIN
  accept
recipient:
  defer local_parts = later
        condition = ${if exists{FOLDER/allows}{no}{yes}}
        message = 4.2.1 $local_part@$domain is busy
  deny local_parts = gone
       message = 5.1.1 <$local_part@$domain> does not live here
  deny local_parts = policy
       message = 5.7.1 The sender may not
  accept
content:
  deny condition = ${if match{$h_subject:}{refused-content}}
       message = 5.6.0 Bad content
  accept

begin routers
all:
  driver = accept
  transport = folder

begin transports
folder:
  driver = appendfile
  directory = FOLDER/mail
  maildir_format
  create_directory
  return_path_add = false
  envelope_to_add = false
  delivery_date_add = false

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${if and{{eq{$auth2}{USER}}{eq{$auth3}{PASSWORD}}}{yes}{no}}
  server_advertise_condition = ${if def:tls_in_cipher}
"""


class MailServer:
	def __init__(self, plain=False, name="localhost"):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-mail."))
		make_certificates(self.folder / "certificates", name, addresses=())
		for name in ("spool", "log", "mail"):
			(self.folder / name).mkdir()
		self.ports = free_port(), free_port()
		self.process = None
		self.owner = ("nobody", 65534) if os.geteuid() == 0 else (str(os.geteuid()), None)
		self.set_plain(plain)
		self.start()

	def set_plain(self, plain):
		"""Chooses what the server asks for; applies at the next start()."""
		login = "" if plain else "require authenticated = *\n          message = 5.7.0 Log in first"
		text = CONFIGURATION
		for word, value in {
			"FOLDER": str(self.folder),
			"PLAIN_PORT": str(self.ports[0]),
			"TLS_PORT": str(self.ports[1]),
			"ADVERTISED": "" if plain else "*",
			"OWNER": self.owner[0],
			"GROUP": str(self.owner[1] or os.getegid()),
			"LOGIN": login,
			"USER": USER,
			"PASSWORD": PASSWORD,
		}.items():
			text = text.replace(word, value)
		(self.folder / "exim.conf").write_text(text)

	def start(self):
		if os.geteuid() == 0:  # exim delivers nothing as root
			subprocess.run(["chown", "-R", self.owner[0], self.folder], check=True)
		self.process = subprocess.Popen(
			[EXIM, "-C", self.folder / "exim.conf", "-bdf"],
			user=self.owner[1],
			group=self.owner[1],
			extra_groups=self.owner[1] and [self.owner[1]],
			stdin=subprocess.DEVNULL,
			stdout=subprocess.DEVNULL,
			stderr=open(self.folder / "stderr", "ab"),
		)
		until(self.is_up, 30, explain=lambda: (self.folder / "stderr").read_text())

	def is_up(self):
		log = self.folder / "log" / "mainlog"
		return (
			log.exists()
			and f"pid={self.process.pid}" in log.read_text()
			and ("started" in log.read_text())
		)

	def stop(self):
		if self.process:
			self.process.terminate()
			self.process.wait(30)
			self.process = None

	def allow(self):
		(self.folder / "allows").touch()

	@property
	def log(self):
		return (self.folder / "log" / "mainlog").read_text(errors="replace")

	def settings(self, implicit=False, **more):
		"""Podium's settings for this server."""
		scheme, port = ("smtps", self.ports[1]) if implicit else ("smtp", self.ports[0])
		secret = self.folder.with_suffix(".password")
		secret.write_text(PASSWORD + "\n")
		secret.chmod(0o600)
		return {
			"PODIUM_MAIL_SERVER": f"{scheme}://localhost:{port}",
			"PODIUM_MAIL_SENDER": "podium@podium.example",
			"PODIUM_MAIL_USER": USER,
			"PODIUM_MAIL_PASSWORD_FILE": str(secret),
			"PODIUM_MAIL_TLS_CA": str(self.folder / "certificates" / "ca.pem"),
			**more,
		}

	def raw(self):
		"""The e-mails as bytes, oldest first."""
		files = (self.folder / "mail" / "new").glob("*")
		return [file.read_bytes() for file in sorted(files, key=lambda f: f.stat().st_mtime_ns)]

	def mails(self, to=None):
		mails = [email.message_from_bytes(raw, policy=email.policy.default) for raw in self.raw()]
		return [mail for mail in mails if to is None or to in mail["To"]]

	def wait_for(self, to, count=1):
		"""Waits for this many e-mails to an address, and returns the newest."""
		until(lambda: len(self.mails(to)) >= count, 60, explain=lambda: (to, self.log))
		return self.mails(to)[count - 1]

	def remove(self):
		self.stop()
		shutil.rmtree(self.folder, ignore_errors=True)
		self.folder.with_suffix(".password").unlink(missing_ok=True)
