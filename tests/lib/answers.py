"""Answers of the command-line programs. podium-admin answers with a result, or with one line that
says why there is none, never with both."""
import json

from tap import equal


class Answer:
	"""The exit code and the output of a program."""

	def __init__(self, code, out, err):
		self.code, self.out, self.err = code, out, err

	@property
	def json(self):
		return json.loads(self.out)


def result_of(answer):
	equal((answer.returncode, answer.stderr), (0, ""))
	return answer.stdout


def refusal_of(answer):
	equal((answer.returncode, answer.stdout), (1, ""))
	equal(answer.stderr.startswith("podium-admin: ") and answer.stderr.count("\n") == 1, True)
	return answer.stderr
