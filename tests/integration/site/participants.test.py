#!/usr/bin/env python3
"""What participants do with their submissions: compare, withdraw, resubmit, annotate and search
them. Through nginx and a real worker, whose podium-run is a stand-in."""

import html
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page, whole  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
import mariadb  # noqa: E402
from pretend import PretendedRun  # noqa: E402
from small_task import (  # noqa: E402
	TEMPLATE_TASK,
	isolated,
	load_task,
	new_source,
	register,
	send_source,
	status_of,
)
from tap import contains, equal, lacks, run, test, until  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="podium-participants.")
podium_run = PretendedRun(
	pathlib.Path(scratch.name), ROOT / os.environ.get("B", "build/release") / "podium-run"
)
os.chmod(scratch.name, 0o755)
mariadb.use_own_server()
site = Instance(PODIUM_WORKER_NAME="here", **podium_run.environment)
sql = site.sql
# Start the log first, because MariaDB logs no values for statements that were prepared before.
log = pathlib.Path(*sql("SET GLOBAL general_log = ON; SELECT @@datadir, @@general_log_file")[0])
anyone, ada, dora, admin = (Client(site.url) for _ in range(4))
PASSWORD = "a long password"
HOSTILE = "<script>alert(1)</script>\"'&"
TASK = TEMPLATE_TASK.replace("{size: 1024}", "{size: 64}, {size: 128}").replace(
	"ranking_by: geom\n", ""
)
TEMPLATE = "def custom_kernel(data):\n    return data  # <from the template>\n"


def prepare():
	load_task(site, isolated(TASK), more={"submission.py": TEMPLATE})
	register(site, {"ada": ada, "dora": dora, "root-of-all": admin})


def submit(client, code=None, mode="ranked", name=None):
	return send_source(client, code or new_source(), mode=mode, file_name=name, gpus=("CPU",))


def ended(
	client,
	times_ns=(10000.0, 20000.0),
	score_ns=None,
	err_ns=1.0,
	code=None,
	mode="ranked",
	name=None,
	**says,
):
	"""Makes a submission that gets these times, and waits until it has finished. Returns its
	number."""
	cases = [
		{
			"spec": f"size: {64 << i}",
			"runs": 100,
			"mean_ns": ns,
			"std_ns": 1.0,
			"err_ns": err_ns,
			"best_ns": ns,
			"worst_ns": ns,
		}
		for i, ns in enumerate(times_ns)
	]
	score = (
		{"score_ns": score_ns or times_ns[-1], "score_err_ns": err_ns} if mode == "ranked" else {}
	)
	podium_run.say(**{mode: {"cases": cases, **score, **says}})
	number = submit(client, code, mode, name)
	until(lambda: anyone.get(f"/submission/{number}/status").json["state"] == "done")
	return number


def all_ended():
	"""Waits until all submissions have finished, so that none gets the results that say() sets for
	the next one."""
	until(
		lambda: sql(
			"SELECT COUNT(*) FROM jobs WHERE gpu = 'CPU' AND state IN ('queued', 'running')"
		)
		== [["0"]]
	)


def fresh(client, path):
	"""Gets the page from podium-web, past nginx's cache of one second."""
	Client(site.url).post("/none", [])  # no answer from before this request is used any more
	answer = client.fresh(path)
	page = Page()
	page.feed(answer.text)
	equal(page.faults, [])
	return answer


def words(client, path):
	return re.sub(r" ([,.:])", r"\1", fresh(client, path).words())


def links(client, path):
	page = Page()
	page.feed(fresh(client, path).text)
	return page.links


# ---- comparing two submissions ----


@test
def two_own_submissions_are_compared_shape_by_shape():
	prepare()
	first = ended(
		ada,
		(10000.0, 20000.0),
		code="import torch\n\n\ndef custom_kernel(data):\n    return data\n",
		environment={"device": "a CPU", "driver": "1.0", "torch": "2.3"},
	)
	second = ended(
		ada,
		(8000.0, 20000.5),
		code="import torch\n\n\ndef custom_kernel(data):\n    return data + 0  # <b>\n",
		environment={"device": "a CPU", "driver": "2.0", "torch": "2.3"},
	)
	page = words(ada, f"/compare?a={first}&b={second}")
	contains(page, "size: 64 10.0000 ± 0.0020 µs 8.0000 ± 0.0020 µs 20 % faster")
	contains(page, "size: 128 20.0000 ± 0.0020 µs 20.0005 ± 0.0020 µs within noise")
	contains(page, "Driver 1.0 2.0")
	lacks(page, "2.3")
	contains(page, "5 return data 5 return data + 0 # <b>")
	contains(page, "1 line of A removed, 1 line of B added.")
	contains(
		words(ada, f"/compare?a={second}&b={first}"),
		"8.0000 ± 0.0020 µs 10.0000 ± 0.0020 µs 25 % slower",
	)


@test
def the_scores_are_those_of_the_ranking():
	code = "# measured twice\ndef custom_kernel(data):\n    return data\n"
	for client, ns in ((ada, 30000.0), (dora, 31000.0)):
		number = ended(client, (ns / 2, ns), code=code)
	other = ended(dora, (20000.0, 40000.0), code="# another file")
	mean = "30.50 ± 0.98 µs mean of 2 results"
	for client in (ada, dora):
		contains(words(client, "/leaderboard/small?columns=all"), mean)
	for pair in (f"a={number}&b={other}", f"a={other}&b={number}"):
		contains(words(anyone, f"/compare?{pair}"), mean)
	page = words(anyone, f"/compare?a={number}&b={other}")
	contains(page, f" {other} is 31 % slower than {number}.")
	contains(page, f"A {number} by dora")
	contains(page, f"B {other} by dora")
	# A stage's times stay those of the run.
	contains(page, "size: 128 31.0000 ± 0.0020 µs 40.0000 ± 0.0020 µs")
	# A result of another mode has the score of its run, which no other result changes.
	sql(f"UPDATE submissions SET mode = 'benchmark' WHERE id = {number}")
	contains(words(anyone, f"/compare?a={number}&b={other}"), "score 31.0000 ± 0.0020 µs 40.0000")
	sql(f"DELETE FROM submissions WHERE id >= {number - 1}")
	site.manage("ranking", "rebuild", "small")


