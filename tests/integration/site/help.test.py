#!/usr/bin/env python3
"""The help: the pages of docs/ on a site, their links and pictures, and the tool that renders
them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

B = ROOT / os.environ.get("B", "build/release")
SITE = 'http://localhost.example.net/a"b'  # no loopback address, whatever its beginning
site = Instance(PODIUM_PUBLIC_URL=SITE)
anyone = Client(site.url)


def names_of(variable):
	found = re.search(rf"^{variable} := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.M)
	return re.findall(r"[\w:-]+", found[1])


NAMES = names_of("HELP")
PARTS = names_of("HELP_PARTS")  # "api:contests"
PAGES = NAMES + [part.replace(":", "-") for part in PARTS]


def read(path):
	answer = anyone.get(path)
	equal((path, answer.status), (path, 200))
	return answer


def links_of(text):
	"""The addresses that the main part of a page leads to or shows."""
	main = text[text.index("<main") : text.index("</main>")]
	return re.findall(r'(?:href|src)="([^"]*)"', main)


@test
def the_list_has_every_page_and_each_has_its_title_and_contents():
	listed = {link for link in links_of(read("/help").text) if link.startswith("/help/")}
	equal(listed, {f"/help/{name}" for name in PAGES})
	for name in NAMES:
		text = (ROOT / "docs" / f"{name}.md").read_text()
		title = re.search(r"^# (.+)", text, re.M)[1]
		page = read(f"/help/{name}")
		contains(page.words(), title)
		equal(page.text.count("<h1>"), 1)
		plain = re.sub(r"```.*?```", "", text, flags=re.S)
		headings = re.findall(r"^## (?!Details |Next$)(.+)", plain, re.M)
		own = {part.split(":")[1] for part in PARTS if part.startswith(name + ":")}
		for number, heading in enumerate(headings):
			if heading.lower() in own:  # the rest is on pages of its own
				headings = headings[:number]
				break
		contents = re.search(r'<ul class="sections">.*?</ul>', page.text, re.S)
		equal((name, contents[0].count("<li>") if contents else 0), (name, len(headings)))


@test
def the_sidebar_of_a_page_has_every_page_and_marks_this_one():
	for name in PAGES:
		text = read(f"/help/{name}").text
		side = text[text.index('<nav id="help-menu"') : text.index("<main")]
		linked = re.findall(r'href="(/[^"]*)"( aria-current="page")?', side)
		pages = [address for address, _ in linked]
		others = ["/judge", "/language/cu", "/language/py"]
		equal(sorted(pages), sorted([*others, *(f"/help/{page}" for page in PAGES)]))
		equal([address for address, mark in linked if mark], [f"/help/{name}"])
		contains(re.search(r"<details open>.*?</details>", side, re.S)[0], "aria-current")


@test
def every_page_ends_with_links_to_go_on():
	for path in ["/judge", *(f"/help/{name}" for name in PAGES)]:
		text = read(path).text
		main = text[text.index("<main") : text.index("</main>")]
		end = main[main.rindex("<h2") :]
		equal((path, re.search(r">([^<>]+)</", end)[1].strip()), (path, "Next"))
		links = [link for link in re.findall(r'href="([^"#]+)"', end) if link.startswith("/")]
		equal((path, len(links) >= 2), (path, True))


@test
def a_part_of_a_long_document_is_a_page_and_the_rest_leaves_it_out():
	whole = read("/api/v1/reference.md").text
	for part in PARTS:
		file, section = part.split(":")
		if file != "api":
			continue
		heading = re.search(f"^## {section.replace('-', ' ')}$", whole, re.M | re.I)
		first = re.compile(r"^### (?:\w+ )?(\S+)$", re.M).search(whole, heading.end())[1]
		contains(read(f"/help/{file}-{section}").text.replace("<wbr>", ""), first)
		lacks(read(f"/help/{file}").text, f"{first}</h3>")


@test
def an_entry_of_the_api_says_what_it_is():
	withdraw = (
		'<h3><span class="method" data-method="DELETE">DELETE</span> '
		'/api/v1/contests/{name}/registration</h3> <span class="hint">Withdraw a registration '
	)
	for page, entry in (
		("contests", withdraw),
		("objects", '<h2>Rank</h2> <span class="hint">An entry of a ranking.</span>'),
		("objects", '<h2>CaseTimes</h2> <span class="hint">The times of one case: submission b '),
	):
		contains(re.sub(r"<wbr>|\n", "", read(f"/help/api-{page}").text), entry)


@test
def every_link_of_every_page_leads_somewhere():
	pages, ids = {}, {}

	def ids_at(path):
		if path not in ids:
			ids[path] = set(re.findall(r'\bid="([^"]*)"', read(path).text))
		return ids[path]

	for name in PAGES:
		pages[f"/help/{name}"] = read(f"/help/{name}").text
	seen = set()
	for path, text in pages.items():
		for link in links_of(text):
			target, _, fragment = link.partition("#")
			if "://" in target or (link in seen and target):
				continue
			seen.add(link)
			if fragment:
				contains(ids_at(target or path), fragment)
			else:
				read(target)
	equal(len(seen) > 50, True)


@test
def a_file_of_a_page_is_served():
	for name in ("action.yml", "submit.py"):
		answer = read(f"/help/{name}")
		contains(answer.headers["Content-Type"], "text/plain")
		source = (ROOT / "github-action" / name).read_text()
		equal(answer.text, source.replace("https://podium.example.org", SITE))


@test
def examples_name_the_site_s_own_address():
	for name in PAGES:
		lacks(read(f"/help/{name}").text, "podium.example.org")
	shown = SITE.replace('"', "&quot;")
	contains(read("/help/api").text, f"{shown}/api/v1/leaderboards/vectoradd_py/submissions")
	contains(read("/help/terminal").text, f"curl -fsSo podium {shown}/help/terminal/podium")


@test
def the_command_of_a_site_without_https_allows_plain_http():
	ada = Client(site.url)
	ada.register("ada")
	shown = SITE.replace('"', "&quot;")
	contains(ada.get("/account/tokens").text, f">podium login {shown} --insecure-http<")


@test
def an_unknown_page_is_not_found():
	for path in ("/help/nothing", "/help/README", "/help/install", "/help/terminal/other"):
		equal((path, anyone.get(path).status), (path, 404))
	contains(anyone.get("/help/<b>").words(), "no page")


@test
def nginx_caches_the_help_for_visitors():
	for path in ("/help", "/help/timing", "/help/terminal/podium"):
		read(path)
		equal((path, "Set-Cookie" in read(path).headers), (path, False))
	log = site.var / "log" / "nginx-access.log"
	site.stop()
	hits = [
		line for line in log.read_text().splitlines() if "/help/timing" in line and "HIT" in line
	]
	equal(bool(hits), True)
	site.start()


# ---- the tool ----


def compiled(*names, **pages):
	"""Renders docs/ with these pages. Returns the tool's result and what it wrote."""
	with tempfile.TemporaryDirectory(prefix="podium-help.") as folder:
		docs = pathlib.Path(folder) / "docs"
		docs.mkdir()
		(docs / "workflow.yml").write_text("on: push\n")
		for name, text in {"README": "# List\n", **pages}.items():
			(docs / f"{name}.md").write_text(text)
		done = subprocess.run(
			[B / "help-compile", "out.c", *(names or [name for name in pages if name != "README"])],
			cwd=folder,
			capture_output=True,
			text=True,
		)
		out = pathlib.Path(folder) / "out.c"
		return done, out.read_text() if out.exists() else None


