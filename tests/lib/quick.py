"""An interpreter for tests whose tasks need no torch. Importing torch takes a second, and a
starting worker imports it twice."""

import os
import subprocess
import sys


def quick_python(
	folder, torch="def get_num_threads(): return 0\ndef set_num_threads(count): pass\n"
):
	"""Returns the interpreter of a virtual environment in `folder`, whose torch is a nearly empty
	module. The first call makes the environment."""
	python = folder / "python" / "bin" / "python3"
	if not python.exists():
		system = next(
			path for path in ("/usr/bin/python3", sys.executable) if os.access(path, os.X_OK)
		)
		subprocess.run([system, "-m", "venv", "--without-pip", folder / "python"], check=True)
		module = (
			next((folder / "python" / "lib").glob("python3*/site-packages"))
			/ "torch"
			/ "__init__.py"
		)
		module.parent.mkdir()
		module.write_text(torch)
	return str(python)
