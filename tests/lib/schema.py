"""Checks JSON values against a JSON schema."""

import json
import pathlib

from contract import jsonschema


def fits(value, path):
	"""Returns the value, or raises if it does not match the schema."""
	validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(path).read_text()))
	found = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]
	if found:
		raise AssertionError("; ".join(found[:5]))
	return value
