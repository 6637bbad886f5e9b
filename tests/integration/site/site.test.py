#!/usr/bin/env python3
"""The pages through nginx, without a browser: rights, refusals and their messages, and what each
user sees."""

import gzip
import json
import pathlib
import re
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page, fresh  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from small_task import ended, send_source, status_of, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(PODIUM_PYTHON="")  # an empty value selects the Python that has torch
anyone = Client(site.url)
ada, bob, admin = Client(site.url), Client(site.url), Client(site.url)
HOSTILE = "<script>alert(1)</script>\"'&"

REFERENCE = (
	"def generate_input(seed):\n"
	"    return seed\n"
	"\n"
	"def check_implementation(data, output):\n"
	"    return output == data, 'not the same'\n"
)
RIGHT = "def custom_kernel(data):\n    return data\n"
WRONG = "def custom_kernel(data):\n    return 'wrong'\n"
TASK = """
lang: py
description: "A *small* task. <b>bold</b> <script>alert(1)</script> [link](javascript:alert(1))"
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: utils.py, source: "@STOCK@"}
  - {name: eval.py, source: "@STOCK@"}
config: {main: eval.py}
tests: [{seed: 1}, {seed: 2}]
benchmarks: [{seed: 3}]
"""


def task_zip(task=TASK):
	return zip_of({"task.yml": task, "reference.py": REFERENCE})


def register(client, name):
	answer = client.post("/register", [("name", name), ("password", "a long password")])
	equal(answer.status, 303)


def submit(client, code, mode="ranked", board="small", name="kernel.py"):
	return send_source(client, code, board, mode, name, ("CPU",))


def links(client, submission):
	page = Page()
	page.feed(client.get(f"/submission/{submission}").text)
	return page.links


@test
def everyone_sees_the_list_of_leaderboards():
	answer = anyone.get("/")
	equal(answer.status, 200)
	contains(answer.text, "vectoradd_py")
	equal(answer.headers.get("Set-Cookie"), None)


@test
def every_answer_forbids_frames_foreign_scripts_and_guessed_types():
	for path, status in (("/", 200), ("/static/style.css", 200), ("/nowhere", 404)):
		answer = anyone.get(path)
		equal((path, answer.status), (path, status))
		for name, expected in (
			("X-Content-Type-Options", "nosniff"),
			("X-Frame-Options", "DENY"),
			("Referrer-Policy", "same-origin"),
			("Cross-Origin-Opener-Policy", "same-origin"),
		):
			equal((path, name, answer.headers[name]), (path, name, expected))
		policy = answer.headers["Content-Security-Policy"]
		for part in ("default-src 'none'", "frame-ancestors 'none'", "script-src 'self'"):
			contains(policy, part)
		lacks(policy, "unsafe")


@test
def scripts_and_sheets_are_sent_as_the_build_packed_them():
	for name in ("style.css", "editor.js"):
		packed = anyone.get(f"/static/{name}", **{"Accept-Encoding": "gzip"})
		equal((name, packed.headers["Content-Encoding"]), (name, "gzip"))
		equal(packed.headers["Content-Length"], str(len(packed.bytes)))  # not packed on the way
		equal(gzip.decompress(packed.bytes), anyone.get(f"/static/{name}").bytes)


@test
def a_visitor_chooses_a_theme_and_the_cache_never_mixes_themes():
	for _ in range(3):
		once = fresh("/queue")  # the cache keeps the answers for a second
		for cookies, theme in (
			({"Cookie": "theme=dark"}, "dark"),
			({}, None),
			({"Cookie": "theme=light"}, "light"),
			({"Cookie": "theme=pink"}, None),
			({"Cookie": "theme=dark"}, "dark"),
		):
			found = re.search(
				r'<html lang="en" data-theme="(\w+)"', anyone.get(once, **cookies).text
			)
			equal((cookies, found and found[1]), (cookies, theme))
	log = pathlib.Path(site.var) / "log/nginx-access.log"
	once = fresh("/archive")
	for cookie in ("theme=dark", "theme=dark", "theme=dark; other=1"):
		anyone.get(once, Cookie=cookie)
	equal(until(lambda: cache_of(log, "/archive", 3)), ["BYPASS", "HIT", "MISS"])


def cache_of(log, path, count):
	"""How the cache answered `count` requests for the path, sorted. None: not logged yet."""
	rows = [json.loads(line) for line in log.read_text().splitlines()]
	found = [row["cache"] for row in rows if row["path"] == path]
	return sorted(found[-count:]) if len(found) >= count else None


