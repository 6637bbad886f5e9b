#!/usr/bin/env python3
"""Malicious, damaged and unusual zips, each with what Podium must do with it.

	python3 tests/lib/zips.py FOLDER [MOST_BYTES]

writes the zips of at most MOST_BYTES bytes (default: all) as FOLDER/NAME.zip. No zip program writes
most of these zips, so the code builds them byte by byte. Field names and sizes are those of the
specification (APPNOTE 6.3.10), sections 4.3 and 4.5.
"""

import dataclasses
import pathlib
import struct
import sys
import zlib

TASK = b"""lang: py
description: |
  Copy a tensor.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: "@STOCK@"}
  - {name: utils.py, source: "@STOCK@"}
config: {main: eval.py}
tests: [{size: 16, seed: 1}]
benchmarks: [{size: 32, seed: 2}]
"""
REFERENCE = b"def generate_input(size, seed): ...\ndef check_implementation(data, output): ...\n"
SET = b"name: Autumn\nproblems:\n  - {directory: ., name: from-a-zip}\n"

STORED, DEFLATED = 0, 8
FILE, LINK, FOLDER = 0o100644, 0o120777, 0o040755
CHARACTER, BLOCK, PIPE, SOCKET = 0o020666, 0o060660, 0o010644, 0o140777


@dataclasses.dataclass
class Entry:
	"""A file in the zip. `local` and `central` replace fields of the local header and of the entry
	in the central directory with false values."""

	name: bytes
	content: bytes = b"x\n"
	mode: int = FILE
	method: int = STORED
	flags: int = 0
	packed: bytes = None  # default: made from the content
	extra: bytes = b""  # in both headers
	descriptor: bytes = b""  # a data descriptor after the data
	local: dict = dataclasses.field(default_factory=dict)
	central: dict = dataclasses.field(default_factory=dict)


def deflate(content):
	packer = zlib.compressobj(9, zlib.DEFLATED, -15)
	return packer.compress(content) + packer.flush()


def truth(entry):
	packed = entry.packed
	if packed is None:
		packed = deflate(entry.content) if entry.method == DEFLATED else entry.content
	return {
		"name": entry.name,
		"needed": 20,
		"flags": entry.flags,
		"method": entry.method,
		"time": 0,
		"date": 0x5A21,
		"crc": zlib.crc32(entry.content),
		"packed_size": len(packed),
		"size": len(entry.content),
		"extra": entry.extra,
		"bytes": packed,
		"made_by": 3 << 8 | 20,
		"comment": b"",
		"disk": 0,
		"attributes": entry.mode << 16,
	}


def common(header):
	"""The fields that a local header and an entry of the central directory share."""
	return struct.pack(
		"<HHHHHIIIHH",
		header["needed"],
		header["flags"],
		header["method"],
		header["time"],
		header["date"],
		header["crc"] & 0xFFFFFFFF,
		header["packed_size"],
		header["size"],
		header.get("name_length", len(header["name"])),
		header.get("extra_length", len(header["extra"])),
	)


def local_header(entry):
	header = {**truth(entry), **entry.local}
	return (
		b"PK\3\4"
		+ common(header)
		+ header["name"]
		+ header["extra"]
		+ header["bytes"]
		+ entry.descriptor
	)


def central_header(entry, offset):
	header = {"offset": offset, **truth(entry), **entry.central}
	return (
		b"PK\1\2"
		+ struct.pack("<H", header["made_by"])
		+ common(header)
		+ struct.pack(
			"<HHHII",
			len(header["comment"]),
			header["disk"],
			0,
			header["attributes"],
			header["offset"],
		)
		+ header["name"]
		+ header["extra"]
		+ header["comment"]
	)


def end_record(count, size, offset, comment=b"", disk=0, comment_length=None):
	length = len(comment) if comment_length is None else comment_length
	return (
		b"PK\5\6"
		+ struct.pack("<HHHHIIH", disk, disk, count, count, size, offset, length)
		+ comment
	)


def end_record_64(count, size, offset, at):
	return (
		b"PK\6\6"
		+ struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, offset)
		+ b"PK\6\7"
		+ struct.pack("<IQI", 0, at, 1)
	)


