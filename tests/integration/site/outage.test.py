#!/usr/bin/env python3
"""The pages while MariaDB is frozen, killed and restarted. While the database is away, each page
answers 503 with a message, and no request is stored in part. Afterwards everything works again
without help. The test prints how long each answer and each recovery took."""

import concurrent.futures
import http.client
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import client as library  # noqa: E402
from client import Client  # noqa: E402
from instance import ROOT, free_port  # noqa: E402
from mariadb import MariaDB  # noqa: E402
from tap import contains, equal, run, test, until  # noqa: E402

# If podium-web did not time out, a page on a dead connection would take a minute.
HANGS_AFTER_S = 25
BUILD = ROOT / os.environ.get("B", "build/release")
database = MariaDB()
sql = database.sql
port = free_port()
url = f"http://127.0.0.1:{port}"
var = database.folder / "pages"
processes = []
PASSWORD = "a long password"
CODE = "def custom_kernel(data):\n    return data\n"
PAGES = [
	"/",
	"/leaderboard/small",
	"/leaderboard/small/submit",
	"/queue",
	"/queue/status",
	"/submission/1",
	"/submission/1/status",
	"/user/ada",
	"/leaderboard/small.json?gpu=CPU",
	"/healthz",
]


def start(*command, **environment):
	log = open(var / f"{len(processes)}.log", "wb")
	processes.append(
		subprocess.Popen(
			command,
			env={**database.search, **database.environment, **environment},
			stdin=subprocess.DEVNULL,
			stdout=log,
			stderr=log,
		)
	)


def start_pages():
	for name in ("run", "log", "tmp"):
		(var / name).mkdir(parents=True)
	os.chmod(database.folder, 0o755)
	start(
		BUILD / "podium-web",
		PODIUM_FASTCGI_SOCKET=str(var / "run" / "web.sock"),
		PODIUM_PUBLIC_URL=url,
	)
	text = (ROOT / "nginx.conf").read_text()
	for mark, value in (
		("@PORT@", str(port)),
		("@VAR@", str(var)),
		("@ROOT@", str(ROOT)),
		("@STATIC@", f"{BUILD}/static/"),
		("@USER@", "user root;" if os.getuid() == 0 else ""),
	):
		text = text.replace(mark, value)
	(var / "nginx.conf").write_text(text)
	start(
		"nginx",
		"-p",
		str(database.folder),
		"-c",
		str(var / "nginx.conf"),
		"-e",
		str(database.folder / "log" / "nginx.log"),
		"-g",
		"daemon off;",
	)


def make_task():
	folder = database.folder / "tasks" / "small"
	folder.mkdir(parents=True)
	(folder / "eval.py").write_text("pass\n")
	(folder / "task.yml").write_text(
		"lang: py\ndescription: Small.\nfiles:\n  - {name: submission.py, source: "
		'"@SUBMISSION@"}\n'
		"  - {name: eval.py, source: eval.py}\nconfig: {main: eval.py}\ntests: [{seed: "
		"1}]\nbenchmarks: [{seed: 1}]\ngpus: [CPU]\n"
	)
	for arguments in (["migrate"], ["task", "load", "--unchecked", str(folder)]):
		subprocess.run(
			[BUILD / "podium-admin", *arguments],
			env={**database.search, **database.environment},
			check=True,
			stdout=subprocess.DEVNULL,
		)


def works():
	try:
		return Client(url).get("/healthz").status == 200
	except OSError:
		return False


def freeze():
	"""Freezes the database. Waits until all its threads have stopped, because a running thread may
	answer one more query after the signal."""
	database.process.send_signal(signal.SIGSTOP)
	threads = pathlib.Path(f"/proc/{database.process.pid}/task")
	until(
		lambda: all("State:\tT" in (thread / "status").read_text() for thread in threads.iterdir())
	)


class Impatient(http.client.HTTPConnection):
	def __init__(self, host, port, timeout):
		super().__init__(host, port, timeout=HANGS_AFTER_S)


library.http.client.HTTPConnection = Impatient
ada = Client(url)


def submit(token):
	return ada.post(
		"/leaderboard/small/submit", [("mode", "test"), ("code", CODE), ("gpu", "CPU")], csrf=token
	)


def refused(answer, sentence="The database does not answer."):
	equal(answer.status, 503)
	contains(answer.text, sentence)
	assert int(answer.headers["Retry-After"]) > 0
	return answer


def timed(call, *arguments):
	began = time.time()
	answer = call(*arguments)
	return answer, time.time() - began


