#!/usr/bin/env python3
"""What anyone can read of a task and of the harness: every file, whatever its name and its bytes,
but nothing secret."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "lib"), str(TESTS / "integration" / "run")]
from client import Client, Page  # noqa: E402
from instance import ROOT, Instance  # noqa: E402
from runner import BUILD, CPU, GPU, PYTHON, Runner  # noqa: E402
from small_task import zip_of  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
anyone, admin = Client(site.url), Client(site.url)

ODD_NAME = "data/<b>x/a \"'&?#%41 <script>.txt"
REFERENCE = (
	"def generate_input(seed):\n"
	'\treturn "</pre><script>alert(1)</script>"\n'
	"\n"
	"def check_implementation(data, output):\n"
	'    return True, ""'
)
FILES = {
	"reference.py": REFERENCE.encode(),
	"odd": b"odd\n",
	"noise.bin": bytes(range(256)),
	"nul.txt": b"a\0b",
	"empty.txt": b"",
	"long.txt": b"x\n" * 20001,
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
		admin.post(
			"/account/password",
			[("current", password), ("password", "a long password"), ("again", "a long password")],
			form="/account",
		).status,
		303,
	)
	answer = admin.post(
		"/admin/leaderboards/new",
		[("name", "odd"), ("gpu", "CPU"), ("accepting", "1"), ("visibility", "hidden")],
		[("task", "task.zip", zip_of({**FILES, "task.yml": TASK.encode()}))],
	)
	equal((answer.status, answer.words()[:500] if answer.status != 303 else ""), (303, ""))
	site.publish("odd")


@test
def the_page_lists_every_file_by_its_role_with_a_view_and_a_download():
	there = links("/leaderboard/odd/task")
	stored = site.sql(
		"SELECT f.role, f.path FROM task_files f JOIN leaderboards l ON l.task_version_id = "
		"f.task_version_id WHERE l.name = 'odd'"
	)
	equal(len(stored), 12)
	for role, path in stored + [
		["engine", "judge.py"],
		["engine", "contestant.py"],
		["engine", "channel.c"],
		["engine", "native.h"],
		["engine", "zygote.py"],
	]:
		equal((path, url("task", f"{role}/{path}") in map(quoted_again, there)), (path, True))
		equal(
			(path, url("raw", f"{role}/{path}") + "?download=1" in map(quoted_again, there)),
			(path, True),
		)


def quoted_again(link):
	"""Decodes the address and percent-encodes it as Python does."""
	path, mark, query = link.partition("?")
	return urllib.parse.quote(urllib.parse.unquote(path)) + mark + query


@test
def the_page_shows_the_reference_and_opens_a_template_in_the_editor():
	page = anyone.get("/leaderboard/odd/task")
	contains(page.words(), "Reference reference.py 1 def generate_input(seed):")
	contains(page.text, 'href="/leaderboard/odd/submit?template=Python"')
	# A long one is only linked.
	blob = (
		"blobs b JOIN task_files f ON f.sha256 = b.sha256 AND f.path = 'reference.py' JOIN "
		"leaderboards l ON l.task_version_id = f.task_version_id AND l.name = 'odd'"
	)
	[[kept]] = site.sql(f"SELECT HEX(b.content) FROM {blob}")
	for lines, is_shown in ((300, True), (500, False), (0, True)):
		content = bytes.fromhex(kept) + lines * b"\n"
		site.sql(
			f"UPDATE {blob} SET b.content = x'{content.hex()}', b.size = {len(content)};"
			"UPDATE task_versions SET revision = revision + 1"
		)
		text = anyone.fresh("/leaderboard/odd/task").text
		equal((lines, 'id="reference"' in text), (lines, is_shown))
		contains(text, "/leaderboard/odd/task/file/reference.py")


@test
def the_page_lists_settings_and_cases():
	words = anyone.get("/leaderboard/odd/task").words()
	for part in (
		"Language Python",
		"The submission becomes submission.py",
		"Recorded by the sealed engine as python3 builder.py submission.py",
		"Run by the isolated engine as python3 judge.py MODE CASEFILE | python3 contestant.py "
		"submission.py",
		"Engine sealed. eval.py is Podium's stock harness, so the sealed engine measures on GPUs, "
		"and the isolated engine on the CPU. The engine “sealed” counts the work of the device: ",
		"Engine on CPU isolated. eval.py is Podium's stock harness, ",
		"Devices CPU",
		"tests 17 s",
		"benchmarks 180 s",
		"Seed of tests and benchmarks 4711",
		"Operations of a run 2 * seed",
		"Tolerance 0.25",
		"must get: runtime error in mode test",
		"Tests: 2 cases",
		"Benchmarks: 1 case.",
		"<i>one</i>",
		"[1, 2]",
	):
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
		'<span class="keyword">def</span> custom_kernel',
	)
	contains(anyone.get(url("task", "file/eval.py")).text, '<span class="keyword">import</span>')


@test
def binary_and_very_long_files_can_only_be_downloaded():
	for name, sentence, plain in (
		("noise.bin", "is not text", False),
		("nul.txt", "is not text", False),
		("empty.txt", "is empty", True),
		("long.txt", "is too long", True),
	):
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
			contains(
				answer.headers["Content-Disposition"],
				"attachment" if name in ("noise.bin", "nul.txt") else "inline",
			)
			contains(
				anyone.get(url("raw", "file/" + name) + "?download=1").headers[
					"Content-Disposition"
				],
				"attachment",
			)
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


# ---- the engine's files ----

HARNESS = ROOT / "harness"
SINGLE_CU = {
	"reference_code.cuh": b"#include <vector>\nusing input_t = std::vector<float>;\n"
	b"using output_t = input_t;\ninput_t generate_input() { return {}; }\n"
	b"output_t ref_kernel(input_t data) { return data; }\n"
	b"bool check_implementation(output_t a, output_t b) { return a == b; }\n",
	"template.cu": b"output_t custom_kernel(input_t data) { return data; }\n",
}
TELLS = (
	"import os\nraise RuntimeError('There are: ' + ' '.join(os.listdir('../engine')) + ' .')\n"
	"# generate_input, check_implementation\n"
)
TELLING_NVCC = '#!/bin/sh\necho "error: There are:" $(ls isolated) sealed/* "." >&2\nexit 1\n'


def example(name):
	folder = ROOT / "tasks" / name
	return {
		str(path.relative_to(folder)): path.read_bytes()
		for path in folder.rglob("*")
		if path.is_file()
	}


def upload(name, files, gpu):
	answer = admin.post(
		"/admin/leaderboards/new",
		[("name", name), ("gpu", gpu), ("accepting", "1"), ("visibility", "hidden")],
		[("task", "task.zip", zip_of(files))],
	)
	equal((answer.status, answer.words()[:500] if answer.status != 303 else ""), (303, ""))
	site.publish(name)


def listed(name):
	"""The engine's files on the page of a task."""
	found = [
		urllib.parse.unquote(link).partition("/task/engine/")[2]
		for link in links(f"/leaderboard/{name}/task")
		if "/task/engine/" in link
	]
	equal(len(found), len(set(found)))
	return set(found)


