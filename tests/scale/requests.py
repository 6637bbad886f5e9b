#!/usr/bin/env python3
"""Sends a number of invented requests to every call of /api/v1, as a participant, as an admin and
without a token. `make test-requests` calls this program.

	tests/scale/requests.py [NUMBER]     (200000)

It prints how often each status came, and the memory and the threads of podium-web before and after,
each time at rest. It fails if a call answered 5xx, if the answer is no JSON where it must be, if a
thread is stuck or gone, or if the memory still grows after the first half. The variable SEED
repeats the requests of an earlier run."""

import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import mariadb  # noqa: E402
from fuzzed_site import check_unharmed, make_site, restore  # noqa: E402
from openapi import document, resolved  # noqa: E402
from processes import find  # noqa: E402

CLIENTS = 4
ROUNDS = 20  # before each of which the site's fixtures are restored
MOST_GROWTH = 0.1  # of the memory, in the second half

# Values that exist on the site, and values that programs often handle wrongly.
NAMES = ["small", "other", "cup", "ada", "bob", "carl", "here", "H200", "Python", "eval.py"]
TEXTS = [
	"",
	" ",
	"0",
	"-1",
	"null",
	"true",
	"a" * 33,
	"a" * 65,
	"a" * 5000,
	"é" * 300,
	"\x00",
	"\x01\x7f",
	"\u202e",
	"\U0001f600",
	"%",
	"%s%n",
	"../..",
	"<b>",
	"'; --",
	"2026-11-22T03:17:26Z",
	"9999-99-99",
	"2026-11-22",
	"MSAwIDA",
	"https://podium.invalid/x",
]
NUMBERS = [0, 1, 2, 3, -1, 100, 101, 2**31, 2**53, 10**18, 2**63 - 1, -(2**63), 1.5]
BROKEN = [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"a":1,"a":2}', b'{"\\u0000":1}']
TYPES = ["application/json", "multipart/form-data", "text/plain", "multipart/form-data; boundary=x"]
PATHS = ["%00", "%01", "%ff", "%c3%28", "%2f", "..", "%", "a%0d%0aX:1"]


def calls():
	for path, methods in document()["paths"].items():
		for method, call in methods.items():
			parameters = [resolved(node) for node in call.get("parameters", [])]
			contents = call.get("requestBody", {}).get("content", {})
			yield (
				method.upper(),
				path,
				[one["name"] for one in parameters if one["in"] == "query"],
				{kind: resolved(content["schema"]) for kind, content in contents.items()},
			)


CALLS = list(calls())


def invent(chance, schema, depth=0):
	"""A value that may suit the schema, or not."""
	kinds = schema.get("type", "string")
	kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
	if chance.random() < 0.15 or depth > 3:
		return chance.choice([None, True, [], {}, chance.choice(NUMBERS), chance.choice(TEXTS)])
	if "enum" in schema and chance.random() < 0.8:
		return chance.choice(schema["enum"])
	if kind == "object":
		return invent_members(chance, schema, depth)
	if kind == "array":
		return [invent(chance, schema["items"], depth + 1) for _ in range(chance.randrange(4))]
	if kind == "boolean":
		return chance.random() < 0.5
	if kind in ("integer", "number"):
		return chance.choice(NUMBERS)
	return chance.choice(NAMES if chance.random() < 0.5 else TEXTS)


def invent_members(chance, schema, depth=0):
	required = schema.get("required", ())
	members = {
		name: invent(chance, resolved(member), depth + 1)
		for name, member in schema.get("properties", {}).items()
		if chance.random() < (0.95 if name in required else 0.4)
	}
	if chance.random() < 0.03:
		members[chance.choice(TEXTS)] = chance.choice(NUMBERS)
	return members


def form_of(members):
	"""A multipart body with these fields, and a file in `file` and `zip`."""
	parts = []
	for name, value in members.items():
		file = '; filename="x.py"' if name in ("file", "zip") else ""
		text = value if isinstance(value, str) else json.dumps(value)
		parts.append(
			f'--x\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{text}\r\n'
		)
	return ("".join(parts) + "--x--\r\n").encode("utf-8", "surrogatepass")


def invent_body(chance, contents):
	if not contents or chance.random() < 0.05:
		return chance.choice(BROKEN), chance.choice(TYPES)
	kind = chance.choice(list(contents))
	members = invent_members(chance, contents[kind])
	if kind == "multipart/form-data":
		return form_of(members), "multipart/form-data; boundary=x"
	return json.dumps(members).encode(), kind


