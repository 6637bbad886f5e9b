// Keeps a page with something running up to date: asks for its state once a second and, when that has
// changed, fetches the page and puts its content in place. Without scripts the page reloads itself instead.
"use strict";
(() => {
	const main = document.getElementById("main");
	const address = main.dataset.live;
	const second = 1000;
	main.tabIndex = -1; // so that it can have the focus
	let last = null, failures = 0;

	const note = (text) => {
		const place = document.getElementById("live-note");
		if (!place) return;
		place.textContent = text;
		place.hidden = !text;
	};

	// What an element is known by before and after its page was fetched anew; several may share it.
	const traits = (element) => [element.tagName, element.id, element.parentElement.id, element.name ?? "", element.getAttribute("href"),
		element.getAttribute("aria-label"), element.matches("button, summary") ? element.textContent : ""].join("\n");
	const alike = (tag, wanted) => [...main.querySelectorAll(tag)].filter((element) => traits(element) === wanted);

	// Where the keyboard is.
	const focused = () => {
		const element = document.activeElement;
		if (!main.contains(element) || element === main) return null;
		const wanted = traits(element);
		return { tag: element.tagName, wanted, index: alike(element.tagName, wanted).indexOf(element) };
	};

	// What had it may be gone: then Tab goes on from the beginning of the content, and not behind all of it.
	const focusAgain = ({ tag, wanted, index }) => {
		const there = alike(tag, wanted);
		(there[Math.min(index, there.length - 1)] ?? main).focus({ preventScroll: true });
	};

	// What is printed last stands at the end, which stays in sight unless the reader has scrolled away from it.
	const isAtEnd = (place) => place.scrollTop + place.clientHeight >= place.scrollHeight - 4;
	const printed = () => main.querySelectorAll("pre[id^=printed-]");

	// What the reader has opened stays open, and what was scrolled to the side stays there.
	const takeOver = (fresh) => {
		for (const old of main.querySelectorAll("details[id]")) {
			const its = fresh.querySelector(`#${CSS.escape(old.id)}`);
			if (its) its.open = old.open;
		}
		return [...main.querySelectorAll(".scroll[aria-label]")].filter((box) => box.scrollLeft).map((box) => [traits(box), box.scrollLeft]);
	};

	const replace = (html) => {
		const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("main");
		if (!fresh) throw new Error("not the page");
		const place = focused(), scrolled = takeOver(fresh);
		const away = new Map([...printed()].filter((old) => !isAtEnd(old)).map((old) => [old.id, old.scrollTop]));
		main.replaceChildren(...fresh.childNodes);
		for (const one of printed()) one.scrollTop = away.get(one.id) ?? one.scrollHeight;
		for (const [wanted, left] of scrolled) {
			const box = alike(".scroll", wanted)[0];
			if (box) box.scrollLeft = left;
		}
		// After podium.js has shown its buttons, which it does as soon as it hears of the change.
		if (place) queueMicrotask(() => focusAgain(place));
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
