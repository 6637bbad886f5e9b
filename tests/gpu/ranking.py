"""Steps of tests/gpu/drill: what happens to a measurement."""

import io
import json
import os
import pathlib
import subprocess
import sys
import uuid
import zipfile

from steps import MODEL, Client, ended, sql, step, submit, until, verdict_of_all

TASK = pathlib.Path("tasks/vectoradd_py")
url, IS_GPU = sys.argv[1], MODEL != "CPU"
KERNEL = (
	"import torch\n\ndef custom_kernel(data):\n\tA, B, output = data\n"
	"\treturn torch.add(A, B, out=output)\n"
)
SLOWER = KERNEL.replace("\treturn", "\tfor _ in range(4): torch.add(A, B, out=output)\n\treturn")


def someone(role="participant"):
	client, name = Client(url), "drill-" + uuid.uuid4().hex[:8]
	client.post("/register", [("name", name), ("password", uuid.uuid4().hex)])
	sql(f"UPDATE users SET role = '{role}' WHERE name = '{name}'")
	return client


def rows(leaderboard):
	return Client(url).get(f"/leaderboard/{leaderboard}.json?gpu={MODEL}").json["rows"]


def with_formula(flops):
	"""Returns the task's folder as a zip. Its task.yml claims this number of operations for a
	case."""
	archive = io.BytesIO()
	with zipfile.ZipFile(archive, "w") as pack:
		for path in sorted(TASK.rglob("*")):
			if path.is_file() and "__pycache__" not in path.parts:
				text = path.read_bytes()
				pack.writestr(
					str(path.relative_to(TASK)),
					text.replace(b"flops: size * size", flops) if path.name == "task.yml" else text,
				)
	return archive.getvalue()


# ---- a result ----

first, second, third = someone(), someone(), someone()
one = submit(first, "vectoradd_py", KERNEL)
result = ended(first, one)
step(
	"a ranked kernel passes",
	result["verdict"] == "passed",
	f"{result['score_ns'] / 1000:.2f} us" if result["score_ns"] else result["reason"],
)
page = first.get(f"/submission/{one}").text
step("its page has the picture of its samples", "<svg" in page and "samples" in page)
step("and the badge of its engine", ("sealed" if IS_GPU else "isolated") in page)
told = sql(
	"SELECT s.conditions FROM stages s JOIN jobs j ON j.id = s.job_id WHERE j.submission_id = "
	f"{one} AND s.name = 'ranked'"
)[0][0]
figures = json.loads(told) if told.startswith("{") else {}
step(
	"clocks, temperature and power were noted",
	not IS_GPU or {"before", "after"} <= set(figures),
	told[:160],
)

# ---- a tie ----

two = submit(second, "vectoradd_py", KERNEL + "# the same\n")
step("the same kernel of somebody else passes", ended(second, two)["verdict"] == "passed")
compared = until(
	lambda: sql(
		f"SELECT c.id, c.ratio_low, c.ratio_high FROM comparisons c WHERE {two} IN "
		"(c.challenger_id, "
		"c.incumbent_id) "
		"AND c.ratio IS NOT NULL"
	),
	90,
)
step("the two ran side by side", bool(compared), str(compared))
step(
	"and are told apart by nothing",
	bool(compared) and float(compared[0][1]) <= 1 <= float(compared[0][2]),
	f"ratio {compared and compared[0][1:]}",
)
ranks = {row["submission"]: row["rank"] for row in rows("vectoradd_py")}
step("both share a rank", ranks.get(one) == ranks.get(two), str(ranks))
three = submit(third, "vectoradd_py", SLOWER)
step("one that is longer passes", ended(third, three)["verdict"] == "passed")
until(lambda: not sql("SELECT id FROM jobs WHERE state IN ('queued', 'running')"), 60)
ranks = {row["submission"]: row["rank"] for row in rows("vectoradd_py")}
step("and comes behind them", ranks[three] > ranks[one], str(ranks))

# ---- a hold ----

boss = someone("admin")
boss.post(
	"/admin/leaderboards/new",
	[("name", "impossible"), ("gpu", MODEL), ("accepting", "1"), ("visibility", "hidden")],
	[("task", "task.zip", with_formula(b"flops: 1000000000 * size * size"))],
)
subprocess.run([os.environ["ADMIN"], "task", "publish", "--unchecked", "impossible"], check=True)
held = submit(first, "impossible", KERNEL)
ended(first, held)
said = sql(
	f"SELECT held_at IS NOT NULL, COALESCE(held_reason, '') FROM jobs WHERE submission_id = {held}"
)[0]
step("what no GPU can do is held for review", not IS_GPU or said[0] == "1", said[1])
step("and stands in no ranking", not IS_GPU or rows("impossible") == [])

# ---- a dry run ----

boss.post(
	"/admin/leaderboard/vectoradd_py/dryrun?version=1",
	form="/admin/leaderboard/vectoradd_py/dryrun",
)
report = until(
	lambda: "Run again"
	in (words := boss.get("/admin/leaderboard/vectoradd_py/dryrun?version=1").words())
	and words,
	240,
)
step(
	"a dry run ends with all outcomes as they must be",
	bool(report) and "outcomes are as they must be" in report,
	(report or "").partition("must be.")[2][:900],
)
memory = sql("SELECT MAX(peak_device_bytes) FROM stages")[0][0]
step(
	"and has the GPU's memory",
	not IS_GPU or ("GPU’s memory" in (report or "") and int(memory) > 1 << 20),
	memory,
)
sys.exit(verdict_of_all())
