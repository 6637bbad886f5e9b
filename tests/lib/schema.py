"""Whether a JSON value has the form that a file with a JSON schema states."""
import json
import pathlib

from contract import jsonschema


def fits(value, path):
	"""The value; raises where it does not fit."""
	validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(path).read_text()))
	found = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]
	if found:
		raise AssertionError("; ".join(found[:5]))
	return value