@test
def strangers_see_both_times_and_no_source():
	first, second = sorted(int(row[0]) for row in sql("SELECT id FROM submissions"))
	for client in (anyone, dora):
		page = words(client, f"/compare?a={first}&b={second}")
		contains(page, "20 % faster")
		contains(page, "Only their authors see the sources")
		lacks(page, "return data")
	contains(words(admin, f"/compare?a={first}&b={second}"), "return data")
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3), sources_open = 'deadline' "
		"WHERE name = 'small'"
	)
	contains(words(anyone, f"/compare?a={first}&b={second}"), "return data")
	sql("UPDATE leaderboards SET deadline = NULL, sources_open = 'never' WHERE name = 'small'")


@test
def strangers_see_no_comparison_of_held_times():
	first, second = sorted(int(row[0]) for row in sql("SELECT id FROM submissions"))
	sql(f"UPDATE jobs SET held_at = UTC_TIMESTAMP(3) WHERE submission_id = {second}")
	lacks(words(anyone, f"/compare?a={first}&b={second}"), "8.0000")
	contains(words(ada, f"/compare?a={first}&b={second}"), "8.0000")
	contains(words(admin, f"/compare?a={first}&b={second}"), "8.0000")
	sql(f"UPDATE jobs SET held_at = NULL WHERE submission_id = {second}")


@test
def a_submission_equals_itself_and_an_unknown_one_is_not_found():
	first = int(sql("SELECT MIN(id) FROM submissions")[0][0])
	contains(words(ada, f"/compare?a={first}&b={first}"), "the same, byte for byte")
	address = f"http://podium.example/submission/{first}%23compile"
	contains(words(ada, f"/compare?a={first}&b={address}"), "the same, byte for byte")
	equal(anyone.get(f"/compare?a={first}&b=999999").status, 404)
	contains(words(anyone, f"/compare?a={first}&b=999999"), "no submission with the number 999999")
	for wrong in (
		"x",
		"-1",
		"1e3",
		HOSTILE.replace("&", "%26").replace('"', "%22").replace("<", "%3C"),
	):
		answer = fresh(ada, f"/compare?a={first}&b={wrong}")
		equal(answer.status, 200)
		contains(answer.words(), "Type the number of submission B in digits, or paste")
		contains(answer.text, '<li><a href="#b">')
		lacks(answer.text, "<script>alert")


@test
def after_choosing_one_the_page_offers_others_of_the_leaderboard():
	first, second = sorted(int(row[0]) for row in sql("SELECT id FROM submissions"))
	contains(links(ada, f"/compare?b={second}"), f"/compare?a={first}&b={second}")
	contains(links(ada, f"/compare?a={second}"), f"/compare?a={second}&b={first}")
	lacks(links(dora, f"/compare?b={second}"), f"/compare?a={first}&b={second}")
	contains(links(ada, f"/submission/{second}"), f"/compare?b={second}")


# ---- the effect of a result ----


def ranks():
	return [
		(row[0], int(row[1]), int(row[2]))
		for row in sql(
			"SELECT u.name, r.submission_id, r.place FROM ranking r JOIN users u ON u.id = "
			"r.user_id "
			"ORDER BY r.position"
		)
	]


def rebuilt():
	"""Checks that rebuilding the ranking from the jobs changes nothing."""
	before = sql(
		"SELECT gpu, user_id, submission_id, job_id, position, place FROM ranking ORDER BY gpu, "
		"position"
	)
	site.manage("ranking", "rebuild")
	equal(
		sql(
			"SELECT gpu, user_id, submission_id, job_id, position, place FROM ranking "
			"ORDER BY gpu, "
			"position"
		),
		before,
	)


@test
def the_page_says_how_a_result_changed_the_users_rank():
	sql("DELETE FROM submissions")
	first = ended(ada, score_ns=1000.0)
	contains(
		words(anyone, f"/submission/{first}"), "When it finished rank 1 first result that counts"
	)
	other = ended(dora, score_ns=900.0)
	slower = ended(ada, score_ns=1100.0)
	contains(words(anyone, f"/submission/{slower}"), "Against ada’s best before 10 % slower")
	slowest = ended(ada, score_ns=17400.0)
	contains(words(anyone, f"/submission/{slowest}"), "Against ada’s best before 17.4× slower")
	better = ended(ada, score_ns=800.0)
	contains(
		words(anyone, f"/submission/{better}"),
		"Against ada’s best before 20 % faster rank 2 → 1 when it finished",
	)
	again = ended(ada, score_ns=600.0)
	contains(
		words(anyone, f"/submission/{again}"),
		"Against ada’s best before 25 % faster still rank 1 when it finished",
	)
	# The rank of today differs from the rank of then, and the page says which is which.
	contains(
		words(anyone, f"/submission/{other}"), "When it finished rank 1 first result that counts"
	)
	equal(ranks(), [("ada", again, 1), ("dora", other, 2)])


@test
def an_internal_error_quotes_its_reason_and_blames_nobody_who_submits():
	reason = "The task failed, not the submission: the task's reference needs CUDA."
	number = ended(ada, mode="test", times_ns=(), verdict="internal error", reason=reason)
	page = words(ada, f"/submission/{number}")
	contains(page, reason)
	contains(page, "This was not your fault: the task, Podium or its machine failed.")


@test
def a_test_run_changes_no_rank():
	number = ended(ada, mode="test", times_ns=())
	page = words(ada, f"/submission/{number}")
	for wrong in ("faster than", "slower than", "first result"):
		lacks(page, wrong)


# ---- withdrawing ----