def pack(*entries, before=b"", between=b"", shift=0, **end):
	"""Makes the zip. The bytes `before` precede everything, and the bytes `between` precede the end
	record. All offsets in the zip are `shift` too large. `end` replaces fields of the end
	record."""
	body, offsets = before, []
	for entry in entries:
		offsets.append(len(body) + shift)
		body += local_header(entry)
	directory = b"".join(central_header(entry, offset) for entry, offset in zip(entries, offsets))
	start = len(body) + shift
	return (
		body
		+ directory
		+ between
		+ end_record(**{"count": len(entries), "size": len(directory), "offset": start, **end})
	)


def task(*more, **options):
	"""A zip with the files of a task and of a problem set, followed by more entries."""
	return pack(
		Entry(b"task.yml", TASK),
		Entry(b"reference.py", REFERENCE),
		Entry(b"autumn.yaml", SET),
		*more,
		**options,
	)


TASK_FILES = ["autumn.yaml", "reference.py", "task.yml"]
ZEROS = bytes(3 * 1024 * 1024)

# ---- zips that need more than a line ----


def bomb(lie):
	"""3 MiB of zeros packed in 3 KB. With `lie`, the headers claim ten bytes."""
	says = {"size": 10} if lie else {}
	return pack(Entry(b"zeros", ZEROS, method=DEFLATED, local=says, central=says))


def overlapping():
	"""Many names for the same bytes: each entry of the central directory points to the same
	file."""
	kernel = Entry(b"f000", bytes(1024 * 1024), method=DEFLATED)
	body = local_header(kernel)
	directory = b"".join(
		central_header(dataclasses.replace(kernel, name=b"f%03d" % number), 0)
		for number in range(200)
	)
	return body + directory + end_record(200, len(directory), len(body))


def quoting():
	"""The data of the first file contains the local header and the data of the second, so that
	unpacking both files reads these bytes twice."""
	inner = local_header(Entry(b"b.py", b"inner\n"))
	outer = Entry(b"a.py", inner)
	body = local_header(outer)
	directory = central_header(outer, 0) + central_header(
		Entry(b"b.py", b"inner\n"), len(body) - len(inner)
	)
	return body + directory + end_record(2, len(directory), len(body))


def two_directories():
	"""A zip whose comment is a second zip. Programs that read from the front find the first zip.
	Programs that read from the back find the second."""
	first = local_header(Entry(b"shown.py", b"first\n"))
	table = central_header(Entry(b"shown.py", b"first\n"), 0)
	head = first + table
	second_at = len(head) + 22
	hidden = local_header(Entry(b"hidden.py", b"second\n"))
	second_table = central_header(Entry(b"hidden.py", b"second\n"), second_at)
	second = hidden + second_table + end_record(1, len(second_table), second_at + len(hidden))
	return head + end_record(1, len(table), len(first), comment_length=len(second)) + second


def zip64(count=None, marks=True):
	"""A small zip with the ZIP64 end record, which is meant for large zips."""
	entries = [
		Entry(b"task.yml", TASK),
		Entry(b"reference.py", REFERENCE),
		Entry(b"autumn.yaml", SET),
	]
	body, directory = b"", b""
	for entry in entries:
		directory += central_header(entry, len(body))
		body += local_header(entry)
	real = len(entries) if count is None else count
	end = end_record_64(real, len(directory), len(body), len(body) + len(directory))
	classic = (
		(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF) if marks else (len(entries), len(directory), len(body))
	)
	return body + directory + end + end_record(*classic)


def zip64_extra(size, packed_size):
	return struct.pack("<HHQQ", 1, 16, size, packed_size)


def with_descriptor(signature, zip64_sizes=False):
	"""An entry whose sizes follow its data, as written by programs that do not know the sizes at
	first."""
	content = b"streamed\n"
	sizes = struct.pack("<QQ" if zip64_sizes else "<II", len(content), len(content))
	unknown = {"crc": 0, "size": 0, "packed_size": 0}
	if zip64_sizes:
		unknown = {
			"crc": 0,
			"size": 0xFFFFFFFF,
			"packed_size": 0xFFFFFFFF,
			"extra": zip64_extra(0, 0),
		}
	return Entry(
		b"streamed.py",
		content,
		flags=8,
		local=unknown,
		descriptor=(b"PK\7\x08" if signature else b"")
		+ struct.pack("<I", zlib.crc32(content))
		+ sizes,
	)


