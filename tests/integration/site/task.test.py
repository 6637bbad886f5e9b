#!/usr/bin/env python3
"""What anyone can read of a task and of the harness: every file, whatever its name and bytes, and
nothing secret."""
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from small_task import zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
anyone, admin = Client(site.url), Client(site.url)

ODD_NAME = "data/<b>x/a \"'&?#%41 <script>.txt"
REFERENCE = ('def generate_input(seed):\n'
	'\treturn "</pre><script>alert(1)</script>"\n'
	'\n'
	'def check_implementation(data, output):\n'
	'    return True, ""')
FILES = {
	"reference.py": REFERENCE.encode(), "odd": b"odd\n", "noise.bin": bytes(range(256)),
	"nul.txt": b"a\0b", "empty.txt": b"", "long.txt": b"x\n" * 20001,
	"template.py": b"def custom_kernel(data):\n    return data\n",
	"samples/zero.py": b"custom_kernel = 0\n",
}
TASK = """
lang: py
description: "All kinds of files."
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: "@STOCK@"}
  - {name: utils.py, source: "@STOCK@"}
  - {name: noise.bin, source: noise.bin}
  - {name: nul.txt, source: nul.txt}
  - {name: empty.txt, source: empty.txt}
  - {name: long.txt, source: long.txt}
  - {name: template/Python, source: odd}
  - {name: '%s', source: odd}
config: {main: eval.py}
templates: {Python: template.py}
tests: [{seed: 1, name: "<i>one</i>"}, {seed: 2, shape: "[1, 2]"}]
benchmarks: [{seed: 3}]
test_timeout: 17
seed: 4711
podium:
  flops: 2 * seed
  tolerance: 0.25
  expected: [{source: samples/zero.py, verdict: runtime error, mode: test}]
""" % ODD_NAME.replace("'", "''")


def url(kind, path):
	return f"/leaderboard/odd/{kind}/{urllib.parse.quote(path)}"


def links(path):
	page = Page()
	page.feed(anyone.get(path).text)
	return page.links


@test
def a_task_with_files_of_every_kind_can_be_uploaded():
	password = (site.var / "admin-password").read_text().strip()
	equal(admin.post("/login", [("name", "admin"), ("password", password)]).status, 303)
	equal(
		admin.post("/account/password", [("current", password), ("password", "a long password"),
		("again", "a long password")], form="/account").status, 303)
	answer = admin.post("/admin/leaderboards/new", [("name", "odd"), ("gpu", "CPU"),
		("accepting", "1")], [("task", "task.zip", zip_of({**FILES, "task.yml": TASK.encode()}))])
	equal((answer.status, answer.words()[:500] if answer.status != 303 else ""), (303, ""))


@test
def the_page_lists_every_file_by_its_role_with_a_view_and_a_download():
	there = links("/leaderboard/odd/task")
	stored = site.sql(
		"SELECT f.role, f.path FROM task_files f JOIN leaderboards l ON l.task_version_id = "
		"f.task_version_id WHERE l.name = 'odd'")
	equal(len(stored), 12)
	for role, path in stored + [["engine", "judge.py"], ["engine", "contestant.py"],
		["engine", "channel.c"], ["engine", "native.h"], ["engine", "zygote.py"]]:
		equal((path, url("task", f"{role}/{path}") in map(quoted_again, there)), (path, True))
		equal((path, url("raw", f"{role}/{path}") + "?download=1" in map(quoted_again, there)),
			(path, True))


def quoted_again(link):
	"""Decodes the address and percent-encodes it as Python does."""
	path, mark, query = link.partition("?")
	return urllib.parse.quote(urllib.parse.unquote(path)) + mark + query


