#!/usr/bin/env python3
"""A whole site in its own network: a front, two web hosts, a Galera cluster of three nodes, and
three worker hosts. Under load, the test kills each of the eight backends in turn, then pulls
cables. At the end every submission must have exactly one result.

Each program prefers another node, so that all nodes get writes. docs/cluster.md advises against
that, because it is the hardest load.
"""

import collections
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "faults")]
import cluster  # noqa: E402
import mariadb  # noqa: E402
import network  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402

if cluster.lack():
	print(f"ok 1 - a cluster # SKIP {cluster.lack()}\n1..1")
	sys.exit(0)
network.enter()
from hosts import invite, register, start_host  # noqa: E402
from client import Client  # noqa: E402
from programs import Program, make_token  # noqa: E402
from stages import check_database  # noqa: E402
from web_hosts import WebHost, answers, end_web_hosts, start_front  # noqa: E402
from workers import (  # noqa: E402
	BUILD,
	RIGHT,
	WRONG,
	admin,
	close,
	database,
	load_task,
	scratch,
	sql,
	until,
)

PASSWORD = "a long password"
SUBMITTERS, PAUSE_S = 6, 1.5
CUT_S = 9  # longer than a lease
WRITE_S = 20
FRONT = "http://10.77.0.41:8080"

# ---- the hosts ----


class Web:
	def __init__(self, number):
		self.host = network.Host(f"web{number}", 20 + number)
		self.web = WebHost(
			self.host.name,
			FRONT,
			self.host.address,
			"10.77.0.41",
			self.host.before(),
			PODIUM_API_REQUESTS_PER_MINUTE="0",
			PODIUM_DATABASE_HOST=database.hosts_from(number),
			PODIUM_QUEUED_JOBS_PER_USER="0",
		)

	def start(self):
		self.web.start_nginx()
		self.web.start_web()

	def wait(self):
		until(lambda: answers(self.web.url))


class Gpu:
	"""A worker host whose device is a CPU."""

	def __init__(self, number):
		self.host, self.path = (
			network.Host(f"gpu{number}", 30 + number),
			scratch / f"gpu{number}.conf",
		)
		answer = register(
			invite(self.host.name, place=database.hosts_from(number) + ":3306"), self.path
		)
		equal((answer.returncode, answer.stderr), (0, ""))
		self.start()

	def start(self):
		self.worker = start_host(
			self.host.name,
			self.path,
			before=self.host.before(),
			PODIUM_WORKER_CACHE=str(scratch / f"cache-{self.host.name}"),
		)

	def wait(self):
		self.worker.says("is ready", 60)


class Db:
	def __init__(self, node):
		self.node, self.host = node, node.host

	def start(self):
		self.node.start(database.nodes)

	def wait(self):
		self.node.wait()


# ---- the load ----


class Load:
	"""Submitters, who each repeat a submission with the same idempotency key until it is accepted,
	and a visitor who requests pages."""

	def __init__(self, tokens):
		self.over, self.taken, self.answers, self.faults, self.while_ = (
			threading.Event(),
			{},
			collections.Counter(),
			[],
			"at first",
		)
		work = [(self.submit, (number, token)) for number, token in enumerate(tokens)] + [
			(self.look, ())
		]
		self.threads = [
			threading.Thread(target=self.guarded, args=(body, *arguments), daemon=True)
			for body, arguments in work
		]
		for thread in self.threads:
			thread.start()

	def guarded(self, body, *arguments):
		try:
			body(*arguments)
		except Exception as fault:  # noqa: BLE001  it is reported at the end
			self.faults.append(repr(fault))

	def ask(self, what, method, path, program, *rest):
		try:
			answer = Client.request(program, method, path, *rest)
		except (OSError, http.client.HTTPException) as fault:
			self.answers[self.while_, what, type(fault).__name__] += 1
			return None
		self.answers[self.while_, what, answer.status] += 1
		return answer

	def submit(self, number, token):
		program = Program(FRONT, token)
		program.limit_s = 15
		for count in range(1 << 30):
			if self.over.wait(PAUSE_S):
				return
			key = f"submitter-{number}-{count}"
			source = (WRONG if count % 4 == 3 else RIGHT) + f"# {key}\n"
			self.taken[key] = (
				self.send(program, key, source),
				"wrong answer" if count % 4 == 3 else "passed",
			)

	def send(self, program, key, source):
		body = json.dumps({"mode": "ranked", "code": source}).encode()
		headers = {
			"Authorization": f"Bearer {program.token}",
			"Content-Type": "application/json",
			"Idempotency-Key": key,
		}
		while True:
			answer = self.ask(
				"submit", "POST", "/api/v1/leaderboards/small/submissions", program, body, headers
			)
			if answer and answer.status in (200, 201):
				return answer.json["id"]
			if answer and answer.status < 500 and answer.status not in (409, 429):
				raise AssertionError(f"{key}: {answer.status} {answer.text[:300]}")
			time.sleep(0.2)

	def look(self):
		browser = Client(FRONT)
		browser.limit_s = 15
		while not self.over.wait(0.2):
			for path in ("/leaderboard/small", "/queue"):
				self.ask("look", "GET", path, browser)

	def said(self):
		"""The answers that came in the current phase, and how often each came."""
		mine = sorted(
			(f"{what} {status}", count)
			for (phase, what, status), count in self.answers.items()
			if phase == self.while_
		)
		return ", ".join(f"{what}: {count}" for what, count in mine)

	def end(self):
		self.over.set()
		for thread in self.threads:
			thread.join(120)
		equal(self.faults, [])
		equal([thread.is_alive() for thread in self.threads], [False] * len(self.threads))


