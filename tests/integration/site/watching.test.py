#!/usr/bin/env python3
"""Monitoring: /metrics, the alerts and the dashboard built on it, and the logs. A stand-in plays
podium-run."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from exposition import Exposition  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
import mariadb  # noqa: E402
from programs import make_token  # noqa: E402
from small_task import case, make_board, send_source, source_of, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

PASSWORD = "a long password 4711"
LEASE_MS = 2000
mariadb.use_own_server()
site = Instance(pretends=True, PODIUM_LEASE_MS=str(LEASE_MS), PODIUM_WEBHOOK_SENDERS="0")
sql = site.sql
admin, ada, nobody = (Client(site.url) for _ in range(3))
PROMTOOL = os.environ.get("PROMTOOL") or shutil.which("promtool")
RULES = ROOT / "packaging" / "prometheus" / "podium.rules.yml"


def scrape():
	answer = nobody.get("/metrics")
	equal(
		(answer.status, answer.headers["Content-Type"]),
		(200, "text/plain; version=0.0.4; charset=utf-8"),
	)
	return Exposition(answer.text)


def outcomes(gpu="H200"):
	return {
		dict(labels)["outcome"]: value
		for labels, value in scrape().all_of("podium_jobs_total", gpu=gpu).items()
		if value
	}


# ---- figures ----


@test
def the_fixtures_are_created():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		client.register(name, PASSWORD)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'")
	make_board(admin, "small")


@test
def prometheus_can_parse_the_metrics():
	answer = nobody.get("/metrics")
	figures = Exposition(answer.text)
	version = re.search(
		r"^VERSION +:= (.+)$",
		(pathlib.Path(__file__).resolve().parents[3] / "Makefile").read_text(),
		re.M,
	)[1]
	equal(
		(
			figures.value("podium_build_info", version=version),
			figures.value("podium_database_up"),
			figures.value("podium_http_threads"),
		),
		(1, 1, 8),
	)
	equal(
		figures.value("podium_schema_version"),
		float(sql("SELECT MAX(version) FROM schema_migrations")[0][0]),
	)
	if PROMTOOL:
		checked = subprocess.run(
			[PROMTOOL, "check", "metrics"], input=answer.text, capture_output=True, text=True
		)
		equal((checked.returncode, checked.stdout + checked.stderr), (0, ""))


@test
def requests_are_counted_by_route_and_not_by_address():
	before = scrape()
	seen = "podium_http_requests_total"
	had = lambda figures, **labels: sum(figures.all_of(seen, **labels).values())
	for i in range(3):
		equal(nobody.get(f"/leaderboard/made-up-{i}").status, 404)
		equal(nobody.get(f"/no/such/page-{i}").status, 404)
		equal(admin.get("/admin/users").status, 200)
		equal(ada.get("/admin/users").status, 403)
		equal(nobody.get(f"/api/v1/leaderboards/made-up-{i}").status, 404)
	after = scrape()
	for labels, more in (
		({"route": "/leaderboard/*", "status": "404"}, 3),
		({"route": "none", "status": "404"}, 3),
		({"route": "/admin/users", "method": "GET", "status": "200"}, 3),
		({"route": "/admin/users", "status": "403"}, 3),
		({"route": "/api/v1/leaderboards/*", "status": "404"}, 3),
		({"route": "/metrics"}, 1),
	):
		equal((labels, had(after, **labels) - had(before, **labels)), (labels, more))
	lacks(str(after.samples), "made-up")
	took = after.all_of(
		"podium_http_request_duration_seconds_count", route="/admin/users", method="GET"
	)
	equal(sum(took.values()), had(after, route="/admin/users", method="GET"))


@test
def a_scrape_makes_one_query_while_the_figures_are_kept():
	asked = [scrape().value("podium_database_questions_total") for _ in range(4)]
	equal(min(after - before for before, after in zip(asked, asked[1:])), 1)


@test
def jobs_are_counted_by_outcome_and_counts_never_decrease():
	before = outcomes()
	submit_time(ada, 1000000)
	until(lambda: outcomes().get("passed", 0) == before.get("passed", 0) + 1)
	worker = sql("SELECT lease_owner FROM jobs ORDER BY id DESC LIMIT 1")[0][0]
	equal(
		scrape().value("podium_worker_jobs_total", worker=worker, outcome="passed"),
		outcomes()["passed"],
	)
	# Of three jobs, the author cancels one, and a ban of the author cancels the other two.
	sql(f"INSERT INTO pauses (worker, kind, paused_by) VALUES ('{worker}', 'drain', 'root-of-all')")
	make_board(admin, "other")
	numbers = [send_source(ada, source_of(case(1000000)), board="other") for _ in range(3)]
	equal(
		ada.post(
			f"/submission/{numbers[0]}/cancel",
			[("confirm", "yes")],
			form=f"/submission/{numbers[0]}/cancel",
		).status,
		303,
	)
	equal(outcomes()["cancelled"], 1)
	equal(scrape().value("podium_queue_jobs", gpu="H200", state="queued"), 2)
	equal(admin.post("/admin/users/ada/ban", [("name", "ada")]).status, 303)
	equal(sql("SELECT COUNT(*) FROM jobs WHERE state = 'cancelled'"), [["3"]])
	equal(outcomes()["cancelled"], 3)
	sql("UPDATE users SET banned_at = NULL")
	counted = outcomes()
	equal(admin.post("/admin/leaderboard/other/delete", [("name", "other")]).status, 303)
	sql("DELETE FROM pauses")
	equal(
		(sql("SELECT COUNT(*) FROM jobs WHERE state = 'cancelled'"), outcomes()), ([["0"]], counted)
	)
	equal(ada.post("/login", [("name", "ada"), ("password", PASSWORD)]).status, 303)


@test
def leases_that_expire_are_counted_for_the_worker_that_lost_them():
	sql(
		"INSERT INTO workers (name, version, host, started_at, seen_at) VALUES ('gone', '0', "
		"'{}', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL 5 MINUTE)"
	)
	sql(
		"INSERT INTO pauses (worker, kind, paused_by) SELECT name, 'drain', 'root-of-all' FROM "
		"workers WHERE name <> 'gone'"
	)
	number = send_source(ada, source_of(case(1000000)))
	sql(
		"UPDATE jobs SET state = 'running', attempt = 1, fence = 1, lease_owner = 'gone', "
		"lease_expires = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND "
		f"WHERE submission_id = {number}; DELETE FROM pauses"
	)
	until(lambda: outcomes().get("lease expired") == 1)
	figures = scrape()
	equal(figures.value("podium_worker_jobs_total", worker="gone", outcome="lease expired"), 1)
	equal(figures.value("podium_worker_silence_seconds", worker="gone") >= 300, True)
	until(lambda: sql("SELECT COUNT(*) FROM jobs WHERE state <> 'done'") == [["0"]])


@test
def workers_report_their_counters_with_each_heartbeat():
	worker = sql("SELECT name FROM workers WHERE name <> 'gone'")[0][0]
	done = float(sql("SELECT SUM(jobs) FROM job_counts WHERE outcome = 'passed'")[0][0])
	until(lambda: scrape().value("podium_worker_claims_total", worker=worker) >= done)
	figures = scrape()
	equal(figures.value("podium_worker_stage_seconds_count", worker=worker, stage="ranked"), done)
	equal(
		(
			figures.value("podium_worker_runner_starts_total", worker=worker),
			figures.value("podium_worker_machine_failures_total", worker=worker),
		),
		(2, 0),
	)
	equal(len(figures.all_of("podium_gpu_up", worker=worker, gpu="H200")), 2)


# ---- alerts and dashboard ----


def alerts():
	"""{name: expression}."""
	return dict(re.findall(r"- alert: (\w+)\n(?:\s+#.*\n)?\s+expr: (.*)\n", RULES.read_text()))


COMPARISON = re.compile(
	r"max(?: by \([a-z, ]*\))? ?\((\w+)(?:\{(\w+)=\"([^\"]*)\"\})?\) (==|>) ([0-9.]+)(?: < "
	r"([0-9]+))?$"
)


def firing():
	"""{name: whether the alert would fire now} for the alerts that compare a metric with a
	number."""
	figures, found = scrape(), {}
	for name, expression in alerts().items():
		match = COMPARISON.fullmatch(expression)
		if match:
			values = figures.all_of(match[1], **({match[2]: match[3]} if match[2] else {})).values()
			found[name] = any(
				(value == float(match[5]) if match[4] == "==" else value > float(match[5]))
				and value < float(match[6] or "inf")
				for value in values
			)
	return found


@test
def every_metric_that_alerts_and_dashboard_use_exists():
	# Metrics of webhooks exist only if there is a webhook, so make one.
	sql(
		"INSERT INTO webhooks (name, address, form, events, secret) VALUES ('hook', "
		"'https://example.org/', 'json', 'job', 'x')"
	)
	# podium-web keeps the figures for a second.
	until(lambda: scrape().all_of("podium_webhook_delay_seconds"), 10)
	names = scrape().names()
	dashboard = json.loads((ROOT / "packaging" / "grafana" / "podium.json").read_text())
	expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
	equal(len(expressions) > 20, True)
	for expression in expressions + list(alerts().values()):
		named = set(re.findall(r"\b(?:podium|process)_[a-z_]+", expression)) - {"podium_"}
		equal((expression, named - names), (expression, set()))
		for metric, label in re.findall(
			r"\b((?:podium|process)_[a-z_]+)\{([a-z_]+)[=!]", expression
		):
			if metric.startswith("podium"):
				labels = {name for found in scrape_labels(metric) for name in found}
				equal((expression, label in labels), (expression, True))


def scrape_labels(metric):
	return [dict(labels) for labels in scrape().all_of(metric)]


SITUATIONS = {
	"PodiumQueueStands": (
		"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, "
		"sha256, mode) "
		"SELECT leaderboard_id, task_version_id, user_id, 'x.py', sha256, 'test' FROM submissions "
		"LIMIT 1; "
		"INSERT INTO jobs (submission_id, user_id, gpu, queued_at) VALUES (LAST_INSERT_ID(), 1, "
		"'B300', UTC_TIMESTAMP(3) - INTERVAL 2 HOUR)",
		"DELETE FROM jobs WHERE gpu = 'B300'",
	),
	"PodiumWorkerSilent": (
		"UPDATE workers SET seen_at = UTC_TIMESTAMP(3) - INTERVAL 5 MINUTE WHERE name = 'gone'",
		"UPDATE workers SET seen_at = UTC_TIMESTAMP(3) - INTERVAL 2 DAY WHERE name = 'gone'",
	),
	"PodiumGpuQuarantined": (
		"UPDATE gpus SET quarantined_at = UTC_TIMESTAMP(3), quarantine_reason = 'x' LIMIT 1",
		"UPDATE gpus SET quarantined_at = NULL",
	),
	"PodiumGpuHot": (
		"UPDATE device_vitals SET temperature_c = 95 ORDER BY at DESC LIMIT 1",
		"UPDATE device_vitals SET temperature_c = 41",
	),
	"PodiumGpuErrors": (
		"UPDATE device_vitals SET errors = 99 ORDER BY at DESC LIMIT 1",
		"UPDATE device_vitals SET errors = 0",
	),
	"PodiumWebhooksLate": (
		"INSERT INTO webhook_events (event, data, at) VALUES ('test', '{}', "
		"UTC_TIMESTAMP(3)); INSERT "
		"INTO webhook_deliveries (webhook_id, event_id, next_at) "
		"SELECT MAX(h.id), LAST_INSERT_ID(), UTC_TIMESTAMP(3) - INTERVAL 20 MINUTE FROM webhooks h",
		"DELETE FROM webhook_deliveries",
	),
	"PodiumWebhookOff": (
		"UPDATE webhooks SET state = 'off'",
		"UPDATE webhooks SET state = 'active'",
	),
	"PodiumHeldResults": (
		"UPDATE jobs SET held_at = UTC_TIMESTAMP(3), held_reason = 'x' WHERE verdict = 'passed' "
		"LIMIT 1",
		"UPDATE jobs SET held_at = NULL",
	),
	"PodiumIntakeStopped": (
		"INSERT INTO intake_stops (id, stopped_by) VALUES (1, 'root-of-all')",
		"DELETE FROM intake_stops",
	),
}


@test
def an_alert_fires_exactly_in_its_situation():
	fires_only = lambda names: {alert for alert, fires in firing().items() if fires} == names
	sql(SITUATIONS["PodiumWorkerSilent"][1])
	until(lambda: fires_only(set()), 10)
	equal(set(firing()) - set(SITUATIONS), set())
	for name, (begin, end) in SITUATIONS.items():
		sql(begin)
		until(lambda: fires_only({name}), 10)
		sql(end)
	until(lambda: fires_only(set()), 10)


@test
def promtool_accepts_the_rules_and_the_scrape_configuration():
	if not PROMTOOL:
		for name, expression in alerts().items():
			equal(
				(name, expression.count("("), expression.count("{")),
				(name, expression.count(")"), expression.count("}")),
			)
		return
	for what, path in (("rules", RULES), ("config", RULES.parent / "prometheus.yml")):
		checked = subprocess.run([PROMTOOL, "check", what, path], capture_output=True, text=True)
		equal((checked.returncode, checked.stderr), (0, ""))
	tested = subprocess.run(
		[PROMTOOL, "test", "rules", ROOT / "tests" / "lib" / "alerts.yml"],
		capture_output=True,
		text=True,
	)
	equal((tested.returncode, tested.stdout.count("SUCCESS")), (0, 1))


# ---- access ----


@test
def only_this_machine_gets_metrics_and_no_client_behind_another_proxy():
	for header in ("X-Forwarded-For", "Forwarded"):
		equal(nobody.get("/metrics", **{header: "for=203.0.113.9"}).status, 403)
	with socket.create_connection(
		("127.0.0.1", site.port), source_address=("127.0.0.2", 0)
	) as other:
		other.sendall(b"GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n")
		contains(other.recv(100).decode(), " 403 ")


# ---- logs ----


def logged(name):
	"""The lines of a program's log as dictionaries. Raises if a line is not valid."""
	lines = (site.var / "log" / f"{name}.log").read_text().splitlines()
	if name == "nginx-access":
		return [json.loads(line) for line in lines]
	return [dict(word.split("=", 1) for word in shlex.split(line)) for line in lines]


