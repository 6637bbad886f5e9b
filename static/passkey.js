// Passkeys: fills the forms with data-passkey, whose value is the purpose, from the browser's
// answer. The forms stay hidden in browsers without passkeys.
"use strict";
(() => {
	if (!window.PublicKeyCredential) return;

	const encode = (buffer) =>
		btoa(String.fromCharCode(...new Uint8Array(buffer)))
			.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
	const decode = (text) =>
		Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

	const known = (ask) => (ask.credentials ?? []).map((id) => ({ type: "public-key", id: decode(id) }));

	const challenge = async (form) => {
		const body = new URLSearchParams({ csrf: form.elements.csrf.value, purpose: form.dataset.passkey });
		const answer = await fetch("/passkey/challenge", { method: "POST", body });
		if (answer.status === 429) throw new Error("There were too many attempts. Wait a few minutes.");
		if (!answer.ok) throw new Error("This page is too old. Reload it and try again.");
		return answer.json();
	};

	const register = async (ask) => {
		const { response } = await navigator.credentials.create({ publicKey: {
			challenge: decode(ask.challenge),
			rp: { id: ask.host, name: ask.host },
			user: { id: decode(ask.user_handle), name: ask.user_name, displayName: ask.user_name },
			pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
			authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
			excludeCredentials: known(ask),
			attestation: "none",
		} });
		return { client_data: response.clientDataJSON, authenticator_data: response.getAuthenticatorData() };
	};

	const sign = async (ask) => {
		const { rawId, response } = await navigator.credentials.get({ publicKey: {
			challenge: decode(ask.challenge),
			rpId: ask.host,
			allowCredentials: known(ask),
			userVerification: ask.verification,
		} });
		return {
			credential: rawId,
			client_data: response.clientDataJSON,
			authenticator_data: response.authenticatorData,
			signature: response.signature,
		};
	};

	const SENTENCES = {
		NotAllowedError: "The browser did not use a passkey. Try again.",
		InvalidStateError: "This passkey is registered already.",
		SecurityError: "Passkeys work only at the address that the operator has set for this site.",
	};

	const send = async (form) => {
		const ask = await challenge(form);
		const answer = await (form.dataset.passkey === "register" ? register(ask) : sign(ask));
		for (const [name, value] of Object.entries(answer)) {
			const field = document.createElement("input");
			field.type = "hidden";
			field.name = name;
			field.value = encode(value);
			form.append(field);
		}
		form.submit();
	};

	for (const form of document.querySelectorAll("form[data-passkey]")) {
		const button = form.querySelector("button");
		const error = form.querySelector("[role=alert]");
		form.hidden = false;
		form.addEventListener("submit", async (event) => {
			event.preventDefault();
			button.disabled = true;
			error.hidden = true;
			try {
				await send(form);
			} catch (problem) {
				error.textContent = SENTENCES[problem.name] ?? problem.message;
				error.hidden = false;
				button.disabled = false;
			}
		});
	}
})();
