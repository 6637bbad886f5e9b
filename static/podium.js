// Small improvements; every page is complete without them. Live status is live.js.
"use strict";
(() => {
	const main = document.getElementById("main");

	// ---- copying: <button data-copy="id" hidden> copies the text of that element, without its line numbers ----

	const textOf = (element) => {
		const copy = element.cloneNode(true);
		copy.querySelectorAll(".line-number").forEach((number) => number.remove());
		return copy.textContent;
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

	// ---- times: hovering shows the reader's own zone below the UTC time ----

	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	const inZone = (at) => `${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })} in ${zone}`;

	const addLocalTimes = () => {
		for (const time of main.querySelectorAll("time[datetime]:not([data-local])")) {
			const at = new Date(time.dateTime);
			if (isNaN(at)) continue;
			time.dataset.local = "";
			time.title = `${time.title}\n${inZone(at)}`.trim();
		}
	};

	// Fields for a time are in UTC; below them stands what that is for the reader.
	const tellLocalTimes = () => {
		for (const input of main.querySelectorAll("input[type=datetime-local]:not([data-local])")) {
			input.dataset.local = "";
			const told = document.createElement("p");
			told.className = "hint local-time";
			const tell = () => {
				const at = new Date(`${input.value}Z`);
				told.hidden = !input.value || isNaN(at);
				told.textContent = told.hidden ? "" : `That is ${inZone(at)}.`;
			};
			input.after(told);
			input.addEventListener("input", tell);
			tell();
		}
	};

	// ---- files: one that is dropped anywhere on a form goes into its file field ----

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
				if (!takesFiles(event)) return;
				event.preventDefault();
				const isFolder = event.dataTransfer.items[0]?.webkitGetAsEntry?.()?.isDirectory;
				if (event.dataTransfer.files.length && !isFolder) take(input, event.dataTransfer.files);
			});
		}
	};

	const improve = () => {
		offerCopying();
		addLocalTimes();
		tellLocalTimes();
		offerDropping();
	};

	improve();
	// live.js puts fresh content in place.
	new MutationObserver(improve).observe(main, { childList: true });
})();
