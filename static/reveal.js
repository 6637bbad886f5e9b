// The reveal of a contest with the keyboard: space, Enter, arrow right and page down take the next
// step, arrow left and page up the one before. Presenters send the same keys. Without scripts the
// links do it.
"use strict";
(() => {
	const steps = { " ": "next", Enter: "next", ArrowRight: "next", ArrowDown: "next", PageDown: "next",
		ArrowLeft: "prev", ArrowUp: "prev", PageUp: "prev" };
	let leaves = false;
	document.addEventListener("keydown", (event) => {
		const rel = steps[event.key];
		if (!rel || event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
		// Enter on a focused link follows that link, and space presses a focused button.
		if (event.target.closest("a, button, input, select, textarea, summary") && (event.key === "Enter" || event.key === " ")) return;
		const link = document.querySelector(`main a[rel="${rel}"]`);
		event.preventDefault();
		if (!link || leaves) return;
		leaves = true;
		location.assign(link.href);
	});
	addEventListener("pageshow", () => { leaves = false; });
})();
