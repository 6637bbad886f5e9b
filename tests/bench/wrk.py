"""Runs wrk: connections that request one address again as soon as they have the answer."""

import math
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

UNIT_MS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}


class Answers(NamedTuple):
	rate: float  # answers a second
	p50_ms: float  # the median
	p99_ms: float
	count: int
	wrong: int  # answers that are errors


def need_wrk():
	if not shutil.which("wrk"):
		sys.exit("bench: wrk is not installed.")


def wrk(url, connections, seconds, cookie="", bears_errors=False):
	command = [
		# wrk takes whole seconds only, and prints its figures when it is interrupted.
		*("timeout", "--preserve-status", "-s", "INT", f"{seconds}"),
		"wrk",
		f"-t{min(2, connections)}",
		f"-c{connections}",
		f"-d{math.ceil(seconds)}s",
		"--timeout",
		"30s",
		"--latency",
		*(["-H", f"Cookie: {cookie}"] if cookie else []),
		url,
	]
	text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
	late = {
		share: float(number) * UNIT_MS[unit]
		for share, number, unit in re.findall(r"^ +(50|99)% +([\d.]+)(us|ms|s|m) *$", text, re.M)
	}
	wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
	if len(late) < 2 or (wrong and not bears_errors):
		sys.exit(f"bench: {url} does not answer with a page:\n{text}")
	return Answers(
		float(re.search(r"Requests/sec: +([\d.]+)", text)[1]),
		late["50"],
		late["99"],
		int(re.search(r"(\d+) requests in", text)[1]),
		int(wrong[1]) if wrong else 0,
	)
