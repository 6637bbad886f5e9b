#!/usr/bin/env python3
"""What the worker stores of a job's plans and of the blobs that they need, and what it refuses."""

import base64
import gzip
import hashlib
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from plans import (  # noqa: E402
	COPY,
	MEMSET,
	blob_events,
	event_file,
	figure,
	kernel,
	pack,
	plan_events,
	plan_text,
	stored_nodes,
)
from pretend import pretend_driver, pretend_runner  # noqa: E402
from tap import contains, equal, run, test, until  # noqa: E402
from workers import (  # noqa: E402
	BUILD,
	HARNESS,
	TASK,
	Worker,
	admin,
	close,
	job,
	load_task,
	scratch,
	sql,
	submit,
	wait_for,
)

IMAGE = random.Random(1).randbytes(300000)
GAIN = b"\0\1\2\3"
NODES = [MEMSET, kernel("_Z3addPf", shared=4096, cluster=[2, 1, 1]), COPY, {"kind": "empty"}]
FIGURES = [figure(1, 12.5, 2500, blocks_per_sm=3)]
TEXT = plan_text(NODES, [IMAGE], [GAIN, IMAGE])
FIGURE_KEYS = {"runs": 1, "mean_ns": 1.0, "std_ns": 1.0, "err_ns": 1.0, "best_ns": 1.0}
CASE = {**FIGURE_KEYS, "worst_ns": 1.0}


def on_gpus(name="gpus", **settings):
	return Worker(
		name,
		**settings,
		**pretend_driver(scratch / "driver"),
		**pretend_runner(scratch / "runner", BUILD / "podium-run"),
		PODIUM_WORKER_CPU="0",
	)


def send(*events, state="done"):
	"""Runs a job whose ranked stage has these events."""
	number = start(events)
	wait_for(number, state)
	return number


def start(events):
	told = {"cases": [CASE, CASE], "events": event_file(scratch, *events)}
	return submit("# " + json.dumps(told), board="planned", gpu="H200")


def plans_of(number):
	return sql(
		"SELECT p.case_index, LOWER(HEX(p.sha256)), p.size, p.nodes FROM plans p "
		f"JOIN stages t ON t.id = p.stage_id WHERE t.job_id = {number} AND t.name = 'ranked' "
		"ORDER BY p.case_index"
	)


def sha256(content):
	return hashlib.sha256(content).hexdigest()


def stored(digest):
	parts = sql(
		f"SELECT HEX(content) FROM plan_blob_parts WHERE sha256 = X'{digest}' ORDER BY part"
	)
	return gzip.decompress(b"".join(bytes.fromhex(part) for (part,) in parts))


def counts():
	return sql(
		"SELECT (SELECT COUNT(*) FROM plans), (SELECT COUNT(*) FROM plan_uses), "
		"(SELECT COUNT(*) FROM plan_blobs), (SELECT COUNT(*) FROM plan_blob_parts)"
	)[0]


@test
def a_plan_is_stored_with_its_text_its_blobs_and_what_pages_show():
	with on_gpus():
		number = send(
			*plan_events(TEXT, FIGURES, 0, part_bytes=100),
			*plan_events(TEXT, [], 1),
			*blob_events(IMAGE, part_bytes=100000),
			*blob_events(GAIN),
		)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	first, second = plans_of(number)
	equal(first[:3], ["0", sha256(TEXT.encode()), str(len(TEXT))])
	equal(json.loads(first[3]), stored_nodes(NODES, FIGURES))
	equal(json.loads(second[3]), stored_nodes(NODES))
	equal(stored(sha256(TEXT.encode())), TEXT.encode())
	equal(stored(sha256(IMAGE)), IMAGE)
	equal(stored(sha256(GAIN)), GAIN)
	equal(counts(), ["2", "6", "3", "3"])
	size, packed, checksum = sql(
		f"SELECT size, packed, checksum FROM plan_blobs WHERE sha256 = X'{sha256(IMAGE)}'"
	)[0]
	parts = sql(
		f"SELECT SUM(LENGTH(content)) FROM plan_blob_parts WHERE sha256 = X'{sha256(IMAGE)}'"
	)
	equal((int(size), [[packed]]), (len(IMAGE), parts))
	equal(int(checksum), int.from_bytes(pack(IMAGE)[-8:-4], "little"))


@test
def a_large_blob_is_known_to_the_next_jobs_once_it_is_stored():
	large, seen = random.Random(2).randbytes(300000), []
	told = {"cases": [CASE, CASE], "writes": str(scratch / "message")}
	wrong = {**blob_events(b"w" * 300000)[0], "sha256": sha256(b"other")}
	with on_gpus(FAKE_GPUS="1"):
		for events in ([wrong], blob_events(large) + blob_events(GAIN), []):
			told["events"] = event_file(scratch, *plan_events(TEXT), *events)
			number = submit("# " + json.dumps(told), board="planned", gpu="H200")
			until(lambda: job(number) in ("done", "failed"))
			message = json.loads((scratch / "message").read_text())
			seen.append((job(number), message.get("known_blobs")))
	equal(seen, [("failed", None), ("done", None), ("done", [sha256(large)])])


