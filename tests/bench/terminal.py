#!/usr/bin/env python3
"""`make bench-terminal`: the cost of a leaderboard's page while 200 terminals poll their
submissions every five seconds, as popcorn-cli does, and 20 wait on open connections. Uses the data
of `make bench-data` (build/bench). The page is measured alternately without and with the terminals
in one run, so that a slow moment of the machine affects both. Needs wrk.

	POLLS (200), STREAMS (20), POLL_S (5): seconds between two polls of a terminal
	SECONDS_PER_TURN (10), TURNS (3), CONNECTIONS (64), SIZE (100000)
"""

import os
import pathlib
import selectors
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "bench")]
from data import open_site  # noqa: E402
from popcorn import Popcorn  # noqa: E402
from processes import find  # noqa: E402
from wrk import need_wrk, wrk  # noqa: E402

POLL_S = float(os.environ.get("POLL_S", 5))
POLLS, STREAMS = (
	int(os.environ.get(name, usual)) for name, usual in (("POLLS", 200), ("STREAMS", 20))
)
SECONDS = float(os.environ.get("SECONDS_PER_TURN", 10))
TURNS, CONNECTIONS = (
	int(os.environ.get(name, usual)) for name, usual in (("TURNS", 3), ("CONNECTIONS", 64))
)
BUILD = ROOT / os.environ.get("B", "build/release")
BOARD = "/leaderboard/bench?gpu=H200"
BUDGET_MS = 20  # the time that any public page may take
THREADS = min(8, POLLS)


class Terminals:
	"""Terminals with queued submissions and a token each. close() removes them."""

	def __init__(self, site):
		self.site = site
		self.rows = site.sql(f"""
			DELETE FROM api_tokens WHERE name = 'bench-terminal';
			INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes)
				SELECT id, 'bench-terminal', 'podium_',
				UNHEX(SHA2(CONCAT('podium_', SHA2(CONCAT(id, password_hash), 256)), 256)),
				'read,submit' FROM users;
			SELECT s.id, CONCAT('podium_', SHA2(CONCAT(u.id, u.password_hash), 256))
				FROM submissions s JOIN jobs j ON j.submission_id = s.id
				JOIN users u ON u.id = s.user_id JOIN leaderboards l ON l.id = s.leaderboard_id
				WHERE j.state = 'queued' AND NOT s.dry_run
				GROUP BY s.id ORDER BY s.id LIMIT {POLLS}""")
		if len(self.rows) < POLLS:
			sys.exit(f"bench: only {len(self.rows)} submissions wait.")
		self.before = int(site.sql("SELECT MAX(id) FROM submissions")[0][0])
		self.streams, self.heard, self.polls, self.wrong = [], [], [], []
		self.stops = threading.Event()

	def start(self):
		self.stops.clear()
		self.open_streams()
		self.workers = [
			threading.Thread(target=self.poll, args=(number,)) for number in range(THREADS)
		]
		self.workers.append(threading.Thread(target=self.listen))
		for worker in self.workers:
			worker.start()

	def stop(self):
		self.stops.set()
		for worker in self.workers:
			worker.join()
		for events in self.streams:
			events.close()
		self.streams = []

	def open_streams(self):
		"""Submits from each terminal with an open connection. No worker here has an H200, so the
		jobs wait until the terminals close the connections."""
		for number in range(STREAMS):
			popcorn = Popcorn(self.site.url + "/popcorn", self.rows[number][1])
			self.streams.append(
				popcorn.stream("bench", "H200", "test", f"# {number} {time.time()}\n".encode())
			)

	def poll(self, number):
		"""Polls a share of the terminals, evenly over the seconds."""
		mine = self.rows[number::THREADS]
		at = time.monotonic()
		while not self.stops.is_set():
			for submission, token in mine:
				at += POLL_S / len(mine)
				if self.stops.wait(max(0, at - time.monotonic())):
					return
				began = time.monotonic()
				try:
					answer = Popcorn(self.site.url + "/popcorn", token).poll(submission)
					assert answer["id"] == int(submission) and answer["code"]
				except Exception as reason:  # popcorn-cli exits after any error
					self.wrong.append(repr(reason)[:200])
				self.polls.append((time.monotonic() - began) * 1000)

	def listen(self):
		"""Reads the open connections. A connection that ends is an error."""
		with selectors.DefaultSelector() as selector:
			for events in self.streams:
				selector.register(events.connection.sock, selectors.EVENT_READ, events)
			while not self.stops.is_set():
				for key, _ in selector.select(0.2):
					got = key.data.next()
					self.heard.append(got)
					if got is None or got[0] != "status":
						self.wrong.append(f"a stream: {got}")
						selector.unregister(key.fileobj)

	def remove(self):
		self.site.sql(
			f"DELETE FROM submissions WHERE id > {self.before}; DELETE FROM api_tokens WHERE name "
			"= 'bench-terminal'"
		)


def threads_of(process):
	return len(list(pathlib.Path(f"/proc/{process}/task").iterdir()))


def report(name, alone, beside):
	rate, late = (
		(lambda many: statistics.median(one.rate for one in many)),
		(lambda many: statistics.median(one.p99_ms for one in many)),
	)
	p99, with_p99 = late(alone), late(beside)
	print(
		f"{name:24} alone {rate(alone):7.0f} pages/s, p99 {p99:6.1f} ms   beside the terminals "
		f"{rate(beside):7.0f} pages/s, "
		f"p99 {with_p99:6.1f} ms   {with_p99 / p99:.2f} times"
	)
	return with_p99


def main():
	need_wrk()
	site, crowd = open_site(BUILD)
	terminals = None
	try:
		terminals = Terminals(site)
		logged_in = crowd.cookie("user1")  # so that no page comes from the cache
		sides = {
			"one visitor, uncached": (1, SECONDS, logged_in),
			f"{CONNECTIONS} visitors, cached": (CONNECTIONS, SECONDS),
			f"{CONNECTIONS} visitors, uncached": (CONNECTIONS, SECONDS, logged_in),
		}
		alone, beside = {name: [] for name in sides}, {name: [] for name in sides}
		web = find(site.process.pid, "podium-web")
		for _ in range(TURNS):
			for name, side in sides.items():
				alone[name].append(wrk(site.url + BOARD, *side))
			terminals.start()
			for name, side in sides.items():
				beside[name].append(wrk(site.url + BOARD, *side))
			threads = threads_of(web)
			terminals.stop()
		print(
			f"{POLLS} terminals ask every {POLL_S:g} s, {STREAMS} wait on open connections; "
			f"{os.cpu_count()} processors; podium-web has {threads} threads"
		)
		late = {name: report(name, alone[name], beside[name]) for name in sides}
		polls = sorted(terminals.polls)
		half, late_poll = (polls[len(polls) * share // 100] if polls else 0 for share in (50, 99))
		print(
			f"{len(polls)} questions of terminals: half within {half:.1f} ms, "
			f"99 % within {late_poll:.1f} ms; "
			f"{len(terminals.heard)} events on open connections; {len(terminals.wrong)} went wrong"
		)
		print(
			"p99 of the page beside the terminals: "
			+ ", ".join(f"{name} {p99:.1f} ms" for name, p99 in late.items())
			+ f" (budget {BUDGET_MS} ms)"
		)
		for line in sorted(set(terminals.wrong))[:5]:
			print("  " + line)
		return 1 if terminals.wrong else 0
	finally:
		if terminals:
			terminals.remove()
		site.stop()


if __name__ == "__main__":
	sys.exit(main())