@test
def links_become_addresses_of_the_help():
	done, out = compiled(
		a="# A\n\n[b](b.md), [c](b.md#two-words), [d](#here), [e](https://example.org/x)\n\n"
		"## Here\n\n[f](workflow.yml) ![it](picture.png)\n",
		b="# B\n\n## Two words\n",
	)
	equal((done.returncode, done.stderr), (0, ""))
	for address in ("/help/b", "/help/b#two-words", "#here", "https://example.org/x"):
		contains(out, f'<a href=\\"{address}\\">')
	contains(out, '<a href=\\"/help/workflow.yml\\">f</a> it</p>')
	contains(out, 'EMBED(help_0, "docs/workflow.yml");')


@test
def a_section_with_a_page_takes_the_links_to_it():
	done, out = compiled(
		"api",
		"api:calls",
		"b",
		api="# A\n\n[c](#calls), [d](#deep), [e](#here)\n\n## Here\n\nText.\n\n## Calls\n\nMore. "
		"[f](#here)\n\n## Deep\n\nMost.\n",
		b="# B\n\n[g](api.md#calls) [h](api.md#deep)\n",
	)
	equal((done.returncode, done.stderr), (0, ""))
	for link in (
		'<a href=\\"/help/api-calls\\">c</a>, <a href=\\"/help/api-calls#deep\\">d</a>, '
		'<a href=\\"#here\\">e</a>',
		'More. <a href=\\"/help/api#here\\">f</a>',
		'<a href=\\"/help/api-calls\\">g</a> <a href=\\"/help/api-calls#deep\\">h</a>',
	):
		contains(out, link)
	done, out = compiled("a", "a:missing", a="# A\n\n## Here\n")
	equal((done.returncode, out), (1, None))
	contains(done.stderr, "the link missing leads to no section")