@test
def withdrawing_needs_the_number_and_ranks_the_users_next_best():
	best, next_best = (
		ranks()[0][1],
		int(
			sql(
				"SELECT MAX(s.id) FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
				"j.score_ns = 800"
			)[0][0]
		),
	)
	contains(links(ada, f"/submission/{best}"), f"/submission/{best}/withdraw")
	page = words(ada, f"/submission/{best}/withdraw")
	contains(page, f"It leaves rank 1 on CPU; your next best, {next_best}, is ranked instead.")
	answer = ada.post(f"/submission/{best}/withdraw", [("number", "1234")])
	equal(answer.status, 422)
	contains(answer.words(), f"Type {best} to confirm.")
	contains(answer.text, "<title>Error: ")
	contains(answer.text, '<li><a href="#number">')
	equal(ranks()[0][1], best)
	answer = ada.post(f"/submission/{best}/withdraw", [("number", best)])
	equal(
		(answer.status, answer.location.removeprefix(site.url)),
		(303, f"/submission/{best}?done=withdrawn"),
	)
	equal([(name, place) for name, _, place in ranks()], [("ada", 1), ("dora", 2)])
	equal(ranks()[0][1], next_best)
	page = words(anyone, f"/submission/{best}")
	contains(page, "Its author withdrew this submission, so it is in no ranking.")
	contains(page, "Passed on CPU; it was withdrawn, so it is not ranked.")
	lacks(page, "Let it count again")
	rebuilt()


@test
def withdrawing_the_last_one_removes_the_user_from_the_ranking():
	for number in [
		row[0]
		for row in sql(
			"SELECT s.id FROM submissions s JOIN users u ON u.id = s.user_id "
			"WHERE u.name = 'ada' AND s.mode = 'ranked' AND s.withdrawn_at IS NULL"
		)
	]:
		equal(ada.post(f"/submission/{number}/withdraw", [("number", number)]).status, 303)
	equal([(name, place) for name, _, place in ranks()], [("dora", 1)])
	lacks(words(anyone, "/leaderboard/small"), "ada")
	rebuilt()


@test
def a_withdrawn_submission_can_be_restored():
	best = int(
		sql(
			"SELECT s.id FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE "
			"j.score_ns = "
			"600"
		)[0][0]
	)
	contains(words(ada, f"/submission/{best}"), "Let it count again")
	for _ in range(2):
		answer = ada.post(f"/submission/{best}/restore", form=f"/submission/{best}")
		equal(
			(answer.status, answer.location.removeprefix(site.url)),
			(303, f"/submission/{best}?done=restored"),
		)
	equal([(name, place) for name, _, place in ranks()], [("ada", 1), ("dora", 2)])
	contains(words(anyone, f"/submission/{best}"), "Rank 1 of 2 on CPU")
	rebuilt()


@test
def only_the_author_withdraws_and_only_finished_submissions():
	best = ranks()[0][1]
	for client in (dora, admin):
		equal(client.get(f"/submission/{best}/withdraw").status, 403)
		token = client.csrf("/account")
		for deed in ("withdraw", "restore", "note"):
			equal(
				client.post(f"/submission/{best}/{deed}", [("number", best)], csrf=token).status,
				403,
			)
	equal(anyone.get(f"/submission/{best}/withdraw").status, 303)
	equal(ada.post(f"/submission/{best}/withdraw", [("number", best)], csrf="wrong").status, 403)
	podium_run.say(ranked={"hang": True})
	number = submit(ada)
	until(lambda: anyone.get(f"/submission/{number}/status").json["state"] == "running")
	answer = ada.post(f"/submission/{number}/withdraw", [("number", number)])
	equal(answer.status, 409)
	contains(answer.words(), "has not finished yet")
	lacks(links(ada, f"/submission/{number}"), f"/submission/{number}/withdraw")
	contains(links(ada, f"/submission/{number}/withdraw"), f"/submission/{number}/cancel")
	equal(ada.post(f"/submission/{number}/cancel").status, 303)
	until(lambda: anyone.get(f"/submission/{number}/status").json["state"] == "done")
	equal(ranks()[0][1], best)


@test
def releasing_a_withdrawn_result_does_not_rank_it():
	number = ended(dora, score_ns=100.0)
	sql(
		"UPDATE jobs SET held_at = UTC_TIMESTAMP(3), held_reason = 'Too fast.' WHERE "
		f"submission_id = {number}"
	)
	equal(dora.post(f"/submission/{number}/withdraw", [("number", number)]).status, 303)
	answer = admin.post(
		"/admin/review", [("submission", number), ("gpu", "CPU"), ("action", "release")]
	)
	equal(answer.status, 303)
	if number in [submission for _, submission, _ in ranks()]:
		raise AssertionError("it is ranked")
	rebuilt()


# ---- notes ----


@test
def only_the_author_and_admins_see_a_note():
	number = ranks()[0][1]
	answer = ada.post(f"/submission/{number}/note", [("note", "tried float4 " + HOSTILE)])
	equal(
		(answer.status, answer.location.removeprefix(site.url)),
		(303, f"/submission/{number}?done=noted"),
	)
	contains(words(ada, f"/submission/{number}"), "My note: tried float4 " + HOSTILE)
	contains(words(admin, f"/submission/{number}"), "The author’s note: tried float4")
	for client in (anyone, dora):
		lacks(words(client, f"/submission/{number}"), "float4")
	for wrong in ("x" * 501, "two\nlines", "\u202eturned"):
		answer = ada.post(f"/submission/{number}/note", [("note", wrong)])
		equal(answer.status, 422)
		contains(answer.words(), "The note")
		contains(answer.text, "<title>Error: ")
		contains(answer.text, '<li><a href="#note">')
	equal(ada.post(f"/submission/{number}/note", [("note", "")]).status, 303)
	lacks(words(ada, f"/submission/{number}"), "My note")


# ---- the history ----


def shown(path):
	return [
		int(link.rsplit("/", 1)[1])
		for link in links(ada, path)
		if re.fullmatch(r"/submission/\d+", link)
	]


def those(condition):
	return [
		int(row[0])
		for row in sql(
			"SELECT DISTINCT s.id FROM submissions s JOIN users u ON u.id = s.user_id JOIN "
			"jobs j ON "
			"j.submission_id = s.id "
			f"WHERE u.name = 'ada' AND {condition} ORDER BY s.id DESC"
		)
	]