def all_pages_answer_503(what):
	"""Requests all pages at the same time, each three times, so that every thread of podium-web
	meets the database in this state. `what` describes the state."""
	jobs = [
		(ada.get, f"{path}{'&' if '?' in path else '?'}n={n}") for path in PAGES for n in range(3)
	] + [(submit, token)] * 3
	with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
		answers = list(pool.map(lambda job: timed(*job), jobs))
	for answer, _ in answers:
		refused(answer)
	refused(submit(token), "Podium stored either all of your request or nothing")
	for call in (
		ada.get("/api/v1/leaderboards/small"),
		ada.get("/api/v1/me", Authorization="Bearer podium_x"),
	):
		equal(
			(refused(call).headers["Content-Type"], call.json["code"]),
			("application/problem+json", "unavailable"),
		)
	seconds = sorted(duration for _, duration in answers)
	print(
		f"# {what}: the median page took {seconds[len(seconds) // 2]:.2f} s, the slowest of "
		f"{len(seconds)} {seconds[-1]:.2f} s"
	)
	answer, duration = timed(ada.get, "/?afterwards")
	refused(answer)
	print(f"# {what}: one after that took {duration:.3f} s")


def all_is_whole():
	equal(
		sql(
			"SELECT COUNT(*) FROM submissions s LEFT JOIN jobs j ON j.submission_id = s.id "
			"WHERE j.id "
			"IS NULL"
		),
		[["0"]],
	)
	return int(sql("SELECT COUNT(*) FROM submissions")[0][0])


def everything_works_again():
	until(works)
	for path in PAGES:
		until(lambda: ada.get(f"{path}{'&' if '?' in path else '?'}again").status == 200)
	before = all_is_whole()
	equal(submit(token).status, 303)
	equal(all_is_whole(), before + 1)


@test
def everything_works_while_the_database_answers():
	global token
	make_task()
	start_pages()
	until(works)
	ada.register("ada")
	token = ada.csrf("/account")
	equal(submit(token).status, 303)
	for path in PAGES:
		equal((path, ada.get(path).status), (path, 200))


@test
def pages_answer_503_while_the_database_is_frozen_and_recover():
	freeze()
	try:
		all_pages_answer_503("frozen")
	finally:
		database.process.send_signal(signal.SIGCONT)
	everything_works_again()


@test
def a_page_in_progress_does_not_wait_for_a_frozen_database():
	sql("CREATE TABLE held AS SELECT 1 AS x")
	locker = subprocess.Popen(
		["mariadb", "--no-defaults", "-S", database.socket, "-N", "-B", "-n", "podium"],
		stdin=subprocess.PIPE,
		stdout=subprocess.PIPE,
		text=True,
	)
	locker.stdin.write("LOCK TABLES users WRITE, sessions WRITE; SELECT 'locked';\n")
	locker.stdin.flush()
	equal(locker.stdout.readline(), "locked\n")
	with concurrent.futures.ThreadPoolExecutor(1) as pool:
		waiting = pool.submit(ada.get, "/account")
		time.sleep(2)  # longer than a ping may take: a slow statement is no outage
		equal(waiting.done(), False)
		freeze()
		try:
			refused(waiting.result())
		finally:
			database.process.send_signal(signal.SIGCONT)
	locker.stdin.close()
	locker.wait(30)
	everything_works_again()


@test
def pages_answer_503_while_the_database_is_down_and_recover():
	database.process.kill()
	database.process.wait()
	all_pages_answer_503("killed")
	database.start()
	everything_works_again()


@test
def pages_answer_503_if_the_restarted_database_freezes_immediately():
	database.process.kill()
	database.process.wait()
	database.start()
	freeze()
	try:
		all_pages_answer_503("frozen after a restart")
	finally:
		database.process.send_signal(signal.SIGCONT)
	everything_works_again()


@test
def podium_web_can_stop_while_the_database_is_frozen():
	freeze()
	try:
		processes[0].terminate()
		equal(processes[0].wait(HANGS_AFTER_S), 0)
	finally:
		database.process.send_signal(signal.SIGCONT)


code = 1
try:
	code = run()
finally:
	for process in processes:
		process.terminate()
		process.wait(30)
	text = b"".join(path.read_bytes() for path in var.glob("*.log"))
	if b"Sanitizer" in text:
		code = 1
		print("# " + text.decode(errors="replace").replace("\n", "\n# "))
	if database.process.poll() is None:
		database.process.send_signal(signal.SIGCONT)
	database.remove()
sys.exit(code)
