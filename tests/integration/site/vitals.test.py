#!/usr/bin/env python3
"""A GPU's last day: its worker keeps temperature, clocks and errors once a minute, and a page shows them. The driver is a
pretended one."""
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
admin, ada = (Client(site.url) for _ in range(2))
PASSWORD = "a long password"


def device():
	return sql("SELECT w.name, g.uuid FROM workers w JOIN gpus g ON g.worker_id = w.id ORDER BY g.uuid LIMIT 1")[0]


def shown(client=admin):
	answer = client.get("/admin/device/%s/%s" % tuple(device()))
	reader = Page()
	reader.feed(answer.text)
	equal((reader.faults, reader.stack, len(reader.ids)), ([], [], len(set(reader.ids))))
	return answer


@test
def a_worker_keeps_readings_of_each_gpu():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		equal(client.post("/register", [("name", name), ("password", PASSWORD)]).status, 303)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	end = time.time() + 120
	while len(sql("SELECT DISTINCT uuid FROM device_vitals")) < 2:
		assert time.time() < end, sql("SELECT * FROM device_vitals")
		time.sleep(0.1)
	equal(sql("SELECT DISTINCT temperature_c, memory_mhz, errors, sm_mhz BETWEEN 1000 AND 1980, minute BETWEEN 0 AND 1439 FROM device_vitals"), [["41", "3201", "0", "1", "1"]])
	contains(admin.get("/admin/workers").text, "/admin/device/%s/%s" % tuple(device()))
	contains(shown().words(), "41 °C")


@test
def the_page_shows_the_last_day_hour_by_hour():
	worker, uuid = device()
	# Only the past hours are made up, since the worker goes on writing.
	sql(f"DELETE FROM device_vitals WHERE uuid = '{uuid}'; INSERT INTO device_vitals "
		f"SELECT '{worker}', '{uuid}', HOUR(t) * 60 + MINUTE(t), t, IF(seq = 300, NULL, 30 + seq DIV 60), 1500 + seq, 2000, seq = 260 "
		"FROM (SELECT seq, UTC_TIMESTAMP(3) - INTERVAL 400 MINUTE + INTERVAL seq - 120 MINUTE AS t FROM seq_120_to_400) made; "
		f"UPDATE device_vitals SET at = at - INTERVAL 2 DAY WHERE uuid = '{uuid}' AND temperature_c = 33")
	answer = shown()
	words = answer.words()
	contains(words, "1 error that the driver has reported")
	for part in ("32 °C", "34", "36 °C", "2000 MHz"):
		contains(words, part)
	lacks(words, "33 °C")
	equal(answer.text.count("<svg"), 2)
	equal(len(re.findall(r'class="errors" d="M\d+ 0v100"', answer.text)), 2)
	line = re.search(r'class="line" d="([^"]*)"', answer.text)[1]
	equal(line.count("M") >= 2, True)  # the hour that is older than a day is a gap
	for x, y in re.findall(r"[ML](\d+) (\d+)", line):
		equal((0 <= int(x) <= 1440, 0 <= int(y) <= 100), (True, True))
	lacks(answer.text, "style=")


@test
def only_admins_see_it_and_only_of_devices_that_there_are():
	worker, uuid = device()
	equal(shown(ada).status, 403)
	for path in (f"/admin/device/{worker}/GPU-none", f"/admin/device/nobody/{uuid}", "/admin/device/%C3%BC/x", "/admin/device/x/%C3%BC"):
		equal((path, admin.get(path).status), (path, 404))


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
