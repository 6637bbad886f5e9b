#!/usr/bin/env python3
"""./dev on a made-up system: which packages it finds missing, what it prints, what it runs as root,
and what it leaves behind.

A copy of ./dev runs with scripts in place of apt-get, dpkg-query, sudo and make. The scripts log
how they were called. In a private mount namespace, empty folders cover /usr/sbin and apt's
lists."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

NAMESPACE = (
	["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
)
RUN_PACKAGES = {
	"gcc",
	"make",
	"libfcgi-dev",
	"mariadb-server-core",
	"mariadb-client-core",
	"util-linux",
	"libyaml-dev",
}
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-dev-test."))

# Scripts in place of the system's programs. They log their calls. The files `installed`,
# `unavailable` and `snaps` describe the system that they pretend.
FAKES = {
	"dpkg-query": "sed 's/$/ installed/' installed",
	"apt-get": 'echo "apt-get $*" >> calls; [ ! -e broken ] || exit 100; [ "$1" != update ] || '
	"touch "
	"/var/lib/apt/lists/x_Packages\n"
	'[ ! -x /usr/sbin/policy-rc.d ] || { /usr/sbin/policy-rc.d; echo "policy $?" >> calls; }',
	"apt-cache": 'for name; do :; done; ! grep -qx -- "$name" unavailable || exit 100\n'
	'if grep -qx -- "$name" snaps; then echo "Version: 2:1snap1-0ubuntu2"; else echo "Version: '
	'1.0"; fi',
	"sudo": 'echo "sudo $1" >> calls; FAKE_ROOT=1 "$@"',
	"id": 'if [ -n "${FAKE_ROOT:-}" ]; then echo 0; else echo 1000; fi',
	"make": 'echo "make $*" >> calls',
	"systemctl": 'echo "systemctl $*" >> calls',
	"nginx": "exit 0",
	"node": "exit 1",
	"python3": "exit 1",
}
TOOLS = "sh sed cut tr dirname ls cat rm chmod grep touch nproc mount mkdir env"


def system(
	arguments,
	installed=(),
	without=(),
	unavailable=(),
	snaps=(),
	lists=True,
	root=False,
	broken=False,
	policy=None,
):
	"""Runs ./dev on a made-up system. Returns its output, its exit code, the logged calls, and the
	contents of /usr/sbin afterwards."""
	if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode:
		raise Skip("this system allows no mount namespace here")
	home = pathlib.Path(tempfile.mkdtemp(dir=scratch))
	(home / "bin").mkdir()
	for name, body in FAKES.items():
		if name not in without:
			(home / "bin" / name).write_text(f"#!/bin/sh\ncd {home}\n{body}\n")
			(home / "bin" / name).chmod(0o755)
	for name in TOOLS.split():
		(home / "bin" / name).symlink_to(shutil.which(name))
	for name, words in (
		("installed", installed),
		("unavailable", unavailable),
		("snaps", snaps),
		("calls", ()),
	):
		(home / name).write_text("".join(word + "\n" for word in words))
	if broken:
		(home / "broken").touch()
	for name in ("dev", "packages.txt"):
		shutil.copy(ROOT / name, home)
	(home / "tests").mkdir()
	(home / "tests" / "run").write_text('#!/bin/sh\necho "tests/run $*" >> calls\n')
	(home / "tests" / "run").chmod(0o755)
	(home / "sbin").mkdir()
	if policy is not None:
		(home / "sbin" / "policy-rc.d").write_text(policy)
		(home / "sbin" / "policy-rc.d").chmod(0o755)
	cover = (
		f"mount --bind {home}/sbin /usr/sbin && mkdir -p /var/lib/apt/lists && mount -t tmpfs "
		"none /var/lib/apt/lists || exit 99\n"
		+ ("touch /var/lib/apt/lists/x_Packages\n" if lists else "")
		+ f"PATH={home}/bin exec {home}/dev {arguments}"
	)
	answer = subprocess.run(
		[*NAMESPACE, "sh", "-c", cover],
		capture_output=True,
		text=True,
		stdin=subprocess.DEVNULL,
		env={**os.environ, **({"FAKE_ROOT": "1"} if root else {})},
	)
	if answer.returncode == 99:
		raise Skip("this system allows no mounts here")
	left = sorted(path.name for path in (home / "sbin").iterdir())
	return (
		answer.stdout + answer.stderr,
		answer.returncode,
		(home / "calls").read_text().splitlines(),
		left,
	)


def packages(section):
	wanted, found = None, []
	for line in (ROOT / "packages.txt").read_text().splitlines():
		if line.startswith("["):
			wanted = line.strip("[]")
		elif line and not line.startswith("#") and wanted == section:
			found.append(line.split("|")[0].strip())
	return found


EVERYTHING = packages("run") + packages("test")


@test
def the_list_names_what_the_build_needs():
	equal(RUN_PACKAGES - set(packages("run")), set())
	equal(set(packages("run")) & set(packages("test")), set())


@test
def if_nothing_is_missing_it_installs_nothing_and_needs_no_root():
	text, code, calls, _ = system("test", installed=EVERYTHING, without=("sudo", "apt-get"))
	equal((code, text, calls), (0, "", ["tests/run "]))
	text, code, calls, _ = system("build", installed=EVERYTHING, without=("sudo", "apt-get"))
	equal((code, text, [call.split()[-1] for call in calls]), (0, "", ["all"]))


@test
def suites_and_options_reach_the_test_run():
	for words in ("unit/ranking integration/dev/run", "--failed"):
		_, code, calls, _ = system("test " + words, installed=EVERYTHING)
		equal((code, calls), (0, ["tests/run " + words]))


@test
def listing_suites_does_not_look_at_packages():
	_, code, calls, _ = system("test --list unit", installed=(), without=("sudo", "apt-get"))
	equal((code, calls), (0, ["tests/run --list unit"]))
	text, code, calls, _ = system("test --list", without=("python3",))
	equal((code, calls), (1, []))
	contains(text, "python3 is missing; ./dev test installs it.")


@test
def run_installs_missing_packages_and_starts_podium():
	text, code, calls, left = system(
		"run", installed=[name for name in EVERYTHING if name not in ("gcc", "libzip-dev")]
	)
	equal(code, 0)
	contains(text, "These packages are missing and will be installed: gcc libzip-dev")
	contains(text, "as root, with sudo")
	equal(calls[:2], ["sudo sh", "apt-get install -y --no-install-recommends gcc libzip-dev"])
	equal(calls[-1], "make --no-print-directory run")
	equal(left, [])


@test
def run_does_not_install_packages_that_only_tests_need():
	text, code, calls, _ = system("run", installed=packages("run"), without=("node",))
	equal((code, text), (0, ""))
	lacks(str(calls), "apt-get")


@test
def root_needs_no_sudo():
	text, code, calls, _ = system(
		"build", installed=packages("run")[1:], without=("sudo",), root=True
	)
	equal(code, 0)
	lacks(text, "sudo")
	equal(calls[0], "apt-get install -y --no-install-recommends gcc")


@test
def without_root_and_sudo_it_says_what_to_do():
	text, code, calls, _ = system("run", installed=packages("run")[1:], without=("sudo",))
	equal((code, calls), (1, []))
	contains(text, "As root, run: apt-get install --no-install-recommends gcc")


@test
def missing_lists_are_fetched_first():
	_, code, calls, _ = system("run", installed=packages("run")[1:], lists=False)
	equal(code, 0)
	equal(calls[:2], ["sudo apt-get", "apt-get update"])


@test
def unavailable_optional_packages_are_skipped_with_a_reason():
	text, code, calls, _ = system(
		"run",
		installed=[name for name in EVERYTHING if name != "python3-torch"],
		unavailable=["python3-torch"],
	)
	equal(code, 0)
	contains(
		text,
		"This system has no package python3-torch: Python tasks that need torch will be refused.",
	)
	lacks(str(calls), "apt-get")


@test
def a_browser_that_exists_only_as_a_snap_is_skipped():
	browsers = ["chromium", "chromium-headless-shell"]
	text, code, calls, _ = system(
		"test",
		installed=[name for name in EVERYTHING if name not in browsers],
		unavailable=browsers[1:],
		snaps=browsers[:1],
	)
	equal(code, 0)
	contains(text, "This system has no package chromium-headless-shell")
	contains(
		text, "This system has chromium only as a snap: the tests in a browser will be skipped."
	)
	lacks(str(calls), "apt-get")


@test
def of_two_browsers_one_is_installed():
	browsers = ["chromium", "chromium-headless-shell"]
	_, code, calls, _ = system(
		"test", installed=[name for name in EVERYTHING if name not in browsers]
	)
	equal(code, 0)
	equal(
		[call for call in calls if call.startswith("apt-get install")],
		["apt-get install -y --no-install-recommends chromium-headless-shell"],
	)


@test
def an_interpreter_with_torch_replaces_the_package():
	home = scratch / "torch"
	home.mkdir()
	FAKES["python3"] = "exit 0"
	text, code, calls, _ = system(
		"run", installed=[name for name in EVERYTHING if name != "python3-torch"]
	)
	FAKES["python3"] = "exit 1"
	equal((code, text), (0, ""))


@test
def installing_nginx_does_not_start_it_and_leaves_no_trace():
	text, code, calls, left = system(
		"run", installed=[name for name in EVERYTHING if name != "nginx"], without=("nginx",)
	)
	equal(code, 0)
	contains(calls, "policy 101")
	contains(calls, "systemctl disable nginx")
	equal(left, [])


@test
def an_existing_policy_stays():
	text, code, calls, left = system(
		"run",
		installed=[name for name in EVERYTHING if name != "nginx"],
		without=("nginx",),
		policy="#!/bin/sh\nexit 104\n",
	)
	equal(code, 0)
	contains(calls, "policy 104")
	equal(left, ["policy-rc.d"])


@test
def a_failed_installation_leaves_no_trace_and_builds_nothing():
	text, code, calls, left = system(
		"run",
		installed=[name for name in EVERYTHING if name != "nginx"],
		without=("nginx",),
		broken=True,
	)
	equal((code, left), (1, []))
	contains(text, "The packages could not be installed; see above.")
	lacks(str(calls), "make")


@test
def another_system_gets_the_list():
	text, code, calls, _ = system("run", installed=packages("run")[1:], without=("apt-get",))
	equal((code, calls), (1, []))
	contains(
		text,
		"This system has no apt-get; ./dev supports Debian 12 and Ubuntu 24.04. Install what these "
		"Debian packages contain, then run make run: gcc",
	)


@test
def help_explains_every_command():
	text, code, calls, _ = system("--help")
	equal((code, calls), (0, []))
	contains(text, "./dev test")
	equal(system("walk")[1], 2)


try:
	status = run()
finally:
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
