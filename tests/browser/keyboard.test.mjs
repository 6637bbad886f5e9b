// Podium with the keyboard alone (Tab, Shift, Enter, Space, arrows and letters), with and without
// scripts. The focus is always visible, moves forward, is never trapped, and stays when the page
// changes.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, codeField, createLeaderboard, logIn, logInAsAdmin, PASSWORD, register,
	RIGHT, scene, SLOW, submit, verdictOf, visit } from './visitor.mjs';

after(closeBrowser);

const BOARD = 'keys', WAITING = 'keys_waiting', MOST_STOPS = 250;

let furnished;

// Creates, once for this file, two leaderboards and three results of two participants. No worker
// offers the device of the second leaderboard.
function furnish() {
	furnished ??= (async () => {
		const { page, context } = await visit({ watch: false });
		await logInAsAdmin(page);
		await createLeaderboard(page, BOARD);
		await createLeaderboard(page, WAITING, { others: 'H200' });
		const ids = [];
		for (const name of ['ada', 'bob']) {
			await context.clearCookies();
			await register(page, name);
			for (const mode of name === 'ada' ? ['Ranked', 'Test'] : ['Ranked']) {
				ids.push(await submit(page, BOARD, { code: RIGHT, mode }));
				assert.equal(await verdictOf(page), 'passed');
			}
		}
		await context.close();
		return ids;
	})();
	return furnished;
}

// ---- the focus ----

// Describes the focused element and its faults: an invisible focus, or one that moved backwards.
// Runs in the page. Returns nothing if Tab has left the page. In a browser without an address bar,
// Tab goes back to the first stop instead.
function describeFocus() {
	const element = document.activeElement;
	if (!element || element === document.body || (element.matches('.skip') && window.lastFocused))
		return window.lastFocused = null;
	// The editor marks its frame, not its text.
	const marked = element.closest('.cm-editor') ?? element, faults = [];
	const style = getComputedStyle(marked), box = marked.getBoundingClientRect();
	const what = element.id || element.name || element.getAttribute('aria-label')
		|| element.textContent.trim().slice(0, 40);
	// Tab never stops at main. A page that updates itself moves the focus there when the element that
	// had it is gone.
	if (element.tagName === 'MAIN')
		return { what, faults };
	if (style.outlineStyle === 'none' || !(parseFloat(style.outlineWidth) > 0))
		faults.push(`"${what}" shows no mark of the focus`);
	if (box.width === 0 || box.height === 0 || box.right <= 0 || box.left >= innerWidth
		|| box.bottom <= 0 || box.top >= innerHeight)
		faults.push(`"${what}" has the focus and is out of sight`);
	const last = window.lastFocused;
	if (last?.isConnected && last !== element
		&& !(last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING))
		faults.push(`"${what}" comes before the one that had the focus`);
	window.lastFocused = element;
	return { what, faults };
}

async function step(page) {
	await page.keyboard.press('Tab');
	const focus = await page.evaluate(describeFocus).catch((error) => {
		if (!/because of a navigation/.test(error.message))
			throw error;
		// Without scripts, the page reloads itself every few seconds, which may happen here.
		return { what: 'a page that has loaded itself again', faults: [] };
	});
	assert.deepEqual(focus?.faults ?? [], []);
	return focus?.what ?? null;
}

const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

// Presses Tab until the element has the focus.
async function tabTo(page, locator) {
	await locator.waitFor();
	// Tab may reach the end of the page once: a page that changes may remove the focused element,
	// and Tab then starts at the top.
	let ends = 0;
	for (let i = 0; i < MOST_STOPS; i++) {
		if (await hasFocus(locator))
			return;
		ends += await step(page) === null;
		assert.ok(ends < 2, `Tab left the page before ${locator}`);
	}
	assert.fail(`Tab does not lead to ${locator}`);
}

async function press(page, locator, key = 'Enter') {
	await tabTo(page, locator);
	await page.keyboard.press(key);
}

async function type(page, locator, text) {
	await tabTo(page, locator);
	await page.keyboard.insertText(text);
}