@test
def the_page_lists_settings_and_cases():
	words = anyone.get("/leaderboard/odd/task").words()
	for part in ("Language Python", "The submission becomes submission.py",
		"Run as python3 judge.py MODE CASEFILE | python3 contestant.py submission.py",
		"Engine isolated. eval.py is Podium's stock harness, and the isolated engine measures the "
		"same.", "Devices CPU", "tests 17 s", "benchmarks 180 s",
		"Seed of tests and benchmarks 4711", "Operations of a run 2 * seed", "Tolerance 0.25",
		"must get: runtime error in mode test", "Tests: 2 cases", "Benchmarks: 1 case.",
		"<i>one</i>", "[1, 2]"):
		contains(words, part)


@test
def no_page_contains_the_secret_seed():
	site.sql("UPDATE leaderboards SET secret_seed = 1987654321 WHERE name = 'odd'")
	for path in ["/leaderboard/odd/task", *links("/leaderboard/odd/task")]:
		if path.startswith("/leaderboard/odd/"):
			equal((path, b"1987654321" in anyone.get(path).bytes), (path, False))


@test
def a_files_page_shows_its_text_line_by_line_as_text():
	text = anyone.get(url("task", "file/reference.py")).text
	contains(text, 'id="L2"')
	contains(text, 'data-copy="source"')
	contains(text, "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;")
	lacks(text, "<script>alert")
	answer = anyone.get(url("task", "file/" + ODD_NAME))
	equal(answer.status, 200)
	contains(answer.words(), ODD_NAME)


@test
def code_is_highlighted_by_the_name_of_its_file_or_template():
	contains(
		anyone.get(url("task", "template/Python")).text,
		'<span class="keyword">def</span> custom_kernel')
	contains(anyone.get(url("task", "file/eval.py")).text, '<span class="keyword">import</span>')


@test
def binary_and_very_long_files_can_only_be_downloaded():
	for name, sentence, plain in (("noise.bin", "is not text", False), ("nul.txt", "is not text",
		False), ("empty.txt", "is empty", True), ("long.txt", "is too long", True)):
		path = url("task", "file/" + name)
		contains(anyone.get(path).words(), sentence)
		equal((name, url("raw", "file/" + name) in links(path)), (name, plain))
		equal((name, url("raw", "file/" + name) + "?download=1" in links(path)), (name, True))


@test
def a_download_has_the_uploaded_bytes_and_never_runs_in_a_browser():
	for name, content in FILES.items():
		if name not in ("odd", "template.py", "samples/zero.py"):
			answer = anyone.get(url("raw", "file/" + name))
			equal((name, answer.bytes), (name, content))
			equal(answer.headers["Content-Type"], "text/plain; charset=utf-8")
			equal(answer.headers.get_all("X-Content-Type-Options"), ["nosniff"])
			contains(answer.headers["Content-Disposition"],
				"attachment" if name in ("noise.bin", "nul.txt") else "inline")
			contains(
				anyone.get(url("raw", "file/" + name) +
				"?download=1").headers["Content-Disposition"], "attachment")
	answer = anyone.get(url("raw", "file/" + ODD_NAME) + "?download=1")
	equal(answer.bytes, b"odd\n")
	contains(answer.headers["Content-Disposition"], 'filename="a_____')


@test
def files_with_the_same_path_differ_by_role():
	equal(anyone.get(url("raw", "template/Python")).bytes, FILES["template.py"])
	equal(anyone.get(url("raw", "file/template/Python")).bytes, b"odd\n")
	equal(anyone.get(url("raw", "sample/samples/zero.py")).bytes, FILES["samples/zero.py"])
	equal(anyone.get(url("raw", "samples/zero.py")).bytes, FILES["samples/zero.py"])
	equal(anyone.get(url("raw", "task.yml")).text, TASK)


