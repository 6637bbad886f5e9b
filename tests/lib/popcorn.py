"""A client that behaves as popcorn-cli does, with the standard library only. Like popcorn-cli, it
builds addresses by concatenation, sends the same headers, requires the same fields in answers and
ignores all others, and reads streams of events in the same way."""

import http.client
import io
import json
import time
import urllib.parse
import uuid
import zipfile


class Refused(Exception):
	"""A refusal by the server, which popcorn-cli prints before it exits with 1."""

	def __init__(self, status, detail):
		super().__init__(f"{status}: {detail}")
		self.status, self.detail = status, detail


class Broken(Exception):
	"""An answer that the client cannot read."""


def required(value, kind, what):
	if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
		raise Broken(f"{what} is {value!r}")
	return value


class Popcorn:
	def __init__(self, url, cli_id=None, admin_token=None):
		self.url = url  # POPCORN_API_URL
		self.cli_id, self.admin_token = cli_id, admin_token

	# ---- requests ----

	def open(self, method, path, body=None, headers=None, admin=False, timeout=60):
		"""Sends a request, with path and query unchanged. Returns (connection, response)."""
		at = urllib.parse.urlsplit(self.url)
		connection = http.client.HTTPConnection(at.hostname, at.port, timeout=timeout)
		headers = dict(headers or {})
		if admin and self.admin_token is not None:
			headers["Authorization"] = f"Bearer {self.admin_token}"
		if not admin and self.cli_id is not None:
			headers["X-Popcorn-Cli-Id"] = self.cli_id
		if body is not None and not isinstance(body, bytes):
			body = json.dumps(body).encode()
			headers["Content-Type"] = "application/json"
		connection.putrequest(method, at.path + path, skip_accept_encoding=True)
		for name, value in headers.items():
			connection.putheader(name, value)
		if body is not None or method == "POST":
			connection.putheader("Content-Length", str(len(body or b"")))
		connection.endheaders()
		if body:
			connection.send(body)
		return connection, connection.getresponse()

	def ask(self, method, path, body=None, headers=None, admin=False):
		"""Returns the JSON of a successful answer."""
		connection, response = self.open(method, path, body, headers, admin)
		try:
			content = response.read()
		finally:
			connection.close()
		self.check_status(response, content)
		self.last = response
		try:
			content.decode("ascii")
			return json.loads(content)
		except ValueError as reason:
			raise Broken(f"{path}: {reason} in {content[:300]!r}")

	@staticmethod
	def check_status(response, content):
		if 200 <= response.status < 300:
			return
		try:
			detail = json.loads(content)["detail"]
		except (ValueError, KeyError, TypeError):
			detail = None
		raise Refused(
			response.status, detail if isinstance(detail, str) else content.decode(errors="replace")
		)

	# ---- registration ----

	def register(self, provider="discord"):
		"""Registers as popcorn-cli does: sends a request without an ID, and takes the answer's
		`state` as its ID. popcorn-cli stores this ID as cli_id in ~/.popcorn.yaml. Returns that
		file's text."""
		self.cli_id = None
		self.cli_id = required(
			self.ask("GET", f"/auth/init?provider={provider}").get("state"), str, "state"
		)
		return f"cli_id: {self.cli_id}\n"

	# ---- leaderboards and GPUs ----

	def leaderboards(self):
		boards = required(self.ask("GET", "/leaderboards"), list, "the list of leaderboards")
		for board in boards:
			required(board.get("task"), dict, "task")
			required(board.get("name"), str, "name")
			required(board.get("description"), str, "description")
		return boards

	def gpus(self, leaderboard):
		return [
			required(gpu, str, "a GPU")
			for gpu in required(self.ask("GET", f"/gpus/{leaderboard}"), list, "the list of GPUs")
		]

	def join(self, code):
		return self.ask("POST", "/user/join", {"code": code})

	# ---- submitting and polling ----

	@staticmethod
	def multipart(file_name, source, **fields):
		"""A form with one file and texts. As in popcorn-cli's forms, the file has no content
		type."""
		boundary = uuid.uuid4().hex
		body = (
			f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
			f'filename="{file_name}"\r\n\r\n'.encode()
			+ source
		)
		for name, value in fields.items():
			body += (
				f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'
			).encode()
		body += f"\r\n--{boundary}--\r\n".encode()
		return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}

	def submit(self, leaderboard, gpu, mode, source, file_name="submission.py"):
		body, headers = self.multipart(file_name, source)
		answer = self.ask(
			"POST", f"/submission/{leaderboard.lower()}/{gpu}/{mode.lower()}", body, headers
		)
		required(answer.get("details", {}).get("id"), int, "details.id")
		queue = answer.get("runner_queue")
		if queue is not None:
			self.summary_of(queue)
		self.accepted = answer
		return answer["details"]["id"]

	@staticmethod
	def summary_of(queue):
		required(queue, dict, "runner_queue")
		for name in ("runner", "gpu"):
			if queue.get(name) is not None:
				required(queue[name], str, name)
		if isinstance(queue.get("queued_jobs"), int):
			return (
				f"{queue.get('runner') or 'Runner'} {queue.get('gpu') or 'selected GPU'} queue: "
				f"{queue['queued_jobs']} queued job(s)"
			)
		return None

	def poll(self, number):
		"""Requests the submission once and returns it. popcorn-cli exits if this request fails."""
		return self.read_submission(self.ask("GET", f"/user/submissions/{number}"))

	@staticmethod
	def read_submission(answer):
		for name, kind in (
			("id", int),
			("leaderboard_id", int),
			("leaderboard_name", str),
			("file_name", str),
			("user_id", str),
			("submission_time", str),
			("done", bool),
			("code", str),
			("runs", list),
		):
			required(answer.get(name), kind, name)
		for run in answer["runs"]:
			for name, kind in (("mode", str), ("secret", bool), ("runner", str), ("passed", bool)):
				required(run.get(name), kind, name)
			if run.get("score") is not None:
				float(run["score"])
		return answer

	@staticmethod
	def status_of(answer):
		status = (answer.get("job") or {}).get("status")
		return status if isinstance(status, str) else "done" if answer["done"] else "pending"

	def wait(self, number, limit_s=60, pause_s=0.05):
		"""Polls until the submission is done. Returns the lines that popcorn-cli prints, and the
		last answer. Raises Refused when popcorn-cli would exit with 1."""
		end, lines = time.time() + limit_s, []
		while time.time() < end:
			answer = self.poll(number)
			status, queue = self.status_of(answer), answer.get("runner_queue")
			summary = self.summary_of(queue) if queue is not None else None
			lines.append(
				f"Submission {number} status: {status}" + (f" - {summary}" if summary else "")
			)
			if status in ("failed", "timed_out", "hacked"):
				raise Refused(
					0,
					f"Submission {number} {status}: "
					f"{answer['job'].get('error') or 'No error details were provided'}",
				)
			if answer["done"]:
				return lines, answer
			time.sleep(pause_s)
		raise AssertionError(f"Timed out waiting for submission {number}: {lines[-1]}")

	@staticmethod
	def score_lines(answer):
		return [
			f"Geomean score ({'secret' if run['secret'] else 'public'}) on {run['runner']}: "
			f"{run['score']} s"
			for run in answer["runs"]
			if run["mode"] == "leaderboard" and run.get("score") is not None
		]

	# ---- --profile-brev, with POPCORN_BREV_PROFILER_URL at the same address ----

	def start_profile(self, leaderboard, source, **fields):
		body, headers = self.multipart(
			"submission.py", source, **{"leaderboard": leaderboard, **fields}
		)
		return required(self.ask("POST", "/profile", body, headers).get("job_id"), str, "job_id")

	def profile_state(self, job):
		"""Requests the job once. popcorn-cli exits if this request fails."""
		state = self.ask("GET", f"/jobs/{job}")
		required(state.get("status"), str, "status")
		if state.get("queue_position") is not None:
			required(state["queue_position"], int, "queue_position")
		return state

	def profile(self, leaderboard, source, limit_s=60, **fields):
		"""Submits, polls and downloads. Returns the zips by name; each is read as popcorn-cli
		does."""
		job, end = self.start_profile(leaderboard, source, **fields), time.time() + limit_s
		ends = ("succeeded", "failed", "timed_out")
		while (state := self.profile_state(job))["status"] not in ends:
			if time.time() > end:
				raise AssertionError(f"Timed out waiting for profile job {job}: {state}")
			time.sleep(0.05)
		if state["status"] != "succeeded":
			raise Refused(0, f"Profile job {job} {state['status']}: {state.get('error')}")
		return {
			required(artifact.get("name"), str, "name"): self.download(artifact["url"])
			for artifact in required(state.get("artifacts"), list, "artifacts")
		}

	def download(self, address):
		connection, response = self.open("GET", required(address, str, "url"))
		content = response.read()
		connection.close()
		self.check_status(response, content)
		return zipfile.ZipFile(io.BytesIO(content))

	# ---- the user's submissions ----

	def submissions(self, leaderboard, limit=50):
		rows = required(
			self.ask("GET", f"/user/submissions?leaderboard={leaderboard}&limit={limit}"),
			list,
			"the list of submissions",
		)
		for row in rows:
			for name, kind in (
				("id", int),
				("leaderboard_name", str),
				("file_name", str),
				("submission_time", str),
				("done", bool),
			):
				required(row.get(name), kind, name)
			for run in row.get("runs", []):
				required(run.get("gpu_type"), str, "gpu_type")
			# popcorn-cli shortens names at any byte, so they must be ASCII
			row["file_name"].encode("ascii")
		return rows

	def delete(self, number):
		self.poll(number)
		answer = self.ask("DELETE", f"/user/submissions/{number}")
		if answer.get("status") != "ok":
			raise Broken(answer)
		return answer

	# ---- submitting with an open connection ----

	def stream(self, leaderboard, gpu, mode, source, file_name="submission.py", timeout=60):
		"""Submits and returns the answer's Events. Raises Refused if the server answers with an
		error instead of a stream."""
		body, headers = self.multipart(file_name, source)
		connection, response = self.open(
			"POST", f"/{leaderboard.lower()}/{gpu}/{mode.lower()}", body, headers, timeout=timeout
		)
		kind = response.headers.get("Content-Type") or ""
		if not 200 <= response.status < 300 or not kind.startswith("text/event-stream"):
			content = response.read()
			connection.close()
			self.check_status(response, content)
			raise Broken(f"Invalid non-streaming response structure: {content[:300]!r}")
		return Events(connection, response)


