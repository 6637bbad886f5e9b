#!/usr/bin/env python3
"""The schema of the sealed engine's plans: it admits what plan.c reads, and has the same limits."""

import json
import pathlib
import re
import sys

import jsonschema

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tap import equal, run, test  # noqa: E402

SEALED = ROOT / "harness" / "sealed"
SCHEMA = json.loads((SEALED / "plan.schema.json").read_text())
# The fuzzer and the unit test use this plan too.
PLAN = (ROOT / "tests" / "fuzz" / "corpus" / "plan" / "all-kinds").read_text()


# Limits of a whole plan, which a schema cannot express.
OF_ALL = ("plan_most_bytes", "plan_most_lists", "plan_most_blob_bytes")


def faults(plan):
	return [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(plan)]


@test
def the_schema_is_one():
	jsonschema.Draft7Validator.check_schema(SCHEMA)


@test
def the_schema_admits_a_plan_of_all_kinds():
	plan = json.loads(PLAN)
	equal(faults(plan), [])
	equal({node["kind"] for node in plan["nodes"]}, {"kernel", "memset", "copy"})


@test
def the_schema_refuses_other_plans():
	changes = [
		("podium plan 1", "podium plan 2"),
		('"edges":', '"more":1,"edges":'),
		('"bytes":4096', '"bytes":0'),
		('"gain"', '"ga/in"'),
		('"copy"', '"host"'),
		('"trigger"', '"end"'),
		('"carveout":100', '"carveout":101'),
		('"grid":[8,2,1]', '"grid":[8,2]'),
		('[16,"ff"]', '[16,"f"]'),
		('[16,"ff"]', '[-1,"ff"]'),
		('"element_bytes":4', '"element_bytes":3'),
		('"height":3', '"height":0'),
		("[8192,64,4]", "[0,64,4]"),
	]
	admitted = []
	for old, new in changes:
		equal(PLAN.count(old) >= 1, True)
		if not faults(json.loads(PLAN.replace(old, new, 1))):
			admitted.append(new)
	equal(admitted, [])


@test
def schema_and_header_have_the_same_limits():
	text = (SEALED / "plan.h").read_text()
	limits = {}
	for name, value in re.findall(r"^\t(plan_most_\w+) = ([^,]+),", text, re.M):
		limits[name] = eval(value, {"__builtins__": {}}, limits)
	properties, definitions = SCHEMA["properties"], SCHEMA["definitions"]
	bytes_of = {
		key: properties[key]["items"]["properties"]["bytes"]["maximum"]
		for key in ("images", "variables")
	}
	equal(
		{
			"plan_most_nodes": properties["nodes"]["maxItems"],
			"plan_most_edges": properties["edges"]["maxItems"],
			"plan_most_images": properties["images"]["maxItems"],
			"plan_most_image_bytes": bytes_of["images"],
			"plan_most_variables": properties["variables"]["maxItems"],
			"plan_most_variable_bytes": bytes_of["variables"],
			"plan_most_name_bytes": int(
				re.search(r"1,(\d+)\}", definitions["name"]["pattern"]).group(1)
			),
			"plan_most_parameter_bytes": 1
			+ definitions["kernel"]["properties"]["parameters"]["items"]["items"][0]["maximum"],
		},
		{name: value for name, value in limits.items() if name not in OF_ALL},
	)


sys.exit(run())
