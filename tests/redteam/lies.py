"""Plans that no recorder makes, for the attack 138 and for tests/harness/sealed_judge.test.py. A
copy of this file is next to each submission. The head of the attack says how each plan must end.

A lie changes a right plan, as a dict, and its blobs: those of the images, then those of the
variables. It may return the text in place of the plan. The plan has a kernel and a variable."""

import hashlib
import json
import struct

INPUT = 0x650000000000
LIES = {}


def lie(function):
	LIES[function.__name__.replace("_", "-")] = function
	return function


def tell(name, plan, blobs):
	"""Returns (the text of the changed plan, its blobs)."""
	text = LIES[name](plan, blobs)
	if text is None:
		text = json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()
	return text, blobs


def install(name):
	"""Makes the builder of this process tell a lie."""
	import podium_sealed as sealed

	plan_of, blobs_of, told = sealed.Record.plan, sealed.Record.blobs, []

	def plan(self, graph):
		right = json.loads(plan_of(self, graph))
		text, told[:] = tell(name, right, [bytes(blob) for blob in blobs_of(self)])
		return text

	sealed.Record.plan, sealed.Record.blobs = plan, lambda self: iter(told)


def kernel_of(plan):
	return next(node for node in plan["nodes"] if node["kind"] == "kernel")


def sha256(content):
	return hashlib.sha256(content).hexdigest()


def memset(address, count=4):
	return {
		"address": address,
		"element_bytes": 1,
		"height": 1,
		"kind": "memset",
		"pitch": 0,
		"value": 0,
		"width": count,
	}


def replace_image(plan, blobs, content):
	blobs[0] = content
	plan["images"][0] = {"bytes": len(content), "sha256": sha256(content)}


# ---- nothing is wrong ----


@lie
def honest(plan, blobs):
	pass


@lie
def many_nodes(plan, blobs):
	"""As many nodes as a plan may have."""
	plan["nodes"] += [{"kind": "empty"}] * (4096 - len(plan["nodes"]))


# ---- blobs ----


@lie
def hash(plan, blobs):
	plan["images"][0]["sha256"] = sha256(b"other")


@lie
def hash_of_a_variable(plan, blobs):
	plan["variables"][0]["sha256"] = sha256(b"other")


@lie
def short_file(plan, blobs):
	blobs[-1] = blobs[-1][:-1]


@lie
def long_file(plan, blobs):
	blobs.append(b"more")


@lie
def size(plan, blobs):
	plan["images"][0]["bytes"] = 1 << 40


@lie
def negative_size(plan, blobs):
	plan["images"][0]["bytes"] = -1


@lie
def no_image(plan, blobs):
	replace_image(plan, blobs, bytes(512))