class Events:
	"""A stream of events. As in popcorn-cli, each piece of bytes is decoded separately, and two
	line feeds end an event."""

	def __init__(self, connection, response):
		self.connection, self.response, self.text, self.seen = connection, response, "", []

	def next(self):
		"""Returns the next (event, data), or None at the end of the stream."""
		pieces, newest = [self.text], self.text
		while "\n\n" not in newest:
			piece = self.response.read1(1 << 16)
			if not piece:
				self.text = "".join(pieces)
				return None
			pieces.append(piece.decode(errors="replace"))
			# Searching only the new bytes keeps the loop fast for large events.
			newest = newest[-1:] + pieces[-1]
		block, _, self.text = "".join(pieces).partition("\n\n")
		event = data = None
		for line in block.split("\n"):
			if line.startswith("event:"):
				event = line[6:].strip()
			if line.startswith("data:"):
				data = line[5:].strip()
		if event is None or data is None:
			raise Broken(f"an event without its two lines: {block[:300]!r}")
		data.encode("ascii")
		self.seen.append((event, json.loads(data)))
		return self.seen[-1]

	def result(self):
		"""Reads events until the event `result` and returns its data. Raises Refused at an event
		`error`."""
		while True:
			got = self.next()
			if got is None:
				raise Broken("Stream ended unexpectedly without a final result or error event.")
			event, data = got
			if event == "error":
				self.close()
				raise Refused(data.get("status_code"), required(data.get("detail"), str, "detail"))
			if event == "result":
				self.close()
				return data

	def close(self):
		self.connection.close()
