"""Assembles the description of /api/v1 from the files of docs/openapi, as cgi/api/openapi.c
does."""

import functools
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def merge(whole, part):
	for key, value in part.items():
		if isinstance(value, dict) and isinstance(whole.get(key), dict):
			merge(whole[key], value)
		else:
			assert key not in whole, f"{key} is described twice"
			whole[key] = value
	return whole


@functools.cache
def document():
	"""The whole description as one document."""
	whole = json.loads((ROOT / "docs" / "openapi" / "base.json").read_text())
	for part in sorted((ROOT / "docs" / "openapi").glob("*.json")):
		if part.name != "base.json":
			merge(whole, json.loads(part.read_text()))
	return whole


def resolved(node):
	"""Returns the node, or what it refers to if it is a reference."""
	while "$ref" in node:
		found = document()
		for name in node["$ref"].removeprefix("#/").split("/"):
			found = found[name]
		node = found
	return node