@test
def own_submissions_are_found_by_mode_result_device_leaderboard_and_period():
	ended(ada, verdict="wrong answer", mode="test", times_ns=(), reason="Not the same.")
	sql("UPDATE submissions SET submitted_at = submitted_at - INTERVAL 40 DAY ORDER BY id LIMIT 3")
	every = those("1")
	equal(shown("/mine"), every)
	equal(sorted(set(shown("/leaderboard/small/mine")), reverse=True), every)
	for query, condition in (
		("mode=ranked", "s.mode = 'ranked'"),
		("result=wrong+answer", "j.verdict = 'wrong answer'"),
		("result=cancelled&mode=ranked", "j.verdict = 'cancelled'"),
		("gpu=CPU", "1"),
		("leaderboard=small", "1"),
	):
		found = those(condition)
		if not found:
			raise AssertionError(f"none fits {condition}")
		equal(shown(f"/mine?{query}"), found)
	today = time.strftime("%Y-%m-%d", time.gmtime())
	equal(shown(f"/mine?from={today}"), those(f"s.submitted_at >= '{today}'"))
	equal(shown(f"/mine?to={today}&from=2000-01-01"), every)
	equal(shown("/mine?to=2001-01-01"), [])
	for nothing in ("mode=profile", "gpu=H200", "leaderboard=other", "result=held"):
		equal(shown(f"/mine?{nothing}"), [])
		contains(words(ada, f"/mine?{nothing}"), "None of your submissions fits this filter.")
	contains(fresh(ada, "/mine?mode=ranked").text, '<option value="ranked" selected>')
	equal(fresh(ada, "/leaderboard/small/mine?mode=test").status, 200)
	equal(
		[number for number in shown("/leaderboard/small/mine?mode=test")], those("s.mode = 'test'")
	)


@test
def the_devices_to_choose_from_are_those_of_the_viewers_leaderboards():
	def devices(path):
		choices = fresh(ada, path).text.split('<select name="gpu">')[1].split("</select>")[0]
		return re.findall(r'<option value="([^"]+)"', choices)

	load_task(site, isolated(TASK), name="other", more={"submission.py": TEMPLATE})
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) "
		"SELECT id, 'Z9000', 7 FROM leaderboards WHERE name = 'other'"
	)
	for address in ("/mine", "/leaderboard/small/mine", "/mine?from=2000-01-01"):
		equal(devices(address), ["CPU"])
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) SELECT l.id, l.task_version_id, s.user_id, s.file_name, s.sha256, 'test' "
		f"FROM leaderboards l JOIN submissions s ON s.id = {shown('/mine')[0]} "
		"WHERE l.name = 'other'"
	)
	equal(devices("/mine"), ["CPU", "Z9000"])
	equal(devices("/leaderboard/small/mine"), ["CPU"])
	equal(devices("/leaderboard/small/mine?from=2000-01-01"), ["CPU"])
	equal(devices("/mine?leaderboard=small"), ["CPU"])
	equal(devices("/mine?leaderboard=small&from=2000-01-01"), ["CPU"])
	equal(devices("/mine?leaderboard=small&gpu=Z9000"), ["CPU", "Z9000"])
	contains(fresh(ada, "/mine?leaderboard=small&gpu=Z9000").text, '"Z9000" selected')
	sql("DELETE FROM leaderboards WHERE name = 'other'")


@test
def the_own_rank_shows_a_tie():
	((board, gpu, before),) = sql(
		"SELECT r.leaderboard_id, r.gpu, r.place FROM ranking r JOIN users u ON u.id = r.user_id "
		"AND u.name = 'ada'"
	)
	((last,),) = sql(f"SELECT MAX(position) FROM ranking WHERE leaderboard_id = {board}")
	mark = rf"My ranks Device Time Rank Submission {gpu} .*? (=?){before} of {last} "
	equal(re.search(mark, words(ada, "/leaderboard/small/mine"))[1], "")
	sql(f"UPDATE ranking SET place = {before}, tied = TRUE WHERE leaderboard_id = {board}")
	equal(re.search(mark, words(ada, "/leaderboard/small/mine"))[1], "=")
	contains(words(ada, "/mine"), f" ={before} ")
	sql(f"UPDATE ranking SET place = position, tied = FALSE WHERE leaderboard_id = {board}")
	rebuilt()


@test
def an_invalid_filter_is_refused_with_a_sentence():
	for query, sentence in (
		("mode=fast", "is not a mode"),
		("from=yesterday", "is not a day"),
		("to=2026-13-01", "is not a day"),
		("result=good", "is not a verdict"),
		("gpu=%C3%A4", "is not the name of a device"),
		("leaderboard=%3Cscript%3E", "is not the name of a leaderboard"),
	):
		answer = fresh(ada, f"/mine?{query}")
		equal(answer.status, 400)
		contains(answer.words(), sentence)
		lacks(answer.text, "<script>alert")
	equal(anyone.get("/mine").status, 303)