def crowd(count):
	"""A zip of `count` empty files."""
	return pack(*(Entry(b"f%05d" % number, b"") for number in range(count)))


def heavy():
	"""Five files of 4 MiB that compress about as well as text. Podium would accept each file
	alone."""
	block, word, state = bytearray(4 * 1024 * 1024), 0, 7
	for word in range(0, len(block), 64):
		state = state * 1103515245 + 12345 & 0x7FFFFFFF
		block[word] = state >> 16 & 0xFF
	return pack(*(Entry(b"f%d" % number, bytes(block), method=DEFLATED) for number in range(5)))


def nested():
	"""A bomb inside four nested zips. Podium must keep the inner zip as a file."""
	inner = bomb(lie=False)
	for _ in range(3):
		inner = pack(Entry(b"inner.zip", inner, method=DEFLATED))
	return task(Entry(b"inner.zip", inner))


def cut(bytes_left=None, from_end=None):
	whole = task()
	return whole[:bytes_left] if from_end is None else whole[:-from_end]


def unicode_path(raw, other):
	"""An entry with Info-ZIP's extra field, which gives the file another name."""
	field = struct.pack("<BI", 1, zlib.crc32(raw)) + other
	return Entry(raw, extra=struct.pack("<HH", 0x7075, len(field)) + field)


AES = struct.pack("<HHHHBH", 0x9901, 7, 2, 0x4541, 3, 0)
DAMAGED, CUT_OFF = "table of contents is damaged", "is cut off or damaged"

# ---- refused zips: the name, the bytes, and words of the error ----

