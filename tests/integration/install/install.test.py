#!/usr/bin/env python3
"""Where make install and make deb put files, the manual pages, the hardened units, and nginx's
site. tests/scale/install.test.py installs the package and runs its programs."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import Skip, contains, equal, lacks, run, test  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
PROGRAMS = ("podium", "podium-admin", "podium-hooks", "podium-run", "podium-web", "podium-worker")
SERVICES = ("podium-web", "podium-hooks", "podium-worker")
scratch = pathlib.Path(tempfile.mkdtemp(prefix="podium-install-test."))
prefix = scratch / "usr"
ENVIRONMENT = {
	**os.environ,
	"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
	"DEB_COMPRESSION": "none",
	"SOURCE_DATE_EPOCH": "1795000000",
}


def command(*words, status=0):
	answer = subprocess.run(
		[str(word) for word in words],
		capture_output=True,
		text=True,
		env=ENVIRONMENT,
		stdin=subprocess.DEVNULL,
	)
	if answer.returncode != status:
		raise AssertionError(
			f"{words}: {answer.returncode}\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}"
		)
	return answer.stdout + answer.stderr


def need(program):
	if not shutil.which(program, path=ENVIRONMENT["PATH"]):
		raise Skip(f"there is no {program} here")


def files(folder):
	return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def install():
	return command(ROOT / "packaging/install", BUILD, "", prefix, scratch / "etc")


@test
def make_install_puts_everything_below_its_prefix():
	install()
	there = files(scratch)
	for path in (
		*(f"usr/bin/{name}" for name in PROGRAMS),
		"usr/share/podium/static/style.css",
		"usr/share/podium/tasks/vectoradd_py/task.yml",
		"usr/share/podium/nginx/server.conf",
		"usr/share/podium/podium.conf",
		"usr/lib/systemd/system/podium-web.socket",
		"usr/lib/sysusers.d/podium.conf",
		"usr/share/man/man5/podium.conf.5.gz",
		"etc/nginx/sites-available/podium",
	):
		assert path in there, path
	equal([path for path in there if "__pycache__" in path], [])
	for name in PROGRAMS:
		contains(command(prefix / "bin" / name, "--version"), name)
	text = (
		"".join(path.read_text() for path in (prefix / "lib").rglob("*") if path.is_file())
		+ (scratch / "etc/nginx/sites-available/podium").read_text()
	)
	equal(re.findall(r"@\w+@", text.replace("@system", "")), [])
	lacks(text, str(ROOT))


@test
def the_default_settings_file_lists_every_setting_as_a_comment():
	text = (prefix / "share/podium/podium.conf").read_text()
	equal([line for line in text.splitlines() if line and not line.startswith("#")], [])
	keys = re.findall(r"^  PODIUM_([A-Z_]+) ", command(BUILD / "podium-admin", "--help"), re.M)
	assert len(keys) > 30
	equal(re.findall(r"^#([a-z_]+) =", text, re.M), [key.lower() for key in keys])
	page = gzip.open(prefix / "share/man/man5/podium.conf.5.gz", "rt").read()
	equal(re.findall(r"^\.TP\n\\fB([a-z_]+)\\fR$", page, re.M), [key.lower() for key in keys])


@test
def every_program_has_a_manual_page_without_troff_warnings():
	need("groff")
	for name in PROGRAMS:
		path = next(prefix.glob(f"share/man/man?/{name}.?.gz"))
		page = scratch / "page"
		page.write_bytes(gzip.open(path).read())
		said = command("groff", "-man", "-Tutf8", "-ww", page)
		lacks(said, "warning")
		plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", said)
		contains(plain, f"{name.upper()}(")
		contains(plain, "SYNOPSIS")
	lines = command(BUILD / "podium-admin", "--help").splitlines()
	contains(
		gzip.open(prefix / "share/man/man8/podium-admin.8.gz", "rt").read(),
		'.SS "init [\\-\\-answers\\-from FILE] [\\-\\-yes]"',
	)
	assert any(line.startswith("  init [--answers-from FILE]") for line in lines)


@test
def systemd_accepts_the_units():
	need("systemd-analyze")
	said = command(
		"systemd-analyze", "verify", "--man=no", *sorted((prefix / "lib/systemd/system").iterdir())
	)
	equal(said, "")


@test
def the_units_are_as_hardened_as_the_docs_say():
	need("systemd-analyze")
	text = (ROOT / "docs/install.md").read_text()
	for name in SERVICES:
		said = command(
			"systemd-analyze",
			"security",
			"--offline=yes",
			"--no-pager",
			prefix / f"lib/systemd/system/{name}.service",
		)
		figure = float(re.search(r"exposure level for \S+: ([\d.]+)", said)[1])
		documented = float(re.search(rf"^\| `{name}` \| ([\d.]+) \|", text, re.M)[1])
		assert figure <= documented, f"{name}: {figure} is more than {documented}"


@test
def nginx_accepts_the_site_next_to_others():
	need("nginx")
	conf = scratch / "nginx.conf"
	conf.write_text(
		f"pid {scratch}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n\tserver {{ listen "
		f"unix:{scratch}/other.sock; }}\n"
		f"\tinclude {scratch}/site;\n}}\n"
	)
	site = (
		(scratch / "etc/nginx/sites-available/podium")
		.read_text()
		.replace("/var/lib/nginx", str(scratch))
		.replace("/var/log/nginx", str(scratch))
	)
	(scratch / "site").write_text(
		re.sub(r"listen [^;]*80;", f"listen unix:{scratch}/site.sock;", site, count=1).replace(
			"\tlisten [::]:80;\n", ""
		)
	)
	equal(command("nginx", "-t", "-q", "-p", scratch, "-c", conf, "-e", "stderr"), "")


@test
def an_edited_site_is_kept_and_uninstalling_removes_the_rest():
	site = scratch / "etc/nginx/sites-available/podium"
	site.write_text("# ours\n")
	contains(install(), "was not changed")
	equal(site.read_text(), "# ours\n")
	(prefix / "bin/theirs").write_text("")
	command(ROOT / "packaging/install", "--remove", "", prefix)
	equal(files(prefix), ["bin/theirs"])


@test
def the_package_has_sane_file_modes_and_depends_on_its_libraries():
	need("dpkg-shlibdeps")
	command(ROOT / "packaging/debian/build", BUILD, "9.8.7", scratch / "one")
	package = next((scratch / "one").glob("podium_9.8.7_*.deb"))
	about = command("dpkg-deb", "--info", package)
	for word in (
		"Version: 9.8.7",
		"libmariadb3",
		"libseccomp2",
		"fonts-dejavu-core",
		"conffiles",
		"postinst",
		"Recommends: nginx",
	):
		contains(about, word)
	for line in command("dpkg-deb", "--contents", package).splitlines():
		mode, owner, path = line.split()[0], line.split()[1], line.split()[5]
		equal(owner, "root/root")
		assert mode in ("drwxr-xr-x", "-rw-r--r--") or (
			mode == "-rwxr-xr-x" and path.startswith("./usr/bin/")
		), line
		lacks(path, "/etc/podium")  # settings belong to the host and not to the package


@test
def lintian_finds_no_fault():
	need("lintian")
	need("dpkg-shlibdeps")
	said = command(
		"lintian",
		"--no-tag-display-limit",
		"--allow-root",
		"--fail-on",
		"none",
		"--suppress-tags",
		"uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball",
		next((scratch / "one").glob("*.deb")),
	)
	equal([line for line in said.splitlines() if line[:2] in ("E:", "W:")], [])


try:
	status = run()
finally:
	shutil.rmtree(scratch, ignore_errors=True)
sys.exit(status)
