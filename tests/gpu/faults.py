"""Steps of tests/gpu/drill: a GPU that falls off the bus."""

import os
import pathlib
import subprocess
import sys
import time
import uuid

from steps import MODEL, Client, ended, job, sql, step, submit, until, verdict_of_all

lose = pathlib.Path(os.environ["LOSE_FILE"])
author = Client(sys.argv[1])
RIGHT = (
	"import torch\n\ndef custom_kernel(data):\n\tA, B, output = data\n"
	"\treturn torch.add(A, B, out=output)\n"
)
SLOW = RIGHT.replace("\treturn", "\timport time; time.sleep(2)\n\treturn")
# A submission with an index far beyond the end, which makes torch's kernel fail. The driver then
# reports an Xid that any program can cause, so the GPU is not at fault.
ILLEGAL = """
import torch

def custom_kernel(data):
	A, B, output = data
	index = torch.full((1,), 1 << 30, dtype=torch.long, device=A.device)
	torch.index_select(A.flatten(), 0, index)
	torch.cuda.synchronize()
	return output
"""


def send(source):
	return submit(author, "vectoradd_py", source, "test")


def ends(submission):
	return ended(author, submission) or job(author, submission)


def stored(submission):
	return sql(
		"SELECT attempt, lost_gpus, COALESCE(reason, '') FROM jobs WHERE submission_id = "
		f"{submission}"
	)[0]


def quarantined():
	return sql("SELECT uuid, quarantine_reason FROM gpus WHERE quarantined_at IS NOT NULL")


def release_all():
	lose.unlink(missing_ok=True)
	for uuid_of_gpu, _ in quarantined():
		subprocess.run(
			[os.environ["ADMIN"], "gpu", "release", uuid_of_gpu],
			check=True,
			stdout=subprocess.DEVNULL,
		)


name = "drill-" + uuid.uuid4().hex[:8]
author.post("/register", [("name", name), ("password", uuid.uuid4().hex)])
step("a right kernel passes", ends(send(RIGHT))["verdict"] == "passed")

result = ends(send(ILLEGAL))
step(
	"an illegal address is the submission's runtime error",
	result["verdict"] == "runtime error",
	result["reason"],
)
step("and puts no GPU into quarantine", not quarantined(), str(quarantined() or ""))
step("the next job passes", ends(send(RIGHT))["verdict"] == "passed")

lose.write_text("lost\n")
step(
	"a GPU that is lost while idle goes into quarantine",
	bool(until(quarantined, 30)),
	str(quarantined()),
)
waiting = send(RIGHT)
time.sleep(3)
if len(quarantined()) == len(sql(f"SELECT uuid FROM gpus WHERE model = '{MODEL}'")):
	step("a job waits while there is no other GPU", job(author, waiting)["state"] == "queued")
release_all()
step("after its release the GPU works", ends(waiting)["verdict"] == "passed")

broken = send(
	SLOW.replace(
		"return torch.add(A, B, out=output)", "raise RuntimeError('CUDA error: device lost')"
	)
)
until(
	lambda: job(author, broken)["state"] == "running"
	and job(author, broken)["stage"].startswith("test")
)
lose.write_text("xid 79\n")
step(
	"Xid 79 under a job puts its GPU into quarantine", bool(until(quarantined)), str(quarantined())
)
seen = until(lambda: stored(broken)[1] != "0" and stored(broken))
step("the job is not charged for it", bool(seen) and int(seen[0]) <= 1, str(seen))
release_all()
step("and runs again", ends(broken)["state"] == "done", str(stored(broken)))
sys.exit(verdict_of_all())