REFUSED = {
	"slip": (task(Entry(b"../evil.py")), 'The name of the zip\'s entry "../evil.py" contains ".."'),
	"slip-inside": (task(Entry(b"a/../../evil.py")), '"a/../../evil.py" contains ".."'),
	"slip-at-the-end": (task(Entry(b"a/..")), '"a/.." contains ".."'),
	"slip-folder": (task(Entry(b"../", b"")), '"../" contains ".."'),
	"slip-in-debris": (task(Entry(b"__MACOSX/../../evil.py")), 'contains ".."'),
	"slip-backslash": (task(Entry(b"..\\..\\evil.py")), "contains a backslash"),
	"slip-overlong": (task(Entry(b"\xc0\xae\xc0\xae/evil.py")), "is not UTF-8"),
	"absolute": (task(Entry(b"/etc/cron.d/evil")), '"/etc/cron.d/evil" is absolute'),
	"root": (task(Entry(b"/", b"")), "is absolute"),
	"drive": (task(Entry(b"C:/evil.py")), '"C:/evil.py" begins with a drive letter'),
	"drive-relative": (task(Entry(b"C:evil.py")), "begins with a drive letter"),
	"share": (task(Entry(b"\\\\host\\share\\evil.py")), "contains a backslash"),
	"nul": (task(Entry(b"a.py\0.txt")), '"a.py\\x00.txt" contains a NUL byte'),
	"nul-slip": (task(Entry(b"a\0/../../evil.py")), "contains a NUL byte"),
	"control": (task(Entry(b"a\x1b[2J.py")), '"a\\x1b[2J.py" contains a control character'),
	"line-break": (task(Entry(b"a\nb.py")), "contains a control character"),
	"turned-text": (task(Entry("a\u202eyp.gpj".encode())), "contains a control character"),
	"not-utf8": (task(Entry(b"caf\x82.py")), '"caf\\x82.py" is not UTF-8'),
	"here": (task(Entry(b"./a.py")), 'contains the part "."'),
	"empty-part": (task(Entry(b"a//b.py")), "contains an empty part"),
	"empty-name": (task(Entry(b"")), 'entry "" is empty'),
	"long-name": (task(Entry(b"n" * 201)), "is longer than 200 bytes"),
	"name-of-64-kib": (task(Entry(b"n" * 65535)), "is longer than 200 bytes"),
	"deep": (task(Entry(b"1/2/3/4/5/6/7/8/9.py")), "more than 8 folders deep"),
	"link": (task(Entry(b"link.py", b"/etc/passwd", LINK)), 'entry "link.py" is a link'),
	"link-from-windows": (
		task(Entry(b"link.py", b"/etc/passwd", LINK, central={"made_by": 20})),
		'"link.py" is a link',
	),
	"file-behind-a-link": (
		task(Entry(b"a", b"/tmp", LINK), Entry(b"a/evil.py")),
		'"a" is a file and also a folder',
	),
	"character-device": (
		task(Entry(b"zero", b"", CHARACTER)),
		'"zero" is neither a file nor a folder',
	),
	"block-device": (task(Entry(b"disk", b"", BLOCK)), '"disk" is neither a file nor a folder'),
	"fifo": (task(Entry(b"pipe", b"", PIPE)), '"pipe" is neither a file nor a folder'),
	"socket": (task(Entry(b"socket", b"", SOCKET)), '"socket" is neither a file nor a folder'),
	"bomb": (bomb(lie=False), '"zeros" unpacks to more than 200 times its packed size'),
	"bomb-that-lies": (bomb(lie=True), '"zeros"'),
	"bomb-of-one-file": (
		pack(Entry(b"large", bytes(5 * 1024 * 1024))),
		'"large" unpacks to more than 4 MiB',
	),
	"bomb-of-many": (heavy(), "unpacks to more than 16 MiB (counted up to its entry"),
	"many-files": (crowd(513), "contains 513 files; a task may have at most 512"),
	"many-entries": (crowd(2049), "has 2049 entries"),
	"most-entries": (crowd(65535), "has 65535 entries"),
	"overlapping": (overlapping(), "overlap"),
	"quoting": (quoting(), "overlap"),
	"twice": (task(Entry(b"a.py", b"1"), Entry(b"a.py", b"2")), '"a.py" occurs twice'),
	"twice-by-case": (
		task(Entry(b"Eval.py"), Entry(b"eval.py")),
		"differ only in upper and lower case",
	),
	"definition-twice": (task(Entry(b"task.yml", b"lang: cu\n")), '"task.yml" occurs twice'),
	"file-and-folder": (task(Entry(b"a/b.py"), Entry(b"a")), '"a" is a file and also a folder'),
	"folder-and-file-by-case": (
		task(Entry(b"A/", b""), Entry(b"a")),
		"is a file and also a folder",
	),
	"checksum": (
		task(Entry(b"a.py", central={"crc": 1}, local={"crc": 1})),
		'"a.py" is damaged: its checksum',
	),
	"central-size-large": (
		task(Entry(b"a.py", b"1234", central={"size": 400, "packed_size": 400})),
		'"a.py"',
	),
	"central-size-past-the-end": (
		task(Entry(b"a.py", b"1234", central={"size": 1 << 20, "packed_size": 1 << 20})),
		'"a.py"',
	),
	"local-sizes-differ": (
		task(Entry(b"a.py", local={"size": 9999, "packed_size": 2})),
		'"a.py" has another size in its own header',
	),
	"central-size-small": (
		task(Entry(b"a.py", b"1234", central={"size": 2, "packed_size": 2})),
		'"a.py" has another size in its own header',
	),
	"central-size-of-4-gib": (
		task(Entry(b"a.py", b"1", central={"size": 0xFFFFFFFE, "packed_size": 0xFFFFFFFE})),
		'"a.py"',
	),
	"deflate-size-large": (
		task(
			Entry(
				b"a.py", b"1234" * 99, method=DEFLATED, central={"size": 4000}, local={"size": 4000}
			)
		),
		'"a.py" is damaged',
	),
	"deflate-size-small": (
		task(Entry(b"a.py", b"1234" * 99, method=DEFLATED, central={"size": 4}, local={"size": 4})),
		'"a.py" is damaged',
	),
	"deflate-cut": (
		task(Entry(b"a.py", b"1234" * 99, method=DEFLATED, packed=deflate(b"1234" * 99)[:-4])),
		'"a.py" is damaged',
	),
	"deflate-noise": (
		task(Entry(b"a.py", b"1234", method=DEFLATED, packed=b"\xff" * 40)),
		'"a.py" is damaged and cannot be unpacked',
	),
	"local-name-differs": (
		task(Entry(b"good.py", local={"name": b"../../evil.py"})),
		'"good.py" has another name in its own header',
	),
	"local-name-longer": (task(Entry(b"a.py", local={"name_length": 65535})), '"a.py"'),
	"local-method-differs": (task(Entry(b"a.py", local={"method": DEFLATED})), '"a.py"'),
	"local-flags-differ": (task(Entry(b"a.py", local={"flags": 1})), '"a.py"'),
	"local-header-missing": (task(Entry(b"a.py", central={"offset": 5})), '"a.py"'),
	"local-header-past-the-end": (task(Entry(b"a.py", central={"offset": 0x7FFFFFFF})), '"a.py"'),
	"local-extra-past-the-end": (task(Entry(b"a.py", local={"extra_length": 65535})), '"a.py"'),
	"unicode-path": (
		task(unicode_path(b"good.py", b"../../evil.py")),
		'entry "good.py" has a second name in an extra field',
	),
	"encrypted": (
		task(Entry(b"secret.py", b"x" * 30, flags=1)),
		'"secret.py" is encrypted; pack it without a password',
	),
	"encrypted-strongly": (
		task(Entry(b"secret.py", b"x" * 30, flags=0x41)),
		'"secret.py" is encrypted',
	),
	"encrypted-by-aes": (
		task(Entry(b"secret.py", b"x" * 40, flags=1, method=99, extra=AES)),
		'"secret.py" is encrypted',
	),
	"method-bzip2": (task(Entry(b"a.py", method=12)), "compression method 12"),
	"method-lzma": (task(Entry(b"a.py", method=14)), "compression method 14"),
	"method-zstd": (task(Entry(b"a.py", method=93)), "compression method 93"),
	"method-deflate64": (task(Entry(b"a.py", method=9)), "compression method 9"),
	"method-unknown": (task(Entry(b"a.py", method=77)), "compression method 77"),
	"truncated-in-a-file": (cut(100), CUT_OFF),
	"truncated-in-the-table": (cut(from_end=60), CUT_OFF),
	"truncated-in-the-end": (cut(from_end=1), CUT_OFF),
	"trailing-bytes": (task() + b"more", "extra bytes after its end"),
	"comment-too-long": (task(comment_length=50), CUT_OFF),
	"comment-too-short": (task(comment=b"words", comment_length=2), "extra bytes after its end"),
	"leading-bytes": (b"#!/bin/sh\nexit\n" + task(), "is not a zip"),
	"entries-missing": (task(count=2), DAMAGED),
	"entries-too-many": (task(count=5), DAMAGED),
	"table-elsewhere": (task(offset=3), DAMAGED),
	"table-past-the-end": (task(offset=0x7FFFFFFF), CUT_OFF),
	"table-too-small": (task(size=10), DAMAGED),
	"bytes-behind-the-table": (task(between=b"between"), DAMAGED),
	"two-tables": (two_directories(), "has several tables of contents"),
	"second-disk": (task(disk=1), "is one part of several"),
	"zip64": (zip64(), "is in the Zip64 form"),
	"zip64-count": (zip64(count=1 << 62), "Zip64"),
	"zip64-beside-that-lies": (zip64(count=1, marks=False), DAMAGED),
	"zip64-sizes": (
		task(
			Entry(
				b"a.py",
				b"pass\n",
				central={"size": 0xFFFFFFFF, "packed_size": 0xFFFFFFFF, "extra": zip64_extra(5, 5)},
			)
		),
		"is in the Zip64 form",
	),
	"zip-of-nothing": (end_record(0, 0, 0), "contains no files"),
	"folders-only": (
		pack(Entry(b"a/", b"", FOLDER), Entry(b"a/b/", b"", FOLDER)),
		"contains no files",
	),
	"debris-only": (pack(Entry(b"__MACOSX/x"), Entry(b".DS_Store")), "contains no files"),
	"empty-file": (b"", "The file is empty"),
	"text": (b"lang: py\n", "is not a zip"),
	"gzip": (b"\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", "is a gzip file"),
	"rar": (b"Rar!\x1a\x07\x01\0", "is a RAR archive"),
	"seven-zip": (b"7z\xbc\xaf\x27\x1c\0\4", "is a 7-Zip archive"),
	"zip-of-9-mb": (
		pack(Entry(b"a", b"")) + bytes(8 * 1024 * 1024),
		"The zip is larger than 8 MiB",
	),
}

