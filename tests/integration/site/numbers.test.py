#!/usr/bin/env python3
"""One result has one time, one ± and one interval on every page, in every file and in both
terminals. A stand-in for podium-run reports what each submission tells it to."""

import csv
import io
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from popcorn import Popcorn  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import TASK, case, isolated, make_board, register, source_of  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance(pretends=True)
anyone, ada, bob, cyd, admin = (Client(site.url) for _ in range(5))
USERS = {"ada": ada, "bob": bob, "cyd": cyd}
UNKNOWN = "at least 4 blocks needed"
# Half of the interval is 1.96 times the error. The judge's low_ns and high_ns do not count.
BLOCKS = {"low_ns": 31000.0, "high_ns": 33000.0, "constant_ns": 6000.0, "blocks": 8}
RESULTS = {
	"ada": (31900.0, 107.0),  # ± 209.72 ns
	"bob": (45900.0, 26020.0),  # ± 50999.2 ns: more than the time
	"cyd": (64321.0, None),
}
tokens, submissions, reports = {}, {}, {}


def words(path, client=anyone):
	answer = client.fresh(path)
	equal((path, answer.status), (path, 200))
	return answer.words()


def podium(user, *arguments):
	answer = subprocess.run(
		[ROOT / os.environ.get("B", "build/release") / "podium", *map(str, arguments)],
		env={
			**os.environ,
			"HOME": str(site.var),
			"PODIUM_SERVER": site.url,
			"PODIUM_TOKEN": tokens[user],
			"COLUMNS": "200",
		},
		capture_output=True,
		text=True,
		timeout=60,
	)
	equal((answer.returncode, answer.stderr), (0, ""))
	return answer.stdout


def program(user):
	return Program(site.url, tokens[user])


def row_of(rows, user):
	return next(row for row in rows if row["user"] == user)


@test
def three_results_are_ranked():
	register(site, {**USERS, "root-of-all": admin})
	make_board(admin, "small", isolated(TASK))
	for user, client in USERS.items():
		time_ns, err_ns = RESULTS[user]
		tokens[user] = make_token(client, "all", "read", "submit")
		source = source_of(
			{**case(time_ns, err_ns), **BLOCKS},
			verdict={"score_ns": time_ns, "score_err_ns": err_ns},
		)
		answer = Popcorn(f"{site.url}/popcorn", tokens[user]).stream(
			"small", "H200", "leaderboard", source.encode()
		)
		reports[user] = answer.result()["reports"][0]
		submissions[user] = int(
			site.value(
				"SELECT MAX(s.id) FROM submissions s JOIN users u ON u.id = s.user_id "
				f"WHERE u.name = '{user}'"
			)
		)


def texts(user):
	"""What people read of the user's score and its only shape, by place, where an error is
	shown."""
	number = submissions[user]
	other = submissions["bob" if user == "ada" else "ada"]
	return {
		"board": words("/leaderboard/small?gpu=H200"),
		"user": words(f"/user/{user}"),
		"mine": words("/leaderboard/small/mine", USERS[user]),
		"submission": words(f"/submission/{number}"),
		"comparison": words(f"/compare?a={number}&b={other}"),
		"popcorn": reports[user],
		"podium ranking": podium(user, "ranking", "small"),
		"podium status": podium(user, "status", number),
		"podium compare": podium(user, "compare", number, other),
	}


def numbers(user):
	"""Low end, high end and error of the score and of its shape, by place."""
	read = anyone.fresh("/leaderboard/small.json?gpu=H200").json["rows"]
	table = anyone.fresh("/leaderboard/small.csv?gpu=H200").text
	rows = list(csv.DictReader(io.StringIO(table)))
	api = program(user).read("/api/v1/leaderboards/small/rankings", gpu="H200")["items"]
	job = program(user).read(f"/api/v1/submissions/{submissions[user]}")["jobs"][0]
	shape = job["stages"][-1]["cases"][0]
	real = lambda text: float(text) if text else None
	files = ("interval_95_low_ns", "interval_95_high_ns", "score_err_ns")
	ours = ("lower_ns", "upper_ns", "score_err_ns")
	return {
		"json": [row_of(read, user)[key] for key in files],
		"csv": [real(row_of(rows, user)[key]) for key in files],
		"ranking": [row_of(api, user)[key] for key in ours],
		"job": [job[key] for key in ours],
		"shape": [shape[key] for key in ("lower_ns", "upper_ns", "err_ns")],
	}


def assert_everywhere(user, text, low_ns, high_ns, err_ns):
	for place, shown in texts(user).items():
		if text not in shown:
			raise AssertionError(f"{place} does not have {text!r}: {shown[:3000]!r}")
	for place, got in numbers(user).items():
		expected = [low_ns, high_ns, err_ns]
		near = [a == b if a is None else abs(a - b) < 0.01 for a, b in zip(expected, got)]
		equal((place, got, near), (place, got, [True] * 3))


@test
def the_error_is_the_same_everywhere():
	assert_everywhere("ada", "31.90 ± 0.21 µs", 31690.28, 32109.72, 107.0)
	for shown in (reports["ada"], podium("ada", "status", submissions["ada"])):
		equal(len(re.findall("31.90 ± 0.21 µs", shown)), 2)  # the score and its only shape
	shown = words(f"/submission/{submissions['ada']}")
	contains(shown, "31.90 ± 0.21 µs 31.69 to 32.11 µs")
	lacks(shown, "33.0")


@test
def no_interval_begins_below_zero():
	assert_everywhere("bob", "46 ± 51 µs", 0, 96899.2, 26020.0)
	contains(words(f"/submission/{submissions['bob']}"), "46 ± 51 µs 0 to 97 µs")


@test
def an_unknown_error_is_never_a_number():
	assert_everywhere("cyd", "64.32 µs ± unknown", None, None, None)
	contains(words(f"/submission/{submissions['cyd']}"), f"64.32 µs ± unknown {UNKNOWN}")
	contains(reports["cyd"], f"size: 1024: 64.32 µs ± unknown ({UNKNOWN}; best ")
	contains(podium("cyd", "status", submissions["cyd"]), f"64.32 µs ± unknown ({UNKNOWN})")
	pair = f"a={submissions['ada']}&b={submissions['cyd']}"
	contains(words(f"/compare?{pair}"), "102 % slower, ± unknown")
	(gpu,) = program("ada").read(f"/api/v1/compare?{pair}")["gpus"]
	equal([gpu["score"][key] for key in ("lower", "upper", "verdict")], [None] * 3)
	contains(podium("ada", "compare", submissions["ada"], submissions["cyd"]), f"2.016 ({UNKNOWN})")


@test
def places_without_the_error_have_its_digits():
	shown = {
		"podium": words("/leaderboard/small?gpu=H200"),
		"badge": anyone.fresh("/leaderboard/small/badge.svg?gpu=H200&user=bob").text,
		"trend": words("/leaderboard/small?view=trend&gpu=H200").split("The trend as a table")[1],
		"devices": words("/leaderboard/small?view=gpus"),
		"projector": words("/leaderboard/small?view=live"),
		"history": podium("bob", "history"),
	}
	for place, text in shown.items():
		if not re.search(r"(?<![\d.])46 µs", text):
			raise AssertionError(f"{place} does not have 46 µs: {text[:3000]!r}")
	contains(words("/"), "31.90 µs by ada")
	contains(anyone.fresh("/leaderboard/small.atom?gpu=H200").text, "ada: 31.90 µs on H200")


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)
