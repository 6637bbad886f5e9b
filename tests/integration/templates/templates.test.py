#!/usr/bin/env python3
"""The template compiler: what it refuses and with which message, and how it escapes values."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import contains, equal, lacks, run, test  # noqa: E402

B = ROOT / os.environ.get("B", "build/release")
CC = os.environ.get("CC", "gcc")
FLAGS = ["-std=c17", "-D_GNU_SOURCE", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror"]
if B.name == "sanitize":
	FLAGS.append("-fsanitize=address,undefined")
HOSTILE = "<script>&\"' ?#/%"


class Compiled:
	"""A template compiled to C in a new folder. A `body` without a {{template}} block becomes
	one."""

	def __init__(self, body, parameters="const char *x"):
		self.folder = tempfile.TemporaryDirectory(prefix="podium-templates.")
		base = pathlib.Path(self.folder.name)
		self.source, self.c, self.h = base / "page.html", base / "page.c", base / "page.h"
		self.source.write_text(
			body
			if "{{template" in body
			else f"{{{{template page({parameters})}}}}\n{body}\n{{{{end}}}}\n"
		)
		self.result = subprocess.run(
			[B / "template-compile", self.source, self.c, self.h], capture_output=True, text=True
		)

	def build(self, arguments='"x"'):
		"""Compiles the C into a program that prints the page, and runs the program. Returns the
		program's result, or that of the C compiler if it fails."""
		self.c.write_text(
			self.c.read_text().replace('"templates/page.h"', '"page.h"')
			+ """
			#include <stdio.h>
			int main(void)
			{
				struct buffer out = {0};
				page(&out, """
			+ arguments
			+ """);
				fputs(buffer_string(&out), stdout);
				buffer_free(&out);
				return 0;
			}
			"""
		)
		program = self.c.with_suffix("")
		result = subprocess.run(
			[
				CC,
				*FLAGS,
				"-o",
				program,
				self.c,
				B / "cgi" / "render" / "html.o",
				B / "libpodium.a",
				"-lm",
			],
			capture_output=True,
			text=True,
		)
		return (
			result
			if result.returncode
			else subprocess.run([program], capture_output=True, text=True)
		)


def refused(body, sentence, line=2):
	compiled = Compiled(body)
	if compiled.result.returncode == 0:
		raise AssertionError(f"{body!r} is taken")
	contains(compiled.result.stderr, f"page.html:{line}: ")
	contains(compiled.result.stderr, sentence)
	equal((compiled.c.exists(), compiled.h.exists()), (False, False))


def prints(body, text, value=HOSTILE):
	compiled = Compiled(body)
	equal(compiled.result.stderr, "")
	quoted = "".join(f"\\{byte:03o}" for byte in value.encode())
	result = compiled.build(f'"{quoted}"')
	equal((result.stderr, result.stdout), ("", text))


@test
def control_characters_are_visible_except_where_a_form_sends_them_back():
	evil, marks = "a\x1bb\u202ec\x9bd\te\u2026", "a\\x1bb\\u202ec\\u009bd\te\u2026"
	prints("<p>{{x}}</p>", f"<p>{marks}</p>\n", evil)
	prints('<p title="{{x}}">x</p>', f'<p title="{marks}">x</p>\n', evil)
	prints("<p>{{x | commands}}</p>", f"<p>{marks}</p>\n", evil)
	prints('<input value="{{x}}">', f'<input value="{evil}">\n', evil)
	prints(
		'<textarea class="code">{{x}}</textarea><p>{{x}}</p>',
		f'<textarea class="code">{evil}</textarea><p>{marks}</p>\n',
		evil,
	)


# ---- refused ----


@test
def an_attribute_without_quotes_is_refused():
	refused("<p class=a>x</p>", "the value of class must be in quotes")
	refused("<p class={{x}}>x</p>", "an expression may only be in text or in a quoted attribute")


@test
def scripts_and_styles_in_a_page_are_refused():
	refused("<script>alert(1)</script>", "<script> must be empty")
	refused("<script>{{x}}</script>", "an expression may only be in text or in a quoted attribute")
	refused("<style>p { color: red }</style>", "<style> must be empty")


