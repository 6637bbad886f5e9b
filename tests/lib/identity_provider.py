"""A strict identity provider on its own loopback address: OpenID Connect, and GitHub's OAuth with
the calls of its API that Podium uses. It refuses what a real one refuses, and it can misbehave."""

import base64
import hashlib
import http.server
import json
import pathlib
import secrets
import subprocess
import tempfile
import threading
import time
import urllib.parse

CLIENT, SECRET = "podium's client", "s3cret: of/podium"
P256_POINT_BYTES = 65


def encoded(data):
	return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*words, given=None):
	return subprocess.run(
		["openssl", *map(str, words)], input=given, check=True, capture_output=True
	).stdout


class Key:
	"""A key that signs ID tokens, with openssl."""

	def __init__(self, folder, algorithm, kid):
		self.algorithm, self.kid, self.file = algorithm, kid, folder / f"{kid}.pem"
		kind = (
			("RSA", "rsa_keygen_bits:2048")
			if algorithm == "RS256"
			else ("EC", "ec_paramgen_curve:P-256")
		)
		openssl("genpkey", "-algorithm", kind[0], "-pkeyopt", kind[1], "-out", self.file)

	def public(self):
		"""The JSON Web Key."""
		about = {"kid": self.kid, "use": "sig", "alg": self.algorithm}
		if self.algorithm == "RS256":
			modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip()
			number = bytes.fromhex(modulus.split("=")[1])
			return {"kty": "RSA", "n": encoded(number), "e": "AQAB", **about}
		point = openssl("ec", "-in", self.file, "-pubout", "-outform", "DER")[-P256_POINT_BYTES:]
		x, y = encoded(point[1:33]), encoded(point[33:])
		return {"kty": "EC", "crv": "P-256", "x": x, "y": y, **about}

	def sign(self, text):
		signature = openssl("dgst", "-sha256", "-sign", self.file, given=text)
		return signature if self.algorithm == "RS256" else raw_of_der(signature)


def raw_of_der(der):
	"""An ECDSA signature as r and s of 32 bytes each, which JWS wants."""
	parts, place = [], 2
	for _ in range(2):
		length = der[place + 1]
		parts.append(int.from_bytes(der[place + 2 : place + 2 + length], "big").to_bytes(32, "big"))
		place += 2 + length
	return b"".join(parts)


