"""Plans of the sealed engine, as podium-run sends them and as the worker stores them."""

import base64
import gzip
import hashlib
import json
import struct
import tempfile
import zlib

UNKNOWN_NS = 2**64 - 1  # SEALED_UNKNOWN_NS in trace.h


def kernel(name, grid=(8, 1, 1), block=(256, 1, 1), shared=0, image=0, **more):
	return {
		"kind": "kernel",
		"name": name,
		"grid": list(grid),
		"block": list(block),
		"image": image,
		"parameters": [],
		"shared_bytes": shared,
		**more,
	}


MEMSET = {
	"kind": "memset",
	"address": 8192,
	"element_bytes": 4,
	"height": 1,
	"pitch": 0,
	"value": 0,
	"width": 1024,
}
COPY = {
	"kind": "copy",
	"depth": 1,
	"height": 1,
	"width": 4096,
	"from": [8192, 0, 0],
	"to": [16384, 0, 0],
}


def blob_entry(content, **more):
	return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), **more}


def plan_text(nodes, images=(b"an image",), variables=()):
	"""A plan in canonical form, whose nodes run one after the other. `variables`: contents of
	variables of the first image."""
	return json.dumps(
		{
			"edges": [[i, i + 1] for i in range(len(nodes) - 1)],
			"format": "podium plan 1",
			"images": [blob_entry(image) for image in images],
			"nodes": nodes,
			"variables": [
				blob_entry(content, image=0, name=f"v{i}") for i, content in enumerate(variables)
			],
		},
		sort_keys=True,
		separators=(",", ":"),
	)


def figure(node, begin_ns=0.0, end_ns=1000.0, **more):
	return {
		"node": node,
		"registers": 32,
		"local_bytes": 0,
		"static_shared_bytes": 1024,
		"blocks_per_sm": 4,
		"warps_per_sm_most": 64,
		"begin_ns": begin_ns,
		"end_ns": end_ns,
		**more,
	}


def pack(content):
	"""Compresses as gzip_pack() does: the header has no time and no other optional field."""
	return gzip.compress(content, 6, mtime=0)


def in_parts(event, content, part_bytes):
	packed = pack(content)
	count = -(-len(packed) // part_bytes)
	return [
		{
			**event,
			"size": len(content),
			"parts": count,
			"part": i,
			"base64": base64.b64encode(packed[i * part_bytes : (i + 1) * part_bytes]).decode(),
		}
		for i in range(count)
	]


def plan_events(text, figures=(), index=0, part_bytes=512 * 1024):
	after = json.dumps(list(figures), separators=(",", ":"))
	return in_parts(
		{"event": "plan", "index": index, "text_bytes": len(text)},
		(text + after).encode(),
		part_bytes,
	)


def blob_events(content, part_bytes=512 * 1024):
	return in_parts(
		{"event": "blob", "sha256": hashlib.sha256(content).hexdigest()}, content, part_bytes
	)


def artifact_event(name, content):
	"""A list with the event of a file in one part."""
	return in_parts({"event": "artifact", "name": name}, content, 512 * 1024)


def event_file(folder, *events):
	"""A file of events for a pretended podium-run (RUNNER in pretend.py)."""
	descriptor, path = tempfile.mkstemp(".json", dir=folder)
	with open(descriptor, "w") as file:
		json.dump(events, file)
	return path


# ---- in the database ----


def blob_sql(content, part_bytes=512 * 1024):
	packed, sha256 = pack(content), hashlib.sha256(content).hexdigest()
	parts = ", ".join(
		f"(X'{sha256}', {i}, X'{packed[i * part_bytes : (i + 1) * part_bytes].hex()}')"
		for i in range(-(-len(packed) // part_bytes))
	)
	return (
		f"INSERT IGNORE INTO plan_blobs VALUES (X'{sha256}', {len(content)}, {len(packed)}, "
		f"{zlib.crc32(content)}, UTC_TIMESTAMP(3)); "
		f"INSERT IGNORE INTO plan_blob_parts VALUES {parts};\n"
	)


def stored_nodes(nodes, figures=()):
	"""What the worker makes of a plan for pages (worker/plan_store.h)."""
	shown = []
	for node in nodes:
		if node["kind"] == "kernel":
			keys = ("kind", "name", "grid", "block", "cluster")
			one = {key: node[key] for key in keys if key in node}
			one["shared"] = node["shared_bytes"]
		elif node["kind"] == "memset":
			size = float(node["width"] * node["height"] * node["element_bytes"])
			one = {"kind": "memset", "bytes": size}
		elif node["kind"] == "copy":
			size = float(node["width"] * node["height"] * node["depth"])
			one = {"kind": "copy", "bytes": size}
		else:
			one = {"kind": "empty"}
		shown.append(one)
	for one in figures:
		shown[one["node"]] |= {key: one[key] for key in one if key != "node"}
	return shown


def quoted(text):
	return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def plan_sql(stage, nodes, figures=(), index=0, images=(b"an image",), variables=(), without=()):
	"""Statements that store a plan for a case of a stage, as the worker does. The blobs in
	`without` are not stored."""
	text = plan_text(nodes, images, variables).encode()
	sha256 = hashlib.sha256(text).hexdigest()
	contents = {text, *images, *variables}
	uses = ", ".join(f"(@plan, X'{hashlib.sha256(one).hexdigest()}')" for one in sorted(contents))
	shown = json.dumps(stored_nodes(nodes, figures), separators=(",", ":"))
	return (
		"".join(blob_sql(one) for one in sorted(contents - set(without)))
		+ "INSERT INTO plans (stage_id, case_index, sha256, size, nodes) VALUES "
		+ f"({stage}, {index}, X'{sha256}', {len(text)}, {quoted(shown)}); "
		+ "SET @plan = LAST_INSERT_ID(); "
		+ f"INSERT INTO plan_uses VALUES {uses};\n"
	)


def saved_plan(folder, index):
	"""The plan of a case that a judge saved for podium-run: (its nodes, {node: (begin_ns,
	end_ns)}). None: there is no such plan. The judge of a Python task saves JSON. That of a CUDA
	C++ task saves the plan's file and the launcher's answers (harness/sealed/sealed_side.h)."""
	path = folder / str(index)
	if path.exists():
		saved = json.loads(path.read_text())
		figures = [figure for figure in saved["figures"] if "end_ns" in figure]
		times = {one["node"]: (one["begin_ns"], one["end_ns"]) for one in figures}
		return json.loads(saved["text"])["nodes"], times
	parts = [folder / f"{index}.{part}" for part in ("plan", "figures", "times")]
	if not parts[0].exists():
		return None
	(text_bytes,) = struct.unpack_from("<I", parts[1].read_bytes())
	nodes = json.loads(parts[0].read_bytes()[:text_bytes])["nodes"]
	times = struct.iter_unpack("<QQ", parts[2].read_bytes() if parts[2].exists() else b"")
	return nodes, {i: one for i, one in enumerate(times) if one[0] != UNKNOWN_NS}