@test
def a_blob_that_the_database_has_is_not_even_unpacked():
	digest = sha256(IMAGE)
	sql(f"UPDATE plan_blobs SET seen_at = '2020-01-01' WHERE sha256 = X'{digest}'")
	wrong = {**blob_events(IMAGE)[0], "parts": 1, "base64": "AAAA"}
	with on_gpus():
		number = send(*plan_events(TEXT), wrong)
	equal(job(number, "verdict, attempt"), ["passed", "1"])
	equal(stored(digest), IMAGE)
	# so that it is not deleted before its plan is there
	recent = "seen_at > UTC_TIMESTAMP() - INTERVAL 1 MINUTE"
	equal(sql(f"SELECT {recent} FROM plan_blobs WHERE sha256 = X'{digest}'"), [["1"]])


@test
def a_blob_that_never_comes_costs_only_itself():
	text = plan_text([kernel("k")], [b"never sent"])
	with on_gpus():
		number = send(*plan_events(text))
	equal(job(number, "verdict"), "passed")
	missing = sql(
		"SELECT LOWER(HEX(u.sha256)) FROM plan_uses u JOIN plans p ON p.id = u.plan_id "
		"JOIN stages t ON t.id = p.stage_id LEFT JOIN plan_blobs b ON b.sha256 = u.sha256 "
		f"WHERE t.job_id = {number} AND b.sha256 IS NULL"
	)
	equal(missing, [[sha256(b"never sent")]])


@test
def a_long_name_is_cut_and_stays_unlike_others():
	names = ["_Z" + "a" * 600 + letter for letter in "xy"]
	with on_gpus():
		number = send(*plan_events(plan_text([kernel(name) for name in names], [GAIN])))
	cut = [node["name"] for node in json.loads(plans_of(number)[0][3])]
	equal([(len(one), one[:490]) for one in cut], [(512, names[0][:490])] * 2)
	assert cut[0] != cut[1]
	contains(cut[0], "..." + sha256(names[0].encode())[:16])


@test
def what_is_too_long_for_pages_is_not_stored_for_them():
	nodes = [kernel(f"k{i}_{'x' * 400}") for i in range(450)]
	with on_gpus():
		number = send(*plan_events(plan_text(nodes, [GAIN])))
	((_, _, size, shown),) = plans_of(number)
	equal((int(size), len(shown)), (len(plan_text(nodes, [GAIN])), 0))


def changed(events, **members):
	return [{**events[0], **members}, *events[1:]]


def with_figures(*figures):
	return plan_events(TEXT, figures)