@test
def code_has_a_button_that_copies_it():
	done, out = compiled(a="# A\n\n    one\n\nThen\n\n```console\n$ two\n```\n")
	equal((done.returncode, done.stderr), (0, ""))
	for number in (1, 2):
		contains(out, f'<pre id=\\"code-{number}\\" tabindex=\\"0\\"><code')
		contains(out, f'data-copy=\\"code-{number}\\" hidden>Copy</button>')


@test
def short_code_and_a_number_with_its_unit_stay_on_one_line():
	long = "`https://podium.example.org/a b/c`"
	done, out = compiled(a=f"# A\n\n`runs - 1` in 0.4 µs, {long}, 3 samples.\n\n    a 1 s / x\n")
	equal((done.returncode, done.stderr), (0, ""))
	contains(out, "<code>runs - 1</code> in 0.4\u00a0µs")
	contains(out, "<code>https://podium.example.org/<wbr>a <wbr>b/<wbr>c</code>, 3 samples")
	contains(out, "a 1 s / x")
	done, out = compiled(a='# A\n\nIt is "< 0.5\nµs".\n')
	contains(out, "It is &quot;&lt;\u00a00.5\u00a0µs&quot;.")


@test
def links_to_pages_that_the_site_does_not_serve_become_text():
	done, out = compiled("a", a="# A\n\n[b](b.md#x), [c](judge.md#y).\n", b="# B\n", judge="# J\n")
	equal((done.returncode, done.stderr), (0, ""))
	contains(out, '<p>b, <a href=\\"/judge\\">c</a>.</p>')


@test
def tables_have_their_headings_in_each_cell():
	done, out = compiled(
		a="# A\n\n| key | `a` & value | n |\n|---|---|---:|\n| `k` | v | 1 |\n\n"
		"| one | two |\n|---|---|\n| 1 | 2 |\n\n| exit code | two |\n|---|---|\n| 3 | 4 |\n\n"
		"| your call | two |\n|---|---|\n| a launch | 4 |\n"
	)
	equal((done.returncode, done.stderr), (0, ""))
	contains(out, '<th scope=\\"row\\"><code>k</code></th>')
	contains(out, '<td data-label=\\"A &amp; value\\">v</td>')
	contains(out, '<td class=\\"number\\" data-label=\\"N\\">1</td>')
	contains(out, "<td>2</td>")
	contains(out, '<th scope=\\"row\\" data-label=\\"Exit code\\">3</th>')
	contains(out, '<th scope=\\"row\\">a launch</th>')


@test
def a_link_that_leads_nowhere_fails_the_build():
	for link in (
		"c.md",
		"b.md#nothing",
		"#nothing",
		"missing.png",
		"../README.md",
		"b.txt",
		"/b.md",
	):
		done, out = compiled(a=f"# A\n\n[x]({link})\n", b="# B\n")
		equal((link, done.returncode, out), (link, 1, None))
		contains(done.stderr, f"docs/a.md: the link {link} leads to no")
	done, out = compiled("a", "missing", a="# A\n")
	equal((done.returncode, out), (1, None))
	done, out = compiled(a="# A\n\n## Twice\n\n## Twice\n")
	equal((done.returncode, out), (1, None))


@test
def the_list_leaves_out_pages_that_are_not_served():
	done, out = compiled(
		"a",
		README="# List\n\n## Some\n\n* [A](a.md): a.\n* [B](b.md): b.\n\n## None\n\n* [B](b.md)\n",
		a="# A\n",
		b="# B\n",
	)
	equal((done.returncode, done.stderr), (0, ""))
	contains(out, ">A</a>: a.")
	contains(out, "Some")
	lacks(out, "None")
	lacks(out, "B</a>")


try:
	status = run()
finally:
	site.remove()
sys.exit(status)
