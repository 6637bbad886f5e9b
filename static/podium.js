/* Small improvements; every page is complete without them. Live status is live.js. */
"use strict";

/* <button data-copy="id">: copies the text of the element with that id, without its line numbers. */
function textOf(element) {
	const copy = element.cloneNode(true);
	for (const number of copy.querySelectorAll(".line-number"))
		number.remove();
	return copy.textContent;
}

async function copy(button) {
	const label = button.textContent;
	try {
		await navigator.clipboard.writeText(textOf(document.getElementById(button.dataset.copy)));
		button.textContent = "Copied";
	} catch {
		button.textContent = "Not allowed here";
	}
	setTimeout(() => { button.textContent = label; }, 1500);
}

for (const button of document.querySelectorAll("[data-copy]")) {
	/* Browsers offer the clipboard to https and localhost only; elsewhere the button stays hidden. */
	if (!navigator.clipboard)
		continue;
	button.hidden = false;
	button.addEventListener("click", () => copy(button));
}

/* Times: hovering shows the reader's own zone below the UTC time. */
for (const time of document.querySelectorAll("time[datetime]")) {
	const at = new Date(time.dateTime);
	if (!isNaN(at))
		time.title = (time.title ? time.title + "\n" : "") + at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) + " in your time zone";
}