@test
def another_site_cannot_choose_the_theme():
	own, other = {"Origin": site.url}, {"Origin": "http://elsewhere.example"}
	visitor = Client(site.url)
	for headers in (other, {}):
		answer = visitor.post("/theme", [("theme", "dark")], csrf="", headers=headers)
		equal((answer.status, answer.headers["Set-Cookie"]), (403, None))
	answer = visitor.post("/theme", [("theme", "pink")], csrf="", headers=own)
	equal((answer.status, answer.headers["Set-Cookie"]), (400, None))
	contains(answer.words(), 'There is no theme "pink". Choose system, light or dark.')
	answer = visitor.post(
		"/theme", [("theme", "dark"), ("next", "/queue?a=b")], csrf="", headers=own
	)
	equal((answer.status, answer.location), (303, "/queue?a=b"))
	equal(visitor.cookies, {"theme": "dark"})
	answer = visitor.post(
		"/theme", [("theme", "dark"), ("next", "//x.example")], csrf="", headers=own
	)
	equal(answer.location, "/")
	visitor.post("/theme", [("theme", "system")], csrf="", headers=own)
	equal(visitor.cookies, {})
	visitor.get("/login")  # a page that was open before has no token, and its buttons still work
	equal(visitor.post("/theme", [("theme", "dark")], csrf="", headers=own).status, 303)
	equal(visitor.post("/theme", [("theme", "dark")], csrf="").status, 403)  # no Origin


@test
def the_health_check_asks_the_database():
	equal(anyone.get("/healthz").status, 200)


