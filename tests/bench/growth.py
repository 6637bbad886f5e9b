#!/usr/bin/env python3
"""`make bench-growth`: how pages and claims slow down as the data grow. Prints a table for
docs/scale.md and draws docs/growth.svg. Needs wrk.

	tests/bench/growth.py [SIZE...]     default: 1000 10000 100000 1000000 submissions
	TURNS (3), SECONDS_PER_PAGE (2), CLAIMS (200), BENCH_FOLDER (build/growth)

Each size has a separate Podium in BENCH_FOLDER/SIZE, which stays for the next run. One visitor
requests a page repeatedly, without nginx's cache. One device claims jobs, with a fifth as many
queued jobs as submissions. The sizes take turns, so that a slow moment of the machine
affects all of them. The table shows medians.
"""

import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "bench")]
import data  # noqa: E402
import scale  # noqa: E402
from wrk import need_wrk, wrk  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
PICTURE = ROOT / "docs" / "growth.svg"
SIZES = (1000, 10000, 100000, 1000000)
TURNS, CLAIMS = (
	int(os.environ.get(name, usual)) for name, usual in (("TURNS", 3), ("CLAIMS", 200))
)
SECONDS = float(os.environ.get("SECONDS_PER_PAGE", 2))
FOLDER = pathlib.Path(os.environ.get("BENCH_FOLDER") or ROOT / "build" / "growth")
# (name, visitor, address)
PAGES = (
	("a leaderboard", "user7", "/leaderboard/bench?gpu=H200"),
	("each of its shapes by itself", "user7", "/leaderboard/bench?view=shapes&gpu=H200"),
	("the queue", "user7", "/queue"),
	("my submissions", "user1", "/mine"),
	("a submission", "user1", "/submission/{own}"),
	("its state, which is asked each second", "user1", "/submission/{waiting}/status"),
	("a participant", "user7", "/user/user1"),
	("all submissions, for admins", "admin", "/admin/submissions"),
)
CLAIM = "a claim"

# ---- measuring ----


def claim(site, crowd):
	one = scale.Scale(site, crowd)
	try:
		one.make_board()
		one.queue(max(CLAIMS + 100, data.SIZE // 5), "MANY")
		one.sql("ANALYZE TABLE jobs")
		_, times = one.claimers("MANY", 1, CLAIMS)
		return statistics.median(times), times[int(len(times) * 0.99)]
	finally:
		one.end()


def settle(site):
	"""Waits until MariaDB has purged deleted rows, because queries for the newest rows read past
	them."""
	while (
		int(
			site.sql(
				"SELECT count FROM information_schema.innodb_metrics WHERE name = "
				"'trx_rseg_history_len'"
			)[0][0]
		)
		> 1000
	):
		time.sleep(1)


def on_site(size, measure):
	"""The result of measure(site, crowd) on a site with this number of submissions."""
	data.SIZE = scale.SIZE = size
	data.FOLDER = scale.FOLDER = FOLDER / str(size)
	site, crowd = data.open_site(BUILD)
	try:
		settle(site)
		return measure(site, crowd)
	finally:
		site.stop()


def pages(site, crowd):
	"""{page: (median, 99th percentile)} in ms."""
	found = {}
	for what, who, address in PAGES:
		answers = wrk(site.url + crowd.filled(address), 1, SECONDS, crowd.cookie(who))
		found[what] = answers.p50_ms, answers.p99_ms
		print(
			f"{data.SIZE:>8} {what:40} {found[what][0]:8.2f} {found[what][1]:8.2f} ms", flush=True
		)
	return found


def middle(turns):
	return {
		what: tuple(map(statistics.median, zip(*(turn[what] for turn in turns))))
		for what in turns[0]
	}


# ---- the table and the picture ----


def table(found):
	sizes = list(found)
	print(
		"\n| ms, half of the answers (99 %) | "
		+ " | ".join(f"{size:,}" for size in sizes)
		+ " |\n|---|"
		+ "---|" * len(sizes)
	)
	for what in found[sizes[0]]:
		print(
			f"| {what} | "
			+ " | ".join("{:.2f} ({:.2f})".format(*found[size][what]) for size in sizes)
			+ " |"
		)


COLOURS = (
	"#0b6bcb",
	"#c2410c",
	"#15803d",
	"#7e22ce",
	"#b91c1c",
	"#0e7490",
	"#a16207",
	"#be185d",
	"#334155",
)
STEPS_MS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 440, 60, 330, 20, 50


def apart(places, least):
	"""Moves labels as little as possible so that they are at least this far apart."""
	order = sorted(range(len(places)), key=lambda i: places[i])
	stands = dict.fromkeys(order, 0.0)
	below = float("-inf")
	for i in order:
		below = stands[i] = max(places[i], below + least)
	shift = max(0, below - (HEIGHT - BOTTOM))
	return {i: at - shift for i, at in stands.items()}


def picture(found):
	sizes = list(found)
	values = [half for row in found.values() for half, _ in row.values()]
	step = next(one for one in STEPS_MS if max(values) / one <= 8)
	high = math.ceil(max(values) / step)
	x = lambda size: LEFT + (math.log10(size) - math.log10(sizes[0])) / max(
		1e-9, math.log10(sizes[-1]) - math.log10(sizes[0])
	) * (WIDTH - LEFT - RIGHT)
	y = lambda ms: HEIGHT - BOTTOM - ms / (high * step) * (HEIGHT - TOP - BOTTOM)
	parts = [
		f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
		'font-family="sans-serif" font-size="13" role="img">',
		"<title>Milliseconds of a page and of a claim, by the number of submissions</title>",
		f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
	]
	for ms in (number * step for number in range(high + 1)):
		parts.append(
			f'<path d="M{LEFT} {y(ms):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/><text x="{LEFT - 8}" '
			f'y="{y(ms) + 4:.1f}" text-anchor="end">{ms:g} ms</text>'
		)
	for size in sizes:
		parts.append(
			f'<path d="M{x(size):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/><text '
			f'x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>'
		)
	parts.append(
		f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" '
		'text-anchor="middle">submissions</text>'
	)
	names = list(found[sizes[0]])
	stands = apart([y(found[sizes[-1]][what][0]) for what in names], 16)
	for number, what in enumerate(names):
		points = [(x(size), y(found[size][what][0])) for size in sizes]
		colour = COLOURS[number % len(COLOURS)]
		parts.append(
			f'<path d="M{" L".join(f"{a:.1f} {b:.1f}" for a, b in points)}" fill="none" '
			f'stroke="{colour}" stroke-width="2"/>'
		)
		parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
		parts.append(
			f'<text x="{WIDTH - RIGHT + 14}" y="{stands[number] + 4:.1f}" fill="{colour}">{what}: '
			f"{found[sizes[-1]][what][0]:.1f} ms</text>"
		)
	PICTURE.write_text("\n".join(parts) + "\n</svg>\n")
	print(f"\n{PICTURE.relative_to(ROOT)} is drawn.")


def main(words):
	need_wrk()
	print(
		f"load of the machine when it began: {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors"
	)
	sizes = list(map(int, words or SIZES))
	turns = [{size: on_site(size, pages) for size in sizes} for _ in range(TURNS)]
	found = {
		size: {**middle([turn[size] for turn in turns]), CLAIM: on_site(size, claim)}
		for size in sizes
	}
	table(found)
	if len(found) > 1:
		picture(found)


if __name__ == "__main__":
	main(sys.argv[1:])