@lie
def cut_image(plan, blobs):
	replace_image(plan, blobs, blobs[0][: len(blobs[0]) // 2])


@lie
def section_outside(plan, blobs):
	"""The first section, which has the sections' names, begins behind the image."""
	content = bytearray(blobs[0])
	table = struct.unpack_from("<Q", content, 40)[0]
	struct.pack_into("<Q", content, table + 64 + 24, (1 << 64) - 1)  # behind an empty section
	replace_image(plan, blobs, bytes(content))


# ---- text ----


@lie
def no_json(plan, blobs):
	return b"{"


@lie
def deep(plan, blobs):
	return b"[" * 100000


@lie
def many_lists(plan, blobs):
	return b"[" * ((1 << 20) + 1)


@lie
def huge_number(plan, blobs):
	plan["images"][0]["bytes"] = float("inf")


@lie
def spaces(plan, blobs):
	return json.dumps(plan, sort_keys=True).encode()


@lie
def format(plan, blobs):
	plan["format"] = "podium plan 2"


@lie
def unknown_key(plan, blobs):
	kernel_of(plan)["host"] = 1


@lie
def unknown_kind(plan, blobs):
	plan["nodes"].append({"kind": "host"})


# ---- nodes and edges ----


@lie
def no_nodes(plan, blobs):
	plan["nodes"], plan["edges"] = [], []


@lie
def too_many_nodes(plan, blobs):
	plan["nodes"] += [{"kind": "empty"}] * (4097 - len(plan["nodes"]))


@lie
def cycle(plan, blobs):
	plan["nodes"] += [{"kind": "empty"}] * 2
	last = len(plan["nodes"]) - 1
	plan["edges"] = [[last - 1, last], [last, last - 1]]


@lie
def edge_to_nowhere(plan, blobs):
	plan["edges"] = [[0, 4096]]


@lie
def trigger_of_a_memset(plan, blobs):
	plan["nodes"] += [memset(INPUT), {"kind": "empty"}]
	plan["edges"] = [[len(plan["nodes"]) - 2, len(plan["nodes"]) - 1, "trigger"]]


# ---- memory ----


@lie
def memset_outside(plan, blobs):
	plan["nodes"].append(memset(0x7F0000000000))


@lie
def memset_across_the_end(plan, blobs):
	plan["nodes"].append(memset(INPUT + (2 << 20) - 4, 8))


@lie
def memset_between_places(plan, blobs):
	plan["nodes"].append(memset(INPUT + (32 << 30)))


@lie
def copy_around_the_end(plan, blobs):
	"""Its size does not fit into 64 bits."""
	most = (1 << 31) - 1
	side = [INPUT, most, most]
	plan["nodes"].append(
		{"depth": most, "from": side, "height": most, "kind": "copy", "to": side, "width": 1}
	)


@lie
def pointer_outside(plan, blobs):
	kernel_of(plan)["parameters"][0][1] = "0000000000700000"


# ---- kernels ----


@lie
def foreign_name(plan, blobs):
	kernel_of(plan)["name"] = "wait_for_gate"


@lie
def wild_name(plan, blobs):
	kernel_of(plan)["name"] = "fill; rm"


@lie
def image_that_is_not_there(plan, blobs):
	kernel_of(plan)["image"] = 1


@lie
def grid(plan, blobs):
	kernel_of(plan)["grid"] = [1, 65536, 1]


@lie
def endless_grid(plan, blobs):
	kernel_of(plan)["grid"] = [(1 << 31) - 1, 65535, 65535]


@lie
def block(plan, blobs):
	kernel_of(plan)["block"] = [1024, 2, 1]


@lie
def cluster(plan, blobs):
	kernel_of(plan)["cluster"] = [16, 16, 16]


@lie
def shared_memory(plan, blobs):
	kernel_of(plan)["shared_bytes"] = 1 << 20


@lie
def carveout(plan, blobs):
	kernel_of(plan)["carveout"] = 101


@lie
def fewer_parameters(plan, blobs):
	kernel_of(plan)["parameters"].pop()


@lie
def more_parameters(plan, blobs):
	kernel_of(plan)["parameters"].append([4096, "00"])


@lie
def longer_parameter(plan, blobs):
	kernel_of(plan)["parameters"][-1][1] += "00"


@lie
def overlapping_parameters(plan, blobs):
	kernel_of(plan)["parameters"][1][0] = 4


# ---- variables ----


@lie
def hidden_variable(plan, blobs):
	plan["variables"].pop()
	blobs.pop()


@lie
def nameless_variable(plan, blobs):
	"""The image's variables belong to no section, as if their symbols were stripped."""
	content = bytearray(blobs[0])
	table, count = (
		struct.unpack_from("<Q", content, 40)[0],
		struct.unpack_from("<H", content, 60)[0],
	)
	for number in range(count):
		kind, offset, size = struct.unpack_from("<4xI16xQQ", content, table + 64 * number)
		for at in range(offset, offset + size, 24) if kind == 2 else ():
			if content[at + 4] & 15 == 1:
				struct.pack_into("<H", content, at + 6, 0)
	plan["variables"], blobs[1:] = [], []
	replace_image(plan, blobs, bytes(content))


@lie
def variable_of_another_size(plan, blobs):
	plan["variables"][0].update(bytes=8, sha256=sha256(bytes(8)))
	blobs[-1] = bytes(8)


@lie
def variable_that_is_not_there(plan, blobs):
	plan["variables"].append({"bytes": 4, "image": 0, "name": "zzz", "sha256": sha256(bytes(4))})
	blobs.append(bytes(4))