// Chooses the radio button with this name and value by the arrow keys.
async function choose(page, name, value) {
	const group = page.locator(`input[type=radio][name=${name}]`),
		wanted = page.locator(`input[type=radio][name=${name}][value="${value}"]`);
	for (let i = 0; i < MOST_STOPS
		&& !await group.evaluateAll((all) => all.includes(document.activeElement)); i++)
		assert.notEqual(await step(page), null, `Tab does not lead to ${name}`);
	await page.keyboard.press('Space');
	for (let i = 0; i < MOST_STOPS && !await wanted.isChecked(); i++)
		await page.keyboard.press('ArrowDown');
	assert.ok(await hasFocus(wanted));
}

const main = (page) => page.locator('main');
const button = (page, name) => main(page).getByRole('button', { name });

async function enterAs(page, name) {
	await page.goto('/');
	await press(page, page.getByRole('link', { name: 'Log in' }));
	await page.waitForURL('**/login**');
	// The field takes the focus by itself, but on a busy machine not always before the first Tab.
	const field = page.getByLabel('Name', { exact: true });
	assert.ok(await field.evaluate((element) => element.autofocus));
	await type(page, field, name);
	await page.keyboard.press('Tab');
	assert.ok(await hasFocus(page.getByLabel('Password')));
	await page.keyboard.insertText(PASSWORD);
	await page.keyboard.press('Enter');
	await page.locator('.who').getByRole('link', { name, exact: true }).waitFor();
}

// ---- flows ----

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts';

	scene(`a participant submits and cancels with the keyboard alone, ${how}`, async (come) => {
		await furnish();
		const page = await come({ scripts });
		await enterAs(page, 'ada');
		await press(page, main(page).getByRole('link', { name: WAITING, exact: true }));
		await page.waitForURL(`**/leaderboard/${WAITING}`);
		await press(page, main(page).getByRole('link', { name: 'Submit', exact: true }));
		await page.waitForURL(`**/leaderboard/${WAITING}/submit`);
		await type(page, codeField(page), RIGHT);
		await choose(page, 'mode', 'ranked');
		const device = page.getByRole('checkbox', { name: /^H200/ });
		if (!await device.isChecked())
			await press(page, device, 'Space');
		await press(page, button(page, 'Submit'));
		await page.waitForURL(/\/submission\/\d+$/);
		await press(page, main(page).getByRole('link', { name: /^Cancel/ }));
		await page.waitForURL(/\/cancel$/);
		await press(page, button(page, /^Cancel submission/));
		await page.waitForURL(/\/submission\/\d+(\?|$)/);
		assert.equal(await verdictOf(page), 'cancelled');
		await press(page, page.getByRole('button', { name: 'Log out' }));
		await page.getByRole('link', { name: 'Log in' }).waitFor();
	});

	scene(`a reader filters and compares with the keyboard alone, ${how}`, async (come) => {
		const [first, second] = await furnish(), page = await come({ scripts });
		await enterAs(page, 'ada');
		await page.goto(`/leaderboard/${BOARD}`);
		await type(page, page.getByLabel('User'), 'ada');
		await tabTo(page, page.getByLabel('Submitted'));
		await page.keyboard.press('ArrowDown');
		assert.notEqual(await page.getByLabel('Submitted').inputValue(), '');
		await press(page, button(page, 'Filter'));
		await page.waitForURL(/user=ada/);
		assert.equal(await main(page).locator('.ranking')
			.getByRole('link', { name: 'ada', exact: true }).count(), 1);
		assert.equal(await main(page).locator('.ranking')
			.getByRole('link', { name: 'bob', exact: true }).count(), 0);
		await press(page, main(page).getByRole('link', { name: 'Show all' }));
		await page.waitForURL((address) => !address.search.includes('user=ada'));

		await page.goto('/mine');
		for (const id of [second, first]) {
			const pick = page.getByLabel(`Compare submission ${id}`, { exact: true });
			await tabTo(page, pick);
			await page.keyboard.press('Space');
			assert.ok(await pick.isChecked());
		}
		await press(page, button(page, 'Compare'));
		await page.waitForURL(({ pathname, searchParams }) => pathname === '/compare'
			&& searchParams.get('a') === String(first)
			&& searchParams.get('b') === String(second));
	});

	scene(`an admin announces and hides with the keyboard alone, ${how}`, async (come) => {
		await furnish();
		const page = await come({ scripts }), text = `The machines rest, ${how}.`;
		await logInAsAdmin(page);
		await page.goto('/admin');
		await press(page, page.getByRole('link', { name: 'Announcements', exact: true }));
		await page.waitForURL('**/admin/announcements');
		await type(page, page.getByLabel('Text'), text);
		await press(page, button(page, 'Announce'));
		await page.getByRole('status').waitFor();
		await press(page, page.getByRole('row', { name: text }).getByRole('button'), 'Space');
		await press(page, button(page, 'End it now'));
		await page.getByRole('row', { name: text }).getByText('ended').waitFor();

		for (const [visibility, words] of [['hidden', 'This is a preview'],
				['public', 'Ranking']]) {
			await page.goto(`/leaderboard/${WAITING}`);
			await press(page, main(page).getByRole('link', { name: 'Visibility', exact: true }));
			await page.waitForURL('**/publishing');
			await choose(page, 'visibility', visibility);
			await press(page, button(page, 'Save'));
			if (visibility !== 'public')
				await press(page, button(page, 'Change it'));
			await page.getByText('The settings were saved.').waitFor();
			await page.goto(`/leaderboard/${WAITING}`);
			await page.getByText(words).first().waitFor();
		}
	});
}