@test
def pages_of_the_history_keep_its_filters():
	ids = sql(
		"SELECT leaderboard_id, task_version_id, user_id, HEX(sha256) FROM submissions WHERE mode "
		"= 'ranked' AND user_id = "
		"(SELECT id FROM users WHERE name = 'ada') LIMIT 1"
	)[0]
	sql(
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, "
		"mode) "
		f"SELECT {ids[0]}, {ids[1]}, {ids[2]}, CONCAT('many-', seq, '.py'), UNHEX('{ids[3]}'), "
		"'benchmark' FROM seq_1_to_120"
	)
	# A search by days sorts by time. Many submissions get the same time, which is hard for paging.
	sql(
		"UPDATE submissions SET submitted_at = submitted_at - INTERVAL (id DIV 7 % 11) SECOND "
		"WHERE mode = 'benchmark'"
	)
	in_time = [
		int(row[0])
		for row in sql(
			"SELECT id FROM submissions WHERE mode = 'benchmark' ORDER BY submitted_at "
			"DESC, id DESC"
		)
	]
	for path in (
		"/mine?mode=benchmark&from=2000-01-01",
		"/leaderboard/small/mine?mode=benchmark&from=2000-01-01&to=2099-01-01",
	):
		found, at = [], path
		while at:
			found += shown(at)
			at = next((link for link in links(ada, at) if "before=" in link), None)
		equal(found, in_time)
	equal(shown("/mine?mode=benchmark&from=2000-01-01&before=7&at=99999999999999999"), in_time[:50])
	for path in ("/mine?mode=benchmark", "/leaderboard/small/mine?mode=benchmark"):
		pages, at = [], path
		while at:
			pages.append(shown(at))
			at = next((link for link in links(ada, at) if "before=" in link), None)
		equal([len(page) for page in pages], [50, 50, 20])
		equal(
			[number for page in pages for number in page],
			sorted((n for page in pages for n in page), reverse=True),
		)
	sql("DELETE FROM submissions WHERE mode = 'benchmark'")


@test
def two_entries_of_the_history_can_be_chosen_for_comparison():
	page = fresh(ada, "/mine").text
	first, second = shown("/mine")[:2]
	for number in (first, second):
		contains(page, f'name="pick" value="{number}"')
	contains(page, 'action="/compare"')
	# The older one is A, in whatever order they are picked.
	for picks in (f"pick={first}&pick={second}", f"pick={second}&pick={first}"):
		answer = ada.get(f"/compare?{picks}")
		equal((answer.status, answer.location), (303, f"/compare?a={second}&b={first}"))
	for picks in (f"pick={first}", f"pick={first}&pick=2x", "pick=1&pick=2&pick=3", "pick=0&pick="):
		answer = fresh(ada, f"/compare?{picks}")
		equal(answer.status, 200)
		contains(answer.words(), "Tick two submissions")


# ---- the form ----


def checked(page):
	"""The values of the checked boxes and radio buttons."""
	return sorted(re.findall(r'value="([^"]*)" checked', page.text))


def typed(page):
	return html.unescape(re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page.text, re.S)[1])


FORM = "/leaderboard/small/submit"


@test
def the_form_remembers_a_users_last_choices_per_leaderboard():
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'B200', 2 FROM "
		"leaderboards WHERE name = 'small'"
	)
	fresh_user = Client(site.url)
	fresh_user.register("new")
	equal(checked(fresh(fresh_user, FORM)), ["CPU", "test"])
	podium_run.say(benchmark={})
	number = submit(ada, mode="benchmark")
	page = fresh(ada, FORM)
	equal(checked(page), ["CPU", "benchmark"])
	contains(page.words(), f"Mode and devices are those of submission {number}")
	equal(typed(page), "")
	equal(checked(fresh(fresh_user, FORM)), ["CPU", "test"])
	answer = ada.post(
		FORM, [("mode", "ranked"), ("gpu", "B200"), ("code", "not python(")], csrf=None
	)
	equal(answer.status, 303)
	equal(checked(fresh(ada, FORM)), ["B200", "ranked"])
	wrong = ada.post(FORM, [("mode", "test"), ("gpu", "CPU"), ("code", "")])
	equal((wrong.status, checked(wrong)), (422, ["CPU", "test"]))


@test
def a_submission_is_sent_again_from_its_page():
	code = "# first line\n\n</textarea><script>alert(1)</script>\n"
	number = ended(ada, code=code, mode="benchmark", times_ns=())
	contains(links(ada, f"/submission/{number}"), f"{FORM}?from={number}&mode=ranked")
	lacks(fresh(dora, f"/submission/{number}").text, f"?from={number}")
	page = fresh(ada, f"{FORM}?from={number}&mode=ranked")
	equal(checked(page), ["CPU", "ranked"])
	contains(page.words(), f"The devices are those of submission {number}")
	equal(checked(fresh(ada, f"{FORM}?from={number}&mode=none")), ["CPU", "benchmark"])
	page = fresh(ada, f"{FORM}?from={number}")
	equal(typed(page), code)
	equal(checked(page), ["CPU", "benchmark"])
	contains(page.words(), f"The code is that of submission {number}")
	equal(fresh(dora, f"{FORM}?from={number}").status, 404)
	lacks(fresh(anyone, f"{FORM}?from={number}").text, "first line")
	equal(fresh(admin, f"{FORM}?from={number}").status, 200)
	equal(fresh(ada, f"{FORM}?from=999999").status, 404)
	equal(ada.get(f"/submission/{number}/source?download=1").bytes, code.encode())


@test
def a_template_can_be_loaded_into_the_form():
	contains(links(ada, FORM), f"{FORM}?template=Python")
	equal(typed(fresh(ada, f"{FORM}?template=python")), TEMPLATE)
	answer = fresh(ada, f"{FORM}?template=%3Cb%3E")
	equal(answer.status, 404)
	contains(answer.words(), "small has no template")


@test
def a_first_visitor_finds_the_template_in_the_form():
	new = Client(site.url)
	new.register("newcomer")
	page = fresh(new, FORM)
	equal(typed(page), TEMPLATE)
	contains(page.text, 'data-draft="newcomer/small" data-language="py" data-restores>')
	for address in (f"{FORM}?template=Python", f"{FORM}?from={submit(new)}"):
		lacks(fresh(new, address).text, "data-restores")
	equal(typed(fresh(new, FORM)), "")
	all_ended()


def offered(page):
	return re.search(r'name="offered" value="([^"]*)"', page.text)[1]


@test
def a_file_replaces_code_that_nobody_has_changed():
	page = fresh(ada, f"{FORM}?template=Python")
	fields = [("mode", "test"), ("gpu", "CPU"), ("offered", offered(page))]
	for code, status in (
		(TEMPLATE.replace("\n", "\r\n"), 303),
		(TEMPLATE + "# mine\n", 422),
		("# mine\n", 422),
	):
		answer = ada.post(
			FORM, [*fields, ("code", code)], [("file", "mine.py", new_source().encode())]
		)
		equal(answer.status, status)
		if status == 422:
			contains(answer.words(), "The form has code and a file.")
			equal((typed(answer), offered(answer)), (code, offered(page)))
		else:
			contains(words(ada, answer.location), "mine.py")
	all_ended()


