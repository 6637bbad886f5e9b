#!/usr/bin/env python3
"""The check before a leaderboard, or another version of its task, becomes visible. A real worker
runs the checks on this machine's CPU. Each way to publish is tried with a task whose check
fails."""

import hashlib
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, fresh, whole  # noqa: E402
from held import Held, beside  # noqa: E402
from instance import Instance  # noqa: E402
from quick_task import ADD_ONE as TASK, ADDS_ONE as REFERENCE, HARNESS, add_one  # noqa: E402
from small_task import done as ok, new_source, register, zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

PROBLEMS = pathlib.Path(tempfile.mkdtemp(prefix="podium-problems."))
site = Instance(PODIUM_PROBLEMS=str(PROBLEMS), PODIUM_WORKER_NAME="here")
sql, value = site.sql, site.value
anyone, carl, dora, admin = (Client(site.url) for _ in range(4))
TOKEN = "podium_for_the_publication_test"

# A check that accepts every number.
WEAK = REFERENCE.replace("output == ref_kernel(data)", "isinstance(output, int)")
BROKEN = REFERENCE.replace("return data + 1", "raise ValueError('no kernel')")
NO_TEMPLATE = TASK.replace("templates: {Python: template.py}\n", "")


def pack(*content):
	return [("task", "task.zip", zip_of(add_one(*content)))]


def create(name, *content, gpus=("CPU",), **fields):
	fields = [("name", name), ("accepting", "1"), *(("gpu", gpu) for gpu in gpus), *fields.items()]
	return ok(carl.post("/admin/leaderboards/new", fields, pack(*content)))


def edit(name, *content, **fields):
	form = [("gpu", "CPU"), ("accepting", "1"), *fields.items()]
	return ok(carl.post(f"/admin/leaderboard/{name}/edit", form, pack(*content)))


def publish(name, action="publish", **fields):
	return carl.post(
		f"/admin/leaderboard/{name}/publishing",
		[("action", action), ("confirm", "yes"), *fields.items()],
	)


def check_page(name):
	return whole(carl.get(f"/admin/leaderboard/{name}/dryrun"))


