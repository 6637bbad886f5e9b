"""A strict reader of Prometheus' text format, version 0.0.4."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(
	rf'({NAME})(?:\{{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\}})? (-?[0-9.e+-]+|[+-]Inf|NaN)'
)
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"')
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}


class Exposition:
	"""`types`: family -> type; `samples`: {(name, ((label, value), ...)): number}."""

	def __init__(self, text):
		assert text.endswith("\n") and "\r" not in text
		self.types, self.samples, family = {}, {}, None
		for line in text[:-1].split("\n"):
			words = line.split(" ", 3)
			if words[:2] == ["#", "HELP"]:
				family = words[2]
				assert family not in self.types and len(words) == 4, line
				self.types[family] = None
			elif words[:2] == ["#", "TYPE"]:
				assert (
					words[2] == family
					and self.types[family] is None
					and words[3] in ("counter", "gauge", "histogram", "summary")
				), line
				self.types[family] = words[3]
			else:
				self.take(line, family)
		for family, kind in self.types.items():
			assert kind != "counter" or family.endswith("_total"), family
			assert kind == "counter" or not family.endswith("_total"), family
			if kind == "histogram":
				self.check_histogram(family)

	def take(self, line, family):
		match = SAMPLE.fullmatch(line)
		assert match, line
		name, kind = match[1], self.types[family]
		assert name in [family + suffix for suffix in SUFFIXES.get(kind, ("",))], line
		labels = tuple(sorted(LABEL.findall(match[2] or "")))
		assert (
			len({label for label, _ in labels}) == len(labels)
			and (name, labels) not in self.samples
		), line
		self.samples[name, labels] = float(match[3])

	def check_histogram(self, family):
		rows = {}
		for (name, labels), value in self.samples.items():
			if name == family + "_bucket":
				le = dict(labels)["le"]
				rows.setdefault(tuple(pair for pair in labels if pair[0] != "le"), []).append(
					(float(le.replace("+Inf", "inf")), value)
				)
		for labels, buckets in rows.items():
			assert [le for le, _ in buckets] == sorted(le for le, _ in buckets) and buckets[-1][
				0
			] == float("inf"), labels
			assert [count for _, count in buckets] == sorted(count for _, count in buckets), labels
			assert (
				self.samples[family + "_count", labels] == buckets[-1][1]
				and (family + "_sum", labels) in self.samples
			), labels

	def names(self):
		return {name for name, _ in self.samples} | set(self.types)

	def all_of(self, name, **wanted):
		return {
			labels: value
			for (found, labels), value in self.samples.items()
			if found == name and set(wanted.items()) <= set(labels)
		}

	def value(self, name, **wanted):
		found = self.all_of(name, **wanted)
		assert len(found) == 1, (name, wanted, found)
		return next(iter(found.values()))
