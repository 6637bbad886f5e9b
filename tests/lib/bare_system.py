"""A bare Debian or Ubuntu in a folder, made from this host's package sources."""

import os
import pathlib
import shutil
import subprocess


def debootstrap(folder):
	targets = subprocess.run(
		["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"],
		capture_output=True,
		text=True,
	)
	site, suite = targets.stdout.split("\n")[0].split()
	shutil.rmtree(folder, ignore_errors=True)
	answer = subprocess.run(
		["debootstrap", "--variant=minbase", suite, folder, site],
		capture_output=True,
		text=True,
		env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"},
	)
	if answer.returncode:
		raise OSError("debootstrap: " + (answer.stdout + answer.stderr)[-1500:])
	(folder / "etc/apt/sources.list").unlink(missing_ok=True)  # debootstrap's own list
	for name in ("apt/sources.list", "apt/sources.list.d", "apt/apt.conf.d", "resolv.conf"):
		here = pathlib.Path("/etc") / name
		if here.is_dir():
			shutil.copytree(here, folder / "etc" / name, dirs_exist_ok=True)
		elif here.exists():
			shutil.copy(here, folder / "etc" / name)
	# No installed service starts.
	(folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
	(folder / "usr/sbin/policy-rc.d").chmod(0o755)