@test
def values_in_attributes_that_run_or_load_something_are_refused():
	for attribute in (
		"onclick",
		"ONLOAD",
		"onanything",
		"style",
		"srcdoc",
		"srcset",
		"ping",
		"http-equiv",
	):
		refused(
			f'<p {attribute}="{{{{x}}}}">x</p>',
			f"the attribute {attribute.lower()} accepts no expression",
		)


@test
def values_in_places_that_no_escaping_makes_safe_are_refused():
	refused("<{{x}}>", "write &lt;")
	refused("<p{{x}}>", "an expression may only be in text or in a quoted attribute")
	refused("<p {{x}}>", "an expression may only be in text or in a quoted attribute")
	refused('<p {{x}}="a">', "an expression may only be in text or in a quoted attribute")
	refused("<!-- {{x}} -->", "an expression may only be in text or in a quoted attribute")
	refused('<p title="{{raw x}}">', "{{raw}} may only be in text")
	refused('<p title="{{0, 0 | time}}">', "the filter time prints elements")
	refused('<p title="{{x, x | code}}">', "the filter code prints elements")
	refused('<p title="{{x, x, x | code_of}}">', "the filter code_of prints elements")


@test
def an_address_cannot_begin_with_a_value_that_could_name_a_scheme_or_a_host():
	refused('<a href="{{x}}">x</a>', "href begins with an expression")
	refused('<a href="{{if x}}/a/{{end}}{{x}}">x</a>', "href begins with an expression")
	refused('<form action="{{x}}"></form>', "action begins with an expression")
	refused('<a href="/a{{url x}}">x</a>', "{{url}} gives a whole address")
	refused('<p title="{{url x}}">x</p>', "{{url}} gives a whole address")
	refused('<a href="/a/{{1.0 | duration}}">x</a>', "an address accepts no filter")


@test
def blocks_must_be_known_ended_and_nested():
	refused("{{if x}}a", "the last {{template}} has no {{end}}", 4)
	refused("a{{end}}\n{{end}}", "{{end}} outside a {{template}} block", 3)
	refused("{{while x}}a{{end}}", "{{end}} outside a {{template}} block", 3)
	refused("{{else}}", "{{else}} without {{if}}")
	refused("{{template a()}}\n{{template b()}}{{end}}{{end}}", "outside of another template")
	refused("{{}}", "{{}} is empty")
	refused("{{template page(void)}}\n{{x", "{{ without }}")
	refused("{{if x}}" * 33 + "{{end}}" * 33, "blocks are nested too deeply")


@test
def a_block_must_end_where_it_began():
	refused('{{if x}}<p title="{{end}}a">', "a block must end where it began")
	refused("{{if x}}<pre>{{end}}</pre>", "a block must end where it began")
	refused('<p title="{{if x}}a" lang="{{end}}">', "a block must end where it began")
	refused("{{if x}}<b{{else}}<i{{end}}>", "a branch must end where it began")
	refused("<p", "the template ends inside a tag", 3)


@test
def text_and_commands_outside_a_template_are_refused():
	refused("{{template page(void)}}\n{{end}}\nhello", "text outside a {{template}} block", 3)
	refused("{{x}}\n{{template page(void)}}{{end}}", "outside a {{template}} block", 1)


@test
def an_unknown_variable_or_block_is_an_error_of_the_C_compiler_at_the_templates_line():
	for body in (
		"<p>\n{{y}}</p>",
		"<p>\n{{blink}}</p>",
		"<p>\n{{if y}}a{{end}}</p>",
		"<p>\n{{x | no_such_filter}}</p>",
		"<p>\n{{1.5}}</p>",
	):
		compiled = Compiled(body)
		equal(compiled.result.returncode, 0)
		result = compiled.build()
		if result.returncode == 0:
			raise AssertionError(f"{body!r} compiles")
		contains(result.stderr, "page.html:3:")


# ---- accepted ----