@test
def the_form_offers_a_file_with_the_signature_if_the_task_has_no_template():
	types = "from typing import Tuple\n\ninput_t = Tuple[int,\n\tint]\noutput_t = int\n"
	load_task(
		site,
		isolated(TASK)
		.replace("templates: {Python: submission.py}\n", "")
		.replace(
			"  - {name: utils.py", "  - {name: task.py, source: task.py}\n  - {name: utils.py"
		),
		name="bare",
		more={"task.py": types},
	)
	page = fresh(ada, "/leaderboard/bare/submit")
	equal(
		typed(page),
		"# The types of the task, from task.py:\n#\n#     input_t = Tuple[int,\n#     \tint]\n"
		"#     output_t = int\nfrom task import input_t, output_t\n\n\n"
		"def custom_kernel(data: input_t) -> output_t:\n"
		'    raise NotImplementedError("Write the kernel here.")\n',
	)
	contains(page.words(), "def custom_kernel(data: input_t) -> output_t input_t = Tuple[int, int]")


@test
def the_form_shows_all_its_errors_at_once():
	sql(
		"INSERT IGNORE INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'B200', 2 "
		"FROM leaderboards WHERE name = 'small'"
	)
	code = f"#!POPCORN leaderboard other\n# {HOSTILE}\n"
	page = whole(ada.post(FORM, [("mode", HOSTILE), ("gpu", "A100"), ("code", code)]))
	equal(page.status, 422)
	contains(page.text, "<title>Error: Submit to small · Podium</title>")
	summary = re.search(r'<section class="[^"]*error-summary".*?</section>', page.text, re.S)[0]
	contains(summary, 'tabindex="-1" autofocus')
	contains(summary, "Correct these 3 fields first")
	equal(re.findall(r'<li><a href="#(\w+)">', summary), ["code", "mode", "gpu"])
	for field, label, sentence in (
		("code", "Code", "The header of the code says that it is for the leaderboard"),
		("mode", "Mode", "There is no mode"),
		("gpu", "Devices", "small has no"),
	):
		contains(page.text, f'id="{field}"')
		contains(page.text, f'<p class="field-error" id="{field}-error">{sentence}')
		equal(page.words().count(sentence), 2)
		at = page.text.index(f'id="{field}-error">')
		equal(
			page.text.rindex(f">{label}</l", 0, at) < at < page.text.index(f'id="{field}"', at),
			True,
		)
	equal(typed(page), code)
	for fields, first in (
		([("mode", "test"), ("gpu", "CPU"), ("code", "")], ["code"]),
		([("mode", ""), ("code", "x = 1\n")], ["mode", "gpu"]),
	):
		page = ada.post(FORM, fields)
		equal(re.findall(r'<li><a href="#(\w+)">', page.text), first)
	page = ada.post("/submit", [("mode", "none"), ("leaderboard", "small"), ("code", "")])
	equal(re.findall(r'<li><a href="#(\w+)">', page.text), ["code", "mode", "gpu"])
	lacks(fresh(ada, FORM).text, "Error:")
	sql("DELETE FROM leaderboard_gpus WHERE gpu = 'B200'")


@test
def pasted_code_keeps_its_lines():
	for sent, stored in (
		(TEMPLATE.replace("\n", "\r\n"), TEMPLATE),
		("a = 1\r\nb = '\r'\n\r\n", "a = 1\nb = '\r'\n\n"),
		("a = 1\n", "a = 1\n"),
	):
		answer = ada.post(FORM, [("mode", "test"), ("code", sent), ("gpu", "CPU")])
		equal(answer.status, 303)
		equal(ada.get(f"{answer.location}/source?download=1").bytes.decode(), stored)
		number = answer.location.rsplit("/", 1)[1]
		equal(
			ada.post(f"/submission/{number}/cancel", [("number", number)], form="/account").status,
			303,
		)


@test
def the_form_says_what_the_server_will_run():
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3) + INTERVAL 3 DAY + INTERVAL 1 HOUR "
		"WHERE name = 'small'"
	)
	page = words(ada, FORM)
	contains(page, "submitted before the deadline")
	contains(page, "in 3 days")
	contains(page, "Benchmarks: 2 cases # size 1 64 2 128 Tests: 1 case # size 1 1")
	sql("UPDATE leaderboards SET deadline = NULL WHERE name = 'small'")
	page = words(ada, FORM)
	lacks(page, "submitted before the deadline")
	for part in (
		"Deadline none",
		"Time limits tests 180 s, benchmarks 180 s, ranked 180 s",
		"at most 1 MB",
		"checks the test case and measures nothing",
		"checks the test case and times the last of the 2 shapes, with a secret seed; the best "
		"one counts in the ranking",
	):
		contains(page, part)
	sql(
		"UPDATE task_versions SET definition = JSON_SET(definition, '$.ranking_by', 'geom', "
		"'$.tests', JSON_ARRAY('a: 1', 'a: 2')), revision = revision + 1"
	)
	contains(words(ada, FORM), "checks the 2 test cases, then times the 2 shapes; not ranked")


@test
def the_form_says_when_a_job_would_start():
	sql(
		"DELETE FROM job_times; INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) "
		"SELECT id, 'L4', 3 FROM leaderboards WHERE name = 'small'"
	)
	page = words(ada, FORM)
	contains(page, "L4 no worker offers it now, so the job waits until one does")
	contains(page, "; starts at once")
	lacks(page, "ranked result")
	sql(
		"INSERT INTO job_times (task_version_id, gpu, mode, recent, median_ms, updated_at) SELECT "
		"task_version_id, 'CPU', 'ranked', '240000', 240000, UTC_TIMESTAMP(3) FROM leaderboards "
		"WHERE name = 'small'"
	)
	contains(words(ada, FORM), "starts at once · ranked result in about 4 min")
	sql("DELETE FROM job_times")
	sql("INSERT INTO pauses (worker, kind, paused_by) VALUES ('here', 'drain', 'root-of-all')")
	contains(words(ada, FORM), "; out of service now, so the job waits until it is back")
	sql("DELETE FROM pauses; DELETE FROM leaderboard_gpus WHERE gpu = 'L4'")