# ---- accepted zips: the name, the bytes, and the files besides the task's own ----

READ = {
	"plain": (task(), []),
	"in-a-folder": (
		pack(
			Entry(b"top/", b"", FOLDER),
			*(
				Entry(b"top/" + name, content)
				for name, content in (
					(b"task.yml", TASK),
					(b"reference.py", REFERENCE),
					(b"autumn.yaml", SET),
				)
			),
		),
		[],
	),
	"deflated": (task(Entry(b"a.py", b"pass\n" * 500, method=DEFLATED)), ["a.py"]),
	"nested": (nested(), ["inner.zip"]),
	"descriptor": (task(with_descriptor(signature=True)), ["streamed.py"]),
	"descriptor-without-signature": (task(with_descriptor(signature=False)), ["streamed.py"]),
	"descriptor-of-zip64": (
		task(with_descriptor(signature=True, zip64_sizes=True)),
		["streamed.py"],
	),
	"unicode-path-that-agrees": (
		task(unicode_path("caf\u00e9.py".encode(), "caf\u00e9.py".encode())),
		["caf\u00e9.py"],
	),
	"zip64-beside": (zip64(marks=False), []),
	"comment": (task(comment=b"made by hand"), []),
	"comment-of-64-kib": (task(comment=b"c" * 65535), []),
	"comment-like-an-end": (task(comment=b"PK\5\6" + bytes(14) + b"!!!!" + b"words"), []),
	"entry-comment": (task(Entry(b"a.py", central={"comment": b"PK\1\2" * 9})), ["a.py"]),
	"unknown-extra": (
		task(Entry(b"a.py", extra=struct.pack("<HH", 0xCAFE, 4) + b"abcd")),
		["a.py"],
	),
	"normalised-twice": (
		task(Entry("caf\u00e9.py".encode(), b"1"), Entry("cafe\u0301.py".encode(), b"2")),
		["cafe\u0301.py", "caf\u00e9.py"],
	),
	"odd-names": (
		task(
			*(
				Entry(name)
				for name in (
					b"-rf",
					b"~",
					b"$(id)",
					b"ab:c",
					b"%2e%2e%2fx",
					b"...",
					b"CON",
					b"a b ",
				)
			)
		),
		["-rf", "~", "$(id)", "ab:c", "%2e%2e%2fx", "...", "CON", "a b "],
	),
	"no-mode": (task(Entry(b"a.py", mode=0)), ["a.py"]),
	"setuid": (task(Entry(b"a.py", mode=0o106755)), ["a.py"]),
	"folder-by-mode": (task(Entry(b"a.py", mode=FOLDER)), ["a.py"]),
	"folder-with-content": (task(Entry(b"a/", b"hidden\n", FOLDER)), []),
	"debris": (
		task(
			Entry(b"__MACOSX/._task.yml"),
			Entry(b".git/config"),
			Entry(b"a/__pycache__/x.pyc"),
			Entry(b".DS_Store"),
		),
		[],
	),
	"empty-files": (
		task(Entry(b"a.py", b""), Entry(b"b.py", b"", method=DEFLATED)),
		["a.py", "b.py"],
	),
	"self-extracting": (task(before=b"#!/bin/sh\nexit 0\n"), []),
	"behind-another-zip": (task(before=pack(Entry(b"hidden.py"))), []),
	"gap": (task(Entry(b"a.py", descriptor=b"nobody reads this")), ["a.py"]),
	"most-files": (
		task(*(Entry(b"f%03d" % number, b"") for number in range(509))),
		["f%03d" % number for number in range(509)],
	),
}


def main(folder, most_bytes=None):
	folder = pathlib.Path(folder)
	folder.mkdir(parents=True, exist_ok=True)
	for name, (content, _) in {**REFUSED, **READ}.items():
		if most_bytes is None or len(content) <= int(most_bytes):
			(folder / f"{name}.zip").write_bytes(content)


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (2, 3) else __doc__)