def api(name, method="GET", body=None, path="/api/v1/admin/leaderboards/"):
	text = None if body is None else json.dumps(body).encode()
	return carl.request(
		method,
		path + name,
		text,
		{"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
	)


def publication(name):
	return api(name).json["publication"]


def stored(name):
	"""The visibility and the version in use."""
	return sql(
		"SELECT l.visibility, v.number FROM leaderboards l JOIN task_versions v ON v.id = "
		f"l.task_version_id WHERE l.name = '{name}'"
	)[0]


def dry_run_of(name):
	"""The newest."""
	return value(
		"SELECT MAX(d.id) FROM dry_runs d JOIN task_versions v ON v.id = d.task_version_id "
		f"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE l.name = '{name}'"
	)


def becomes(name, visibility, version="1"):
	until(lambda: stored(name) == [visibility, version], 120, lambda: check_page(name).words())


def ends(name, state):
	until(
		lambda: (publication(name) or {}).get("check") == state,
		120,
		lambda: check_page(name).words(),
	)


def is_hidden(name):
	"""Only its creator and admins see the leaderboard."""
	equal(stored(name)[0], "hidden")
	address = fresh(f"/leaderboard/{name}")
	equal(
		[client.get(address).status for client in (anyone, dora, carl, admin)], [404, 404, 200, 200]
	)


def notes(name, action="leaderboard.publish"):
	return sql(
		f"SELECT actor, detail FROM audit_log WHERE action = '{action}' AND subject = '{name}' "
		"ORDER BY id"
	)


@test
def the_fixtures_are_created():
	register(site, {"carl": carl, "dora": dora, "root-of-all": admin})
	sql(
		"UPDATE users SET role = 'creator' WHERE name = 'dora'; "
		"INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes, used_at) SELECT id, "
		f"'t', 'podium_for_t', UNHEX('{hashlib.sha256(TOKEN.encode()).hexdigest()}'), "
		"'read,submit,admin', UTC_TIMESTAMP(3) FROM users WHERE name = 'carl'"
	)
	until(lambda: sql("SELECT 1 FROM gpus WHERE model = 'CPU'"))


# ---- a good task ----


@test
def a_new_leaderboard_is_hidden_until_its_check_passes_and_then_becomes_public():
	site.hold_jobs()
	create("good")
	is_hidden("good")
	page = check_page("good").words()
	for words in (
		"The check is waiting. The leaderboard stays hidden until the check passes, then it "
		"becomes public.",
		"no worker takes jobs for CPU now : the check waits for one",
	):
		contains(page, words)
	waiting = publication("good")
	equal(
		(waiting["visibility"], waiting["task_version"], waiting["check"]), ("public", 1, "waiting")
	)
	equal(
		(waiting["gpus_without_worker"], waiting["errors"], waiting["warnings"]), (["CPU"], [], [])
	)
	contains(
		whole(carl.get("/leaderboard/good")).words(), "It becomes public when its check passes."
	)
	site.release_jobs()
	becomes("good", "public")
	equal(anyone.get(fresh("/leaderboard/good")).status, 200)
	equal(publication("good"), None)
	equal(notes("good"), [["podium-web", "visibility: public, was hidden"]])
	contains(
		notes("good", "leaderboard.create")[0][1], "public once its check passes; devices: CPU"
	)
	equal(
		sql(
			"SELECT COUNT(*) FROM dry_runs d JOIN task_versions v ON v.id = d.task_version_id "
			"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE l.name = 'good'"
		),
		[["1"]],
	)


@test
def a_problem_of_a_contest_says_that_it_waits_for_its_start():
	site.hold_jobs()
	create("early")
	sql(
		"INSERT INTO contests (id, name, title, starts_at, ends_at, rules) VALUES (7, 'cup', "
		"'Cup', '2099-01-02 03:04:00', '2099-02-02', ''); "
		"INSERT INTO contest_problems (contest_id, leaderboard_id, position) "
		"SELECT 7, id, 1 FROM leaderboards WHERE name = 'early'"
	)
	start, board = "its contest starts (2099-01-02 03:04 UTC)", "/leaderboard/early"
	waits = (
		f"The leaderboard stays hidden until {start} and the check has passed, then it becomes "
		"public."
	)
	contains(check_page("early").words(), waits)
	contains(
		whole(carl.get(board)).words(), f"It becomes public when {start}, if its check has passed."
	)
	contains(
		carl.get(f"/admin{board}/publishing").words(),
		f"The leaderboard stays hidden until {start} and its check has passed.",
	)
	site.release_jobs()
	passed = f"The check has passed. The leaderboard becomes public when {start}."
	until(lambda: passed in check_page("early").words(), 60)
	is_hidden("early")
	page = check_page("early").text
	lacks(page, "within seconds")
	lacks(page, 'http-equiv="refresh"')
	sql("UPDATE contests SET starts_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND")
	becomes("early", "public")
	sql("DELETE FROM contests")


@test
def a_leaderboard_that_has_passed_is_shown_again_without_another_check():
	ok(publish("good", "save", visibility="hidden"))
	is_hidden("good")
	ok(publish("good"))
	equal(stored("good"), ["public", "1"])
	equal(notes("good")[-1], ["carl", "visibility: public, was hidden"])


@test
def a_hidden_leaderboard_can_become_closed_after_its_check():
	create("club", visibility="hidden")
	equal(publication("club"), None)
	ok(publish("club", "save", visibility="closed"))
	is_hidden("club")
	contains(notes("club")[-1][1], "visibility: closed once the check passes, still hidden")
	becomes("club", "closed")


@test
def choosing_hidden_takes_the_wish_back():
	site.hold_jobs()
	create("regretted")
	ok(publish("regretted", "save", visibility="hidden"))
	equal(publication("regretted"), None)
	contains(notes("regretted")[-1][1], "no longer waits to be published")
	site.release_jobs()
	until(lambda: "All 6 outcomes" in check_page("regretted").words(), 120)
	until(lambda: not sql("SELECT 1 FROM publications"))
	is_hidden("regretted")


# ---- errors ----


@test
def a_task_whose_wrong_sample_passes_is_not_published():
	create("weak", WEAK)
	ends("weak", "failed")
	is_hidden("weak")
	page = check_page("weak").words()
	contains(page, "The check found 2 errors, so the leaderboard stays hidden.")
	contains(page, "Error: On CPU, wrong.py got the verdict passed, expected was wrong answer.")
	contains(page, "Error: On CPU, the input, returned got the verdict passed")
	lacks(page, "despite")


@test
def no_way_leads_around_an_error():
	dry_run = value("SELECT MAX(id) FROM dry_runs")
	equal(publish("weak", "accept", dry_run=dry_run).status, 409)
	ok(publish("weak"))
	is_hidden("weak")
	ok(publish("weak", "save", visibility="closed"))
	is_hidden("weak")
	equal(api("weak", "PATCH", {"visibility": "public"}).json["visibility"], "hidden")
	is_hidden("weak")
	equal(api("weak", "PATCH", {"visibility": "public", "accept_warnings": True}).status, 409)
	is_hidden("weak")
	answer = api(
		"weak/visibility", "POST", {"visibility": "public"}, "/popcorn/admin/leaderboards/"
	)
	equal((answer.status, answer.json["visibility"]), (200, "hidden"))
	is_hidden("weak")
	contains(site.manage("task", "publish", "weak"), "weak: is published once its check passes.")
	is_hidden("weak")
	equal(
		value(
			"SELECT COUNT(*) FROM dry_runs d JOIN task_versions v ON v.id = d.task_version_id "
			"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE l.name = 'weak'"
		),
		"1",
	)


@test
def a_corrected_task_is_checked_again_and_published():
	edit("weak")
	equal(stored("weak"), ["hidden", "2"])
	becomes("weak", "public", "2")


@test
def a_reference_that_fails_is_an_error_with_its_reason():
	create("broken", BROKEN)
	ends("broken", "failed")
	errors = publication("broken")["errors"]
	contains(" ".join(errors), "On CPU, the reference got the verdict runtime error")
	is_hidden("broken")


@test
def returning_the_input_may_be_right_if_the_task_says_so():
	copies = REFERENCE.replace("data + 1", "data")
	create("copies", copies)
	ends("copies", "failed")
	contains(publication("copies")["errors"][0], "the input, returned got the verdict passed")
	edit("copies", copies, TASK + "  input_is_right: true\n")
	ok(
		carl.post(
			"/admin/leaderboard/copies/dryrun?version=1", form="/admin/leaderboard/copies/dryrun"
		)
	)
	becomes("copies", "public")


# ---- warnings ----


@test
def warnings_must_be_accepted():
	saved = create("bare", REFERENCE, NO_TEMPLATE)
	contains(saved.location, "/admin/leaderboard/bare/edit")
	contains(
		whole(carl.get(saved.location)).words(),
		"Warning: The task has no template in Python, so participants begin with an empty file.",
	)
	ends("bare", "warned")
	is_hidden("bare")
	contains(check_page("bare").words(), "Publish despite the warnings")
	older = value("SELECT MAX(id) - 1 FROM dry_runs")
	equal(publish("bare", "accept", dry_run=older).status, 409)
	is_hidden("bare")
	equal(
		dora.post(
			"/admin/leaderboard/bare/publishing", [("action", "accept")], form="/account"
		).status,
		404,
	)
	ok(publish("bare", "accept", dry_run=value("SELECT MAX(id) FROM dry_runs")))
	equal(stored("bare"), ["public", "1"])
	equal(notes("bare"), [["carl", "visibility: public, was hidden; in spite of 1 warning"]])


@test
def the_interface_for_programs_accepts_warnings_too():
	create("bare-api", REFERENCE, NO_TEMPLATE)
	ends("bare-api", "warned")
	contains(publication("bare-api")["warnings"][0], "no template in Python")
	equal(api("bare-api", "PATCH", {"accept_warnings": True}).json["visibility"], "public")


@test
def a_task_without_a_wrong_answer_that_reaches_its_check_gets_a_warning():
	reference = REFERENCE.replace(
		"return output ==", "if output == data: raise ValueError()\n    return output =="
	)
	create("untested", reference, TASK.split("  expected:")[0])
	ends("untested", "warned")
	contains(
		publication("untested")["warnings"][0], "On CPU, no wrong answer reached the task's check"
	)


# ---- devices ----


@test
def a_device_without_a_worker_keeps_the_check_waiting():
	saved = create("elsewhere", gpus=("CPU", "H200", "N0SUCH"))
	page = whole(carl.get(saved.location)).words()
	contains(page, "Warning: No worker has ever offered N0SUCH. Is the name right?")
	until(
		lambda: value(
			"SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running') AND gpu = 'CPU'"
		)
		== "0"
	)
	is_hidden("elsewhere")
	waiting = publication("elsewhere")
	equal((waiting["check"], waiting["gpus_without_worker"]), ("waiting", ["H200", "N0SUCH"]))
	contains(
		check_page("elsewhere").words(),
		"no worker takes jobs for N0SUCH now : the check waits for one",
	)
	ok(carl.post("/admin/leaderboard/elsewhere/edit", [("gpu", "CPU"), ("accepting", "1")]))
	becomes("elsewhere", "public")


@test
def a_device_that_is_added_meanwhile_is_checked_too():
	create("grows", WEAK)
	ends("grows", "failed")
	before = value("SELECT MAX(id) FROM dry_runs")
	ok(
		carl.post(
			"/admin/leaderboard/grows/edit",
			[("gpu", "CPU"), ("gpu_other", "B300"), ("accepting", "1")],
		)
	)
	until(lambda: value("SELECT MAX(id) FROM dry_runs") > before)
	equal(publication("grows")["gpus_without_worker"], ["B300"])
	is_hidden("grows")
	ok(carl.post("/admin/leaderboard/grows/delete", [("name", "grows")]))
	equal(
		value(
			"SELECT COUNT(*) FROM publications p LEFT JOIN leaderboards l "
			"ON l.id = p.leaderboard_id WHERE l.id IS NULL"
		),
		"0",
	)


@test
def a_reference_for_cuda_on_the_cpu_gets_a_warning_beside_the_field():
	cuda = REFERENCE.replace("return seed", "return \"torch.randn(seed, device='cuda')\"")
	saved = create("cuda", cuda, visibility="hidden")
	contains(
		whole(carl.get(saved.location)).words(),
		"Warning: The reference seems to need CUDA, which the device CPU does not have.",
	)


# ---- devices that are added to a visible leaderboard ----


def set_devices(name, *gpus):
	"""The page Edit after carl has chosen these devices."""
	form = [*(("gpu", gpu) for gpu in gpus), ("accepting", "1")]
	ok(carl.post(f"/admin/leaderboard/{name}/edit", form))
	return whole(carl.get(f"/admin/leaderboard/{name}/edit")).words()


def submit(name, *gpus):
	"""Dora submits; the answer."""
	fields = [("mode", "test"), ("code", new_source()), *(("gpu", gpu) for gpu in gpus)]
	return dora.post(f"/leaderboard/{name}/submit", fields)


def is_refused(name, gpu):
	answer = submit(name, gpu)
	equal(answer.status, 422)
	contains(
		answer.words(),
		f"The device {gpu.upper()} of {name} is being checked, so it takes no submissions yet.",
	)


def closed(name):
	return {device["gpu"]: device for device in api(name).json["closed_gpus"]}


def device_ends(name, gpu, state):
	until(lambda: closed(name)[gpu]["check"] == state, 120, lambda: check_page(name).words())


def old(name, *content):
	"""Creates a public leaderboard with the device B300, which no worker offers."""
	create(name, *content, gpus=("B300",), visibility="hidden")
	site.publish(name)
	equal((stored(name)[0], closed(name)), ("public", {}))


@test
def an_added_device_takes_submissions_once_its_check_has_passed():
	old("added")
	site.hold_jobs()
	page = set_devices("added", "B300", "CPU")
	contains(page, "CPU takes no submissions until its check passes.")
	is_refused("added", "CPU")
	is_refused("added", "cpu")
	ok(submit("added", "B300"))
	equal(submit("added").status, 303)
	page = dora.get("/leaderboard/added/submit")
	contains(page.words(), "this device is being checked and takes no submissions yet")
	contains(page.text, 'value="CPU" disabled>')
	page = anyone.get(fresh("/leaderboard/added?gpu=CPU")).words()
	contains(page, "CPU is being checked and takes no submissions yet.")
	lacks(page, "Be the first")
	boards = anyone.get("/api/v1/leaderboards").json["items"]
	(devices,) = (board["devices"] for board in boards if board["name"] == "added")
	equal({one["gpu"]: one["accepting"] for one in devices}, {"B300": True, "CPU": False})
	equal(closed("added")["CPU"]["check"], "waiting")
	site.release_jobs()
	until(lambda: not closed("added"), 120, lambda: check_page("added").words())
	ok(submit("added", "CPU"))
	contains(notes("added")[-1][1], "CPU takes submissions, because its check has passed")
	equal(stored("added"), ["public", "1"])
	equal(  # the check ran on the added device alone
		sql(
			"SELECT DISTINCT j.gpu FROM jobs j JOIN submissions s ON s.id = j.submission_id "
			"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = 'added' AND s.dry_run"
		),
		[["CPU"]],
	)


@test
def a_device_that_is_removed_and_added_again_is_checked_again():
	set_devices("added", "B300")
	site.hold_jobs()
	set_devices("added", "B300", "CPU")
	is_refused("added", "CPU")
	set_devices("added", "B300", "CPU")
	is_refused("added", "CPU")
	site.release_jobs()
	until(lambda: not closed("added"), 120, lambda: check_page("added").words())


@test
def a_device_whose_check_fails_stays_closed_and_says_why():
	old("failing", WEAK)
	set_devices("failing", "B300", "CPU")
	device_ends("failing", "CPU", "failed")
	contains(closed("failing")["CPU"]["errors"][0], "the input, returned got the verdict passed")
	page = whole(carl.get("/admin/leaderboard/failing/edit")).words()
	contains(page, "CPU takes no submissions: its check found 2 errors.")
	contains(page, "On CPU, wrong.py got the verdict passed, expected was wrong answer.")
	page = check_page("failing").words()
	contains(page, "The check found 2 errors, so failing takes no submissions for CPU.")
	lacks(page, "despite")
	lacks(dora.get("/leaderboard/failing?gpu=CPU").words(), "wrong.py")
	contains(
		site.manage("task", "publish", "failing"),
		"failing: CPU takes no submissions until its check passes (failed).\n  Error: On CPU,",
	)
	ok(submit("failing", "B300"))


@test
def no_way_opens_a_device_whose_check_failed():
	dry_run = dry_run_of("failing")
	equal(publish("failing", "open", gpu="CPU", dry_run=dry_run).status, 409)
	equal(publish("failing", "open", gpu="B300", dry_run=dry_run).status, 409)
	equal(publish("failing", "accept", dry_run=dry_run).status, 409)
	equal(api("failing", "PATCH", {"accept_warnings": True}).status, 409)
	equal(api("failing", "PATCH", {"gpus": ["CPU", "B300"]}).status, 200)
	equal(api("failing/versions/1/switch", "POST", {}).status, 200)
	ok(publish("failing", "save", visibility="hidden"))
	ok(publish("failing"))  # version 1 needs no check, its device does
	equal(stored("failing"), ["public", "1"])
	ok(publish("failing", "save", visibility="closed"))
	ok(publish("failing", "save", visibility="public"))
	token = {"Authorization": f"Bearer {TOKEN}"}
	answer = carl.request("POST", "/popcorn/failing/CPU/test", None, token)
	equal(answer.status >= 400, True)
	is_refused("failing", "CPU")
	equal(list(closed("failing")), ["CPU"])


@test
def an_operator_opens_a_device_without_its_check():
	equal(site.manage("task", "publish", "--unchecked", "failing"), "failing: published.\n")
	equal(closed("failing"), {})
	equal(notes("failing")[-1], ["podium-admin", "version 1 needs no check"])


@test
def a_version_that_was_published_unchecked_needs_a_check_on_other_devices():
	old("relic", WEAK)
	set_devices("relic", "CPU")
	edit("relic")  # version 2 passes on CPU, where version 1 never ran
	becomes("relic", "public", "2")
	until(lambda: not closed("relic"), 20)
	ok(carl.post("/admin/leaderboard/relic/switch?version=1"))
	equal(stored("relic"), ["public", "2"])
	ends("relic", "failed")
	contains(publication("relic")["errors"][0], "On CPU, ")
	set_devices("relic", "CPU", "B300")
	equal(stored("relic"), ["public", "2"])


@test
def a_device_that_is_added_while_hidden_stays_closed_in_spite_of_a_waiver():
	old("veiled", WEAK)
	ok(publish("veiled", "save", visibility="hidden"))
	set_devices("veiled", "B300", "CPU")
	ok(publish("veiled"))
	equal((stored("veiled"), list(closed("veiled"))), (["public", "1"], ["CPU"]))
	device_ends("veiled", "CPU", "failed")
	is_refused("veiled", "CPU")
	ok(publish("veiled", "save", visibility="hidden"))
	set_devices("veiled", "CPU")
	set_devices("veiled", "CPU", "B300")  # B300 was added again after the waiver
	ok(publish("veiled"))
	equal(sorted(closed("veiled")), ["B300", "CPU"])
	contains(check_page("veiled").words(), "Check of B300")


@test
def a_waiver_does_not_cover_what_a_later_dry_run_finds():
	create("doubted", WEAK, visibility="hidden")
	site.publish("doubted")
	ok(publish("doubted", "save", visibility="hidden"))
	ok(publish("doubted"))
	equal(stored("doubted"), ["public", "1"])
	ok(publish("doubted", "save", visibility="hidden"))
	address = "/admin/leaderboard/doubted/dryrun"
	ok(carl.post(f"{address}?version=1", form=address))
	ok(publish("doubted"))
	ends("doubted", "failed")
	is_hidden("doubted")
	site.publish("doubted")
	equal(stored("doubted"), ["public", "1"])


@test
def another_version_opens_a_device_that_failed():
	old("mended", WEAK)
	set_devices("mended", "B300", "CPU")
	device_ends("mended", "CPU", "failed")
	set_devices("mended", "CPU")
	edit("mended")  # no device is open, so version 2 must pass on the closed one
	equal(stored("mended"), ["public", "1"])
	becomes("mended", "public", "2")
	until(lambda: not closed("mended"), 20)
	ok(submit("mended", "CPU"))


@test
def warnings_of_a_device_must_be_accepted():
	untested = REFERENCE.replace(
		"return output ==", "if output == data: raise ValueError()\n    return output =="
	)
	for name in ("unsure", "unsure-api"):
		old(name, untested, TASK.split("  expected:")[0])
		set_devices(name, "B300", "CPU")
		device_ends(name, "CPU", "warned")
		is_refused(name, "CPU")
	contains(check_page("unsure").words(), "Open CPU despite the warnings")
	page = whole(carl.get("/admin/leaderboard/unsure/edit")).words()
	contains(page, "CPU takes no submissions: its check found 1 warning.")
	dry_run = dry_run_of("unsure")
	equal(publish("unsure", "open", gpu="CPU", dry_run=int(dry_run) - 1).status, 409)
	ok(publish("unsure", "open", gpu="CPU", dry_run=dry_run))
	equal(notes("unsure")[-1], ["carl", "CPU takes submissions, in spite of 1 warning"])
	equal(api("unsure-api", "PATCH", {"accept_warnings": True}).json["closed_gpus"], [])
	ok(submit("unsure", "CPU"))


@test
def a_device_that_waits_for_a_worker_delays_nothing():
	create("broad")
	becomes("broad", "public")
	set_devices("broad", "CPU", "B300")
	contains(check_page("broad").words(), "The check waits: no worker takes jobs for B300 now.")
	edit("broad", REFERENCE, TASK.replace("{seed: 3}", "{seed: 4}"), gpu="B300")
	becomes("broad", "public", "2")
	ok(submit("broad", "CPU"))
	is_refused("broad", "B300")
	set_devices("broad", "CPU", "B300", "B200")
	until(  # the check of the second device does not wait for the first one's
		lambda: value(
			"SELECT COUNT(DISTINCT gpu) FROM jobs WHERE gpu IN ('B200', 'B300') "
			"AND state = 'queued' AND priority = 1 AND submission_id > 0"
		)
		== "2"
	)
	ok(publish("broad", "save", visibility="hidden"))
	set_devices("broad", "CPU")
	ok(publish("broad"))
	becomes("broad", "public", "2")


# ---- results from before ----


RIGHT = "def custom_kernel(data):\n    return data + 1\n"
RANKED = (
	"SELECT r.gpu, r.place FROM ranking r JOIN leaderboards l ON l.id = r.leaderboard_id "
	"WHERE l.name = '{}' ORDER BY r.gpu"
)
RECORDS = (
	"SELECT DISTINCT r.gpu, IF(r.ranked_at < '2022-01-01', 'then', 'now') FROM records r "
	"JOIN leaderboards l ON l.id = r.leaderboard_id WHERE l.name = '{}'"
)


def rank(name):
	"""Carl's result on CPU enters the ranking."""
	fields = [("mode", "ranked"), ("code", RIGHT + new_source()), ("gpu", "CPU")]
	ok(carl.post(f"/leaderboard/{name}/submit", fields))
	until(lambda: sql(RANKED.format(name)) == [["CPU", "1"]], 60)
	equal(sql(RECORDS.format(name)), [["CPU", "now"]])


def age(name):
	"""Moves the leaderboard and its results to earlier years."""
	sql(
		"UPDATE leaderboards l JOIN submissions s ON s.leaderboard_id = l.id "
		"JOIN jobs j ON j.submission_id = s.id JOIN records r ON r.leaderboard_id = l.id "
		"SET l.created_at = '2020-01-01', j.finished_at = '2021-01-01', "
		"j.ranked_at = IF(j.ranked_at IS NULL, NULL, '2021-01-01'), r.ranked_at = '2021-01-01' "
		f"WHERE l.name = '{name}' AND NOT s.dry_run"
	)
	equal(sql(RECORDS.format(name)), [["CPU", "then"]])


@test
def results_from_before_publication_count_from_then_on():
	create("rehearsal", visibility="hidden")
	rank("rehearsal")
	age("rehearsal")
	ok(publish("rehearsal"))
	becomes("rehearsal", "public")
	lacks(anyone.get("/leaderboard/rehearsal.atom").text, "<updated>2021")
	until(lambda: sql(RECORDS.format("rehearsal")) == [["CPU", "now"]], 20)
	equal(sql(RANKED.format("rehearsal")), [["CPU", "1"]])
	# A leaderboard that was visible, hidden and shown again keeps its history.
	age("rehearsal")
	ok(publish("rehearsal", "save", visibility="hidden"))
	ok(publish("rehearsal"))
	becomes("rehearsal", "public")
	until(lambda: value("SELECT SUM(ranking_due) FROM leaderboards") == "0", 20)
	equal(sql(RECORDS.format("rehearsal")), [["CPU", "then"]])


@test
def a_closed_device_has_no_ranking_and_its_results_come_back_when_it_opens():
	create("curtain", WEAK, gpus=("CPU", "B300"), visibility="hidden")
	rank("curtain")
	site.publish("curtain")
	ok(publish("curtain", "save", visibility="hidden"))
	set_devices("curtain", "B300")
	until(lambda: sql(RECORDS.format("curtain")) == [["CPU", "now"]], 20)
	age("curtain")
	set_devices("curtain", "B300", "CPU")
	equal(sql(RANKED.format("curtain")) + sql(RECORDS.format("curtain")), [])
	ok(publish("curtain"))
	device_ends("curtain", "CPU", "failed")
	site.manage("ranking", "rebuild", "curtain")
	equal(sql(RANKED.format("curtain")) + sql(RECORDS.format("curtain")), [])
	equal(anyone.get(fresh("/leaderboard/curtain.json?gpu=CPU")).json["rows"], [])
	# A result that is ranked while the device is closed counts from the opening on.
	sql(
		"UPDATE jobs j JOIN submissions s ON s.id = j.submission_id JOIN leaderboards l "
		"ON l.id = s.leaderboard_id SET j.ranked_at = '2021-07-01' "
		"WHERE l.name = 'curtain' AND NOT s.dry_run"
	)
	sql("UPDATE leaderboard_gpus SET closed_at = '2021-06-01' WHERE closed_at IS NOT NULL")
	site.publish("curtain")
	until(lambda: sql(RANKED.format("curtain")) == [["CPU", "1"]], 20)
	equal(sql(RECORDS.format("curtain")), [["CPU", "now"]])


# ---- versions ----


@test
def a_version_of_a_visible_leaderboard_is_used_when_its_check_passes():
	edit("good", WEAK)
	equal(stored("good"), ["public", "1"])
	contains(
		whole(carl.get("/leaderboard/good")).words(),
		"Version 2 of the task is used when its check passes.",
	)
	lacks(whole(anyone.get(fresh("/leaderboard/good"))).words(), "Version 2")
	ends("good", "failed")
	contains(check_page("good").words(), "The check found 2 errors, so version 1 stays in use.")
	asked = ok(carl.post("/admin/leaderboard/good/switch?version=2"))
	contains(
		whole(carl.get(asked.location)).words(),
		"Podium uses version 2 when its check has passed, and version 1 until then.",
	)
	equal(api("good/versions/2/switch", "POST", {}).json["task_version"], 1)
	equal(stored("good"), ["public", "1"])
	edit("good", REFERENCE, TASK.replace("{seed: 3}", "{seed: 4}"))
	equal(stored("good"), ["public", "1"])
	becomes("good", "public", "3")
	equal(notes("good", "leaderboard.switch"), [["podium-web", "task: version 3, was version 1"]])
	ok(carl.post("/admin/leaderboard/good/switch?version=1"))
	equal(stored("good"), ["public", "1"])


@test
def switching_back_takes_the_wish_for_another_version_back():
	ok(carl.post("/admin/leaderboard/good/switch?version=2"))
	equal(publication("good")["task_version"], 2)
	ok(carl.post("/admin/leaderboard/good/switch?version=1"))
	equal(publication("good"), None)


# ---- sets and commands ----


@test
def a_problem_set_creates_hidden_leaderboards():
	tree = {f"sum/{name}": text for name, text in add_one(WEAK).items()}
	yaml = "name: a set\nproblems:\n  - {directory: sum, name: of-set, gpus: [CPU]}\n"
	location = ok(
		carl.post("/admin/sets/new", files=[("set", "s.zip", zip_of({"set.yaml": yaml, **tree}))])
	).location
	page = carl.get(location).text
	hidden = {
		name: page.split(f'name="{name}" value="')[1].split('"')[0] for name in ("set", "plan")
	}
	ok(carl.post(location, list(hidden.items()), csrf=carl.csrf("/account")))
	ends("of-set", "failed")
	is_hidden("of-set")


@test
def problems_that_popcorn_loads_become_hidden_leaderboards():
	folder = PROBLEMS / "problems"
	(folder / "sum").mkdir(parents=True)
	for name, text in add_one(WEAK).items():
		(folder / "sum" / name).write_text(text)
	equal(api("", "POST", {"directory": "sum"}, "/popcorn/admin/leaderboards").status, 200)
	ends("sum-dev", "failed")
	is_hidden("sum-dev")


@test
def podium_admin_needs_its_flag_to_publish_without_a_check():
	tasks = site.var / "tasks"
	for name, reference in (("sum", REFERENCE), ("unsound", WEAK)):
		(tasks / name).mkdir(parents=True)
		for path, text in add_one(reference).items():
			(tasks / name / path).write_text(text)
	answer = site.manage("task", "load", tasks / "sum")
	equal(answer, "sum: created. It stays hidden until its check passes.\n")
	equal(stored("sum"), ["hidden", "1"])
	becomes("sum", "public")
	equal(site.manage("task", "load", "--unchecked", tasks / "unsound"), "unsound: created.\n")
	equal(stored("unsound"), ["public", "1"])
	contains(
		notes("unsound", "leaderboard.create")[0], "public, not checked; devices: CPU; 5 files"
	)
	(tasks / "sum" / "eval.py").write_text(HARNESS + "\n")
	contains(
		site.manage("task", "load", tasks / "sum"),
		"next version 2. Version 1 is used until the check passes.",
	)
	becomes("sum", "public", "2")


@test
def an_operator_publishes_without_the_check_and_the_audit_log_says_so():
	equal(site.admin("task", "publish", "nothing").returncode, 1)
	equal(site.admin("task", "publish", "of-set", "9").returncode, 1)
	equal(site.manage("task", "publish", "--unchecked", "of-set"), "of-set: published.\n")
	equal(stored("of-set"), ["public", "1"])
	equal(
		notes("of-set"),
		[
			["podium-admin", "version 1 needs no check"],
			["podium-admin", "visibility: public, was hidden"],
		],
	)


# ---- attacks ----


@test
def a_device_that_closes_while_somebody_submits_gets_no_job():
	old("racing")
	token = dora.csrf("/account")
	jobs = value("SELECT COUNT(*) FROM jobs WHERE gpu = 'B300' AND priority = 0")
	with Held(site, "SELECT id FROM users WHERE name = 'dora' FOR UPDATE") as held:
		fields = [("mode", "test"), ("code", new_source()), ("gpu", "B300")]
		join = beside(lambda: dora.post("/leaderboard/racing/submit", fields, csrf=token))
		held.wait_for_others()  # the device was still open when the form was checked
		sql("UPDATE leaderboard_gpus SET closed_at = UTC_TIMESTAMP(3) WHERE gpu = 'B300'")
	(answer,) = join()
	equal(answer.status, 422)
	equal(value("SELECT COUNT(*) FROM jobs WHERE gpu = 'B300' AND priority = 0"), jobs)
	site.publish("racing")


@test
def of_many_who_publish_at_once_one_does():
	create("rushed", REFERENCE, NO_TEMPLATE)
	ends("rushed", "warned")
	dry_run = dry_run_of("rushed")
	token = carl.csrf("/account")
	fields = [("action", "accept"), ("dry_run", dry_run), ("confirm", "yes")]
	address = "/admin/leaderboard/rushed/publishing"
	answers = beside(*[lambda: carl.post(address, fields, csrf=token)] * 8)()
	equal(sorted(answer.status for answer in answers), [303] + [409] * 7)
	equal(notes("rushed"), [["carl", "visibility: public, was hidden; in spite of 1 warning"]])


@test
def warnings_of_an_earlier_check_cannot_be_accepted_for_another_task():
	create("swapped", REFERENCE, NO_TEMPLATE)
	ends("swapped", "warned")
	dry_run = dry_run_of("swapped")
	edit("swapped", WEAK, NO_TEMPLATE)
	equal(publish("swapped", "accept", dry_run=dry_run).status, 409)
	ends("swapped", "failed")
	equal(publish("swapped", "accept", dry_run=dry_run).status, 409)
	is_hidden("swapped")


@test
def a_cancelled_check_is_no_check():
	site.hold_jobs()
	create("cut-short", WEAK)
	for (number,) in sql(
		"SELECT s.id FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id "
		"WHERE l.name = 'cut-short'"
	):
		carl.post(f"/submission/{number}/cancel", form="/account")
	site.release_jobs()
	ends("cut-short", "failed")
	contains(publication("cut-short")["errors"][0], "got the verdict cancelled")
	is_hidden("cut-short")


@test
def only_those_who_manage_a_leaderboard_publish_it_or_open_its_devices():
	old("guarded", WEAK)
	set_devices("guarded", "B300", "CPU")
	device_ends("guarded", "CPU", "failed")
	for name in ("cut-short", "guarded"):
		for action in ("publish", "accept", "open", "save"):
			fields = [
				("action", action),
				("gpu", "CPU"),
				("visibility", "public"),
				("confirm", "yes"),
			]
			answer = dora.post(f"/admin/leaderboard/{name}/publishing", fields, form="/account")
			contains([403, 404], answer.status)
		for path in ("edit", "dryrun", "switch?version=1"):
			answer = dora.post(
				f"/admin/leaderboard/{name}/{path}", [("gpu", "CPU")], form="/account"
			)
			contains([403, 404], answer.status)
	equal(closed("guarded")["CPU"]["check"], "failed")
	is_hidden("cut-short")


@test
def a_clone_of_a_published_leaderboard_needs_a_check_of_its_own():
	ok(carl.post("/admin/leaderboard/guarded/clone", [("name", "cloned")]))
	ok(publish("cloned"))
	is_hidden("cloned")


@test
def a_problem_set_adds_devices_that_are_closed():
	tree = {f"sum/{name}": text for name, text in add_one(WEAK).items()}
	yaml = "name: a set\nproblems:\n  - {directory: sum, name: of-set, gpus: [CPU, B300]}\n"
	location = ok(
		carl.post("/admin/sets/new", files=[("set", "s.zip", zip_of({"set.yaml": yaml, **tree}))])
	).location
	page = carl.get(location).text
	hidden = {
		name: page.split(f'name="{name}" value="')[1].split('"')[0] for name in ("set", "plan")
	}
	ok(carl.post(location, list(hidden.items()), csrf=carl.csrf("/account")))
	equal((stored("of-set"), list(closed("of-set"))), (["public", "1"], ["B300"]))


@test
def problems_that_popcorn_updates_get_closed_devices():
	site.publish("sum-dev")
	(PROBLEMS / "problems" / "one.yaml").write_text(
		"name: one\nproblems:\n  - {directory: sum, name: sum-dev, deadline: '2099-01-01', "
		"gpus: [CPU, B300]}\n"
	)
	order = {"problem_set": "one", "force": True}
	answer = api("", "POST", order, "/popcorn/admin/update-problems")
	equal(answer.json["updated"], ["sum-dev"])
	equal((stored("sum-dev"), list(closed("sum-dev"))), (["public", "1"], ["B300"]))


# ---- internal errors ----


@test
def an_internal_error_is_shown_to_the_creators_until_somebody_has_looked():
	job = value(
		"SELECT MAX(j.id) FROM jobs j JOIN submissions s ON s.id = j.submission_id "
		"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE l.name = 'good'"
	)
	for _ in range(2):
		sql(
			f"UPDATE jobs SET state = 'running', lease_expires = '2020-01-01', attempt = 3, "
			f"lease_owner = 'gone' WHERE id = {job}"
		)
		until(lambda: value(f"SELECT state FROM jobs WHERE id = {job}") == "failed", 20)
	for address, words in (
		("/", "good : 2 internal errors since"),
		("/admin", "internal error good : 2 internal errors"),
		("/admin/leaderboard/good/edit", "good : 2 internal errors since"),
	):
		page = whole(carl.get(fresh(address)))
		contains(page.words(), words)
		contains(page.words(), f"the newest: job {job}")
	contains(whole(admin.get("/admin")).words(), "internal error good : 2 internal errors")
	for client in (anyone, dora, admin):
		lacks(whole(client.get(fresh("/"))).words(), "internal error")
	lacks(whole(dora.get("/admin")).words(), "internal error")
	equal(
		dora.post(
			"/admin/leaderboard/good/publishing", [("action", "seen")], form="/account"
		).status,
		403,
	)
	seen = carl.post(
		"/admin/leaderboard/good/publishing",
		[("action", "seen"), ("next", "/admin")],
		form="/account",
	)
	equal((seen.status, seen.location), (303, "/admin"))
	contains(whole(carl.get("/admin")).words(), "The internal errors are marked as seen.")
	lacks(whole(carl.get(fresh("/"))).words(), "internal error")


try:
	code = run()
finally:
	site.remove()
	shutil.rmtree(PROBLEMS)
sys.exit(code)
