// Second factors in a browser, with and without scripts: passkeys of the browser's virtual
// authenticators, an authenticator app, recovery codes. Passkeys need the Podium at localhost:
//
//	python3 tests/lib/instance.py --localhost node tests/browser/factors.test.mjs
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { looksRight } from './checks.mjs';
import { PASSWORD, closeBrowser, fillAndSend, register, scene } from './visitor.mjs';

test.after(closeBrowser);

const main = (page) => page.locator('main');
const button = (page, name) => main(page).getByRole('button', { name, exact: true });
const isLoggedIn = (page, name) =>
	page.locator('.who').getByRole('link', { name, exact: true }).waitFor();
const logOut = (page) => page.getByRole('button', { name: 'Log out' }).click();

// An authenticator in the browser. It answers without a person. `verifies`: it checks a PIN or a
// finger, and keeps passkeys that need no name.
async function plugIn(page, verifies = true) {
	const session = await page.context().newCDPSession(page);
	await session.send('WebAuthn.enable');
	const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator',
		{ options: { protocol: 'ctap2', transport: verifies ? 'internal' : 'usb',
		hasResidentKey: verifies, hasUserVerification: verifies, isUserVerified: verifies,
		automaticPresenceSimulation: true } });
	return { session, id: authenticatorId };
}

const unplug = ({ session, id }) =>
	session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: id });

async function sendPassword(page, name) {
	await page.goto('/login');
	await fillAndSend(page, { Name: name, Password: PASSWORD }, 'Log in');
	await main(page).getByRole('heading', { name: 'Second factor' }).waitFor();
}

async function addPasskey(page, name) {
	await page.goto('/account/security');
	await fillAndSend(page, { 'Name of the passkey': name }, 'Add a passkey');
	await main(page).getByRole('rowheader', { name }).waitFor();
}

const codesOf = async (page) =>
	(await main(page).locator('#recovery-codes').textContent()).trim().split('\n');

// The code that an app with this key shows `steps` steps of 30 s from now.
function appCode(key, steps = 0) {
	const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
	const bits = [...key].map((one) => letters.indexOf(one).toString(2).padStart(5, '0')).join('');
	const counter = Buffer.alloc(8);
	counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000) + steps));
	const digest = createHmac('sha1', Buffer.from(bits.match(/.{8}/g).map((one) => parseInt(one, 2))))
		.update(counter).digest();
	const number = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
	return String(number % 1e6).padStart(6, '0');
}

scene('a passkey replaces the code, and then the password', async (come) => {
	const page = await come();
	await plugIn(page);
	await register(page, 'pat');
	await page.goto('/account/security');
	await looksRight(page);
	await addPasskey(page, 'laptop <b>');
	assert.equal((await codesOf(page)).length, 10);
	await looksRight(page);
	await page.reload();
	assert.equal(await main(page).locator('#recovery-codes').count(), 0);
	await logOut(page);
	await sendPassword(page, 'pat');
	await looksRight(page);
	await page.goto('/account');
	assert.equal(new URL(page.url()).pathname, '/login');
	await page.goto('/login/factor');
	await button(page, 'Use a passkey').click();
	await isLoggedIn(page, 'pat');
	await logOut(page);
	await page.goto('/login?next=/queue');
	await looksRight(page);
	await button(page, 'Log in with a passkey').click();
	await isLoggedIn(page, 'pat');
	assert.equal(new URL(page.url()).pathname, '/queue');
	await page.goto('/account/sessions');
	await main(page).getByText('with a passkey').waitFor();
	await looksRight(page);
});

scene('an account has several passkeys, and removes one', async (come) => {
	const page = await come();
	const first = await plugIn(page);
	await register(page, 'quinn');
	await addPasskey(page, 'phone');
	// The same authenticator refuses a second passkey of the account.
	await fillAndSend(page, { 'Name of the passkey': 'again' }, 'Add a passkey');
	await main(page).getByText('This passkey is registered already.').waitFor();
	await unplug(first);
	await plugIn(page, false);
	await addPasskey(page, 'key ring');
	await main(page).getByRole('button', { name: 'Remove phone' }).click();
	await main(page).getByText('You will no longer be able to log in with it.').waitFor();
	await looksRight(page);
	await button(page, 'Remove').click();
	await main(page).getByText('Removed.').waitFor();
	assert.equal(await main(page).getByRole('rowheader').count(), 1);
	await logOut(page);
	await sendPassword(page, 'quinn');
	await button(page, 'Use a passkey').click();
	await isLoggedIn(page, 'quinn');
});

scene('without a passkey of the account the page says what is wrong', async (come) => {
	const page = await come(), other = await come();
	await plugIn(page);
	await register(page, 'rae');
	await addPasskey(page, 'phone');
	await plugIn(other, false);
	await sendPassword(other, 'rae');
	await button(other, 'Use a passkey').click();
	await main(other).getByText('The browser did not use a passkey. Try again.').waitFor();
	await looksRight(other);
});

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts', suffix = scripts ? 'on' : 'off';

	scene(`an app is set up, and its codes and recovery codes log in ${how}`, async (come) => {
		const page = await come({ scripts }), name = `sky-${suffix}`;
		const look = async () => scripts && looksRight(page);
		await register(page, name);
		await page.goto('/account/security');
		assert.equal(await main(page).getByLabel('Name of the passkey').isVisible(), scripts);
		await button(page, 'Set up an app').click();
		assert.equal(await main(page).getByRole('img', { name: 'QR code' }).count(), 1);
		await look();
		const key = await main(page).locator('#app-key').textContent();
		await fillAndSend(page, { 'Code that the app shows': '000000' }, 'Finish');
		await main(page).locator('#code-error').waitFor();
		await look();
		// The site takes the codes of the steps before and after, so no code here expires at once.
		const used = appCode(key);
		await fillAndSend(page, { 'Code that the app shows': used }, 'Finish');
		const codes = await codesOf(page);
		await look();
		await logOut(page);
		await sendPassword(page, name);
		await fillAndSend(page, { Code: used }, 'Continue');
		await main(page).locator('#code-error', { hasText: 'was used before' }).waitFor();
		await look();
		await fillAndSend(page, { Code: appCode(key, 1) }, 'Continue');
		await isLoggedIn(page, name);
		await logOut(page);
		await sendPassword(page, name);
		await fillAndSend(page, { Code: codes[3] }, 'Continue');
		await isLoggedIn(page, name);
		await page.goto('/account/security');
		await main(page).getByText('You have 9 of 10 left.').waitFor();
		await look();
		await button(page, 'Remove the app…').click();
		await button(page, 'Remove').click();
		await main(page).getByRole('heading', { name: 'Passkeys off' }).waitFor();
		await logOut(page);
		await page.goto('/login');
		await fillAndSend(page, { Name: name, Password: PASSWORD }, 'Log in');
		await isLoggedIn(page, name);
	});
}
