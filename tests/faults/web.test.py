#!/usr/bin/env python3
"""Kills podium-web and nginx with kill -9, during submissions and in every stage of a job. An
accepted submission must be complete, any other must leave nothing, and pages must work again after
the restart. FAULT_ROUNDS is the number of times that each kill is tried."""

import http.client
import os
import pathlib
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from site_of import Site  # noqa: E402
from stages import (  # noqa: E402
	STAGES,
	Locker,
	check_database,
	check_job,
	is_over,
	somebody_waits,
	worker,
)
from client import Client  # noqa: E402
from tap import equal, run, test  # noqa: E402
from workers import RIGHT, admin, close, job, load_task, sql, until  # noqa: E402

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "2"))
PASSWORD = "a password that is long enough"
one, site, author = None, None, None


def restart_web():
	site.start_web()


def restart_nginx():
	site.start_nginx()


PROGRAMS = {
	"podium-web": (lambda: site.kill_web(), restart_web),
	"nginx": (lambda: site.kill_nginx(), restart_nginx),
}


def stored():
	return sql("SELECT (SELECT COUNT(*) FROM submissions), (SELECT COUNT(*) FROM jobs)")[0]


def post(source):
	return author.post(
		"/leaderboard/small/submit", [("mode", "ranked"), ("gpu", "CPU"), ("code", source)]
	)


def comes_back():
	until(lambda: site.answers("/healthz"))


@test
def a_user_registers_and_submits():
	global site, author, one
	site, one = Site(), worker()
	author = Client(site.url)
	answer = author.post(
		"/register", [("name", "author"), ("password", PASSWORD), ("password2", PASSWORD)]
	)
	assert answer.status in (302, 303), answer.words()[:500]
	equal(post(RIGHT).status, 303)
	until(lambda: sql("SELECT 1 FROM jobs WHERE state = 'done'"))


def submitting(name, kill, restart):
	def cell():
		for number in range(ROUNDS):
			before, source = stored(), RIGHT + f"# {name} {number}\n"
			token = author.csrf("/account")  # before the lock, because the page reads locked tables
			with Locker("LOCK TABLES blobs WRITE, submissions WRITE, jobs WRITE"):
				answers = []
				thread = threading.Thread(target=lambda: answers.append(attempt(source, token)))
				thread.start()
				until(somebody_waits)
				kill()
				thread.join()
				assert answers[0] in (None, 502, 503, 504), answers
			restart()
			comes_back()
			# podium-web's death ended its connection, so the database rolled the transaction back.
			if name == "podium-web":
				equal(stored(), before)
			whole = stored()
			# If nginx was killed, podium-web may have stored the submission, but only as a whole.
			equal(whole[0], whole[1])
			again = post(source)
			equal(again.status, 303)
			number = int(again.location.rsplit("/", 1)[1])
			status = lambda: author.get(f"/submission/{number}/status").json
			until(lambda: status()["state"] == "done")
			equal([each["verdict"] for each in status()["jobs"]], ["passed"])

	cell.__name__ = f"{name} is killed while it stores a submission: all is stored or nothing"
	test(cell)


def attempt(source, token):
	"""Submits the source. Returns the status of the answer, or None without an answer."""
	try:
		return author.post(
			"/leaderboard/small/submit",
			[("mode", "ranked"), ("gpu", "CPU"), ("code", source)],
			csrf=token,
		).status
	except (OSError, http.client.HTTPException):
		return None


def uploading(name, kill, restart):
	def cell():
		for _ in range(ROUNDS):
			before = stored()
			with socket.create_connection(("127.0.0.1", site.port)) as half:
				half.sendall(
					b"POST /leaderboard/small/submit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
					b"multipart/form-data; boundary=x\r\n"
					b"Content-Length: 5000\r\n\r\n--x\r\nContent-Disposition: form-data; "
					b'name="code"\r\n\r\n'
				)
				kill()
			restart()
			comes_back()
			equal(stored(), before)

	cell.__name__ = f"{name} is killed during an upload: nothing is stored"
	test(cell)


def running(name, kill, restart):
	def cell():
		for stage in STAGES:
			with stage(one) as held:
				kill()
				held.let_go()
			restart()
			comes_back()
			until(lambda: is_over(held.number))
			check_job(held.number)
			equal(job(held.number, "attempt"), "1")
			submission = job(held.number, "submission_id")
			until(
				lambda: site.visitor.get(f"/submission/{submission}/status").json["state"] == "done"
			)

	cell.__name__ = f"{name} is killed in every stage of a job: the job and its page survive"
	test(cell)


for title, (how, again) in PROGRAMS.items():
	submitting(title, how, again)
	uploading(title, how, again)
	running(title, how, again)


@test
def the_stored_data_is_consistent():
	check_database()


code = 1
try:
	admin("migrate")
	load_task()
	code = run()
finally:
	if site:
		site.end()
	close()
sys.exit(code)
