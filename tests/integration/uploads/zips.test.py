#!/usr/bin/env python3
"""Feeds every malicious zip of tests/lib/zips.py to every reader: the library, `podium-admin task
check`, and through nginx the forms for a leaderboard and a problem set. Each bad zip gets its own
message, nothing is written anywhere, and memory stays bounded."""

import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from processes import find, most_memory_kib  # noqa: E402
from tap import contains, equal, run, test  # noqa: E402
from zips import READ, REFUSED, TASK_FILES, Entry, main as write_zips, task  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
# Enough memory for a zip, its contents and some copies. A sanitizer keeps freed memory for a while,
# so its build may use more.
MOST_MEMORY_KIB = (1024 if BUILD.name == "sanitize" else 160) * 1024
scratch = tempfile.TemporaryDirectory(prefix="podium-zips.")
folder = pathlib.Path(scratch.name) / "a" / "b"
write_zips(folder)
site = Instance()
web = find(site.process.pid, "podium-web")
admin = Client(site.url)


def each(check):
	"""Calls check(name, content, wanted) for every zip. Reports each failure with the zip's
	name."""
	faults = []
	for name, (content, wanted) in {**REFUSED, **READ}.items():
		try:
			check(name, content, wanted)
		except AssertionError as reason:
			faults.append(f"{name}: {str(reason)[:600]}")
	if faults:
		raise AssertionError("\n".join(faults))


def start(*words):
	"""Runs a program. Returns its output, its exit code and its peak memory."""
	with tempfile.TemporaryFile() as out:
		process = subprocess.Popen(
			[str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=out
		)
		_, status, used = os.wait4(process.pid, 0)
		process.returncode = os.waitstatus_to_exitcode(status)
		out.seek(0)
		return out.read().decode(), process.returncode, used.ru_maxrss


@test
def the_library_refuses_each_bad_zip_with_its_own_message_and_reads_the_others():
	def check(name, content, wanted):
		printed, status, memory = start(
			BUILD / "tests/integration/uploads/test_zips", folder / f"{name}.zip"
		)
		equal(status, 0)
		answer = json.loads(printed)
		if isinstance(wanted, str):
			contains(answer.get("error", f"nothing; it read {answer.get('files')}"), wanted)
			equal(answer["error"].endswith("."), True)
		else:
			equal(
				(answer.get("error"), sorted(answer.get("files", []))),
				(None, sorted(wanted + TASK_FILES)),
			)
		equal(memory <= MOST_MEMORY_KIB, True)

	each(check)


@test
def podium_admin_says_the_same():
	def check(name, content, wanted):
		printed, status, memory = start(site.admin_program, "task", "check", folder / f"{name}.zip")
		refused = isinstance(wanted, str)
		equal((status, printed if status not in (0, 1) else ""), (1 if refused else 0, ""))
		contains(printed, wanted if refused else f"{name}.zip: good")
		equal(memory <= MOST_MEMORY_KIB, True)

	each(check)


@test
def nothing_was_written_next_to_the_zips():
	left = {str(path.relative_to(scratch.name)) for path in pathlib.Path(scratch.name).rglob("*")}
	equal(left - {"a", "a/b"} - {f"a/b/{name}.zip" for name in {**REFUSED, **READ}}, set())
	equal(
		[
			path
			for path in ("/etc/cron.d/evil", "/evil.py", "/tmp/evil.py", ROOT / "evil.py")
			if os.path.lexists(path)
		],
		[],
	)


@test
def the_admin_logs_in():
	password = (site.var / "admin-password").read_text().strip()
	equal(admin.post("/login", [("name", "admin"), ("password", password)]).status, 303)
	equal(
		admin.post(
			"/account/password",
			[("current", password), ("password", "a long password"), ("again", "a long password")],
			form="/account",
		).status,
		303,
	)


def check_answer(answer, wanted):
	if isinstance(wanted, str):
		equal(answer.status, 422)
		contains(answer.words(), wanted)
	else:
		equal((answer.status, answer.words()[:800] if answer.status != 303 else ""), (303, ""))


@test
def the_form_for_a_leaderboard_says_the_same_and_stores_only_good_zips():
	token = admin.csrf("/admin/leaderboards/new")
	each(
		lambda name, content, wanted: check_answer(
			admin.post(
				"/admin/leaderboards/new",
				[("name", f"zip-{name}"), ("gpu", "CPU")],
				[("task", f"{name}.zip", content)],
				csrf=token,
			),
			wanted,
		)
	)
	equal(
		sorted(row[0] for row in site.sql("SELECT name FROM leaderboards WHERE name LIKE 'zip-%'")),
		sorted(f"zip-{name}" for name in READ),
	)
	equal(
		site.sql(
			"SELECT COUNT(*) FROM task_files WHERE path LIKE '/%' OR path LIKE '%..%' OR path LIKE "
			"'%evil%'"
		),
		[["0"]],
	)


@test
def the_form_for_a_problem_set_says_the_same_and_keeps_only_good_zips():
	token = admin.csrf("/admin/sets/new")
	each(
		lambda name, content, wanted: check_answer(
			admin.post("/admin/sets/new", files=[("set", f"{name}.zip", content)], csrf=token),
			wanted,
		)
	)
	kept = int(site.sql("SELECT COUNT(*) FROM uploads")[0][0])
	equal(kept, 1)  # the site keeps only the newest upload of each creator


@test
def podium_web_still_runs_and_used_bounded_memory():
	equal(admin.get("/healthz").status, 200)
	equal(find(site.process.pid, "podium-web"), web)
	equal(most_memory_kib(web) <= 2 * MOST_MEMORY_KIB, True)


class Pipe(io.RawIOBase):
	"""An output that cannot seek, so that Python writes the sizes of a zip's files after their
	data."""

	def __init__(self):
		super().__init__()
		self.bytes = b""

	def writable(self):
		return True

	def write(self, data):
		self.bytes += bytes(data)
		return len(data)


@test
def zips_of_ordinary_programs_are_read():
	stream, appended = Pipe(), io.BytesIO()
	for target in (stream, appended):
		with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
			archive.writestr("a.py", "pass\n" * 100)
			with archive.open("b.py", "w", force_zip64=True) as file:
				file.write(b"pass\n")
	with zipfile.ZipFile(appended, "a") as archive:
		archive.writestr("c.py", "pass\n")
	for content, files in (
		(stream.bytes, ["a.py", "b.py"]),
		(appended.getvalue(), ["a.py", "b.py", "c.py"]),
		(task(Entry(b"a.py"), comment=b"words"), ["a.py", *TASK_FILES]),
	):
		(folder / "ordinary.zip").write_bytes(content)
		printed, status, _ = start(
			BUILD / "tests/integration/uploads/test_zips", folder / "ordinary.zip"
		)
		equal((status, sorted(json.loads(printed).get("files", [printed]))), (0, files))


try:
	status = run()
finally:
	site.remove()
	scratch.cleanup()
sys.exit(status)
