"""What the command-line programs print. podium-admin prints either a result on stdout or one line
with the reason of its failure on stderr."""

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