// ---- every page ----

scene('Tab visits each stop of a page once; the first skips to the content', async (come) => {
	const [first, second] = await furnish(), page = await come();
	await logInAsAdmin(page);
	for (const path of ['/', `/leaderboard/${BOARD}`, `/leaderboard/${BOARD}?view=shapes`,
		`/leaderboard/${BOARD}/submit`, `/leaderboard/${BOARD}/task`, `/submission/${first}`,
		`/compare?a=${first}&b=${second}`, '/queue', '/mine', '/user/ada', '/account/tokens',
		'/device', '/admin', '/admin/users', '/admin/audit', '/admin/workers', '/admin/rejudgings',
		'/admin/invites',
		`/admin/leaderboard/${BOARD}/edit`, `/admin/submission/${first}`]) {
		await page.goto(path);
		await page.evaluate(() => document.activeElement?.blur());
		assert.equal(await step(page), 'Skip to the content', path);
		let stops = 0;
		while (await step(page) !== null)
			assert.ok(++stops < MOST_STOPS, `${path} does not let the focus go`);
		assert.ok(stops > 5, `${path} has ${stops} stops`);
		await page.goto(path);
		await page.evaluate(() => document.activeElement?.blur());
		await page.keyboard.press('Tab');
		await page.keyboard.press('Enter');
		await page.waitForURL('**#main');
		await page.keyboard.press('Tab');
		assert.ok(await page.evaluate(
			() => document.getElementById('main').contains(document.activeElement)
			|| !document.querySelector('main a, main button, main input')), path);
	}
});

scene('a page that updates itself leaves the focus where it is', async (come) => {
	await furnish();
	const author = await come(), page = await come(), queue = await come();
	await logIn(author, 'bob');
	await logIn(page, 'bob');
	await queue.goto('/queue');
	await tabTo(queue, queue.getByRole('region', { name: 'Workers and devices' }));
	const id = await submit(author, BOARD, { code: SLOW, mode: 'Test' });
	await page.goto(`/submission/${id}`);
	await tabTo(page, button(page, 'Copy'));
	await queue.getByRole('link', { name: String(id), exact: true }).waitFor();
	assert.ok(await hasFocus(queue.getByRole('region', { name: 'Workers and devices' })));
	await author.goto(`/submission/${id}`);
	await tabTo(author, author.getByRole('link', { name: 'Queue' }));
	assert.equal(await verdictOf(page), 'passed');
	assert.ok(await hasFocus(button(page, 'Copy')));
	await queue.getByRole('link', { name: String(id), exact: true }).waitFor({ state: 'detached' });
	assert.ok(await hasFocus(queue.getByRole('region', { name: 'Workers and devices' })));
	assert.equal(await verdictOf(author), 'passed');
	assert.ok(await hasFocus(author.getByRole('link', { name: 'Queue' })));
});