# ---- faults ----


def clock():
	return sql("SELECT UTC_TIMESTAMP(3)")[0][0]


def longest_pause(since):
	"""The longest time without a claim since the time `since`, in seconds."""
	return float(
		sql(
			"SELECT COALESCE(MAX(TIMESTAMPDIFF(MICROSECOND, at, next)), 0) / 1e6 FROM (SELECT at, "
			"LEAD(at) OVER (ORDER BY at) AS next FROM "
			f"(SELECT CAST('{since}' AS DATETIME(3)) AS at UNION ALL SELECT started_at FROM jobs "
			f"WHERE started_at >= '{since}') claims) pairs"
		)[0][0]
	)


def ended():
	return int(sql("SELECT COUNT(*) FROM jobs WHERE state IN ('done', 'failed')")[0][0])


def results_go_on(more=4):
	"""Waits until jobs finish despite the fault."""
	before = ended()
	until(
		lambda: ended() >= before + more,
		60,
		lambda: str(
			sql(
				"SELECT id, state, attempt, lease_owner, reason FROM jobs WHERE state NOT "
				"IN ('done') "
				"ORDER BY id LIMIT 9"
			)
		),
	)


def strike(what, fault, mend, wait, least_s=0):
	"""Keeps the fault for at least `least_s` seconds and until new results have come."""
	since, began, load.while_ = clock(), time.monotonic(), what
	fault()
	results_go_on()
	without = time.monotonic() - began
	time.sleep(max(0, least_s - without))
	mended = time.monotonic()
	mend()
	wait()
	back = time.monotonic() - mended
	results_go_on()
	print(
		f"# {what}: 4 jobs had ended without it after {without:.1f} s, it was back {back:.1f} s "
		"after it was mended; the longest time without a claim "
		f"was {longest_pause(since):.1f} s; {load.said()}",
		flush=True,
	)
	load.while_ = "nothing was away"


# ---- the proof ----

webs, gpus, dbs, load = [], [], [], None


@test
def colliding_transactions_of_all_nodes_apply_fully_or_not_at_all():
	"""Many transactions change a few rows while jobs run. If the cluster rolls a transaction back
	halfway, the program must not continue with its second half."""
	sql(
		"CREATE TABLE stored_rows (writer VARCHAR(48) NOT NULL, number BIGINT NOT NULL, counter "
		"INT NOT NULL, PRIMARY KEY (writer, number)); "
		"CREATE TABLE counted_rows (counter INT PRIMARY KEY, count BIGINT NOT NULL); CREATE TABLE "
		"counted_again LIKE counted_rows"
	)
	writers = [
		subprocess.Popen(
			[BUILD / "tests" / "scale" / "writers", node.host.name, "4", str(WRITE_S)],
			stdout=subprocess.PIPE,
			stderr=subprocess.PIPE,
			text=True,
			env={**database.environment, "PODIUM_DATABASE_HOST": node.host.address},
		)
		for node in database.nodes
	]
	said = [writer.communicate() for writer in writers]
	print(
		f"# writers on three nodes: {'; '.join(out.strip() for out, _ in said)}; rolled back "
		f"without an error: {sum(err.count('without an error') for _, err in said)}",
		flush=True,
	)
	equal([writer.returncode for writer in writers], [0] * 3)
	assert all(int(re.search(r"run again (\d+)", out)[1]) > 0 for out, _ in said), said
	for table in ("counted_rows", "counted_again"):
		equal(
			sql(f"SELECT counter, count FROM {table} ORDER BY counter"),
			sql("SELECT counter, COUNT(*) FROM stored_rows GROUP BY counter ORDER BY counter"),
		)
	sql("DROP TABLE stored_rows, counted_rows, counted_again")


@test
def results_continue_while_each_host_is_killed_in_turn():
	results_go_on()
	for one in (*webs, *gpus, *dbs):
		strike(f"{one.host.name} was killed", one.host.kill, one.start, one.wait)


