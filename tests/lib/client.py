"""A visitor of Podium without a browser: cookies, hidden fields and forms, with the standard
library only."""

import html
import html.parser
import http.client
import json
import re
import time
import urllib.parse
import uuid

from tap import equal


class Answer:
	def __init__(self, response):
		self.status = response.status
		self.headers = response.headers
		self.bytes = response.read()

	@property
	def text(self):
		return self.bytes.decode()

	@property
	def json(self):
		return json.loads(self.bytes)

	@property
	def location(self):
		return self.headers.get("Location")

	def words(self):
		"""The text that a reader sees, with white space folded."""
		reader = Page()
		reader.feed(self.text)
		return " ".join(" ".join(reader.texts).split())


class Page(html.parser.HTMLParser):
	"""Parses a page: its text, its form token, its links, and faults such as elements that do not
	nest."""

	VOID = {
		"area",
		"base",
		"br",
		"col",
		"embed",
		"hr",
		"img",
		"input",
		"link",
		"meta",
		"source",
		"track",
		"wbr",
	}
	SEAMLESS = {
		"deadline",
		"nowrap",
	}  # an element of these classes may start or end in the middle of a word

	def __init__(self):
		super().__init__()
		self.texts, self.links, self.stack, self.faults, self.ids = [], [], [], [], []
		self.seamless = []  # nesting depths of the open SEAMLESS elements
		self.is_gap = True  # the next text starts a new word
		self.csrf = None

	def handle_starttag(self, tag, attrs):
		attributes = dict(attrs)
		if len(attributes) != len(attrs):
			self.faults.append(f"<{tag}> in line {self.getpos()[0]} has an attribute twice")
		if tag == "input" and attributes.get("name") == "csrf":
			self.csrf = attributes["value"]
		if tag == "a" and "href" in attributes:
			self.links.append(attributes["href"])
		if "id" in attributes:
			self.ids.append(attributes["id"])
		if attributes.get("class") in self.SEAMLESS:
			self.seamless.append(len(self.stack))
		else:
			self.is_gap = True
		if tag not in self.VOID:
			self.stack.append(tag)

	def handle_startendtag(self, tag, attrs):
		self.handle_starttag(tag, attrs)
		if tag not in self.VOID:
			self.stack.pop()

	def handle_endtag(self, tag):
		if not self.stack or self.stack[-1] != tag:
			self.faults.append(f"</{tag}> in line {self.getpos()[0]} closes {self.stack[-3:]}")
		else:
			self.stack.pop()
		if self.seamless[-1:] == [len(self.stack)]:
			self.seamless.pop()
		else:
			self.is_gap = True

	def handle_data(self, data):
		if self.is_gap:
			self.texts.append(data)
		else:
			self.texts[-1] += data
		self.is_gap = False


# Page finds the same, but takes a hundred times as long.
TOKEN = re.compile(r'<input type="hidden" name="csrf" value="([^"]*)"')
LINK = re.compile(r"""<a\s(?:[^>"]|"[^"]*")*?\bhref="([^"]*)\"""")


def links(text):
	"""The addresses to which the links of a page lead."""
	return [html.unescape(address) for address in LINK.findall(text)]


def whole(answer):
	"""Returns the page after checking that its elements nest and no id occurs twice."""
	reader = Page()
	reader.feed(answer.text)
	equal((reader.faults, reader.stack, len(reader.ids)), ([], [], len(set(reader.ids))))
	return answer


def fresh(address):
	"""The address with a new parameter, so that no cache has the answer."""
	return f"{address}{'&' if '?' in address else '?'}fresh={time.time_ns()}"


class Client:
	limit_s = 60  # seconds to wait for an answer

	def __init__(self, url, host=None):
		self.url = urllib.parse.urlsplit(url)
		self.cookies = {}
		self.host = host

	def request(self, method, path, body=None, headers=None):
		connection = http.client.HTTPConnection(
			self.url.hostname, self.url.port, timeout=self.limit_s
		)
		headers = dict(headers or {})
		if self.cookies:
			headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
		connection.request(method, path, body, headers)
		answer = Answer(connection.getresponse())
		for cookie in answer.headers.get_all("Set-Cookie") or []:
			name, _, rest = cookie.partition("=")
			value, _, attributes = rest.partition(";")
			if not value or "max-age=0" in attributes.lower():
				self.cookies.pop(name, None)
			else:
				self.cookies[name] = value
		connection.close()
		return answer

	def get(self, path, **headers):
		return self.request("GET", path, headers=headers)

	def fresh(self, path):
		"""Gets the page from podium-web and not from a cache."""
		return self.get(fresh(path))

	def register(self, name, password="a long password"):
		"""Makes an account, which also signs in."""
		equal(self.post("/register", [("name", name), ("password", password)]).status, 303)

	def csrf(self, path):
		"""The form token of the page, or None."""
		found = TOKEN.findall(self.get(path).text)
		return found[-1] if found else None

	def post(self, path, fields=(), files=(), form=None, csrf=None, headers=None):
		"""Sends a form as multipart/form-data. `form` is the page with the form, if it is not
		`path`. The form of a new leaderboard is sent as from its preview, unless the fields say
		otherwise."""
		if path == "/admin/leaderboards/new" and "confirm" not in dict(fields):
			fields = [*fields, ("confirm", "yes")]
		token = csrf if csrf is not None else self.csrf(form or path)
		boundary = uuid.uuid4().hex
		body = b""
		for name, value in ([("csrf", token)] if token else []) + list(fields):
			body += (
				f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
			)
			body += (value if isinstance(value, bytes) else str(value).encode()) + b"\r\n"
		for name, filename, content in files:
			filename = filename.replace('"', "%22")  # browsers escape it this way
			body += (
				(
					f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; '
					f'filename="{filename}"\r\n'
					"Content-Type: application/octet-stream\r\n\r\n"
				).encode()
				+ content
				+ b"\r\n"
			)
		body += f"--{boundary}--\r\n".encode()
		return self.request(
			"POST",
			path,
			body,
			{"Content-Type": f"multipart/form-data; boundary={boundary}", **(headers or {})},
		)