@test
def a_value_is_escaped_for_its_place():
	prints("<p>{{x}}</p>", "<p>&lt;script&gt;&amp;&quot;&#39; ?#/%</p>\n")
	prints('<p title="{{x}}">', '<p title="&lt;script&gt;&amp;&quot;&#39; ?#/%">\n')
	prints("<p title='a {{x}}'>", "<p title='a &lt;script&gt;&amp;&quot;&#39; ?#/%'>\n")
	prints(
		'<a href="/a/{{x}}?b={{x}}">',
		'<a href="/a/%3Cscript%3E%26%22%27%20%3F%23/%25?b=%3Cscript%3E%26%22%27%20%3F%23/%25">\n',
	)
	prints(
		"<textarea>{{x}}</textarea>",
		"<textarea>&lt;script&gt;&amp;&quot;&#39; ?#/%</textarea>\n",
		HOSTILE,
	)


@test
def a_whole_address_leads_to_this_site_only():
	for value, address in (
		("/a?b=c&d", "/a?b=c&amp;d"),
		("//evil.example", "/"),
		("https://evil.example", "/"),
		("javascript:alert(1)", "/"),
		("/\\evil.example", "/%5Cevil.example"),
		("", "/"),
		('/a"b', "/a&quot;b"),
	):
		prints('<a href="{{url x}}">', f'<a href="{address}">\n', value)


@test
def raw_text_is_not_escaped_and_comments_disappear():
	prints("<p>{{raw x}}{{# not this }}</p>", f"<p>{HOSTILE}</p>\n")
	compiled = Compiled("a{{# secret }}b")
	lacks(compiled.c.read_text(), "secret")


@test
def blocks_branches_loops_and_other_templates_work():
	prints("{{if *x == 'a'}}A{{elif *x == 'b'}}B{{else}}C{{end}}", "B\n", "b")
	prints(
		"{{for const char *c = x; *c; c++}}{{let int n = *c - 'a'}}[{{n}}]{{end}}", "[0][1]\n", "ab"
	)
	prints("<input{{if *x}} checked{{end}}>", "<input checked>\n", "a")
	prints(
		"{{template bold(const char *x)}}\n<b>{{x}}</b>\n{{end}}\n{{template page(const char "
		"*x)}}\n<p>\n{{call bold(x)}}\n</p>\n{{end}}\n",
		"<p>\n<b>&lt;</b>\n</p>\n",
		"<",
	)


# ---- the style sheet ----


def read(*patterns):
	return "".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)))


@test
def every_class_of_the_style_sheet_is_used_on_a_page():
	selectors = re.sub(
		r"\{[^{}]*\}", "{}", re.sub(r"/\*.*?\*/", "", read("static/style.css"), flags=re.S)
	)
	classes = set(re.findall(r"\.([a-z][\w-]*)", selectors))
	assert len(classes) > 100, classes
	pages = read(
		"templates/*.html",
		"templates/*help*.c",
		"cgi/**/*.c",
		"static/*.js",
		"templates/errors/*.html",
	)
	# Classes that programs print: charts print "line-%d" and "mark-%s", and Markdown tables print
	# the alignment of columns.
	printed = {f"line-{number}" for number in range(1, 11)} | {
		"mark-bound",
		"mark-time",
		"right",
		"center",
	}
	equal(
		[
			name
			for name in sorted(classes - printed)
			if not re.search(rf"(?<![\w-]){name}(?![\w-])", pages)
		],
		[],
	)


@test
def every_class_of_a_page_has_a_rule():
	sheet = re.sub(r"/\*.*?\*/", "", read("static/style.css"), flags=re.S)
	pages = read("templates/*.html", "templates/errors/*.html", "docs/design.md")
	pages = re.sub(r"\{\{.*?\}\}", " ", pages)
	classes = {
		name
		for names in re.findall(r'class="([^"]*)"', pages)
		for name in names.split()
		if not name.endswith("-")
	}
	assert len(classes) > 100, classes
	without = [name for name in sorted(classes) if not re.search(rf"\.{name}(?![\w-])", sheet)]
	# Scripts and tests find these elements by their class.
	equal(without, ["deadline", "plan"])


@test
def no_selector_of_the_style_sheet_occurs_twice():
	sheet = re.sub(r"/\*.*?\*/", "", read("static/style.css"), flags=re.S)
	for _ in range(2):  # drop media queries, which repeat selectors on purpose
		sheet = re.sub(r"@[^{;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
	selectors = [" ".join(selector.split()) for selector in re.findall(r"([^{}]+)\{", sheet)]
	equal([selector for selector in selectors if selectors.count(selector) > 1], [])


sys.exit(run())
