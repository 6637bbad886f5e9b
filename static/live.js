// Keeps a page with something running up to date: asks for its state once a second and, when that has
// changed, fetches the page and puts its content in place. Without scripts the page reloads itself instead.
"use strict";
(() => {
	const main = document.getElementById("main");
	const address = main.dataset.live;
	const second = 1000;
	let last = null, failures = 0;

	const note = (text) => {
		const place = document.getElementById("live-note");
		if (!place) return;
		place.textContent = text;
		place.hidden = !text;
	};

	// Where the keyboard is: an element with an id, the summary of a <details> with one, or a link.
	const focused = () => {
		const element = document.activeElement;
		if (!main.contains(element)) return null;
		if (element.id) return `#${CSS.escape(element.id)}`;
		if (element.tagName === "SUMMARY" && element.parentElement.id) return `#${CSS.escape(element.parentElement.id)} > summary`;
		return element.hasAttribute("href") ? `a[href="${CSS.escape(element.getAttribute("href"))}"]` : null;
	};

	// What is printed last stands at the end, which stays in sight unless the reader has scrolled away from it.
	const isAtEnd = (place) => place.scrollTop + place.clientHeight >= place.scrollHeight - 4;
	const printed = () => main.querySelectorAll("pre[id^=printed-]");

	// What the reader has opened stays open and keeps the focus; details are known by their ids.
	const replace = (html) => {
		const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("main");
		if (!fresh) throw new Error("not the page");
		for (const old of main.querySelectorAll("details[id]")) {
			const its = fresh.querySelector(`#${CSS.escape(old.id)}`);
			if (its) its.open = old.open;
		}
		const place = focused();
		const away = new Map([...printed()].filter((old) => !isAtEnd(old)).map((old) => [old.id, old.scrollTop]));
		main.replaceChildren(...fresh.childNodes);
		for (const one of printed()) one.scrollTop = away.get(one.id) ?? one.scrollHeight;
		if (place) main.querySelector(place)?.focus({ preventScroll: true });
	};

	const get = async (path) => {
		const answer = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(10 * second) });
		if (!answer.ok) throw new Error(`answer ${answer.status}`);
		return answer.text();
	};

	// The page under a name of its own for each state, so that no cache answers with the page of an older one.
	const pageOf = (state) => {
		let digest = 0;
		for (let i = 0; i < state.length; i++) digest = (Math.imul(digest, 31) + state.charCodeAt(i)) >>> 0;
		const page = new URL(location.href);
		page.hash = "";
		page.searchParams.set("state", digest.toString(36));
		return page.href;
	};

	// What running jobs print changes often, and alone: it goes into its place. False where the page has none for it yet.
	const jobsOf = ({ jobs }) => (Array.isArray(jobs) ? jobs : []);
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

	// The state without what is printed.
	const stateOf = (status) => JSON.stringify({ ...status, jobs: jobsOf(status).map(({ output, ...job }) => ({ ...job, prints: Boolean(output) })) });

	const look = async () => {
		let over = false;
		try {
			const status = JSON.parse(await get(address)), text = stateOf(status);
			const { state, settled } = status;
			if (text !== last) replace(await get(pageOf(text)));
			last = print(status) ? text : null;
			over = settled ?? (state !== "queued" && state !== "running"); // what has ended may still be compared
			failures = 0;
			note("");
		} catch {
			failures++;
			note("The server does not answer just now; what you see may be old. Trying again.");
		}
		const wait = Math.min(second * 2 ** failures, 30 * second);
		if (!over) setTimeout(look, document.hidden ? Math.max(wait, 10 * second) : wait);
	};

	setTimeout(look, second / 2);
})();
