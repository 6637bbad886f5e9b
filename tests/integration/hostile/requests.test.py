#!/usr/bin/env python3
"""Hostile requests through nginx: bodies of every kind, headers, addresses, cookies, archives, YAML
and Markdown that ask for much memory or time. Each gets a clear answer, podium-web's memory stays
bounded, and other visitors are served meanwhile."""

import concurrent.futures
import html
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import zips  # noqa: E402
from client import Client, fresh  # noqa: E402
from instance import Instance  # noqa: E402
from processes import find, most_memory_kib  # noqa: E402
from programs import make_token  # noqa: E402
from small_task import EVAL, TASK, done, make_board, register, zip_of  # noqa: E402
from tap import contains, equal, run, test, until  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
ada, carl, admin, anyone = (Client(site.url) for _ in range(4))
SANITIZED = os.environ.get("B", "").endswith("sanitize")  # which keeps freed memory for a while
MOST_MORE_KIB = 64 * 1024
FORM, UPLOAD, API = 64 * 1024, 10 * 1024 * 1024, 7 * 1024 * 1024
BOUNDARY = "xyz"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
URLENCODED = "application/x-www-form-urlencoded"
JSON = "application/json"
tokens = {}


@test
def the_fixtures_are_created():
	register(site, {"ada": ada, "carl": carl, "root-of-all": admin})
	make_board(carl, "small")
	tokens["ada"] = make_token(ada, "t", "read", "submit")
	tokens["carl"] = make_token(carl, "t", "read", "submit", "admin")
	for client in (ada, carl):
		tokens[client] = client.csrf("/account")
	# The hashing of passwords has used memory, so that a new process counts from less.
	restart()


def restart(**settings):
	site.stop()
	site.environment |= settings
	(site.var / "run.log").write_text("")  # which says that the site is ready
	site.start()


# ---- the requests ----


def part(head, content=b"x"):
	return f"--{BOUNDARY}\r\n".encode() + head + b"\r\n\r\n" + content + b"\r\n"


def named(name, content, file_name=None):
	file = f'; filename="{file_name}"' if file_name else ""
	return part(f'Content-Disposition: form-data; name="{name}"{file}'.encode(), content)


