// The page of a contest counts down each <b data-left="7500">, in seconds. When one has passed, the
// page is another, so it is loaded again.
(() => {
	"use strict";

	const units = [["year", 31536000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
	const unitOf = (seconds) => {
		const i = units.findIndex(([, size]) => seconds >= size);
		return i < 0 ? units.length - 1 : i;
	};
	const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;

	// As lib/base/format.c does it: two units, but no second one after ten of the first or minutes.
	const span = (seconds) => {
		const shows = (i) => i < 3 && seconds / units[i][1] < 10;
		let i = unitOf(seconds);
		seconds += Math.floor(units[i + shows(i)][1] / 2);
		i = unitOf(seconds);
		const rest = shows(i) ? Math.floor(seconds % units[i][1] / units[i + 1][1]) : 0;
		return count(Math.floor(seconds / units[i][1]), units[i][0]) + (rest ? ` ${count(rest, units[i + 1][0])}` : "");
	};

	// Waits a few more seconds, so that not all readers ask the server at the same moment, and
	// until nobody types.
	const places = [...document.querySelectorAll("main [data-left]")], late = 2000 + 4000 * Math.random();
	const ends = places.map((place) => performance.now() + 1000 * place.dataset.left);
	const tick = setInterval(() => {
		const left = ends.map((end) => end - performance.now());
		places.forEach((place, i) => { place.textContent = span(Math.max(Math.ceil(left[i] / 1000), 0)); });
		if (Math.min(...left) > -late || document.activeElement.matches("input, textarea")) return;
		clearInterval(tick);
		location.reload();
	}, 1000);
})();
