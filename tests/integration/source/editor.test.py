#!/usr/bin/env python3
"""static/editor.js, the built editor of the submit page, comes from the sources in editor/."""

import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, run, test  # noqa: E402

EDITOR = ROOT / "editor"
BUILT = ("editor.js", "editor.LICENSE.txt")
INPUTS = ("build.mjs", "editor.js", "package-lock.json")  # as in editor/build.mjs
MOST_BYTES = 130_000


def digest(data):
	return hashlib.sha256(data).hexdigest()


def same(got, expected):
	if got != expected:
		raise AssertionError("static/editor.js is not from these sources. Run `make editor`.")


def built(name):
	return (ROOT / "static" / name).read_bytes()


@test
def the_first_line_has_the_hashes_of_the_sources_and_of_the_code():
	head, code = built("editor.js").split(b"\n", 1)
	told = re.search(r"inputs (\w+), code (\w+)", head.decode())
	inputs = digest("\n".join(digest((EDITOR / name).read_bytes()) for name in INPUTS).encode())
	same((told[1], told[2]), (inputs, digest(code)))


@test
def the_licence_of_every_package_is_there():
	licences = built("editor.LICENSE.txt").decode()
	packages = re.split(r"\n-{72}\n\n", licences)
	equal(len(packages) > 10, True)
	for package in packages:
		contains(package, "Permission is hereby granted")
	for name in ("@codemirror/view", "@codemirror/legacy-modes", "style-mod"):
		contains(licences, f"{name} ")


@test
def a_browser_loads_at_most_130_kb():
	equal(len(gzip.compress(built("editor.js"), 6)) <= MOST_BYTES, True)


@test
def a_new_build_gives_the_same_files():
	npm = shutil.which("npm")
	if not npm:
		raise Skip("npm is not installed")
	with tempfile.TemporaryDirectory(prefix="podium-editor.") as name:
		folder = pathlib.Path(name)
		for path in (*INPUTS, "package.json"):
			shutil.copy(EDITOR / path, folder)
		fetched = subprocess.run(
			[npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
			cwd=folder,
			capture_output=True,
			text=True,
		)
		if fetched.returncode:
			if re.search(r"integrity|EUSAGE", fetched.stderr):
				raise AssertionError(fetched.stderr)
			raise Skip(f"npm reaches no registry: {fetched.stderr.strip().splitlines()[-1:]}")
		(folder / "static").mkdir()
		subprocess.run(["node", "build.mjs", folder / "static"], cwd=folder, check=True)
		for file in BUILT:
			same((folder / "static" / file).read_bytes(), built(file))


if __name__ == "__main__":
	run()
