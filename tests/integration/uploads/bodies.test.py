#!/usr/bin/env python3
"""Request bodies whose length is wrong, that stop midway, arrive in chunks, are too large or never
end. Each gets the right status, through nginx and at podium-web's own socket, and the next request
works."""

import os
import pathlib
import re
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from processes import find  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from zips import task  # noqa: E402

site = Instance()
web = find(site.process.pid, "podium-web")
admin = Client(site.url)
web_socket = str(site.var / "run" / "web.sock")
# The largest bodies that podium-web accepts at /login and that nginx accepts.
FORM_BYTES, UPLOAD_BYTES = 64 * 1024, 10 * 1024 * 1024
BOUNDARY = "xyz"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
URLENCODED = "application/x-www-form-urlencoded"
GOOD = b"name=ada&password=a+long+password"
# podium-web answers 403 once it has read the whole body, because these bodies have no form token.
WHOLE = 403
SANITIZED = os.environ.get("B", "").endswith("sanitize")
stalled = []


def multipart(*parts):
	"""Parts are (name, file name or None, content)."""
	body = b""
	for name, file_name, content in parts:
		file = f'; filename="{file_name}"' if file_name else ""
		head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
		body += head.encode() + content + b"\r\n"
	return body + f"--{BOUNDARY}--\r\n".encode()


def chunked(body, size=1000):
	pieces = [body[at : at + size] for at in range(0, len(body), size)]
	return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


# ---- through nginx ----


def head(path, *headers, type=URLENCODED):
	lines = [
		f"POST {path} HTTP/1.1",
		f"Host: 127.0.0.1:{site.port}",
		"Connection: close",
		*([f"Content-Type: {type}"] if type else []),
		*headers,
	]
	return "\r\n".join(lines).encode() + b"\r\n\r\n"


def connect(sent):
	connection = socket.create_connection(("127.0.0.1", site.port), timeout=60)
	connection.sendall(sent)
	return connection


def read_to_end(connection):
	"""Returns what arrives until the other side closes or resets the connection."""
	received = b""
	try:
		while piece := connection.recv(65536):
			received += piece
	except (ConnectionResetError, BrokenPipeError):
		pass
	return received


def status_of(answer):
	found = re.match(rb"HTTP/1\.1 (\d+) ", answer)
	return int(found[1]) if found else None


def send(*sent, then_end=False, **rest):
	"""Sends the data and returns the whole answer. With `then_end`, closes the sending side after
	the data."""
	with connect(head(*sent[:-1], **rest) + sent[-1]) as connection:
		if then_end:
			connection.shutdown(socket.SHUT_WR)
		return read_to_end(connection)


def goes_on():
	equal(Client(site.url).get("/healthz").status, 200)
	equal(Client(site.url).get("/").status, 200)


@test
def a_whole_body_reaches_the_check_of_the_forms_token():
	equal(status_of(send("/login", f"Content-Length: {len(GOOD)}", GOOD)), WHOLE)
	body = multipart(("name", None, b"ada"))
	equal(status_of(send("/login", f"Content-Length: {len(body)}", body, type=MULTIPART)), WHOLE)


@test
def many_bodies_that_never_arrive_delay_no_one():
	for number in range(40):
		stalled.append(connect(head("/login", "Content-Length: 1000") + GOOD))
	goes_on()
	equal(status_of(send("/login", f"Content-Length: {len(GOOD)}", GOOD)), WHOLE)


@test
def a_body_that_arrives_byte_by_byte_is_read():
	with connect(head("/login", f"Content-Length: {len(GOOD)}")) as connection:
		for byte in GOOD:
			connection.sendall(bytes([byte]))
			time.sleep(0.01)
		equal(status_of(read_to_end(connection)), WHOLE)


@test
def a_body_that_stops_in_the_middle_is_a_bad_request():
	equal(
		status_of(send("/login", "Content-Length: 1000", GOOD, then_end=True)) in (400, None), True
	)
	for sent in (
		head("/login", "Content-Length: 1000"),
		head("/login", "Content-Length: 1000") + GOOD,
		head("/login", "Content-Length: 9000000") + bytes(100000),
		head("/login", "Transfer-Encoding: chunked") + b"ff\r\n" + GOOD,
	):
		connect(sent).close()
	goes_on()


@test
def a_length_that_is_too_small_cuts_the_form_and_drops_the_rest():
	body = multipart(("name", None, b"ada"), ("password", None, b"a long password"))
	answer = send("/login", f"Content-Length: {len(body) - 30}", body, type=MULTIPART)
	equal(status_of(answer), 400)
	contains(answer, b"The request did not arrive completely. Send it again.")
	equal(answer.count(b"HTTP/1.1 "), 1)


