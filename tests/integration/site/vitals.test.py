#!/usr/bin/env python3
"""The page of workers: the queue of each model, the state of hosts and devices, and quarantine.
Also the page with a GPU's last day: the worker stores temperature, clocks and errors once a minute.
A stand-in plays the driver."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page, whole  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
admin, ada = (Client(site.url) for _ in range(2))
PASSWORD = "a long password"


def device():
	return sql(
		"SELECT w.name, g.uuid FROM workers w JOIN gpus g ON g.worker_id = w.id ORDER BY g.uuid "
		"LIMIT 1"
	)[0]


def shown(client=admin):
	answer = client.get("/admin/device/%s/%s" % tuple(device()))
	return whole(answer)


@test
def a_worker_keeps_readings_of_each_gpu():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		client.register(name)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	until(
		lambda: len(sql("SELECT DISTINCT uuid FROM device_vitals")) >= 2,
		explain=lambda: sql("SELECT * FROM device_vitals"),
	)
	equal(
		sql(
			"SELECT DISTINCT temperature_c, memory_mhz, errors, sm_mhz BETWEEN 1000 AND "
			"1980, minute "
			"BETWEEN 0 AND 1439 FROM device_vitals"
		),
		[["41", "3201", "0", "1", "1"]],
	)
	contains(admin.get("/admin/workers").text, "/admin/device/%s/%s" % tuple(device()))
	contains(shown().words(), "41 °C")


@test
def the_page_shows_the_last_day_by_hour():
	worker, uuid = device()
	# The worker writes each minute, so the test makes up only minutes that are past.
	sql(
		f"DELETE FROM device_vitals WHERE uuid = '{uuid}'; INSERT INTO device_vitals "
		f"SELECT '{worker}', '{uuid}', HOUR(t) * 60 + MINUTE(t), t, IF(seq = 300, NULL, 30 + seq "
		"DIV 60), 1500 + seq, 2000, seq = 260 "
		"FROM (SELECT seq, UTC_TIMESTAMP(3) - INTERVAL 400 MINUTE + INTERVAL seq - 120 MINUTE AS "
		"t FROM seq_120_to_400) made; "
		f"UPDATE device_vitals SET at = at - INTERVAL 2 DAY WHERE uuid = '{uuid}' AND "
		"temperature_c = 33"
	)
	answer = shown()
	words = answer.words()
	contains(words, "Errors (Xid) 1 error")
	for part in ("32 °C", "34", "36 °C", "2000 MHz"):
		contains(words, part)
	lacks(words, "33 °C")
	equal(answer.text.count("<svg"), 2)
	equal(len(re.findall(r'class="errors" d="M\d+ 0v100"', answer.text)), 2)
	line = re.search(r'class="line" d="([^"]*)"', answer.text)[1]
	equal(line.count("M") >= 2, True)  # the line has a gap for the hour that is older than a day
	for x, y in re.findall(r"[ML](\d+) (\d+)", line):
		equal((0 <= int(x) <= 1440, 0 <= int(y) <= 100), (True, True))
	lacks(answer.text, "style=")


def workers():
	answer = admin.get("/admin/workers")
	reader = Page()
	reader.feed(answer.text)
	equal(
		(answer.status, reader.faults, reader.stack, len(reader.ids)),
		(200, [], [], len(set(reader.ids))),
	)
	return answer.words()


@test
def the_page_of_workers_summarizes_each_devices_day_in_a_line():
	worker, uuid = device()
	sql(
		f"DELETE FROM device_vitals WHERE uuid = '{uuid}'; INSERT INTO device_vitals SELECT "
		f"'{worker}', '{uuid}', HOUR(t) * 60 + MINUTE(t), t, c, 1500, 2000, e "
		"FROM (SELECT UTC_TIMESTAMP(3) - INTERVAL 3 HOUR AS t, 77 AS c, 2 AS e UNION ALL SELECT "
		"UTC_TIMESTAMP(3) + INTERVAL 2 MINUTE, 43, 1 "
		"UNION ALL SELECT UTC_TIMESTAMP(3) - INTERVAL 26 HOUR, 99, 9) made"
	)
	contains(
		workers(),
		"Temperature 43 °C at most 77 °C in 24 h SM clock 1500 MHz Memory clock 2000 MHz "
		"Errors in 24 h 3 errors",
	)
	lacks(workers(), "99 °C")


@test
def the_page_of_workers_shows_the_findings_of_doctor_on_each_host():
	worker = device()[0]
	found = sql(f"SELECT COALESCE(checks, 'NULL') FROM workers WHERE name = '{worker}'")[0][
		0
	].replace("\\\\", "\\")
	sql(f"""UPDATE workers SET checks = '[{{"state": "good", "name": "seccomp", "found": "yes"}},
		{{"state": "fault", "name": "<cgroup>", "found": "no", "costs": "a wall",
		"mend": "run \\\\"fix <it>\\\\" or ask \\\\"us"}},
		{{"state": "warning", "name": "clocks", "found": "no", "costs": "noise", "mend": "lock"}}]'
			WHERE name = '{worker}' """)
	contains(workers(), "Host 1 fault 1 warning See host checks")
	contains(
		whole(admin.get(f"/admin/host/{worker}")).text,
		"<b>Fix:</b> run <code>fix &lt;it&gt;</code> or ask &quot;us",
	)
	sql(f"UPDATE workers SET checks = NULL WHERE name = '{worker}'")
	contains(workers(), "Host not checked yet")
	sql(
		f'UPDATE workers SET checks = \'[{{"state": "good", "name": "seccomp", "found": '
		f"\"yes\"}}]' WHERE name = '{worker}'"
	)
	contains(workers(), "Host all checks passed")
	equal(found == "NULL", False)  # at its start the worker stored what it found


@test
def the_page_of_workers_shows_the_queue_of_each_model():
	contains(workers(), "H200 no job waits – 0 0 2")
	sql("""INSERT INTO workers (name, version, host, started_at, seen_at)
		VALUES ('far', '0', '{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL 1 HOUR);
		INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability,
			seen_at)
		SELECT id, 'GPU-far', 'Q1', 'Q1', 1, '', '', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR FROM workers
			WHERE name = 'far';
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
		SELECT l.id, l.task_version_id, (SELECT id FROM users WHERE name = 'ada'), 'made.py',
			(SELECT sha256 FROM blobs LIMIT 1), 'test' FROM leaderboards l LIMIT 1;
		INSERT INTO jobs (submission_id, user_id, gpu, queued_at) SELECT id, user_id, 'Q1',
			UTC_TIMESTAMP(3) - INTERVAL 5 MINUTE FROM submissions;
		INSERT INTO jobs (submission_id, user_id, gpu, queued_at) SELECT id, user_id, 'Z9000',
			UTC_TIMESTAMP(3) - INTERVAL 2 HOUR FROM submissions;
		INSERT INTO job_times (task_version_id, gpu, mode, recent, median_ms, updated_at)
			SELECT task_version_id, 'Q1', 'test', '60000', 60000, UTC_TIMESTAMP(3) FROM submissions;
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			SELECT leaderboard_id, task_version_id, user_id, 'more.py', sha256, mode
			FROM submissions;
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			SELECT leaderboard_id, task_version_id, user_id, 'last.py', sha256, mode
			FROM submissions LIMIT 1;
		INSERT INTO jobs (submission_id, user_id, gpu, queued_at) SELECT id, user_id, 'Q1',
			UTC_TIMESTAMP(3) FROM submissions WHERE file_name <> 'made.py' """)
	contains(workers(), "Q1 in about 2 min 5 minutes ago 3 0 1")
	contains(workers(), "Z9000 when a device takes jobs again 2 hours ago 1 0 0")
	sql(
		"INSERT INTO pauses (worker, uuid, kind, paused_by) VALUES ('far', '', 'drain', "
		"'root-of-all')"
	)
	contains(workers(), "Q1 when a device takes jobs again 5 minutes ago 3 0 0")
	sql("DELETE FROM submissions; DELETE FROM workers WHERE name = 'far'; DELETE FROM pauses")


@test
def a_device_can_be_quarantined_with_a_reason():
	worker, uuid = device()

	def act(action, **fields):
		return admin.post(
			"/admin/workers",
			list({"worker": worker, "device": uuid, "action": action, **fields}.items()),
		)

	for reason in ("", "  ", "two\nlines", "x" * 501):
		answer = act("quarantine", reason=reason, confirm="yes")
		equal((reason, answer.status), (reason, 422))
		contains(answer.words(), "Give the reason for the quarantine")
	equal(act("quarantine", reason="why", confirm="yes", device="").status, 422)
	equal(act("quarantine", reason="why", confirm="yes", device="GPU-none").status, 404)
	answer = act("quarantine", reason="It <smells>.")
	equal(answer.status, 422)
	contains(answer.words(), f"Quarantine {uuid} of {worker}? Why: “It <smells>.”")
	equal(sql("SELECT COUNT(*) FROM pauses"), [["0"]])
	equal(act("quarantine", reason="It <smells>.", confirm="yes").status, 303)
	equal(
		sql("SELECT uuid, kind, paused_by, reason FROM pauses"),
		[[uuid, "quarantine", "root-of-all", "It <smells>."]],
	)
	contains(workers(), "quarantined by root-of-all")
	contains(workers(), "Quarantined: It <smells>.")
	contains(workers(), "H200 no job waits – 0 0 1")  # the other device takes jobs
	contains(admin.get(f"/queue?{time.time()}").words(), "quarantined")
	equal(act("resume").status, 303)
	contains(workers(), "H200 no job waits – 0 0 2")
	equal(
		sql(
			"SELECT action, subject, detail FROM audit_log WHERE action LIKE 'worker.%' ORDER BY id"
		),
		[
			[
				"worker.quarantine",
				f"{worker} {uuid}",
				"in quarantine; 0 running queued again: It <smells>.",
			],
			["worker.resume", f"{worker} {uuid}", "takes jobs again"],
		],
	)
	sql(
		"UPDATE gpus SET quarantined_at = UTC_TIMESTAMP(3), quarantine_reason = 'It fell off the "
		f"bus.' WHERE uuid = '{uuid}'"
	)
	contains(workers(), "Podium quarantined this device just now")
	contains(workers(), "It fell off the bus.")
	equal(admin.post("/admin/gpus/release", [("uuid", uuid)], form="/account").status, 303)
	lacks(workers(), "It fell off the bus.")


@test
def only_admins_see_a_devices_page_and_unknown_devices_are_not_found():
	worker, uuid = device()
	equal(shown(ada).status, 403)
	for path in (
		f"/admin/device/{worker}/GPU-none",
		f"/admin/device/nobody/{uuid}",
		"/admin/device/%C3%BC/x",
		"/admin/device/x/%C3%BC",
	):
		equal((path, admin.get(path).status), (path, 404))


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