@test
def a_submission_can_be_traced_from_request_to_result_by_its_ids():
	number = submit_time(ada, 1000000)
	job = sql(f"SELECT id, fence FROM jobs WHERE submission_id = {number}")[0]
	taken = next(line for line in logged("web") if line.get("submission") == str(number))
	equal(
		(taken["route"], taken["user"]),
		("/leaderboard/*/submit", sql("SELECT id FROM users WHERE name = 'ada'")[0][0]),
	)
	until(
		lambda: any(
			"The job finished" in line["message"] and line.get("submission") == str(number)
			for line in logged("worker")
		)
	)
	ended = next(
		line
		for line in logged("worker")
		if "The job finished" in line["message"] and line.get("submission") == str(number)
	)
	equal(
		(ended["job"], ended["fence"], ended["worker"], ended["message"].split(": ")[1]),
		(*job, sql("SELECT name FROM workers WHERE name <> 'gone'")[0][0], "passed."),
	)
	equal(ended["device"].startswith("GPU-"), True)
	request = until(
		lambda: next(
			(line for line in logged("nginx-access") if line["request"] == taken["request"]), None
		)
	)
	equal(
		(request["method"], request["path"], request["status"]),
		("POST", "/leaderboard/small/submit", 303),
	)


SECRET = "5ec7e75a" * 8  # looks like the secret of a link