@test
def the_form_announces_practice_a_freeze_and_a_closed_leaderboard():
	sql("UPDATE leaderboards SET frozen_at = UTC_TIMESTAMP(3) WHERE name = 'small'")
	contains(words(ada, FORM), "The public ranking was frozen at")
	sql(
		"UPDATE leaderboards SET deadline = UTC_TIMESTAMP(3), practice = 1, frozen_at = NULL "
		"WHERE name = 'small'"
	)
	page = words(ada, FORM)
	for part in (
		"The deadline has passed. Submissions run for practice",
		"with a secret seed; after the deadline it gets no rank",
		"UTC, just now",
	):
		contains(page, part)
	lacks(page, "submitted before the deadline")
	for change, sentence in (
		("practice = 0", "The deadline of this leaderboard has passed: it was"),
		(
			"deadline = NULL, accepting = 0",
			"This leaderboard is closed and takes no submissions now.",
		),
		(
			"accepting = 1, archived_at = UTC_TIMESTAMP(3)",
			"This leaderboard is in the archive and takes no submissions.",
		),
	):
		sql(f"UPDATE leaderboards SET {change} WHERE name = 'small'")
		page = fresh(ada, FORM)
		contains(page.words(), sentence)
		lacks(page.text, 'name="code"')
	sql("UPDATE leaderboards SET archived_at = NULL WHERE name = 'small'")
	contains(fresh(ada, FORM).text, 'name="code"')


@test
def the_form_without_a_leaderboard_offers_the_last_one():
	new = Client(site.url)
	new.register("newest")
	page = fresh(new, "/submit")
	lacks(page.text, " selected")
	lacks(page.text, 'name="last"')
	sql(
		"INSERT INTO leaderboards (name, secret_seed, task_version_id) SELECT 'other', 1, "
		"task_version_id FROM leaderboards WHERE name = 'small'; "
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'CPU', 1 FROM "
		"leaderboards WHERE name = 'other'"
	)
	podium_run.say(benchmark={})
	submit(new, mode="benchmark")
	page = fresh(new, "/submit")
	contains(page.text, '<option value="small" selected>')
	contains(page.text, '<input type="hidden" name="last" value="small">')
	equal(checked(page), ["benchmark"])
	contains(page.words(), "Your last submission went to small.")

	def send(code, *fields):
		answer = new.post("/submit", [("mode", "test"), ("code", code), *fields])
		if answer.status == 303:
			return sql(
				"SELECT l.name FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id "
				"ORDER BY s.id DESC LIMIT 1"
			)[0][0]
		return answer

	remembered = (("last", "small"), ("leaderboard", "small"))
	equal(send("#!POPCORN gpus CPU\nx = 1\n", *remembered), "small")
	equal(send("#!POPCORN leaderboard other\nx = 1\n", *remembered), "other")
	contains(fresh(new, "/submit").text, '<option value="other" selected>')
	equal(
		send(
			"#!POPCORN leaderboard other\nx = 1\n", ("last", "other"), ("leaderboard", "small")
		).status,
		422,
	)
	equal(send("x = 1\n", ("last", "small"), ("leaderboard", "")).status, 422)
	sql("UPDATE leaderboards SET accepting = 0 WHERE name = 'other'")
	lacks(fresh(new, "/submit").text, " selected")
	all_ended()
	sql(
		"DELETE FROM submissions WHERE leaderboard_id = (SELECT id FROM leaderboards WHERE name = "
		"'other'); DELETE FROM leaderboards WHERE name = 'other'"
	)


# ---- while a submission is queued or runs ----


def running(client, **says):
	"""Starts a submission that runs until it is cancelled."""
	all_ended()
	podium_run.say(test={"hang": True, "stage": "test", **says})
	number = submit(client, mode="test")
	until(lambda: status_of(client, number)["state"] == "running")
	return number


def cancel(client, number):
	equal(client.post(f"/submission/{number}/cancel").status, 303)
	until(lambda: status_of(client, number)["state"] == "done")


@test
def the_author_and_admins_see_the_output_of_a_running_job():
	printed = {"stdout": f"step 1\nstep 2 {HOSTILE}\n", "stderr": "warning: </pre> µ\n"}
	number = running(ada, tail=printed)
	until(lambda: status_of(ada, number)["jobs"][0]["output"])
	for client in (ada, admin):
		equal(status_of(client, number)["jobs"][0]["output"], printed)
		page = fresh(client, f"/submission/{number}")
		contains(page.text, '<meta http-equiv="refresh" content="2">')
		lacks(page.text, "<script>alert")
		shown = [
			html.unescape(text)
			for text in re.findall(
				r'<pre class="log[^>]*id="printed-[^>]*>\n(.*?)</pre>', page.text, re.S
			)
		]
		equal(shown, [printed["stdout"], printed["stderr"]])
	for client in (anyone, dora):
		equal(status_of(client, number)["jobs"][0]["output"], None)
		page = fresh(client, f"/submission/{number}")
		contains(page.words(), "Running on CPU")
		for secret in ("step 1", "warning:", "printed-stdout"):
			lacks(page.text, secret)
	cancel(ada, number)
	equal(status_of(ada, number)["jobs"][0]["output"], None)
	lacks(fresh(ada, f"/submission/{number}").text, "step 1")


@test
def output_is_deleted_with_its_stage():
	all_ended()
	podium_run.say(test={"tail": {"stdout": "gone\n", "stderr": ""}})
	number = submit(ada, mode="test")
	until(lambda: status_of(ada, number)["state"] == "done")
	equal(
		sql(
			"SELECT COUNT(t.tail) FROM stages t JOIN jobs j ON j.id = t.job_id WHERE "
			"j.submission_id "
			f"= {number}"
		),
		[["0"]],
	)
	lacks(fresh(ada, f"/submission/{number}").text, "gone")