class Provider:
	"""`people` maps a subject to the claims (OpenID Connect) or to the answers of the API
	(GitHub). `change_claims` and `change_header` change ID tokens, `acts` maps a path to a function
	that answers instead, `asked` lists the requests."""

	def __init__(self, host="127.0.0.3"):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-provider."))
		self.keys = {name: Key(self.folder, name, name.lower()) for name in ("RS256", "ES256")}
		self.stranger = Key(self.folder, "RS256", "stranger")
		self.people, self.codes, self.tokens = {}, {}, {}
		self.asked, self.acts = [], {}
		self.reset()
		provider = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def do_POST(self):
				length = int(self.headers.get("Content-Length") or 0)
				self.form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
				provider.answer(self)

			do_GET = do_POST

			def log_message(self, *_):
				pass

			def send(self, status, value, **headers):
				body = value if isinstance(value, bytes) else json.dumps(value).encode()
				self.send_response(status)
				for name, text in headers.items():
					self.send_header(name, text)
				self.send_header("Content-Length", str(len(body)))
				self.end_headers()
				self.wfile.write(body)

		class Server(http.server.ThreadingHTTPServer):
			daemon_threads = True

		self.server = Server((host, 0), Handler)
		self.url = f"http://{host}:{self.server.server_address[1]}"
		threading.Thread(target=self.server.serve_forever, daemon=True).start()

	def reset(self):
		"""Undoes what a test has changed, so that the provider behaves correctly again."""
		self.acts.clear()
		self.algorithm, self.signs_with = "RS256", None
		self.change_claims = self.change_header = self.change_discovery = lambda one: None

	def stop(self):
		self.server.shutdown()
		self.server.server_close()

	# ---- the browser's part ----

	def authorize(self, address, subject, **changes):
		"""Plays the person who agrees, and returns the address to which the browser goes back. The
		query must be what the protocols demand."""
		url = urllib.parse.urlsplit(address)
		query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=True))
		is_github = url.path == "/login/oauth/authorize"
		assert f"{url.scheme}://{url.netloc}" == self.url, address
		assert is_github or url.path == "/authorize", url.path
		assert query["client_id"] == CLIENT and query["response_type"] == "code", query
		assert query["code_challenge_method"] == "S256" and len(query["state"]) >= 40, query
		assert is_github or (len(query["nonce"]) >= 40 and "openid" in query["scope"].split())
		code = secrets.token_urlsafe(16)
		self.codes[code] = {**query, "subject": subject, "ends": time.time() + 60}
		answer = {"code": code, "state": query["state"], **changes}
		answer = {name: value for name, value in answer.items() if value is not None}
		return f"{query['redirect_uri']}?{urllib.parse.urlencode(answer)}"

	# ---- answers to Podium ----

	def answer(self, handler):
		path = urllib.parse.urlsplit(handler.path).path
		self.asked.append((handler.command, path, handler.headers, handler.form))
		routes = {
			"/.well-known/openid-configuration": self.discovery,
			"/jwks": self.jwks,
			"/token": self.token,
			"/login/oauth/access_token": self.access_token,
			"/user": self.user,
			"/user/emails": self.emails,
		}
		act = self.acts.get(path) or routes.get(path)
		if path.startswith("/user/memberships/orgs/"):
			act = self.membership
		try:
			act(handler) if act else handler.send(404, {})
		except OSError:  # Podium has closed the connection
			handler.close_connection = True

	def discovery(self, handler):
		document = {
			"issuer": self.url,
			"authorization_endpoint": self.url + "/authorize",
			"token_endpoint": self.url + "/token",
			"jwks_uri": self.url + "/jwks",
		}
		self.change_discovery(document)
		handler.send(200, document)

	def jwks(self, handler):
		handler.send(200, {"keys": [key.public() for key in self.keys.values()]})

	def take_code(self, form):
		"""The code's sign-in; None if the code is wrong, used or expired, or PKCE fails."""
		kept = self.codes.pop(form.get("code"), None)
		challenge = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
		fits = (
			kept
			and kept["ends"] > time.time()
			and kept["redirect_uri"] == form.get("redirect_uri")
			and kept["code_challenge"] == challenge
		)
		return kept if fits else None

	def token(self, handler):
		basic = ":".join(map(urllib.parse.quote_plus, (CLIENT, SECRET))).replace("+", "%20")
		given = handler.headers.get("Authorization", "")
		if given != "Basic " + base64.b64encode(basic.encode()).decode():
			return handler.send(401, {"error": "invalid_client"})
		kept = self.take_code(handler.form)
		if not kept or handler.form.get("grant_type") != "authorization_code":
			return handler.send(400, {"error": "invalid_grant"})
		handler.send(
			200,
			{
				"access_token": secrets.token_urlsafe(),
				"token_type": "Bearer",
				"id_token": self.id_token(kept),
			},
		)

	def id_token(self, kept):
		now = int(time.time())
		claims = {
			"iss": self.url,
			"sub": kept["subject"],
			"aud": CLIENT,
			"exp": now + 300,
			"iat": now,
			"nonce": kept["nonce"],
			**self.people[kept["subject"]],
		}
		key = self.keys[self.algorithm]
		header = {"alg": self.algorithm, "kid": key.kid}
		self.change_claims(claims)
		self.change_header(header)
		text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims)).encode()
		signature = self.signs_with(text) if self.signs_with else encoded(key.sign(text))
		return f"{text.decode()}.{signature}"

	def access_token(self, handler):
		form = handler.form
		if (form.get("client_id"), form.get("client_secret")) != (CLIENT, SECRET):
			return handler.send(200, {"error": "incorrect_client_credentials"})
		kept = self.take_code(form)
		if not kept:
			return handler.send(200, {"error": "bad_verification_code"})
		token = secrets.token_urlsafe()
		self.tokens[token] = kept
		handler.send(200, {"access_token": token, "token_type": "bearer", "scope": kept["scope"]})

	def of_token(self, handler):
		kept = self.tokens.get(handler.headers.get("Authorization", "").removeprefix("Bearer "))
		if kept:
			return kept, self.people[kept["subject"]]
		handler.send(401, {"message": "Bad credentials"})
		return None, None

	def user(self, handler):
		kept, person = self.of_token(handler)
		if kept:
			handler.send(200, {"id": int(kept["subject"]), "login": person["login"]})

	def emails(self, handler):
		kept, person = self.of_token(handler)
		if kept:
			handler.send(200, person.get("emails", []))

	def membership(self, handler):
		kept, person = self.of_token(handler)
		if not kept:
			return
		state = person.get("organisations", {}).get(handler.path.rsplit("/", 1)[1])
		if "read:org" not in kept["scope"].split():
			handler.send(403, {"message": "You need the scope read:org"})
		elif state:
			handler.send(200, {"state": state})
		else:
			handler.send(404, {"message": "Not Found"})