@test
def an_invalid_length_is_a_bad_request():
	for length in ("-1", "+5", "0x10", "5, 5", "five", "", " ", "1e3", "99999999999999999999999"):
		equal((length, status_of(send("/login", f"Content-Length: {length}", GOOD))), (length, 400))
	equal(status_of(send("/login", "Content-Length: 5", "Content-Length: 33", GOOD)), 400)
	goes_on()


@test
def a_chunked_body_is_read():
	equal(status_of(send("/login", "Transfer-Encoding: chunked", chunked(GOOD, 5))), WHOLE)
	answer = send(
		"/login", "Transfer-Encoding: chunked", chunked(GOOD + b"&more=" + b"x" * FORM_BYTES)
	)
	equal(status_of(answer), 413)
	equal(status_of(send("/login", "Transfer-Encoding: chunked", b"0\r\n\r\n")), WHOLE)


@test
def damaged_chunks_and_two_lengths_at_once_are_bad_requests():
	for chunks in (
		b"zz\r\nabc\r\n0\r\n\r\n",
		b"-5\r\nabc\r\n0\r\n\r\n",
		b"3\r\nabcdef\r\n0\r\n\r\n",
		b"fffffffffffffffff\r\na\r\n0\r\n\r\n",
	):
		equal(
			(chunks, status_of(send("/login", "Transfer-Encoding: chunked", chunks))), (chunks, 400)
		)
	equal(
		status_of(send("/login", "Transfer-Encoding: chunked", "Content-Length: 5", chunked(GOOD))),
		400,
	)
	equal(
		status_of(send("/login", "Transfer-Encoding: gzip, chunked", chunked(GOOD))) in (400, 501),
		True,
	)
	equal(
		status_of(send("/login", "Transfer-Encoding: chunked", b"ff\r\nabc", then_end=True))
		in (400, None),
		True,
	)
	goes_on()


@test
def a_body_that_is_too_large_is_refused_before_it_is_sent():
	for length in (UPLOAD_BYTES + 1, 1 << 40):
		answer = send("/admin/sets/new", f"Content-Length: {length}", b"", type=MULTIPART)
		equal(status_of(answer), 413)
		contains(answer, b"</html>")
	answer = send("/login", f"Content-Length: {FORM_BYTES + 1}", b"x" * (FORM_BYTES + 1))
	equal(status_of(answer), 413)
	contains(answer, b"The request is larger than the limit of 65536 bytes.")
	goes_on()


@test
def expect_100_continue_is_answered():
	with connect(
		head("/login", f"Content-Length: {len(GOOD)}", "Expect: 100-continue")
	) as connection:
		contains(connection.recv(1000), b"HTTP/1.1 100 Continue")
		connection.sendall(GOOD)
		equal(status_of(read_to_end(connection)), WHOLE)


@test
def a_body_of_another_content_type_is_a_bad_request():
	for kind in (
		None,
		"",
		"text/plain",
		"application/json",
		"multipart/form-data",
		"multipart/form-data; boundary=",
		"multipart/form-data; boundary=" + "b" * 71,
		"multipart/mixed; boundary=xyz",
		URLENCODED + "x",
	):
		equal(
			(kind, status_of(send("/login", f"Content-Length: {len(GOOD)}", GOOD, type=kind))),
			(kind, 400),
		)
	for body in (b"a=%ff", b"a=%00", b"%00=a"):
		equal(status_of(send("/login", f"Content-Length: {len(body)}", body)), 400)
	for body in (
		b"",
		b"\r\n",
		b"--xyz",
		b"--xyz--",
		b"--xyzz\r\n",
		b"--xyz\r\n\r\n",
		multipart(("a", None, b"\0")),
		multipart(("a", None, b"\xff")),
		multipart(("a", None, b""))[:-4],
		b"--xyz\r\nContent-Disposition: form-data\r\n\r\n1\r\n--xyz--",
	):
		wanted = WHOLE if body == b"--xyz--" else 400
		equal(
			(body, status_of(send("/login", f"Content-Length: {len(body)}", body, type=MULTIPART))),
			(body, wanted),
		)
	body = multipart(*(("a", None, b"") for _ in range(257)))
	equal(status_of(send("/login", f"Content-Length: {len(body)}", body, type=MULTIPART)), 413)
	body = (
		b"--xyz\r\nContent-Disposition: form-data; name=a\r\nX: "
		+ b"x" * 9000
		+ (b"\r\n\r\n1\r\n--xyz--")
	)
	equal(status_of(send("/login", f"Content-Length: {len(body)}", body, type=MULTIPART)), 413)


