// What admins do in a browser, with and without scripts: rejudge, ban, hand out a password link,
// hide, announce, quarantine; and the checks that these pages must pass.
import assert from 'node:assert/strict';
import test from 'node:test';
import { faultsAsShown, faultsOf, overflow, structureFaults } from './checks.mjs';
import { RIGHT, closeBrowser, createLeaderboard, fillAndSend, logInAsAdmin, openMenu, register,
	scene, submit, verdictOf } from './visitor.mjs';

test.after(closeBrowser);

// Runs axe only with scripts: without them, its timers never fire.
const faultsFor = async (page, { scripts }) => scripts ? faultsAsShown(page)
	: [...await page.evaluate(structureFaults), ...await page.evaluate(overflow)];

// Runs the scene with and without scripts.
function scenes(name, body) {
	for (const scripts of [true, false])
		scene(`${name}, scripts ${scripts ? 'on' : 'off'}`, (come) => body(come, { scripts }));
}

const suffix = () => Math.random().toString(36).slice(2, 8);

scenes('an admin rejudges the best result, previews and applies it', async (come, options) => {
	const board = `again${suffix()}`, author = await come(options), page = await come(options);
	await logInAsAdmin(page);
	await createLeaderboard(page, board);
	await register(author, `author${suffix()}`);
	const number = await submit(author, board, { code: RIGHT, mode: 'Ranked' });
	assert.equal(await verdictOf(author), 'passed');
	await page.goto(`/submission/${number}`);
	await page.getByRole('link', { name: 'Moderate…' }).click();
	await page.getByRole('link', { name: 'Rejudge…' }).click();
	for (const [choice, asked] of [['A user on every leaderboard', 'Device, User name'],
			['The top of a ranking', 'Leaderboard, Device, Number of ranks'],
			['One submission', 'Device, Submission number']]) {
		await page.getByLabel(choice).check();
		assert.equal((await page.locator('.form .field > label:not(.choice):visible')
			.allTextContents()).join(', '), asked);
	}
	await page.getByRole('button', { name: 'Measure again' }).click();
	await page.waitForURL(/\/admin\/rejudgings\/\d+$/);
	for (let tries = 0; tries < 600 && !await page.getByText('waits for you').count(); tries++) {
		await new Promise((done) => setTimeout(done, 200));
		await page.goto(page.url());
	}
	await page.getByRole('heading', { name: 'Ranks', exact: true }).waitFor();
	await page.getByRole('link', { name: `Stages of submission ${number} on CPU` }).click();
	await page.getByText('The submission keeps its old one until the rejudging is applied')
		.waitFor();
	await page.getByRole('heading', { name: 'Times' }).first().waitFor();
	await page.goBack();
	await fillAndSend(page,
		{ [`To apply or discard the results, type the leaderboard’s name: ${board}`]: 'wrong' },
		'Apply the new results');
	await page.locator('#name-error', { hasText: 'so nothing was changed' }).waitFor();
	await fillAndSend(page,
		{ [`To apply or discard the results, type the leaderboard’s name: ${board}`]: board },
		'Apply the new results');
	await page.getByText('The new results were applied').waitFor();
});

scenes('an admin bans a user, and hands out a password link', async (come, options) => {
	const name = `guest${suffix()}`, guest = await come(options), page = await come(options);
	await register(guest, name);
	await logInAsAdmin(page);
	await page.goto(`/admin/users?q=${name}`);
	await openMenu(page, name);
	await page.getByRole('button', { name: 'Password link' }).click();
	const link = new URL(await page.locator('#password-link').textContent()).pathname;
	await guest.goto(link);
	await fillAndSend(guest,
		{ 'Password': 'a new long password',
		'Password again': 'a new long password' }, 'Choose this password');
	await guest.locator('.who').getByRole('link', { name, exact: true }).waitFor();
	await page.goto(`/admin/users?q=${name}`);
	await openMenu(page, name);
	await page.getByRole('link', { name: 'Ban…' }).click();
	await fillAndSend(page, { 'To confirm, type the name of the user': name }, 'Ban this user');
	await page.getByText(`${name} was banned.`).waitFor();
	await guest.goto('/account');
	assert.match(guest.url(), /\/login/);
});

