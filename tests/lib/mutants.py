"""The patches of tests/mutants. Each puts one bug into the code and names the suite that must
notice it. A patch begins with lines `Word: text`:

	Bug: what is wrong with the code afterwards
	Suite: the suite's name, as ./dev test --list prints it, without the kind of build
	Tests: words that choose some of its tests, as the suite's command line takes them (optional)
"""

import os
import pathlib
import re
import subprocess

from suites import KINDS, ROOT, suites_of

FOLDER = ROOT / "tests" / "mutants"


class Mutant:
	def __init__(self, path):
		self.path, self.name = path, path.stem
		head, _, self.patch = path.read_text().partition("\n--- ")
		self.head = dict(re.findall(r"^(\w+): (.+)$", head, re.M))
		self.bug, self.suite = self.head.get("Bug", ""), self.head.get("Suite", "")
		self.tests = self.head.get("Tests", "").split()
		self.files = re.findall(r"^\+\+\+ b/(\S+)$", self.patch, re.M)

	def apply(self, tree, *options):
		"""Applies the patch in the folder `tree`. Returns git's complaint, or "" on success."""
		# Outside of a clone, git looks for the files below the current folder.
		environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(pathlib.Path(tree).parent)}
		answer = subprocess.run(
			["git", "apply", *options, self.path],
			cwd=tree,
			env=environment,
			capture_output=True,
			text=True,
		)
		return answer.stderr.strip() if answer.returncode else ""


def all_mutants():
	return [Mutant(path) for path in sorted(FOLDER.glob("*.patch"))]


def suites_by_name():
	"""Each suite by its name. A suite that runs with both builds is here with the release build,
	which is faster."""
	return {suite.name: suite for kind in reversed(KINDS) for suite in suites_of(kind)}