def told(files, submission, nvcc, **changed):
	"""The engine's files that podium-run puts beside a program for this task. The program lists
	them in its error message."""
	with tempfile.TemporaryDirectory() as folder:
		for path, content in files.items():
			(pathlib.Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
			(pathlib.Path(folder) / path).write_bytes(content)
		jobs = subprocess.run(
			[BUILD / "tests" / "integration" / "harness" / "test_jobs", folder],
			capture_output=True,
			text=True,
			check=True,
		)
	job = json.loads(jobs.stdout.splitlines()[0])
	texts = [file for file in job["files"] if file["path"] not in changed]
	texts += [{"path": path, "text": text} for path, text in changed.items()]
	with Runner() as runner:
		runner.send(
			{
				"job": {
					"id": 17,
					"mode": "test",
					"device": GPU if nvcc else CPU,
					"task": job["task"],
					"files": texts,
					"submission": {"name": "mine", "text": submission},
					"python": PYTHON,
					"nvcc": nvcc,
					"engine": "isolated",
				}
			}
		)
		reason = runner.result().reason
	contains(reason, "There are: ")
	return set(reason.partition("There are: ")[2].partition(" .")[0].split())


def sources_of_sealed(suffix):
	"""The files of the sealed engine for tasks whose files have this suffix."""
	files = (HARNESS / "sealed").glob("*.*")
	found = {f"sealed/{path.name}" for path in files if path.suffix in (".c", ".h", suffix)}
	return found if suffix == ".cu" else found - {"sealed/recording.h", "sealed/sealed_side.h"}


# What the judge of a task in CUDA C++ includes, whatever its engine.
HEADERS_OF_SEALED = {f"sealed/{name}.h" for name in ("launch", "range", "sealed_side")}


def sources_of_the_library():
	"""The files that the compiler reads for native.so and native.o."""
	rule = subprocess.run(
		["cc", "-MM", "-D_GNU_SOURCE", *(HARNESS / "isolated").glob("*.c")],
		capture_output=True,
		text=True,
		check=True,
	).stdout
	return {pathlib.Path(word).name for word in rule.split() if word.endswith((".c", ".h"))}


@test
def the_files_of_a_python_engine_and_no_others_are_listed():
	answers = {
		"reference.py": "def generate_input(**named):\n    return [1]\n"
		"def check_implementation(data, output):\n    return True, ''\n"
	}
	odd = {**FILES, "task.yml": TASK.encode()}
	judge = told(odd, "", "", **{"reference.py": TELLS})
	contestant = told(odd, TELLS, "", **answers)
	equal(
		("judge.py" in judge, "contestant.py" in contestant, contestant - judge),
		(True, True, set()),
	)
	equal(
		listed("odd"),
		(judge - {"native.so", "__pycache__"})
		| sources_of_the_library()
		| {"zygote.py"}
		| sources_of_sealed(".py"),
	)


@test
def the_files_of_a_cuda_engine_and_no_others_are_listed():
	with tempfile.TemporaryDirectory() as folder:
		nvcc = pathlib.Path(folder) / "nvcc"
		nvcc.write_text(TELLING_NVCC)
		nvcc.chmod(0o755)
		nvcc.parent.chmod(0o755)
		for name, files, entry in (
			("kernel", example("vectoradd_kernel_cu"), "entry_wrapped.cu"),
			("vector", example("vectoradd_cu"), "entry.cu"),
			("single", SINGLE_CU, "entry_single.cu"),
		):
			upload(name, files, "H200")
			told_files = told(files, "", str(nvcc)) - {"native.o"}
			given = {path for path in told_files if not path.startswith("sealed/")}
			sealed = HEADERS_OF_SEALED if name == "single" else sources_of_sealed(".cu")
			assert HEADERS_OF_SEALED <= told_files, told_files
			equal(listed(name), given | sources_of_the_library() | sealed)
			equal({path for path in given if path.startswith("entry")}, {entry, "entry.h"})


@test
def the_custom_engine_has_no_files_but_the_zygote_of_python():
	choice = b"podium:\n  engine: custom\n"
	upload("own", {**FILES, "task.yml": TASK.encode().replace(b"podium:\n", choice)}, "CPU")
	equal(listed("own"), {"zygote.py"})
	files = example("vectoradd_cu")
	upload(
		"own-cu",
		{
			**files,
			"task.yml": re.sub(rb"podium:\n|\Z", lambda found: choice, files["task.yml"], count=1),
		},
		"H200",
	)
	equal(listed("own-cu"), set())


@test
def each_file_of_an_engine_can_be_read():
	for board in ("odd", "kernel", "vector", "single"):
		for name in listed(board):
			file = {
				"podium_eval.py": HARNESS / "eval.py",
				"zygote.py": HARNESS / "zygote.py",
				"eval.cu": HARNESS / "eval.cu",
			}.get(name, HARNESS / ("" if name.startswith("sealed/") else "isolated") / name)
			address = f"/leaderboard/{board}/{{}}/engine/{name}"
			answer = anyone.get(address.format("raw"))
			equal((name, answer.status, answer.bytes), (name, 200, file.read_bytes()))
			equal((name, anyone.get(address.format("task")).status), (name, 200))
	contains(
		anyone.get("/leaderboard/odd/task").words(),
		"Files that do not run Podium's "
		"engine takes the place of the task's harness. eval.py Download",
	)
	contains(anyone.get("/leaderboard/odd/task/file/eval.py").words(), "does not run, because")
	equal(anyone.get(url("task", "engine/no.py")).status, 404)


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
	for path, sentence in (
		("/leaderboard/odd/task/file/none.py", 'no file "file/none.py". It has "data/<b>x/a'),
		("/leaderboard/odd/raw/sample/reference.py", "and 4 more."),
		("/language/cobol", "There are: py (Python), cu (CUDA C++)."),
		("/language/py/eval.cu", "Its files are eval.py, utils.py,"),
		("/leaderboard/none/task", 'no leaderboard named "none"'),
	):
		answer = anyone.get(path)
		equal((path, answer.status), (path, 404))
		contains(answer.words(), sentence)


@test
def each_language_shows_its_harness():
	for language, names in (
		("py", ("eval.py", "utils.py", "single_reference.py")),
		("cu", ("eval.cu", "utils.h")),
	):
		answer = anyone.get(f"/language/{language}")
		equal(answer.status, 200)
		contains(answer.words(), "custom_kernel")
		contains(answer.text, '<span class="keyword">')
		contains(answer.text, 'data-copy="submission"')
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
