"""Whether a JSON value has the form that a JSON schema states. Of the language as much as the files beside the tests use; a word that
is not known here is an error, so that none is passed over."""
import json
import pathlib
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "title", "description", "type", "properties", "required", "items", "enum", "pattern", "minItems", "minimum"}


def is_of(value, kind):
	if kind == "integer":
		return isinstance(value, int) and not isinstance(value, bool)
	if kind == "number":
		return isinstance(value, (int, float)) and not isinstance(value, bool)
	return isinstance(value, TYPES[kind])


def faults(value, schema, at="$"):
	"""Sentences; none where the value is as it should be."""
	if set(schema) - KNOWN:
		raise ValueError(f"{at}: the schema says {sorted(set(schema) - KNOWN)}, which is not understood here")
	kinds = schema.get("type", [])
	kinds = [kinds] if isinstance(kinds, str) else kinds
	if kinds and not any(is_of(value, kind) for kind in kinds):
		yield f"{at} is {value!r}, no {' or '.join(kinds)}"
		return
	if "enum" in schema and value not in schema["enum"]:
		yield f"{at} is {value!r}, none of {schema['enum']}"
	if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
		yield f"{at} is {value!r}, which is not like {schema['pattern']}"
	if "minimum" in schema and is_of(value, "number") and value < schema["minimum"]:
		yield f"{at} is {value!r}, less than {schema['minimum']}"
	if isinstance(value, list):
		if len(value) < schema.get("minItems", 0):
			yield f"{at} has {len(value)} items"
		for index, item in enumerate(value):
			yield from faults(item, schema.get("items", {}), f"{at}[{index}]")
	if isinstance(value, dict):
		for name in schema.get("required", []):
			if name not in value:
				yield f"{at} has no {name}"
		for name, part in schema.get("properties", {}).items():
			if name in value:
				yield from faults(value[name], part, f"{at}.{name}")


def fits(value, path):
	"""Raises where it does not fit the schema of that file; returns the value."""
	found = list(faults(value, json.loads(pathlib.Path(path).read_text())))
	if found:
		raise AssertionError("; ".join(found[:5]))
	return value