@test
def an_upload_in_chunks_arrives_whole():
	password = (site.var / "admin-password").read_text().strip()
	equal(admin.post("/login", [("name", "admin"), ("password", password)]).status, 303)
	equal(
		admin.post(
			"/account/password",
			[("current", password), ("password", "a long password"), ("again", "a long password")],
			form="/account",
		).status,
		303,
	)
	body = multipart(
		("csrf", None, admin.csrf("/admin/sets/new").encode()), ("set", "a.zip", task())
	)
	cookie = "Cookie: " + "; ".join(f"{name}={value}" for name, value in admin.cookies.items())
	for size in (1, 17, 4096):
		equal(
			status_of(
				send(
					"/admin/sets/new",
					"Transfer-Encoding: chunked",
					cookie,
					chunked(body, size),
					type=MULTIPART,
				)
			),
			303,
		)
	equal(
		[bytes.fromhex(row[0]) == task() for row in site.sql("SELECT HEX(content) FROM uploads")],
		[True],
	)


# ---- at podium-web's own socket, as if nginx had forwarded it ----


def record(kind, content=b""):
	return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content


def fastcgi(body, length, *, end=True, path="/login", type=URLENCODED):
	"""Sends podium-web a request. Returns its answer, or b"" if there is none."""
	parameters = {
		"REQUEST_METHOD": "POST",
		"REQUEST_URI": path,
		"QUERY_STRING": "",
		"CONTENT_TYPE": type,
		"REMOTE_ADDR": "127.0.0.1",
		"REQUEST_ID": "0" * 32,
		"HTTP_HOST": "localhost",
		**({} if length is None else {"CONTENT_LENGTH": str(length)}),
	}
	packed = b"".join(
		struct.pack("!BB", len(name), len(value)) + name.encode() + value.encode()
		for name, value in parameters.items()
	)
	sent = record(1, struct.pack("!HB5x", 1, 0)) + record(4, packed) + record(4)
	sent += b"".join(record(5, body[at : at + 60000]) for at in range(0, len(body), 60000)) + (
		record(5) if end else b""
	)
	with socket.socket(socket.AF_UNIX) as connection:
		connection.settimeout(60)
		connection.connect(web_socket)
		try:
			connection.sendall(sent)
		except BrokenPipeError:
			pass
		if not end:
			connection.shutdown(socket.SHUT_WR)
		return output_of(read_to_end(connection))


def output_of(records):
	output = b""
	while len(records) >= 8:
		_, kind, _, length, padding = struct.unpack("!BBHHBx", records[:8])
		output += records[8 : 8 + length] if kind == 6 else b""
		records = records[8 + length + padding :]
	return output


def fastcgi_status(*arguments, **options):
	found = re.match(rb"Status: (\d+) ", fastcgi(*arguments, **options))
	return int(found[1]) if found else None


@test
def podium_web_does_not_trust_a_length():
	equal(fastcgi_status(GOOD, len(GOOD)), WHOLE)
	contains(fastcgi(GOOD, len(GOOD) + 1), b"The request did not arrive completely. Send it again.")
	equal(fastcgi_status(GOOD, len(GOOD) + 1), 400)
	equal(fastcgi_status(b"", 10), 400)
	for length in (-1, 1 << 40, 1 << 70, FORM_BYTES + 1):
		equal((length, fastcgi_status(GOOD, length)), (length, 413))
	# podium-web refuses bytes beyond the length. nginx always states the right one.
	for length in (None, "", "words", 0, 5):
		for body in (GOOD, b"x" * (FORM_BYTES + 1)):
			answer = fastcgi(body, length)
			contains(answer, b"The request is longer than its Content-Length says.")
			equal((length, answer[:12]), (length, b"Status: 400 "))
	goes_on()


@test
def podium_web_survives_clients_that_disconnect():
	for body in (b"", GOOD, bytes(100000)):
		fastcgi(body, len(body) + 100, end=False)
	whole = (
		record(1, struct.pack("!HB5x", 1, 0))
		+ record(4, b"\x0e\4REQUEST_METHODPOST")
		+ record(4)
		+ record(5, GOOD)
		+ record(5)
	)
	for length in range(0, len(whole), 3):
		with socket.socket(socket.AF_UNIX) as connection:
			connection.connect(web_socket)
			connection.sendall(whole[:length])
	goes_on()
	equal(fastcgi_status(GOOD, len(GOOD)), WHOLE)


# ---- the end ----


def who_never_sends_the_rest_is_shown_out():
	for connection in stalled:
		equal(status_of(read_to_end(connection)) in (408, None), True)
		connection.close()
	goes_on()


if not SANITIZED:  # takes half a minute; nginx is the same in both builds
	test(who_never_sends_the_rest_is_shown_out)


@test
def podium_web_never_restarted():
	equal(find(site.process.pid, "podium-web"), web)


try:
	status = run()
finally:
	site.remove()
sys.exit(status)
