"""The route tables of podium-web, read from their sources."""

import pathlib
import re

CGI = pathlib.Path(__file__).resolve().parents[2] / "cgi"
PAGE = re.compile(r'\{ METHOD_(\w+), "([^"]+)", \w+, (\w+), \w+ \}')
CALL = re.compile(
	r'\{ \{ METHOD_(\w+), "([^"]+)", \w+, (\w+), \w+ \}, (\w+), ((?:NULL|"[^"]*"|\s)+) \}'
)


def table(path):
	"""The text of a table on one line, with single spaces between words."""
	return " ".join((CGI / path).read_text().split())


def pages(methods="GET"):
	"""The patterns of all pages with one of the methods ("GET", "POST|PUT")."""
	text = table("router.c").split("ROUTES[] = {")[1].split("};")[0]
	rows = PAGE.findall(text)
	assert len(rows) == text.count("METHOD_")
	found = [pattern for method, pattern, _ in rows if method in methods.split("|")]
	return found


def calls(path="api"):
	"""The rows of the tables below cgi/PATH: (method, pattern, access, scope, names or None). A
	name may end with signs (struct call in cgi/http/route.h)."""
	for file in sorted((CGI / path).glob("*routes.c")):
		text = table(file)
		rows = CALL.findall(text)
		assert len(rows) == text.count("METHOD_"), file
		for method, pattern, access, scope, takes in rows:
			words = None if takes == "NULL" else "".join(re.findall(r'"([^"]*)"', takes)).split()
			yield method.lower(), pattern, access, scope.removeprefix("TOKEN_").lower(), words
