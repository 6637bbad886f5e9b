#!/usr/bin/env python3
"""The plans of submissions through nginx: who may see and download them, what a download contains,
and what the page shows. A stand-in for podium-run sends the plans, so the worker stores them."""

import hashlib
import html
import io
import os
import pathlib
import random
import re
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, whole  # noqa: E402
from instance import Instance  # noqa: E402
from plans import (  # noqa: E402
	COPY,
	MEMSET,
	artifact_event,
	blob_events,
	event_file,
	figure,
	kernel,
	plan_events,
	plan_sql,
	plan_text,
)
from processes import find, most_memory_kib  # noqa: E402
from small_task import make_board, register, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
sql = site.sql
anyone, ada, bob, admin = (Client(site.url) for _ in range(4))
IMAGE = random.Random(2).randbytes(700000)
GAIN = b"\0\1\2\3"
NODES = [MEMSET, kernel("_Z3addPf", shared=4096, cluster=[2, 1, 1]), COPY]
TEXT = plan_text(NODES, [IMAGE], [GAIN])
FIGURES = [
	{"node": 0, "begin_ns": 0, "end_ns": 800},
	figure(1, 1000, 3000),
	{"node": 2, "begin_ns": 3000, "end_ns": 3500},
]


def prepare():
	register(site, {"ada": ada, "bob": bob, "root-of-all": admin})
	make_board(admin, "small")


def send(client, *events, mean_ns=1000.0):
	"""Submits a kernel with these events, which are lists. Returns the submission's number."""
	file = event_file(site.var, *(one for some in events for one in some))
	return submit_time(client, mean_ns, events=file)


def sha256(content):
	return hashlib.sha256(content).hexdigest()


def plan_of(number):
	return int(
		site.value(
			"SELECT p.id FROM plans p JOIN stages t ON t.id = p.stage_id "
			f"JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = {number}"
		)
	)


def contents(answer):
	with zipfile.ZipFile(io.BytesIO(answer.bytes)) as archive:
		equal(archive.testzip(), None)
		return {name: archive.read(name) for name in archive.namelist()}


# ---- download ----


@test
def a_download_has_the_plan_and_the_blobs_that_it_needs():
	global planned, address
	prepare()
	planned = send(
		ada,
		plan_events(TEXT, FIGURES),
		blob_events(IMAGE),
		blob_events(GAIN),
		blob_events(b"no plan needs it"),
	)
	address = f"/submission/{planned}/plan/{plan_of(planned)}"
	answer = ada.get(address)
	equal(answer.status, 200)
	equal(contents(answer), {"plan.json": TEXT.encode(), sha256(IMAGE): IMAGE, sha256(GAIN): GAIN})
	equal(answer.headers["Content-Type"], "application/zip")
	equal(answer.headers["X-Content-Type-Options"], "nosniff")
	contains(
		answer.headers["Content-Disposition"],
		f'attachment; filename="submission-{planned}-H200-ranked-1-plan.zip"',
	)


@test
def a_plan_is_for_those_who_may_see_the_source():
	for client, status in ((ada, 200), (admin, 200), (bob, 403), (anyone, 403)):
		equal(client.get(address).status, status)
		equal(client.get(f"/submission/{planned}/source").status, status)
	contains(bob.get(address).words(), "The plans of a submission are its author's")
	public = "UPDATE leaderboards SET sources_open = 'deadline', deadline = '2020-01-01'"
	sql(public)
	for client in (bob, anyone):
		equal(client.get(address).status, 200)
	sql("UPDATE leaderboards SET deadline = '2099-01-01'")
	equal(bob.get(address).status, 403)
	contains(bob.get(address).words(), "until the deadline has passed")
	sql("UPDATE leaderboards SET sources_open = 'never', deadline = NULL")


@test
def a_plan_belongs_to_its_submission():
	other = submit_time(ada, 1000.0)
	for wrong in (
		f"/submission/{other}/plan/{plan_of(planned)}",
		address + "0",
		f"/submission/{planned}/plan/x",
		f"/submission/{planned}/plan/-1",
	):
		equal(ada.get(wrong).status, 404)
	contains(ada.get(address + "0").words(), "This submission has no such plan.")


@test
def a_download_says_which_blobs_are_missing():
	text = plan_text([kernel("k")], [b"never came", b"neither did this"])
	number = send(ada, plan_events(text))
	answer = ada.get(f"/submission/{number}/plan/{plan_of(number)}")
	missing = sorted((sha256(b"never came"), sha256(b"neither did this")))
	equal(
		contents(answer),
		{
			"missing.txt": "".join(one + "\n" for one in missing).encode(),
			"plan.json": text.encode(),
		},
	)


