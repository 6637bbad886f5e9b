"""Checks answers of /api/v1 against docs/openapi. The description of the call must list the
answer's status, and the headers and the body must match it."""

import functools
import json
import re
import sys
import urllib.parse

try:
	import jsonschema
except ModuleNotFoundError:  # a Python without jsonschema comes first on the PATH
	sys.path.append("/usr/lib/python3/dist-packages")
	import jsonschema
from openapi import document, resolved  # noqa: E402


@functools.cache
def validator(text):
	schema = {**json.loads(text), "components": document()["components"]}
	jsonschema.Draft202012Validator.check_schema(schema)
	return jsonschema.Draft202012Validator(schema)


def check(schema, value, what):
	errors = [
		f"{error.json_path}: {error.message[:300]}"
		for error in validator(json.dumps(schema)).iter_errors(value)
	]
	if errors:
		raise AssertionError(f"{what}: " + "; ".join(errors[:5]))


def pattern_of(path):
	"""Turns an address of the description into the router's pattern. A star replaces a parameter,
	and two stars replace one that may contain slashes."""
	return re.sub(r"\{(\w+)\}", lambda part: "**" if part[1] == "path" else "*", path)


@functools.cache
def matcher(path):
	return re.compile(
		"^"
		+ re.sub(
			r"\\\{(\w+)\\\}", lambda part: ".+" if part[1] == "path" else "[^/]+", re.escape(path)
		)
		+ "$"
	)


def operation(method, path):
	"""Returns (address as docs/openapi writes it, description) of the call, or None if docs/openapi
	does not describe the call."""
	bare = urllib.parse.urlsplit(path).path
	named = [one for one in document()["paths"] if matcher(one).match(bare)]
	for one in sorted(named, key=lambda one: one.count("{")):
		found = document()["paths"][one].get("get" if method == "HEAD" else method.lower())
		if found:
			return one, found
	return None


used = set()  # (method, address, status) of the checked answers


def check_answer(method, path, answer):
	found = operation(method, path)
	if not found:
		if answer.status not in (401, 404, 405, 413, 429):
			raise AssertionError(f"{method} {path} is not described, but answers {answer.status}")
		return
	address, call = found
	what = f"{method} {address} {answer.status}"
	if str(answer.status) not in call["responses"]:
		raise AssertionError(f"{what} is not described: {answer.text[:300]}")
	used.add((method, address, answer.status))
	response = resolved(call["responses"][str(answer.status)])
	if method == "HEAD" or "content" not in response:
		return
	((content_type, content),) = response["content"].items()
	if answer.headers["Content-Type"].split(";")[0] != content_type:
		raise AssertionError(f"{what} is {answer.headers['Content-Type']}")
	if content_type not in ("application/octet-stream", "application/zip"):
		check(
			content["schema"], answer.json if content_type.endswith("json") else answer.text, what
		)
	if answer.status < 300 and "ETag" in response["headers"] and not answer.headers["ETag"]:
		raise AssertionError(f"{what} has no ETag")
