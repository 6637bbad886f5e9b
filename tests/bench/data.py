#!/usr/bin/env python3
"""`make bench-data`: starts a separate Podium with much data, to look at and to measure.

	tests/bench/data.py           loads the data, prints the address and runs until Ctrl-C

	SIZE (100000): number of submissions
	BENCH_FOLDER (build/bench): where the data stays

The data stays there, where `make bench` uses it too. This program loads the data again
when SIZE or tests/bench/data.sql has changed.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from crowd import Crowd  # noqa: E402
from instance import DUMMY_MAIL, Instance  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("BENCH_FOLDER") or ROOT / "build" / "bench")
SIZE = int(os.environ.get("SIZE") or 100000)


def open_site(build):
	"""Returns (the site, its crowd). Loads the data if the stored ones are outdated."""
	kind = hashlib.sha256(
		f"{SIZE} {(ROOT / 'tests/bench/data.sql').read_text()}".encode()
	).hexdigest()
	known = FOLDER / "loaded"
	is_there = known.exists() and json.loads(known.read_text())["kind"] == kind
	if not is_there:
		shutil.rmtree(FOLDER, ignore_errors=True)
		FOLDER.mkdir(parents=True)
	(FOLDER / "run.log").unlink(missing_ok=True)
	site = Instance({**os.environ, "B": str(build)}, var=FOLDER, private=True, **DUMMY_MAIL)
	try:
		if is_there:
			site.sql("SET GLOBAL event_scheduler = ON")
			return site, Crowd(site, known=json.loads(known.read_text())["crowd"])
		crowd = Crowd(site, SIZE)
		known.write_text(json.dumps({"kind": kind, "crowd": crowd.known()}))
		return site, crowd
	except BaseException:
		site.stop()
		raise


def main():
	site, crowd = open_site(ROOT / os.environ.get("B", "build/release"))
	try:
		print(
			f"Podium with {SIZE} submissions is at {site.url}/, the leaderboard with half of them "
			f"at {site.url}/leaderboard/bench.\n"
			f"The password of admin is in {site.var / 'admin-password'}; a cookie that makes you "
			"user1:\n\n"
			f"    {crowd.cookie('user1')}\n\nCtrl-C stops it; the data stay in "
			f"{FOLDER}.",
			flush=True,
		)
		signal.pause()
	except KeyboardInterrupt:
		pass
	finally:
		site.stop()


if __name__ == "__main__":
	main()