@test
def logs_have_no_forged_line_and_no_secret_even_while_the_database_is_away():
	token = make_token(ada, "for the log", "read")
	link = f"/password/{SECRET}?also={SECRET}"
	hostile = [
		'/leaderboard/x"%20level=info%20message="forged',
		"/leaderboard/%5c",
		"/leaderboard/a%e2%80%a8b",
		"/user/" + "x" * 3000,
		f"/queue?token={SECRET}",
	]
	agent = 'x" level="info"\\'
	server = site.database.process.pid
	os.kill(server, signal.SIGSTOP)
	try:
		until(lambda: scrape().value("podium_database_up") == 0, 20)
		for path in [link, *hostile]:
			# ada has a session, which podium-web looks up in the database first. nobody has none.
			for who in (ada, nobody):
				answer = who.get(
					path,
					**{
						"User-Agent": agent,
						"Referer": f"{site.url}{link}",
						"Authorization": f"Bearer {token}",
					},
				)
				equal((path, answer.status in (503, 404)), (path, True))
	finally:
		os.kill(server, signal.SIGCONT)
	until(lambda: scrape().value("podium_database_up") == 1, 20)
	until(
		lambda: any(
			line["path"] == "/queue" and line["agent"] == agent for line in logged("nginx-access")
		)
	)
	errors = [line for line in logged("web") if line["level"] == "error"]
	equal(len(errors) > len(hostile), True)
	contains(str([line["message"] for line in errors]), hostile[0].replace("%20", " "))
	equal(
		[
			line
			for line in logged("web") + logged("worker") + logged("hooks")
			if line["message"] == "forged" or set(line) < {"time", "level", "program", "message"}
		],
		[],
	)
	contains(str([line["message"] for line in errors]), "/password/...")
	stored = b"".join(path.read_bytes() for path in (site.var / "log").iterdir())
	for secret in (SECRET, PASSWORD, token, *ada.cookies.values()):
		equal((secret, secret.encode() in stored), (secret, False))


