"""Submits a file by the client that openapi-python-client generated, waits for the result, and
reads the ranking and the lists. Prints what it read as JSON."""

import io
import json
import os
import time

from podium_client import AuthenticatedClient
from podium_client.api.interface import get_me
from podium_client.api.leaderboards import get_ranking, list_leaderboards
from podium_client.api.site import get_queue, list_workers
from podium_client.api.submissions import (
	create_submission,
	get_submission,
	get_submission_source,
	get_submission_status,
	list_submissions,
)
from podium_client.models import (
	CreateSubmissionFilesBody,
	CreateSubmissionFilesBodyMode,
	CreateSubmissionJsonBody,
	CreateSubmissionJsonBodyMode,
)
from podium_client.types import File

client = AuthenticatedClient(
	base_url=os.environ["URL"], token=os.environ["TOKEN"], raise_on_unexpected_status=True
)
source = os.environ["SOURCE"]
form = CreateSubmissionFilesBody(
	file=File(payload=io.BytesIO(source.encode())),
	mode=CreateSubmissionFilesBodyMode.RANKED,
	gpus=["H200"],
	note="by form",
)
text = CreateSubmissionJsonBody(
	file=source, mode=CreateSubmissionJsonBodyMode.TEST, gpus=["H200"], file_name="text.py"
)
submissions = [create_submission.sync("small", client=client, body=body) for body in (form, text)]
for one in submissions:
	while get_submission_status.sync(one.id, client=client).state in ("queued", "running"):
		time.sleep(0.05)
finished = [get_submission.sync(one.id, client=client) for one in submissions]
listed = list_submissions.sync(client=client)
print(
	json.dumps(
		{
			"user": get_me.sync(client=client).user,
			"files": [one.file_name for one in finished],
			"verdicts": [one.verdict for one in finished],
			"source": get_submission_source.sync(finished[0].id, client=client),
			"ranking": [
				[entry.user, entry.score_ns]
				for entry in get_ranking.sync("small", client=client, gpu="H200").items
			],
			"leaderboards": [one.name for one in list_leaderboards.sync(client=client).items],
			"submissions": [one.id == two.id for one, two in zip(listed.items, finished[::-1])],
			"workers": len(list_workers.sync(client=client).items),
			"queue": [one.gpu for one in get_queue.sync(client=client).items],
		}
	)
)