def form(*parts):
	return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def fill(piece, size):
	return piece * (size // len(piece))


DISPOSITION = b"Content-Disposition: form-data"
QUOTED = DISPOSITION + fill(b';a="', 8000)
MANY_PARAMETERS = DISPOSITION + fill(b';a="b"', 8000)


def multiparts(size):
	"""Bodies of at most `size` bytes, by name, with the status that says what is wrong."""
	yield "many quoted parameters", form(*[part(QUOTED)] * (size // 8200)), 413
	yield "parameters", form(*[part(MANY_PARAMETERS)] * (size // 8200)), 413
	yield "unfinished quote", form(part(DISPOSITION + b';name="' + fill(b"a", 8000))), 403
	yield (
		"long header",
		form(part(DISPOSITION + b";name=" + fill(b"a", min(size, 60000) - 100))),
		413,
	)
	yield "many parts", form(*[named("a", b"")] * min(size // 70, 1000)), 413
	yield "one part", form(named("a", fill(b"x", size - 200))), 403
	yield "one file", form(named("a", fill(b"\0", size - 200), "a.bin")), 403
	yield "no end", form(named("a", fill(b"x", size - 200)))[:-6], 400
	yield "almost delimiters", form(named("a", fill(b"\r\n--xy", size - 200))), 403
	yield "line breaks", fill(b"\r\n", size), 400
	yield "dashes", fill(b"--xyz\r\n", size), 413
	yield "preamble", fill(b"x", size - 200) + b"\r\n" + form(named("a", b"b")), 403
	yield "headers without end", b"--xyz\r\n" + fill(b"a: b\r\n", size - 10), 413


def urlencoded(size):
	yield "ampersands", fill(b"&", size), 403
	yield "equals", fill(b"=", size), 403
	yield "fields", fill(b"a&", size), 400
	yield "values", fill(b"a=b&", size), 400
	yield "percent", b"a=" + fill(b"%", size - 2), 403
	yield "encoded", b"a=" + fill(b"%41", size - 2), 403
	yield "encoded name", fill(b"%41", size), 403
	yield "not UTF-8", b"a=" + fill(b"%ff", size - 2), 400
	yield "empty fields and one", fill(b"&", size - 3) + b"a=b", 403


def json_bodies(size):
	yield "values", b'{"a":[' + fill(b"0,", size - 10) + b"0]}", 413
	yield "empty lists", b'{"a":[' + fill(b"[],", size - 12) + b"[]]}", 413
	yield "empty objects", b'{"a":[' + fill(b"{},", size - 12) + b"{}]}", 413
	yield "members", b"{" + b",".join(b'"%x":0' % n for n in range(size // 12)) + b"}", 413
	yield "depth of lists", fill(b"[", size), 413
	yield "depth of objects", fill(b'{"a":', size), 413
	yield "text", b'{"code":"' + fill(b"x", size - 20) + b'"}', 400
	yield "escapes", b'{"code":"' + fill(b"\\u0041", size - 20) + b'"}', 400
	yield "unfinished text", b'{"code":"' + fill(b"[", size - 20), 400
	yield "blanks", fill(b" ", size), 400
	yield "digits", b'{"a":' + fill(b"9", size - 10) + b"}", 400
	yield "name", b'{"' + fill(b"a", size - 10) + b'":1}', 400


def bodies():
	"""Yields (name, client, method, path, headers, body, wanted statuses)."""
	for name, body, status in multiparts(FORM):
		yield f"anyone, form: {name}", anyone, "/login", MULTIPART, body, status
	for name, body, status in multiparts(UPLOAD):
		yield (
			f"participant, form: {name}",
			ada,
			"/leaderboard/small/submit",
			MULTIPART,
			body,
			status,
		)
	for name, body, status in urlencoded(FORM):
		yield f"anyone, urlencoded: {name}", anyone, "/login", URLENCODED, body, status
	for name, body, status in urlencoded(UPLOAD):
		yield f"participant, urlencoded: {name}", ada, "/submit", URLENCODED, body, status
	for name, body, status in json_bodies(API):
		yield f"API: {name}", "ada", "/api/v1/leaderboards/small/submissions", JSON, body, status


def markdowns():
	"""Descriptions with the word that the refusal has; None: it is accepted."""
	row = "|a" * 1000 + "|\n" + "|-" * 1000 + "|\n"
	yield "short rows", row + "x\n" * 30000, "cells"
	yield "quoted table", "> " + row.replace("\n|", "\n> |") + "> x\n" * 15000, "cells"
	yield "carriage returns", row + "x\r" * 30000, "cells"
	yield "references", "[a]: /" + "x" * 60000 + "\n\n" + "[a] " * 15000, "repeat"
	yield "references first", "[a] " * 15000 + "\n\n[a]: /" + "x" * 60000, "repeat"
	yield "quotes", ">" * 60000, "nested"
	yield "lists", "- " * 30000, "nested"
	yield "images", "![" * 10000 + "x" + "](a)" * 10000, "nested"
	yield "items", "- a\n" * 20000, "items"
	yield "length", "x" * 140000, "longer"
	yield "hidden images", "![\\]" * 9000 + "x" + "](a)" * 9000, None
	yield "addresses", "a@b.c" * 20000, None


def task_of(description):
	lines = json.dumps(description)
	return re.sub(r"(?m)^description:.*\n", lambda _: f"description: {lines}\n", TASK)


def archives():
	"""Uploads of a creator: the page, the fields, the field of the file, and the file."""
	noise = os.urandom(4 * 1024 * 1024 - 100)
	files = {"task.yml": TASK, "eval.py": EVAL}
	yield "zeros", zip_of({**files, "zeros": bytes(4 * 1024 * 1024)}), (413, 422)
	yield "heavy", zips.heavy(), (413, 422)
	yield "overlapping", zips.overlapping(), (413, 422)
	yield "crowd", zips.crowd(20000), (413, 422)
	yield "nested", zips.nested(), (303,)
	yield "large", zip_of({**files, "a": noise, "b": noise[::-1]})[: 8 << 20], (413, 422)
	for name, text in (
		("aliases", "a: &a [x,x,x,x]\n" + "".join(f"b{n}: [*a,*a]\n" for n in range(9000))),
		("values", "tests: [" + "1," * 100000 + "1]\n"),
		("depth", "[" * 100000),
		("keys", "".join(f"k{n}: 1\n" for n in range(19000))),
		("long scalar", "a: " + "x" * 250000),
		("blanks", " " * 250000),
		("anchors", "&a " * 80000),
		("folded", "a: >\n" + "  x\n\n" * 40000),
	):
		yield f"YAML {name}", zip_of({**files, "task.yml": text}), (413, 422)


def heads():
	"""Requests without a body: the path, headers, and the wanted statuses."""
	eight = "x" * 8000
	yield "long path", "/" + "a/" * 3500 + "a", {}, (404,)
	yield "encoded path", "/" + "%41" * 2300, {}, (404,)
	yield "slashes", "/" * 7000, {}, (301, 404)
	yield "stars", "/leaderboard/" + "*" * 7000, {}, (404,)
	yield "query of ampersands", "/queue?" + "&" * 7000, {}, (200,)
	yield "query of fields", "/queue?" + "a=b&" * 1700, {}, (400,)
	yield "query of percents", "/queue?a=" + "%" * 7000, {}, (200,)
	yield "search", "/leaderboard/small?q=" + "%25" * 2000, {}, (200, 404, 400)
	yield "page", "/mine?page=" + "9" * 7000, {}, (200, 303, 404, 400)
	yield "compare", "/compare?a=" + "1" * 3000 + "&b=" + "1" * 3000, {}, (200,)
	yield "cookies", fresh("/"), {"Cookie": "a=b; " * 1500}, (200,)
	yield "cookie", fresh("/"), {"Cookie": "podium-session=" + eight[:7000]}, (200,)
	yield "known", fresh("/login"), {"Cookie": "podium-known=" + eight[:7000]}, (200,)
	yield "theme", fresh("/"), {"Cookie": "theme=" + eight[:7000]}, (200,)
	yield "agent", fresh("/"), {"User-Agent": eight[:7000]}, (200,)
	yield "bearer", "/api/v1/me", {"Authorization": "Bearer " + eight[:7000]}, (401,)
	yield "etag", "/api/v1/leaderboards", {"If-None-Match": eight[:7000]}, (200,)
	yield "header too long", fresh("/"), {"X-A": "x" * 9000}, (400,)
	yield "API query", "/api/v1/leaderboards?" + "a=b&" * 1700, {}, (400,)


# ---- sending them ----

beside = concurrent.futures.ThreadPoolExecutor(4)
idle = {}


def web():
	return find(site.process.pid, "podium-web")


def start_counting():
	for path in ("/", "/leaderboard/small", "/queue", "/login"):
		for _ in range(16):
			anyone.fresh(path)
	idle[web()] = most_memory_kib(web())


def beside_others(send):
	"""Sends a request while a visitor opens a page, and returns its answer."""
	waiting = beside.submit(send)
	equal(Client(site.url).fresh("/leaderboard/small").status, 200)
	return waiting.result()


def check_memory():
	more = most_memory_kib(web()) - idle.setdefault(web(), most_memory_kib(web()))
	if not SANITIZED and more > MOST_MORE_KIB:
		idle[web()] += more  # the next request is measured too
		raise AssertionError(f"podium-web used {more} KiB more")


def each(requests):
	"""Sends each request, as (name, send, wanted statuses), and reports each fault by its name."""
	faults, pid = [], web()
	for name, send, wanted in requests:
		try:
			answer = beside_others(send)
			equal(answer.status in wanted or (answer.status, wanted), True)
			if answer.status in (413, 422, 503):
				is_problem = "problem+json" in answer.headers["Content-Type"]
				sentence = answer.json["detail"] if is_problem else answer.words()
				equal(bool(re.search(r"[A-Z][a-z].*\.", sentence)), True)
			check_memory()
		except AssertionError as reason:
			faults.append(f"{name}: {str(reason)[:300]}")
	equal(web(), pid)
	if faults:
		raise AssertionError("\n".join(faults))


@test
def bodies_that_ask_for_much_memory_are_bounded():
	start_counting()

	def sender(client, path, kind, body):
		headers = {"Content-Type": kind}
		if isinstance(client, str):
			headers["Authorization"], client = f"Bearer {tokens[client]}", Client(site.url)
		return lambda: client.request("POST", path, body, headers)

	requests = [
		(name, sender(client, path, kind, body), (status,))
		for name, client, path, kind, body, status in bodies()
	]
	equal(len(requests) >= 60 - 6, True)
	each(requests)


@test
def addresses_headers_and_cookies_are_bounded():
	client = Client(site.url)
	each(
		(
			name,
			lambda path=path, headers=headers: client.request("GET", path, headers=headers),
			wanted,
		)
		for name, path, headers, wanted in heads()
	)


def upload(content):
	fields = [("name", "hostile"), ("gpu", "H200"), ("visibility", "hidden")]
	answer = carl.post(
		"/admin/leaderboards/new", fields, [("task", "t.zip", content)], csrf=tokens[carl]
	)
	if answer.status == 303:
		answer.board = carl.fresh("/leaderboard/hostile/task")
		sql("DELETE FROM leaderboards WHERE name = 'hostile'")
	return answer


@test
def archives_and_yaml_are_bounded():
	each(
		(name, lambda content=content: upload(content), wanted)
		for name, content, wanted in archives()
	)


@test
def markdown_is_counted_before_it_is_rendered():
	for name, description, word in markdowns():
		answer = upload(zip_of({"task.yml": task_of(description), "eval.py": EVAL}))
		equal((name, answer.status), (name, 422 if word else 303))
		if word:
			contains(answer.text, word)
			continue
		board = answer.board
		equal((name, board.status, len(board.bytes) < 1 << 20), (name, 200, True))
	rules = next(markdowns())[1][:59000]
	fields = {"name": "hostile", "title": "Hostile", "rules": rules}
	answer = carl.post("/admin/contests/new", list(fields.items()), csrf=tokens[carl])
	equal(answer.status, 422)
	contains(answer.text, "cells")
	check_memory()


@test
def the_editor_of_tasks_counts_too():
	page = carl.get("/admin/leaderboard/small/task").text
	state = re.search(r'name="state" value="([^"]*)"', page)[1]
	fields = [("state", state), ("description", next(markdowns())[1]), ("action", "save")]
	definition = re.search(r'(?s)name="definition"[^>]*>\n?(.*?)</textarea>', page)
	fields.append(("definition", html.unescape(definition[1])))
	answer = carl.post("/admin/leaderboard/small/task", fields, csrf=tokens[carl])
	equal(answer.status, 422)
	contains(answer.words(), "The description, line 21: the tables have more than 20000 cells")


@test
def a_description_that_an_older_release_accepted_is_shown_unformatted():
	description = next(markdowns())[1]
	old = sql("SELECT id, description FROM task_versions")[0]
	escaped = description.replace("\n", "\\n")
	sql(f"UPDATE task_versions SET description = '{escaped}' WHERE id = {old[0]}")
	try:
		answer = beside_others(lambda: Client(site.url).fresh("/leaderboard/small/task"))
		equal(answer.status, 200)
		check_memory()
	finally:
		sql(f"UPDATE task_versions SET description = '{old[1]}' WHERE id = {old[0]}")


# ---- with other settings ----


@test
def a_request_that_needs_too_much_memory_is_refused():
	restart(PODIUM_REQUEST_MEMORY_MIB="16")
	noise = os.urandom(3 << 20)
	bits = noise.translate(bytes(byte & 1 for byte in range(256)))  # a tenth when packed
	files = {"task.yml": TASK, "eval.py": EVAL, "a": noise, "b": noise[::-1]}
	files |= {"c": bits, "d": bits[::-1]}
	answer = upload(zip_of(files))
	equal(answer.status, 413)
	contains(answer.words(), "This request needs more than the 16 MiB of memory")
	restart(PODIUM_REQUEST_MEMORY_MIB="48")
	equal(upload(zip_of(files)).status, 303)


@test
def a_request_that_takes_too_long_ends_alone():
	restart(PODIUM_REQUEST_TIMEOUT_S="1")
	place = site.environment["PODIUM_DATABASE_SOCKET"], site.environment["PODIUM_DATABASE_NAME"]
	locked = subprocess.Popen(
		["mariadb", "--no-defaults", "-n", "-N", "-B", "-S", *place],
		stdin=subprocess.PIPE,
		stdout=subprocess.PIPE,
		text=True,
	)
	try:
		locked.stdin.write("LOCK TABLES contest_entrants WRITE; SELECT 'locked';\n")
		locked.stdin.flush()
		contains(locked.stdout.readline(), "locked")
		waiting = [beside.submit(Client(site.url).fresh, "/contests") for _ in range(3)]
		waiting.append(beside.submit(Client(site.url).get, "/api/v1/contests"))
		equal(Client(site.url).fresh("/leaderboard/small").status, 200)
		for answer in (one.result() for one in waiting):
			equal((answer.status, answer.headers["Retry-After"]), (503, "5"))
			contains(answer.text, "This request took longer than 1 s, so Podium ended it.")
		equal(answer.headers["Content-Type"], "application/problem+json")
	finally:
		locked.stdin.close()
		locked.wait()
	equal(Client(site.url).fresh("/contests").status, 200)
	restart(PODIUM_REQUEST_TIMEOUT_S="20")


@test
def logins_leave_threads_for_others():
	restart(PODIUM_WEB_THREADS="4", PODIUM_PASSWORD_HASHES_AT_ONCE="1")
	token = anyone.csrf("/login")

	def log_in(number):
		visitor = Client(site.url)
		visitor.cookies = dict(anyone.cookies)
		fields = [("name", f"nobody-{number % 20}"), ("password", "a wrong password")]
		return visitor.post("/login", fields, csrf=token)

	def refused():
		sql("DELETE FROM rate_limits")
		with concurrent.futures.ThreadPoolExecutor(24) as many:
			waiting = [many.submit(log_in, number) for number in range(24)]
			equal(Client(site.url).fresh("/leaderboard/small").status, 200)
			answers = [one.result() for one in waiting]
		equal({answer.status for answer in answers} <= {422, 503}, True)
		return [answer for answer in answers if answer.status == 503]

	answer = until(refused)[0]
	equal(answer.headers["Retry-After"], "5")
	contains(answer.words(), "Podium checks many passwords at the moment.")
	sql("DELETE FROM rate_limits")
	done(Client(site.url).post("/login", [("name", "ada"), ("password", "a long password")]))


if __name__ == "__main__":
	try:
		status = run()
	finally:
		site.remove()
	sys.exit(status)