@test
def the_files_that_run_and_no_others_are_listed_and_can_be_read():
	listed = {
		urllib.parse.unquote(link).partition("/task/engine/")[2]
		for link in links("/leaderboard/odd/task") if "/task/engine/" in link
	}
	harness = ROOT / "harness"
	library = {path.name for path in (harness / "isolated").glob("*.c")}
	judge = {path.name for path in (harness / "isolated").glob("*.py")}
	equal({name
		for name in listed if not name.endswith(".h")},
		library | judge | {"podium_eval.py", "zygote.py"})
	# The listed headers are those of the native library, and not those that only CUDA C++ needs.
	equal(("native.h" in listed, "carry.h" in listed), (True, False))
	for name in listed:
		file = {"podium_eval.py": harness / "eval.py",
			"zygote.py": harness / "zygote.py"}.get(name, harness / "isolated" / name)
		answer = anyone.get(url("raw", "engine/" + name))
		equal((name, answer.status, answer.bytes), (name, 200, file.read_bytes()))
		equal((name, anyone.get(url("task", "engine/" + name)).status), (name, 200))
	contains(
		anyone.get("/leaderboard/odd/task").words(), "Files that do not run The isolated "
		"engine takes the place of the task's harness. Name Download eval.py does not run")
	equal(anyone.get(url("task", "engine/no.py")).status, 404)


@test
def a_task_in_cuda_lists_the_sources_of_its_judge():
	folder = ROOT / "tasks" / "vectoradd_kernel_cu"
	files = {
		str(path.relative_to(folder)): path.read_bytes()
		for path in folder.rglob("*") if path.is_file()
	}
	answer = admin.post("/admin/leaderboards/new", [("name", "kernel"), ("gpu", "H200"),
		("accepting", "1")], [("task", "task.zip", zip_of(files))])
	equal((answer.status, answer.location.rsplit("/", 1)[1]), (303, "kernel?uploaded=1"))
	listed = {
		link.partition("/task/engine/")[2]
		for link in links("/leaderboard/kernel/task") if "/task/engine/" in link
	}
	isolated = ROOT / "harness" / "isolated"
	sources = {path.name
		for path in isolated.glob("*.c")
				} | {"judge.cu", "contestant.cu", "entry_wrapped.cu", "eval.cu", "build_cu"}
	equal({name for name in listed if not name.endswith(".h")}, sources)
	equal({name
		for name in listed if name.endswith(".h")}, {path.name
		for path in isolated.glob("*.h")})
	equal(anyone.get("/leaderboard/kernel/task/engine/judge.cu").status, 200)


@test
def a_template_is_found_by_its_language_and_keeps_its_name():
	answer = anyone.get("/leaderboard/odd/template/python?download=1")
	equal(answer.bytes, FILES["template.py"])
	contains(answer.headers["Content-Disposition"], 'attachment; filename="template.py"')
	answer = anyone.get("/leaderboard/odd/template/Triton")
	equal(answer.status, 404)
	contains(answer.words(), 'no template for "Triton". It has templates for Python.')


@test
def an_unknown_file_gets_a_list_of_the_existing_ones():
	for path, sentence in (("/leaderboard/odd/task/file/none.py",
		'no file "file/none.py". It has "data/<b>x/a'), ("/leaderboard/odd/raw/sample/reference.py",
		"and 4 more."), ("/language/cobol", "There are: py (Python), cu (CUDA C++)."),
		("/language/py/eval.cu", "It has eval.py, utils.py,"), ("/leaderboard/none/task",
		'no leaderboard named "none"')):
		answer = anyone.get(path)
		equal((path, answer.status), (path, 404))
		contains(answer.words(), sentence)


@test
def each_language_shows_its_harness():
	for language, names in (("py", ("eval.py", "utils.py", "single_reference.py")), ("cu",
		("eval.cu", "utils.h"))):
		answer = anyone.get(f"/language/{language}")
		equal(answer.status, 200)
		contains(answer.words(), "custom_kernel")
		contains(answer.text, '<span class="keyword">')
		contains(answer.text, 'data-copy="example"')
		for name in names:
			contains(answer.text, f'id="{name}-L1"')
			contains(answer.text, f'data-copy="{name}-source"')
			raw = anyone.get(f"/language/{language}/{name}")
			equal(raw.bytes, (ROOT / "harness" / name).read_bytes())
			equal(raw.headers["Content-Type"], "text/plain; charset=utf-8")


status = 1
try:
	status = run()
finally:
	site.remove()
sys.exit(status)
