#!/usr/bin/env python3
"""Packs the pretended launcher, with what it imports, into one program.

pack.py BUILD OUT    BUILD: the build folder with the engines' libraries
"""

import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Python loads libraries only from files, so the program unpacks itself first.
MAIN = """
import os, runpy, sys, tempfile, zipfile
with tempfile.TemporaryDirectory() as folder:
	zipfile.ZipFile(sys.argv[0]).extractall(folder)
	sys.path.insert(0, folder)
	runpy.run_path(folder + "/launcher.py", run_name="__main__")
"""
build, out = map(pathlib.Path, sys.argv[1:])
with open(out, "wb") as file:
	file.write(b"#!/usr/bin/python3\n")
	with zipfile.ZipFile(file, "w") as archive:
		archive.writestr("__main__.py", MAIN)
		for path in (
			HERE / "launcher.py",
			HERE / "pretended.py",
			ROOT / "harness" / "sealed" / "podium_sealed.py",
			*(ROOT / "harness" / "isolated").glob("podium_*.py"),
			build / "harness" / "isolated" / "native.so",
			build / "harness" / "sealed" / "sealed.so",
		):
			archive.write(path, path.name)
out.chmod(0o755)
