#!/usr/bin/env python3
"""Kills every process with kill -9 in every stage of a job. These tests mostly wait for leases to
expire, so they run in lanes side by side (kill_lane.py), each with its own database."""

import concurrent.futures
import pathlib
import subprocess
import sys

LANES = (("the worker", "the zygote"), ("podium-run", "the contestant", "the database"))
PROGRAM = pathlib.Path(__file__).resolve().parent / "kill_lane.py"


def run(lane):
	result = subprocess.run(
		[sys.executable, PROGRAM, *lane],
		stdout=subprocess.PIPE,
		stderr=subprocess.STDOUT,
		text=True,
	)
	print(result.stdout, end="", flush=True)
	return result.returncode


with concurrent.futures.ThreadPoolExecutor(len(LANES)) as lanes:
	sys.exit(1 if any(list(lanes.map(run, LANES))) else 0)
