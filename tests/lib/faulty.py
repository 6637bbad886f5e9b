"""A server that fails as real networks and servers do. Each of its functions handles one request,
and the last function also handles all further requests. The server records all requests."""

import http.client
import json
import socket
import ssl
import threading
import urllib.parse


class Request:
	def __init__(self, method, path, headers, body):
		self.method, self.path, self.headers, self.body = method, path, headers, body

	@property
	def json(self):
		return json.loads(self.body)


def head(status, content_type="application/json", length=None, **headers):
	lines = [f"HTTP/1.1 {status} Something", f"Content-Type: {content_type}", "Connection: close"]
	lines += [f"Content-Length: {length}"] if length is not None else []
	lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
	return ("\r\n".join(lines) + "\r\n\r\n").encode()


# ---- ways to handle a request ----


def answers(document, status=200, content_type="application/json", **headers):
	body = document if isinstance(document, bytes) else json.dumps(document).encode()
	return lambda connection, request: connection.sendall(
		head(status, content_type, len(body), **headers) + body
	)


def objects(status, detail, **more):
	"""Answers with an error document as in RFC 9457."""
	headers = more.pop("headers", {})
	return answers(
		{
			"type": "about:blank",
			"title": "No",
			"status": status,
			"detail": detail,
			"instance": "r-17",
			**more,
		},
		status,
		"application/problem+json",
		**headers,
	)


def cuts(connection, request):
	"""Breaks the connection in the middle of the answer."""
	connection.sendall(head(200, length=1000) + b'{"items": [')


def says_nothing(connection, request):
	pass


def hangs(connection, request):
	"""Waits until the client gives up."""
	connection.recv(1)


def never_ends(connection, request):
	connection.sendall(head(200) + b'{"items": "')
	while True:
		connection.sendall(b"a" * 65536)


def redirects(to, status=302):
	return lambda connection, request: connection.sendall(head(status, length=0, Location=to))


def passes_on(url, share=1.0):
	"""Forwards the request to a real server and sends the first part of its answer. `share` is the
	part's size; 1.0 is the whole answer."""

	def ask(connection, request):
		host = urllib.parse.urlsplit(url).netloc
		other = http.client.HTTPConnection(host, timeout=60)
		other.request(request.method, request.path, request.body, {**request.headers, "host": host})
		answer = other.getresponse()
		body = answer.read()
		kept = {
			name: value
			for name, value in answer.getheaders()
			if name.lower() in ("etag", "location", "retry-after")
		}
		whole = (
			head(answer.status, answer.headers.get("Content-Type", ""), len(body), **kept) + body
		)
		connection.sendall(whole[: int(share * len(whole))])
		other.close()

	return ask


def routes(**by_word):
	"""Handles a request by the function of the first word that occurs in its path, or by `other` if
	no word does. In a list, each function handles one request, and the last handles all further
	ones."""

	def choose(connection, request):
		for word, does in by_word.items():
			if word in request.path:
				return (
					does.pop(0)
					if isinstance(does, list) and len(does) > 1
					else does[0]
					if isinstance(does, list)
					else does
				)(connection, request)
		return by_word["other"](connection, request)

	return choose


class Faulty:
	def __init__(self, *does, certificate=None):
		self.does, self.requests, self.context = list(does), [], None
		if certificate:
			self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
			self.context.load_cert_chain(*certificate)
		self.listen(0)

	@property
	def url(self):
		return f"http{'s' if self.context else ''}://localhost:{self.port}"

	def listen(self, port):
		self.socket = socket.create_server(("127.0.0.1", port), reuse_port=False, backlog=64)
		self.port = self.socket.getsockname()[1]
		threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

	def close(self):
		"""Stops the server. A thread in accept() keeps a closed socket open, so shut it down
		first."""
		try:
			self.socket.shutdown(socket.SHUT_RDWR)
		except OSError:
			pass
		self.socket.close()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.close()

	def accept(self, listening):
		while True:
			try:
				connection, _ = listening.accept()
			except OSError:
				return
			threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

	def serve(self, connection):
		try:
			connection.settimeout(60)
			if self.context:
				connection = self.context.wrap_socket(connection, server_side=True)
			with connection:
				request = self.read(connection)
				if request:
					does = self.does.pop(0) if len(self.does) > 1 else self.does[0]
					self.requests.append(request)
					does(connection, request)
		except OSError:
			pass

	@staticmethod
	def read(connection):
		raw = b""
		while b"\r\n\r\n" not in raw:
			piece = connection.recv(65536)
			if not piece:
				return None
			raw += piece
		top, _, body = raw.partition(b"\r\n\r\n")
		first, *lines = top.decode("latin-1").split("\r\n")
		headers = {
			name.lower(): value.strip()
			for name, _, value in (line.partition(":") for line in lines)
		}
		while len(body) < int(headers.get("content-length", 0)):
			body += connection.recv(65536)
		method, path, _ = first.split(" ", 2)
		return Request(method, path, headers, body)