@test
def a_name_can_be_registered_once_in_any_case():
	register(ada, "ada")
	answer = bob.post("/register", [("name", "ADA"), ("password", "a long password")])
	equal(answer.status // 100, 4)
	contains(answer.words(), "is taken")
	contains(answer.text, 'value="ADA"')
	register(bob, "bob")


@test
def a_wrong_password_and_a_missing_user_get_the_same_answer():
	stranger = Client(site.url)
	wrong = stranger.post("/login", [("name", "ada"), ("password", "not the password")])
	missing = stranger.post("/login", [("name", "nobody-here"), ("password", "not the password")])
	equal(wrong.status, missing.status)
	equal(wrong.status // 100, 4)
	equal(wrong.words().replace("ada", ""), missing.words().replace("nobody-here", ""))


@test
def logging_in_changes_the_session_token_and_logging_out_ends_it():
	client = Client(site.url)
	client.get("/login")
	before = dict(client.cookies)
	equal(client.post("/login", [("name", "ada"), ("password", "a long password")]).status, 303)
	if client.cookies == before:
		raise AssertionError("the token was kept")
	kept = dict(client.cookies)
	equal(client.get("/account").status, 200)
	equal(client.post("/logout", form="/account").status, 303)
	client.cookies = kept
	equal(client.get("/account").status // 100, 3)


@test
def login_never_leads_to_another_site():
	for target in (
		"https://example.org/",
		"//example.org/",
		"/\\example.org",
		"javascript:alert(1)",
	):
		client = Client(site.url)
		answer = client.post(
			"/login", [("name", "ada"), ("password", "a long password"), ("next", target)]
		)
		equal(answer.status, 303)
		equal(answer.location.removeprefix(site.url), "/")


@test
def a_trailing_slash_redirects_to_the_page_and_never_to_another_host():
	answer = anyone.get("/queue/?x=1")
	equal((answer.status, answer.location), (301, "/queue?x=1"))
	for path in (
		"//elsewhere.example/",
		"//elsewhere.example/queue/",
		"///elsewhere.example/",
		"/%2f/elsewhere.example/",
		"/%5celsewhere.example/",
	):
		answer = anyone.get(path)
		assert answer.status == 404 or not answer.location.startswith(("//", "/\\", "http")), (
			path,
			answer.status,
			answer.location,
		)


@test
def a_form_without_its_token_or_from_another_origin_is_refused():
	answer = ada.post("/account/password", [("current", "a long password")], csrf="0" * 64)
	equal(answer.status, 403)
	token = ada.csrf("/account")
	first, last = ("0" if digit != "0" else "1" for digit in (token[0], token[-1]))
	for wrong in (token[:-1] + last, first + token[1:], token[:8], token + "0", ""):
		answer = ada.post("/logout", csrf=wrong)
		equal((wrong, answer.status), (wrong, 403))
	for origin in (
		"https://evil.example",
		f"{site.url}.evil.example",
		f"{site.url}1",
		site.url[:-1],
		f"http://evil.example/{site.url}",
		"null",
	):
		answer = ada.post("/logout", csrf=token, headers={"Origin": origin})
		equal((origin, answer.status), (origin, 403))
	equal(ada.get("/account").status, 200)


@test
def a_participant_is_refused_the_panel_and_a_visitor_is_asked_to_log_in():
	for path in (
		"/admin",
		"/admin/users",
		"/admin/audit",
		"/admin/leaderboards/new",
		"/admin/leaderboard/vectoradd_py/edit",
		"/admin/leaderboard/vectoradd_py/delete",
	):
		equal(ada.get(path).status, 403)
		answer = anyone.get(path)
		equal(answer.status, 303)
		contains(answer.location, "/login")
	equal(
		ada.post(
			"/admin/leaderboard/vectoradd_py/delete", [("name", "vectoradd_py")], form="/account"
		).status,
		403,
	)


@test
def the_first_admin_must_change_the_one_time_password():
	password = (site.var / "admin-password").read_text().strip()
	equal((site.var / "admin-password").stat().st_mode & 0o777, 0o600)
	equal(admin.post("/login", [("name", "admin"), ("password", password)]).status, 303)
	equal(admin.get("/admin").location.removeprefix(site.url), "/account")
	fields = [("current", password), ("password", "the admin's own"), ("again", "the admin's own")]
	equal(admin.post("/account/password", fields, form="/account").status, 303)
	if admin.get("/admin").status != 200:
		equal(
			admin.post("/login", [("name", "admin"), ("password", "the admin's own")]).status, 303
		)
	equal(admin.get("/admin").status, 200)


@test
def admins_see_what_workers_found_on_their_hosts():
	page = admin.get("/admin")
	path = re.search(r'href="(/admin/host/[^"]+)"', page.text)[1]
	page = admin.get(path)
	equal(page.status, 200)
	for part in ("found when the worker started", "kernel", "core dumps", "podium-admin doctor"):
		contains(page.words(), part)
	equal(admin.get("/admin/host/nobody%20here").status, 404)
	equal(ada.get(path).status, 403)


@test
def an_admin_creates_a_leaderboard_from_a_zip():
	answer = admin.post(
		"/admin/leaderboards/new",
		[
			("name", "small"),
			("deadline", ""),
			("gpu", "CPU"),
			("accepting", "1"),
			("sources", "deadline"),
			("visibility", "hidden"),
		],
		[("task", "task.zip", task_zip())],
	)
	if answer.status != 303:
		raise AssertionError(answer.words()[:1500])
	site.publish("small")
	page = anyone.get("/leaderboard/small/task").text
	contains(page, "<em>small</em>")
	lacks(page, "<script>alert")
	lacks(page, "javascript:")


@test
def a_zip_that_is_no_task_is_refused_at_its_field_and_nothing_is_stored():
	for content, sentence in (
		(b"not a zip at all", "zip"),
		(zip_of({"readme.txt": "x"}), "task.yml"),
		(task_zip(TASK.replace("lang: py", "lang: rust")), "lang"),
		(zip_of({"task.yml": TASK}), "reference.py"),
		(zip_of({"../task.yml": TASK}), ".."),
	):
		answer = admin.post(
			"/admin/leaderboards/new",
			[("name", "broken"), ("gpu", "CPU")],
			[("task", "task.zip", content)],
		)
		equal(answer.status // 100, 4)
		contains(answer.words(), sentence)
		contains(answer.text, 'value="broken"')
	equal(anyone.get("/leaderboard/broken").status, 404)
	equal(site.sql("SELECT COUNT(*) FROM leaderboards WHERE name = 'broken'"), [["0"]])


@test
def all_faults_of_a_task_are_shown_at_once_with_their_lines():
	wrong = (
		TASK.replace("source: reference.py", "source: refrence.py").replace("{seed: 3}", "{}")
		+ "seed: -1\nrank: geom\n"
	)
	page = admin.post(
		"/admin/leaderboards/new",
		[("name", "broken"), ("gpu", "CPU")],
		[("task", "task.zip", task_zip(wrong))],
	).words()
	for sentence in (
		'task.yml line 6, files: the source "refrence.py" is not in the upload',
		"line 11, benchmarks: case 1 has no arguments",
		"line 12, seed: expected a whole number",
		'line 13: the task has no key "rank"',
	):
		contains(page, sentence)
	many = TASK + "".join(f"key{i}: 1\n" for i in range(60))
	page = admin.post(
		"/admin/leaderboards/new",
		[("name", "broken"), ("gpu", "CPU")],
		[("task", "task.zip", task_zip(many))],
	).words()
	contains(page, "There may be more; these are the first 50.")


@test
def a_refused_leaderboard_shows_the_errors_of_all_fields():
	broken = TASK.replace("lang: py", "lang: rust")
	fields = [("gpu", "no GPU"), ("deadline", "2001-01-01T00:00"), ("quota_test", "some")]
	for name, status in (("no name", 422), ("small", 409)):
		page = admin.post(
			"/admin/leaderboards/new",
			[("name", name), *fields],
			[("task", "task.zip", task_zip(broken))],
		)
		equal(page.status, status)
		contains(page.text, "<title>Error: New leaderboard · Podium</title>")
		found = re.findall(r'<li><a href="#(\w+)">', page.text)
		equal(found, ["name", "task", "gpu", "deadline", "quota"])
		for field in found:
			contains(page.text, f' id="{field}"')
			equal(page.text.count(f' id="{field}-error"'), 1)
		for typed in (
			f'value="{name}"',
			'value="no GPU" checked',
			'name="quota_test" value="some"',
		):
			contains(page.text, typed)
	page = admin.post("/admin/leaderboard/small/edit", fields, form="/admin")
	equal(re.findall(r'<li><a href="#(\w+)">', page.text), ["quota", "gpu"])
	equal(site.sql("SELECT COUNT(*) FROM leaderboards WHERE name = 'no name'"), [["0"]])


@test
def a_submission_runs_to_the_ranking():
	submission = submit(ada, RIGHT)
	status = ended(anyone, submission)
	equal(
		(status["verdict"], status["jobs"][0]["state"], status["jobs"][0]["gpu"]),
		("passed", "done", "CPU"),
	)
	board = anyone.get("/leaderboard/small.json?gpu=CPU").json
	equal(
		[(row["rank"], row["user"], row["submission"]) for row in board["rows"]],
		[(1, "ada", submission)],
	)
	equal(board["rows"][0]["score_ns"], status["jobs"][0]["score_ns"])
	contains(
		ada.get("/leaderboard/small").words(), "ada"
	)  # signed in, because nginx caches anonymous answers for a second
	contains(anyone.get("/leaderboard/small.csv?gpu=CPU").text, "ada")


@test
def a_wrong_answer_says_which_case_and_is_not_ranked():
	status = ended(bob, submit(bob, WRONG))
	equal((status["verdict"], status["jobs"][0]["score_ns"]), ("wrong answer", None))
	contains(anyone.get(f"/submission/{status['id']}").words(), "not the same")
	equal(len(anyone.get("/leaderboard/small.json?gpu=CPU").json["rows"]), 1)


@test
def test_and_benchmark_modes_are_not_ranked():
	for mode in ("test", "benchmark"):
		status = ended(bob, submit(bob, RIGHT, mode))
		equal((status["verdict"], status["jobs"][0]["score_ns"]), ("passed", None))
	equal(len(anyone.get("/leaderboard/small.json?gpu=CPU").json["rows"]), 1)


@test
def an_equal_or_slower_run_of_the_same_user_does_not_add_a_row():
	ended(ada, submit(ada, RIGHT.replace("return data", "sum(range(100000)); return data")))
	equal(
		[row["user"] for row in anyone.get("/leaderboard/small.json?gpu=CPU").json["rows"]], ["ada"]
	)


@test
def an_invalid_file_is_refused_at_its_field_and_the_form_keeps_its_input():
	def refused(sentence, fields=(), files=(), mode="benchmark"):
		answer = ada.post("/leaderboard/small/submit", [("mode", mode), *fields], files)
		equal(answer.status // 100, 4)
		contains(answer.words(), sentence)
		return answer.text

	refused("empty", [("gpu", "CPU")], [("file", "a.py", b"")])
	refused(".py", [("gpu", "CPU")], [("file", "a.exe", RIGHT.encode())])
	refused("UTF-8", [("gpu", "CPU")], [("file", "a.py", b"x = '\xff'")])
	refused("1 MB", [("gpu", "CPU")], [("file", "a.py", b"#" * 1000001)])
	kept = refused("other", [("gpu", "CPU"), ("code", "#!POPCORN leaderboard other\n" + HOSTILE)])
	lacks(kept, "<script>alert")
	contains(kept, "&lt;script&gt;alert(1)")
	refused("H200", [("gpu", "CPU"), ("code", "#!POPCORN gpus H200\n" + RIGHT)])
	refused("H200", [("gpu", "H200"), ("code", RIGHT)])
	refused("mode", [("gpu", "CPU"), ("code", RIGHT)], mode="nonsense")


@test
def a_directive_in_the_file_chooses_the_gpu_if_the_form_does_not():
	answer = ada.post(
		"/leaderboard/small/submit", [("mode", "test"), ("code", "#!POPCORN gpus CPU\n" + RIGHT)]
	)
	equal(answer.status, 303)
	ended(ada, int(answer.location.rsplit("/", 1)[1]))


@test
def a_directive_in_the_file_chooses_the_leaderboard_if_the_form_does_not():
	named = "#!POPCORN leaderboard small\n" + RIGHT
	send = lambda *fields: ada.post("/submit", [("mode", "test"), *fields])
	answer = send(("code", named))
	equal(answer.status, 303)
	submission = int(answer.location.rsplit("/", 1)[1])
	equal(ended(ada, submission)["verdict"], "passed")
	contains(ada.get(f"/submission/{submission}").text, 'href="/leaderboard/small"')
	equal(send(("code", RIGHT), ("leaderboard", "small")).status, 303)
	for fields, sentence in (
		([("code", RIGHT)], "begin the file with a line that names it"),
		(
			[("code", "#!POPCORN leaderboard nowhere\n" + RIGHT)],
			'There is no leaderboard named "nowhere"',
		),
		([("code", named), ("leaderboard", "vectoradd_py")], "says that it is for the leaderboard"),
		([("code", named), ("leaderboard", "none such")], "There is no leaderboard named"),
		([("code", "#!POPCORN leaderbord small\n" + RIGHT)], "leaderbord"),
		([("code", "#!POPCORN leaderboard small\n#!POPCORN gpus H9000\n" + RIGHT)], "H9000"),
	):
		answer = send(*fields)
		equal(answer.status, 422)
		contains(answer.words(), sentence)
		contains(answer.text, "def custom_kernel")  # the form keeps its input
	equal(anyone.get("/submit").status, 200)
	equal(anyone.post("/submit", [("mode", "test"), ("code", named)], form="/login").status, 303)


@test
def hostile_names_and_output_are_shown_as_text():
	code = f"import sys\nprint({HOSTILE!r})\nraise Exception({HOSTILE!r})\n"
	status = ended(ada, submit(ada, code, "test", name=HOSTILE + ".py"))
	page = ada.get(f"/submission/{status['id']}").text
	lacks(page, "<script>alert")
	contains(page, "&lt;script&gt;alert(1)")


@test
def the_author_sees_the_output_of_a_running_submission():
	"""The output goes from the program in the sandbox through podium-run and the worker to the
	page."""
	hostile = (
		"import sys, time\n"
		"print('\\x1b[31mbegun\\x1b[0m ' + %r, flush=True)\n"
		"print('oh', file=sys.stderr, flush=True)\n"
	) % HOSTILE
	submission = submit(
		ada, hostile + "def custom_kernel(data):\n    time.sleep(100)\n", mode="test"
	)
	printed = {"stdout": f"begun {HOSTILE}\n", "stderr": "oh\n"}
	until(
		lambda: status_of(ada, submission)["jobs"][0]["output"] == printed,
		explain=lambda: status_of(ada, submission),
	)
	page = ada.get(f"/submission/{submission}")
	contains(page.words(), f"Output so far begun {HOSTILE}")
	lacks(page.text, HOSTILE)
	equal(anyone.get(f"/submission/{submission}/status").json["jobs"][0]["output"], None)
	lacks(anyone.get(f"/submission/{submission}").words(), "begun")
	equal(ada.post(f"/submission/{submission}/cancel").status, 303)
	equal(ended(ada, submission)["verdict"], "cancelled")
	lacks(ada.get(f"/submission/{submission}").words(), "Output so far")


@test
def a_source_is_private_until_the_deadline_and_then_public():
	submission = submit(ada, "# my secret trick\n" + RIGHT, "test")
	ended(ada, submission)
	for client, status in ((ada, 200), (admin, 200), (bob, 403), (anyone, 403)):
		answer = client.get(f"/submission/{submission}/source")
		equal(answer.status if answer.status != 303 else 403, status)
		page = client.get(f"/submission/{submission}").text
		(contains if status == 200 else lacks)(page, "my secret trick")
	contains(ada.get(f"/submission/{submission}/source").headers["Content-Type"], "text/plain")
	site.sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP() - INTERVAL 1 MINUTE WHERE name = "
		"'small'"
	)
	until(lambda: "my secret trick" in anyone.get(f"/submission/{submission}").text, 10)
	answer = ada.post(
		"/leaderboard/small/submit",
		[("mode", "test"), ("gpu", "CPU"), ("code", RIGHT)],
		form="/account",
	)
	equal(answer.status // 100, 4)
	contains(answer.words(), "deadline")
	site.sql("UPDATE leaderboards SET deadline = NULL, accepting = 0 WHERE name = 'small'")
	answer = ada.post(
		"/leaderboard/small/submit",
		[("mode", "test"), ("gpu", "CPU"), ("code", RIGHT)],
		form="/account",
	)
	equal(answer.status // 100, 4)
	contains(answer.words(), "closed")
	site.sql("UPDATE leaderboards SET accepting = 1 WHERE name = 'small'")


@test
def a_profile_is_private_until_the_deadline_and_not_ranked():
	submission = submit(bob, RIGHT, "profile")
	equal(ended(bob, submission)["verdict"], "passed")
	(stage,) = site.sql(
		"SELECT t.id FROM stages t JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = "
		f"{submission} AND t.name = 'profile'"
	)
	packed = gzip.compress(b"<script>alert(1)</script>").hex()
	site.sql(f"""UPDATE measurements SET report = '<b>hot</b> loop in my kernel'
			WHERE stage_id = {stage[0]};
		INSERT INTO artifacts (stage_id, name, size) VALUES ({stage[0]}, 'profile-1.ncu-rep', 25);
		INSERT INTO artifact_parts VALUES (LAST_INSERT_ID(), 0, UNHEX('{packed[:20]}')),
			(LAST_INSERT_ID(), 1, UNHEX('{packed[20:]}'));""")
	(file,) = [link for link in links(bob, submission) if "/artifact/" in link]
	for client, status in ((bob, 200), (admin, 200), (ada, 403), (anyone, 403)):
		answer, page = client.get(file), client.get(f"/submission/{submission}").text
		equal(answer.status, status)
		(contains if status == 200 else lacks)(page, "&lt;b&gt;hot&lt;/b&gt; loop in my kernel")
		contains(
			page,
			"There is no report of ncu: ncu profiles NVIDIA GPUs, and the submission ran on "
			"the CPU.",
		)
		equal("/artifact/" in page, status == 200)
	answer = bob.get(file)
	equal(answer.bytes, b"<script>alert(1)</script>")
	equal(answer.headers["Content-Type"], "application/octet-stream")
	contains(
		answer.headers["Content-Disposition"],
		f'attachment; filename="submission-{submission}-CPU-profile-1.ncu-rep"',
	)
	equal(answer.headers["X-Content-Type-Options"], "nosniff")
	for wrong in (
		file.replace(f"/{submission}/", "/1/"),
		file + "0",
		f"/submission/{submission}/artifact/x",
	):
		assert bob.get(wrong).status in (403, 404), wrong
	site.sql(f"UPDATE artifacts SET size = 24 WHERE stage_id = {stage[0]}")
	equal(bob.get(file).status, 500)  # podium-web sends no content whose size is wrong
	equal(
		[row["user"] for row in anyone.get("/leaderboard/small.json?gpu=CPU").json["rows"]], ["ada"]
	)


@test
def the_first_mismatch_the_rates_and_the_kernels_are_shown():
	submission = submit(bob, WRONG)
	ended(bob, submission)
	job = f"(SELECT id FROM jobs WHERE submission_id = {submission})"
	long = (
		"5 of 9 elements are wrong, the first at [3, 0]: expected 1.5, got <nan> (off by "
		"1, tolerance 0.25)\\n[3, 1]: more"
	)
	site.sql(f"""UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.message = '{long}'
			WHERE t.job_id = {job};
		UPDATE stages
			SET kernels = '[{{"name": "<i>k</i>", "registers": 77, "shared_bytes": 1024}}]'
			WHERE job_id = {job} AND name = 'compile';
		UPDATE stages
			SET conditions = '{{"before": {{"sm_clock_mhz": 1980, "slowed_by": ["power cap"]}}}}'
			WHERE job_id = {job} AND name = 'test'""")
	words = bob.get(f"/submission/{submission}").words()
	contains(
		words,
		"wrong answer 5 of 9 elements are wrong first at [3, 0] expected 1.5 got <nan> off by 1 "
		"tolerance 0.25 Whole message",
	)
	contains(words, "<i>k</i> 77 1024 – – –")
	contains(words, "before 1980 MHz power cap")
	lacks(anyone.get(f"/submission/{submission}").words(), "<i>k</i>")
	passed = submit(ada, RIGHT)
	ended(ada, passed)
	site.sql(
		"CREATE TABLE kept AS SELECT v.* FROM task_versions v JOIN submissions s ON "
		f"s.task_version_id = v.id WHERE s.id = {passed}"
	)
	site.sql(f"""UPDATE task_versions v JOIN submissions s ON s.task_version_id = v.id
		SET definition = JSON_SET(definition, '$.bytes', '10000 * seed', '$.flops', 'nothing')
			WHERE s.id = {passed};
		UPDATE measurements m JOIN stages t ON t.id = m.stage_id JOIN jobs j ON j.id = t.job_id
			SET mean_ns = 10000, floor_ns = NULL, err_ns = NULL, low_ns = NULL, high_ns = NULL
			WHERE j.submission_id = {passed}""")
	contains(ada.get(f"/submission/{passed}").words(), "seed: 3 10.00 µs ± unknown 3.00 GB/s")
	contains(
		ada.get(f"/submission/{passed}").words(),
		"Rates count the work that the task states (bytes = 10000 * seed, operations = nothing)",
	)
	contains(
		ada.get(f"/submission/{passed}").words(),
		"The peak rates of a CPU are not known here, so there is no percentage.",
	)
	site.sql(f"UPDATE jobs SET gpu = 'H200' WHERE submission_id = {passed}")
	contains(ada.get(f"/submission/{passed}").words(), "3.00 GB/s 0.062 % of peak")
	site.sql(f"""UPDATE jobs SET gpu = 'CPU' WHERE submission_id = {passed};
		UPDATE task_versions v JOIN kept k ON k.id = v.id SET v.definition = k.definition;
		DROP TABLE kept""")


@test
def the_secret_seed_appears_nowhere_and_every_other_file_is_shown():
	site.sql("UPDATE leaderboards SET secret_seed = 1987654321 WHERE name = 'small'")
	submission = submit(ada, "import os\nprint(os.environ)\n" + RIGHT)
	ended(ada, submission)
	pages = [
		"/leaderboard/small",
		"/leaderboard/small/task",
		"/leaderboard/small.json?gpu=CPU",
		f"/submission/{submission}/status",
	]
	for path in pages:
		lacks(anyone.get(path).text, "1987654321")
	files = anyone.get("/leaderboard/small/task").text
	for name in ("reference.py", "eval.py", "utils.py", "task.yml"):
		contains(files, name)
		answer = anyone.get(f"/leaderboard/small/raw/{name}")
		equal(answer.status, 200)
		contains(answer.headers["Content-Type"], "text/plain")
	equal(anyone.get("/leaderboard/small/raw/reference.py").text, REFERENCE)
	equal(anyone.get("/leaderboard/small/raw/../../../etc/passwd").status // 100, 4)


@test
def an_unknown_address_answers_404_with_a_page():
	for path in (
		"/nothing",
		"/leaderboard/none",
		"/leaderboard/none/submit",
		"/leaderboard/none.json",
		"/submission/999999",
		"/submission/abc",
		"/user/nobody-here",
		"/leaderboard/small/raw/none.py",
		"/language/cobol",
		"/%00",
		"/leaderboard/%2e%2e",
	):
		answer = ada.get(path)
		equal((path, answer.status), (path, 404 if path != "/%00" else 400))


@test
def other_methods_and_damaged_forms_are_refused():
	equal(anyone.request("PUT", "/").status, 405)
	head = anyone.request("HEAD", "/")
	equal((head.status, head.bytes), (200, b""))
	equal(
		ada.request(
			"POST",
			"/leaderboard/small/submit",
			b"--x\r\nnonsense",
			{"Content-Type": "multipart/form-data; boundary=x"},
		).status
		// 100,
		4,
	)
	equal(
		ada.request(
			"POST", "/leaderboard/small/submit", b"a=b", {"Content-Type": "application/json"}
		).status
		// 100,
		4,
	)


@test
def every_page_is_well_formed_and_every_link_works():
	for client in (anyone, ada, admin):
		seen, waiting = set(), ["/"]
		while waiting and len(seen) < 150:
			path = waiting.pop(0)
			if path in seen:
				continue
			seen.add(path)
			answer = client.get(path)
			equal((path, answer.status), (path, 200))
			if not answer.headers["Content-Type"].startswith("text/html"):
				continue
			page = Page()
			page.feed(answer.text)
			equal((path, page.faults, page.stack), (path, [], []))
			equal((path, len(page.ids)), (path, len(set(page.ids))))
			for link in page.links:
				link = link.split("#")[0]
				if link.startswith("/") and not link.startswith("//") and link != "/logout":
					waiting.append(link)
				elif link and not link.startswith(("https://", "http://", "?", "/")):
					raise AssertionError(f"{path} links to {link}")


@test
def a_creator_edits_only_own_leaderboards():
	site.sql("UPDATE users SET role = 'creator' WHERE name = 'bob'")
	equal(bob.get("/admin/leaderboard/small/edit").status, 403)
	answer = bob.post(
		"/admin/leaderboards/new",
		[("name", "bobs"), ("gpu", "CPU"), ("accepting", "1"), ("visibility", "hidden")],
		[("task", "task.zip", task_zip())],
	)
	equal(answer.status, 303)
	equal(bob.get("/admin/leaderboard/bobs/edit").status, 200)
	equal(bob.get("/admin/users").status, 403)


@test
def a_changed_task_becomes_a_new_version_and_an_unchanged_one_does_not():
	def edit(task):
		files = [("task", "task.zip", task_zip(task))] if task else []
		answer = bob.post(
			"/admin/leaderboard/bobs/edit",
			[("gpu", "CPU"), ("accepting", "1"), ("deadline", "2099-01-01T12:00")],
			files,
		)
		equal(answer.status, 303)
		return int(
			site.sql(
				"SELECT MAX(number) FROM task_versions v JOIN leaderboards l ON l.id = "
				"v.leaderboard_id WHERE l.name = 'bobs'"
			)[0][0]
		)

	equal(edit(None), 1)
	equal(edit(TASK), 1)
	equal(edit(TASK.replace("{seed: 3}", "{seed: 4}")), 2)
	site.publish("bobs")
	equal(
		site.sql("SELECT deadline FROM leaderboards WHERE name = 'bobs'"),
		[["2099-01-01 12:00:00.000"]],
	)


@test
def deleting_a_leaderboard_needs_its_name_and_deletes_everything_of_it():
	ended(bob, submit(bob, RIGHT, board="bobs"))
	before = site.sql("SELECT COUNT(*) FROM blobs")
	equal(bob.post("/admin/leaderboard/bobs/delete", [("name", "bob")]).status // 100, 4)
	equal(anyone.get("/leaderboard/bobs").status, 200)
	equal(bob.post("/admin/leaderboard/bobs/delete", [("name", "bobs")]).status, 303)
	equal(bob.get("/leaderboard/bobs").status, 404)
	for table in (
		"submissions s JOIN leaderboards l ON 0",
		"task_versions v LEFT JOIN leaderboards l ON l.id = v.leaderboard_id WHERE l.id IS NULL",
		"jobs j LEFT JOIN submissions s ON s.id = j.submission_id WHERE s.id IS NULL",
		"blobs b WHERE NOT EXISTS (SELECT 1 FROM task_files t WHERE t.sha256 = b.sha256) AND NOT "
		"EXISTS (SELECT 1 FROM submissions s WHERE s.sha256 = b.sha256)",
	):
		equal((table, site.sql(f"SELECT COUNT(*) FROM {table}")), (table, [["0"]]))
	if int(site.sql("SELECT COUNT(*) FROM blobs")[0][0]) >= int(before[0][0]):
		raise AssertionError("no blob was removed")
	contains(
		json.dumps(
			site.sql("SELECT actor, action, subject FROM audit_log ORDER BY id DESC LIMIT 1")
		),
		"bobs",
	)


@test
def an_admin_sees_and_releases_a_gpu_in_quarantine():
	site.sql(
		"INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, "
		"compute_capability, seen_at, quarantined_at, quarantine_reason) "
		"SELECT id, 'GPU-broken', 'H200', 'NVIDIA H200', 1, '580', '9.0', UTC_TIMESTAMP(3), "
		"UTC_TIMESTAMP(3), 'It fell off the <b>bus</b>.' FROM workers LIMIT 1"
	)
	contains(admin.get("/queue").words(), "H200 quarantined NVIDIA H200")
	equal(
		[
			device["quarantined"]
			for device in admin.get("/queue/status").json["devices"]
			if device["gpu"] == "H200"
		],
		[True],
	)
	for client, may_release in ((admin, True), (bob, False)):
		words = client.get("/admin").words()
		equal("It fell off the <b>bus</b>." in words, may_release)
		equal('value="GPU-broken"' in client.get("/admin").text, may_release)
	equal(bob.post("/admin/gpus/release", [("uuid", "GPU-broken")], form="/account").status, 403)
	equal(admin.post("/admin/gpus/release", [("uuid", "GPU-\u00fcber")], form="/admin").status, 404)
	answer = admin.post("/admin/gpus/release", [("uuid", "GPU-broken")], form="/admin")
	equal((answer.status, answer.location), (303, "/admin/workers"))
	contains(admin.get("/admin/workers").words(), "GPU-broken was released.")
	page = admin.get("/admin").words()
	lacks(page, "It fell off")
	contains(page, "Released device")
	equal(admin.post("/admin/gpus/release", [("uuid", "GPU-broken")], form="/admin").status, 404)
	site.sql("DELETE FROM gpus WHERE uuid = 'GPU-broken'")


status = 1


@test
def nginx_counts_the_network_of_an_ipv6_client():
	"""Asks nginx, with the settings of an installation, for the key of its limits."""
	packaged = ROOT / "packaging" / "nginx" / "http.conf"
	for zone in ("limit_req_zone", "limit_conn_zone"):
		contains(packaged.read_text(), f"{zone} $podium_counted_address zone=")
	folder = pathlib.Path(site.var) / "limits"
	folder.mkdir()
	door = folder / "door"
	(folder / "nginx.conf").write_text(f"""
		daemon off; pid {folder}/pid;
		events {{}}
		http {{
			include {packaged};
			access_log off;
			server {{
				listen unix:{door};
				set_real_ip_from unix:;
				real_ip_header X-Client;
				return 200 $podium_counted_address;
			}}
		}}
	""")
	nginx = subprocess.Popen(
		["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "log"]
	)

	def key(client):
		with socket.socket(socket.AF_UNIX) as connection:
			connection.connect(str(door))
			connection.sendall(f"GET / HTTP/1.0\r\nX-Client: {client}\r\n\r\n".encode())
			answer = b"".join(iter(lambda: connection.recv(65536), b""))
		return answer.split(b"\r\n\r\n", 1)[1]

	try:
		until(door.exists, explain=lambda: (folder / "log").read_text())
		network = socket.inet_pton(socket.AF_INET6, "2001:db8:a:a0d::")[:8]  # has a newline
		for client, expected in (
			("2001:db8:a:a0d::1", network),
			("2001:db8:a:a0d:ffff:1:2:a0a", network),
			("2001:db8:a:a0e::1", network[:7] + b"\x0e"),
			("203.0.113.7", socket.inet_aton("203.0.113.7")),
			("::ffff:203.0.113.7", b"\0" * 10 + b"\xff\xff" + socket.inet_aton("203.0.113.7")),
			("127.0.0.1", b""),
			("::1", b""),
		):
			equal((client, key(client)), (client, expected))
	finally:
		nginx.terminate()
		nginx.wait()


try:
	status = run()
finally:
	site.remove()
sys.exit(status)
