#!/usr/bin/env python3
"""`make bench-growth`: how pages and claims grow with the data. Prints a table for docs/scale.md and draws docs/growth.svg. Needs wrk.

	tests/bench/growth.py [SIZE...]     1000 10000 100000 1000000 submissions

For each size a Podium of its own in build/growth/SIZE, which stays for the next time. A page is asked for by one visitor, again and
again, past nginx's cache; a claim is made by one device, where a fifth as many jobs wait as there are submissions."""
import math
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "bench")]
import data  # noqa: E402
import scale  # noqa: E402
from wrk import need_wrk, wrk  # noqa: E402

BUILD = ROOT / os.environ.get("B", "build/release")
PICTURE = ROOT / "docs" / "growth.svg"
SIZES = (1000, 10000, 100000, 1000000)
CLAIMS = 200
# (what it is called, who looks, the address)
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

def claim(site, crowd, size):
	one = scale.Scale(site, crowd)
	try:
		one.make_board()
		one.queue(max(CLAIMS + 100, size // 5), "MANY")
		one.sql("ANALYZE TABLE jobs")
		_, times = one.claimers("MANY", 1, CLAIMS)
		return statistics.median(times), times[int(len(times) * 0.99)]
	finally:
		one.end()


def measure(size):
	"""{what: (half, 99 %)} in ms."""
	data.SIZE = scale.SIZE = size
	data.FOLDER = scale.FOLDER = ROOT / "build" / "growth" / str(size)
	site, crowd = data.open_site(BUILD)
	try:
		found = {}
		for what, who, address in PAGES:
			answers = wrk(site.url + crowd.filled(address), 1, 3, crowd.cookie(who))
			found[what] = answers.p50_ms, answers.p99_ms
			print(f"{size:>8} {what:40} {found[what][0]:8.2f} {found[what][1]:8.2f} ms", flush=True)
		found[CLAIM] = claim(site, crowd, size)
		print(f"{size:>8} {CLAIM:40} {found[CLAIM][0]:8.2f} {found[CLAIM][1]:8.2f} ms", flush=True)
		return found
	finally:
		site.stop()


# ---- showing ----

def table(found):
	sizes = list(found)
	print("\n| ms, half of the answers (99 %) | " + " | ".join(f"{size:,}" for size in sizes) + " |\n|---|" + "---|" * len(sizes))
	for what in found[sizes[0]]:
		print(f"| {what} | " + " | ".join("{:.2f} ({:.2f})".format(*found[size][what]) for size in sizes) + " |")


COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0e7490", "#a16207", "#be185d", "#334155")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 440, 60, 290, 20, 50


def apart(places, least):
	"""As near to where they belong as they can stand, so far from each other."""
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
	low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
	x = lambda size: LEFT + (math.log10(size) - math.log10(sizes[0])) / max(1e-9, math.log10(sizes[-1]) - math.log10(sizes[0])) * (WIDTH - LEFT - RIGHT)
	y = lambda ms: HEIGHT - BOTTOM - (math.log10(ms) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
	parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" role="img">',
		"<title>Milliseconds of a page and of a claim, by the number of submissions</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
	for power in range(low, high + 1):
		parts.append(f'<path d="M{LEFT} {y(10 ** power):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/><text x="{LEFT - 8}" y="{y(10 ** power) + 4:.1f}" text-anchor="end">{10 ** power:g} ms</text>')
	for size in sizes:
		parts.append(f'<path d="M{x(size):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/><text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size:,}</text>')
	parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">submissions</text>')
	names = list(found[sizes[0]])
	stands = apart([y(found[sizes[-1]][what][0]) for what in names], 16)
	for number, what in enumerate(names):
		points = [(x(size), y(found[size][what][0])) for size in sizes]
		colour = COLOURS[number % len(COLOURS)]
		parts.append(f'<path d="M{" L".join(f"{a:.1f} {b:.1f}" for a, b in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
		parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
		parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{stands[number] + 4:.1f}" fill="{colour}">{what}: {found[sizes[-1]][what][0]:.1f} ms</text>')
	PICTURE.write_text("\n".join(parts) + "\n</svg>\n")
	print(f"\n{PICTURE.relative_to(ROOT)} is drawn.")


def main(words):
	need_wrk()
	print(f"load of the machine when it began: {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
	found = {size: measure(size) for size in map(int, words or SIZES)}
	table(found)
	if len(found) > 1:
		picture(found)


if __name__ == "__main__":
	main(sys.argv[1:])
