"""A receiver of webhooks on its own loopback address, which can misbehave."""

import http.server
import json
import threading
import time


class Receiver:
	"""`url` is the receiver's address. `got` lists (path, headers, bytes) of each request. `acts`
	maps a path to a function that takes the handler and answers the request. In a list, each
	function answers one request, and the last also answers all further requests."""

	def __init__(self, host="127.0.0.2"):
		self.got, self.acts, self.changed = [], {}, threading.Condition()
		receiver = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def do_POST(self):
				body = self.rfile.read(int(self.headers["Content-Length"]))
				with receiver.changed:
					receiver.got.append((self.path, self.headers, body))
					act = receiver.acts.get(self.path, answer(204))
					if isinstance(act, list):
						act = act.pop(0) if len(act) > 1 else act[0]
					receiver.changed.notify_all()
				try:
					act(self)
				except OSError:  # the client has closed the connection
					self.close_connection = True

			def do_GET(self):
				self.do_POST()

			def log_message(self, *_):
				pass

		class Server(http.server.ThreadingHTTPServer):
			daemon_threads = True
			request_queue_size = 64

		self.server = Server((host, 0), Handler)
		self.url = f"http://{host}:{self.server.server_address[1]}"
		threading.Thread(target=self.server.serve_forever, daemon=True).start()

	def at(self, path):
		with self.changed:
			return [one for one in self.got if one[0] == path]

	def wait(self, path, count=1):
		"""Waits until `count` requests have come to the path, and returns them."""
		end = time.time() + 120
		with self.changed:
			while sum(one[0] == path for one in self.got) < count:
				if not self.changed.wait(max(0, end - time.time())):
					raise AssertionError((path, count, [one[0] for one in self.got]))
		return self.at(path)

	def bodies(self, path, count=1):
		return [json.loads(body) for _, _, body in self.wait(path, count)]

	def stop(self):
		self.server.shutdown()
		self.server.server_close()


def answer(status, **headers):
	def act(handler):
		handler.send_response(status)
		for name, value in headers.items():
			handler.send_header(name.replace("_", "-"), value)
		handler.send_header("Content-Length", "0")
		handler.end_headers()

	return act


def endless_body(handler):
	handler.send_response(200)
	handler.end_headers()
	while True:
		handler.wfile.write(b"<script>alert(1)</script>" * 400)


def endless_headers(handler):
	handler.send_response(200)
	while True:
		handler.wfile.write(b"X-More: " + 500 * b"x" + b"\r\n")


def after(event):
	"""Answers only after the event is set."""

	def act(handler):
		event.wait(120)
		answer(204)(handler)

	return act
