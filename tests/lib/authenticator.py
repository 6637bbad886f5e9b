"""A browser with a passkey, in software: it registers and signs in as WebAuthn says. A test can
make it send false values. Also the codes of an authenticator app (RFC 6238)."""

import base64
import hashlib
import hmac
import json
import pathlib
import secrets
import struct
import tempfile
import time

from identity_provider import encoded, openssl

UP, UV, KEY = 1, 4, 64  # flags: a touch, the user was verified, the data have a key
KINDS = {
	"ES256": ("EC", "ec_paramgen_curve:P-256"),
	"RS256": ("RSA", "rsa_keygen_bits:2048"),
	"EdDSA": ("ED25519",),
}


def decoded(text):
	return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def cbor(value):
	"""Integers, bytes and maps: what a key needs."""

	def head(kind, number):
		for code, size in ((23, 0), (24, 1), (25, 2)):
			if number < (24 if size == 0 else 256**size):
				return bytes([kind << 5 | (number if size == 0 else code)]) + (
					number.to_bytes(size, "big") if size else b""
				)
		raise ValueError(number)

	if isinstance(value, int):
		return head(0, value) if value >= 0 else head(1, -1 - value)
	if isinstance(value, bytes):
		return head(2, len(value)) + value
	return head(5, len(value)) + b"".join(cbor(key) + cbor(one) for key, one in value.items())


class Passkey:
	"""`origin` and `host` are the site's. `verifies`: whether the passkey checks a PIN or a
	finger."""

	def __init__(self, origin, host, algorithm="ES256", verifies=True):
		self.origin, self.host, self.algorithm, self.verifies = origin, host, algorithm, verifies
		self.id, self.count = secrets.token_bytes(32), 0
		folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-passkey."))
		self.file, self.given = folder / "key.pem", folder / "given"
		kind, *options = KINDS[algorithm]
		words = [word for option in options for word in ("-pkeyopt", option)]
		openssl("genpkey", "-algorithm", kind, *words, "-out", self.file)

	def public(self):
		"""The public key as a COSE map in CBOR."""
		der = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")
		if self.algorithm == "ES256":
			return cbor({1: 2, 3: -7, -1: 1, -2: der[-64:-32], -3: der[-32:]})
		if self.algorithm == "EdDSA":
			return cbor({1: 1, 3: -8, -1: 6, -2: der[-32:]})
		modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip()
		number = bytes.fromhex(modulus.split("=")[1])
		return cbor({1: 3, 3: -257, -1: number, -2: b"\x01\x00\x01"})

	def sign(self, data):
		if self.algorithm != "EdDSA":
			return openssl("dgst", "-sha256", "-sign", self.file, given=data)
		self.given.write_bytes(data)
		return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", self.given)

	def client_data(self, kind, ask, **changes):
		about = {"type": kind, "challenge": ask["challenge"], "origin": self.origin}
		return json.dumps({**about, "crossOrigin": False, **changes}).encode()

	def head(self, flags):
		host = hashlib.sha256(self.host.encode()).digest()
		return host + bytes([flags]) + struct.pack(">I", self.count)

	def register(self, ask, public=None, flags=None, **changes):
		"""The fields of the form that registers it."""
		flags = UP | KEY | (UV if self.verifies else 0) if flags is None else flags
		data = self.head(flags) + bytes(16) + struct.pack(">H", len(self.id)) + self.id
		data += self.public() if public is None else public
		return [
			("client_data", encoded(self.client_data("webauthn.create", ask, **changes))),
			("authenticator_data", encoded(data)),
		]

	def answer(self, ask, flags=None, counts=1, **changes):
		"""The fields of the form that signs in."""
		self.count += counts
		client = self.client_data("webauthn.get", ask, **changes)
		data = self.head(UP | (UV if self.verifies else 0) if flags is None else flags)
		signature = self.sign(data + hashlib.sha256(client).digest())
		return [
			("credential", encoded(self.id)),
			("client_data", encoded(client)),
			("authenticator_data", encoded(data)),
			("signature", encoded(signature)),
		]


def app_code(secret, at=None, steps=0):
	"""The code that an app with this secret (Base32) shows `steps` steps of 30 s after the time
	`at`, by default now."""
	counter = struct.pack(">Q", int(time.time() if at is None else at) // 30 + steps)
	digest = hmac.new(base64.b32decode(secret), counter, "sha1").digest()
	place = digest[19] & 15
	number = int.from_bytes(digest[place : place + 4], "big") & 0x7FFFFFFF
	return f"{number % 1_000_000:06}"
