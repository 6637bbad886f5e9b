"""Tools that tests need and the distribution lacks. pip installs the versions of
tests/requirements.txt in build/tools, and installs them again only when that file changes."""

import atexit
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "tools"
PIP = [
	sys.executable,
	"-m",
	"pip",
	"install",
	"--quiet",
	"--disable-pip-version-check",
	"--retries=2",
	"--no-deps",
	"--no-compile",
	"--only-binary=:all:",
]


class Missing(Exception):
	"""Raised with the reason why a tool cannot be installed."""


def requirements(group):
	"""The lines of one group of tests/requirements.txt."""
	text = (ROOT / "tests" / "requirements.txt").read_text().replace("\\\n", "")
	lines = text.split(f"\n# [{group}]\n")[1].split("\n# [")[0].splitlines()
	return "".join(line + "\n" for line in lines if line and line[0] != "#")


@contextlib.contextmanager
def alone():
	"""Keeps other suites from installing tools at the same time."""
	TOOLS.mkdir(parents=True, exist_ok=True)
	with open(TOOLS / ".lock", "w") as lock:
		fcntl.flock(lock, fcntl.LOCK_EX)
		yield


@alone()
def install(group):
	"""Returns the folder of a group's tools. Installs missing or outdated tools first."""
	folder, wanted = TOOLS / group, requirements(group)
	stamp = folder / "requirements.txt"
	if stamp.exists() and stamp.read_text() == wanted:
		return folder
	fresh = TOOLS / f"{group}.new"
	shutil.rmtree(fresh, ignore_errors=True)
	fresh.mkdir(parents=True)
	(fresh / stamp.name).write_text(wanted)
	print(
		f"Installing tools for tests: {', '.join(line.split()[0] for line in wanted.splitlines())}",
		flush=True,
	)
	answer = subprocess.run(
		[*PIP, "--target", fresh, "-r", fresh / stamp.name],
		capture_output=True,
		text=True,
		stdin=subprocess.DEVNULL,
	)
	if answer.returncode:
		said = (answer.stderr or answer.stdout).strip().splitlines() or ["it said nothing"]
		raise Missing(f"pip cannot install the tools for tests ({group}): {said[-1]}")
	if group == "cuda":
		(fresh / "nvidia" / "cu13" / "lib64").symlink_to("lib")  # nvcc looks for libraries there
	shutil.rmtree(folder, ignore_errors=True)
	fresh.rename(folder)
	return folder


@alone()
def install_node(folder):
	"""Installs the packages that package-lock.json of the folder names, and returns their
	folder."""
	lock = (folder / "package-lock.json").read_text()
	target = TOOLS / f"node-{hashlib.sha256(lock.encode()).hexdigest()[:12]}"
	if target.exists():
		return target / "node_modules"
	if not shutil.which("npm"):
		raise Missing("npm is not installed")
	fresh = pathlib.Path(tempfile.mkdtemp(prefix="node.", dir=TOOLS))
	for name in ("package.json", "package-lock.json"):
		shutil.copy(folder / name, fresh)
	answer = subprocess.run(
		["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
		cwd=fresh,
		capture_output=True,
		text=True,
		stdin=subprocess.DEVNULL,
	)
	if answer.returncode:
		shutil.rmtree(fresh)
		raise Missing(f"npm cannot install the tools of {folder.name}: {answer.stderr.strip()}")
	fresh.rename(target)
	return target / "node_modules"


# ---- nvcc ----


def system_nvcc():
	"""The nvcc on the PATH or in /usr/local/cuda, or None."""
	return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def nvcc_lack():
	"""The reason why a test cannot compile CUDA C++ here, or None. tests/run sets NVCC_LACK to the
	reason."""
	return None if system_nvcc() else os.environ.get("NVCC_LACK", "nvcc is not installed")


def nvcc_environment():
	"""Environment variables for tests that say where nvcc is, or why there is none."""
	if system_nvcc():
		return {}
	try:
		toolkit = install("cuda") / "nvidia" / "cu13"
	except Missing as reason:
		return {"NVCC_LACK": str(reason)}
	return {"PATH": f"{os.environ['PATH']}:{enterable(toolkit)}/bin"}


def enterable(folder):
	"""podium-run starts nvcc as another user. Returns the folder, or a copy if other users may not
	enter it."""
	if all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents)):
		return folder
	copy = pathlib.Path(tempfile.mkdtemp(prefix="cuda-toolkit."))
	atexit.register(shutil.rmtree, copy, ignore_errors=True)
	subprocess.run(["cp", "-r", folder, copy], check=True)
	subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
	return copy / folder.name