@test
def an_error_page_names_the_request_id_of_the_log():
	sql("RENAME TABLE announcements TO announcements_away")
	try:
		answer = nobody.get(f"/?fresh={time.time()}")
	finally:
		sql("RENAME TABLE announcements_away TO announcements")
	equal(answer.status >= 500, True)
	number = answer.headers["X-Request-Id"]
	equal(next(line["level"] for line in logged("web") if line.get("request") == number), "error")


@test
def every_program_logs_in_the_configured_format():
	found = subprocess.run(
		[ROOT / site.environment["B"] / "podium-web"],
		capture_output=True,
		text=True,
		env={
			**os.environ,
			"PODIUM_LOG_FORMAT": "json",
			"PODIUM_FASTCGI_SOCKET": "/nonexistent/socket",
		},
	)
	equal(
		(found.returncode, json.loads(found.stderr)["level"], json.loads(found.stderr)["program"]),
		(1, "error", "podium-web"),
	)
	for program in ("podium-web", "podium-hooks", "podium-worker"):
		wrong = subprocess.run(
			[ROOT / site.environment["B"] / program],
			capture_output=True,
			text=True,
			env={**os.environ, "PODIUM_LOG_FORMAT": "xml"},
		)
		equal((program, wrong.returncode), (program, 1))
		contains(wrong.stderr, 'log_format must be auto, text, logfmt or json, not \\"xml\\".')


try:
	status = run()
finally:
	site.remove()
sys.exit(status)