scenes('an admin announces something on the front page and ends it', async (come, options) => {
	const text = `The machines rest on Sunday ${suffix()}.`, page = await come(options);
	await logInAsAdmin(page);
	await page.goto('/admin/announcements');
	await fillAndSend(page, { Text: text }, 'Announce');
	await page.goto('/');
	await page.getByRole('region', { name: 'Announcements' }).getByText(text).waitFor();
	await page.goto('/admin/announcements');
	await page.getByRole('row', { name: text }).getByRole('button').click();
	await page.getByRole('heading', { name: 'End this announcement?' }).waitFor();
	await page.getByRole('button', { name: 'End it now' }).click();
	await page.getByText('End this announcement?').waitFor({ state: 'detached' });
	await page.goto('/');
	assert.equal(await page.getByText(text).count(), 0);
});

scenes('an admin must confirm hiding a submission, and can go back', async (come, options) => {
	const board = `hide${suffix()}`, author = await come(options), page = await come(options);
	await logInAsAdmin(page);
	await createLeaderboard(page, board);
	await register(author, `author${suffix()}`);
	const number = await submit(author, board, { code: RIGHT, mode: 'Test' });
	await page.goto(`/admin/submission/${number}`);
	const hide = async () => {
		await page.getByLabel('Hide').check();
		await fillAndSend(page, { Reason: 'It "copies" <b>.' }, 'Take it out of the ranking…');
	};
	await hide();
	await page.getByRole('heading', { name: `Hide submission ${number}?` }).waitFor();
	assert.deepEqual(await faultsFor(page, options), []);
	await page.getByRole('link', { name: 'Cancel' }).click();
	await hide();
	await page.getByRole('button', { name: 'Hide it', exact: true }).click();
	await page.getByText('The submission is hidden and not ranked').waitFor();
	await page.getByText('Its author reads: “It "copies" <b>.”').waitFor();
});

scenes('an admin quarantines a device and resumes it', async (come, options) => {
	const page = await come(options);
	await logInAsAdmin(page);
	await page.goto('/admin/workers');
	await page.getByRole('region', { name: 'Queue of each device model' })
		.getByRole('rowheader', { name: 'CPU' }).waitFor();
	await openMenu(page, 'CPU');
	await page.getByLabel('Why CPU is quarantined').fill('It is too warm.');
	await page.getByRole('button', { name: 'Quarantine CPU' }).click();
	await page.getByText('Why: “It is too warm.”').waitFor();
	await page.getByRole('button', { name: 'Quarantine it' }).click();
	await page.getByText('Quarantined: It is too warm.').waitFor();
	assert.deepEqual(await faultsFor(page, options), []);
	await page.getByRole('button', { name: 'Resume CPU' }).click();
	await openMenu(page, 'CPU');
	await page.getByRole('button', { name: 'Drain CPU' }).waitFor();
});

const PAGES = ['/admin', '/admin/rejudgings', '/admin/rejudgings/1', '/admin/rejudgings/1/1',
	'/admin/submissions', '/admin/submission/1', '/admin/announcements', '/admin/users',
	'/admin/users/nobody-else/ban', '/admin/audit?who=admin', '/admin/workers', '/'];

scene('these pages have no faults', async (come) => {
	const page = await come(), faults = [];
	await logInAsAdmin(page);
	await page.goto('/admin/users');
	await fillAndSend(page, { Name: 'nobody-else' }, 'Create the account');
	faults.push(...(await faultsOf(page)).map((fault) => `the link ${fault}`));
	await page.goto('/admin/announcements');
	await fillAndSend(page, { Text: 'Something to look at.' }, 'Announce');
	for (const path of PAGES) {
		assert.equal((await page.goto(path)).status(), 200, path);
		faults.push(...(await faultsOf(page)).map((fault) => `${path} ${fault}`));
	}
	assert.deepEqual(faults, []);
});