@test
def results_continue_while_a_cable_is_pulled():
	for one in (webs[0], gpus[1], dbs[1]):
		strike(
			f"the cable of {one.host.name} was pulled", one.host.cut, one.host.heal, one.wait, CUT_S
		)


@test
def every_submission_is_stored_once_and_has_one_result():
	load.end()
	print(f"# {load.while_}: {load.said()}", flush=True)
	until(
		lambda: sql("SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')") == [["0"]],
		180,
	)
	equal(len({number for number, _ in load.taken.values()}), len(load.taken))
	equal(
		sql("SELECT id FROM submissions ORDER BY id"),
		[[str(number)] for number in sorted(number for number, _ in load.taken.values())],
	)
	equal(
		dict(sql("SELECT submission_id, GROUP_CONCAT(verdict) FROM jobs GROUP BY submission_id")),
		{str(number): verdict for number, verdict in load.taken.values()},
	)
	equal(
		sql(
			"SELECT j.id FROM jobs j JOIN stages t ON t.job_id = j.id GROUP BY j.id, t.name HAVING "
			"COUNT(*) > 1"
		),
		[],
	)
	equal(
		sql(
			"SELECT j.id FROM jobs j WHERE (SELECT COUNT(*) FROM stages t JOIN measurements m ON "
			"m.stage_id = t.id WHERE t.job_id = j.id) <> "
			"IF(j.verdict = 'passed', 3, 2)"
		),
		[],
	)
	equal(
		sql("SELECT SUM(jobs) FROM job_counts WHERE outcome IN ('passed', 'wrong answer')"),
		[[str(len(load.taken))]],
	)
	print(
		f"# {len(load.taken)} submissions; attempts: "
		+ ", ".join(
			f"{tries}: {jobs}"
			for tries, jobs in sql("SELECT attempt, COUNT(*) FROM jobs GROUP BY attempt")
		),
		flush=True,
	)
	check_database()


@test
def conflicts_between_nodes_were_retried():
	ask = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
	said = [
		subprocess.run(
			[
				*web.host.before(),
				sys.executable,
				"-c",
				ask,
				f"http://127.0.0.1:{web.web.port}/metrics",
			],
			capture_output=True,
			text=True,
			check=True,
		).stdout
		for web in webs
	]
	conflicts = [
		int(re.search(r"^podium_database_conflicts_total (\d+)$", text, re.MULTILINE)[1])
		for text in said
	]
	print(f"# transactions of podium-web that were run again: {conflicts}", flush=True)
	assert sum(conflicts) > 0, conflicts


@test
def a_node_without_contact_to_the_others_is_not_used():
	alone = dbs[2]
	ask = [*alone.host.before(), BUILD / "podium-admin", "user", "list"]
	hosts = f"{alone.host.address},{dbs[0].host.address}"
	alone.host.cut()
	until(lambda: alone.node.state() == "not ready")
	answer = subprocess.run(
		ask,
		env={**database.environment, "PODIUM_DATABASE_HOST": hosts},
		capture_output=True,
		text=True,
	)
	equal((answer.returncode, answer.stdout), (1, ""))
	contains(answer.stderr, f"None of the databases at {hosts} can be used")
	alone.host.heal()
	alone.wait()
	answer = subprocess.run(
		ask,
		env={**database.environment, "PODIUM_DATABASE_HOST": hosts},
		capture_output=True,
		text=True,
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	contains(answer.stdout, "submitter-0")


@test
def all_nodes_have_the_same_rows():
	for one in (*webs, *gpus):
		one.host.kill()  # a running worker would still write
	tables = [
		row[0]
		for row in sql(
			"SELECT table_name FROM information_schema.tables WHERE table_schema = 'podium' AND "
			"table_type = 'BASE TABLE'"
		)
	]
	assert len(tables) > 30, tables
	sums = [
		mariadb.checksums(lambda text, one=node: sql(text, one), tables) for node in database.nodes
	]
	equal(sums[1], sums[0])
	equal(sums[2], sums[0])


code = 1
try:
	admin("migrate")
	load_task()
	dbs = [Db(node) for node in database.nodes]
	front_host = network.Host("front", 41)
	webs = [Web(number) for number in (1, 2)]
	start_front(FRONT, [one.web for one in webs], front_host.before())
	gpus = [Gpu(number) for number in (1, 2, 3)]
	for one in gpus:
		one.wait()
	tokens = []
	for number in range(SUBMITTERS):
		browser = Client(FRONT)
		equal(
			browser.post(
				"/register", [("name", f"submitter-{number}"), ("password", PASSWORD)]
			).status,
			303,
		)
		tokens.append(make_token(browser, "load", "read", "submit"))
	load = Load(tokens)
	code = run()
finally:
	if load:
		load.over.set()
	end_web_hosts()
	close()
sys.exit(code)
