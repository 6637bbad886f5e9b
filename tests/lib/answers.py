"""Reads podium-admin's answer: a result, or one line with the reason why there is none."""
from tap import equal


def result_of(answer):
	equal((answer.returncode, answer.stderr), (0, ""))
	return answer.stdout


def refusal_of(answer):
	equal((answer.returncode, answer.stdout), (1, ""))
	equal(answer.stderr.startswith("podium-admin: ") and answer.stderr.count("\n") == 1, True)
	return answer.stderr
