// Keeps a page about running jobs up to date: asks the server for the state once a second. When the
// state has changed, fetches the page again and replaces the content. Without scripts the browser
// reloads the page.
"use strict";
(() => {
	const main = document.getElementById("main");
	const address = main.dataset.live;
	const second = 1000;
	main.tabIndex = -1; // lets focusAgain() focus it
	let last = null, failures = 0;

	const note = (text) => {
		const place = document.getElementById("live-note");
		if (!place) return;
		place.textContent = text;
		place.hidden = !text;
	};

	// A text that identifies an element in the old and in the new content. Several elements may
	// have the same text, so focused() also counts them.
	const traits = (element) => [element.tagName, element.id, element.parentElement.id, element.name ?? "", element.getAttribute("href"),
		element.getAttribute("aria-label"), element.matches("button, summary") ? element.textContent : ""].join("\n");
	const alike = (tag, wanted) => [...main.querySelectorAll(tag)].filter((element) => traits(element) === wanted);

	// Describes the element in main that has the keyboard's focus; null: none there has it.
	const focused = () => {
		const element = document.activeElement;
		if (!main.contains(element) || element === main) return null;
		const wanted = traits(element);
		return { tag: element.tagName, wanted, index: alike(element.tagName, wanted).indexOf(element) };
	};

	// Focuses the described element in the new content. If the element is gone, focuses main, so
	// that Tab continues at the start of the content.
	const focusAgain = ({ tag, wanted, index }) => {
		const there = alike(tag, wanted);
		(there[Math.min(index, there.length - 1)] ?? main).focus({ preventScroll: true });
	};

	// A job's output stays scrolled to its end, unless the reader has scrolled away from the end.
	const isAtEnd = (place) => place.scrollTop + place.clientHeight >= place.scrollHeight - 4;
	const printed = () => main.querySelectorAll("pre[id^=printed-]");

	// Opens the same details in the fresh content that are open on the page. Returns which boxes
	// are scrolled sideways, and how far.
	const takeOver = (fresh) => {
		// The server shows the notice of an action once.
		const toast = main.querySelector(":scope > .toast");
		if (toast && !fresh.querySelector(":scope > .toast")) fresh.prepend(toast);
		for (const old of main.querySelectorAll("details[id]")) {
			const its = fresh.querySelector(`#${CSS.escape(old.id)}`);
			if (its) its.open = old.open;
		}
		return [...main.querySelectorAll(".scroll[aria-label]")].filter((box) => box.scrollLeft).map((box) => [traits(box), box.scrollLeft]);
	};

	const iconOf = (page) => page.querySelector("link[rel=icon]");

	const replace = (html) => {
		const page = new DOMParser().parseFromString(html, "text/html"), fresh = page.getElementById("main");
		if (!fresh) throw new Error("not the page");
		document.title = page.title;
		if (iconOf(page).href !== iconOf(document).href) iconOf(document).replaceWith(iconOf(page));
		const place = focused(), scrolled = takeOver(fresh);
		const away = new Map([...printed()].filter((old) => !isAtEnd(old)).map((old) => [old.id, old.scrollTop]));
		main.replaceChildren(...fresh.childNodes);
		offerNotification();
		for (const one of printed()) one.scrollTop = away.get(one.id) ?? one.scrollHeight;
		for (const [wanted, left] of scrolled) {
			const box = alike(".scroll", wanted)[0];
			if (box) box.scrollLeft = left;
		}
		// Wait until the MutationObserver of podium.js has shown the copy buttons: one of them may
		// have had the focus.
		if (place) queueMicrotask(() => focusAgain(place));
	};

	// ---- a notification at the end, if the reader has asked for it on this or an earlier page ----

	const notifyKey = "podium-notify";
	const stored = (act) => {
		try {
			return act();
		} catch {
			return null; // the browser forbids storage
		}
	};
	const wantsNotification = () => Notification.permission === "granted" && stored(() => localStorage.getItem(notifyKey)) === "1";

	const toggleNotification = async (button) => {
		const wants = !wantsNotification();
		if (wants && await Notification.requestPermission() !== "granted") {
			note("Your browser blocks notifications of this site.");
			return;
		}
		stored(() => wants ? localStorage.setItem(notifyKey, "1") : localStorage.removeItem(notifyKey));
		showNotification(button);
	};
	const showNotification = (button) => {
		const wants = wantsNotification();
		button.setAttribute("aria-pressed", wants);
		button.textContent = wants ? "Notification on" : "Notify me";
	};
	// Browsers offer notifications to https and localhost only; elsewhere the button stays hidden.
	const offerNotification = () => {
		const button = main.querySelector("[data-notify]");
		if (!button || !("Notification" in window) || !window.isSecureContext) return;
		button.hidden = false;
		showNotification(button);
		button.addEventListener("click", () => toggleNotification(button));
	};
	const notify = () => {
		if (document.hasFocus() || !("Notification" in window) || !wantsNotification()) return;
		const body = main.querySelector(".sentence")?.textContent.trim() ?? "";
		try {
			new Notification(document.title, { body, icon: iconOf(document).href, tag: address }).onclick = () => window.focus();
		} catch {
			// Chrome on Android has no such constructor.
		}
	};

	const get = async (path) => {
		const answer = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(10 * second) });
		if (!answer.ok) throw new Error(`answer ${answer.status}`);
		return answer.text();
	};

	// The page's address with a digest of the state as parameter. A new state thus has a new
	// address, for which no cache has an older page.
	const pageOf = (state) => {
		let digest = 0;
		for (let i = 0; i < state.length; i++) digest = (Math.imul(digest, 31) + state.charCodeAt(i)) >>> 0;
		const page = new URL(location.href);
		page.hash = "";
		page.searchParams.set("state", digest.toString(36));
		return page.href;
	};

	const jobsOf = ({ jobs }) => (Array.isArray(jobs) ? jobs : []);

	// Shows the output of running jobs without fetching the page, because the output changes often.
	// Returns false if the page has no place for the output yet.
	const print = (status) => jobsOf(status).every(({ output }, index) => Object.entries(output ?? {}).every(([stream, text]) => {
		const place = document.getElementById(`printed-${stream}-${index}`);
		if (!place) return false;
		if (place.textContent === text) return true;
		const follows = isAtEnd(place);
		place.textContent = text;
		place.parentElement.hidden = !text;
		if (follows) place.scrollTop = place.scrollHeight;
		return true;
	}));

	// The state as text. Leaves out the output, which print() shows, but says whether there is any.
	const stateOf = (status) => JSON.stringify({ ...status, jobs: jobsOf(status).map(({ output, ...job }) => ({ ...job, prints: Boolean(output) })) });

	const look = async () => {
		let over = false;
		try {
			const status = JSON.parse(await get(address)), text = stateOf(status);
			const { state, settled } = status;
			if (text !== last) replace(await get(pageOf(text)));
			last = print(status) ? text : null;
			over = settled ?? (state !== "queued" && state !== "running"); // settled: no comparison either
			if (failures) note("");
			failures = 0;
			if (over && notifies) notify();
		} catch {
			failures++;
			note("The server does not answer, so this page may be out of date. Trying again.");
		}
		const wait = Math.min(second * 2 ** failures, 30 * second);
		if (!over) setTimeout(look, document.hidden ? Math.max(wait, 10 * second) : wait);
	};

	const notifies = main.querySelector("[data-notify]") !== null;
	offerNotification();
	setTimeout(look, second / 2);
})();
