"""The smallest task that a leaderboard can have, for suites whose results a pretended podium-run makes (tests/lib/pretend.py)."""
import io
import zipfile

from tap import equal

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


def task_zip(task=TASK):
	archive = io.BytesIO()
	with zipfile.ZipFile(archive, "w") as pack:
		pack.writestr("task.yml", task)
		pack.writestr("eval.py", "")
	return archive.getvalue()


def done(answer):
	"""A form that did what it should leads elsewhere; else the page says what is wrong."""
	equal((answer.status, answer.words() if answer.status != 303 else ""), (303, ""))
	return answer


def make_board(admin, name, task=TASK):
	"""A leaderboard of this task for the device H200, made by this client."""
	return done(admin.post("/admin/leaderboards/new", [("name", name), ("gpu", "H200"), ("accepting", "1")], [("task", "task.zip", task_zip(task))]))