NEW = b"a blob that is new" * 1000
DAMAGED = base64.b64encode(pack(NEW)[:-1] + b"?").decode()
REFUSED = {
	"a blob whose SHA-256 is another": (
		changed(blob_events(NEW), sha256=sha256(b"other")),
		"sent a blob whose SHA-256 is another one",
	),
	"a blob without SHA-256": (changed(blob_events(NEW), sha256="xy"), "a blob without a SHA-256"),
	"a short SHA-256": (changed(blob_events(NEW), sha256="ab" * 31), "a blob without a SHA-256"),
	"a smaller size": (changed(blob_events(NEW), size=17999), "not 17999 bytes as gzip"),
	"a larger size": (changed(blob_events(NEW), size=18001), "not 18001 bytes as gzip"),
	"no size": (changed(blob_events(NEW), size=0), "without a size from 1 to 67108864 bytes"),
	"too large a size": (changed(blob_events(NEW), size=(64 << 20) + 1), "without a size from 1"),
	"a size that the hash contradicts": (
		changed(blob_events(GAIN), size=5),
		"a blob of 5 bytes whose SHA-256 belongs to 4 bytes",
	),
	"no base64": (changed(blob_events(NEW), base64="?"), "a blob that is not base64"),
	"base64 that is no text": (changed(blob_events(NEW), base64=7), "as gzip"),
	"a missing base64": (changed(blob_events(NEW), base64=None), "as gzip"),
	"damaged gzip": (changed(blob_events(NEW), base64=DAMAGED), "not 18000 bytes as gzip"),
	"gzip with a name": (
		changed(
			blob_events(NEW),
			base64=base64.b64encode(
				pack(NEW)[:3] + b"\x08" + pack(NEW)[4:10] + b"name\0" + pack(NEW)[10:]
			).decode(),
		),
		"not 18000 bytes as gzip",
	),
	"gzip and more": (
		changed(blob_events(NEW), base64=base64.b64encode(pack(NEW) + b"more").decode()),
		"not 18000 bytes as gzip",
	),
	"a part left out": (
		blob_events(NEW, 20)[:1] + blob_events(NEW, 20)[2:],
		"the parts of a blob in a wrong order",
	),
	"the last part left out": (blob_events(NEW, 20)[:-1], "the parts of a blob in a wrong order"),
	"a part of another file": (
		blob_events(NEW, 60)[:1] + plan_events(TEXT, part_bytes=300)[1:2],
		"in a wrong order",
	),
	"only a later part": (blob_events(NEW, 20)[1:2], "the parts of a blob in a wrong order"),
	"too many parts": (changed(blob_events(NEW), parts=257), "in a wrong order"),
	"a plan that is wrong": (plan_events(TEXT.replace("8192", "-1")), "a plan that is wrong. "),
	"a plan with spaces": (plan_events(TEXT.replace(",", ", ")), "a plan that is wrong. "),
	"text and figures mixed up": (
		changed(plan_events(TEXT), text_bytes=len(TEXT) - 1),
		"a plan that is wrong. ",
	),
	"no text": (changed(plan_events(TEXT), text_bytes=0), "a plan without a case and a length"),
	"more text than there is": (
		changed(plan_events(TEXT), text_bytes=len(TEXT) + 3),
		"a plan without a case and a length",
	),
	"no case": (changed(plan_events(TEXT), index=-1), "a plan without a case and a length"),
	"case 65536": (changed(plan_events(TEXT), index=65536), "a plan without a case and a length"),
	"another stage": (changed(plan_events(TEXT), position=9), "for a stage that has not begun"),
	"a second plan": (plan_events(TEXT) + plan_events(TEXT), "for a case that has one"),
	"figures of no node": (with_figures(figure(4)), "wrong figures of a plan"),
	"figures of node -1": (with_figures(figure(-1)), "wrong figures of a plan"),
	"figures out of order": (with_figures(figure(1), figure(1)), "wrong figures of a plan"),
	"registers of a memset": (with_figures(figure(0)), "wrong figures of a plan"),
	"many registers": (with_figures(figure(1, registers=1025)), "wrong figures of a plan"),
	"half a register": (with_figures(figure(1, registers=1.5)), "wrong figures of a plan"),
	"a text as figure": (with_figures(figure(1, local_bytes="<b>")), "wrong figures of a plan"),
	"less than no blocks": (with_figures(figure(1, blocks_per_sm=-1)), "wrong figures of a plan"),
	"an end before the begin": (with_figures(figure(1, 9, 8)), "wrong figures of a plan"),
	"a begin without end": (with_figures({"node": 1, "begin_ns": 1}), "wrong figures of a plan"),
	"a time before the call": (with_figures(figure(1, -1, 8)), "wrong figures of a plan"),
	"figures that are no list": (
		changed(plan_events(TEXT + "{}"), text_bytes=len(TEXT)),
		"wrong figures of a plan",
	),
}


@test
def whatever_is_wrong_is_refused_with_a_sentence_and_leaves_nothing():
	before = counts()
	with on_gpus() as worker:
		for name, (events, sentence) in REFUSED.items():
			number = start(events)
			worker.says(f"job {number}: podium-run sent ")
			lines = worker.log.read_text().splitlines()
			said = [line for line in lines if f"job {number}: podium-run sent " in line]
			if sentence not in said[0]:
				raise AssertionError(f"{name}: {said[0]!r} lacks {sentence!r}")
			sql(f"UPDATE jobs SET state = 'cancelled', verdict = 'cancelled' WHERE id = {number}")
			equal(
				sql(
					f"SELECT COUNT(*) FROM plans p JOIN stages t ON t.id = p.stage_id "
					f"WHERE t.job_id = {number}"
				),
				[["0"]],
			)
	equal(counts(), before)


@test
def a_job_that_runs_again_has_each_plan_once_and_a_deleted_board_none():
	with on_gpus():
		number = send(*plan_events(TEXT, FIGURES))
		sql(
			"UPDATE jobs SET state = 'queued', verdict = NULL, lease_owner = NULL "
			f"WHERE id = {number}"
		)
		wait_for(number)
	equal(len(plans_of(number)), 1)
	sql("DELETE FROM leaderboards WHERE name = 'planned'")
	equal(counts()[:2], ["0", "0"])


code = 1
try:
	admin("migrate")
	load_task(
		"planned",
		TASK.replace("[CPU]", "[H200]").replace("{seed: 3}", "{seed: 3}, {seed: 4}")
		+ "ranking_by: geom\n",
		HARNESS,
	)
	code = run()
finally:
	close()
sys.exit(code)