@test
def the_parts_of_a_blob_may_have_any_size():
	number = submit_time(ada, 1000.0)
	stage = site.value(
		"SELECT t.id FROM stages t JOIN jobs j ON j.id = t.job_id "
		f"WHERE j.submission_id = {number} AND t.name = 'ranked'"
	)
	sql(plan_sql(stage, [kernel("k")], images=[b"in small parts"]))
	blob = f"X'{sha256(b'in small parts')}'"
	((packed,),) = sql(f"SELECT HEX(content) FROM plan_blob_parts WHERE sha256 = {blob}")
	plan = f"/submission/{number}/plan/{plan_of(number)}"
	for size in (1, 4, 7, 10, len(packed) // 2 - 8):
		pieces = [
			packed[2 * size * i : 2 * size * (i + 1)] for i in range(-(-len(packed) // 2 // size))
		]
		sql(f"DELETE FROM plan_blob_parts WHERE sha256 = {blob}")
		for part, piece in enumerate(pieces):
			sql(f"INSERT INTO plan_blob_parts VALUES ({blob}, {part}, X'{piece}')")
		equal(contents(ada.get(plan))[sha256(b"in small parts")], b"in small parts")
	# a part that no worker's event can have brought
	sql(f"INSERT INTO plan_blob_parts VALUES ({blob}, 999, 'more')")
	equal(contents(ada.get(plan))[sha256(b"in small parts")], b"in small parts")


@test
def a_large_download_takes_little_memory():
	large = random.Random(3).randbytes(63 << 20)
	text = plan_text([kernel("k")], [large])
	number = send(ada, plan_events(text), blob_events(large))
	web = find(site.process.pid, "podium-web")
	before = most_memory_kib(web)
	got = contents(ada.get(f"/submission/{number}/plan/{plan_of(number)}"))
	equal((got[sha256(large)] == large, len(got)), (True, 2))
	if not os.environ.get("B", "").endswith("sanitize"):  # which keeps freed memory for a while
		equal(most_memory_kib(web) - before < 16 << 10, True)


# ---- the page ----


def page_of(client, number):
	return whole(client.fresh(f"/submission/{number}"))


def table_row(page, label):
	"""The cells of the table's row of this kernel."""
	(row,) = [row for row in re.findall("<tr>.*?</tr>", page.text, re.S) if f">{label}<" in row]
	return [
		html.unescape(re.sub("<[^>]*>", "", cell)).strip()
		for cell in re.findall("<td.*?</td>", row, re.S)
	]


@test
def the_page_shows_each_kernel_with_its_figures():
	page = page_of(ada, planned)
	contains(page.words(), "Plan Case 1: 1 kernel, 1 memset, 1 copy in 3.500 µs")
	equal(
		table_row(page, "add"),
		["2", "add", "2.000 µs", "57 %", "200.0 ns", "32", "5.1 kB", "8", "256", "2", "50 %"],
	)
	contains(page.text, '<code title="_Z3addPf">add</code>')
	contains(page.words(), "memset of 4.1 kB 800.0 ns 23 % none")
	contains(page.text, f'<a href="{address}" download>')
	equal(page.text.count('<svg class="timeline"'), 1)
	contains(page.text, "nothing ran for 200.0 ns")
	for client, shown in ((admin, True), (bob, False), (anyone, False)):
		(contains if shown else lacks)(page_of(client, planned).text, "/plan/")
		(contains if shown else lacks)(page_of(client, planned).text, "_Z3addPf")


@test
def the_machine_code_is_text_to_look_at_and_to_download():
	code = b"Function : <script>alert(1)</script> \n /*0000*/ EXIT ;\n"
	files = artifact_event("kernels.sass", code), artifact_event("kernels.ptx", b".version 9")
	number = send(ada, plan_events(TEXT, FIGURES), *files)
	page = page_of(ada, number)
	contains(page.words(), "PTX 10 bytes download Machine code (SASS) 55 bytes download")
	ptx, _, link, download = re.findall(f'href="(/submission/{number}/artifact/[^"]*)"', page.text)
	equal(
		(ada.get(ptx).bytes, ada.get(ptx).headers["Content-Type"][:10]),
		(b".version 9", "text/plain"),
	)
	equal(download, link + "?download")
	for address, place in ((link, "inline"), (download, "attachment")):
		answer = ada.get(address)
		equal(answer.bytes, code)
		equal(answer.headers["Content-Type"], "text/plain; charset=utf-8")
		equal(answer.headers["X-Content-Type-Options"], "nosniff")
		contains(
			answer.headers["Content-Disposition"],
			f'{place}; filename="submission-{number}-H200-kernels.sass"',
		)
		equal((admin.get(address).status, bob.get(address).status), (200, 403))
	for client in (bob, anyone):
		lacks(page_of(client, number).text, "/artifact/")
	lacks(page_of(ada, planned).words(), "Machine code")


@test
def a_plan_of_200_nodes_is_folded_and_complete():
	nodes = [kernel(f"node_{i}") for i in range(200)]
	text = plan_text(nodes)
	figures = [figure(i, 10 * i, 10 * i + 8) for i in range(200)]
	number = send(ada, plan_events(text, figures))
	page = page_of(ada, number)
	equal([page.text.count(f">node_{i}</code></td>") for i in range(200)], [1] * 200)
	contains(page.words(), "Case 1: 200 kernels in 1.998 µs")
	contains(page.words(), "180 more nodes")
	lacks(page.text, '<details class="plan" open')
	assert len(page.bytes) < 200000, len(page.bytes)


@test
def a_plan_without_figures_has_no_timeline():
	page = page_of(ada, send(ada, plan_events(plan_text([kernel("bare")]))))
	contains(page.words(), "Case 1: 1 kernel #")
	lacks(page.text, '<svg class="timeline"')
	equal(table_row(page, "bare")[2:], ["–", "0 bytes", "8", "256", "", ""])
	for part in ("Gap before", "Times come from one traced call"):
		contains(page_of(ada, planned).words(), part)
		lacks(page.words(), part)


HOSTILE = '</code><script>alert(1)</script>"'


@test
def what_a_registered_host_wrote_is_escaped_cut_or_left_out():
	number = submit_time(ada, 1000.0)
	stage = site.value(
		"SELECT t.id FROM stages t JOIN jobs j ON j.id = t.job_id "
		f"WHERE j.submission_id = {number} AND t.name = 'ranked'"
	)
	sql(plan_sql(stage, [kernel(HOSTILE)], [figure(0)]))
	page = page_of(ada, number)
	lacks(page.text, "<script>alert")
	contains(page.text, "&lt;/code&gt;&lt;script&gt;")
	for name, shown in (("x" * 65536, True), ("x" * 200000, False)):
		sql(f"DELETE FROM plans WHERE stage_id = {stage}")
		sql(plan_sql(stage, [kernel(name)]))
		page = page_of(ada, number)
		(contains if shown else lacks)(page.text, ">" + "x" * 61 + "…</code>")
		(lacks if shown else contains)(page.words(), "Case 1: too long for this page")
		contains(page.text, f"/plan/{plan_of(number)}")
	for nodes in ("", "[]", "[7]", '[{"kind":"<b>"}]', "[" * 100000):
		sql(f"UPDATE plans SET nodes = '{nodes}' WHERE stage_id = {stage}")
		contains(page_of(ada, number).words(), "Case 1: too long for this page")


@test
def the_author_sees_what_changed_against_the_best_submission():
	best = send(
		bob, plan_events(plan_text([kernel("k", grid=(4, 1, 1)), kernel("old")])), mean_ns=500.0
	)
	slower = send(bob, plan_events(plan_text([kernel("k"), kernel("n")])), mean_ns=900.0)
	words = page_of(bob, slower).words()
	contains(words, f"What changed against your best submission, #{best}")
	contains(words, "changed k : grid 4 → 8")
	contains(words, "new n")
	contains(words, "gone old")
	lacks(page_of(bob, best).words(), "What changed")
	lacks(page_of(admin, slower).words(), "What changed")
	text = plan_text([kernel("old"), kernel("k", grid=(4, 1, 1))])
	same = send(bob, plan_events(text), mean_ns=900.0)
	contains(page_of(bob, same).words(), "Nothing: both launch the same kernels")


@test
def times_that_are_withheld_are_not_in_the_plan_either():
	held = "held_at = UTC_TIMESTAMP(3), held_reason = 'implausible'"
	sql("UPDATE leaderboards SET sources_open = 'deadline', deadline = '2020-01-01'")
	contains(page_of(bob, planned).text, "_Z3addPf")
	sql(f"UPDATE jobs SET {held} WHERE submission_id = {planned}")
	lacks(page_of(bob, planned).text, "_Z3addPf")
	contains(page_of(ada, planned).text, "_Z3addPf")
	sql(f"UPDATE jobs SET held_at = NULL WHERE submission_id = {planned}")
	sql("UPDATE leaderboards SET sources_open = 'never', deadline = NULL")


@test
def a_passed_stage_may_warn():
	number = submit_time(ada, 1000.0)
	sql(
		"UPDATE stages t JOIN jobs j ON j.id = t.job_id "
		"SET t.message = 'Benchmark 2 <b> will fail.' "
		f"WHERE j.submission_id = {number} AND t.name = 'test'"
	)
	page = page_of(ada, number).text
	contains(page, '<p class="notice warning">Benchmark 2 &lt;b&gt; will fail.</p>')
	equal(page.count("will fail"), 1)


@test
def removed_plans_are_mentioned():
	number = submit_time(ada, 1000.0)
	sql(
		"UPDATE stages t JOIN jobs j ON j.id = t.job_id SET t.artifacts_days = 90 "
		f"WHERE j.submission_id = {number} AND t.name = 'ranked'"
	)
	contains(page_of(ada, number).words(), "Podium removed the plans after 90 days.")
	lacks(page_of(bob, number).words(), "The plans were removed")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
