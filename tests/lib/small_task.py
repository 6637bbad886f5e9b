"""The smallest task that a leaderboard can have, and submissions to it whose results a pretended
podium-run reports (tests/lib/pretend.py)."""

import io
import itertools
import json
import time
import zipfile

from instance import Instance
from tap import equal, until

TASK = """
lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 1024}]
ranking_by: geom
"""


def sealed(task=TASK):
	"""Returns the task with files for which Podium chooses the sealed engine. A pretended
	podium-run does not read the files."""
	return task.replace(
		"  - {name: eval.py, source: eval.py}\n",
		"""  - {name: eval.py, source: "@STOCK@"}
  - {name: utils.py, source: "@STOCK@"}
  - {name: reference.py, source: eval.py}
""",
	)


def isolated(task=TASK):
	"""The same, but the task asks for the isolated engine."""
	key = "engine: isolated"
	if "podium: {" in task:
		return sealed(task).replace("podium: {", f"podium: {{{key}, ")
	if "podium:\n" in task:
		return sealed(task).replace("podium:\n", f"podium:\n  {key}\n")
	return sealed(task) + f"podium: {{{key}}}\n"


# The eval.py of TASK, sealed() and isolated(): Podium looks for these two words in it.
EVAL = "# generate_input, check_implementation\n"
# The same task with a template.
TEMPLATE_TASK = TASK.replace("config:", "templates: {Python: submission.py}\nconfig:")


def zip_of(files):
	"""Makes a zip of files, given as contents by name."""
	archive = io.BytesIO()
	with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as pack:
		for name, content in files.items():
			pack.writestr(name, content)
	return archive.getvalue()


def task_zip(task=TASK):
	files = {"task.yml": task, "eval.py": EVAL}
	return zip_of({**files, "submission.py": "a = 1\n"} if "templates:" in task else files)


def done(answer):
	"""Checks that a form succeeded, in which case the site redirects. Otherwise the message shows
	the page."""
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	return answer


def load_task(site, task=TASK, name="small", more=()):
	"""Creates the leaderboard `name` of this task with podium-admin, for the devices that the
	site's workers offer. `more`: the contents of further files by name."""
	folder = site.var / "tasks" / name
	folder.mkdir(parents=True)
	for path, text in {"task.yml": task, "eval.py": EVAL, **dict(more)}.items():
		(folder / path).write_text(text)
	site.manage("task", "load", "--unchecked", folder)


def register(site, clients):
	"""Registers users, given as clients by name: "root-of-all" becomes an admin, "carl" a
	creator."""
	for name, client in clients.items():
		client.register(name)
	site.sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; "
		"UPDATE users SET role = 'creator' WHERE name = 'carl'"
	)


def make_board(client, name, task=TASK, hidden=False, **fields):
	"""Creates a leaderboard of this task on the site, for the device H200, and publishes it without
	the check, as an operator, unless it is to stay hidden. `fields` are more fields of the form."""
	answer = done(
		client.post(
			"/admin/leaderboards/new",
			[
				("name", name),
				("gpu", "H200"),
				("accepting", "1"),
				("visibility", "hidden"),
				*fields.items(),
			],
			[("task", "task.zip", task_zip(task))],
		)
	)
	if not hidden:
		Instance.running[client.url.geturl()].publish(name)
	return answer


def case(mean_ns, err_ns=10.0, spread_ns=0, std_ns=5.0):
	"""The figures of a timed case, for source_of()."""
	return {
		"runs": 101,
		"mean_ns": mean_ns,
		"std_ns": std_ns,
		"err_ns": err_ns,
		"best_ns": mean_ns - spread_ns,
		"worst_ns": mean_ns + spread_ns,
	}


def source_of(*cases, **told):
	"""The source of a submission for which a pretended podium-run reports these cases. `told`:
	further members of the result, which RUNNER in pretend.py lists."""
	return "# " + json.dumps({"cases": cases, **told}) + "\n"


NUMBERS = itertools.count(1)


def new_source():
	"""Source that no other submission has: results of equal source share one time."""
	return f"x = {next(NUMBERS)}\n"


def send_source(
	client, source, board="small", mode="ranked", file_name=None, gpus=("H200",), csrf=None
):
	"""Submits pasted code, or a file if it has a name. Returns the submission's number."""
	code, files = (
		([("code", source)], [])
		if file_name is None
		else ([], [("file", file_name, source.encode())])
	)
	answer = done(
		client.post(
			f"/leaderboard/{board}/submit",
			[("mode", mode), *code, *(("gpu", gpu) for gpu in gpus)],
			files,
			csrf=csrf,
		)
	)
	return int(answer.location.rsplit("/", 1)[1])


def status_of(client, number):
	"""The status that the submission's page polls. The new address avoids nginx's cache of one
	second."""
	return client.get(f"/submission/{number}/status?{time.time()}").json


def ended(client, number):
	"""Waits until the submission has finished. Returns its status."""
	until(
		lambda: status_of(client, number)["state"] == "done",
		explain=lambda: status_of(client, number),
	)
	return status_of(client, number)


def submit_source(client, source, **how):
	"""Submits as send_source() does, and waits until the submission has finished."""
	number = send_source(client, source, **how)
	ended(client, number)
	return number


def submit_time(client, mean_ns, board="small", mode="ranked", **told):
	"""Submits a kernel of this duration, and waits until the submission has finished."""
	return submit_source(client, source_of(case(mean_ns), **told), board=board, mode=mode)


# ---- rows that a test puts into the database ----


def store_waiting(site, submission, file_name, gpu):
	"""Queues a copy of the submission in mode `test` for this GPU. Returns the copy's number."""
	site.sql(f"""
		INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode)
			SELECT leaderboard_id, task_version_id, user_id, '{file_name}', sha256, 'test'
				FROM submissions WHERE id = {submission};
		INSERT INTO jobs (submission_id, user_id, gpu) SELECT id, user_id, '{gpu}' FROM submissions
			WHERE file_name = '{file_name}'""")
	return int(site.value(f"SELECT id FROM submissions WHERE file_name = '{file_name}'"))


def store_comparison(site, challenger, incumbent):
	"""Stores a comparison of two ranked submissions, with the challenger slower. Returns its
	number."""
	site.sql(f"""
		INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, challenger_id,
			challenger_job_id, incumbent_id, incumbent_job_id, ratio, ratio_low, ratio_high)
			SELECT a.leaderboard_id, a.task_version_id, a.gpu, a.submission_id, a.job_id,
				b.submission_id, b.job_id, 1.5, 1.4, 1.6
			FROM ranking a JOIN ranking b ON b.leaderboard_id = a.leaderboard_id
				WHERE a.submission_id = {challenger} AND b.submission_id = {incumbent};
		INSERT INTO jobs (comparison_id, user_id, gpu, state, finished_at)
			SELECT id, 0, gpu, 'done', UTC_TIMESTAMP(3) FROM comparisons""")
	return int(site.value("SELECT MAX(id) FROM comparisons"))