def invent_path(chance, path):
	parts = []
	for part in path.split("/"):
		if part.startswith("{"):
			fitting = ["1", "2", "3"] if part in ("{id}", "{a}", "{b}", "{version}") else NAMES
			if part == "{name}" and "users" not in path:
				fitting = ["cup"] if "contests" in path else ["small", "other"]
			values = fitting if chance.random() < 0.8 else [*NAMES, *TEXTS, *map(str, NUMBERS)]
			part = urllib.parse.quote(chance.choice(values), safe="")
			if chance.random() < 0.03:
				part = chance.choice(PATHS)
		parts.append(part)
	return "/".join(parts)


def invent_request(chance, tokens):
	method, path, queries, contents = chance.choice(CALLS)
	if chance.random() < 0.02:
		method = chance.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "X"])
	query = [
		(name, chance.choice(NAMES + TEXTS + [str(number) for number in NUMBERS]))
		for name in [*queries, chance.choice(TEXTS)]
		if chance.random() < (0.4 if name in queries else 0.03)
	]
	address = invent_path(chance, path) + ("?" + urllib.parse.urlencode(query) if query else "")
	token = chance.choice([*tokens.values()] * 4 + [None])
	headers = {"Authorization": f"Bearer {token}"} if token else {}
	body = None
	if method != "GET":
		body, headers["Content-Type"] = invent_body(chance, contents)
		if chance.random() < 0.1:
			headers["Idempotency-Key"] = f"key-{chance.randrange(50):05}"
	return method, address, body, headers


def send_many(port, tokens, seed, number):
	"""Sends requests over one connection. Returns the number of each status, and what is wrong."""
	chance, statuses, wrong = random.Random(seed), collections.Counter(), []
	connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
	for _ in range(number):
		method, address, body, headers = invent_request(chance, tokens)
		try:
			connection.request(method, address, body, headers)
			answer = connection.getresponse()
			text = answer.read()
		except (OSError, http.client.HTTPException) as reason:
			wrong.append(f"{method} {address[:200]}: {reason!r}")
			connection.close()
			continue
		statuses[answer.status] += 1
		if answer.status >= 500:
			wrong.append(f"{method} {address[:200]} {body!r:.300}: {answer.status} {text[:300]!r}")
		elif answer.status >= 400 and answer.headers["Content-Type"] != "application/problem+json":
			wrong.append(f"{method} {address[:200]}: {answer.headers['Content-Type']}")
	connection.close()
	return statuses, wrong


def state_of(pid):
	"""Memory in KiB and number of threads, once the process is at rest."""
	ticks = None
	while ticks != (ticks := pathlib.Path(f"/proc/{pid}/stat").read_text().split()[13:15]):
		time.sleep(2)
	status = dict(
		line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	)
	return int(status["VmRSS"].split()[0]), int(status["Threads"])


def serve_at_once(site, number):
	"""Whether so many requests that arrive together are all answered."""

	def ask(_):
		connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
		connection.request("GET", "/healthz")
		return connection.getresponse().status

	with concurrent.futures.ThreadPoolExecutor(number) as pool:
		return set(pool.map(ask, range(number))) == {200}


def main(number):
	seed = int(os.environ.get("SEED", random.randrange(10**6)))
	print(f"The seed is {seed}.", flush=True)
	mariadb.use_own_server()
	site, tokens, admin = make_site()
	try:
		pid = find(site.process.pid, "podium-web")
		states, statuses, wrong = [state_of(pid)], collections.Counter(), []
		for turn in range(ROUNDS):
			restore(site, tokens, admin)
			with concurrent.futures.ProcessPoolExecutor(CLIENTS) as pool:
				jobs = [
					pool.submit(
						send_many,
						site.port,
						tokens,
						f"{seed} {turn} {one}",
						number // ROUNDS // CLIENTS,
					)
					for one in range(CLIENTS)
				]
				for job in jobs:
					counted, found = job.result()
					statuses += counted
					wrong += found
			if (turn + 1) % (ROUNDS // 2):
				continue
			states.append(state_of(pid))
			print(f"{statuses.total()} answers; memory and threads: {states[-1]}", flush=True)
		print("statuses:", dict(sorted(statuses.items())))
		print("memory in KiB and threads, before, after a half, after all:", states)
		if len({threads for _, threads in states}) > 1:
			wrong.append("The number of threads has changed.")
		if states[2][0] > states[1][0] * (1 + MOST_GROWTH):
			wrong.append("The memory still grew in the second half.")
		if not serve_at_once(site, 2 * states[0][1]):
			wrong.append("A thread is stuck.")
		check_unharmed(site)
		print("\n".join(wrong[:20]) or "Nothing is wrong.")
		return 1 if wrong else 0
	finally:
		site.remove()


if __name__ == "__main__":
	sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 200000))
