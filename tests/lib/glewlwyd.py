"""Glewlwyd, an OpenID Connect provider of Debian, for one test: it needs no root, listens on
loopback, and keeps its data in a temporary folder."""

import http.cookiejar
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from identity_provider import openssl
from instance import free_port
from tap import equal, until

SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
ADMIN = {"username": "admin", "password": "password"}  # as the package's schema creates them
# Glewlwyd compares the secret as it came, so it has no character that RFC 6749 encodes.
CLIENT, SECRET, PASSWORD = "podium", "secret-of-podium", "a long password"
SCOPES = "openid profile email"

CONFIGURATION = """
port = PORT
bind_address = "127.0.0.1"
external_url = "URL"
login_url = "login.html"
api_prefix = "api"
log_mode = "file"
log_level = "INFO"
log_file = "FOLDER/log"
cookie_secure = 0
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "/usr/lib/glewlwyd/user"
client_module_path = "/usr/lib/glewlwyd/client"
user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
plugin_module_path = "/usr/lib/glewlwyd/plugin"
hash_algorithm = "SHA512"
database = { type = "sqlite3"; path = "FOLDER/data"; };
"""


def is_installed():
	return SCHEMA.exists() and shutil.which("glewlwyd") is not None


class StaysHere(urllib.request.HTTPRedirectHandler):
	def redirect_request(self, *_):
		return None


class Browser:
	"""A browser with cookies of the provider alone."""

	def __init__(self):
		cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
		self.opener = urllib.request.build_opener(cookies, StaysHere)

	def call(self, method, url, body=None):
		"""Returns the status and the address to which the answer leads."""
		request = urllib.request.Request(url, method=method)
		if body is not None:
			request.data = json.dumps(body).encode()
			request.add_header("Content-Type", "application/json")
		try:
			answer = self.opener.open(request, timeout=30)
		except urllib.error.HTTPError as error:
			answer = error
		with answer:
			return answer.status, answer.headers.get("Location")


class Glewlwyd:
	def __init__(self):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-glewlwyd."))
		port = free_port()
		self.url = f"http://127.0.0.1:{port}"
		self.issuer = f"{self.url}/api/oidc"
		with sqlite3.connect(self.folder / "data") as data:
			data.executescript(SCHEMA.read_text())
		data.close()
		text = CONFIGURATION.replace("PORT", str(port)).replace("URL", self.url)
		(self.folder / "conf").write_text(text.replace("FOLDER", str(self.folder)))
		self.process = subprocess.Popen(
			["glewlwyd", "--config-file", self.folder / "conf"], stdin=subprocess.DEVNULL
		)
		self.admin = Browser()
		until(self.is_up, 30, explain=lambda: (self.folder / "log").read_text())
		self.add("mod/plugin", module="oidc", name="oidc", display_name="", **self.plugin())
		for scope in ("profile", "email"):
			self.add("scope", name=scope, display_name=scope, description=scope, scheme={})

	def is_up(self):
		try:
			return self.admin.call("POST", f"{self.url}/api/auth/", ADMIN)[0] == 200
		except urllib.error.URLError:
			return False

	def plugin(self):
		private = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
		ways = ("code", "implicit", "password", "client", "refresh", "token", "id-token", "none")
		return {
			"enabled": True,
			"parameters": {
				"iss": self.issuer,
				"jwt-type": "rsa",
				"jwt-key-size": "256",
				"key": private.decode(),
				"cert": openssl("pkey", "-pubout", given=private).decode(),
				"access-token-duration": 3600,
				"refresh-token-duration": 3600,
				"code-duration": 600,
				**{f"auth-type-{way}-enabled": way in ("code", "id-token") for way in ways},
				"name-claim": "on-demand",
				"name-claim-scope": ["profile"],
				"email-claim": "on-demand",
				"email-claim-scope": ["email"],
				"jwks-show": True,
				"pkce-allowed": True,
				"pkce-required": True,
				"subject-type": "public",
			},
		}

	def add(self, kind, **what):
		equal((kind, self.admin.call("POST", f"{self.url}/api/{kind}/", what)[0]), (kind, 200))

	def add_client(self, back):
		"""`back`: the address to which the provider leads browsers back."""
		self.add(
			"client",
			client_id=CLIENT,
			name="Podium",
			confidential=True,
			client_secret=SECRET,
			enabled=True,
			redirect_uri=[back],
			authorization_type=["code"],
			token_endpoint_auth_method=["client_secret_basic"],
		)

	def add_person(self, username, **more):
		scopes = SCOPES.split()
		self.add("user", username=username, password=PASSWORD, enabled=True, scope=scopes, **more)

	def authorize(self, address, username):
		"""A person logs in at the provider and consents. Returns where this leads the browser."""
		browser = Browser()
		status, login = browser.call("GET", address)
		equal((status, login.split("?")[0]), (302, f"{self.url}/login.html"))
		person = {"username": username, "password": PASSWORD}
		equal(browser.call("POST", f"{self.url}/api/auth/", person)[0], 200)
		grant = f"{self.url}/api/auth/grant/{CLIENT}"
		equal(browser.call("PUT", grant, {"scope": SCOPES})[0], 200)
		status, back = browser.call("GET", f"{address}&g_continue")
		equal(status, 302)
		return back

	def remove(self):
		self.process.terminate()
		self.process.wait(30)
		shutil.rmtree(self.folder, ignore_errors=True)
