"""Copies of the tree's programs and files that every user may read. The tree may be in a home that
only its owner may enter, so a test that starts a program as another user starts a copy."""

import atexit
import pathlib
import shutil
import subprocess
import tempfile


def readable_copy(folder, *paths):
	"""Copies these paths, relative to `folder`, into a new folder, which is removed when the test
	ends."""
	copy = pathlib.Path(tempfile.mkdtemp(prefix="podium-copy."))
	atexit.register(shutil.rmtree, copy, ignore_errors=True)
	subprocess.run(["cp", "-r", "--parents", *paths, copy], cwd=folder, check=True)
	subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
	return copy