def questions_of_status(number):
	"""The number of queries that a request for a submission's status makes. Counts only the
	connection with the query for a submission's jobs, because other connections are the
	worker's."""
	begin = log.stat().st_size
	status_of(anyone, number)
	with open(log, "rb") as file:
		file.seek(begin)
		asked = re.findall(r"\s(\d+) Execute\t([^\n]*)", file.read().decode())
	of_page = {connection for connection, question in asked if "AS author_id" in question}
	equal(len(of_page), 1)
	return len([question for connection, question in asked if connection in of_page])


@test
def a_queued_job_shows_its_place_and_expected_start():
	number = running(ada)
	sql(
		"INSERT INTO job_times (task_version_id, gpu, mode, recent, median_ms, updated_at) SELECT "
		"task_version_id, 'CPU', 'test', '240000', 240000, "
		f"UTC_TIMESTAMP(3) FROM submissions WHERE id = {number} ON DUPLICATE KEY UPDATE median_ms "
		"= 240000"
	)
	first, second = submit(dora, mode="test"), submit(ada, mode="test")
	sql(f"UPDATE jobs SET started_at = UTC_TIMESTAMP(3) WHERE submission_id = {number}")
	job = status_of(anyone, first)["jobs"][0]
	equal((job["state"], job["position"], job["expected_start"]), ("queued", 1, "in about 4 min"))
	contains(
		words(anyone, f"/submission/{first}"),
		"Expected start in about 4 min Expected result in about 8 min Waiting for CPU: 1st in "
		"line. The whole queue",
	)
	contains(links(anyone, f"/submission/{first}"), "/queue")
	job = status_of(ada, second)["jobs"][0]
	equal((job["position"], job["expected_start"]), (2, "in about 8 min"))
	for one in (first, second, number):
		cancel(dora if one == first else ada, one)
	job = status_of(ada, second)["jobs"][0]
	equal((job["position"], job["expected_start"]), (None, None))
	sql("DELETE FROM job_times")


@test
def a_correct_result_that_is_not_ranked_says_why():
	number = ended(ada, score_ns=50.0)
	contains(words(anyone, f"/submission/{number}"), "Rank 1 of 2 on CPU")
	for change, undo, mine, theirs in (
		(
			"s.hidden_at = UTC_TIMESTAMP(3), s.hidden_reason = 'copied'",
			"s.hidden_at = NULL, s.hidden_reason = NULL",
			"; it is hidden, so it is not ranked.",
			None,
		),
		(
			"s.withdrawn_at = UTC_TIMESTAMP(3)",
			"s.withdrawn_at = NULL",
			"; it was withdrawn, so it is not ranked.",
			"; it was withdrawn, so it is not ranked.",
		),
		(
			"s.practice = 1",
			"s.practice = 0",
			" after the deadline, so it is practice and not ranked.",
			" after the deadline, so it is practice and not ranked.",
		),
		(
			"j.held_at = UTC_TIMESTAMP(3), s.practice = 1",
			"j.held_at = NULL, s.practice = 0",
			" after the deadline, so it is practice and not ranked.",
			" after the deadline, so it is practice and not ranked.",
		),
		(
			"j.held_at = UTC_TIMESTAMP(3)",
			"j.held_at = NULL",
			". The result is held for review: an admin checks it before it is ranked.",
			"; it is not ranked yet.",
		),
		(
			"l.frozen_at = j.finished_at - INTERVAL 1 SECOND",
			"l.frozen_at = NULL",
			". The ranking is frozen; this counts when the freeze is lifted.",
			None,
		),
		(
			"j.score_ns = 50",
			"j.score_ns = 50",
			"; ada's ranked time there is faster.",
			"; ada's ranked time there is faster.",
		),
	):
		tables = (
			"UPDATE submissions s JOIN jobs j ON j.submission_id = s.id "
			f"JOIN leaderboards l ON l.id = s.leaderboard_id SET %s WHERE s.id = {number}"
		)
		sql(f"DELETE FROM ranking WHERE submission_id = {number}; " + tables % change)
		contains(words(ada, f"/submission/{number}"), "Passed on CPU" + mine)
		if theirs:
			contains(words(anyone, f"/submission/{number}"), "Passed on CPU" + theirs)
			contains(status_of(anyone, number)["jobs"][0]["message"], theirs)
		sql(tables % undo)
	number = ended(ada, mode="benchmark")
	contains(
		words(ada, f"/submission/{number}"),
		"Every case was right. Only the mode ranked counts in the ranking.",
	)


@test
def one_query_finds_all_queued_jobs_of_a_submission():
	"""A request for the status makes at most two queries, for one device and for six: one for
	waiting jobs, and another one for the starts of all queued jobs, unless another request has just
	read them, or for what has ended."""
	sql(
		"INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT l.id, CONCAT('GPU-', "
		"seq), 10 + seq FROM leaderboards l, seq_1_to_6 WHERE l.name = 'small'"
	)
	counts = []
	for gpus in (["GPU-1"], [f"GPU-{i}" for i in range(1, 7)]):
		answer = ada.post(
			FORM, [("mode", "test"), ("code", "x = 1\n")] + [("gpu", gpu) for gpu in gpus]
		)
		equal(answer.status, 303)
		number = int(answer.location.rsplit("/", 1)[1])
		equal([job["position"] for job in status_of(ada, number)["jobs"]], [1] * len(gpus))
		counts.append(questions_of_status(number))
		cancel(ada, number)
		counts.append(questions_of_status(number))
	equal((counts[1::2], max(counts)), ([2, 2], 2))
	sql("DELETE FROM leaderboard_gpus WHERE gpu LIKE 'GPU-%'")


code = 1
try:
	code = run()
finally:
	site.remove()
	scratch.cleanup()
sys.exit(code)
