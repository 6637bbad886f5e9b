// Small improvements of pages. Pages also work without scripts. live.js updates running jobs.
"use strict";
(() => {
	const main = document.getElementById("main");

	// ---- copying: <button data-copy="id" hidden> copies the text of the element with this id ----

	const textOf = (element) => {
		const copy = element.cloneNode(true);
		copy.querySelectorAll(".line-number").forEach((number) => number.remove());
		// Of an example with its output, only the commands.
		return copy.querySelector(".language-console")
			? copy.textContent.match(/^\$ .*/gm).map((line) => line.slice(2)).join("\n")
			: copy.textContent;
	};

	const copy = async (button) => {
		const label = button.textContent;
		button.disabled = true;
		try {
			await navigator.clipboard.writeText(textOf(document.getElementById(button.dataset.copy)));
			button.textContent = "Copied";
		} catch {
			button.textContent = "Not allowed here";
		}
		setTimeout(() => {
			button.textContent = label;
			button.disabled = false;
		}, 1500);
	};

	// Browsers offer the clipboard to https and localhost only; elsewhere the buttons stay hidden.
	const offerCopying = () => {
		if (!navigator.clipboard) return;
		for (const button of main.querySelectorAll("[data-copy][hidden]")) {
			button.hidden = false;
			button.addEventListener("click", () => copy(button));
		}
	};

	// ---- times: hovering over a UTC time also shows it in the reader's zone ----

	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	const isUtc = ["UTC", "Etc/UTC", "GMT", "Etc/GMT"].includes(zone);
	const inZone = (at) => `${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })} in ${zone}`;

	const addLocalTimes = () => {
		for (const time of main.querySelectorAll("time[datetime]:not([data-local])")) {
			const at = new Date(time.dateTime);
			if (isNaN(at)) continue;
			time.dataset.local = "";
			time.title = `${time.title}\n${inZone(at)}`.trim();
		}
	};

	// Deadlines are in UTC; this appends the time in the reader's zone.
	const tellDeadlines = () => {
		for (const deadline of main.querySelectorAll(".deadline[data-at]:not([data-local])")) {
			const at = new Date(deadline.dataset.at);
			deadline.dataset.local = "";
			if (isNaN(at) || isUtc) continue;
			const own = document.createElement("span");
			own.className = "own-zone";
			own.textContent = `, ${inZone(at)}`;
			deadline.append(own);
		}
	};

	// ---- time fields are in UTC; an added field takes the same time in the reader's zone ----

	const pad = (number) => String(number).padStart(2, "0");
	const clock = (at) => `${pad(at.getHours())}:${pad(at.getMinutes())}`;
	const asLocal = (at) => `${String(at.getFullYear()).padStart(4, "0")}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${clock(at)}`;
	const minutesLater = (at, minutes) => new Date(at.getTime() + minutes * 60000);

	// Explains what happens to a typed local time that does not exist or comes twice because clocks
	// change; "" for any other time.
	const oddity = (typed, at) => {
		if (typed && asLocal(at) !== typed)
			return `There is no ${typed.slice(11)} on that day in ${zone}, because clocks go forward then; ${clock(at)} is taken.`;
		if (typed && [30, 60].some((minutes) => asLocal(minutesLater(at, minutes)) === typed))
			return `${typed.slice(11)} comes twice on that day in ${zone}, because clocks go back then; the first is taken.`;
		return "";
	};

	const make = (tag, members) => Object.assign(document.createElement(tag), members);

	const offerOwnZone = () => {
		for (const input of main.querySelectorAll("input[type=datetime-local]:not([data-local])")) {
			input.dataset.local = "";
			const id = `${input.id}-own-zone`, told = make("p", { className: "hint local-time", role: "status" });
			const own = make("input", { id, type: "datetime-local", className: "short" });
			const label = make("label", { htmlFor: id, className: "hint", textContent: `The same in your zone, ${zone}` });
			const tell = (typed, at) => {
				const past = input.name !== "frozen" && at < Date.now() ? "This time has passed already." : ""; // a past freeze is allowed
				told.textContent = isNaN(at) ? "" : oddity(typed, at) || past;
				told.hidden = !told.textContent;
			};
			const show = () => {
				const at = new Date(`${input.value}Z`);
				own.value = isNaN(at) ? "" : asLocal(at);
				tell("", at);
			};
			own.addEventListener("input", () => {
				const at = new Date(own.value);
				input.value = isNaN(at) ? "" : at.toISOString().slice(0, 16);
				tell(own.value.slice(0, 16), at);
			});
			input.addEventListener("input", show);
			input.after(...(isUtc ? [told] : [label, own, told]));
			show();
		}
	};

	// ---- files: a file dropped anywhere on a form goes into the form's file field ----

	const takesFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");

	const take = (input, files) => {
		const one = new DataTransfer();
		one.items.add(files[0]);
		input.files = one.files;
		input.dispatchEvent(new Event("change", { bubbles: true }));
		input.focus();
	};

	const offerDropping = () => {
		for (const input of main.querySelectorAll("input[type=file]:not([data-drop])")) {
			const form = input.form, field = input.closest(".field") || input;
			if (!form || form.querySelectorAll("input[type=file]").length > 1) continue;
			input.dataset.drop = "";
			form.querySelectorAll("[data-dropping]").forEach((words) => { words.hidden = false; });
			form.addEventListener("dragover", (event) => {
				if (!takesFiles(event)) return;
				event.preventDefault();
				event.dataTransfer.dropEffect = "copy";
				field.classList.add("drop");
			});
			form.addEventListener("dragleave", (event) => {
				if (!form.contains(event.relatedTarget)) field.classList.remove("drop");
			});
			form.addEventListener("drop", (event) => {
				field.classList.remove("drop");
				if (event.defaultPrevented || !takesFiles(event)) return; // the editor takes files too
				event.preventDefault();
				const isFolder = event.dataTransfer.items[0]?.webkitGetAsEntry?.()?.isDirectory;
				if (event.dataTransfer.files.length && !isFolder) take(input, event.dataTransfer.files);
			});
		}
	};

	// ---- drafts: the editor has sent one (editor/editor.js), and its submission's page is open ----

	const dropSentDraft = () => {
		try {
			const sent = sessionStorage.getItem("podium-sent");
			sessionStorage.removeItem("podium-sent"); // on any other page, nothing was sent
			if (sent && /^\/submission\/\d+$/.test(location.pathname)) localStorage.removeItem(sent);
		} catch {
			// The browser forbids storage, so there is no draft.
		}
	};

	// The next visitor of this browser may be somebody else.
	const dropDraftsAtLogout = () => {
		document.querySelector("form[action='/logout']")?.addEventListener("submit", () => {
			try {
				Object.keys(localStorage).filter((key) => key.startsWith("podium-draft:")).forEach((key) => localStorage.removeItem(key));
			} catch {
				// The browser forbids storage, so there are no drafts.
			}
		});
	};

	// ---- large files: a field refuses them before the browser sends the form ----

	const limitFiles = () => {
		for (const field of main.querySelectorAll("[data-most-bytes]:not([data-limited])")) {
			field.dataset.limited = "";
			field.addEventListener("change", () => {
				const [file] = field.files, most = Number(field.dataset.mostBytes);
				field.setCustomValidity(file?.size > most
					? `${file.name} has ${(file.size / 1e6).toFixed(1)} MB. Choose a file of at most ${Math.floor(most / 1e6)} MB.`
					: "");
				field.reportValidity();
			});
		}
	};

	const improve = () => {
		limitFiles();
		offerCopying();
		addLocalTimes();
		tellDeadlines();
		offerOwnZone();
		offerDropping();
	};

	// ---- rows of links that scroll on a narrow screen: the current one comes into view ----

	const showCurrent = () => {
		for (const link of document.querySelectorAll(":is(.tabs, .site-header nav) [aria-current]")) {
			const row = link.parentElement, room = (row.clientWidth - link.offsetWidth) / 2;
			row.scrollLeft = link.offsetLeft - room;
		}
	};

	// ---- the help: its sidebar marks the section in view ----

	const markSection = () => {
		const links = [...document.querySelectorAll(".sections a")];
		// What a closed fold hides has no place.
		const placed = (section) => section.closest("details:not([open])") ?? section;
		const top = (link) => placed(document.getElementById(link.hash.slice(1))).getBoundingClientRect().top;
		// The last sections of a page cannot come to the top.
		const isAtEnd = scrollY && innerHeight + scrollY > document.documentElement.scrollHeight - 2;
		const chosen = links.find((link) => link.hash === location.hash && top(link) >= 0) ?? links.at(-1);
		const current = isAtEnd ? chosen : links.findLast((link) => top(link) < innerHeight / 3);
		for (const link of links) link.ariaCurrent = link === current ? "true" : null;
	};

	// On a phone, a link to a section of the same page leaves the menu open.
	const closeMenu = ({ target }) => target.closest(".sections a")?.closest(":popover-open")?.hidePopover();

	dropSentDraft();
	dropDraftsAtLogout();
	showCurrent();
	markSection();
	addEventListener("scroll", markSection, { passive: true });
	addEventListener("click", closeMenu);
	addEventListener("resize", showCurrent); // a phone was turned
	improve();
	// When live.js replaces the content, the new content needs the same improvements.
	new MutationObserver(improve).observe(main, { childList: true });
})();
